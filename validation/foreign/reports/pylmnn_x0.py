# needs: PyLMNN==1.6.4 scipy>=1.11
"""PyLMNN does not start with scipy 1.11 or newer: `minimize` is given a matrix as x0."""

import sys
import types

for name in ("GPyOpt", "GPyOpt.methods"):  # needed only for find_hyperparams
    sys.modules[name] = types.ModuleType(name)
sys.modules["GPyOpt.methods"].BayesianOptimization = None

from pylmnn import LargeMarginNearestNeighbor  # noqa: E402
from sklearn.datasets import load_iris  # noqa: E402

try:
    LargeMarginNearestNeighbor().fit(*load_iris(return_X_y=True))
    found = "no error"
except ValueError as error:
    found = str(error)
print(found)
assert "x0" in found, "mended"
