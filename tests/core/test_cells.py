"""Lines of cells as people have them: every separator, decimal commas, encodings; and what is refused."""

from __future__ import annotations

import csv
import gzip
import io
import re
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
        ("a;b;k\n1,234;2;x\n2,345;3;y\n", {}, ["'1,234'", "1.234", "1234", "decimal"]),
        # German thousands and decimals, and a slip
        ("a;b;k\n1.234;2,5;x\n2.345;3,5;y\n", {}, ["line 2", "'2,5'", "'1.234'"]),
        ("a;b;k\n1;2,5;x\n2.3;3,5;y\n", {}, ["line 3", "'2.3'", "'2,5'"]),
        ("a;b;k\n1.5;2;x\n2.3;3;y\n", {"decimal": "comma"}, ["'1.5'", "decimal"]),
        # names with commas, or cells with semicolons
        ("a, cm;b, cm;k\n1;2;x\n", {}, ["separator", "comma", "semicolon"]),
        ("1,a;b\n2,a;c\n", {}, ["separator", "comma", "semicolon"]),
        ("a\tb;c\n1\t2;3\n", {}, ["separator", "semicolon", "tab"]),
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
    put(path, 'a,b,k\n1,2,"x\ry"\n3,4,w\n')  # nor does a carriage return
    assert datasets.read(path)[1].tolist() == ["x\ry", "w"]
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
        with pytest.raises(ValueError, match=r"index=.yes"):
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


# --- comments ---

DATA = "1.5,2,1\n2,3,1\n3,4,2\n4,5.5,2\n"
FEATURES = [[1.5, 2.0], [2.0, 3.0], [3.0, 4.0], [4.0, 5.5]]
COMMENTED: dict[str, str] = {
    "prose": "# measured in May\n" + DATA,
    "two-and-a-blank-line": "# measured in May\n\n  # and June\n" + DATA,
    "empty": "#\n" + DATA,
    "names": "# a,b,kind\n" + DATA,
    "names-without-a-blank": "#a,b,kind\n" + DATA,
    "prose-and-names": "# measured in May, June\n# a,b,kind\n" + DATA,
    "fewer-names": "# a,b\n" + DATA,
    "prose-above-a-header": "# measured in May\na,b,kind\n" + DATA,
    "names-above-a-header": "# x,y,z\n# 1,2,3\na,b,kind\n" + DATA,
    "spaces": "# a b kind\n" + DATA.replace(",", " "),
    "tabs": "#a\tb\tkind\n" + DATA.replace(",", "\t"),
    "prose-with-the-other-separator": "# a; b\n" + DATA,
    "quotes": '# it is "so-called" data\n' + DATA,
}


@pytest.mark.parametrize("header", [None, "yes"])
@pytest.mark.parametrize("case", COMMENTED)
def test_a_comment_above_the_data_is_no_point(tmp_path: Path, case: str, header: str | None) -> None:
    path = put(tmp_path / "a.csv", COMMENTED[case])
    has_names = "names" in case or "header" in case or case in ("spaces", "tabs")
    if has_names and case != "fewer-names":
        table = files.load_table(path, files.settled(header=header))
        assert table.X.tolist() == FEATURES
        assert table.y.tolist() == [1, 1, 2, 2]
        assert "'kind'" in table.where
        assert datasets.read(path, header=header, label="kind")[1].tolist() == [1, 1, 2, 2]
    elif header is None:
        table = files.load_table(path)
        assert table.X.tolist() == FEATURES
        assert "'" not in table.where
    else:  # asked for a header, there is the first line that is no comment
        assert datasets.read(path, header=header, label="last", index="no")[0].tolist() == FEATURES[1:]


def test_names_in_a_comment_say_where_the_labels_are(tmp_path: Path) -> None:
    path = put(tmp_path / "a.csv", "# label,a,b\n1,1.5,7\n2,2.5,7\n1,3.5,8\n2,4.5,8\n")
    X, y = datasets.read(path)
    assert y.tolist() == [1, 2, 1, 2]
    assert X.tolist() == [[1.5, 7.0], [2.5, 7.0], [3.5, 8.0], [4.5, 8.0]]
    assert "label" in attempt(lambda: datasets.read(path, header="no"))[1]  # the names do not count then


