"""Two dimensions by PCA, LDA and NCA: rings, wine, faces and digits, as Goldberger et al. 2004 draw them.

    CVXML_DATA=FOLDER python validation/studies/nca_pictures.py        (writes nca_pictures.png and nca_pictures.md)

The rings are the package's, three classes in the plane, beside a third coordinate of pure noise, normal with standard
deviation 4, larger than any ring, which is what PCA keeps. Wine is z-scored. The faces are those of `packaged`, which
says how to get them; the digits the first 200 of each of USPS; both are raw. The maps are fitted to 70 % of each class,
at random. Of these it counts whose nearest other one in the picture has their class; of the others, whose nearest
fitted point has.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors

import cvxml
from cvxml import datasets
from cvxml.displays._scatter import scatter
from validation.experiments import packaged
from validation.experiments.page import table
from validation.experiments.verdicts import more, pair

EACH = 200  # of a digit
FITTED = 0.7  # of each class
MOST_NAMED = 10  # classes in a legend
HERE = Path(__file__).with_suffix("")


def data() -> dict[str, tuple[Any, Any]]:
    """Name -> points and labels."""
    rings, y = datasets.rings(400)
    noise = 4 * np.random.RandomState(1).standard_normal(400)
    wine, kind = datasets.load("wine")
    pixels, digit = datasets.load("usps")
    some = np.concatenate([np.flatnonzero(digit == each)[:EACH] for each in np.unique(digit)])
    return {
        "rings and noise, d = 3": (np.column_stack([rings, noise]), y),
        "wine, d = 13": (datasets.standardize(wine), kind),
        "faces, d = 560": packaged.faces(),
        "digits, d = 256": (pixels[some], digit[some]),
    }


def maps() -> dict[str, Any]:
    """Name -> a transformer to the plane; the best of several starts for NCA."""
    starts = ["auto", "likelihood", "pca", "random"]
    return {
        "PCA": PCA(2),
        "LDA": LinearDiscriminantAnalysis(n_components=2),
        "NCA (g)": cvxml.NCA(2, criterion="g", init=["auto", "pca", "random"]),
        "NCA (f)": cvxml.NCA(2, criterion="f", init=starts),
    }


def leave_one_out(points: Any, y: Any) -> float:
    """The share of points whose nearest other point has their label."""
    nearest = NearestNeighbors(n_neighbors=1).fit(points).kneighbors()[1][:, 0]
    return float(np.mean(y[nearest] == y))


def missed(points: Any, y: Any, train: Any, test: Any) -> list[int]:
    """Of the points that were not fitted, those whose nearest fitted point has another label."""
    found = KNeighborsClassifier(1).fit(points[train], y[train]).predict(points[test])
    return [int(i) for i in test[found != y[test]]]


def claim_lines(wrong: dict[str, dict[str, list[int]]], counts: dict[str, int]) -> list[str]:
    """NCA against PCA and LDA on the new points of each set: points that only one of two gets wrong, and verdicts."""
    pairs = {
        (data, ours, other): pair(of[ours], of[other], counts[data])
        for data, of in wrong.items()
        for ours in ("NCA (g)", "NCA (f)")
        for other in ("PCA", "LDA")
    }
    verdict = more(pairs)
    rows = [
        [data, f"{ours} before {other}", f"{two.first}, {two.second}", verdict[data, ours, other]]
        for (data, ours, other), two in pairs.items()
    ]
    return [
        '"The classes are consistently much better separated by the NCA transformation than by either PCA, or LDA", on',
        "new points (McNemar, Holm). The word *much* is not tested.",
        "",
        *table(["data", "comparison", "only the first wrong, only the second", "verdict"], rows),
    ]


def frame(ax: Any, points: Any) -> None:
    """A square that holds all points but the outermost half per cent on each side, which would shrink the rest."""
    low, high = np.percentile(points, [0.5, 99.5], axis=0)
    middle, half = (low + high) / 2, 0.58 * float((high - low).max())
    ax.set_aspect("equal", adjustable="box")
    ax.set_xlim(middle[0] - half, middle[0] + half)
    ax.set_ylim(middle[1] - half, middle[1] + half)


def main() -> None:
    """Draw, and write the table."""
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    warnings.simplefilter("ignore")  # suprema at infinity: the table says where
    sets, kinds = data(), maps()
    figure, axes = plt.subplots(len(sets), len(kinds), figsize=(13, 12.6), layout="constrained")
    rows, wrong, counts = [], {}, {}
    for line, (name, (X, y)) in zip(axes, sets.items(), strict=True):
        train, test = train_test_split(np.arange(len(y)), train_size=FITTED, random_state=0, stratify=y)
        cells = []
        for ax, (kind, model) in zip(line, kinds.items(), strict=True):
            points = model.fit(X[train], y[train]).transform(X)
            mistakes = missed(points, y, train, test)
            wrong.setdefault(name, {})[kind] = mistakes
            counts[name] = len(test)
            shares = leave_one_out(points[train], y[train]), 1 - len(mistakes) / len(test)
            scatter(points, y, ax=ax, legend=ax is line[-1] and len(np.unique(y)) <= MOST_NAMED)
            frame(ax, points)
            ax.set_title(f"{kind}: {100 * shares[0]:.1f} %, new {100 * shares[1]:.1f} %", fontsize=11)
            status = getattr(model, "solution_", None)
            said = "" if status is None else f" ({status.status.name})"
            cells.append(f"{100 * shares[0]:.1f}, {100 * shares[1]:.1f}{said}")
        line[0].set_ylabel(name, fontsize=12)
        if ax.get_legend() is not None:
            ax.legend(
                loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=9, markerscale=1.5, frameon=False
            )
        rows.append(f"| {name} | " + " | ".join(cells) + " |")
    figure.savefig(HERE.with_suffix(".png"), dpi=110)
    text = [
        "# Two dimensions by PCA, LDA and NCA",
        "",
        "Made by `python validation/studies/nca_pictures.py`; its text describes the method.",
        "The table has two numbers in per cent: the fitted points with a nearest other fitted point of their",
        "class, and the new points with a nearest fitted point of their class. The distances are those in the",
        "picture, for one split of 70/30. NCA is the best of several starts, with the status of its solution. A",
        "few far points lie outside the frames. The faces have fewer points than features. Then there is usually",
        "a plane with every class in one place, so only the new points are evidence.",
        "",
        "| data | " + " | ".join(kinds) + " |",
        "|---" * (len(kinds) + 1) + "|",
        *rows,
        "",
        *claim_lines(wrong, counts),
        "",
        "![the pictures](nca_pictures.png)",
        "",
    ]
    HERE.with_suffix(".md").write_text("\n".join(text), encoding="utf-8")
    print("\n".join(text))


if __name__ == "__main__":
    main()
