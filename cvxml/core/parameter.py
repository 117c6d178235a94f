"""The parameters of a method, each with its default and its kind.

Command-line options, help, type hints and checks follow from them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.files import COMPONENTS, METRIC, read_array, read_indices, read_neighbors
from cvxml.core.inputs import did_you_mean


class Kind(NamedTuple):
    """How the command line reads a value. A parameter name has the same kind in every method.

    read: converts (name of the option, typed text) to the value. Raises ValueError that names the option or the file.
    metavar: the placeholder in the help. how: words that are added to the description in the help.
    takes: the Python type of the parameter, for the type hints.
    """

    # (name of the option, typed text) -> value; raises ValueError that names the option or the file
    read: Callable[[str, str], Any]
    metavar: str  # the placeholder in the help
    how: str = ""  # added to the description in the help
    takes: str = "ArrayLike"  # the Python type in cvxml/typed/__init__.pyi


class Parameter(NamedTuple):
    """A parameter of a method.

    text: its meaning in one line, without the default. otherwise: the meaning of None, in words.
    """

    text: str  # its meaning in one line, without the default
    kind: Kind
    default: Any = None  # the default of the function that takes it
    otherwise: str = ""  # the meaning of None, in words

    def __str__(self) -> str:
        if self.default is None:
            return f"{self.text} (default: {self.otherwise})" if self.otherwise else self.text
        shown = f'"{self.default}"' if isinstance(self.default, str) else f"{self.default:g}"
        return f"{self.text} (default {shown})"


def _reader(convert: Callable[[str], Any], takes: str) -> Callable[[str, str], Any]:
    def read(option: str, typed: str) -> Any:
        try:
            return convert(typed)
        except ValueError:
            raise ValueError(f"{option} takes {takes}, got {typed!r}") from None

    return read


def _numbers(typed: str) -> list[float]:
    return [float(part) for part in typed.split(",")]


def _own_name(option: str, *others: str) -> tuple[str, ...]:
    """Return the names that an option accepts for its array in a file: the name of its parameter, then the `others`."""
    return (option.removeprefix("--").replace("-", "_"), *others)


def _matrix(option: str, typed: str) -> Any:
    return read_array(typed, prefer=_own_name(option, *METRIC), square=True)


def _vectors(option: str, typed: str) -> Any:
    return read_array(typed, prefer=_own_name(option, *COMPONENTS, "X"))


def _points(option: str, typed: str) -> Any:
    is_file = any(map(str.isalpha, Path(typed).suffix))
    return read_array(typed, prefer=_own_name(option, "X")) if is_file else NUMBERS.read(option, typed)


def _indices(option: str, typed: str) -> Any:
    return read_indices(typed, *_own_name(option))


def _lists(option: str, typed: str) -> Any:
    return read_neighbors(typed, *_own_name(option))


def _pairs(option: str, typed: str) -> Any:
    found = _indices(option, typed)
    if isinstance(found, np.ndarray):
        fits = found.shape[1] == 3 and bool(np.all(np.abs(found[:, 2]) == 1))
    elif isinstance(found, list):
        fits = all(isinstance(row, list) and len(row) == 3 and row[2] in (1, -1) for row in found)
    else:
        return found
    if not fits:
        raise ValueError(
            f"{option} {typed}: rows of pairs must be i, j and 1 for a similar pair, -1 for a dissimilar one"
        )
    kinds = {"similar": 1, "dissimilar": -1}
    if isinstance(found, np.ndarray):
        return {name: found[found[:, 2] == kind, :2] for name, kind in kinds.items()}
    return {name: [row[:2] for row in found if row[2] == kind] for name, kind in kinds.items()}


def _members(option: str, typed: str) -> Any:
    found = _indices(option, typed)
    if isinstance(found, np.ndarray) and found.shape[1] == 1:
        return found[:, 0]
    if isinstance(found, list) and all(isinstance(row, list) and len(row) == 1 for row in found):
        return [row[0] for row in found]
    return found


WITH_COMMAS = "numbers with commas between them"
Pairs: TypeAlias = Mapping[str, ArrayLike]
Starts: TypeAlias = ArrayLike | Sequence[ArrayLike]
NUMBER = Kind(_reader(float, "a number"), "X", takes="float")
COUNT = Kind(_reader(int, "a whole number"), "N", takes="int")
WORD = Kind(lambda option, typed: typed, "WORD", takes="str")
MODEL = WORD._replace(takes="Any")  # Python also allows an object
START = WORD._replace(how="a word, or all for all of them", takes="Starts")
NUMBERS = Kind(_reader(_numbers, WITH_COMMAS), "X,X", WITH_COMMAS)
LISTS = Kind(_lists, "FILE", "JSON")  # a list of points for each point
INDICES = Kind(_indices, "FILE", ".csv of rows of indices, or .json")
PAIRS = Kind(
    _pairs, "FILE", ".csv of rows i, j and 1 for similar or -1 for dissimilar, or .json", takes="Pairs"
)
MEMBERS = Kind(_members, "FILE", ".csv with one number on each line, or .json")
MATRIX = Kind(_matrix, "FILE", ".npy, .npz, .csv or .json")
VECTORS = Kind(_vectors, "FILE", ".npy, .npz, .csv or .json")
POINTS = Kind(_points, "X,X|FILE", f"{WITH_COMMAS}, or a file")
OF_POINTS = (LISTS, INDICES, PAIRS, MEMBERS)  # lists of points of X, which have no meaning for other data


def words(*known: str, otherwise: Kind) -> Kind:
    """Return a kind that takes one of the `known` words unchanged, and reads any other text as the kind `otherwise`."""

    def read(option: str, typed: str) -> Any:
        if typed in known:
            return typed
        try:
            return otherwise.read(option, typed)
        except ValueError as error:
            near = did_you_mean(typed, known)
            raise ValueError(
                f"{option} takes {', '.join(known)} or {otherwise.metavar}: {error}{near}"
            ) from error

    return Kind(
        read,
        f"WORD|{otherwise.metavar}",
        otherwise.how,
        f"Literal[{', '.join(map(repr, known))}] | {otherwise.takes}",
    )
