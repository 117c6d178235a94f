"""A table is read in the one way there is, or refused with the option that settles it; what was read is said."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cvxml import datasets
from cvxml.cli.main import run
from cvxml.core import files
from tests.cli.commands import Cli, X, Y
from tests.test_datasets import bunch, fetching

POINTS = np.round(X, 3).tolist()  # (14, 3), whose labels Y are 0, 1, 0, 1, ...
WORDS = ["red" if label else "blue" for label in Y]
N = len(POINTS)


def lines(*rows: Any) -> str:
    return "".join(",".join(map(str, row)) + "\n" for row in rows)


def with_labels(labels: Any = Y, first: bool = False) -> list[list[Any]]:
    return [[label, *x] if first else [*x, label] for x, label in zip(POINTS, labels, strict=True)]


def numbered(rows: list[list[Any]], numbers: Any) -> list[list[Any]]:
    return [[number, *row] for number, row in zip(numbers, rows, strict=True)]


# what is read without any option: the text, and where the labels are
PLAIN: dict[str, str] = {
    "label-last": lines("abcd", *with_labels()).replace("d\n", "label\n", 1),
    "no-header": lines(*with_labels()),
    "no-header-words": lines(*with_labels(WORDS)),
    "no-header-words-first": lines(*with_labels(WORDS, first=True)),
    "unknown-names": lines("abcd", *with_labels()),
    "words-of-any-name": lines("abcd", *with_labels(WORDS)),
    "words-first-of-any-name": lines("abcd", *with_labels(WORDS, first=True)),
    "label-first": lines(["label", "a", "b", "c"], *with_labels(first=True)),
    "Class-first": lines(["Class", "a", "b", "c"], *with_labels(first=True)),
    "target": lines(["a", "b", "c", "target"], *with_labels()),
    "species-first": lines(["Species", "a", "b", "c"], *with_labels(WORDS, first=True)),
    "y-last": lines(["x1", "x2", "x3", "y"], *with_labels()),
    "y-first": lines(["y", "x1", "x2", "x3"], *with_labels(first=True)),
    "a-coordinate-y": lines(["x", "y", "z", "label"], *with_labels()),
    "a-coordinate-y-and-words": lines(["x", "y", "z", "kind"], *with_labels(WORDS)),
    "a-point-of-whole-numbers": lines(*[[0, 1, 2, "blue"], *with_labels(WORDS)[1:]]),
}


@pytest.mark.parametrize("case", PLAIN)
def test_what_is_plain_needs_no_option(tmp_path: Path, case: str) -> None:
    (tmp_path / "a.csv").write_text(PLAIN[case])
    read, y = datasets.read(tmp_path / "a.csv")
    assert read.tolist()[1:] == POINTS[1:]
    assert read[0].tolist() == ([0, 1, 2] if case == "a-point-of-whole-numbers" else POINTS[0])
    assert y.tolist() == (WORDS if y.dtype.kind == "U" else Y.tolist())


# what may be read in two ways: the text, the option that is named, what settles it, and the features then
CASES: dict[str, tuple[str, str, dict[str, Any], Any]] = {
    "frame-without-names": (lines(range(4), *with_labels()), "header", {"header": "yes"}, POINTS),
    "names-from-1": (lines([1, 2, 3, 4], *with_labels()), "header", {"header": "yes"}, POINTS),
    "years": (lines([2019, 2020, 2021, 2022], *with_labels()), "header", {"header": "yes"}, POINTS),
    "chosen-columns": (lines([0, 2, 5, 9], *with_labels()), "header", {"header": "yes"}, POINTS),
    "wavelengths": (
        lines([400.5, 410.5, 420.5, 430.5], *with_labels()),
        "header",
        {"header": "yes"},
        POINTS,
    ),
    "numbers-and-label": (lines([0, 1, 2, "label"], *with_labels()), "header", {"header": "yes"}, POINTS),
    "a-name-over-numbers": (
        lines([0.1, -0.2, 0.3, "kind"], *with_labels()),
        "header",
        {"header": "yes"},
        POINTS,
    ),
    "counts-over-whole-numbers": (
        lines(range(4), *[[(i * i) % 5, (3 * i) % 4, i % 3, label] for i, label in enumerate(Y)]),
        "header",
        {"header": "yes", "label": "last"},
        [[(i * i) % 5, (3 * i) % 4, i % 3] for i in range(N)],
    ),
    "numbers-and-kind": (
        lines([0, 1, 2, "kind"], *with_labels(WORDS)),
        "header",
        {"header": "yes"},
        POINTS,
    ),
    "pandas": (
        lines(["", 0, 1, 2, "label"], *numbered(with_labels(), range(N))),
        "header",
        {"header": "yes", "index": "yes"},
        POINTS,
    ),
    "pandas-index": (
        lines(["", "a", "b", "c", "label"], *numbered(with_labels(), range(N))),
        "index",
        {"index": "yes"},
        POINTS,
    ),
    "pandas-read-again": (
        lines(["Unnamed: 0", "a", "b", "c", "label"], *numbered(with_labels(), [1.5] * N)),
        "index",
        {"index": "yes"},
        POINTS,
    ),
    "pandas-index-words": (
        lines(["", "a", "b", "c", "kind"], *numbered(with_labels(WORDS), range(N))),
        "index",
        {"index": "yes"},
        POINTS,
    ),
    "R-row-names": (
        lines(["", "a", "b", "c", "kind"], *numbered(with_labels(), [f"car {i}" for i in range(N)])),
        "index",
        {"index": "yes"},
        POINTS,
    ),
    "names-of-rows-without-header": (
        lines(*numbered(with_labels(), [f"car {i}" for i in range(N)])),
        "index",
        {"index": "yes"},
        POINTS,
    ),
    "from-1-without-header": (
        lines(*numbered(with_labels(), range(1, N + 1))),
        "index",
        {"index": "yes"},
        POINTS,
    ),
    "shuffled": (
        lines("iabcl", *numbered(with_labels(), np.random.default_rng(0).permutation(N))),
        "index",
        {"index": "yes"},
        POINTS,
    ),
    "sampled": (
        lines("iabcl", *numbered(with_labels(), 13 * np.arange(N) ** 2 % 509)),
        "index",
        {"index": "yes"},
        POINTS,
    ),
    "concatenated": (
        lines("iabcl", *numbered(with_labels(), [*range(9), *range(5)])),
        "index",
        {"index": "yes"},
        POINTS,
    ),
    "a-feature-after-all": (
        lines("iabc", *numbered(with_labels(), range(N))).replace("c\n", "c,label\n", 1),
        "index",
        {"index": "no"},
        numbered(POINTS, range(N)),
    ),
    "id": (
        lines(["ID", "a", "b", "c", "label"], *numbered(with_labels(), [1.5] * N)),
        "index",
        {"index": "yes"},
        POINTS,
    ),
    "label-first": (lines("labc", *with_labels(first=True)), "label", {"label": "first"}, POINTS),
    "label-first-no-header": (lines(*with_labels(first=True)), "label", {"label": "first"}, POINTS),
    "label-first-then-whole": (
        lines(*[[label, *x, 5 + i % 3] for i, (x, label) in enumerate(zip(POINTS, Y, strict=True))]),
        "label",
        {"label": 0},
        [[*x, 5 + i % 3] for i, x in enumerate(POINTS)],
    ),
    "a-whole-feature-first": (
        lines(*[[5 + i % 3, *x, label] for i, (x, label) in enumerate(zip(POINTS, Y, strict=True))]),
        "label",
        {"label": "last"},
        [[5 + i % 3, *x] for i, x in enumerate(POINTS)],
    ),
    "class-and-target": (
        lines(["class", "a", "b", "c", "target"], *[[7.5, *row] for row in with_labels()]),
        "label",
        {"label": "target"},
        [[7.5, *x] for x in POINTS],
    ),
    "no-classes": (
        lines("abcd", *with_labels([*range(2, N), 40, 50])),
        "label",
        {"label": "d"},
        POINTS,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_ambiguous_is_refused_with_the_option_that_settles_it(tmp_path: Path, case: str) -> None:
    text, option, settled, features = CASES[case]
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(ValueError, match=r"a\.csv") as caught:
        datasets.read(tmp_path / "a.csv")
    assert option in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500
    read, y = datasets.read(tmp_path / "a.csv", **settled)
    assert read.tolist() == [[float(value) for value in row] for row in features]
    if case != "no-classes":
        assert y.tolist() == (WORDS if y.dtype.kind == "U" else Y.tolist())


DROPPED: dict[str, tuple[dict[str, Any], list[str]]] = {
    "names": ({"drop": "town,job"}, ["age", "size"]),
    "list": ({"drop": ["town", "job"]}, ["age", "size"]),
    "numbers": ({"drop": [0, 3]}, ["age", "size"]),
    "numbers-and-label": ({"drop": "0,3", "label": "4"}, ["age", "size"]),
    "first-and-last": ({"drop": "first,job", "label": "last"}, ["age", "size"]),
    "after-the-index": ({"drop": "age,2", "index": "yes"}, ["size"]),
    "the-last-column": ({"drop": ["town", "kind"], "label": "job"}, ["age", "size"]),
    "the-last-in-use": ({"drop": ["town", "kind"], "label": "last"}, ["age", "size"]),
}


@pytest.mark.parametrize("case", DROPPED)
def test_columns_are_left_out(tmp_path: Path, case: str) -> None:
    asked, features = DROPPED[case]
    rows = [
        [f"t{i}", "" if case == "after-the-index" else i / 4, i + 0.5, "pq"[i % 2], "uv"[2 * i // N]]
        for i in range(N)
    ]
    (tmp_path / "a.csv").write_text(lines(["town", "age", "size", "job", "kind"], *rows))
    table = files.load_table(tmp_path / "a.csv", files.settled(**asked))
    assert table.names == tuple(features)
    assert table.X.tolist() == [
        [{"age": i / 4, "size": i + 0.5}[name] for name in features] for i in range(N)
    ]
    assert table.y.tolist() == [
        ("pq"[i % 2] if case.startswith("the-last") else "uv"[2 * i // N]) for i in range(N)
    ]
    left = {"town", "age", "size", "job", "kind"} - {
        *features,
        "job" if case.startswith("the-last") else "kind",
    }
    if case == "after-the-index":
        left -= {"town"}
    assert all(repr(name) in table.written for name in left)
    assert not any(repr(name) in table.written for name in features)


def test_columns_of_a_file_without_a_header_are_left_out_by_number(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(lines(*[[*x, "NA", label] for x, label in zip(POINTS, Y, strict=True)]))
    X, y = datasets.read(tmp_path / "a.csv", drop=[3])
    assert X.tolist() == [[float(value) for value in x] for x in POINTS]
    assert y.tolist() == Y.tolist()
    np.save(tmp_path / "a.npy", np.column_stack([POINTS, np.full(N, np.nan), Y]))
    assert np.array_equal(datasets.read(tmp_path / "a.npy", drop="3")[0], X)


def test_a_line_that_may_be_a_header_is_refused_beside_a_column_that_is_left_out(tmp_path: Path) -> None:
    rows = [[*x, "NA", label] for x, label in zip(POINTS, Y, strict=True)]
    (tmp_path / "a.csv").write_text(lines([2019, 2020, 2021, "x", 2022], *rows))
    with pytest.raises(ValueError, match=r"\bheader\b"):
        datasets.read(tmp_path / "a.csv", drop=3)


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({}, ["line 2, column 1 ('town')", 'drop="town,job"']),
        ({"drop": "town,jobs"}, ["'jobs'", "town, age, size, job, kind"]),
        ({"drop": "town,job,age,size"}, ["one column"]),
        ({"drop": "kind", "label": "kind"}, ["'kind'", "label", "drop"]),
        ({"drop": "town,9"}, ["'9'"]),
    ],
)
def test_a_column_that_is_no_feature_is_named_with_the_option_that_leaves_it_out(
    tmp_path: Path, asked: dict[str, Any], says: list[str]
) -> None:
    rows = [["uv"[i % 2], i / 4, i + 0.5, "pq"[i % 2], "uv"[2 * i // N]] for i in range(N)]
    (tmp_path / "a.csv").write_text(lines(["town", "age", "size", "job", "kind"], *rows))
    with pytest.raises(ValueError, match=r"a\.csv") as caught:
        datasets.read(tmp_path / "a.csv", **({"label": "kind"} | asked))
    assert [token for token in says if token not in str(caught.value)] == []


def test_an_index_beside_a_column_that_is_left_out_can_be_left_out_too(tmp_path: Path) -> None:
    rows = [["NA", i, *x, label] for i, (x, label) in enumerate(zip(POINTS, Y, strict=True))]
    (tmp_path / "a.csv").write_text(lines(["note", "i", "a", "b", "c", "label"], *rows))
    with pytest.raises(ValueError, match=r'drop="1" .*index="no"'):
        datasets.read(tmp_path / "a.csv", drop="note")
    assert datasets.read(tmp_path / "a.csv", drop="note,1")[0].shape == (N, 3)
    assert datasets.read(tmp_path / "a.csv", drop="note", index="no")[0].shape == (N, 4)


def test_a_missing_number_is_named_with_its_column(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("age,size,kind\n1.5,2,u\n2.5,,v\n")
    with pytest.raises(ValueError, match=r"line 3, column 2 \('size'\).*\bdrop=.size"):
        datasets.read(tmp_path / "a.csv")


def test_six_rows_are_enough_to_be_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    for numbers in ([0, 1, 2, 3, 4, 5], [6, 2, 1, 3, 5, 4]):
        path.write_text(lines("iabcl", *numbered(with_labels()[:6], numbers)))
        with pytest.raises(ValueError, match=r"\bindex\b"):
            datasets.read(path)
    path.write_text(lines("iabcl", *numbered(with_labels()[:6], [0, 1, 2, 3, 4, 7])))
    assert datasets.read(path)[0].shape == (6, 4)


def test_an_index_that_is_there_twice(tmp_path: Path) -> None:
    rows = numbered(numbered(with_labels(), range(N)), range(N))
    (tmp_path / "a.csv").write_text(lines(["", "Unnamed: 0", "a", "b", "c", "label"], *rows))
    with pytest.raises(ValueError, match=r"Unnamed: 0.*index.*delete"):
        datasets.read(tmp_path / "a.csv", index="yes")


def test_y_is_the_label_where_it_is_last_whatever_is_first(tmp_path: Path) -> None:
    table = [[7 - label, *x, label] for x, label in zip(POINTS, Y, strict=True)]
    (tmp_path / "a.csv").write_text(lines("abcdy", *table))
    assert datasets.read(tmp_path / "a.csv")[1].tolist() == Y.tolist()


LABELS: dict[str, tuple[Any, int]] = {
    "first": ("first", 0),
    "last": ("last", 3),
    "name": ("c", 2),
    "number": ("1", 1),
    "int": (3, 3),
}


@pytest.mark.parametrize("case", LABELS)
def test_where_the_labels_are(tmp_path: Path, case: str) -> None:
    label, column = LABELS[case]
    table = np.column_stack([POINTS, Y])
    table[:, 0] = Y  # so that nothing could be told
    (tmp_path / "a.csv").write_text(lines("abcd", *table.tolist()))
    read = files.load_table(tmp_path / "a.csv", files.settled(label))
    assert np.array_equal(read.X, np.delete(table, column, axis=1))
    assert np.array_equal(read.y, table[:, column])
    assert "abcd"[column] in read.where
    if column in (0, 3):  # of a file without names, whose labels must be whole
        np.save(tmp_path / "a.npy", table)
        read = files.load_table(tmp_path / "a.npy", files.settled(label))
        assert np.array_equal(read.X, np.delete(table, column, axis=1))


@pytest.mark.parametrize(
    ("names", "label", "says"),
    [
        ("abcd", "e", "'e'.*a, b, c, d"),
        ("abcd", "4", "'4'.*a, b, c, d"),
        ("abcd", "-1", "'-1'.*a, b, c, d"),
        ("1023", "1", "'1'.*another"),
        (["a", "last", "b", "c"], "last", "'last'.*another"),
        ("abca", "a", "2 columns.*'a'"),
    ],
)
def test_a_label_that_is_no_column_or_two(tmp_path: Path, names: Any, label: str, says: str) -> None:
    (tmp_path / "a.csv").write_text(lines(names, *with_labels()))
    with pytest.raises(ValueError, match=says):
        datasets.read(tmp_path / "a.csv", label=label, header="yes")


def test_the_same_of_npy(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.array(with_labels()))
    assert datasets.read(tmp_path / "a.npy")[1].tolist() == Y.tolist()
    np.save(tmp_path / "b.npy", np.array(with_labels(first=True)))
    with pytest.raises(ValueError, match=r"\blabel\b"):
        datasets.read(tmp_path / "b.npy")
    assert datasets.read(tmp_path / "b.npy", label="first")[0].tolist() == POINTS
    np.save(tmp_path / "c.npy", np.array(numbered(with_labels(), range(N))))
    with pytest.raises(ValueError, match=r"\bindex\b"):
        datasets.read(tmp_path / "c.npy")
    assert datasets.read(tmp_path / "c.npy", index=True)[0].tolist() == POINTS


@pytest.mark.parametrize("option", ["label", "header", "index"])
def test_options_are_for_columns(tmp_path: Path, option: str) -> None:
    (tmp_path / "a.json").write_text(json.dumps({"X": POINTS, "y": Y.tolist()}))
    given: dict[str, Any] = {option: "yes"}
    with pytest.raises(ValueError, match=rf"\b{option}\b"):
        datasets.read(tmp_path / "a.json", **given)
    with pytest.raises(ValueError, match="not a file"):
        datasets.load("iris", **given)
    if option != "label":
        with pytest.raises(ValueError, match=rf"{option}.*\byes\b.*\bno\b.*maybe"):
            datasets.read(tmp_path / "a.json", **{option: "maybe"})  # type: ignore[arg-type]


def test_a_header_that_counts_is_no_row_of_a_matrix(tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    path.write_text("0,1\n0.5,0.25\n")
    with pytest.raises(ValueError, match=r"line 1.*columns"):
        files.read_array(path)
    assert files.read_array(path, square=True).tolist() == [[0, 1], [0.5, 0.25]]
    path.write_text("0,1\n1,0.5\n0.5,1\n")
    with pytest.raises(ValueError, match=r"line 1.*columns"):
        files.read_array(path, square=True)
    path.write_text("0.0,1.0\n1,0.5\n0.5,1\n")
    assert files.read_array(path).shape == (3, 2)


def test_the_shell_takes_the_same_options(cli: Cli) -> None:
    expected = cli("solve", "mlsvm", "data.json", "--json")
    rows = numbered([[label, *x] for x, label in zip(X.tolist(), Y, strict=True)], range(N))
    Path("a.csv").write_text(lines(range(5), *rows))
    answer = cli("solve", "mlsvm", "a.csv", "--json")
    assert (answer.code, answer.out) == (2, "")
    assert "--header yes" in answer.err
    answer = cli("solve", "mlsvm", "a.csv", "--json", "--header", "yes")
    assert answer.code == 2
    assert "--index" in answer.err or "--label" in answer.err
    settled = ("--header", "yes", "--index", "yes", "--label", "first")
    assert cli("solve", "mlsvm", "a.csv", "--json", *settled) == expected
    np.save("m.npy", json.loads(expected.out)["metric"])
    for command in ("check", "evaluate"):
        assert cli(command, "mlsvm", "a.csv", "--metric", "m.npy", *settled).code == 0
        assert cli(command, "mlsvm", "a.csv", "--metric", "m.npy").code == 2
    assert cli("solve", "mlsvm", "iris", "--label", "first").code == 2


# the words of the command after the method, and what the line names
SAID: dict[str, tuple[list[str], list[str]]] = {
    "json": (
        ["data.json"],
        ["14 points", "3 features", "in y", "2 classes", "0 7, 1 7", "not standardized"],
    ),
    "csv": (
        ["kind.csv", "--standardize"],
        ["14 points", "3 features", "column 4", "'kind'", "2 classes", "blue 7, red 7", "; standardized"],
    ),
    "many": (
        ["many.csv", "--label", "last"],
        ["last column", "14 classes", "0 1, 1 1, 2 1, 3 1, 4 1, 5 1, 6 1, 7 1", "6 more"],
    ),
    "floats": (["floats.txt"], ["14 points", "3 features", "last column", "0 7, 1 7", "spaces"]),
    "set": (["balance"], ["625 points", "4 features", "3 classes", "-1 288, 0 49, 1 288"]),
    "escapes": (["escape.csv"], ["column 4", "'kind'", r"\x1b[31m 7", "x" * 21 + "... 7"]),
}


@pytest.mark.parametrize("case", SAID)
def test_what_was_read_is_said_in_one_line(cli: Cli, capsys: pytest.CaptureFixture[str], case: str) -> None:
    Path("kind.csv").write_text(lines("abcd", *with_labels(WORDS)).replace("d\n", "kind\n", 1))
    Path("many.csv").write_text(lines(*with_labels(range(N))))
    np.savetxt("floats.txt", np.column_stack([POINTS, Y]))
    strange = ["x" * 40 if label else "\x1b[31m" for label in Y]
    Path("escape.csv").write_text(lines(["a", "b", "c", "kind"], *with_labels(strange)))
    words, says = SAID[case]
    d = 4 if case == "set" else 3
    np.save("m.npy", np.eye(d))
    for command in (
        ["evaluate", "mlsvm", *words, "--metric", "m.npy"],
        ["check", "mcml", *words, "--metric", "x"],
    ):
        code = run(command)
        out, err = capsys.readouterr()
        if code == 0:
            assert err.startswith(f"data: {words[0]}")
            assert err.count("\n") == 1
            assert [token for token in says if token not in err] == []
            assert "points" not in out
        else:  # refused before any data were read
            assert err.startswith("cvxml: ")
            assert err.count("\n") == 1
    assert run(["evaluate", "mlsvm", *words, "--metric", "m.npy", "--json"]) == 0
    json.loads(capsys.readouterr().out)


# --- labels: what differs stays different ---


def labelled(labels: list[str], header: bool = True) -> str:
    return lines(
        *[["a", "b", "label"]] * header, *[[i + 0.5, i * i, label] for i, label in enumerate(labels)]
    )


@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        (["01", "1", "01", "1"], "U"),
        (["001", "002", "002", "001"], "U"),
        (["+1", "1", "+1", "1"], "U"),
        (["-0", "0", "0", "-0"], "U"),
        (["1", "2", "9223372036854775809", "9223372036854775808"], "U"),
        (["+1", "-1", "-1", "+1"], "i"),
        (["0", "1", "10", "0"], "i"),
        (["9007199254740993", "9007199254740992", "3", "3"], "i"),
    ],
)
def test_labels_that_differ_stay_different(
    tmp_path: Path, labels: list[str], kind: str, header: bool
) -> None:
    (tmp_path / "a.csv").write_text(labelled(labels, header))
    table = files.load_table(tmp_path / "a.csv", files.settled(label="last"))
    assert table.y.dtype.kind == kind
    assert table.y.tolist() == (labels if kind == "U" else [int(label) for label in labels])
    assert ("text" in table.written) == (kind == "U")


@pytest.mark.parametrize("labels", [["a", "a\0"], ["a", "a\0\0"], ["\0a", "a"], ["a\0b", "a"]])
def test_a_label_with_a_null_character_is_refused(tmp_path: Path, labels: list[str]) -> None:
    y = labels * 2
    (tmp_path / "a.csv").write_text(labelled(y))
    (tmp_path / "a.json").write_text(json.dumps({"X": [[0], [1], [2], [3]], "y": y}))
    for name in ("a.csv", "a.json"):
        with pytest.raises(ValueError, match=r"null character|NUL"):
            datasets.read(tmp_path / name)


def test_labels_that_differ_as_text_look_like_classes(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(labelled(["01", "1", "01", "1"], header=False))
    assert datasets.read(tmp_path / "a.csv")[1].tolist() == ["01", "1", "01", "1"]


@pytest.mark.parametrize(
    ("labels", "says"),
    [
        (["1", "1.0", "2", "2.0"], ["line 2", "'1'", "line 3", "'1.0'"]),
        (["1e0", "2", "1", "2"], ["line 2", "'1e0'", "line 4", "'1'"]),
        (["01", "1.0", "2", "2"], ["line 2", "'01'", "line 3", "'1.0'"]),
        (["9007199254740995.0", "1", "9007199254740995.0", "1"], ["line 2", "2^53"]),
        (["1.5", "2.5", "inf", "2.5"], ["line 4", "inf"]),
        (["1", "2.0", "1e999", "2.0"], ["line 4", "inf"]),
        (["x", "y", "", "y"], ["line 4", "empty"]),
        (["x", "y", "nan", "y"], ["line 4", "'nan'"]),
    ],
)
def test_labels_that_would_be_merged_rounded_or_missing(
    tmp_path: Path, labels: list[str], says: list[str]
) -> None:
    (tmp_path / "a.csv").write_text(labelled(labels))
    with pytest.raises(ValueError, match="'label'") as caught:
        datasets.read(tmp_path / "a.csv")
    assert [token for token in says if token not in str(caught.value)] == []


def test_real_targets_may_be_written_in_two_ways(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(labelled(["1.10", "1.1", "2", "2.0"]))
    assert datasets.read(tmp_path / "a.csv")[1].tolist() == [1.1, 1.1, 2.0, 2.0]


def test_labels_of_openml_that_differ_stay_different(monkeypatch: pytest.MonkeyPatch) -> None:
    fetching(monkeypatch, bunch(np.array(["01", "1"], dtype=object)))
    assert datasets.load("openml:some")[1].tolist() == ["01", "1"]
    for missing in (None, np.nan):
        fetching(monkeypatch, bunch(np.array(["a", missing], dtype=object)))
        with pytest.raises(ValueError, match="1 missing"):
            datasets.load("openml:some")


# --- cells that are no numbers ---


@pytest.mark.parametrize("cell", ["nan", "NaN", "inf", "-Infinity", "1e999"])
def test_a_feature_that_is_not_finite_is_refused_with_its_line(tmp_path: Path, cell: str) -> None:
    rows = with_labels()
    rows[4] = [rows[4][0], cell, *rows[4][2:]]
    for above, line in (("", 5), (lines("abcd"), 6), ("# mine\n\n" + lines("abcd"), 8)):
        (tmp_path / "a.csv").write_text(above + lines(*rows))
        with pytest.raises(ValueError, match=rf"line {line}\b.*column 2\b"):
            datasets.read(tmp_path / "a.csv")


FIRST: dict[str, list[str]] = {
    "dates": [f"2020-01-{i + 1:02d}" for i in range(N)],
    "days": [f"{i + 1}/2/2020" for i in range(N)],
    "months": [f"{1 + i % 12} Mar {2000 + i}" for i in range(N)],
    "times": [f"12:{i:02d}" for i in range(N)],
    "percent": [f"{i}.5%" for i in range(N)],
    "percent-again": [f"{i % 3} %" for i in range(N)],
    "money": [f"${i}.25" for i in range(N)],
    "thousands": [f'"{i + 1},250"' for i in range(N)],
    "words": [["low", "mid", "high"][i % 3] for i in range(N)],
    "names": [f"plant {i}" for i in range(N)],
}
MAY_NAME_ROWS = ("dates", "days", "months", "times", "names")


@pytest.mark.parametrize("labels", ["label", "kind"])
@pytest.mark.parametrize("case", FIRST)
def test_a_first_column_of_no_numbers_is_a_feature_unless_it_may_name_rows(
    tmp_path: Path, case: str, labels: str
) -> None:
    """Where index="yes" is offered, the message says that it leaves a feature out."""
    table = numbered(with_labels(), FIRST[case])
    (tmp_path / "a.csv").write_text(lines(["when", "a", "b", "c", labels], *table))
    with pytest.raises(ValueError, match=r"a\.csv") as caught:
        datasets.read(tmp_path / "a.csv")
    message = str(caught.value)
    assert ('index="yes"' in message) == (case in MAY_NAME_ROWS)
    assert ("features" in message) >= (case in MAY_NAME_ROWS)
    if labels == "label":
        assert "line 2, column 1" in message
        assert "number" in message


@pytest.mark.parametrize("case", [case for case in FIRST if case not in ("words", "names")])
def test_quantities_are_no_labels_unless_they_are_asked_for(tmp_path: Path, case: str) -> None:
    (tmp_path / "a.csv").write_text(lines("abcd", *with_labels(FIRST[case])))
    with pytest.raises(ValueError, match=r"line 2, column 4\b.*\blabel=.last"):
        datasets.read(tmp_path / "a.csv")
    asked = datasets.read(tmp_path / "a.csv", label="last")[1].tolist()
    assert asked == [cell.strip('"') for cell in FIRST[case]]
    (tmp_path / "b.csv").write_text(lines(*numbered(with_labels(WORDS), FIRST[case])))
    with pytest.raises(ValueError, match="line 1, column 1"):
        datasets.read(tmp_path / "b.csv", header="no")


@pytest.mark.parametrize("case", ["words", "names"])
def test_two_columns_of_words(tmp_path: Path, case: str) -> None:
    (tmp_path / "a.csv").write_text(lines("wabck", *numbered(with_labels(WORDS), FIRST[case])))
    with pytest.raises(ValueError, match=r"'w'.*'k'.*\blabel\b") as caught:
        datasets.read(tmp_path / "a.csv")
    assert ('index="yes"' in str(caught.value)) == (case == "names")
    assert datasets.read(tmp_path / "a.csv", index="yes")[1].tolist() == WORDS


def test_words_beside_numbers_that_look_like_classes(tmp_path: Path) -> None:
    table = numbered(with_labels(), WORDS)
    (tmp_path / "a.csv").write_text(lines(["sex", "a", "b", "c", "rings"], *table))
    with pytest.raises(ValueError, match=r"'sex'.*'rings'.*\blabel\b"):
        datasets.read(tmp_path / "a.csv")
    assert datasets.read(tmp_path / "a.csv", label="sex")[1].tolist() == WORDS


# --- --out, before any work ---


@pytest.mark.parametrize(
    ("out", "says"),
    [
        ("no/such/out.json", "no folder"),
        ("out.txt", ".json, .npz, .npy, .csv"),
        ("out", ".json, .npz, .npy, .csv"),
        ("folder.json", "a folder"),
        ("data.json/out.json", "no folder"),
        ("shut/out.npz", "Permission denied"),
    ],
)
def test_out_is_looked_at_before_any_work(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, out: str, says: str
) -> None:
    def never(*_: Any, **__: Any) -> None:
        raise AssertionError("work was done")

    Path("folder.json").mkdir()
    Path("shut").mkdir()
    if says == "Permission denied":
        real: Callable[..., Any] = open

        def shut(name: Any, *mode: Any, **more: Any) -> Any:
            if "shut" in str(name):
                raise PermissionError(13, "Permission denied")
            return real(name, *mode, **more)

        monkeypatch.setattr("builtins.open", shut)
    for place in ("cvxml.solve", "cvxml.core.files.load_table", "cvxml.datasets.find"):
        monkeypatch.setattr(place, never)
    answer = cli("solve", "lmnn", "iris", "--out", out)
    assert answer.code == 2
    assert says in answer.err
    assert out in answer.err
    assert answer.err.count("\n") == 1
    assert not list(Path().glob("**/.cvxml-*"))


def test_junit_is_looked_at_before_any_work(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cvxml.oracle.conform.conform_case", lambda *_, **__: pytest.fail("work was done"))
    answer = cli("conform", "--junit", "no/such.xml", "--only", "mlsvm-line", "--", "true")
    assert answer.code == 2
    assert "no/such.xml" in answer.err
    assert "folder" in answer.err


def test_out_leaves_what_is_there_until_it_is_written(cli: Cli) -> None:
    Path("out.json").write_text("old")
    assert cli("solve", "mlsvm", "data.json", "--lam", "-1", "--out", "out.json").code == 2
    assert Path("out.json").read_text() == "old"


def test_a_disk_that_fills_up_loses_the_file_and_not_the_work(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "disk full")

    monkeypatch.setattr("cvxml.core.files.writing.os.fsync", full)
    answer = cli("solve", "mlsvm", "data.json", "--out", "out.json", "--json")
    assert answer.code == 2
    assert "disk full" in answer.err
    assert len(json.loads(answer.out)["metric"]) == 3
    assert not Path("out.json").exists()
