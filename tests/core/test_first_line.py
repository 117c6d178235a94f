"""The first line of a table: a point, a header, or refused because it may be either."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cvxml import datasets
from cvxml.core import files
from tests.cli.commands import Cli, X, Y

POINTS = np.round(X, 3).tolist()  # (14, 3), whose labels Y are 0, 1, 0, 1, ...
WORDS = ["red" if label else "blue" for label in Y]


def write(path: Path, *rows: list[Any]) -> Path:
    path.write_text("".join(",".join(map(str, row)) + "\n" for row in rows))
    return path


def points(labels: list[str], first: bool = False) -> list[list[Any]]:
    return [[label, *x] if first else [*x, label] for x, label in zip(POINTS, labels, strict=True)]


@pytest.mark.parametrize("missing", ["NA", "?", "null", "none", "-", "N/A", ""])
def test_a_first_line_of_missing_numbers_is_no_header(tmp_path: Path, missing: str) -> None:
    """The point was lost, because the line has no number."""
    place = write(tmp_path / "a.csv", [missing] * 3 + ["red"], *points(WORDS))
    for header, named in ((None, "--header"), ("no", "line 1")):
        with pytest.raises(ValueError, match=named) as error:
            files.read_table(place, header=header)
        assert (repr(missing) if missing else "empty") in str(error.value)
    if missing:
        assert files.read_table(place, header="yes", label="last")[0].tolist() == POINTS
    with pytest.raises(ValueError, match="line 1"):
        files.read_array(write(tmp_path / "q.csv", [missing] * 3, *POINTS))


def test_empty_cells_above_numbers_are_names(tmp_path: Path) -> None:
    place = write(tmp_path / "a.csv", ["", "b", "c", "label"], *points(WORDS))
    assert files.read_table(place, index="no")[0].tolist() == POINTS


def test_one_missing_number_beside_a_label_is_no_header(tmp_path: Path) -> None:
    rows = [[x[0], label] for x, label in zip(POINTS, WORDS, strict=True)]
    with pytest.raises(ValueError, match="header="):
        datasets.read(write(tmp_path / "a.csv", ["NA", "red"], *rows))


def test_queries_keep_their_first_point(cli: Cli) -> None:
    np.save("m.npy", np.eye(3))
    write(Path("q.csv"), ["NA"] * 3, *POINTS)
    asked = ("check", "mlsvm", "data.json", "--metric", "m.npy", "--predictions", 1, "--queries", "q.csv")
    answer = cli(*asked)
    assert (answer.code, answer.out) == (2, "")
    assert "line 1" in answer.err


def test_sodium_is_a_name(tmp_path: Path) -> None:
    place = write(tmp_path / "a.csv", ["Mg", "Na", "Al", "label"], *points(WORDS))
    assert files.load_table(place).names == ("Mg", "Na", "Al")
    assert files.read_array(write(tmp_path / "q.csv", ["Mg", "Na", "Al"], *POINTS)).tolist() == POINTS


@pytest.mark.parametrize("name", ["label", "Labels", "class", "classes", "target", "species", "y"])
@pytest.mark.parametrize("first", [False, True])
def test_a_name_of_labels_beside_numbers_may_be_a_header(tmp_path: Path, name: str, first: bool) -> None:
    """The line became a point of a class "label"."""
    years, features = [2019, 2020], [x[:2] for x in POINTS]
    rows = [[*years, name], *([*x, label] for x, label in zip(features, WORDS, strict=True))]
    place = write(tmp_path / "a.csv", *([row[-1], *row[:-1]] if first else row for row in rows))
    with pytest.raises(ValueError, match="--header"):
        files.read_table(place)
    read, y = files.read_table(place, header="yes", label="first" if first else "last")
    assert (read.tolist(), y.tolist()) == (features, WORDS)
    read, y = files.read_table(place, header="no")
    assert (read.tolist(), y.tolist()) == ([years, *features], [name, *WORDS])


def test_classes_that_have_names_of_columns_are_classes(tmp_path: Path) -> None:
    names = ["target" if label else "y" for label in Y]
    assert files.read_table(write(tmp_path / "a.csv", *points(names)))[1].tolist() == names
