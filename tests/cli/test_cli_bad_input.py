"""The command line: bad usage, bad values and bad files are one line and exit code 2."""

from __future__ import annotations

import io
import json
import os
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cvxml
from cvxml.cli.main import _parser, run
from cvxml.core.short_repr import PRINTED
from cvxml.methods import names
from cvxml.oracle.conform import SAID
from tests.cli.commands import GRID, Cli, X, Y, refused, solved

BAD_USAGE = {
    "no-command": "",
    "unknown-command": "prove",
    "no-data": "solve mlsvm",
    "unknown-method": "solve MLSVN data.json",
    "unknown-method-shown": "show lmnn2",
    "unknown-option": "solve mlsvm data.json --lambda 1",
    "foreign-parameter": "solve mlsvm data.json --degree 2",
    "unknown-set": "solve mlsvm nothing",
    "missing-file": "solve mlsvm nothing.csv",
    "folder": "solve mlsvm .",
    "label-not-in-csv": "solve mlsvm data.json --label y",
    "unwritable": "solve mlsvm data.json --out no/such/folder/out.json",
    "out-ending": "solve mlsvm data.json --out out.txt",
    "out-too-long": f"solve mlsvm data.json --out {'a' * 300}.json",
    "lists-missing": "solve mlsvm data.json --neighbors nothing.json",
    "check-nothing": "check mlsvm data.json",
    "check-both": "check mlsvm data.json --metric m.npy --components m.npy",
    "check-shape": "check mlsvm grid.json --metric m.npy",
    "check-tol": "check mlsvm data.json --metric m.npy --tol tight",
    "check-value": "check mlsvm data.json --claimed-objective nan",
    "evaluate-nothing": "evaluate mlsvm data.json",
    "evaluate-t": "evaluate mlsvm data.json --metric m.npy -t 0",
    "certify-tol": "certify s.json --tol tight",
    "certify-data": "certify data.json",
    "certify-metric": "certify m.npy",
    **{
        f"solve-{option}-{value}": f"solve kernel_mlsvm data.json --{option} {value}"
        for option, values in {
            "lam": "0 -1 nan inf 1e999 x 1e-250",
            "n-neighbors": "0 -1 2.5 x 14 1e3",
            "neighborhood": "KNN x",
            "tol": "0 -1 nan inf x",
            "max-iter": "0 -1 1.5 x",
            "solver": "mosek FAST",
            "kernel": "linear",
            "degree": "0 6 1.5",
            "gamma": "0 -1 nan x",
            "warm-start": "nothing.json data.json m.npy",
        }.items()
        for value in values.split()
    },
}


@pytest.mark.parametrize("case", BAD_USAGE)
def test_bad_usage_is_one_line_and_code_2(cli: Cli, case: str) -> None:
    np.save("m.npy", np.eye(3))
    solved("mlsvm").save("s.json")
    before = sorted(os.listdir())
    words = BAD_USAGE[case].split()
    answer = cli(*words, *(["--out", "out.json"] if words[:1] == ["solve"] and "--out" not in words else []))
    assert refused(answer), answer
    assert sorted(os.listdir()) == before


WORDS = {
    "solve": ["mlsvm", "data.json"],
    "check": ["mlsvm", "data.json"],
    "evaluate": ["mlsvm", "data.json"],
    "certify": ["s.json"],
    "data": ["data.json"],
    "cases": [],
    "conform": ["true"],
    "demo": [],
}


@pytest.mark.parametrize("command", WORDS)
def test_an_option_with_an_empty_value_is_refused(cli: Cli, command: str) -> None:
    """It may be a variable of the shell that is not set; without the option, the command would do something else."""
    solved("mlsvm").save("s.json")
    parser = _parser([command]).get_default("commands")[command]
    options = [one.option_strings[-1] for one in parser._actions if one.option_strings and one.nargs != 0]
    assert options
    for words in ([f"{options[0]}="], *([option, ""] for option in options)):
        answer = cli(command, *words, *WORDS[command])
        assert refused(answer), (words, answer)


