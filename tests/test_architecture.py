"""The arrows point one way: read from the imports themselves."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import cvxml

ROOT = Path(cvxml.__file__).parent
# each may import those before it; api, the estimators and the oracle are also what cvxml/__init__.py re-exports
LAYERS = (
    "core",
    "family",
    "methods",
    "api",
    "datasets",
    "oracle",
    "displays",
    "estimators",
    "lessons",
    "cli",
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


def test_cvxpy_is_lazily_reached_and_only_by_problems() -> None:
    for name, imports in modules().items():
        of_one_file = name.startswith("methods.") and (name.count(".") == 1 or name.endswith(".__init__"))
        if not (name.endswith("problem") or of_one_file):
            assert not uses(imports, "cvxpy"), name
        if of_one_file:
            assert not imports.get("cvxpy", False), name  # within a function alone
        at_top = [i for i, top in imports.items() if top and i.startswith("cvxml.methods.")]
        assert not any("problem" in i.split(".")[3:-1] or i.endswith(".problem") for i in at_top), name


LITERAL = ("literal", "dual", "inverse_root", "objective", "evaluate")  # functions of a method of one file


def reached(tree: ast.Module, starts: set[str]) -> set[str]:
    """Every name in these functions of a module and in those of its functions that they reach."""
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    seen: set[str] = set()
    waiting = [name for name in starts if name in functions]
    while waiting:
        function = functions.pop(waiting.pop(), None)
        if function is not None:
            names = {
                node.id for part in function.body for node in ast.walk(part) if isinstance(node, ast.Name)
            }
            seen |= names | {function.name}
            waiting += [name for name in names if name in functions]
    return seen


def test_the_literal_problem_and_the_naive_objective_reach_nothing_of_the_family() -> None:
    looked_at = 0
    for path in [*(ROOT / "methods").glob("*.py"), *(ROOT / "methods").glob("*/__init__.py")]:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        of_the_family = {
            alias.asname or alias.name
            for node in tree.body
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("cvxml.family")
            for alias in node.names
        }
        if not of_the_family:
            continue
        names = reached(tree, set(LITERAL))
        assert {"objective", "literal", "dual"} <= names, path
        assert not names & of_the_family, (path, names & of_the_family)
        looked_at += 1
    assert looked_at >= 2
    for name, imports in modules().items():
        if name.startswith("methods.") and name.split(".")[-1] in (
            "problem",
            "evaluate",
            "definitions",
            "enumeration",
        ):
            assert not uses(imports, "cvxml.family"), name


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
    assert "problem.solve(" in (ROOT / "core" / "backend.py").read_text(encoding="utf-8")


def test_every_layer_imports_only_those_below() -> None:
    for name, imports in modules().items():
        layer = name.split(".")[0]
        if layer in ("__init__", "__main__", "_version"):
            continue
        above = LAYERS[LAYERS.index(layer) + 1 :]
        ours = {i.split(".")[1] for i in imports if i.startswith("cvxml.")}
        assert not ours & set(above), (name, ours)
        if layer in ("core", "family", "methods"):
            assert "cvxml" not in imports, name


def test_there_are_few_things_at_the_top() -> None:
    seen = [path for path in ROOT.iterdir() if path.name != "__pycache__"]
    assert len(seen) <= 16, sorted(path.name for path in seen)


def test_methods_do_not_import_each_other() -> None:
    for name, imports in modules().items():
        parts = name.split(".")
        if parts[0] != "methods" or len(parts) == 1:
            continue
        for i in imports:
            if i.startswith("cvxml.methods."):
                # the kernel problem is the linear one on other rows
                ours = {parts[1], "mlsvm"} if parts[1] == "kernel_mlsvm" else {parts[1]}
                assert i.split(".")[2] in ours, (name, i)


def test_the_statement_the_proof_and_the_solver_share_no_algebra() -> None:
    all_imports = modules()
    known = {"neighborhood"}
    for name, allowed in {
        "problem": known,
        "evaluate": known,
    }.items():
        ours = {i for i in all_imports[f"methods.mlsvm.{name}"] if i.startswith("cvxml.methods.")}
        assert {i.split(".")[3] for i in ours if i.count(".") > 2} <= allowed, (name, ours)
    for name in ("dual", "newton", "fast", "interior"):
        imports = all_imports[f"methods.mlsvm.{name}"]
        for other in ("problem", "evaluate", "method"):
            assert not uses(imports, f"cvxml.methods.mlsvm.{other}"), (name, other)
        for proof in ("bound", "frobenius", "groups"):
            assert not uses(imports, f"cvxml.family.{proof}"), (name, proof)


def test_the_literal_side_of_gerrymandering_shares_nothing_with_its_solver() -> None:
    all_imports = modules()
    literal = {"enumeration", "integer", "problem"}
    for name in literal:
        at = f"methods.ssvm.study.{name}" if name == "integer" else f"methods.ssvm.{name}"
        ours = {i.split(".")[3] for i in all_imports[at] if i.startswith("cvxml.methods.ssvm.")}
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
        if name.startswith("estimators."):
            continue
        assert not any(i.startswith("sklearn") and top for i, top in imports.items()), name


# where a method of one file is named beside it: the registry, its estimator and the public names
BESIDE = {"methods.__init__", "__init__"}


def test_a_method_is_one_file_and_what_names_it_is_known() -> None:
    for path in (ROOT / "methods").glob("[a-z]*.py"):
        name = path.stem
        named = {
            str(other.relative_to(ROOT).with_suffix("")).replace("/", ".")
            for other in ROOT.rglob("*.py")
            if re.search(rf"\b{name}\b", other.read_text(encoding="utf-8"))
        }
        assert named <= BESIDE | {f"methods.{name}", f"estimators.{name}"}, (name, named)
