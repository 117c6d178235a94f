"""Budgets in every corner: MMC, its diagonal, DML-eig against fractions, which share nothing with their certificates.

Attacked is every bound, with float metrics that look for it: scaled to the budget in fractions, none may beat it.
"""

from __future__ import annotations

import math
import warnings
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import cvxml
from cvxml.core.metric import FloatArray
from cvxml.core.report import Verdict
from cvxml.core.result import Solution, Status
from cvxml.family.geometry.budget import budget, examine_budget, most
from cvxml.family.losses.root import Root
from cvxml.family.rows.base import Block
from tests.instances import random_data, real_data

METHODS = ["mmc", "mmc:diagonal", "dml_eig"]
Row = list[Fraction]
methods = pytest.mark.parametrize("method", METHODS)


def fractions(values: Any) -> Row:
    return [Fraction(float(v)) for v in values]


def split(X: FloatArray, y: Any) -> tuple[list[Row], list[Row]]:
    """x_i - x_j of the similar and of the dissimilar pairs, exactly."""
    points = [fractions(x) for x in X]
    pairs: tuple[list[Row], list[Row]] = [], []
    for i, j in combinations(range(len(X)), 2):
        e = [a - b for a, b in zip(points[i], points[j], strict=True)]
        pairs[int(y[i] != y[j])].append(e)
    return pairs


def reduced(rows: list[Row]) -> list[Row]:
    """The rows of the reduced echelon form, by Gauss."""
    rows, found = [list(row) for row in rows], 0
    for column in range(len(rows[0])):
        pivot = next((k for k in range(found, len(rows)) if rows[k][column] != 0), None)
        if pivot is None:
            continue
        rows[found], rows[pivot] = rows[pivot], rows[found]
        rows[found] = [v / rows[found][column] for v in rows[found]]
        for k in range(len(rows)):
            if k != found and rows[k][column] != 0:
                by = rows[k][column]
                rows[k] = [a - by * b for a, b in zip(rows[k], rows[found], strict=True)]
        found += 1
    return rows[:found]


def free(method: str, similar: list[Row], dissimilar: list[Row]) -> list[bool]:
    """Which dissimilar pairs move apart at no cost."""
    if method == "mmc:diagonal":
        costs = [any(e[k] != 0 for e in similar) for k in range(len(similar[0]))]
        return [any(v != 0 and not costs[k] for k, v in enumerate(e)) for e in dissimilar]
    basis = reduced(similar)
    return [len(reduced([*basis, e])) > len(basis) for e in dissimilar]


