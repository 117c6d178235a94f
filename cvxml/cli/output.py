"""Check the output files of a command, and print a metric.

The check comes before any work, so that the user does not lose an input or another file.
"""

from __future__ import annotations

import argparse
import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cvxml.core.short_repr import printable

if TYPE_CHECKING:
    from cvxml.core.metric import FloatArray

XML, ROWS, HEAD = b"<?xml", b'<testsuite name="cvxml"', 200  # a --junit file has both in its first HEAD bytes
SHOWN = 8  # a metric of more features is not shown whole
LARGEST = 5  # entries that are shown of a larger metric
LETTERS = 12  # most letters of a feature's name beside a metric
PNG, DEMO = b"\x89PNG", b"Software\0cvxml demo"  # the picture of `demo` has both in its first HEAD bytes


def add_force(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--force",
        action="store_true",
        help="replace an existing file that cvxml may not have written",
    )


def check_out(parsed: argparse.Namespace, name: str, endings: Sequence[str] = ()) -> None:
    """Raise ValueError if the file that the option `name` gives must not be written, or cannot be written.

    The name of the file must have one of `endings` (without `endings`, it may have any), and its folder must exist and
    be writable. If the file exists, it must not be a file that the command reads, even through another path or a link.
    Any other existing file may be replaced if it is empty, if cvxml wrote it, or with --force.
    """
    from cvxml.core.files import check_writable
    from cvxml.core.files.common import named

    path = getattr(parsed, name)
    called = f"--{name} {named(path)}"
    if endings and Path(path).suffix not in endings:
        raise ValueError(f"{called}: the name must end in {', '.join(endings)}")
    folder = os.path.dirname(os.path.realpath(path))
    if not os.path.isdir(folder):
        raise ValueError(f"{called}: there is no folder {named(folder)}; make it first, or name another")
    for read in _inputs(parsed, name):
        if _same(path, read):
            raise ValueError(
                f"{called} is the same file as the input {named(read)}, and would replace it; give another name"
            )
    check_writable(path)
    if os.path.exists(path):
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise ValueError(f"{called} is a device, not a file; give the name of a file")
        if not parsed.force and os.path.getsize(path) and not _is_ours(path):
            raise ValueError(
                f"{called} already exists, and cvxml may not have written it; use --force to replace it"
            )


def metric_lines(metric: FloatArray, names: Sequence[str]) -> list[str]:
    """Return the lines that show a metric (d, d) with the names (d,) of its features.

    With more than `SHOWN` features, only the largest entries are shown. For several metrics (q, d, d), only their
    number is shown. In both cases the lines name the option that saves the whole metric. If `names` has not d names,
    the features are called x0, x1, and so on. This happens if the file has no names, or if the metric of a kernel
    method does not act on the features.
    """
    d = metric.shape[-1]
    called = [
        printable(name, LETTERS) for name in (names if len(names) == d else [f"x{k}" for k in range(d)])
    ]
    whole = "--out FILE.npy" if metric.ndim == 3 else "--out FILE.csv"
    if metric.ndim == 3:
        return [f"{len(metric)} metrics of {d} features: {whole} writes them"]
    if d > SHOWN:
        i, j = np.triu_indices(d)
        most = np.argsort(-np.abs(metric[i, j]), kind="stable")[:LARGEST]
        shown = ", ".join(f"{called[i[k]]} x {called[j[k]]} {metric[i[k], j[k]]:.4g}" for k in most)
        return [f"largest entries of the metric ({d} x {d}): {shown}", f"{whole} writes the whole metric"]
    cells = [
        ["", *called],
        *([name, *(f"{v + 0.0:.4g}" for v in row)] for name, row in zip(called, metric, strict=True)),
    ]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    rows = [
        "  ".join(
            [row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True))]
        )
        for row in cells
    ]
    return ["metric:", *(row.rstrip() for row in rows)]


def _inputs(parsed: argparse.Namespace, output: str) -> Iterator[str]:
    """Yield the paths of all files that the command may read, from the values of all options except `output`.

    Every value that is a string is taken for a path. The data may also be the name of a stored data set, and --folder
    is a folder of cases.
    """
    from cvxml.datasets import stored_files
    from cvxml.oracle.cases import case_files

    for name, value in vars(parsed).items():
        for word in value if isinstance(value, list) else [value]:
            if name == output or not isinstance(word, str):
                continue
            yield word
            if name == "data" and not os.path.exists(word):
                yield stored_files().get(word, word)
            if name == "folder":
                yield from map(str, case_files(Path(word)))


def _same(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other)
    except (OSError, ValueError):  # one of the two does not exist, or is not a valid file name
        return False


def _is_ours(path: str) -> bool:
    """Return True for a file that cvxml wrote.

    Such a file is a saved solution, the JSON that `certify --side` writes, the rows of `conform`, or the picture of
    `demo`.
    """
    from cvxml.core.files import read_json, read_npz

    with open(path, "rb") as stream:
        head = stream.read(HEAD)
    if head.startswith(PNG):
        return DEMO in head
    if head.startswith(XML):
        return ROWS in head
    try:
        content: Any = read_npz(path) if head.startswith(b"PK") else read_json(path)
        if head.startswith(b"PK"):
            return '"format": "cvxml-solution"' in str(content["header"])
        return content["format"] in ("cvxml-solution", "cvxml-side")
    except (ValueError, KeyError, TypeError, IndexError):
        return False
