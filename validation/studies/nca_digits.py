"""Goldberger et al. 2004, continuous labels: digits by orientation and size; writes nca_digits.png and nca_digits.md.

    CVXML_DATA=FOLDER python validation/studies/nca_digits.py

Images of USPS's digit 3 take the place of faces, which are not to be had. As the note says: the first of a pair is
rotated by up to 45 degrees and scaled to a height of 25 to 35 pixels, both uniform; the second, of another writer, by
the same and normal noise of 1.22 degrees and 1.5 pixels, and the pair weighs w, the density of the noise over its
maximum. A network of one hidden layer of 100 logistic units takes 35 x 35 pixels to the plane; the offset of its output
is left out, as only differences count. The note says neither how many pairs there were, nor how the cost was minimised
or when that ended. Here: L-BFGS, all costs from the same weights, and the step is kept where the cost of further pairs
is least. `nca_digits_map.py` has the costs and the network.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from scipy.ndimage import affine_transform
from scipy.optimize import least_squares

from cvxml import datasets
from cvxml.core.metric import FloatArray
from validation.experiments.page import table
from validation.experiments.verdicts import Compared, judged
from validation.studies.nca_digits_map import (
    COSTS,
    NOISE,
    Pairs,
    Trained,
    outputs,
    squared_distances,
    trained,
)

DIGIT, SIDE, TURN, HEIGHTS = 3, 35, 45.0, (25.0, 35.0)
TEACHERS, LATE, TESTS, TRAIN = 424, 100, 300, 1000  # images to train, to end and to test with; training pairs
STARTS = 3
HERE = Path(__file__)


class Read(NamedTuple):
    """Squared errors (n, 2) of angle and height, in their standard deviations, as they are read off the plane."""

    polar: FloatArray
    straight: FloatArray
    centre: FloatArray


def turned(image: FloatArray, angle: float, height: float) -> FloatArray:
    """The image (16, 16), anticlockwise by an angle in degrees and scaled to a height, in the middle of SIDE x SIDE."""
    t = np.deg2rad(angle)
    back = np.array([[np.cos(t), np.sin(t)], [-np.sin(t), np.cos(t)]]) * len(image) / height
    middle, ours = (np.full(2, (side - 1) / 2) for side in (len(image), SIDE))
    result: FloatArray = affine_transform(image, back, middle - back @ ours, (SIDE, SIDE), order=1)
    return result


def drawn(images: FloatArray, chosen: FloatArray, random: np.random.RandomState) -> Pairs:
    """The pairs of images (m, 2), turned: the first of all, then the second of all."""
    labels = np.column_stack(
        [random.uniform(-TURN, TURN, len(chosen)), random.uniform(*HEIGHTS, len(chosen))]
    )
    noise = random.standard_normal(labels.shape)
    both = np.concatenate([labels, labels + noise * NOISE])
    X = np.array([turned(images[i], *label).ravel() for i, label in zip(chosen.T.ravel(), both, strict=True)])
    return Pairs(X, both, np.exp(-np.sum(noise**2, axis=1) / 2))


def data() -> tuple[Pairs, Pairs, Pairs]:
    """To train on: pairs of TEACHERS images. To end with, and to test: each image in one pair."""
    X, y = datasets.load("usps")
    random = np.random.RandomState(0)
    images = (random.permutation(X[y == DIGIT]).reshape(-1, 16, 16) + 1) / 2  # ink is 1, paper 0
    some = np.array([random.choice(TEACHERS, 2, replace=False) for _ in range(TRAIN)])
    rest = np.arange(TEACHERS, TEACHERS + LATE + TESTS).reshape(-1, 2)
    return tuple(drawn(images, rows, random) for rows in (some, rest[: LATE // 2], rest[LATE // 2 :]))  # type: ignore[return-value]


def farther(Y: FloatArray) -> list[float]:
    """For the first of each pair, the share of the other images that are farther away than its partner."""
    D, m = squared_distances(Y), len(Y) // 2
    return [float(np.delete(D[a], [a, a + m]).__gt__(D[a, a + m]).mean()) for a in range(m)]


def read(late: FloatArray, labels: FloatArray, Y: FloatArray, truth: FloatArray) -> Read:
    """Angle and height by polar coordinates about the best centre, and by a straight axis of each.

    Both have six numbers, fitted to the outputs `late`: the centre, and a line for each of angle and distance from it;
    or a linear function of the plane for each.
    """
    scale = labels.std(axis=0)

    def polar(points: FloatArray, centre: FloatArray) -> FloatArray:
        mean = late.mean(axis=0) - centre
        apart = (points - centre) @ np.array([[mean[0], -mean[1]], [mean[1], mean[0]]]) / np.hypot(*mean)
        return np.column_stack([np.arctan2(apart[:, 1], apart[:, 0]), np.hypot(*apart.T)])

    def of_centre(centre: FloatArray, points: FloatArray, true: FloatArray) -> FloatArray:
        known, new = polar(late, centre), polar(points, centre)
        fits = [np.polyfit(known[:, k], labels[:, k], 1) for k in range(2)]
        return (
            np.column_stack([np.polyval(fit, new[:, k]) for k, fit in enumerate(fits)]) / scale - true / scale
        )

    middle, spread = late.mean(axis=0), late.std()
    begins = [
        middle + far * spread * np.array([np.cos(t), np.sin(t)])
        for far in (0.3, 1, 3)
        for t in np.arange(8) * np.pi / 4
    ]
    found = [least_squares(lambda c: of_centre(c, late, labels).ravel(), begin) for begin in begins]
    centre = min(found, key=lambda each: each.cost).x
    A, B = (np.column_stack([points, np.ones(len(points))]) for points in (late, Y))
    straight = B @ np.linalg.lstsq(A, labels, rcond=None)[0] / scale - truth / scale
    return Read(of_centre(centre, Y, truth) ** 2, straight**2, centre)


def of_pairs(each: FloatArray) -> list[float]:
    """Values of images (2 m,): the means of the pairs, which share no writer."""
    return each.reshape(2, -1).mean(axis=0).tolist()


# --- the page


def rows(
    runs: dict[str, Trained], late: Pairs, test: Pairs
) -> Iterator[tuple[str, Compared, Compared, list[object]]]:
    """Of each run, the two comparisons that the sentences are about, and what is shown beside."""
    for name, run in runs.items():
        Y = outputs(run.weights, test.X)
        before = farther(outputs(run.first, test.X))
        found = read(outputs(run.weights, late.X), late.labels, Y, test.labels)
        close = Compared(farther(Y), [0.5] * (len(Y) // 2), 0.0)
        polar = Compared(of_pairs(found.straight.sum(axis=1)), of_pairs(found.polar.sum(axis=1)), 0.0)
        parts = [100 * np.sqrt(each.mean(axis=0)) for each in (found.polar, found.straight)]
        errors = [
            f"{polar_} / {line}"
            for polar_, line in zip(*(np.round(part).astype(int) for part in parts), strict=True)
        ]
        yield name, close, polar, [run.step, f"{run.late:.1f}", f"{100 * np.mean(before):.1f}", *errors]


def page(runs: dict[str, Trained], late: Pairs, test: Pairs) -> str:
    """The report."""
    found = list(rows(runs, late, test))
    close, polar = ({name: both[k] for name, *both in found} for k in (0, 1))
    near, round_ = judged(close, 0.0), judged(polar, 0.0)
    first = [
        [
            name,
            *shown[:3],
            f"{100 * np.mean(each.first):.1f}",
            interval(each, 100),
            f"{each.effect:+.1f}",
            near[name],
        ]
        for name, each, _, shown in found
    ]
    second = [
        [name, *shown[3:], interval(each, 1), f"{each.effect:+.1f}", round_[name]]
        for name, _, each, shown in found
    ]
    head = (
        "cost",
        "steps",
        "cost of later pairs",
        "before",
        "after",
        "above chance (95 %)",
        "effect",
        "verdict",
    )
    lines = [TEXT, *CLOSE, "", *table(head, first), "", *POLAR, ""]
    head = (
        "cost",
        "angle: polar / straight",
        "height: polar / straight",
        "difference (95 %)",
        "effect",
        "verdict",
    )
    return "\n".join(
        [*lines, *table(head, second), "", "![Digits by orientation and size](nca_digits.png)", ""]
    )


def interval(each: Compared, factor: float) -> str:
    """The mean difference and its interval."""
    found = each.beyond()
    return "{:+.2f} ({:+.2f} to {:+.2f})".format(*(factor * end for end in (found.mean, *found.interval)))


CLOSE = (
    '## "This encouraged the faces in a pair to be placed close together"',
    "",
    "The table has the share of the other images that are farther from an image than its partner, in per cent.",
    "By chance it is 50.",
)
POLAR = (
    '## "The feedforward neural network discovered polar coordinates"',
    "",
    "Angle and height are computed from the plane in two ways. *polar*: a linear function of the angle, and one",
    "of the distance, around a centre. *straight*: a linear function of the plane for each label. Both ways have",
    "six numbers, fitted to other pairs. Errors are roots of mean squares in per cent of the label's standard",
    "deviation, so 100 is no knowledge. The difference is straight minus polar, for the squares of both labels",
    "together. If it is above 0, polar coordinates are better. A strip may be bent around a centre, or be twisted",
    "so that large and small images change sides; neither way can describe that. The sentence is tested for each",
    "start. If starts differ, the discovery depends on the start.",
)
TEXT = f"""# Digits by orientation and size (Goldberger et al. 2004, continuous labels)

