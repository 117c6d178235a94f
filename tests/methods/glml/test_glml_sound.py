"""GLML: what is certified is true of the data, in rational arithmetic, however ill-conditioned they are.

The twin has fractions and loops, and nothing of the package: two classes, B = G_1 - G_2; its norm and a power of a
determinant are the only roots.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import cvxml
from cvxml import datasets
from cvxml.core.report import Verdict
from cvxml.core.result import Status
from cvxml.core.tolerance import TOLERANCES
from cvxml.methods.glml.certify import (
    NEARLY_SINGULAR,
    PERHAPS_ZERO,
    best_dual,
    certify_at,
    departure,
    sign_of,
    whitening,
)
from cvxml.methods.glml.instance import instance
from cvxml.methods.glml.proved_B import proved_B
from cvxml.methods.glml.solver import curvature
from tests.instances import exact_of
from tests.methods.glml.local_metrics import Student, classes, definite

Rows = list[list[Fraction]]


def fractions(A: Any) -> Rows:
    return [[Fraction(float(v)) for v in row] for row in A]


def inverse(A: Rows) -> tuple[Rows, Fraction]:
    """By Gauss and Jordan, and the determinant."""
    n, det = len(A), Fraction(1)
    M = [row[:] + [Fraction(int(i == j)) for j in range(n)] for i, row in enumerate(A)]
    for k in range(n):
        at = next(i for i in range(k, n) if M[i][k])
        if at != k:
            M[k], M[at], det = M[at], M[k], -det
        det *= M[k][k]
        M[k] = [v / M[k][k] for v in M[k]]
        for i in range(n):
            if i != k and M[i][k]:
                share = M[i][k]
                M[i] = [a - share * b for a, b in zip(M[i], M[k], strict=True)]
    return [row[n:] for row in M], det


def curvature_of(X: np.ndarray, x: np.ndarray, alpha: float) -> Rows:
    points, n, d = fractions(X), len(X), len(x)
    mu = [sum((row[j] for row in points), Fraction(0)) / n for j in range(d)]
    away = [[v - m for v, m in zip(row, mu, strict=True)] for row in points]
    Sigma = [
        [
            sum((z[i] * z[j] for z in away), Fraction(0)) / n + (Fraction(alpha) if i == j else 0)
            for j in range(d)
        ]
        for i in range(d)
    ]
    S = inverse(Sigma)[0]
    z = [Fraction(float(v)) - m for v, m in zip(x, mu, strict=True)]
    pull = [sum((s * v for s, v in zip(row, z, strict=True)), Fraction(0)) for row in S]
    return [[pull[i] * pull[j] - S[i][j] for j in range(d)] for i in range(d)]


def true_B(X: np.ndarray, y: np.ndarray, x: np.ndarray, alpha: float = 0.0) -> Rows:
    one, two = (curvature_of(X[y == c], x, alpha) for c in np.unique(y))
    return [[a - b for a, b in zip(*rows, strict=True)] for rows in zip(one, two, strict=True)]


def is_definite(B: Rows) -> bool:
    """No pivot has another sign than the first, and none is 0."""
    rows, n = [row[:] for row in B], len(B)
    for k in range(n):
        if rows[k][k] * B[0][0] <= 0:
            return False
        for i in range(k + 1, n):
            share = rows[i][k] / rows[k][k]
            rows[i] = [a - share * b for a, b in zip(rows[i], rows[k], strict=True)]
    return True


class Truth(NamedTuple):
    """Of B over its norm and A over |A|^(1/D)."""

    objective: Fraction
    best: Fraction
    scale: Fraction

    @property
    def gap(self) -> Fraction:
        return self.objective - self.best


def decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


def truth(B: Rows, A: np.ndarray) -> Truth:
    d = len(B)
    M, det = inverse(fractions((A + A.T) / 2))
    t = sum((M[i][j] * B[i][j] for i in range(d) for j in range(d)), Fraction(0))
    B2, M2 = (sum((v * v for row in rows for v in row), Fraction(0)) for rows in (B, M))
    with localcontext() as context:
        context.prec = 60
        unit = (decimal(det).ln() * 2 / d).exp()
        objective = Fraction(decimal(t * t / B2) * unit)
        if is_definite(B):
            best = Fraction((decimal(abs(inverse(B)[1])).ln() * 2 / d).exp() * d * d / decimal(B2))
            return Truth(objective, best, best)
        return Truth(objective, Fraction(0), Fraction((decimal(t * t / B2) * decimal(M2)).sqrt() * unit))


def proof_is_sound(proof: Any, true: Truth) -> None:
    """No tolerance is proved that does not hold, and the figures are within `rounding` of the truth."""
    for tol in TOLERANCES.values():
        if proof.proves(tol):
            assert true.gap <= (tol + 100 * tol) * float(true.scale)
    if not proof.undecided:
        assert abs(float(true.gap) - proof.gap) <= proof.rounding * (1 + 1e-9)
        assert proof.lower_bound <= float(true.best) + proof.rounding


def collinear_wine() -> tuple[np.ndarray, np.ndarray]:
    X, y = datasets.load("wine")
    two = np.isin(y, np.unique(y)[:2])
    X = datasets.standardize(X)[two]
    return np.column_stack([X, X[:, 0] + X[:, 1]]), y[two]


@pytest.mark.slow
def test_a_sum_of_two_features_is_certified_only_where_it_is_true() -> None:
    """In double precision B of these data has nothing to do with B: its rounding is that of Sigma^-1, 1e9."""
    X, y = collinear_wine()
    x = X.mean(axis=0)
    params = {"alpha": 1e-8, "query": x}
    B = true_B(X, y, x, 1e-8)
    solution = cvxml.solve("glml", X, y, **params)
    proof_is_sound(solution.certificate, truth(B, solution.metric))
    assert solution.status is Status.CONVERGED
    # what 0.1 returned: the closed form of B as double precision has it
    p = instance(X, y, **params)
    seen = curvature(p.model, p.Q)
    values, U = np.linalg.eigh(seen.B[0])
    weights = np.abs(values) * np.where(values > 0, (values > 0).sum(), (values < 0).sum())
    A = (U * (weights / np.exp(np.mean(np.log(weights))))) @ U.T
    A = (A + A.T) / 2
    true = truth(B, A)
    assert true.gap > 1e-5 * true.scale
    assert (
        cvxml.check("glml", X, y, A, tol="strict", diagnosed=False, **params).verdict is not Verdict.CERTIFIED
    )
    proof_is_sound(cvxml.certify("glml", X, y, A, solution.dual, **params), true)
    report = cvxml.check("glml", X, y, solution.metric, tol="strict", exact=True, **params)
    assert report.verdict is Verdict.CERTIFIED
    assert report.exact is not None


def squeezed(spread: float) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Two classes of almost one mean that are flat in one direction: B is definite, and its least eigenvalue spread^2.

    Then two of almost one covariance: all of B but a share of `spread` cancels.
    """
    for seed in range(12):
        rng = np.random.default_rng(seed)
        turn = np.linalg.qr(rng.standard_normal((2, 2)))[0] if seed % 2 else np.eye(2)
        half = rng.integers(-8, 9, (8, 2)) * 1.0
        flat = np.concatenate([half, 3 * half + 1e-3]) * [1, spread]
        alike = np.concatenate([half, half * (1 + spread)]) * [1, 1e-3]
        for X in (flat, alike):
            yield X @ turn, np.repeat([0, 1], 8), X[:8].mean(axis=0) @ turn


