"""The rules for a claim about a convex problem, in the order in which they are tried.

`METRIC` judges a metric. `REVISIONS` replaces a ruling that claims more than is proved. `CLOSE_METRIC` replaces
"refuted" by "close" near the optimum. `VALUE` judges a claimed objective. "Our" solution, metric and gap are those of
our own solve of the user's problem (reference.py). The candidate is the metric that the user gave.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

from cvxml.core.exact import Exact, upward
from cvxml.core.metric import EPS, Feasibility
from cvxml.core.report import Verdict
from cvxml.core.result import Certificate, Solution, Status
from cvxml.oracle.asked import Asked
from cvxml.oracle.rules import Rule, Ruling, decide

CERTIFIED, REFUTED, INCONCLUSIVE = Verdict.CERTIFIED, Verdict.REFUTED, Verdict.INCONCLUSIVE
FEW_DIGITS = (
    1e-3  # a matrix this near the metrics, relative to its norm, may be a metric with rounded entries
)
CLOSE = 1e-2  # relative gap; a metric with at most this gap is close, for example if a run stopped early
# The gap grows with the square of an error. A closed form with condition number k has a relative error of about
# k EPS, so a larger relative gap needs k > 4e11.
LOST_DIGITS = 1e-8


class OnMetric(NamedTuple):
    """The facts about a metric that the rules use.

    proof: its certificate. reference: our own solution. scale: the scale of the problem. tol: the tolerance, relative
    to the scale. ties: the number of neighbourhoods with a tie for the last place.

    lists: the name of the parameter for lists of neighbours, with which the user can settle the ties.
    """

    proof: Certificate  # of the metric
    reference: Solution  # our own solution
    scale: float
    tol: float  # relative to the scale
    ties: int = 0
    lists: str = "neighbors"  # the parameter that takes the lists a tie may decide

    @property
    def allowed(self) -> float:
        """The largest gap with which the metric is certified: tol times the scale, plus the gap's rounding error."""
        return self.tol * self.scale + self.proof.rounding

    @property
    def better_by(self) -> float:
        """How much better our solution is than the metric: the gap of the metric minus the gap of our solution.

        If both gaps have the same lower bound, this is the difference of the two objectives. Otherwise the result is
        the smaller one of the difference of the gaps and the difference of the objectives.
        """
        by_gaps = self.proof.gap - self.reference.gap
        return by_gaps if self.has_one_bound else min(by_gaps, self.better_by_objectives)

    @property
    def has_one_bound(self) -> bool:
        """True if the gaps of the metric and of our solution have the same lower bound."""
        return self.proof.lower_bound == self.reference.lower_bound

    @property
    def better_by_objectives(self) -> float:
        """The objective of the metric minus the objective of our solution, as a plain difference."""
        return self.proof.objective - self.reference.objective

    @property
    def undecided(self) -> str:
        """Why double precision proves nothing; empty if it can prove something."""
        return self.proof.undecided or self.reference.certificate.undecided

    @property
    def has_no_bound(self) -> bool:
        """True if our search found a metric with a finite objective, but no lower bound."""
        return math.isfinite(self.reference.objective) and self.reference.lower_bound == -math.inf

    @property
    def overflows(self) -> bool:
        """True if the gap of our solution is not finite, or if the metric's gap, its rounding or the scale is NaN."""
        figures = (self.proof.gap, self.proof.rounding, self.scale)
        return not math.isfinite(self.reference.gap) or any(map(math.isnan, figures))

    @property
    def zero_is_optimal(self) -> bool:
        """True if the zero matrix is proved to be the optimum. Then the scale is 0, and only 0 is optimal."""
        ours = self.reference
        return self.scale == 0 and not ours.metric.any() and ours.certificate.proves(self.tol)

    @property
    def decides(self) -> bool:
        return self.reference.certificate.decides(self.tol) and self.proof.decides(self.tol)

    @property
    def share(self) -> float:
        """The gap relative to the scale, rounding included; inf if the scale is 0."""
        return (self.proof.gap + self.proof.rounding) / self.scale if self.scale > 0 else math.inf

    @property
    def is_close(self) -> bool:
        """True if the metric is feasible, and its gap, rounding included, is at most `CLOSE` of the scale."""
        return self.proof.feasibility.feasible and self.share <= CLOSE

    @property
    def rel_gap(self) -> float:
        """gap / scale; inf if the gap is not finite. If the scale is 0: 0 for a gap <= 0, else inf."""
        if self.scale > 0:
            return self.proof.gap / self.scale if math.isfinite(self.proof.gap) else math.inf
        return 0.0 if self.proof.gap <= 0 else math.inf


