"""`cvxml conform`: right and wrong programs, and programs that do not behave."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import cvxml
from cvxml.cli.main import run
from cvxml.methods import get
from cvxml.oracle import programs
from cvxml.oracle.cases import FOLDER, Case, load_case, load_cases, parameters
from cvxml.oracle.conform import Row, _gaps, as_junit, as_table, conform
from cvxml.oracle.fresh import fresh_cases
from tests.schemas import schema

PROGRAMS = Path(__file__).parents[2] / "validation" / "programs"
QUICK = "mlsvm-[kl]*"  # mlsvm-kkt, mlsvm-line, mlsvm-line-capped


def rows_of(program: str, pattern: str) -> dict[str, Row]:
    command = [sys.executable, str(PROGRAMS / program)]
    return {row.case: row for row in conform(command, load_cases(pattern=pattern))}


@pytest.mark.slow
def test_the_correct_program_is_certified_wherever_it_answers() -> None:
    rows = rows_of("correct.py", "*")
    verdicts = {row.verdict for row in rows.values()}
    assert verdicts == {"certified", "skipped"}, as_table(list(rows.values()))
    answered = {row.formula for row in rows.values() if row.verdict == "certified"}
    convex = {"lmnn", "lmnn:squared_hinge", "itml", "mmc", "mmc:diagonal", "dml_eig", "mcml"}
    parts = {"neighbors", "psd_projection", "glml_B", "nca_gradient"}
    assert {"mlsvm", "glml", "nca", *convex, *parts} == answered
    skipped = {row.formula for row in rows.values() if row.verdict == "skipped"}
    assert not answered & skipped


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "misreading"),
    [("wrong_lam.py", "lam"), ("wrong_argmin.py", "argmin"), ("wrong_cone.py", "no_cone")],
)
def test_a_wrong_program_is_refuted_and_told_why(program: str, misreading: str) -> None:
    row = rows_of(program, "mlsvm-iris")["mlsvm-iris"]
    assert row.verdict == "refuted"
    sentence = get("mlsvm").MISREADINGS[misreading].sentence
    assert any(sentence in line for line in row.diagnosis), row
    if misreading == "no_cone":  # the matrix is not psd, so it is not a metric
        assert row.gap is None
    else:
        assert row.gap is not None
        assert row.gap > 1e-4


@pytest.mark.slow
def test_wrong_parts_are_refuted_with_the_first_entry_that_is() -> None:
    rows = rows_of("wrong_cone.py", "part-*")
    assert rows["part-neighbors"].verdict == "refuted"
    assert "entry 0" in rows["part-neighbors"].message
    assert rows["part-psd-mixed"].verdict == "refuted"
    assert rows["part-psd-zero"].verdict == "certified"  # |M| is P_+(M) where no eigenvalue is negative


def program(tmp_path: Path, body: str) -> list[str]:
    path = tmp_path / "program.py"
    path.write_text(f"import json, sys, time\nquestion = json.load(sys.stdin)\n{body}\n")
    return [sys.executable, str(path)]


@pytest.mark.quick(3)
@pytest.mark.parametrize(
    ("body", "verdict", "message"),
    [
        ("print('hello')", "error", "not JSON"),
        ("print('a', 'x' * 1000, 'y', chr(10), 'z')", "error", "xxx y z'"),
        ("print('{\"metric\": [[0.125]]')", "error", "'{\"metric\": [[0.125]]'"),
        ("sys.stdout.buffer.write(bytes([255, 254]))", "error", "printed '"),
        ("pass", "error", "JSON object"),
        ("print(json.dumps([1]))", "error", "JSON object"),
        ("print('{\"metric\": [[NaN]]}')", "error", "NaN"),
        ("print('[' * 100000)", "error", "not JSON"),
        ("print(json.dumps({'metric': 'text'}))", "error", ""),
        ("print(json.dumps({'metric': [[1, 2], [3]]}))", "error", ""),
        ("print(json.dumps({'metric': [[1.0, 0.0], [0.0, 1.0]]}))", "error", "shape"),
        ("print(json.dumps({'sorry': 1}))", "error", "neither"),
        ("raise SystemExit('sorry')", "error", "1: sorry"),
        ("time.sleep(60)", "error", "within 5"),
        ("while True: print('x' * 100000)", "error", ""),
        ("import os; os.fork() or time.sleep(60); time.sleep(60)", "error", "within 5"),
        ("print(json.dumps({'unsupported': 'not yet'}))", "skipped", "not yet"),
        ("print(json.dumps({'status': 'not attained'}))", "refuted", "one is"),
        ("print(json.dumps({'metric': [[0.125]], 'objective': 0.5}))", "refuted", "claimed objective"),
        ("print(json.dumps({'components': [[0.125 ** 0.5]]}))", "certified", ""),
        ("print(json.dumps({'metric': [[0.125]], 'objective': 1 / 128}))", "certified", ""),
    ],
)
def test_a_program_that_does_not_behave_is_one_row(
    tmp_path: Path, body: str, verdict: str, message: str
) -> None:
    cases = load_cases(pattern="mlsvm-line")
    (row,) = conform(program(tmp_path, body), cases, time_limit=5.0)
    assert row.verdict == verdict, row
    assert message in row.message
    assert "\n1 case: " in as_table([row])
    schema("conformance").validate({"format": "cvxml-conformance", "version": 1, "rows": [row.to_dict()]})


def test_what_is_quoted_is_short_and_on_one_line(tmp_path: Path) -> None:
    (case,) = load_cases(pattern="mlsvm-line")
    (row,) = conform(program(tmp_path, "print('first'); print('word\\n' * 10**5)"), [case])
    assert row.message.count("word") > 50
    assert "first" not in row.message
    assert "\n" not in row.message
    assert len(row.message) < 500
    (row,) = conform(program(tmp_path, "print('Traceback: ' + chr(27) + '[31mred')"), [case])
    assert chr(27) not in as_table([row])
    assert "not JSON" in row.message


@pytest.mark.quick(3)
@pytest.mark.parametrize(
    ("answer", "verdict", "message"),
    [
        (lambda question: {"metric": [[0.125]]}, "certified", ""),
        (lambda question: {"metric": [[0.25]]}, "refuted", "better by"),
        (lambda question: question["inputs"].clear() or {"metric": [[0.125]]}, "certified", ""),
        (lambda question: [[0.125]], "error", "not a dict: [[0.125]]"),
        (lambda question: 1 / 0, "error", "ZeroDivisionError"),
    ],
)
def test_a_function_is_judged_as_a_program_is(answer: Any, verdict: str, message: str) -> None:
    (row,) = conform(answer, load_cases(pattern="mlsvm-line"))
    assert row.verdict == verdict, row
    assert message in row.message


@pytest.mark.quick(2)
@pytest.mark.parametrize(
    "inputs",
    [
        {"X": [["a"]], "y": [0, 1]},
        {"X": [[1.0], [2.0], [3.0]], "y": [0, 1, 1], "nothing": 5},
        {"X": [[1.0], [2.0], [3.0]], "y": [0, 1, 1], "lam": -1.0},
        {"X": [[1.0], [2.0], [3.0]], "y": [0, 1, 1], "neighbors": [[7], [], []]},
        {"X": [[1.0], [2.0], [3.0]], "y": {"a": 1}},
        {"X": [[1e300], [2.0], [3.0]], "y": [0, 1, 1]},
        {"X": [], "y": []},
    ],
)
def test_a_case_of_ones_own_that_makes_no_sense_is_an_error_and_not_a_verdict(
    tmp_path: Path, inputs: dict[str, Any]
) -> None:
    good = load_cases(pattern="mlsvm-line")[0].content
    (tmp_path / "a.json").write_text(json.dumps({**good, "inputs": inputs}))
    for formula in ("mlsvm", "nothing"):
        (tmp_path / "a.json").write_text(json.dumps({**good, "formula": formula, "inputs": inputs}))
        answer = program(tmp_path, "print(json.dumps({'metric': [[1.0]]}))")
        (row,) = conform(answer, load_cases(tmp_path), time_limit=10.0)
        assert row.verdict == "error"
        assert row.message


def test_rows_are_strict_json_where_a_figure_is_infinite(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The optimum of mlsvm-zero is 0, so the share of the scale that any other metric leaves is infinite."""
    wrong = program(tmp_path, "print(json.dumps({'metric': [[1.0, 0.0], [0.0, 1.0]]}))")
    assert run(["conform", "--only", "mlsvm-zero", "--json", "--", *wrong]) == 1
    (row,) = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)["rows"]
    assert row["rel_gap"] is None
    assert row["gap"] > 0


