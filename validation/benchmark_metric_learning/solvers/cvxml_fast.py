"""cvxml's own solver, stopped at tolerances that fall by a factor of three."""

from benchopt import BaseSolver, safe_import_context

with safe_import_context() as import_ctx:
    import warnings

    import cvxml


class Solver(BaseSolver):
    """A metric of each tolerance."""

    name = "cvxml"
    sampling_strategy = "tolerance"
    requirements = ["pip::cvxml"]

    def set_objective(self, X, y, method, params):
        self.question, self.params = (method, X, y), params

    def run(self, tolerance):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.metric = cvxml.solve(
                *self.question, tol=max(min(tolerance, 1.0), 1e-9), **self.params
            ).metric

    def get_result(self):
        return {"metric": self.metric}
