"""ITML: objective and bound are within `rounding` of the truth, however ill-conditioned prior and metric are.

The twin has fractions and loops, and decimals of 60 digits for logarithms; the prior and the bounds are the floats of
the instance.
"""

from __future__ import annotations

import warnings
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import cvxml
from cvxml.core.metric import FloatArray, examine
from cvxml.core.report import Verdict
from cvxml.family.regularizers import logdet
from cvxml.family.regularizers.definite import Definite, definite
from cvxml.methods import get
from cvxml.methods.itml import Instance, instance
from tests.methods.glml.test_glml_sound import Rows, fractions, inverse

METHOD = get("itml")


def log(value: Fraction) -> Fraction:
    with localcontext() as context:
        context.prec = 60
        return Fraction((Decimal(value.numerator) / Decimal(value.denominator)).ln())


def trace_of_product(A: Rows, B: Rows) -> Fraction:
    n = range(len(A))
    return sum((A[i][j] * B[j][i] for i in n for j in n), Fraction(0))


def truth(p: Instance, A: np.ndarray, dual: dict[str, np.ndarray]) -> tuple[Fraction, Fraction]:
    """The objective at A, and the value of the dual."""
    (u, l), gamma, d = map(Fraction, p.bounds), Fraction(p.gamma), len(A)
    prior_inverse, prior_det = inverse(fractions(p.prior))
    metric, Z = fractions(A), [row[:] for row in prior_inverse]
    above = trace_of_product(metric, prior_inverse) - log(inverse(metric)[1] / prior_det) - d
    below = Fraction(0)
    for name, pairs, sign, bound in (("lam_S", p.pairs.similar, 1, u), ("lam_D", p.pairs.dissimilar, -1, l)):
        for (i, j), price in zip(pairs.tolist(), dual[name].tolist(), strict=True):
            x = [Fraction(a) - Fraction(b) for a, b in zip(p.X[i].tolist(), p.X[j].tolist(), strict=True)]
            outer = [[a * b for b in x] for a in x]
            ratio = trace_of_product(metric, outer) / bound
            if (ratio > 1) == (sign > 0):
                above += gamma * (ratio - 1 - log(ratio))
            lam = Fraction(price) * sign
            Z = [[z + lam * v for z, v in zip(*rows, strict=True)] for rows in zip(Z, outer, strict=True)]
            below += gamma * log(1 - lam * bound / gamma)
    return above, below + log(inverse(Z)[1] * prior_det)


def problem(seed: int) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
    """Ill-conditioned priors, scales, duplicates, offsets, extreme gamma."""
    rng = np.random.default_rng(seed)
    d, kind = 2 + seed % 2, seed % 7
    X, y = rng.standard_normal((6, d)), np.arange(6) % 2
    params: dict[str, Any] = {"gamma": float(10.0 ** rng.integers(-3, 4)), "bounds": (0.5, 4.0)}
    if kind == 1:
        turn = np.linalg.qr(rng.standard_normal((d, d)))[0]
        P = (turn * 10.0 ** np.linspace(0, -rng.integers(6, 13), d)) @ turn.T
        params["prior"] = (P + P.T) / 2
    elif kind == 2:
        X = X * 10.0 ** rng.integers(-6, 7, d)
        params["prior"] = np.diag(1 / X.std(axis=0) ** 2)
    elif kind == 3:
        X[:, -1] = X[:, 0] + 10.0 ** -rng.integers(2, 6) * X[:, -1]
        params["prior"] = "covariance"
    elif kind == 4:
        X[1], X[2] = X[3] + 1e-9 * rng.standard_normal(d), X[4]
    elif kind == 5:
        X = X + 10.0 ** rng.integers(2, 8)
    elif kind == 6:
        params["gamma"] = float(10.0 ** rng.integers(-12, 13))
    return X, y, params


@pytest.mark.quick(4)
@pytest.mark.parametrize("seed", range(35))
def test_rounding_covers_the_condition_of_the_prior_and_of_the_metric(seed: int) -> None:
    X, y, params = problem(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        solution = cvxml.solve("itml", X, y, tol=1e-9, **params)
    p, rng = instance(X, y, **params), np.random.default_rng(seed)
    decided = 0
    for A in (solution.metric, solution.metric * 1.001, p.prior, np.diag(np.diag(solution.metric))):
        A = examine(A)[0]
        for share in (1.0, float(rng.uniform(0, 2))):
            dual = {name: share * duals for name, duals in solution.dual.items()}
            proof = cvxml.certify("itml", X, y, A, dual, **params)
            if proof.undecided:
                continue
            above, below = truth(p, A, proof.dual)
            below = below if proof.lower_bound > 0 else Fraction(0)
            # a gap may be known better than objective and bound; the names of prices are rounded once more
            error = max(proof.rounding, proof.value_rounding)
            assert abs(float(above - Fraction(proof.objective))) <= error
            assert abs(float(above - below - Fraction(proof.gap))) <= error
            decided += 1
    assert decided >= 4


def test_a_prior_next_to_singular_decides_nothing() -> None:
    """Accepted, as its least eigenvalue is above rounding, and not known well enough to prove anything of it."""
    rng = np.random.default_rng(0)
    d = 40
    turn = np.linalg.qr(rng.standard_normal((d, d)))[0]
    P = (turn * np.r_[3e-13, np.ones(d - 1)]) @ turn.T
    X, y = rng.standard_normal((12, d)), np.arange(12) % 2
    prior = (P + P.T) / 2
    proof = cvxml.certify(
        "itml", X, y, prior, {"lam_S": np.zeros(30), "lam_D": np.zeros(36)}, prior=prior, bounds=(1.0, 9.0)
    )
    assert "prior" in proof.undecided
    assert not proof.proves(1e-3)
    report = cvxml.check("itml", X, y, prior, prior=prior, bounds=(1.0, 9.0))
    assert report.verdict is Verdict.INCONCLUSIVE


def test_a_prior_that_double_precision_cannot_tell_from_a_singular_one_is_refused() -> None:
    X, y = np.random.default_rng(0).standard_normal((6, 2)), np.arange(6) % 2
    prior = np.array([[1.0, 1.0], [1.0, 1.0 + 2.0**-52]])  # positive definite, exactly
    with pytest.raises(ValueError, match="prior"):
        cvxml.solve("itml", X, y, prior=prior)


def test_a_metric_that_is_singular_to_rounding_is_not_refuted_for_it() -> None:
    """Its objective is some number: infinite it is of a metric that is singular as rational numbers are."""
    X, y = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [3.0, 2.0]]), np.array([0, 0, 1, 1])
    nearly = np.array([[1.0, 1.0], [1.0, 1.0 + 2.0**-52]])
    report = cvxml.check("itml", X, y, nearly, diagnosed=False)
    assert report.verdict == "inconclusive"
    assert "singular" in report.reasons[0]
    assert cvxml.check("itml", X, y, np.ones((2, 2)), diagnosed=False).verdict == "refuted"


def test_a_proof_in_all_features_takes_three_decompositions(monkeypatch: pytest.MonkeyPatch) -> None:
    """With more features than points: those of the metric, of what is left of the prior, and of their product."""
    sizes = []

    def counted(S: FloatArray, error: FloatArray) -> Definite | None:
        sizes.append(len(S))
        return definite(S, error)

    monkeypatch.setattr(logdet, "definite", counted)
    X, y = np.random.default_rng(0).standard_normal((12, 40)), np.arange(12) % 2
    assert cvxml.solve("itml", X, y).certificate.proves(1e-6)
    assert sizes.count(40) == 3