def test_answers_that_programs_give_meet_the_schema() -> None:
    for answer in (
        {"metric": [[1.0]]},
        {"components": [[1.0]]},
        {"unsupported": "no"},
        {"answer": {"B": [[1.0]]}},
    ):
        schema("answer").validate(answer)
    assert not schema("answer").is_valid({"metrics": [[1.0]]})


@pytest.mark.slow
def test_the_command_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    right, wrong = ([sys.executable, str(PROGRAMS / name)] for name in ("correct.py", "wrong_lam.py"))
    junit = tmp_path / "rows.xml"
    assert run(["conform", "--only", QUICK, "--junit", str(junit), "--", *right]) == 0
    table = capsys.readouterr().out
    assert "3 cases" in table
    assert "3 certified" in table
    suite = ElementTree.parse(junit).getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "0", "0")
    assert run(["conform", "--only", QUICK, "--json", "--", *wrong]) == 1
    content = json.loads(capsys.readouterr().out)
    schema("conformance").validate(content)
    assert [row["verdict"] for row in content["rows"]] == ["refuted", "refuted", "certified"]
    assert run(["conform", "--only", "ssvm-iris", "--", *right]) == 3  # all skipped: nothing was shown


def test_close_is_a_failure_of_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (case,) = load_cases(pattern="rca-crosses")
    A = np.array(case.content["proof"]["metric"])
    near = json.dumps({"metric": (A + 3e-3 * np.linalg.norm(A) * np.eye(2)).tolist()})
    command, junit = program(tmp_path, f"print('{near}')"), tmp_path / "rows.xml"
    assert run(["conform", "--only", "rca-crosses", "--junit", str(junit), "--", *command]) == 5
    assert "1 close" in capsys.readouterr().out
    suite = ElementTree.parse(junit).getroot()
    assert suite.get("failures") == "1"
    assert [child.tag for test in suite for child in test] == ["failure"]
    # an error outweighs it: the other has four features
    assert run(["conform", "--only", "rca-[ci]r*", "--", *command]) == 1
    total = capsys.readouterr().out
    assert "1 close" in total
    assert "1 error" in total


