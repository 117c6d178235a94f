"""
A problem without a solution
============================

Some problems that programs solve every day have no solution: the objective falls
without end. A solver then stops *somewhere*, and returns that. SDML is such a problem
once dissimilar pairs weigh too much; here is how to know it, and along which way down
the objective goes.
"""

import matplotlib.pyplot as plt
import numpy as np

import cvxml
from cvxml import datasets

X, y = datasets.load("iris")
X = datasets.standardize(X)
lam = 0.01

# %%
# The objective is ``tr(S M) - log det M + lam * (sum of |M_ij| off the diagonal)`` with
# ``S = I + eta * T``, where T sums the differences of similar pairs, and subtracts
# those of dissimilar ones. By default eta is so small that all is well:

solution = cvxml.solve("sdml", X, y, lam=lam)
safe = solution.params["eta"]
print(f"eta = {safe:.2g}: {solution.status.sentence}")
assert solution.status == "converged"

# %%
# With 20 times that weight there is nothing to be found. The package refuses, and says
# why:

try:
    cvxml.solve("sdml", X, y, lam=lam, eta=20 * safe)
except ValueError as error:
    print(error)
else:
    raise AssertionError("an unbounded problem was solved")

# %%
# The way down
# ------------
#
# An eigenvector of S to a negative eigenvalue is such a way: along ``I + t v v'`` the
# first term falls faster than the other two rise, and each longer step is better than
# the last.

same = y[:, None] == y
T = np.zeros((X.shape[1],) * 2)
for i in range(len(X)):
    for j in range(i + 1, len(X)):
        difference = X[i] - X[j]
        T += (1 if same[i, j] else -1) * np.outer(difference, difference)


def objective(M: np.ndarray, eta: float) -> float:
    """As it is stated."""
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
    ax.plot(t, heights, color=colour, lw=2, label=f"eta = {factor} of the default")
ax.set(
    xscale="log",
    yscale="symlog",
    xlabel="t, how far along v v'",
    ylabel="objective",
    title="No bottom",
)
ax.axhline(0, color="0.8", lw=1)
ax.legend(frameon=False, loc="lower left")
plt.show()
last = [objective(np.eye(len(T)) + step * np.outer(v, v), 20 * safe) for step in (1e2, 1e4, 1e6)]
print("20 times:", ", ".join(f"{value:.0f}" for value in last))
assert last[0] > last[1] > last[2]