@pytest.mark.quick(1)
@pytest.mark.parametrize("spread", [1e-3, 3e-6])
def test_flat_classes_are_certified_only_where_it_is_true(spread: float) -> None:
    proved = 0
    for X, y, x in squeezed(spread):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            try:
                solution = cvxml.solve("glml", X, y, query=x)
            except ValueError as error:
                if "singular: rank 1 of 2 in double precision" not in str(error):
                    raise
                continue
        B = true_B(X, y, x)
        proof_is_sound(solution.certificate, truth(B, solution.metric))
        assert solution.status is not Status.NOT_ATTAINED
        proved += solution.certificate.proves(1e-6)
        longer = solution.metric * np.outer([1.001, 1 / 1.001], [1.001, 1 / 1.001])
        for A in (np.eye(2), longer):
            proof_is_sound(cvxml.certify("glml", X, y, A, solution.dual, query=x), truth(B, A))
    assert proved >= 6


@pytest.mark.parametrize("seed", range(6))
def test_B_in_floats_is_within_what_is_said_of_the_true_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    d = 1 + seed % 3
    X = rng.standard_normal((12, d)) * 10.0 ** rng.integers(-4, 5) + 10.0 ** rng.integers(0, 5)
    y, x = np.repeat([0, 1], 6), X[0] + X.std(axis=0)
    found = proved_B(instance(X, y, query=x))
    B = true_B(X, y, x)
    with localcontext() as context:
        context.prec = 60
        norm = Fraction(decimal(sum((v * v for row in B for v in row), Fraction(0))).sqrt())
    sign = np.sign(float(B[0][0])) * np.sign(found.B[0][0, 0])
    for i in range(d):
        for j in range(d):
            error = abs(int(sign) * B[i][j] / norm - Fraction(found.B[0][i, j]))
            assert error <= Fraction(found.error[0][i, j]) + Fraction(1, 10**50)


