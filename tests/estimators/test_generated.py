"""The public face of all estimators, and the estimators that are made of what their methods state."""

from __future__ import annotations

import inspect
import json
import pickle
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone

import cvxml
from cvxml.core.estimator import Estimator
from cvxml.estimators import generated
from cvxml.estimators.base import Learner, PairsEstimator, TripletsEstimator
from cvxml.estimators.made import made
from cvxml.methods import METHODS, get, names
from tests.instances import random_data

# Of version 0.2: signatures and parameters. Scripts rely on all of it but the types.
PUBLIC: dict[str, Any] = json.loads(Path(__file__).with_name("public.json").read_text(encoding="utf-8"))
STATED = [method for method in names() if ":" not in method and get(method).ESTIMATOR is not None]
every_generated = pytest.mark.parametrize("name", dir(generated))


@pytest.mark.parametrize("name", PUBLIC)
def test_the_public_face_of_an_estimator_is_that_of_version_0_2(name: str) -> None:
    of = getattr(cvxml, name)
    doc = (inspect.getdoc(of) or "").partition("\n\nAttributes\n")[0]
    lines = doc.partition("Parameters\n----------\n")[2].splitlines()
    known = PUBLIC[name]
    assert untyped(str(inspect.signature(of))) == untyped(known["signature"])
    assert untyped(str(inspect.signature(of.fit))) == untyped(known["fit"])
    stated = [line.partition(". ")[0] for line in lines if not line.startswith(" ")]
    assert [*map(name_and_default, stated)] == [*map(name_and_default, known["parameters"])]


def untyped(signature: str) -> str:
    """A signature without its annotations: types may become narrower than Any."""
    return re.sub(r"""(:|->) ('[^']*'|"[^"]*")""", "", signature)


def name_and_default(parameter: str) -> tuple[str, str]:
    """Of a line such as `tol : float, default 1e-06`."""
    name, _, stated = parameter.partition(" : ")
    return name, stated.rpartition("default ")[2].strip('"') if "default " in stated else ""


def test_every_estimator_of_version_0_2_is_there() -> None:
    found = [name for name in cvxml.__all__ if inspect.isclass(getattr(cvxml, name))]
    assert set(PUBLIC) <= {name for name in found if issubclass(getattr(cvxml, name), BaseEstimator)}


@every_generated
def test_a_generated_class_is_found_by_its_module_and_name(name: str) -> None:
    of = getattr(cvxml, name)
    assert of is getattr(import_module(of.__module__), of.__qualname__)
    assert of is getattr(generated, name)
    assert pickle.loads(pickle.dumps(of)) is of


@pytest.mark.parametrize("method", STATED)
def test_a_stated_estimator_is_public(method: str) -> None:
    said = get(method).ESTIMATOR
    assert said is not None
    assert said.name in cvxml.__all__, (
        f"add {said.name} to cvxml/__init__.py: to its docstring, to the imports for type checkers and to __all__"
    )


def test_there_is_no_other_name() -> None:
    for name in ("Lmnn", "MLSVM", "_private"):
        with pytest.raises(AttributeError, match=name):
            getattr(generated, name)


@pytest.fixture
def invented(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """A method "new_one" in the registry, a copy of RTML without an estimator."""
    content = {name: value for name, value in vars(type(get("rtml"))).items() if name != "__dict__"}
    module = ModuleType("cvxml.methods.new_one")
    module.Of = type("Of", type(get("rtml")).__bases__, {**content, "id": "new_one"})  # type: ignore[attr-defined]
    module.METHOD = module.Of()  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(METHODS, "new_one", "cvxml.methods.new_one:METHOD")
    yield module
    vars(generated).pop("NewOne", None)


def test_one_attribute_makes_an_estimator(invented: Any) -> None:
    invented.Of.ESTIMATOR = Estimator("NewOne")
    of: Any = generated.NewOne  # type: ignore[attr-defined]
    assert "NewOne" in dir(generated)
    assert issubclass(of, TripletsEstimator)
    parameters = inspect.signature(of).parameters
    by_position = [name for name, each in parameters.items() if each.kind is not each.KEYWORD_ONLY]
    assert by_position == ["lam", "width", "n_neighbors"]  # all but the lists of points
    assert set(parameters) == {*by_position, "solver", "tol", "max_iter", "warm_start"}
    X, y = random_data(0, n=16, d=3)
    model = clone(of(10.0, n_neighbors=2)).fit(X, y)
    np.testing.assert_array_equal(
        model.solution_.metric, cvxml.solve("rtml", X, y, lam=10.0, n_neighbors=2).metric
    )
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.transform(X), model.transform(X))


@pytest.mark.parametrize(
    ("method", "base"), [("lmnn", TripletsEstimator), ("itml", PairsEstimator), ("mcml", Learner)]
)
def test_the_base_follows_from_what_fit_takes(method: str, base: type) -> None:
    said = get(method).ESTIMATOR
    assert said is not None
    assert made(said.name, generated.__name__).__bases__ == (base,)


def test_more_than_two_formulas_need_a_file(invented: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    invented.Of.ESTIMATOR = Estimator("NewOne")
    for option in ("a", "b"):
        monkeypatch.setitem(METHODS, f"new_one:{option}", "cvxml.methods.new_one:METHOD")
    with pytest.raises(TypeError, match="new_one"):
        made("NewOne", generated.__name__)


@pytest.mark.parametrize("name", PUBLIC)
def test_a_docstring_says_what_none_stands_for(name: str) -> None:
    of = getattr(cvxml, name)
    if not hasattr(of, "_method"):
        return
    method = get(of()._method)
    told = " ".join((inspect.getdoc(of) or "").split())
    for key, parameter in {**method.PARAMETERS, **method.SOLVE_PARAMETERS}.items():
        given = inspect.signature(of).parameters.get(key)
        if given is not None and given.default is None and parameter.otherwise:
            assert f"None: {' '.join(parameter.otherwise.split())}" in told
