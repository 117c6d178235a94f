"""Parts that all readers and writers share: the size limit, error messages, file endings, safe opening."""

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

MAX_BYTES = 2 * 1024**3  # limit of decompressed or declared array data in one file
# Compressed data may unpack to FREE_BYTES plus MAX_RATIO times the size of the file. Measured data rarely pack into
# less than a tenth, and sparse counts rarely into less than a hundredth. Deflate packs a constant into a thousandth, so
# a file of 200 kB would take gigabytes. A user can unpack the few honest files beyond this limit.
FREE_BYTES = 32 * 1024**2
MAX_RATIO = 100

Path = str | os.PathLike[str]

_ERRORS = (OSError, EOFError, ValueError, TypeError, RuntimeError, OverflowError, MemoryError,
           struct.error, zlib.error, zipfile.BadZipFile, csv.Error)  # fmt: skip
NUMPY = "give a file that numpy.save or numpy.savez wrote, with plain numbers or strings"
_LINES = "give UTF-8 lines with the same number of cells; only the first line may be a header, which has no numbers"
COLUMNS = (".csv", ".tsv", ".txt", ".data")  # lines of cells with any separator; .gz may follow
REMEDIES = {
    ".json": "give one UTF-8 JSON value in which every number is finite and no key is repeated",
    ".npy": NUMPY,
    ".npz": NUMPY,
    **{ending + packed: _LINES for ending in COLUMNS for packed in ("", ".gz")},
}


class Unsettled(ValueError):
    """A file cannot be read, or can be read in two ways; the message ends with the remedy, such as an option."""


def named(path: Path) -> str:
    """Return the name of a file for messages, shortened to its end if it is long."""
    return f"'{printable(os.fspath(path), tail=True)}'"


@contextmanager
def naming(path: Path, doing: str, remedy: str) -> Iterator[None]:
    """Return a context that turns an error of its `with` block into a ValueError: the file, the failure and a remedy.

    doing: "read" or "written", for the message. remedy: the remedy for an error in the content. Errors of the system,
    such as a missing file, and Unsettled have their own.
    """
    try:
        yield
    except Unsettled as error:
        raise ValueError(f"{named(path)} cannot be {doing}: {' '.join(str(error).split())}") from error
    except _ERRORS as error:
        reason = (isinstance(error, OSError) and error.strerror) or str(error) or type(error).__name__
        short = " ".join(str(reason).split())[:300]
        # if the file cannot be found or opened, advice about its content does not help
        if not isinstance(error, OSError):
            more = f"; {remedy}"
        elif error.errno == errno.ENAMETOOLONG:
            more = "; give a shorter name"
        elif doing == "read":
            more = _others(path)
        else:
            more = "; check that the folder exists, may be written to and has free space"
        raise ValueError(f"{named(path)} cannot be {doing}: {short}{more}") from error


def _others(path: Path) -> str:
    """Return the end of a message that suggests a file with a name similar to that of `path`, in the same folder.

    "" without such a file, or if `path` exists.
    """
    folder, name = os.path.split(os.fspath(path))
    with suppress(OSError, ValueError):
        if not os.path.exists(path):
            # without endings, because these are alike
            beside = {
                each.partition(".")[0]: each for each in sorted(os.listdir(folder or ".")) if _ends(each)
            }
            return did_you_mean(name.partition(".")[0], beside, beside)
    return ""


def _ends(name: str) -> bool:
    return name.lower().endswith(tuple(REMEDIES))


def check_path(path: object) -> str:
    """Return the name of a file as text. Raises ValueError for anything else than a text or a path."""
    if isinstance(path, str):
        return path
    name = os.fspath(path) if isinstance(path, os.PathLike) else None
    if not isinstance(name, str):
        raise ValueError(
            f"path must be the name of a file, a text or a Path, got {printable(repr(path), 40)}"
        )
    return name


def suffix_of(path: Path) -> str:
    """Return the ending of a data file in lower case, for example ".npy" or ".csv.gz".

    Raises ValueError for a folder, and for an ending that is not a key of `REMEDIES`.
    """
    name = check_path(path).lower()
    for suffix in sorted(REMEDIES, key=len, reverse=True):
        if name.endswith(suffix):
            return suffix
    if os.path.isdir(path):
        raise ValueError(f"{named(path)} is a folder; name a file in it")
    known = ", ".join((*COLUMNS, *(f"{ending}.gz" for ending in COLUMNS[:1]), ".json", ".npy", ".npz"))
    raise ValueError(f"{named(path)} does not end in {known}; save it as one of these")


def max_unpacked(stream: BinaryIO) -> int:
    """Return the most bytes that a compressed file may unpack to: 32 MiB plus 100 times its size."""
    return FREE_BYTES + MAX_RATIO * os.fstat(stream.fileno()).st_size


def open_regular(path: Path) -> BinaryIO:
    """Open a file for reading.

    Raises ValueError for devices, and OSError for files that cannot be opened, and folders.
    """
    # Opening a pipe or a device could block forever.
    mode = os.stat(path).st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "it is a folder, not a file")
    if not stat.S_ISREG(mode):
        raise ValueError("it is a device, not a file")
    return open(path, "rb")
