"""An interval of few bits holds that of many: outer ends are taken of whatever balls are as wide as they are."""

from __future__ import annotations

import pytest

import cvxml
from cvxml.core.balls import precision
from cvxml.family.theorem import exact
from tests.instances import exact_of, random_data


@pytest.mark.parametrize("method", ["itml", "mcml", "mmc", "mmc:diagonal"])
def test_an_interval_of_few_bits_holds_that_of_many(monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    X, y = random_data(3, n=10, d=2)
    best = cvxml.solve(method, X, y)
    narrow = exact_of(method, X, y, best.metric, best.dual)
    monkeypatch.setattr(exact, "precision", lambda: precision(24))
    wide = exact_of(method, X, y, best.metric, best.dual)
    assert wide.lower_bound < narrow.lower_bound <= narrow.objective < wide.objective
    assert wide.scale <= narrow.scale
