"""The problem as its paper states it, given to cvxpy row by row."""

from benchopt import BaseSolver, safe_import_context

with safe_import_context() as import_ctx:
    import numpy as np

    import cvxml


class Solver(BaseSolver):
    """One point for each back end: its default tolerance."""

    name = "cvxpy"
    sampling_strategy = "run_once"
    requirements = ["pip::cvxml", "pip::cvxpy"]
    parameters = {"backend": ["CLARABEL", "SCS"]}

    def set_objective(self, X, y, method, params):
        self.problem, self.d = cvxml.problem(method, X, y, **params), X.shape[1]

    def skip(self, X, y, method, params):
        """Row by row is slow: LMNN of more than 60 points is left out."""
        too_many = method == "lmnn" and len(X) > 60
        return too_many, "more than 60 points" if too_many else None

    def run(self, _):
        self.problem.solve(solver=self.backend)

    def get_result(self):
        psd = next(v for v in self.problem.variables() if v.shape == (self.d, self.d))
        metric = np.zeros((self.d, self.d)) if psd.value is None else psd.value
        values, vectors = np.linalg.eigh((metric + metric.T) / 2)
        return {"metric": (vectors * np.maximum(values, 0)) @ vectors.T}
