"""Metrics of wrong programs with mistakes that are in no list of misreadings, so that each name given to them is false.

`changed` solves the method itself with other inputs: a feature in other units, features with noise, a wrong label, or
lost pairs or triplets. `BUGS` holds wrong programs, each a formula or a cvxpy problem.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from cvxml.core.metric import FloatArray
from cvxml.core.pairs import Pairs, pairs_of
from cvxml.methods import get

SOLVED = 1e-9  # the tolerance of a wrong program
LOST = 0.1  # largest share of the pairs or triplets that is lost; at least one is lost


def changed(
    method: str, X: FloatArray, y: Any, params: dict[str, Any], rng: np.random.Generator
) -> Iterator[tuple[str, FloatArray]]:
    """Yield the kind of a change of the inputs, and the optimum (d, d) for the changed inputs.

    The kinds take turns, until the method refuses all of them.
    """
    kinds = [_feature, _noise, _label, _lost_pairs, _lost_classes, _lost_triplets]
    found = True
    while found:
        found = False
        for kind in kinds:
            try:
                other = kind(method, np.asarray(X, dtype=np.float64), y, params, rng)
                if other is None:
                    continue
                points, labels, own = other
                given = get(method).instance(points, labels, **own)
                metric = get(method).solve(given, tol=SOLVED).metric
            except (ValueError, ArithmeticError, RuntimeError):
                continue
            found = True
            yield (kind.__doc__ or "").strip(), metric


def _feature(method: str, X: FloatArray, y: Any, params: dict[str, Any], rng: np.random.Generator) -> Any:
    """a feature in other units"""
    units = np.ones(X.shape[1])
    units[rng.integers(X.shape[1])] = 2 ** rng.uniform(-1, 1)
    return X * units, y, params


def _noise(method: str, X: FloatArray, y: Any, params: dict[str, Any], rng: np.random.Generator) -> Any:
    """features with noise"""
    return X + 10 ** rng.uniform(-3, -0.5) * X.std(axis=0) * rng.standard_normal(X.shape), y, params


def _label(method: str, X: FloatArray, y: Any, params: dict[str, Any], rng: np.random.Generator) -> Any:
    """a label that is wrong"""
    if y is None or {"pairs", "triplets", "targets", "chunklets"} & set(params) or len(np.unique(y)) > 5:
        return None
    labels = np.array(y)
    labels[rng.integers(len(labels))] = rng.choice(np.unique(y))
    return X, labels, params


def _pairs(method: str, X: FloatArray, y: Any, params: dict[str, Any]) -> Pairs | None:
    return pairs_of(params.get("pairs"), y, len(X)) if "pairs" in get(method).PARAMETERS else None


def _lost_pairs(method: str, X: FloatArray, y: Any, params: dict[str, Any], rng: np.random.Generator) -> Any:
    """some pairs are lost"""
    pairs = _pairs(method, X, y, params)
    if pairs is None:
        return None
    kept = [each[np.sort(_kept(len(each), rng))] for each in pairs]
    return X, y, {**params, "pairs": Pairs(*kept).to_dict()}


def _lost_classes(
    method: str, X: FloatArray, y: Any, params: dict[str, Any], rng: np.random.Generator
) -> Any:
    """the pairs of two classes are lost"""
    pairs = _pairs(method, X, y, params)
    if pairs is None or params.get("pairs") is not None or len(np.unique(y)) < 3:
        return None
    one, two = rng.choice(np.unique(y), 2, replace=False)
    of = np.asarray(y)[pairs.dissimilar]
    apart = pairs.dissimilar[~(np.sort(of, axis=1) == np.sort([one, two])).all(axis=1)]
    return X, y, {**params, "pairs": pairs._replace(dissimilar=apart).to_dict()}


def _lost_triplets(
    method: str, X: FloatArray, y: Any, params: dict[str, Any], rng: np.random.Generator
) -> Any:
    """some triplets are lost"""
    given = get(method).instance(X, y, **params)
    if "triplets" not in get(method).PARAMETERS or not callable(getattr(given, "triplets", None)):
        return None
    triplets = np.asarray(given.triplets())
    left = {name: value for name, value in params.items() if name not in ("n_neighbors", "targets")}
    return X, y, {**left, "triplets": triplets[np.sort(_kept(len(triplets), rng))].tolist()}


def _kept(n: int, rng: np.random.Generator) -> Any:
    lost = rng.integers(1, max(2, int(LOST * n) + 1))
    return rng.permutation(n)[: max(1, n - lost)]


def _power(A: FloatArray, p: float) -> FloatArray:
    values, vectors = np.linalg.eigh(A)
    found: FloatArray = (vectors * values**p) @ vectors.T
    return found


def geometric_mean(A: FloatArray, B: FloatArray, t: float) -> FloatArray:
    """Return the weighted geometric mean A^(1/2) (A^(-1/2) B A^(-1/2))^t A^(1/2)."""
    root, inverse = _power(A, 0.5), _power(A, -0.5)
    return root @ _power(inverse @ B @ inverse, t) @ root


def _differences(X: FloatArray, y: Any, params: dict[str, Any]) -> tuple[FloatArray, FloatArray]:
    """Return the differences of the similar pairs (p, d), and of the dissimilar pairs (q, d)."""
    near, far = (X[each[:, 0]] - X[each[:, 1]] for each in pairs_of(params.get("pairs"), y, len(X)))
    return near, far


def sums(X: FloatArray, y: Any, params: dict[str, Any]) -> tuple[FloatArray, FloatArray]:
    """Return S + mu I and D of GMML: the sums of e e^T over the differences e of similar and of dissimilar pairs."""
    near, far = _differences(X, y, params)
    ridge = params.get("mu", 0.0) * np.eye(X.shape[1])
    return near.T @ near + ridge, far.T @ far + ridge


def unit_differences(X: FloatArray, y: Any, params: dict[str, Any]) -> FloatArray:
    """Return the solution of GMML with D = sum v v^T / |v| over the differences v of dissimilar pairs."""
    S, _ = sums(X, y, params)
    _, far = _differences(X, y, params)
    return geometric_mean(
        np.linalg.inv(S), (far / np.linalg.norm(far, axis=1)[:, None]).T @ far, params.get("weight", 0.5)
    )


def arithmetic_mean(X: FloatArray, y: Any, params: dict[str, Any]) -> FloatArray:
    """Return, for GMML, the arithmetic mean of S^-1 and D in place of their geometric mean."""
    (S, D), t = sums(X, y, params), params.get("weight", 0.5)
    return (1 - t) * np.linalg.inv(S) + t * D


def logarithmic_mean(X: FloatArray, y: Any, params: dict[str, Any]) -> FloatArray:
    """Return, for GMML, the exponential of the mean logarithm of S^-1 and D in place of their geometric mean."""
    (S, D), t = sums(X, y, params), params.get("weight", 0.5)
    logs = []
    for A in (np.linalg.inv(S), D):
        values, vectors = np.linalg.eigh(A)
        logs.append((vectors * np.log(values)) @ vectors.T)
    values, vectors = np.linalg.eigh((1 - t) * logs[0] + t * logs[1])
    found: FloatArray = (vectors * np.exp(values)) @ vectors.T
    return found


def medians(X: FloatArray, y: Any, params: dict[str, Any]) -> FloatArray:
    """Return the solution of RCA with the median of each chunklet in place of its mean."""
    chunklets = np.asarray(params.get("chunklets", y))
    centred = [
        X[chunklets == j] - np.median(X[chunklets == j], axis=0) for j in np.unique(chunklets[chunklets >= 0])
    ]
    points = np.concatenate(centred)
    C = points.T @ points / len(points) + params.get("alpha", 0.0) * np.eye(X.shape[1])
    found: FloatArray = np.linalg.inv(C) * np.linalg.det(C) ** (1 / len(C))
    return found


def _distances(E: FloatArray, M: Any) -> Any:
    """Return E_t^T M E_t for each row of E, as a cvxpy expression."""
    import cvxpy as cp

    return np.einsum("ta,tb->tab", E, E).reshape(len(E), -1) @ cp.vec(M, order="C")


def _solved(M: Any, objective: Any) -> FloatArray:
    import cvxpy as cp

    cp.Problem(cp.Minimize(objective)).solve(
        solver="CLARABEL", tol_gap_rel=SOLVED, tol_gap_abs=SOLVED, tol_feas=SOLVED
    )
    values, vectors = np.linalg.eigh(M.value)
    found: FloatArray = (vectors * np.maximum(values, 0)) @ vectors.T
    return found


def unsquared_pull(X: FloatArray, y: Any, params: dict[str, Any]) -> FloatArray:
    """Return the solution of LMNN with the pull D_M(x_i, x_j) / |x_i - x_j| for each target j of i."""
    import cvxpy as cp

    given = get("lmnn").instance(X, y, **params)
    i, j = given.targets.T
    M = cp.Variable((X.shape[1],) * 2, PSD=True)
    pulled = cp.sum(_distances((X[i] - X[j]) / np.linalg.norm(X[i] - X[j], axis=1)[:, None] ** 0.5, M))
    a, b, c = np.asarray(given.triplets()).T
    push = cp.sum(cp.pos(1 + _distances(X[a] - X[b], M) - _distances(X[a] - X[c], M)))
    return _solved(M, (1 - given.mu) * pulled + given.mu * push)


def off_diagonals_once(X: FloatArray, y: Any, params: dict[str, Any]) -> FloatArray:
    """Return the solution of FrobMetric with a norm that counts each pair of off-diagonal entries once."""
    import cvxpy as cp

    given = get("frobmetric").instance(X, y, **params)
    i, j, l = np.asarray(given.triplets()).T
    M = cp.Variable((X.shape[1],) * 2, PSD=True)
    once = cp.sum(cp.multiply((1 + np.eye(X.shape[1])) / 2, cp.square(M)))
    hinge = cp.pos(1 - _distances(X[i] - X[l], M) + _distances(X[i] - X[j], M))
    return _solved(M, once / 2 + given.C * cp.sum(hinge) / len(i))


def balanced(X: FloatArray, y: Any, params: dict[str, Any]) -> FloatArray:
    """Return the solution of LDML with one mean loss for the similar pairs and one for the dissimilar pairs.

    b is the given number, or 1.
    """
    import cvxpy as cp

    near, far = _differences(X, y, params)
    b = params["b"] if isinstance(params.get("b"), float) else 1.0
    M = cp.Variable((X.shape[1],) * 2, PSD=True)
    losses = cp.logistic(_distances(near, M) - b), cp.logistic(b - _distances(far, M))
    return _solved(M, sum(cp.sum(loss) / loss.size for loss in losses))


BUGS: dict[str, tuple[Callable[[FloatArray, Any, dict[str, Any]], FloatArray], ...]] = {
    "gmml": (unit_differences, arithmetic_mean, logarithmic_mean),
    "rca": (medians,),
    "lmnn": (unsquared_pull,),
    "frobmetric": (off_diagonals_once,),
    "ldml": (balanced,),
}


def bugs(method: str, X: FloatArray, y: Any, params: dict[str, Any]) -> Iterator[tuple[str, FloatArray]]:
    """Yield the name and the metric of each wrong program for the method."""
    for bug in BUGS.get(method, ()):
        yield bug.__name__, bug(X, y, params)
