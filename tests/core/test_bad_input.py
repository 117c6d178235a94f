"""Bad input gives a ValueError that says what is wrong, from every public function and for every method."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import cvxml
from cvxml.core.parameter import COUNT, NUMBER, Kind
from cvxml.core.result import Solution
from cvxml.core.saved import SavedSolution
from cvxml.methods import get, names
from tests.instances import START, checked, methods_with, random_data, small, solved_status

X, Y = random_data(7, n=14, d=3, classes=2)
PLACES = ("solve", "problem", "check", "evaluate", "certify")
every_method = pytest.mark.parametrize("method", names())
WITH_LISTS = methods_with("neighbors")
WITH_TARGETS = [*methods_with("targets"), *methods_with("triplets")]  # whose neighbours are of a class
WITH_K = [m for m in methods_with("n_neighbors") if m not in (*WITH_TARGETS, "lfda")]
STARTED = [m for m in names() if m != "glml"]  # glml has a closed form, no algorithm with steps or a start
OF_CLASSES = [m for m in names() if m != "mlkr"]  # whose y are numbers
CONVEX = [m for m in names() if get(m).CLAIM == "optimal"]


@cache
def solved(method: str) -> Solution:
    return cvxml.solve(method, X, Y, **START.get(method, {}))


def call(place: str, method: str, X: Any = X, y: Any = Y, metric: Any = None, **params: Any) -> Any:
    """One public function, with a metric and a dual that are right unless given."""
    function = getattr(cvxml, place)
    if place == "solve":
        params = {**START.get(method, {}), **params}
    if place in ("solve", "problem"):
        return function(method, X, y, **params)
    dual = (solved(method).dual,) if place == "certify" else ()
    return function(method, X, y, solved(method).metric if metric is None else metric, *dual, **params)


def answer(place: str, method: str, **given: Any) -> str:
    """What came of a call, by type: LinAlgError and the like are ValueErrors only by accident."""
    try:
        call(place, method, **given)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "accepted"


def complaints(says: str, places: tuple[str, ...] = PLACES, methods: Any = None, **given: Any) -> list[str]:
    """The calls that are not refused by a ValueError that `says` so."""
    answers = {(m, p): answer(p, m, **given) for m in (methods or names()) for p in places}
    return [f"{at}: {a}" for at, a in answers.items() if not (a.startswith("ValueError: ") and says in a)]


def with_entry(value: float) -> np.ndarray:
    changed = X.copy()
    changed[5, 2] = value
    return changed


BAD_X: dict[str, tuple[Any, str]] = {
    "NaN": (with_entry(np.nan), "row 5, column 2"),
    "inf": (with_entry(np.inf), "row 5, column 2"),
    "minus-inf": (with_entry(-np.inf), "infinity"),
    "no-rows": (np.empty((0, 3)), "empty"),
    "no-columns": (np.empty((14, 0)), "empty"),
    "1-D": (X[:, 0], "two-dimensional"),
    "3-D": (X[None], "two-dimensional"),
    "None": (None, "real numbers"),
    "short": (X[:-1], "13"),
    "complex": (X + 0j, "complex"),
    "sparse": (csr_array(X), "sparse"),
    "strings": (X.astype(str), "dtype"),
    "masked": (np.ma.masked_equal(X, X[3, 1]), "1 masked entries"),
    "objects": (np.where(X > 0, X, None), "real numbers"),
    "dates": (np.zeros((14, 3), dtype="M8[s]"), "dtype"),
    "ragged": ([[1.0, 2.0], [3.0]] * 7, "X"),
    "long-double": (np.full((14, 3), np.longdouble("1e4000")), "infinity"),
    "largest": (np.sign(X) * 1.7e308, "scale"),
    "smallest": (np.sign(X) * 5e-324, "scale"),
}


@pytest.mark.parametrize("case", BAD_X)
def test_bad_features(case: str) -> None:
    bad, says = BAD_X[case]
    assert complaints(says, X=bad) == []


SIZES: dict[str, Any] = {
    "1e-200": 1e-200,
    "1e-160": 1e-160,
    "1e160": 1e160,
    "1e80": 1e80,
    "1e-80": 1e-80,
    "mixed": np.array([1e120, 1.0, 1e-120]),
}


@pytest.mark.quick(6)
@pytest.mark.parametrize("size", SIZES)
@every_method
def test_features_of_extreme_sizes_give_no_text_of_lapack(method: str, size: str) -> None:
    points, labels = random_data(7, n=24, d=3, classes=2)
    points = points * SIZES[size]
    for place in ("solve", "evaluate"):
        limit = {"time_limit": 2.0} if place == "solve" else {"metric": np.eye(3)}
        said = answer(place, method, X=points, y=labels, **limit)
        assert not said.startswith(("LinAlgError", "OverflowError")), said


@pytest.mark.parametrize("place", PLACES)
def test_an_error_of_lapack_names_the_range_of_X(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """`certify_solution` says the same."""

    def fails(*args: Any, **params: Any) -> None:
        raise np.linalg.LinAlgError("Singular matrix")

    solution, size = solved("rca"), f"{np.abs(X).max():.3g}"
    monkeypatch.setattr(get("rca"), "instance", fails)
    said = answer(place, "rca", metric=np.eye(3))
    assert said.startswith("ValueError: ")
    assert size in said
    with pytest.raises(ValueError, match=size):
        cvxml.certify_solution(solution)


class Uncomparable:
    """A missing value whose comparison has no truth value, as that of pandas."""

    def __ne__(self, other: object) -> Any:
        return self

    def __bool__(self) -> bool:
        raise TypeError("ambiguous")

    __hash__ = object.__hash__


BAD_Y: dict[str, tuple[Any, str]] = {
    "NaN": ([np.nan, 1.0] * 7, "NaN"),
    "inf": ([np.inf, 1.0] * 7, "infinity"),
    "mixed-list": ([1, "a"] * 7, "labels of types"),
    "mixed-objects": (np.array([1, "a"] * 7, dtype=object), "labels of types"),
    "NaN-among-strings": ([np.nan, "a"] * 7, "y"),
    "masked": (np.ma.masked_array([0, 1] * 7, mask=[True] + 13 * [False]), "1 masked entries"),
    "no-UTF-8": (np.array([b"\xe4", b"\xf6"] * 7), "not UTF-8"),
    "bool-among-strings": ([True, "a"] * 7, "labels of types"),
    "None": ([None, 1] * 7, "missing"),
    "None-alone": (None, "one-dimensional"),
    "missing-marker": ([Uncomparable(), "a"] * 7, "y"),
    "continuous": (np.linspace(0, 1, 14), "continuous"),
    "one-class": ([3] * 14, "one class"),
    "2-D": (np.stack([Y, Y], axis=1), "one-dimensional"),
    "short": (Y[:-1], "13 labels"),
    "long": ([*Y, 0], "15 labels"),
    "empty": ([], "0 labels"),
    "complex": (Y + 0j, "dtype"),
    "ragged": ([[1], [1, 2]] * 7, "y"),
}


@pytest.mark.parametrize("case", BAD_Y)
def test_bad_labels(case: str) -> None:
    bad, says = BAD_Y[case]
    assert complaints(says, y=bad, methods=OF_CLASSES) == []


@pytest.mark.parametrize(
    ("parameter", "value"),
    [("lam", 0.1), ("C", 0.1), ("neighborhood", "knn"), ("neighbors", [[]] * 14), ("lambda_", 0.1)],
)
def test_the_parameters_of_other_methods(parameter: str, value: Any) -> None:
    others = [m for m in names() if m not in methods_with(parameter)]
    assert others
    assert complaints(f"has no parameter {parameter!r}", methods=others, **{parameter: value}) == []


BAD_LOSSES: dict[str, tuple[Any, str]] = {
    "shape": (np.ones((3, 3)) - np.eye(3), "shape (2, 2)"),
    "flat": ([0.0, 1.0], "shape (2, 2)"),
    "number": (1.0, "shape (2, 2)"),
    "diagonal": (np.ones((2, 2)), "diagonal"),
    "zero": ([[0, 0], [1, 0]], "greater than 0"),
    "negative": ([[0, 1], [-1, 0]], "greater than 0"),
    "NaN": ([[0, np.nan], [1, 0]], "NaN"),
    "inf": ([[0, np.inf], [1, 0]], "infinity"),
    "complex": (np.ones((2, 2)) * 1j, "complex"),
    "strings": ([["0", "1"], ["1", "0"]], "loss_matrix"),
    "objects": (np.array([[0.0, "1"], [1.0, 0.0]], dtype=object), "real numbers"),
    "ragged": ([[0.0, 1.0], [1.0]], "loss_matrix"),
}


@pytest.mark.parametrize("case", BAD_LOSSES)
def test_bad_losses(case: str) -> None:
    bad, says = BAD_LOSSES[case]
    assert complaints(says, methods=methods_with("loss_matrix"), loss_matrix=bad) == []


@pytest.mark.parametrize("option", [
    *({"init": v} for v in ("", "Zero", "all", 3, None, [], ["zero", "none"])),
    *({"init": v} for v in (np.eye(2), np.nan * np.eye(3))),
    *({"random_state": v} for v in (-1, 0.5, "0", None, True)),
], ids=lambda option: repr(option)[:30])  # fmt: skip
def test_bad_starts(option: dict[str, Any]) -> None:
    methods = [m for m in names() if "init" in get(m).SOLVE_PARAMETERS]
    assert methods
    (name,) = option
    taken = [m for m in names() if m in methods or name in get(m).PARAMETERS]  # or to draw with
    assert complaints(name, places=("solve",), methods=taken, **option) == []
    others = [m for m in names() if m not in taken]
    assert complaints(f"has no parameter {name!r}", places=("solve",), methods=others, **option) == []


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_a_start_whose_distances_underflow_or_overflow_is_refused(size: float) -> None:
    """It would become the metric 0, or an infinite one."""
    assert complaints("init", places=("solve",), methods=["nca", "mlkr"], init=size * np.eye(3)) == []


def test_too_many_neighbors_are_refused_and_the_maximum_is_said() -> None:
    assert complaints("13", methods=WITH_K, n_neighbors=14) == []
    assert complaints("13", methods=WITH_K, n_neighbors=10**30) == []
    assert complaints("6", methods=WITH_LISTS, n_neighbors=7, neighborhood="per-class") == []
    assert complaints("at most 6", methods=["lfda", *WITH_TARGETS], n_neighbors=7) == []
    assert complaints("at most 6", methods=WITH_TARGETS, n_neighbors=10**30) == []


def test_a_class_too_small_is_named() -> None:
    labels = np.where(np.arange(14) < 3, "rare", "frequent")
    assert complaints("2", methods=WITH_LISTS, y=labels, n_neighbors=3, neighborhood="per-class") == []
    assert complaints("rare", methods=WITH_LISTS, y=labels, n_neighbors=3, neighborhood="per-class") == []
    others = [m for m in WITH_K if m not in WITH_LISTS]
    # 3 of 5 votes are needed, and two others of the class can be had
    for says in ("'rare'", " 3 "):
        assert complaints(says, methods=others, y=labels, n_neighbors=5) == []
    limited = [*WITH_TARGETS, "lfda"]
    assert complaints("rare has 3", methods=limited, y=labels, n_neighbors=3) == []


@pytest.mark.parametrize("method", sorted({*WITH_TARGETS}))
def test_what_a_message_offers_in_place_of_n_neighbors_is_a_parameter(method: str) -> None:
    labels = np.where(np.arange(14) < 2, "rare", "frequent")
    name = "targets" if "targets" in get(method).PARAMETERS else "triplets"
    assert name in answer("solve", method, X=X, y=labels, n_neighbors=3)


@pytest.mark.parametrize("kind", ["KNN", "", None, 4, ["knn"]], ids=repr)
def test_unknown_neighborhoods(kind: Any) -> None:
    assert complaints("'knn', 'per-class'", methods=WITH_LISTS, neighborhood=kind) == []


@pytest.mark.parametrize("method", ["MLSVN", "", "lmnn:", None, 3], ids=repr)
def test_unknown_methods(method: Any) -> None:
    for place in ("solve", "problem", "check", "evaluate", "certify"):
        given = () if place in ("solve", "problem") else (np.eye(3), {})[: 1 + (place == "certify")]
        with pytest.raises(ValueError, match="mlsvm, kernel_mlsvm, ssvm"):
            getattr(cvxml, place)(method, X, Y, *given)


BAD_LISTS = {
    "above": [14],
    "below": [-1],
    "huge": [2**70],
    "itself": [2, 3],
    "twice": [1, 2, 1],
    "floats": [1.0, 2.0],
    "NaN": [np.nan],
    "bools": [True, False],
    "bool-among-integers": [True, 2],
    "mask": np.arange(14) < 3,
    "string": "12",
    "strings": ["1", "2"],
    "None": None,
    "number": 1,
    "2-D": [[1, 2], [4, 5]],
    "ragged": [[1], [4, 5]],
}


@pytest.mark.parametrize("case", BAD_LISTS)
def test_bad_neighbor_lists(case: str) -> None:
    lists = solved("mlsvm").neighbors
    bad = [*lists[:3], BAD_LISTS[case], *lists[4:]]
    assert complaints("neighbors[3]", methods=WITH_LISTS, neighbors=bad) == []


def test_a_wrong_number_of_neighbor_lists() -> None:
    lists = solved("mlsvm").neighbors
    assert complaints("14 lists, got 13", methods=WITH_LISTS, neighbors=lists[:-1]) == []
    assert complaints("14 lists, got 15", methods=WITH_LISTS, neighbors=[*lists, []]) == []
    for single in (5, np.array(5), np.array(5.0), np.int64(5), "12", {i: [] for i in range(14)}):
        assert complaints("neighbors", methods=WITH_LISTS, neighbors=single) == []


@pytest.mark.quick(7)
@pytest.mark.parametrize("option", [
    *({"tol": v} for v in (0, -1e-6, np.nan, np.inf, "1e-6", None, True)),
    *({"max_iter": v} for v in (0, -5, 2.5, 100.0, True, "10")),
    *({"solver": v} for v in ("FAST", "mosek", "", None)),
    *({"callback": v} for v in (3, "x")),
    {"warm_start": "a.json"},
    {"warm_start": np.eye(3)},
    {"warm_start": SavedSolution("mlsvm", {}, X, Y, [], np.eye(2), {})},
    {"warm_start": SavedSolution("mlsvm", {}, X, Y, [], -np.eye(3), {})},
])  # fmt: skip
def test_bad_options_of_solve(option: dict[str, Any]) -> None:
    assert complaints(next(iter(option)), places=("solve",), **option) == []


def test_a_warm_start_without_a_dual_is_no_start_for_one() -> None:
    bare = SavedSolution("mlsvm", {}, X, Y, [], np.eye(3), {})
    assert complaints("warm_start", places=("solve",), methods=CONVEX, warm_start=bare) == []


@pytest.mark.parametrize("option", [
    *({"tol": v} for v in ("tight", "", "1e-6", 0, None)),
    *({"claim": v} for v in ("best", "", 1)),
    *({"claimed_objective": v} for v in (np.nan, np.inf, "0.5", 1j, 10**400)),
    *({name: np.eye(3)} for name in ("query", "targets", "pairs")),
    *({"callback": v} for v in (3, "x")),
    *({"exact": v} for v in ("no", 1, None)),
    {"solver": "fast"},
])  # fmt: skip
def test_bad_options_of_check(option: dict[str, Any]) -> None:
    assert complaints(next(iter(option)), places=("check",), **option) == []


def test_a_claim_that_the_method_cannot_make() -> None:
    assert complaints("claim", places=("check",), methods=CONVEX, claim="stationary") == []


def test_a_value_alone_is_judged_only_where_the_problem_is_convex() -> None:
    others = [m for m in names() if m not in CONVEX]
    assert others
    for method in others:
        with pytest.raises(ValueError, match="give the metric too"):
            cvxml.check(method, X, Y, claimed_objective=solved(method).objective)


@pytest.mark.parametrize("t", [0, -1, 1.5, True, "1", 10**400], ids=lambda v: repr(v)[:9])
def test_bad_iteration_of_evaluate(t: Any) -> None:
    assert complaints("t", places=("evaluate",), t=t) == []


@pytest.mark.parametrize("method", STARTED)
def test_a_warm_start_of_other_data(method: str) -> None:
    """The data of a start have as many points and as many features, for every method."""
    start = solved(method)
    assert "14 points" in answer("solve", method, X=X[:10], y=Y[:10], warm_start=start)
    fewer = answer("solve", method, X=X[:, :2], warm_start=start)
    assert fewer.startswith("ValueError"), fewer
    assert "3 features" in fewer


@pytest.mark.parametrize("method", [m for m in STARTED if m not in CONVEX])
def test_a_warm_start_of_another_method_is_a_metric_to_start_from(method: str) -> None:
    """Such a method uses only the metric of the start. The points must fit all the same."""
    other = cvxml.solve("lmnn", X, Y, n_neighbors=2)
    params = {name: value for name, value in START.get(method, {}).items() if name in get(method).PARAMETERS}
    there = cvxml.evaluate(method, X, Y, other.metric, **params).objective
    found = cvxml.solve(method, X, Y, warm_start=other, **params)
    assert found.status is solved_status(method)
    assert found.objective <= there
    assert "14 points" in answer("solve", method, X=X[:10], y=Y[:10], warm_start=other)


@pytest.mark.quick(13)
@every_method
def test_a_refused_solve_leaves_the_next_one_alone(method: str) -> None:
    before = solved(method)
    assert complaints("NaN", X=with_entry(np.nan)) == []
    after = cvxml.solve(method, X, Y, **START.get(method, {}))
    assert after.status is solved_status(method)
    assert np.array_equal(after.metric, before.metric)


def refusal(function: Callable[..., Any], method: str, *given: Any, **params: Any) -> str:
    """The sentence of the ValueError; a failure where the call is accepted."""
    try:
        function(method, *given, **params)
    except ValueError as error:
        return str(error)
    pytest.fail(
        f"{method}: {function.__name__} accepts bad input, with the parameters {params}. Refuse it in `instance`, or "
        'change BAD, the values of parameters to be refused, for example BAD = {"lam": (0, -1.0)}'
    )


def bad_parts(dual: Mapping[str, Any]) -> dict[str, tuple[str, Any]]:
    """What is no array of numbers, or of another shape, or no index, in place of each part of a dual."""
    any_part: dict[str, Any] = {
        "missing": None,
        "scalar": lambda _: 1.0,
        "another-shape": lambda a: a[..., None],
        "complex": lambda a: a + 0j,
        "objects": lambda a: np.full(np.shape(a), None),
        "strings": lambda a: a.astype(str),
        "too-long": lambda a: np.concatenate([a, a]),
    }
    of_indices: dict[str, Any] = {
        "above": lambda a: a + len(X),
        "below": lambda a: a - len(X),
        "fractions": lambda a: a + 0.5,
        "flat": np.ravel,
    }
    return {
        f"{case}-{name}": (name, change)
        for name, values in dual.items()
        for case, change in {**any_part, **(of_indices if values.dtype.kind == "i" else {})}.items()
    }


@pytest.mark.quick(6)
@pytest.mark.parametrize("method", [name for name in names() if get(name).DUAL])
def test_bad_duals(method: str) -> None:
    """Each is refused by a sentence that names the part, or the part that it belongs to."""
    best = solved(method)
    parts = {name: np.asarray(best.dual[name]) for name in get(method).DUAL}
    for case, (name, change) in bad_parts(parts).items():
        dual: dict[str, Any] = {k: v for k, v in best.dual.items() if k != name}
        if change is not None:
            dual[name] = change(parts[name])
        said = refusal(cvxml.certify, method, X, Y, best.metric, dual)
        assert any(part in said for part in parts), (
            f"{method}: `read` must refuse a dual that is {case}, and name a part of `DUAL`, one of {list(parts)}; "
            f"`dual_array` of cvxml.core.inputs does both. The message is: {said}"
        )


@pytest.mark.parametrize("method", [name for name in names() if get(name).DUAL])
@pytest.mark.parametrize("dual", [None, {}, [1.0], 3], ids=repr)
def test_what_is_no_dual(method: str, dual: Any) -> None:
    with pytest.raises(ValueError, match="dual"):
        cvxml.certify(method, X, Y, solved(method).metric, dual)


def values_of_no(kind: Kind) -> tuple[Any, ...]:
    """Values that no parameter of this kind takes. None stands for the default where it is None."""
    if kind is NUMBER:
        return (np.nan, np.inf, -np.inf, "0.1", True, 1j, [0.1], 10**400)
    return (-1, 2.5, 2.0, True, "4", [4]) if kind is COUNT else ()


@every_method
def test_bad_parameters(method: str) -> None:
    """What the kind of a parameter excludes, and what the method's `BAD` lists; the message names the parameter."""
    of = get(method)
    X, y = random_data(0, n=16, d=3)
    for name, parameter in of.PARAMETERS.items():
        none = (None,) if parameter.kind in (NUMBER, COUNT) and parameter.default is not None else ()
        for value in (*none, *values_of_no(parameter.kind), *of.BAD.get(name, ())):
            given = small(method, **{name: value})
            for function in (cvxml.solve, cvxml.problem):
                said = refusal(function, method, X, y, **given)
                assert name in said, (
                    f"{method}: {function.__name__} refuses {name}={value!r}, a value of BAD or of no {name}, but "
                    "the message does not name the parameter. Raise ValueError in `instance`, for example "
                    f'"{name} must be positive, got ...". The message is: {said}'
                )


