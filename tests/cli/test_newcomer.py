"""The command line as a newcomer meets it: what is mistyped, help, what is saved, what ends early."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from _thread import interrupt_main
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cvxml
from cvxml.cli.limit import limited
from cvxml.cli.main import _parser, run
from cvxml.cli.parameters import given
from cvxml.core import files
from cvxml.core.clock import TimeUp
from cvxml.methods import get, names
from tests.cli.commands import Cli, X, Y, solved, unsaid

TYPED = {
    "slove mlsvm data.json": r"'slove'.*'solve'\?",
    "mlsvm data.json": r"\bmlsvm\b.*cvxml solve mlsvm",
    "MLSVM data.json": r"\bMLSVM\b.*cvxml solve MLSVM",
    "solve mlsvm data.json --lamda 1": r"--lamda\b.*'--lam'\?.*cvxml solve --help",
    "solve mlsvm data.json --lamda=1": r"--lamda\b.*'--lam'\?",
    "solve mlsvm data.json --stand": r"--stand\b",  # no abbreviations
    "solve lmnn data.json --lam 1": r"\blmnn\b.*'lam'.*\bmu\b",
    "check mlsvm data.json --metrc m.npy": r"'--metric'\?",
    "certify s.json --exakt": r"'--exact'\?",
    "show lmn": r"'lmn'.*'lmnn'\?",
    "schema repotr": r"'report'\?",
    "lesson mlsmv": r"'mlsvm'\?",
    "solve mlsvm wnie": r"'wnie'.*'wine'\?",
    "solve mlsvm dat.json": r"'dat\.json'.*'data\.json'\?",
    "solve mlsvm data": r"'data\.json'\?",
    "solve mlsvm data.json --solver clarabell": r"'clarabel'\?",
    "check mlsvm data.json --metric m.npy --tol norml": r"'normal'\?",
}


@pytest.mark.parametrize("words", TYPED)
def test_what_is_mistyped_is_answered_with_what_was_meant(cli: Cli, words: str) -> None:
    np.save("m.npy", np.eye(3))
    answer = cli(*words.split())
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.count("\n") == 1
    assert re.search(TYPED[words], answer.err)


@pytest.mark.parametrize("command", ["solve", "check", "evaluate"])
def test_help_has_the_parameters_of_the_method(capsys: pytest.CaptureFixture[str], command: str) -> None:
    for method in names():
        assert run([command, method, "--help"]) == 0
        said = " ".join(capsys.readouterr().out.split())
        assert said.startswith("usage: ")
        assert f"cvxml {command} METHOD" in said
        assert f"of {method}: " in said
        own = {*get(method).PARAMETERS, *(get(method).SOLVE_PARAMETERS if command == "solve" else ())}
        of_all = {name for each in names() for name in get(each).PARAMETERS}
        for name in own | of_all:
            assert (f" --{name.replace('_', '-')} " in said) == (name in own), name
        for name, parameter in get(method).PARAMETERS.items():
            assert " ".join(str(parameter).split())[:30] in said, name
    assert run([command, "--help"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert f"cvxml {command} METHOD --help" in said
    assert "--lam " not in said


@pytest.mark.parametrize("ending", [".npy", ".csv"])
def test_a_metric_alone_is_saved_and_read_back(cli: Cli, ending: str) -> None:
    out = f"m{ending}"
    assert cli("solve", "mlsvm", "data.json", "--n-neighbors", "2", "--out", out).code == 0
    expected = cvxml.solve("mlsvm", X, Y, n_neighbors=2).metric
    assert np.array_equal(files.read_array(out, square=True), expected)
    assert cli("check", "mlsvm", "data.json", "--n-neighbors", "2", "--metric", out).code == 0
    answer = cli("certify", out)
    assert answer.code == 2
    assert out in answer.err


def test_what_no_csv_holds(tmp_path: Path) -> None:
    local = cvxml.solve("glml", X, Y, query=X[:2])
    local.save(tmp_path / "m.npy")
    assert np.array_equal(np.load(tmp_path / "m.npy"), local.metric)
    with pytest.raises(ValueError, match="two-dimensional"):
        local.save(tmp_path / "m.csv")
    assert not (tmp_path / "m.csv").exists()


# --- limits, and Ctrl-C where there are no steps ---


@pytest.mark.parametrize("typed", ["show {} --bibtex", "solve {} --help", "cases {}"])
def test_a_method_may_be_typed_in_capital_letters(cli: Cli, typed: str) -> None:
    small, capital = (cli(*typed.format(method).split()) for method in ("mlsvm", "MLSVM"))
    assert small.code == capital.code == 0
    assert capital.out == small.out != ""


def endless() -> None:
    while True:
        time.sleep(0.01)


@pytest.mark.parametrize("ignored", [False, True])
def test_a_limit_ends_what_has_no_steps(ignored: bool) -> None:
    before = signal.getsignal(signal.SIGINT)
    if ignored:  # as in the background of a script
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with pytest.raises(TimeUp), limited(0.05):
            endless()
    finally:
        assert signal.getsignal(signal.SIGINT) == (signal.SIG_IGN if ignored else before)
        signal.signal(signal.SIGINT, before)


def test_a_limit_that_ends_at_once_leaves_the_handler_as_it_was() -> None:
    before = signal.getsignal(signal.SIGINT)
    for _ in range(30):
        with pytest.raises(TimeUp), limited(1e-9):
            endless()
        assert signal.getsignal(signal.SIGINT) == before


@pytest.mark.parametrize("at", ["join", "signal"])
def test_a_limit_that_ends_with_the_work_leaves_the_handler_as_it_was(
    monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    """The interrupt comes after the work, while `limited` waits for its timer or sets the old handler again."""
    before, handle, ends = signal.getsignal(signal.SIGINT), signal.signal, list[Any]()

    class Timer:
        def __init__(self, seconds: float, end: Any):
            ends.append(end)

        def start(self) -> None: ...

        def cancel(self) -> None: ...

        def is_alive(self) -> bool:
            return True

        def join(self) -> None:
            if at == "join":
                ends.pop()()

    def late(number: int, handler: Any) -> Any:
        if at == "signal" and ends and handler == before:
            ends.pop()()
        return handle(number, handler)

    monkeypatch.setattr(threading, "Timer", Timer)
    monkeypatch.setattr(signal, "signal", late)
    try:
        with pytest.raises(TimeUp), limited(60):
            pass
        assert signal.getsignal(signal.SIGINT) == before
    finally:
        handle(signal.SIGINT, before)


def test_within_a_limit_ctrl_c_is_what_it_was() -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a suite in the background ignores it
    try:
        threading.Timer(0.05, interrupt_main).start()
        with pytest.raises(KeyboardInterrupt) as caught, limited(60):
            endless()
    finally:
        signal.signal(signal.SIGINT, before)
    assert not isinstance(caught.value, TimeUp)
    with limited(60), limited(None):
        pass
    with pytest.raises(ValueError, match="--time-limit"), limited(-1):
        pass


def test_certify_gives_up_at_its_limit(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    solved("mlsvm").save("s.json")
    assert cli("certify", "s.json", "--exact", "--time-limit", "600").code == 0
    monkeypatch.setattr("cvxml.oracle.saved.recertify", lambda *_: endless())
    answer = cli("certify", "s.json", "--exact", "--time-limit", "0.05")
    assert (answer.code, answer.out) == (3, "")
    assert "--time-limit" in answer.err
    assert answer.err.count("\n") == 1


@pytest.mark.quick(1)
@pytest.mark.parametrize("error", [TimeUp, KeyboardInterrupt])
def test_verify_keeps_the_rows_that_there_are(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    from cvxml.oracle import verify

    case = next(each for each in verify.cases() if each.method == "rca")
    whole = verify.verify

    def stopped(say: Any, chosen: object) -> Iterator[verify.Row]:
        yield from whole(say, [case])
        raise error

    monkeypatch.setattr(verify, "verify", stopped)
    for words in ([], ["--json"]):
        answer = cli("verify", *words)
        assert answer.code == (3 if error is TimeUp else 130)
        assert "not verified" in answer.err.splitlines()[-1]
        assert "rca" in answer.out
    assert [row["method"] for row in json.loads(answer.out)] == ["rca"]


def test_conform_keeps_the_rows_that_there_are(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    from cvxml.oracle import conform

    judged, calls = conform.conform_case, []

    def stopped(*given: Any, **options: Any) -> conform.Row:
        calls.append(given)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return judged(*given, **options)

    monkeypatch.setattr(conform, "conform_case", stopped)
    answer = cli("conform", "--only", "mlsvm-*", "--json", "--junit", "rows.xml", "--", "false")
    assert answer.code == 130
    last = answer.err.splitlines()[-1]
    assert "interrupted" in last
    assert "1 of " in last
    (row,) = json.loads(answer.out)["rows"]
    assert row["verdict"] == "error"
    assert row["case"] in Path("rows.xml").read_text()


def python(*words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *words], stderr=subprocess.PIPE, text=True, timeout=120, **options)


STARTED = {
    "-m": ["-m", "cvxml", "list"],
    "command": ["-c", "from cvxml.__main__ import main; main()", "list"],
}


@pytest.mark.parametrize("how", STARTED)
def test_ctrl_c_while_modules_are_imported_is_one_sentence(how: str, tmp_path: Path) -> None:
    (tmp_path / "numpy.py").write_text("raise KeyboardInterrupt")
    path = os.pathsep.join([str(tmp_path), str(Path(cvxml.__file__).parents[1])])
    done = python(*STARTED[how], env={**os.environ, "PYTHONPATH": path})
    assert done.returncode == 130
    assert done.stderr.count("\n") == 1
    assert "interrupted" in done.stderr


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
@pytest.mark.parametrize("words", ["list", "--help", "--version", "show mlsvm", "cases mlsvm --json"])
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_an_output_that_is_full_is_one_sentence(words: str, unbuffered: str) -> None:
    with open("/dev/full", "w") as full:
        done = python(
            "-m", "cvxml", *words.split(), stdout=full, env={**os.environ, "PYTHONUNBUFFERED": unbuffered}
        )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "output" in done.stderr


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs a shell")
@pytest.mark.parametrize("words", ["list", "--help", "--version", "show mlsvm", "solve rca iris --json"])
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&- >&-"])
def test_a_result_for_a_closed_output_is_lost_with_code_2(closed: str, words: str) -> None:
    command = f'"{sys.executable}" -m cvxml {words} {closed}'
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=120)
    lost = ">&-" in closed.split()
    assert done.returncode == (2 if lost else 0)
    assert bool(done.stdout) == (not lost)
    said = unsaid(done.stderr)
    assert said.count("\n") == (1 if lost and "2>&-" not in closed else 0)
    assert ("output" in said) == bool(said)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs a shell")
def test_a_file_is_saved_though_the_output_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    command = f'"{sys.executable}" -m cvxml solve rca iris --out "{path}" >&-'
    assert subprocess.run(["sh", "-c", command], capture_output=True, timeout=120).returncode == 2
    assert cvxml.load(path).method == "rca"


def test_a_full_disk_loses_the_file_of_conform_and_not_the_rows(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "no space")

    Path("rows.xml").write_text("old")
    monkeypatch.setattr(os, "fsync", full)
    answer = cli(
        "conform",
        "--only",
        "mlsvm-line",
        "--junit",
        "rows.xml",
        "--force",
        "--",
        sys.executable,
        "-c",
        "pass",
    )
    assert answer.code == 2
    assert answer.err.splitlines()[-1].count("no space") == 1
    assert "mlsvm-line " in answer.out
    assert Path("rows.xml").read_text() == "old"


def test_real_targets_are_read_from_every_kind_of_file(cli: Cli) -> None:
    targets = X[:, 0] + 0.25
    np.savez("t.npz", X=X[:, 1:], y=targets)
    Path("t.json").write_text(json.dumps({"X": X[:, 1:].tolist(), "y": targets.tolist()}))
    for name in ("t.npz", "t.json"):
        assert cli("solve", "mlkr", name, "--out", "s.json").code == 0
    assert cli("check", "mlkr", "s.json", "--metric", "s.json").code == 0  # what it wrote is data, too
    refused = cli("solve", "mlsvm", "t.npz")
    assert refused.code == 2
    assert "class" in refused.err


def test_a_matrix_as_pandas_writes_it_is_refused_with_the_way_to_write_it(cli: Cli) -> None:
    lines = [",0,1,2", *(f"{i},{','.join(map(str, row))}" for i, row in enumerate(np.eye(3)))]
    Path("m.csv").write_text("\n".join(lines))
    answer = cli("check", "mlsvm", "data.json", "--metric", "m.csv")
    assert answer.code == 2
    assert "to_csv(index=False, header=False)" in answer.err
    Path("m.csv").write_text("\n".join(line.partition(",")[2] for line in lines[1:]))
    assert cli("check", "mlsvm", "data.json", "--metric", "m.csv").code in (1, 5)


@pytest.mark.parametrize("count", ["0", "500"])
def test_predictions_of_so_many_neighbours_name_their_option(cli: Cli, count: str) -> None:
    np.save("m.npy", np.eye(3))
    answer = cli("check", "mlsvm", "data.json", "--metric", "m.npy", "--predictions", count)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("cvxml: --predictions: ")


@pytest.mark.parametrize("value", ["-7.519240863889721e-04", "-1E+5", "-.5", "-3", "-1e-4"])
def test_a_negative_number_is_a_value_and_no_option(value: str) -> None:
    parsed = _parser().parse_args(["check", "mlsvm", "iris", "--claimed-objective", value])
    assert parsed.claimed_objective == float(value)


@pytest.mark.parametrize("value", ["-0.5,1.2,0.3", "-1,-2.5e-3,.5", "-.5,-1"])
def test_a_list_of_numbers_may_begin_with_a_negative_one(value: str) -> None:
    parsed = _parser().parse_args(["solve", "glml", "iris", "--query", value, "--tol", "1e-3"])
    numbers = [float(part) for part in value.split(",")]
    assert given(parsed, True)["query"] == numbers


def test_a_claimed_objective_with_an_exponent_is_judged(cli: Cli) -> None:
    answer = cli("check", "mlsvm", "data.json", "--claimed-objective", "-1e-4", "--json")
    assert json.loads(answer.out)["claimed_objective"] == -1e-4
    for value in ("-inf", "-nan", "-1e-4,2"):
        answer = cli("check", "mlsvm", "data.json", "--claimed-objective", value)
        assert (answer.code, answer.out) == (2, "")
        assert value.strip("-") in answer.err


def test_two_opposite_wishes_for_the_diagnosis_are_refused(cli: Cli) -> None:
    np.save("m.npy", np.eye(3))
    asked = ("check", "mlsvm", "data.json", "--metric", "m.npy")
    answer = cli(*asked, "--no-diagnosis", "--diagnose-all")
    assert (answer.code, answer.out) == (2, "")
    assert "--no-diagnosis" in answer.err
    assert "--diagnose-all" in answer.err


@pytest.mark.parametrize(("method", "option"), [("itml", "--prior"), ("ldml", "--b"), ("glml", "--priors")])
@pytest.mark.parametrize("typed", ["foo", "foo.npy"])
def test_a_wrong_word_names_the_option_and_the_words(cli: Cli, method: str, option: str, typed: str) -> None:
    answer = cli("solve", method, "data.json", option, typed)
    assert (answer.code, answer.out) == (2, "")
    assert option in answer.err
    assert typed in answer.err
    kind = get(method).PARAMETERS[option.strip("-")].kind
    words = re.findall(r"'([a-z]+)'", kind.takes)
    assert words
    assert all(word in answer.err for word in words)


@pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_time_limit_beyond_the_clock_is_no_limit(cli: Cli) -> None:
    solved("mlsvm").save("s.json")
    answer = cli("certify", "s.json", "--tol", "loose", "--time-limit", "1e300")
    assert (answer.code, answer.err) == (0, "")
    with limited(1e300):
        time.sleep(0.2)  # the thread of the timer begins to wait


def test_what_is_far_is_not_meant() -> None:
    with pytest.raises(ValueError, match=r"lmnn.*'random_state'.*\bmu\b.*[^?]$"):
        cvxml.solve("lmnn", X, Y, random_state=0)
    with pytest.raises(ValueError, match=r"mcml.*'c'.*none$"):
        cvxml.solve("mcml", X, Y, c=1.0)


def test_a_saved_file_without_a_part_is_told_which(cli: Cli) -> None:
    assert cli("solve", "mlsvm", "data.json", "--out", "s.json").code == 0
    saved = json.loads(Path("s.json").read_text())
    for part in ("dual", "metric"):
        Path("t.json").write_text(json.dumps({name: value for name, value in saved.items() if name != part}))
        answer = cli("certify", "t.json")
        assert answer.code == 2
        assert f"'{part}'" in answer.err


def test_a_metric_that_is_a_name_or_nothing() -> None:
    with pytest.raises(ValueError, match=r"^metric.*'m\.npy'.*read"):
        cvxml.check("mlsvm", X, Y, "m.npy")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^metric.*None"):
        cvxml.evaluate("mlsvm", X, Y, None)  # type: ignore[arg-type]


@pytest.mark.slow
def test_of_one_feature_nothing_is_named_and_why() -> None:
    """Another C: named with three features, and with one any error is a factor."""
    for d, note in ((3, False), (1, True)):
        wrong = cvxml.solve("frobmetric", X[:, :d], Y, C=3.0, tol=1e-10).metric
        report = cvxml.check("frobmetric", X[:, :d], Y, wrong, C=1.0)
        assert report.verdict == "refuted"
        assert any("one feature" in each for each in report.notes) is note
        assert bool(report.diagnosis) is not note
