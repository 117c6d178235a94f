"""The pictures of docs/mlsvm_algorithm.md, docs/nca.md and docs/mlkr.md.

Writes docs/_static/mlsvm_algorithm1.png, nca.png and mlkr.png.

    python validation/pictures/algorithm1_nca_mlkr.py        (seconds)
"""

from __future__ import annotations

import warnings
from typing import Any

import matplotlib as mpl
import numpy as np
from sklearn.decomposition import PCA

import cvxml
from cvxml import datasets
from cvxml.displays._palette import COLOURS, by_class
from cvxml.methods.mlsvm.method import algorithm1
from validation.pictures.__main__ import save

STEPS = 600
DPI = 75


def gaps_of_algorithm1() -> Any:
    """The relative gap of Algorithm 1 on wine, corrected and as printed."""
    import matplotlib.pyplot as plt

    X, y = datasets.load("wine")
    X = datasets.standardize(X)
    figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
    styles = {"as printed (nearest target)": (True, "-"), "corrected (furthest target)": (False, "--")}
    for (label, (paper, style)), colour in zip(styles.items(), COLOURS, strict=False):
        run = algorithm1(X, y, lam=0.1, n_steps=STEPS, paper=paper)
        ax.plot(run.iterations, run.gaps / run.lower_bound, style, color=colour, lw=2, label=label)
    ax.set(xscale="log", yscale="log", xlabel="iteration", ylabel="gap / lower bound")
    ax.legend()
    ax.spines[["top", "right"]].set_visible(False)
    return figure


def rings_by_nca() -> Any:
    """Three rings beside a coordinate of noise, mapped to the plane by PCA and by NCA."""
    import matplotlib.pyplot as plt

    rings, y = datasets.rings(300)
    X = np.column_stack([rings, 4 * np.random.RandomState(1).standard_normal(300)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = cvxml.NCA(2, criterion="g", init="pca").fit(X, y)
    figure, axes = plt.subplots(1, 2, figsize=(9, 4.3), layout="constrained")
    for ax, title, points in zip(
        axes, ("PCA", "NCA"), (PCA(2).fit_transform(X), model.transform(X)), strict=True
    ):
        by_class(ax, points, y, s=18)
        ax.set(title=title, xticks=[], yticks=[], aspect="equal")
    axes[1].legend(title="class", loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    return figure


def predictions_of_mlkr() -> Any:
    """Targets and their leave-one-out predictions under the Euclidean metric and under that of MLKR."""
    import matplotlib.pyplot as plt

    rng = np.random.default_rng(5)
    X = rng.standard_normal((40, 4))
    y = X[:, 0] + 0.3 * X[:, 1] ** 2 + 0.3 * rng.standard_normal(40)
    learned = cvxml.solve("mlkr", X, y, n_components=2).metric
    figure, axes = plt.subplots(1, 2, figsize=(9, 4.3), layout="constrained", sharex=True, sharey=True)
    for ax, name, metric in zip(axes, ("Euclidean metric", "MLKR"), (np.eye(4), learned), strict=True):
        at = cvxml.evaluate("mlkr", X, y, metric)
        ax.plot([y.min(), y.max()], [y.min(), y.max()], color="0.7", zorder=1)
        ax.scatter(y, at.yhat, color=COLOURS[0], s=22, zorder=2)
        ax.set(title=f"{name}: F = {at.objective:.3g}", xlabel="target", aspect="equal")
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("prediction from the other points")
    return figure


def main() -> None:
    """Draw."""
    mpl.use("Agg")
    save(gaps_of_algorithm1(), "mlsvm_algorithm1.png", dpi=DPI)
    save(rings_by_nca(), "nca.png", dpi=DPI)
    save(predictions_of_mlkr(), "mlkr.png", dpi=DPI)


if __name__ == "__main__":
    main()