def test_of_a_convex_step_the_gap_is_shown_as_a_share_of_its_scale() -> None:
    (case,) = load_cases(pattern="nca-f")
    metric = 2 * np.array(case.content["proof"]["metric"])
    report = cvxml.check(case.formula, case.X, case.y, metric, diagnosed=False, **case.params)
    assert report.step_gap is not None
    assert report.step_gap != report.gap
    assert _gaps(report) == (report.step_gap, report.step_gap / report.scale)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["conform"], "COMMAND"),
        (["conform", "--", "/no/such/program"], "/no/such/program"),
        (["conform", "--only", "nothing", "--", "true"], "'nothing'"),
        (["conform", "--folder", "no/such/folder", "--", "true"], "no/such/folder"),
        (["conform", "--time-limit", "0", "--", "true"], "time-limit"),
        (["conform", "--tol", "tight", "--", "true"], "strict"),
        (["conform", "--memory-limit", "-1", "--", "true"], "memory-limit"),
        (["conform", "--env", "NO_SUCH_NAME", "--", "true"], "NO_SUCH_NAME"),
        (["conform", "--workdir", "no/such/folder", "--", "true"], "no/such/folder"),
        (["conform", "--seed", "x", "--", "true"], "seed"),
        (["conform", "--only", "mlsvm-line", "--junit", "/no/such/folder/a.xml", "--", "true"], "junit"),
        (["schema", "nothing"], "report"),
        (["cases", "nothing"], "'nothing'"),
    ],
)
def test_bad_use_is_one_sentence(
    arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    said = capsys.readouterr()
    assert complaint in said.err
    assert said.err.count("\n") == 1
    assert said.out == ""


def test_cases_and_schemas_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["cases"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(load_cases())
    assert run(["cases", "glml", "--json"]) == 0
    for question in json.loads(capsys.readouterr().out):
        schema("question").validate(question)
    for name in ("report", "case", "question", "answer", "conformance"):
        assert run(["schema", name]) == 0
        assert json.loads(capsys.readouterr().out)["title"]


def test_junit_holds_what_a_program_printed_whatever_it_is() -> None:
    row: Any = Row("a", "mlsvm", "error", message="exit code 1: \x00\x1b[31m<&\udcff")
    root = ElementTree.fromstring(as_junit([row, Row("b", "mlsvm", "inconclusive", message="ties")]).encode())
    assert [child.tag for case in root for child in case] == ["error", "skipped"]


@pytest.mark.slow
def test_skipped_cases_are_not_passed_unless_that_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    right = [sys.executable, str(PROGRAMS / "correct.py")]
    assert run(["conform", "--only", "part-[nim]*", "--", *right]) == 3
    assert run(["conform", "--only", "part-[nim]*", "--allow-skipped", "--", *right]) == 0
    assert run(["conform", "--only", "ssvm-iris", "--allow-skipped", "--", *right]) == 3
    # a program that knows MLSVM only, and is right where lam does not matter: two cases of LMNN are skipped
    other = [sys.executable, str(PROGRAMS / "wrong_lam.py")]
    assert run(["conform", "--only", "*-line", "--", *other]) == 3
    assert run(["conform", "--only", "*-line", "--allow-skipped", "--", *other]) == 0
    capsys.readouterr()


@pytest.mark.quick(3)
@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("print('{\"metric\": [[1' + '0' * 400 + ']]}')", "metric"),
        ("print(json.dumps({'metric': [['0.125']]}))", "real numbers"),
        ("import os; os.unlink(os.readlink('/proc/self/fd/1')); print(1)", ""),
        ("sys.stderr.write('y' * 10**8); raise SystemExit(1)", "wrote more"),
        ("raise SystemExit('x' * 10**6)", "exit code 1"),
    ],
)
@pytest.mark.skipif(sys.platform != "linux", reason="/proc is looked at")
def test_what_a_program_does_to_the_run_is_an_error_of_one_row(
    tmp_path: Path, body: str, message: str
) -> None:
    (row,) = conform(program(tmp_path, body), load_cases(pattern="mlsvm-line"), time_limit=20.0)
    assert row.verdict == "error"
    assert message in row.message
    assert len(row.message) < 1000