def test_equal_densities_of_three_classes_prove_nothing_but_what_is_true() -> None:
    """Each of the three is the others turned: at the centre all densities agree, exactly, and B is 0."""
    cross = np.array([[1.0, 0], [-1, 0], [0, 1], [0, -1]])
    X = np.concatenate([cross * [2, 1], cross * [1, 2], cross * [2, 1]])
    y = np.repeat([0, 1, 2], 4)
    solution = cvxml.solve("glml", X, y, query=[0.0, 0.0])
    assert solution.status is Status.CONVERGED
    assert "zero" in solution.notes[0]
    with pytest.raises(ValueError, match="B is exactly 0"):
        exact_of("glml", X, y, np.eye(2), solution.dual, query=[0.0, 0.0])
    # a little off the centre double precision still sees no difference, and there is one
    near = cvxml.solve("glml", X, y, query=[2.0**-40, 0.0])
    assert "zero" not in near.notes[0]
    B = near.certificate
    assert B.proves(1e-6) or B.undecided
    wrong = cvxml.certify("glml", X, y, np.diag([4.0, 0.25]), near.dual, query=[2.0**-40, 0.0])
    assert not wrong.proves(1e-3)


def test_a_B_that_no_precision_tells_from_0_proves_nothing() -> None:
    """Of two classes with the same points, too many features to look at in rationals."""
    half = np.random.default_rng(0).standard_normal((20, 13))
    X, y = np.concatenate([half, half]), np.repeat([0, 1], 20)
    with pytest.warns(ConvergenceWarning):
        solution = cvxml.solve("glml", X, y)
    assert solution.certificate.undecided == PERHAPS_ZERO
    assert cvxml.check("glml", X, y, np.eye(13)).verdict is Verdict.INCONCLUSIVE


def test_what_a_mixture_may_be_off_by_grows_with_the_condition_of_its_covariances() -> None:
    X, y = classes(0, 2)
    turn = np.linalg.qr(np.random.default_rng(1).standard_normal((3, 3)))[0]
    flat = X @ turn * [1, 1, 1e-2] @ turn.T
    errors = [proved_B(instance(Z, y, model="mixture", query=Z[0])).error.max() for Z in (X, flat)]
    assert 0 < 10 * errors[0] < errors[1] < 1


