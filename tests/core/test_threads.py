"""Parts of a table side by side: what comes of them does not depend on the number of threads."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator

import numpy as np
import pytest

import cvxml
from cvxml.core import pairs, threads
from cvxml.core.threads import cores, one_blas_thread, side_by_side
from cvxml.family.rows import base, triplets
from cvxml.family.unlisted import all_pairs
from cvxml.methods import mcml
from cvxml.methods.mcml import all_softmaxes
from tests.instances import random_data


@pytest.fixture
def three(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "cores", lambda: 3)


@pytest.mark.usefixtures("three")
@pytest.mark.parametrize("count", [0, 1, 2, 3, 20])
def test_results_come_in_the_order_of_the_parts_and_few_parts_are_under_way(count: int) -> None:
    taken: list[int] = []

    def parts() -> Iterator[int]:
        for k in range(count):
            taken.append(k)
            yield k

    ahead = []
    for k, result in enumerate(side_by_side(lambda part: part**2, parts())):
        assert result == k**2
        ahead.append(len(taken) - k)
    assert len(ahead) == len(taken) == count
    assert max(ahead, default=0) <= 7


@pytest.mark.usefixtures("three")
def test_parts_are_worked_on_at_the_same_time() -> None:
    """Neither of two parts ends before the other has begun."""
    both = threading.Barrier(2, timeout=30)
    assert sorted(side_by_side(lambda _: both.wait(), range(2))) == [0, 1]


@pytest.mark.usefixtures("three")
def test_an_error_of_a_part_is_that_of_all() -> None:
    done = []

    def work(part: int) -> int:
        if part == 2:
            raise ValueError("part 2")
        done.append(part)
        return part

    with pytest.raises(ValueError, match="part 2"):
        list(side_by_side(work, range(1000)))
    assert len(done) < 20


@pytest.mark.usefixtures("three")
def test_overflows_are_treated_as_the_caller_said() -> None:
    def overflow(part: float) -> float:
        return float((np.full(3, part) * 1e300)[0])

    with np.errstate(over="ignore"):
        assert list(side_by_side(overflow, [1.0, 1e30])) == [1e300, np.inf]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with np.errstate(over="raise"), pytest.raises(FloatingPointError):
            list(side_by_side(overflow, [1.0, 1e30]))


class Pools:
    """What threadpoolctl is: one number of threads for the process, and limits that remember the number before."""

    def __init__(self) -> None:
        self.count = 4

    def limit(self, limits: int, user_api: str) -> Pools:
        made = Pools()
        made.before, made.of = self.count, self  # type: ignore[attr-defined]
        self.count = limits
        return made

    def restore_original_limits(self) -> None:
        self.of.count = self.before  # type: ignore[attr-defined]

    def __enter__(self) -> Pools:
        return self

    def __exit__(self, *_: object) -> None:
        self.restore_original_limits()


@pytest.fixture
def pools(monkeypatch: pytest.MonkeyPatch) -> Pools:
    made = Pools()
    monkeypatch.setattr(threads, "_thread_pools", lambda: made)
    monkeypatch.setattr(threads, "_ONE", threads._OneBlasThread())  # the suite itself runs within a block
    return made


def test_blocks_of_one_blas_thread_that_overlap_in_two_threads_leave_the_number_as_it_was(
    pools: Pools,
) -> None:
    """The first block begins first and ends first."""
    inside, first_is_over, seen = threading.Event(), threading.Event(), []

    def second() -> None:
        with one_blas_thread():
            inside.set()
            assert first_is_over.wait(30)
            seen.append(pools.count)

    other = threading.Thread(target=second)
    with one_blas_thread():
        other.start()
        assert inside.wait(30)
        seen.append(pools.count)
    first_is_over.set()
    other.join()
    assert seen == [1, 1]
    assert pools.count == 4


def test_blocks_of_one_blas_thread_within_each_other_end_with_the_outer_one_and_with_an_error(
    pools: Pools,
) -> None:
    def fail() -> None:
        with one_blas_thread():
            with one_blas_thread():
                assert pools.count == 1
            assert pools.count == 1
            raise ArithmeticError

    for _ in range(2):
        with pytest.raises(ArithmeticError):
            fail()
        assert pools.count == 4


@pytest.mark.parametrize(("asked", "most"), [("1", 1), ("2", 2), ("", None), ("0", None), ("many", None)])
def test_no_more_threads_than_cores_and_than_are_asked_for(
    asked: str, most: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threads, "_cores", lambda: 8)
    monkeypatch.setenv("OMP_NUM_THREADS", asked)
    assert cores() == (8 if most is None else most)


@pytest.mark.quick(1)
@pytest.mark.parametrize("method", ["lmnn", "mcml", "mmc", "dml_eig"])
def test_a_solution_is_the_same_to_the_last_digit_on_any_number_of_threads(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = random_data(1, n=60, d=3, classes=3)
    for module in (all_pairs, all_softmaxes, base, triplets):
        monkeypatch.setattr(module, "BLOCK", 600)
    for module in (pairs, mcml):  # the routes of many points
        monkeypatch.setattr(module, "MAX_POINTS_LISTED", 5)
    found = []
    for count in (1, 3):
        monkeypatch.setattr(threads, "cores", lambda count=count: count)
        found.append(cvxml.solve(method, X, y, tol=1e-6))
    assert (found[0].metric == found[1].metric).all()
    assert found[0].lower_bound == found[1].lower_bound
