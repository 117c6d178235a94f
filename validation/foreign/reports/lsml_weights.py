# needs: metric-learn==0.7.0 scikit-learn<1.8
"""LSML.fit changes the caller's array of weights, and fails for weights that are integers."""

import numpy as np
from metric_learn import LSML
from sklearn.datasets import load_iris

quadruplets = load_iris().data[[[0, 1, 2, 60], [60, 61, 62, 130], [130, 131, 132, 3]]]
weights = np.full(3, 2.0)
LSML().fit(quadruplets, weights=weights)
print("weights after fit:", weights)
try:
    LSML().fit(quadruplets, weights=np.ones(3, dtype=int))
    integers = "no error"
except TypeError as error:
    integers = str(error)
print("integers:", integers)
assert weights[0] != 2.0, "mended"
assert integers != "no error", "mended"
