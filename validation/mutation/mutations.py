"""Mutations of a package, each a single change of its source, and a random sample of them.

`validation/mutation/__main__.py` runs the tests against them. Kinds of mutations:

- a comparison becomes weaker or points the other way; `==`, `is` and `in` are negated
- `+ - * /`, `**`, `&`, `|`, `and`, `or`, `min`, `max` and the like are replaced
- a number or a boolean changes; a `not` or a minus sign is dropped; a condition is negated
- a call, an assignment to an attribute or an entry, or a `raise` is deleted
"""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

LEFT_OUT = (
    "lessons/",
    "displays/",
    "datasets.py",
    "typed/",
    "cases/",
)  # of the package: tested by other means
PER_FILE = 5  # at most so many mutations of one file
PASSED_OVER = ("annotation", "returns", "msg", "decorator_list", "type_params")  # parts of the syntax tree
FOR_TESTS = ("EXAMPLES", "BAD", "SMALL", "UNITS", "HAND")  # attributes of a method

OPERATORS: dict[type[ast.AST], tuple[str, tuple[str, ...]]] = {  # the pattern, and its replacements
    ast.Lt: ("<", ("<=", ">")),
    ast.LtE: ("<=", ("<", ">=")),
    ast.Gt: (">", (">=", "<")),
    ast.GtE: (">=", (">", "<=")),
    ast.Eq: ("==", ("!=",)),
    ast.NotEq: ("!=", ("==",)),
    ast.Is: ("is", ("is not",)),
    ast.IsNot: (r"is\s+not", ("is",)),
    ast.In: ("in", ("not in",)),
    ast.NotIn: (r"not\s+in", ("in",)),
    ast.Add: (r"\+", ("-",)),
    ast.Sub: ("-", ("+",)),
    ast.Mult: (r"\*", ("/",)),
    ast.Div: ("/", ("*",)),
    ast.Pow: (r"\*\*", ("*",)),
    ast.BitAnd: ("&", ("|",)),
    ast.BitOr: (r"\|", ("&",)),
    ast.And: ("and", ("or",)),
    ast.Or: ("or", ("and",)),
}
SWAPPED = {"min": "max", "minimum": "maximum", "argmin": "argmax", "any": "all", "zeros": "ones"}
SWAPPED |= {new: old for old, new in SWAPPED.items()}


@dataclass(frozen=True)
class Mutation:
    """Replace the bytes `first` to `last` of a file by `text`, which has the same number of line ends."""

    file: str  # relative to the repository
    first: int
    last: int
    text: str
    lines: tuple[int, int]  # of the replaced bytes
    statement: tuple[int, int]  # line and column of its first byte
    local: bool  # within a function, so that an import does not execute it

    def applied(self, source: bytes) -> bytes:
        return source[: self.first] + self.text.encode() + source[self.last :]

    def shown(self, source: bytes, room: int = 60) -> tuple[str, str]:
        """The statement before and after, at most `room` characters on each side of the change."""
        before, after = (_statement(text, self.statement) for text in (source, self.applied(source)))
        same = _same(before, after)
        end = _same(before[same:][::-1], after[same:][::-1])
        first = max(0, same - room)
        cut = max(0, end - room)
        return before[first : len(before) - cut], after[first : len(after) - cut]


def _same(a: str, b: str) -> int:
    """How many first characters two texts share."""
    pairs = enumerate(zip(a, b, strict=False))
    return next((k for k, (x, y) in pairs if x != y), min(len(a), len(b)))


