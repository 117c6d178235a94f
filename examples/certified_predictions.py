"""
Which predictions can be trusted?
=================================

A metric decides which points are neighbours, and the neighbours vote on the class. Suppose
that a metric is only *nearly* optimal. Then some votes are the same for the exact optimum,
and others may differ. The certificate bounds the distance to the optimum. From this bound
``report.predictions`` derives the votes that are certain.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

import cvxml

X, y = load_wine(return_X_y=True)
X = X[:, [6, 9]]  # flavanoids and colour intensity
X = (X - X.mean(axis=0)) / X.std(axis=0)
asked = {"lam": 0.1, "neighborhood": "per-class"}

# %%
# A metric and its rounded copy
# -----------------------------
#
# We compare two copies of a metric: one is rounded to one decimal, as in a printed paper,
# and one keeps all decimals.

best = cvxml.solve("mlsvm", X, y, tol=1e-9, **asked).metric
given = {"one decimal": np.round(best, 1), "all decimals": best}
print(given["one decimal"])

# %%
# A map of the votes
# ------------------
#
# We ask at each place of a grid: is the vote of the five nearest points *certain*, that is,
# proved to be the vote of the exact optimum?

side = np.linspace(-2.4, 2.9, 45)
queries = np.column_stack([each.ravel() for each in np.meshgrid(side, side)])
certain = []
fig, axes = plt.subplots(1, 2, figsize=(9, 4.4), layout="constrained")
for ax, (name, metric) in zip(axes, given.items(), strict=True):
    report = cvxml.check("mlsvm", X, y, metric, diagnosed=False, **asked)
    found = report.predictions(5, queries)
    state = np.array(found.state)
    certain.append(float(np.mean(state == "certain")))
    ax.scatter(*queries[state != "certain"].T, c="0.75", s=12, marker="s", linewidths=0)
    for label, colour, marker in zip(
        np.unique(y), ("#0072B2", "#E69F00", "#009E73"), "o^s", strict=True
    ):
        ax.scatter(*X[y == label].T, c=colour, marker=marker, s=18)
    ax.set(
        title=f"{name}: {100 * certain[-1]:.1f} % of the votes are certain",
        xlabel="flavanoids (standardized)",
        ylabel="colour intensity (standardized)",
        xticks=[],
        yticks=[],
        aspect="equal",
    )
    print(found)
plt.show()

# %%
# Grey squares mark the votes that are not certain. A smaller gap leaves fewer of them. They lie
# where two points are almost equally far, so that a small change of the metric could change
# the vote.

assert certain[0] < certain[1]
