# needs: mlpack==4.8.0
"""mlpack.lmnn with the same seed gives another matrix when it is called a second time in one process."""

import os

os.environ["OMP_NUM_THREADS"] = "1"

import mlpack
import numpy as np

rng = np.random.default_rng(0)
y = np.repeat([0, 1, 2], 30)
X = rng.standard_normal((90, 4)) + y[:, None]
K = [mlpack.lmnn(input_=X.copy(), labels=y.copy(), k=3, seed=1)["output"] for _ in range(2)]
print("largest difference:", np.abs(K[0] - K[1]).max())
assert not np.array_equal(*K), "mended"
