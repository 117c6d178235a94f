"""What the package says of a convex problem and of candidates for it, and what of it is wrong."""

from __future__ import annotations

import contextlib
import io
import math
import tempfile
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from flint import arb

import cvxml
from cvxml.core.tolerance import TOLERANCES
from cvxml.methods import get_exact
from cvxml.methods.boostmetric import threshold
from validation import recompute
from validation.adversarial.attained import Attained
from validation.adversarial.candidates import candidates, changed
from validation.adversarial.exact import ball_of, orthogonal, rank, real, symmetric
from validation.adversarial.files import edited_file
from validation.adversarial.instances import Instance
from validation.adversarial.problems import CONVEX, BoostMetric, Budget
from validation.adversarial.references import beside_a_bad_reference
from validation.adversarial.truth import Image, Problem

SHARE = 1 + 1e-9  # of a tolerance: what comparing at exactly the limit may differ by
OTHERS = ("mlsvm", "mcml", "mmc", "itml")  # whose answers are candidates for other methods
DUALS = 3  # of every instance, repaired
EXACT = 3  # of its candidates, and about as many as that, judged in exact arithmetic too
UNCOMPUTED = (
    "double precision",
    "rescale",
    "overflow",
    "too large",
    "too small",
    "cannot be computed",
    "divide it",
)


def ulps(x: float) -> float:
    """Four of a number."""
    return 4 * float(np.spacing(abs(x))) if math.isfinite(x) else 0.0


def stated(proof: Any) -> float:
    """What objective and lower bound may each be off by, as a certificate says."""
    return max(0.0, float(proof.rounding), float(getattr(proof, "value_rounding", 0.0)))


def more(a: Any, limit: Any) -> bool:
    """True if a > limit for certain; a nan or an interval that reaches below is not."""
    return bool(a > limit)


def text(x: Any) -> str:
    """A few digits."""
    return x.str(8, radius=False) if isinstance(x, arb) else f"{x:.8g}"


Said = tuple[str, str, str, list[str]]


