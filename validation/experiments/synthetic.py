"""GLML (Noh et al.): Fig. 3a of 2010, Fig. 5a and Fig. 6 of 2018: data that are drawn, by dimension; a wrong model."""

from __future__ import annotations

from typing import Any

import numpy as np

from cvxml.core.metric import FloatArray, IntArray
from validation.experiments import glml_learnt, glml_methods
from validation.experiments.glml import measured
from validation.experiments.glml_claims import WORDS as GLML
from validation.experiments.glml_data import Realisation
from validation.experiments.glml_methods import MIXTURES
from validation.experiments.synthetic_report import (
    MIXTURE,
    WORDS,
    dimension,
    draw,
    named,
    parts,
    sets_said,
    short,
)
from validation.experiments.tasks import Preset, Result, Task

POINTS = 500  # to train on, and as many to test
EIGENVALUES = (0.1, 2.0)  # of covariances, uniform
CENTRES = np.array([[[-3, 0], [0, 0.8], [3, 0]], [[-3, 1.6], [0, -0.8], [3, 1.6]]], dtype=float)
SPREAD = np.array([0.8, 0.3])  # of a Gaussian of the mixtures, in the first two dimensions


def centres(c: int) -> str:
    """Those of a class of the mixtures."""
    return ", ".join(f"({x:g}, {y:g})" for x, y in CENTRES[c])


DIMENSIONS = (5, 20, 50, 100)  # the marks of the axis of 2010
HIGH = 50  # dimensions from which grids end where they end, and the dearest methods are left out
DRAWN = (MIXTURE, *map(named, DIMENSIONS))
DEAREST = ("PLML", "BoostMetric", MIXTURES)
TITLE, QUESTION, PRESETS = WORDS("title"), WORDS("question"), WORDS.presets()
EACH, DEPARTURES = WORDS("each"), WORDS.found["departures"]
WHAT = WORDS(
    "setting",
    **(vars(glml_methods) | vars(glml_learnt) | globals()),  # the constants of these modules
    places=[centres(c) for c in range(2)],
    alphas=len(glml_methods.ALPHAS),
    gammas=len(glml_methods.GAMMAS) - 1,
    parameters=GLML("parameters"),
)

__all__ = [
    "DEPARTURES",
    "DRAWN",
    "EACH",
    "PRESETS",
    "QUESTION",
    "TITLE",
    "WHAT",
    "draw",
    "measure",
    "parts",
    "sets_said",
    "short",
    "tasks",
]


def tasks(preset: Preset) -> list[Task]:
    """A task for every set, realisation and method, in rounds of a realisation of all sets."""
    return [
        Task(data, method, split, settings_of(preset, data))
        for split in range(preset.splits)
        for data in preset.data
        for method in preset.settings["methods"]
        if dimension(data) < HIGH or method not in DEAREST
    ]


def settings_of(preset: Preset, data: str) -> dict[str, Any]:
    """The number of points of a class, and how often a grid may go on, where it may."""
    on = {"further": preset.settings["further"]} if dimension(data) < HIGH else {}
    return {"sizes": [POINTS // 2], **on}


def measure(task: Task) -> Result:
    """As that of `glml`."""
    return measured(task, realisation(task.data, task.split))


def realisation(data: str, seed: int) -> Realisation:
    """Half to train on and half to test, of each class."""
    X, y = mixtures(seed) if data == MIXTURE else gaussians(seed, dimension(data))
    (X, Q), (y, q) = np.split(X, 2), np.split(y, 2)
    return Realisation([X[y == c] for c in range(2)], Q, q, np.array([0.5, 0.5]))


def gaussians(seed: int, d: int, n: int = 2 * POINTS) -> tuple[FloatArray, IntArray]:
    """Points (n, d) of two Gaussians, the classes (n,) taking turns."""
    rng = np.random.default_rng([seed, d])
    y = np.arange(n) % 2
    X = rng.standard_normal((n, d))
    for c in range(2):
        turn = np.linalg.qr(rng.standard_normal((d, d)))[0]
        root = (turn * np.sqrt(rng.uniform(*EIGENVALUES, d))) @ turn.T
        X[y == c] = X[y == c] @ root + c / np.sqrt(d)
    return X, y


def mixtures(seed: int, n: int = 2 * POINTS) -> tuple[FloatArray, IntArray]:
    """Points (n, 5) of two mixtures of three Gaussians, the classes (n,) taking turns."""
    rng = np.random.default_rng([seed, 63])
    y = np.arange(n) % 2
    part = rng.integers(3, size=n)
    X = rng.standard_normal((n, dimension(MIXTURE)))
    X[:, :2] = CENTRES[y, part] + X[:, :2] * SPREAD
    return X, y
