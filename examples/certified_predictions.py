"""
Which predictions can be trusted?
=================================

A metric is learnt for its neighbours. If it is only *nearly* optimal, which votes would
the exact optimum cast just the same? The certificate bounds where the optimum can be,
and with it, point by point, what is certain.
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
# A metric, printed
# -----------------
#
# A paper shows its matrix with one decimal; a file keeps them all.

best = cvxml.solve("mlsvm", X, y, tol=1e-9, **asked).metric
given = {"one decimal": np.round(best, 1), "all decimals": best}
print(given["one decimal"])

# %%
# A map
# -----
#
# Of every place of the plane: the vote of its five nearest points, and whether it is
# *certain* to be that of the optimum.

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
        title=f"{name}: {100 * certain[-1]:.1f} % certain", xticks=[], yticks=[], aspect="equal"
    )
    print(found)
plt.show()

# %%
# Grey is what is not proved. The better the certificate, the thinner the grey: near
# ties alone remain.

assert certain[0] < certain[1]
