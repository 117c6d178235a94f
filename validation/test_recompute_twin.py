"""validation/recompute.py does not prove false files: a twin that shares no code with it judges files with errors.

The twin computes objectives from their definitions, by loops over fractions (logarithms and roots in floats at the
end). It compares the metric of the file with other metrics, the witnesses. If a witness is better by more than 1e-6 of
the scale, "proved" is false. A matrix of fractions is a list of rows.
"""

from __future__ import annotations

import copy
import functools
import itertools
import json
import math
import warnings
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cvxml
from validation import recompute

Matrix = list[list[Fraction]]
Content = dict[str, Any]


def exact(array: Any) -> Matrix:
    return [[Fraction(float(v)) for v in row] for row in array]


def distance(x: list[Fraction], z: list[Fraction], A: Matrix) -> Fraction:
    e = [a - b for a, b in zip(x, z, strict=True)]
    total = sum(e[k] * A[k][m] * e[m] for k in range(len(e)) for m in range(len(e)))
    return max(Fraction(total), Fraction(0))


def squared_norm(A: Matrix) -> Fraction:
    return sum((v * v for row in A for v in row), Fraction(0))


def spread(content: Content, D: Any) -> Fraction:
    """Return the mean slack of MLSVM; D(i, j) is the squared distance of points i and j."""
    y, total = content["y"], Fraction(0)
    for i, listed in enumerate(content["neighbors"]):
        near = [D(i, j) for j in listed if y[j] == y[i]]
        far = [D(i, j) for j in listed if y[j] != y[i]]
        if near and far:
            total += max(Fraction(0), 1 + max(near) - min(far))
    return total / len(y)


def mlsvm(content: Content, A: Matrix) -> float:
    X, lam = exact(content["X"]), Fraction(content["params"]["lam"])
    return float(lam / 2 * squared_norm(A) + spread(content, lambda i, j: distance(X[i], X[j], A)))


def kernel(content: Content) -> Matrix:
    X, p = exact(content["X"]), content["params"]["degree"]
    return [[sum((a * b for a, b in zip(x, z, strict=True)), Fraction(0)) ** p for z in X] for x in X]


def kernel_mlsvm(content: Content, phi: Matrix) -> float:
    """Return the objective of kernel MLSVM, from phi (n, n).

    With the rows of the kernel matrix K as points, distances are those of phi, and ||A||^2 = tr phi K phi K.
    """
    K, lam, n = kernel(content), Fraction(content["params"]["lam"]), len(phi)
    P = [[sum((phi[i][m] * K[m][j] for m in range(n)), Fraction(0)) for j in range(n)] for i in range(n)]
    norm = sum((P[i][j] * P[j][i] for i in range(n) for j in range(n)), Fraction(0))
    return float(lam / 2 * norm + spread(content, lambda i, j: distance(K[i], K[j], phi)))


def pairs(content: Content, same: bool) -> list[tuple[int, int]]:
    y = content["y"]
    return [(i, j) for i, j in itertools.combinations(range(len(y)), 2) if (y[i] == y[j]) == same]


def lmnn(content: Content, A: Matrix) -> float:
    X, y, mu = exact(content["X"]), content["y"], Fraction(content["params"]["mu"])
    power = 1 if content["method"] == "lmnn" else 2
    total = Fraction(0)
    for i, listed in enumerate(content["params"]["targets"]):
        for j in listed:
            near = distance(X[i], X[j], A)
            total += (1 - mu) * near
            for k in range(len(X)):
                if y[k] != y[i]:
                    total += mu * max(Fraction(0), 1 + near - distance(X[i], X[k], A)) ** power
    return float(total)


def budget(content: Content, A: Matrix) -> list[Fraction]:
    """Return the squared distances of the dissimilar pairs, divided by the sum over the similar pairs.

    If that sum is 0, a tiny number takes its place.
    """
    X = exact(content["X"])
    spent = sum((distance(X[i], X[j], A) for i, j in pairs(content, True)), Fraction(0))
    spent = max(spent, Fraction(1, 10**30))
    return [distance(X[i], X[j], A) / spent for i, j in pairs(content, False)]


def mmc(content: Content, A: Matrix) -> float:
    return -math.fsum(math.sqrt(v) for v in budget(content, A))


