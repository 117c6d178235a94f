"""The pictures of the pages of methods that learn from pairs, triplets or quadruplets: docs/_static/METHOD.png.

    python validation/pictures/pairs_and_triplets.py [METHOD ...]        (seconds for each)

Each picture shows one fact of the page: for example the margins of LMNN before and after, or the zeros of SDML.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

import cvxml
from cvxml import datasets
from cvxml.displays._palette import COLOURS

sys.path.insert(0, str(Path(__file__).parents[2]))
from validation.pictures.__main__ import save

BLUE, ORANGE = COLOURS[:2]
PIXELS, FEWER = 760, 600  # across
DENSE = ("mcml",)  # pictures with so much detail that fewer pixels keep the file small
FLAVANOIDS_AND_COLOR = (6, 9)  # features of wine


def standardized(name: str) -> tuple[np.ndarray, np.ndarray]:
    """A data set with features of mean 0 and variance 1."""
    X, y = datasets.load(name)
    return datasets.standardize(X), y


def two_panels() -> tuple[Any, Any]:
    """A figure with two axes beside each other."""
    figure, axes = plt.subplots(1, 2, figsize=(9.0, 3.8), layout="constrained")
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
    return figure, axes


def root(M: np.ndarray) -> np.ndarray:
    """The symmetric square root of M: distances of X @ root(M) are those of the metric M."""
    values, vectors = np.linalg.eigh(M)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T)


def pairs(y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All pairs i < j, and whether both points are of one class."""
    i, j = np.triu_indices(len(y), 1)
    return i, j, y[i] == y[j]


def distances(X: np.ndarray, M: np.ndarray, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """Squared distances of pairs."""
    e = X[i] - X[j]
    return np.asarray(np.sum((e @ M) * e, axis=1))


def lmnn() -> Any:
    """A point, its targets, and the impostors within the margin, under two metrics."""
    X, y = standardized("wine")
    X = X[:, FLAVANOIDS_AND_COLOR]
    M = cvxml.solve("lmnn", X, y).metric
    start = np.eye(2)
    targets = cvxml.evaluate("lmnn", X, y, start).targets
    counts = (
        cvxml.evaluate("lmnn", X, y, start).impostor_counts - cvxml.evaluate("lmnn", X, y, M).impostor_counts
    )
    point = int(targets[np.argmax(np.bincount(targets[:, 0], counts)[targets[:, 0]]), 0])
    figure, axes = two_panels()
    for ax, metric, title in zip(axes, (start, M), ("Euclidean metric", "metric of LMNN"), strict=True):
        z = X @ root(metric)
        own = targets[targets[:, 0] == point, 1]
        D = np.sum((z - z[point]) ** 2, axis=1)
        reach = D[own].max() + 1
        missed = (y != y[point]) & (reach > D)
        for label, colour in zip(np.unique(y), COLOURS, strict=False):
            ax.plot(*z[y == label].T, "o", color=colour, ms=4, alpha=0.4)
        for j in own:
            ax.plot(*z[[point, j]].T, "-", color="black", lw=1.5)
        ax.plot(*z[missed].T, "x", color="black", ms=8, mew=1.5)
        ax.plot(*z[point], "*", color="black", ms=10)
        ax.add_patch(plt.Circle(z[point], np.sqrt(reach), fill=False, ls="--", color="0.3"))
        ax.set_aspect("equal")
        ax.set_title(f"{title}: {np.count_nonzero(missed)} impostors")
        ax.set(xlim=z[point][0] + np.array([-1, 1]) * 2.2 * np.sqrt(reach))
        ax.set(ylim=z[point][1] + np.array([-1, 1]) * 1.6 * np.sqrt(reach))
    return figure


def itml() -> Any:
    """Histograms of squared distances, and the two bounds, under the prior and under the metric of ITML."""
    X, y = standardized("iris")
    i, j, same = pairs(y)
    solution = cvxml.solve("itml", X, y)
    u, l = solution.params["bounds"]
    figure, axes = two_panels()
    edges = np.linspace(0, 25, 51)
    metrics = {"prior (Euclidean metric)": np.eye(4), "metric of ITML": solution.metric}
    for ax, (title, M) in zip(axes, metrics.items(), strict=True):
        D = np.minimum(distances(X, M, i, j), edges[-1])
        ax.hist(D[same], edges, color=BLUE, alpha=0.7, label="similar pairs")
        ax.hist(D[~same], edges, color=ORANGE, alpha=0.7, label="dissimilar pairs")
        ax.axvline(u, color=BLUE, ls="--", label=f"u = {u:.2f}")
        ax.axvline(l, color=ORANGE, ls="--", label=f"l = {l:.1f}")
        ax.set(title=title, xlabel="squared distance (25: or more)", yscale="log", ylim=(1, 6000))
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False)
    return figure


