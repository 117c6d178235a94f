"""Noh et al. 2018, Fig. 7: Isomap of three digits in four metrics; writes glml_isomap.png and glml_isomap.md.

    python validation/studies/glml_isomap.py

500 images of each of 1, 3 and 8 from MNIST, which `packaged` says how to get; 28 x 28 pixels averaged to 14 x 14. The
paper says neither how many images nor neighbours there were. Isomap looks for 8 neighbours. Under GLML each image has a
metric of its own: the distance of two is the mean of the two that their metrics give.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.manifold import TSNE, Isomap
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import KNeighborsClassifier

import cvxml
from cvxml.core.metric import FloatArray, IntArray
from cvxml.methods.glml.instance import fit_gaussians
from cvxml.methods.glml.solver import closed_form, direction
from validation.experiments import packaged
from validation.experiments.page import table
from validation.experiments.verdicts import more, pair
from validation.studies.slant import SEEN, along, judged, slants

DIGITS, EACH, NEIGHBORS, ALPHA, GAMMA = (1, 3, 8), 500, 8, 0.1, 1.0
ALPHAS, GAMMAS = (0.01, 0.1, 1.0, 10.0), (0.1, 1.0, 10.0)
SIDE, CELL = 14, 2  # of an image, and of the squares of pixels that are averaged
COLOURS, MARKERS = ("#0072b2", "#d55e00", "#009e73"), "os^"
HERE = Path(__file__)
TEXT = f"""# Isomap of digits in four metrics (Noh et al. 2018, Fig. 7)

`python validation/studies/glml_isomap.py`:
{EACH} images of each of 1, 3 and 8 from MNIST, averaged to {SIDE} x {SIDE} pixels;
{NEIGHBORS} neighbours, Sigma + {ALPHA:g} I, A + {GAMMA:g} I. The paper does not define the distance of two
images with two local metrics; we take the mean of the two distances. LMNN has its default weight and targets,
without tuning.

The table shows how separate the classes are: it counts the images with a nearest other image of another
digit, in the plane.

