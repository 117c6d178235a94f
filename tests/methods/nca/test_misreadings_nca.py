"""NCA: each misreading is minimised here, by BFGS on its objective, and read off a report of `check`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp

import cvxml
from cvxml.core.misreading import LOOSE, Question
from cvxml.core.report import Verdict
from cvxml.methods import get
from cvxml.methods.nca import definitions
from cvxml.methods.nca.misreadings import left
from tests.instances import assert_named, soft_labels

MISREADINGS = get("nca").MISREADINGS
Objective = Callable[[np.ndarray, np.ndarray], float]  # of squared distances (n, n) and s


def data(seed: int, sizes: tuple[int, ...] = (6, 9, 7), d: int = 2) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(len(sizes)), sizes)
    return rng.standard_normal((len(y), d)) + 0.9 * rng.standard_normal((len(sizes), d))[y], y


def log_p(exponents: np.ndarray, extra: float | None = None) -> np.ndarray:
    e = exponents.copy()
    np.fill_diagonal(e, -np.inf if extra is None else extra)
    logs: np.ndarray = exponents - logsumexp(e, axis=1)[:, None]
    np.fill_diagonal(logs, 0.0)  # not used: s is 0 there
    return logs


def minus_f(logs: np.ndarray, s: np.ndarray) -> float:
    return -float(np.sum(s * np.exp(logs)))


def minus_g(logs: np.ndarray, s: np.ndarray) -> float:
    return -float(np.sum(np.log(np.sum(s * np.exp(logs), axis=1))))


def shares(s: np.ndarray) -> np.ndarray:
    u: np.ndarray = s / s.sum(axis=1, keepdims=True)
    return u


def over_pairs(d: np.ndarray, s: np.ndarray, own: float) -> float:
    e = -d.copy()
    np.fill_diagonal(e, own)
    return -float(np.sum(s * (-d - logsumexp(e))))


def minus_g_in_single(d: np.ndarray, s: np.ndarray) -> float:
    """Of the points whose probability is not 0 there, as a loss that takes their logarithms has to."""
    e = (-d).astype(np.float32)
    np.fill_diagonal(e, -np.inf)
    p = np.exp(e - e.max(axis=1, keepdims=True))
    kept = np.sum(s * (p / p.sum(axis=1, keepdims=True)), axis=1, dtype=np.float32) != 0
    return -float(np.sum(np.log(np.sum(s * np.exp(log_p(-d)), axis=1)[kept])))


def against_others(d: np.ndarray, s: np.ndarray) -> float:
    with np.errstate(divide="ignore"):
        others = np.log((s == 0) * (1.0 - np.eye(len(s))))
        return float(np.sum(logsumexp(others - d, axis=1) - logsumexp(np.log(s) - d, axis=1)))


def as_reals(s: np.ndarray) -> np.ndarray:
    """Labels that are numbers, 0, 1 and 2 in the order of the points, as targets of a regression."""
    y = np.cumsum([0, *(s[i, i + 1] == 0 for i in range(len(s) - 1))])
    return np.exp(-((y[:, None] - y) ** 2) / 2) * (1 - np.eye(len(s)))


def balanced(s: np.ndarray) -> np.ndarray:
    """Rows that weigh as much as their class is small."""
    sizes = s.sum(axis=1, keepdims=True) + 1
    return s * len(s) / (3 * sizes)


MADE: dict[str, dict[str, Objective]] = {  # name -> criterion asked for -> what is minimised
    "g": {"f": lambda d, s: minus_g(log_p(-d), s)},
    "f": {"g": lambda d, s: minus_f(log_p(-d), s)},
    "mean": {"f": lambda d, s: minus_f(log_p(-d), shares(s))},
    "reals": {
        "f": lambda d, s: minus_f(log_p(-d), as_reals(s)),
        "g": lambda d, s: minus_g(log_p(-d), as_reals(s)),
    },
    "class_weights": {"f": lambda d, s: minus_f(log_p(-d), balanced(s))},
    "self": {
        "f": lambda d, s: minus_f(log_p(-d, 0.0), s),
        "g": lambda d, s: minus_g(log_p(-d, 0.0), s),
    },
    "dropped": {"g": minus_g_in_single},
    "others": dict.fromkeys("fg", against_others),
    "plain": {
        "f": lambda d, s: minus_f(log_p(-np.sqrt(d)), s),
        "g": lambda d, s: minus_g(log_p(-np.sqrt(d)), s),
    },
    "mean_log": {c: lambda d, s: -float(np.sum(shares(s) * log_p(-d))) for c in "fg"},
    "sum_log": {c: lambda d, s: -float(np.sum(s * log_p(-d))) for c in "fg"},
    "pairs": {c: lambda d, s: over_pairs(d, s, -np.inf) for c in "fg"},
    "pairs_self": {c: lambda d, s: over_pairs(d, s, 0.0) for c in "fg"},
}
ALL = ["self", "plain", "mean_log", "sum_log", "pairs", "pairs_self", "others"]  # not NCA with another input


def least(X: np.ndarray, s: np.ndarray, F: Objective, m: int = 2) -> np.ndarray:
    """A (m, d) where BFGS stops, from the identity."""
    d = X.shape[1]

    def value(a: np.ndarray) -> float:
        E = X @ a.reshape(m, d).T
        return F(np.sum((E[:, None] - E) ** 2, axis=2), s)

    def gradient(a: np.ndarray) -> np.ndarray:
        h = 1e-4
        steps = h * np.eye(len(a))
        near = np.array([value(a + e) - value(a - e) for e in steps]) / (2 * h)
        far = np.array([value(a + 2 * e) - value(a - 2 * e) for e in steps]) / (4 * h)
        return (4 * near - far) / 3

    A: np.ndarray = minimize(
        value, np.eye(m, d).ravel(), jac=gradient, method="BFGS", options={"gtol": 1e-9}
    ).x
    return A.reshape(m, d)


def same_class(y: np.ndarray) -> np.ndarray:
    s: np.ndarray = (y[:, None] == y) * (1.0 - np.eye(len(y)))
    return s


def with_far_points() -> tuple[np.ndarray, np.ndarray]:
    """Two points far from their classes, each the nearest of the other."""
    X, y = data(11)
    return np.concatenate([X, [[60.0, 40.0], [60.1, 40.2]]]), np.concatenate([y, [0, 1]])


def overlapping() -> tuple[np.ndarray, np.ndarray]:
    """Classes that overlap: elsewhere multiples of a metric are better and better against the others alone."""
    rng = np.random.default_rng(2)
    y = np.repeat([0, 1, 2], (5, 12, 12))
    return rng.standard_normal((len(y), 2)) + 0.3 * rng.standard_normal((3, 2))[y], y


def points_for(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Points on which the misreading has a finite optimum."""
    own = {"dropped": with_far_points, "others": overlapping}
    return own[name]() if name in own else data(8 if name == "plain" else 11)


