"""python -m validation.benchmarks: measure, and write the report and the tables of docs/speed.md.

--only mlsvm,nca    some of the benchmarks: nothing is written but their results and, where the others have theirs, the
                    report
--quick             small sizes, in under two minutes; prints the report and writes nothing
--learners PYTHON   a Python with what validation/foreign/requirements.txt lists, for metric-learn
--folder DIR        results, a file each part, default results/benchmarks; begin again and they are not redone
--note TEXT         a sentence for the report: what else the machine was doing
--render            only write report and page anew, from recorded.json
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from cvxml import datasets
from validation.benchmarks import isolated, page, picture, size, summary
from validation.benchmarks.learners import PYTHON
from validation.benchmarks.page import BENCHMARKS
from validation.benchmarks.summary import Record
from validation.experiments.run import exit_code, run
from validation.experiments.tasks import Result, Store, Task, write

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
RECORDED = HERE / "recorded.json"
Results = dict[str, list[tuple[Task, Result]]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code 0; 2 for bad input; 130 where it was interrupted."""
    asked = parser().parse_args(arguments)
    return exit_code(render if asked.render else lambda: perform(asked))


def perform(asked: argparse.Namespace) -> None:
    """Run what has no result yet; then print, or write."""
    names = asked.only or list(BENCHMARKS)
    if asked.learners is not None:
        os.environ[PYTHON] = python(asked.learners)
    plan = {name: parts(name, asked.quick, asked.learners is not None) for name in BENCHMARKS}
    check_data([task for name in names for task in plan[name]])
    if asked.quick:
        with tempfile.TemporaryDirectory() as folder:
            results = measure({name: plan[name] for name in names}, Path(folder))
        print(
            "\n".join(
                page.report(page.record(command(asked), results, asked.learners is not None, asked.note))
            )
        )
        return
    measure({name: plan[name] for name in names}, asked.folder)
    results, missing = kept(plan, asked.folder)
    if missing:
        print(f"{len(missing)} parts of other benchmarks are missing: no report written")
        return
    write(
        RECORDED,
        json.dumps(page.record(command(asked), results, asked.learners is not None, asked.note), indent=1)
        + "\n",
    )
    render()


def parts(name: str, quick: bool, with_learners: bool) -> list[Task]:
    """The parts of a benchmark; those of metric-learn only where there is a Python that has it."""
    found: list[Task] = isolated.of(name).tasks(quick)
    return [task for task in found if with_learners or task.settings["part"] != "metric-learn"]


def measure(plan: dict[str, list[Task]], folder: Path) -> Results:
    """Every part, one after the other."""
    return {
        name: run(partial(isolated.alone, name), tasks, Store(folder / name)) for name, tasks in plan.items()
    }


def kept(plan: dict[str, list[Task]], folder: Path) -> tuple[Results, list[Task]]:
    """What is on disk, and what is not."""
    found = {
        name: [(task, Store(folder / name).load(task)) for task in tasks] for name, tasks in plan.items()
    }
    missing = [task for pairs in found.values() for task, result in pairs if result is None]
    return {name: [(t, r) for t, r in pairs if r is not None] for name, pairs in found.items()}, missing


def render() -> None:
    """report.md and docs/speed.md, from recorded.json."""
    recorded: Record = json.loads(RECORDED.read_text(encoding="utf-8"))
    write(ROOT / summary.REPORT, "\n".join(page.report(recorded)))
    if grown := summary.collected(recorded, "growth", "size"):
        picture.growth(grown, (ROOT / summary.REPORT).with_name(page.GROWTH))
    if spans := summary.spans(recorded):
        picture.ratios(spans, ROOT / summary.PICTURE)
    speed = ROOT / summary.PAGE
    write(speed, summary.with_section(speed.read_text(encoding="utf-8"), summary.quoted(recorded)))
    print(summary.REPORT)


def command(asked: argparse.Namespace) -> str:
    """As it was given, without the folders of this machine."""
    given = [" --quick"] * asked.quick + [" --learners PYTHON"] * (asked.learners is not None)
    only = f" --only {','.join(asked.only)}" if asked.only and asked.quick else ""
    return "python -m validation.benchmarks" + only + "".join(given)


def check_data(tasks: list[Task]) -> None:
    """ValueError before any work, where a set is not at hand."""
    made = {"gaussian", size.DRAWN, *datasets.names()}
    absent = sorted({task.data for task in tasks} - made)
    if absent:
        raise ValueError(
            f"{', '.join(absent)} not found; let CVXML_DATA name the folder that holds {absent[0]}.csv or .csv.gz, or "
            "choose others with --only"
        )


def python(name: str) -> str:
    """The program. ValueError where there is none."""
    found = shutil.which(name)
    if found is None:
        raise ValueError(f"--learners {name}: no such program; give a Python that has metric-learn")
    return str(Path(found).absolute())


def names(text: str) -> list[str]:
    """Comma-separated names of benchmarks."""
    found = [name for name in text.split(",") if name]
    unknown = [name for name in found if name not in BENCHMARKS]
    if unknown or not found:
        raise argparse.ArgumentTypeError(f"must be some of {','.join(BENCHMARKS)}, got {text!r}")
    return found


def parser() -> argparse.ArgumentParser:
    """The options, as the text above has them."""
    made = argparse.ArgumentParser(
        prog="python -m validation.benchmarks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("--only", type=names)
    made.add_argument("--quick", action="store_true")
    made.add_argument("--learners", metavar="PYTHON")
    made.add_argument("--folder", type=Path, default=Path("results") / "benchmarks")
    made.add_argument("--note", default="", metavar="TEXT")
    made.add_argument("--render", action="store_true")
    return made


if __name__ == "__main__":
    sys.exit(main())
