"""Docstrings here are plain text, made to be read in a terminal. For autodoc they become reStructuredText.

Every parameter of a function gets a line with its type and default, from the signature, and its meaning, from the
docstring or from `SHARED`; one without a meaning is a warning, and so no site. What is raised and returned follows.
An estimator gets the formula and the paper of its method.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any

from sphinx.util import logging

from cvxml.methods import get

NAMED = re.compile(r"^(\w+(?:, \w+)*) ?: (.+)$")  # "lam : float, default 0.1. The weight"

RAISES = re.compile(r"(?:^|(?<=[.;:] ))Raises (.+?)\.(?=\s|$)", flags=re.DOTALL)
DOCS = Path(__file__).resolve().parent.parent
WORDS = {
    "ArrayLike": "array-like",
    "FloatArray": "array",
    "IntArray": "array of int",
    "np.ndarray": "array",
    "Callback": "callable | None",
    "Any": "",
}  # of annotations, as a reader says it
# what has the same meaning wherever it stands, unless a docstring says something else
SHARED = {
    "X": "(n, d): the points, one a row; finite, in any unit.",
    "y": "(n,): the labels; equal ones are one class. None where pairs, triplets or the like are given.",
    "method": "Id of a method, as `cvxml list` prints it.",
    "metric": "(d, d), symmetric and psd, as the paper of the method writes it; in 1 / (unit of X)^2.",
    "components": "(m, d): L with M = L^T L.",
    "dual": "Dual variables by name, as `Certificate.dual` has them; they are repaired where they are not feasible.",
    "query": "(d,) or (q, d): where the local metrics of `glml` are.",
    "targets": "The targets of each point, of methods that have targets, if they are not the nearest.",
    "exact": "In rational arithmetic, as in `check`.",
    "diagnosed": "Look for the misreading whose answer a refuted metric is, as in `check`.",
    "time_limit": "Seconds.",
    "callback": "Called with a `Step` each time the gap is measured.",
    "solution": "What `cvxml.solve` returned.",
    "radius": "Of a ball, in the unit of distances.",
    "params": "Parameters of the method, by name: `cvxml show METHOD`.",
    "estimator": "Fitted.",
    "pairs": "(p, 2, d): pairs of points.",
    "queries": "(q, d): points.",
    "t": "Iteration of the printed algorithm, from 1.",
    "tol": "Share of the scale of the problem.",
    "path": "Name of a file.",
    "features": "The two that are drawn, counted from 0.",
    "index": "Of a point, counted from 0.",
    "ax": "Axes of matplotlib; by default new ones.",
    "n": "Number of rows.",
    "seed": "Of the random numbers.",
    "n_neighbors": "How many vote.",
    "claimed_objective": "The value that somebody reports.",
}


def escaped(text: str) -> str:
    """Text in which `code` is literal and no other character means anything."""
    parts = re.split(r"`([^`]+)`", text)
    plain = [re.sub(r"([\\*|_`])", r"\\\1", part) for part in parts[::2]]
    quoted = [f"``{part}``" for part in parts[1::2]]
    return "".join(a + b for a, b in zip(plain, [*quoted, ""], strict=True))


def section(lines: list[str]) -> list[str]:
    """The lines under "Parameters": a list, with an item for each name."""
    out: list[str] = []
    for line in lines:
        found = NAMED.match(line)
        if found:
            out += ["", f"- **{escaped(found[1])}** : {escaped(found[2])}"]
        elif line.strip():
            out.append(f"  {escaped(line.strip())}")
    return [*out, ""]


def meanings(text: str, names: list[str]) -> tuple[str, dict[str, str]]:
    """A paragraph without, and with, what it says of `names`: "tol: a gap. exact: in fractions"."""
    listed = "|".join(map(re.escape, names)) or "(?!)"
    shape = r"(?: \([\w, ]*\))?"  # X (n, d), y (n,) : the data
    parts = re.split(rf"(?:^|(?<=[.;:] ))((?:{listed}){shape}(?:, (?:{listed}){shape})*) ?: ", text)
    said = zip(parts[1::2], parts[2::2], strict=True)
    return parts[0], {name: told.strip() for group, told in said for name in re.findall(listed, group)}


def typed(annotation: Any) -> str:
    """An annotation, as a reader says it."""
    if annotation is inspect.Parameter.empty:
        return ""
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    if "_array_like" in text:
        text = "ArrayLike"
    text = re.sub(r"numpy\.ndarray\[(?:[^\[\]]|\[[^\[\]]*\])*\]", "array", text)
    text = re.sub(r"\b[a-z_]+\.(?=[a-z_]*\.?[A-Z])", "", text)  # modules
    for name, word in WORDS.items():
        text = re.sub(rf"(?<![\w.]){re.escape(name)}(?!\w)", word, text)
    return text.replace(" | ", " or ").strip()


def parameter(given: inspect.Parameter, meaning: str) -> list[str]:
    """The fields of one."""
    default = "" if given.default is inspect.Parameter.empty else f"default {given.default!r}"
    if given.kind is inspect.Parameter.KEYWORD_ONLY and not default:
        default = "by name"
    kind = escaped(", ".join(filter(None, [typed(given.annotation), default])))
    return [f":param {given.name}: {escaped(meaning)}", *([f":type {given.name}: {kind}"] if kind else [])]


def of_function(item: Any, lines: list[str], name: str) -> list[str]:
    """The docstring of a function: what it does, its parameters, what it raises, what it returns."""
    signature = inspect.signature(item)
    names = [name for name in signature.parameters if name not in ("self", "cls")]
    prose, said, raised = [], {}, []
    for block in re.split(r"\n\s*\n", "\n".join(lines).strip("\n")):
        text = " ".join(line.strip() for line in block.splitlines())
        found = RAISES.search(text)
        if found:
            raised.append(found[1])
            text = f"{text[: found.start()]}{text[found.end() :]}".strip()
        text, told = meanings(text, names)
        said |= told
        prose += [escaped(text), ""] if text.strip() else []
    out = [*prose]
    for one in names:
        if one not in said and one not in SHARED:
            logging.getLogger(__name__).warning("%s: nothing is said of its parameter %s", name, one)
        out += parameter(signature.parameters[one], said.get(one) or SHARED.get(one, ""))
    returned = typed(signature.return_annotation)
    out += [f":Raises: {escaped(each)}." for each in raised]
    out += [f":Returns: {escaped(returned)}"] if returned not in ("", "None", "Self") else []
    return [*out, ""]


def source(method: str) -> list[str]:
    """Of which method, of which paper, and where its formulas stand."""
    of = get(method)
    written = next(
        p for p in DOCS.glob("*.md") if f"{{statement}} {method.partition(':')[0]}\n" in p.read_text("utf-8")
    )
    tags = dict.fromkeys(row.tag for section in of.STATEMENT.sections for row in section.rows if row.tag)
    equations = f", equations {', '.join(tags)}" if tags else ""
    where = f":doc:`formulas, proof and papers <{written.stem}>`"
    return [".. rubric:: Source", "", f"{escaped(of.TITLE + equations)}. Method ``{method}``: {where}.", ""]


def readable(lines: list[str]) -> list[str]:
    """The docstring of a class or a module."""
    out: list[str] = []
    for block in re.split(r"\n\s*\n", "\n".join(lines)):
        given = block.strip("\n").splitlines()
        if len(given) > 1 and given[1] and set(given[1]) == {"-"}:
            out += [f".. rubric:: {given[0]}", "", *section(given[2:])]
        elif any(NAMED.match(line) and line.endswith(".") for line in given[:1]):
            out += section(given)
        else:
            out += [escaped(" ".join(line.strip() for line in given)), ""]
    return out


def fields(item: Any) -> Iterator[str]:
    """The fields of a dataclass, each with the comment beside it."""
    source = inspect.getsource(item)
    for node in ast.parse(source).body[0].body:  # type: ignore[attr-defined]
        if isinstance(node, ast.AnnAssign):
            text = "\n".join(source.splitlines()[node.lineno - 1 : node.end_lineno])
            comment = re.search(r"# (.*)", text)
            kind = ast.unparse(node.annotation)
            yield f"{ast.unparse(node.target)} : {kind}{', ' + comment[1] if comment else ''}"


def process(app: Any, what: str, name: str, item: Any, options: Any, lines: list[str]) -> None:
    given = list(lines)
    if what == "class" and dataclasses.is_dataclass(item) and "Parameters" not in given:
        given += ["", "Fields", "------", *fields(item)]
    if what == "class" and issubclass(item, Enum):
        given += ["", "Values", "------", *(f"{member.name} : {member.value}" for member in item)]
    if what in ("function", "method"):
        lines[:] = of_function(item, given, name)
        return
    lines[:] = readable(given)
    if what == "class" and isinstance(getattr(item, "_method", None), (str, property)):
        lines += source(item()._method)


def skip(app: Any, what: str, name: str, item: Any, skipped: bool, options: Any) -> bool | None:
    """Leave out what scikit-learn adds to every estimator."""
    return True if re.fullmatch(r"set_\w+_request", name) else None


def setup(app: Any) -> dict[str, bool]:
    app.connect("autodoc-process-docstring", process)
    app.connect("autodoc-skip-member", skip)
    return {"parallel_read_safe": True}