def dml_eig(content: Content, A: Matrix) -> float:
    return -float(min(budget(content, A)))


def softmin(values: list[Fraction]) -> float:
    """Return - log sum exp(-v) over the values v."""
    low = min(values)
    return float(low) - math.log(math.fsum(math.exp(-float(v - low)) for v in values))


def mcml(content: Content, A: Matrix) -> float:
    X, y, total = exact(content["X"]), content["y"], 0.0
    for i in range(len(X)):
        D = {j: distance(X[i], X[j], A) for j in range(len(X)) if j != i}
        own = [D[j] for j in D if y[j] == y[i]]
        # both without the least, which cancels
        low = min(D.values())
        if own:
            total += float(sum(own, Fraction(0)) / len(own) - low) - softmin([v - low for v in D.values()])
    return total


def itml(content: Content, A: Matrix) -> float:
    params, X = content["params"], exact(content["X"])
    gamma, (u, far) = params["gamma"], params["bounds"]
    total = math.log(params["prior"][0][0] * params["prior"][1][1] / (A[0][0] * A[1][1] - A[0][1] ** 2)) - 2
    total += float(sum(A[k][k] / Fraction(params["prior"][k][k]) for k in range(2)))  # a diagonal prior
    for same, bound in ((True, u), (False, far)):
        for i, j in pairs(content, same):
            r = float(distance(X[i], X[j], A) / Fraction(bound))
            r = max(r, 1.0) if same else min(r, 1.0)
            total += gamma * (r - 1 - math.log(r)) if r > 0 else math.inf
    return total


def nca_at(content: Content) -> Callable[[Matrix], float]:
    """Return a function of A: the convex step of NCA with criterion g at the metric of the file."""
    X, y = exact(content["X"]), content["y"]
    n, weights, constant = len(X), [], []
    metric = exact(content["metric"])
    for i in range(n):
        D = {j: distance(X[i], X[j], metric) for j in range(n) if j != i and y[j] == y[i]}
        low = min(D.values())
        e = {j: math.exp(-float(v - low)) for j, v in D.items()}
        total = math.fsum(e.values())
        weights.append({j: Fraction(v / total) for j, v in e.items()})
        constant.append(math.fsum(v / total * math.log(v / total) for v in e.values() if v > 0))

    def step(A: Matrix) -> float:
        total = 0.0
        for i in range(n):
            D = {j: distance(X[i], X[j], A) for j in range(n) if j != i}
            low = min(D.values())
            pulled = sum((w * (D[j] - low) for j, w in weights[i].items()), Fraction(0))
            total += constant[i] + float(pulled) - softmin([v - low for v in D.values()])
        return total

    return step


def ssvm_at(content: Content) -> Callable[[Matrix], float]:
    """Return a function of A: the convex step of gerrymandering at the metric of the file, over all sets.

    There are two classes, and a wrong one costs 1.
    """
    X, y, k, C = exact(content["X"]), content["y"], content["params"]["n_neighbors"], content["params"]["C"]
    n = len(X)

    def cost(h: tuple[int, ...], i: int, D: list[Fraction]) -> Fraction:
        return sum((D[j] for j in h), Fraction(0))

    def sets(i: int) -> Iterator[tuple[int, ...]]:
        return itertools.combinations([j for j in range(n) if j != i], k)

    metric, latent = exact(content["metric"]), []
    for i in range(n):
        D = [distance(X[i], x, metric) for x in X]
        wins = [h for h in sets(i) if 2 * sum(y[j] == y[i] for j in h) > k]
        latent.append(min(wins, key=lambda h, i=i, D=D: cost(h, i, D)))  # type: ignore[misc]

    def step(A: Matrix) -> float:
        total = squared_norm(A)
        for i in range(n):
            D = [distance(X[i], x, A) for x in X]
            worst = max((2 * sum(y[j] == y[i] for j in h) <= k) - cost(h, i, D) for h in sets(i))
            total += Fraction(C) * (worst + cost(latent[i], i, D))
        return float(total)

    return step


def multiples(A: np.ndarray) -> Iterator[np.ndarray]:
    yield from (t * A for t in (0.5, 0.9, 0.99, 0.999, 0.9999, 1.0, 1.0001, 1.01, 2.0))


