"""Write files atomically, so that a reader never sees a part of a file."""

from __future__ import annotations

import json
import os
import secrets
import signal
import threading
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

import numpy as np
from numpy.lib import format as npy
from numpy.typing import ArrayLike

from cvxml.core.files.common import Path, naming
from cvxml.core.files.numpy_files import check_dtype
from cvxml.core.files.strict_json import check_depth

# signals that end a process in the middle of a write; Windows has no SIGHUP
_ENDING = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]


@contextmanager
def _without_signals() -> Iterator[None]:
    """Return a context that delays SIGTERM and SIGHUP to the end of its `with` block.

    A signal for which the program has a handler is not delayed. In other threads than the main thread the context has
    no effect, because Python handles signals in the main thread: the signals end the process at once.
    """
    came: list[int] = []
    waiting = []
    if threading.current_thread() is threading.main_thread():
        waiting = [number for number in _ENDING if signal.getsignal(number) is signal.SIG_DFL]
    for number in waiting:
        signal.signal(number, lambda number, _: came.append(number))
    try:
        yield
    finally:
        for number in waiting:
            signal.signal(number, signal.SIG_DFL)
        for number in came[:1]:
            signal.raise_signal(number)


def _replace(path: Path, write: Callable[[BinaryIO], object]) -> None:
    # If `path` is a link, the file that it points to is replaced.
    target = os.path.realpath(path)
    temporary = os.path.join(os.path.dirname(target), f".cvxml-{secrets.token_hex(8)}.tmp")
    with _without_signals():
        try:
            with open(temporary, "xb") as stream:
                # a replaced file keeps its permissions, so a private file stays private
                with suppress(FileNotFoundError):
                    os.chmod(temporary, os.stat(target).st_mode & 0o777)
                write(stream)
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(temporary, target)
        except BaseException:
            with suppress(OSError, ValueError):
                os.unlink(temporary)
            raise


def check_writable(path: Path) -> None:
    """Raise ValueError now if `write_json` or `write_npz` could not write to `path` later."""
    with naming(path, "written", "give the name of a file in a folder that exists and may be written to"):
        target = os.path.realpath(path)
        if os.path.isdir(target):
            raise ValueError("it is a folder")
        with suppress(FileNotFoundError):
            os.stat(target)  # it fails for a name that is too long
        probe = os.path.join(os.path.dirname(target), f".cvxml-{secrets.token_hex(8)}.tmp")
        with _without_signals():
            with open(probe, "xb"):
                pass
            os.unlink(probe)


def write_json(path: Path, obj: object) -> None:
    """Write `obj` as JSON (sorted keys, indent 1, final newline), and replace the file atomically.

    Raises ValueError if `obj` holds NaN, an infinity or a value without a JSON form, if it is nested deeper than
    MAX_DEPTH (which read_json refuses), or if the file cannot be written. An existing file then stays unchanged.
    """
    with naming(path, "written", "give finite plain values, and a file in a folder that exists"):
        text = json.dumps(obj, allow_nan=False, sort_keys=True, indent=1) + "\n"
        check_depth(text)
        _replace(path, lambda stream: stream.write(text.encode("utf-8")))


def write_text(path: Path, text: str) -> None:
    """Write `text` as UTF-8, and replace the file atomically. Raises ValueError if the file cannot be written."""
    with naming(path, "written", "give a file in a folder that exists"):
        _replace(path, lambda stream: stream.write(text.encode("utf-8")))


def write_matrix(path: Path, values: ArrayLike) -> None:
    """Write numbers (n, d) as .npy, or as .csv with all digits, and replace the file atomically.

    `read_array` reads the same numbers, but -0.0 becomes 0.0. Several matrices (q, d, d) can be written as .npy only.
    Raises ValueError for such an array with another ending, for NaN and infinity, and if the file cannot be written.
    """
    matrix = np.asarray(values, dtype=np.float64) + 0.0  # -0.0 becomes 0.0

    def write(stream: BinaryIO) -> None:
        if os.fspath(path).endswith(".npy"):
            npy.write_array(stream, matrix, allow_pickle=False)
        else:
            stream.writelines((",".join(map(repr, row)) + "\n").encode() for row in matrix.tolist())

    with naming(path, "written", "give finite numbers, two-dimensional ones for .csv, and a writable path"):
        if not np.isfinite(matrix).all() or (matrix.ndim != 2 and not os.fspath(path).endswith(".npy")):
            held = "two dimensions are allowed" if np.isfinite(matrix).all() else "with NaN or infinity"
            raise ValueError(f"the numbers have shape {matrix.shape}, {held}")
        _replace(path, write)


def write_npz(path: Path, /, **arrays: ArrayLike) -> None:
    """Write `arrays` as an uncompressed .npz that read_npz reads, and replace the file atomically.

    The same arrays give the same bytes. Raises ValueError for dtypes other than numbers, booleans and strings, or if
    the file cannot be written. An existing file then stays unchanged.
    """

    def write(stream: BinaryIO) -> None:
        with zipfile.ZipFile(stream, "w") as archive:
            for name, value in arrays.items():
                values = np.asarray(value)
                check_dtype(values.dtype)
                with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as member:
                    npy.write_array(member, values, allow_pickle=False)

    with naming(path, "written", "give numbers or strings and a writable path"):
        _replace(path, write)
