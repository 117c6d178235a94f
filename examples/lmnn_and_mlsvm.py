"""
LMNN against MLSVM, on wine
===========================

Two methods want the same: each point's neighbours of its own class nearer than those of
another. Compare what they *mean* by it only after both are solved to the end; else one
compares two optimizers.
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
# LMNN has a hinge for *every* target and every impostor of a point. MLSVM has one hinge
# a point, of its furthest target and its nearest impostor, and pays for the norm of the
# metric.

lmnn = cvxml.LMNN(n_neighbors=3).fit(points, y)
mlsvm = cvxml.MLSVM(lam=0.01, n_neighbors=3, neighborhood="per-class").fit(points, y)
for learner in (lmnn, mlsvm):
    assert learner.certificate_.proves(1e-6)
    share = learner.certificate_.rel_gap
    print(
        f"{type(learner).__name__}: the optimum is better by at most {share:.0e} of the objective"
    )


# %%
# Accuracy
# --------
#
# The metric is learnt anew in every fold, and so is the scaling: nothing of the test
# points is seen.

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
for name, each in scores.items():
    print(f"{name:<7}{each.mean():.3f} +- {each.std():.3f}")
assert scores["LMNN"].mean() > scores["Euclid"].mean()

# %%
# Which directions count
# ----------------------
#
# Both metrics leave some directions out altogether: their eigenvalues are 0. What they
# keep is not the same.

metrics = {"LMNN": lmnn.get_mahalanobis_matrix(), "MLSVM": mlsvm.get_mahalanobis_matrix()}
metrics = {name: M / np.trace(M) for name, M in metrics.items()}
shown = SpectrumDisplay.from_metric(metrics)
print("rank:", shown.ranks_)

# %%
# The points, as each of them sees them
# -------------------------------------
#
# Under the map ``transform`` the learnt distance is Euclid's. These are the first two
# principal axes of it.

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
    ax.set(title=name, xticks=[], yticks=[], aspect="equal")
plt.show()
