"""`cvxml.typed`: what each method takes, for editors and type checkers, in step with what the methods say."""

from __future__ import annotations

import inspect
import json
import os
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import cvxml
from cvxml import typed
from cvxml.methods import get, names

ROOT = Path(cvxml.__file__).parent.parent
X, Y = [[0.0], [4.0], [12.0]], [0, 0, 1]
RIGHT = """
from typing import Any
import cvxml
from cvxml import typed

X, y = [[0.0], [4.0], [12.0]], [0, 0, 1]
solution = typed.mlsvm.solve(X, y, lam=0.1, n_neighbors=2, solver="scs", tol="loose")
report = typed.lmnn_squared_hinge.check(X, y, solution, mu=0.5, triplets=[[0, 1, 2]], tol=1e-4)
typed.mmc_diagonal.problem(X, None, pairs={"similar": [[0, 1]], "dissimilar": [[0, 2]]}, dual=True)
typed.ssvm.solve(X, y, init=["zero", "identity"])
typed.itml.evaluate(X, y, [[1.0]], t=2, prior="identity", bounds=(1.0, 2.0))
for method in cvxml.list_methods():
    cvxml.solve(method, X, y, tol="strict", max_iter=5, whatever=1)
if report.verdict == "certified":
    print(solution.gap)
cvxml.LMNN(mu=0.5, tol="loose").fit(X, y).set_output(transform="pandas").transform(X)
cvxml.GLML(1, 0.5).fit(X, y).score(X, y) + cvxml.Gerrymandering(3).set_params(C=1.0).fit(X, y).n_features_in_
cvxml.MLKR().fit_transform(X, y), cvxml.RCA().get_feature_names_out(), cvxml.MMC(diagonal=True).get_params()
points, given = cvxml.from_tuples([[[0.0], [4.0]], [[0.0], [12.0]]], [1, -1])
cvxml.solve("itml", points, None, **given), cvxml.ITML().fit(points, **given)
cvxml.datasets.load("iris"), cvxml.displays.SpectrumDisplay
cvxml.solve("lmnn", X, y, mu=0.5, solver="scs", tol="loose").save("metric.json")
cvxml.check("MLSVM", X, y, [[1.0]], lam=0.1, neighbors=[[1], [0], [1]], exact=True).verdict
cvxml.certify("ssvm", X, y, [[1.0]], {}, C=0.5).gap, cvxml.evaluate("itml", X, None, [[1.0]], gamma=2.0).objective
cvxml.problem("mlsvm", X, y, lam=object()), cvxml.problem("nca", X, y, at=[[1.0]])
params: dict[str, Any] = {"lam": 0.1}
cvxml.solve("mlsvm", X, y, **params)
text: str = input()
cvxml.check(typed.MethodId(text), X, y, [[1.0]], **params)
"""
WRONG = {
    "typed.mlsvm.solve(X, y, lamda=0.1)": 'Unexpected keyword argument "lamda" for "solve"',
    "typed.mlsvm.check(X, y, [[1.0]], mu=0.1)": 'Unexpected keyword argument "mu" for "check"',
    "typed.mlsvm.problem(X, y, solver='scs')": 'Unexpected keyword argument "solver" for "problem"',
    "typed.mlsvm.solve(X, y, lam='much')": 'Argument "lam" to "solve"',
    "typed.mlkr.solve(X, y, solver='scs')": 'Argument "solver" to "solve"',
    "typed.mlsvm.solve(X, y, tol='lose')": 'Argument "tol" to "solve"',
    "cvxml.solve('mlsvm', X, y, tol='lose')": 'overload variant of "solve"',
    "cvxml.solve('lmn', X, y, lamda=3)": 'overload variant of "solve"',
    "cvxml.solve('lmnn', X, y, lamda=3)": 'overload variant of "solve"',
    "cvxml.solve('mlsvm', X, y, lam='much')": 'overload variant of "solve"',
    "cvxml.solve('mlkr', X, y, solver='scs')": 'overload variant of "solve"',
    "cvxml.solve(X, y, 'mlsvm')": 'overload variant of "solve"',
    "cvxml.check('mlsvm', X, y, [[1.0]], mu=0.1)": 'overload variant of "check"',
    "cvxml.check('mlsmv', X, y, [[1.0]])": 'overload variant of "check"',
    "cvxml.evaluate('itml', X, y, [[1.0]], lam=1.0)": 'overload variant of "evaluate"',
    "cvxml.certify('mlsvm', X, y, [[1.0]])": 'overload variant of "certify"',
    "cvxml.problem('mlsvm', X, y, solver='scs')": 'overload variant of "problem"',
    "cvxml.solve(str(X), X, y)": 'overload variant of "solve"',
    "typed.mlsmv.solve(X, y)": 'has no attribute "mlsmv"',
    "cvxml.MLSVM(lamda=0.1)": 'Unexpected keyword argument "lamda" for "MLSVM"',
    "cvxml.LMNN(mu='much')": 'Argument "mu" to "LMNN"',
    "cvxml.SCML(1e-5, 3, 'fast')": 'Too many positional arguments for "SCML"',
    "cvxml.DMLEig().fit(X, y, triplets=[])": 'Unexpected keyword argument "triplets" for "fit"',
    "cvxml.PLML(anchor=3)": 'Unexpected keyword argument "anchor" for "PLML"',
    "cvxml.CrammerSingerSVM(lam=1)": 'Unexpected keyword argument "lam" for "CrammerSingerSVM"',
    "cvxml.Gerrymandering(k=3)": 'Unexpected keyword argument "k" for "Gerrymandering"',
}


