"""NCA (Goldberger et al. 2004), experimental results: accuracy over 40 splits, at full rank and in the plane."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

import cvxml
from cvxml import datasets
from cvxml.core.metric import FloatArray, IntArray
from validation.experiments.nca_claims import (
    DIGITS,
    FULL,
    NEAR,
    OUR_CLASSES,
    PANELS,
    PLANE,
    SEPARATED,
    SHARE,
    SPLITS,
    TEST,
    TRAIN,
    Judged,
    by_less,
    lacking,
    of_panel,
    of_set,
    sets,
    summary,
)
from validation.experiments.nca_more import MORE, SIZE, STEPS, measured
from validation.experiments.nca_more_report import NAMED, SCALE, beyond, scale, sentences
from validation.experiments.nca_report import behind, descents, draw, figures
from validation.experiments.nca_starts import CHOICES, EQUAL, agreed, by_choice, chosen, start_of
from validation.experiments.page import Groups, Parts, Results, bullets, counted, grouped, number
from validation.experiments.splits import Split, shuffled, z_scored
from validation.experiments.tasks import Preset, Result, Task
from validation.experiments.verdicts import Verdict, legend, together

__all__ = ["PRESETS", "QUESTION", "TITLE", "WHAT", "draw", "measure", "parts", "short", "tasks"]

TITLE = "NCA: nearest neighbours at full rank and in the plane (Goldberger et al. 2004)"
QUESTION = (
    "Is 1-NN by NCA better than by other linear maps on training data, and at or near the top on test data, at full "
    "rank and in the plane?"
)
BINS = (18.8333, 23.7)  # of the target of housing: three classes of nearly the same size
UNSCALED = (DIGITS, "rings")
STARTS = {"NCA": ("auto", "likelihood"), "NCA 2": ("auto", "likelihood", "pca")}
WHAT = f"""
**Setting.** The tables show the accuracy of 1-NN in per cent after each linear map, fitted to the training part. 70 %
of the points are used to train, 30 % to test. ± is the standard error of the mean over the splits. The note mentions
KNN and gives no k. For USPS, {TRAIN} images of each digit are used to train, and {TEST} of each to test. The text
allows this reading, because there are at least 708 images of each digit. On training points the accuracy is the
leave-one-out accuracy. If several neighbours have the same distance, as in the grid of balance, the first in the
search is taken.

**Tests.** The note prints pictures and no numbers. So we test its sentences, each on the sets that it is about. One
sentence is about six sets, at full rank and in the plane, and one about the sets whose projections it draws. Two
methods are compared by a paired t-test over the splits, twice:

- *These points*: the mean over all splits of these very points, which is the average of the note.
- *New points*: other points from the same source. The splits share most of their points, so they give less evidence
  about new points (Nadeau and Bengio 2003). Added to the 1 / n of the variance of a mean over n splits is the number
  of test points divided by that of training points: .3 / .7, for USPS {TEST} / {TRAIN}. The same is added if a method
  learns from a share of the training part only. For accuracies on the training part, and differences from these, the
  two numbers change places, .7 / .3, which is much more cautious.

**Verdicts.** A comparison is *supported* or *contradicted* if it is significant at 5 % for all comparisons of a table
together (Holm). Otherwise it is *undecided*, which is not evidence for either side. A sentence about
all sets is contradicted if it is contradicted on one of them, and supported if it is supported on each. *where run*
means that sets or splits of the note's {SPLITS} are missing. *Near* the top means within {100 * NEAR:g} point of the
best. *Much* better separated means ahead by more than {100 * NEAR:g} point on the training part, which the note
draws. Behind contradicts it, and ahead by less is undecided. Intervals (95 %) are for new points, in points of a per
cent. *effect* is the mean difference in standard deviations over the splits.

**Starts.** f is not concave, and the note does not name its start. So each verdict is computed for three choices:
{"; ".join(CHOICES.values())}. If the verdict on a comparison depends on the choice, it is undecided.

