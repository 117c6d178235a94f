"""GLML (Noh et al.): Fig. 3 of 2010 and Fig. 5 of 2018, (b) to (h): accuracy against training points a class."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from validation.experiments.glml_claims import SHARED
from validation.experiments.glml_data import PANELS, Realisation, realisation
from validation.experiments.glml_methods import (
    ALPHAS,
    FINAL,
    FOLDS,
    GAMMAS,
    GRIDS,
    LEARNT,
    MAY_HAVE_NONE,
    PROVED,
    SELECT,
    SIMILAR,
    SUBSET,
    Found,
    generative,
    learnt,
)
from validation.experiments.glml_report import draw, tables
from validation.experiments.quoted import QUOTED
from validation.experiments.tasks import Preset, Result, Task

__all__ = ["PRESETS", "TITLE", "WHAT", "draw", "measure", "tables", "tasks"]

TITLE = "GLML: accuracy by the number of training points (Noh et al., Fig. 3 of 2010 and Fig. 5 of 2018, (b) to (h))"


def listed(values: Iterable[float]) -> str:
    """Numbers in a row."""
    return ", ".join(f"{value:g}" for value in values)


FIRST, SECOND = (f"{QUOTED['waveform'][which]:.1f}" for which in ("class 1", "class 2"))
WHAT = f"""
The same number of points of each class to train on, at random, the others to test; a larger training part contains the
smaller. Sizes are the marks of the papers' axes. Panel (a), synthetic data, is in `validation/glml_synthetic.md`;
TI46, panel (i), is not at hand. BoostMetric and PLML, which are in the papers' figures, are not run here yet.

The papers print curves and no numbers, so their sentences are tested: two methods are told apart where a paired t-test
over the realisations does so at the 95 % level. For waveform and twonorm, drawn anew, it is a test for new points; for
the others one of the means over all ways of drawing the training part from these very points, and of new points it
says too much. *Most*, *many* and *often* are taken as half; *poor* is worse than Euclid. A * marks a claim that does
not hold so. Beside the accuracies stand the marks of the papers' axes, grey in the picture, which say where their
curves lie.

The papers leave open what is said here. Features are as they come, without any scaling (german and image are stored
standardised): with raw features Euclid on wine begins where their axis does, at 70 %; z-scored it is above 90 %. What
is left to test has another mix of classes than the set, so the accuracies of the classes are weighted by their shares
in the whole set. waveform and twonorm are drawn anew for each realisation, 5000 and 7400 points, as many as in the IDA
benchmark. Its waveform has two classes, one of the three against the others. Ours is the class that mixes the first and
the third triangle: an SVM with 400 training points errs there in {FIRST} %, next to the 9.9 % known of the benchmark
(Raetsch, Onoda, Mueller 2001), and in {SECOND} % for the class of the second and third (`looks.py`). USPS is resized by
means of 2 x 2 pixels; ours has 708 points in its least class, so sizes end at 500, and not at 1000.

