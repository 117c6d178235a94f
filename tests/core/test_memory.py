"""What would not fit into the memory is refused before it is made, with what is needed and what there is."""

from __future__ import annotations

import resource
import tracemalloc
import warnings
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import cvxml
from cvxml.core import memory
from cvxml.core.backend import SolverFailure
from cvxml.core.memory import (
    LargeLiteralProblem,
    TooLarge,
    available,
    check_literal,
    check_room,
    enough_memory,
    in_words,
    said,
)
from cvxml.core.method import ConvexMethod
from cvxml.methods import get, names
from tests.cli.commands import Cli
from tests.instances import random_data, real_data
from tests.methods.test_interrupt import PARAMS

FREE = 1000  # bytes, for a machine that has next to none


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with next to no memory."""
    monkeypatch.setattr(memory, "available", lambda: FREE)


def test_a_refusal_says_what_is_needed_what_there_is_and_what_to_do(small: None) -> None:
    with pytest.raises(TooLarge, match=r"table.*3\.2 GB.*1 kB.*less"):
        check_room(3_200_000_000, "table", "less")
    check_room(FREE, "a table")  # just so


def test_where_the_system_says_nothing_nothing_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available", lambda: None)
    check_room(10**30, "a table")
    with pytest.warns(LargeLiteralProblem):
        check_literal(10**9, 10**3)


@pytest.mark.parametrize(
    ("size", "words"),
    [(0, "0 bytes"), (999, "999 bytes"), (1000, "1 kB"), (2.5e9, "2.5 GB"), (7e13, "70 TB")],
)
def test_sizes_in_words(size: float, words: str) -> None:
    assert said(int(size)) == words


def test_there_is_more_than_this_test_takes_and_less_than_all_there_is() -> None:
    free = available()
    assert free is None or 10**7 < free < 10**15


def test_a_limit_of_the_process_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_of_machine", lambda: 10**15)
    monkeypatch.setattr(resource, "getrlimit", lambda which: (resource.RLIM_INFINITY,) * 2)
    assert available() == 10**15
    monkeypatch.setattr(resource, "getrlimit", lambda which: (10**14, resource.RLIM_INFINITY))
    left = available()
    assert left is not None
    assert 0 < left < 10**14  # what is taken already is not there
    monkeypatch.setattr(resource, "getrlimit", lambda which: (1, resource.RLIM_INFINITY))
    assert available() == 0
    with pytest.raises(TooLarge, match=r"1 bytes.*0 bytes"):
        check_room(1, "a byte")


TABLES: list[tuple[str, dict[str, Any], str]] = [
    ("frobmetric", {}, "30 points.*90 targets"),
    ("frobmetric", {"triplets": [[i, i + 1, j] for i in range(20) for j in range(22, 30)]}, "20 pairs"),
    ("rtml", {}, "30 points.*90 targets"),
    ("boostmetric", {}, "30 points.*90 targets"),
    ("plml", {}, "30 points.*90 targets"),
    ("kernel_mlsvm", {}, "30 points"),
    ("mcml", {}, "tables"),
    ("mmc", {}, "30 points"),
    ("ldml", {}, "30 points"),
    ("itml", {}, "30 points"),
    ("dml_eig", {}, "30 points"),
    ("mlkr", {}, "30 points"),
    ("lfda", {}, "13 points"),
]  # fmt: skip


@pytest.mark.quick(7)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("method", "params", "says"), TABLES)
def test_what_is_listed_in_full_is_refused(
    method: str, params: dict[str, Any], says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    points, y = real_data("iris", 30)
    cvxml.solve(method, points, y, tol=1e-2, **params)
    monkeypatch.setattr(memory, "available", lambda: 100)
    with pytest.raises(TooLarge, match=says):
        cvxml.solve(method, points, y, tol=1e-2, **params)


@pytest.mark.quick(5)
@pytest.mark.parametrize("method", names())
@pytest.mark.parametrize("where", ["instance", "find", "certify"])
def test_an_array_that_does_not_fit_is_a_refusal_with_its_size(
    method: str, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def too_large(*_: Any, **__: Any) -> None:
        np.empty((10**9, 10**9))

    (points, y), params = real_data("wine", 60), PARAMS.get(method, {})
    warnings.simplefilter("ignore", ConvergenceWarning)
    work = partial(cvxml.solve, method, points, y, **params)
    if where == "certify":
        known = cvxml.solve(method, points, y, tol="loose", **params)
        work = partial(cvxml.certify, method, points, y, known.metric, known.dual, **params)
    monkeypatch.setattr(type(get(method)), where, too_large)
    with pytest.raises(TooLarge, match=r"\(1000000000, 1000000000\).*8e\+06 TB"):
        work()


@pytest.mark.parametrize(
    ("method", "params"),
    [("rca", {"alpha": 1.0}), ("gmml", {"mu": 1.0}), ("lfda", {"alpha": 1.0}), ("rca", {})],
)
def test_exact_arithmetic_is_refused_before_flint_is_asked(
    method: str, params: dict[str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """FLINT ends the process where there is not enough memory."""
    asked = len(params) == 0  # the rank, of as many points as it needs
    n, d = (400, 200) if asked else (10, 200)
    points = np.random.default_rng(0).standard_normal((n, d))
    monkeypatch.setattr(memory, "available", lambda: 2 * 10**7)
    monkeypatch.setattr("cvxml.core.integer_matrices.flint", None)
    monkeypatch.setattr("cvxml.numbers.span.flint", None)
    with pytest.raises(TooLarge, match=f"{n} points in {d} features"):
        cvxml.solve(method, points, [0, 1] * (n // 2), **params)  # type: ignore[arg-type]


@pytest.mark.quick(5)
@pytest.mark.parametrize("method", [method for method in names() if method != "kernel_mlsvm"])
def test_a_metric_that_does_not_fit_is_refused_before_a_matrix_of_its_size_is_made(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some methods refuse so few points of so many features for a reason of their own."""
    d = 1500
    points = np.random.default_rng(0).standard_normal((20, d))
    given = {"rca": {"alpha": 1.0}, "lfda": {"alpha": 1.0}, "gmml": {"mu": 1.0}}.get(method, {})
    get(method)
    import_module("sklearn.cluster")  # an import takes memory too
    monkeypatch.setattr(memory, "available", lambda: 3 * 8 * d**2)
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=r"metric|features") as refused:
            cvxml.solve(method, points, np.arange(20) % 2, **{**PARAMS.get(method, {}), **given})
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert isinstance(refused.value, TooLarge) or method in ("mmc", "dml_eig")
    assert most < 8 * d**2


