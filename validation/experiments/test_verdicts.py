"""Verdicts on claims: against enumeration, closed testing and numbers from books."""

from __future__ import annotations

from itertools import combinations, product
from math import comb
from typing import Any

import numpy as np
import pytest
from scipy.stats import ttest_1samp, ttest_rel

from validation.experiments.verdicts import (
    Answer,
    Compared,
    Pair,
    Verdict,
    alike,
    answer,
    difference,
    every,
    half,
    holm,
    joined,
    judged,
    more,
    most,
    pair,
    paired,
    share_interval,
    worst,
)

S, C, U = Verdict.SUPPORTED, Verdict.CONTRADICTED, Verdict.UNDECIDED


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ("", "untested"),
        ("SSS", "yes"),
        ("SSU", "mostly"),
        ("SSC", "mostly"),
        ("SU", "in part"),
        ("SC", "in part"),
        ("SCC", "no"),
        ("C", "no"),
        ("UUC", "no"),
        ("UU", "undecided"),
    ],
)
def test_how_far_a_claim_holds(found: str, expected: str) -> None:
    assert answer([{"S": S, "C": C, "U": U}[letter] for letter in found]) == expected


def test_of_several_answers_the_worst_for_the_claim_counts() -> None:
    assert worst([Answer.YES, Answer.IN_PART, Answer.MOSTLY]) == "in part"
    assert worst([Answer.UNDECIDED, Answer.NO]) == "no"


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


@pytest.mark.quick(2)
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
    assert more(claims) == {"less": S, "more": C, "equal": U, "just": U}  # of four claims
    assert more({"just": claims["just"]})["just"] is S


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


def test_two_methods_are_paired_by_the_realisations_of_both() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.normal(0.8, 0.02, 10), rng.normal(0.79, 0.02, 10)
    found = paired(dict(enumerate(a)), {11: 0.5, **dict(enumerate(b)), 9: None}, 2.0)
    assert found == (a[:9].tolist(), b[:9].tolist(), 2.0)
    assert paired({0: 0.5, 1: 0.5}, {1: 0.5}, 2.0) is None


# --- claims with a margin: against one-sample t-tests by scipy, and by hand


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
    assert judged({"": exact}, 0.1) == {"": U}
    assert exact.effect == np.inf
    assert Compared([0.3] * 5, [0.4] * 5, 0.0).effect == -np.inf
    assert Compared([0.3] * 5, [0.3] * 5, 0.0).effect == 0


@pytest.mark.parametrize(
    ("mean", "more", "never", "same"),
    [
        (0.1, S, S, C),
        (0.0, S, S, S),
        (-0.01, S, C, S),  # a little less, and surely less
        (-0.02, U, C, U),
        (-0.1, C, C, C),
    ],
)
def test_verdicts_within_two_points(mean: float, more: Verdict, never: Verdict, same: Verdict) -> None:
    claim = {"": apart(mean)}
    assert judged(claim, -0.02) == {"": more}
    assert judged(claim, -0.02, 0.0) == {"": never}
    assert alike(claim, 0.02) == {"": same}


@pytest.mark.parametrize(("mean", "verdict"), [(0.1, S), (0.01, U), (0.0, U), (-0.1, C)])
def test_a_margin_of_ours_makes_no_tie_a_contradiction(mean: float, verdict: Verdict) -> None:
    assert judged({"": apart(mean, noise=0.001)}, 0.02, 0.0) == {"": verdict}


def test_with_much_noise_nothing_is_decided() -> None:
    claim = {"": apart(-0.01, noise=0.1)}
    for found in (judged(claim, -0.02), judged(claim, -0.02, 0.0), alike(claim, 0.02)):
        assert found == {"": U}


@pytest.mark.parametrize(
    "judge",
    [lambda each: judged(each, -0.02), lambda each: judged(each, -0.02, 0.0), lambda each: alike(each, 0.02)],
)
def test_all_comparisons_of_a_claim_share_the_five_per_cent(judge: Any) -> None:
    just = apart(0.0, noise=0.025)  # two-sided p of its distance to .02: .03
    assert 0.025 < just.beyond(-0.02).p_value < 0.05
    assert judge({"just": just})["just"] is S
    assert judge({"just": just, "unsure": apart(-0.02, noise=0.1)})["just"] is U
    assert judge({"just": just, "clear": apart(0.1)})["just"] is S  # Holm, not Bonferroni


def test_how_many_are_needed() -> None:
    """Whatever the undecided turn out to be: all ways to decide them are tried."""
    for found in product((S, C, U), repeat=4):
        for need in (every, most, half):
            for unknown in range(3):  # what was not compared is as undecided
                ends = set()
                for way in product((S, C), repeat=found.count(U) + unknown):
                    rest = iter(way)
                    decided = [next(rest) if each is U else each for each in (*found, *[U] * unknown)]
                    ends.add(decided.count(S) >= need(4 + unknown))
                wanted = {True: S, False: C}[ends.pop()] if len(ends) == 1 else U
                assert joined(found, need, 4 + unknown) is wanted, (found, need, unknown)
            assert joined(found, need) is joined(found, need, 4)
    assert [need(5) for need in (every, most, half)] == [5, 3, 3]
    assert [need(4) for need in (every, most, half)] == [4, 3, 2]
    assert joined([], every) is None