def psd(A: np.ndarray) -> np.ndarray:
    """Return a psd matrix of floats near A. A small multiple of the identity covers the rounding of its eigenvalues."""
    values, vectors = np.linalg.eigh((A + A.T) / 2)
    A = (vectors * np.maximum(values, 0)) @ vectors.T
    return (A + A.T) / 2 + 1e-14 * np.trace(A) * np.eye(len(A))


def steep(A: np.ndarray) -> Iterator[np.ndarray]:
    """Yield multiples of A, and A plus large multiples of the metric that acts along (1, -1) only."""
    yield 0 * A
    yield from multiples(A)
    across = np.array([[1.0, -1.0], [-1.0, 1.0]])
    for k in range(4, 110, 7):
        yield A + 2.0**k * across


Problem = Callable[[Content], Callable[[Matrix], float]]
METHODS: dict[str, tuple[Problem, dict[str, Any], Callable[[np.ndarray], Iterator[np.ndarray]]]] = {
    "mlsvm": (lambda c: functools.partial(mlsvm, c), {"lam": 1e8, "n_neighbors": 5}, steep),
    "kernel_mlsvm": (
        lambda c: functools.partial(kernel_mlsvm, c),
        {"lam": 1e8, "degree": 2, "n_neighbors": 5},
        multiples,
    ),
    "ssvm": (ssvm_at, {"C": 0.1}, steep),
    "nca": (nca_at, {"criterion": "g"}, steep),
    "lmnn": (lambda c: functools.partial(lmnn, c), {"n_neighbors": 2}, steep),
    "lmnn:squared_hinge": (lambda c: functools.partial(lmnn, c), {"n_neighbors": 2}, steep),
    "itml": (
        lambda c: functools.partial(itml, c),
        {"prior": [[1.0, 0.0], [0.0, 2.0]], "bounds": [0.5, 2.0]},
        multiples,
    ),
    "mmc": (lambda c: functools.partial(mmc, c), {}, steep),
    "mmc:diagonal": (lambda c: functools.partial(mmc, c), {}, steep),
    "dml_eig": (lambda c: functools.partial(dml_eig, c), {}, steep),
    "mcml": (lambda c: functools.partial(mcml, c), {}, steep),
}
FILES = 100  # a method


