"""ITML and MMC as members of the family: exact arithmetic, twins in fractions, singular priors and metrics."""

from __future__ import annotations

import warnings
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import cvxml
from cvxml.core.balls import precision
from cvxml.core.metric import FloatArray, examine
from cvxml.core.result import Certificate
from cvxml.family.regularizers.logdet import METRIC, PRIOR, LogDet
from cvxml.family.rows.base import Weights
from cvxml.family.theorem.exact import interval
from cvxml.family.theorem.theorem import Family, Proof, certify
from cvxml.methods import get
from cvxml.numbers.rational import end, plane
from cvxml.solvers.family_method import FamilyMethod
from tests.instances import random_data
from tests.methods.glml.test_glml_sound import fractions, inverse
from tests.methods.itml.problems import random_metric
from tests.methods.itml.test_itml_sound import log, problem, truth

METHODS = ("itml", "mmc", "mmc:diagonal")
EVERY = pytest.mark.parametrize("method", METHODS)
SEEDS = pytest.mark.parametrize("seed", range(14))


class Asked(NamedTuple):
    """An instance and its member."""

    method: FamilyMethod[Any]
    given: Any
    family: Family
    exact: Family

    def certify(self, A: FloatArray, dual: dict[str, FloatArray]) -> tuple[Certificate, Proof]:
        return certify(self.family, A, self.method.read(self.given, dual))


def asked(method: str, X: FloatArray, y: Any, **params: Any) -> Asked:
    of = get(method)
    assert isinstance(of, FamilyMethod)
    given = of.instance(X, y, **params)
    return Asked(of, given, of.member(given), of.member(given, Fraction))


def data(method: str, seed: int) -> tuple[FloatArray, Any, dict[str, Any]]:
    """Of ITML ill-conditioned priors, offsets, extreme gamma; of MMC scales, offsets, twins, nearly equal features."""
    if method == "itml":
        return problem(seed)
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((9, 2 + seed % 2)), np.arange(9) % 2
    if seed % 7 == 1:
        X = X * 10.0 ** rng.integers(-6, 7, X.shape[1])
    elif seed % 7 == 2:
        X = X + 10.0 ** rng.integers(2, 8)
    elif seed % 7 == 3:
        X[1], X[2] = X[0], X[3] + 1e-7 * X[2]
    elif seed % 7 == 4:
        X[:, -1] = X[:, 0] + 10.0 ** -rng.integers(2, 6) * X[:, -1]
    elif seed % 7 == 5:
        X = np.round(X * 16) / 16
        X = np.column_stack([X, X[:, 0] + X[:, 1]])
    elif seed % 7 == 6:
        X = X * 1e-60
    return X, y, {}


