# needs: metric-learn==0.7.0 scikit-learn<1.8
"""LSML.fit fails if the two far points of a quadruplet are equal, although the problem has an optimum."""

import warnings

from metric_learn import LSML
from sklearn.datasets import load_iris

warnings.simplefilter("ignore")
X = load_iris().data
try:
    LSML().fit(X[[[0, 1, 2, 2]]])
    found = "no error"
except ValueError as error:
    found = str(error)
print(found)
assert found != "no error", "mended"
