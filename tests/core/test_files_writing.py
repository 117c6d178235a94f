"""Writes are whole or not at all, and what is written can be read."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cvxml.core import files
from tests.core.test_files import put, refusal


def test_json_bytes(tmp_path: Path) -> None:
    files.write_json(tmp_path / "a.json", {"b": [1], "a": "\ud800"})
    expected = b'{\n "a": "\\ud800",\n "b": [\n  1\n ]\n}\n'
    assert (tmp_path / "a.json").read_bytes() == expected


@pytest.mark.parametrize(
    "obj", [float("nan"), [float("inf")], {1, 2}, np.zeros(2), {1: 0, "a": 0}, {(1, 2): 3}]
)
def test_json_write_failure_changes_nothing(tmp_path: Path, obj: object) -> None:
    path = put(tmp_path / "a.json", "old")
    assert "written" in refusal(lambda p: files.write_json(p, obj), path)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.json"]


def test_json_write_of_a_circle(tmp_path: Path) -> None:
    circle: list[Any] = []
    circle.append(circle)
    refusal(lambda p: files.write_json(p, circle), tmp_path / "a.json")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    "bad", [np.array([None]), np.array([{}]), np.zeros(2, "f8,i4"), np.zeros(2, "M8[s]"), [[1], []]]
)
def test_npz_write_failure_changes_nothing(tmp_path: Path, bad: Any) -> None:
    path = put(tmp_path / "a.npz", "old")
    assert "written" in refusal(lambda p: files.write_npz(p, good=np.zeros(9), bad=bad), path)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.npz"]


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("error", [OSError(28, "disk full"), KeyboardInterrupt()])
def test_interrupted_writes_change_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, error: BaseException
) -> None:
    def fail(*_: object) -> None:
        raise error

    path = put(tmp_path / "a.json", "old")
    monkeypatch.setattr(os, step, fail)
    with pytest.raises((ValueError, KeyboardInterrupt)) as caught:
        files.write_json(path, [1])
    monkeypatch.undo()
    assert isinstance(caught.value, KeyboardInterrupt) or "disk full" in str(caught.value)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.json"]


def test_the_data_are_on_disk_before_the_name_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[tuple[str, int]] = []
    fsync, replace = os.fsync, os.replace

    def seen_fsync(descriptor: int) -> None:
        steps.append(("fsync", os.fstat(descriptor).st_size))
        fsync(descriptor)

    def seen_replace(source: str, target: str) -> None:
        steps.append(("replace", os.path.dirname(source) == os.path.dirname(target)))
        replace(source, target)

    monkeypatch.setattr(os, "fsync", seen_fsync)
    monkeypatch.setattr(os, "replace", seen_replace)
    files.write_json(tmp_path / "a.json", 12)
    assert steps == [("fsync", 3), ("replace", True)]


def test_unwritable_places(tmp_path: Path) -> None:
    refusal(lambda p: files.write_json(p, 1), tmp_path / "missing" / "a.json")
    (tmp_path / "a.npz").mkdir()
    refusal(lambda p: files.write_npz(p, X=[1]), tmp_path / "a.npz")
    assert os.listdir(tmp_path) == ["a.npz"]
    assert os.listdir(tmp_path / "a.npz") == []


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    put(tmp_path / "real.json", "old")
    (tmp_path / "a.json").symlink_to("real.json")
    files.write_json(tmp_path / "a.json", 5)
    assert (tmp_path / "a.json").is_symlink()
    assert (tmp_path / "real.json").read_bytes() == b"5\n"


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444, 0o666])
@pytest.mark.parametrize("linked", [False, True])
def test_a_file_that_is_replaced_keeps_its_mode(tmp_path: Path, mode: int, linked: bool) -> None:
    writers: dict[str, Any] = {
        "a.json": lambda path: files.write_json(path, 5),
        "a.npz": lambda path: files.write_npz(path, a=np.zeros(2)),
        "a.npy": lambda path: files.write_matrix(path, np.eye(2)),
        "a.csv": lambda path: files.write_matrix(path, np.eye(2)),
    }
    for name, write in writers.items():
        real = put(tmp_path / f"real-{name}", "old")
        real.chmod(mode)
        (tmp_path / name).symlink_to(real)
        write(tmp_path / name if linked else real)
        assert real.read_bytes() != b"old"
        assert real.stat().st_mode & 0o777 == mode


def test_npz_round_trip(tmp_path: Path) -> None:
    arrays = {
        "file": np.arange(6.0).reshape(2, 3).T,
        "allow_pickle": np.array(["a", "\u00e9\U0001f600"]),
        "path": np.array([True, False]),
        "scalar": np.float64(2.5),
        "swapped": np.array([1, 2], dtype=">i4"),
        "empty": np.zeros((0, 3)),
        "complex": np.array([1j]),
    }
    files.write_npz(tmp_path / "a.npz", **arrays)
    read = files.read_npz(tmp_path / "a.npz")
    assert list(read) == list(arrays)
    with np.load(tmp_path / "a.npz", allow_pickle=False) as loaded:
        for name, array in arrays.items():
            np.testing.assert_array_equal(read[name], array, strict=name != "swapped")
            np.testing.assert_array_equal(loaded[name], array)
    assert read["swapped"].dtype.isnative


def test_npz_bytes_repeat(tmp_path: Path) -> None:
    for name in ("a.npz", "b.npz"):
        files.write_npz(tmp_path / name, X=np.eye(2), y=np.arange(2))
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def nest(depth: int, inner: object) -> object:
    for level in range(depth):
        inner = {"a": inner} if level % 2 else [inner]
    return inner


def test_json_write_takes_what_can_be_read_back(tmp_path: Path) -> None:
    for value in (nest(64, "[" * 100), nest(63, [])):
        files.write_json(tmp_path / "a.json", value)
        assert files.read_json(tmp_path / "a.json") == value


@pytest.mark.parametrize("value", [nest(65, 1), nest(64, []), [1, {"b": nest(63, {})}], nest(100_000, 1)])
def test_json_write_refuses_what_is_too_deep(tmp_path: Path, value: object) -> None:
    path = put(tmp_path / "a.json", "old")
    assert "written" in refusal(lambda p: files.write_json(p, value), path)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.json"]


SIGNALLED = """
import os, signal, sys
from cvxml.core import files
number, step, path = getattr(signal, sys.argv[1]), sys.argv[2], sys.argv[3]
signal.signal(number, signal.SIG_DFL)  # nohup makes its children ignore SIGHUP
before = getattr(os, step)
def signalled(*given):
    os.kill(os.getpid(), number)
    return before(*given)