def npy(array: Any) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=True)
    return buffer.getvalue()


def npz(**members: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return buffer.getvalue()


PICKLE = npy(np.array([{"a": 1}] * 3, dtype=object))
# a header of the same length that declares far more than the file holds
BOMB = npy(np.zeros((1, 1))).replace(b"(1, 1), }            ", b"(999999, 999999), }  ")
HOSTILE: dict[str, bytes] = {
    "pickle.npy": PICKLE,
    "pickle.npz": npz(X=PICKLE, y=PICKLE, metric=PICKLE, header=PICKLE),
    "bomb.npy": BOMB,
    "bomb.npz": npz(X=BOMB, y=npy(Y), metric=BOMB),
    "complex.npz": npz(X=npy(X + 0j), y=npy(Y)),
    "empty.npz": npz(),
    "text.npz": b"not a zip file",
    "nan.json": b'{"X": [[NaN]], "y": [0], "metric": [[NaN]], "neighbors": [[NaN]], "format": "cvxml-solution"}',
    "infinity.json": b'{"X": [[1e999]], "y": [0], "metric": [[-1e999]], "neighbors": [[1e999]]}',
    "twice.json": b'{"X": [[0]], "X": [[1]], "y": [0], "metric": [[0]], "metric": [[1]]}',
    "deep.json": b"[" * 10**5 + b"]" * 10**5,
    "cut.json": b'{"X": [[0, 1], [2',
    "null.json": b"null",
    "latin.json": '{"é": 1}'.encode("latin-1"),
    "empty.json": b"",
    "nan.csv": b"a,b,label\n1,nan,0\n2,3,1\n",
    "inf.csv": b"a,b,label\n1,1e999,0\n2,3,1\n",
    "words.csv": b"a,b,label\n1,x,0\n2,3,1\n",
    "ragged.csv": b"a,b,label\n1,0\n2,3,1\n",
    "empty.csv": b"",
    "cut.csv.gz": b"\x1f\x8b\x08\x00",
    "program.pkl": PICKLE,
}
ROLES = {
    "data": "solve mlsvm {} --out out.json",
    "metric": "check mlsvm data.json --metric {}",
    "components": "evaluate kernel_mlsvm data.json --components {}",
    "neighbors": "solve mlsvm data.json --neighbors {} --out out.npz",
    "warm-start": "solve mlsvm data.json --warm-start {} --out out.json",
    "file": "certify {}",
}


@pytest.mark.quick(45)
@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("role", ROLES)
def test_hostile_files_are_one_line_and_code_2(cli: Cli, role: str, name: str) -> None:
    Path(name).write_bytes(HOSTILE[name])
    answer = cli(*ROLES[role].format(name).split())
    assert refused(answer), answer
    assert not Path("out.json").exists()
    assert not Path("out.npz").exists()


@pytest.mark.parametrize("labels", ["0.5 0.25", "1 nan", "1 1", "1e400 2", "1,2 3"])
def test_bad_labels_in_csv(cli: Cli, labels: str) -> None:
    rows = [f"{a},{b},{c}" for (a, b), c in zip(GRID, labels.split() * 7, strict=True)]
    Path("l.csv").write_text("\n".join(["a,b,label", *rows]))
    assert refused(cli("solve", "mlsvm", "l.csv", "--out", "out.json"))
    assert not Path("out.json").exists()


EVIL = "\x1b[31m\x07\u202e\x9b2J" + "x" * 200  # red, a bell, right to left, clear the screen; and too long


def wrote_evil() -> None:
    """Files whose strings a terminal would obey, and folders and files with such names."""
    labels = [f"{EVIL[:20]}{code}{EVIL}" for code in Y]
    points = X.tolist()
    rows = [f"{a},{b},{label}" for (a, b, *_), label in zip(points, labels, strict=True)]
    saved = solved("mlsvm").to_dict()
    case = json.loads((Path(cvxml.__file__).parent / "cases" / "mlsvm-line.json").read_text())
    np.save("m.npy", np.eye(3))
    np.savez("keys.npz", **{EVIL: np.eye(2)})
    contents: dict[str, object] = {
        "labels.json": {"X": points, "y": labels},
        "single.json": {"X": points, "y": [labels[0], *[f"b{EVIL}"] * 13]},
        "same.json": {"X": points, "y": [f"a{EVIL}"] * 14},
        "keys.json": {EVIL: 1},
        "mixed.json": {"X": points, "y": [1, EVIL, *labels[2:]]},
        "value.json": {"X": [[EVIL, 0], [1, 1]], "y": [0, 1]},
        "method.json": {**saved, "method": EVIL},
        "parameter.json": {**saved, "params": {EVIL: EVIL}},
        "setting.json": {**saved, "params": {**saved["params"], "neighborhood": EVIL}},
        "lam.json": {**saved, "params": {**saved["params"], "lam": EVIL}},
        "version.json": {**saved, "version": EVIL},
        f"{EVIL}.json": {"X": EVIL},
        f"{EVIL}/case.json": {**case, "id": EVIL, "title": EVIL, "formula": EVIL, "flags": [EVIL]},
        "no/case.json": {**case, "kind": EVIL},
    }
    for name, content in contents.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(json.dumps(content))
    Path("header.csv").write_text("\n".join([f"{EVIL}1,{EVIL}2,{EVIL}3", *rows]))
    Path("words.csv").write_text("\n".join([f"{EVIL},b,label", f"{EVIL},1,0", "0,1,1"]))
    Path("answer.py").write_text(f"print({json.dumps(json.dumps({'unsupported': EVIL}))})")
    Path("fails.py").write_text(f"import sys; sys.exit({EVIL!a})")


ON_A_TERMINAL = {
    "labels": ["solve", "mlsvm", "labels.json", "--max-iter", "1"],
    "one class": ["solve", "mlsvm", "same.json"],
    "a header": ["solve", "mlsvm", "header.csv", "--label", "2"],
    "a header without that": ["solve", "mlsvm", "header.csv", "--label", "y"],
    "a cell": ["solve", "mlsvm", "words.csv"],
    "keys": ["solve", "mlsvm", "keys.json"],
    "members": ["solve", "mlsvm", "keys.npz"],
    "mixed labels": ["solve", "mlsvm", "mixed.json"],
    "a value": ["solve", "mlsvm", "value.json"],
    "an option": ["solve", "mlsvm", "labels.json", f"--{EVIL}"],
    "a word": ["solve", EVIL, "labels.json"],
    "a name": ["solve", "mlsvm", f"{EVIL}.json"],
    "a name that is not there": ["solve", "mlsvm", f"{EVIL}.csv"],
    "a set that is not there": ["solve", "mlsvm", EVIL],
    "a file beside": ["solve", "mlsvm", f"{EVIL[:-1]}.json"],
    "a metric": ["check", "mlsvm", "labels.json", "--metric", f"{EVIL}.json"],
    "a start": ["solve", "mlsvm", "labels.json", "--warm-start", f"{EVIL}.json"],
    "an output": ["solve", "mlsvm", "labels.json", "--out", f"no{EVIL}/s.json"],
    "an ending": ["solve", "mlsvm", "labels.json", "--out", f"s.{EVIL}"],
    **{
        f"the {part} of a solution": ["certify", f"{part}.json"]
        for part in ("method", "parameter", "setting", "lam", "version")
    },
    "no solution": ["certify", f"{EVIL}.json"],
    "cases": ["cases", "--folder", EVIL],
    "no such case": ["cases", "z", "--folder", EVIL],
    "no case": ["cases", "--folder", "no"],
    "an answer": ["conform", "--folder", EVIL, "--", sys.executable, "answer.py"],
    "last words": ["conform", "--folder", EVIL, "--", sys.executable, "fails.py"],
}


def assert_printable(capsys: pytest.CaptureFixture[str], arguments: list[str], most: int = PRINTED) -> None:
    run(arguments)
    out, err = capsys.readouterr()
    assert [c for c in out + err if not c.isprintable() and c != "\n"] == []
    assert len(err.splitlines()) <= 2  # what was read, and one line more
    assert "x" * (most + 1) not in out + err


@pytest.mark.parametrize("case", ON_A_TERMINAL)
def test_a_terminal_gets_no_escapes_of_a_file(
    cli: Cli, capsys: pytest.CaptureFixture[str], case: str
) -> None:
    wrote_evil()
    assert_printable(capsys, ON_A_TERMINAL[case], SAID if "conform" in ON_A_TERMINAL[case] else PRINTED)


@pytest.mark.quick(4)
@pytest.mark.parametrize("method", names())
def test_no_method_tells_a_terminal_the_escapes_of_a_class(
    cli: Cli, capsys: pytest.CaptureFixture[str], method: str
) -> None:
    wrote_evil()
    for data in ("labels.json", "single.json", "same.json"):
        options = ["--metric", "m.npy", "--no-diagnosis", "--time-limit", "1"]
        assert_printable(capsys, ["check", method, data, *options])


# --- outputs that would replace something ---

# a command whose output, {}, is also read; and the file that it reads
OVERWRITES = {
    "data": ("solve mlsvm {} --max-iter 1", "--out", "d.json"),
    "data.npz": ("solve mlsvm {} --max-iter 1", "--out", "d.npz"),
    "data.npy": ("solve mlsvm {} --label last", "--out", "d.npy"),
    "data.csv": ("solve rca {} --label last --index no", "--out", "d.csv"),
    "a set": ("solve mlsvm d --label last --index no", "--out", "d.csv"),
    "warm-start": ("solve mlsvm data.json --warm-start {}", "--out", "s.json"),
    "warm-start.npz": ("solve mlsvm data.json --warm-start {}", "--out", "s.npz"),
    "lists": ("solve mlsvm data.json --neighbors {}", "--out", "lists.json"),
    "matrix": ("solve ssvm data.json --loss-matrix {}", "--out", "loss.csv"),
    "solution": ("certify {} --tol loose", "--side", "s.json"),
    "solution.npz": ("certify {} --tol loose", "--side", "s.npz"),
    "program": (f"conform --only mlsvm-line -- {sys.executable} {{}}", "--junit", "program.py"),
    "case": ("conform --folder . -- true", "--junit", "data.json"),
}
NAMED = {
    "the same": lambda name: name,
    "another path": lambda name: f"elsewhere/../{name}",
    "absolute": os.path.abspath,
    "a link": lambda name: _linked(os.symlink, name),
    "a hard link": lambda name: _linked(os.link, name),
    "through a folder": lambda name: _through(name),
}


def _linked(link: Callable[[str, str], None], name: str) -> str:
    link(name, f"link{Path(name).suffix}")
    return f"link{Path(name).suffix}"


def _through(name: str) -> str:
    Path("here").symlink_to(".")
    return f"here/{name}"


def wrote_inputs() -> None:
    Path("elsewhere").mkdir()
    np.savez("d.npz", X=X, y=Y)
    np.save("d.npy", np.column_stack([X, Y]))
    np.savetxt("d.csv", np.column_stack([X, Y]), delimiter=",", header="a,b,c,label", comments="")
    Path("d.json").write_bytes(Path("data.json").read_bytes())
    np.savetxt("loss.csv", 1 - np.eye(2), delimiter=",")
    Path("lists.json").write_text(json.dumps([[(i + 1) % 14] for i in range(14)]))
    Path("program.py").write_text("print({})")
    for name in ("s.json", "s.npz"):
        solved("mlsvm").save(name)


def with_output(words: str, read: str, option: str, written: str) -> list[str]:
    command, *more = words.format(read).split()
    return [command, option, written, *more]


@pytest.mark.quick(20)
@pytest.mark.parametrize("named", NAMED)
@pytest.mark.parametrize("case", OVERWRITES)
def test_no_output_replaces_an_input(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, case: str, named: str
) -> None:
    monkeypatch.setenv("CVXML_DATA", os.getcwd())
    wrote_inputs()
    words, option, read = OVERWRITES[case]
    before, written = Path(read).read_bytes(), NAMED[named](read)
    for force in ([], ["--force"]):
        arguments = with_output(words, read, option, written)
        answer = cli(arguments[0], *force, *arguments[1:])
        assert answer.code == 2
        assert option in answer.err
        assert Path(read).read_bytes() == before


REPLACES = {
    "solve": (
        "solve mlsvm data.json --max-iter 1 --tol 1e-1",
        "--out",
        ("o.json", "o.npz", "o.npy", "o.csv"),
    ),
    "certify": ("certify s.json --tol loose", "--side", ("o.json",)),
    "conform": ("conform --only mlsvm-line -- true", "--junit", ("o.xml",)),
}


@pytest.mark.parametrize(
    ("command", "name"), [(command, name) for command in REPLACES for name in REPLACES[command][2]]
)
def test_a_file_of_others_is_replaced_by_force_alone(cli: Cli, command: str, name: str) -> None:
    wrote_inputs()
    words, option, _ = REPLACES[command]
    foreign = [
        b"mine",
        b"<?xml version='1.0'?><testsuite name='mine'/>",
        b'{"format": "mine"}',
        b"[1]",
        b"PK",
    ]
    foreign += [Path(name).read_bytes() for name in ("d.npz", "d.npy", "d.csv", "d.json")]
    given = with_output(words, "", option, name)
    for content in foreign:
        Path(name).write_bytes(content)
        answer = cli(*given)
        assert answer.code == 2
        assert "--force" in answer.err
        assert Path(name).read_bytes() == content
    done = cli(given[0], "--force", *given[1:])
    assert done.code != 2
    assert Path(name).read_bytes() != content
    if name.endswith((".json", ".npz", ".xml")):  # which say that cvxml wrote them
        assert cli(*given)[::2] == done[::2]
    Path(name).write_bytes(b"")  # as mktemp leaves it: there is nothing to lose
    assert cli(*given)[::2] == done[::2]


def test_every_command_with_an_output_is_among_these() -> None:
    from cvxml.cli.main import _parser

    commands = _parser().get_default("commands")
    with_force = {name for name, parser in commands.items() if "--force" in parser.format_help()}
    with_output = {
        name
        for name, parser in commands.items()
        if any(
            verb in (action.help or "")
            for action in parser._actions
            for verb in ("save ", "saved ", "write ")
        )
    }
    assert with_output == with_force == {*REPLACES, "demo"}  # demo: test_demo.py


def test_a_side_file_is_refused_where_the_verified_checker_does_not_know_the_method(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    cvxml.solve("rca", X, Y).save("s.json")
    monkeypatch.setattr("cvxml.oracle.saved.recertify", None)  # refused before any work
    answer = cli("certify", "s.json", "--side", "side.json")
    assert refused(answer)
    assert "rca" in answer.err
    assert "--side" in answer.err
    assert not Path("side.json").exists()


def test_a_side_file_that_cannot_be_made_leaves_the_verdict(cli: Cli) -> None:
    cvxml.solve("gmml", X, Y, weight=0.25).save("s.json")
    expected = cli("certify", "s.json")
    assert expected.code == 0
    answer = cli("certify", "s.json", "--side", "side.json")
    assert (answer.code, answer.out) == (2, expected.out)
    assert "--side" in answer.err
    assert "weight" in answer.err
    assert not Path("side.json").exists()
