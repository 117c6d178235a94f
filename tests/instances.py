"""Instances for the tests: drawn at random, degenerate on purpose, or built from KKT so that the optimum is known."""

from __future__ import annotations

import os
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest

import cvxml
from cvxml import datasets
from cvxml.core.exact import Exact
from cvxml.core.metric import FloatArray
from cvxml.core.other_lists import PAIRS, QUADRUPLETS, TRIPLETS
from cvxml.core.report import Report, Verdict
from cvxml.core.result import Status
from cvxml.methods import get, names

# a start from which nca ends at a finite metric on random_data(7, n=14, d=3, classes=2), and not at infinity
START: dict[str, dict[str, Any]] = {"nca": {"init": np.eye(3)}}

needs_data = pytest.mark.skipif(
    not os.environ.get("CVXML_DATA"), reason="CVXML_DATA names no folder with the papers' data sets"
)
# of a metric that is proved not to be optimal
NOT_OPTIMAL = (Verdict.REFUTED, Verdict.CLOSE)
# methods with a solution in closed form: no steps to run out of, one that is told of
CLOSED_FORM = tuple(name for name in names() if get(name).MAX_ITER == 1)


def small(method: str, **params: Any) -> dict[str, Any]:
    """The parameters of `method` that suit few points, and these."""
    return {**get(method).SMALL, **params}


