"""Hostile .npy and .npz files are refused, good ones round-trip.

Pickles in these tests would create a marker file if anything loaded them.
"""

import pickle
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from cvxml.core import files
from cvxml.core.files import common
from tests.core.test_files import QUICK, READERS, attempt, npy_bytes, put, put_npz, refusal


def npy_header(shape: object, descr: object = "<f8") -> bytes:
    text = repr({"descr": descr, "fortran_order": False, "shape": shape})
    return raw_header(text)


def raw_header(text: str) -> bytes:
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text) + 1) + text.encode() + b"\n"


class Marker:
    """Its unpickling creates a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return (open, (str(self.path), "w"))


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("name", ["a.npy", "a.npz"])
def test_pickles_are_not_loaded(tmp_path: Path, read: Callable[[Path], Any], name: str) -> None:
    marker = Marker(tmp_path / "loaded")
    content = npy_bytes(np.array([marker, None], dtype=object), allow_pickle=True)
    path = tmp_path / name
    if name == "a.npz":
        put_npz(path, X=content, y=content)
    else:
        put(path, content)
    assert "object" in refusal(read, path)
    refusal(read, put(path, pickle.dumps(marker)))
    assert not (tmp_path / "loaded").exists()


LIES = {
    "10^15 rows": npy_header((10**15, 4)) + bytes(64),
    "more than int64": npy_header((2**40, 2**40)) + bytes(64),
    "wraps to 0 in int64": npy_header((2**32, 2**32)),
    "negative": npy_header((-2, -4)) + bytes(64),
    "negative and empty": npy_header((-1, 0)),
    "empty but huge": npy_header((0, 10**30)),
    "one byte short": npy_header((8,)) + bytes(63),
    "one byte long": npy_header((8,)) + bytes(65),
    "much longer": npy_header((8,)) + bytes(40_000),
    "longer than it is read ahead": npy_header((4000,)) + bytes(32_008),
    "no shape": npy_header(None) + bytes(64),
    "no width": npy_header((10**15,), "<U0"),
    "subarray": npy_header((1,), ("<f8", (8,))) + bytes(64),
    "structured": npy_header((4,), [("a", "<f8"), ("b", "<f8")]) + bytes(64),
    "object": npy_header((8,), "|O") + bytes(64),
    "unknown dtype": npy_header((8,), "<q9") + bytes(64),
    "times": npy_header((8,), "<M8[s]") + bytes(64),
    "brackets": raw_header("(" * 9000),
    "minuses": raw_header("-" * 9000 + "1"),
    "no literal": raw_header("__import__('os')"),
    "unterminated": raw_header("{'''"),
    "indented": raw_header("  {\n 1"),
    "null": raw_header("\0"),
    "not latin": b"\x93NUMPY\x02\x00" + struct.pack("<I", 4) + b"\xff\xff\xff\xff",
    "12 kB of header": b"\x93NUMPY\x02\x00" + struct.pack("<I", 12_000) + b" " * 12_000,
    "4 GiB of header": b"\x93NUMPY\x02\x00\xff\xff\xff\xff" + b" " * 20_000,
    "version 9": b"\x93NUMPY\x09\x00" + bytes(100),
    "magic only": b"\x93NUMPY",
    "not numpy": b"hello, world\nand more\n",
    "not Unicode": npy_header((16,), "<U1") + b"\xff" * 64,
    "not boolean": npy_header((64,), "|b1") + b"\x02" * 64,
}


@pytest.mark.parametrize("lie", LIES)
def test_lying_headers(tmp_path: Path, lie: str) -> None:
    refusal(files.read_array, put(tmp_path / "a.npy", LIES[lie]))
    refusal(files.read_npz, put_npz(tmp_path / "a.npz", X=LIES[lie]))


def test_npy_size_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path / "a.npy", npy_bytes(np.zeros(32, dtype=np.int8)))
    assert files.read_array(path).shape == (32,)
    monkeypatch.setattr("cvxml.core.files.common.MAX_BYTES", 255)
    assert "32 numbers" in refusal(files.read_array, path)
    monkeypatch.setattr("cvxml.core.files.common.MAX_BYTES", 100)
    assert "160 bytes" in refusal(files.read_array, path)


@pytest.mark.parametrize("dtype", ["c16", "U3", "S3", "M8[s]", "V8"])
def test_array_dtypes_refused(tmp_path: Path, dtype: str) -> None:
    refusal(files.read_array, put(tmp_path / "a.npy", npy_bytes(np.zeros(3, dtype=dtype))))


def test_a_single_number_is_no_array(tmp_path: Path) -> None:
    assert "()" in refusal(files.read_array, put(tmp_path / "a.npy", npy_bytes(np.float64(3))))


@QUICK
@given(
    array=hnp.arrays(
        hnp.floating_dtypes(sizes=(32, 64), endianness="?")
        | hnp.integer_dtypes(sizes=(8, 32))
        | hnp.boolean_dtypes(),
        hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=4),
    ),
    fortran=st.booleans(),
)
def test_npy_round_trip(tmp_path: Path, array: np.ndarray[Any, Any], fortran: bool) -> None:
    stored = np.asfortranarray(array) if fortran else array
    read = files.read_array(put(tmp_path / "a.npy", npy_bytes(stored)))
    np.testing.assert_array_equal(read, array.astype(np.float64))
    assert read.dtype == np.float64
    assert read.dtype.isnative
    assert read.flags.c_contiguous


def test_an_array_longer_than_the_head(tmp_path: Path) -> None:
    array = np.random.RandomState(0).standard_normal((700, 301))
    assert array.nbytes > 1 << 20
    assert np.array_equal(files.read_array(put(tmp_path / "a.npy", npy_bytes(array))), array)
    assert np.array_equal(files.read_array(put_npz(tmp_path / "a.npz", X=npy_bytes(array))), array)


def test_npz_bomb_of_ten_gibibytes(tmp_path: Path) -> None:
    # A zip64 entry: the declared size is genuine to every unpacker, the packed data are not there.
    name, packed, size = b"X.npy", b"\x03\x00", 10 * 2**30
    extra = struct.pack("<HHQ", 1, 8, size)
    fixed = struct.pack("<HHHHHIII", 45, 0, 8, 0, 33, 0, len(packed), 0xFFFFFFFF)
    local = b"PK\x03\x04" + fixed + struct.pack("<HH", len(name), len(extra)) + name + extra
    sizes = struct.pack("<HHHHHII", len(name), len(extra), 0, 0, 0, 0, 0)
    central = b"PK\x01\x02" + struct.pack("<H", 45) + fixed + sizes + name + extra
    start = len(local) + len(packed)
    end = b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(central), start, 0)
    path = put(tmp_path / "a.npz", local + packed + central + end)
    assert zipfile.ZipFile(path).infolist()[0].file_size == size
    assert str(size) in refusal(files.read_npz, path)


def test_npz_members_are_summed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put_npz(tmp_path / "a.npz", X=npy_bytes(np.zeros(9)), y=npy_bytes(np.zeros(9)))
    assert sorted(files.read_npz(path)) == ["X", "y"]
    monkeypatch.setattr("cvxml.core.files.common.MAX_BYTES", 399)
    assert "400 bytes" in refusal(files.read_npz, path)


def test_npz_with_other_members(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("X.npy", npy_bytes(np.zeros(3)))
        archive.writestr("evil.pkl", b"")
    assert "members" in refusal(files.read_npz, path)


def test_npz_with_a_name_twice(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("X.npy", npy_bytes(np.zeros(3)))
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("X.npy", npy_bytes(np.ones(3)))
    assert "different names" in refusal(files.read_npz, path)


def test_npz_with_another_compression(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("X.npy", npy_bytes(np.zeros(3)))
    assert "compression" in refusal(files.read_npz, path)


def test_npz_with_changed_data(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    files.write_npz(path, X=np.full(5, 7.25))
    changed = path.read_bytes().replace(struct.pack("<d", 7.25), struct.pack("<d", 7.5), 1)
    assert "CRC" in refusal(files.read_npz, put(path, changed))


@pytest.mark.slow
@settings(QUICK, max_examples=150)
@given(data=st.data())
def test_damaged_npz_gives_value_errors_only(tmp_path: Path, data: st.DataObject) -> None:
    path = put_npz(tmp_path / "a.npz", X=npy_bytes(np.eye(3)), y=npy_bytes(np.array(["a", "b"])))
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    put(path, bytes(content[: data.draw(st.integers(1, len(content)))]))
    arrays, message = attempt(lambda: files.read_npz(path))
    if message:
        assert "a.npz" in message
    else:
        assert all(array.dtype.kind in "biufcUS" for array in arrays.values())


def test_npz_choice(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    files.write_npz(path, odd=[[1.0]])
    assert files.read_array(path).tolist() == [[1.0]]
    files.write_npz(path, odd=[[1.0]], M=[[2.0]], metric=[[3.0]])
    assert files.read_array(path).tolist() == [[3.0]]
    assert files.read_array(path, prefer=("none", "odd")).tolist() == [[1.0]]
    files.write_npz(path, odd=[[1.0]], even=[[2.0]])
    message = refusal(files.read_array, path)
    assert "'odd'" in message
    assert "'even'" in message
    files.write_npz(path)
    assert "nothing" in refusal(files.read_array, path)


def test_an_npz_unpacks_to_a_bounded_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each number counts 8 bytes, as the float that is made of it."""
    held = {"X": np.zeros((10**4, 2), dtype=np.int8), "y": np.zeros(10**4, dtype=np.int8)}
    np.savez_compressed(tmp_path / "packed.npz", **held)
    np.savez(tmp_path / "stored.npz", **held)
    size = (tmp_path / "packed.npz").stat().st_size
    for free in (24 * 10**4 - 100 * size, 24 * 10**4 - 100 * size - 1):
        monkeypatch.setattr(common, "FREE_BYTES", free)
        assert set(files.read_npz(tmp_path / "stored.npz")) == {"X", "y"}
        if free + 100 * size == 24 * 10**4:
            assert set(files.read_npz(tmp_path / "packed.npz")) == {"X", "y"}
        else:
            with pytest.raises(ValueError, match="unpacks"):
                files.read_npz(tmp_path / "packed.npz")
