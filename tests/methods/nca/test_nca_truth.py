"""NCA's certificates against a twin in balls of 2000 bits: all is within its rounding, and no proof is false.

The twin knows the definition alone: distances are fractions, everything else balls, by loops.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest
from flint import arb, arb_mat, ctx, fmpq, fmpq_mat

import cvxml
from cvxml.core.metric import FloatArray, examine
from cvxml.core.report import Verdict
from cvxml.core.result import Certificate, Status
from cvxml.core.tolerance import TOLERANCES
from cvxml.family.geometry.coordinates import coordinates
from cvxml.methods.nca.instance import instance
from cvxml.methods.nca.rows import Metric, Softmax
from tests.instances import random_data

BITS = 2000
Rows = list[list[Fraction]]


class Truth(NamedTuple):
    """-f or -g at a metric; dF/dQ; c_i, w_ij and the constant of the step there."""

    value: Any
    G: Any
    c: list[Any]
    w: list[list[Any]]


@pytest.fixture(autouse=True)
def bits() -> Iterator[None]:
    with ctx.workprec(BITS):
        yield


def ball(value: Fraction | float) -> Any:
    exactly = Fraction(value)
    return arb(fmpq(exactly.numerator, exactly.denominator))


def fractions(A: Any) -> Rows:
    return [[Fraction(a) for a in row] for row in (A.tolist() if isinstance(A, np.ndarray) else A)]


def square(L: FloatArray) -> Rows:
    """L^T L, of exactly the rank of L (m, d)."""
    rows = fractions(L)
    return [
        [sum((row[i] * row[j] for row in rows), Fraction(0)) for j in range(L.shape[1])]
        for i in range(L.shape[1])
    ]


def distances(X: Rows, Q: Rows) -> Rows:
    found = []
    for x in X:
        row = []
        for z in X:
            e = [a - b for a, b in zip(x, z, strict=True)]
            row.append(
                sum(
                    (a * q * b for a, qs in zip(e, Q, strict=True) for q, b in zip(qs, e, strict=True)),
                    Fraction(0),
                )
            )
        found.append(row)
    return found


def total(values: list[Any]) -> Any:
    return sum(values, arb(0))


def truth(X: FloatArray, s: FloatArray, Q: Any, criterion: str) -> Truth:
    points, D, n, d = fractions(X), distances(fractions(X), fractions(Q)), *X.shape
    value, G, c, w = arb(0), arb_mat(d, d), [arb(0)] * n, [[arb(0)] * n for _ in range(n)]
    for i in range(n):
        if not s[i].any():
            continue
        least = min(D[i][k] for k in range(n) if k != i)
        e = [arb(0) if k == i else ball(least - D[i][k]).exp() for k in range(n)]
        right = total([ball(s[i, k]) * e[k] for k in range(n)])
        p = [each / total(e) for each in e]
        p_i = right / total(e)
        c[i] = p_i if criterion == "f" else arb(1)
        w[i] = [ball(s[i, k]) * e[k] / right for k in range(n)]
        value -= p_i if criterion == "f" else p_i.log()
        for k in range(n):
            x = arb_mat([[ball(a - b)] for a, b in zip(points[i], points[k], strict=True)])
            G += x * x.transpose() * (c[i] * (w[i][k] - p[k]))
    return Truth(value, G, c, w)


def step_at(X: FloatArray, s: FloatArray, at: Truth, V: FloatArray) -> Any:
    """The convex step at a metric, less its constant, at V."""
    D, parts = distances(fractions(X), fractions(V)), []
    for i in range(len(X)):
        if s[i].any():
            least = min(D[i][k] for k in range(len(X)) if k != i)
            spread = total([ball(least - D[i][k]).exp() for k in range(len(X)) if k != i]).log()
            pull = total([at.w[i][k] * ball(D[i][k] - least) for k in range(len(X)) if s[i, k] > 0])
            parts.append(at.c[i] * (spread + pull))
    return total(parts)


def change(X: FloatArray, at: Truth, Q: Any) -> float:
    """max(|A|, 1) |dF/dA| in coordinates of unit covariance, squares of which are linear in Q and in G Q G."""
    points = arb_mat([[ball(a) for a in row] for row in fractions(X)])
    mean = [total([points[i, j] for i in range(len(X))]) / len(X) for j in range(X.shape[1])]
    around = arb_mat([[points[i, j] - mean[j] for j in range(X.shape[1])] for i in range(len(X))])
    covariance = around.transpose() * around / len(X)
    metric = arb_mat([[ball(q) for q in row] for row in fractions(Q)])
    length = float((metric * covariance).trace().mid())
    of_A = float((at.G * metric * at.G * covariance.inv()).trace().mid())
    return float(np.sqrt(max(length, 1.0)) * 2 * np.sqrt(max(of_A, 0.0)))


def spans_all(X: FloatArray) -> bool:
    rows = [[a - b for a, b in zip(x, fractions(X)[0], strict=True)] for x in fractions(X)]
    return fmpq_mat([[fmpq(a.numerator, a.denominator) for a in row] for row in rows]).rank() == X.shape[1]


def drawn(seed: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Points of some degenerate kind, labels, a psd metric of some size."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(5, 9)), int(rng.integers(1, 4))
    X, y = rng.standard_normal((n, d)), np.r_[0, 0, 1, 1, rng.integers(0, 3, n - 4)]
    kind = seed % 8
    if kind in (1, 2) and d > 1:  # nearly or exactly collinear
        X[:, -1] = X[:, 0] + (kind == 1) * 2.0 ** -rng.integers(10, 60) * rng.standard_normal(n)
    if kind == 3:
        X[n // 2 :] = X[: n - n // 2]
    if kind == 4:
        X = X + 10.0 ** rng.integers(0, 5) * y[:, None] * (1 if seed % 16 < 8 else rng.standard_normal(d))
    if kind == 5:
        X = X * 10.0 ** rng.integers(-6, 6, d)
    if kind == 6:
        X = np.round(X)
    root = rng.standard_normal((d, int(rng.integers(1, d + 1)))) * 10 ** rng.uniform(-4, 4)
    if rng.random() < 0.7:
        root = root / np.maximum(np.ptp(X, axis=0), 1e-300)[:, None]
    return X, y, root @ root.T


def classes(y: FloatArray) -> FloatArray:
    same: FloatArray = (y[:, None] == y) * (1.0 - np.eye(len(y)))
    return same


def proofs(X: FloatArray, y: FloatArray, Q: FloatArray, **params: Any) -> Certificate:
    dual = {"R": Q, "interior": 0.5 * Q}
    return cvxml.certify("nca", X, y, Q, dual, **params)


@pytest.mark.quick(2)
@pytest.mark.parametrize("criterion", ["f", "g"])
@pytest.mark.parametrize("block", range(8))
def test_objective_and_gradient_are_within_their_rounding(block: int, criterion: str) -> None:
    seen = 0
    for seed in range(20 * block, 20 * block + 20):
        X, y, Q = drawn(seed)
        m = 1 + seed % X.shape[1]
        proof = proofs(X, y, Q, criterion=criterion)
        at = truth(X, classes(y), Q, criterion)
        assert abs(ball(proof.objective) - at.value) <= ball(proof.rounding), seed
        found = proof.stationarity
        assert found is not None
        if not proof.undecided and proof.rounding < 1e299 and seed % 8 != 2:
            slope = 2 * (at.G * arb_mat([[ball(q) for q in row] for row in fractions(Q)])).trace()
            assert (
                abs(float(slope.mid()) - found.scale_derivative)
                <= found.gradient * 1e-2 + 1e3 * proof.rounding
            )
            limited = cvxml.certify(
                "nca", X, y, Q, {"R": Q, "interior": Q}, criterion=criterion, n_components=m
            )
            if m < X.shape[1] and limited.feasibility.feasible and spans_all(X):
                assert limited.stationarity is not None
                assert (
                    change(X, at, Q) <= limited.stationarity.gradient * (1 + 1e-6) + 2 * limited.rounding
                ), seed
            seen += 1
    assert seen >= 2


def around(seed: int) -> tuple[FloatArray, FloatArray]:
    """A point with all others a thousand times as far as its choice among them depends on: distances lose digits."""
    rng = np.random.default_rng(seed)
    angle, radius = rng.uniform(0, 2 * np.pi, 9), 300 + 1e-3 * rng.standard_normal(9)
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    return np.vstack([[0.0, 0.0], X]), np.arange(10) % 2


def thin(ratio: float) -> tuple[FloatArray, FloatArray]:
    X, y = random_data(5, n=16, d=2)
    c, s = np.cos(0.7), np.sin(0.7)
    return X * [1.0, ratio] @ np.array([[c, s], [-s, c]]), y


@pytest.mark.parametrize("criterion", ["f", "g"])
@pytest.mark.parametrize(
    "data", [(thin, 1.0), (thin, 1e-4), (thin, 1e-9), *((around, seed) for seed in range(5))]
)
def test_a_surplus_is_within_its_rounding(data: tuple[Any, Any], criterion: str) -> None:
    """Z, of the metric's own rows or of others, in coordinates that have lost digits."""
    X, y = data[0](data[1])
    at, Q = coordinates(X), np.eye(2)
    metric = Metric(instance(X, y, criterion=criterion), Q, at)
    of, to = truth(X, classes(y), Q, criterion), arb_mat([[ball(a) for a in row] for row in fractions(at.to)])
    for q in (None, Softmax(at.Y, np.diag([0.3, 2.0]))):
        G = of.G if q is None else surplus(X, of, q)
        found, exact = metric.surplus(q), to.transpose() * G * to
        error = np.array([[float(exact[i, j] - ball(found.Z[i, j])) for j in range(2)] for i in range(2)])
        assert np.linalg.norm(error, 2) <= found.rounding
        if data[0] is thin:
            assert found.rounding <= 1e-12 / data[1] * np.linalg.norm(at.Y) ** 2


