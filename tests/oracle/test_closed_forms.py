"""Reports on methods with a closed form: such a program has no run that could stop early."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import cvxml
from cvxml.core.metric import FloatArray
from cvxml.core.report import Nearest, Verdict
from cvxml.oracle.diagnose import Diagnosis, unnamed
from tests.instances import CLOSED_FORM, real_data

X, Y = real_data("iris", 60)


def within(centre: Callable[..., FloatArray]) -> FloatArray:
    """The covariance within classes around `centre` of each class."""
    E = np.concatenate([X[j == Y] - centre(X[j == Y], axis=0) for j in np.unique(Y)])
    found: FloatArray = E.T @ E / len(X)
    return found


def medians() -> FloatArray:
    """RCA with medians in place of means."""
    return np.linalg.inv(within(np.median))


def log_euclidean() -> FloatArray:
    """GMML with the log-Euclidean mean in place of the geometric mean."""

    def of_eigenvalues(M: FloatArray, function: Callable[[FloatArray], FloatArray]) -> FloatArray:
        w, V = np.linalg.eigh(M)
        found: FloatArray = (V * function(w)) @ V.T
        return found

    E = (X[:, None] - X).reshape(-1, X.shape[1])
    alike = (Y[:, None] == Y).ravel()
    S, D = E[alike].T @ E[alike], E[~alike].T @ E[~alike]
    return of_eigenvalues((of_eigenvalues(D, np.log) - of_eigenvalues(S, np.log)) / 2, np.exp)


@pytest.mark.quick(1)
@pytest.mark.parametrize(("method", "wrong"), [("rca", medians), ("gmml", log_euclidean)])
def test_another_formula_is_not_called_a_loss_of_digits(method: str, wrong: Callable[[], FloatArray]) -> None:
    report = cvxml.check(method, X, Y, wrong())
    assert report.verdict is Verdict.CLOSE
    assert "another formula" in report.reasons[-1]
    assert not any(words in str(report) for words in ("stopped early", "longer"))


def test_a_gap_as_small_as_rounding_may_be_a_loss_of_digits() -> None:
    """The solution with three decimals is 2e-9 of the scale above the optimum."""
    rounded = np.round(np.linalg.inv(within(np.mean)), 3)
    report = cvxml.check("rca", X, Y, rounded, tol="strict")
    assert report.verdict is Verdict.CLOSE
    assert report.rel_gap is not None
    assert 1e-9 < report.rel_gap < 1e-8
    assert "another formula" not in report.reasons[-1]
    assert "digits" in report.reasons[-1]


@pytest.mark.parametrize("method", ["rca", "frobmetric"])
def test_a_close_report_says_how_near_the_best_misreading_is(method: str) -> None:
    """So does the page on diagnosis: whenever neither a name nor a nearest problem is given."""
    best = cvxml.solve(method, X, Y, tol=1e-9).metric
    E = np.random.default_rng(0).standard_normal(best.shape)
    turn = np.eye(4) + 0.02 * E / np.linalg.norm(E)
    report = cvxml.check(method, X, Y, turn @ best @ turn.T)
    assert report.verdict is Verdict.CLOSE
    assert report.diagnosis == ()
    assert report.nearest == ()
    assert any(f"cvxml evaluate {method}" in note for note in report.notes)
    silent = cvxml.check(method, X, Y, turn @ best @ turn.T, diagnosed=False)
    assert not any("cvxml evaluate" in note for note in silent.notes)


@pytest.mark.parametrize("method", [*CLOSED_FORM, "mlsvm"])
def test_the_nearest_problems_advise_more_steps_only_if_there_are_steps(method: str) -> None:
    nearest = Diagnosis(nearest=(Nearest("optimal for another problem", 1e-4, 0.1),))
    question: Any = SimpleNamespace(method=method, late=False, candidate=np.eye(2))
    said = unnamed(question, nearest)
    assert ("longer" in said) == (method == "mlsvm")
    assert (f"cvxml evaluate {method}" in said) == (method != "mlsvm")