Made by `python validation/studies/nca_digits.py`; its text describes the data and the network. Images of the
digit {DIGIT} replace faces. {TRAIN} pairs of {TEACHERS} images are used to train, {LATE // 2} pairs of {LATE}
others to choose the step, and {TESTS // 2} pairs of {TESTS} others to test. The slant of each writer is
unknown, and is part of every error.

The costs are:

- *one for all* is the note's cost with c != d: - sum over pairs of w_ab log q_ab, with one distribution q over
  all pairs of images.
- *as printed* has c = d in the sum too: n terms that are 1 for every placement of the images.
- *one a row* has a distribution over the others for each image, with the same weights.
- *-g* is the objective that `cvxml.NCA` minimizes for a similarity: one distribution for each image, s_ij =
  exp(-(angle / {NOISE[0]:g})^2 / 2 - (height / {NOISE[1]:g})^2 / 2) of the differences of the labels. It uses
  all images, not only the pairs. (With the pairs alone -g would ignore their weights, because a factor for a
  whole row is a constant.)

All are minimized from the same {STARTS} starts. The *cost* of the pairs that chose the step shows the best
start, but only within one kind of cost.

Intervals and verdicts are for new pairs of new writers, given these networks, by t-tests over the {TESTS // 2}
test pairs, which share no image. The level is 5 % for all rows of a table together (Holm). *effect* is the mean
in standard deviations over the pairs.

Two statements of the note hold by construction. Pairs agree horizontally, and not vertically, because the four
examples are made like that, here as in the note. The cost does not prescribe the representation of orientation
and size, because it has only pairs and weights; -g has labels.
"""


def draw(runs: dict[str, Trained], late: Pairs, test: Pairs, figure: Any) -> None:
    """Four examples; the plane of each run, a dot an image, coloured by angle; images where the first run put them."""
    figure.set_size_inches(14, 15)
    grid = figure.add_gridspec(4, 4)
    few = grid[0:2, 0].subgridspec(2, 2)
    m = len(test.X) // 2
    for line, a in enumerate((int(np.argmin(test.labels[:m, 0])), int(np.argmax(test.labels[:m, 0])))):
        for column, at in enumerate((a, a + m)):
            ax = figure.add_subplot(few[line, column])
            ax.imshow(test.X[at].reshape(SIDE, SIDE), cmap="gray_r")
            ax.set_title("{:+.0f}°, {:.0f} pixels".format(*test.labels[at]), fontsize=9)
            ax.set_xticks([])
            ax.set_yticks([])
    for k, (name, run) in enumerate(runs.items()):
        ax = figure.add_subplot(grid[k // STARTS, 1 + k % STARTS])
        Y = outputs(run.weights, test.X)
        share = np.clip((test.labels[:, 1] - HEIGHTS[0]) / (HEIGHTS[1] - HEIGHTS[0]), 0, 1)
        dots = ax.scatter(*Y.T, s=4 + 60 * share, c=test.labels[:, 0], cmap="viridis", alpha=0.75, lw=0)
        centre, reach = (
            read(outputs(run.weights, late.X), late.labels, Y, test.labels).centre,
            np.ptp(Y, axis=0),
        )
        if np.all(np.abs(centre - Y.mean(axis=0)) < reach):
            ax.plot(*centre, "+", color="#d55e00", ms=16, mew=2)
        ax.set_title(name, fontsize=11)
        ax.set_aspect("equal", adjustable="datalim")
        ax.set_xticks([])
        ax.set_yticks([])
    figure.colorbar(dots, ax=figure.axes[4:], label="angle, degrees", shrink=0.6)
    best = min(list(runs)[:STARTS], key=lambda name: runs[name].late)
    places(figure.add_subplot(grid[2:, 0]), outputs(runs[best].weights, test.X), test.X, best)
    figure.suptitle(
        f"Top left: two pairs, a row each. Then {TESTS} test images in the plane by cost, larger dots for larger "
        "images; +: the centre of polar coordinates, where it is near",
        fontsize=11,
    )


def places(ax: Any, Y: FloatArray, X: FloatArray, name: str) -> None:
    """Images where they went, those that leave room to the ones before."""
    half = 0.045 * float(np.ptp(Y, axis=0).max())
    shown: list[FloatArray] = []
    for y, x in zip(Y, X, strict=True):
        if all(np.abs(y - other).max() > 1.5 * half for other in shown):
            shown.append(y)
            extent = (y[0] - half, y[0] + half, y[1] - half, y[1] + half)
            ax.imshow(x.reshape(SIDE, SIDE), cmap="gray_r", extent=extent)
    ax.set_xlim(Y[:, 0].min() - half, Y[:, 0].max() + half)
    ax.set_ylim(Y[:, 1].min() - half, Y[:, 1].max() + half)
    ax.set_aspect("equal", adjustable="box")
    ax.set_xticks([])
    ax.set_yticks([])
    ax.set_title(f"{name}: images in place", fontsize=11)


def main() -> None:
    train, late, test = data()
    runs = {
        f"{name}, start {start + 1}": trained(name, train, late, start)
        for name in COSTS
        for start in range(STARTS)
    }
    figure = plt.figure(layout="constrained")
    draw(runs, late, test, figure)
    figure.savefig(HERE.with_suffix(".png"), dpi=110)
    text = page(runs, late, test)
    HERE.with_suffix(".md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
