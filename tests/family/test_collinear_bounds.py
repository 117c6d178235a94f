"""LMNN and MCML where features are collinear, nearly so or only seem so: no bound is above what floats attain.

Truth is computed in fractions and decimals from the floats themselves; the metrics that attack the bound are long in
the direction that double precision hardly sees, and are psd and exact: t v v^T for integers v and a power of two t.
"""

from __future__ import annotations

import warnings
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest

import cvxml
from cvxml.core.result import Certificate, Solution
from cvxml.methods import get
from tests.instances import real_data

Edges = list[list[list[Fraction]]]
HINGES = ("lmnn", "lmnn:squared_hinge")
every_method = pytest.mark.parametrize("method", [*HINGES, "mcml"])


class Case(NamedTuple):
    """Data, the targets of LMNN, and the directions in which they are long or short."""

    X: np.ndarray
    y: np.ndarray
    targets: list[list[int]]
    directions: list[list[int]]


def stated(proof: Certificate) -> float:
    """What objective and bound may be off by; the gap, summed from its own parts, may be off by less."""
    return max(proof.rounding, proof.value_rounding)


def differences(X: np.ndarray) -> Edges:
    points = [[Fraction(value) for value in row] for row in X.tolist()]
    return [[[a - b for a, b in zip(p, q, strict=True)] for q in points] for p in points]


def distances(X: np.ndarray, A: np.ndarray) -> list[list[Fraction]]:
    """e^T A e of every two points, exactly, A as it is."""
    entries, d = [[Fraction(value) for value in row] for row in A.tolist()], len(A)
    return [
        [
            sum(
                (entries[a][b] * e[a] * e[b] for a in range(d) for b in range(d) if e[a] and e[b]),
                Fraction(0),
            )
            for e in row
        ]
        for row in differences(X)
    ]


def of_lmnn(case: Case, D: list[list[Fraction]], squared: bool) -> Fraction:
    """Both sums, with mu = 1/2."""
    total = Fraction(0)
    for i, listed in enumerate(case.targets):
        for j in listed:
            total += D[i][j]
            for far in range(len(case.y)):
                if case.y[far] != case.y[i]:
                    xi = max(Fraction(0), 1 + D[i][j] - D[i][far])
                    total += xi**2 if squared else xi
    return total / 2


def of_mcml(case: Case, D: list[list[Fraction]]) -> Fraction:
    """The sum over points that are not alone, to 60 digits."""
    with localcontext() as context:
        context.prec = 60
        rows = [[Decimal(value.numerator) / Decimal(value.denominator) for value in row] for row in D]
        total = Decimal(0)
        for i, row in enumerate(rows):
            own = [row[j] for j in range(len(row)) if j != i and case.y[j] == case.y[i]]
            if own:
                least = min(value for k, value in enumerate(row) if k != i)
                shares = sum((least - value).exp() for k, value in enumerate(row) if k != i)
                total += sum(own) / len(own) - least + shares.ln()
        return Fraction(total)


def objective(method: str, case: Case, A: np.ndarray) -> Fraction:
    D = distances(case.X, A)
    return of_mcml(case, D) if method == "mcml" else of_lmnn(case, D, method != "lmnn")


def nearest(X: np.ndarray, y: np.ndarray) -> list[list[int]]:
    lists = []
    for i in range(len(y)):
        own = [j for j in range(len(y)) if j != i and y[j] == y[i]]
        lists.append(sorted(own, key=lambda j: (float(np.sum((X[i] - X[j]) ** 2)), j))[:2])
    return lists


def sums(k: int, seed: int = 0) -> Case:
    """Two features and their sum, but for 2^-k of a third that every float may round."""
    rng = np.random.default_rng(seed)
    y = np.arange(12) % 2
    x = rng.standard_normal((12, 2))
    X = np.column_stack([x, x.sum(axis=1) + 2.0**-k * rng.standard_normal(12)])
    return Case(X, y, nearest(X, y), [[1, 1, -1], [1, 1, -2], [1, 0, 0], [0, 1, 0]])


