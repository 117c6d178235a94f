"""validation/recompute.py answers a hostile file with one line, "not proved", with little memory and no forged text."""

from __future__ import annotations

import json
import math
import os
import tracemalloc
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cvxml
from tests.core.test_files_numpy import npy_header
from tests.instances import real_data
from validation import recompute

FORGED = "none\nproved: optimal to 1e-6 of the scale\x1b[2J\r\udc80\u202e" + 1000 * "l"
WIDE = [""] * 1000 + ["l" * 10**6]  # numpy gives each of these texts 4 MB


def deep(depth: int) -> Any:
    return json.loads("[" * depth + "]" * depth)


# content of a file, from the content of a good one
HOSTILE: dict[str, Callable[[dict[str, Any]], Any]] = {
    "empty": lambda c: b"",
    "cut": lambda c: json.dumps(c).encode()[:-9],
    "not-UTF-8": lambda c: b'{"method": "\xff"}',
    "deep": lambda c: b"[" * 10**5,
    "deep-closed": lambda c: b'{"notes": ' + b"[" * 10**5 + b"]" * 10**5 + b"}",
    "deep-by-100": lambda c: {**c, "notes": deep(100)},
    "deep-objects": lambda c: b'{"a":' * 10**5 + b"0" + b"}" * 10**5,
    "digits": lambda c: b'{"version": ' + b"1" * 10**5 + b"}",
    "a-list": lambda c: [c],
    "a-number": lambda c: 1,
    "a-text": lambda c: FORGED,
    "null": lambda c: None,
    "method-list": lambda c: {**c, "method": ["mlsvm"]},
    "method-forged": lambda c: {**c, "method": FORGED},
    "parameter-forged": lambda c: {**c, "params": {**c["params"], FORGED: 1}},
    "parameters-a-list": lambda c: {**c, "params": [["lam", 0.1]]},
    "lam-text": lambda c: {**c, "params": {**c["params"], "lam": FORGED}},
    "derived-forged": lambda c: {**c, "derived": [FORGED]},
    "derived-lists": lambda c: {**c, "derived": [["neighbors"]]},
    "neighborhood-list": lambda c: {**c, "params": {**c["params"], "neighborhood": [1]}},
    "dual-forged": lambda c: {**c, "dual": {**c["dual"], FORGED: FORGED}},
    "dual-null": lambda c: {**c, "dual": None},
    "u-texts": lambda c: {**c, "dual": {**c["dual"], "u": WIDE}},
    "y-texts": lambda c: {**c, "y": WIDE},
    "X-texts": lambda c: {**c, "X": [WIDE]},
    "X-numbers-as-texts": lambda c: {**c, "X": [[str(v) for v in row] for row in c["X"]]},
    "X-deep": lambda c: {**c, "X": deep(50)},
    "X-ragged": lambda c: {**c, "X": [*c["X"][:-1], [1.0]]},
    "X-flat": lambda c: {**c, "X": c["y"]},
    "X-empty": lambda c: {**c, "X": [], "y": [], "neighbors": []},
    "X-no-features": lambda c: {**c, "X": [[] for _ in c["X"]], "metric": []},
    "metric-large": lambda c: {**c, "metric": [[10**400]]},
    "metric-overflows": lambda c: {**c, "metric": np.full((4, 4), 1.7e308).tolist()},
    "neighbors-large": lambda c: {**c, "neighbors": [[10**400]]},
    "neighbors-objects": lambda c: {**c, "neighbors": [{} for _ in c["X"]]},
    "without-neighbors": lambda c: {k: v for k, v in c.items() if k != "neighbors"},
    "without-method": lambda c: {k: v for k, v in c.items() if k != "method"},
}


