"""What the paper's own method learns from a training part for one k: one C, one start, several ways down."""

from __future__ import annotations

from time import process_time
from typing import Any

import numpy as np

import cvxml
from cvxml.core.metric import FloatArray, components_of, project_psd
from cvxml.methods.ssvm import inference
from cvxml.methods.ssvm.instance import Instance, instance
from cvxml.methods.ssvm.nearest import nearest
from cvxml.methods.ssvm.point import point_at, rescaled
from cvxml.methods.ssvm.relieff import relieff
from cvxml.methods.ssvm.study import greedy
from cvxml.methods.ssvm.study.sgd import sgd
from validation.experiments.splits import Split
from validation.experiments.table1_others import choose, inner, range_of
from validation.experiments.table1_regularized import REGULARIZERS, regularized_sgd
from validation.experiments.vote import error_of, facts_of

STEP_GAIN = 1e-4  # of CCCP: what the metric's own step may still gain, over ||W||^2
ARRIVED = 1e-3  # SGD has reached the F of CCCP where it is no more than this above it, relatively
NEXT_TO_0 = 1e-10  # ||W||^2 over F of a start that is 0 but for its direction
STARTS = ("ReliefF", "zero", "Euclid")


def fit_ours(k: int, part: Split, seed: int, settings: dict[str, Any]) -> dict[str, Any]:
    """of: name -> errors and facts of each metric; beside it the start and the c that all of them have.

    The start is ReliefF's diagonal where it is better than Euclid on a quarter of the training part, else zero, and c
    that of least error of SGD there. The test part is only counted.
    """
    small, rule = inner(part, seed), settings["ties"]
    plain, scaled = (error_of(small, k, L, rule) for L in (None, np.diag(np.sqrt(weights(small)))))
    start = "ReliefF" if scaled < plain else "zero"

    def error_at(c: float) -> dict[str, float]:
        p, basis = problem(small, k, c)
        W = by_sgd(p, started(p, basis, small, start), seed, settings, settings["choosing"])[0]
        return {"c": error_of(small, k, components_of(W) @ basis.T, rule)}

    chosen = choose(error_at, settings["c"], 10.0, settings["further"])["c"]
    p, basis = problem(part, k, chosen.weight)
    found: dict[str, Any] = {}

    def keep(name: str, W: FloatArray, facts: dict[str, Any], since: float) -> None:
        seconds = round(process_time() - since, 3)
        facts = {**facts, "fit_seconds": seconds}
        found[name] = {**facts_of(part, (k,), rule, components_of(W) @ basis.T), **facts}

    begun: dict[str, FloatArray] = {}
    for each in (start, *(name for name in STARTS if settings["starts"] and name != start)):
        since = process_time()
        name = "CCCP" if each == start else f"CCCP from {each}"
        begin = started(p, basis, part, each)
        # where no multiple of Euclid is better than 0, it is the start called zero, and has been run
        same = next((other for other, W in begun.items() if np.array_equal(W, begin)), None)
        if same is None:
            begun[name] = begin
            keep(name, *by_cccp(p, begin, settings["steps"]), since)
        else:
            found[name] = found[same]
    F = found["CCCP"]["F"]
    for name in ("SGD", "SGD printed"):
        since = process_time()
        W, facts = by_sgd(
            p,
            started(p, basis, part, start),
            seed,
            settings,
            settings["epochs"],
            F * (1 + ARRIVED),
            "printed" in name,
        )
        arrived = facts["F"] <= F * (1 + ARRIVED)
        keep(name, W, {**facts, "arrived": arrived, "missed": missed(p, W)}, since)
    if settings["regularizers"]:
        for name in REGULARIZERS:
            since = process_time()
            keep(f"SGD, {name}", *regularized(name, k, part, small, seed, settings), since)
    return {"start": start, "weight": chosen.weight, "edge": chosen.edge, "of": found}