def test_an_error_of_memory_without_a_size_is_a_refusal_too() -> None:
    with pytest.raises(TooLarge, match="fewer points"), enough_memory():
        raise MemoryError


def test_pairs_that_are_never_listed_are_refused_before_their_distances_are_computed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(import_module("cvxml.methods.itml.instance"), "squared_distances")
    with pytest.raises(TooLarge, match=r"6000 points.*576 MB"):
        cvxml.solve("itml", np.random.default_rng(0).standard_normal((6000, 2)), np.arange(6000) % 2)


ROWS = ConvexMethod.literal_rows
MANY_ROWS = [name for name in names() if getattr(type(get(name)), "literal_rows", ROWS) is not ROWS]


@pytest.mark.quick(5)
@pytest.mark.parametrize("method", [*MANY_ROWS, "nca"])
def test_a_literal_problem_is_refused_before_cvxpy_is_asked(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    points, y = real_data("iris", 30)
    of = get(method)
    given = of.instance(points, y, **({"n_anchors": 2} if method == "plml" else {}))
    if method != "nca" and of.literal_rows(given) == 0:  # type: ignore[attr-defined]
        return  # few, as those of a diagonal metric
    if method in ("lmnn", "frobmetric", "itml", "dml_eig"):  # of the others the objective has as many terms
        assert sum(c.size for c in of.problem(given).constraints) >= of.literal_rows(given)  # type: ignore[attr-defined]

    def asked(*_: Any, **__: Any) -> None:
        raise AssertionError("cvxpy was asked")

    monkeypatch.setattr("cvxpy.Problem.solve", asked)
    monkeypatch.setattr(memory, "available", lambda: 10_000)
    with pytest.raises(TooLarge, match=r'solver="fast"'):
        of.solve(given, solver="clarabel")
    monkeypatch.setattr(memory, "available", lambda: 10**9)
    with pytest.raises(SolverFailure, match="was asked"):
        of.solve(given, solver="clarabel")


@pytest.mark.parametrize(("seconds", "words"), [(10, "10 s"), (119, "119 s"), (120, "2 min"), (7200, "2 h")])
def test_durations_in_words(seconds: float, words: str) -> None:
    assert in_words(seconds) == words


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch) -> int:
    """The number of triplets of LMNN on the 30 points of `real_data`, which is just enough for the warning."""
    _, y = real_data("iris", 30)
    rows = sum(3 * int(np.count_nonzero(y != label)) for label in y)  # 3 targets each
    monkeypatch.setattr(memory, "MANY_ROWS", rows)
    monkeypatch.setattr("cvxpy.Problem.solve", _stopped)
    return rows


