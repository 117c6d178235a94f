"""Judge the metrics that other packages return: certified, close, refuted or inconclusive, with figures.

    python validation/foreign/judge.py [--run NAME=PYTHON ...] [--recorded FOLDER] [--out FILE.md]

Each file NAME.json of the folder (default recorded/) was written by learners/NAME.py. The program judges all of them.
With --run, it first runs learners/NAME.py again, with a PYTHON that has the packages of the script's requirements file.
--run can be given several times. The program writes the report, and a picture beside it. It needs five minutes of one
core.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import cvxml
from cvxml.core.report import Report

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from mapping import STATIONARY, Inputs, Question, Run, g, inputs, points, question  # noqa: E402 (these files are no package)

SCRIPTS = (
    "with_metric_learn",
    "with_sdml",
    "with_mlpack",
    "with_pylmnn",
    "with_dlib",
)  # of learners/
STARTS = ("auto", "identity", "random", "likelihood")  # of NCA


class Judged(NamedTuple):
    """A run, its problem, and the answers of `cvxml.check`."""

    run: Run
    asked: Question
    figures: Report  # with the tightest bound
    normal: Report
    loose: Report
    squares: Report | None = None  # ITML with its own bounds: judged with their squares
    g: tuple[float, float, float] | None = None  # diagonal MMC: see `values_of_g`


class Judgement(NamedTuple):
    """All that the report needs."""

    given: dict[str, Inputs]  # by data set
    environments: list[dict[str, str]]  # package -> version, of each script
    facts: dict[str, Any]
    judged: list[Judged]
    starts: dict[str, dict[str, float]]  # data set -> start -> f at the end of cvxml's descent
    regressions: dict[str, float]  # data set -> F of MLKR at the end of cvxml's descent


def judge_all(given: dict[str, Inputs], records: list[dict[str, Any]]) -> Judgement:
    """Judge every run of the records."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # suprema at infinity: the report mentions them
        return answers(given, records)


def answers(given: dict[str, Inputs], records: list[dict[str, Any]]) -> Judgement:
    """Judge every run, with warnings."""
    facts: dict[str, Any] = {}
    for record in records:
        facts |= record["facts"]
    environments = [record["environment"] | record["facts"].get("versions", {}) for record in records]
    judged = [judge(run, given[run["data"]]) for record in records for run in record["runs"]]
    with_nca = {each.run["data"] for each in judged if each.asked.method == "nca"}
    starts = {
        name: {
            start: -cvxml.solve("nca", each.X, each.y, criterion="f", init=start, tol=1e-9).objective
            for start in STARTS
        }
        for name, each in given.items()
        if name in with_nca
    }
    of_mlkr = {each.run["data"]: each.run for each in judged if each.asked.method == "mlkr"}
    regressions = {
        name: float(cvxml.solve("mlkr", *points(run, given[name]), tol=1e-9).objective)
        for name, run in of_mlkr.items()
    }
    return Judgement(given, environments, facts, judged, starts, regressions)


def judge(run: Run, given: Inputs) -> Judged:
    """Judge one run: is its matrix optimal for the problem in its source?"""
    asked, (X, y) = question(run, given), points(run, given)

    def at(tol: str, diagnosed: bool = False, **other: Any) -> Report:
        params = asked.params | other
        return cvxml.check(asked.method, X, y, asked.metric, tol=tol, diagnosed=diagnosed, **params)

    normal, loose = at("normal", diagnosed=True), at("loose")
    figures = normal if asked.method in STATIONARY else at("strict")
    squares = values = None
    if run["learner"] == "ITML" and "bounds" not in run["given"]:
        squares = at("normal", bounds=[bound**2 for bound in asked.params["bounds"]])
    if asked.method == "mmc:diagonal" and figures.witness is not None:
        values = values_of_g(asked, figures.witness.metric, run["params"]["diagonal_c"], given)
    return Judged(run, asked, figures, normal, loose, squares, values)


def values_of_g(asked: Question, best: Any, c: float, given: Inputs) -> tuple[float, float, float]:
    """Return g of the returned matrix, g of the best multiple of `best`, and the latter with 1e-6 under the roots."""
    better, (X, y, pairs, _) = best * c / 2, given
    return (
        g(X, asked.metric * asked.spent, y, pairs, c),
        g(X, better, y, pairs, c),
        g(X, better, y, pairs, c, 1e-6),
    )


def read(folder: Path) -> tuple[dict[str, Inputs], list[dict[str, Any]]]:
    """Return the data sets, and the record of each script."""
    given, *records = (
        json.loads((folder / f"{name}.json").read_text(encoding="utf-8")) for name in ("inputs", *SCRIPTS)
    )
    return {name: inputs(each) for name, each in given.items()}, records


def run_learners(name: str, python: str, folder: Path) -> None:
    """Run learners/NAME.py in the other Python, which writes NAME.json. Raises CalledProcessError if it fails."""
    asked = ["--inputs", folder / "inputs.json"] if name != "inputs" else []
    script = HERE / "learners" / f"{name}.py"
    subprocess.run([python, script, *asked, "--out", folder / f"{name}.json"], check=True)


def main() -> None:
    """Write the report and the picture."""
    from page import page
    from picture import draw

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--run", action="append", default=[], metavar="NAME=PYTHON")
    parser.add_argument("--recorded", type=Path, default=HERE / "recorded")
    parser.add_argument("--out", type=Path, default=HERE / "report.md")
    options = parser.parse_args()
    for each in options.run:
        run_learners(*each.split("=", 1), options.recorded)
    judgement = judge_all(*read(options.recorded))
    image = options.out.with_suffix(".png")
    draw(judgement.judged, image)
    options.out.write_text(page(judgement, image.name), encoding="utf-8")
    print(f"{len(judgement.judged)} matrices judged: {options.out}")


if __name__ == "__main__":
    main()
