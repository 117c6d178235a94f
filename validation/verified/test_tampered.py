"""Tampered files: each is rejected, or the proved interval is right; the checker never ends in another way.

twin.py computes the interval of the tampered problem in fractions, and shares no code with the checker. A proved
interval must equal that of twin.py. A file that twin.py refuses must be rejected.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cvxml
from cvxml.oracle.side import KNOWN
from tests.instances import random_data
from validation.verified import twin
from validation.verified.built import run, saved
from validation.verified.test_verified import WITHOUT_LISTS, params_for

pytestmark = pytest.mark.slow  # a landing runs these where `.ci/landing.py` says so


HUGE = 10**400
VALUES: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    1,
    2,
    0.5,
    -0.25,
    1e300,
    1e-300,
    5e-324,
    HUGE,
    "",
    "0x1",
    "-0x1",
    hex(10**30),
    hex(-(10**30)),
    "0x",
    "0xg",
    [],
    [[]],
    {},
    [1, 2],
)


def files(method: str, folder: Path) -> tuple[bytes, bytes]:
    """Return the saved solution of a small problem, without fields that no theorem reads, and its side file."""
    X, y = random_data(5, n=9, d=2, classes=2)
    X = np.round(X, 1)
    k = {} if method in WITHOUT_LISTS else {"n_neighbors": {"mlsvm": 4, "ssvm": 2}.get(method, 1)}
    file, side = saved(cvxml.solve(method, X, y, **params_for(method, X, y, **k)), folder)
    return without_unread(file), side.read_bytes()


def without_unread(file: Path) -> bytes:
    """Return the content of a saved solution without the fields that no theorem reads."""
    content = json.loads(file.read_text())
    for name in ("dual", "notes", "solver", "status", "n_iter"):
        del content[name]
    return json.dumps(content).encode()


def judged(file: bytes, side: bytes, folder: Path) -> bool:
    """Return True if the checker proves the files. Asserts that it agrees with the twin."""
    paths = folder / "file.json", folder / "side.json"
    for path, text in zip(paths, (file, side), strict=True):
        path.write_bytes(text)
    said = run(*paths)
    try:
        expected = twin.interval(file, side)
    except ValueError:
        assert not said.proved, said
        return False
    if said.proved:
        assert said.interval == expected
    return said.proved


def places(content: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the places in a content, as tuples of keys and indices.

    Of a list, only the first, the second and the last element are visited.
    """
    if at:
        yield at
    if isinstance(content, dict):
        keys = list(content)
    elif isinstance(content, list):
        keys = sorted({0, 1, len(content) - 1} & set(range(len(content))))
    else:
        return
    for key in keys:
        yield from places(content[key], (*at, key))


def changed(content: Any, at: tuple[Any, ...]) -> Iterator[Any]:
    """Yield contents with one change at the place `at`.

    The value there is removed, or repeated if it is in a list, or replaced by each of `VALUES`.
    """

    def edit() -> tuple[Any, Any]:
        whole = copy.deepcopy(content)
        part = whole
        for key in at[:-1]:
            part = part[key]
        return whole, part

    whole, part = edit()
    del part[at[-1]]
    yield whole
    whole, part = edit()
    if isinstance(part, list):
        part.insert(at[-1], copy.deepcopy(part[at[-1]]))
        yield whole
    for value in VALUES:
        whole, part = edit()
        if isinstance(part[at[-1]], float) and value == 1e-300:
            value = part[at[-1]] * (1 + 2.0**-52)  # the next number
        part[at[-1]] = value
        yield whole


def judge_each_field(both: Sequence[bytes], which: int, folder: Path) -> int:
    """Judge both files with every field of one of them changed, one at a time.

    which: 0 for the saved solution, 1 for the side file. Returns the number of changes.
    """
    assert judged(*both, folder)
    content, tried = json.loads(both[which]), 0
    for at in places(content):
        for other in changed(content, at):
            texts = list(both)
            texts[which] = json.dumps(other).encode()
            judged(texts[0], texts[1], folder)
            tried += 1
    return tried


@pytest.mark.parametrize("method", KNOWN)
@pytest.mark.parametrize("which", [0, 1])
def test_every_field_one_at_a_time(method: str, which: int, tmp_path: Path) -> None:
    assert judge_each_field(files(method, tmp_path), which, tmp_path) > 300


def flips(method: str, count: int, seed: int, folder: Path) -> int:
    """Judge the files with `count` single bits changed, one at a time. Return how many were still proved."""
    both, rng = files(method, folder), np.random.default_rng(seed)
    proved = 0
    for _ in range(count):
        which = int(rng.integers(2))
        text = bytearray(both[which])
        text[rng.integers(len(text))] ^= 1 << int(rng.integers(8))
        texts = list(both)
        texts[which] = bytes(text)
        proved += judged(texts[0], texts[1], folder)
    return proved


@pytest.mark.parametrize("method", KNOWN)
def test_a_bit_here_and_there(method: str, tmp_path: Path) -> None:
    assert flips(method, 15, 0, tmp_path) < 15


@pytest.mark.parametrize("method", KNOWN)
def test_a_thousand_bits(method: str, tmp_path: Path) -> None:
    assert flips(method, 1000, 1, tmp_path) < 1000


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\x00\xff\xfe" * 1000,
        b"PK\x03\x04",
        b"[" * 10**6,
        b'{"a":' * 10**6,
        b"1" * 10**6,
        b"null",
        b"[]",
        b"{}",
        b'{"format": "cvxml-solution"',
        b'{"format": "cvxml-solution", "version": 1, "method": "itml"}',
        b'"' + b"\\u" * 1000,
        b'{"X": NaN}',
    ],
    ids=lambda text: repr(text[:12]),
)
def test_what_is_no_file_is_rejected(text: bytes, tmp_path: Path) -> None:
    file, side = files("lmnn", tmp_path)
    assert not judged(text, side, tmp_path)
    assert not judged(file, text, tmp_path)


@pytest.mark.parametrize(
    "value", ["NaN", "Infinity", "-Infinity", "1e999", "01", "+1", ".5", "1.", "0x1", "1e"]
)
def test_what_is_no_number_of_json_is_rejected(value: str, tmp_path: Path) -> None:
    file, side = files("lmnn", tmp_path)
    content = json.loads(file)
    content["X"][0][0] = "here"
    assert not judged(json.dumps(content).replace('"here"', value).encode(), side, tmp_path)


def test_a_field_twice_is_rejected(tmp_path: Path) -> None:
    file, side = files("lmnn", tmp_path)
    for text in (b'{"X": [[0.0]], ', b'{"\\u0058": [[0.0]], '):
        assert not judged(text + file[1:], side, tmp_path)


def test_a_file_that_is_not_there_is_rejected(tmp_path: Path) -> None:
    assert not run(tmp_path / "none.json", tmp_path / "none.json").proved
    assert not run(tmp_path, tmp_path).proved


def test_a_file_of_arrays_is_refused_in_a_sentence(tmp_path: Path) -> None:
    X, y = random_data(5, n=9, d=2, classes=2)
    cvxml.solve("lmnn", X, y, n_neighbors=1).save(tmp_path / "solution.npz")
    said = run(tmp_path / "solution.npz", tmp_path / "solution.npz")
    assert ".npz" in said.reason
    assert ".json" in said.reason
