"""GLML (Noh et al.): Fig. 3a of 2010, Fig. 5a and Fig. 6 of 2018: data that are drawn, by dimension; a wrong model."""

from __future__ import annotations

from typing import Any

import numpy as np

from cvxml.core.metric import FloatArray, IntArray
from validation.experiments.glml import listed, measured
from validation.experiments.glml_data import Realisation
from validation.experiments.glml_learnt import ANCHORS, CLOSED, LEARNT, PARAMETERS
from validation.experiments.glml_methods import ALPHAS, COMPONENTS, FITTED, FOLDS, GAMMAS, MIXTURES, SHARED
from validation.experiments.synthetic_report import MIXTURE, dimension, draw, named, parts, short
from validation.experiments.tasks import Preset, Result, Task

__all__ = ["DRAWN", "PRESETS", "QUESTION", "TITLE", "WHAT", "draw", "measure", "parts", "short", "tasks"]

TITLE = "GLML on synthetic data (Noh et al., Fig. 3a of 2010, Fig. 5a and Fig. 6 of 2018)"
QUESTION = (
    "Does the lead of GLML over other metrics grow with the dimension if classes are Gaussian? Does GLML still help "
    "if they are not?"
)
POINTS = 500  # to train on, and as many to test
EIGENVALUES = (0.1, 2.0)  # of covariances, uniform
CENTRES = np.array([[[-3, 0], [0, 0.8], [3, 0]], [[-3, 1.6], [0, -0.8], [3, 1.6]]], dtype=float)
SPREAD = np.array([0.8, 0.3])  # of a Gaussian of the mixtures, in the first two dimensions


def centres(c: int) -> str:
    """Those of a class of the mixtures."""
    return ", ".join(f"({x:g}, {y:g})" for x, y in CENTRES[c])


WHAT = f"""
**Setting.** The tables show the accuracy of 1-NN in per cent, over 20 realisations. Each realisation has {POINTS}
points to train on, half of each class, and {POINTS} to test. ± and the bars of the picture are the standard error of
the mean over the realisations. The papers have these numbers of points and realisations for Fig. 5a (3a of 2010), and
give neither for Fig. 6. The papers print curves and no numbers, and they do not give the means and covariances of
their data. So our data are only of the same kind as theirs.

**Data.**

- *gaussians D*: two classes in D dimensions, with means 0 and (1, ..., 1) / sqrt(D). The means are fixed, at distance
  1 for every D. Covariances have random orthogonal eigenvectors, and eigenvalues uniform on [{EIGENVALUES[0]:g},
  {EIGENVALUES[1]:g}].
- *mixtures*: five dimensions. In the first two, each class has three Gaussians of equal weight, with centres
  {centres(0)} and {centres(1)}, and standard deviations {SPREAD[0]:g} and {SPREAD[1]:g} along the two axes. The other
  three dimensions are noise of unit variance. The methods still fit a single Gaussian to each class.

**Methods.** The methods and the choice of their parameters are those of the experiment `glml`: {FOLDS} folds of the
training points of each realisation. GLML: alpha among {len(ALPHAS)} powers of ten from {ALPHAS[0]:g}, gamma 0 or
among {len(GAMMAS) - 1} from {GAMMAS[1]:g}. LMNN: 3 targets, and mu / (1 - mu). ITML: gamma. PLML: alpha2 with
{ANCHORS} anchors. DML-eig: the number of dissimilar neighbours. BoostMetric: s. If the first or the last value of a
grid is the best, the grid is extended, as often as the preset allows.

*Fisher* is the local metric of the mixture of the classes' Gaussians. *Fisher, one Gaussian* has a single Gaussian
for all classes, as in the papers, and is the same everywhere. *{MIXTURES}* has {COMPONENTS[0]} or {COMPONENTS[1]}
Gaussians for each class, which the papers name as an extension. *Bayes* is the rule of the fitted Gaussians. These
three, Fisher in both forms and Bayes, have the grid of GLML's alpha, and each takes the value that suits itself best.

The paper on PLML was not at hand: every figure and verdict on PLML rests on our reading of its first problem
(docs/plml.md).

**Parameters.** {PARAMETERS.strip()}
"""

DIMENSIONS = (5, 20, 50, 100)  # the marks of the axis of 2010
HIGH = 50  # dimensions from which grids end where they end, and the dearest methods are left out
DRAWN = (MIXTURE, *map(named, DIMENSIONS))
DEAREST = ("PLML", "BoostMetric", MIXTURES)
FURTHER = 2  # times that a grid may go on at either end
PRESETS = {
    "small": Preset(
        (named(5), MIXTURE),
        2,
        {"methods": (SHARED, FITTED, "ITML", "DML-eig"), "further": 0},
        ("five dimensions only", "2 realisations", "two of the learnt metrics", "grids do not go on"),
    ),
    "full": Preset(
        DRAWN,
        20,
        {"methods": (SHARED, FITTED, *LEARNT, MIXTURES), "further": FURTHER},
        (
            f"for D of {HIGH} or more neither PLML nor {MIXTURES} nor BoostMetric, whose steps are systems of "
            "D (D + 1) / 2 equations",
            f"grids go on {FURTHER} times at most",
            f"for D of {HIGH} or more they do not: gamma of ITML among {listed(CLOSED['ITML'])}, k of DML-eig among "
            f"{listed(CLOSED['DML-eig'])}; LMNN with mu = 0.5",
        ),
    ),
}


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