def test_a_program_cannot_forge_a_row_or_speak_to_the_terminal(tmp_path: Path) -> None:
    said = "x\nmlsvm-line        certified  \x1b[2J\ud800"
    answer = program(tmp_path, f"print(json.dumps({{'unsupported': {said!r}}}))")
    rows = conform(answer, load_cases(pattern="mlsvm-line"), time_limit=20.0)
    table = as_table(rows)
    assert sum(line.startswith("mlsvm-line") for line in table.splitlines()) == 1
    assert "\x1b" not in table
    assert table.encode()
    assert ElementTree.fromstring(as_junit(rows).encode()).get("skipped") == "1"


@pytest.mark.slow
def test_the_textbook_projection_of_a_negative_matrix_is_right(tmp_path: Path) -> None:
    """(M + |M|) / 2 leaves the rounding of the entries where the answer is 0."""
    body = (
        "import numpy as np\n"
        "w, V = np.linalg.eigh(np.array(question['inputs']['matrix']))\n"
        "P = ((V * w) @ V.T + (V * abs(w)) @ V.T) / 2\n"
        "print(json.dumps({'answer': {'projection': P.tolist()}}))"
    )
    rows = conform(program(tmp_path, body), load_cases(pattern="part-psd-*"), time_limit=20.0)
    assert {row.verdict for row in rows} == {"certified"}


# --- cases drawn anew ---


def stored_answers(question: dict[str, Any]) -> dict[str, Any]:
    """A program that knows the golden cases by heart: the answers to them, and to what looks like them."""
    stored = load_case(FOLDER / f"{re.sub(r'-[0-9]+$', '', question['id'])}.json")
    return {"metric": stored.content["proof"]["metric"]}


def to_draw(seed: int, *names: str) -> list[Case]:
    return fresh_cases(seed, [load_case(FOLDER / f"{name}.json") for name in names])