def along_a_line(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return eight points (8, 2) with two equal features, and labels of two overlapping classes."""
    rng = np.random.default_rng(seed)
    y = np.arange(8) % 2
    t = np.round(64 * (rng.standard_normal(8) + 2.0 * y)) / 64
    return np.column_stack([t, t]), y


@functools.cache
def honest(method: str) -> list[Content]:
    """Return the contents of four solved files with a nonzero metric, on points of a line or of a plane."""
    files = [solved(method, seed) for seed in range(12)]
    return [content for content in files if np.any(content["metric"])][:4]


def solved(method: str, seed: int) -> Content:
    X, y = along_a_line(seed)
    if seed % 2 or method in ("itml", "mmc:diagonal"):
        X[:, 1] = np.round(64 * np.random.default_rng(seed + 99).standard_normal(8)) / 64
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        solution = cvxml.solve(method, X, y, **METHODS[method][1], tol=1e-9)
    content: Content = json.loads(json.dumps(solution.to_dict()))
    return content


def spoilt(content: Content, rng: np.random.Generator) -> Content:
    """Return the content with one or two random errors.

    These are dual variables that are slightly too large, a metric of another size, and slightly different points.
    """
    content = copy.deepcopy(content)
    what = rng.integers(0, 6)
    if what in (0, 1, 2):  # the features differ by next to nothing, across classes or anyhow
        exponent = int(rng.integers(10, 61))
        apart = np.array(content["y"]) if rng.random() < 0.5 else rng.integers(-3, 4, len(content["X"]))
        content["X"] = (np.array(content["X"]) + np.outer(2.0**-exponent * apart, [1.0, -1.0])).tolist()
    if what in (1, 3, 4):
        size = 10 ** rng.uniform(-15, -5)
        for name in ("u", "w", "q", "nu", "price", "lam_S", "lam_D", "c"):
            if name in content["dual"]:
                values = np.array(content["dual"][name], float)
                noise = 1.0 if rng.random() < 0.7 else rng.uniform(0, 1, values.shape)
                content["dual"][name] = (values * (1 + size * noise)).tolist()
    if what in (2, 4, 5):
        factor = 1 + rng.choice([-1, 1]) * rng.choice([1e-5, 1e-4, 2e-3, 2e-2])
        content["metric"] = (factor * np.array(content["metric"])).tolist()
    return content


def scale(content: Content, value: float) -> float:
    """Return an upper bound of the scale that a tolerance is relative to. value: the objective of the metric."""
    norm = float(squared_norm(exact(content["metric"])))
    if content["method"] == "mlsvm":
        return content["params"]["lam"] / 2 * norm
    if content["method"] == "kernel_mlsvm":
        K, phi = np.array(kernel(content), float), np.array(content["metric"])
        return float(content["params"]["lam"] / 2 * np.trace(phi @ K @ phi @ K))
    if content["method"] == "ssvm":
        return norm
    if content["method"] in ("nca", "itml"):
        return abs(value) + 1.0
    return abs(value)


def better_by(content: Content, witnesses: Iterator[np.ndarray]) -> float:
    """Return the objective minus that of the best witness, minus 1e-6 of the scale.

    A positive result shows that "proved" is false.
    """
    f = METHODS[content["method"]][0](content)
    value = f(exact(content["metric"]))
    least = min(f(exact(W)) for W in witnesses)
    return value - least - 1.001e-6 * scale(content, value) - 1e-13 * (1 + abs(value))


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_nothing_false_is_proved(method: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(len(method))
    proved, false = 0, []
    for k in range(FILES):
        before = honest(method)[k % 4]
        content = spoilt(before, rng) if k >= 4 else before
        (tmp_path / "s.json").write_text(json.dumps(content), encoding="utf-8")
        if recompute.main(str(tmp_path / "s.json")):
            proved += 1
            if all(content[name] == before[name] for name in ("X", "metric")):
                continue  # the metric is optimal, whatever has become of its prices
            reference = np.array(before["metric"])
            if method != "kernel_mlsvm":
                reference = psd(reference)
            if method == "mmc:diagonal":
                witnesses = iter([np.diag(np.diag(W)) for W in steep(reference)])
            else:
                witnesses = METHODS[method][2](reference)
            gain = better_by(content, witnesses)
            if gain > 0:
                false.append((k, gain))
        elif k < 4:
            raise AssertionError(f"an honest file is not proved: {k}: {capsys.readouterr().out}")
    assert false == []
    assert proved > FILES / 20


def test_prices_within_rounding_of_a_share_do_not_prove_a_longer_metric(tmp_path: Path) -> None:
    # the objective is millions of times the scale: 1e-12 of the prices is more than 1e-6 of the scale
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        content = json.loads(
            json.dumps(cvxml.solve("mlsvm", *along_a_line(0), lam=4e6, n_neighbors=5, tol=1e-9).to_dict())
        )
    (tmp_path / "s.json").write_text(json.dumps(content), encoding="utf-8")
    assert recompute.main(str(tmp_path / "s.json"))
    before = mlsvm(content, exact(content["metric"]))
    content["metric"] = (1.002 * np.array(content["metric"])).tolist()
    error = (mlsvm(content, exact(content["metric"])) - before) / before
    assert 1e-14 < error < 9e-13
    for name in ("u", "w"):
        content["dual"][name] = ((1 + error) * np.array(content["dual"][name])).tolist()
    (tmp_path / "s.json").write_text(json.dumps(content), encoding="utf-8")
    assert not recompute.main(str(tmp_path / "s.json"))


@pytest.mark.quick(11)
@pytest.mark.parametrize("method", ["mcml", "mmc", "dml_eig", "lmnn"])
@pytest.mark.parametrize("exponent", [12, 20, 30, 40, 50])
def test_what_is_proved_on_a_line_is_not_next_to_it(method: str, exponent: int, tmp_path: Path) -> None:
    """The points move so that the classes lie on two lines. Then a steep metric is better than that of the file."""
    X, y = along_a_line(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        content = json.loads(json.dumps(cvxml.solve(method, X, y, **METHODS[method][1], tol=1e-9).to_dict()))
    (tmp_path / "s.json").write_text(json.dumps(content), encoding="utf-8")
    assert recompute.main(str(tmp_path / "s.json"))
    X[:, 1] += 2.0**-exponent * y
    (tmp_path / "s.json").write_text(json.dumps({**content, "X": X.tolist()}), encoding="utf-8")
    assert not recompute.main(str(tmp_path / "s.json"))


@pytest.mark.slow
def test_the_step_of_nca_is_not_called_the_problem(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = {**honest("nca")[0], "step_lower_bound": None, "step_gap": None}
    (tmp_path / "s.json").write_text(json.dumps(content), encoding="utf-8")
    assert recompute.main(str(tmp_path / "s.json"))
    assert "proved: stationary" in capsys.readouterr().out


def two_by_two(points: Matrix, query: list[Fraction], alpha: Fraction) -> Matrix:
    """Return Sigma^-1 (x - mean)(x - mean)^T Sigma^-1 - Sigma^-1 (2, 2) of one class, for the query x."""
    n = len(points)
    mean = [sum(column, Fraction(0)) / n for column in zip(*points, strict=True)]
    error = [[v - m for v, m in zip(point, mean, strict=True)] for point in points]
    (a, b), (_, c) = [
        [sum(p[k] * p[m] for p in error) / n + alpha * (k == m) for m in (0, 1)] for k in (0, 1)
    ]
    det = a * c - b * b
    S = [[c / det, -b / det], [-b / det, a / det]]
    e = [v - m for v, m in zip(query, mean, strict=True)]
    pull = [S[k][0] * e[0] + S[k][1] * e[1] for k in (0, 1)]
    return [[pull[k] * pull[m] - S[k][m] for m in (0, 1)] for k in (0, 1)]


def excess(content: Content) -> float:
    """Return (objective - optimum) / scale for a file of GLML with two classes and two features."""
    X, y, A = exact(content["X"]), content["y"], exact(content["metric"])
    query, alpha = [Fraction(v) for v in content["params"]["query"]], Fraction(content["params"]["alpha"])
    one, two = (two_by_two([x for x, c in zip(X, y, strict=True) if c == k], query, alpha) for k in (0, 1))
    B = [[v - w for v, w in zip(*rows, strict=True)] for rows in zip(one, two, strict=True)]
    # the inverse of A but for its determinant, which cancels in all that follows
    M = [[A[1][1], -A[0][1]], [-A[0][1], A[0][0]]]
    trace = sum(M[k][m] * B[k][m] for k in (0, 1) for m in (0, 1))
    det_B, det_M = (V[0][0] * V[1][1] - V[0][1] * V[1][0] for V in (B, M))
    if det_B > 0:  # definite: the optimum is 4 det B
        return float(trace**2 / (4 * det_B * det_M) - 1)
    return math.sqrt(trace**2 / (squared_norm(M) * squared_norm(B)))


@pytest.mark.slow
@pytest.mark.parametrize("definite", [True, False])
def test_nothing_false_is_proved_of_local_metrics(definite: bool, tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    proved, false = 0, []
    for k in range(FILES):
        exponent = int(rng.integers(0, 50)) if k >= 20 else 0
        X, y = rng.standard_normal((12, 2)), np.arange(12) % 2
        X[y == 1] *= 3.0 if definite else 1.0  # a wider class on the same centre: definite at the centre
        X[:, 1] = X[:, 0] + 2.0**-exponent * X[:, 1]
        query = X.mean(axis=0) if definite else X[0]
        alpha = 0.1 if exponent < 5 else 10.0 ** rng.integers(-16, 0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                solution = cvxml.solve("glml", X, y, query=query, alpha=alpha)
            except ValueError:  # a covariance that is singular in floats
                continue
        content = json.loads(json.dumps(solution.to_dict()))
        if k % 2:
            root = np.linalg.cholesky(np.array(content["metric"]))
            turn = np.eye(2) + rng.choice([1e-1, 1e-2, 1e-4]) * np.array(
                [[1.0, 0.0], [rng.standard_normal(), -1.0]]
            )
            A = root @ turn @ turn.T @ root.T
            content["metric"] = (A / math.sqrt(np.linalg.det(A))).tolist()
        (tmp_path / "s.json").write_text(json.dumps(content), encoding="utf-8")
        if recompute.main(str(tmp_path / "s.json")):
            proved += 1
            if excess(content) > 1.001e-6:
                false.append((k, exponent, alpha, excess(content)))
        else:
            assert k >= 20 or k % 2, f"an honest file is not proved: {k}"
    assert false == []
    assert proved > FILES / 20