def surplus(X: FloatArray, at: Truth, q: Softmax) -> Any:
    """sum_ij c_i (w_ij - q_ij) X_ij in the units given, q_i times what makes its sum 1."""
    points, G = fractions(X), arb_mat(X.shape[1], X.shape[1])
    for i in range(len(X)):
        row = [arb(0) if k == i else ball(log).exp() for k, log in enumerate(q.row(i))]
        for k in range(len(X)):
            x = arb_mat([[ball(a - b)] for a, b in zip(points[i], points[k], strict=True)])
            G += x * x.transpose() * (at.c[i] * (at.w[i][k] - row[k] / total(row)))
    return G


# ---------------------------------------------------------------- what is certified


@pytest.mark.quick(1)
@pytest.mark.parametrize("criterion", ["f", "g"])
@pytest.mark.parametrize("block", range(4))
def test_what_is_solved_is_stationary_in_truth_or_not_said_to_be(block: int, criterion: str) -> None:
    """Of any rank: the step at it is nowhere lower than proved. Of limited rank: its true gradient is small."""
    for seed in range(8 * block, 8 * block + 8):
        X, y, _ = drawn(seed)
        s = classes(y)
        for m in {1, X.shape[1]}:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = cvxml.solve("nca", X, y, criterion=criterion, n_components=m, max_iter=200)
            proof, Q = found.certificate, examine(found.metric)[0]  # judged is the nearest psd matrix
            at = truth(X, s, Q, criterion)
            assert abs(ball(proof.objective) - at.value) <= ball(proof.rounding), seed
            for tol in TOLERANCES.values():
                if not proof.proves(tol) or proof.stationarity is None:
                    continue
                if m < X.shape[1] and spans_all(X):
                    assert found.components is not None
                    thin = square(found.components)
                    assert change(X, truth(X, s, thin, criterion), thin) <= 1.01 * (
                        tol * proof.scale + 2 * proof.rounding
                    ), seed
            judged = proof.step or (proof if proof.kind == "global" else None)
            if judged is None or proof.undecided:
                continue
            here, G = step_at(X, s, at, Q), np.array([[float(g) for g in row] for row in at.G.tolist()])
            least = ball(judged.gap + judged.rounding)
            for t in (1e-3, 1.0, 1e3):
                V = Q - t * G * np.trace(Q) / max(float(np.abs(G * Q).sum()), 1e-300)
                for other in (V, (1 - 1e-3) * Q, 2 * Q, Q + t * np.outer(X[0] - X[1], X[0] - X[1])):
                    values, vectors = np.linalg.eigh((other + other.T) / 2)
                    root = vectors * np.sqrt(np.maximum(values, 0))
                    with np.errstate(all="ignore"):
                        psd = root @ root.T
                    assert step_at(X, s, at, psd) >= here - least * ball(1.001), (seed, t)


