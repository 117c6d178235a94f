"""The Fisher-kernel metric against differences of the score."""

from __future__ import annotations

import numpy as np

from cvxml.methods.glml import definitions
from cvxml.methods.glml.instance import fit_gaussians
from tests.methods.glml.local_metrics import classes, names
from validation.studies.fisher_metric import fisher_metrics


def test_the_fisher_metric_of_one_gaussian_is_its_precision_everywhere() -> None:
    X, _ = classes(0)
    model = fit_gaussians(X, np.zeros(len(X), dtype=np.intp), ["all"])
    S = np.linalg.inv(np.cov(X.T, bias=True))
    for A in fisher_metrics(model, X[:3]):
        np.testing.assert_allclose(A, S / np.linalg.det(S) ** (1 / 3), rtol=1e-8)


def test_the_fisher_metric_is_that_of_differences_of_the_score() -> None:
    X, y = classes(1, 2)
    model = fit_gaussians(X, y, names(2))
    fits = [definitions.fitted(X, y, c) for c in range(2)]
    x, step = X[0] + 0.1, 1e-6

    def score(z: np.ndarray) -> np.ndarray:
        logs = [definitions.log_gaussian(z, *g) for g in fits]
        r = np.exp(logs - np.logaddexp(*logs))
        return np.concatenate([r[c] * np.linalg.solve(Sigma, z - mu) for c, (mu, Sigma) in enumerate(fits)])

    J = np.column_stack([(score(x + step * e) - score(x - step * e)) / (2 * step) for e in np.eye(3)])
    information = np.zeros((6, 6))
    for c, (_, Sigma) in enumerate(fits):
        information[3 * c : 3 * c + 3, 3 * c : 3 * c + 3] = np.linalg.inv(Sigma) / 2
    A = J.T @ np.linalg.solve(information, J)
    np.testing.assert_allclose(fisher_metrics(model, x[None])[0], A / np.linalg.det(A) ** (1 / 3), rtol=1e-5)
