"""
Compare LMNN and MLSVM on wine
==============================

Both methods have the same aim: for each point, neighbours of its class should be nearer than
points of other classes. Their objectives differ. To compare the *objectives*, solve both
problems to a certified optimum first. Otherwise you compare two optimizers.
"""

# sphinx_gallery_thumbnail_number = 2
import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import cvxml
from cvxml import datasets
from cvxml.displays import SpectrumDisplay

X, y = datasets.load("wine")
points = datasets.standardize(X)

# %%
# Two certified solutions
# -----------------------
#
# LMNN has a hinge for *every* pair of a target and an impostor of a point. MLSVM has one hinge
# for each point, with its furthest target and its nearest impostor. Its objective also contains
# the norm of the metric.

lmnn = cvxml.LMNN(n_neighbors=3).fit(points, y)
mlsvm = cvxml.MLSVM(lam=0.01, n_neighbors=3, neighborhood="per-class").fit(points, y)
for learner in (lmnn, mlsvm):
    assert learner.certificate_.proves(1e-6)
    print(f"{type(learner).__name__}: relative gap {learner.certificate_.rel_gap:.0e}")


# %%
# Accuracy
# --------
#
# We compare the accuracy of three nearest neighbours in a cross-validation. In each fold the
# scaling and the metric are learned from the training points only.

learners = {
    "Euclid": cvxml.Euclidean(),
    "LMNN": cvxml.LMNN(n_neighbors=3, tol=1e-3),
    "MLSVM": cvxml.MLSVM(lam=0.01, n_neighbors=3, neighborhood="per-class", tol=1e-3),
}
scores = {
    name: cross_val_score(
        make_pipeline(StandardScaler(), learner, KNeighborsClassifier(3)), X, y, cv=5
    )
    for name, learner in learners.items()
}
print("accuracy, mean and standard deviation over five folds:")
for name, each in scores.items():
    print(f"{name:<7}{each.mean():.3f} +- {each.std():.3f}")
assert scores["LMNN"].mean() > scores["Euclid"].mean()

# %%
# Which directions count
# ----------------------
#
# Both metrics have eigenvalues that are 0. These directions do not count at all. The two
# metrics keep a different number of directions.

metrics = {"LMNN": lmnn.get_mahalanobis_matrix(), "MLSVM": mlsvm.get_mahalanobis_matrix()}
metrics = {name: M / np.trace(M) for name, M in metrics.items()}
shown = SpectrumDisplay.from_metric(metrics)
print("rank:", shown.ranks_)

# %%
# The points in the learned metrics
# ---------------------------------
#
# ``transform`` maps the points so that the Euclidean distance of the images is the learned
# distance. The pictures show the first two principal axes of the images.

fig, axes = plt.subplots(1, 3, figsize=(9, 3.2), layout="constrained")
for ax, (name, learner) in zip(
    axes, {"Euclid": cvxml.Euclidean(), "LMNN": lmnn, "MLSVM": mlsvm}.items(), strict=True
):
    seen = learner.fit(points, y).transform(points)
    seen = seen - seen.mean(axis=0)
    axis = np.linalg.svd(seen, full_matrices=False)[2][:2]
    flat = seen @ axis.T
    for label, colour, marker in zip(
        np.unique(y), ("#0072B2", "#E69F00", "#009E73"), "o^s", strict=True
    ):
        ax.scatter(*flat[y == label].T, c=colour, marker=marker, s=14)
    ax.set(
        title=name,
        xlabel="first principal axis",
        ylabel="second principal axis",
        xticks=[],
        yticks=[],
        aspect="equal",
    )
plt.show()
