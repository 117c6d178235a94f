"""Run programs over the golden cases, and keep what came out: recorded/GROUP.json."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cvxml._version import __version__
from cvxml.oracle.cases import load_cases
from cvxml.oracle.conform import conform
from validation.scoreboard.programs import PROGRAMS, Program

HERE = Path(__file__).parent
Record = dict[str, Any]


def command(program: Program, runner: str) -> list[str]:
    """How it is started. runner: a Python, or for others all of the command, with {adapter} where the file goes."""
    adapter = HERE / "adapters" / program.adapter
    if "{adapter}" in runner:
        return ["sh", "-c", runner.format(adapter=shlex.quote(str(adapter)))]
    return [runner, str(adapter), program.learner]


def versions(program: Program, runner: str) -> dict[str, str]:
    """Of the package and what it rests on: an adapter in Python says so; of others see `--version`."""
    if "{adapter}" in runner:
        return {}
    asked = [runner, str(HERE / "adapters" / program.adapter), "--versions"]
    found: dict[str, str] = json.loads(
        subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    )
    return found


def run(
    group: str,
    runner: str,
    known: dict[str, str],
    time_limit: float,
    folder: Path,
    say: Callable[[str], None] = print,
) -> None:
    """Write folder/group.json. known: versions that nobody can be asked for. Raises ValueError for no such group."""
    chosen = [program for program in PROGRAMS if program.runs_in == group]
    if not chosen:
        raise ValueError(f"no group {group!r}; there is: {', '.join(sorted({p.runs_in for p in PROGRAMS}))}")
    os.environ["OMP_NUM_THREADS"] = "1"
    found: Record = {"versions": versions(chosen[0], runner) | known | {"cvxml": __version__}, "programs": {}}
    for program in chosen:
        cases = [case for formula in program.formulas for case in load_cases(None, formula)]
        # known programs, which get the environment and the folder that their runners were written for
        rows = conform(
            command(program, runner), cases, time_limit=time_limit, env=tuple(os.environ), workdir=os.getcwd()
        )
        say(f"{program.slug}: {', '.join(row.verdict for row in rows)}")
        found["programs"][program.slug] = [plainly(row.to_dict()) for row in rows]
    (folder / f"{group}.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def plainly(row: Record) -> Record:
    """Without the places of files on the machine that ran it: of an error in a program, its last words."""
    message = str(row["message"])
    if row["verdict"] == "error" and message.startswith("exit code"):
        code, words = message.split(":", 1)
        row["message"] = f"{code}: ... {' '.join(word for word in words.split() if '/' not in word)[-120:]}"
    return {**row, "seconds": round(float(row["seconds"]), 1)}


def read(folder: Path) -> dict[str, Record]:
    """By group, what was recorded."""
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))}
