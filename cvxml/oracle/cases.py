"""The golden cases: problems and parts of algorithms with known answers, as language-neutral JSON (docs/oracle.md).

The "inputs" of a case state it completely: features, labels, parameters, and every list of neighbours. A program under
test gets the `question` of a case. Its answer is compared with the known answer in the same file. The known answer of a
problem is an interval that contains the optimum, with the dual variables that prove the interval. That of a part of an
algorithm is a few arrays of numbers. validation/cases/generate.py writes the files.
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
# the content of "neighbors", divided by class, for programs that need it in this form
LISTS = ("targets", "impostors")
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
    """One case file. kind: "problem" (the answer is a metric) or "part" (the answer is a few named arrays).

    formula: the id of the method, for example "mmc:diagonal". flags: what is special about the data, for example
    "ties". asks: {field of the answer: its description}.

    inputs: the features, labels, parameters and lists. content: everything in the file, with the known answer.
    """

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
        """The fields that a program under test gets, as plain data."""
        shown = {name: self.content[name] for name in ("id", "kind", "formula", "title", "asks", "inputs")}
        return {"format": "cvxml-question", "version": VERSION, **shown}

    @property
    def X(self) -> Any:
        """The features, a list of rows."""
        return self.inputs["X"]

    @property
    def y(self) -> Any:
        """The labels, or None if the inputs contain a similarity (n, n) instead."""
        return self.inputs.get("y")

    @property
    def params(self) -> dict[str, Any]:
        """The inputs other than X and y, by the parameter names of `cvxml.check`."""
        return parameters(self.inputs)


def parameters(inputs: dict[str, Any]) -> dict[str, Any]:
    """Return the inputs without X and y, by the parameter names of `cvxml.check`.

    If "neighbors" is present, "targets" and "impostors" are left out too. They have the same neighbours, divided by
    class.
    """
    repeated = LISTS if "neighbors" in inputs else ()
    return {k: v for k, v in inputs.items() if k not in ("X", "y", *repeated)}


def case_files(folder: Path) -> list[Path]:
    """Return the .json files of a folder, sorted by name, without schemas."""
    return sorted(path for path in folder.glob("*.json") if not path.name.endswith(".schema.json"))


def load_cases(folder: str | Path | None = None, pattern: str = "*") -> list[Case]:
    """Return the cases of a folder that match a pattern, sorted by file name.

    folder: None means the cases in this package.

    pattern: a case id with wildcards as in fnmatch, for example "mlsvm-*"; or the exact `formula` of a case, for
    example "mmc:diagonal", in small or capital letters.

    Raises ValueError if the folder contains no cases, a file is not a case, or no case matches the pattern.
    """
    where = FOLDER if folder is None else Path(folder)
    files = case_files(where)
    if not files:
        raise ValueError(f"{named(where)} holds no cases: give a folder with .json files of cases")
    cases = [load_case(path) for path in files]
    chosen = [case for case in cases if fnmatch(case.id, pattern) or case.formula.lower() == pattern.lower()]
    if not chosen:
        raise ValueError(
            f"no case matches {pattern!r}; the cases are: {', '.join(printable(case.id) for case in cases)}"
        )
    return chosen


def load_case(path: str | Path) -> Case:
    """Return the case in a file. Raises ValueError if the file is not a case."""
    content = read_json(path)
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError(f'{named(path)} is not a case: it must be a JSON object with "format": "{FORMAT}"')
    if content.get("version") != VERSION:
        raise ValueError(
            f"{named(path)} is a case of version {content.get('version')!r:.40}, but this cvxml reads version "
            f"{VERSION}: install the cvxml that wrote it, or write the case again"
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
        raise ValueError(f"{named(path)} is not a case: its flags must be texts")
    if content["kind"] == "problem" and not isinstance(content["inputs"].get("X"), list):
        raise ValueError(f'{named(path)} is not a case: its inputs must have "X", a list of points')
    fields: dict[str, Any] = {name: content[name] for name in _REQUIRED}
    return Case(**{**fields, "flags": tuple(fields["flags"])}, content=content)