def six() -> tuple[FloatArray, FloatArray]:
    return np.arange(6.0)[:, None] * np.array([1.0, 0.5]) + [
        [0, 0.1],
        [0, 0],
        [0.2, 0],
        [0, 0],
        [0, 0.3],
        [0, 0],
    ], np.arange(6) % 2


@pytest.mark.quick(4)
@pytest.mark.parametrize("size", [1e2, 1e3, 1e50])
@pytest.mark.parametrize("n_components", [1, 2])
def test_where_every_probability_underflows_nothing_is_certified(size: float, n_components: int) -> None:
    X, y = six()
    Q = size * np.eye(2) if n_components == 2 else size * np.diag([1.0, 0.0])
    for tol in TOLERANCES:
        for exact in (False, True):
            report = cvxml.check(
                "nca", X, y, Q, n_components=n_components, tol=tol, exact=exact, diagnosed=False
            )
            assert report.verdict is not Verdict.CERTIFIED
    dual = {"R": Q, "interior": 0.5 * Q}
    proof = cvxml.certify("nca", X, y, Q, dual, n_components=n_components)
    assert not any(proof.proves(tol) for tol in TOLERANCES.values())
    assert bool(proof.undecided) or size < 1e3


@pytest.mark.quick(2)
@pytest.mark.parametrize("exponent", [-20, -33, -40, -48, -60])
@pytest.mark.parametrize("criterion", ["f", "g"])
def test_nearly_collinear_features_give_no_metric_worse_than_its_start(exponent: int, criterion: str) -> None:
    sign = -1 if criterion == "f" else 1
    for seed in range(2):
        rng = np.random.default_rng(seed)
        x, y = rng.standard_normal(12), rng.integers(0, 2, 12)
        X = np.column_stack([x, x + 2.0**exponent * rng.standard_normal(12)])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = cvxml.solve("nca", X, y, criterion=criterion, init="identity")
            start = truth(X, classes(y), np.eye(2), criterion)
        at = truth(X, classes(y), found.metric, criterion)
        assert abs(ball(found.objective) - at.value) <= ball(found.certificate.rounding)
        assert at.value <= start.value + ball(1e-6), (sign, seed)
        if exponent <= -48 and spans_all(X):
            assert found.certificate.undecided
        if found.status is Status.STATIONARY:
            assert not found.certificate.undecided


