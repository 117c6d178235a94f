"""The worked examples of CONTRIBUTING.md in docs/adding, registered as a contributor would do it.

pair_margin.py has a loss of its own, weighted_margin.py has a regularizer of its own. The tests that every method must
pass are run on them, so that the examples stay right. Further tests break one attribute
of its class at a time: the failure must name the method, the attribute and an example.
"""

from __future__ import annotations

import math
import os
import pickle
import re
import runpy
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from sklearn.base import clone

import cvxml
from cvxml.core.backend import solve_problem
from cvxml.core.estimator import Estimator
from cvxml.core.example import Hand
from cvxml.core.method import Method
from cvxml.estimators import generated
from cvxml.family.regularizers.base import ExactView
from cvxml.family.rows.base import Block, Weights
from cvxml.methods import get
from cvxml.numbers.rational import end, plane
from cvxml.numbers.vocabulary import exact as rational
from cvxml.numbers.vocabulary import fraction, total
from cvxml.solvers.family_method import FamilyMethod
from tests.core import test_bad_input as bad_input
from tests.instances import assert_named, objective_of, random_data, wrong_dimensions
from tests.loaded import module_of
from tests.methods import test_contract as contract
from tests.methods import test_parameters as parameters
from tests.methods import test_properties as properties
from validation.pictures import more_methods

NAME, WEIGHTED = "pair_margin", "weighted_margin"
BOTH = pytest.mark.parametrize("name", [NAME, WEIGHTED])
ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "adding"
methods = import_module("cvxml.methods")  # as an attribute of the package it is a function
LINE, OF_LINE = (
    [[0.0], [1.0], [3.0], [5.0]],
    [0, 0, 1, 1],
)  # similar D = M, 4 M; dissimilar D = 4, 9, 16, 25 M


@pytest.fixture(autouse=True)
def example(monkeypatch: pytest.MonkeyPatch) -> Iterator[Method[Any]]:
    """The examples as methods of the registry, for the time of a test; the value is the first one."""
    monkeypatch.setattr(methods, "__path__", [*methods.__path__, str(FOLDER)])
    for name in (NAME, WEIGHTED):
        monkeypatch.setitem(methods.METHODS, name, f"cvxml.methods.{name}:METHOD")
    contract.solved_small.cache_clear()
    yield get(NAME)
    for name, estimator in ((NAME, "PairMargin"), (WEIGHTED, "WeightedMargin")):
        sys.modules.pop(f"cvxml.methods.{name}", None)
        vars(methods).pop(name, None)
        vars(generated).pop(estimator, None)


def test_make_pages_writes_a_new_method_into_every_page(tmp_path: Path) -> None:
    """From its own page, a copy of that of FrobMetric under another name."""
    docs, names = tmp_path / "docs", (NAME, WEIGHTED)
    shutil.copytree(ROOT / "docs", docs, ignore=lambda *_: {"_static", "_ext", "paper", "teaching", "adding"})
    shutil.copy(ROOT / "README.md", tmp_path)
    page = (docs / "frobmetric.md").read_text(encoding="utf-8")
    for name in names:
        own = page.replace("# FrobMetric:", f"# {name.title()}:").replace(
            "Facts of frobmetric", f"Facts of {name}"
        )
        (docs / f"{name}.md").write_text(own, encoding="utf-8")
    program = runpy.run_path(str(ROOT / "docs" / "_ext" / "tables.py"))
    program["pages"].__globals__.update(ROOT=tmp_path, DOCS=docs)
    texts = {path.name: text for path, text in program["pages"]().items()}
    assert f"{len(methods.METHODS)} methods" in texts["README.md"]
    for name in names:
        assert f"[`{name}`](docs/{name}.md)" in texts["README.md"]
        assert texts["methods.md"].count(f"[{name.title()}]({name}.md)") == 1
        assert texts["methods.md"].count(f"{name.title()} <{name}>") == 1
        assert texts["which_method_tables.md"].count(f"`{name}`") == 4
        assert f"`{name}`" in texts["errata.md"]
        assert (f"]({name}.md): " in texts["oracle_misreadings.md"]) == bool(get(name).MISREADINGS)