@pytest.mark.quick(8)
@every_method
def test_a_parameter_that_is_an_array_without_dimensions(method: str) -> None:
    """numpy gives such an array for a single value. len() of it raises TypeError."""
    for name in get(method).PARAMETERS:
        for value in (np.array(3), np.array(0.5), np.array("knn")):
            for place in ("solve", "evaluate"):
                said = answer(place, method, **{name: value})
                assert said == "accepted" or said.startswith("ValueError: "), f"{name}: {said}"


# the largest integers of numpy and of scikit-learn, and integers above them
HUGE = (2**32, 2**63 - 1, 2**64, 10**30)


@pytest.mark.quick(8)
@every_method
def test_a_huge_count_or_seed_is_accepted_or_refused_by_name(method: str) -> None:
    of = get(method)
    for name, parameter in (*of.PARAMETERS.items(), *of.SOLVE_PARAMETERS.items()):
        for value in HUGE if parameter.kind is COUNT else ():
            said = answer("solve", method, time_limit=60.0, **{name: value})
            refused = said.startswith("ValueError: ") and name in said and "KMeans" not in said
            assert said == "accepted" or refused, f"{name}={value}: {said}"


def test_a_huge_seed_of_an_estimator_is_refused_by_name() -> None:
    for model in (cvxml.PLML(random_state=2**32), cvxml.GLML(model="mixture", random_state=2**32)):
        with pytest.raises(ValueError, match="random_state=4294967296"):
            model.fit(X, Y)


