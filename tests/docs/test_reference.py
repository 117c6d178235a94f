"""Each public name has an example in its docstring, which runs and prints what it says.

test_site.py tests the pages that docs/_ext/reference.py makes of these docstrings.
"""

from __future__ import annotations

import inspect
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

import cvxml
from cvxml import displays
from tests.docs.test_docs import Block, run_python

PUBLIC: dict[str, Any] = {
    **{name: getattr(cvxml, name) for name in cvxml.__all__ if name not in ("__version__", "displays")},
    **{name: getattr(displays, name) for name in displays.__all__},
}
# results: the users of the package do not call these classes
MADE_BY = {
    "Solution": "cvxml.solve(",
    "Certificate": ".certificate",
    "Report": "cvxml.check(",
    "Evaluation": "cvxml.evaluate(",
}


def example(item: Any) -> str:
    """The code of the last section of a docstring."""
    return (inspect.getdoc(item) or "").partition("\n\nExamples\n--------\n")[2]


@pytest.mark.quick(12)
@pytest.mark.parametrize("name", PUBLIC)
def test_the_example_of_a_public_name_runs(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if name in displays.__all__:
        pytest.importorskip("matplotlib").use("Agg")
    monkeypatch.chdir(tmp_path)
    code = example(PUBLIC[name])
    assert 3 <= len([line for line in code.splitlines() if line]) <= 6, "an example has three to six lines"
    assert run_python(Block("python", "", code), Path(name), {}, capsys) > 0


@pytest.mark.parametrize("name", PUBLIC)
def test_an_example_uses_its_name(name: str) -> None:
    """An estimator that has the example of another one would teach the wrong class."""
    code = example(PUBLIC[name])
    assert MADE_BY.get(name, name) in code


def functions(item: Any) -> dict[str, Any]:
    """The function, or the public functions of the class and of its base classes in this package."""
    if not inspect.isclass(item):
        return {item.__name__: item} if inspect.isfunction(item) else {}
    own = [of for of in item.__mro__ if of.__module__.startswith("cvxml")]
    found = {name: getattr(item, name) for of in own for name in vars(of) if name[0] != "_"}
    made = {} if issubclass(item, Enum) else {"__init__": item}
    return {**made, **{name: one for name, one in found.items() if inspect.isroutine(one)}}


@pytest.mark.parametrize("name", PUBLIC)
def test_every_parameter_has_a_type(name: str) -> None:
    """And is not Any, but for those of a method, which each method names."""
    for function, one in functions(PUBLIC[name]).items():
        for parameter in inspect.signature(one).parameters.values():
            if parameter.kind is not parameter.VAR_KEYWORD and parameter.name != "self":
                assert parameter.annotation not in ("Any", Any, parameter.empty), (function, parameter.name)
