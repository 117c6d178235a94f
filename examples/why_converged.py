"""
Small steps do not prove an optimum
===================================

Many programs stop when a step changes the objective very little. But steps can also be small
far from the optimum. This example has a simple solver for LMNN with such a stopping criterion.
A lower bound then shows the distance of its answer from the optimum.
"""

import matplotlib.pyplot as plt
import numpy as np

import cvxml
from cvxml import datasets

X, y = datasets.load("wine")
X = datasets.standardize(X)
n, mu = len(X), 0.5

# %%
# A simple solver
# ---------------
#
# ``evaluate`` lists the targets: the targets j of a point i are its three nearest points of the
# same class. The objective has two parts. The first is the sum of the squared distances d(i, j).
# The second has a hinge for each target and each point l of another class. The hinge is positive
# if d(i, l) is less than d(i, j) + 1.

targets = cvxml.evaluate("lmnn", X, y, np.eye(X.shape[1]), mu=mu).targets
i, j = targets.T
others = y[i][:, None] != y[None, :]


def objective_and_subgradient(M: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the objective and a subgradient in M.

    The objective is (1 - mu) sum of d(i, j) + mu sum of [1 + d(i, j) - d(i, l)]_+.
    """
    norms = np.einsum("nd,de,ne->n", X, M, X)
    D = norms[:, None] + norms - 2 * X @ M @ X.T
    hinges = np.where(others, 1 + D[i, j][:, None] - D[i], 0).clip(0)
    active = hinges > 0
    weights = np.zeros((n, n))  # weight of each squared distance in the objective
    np.add.at(weights, (i, j), (1 - mu) + mu * active.sum(axis=1))
    np.add.at(weights, i, -mu * active)
    both = weights + weights.T
    subgradient = X.T @ (np.diag(both.sum(axis=1)) - both) @ X
    return float((1 - mu) * D[i, j].sum() + mu * hinges.sum()), subgradient


def projected(M: np.ndarray) -> np.ndarray:
    """Return the nearest psd matrix."""
    w, V = np.linalg.eigh(M)
    return (V * w.clip(0)) @ V.T


def learn(tol: float, max_iter: int = 5000) -> tuple[list[float], list[np.ndarray]]:
    """Return the objectives and metrics of projected subgradient steps.

    The step size grows after a success and is halved after a failure. The run stops if a step
    changes the objective by less than tol (relative).
    """
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
                f"stopped after {len(values) - 1} steps: relative change of the last step {change:.0e}"
            )
            break
    return values, metrics


values, metrics = learn(tol=1e-4)
M = metrics[-1]

# %%
# The gap of the result
# ---------------------
#
# ``check`` computes the objective of the metric and a lower bound on the objective of all
# metrics. Their difference is the gap.

report = cvxml.check("lmnn", X, y, M, mu=mu, diagnosed=False)
print(
    f"{report.verdict.value}: the gap is {100 * report.gap / report.objective:.1f} % of the objective"
)

gap = report.gap / report.objective
assert report.verdict in ("close", "refuted")
assert gap > 10 * 1e-4  # more than ten times the tolerance of the stopping criterion

# %%
# The picture compares two numbers at each step: the change of the objective, which the stopping
# criterion uses, and the relative gap to the lower bound. The change falls below the tolerance
# long before the gap does. A stopping criterion should use the gap.

bound = report.lower_bound
true_gaps = (np.array(values) - bound) / bound
changes = -np.diff(values) / np.array(values[:-1])

fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.semilogy(true_gaps, color="#D55E00", lw=2, label="gap to the lower bound")
ax.semilogy(
    np.arange(1, len(values)),
    changes,
    ".",
    ms=4,
    color="#0072B2",
    label="change of the objective in a step",
)
ax.axhline(1e-4, color="0.4", ls="--", label="tolerance of the stopping criterion")
ax.set(
    xlabel="number of steps",
    ylabel="relative change and relative gap",
    title="Small steps far from the optimum",
)
fig.legend(loc="outside lower center", frameon=False)
plt.show()

# %%
# A solver that stops by the gap
# ------------------------------
#
# ``solve`` solves the same problem, and stops when the *gap* is small.

solution = cvxml.solve("lmnn", X, y, mu=mu)
print(
    f"objective {solution.objective:.4f} in place of {values[-1]:.4f}; relative gap {solution.rel_gap:.0e}"
)
assert solution.status == "converged"
assert solution.objective < values[-1]