def root(value: Fraction, up: bool) -> Fraction:
    """The square root to 200 bits or so, outward."""
    shift = max(0, 400 + value.denominator.bit_length() - value.numerator.bit_length())
    whole = math.isqrt((value.numerator << 2 * shift) // value.denominator)
    return Fraction(whole + up, 1 << shift)


def attained(method: str, factor: FloatArray, similar: list[Row], dissimilar: list[Row]) -> Fraction | None:
    """No more than what M M^T attains, M (d, m) given, scaled to the budget; negated. None: it spends nothing."""
    columns = [fractions(column) for column in np.atleast_2d(factor.T)]

    def squared(e: Row) -> Fraction:
        if method == "mmc:diagonal":  # the diagonal of M M^T
            return sum(
                (sum((c[k] ** 2 for c in columns), Fraction(0)) * v * v for k, v in enumerate(e)), Fraction(0)
            )
        images = (sum((a * b for a, b in zip(c, e, strict=True)), Fraction(0)) for c in columns)
        return sum((v * v for v in images), Fraction(0))

    spent = sum(map(squared, similar), Fraction(0))
    if spent == 0:
        return None
    if method == "dml_eig":
        return -min(map(squared, dissimilar)) / spent
    return -sum((root(squared(e) / spent, up=False) for e in dissimilar), Fraction(0))


def attacks(
    A: FloatArray, similar: list[Row], dissimilar: list[Row], rng: np.random.Generator
) -> list[FloatArray]:
    """Factors (d, m): of A, of directions that the similar pairs hardly show, exact but for their floats, of both."""
    values, vectors = np.linalg.eigh((A + A.T) / 2)
    own = vectors * np.sqrt(np.maximum(values, 0))
    found = [own, rng.standard_normal((len(A), 2))]
    d = len(A)
    S = [[sum((e[k] * e[m] for e in similar), Fraction(0)) for m in range(d)] for k in range(d)]
    for e in dissimilar[:4]:
        # S w = e, least where nothing is asked: free entries are 0
        system = reduced([[*row, v] for row, v in zip(S, e, strict=True)])
        w = [Fraction(0)] * d
        for row in system:
            pivot = next(k for k, v in enumerate(row) if v != 0)
            if pivot < d:
                w[pivot] = row[d]
        size = max(map(abs, w))
        if size:
            direction = np.array([[float(v / size)] for v in w])
            cost = sum(
                (sum((a * b for a, b in zip(w, s, strict=True)), Fraction(0)) ** 2 for s in similar),
                Fraction(0),
            )
            unit = float(root(cost / size**2, up=True))
            found.append(direction)
            if unit > 0 and np.isfinite(direction / unit).all():
                found += [np.hstack([own, share * direction / unit]) for share in (1e-3, 1.0)]
    return found


def corner(kind: str, rng: np.random.Generator) -> tuple[FloatArray, Any]:
    """Points (n, d) and labels."""
    n, d = int(rng.integers(6, 10)), int(rng.integers(2, 4))
    X, y = rng.integers(-512, 513, size=(n, d)) / 64, rng.integers(0, 2, size=n)
    y[:4] = 0, 0, 1, 1
    tiny = 2.0 ** -int(rng.integers(10, 61))
    if kind == "collinear":
        X[:, -1] = X[:, 0] - 2 * X[:, (d - 1) // 2]
    elif kind == "nearly":
        X[:, -1] = X[:, 0] + tiny * rng.integers(-8, 9, size=n)
    elif kind == "sum":
        X = rng.standard_normal((n, d))
        X = np.c_[X, X[:, 0] + X[:, 1]]
    elif kind == "duplicates":
        X = np.repeat(X, 2, axis=0)
        y = np.repeat(y, 2) if rng.integers(2) else np.arange(2 * n) % 2
    elif kind == "apart":
        X[:, 1] = X[:, 0]
        X[:, 0] += tiny * y
        X[:, 1] -= tiny * y
    elif (
        kind == "nearly apart"
    ):  # as above, but each class has a breadth of its own, far less or about as tiny
        width = tiny * 2.0 ** -int(rng.integers(0, 20)) * rng.integers(-1, 2, size=n)
        X[:, 1] = X[:, 0]
        X[:, 0] += tiny * y + width
    elif kind == "scales":
        X = X * 2.0 ** rng.integers(-420, 420, size=d)
    elif kind == "far":  # underflow and overflow within a feature
        X = X * 2.0 ** rng.integers(-420, 420, size=(n, 1))
    return X, y


def solved(method: str, X: FloatArray, y: Any) -> Solution:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cvxml.solve(method, X, y, max_iter=60)


def judged(method: str, X: FloatArray, y: Any) -> tuple[Solution | None, str]:
    """A solution, or why it was refused."""
    try:
        return solved(method, X, y), ""
    except ValueError as error:
        return None, str(error)


@pytest.mark.quick(1)
@methods
@pytest.mark.parametrize(
    "kind", ["plain", "collinear", "nearly", "sum", "duplicates", "apart", "nearly apart", "scales", "far"]
)
def test_no_float_metric_beats_a_bound_and_what_is_called_infinite_is(method: str, kind: str) -> None:
    rng = np.random.default_rng(METHODS.index(method))
    seen = {"refused": 0, "bounded": 0}
    for _ in range(14):
        X, y = corner(kind, rng)
        similar, dissimilar = split(X, y)
        unlimited = free(method, similar, dissimilar)
        solution, said = judged(method, X, y)
        if solution is None:
            assert any(unlimited) or any(why in said for why in ("cannot be written", "points of"))
            if "infinite" in said:
                assert all(unlimited) if method == "dml_eig" else any(unlimited)
            seen["refused"] += 1
            continue
        assert not any(unlimited)
        proof = solution.certificate
        assert proof.undecided == "" or (proof.lower_bound == -math.inf and not proof.proves(1e-3))
        assert all(step.lower_bound <= solution.objective + proof.rounding for step in solution.history)
        for factor in attacks(solution.metric, similar, dissimilar, rng):
            value = attained(method, factor, similar, dissimilar)
            if value is not None and math.isfinite(proof.lower_bound):
                assert value >= Fraction(proof.lower_bound), (kind, float(value), proof.lower_bound)
        seen["bounded"] += 1
    assert seen["bounded"] or kind == "apart"
    assert seen["refused"] or kind != "apart" or method == "mmc:diagonal"


def bounded_by(C: list[Row], S: list[Row], mu: Fraction) -> bool:
    """True if mu S - C is psd, by elimination with exact pivots."""
    rows = [[mu * s - c for s, c in zip(of_S, of_C, strict=True)] for of_S, of_C in zip(S, C, strict=True)]
    while rows:
        k = max(range(len(rows)), key=lambda k: rows[k][k])
        pivot = rows[k][k]
        if pivot <= 0:
            return all(v == 0 for row in rows for v in row)
        kept = [m for m in range(len(rows)) if m != k]
        rows = [[rows[m][n] - rows[m][k] * rows[k][n] / pivot for n in kept] for m in kept]
    return True


def total(E: FloatArray, w: FloatArray) -> list[Row]:
    """sum_t w_t e_t e_t^T."""
    rows, weights, d = [fractions(e) for e in E], fractions(w), E.shape[1]
    pairs = list(zip(rows, weights, strict=True))
    return [[sum((v * e[k] * e[m] for e, v in pairs), Fraction(0)) for m in range(d)] for k in range(d)]


@pytest.mark.parametrize("eps", [1.0, 1e-3, 1e-6, 1e-9, 1e-11])
def test_what_is_said_of_eigenvalues_holds_of_fractions(eps: float) -> None:
    turn = np.array([[np.cos(0.4), -np.sin(0.4), 0.3], [np.sin(0.4), np.cos(0.4), 0.1], [0.2, -0.7, 0.8]])
    without = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        similar = rng.standard_normal((9, 3)) * [1, eps, 1] @ turn
        E = rng.standard_normal((7, 3)) * [1, eps, 1] @ turn
        w = rng.uniform(0, 1, 7)
        found = most(budget(similar, 3), E, w)
        C, S = total(E, w), total(similar, np.ones(9))
        assert bounded_by(C, S, Fraction(found.value))
        assert not bounded_by(C, S, Fraction(found.value) * Fraction(99, 100)) or eps < 1e-9
        without += not bounded_by(C, S, Fraction(found.value - found.error))
    assert without  # the allowance is needed
    assert budget(similar, 3).undecided == ""


def test_what_rounding_alone_may_span_is_no_coordinate_of_a_proof() -> None:
    rng = np.random.default_rng(0)
    flat = rng.integers(-99, 100, size=(30, 2)) @ np.array([[1.0, 0, 1], [0, 1, 1]])
    assert budget(flat, 2).undecided == ""
    assert "1 direction" in budget(flat, 3).undecided
    assert most(budget(flat, 3), flat, np.ones(30)).value == math.inf
    # a spread that is one in double precision, of which nothing is left when rounding is taken off
    wide = rng.integers(-99, 100, size=(90, 60)) * 1.0
    wide[:, -1] = wide[:, :-1].sum(axis=1) + rng.integers(-9, 10, size=90) * 2.0**-34
    at = budget(wide, 60)
    assert at.hidden == 0
    assert "rounding" in at.undecided
    assert most(at, wide, np.ones(90)).value == math.inf


# the facts that were found on 0.1


@pytest.mark.parametrize(("method", "reached"), [("mmc", -213.3), ("dml_eig", -0.00288)])
def test_a_sum_of_columns_in_floats_is_not_decided(method: str, reached: float) -> None:
    """0.1 certified bounds of -207.95 and -0.0024584."""
    X, y = real_data("iris", 40)
    X = np.c_[X, X[:, 0] + X[:, 1]]
    solution = solved(method, X, y)
    assert solution.status is Status.STALLED
    assert solution.lower_bound == -math.inf
    assert all(step.lower_bound == -math.inf for step in solution.history)
    undecided = solution.to_dict()["undecided"]
    assert "1 direction" in undecided
    assert "1 direction" in str(solution)
    report = cvxml.check(method, X, y, solution.metric)
    assert report.verdict is Verdict.INCONCLUSIVE
    assert any("1 direction" in reason for reason in report.reasons)
    told: list[Any] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cvxml.solve(method, X, y, callback=told.append)
    assert told
    assert all(step.lower_bound == -math.inf for step in told)
    # what rounding left of the sum, exactly, in units of its own: the same problem, and one that is decided
    left = [float(e - a - b) for a, b, e in (fractions(x[[0, 1, 4]]) for x in X)]
    known = solved(method, np.c_[X[:, :4], np.array(left) * 2.0**52], y)
    assert known.status is Status.CONVERGED
    assert known.objective < reached < solution.objective


@pytest.mark.parametrize("method", ["mmc", "dml_eig"])
@pytest.mark.parametrize("tiny", [2.0**-20, 2.0**-44, 2.0**-60])
def test_classes_that_are_apart_along_a_tiny_direction_have_no_maximum(method: str, tiny: float) -> None:
    """0.1 certified a finite maximum at 2^-44."""
    line = np.array([0.0, 0.25, 0.5, 0.0, 0.25, 0.5])
    y = np.repeat([0, 1], 3)
    X = np.stack([line + tiny * y, line - tiny * y], axis=1)
    if tiny == 2.0**-60:  # 0.25 + 2^-60 is no float: the same along another line
        X = np.stack([line, tiny * y], axis=1)
    with pytest.raises(ValueError, match="infinite"):
        cvxml.solve(method, X, y)
    # a similar pair that has it too: there is a maximum, and nothing more is said of it
    X = np.vstack([X, X[:1] + (X[3] - X[0]) / 2])
    bounded = solved(method, X, [*y, 0])
    assert not any(free(method, *split(X, [*y, 0])))
    assert bounded.status is Status.CONVERGED or not bounded.certificate.proves(1e-3)


@pytest.mark.parametrize("method", ["mmc", "mmc:diagonal"])
@pytest.mark.parametrize("away", [1e-9, 1e-12, 1e-14, 1e-40, 1e-75])
def test_a_pair_that_is_next_to_equal_costs_no_digits(method: str, away: float) -> None:
    """Its c is as much larger than others as it is nearer; 0.1 stalled at 10 % below 1e-12."""
    X, y = random_data(0, n=12, d=3)
    X[0] = 0.0  # near 0 a point may be as near as that
    index, same = (
        np.array(list(combinations(range(12), 2))),
        [y[i] == y[j] for i, j in combinations(range(12), 2)],
    )
    pairs = {"similar": index[same].tolist(), "dissimilar": [*index[~np.array(same)].tolist(), [0, 12]]}
    solution = cvxml.solve(method, np.vstack([X, [[away, 0, 0]]]), None, pairs=pairs)
    assert solution.status is Status.CONVERGED
    assert solution.objective == pytest.approx(cvxml.solve(method, X, y).objective, rel=2e-6)


def test_a_least_distance_that_underflows_is_not_certified() -> None:
    """A squared distance of 1e-400 is no float: nothing is proved of any metric."""
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1e-200], [5.0, 3.0], [6.0, 7.0]])
    y = [0, 0, 0, 1, 1, 1]
    for A in (np.eye(2) / 100, np.diag([1.0, 0.0]) / 100, solved("dml_eig", X, y).metric):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert cvxml.check("dml_eig", X, y, A, tol="loose").verdict is not Verdict.CERTIFIED
        for q in np.eye(9):
            assert not cvxml.certify("dml_eig", X, y, A, {"q": q}).proves(1e-3)


