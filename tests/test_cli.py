"""The command line: answers and exit codes; bad input is one line and code 2; no tampered file passes."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import cvxml
from cvxml.cli import run
from cvxml.methods import names
from cvxml.oracle import verify
from cvxml.oracle.saved import recertify
from cvxml.result import CLAIMS, Solution
from tests.instances import random_data

X, Y = random_data(0, n=14, d=3, classes=2)
GRID = np.random.default_rng(0).integers(0, 3, (14, 2)).astype(float)
every_method = pytest.mark.parametrize("method", names())
both_formats = pytest.mark.parametrize("ending", ["json", "npz"])


class Answer(NamedTuple):
    code: int
    out: str
    err: str


Cli = Callable[..., Answer]


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Runs a command in a folder that holds data.json, grid.json and metrics m1.npy (3, 3) and m14.npy (14, 14)."""
    monkeypatch.chdir(tmp_path)
    for name, points in (("data", X), ("grid", GRID)):
        Path(f"{name}.json").write_text(json.dumps({"X": points.tolist(), "y": Y.tolist()}))

    def call(*arguments: object) -> Answer:
        capsys.readouterr()
        code = run([str(a) for a in arguments])
        return Answer(code, *capsys.readouterr())

    return call


@cache
def solved(method: str) -> Solution:
    return cvxml.solve(method, X, Y, n_neighbors=2, neighborhood="per-class")


def refused(answer: Answer) -> bool:
    line = answer.err.rstrip("\n")
    return (
        answer.code == 2
        and not answer.out
        and line.startswith("cvxml: ")
        and "\n" not in line
        and len(line) < 500
    )


def as_json(value: Any) -> Any:
    return json.loads(json.dumps(value))


# --- happy paths ---


def test_list_show_help_version(cli: Cli) -> None:
    assert all(name in cli("list").out for name in (*names(), "iris", "rings"))
    assert cli("--version").out == f"cvxml {cvxml.__version__}\n"
    for command in ("list", "show", "solve", "check", "evaluate", "certify", "verify"):
        assert command in cli("--help").out
        assert cli(command, "--help")[::2] == (0, "")
    for method in names():
        answer = cli("show", method)
        assert answer.code == 0
        assert "cp.Problem(" in answer.out
        assert "lam/2 ||" in answer.out


SETTINGS: list[dict[str, Any]] = [
    {},
    {"lam": 0.01, "n_neighbors": 3, "neighborhood": "per-class"},
    {"tol": 1e-9},
    {"solver": "clarabel", "tol": 1e-3},
]


@every_method
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_solve_is_the_python_function(cli: Cli, method: str, settings: dict[str, Any]) -> None:
    options = [w for k, v in settings.items() for w in (f"--{k.replace('_', '-')}", v)]
    solution = cvxml.solve(method, X, Y, **settings)
    answer = cli("solve", method, "data.json", "--json", *options)
    assert answer.code == 0
    assert answer.err == ""
    assert json.loads(answer.out) == as_json(solution.to_dict())
    assert cli("solve", method, "data.json", *options).out == f"{solution}\n"


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
        assert cli("solve", "mlsvm", *given) == expected


@every_method
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


def test_ties_are_inconclusive_unless_lists_are_given(cli: Cli) -> None:
    np.save("m.npy", np.eye(2))
    assert cli("check", "mlsvm", "grid.json", "--metric", "m.npy").code == 3
    Path("n.json").write_text(json.dumps([p.tolist() for p in cvxml.solve("mlsvm", GRID, Y).neighbors]))
    assert cli("check", "mlsvm", "grid.json", "--metric", "m.npy", "--neighbors", "n.json").code == 1


@every_method
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


