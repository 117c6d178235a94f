"""The released oracles by hand and against all rankings; corrected ones miss nothing."""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pytest

from cvxml.core.ranking import MEASURES
from validation.studies import released_oracles as released


def everything(measure: str, k: int, near: Any, far: Any) -> float:
    """The largest worth of all rankings."""
    P, N = len(near), len(far)
    every = combinations_with_replacement(range(N + 1), P)
    return max(released.worth(measure, k, near, far, list(g)) for g in every)


@pytest.mark.parametrize("measure", MEASURES)
def test_the_corrected_oracle_misses_nothing(measure: str) -> None:
    rng = np.random.default_rng(0)
    for _ in range(40):
        P, N, k = (int(rng.integers(1, most)) for most in (5, 6, 5))
        near, far = np.sort(rng.exponential(0.4, P)), np.sort(rng.exponential(0.4, N))
        g = released.exact(measure, k, near, far)
        assert released.worth(measure, k, near, far, g) == pytest.approx(
            everything(measure, k, near, far), abs=1e-12
        )
        assert not released.is_missed(measure, k, near, far, g)
        if measure in ("auc", "mrr"):
            assert not released.is_missed(measure, k, near, far, released.RELEASED[measure](k, near, far))


def test_the_loss_of_a_right_ranking_is_1() -> None:
    near, far = np.array([0.1, 0.2]), np.array([2.0, 3.0])
    g = released.released_auc(3, near, far)
    assert g == [0, 0]
    assert released.worth("auc", 3, near, far, g) == 0
    assert released.released_auc_loss(g, 2) == 1
    assert released.released_auc_loss([2, 2], 2) == 0.5  # of all pairs swapped, where it is 1


def test_map_takes_p_over_g_for_p_over_the_rank() -> None:
    """Behind the other point the second relevant one loses 1/6 and costs .4; there it seems to lose 1/2."""
    near, far = np.array([0.0, 0.0]), np.array([0.4])
    g = released.released_map(3, near, far)
    assert g == [0, 1]
    assert released.worth("map", 3, near, far, g) == pytest.approx(1 / 6 - 0.4)
    assert released.worth("map", 3, near, far, [0, 0]) == 0
    assert released.is_missed("map", 3, near, far, g)


def test_ndcg_never_puts_a_relevant_point_last() -> None:
    near, far = np.array([0.0]), np.array([0.0])
    assert released.released_ndcg(3, near, far) == [0]
    assert released.worth("ndcg", 3, near, far, [0]) == 0
    assert released.worth("ndcg", 3, near, far, released.exact("ndcg", 3, near, far)) == 1


def test_precision_counts_the_others_with_the_wrong_sign() -> None:
    """One of two places lost costs one swap of six: 1/2 - .4. Both cost four: 1 - 1.6. It takes what is dearest."""
    near, far = np.array([0.0, 0.0]), np.array([1.2, 1.2, 1.2])
    g = released.released_precision(2, near, far)
    assert g == [2, 2]
    assert released.worth("precision", 2, near, far, g) == pytest.approx(1 - 1.6)
    assert released.worth("precision", 2, near, far, [0, 1]) == pytest.approx(0.5 - 0.4)
    assert released.is_missed("precision", 2, near, far, g)


def test_numbers_that_no_ranking_has_are_missed() -> None:
    assert released.is_missed("precision", 2, np.zeros(2), np.zeros(3), [1, 0])


def test_the_table_is_of_all_measures(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(released, "INSTANCES", 20)
    monkeypatch.setattr(released, "SIZES", ((3, 5),))
    monkeypatch.setattr(released, "SETS", ())
    released.main()
    rows = [line.split("|")[1:-1] for line in capsys.readouterr().out.splitlines()]
    assert [cell.strip() for cell in rows[0]] == ["instances", "P, N", *MEASURES, "loss of auc"]
    for row in rows[2:]:
        assert row[2].strip() == row[5].strip() == "0.0 %"
        assert row[4].strip() != "0.0 %"
