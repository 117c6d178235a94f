"""The pictures of docs/gerrymandering.md, docs/mlr.md and docs/crammer_singer.md.

Writes docs/_static/gerrymandering.png, mlr.png and crammer_singer.png.

    python -m validation.pictures.votes_and_rankings        (seconds)

Gerrymandering: the two sets of a point, in the Euclidean metric and in the learned metric. MLR: some queries, with the
other points in the order of their distance. Crammer and Singer: the regions of the classes, in two features of wine.
"""

from __future__ import annotations

from typing import Any

import matplotlib as mpl
import numpy as np

import cvxml
from cvxml import datasets
from cvxml.core.metric import FloatArray, IntArray, psd_root
from cvxml.displays._palette import COLOURS, by_class
from validation.pictures.__main__ import save

NEIGHBORS = 3
MEASURE, WEIGHT, QUERIES = "map", 10.0, 8
FEATURES = (6, 9)  # of the data set wine: flavanoids, color_intensity
NAMES = ("flavanoids", "color intensity")


def blobs() -> tuple[FloatArray, IntArray]:
    """Return points (24, 2) of two classes. Only the first feature separates them; the second has more spread."""
    rng = np.random.default_rng(4)
    y = np.repeat([0, 1], 12)
    X = rng.standard_normal((24, 2)) * (0.45, 1.8)
    X[:, 0] += 2.2 * y
    return X, y


def draw_sets(ax: Any, X: FloatArray, W: FloatArray, at: Any, y: IntArray, query: int) -> None:
    """Draw the query, its best winning set and its worst offending set. Distances on `ax` are distances under W."""
    Z = X @ psd_root(W)
    Z -= Z[query]
    for others, line, width in ((at.h_star[query], "-", 2), (at.h_hat[query], ":", 3.5)):
        for j in others:
            ax.plot(*Z[[query, j]].T, line, color="0.3", lw=width, zorder=1)
    by_class(ax, Z, y, s=70)
    ax.plot(0, 0, "o", ms=17, mfc="none", mec="black", mew=2)
    ax.set(xticks=[], yticks=[])
    ax.set_aspect("equal", adjustable="datalim")


def gerrymandering() -> Any:
    """Draw a point and its two sets, in the Euclidean metric and in the learned metric."""
    import matplotlib.pyplot as plt

    X, y = blobs()
    learned = cvxml.solve("ssvm", X, y, n_neighbors=NEIGHBORS, C=WEIGHT).metric
    metrics = {"Euclidean": np.eye(2), "learned": learned}
    found = [cvxml.evaluate("ssvm", X, y, W, n_neighbors=NEIGHBORS, C=WEIGHT) for W in metrics.values()]
    query = int((found[0].L - found[1].L).argmax())
    figure, axes = plt.subplots(1, 2, figsize=(10, 4.6), layout="constrained")
    for ax, (name, W), at in zip(axes, metrics.items(), found, strict=True):
        draw_sets(ax, X, W, at, y, query)
        ax.set_title(f"{name} metric: loss of the point {at.L[query]:.2f}")
    return figure


def average_precision(relevant: Any) -> float:
    """Return the mean of p / r_p over the ranks r_p of the relevant points."""
    ranks = np.flatnonzero(relevant) + 1
    return float(np.mean(np.arange(1, len(ranks) + 1) / ranks))


def mlr() -> Any:
    """Draw the other points of some queries from near to far. Full marks are points of the class of the query."""
    import matplotlib.pyplot as plt

    X, y = datasets.load("wine")
    X, y = datasets.standardize(X[::6]), y[::6]
    learned = cvxml.solve("mlr", X, y, measure=MEASURE, C=WEIGHT).metric
    figure, axes = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained", sharey=True)
    queries = np.linspace(0, len(X) - 1, QUERIES).astype(int)
    for ax, W, name in zip(axes, (np.eye(X.shape[1]), learned), ("Euclidean", "learned"), strict=True):
        Z = X @ psd_root(W)
        means = []
        for q in range(len(X)):
            order = np.argsort(np.sum((Z - Z[q]) ** 2, axis=1), kind="stable")
            relevant = (y == y[q])[order[order != q]]
            means.append(average_precision(relevant))
            if q in queries:
                row, place = int(np.flatnonzero(queries == q)[0]), np.arange(1, len(relevant) + 1)
                ax.plot(place[relevant], np.full(relevant.sum(), row), "o", color=COLOURS[0], ms=7)
                ax.plot(place[~relevant], np.full((~relevant).sum(), row), "o", mfc="none", mec="0.65", ms=7)
        ax.set_title(f"{name} metric: mean average precision {np.mean(means):.3f}")
        ax.set(xlabel="rank", yticks=[])
        ax.spines[["top", "right", "left"]].set_visible(False)
    axes[0].set_ylabel("a row for each query")
    axes[0].invert_yaxis()
    return figure


def crammer_singer() -> Any:
    """Draw the points, and the region of each class."""
    import matplotlib.pyplot as plt
    from matplotlib.colors import ListedColormap

    X, y = datasets.load("wine")
    X = datasets.standardize(X[:, FEATURES])
    model = cvxml.CrammerSingerSVM(C=1.0).fit(X, y)
    figure, ax = plt.subplots(figsize=(6, 4.6), layout="constrained")
    low, high = X.min(axis=0) - 0.4, X.max(axis=0) + 0.4
    across, up = np.meshgrid(np.linspace(low[0], high[0], 400), np.linspace(low[1], high[1], 400))
    region = model.predict(np.column_stack([across.ravel(), up.ravel()])).reshape(across.shape)
    ax.contourf(
        across, up, region, levels=[-0.5, 0.5, 1.5, 2.5], cmap=ListedColormap(COLOURS[:3]), alpha=0.18
    )
    by_class(ax, X, y, s=36)
    ax.set(xlabel=NAMES[0], ylabel=NAMES[1])
    ax.set_title(f"certified gap / scale: {model.certificate_.rel_gap:.0e}")
    return figure


def main() -> None:
    """Draw all three pictures."""
    mpl.use("Agg")
    for name, draw in (("gerrymandering", gerrymandering), ("mlr", mlr), ("crammer_singer", crammer_singer)):
        save(draw(), f"{name}.png", dpi=80)


if __name__ == "__main__":
    main()