def mmc() -> Any:
    """Points in the coordinates of two metrics that spend the same budget."""
    X, y = standardized("wine")
    X = X[:, FLAVANOIDS_AND_COLOR]
    i, j, same = pairs(y)
    spent = float(distances(X, np.eye(2), i[same], j[same]).sum())
    metrics = {"Euclidean": np.eye(2) / spent, "MMC": cvxml.solve("mmc", X, y).metric}
    figure, axes = two_panels()
    for ax, (title, M) in zip(axes, metrics.items(), strict=True):
        z = X @ root(M)
        for label, colour in zip(np.unique(y), COLOURS, strict=False):
            ax.plot(*z[y == label].T, "o", color=colour, ms=4, alpha=0.6)
        total = float(np.sqrt(distances(X, M, i[~same], j[~same])).sum())
        ax.set_aspect("equal", "datalim")
        ax.set_title(f"{title}: sum of dissimilar distances {total:.0f}")
        ax.ticklabel_format(axis="both", style="sci", scilimits=(-2, 2))
    return figure


def mcml() -> Any:
    """The probabilities p_A(j | i) under two metrics, in the order of the classes."""
    X, y = standardized("iris")
    metrics = {"Euclidean metric": np.eye(4), "metric of MCML": cvxml.solve("mcml", X, y).metric}
    figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
    for ax, (title, A) in zip(axes, metrics.items(), strict=True):
        p = cvxml.evaluate("mcml", X, y, A).p_A
        drawn = ax.imshow(p, cmap="gray_r", vmin=0, vmax=0.04)
        for edge in (49.5, 99.5):
            ax.axhline(edge, color=BLUE, lw=1)
            ax.axvline(edge, color=BLUE, lw=1)
        ax.set(title=title, xlabel="j", ylabel="i")
        ax.set_xticks([25, 75, 125], ["setosa", "versicolor", "virginica"])
        ax.set_yticks([])
    figure.colorbar(drawn, ax=axes, shrink=0.8, label="p(j | i)")
    return figure


def lsml() -> Any:
    """Distances of near and far pairs: below the diagonal a comparison is kept."""
    X, y = standardized("wine")
    solution = cvxml.solve("lsml", X, y, losses="sum")
    rows = solution.params["quadruplets"]
    figure, axes = two_panels()
    metrics = {"prior": np.eye(13), "metric of LSML": solution.metric}
    for ax, (title, M) in zip(axes, metrics.items(), strict=True):
        at = cvxml.evaluate("lsml", X, None, M, quadruplets=rows)
        missed = at.residuals > 0
        most = 1.05 * max(at.near.max(), at.far.max())
        ax.plot([0, most], [0, most], "--", color="0.3")
        ax.plot(at.far[~missed], at.near[~missed], "o", color=BLUE, ms=4, alpha=0.6)
        ax.plot(at.far[missed], at.near[missed], "X", color=ORANGE, ms=7)
        ax.set(xlabel="distance of the far pair", ylabel="distance of the near pair")
        ax.set_title(f"{title}: {np.count_nonzero(missed)} of {len(missed)} violated")
        ax.set_aspect("equal")
    return figure


