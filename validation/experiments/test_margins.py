"""Claims with a margin: against one-sample t-tests by scipy, and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from validation.experiments import margins
from validation.experiments.margins import Compared, alike, more_than, never_less, together
from validation.experiments.verdicts import Verdict

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
    found = margins.apart({"": claim.beyond(0.02)}, {"": claim.beyond()})
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