def test_verify_agrees_or_says_so(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    small = (verify.Case("mlsvm", "rings", 20, False, {"lam": 0.1}),)
    monkeypatch.setattr(verify, "verify", partial(verify.verify, cases=small))
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


@pytest.mark.parametrize(
    "arguments", [["--help"], ["check", "mlsvm", "data.json", "--metric", "m.npy"]], ids=len
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


# --- bad usage, bad values, bad files ---

BAD_USAGE = {
    "no-command": "",
    "unknown-command": "prove",
    "no-data": "solve mlsvm",
    "unknown-method": "solve MLSVM data.json",
    "unknown-method-shown": "show lmnn",
    "unknown-option": "solve mlsvm data.json --lambda 1",
    "foreign-parameter": "solve mlsvm data.json --degree 2",
    "unknown-set": "solve mlsvm nothing",
    "missing-file": "solve mlsvm nothing.csv",
    "folder": "solve mlsvm .",
    "label-not-in-csv": "solve mlsvm data.json --label y",
    "unwritable": "solve mlsvm data.json --out no/such/folder/out.json",
    "out-ending": "solve mlsvm data.json --out out.txt",
    "lists-missing": "solve mlsvm data.json --neighbors nothing.json",
    "check-nothing": "check mlsvm data.json",
    "check-both": "check mlsvm data.json --metric m.npy --components m.npy",
    "check-shape": "check mlsvm grid.json --metric m.npy",
    "check-tol": "check mlsvm data.json --metric m.npy --tol 1e-6",
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


# --- saved solutions that were tampered with ---

Change = Callable[[dict[str, Any]], object]


def in_dual(name: str, change: Callable[[list[Any]], Any]) -> Change:
    return lambda c: c["dual"].update({name: change(c["dual"][name])})


def zeros(c: dict[str, Any]) -> list[list[float]]:
    return np.zeros_like(c["metric"]).tolist()


def empty_dual() -> dict[str, list[Any]]:
    return {"u": [], "u_index": [], "w": [], "w_index": []}


TAMPERED: dict[str, tuple[set[int], Change]] = {
    "objective-lower": ({1}, lambda c: c.update(objective=c["objective"] - 1e-6)),
    "bound-higher": ({1}, lambda c: c.update(lower_bound=c["objective"] + 1e-6)),
    "metric-scaled": ({1}, lambda c: c.update(metric=(1.01 * np.array(c["metric"])).tolist())),
    "metric-zero": ({1}, lambda c: c.update(metric=zeros(c), objective=None, lower_bound=None)),
    "metric-zero-unclaimed": ({2, 3}, lambda c: c.update(metric=zeros(c), **dict.fromkeys(CLAIMS))),
    "metric-indefinite": ({1}, lambda c: c.update(metric=(-np.array(c["metric"])).tolist())),
    "metric-huge": ({1, 2}, lambda c: c.update(metric=(1e200 * np.eye(len(c["metric"]))).tolist(), objective=None)),
    "metric-smaller": ({2}, lambda c: c.update(metric=[[1.0]])),
    "dual-zero": ({1}, in_dual("u", lambda u: [0.0] * len(u))),
    "dual-huge": ({1, 2, 3}, lambda c: c.update(metric=zeros(c), objective=None, lower_bound=None,
                                             dual={**c["dual"], "u": [1e308] * len(c["dual"]["u"]),
                                                                           "w": [1.0] * len(c["dual"]["w"])})),
    "dual-short": ({2}, in_dual("u", lambda u: u[1:])),
    "dual-2-D": ({2}, in_dual("w", lambda w: [[x] for x in w])),
    "dual-strings": ({2}, in_dual("w", lambda w: ["x"] * len(w))),
    "dual-index-above": ({2}, in_dual("u_index", lambda p: [[14, 0], *p[1:]])),
    "dual-index-below": ({2}, in_dual("w_index", lambda p: [[0, -1], *p[1:]])),
    "dual-index-flat": ({2}, in_dual("w_index", lambda p: [i for pair in p for i in pair])),
    "dual-index-floats": ({2}, in_dual("u_index", lambda p: [[i + 0.5, j] for i, j in p])),
    **{f"dual-without-{k}": ({2}, lambda c, k=k: c["dual"].pop(k)) for k in empty_dual()},
    **{
        f"without-{k}": ({2}, lambda c, k=k: c.pop(k))
        for k in ("format", "version", "method", "params", "X", "y", "neighbors", "metric", "dual")
    },
    "without-lam": ({2}, lambda c: c["params"].pop("lam")),
    "format": ({2}, lambda c: c.update(format="cvxml-report")),
    "version": ({2}, lambda c: c.update(version=2)),
    "method-unknown": ({2}, lambda c: c.update(method="lmnn")),
    "method-other": ({1, 2, 3}, lambda c: c.update(method=next(m for m in names() if m != c["method"]))),
    "lam-other": ({1}, lambda c: c["params"].update(lam=0.11)),
    "lam-zero": ({2}, lambda c: c["params"].update(lam=0)),
    "lam-string": ({2}, lambda c: c["params"].update(lam="0.1")),
    "parameter-unknown": ({2}, lambda c: c["params"].update(mu=1)),
    "X-other": ({1, 2, 3}, lambda c: c["X"][0].reverse()),
    "X-short": ({2}, lambda c: c["X"].pop()),
    "y-other": ({1, 2, 3}, lambda c: c["y"].insert(0, c["y"].pop(2) ^ 1)),
    "y-short": ({2}, lambda c: c["y"].pop()),
    "y-one-class": ({2}, lambda c: c.update(y=[0] * 14)),
    "y-fractions": ({2}, lambda c: c.update(y=[v + 0.5 for v in c["y"]])),
    "lists-above": ({2}, lambda c: c["neighbors"][0].append(14)),
    "lists-itself": ({2}, lambda c: c["neighbors"][0].append(0)),
    "lists-twice": ({2}, lambda c: c["neighbors"][0].append(c["neighbors"][0][0])),
    "lists-short": ({2}, lambda c: c["neighbors"].pop()),
    "lists-floats": ({2}, lambda c: c["neighbors"][0].append(0.5)),
    # "per-class" with 2 neighbours is what the file states; with no lists at all A = 0 would be optimal
    "lists-emptied": ({1, 2, 3}, lambda c: c.update(neighbors=[[]] * 14, metric=zeros(c), objective=0.0,
                                                    lower_bound=0.0, dual=empty_dual())),
}  # fmt: skip


def write(path: str, content: dict[str, Any]) -> None:
    """What Solution.save would have written of this content."""
    if path.endswith(".json"):
        Path(path).write_text(json.dumps(content))
        return
    arrays = {k: np.array(content[k]) for k in ("metric", "X", "y") if k in content}
    arrays |= {f"dual_{k}": np.array(v) for k, v in content.get("dual", {}).items()}
    if "neighbors" in content:
        flat = [j for listed in content["neighbors"] for j in listed]
        arrays["neighbors"] = np.array(flat) if flat else np.zeros(0, dtype=np.int64)
        arrays["neighbor_counts"] = np.array([len(listed) for listed in content["neighbors"]])
    header = {k: v for k, v in content.items() if k not in ("metric", "X", "y", "dual", "neighbors")}
    np.savez(path, header=np.array(json.dumps(header)), **arrays)


@every_method
@pytest.mark.parametrize("case", TAMPERED)
def test_tampered_solutions_do_not_pass(cli: Cli, method: str, case: str) -> None:
    codes, change = TAMPERED[case]
    content = as_json(solved(method).to_dict())
    change(content)
    for file in ("t.json", "t.npz"):
        write(file, content)
        answer = cli("certify", file)
        assert answer.code in codes, (file, answer)
        assert refused(answer) if answer.code == 2 else answer.err == ""


@every_method
def test_what_these_tests_write_passes_untampered(cli: Cli, method: str) -> None:
    for file in ("t.json", "t.npz"):
        write(file, as_json(solved(method).to_dict()))
        assert cli("certify", file).code == 0


HUGE = 10**400
STRANGE: dict[str, Change] = {
    **{f"{k}-huge": lambda c, k=k: c.update({k: HUGE}) for k in ("objective", "lower_bound", "version")},
    **{f"{k}-huge": lambda c, k=k: c[k].append([HUGE] * 3) for k in ("X", "metric")},
    "y-huge": lambda c: c["y"].append(HUGE),
    "lam-huge": lambda c: c["params"].update(lam=HUGE),
    "u-huge": in_dual("u", lambda u: [HUGE] * len(u)),
    **{f"{k}-{v}": lambda c, k=k, v=v: c.update({k: v}) for v in (None, 3, True, "x", [], [[]])
       for k in ("neighbors", "dual", "X", "y", "metric", "method")},
    **{f"u-{v}": in_dual("u", lambda _, v=v: v) for v in (None, 3, True, "x", [{}], [[]])},
}  # fmt: skip


@every_method
@pytest.mark.parametrize("case", STRANGE)
def test_strange_values_in_a_saved_solution(cli: Cli, method: str, case: str) -> None:
    content = as_json(solved(method).to_dict())
    STRANGE[case](content)
    write("t.json", content)
    answer = cli("certify", "t.json")
    assert answer.code in (1, 2)
    assert refused(answer) if answer.code == 2 else answer.err == ""


@pytest.mark.parametrize(
    "header", ["[" * 10**5, '{"format": "cvxml-solution", "version": NaN}', "{", '"x"'], ids=len
)
def test_strange_headers_of_npz(cli: Cli, header: str) -> None:
    write("t.npz", solved("mlsvm").to_dict())
    arrays = dict(np.load("t.npz"))
    np.savez("t.npz", **{**arrays, "header": np.array(header)})
    assert refused(cli("certify", "t.npz"))
    counts = arrays["neighbor_counts"] + np.eye(14, dtype=int)[0]
    np.savez("t.npz", **{**arrays, "neighbor_counts": counts})
    assert cli("certify", "t.npz").code in (1, 2)