setattr(os, step, signalled)
files.write_json(path, [1])
print("still there")
"""


@pytest.mark.quick(2)
@pytest.mark.skipif(os.name != "posix", reason="Windows ends a process without asking it")
@pytest.mark.parametrize("number", ["SIGTERM", "SIGHUP"])
@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_write_that_has_begun_ends_before_a_signal_ends_the_process(
    tmp_path: Path, number: str, step: str
) -> None:
    words = [sys.executable, "-c", SIGNALLED, number, step, str(tmp_path / "a.json")]
    done = subprocess.run(words, capture_output=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (-getattr(signal, number), b"", b"")
    assert os.listdir(tmp_path) == ["a.json"]
    assert files.read_json(tmp_path / "a.json") == [1]


def test_a_write_leaves_the_handlers_of_others_alone(tmp_path: Path) -> None:
    came: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _: came.append(number))
    try:
        handler = signal.getsignal(signal.SIGTERM)
        files.write_json(tmp_path / "a.json", 1)
        assert signal.getsignal(signal.SIGTERM) is handler
    finally:
        signal.signal(signal.SIGTERM, before)
    assert came == []


@pytest.mark.skipif(os.name != "posix", reason="names of at most 255 bytes")
@pytest.mark.parametrize("ending", [".json", ".npz"])
def test_a_name_that_is_too_long_is_refused_before_any_work(tmp_path: Path, ending: str) -> None:
    files.check_writable(tmp_path / ("a" * (255 - len(ending)) + ending))
    for letters in (256, 5000):
        message = refusal_of_name(tmp_path / ("a" * (letters - len(ending)) + ending))
        assert "shorter" in message
        assert "free space" not in message
    assert os.listdir(tmp_path) == []


def refusal_of_name(path: Path) -> str:
    with pytest.raises(ValueError, match="written") as caught:
        files.check_writable(path)
    return str(caught.value)
