"""Speed of the convex relatives: fast solver against the literal problem through cvxpy; writes benchmark_convex.md.

    python validation/benchmark_convex.py [--quick]

z-scored scikit-learn sets, default parameters, one process, one BLAS thread; the best of three runs of the fast solver,
one where it grows, and of the literal problem with its dual through Clarabel, all with the certificate that decides.
LMNN is given to cvxpy by constraint generation, the others whole. A jitter of 1e-6 keeps points of different classes
apart.
--quick: fast solvers only.
"""

from __future__ import annotations

import argparse
import os
import timeit
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import cvxml
from cvxml import datasets
from cvxml.backend import SolverFailure

REPORT = Path(__file__).with_suffix(".md")
LITERAL: dict[str, list[tuple[str, int | None]]] = {  # what cvxpy is asked for, within minutes
    "lmnn": [("iris", None), ("wine", None)],
    "lmnn:squared_hinge": [("iris", None), ("wine", None)],
    "itml": [("iris", 60), ("wine", 60)],
    "mcml": [("iris", 60), ("wine", 60)],
    "mmc": [("iris", None), ("wine", None)],
    "mmc:diagonal": [("iris", None), ("wine", None)],
    "dml_eig": [("iris", None), ("wine", 90)],
}
GROWTH = (75, 150, 300)  # points of breast_cancer


class Row(NamedTuple):
    """One method on one set."""

    method: str
    data: str
    shape: tuple[int, int]
    normal: float  # seconds to a certified 1e-6
    strict: float  # and to 1e-9
    literal: float | None
    gap: float  # relative, of the literal answer


def points(name: str, n: int | None) -> tuple[Any, Any]:
    """z-scored, a fixed subsample if n is given."""
    X, y = datasets.load(name)
    if n is not None:
        X, y = datasets.subsample(X, y, n)
    return datasets.standardize(X) + 1e-6 * np.random.default_rng(0).standard_normal(X.shape), y


def timed(method: str, X: Any, y: Any, times: int = 3, **options: Any) -> tuple[float, float]:
    """Seconds, the best of some runs, and the relative gap; inf where the back end fails."""
    gaps: list[float] = []

    def run() -> None:
        gaps.append(cvxml.solve(method, X, y, **options).rel_gap)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is not certified shows in the gap
        try:
            return min(timeit.repeat(run, number=1, repeat=times)), gaps[-1]
        except SolverFailure:
            return float("nan"), float("inf")


def row(method: str, name: str, n: int | None, literal: bool, times: int = 3) -> Row:
    """Measured now."""
    X, y = points(name, n)
    normal, strict = (timed(method, X, y, times, tol=tol)[0] for tol in (1e-6, 1e-9))
    slow, gap = timed(method, X, y, 1, solver="clarabel") if literal else (None, float("nan"))
    found = Row(method, name, X.shape, normal, strict, slow, gap)
    print(found, flush=True)
    return found


def table(rows: list[Row]) -> list[str]:
    """Markdown."""
    lines = [
        "| method | data | n x d | 1e-6 | 1e-9 | literal, Clarabel | its gap | literal / fast |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for r in rows:
        n, d = r.shape
        literal = "" if r.literal is None else f"{r.literal:.1f} s | {r.gap:.0e} | {r.literal / r.normal:.0f}"
        lines.append(
            f"| `{r.method}` | {r.data} | {n} x {d} | {r.normal:.2f} s | {r.strict:.2f} s | {literal or '| |'} |"
        )
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    rows = [row(m, name, n, not quick) for m, sets in LITERAL.items() for name, n in sets]
    growth = [row(m, "breast_cancer", n, False, 1) for m in LITERAL for n in GROWTH]
    whole = [row(m, name, None, False) for m in ("itml", "mcml", "dml_eig") for name in ("iris", "wine")]
    REPORT.write_text(report(rows, whole, growth, " `--quick`" if quick else ""), encoding="utf-8")


def report(rows: list[Row], whole: list[Row], growth: list[Row], options: str = "") -> str:
    """The page."""
    text = [
        "# The convex relatives: fast against literal",
        "",
        "`python validation/benchmark_convex.py`" + options,
        "",
        *(line.strip() for line in (__doc__ or "").split("\n\n")[2].splitlines()),
        f"Machine: {os.cpu_count()} cores.",
        "",
        *table(rows),
        "",
        "Whole sets, of which the literal problem takes too long or fails:",
        "",
        *table(whole),
        "",
        "Growth with the number of points (30 features):",
        "",
        *table(growth),
        "",
    ]
    return "\n".join(text)


if __name__ == "__main__":
    main()
