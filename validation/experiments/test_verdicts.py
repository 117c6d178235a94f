"""Verdicts on claims: against enumeration, closed testing and numbers from books."""

from __future__ import annotations

from itertools import combinations, product
from math import comb

import numpy as np
import pytest
from scipy.stats import ttest_rel

from validation.experiments.verdicts import (
    Difference,
    Interval,
    Pair,
    Verdict,
    difference,
    holm,
    more,
    pair,
    share_interval,
    verdicts,
)


@pytest.mark.parametrize("seed", range(20))
def test_holm_is_the_closed_test_of_bonferroni(seed: int) -> None:
    """A hypothesis is rejected where every set of hypotheses that has it is, by the least p times their number."""
    random = np.random.RandomState(seed)
    p = dict(enumerate((random.rand(1 + seed % 5) ** 3).tolist()))
    sets = [s for size in range(1, len(p) + 1) for s in combinations(p, size)]
    closed = {i: min(1.0, max(len(s) * min(p[j] for j in s) for s in sets if i in s)) for i in p}
    assert holm(p) == pytest.approx(closed)


@pytest.mark.parametrize(("first", "second"), [(0, 0), (3, 0), (2, 9), (9, 2), (6, 6)])
def test_mcnemar_s_p_value_is_that_of_all_ways_to_deal_the_points(first: int, second: int) -> None:
    apart = first + second
    ways = [sum(way) for way in product((0, 1), repeat=apart)]
    rare = sum(comb(apart, count) <= comb(apart, first) for count in ways)
    assert Pair(first, second, 100).p_value == pytest.approx(rare / len(ways))


def test_an_interval_of_a_share_covers_what_it_says() -> None:
    """4 of 20: .0573 to .4366 in the tables of Clopper and Pearson; none of n: 1 - (.025)^(1/n)."""
    assert share_interval(4, 20) == pytest.approx((0.0573, 0.4366), abs=5e-5)
    assert share_interval(0, 10) == pytest.approx((0.0, 1 - 0.025**0.1))
    for share in (0.05, 0.3):
        covered = sum(
            comb(30, wrong) * share**wrong * (1 - share) ** (30 - wrong)
            for wrong in range(31)
            if share_interval(wrong, 30).low <= share <= share_interval(wrong, 30).high
        )
        assert covered >= 0.95


def test_a_pair_counts_what_only_one_gets_wrong() -> None:
    found = pair([1, 2, 3, 4], [4, 5], 50)
    assert found == (3, 1, 50)
    assert found.difference == pytest.approx((4 - 2) / 50)
    low, high = found.interval
    assert low < found.difference < high
    low, high = pair([1], [1], 9).interval
    assert low == -high < 0  # of nine points alike not all others are


@pytest.mark.parametrize(
    ("first", "second"), [(0.01, 0.55), (0.05, 0.45), (0.1, 0.02), (0.2, 0.2), (0.0, 0.1)]
)
def test_the_interval_of_a_pair_covers_what_it_says(first: float, second: float) -> None:
    """By enumeration: how many of 80 new points only one gets wrong is drawn, and not given."""
    n, covered = 80, 0.0
    for a in range(n + 1):
        for b in range(n + 1 - a):
            low, high = Pair(a, b, n).interval
            if low <= first - second <= high:
                ways = comb(n, a) * comb(n - a, b)
                covered += ways * first**a * second**b * (1 - first - second) ** (n - a - b)
    assert covered >= 0.94


@pytest.mark.parametrize(("first", "second"), [(0, 8), (1, 8), (5, 8), (8, 0)])
def test_significance_and_the_interval_agree(first: int, second: int) -> None:
    found = Pair(first, second, 100)
    assert (found.p_value < 0.05) == (found.interval.low > 0 or found.interval.high < 0)


def test_three_verdicts_and_holm_within_the_table() -> None:
    claims = {
        "less": Pair(0, 20, 100),
        "more": Pair(20, 0, 100),
        "equal": Pair(5, 5, 100),
        "just": Pair(0, 6, 100),
    }
    assert Pair(0, 6, 100).p_value < 0.05
    found = verdicts(claims)
    assert found == {
        "less": Verdict.SUPPORTED,
        "more": Verdict.CONTRADICTED,
        "equal": Verdict.UNDECIDED,
        "just": Verdict.UNDECIDED,  # of four claims; alone it would be supported
    }
    assert verdicts({"just": claims["just"]})["just"] == Verdict.SUPPORTED


def test_a_difference_is_a_paired_t_test_and_wider_where_splits_overlap() -> None:
    random = np.random.RandomState(5)
    first, second = random.rand(2, 12)
    plain, other = difference(first.tolist(), second.tolist(), 0.0), ttest_rel(first, second)
    assert plain.p_value == pytest.approx(other.pvalue)
    assert plain.interval == pytest.approx(tuple(other.confidence_interval()))
    wide = difference(first.tolist(), second.tolist(), 3 / 7)
    assert wide.mean == plain.mean == pytest.approx(float(np.mean(first - second)))
    reach = [each.interval.high - each.mean for each in (wide, plain)]
    assert reach[0] / reach[1] == pytest.approx(np.sqrt((1 / 12 + 3 / 7) * 12))
    equal = difference([0.5, 0.7], [0.5, 0.7], 0.0)
    assert equal == (0, (0, 0), 1)
    assert difference([0.5, 0.75], [0.25, 0.5], 0.0).p_value == 0


def test_more_has_three_verdicts() -> None:
    claims = {
        "more": Difference(0.2, Interval(0.1, 0.3), 1e-4),
        "less": Difference(-0.2, Interval(-0.3, -0.1), 1e-4),
        "unsure": Difference(0.2, Interval(0.01, 0.4), 0.03),
    }
    verdict = more(claims)
    assert list(verdict.values()) == [Verdict.SUPPORTED, Verdict.CONTRADICTED, Verdict.SUPPORTED]
    assert more({**claims, "other": claims["unsure"]})["unsure"] == Verdict.UNDECIDED