@pytest.mark.parametrize(("criterion", "m"), [("f", 1), ("g", 2)])
def test_bfgs_itself_makes_no_mistake(criterion: str, m: int) -> None:
    X, y = data(11)
    F = MADE["f" if criterion == "f" else "g"]["g" if criterion == "f" else "f"]
    A = least(X, same_class(y), F, m)
    report = cvxml.check("nca", X, y, components=A, criterion=criterion, n_components=m)
    assert report.verdict is Verdict.CERTIFIED
    assert report.diagnosis == ()


# of rank 1: of rank 2 `check` also looks at convex steps, which take seconds. The plain distance has its optima of
# rank 1 at cusps, where two images coincide: nothing is stationary there.
NAMED = [(name, criterion, 1) for name, by in MADE.items() if name != "plain" for criterion in by]


@pytest.mark.quick(2)
@pytest.mark.parametrize(("name", "criterion", "m"), [*NAMED, ("plain", "g", 2), ("sum_log", "f", 2)])
def test_a_misreading_is_named(name: str, criterion: str, m: int) -> None:
    X, y = points_for(name)
    A = least(X, same_class(y), MADE[name][criterion], m)
    assert_named("nca", name, X, y, A.T @ A, criterion=criterion, n_components=m)


@pytest.mark.quick(4)
@pytest.mark.parametrize(
    ("name", "criterion", "soft"),
    [*((name, c, False) for name in ALL for c in "fg"), *((name, "g", True) for name in ALL[:-1])],
)
def test_the_metric_of_a_misreading_is_stationary_for_it(name: str, criterion: str, soft: bool) -> None:
    """Of rank 2; and for NCA itself it is not stationary. With soft labels a point has no others alone."""
    X, y = points_for(name) if not soft else data(11)
    s = soft_labels(0, len(X)) if soft else same_class(y)
    A = least(X, s, MADE[name][criterion])
    Q, params = A.T @ A, {"criterion": criterion, **({"similarity": s} if soft else {})}
    assert left(Question(X, y, Q, 1e-6, params), name) <= LOOSE
    found = cvxml.certify("nca", X, y, Q, {"R": Q, "interior": Q}, **params).stationarity
    assert found is not None
    assert found.relative > LOOSE


