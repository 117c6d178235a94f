"""Misreadings of shared lists: a program of cvxpy or numpy makes each wrong metric, and `check` must name the mistake.

The programs share no code with the methods.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

import cvxml
from cvxml.core.metric import FloatArray
from cvxml.core.misreading import Question
from cvxml.core.report import Report, Verdict
from cvxml.methods import get
from cvxml.oracle.diagnose import numbers
from tests.instances import assert_named, random_data

Program = Callable[..., FloatArray]
Mistake = Callable[[str, FloatArray, Any, Program], FloatArray]
K = 2


def quick(one: str, methods: Iterable[str]) -> list[Any]:
    """Return the methods as test parameters; all except `one` are marked slow."""
    return [each if each == one else pytest.param(each, marks=pytest.mark.slow) for each in methods]


def squared(X: FloatArray, M: Any, pairs: Any) -> Any:
    """Return the squared distances D_M of pairs of indices (p, 2), as an expression (p,)."""
    import cvxpy as cp

    i, j = np.asarray(pairs, dtype=int).T
    E = X[i] - X[j]
    return np.einsum("ta,tb->tab", E, E).reshape(len(E), -1) @ cp.vec(M, order="C")


def least(cost: Any, variable: Any, *constraints: Any) -> FloatArray:
    import cvxpy as cp

    cp.Problem(cp.Minimize(cost), list(constraints)).solve(
        solver="CLARABEL", tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10
    )
    found: FloatArray = np.asarray(variable.value)
    return found


def margins(X: FloatArray, M: Any, rows: Any) -> Any:
    i, j, l = np.asarray(rows, dtype=int).T
    return squared(X, M, np.stack([i, l], axis=1)) - squared(X, M, np.stack([i, j], axis=1))


def psd(X: FloatArray) -> Any:
    import cvxpy as cp

    return cp.Variable((X.shape[1],) * 2, PSD=True)


# programs for triplets: they take X and rows, and do not use cvxml


def lmnn(X: FloatArray, rows: Any, power: int = 1) -> FloatArray:
    import cvxpy as cp

    M, targets = psd(X), np.unique(np.asarray(rows)[:, :2], axis=0)
    hinge = cp.sum(cp.power(cp.pos(1 - margins(X, M, rows)), power))
    return least(0.1 * cp.sum(squared(X, M, targets)) + 0.9 * hinge, M)


def frobmetric(X: FloatArray, rows: Any) -> FloatArray:
    import cvxpy as cp

    M = psd(X)
    return least(cp.sum_squares(M) / 2 + 30 / len(rows) * cp.sum(cp.pos(1 - margins(X, M, rows))), M)


def rtml(X: FloatArray, rows: Any) -> FloatArray:
    """The hinge rounded over 0.05 is the minimum over r of (1 - v - r)_+ + r^2 / (2 width)."""
    import cvxpy as cp

    M, r, width = psd(X), cp.Variable(len(rows)), 0.05
    loss = cp.sum(cp.pos(1 - margins(X, M, rows) - r)) + cp.sum_squares(r) / (2 * width)
    return least(5 * cp.sum_squares(M) + loss, M)


def schultz_joachims(X: FloatArray, rows: Any) -> FloatArray:
    import cvxpy as cp

    w = cp.Variable(X.shape[1], nonneg=True)
    M = cp.diag(w)
    return np.diag(least(cp.sum_squares(w) / 2 + 0.1 * cp.sum(cp.pos(1 - margins(X, M, rows))), w))


def scml(X: FloatArray, rows: Any) -> FloatArray:
    import cvxpy as cp

    w = cp.Variable(len(BASIS), nonneg=True)
    M = BASIS.T @ cp.diag(w) @ BASIS
    w_found = least(0.001 * cp.sum(w) + cp.sum(cp.pos(1 - margins(X, M, rows))) / len(rows), w)
    return BASIS.T @ np.diag(np.maximum(w_found, 0)) @ BASIS


def boostmetric(X: FloatArray, rows: Any) -> FloatArray:
    import cvxpy as cp

    M = psd(X)
    return least(cp.log_sum_exp(-margins(X, M, rows)) + 1.3 * cp.trace(M), M)


def plml(X: FloatArray, rows: Any) -> FloatArray:
    import cvxpy as cp

    M, targets = psd(X), np.unique(np.asarray(rows)[:, :2], axis=0)
    hinge = cp.sum(cp.pos(1 - margins(X, M, rows)))
    return least(cp.sum_squares(M) + hinge + 0.1 * cp.sum(squared(X, M, targets)), M)


BASIS = np.random.default_rng(2).standard_normal((8, 3))
OF_TRIPLETS: dict[str, tuple[Program, dict[str, Any]]] = {
    "lmnn": (lmnn, {"mu": 0.9}),
    "lmnn:squared_hinge": (lambda X, rows: lmnn(X, rows, 2), {"mu": 0.9}),
    "frobmetric": (frobmetric, {"C": 30.0}),
    "rtml": (rtml, {"lam": 10.0}),
    "schultz_joachims": (schultz_joachims, {"C": 0.1}),
    "scml": (scml, {"beta": 0.001, "basis": BASIS}),
    "boostmetric": (boostmetric, {"v": 1.3}),
    "plml": (plml, {"n_anchors": 1, "alpha2": 0.1}),
}


def points() -> tuple[FloatArray, Any]:
    """Return points of three classes: one feature separates them, but the others dominate the Euclidean distance."""
    rng, y = np.random.default_rng(5), np.arange(18) % 3
    X = rng.standard_normal((18, 3)) * [0.7, 1.0, 1.5]
    return X + np.outer(y, [2.0, 0.0, 0.0]), y


def distances(X: FloatArray) -> FloatArray:
    D: FloatArray = np.sum((X[:, None] - X) ** 2, axis=2)
    return D


def nearest(D: FloatArray, allowed: Any, k: int) -> list[list[int]]:
    """Return, for each row, the k allowed columns with the smallest distance."""
    return [
        [int(j) for j in np.argsort(np.where(ok, row, np.inf), kind="stable")[:k]]
        for row, ok in zip(D, allowed, strict=True)
    ]


def mates(y: Any) -> Any:
    return np.equal.outer(y, y) & ~np.eye(len(y), dtype=bool)


def rows_of(targets: Any, impostors: Any) -> list[list[int]]:
    return [[i, j, l] for i, T in enumerate(targets) for j in T for l in impostors[i]]


def others_of(method: str, D: FloatArray, y: Any) -> list[list[int]]:
    """Return the impostors of each point: all points of other classes for LMNN, otherwise the K nearest of them."""
    apart = np.not_equal.outer(y, y)
    return (
        nearest(D, apart, K)
        if "lmnn" not in method
        else [[int(l) for l in np.flatnonzero(row)] for row in apart]
    )


def second_targets(method: str, X: FloatArray, y: Any, program: Program) -> FloatArray:
    D = distances(X)
    targets = [listed[1:] for listed in nearest(D, mates(y), K + 1)]
    return program(X, rows_of(targets, others_of(method, D, y)))


def furthest_targets(method: str, X: FloatArray, y: Any, program: Program) -> FloatArray:
    D = distances(X)
    return program(X, rows_of(nearest(-D, mates(y), K), others_of(method, D, y)))


def any_label(method: str, X: FloatArray, y: Any, program: Program) -> FloatArray:
    D, every = distances(X), ~np.eye(len(X), dtype=bool)
    near = nearest(D, every, len(X) - 1 if "lmnn" in method else K)
    return program(X, rows_of(nearest(D, mates(y), K), near))


def learnt_neighbors(method: str, X: FloatArray, y: Any, program: Program) -> FloatArray:
    """Choose the lists with the metric of the previous round, and repeat until they do not change."""
    M, before = np.eye(X.shape[1]), None
    for _ in range(30):
        values, vectors = np.linalg.eigh((M + M.T) / 2)
        D = distances(X @ vectors * np.sqrt(np.maximum(values, 0)))
        rows = rows_of(nearest(D, mates(y), K), others_of(method, D, y))
        if rows == before:
            return M
        M, before = program(X, rows), rows
    pytest.skip("the rounds do not end")


def lost(method: str, X: FloatArray, y: Any, program: Program) -> FloatArray:
    """End the loop over the points one point too early."""
    D = distances(X)
    rows = rows_of(nearest(D, mates(y), K), others_of(method, D, y))
    return program(X, [row for row in rows if row[0] < len(X) - 1])


def class_pair(method: str, X: FloatArray, y: Any, program: Program) -> FloatArray:
    D = distances(X)
    rows = rows_of(nearest(D, mates(y), K), others_of(method, D, y))
    return program(X, [[i, j, l] for i, j, l in rows if {y[i], y[l]} != {0, 2}])


def assert_named_or_one_number(
    method: str, name: str, X: FloatArray, y: Any, metric: FloatArray, **params: Any
) -> Report:
    """Assert that the misreading is named.

    A metric with one free number holds too little information for a name; then no other name may be given.
    """
    if numbers(metric) > 1:
        return assert_named(method, name, X, y, metric, **params)
    report = cvxml.check(method, X, y, metric, **params)
    assert report.verdict is Verdict.REFUTED
    assert all(get(method).MISREADINGS[name].sentence in line for line in report.diagnosis), str(report)
    return report


BY_CLASS: list[Mistake] = [second_targets, furthest_targets, any_label, learnt_neighbors, lost, class_pair]
ZERO = ("boostmetric", "any_label")  # this metric is 0, so the mistake cannot be identified


@pytest.mark.slow
@pytest.mark.parametrize("mistake", BY_CLASS, ids=lambda mistake: str(mistake.__name__))
@pytest.mark.parametrize("method", quick("rtml", OF_TRIPLETS))
def test_other_triplets_are_named(method: str, mistake: Mistake) -> None:
    if (method, mistake.__name__) == ZERO:
        return
    program, params = OF_TRIPLETS[method]
    X, y = points()
    theirs = mistake(method, X, y, program)
    assert_named_or_one_number(method, mistake.__name__, X, y, theirs, n_neighbors=K, **params)


def given_triplets(X: FloatArray, y: Any) -> Any:
    """Return every second triplet without point 0, so that the indices stay valid if they are counted from 1."""
    rows = rows_of(nearest(distances(X), mates(y), K), others_of("", distances(X), y))
    return np.array([row for row in rows if min(row) > 0])[::2]


@pytest.mark.parametrize("method", quick("frobmetric", OF_TRIPLETS))
@pytest.mark.parametrize("shift", [-1, 1])
def test_triplets_that_count_from_another_first_point_are_named(method: str, shift: int) -> None:
    """off = -1: the program subtracts 1, and numpy takes index -1 for the last point. off = 1: it adds 1."""
    program, params = OF_TRIPLETS[method]
    X, y = points()
    rows = given_triplets(X, y) - (shift > 0)
    theirs = program(X, (rows + shift) % len(X))
    report = assert_named(method, "from_one", X, None, theirs, triplets=rows.tolist(), **params)
    assert any(("plus 1" if shift > 0 else "less 1") in line for line in report.diagnosis)


@pytest.mark.parametrize("method", quick("frobmetric", OF_TRIPLETS))
def test_the_triplet_that_was_lost_is_named(method: str) -> None:
    """Lose the triplet that changes the metric most (of every fifth triplet), at any place in the list."""
    program, params = OF_TRIPLETS[method]
    X, y = points()
    rows = given_triplets(X, y)
    whole = program(X, rows)
    changes = [np.linalg.norm(program(X, np.delete(rows, t, axis=0)) - whole) for t in range(0, len(rows), 5)]
    t = 5 * int(np.argmax(changes))
    theirs = program(X, np.delete(rows, t, axis=0))
    report = assert_named(method, "lost", X, None, theirs, triplets=rows.tolist(), **params)
    if method != "scml":  # SCML's metric is a vertex, and remains optimal without any of several triplets
        assert any(str(rows[t].tolist()) in line for line in report.diagnosis), str(report)


# programs for pairs


def itml(X: FloatArray, S: Any, D: Any) -> FloatArray:
    import cvxpy as cp

    A, bounds, slack = psd(X), (1.0, 8.0), []
    for pairs, bound, sign in ((S, bounds[0], 1), (D, bounds[1], -1)):
        xi = cp.Variable(len(pairs))
        slack.append(
            (cp.sum(xi / bound - cp.log(xi / bound)) - len(pairs), sign * (xi - squared(X, A, pairs)) >= 0)
        )
    cost = cp.trace(A) - cp.log_det(A) + sum(each for each, _ in slack)
    return least(cost, A, *(kept for _, kept in slack))


def mmc(X: FloatArray, S: Any, D: Any, diagonal: bool = False) -> FloatArray:
    import cvxpy as cp

    w = cp.Variable(X.shape[1], nonneg=True)
    A = cp.diag(w) if diagonal else psd(X)
    found = least(-cp.sum(cp.sqrt(squared(X, A, D))), w if diagonal else A, cp.sum(squared(X, A, S)) <= 1)
    return np.diag(found) if diagonal else found


def dml_eig(X: FloatArray, S: Any, D: Any) -> FloatArray:
    import cvxpy as cp

    A = psd(X)
    return least(-cp.min(squared(X, A, D)), A, cp.sum(squared(X, A, S)) <= 1)


def ldml(X: FloatArray, S: Any, D: Any) -> FloatArray:
    import cvxpy as cp

    M = psd(X)
    return least(cp.sum(cp.logistic(squared(X, M, S) - 1)) + cp.sum(cp.logistic(1 - squared(X, M, D))), M)


def scatter(X: FloatArray, pairs: Any) -> FloatArray:
    E = X[np.asarray(pairs)[:, 0]] - X[np.asarray(pairs)[:, 1]]
    return E.T @ E


def gmml(X: FloatArray, S: Any, D: Any) -> FloatArray:
    """Return the geometric mean of S^-1 and D: S^(-1/2) (S^(1/2) D S^(1/2))^(1/2) S^(-1/2)."""
    values, vectors = np.linalg.eigh(scatter(X, S))
    root, inverse = ((vectors * values**power) @ vectors.T for power in (0.5, -0.5))
    inner, turned = np.linalg.eigh(root @ scatter(X, D) @ root)
    found: FloatArray = inverse @ (turned * np.sqrt(inner)) @ turned.T @ inverse
    return (found + found.T) / 2


def sdml(X: FloatArray, S: Any, D: Any) -> FloatArray:
    import cvxpy as cp

    M, I = psd(X), np.eye(X.shape[1])
    T = scatter(X, S) - scatter(X, D)
    return least(
        cp.trace((I + 0.002 * T) @ M) - cp.log_det(M) + 0.1 * cp.sum(cp.abs(cp.multiply(M, 1 - I))), M
    )


OF_PAIRS: dict[str, tuple[Program, dict[str, Any]]] = {
    "itml": (itml, {"bounds": (1.0, 8.0)}),
    "mmc": (mmc, {}),
    "mmc:diagonal": (lambda X, S, D: mmc(X, S, D, diagonal=True), {}),
    "dml_eig": (dml_eig, {}),
    "ldml": (ldml, {"b": 1.0}),
    "gmml": (gmml, {}),
    "sdml": (sdml, {"eta": 0.002, "lam": 0.1}),
}


def overlapping() -> tuple[FloatArray, Any]:
    """Return points of three overlapping classes, for which the logistic losses have an optimum."""
    return random_data(3, n=15, d=3)


def pairs_of(y: Any) -> tuple[Any, Any]:
    i, j = np.triu_indices(len(y), 1)
    pairs, same = np.stack([i, j], axis=1), y[i] == y[j]
    return pairs[same], pairs[~same]


@pytest.mark.parametrize("method", quick("gmml", OF_PAIRS))
def test_a_pair_of_classes_that_was_left_out_is_named(method: str) -> None:
    program, params = OF_PAIRS[method]
    X, y = overlapping()
    S, D = pairs_of(y)
    theirs = program(X, S, D[~((y[D] == 1).any(axis=1) & (y[D] == 2).any(axis=1))])
    report = assert_named(method, "class_pair", X, np.array(["a", "b", "c"])[y], theirs, **params)
    assert any("b and c" in line for line in report.diagnosis), str(report)


@pytest.mark.parametrize("method", quick("gmml", OF_PAIRS))
def test_pairs_without_the_last_point_are_named(method: str) -> None:
    program, params = OF_PAIRS[method]
    X, y = overlapping()
    theirs = program(X, *pairs_of(y[:-1]))
    report = assert_named(method, "lost", X, y, theirs, **params)
    assert any("point 14" in line for line in report.diagnosis), str(report)


def some_pairs(y: Any) -> tuple[Any, Any]:
    """Return some of the similar and dissimilar pairs, without those of point 0."""
    S, D = pairs_of(y)
    return S[S[:, 0] > 0][::2], D[D[:, 0] > 0][::3]


@pytest.mark.parametrize("kind", [0, 1])
@pytest.mark.parametrize("method", quick("gmml", OF_PAIRS))
def test_the_pair_that_was_lost_is_named(method: str, kind: int) -> None:
    program, params = OF_PAIRS[method]
    X, y = overlapping()
    pairs = [*some_pairs(y)]
    given = {"similar": pairs[0].tolist(), "dissimilar": pairs[1].tolist()}
    D = distances(X)[tuple(pairs[kind].T)]
    bounded = kind == 1 and method in ("itml", "ldml", "dml_eig")  # far dissimilar pairs barely matter here
    gone = int(D.argmin() if bounded else D.argmax())
    row = pairs[kind][gone].tolist()
    pairs[kind] = np.delete(pairs[kind], gone, axis=0)
    theirs = program(X, *pairs)
    report = assert_named_or_one_number(method, "lost", X, None, theirs, pairs=given, **params)
    assert numbers(theirs) == 1 or any(str(row) in line for line in report.diagnosis), str(report)


@pytest.mark.parametrize("method", quick("gmml", OF_PAIRS))
def test_pairs_that_count_from_one_are_named(method: str) -> None:
    program, params = OF_PAIRS[method]
    X, y = overlapping()
    S, D = some_pairs(y)
    theirs = program(X, S - 1, D - 1)
    assert_named(
        method, "from_one", X, None, theirs, pairs={"similar": S.tolist(), "dissimilar": D.tolist()}, **params
    )


# quadruplets


def lsml(X: FloatArray, rows: Any) -> FloatArray:
    """[sqrt a - sqrt c]_+^2 is the minimum of b + c - 2 sqrt(b c) over b >= a."""
    import cvxpy as cp

    M, rows = psd(X), np.asarray(rows)
    a, c, b = squared(X, M, rows[:, :2]), squared(X, M, rows[:, 2:]), cp.Variable(len(rows))
    mean = cp.hstack([cp.geo_mean(cp.hstack([b[t], c[t]])) for t in range(len(rows))])
    return least(cp.trace(M) - cp.log_det(M) + cp.sum(b + c - 2 * mean) / len(rows), M, b >= a)


def quadruplets(y: Any) -> Any:
    rng = np.random.default_rng(0)
    S, D = pairs_of(y)
    return np.array([[*S[rng.integers(len(S))], *D[rng.integers(len(D))]] for _ in range(30)])


@pytest.mark.slow
@pytest.mark.parametrize("mistake", ["lost", "class_pair", "from_one"])
def test_other_quadruplets_are_named(mistake: str) -> None:
    X, y = overlapping()
    rows = quadruplets(y)
    far, D = y[rows[:, 2:]], distances(X)
    if mistake == "lost":
        ratio = D[rows[:, 0], rows[:, 1]] / D[rows[:, 2], rows[:, 3]]
        theirs = lsml(X, np.delete(rows, int(ratio.argmax()), axis=0))
    elif mistake == "class_pair":
        theirs = lsml(X, rows[~((far == 0).any(axis=1) & (far == 1).any(axis=1))])
    else:
        theirs = lsml(X, rows - 1)
    assert_named("lsml", mistake, X, y, theirs, quadruplets=rows.tolist())


# features


ON_ROWS: dict[str, Callable[[FloatArray, Any], FloatArray]] = {
    **{
        name: lambda X, y, name=name: OF_TRIPLETS[name][0](  # type: ignore[misc]
            X, rows_of(nearest(distances(X), mates(y), K), others_of(name, distances(X), y))
        )
        for name in OF_TRIPLETS
    },
    **{name: lambda X, y, name=name: OF_PAIRS[name][0](X, *pairs_of(y)) for name in OF_PAIRS},  # type: ignore[misc]
}


def asked(method: str) -> tuple[FloatArray, Any, dict[str, Any]]:
    """Points, labels and parameters for a program."""
    if method in OF_TRIPLETS:
        return *points(), {**OF_TRIPLETS[method][1], "n_neighbors": K}
    return *overlapping(), OF_PAIRS[method][1]


@pytest.mark.parametrize("method", quick("lmnn", ON_ROWS))
def test_a_program_without_a_mistake_is_certified(method: str) -> None:
    """So the optimum is that of cvxpy, stated from scratch."""
    X, y, params = asked(method)
    report = cvxml.check(method, X, y, ON_ROWS[method](X, y), tol="loose", **params)
    assert report.verdict is Verdict.CERTIFIED, str(report)


@pytest.mark.parametrize("method", quick("gmml", (name for name in ON_ROWS if name != "boostmetric")))
def test_rows_of_length_one_are_named(method: str) -> None:
    """Divide each point by its length, as is usual for texts. BoostMetric is left out: its metric would be 0."""
    X, y, params = asked(method)
    X = X + np.array([2.0, 1.0, 0.0])
    theirs = ON_ROWS[method](X / np.linalg.norm(X, axis=1, keepdims=True), y)
    report = cvxml.check(method, X, y, theirs, **params)
    assert report.verdict is Verdict.REFUTED
    assert any("length" in line for line in report.diagnosis), str(report)


# the norm


def upper(M: Any) -> Any:
    """Return the sum of squares of the entries on the diagonal and above it."""
    import cvxpy as cp

    return cp.sum_squares(cp.diag(M)) + cp.sum_squares(cp.upper_tri(M))


@pytest.mark.slow
@pytest.mark.parametrize("method", ["frobmetric", "rtml", "rtml hinge"])
def test_off_diagonals_that_count_once_are_named(method: str) -> None:
    import cvxpy as cp

    rng, y = np.random.default_rng(3), np.arange(18) % 3
    X = rng.standard_normal((18, 3)) * [0.9, 1.0, 1.5] + np.outer(y, [1.5, 0.0, 0.0])
    X = X @ [[1.0, 1.0, 0.0], [0.0, 1.0, 1.0], [0.0, 0.0, 1.0]]
    rows = np.array(rows_of(nearest(distances(X), mates(y), K), others_of(method, distances(X), y)))
    M, r = psd(X), cp.Variable(len(rows))
    missed = 1 - margins(X, M, rows)
    name, params = method.split()[0], dict(OF_TRIPLETS[method.split()[0]][1])
    if name == "frobmetric":
        cost = upper(M) / 2 + 30 / len(rows) * cp.sum(cp.pos(missed))
    elif method == "rtml":
        cost = 5 * upper(M) + cp.sum(cp.pos(missed - r)) + cp.sum_squares(r) / 0.1
    else:
        cost, params = 5 * upper(M) + cp.sum(cp.pos(missed)), {**params, "width": 0.0}
    assert_named(name, "off_diagonals", X, y, least(cost, M), n_neighbors=K, **params)


@pytest.mark.parametrize("method", ["frobmetric", "rtml", "rtml hinge"])
def test_what_is_left_where_off_diagonals_count_once_is_no_less_than_it_is(method: str) -> None:
    """At the optimum of cvxpy next to nothing; at other metrics at least what they cost more than it."""
    import cvxpy as cp

    rng, y = np.random.default_rng(3), np.arange(12) % 2
    X = rng.standard_normal((12, 2)) @ [[1.0, 0.8], [0.0, 1.0]] + np.outer(y, [1.0, 0.5])
    width = 0.5 if method == "rtml" else 0.0
    own = {"C": 30.0} if method == "frobmetric" else {"lam": 10.0, "width": width}
    name, params = method.split()[0], {"n_neighbors": K, **own}
    given = get(name).instance(X, y, **params)
    rows, M = given.triplets(), psd(X)
    lam, c = (1.0, 30.0 / len(rows)) if method == "frobmetric" else (10.0, 1.0)

    def cost(metric: Any) -> tuple[Any, Any]:
        """The norm, and all of the cost."""
        missed, norm = cp.pos(1 - margins(X, metric, rows)), lam / 2 * upper(metric)
        losses = cp.huber(missed, width) / (2 * width) if width else c * missed
        return norm, norm + cp.sum(losses)

    best = least(cost(M)[1], M)
    optimum = float(cost(best)[1].value)

    def left(metric: Any) -> float:
        found = get(name).MISREADINGS["off_diagonals"].left
        assert found is not None
        return found(Question(X, y, metric, 1e-6, params))

    assert -1e-9 <= left(best) <= 1e-5
    for turn in ([[1.2, 0.0], [0.0, 1.2]], [[1.0, 0.1], [0.0, 1.0]], [[0.5, 0.0], [0.3, 0.7]]):
        metric = np.array(turn) @ best @ np.array(turn).T
        norm, value = (float(part.value) for part in cost(metric))
        assert left(metric) * norm >= value - optimum > 1e-3 * optimum
    for size in (1e-12, 1e-4):  # next to 0 rounding is more than the tolerance
        assert left(size * np.eye(2)) == np.inf


def test_a_price_at_the_margin_is_no_more_than_a_loss_may_cost() -> None:
    """One triplet, v = 3 m, and C = 0.01: the optimum is m = 3 C. At m = 1/3 the margin is 1; a price would be 1/9."""
    left = get("frobmetric").MISREADINGS["off_diagonals"].left
    assert left is not None
    params = {"C": 0.01, "triplets": [[0, 1, 2]]}
    question = Question([[0.0], [1.0], [2.0]], None, np.array([[1 / 3]]), 1e-6, params)
    optimum = 0.03**2 / 2 + 0.01 * (1 - 0.09)
    assert left(question) >= 1 - optimum * 18 > 0.8
