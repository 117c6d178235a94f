"""Reading what strangers send, safely; writing atomically.

Every function raises ValueError, in one sentence naming the file, for all it does not accept: a
missing or unreadable file, a folder, a malformed, hostile or oversized one. Pickles are never
loaded, and no size that a file merely declares is allocated before it was checked.
"""

import csv
import gzip
import io
import json
import math
import os
import re
import secrets
import stat
import struct
import warnings
import zipfile
import zlib
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from typing import IO, Any, BinaryIO

import numpy as np
from numpy.lib import format as npy
from numpy.typing import ArrayLike, NDArray

MAX_BYTES = 2 * 1024**3  # decompressed or declared array data, per file
MAX_JSON_BYTES = 256 * 1024**2
MAX_DEPTH = 64  # nested brackets in JSON
MAX_DIGITS = 4300  # of one JSON integer
MAX_LINE_BYTES = 16 * 1024**2  # one line of CSV
MAX_LABEL = 1000  # characters: numpy pads every label to the longest one

Path = str | os.PathLike[str]
PREFER = ("metric", "A", "M", "components", "X")

_HEAD_BYTES = 1 << 14  # more than the longest .npy header that numpy accepts
_CHUNK_BYTES = 1 << 20
_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
_ERRORS = (OSError, EOFError, ValueError, TypeError, RuntimeError, OverflowError,
           struct.error, zlib.error, zipfile.BadZipFile, csv.Error)  # fmt: skip
_NUMPY = "give what numpy.save or numpy.savez wrote from plain numbers or strings"
_CSV = "give UTF-8 lines of equally many comma separated cells, only the first one a header"
_REMEDIES = {
    ".json": "give one UTF-8 JSON value in which every number is finite and no key is repeated",
    ".npy": _NUMPY,
    ".npz": _NUMPY,
    ".csv": _CSV,
    ".csv.gz": _CSV,
}


@contextmanager
def _naming(path: Path, doing: str, remedy: str) -> Iterator[None]:
    try:
        yield
    except _ERRORS as error:
        reason = (isinstance(error, OSError) and error.strerror) or str(error) or type(error)
        short = " ".join(str(reason).split())[:300]
        raise ValueError(f"{os.fspath(path)!r} cannot be {doing}: {short}; {remedy}") from error


def _suffix(path: Path) -> str:
    name = os.fspath(path).lower()
    for suffix in _REMEDIES:
        if name.endswith(suffix):
            return suffix
    raise ValueError(f"{os.fspath(path)!r} has another ending than {', '.join(_REMEDIES)}; use one")


def _open(path: Path) -> BinaryIO:
    # Opening a pipe or a device could block or never end.
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise ValueError("it is a folder or a device, not a file")
    return open(path, "rb")


# --- JSON ---


def _check_depth(text: str) -> None:
    depth, in_string = 0, False
    for match in re.finditer(r'\\.|["\[\]{}]', text, re.DOTALL):
        token = match[0]
        if token == '"':
            in_string = not in_string
        elif not in_string and token in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise ValueError(f"brackets are nested deeper than {MAX_DEPTH}")
        elif not in_string and token in "]}":
            depth -= 1


def _constant(token: str) -> float:
    raise ValueError(f"{token} is not a JSON number")


def _float(token: str) -> float:
    value = float(token)
    if math.isinf(value):
        raise ValueError(f"{token[:40]} is too large for a float")
    return value


def _int(token: str) -> int:
    if len(token.lstrip("-")) > MAX_DIGITS:
        raise ValueError(f"an integer has more than {MAX_DIGITS} digits")
    return int(token)


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    result: dict[str, object] = {}
    for key, value in pairs:
        if key in result:
            raise ValueError(f"the key {key[:40]!r} is repeated")
        result[key] = value
    return result


def _load_json(path: Path) -> Any:
    with _open(path) as stream:
        if os.fstat(stream.fileno()).st_size > MAX_JSON_BYTES:
            raise ValueError(f"it has more than {MAX_JSON_BYTES} bytes")
        text = stream.read().decode("utf-8")
    _check_depth(text)
    return json.loads(
        text,
        parse_constant=_constant,
        parse_float=_float,
        parse_int=_int,
        object_pairs_hook=_unique,
    )


def _shape(value: object, numbers: "array[float]") -> tuple[int, ...]:
    if isinstance(value, list):
        shapes = {_shape(item, numbers) for item in value}
        if len(shapes) > 1:
            raise ValueError("its lists have different lengths")
        return (len(value), *(shapes.pop() if shapes else ()))
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{str(value)[:40]!r} is not a number")
    numbers.append(float(value))
    return ()


