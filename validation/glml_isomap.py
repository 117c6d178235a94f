"""Noh et al. 2018, Fig. 7: Isomap of three digits in four metrics; writes glml_isomap.png and glml_isomap.md.

    CVXML_DATA=FOLDER python validation/glml_isomap.py

USPS takes the place of MNIST, which is not at hand: 200 images of each of 1, 3 and 8, 16 x 16 pixels averaged to 8 x 8.
The paper says neither how many images nor neighbours there were. Isomap looks for 8 neighbours. Under GLML each image
has a metric of its own: the distance of two is the mean of the two that their metrics give.
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
from cvxml import datasets
from cvxml.core.metric import FloatArray, IntArray
from cvxml.methods.glml.closed import closed_form
from cvxml.methods.glml.curvature import direction
from cvxml.methods.glml.model import fit_gaussians
from validation.experiments.verdicts import pair, verdicts

DIGITS, EACH, NEIGHBORS, ALPHA, GAMMA = (1, 3, 8), 200, 8, 0.1, 1.0
COLOURS, MARKERS = ("#0072b2", "#d55e00", "#009e73"), "os^"
HERE = Path(__file__)
TEXT = f"""# Isomap of digits in four metrics (Noh et al. 2018, Fig. 7)

`python validation/glml_isomap.py`, which says what was done: USPS in place of MNIST, {EACH} images of each of 1, 3 and
8, {NEIGHBORS} neighbours, Sigma + {ALPHA:g} I, A + {GAMMA:g} I.

How separate the classes are: images whose nearest other image in the plane is of another digit.

| embedding | wrong of {EACH * len(DIGITS)} |
|---|---:|
"""


def images() -> tuple[FloatArray, IntArray]:
    """The first EACH images of each digit: points (n, 64) and digits (n,)."""
    X, y = datasets.load("usps")
    rows = np.concatenate([np.flatnonzero(y == digit)[:EACH] for digit in DIGITS])
    small = X[rows].reshape(-1, 8, 2, 8, 2).mean(axis=(2, 4))
    return small.reshape(len(rows), -1), y[rows]


def local_distances(X: FloatArray, A: FloatArray) -> FloatArray:
    """The distances (n, n): the mean of those by the metrics A (n, d, d) of the two."""
    each = []
    for x, metric in zip(X, A, strict=True):
        apart = X - x
        each.append(np.sqrt(np.maximum(np.sum((apart @ metric) * apart, axis=1), 0)))
    one_way = np.array(each)
    return (one_way + one_way.T) / 2


def embeddings(X: FloatArray, y: IntArray) -> dict[str, FloatArray]:
    """The panels of the figure: each (n, 2)."""
    codes = np.searchsorted(DIGITS, y)
    model = fit_gaussians(X, codes, [str(digit) for digit in DIGITS], ALPHA)
    local = closed_form(direction(model, X)[0]).A + GAMMA * np.eye(X.shape[1])
    lmnn = cvxml.LMNN(tol=1e-4).fit(X, y).transform(X)
    distances = {
        "Euclidean": pairwise_distances(X),
        "LMNN": pairwise_distances(lmnn),
        "GLML": local_distances(X, local),
    }
    found = {
        f"Isomap, {name}": Isomap(n_neighbors=NEIGHBORS, metric="precomputed").fit_transform(D)
        for name, D in distances.items()
    }
    return {**found, "t-SNE": TSNE(random_state=0, init="pca").fit_transform(X)}


def wrong(Z: FloatArray, y: IntArray) -> list[int]:
    """The points whose nearest other is of another class."""
    nearest = KNeighborsClassifier(1).fit(Z, y).kneighbors(return_distance=False)[:, 0]
    return np.flatnonzero(y[nearest] != y).tolist()


def main() -> None:
    X, y = images()
    panels = embeddings(X, y)
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
    verdict = verdicts(claims)
    lines = [f"| {name} | {len(rows)} |" for name, rows in errors.items()]
    lines += [
        "",
        "What the paper says of its figure (McNemar, Holm; LMNN and GLML have seen these labels):",
        "",
    ]
    lines += ["| claim | only the first, only the second | verdict |", "|---|---|---|"]
    lines += [f"| {name} | {two.first}, {two.second} | {verdict[name]} |" for name, two in claims.items()]
    lines += ["", "![Isomap of digits in four metrics](glml_isomap.png)", ""]
    HERE.with_suffix(".md").write_text(TEXT + "\n".join(lines), encoding="utf-8")
    print(*lines, sep="\n")


if __name__ == "__main__":
    main()
