"""The arrows point one way: read from the imports themselves."""

from __future__ import annotations

import ast
from pathlib import Path

import cvxml

ROOT = Path(cvxml.__file__).parent
FOUNDATION = (
    "metric",
    "neighbors",
    "result",
    "report",
    "files",
    "inputs",
    "statement",
    "variant",
    "exact",
    "balls",
    "squares",
    "coordinates",
    "proved",
    "span",
    "pairs",
    "symmetric",
    "budget",
    "palette",
    "_version",
)


def imports_of(path: Path) -> dict[str, bool]:
    """Modules that a file imports -> True if at module level."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    top = set(map(id, tree.body))
    found: dict[str, bool] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""] + [f"{node.module}.{a.name}" for a in node.names]
        else:
            continue
        for name in names:
            found[name] = found.get(name, False) or id(node) in top
    return found


def modules() -> dict[str, dict[str, bool]]:
    return {
        str(path.relative_to(ROOT).with_suffix("")).replace("/", "."): imports_of(path)
        for path in ROOT.rglob("*.py")
    }


def uses(imports: dict[str, bool], name: str) -> bool:
    return any(i == name or i.startswith(name + ".") for i in imports)


def test_the_reader_of_imports_sees_them() -> None:
    assert uses(modules()["methods.mlsvm.problem"], "cvxpy")
    assert len(modules()) > 20


def test_cvxpy_is_imported_only_by_problem_files_and_lazily_reached() -> None:
    for name, imports in modules().items():
        if name.endswith("problem"):
            continue
        assert not uses(imports, "cvxpy"), name
        at_top = [i for i, top in imports.items() if top and i.startswith("cvxml.methods.")]
        assert not any("problem" in i.split(".")[3:-1] or i.endswith(".problem") for i in at_top), name


def test_only_the_backend_calls_problem_solve() -> None:
    for path in ROOT.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.keyword)
                and node.arg == "solver"
                and isinstance(node.value, ast.Constant)
                and node.value.value not in ("fast", "global")  # ours
            ):
                raise AssertionError(f"{path} names a solver: {node.value.value}")
    assert "problem.solve(" in (ROOT / "backend.py").read_text(encoding="utf-8")


def test_the_foundation_imports_nothing_above_it() -> None:
    for name, imports in modules().items():
        if name.split(".")[0] in FOUNDATION:
            ours = [i.split(".")[1] for i in imports if i.startswith("cvxml.")]
            assert set(ours) <= set(FOUNDATION), (name, ours)


def test_methods_do_not_import_what_is_above_them_nor_each_other() -> None:
    for name, imports in modules().items():
        parts = name.split(".")
        if parts[0] != "methods" or len(parts) == 1:
            continue
        allowed = (*FOUNDATION, "firstorder", "newton", "interior", "barrier", "backend", "convex", "methods")
        if parts[-1] == "estimator":
            allowed += ("estimator",)
        for i in imports:
            if not i.startswith("cvxml."):
                continue
            assert i.split(".")[1] in allowed, (name, i)
            if i.startswith("cvxml.methods."):
                assert i.split(".")[2] == parts[1], (name, i)


def test_the_statement_the_proof_and_the_solver_share_no_algebra() -> None:
    all_imports = modules()
    known = {"neighborhood"}
    for name, allowed in {
        "problem": known,
        "evaluate": known,
        "certify": known | {"zero"},
        "zero": set(),
    }.items():
        ours = {i for i in all_imports[f"methods.mlsvm.{name}"] if i.startswith("cvxml.methods.")}
        assert {i.split(".")[3] for i in ours if i.count(".") > 2} <= allowed, (name, ours)
    for name in ("dual", "newton", "fast", "interior"):
        for other in ("problem", "evaluate", "certify", "zero"):
            assert not uses(all_imports[f"methods.mlsvm.{name}"], f"cvxml.methods.mlsvm.{other}"), (
                name,
                other,
            )


def test_the_literal_side_of_gerrymandering_shares_nothing_with_its_solver() -> None:
    all_imports = modules()
    literal = {"enumeration", "integer", "problem"}
    for name in literal:
        ours = {
            i.split(".")[3]
            for i in all_imports[f"methods.ssvm.{name}"]
            if i.startswith("cvxml.methods.ssvm.")
        }
        assert ours <= literal, (name, ours)
    for name in ("nearest", "inference", "columns", "newton", "step", "point", "cccp", "certify", "evaluate"):
        for other in literal:
            assert not uses(all_imports[f"methods.ssvm.{name}"], f"cvxml.methods.ssvm.{other}"), (name, other)


def test_the_literal_side_of_nca_and_its_proof_share_nothing_with_its_solver() -> None:
    all_imports = modules()
    solver = {"fast", "descent", "solver", "solve", "literal", "starts"}
    allowed = {
        "definitions": set(),
        "problem": {"definitions"},
        "evaluate": {"instance"},
        "rows": {"instance"},
        "certify": {"infinity", "instance", "rows"},
        "fast": {"instance"},
    }
    for name, others in allowed.items():
        found = {
            i.split(".")[3] for i in all_imports[f"methods.nca.{name}"] if i.startswith("cvxml.methods.nca.")
        }
        assert found == others, name
        assert not found & solver


def test_the_oracle_and_the_methods_do_not_need_scikit_learn_to_start() -> None:
    for name, imports in modules().items():
        if name.endswith("estimator"):
            continue
        assert not any(i.startswith("sklearn") and top for i, top in imports.items()), name