def allowed(method: str, X: Any, y: Any, M: FloatArray, **params: Any) -> FloatArray:
    """A metric that the problem allows, made of a psd M (d, d) by the method's own rule."""
    of, given = checked(method, X, y, **params)
    size = of.metric_size(given)
    if len(M) < size:  # several metrics (plml): M for each
        M = np.kron(np.eye(size // len(M)), M)
    made: FloatArray = of.allowed(given, M)
    return made


def wild_dual(rng: np.random.Generator, dual: Mapping[str, Any], size: float, points: int) -> dict[str, Any]:
    """Values at random, of any sign, in place of the values of a dual; its rows of indices in another order.

    Half of the time the indices themselves are at random, where a row has at most three: a longer one may have to be
    a permutation.
    """
    wild: dict[str, Any] = {}
    for name, part in dual.items():
        values = np.asarray(part)
        if values.dtype.kind == "f":
            wild[name] = size * rng.standard_normal(values.shape) * rng.choice([1e-3, 1.0, 1e3])
        elif values.shape[1] <= 3 and rng.random() < 0.5:
            wild[name] = rng.integers(0, points, values.shape)
        else:
            wild[name] = rng.permutation(values)
    return wild


def wrong_dimensions(
    stated: Mapping[str, str], shapes: Mapping[str, tuple[int, ...]], known: Mapping[str, int]
) -> list[str]:
    """What of the dimensions stated of a dual, {"price": "t", "triplets": "t 3"}, is not so; a sentence for each part.

    shapes: the shapes of the parts of a dual. known: sizes of some letters. Equal letters stand for equal sizes.
    """
    sizes, wrong = dict(known), []
    for name, dimensions in stated.items():
        letters, shape = dimensions.split(), shapes.get(name)
        if shape is None:
            wrong.append(f"the dual has no part {name!r}, it has {list(shapes)}")
            continue
        expected = tuple(
            int(letter) if letter.isdigit() else sizes.setdefault(letter, size)
            for letter, size in zip(letters, shape, strict=False)
        )
        if len(letters) != len(shape) or expected != shape:
            wrong.append(f"the part {name!r} of dimensions {dimensions!r} has shape {shape}")
    return wrong


def assert_named(method: str, misreading: str, X: Any, y: Any, metric: Any, **params: Any) -> Report:
    """`check` refutes the metric and names this entry of the method's `MISREADINGS`. Returns the report."""
    report = cvxml.check(method, X, y, metric, **params)
    assert report.verdict is Verdict.REFUTED, str(report)
    sentence = get(method).MISREADINGS[misreading].sentence
    assert any(sentence in line for line in report.diagnosis), f"{sentence!r} is not in: {report}"
    return report


def methods_with(parameter: str) -> list[str]:
    """The methods that have this parameter."""
    return [m for m in names() if parameter in get(m).PARAMETERS]


def checked(method: str, X: Any, y: Any, **params: Any) -> tuple[Any, Any]:
    """A method, and the inputs as it takes them."""
    of = get(method)
    return of, of.instance(X, y, **params)


def objective_of(method: str, X: Any, y: Any, metric: Any, **params: Any) -> float:
    """From the definition."""
    of, given = checked(method, X, y, **params)
    return float(of.objective(given, of.metric(given, metric)))


def exact_of(method: str, X: Any, y: Any, metric: Any, dual: Any, root: Any = None, **params: Any) -> Exact:
    """What `dual` proves of `metric`, without rounding."""
    of, given = checked(method, X, y, **params)
    found: Exact = of.exact(given, of.matrix(given, metric), dual, root=root)
    return found


def ties(method: str, X: Any, y: Any, **params: Any) -> int:
    """How many choices a tie decided."""
    of, given = checked(method, X, y, **params)
    return int(of.ties(given))


def solved_status(method: str) -> Status:
    """What a solution that met its tolerance is called."""
    return {"optimal": Status.CONVERGED, "stationary": Status.STATIONARY}[get(method).CLAIM]


def with_lists(method: str, params: dict[str, Any], neighbors: Any) -> dict[str, Any]:
    """The parameters with explicit neighbour lists, where these are an input."""
    return {**params, "neighbors": neighbors} if method in methods_with("neighbors") else params


class Known(NamedTuple):
    """An MLSVM instance whose optimum follows from its construction, without any solver."""

    X: FloatArray
    y: np.ndarray
    neighbors: list[list[int]]
    lam: float
    A: FloatArray  # the optimum
    objective: float


def mlsvm_from_kkt(seed: int, d: int = 6, interior: int = 2, capped: int = 2, slack: int = 2) -> Known:
    """Each constraint has a point, a target and an impostor of its own, so its edges can be chosen freely.

    In an orthonormal basis q, A* = sum alpha_k q_k q_k^T. Constraint k pushes along b = beta q_k and pulls along a
    direction where A* is 0, so that G = sum s_k beta_k^2 q_k q_k^T - (something orthogonal), and lam A* = P_+(G):
      interior: margin alpha beta^2 = 1 and s = lam alpha / beta^2 = lam alpha^2 < 1/n
      capped:   s = 1/n, beta^2 = lam alpha n, margin lam n alpha^2 < 1
      slack:    s = 0, margin > 1.
    """
    assert interior + capped < d
    rng = np.random.default_rng(seed)
    lam = float(10 ** rng.uniform(-2, 1))
    m = interior + capped + slack
    n = 3 * m
    q = np.linalg.qr(rng.standard_normal((d, d)))[0]
    limit = 1 / np.sqrt(lam * n)
    alpha = np.zeros(d)
    alpha[: interior + capped] = limit * rng.uniform(0.3, 0.9, interior + capped)
    A = (q * alpha) @ q.T
    X = np.zeros((n, d))
    neighbors: list[list[int]] = [[] for _ in range(n)]
    slacks = 0.0
    for k in range(m):
        centre, target, impostor = 3 * k, 3 * k + 1, 3 * k + 2
        if k < interior:
            beta = np.sqrt(1 / alpha[k])
            b = beta * q[:, k]
        elif k < interior + capped:
            beta = np.sqrt(lam * alpha[k] * n)
            b = beta * q[:, k]
            slacks += 1 - alpha[k] * beta**2
        else:
            b = 1.5 * q[:, 0] / np.sqrt(alpha[0])
        X[centre] = rng.standard_normal(d)
        X[target] = X[centre] - rng.uniform(0.1, 1) * q[:, -1]
        X[impostor] = X[centre] - b
        neighbors[centre] = [target, impostor]
    y = np.tile([0, 0, 1], m)
    objective = lam / 2 * float(np.sum(alpha**2)) + slacks / n
    return Known(X, y, neighbors, lam, A, objective)


def heavy_tails(seed: int, spread: float, n: int, d: int) -> tuple[FloatArray, np.ndarray]:
    """Two classes with log-normal features. Some points are far from all others in one feature."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return np.exp(spread * rng.standard_normal((n, d))) + y[:, None], y


def random_data(seed: int, n: int = 40, d: int = 5, classes: int = 3) -> tuple[FloatArray, np.ndarray]:
    """Overlapping Gaussian classes."""
    return datasets.overlapping(seed, n, d, classes)


def real_data(name: str, n: int | None = None, standardized: bool = True) -> tuple[FloatArray, Any]:
    """An embedded set, whole or a fixed subsample."""
    X, y = datasets.load(name)
    if n is not None:
        X, y = datasets.subsample(X, y, n)
    return (datasets.standardize(X) if standardized else X), y


def soft_labels(seed: int, n: int) -> FloatArray:
    """A similarity (n, n) as regression has it: near where targets are, the targets being noise."""
    target = np.random.default_rng(seed).standard_normal(n)
    s: FloatArray = np.exp(-(((target[:, None] - target) / 0.5) ** 2) / 2)
    np.fill_diagonal(s, 0.0)
    s[s < 1e-12] = 0.0
    return s


def fractions(array: Any) -> np.ndarray:
    """The same numbers as objects, with which numpy reckons exactly."""
    return np.vectorize(Fraction, otypes=[object])(np.asarray(array, dtype=float))


def own_misreadings(method: str) -> list[str]:
    """The names of the misreadings of the method alone. Those of lists that methods share have tests of their own."""
    shared = [each for table in (TRIPLETS, PAIRS, QUADRUPLETS) for each in table.values()]
    return [name for name, each in get(method).MISREADINGS.items() if each not in shared]
