"""Tables that are not CSV: features and labels from .npz, .json and .npy."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cvxml.core import files
from cvxml.core.files import common
from cvxml.core.files.common import REMEDIES
from tests.core.test_files import npy_bytes, put, refusal


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
    path = put(tmp_path / "a.npy", npy_bytes(np.array([[0.5, 1], [1.5, -2], [2.5, 1], [3.5, -2]])))
    X, y = files.read_table(path)
    assert X.tolist() == [[0.5], [1.5], [2.5], [3.5]]
    assert y.tolist() == [1, -2, 1, -2]
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
        [1.0, "a"],
        [1, "a"],
        [1, 2, 3],
        [[1, 2], [2, 1]],
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
        np.array([1.0, np.nan]),
        np.array([np.inf, 1.0]),
        np.array([1e18, 1.0]),
        np.zeros(3, int),
        np.zeros((2, 2), int),
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
    assert "'X'" in refusal(files.read_table, tmp_path / "a.npz")


def test_labels_in_a_column(tmp_path: Path) -> None:
    files.write_npz(tmp_path / "a.npz", X=[[1.0], [2.0]], y=[[3], [4]])
    put(tmp_path / "a.json", json.dumps({"X": [[1], [2]], "y": [[3], [4]]}))
    for name in ("a.npz", "a.json"):
        assert files.read_table(tmp_path / name)[1].tolist() == [3, 4]


def test_label_names_are_for_csv(tmp_path: Path) -> None:
    files.write_npz(tmp_path / "a.npz", X=[[1.0]], y=[1])
    message = refusal(lambda path: files.read_table(path, label="y"), tmp_path / "a.npz")
    for token in ("--label", "CSV", ".npy"):
        assert token in message


@pytest.mark.parametrize(
    ("labels", "read"),
    [
        ([1.0, -2.0], [1, -2]),
        ([1, 2.0], [1, 2]),
        ([True, False], [1, 0]),
        ([0.5, 1.0], [0.5, 1.0]),  # targets, as of mlkr
    ],
)
def test_labels_may_be_any_numbers(tmp_path: Path, labels: list[Any], read: list[Any]) -> None:
    np.savez(tmp_path / "a.npz", X=[[1, 2], [3, 4]], y=labels)
    put(tmp_path / "a.json", json.dumps({"X": [[1, 2], [3, 4]], "y": labels}))
    for name in ("a.npz", "a.json"):
        y = files.read_table(tmp_path / name)[1]
        assert y.tolist() == read
        assert y.dtype == (np.float64 if isinstance(read[0], float) else np.int64)


def test_a_table_of_other_names_or_lengths_is_told_so_and_no_more(tmp_path: Path) -> None:
    """What the file is made of is not at fault, and nothing is said of that."""
    put(tmp_path / "a.json", json.dumps({"X": [[1, 2], [3, 4]], "y": [1]}))
    message = refusal(files.read_table, tmp_path / "a.json")
    assert "label" in message
    assert REMEDIES[".json"] not in message
    put(tmp_path / "b.json", json.dumps({"foo": [[1]]}))
    message = refusal(files.read_array, tmp_path / "b.json")
    assert "foo" in message
    assert REMEDIES[".json"] not in message


FOUR = [[1.5, 2.0], [2.0, 3.0], [3.0, 4.0], [4.0, 5.5]]
# labels that are refused, and what the message names
BAD_LABELS: dict[str, tuple[np.ndarray[Any, Any], list[str]]] = {
    "bytes": (np.array([b"a", b"b", b"a", b"b"]), ["bytes", "decode"]),
    "one-hot": (np.eye(2)[[0, 1, 0, 1]], ["(4, 2)", "argmax(axis=1)"]),
    "one-hot-integers": (np.eye(3, dtype=np.int64)[[0, 1, 2, 1]], ["(4, 3)", "argmax(axis=1)"]),
    "one-hot-booleans": (np.eye(4, dtype=bool), ["(4, 4)", "argmax(axis=1)"]),
    "nan": (np.array([1, np.nan, 1, 2]), ["y[1]", "nan"]),
    "inf": (np.array([1, 2, 1, -np.inf]), ["y[3]", "inf"]),
    "uint64": (np.array([1, 2, 2**63, 2**63 + 1], np.uint64), ["y[2]", str(2**63), "return_inverse"]),
    "float-beyond-2^53": (np.array([1, 2, 2.0**53 + 2, 1]), ["y[2]", "9007199254740994"]),
    "long-double": (np.array([1, 2, 1, 2], np.longdouble), ["dtype"]),
    "complex": (np.array([1, 2, 1, 2], complex), ["complex"]),
    "text-of-nan": (np.array(["a", np.nan, "a", "b"]), ["y[1]", "'nan'"]),
    "text-of-none": (np.array(["a", "b", "a", str(None)]), ["y[3]", "'None'"]),
    "empty-text": (np.array(["a", "b", "", "b"]), ["y[2]", "empty"]),
}


@pytest.mark.parametrize("case", BAD_LABELS)
def test_bad_labels_in_npz_are_refused_with_what_to_do(tmp_path: Path, case: str) -> None:
    y, says = BAD_LABELS[case]
    np.savez(tmp_path / "a.npz", X=FOUR, y=y)
    message = refusal(files.read_table, tmp_path / "a.npz")
    assert [token for token in says if token not in message] == []
    assert REMEDIES[".npz"] not in message


def test_integer_labels_keep_every_digit(tmp_path: Path) -> None:
    large = [2**53, 2**53 + 1, 2**63 - 1, 1]
    np.savez(tmp_path / "a.npz", X=FOUR, y=np.array(large, np.uint64))
    put(tmp_path / "a.json", json.dumps({"X": FOUR, "y": large}))
    for name in ("a.npz", "a.json"):
        assert files.read_table(tmp_path / name)[1].tolist() == large


def test_text_labels_in_npz_and_json_stay_text(tmp_path: Path) -> None:
    labels = ["01", "1", "1.0", "+1"]
    np.savez(tmp_path / "a.npz", X=FOUR, y=labels)
    put(tmp_path / "a.json", json.dumps({"X": FOUR, "y": labels}))
    for name in ("a.npz", "a.json"):
        assert files.read_table(tmp_path / name)[1].tolist() == labels


@pytest.mark.parametrize(
    ("y", "says"),
    [
        ([[1, 0], [0, 1], [1, 0], [0, 1]], ["(4, 2)", "argmax(axis=1)"]),
        ([1, 2, 2**63, 2**63 + 1], ["y[2]", str(2**63)]),
        ([1.5, 2, 2**53 + 1, 2], ["y[2]", str(2**53 + 1)]),
        ([True, 1, False, 0], ["y[0]", "y[1]"]),  # Python takes True and 1 for the same label
        (["a", "b", None, "b"], ["y[2]"]),
        (["a", "b", "NA", "b"], ["y[2]", "'NA'"]),
        (["a", "b", 1, "b"], ["y[0]", "y[2]"]),
    ],
)
def test_bad_labels_in_json_are_refused_with_their_place(
    tmp_path: Path, y: list[Any], says: list[str]
) -> None:
    put(tmp_path / "a.json", json.dumps({"X": FOUR, "y": y}))
    message = refusal(files.read_table, tmp_path / "a.json")
    assert [token for token in says if token not in message] == []


@pytest.mark.parametrize("value", [None, "4", True, [1], 2**53 + 1, 10**400])
def test_features_of_json_that_are_no_numbers_are_refused_with_their_place(
    tmp_path: Path, value: object
) -> None:
    X: list[list[Any]] = [[1, 2], [3, 4], [5, 6], [7, 8]]
    X[2][1] = value
    put(tmp_path / "a.json", json.dumps({"X": X, "y": [1, 2, 1, 2]}))
    assert "X[2, 1]" in refusal(files.read_table, tmp_path / "a.json")
    put(tmp_path / "m.json", json.dumps(X))
    assert "[2, 1]" in refusal(files.read_array, tmp_path / "m.json")


def test_a_row_of_json_of_another_length_is_named(tmp_path: Path) -> None:
    for X, place in (([[1, 2], [3], [4, 5]], "X[1]"), ([[1, 2], [3, 4], 5], "X[2]"), ([], "X")):
        put(tmp_path / "a.json", json.dumps({"X": X, "y": [1, 2, 1][: len(X)]}))
        assert place in refusal(files.read_table, tmp_path / "a.json")


def test_features_that_are_not_finite_are_refused_with_their_place(tmp_path: Path) -> None:
    for value in (np.nan, np.inf):
        X = np.array(FOUR)
        X[2, 1] = value
        np.savez(tmp_path / "a.npz", X=X, y=[1, 2, 1, 2])
        assert "X[2, 1]" in refusal(files.read_table, tmp_path / "a.npz")
        np.save(tmp_path / "a.npy", np.column_stack([X, [1, 2, 1, 2]]))
        message = refusal(files.read_table, tmp_path / "a.npy")
        assert "row 3" in message
        assert "column 2" in message


@pytest.mark.parametrize("label", [np.nan, np.inf, 0.5, 2.0**53 + 2])
def test_labels_of_npy_are_refused_with_their_row(tmp_path: Path, label: float) -> None:
    np.save(tmp_path / "a.npy", np.column_stack([FOUR, [1, 2, label, 2]]))
    message = refusal(lambda path: files.read_table(path, label="last"), tmp_path / "a.npy")
    assert "row 3" in message
    assert str(label) in message


def test_labels_that_padding_makes_large_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(common, "FREE_BYTES", 1000)
    for longest in (4, 900):
        y = ["a"] * 500 + ["b" * longest]
        put(tmp_path / "a.json", json.dumps({"X": [[1.0]] * 501, "y": y}))
        put(tmp_path / "a.csv", "x,label\n" + "".join(f"1.5,{label}\n" for label in y))
        for name in ("a.json", "a.csv"):
            if longest == 4:
                assert files.read_table(tmp_path / name)[1].tolist() == y
            else:
                with pytest.raises(ValueError, match="900"):
                    files.read_table(tmp_path / name)