def test_numpy_writes_a_header_that_is_read(tmp_path: Path) -> None:
    for separator in (" ", ",", ";", "\t"):
        table = np.column_stack([FEATURES, [1, 1, 2, 2]])
        np.savetxt(tmp_path / "a.txt", table, delimiter=separator, header=separator.join(["u", "v", "class"]))
        read_table = files.load_table(tmp_path / "a.txt")
        assert read_table.X.tolist() == FEATURES
        assert "'class'" in read_table.where
        np.savetxt(tmp_path / "m.txt", FEATURES, delimiter=separator, header="two lines\nof prose")
        assert files.read_array(tmp_path / "m.txt").tolist() == FEATURES
        np.savetxt(
            tmp_path / "p.txt", [[0, 1], [2, 3]], fmt="%d", delimiter=separator, header="pairs of mine"
        )
        assert np.asarray(files.read_indices(tmp_path / "p.txt")).tolist() == [[0, 1], [2, 3]]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("#1.5,2,1\n" + DATA, ["line 1", "#"]),  # a point that was left out, or one of a class #1.5
        ("# 0,1,2\n" + DATA, ["line 1", "#"]),
        ("#x,2,3.5\nred,3,4\n#x,4,5\n", ["line 1", "#"]),
        ("# a,b,label\n# label,a,b\n" + DATA, ["lines 1 and 2", "#"]),
        ("a,b,label\n# prose\n" + DATA, ["line 2", "#"]),
        (DATA + "# the end\n", ["line 5", "#"]),
        ("kind,a,b\nx,1.5,2\n#y,2,3\nx,3,4\ny,4,5.5\n", ["line 3", "#"]),
        ("kind,a,b\n\n#x,1.5,2\n#y,2,3\nx,3,4\ny,4,5.5\n", ["line 3", "line 5", "#"]),
        ("# only\n# prose\n", ["#"]),
        ("a,b,label\n1.5,2,1 # seen twice\n2,3,1\n3,4,2\n", ["line 2", "'1 # seen twice'"]),
        ("a,b,label\n1.5,2,x y\n2,3,x y # twice\n3,4,z\n", ["line 3", "'x y # twice'"]),
    ],
)
def test_a_comment_that_may_be_data_is_refused(tmp_path: Path, text: str, says: list[str]) -> None:
    message = refusal(files.read_table, put(tmp_path / "a.csv", text))
    assert [token for token in says if token not in message] == []


def test_labels_may_begin_with_a_number_sign(tmp_path: Path) -> None:
    path = put(tmp_path / "a.csv", "kind,a,b\n#x,2,3.5\n#y,3,4\n#x,3,4\n#y,4,5\n")
    assert datasets.read(path)[1].tolist() == ["#x", "#y", "#x", "#y"]
    put(path, "a,b,kind\n2,3.5,C #\n3,4,F #\n3,4,C #\n")
    assert datasets.read(path)[1].tolist() == ["C #", "F #", "C #"]


def test_comments_without_end_are_refused(tmp_path: Path) -> None:
    path = put(tmp_path / "a.csv.gz", gzip.compress(b"#\n" * 200_000 + DATA.encode()))
    assert "100001" in refusal(files.read_table, path)


# --- empty cells and columns ---


@pytest.mark.parametrize("header", ["", "a\t\tb\tlabel\n"])
def test_two_tabs_between_two_cells(tmp_path: Path, header: str) -> None:
    text = header + DATA.replace(",", "\t").replace("\t", "\t\t").replace("\t\t1\n", "\t1\n").replace(
        "\t\t2\n", "\t2\n"
    )
    message = refusal(files.read_table, put(tmp_path / "a.tsv", text))
    for token in ("lines 1 and 2", "column 2", "empty", "tab"):
        assert token in message
    message = refusal(files.read_array, put(tmp_path / "m.tsv", "1.5\t\t2\n3\t\t4\n"))
    for token in ("lines 1 and 2", "column 2", "empty", "tab"):
        assert token in message