# the metric that is judged


def test_what_is_psd_but_for_rounding_is_psd_in_units_of_its_own_diagonal() -> None:
    """[[1, 1e-9], [1e-9, 0]] has a least eigenvalue of -1e-18, and a pair far along the second axis a D below 0."""
    rng = np.random.default_rng(0)
    cases = [np.array([[1.0, t], [t, s]]) for t in (1e-9, 1e-12) for s in (0.0, 1e-20, 1e-18)]
    cases += [G @ G.T for G in rng.standard_normal((20, 3, 2)) * 10.0 ** rng.integers(-9, 1, (20, 3, 1))]
    for _ in range(40):  # far below 0 in those units, and 0 but for rounding in others
        G, small = rng.standard_normal((3, 3)), 1e-9 * rng.standard_normal(3)
        least = small @ np.linalg.solve(G @ G.T, small) / 10
        whole = np.block([[G @ G.T, small[:, None]], [small[None], np.array([[least]])]])
        cases.append(whole[np.ix_([0, 3, 1, 2], [0, 3, 1, 2])])  # an order in which rounding is seen
    for A in cases:
        judged = examine_budget(A / 2, np.eye(len(A)))[0]
        psd, d = judged.psd, len(A)
        zero = [[Fraction(0)] * d for _ in range(d)]
        more = [[Fraction(v) for v in row] for row in psd.tolist()]
        for k in range(d):
            more[k][k] *= 1 + Fraction(judged.slack)
        assert bounded_by(zero, more, Fraction(1))


