"""
Test a certificate with random metrics
======================================

A certificate claims that a metric is optimal. Here we test this claim: we try three thousand
random metrics, near and far. All of them are worse, as the certificate predicts. Its lower
bound is a single number that holds for all metrics, also for those that we do not try.
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
# The lower bound
# ---------------
#
# The lower bound comes from dual variables, one for each margin. Any feasible dual variables
# give a number that is at most the objective of every metric. Good dual variables give a number
# that is almost the objective of our metric. Then our metric is optimal up to this gap.

assert solution.lower_bound <= solution.objective
assert solution.rel_gap <= 1e-12

# %%
# Three thousand random metrics
# -----------------------------
#
# We draw random psd matrices around the metric, at distances from a millionth of its norm to
# its whole norm. We compute their objectives from the definition, in a few lines of numpy that
# share no code with the solver.

lists = cvxml.evaluate("mlsvm", X, y, solution.metric, lam=lam, neighborhood="per-class")
rng = np.random.default_rng(0)
d, norm = X.shape[1], float(np.linalg.norm(solution.metric))


def objective(A: np.ndarray) -> float:
    """Return lam/2 ||A||^2 + the mean of [1 + furthest target - nearest impostor]_+."""
    D = np.einsum("nd,de,ne->n", X, A, X)
    D = D[:, None] + D - 2 * X @ A @ X.T
    slacks = [
        max(0.0, 1 + D[i, targets].max() - D[i, impostors].min())
        for i, (targets, impostors) in enumerate(zip(lists.targets, lists.impostors, strict=True))
    ]
    return lam / 2 * float(np.sum(A**2)) + float(np.mean(slacks))


def attempt(size: float) -> np.ndarray:
    """Return a random psd matrix at a distance of about `size` from the metric."""
    noise = rng.standard_normal((d, d))
    w, V = np.linalg.eigh(
        solution.metric + size * (noise + noise.T) / np.linalg.norm(noise + noise.T)
    )
    return (V * w.clip(0)) @ V.T


tried = [attempt(norm * size) for size in np.geomspace(1e-6, 1, 3000)]
away = np.array([np.linalg.norm(A - solution.metric) for A in tried])
excess = np.array([objective(A) for A in tried]) - solution.objective

print(
    f"random metrics: {len(tried)}, below the lower bound: {np.sum(excess < -solution.gap - 1e-14)}"
)
assert np.all(excess >= -1e-14)

# %%
# Far metrics are much worse
# --------------------------
#
# The squared norm makes the objective strongly convex. So a metric at distance r from the optimum
# is worse than the optimum by at least ``lam/2 r^2``. For the same reason the gap bounds the
# distance between our metric and the optimum. This bound is the *radius* of the certificate.

assert np.all(excess >= lam / 2 * np.maximum(away - solution.certificate.radius, 0) ** 2 - 1e-14)

fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
seen = excess > 0
ax.loglog(away[seen], excess[seen], ".", ms=3, color="#0072B2", alpha=0.5, label="random metrics")
line = np.geomspace(away.min(), away.max(), 50)
ax.loglog(line, lam / 2 * line**2, color="#D55E00", lw=2, label="lower bound lam/2 $r^2$")
ax.set(
    xlabel="distance r from the certified metric (Frobenius norm)",
    ylabel="objective minus certified objective",
    title="All random metrics are worse",
)
fig.legend(loc="outside lower center", ncols=2, frameon=False)
plt.show()