@pytest.mark.parametrize("y", [-1e308, -1.0, -1e-323, 0.0, 1e-323, 1.0, 1e308])
@pytest.mark.parametrize("u", [-1.0, 0.0, 1e-323, 1.0, 1e308])
def test_no_dual_lifts_the_bound_of_a_local_metric(y: float, u: float) -> None:
    data = random_data(0, n=14, d=3, classes=2)  # B is definite
    best = cvxml.solve("glml", *data)
    proof = cvxml.certify("glml", *data, best.metric, {"y": np.array([y]), "u": np.array([u])})
    assert best.lower_bound > 0
    assert 0 <= proof.lower_bound <= best.objective * (1 + 1e-9)


def step_at_zero(method: str, V: np.ndarray) -> float:
    """The objective at V of the convex step of W = 0, from the definition (C = 1/n)."""
    latent, at = cvxml.evaluate(method, X, Y, 0 * V).h_star, cvxml.evaluate(method, X, Y, V)
    own = sum(float((X[i] - X[j]) @ V @ (X[i] - X[j])) for i in range(14) for j in latent[i])
    return float(np.sum(V * V)) + (float(np.sum(at.S_hat + at.Delta)) + own) / 14


@pytest.mark.quick(7)
@pytest.mark.parametrize("method", ["ssvm"])
@pytest.mark.parametrize("odd", [-1e308, 0.0, 1e-323, 1.0, 1e300, 1e308, 1.7e308])
@pytest.mark.parametrize("even", [-1.0, 1e-323, 1.0, 1e308])
@pytest.mark.parametrize("sets", ["own", "of-others", "anything"])
def test_no_dual_lifts_the_bound_of_a_step(method: str, odd: float, even: float, sets: str) -> None:
    best, zero = solved(method), np.zeros((3, 3))
    of, given = checked(method, X, Y)
    below = step_at_zero(method, of.improve(given, zero, tol=1e-9)[0])
    index = best.dual["q_index"].copy()
    if sets == "of-others":
        index[:, 1:] = index[::-1, 1:]
    if sets == "anything":  # points twice, and the point itself, among them
        index[:, 1:] = np.random.default_rng(0).integers(0, 14, index[:, 1:].shape)
    dual = {"q": np.where(np.arange(len(index)) % 2, odd, even), "q_index": index}
    proof = cvxml.certify(method, X, Y, zero, dual)
    assert below < 0.99
    assert proof.objective == pytest.approx(1)
    assert proof.lower_bound == 0
    assert proof.step is not None
    assert proof.step.lower_bound <= below + 1e-12
    assert proof.step.gap >= 1 - below - 1e-12
    assert not proof.proves(1e-6)
    assert np.isfinite(proof.step.lower_bound)


@pytest.mark.parametrize("name", ["X", "y", "metric", "components"])
def test_texts_in_lists_are_refused_before_numpy_pads_them(name: str) -> None:
    """numpy gives every entry the length of the longest text. The place is known only where numpy was not asked."""
    texts = [[0.0] * 10 + ["a" * 10**5]]
    given: dict[str, Any] = {"X": [[float(k)] for k in range(8)], "y": [0, 1] * 4, name: texts}
    if name not in ("components", "metric"):
        given["metric"] = [[1.0]]
    with pytest.raises(ValueError, match=rf"{name}.*\[0\]\[10\]"):
        cvxml.check("mlsvm", given.pop("X"), given.pop("y"), n_neighbors=1, **given)