def test_a_separator_at_the_end_of_every_line(tmp_path: Path) -> None:
    message = refusal(files.read_table, put(tmp_path / "a.csv", "a,b,label,\n" + DATA.replace("\n", ",\n")))
    for token in ("lines 1 and 2", "column 4", "empty"):
        assert token in message


def test_tabs_that_line_cells_up(tmp_path: Path) -> None:
    message = refusal(files.read_table, put(tmp_path / "a.tsv", "1.5\t\t2\t1\n100.25\t3\t1\n3\t\t4\t2\n"))
    for token in ("line 2", "empty", "tab"):
        assert token in message


BLANKS = [
    chr(code) for code in range(0x80, 0x3001) if chr(code).isspace()
]  # such as the no-break space of web pages


@pytest.mark.parametrize("blank", BLANKS, ids=ascii)
def test_a_blank_of_any_kind_beside_a_number_is_no_part_of_it(tmp_path: Path, blank: str) -> None:
    path = put(tmp_path / "a.csv", f"a,b,k\n1.5{blank},{blank}2,x\n{blank}3{blank},4,{blank}y\n")
    X, y = files.read_table(path)
    assert X.tolist() == [[1.5, 2.0], [3.0, 4.0]]
    assert y.tolist() == ["x", "y"]
    assert files.read_array(put(path, f"1.5{blank},2\n{blank}3,4\n")).tolist() == [[1.5, 2.0], [3.0, 4.0]]
    for header in ("a;b;k\n", ""):
        put(path, f"{header}1,5{blank};{blank}2,25;x\n{blank}3;4;y\n")
        assert files.read_table(path)[0].tolist() == [[1.5, 2.25], [3.0, 4.0]]


@pytest.mark.parametrize("sign", ["\u200b", "\u2060", "\ufeff", "\u00ad"], ids=ascii)
def test_a_sign_without_width_beside_a_number_is_shown(tmp_path: Path, sign: str) -> None:
    message = refusal(files.read_table, put(tmp_path / "a.csv", f"a,b,k\n1.5,2,x\n1.5{sign},4,y\n"))
    assert "line 3, column 1" in message
    assert ascii(sign)[1:-1] in message


WIDE = ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-be", "cp037")


@pytest.mark.parametrize("name", ["a.csv", "a.txt.gz"])
@pytest.mark.parametrize("encoding", WIDE)
def test_an_encoding_whose_line_ends_are_not_one_byte(tmp_path: Path, encoding: str, name: str) -> None:
    for text in (written(), written(";", ","), written().replace("\n", "\r\n"), "# by me\n\n" + written()):
        for mark in ("", "\ufeff" if encoding[:3] == "utf" else ""):
            content = (mark + text).encode(encoding)
            path = put(tmp_path / name, gzip.compress(content) if name.endswith(".gz") else content)
            assert encoding in read(path, encoding=encoding)[0]
    content = written().replace("4.9", "x").encode(encoding)
    put(path, gzip.compress(content) if name.endswith(".gz") else content)
    assert "line 3, column 1" in refusal(lambda p: files.read_table(p, encoding=encoding), path)


def test_utf_16_is_refused_with_the_option_that_reads_it(tmp_path: Path) -> None:
    path = put(tmp_path / "a.csv", written().encode("utf-16"))
    assert "--encoding utf-16" in refusal(files.read_table, path)
    with pytest.raises(ValueError, match='encoding="utf-16"'):
        datasets.read(path)
    assert "--encoding" not in refusal(files.read_array, path)  # a matrix has no options
    for content in (
        written().encode(),
        written().encode("utf-16")[:-1],
        b"\xff\xfe" + b"a\0\n\0" + b"\0\xdc" * 9,
    ):
        put(path, content)
        assert "utf-16" in refusal(lambda p: files.read_table(p, encoding="utf-16"), path)


