"""python -m validation.experiments NAME [--preset small|reduced|full]: run an experiment, and write its report.

--only iris,wine    some of the data sets, for a look; the names of the report say which
--n-jobs 2          processes
--dask ADDRESS      a dask scheduler to send the work to; "local" starts one here
--folder DIR        results, a file each split, default results/NAME-PRESET; begin again and they are not redone
--report DIR        where NAME-PRESET.md, .png and .json go, default the same folder
--begin FILE        take what a NAME-PRESET.json has of these tasks for done, and go on from there; the report says so
--so-far            run nothing: write the report of what has a result
--render FILE       only write the report anew, from a NAME-PRESET.json
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from cvxml import datasets
from validation.experiments import packaged
from validation.experiments.page import Used, every_setting, record, results_of, write_report
from validation.experiments.run import exit_code, run
from validation.experiments.tasks import Preset, Store, Task, as_stored

EXPERIMENTS = ("mlsvm", "table1", "glml", "synthetic", "nca")


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code 0; 2 for bad input; 130 where it was interrupted."""
    asked = parser().parse_args(arguments)
    return exit_code(lambda: perform(asked) if asked.render is None else render(asked.render))


def perform(asked: argparse.Namespace) -> None:
    """Run what has no result yet, then write the report."""
    if asked.name is None:
        raise ValueError(f"no experiment named; give one of {', '.join(EXPERIMENTS)}")
    experiment, stem = of(asked.name), f"{asked.name}-{asked.preset}"
    if asked.preset not in experiment.PRESETS:
        raise ValueError(
            f"{asked.name} has no preset {asked.preset!r}; give one of {', '.join(experiment.PRESETS)}"
        )
    chosen = f"-{'-'.join(asked.only)}" if asked.only else ""  # not to replace the report on all
    preset: Preset = experiment.PRESETS[asked.preset]
    check_data(preset, asked.only, getattr(experiment, "DRAWN", ()))
    tasks = [task for task in experiment.tasks(preset) if asked.only is None or task.data in asked.only]
    folder = asked.folder or Path("results") / stem
    store = Store(folder)
    begun = None if asked.begin is None else recorded_in(asked.begin)
    used: Used = getattr(experiment, "used", every_setting)
    take(begun, tasks, store, used)
    if asked.so_far:
        results = [(task, result) for task in tasks if (result := store.load(task)) is not None]
        if not results:
            raise ValueError(f"nothing in {folder} has a result yet; leave --so-far out")
    else:
        results = run(experiment.measure, tasks, store, asked.n_jobs, asked.dask)
    recorded = record(asked.name, asked.preset, results, asked.only, begun, used)
    print(write_report(recorded, experiment, asked.report or folder, stem + chosen))


def take(
    begun: dict[str, Any] | None, tasks: Sequence[Task], store: Store, used: Used = every_setting
) -> None:
    """Keep the results of another run for the tasks that it has with the same settings, where there are none yet.

    used: the settings of a task that change its result; the others may differ.
    """
    asked = {task.key: task for task in tasks}
    for other, result in results_of(begun) if begun else ():
        task = asked.get(other.key)
        if task is None or store.load(task) is not None:
            continue
        if as_stored(used(task.method, task.settings)) == used(other.method, other.settings):
            store.save(task, result)


def render(path: Path) -> None:
    """Write the report of a recorded run anew, beside it."""
    recorded = recorded_in(path)
    print(write_report(recorded, of(recorded["experiment"]), path.parent, path.stem))


def recorded_in(path: Path) -> dict[str, Any]:
    """What a NAME-PRESET.json holds. ValueError where it is none."""
    try:
        recorded: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if recorded["experiment"] not in EXPERIMENTS or not recorded["results"]:
            raise ValueError("no experiment, or no results")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is no record of a run ({error}); give a NAME-PRESET.json") from error
    return recorded


def check_data(preset: Preset, only: Sequence[str] | None, drawn: Sequence[str] = ()) -> None:
    """ValueError before any work, where a data set is not part of the preset or not at hand.

    drawn: those that the experiment draws itself.
    """
    unknown = [name for name in only or () if name not in preset.data]
    if unknown:
        raise ValueError(f"{unknown[0]!r} is not in this preset; give some of {', '.join(preset.data)}")
    known = (*drawn, *datasets.names(), *packaged.names())
    absent = [name for name in only or preset.data if name not in known and source(name) not in known]
    in_packages = [name for name in absent if source(name) in packaged.PACKAGES]
    in_files = [name for name in absent if name not in in_packages]
    said = [packaged.missing(name) for name in dict.fromkeys(map(source, in_packages))]
    if in_files:
        said.append(
            f"{', '.join(in_files)} not found; let CVXML_DATA name the folder that holds {source(in_files[0])}.csv or "
            ".csv.gz"
        )
    if said:
        raise ValueError(f"{'; '.join(said)}, or choose others with --only")


def source(name: str) -> str:
    """The set of `cvxml.datasets` that a set of an experiment is made from: "usps" of "usps 8x8"."""
    return name.split(" ")[0]


def of(name: str) -> ModuleType:
    """The module of an experiment."""
    return import_module(f"validation.experiments.{name}")


def names(text: str) -> list[str]:
    """Comma-separated names."""
    return [name for name in text.split(",") if name]


def positive(text: str) -> int:
    """A number of processes."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, got {number}")
    return number


def parser() -> argparse.ArgumentParser:
    """The options, as the text above has them."""
    made = argparse.ArgumentParser(
        prog="python -m validation.experiments",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("name", nargs="?", choices=EXPERIMENTS)
    made.add_argument("--preset", choices=("small", "reduced", "full"), default="small")
    made.add_argument("--only", type=names)
    made.add_argument("--n-jobs", type=positive, default=1)
    made.add_argument("--dask", metavar="ADDRESS")
    made.add_argument("--folder", type=Path)
    made.add_argument("--report", type=Path)
    made.add_argument("--begin", type=Path, metavar="FILE")
    made.add_argument("--so-far", action="store_true")
    made.add_argument("--render", type=Path, metavar="FILE")
    return made


if __name__ == "__main__":
    sys.exit(main())
