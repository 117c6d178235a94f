"""Iris and wine of scikit-learn, each feature z-scored; equal points are moved apart."""

from benchopt import BaseDataset, safe_import_context

with safe_import_context() as import_ctx:
    import numpy as np
    from sklearn import datasets


class Dataset(BaseDataset):
    """Every `every`-th point."""

    name = "uci"
    parameters = {"table, every": [("iris", 1), ("wine", 1)]}
    requirements = ["scikit-learn"]

    def get_data(self):
        X, y = getattr(datasets, f"load_{self.table}")(return_X_y=True)
        X, y = X[:: self.every], y[:: self.every]
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        return {"X": X + 1e-6 * np.random.default_rng(0).standard_normal(X.shape), "y": y}
