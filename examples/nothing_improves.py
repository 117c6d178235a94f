"""
A metric that nothing can improve
=================================

A solver says "optimal". Why believe it? Here is a metric, and three thousand attempts
to better it by chance, near and far. None succeeds, and none could: the certificate
says so beforehand, in a single number.
"""

import matplotlib.pyplot as plt
import numpy as np

import cvxml
from cvxml import datasets

X, y = datasets.load("iris")
X = datasets.standardize(X)
lam = 0.1
solution = cvxml.solve("mlsvm", X, y, lam=lam, neighborhood="per-class", tol=1e-12)
print(solution)

# %%
# The lower bound comes from dual variables: a price for each margin. Whatever they are,
# they yield a number that no metric can be below. Good ones yield a number next to the
# objective, and then there is nothing left to find.

assert solution.lower_bound <= solution.objective
assert solution.rel_gap <= 1e-12

# %%
# Attempts
# --------
#
# Random psd matrices around the metric, from a millionth of its size to the whole of
# it. Their objectives come from the definition, in a few lines of numpy that share
# nothing with the solver.

lists = cvxml.evaluate("mlsvm", X, y, solution.metric, lam=lam, neighborhood="per-class")
rng = np.random.default_rng(0)
d, norm = X.shape[1], float(np.linalg.norm(solution.metric))


def objective(A: np.ndarray) -> float:
    """lam/2 ||A||^2 + the mean of [1 + furthest target - nearest impostor]_+."""
    D = np.einsum("nd,de,ne->n", X, A, X)
    D = D[:, None] + D - 2 * X @ A @ X.T
    slacks = [
        max(0.0, 1 + D[i, targets].max() - D[i, impostors].min())
        for i, (targets, impostors) in enumerate(zip(lists.targets, lists.impostors, strict=True))
    ]
    return lam / 2 * float(np.sum(A**2)) + float(np.mean(slacks))


def attempt(size: float) -> np.ndarray:
    """A psd matrix about `size` away."""
    noise = rng.standard_normal((d, d))
    w, V = np.linalg.eigh(
        solution.metric + size * (noise + noise.T) / np.linalg.norm(noise + noise.T)
    )
    return (V * w.clip(0)) @ V.T


tried = [attempt(norm * size) for size in np.geomspace(1e-6, 1, 3000)]
away = np.array([np.linalg.norm(A - solution.metric) for A in tried])
excess = np.array([objective(A) for A in tried]) - solution.objective

print(
    f"attempts: {len(tried)}, better than the lower bound: {np.sum(excess < -solution.gap - 1e-14)}"
)
assert np.all(excess >= -1e-14)

# %%
# How much worse it must get
# --------------------------
#
# The norm in the objective makes it strongly convex: a metric at a distance r from the
# optimum is worse by at least ``lam/2 r^2``. So the gap also says how far the optimum
# can be, at most: the *radius* of the certificate.

assert np.all(excess >= lam / 2 * np.maximum(away - solution.certificate.radius, 0) ** 2 - 1e-14)

fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
seen = excess > 0
ax.loglog(away[seen], excess[seen], ".", ms=3, color="#0072B2", alpha=0.5, label="attempts")
line = np.geomspace(away.min(), away.max(), 50)
ax.loglog(line, lam / 2 * line**2, color="#D55E00", lw=2, label="no metric is below this line")
ax.set(xlabel="distance from the certified metric", ylabel="worse by", title="Nothing is better")
ax.legend(frameon=False)
plt.show()
