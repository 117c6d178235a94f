"""Paths that cannot be read give one-line ValueErrors that name them.

The tools of all tests/test_files_*.py are here too.
"""

import io
import os
import pickle
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from cvxml.core import files
from cvxml.core.files.arrays import read_indices
from cvxml.core.files.common import open_regular

# The function-scoped tmp_path is shared by the examples of one test, which overwrite their file.
SHARED = [HealthCheck.function_scoped_fixture]
QUICK = settings(max_examples=60, deadline=None, suppress_health_check=SHARED)
READERS: list[Callable[[Path], Any]] = [files.read_array, files.read_table]


def refusal(read: Callable[[Path], Any], path: Path) -> str:
    with pytest.raises(ValueError, match=re.escape(path.name)) as caught:
        read(path)
    message = str(caught.value)
    assert "\n" not in message
    return message


def attempt(read: Callable[[], Any]) -> tuple[Any, str]:
    try:
        return read(), ""
    except ValueError as error:
        return None, str(error)


def put(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def npy_bytes(array: Any, **options: Any) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, **options)
    return buffer.getvalue()


def put_npz(path: Path, **members: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return path


@pytest.mark.parametrize("read", [*READERS, files.read_json, files.read_neighbors, files.read_npz])
@pytest.mark.parametrize("name", ["a.json", "a.npy", "a.npz", "a.csv", "a.csv.gz"])
def test_missing_folder_and_empty(tmp_path: Path, read: Callable[[Path], Any], name: str) -> None:
    # the path may be too long for a line, so only its end is compared
    assert f"{name}'" in refusal(read, tmp_path / name)
    (tmp_path / name).mkdir()
    assert "folder" in refusal(read, tmp_path / name)
    (tmp_path / name).rmdir()
    refusal(read, put(tmp_path / name, b""))


@pytest.mark.parametrize("read", READERS)
def test_unknown_ending(tmp_path: Path, read: Callable[[Path], Any]) -> None:
    assert ".csv.gz" in refusal(read, put(tmp_path / "a.pkl", pickle.dumps([1.0])))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.json")
    assert "device" in refusal(files.read_json, tmp_path / "a.json")


def test_a_newline_in_the_name_stays_out_of_the_message(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"b\.json") as caught:
        files.read_json(tmp_path / "a\nb.json")
    assert "\n" not in str(caught.value)


def test_a_null_character_in_the_name() -> None:
    with pytest.raises(ValueError, match="null"):
        files.read_json("a\0.json")


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        open_regular(tmp_path)


@pytest.mark.parametrize("index", [2**53, 2**53 + 2])
def test_an_index_that_double_precision_may_round_is_refused(index: int, tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text(f"0,1\n1,{index}\n")
    if index > 2**53:
        with pytest.raises(ValueError, match="line 2, column 2"):
            read_indices(path)
    else:
        assert np.asarray(read_indices(path)).tolist() == [[0, 1], [1, index]]
