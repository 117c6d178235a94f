"""Metrics of the gerrymandering experiment: what is learnt from a training part, and how it is selected."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import train_test_split

import cvxml
from cvxml import datasets
from cvxml.core.metric import FloatArray, IntArray, components_of, project_psd
from cvxml.core.neighbors import k_nearest, majority
from cvxml.methods.ssvm import inference
from cvxml.methods.ssvm.instance import Instance, instance
from cvxml.methods.ssvm.nearest import nearest
from cvxml.methods.ssvm.point import point_at, rescaled
from cvxml.methods.ssvm.relieff import relieff
from cvxml.methods.ssvm.study import greedy
from cvxml.methods.ssvm.study.sgd import sgd
from validation.experiments.gerrymandering_report import OURS
from validation.experiments.splits import Split, some_pairs

TOL = 1e-4  # of CCCP: what the metric's own step may still gain, over ||W||^2; of the others, relative to the objective
GAMMAS = (0.1, 1.0, 10.0)  # of ITML
BATCHES = 64  # of an epoch of SGD
TARGETS, NCA_STEPS = 3, 200


class Fit(NamedTuple):
    """A map x -> L x, components (m, d), and what the report says of it."""

    components: FloatArray
    facts: dict[str, Any]


def range_of(X: FloatArray) -> FloatArray:
    """An orthonormal basis (d, r) of the range of the centred points X (n, d); the identity where n > d.

    Distances between the points are the same along it, and so is ||W|| for a W that lives there, as every optimum does:
    F has W through the points only, and a part of W outside has norm and no use. A point to be tested loses what is
    orthogonal to all of them, which would add the same to its distance to each.
    """
    if len(X) > X.shape[1]:
        return np.eye(X.shape[1])
    _, sizes, axes = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    basis: FloatArray = axes[sizes > 1e-10 * sizes[0]].T
    return basis


def error_of(part: Split, k: int, components: FloatArray | None = None) -> float:
    """The share of the test part that kNN gets wrong after x -> L x; a tie goes to the nearest of the tied classes."""
    X, X_test = part.X, part.X_test
    if components is not None:
        X, X_test = X @ components.T, X_test @ components.T
    classes, codes = np.unique(part.y, return_inverse=True)
    rows = np.arange(len(X), len(X) + len(X_test))
    near = k_nearest(np.concatenate([X, X_test]), rows, np.arange(len(X)), k)[0]
    return float(np.mean(classes[majority(codes[near], len(classes))] != part.y_test))


def inner(part: Split, seed: int) -> Split:
    """75 % of the training part to learn from, 25 % to choose by, stratified."""
    X, X_test, y, y_test = train_test_split(
        part.X, part.y, test_size=0.25, random_state=seed, stratify=part.y
    )
    return Split(X, y, X_test, y_test)


def fit(method: str, k: int, part: Split, seed: int, settings: dict[str, Any]) -> Fit:
    """The metric of a method from the training part; the test part is not looked at."""
    if method == "Euclidean":
        return Fit(np.eye(part.X.shape[1]), {})
    small = inner(part, seed)
    facts: dict[str, Any] = {}
    if method in OURS:
        diagonal = np.diag(np.sqrt(weights(small)))
        facts["start"] = "ReliefF" if error_of(small, k, diagonal) < error_of(small, k) else "zero"
    given = {**settings, **facts}
    # all three of ours have the C that SGD is given: they minimise the same F
    tried = GAMMAS if method == "ITML" else settings["c"] if method in OURS else (1.0,)
    weight = float(tried[0])
    if len(tried) > 1:
        chooser = "SGD" if method in OURS else method
        errors = [error_of(small, k, learnt(chooser, k, w, small, seed, given).components) for w in tried]
        weight = float(tried[int(np.argmin(np.round(errors, 12)))])
    rows = settings["rows"].get(method)
    if rows is not None and rows < len(part.X):
        part = part._replace(**dict(zip("Xy", datasets.subsample(part.X, part.y, rows, seed), strict=True)))
    made = learnt(method, k, weight, part, seed, given)
    return Fit(made.components, {**facts, "weight": weight, **made.facts})


def learnt(method: str, k: int, weight: float, part: Split, seed: int, settings: dict[str, Any]) -> Fit:
    """The metric from all of the training part: weight is gamma of ITML, and c of C = c / (n s^4) of our own."""
    basis = range_of(part.X)
    X, y = part.X @ basis, np.unique(part.y, return_inverse=True)[1]
    if method not in OURS:
        L, facts = relative(method, weight, X, y)
    else:
        p = problem(X, y, k, weight)
        W = np.zeros((p.X.shape[1],) * 2)
        if settings["start"] == "ReliefF":
            W = rescaled(p, point_at(p, project_psd(basis.T @ (weights(part)[:, None] * basis)))).W
        if method == "CCCP":
            W, facts = by_cccp(p, W, settings["steps"])
        else:
            W, facts = by_sgd(p, W, seed, settings["epochs"], printed_inference=method == "SGD printed")
        L = components_of(W)
    return Fit(L @ basis.T, facts)


def problem(X: FloatArray, y: IntArray, k: int, c: float) -> Instance:
    """C = c / (n s^4), s^2 the mean squared norm of the centred points: c means the same at every n and scale."""
    square = float(np.sum((X - X.mean(axis=0)) ** 2)) / len(X)
    return instance(X, y, n_neighbors=k, C=c / (len(X) * square**2))


def weights(part: Split) -> FloatArray:
    """ReliefF's, of the features as they are given."""
    classes, codes = np.unique(part.y, return_inverse=True)
    return relieff(part.X, codes, len(classes))


