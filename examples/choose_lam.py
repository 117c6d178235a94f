"""
Choose a weight, with a proof for every value
=============================================

How much should a metric pay for its size? MLSVM leaves that to ``lam``, and one tries a
few values. But what of the values in between? The least objective is concave in
``lam``, so a few certified solutions bound it *everywhere*: no value of ``lam`` is left
about which nothing is known.
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
# Each solution starts from the last one, which lies near. Each comes with its proof: an
# objective that is reached, and a lower bound that no metric at all can beat.

lams = np.geomspace(1e-4, 10, 26)
path: list[cvxml.Solution] = []
for lam in lams:
    start = path[-1] if path else None
    path.append(
        cvxml.solve("mlsvm", X_train, y_train, lam=lam, neighborhood="per-class", warm_start=start)
    )

assert all(solution.status == "converged" for solution in path)
print(
    "the largest gap, relative to the scale:", f"{max(solution.rel_gap for solution in path):.0e}"
)

# %%
# Between the solutions
# ---------------------
#
# At a metric A that stays as it is, the objective ``lam/2 ||A||^2 + mean(xi)`` is a
# straight line in ``lam``. The optimum is the lowest of all these lines, so
#
# - *above* it lies the line of every metric that we have found, and
# - *below* it, as it is concave, lies the chord between two of our lower bounds.

fine = np.geomspace(lams[0], lams[-1], 600)
squares = np.array([np.sum(solution.metric**2) / 2 for solution in path])
slacks = np.array([solution.objective for solution in path]) - lams * squares
above = (fine[:, None] * squares + slacks).min(axis=1)
below = np.interp(fine, lams, [solution.lower_bound for solution in path])

assert np.all(below <= above * (1 + 1e-9))
widest = np.max((above - below) / above)
print(
    f"for every lam from {lams[0]:g} to {lams[-1]:g} the optimum is known to within {100 * widest:.1f} %"
)

# %%
# The choice
# ----------
#
# The objective says nothing of new points; for them there is the other half of the
# data.


def accuracy(solution: cvxml.Solution) -> float:
    """Of three nearest neighbours, on the test half."""
    knn = KNeighborsClassifier(
        3, metric="mahalanobis", metric_params={"VI": solution.metric}, algorithm="brute"
    )
    return float(knn.fit(X_train, y_train).score(X_test, y_test))


scores = [accuracy(solution) for solution in path]
best = int(np.argmax(scores))
euclidean = KNeighborsClassifier(3).fit(X_train, y_train).score(X_test, y_test)
print(
    f"Euclid {euclidean:.3f}; the best of the path {scores[best]:.3f}, at lam = {lams[best]:.2g}"
)
assert scores[best] >= euclidean

fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
left.fill_between(fine, below, above, color="#E69F00", label="where the optimum may be")
left.plot(
    lams,
    [solution.objective for solution in path],
    "o",
    ms=4,
    color="#0072B2",
    label="solved and certified",
)
left.set(xscale="log", xlabel="lam", ylabel="least objective", title="Known for every lam")
left.legend(loc="upper left", frameon=False)
right.plot(lams, scores, "o-", ms=4, color="#009E73", label="MLSVM")
right.axhline(euclidean, color="0.4", ls="--", label="Euclid")
right.set(xscale="log", xlabel="lam", ylabel="accuracy on the other half", title="The choice")
right.legend(frameon=False)
plt.show()
