"""What every reader and writer shares: the limit on data, one-sentence errors, endings, safe opening."""

from __future__ import annotations

import csv
import errno
import os
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

from cvxml.core.inputs import did_you_mean
from cvxml.core.short_repr import printable

MAX_BYTES = 2 * 1024**3  # decompressed or declared array data, per file
# Compressed data may unpack to FREE_BYTES and MAX_RATIO times the size of the file. Measured data rarely pack into less
# than a tenth, and sparse counts rarely into less than a hundredth. Deflate packs a constant into a thousandth: a file
# of 200 kB would take gigabytes. A user can unpack the few honest files beyond this limit.
FREE_BYTES = 32 * 1024**2
MAX_RATIO = 100

Path = str | os.PathLike[str]

_ERRORS = (OSError, EOFError, ValueError, TypeError, RuntimeError, OverflowError, MemoryError,
           struct.error, zlib.error, zipfile.BadZipFile, csv.Error)  # fmt: skip
NUMPY = "give what numpy.save or numpy.savez wrote from plain numbers or strings"
_LINES = "give UTF-8 lines of equally many cells, only the first one a header, without numbers"
COLUMNS = (".csv", ".tsv", ".txt", ".data")  # lines of cells, whatever is between them; .gz may follow
REMEDIES = {
    ".json": "give one UTF-8 JSON value in which every number is finite and no key is repeated",
    ".npy": NUMPY,
    ".npz": NUMPY,
    **{ending + packed: _LINES for ending in COLUMNS for packed in ("", ".gz")},
}


class Unsettled(ValueError):
    """What may be read in more than one way; the message ends with the option that settles it."""


def named(path: Path) -> str:
    """The name of a file as messages show it; of a long one the end."""
    return f"'{printable(os.fspath(path), tail=True)}'"


@contextmanager
def naming(path: Path, doing: str, remedy: str) -> Iterator[None]:
    try:
        yield
    except Unsettled as error:
        raise ValueError(f"{named(path)} cannot be {doing}: {' '.join(str(error).split())}") from error
    except _ERRORS as error:
        reason = (isinstance(error, OSError) and error.strerror) or str(error) or type(error).__name__
        short = " ".join(str(reason).split())[:300]
        # what is wrong with a place is not mended by another content
        more = _others(path) if isinstance(error, OSError) and doing == "read" else f"; {remedy}"
        raise ValueError(f"{named(path)} cannot be {doing}: {short}{more}") from error


def _others(path: Path) -> str:
    """A file beside the one that is not there, if its name is near."""
    folder, name = os.path.split(os.fspath(path))
    with suppress(OSError, ValueError):
        if not os.path.exists(path):
            # endings are alike anyway
            beside = {
                each.partition(".")[0]: each for each in sorted(os.listdir(folder or ".")) if _ends(each)
            }
            return did_you_mean(name.partition(".")[0], beside, beside)
    return ""


def _ends(name: str) -> bool:
    return name.lower().endswith(tuple(REMEDIES))


def suffix_of(path: Path) -> str:
    """The ending of a file of data, with .gz. Raises ValueError for a folder, and for any other ending."""
    name = os.fspath(path).lower()
    for suffix in sorted(REMEDIES, key=len, reverse=True):
        if name.endswith(suffix):
            return suffix
    if os.path.isdir(path):
        raise ValueError(f"{named(path)} is a folder; name a file in it")
    known = ", ".join((*COLUMNS, *(f"{ending}.gz" for ending in COLUMNS[:1]), ".json", ".npy", ".npz"))
    raise ValueError(f"{named(path)} has another ending than {known}; save it as one of these")


def max_unpacked(stream: BinaryIO) -> int:
    """The most bytes that a compressed file may unpack to."""
    return FREE_BYTES + MAX_RATIO * os.fstat(stream.fileno()).st_size


def open_regular(path: Path) -> BinaryIO:
    """The file, to be read. Raises ValueError for what is no file, OSError for what cannot be opened."""
    # Opening a pipe or a device could block or never end.
    mode = os.stat(path).st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "it is a folder, not a file")
    if not stat.S_ISREG(mode):
        raise ValueError("it is a device, not a file")
    return open(path, "rb")