def _nested(value: object) -> NDArray[np.float64]:
    numbers = array("d")
    shape = _shape(value, numbers)
    return _real(np.array(numbers, dtype=np.float64).reshape(shape))


# --- .npy and .npz ---


def _check_dtype(dtype: np.dtype[Any]) -> None:
    if dtype.kind not in "biufcUS":
        raise ValueError(f"the dtype {str(dtype)[:40]} is not allowed")


def _header(head: bytes) -> tuple[tuple[int, ...], bool, np.dtype[Any], int]:
    buffer = io.BytesIO(head)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            shape, fortran, dtype = _HEADERS[npy.read_magic(buffer)](buffer)
    except Exception as error:  # a hostile header makes numpy and ast raise nearly anything
        raise ValueError(f"unreadable .npy header, {error}") from error
    _check_dtype(dtype)
    return tuple(int(side) for side in shape), fortran, dtype, buffer.tell()


def _fill(stream: IO[bytes], start: bytes, size: int) -> NDArray[np.uint8]:
    raw = np.empty(size, dtype=np.uint8)
    filled, chunk = 0, start
    while filled < size:
        chunk = chunk or stream.read(min(_CHUNK_BYTES, size - filled))
        if not chunk:
            raise EOFError("the data end early")
        raw[filled : filled + len(chunk)] = np.frombuffer(chunk, dtype=np.uint8)
        filled, chunk = filled + len(chunk), b""
    return raw


def _typed(raw: NDArray[np.uint8], dtype: np.dtype[Any]) -> NDArray[Any]:
    flat = raw.view(dtype).astype(dtype.newbyteorder("="), copy=False)
    # numpy does not check these bit patterns, and later use of bad ones is undefined.
    if dtype.kind == "U" and flat.view(np.uint32).max(initial=0) > 0x10FFFF:
        raise ValueError("a character is not Unicode")
    if dtype.kind == "b" and raw.max(initial=0) > 1:
        raise ValueError("a boolean is neither 0 nor 1")
    return flat


def _read_npy(stream: IO[bytes], size: int) -> NDArray[Any]:
    if size > MAX_BYTES:
        raise ValueError(f"it has {size} bytes, more than {MAX_BYTES}")
    head = stream.read(min(size, _HEAD_BYTES))
    shape, fortran, dtype, start = _header(head)
    declared = math.prod(shape) * dtype.itemsize
    if declared != size - start:
        raise ValueError(f"the header declares {declared} bytes of data, there are {size - start}")
    flat = _typed(_fill(stream, head[start:], declared), dtype)
    return flat.reshape(shape, order="F" if fortran else "C")