def _rounding(f: OnMetric) -> str:
    rounding = max(f.proof.rounding, f.reference.certificate.rounding)
    larger = "; try a larger tol" if f.scale > 0 else ""  # a tolerance is relative to the scale
    return (
        f"double precision cannot decide at this tol: the rounding error may be {rounding:.3g}, "
        f"the scale is {f.scale:.3g}{larger}"
    )


def _nonzero(f: OnMetric) -> str:
    return (
        "the optimum is exactly the zero matrix, so a relative gap is undefined: "
        f"the metric has norm {f.proof.feasibility.norm:.3g}"
    )


def _not_tight(f: OnMetric) -> str:
    by = f.better_by if f.has_one_bound else f.better_by_objectives
    if by > 0:
        ours = f"our best metric is better only by {by:.3g}"
    elif by < 0:
        ours = f"the objective of our best metric is larger by {-by:.3g}"
    else:
        ours = "our best metric has the same objective"
    return f"our lower bound is not tight enough: the gap is {f.proof.gap:.3g}, allowed is {f.allowed:.3g}; {ours}"


def _better_metric(f: OnMetric) -> str:
    if math.isinf(f.better_by):
        return "the objective of the metric is infinite, and that of another feasible metric is finite"
    return f"a feasible metric is better by {f.better_by:.6g}; allowed is {f.allowed:.3g}"


def _rounded(found: Feasibility) -> str:
    """Return a hint for the user if the matrix is nearly a metric: the program may have printed too few digits.

    found: how far the matrix is from a metric.
    """
    near = found.beyond_limits <= FEW_DIGITS
    return "; if the numbers are rounded, give all their digits" if near else ""


METRIC: tuple[Rule[OnMetric], ...] = (
    Rule(
        "not a metric",
        lambda f: not f.proof.feasibility.feasible,
        REFUTED,
        lambda f: f"not a metric of this method: {f.proof.feasibility}{_rounded(f.proof.feasibility)}",
    ),
    Rule("undecided", lambda f: f.undecided, INCONCLUSIVE, lambda f: f.undecided),
    Rule(
        "no lower bound",
        lambda f: f.has_no_bound,
        INCONCLUSIVE,
        lambda _: "our search found no lower bound, so no metric can be judged",
    ),
    Rule(
        "overflow",
        lambda f: f.overflows,
        INCONCLUSIVE,
        lambda _: "the objective or the bound overflows in double precision: rescale the data",
    ),
    Rule(
        "zero",
        lambda f: f.zero_is_optimal and f.proof.feasibility.norm == 0,
        CERTIFIED,
        lambda _: "optimal: the optimum is exactly the zero matrix, and the metric is the zero matrix",
    ),
    Rule(
        "nearly zero",
        lambda f: f.zero_is_optimal and f.proof.gap <= f.proof.rounding,
        INCONCLUSIVE,
        lambda f: (
            f"{_nonzero(f)}, too small to be distinguished from 0 by its objective; give the zero matrix"
        ),
    ),
    Rule(
        "not zero",
        lambda f: f.zero_is_optimal and not f.ties,
        REFUTED,
        lambda f: f"{_nonzero(f)}, and its objective is above the optimum by {f.proof.gap:.3g}",
    ),
    Rule("rounding", lambda f: f.proof.gap <= f.allowed and not f.decides, INCONCLUSIVE, _rounding),
    Rule(
        "below the bound",
        lambda f: f.proof.gap < -f.allowed,
        INCONCLUSIVE,
        lambda f: (
            f"the objective is {-f.proof.gap:.3g} below our lower bound, by more than rounding: "
            "one of the two is wrong"
        ),
    ),
    Rule(
        "optimal",
        lambda f: f.proof.gap <= f.allowed,
        CERTIFIED,
        lambda f: (
            f"optimal: the metric is feasible, and its gap is {f.proof.gap:.3g} (rounding error at most "
            f"{f.proof.rounding:.3g}); allowed is {f.allowed:.3g}"
        ),
    ),
    Rule(
        "bound not tight",
        lambda f: f.better_by <= f.allowed + f.reference.certificate.rounding,
        INCONCLUSIVE,
        _not_tight,
    ),
    Rule(
        "tie",
        lambda f: f.ties,
        INCONCLUSIVE,
        lambda f: (
            f"our metric is better by {f.better_by:.3g}, but in {f.ties} neighbourhoods points tie for "
            f"the last place: give the lists of your program as {f.lists}"
        ),
    ),
    Rule(
        "better metric",
        lambda _: True,
        REFUTED,
        _better_metric,
    ),
)


