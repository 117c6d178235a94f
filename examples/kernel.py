"""
Separate rings with a kernel
============================

A metric on the plane can only stretch it, and stretched rings are still rings around each
other. So no matrix separates them. With a kernel, MLSVM learns a metric in a feature space in
which the rings can be separated. The kernel is not approximated, and the coordinates of the
feature space are never computed.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import pairwise_distances

import cvxml
from cvxml import datasets

X, y = datasets.load("rings")
X, y = X[:150], y[:150]

# %%
# Two solutions
# -------------
#
# We solve both problems to a certified optimum. In the plane the optimal metric is 0, because
# no stretching gives a margin that is worth its norm. The feature space of the kernel
# ``(x.x')^2`` has the squares of the coordinates. Their sum is the squared radius, which
# separates the rings.

asked = {"lam": 0.001, "n_neighbors": 49, "neighborhood": "per-class"}
flat = cvxml.MLSVM(**asked).fit(X, y)
lifted = cvxml.KernelMLSVM(kernel="poly", degree=2, **asked).fit(X, y)
for learner in (flat, lifted):
    assert learner.certificate_.proves(1e-6)
    print(f"{type(learner).__name__:<12} objective {learner.solution_.objective:.4f}")
assert np.linalg.norm(flat.get_mahalanobis_matrix()) < 1e-6
assert lifted.solution_.objective < flat.solution_.objective / 2

# %%
# Distances from one point
# ------------------------
#
# Which points are near to the star? In the Euclidean metric, the points around it. In the
# learned kernel metric, its whole ring. Both solutions above use the 49 other points of the ring
# as neighbours.

euclid = cvxml.Euclidean().fit(X, y)
star = X[np.flatnonzero(y == 1)[0]]
side = np.linspace(-3.6, 3.6, 121)
grid = np.column_stack([each.ravel() for each in np.meshgrid(side, side)])
fig, axes = plt.subplots(1, 2, figsize=(9, 4.4), layout="constrained")
for ax, learner, title in zip(
    axes, (euclid, lifted), ("Euclidean metric", "learned kernel metric"), strict=True
):
    seen, from_star = learner.transform(grid), learner.transform(star[None])
    distance = np.linalg.norm(seen - from_star, axis=1).reshape(121, 121)
    filled = ax.contourf(side, side, distance, levels=12, cmap="Blues_r")
    fig.colorbar(filled, ax=ax, ticks=[], label="distance from the star", shrink=0.8)
    for label, colour, marker in zip(
        np.unique(y), ("#E69F00", "#D55E00", "#009E73"), "o^s", strict=True
    ):
        ax.scatter(
            *X[y == label].T, c=colour, marker=marker, s=16, edgecolors="white", linewidths=0.5
        )
    ax.plot(*star, "*", ms=18, color="black", mec="white")
    ax.set(
        title=title,
        xlabel="first coordinate",
        ylabel="second coordinate",
        xticks=[],
        yticks=[],
        aspect="equal",
    )
plt.show()

# %%
# The learned direction is the squared radius
# -------------------------------------------
#
# The radius was not given to the method. Still, the first principal component of the
# transformed points is the squared radius, up to noise.

seen = lifted.transform(X)
longest = np.linalg.svd(seen - seen.mean(axis=0), full_matrices=False)[0][:, 0]
likeness = abs(np.corrcoef(longest, np.sum(X**2, axis=1))[0, 1])
print(f"correlation with the squared radius: {likeness:.3f}")
assert likeness > 0.99

for name, learner in {"Euclid": euclid, "kernel": lifted}.items():
    D = pairwise_distances(learner.transform(X))
    np.fill_diagonal(D, np.inf)
    right = np.mean(y[D.argsort(axis=1)[:, :20]] == y[:, None])
    print(f"{name}: {100 * right:.0f} % of the 20 nearest neighbours are of the same ring")
