"""Check the output files of a command before any work, so that the user does not lose an input or another file."""

from __future__ import annotations

import argparse
import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

XML, ROWS, HEAD = b"<?xml", b'<testsuite name="cvxml"', 200  # a --junit file has both in its first HEAD bytes
PNG, DEMO = b"\x89PNG", b"Software\0cvxml demo"  # the picture of `demo` has both in its first HEAD bytes


def add_force(command: argparse.ArgumentParser) -> None:
    """Add the option --force to a command with an output file."""
    command.add_argument(
        "--force",
        action="store_true",
        help="replace an existing file that cvxml may not have written",
    )


def check_out(parsed: argparse.Namespace, name: str, endings: Sequence[str] = ()) -> None:
    """Raise ValueError if the option `name` of a command names a file that must not be written, or cannot be.

    The ending must be one of `endings`, and the folder must exist and be writable. A file that the command reads is
    never replaced, even through another path or a link. Any other file is replaced if it is empty, if cvxml wrote it,
    or with --force.
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


def _inputs(parsed: argparse.Namespace, output: str) -> Iterator[str]:
    """Yield every file that a word of the command may name: a path, a stored data set, or the cases of a folder."""
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
    """Return True if the file is a solution, the hints beside it, rows of `conform`, or the picture of `demo`."""
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
