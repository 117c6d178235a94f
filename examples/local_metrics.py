"""
Local metrics: one for each query
=================================

A single matrix for the whole space is a compromise. GLML computes a metric *at each query* from
the densities of the classes. This metric stretches the directions in which the classes change
at the query. These directions may be different at the next query.
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
# Metrics at five queries
# -----------------------
#
# Each local metric solves a small problem, and each solution has a certificate.

solution = cvxml.solve("glml", X, y, query=X[::36])
print(
    solution.metric.shape, "local metrics; the largest relative gap is", f"{solution.rel_gap:.0e}"
)
assert all(part.proves(1e-6) for part in solution.certificate.parts)

# %%
# Metrics in a picture
# --------------------
#
# Each ellipse joins the points that are equally far from its query. Across the narrow side of an
# ellipse the odds of the classes change fastest. The line shows the case of the matrix B of the
# problem. Solid: B is definite, and the optimum is unique. Dashed: B is indefinite, and the
# metric is one of many optimal metrics. All ellipses are drawn equally long, so only their
# shapes can be compared.

glml = cvxml.GLML().fit(X, y)
shown = LocalMetricDisplay.from_estimator(glml, X, y, densities=True)
plt.show()

# %%
# PLML: mixtures of a few metrics
# -------------------------------
#
# PLML learns a few basis metrics from triplets. Each point mixes them with weights that change
# smoothly from place to place. PLML solves two convex problems, first for the weights and then
# for the basis metrics. Both solutions have a certificate.

half = np.arange(len(X)) % 2 == 0
plml = cvxml.PLML(tol=1e-3).fit(X[half], y[half])
print(plml.solution_.status.sentence)
assert plml.certificate_.proves(1e-3)

print(
    f"accuracy on the other half of the points: PLML {plml.score(X[~half], y[~half]):.2f}",
    end=", ",
)
print(f"GLML {cvxml.GLML().fit(X[half], y[half]).score(X[~half], y[~half]):.2f}")