def by_cccp(p: Instance, W: FloatArray, steps: int) -> tuple[FloatArray, dict[str, Any]]:
    """The certified solver, with exact inference."""
    given: dict[str, Any] = {"n_neighbors": p.k, "C": p.C, "init": W if W.any() else "zero"}
    solution = cvxml.solve("ssvm", p.X, p.y, **given, tol=TOL, max_iter=steps)
    step = solution.certificate.step
    assert step is not None
    return solution.metric, {
        "F": float(solution.certificate.objective) / (p.C * len(p.X)),
        "rel_gap": float(step.gap / step.scale) if step.scale else 0.0,
        "proved": bool(solution.certificate.proves(TOL)),
        "status": solution.status.name,
        "steps": solution.n_iter,
    }


def by_sgd(
    p: Instance, W: FloatArray, seed: int, epochs: int, printed_inference: bool
) -> tuple[FloatArray, dict[str, Any]]:
    """Algorithm 1 with the corrected step; the metric of least F after an epoch."""
    size = max(1, len(p.X) // BATCHES)
    run = sgd(p, W, epochs, size, random_state=seed, printed_inference=printed_inference)
    return run.W, {
        "F": min(run.F) / (p.C * len(p.X)),
        "steps": epochs,
        "missed": missed(p, run.W),
    }


def missed(p: Instance, W: FloatArray) -> dict[str, float]:
    """The share of points for which Algorithm 2 finds a dearer h* than the best, and Algorithm 3 a lesser S + Delta."""
    near = nearest(p.X, p.y, p.R, W, p.k)
    star, best = greedy.targeted(near, p.y).value, inference.targeted(near, p.y).value
    hat, worst = (
        greedy.loss_augmented(near, p.y, p.Lam).value,
        inference.loss_augmented(near, p.y, p.Lam).value,
    )
    return {
        "h_star": float(np.mean(star > best + 1e-9 * np.abs(best))),
        "h_hat": float(np.mean(hat < worst - 1e-9 * (1 + np.abs(worst)))),
    }


def relative(method: str, gamma: float, X: FloatArray, y: IntArray) -> tuple[FloatArray, dict[str, Any]]:
    """LMNN, ITML or NCA: components, and what the certificate says."""
    metric: Any
    if method == "ITML":
        metric = cvxml.ITML(gamma, tol=TOL).fit(X, pairs=some_pairs(y))
    elif method == "LMNN":
        metric = cvxml.LMNN(n_neighbors=TARGETS, tol=TOL).fit(X, y)
    else:
        metric = cvxml.NCA(max_iter=NCA_STEPS).fit(X, y)
    solution = metric.solution_
    proved = bool(solution.certificate.proves(metric.tol))
    facts = {"proved": proved, "status": solution.status.name, "steps": int(solution.n_iter)}
    if method != "NCA":
        facts["rel_gap"] = float(solution.rel_gap)
    return metric.components_, facts
