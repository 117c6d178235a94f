"""The pictures of the pages of GMML, RCA, DML-eig, FrobMetric, RTML and PLML. Writes docs/_static/METHOD.png.

python validation/pictures/more_methods.py        (seconds)

Each picture has two panels, drawn from two features of a small data set. `DRAWN` has a function for each method. For
another method, `python validation/pictures/more_methods.py METHOD` draws `before_and_after`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

import cvxml
from cvxml import datasets
from cvxml.core.metric import FloatArray, IntArray
from cvxml.displays._palette import COLOURS, MARKERS, by_class
from cvxml.methods import get
from validation.pictures.__main__ import save

SIZE, DPI = (10, 4.2), 75
WINE, IRIS = (6, 9), (1, 3)  # flavanoids and color intensity; sepal width and petal width
CHUNKLET = 6  # points in each chunklet of the picture of RCA


def of_two(name: str, features: tuple[int, int]) -> tuple[FloatArray, IntArray]:
    """Return two standardized features (n, 2) and the labels."""
    X, y = datasets.load(name)
    return datasets.standardize(X)[:, features], y


def panels(*titles: str) -> tuple[Any, Any]:
    """Return a figure and its two axes."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=SIZE, layout="constrained")
    for ax, title in zip(axes, titles, strict=True):
        ax.set_title(title, fontsize=12)
        ax.spines[["top", "right"]].set_visible(False)
    return figure, axes