def regularized(
    name: str, k: int, part: Split, small: Split, seed: int, settings: dict[str, Any]
) -> tuple[FloatArray, dict[str, Any]]:
    """Another regularizer, with a c of its own, chosen in the same way; from the start called zero."""
    regularizer, rule = REGULARIZERS[name], settings["ties"]

    def learnt(given: Split, c: float, epochs: int) -> tuple[FloatArray, FloatArray, list[float]]:
        p, basis = problem(given, k, c, regularizer.power)
        size, W = max(1, len(p.X) // settings["batches"]), started(p, basis, given, "zero")
        W, objectives = regularized_sgd(p, W, regularizer, epochs, size, seed)
        return W, basis, objectives

    def error_at(c: float) -> dict[str, float]:
        W, basis, _ = learnt(small, c, settings["choosing"])
        return {"c": error_of(small, k, components_of(W) @ basis.T, rule)}

    chosen = choose(error_at, settings["c"], 10.0, settings["further"])["c"]
    W, _, objectives = learnt(part, chosen.weight, settings["epochs"])
    return W, {"weight": chosen.weight, "edge": chosen.edge, "steps": len(objectives) - 1}


def problem(part: Split, k: int, c: float, power: int = 4) -> tuple[Instance, FloatArray]:
    """The problem in the range of the training points, and that range (d, r).

    C = c / (n s^power), s^2 the mean squared norm of the centred points: c means the same at every n and scale.
    """
    basis = range_of(part.X)
    X, y = part.X @ basis, np.unique(part.y, return_inverse=True)[1]
    square = float(np.sum((X - X.mean(axis=0)) ** 2)) / len(X)
    return instance(X, y, n_neighbors=k, C=c / (len(X) * square ** (power / 2))), basis


def started(p: Instance, basis: FloatArray, part: Split, start: str) -> FloatArray:
    """A start in the range of the training points, at the multiple of least F.

    Where that is 0, at one next to it, which says what the nearest sets are: at 0 all tie. "zero" is next to 0 in the
    direction of Euclid.
    """
    diagonal = weights(part) if start == "ReliefF" else np.ones(part.X.shape[1])
    at = point_at(p, project_psd(basis.T @ (diagonal[:, None] * basis)))
    best = rescaled(p, at)
    if start != "zero" and best.norm2 > NEXT_TO_0 * best.F:
        return best.W
    small: FloatArray = at.W * np.sqrt(NEXT_TO_0 * best.F / at.norm2)
    return small


def weights(part: Split) -> FloatArray:
    """ReliefF's, of the features as they are given."""
    classes, codes = np.unique(part.y, return_inverse=True)
    return relieff(part.X, codes, len(classes))


def by_cccp(p: Instance, W: FloatArray, steps: int) -> tuple[FloatArray, dict[str, Any]]:
    """The certified solver, with exact inference."""
    given: dict[str, Any] = {"n_neighbors": p.k, "C": p.C, "init": W}
    solution = cvxml.solve("ssvm", p.X, p.y, **given, tol=STEP_GAIN, max_iter=steps)
    step = solution.certificate.step
    assert step is not None
    return solution.metric, {
        "F": float(solution.certificate.objective) / (p.C * len(p.X)),
        "rel_gap": float(step.gap / step.scale) if step.scale else 0.0,
        "proved": bool(solution.certificate.proves(STEP_GAIN)),
        "status": solution.status.name,
        "steps": solution.n_iter,
    }


def by_sgd(
    p: Instance,
    W: FloatArray,
    seed: int,
    settings: dict[str, Any],
    epochs: int,
    target: float = -np.inf,
    printed_inference: bool = False,
) -> tuple[FloatArray, dict[str, Any]]:
    """Algorithm 1 with the corrected step; the metric of least F after an epoch. target: F / (C n) that is enough."""
    size, total = max(1, len(p.X) // settings["batches"]), p.C * len(p.X)
    run = sgd(
        p, W, epochs, size, random_state=seed, printed_inference=printed_inference, target=target * total
    )
    return run.W, {"F": min(run.F) / total, "steps": len(run.F) - 1}


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