**Decisions that the note leaves open:**

- *Features* are z-scored by the training part, except the pixels of USPS and the coordinates of the rings, which have
  one unit.
- *housing*: the note does not name its classes. Ours are MEDV <= {BINS[0]}, <= {BINS[1]} and above, so every verdict
  on housing is on our classes.
- *rings*: three in the plane, with a third coordinate of normal noise of standard deviation 4.
- *whitened* is the metric of the inverse covariance of all training points, *RCA* that of the covariance within
  classes. Both act on the span of the training points, because a feature of ionosphere is constant.
- *LDA* has one direction fewer than classes: one for ionosphere.
- *NCA* maximizes f from several starts (tol = 1e-5). The start with the best f on the training part is tested, the
  first of equal ones (to {10.0**-EQUAL:g} of f / n). *auto* is the package's default: the features themselves at full
  rank; in the plane LDA's directions if there are two, otherwise the leading principal ones. *likelihood* is the same
  after some steps of g. *pca* is used in the plane.
- The faces of the note are not among our data.

**Names.** *NCA* is the best start throughout, *NCA (auto)* this start alone. The preset *full* alone has more
methods; each NCA there is from the start *auto*:

- *g* maximizes the other criterion.
- *stopped* ends after {", ".join(map(str, STEPS))} steps or not at all: the number that is best on a quarter of the
  training part.
- *an eighth*, *a quarter* and *half* learn from that share of the training points and look for neighbours among them.
  Euclid does the same beside them.
- *MMC* is the metric of Xing et al. of all pairs; its gap is proved to 1e-4.
- *chunklets* is RCA of chunklets of {SIZE} points, without the classes.

