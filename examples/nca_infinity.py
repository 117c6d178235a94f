"""
NCA: an optimum at infinity
===========================

In NCA each point picks a neighbour at random, and nearer points are more likely. The objective
is minus the expected number of points that pick their own class. Suppose that the nearest
neighbour of every point has its class. Then multiples of the metric come arbitrarily near to
the best value, and no metric reaches it. Any program that returns a matrix has stopped early.
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
# The matrix of scikit-learn
# --------------------------
#
# scikit-learn returns a matrix without a warning:

nca = NeighborhoodComponentsAnalysis(n_components=2, random_state=0).fit(X, y)
print(
    "after",
    nca.n_iter_,
    "iterations the norm of its matrix is",
    f"{np.linalg.norm(nca.components_):.0f}",
)

# %%
# We multiply this matrix by larger and larger factors. The objective plus the number of points
# is the expected number of wrong points. It decreases with each factor:

factors = np.geomspace(0.1, 1.5, 40)
metric = nca.components_.T @ nca.components_
heights = [
    cvxml.evaluate("nca", X, y, factor**2 * metric, n_components=2).objective for factor in factors
]
wrong = [len(X) + height for height in heights]
shown = ", ".join(f"{wrong[k]:.1e}" for k in (0, 20, 39))
print("expected number of wrong points:", shown, "of", len(X))
assert np.all(np.diff(wrong) < 0)

# %%
# The status of cvxml
# -------------------
#
# ``cvxml.solve`` returns the status ``NOT_ATTAINED``: no metric attains the infimum. The proof
# uses only the nearest neighbours.

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # the same message as a warning
    solution = cvxml.solve("nca", X, y, n_components=2)
print(solution.status.name, "-", solution.status.sentence)
assert solution.status == "not_attained"

fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.loglog(factors, wrong, color="#0072B2", lw=2, label="multiples of the matrix of scikit-learn")
ax.axvline(1, color="#D55E00", ls="--", label="result of scikit-learn")
ax.set(
    xlabel="factor of the matrix",
    ylabel=f"expected number of wrong points (of {len(X)})",
    title="Each larger factor is better",
)
fig.legend(loc="outside lower center", ncols=2, frameon=False)
plt.show()
