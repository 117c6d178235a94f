"""The methods that gerrymandering is compared with: what they learn from a training part, and how it is selected."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import train_test_split

import cvxml
from cvxml import datasets
from cvxml.core.metric import FloatArray, IntArray
from validation.experiments.splits import Split, some_pairs
from validation.experiments.vote import facts_of

TOL, CHOOSING = (
    1e-4,
    1e-2,
)  # relative to the objective: of the metric that is tested, and while a weight is chosen
TARGETS, NCA_STEPS = 3, 200
SHARES = (0.25, 0.5, 1.0)  # of the features: how many NCA may have components

ErrorOf = Callable[[float], dict[str, float]]  # weight -> k -> error on the quarter to choose by


class Fit(NamedTuple):
    """A map x -> L x, components (m, d), and what the report says of it."""

    components: FloatArray
    facts: dict[str, Any]


class Choice(NamedTuple):
    """The weight of least error; edge: whether it is the last that was tried, and a further one might be better."""

    weight: float
    edge: bool


def range_of(X: FloatArray, most: int | None = None) -> FloatArray:
    """An orthonormal basis (d, r) of the range of the centred points X (n, d); the identity where n > d.

    most: no more axes than so many, the principal ones; with fewer than d the problem is another.

    Distances between the points are the same along it, and so is ||W|| for a W that lives there, as every optimum does:
    F has W through the points only, and a part of W outside has norm and no use. A point to be tested loses what is
    orthogonal to all of them, which would add the same to its distance to each.
    """
    if len(X) > X.shape[1] <= (most or X.shape[1]):
        return np.eye(X.shape[1])
    _, sizes, axes = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    basis: FloatArray = axes[sizes > 1e-10 * sizes[0]][:most].T
    return basis


def inner(part: Split, seed: int) -> Split:
    """75 % of the training part to learn from, 25 % to choose by, stratified."""
    X, X_test, y, y_test = train_test_split(
        part.X, part.y, test_size=0.25, random_state=seed, stratify=part.y
    )
    return Split(X, y, X_test, y_test)


def fewer(part: Split, rows: int | None, seed: int) -> Split:
    """A part with at most so many training points, drawn at random."""
    if rows is None or rows >= len(part.X):
        return part
    return part._replace(**dict(zip("Xy", datasets.subsample(part.X, part.y, rows, seed), strict=True)))


def choose(error_of: ErrorOf, grid: Iterable[float], factor: float, further: int) -> dict[str, Choice]:
    """For every k the weight of least error, of equal ones the least.

    While only the least weight, or only the largest, is the best for some k the grid goes on there by the factor, at
    most `further` times. factor 1: the grid is all there is, and has no edge.
    """
    errors = {float(weight): error_of(float(weight)) for weight in sorted(grid)}
    ks = list(next(iter(errors.values())))

    def best(k: str) -> list[float]:
        least = min(round(found[k], 12) for found in errors.values())
        return sorted(weight for weight, found in errors.items() if round(found[k], 12) == least)

    for end, step in ((min, 1 / factor), (max, factor)):
        for _ in range(further if factor > 1 else 0):
            if not any(best(k) == [end(errors)] for k in ks):
                break
            weight = end(errors) * step
            errors[weight] = error_of(weight)
    ends = {min(errors), max(errors)} if factor > 1 else set()
    return {k: Choice(best(k)[0], len(errors) > 1 and set(best(k)) <= ends) for k in ks}


# --- other methods: one metric for all k, but for the weight


def fit_other(method: str, part: Split, seed: int, settings: dict[str, Any]) -> dict[str, Any]:
    """Errors of a method for each k, with the weight that is chosen for that k; the test part is only counted."""
    ks = tuple(settings["k"])
    grid, factor = WEIGHTS[method]
    rows = settings["rows"].get(method)
    small = inner(part, seed)
    learning = fewer(small, rows, seed)

    def errors_at(weight: float) -> dict[str, float]:
        L = relative(method, weight, learning, CHOOSING).components
        errors: dict[str, float] = facts_of(small, ks, settings["ties"], L)["errors"]
        return errors

    chosen = choose(errors_at, grid, factor, settings["further"])
    last = fewer(part, rows, seed)
    made = {
        weight: relative(method, weight, last, TOL)
        for weight in {choice.weight for choice in chosen.values()}
    }
    found: dict[str, Any] = {"weight": {}, "edge": {}}
    for k, choice in chosen.items():
        found["weight"][k], found["edge"][k] = choice
        for name, of_k in facts_of(part, (int(k),), settings["ties"], made[choice.weight].components).items():
            found.setdefault(name, {}).update(of_k)
    return {**found, **together([fit.facts for fit in made.values()])}


def together(facts: list[dict[str, Any]]) -> dict[str, Any]:
    """What is true of all metrics: the largest gap, proved only if all are."""
    found: dict[str, Any] = {
        "proved": all(fact["proved"] for fact in facts),
        "status": "/".join(sorted({fact["status"] for fact in facts})),
        "steps": max(fact["steps"] for fact in facts),
        "fit_seconds": round(sum(fact["fit_seconds"] for fact in facts), 3),
    }
    gaps = [fact["rel_gap"] for fact in facts if "rel_gap" in fact]
    return {**found, **({"rel_gap": max(gaps)} if gaps else {})}


def of_lmnn(weight: float, X: FloatArray, y: IntArray, tol: float) -> Any:
    """weight: mu / (1 - mu), of the hinges to the distances of targets."""
    return cvxml.LMNN(weight / (1 + weight), n_neighbors=TARGETS, tol=tol).fit(X, y)


def of_itml(weight: float, X: FloatArray, y: IntArray, tol: float) -> Any:
    """weight: gamma."""
    return cvxml.ITML(weight, tol=tol).fit(X, pairs=some_pairs(y))


def of_nca(weight: float, X: FloatArray, y: IntArray, tol: float) -> Any:
    """weight: the share of the features' number that there are components. The number of steps is what ends it."""
    components = max(1, round(weight * X.shape[1]))
    return cvxml.NCA(components, max_iter=NCA_STEPS).fit(X, y)


