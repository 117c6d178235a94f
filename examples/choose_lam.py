"""
Choose a weight, with a proof for every value
=============================================

The weight ``lam`` of MLSVM says how much the norm of the metric costs. Usually one tries a
few values of ``lam`` and learns nothing about the values in between. Here we bound the
optimum for *every* ``lam`` in a range. This works because the least objective is concave in
``lam``: a few certified solutions give an upper and a lower curve.
"""

# sphinx_gallery_thumbnail_number = 1
import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

import cvxml
from cvxml import datasets

X, y = datasets.load("wine")
X = datasets.standardize(X)
X_train, X_test, y_train, y_test = train_test_split(
    X, y, test_size=0.5, random_state=0, stratify=y
)

# %%
# Along the path
# --------------
#
# Each solve starts from the solution for the value of ``lam`` before (a warm start). Each
# solution has a certificate: its objective, and a lower bound on the objective of all metrics.

lams = np.geomspace(1e-4, 10, 26)
path: list[cvxml.Solution] = []
for lam in lams:
    start = path[-1] if path else None
    path.append(
        cvxml.solve("mlsvm", X_train, y_train, lam=lam, neighborhood="per-class", warm_start=start)
    )

assert all(solution.status == "converged" for solution in path)
print("largest relative gap on the path:", f"{max(solution.rel_gap for solution in path):.0e}")

# %%
# Between the solutions
# ---------------------
#
# For a fixed metric A, the objective ``lam/2 ||A||^2 + mean(xi)`` is a straight line in
# ``lam``. The optimum is the lowest of the lines of all metrics, so it is concave in ``lam``.
# This gives two curves:
#
# - an *upper* curve: the lowest of the lines of the metrics on our path,
# - a *lower* curve: the chords between neighbouring lower bounds, because a concave function
#   lies above its chords.

fine = np.geomspace(lams[0], lams[-1], 600)
squares = np.array([np.sum(solution.metric**2) / 2 for solution in path])
slacks = np.array([solution.objective for solution in path]) - lams * squares
above = (fine[:, None] * squares + slacks).min(axis=1)
below = np.interp(fine, lams, [solution.lower_bound for solution in path])

assert np.all(below <= above * (1 + 1e-9))
widest = np.max((above - below) / above)
print(
    f"for every lam from {lams[0]:g} to {lams[-1]:g} the two curves differ by at most {100 * widest:.1f} %"
)

# %%
# Choose by accuracy on other points
# ----------------------------------
#
# The objective does not measure the accuracy on new points. So we choose ``lam`` by the
# accuracy on the other half of the data. The best of 26 accuracies is an optimistic estimate:
# to report an accuracy, use a third set of points.


def accuracy(solution: cvxml.Solution) -> float:
    """Return the accuracy of the vote of three nearest neighbours on the test half."""
    knn = KNeighborsClassifier(
        3, metric="mahalanobis", metric_params={"VI": solution.metric}, algorithm="brute"
    )
    return float(knn.fit(X_train, y_train).score(X_test, y_test))


scores = [accuracy(solution) for solution in path]
best = int(np.argmax(scores))
euclidean = KNeighborsClassifier(3).fit(X_train, y_train).score(X_test, y_test)
print(
    f"accuracy: Euclid {euclidean:.3f}, best of the path {scores[best]:.3f} at lam = {lams[best]:.2g}"
)
assert scores[best] >= euclidean

fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
left.fill_between(fine, below, above, color="#E69F00", label="interval that holds the optimum")
left.plot(
    lams,
    [solution.objective for solution in path],
    "o",
    ms=4,
    color="#0072B2",
    label="certified solutions",
)
left.set(
    xscale="log",
    xlabel="weight lam",
    ylabel="least objective",
    title="Bounds for every lam",
)
right.plot(lams, scores, "o-", ms=4, color="#009E73", label="MLSVM")
right.axhline(euclidean, color="0.4", ls="--", label="Euclid")
right.set(
    xscale="log",
    xlabel="weight lam",
    ylabel="accuracy (share of the points)",
    title="Accuracy on the other half",
)
fig.legend(loc="outside lower center", ncols=4, frameon=False)
plt.show()
