"""The golden cases: problems and parts of algorithms with known answers, as language-neutral JSON (docs/oracle.md).

A case is stated by its "inputs" alone: features, labels, parameters, and every list of neighbours. What an
implementation is given is its `question`; what it must answer is in `Case`: an interval that holds the optimum, with
the dual variables that prove it, or the numbers of a part. validation/cases/generate.py writes the files.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from cvxml.core.files import read_json
from cvxml.core.files.common import named
from cvxml.core.short_repr import printable

FORMAT, VERSION = "cvxml-case", 1
FOLDER = Path(__file__).parent.parent / "cases"
LISTS = ("targets", "impostors")  # the lists of "neighbors" by class: for whoever needs them so
_REQUIRED: dict[str, type] = {
    "id": str,
    "kind": str,
    "formula": str,
    "title": str,
    "flags": list,
    "asks": dict,
    "inputs": dict,
}
_OF_PART: dict[str, type] = {"answer": dict, "sets": list, "tolerance": float}


@dataclass(frozen=True)
class Case:
    """One file. kind: "problem", whose answer is a metric, or "part", whose answer is a few named arrays."""

    id: str
    kind: str
    formula: str
    title: str
    flags: tuple[str, ...]
    asks: dict[str, str]
    inputs: dict[str, Any] = field(repr=False)
    content: dict[str, Any] = field(repr=False)  # everything in the file

    @property
    def question(self) -> dict[str, Any]:
        """What an implementation is given, as plain data."""
        shown = {name: self.content[name] for name in ("id", "kind", "formula", "title", "asks", "inputs")}
        return {"format": "cvxml-question", "version": VERSION, **shown}

    @property
    def X(self) -> Any:
        """The features, a list of rows."""
        return self.inputs["X"]

    @property
    def y(self) -> Any:
        """The labels; None where a similarity stands in their place."""
        return self.inputs.get("y")

    @property
    def params(self) -> dict[str, Any]:
        """The other inputs, by the names that `cvxml.check` takes."""
        return parameters(self.inputs)


def parameters(inputs: dict[str, Any]) -> dict[str, Any]:
    """The inputs of a case without X, y, and the lists that only repeat "neighbors" by class."""
    repeated = LISTS if "neighbors" in inputs else ()
    return {k: v for k, v in inputs.items() if k not in ("X", "y", *repeated)}


def case_files(folder: Path) -> list[Path]:
    """The .json files of a folder but for schemas, by name."""
    return sorted(path for path in folder.glob("*.json") if not path.name.endswith(".schema.json"))


def load_cases(folder: str | Path | None = None, pattern: str = "*") -> list[Case]:
    """The cases of `folder` (default those that ship) whose id or formula matches `pattern`, by id.

    Raises ValueError for a folder without cases, a file that is no case, or a pattern that matches none.
    """
    where = FOLDER if folder is None else Path(folder)
    files = case_files(where)
    if not files:
        raise ValueError(f"{named(where)} holds no cases: give a folder of .json files")
    cases = [load_case(path) for path in files]
    chosen = [case for case in cases if fnmatch(case.id, pattern) or case.formula == pattern]
    if not chosen:
        raise ValueError(
            f"no case matches {pattern!r}; there is: {', '.join(printable(case.id) for case in cases)}"
        )
    return chosen


def load_case(path: str | Path) -> Case:
    """The case in a file. Raises ValueError if it is none."""
    content = read_json(path)
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError(f'{named(path)} is not a case: it has no "format": "{FORMAT}" in it')
    if content.get("version") != VERSION:
        raise ValueError(
            f"{named(path)} is a case of version {content.get('version')!r:.40}; known is {VERSION}"
        )
    asked = {**_REQUIRED, **(_OF_PART if content.get("kind") == "part" else {})}
    for name, kind in asked.items():
        if not isinstance(content.get(name), kind):
            raise ValueError(
                f"{named(path)} is not a case: its {name} is missing or not of type {kind.__name__}"
            )
    if content["kind"] not in ("problem", "part"):
        raise ValueError(f'{named(path)} is not a case: its kind must be "problem" or "part"')
    if not all(isinstance(flag, str) for flag in content["flags"]):
        raise ValueError(f"{named(path)} is not a case: not all of its flags are text")
    if content["kind"] == "problem" and not isinstance(content["inputs"].get("X"), list):
        raise ValueError(f"{named(path)} is not a case: its inputs have no X")
    fields: dict[str, Any] = {name: content[name] for name in _REQUIRED}
    return Case(**{**fields, "flags": tuple(fields["flags"])}, content=content)
