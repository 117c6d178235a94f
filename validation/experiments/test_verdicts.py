"""Verdicts on claims: against enumeration, closed testing and numbers from books."""

from __future__ import annotations

from itertools import combinations, product
from math import comb

import numpy as np
import pytest
from scipy.stats import ttest_1samp, ttest_rel

from validation.experiments import verdicts as verdicts_module
from validation.experiments.verdicts import (
    Compared,
    Difference,
    Interval,
    Pair,
    Verdict,
    alike,
    difference,
    holm,
    more,
    more_than,
    never_less,
    pair,
    share_interval,
    together,
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


# --- claims with a margin: against one-sample t-tests by scipy, and by hand

SUPPORTED, CONTRADICTED, UNDECIDED = Verdict.SUPPORTED, Verdict.CONTRADICTED, Verdict.UNDECIDED


def apart(mean: float, noise: float = 0.01, splits: int = 10) -> Compared:
    """Two methods whose difference has this mean and this standard deviation exactly."""
    base = np.random.RandomState(1).rand(splits)
    raw = np.random.RandomState(0).standard_normal(splits)
    spread = noise * (raw - raw.mean()) / raw.std(ddof=1)
    return Compared((base + mean + spread).tolist(), base.tolist(), 0.0)


@pytest.mark.parametrize("margin", [-0.02, 0.0, 0.013])
def test_beyond_a_margin_is_a_t_test_of_the_margin(margin: float) -> None:
    claim = apart(0.01, 0.03)
    found, scipy = claim.beyond(margin), ttest_1samp(np.subtract(*claim[:2]), margin)
    assert found.p_value == pytest.approx(scipy.pvalue)
    assert found.mean == pytest.approx(0.01 - margin)
    wide = claim._replace(overlap=3 / 7).beyond(margin)
    assert wide.p_value > found.p_value
    assert claim.effect == pytest.approx(1 / 3)


def test_what_is_the_margin_exactly_is_not_beyond_it() -> None:
    """.4 - .3 is not .1 in floating point."""
    exact = Compared([0.4] * 5, [0.3] * 5, 0.0)
    assert exact.beyond(0.1) == (0, (0, 0), 1)
    assert more_than({"": exact}, 0.1) == {"": UNDECIDED}
    assert exact.effect == np.inf
    assert Compared([0.3] * 5, [0.4] * 5, 0.0).effect == -np.inf
    assert Compared([0.3] * 5, [0.3] * 5, 0.0).effect == 0


@pytest.mark.parametrize(
    ("mean", "more", "never", "same"),
    [
        (0.1, SUPPORTED, SUPPORTED, CONTRADICTED),
        (0.0, SUPPORTED, SUPPORTED, SUPPORTED),
        (-0.01, SUPPORTED, CONTRADICTED, SUPPORTED),  # a little less, and surely less
        (-0.02, UNDECIDED, CONTRADICTED, UNDECIDED),
        (-0.1, CONTRADICTED, CONTRADICTED, CONTRADICTED),
    ],
)
def test_verdicts_within_two_points(mean: float, more: Verdict, never: Verdict, same: Verdict) -> None:
    claim = {"": apart(mean)}
    assert more_than(claim, -0.02) == {"": more}
    assert never_less(claim, 0.02) == {"": never}
    assert alike(claim, 0.02) == {"": same}


@pytest.mark.parametrize(
    ("mean", "verdict"), [(0.1, SUPPORTED), (0.01, UNDECIDED), (0.0, UNDECIDED), (-0.1, CONTRADICTED)]
)
def test_a_margin_of_ours_makes_no_tie_a_contradiction(mean: float, verdict: Verdict) -> None:
    claim = apart(mean, noise=0.001)
    found = verdicts_module.apart({"": claim.beyond(0.02)}, {"": claim.beyond()})
    assert found == {"": verdict}


def test_with_much_noise_nothing_is_decided() -> None:
    claim = {"": apart(-0.01, noise=0.1)}
    assert {
        *more_than(claim, -0.02).values(),
        *never_less(claim, 0.02).values(),
        *alike(claim, 0.02).values(),
    } == {UNDECIDED}


def test_all_comparisons_of_a_claim_share_the_five_per_cent() -> None:
    just = apart(0.0, noise=0.025)  # two-sided p of its distance to .02: .03
    assert 0.025 < just.beyond(-0.02).p_value < 0.05
    clear = apart(0.1)
    for judge, decided in ((more_than, SUPPORTED), (never_less, SUPPORTED), (alike, SUPPORTED)):
        margin = -0.02 if judge is more_than else 0.02
        assert judge({"just": just}, margin)["just"] is decided
        unsure = {"just": just, "unsure": apart(-0.02 if judge is more_than else 0.02, noise=0.1)}
        unsure["unsure"] = apart(-0.02, noise=0.1)
        assert judge(unsure, margin)["just"] is UNDECIDED
        assert judge({"just": just, "clear": clear}, margin)["just"] is decided  # Holm, not Bonferroni


def test_a_claim_of_all_is_contradicted_by_one() -> None:
    assert together([SUPPORTED, SUPPORTED]) is SUPPORTED
    assert together([SUPPORTED, UNDECIDED]) is UNDECIDED
    assert together([SUPPORTED, UNDECIDED, CONTRADICTED]) is CONTRADICTED
