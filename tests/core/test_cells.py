"""Lines of cells as people have them: every separator, decimal commas, encodings; and what is refused."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cvxml import datasets
from cvxml.core import files
from tests.cli.commands import Cli
from tests.core.test_files import attempt, put, refusal

POINTS = [[5.1, 3.5], [4.9, 3.0], [7.25, 3.2], [6.4, 3.15]]
KINDS = ["grün", "grün", "blau", "blau"]
SIGNS = {"comma": ",", "semicolon": ";", "tab": "\t", "space": "  "}


def written(separator: str = ",", mark: str = ".", header: bool = True) -> str:
    rows = [[str(x).replace(".", mark) for x in point] for point in POINTS]
    table = [[*row, kind] for row, kind in zip(rows, KINDS, strict=True)]
    return "".join(separator.join(row) + "\n" for row in [["länge", "breite", "art"]] * header + table)


def read(path: Path, **asked: Any) -> tuple[str, files.Table]:
    """What is said of how the file is written, and the table: always the same one."""
    table = files.load_table(path, files.settled(**asked))
    assert table.X.tolist() == POINTS
    assert table.y.tolist() == KINDS
    return table.written, table


@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.txt.gz", "wine.data"])
@pytest.mark.parametrize("separator", SIGNS)
def test_the_separator_is_found(tmp_path: Path, separator: str, name: str, header: bool) -> None:
    content = written(SIGNS[separator], header=header).encode()
    path = put(tmp_path / name, gzip.compress(content) if name.endswith(".gz") else content)
    said, _ = read(path)
    assert (separator in said) if separator != "comma" else (said == "")
    assert read(path, separator=separator)[0] == said


@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("separator", ["semicolon", "tab"])
def test_decimal_commas_are_read(tmp_path: Path, separator: str, header: bool) -> None:
    path = put(tmp_path / "a.csv", written(SIGNS[separator], ",", header))
    said = read(path)[0]
    assert separator in said
    assert "decimal commas" in said
    assert read(path, decimal="comma")[0] == said
    assert attempt(lambda: files.read_table(path, decimal="point"))[1]


@pytest.mark.parametrize(
    ("text", "asked", "says"),
    [
        # thousands in English, thousandths elsewhere
        ("a;b;k\n1,234;2;x\n2,345;3;y\n", {}, ["'1,234'", "1.234", "1234", "--decimal"]),
        # German thousands and decimals, and a slip
        ("a;b;k\n1.234;2,5;x\n2.345;3,5;y\n", {}, ["line 2", "'2,5'", "'1.234'"]),
        ("a;b;k\n1;2,5;x\n2.3;3,5;y\n", {}, ["line 3", "'2.3'", "'2,5'"]),
        ("a;b;k\n1.5;2;x\n2.3;3;y\n", {"decimal": "comma"}, ["'1.5'", "decimal"]),
        # names with commas, or cells with semicolons
        ("a, cm;b, cm;k\n1;2;x\n", {}, ["--separator", "comma", "semicolon"]),
        ("1,a;b\n2,a;c\n", {}, ["--separator", "comma", "semicolon"]),
        ("a\tb;c\n1\t2;3\n", {}, ["--separator", "semicolon", "tab"]),
        ("a;b;k\n1;2;x\n", {"separator": "comma"}, ["one column"]),
        ("a;b;k\n1;2;x\n", {"separator": ";"}, ["separator", "';'", "'comma'", "'semicolon'"]),
        ("a;b;k\n1;2;x\n", {"decimal": "dot"}, ["decimal", "'dot'", "'point'", "'comma'"]),
        ("a;b;k\n1;2;x\n", {"encoding": "klingon"}, ["encoding", "'klingon'"]),
        # R's write.table: no name above those of the rows
        ('"a" "b" "k"\n"1" 1.5 2.5 "x"\n', {}, ["line 2", " 4 ", " 3"]),
        ("1 1:0.5 2:1\n2 1:0.25 3:1\n", {}, ["'1:0.5'"]),  # libsvm
        ("a,b,k\n1,?,x\n2,3,y\n", {}, ["line 2", "column 2", "'?'", "drop"]),
        ("a,b,k\n1,,x\n2,3,y\n", {}, ["line 2", "column 2", "empty", "drop"]),
        # a missing label is no class
        ("a,b,k\n1.5,2,x\n2,3,NA\n3,1,y\n4,1,NA\n", {}, ["'NA'", "2 row", "row 2"]),
        ("a,b,k\n1.5,2,1\n2,3,?\n3,1,2\n", {"label": "last"}, ["'?'", "1 row"]),
        ("a,b,k\n1.5,2,x\n2,3,None\n3,1,y\n", {}, ["'None'", "class"]),
    ],
)
def test_what_is_no_table_or_two_is_refused(
    tmp_path: Path, text: str, asked: dict[str, str], says: list[str]
) -> None:
    path = put(tmp_path / "a.csv", text)
    table, message = attempt(lambda: datasets.read(path, **asked))  # type: ignore[arg-type]
    assert table is None
    assert [token for token in says if token not in message] == []
    assert "\n" not in message


def test_signs_are_labels(tmp_path: Path) -> None:
    path = put(tmp_path / "a.csv", "a,b,k\n1.5,2,+\n2,3,-\n3,1,+\n")
    assert datasets.read(path)[1].tolist() == ["+", "-", "+"]
    put(path, "a,b,k\n1.5,2,x\n2,3,-\n3,1,y\n")
    assert "'-'" in refusal(files.read_table, path)


def test_what_settles_it_is_read(tmp_path: Path) -> None:
    path = put(tmp_path / "a.csv", "a;b;k\n1,234;2;x\n2,345;3;y\n")
    assert datasets.read(path, decimal="comma")[0].tolist() == [[1.234, 2.0], [2.345, 3.0]]
    put(path, "a, cm;b, cm;k\n1;2,5;x\n3;4,5;y\n")
    assert datasets.read(path, separator="semicolon")[0].tolist() == [[1.0, 2.5], [3.0, 4.5]]


def test_a_comma_in_quotes_separates_nothing(tmp_path: Path) -> None:
    path = put(tmp_path / "a.csv", '"a;b","c, d",k\n1,2,"x;y, z"\n3,4,w\n')
    X, y = datasets.read(path)
    assert X.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert y.tolist() == ["x;y, z", "w"]
    put(path, 'a;b;k\n"1,5";2;x\n3;4;w\n')
    assert datasets.read(path)[0].tolist() == [[1.5, 2.0], [3.0, 4.0]]


def test_encodings(tmp_path: Path) -> None:
    text = written(";", ",")
    path = put(tmp_path / "a.csv", text.encode("utf-8-sig"))  # as Excel has it
    said = read(path)[0]
    put(path, text.encode("latin-1"))
    message = refusal(files.read_table, path)
    for token in ("line 1", "0xe4", "UTF-8", "--encoding"):
        assert token in message
    assert read(path, encoding="latin-1")[0] == f"{said}, latin-1"
    put(path, text.encode("utf-16"))
    message = refusal(files.read_table, path)
    assert "UTF-16" in message
    assert "UTF-8" in message
    put(path, b"1;2\n3;\xe4\n")  # a matrix has no options
    message = refusal(files.read_array, path)
    for token in ("line 2", "0xe4", "UTF-8"):
        assert token in message
    assert "--encoding" not in message


def test_the_line_with_which_excel_names_the_separator(tmp_path: Path) -> None:
    path = put(tmp_path / "a.csv", "sep=|\n" + written("|"))
    assert read(path)[0] == "|s between cells"
    assert "line 4, column 2" in refusal(files.read_table, put(path, "sep=;\na;b;k\n1;1;y\n2;?;w\n"))


@pytest.mark.parametrize("separator", SIGNS)
def test_a_matrix_by_any_program(tmp_path: Path, separator: str) -> None:
    M = np.array([[1.5, -2e-17], [-2e-17, 3.0]])
    buffer = io.StringIO()
    np.savetxt(buffer, M, delimiter=SIGNS[separator])
    assert np.array_equal(files.read_array(put(tmp_path / "m.csv", buffer.getvalue())), M)
    if separator in ("semicolon", "tab"):
        put(tmp_path / "m.csv", buffer.getvalue().replace(".", ","))
        assert np.array_equal(files.read_array(tmp_path / "m.csv"), M)
    message = refusal(files.read_array, put(tmp_path / "m.csv", "1,234;2,345\n3,456;4,567\n"))
    assert "'1,234'" in message
    assert "--" not in message


def test_pandas_writes_what_is_read(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    random = np.random.default_rng(0)
    X, y = random.standard_normal((40, 3)), random.integers(0, 3, 40)
    frame = pandas.DataFrame(X, columns=["a", "b", "c"]).assign(label=y)
    for how in ({}, {"sep": ";"}, {"sep": "\t"}, {"sep": ";", "decimal": ","}, {"quoting": 1}):
        frame.to_csv(tmp_path / "a.csv", index=False, **how)
        again = datasets.read(tmp_path / "a.csv")
        assert np.array_equal(again[0], X)
        assert np.array_equal(again[1], y)
        frame.to_csv(tmp_path / "a.csv", **how)
        with pytest.raises(ValueError, match="--index yes"):
            datasets.read(tmp_path / "a.csv")
        assert np.array_equal(datasets.read(tmp_path / "a.csv", index="yes")[0], X)


def test_the_shell_says_how_it_was_written(cli: Cli, capsys: pytest.CaptureFixture[str]) -> None:
    from cvxml.cli.main import run

    Path("a.csv").write_bytes(written(";", ",").encode("latin-1"))
    np.save("m.npy", np.eye(2))
    words = ["evaluate", "mlsvm", "a.csv", "--metric", "m.npy", "--n-neighbors", "1"]
    assert run(words) == 2
    assert run([*words, "--encoding", "latin-1"]) == 0
    said = capsys.readouterr().err.splitlines()[-1]
    for token in ("a.csv", "4 points", "2 features", "'art'", "2 classes", "blau 2", "grün 2"):
        assert token in said
    for token in ("semicolons", "decimal commas", "latin-1", "not standardized"):
        assert token in said
