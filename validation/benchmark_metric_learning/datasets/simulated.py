"""Gaussian classes in a few of the features; the others are noise."""

from benchopt import BaseDataset, safe_import_context

with safe_import_context() as import_ctx:
    import numpy as np


class Dataset(BaseDataset):
    """n points of d features in 3 classes."""

    name = "simulated"
    parameters = {"n, d": [(150, 10)], "random_state": [0]}
    test_parameters = {"n, d": [(24, 3)]}

    def get_data(self):
        rng = np.random.default_rng(self.random_state)
        y = np.arange(self.n) % 3
        X = rng.standard_normal((self.n, self.d))
        X[:, :2] += 1.5 * rng.standard_normal((3, 2))[y]
        return {"X": X, "y": y}