def of_mlr(weight: float, X: FloatArray, y: IntArray, tol: float) -> Any:
    """weight: C, of the slack for the area under the curve."""
    return cvxml.MLR("auc", C=weight, tol=max(tol, 1e-3)).fit(X, y)


LEARNERS: dict[str, Callable[[float, FloatArray, IntArray, float], Any]] = {
    "LMNN": of_lmnn,
    "ITML": of_itml,
    "NCA": of_nca,
    "MLR": of_mlr,
}
MOST_AXES = {"MLR": 40}  # a step of its solver is a system of d (d + 1) / 2 equations
# the first weights to be tried, and the factor by which they go on
WEIGHTS: dict[str, tuple[tuple[float, ...], float]] = {
    "LMNN": ((0.1, 1.0, 10.0), 10.0),
    "ITML": ((0.1, 1.0, 10.0), 10.0),
    "NCA": (SHARES, 1.0),
    "MLR": ((1.0, 100.0, 1e4), 100.0),
}


def relative(method: str, weight: float, part: Split, tol: float) -> Fit:
    """Another method's metric, in the range of the training points, and what its certificate says."""
    basis = range_of(part.X, MOST_AXES.get(method))
    start = process_time()
    metric = LEARNERS[method](weight, part.X @ basis, np.unique(part.y, return_inverse=True)[1], tol)
    solution = metric.solution_
    facts = {
        "proved": bool(solution.certificate.proves(metric.tol)),
        "status": solution.status.name,
        "steps": int(solution.n_iter),
        "fit_seconds": process_time() - start,
    }
    if method != "NCA":
        facts["rel_gap"] = float(solution.rel_gap)
    return Fit(metric.components_ @ basis.T, facts)
