"""
A metric for every place
========================

One matrix for the whole space is a compromise. GLML derives a metric *at each query*
from the densities of the classes: it stretches directions along which the classes
change, whatever that direction is there.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

import cvxml
from cvxml.displays import LocalMetricDisplay

X, y = load_wine(return_X_y=True)
X = X[:, [6, 9]]  # flavanoids and colour intensity
X = (X - X.mean(axis=0)) / X.std(axis=0)

# %%
# At five queries
# ---------------
#
# Each local metric is the solution of a small problem of its own, and each is proved by
# itself.

solution = cvxml.solve("glml", X, y, query=X[::36])
print(
    solution.metric.shape, "local metrics; the largest gap of them is", f"{solution.rel_gap:.0e}"
)
assert all(part.proves(1e-6) for part in solution.certificate.parts)

# %%
# Everywhere
# ----------
#
# The ellipses are the neighbourhoods: where one is narrow, a step across changes the
# odds of the classes most. Whole lines where the problem has an optimum in general
# position, broken ones where it stretches some directions and shrinks others.

glml = cvxml.GLML().fit(X, y)
shown = LocalMetricDisplay.from_estimator(glml, X, y, densities=True)
plt.show()

# %%
# A few metrics, mixed
# --------------------
#
# PLML goes the other way: a handful of metrics, learnt from triplets, which each point
# mixes with weights that change smoothly from place to place. That is two convex
# problems, one after the other, each proved.

half = np.arange(len(X)) % 2 == 0
plml = cvxml.PLML(tol=1e-3).fit(X[half], y[half])
print(plml.solution_.status.sentence)
assert plml.certificate_.proves(1e-3)

print(f"on the other half of the points: PLML {plml.score(X[~half], y[~half]):.2f}", end=", ")
print(f"GLML {cvxml.GLML().fit(X[half], y[half]).score(X[~half], y[~half]):.2f}")