def test_stored_answers_are_wrong_of_cases_drawn_anew() -> None:
    cases = to_draw(5, "mlsvm-line", "mlsvm-line-capped")
    for case in cases:
        schema("question").validate(case.question)
    assert not {row.verdict for row in conform(stored_answers, cases)} & {
        "certified",
        "inconclusive",
        "error",
    }

    def solved(question: dict[str, Any]) -> dict[str, Any]:
        given = parameters(question["inputs"])
        X, y = question["inputs"]["X"], question["inputs"].get("y")
        return {"metric": cvxml.solve(question["formula"], X, y, **given).metric}

    assert {row.verdict for row in conform(solved, cases)} == {"certified"}


@pytest.mark.slow
def test_every_formula_has_a_case_drawn_anew_whose_stored_answer_is_wrong() -> None:
    stored = load_cases()
    cases = fresh_cases(20, stored)
    assert {case.formula for case in cases} == {
        case.formula for case in stored if case.kind == "problem" and not case.flags
    }
    for case in cases:
        report = cvxml.check(
            case.formula, case.X, case.y, **stored_answers(case.question), diagnosed=False, **case.params
        )
        assert report.verdict != "certified", case.id


def test_a_seed_draws_the_same_again_and_another_seed_does_not() -> None:
    one, again, other = (to_draw(seed, "rca-crosses", "rca-iris") for seed in (3, 3, 4))
    assert [case.question for case in one] == [case.question for case in again]
    assert all(a.X != b.X for a, b in zip(one, other, strict=True))
    for case in one:
        stored = load_case(FOLDER / f"{case.id.removesuffix('-3')}.json")
        rest = {name: value for name, value in stored.inputs.items() if name != "X"}
        assert {name: value for name, value in case.inputs.items() if name != "X"} == rest
        assert np.shape(case.X) == np.shape(stored.X)
        assert (np.array(case.X) != np.array(stored.X)).mean() > 0.9


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("", ["nothing", "standard output"]),
        ("print('start'); print('{\"metric\": [[0.125]]}')", ["not JSON", "start", "standard error"]),
        ("print([[0.125]])", ["object", "metric"]),
    ],
)
def test_an_answer_that_cannot_be_read_is_an_error_with_its_remedy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], body: str, words: list[str]
) -> None:
    assert run(["conform", "--only", "mlsvm-line", "--", *program(tmp_path, body)]) == 1
    out, err = capsys.readouterr()
    assert [word for word in words if word not in out] == []
    assert "--workdir" not in err  # the program ran


def test_a_program_that_crashes_on_every_case_may_need_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    crashes = program(tmp_path, "open('data.csv')")
    assert run(["conform", "--only", "mlsvm-line", "--", *crashes]) == 1
    assert "--workdir" in capsys.readouterr().err


def test_equal_features_do_not_stay_equal_in_a_case_drawn_anew() -> None:
    (drawn,) = to_draw(1, "lmnn-squared-wine")
    assert drawn.flags == ()
    assert np.linalg.matrix_rank(np.array(drawn.X)) == np.shape(drawn.X)[1]
    assert to_draw(1, "mlsvm-offset")[0].flags == ("offset",)


def test_the_command_line_draws(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["cases", "mlsvm-line*", "--seed", "8", "--json"]) == 0
    questions = json.loads(capsys.readouterr().out)
    assert [each["id"] for each in questions] == ["mlsvm-line-capped-8", "mlsvm-line-8"]
    stored = program(tmp_path, "print('{\"metric\": [[0.125]]}')")
    assert run(["conform", "--only", "mlsvm-line", "--", *stored]) == 0
    assert run(["conform", "--only", "mlsvm-line", "--seed", "8", "--", *stored]) in (1, 5)
    capsys.readouterr()
    assert run(["cases", "mlsvm-line-8", "--seed", "8", "--json"]) == 0  # by the id in the table of conform
    assert [question["id"] for question in json.loads(capsys.readouterr().out)] == ["mlsvm-line-8"]
    assert run(["cases", "mlsvm-line-8"]) == 2
    assert run(["conform", "--only", "part-*", "--seed", "8", "--", *stored]) == 2
    assert run(["conform", "--only", "mlsvm-line", "--seed", "-8", "--", *stored]) == 2
    capsys.readouterr()


