"""GLML (Noh et al.): Fig. 3a of 2010, Fig. 5a and Fig. 6 of 2018: data that are drawn, by dimension; a wrong model."""

from __future__ import annotations

import numpy as np

from cvxml.core.metric import FloatArray, IntArray
from validation.experiments.glml import measured
from validation.experiments.glml_data import Realisation
from validation.experiments.glml_learnt import ANCHORS, LEARNT
from validation.experiments.glml_methods import ALPHAS, FOLDS, GAMMAS, SHARED
from validation.experiments.synthetic_report import MIXTURE, dimension, draw, named, tables
from validation.experiments.tasks import Preset, Result, Task

__all__ = ["DRAWN", "PRESETS", "TITLE", "WHAT", "draw", "measure", "tables", "tasks"]

TITLE = "GLML on synthetic data (Noh et al., Fig. 3a of 2010, Fig. 5a and Fig. 6 of 2018)"
POINTS = 500  # to train on, and as many to test
EIGENVALUES = (0.1, 2.0)  # of covariances, uniform
CENTRES = np.array([[[-3, 0], [0, 0.8], [3, 0]], [[-3, 1.6], [0, -0.8], [3, 1.6]]], dtype=float)
SPREAD = np.array([0.8, 0.3])  # of a Gaussian of the mixtures, in the first two dimensions
WHAT = f"""
Accuracy of 1-NN in per cent, with {POINTS} points to train on, half of each class, and {POINTS} to test, over 20
realisations, as in the papers. The papers print curves and no numbers of their data, so what is drawn is like theirs
in kind.

*gaussians D*: two classes in D dimensions, with means 0 and (1, ..., 1) / sqrt(D), and covariances of random orthogonal
eigenvectors and eigenvalues uniform on [{EIGENVALUES[0]:g}, {EIGENVALUES[1]:g}]; the means are fixed, 1 apart at every
D. *mixtures*: five dimensions, each class three Gaussians in the first two of them, with noise of unit variance in the
other three; a single Gaussian is fitted to each class all the same.

The methods, and how their parameters are chosen, are those of the experiment `glml`: by {FOLDS} folds of the training
points of each realisation. GLML: alpha among {len(ALPHAS)} powers of ten from {ALPHAS[0]:g}, gamma 0 or among
{len(GAMMAS) - 1} from {GAMMAS[1]:g}; LMNN: 3 targets, and mu / (1 - mu), ITML: gamma, PLML: alpha2 with {ANCHORS}
anchors, DML-eig: the number of dissimilar neighbours, BoostMetric: how far v is from where there is no optimum. Where
the first or the last value is the best, a grid goes on twice; for D of 50 or more it does not. *Fisher* is the local
metric of the mixture of the classes' Gaussians; *Fisher, one Gaussian* has one for all classes, as the papers say, and
is the same everywhere. *Bayes* is the rule of the fitted Gaussians.
"""

DIMENSIONS = (5, 20, 50, 100)  # the marks of the axis of 2010
HIGH = 50  # dimensions from which grids end, and the dearest methods are left out
DRAWN = (MIXTURE, *map(named, DIMENSIONS))
DEAREST = {"PLML": 20, "BoostMetric": 50}  # dimensions at most
PRESETS = {
    "small": Preset(
        (named(5), MIXTURE),
        2,
        {"methods": (SHARED, "ITML", "DML-eig"), "further": 0},
        ("five dimensions only", "2 realisations", "two of the learnt metrics", "grids do not go on"),
    ),
    "full": Preset(
        DRAWN,
        20,
        {"methods": (SHARED, *LEARNT), "further": 2},
        (
            "PLML up to 20 dimensions, BoostMetric, whose steps are systems of D (D + 1) / 2 equations, up to 50",
        ),
    ),
}


def tasks(preset: Preset) -> list[Task]:
    """A task for every set, realisation and method, in rounds of a realisation of all sets."""
    return [
        Task(data, method, split, {"sizes": [POINTS // 2], "further": further(preset, data)})
        for split in range(preset.splits)
        for data in preset.data
        for method in preset.settings["methods"]
        if dimension(data) <= DEAREST.get(method, dimension(data))
    ]


def further(preset: Preset, data: str) -> int:
    """How often a grid may go on."""
    given: int = preset.settings["further"]
    return given if dimension(data) < HIGH else 0


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
