"""CSV, with a header, with labels, packed: what is read and what is refused."""

import gzip
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from cvxml.core import files
from cvxml.core.files import cells, common
from tests.core.test_files import QUICK, READERS, put, refusal


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz"])
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("1,2,3\n4,5\n", "line 2"),
        ("f0,f1,label\n1,2,3\n\n4,5,6,7\n", "line 4"),
        ("1,2,3\n4,x,6\n", "line 2, column 2"),
        ("1,5,3\n,5,6\n", "line 2, column 1"),
        ("1,2,3\n4,1_0,6\n", "line 2, column 2"),
        ("1,2,3\n4,\u0663,6\n", "line 2, column 2"),
        ("1;2;3\n4;5;6\n", ""),
        ("f0,f1,label\n", "header"),
        ("\n\n", "empty"),
        ('1,2,3\n4,"5"x,6\n', "expected"),
        ('1,2,3\n4,"5', ""),
        ("1,2\r3,4\r", "line 1"),
        ("1.5,2\n\n2.5,4\r3.5,5\n", "line 3"),
        ('"a","b"\r"1.5","2"\r', "line 1"),
        ("# by me\r1.5,2\r", "line 1"),
        (b"1,2\n\xff,4\n", "byte 0xff"),
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
    whole = gzip.compress(b"1.5,2\n3,4\n" * 100)
    refusal(read, put(path, b"1.5,2\n3,4\n"))
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
    monkeypatch.setattr("cvxml.core.files.common.MAX_BYTES", 100_000)
    many = gzip.compress((b"1." + b"0" * 1000 + b",2\n") * 100)
    assert "100000 in all" in refusal(read, put(tmp_path / "a.csv.gz", many))
    monkeypatch.setattr("cvxml.core.files.cells.MAX_LINE_BYTES", 1000)
    long = gzip.compress(bytes(50_000))
    assert "1000 bytes" in refusal(read, put(tmp_path / "a.csv.gz", long))


def test_csv_number_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path / "a.csv", "1,2\n" * 10)
    monkeypatch.setattr("cvxml.core.files.common.MAX_BYTES", 159)
    assert "19 numbers" in refusal(files.read_array, path)


def test_csv_array(tmp_path: Path) -> None:
    path = put(tmp_path / "a.csv", b"\xef\xbb\xbf1, 2.\r\n\r\n-3e0,.5")
    assert files.read_array(path).tolist() == [[1.0, 2.0], [-3.0, 0.5]]
    put(path, 'a,"b,\nc"\n1,2\n')
    assert files.read_array(path).tolist() == [[1.0, 2.0]]
    assert files.read_array(put(tmp_path / "B.CSV", "7")).tolist() == [[7.0]]


@pytest.mark.parametrize("cell", ["nan", "NaN", "inf", "-inf", "1e999"])
def test_a_matrix_that_is_not_finite_is_refused_with_its_line(tmp_path: Path, cell: str) -> None:
    message = refusal(files.read_array, put(tmp_path / "a.csv", f"# mine\n1.5,2\n\n3,{cell}\n4,5\n"))
    assert "line 4" in message
    assert "column" in message
    message = refusal(files.read_indices, put(tmp_path / "a.csv", f"1,2\n3,{cell}\n4,5\n"))
    assert "line 2, column 2" in message


def test_csv_table_labels(tmp_path: Path) -> None:
    path = put(tmp_path / "a.csv", "f0,label,f1\n1,a,2\n3, b ,4\n")
    X, y = files.read_table(path)
    assert X.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert y.tolist() == ["a", "b"]
    assert y.dtype.kind == "U"
    put(path, "f0,f1,kind\n1,2,-3\n4,5,+6\n")
    X, y = files.read_table(path, label="last")
    assert X.tolist() == [[1.0, 2.0], [4.0, 5.0]]
    assert y.tolist() == [-3, 6]
    assert y.dtype == np.int64
    X, y = files.read_table(path, label="f0")
    assert X.tolist() == [[2.0, -3.0], [5.0, 6.0]]
    assert y.tolist() == [1, 4]
    X, y = files.read_table(put(path, "1,2,b\n3,4,7\n5,6,b\n"))
    assert X.tolist() == [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    assert y.tolist() == ["b", "7", "b"]
    assert files.read_table(put(path, f"1,7\n3,{2**63}\n"), label="last")[1].tolist() == ["7", str(2**63)]


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
        elements=st.floats(allow_nan=False, allow_infinity=False),
    ),
    labels=st.lists(st.integers(-(10**18) + 1, 10**18 - 1), min_size=5, max_size=5),
)
def test_csv_round_trip(tmp_path: Path, X: np.ndarray[Any, Any], labels: list[int]) -> None:
    lines = [",".join(map(repr, [*row, y])) for row, y in zip(X.tolist(), labels, strict=False)]
    settled = {"label": "last", "header": "no", "index": "no"}
    read, y = files.read_table(put(tmp_path / "a.csv", "\n".join(lines)), **settled)
    assert np.array_equal(read, X)
    assert y.tolist() == labels[: len(X)]


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize(
    ("first", "cell"),
    [
        ("5.l,3.5,1", "'5.l'"),
        ("1_0,3.5,1", "'1_0'"),
        (",3.5,1", "''"),
        ("x,nan,inf", "'x'"),
        ("5.l,3.5,setosa", "'5.l'"),
        ("x,y, 7 ", "'x'"),
        ("name,2019,kind", "'name'"),
    ],
)
def test_a_first_line_with_a_slip_is_no_header(
    tmp_path: Path, read: Callable[[Path], Any], first: str, cell: str
) -> None:
    message = refusal(read, put(tmp_path / "a.csv", f"{first}\n1,2,3\n4,5,6\n"))
    assert "line 1" in message
    assert cell in message
    assert "line 3" in refusal(read, put(tmp_path / "a.csv", f"\n\n{first}\n1,2,3\n"))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("1.5+2e-21i,0+0i\n0-0i,1e0+1E-9i\n", ["line 1", "complex"]),
        ("1.5,2i\n(3-1j),2\n", ["line 1", "complex"]),
        ('"","a","b"\n"a",1.5,2\n"b",2,1.5\n', ["line 2", "row.names=FALSE"]),
        ("1.5,NA\nNA,2.5\n", ["line 1, column 2", "NA", "fill"]),
    ],
)
def test_a_matrix_as_r_and_octave_write_it_is_refused_with_the_cause(
    text: str, says: list[str], tmp_path: Path
) -> None:
    said = refusal(lambda path: files.read_array(path, square=True), put(tmp_path / "m.csv", text.encode()))
    for part in says:
        assert part in said
    assert "for each word" not in said