def test_a_model_of_ones_own_is_judged_by_what_it_returns() -> None:
    X, y = classes(0)
    found = proved_B(instance(X, y, model=Student(np.eye(3)), query=X[:5]))
    assert (found.error < 1e-11).all()
    same = Student(np.zeros((3, 3)))  # three classes of one density: B is 0, and not by proof
    with pytest.warns(ConvergenceWarning):
        solution = cvxml.solve("glml", X, y, model=same)
    assert solution.certificate.undecided == PERHAPS_ZERO
    assert not solution.certificate.proves(1e-3)


def test_the_sign_of_B_is_what_all_within_the_noise_have() -> None:
    rng = np.random.default_rng(0)
    for seed in range(30):
        d = 1 + seed % 4
        B = definite(seed, d, spread=float(rng.uniform(0, 9))) - (seed % 3 == 0) * 0.2 * np.eye(d)
        noise = 10.0 ** rng.uniform(-12, -1)
        sign = sign_of(B, noise)
        if sign is None:
            continue
        for E in rng.uniform(-1, 1, (20, d, d)):
            values = np.linalg.eigvalsh(B + noise * (E + E.T) / 2)
            if sign.factor is not None:
                assert (sign.s * values > 0).all()
                moved = float(np.sum(np.log(np.abs(values))))
                assert abs(moved - sign.factor.log_det) <= sign.factor.log_error * (1 + 1e-9) + 1e-12
            else:
                assert values[0] < 0 < values[-1]
    assert sign_of(np.diag([1.0, 1e-12]), 1e-11) is None
    assert sign_of(np.diag([1.0, -1e-17])) is None


def test_the_departure_of_a_whitening_is_proved() -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        d = 2 + seed % 3
        root = rng.standard_normal((d, d)) * 10.0 ** rng.uniform(-5, 0, d)
        S = root @ root.T
        S = (S + S.T) / 2
        T = whitening(S)
        F, G = fractions(S), fractions(T)
        E = [
            [
                sum((G[i][a] * F[a][b] * G[j][b] for a in range(d) for b in range(d)), Fraction(0))
                - int(i == j)
                for j in range(d)
            ]
            for i in range(d)
        ]
        true = math.sqrt(sum(v * v for row in E for v in row))
        assert true <= departure(T, S)


def test_a_metric_all_but_singular_is_not_said_to_be_singular() -> None:
    """Of determinant 1, and 1e18 times as long as wide in a turned frame: no double precision inverts it."""
    turn = np.array([[0.8, -0.6], [0.6, 0.8]])
    A = (turn * [1.0, 1e-18]) @ turn.T * 1e9
    A = (A + A.T) / 2
    B = np.diag([0.6, -0.8])
    proof = certify_at(B, A, 0.0, 0.0)
    assert not proof.proves(1e-3)
    regular = Fraction(A[0, 0]) * Fraction(A[1, 1]) - Fraction(A[0, 1]) ** 2 > 0
    assert (proof.undecided == NEARLY_SINGULAR) == regular


@pytest.mark.parametrize("d", [3, 100])
def test_a_definite_B_has_a_small_allowance_and_that_of_minus_B(d: int) -> None:
    L = np.random.default_rng(0).standard_normal((d, 2 * d))
    B = L @ L.T / np.linalg.norm(L @ L.T)
    A = B / np.exp(np.linalg.slogdet(B)[1] / d)
    proof = certify_at(B, A, *best_dual(B))
    assert proof.radius > 0
    assert 0 < proof.rounding <= 1e-9 * proof.scale
    assert certify_at(-B, A, *best_dual(-B)).lower_bound == pytest.approx(proof.lower_bound, rel=1e-12)
    assert certify_at(B - np.eye(d) / d**0.5, A, 0, 0).rounding > 0


def test_a_singular_metric_proves_nothing_and_a_B_all_but_singular_has_no_dual() -> None:
    edge = np.diag([1.0, 1.0, 1e-17])
    nothing = certify_at(edge, edge * 0, *best_dual(edge))
    assert (nothing.lower_bound, nothing.gap, nothing.radius) == (0, np.inf, np.inf)
    assert best_dual(edge, 1e-16) == best_dual(-edge, 1e-16) == (0, 0)
