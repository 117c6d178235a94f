"""What the paper's own method learns from a training part for one k: one C, one start, several ways down."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import process_time
from typing import Any, NamedTuple

import numpy as np

import cvxml
from cvxml.core.metric import FloatArray, components_of, project_psd
from cvxml.methods.ssvm import algorithms, inference
from cvxml.methods.ssvm.algorithms import sgd
from cvxml.methods.ssvm.inference import nearest, point_at, rescaled
from cvxml.methods.ssvm.instance import Instance, instance
from cvxml.methods.ssvm.solver import relieff
from validation.experiments.splits import Split
from validation.experiments.table1_others import choose, inner, range_of
from validation.experiments.table1_regularized import (
    BY_CCCP,
    BY_SGD,
    REGULARIZERS,
    cccp_around_I,
    regularized_sgd,
)
from validation.experiments.vote import error_of, facts_of

STEP_GAIN = 1e-4  # of CCCP: what the metric's own step may still gain, over ||W||^2
AROUND_GAIN = 1e-5  # the same with ||W - I||^2, over ||I||^2
# SGD has reached the F of CCCP where so much of it, and of what CCCP wins over W = 0, is missing
ARRIVED = 1e-3
NEXT_TO_0 = 1e-10  # ||W||^2 over F of a start that is 0 but for its direction
STARTS = ("ReliefF", "zero", "Euclid")

Made = tuple[FloatArray, dict[str, Any]]  # a metric and what is said of it


class Trial(NamedTuple):
    """What all metrics of a training part have: the quarter to choose by, the start and the c chosen there."""

    k: int
    part: Split
    small: Split
    seed: int
    settings: dict[str, Any]
    start: str
    c: float

    @property
    def rule(self) -> str:
        """That of ties of votes."""
        return str(self.settings["ties"])

    def kept(self, basis: FloatArray, make: Callable[[], Made]) -> dict[str, Any]:
        """The errors and facts of a metric in the range `basis`, with the seconds that it takes to make."""
        since = process_time()
        W, facts = make()
        seconds = round(process_time() - since, 3)
        found = facts_of(self.part, (self.k,), self.rule, components_of(W) @ basis.T)
        return {**found, **facts, "fit_seconds": seconds}


Solve = Callable[[Trial, str, Instance, FloatArray, int], Made]


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
    trial = Trial(k, part, small, seed, settings, start, chosen.weight)
    found = from_starts(trial)
    found |= descended(trial, found["CCCP"]["F"])
    if settings["regularizers"]:
        found |= regularized(trial)
    return {"start": start, "weight": chosen.weight, "edge": chosen.edge, "of": found}


def from_starts(trial: Trial) -> dict[str, dict[str, Any]]:
    """CCCP from the start that was chosen, and from the others where the settings say so."""
    p, basis = problem(trial.part, trial.k, trial.c)
    found: dict[str, dict[str, Any]] = {}
    begun: dict[str, FloatArray] = {}
    for each in (trial.start, *(name for name in STARTS if trial.settings["starts"] and name != trial.start)):
        name = "CCCP" if each == trial.start else f"CCCP from {each}"
        begin = started(p, basis, trial.part, each)
        # where no multiple of Euclid is better than 0, it is the start called zero, and has been run
        same = next((other for other, W in begun.items() if np.array_equal(W, begin)), None)
        if same is None:
            begun[name] = begin
            found[name] = trial.kept(basis, partial(by_cccp, p, begin, trial.settings["steps"]))
        else:
            found[name] = found[same]
    return found


def descended(trial: Trial, F: float) -> dict[str, dict[str, Any]]:
    """SGD until it has arrived at this F / (C n), that of CCCP; and from W = I itself, where starts are compared."""
    p, basis = problem(trial.part, trial.k, trial.c)
    begin, enough = started(p, basis, trial.part, trial.start), F + ARRIVED * min(F, 1 - F)
    plans = {"SGD": (begin, False), "SGD printed": (begin, True)}
    if trial.settings["starts"]:
        plans["SGD from I"] = (np.eye(len(begin)), False)

    def made(W: FloatArray, printed: bool) -> Made:
        W, facts = by_sgd(p, W, trial.seed, trial.settings, trial.settings["epochs"], enough, printed)
        return W, {**facts, "arrived": facts["F"] <= enough, "missed": missed(p, W)}

    return {name: trial.kept(basis, partial(made, *plan)) for name, plan in plans.items()}


def regularized(trial: Trial) -> dict[str, dict[str, Any]]:
    """Other regularizers, and ||W||^2 beside them, each with a c of its own, from the start called zero."""
    found = {f"SGD, {name}": of_regularizer(trial, by_steps, name) for name in BY_SGD}
    return {**found, f"CCCP, {BY_CCCP}": of_regularizer(trial, around_I, BY_CCCP)}


def of_regularizer(trial: Trial, solve: Solve, name: str) -> dict[str, Any]:
    """c is chosen as it is for ||W||^2, by the same solver."""
    settings = trial.settings

    def given(part: Split, c: float) -> tuple[Instance, FloatArray, FloatArray]:
        p, basis = problem(part, trial.k, c, REGULARIZERS[name].power)
        return p, basis, started(p, basis, part, "zero")

    def error_at(c: float) -> dict[str, float]:
        p, basis, W = given(trial.small, c)
        W, _ = solve(trial, name, p, W, settings["choosing"])
        return {"c": error_of(trial.small, trial.k, components_of(W) @ basis.T, trial.rule)}

    chosen = choose(error_at, settings["c"], 10.0, settings["further"])["c"]
    p, basis, W = given(trial.part, chosen.weight)
    found = trial.kept(basis, partial(solve, trial, name, p, W, settings["epochs"]))
    return {**found, "weight": chosen.weight, "edge": chosen.edge}


def by_steps(trial: Trial, name: str, p: Instance, W: FloatArray, epochs: int) -> Made:
    """By SGD. "falls": the share by which F_R fell in the second half of the epochs."""
    W, F = regularized_sgd(p, W, REGULARIZERS[name], epochs, batch_of(p, trial.settings), trial.seed)
    falls = 1 - min(F) / min(F[: epochs // 2 + 1])
    return W, {"F": min(F) / (p.C * len(p.X)), "falls": falls, "steps": epochs}


def around_I(trial: Trial, name: str, p: Instance, W: FloatArray, epochs: int) -> Made:
    """By CCCP, which has no epochs: to the end, also while c is chosen."""
    return cccp_around_I(p, W, AROUND_GAIN, trial.settings["steps"])


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
    size, total = batch_of(p, settings), p.C * len(p.X)
    run = sgd(
        p, W, epochs, size, random_state=seed, printed_inference=printed_inference, target=target * total
    )
    return run.W, {"F": min(run.F) / total, "steps": len(run.F) - 1}


def batch_of(p: Instance, settings: dict[str, Any]) -> int:
    """Points a step of SGD."""
    return max(1, len(p.X) // int(settings["batches"]))


def missed(p: Instance, W: FloatArray) -> dict[str, float]:
    """The share of points for which Algorithm 2 finds a dearer h* than the best, and Algorithm 3 a lesser S + Delta."""
    near = nearest(p.X, p.y, p.R, W, p.k)
    star, best = algorithms.targeted(near, p.y).value, inference.targeted(near, p.y).value
    hat, worst = (
        algorithms.loss_augmented(near, p.y, p.Lam).value,
        inference.loss_augmented(near, p.y, p.Lam).value,
    )
    return {
        "h_star": float(np.mean(star > best + 1e-9 * np.abs(best))),
        "h_hat": float(np.mean(hat < worst - 1e-9 * (1 + np.abs(worst)))),
    }
