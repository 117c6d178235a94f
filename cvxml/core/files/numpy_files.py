"""Read numpy's .npy and .npz files without pickles, and without trusting their headers."""

from __future__ import annotations

import io
import math
import os
import warnings
import zipfile
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from cvxml.core.files import common
from cvxml.core.files.common import NUMPY, Path, Unsettled, max_unpacked, naming, open_regular
from cvxml.core.memory import FLOAT

_HEAD_BYTES = 1 << 14  # longer than the longest .npy header that numpy accepts
_CHUNK_BYTES = 1 << 20
_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


def check_dtype(dtype: np.dtype[Any]) -> None:
    if dtype.kind not in "biufcUS":
        raise ValueError(f"the dtype {str(dtype)[:40]} is not allowed")


def _header(head: bytes) -> tuple[tuple[int, ...], bool, np.dtype[Any], int]:
    buffer = io.BytesIO(head)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            shape, fortran, dtype = _HEADERS[npy.read_magic(buffer)](buffer)
    except Exception as error:  # a hostile header makes numpy and ast raise exceptions of almost any type
        raise ValueError(f"unreadable .npy header, {error}") from error
    check_dtype(dtype)
    return tuple(int(side) for side in shape), fortran, dtype, buffer.tell()


def _fill(stream: IO[bytes], start: bytes, size: int) -> NDArray[np.uint8]:
    raw = np.empty(size, dtype=np.uint8)
    filled, chunk = 0, start
    while filled < size:
        chunk = chunk or stream.read(min(_CHUNK_BYTES, size - filled))
        if not chunk:
            raise EOFError("the data are shorter than the header declares")
        raw[filled : filled + len(chunk)] = np.frombuffer(chunk, dtype=np.uint8)
        filled, chunk = filled + len(chunk), b""
    return raw


def _typed(raw: NDArray[np.uint8], dtype: np.dtype[Any]) -> NDArray[Any]:
    flat = raw.view(dtype).astype(dtype.newbyteorder("="), copy=False)
    # numpy does not check these bit patterns, and later use of invalid ones is undefined.
    if dtype.kind == "U" and flat.view(np.uint32).max(initial=0) > 0x10FFFF:
        raise ValueError("a character is not Unicode")
    if dtype.kind == "b" and raw.max(initial=0) > 1:
        raise ValueError("a boolean value is stored as a byte other than 0 or 1, so the file is damaged")
    return flat


def _read_npy(stream: IO[bytes], size: int, most: float = math.inf) -> NDArray[Any]:
    """Return the array in a stream of `size` bytes that holds a .npy file.

    most: the limit of the size of the array in bytes; an entry of fewer than 8 bytes counts as 8. Raises ValueError for
    a larger array, and for a header that is not allowed or does not match `size`.
    """
    if size > common.MAX_BYTES:
        raise ValueError(f"it has {size} bytes, more than {common.MAX_BYTES}")
    head = stream.read(min(size, _HEAD_BYTES))
    shape, fortran, dtype, start = _header(head)
    declared = math.prod(shape) * dtype.itemsize
    _refuse_unpacked(math.prod(shape) * max(dtype.itemsize, FLOAT), most)
    if declared != size - start:
        raise ValueError(f"the header declares {declared} bytes of data, there are {size - start}")
    flat = _typed(_fill(stream, head[start:], declared), dtype)
    return flat.reshape(shape, order="F" if fortran else "C")


def _refuse_unpacked(size: int, most: float) -> None:
    if size > most:
        raise Unsettled(
            f"it unpacks to {size} bytes, but {most} are left of the limit for a file of its size; write it "
            "uncompressed, with numpy.savez"
        )


def _members(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    members = archive.infolist()
    names = [member.filename for member in members]
    if len(set(names)) < len(names) or not all(name.endswith(".npy") for name in names):
        raise ValueError("its members must be .npy files with different names")
    if not {m.compress_type for m in members} <= {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
        raise ValueError("it has a compression that numpy does not write")
    declared = sum(member.file_size for member in members)
    if declared > common.MAX_BYTES:
        raise ValueError(f"it declares {declared} bytes, more than {common.MAX_BYTES}")
    return members


def load_npz(path: Path) -> dict[str, NDArray[Any]]:
    result = {}
    with open_regular(path) as stream, zipfile.ZipFile(stream) as archive:
        members = _members(archive)
        most = max_unpacked(stream)
        _refuse_unpacked(sum(info.file_size for info in members), most)
        for info in members:
            with archive.open(info) as member:
                values = _read_npy(member, info.file_size, most)
            most -= values.size * max(values.itemsize, FLOAT)
            result[info.filename[: -len(".npy")]] = values
    return result


def load_npy(path: Path) -> NDArray[Any]:
    with open_regular(path) as stream:
        return _read_npy(stream, os.fstat(stream.fileno()).st_size)


def read_npz(path: Path) -> dict[str, NDArray[Any]]:
    """Return all arrays of an .npz file by name: numbers, booleans or strings, in native byte order.

    Raises ValueError for objects, structured or other dtypes, and for headers that do not match the data. Files that
    declare more than MAX_BYTES are refused. Files are refused if they unpack to more than 32 MiB plus 100 times their
    size.
    """
    with naming(path, "read", NUMPY):
        return load_npz(path)