def judge_metric(facts: OnMetric) -> Ruling:
    """Return the ruling of the first rule of `METRIC` that applies. The last rule always applies."""
    ruling = decide(METRIC, facts)
    assert ruling is not None
    return ruling


class Ruled(NamedTuple):
    """A ruling on a metric, with the facts that may change it.

    asked: the arguments of `check`. facts: the certificate of the metric and our own solution. exact: the interval in
    exact arithmetic, if it was computed.

    better_by: the exact objective of the metric minus that of our solution, if this refuted the metric in exact
    arithmetic; otherwise 0.
    """

    asked: Asked
    facts: OnMetric
    ruling: Ruling
    exact: Exact | None = None  # the interval that decided, in exact mode
    # the exact objective of the candidate minus that of our solution, if exact mode refuted the candidate by it; else 0
    better_by: Fraction = Fraction(0)

    @property
    def certified(self) -> bool:
        return self.ruling.verdict is CERTIFIED

    @property
    def above(self) -> float:
        """How far the computed objective of the candidate may lie above its exact objective, apart from rounding.

        Usually 0. For SCML it may be positive: the objective is computed with some weights that give the metric, and
        other weights with a smaller sum may give the same metric. If the matrix is not a metric, it is 0.
        """
        asked, facts = self.asked, self.facts
        if asked.candidate is None or not facts.proof.feasibility.feasible:
            return 0.0
        return asked.module.above(asked.given, asked.candidate)

    @property
    def is_within_error(self) -> bool:
        """True if the error `above` of the candidate's objective may explain why our metric seems to be better."""
        above, facts = self.above, self.facts
        return above > 0 and facts.better_by - above <= facts.allowed + facts.reference.certificate.rounding

    @property
    def most(self) -> float:
        """A proved upper bound of the candidate's gap."""
        proof = self.facts.proof
        return proof.gap + proof.rounding if self.exact is None else upward(self.exact.gap)

    @property
    def never(self) -> str:
        """Why no metric attains the infimum, as a sentence; empty if this is not proved."""
        return self.asked.module.unattained(self.asked.given)

    @property
    def is_unsolved(self) -> bool:
        """True if our own solution is not certified optimal. Then its scale may be wrong.

        If exact arithmetic has judged the metric, only a solution that the time limit ended counts, because
        judge_exactly takes the scale of an unproved solution into account.
        """
        status = self.facts.reference.status
        return status is Status.TIME_LIMIT or (status is not Status.CONVERGED and self.exact is None)


REVISIONS: tuple[Rule[Ruled], ...] = (
    Rule(
        "error of the objective",
        lambda r: r.ruling.verdict is REFUTED and r.is_within_error,
        INCONCLUSIVE,
        lambda r: (
            f"our metric is better by {r.facts.better_by:.3g}, but the true objective of the candidate may "
            f"be smaller than the computed one by {r.above:.3g}"
        ),
    ),
    Rule(
        "not attained",
        lambda r: r.certified and r.never,
        INCONCLUSIVE,
        lambda r: f"{r.never}; the objective is at most {r.most:.3g} above the infimum",
    ),
    Rule(
        "scale of ours",
        lambda r: r.certified and r.is_unsolved and not r.facts.proof.proves(r.facts.tol),
        INCONCLUSIVE,
        lambda _: "the scale is that of our own solution, which is not certified optimal",
    ),
)


def _close(r: Ruled) -> tuple[str, ...]:
    share = f"at most {100 * r.facts.share:.2g} % of the scale above the optimum"
    why = "either the run stopped early, or it solves a slightly different problem"
    if r.asked.module.MAX_ITER == 1:  # a closed form has no run that could stop early
        why = _of_closed_form(r.facts.share)
    unsought = "" if r.asked.diagnosed else "; misreadings were not tried"
    return (*r.ruling.reasons, f"{share}: {why}{unsought}")


def _of_closed_form(share: float) -> str:
    """Return the likely cause of the relative gap `share`, as a clause, for a method with a closed form."""
    if share <= LOST_DIGITS:
        return "either digits were lost, or it solves a slightly different problem"
    return (
        "your program has another formula, other data or other parameters; double precision rarely loses so many "
        "digits. If you wrote the matrix with few digits, give all of them"
    )


