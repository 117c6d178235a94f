"""Integers that double precision would round are refused, with their place; those that it has are taken."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cvxml
from cvxml import datasets
from cvxml.core.files import read_array
from cvxml.core.inputs import check_X, real_array

ROUNDED = 2**53 + 1
GIVEN: dict[str, Any] = {
    "int64": np.array([[1, 2], [3, ROUNDED]]),
    "uint64": np.array([[1, 2], [3, 2**63 + 1]], dtype=np.uint64),
    "lists": [[1, 2], [3, ROUNDED]],
    "a list with a float": [[1.5, 2], [3, ROUNDED]],
    "rows that are tuples": [(1, 2), (3, -ROUNDED)],
    "rows that are arrays": [np.array([1, 2]), np.array([3, ROUNDED])],
    "objects": np.array([[1, 2.5], [3, ROUNDED]], dtype=object),
    "beyond 64 bits": [[1, 2], [3, 2**70 + 1]],
}


@pytest.mark.parametrize("kind", GIVEN)
def test_what_would_be_rounded_is_refused_with_its_place(kind: str) -> None:
    with pytest.raises(ValueError, match=r"\d{16,} at 1, 1"):
        check_X(GIVEN[kind])


@pytest.mark.parametrize(
    "taken",
    [
        [[2**53, -(2**53)]],
        [[2**60, 1]],
        np.array([[2**62, 1]]),
        [[1e300, 2.0]],
        [[0.5, 2.0**70]],
        [[10**22, 1]],
    ],
    ids=str,
)
def test_what_double_precision_has_is_taken(taken: Any) -> None:
    assert check_X(taken).tolist() == np.asarray(taken, dtype=float).tolist()


def test_an_array_of_floats_is_not_looked_at_entry_by_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    """A million large floats would take a second."""
    monkeypatch.setattr("cvxml.core.metric._entry", None)
    check_X(np.full((3, 2), 1e20))


def test_a_single_number_has_no_place() -> None:
    with pytest.raises(ValueError, match=str(ROUNDED)):
        real_array(ROUNDED, "lam")


def test_a_data_frame_is_looked_at_column_by_column() -> None:
    """Its columns of integers and of floats become one array of floats before we see them."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [0.5, 1.5], "b": [1, ROUNDED]})
    with pytest.raises(ValueError, match="at 1, 1"):
        check_X(frame)


def test_two_points_that_would_become_one_are_not_solved() -> None:
    X = [[2**53], [2**53 + 1], [0], [4]]
    for call in (cvxml.solve, cvxml.problem):
        with pytest.raises(ValueError, match="at 1, 0"):
            call("lmnn", X, [0, 0, 1, 1], n_neighbors=1)


def test_a_file_of_data_is_read_by_the_same_rule(tmp_path: Path) -> None:
    (tmp_path / "d.json").write_text(json.dumps({"X": [[0, 1], [ROUNDED, 2]], "y": [0, 1]}))
    (tmp_path / "d.csv").write_text(f"a,b,label\n0,1,u\n{ROUNDED},2,v\n")
    np.savez(tmp_path / "d.npz", X=np.array([[0, 1], [ROUNDED, 2]]), y=[0, 1])
    np.save(tmp_path / "d.npy", np.array([[0, 1, 0], [ROUNDED, 2, 1]]))
    for name in ("d.json", "d.csv", "d.npz", "d.npy"):
        with pytest.raises(ValueError, match=str(ROUNDED)):
            datasets.read(tmp_path / name)


def test_a_large_integer_in_a_column_of_labels_is_a_name(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text(f"a,label\n0,{ROUNDED}\n1,{ROUNDED - 1}\n2,{ROUNDED}\n")
    _, y = datasets.read(tmp_path / "d.csv")
    assert [int(label) for label in y] == [ROUNDED, ROUNDED - 1, ROUNDED]


def test_a_matrix_in_a_file_is_read_by_the_same_rule(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text(f"{ROUNDED},0\n0,1\n")
    with pytest.raises(ValueError, match=str(ROUNDED)):
        read_array(tmp_path / "m.csv")
    (tmp_path / "m.csv").write_text(f"{2**60},0\n0,1\n")
    assert read_array(tmp_path / "m.csv")[0, 0] == 2.0**60
