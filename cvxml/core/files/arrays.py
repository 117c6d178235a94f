"""Read real arrays, such as metrics and points, and rows of indices, from files of all supported formats."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cvxml.core.files import common
from cvxml.core.files.cells import Settled
from cvxml.core.files.common import COLUMNS, REMEDIES, Path, Unsettled, named, naming, suffix_of
from cvxml.core.files.csv_files import load_csv
from cvxml.core.files.numpy_files import load_npy, load_npz
from cvxml.core.files.strict_json import is_solution, load_json, of_solution
from cvxml.core.metric import ROUNDED, is_rounded, refuse_rounded_integers
from cvxml.core.short_repr import printable

LARGEST_INDEX = 2**53
METRIC, COMPONENTS, POINTS = ("metric", "A", "M"), ("components", "L"), ("queries", "X")  # names of arrays
PREFER = (*METRIC, *COMPONENTS, *POINTS)
OPTION = {
    name: option
    for option, names in {"--metric": METRIC, "--components": COMPONENTS, "--queries": POINTS}.items()
    for name in names
}


def real(values: NDArray[Any]) -> NDArray[np.float64]:
    if values.dtype.kind not in "biuf" or values.ndim == 0:
        raise ValueError(
            f"it must be an array of real numbers, got shape {values.shape} and dtype {values.dtype}"
        )
    if values.size * 8 > common.MAX_BYTES:
        raise ValueError(f"it holds {values.size} numbers, more than {common.MAX_BYTES // 8}")
    with np.errstate(over="ignore"):  # a long double may become infinite; the callers check
        floats = np.asarray(values, dtype=np.float64, order="C")
    if values.dtype.kind in "iu" and values.itemsize == 8:  # double precision holds all integers of 4 bytes
        refuse_rounded_integers(values, floats, "it")
    return floats


class _Refused(ValueError):
    """An error in nested lists; `place` holds the indices of the wrong list or number, from the outermost list on."""

    def __init__(self, message: str):
        super().__init__(message)
        self.place: list[int] = []


class _Numbers:
    """The numbers of nested lists, and whether all of them are integers."""

    def __init__(self) -> None:
        self.found = array("d")
        self.whole = True

    def append(self, value: int | float, as_float: float) -> None:
        self.found.append(as_float)
        self.whole = self.whole and isinstance(value, int)


def _shape(value: object, numbers: _Numbers) -> tuple[int, ...]:
    """Return the shape of nested lists, and append their numbers to `numbers`, row by row.

    Raises _Refused for an entry that is not a number, for an integer that double precision rounds, and for lists of
    different shapes.
    """
    if isinstance(value, list):
        return _shape_of_list(value, numbers)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _Refused(f"{printable(value, 40)!r} is not a number")
    try:
        as_float = float(value)
    except OverflowError:
        as_float = np.inf
    if isinstance(value, int) and is_rounded(value, as_float):
        raise _Refused(f"it holds the integer {value!r:.40}, {ROUNDED}")
    numbers.append(value, as_float)
    return ()


def _shape_of_list(values: list[object], numbers: _Numbers) -> tuple[int, ...]:
    first: tuple[int, ...] = ()
    for k, value in enumerate(values):
        try:
            shape = _shape(value, numbers)
            if k and shape != first:
                raise _Refused(f"its shape {shape} is not {first}, the shape of the lists before it")
        except _Refused as error:
            error.place.insert(0, k)
            raise
        first = shape
    return (len(values), *first)


def _read(value: object, name: str) -> tuple[NDArray[np.float64], bool]:
    numbers = _Numbers()
    try:
        shape = _shape(value, numbers)
    except _Refused as error:
        place = f"{name or 'entry '}{error.place}: " if error.place else f"{name}: " if name else ""
        raise ValueError(f"{place}{error}") from None
    return real(np.frombuffer(numbers.found, dtype=np.float64).reshape(shape)), numbers.whole


def nested(value: object, name: str = "") -> NDArray[np.float64]:
    """Return the array in nested lists from JSON.

    Raises ValueError for other input. The message gives the place of the error, such as X[1, 0]. name: the name of the
    array in this message.

    Types and shape are checked number by number, because numpy would convert numbers beside a string to strings.
    """
    return _read(value, name)[0]


def whole_or_real(value: object, name: str) -> NDArray[Any]:
    """Return the array in nested lists from JSON: int64 if all numbers are integers of a size below 2^63, else float64.

    An empty array is float64. Errors and `name` are those of `nested`.
    """
    array, whole = _read(value, name)
    fits = whole and array.size > 0 and float(np.abs(array).max()) < 2.0**63
    return array.astype(np.int64) if fits else array


def _choose(held: Mapping[str, Any], prefer: Sequence[str]) -> Any:
    for name in prefer:
        if name in held:
            return held[name]
    names = ", ".join(map(repr, held))[:150] or "nothing"
    fits = "".join(f"give {name!r} to {option}, or " for name, option in OPTION.items() if name in held)
    raise Unsettled(
        f"it holds {names} but none of {', '.join(prefer)}; {fits}save the array by one of these names"
    )


def _of_json(held: dict[str, Any], prefer: Sequence[str]) -> Any:
    """Return the value of the first name in `prefer` that a JSON object holds.

    In a saved solution, the parameter with the name prefer[0] comes first if its value is a list. The points X of a
    solution are returned only if prefer[0] is a name of a metric, components or points (a key of `OPTION`). For another
    parameter, such as "basis", X would be returned by mistake. Raises ValueError if no name is found.
    """
    own = prefer[0]
    if not is_solution(held):
        return _choose(held, prefer)
    if isinstance(held["params"].get(own), list):
        return held["params"][own]
    return _choose(held, prefer if own in OPTION else [name for name in prefer if name != "X"])


def _of_npz(arrays: Mapping[str, Any], prefer: Sequence[str]) -> Any:
    """Return the array with the first name in `prefer` that is among `arrays`.

    A single array with a name that is not a key of `OPTION` is returned in any case. Raises ValueError if no name is
    found.
    """
    only = next(iter(arrays)) if len(arrays) == 1 else None
    return _choose(arrays, prefer) if only is None or only in OPTION else arrays[only]


def read_array(path: Path, *, prefer: Sequence[str] = PREFER, square: bool = False) -> NDArray[np.float64]:
    """Return the real array in a file: float64, C-contiguous, with at least one dimension.

    prefer: names of arrays; the first one that the file holds is read. square: a square matrix is expected.

    - .npy: the array.
    - .npz: the array that `prefer` selects. A single array may also have any name that is not in `PREFER`.
    - .csv, .tsv, .txt, .data, or one of them with .gz: always (n, d). A first line without any number is a header. A
      first line such as 0, 1, 2 may be a header or data, so the file is refused, except in two cases. Without `square`,
      it is data if it is the only line. With `square`, it is data if the file has as many lines as columns.
    - .json: nested lists, or the value that `prefer` selects in an object. In a saved solution, the parameter prefer[0]
      comes first.

    NaN and infinity are allowed in .npy and .npz only. Raises ValueError for anything else.
    """
    suffix = suffix_of(path)
    with naming(path, "read", REMEDIES[suffix]):
        if suffix == ".npy":
            return real(load_npy(path))
        if suffix == ".npz":
            return real(_of_npz(load_npz(path), prefer))
        if suffix == ".json":
            value = load_json(path)
            return nested(_of_json(value, prefer) if isinstance(value, dict) else value)
        held = load_csv(path, suffix.endswith(".gz"), labelled=False, square=square)
        held.refuse_rounded(range(held.width))
        held.refuse_infinite(list(range(held.width)))
        return held.numbers


def read_indices(path: Path, name: str = "") -> object:
    """Return rows of indices: an array (rows, columns) from lines of cells, or the content of a .json file.

    name: the parameter for which the rows are read. If the .json file is a saved solution, its parameter of this name
    is returned. A first line 0, 1, 2 is a row here, and not a header. Raises ValueError for other files, and for cells
    that are not whole numbers. The content of a .json file is not checked here.
    """
    suffix = suffix_of(path)
    if suffix == ".json":
        with naming(path, "read", REMEDIES[suffix]):
            value: object = load_json(path)
            return of_solution(value, name) if name else value
    if not suffix.startswith(COLUMNS):
        raise ValueError(
            f"{named(path)}: rows of indices are read from {', '.join(COLUMNS)} or .json, not from {suffix}"
        )
    with naming(path, "read", REMEDIES[suffix]):
        packed = suffix.endswith(".gz")
        try:
            held = load_csv(path, packed, labelled=False)
        except Unsettled:
            held = load_csv(path, packed, labelled=False, settled=Settled(header=False))
        rows = held.numbers
        wrong = np.argwhere((rows != np.round(rows)) | ~(np.abs(rows) <= LARGEST_INDEX))
        if len(wrong):
            row, column = wrong[0].tolist()
            raise ValueError(
                f"line {held.lines[row]}, column {column + 1}: {rows[row, column]:g} is not an index"
            )
        return rows.astype(np.intp)