def test_a_table_of_no_rows() -> None:
    """An interrupt may come before the first case ends."""
    head, _, total = as_table([]).splitlines()
    assert head.split() == ["case", "verdict", "relative", "gap", "seconds"]
    assert re.findall(r"\d+", total) == ["0"] * 7  # cases, and of each verdict


@pytest.mark.parametrize(
    ("verdicts", "named"),
    [
        (["certified", "error", "refuted"], "case 1"),
        (["close", "refuted", "refuted: a mistake"], "case 2"),
        (["close", "certified", "refuted"], "case 2"),
        (["refuted", "refuted: possibly a mistake"], "case 0"),
        (["no metric", "close", "certified"], "case 1"),
        (["certified", "no metric", "inconclusive"], "case 1"),
        (["certified", "close", "close"], "case 1"),
        (["skipped", "certified", "inconclusive"], "case 2"),
        (["skipped", "certified"], "--seed"),
        (["skipped"], "--only"),
    ],
)
def test_the_last_line_of_the_table_names_the_case_to_look_at(verdicts: list[str], named: str) -> None:
    rows = []
    for k, text in enumerate(verdicts):
        verdict, _, mistake = text.replace("no metric", "refuted").partition(": ")
        gap = 0.1 if text in ("refuted", "close") else None
        said = {"diagnosis": (mistake,), "named": "possibly" not in mistake} if mistake else {}
        rows.append(Row(f"case {k}", "lmnn", verdict, rel_gap=gap, **said))
    last = as_table(rows).splitlines()[-1]
    assert named in last
    assert [row.case for row in rows if row.case in last] == [named] * named.startswith("case")


@pytest.mark.parametrize(("formula", "steps"), [("lmnn", True), ("rca", False), ("glml", False)])
def test_only_a_program_with_steps_is_told_to_make_more(formula: str, steps: bool) -> None:
    for verdict in ("refuted", "close"):
        last = as_table([Row("case 0", formula, verdict, rel_gap=0.1)]).splitlines()[-1]
        assert ("iterations" in last) == steps
        assert "case 0" in last
        assert (f"cvxml evaluate {formula}" in last) == (not steps)


def test_a_matrix_that_is_no_metric_is_not_compared_with_a_first_order_program() -> None:
    """Its gap is that of its projection."""
    (case,) = load_cases(pattern="ldml-iris")
    M = 1.3 * cvxml.solve("ldml", case.X, case.y, **case.params).metric
    values, vectors = np.linalg.eigh(M)
    indefinite = (vectors * np.where(values == values[0], -0.02 * values[-1], values)) @ vectors.T
    for metric, compared in ((M, True), (indefinite, False)):
        (row,) = conform(lambda _, metric=metric: {"metric": metric}, [case])
        assert row.verdict == "refuted"
        assert bool(row.expected) == compared


@pytest.mark.parametrize("wrong", [1.5, 0.1])
def test_only_a_proved_name_is_a_mistake_to_mend(wrong: float) -> None:
    (case,) = load_cases(pattern="mlsvm-line")
    (row,) = conform(lambda _: {"metric": wrong * np.eye(1)}, [case])
    report = cvxml.check("mlsvm", case.X, case.y, wrong * np.eye(1), **case.params)
    assert row.named == bool(report.diagnosis)


def test_a_question_may_be_longer_than_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "MOST_BYTES", 1000)
    within = programs.Surroundings()
    sleeps = [sys.executable, "-c", "import time; time.sleep(0.5); print('{}')"]
    assert programs.run(sleeps, {"x": "a" * 5000}, within) == {}
    writes = [sys.executable, "-c", "print('a' * 2000)"]
    assert "1000" in str(programs.run(writes, {}, within))


@pytest.mark.parametrize("case", ["gmml-iris", "mmc-iris"])
def test_a_matrix_that_is_no_metric_has_no_gap_and_needs_no_more_iterations(case: str) -> None:
    """Else its row would show the gap of its projection."""
    loaded = load_cases(pattern=case)
    (row,) = rows = conform(lambda _: {"metric": -np.eye(4)}, loaded)
    assert row.verdict == "refuted"
    assert (row.gap, row.rel_gap) == (None, None)
    assert "iterations" not in str(rows).splitlines()[-1]