def test_the_stub_is_what_the_methods_say() -> None:
    """To write the stubs anew: python docs/_ext/stubs.py."""
    program = "import json, sys; sys.path.insert(0, 'docs/_ext'); import stubs; json.dump(stubs.stubs(), sys.stdout)"
    clone = Path(__file__).parent.parent
    said = subprocess.run(
        [sys.executable, "-c", program],
        cwd=clone,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert said.returncode == 0, said.stderr
    written = json.loads(said.stdout)
    stubs = {str(path.relative_to(ROOT / "cvxml")) for path in (ROOT / "cvxml").rglob("*.pyi")}
    assert set(written) == {"__init__.py", *stubs}
    for name, text in written.items():
        assert (ROOT / "cvxml" / name).read_text(encoding="utf-8") == text, name


def test_a_new_estimator_gets_its_places_in_the_package() -> None:
    package = runpy.run_path(str(Path(__file__).parent.parent / "docs" / "_ext" / "stubs.py"))["package"]
    text = lost = (ROOT / "cvxml" / "__init__.py").read_text(encoding="utf-8")
    for name in ("LMNN", "DMLEig"):
        for place in (f"        {name},\n", f" {name},", f'    "{name}",\n'):
            assert place in lost
            lost = lost.replace(place, "")
    assert sorted(package(lost).split()) == sorted(text.split())
    assert package(text) == text


def test_every_method_is_there_by_its_id() -> None:
    assert dir(typed) == sorted(name.replace(":", "_") for name in names())
    with pytest.raises(AttributeError, match=r"'mlsmv'.*'mlsvm'\?"):
        _ = typed.mlsmv  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", typed.named())
def test_it_takes_what_the_method_takes(name: str) -> None:
    of, one = get(typed.named()[name]), getattr(typed, name)
    for function in typed.FUNCTIONS:
        shown = inspect.signature(getattr(one, function.__name__)).parameters
        assert shown.keys() >= {"X", "y", *of.PARAMETERS}
        assert not shown.keys() & ({"method", "params"} | (typed.ELSEWHERE - of.PARAMETERS.keys()))
        assert all(shown[name].default == each.default for name, each in of.PARAMETERS.items())
    assert inspect.signature(one.solve).parameters.keys() >= of.SOLVE_PARAMETERS.keys()


def test_it_does_what_the_functions_do() -> None:
    given: dict[str, Any] = {"lam": 0.5, "n_neighbors": 2}
    solution, one = cvxml.solve("mlsvm", X, Y, **given), typed.mlsvm
    assert one.solve(X, Y, **given).params == solution.params
    assert one.check(X, Y, solution, **given).verdict == "certified"
    assert one.evaluate(X, Y, solution.metric, **given).objective == pytest.approx(solution.objective)
    assert one.certify(X, Y, solution.metric, solution.dual, **given).proves("normal")
    assert one.problem(X, Y, **given).is_dcp()
    assert "MLSVM" in str(one.solve.__doc__)
    assert typed.nca.problem(X, Y, at=[[2.0]]) is not None


@pytest.mark.slow
def test_a_type_checker_sees_what_is_wrong(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    head = "\n".join(RIGHT.splitlines()[:6])
    (tmp_path / "right.py").write_text(RIGHT)
    (tmp_path / "wrong.py").write_text("\n".join([head, *WRONG]))
    said = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "right.py", "wrong.py"],
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    errors = {
        int(line.split(":")[1]): line
        for line in said.stdout.splitlines()
        if line.startswith(("right.py", "wrong.py")) and ": error:" in line
    }
    assert "right.py" not in said.stdout, said.stdout
    first = len(head.splitlines()) + 1
    assert list(errors) == list(range(first, first + len(WRONG))), said.stdout
    for line, words in zip(errors.values(), WRONG.values(), strict=True):
        assert words in line


def test_the_docstring_of_a_function_describes_the_parameters_of_its_method() -> None:
    for name, method in typed.named().items():
        of, functions = get(method), getattr(typed, name)
        for key, each in {**of.PARAMETERS, **of.SOLVE_PARAMETERS}.items():
            assert f"{key}: {each}" in functions.solve.__doc__
            assert (f"{key}: {each}" in functions.check.__doc__) == (key in of.PARAMETERS)
