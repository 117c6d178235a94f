"""The pictures of README.md, docs/displays.md and docs/tutorial.md.

Writes docs/_static/cvxml.png (_narrow: for telephones), display_*.png, tutorial_*.png.

    python validation/pictures/__main__.py        (seconds)

README's: a metric and its proof, displays of LMNN fitted to two features of iris; and, right, the relative gaps of
metric-learn's answers as they are in validation/foreign/report.md, which is read, not judged anew. The others are
one picture for each display, of what the page's examples draw of wine; and the tutorial's two points and its wine.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from PIL import Image

import cvxml
from cvxml import datasets, displays
from cvxml.displays._palette import COLOURS

ROOT = Path(__file__).parents[2]
REPORT = ROOT / "validation" / "foreign" / "report.md"
STATIC = ROOT / "docs" / "_static"
DATA, FEATURES = "iris", (1, 3)
NAMES = ("sepal width", "petal width")
TOL = 1e-6
OTHER = ("tight", "passes", "projections")  # settings that no one would choose who wants the answer in time
PIXELS = 600  # across, of the page's pictures


def foreign() -> dict[str, float]:
    """Learner and settings -> the relative gap of the metric that it returns, the largest first.

    Without other packages, and runs whose tolerance was set tighter, or whose limits were set low.
    """
    part = REPORT.read_text(encoding="utf-8").split(f"## {DATA} ")[1]
    table = part.split("| package |")[0].split("## ")[0]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()]
    found = {
        f"{row[0].split(',')[0]}, {row[1]}": float(row[5])
        for row in rows
        if len(row) == 9 and row[5][:1].isdigit() and not any(word in row[1] for word in OTHER)
        if " " not in row[0].split(",")[0]  # a package before the learner
    }
    return dict(sorted(found.items(), key=lambda pair: -pair[1]))


def bars(ax: Any, gaps: dict[str, float]) -> None:
    """A mark for each run: a dot where the gap is proved to be within TOL, a cross where it is larger."""
    for at, gap in enumerate(gaps.values()):
        colour, marker = ("#009E73", "o") if gap <= TOL else ("#D55E00", "X")
        shown = max(gap, 1e-9)  # what is less is at the edge
        ax.plot([1e-9, shown], [at, at], color="0.8", lw=2, zorder=1)
        ax.plot(shown, at, marker, color=colour, ms=10, zorder=2, clip_on=False)
    ax.axvline(TOL, color="0.3", ls="--", lw=1.5)
    ax.set_xscale("log")
    ax.set_xlim(1e-9, 1)
    ax.set_yticks(range(len(gaps)), list(gaps))
    ax.tick_params(labelsize=12)
    ax.set_ylim(len(gaps) - 0.4, -0.6)
    ax.set_xlabel("proved gap / optimum; dashed: 1e-6", fontsize=12)
    ax.spines[["top", "right"]].set_visible(False)


def readme(narrow: bool = False) -> Any:
    """The figure of README.md; narrow: one part below the other, for a telephone."""
    import matplotlib.pyplot as plt

    X, y = datasets.load(DATA)
    X = datasets.standardize(X)[:, FEATURES]
    model = cvxml.LMNN().fit(X, y)
    figure: Any
    figure = plt.figure(figsize=(5.5, 15) if narrow else (15, 5), layout="constrained")
    # each part as wide as there is room
    parts = figure.subfigures(3, 1) if narrow else figure.subfigures(1, 3, width_ratios=(1, 1, 1.15))
    axes = [part.subplots() for part in parts]
    displays.MetricEllipseDisplay.from_estimator(model, X, y, ax=axes[0])
    axes[0].set(xlabel=NAMES[0], ylabel=NAMES[1])
    displays.CertificateDisplay.from_estimator(model, ax=axes[1], show="bounds")
    bars(axes[2], foreign())
    titles = ("a metric: LMNN on iris", "the way to its proof", "metric-learn's answers, judged")
    for part, ax, title in zip(parts, axes, titles, strict=True):
        ax.set_title("")
        part.suptitle(title, fontsize=14)
    axes[2].tick_params(labelsize=9)
    axes[2].xaxis.label.set_fontsize(9)
    return figure


def page() -> dict[str, Any]:
    """What a display shows -> the figure, of the examples of docs/displays.md."""
    X, y = datasets.load("wine")
    X = datasets.standardize(X)
    X2 = X[:, [6, 9]]
    itml, mlsvm, glml = (
        cvxml.ITML(),
        cvxml.MLSVM(lam=0.01, n_neighbors=5, neighborhood="per-class"),
        cvxml.GLML(),
    )
    lmnn = cvxml.solve("lmnn", X, y)
    metrics = {"mlsvm": cvxml.solve("mlsvm", X, y).metric, "lmnn": lmnn.metric}
    drawn = {
        "ellipse": displays.MetricEllipseDisplay.from_estimator(itml.fit(X, y), X, y, features=(6, 12)),
        "certificate": displays.CertificateDisplay.from_solution(lmnn),
        "neighborhood": displays.NeighborhoodDisplay.from_estimator(mlsvm.fit(X2, y), X2, y, index=70),
        "spectrum": displays.SpectrumDisplay.from_metric(metrics, scale="log"),
        "local": displays.LocalMetricDisplay.from_estimator(glml.fit(X2, y), X2, y, densities=True),
    }
    return {name: display.figure_ for name, display in drawn.items()}


def tutorial() -> dict[str, Any]:
    """What docs/tutorial.md shows -> the figure: lines below a kink and the bounds they give; the bounds of wine."""
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    m = np.linspace(0, 0.45, 500)
    left.plot(m, np.maximum(0, 1 - 4 * m), color="black", lw=3, label="the loss")
    right.plot(m, m**2 / 2 + np.maximum(0, 1 - 4 * m), color="black", lw=3, label="the objective P")
    duals = {"a = 0.02": 0.02, "a = 1/16, the best": 1 / 16, "a = 0.1": 0.1}
    for (label, a), style, colour in zip(duals.items(), ("--", "-", ":"), COLOURS, strict=False):
        drawn = {"ls": style, "color": colour, "lw": 2, "label": label}
        left.plot(m, a * (1 - 4 * m), **drawn)
        right.plot(m, m**2 / 2 + a * (1 - 4 * m), **drawn)
        right.plot(4 * a, a - 8 * a**2, "o", color=colour, ms=8)
    left.set(ylim=(-0.1, 0.3), title="max(0, 1 - 4m), and a (1 - 4m) below it")
    right.set(ylim=(0, 0.16), title="P, and the bound of each price: a dot")
    for ax in (left, right):
        ax.set_xlabel("m")
        ax.legend(loc="upper right")
        ax.spines[["top", "right"]].set_visible(False)
    X, y = datasets.load("wine")
    wine = cvxml.solve("mlsvm", datasets.standardize(X), y, lam=0.1, tol=TOL)
    return {"bound": figure, "wine": displays.CertificateDisplay.from_solution(wine, show="bounds").figure_}


def save(figure: Any, name: str, dpi: float) -> None:
    """As a small file: of the 256 colours that come nearest to all that are there."""
    drawn = io.BytesIO()
    figure.savefig(drawn, dpi=dpi)
    few = Image.open(drawn).convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    few.save(STATIC / name, optimize=True)


def main() -> None:
    """Draw."""
    mpl.use("Agg")
    save(readme(), "cvxml.png", dpi=90)
    save(readme(narrow=True), "cvxml_narrow.png", dpi=100)
    for name, figure in page().items():
        save(figure, f"display_{name}.png", dpi=PIXELS / figure.get_figwidth())
    for name, figure in tutorial().items():
        save(figure, f"tutorial_{name}.png", dpi=90)


if __name__ == "__main__":
    main()
