"""What every reader and writer shares: the limit on data, one-sentence errors, endings, safe opening."""

from __future__ import annotations

import csv
import os
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

MAX_BYTES = 2 * 1024**3  # decompressed or declared array data, per file

Path = str | os.PathLike[str]

_ERRORS = (OSError, EOFError, ValueError, TypeError, RuntimeError, OverflowError, MemoryError,
           struct.error, zlib.error, zipfile.BadZipFile, csv.Error)  # fmt: skip
NUMPY = "give what numpy.save or numpy.savez wrote from plain numbers or strings"
_CSV = "give UTF-8 lines of equally many comma separated cells, only the first one a header, without numbers"
REMEDIES = {
    ".json": "give one UTF-8 JSON value in which every number is finite and no key is repeated",
    ".npy": NUMPY,
    ".npz": NUMPY,
    ".csv": _CSV,
    ".csv.gz": _CSV,
}


class Unsettled(ValueError):
    """What may be read in more than one way; the message ends with the option that settles it."""


@contextmanager
def naming(path: Path, doing: str, remedy: str) -> Iterator[None]:
    try:
        yield
    except Unsettled as error:
        raise ValueError(f"{os.fspath(path)!r} cannot be {doing}: {' '.join(str(error).split())}") from error
    except _ERRORS as error:
        reason = (isinstance(error, OSError) and error.strerror) or str(error) or type(error).__name__
        short = " ".join(str(reason).split())[:300]
        raise ValueError(f"{os.fspath(path)!r} cannot be {doing}: {short}; {remedy}") from error


def suffix_of(path: Path) -> str:
    name = os.fspath(path).lower()
    for suffix in REMEDIES:
        if name.endswith(suffix):
            return suffix
    raise ValueError(f"{os.fspath(path)!r} has another ending than {', '.join(REMEDIES)}; use one")


def open_regular(path: Path) -> BinaryIO:
    # Opening a pipe or a device could block or never end.
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise ValueError("it is a folder or a device, not a file")
    return open(path, "rb")
