"""The picture of judge.py: the relative gap of every convex run that has one, on a log axis."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from mapping import STATIONARY, called, says_converged

if TYPE_CHECKING:
    from judge import Judged

LEAST = 1e-12  # smaller gaps are drawn here


def draw(judged: list[Judged], path: Path) -> None:
    """Draw a panel for each data set, and a dot for each run: filled if the package reports convergence."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    convex = [e for e in judged if e.asked.method not in STATIONARY and np.isfinite(e.figures.rel_gap or 0.0)]
    names = list(dict.fromkeys(each.run["data"] for each in convex))
    rows = [[each for each in convex if each.run["data"] == name] for name in names]
    figure, panels = plt.subplots(
        len(names),
        figsize=(8.5, 0.8 + 0.26 * len(convex) + 0.3 * len(names)),
        sharex=True,
        squeeze=False,
        height_ratios=[len(each) + 1 for each in rows],
        layout="constrained",
    )
    for panel, name, runs in zip(panels[:, 0], names, rows, strict=True):
        for at, each in enumerate(runs):
            gap = each.figures.rel_gap or 0.0
            filled = bool(says_converged(each.run))
            panel.plot([LEAST, max(gap, LEAST)], [at, at], color="0.8", lw=1.5, zorder=1)
            panel.plot(max(gap, LEAST), at, "o", ms=7, mec="C0", mfc="C0" if filled else "white", zorder=2)
        panel.set_yticks(range(len(runs)), [f"{called(e.run)}, {e.run['settings']}" for e in runs])
        panel.set_ylim(len(runs) - 0.4, -0.6)
        panel.set_title(name, loc="left", fontsize=10)
        for tol in (1e-6, 1e-3):
            panel.axvline(tol, color="0.5", ls=":", lw=1, zorder=0)
        panel.spines[["top", "right"]].set_visible(False)
    panels[-1, 0].set_xscale("log")
    panels[-1, 0].set_xlabel(
        "proved relative gap, drawn at 1e-12 if it is smaller; dotted lines: tolerances 1e-6 and 1e-3\n"
        "filled: the package reports convergence; open: it does not",
        loc="right",
    )
    figure.savefig(path, dpi=110, metadata={"Software": None})
    plt.close(figure)