@pytest.mark.slow
def test_a_misreading_of_soft_labels_is_named() -> None:
    X, _ = data(11)
    s = soft_labels(0, len(X))
    A = least(X, s, MADE["self"]["g"], 1)
    assert_named("nca", "self", X, None, A.T @ A, criterion="g", similarity=s, n_components=1)


def test_points_are_dropped_only_where_their_probability_rounds_to_0() -> None:
    X, y = with_far_points()
    assert MISREADINGS["dropped"].problem is not None
    assert MISREADINGS["dropped"].problem(Question(X, y, 1e-6 * np.eye(2), 1e-6, {"criterion": "g"})) is None


def test_no_problem_is_left_if_all_points_with_a_partner_are_dropped() -> None:
    """A point without a partner has no term that could be left."""
    X, y = np.array([[0.0], [10.0], [5.0], [20.0], [15.0], [17.0]]), np.array([0, 0, 1, 1, 2, 3])
    assert MISREADINGS["dropped"].problem is not None
    assert MISREADINGS["dropped"].problem(Question(X, y, 100 * np.eye(1), 1e-6, {"criterion": "g"})) is None


def test_a_metric_of_the_printed_cost_has_no_gradient_of_it() -> None:
    X, y = data(11)
    s = same_class(y)
    A = least(X, s, MADE["pairs"]["g"])
    assert np.abs(definitions.continuous_gradient(X, s, A)).max() < 1e-6
    assert definitions.continuous_cost(X, s, A) < definitions.continuous_cost(X, s, 1.01 * A)


@pytest.mark.slow
@pytest.mark.parametrize(("criterion", "m", "count"), [("f", 1, 4), ("g", 1, 4), ("g", 2, 1)])
def test_random_wrong_metrics_get_no_diagnosis(criterion: str, m: int, count: int) -> None:
    X, y = data(11)
    rng = np.random.default_rng(0)
    for _ in range(count):
        L = rng.standard_normal((m, 2)) * 10 ** rng.uniform(-1, 0.5)
        report = cvxml.check("nca", X, y, components=L, criterion=criterion, n_components=m)
        assert report.verdict is not Verdict.CERTIFIED
        assert report.diagnosis == ()


@pytest.mark.quick(2)
@pytest.mark.parametrize("kind", ALL)
def test_random_wrong_metrics_are_stationary_for_nothing(kind: str) -> None:
    X, y = data(1, d=3)
    rng = np.random.default_rng(0)
    for i in range(100):
        L = rng.standard_normal((1 + i % 3, 3)) * 10 ** rng.uniform(-3, 3)
        params = {"criterion": "fg"[i % 2], "n_components": 1 + i % 3}
        assert left(Question(X, y, L.T @ L, 1e-6, params), kind) > LOOSE


@pytest.mark.parametrize("kind", ALL)
def test_nothing_is_proved_of_what_saturates_or_coincides(kind: str) -> None:
    X, y = data(11)
    for criterion in "fg":
        for size in (1e-12, 1e-6, 1e3, 1e6, 1e12, 1e40):
            for L in (np.eye(2), np.array([[1.0, 0.5]])):
                question = Question(X, y, size * L.T @ L, 1e-6, {"criterion": criterion})
                assert left(question, kind) > LOOSE, (criterion, size)
    if kind in ("self", "plain"):
        twice = Question(np.concatenate([X, X]), np.concatenate([y, y]), 1e4 * np.eye(2), 1e-6, {})
        assert left(twice, kind) > LOOSE