def _members(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    members = archive.infolist()
    names = [member.filename for member in members]
    if len(set(names)) < len(names) or not all(name.endswith(".npy") for name in names):
        raise ValueError("its members are not .npy files of different names")
    if not {m.compress_type for m in members} <= {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
        raise ValueError("it has a compression that numpy does not write")
    declared = sum(member.file_size for member in members)
    if declared > MAX_BYTES:
        raise ValueError(f"it declares {declared} bytes, more than {MAX_BYTES}")
    return members


def _load_npz(path: Path) -> dict[str, NDArray[Any]]:
    result = {}
    with _open(path) as stream, zipfile.ZipFile(stream) as archive:
        for info in _members(archive):
            with archive.open(info) as member:
                result[info.filename[: -len(".npy")]] = _read_npy(member, info.file_size)
    return result


def _load_npy(path: Path) -> NDArray[np.float64]:
    with _open(path) as stream:
        return _real(_read_npy(stream, os.fstat(stream.fileno()).st_size))


def _real(values: NDArray[Any]) -> NDArray[np.float64]:
    if values.dtype.kind not in "biuf" or values.ndim == 0:
        raise ValueError(f"{values.dtype} of shape {values.shape} is no array of real numbers")
    if values.size * 8 > MAX_BYTES:
        raise ValueError(f"{values.size} numbers are more than {MAX_BYTES // 8}")
    with np.errstate(over="ignore"):  # a long double may become infinite: the caller looks
        return np.array(values, dtype=np.float64, order="C")


# --- CSV ---


def _lines(readline: Callable[[int], bytes]) -> Iterator[str]:
    total, encoding = 0, "utf-8-sig"
    while raw := readline(MAX_LINE_BYTES + 1):
        total += len(raw)
        if len(raw) > MAX_LINE_BYTES or total > MAX_BYTES:
            raise ValueError(f"over {MAX_LINE_BYTES} bytes in a line or {MAX_BYTES} in all")
        yield raw.decode(encoding)
        encoding = "utf-8"


def _rows(path: Path, packed: bool) -> Iterator[tuple[int, list[str]]]:
    with _open(path) as stream:
        readline = gzip.GzipFile(fileobj=stream).readline if packed else stream.readline
        reader = csv.reader(_lines(readline), strict=True)
        yield from ((reader.line_num, row) for row in reader if row)


def _number(cell: str) -> float | None:
    # float() also takes 1_000 and digits of other scripts, which are likelier to be mistakes.
    if "_" in cell or not cell.isascii():
        return None
    try:
        return float(cell)
    except ValueError:
        return None


def _label_column(header: list[str], width: int, label: str | None) -> int:
    if width < 2:
        raise ValueError("it has one column, a table needs features and a label")
    names = [name.strip() for name in header]
    wanted = "label" if label is None else label
    if names.count(wanted) == 1:
        return names.index(wanted)
    if label is None and wanted not in names:
        return width - 1
    raise ValueError(f"{names.count(wanted)} columns are named {wanted!r}, not one")


def _load_csv(
    path: Path, packed: bool, labelled: bool, label: str | None = None
) -> tuple[NDArray[np.float64], list[str]]:
    rows = _rows(path, packed)
    first = next(rows, None)
    if first is None:
        raise ValueError("it is empty")
    header = first[1] if _number(first[1][0]) is None else []
    width = len(first[1])
    at = _label_column(header, width, label) if labelled else -1
    numbers, labels = array("d"), list[str]()
    for line, cells in rows if header else chain([first], rows):
        if len(cells) != width:
            raise ValueError(f"line {line} has {len(cells)} cells, the first one {width}")
        for column, cell in enumerate(cells):
            if column == at:
                labels.append(cell.strip())
                continue
            value = _number(cell)
            if value is None:
                raise ValueError(f"line {line}, column {column + 1}: {cell[:40]!r} is no number")
            numbers.append(value)
        if len(numbers) * 8 > MAX_BYTES:
            raise ValueError(f"it holds more than {MAX_BYTES // 8} numbers")
    if not numbers:
        raise ValueError("it has no line below its header")
    return np.array(numbers, dtype=np.float64).reshape(-1, width - labelled), labels


# --- labels ---


def _labels(values: Sequence[int] | Sequence[str]) -> NDArray[Any]:
    if all(isinstance(value, int) and not isinstance(value, bool) for value in values):
        return np.array(values, dtype=np.int64)
    if not all(isinstance(value, str) and 0 < len(value) <= MAX_LABEL for value in values):
        raise ValueError(f"labels must be all integers or all strings of 1 to {MAX_LABEL} letters")
    return np.array(values, dtype=np.str_)


def _cell_labels(cells: list[str]) -> NDArray[Any]:
    integers = all(re.fullmatch(r"[+-]?[0-9]{1,18}", cell) for cell in cells)
    return _labels([int(cell) for cell in cells] if integers else cells)


def _last_column(table: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[Any]]:
    if table.ndim != 2 or table.shape[1] < 2:
        raise ValueError(f"shape {table.shape} is not rows of features with the label last")
    labels = table[:, -1]
    if not np.all((np.abs(labels) <= 2.0**53) & (labels == np.round(labels))):
        raise ValueError("the labels in the last column are not all integers")
    return np.ascontiguousarray(table[:, :-1]), labels.astype(np.int64)


# --- what the package calls ---


def _choose(held: Mapping[str, Any], prefer: Sequence[str]) -> Any:
    for name in prefer:
        if name in held:
            return held[name]
    names = ", ".join(map(repr, held))[:150] or "nothing"
    raise ValueError(f"it holds {names} but none of {', '.join(prefer)}")


def read_json(path: Path) -> object:
    """The value in a strict UTF-8 JSON file of at most MAX_JSON_BYTES.

    Raises ValueError for NaN, infinities, numbers that overflow, integers of more than MAX_DIGITS
    digits, repeated keys, nesting deeper than MAX_DEPTH, or anything after the value.
    """
    with _naming(path, "read", _REMEDIES[".json"]):
        value: object = _load_json(path)
        return value


def read_npz(path: Path) -> dict[str, NDArray[Any]]:
    """All arrays of an .npz file by name: numbers, booleans or strings, in native byte order.

    Raises ValueError for objects, structured or other dtypes, for headers that do not match the
    data, and for files that declare more than MAX_BYTES.
    """
    with _naming(path, "read", _NUMPY):
        return _load_npz(path)


def read_array(path: Path, *, prefer: Sequence[str] = PREFER) -> NDArray[np.float64]:
    """The real array in a file, float64 and C-contiguous, of at least one dimension.

    .npy; .npz (its only array, else the first of `prefer` it has); .csv or .csv.gz (always (n, d);
    a first line whose first cell is not a number is a header); .json (nested lists, or an object
    holding one of `prefer`). NaN passes, except in JSON. Raises ValueError for anything else.
    """
    suffix = _suffix(path)
    with _naming(path, "read", _REMEDIES[suffix]):
        if suffix == ".npy":
            return _load_npy(path)
        if suffix == ".npz":
            arrays = _load_npz(path)
            return _real(*arrays.values() if len(arrays) == 1 else [_choose(arrays, prefer)])
        if suffix == ".json":
            value = _load_json(path)
            return _nested(_choose(value, prefer) if isinstance(value, dict) else value)
        return _load_csv(path, suffix == ".csv.gz", labelled=False)[0]


def _load_table(
    path: Path,
    suffix: str,
    label: str | None,
) -> tuple[NDArray[np.float64], NDArray[Any]]:
    if suffix.startswith(".csv"):
        X, cells = _load_csv(path, suffix == ".csv.gz", labelled=True, label=label)
        return X, _cell_labels(cells)
    if label is not None:
        raise ValueError(f"only CSV has a column to name {label!r}")
    if suffix == ".npy":
        return _last_column(_load_npy(path))
    held = _load_json(path) if suffix == ".json" else _load_npz(path)
    if not isinstance(held, dict) or not {"X", "y"} <= held.keys():
        raise ValueError("it does not hold both X and y")
    X = _nested(held["X"]) if suffix == ".json" else _real(held["X"])
    y = held["y"] if suffix == ".json" else held["y"].tolist()
    if not isinstance(y, list):
        raise TypeError("y is not a list of labels")
    return X, _labels(y)


def read_table(path: Path, *, label: str | None = None) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Features X (n, d) float64 and labels y (n,), int64 or str, with n and d at least 1.

    .csv or .csv.gz: a first line whose first cell is not a number is a header; the labels are the
    column named `label`, by default the one named "label", else the last; they are int64 if every
    one is an integer (of up to 18 digits), else str. .npz and .json hold X and y, .npy holds y as
    its last column, in integers. Raises ValueError for anything else, and for a `label` that is
    not the name of exactly one CSV column.
    """
    suffix = _suffix(path)
    with _naming(path, "read", _REMEDIES[suffix]):
        X, y = _load_table(path, suffix, label)
        if X.ndim != 2 or X.size == 0 or y.shape != (len(X),):
            raise ValueError(f"X has shape {X.shape} and y {y.shape}, not (n, d) and (n,)")
        return X, y


def read_neighbors(path: Path) -> list[list[int]]:
    """The lists of row numbers (from 0) in a JSON file: a list of lists, or {"neighbors": ...}.

    Raises ValueError for anything else: booleans, floats and negative numbers are refused.
    """
    with _naming(path, "read", "give a JSON list of lists of row numbers, counted from 0"):
        value = _load_json(path)
        rows = value.get("neighbors") if isinstance(value, dict) else value
        if not isinstance(rows, list):
            raise TypeError("it holds no list of lists")
        for place, row in enumerate(rows):
            if not isinstance(row, list) or not all(type(i) is int and i >= 0 for i in row):
                raise ValueError(f"entry {place} is not a list of row numbers")
        return rows


def _replace(path: Path, write: Callable[[BinaryIO], object]) -> None:
    # Through a link, the file it points to is what is replaced.
    target = os.path.realpath(path)
    temporary = os.path.join(os.path.dirname(target), f".cvxml-{secrets.token_hex(8)}.tmp")
    try:
        with open(temporary, "xb") as stream:
            write(stream)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError, ValueError):
            os.unlink(temporary)
        raise


def write_json(path: Path, obj: object) -> None:
    """Write `obj` as JSON (sorted keys, indent 1, final newline), replacing the file at once.

    Raises ValueError, leaving an existing file as it was, if `obj` holds NaN, an infinity or
    something JSON has no form for, or if the file cannot be written.
    """
    with _naming(path, "written", "give finite plain values and a writable path"):
        text = json.dumps(obj, allow_nan=False, sort_keys=True, indent=1) + "\n"
        _replace(path, lambda stream: stream.write(text.encode("utf-8")))


def write_npz(path: Path, /, **arrays: ArrayLike) -> None:
    """Write `arrays` as an uncompressed .npz that read_npz reads, replacing the file at once.

    The same arrays give the same bytes. Raises ValueError, leaving an existing file as it was, for
    dtypes other than numbers, booleans and strings, or if the file cannot be written.
    """

    def write(stream: BinaryIO) -> None:
        with zipfile.ZipFile(stream, "w") as archive:
            for name, value in arrays.items():
                values = np.asarray(value)
                _check_dtype(values.dtype)
                with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as member:
                    npy.write_array(member, values, allow_pickle=False)

    with _naming(path, "written", "give numbers or strings and a writable path"):
        _replace(path, write)