def _stopped(*_: Any, **__: Any) -> None:
    raise KeyboardInterrupt


def test_a_large_literal_problem_is_announced_with_its_size_at_the_users_line(
    listed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    points, y = real_data("iris", 30)
    with pytest.warns(LargeLiteralProblem, match=f"{listed} constraints.*4 x 4.* s and .*MB") as told:
        cvxml.problem("lmnn", points, y)
    with (
        pytest.warns(LargeLiteralProblem, match=f'{listed} constraints.*solver="fast"') as also,
        pytest.raises(KeyboardInterrupt),
    ):
        cvxml.solve("lmnn", points, y, solver="clarabel")
    assert [each.filename for each in (*told, *also)] == [__file__, __file__]
    monkeypatch.setattr(memory, "MANY_ROWS", listed + 1)
    cvxml.problem("lmnn", points, y)  # a warning would be an error here


def test_the_command_line_announces_a_large_literal_problem(listed: int, cli: Cli, tmp_path: Path) -> None:
    points, y = real_data("iris", 30)
    np.savetxt(tmp_path / "points.csv", np.column_stack([points, y]), delimiter=",")
    done = cli("solve", "lmnn", str(tmp_path / "points.csv"), "--solver", "clarabel")
    assert done.code == 130
    assert f"{listed} constraints" in done.err


def test_many_points_of_pairs_need_no_list(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    points = rng.standard_normal((600, 2))
    y = (points[:, 0] + 0.5 * rng.standard_normal(600) > 0).astype(int)
    monkeypatch.setattr(memory, "available", lambda: 100)
    for method in ("mmc", "mcml"):
        assert cvxml.solve(method, points, y, tol=1e-2).status == "converged"


def test_on_the_command_line_it_is_one_line(cli: Cli, small: None) -> None:
    answer = cli("solve", "mmc", "iris")
    assert (answer.code, answer.out) == (2, "")
    last = answer.err.splitlines()[-1]
    assert last.startswith("cvxml: ")
    for token in ("150 points", "1 kB", "pairs"):
        assert token in last


def test_quadruplets_that_do_not_fit_are_refused_before_they_are_drawn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(memory, "available", lambda: 10**9)
    with pytest.raises(TooLarge, match="n_quadruplets"):
        cvxml.solve("lsml", *random_data(0, n=12, d=2), n_quadruplets=10**7)
