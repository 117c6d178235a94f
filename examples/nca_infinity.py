"""
An optimum at infinity
======================

NCA counts how likely each point picks a neighbour of its own class. Where every point's
nearest neighbour is of its class, a larger multiple of the metric is always better:
there is no best one. A program that returns a matrix has stopped on the way.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.neighbors import NeighborhoodComponentsAnalysis

import cvxml
from cvxml import datasets

X, y = datasets.load("wine")
X = datasets.standardize(X)

# %%
# scikit-learn returns a matrix and says nothing:

nca = NeighborhoodComponentsAnalysis(n_components=2, random_state=0).fit(X, y)
print(
    "after",
    nca.n_iter_,
    "iterations the norm of its matrix is",
    f"{np.linalg.norm(nca.components_):.0f}",
)

# %%
# Multiply it. The objective, minus the expected number of points that are right, is
# better each time:

factors = np.geomspace(0.1, 1.5, 40)
metric = nca.components_.T @ nca.components_
heights = [
    cvxml.evaluate("nca", X, y, factor**2 * metric, n_components=2).objective for factor in factors
]
wrong = [len(X) + height for height in heights]
print("wrong, on average:", ", ".join(f"{wrong[k]:.1e}" for k in (0, 20, 39)), "of", len(X))
assert np.all(np.diff(wrong) < 0)

# %%
# The package says so
# -------------------
#
# Its status is not "converged". No metric attains the infimum, which is proved from the
# nearest neighbours alone.

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it warns of it too
    solution = cvxml.solve("nca", X, y, n_components=2)
print(solution.status.name, "-", solution.status.sentence)
assert solution.status == "not_attained"

fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.loglog(factors, wrong, color="#0072B2", lw=2, label="multiples of its matrix")
ax.axvline(1, color="#D55E00", ls="--", label="where scikit-learn stopped")
ax.set(
    xlabel="factor", ylabel="points expected to be wrong", title="Further is better, without end"
)
ax.legend(frameon=False)
plt.show()