def _statement(source: bytes, place: tuple[int, int]) -> str:
    """Return the statement that begins there. Of an `if`, a loop or a function, return the head only."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.stmt) and (node.lineno, node.col_offset) == place:
            for name in ("body", "orelse", "handlers", "finalbody", "decorator_list"):
                if hasattr(node, name):
                    setattr(node, name, [])
            return ast.unparse(node)
    raise ValueError(f"No statement begins in line {place[0]}, column {place[1]}.")


class Mutations:
    """All mutations of one file, in `found`.

    These are left out: strings, f-strings, arguments of a `raise`, messages of assertions, annotations, decorators,
    blocks under TYPE_CHECKING, the argument `strict` of `zip`, and attributes of a method that are data of tests.
    """

    def __init__(self, file: str, source: bytes):
        self.file, self.source = file, source
        self.found: list[Mutation] = []
        self.starts = [0]  # the first byte of each line
        for line in source.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self._visit(ast.parse(source), (1, 0), False)

    def _visit(self, node: ast.AST, statement: tuple[int, int], local: bool) -> None:
        if self._is_left_out(node):
            return
        if isinstance(node, ast.stmt):
            statement = (node.lineno, node.col_offset)
        for first, last, text in self._changes(node):
            ends = "\n" * (self.source[first:last].count(b"\n") - text.count("\n"))
            lines = (1 + self.source[:first].count(b"\n"), 1 + self.source[:last].count(b"\n"))
            self.found.append(Mutation(self.file, first, last, text + ends, lines, statement, local))
        if isinstance(node, ast.Raise):
            return
        for name, value in ast.iter_fields(node):
            if name not in PASSED_OVER:
                inside = local or (name == "body" and isinstance(node, ast.FunctionDef | ast.Lambda))
                for child in value if isinstance(value, list) else [value]:
                    if isinstance(child, ast.AST):
                        self._visit(child, statement, inside)

    @staticmethod
    def _is_left_out(node: ast.AST) -> bool:
        if isinstance(node, ast.If):
            return "TYPE_CHECKING" in ast.unparse(node.test)
        if isinstance(node, ast.Assign | ast.AnnAssign):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            return isinstance(target, ast.Name) and target.id in FOR_TESTS
        return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.keyword) and node.arg == "strict")

    def _span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        first = self.starts[node.lineno - 1] + node.col_offset
        return first, self.starts[node.end_lineno - 1] + node.end_col_offset

    def _between(self, left: ast.expr, right: ast.expr, operator: ast.AST) -> Iterator[tuple[int, int, str]]:
        """Change the operator between two operands. A comment may stand between them too."""
        if type(operator) in OPERATORS:
            pattern, others = OPERATORS[type(operator)]
            start = self._span(left)[1]
            gap = self.source[start : self._span(right)[0]]
            gap = re.sub(rb"#.*", lambda comment: b" " * len(comment.group()), gap)
            first, last = re.search(pattern.encode(), gap).span()
            for other in others:
                yield start + first, start + last, other

    def _changes(self, node: ast.AST) -> Iterator[tuple[int, int, str]]:
        """Yield the changes of the node itself: first byte, last byte, new text."""
        match node:
            case ast.BinOp():
                yield from self._between(node.left, node.right, node.op)
            case ast.AugAssign():
                yield from self._between(node.target, node.value, node.op)
                yield *self._span(node), "pass"
            case ast.Compare():
                operands = pairwise([node.left, *node.comparators])
                for (left, right), operator in zip(operands, node.ops, strict=True):
                    yield from self._between(left, right, operator)
            case ast.BoolOp():
                for left, right in pairwise(node.values):
                    yield from self._between(left, right, node.op)
            case ast.UnaryOp(op=ast.Not() | ast.USub()):
                first = self._span(node)[0]
                yield first, first + (3 if isinstance(node.op, ast.Not) else 1), " "
            case ast.Constant(value=bool() | int() | float()):
                yield *self._span(node), _other(node.value)
            case ast.Name(ctx=ast.Load()) if node.id in SWAPPED:
                yield *self._span(node), SWAPPED[node.id]
            case ast.Attribute() if node.attr in SWAPPED:
                last = self._span(node)[1]
                yield last - len(node.attr), last, SWAPPED[node.attr]
            case ast.Raise() | ast.Expr(value=ast.Call()):
                yield *self._span(node), "pass"
            case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
                yield *self._span(node), "pass"
            case ast.If() | ast.IfExp() | ast.While():
                yield from self._negated(node.test)
            case ast.comprehension():
                for test in node.ifs:
                    yield from self._negated(test)

    def _negated(self, test: ast.expr) -> Iterator[tuple[int, int, str]]:
        """Negate a condition, unless it is a comparison or a `not`: these have nearly the same mutation already."""
        if not isinstance(test, ast.UnaryOp | ast.Compare):
            first, last = self._span(test)
            yield first, last, f"(not ({self.source[first:last].decode()}))"


def _other(value: float) -> str:
    """Another constant: not b, n + 1, 2 x, and 1.0 for 0.0."""
    if isinstance(value, bool):
        return str(not value)
    if isinstance(value, int):
        return str(value + 1)
    return repr(2 * value) if value else "1.0"


def drawn(root: Path, package: str, n: int, seed: int) -> list[Mutation]:
    """A sample of n: first the file, by its number of mutations, then one of them, at most PER_FILE of a file."""
    rng = random.Random(seed)
    left: dict[str, list[Mutation]] = {}
    for path in sorted((root / package).rglob("*.py")):
        if not path.relative_to(root / package).as_posix().startswith(LEFT_OUT):
            file = path.relative_to(root).as_posix()
            left[file] = Mutations(file, path.read_bytes()).found
    sample: list[Mutation] = []
    while len(sample) < n and any(left.values()):
        (file,) = rng.choices(list(left), [len(each) for each in left.values()])
        sample.append(left[file].pop(rng.randrange(len(left[file]))))
        if sum(one.file == file for one in sample) == PER_FILE:
            left[file] = []
    return sample
