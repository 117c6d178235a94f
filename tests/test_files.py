"""Hostile files give one-line ValueErrors that name them; good files round-trip; writes are atomic.

Pickles in these tests would create a marker file if anything loaded them.
"""

import gzip
import io
import json
import os
import pickle
import re
import struct
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from cvxml import files

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


def npy_header(shape: object, descr: object = "<f8") -> bytes:
    text = repr({"descr": descr, "fortran_order": False, "shape": shape})
    return raw_header(text)


def raw_header(text: str) -> bytes:
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text) + 1) + text.encode() + b"\n"


def put_npz(path: Path, **members: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return path


class Marker:
    """Its unpickling creates a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return (open, (str(self.path), "w"))


# --- paths ---


@pytest.mark.parametrize("read", [*READERS, files.read_json, files.read_neighbors, files.read_npz])
@pytest.mark.parametrize("name", ["a.json", "a.npy", "a.npz", "a.csv", "a.csv.gz"])
def test_missing_folder_and_empty(tmp_path: Path, read: Callable[[Path], Any], name: str) -> None:
    assert "No such file" in refusal(read, tmp_path / name)
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
    with pytest.raises(ValueError, match="cannot be read") as caught:
        files.read_json(tmp_path / "a\nb.json")
    assert "\n" not in str(caught.value)


def test_a_null_character_in_the_name() -> None:
    with pytest.raises(ValueError, match="cannot be read"):
        files.read_json("a\0.json")


# --- JSON ---


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"a": NaN}', "NaN"),
        ("[Infinity]", "Infinity"),
        ("[-Infinity]", "-Infinity"),
        ("[1e999]", "1e999"),
        ("[-1e999]", "-1e999"),
        ("1" * 4301, "4300"),
        ("-" + "1" * 4301, "4300"),
        ('{"a": 1, "a": 1}', "'a'"),
        ('[{"b": {"a": 1, "a": 2}}]', "'a'"),
        ("[1] 2", "Extra data"),
        ("[1,]", ""),
        ("[1", ""),
        ('"open', ""),
        (b"[\xff]", "utf-8"),
        (b"\xff\xfe[\x001\x00]\x00", "utf-8"),
        ('["a\nb"]', "control character"),
        ("[" * 100_000, "64"),
        ("[" * 65 + "]" * 65, "64"),
        ('{"a":' * 100_000, "64"),
        ('"\\""' + "[" * 100_000, "64"),
    ],
)
def test_json_refused(tmp_path: Path, text: str | bytes, reason: str) -> None:
    assert reason in refusal(files.read_json, put(tmp_path / "a.json", text))


def test_json_digits_are_limited_by_us(tmp_path: Path) -> None:
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        assert "4300" in refusal(files.read_json, put(tmp_path / "a.json", "1" * 4301))
    finally:
        sys.set_int_max_str_digits(before)


def test_json_lists_beside_each_other_are_not_depth(tmp_path: Path) -> None:
    assert files.read_json(put(tmp_path / "a.json", json.dumps([[{}]] * 200))) == [[{}]] * 200


def test_json_limits_are_reached(tmp_path: Path) -> None:
    deep = files.read_json(put(tmp_path / "a.json", "[" * 64 + "]" * 64))
    assert json.dumps(deep) == "[" * 64 + "]" * 64
    assert files.read_json(put(tmp_path / "a.json", "-" + "9" * 4300)) == -(10**4300 - 1)
    assert files.read_json(put(tmp_path / "a.json", "-1e-999")) == 0.0


def test_json_brackets_in_strings_are_not_depth(tmp_path: Path) -> None:
    value = ["[" * 1000, '\\"' + "{" * 1000, "\\"]
    assert files.read_json(put(tmp_path / "a.json", json.dumps(value))) == value


def test_json_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_JSON_BYTES", 5)
    assert files.read_json(put(tmp_path / "a.json", "[1,2]")) == [1, 2]
    assert "more than 5 bytes" in refusal(files.read_json, put(tmp_path / "a.json", "[1, 2]"))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@QUICK
@given(value=JSON)
def test_json_round_trip(tmp_path: Path, value: object) -> None:
    files.write_json(tmp_path / "a.json", value)
    assert files.read_json(tmp_path / "a.json") == value


@QUICK
@given(text=st.text(alphabet='[]{}",:\\ 01eE.-naNtrufls', max_size=30))
def test_json_accepts_no_more_than_the_standard_library(tmp_path: Path, text: str) -> None:
    path = put(tmp_path / "a.json", text)
    expected, reason = attempt(lambda: json.loads(text))
    found, message = attempt(lambda: files.read_json(path))
    if message:
        assert reason or any(word in message for word in ("NaN", "repeated", "too large"))
    else:
        assert not reason
        assert found == expected


@pytest.mark.parametrize(
    "text",
    [
        "5",
        '"1"',
        "null",
        "[true]",
        "[null]",
        '["1"]',
        "[[1, 2], [3]]",
        "[1, [2]]",
        "[{}]",
        f"[1{'0' * 400}]",
        '{"Z": [1]}',
        "{}",
    ],
)
def test_json_array_refused(tmp_path: Path, text: str) -> None:
    assert "read" in refusal(files.read_array, put(tmp_path / "a.json", text))


def test_json_array_accepted(tmp_path: Path) -> None:
    path = put(tmp_path / "a.json", "[[1, 2.5], [-3, 4e0]]")
    array = files.read_array(path)
    assert array.tolist() == [[1.0, 2.5], [-3.0, 4.0]]
    assert array.dtype == np.float64
    put(path, '{"X": [[9]], "A": [[1, 2]], "note": "hello"}')
    assert files.read_array(path).tolist() == [[1.0, 2.0]]
    assert files.read_array(path, prefer=("X",)).tolist() == [[9.0]]


# --- .npy ---


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
    monkeypatch.setattr(files, "MAX_BYTES", 255)
    assert "32 numbers" in refusal(files.read_array, path)
    monkeypatch.setattr(files, "MAX_BYTES", 100)
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


# --- .npz ---


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
    monkeypatch.setattr(files, "MAX_BYTES", 399)
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


# --- CSV ---


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz"])
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("1,2,3\n4,5\n", "line 2 has 2 cells"),
        ("f0,f1,label\n1,2,3\n\n4,5,6,7\n", "line 4 has 4 cells"),
        ("1,2,3\n4,x,6\n", "line 2, column 2"),
        ("1,2,3\n,5,6\n", "line 2, column 1"),
        ("1,2,3\n4,1_0,6\n", "line 2, column 2"),
        ("1,2,3\n4,\u0663,6\n", "line 2, column 2"),
        ("1;2;3\n4;5;6\n", ""),
        ("f0,f1,label\n", "header"),
        ("\n\n", "empty"),
        ('1,2,3\n4,"5"x,6\n', "expected"),
        ('1,2,3\n4,"5', ""),
        ("1,2\r3,4\r", ""),
        (b"1,2\n\xff,4\n", "utf-8"),
        ("1," + "2" * 200_000 + "\n", "limit"),
    ],
)
def test_csv_refused(tmp_path: Path, name: str, text: str | bytes, reason: str) -> None:
    content = text if isinstance(text, bytes) else text.encode()
    path = put(tmp_path / name, gzip.compress(content) if name.endswith(".gz") else content)
    for read in READERS:
        assert reason in refusal(read, path)


@pytest.mark.parametrize("read", READERS)
def test_gzip_refused(tmp_path: Path, read: Callable[[Path], Any]) -> None:
    path = tmp_path / "a.csv.gz"
    whole = gzip.compress(b"1,2\n3,4\n" * 100)
    refusal(read, put(path, b"1,2\n3,4\n"))
    refusal(read, put(path, whole[:-9]))
    refusal(read, put(path, whole[:-8] + b"\0\0\0\0" + whole[-4:]))
    refusal(read, put(path, whole[:12] + b"\xff" * 9 + whole[21:]))
    assert read(put(path, whole)) is not None


@pytest.mark.parametrize("read", READERS)
def test_gzip_bomb(
    tmp_path: Path,
    read: Callable[[Path], Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(files, "MAX_BYTES", 100_000)
    many = gzip.compress((b"1." + b"0" * 1000 + b",2\n") * 100)
    assert "100000 in all" in refusal(read, put(tmp_path / "a.csv.gz", many))
    monkeypatch.setattr(files, "MAX_LINE_BYTES", 1000)
    long = gzip.compress(bytes(50_000))
    assert "1000 bytes in a line" in refusal(read, put(tmp_path / "a.csv.gz", long))


def test_csv_number_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path / "a.csv", "1,2\n" * 10)
    monkeypatch.setattr(files, "MAX_BYTES", 159)
    assert "more than 19 numbers" in refusal(files.read_array, path)


def test_csv_array(tmp_path: Path) -> None:
    path = put(tmp_path / "a.csv", b"\xef\xbb\xbf1, 2\r\n\r\n-3e0,nan")
    np.testing.assert_array_equal(files.read_array(path), [[1.0, 2.0], [-3.0, np.nan]])
    put(path, 'a,"b,\nc"\n1,2\n')
    assert files.read_array(path).tolist() == [[1.0, 2.0]]
    assert files.read_array(put(tmp_path / "B.CSV", "7")).tolist() == [[7.0]]


def test_csv_table_labels(tmp_path: Path) -> None:
    path = put(tmp_path / "a.csv", "f0,label,f1\n1,a,2\n3, b ,4\n")
    X, y = files.read_table(path)
    assert X.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert y.tolist() == ["a", "b"]
    assert y.dtype.kind == "U"
    put(path, "f0,f1,kind\n1,2,-3\n4,5,+6\n")
    X, y = files.read_table(path)
    assert X.tolist() == [[1.0, 2.0], [4.0, 5.0]]
    assert y.tolist() == [-3, 6]
    assert y.dtype == np.int64
    X, y = files.read_table(path, label="f0")
    assert X.tolist() == [[2.0, -3.0], [5.0, 6.0]]
    assert y.tolist() == [1, 4]
    X, y = files.read_table(put(path, "1,2,b\n3,4,7\n"))
    assert X.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert y.tolist() == ["b", "7"]
    assert files.read_table(put(path, f"1,7\n3,{2**63}\n"))[1].tolist() == ["7", str(2**63)]


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("a,b\n1,2\n", "c"),
        ("1,2\n3,4\n", "c"),
        ("a,c,c\n1,2,3\n", "c"),
        ("label,b,label\n1,2,3\n", None),
        ("a\n1\n", None),
        ("a,b\n1,\n", None),
        ("a,b\n1,  \n", None),
        (f"a,b\n1,{'x' * 1001}\n", None),
    ],
)
def test_csv_labels_refused(tmp_path: Path, text: str, label: str | None) -> None:
    path = put(tmp_path / "a.csv", text)
    assert "read" in refusal(lambda p: files.read_table(p, label=label), path)


@QUICK
@given(
    X=hnp.arrays(
        np.float64,
        hnp.array_shapes(min_dims=2, max_dims=2, max_side=5),
        elements=st.floats(allow_nan=False),
    ),
    labels=st.lists(st.integers(-(10**18) + 1, 10**18 - 1), min_size=5, max_size=5),
)
def test_csv_round_trip(tmp_path: Path, X: np.ndarray[Any, Any], labels: list[int]) -> None:
    lines = [",".join(map(repr, [*row, y])) for row, y in zip(X.tolist(), labels, strict=False)]
    read, y = files.read_table(put(tmp_path / "a.csv", "\n".join(lines)))
    assert np.array_equal(read, X)
    assert y.tolist() == labels[: len(X)]


# --- tables that are not CSV ---


def test_npz_and_json_tables(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    for labels in (["a", "bc"], [1, -2]):
        files.write_npz(path, X=[[1, 2], [3, 4]], y=labels)
        X, y = files.read_table(path)
        assert X.tolist() == [[1.0, 2.0], [3.0, 4.0]]
        assert y.tolist() == labels
        put(tmp_path / "a.json", json.dumps({"X": [[1, 2], [3, 4]], "y": labels, "more": 1}))
        X, y = files.read_table(tmp_path / "a.json")
        assert X.tolist() == [[1.0, 2.0], [3.0, 4.0]]
        assert y.tolist() == labels
        assert y.dtype == np.int64 or y.dtype.kind == "U"


def test_npy_table(tmp_path: Path) -> None:
    X, y = files.read_table(put(tmp_path / "a.npy", npy_bytes(np.array([[0.5, 1], [1.5, -2]]))))
    assert X.tolist() == [[0.5], [1.5]]
    assert y.tolist() == [1, -2]
    assert y.dtype == np.int64


@pytest.mark.parametrize(
    "table",
    [[1.0, 2.0], [[1.0], [2.0]], [[1.0, 0.5]], [[1.0, np.nan]], [[1.0, 1e300]]],
)
def test_npy_tables_refused(tmp_path: Path, table: list[Any]) -> None:
    path = put(tmp_path / "a.npy", npy_bytes(np.array(table)))
    assert "read" in refusal(files.read_table, path)


@pytest.mark.parametrize(
    "y",
    [
        [1.0, 2.0],
        [True, False],
        [1, "a"],
        [1, 2, 3],
        [[1, 2]],
        [1, 2**63],
        ["a", ""],
        ["a", "b" * 1001],
        [None, 1],
        "ab",
        {},
    ],
)
def test_json_labels_refused(tmp_path: Path, y: object) -> None:
    path = put(tmp_path / "a.json", json.dumps({"X": [[1], [2]], "y": y}))
    assert "read" in refusal(files.read_table, path)


@pytest.mark.parametrize(
    "y",
    [
        np.zeros(2),
        np.ones(2, bool),
        np.zeros(3, int),
        np.zeros((2, 1), int),
        np.int64(1),
        np.array([2**63, 1], np.uint64),
        np.array([b"a", b"b"]),
        np.zeros(2, complex),
    ],
)
def test_npz_labels_refused(tmp_path: Path, y: np.ndarray[Any, Any]) -> None:
    files.write_npz(tmp_path / "a.npz", X=[[1], [2]], y=y)
    assert "read" in refusal(files.read_table, tmp_path / "a.npz")


def test_tables_without_both_or_with_nothing_in_them(tmp_path: Path) -> None:
    for value in ({"X": [[1]]}, {"y": [1]}, [[1, 2]], {"X": [], "y": []}, {"X": [1], "y": [1]}):
        assert "read" in refusal(files.read_table, put(tmp_path / "a.json", json.dumps(value)))
    files.write_npz(tmp_path / "a.npz", X=[[1.0]])
    assert "both X and y" in refusal(files.read_table, tmp_path / "a.npz")


def test_label_names_are_for_csv(tmp_path: Path) -> None:
    files.write_npz(tmp_path / "a.npz", X=[[1.0]], y=[1])
    assert "CSV" in refusal(lambda p: files.read_table(p, label="y"), tmp_path / "a.npz")


# --- neighbours ---


def test_neighbors(tmp_path: Path) -> None:
    path = put(tmp_path / "a.json", "[[1, 2], [], [0]]")
    assert files.read_neighbors(path) == [[1, 2], [], [0]]
    assert files.read_neighbors(put(path, '{"neighbors": [[1]], "k": 1}')) == [[1]]


@pytest.mark.parametrize(
    "text", ["[[true]]", "[[1.0]]", "[[-1]]", "[1]", "[[[1]]]", '["12"]', "{}", "3", "[[null]]"]
)
def test_neighbors_refused(tmp_path: Path, text: str) -> None:
    assert "row numbers" in refusal(files.read_neighbors, put(tmp_path / "a.json", text))


# --- writing ---


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
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
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
    assert isinstance(caught.value, KeyboardInterrupt) or "No space" in str(caught.value)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.json"]


def test_the_data_are_on_disk_before_the_name_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    fsync, replace = os.fsync, os.replace

    def seen_fsync(descriptor: int) -> None:
        steps.append(f"fsync of {os.fstat(descriptor).st_size} bytes")
        fsync(descriptor)

    def seen_replace(source: str, target: str) -> None:
        steps.append(f"replace within {os.path.dirname(source) == os.path.dirname(target)}")
        replace(source, target)

    monkeypatch.setattr(os, "fsync", seen_fsync)
    monkeypatch.setattr(os, "replace", seen_replace)
    files.write_json(tmp_path / "a.json", 12)
    assert steps == ["fsync of 3 bytes", "replace within True"]


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
