"""Two copies of the repository side by side: here, this one twice."""

from __future__ import annotations

import pytest

from validation.benchmarks import versions

pytestmark = pytest.mark.slow


def test_a_copy_beside_itself_has_the_same_gap() -> None:
    processes = [versions.worker(versions.ROOT) for _ in range(2)]
    try:
        (first, *found), (second, *again) = versions.in_turn(processes, "gmml", "iris")
        assert first > 0
        assert second > 0
        assert found == again
        assert found[0] == "CONVERGED"
        error = versions.solved(processes[0], "no such method", "iris")
        assert error == [None, "ValueError", None]
        assert versions.solved(processes[0], "gmml", "iris")[1] == "CONVERGED"  # it goes on after an error
    finally:
        for process in processes:
            process.communicate()
