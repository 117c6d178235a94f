"""Convert the docstrings of cvxml to reStructuredText for autodoc.

The docstrings are plain text, written for the terminal. On the site each parameter of a function gets a line. Its type
and default come from the signature, and its meaning comes from the docstring or from `SHARED`. A parameter without a
meaning gives a warning, and warnings end the build. Below the parameters stand the errors. The section "Examples", the
last of a docstring, stands on the site below the first paragraph.
The page of an estimator also shows the title, the equations and the page of its method.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
from collections.abc import Iterable, Iterator
from enum import Enum
from pathlib import Path
from typing import Any

from sphinx.util import logging

from cvxml.methods import get

NAMED = re.compile(r"^(\w+(?:, \w+)*) ?: (.+)$")  # for example "lam : float, default 0.1. The weight"

RAISES = re.compile(r"(?:^|(?<=[.;:] ))Raises (.+?)\.(?=\s|$)", flags=re.DOTALL)
DOCS = Path(__file__).resolve().parent.parent
RESULTS = re.compile(r"\b(Certificate|Evaluation|Report|Solution|Status|Verdict)\b")
EXAMPLE = "\n\nExamples\n--------\n"
# Parameters that mean the same in all functions. The docstring of a function can give another meaning.
SHARED = {
    "X": "(n, d): one point per row; finite, in any unit.",
    "y": "(n,): the class label of each point. None if pairs, triplets or other comparisons are given.",
    "method": "Method id; `cvxml list` prints all ids.",
    "metric": "(d, d), symmetric and psd: the matrix that the paper of the method uses; in 1 / (unit of X)^2.",
    "components": "(m, d): a matrix L with M = L^T L.",
    "dual": "Dual variables by name, as in `Certificate.dual`. If they are not feasible, they are repaired.",
    "query": "(d,) or (q, d): the points at which the local metrics of `glml` are computed.",
    "targets": "The targets of each point, for methods with targets; by default the nearest points.",
    "exact": "True to compute the proof in exact arithmetic, as in `check`.",
    "diagnosed": "True to search for a misreading that explains a refuted metric, as in `check`.",
    "time_limit": "Longest time, in seconds.",
    "callback": "A function that gets a `Step` each time the gap is computed.",
    "solution": "The result of `cvxml.solve`.",
    "radius": "Radius of a ball, in the unit of distances.",
    "params": "Parameters of the method, by name; `cvxml show METHOD` lists them.",
    "estimator": "A fitted estimator.",
    "pairs": "(p, 2, d): pairs of points.",
    "queries": "(q, d): the query points.",
    "t": "Number of the iteration in the printed algorithm, from 1.",
    "tol": "Tolerance for the gap, as a share of the scale of the problem.",
    "path": "Name of a file.",
    "features": "The indices of the two features to draw, from 0.",
    "index": "Index of a point, from 0.",
    "ax": "Axes of matplotlib; default: new axes.",
    "n": "Number of rows.",
    "seed": "Seed of the random numbers.",
    "n_neighbors": "Number of neighbours that vote.",
    "claimed_objective": "The objective that the other program reports.",
}


def escaped(text: str, linked: bool = False) -> str:
    """Return the text in reStructuredText: `code` becomes literal, and special characters are escaped.

    linked: whether names of results, such as Certificate, become links to their pages.
    """
    parts = re.split(r"`([^`]+)`", text)
    plain = [re.sub(r"([\\*|_`])", r"\\\1", part) for part in parts[::2]]
    if linked:
        plain = [RESULTS.sub(r"\\ :py:class:`~cvxml.\1`\\ ", part) for part in plain]
    quoted = [f"``{part}``" for part in parts[1::2]]
    return "".join(a + b for a, b in zip(plain, [*quoted, ""], strict=True))


def section(lines: list[str]) -> list[str]:
    """Return the lines of a section such as "Parameters" as a list with an item for each name."""
    out: list[str] = []
    for line in lines:
        found = NAMED.match(line)
        if found:
            out += ["", f"- ``{found[1]}`` : {escaped(found[2], linked=True)}"]
        elif line.strip():
            out.append(f"  {escaped(line.strip(), linked=True)}")
    return [*out, ""]


def meanings(text: str, names: list[str]) -> tuple[str, dict[str, str]]:
    """Split a paragraph into its text and the meanings of the parameters `names`.

    For example, "Solve. tol: a gap. exact: in fractions" gives "Solve." and {"tol": "a gap.", "exact": "in fractions"}.
    """
    listed = "|".join(map(re.escape, names)) or "(?!)"
    shape = r"(?: \([\w, ]*\))?"  # shapes, as in "X (n, d), y (n,) : the data"
    parts = re.split(rf"(?:^|(?<=[.;:] ))((?:{listed}){shape}(?:, (?:{listed}){shape})*) ?: ", text)
    said = zip(parts[1::2], parts[2::2], strict=True)
    return parts[0], {name: told.strip() for group, told in said for name in re.findall(listed, group)}


def typed(annotation: Any) -> str:
    """Return an annotation as the source has it, or "" if there is no annotation, or if the type is in the text."""
    if annotation is inspect.Parameter.empty:
        return ""
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    text = re.sub(r"\b[a-z_]+\.(?=[a-z_]*\.?[A-Z])", "", text)  # modules
    return "" if text == "Any" else text


def parameter(given: inspect.Parameter, meaning: str) -> list[str]:
    """Return the lines of one parameter: its meaning, its type and its default."""
    default = "" if given.default is inspect.Parameter.empty else f"default {given.default!r}"
    if given.kind is inspect.Parameter.KEYWORD_ONLY and not default:
        default = "by name"
    kind = escaped(", ".join(filter(None, [typed(given.annotation), default])))
    return [f":param {given.name}: {escaped(meaning)}", *([f":type {given.name}: {kind}"] if kind else [])]


def without_example(lines: list[str]) -> tuple[list[str], list[str]]:
    """Split a docstring into its text and the code of its example, as a block of code; [] without an example."""
    text, _, code = "\n".join(lines).partition(EXAMPLE)
    block = [".. code-block:: python", "", *(f"   {line}" for line in code.splitlines()), ""] if code else []
    return text.splitlines(), block


def of_function(item: Any, lines: list[str], name: str) -> list[str]:
    """Return the docstring of a function: first paragraph, example, other text, parameters and errors."""
    signature = inspect.signature(item)
    names = [name for name in signature.parameters if name not in ("self", "cls")]
    prose, said, raised = [], {}, []
    lines, example = without_example(lines)
    for block in re.split(r"\n\s*\n", "\n".join(lines).strip("\n")):
        text = " ".join(line.strip() for line in block.splitlines())
        found = RAISES.search(text)
        if found:
            raised.append(found[1])
            text = f"{text[: found.start()]}{text[found.end() :]}".strip()
        text, told = meanings(text, names)
        said |= told
        prose += [escaped(text), ""] if text.strip() else []
    out = [*prose[:2], *example, *prose[2:]]
    for one in names:
        if one not in said and one not in SHARED:
            logging.getLogger(__name__).warning("%s: parameter %s has no description", name, one)
        out += parameter(signature.parameters[one], said.get(one) or SHARED.get(one, ""))
    out += [f":Raises: {escaped(each)}." for each in raised]
    return [*out, ""]


def source(method: str) -> list[str]:
    """Return the source of an estimator: title, equations and page of its method."""
    of = get(method)
    written = next(
        p for p in DOCS.glob("*.md") if f"{{statement}} {method.partition(':')[0]}\n" in p.read_text("utf-8")
    )
    tags = dict.fromkeys(row.tag for section in of.STATEMENT.sections for row in section.rows if row.tag)
    equations = f", equations {', '.join(tags)}" if tags else ""
    where = f":doc:`formulas, proof and papers </{written.stem}>`"
    return [".. rubric:: Source", "", f"{escaped(of.TITLE + equations)}. Method ``{method}``: {where}.", ""]


def readable(lines: list[str]) -> list[str]:
    """Return the docstring of a class or a module: first paragraph, example, other text, sections."""
    out: list[str] = []
    lines, example = without_example(lines)
    for block in re.split(r"\n\s*\n", "\n".join(lines)):
        given = block.strip("\n").splitlines()
        if len(given) > 1 and given[1] and set(given[1]) == {"-"}:
            out += [f".. rubric:: {given[0]}", "", *section(given[2:])]
        elif any(NAMED.match(line) and line.endswith(".") for line in given[:1]):
            out += section(given)
        else:
            out += [escaped(" ".join(line.strip() for line in given)), ""]
    return [*out[:2], *example, *out[2:]]


def fields(item: Any) -> Iterator[str]:
    """Yield a line for each field of a dataclass: name, type, and the comment on its line or above it."""
    source = inspect.getsource(item)
    rows = source.splitlines()
    for node in ast.parse(source).body[0].body:  # type: ignore[attr-defined]
        if isinstance(node, ast.AnnAssign):
            text = "\n".join(rows[node.lineno - 1 : node.end_lineno])
            above = node.lineno - 1
            while rows[above - 1].lstrip().startswith("# "):
                above -= 1
            comments = re.findall(r"# (.*)", text) or re.findall(
                r"# (.*)", "\n".join(rows[above : node.lineno - 1])
            )
            kind = ast.unparse(node.annotation)
            yield f"{ast.unparse(node.target)} : {kind}{', ' * bool(comments)}{' '.join(comments)}"


def with_section(lines: list[str], title: str, section: Iterable[str]) -> list[str]:
    """Return a docstring with one more section, before its example."""
    text, heading, code = "\n".join(lines).partition(EXAMPLE)
    added = "\n".join(["", "", title, "-" * len(title), *section])
    return f"{text.rstrip()}{added}{heading}{code}".splitlines()


def value(member: Enum) -> str:
    """Return a line for a member of an enumeration: its value, and its sentence if it has one."""
    sentence = getattr(member, "sentence", "")
    return f'{member.name} : "{member.value}"{f": {sentence}" if sentence else ""}.'


def process(app: Any, what: str, name: str, item: Any, options: Any, lines: list[str]) -> None:
    given = list(lines)
    if what == "class" and dataclasses.is_dataclass(item) and "Parameters" not in given:
        given = with_section(given, "Fields", fields(item))
    if what == "class" and issubclass(item, Enum):
        given = with_section(given, "Values", map(value, item))
    if what in ("function", "method"):
        lines[:] = of_function(item, given, name)
        return
    lines[:] = readable(given)
    if what == "class" and isinstance(getattr(item, "_method", None), (str, property)):
        lines += source(item()._method)


def skip(app: Any, what: str, name: str, item: Any, skipped: bool, options: Any) -> bool | None:
    """Skip the `set_..._request` methods that scikit-learn adds to every estimator."""
    return True if re.fullmatch(r"set_\w+_request", name) else None


def sign(
    app: Any, what: str, name: str, item: Any, options: Any, signature: str | None, returned: str | None
) -> tuple[str, str | None] | None:
    """Write the names of types in a signature; leave out the signature of an enumeration, which is Python's."""
    if signature is None:
        return None
    if what == "class" and issubclass(item, Enum):
        return "", None
    return readable_types(signature), readable_types(returned) if returned else None


def readable_types(text: str) -> str:
    """Return a signature with the short names of types, as Python code."""
    text = re.sub(r"TypeAliasForwardRef\('(\w+)'\)", r"\1", text)
    for kind, name in (
        ("numpy.float64", "FloatArray"),
        ("numpy.int64", "IntArray"),
        ("typing.Any", "~numpy.ndarray"),
    ):
        text = text.replace(f"~numpy.ndarray[tuple[~typing.Any, ...], ~numpy.dtype[~{kind}]]", name)
    return text.replace("<factory>", "...")  # the default of a field that is made anew for each object


def setup(app: Any) -> dict[str, bool]:
    app.connect("autodoc-process-signature", sign)
    app.connect("autodoc-process-docstring", process)
    app.connect("autodoc-skip-member", skip)
    return {"parallel_read_safe": True}