class Attack:
    """On a convex problem."""

    claims = True  # a value alone is judged too
    exact = True  # the interval of exact arithmetic is judged too
    files = True  # saved files that were edited are judged too

    def __init__(self, given: Instance, rng: Any):
        self.given, self.rng = given, rng
        self.asked = (given.id, given.X, given.y)
        self.problem = self.of()

    def of(self) -> Any:
        """The truth."""
        return CONVEX[self.given.id](self.given.X, self.given.y, **self.given.params)

    def outcomes(self, count: int) -> Iterator[Said]:
        """Each with its verdict and what is wrong."""
        try:
            solved = [cvxml.solve(*self.asked, tol=tol / 10, **self.given.params) for tol in (1e-6, 1e-9)]
        except ValueError as error:
            yield "solve", "", "refused", self.refused(str(error))
            return
        except Exception as error:  # whatever it is, it is wrong
            yield "solve", "", "raised", [f"raised: {type(error).__name__}: {error!s:.200}"]
            return
        own = solved[-1].metric
        self.look(solved)
        yield from (self.solution(each) for each in solved)
        if self.rng.random() < 0.3:
            yield self.recomputed(solved[0])
        others = self.others(own)
        known = [] if self.given.optimum is None else [("optimum", self.given.optimum)]
        listed = known + candidates(own, others, self.special(), self.rng, count)
        listed = [(what, self.fit(A)) for what, A in listed]
        for _, A in listed:
            self.add(A)
        for what, A in listed:
            tol = str(self.rng.choice(list(TOLERANCES)))
            if np.isfinite(A).all():
                yield self.candidate(what, A, tol, what == "optimum")
        for what, A in listed[:: len(listed) // EXACT + 1]:
            if self.exact and np.isfinite(A).all():
                yield self.exactly(what, A, solved[-1].dual)
                yield from self.beside(what, A, solved[-1], what == "optimum")
        if self.files:
            yield self.edited(solved[0])
        if self.claims:
            yield self.claimed(solved[0])
        for _ in range(DUALS):
            what, A = listed[int(self.rng.integers(len(listed)))]
            yield self.dual(what, A, changed(solved[-1].dual, self.rng))

    def others(self, own: Any) -> list[Any]:
        """Answers to other problems."""
        found = []
        name = str(self.rng.choice(OTHERS))
        if len(own) == self.given.X.shape[1] and name != self.given.id:
            with contextlib.suppress(Exception):
                found.append(cvxml.solve(name, self.given.X, self.given.y, tol=1e-4).metric)
        return found

    def special(self) -> list[Any]:
        """Directions of integers."""
        if len(self.problem.points.values[0]) != self.given.X.shape[1]:
            return []
        E = [self.problem.difference(*pair) for pair in self.problem.every]
        return [*self.given.directions, *orthogonal(E)[:1], *np.eye(self.given.X.shape[1], dtype=int)[:2]]

    def fit(self, A: Any) -> Any:
        """A candidate as the method has it."""
        if self.problem.diagonal:
            return np.diag(np.diag(A)) if self.rng.random() < 0.9 else A
        M = symmetric(A) if np.isfinite(A).all() else None
        if M is None or self.rng.random() > 0.9 or (kept := self.problem.kept(M)) is M:
            return A
        return np.array([[float(Fraction(int(x)) / 2**kept.power) for x in row] for row in kept.values])

    def look(self, solved: list[Any]) -> None:
        """For metrics of low objective."""
        metrics = [each.metric for each in solved]
        metrics += [] if self.given.optimum is None else [self.given.optimum]
        self.attained = Attained(self.problem, metrics, self.given.directions)

    def add(self, A: Any) -> None:
        """One more metric that attains what it attains."""
        if np.isfinite(A).all() and self.feasible(A):
            self.attained.add(A)

    def solution(self, solved: Any) -> Said:
        """The answer of `solve`: its bound and its objective."""
        proof = solved.certificate
        wrong = self.certificate(proof, self.problem.image(solved.metric))
        return "solve", "", str(solved.status), wrong

    def certificate(self, proof: Any, at: Image) -> list[str]:
        """What is wrong with the figures of one."""
        wrong = []
        best = self.attained.best
        if not proof.rounding >= 0:
            wrong.append(f"raised: rounding is {proof.rounding}")
        if math.isnan(proof.lower_bound) or math.isnan(proof.objective) or math.isnan(proof.gap):
            wrong.append(f"raised: nan in {proof.objective}, {proof.lower_bound}, {proof.gap}")
            return wrong
        low = real(proof.lower_bound)
        slack = real(stated(proof)) + real(ulps(proof.lower_bound))
        if more(low - slack, best):
            wrong.append(
                f"bound: {proof.lower_bound!r} - {proof.rounding:.3g} > {text(best)}, which is attained"
            )
        return wrong + self.objective(proof.objective, stated(proof), at)

    def objective(self, said: float, rounding: float, at: Image) -> list[str]:
        """Is it that of the metric?"""
        value = self.problem.value(at)
        if value.is_nan() or not math.isfinite(said) or not value.is_finite():
            return []
        error = abs(real(said) - value)
        if more(error, real(rounding) + real(ulps(said))):
            return [f"objective: {said!r} is off by {text(error)}, rounding {rounding:.3g}"]
        return []

    def candidate(self, what: str, A: Any, tol: str, optimal: bool = False) -> Said:
        """The verdict of `check`."""
        try:
            report = cvxml.check(*self.asked, A, tol=tol, diagnosed=False, **self.given.params)
        except ValueError as error:
            return what, tol, "refused", self.refused(str(error))
        except Exception as error:  # whatever it is, it is wrong
            return what, tol, "raised", [f"raised: {type(error).__name__}: {error!s:.200}"]
        return what, tol, str(report.verdict), self.report(report, A, optimal)

    def report(self, report: Any, A: Any, optimal: bool) -> list[str]:
        """What is wrong with it."""
        at, tol = self.problem.image(A), real(report.tol) * real(SHARE)
        reference = cvxml.solve(*self.asked, tol=report.tol / 10, **self.given.params)
        wrong: list[str] = []
        if report.verdict != "inconclusive" and any(
            math.isnan(x) for x in (report.objective, report.lower_bound, report.gap, report.scale)
        ):
            wrong.append("raised: a verdict on nan")
        if not self.excluded(A):
            proof = cvxml.certify(*self.asked, A, reference.dual, **self.given.params)
            wrong += self.objective(report.objective, stated(proof), at)
        scale = self.problem.scale(self.problem.image(reference.metric))
        if report.verdict == "certified":
            if self.excluded(A):
                wrong.append("certified: what is no metric")
            wrong += self.proved(tol, report.rounding, scale, at)
        if report.verdict in ("refuted", "close") and self.feasible(A):
            if optimal:
                wrong.append("refuted: the optimum")
            elif report.witness is None:
                wrong.append(f"refuted: a metric, without a witness: {report.reasons}")
            else:
                found = self.problem.image(report.witness.metric)
                better = self.problem.value(at) - self.problem.value(found)
                if more(tol * scale * real(1 - 1e-6) - real(ulps(report.objective)), better):
                    wrong.append(
                        f"refuted: the witness is better by {text(better)}, tol * scale {text(tol * scale)}"
                    )
        return wrong

    def proved(self, tol: Any, rounding: float, scale: Any, at: Image) -> list[str]:
        """Empty unless a metric is better by more than is allowed."""
        value = self.problem.value(at)
        gap = value - self.attained.best
        most = tol.max((100 * tol).min(real(1e-3))) * scale
        allowed = tol * scale + real(max(rounding, 0.0)).min(most)
        least = real(ulps(float(value.mid()))) if scale > 0 else real(5e-324)
        if more(gap, allowed.max(least)):
            where = "certified" if scale > 0 else "certified at scale 0"
            return [
                f"{where}: worse by {text(gap)} than another metric, of {text(value)}; tol * scale is "
                f"{text(tol * scale)}, rounding {rounding:.3g}"
            ]
        return []

    def claimed(self, solved: Any) -> Said:
        """A value alone: wrong if it is called the optimum, and less is attained."""
        best = solved.objective
        value = float(best + abs(best) * self.rng.choice([0, 1e-9, 1e-5, 1e-2]))
        if not math.isfinite(value):
            return "claim", "", "inconclusive", []
        tol = str(self.rng.choice(list(TOLERANCES)))
        try:
            report = cvxml.check(
                *self.asked, claimed_objective=value, tol=tol, diagnosed=False, **self.given.params
            )
        except ValueError as error:
            return "claim", tol, "refused", self.refused(str(error))
        reference = cvxml.solve(*self.asked, tol=report.tol / 10, **self.given.params)
        scale = self.problem.scale(self.problem.image(reference.metric))
        rounding = stated(reference.certificate) + 64 * 2.0**-52 * (1 + abs(best))
        over = real(value) - self.attained.best
        wrong = report.verdict == "certified" and more(
            over, real(report.tol * SHARE) * scale + real(rounding)
        )
        return (
            "claim",
            tol,
            str(report.verdict),
            [f"certified: {value!r}, {text(over)} too high"] if wrong else [],
        )

    def dual(self, what: str, A: Any, dual: Any) -> Said:
        """The certificate from any dual variables."""
        try:
            proof = cvxml.certify(*self.asked, A, dual, **self.given.params)
        except ValueError as error:
            return f"dual of {what}", "", "refused", self.refused(str(error))
        except Exception as error:  # whatever it is, it is wrong
            return f"dual of {what}", "", "raised", [f"raised: {type(error).__name__}: {error!s:.200}"]
        wrong, said = self.figures(proof, A), "inconclusive"
        for name, tol in TOLERANCES.items():
            if proof.proves(tol):
                said = "certified"
                if self.excluded(A):
                    wrong.append(f"certified: what is no metric ({name})")
                wrong += self.beyond(A, tol, proof.rounding)
        return f"dual of {what}", "", said, wrong

    def exactly(self, what: str, A: Any, dual: Any) -> Said:
        """The interval in exact arithmetic: nothing is allowed for rounding."""
        said, module = f"exact of {what}", get_exact(self.given.id)
        given = module.instance(self.given.X, self.given.y, **self.given.params)
        try:
            found = module.exact(given, A, dual)
        except ValueError as error:
            return said, "", "refused", [] if "singular" in str(error) else self.refused(str(error))
        except Exception as error:  # whatever it is, it is wrong
            return said, "", "raised", [f"raised: {type(error).__name__}: {error!s:.200}"]
        low, high = (ball_of(end) for end in (found.lower_bound, found.objective))
        wrong = []
        if more(low, self.attained.best):
            wrong.append(
                f"exact: the bound {text(low)} is above {text(self.attained.best)}, which is attained"
            )
        at = self.problem.image(A)
        value = self.problem.value(at)
        itself = found.distance == 0 and at.size == 0 and (A == A.T).all() and value.is_finite()
        # the upper end of balls of fewer bits: above, and next to it
        if itself and (
            more(value, high) or more(high - value, (abs(value) + 1) * arb(2) ** -self.problem.bits)
        ):
            wrong.append(f"exact: the objective {text(high)} is not {text(value)}")
        return said, "", "inconclusive", wrong

    def beside(self, what: str, A: Any, best: Any, optimal: bool) -> Iterator[Said]:
        """The verdict of exact mode beside a reference that did not converge."""
        said = f"exact, bad reference, of {what}"
        try:
            verdict, wrong = beside_a_bad_reference(self, A, best, optimal)
        except ValueError as error:
            verdict, wrong = "refused", [] if "singular" in str(error) else self.refused(str(error))
        except Exception as error:  # whatever it is, it is wrong
            verdict, wrong = "raised", [f"raised: {type(error).__name__}: {error!s:.200}"]
        yield said, "", verdict, wrong

    def edited(self, solved: Any) -> Said:
        """A saved file with another entry."""
        what, verdict, wrong = edited_file(self, solved)
        return what, "normal", verdict, wrong

    def figures(self, proof: Any, A: Any) -> list[str]:
        """What is wrong with the figures of a certificate of a matrix."""
        return [] if self.excluded(A) else self.certificate(proof, self.problem.image(A))

    def beyond(self, A: Any, tol: float, rounding: float) -> list[str]:
        """Empty unless a metric is better than A by more than is allowed, of A's own scale."""
        at = self.problem.image(A)
        return self.proved(real(tol) * real(SHARE), rounding, self.problem.scale(at), at)

    def feasible(self, A: Any) -> bool:
        """A metric of the problem, exactly."""
        problem, at = self.problem, self.problem.image(A)
        within = not isinstance(problem, Budget) or problem.spent(at) <= 1
        only = not problem.diagonal or not np.any(A - np.diag(np.diag(A)))
        return bool(at.size == 0 and (A == A.T).all() and within and only)

    def excluded(self, A: Any) -> bool:
        """No metric, even if 1e-6 of its norm, or of the budget, is passed over."""
        problem, tolerance, size = self.problem, 1.01e-6, float(np.abs(A).max())
        if isinstance(problem, Budget) and problem.spent(problem.image(A)) > 1 + real(tolerance):
            return True
        A = A / (2.0 ** np.floor(np.log2(size)) if size > 0 else 1.0)
        return self.no_metric(A) or (isinstance(problem, Budget) and self.no_metric(self.in_units(A)))

    def in_units(self, A: Any) -> Any:
        """A budget is that of the similar pairs, and each feature has the unit, a power of two, of their spread."""
        E = np.array([self.problem.difference(*pair) for pair in self.problem.same])
        widest = [max(abs(int(x)) for x in column) for column in E.T]
        power = self.problem.points.power
        exponents = np.array([round(math.log2(w) - power) if w else -9999 for w in widest])
        unit = 2.0 ** (exponents - exponents.max())
        own = A * unit[:, None] * unit
        return own / (np.abs(own).max() or 1.0)

    def no_metric(self, A: Any) -> bool:
        """Asymmetric, with a negative eigenvalue or not diagonal, by 1.01e-6 of the norm."""
        problem, tolerance = self.problem, 1.01e-6
        allowed = tolerance * np.linalg.norm(A)
        error = np.abs(A - np.diag(np.diag(A))).max() if problem.diagonal else 0.0
        least = np.linalg.eigvalsh((A + A.T) / 2)[0] if len(A) == problem.d else 0.0
        return bool(max(np.abs(A - A.T).max(), error, -least) > allowed)

    def refused(self, said: str) -> list[str]:
        """Is what a ValueError says of the data so?"""
        if any(words in said for words in UNCOMPUTED):
            return []
        problem: Problem = self.problem
        if problem.denied(said):
            return []
        if "infinite" in said or "cost" in said:
            return [] if isinstance(problem, Budget) and unbounded(problem) else [f"refused: {said:.200}"]
        if isinstance(problem, BoostMetric) and "below v*" in said:
            direction = threshold(self.given.X, self.given.y, triplets=problem.params["triplets"]).metric
            return [] if problem.keeps_all(problem.image(direction)) else [f"refused: {said:.200}"]
        if "equal" in said or "distance 0" in said or "same point" in said:
            equal = any(not problem.difference(*pair).any() for pair in problem.other)
            return [] if equal else [f"refused: {said:.200}"]
        return [f"refused: {said:.200}"]

    def recomputed(self, solved: Any) -> Said:
        """What the stranger's script says of a saved file."""
        if not math.isfinite(solved.objective):
            return "recompute", "normal", "inconclusive", []
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / "saved.json")
            solved.save(path)
            try:
                with contextlib.redirect_stdout(io.StringIO()) as printed:
                    proved = recompute.main(path)
            except Exception as error:  # whatever it is, it is wrong
                return (
                    "recompute",
                    "",
                    "raised",
                    [f"raised: recompute: {type(error).__name__}: {error!s:.200}"],
                )
        missed = self.beyond(solved.metric, 1e-6, 1e-12) if proved else []
        said = "certified" if proved else "inconclusive"
        return "recompute", "normal", said, [f"recompute: {line}; {printed.getvalue()!r}" for line in missed]


def unbounded(problem: Budget) -> bool:
    """True if a dissimilar pair differs in a direction (diagonal: in a feature) in which no similar one does."""
    same = np.array([problem.difference(*pair) for pair in problem.same], dtype=object).reshape(-1, problem.d)
    other = np.array([problem.difference(*pair) for pair in problem.other], dtype=object)
    if problem.diagonal:
        return bool((other.astype(bool).any(axis=0) & ~same.astype(bool).any(axis=0)).any())
    return rank(np.concatenate([same, other])) > rank(same)