def apart(k: int, seed: int = 0) -> Case:
    """Classes that are 2^-k apart in a direction in which, as long as floats hold it, no target differs."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1, 2], 4)
    x = rng.integers(-8, 9, 12) / 8.0
    X = np.column_stack([x, x + 2.0**-k * y])
    targets = [[4 * (i // 4) + (i + 1) % 4] for i in range(12)]
    return Case(X, y, targets, [[1, -1], [1, 0], [0, 1]])


def crossed(k: int, seed: int = 0) -> Case:
    """Targets that differ by 2^-k across a line along which the impostors are, duplicates and a constant among them."""
    delta = 2.0**-k
    rng = np.random.default_rng(seed)
    few = rng.integers(-4, 5, (4, 2)) / 4.0
    x = np.array([[0, 0], [1, delta], [0, 1], [1, 1 - delta], [0.5, 0], [0.5, 0], *few.tolist()])
    y = np.array([0, 0, 2, 2, 1, 1, 1, 1, 0, 2])
    X = np.column_stack([x, np.full(10, 0.1), x[:, 0]])
    targets: list[list[int]] = [[1], [], [3], [], [5], [], [], [], [], []]
    return Case(X, y, targets, [[0, 1, 0, 0], [1, 0, 0, 0], [1, 0, 0, -1], [1, 1, 0, 0]])


CASES = {"sums": sums, "apart": apart, "crossed": crossed}


def solved(method: str, case: Case) -> Solution:
    params: dict[str, Any] = {} if method == "mcml" else {"targets": case.targets}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cvxml.solve(method, case.X, case.y, **params)


def attacks(case: Case) -> list[np.ndarray]:
    """Exact metrics t v v^T in which the least, middling and greatest differences along v are about 1, 4 and 64."""
    made = []
    for v in case.directions:
        along = np.abs(
            [float(sum(a * b for a, b in zip(v, e, strict=True))) for row in differences(case.X) for e in row]
        )
        for size in [along[along > 0].min(), np.median(along[along > 0]), along.max()] if along.any() else []:
            made += [4.0 ** (round(-np.log2(size)) + more) * np.outer(v, v) for more in (0, 1, 3)]
    return made


@pytest.mark.quick(1)
@every_method
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("k", [10, 30, 40, 50, 56, 60])
def test_no_bound_is_above_what_floats_attain(method: str, name: str, k: int) -> None:
    case = CASES[name](k)
    solution = solved(method, case)
    params: dict[str, Any] = {} if method == "mcml" else {"targets": case.targets}
    allowed = Fraction(stated(solution.certificate))  # the metric found is psd but for rounding
    bound = Fraction(solution.lower_bound) * (1 - Fraction(1, 2**44))
    assert bound - allowed <= objective(method, case, solution.metric)
    zero = objective(method, case, 0 * solution.metric)
    assert solution.objective + stated(solution.certificate) <= zero * (1 + Fraction(1, 2**40))
    for A in [solution.metric, *attacks(case)]:
        exact = objective(method, case, A)
        assert bound <= exact or A is solution.metric, (name, k)
        proof = cvxml.certify(method, case.X, case.y, A, solution.dual, **params)
        if np.isfinite(proof.objective):
            assert abs(Fraction(proof.objective) - exact) <= Fraction(stated(proof)), (name, k)
        if proof.proves(1e-6):
            assert exact - bound <= Fraction(1, 10**5) * exact + 2 * Fraction(proof.rounding)


@every_method
def test_a_column_that_is_a_rounded_sum_is_not_decided(method: str) -> None:
    X, y = real_data("iris", 40)
    X = np.column_stack([X, X[:, 0] + X[:, 1]])
    params: dict[str, Any] = {} if method == "mcml" else {"n_neighbors": 2}
    with pytest.warns(UserWarning, match="not certified"):
        solution = cvxml.solve(method, X, y, **params)
    trivial = sum(np.log(np.bincount(y)[y] - 1)) if method == "mcml" else 0.0
    assert solution.lower_bound == pytest.approx(trivial, rel=1e-14)
    assert "1 direction" in solution.certificate.undecided
    report = cvxml.check(method, X, y, solution.metric, **params)
    assert report.verdict == "inconclusive"
    assert "rational" in report.reasons[0].lower()


@pytest.mark.parametrize("method", HINGES)
def test_triplets_are_free_as_rational_numbers_say(method: str) -> None:
    """Of three features and 1[y = 0] only those between class 0 and the others differ where no target does."""
    rng = np.random.default_rng(0)
    y = np.arange(24) % 3
    X = np.column_stack([rng.standard_normal((24, 3)), y == 0])
    p = get(method).instance(X, y, n_neighbors=2)
    labels = get(method).member(p).regularizer.labels
    free = labels[p.targets[:, 0], None] != labels
    assert np.count_nonzero(free & p.impostors) == 512
    solution = cvxml.solve(method, X, y, n_neighbors=2)
    assert solution.status == "converged"
    assert np.abs(solution.metric).max() < 1e3


@pytest.mark.parametrize("method", HINGES)
@pytest.mark.parametrize("k", [10, 26, 36, 40, 50])
def test_prices_of_triplets_that_are_free_prove_nothing(method: str, k: int) -> None:
    """All classes are apart where no target differs: a metric that is long there has objective 0."""
    case = apart(k)
    p = get(method).instance(case.X, case.y, targets=case.targets)
    triplets = p.triplets()
    A = 4.0 ** (k + 2) * np.array([[1.0, -1.0], [-1.0, 1.0]])
    exact = objective(method, case, A)
    if k <= 48:  # as far as floats hold it
        assert exact == 0
    for price in (0.01, 0.4, 100.0):
        proof = get(method).certify(p, A, {"price": np.full(len(triplets), price), "triplets": triplets})
        assert Fraction(proof.lower_bound) <= exact


def test_prices_keep_z_psd_in_fractions() -> None:
    """Z of the stored prices, exactly, has pivots above 0 in the span of the targets, though features nearly repeat."""
    rng = np.random.default_rng(1)
    x, y = rng.integers(-64, 65, (14, 2)) / 64.0, np.arange(14) % 2
    for k in (0, 10, 20, 30, 36):
        X = np.column_stack([x[:, 0], x[:, 0] + 2.0**-k * x[:, 1]])
        p = get("lmnn").instance(X, y, n_neighbors=2)
        i, j = p.targets.T
        triplets = p.triplets()
        price = rng.random(len(triplets))
        stored = get("lmnn").certify(p, np.eye(2), {"price": price, "triplets": triplets}).dual
        edges = differences(X)
        Z = [[Fraction(0)] * 2 for _ in range(2)]
        rows = [(edges[a][b], Fraction(1, 2)) for a, b in zip(i, j, strict=True)]
        for weight, (a, b, c) in zip(stored["price"], stored["triplets"].tolist(), strict=True):
            rows += [(edges[a][b], Fraction(weight)), (edges[a][c], -Fraction(weight))]
        for e, weight in rows:
            for m in range(2):
                for n in range(2):
                    Z[m][n] += weight * e[m] * e[n]
        assert stored["price"].sum() > 0.1
        assert Z[0][0] >= 0
        assert Z[0][0] * Z[1][1] - Z[0][1] ** 2 >= 0


def test_no_metric_at_all_is_returned_where_it_is_optimal() -> None:
    X, y = real_data("iris", 30)
    solution = cvxml.solve("lmnn", X, y, mu=1e-6, n_neighbors=2)
    assert solution.status == "converged"
    assert not solution.metric.any()
    inside, outside = (
        np.array([[3.0, 0], [-3, 0], [0, 3], [0, -3]]),
        np.array([[1.0, 0], [-1, 0], [0, 1], [0, -1]]),
    )
    assert not cvxml.solve("mcml", np.r_[inside, outside], np.repeat([0, 1], 4)).metric.any()
