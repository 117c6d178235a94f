"""The arrows point one way: read from the imports themselves."""

from __future__ import annotations

import ast
import re
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import cvxml
from cvxml.methods import get

ROOT = Path(cvxml.__file__).parent
# each may import those before it; api, the estimators and the oracle are also what cvxml/__init__.py re-exports
LAYERS = (
    "cases",  # imports nothing of ours: it is copied
    "core",
    "numbers",
    "family",
    "solvers",
    "methods",
    "api",
    "datasets",
    "oracle",
    "typed",
    "testing",
    "displays",
    "estimators",
    "lessons",
    "cli",
)
# the rooms of the family: each may import those before it
ROOMS = ("rows", "losses", "geometry", "regularizers", "theorem", "stationary", "unlisted", "nearby")


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


@cache
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
        lesson = name.startswith("lessons.")  # a notebook, run by itself
        if not (name.endswith("problem") or of_one_file or lesson):
            assert not uses(imports, "cvxpy"), name
        if of_one_file:
            assert not imports.get("cvxpy", False), name  # within a function alone
        at_top = [i for i, top in imports.items() if top and i.startswith("cvxml.methods.")]
        assert not any("problem" in i.split(".")[3:-1] or i.endswith(".problem") for i in at_top), name


STATED = (
    "problem",
    "dual",
    "objective",
    "evaluate",
)  # of every method: what its paper says, and nothing else


