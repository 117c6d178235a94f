"""metric-learn's LMNN and ITML, from the identity, with as many iterations as they are allowed."""

from benchopt import BaseSolver, safe_import_context
from benchopt.stopping_criterion import SufficientProgressCriterion

with safe_import_context() as import_ctx:
    import warnings

    import numpy as np
    from metric_learn import ITML, LMNN


class Solver(BaseSolver):
    """The targets that LMNN would find are replaced by those of the question."""

    name = "metric-learn"
    sampling_strategy = "iteration"
    requirements = ["pip::metric-learn"]
    stopping_criterion = SufficientProgressCriterion(
        patience=12, strategy="iteration"
    )  # ITML may go up at first

    def set_objective(self, X, y, method, params):
        self.X, self.y, self.method, self.params = X, y, method, params

    def get_next(self, n_iter):
        """Twice as many."""
        return max(3, 2 * n_iter)

    def run(self, n_iter):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.metric = np.eye(self.X.shape[1]) if n_iter < 3 else getattr(self, self.method)(n_iter)

    def lmnn(self, n_iter):
        chosen = np.array(self.params["targets"])
        model = LMNN(
            n_neighbors=chosen.shape[1],
            regularization=1 - self.params["mu"],
            init="identity",
            min_iter=n_iter,
            max_iter=n_iter,
            convergence_tol=0,
        )
        model._select_targets = lambda X, labels: chosen
        return model.fit(self.X, self.y).get_mahalanobis_matrix()

    def itml(self, n_iter):
        sides = [np.array(self.params["pairs"][side]) for side in ("similar", "dissimilar")]
        kinds = np.repeat([1, -1], [len(side) for side in sides])
        model = ITML(gamma=self.params["gamma"], tol=0, max_iter=n_iter)
        fitted = model.fit(self.X[np.concatenate(sides)], kinds, bounds=np.array(self.params["bounds"]))
        return fitted.get_mahalanobis_matrix()

    def get_result(self):
        return {"metric": self.metric}
