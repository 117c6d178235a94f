"""A piece of an experiment, and its result on disk."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

Result = dict[str, Any]


class Task(NamedTuple):
    """One method on one split of one data set. settings: whatever else its result depends on."""

    data: str
    method: str
    split: int
    settings: dict[str, Any]

    @property
    def key(self) -> str:
        """The same for every run of this piece, and for no other piece of an experiment."""
        return f"{self.data}/{self.method}/{self.split:03d}"


@dataclass(frozen=True)
class Preset:
    """How much of an experiment is run.

    thinner: what is less than in the paper, a sentence each, for the report. remarks: whether the report has the
    explanations that were written for the committed run; they say nothing of another. smaller: in what it is smaller
    than *full*, for the first screen.
    """

    data: tuple[str, ...]
    splits: int
    settings: dict[str, Any] = field(default_factory=dict)
    thinner: tuple[str, ...] = ()
    remarks: bool = False
    smaller: str = ""


class Store:
    """Results in a folder, a file each. A file is there whole or not at all, however a run ends."""

    def __init__(self, folder: Path):
        self.folder = folder

    def path(self, task: Task) -> Path:
        """Where the result of a task is kept."""
        return self.folder / f"{task.key}.json"

    def load(self, task: Task) -> Result | None:
        """The result, None where there is none yet. ValueError where it has other settings, or is no result."""
        path = self.path(task)
        try:
            kept = json.loads(path.read_text(encoding="utf-8"))
            settings, result = kept["settings"], kept["result"]
            if not isinstance(result, dict):
                raise TypeError("the result is no object")
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{path} is no result of an experiment ({error}); remove it") from error
        if settings != as_stored(task.settings):
            raise ValueError(
                f"{path} was computed with the settings {settings}, and {as_stored(task.settings)} are asked for; "
                "give another --folder, or remove this one"
            )
        return result

    def save(self, task: Task, result: Result) -> None:
        """Write the result under another name, then rename it, which is atomic."""
        path = self.path(task)
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path, json.dumps({"settings": task.settings, "result": result}, indent=1))


def as_stored(settings: dict[str, Any]) -> Any:
    """The settings as JSON gives them back: tuples are lists."""
    return json.loads(json.dumps(settings))


def write(path: Path, text: str) -> None:
    """Replace the file at once."""
    partial = path.with_name(f".partial-{os.getpid()}-{path.name}")
    try:
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
