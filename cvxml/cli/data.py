"""Options for data, parameters and a metric, of the commands solve, check, evaluate and data: add and read them."""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cvxml.core.short_repr import printable

if TYPE_CHECKING:
    from cvxml.core.files import Table

_SHOWN = 8  # most classes in the line that reports the data
_LETTERS = 24  # most letters of a label in that line


def add_problem(
    command: argparse.ArgumentParser, arguments: Sequence[str] | None, solving: bool = False
) -> None:
    """Add the options for the data and the parameters of a problem to a command.

    arguments: the words of the command line. The help of the command then shows only the parameters of the method among
    these words. If `arguments` is None, it shows the parameters of all methods.
    solving: the command is `solve`, which takes more parameters.
    """
    from cvxml.cli.parameters import add_parameters

    command.usage = f"{command.prog} METHOD DATA [OPTION ...]"
    command.add_argument("method", metavar="METHOD", help="a method id, see `cvxml list`")
    _add_data(command)
    add_parameters(command, arguments, solving)
    command.add_argument("--json", action="store_true", help="JSON on stdout")


def add_table(commands: Any) -> None:
    """Add the command `data` to the commands of the parser."""
    command = commands.add_parser("data", help="print a data set as CSV, for programs in other languages")
    _add_data(command)
    command.set_defaults(run=_print_table)


def _print_table(parsed: argparse.Namespace) -> int:
    """Print the points with the labels in the last column. Each number has all its digits."""
    X, y, names = _read(parsed)
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(_header(names or [f"x{k}" for k in range(X.shape[1])]))
    for row, label in zip(X.tolist(), y.tolist(), strict=True):
        writer.writerow([*row, label])
    return 0


def _header(names: Sequence[str]) -> list[str]:
    """Return the names of the features and of the labels, so that the last column is read as the labels.

    The last name is "class", or "label" if a feature has a name that could be read as that of the labels, such as
    "target". A feature named "label" is renamed, and a line on the standard error reports it.
    """
    from cvxml.core.files.labels import LIKELY, SURE

    taken = {name.strip().lower() for name in names}
    last = "label" if taken & {*SURE, *LIKELY} else "class"
    header = []
    for name in names:
        new = name
        if name.strip().lower() in SURE:
            while new.strip().lower() in taken:
                new = new.strip() + "_"
            taken.add(new.lower())
            sys.stderr.write(
                f"note: the feature {printable(name)!r} is printed as {printable(new)!r}, because the last column "
                "holds the labels\n"
            )
        header.append(new)
    return [*header, last]


def _add_data(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "data", metavar="DATA", help=".csv, .tsv, .txt, .data, .npz, .npy or .json file, or an embedded set"
    )
    command.add_argument(
        "--label",
        metavar="WHICH",
        help="column of the labels: first, last, a name of the header, or a number from 0 on, without the "
        "index. Default: the column named label, class, target or species; else the only column of words; else "
        "the last column, if it looks like classes and the first does not",
    )
    command.add_argument(
        "--header",
        metavar="yes|no",
        help="does the first line hold names? (default: yes if it has no number)",
    )
    command.add_argument(
        "--index",
        metavar="yes|no",
        help="does the first column number or name the rows? Then it is left out",
    )
    command.add_argument(
        "--separator",
        metavar="WHICH",
        help="separator of the cells: comma, semicolon, tab or space (default: that of the first line)",
    )
    command.add_argument(
        "--decimal",
        metavar="WHICH",
        help="decimal mark: point or comma (default: that of all numbers in the file)",
    )
    command.add_argument(
        "--encoding", metavar="NAME", help="encoding of the file, such as latin-1 (default: UTF-8)"
    )
    command.add_argument(
        "--drop",
        metavar="COLUMNS",
        help="columns that are left out of the features, with commas between them: names of the header, or numbers "
        "from 0 on, without the index",
    )
    command.add_argument("--standardize", action="store_true", help="z-score the features first")


def add_candidate(command: argparse.ArgumentParser) -> None:
    """Add the options --metric and --components, the files of a metric or of a transformation, to a command."""
    command.add_argument(
        "--metric", metavar="FILE", help="the metric M, a psd matrix: .npy, .npz, .csv or .json"
    )
    command.add_argument("--components", metavar="FILE", help="the transformation L (metric L^T L)")


class Problem(NamedTuple):
    """The data X (n, d) and y (n,), the parameters, and the names of the features (empty if the file has none)."""

    X: Any
    y: Any
    params: dict[str, Any]
    names: tuple[str, ...]


def problem(parsed: argparse.Namespace, solving: bool = False) -> Problem:
    """Return the problem that the parsed options state. One line on the standard error says which data were read.

    solving: the command is `solve`, which takes more parameters than `check` and `evaluate`.
    """
    from cvxml.cli.parameters import given

    params = given(parsed, solving)
    X, y, names = _read(parsed)
    return Problem(X, y, params, names)


def _read(parsed: argparse.Namespace) -> tuple[Any, Any, tuple[str, ...]]:
    """Return X (n, d), y (n,) and the names of the features. One line on the standard error says what was read."""
    from cvxml import datasets
    from cvxml.core.files import Settled, load_table, settled

    asked = settled(**{name: getattr(parsed, name) for name in Settled.__dataclass_fields__})
    place = Path(parsed.data)
    is_file = not parsed.data.startswith("openml:") and (place.suffix or place.exists())
    table = load_table(parsed.data, asked) if is_file else datasets.find(parsed.data, asked)
    X, y = table.X, table.y
    if parsed.standardize:
        X = datasets.standardize(X)
    # flushed at once, so that no other output comes before it
    sys.stderr.write(_what_was_read(parsed.data, table, parsed.standardize) + "\n")
    sys.stderr.flush()
    return X, y, table.names


def _what_was_read(source: str, table: Table, standardized: bool) -> str:
    (n, d), y = table.X.shape, table.y
    if y.dtype.kind == "f" and not np.array_equal(y, np.round(y)):
        labels = f"{len(np.unique(y))} different numbers"
    else:
        short = y.dtype.kind == "f" and np.all(np.abs(y) <= 2.0**53)
        whole = y.astype(np.int64) if short else y  # so that 1.0 is shown as 1
        classes, counts = np.unique(whole, return_counts=True)
        shown = [
            f"{printable(name, _LETTERS)} {count}"
            for name, count in zip(classes[:_SHOWN].tolist(), counts, strict=False)
        ]
        more = [f"and {len(classes) - _SHOWN} more"] if len(classes) > _SHOWN else []
        labels = f"{len(classes)} {'class' if len(classes) == 1 else 'classes'}: {', '.join([*shown, *more])}"
    written = f"; {table.written}" if table.written else ""
    return (
        f"data: {printable(source, tail=True)}: {n} points, {d} {'feature' if d == 1 else 'features'}; labels in "
        f"{table.where}, {labels}{written}; {'standardized' if standardized else 'not standardized'}"
    )


def candidate(parsed: argparse.Namespace) -> dict[str, Any]:
    """Return {"metric": M, "components": L}, read from the files of these options. An option not given is left out.

    M is the metric, and L (m, d) a transformation with the metric L^T L. Raises ValueError for a bad file.
    """
    from cvxml.core.files import COMPONENTS, METRIC, read_array

    given = {}
    if parsed.metric:
        given["metric"] = read_array(parsed.metric, prefer=METRIC, square=True)
    if parsed.components:
        given["components"] = read_array(parsed.components, prefer=COMPONENTS)
    return given