| embedding | wrong of {EACH * len(DIGITS)} |
|---|---:|
"""


def images() -> tuple[FloatArray, IntArray]:
    """Grey values (n, 28, 28) of the first EACH images of each digit, and digits (n,)."""
    X, y = packaged.mnist()
    rows = np.concatenate([np.flatnonzero(y == digit)[:EACH] for digit in DIGITS])
    return X[rows], y[rows]


def points(pixels: FloatArray) -> FloatArray:
    """(n, 196): means of squares, from -1 to 1."""
    small = pixels.reshape(-1, SIDE, CELL, SIDE, CELL).mean(axis=(2, 4)) / 127.5 - 1
    flat: FloatArray = small.reshape(len(pixels), -1)
    return flat


def local_distances(X: FloatArray, A: FloatArray) -> FloatArray:
    """The distances (n, n): the mean of those by the metrics A (n, d, d) of the two."""
    each = []
    for x, metric in zip(X, A, strict=True):
        apart = X - x
        each.append(np.sqrt(np.maximum(np.sum((apart @ metric) * apart, axis=1), 0)))
    one_way = np.array(each)
    return (one_way + one_way.T) / 2


def local_metrics(X: FloatArray, y: IntArray, alpha: float) -> FloatArray:
    """The metric of each point (n, d, d), of one Gaussian a digit, without gamma I."""
    model = fit_gaussians(X, np.searchsorted(DIGITS, y), [str(digit) for digit in DIGITS], alpha)
    return closed_form(direction(model, X)[0]).A


def in_plane(D: FloatArray) -> FloatArray:
    """Isomap of distances (n, n)."""
    Z: FloatArray = Isomap(n_neighbors=NEIGHBORS, metric="precomputed").fit_transform(D)
    return Z


def other_parameters(X: FloatArray, y: IntArray) -> list[str]:
    """How many images GLML leaves beside another digit, by alpha and gamma: the paper does not say which it has."""
    rows, eye = [], np.eye(X.shape[1])
    for alpha in ALPHAS:
        A = local_metrics(X, y, alpha)
        counts = [len(wrong(in_plane(local_distances(X, A + gamma * eye)), y)) for gamma in GAMMAS]
        rows.append([f"alpha = {alpha:g}", *counts])
    return table(["GLML", *(f"gamma = {gamma:g}" for gamma in GAMMAS)], rows)


def embeddings(X: FloatArray, y: IntArray) -> dict[str, FloatArray]:
    """The panels of the figure: each (n, 2)."""
    local = local_metrics(X, y, ALPHA) + GAMMA * np.eye(X.shape[1])
    lmnn = cvxml.LMNN(tol=1e-4).fit(X, y).transform(X)
    distances = {
        "Euclidean": pairwise_distances(X),
        "LMNN": pairwise_distances(lmnn),
        "GLML": local_distances(X, local),
    }
    found = {f"Isomap, {name}": in_plane(D) for name, D in distances.items()}
    return {**found, "t-SNE": TSNE(random_state=0, init="pca").fit_transform(X)}


def wrong(Z: FloatArray, y: IntArray) -> list[int]:
    """The points whose nearest other is of another class."""
    nearest = KNeighborsClassifier(1).fit(Z, y).kneighbors(return_distance=False)[:, 0]
    return np.flatnonzero(y[nearest] != y).tolist()


SLOPE = f"""
How far an image leans to the right (the slope of its ink's moments, less the mean of its digit), against its place on
the two axes of each picture: Spearman's correlation with its 95 % interval, whose sign is the picture's, and that of
the images on the left and on the right of the median. *Along an axis* is taken as a correlation of more than {SEEN} in
size, a number of ours, on one of the two axes; *clockwise up to the middle, then back* as one above 0 on the left and
one below 0 on the right.
"""
SENTENCES = {
    "Euclid: the slope is captured along an axis": ("Euclidean", "follows"),
    "GLML: along an axis as well": ("GLML", "follows"),
    "GLML: clockwise up to the middle, then back": ("GLML", "unfolds"),
}


def slope_lines(panels: dict[str, FloatArray], slant: FloatArray) -> list[str]:
    """What the axes of the pictures say of the slope of writing, and of the paper's sentences on it."""
    axes = {
        name.removeprefix("Isomap, "): [along(Z[:, i], slant) for i in range(2)] for name, Z in panels.items()
    }
    rows = [
        [
            name,
            number,
            *(f"{rank.value:+.2f} ({rank.interval.low:+.2f} to {rank.interval.high:+.2f})" for rank in axis),
        ]
        for name, of in axes.items()
        for number, axis in enumerate(of, start=1)
    ]
    verdict = judged(axes, SENTENCES.values())
    said = [[sentence, verdict[claim]] for sentence, claim in SENTENCES.items()]
    head = ["embedding", "axis", "all", "left", "right"]
    return [SLOPE, *table(head, rows), "", *table(["the paper", "verdict (Holm)"], said)]


def main() -> None:
    pixels, y = images()
    panels = embeddings(points(pixels), y)
    errors = {name: wrong(Z, y) for name, Z in panels.items()}
    figure, axes = plt.subplots(1, len(panels), figsize=(15, 4.2), constrained_layout=True)
    for ax, (name, Z) in zip(axes, panels.items(), strict=True):
        for digit, colour, marker in zip(DIGITS, COLOURS, MARKERS, strict=True):
            ax.scatter(*Z[y == digit].T, s=12, c=colour, marker=marker, label=str(digit), alpha=0.7, lw=0)
        ax.set_title(f"{name}: {len(errors[name])} beside another digit")
        ax.set_xticks([])
        ax.set_yticks([])
    axes[0].legend()
    figure.savefig(HERE.with_suffix(".png"), dpi=110)
    claims = {
        "GLML separates more clearly than LMNN": pair(errors["Isomap, GLML"], errors["Isomap, LMNN"], len(y)),
        "LMNN separates more clearly than Euclid": pair(
            errors["Isomap, LMNN"], errors["Isomap, Euclidean"], len(y)
        ),
        "digits are found in the clusters of others by t-SNE, unlike by GLML": pair(
            errors["Isomap, GLML"], errors["t-SNE"], len(y)
        ),
    }
    verdict = more(claims)
    lines = [f"| {name} | {len(rows)} |" for name, rows in errors.items()]
    lines += [
        "",
        "The next table tests the paper's statements about its figure on this picture. LMNN and GLML have seen",
        "the labels of all images, and neighbours in a picture are not independent. So the p-values are nominal",
        "(McNemar, Holm).",
        "",
    ]
    lines += ["| claim | only the first, only the second | verdict |", "|---|---|---|"]
    lines += [f"| {name} | {two.first}, {two.second} | {verdict[name]} |" for name, two in claims.items()]
    lines += [
        "",
        "Images beside another digit in Isomap with GLML, by alpha and gamma, which the paper does not give:",
    ]
    lines += ["", *other_parameters(points(pixels), y)]
    lines += slope_lines(panels, slants(pixels, y))
    lines += ["", "![Isomap of digits in four metrics](glml_isomap.png)", ""]
    HERE.with_suffix(".md").write_text(TEXT + "\n".join(lines), encoding="utf-8")
    print(*lines, sep="\n")


if __name__ == "__main__":
    main()
