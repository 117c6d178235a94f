"""How far a metric is from the optimum, proved: cvxml's certificate of it, relative to the objective's scale.

The dual variables come from one tight solution of cvxml and are the same for all solvers: the bound that they prove
holds for every metric, so that no solver is measured against its own word.
"""

from benchopt import BaseObjective, safe_import_context

with safe_import_context() as import_ctx:
    import numpy as np

    import cvxml


class Objective(BaseObjective):
    """LMNN or ITML on one set of points; what a solver returns is a metric (d, d)."""

    name = "Certified gap of a metric"
    min_benchopt_version = "1.6"
    sampling_strategy = "iteration"
    requirements = ["pip::cvxml"]
    parameters = {"method": ["lmnn", "itml"]}

    def set_data(self, X, y):
        """X (n, d), y (n,)."""
        self.X, self.y = X, y
        self.params = self.asked()
        best = cvxml.solve(self.method, X, y, tol=1e-8, **self.params)
        self.dual = best.dual

    def asked(self):
        """The parameters, with every list, so that all solvers solve the same problem."""
        if self.method == "lmnn":
            return {"mu": 0.5, "targets": self.nearest(3)}
        i, j = np.triu_indices(len(self.y), 1)
        squared = ((self.X[i] - self.X[j]) ** 2).sum(axis=1)
        rng, pairs = np.random.default_rng(0), {}
        for side, kind in (("similar", self.y[i] == self.y[j]), ("dissimilar", self.y[i] != self.y[j])):
            chosen = rng.choice(np.flatnonzero(kind), min(100, int(kind.sum())), replace=False)
            pairs[side] = np.stack([i[chosen], j[chosen]], axis=1).tolist()
        return {"gamma": 1.0, "bounds": np.percentile(squared, (5, 95)).tolist(), "pairs": pairs}

    def nearest(self, k):
        """(n, k) the nearest points of the same class."""
        squared = ((self.X[:, None] - self.X) ** 2).sum(axis=2)
        squared[(self.y[:, None] != self.y) | np.eye(len(self.y), dtype=bool)] = np.inf
        return np.argsort(squared, axis=1, kind="stable")[:, :k].tolist()

    def get_objective(self):
        """What a solver is given."""
        return {"X": self.X, "y": self.y, "method": self.method, "params": self.params}

    def evaluate_result(self, metric):
        """value: the certified gap as a share of the scale; objective and lower bound beside it."""
        proof = cvxml.certify(self.method, self.X, self.y, metric, self.dual, **self.params)
        return {
            "value": max(proof.rel_gap, 0.0),
            "objective": proof.objective,
            "lower_bound": proof.lower_bound,
        }

    def get_one_result(self):
        """Euclid's metric."""
        return {"metric": np.eye(self.X.shape[1])}