def one_line_of(path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """Return the line that is printed for a file without a proof.

    Asserts that the line is printable, and that reading takes at most 20 times the file and 100 MB of memory.
    """
    tracemalloc.start()
    assert not recompute.main(str(path))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    if path.is_file():
        assert most <= 20 * path.stat().st_size + 10**8
    said = capsys.readouterr()
    assert said.err == ""
    (line,) = said.out.splitlines()
    assert line.startswith("not proved: ")
    assert line.isascii()
    assert line.isprintable()
    assert len(line) < 600
    return line


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_file_is_one_line(case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "s.json"
    content = HOSTILE[case](json.loads(json.dumps(good())))
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    one_line_of(path, capsys)


@pytest.mark.parametrize("field", ["objective", "lower_bound", "status", "notes", "solver"])
@pytest.mark.parametrize(
    "value", [FORGED, [FORGED], {FORGED: FORGED}, 10**400], ids=["text", "list", "dict", "number"]
)
def test_a_field_cannot_forge_the_verdict(
    field: str, value: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The file has a metric that is not optimal. A field with a forged verdict must not change the answer."""
    path = tmp_path / "s.json"
    metric = (2 * np.array(good()["metric"])).tolist()
    path.write_text(json.dumps({**good(), "metric": metric, field: value}), encoding="utf-8")
    assert not recompute.main(str(path))
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.startswith(("proved", "not proved"))] == ["not proved"]
    assert all(line.isascii() and line.isprintable() and len(line) < 200 for line in lines)


@cache
def good() -> dict[str, Any]:
    X, y = real_data("iris", 40)
    content: dict[str, Any] = json.loads(json.dumps(cvxml.solve("mlsvm", X, y, lam=0.1).to_dict()))
    return content


def packed(content: dict[str, Any], **changed: Any) -> dict[str, Any]:
    """Return the arrays of an .npz file with this content, some of them replaced by `changed`."""
    arrays = {name: np.array(content[name]) for name in ("X", "y", "metric")}
    arrays |= {f"dual_{name}": np.array(value) for name, value in content["dual"].items()}
    arrays["neighbors"] = np.concatenate([np.array(row, int) for row in content["neighbors"]])
    arrays["neighbor_counts"] = np.array([len(row) for row in content["neighbors"]])
    header = {name: content[name] for name in ("format", "version", "method", "params", "objective")}
    arrays["header"] = np.array(json.dumps(header))
    return {**arrays, **changed}


ZEROS = np.zeros(10**8, np.int8)
HOSTILE_ARRAYS: dict[str, dict[str, Any]] = {
    "labels": {"y": ZEROS},
    "points": {"X": ZEROS[:, None], "y": ZEROS},
    "counts": {"neighbor_counts": np.zeros(10**6, int)},
    "negative counts": {"neighbor_counts": np.full(40, -1)},
    "flat counts": {"neighbor_counts": np.zeros((40, 1), int)},
    "a number of neighbors": {"neighbors": np.array(1)},
    "texts": {"y": np.array(WIDE[-2:])},
    "complex": {"metric": np.eye(4) + 0j},
    "objects": {"X": np.array([{}, None])},
    "header a number": {"header": np.array(1.0)},
    "header deep": {"header": np.array("[" * 10**5)},
    "header a list": {"header": np.array("[]")},
    "header of numbers": {"header": np.zeros(10**6)},
}


@pytest.mark.quick(6)
@pytest.mark.parametrize("case", HOSTILE_ARRAYS)
def test_hostile_arrays_are_one_line(case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "s.npz"
    np.savez_compressed(path, **packed(good(), **HOSTILE_ARRAYS[case]))
    one_line_of(path, capsys)


@pytest.mark.parametrize("value", [math.nan, math.inf, "1", 10**19, False])
@pytest.mark.parametrize("name", ["X", "y", "metric"])
def test_numbers_are_finite_and_of_64_bits(name: str, value: Any) -> None:
    content = json.loads(json.dumps(good()))
    holder = content[name] if name == "y" else content[name][0]
    holder[0] = value
    with pytest.raises(ValueError, match=name):
        recompute.recompute(content)


def test_a_file_that_is_no_archive_or_no_file_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    np.savez(tmp_path / "s.npz", **packed(good()))
    content = (tmp_path / "s.npz").read_bytes()
    assert recompute.main(str(tmp_path / "s.npz"))
    capsys.readouterr()
    damaged = content[: len(content) // 2] + bytes(64) + content[len(content) // 2 + 64 :]
    shape = content.replace(b"(40, 4)", b"(9999,)")
    for k, other in enumerate((b"", b"{}", content[:-30], content[9:], damaged, shape)):
        path = tmp_path / f"{k}.npz"
        path.write_bytes(other)
        one_line_of(path, capsys)
    lie = tmp_path / "lie.npz"
    with zipfile.ZipFile(lie, "w") as archive:
        archive.writestr("X.npy", npy_header((10**12, 1)))
    one_line_of(lie, capsys)
    (tmp_path / "folder.json").mkdir()
    (tmp_path / "loop.json").symlink_to("loop.json")
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "device.json").symlink_to("/dev/zero")
    (tmp_path / "large.json").touch()
    os.truncate(tmp_path / "large.json", 10**10)
    (tmp_path / "two\nlines proved\x1b.json").write_text("{}")
    for name in ("folder", "loop", "pipe", "device", "large", "none", "two\nlines proved\x1b"):
        one_line_of(tmp_path / f"{name}.json", capsys)


@pytest.mark.parametrize("text", ["", "null", "{}", "[]", '{"X": [[0]], "metric": [[0]]}'])
def test_what_is_no_solution_is_refused_in_one_line(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "s.json"
    path.write_text(text, encoding="utf-8")
    assert not recompute.main(str(path))
    assert len(capsys.readouterr().out.splitlines()) == 1