def test_the_picture_of_a_new_method_shows_the_distances_of_its_metric() -> None:
    figure = more_methods.before_and_after(NAME)
    before, after = ([points.get_offsets().data for points in ax.collections] for ax in figure.axes)
    X, images = np.concatenate(before), np.concatenate(after)
    y = np.repeat(range(len(before)), [len(points) for points in before])
    metric = cvxml.solve(NAME, X, y).metric
    edges, moved = X[1:] - X[0], images[1:] - images[0]
    shares = np.einsum("ia,ab,ib->i", edges, metric, edges) / (moved**2).sum(axis=1)
    assert shares == pytest.approx(np.full(len(shares), shares[0]), rel=1e-4)


def test_the_page_shows_the_file() -> None:
    source = "".join((FOLDER / f"{name}.py").read_text(encoding="utf-8") for name in (NAME, WEIGHTED))
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    shown = re.findall(r"^```python\n(.*?)^```$", page, flags=re.DOTALL | re.MULTILINE)
    assert len(shown) >= 3
    for block in shown:
        inside = [textwrap.indent(block, " " * indent) for indent in (0, 4, 8)]
        assert any(text in source for text in inside), block


# ---------------------------------------------------------------- the new loss, from its definition in fractions


def left(c: Fraction, a: Fraction, v: Fraction) -> Fraction:
    """phi(v) - k(a) + a v of c [v - 1]_+ and k(a) = a."""
    return c * max(Fraction(0), v - 1) - a + a * v


def test_the_conjugate_bounds_the_loss_and_is_tight() -> None:
    loss = sys.modules[f"cvxml.methods.{NAME}"].HingeFromAbove(Fraction(1, 3))
    values = [Fraction(k, 7) for k in range(-7, 28)]
    duals = loss.exact_duals([Fraction(k, 9) for k in range(-6, 4)])
    assert set(duals) == {Fraction(k, 9) for k in range(-3, 1)}
    assert end([loss.conjugate(rational(duals))], up=False) == sum(duals)
    assert all(left(loss.c, a, v) >= 0 for a in duals for v in values)
    assert all(min(left(loss.c, a, v) for v in values) == 0 for a in duals)
    assert all(min(left(loss.c, a, v) for a in duals) == 0 for v in values)


def test_value_and_excess_are_off_by_no_more_than_is_said() -> None:
    c, rng = 1 / 3, np.random.default_rng(0)
    loss = sys.modules[f"cvxml.methods.{NAME}"].HingeFromAbove(c)
    v = np.concatenate([rng.uniform(0, 3, 40), 1 + rng.uniform(-1, 1, 20) * 1e-15, [1.0]])
    a = loss.to_domain(np.concatenate([rng.uniform(-0.5, 0.2, 60), [np.nan]]))
    assert ((a >= -c) & (a <= 0)).all()
    error = 1e-16 * np.abs(v)
    value, excess = loss.part(Block(v, error, a))
    for moved in (v, v - error, v + error):
        exact = [Fraction(x) for x in moved.tolist()]
        assert abs(end([loss.value(rational(exact))], up=True) - Fraction(value.value)) <= Fraction(
            value.error
        )
        each = [left(Fraction(c), Fraction(p), x) for p, x in zip(a.tolist(), exact, strict=True)]
        assert abs(sum(each) - Fraction(excess.value)) <= Fraction(excess.error)
    assert (np.maximum(v - 1, 0)[v >= loss.inactive_above] == 0).all()
    ray = loss.ray(a)
    assert ray.longest == pytest.approx(c / -a.min())
    assert ray.value(0.5) == pytest.approx(0.5 * a.sum())


# ---------------------------------------------------------------- the new regularizer, from its definition in fractions


