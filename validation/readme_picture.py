"""The picture of README.md: a metric, its proof, and what other packages return. Writes docs/_static/cvxml.png.

    python validation/readme_picture.py        (seconds)

The two pictures on the left are displays of LMNN fitted to two features of iris; the right one shows relative gaps as
they are in validation/foreign/report.md, which is read, not judged anew.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl

import cvxml
from cvxml import datasets
from cvxml.displays import CertificateDisplay, MetricEllipseDisplay

ROOT = Path(__file__).parent.parent
REPORT = ROOT / "validation" / "foreign" / "report.md"
PICTURE = ROOT / "docs" / "_static" / "cvxml.png"
DATA, FEATURES = "iris", (1, 3)
NAMES = ("sepal width", "petal width")
TOL = 1e-6


def foreign() -> dict[str, float]:
    """Learner and settings -> the relative gap of the metric that it returns, the largest first; none set tighter."""
    part = REPORT.read_text(encoding="utf-8").split(f"## {DATA} ")[1]
    table = part.split("| package |")[0].split("## ")[0]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()]
    found = {
        f"{row[0].split(',')[0]}, {row[1]}": float(row[5])
        for row in rows
        if len(row) == 9 and row[5][:1].isdigit() and "tight" not in row[1]
    }
    return dict(sorted(found.items(), key=lambda pair: -pair[1]))


def bars(ax: Any, gaps: dict[str, float]) -> None:
    """A dot for each run of another package, and one for ours."""
    for at, gap in enumerate(gaps.values()):
        proved = gap <= TOL
        colour, marker = ("#009E73", "o") if proved else ("#D55E00", "X")
        ax.plot([1e-9, gap], [at, at], color="0.8", lw=2, zorder=1)
        ax.plot(gap, at, marker, color=colour, ms=10, zorder=2)
    ax.axvline(TOL, color="0.3", ls="--", lw=1.5)
    ax.set_xscale("log")
    ax.set_xlim(1e-9, 100)
    ax.set_yticks(range(len(gaps)), list(gaps))
    ax.tick_params(labelsize=12)
    ax.set_ylim(len(gaps) - 0.4, -0.6)
    ax.set_xlabel("proved gap / optimum; dashed: 1e-6", fontsize=12)
    ax.spines[["top", "right"]].set_visible(False)


def main() -> None:
    """Draw."""
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    X, y = datasets.load(DATA)
    X = datasets.standardize(X)[:, FEATURES]
    model = cvxml.LMNN().fit(X, y)
    figure, axes = plt.subplots(1, 3, figsize=(15, 5), layout="constrained", width_ratios=(1, 1, 0.9))
    MetricEllipseDisplay.from_estimator(model, X, y, ax=axes[0])
    axes[0].set(xlabel=NAMES[0], ylabel=NAMES[1])
    CertificateDisplay.from_estimator(model, ax=axes[1], show="bounds")
    bars(axes[2], foreign())
    titles = ("a metric: LMNN on iris", "its proof", "metric-learn's answers, judged")
    for ax, title in zip(axes, titles, strict=True):
        ax.set_title("", loc="left")
        ax.set_title(title, fontsize=14)
    figure.savefig(PICTURE, dpi=90, metadata={"Software": None})


if __name__ == "__main__":
    main()
