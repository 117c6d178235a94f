"""The command line: answers and exit codes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cvxml
from cvxml.cli import main
from cvxml.cli.output import metric_lines
from cvxml.cli.parameters import option
from cvxml.core.backend import SolverFailure
from cvxml.core.example import verified
from cvxml.core.files import write_matrix
from cvxml.methods import get, names
from cvxml.oracle import verify
from cvxml.oracle.saved import recertify
from tests.cli.commands import GRID, Cli, X, Y, as_json, method_with_lists, refused, solved
from tests.schemas import schema

both_formats = pytest.mark.parametrize("ending", ["json", "npz"])


@pytest.mark.parametrize("given", [("wine",), ("rings",), ("iris", "--standardize")])
def test_an_embedded_set_is_printed_as_a_table_that_is_read_again_to_the_last_digit(
    cli: Cli, tmp_path: Path, given: tuple[str, ...]
) -> None:
    name, *options = given
    X, y = cvxml.datasets.load(name)
    place = tmp_path / "table.csv"
    answer = cli("data", name, *options)
    place.write_text(answer.out)
    again, labels = cvxml.datasets.read(place)
    assert np.array_equal(again, cvxml.datasets.standardize(X) if options else X)
    assert np.array_equal(labels.astype(y.dtype), y)


def test_a_table_of_a_file_keeps_its_names_and_labels(cli: Cli, tmp_path: Path) -> None:
    place = tmp_path / "t.csv"
    place.write_text('species,width,"length, cm"\n"a, b",1.5,2\nc,3,0.1\n')
    assert cli("data", place).out == 'width,"length, cm",class\n1.5,2.0,"a, b"\n3.0,0.1,c\n'


@pytest.mark.parametrize(
    ("names", "label", "printed"),
    [
        ("label,x,z,kind", "kind", ["label_", "x", "z", "label"]),
        ("class,x,z,kind", "kind", ["class", "x", "z", "label"]),
        ("target,Species,z,label", "label", ["target", "Species", "z", "label"]),
        ("Label,label_,z,kind", "kind", ["Label__", "label_", "z", "label"]),
        ("class,label,z,kind", "kind", ["class", "label_", "z", "label"]),
        ("x,y,z,kind", "kind", ["x", "y", "z", "class"]),
    ],
)
def test_a_printed_table_is_read_as_the_same_problem_whatever_its_features_are_called(
    cli: Cli, names: str, label: str, printed: list[str]
) -> None:
    rows = [",".join(map(repr, (i % 3, *x[:2].tolist(), i % 2))) for i, x in enumerate(np.array(X))]
    Path("t.csv").write_text("\n".join([names, *rows]))
    X_read, y_read = cvxml.datasets.read("t.csv", label=label)
    answer = cli("data", "t.csv", "--label", label)
    assert answer.code == 0
    assert answer.out.splitlines()[0].split(",") == printed
    renamed = [name for name, new in zip(names.split(","), printed[:-1], strict=False) if name != new]
    assert len(answer.err.splitlines()) == len(renamed)
    assert all(name in answer.err for name in renamed)
    Path("again.csv").write_text(answer.out)
    again = cvxml.datasets.read("again.csv")
    assert np.array_equal(again[0], X_read)
    assert np.array_equal(again[1], y_read)


def test_list_show_help_version(cli: Cli) -> None:
    assert all(name in cli("list").out for name in (*names(), "iris", "rings"))
    assert cli("--version").out == f"cvxml {cvxml.__version__}\n"
    for command in ("list", "data", "show", "solve", "check", "evaluate", "certify", "verify"):
        assert command in cli("--help").out
        assert cli(command, "--help")[::2] == (0, "")
    for method in names():
        answer = cli("show", method)
        assert answer.code == 0
        assert "cp.Problem(" in answer.out
        # row by row: tests/cli/test_show.py
        row = get(method).STATEMENT.sections[0].rows[0]
        assert "".join(row.text.split()) in "".join(answer.out.replace("#:", "").split())


SETTINGS: list[dict[str, Any]] = [
    {},
    {"lam": 0.01, "n_neighbors": 3, "neighborhood": "per-class"},
    {"tol": 1e-9},
    {"solver": "clarabel", "tol": 1e-3},
]


@pytest.mark.quick(2)
@method_with_lists
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_solve_is_the_python_function(cli: Cli, method: str, settings: dict[str, Any]) -> None:
    options = [w for k, v in settings.items() for w in (f"--{k.replace('_', '-')}", v)]
    solution = cvxml.solve(method, X, Y, **settings)
    answer = cli("solve", method, "data.json", "--json", *options)
    assert answer.code == 0
    assert answer.err == ""
    assert json.loads(answer.out) == as_json(solution.to_dict())
    assert cli("solve", method, "data.json", *options).out.startswith(f"{solution}\n")


def test_solve_with_kernels_lists_and_standardization(cli: Cli) -> None:
    Path("n.json").write_text(json.dumps([p.tolist() for p in solved("mlsvm").neighbors]))
    z = (X - X.mean(axis=0)) / X.std(axis=0)
    params = {"kernel": "rbf", "gamma": 0.3, "neighbors": solved("mlsvm").neighbors}
    options = ["--kernel", "rbf", "--gamma", 0.3, "--neighbors", "n.json", "--standardize", "--json"]
    found = json.loads(cli("solve", "kernel_mlsvm", "data.json", *options).out)
    assert found["objective"] == pytest.approx(
        cvxml.solve("kernel_mlsvm", z, Y, **params).objective, rel=1e-9
    )
    assert found["params"]["neighborhood"] == "explicit"
    found = json.loads(cli("solve", "kernel_mlsvm", "data.json", "--degree", 3, "--json").out)
    assert found["metric"] == cvxml.solve("kernel_mlsvm", X, Y, degree=3).metric.tolist()


def test_data_in_every_format(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    np.savez("data.npz", X=X, y=Y)
    np.save("data.npy", np.column_stack([X, Y]))
    rows = [",".join([*map(repr, x.tolist()), "ab"[c]]) for x, c in zip(X, Y, strict=True)]
    Path("data.csv").write_text("\n".join(["a,b,c,label", *rows]))
    Path("own.csv").write_text("\n".join(["a,b,c,class", *rows]))
    monkeypatch.setenv("CVXML_DATA", os.getcwd())
    expected = cli("solve", "mlsvm", "data.json")
    assert expected.code == 0
    for given in (["data.npz"], ["data.npy"], ["data.csv"], ["own.csv", "--label", "class"], ["own"]):
        answer = cli("solve", "mlsvm", *given)
        assert answer.code == 0
        # the printed metric has the names of the columns
        assert answer.out.partition("metric:")[0] == expected.out.partition("metric:")[0]


def test_check_says_which_votes_are_those_of_the_optimum(cli: Cli) -> None:
    best = cvxml.solve("frobmetric", X, Y, tol=1e-9).metric
    np.save("m.npy", 1.01 * best)
    np.save("q.npy", np.array(X)[:2])
    asked = ("check", "frobmetric", "data.json", "--metric", "m.npy", "--no-diagnosis", "--predictions", 1)
    report = cvxml.check("frobmetric", X, Y, 1.01 * best, diagnosed=False)
    for more, found in (
        ((), report.predictions(1)),
        (("--queries", "q.npy"), report.predictions(1, np.array(X)[:2])),
    ):
        content = json.loads(cli(*asked, *more, "--json").out)
        schema("report").validate(content)
        assert content.pop("predictions") == json.loads(found.to_json())
        assert content == report.to_dict()
        assert found.to_dict()["counts"]["certain"] == found.same_vote.sum()
        assert cli(*asked, *more).out == f"{report}\n  {'predictions':<28}{found}\n"


def test_a_matrix_that_is_no_metric_has_a_verdict_and_no_predictions(cli: Cli) -> None:
    np.save("m.npy", -np.eye(len(X[0])))
    asked = ("check", "frobmetric", "data.json", "--metric", "m.npy", "--predictions", 1)
    assert cli(*asked).code == 1
    assert "none: " in cli(*asked).out
    content = json.loads(cli(*asked, "--json").out)
    schema("report").validate(content)
    assert content["predictions"] is None


@pytest.mark.parametrize("method", ["plml", "nca", "kernel_mlsvm"])
def test_a_metric_without_predictions_keeps_its_verdict_and_its_reason(cli: Cli, method: str) -> None:
    """The metric of plml acts on other features than the points; the problem of nca is not convex."""
    metric = np.eye(3) if method == "nca" else cvxml.solve(method, X, Y).metric
    np.save("m.npy", metric)
    report = cvxml.check(method, X, Y, metric, diagnosed=False)
    with pytest.raises(ValueError, match="votes") as reason:
        report.predictions(3)
    asked = ("check", method, "data.json", "--metric", "m.npy", "--no-diagnosis", "--predictions", 3)
    answer = cli(*asked)
    assert answer.code == {"certified": 0, "close": 5, "refuted": 1}[report.verdict.value]
    assert answer.out == f"{report}\n  {'predictions':<28}none: {reason.value}\n"
    assert ("not convex" in answer.out.splitlines()[-1]) == (method == "nca")
    answer = cli(*asked, "--json")
    content = json.loads(answer.out)
    schema("report").validate(content)
    assert content["predictions"] is None
    assert str(reason.value) in content["notes"][-1]


def test_bad_predictions_are_refused_before_the_metric_is_judged(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    def judged(*given: Any, **more: Any) -> None:
        raise AssertionError("the work began")

    monkeypatch.setattr(cvxml, "check", judged)
    np.save("m.npy", np.eye(3))
    np.save("q.npy", np.eye(2))
    asked = ("check", "mlsvm", "data.json", "--metric", "m.npy", "--predictions")
    for more in ((0,), (14,), (15, "--queries", "m.npy"), (1, "--queries", "q.npy")):
        answer = cli(*asked, *more)
        assert refused(answer), answer
        assert "--predictions" in answer.err


@pytest.mark.parametrize("options", [(), ("--predictions", 1, "--standardize")])
def test_queries_of_nothing_or_of_other_units_are_refused(cli: Cli, options: Any) -> None:
    np.save("m.npy", np.eye(len(X[0])))
    answer = cli("check", "frobmetric", "data.json", "--metric", "m.npy", "--queries", "m.npy", *options)
    assert answer.code == 2
    assert "--queries" in answer.err


@pytest.mark.quick(1)
@method_with_lists
def test_check_and_its_exit_codes(cli: Cli, method: str) -> None:
    best = cvxml.solve(method, X, Y, tol=1e-9).metric
    for factor, code in ((1, 0), (2, 1), (-1, 1)):
        np.save("m.npy", factor * best)
        answer = cli("check", method, "data.json", "--metric", "m.npy", "--json")
        assert answer[::2] == (code, "")
        assert json.loads(answer.out) == cvxml.check(method, X, Y, factor * best).to_dict()
        assert cli("check", method, "data.json", "--metric", "m.npy").out.startswith(
            ("CERTIFIED", "REFUTED")[code]
        )
    np.save("l.npy", np.linalg.cholesky(best + 1e-12 * np.eye(len(best)) * np.trace(best)).T)
    assert cli("check", method, "data.json", "--components", "l.npy").code == 0
    value = cvxml.solve(method, X, Y, tol=1e-9).objective
    for claimed, code in ((value, 0), (0.9 * value, 1), (1.1 * value, 1)):
        assert cli("check", method, "data.json", "--claimed-objective", claimed).code == code


def test_close_has_an_exit_code_of_its_own(cli: Cli) -> None:
    best = cvxml.solve("mlsvm", X, Y, tol=1e-9).metric
    np.save("m.npy", best + 3e-4 * np.linalg.norm(best) * np.eye(3))
    answer = cli("check", "mlsvm", "data.json", "--metric", "m.npy", "--no-diagnosis")
    assert answer.code == 5
    assert answer.out.startswith("CLOSE: mlsvm")
    assert "% of the scale" in answer.out


@pytest.mark.slow
def test_ties_are_inconclusive_unless_lists_are_given(cli: Cli) -> None:
    np.save("m.npy", np.eye(2))
    assert cli("check", "mlsvm", "grid.json", "--metric", "m.npy").code == 3
    Path("n.json").write_text(json.dumps([p.tolist() for p in cvxml.solve("mlsvm", GRID, Y).neighbors]))
    assert cli("check", "mlsvm", "grid.json", "--metric", "m.npy", "--neighbors", "n.json").code == 1


@method_with_lists
def test_evaluate_is_the_python_function(cli: Cli, method: str) -> None:
    metric = solved(method).metric
    np.save("m.npy", metric)
    answer = cli("evaluate", method, "data.json", "--metric", "m.npy", "-t", 3, "--json")
    assert answer[::2] == (0, "")
    assert json.loads(answer.out) == as_json(cvxml.evaluate(method, X, Y, metric, t=3).to_dict())
    assert "impostor_distances" in cli("evaluate", method, "data.json", "--metric", "m.npy").out
    L = np.random.default_rng(0).standard_normal((2, len(metric)))
    np.save("l.npy", L)
    answer = cli("evaluate", method, "data.json", "--components", "l.npy", "--json")
    assert answer[::2] == (0, "")
    assert json.loads(answer.out) == as_json(cvxml.evaluate(method, X, Y, L.T @ L).to_dict())


@pytest.mark.slow
def test_verify_agrees_or_says_so(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    small = (verify.Case("mlsvm", verified("rings", 20, raw=True)),)
    whole = verify.verify
    monkeypatch.setattr(verify, "verify", lambda say, _: whole(say, small))
    answer = cli("verify", "--json")
    assert answer.code == 0
    (row,) = json.loads(answer.out)
    assert row["agrees"]
    assert set(row["rel_gaps"]) == {"fast", "scs", "clarabel"}
    assert "1 of 1 cases agree" in cli("verify").out
    monkeypatch.setattr(verify, "_disagreement", lambda *_: "two intervals without a common point")
    assert cli("verify").code == 1


KERNELS = [
    ["mlsvm"],
    *(["kernel_mlsvm", *o] for o in (["--degree", 1], ["--degree", 3], ["--kernel", "rbf"])),
]


@pytest.mark.quick(4)
@both_formats
@pytest.mark.parametrize("options", KERNELS, ids=str)
def test_saved_solutions_are_certified_and_resumed(cli: Cli, options: list[Any], ending: str) -> None:
    method, *rest = options
    file = f"s.{ending}"
    first = cli("solve", method, "data.json", *rest, "--out", file, "--json")
    assert first.code == 0
    answer = cli("certify", file, "--json")
    assert answer[::2] == (0, "")
    found, again = json.loads(answer.out), recertify(cvxml.load(file), 1e-6)
    assert found["verdict"] == "certified"
    assert found["gap"] == again.certificate.gap
    assert found["objective"] == pytest.approx(json.loads(first.out)["objective"], rel=1e-12)
    assert cli("certify", file).out.startswith("CERTIFIED")
    resumed = json.loads(cli("solve", method, "data.json", *rest, "--warm-start", file, "--json").out)
    assert resumed["n_iter"] == 0
    assert resumed["objective"] == pytest.approx(found["objective"], rel=1e-6)
    assert cli("solve", method, "data.json", *rest, "--max-iter", 1, "--tol", 1e-9, "--out", file)[::2] == (
        3,
        "",
    )
    assert cli("certify", file).code == 3


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["fast", "clarabel"])
def test_a_solver_that_gives_up_is_inconclusive(cli: Cli, solver: str) -> None:
    Path("large.json").write_text(json.dumps({"X": (X * 1e8).tolist(), "y": Y.tolist()}))
    answer = cli("solve", "mlsvm", "large.json", "--solver", solver, "--max-iter", 20)
    assert answer.code == 3
    assert "not certified" in answer.out + answer.err


def test_an_internal_error_is_code_4_and_one_line(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cvxml, "solve", lambda *_, **__: {}["a"])
    answer = cli("solve", "mlsvm", "data.json")
    assert answer == (4, "", "cvxml: internal error: KeyError: 'a'\n")


OWN = [
    "--n-neighbors",
    "2",
    "--neighborhood",
    "per-class",
]  # those of `solved`: nothing is refuted, or diagnosed


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    "arguments", [["--help"], ["check", "mlsvm", "data.json", "--metric", "m.npy", *OWN]], ids=len
)
def test_cvxpy_is_not_loaded_where_it_is_not_needed(cli: Cli, arguments: list[str]) -> None:
    np.save("m.npy", solved("mlsvm").metric)
    root = str(Path(cvxml.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "cvxml", *arguments],
        capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": root},
    )  # fmt: skip
    assert done.returncode in (0, 1)
    assert done.stdout
    assert " numpy" in done.stderr
    assert not {"cvxpy", "sklearn"} & {line.split("|")[-1].strip() for line in done.stderr.splitlines()}


@pytest.mark.slow
def test_a_reader_who_has_seen_enough_is_no_error() -> None:
    """The reader is gone before anything is written."""
    command = f"{sys.executable} -m cvxml show mlsvm | true"
    root = str(Path(cvxml.__file__).parents[1])
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": root},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (141, "")  # as a shell says it of other programs


@pytest.mark.slow
def test_flags_that_only_the_shell_has(cli: Cli) -> None:
    best = cvxml.solve("mlsvm", X, Y, tol=1e-10)
    best.save("s.json")
    np.save("m.npy", best.metric)
    np.save("twice.npy", 2 * best.metric)
    check = ["check", "mlsvm", "data.json", "--json", "--metric"]
    for words in ([*check, "m.npy", "--tol", "strict"], ["certify", "s.json", "--json", "--tol", "strict"]):
        assert json.loads(cli(*words).out)["exact"] is None
        found = json.loads(cli(*words, "--exact").out)
        assert (found["verdict"], found["exact"]["of"]) == ("certified", "problem")
    assert json.loads(cli(*check, "twice.npy").out)["diagnosis"]
    assert json.loads(cli(*check, "twice.npy", "--no-diagnosis").out)["diagnosis"] == []
    late = cli("solve", "ssvm", "data.json", "--solver", "global", "--time-limit", "1e-9")
    assert late.code == 3
    assert "time_limit" in late.out + late.err
    for words, given in (
        (["--model", "mixture"], {"model": "mixture"}),
        (["--priors", "empirical"], {"priors": "empirical"}),
    ):
        found = json.loads(cli("solve", "glml", "data.json", "--alpha", 0.5, *words, "--json").out)
        asked = as_json(cvxml.solve("glml", X, Y, alpha=0.5, **given).to_dict())
        assert found["metric"] == asked["metric"]
        assert found["objective"] == asked["objective"]


@pytest.mark.parametrize(
    ("error", "code", "says"),
    [
        (KeyboardInterrupt(), 130, "interrupted"),
        (MemoryError(), 2, "out of memory"),
        (SolverFailure("no answer"), 3, "not certified: no answer"),
    ],
)
def test_what_ends_a_command(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, says: str
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr(cvxml, "solve", fail)
    answer = cli("solve", "mlsvm", "data.json")
    assert answer.code == code
    assert answer.err.startswith(f"cvxml: {says}")
    assert answer.err.count("\n") == 1


def test_progress_is_told_on_a_terminal(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    np.save("m.npy", cvxml.solve("mlsvm", X, Y).metric)
    for words in (["solve", "mlsvm", "data.json"], ["check", "mlsvm", "data.json", "--metric", "m.npy"]):
        shown = cli(*words).err.split("\n")[-2]  # one line, each time the gap was measured
        assert shown.count("\riteration") > 1
        assert "relative gap" in shown.split("\r")[-1]
        assert re.search(r"iteration \d+ .*objective .*\(\d+ s", shown)


def test_solve_shows_the_metric_with_the_names_of_its_features(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [",".join(map(repr, row)) + f",{label}" for row, label in zip(X.tolist(), Y, strict=True)]
    names = [f"feature{k}" for k in range(X.shape[1])]
    Path("named.csv").write_text("\n".join([",".join([*names, "label"]), *rows]) + "\n")
    assert main.run(["solve", "rca", "named.csv", "--index", "no", "--out", "m.csv"]) == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    at = lines.index("metric:")
    assert lines[at + 1].split() == names
    shown = [line.split() for line in lines[at + 2 : at + 2 + len(names)]]
    assert [row[0] for row in shown] == names
    expected = np.loadtxt("m.csv", delimiter=",")
    np.testing.assert_allclose([[float(cell) for cell in row[1:]] for row in shown], expected, rtol=1e-3)
    assert "saved: m.csv" in err.splitlines()


def test_of_many_features_the_largest_entries_are_shown() -> None:
    M = np.diag(np.arange(12.0))
    M[0, 5] = M[5, 0] = -100.0
    first, advice = metric_lines(M, [f"name{k}" for k in range(12)])
    assert "name0 x name5 -100" in first
    assert "--out" in advice
    assert "-0" not in "".join(metric_lines(-np.zeros((2, 2)), ()))


def test_a_table_of_a_metric_has_no_negative_zero(tmp_path: Path) -> None:
    write_matrix(tmp_path / "m.csv", -np.zeros((2, 2)))
    assert (tmp_path / "m.csv").read_text() == "0.0,0.0\n0.0,0.0\n"


# parameters that a saved solution holds, each with the option that reads them again
LISTS = [
    ("mlsvm", "neighbors", {}),
    ("lmnn", "targets", {}),
    ("frobmetric", "triplets", {}),
    ("lsml", "quadruplets", {}),
    ("mlr", "relevant", {}),
    ("scml", "basis", {}),
    ("plml", "anchors", {}),
    ("plml", "weights", {}),
    ("itml", "pairs", {"pairs": {"similar": [[0, 2], [1, 3]], "dissimilar": [[0, 1], [2, 3], [4, 5]]}}),
    ("rca", "chunklets", {"chunklets": [0, 0, 1, 1, 2, 2, 3, 3, -1, -1, 4, 4, 4, 4]}),
]


@pytest.mark.parametrize(("method", "name", "params"), LISTS, ids=lambda value: str(value)[:9])
def test_an_option_takes_its_list_from_a_saved_solution(
    cli: Cli, method: str, name: str, params: dict[str, Any]
) -> None:
    small = {key: value for key, value in get(method).SMALL.items() if key != "pairs"}
    cvxml.solve(method, X, Y, **{**small, **params}).save("s.json")
    held = json.loads(Path("s.json").read_text())
    options: list[Any] = []
    for key, value in small.items():
        options += [option(key), ",".join(map(str, value)) if isinstance(value, tuple) else value]
    answer = cli("solve", method, "data.json", *options, option(name), "s.json", "--out", "t.json")
    assert answer.code == 0, answer
    again = json.loads(Path("t.json").read_text())
    if name == "neighbors":
        assert [sorted(row) for row in again[name]] == [sorted(row) for row in held[name]]
    else:
        assert again["params"][name] == held["params"][name]
    np.testing.assert_allclose(again["objective"], held["objective"], rtol=1e-5)


@pytest.mark.parametrize(("method", "name", "params"), LISTS, ids=lambda value: str(value)[:9])
def test_an_option_refuses_a_saved_solution_without_its_list(
    cli: Cli, method: str, name: str, params: dict[str, Any]
) -> None:
    cvxml.solve("gmml", X, Y).save("s.json")
    answer = cli("solve", method, "data.json", option(name), "s.json")
    assert refused(answer), answer
    assert name in answer.err
    assert "s.json" in answer.err


def test_an_object_with_the_name_of_the_parameter_holds_its_lists(cli: Cli) -> None:
    lists = [[i + 2 if i < 12 else i - 2] for i in range(14)]
    for name in ("targets", "neighbors"):
        Path("lists.json").write_text(json.dumps({name: lists}))
        answer = cli("solve", "lmnn", "data.json", "--targets", "lists.json", "--json")
        assert json.loads(answer.out)["params"]["targets"] == lists