Parameters are chosen by {FOLDS} folds of the training part of each realisation, its first {SUBSET} points at most:
for GLML alpha among {listed(ALPHAS)} and gamma among {listed(GAMMAS)}; Fisher and Bayes have the
same alpha. *Fisher* is the local metric of the mixture of the classes' Gaussians; *Fisher, one Gaussian* has a single
one for all classes, as the papers put it, and is then one metric everywhere, the inverse covariance. *Bayes* is the
rule of the fitted Gaussians, with equal priors as in the papers. LMNN: 3 targets, mu = 0.5. ITML: 20 C^2 similar and
20 C^2 dissimilar pairs of C classes at random, bounds at the 5th and 95th percentile, gamma among
{listed(GRIDS["ITML"])}. DML-eig: similar are a point and its {SIMILAR} nearest of its class, dissimilar a
point and its k nearest of the other classes, k among {listed(GRIDS["DML-eig"])}; where classes differ in a direction in
which no similar pair does, it need not have a maximum (*none*). These three are learnt on the span of the training
points, for four features of image follow from others. Certified relative gaps: {SELECT:g} while parameters are chosen,
{FINAL:g} of the metric that is tested; GLML, in closed form, is certified at the first {PROVED} test points.
"""
BOTH = (*LEARNT, SHARED)

ALL = ("image_ida", "usps 8x8", "waveform", "twonorm", "german_ida", "ionosphere", "wine")
PRESETS = {
    "small": Preset(
        ("twonorm", "waveform", "wine"),
        3,
        {"test": 500, "sizes": {"twonorm": (50, 100), "waveform": (50, 100), "wine": (10, 40)}},
        (
            "three sets of seven, those of this package or scikit-learn",
            "3 realisations",
            "at most 100 training points a class, and 500 points to test",
        ),
    ),
    "reduced": Preset(
        ALL,
        20,
        {
            "test": 2000,
            "realisations": {"wine": 100},
            "largest": {
                "LMNN": {"waveform": 500, "twonorm": 500, "usps 8x8": 0},
                "DML-eig": {"usps 8x8": 0},
            },
        },
        (
            "20 realisations of 100, for wine 100 of 200 (twonorm 20 and USPS 10 as in the papers)",
            "LMNN up to 500 points a class for waveform and twonorm",
            "USPS: neither LMNN (4 minutes a solve for 500 digits of 64 features) nor DML-eig (a minute at 100 a "
            "class; the paper of 2018, too, leaves it out)",
            "USPS: of the points that are left 2000 are tested",
        ),
        remarks=True,
    ),
    "full": Preset(ALL, 200),
}


def tasks(preset: Preset) -> list[Task]:
    """A task for every data set, realisation and learnt metric, and one for all that need no solver; by `ALL`."""
    made = []
    for data in sorted(preset.data, key=ALL.index):
        sizes = preset.settings.get("sizes", {}).get(data, PANELS[data].sizes)
        count = preset.settings.get("realisations", {}).get(data, preset.splits)
        for method in BOTH:
            most = preset.settings.get("largest", {}).get(method, {}).get(data, sizes[-1])
            settings = {
                "sizes": [size for size in sizes if size <= most],
                "largest": sizes[-1],
                "test": preset.settings.get("test"),
            }
            if settings["sizes"]:
                made += [
                    Task(data, method, split, settings)
                    for split in range(min(count, PANELS[data].realisations))
                ]
    return made


def measure(task: Task) -> Result:
    """{"sizes": [...], "methods": {name: {"accuracy", "gap", "status", "chosen"}}}, lists by size.

    An entry is null where it does not apply, and an accuracy where the method has no metric.
    """
    sizes: list[int] = task.settings["sizes"]
    drawn = realisation(task.data, task.split, task.settings["largest"], task.settings["test"])
    methods: dict[str, dict[str, list[Any]]] = {}
    for size in sizes:
        for name, found in results_at(task, drawn, size).items():
            kept = methods.setdefault(name, {"accuracy": [], "gap": [], "status": [], "chosen": []})
            kept["accuracy"].append(None if found is None else drawn.accuracy(found.predicted))
            kept["gap"].append(None if found is None else found.gap)
            kept["status"].append(None if found is None else found.status)
            kept["chosen"].append(None if found is None else list(found.chosen))
    return {"sizes": list(sizes), "methods": methods}


def results_at(task: Task, drawn: Realisation, size: int) -> Mapping[str, Found | None]:
    """What each method of the task finds with `size` training points a class; None where it has no metric."""
    X, y = drawn.training(size)
    if task.method == SHARED:
        return generative(X, y, drawn.X_test)
    try:
        return {task.method: learnt(task.method, X, y, drawn.X_test, task.split)}
    except ValueError:
        if task.method not in MAY_HAVE_NONE:
            raise
        return {task.method: None}