**A consequence of the definition.** If a metric grows, f tends to the number of training points with a nearest
neighbour of their class (ties aside). So no metric of the allowed rank has a training accuracy above the supremum of
f / n. If a metric has a better training accuracy than NCA's, NCA has not found the global maximum.
"""

DEPENDS = (
    "These verdicts for these points depend on the choice of the start (first and last of the best f, *auto* alone). "
    "Above they are undecided, unless another comparison on the set contradicts the sentence for all three choices:"
)
ALL = ("usps", "balance", "housing", "ionosphere", "wine", "iris", "rings")
PRESETS = {
    "small": Preset(("wine", "iris", "rings"), 3, thinner=("3 splits of 40", "three sets of seven")),
    "reduced": Preset(
        ALL,
        SPLITS,
        {"splits": {"usps": 10}, "starts": {"usps": {"NCA": ("auto",)}}},
        thinner=("USPS: 10 splits of 40", "USPS at full rank: the start *auto* alone"),
    ),
    "full": Preset(
        ALL,
        SPLITS,
        {"more": True, "fewer": {"usps": 10}},
        thinner=("USPS, beyond the figures: 10 splits of 40, when all is run",),
    ),
}


def by_start(groups: Groups) -> tuple[list[list[Judged]], dict[str, list[Judged]]]:
    """Return the claims of each panel, and those of each sentence beyond them, for every choice of the start."""
    every = [chosen(groups, choice) for choice in CHOICES]
    by_panel = [[of_panel(each, panel) for each in every] for panel in (*PANELS, SEPARATED)]
    by_name = {
        name: [claim if name in NAMED else sentences(each)[name] for each in every]
        for name, claim in sentences(groups).items()
    }
    return by_panel, by_name


def short(results: Results, preset: Preset) -> list[str]:
    """Return the result and the contradictions, a sentence each."""
    groups = grouped(results)
    by_panel, by_name = by_start(groups)
    every = [claim for claim in map(agreed, (*by_panel, *by_name.values())) if claim.pairs]
    verdicts: list[str] = []
    new: list[Verdict] = []
    against: dict[str, set[str]] = {}
    supported: dict[str, list[str]] = {}
    for claim in every:
        verdict = together([of_set(claim.here, data) for data in sets(claim)])
        partly = " where run" if lacking(claim) and verdict is not Verdict.CONTRADICTED else ""
        verdicts.append(f"{verdict}{partly}")
        new.append(together([of_set(claim.new, data) for data in sets(claim)]))
        if verdict is Verdict.SUPPORTED:
            supported.setdefault(f'"{claim.sentence}"', []).append(claim.where)
        for data in sets(claim):
            if of_set(claim.here, data) is Verdict.CONTRADICTED:
                against.setdefault(f'"{claim.sentence}"', set()).add(data)
    said = [
        f"{sentence} (on {', '.join(data for data in dict.fromkeys(groups) if data in found)}"
        f"{', only with our classes' if found <= set(OUR_CLASSES) else ''})"
        for sentence, found in against.items()
    ]
    held = "; ".join(f"{sentence} ({'; '.join(where)})" for sentence, where in supported.items())
    return [
        f"The note's sentences were tested in {len(every)} places, with these verdicts for these points: "
        f"{counted(verdicts)}. Supported: {held or 'none'}. For new points: {counted(new)}.",
        f"The runs contradict {number(len(said), 'sentence')}{': ' if said else ''}{'; '.join(said)}.",
    ]


def parts(results: Results, preset: Preset) -> Parts:
    """The accuracies, what becomes of each sentence, the descents and what the note says beside."""
    groups = grouped(results)
    by_panel, by_name = by_start(groups)
    *drawn, separated = map(agreed, by_panel)
    said = {name: agreed(claims) for name, claims in by_name.items()}
    judged = [*summary([*drawn, separated, *said.values()]), *by_less(separated, SEPARATED.margin)]
    depending = [line for claims in (*by_panel, *by_name.values()) for line in by_choice(claims)]
    judged += ["", DEPENDS, "", *bullets(depending)] if depending else []
    lines = ["", "## What becomes of the note's sentences", "", *legend(), *judged]
    lines += ["", f'For "{SCALE}" there are figures below, and no verdict.'] if scale(groups) else []
    details = [*behind(groups, drawn), *descents(groups), *beyond(groups, said)]
    return Parts(figures(groups, drawn), lines, details, missing(results, preset))


def missing(results: Results, preset: Preset) -> list[str]:
    """The tasks of the preset that have no result yet, and how far their sets are run."""
    wanted, found = tasks(preset), {task.key for task, _ in results}
    absent = [task for task in wanted if task.key not in found]
    if not absent:
        return []
    lines = [
        "",
        f"Not run yet, by data set (tasks): {counted(task.data for task in absent)}. With all methods:",
        "",
    ]
    return lines + bullets(
        run_of(data, wanted, found) for data in dict.fromkeys(task.data for task in absent)
    )


def run_of(data: str, wanted: list[Task], found: set[str]) -> str:
    """On how many splits all methods of a part of the report are run."""
    said = []
    for part, methods in (("d = 2", PLANE), ("full rank", FULL), ("beyond the figures", MORE)):
        asked = [task for task in wanted if task.data == data and task.method in methods]
        if asked:
            splits = {task.split for task in asked}
            whole = splits - {task.split for task in asked if task.key not in found}
            said.append(f"{part} on {len(whole) or 'none'} of {len(splits)} splits")
    return f"{data}: {', '.join(said)}."


def tasks(preset: Preset) -> list[Task]:
    """A task for every data set, method and split; USPS and NCA take longest. The rings are only drawn in the plane."""
    splits, fewer = (preset.settings.get(name, {}) for name in ("splits", "starts"))
    made = []
    for data in preset.data:
        starts = STARTS | fewer.get(data, {})
        for method in reversed(PLANE if data == "rings" else PLANE + FULL):
            settings = {"starts": list(starts[method])} if method in starts else {}
            made += [Task(data, method, split, settings) for split in range(splits.get(data, preset.splits))]
        for method in MORE if preset.settings.get("more") else ():
            if data != "rings" or method.endswith(" 2"):
                count = preset.settings.get("fewer", {}).get(data, preset.splits)
                made += [Task(data, method, split, {}) for split in range(count)]
    return made


def measure(task: Task) -> Result:
    """The accuracy of a method on the training and the test part of a split; of NCA what every start came to, too."""
    part = split_of(task.data, task.split)
    if task.method in MORE:
        return measured(task.method, part, task.split, accuracy)
    if task.method not in STARTS:
        return accuracy(learner(task.method, part).fit(part.X, part.y), part)
    rank = 2 if task.method in PLANE else None
    found = {start: descended(cvxml.NCA(rank, init=start), part) for start in task.settings["starts"]}
    best = start_of(found, "first")
    return {"train": found[best]["train"], "test": found[best]["test"], "start": best, "starts": found}


def descended(metric: cvxml.NCA, part: Split) -> Result:
    """One descent of NCA: its accuracy, f / n, and what the certificate finds left to win."""
    solution = metric.fit(part.X, part.y).solution_
    first = solution.certificate.stationarity
    assert first is not None
    return {
        **accuracy(metric, part),
        "f": -float(solution.objective) / len(part.y),
        "status": solution.status.name,
        "left": max(float(first.gradient), float(first.dc_residual)) / len(part.y),
        "iterations": int(solution.n_iter),
    }


def learner(method: str, part: Split) -> Any:
    """The transformers that NCA is compared with."""
    if method == "Euclid":
        return cvxml.Euclidean()
    if method == "PCA 2":
        return PCA(2, svd_solver="full")
    if method == "LDA 2":
        return LinearDiscriminantAnalysis(n_components=min(2, len(np.unique(part.y)) - 1))
    rank = int(np.linalg.matrix_rank(part.X - part.X.mean(axis=0)))
    span = PCA(rank, whiten=True, svd_solver="full")
    return span if method == "whitened" else make_pipeline(span, cvxml.WithinClass())


def accuracy(fitted: Any, part: Split) -> Result:
    """Of 1-NN after a fitted map: on the training part leaving one out, and on the test part."""
    points = fitted.transform(part.X)
    rule = KNeighborsClassifier(1, algorithm="kd_tree").fit(
        points, part.y
    )  # sums of squared differences, no BLAS
    nearest = rule.kneighbors(return_distance=False)[:, 0]  # of every training point among the others
    right = float(np.mean(part.y[nearest] == part.y))
    return {"train": right, "test": float(rule.score(fitted.transform(part.X_test), part.y_test))}


def split_of(data: str, seed: int) -> Split:
    """Training and test part of a data set, scaled."""
    X, y = labelled(data)
    part = digits(X, y, seed) if data == "usps" else shuffled(X, y, seed, SHARE)
    return part if data in UNSCALED else z_scored(part)


@cache
def labelled(data: str) -> tuple[FloatArray, IntArray]:
    """Points (n, d) and classes (n,), as the report says."""
    X, y = datasets.load(data)
    if data == "housing":
        y = np.digitize(y.astype(np.float64), BINS, right=True)
    if data == "rings":
        X = np.column_stack([X, 4 * np.random.RandomState(1).standard_normal(len(X))])
    return X, y


def digits(X: FloatArray, y: IntArray, seed: int) -> Split:
    """The first TRAIN of every class in a random order to train on, the next TEST to test."""
    order = np.random.RandomState(seed).permutation(len(y))
    of_class = [order[y[order] == c] for c in np.unique(y)]
    train = np.concatenate([rows[:TRAIN] for rows in of_class])
    test = np.concatenate([rows[TRAIN : TRAIN + TEST] for rows in of_class])
    return Split(X[train], y[train], X[test], y[test])