# applies to a metric that no misreading explains
CLOSE_METRIC: Rule[Ruled] = Rule(
    "close", lambda r: r.ruling.verdict is REFUTED and r.facts.is_close, Verdict.CLOSE, _close
)


class OnValue(NamedTuple):
    """The facts about a claimed objective: that of a metric, or a claimed optimal value without a metric.

    value: the claimed objective. tol: the tolerance, relative to `scale`, the scale of the problem. proof: the
    certificate of the metric; None without a metric. reference: our own solution.

    ties: the number of neighbourhoods with a tie for the last place. lists: the name of the parameter for lists of
    neighbours, with which the user can settle the ties.
    """

    value: float
    tol: float
    proof: Certificate | None  # of the metric; None for a claimed optimum
    reference: Solution
    scale: float
    ties: int = 0
    lists: str = "neighbors"

    @property
    def rounding(self) -> float:
        """The rounding error of the objectives and bounds that the value is compared with."""
        proofs = [self.reference.certificate, *([] if self.proof is None else [self.proof])]
        return max(
            64 * EPS * abs(self.reference.objective), *(max(p.rounding, p.value_rounding) for p in proofs)
        )

    @property
    def allowed(self) -> float:
        """The largest error of a claimed objective that counts as right."""
        return self.tol * self.scale + self.rounding

    @property
    def is_of_another(self) -> bool:
        """True if the value differs from the objective of the given metric by more than the tolerance.

        The tolerance is relative to the scale of the problem. If our solution is not certified, the smaller one of this
        scale and the scale at the metric is used. Without a metric the result is False.
        """
        if self.proof is None:
            return False
        ours_is_certain = self.reference.certificate.proves(self.tol)
        scale = self.scale if ours_is_certain else min(self.scale, self.proof.scale)
        return abs(self.value - self.proof.objective) > self.tol * scale + self.rounding

    @property
    def is_proved(self) -> bool:
        """True if our solution is certified, and the value is the optimum up to `allowed`."""
        ours, allowed = self.reference, self.allowed
        near = ours.objective - allowed <= self.value <= ours.lower_bound + allowed
        return near and ours.certificate.proves(self.tol)

    @property
    def interval(self) -> str:
        """The interval that contains the optimum, as text."""
        ours = self.reference
        return f"[{ours.lower_bound - self.rounding:.12g}, {ours.objective + self.rounding:.12g}]"

    @property
    def fault(self) -> str:
        """Why the value is wrong; empty if it may be right."""
        found = decide(WRONG_VALUES, self)
        return "" if found is None else found.reasons[0]


def _not_the_metrics(v: OnValue) -> str:
    assert v.proof is not None
    return f"the claimed objective {v.value:.12g} is not the metric's, {v.proof.objective:.12g}"


WRONG_VALUES: tuple[Rule[OnValue], ...] = (
    Rule(
        "value below the bound",
        lambda v: v.value < v.reference.lower_bound - v.allowed,
        REFUTED,
        lambda v: (
            f"the claimed objective {v.value:.12g} is below the certified lower bound "
            f"{v.reference.lower_bound:.12g}"
        ),
    ),
    Rule("value of another metric", lambda v: v.is_of_another, REFUTED, _not_the_metrics),
    Rule(
        "value above the optimum",
        lambda v: v.proof is None and v.value > v.reference.objective + v.allowed,
        REFUTED,
        lambda v: (
            f"the claimed optimum {v.value:.12g} is above the objective {v.reference.objective:.12g} of a "
            "feasible metric"
        ),
    ),
)
# if no rule applies, the value is that of the metric, and the ruling on the metric stands
VALUE: tuple[Rule[OnValue], ...] = (
    Rule(
        "value with a tie",
        lambda v: v.ties and v.fault,
        INCONCLUSIVE,
        lambda v: f"{v.fault}, but in {v.ties} neighbourhoods points tie for the last place: give {v.lists}",
    ),
    *WRONG_VALUES,
    Rule(
        "value not proved",
        lambda v: v.proof is None and not v.is_proved,
        INCONCLUSIVE,
        lambda v: f"our search proves only that the optimum lies in {v.interval}",
    ),
    Rule(
        "value of the optimum",
        lambda v: v.proof is None,
        CERTIFIED,
        lambda v: f"the optimum lies in {v.interval}",
    ),
)