@pytest.mark.parametrize("first", ["a,b,c", "a,,", ",b,c", "x1,2nd,1_0"])
def test_a_first_line_without_numbers_is_a_header(tmp_path: Path, first: str) -> None:
    path = put(tmp_path / "a.csv", f"{first}\n1,2,3\n4,5,6\n")
    assert files.read_array(path).tolist() == [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    assert files.read_table(path, label="last", index="no")[1].tolist() == [3, 6]


def test_a_single_column_may_have_any_header(tmp_path: Path) -> None:
    assert files.read_array(put(tmp_path / "a.csv", "5.l\n1\n2\n")).tolist() == [[1.0], [2.0]]


@pytest.mark.parametrize("reader", [files.read_table, files.read_array, files.read_indices])
def test_a_row_that_quotes_make_endless_is_refused(
    reader: Callable[[Path], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cells, "MAX_LINE_BYTES", 100)
    put(tmp_path / "a.csv", "0,1\n1,0\n" + '"\n",' * 30)
    with pytest.raises(ValueError, match="inside quotes"):
        reader(tmp_path / "a.csv")


@pytest.mark.parametrize("separator", [",", ";", "\t", " ", "   "])
def test_too_many_columns_are_refused(
    separator: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cells, "MAX_COLUMNS", 9)
    for width in (10, 11):
        put(tmp_path / "a.csv", f"{separator.join(['1.5'] * width)}\n" * 3)
        if width == 10:
            assert files.read_array(tmp_path / "a.csv").shape == (3, 10)
        else:
            with pytest.raises(ValueError, match="over 9 cells"):
                files.read_array(tmp_path / "a.csv")


def test_a_file_of_gzip_unpacks_to_a_bounded_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = b"0.5,1\n" * 10**4
    put(tmp_path / "a.csv.gz", gzip.compress(content))
    assert files.read_array(tmp_path / "a.csv.gz").shape == (10**4, 2)
    monkeypatch.setattr(common, "FREE_BYTES", 0)
    with pytest.raises(ValueError, match="unpacks to more than"):
        files.read_array(tmp_path / "a.csv.gz")
    put(tmp_path / "a.csv", content)
    assert files.read_array(tmp_path / "a.csv").shape == (10**4, 2)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("1,2,3,0\n4,NA,6,1\n7,8,9,0\n1,2,3,1\n", [[1, 3], [4, 6], [7, 9], [1, 3]]),
        ("a,a,b,label\n1,x,2,A\n2,y,1,B\n1,x,3,A\n2.5,x,1,B\n", [[1, 2], [2, 1], [1, 3], [2.5, 1]]),
    ],
    ids=["without a header", "a name that stands twice"],
)
def test_the_column_that_a_message_leaves_out_is_the_one_that_it_names(
    text: str, left: list[list[float]], tmp_path: Path
) -> None:
    """Without a header, columns are counted from 1 in places, and from 0 in options. A name may stand twice."""
    path = tmp_path / "points.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match="column 2") as refused:
        files.read_table(path)
    offered = re.search(r"--drop (\w+)", str(refused.value))
    assert offered is not None
    X, _ = files.read_table(path, drop=[offered.group(1)])[:2]
    assert X.tolist() == left


@pytest.mark.parametrize("name", ["", "x"])
def test_an_empty_column_that_is_left_out_is_not_read(name: str, tmp_path: Path) -> None:
    """For example from a comma at the end of each line."""
    path = tmp_path / "points.csv"
    path.write_text(f"a,b,label,{name}\n1.5,2,A,\n1.7,3,B,\n1.1,2,A,\n", encoding="utf-8")
    with pytest.raises(ValueError, match="empty"):
        files.read_table(path)
    X, _ = files.read_table(path, drop=["3"])[:2]
    assert X.tolist() == [[1.5, 2], [1.7, 3], [1.1, 2]]
