"""The package as somebody finds it who types `import cvxml` and looks around."""

from __future__ import annotations

import importlib
import pkgutil
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import cvxml
from cvxml.methods import get, names
from cvxml.oracle.saved import recertify


def test_dir_lists_what_is_public_and_all_of_it_is_there() -> None:
    assert dir(cvxml) == sorted(cvxml.__all__)
    assert {"MLSVM", "GLML", "datasets", "displays", "solve", "typed"} <= set(dir(cvxml))
    for name in dir(cvxml):
        assert getattr(cvxml, name) is not None


def test_nothing_need_be_imported_first_and_nothing_is_that_takes_long() -> None:
    program = """
import sys
import cvxml
assert "numpy" not in sys.modules
assert cvxml.core.report.Report is cvxml.Report
assert cvxml.check is cvxml.oracle.check.check
cvxml.testing.assert_certified, cvxml.typed.mlsvm.solve, cvxml.methods.get, dir(cvxml)
assert not {"sklearn", "cvxpy", "matplotlib", "cvxml.datasets", "cvxml.displays"} & set(sys.modules)
cvxml.datasets.load, cvxml.displays.SpectrumDisplay
"""
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr


def test_a_solve_loads_no_package_that_it_does_not_use() -> None:
    program = """
import sys
import numpy as np
import scipy.sparse  # scipy 1.15 loads csgraph with it
loaded = set(sys.modules)
import cvxml
cvxml.solve("mlsvm", np.arange(8.0).reshape(8, 1) ** 2, [0, 0, 0, 0, 1, 1, 1, 1])
unused = {"sklearn", "cvxpy", "joblib", "flint", "matplotlib", "scipy.optimize", "scipy.sparse.csgraph"}
assert not (unused - loaded) & set(sys.modules)
cvxml.solve("lmnn", np.random.default_rng(0).standard_normal((20, 2)), [0, 1] * 10)
assert not {"sklearn", "cvxpy", "joblib", "matplotlib", "scipy.optimize", "scipy.spatial"} & set(sys.modules)
"""
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr


def test_no_function_has_the_name_of_a_package() -> None:
    for module in pkgutil.iter_modules(cvxml.__path__):
        if not module.name.startswith("_"):
            imported = importlib.import_module(f"cvxml.{module.name}")
            assert getattr(cvxml, module.name) is imported, module.name


def test_methods_is_the_package() -> None:
    import cvxml.methods as package
    from cvxml import methods

    assert isinstance(methods, ModuleType)
    assert methods is package
    assert methods.get("mlsvm").id == "mlsvm"
    assert cvxml.list_methods()[0] == "mlsvm"


def test_nobody_is_told_to_install_a_name_from_an_index() -> None:
    """The project is on no index: anybody could register its name there."""
    root = Path(cvxml.__file__).parents[1]
    pages = [*root.glob("*.md"), *(root / "docs").glob("*.md"), *(root / "cvxml").rglob("*.py")]
    told = re.compile(r"(pip|pipx|uv|conda) (install|add|run) (-\S+ )*['\"]?cvxml\b")
    assert len(pages) > 100
    assert told.search("pip install -q 'cvxml[plot]'")
    for page in pages:
        if page.name not in ("CHANGELOG.md", "RELEASING.md"):  # which say that it must not be done
            assert not told.search(page.read_text(encoding="utf-8")), page


@pytest.mark.parametrize("method", names())
def test_ids_may_have_capital_letters(method: str) -> None:
    assert get(method.upper()) is get(method)


def test_results_have_the_id_of_the_method_in_small_letters() -> None:
    X, y = np.array([[0.0], [1.0], [3.0], [5.0]]), [0, 0, 1, 1]
    solution = cvxml.solve("RCA", X, None, chunklets=y)
    assert solution.method == "rca"
    assert cvxml.evaluate("Rca", X, None, solution.metric, chunklets=y).to_dict()["method"] == "rca"
    assert cvxml.check("RCA", X, None, solution, chunklets=y).method == "rca"
    assert cvxml.check("RCA", X, None, solution.metric, chunklets=y).verdict == "certified"


def test_a_file_may_name_the_method_in_capital_letters(tmp_path: Path) -> None:
    X, y = np.array([[0.0], [1.0], [3.0], [5.0]]), [0, 0, 1, 1]
    cvxml.solve("rca", X, None, chunklets=y).save(path := tmp_path / "s.json")
    path.write_text(path.read_text(encoding="utf-8").replace('"rca"', '"RCA"'), encoding="utf-8")
    saved = cvxml.load(path)
    assert recertify(saved, "normal").to_dict()["method"] == "rca"
    assert cvxml.check("rca", X, None, saved, chunklets=y).notes == ()
    assert cvxml.solve("rca", X, None, warm_start=saved, chunklets=y).status == "converged"


def test_a_picture_of_a_method_in_capital_letters() -> None:
    X, y = np.array([[0.0], [1.0], [3.0], [5.0]]), [0, 0, 1, 1]
    points = np.hstack([X, X**2])
    shown = cvxml.displays.NeighborhoodDisplay.from_metric("MLSVM", points, y, np.eye(2), n_neighbors=2)
    assert set(shown.sets) == {"targets", "impostors"}


def test_data_in_the_place_of_the_method_is_noticed() -> None:
    X, y = np.eye(4), [0, 0, 1, 1]
    for wrong in (cvxml.solve, cvxml.problem):
        with pytest.raises(ValueError, match="ndarray"):
            wrong(X, "lmnn", y)  # type: ignore[arg-type]