def root(M: FloatArray) -> FloatArray:
    """Return the symmetric square root of M, scaled to the norm of the identity: images by it show the distances."""
    values, vectors = np.linalg.eigh(M)
    half: FloatArray = (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T
    return half * np.sqrt(len(M)) / np.linalg.norm(half)


def ball(M: FloatArray) -> FloatArray:
    """Return the boundary (2, 200) of the ball of M around 0 that has the area of the unit disk.

    A ball more than 10 times as long as wide is drawn 10 times as long as wide.
    """
    angles = np.linspace(0, 2 * np.pi, 200)
    values, vectors = np.linalg.eigh(M)
    values = np.maximum(values, values[-1] / 100)
    values /= np.sqrt(values.prod())
    outline: FloatArray = (vectors / np.sqrt(values)) @ np.stack([np.cos(angles), np.sin(angles)])
    return outline


def lines(ax: Any, X: FloatArray, pairs: IntArray, **style: Any) -> None:
    """Draw a line for each pair of points (p, 2), the first with its label."""
    for i, j in pairs.tolist():
        ax.plot(*X[[i, j]].T, **style)
        style.pop("label", None)


def before_and_after(method: str) -> Any:
    """Two classes of wine, before and after the map of the metric, with the unit ball of each metric."""
    X, y = of_two("wine", WINE)
    X, y = X[y < 2], y[y < 2]
    metric = cvxml.solve(method, X, y).metric
    figure, axes = panels(
        "two classes of wine", f"the same points in the metric of {get(method).TITLE.partition(':')[0]}"
    )
    for ax, points, M in zip(axes, (X, X @ root(metric)), (metric, np.eye(2)), strict=True):
        by_class(ax, points, y, s=18)
        ax.plot(*ball(M), color="black", lw=1.5, label="a ball of the metric")
        ax.set_aspect("equal")
    axes[1].legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    return figure


def gmml() -> Any:
    """Two classes of wine, and the balls along the geodesic from S^-1 to D."""
    X, y = of_two("wine", WINE)
    X, y = X[y < 2], y[y < 2]
    figure, (left, right) = panels("two classes of wine", "balls of equal area, t from 0 to 1")
    by_class(left, X, y, s=18)
    at = cvxml.evaluate("gmml", X, y, np.eye(2))
    for weight in (0.125, 0.25, 0.375, 0.625, 0.75, 0.875):
        right.plot(*ball(cvxml.solve("gmml", X, y, weight=weight).metric), color="0.8", lw=1)
    ends = {"S^-1 (t = 0)": np.linalg.inv(at.S), "D (t = 1)": at.D}
    for (label, M), style, colour in zip(ends.items(), ("--", ":"), COLOURS, strict=False):
        right.plot(*ball(M), ls=style, lw=2.5, color=colour, label=label)
    mean = cvxml.solve("gmml", X, y).metric
    right.plot(*ball(mean), color=COLOURS[3], lw=2.5, label="the metric of GMML (t = 1/2)")
    right.set_aspect("equal")
    right.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    left.set_aspect("equal")
    return figure


def rca() -> Any:
    """Chunklets of iris, before and after the map of the metric."""
    X, y = of_two("iris", IRIS)
    chosen = np.concatenate(
        [np.flatnonzero(y == k)[start : start + CHUNKLET] for k in range(3) for start in (0, 20)]
    )
    chunklets = np.full(len(X), -1)
    chunklets[chosen] = np.arange(len(chosen)) // CHUNKLET
    metric = cvxml.solve("rca", X, None, chunklets=chunklets).metric
    figure, axes = panels("iris: six chunklets", "the same points in the metric of RCA")
    for ax, points in zip(axes, (X, X @ root(metric)), strict=True):
        ax.scatter(*points[chunklets < 0].T, s=8, color="0.8", linewidths=0, label="in no chunklet")
        for k in range(chunklets.max() + 1):
            own = points[chunklets == k]
            lines(ax, np.vstack([own.mean(axis=0), own]), np.array([[0, 1 + p] for p in range(len(own))]),
                  color=COLOURS[k], lw=1)  # fmt: skip
            ax.scatter(*own.T, s=28, c=COLOURS[k], marker=MARKERS[k], linewidths=0, label=f"chunklet {k}")
        ax.set_aspect("equal")
    axes[1].legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    return figure


def dml_eig() -> Any:
    """The dissimilar pairs of positive weight, before and after: they have the least distance."""
    X, y = of_two("iris", IRIS)
    X, y = X[50:], y[50:]
    X, y = X[::3], y[::3]
    X, first = np.unique(X, axis=0, return_index=True)  # two classes may not share a point
    y = y[first]
    solution = cvxml.solve("dml_eig", X, y, tol=1e-9)
    held = get("dml_eig").instance(X, y).pairs.dissimilar[solution.dual["q"] > 1e-6]
    figure, axes = panels("two classes of iris", "the same points in the metric of DML-eig")
    for ax, points in zip(axes, (X, X @ root(solution.metric)), strict=True):
        lines(ax, points, held, color="black", lw=1.5, label="pairs with q > 0")
        by_class(ax, points, y, s=16)
        ax.set_aspect("equal")
    axes[1].legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    return figure


def frobmetric() -> Any:
    """A point, its targets and its impostors, before and after the map of the metric."""
    X, y = of_two("iris", IRIS)
    solution = cvxml.solve("frobmetric", X, y, C=100.0, tol=1e-9)
    i = 41  # an iris setosa that is far from its class
    own = get("frobmetric").instance(X, y).triplets()
    own = own[own[:, 0] == i]
    targets, impostors = np.unique(own[:, 1]), np.unique(own[:, 2])
    figure, axes = panels(
        "iris: a point in the Euclidean metric", "the same point in the metric of FrobMetric"
    )
    for ax, points in zip(axes, (X, X @ root(solution.metric)), strict=True):
        by_class(ax, points, y, s=14, alpha=0.6)
        lines(ax, points, np.array([[i, j] for j in targets]), color="black", lw=1.5, label="to its targets")
        lines(
            ax,
            points,
            np.array([[i, l] for l in impostors]),
            color="red",
            ls="--",
            lw=1.5,
            label="to its impostors",
        )
        away = np.abs(points[np.concatenate([targets, impostors])] - points[i]).max() * 1.6
        ax.set(xlim=points[i, 0] + away * np.array([-1, 1]), ylim=points[i, 1] + away * np.array([-1, 1]))
        ax.set_aspect("equal")
    axes[1].legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    return figure


def rtml() -> Any:
    """The loss for three widths, and the dual variables of wine against the margins."""
    figure, (left, right) = panels("the loss of a triplet", "wine: the dual variables at the optimum")
    v = np.linspace(-0.3, 1.5, 400)
    for width, style, colour in zip((0.05, 0.5, 1.0), ("-", "--", ":"), COLOURS, strict=False):
        loss = np.where(v >= 1, 0, np.where(v <= 1 - width, 1 - v - width / 2, (1 - v) ** 2 / (2 * width)))
        left.plot(v, loss, ls=style, color=colour, lw=2.5, label=f"width {width}")
    left.set(xlabel="margin v", ylabel="loss")
    X, y = of_two("wine", WINE)
    for width, marker, colour in zip((0.05, 0.5), MARKERS, COLOURS, strict=False):
        metric = cvxml.solve("rtml", X, y, lam=10.0, width=width, tol=1e-9).metric
        at = cvxml.evaluate("rtml", X, y, metric, lam=10.0, width=width)
        right.scatter(
            at.margins, at.slopes, s=14, marker=marker, color=colour, linewidths=0, label=f"width {width}"
        )
    right.set(xlabel="margin v of a triplet", ylabel="dual variable a", xlim=(-0.5, 2.5))
    for ax in (left, right):
        ax.legend(loc="upper right", frameon=False)
    return figure


def plml() -> Any:
    """The weights of one anchor, and the local metrics at some points."""
    X, y = of_two("iris", IRIS)
    params = {"n_anchors": 3, "n_neighbors": 2, "alpha1": 0.1, "lam2": 1.0}
    solution = cvxml.solve("plml", X, y, tol=1e-6, **params)
    W, U = np.array(solution.params["weights"]), np.array(solution.params["anchors"])
    metrics = cvxml.evaluate("plml", X, y, solution.metric, **solution.params).metrics
    figure, (left, right) = panels("iris: the weight of anchor 0", "balls of the metrics M(x) at some points")
    shown = left.scatter(*X.T, c=W[:, 0], s=20, cmap="viridis", vmin=0, vmax=1)
    figure.colorbar(shown, ax=left)
    by_class(right, X, y, s=10, alpha=0.5)
    for i in range(0, len(X), 9):
        M = np.tensordot(W[i], metrics, axes=1)
        right.plot(*(X[i][:, None] + 0.25 * ball(M)), color="black", lw=1)
    for ax in (left, right):
        ax.scatter(*U.T, marker="*", s=160, color="red", edgecolors="white", label="anchors")
        ax.set_aspect("equal")
    for k, u in enumerate(U):
        left.annotate(str(k), u, xytext=(6, 6), textcoords="offset points", color="red")
    right.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    return figure


DRAWN: dict[str, Callable[[], Any]] = {
    "gmml": gmml,
    "rca": rca,
    "dml_eig": dml_eig,
    "frobmetric": frobmetric,
    "rtml": rtml,
    "plml": plml,
}


def main() -> None:
    """Draw the methods that the command line names, or all of them."""
    mpl.use("Agg")
    for method in sys.argv[1:] or DRAWN:
        figure = DRAWN[method]() if method in DRAWN else before_and_after(method)
        save(figure, f"{method}.png", dpi=DPI)


if __name__ == "__main__":
    main()