def sdml() -> Any:
    """The entries of the metric for three weights lam: white is 0."""
    X, y = standardized("wine")
    figure, axes = plt.subplots(1, 3, figsize=(9, 3.4), layout="constrained")
    for ax, lam in zip(axes, (0.003, 0.03, 0.1), strict=True):
        M = cvxml.solve("sdml", X, y, lam=lam).metric
        zeros = int(np.count_nonzero(M[~np.eye(13, dtype=bool)] == 0))
        drawn = ax.imshow(M, cmap="PuOr", vmin=-0.2, vmax=0.2)
        ax.set(title=f"lam = {lam:g}: {zeros} zeros", xticks=[], yticks=[])
    figure.colorbar(drawn, ax=axes, shrink=0.8, label="entry of M", extend="both")
    return figure


def ldml() -> Any:
    """Squared distances of pairs under the metric of LDML, and the probability of one class."""
    X, y = standardized("iris")
    X, y = X[::3], y[::3]
    i, j, same = pairs(y)
    M = cvxml.solve("ldml", X, y).metric
    b = cvxml.evaluate("ldml", X, y, M).b
    D = distances(X, M, i, j)
    figure, ax = plt.subplots(figsize=(7.5, 3.8), layout="constrained")
    edges = np.linspace(0, 20, 41)
    ax.hist(np.minimum(D[same], 20), edges, color=BLUE, alpha=0.7, label="similar pairs")
    ax.hist(np.minimum(D[~same], 20), edges, color=ORANGE, alpha=0.7, label="dissimilar pairs")
    ax.axvline(b, color="0.3", ls="--", label=f"b = {b:.2f}")
    ax.set(xlabel="squared distance (20: or more)", ylabel="pairs", ylim=(0, 160))
    ax.spines["top"].set_visible(False)
    ax.legend(frameon=False, loc="center", bbox_to_anchor=(0.72, 0.6))
    right = ax.twinx()
    at = np.linspace(0, 20, 400)
    right.plot(at, 1 / (1 + np.exp(at - b)), color="black", lw=2)
    right.set(ylim=(0, 1.05), ylabel="probability of one class")
    right.spines["top"].set_visible(False)
    return figure


def lfda() -> Any:
    """A class of two clusters: the direction of LFDA, and that of Fisher's analysis (all affinities 1)."""
    rng = np.random.default_rng(0)
    spread = np.array([0.35, 0.9])
    middles = np.array([[-3.0, -1.0], [3.0, 1.0], [0.0, 0.0]])
    X = np.concatenate([middle + spread * rng.standard_normal((40, 2)) for middle in middles])
    y = np.repeat([0, 0, 1], 40)
    local = np.asarray(cvxml.solve("lfda", X, y, n_components=1).components)[0]
    S_w = sum(np.cov(X[y == c].T, bias=True) * np.count_nonzero(y == c) for c in (0, 1))
    S_b = np.cov(X.T, bias=True) * len(X) - S_w
    values, vectors = np.linalg.eig(np.linalg.solve(S_w, S_b))
    fisher = np.real(vectors[:, np.argmax(np.real(values))])
    figure, (left, right) = two_panels()
    for label, colour, name in ((0, BLUE, "class 1"), (1, ORANGE, "class 2")):
        left.plot(*X[y == label].T, "o", color=colour, ms=4, alpha=0.6, label=name)
    drawn = ((local, "-", "direction of LFDA"), (fisher, "--", "Fisher's direction"))
    for row, (direction, style, name) in enumerate(drawn):
        unit = direction / np.linalg.norm(direction) * np.sign(direction[np.argmax(np.abs(direction))])
        left.plot(*np.outer([-3.8, 3.8], unit).T, style, color="black", lw=2, label=name)
        for label, colour in ((0, BLUE), (1, ORANGE)):
            along = X[y == label] @ unit
            height = rng.uniform(-0.25, 0.25, len(along)) - row
            right.plot(along, height, "o", color=colour, ms=4, alpha=0.6)
    left.set_aspect("equal", "datalim")
    figure.legend(loc="outside lower center", ncols=4, frameon=False)
    left.set_title("two features")
    right.set(title="the points along each direction", ylim=(-1.6, 0.6))
    right.set_yticks([0, -1], ["LFDA", "Fisher"])
    return figure


