"""Percentiles by counting bits are those of numpy."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from cvxml.methods.itml import percentiles as counting
from cvxml.methods.itml.instance import default_bounds
from cvxml.methods.itml.percentiles import Numbers, percentiles

AT = (0.0, 5.0, 37.3, 50.0, 95.0, 99.99, 100.0)


def drawn(kind: str, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    values = rng.exponential(size=int(rng.integers(2, 3000)))
    return {
        "spread": values,
        "few values": rng.integers(0, 4, size=len(values)).astype(float),
        "zeros": values * (rng.random(len(values)) < 0.1),
        "all orders of magnitude": 10.0 ** rng.uniform(-320, 300, size=len(values)),
        "neighbouring floats": 1.0 + 2.0**-52 * rng.integers(0, 9, size=len(values)),
    }[kind]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "kind",
    ["spread", "few values", "zeros", "all orders of magnitude", "neighbouring floats"],
)
def test_counted_percentiles_are_those_of_numpy(
    kind: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counting, "BLOCK", 500)  # so that there are several blocks
    values = drawn(kind, seed)
    parts = np.array_split(values, 7)
    numbers = Numbers(lambda: iter(parts), len(values))
    expected = np.percentile(values, AT)
    assert percentiles(numbers, AT, most=1) == expected.tolist()
    assert percentiles(numbers, AT) == expected.tolist()


@pytest.mark.slow
def test_the_default_bounds_do_not_hold_the_distances_of_all_pairs() -> None:
    X = np.random.default_rng(0).standard_normal((8000, 3))
    tracemalloc.start()
    try:
        default_bounds(X, np.eye(3))
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 8 * len(X) * (len(X) - 1) / 2