def test_the_root_of_a_distance_may_be_off_to_either_side() -> None:
    v, error, a = np.array([0.0, 1.0, 4.0]), np.array([1.0, 1.0, 5.0]), np.ones(3)
    value = Root().part(Block(v, error, a)).value
    assert value.value == -3
    assert 1 + 1 + 2 <= value.error <= 4 * (1 + 2e-6)  # from 0 up to 1, from 1 and 4 down to 0


def test_the_allowance_covers_a_root_near_zero() -> None:
    """A metric of rank one, and pairs that it moves apart by next to nothing, or by rounding alone."""
    rng = np.random.default_rng(1)
    missed = 0
    for _ in range(60):
        w = rng.integers(1, 2**26, size=2) * 2.0**-26
        X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [w[1], -w[0]], [w[1], -w[0] * (1 + 2.0**-40)]])
        pairs = {"similar": [[0, 1], [0, 2]], "dissimilar": [[0, 3], [0, 4]]}
        A = np.outer(w, w) / 4
        proof = cvxml.certify("mmc", X, None, A, {"c": np.ones(2)}, pairs=pairs)
        a = [[Fraction(v) for v in row] for row in A.tolist()]
        exactly = Fraction(0)
        for x in (X[3], X[4]):
            e = fractions(x)
            D = sum((a[k][m] * e[k] * e[m] for k in range(2) for m in range(2)), Fraction(0))
            exactly += root(max(D, Fraction(0)), up=False)
        assert abs(-exactly - Fraction(proof.objective)) <= Fraction(proof.rounding)
        missed += abs(float(exactly) + proof.objective) > 1e-15
    assert missed


@pytest.mark.quick(1)
@methods
def test_a_metric_is_one_in_units_of_its_features_too(method: str) -> None:
    """A feature of 1e-9: a weight below 0 of another, or an entry beside the diagonal, is nothing of the norm."""
    X = np.array([[0.0, 0.0], [2.0**-30, 0.0], [0.0, 1.0], [3 * 2.0**-30, 0.0]])
    pairs = {"similar": [[0, 1], [0, 2]], "dissimilar": [[0, 3]]}
    A = np.diag([2.0**60, 0.0])
    assert cvxml.check(method, X, None, A, pairs=pairs).verdict is Verdict.CERTIFIED
    below = cvxml.check(method, X, None, A - np.diag([0.0, 1e-3]), pairs=pairs)
    assert below.verdict is Verdict.REFUTED
    assert "least eigenvalue -0.001" in str(below)
    if method == "mmc:diagonal":
        beside = np.array([[2.0**60, 2.0**29], [2.0**29, 1.0]])
        wide = cvxml.check(method, X, None, beside, pairs=pairs)
        assert wide.verdict is Verdict.REFUTED
        assert "the diagonal" in str(wide)
