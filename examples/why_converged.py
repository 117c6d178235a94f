"""
Why does your program say that it converged?
============================================

Most programs stop when a step changes little. That is a statement about the *step*, not
about the metric: steps are small far from the optimum too. Here is LMNN as one writes
it in an afternoon, and what a proof says of its answer.
"""

import matplotlib.pyplot as plt
import numpy as np

import cvxml
from cvxml import datasets

X, y = datasets.load("wine")
X = datasets.standardize(X)
n, mu = len(X), 0.5

# %%
# The home-made solver
# --------------------
#
# ``evaluate`` lists the targets: of each point i its three nearest of the class, j. The
# objective is the sum of their squared distances, and of a hinge for every point l of
# another class that comes nearer than that by less than 1.

targets = cvxml.evaluate("lmnn", X, y, np.eye(X.shape[1]), mu=mu).targets
i, j = targets.T
others = y[i][:, None] != y[None, :]


def objective_and_subgradient(M: np.ndarray) -> tuple[float, np.ndarray]:
    """(1 - mu) sum of d(i, j) + mu sum of [1 + d(i, j) - d(i, l)]_+, and a subgradient in M."""
    norms = np.einsum("nd,de,ne->n", X, M, X)
    D = norms[:, None] + norms - 2 * X @ M @ X.T
    hinges = np.where(others, 1 + D[i, j][:, None] - D[i], 0).clip(0)
    active = hinges > 0
    weights = np.zeros((n, n))  # of each pair's squared distance in the objective
    np.add.at(weights, (i, j), (1 - mu) + mu * active.sum(axis=1))
    np.add.at(weights, i, -mu * active)
    both = weights + weights.T
    subgradient = X.T @ (np.diag(both.sum(axis=1)) - both) @ X
    return float((1 - mu) * D[i, j].sum() + mu * hinges.sum()), subgradient


def projected(M: np.ndarray) -> np.ndarray:
    """The nearest psd matrix."""
    w, V = np.linalg.eigh(M)
    return (V * w.clip(0)) @ V.T


def learn(tol: float, max_iter: int = 5000) -> tuple[list[float], list[np.ndarray]]:
    """Steps that grow after a success and shrink after a failure, until one changes the objective by less than tol."""
    M, step = np.eye(X.shape[1]), 1e-5
    value, G = objective_and_subgradient(M)
    values, metrics = [value], [M]
    for _ in range(max_iter):
        after = projected(M - step * G)
        new, G_new = objective_and_subgradient(after)
        if new > value:
            step /= 2
            continue
        change, M, value, G, step = (value - new) / value, after, new, G_new, 1.1 * step
        values.append(value)
        metrics.append(M)
        if change < tol:
            print(
                f"converged after {len(values) - 1} steps: the last changed the objective by {change:.0e} of it"
            )
            break
    return values, metrics


values, metrics = learn(tol=1e-4)
M = metrics[-1]

# %%
# What is proved of it
# --------------------
#
# ``check`` computes everything anew: the objective, a lower bound for all metrics, and
# the gap between.

report = cvxml.check("lmnn", X, y, M, mu=mu, diagnosed=False)
print(
    f"{report.verdict.value}: worse than the optimum by {100 * report.gap / report.objective:.1f} % of the objective"
)

gap = report.gap / report.objective
assert report.verdict in ("close", "refuted")
assert gap > 10 * 1e-4  # more than ten times what the stopping rule seemed to promise

# %%
# Twenty more programs could be asked for an opinion; one lower bound settles it. It
# also says what the stopping rule should have looked at: not the change, but the
# distance to the bound.

bound = report.lower_bound
true_gaps = (np.array(values) - bound) / bound
changes = -np.diff(values) / np.array(values[:-1])

fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.semilogy(true_gaps, color="#D55E00", lw=2, label="what was left to gain (proved)")
ax.semilogy(
    np.arange(1, len(values)),
    changes,
    ".",
    ms=4,
    color="#0072B2",
    label="change of a step (what it looked at)",
)
ax.axhline(1e-4, color="0.4", ls="--", label="its tolerance")
ax.set(xlabel="step", ylabel="share of the objective", title="Converged, it said")
ax.legend(frameon=False)
plt.show()

# %%
# To the end
# ----------
#
# The same problem by ``solve``, which stops where the *gap* is small.

solution = cvxml.solve("lmnn", X, y, mu=mu)
print(
    f"objective {solution.objective:.4f} in place of {values[-1]:.4f}; gap {solution.rel_gap:.0e} of it"
)
assert solution.status == "converged"
assert solution.objective < values[-1]