def test_a_line_of_utf_16_may_not_be_endless(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path / "a.csv", ("1," * 2000 + "2\n").encode("utf-16"))
    monkeypatch.setattr("cvxml.core.files.cells.MAX_LINE_BYTES", 1000)
    assert "1000 bytes" in refusal(lambda p: files.read_table(p, encoding="utf-16"), path)
    monkeypatch.undo()
    put(path, ("1,2\n" * 9999).encode("utf-16"))
    monkeypatch.setattr("cvxml.core.files.common.MAX_BYTES", 1000)
    assert "1000 in all" in refusal(lambda p: files.read_table(p, encoding="utf-16"), path)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("separator", [",", ";", "\t", " "])
@pytest.mark.parametrize(
    ("row", "line", "column"),
    [
        (["1", '"2"x', "7"], 3, 2),
        (['"1"x', "2", "7"], 3, 1),
        (['"1"', '"a""b"x', "7"], 3, 2),
        (["1", "2", '"a""b"c'], 3, 3),
        (["1", '2"and3"', '"7'], 3, 3),
        (['"1', "2", "7"], 3, 1),
        (['"1\n\n"', '"2"x', "7"], 5, 2),
        (['"1\n\n"', '"2', "7"], 3, 2),
    ],
)
def test_a_quote_in_a_wrong_place_is_found(
    tmp_path: Path, row: list[str], line: int, column: int, separator: str, packed: bool
) -> None:
    lines = [["a", "b", "label"], ["1", "2", "7"], row, ["3", "4", "8"]]
    content = "".join(separator.join(cells) + "\n" for cells in lines).encode()
    path = put(tmp_path / f"a.csv{'.gz' * packed}", gzip.compress(content) if packed else content)
    for reader in (files.read_table, files.read_array):
        assert f"line {line}, column {column}:" in refusal(reader, path)


@pytest.mark.parametrize("separator", [",", "\t", " "])
@pytest.mark.parametrize("drop", [None, "notes"])
def test_a_cell_that_is_too_long_is_found(tmp_path: Path, drop: str | None, separator: str) -> None:
    limit, path = csv.field_size_limit(), tmp_path / "a.csv"

    def text(cell: str) -> str:
        lines = [["a", "notes", "b", "label"], ["1", "hi", "2", "x"], ["3", cell, "4", "y"]]
        return "".join(separator.join(cells) + "\n" for cells in lines)

    def refused(cell: str) -> str:
        message = refusal(lambda p: files.read_table(p, drop=drop), put(path, text(cell)))
        assert str(limit) in message
        assert "header" not in message
        return message

    assert files.read_table(put(path, text("w" * limit)), drop="notes")[0].tolist() == [
        [1.0, 2.0],
        [3.0, 4.0],
    ]
    assert "line 3, column 2:" in refused("w" * (limit + 1))
    assert "line 3, column 2:" in refused(f'"{"w, " * limit}"')
    found = re.search(r"lines 3 to (\d+), column 2:", refused('"w' + "\n1" * limit))  # nobody closed a quote
    assert found
    assert limit / 2 < int(found[1]) < limit
    assert csv.field_size_limit() == limit


def test_a_damaged_gzip_file_gets_no_advice_about_cells(tmp_path: Path) -> None:
    path, whole = tmp_path / "a.csv.gz", gzip.compress(written().encode() * 50)
    damaged = {
        "cut": whole[: len(whole) // 2],
        "end": whole[:-5],
        "sum": whole[:-8] + b"\0\0\0\0" + whole[-4:],
    }
    damaged |= {"within": whole[:12] + b"\xff" * 9 + whole[21:], "behind": whole + b"more"}
    for content in damaged.values():
        message = refusal(files.read_table, put(path, content))
        assert "compressed" in message
        assert "header" not in message
    message = refusal(files.read_table, put(path, written()))
    assert "gzip" in message
    assert "header" not in message