@pytest.mark.parametrize("criterion", ["f", "g"])
def test_a_plateau_of_near_ties_is_not_stationary(criterion: str) -> None:
    """Two points of either class all but equally near to the first: all is flat, and larger multiples win a half."""
    X = np.array([[0.0, 0.0], [1.0, 0.0], [1.3, 0.5], [-1 - 1e-8, 0.0], [-1.3, -0.7]])
    y = np.array([0, 0, 0, 1, 1])
    for q in (300.0, 1000.0, 3000.0):
        proof = cvxml.certify("nca", X, y, np.diag([q, 0.0]), {}, criterion=criterion, n_components=1)
        assert not any(proof.proves(tol) for tol in TOLERANCES.values())


def test_hidden_directions_decide_nothing_of_any_rank() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.standard_normal((20, 2)), rng.integers(0, 2, 20)
    X = np.column_stack([x, x @ [1, 1] + 2.0**-49 * rng.integers(-8, 8, 20)])
    for m in (1, 3):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = cvxml.solve("nca", X, y, criterion="g", n_components=m)
        assert "1e-13" in found.certificate.undecided
        assert found.status not in (Status.STATIONARY, Status.CONVERGED)
        report = cvxml.check(
            "nca", X, y, found.metric, criterion="g", n_components=m, tol="loose", diagnosed=False
        )
        assert report.verdict is not Verdict.CERTIFIED