def solved(method: str, seed: int) -> tuple[Asked, FloatArray, dict[str, FloatArray]]:
    X, y, params = data(method, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        solution = cvxml.solve(method, X, y, tol=1e-9, **params)
    return asked(method, X, y, **params), solution.metric, dict(solution.dual)


def candidates(A: FloatArray, method: str) -> list[FloatArray]:
    """The optimum, next to it, and far from it."""
    other = np.diag(np.diag(A)) if "diagonal" in method else A + np.trace(A) / len(A) * np.eye(len(A))
    return [examine(A)[0], examine(A * (1 + 1e-9))[0], other, np.diag(np.diag(A))]


def dual_cases(dual: dict[str, FloatArray], seed: int) -> list[dict[str, FloatArray]]:
    """The prices, with noise, and any at all."""
    rng = np.random.default_rng(seed)
    noisy = {k: a * (1 + 1e-4 * rng.standard_normal(a.shape)) for k, a in dual.items()}
    wild = {k: rng.standard_normal(a.shape) * 10.0 ** rng.integers(-5, 5, a.shape) for k, a in dual.items()}
    return [dual, noisy, wild]


@pytest.mark.quick(6)
@EVERY
@SEEDS
def test_double_precision_is_within_rounding_of_exact_arithmetic(method: str, seed: int) -> None:
    of, metric, dual = solved(method, seed)
    decided = 0
    for A in candidates(metric, method):
        for duals in dual_cases(dual, seed):
            found, proof = of.certify(A, duals)
            if found.undecided or not found.feasibility.exact:
                continue
            exact = interval(of.exact, A, proof.duals)
            if exact.distance > 0:
                continue
            assert exact.lower_bound <= exact.objective
            assert abs(exact.objective - Fraction(found.objective)) <= Fraction(found.value_rounding)
            assert abs(exact.lower_bound - Fraction(found.lower_bound)) <= Fraction(found.value_rounding)
            assert abs(exact.gap - Fraction(found.gap)) <= Fraction(found.rounding)
            decided += 1
    assert decided >= 4


@EVERY
@pytest.mark.parametrize("seed", range(3))
def test_the_optimum_is_within_the_radius(method: str, seed: int) -> None:
    """Which is no more than 1e4 times as large as need be."""
    X, y = random_data(seed, n=16, d=3)
    solution = cvxml.solve(method, X, y, tol=1e-9)
    of, best = asked(method, X, y), solution.metric
    other = np.diag(np.diag(random_metric(np.random.default_rng(seed), 3))) * np.trace(best)
    E = X[of.given.pairs.similar[:, 0]] - X[of.given.pairs.similar[:, 1]]
    for share in (1e-4, 1e-2):
        A = (1 - share) * best + share * other
        if method != "itml":
            A = A / np.sum((E @ A) * E)
        found, _ = of.certify(A, dict(solution.dual))
        away = np.linalg.norm(A - best)
        assert away <= found.radius * (1 + 1e-3)
        assert share > 1e-4 or found.radius <= 1e4 * away


@EVERY
def test_a_dual_that_is_nan_is_refused(method: str) -> None:
    of, metric, dual = solved(method, 0)
    name = next(iter(dual))
    with pytest.raises(ValueError, match=f"dual.*{name}"):
        of.method.certify(of.given, metric, {**dual, name: np.full_like(dual[name], np.nan)})


@EVERY
def test_repaired_prices_keep_their_bound_by_the_names_of_the_dual(method: str) -> None:
    of, metric, dual = solved(method, 3)
    for duals in dual_cases(dual, 1):
        found, proof = of.certify(metric, duals)
        named = of.method.named(of.given, *proof.duals)
        assert {name: a.shape for name, a in named.items()} == {name: a.shape for name, a in dual.items()}
        again, _ = of.certify(metric, named)
        assert again.lower_bound == pytest.approx(found.lower_bound, rel=1e-12, abs=1e-12)


@pytest.mark.quick(7)
@SEEDS
def test_itml_in_fractions(seed: int) -> None:
    """A twin with loops, that inverts the prior and takes logarithms of sixty digits."""
    of, metric, dual = solved("itml", seed)
    for A in candidates(metric, "itml"):
        found, proof = of.certify(A, dual)
        if found.undecided:
            continue
        exact = interval(of.exact, A, proof.duals)
        named = of.method.named(of.given, *proof.duals)
        above, below = truth(of.given, A, named)
        if exact.distance == 0:
            assert float(abs(above - exact.objective)) <= 1e-40 * (1 + float(above))
        # names are prices rounded once more
        assert float(abs(below - exact.lower_bound)) <= 1e-9 * (1 + abs(float(below)))
        assert abs(float(below) - found.lower_bound) <= found.value_rounding + 1e-9 * (1 + abs(float(below)))


@SEEDS
def test_log_det_by_definition_in_fractions(seed: int) -> None:
    """r(G) is the least of R(M) - <M, G>, and attained at the inverse of P - G, which fractions find."""
    of, metric, dual = solved("itml", seed)
    proof = of.certify(metric, dual)[1]
    regularizer = of.exact.regularizer
    assert isinstance(regularizer, LogDet)
    X = plane(regularizer.X)
    with precision():
        r = end([regularizer.exact_bound(X, exactly(proof.G))], up=True)
    prior_inverse, prior_det = inverse(fractions(regularizer.prior))
    for (i, j), w in zip(proof.G.pairs.tolist(), proof.G.w.tolist(), strict=True):
        x = [a - b for a, b in zip(*(fractions(regularizer.X)[k] for k in (i, j)), strict=True)]
        prior_inverse = [
            [entry - Fraction(w) * a * b for entry, b in zip(row, x, strict=True)]
            for row, a in zip(prior_inverse, x, strict=True)
        ]
    det = inverse(prior_inverse)[1] * prior_det
    assert abs(log(det) - r) < Fraction(1, 10**45)


def exactly(G: Weights) -> Weights:
    return Weights(G.pairs, np.array([Fraction(w) for w in G.w.tolist()], dtype=object))


def test_a_gap_far_below_rounding_of_the_objective_keeps_its_digits() -> None:
    X, y = random_data(1, n=20, d=3)
    with pytest.warns(ConvergenceWarning):
        solution = cvxml.solve("itml", X, y, tol=1e-40)  # as near as floats come
    of, dual = asked("itml", X, y), dict(solution.dual)
    found, proof = of.certify(solution.metric, dual)
    assert 0 <= found.gap <= 1e-17 * found.objective
    assert found.rounding <= 1e-17 * found.objective
    assert abs(interval(of.exact, solution.metric, proof.duals).gap - Fraction(found.gap)) <= Fraction(
        found.rounding
    )
    A = solution.metric * (1 + 1e-9)
    near, proof = of.certify(A, dual)
    assert 0 < near.gap <= 1e-15 * near.objective  # of which a difference shows nothing
    assert near.gap == pytest.approx(float(interval(of.exact, A, proof.duals).gap), rel=1e-3)


def test_a_singular_metric_has_no_objective_and_one_that_is_nearly_so_is_not_judged() -> None:
    X, y = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [3.0, 2.0]]), np.array([0, 0, 1, 1])
    of = asked("itml", X, y)
    dual = {"lam_S": np.zeros(2), "lam_D": np.zeros(4)}
    singular, proof = of.certify(np.ones((2, 2)), dual)
    assert (singular.objective, singular.gap, singular.undecided) == (np.inf, np.inf, "")
    with pytest.raises(ValueError, match="singular"):
        interval(of.exact, np.ones((2, 2)), proof.duals)
    nearly, _ = of.certify(np.array([[1.0, 1.0], [1.0, 1.0 + 2.0**-52]]), dual)
    assert nearly.undecided == METRIC
    # and exact arithmetic judges it
    exact = interval(of.exact, np.array([[1.0, 1.0], [1.0, 1.0 + 2.0**-52]]), proof.duals)
    assert exact.distance == 0
    assert exact.objective > 30


