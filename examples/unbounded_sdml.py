"""
SDML: an unbounded problem
==========================

Some problems have no solution, because the objective is unbounded below. A solver then stops at
some matrix and returns it. SDML becomes such a problem if the weight of the dissimilar pairs is
too large. This example shows how cvxml detects it, and a direction in which the objective
decreases without limit.
"""

import matplotlib.pyplot as plt
import numpy as np

import cvxml
from cvxml import datasets

X, y = datasets.load("iris")
X = datasets.standardize(X)
lam = 0.01

# %%
# A weight with a solution
# ------------------------
#
# The objective is ``tr(S M) - log det M + lam * (sum of |M_ij| off the diagonal)`` with
# ``S = I + eta * T``. Each pair of points has a difference v, and v v' is added to T for a similar
# pair and subtracted for a dissimilar pair. The default eta is so small that a solution exists:

solution = cvxml.solve("sdml", X, y, lam=lam)
safe = solution.params["eta"]
print(f"eta = {safe:.2g}: {solution.status.sentence}")
assert solution.status == "converged"

# %%
# With 20 times this weight the problem has no solution. ``cvxml.solve`` raises an error that
# gives the reason:

try:
    cvxml.solve("sdml", X, y, lam=lam, eta=20 * safe)
except ValueError as error:
    print(error)
else:
    raise AssertionError("an unbounded problem was solved")

# %%
# A direction without a lower bound
# ---------------------------------
#
# Let v be an eigenvector of S with a negative eigenvalue. Along ``I + t v v'`` the first term
# decreases linearly in t. If it decreases faster than the last term increases, the objective
# decreases without limit.

same = y[:, None] == y
T = np.zeros((X.shape[1],) * 2)
for i in range(len(X)):
    for j in range(i + 1, len(X)):
        difference = X[i] - X[j]
        T += (1 if same[i, j] else -1) * np.outer(difference, difference)


def objective(M: np.ndarray, eta: float) -> float:
    """Return the objective as stated above."""
    S = np.eye(len(M)) + eta * T
    off = np.abs(M).sum() - np.trace(np.abs(M))
    return float(np.trace(S @ M) - np.linalg.slogdet(M)[1] + lam * off)


assert np.isclose(objective(solution.metric, safe), solution.objective, rtol=1e-6)
v = np.linalg.eigh(T)[1][:, 0]
t = np.geomspace(0.1, 1e4, 100)
fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
for factor, colour in zip(
    (1, 1.5, 2.5, 20), ("#009E73", "#56B4E9", "#E69F00", "#D55E00"), strict=True
):
    heights = [objective(np.eye(len(T)) + step * np.outer(v, v), factor * safe) for step in t]
    ax.plot(t, heights, color=colour, lw=2, label=f"eta = {factor} x default")
ax.set(
    xscale="log",
    yscale="symlog",
    xlabel="t (length of the step along v v')",
    ylabel="objective at I + t v v'",
    title="Objective along one direction, for four weights",
)
ax.axhline(0, color="0.8", lw=1)
fig.legend(loc="outside lower center", ncols=2, frameon=False)
plt.show()
last = [objective(np.eye(len(T)) + step * np.outer(v, v), 20 * safe) for step in (1e2, 1e4, 1e6)]
print("objective with 20 times eta:", ", ".join(f"{value:.0f}" for value in last))
assert last[0] > last[1] > last[2]