@cache
def top_level(module: str) -> dict[str, ast.AST | tuple[str, str]]:
    """Each name of a module -> what defines it, or (module, name) where an import at any place brings it in."""
    path = ROOT.joinpath(*module.split(".")[1:])
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    if not path.is_file():
        return {}
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found: dict[str, ast.AST | tuple[str, str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            found |= {alias.asname or alias.name: (node.module or "", alias.name) for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.asname or alias.name.split(".")[0]: (alias.name, "") for alias in node.names}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found[node.name] = node
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            named = [part for target in targets for part in ast.walk(target)]
            found |= {part.id: node for part in named if isinstance(part, ast.Name)}
    return found


def names_in(node: ast.AST) -> set[str]:
    """Every name, with the attribute that is asked of it: "a" and "a.b"."""
    parts = list(ast.walk(node))
    attributes = [part for part in parts if isinstance(part, ast.Attribute)]
    dotted = {f"{part.value.id}.{part.attr}" for part in attributes if isinstance(part.value, ast.Name)}
    return dotted | {part.id for part in parts if isinstance(part, ast.Name)}


def stated_by(kind: type) -> set[tuple[str, str]]:
    """(module, name) of all names in `STATED` of a method's class, and in its own methods that those call."""
    waiting, found, seen = list(STATED), set(), set()
    while waiting:
        name = waiting.pop()
        owner = next((c for c in kind.__mro__ if name in vars(c)), object)
        if name in seen or not owner.__module__.startswith("cvxml."):
            continue
        seen.add(name)
        body = top_level(owner.__module__)[owner.__name__]
        assert isinstance(body, ast.ClassDef)
        for node in body.body:
            if isinstance(node, ast.FunctionDef) and node.name == name:
                found |= {(owner.__module__, used) for used in names_in(node)}
                waiting += [used[5:] for used in names_in(node) if used.startswith("self.")]
    return found


PROVES = ("cvxml.numbers.", "cvxml.family.", "cvxml.solvers.")


def reached(start: set[tuple[str, str]]) -> set[str]:
    """Modules of these names, and of all that they are made of; what the family's own are made of is not looked at."""
    waiting, seen = list(start), set(start)
    while waiting:
        module, name = waiting.pop()
        first, _, attribute = name.partition(".")
        what = top_level(module).get(first)
        if what is None:
            continue
        if isinstance(
            what, tuple
        ):  # `from a import b`: b of a, and b.c where that is asked of the module a.b
            of, own = what
            further = {(of, own), (f"{of}.{own}" if own else of, attribute)}
        else:
            further = {(module, used) for used in names_in(what)} if not attribute else set()
        further = {(of, own) for of, own in further if of.startswith("cvxml.")} - seen
        seen |= further
        waiting += [(of, own) for of, own in further if not of.startswith(PROVES)]
    return {module for module, _ in seen if top_level(module)}


# which rank a candidate has is asked in coordinates of unit covariance; what is evaluated then is row by row
KNOWN = {
    "nca": {"cvxml.family.geometry.coordinates", "cvxml.family.stationary.rank"},
    "mlkr": {"cvxml.family.geometry.coordinates"},
}


TERMS = (
    *(f"cvxml.family.{room}" for room in ("rows", "losses", "regularizers", "theorem")),
    "cvxml.solvers.",
)


@pytest.mark.parametrize("method", cvxml.list_methods())
def test_what_a_method_states_reaches_nothing_of_the_family(method: str) -> None:
    found = reached(stated_by(type(get(method))))
    assert len(found) > 1, "the reader of names sees nothing"
    assert {module for module in found if module.startswith(PROVES)} - KNOWN.get(method, set()) == set()


def test_the_reader_of_names_sees_what_a_proof_reaches() -> None:
    assert "cvxml.family.losses.hinge" in reached({("cvxml.methods.lmnn", "LMNN")})
    assert "cvxml.family.geometry.budget" in reached({("cvxml.methods.dml_eig", "_sum")})
    assert "cvxml.numbers.span" in reached(
        {("cvxml.methods.mmc", "instance")}
    )  # in a function that this one calls
    assert "cvxml.family.regularizers.frobenius" in reached({("cvxml.methods.mlsvm.method", "METHOD")})


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
        if layer in ("core", "numbers", "family", "solvers", "methods"):
            assert "cvxml" not in imports, name


def test_every_room_of_the_family_imports_only_those_before() -> None:
    rooms = set()
    for name, imports in modules().items():
        layer, *parts = name.split(".")
        if layer == "family" and len(parts) == 2:
            rooms.add(parts[0])
            ours = {i.split(".")[2] for i in imports if i.startswith("cvxml.family.")}
            assert not ours & set(ROOMS[ROOMS.index(parts[0]) + 1 :]), (name, ours)
    assert rooms == set(ROOMS)


@pytest.mark.parametrize("layer", ["family", "solvers", "methods", "oracle"])
def test_no_module_imports_itself_by_way_of_others(layer: str) -> None:
    """Imports within functions count too."""
    known = {f"cvxml.{name}".removesuffix(".__init__"): imports for name, imports in modules().items()}
    own = {name: imports for name, imports in known.items() if name.startswith(f"cvxml.{layer}.")}
    graph = {name: {i for i in imports if i in own and i != name} for name, imports in own.items()}
    assert len(graph) > 10
    TopologicalSorter(graph).prepare()  # raises CycleError


def test_there_are_few_things_at_the_top() -> None:
    seen = [path for path in ROOT.iterdir() if path.name != "__pycache__"]
    assert len(seen) <= 21, sorted(path.name for path in seen)


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
        "algorithm1": known,
    }.items():
        ours = {i for i in all_imports[f"methods.mlsvm.{name}"] if i.startswith("cvxml.methods.")}
        assert {i.split(".")[3] for i in ours if i.count(".") > 2} <= allowed, (name, ours)
    for name in ("solver", "interior"):
        imports = all_imports[f"methods.mlsvm.{name}"]
        for other in ("problem", "algorithm1", "method"):
            assert not uses(imports, f"cvxml.methods.mlsvm.{other}"), (name, other)
        for proof in ("theorem.theorem", "regularizers.frobenius", "losses.groups"):
            assert f"cvxml.family.{proof}" in {f"cvxml.{other}" for other in all_imports}
            assert not uses(imports, f"cvxml.family.{proof}"), (name, proof)


def test_the_literal_side_of_gerrymandering_shares_nothing_with_its_solver() -> None:
    all_imports = modules()
    literal = {"enumeration", "problem"}
    for name in literal:
        ours = {
            i.split(".")[3]
            for i in all_imports[f"methods.ssvm.{name}"]
            if i.startswith("cvxml.methods.ssvm.")
        }
        assert ours <= literal, (name, ours)
    for name in ("inference", "step", "certify", "tree", "branch_and_bound"):
        for other in literal:
            assert not uses(all_imports[f"methods.ssvm.{name}"], f"cvxml.methods.ssvm.{other}"), (name, other)


def test_the_literal_side_of_nca_and_its_proof_share_nothing_with_its_solver() -> None:
    all_imports = modules()
    solver = {"descent", "solver"}
    allowed = {
        "definitions": {"instance"},
        "problem": {"definitions"},
        "rows": {"instance"},
        "certify": {"instance", "rows"},
        "descent": {"instance"},
    }
    for name, others in allowed.items():
        found = {
            i.split(".")[3] for i in all_imports[f"methods.nca.{name}"] if i.startswith("cvxml.methods.nca.")
        }
        assert found == others, name
        assert not found & solver


def test_the_literal_side_of_glml_and_its_proof_share_nothing_with_its_solver() -> None:
    all_imports = modules()
    allowed: dict[str, set[str]] = {
        "problem": set(),
        "definitions": set(),
        "certify": set(),
        "instance": {"certify"},  # inverses with a proved error
        "exact": {"instance"},
        "solver": {"instance"},
    }
    for name, others in allowed.items():
        imports = all_imports[f"methods.glml.{name}"]
        found = {i.split(".")[3] for i in imports if i.startswith("cvxml.methods.glml.")}
        assert found == others, name


def test_the_oracle_and_the_methods_do_not_need_scikit_learn_to_start() -> None:
    for name, imports in modules().items():
        if name.startswith("estimators."):
            continue
        assert not any(i.startswith("sklearn") and top for i, top in imports.items()), name


# where a method of one file is named beside it: the registry, its estimator, the public names, the judge of cases, and
# what others' learners are, what the verified checker knows; also any lesson that teaches it
BESIDE = {
    "methods.__init__",
    "__init__",
    "cases.judge",
    "cli.demo",
    "oracle.foreign",
    "oracle.side",
    "oracle.side_logdet",
}


def without_examples(text: str) -> str:
    """The source without the examples at the ends of docstrings, which may name any method."""
    return re.sub(r"\n *Examples\n *--------\n.*?\"{3}", "", text, flags=re.DOTALL)


def test_a_method_is_one_file_and_what_names_it_is_known() -> None:
    for path in (ROOT / "methods").glob("[a-z]*.py"):
        name = path.stem
        named = {
            str(other.relative_to(ROOT).with_suffix("")).replace("/", ".")
            for other in ROOT.rglob("*.py")
            if other.parent.name != "lessons"
            and re.search(rf"\b{name}\b", without_examples(other.read_text(encoding="utf-8")))
        }
        assert named <= BESIDE | {f"methods.{name}", f"estimators.{name}"}, (name, named)