def test_a_prior_next_to_singular_decides_nothing_but_in_exact_arithmetic() -> None:
    rng = np.random.default_rng(0)
    d = 40
    turn = np.linalg.qr(rng.standard_normal((d, d)))[0]
    P = (turn * np.r_[3e-13, np.ones(d - 1)]) @ turn.T
    prior = (P + P.T) / 2
    X, y = rng.standard_normal((12, d)), np.arange(12) % 2
    of = asked("itml", X, y, prior=prior, bounds=(1.0, 9.0))
    dual = {"lam_S": np.zeros(30), "lam_D": np.zeros(36)}
    found, proof = of.certify(prior, dual)
    assert found.undecided in (PRIOR, METRIC)
    assert not found.proves(1e-3)
    exact = interval(of.exact, prior, proof.duals)
    assert exact.lower_bound == 0
    assert exact.distance == 0


def test_a_prior_that_may_be_singular_gives_no_bound_but_0() -> None:
    rng = np.random.default_rng(0)
    turn = np.linalg.qr(rng.standard_normal((9, 9)))[0]
    P = (turn * np.r_[3e-15, np.ones(8)]) @ turn.T
    X, y = rng.standard_normal((12, 9)), np.arange(12) % 2
    of = asked("itml", X, y, bounds=(1.0, 9.0))
    sick = of._replace(family=of.family._replace(regularizer=LogDet(X, (P + P.T) / 2)))
    found, _ = sick.certify(np.eye(9), {"lam_S": np.full(30, 1e-3), "lam_D": np.full(36, 1e-3)})
    assert found.undecided == PRIOR
    assert found.lower_bound == 0
    assert np.isinf(found.rounding)
    assert np.isinf(found.radius)