def weighted(seed: int, number: Callable[[Any], Any] = float) -> tuple[Any, Weights]:
    """The regularizer for points with features of other units, and weights of pairs."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((7, 3)) * 10.0 ** rng.integers(-3, 4, 3)
    pairs = np.array([(i, j) for i in range(7) for j in range(i)])
    of = sys.modules[f"cvxml.methods.{WEIGHTED}"].WeightedNorm
    w = rng.standard_normal(len(pairs)) if seed % 4 else -rng.random(len(pairs))
    return of(X, number(1 / 3), 1 / np.var(X, axis=0)), Weights(pairs, w)


@pytest.mark.parametrize("seed", range(6))
def test_the_weighted_norm_is_its_definition(seed: int) -> None:
    get(WEIGHTED)
    (of, G), (exact, _) = weighted(seed), weighted(seed, Fraction)
    at, own = plane(of.X), Weights(G.pairs, np.array([Fraction(w) for w in G.w.tolist()], dtype=object))
    R = np.round(np.random.default_rng(seed).standard_normal((3, 2)) * 64) / 64
    view = of.judge(R @ R.T).view
    metric = exact.exact_metric(R @ R.T, None)
    D = exact.exact_distances(at, metric)
    w, M = [Fraction(x) for x in of.w.tolist()], [[Fraction(x) for x in row] for row in (R @ R.T).tolist()]
    of_entries = (w[k] * w[l] * M[k][l] ** 2 for k in range(3) for l in range(3))
    value, paid = Fraction(of.lam) / 2 * sum(of_entries, Fraction(0)), D.total(G.pairs, own.w.tolist())
    assert exact.exact_value(metric, D) == value
    assert abs(Fraction(of.value(view).value) - value) <= Fraction(of.value(view).error)
    image, rational_view = exact.exact_image(at, own, None), ExactView(metric, D)
    bound = fraction(exact.conjugate_at(image))
    assert fraction(exact.excess_at(rational_view, image)) == value - paid - bound >= 0
    assert fraction(exact.conjugate_at(image)) == exact.exact_bound(at, own)
    r, excess = of.bound(G), of.excess(view, G)
    assert bound == 0 if seed % 4 == 0 else bound <= 0
    assert abs(Fraction(r.value) + Fraction(excess.value) - (value - paid)) <= Fraction(r.error) + Fraction(
        excess.error
    )
    assert r.value == pytest.approx(float(bound), rel=1e-10, abs=r.error)
    best = image.Q / exact.V(image.Q)  # R(M) - <M, G> is least there
    beside = fraction(total(exact.V(best) * best * best)) / 2 - fraction(total(best * (image.Q - image.S)))
    assert beside == pytest.approx(float(bound), rel=1e-10, abs=r.error)


# ---------------------------------------------------------------- what every method must keep to


@BOTH
def test_the_optima_by_hand(name: str, tmp_path: Path) -> None:
    assert len(get(name).HAND) == (4 if name == NAME else 1)
    for hand in get(name).HAND:
        contract.test_an_optimum_known_by_hand_is_found_and_certified(name, hand, tmp_path)


@BOTH
def test_what_its_class_says(name: str) -> None:
    contract.test_dual_names_the_parts_of_a_dual_and_their_dimensions(name)
    contract.test_small_has_parameters_for_sixteen_points(name)
    parameters.test_they_are_those_of_the_functions_with_their_defaults(name)
    contract.test_small_bad_weights_and_units_name_parameters(name)
    contract.test_bad_has_a_tuple_of_values_for_each_parameter(name)
    contract.test_follows_is_a_map_of_the_features(name)
    contract.test_estimator_names_the_method_and_its_parameters(name)
    contract.test_hand_has_optima_with_parameters_of_the_method(name)
    contract.test_examples_are_there_to_be_tested_and_to_be_verified(name)


@pytest.mark.quick(1)
@BOTH
def test_the_contract_on_its_first_example(name: str, tmp_path: Path) -> None:
    (X, y), params = contract.instances(name)[0]
    one: tuple[Any, ...] = (name, X, y, params)
    contract.test_literal_equals_fast_within_the_certified_gaps(*one, solver="clarabel")
    contract.test_the_literal_problem_at_a_metric_has_the_naive_objective(*one)
    contract.test_the_objective_is_what_the_certificate_says(*one)
    contract.test_check_certifies_the_optimum_and_refutes_worse_points(*one)
    contract.test_the_metric_is_psd_and_saved_proofs_hold(*one, tmp_path)
    contract.test_any_dual_bounds_any_metric(name)
    contract.test_the_exact_member_has_no_constant_that_is_rounded(name)
    properties.test_units_do_not_matter_where_the_parameters_follow(name, 0.3)


def test_its_estimator_learns_what_solve_finds(example: Method[Any]) -> None:
    X, y = random_data(0, n=16, d=3)
    model = clone(generated.PairMargin(0.3)).fit(X, y)  # type: ignore[attr-defined]
    np.testing.assert_array_equal(model.solution_.metric, cvxml.solve(NAME, X, y, lam=0.3).metric)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.transform(X), model.transform(X))


def test_bad_input(example: Method[Any]) -> None:
    for bad, says in bad_input.BAD_X.values():
        assert bad_input.complaints(says, places=("solve", "check"), methods=[NAME], X=bad) == []
    for bad, says in bad_input.BAD_Y.values():
        assert bad_input.complaints(says, places=("solve", "check"), methods=[NAME], y=bad) == []
    bad_input.test_bad_parameters(NAME)
    bad_input.test_bad_duals(NAME)


def misread(X: Any, near: Any, far: Any, weight: float) -> Any:
    """The metric of weight ||M||^2 with the mean of [D - 1]_+ over the pairs `near` and of [2 - D]_+ over `far`."""
    M = cp.Variable((X.shape[1],) * 2, symmetric=True)
    D_near, D_far = (
        cp.hstack([(X[i] - X[j]) @ M @ (X[i] - X[j]) for i, j in pairs.tolist()]) for pairs in (near, far)
    )
    missed = cp.sum(cp.pos(D_near - 1)) / len(near) + cp.sum(cp.pos(2 - D_far)) / len(far)
    problem = cp.Problem(cp.Minimize(weight * cp.sum_squares(M) + missed), [M >> 0])
    solve_problem(problem, "clarabel")
    return M.value


def test_the_misreadings_are_named(example: Method[Any]) -> None:
    X, y = random_data(0, n=12, d=2, classes=2)
    pairs = example.instance(X, y, lam=2.0).pairs
    assert_named(NAME, "no_half", X, y, misread(X, *pairs, weight=2.0), lam=2.0)
    assert_named(NAME, "exchanged", X, y, misread(X, *reversed(pairs), weight=1.0), lam=2.0)


@pytest.mark.slow
def test_weights_of_the_features_count(tmp_path: Path) -> None:
    """Ones are the Frobenius norm; the default follows the units of a feature; exact mode and a saved file agree."""
    X, y = random_data(0, n=16, d=3)
    plain, ones = (
        cvxml.solve(NAME, X, y, lam=0.3),
        cvxml.solve(WEIGHTED, X, y, lam=0.3, feature_weights=[1.0] * 3),
    )
    assert np.linalg.norm(plain.metric - ones.metric) <= plain.certificate.radius + ones.certificate.radius
    own = cvxml.solve(WEIGHTED, X, y, lam=0.3)
    units = np.diag([1e-3, 1.0, 1e4])
    other = cvxml.solve(WEIGHTED, X @ units, y, lam=0.3)
    assert own.status == other.status == "converged"
    np.testing.assert_allclose(units @ other.metric @ units, own.metric, rtol=1e-3, atol=1e-4)
    assert np.linalg.norm(own.metric - plain.metric) > 10 * (
        own.certificate.radius + plain.certificate.radius
    )
    report = cvxml.check(WEIGHTED, X, y, own.metric, lam=0.3, exact=True)
    assert report.verdict == "certified"
    assert report.exact is not None
    assert (
        report.exact.lower_bound
        <= report.exact.objective
        <= report.exact.lower_bound * (1 + Fraction(1, 10**5))
    )
    assert abs(float(report.exact.objective) - own.objective) <= 1e-9 * own.objective
    assert cvxml.check(WEIGHTED, X, y, plain.metric, lam=0.3).verdict == "refuted"
    own.save(tmp_path / "own.json")
    saved = cvxml.load(tmp_path / "own.json")
    assert saved.params["feature_weights"] == pytest.approx(np.var(X, axis=0))
    assert contract.recertify(saved, 1e-6).verdict == "certified"


def test_a_metric_between_the_margins_costs_its_norm_alone() -> None:
    pairs = {"similar": [[0, 1]], "dissimilar": [[0, 2]]}
    assert objective_of(NAME, LINE, None, [[0.5]], lam=3.0, pairs=pairs) == 3 / 2 * 0.25


FILES = (
    "tests/methods/test_contract.py",
    "tests/methods/test_properties.py",
    "tests/methods/test_parameters.py",
    "tests/core/test_bad_input.py",
    "tests/core/test_good_input.py",
    "tests/core/test_exact.py",
    "tests/cli/test_show.py",
    "tests/estimators/test_estimator.py",
)


@pytest.mark.slow
def test_all_tests_of_every_method(tmp_path: Path) -> None:
    """pytest itself, with the example in the registry from the start."""
    registers = [
        "from importlib import import_module",
        'methods = import_module("cvxml.methods")',
        f"methods.__path__.append({str(FOLDER)!r})",
        f'methods.METHODS[{NAME!r}] = "cvxml.methods.{NAME}:METHOD"',
    ]
    (tmp_path / "registers_the_example.py").write_text("\n".join(registers), encoding="utf-8")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    options = [
        "-p",
        "registers_the_example",
        "-p",
        "no:cacheprovider",
        "-q",
        "-n",
        "0",
        "-m",
        "",
        "-k",
        f"{NAME} or PairMargin",
    ]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *FILES],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-5000:]
    passed = int(run.stdout.rpartition(" passed")[0].split()[-1])
    assert passed >= 90


# ---------------------------------------------------------------- failures say what to do

ONE_HAND = Hand(LINE, OF_LINE, {"C": 1.0}, None, 0.0)
BROKEN: dict[str, tuple[str, Any, Callable[..., None], tuple[Any, ...]]] = {
    "no dual": ("DUAL", None, contract.test_dual_names_the_parts_of_a_dual_and_their_dimensions, ()),
    "empty dual": ("DUAL", {}, contract.test_dual_names_the_parts_of_a_dual_and_their_dimensions, ()),
    "other part": ("DUAL", {"a": "p"}, contract.test_dual_names_the_parts_of_a_dual_and_their_dimensions, ()),
    "equal letters": (
        "DUAL",
        {"similar": "p", "dissimilar": "p"},
        contract.test_dual_names_the_parts_of_a_dual_and_their_dimensions,
        (),
    ),
    "strange SMALL": ("SMALL", {"C": 1.0}, contract.test_small_bad_weights_and_units_name_parameters, ()),
    "unsolvable SMALL": ("SMALL", {"lam": -1.0}, contract.test_small_has_parameters_for_sixteen_points, ()),
    "strange BAD": ("BAD", {"C": (0,)}, contract.test_small_bad_weights_and_units_name_parameters, ()),
    "single BAD": ("BAD", {"lam": 0}, contract.test_bad_has_a_tuple_of_values_for_each_parameter, ()),
    "good BAD": ("BAD", {"lam": (1.0,)}, bad_input.test_bad_parameters, ()),
    "strange WEIGHTS": ("WEIGHTS", {"C": math.inf}, contract.test_small_bad_weights_and_units_name_parameters, ()),
    "strange UNITS": ("UNITS", {"C": 2}, contract.test_small_bad_weights_and_units_name_parameters, ()),
    "other UNITS": (
        "UNITS",
        {"lam": 2},
        properties.test_units_do_not_matter_where_the_parameters_follow,
        (0.3,),
    ),
    "strange FOLLOWS": ("FOLLOWS", "turns", contract.test_follows_is_a_map_of_the_features, ()),
    "other FOLLOWS": ("FOLLOWS", "linear", properties.test_any_linear_map_of_the_features_maps_the_metric, ()),
    "strange HAND": ("HAND", (ONE_HAND,), contract.test_hand_has_optima_with_parameters_of_the_method, ()),
    "no ESTIMATOR": ("ESTIMATOR", None, contract.test_estimator_names_the_method_and_its_parameters, ()),
    "other ESTIMATOR": (
        "ESTIMATOR",
        Estimator("Margin"),
        contract.test_estimator_names_the_method_and_its_parameters,
        (),
    ),
    "strange ESTIMATOR": (
        "ESTIMATOR",
        Estimator("PairMargin", positional=("C",)),
        contract.test_estimator_names_the_method_and_its_parameters,
        (),
    ),
    "no EXAMPLES": ("EXAMPLES", (), contract.test_examples_are_there_to_be_tested_and_to_be_verified, ()),
    "no RADIUS": ("RADIUS", False, properties.test_the_optimum_lies_within_the_radius, ()),
    "no STATEMENT": ("STATEMENT", None, contract.test_a_method_tells_its_statement_and_source, ()),
}  # fmt: skip


@pytest.mark.parametrize("case", BROKEN)
def test_a_failure_names_the_method_the_attribute_and_an_example(
    example: Method[Any], monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    attribute, value, test, further = BROKEN[case]
    monkeypatch.setattr(type(example), attribute, value)
    with pytest.raises((AssertionError, pytest.fail.Exception)) as failed:
        test(NAME, *further)
    said = str(failed.value)
    assert NAME in said
    assert f"{attribute} = " in said


def test_dimensions_are_compared() -> None:
    shapes = {"price": (5,), "triplets": (5, 3)}
    assert wrong_dimensions({"price": "t", "triplets": "t 3"}, shapes, {}) == []
    assert wrong_dimensions({"price": "n"}, shapes, {"n": 5}) == []
    for wrong in (
        {"price": "n"},
        {"price": "t 1"},
        {"triplets": "t t"},
        {"triplets": "t 2"},
        {"triplets": "t"},
    ):
        assert len(wrong_dimensions(wrong, shapes, {"n": 4})) == 1, wrong


def test_a_loss_without_a_solver_is_named(example: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    family = example.member(example.instance(LINE, OF_LINE))

    class Unknown:
        """A loss without a box."""

    terms = (family.terms[0]._replace(loss=Unknown()),)
    monkeypatch.setattr(
        type(example), "member", lambda self, given, number=float: family._replace(terms=terms)
    )
    with pytest.raises(TypeError) as refused:
        example.search(example.instance(LINE, OF_LINE), 1e-6, 10, None, None)
    assert all(word in str(refused.value) for word in ("Unknown", "PairRows", "box", "PATH"))


# what a method may lack: a test names it, and all other tests are collected
OPTIONAL = (
    "DUAL",
    "SMALL",
    "BAD",
    "HAND",
    "EXAMPLES",
    "MISREADINGS",
    "WEIGHTS",
    "ESTIMATOR",
    "RADIUS",
    "UNITS",
    "STATEMENT",
)


def test_every_test_is_collected_where_a_method_lacks_attributes(
    example: Method[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The modules of tests that list methods are read anew; their parameters are made at that time."""
    kept = {name: value for name, value in vars(type(example)).items() if name not in OPTIONAL}
    kept["id"] = "bare"
    bare = ModuleType("cvxml.methods.bare")
    bare.METHOD = type("Bare", (FamilyMethod,), kept)()  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "cvxml.methods.bare", bare)
    monkeypatch.setitem(methods.METHODS, "bare", "cvxml.methods.bare:METHOD")
    assert get("bare").DUAL is None
    listing = [
        path
        for folder in ("tests", "validation")
        for path in (ROOT / folder).rglob("*.py")
        if "names()" in (text := path.read_text(encoding="utf-8")) or "list_methods()" in text
    ]
    assert len(listing) > 20
    seen = 0
    for path in listing:
        module = module_of(path, f"anew_{path.stem}")
        seen += any(
            "bare" in str(value) for value in vars(module).values() if isinstance(value, (list, tuple))
        )
    assert seen > 3


def test_a_solution_holds_the_duals_by_their_names() -> None:
    solution = cvxml.solve(NAME, *random_data(0, n=16, d=3), lam=0.3)
    given = get(NAME).instance(*random_data(0, n=16, d=3), lam=0.3)
    similar, dissimilar = (solution.dual[name] for name in ("similar", "dissimilar"))
    assert 0 <= similar.min() < similar.max() <= 1 / len(given.pairs.similar)
    assert 0 <= dissimilar.min() < dissimilar.max() <= 1 / len(given.pairs.dissimilar)
