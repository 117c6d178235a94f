"""What metric-learn and scikit-learn return, judged by cvxml: certified, refuted or inconclusive, with figures.

    python validation/foreign/judge.py [--json FILE] [--out FILE.md]
    python validation/foreign/judge.py --learners PYTHON        (a Python with what requirements.txt lists)

With --learners, inputs.py and learners.py run in that Python first, and --json (default recorded.json) is written by
them; without it, that file of an earlier run is judged. Writes the report, and a picture beside it. Two to three
minutes.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import cvxml
from cvxml.core.report import Report

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from mapping import Question, Run, g, question  # noqa: E402 (these files are no package)

STARTS = ("auto", "identity", "random", "likelihood")  # of NCA


class Judged(NamedTuple):
    """A run, what was asked of it, and the answers."""

    run: Run
    asked: Question
    figures: Report  # with the tightest bound
    normal: Report
    loose: Report
    squares: Report | None = None  # ITML with its own bounds: against the squares of these
    g: tuple[float, float, float] | None = None  # diagonal MMC: see `values_of_g`


class Judgement(NamedTuple):
    """All there is to report on."""

    record: dict[str, Any]
    judged: list[Judged]
    starts: dict[str, dict[str, float]]  # data set -> start -> f of cvxml's own descent from it


def judge_all(record: dict[str, Any]) -> Judgement:
    """Judge every run of a file of learners.py."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # suprema at infinity: the report says so
        return answers(record)


def answers(record: dict[str, Any]) -> Judgement:
    """The same, with warnings."""
    data = {
        name: (np.array(each["X"], dtype=float), np.array(each["y"])) for name, each in record["data"].items()
    }
    judged = [judge(run, *data[run["data"]], record["pairs"][run["data"]]) for run in record["runs"]]
    with_nca = {each.run["data"] for each in judged if each.asked.method == "nca"}
    starts = {
        name: {
            start: -cvxml.solve("nca", X, y, criterion="f", init=start, tol=1e-9).objective
            for start in STARTS
        }
        for name, (X, y) in data.items()
        if name in with_nca
    }
    return Judgement(record, judged, starts)


def judge(run: Run, X: Any, y: Any, pairs: Any) -> Judged:
    """One run: is its matrix what its source asks for?"""
    asked = question(run, X, y, pairs)

    def at(tol: str, diagnosed: bool = False, **other: Any) -> Report:
        params = asked.params | other
        return cvxml.check(asked.method, X, y, asked.metric, tol=tol, diagnosed=diagnosed, **params)

    normal, loose = at("normal", diagnosed=True), at("loose")
    figures = normal if asked.method == "nca" else at("strict")
    squares = values = None
    if run["learner"] == "ITML" and "bounds" not in run["given"]:
        squares = at("normal", bounds=[bound**2 for bound in asked.params["bounds"]])
    if asked.method == "mmc:diagonal" and figures.witness is not None:
        values = values_of_g(asked, figures.witness.metric, run["params"]["diagonal_c"], X, y, pairs)
    return Judged(run, asked, figures, normal, loose, squares, values)


def values_of_g(
    asked: Question, best: Any, c: float, X: Any, y: Any, pairs: Any
) -> tuple[float, float, float]:
    """g at the matrix returned and at the best multiple of `best`; the latter again with 1e-6 under the roots."""
    better = best * c / 2
    return (
        g(X, asked.metric * asked.spent, y, pairs, c),
        g(X, better, y, pairs, c),
        g(X, better, y, pairs, c, 1e-6),
    )


def run_learners(python: Path, out: Path) -> None:
    """Write `out` by learners.py in the other Python. Raises CalledProcessError if that fails."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([python, HERE / "inputs.py", "--data", folder], check=True)
        subprocess.run([python, HERE / "learners.py", "--data", folder, "--out", out], check=True)


def main() -> None:
    """Write the report and the picture."""
    from page import page
    from picture import draw

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--learners", type=Path, metavar="PYTHON")
    parser.add_argument("--json", type=Path, default=HERE / "recorded.json")
    parser.add_argument("--out", type=Path, default=HERE / "report.md")
    options = parser.parse_args()
    if options.learners is not None:
        run_learners(options.learners, options.json)
    judgement = judge_all(json.loads(options.json.read_text(encoding="utf-8")))
    image = options.out.with_suffix(".png")
    draw(judgement.judged, image)
    options.out.write_text(page(judgement, image.name), encoding="utf-8")
    print(f"{len(judgement.judged)} matrices judged: {options.out}")


if __name__ == "__main__":
    main()