@pytest.mark.parametrize("method", METHODS[1:])
@pytest.mark.parametrize("seed", range(5))
def test_mmc_in_fractions(method: str, seed: int) -> None:
    """lambda S - G is psd, by elimination, and no longer so for a smaller lambda; the rest is a sum of fractions."""
    of, metric, dual = solved(method, seed)
    proof = of.certify(metric, dual)[1]
    exact = interval(of.exact, metric, proof.duals)
    X, d = fractions(of.given.X), len(metric)

    def summed(pairs: Any, w: list[Fraction]) -> list[list[Fraction]]:
        rows = [[a - b for a, b in zip(X[i], X[j], strict=True)] for i, j in pairs.tolist()]
        return [
            [sum((v * e[k] * e[l] for e, v in zip(rows, w, strict=True)), Fraction(0)) for l in range(d)]
            for k in range(d)
        ]

    (own,), similar = proof.duals, of.given.pairs.similar
    a = [Fraction(price) for price in own.a.tolist()]
    paid = -exact.lower_bound - sum((1 / (4 * price) for price in a), Fraction(0))
    S, G = summed(similar, [Fraction(1)] * len(similar)), summed(proof.G.pairs, a)
    diagonal = method == "mmc:diagonal"
    for factor, enough in (
        (paid * (1 + Fraction(1, 10**40)), True),
        (paid * (1 - Fraction(1, 10**5)), False),
    ):
        left = [[factor * s - g for s, g in zip(*rows, strict=True)] for rows in zip(S, G, strict=True)]
        assert (all(left[k][k] >= 0 for k in range(d)) if diagonal else psd(left)) == enough


def psd(rows: list[list[Fraction]]) -> bool:
    """By symmetric elimination."""
    rows = [row[:] for row in rows]
    while rows:
        pivot = rows[0]
        if pivot[0] < 0 or (pivot[0] == 0 and any(pivot)):
            return False
        rest = rows[1:]
        rows = [
            [v - (row[0] / pivot[0] if pivot[0] else 0) * p for v, p in zip(row[1:], pivot[1:], strict=True)]
            for row in rest
        ]
    return True


def test_what_is_off_the_diagonal_is_said_and_not_judged() -> None:
    X, y = random_data(3, n=16, d=3)
    of, metric = asked("mmc:diagonal", X, y), np.diag([1e-3, 2e-3, 3e-3])
    dual = {"c": np.ones(len(of.given.pairs.dissimilar))}
    found, proof = of.certify(metric, dual)
    crooked = metric + 1e-4
    other, _ = of.certify(crooked, dual)
    assert found.feasibility.feasible
    assert not other.feasibility.feasible
    exact = interval(of.exact, crooked, proof.duals)
    assert exact.distance == pytest.approx(np.linalg.norm(crooked - np.diag(np.diag(crooked))))
    judged = interval(of.exact, np.diag(np.diag(crooked)), proof.duals)
    assert exact.objective == judged.objective


@SEEDS
def test_distances_that_log_det_sees_are_off_by_no_more_than_they_say(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = 0.1 + rng.standard_normal((6, 2)) @ np.array([[1.0, -1.0], [1e-6, 1e-6]])
    A = np.array([[1.0, 1.0 - 1e-9], [1.0 - 1e-9, 1.0]])
    A = np.array([[1.0, 1.0], [1.0, 1.0]]) * (1 - 1e-9) + 1e-9 * np.eye(2) if seed % 2 else A
    pairs = np.array([[i, j] for i in range(6) for j in range(i)])
    D, error = LogDet(X, np.eye(2)).judge(A).view.pairs(pairs)
    metric, points = fractions(A), fractions(X)
    wrong = []
    for (i, j), seen, may in zip(pairs.tolist(), D.tolist(), error.tolist(), strict=True):
        e = [a - b for a, b in zip(points[i], points[j], strict=True)]
        exact = sum((metric[k][m] * e[k] * e[m] for k in range(2) for m in range(2)), Fraction(0))
        assert abs(exact - Fraction(seen)) <= Fraction(may)
        wrong.append(abs(float(exact) - seen))
    assert max(wrong) > 0
    assert error.max() <= 1e-12


def test_prices_that_only_cost_are_taken_away() -> None:
    X, y = random_data(3, n=16, d=3)
    of = asked("itml", X, y, bounds=(1e6, 1e-6))
    lam = {
        "lam_S": np.full(len(of.given.pairs.similar), 1e-7),
        "lam_D": np.zeros(len(of.given.pairs.dissimilar)),
    }
    found, proof = of.certify(np.eye(3), lam)
    assert found.lower_bound == 0
    assert not any(own.a.any() for own in proof.duals)