def schultz_joachims() -> Any:
    """The weights of the features of wine."""
    X, y = standardized("wine")
    names = ["alcohol", "malic acid", "ash", "alcalinity", "magnesium", "phenols", "flavanoids"]
    names += ["nonflavanoids", "proanthocyanins", "color", "hue", "od280", "proline"]
    figure, ax = plt.subplots(figsize=(7.5, 3.8), layout="constrained")
    place = np.arange(13)
    for move, C, colour in ((-0.2, 0.001, BLUE), (0.2, 0.1, ORANGE)):
        weights = np.diag(cvxml.solve("schultz_joachims", X, y, C=C).metric)
        ax.bar(place + move, weights / weights.max(), 0.4, color=colour, label=f"C = {C:g}")
    ax.set_xticks(place, names, rotation=45, ha="right")
    ax.set_ylabel("weight / largest weight")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, ncols=2, loc="lower left", bbox_to_anchor=(0, 1))
    return figure


def scml() -> Any:
    """The weights of the basis, and how many are positive for each beta."""
    X, y = standardized("wine")
    figure, (left, right) = two_panels()
    betas = 10.0 ** np.arange(-4, 0.6, 0.5)
    counts = []
    for beta in betas:
        solution = cvxml.solve("scml", X, y, beta=float(beta))
        w = cvxml.evaluate("scml", X, y, solution.metric, beta=float(beta)).w
        counts.append(np.count_nonzero(w > 1e-4 * w.max()))
        if np.isclose(beta, 0.01):
            left.vlines(range(len(w)), 0, w, color=BLUE, lw=2)
            left.set(title=f"beta = 0.01: {counts[-1]} of {len(w)} weights are positive")
            left.set(xlabel="direction of the basis", ylabel="weight", ylim=(0, None))
    right.semilogx(betas, counts, "o-", color=ORANGE)
    right.set(title="positive weights", xlabel="beta", ylim=(0, None))
    return figure


def boostmetric() -> Any:
    """The optimal value and the trace of the optimal metric as v comes near v*."""
    from cvxml.methods.boostmetric import threshold

    X, y = standardized("wine")
    low = threshold(X, y)[0]
    weights = low + np.geomspace(0.02, 1.0, 12)
    solved = [cvxml.solve("boostmetric", X, y, v=float(v)) for v in weights]
    figure, axes = two_panels()
    axes[0].plot(weights, [each.objective for each in solved], "o-", color=BLUE)
    axes[0].set(title="optimal value", xlabel="v")
    axes[1].semilogy(weights, [np.trace(each.metric) for each in solved], "o-", color=ORANGE)
    axes[1].set(title="trace of the optimal metric", xlabel="v")
    for ax in axes:
        ax.set_xlim(0, None)
        ax.axvline(low, color="0.3", ls="--")
        ax.axvspan(0, low, color="0.9")
        middle = {"ha": "center", "va": "center", "transform": ax.get_xaxis_transform()}
        ax.text(low / 2, 0.5, "no optimum", rotation=90, **middle)
        ax.text(0.97, 0.5, f"v* = {low:.3f}", ha="right", transform=ax.transAxes)
    return figure


PICTURES: dict[str, Callable[[], Any]] = {
    each.__name__: each
    for each in (lmnn, itml, mmc, mcml, lsml, sdml, ldml, lfda, schultz_joachims, scml, boostmetric)
}


def main() -> None:
    """Draw those that are asked for, or all."""
    mpl.use("Agg")
    for name in sys.argv[1:] or PICTURES:
        figure = PICTURES[name]()
        save(figure, f"{name}.png", dpi=(FEWER if name in DENSE else PIXELS) / figure.get_figwidth())
        plt.close(figure)


if __name__ == "__main__":
    main()
