"""What the package says of an instance and its candidates, and what of it is wrong."""

from __future__ import annotations

import contextlib
import io
import math
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from flint import arb

import cvxml
from cvxml.methods import get
from cvxml.result import TOLERANCES
from validation import recompute
from validation.adversarial.attained import Attained, along, bits
from validation.adversarial.candidates import candidates, changed
from validation.adversarial.exact import Whole, identity, orthogonal, outer, precision, rank, real, whole
from validation.adversarial.instances import METHODS, Instance, instance
from validation.adversarial.local import Local
from validation.adversarial.stationary import NCA, SSVM
from validation.adversarial.truth import CONVEX, Budget, Image, Problem

SHARE = 1 + 1e-9  # of a tolerance: what comparing at exactly the limit may differ by
OTHERS = ("mlsvm", "mcml", "mmc", "itml")  # whose answers are candidates for other methods
DUALS = 3  # of every instance, repaired
CANDIDATES = 13
STEPS = {
    "mlsvm": 2000,
    "kernel_mlsvm": 2000,
    "itml": 100,
}  # most iterations of our own solver: seconds, not minutes
UNCOMPUTED = (
    "double precision",
    "rescale",
    "overflow",
    "too large",
    "too small",
    "cannot be computed",
    "divide it",
)


class Outcome(NamedTuple):
    """One candidate: what it was, what was said, and what is wrong with that."""

    method: str
    family: str
    seed: int
    what: str
    tol: str
    verdict: str
    wrong: list[str]


def attacked(method: str, seed: int, count: int = CANDIDATES) -> list[Outcome]:
    """All candidates of the seed-th instance of a method."""
    given, rng = instance(method, seed), np.random.default_rng([seed, METHODS.index(method), 1])
    attack = {"glml": LocalAttack, "ssvm": StepAttack, "nca": StepAttack}.get(given.id, Attack)
    with warnings.catch_warnings(), np.errstate(all="ignore"), precision(), remembered(given.id):
        warnings.simplefilter("ignore")
        found = list(attack(given, rng).outcomes(count))
    return [Outcome(method, given.family, seed, *rest) for rest in found]


@contextlib.contextmanager
def remembered(name: str) -> Iterator[None]:
    """`check` solves anew for every candidate: the same answer is taken again."""
    module: Any = get(name)
    own, before, kept = vars(module).get("solve"), module.solve, {}
    steps = {"max_iter": STEPS[name]} if name in STEPS else {}

    def solve(X: Any, y: Any, *, tol: float = 1e-6, **rest: Any) -> Any:
        if "init" in rest:
            return before(X, y, tol=tol, **rest)
        if tol not in kept:
            kept[tol] = before(X, y, tol=tol, **steps, **rest)
        return kept[tol]

    module.solve = solve
    try:
        yield
    finally:
        if own is None:
            del module.solve
        else:
            module.solve = own


def ulps(x: float) -> float:
    """Four of a number."""
    return 4 * float(np.spacing(abs(x))) if math.isfinite(x) else 0.0


def more(a: Any, limit: Any) -> bool:
    """True if a > limit for certain; a nan or an interval that reaches below is not."""
    return bool(a > limit)


def text(x: Any) -> str:
    """A few digits."""
    return x.str(8, radius=False) if isinstance(x, arb) else f"{x:.8g}"


Said = tuple[str, str, str, list[str]]


class Attack:
    """On a convex problem."""

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
        return np.diag(np.diag(A)) if self.problem.diagonal and self.rng.random() < 0.9 else A

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
        low = real(proof.lower_bound) if math.isfinite(proof.lower_bound) else arb.neg_inf()
        slack = real(max(proof.rounding, 0.0)) + real(ulps(proof.lower_bound))
        if more(low - slack, best):
            wrong.append(
                f"bound: {proof.lower_bound!r} - {proof.rounding:.3g} > {text(best)}, which is attained"
            )
        return wrong + self.objective(proof.objective, proof.rounding, at)

    def objective(self, said: float, rounding: float, at: Image) -> list[str]:
        """Is it that of the metric?"""
        value = self.problem.value(at)
        if value.is_nan() or not math.isfinite(said) or not value.is_finite():
            return []
        off = abs(real(said) - value)
        if more(off, real(rounding) + real(ulps(said))):
            return [f"objective: {said!r} is off by {text(off)}, rounding {rounding:.3g}"]
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
            wrong += self.objective(report.objective, report.rounding, at)
        scale = self.problem.scale(self.problem.image(reference.metric))
        if report.verdict == "certified":
            if self.excluded(A):
                wrong.append("certified: what is no metric")
            wrong += self.proved(tol, report.rounding, scale, at)
        if report.verdict == "refuted" and self.feasible(A):
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

    def dual(self, what: str, A: Any, dual: Any) -> Said:
        """The certificate from any dual variables."""
        try:
            proof = cvxml.certify(*self.asked, A, dual, **self.given.params)
        except ValueError as error:
            return f"dual of {what}", "", "refused", self.refused(str(error))
        except Exception as error:  # whatever it is, it is wrong
            return f"dual of {what}", "", "raised", [f"raised: {type(error).__name__}: {error!s:.200}"]
        at, wrong, said = self.problem.image(A), [], "inconclusive"
        wrong += self.certificate(proof, at) if not self.excluded(A) else []
        for name, tol in TOLERANCES.items():
            if proof.proves(tol):
                said = "certified"
                if self.excluded(A):
                    wrong.append(f"certified: what is no metric ({name})")
                wrong += self.proved(real(tol) * real(SHARE), proof.rounding, self.problem.scale(at), at)
        return f"dual of {what}", "", said, wrong

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
        allowed = tolerance * np.linalg.norm(A)
        off = np.abs(A - np.diag(np.diag(A))).max() if problem.diagonal else 0.0
        least = np.linalg.eigvalsh((A + A.T) / 2)[0] if len(A) == problem.d else 0.0
        return bool(max(np.abs(A - A.T).max(), off, -least) > allowed)

    def refused(self, said: str) -> list[str]:
        """Is what a ValueError says of the data so?"""
        if any(words in said for words in UNCOMPUTED):
            return []
        problem: Problem = self.problem
        if "infinite" in said or "cost" in said:
            return [] if isinstance(problem, Budget) and unbounded(problem) else [f"refused: {said:.200}"]
        if "equal" in said or "distance 0" in said or "same point" in said:
            equal = any(not problem.difference(*pair).any() for pair in problem.other)
            return [] if equal else [f"refused: {said:.200}"]
        return [f"refused: {said:.200}"]

    def recomputed(self, solved: Any) -> Said:
        """What the stranger's script says of a saved file."""
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
        if not proved:
            return "recompute", "", "inconclusive", []
        at = self.problem.image(solved.metric)
        missed = self.proved(real(1e-6) * real(SHARE), 1e-12, self.problem.scale(at), at)
        return (
            "recompute",
            "normal",
            "certified",
            [f"recompute: {line}; {printed.getvalue()!r}" for line in missed],
        )


def unbounded(problem: Budget) -> bool:
    """True if a dissimilar pair differs in a direction (diagonal: in a feature) in which no similar one does."""
    same = np.array([problem.difference(*pair) for pair in problem.same], dtype=object).reshape(-1, problem.d)
    other = np.array([problem.difference(*pair) for pair in problem.other], dtype=object)
    if problem.diagonal:
        return bool((other.astype(bool).any(axis=0) & ~same.astype(bool).any(axis=0)).any())
    return rank(np.concatenate([same, other])) > rank(same)


class LocalAttack(Attack):
    """On GLML, whose optimum is known exactly."""

    def of(self) -> Any:
        return Local(self.given.X, self.given.y, self.given.params["query"], self.given.params["alpha"])

    def look(self, solved: list[Any]) -> None:
        pass

    def add(self, A: Any) -> None:
        pass

    def special(self) -> list[Any]:
        return self.given.directions

    def fit(self, A: Any) -> Any:
        det = np.linalg.det(A)
        return A / det ** (1 / len(A)) if np.isfinite(det) and det > 0 else A

    def solution(self, solved: Any) -> Said:
        value, _ = self.problem.value(solved.metric)
        return "solve", "", str(solved.status), self.figures(solved.certificate, value)

    def figures(self, said: Any, value: Any) -> list[str]:
        """Of a certificate or a report."""
        wrong = []
        if more(
            real(said.lower_bound) - real(said.rounding) - real(ulps(said.lower_bound)), self.problem.best
        ):
            wrong.append(
                f"bound: {said.lower_bound!r} - {said.rounding:.3g} > {text(self.problem.best)}, the optimum"
            )
        if not value.is_nan() and value.is_finite() and math.isfinite(said.objective):
            off = abs(real(said.objective) - value)
            if more(off, real(said.rounding) + real(ulps(said.objective))):
                wrong.append(
                    f"objective: {said.objective!r} is off by {text(off)}, rounding {said.rounding:.3g}"
                )
        return wrong

    def report(self, report: Any, A: Any, optimal: bool) -> list[str]:
        value, scale = self.problem.value(A)
        wrong = (
            self.figures(report, value) if report.verdict == "certified" or report.witness is not None else []
        )
        if report.verdict == "certified":
            wrong += self.local(real(report.tol) * real(SHARE), report.rounding, value, scale)
        if report.verdict == "refuted" and report.witness is not None:
            better = value - self.problem.value(report.witness.metric)[0]
            if more(real(report.tol * (1 - 1e-6)) * scale, better):
                wrong.append(f"refuted: the witness is better by {text(better)}, scale {text(scale)}")
        return wrong

    def local(self, tol: Any, rounding: float, value: Any, scale: Any) -> list[str]:
        """As `proved`."""
        gap = value - self.problem.best
        most = tol.max((100 * tol).min(real(1e-3))) * scale
        if more(gap, tol * scale + real(max(rounding, 0.0)).min(most)):
            return [
                f"certified: {text(value)}, the optimum is {text(self.problem.best)}, tol * scale "
                f"{text(tol * scale)}, rounding {rounding:.3g}"
            ]
        return []

    def dual(self, what: str, A: Any, dual: Any) -> Said:
        try:
            proof = cvxml.certify(*self.asked, A, dual, **self.given.params)
        except ValueError as error:
            return f"dual of {what}", "", "refused", self.refused(str(error))
        except Exception as error:  # whatever it is, it is wrong
            return f"dual of {what}", "", "raised", [f"raised: {type(error).__name__}: {error!s:.200}"]
        value, scale = self.problem.value(A)
        wrong, said = self.figures(proof, value), "inconclusive"
        for tol in TOLERANCES.values():
            if proof.proves(tol):
                said = "certified"
                wrong += self.local(real(tol) * real(SHARE), proof.rounding, value, scale)
        return f"dual of {what}", "", said, wrong

    def refused(self, said: str) -> list[str]:
        if any(words in said for words in UNCOMPUTED):
            return []
        if "singular" in said:
            return [] if self.problem.singular else [f"refused: {said:.200}"]
        return [f"refused: {said:.200}"]

    def recomputed(self, solved: Any) -> Said:
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as printed:
            path = str(Path(folder) / "saved.json")
            solved.save(path)
            try:
                proved = recompute.main(path)
            except Exception as error:  # whatever it is, it is wrong
                return (
                    "recompute",
                    "",
                    "raised",
                    [f"raised: recompute: {type(error).__name__}: {error!s:.200}"],
                )
        value, scale = self.problem.value(solved.metric)
        missed = self.local(real(1e-6) * real(SHARE), 1e-12, value, scale) if proved else []
        said = "certified" if proved else "inconclusive"
        return "recompute", "normal", said, [f"recompute: {line}; {printed.getvalue()!r}" for line in missed]


class StepAttack(Attack):
    """On what is claimed to be stationary."""

    def of(self) -> Any:
        kind = NCA if self.given.id == "nca" else SSVM
        return kind(self.given.X, self.given.y, **self.given.params)

    def look(self, solved: list[Any]) -> None:
        self.found: list[Image] = []
        self.directions = [Image(self.problem, outer(v)) for v in self.special()]
        for each in solved:
            self.add(each.metric)

    def add(self, A: Any) -> None:
        at = self.problem.image(A)
        if at.size == 0:
            self.found.append(at)

    def limited(self) -> bool:
        """By rank."""
        return bool(self.given.params.get("n_components", self.problem.d) < self.problem.d)

    def solution(self, solved: Any) -> Said:
        at = self.problem.image(solved.metric)
        return "solve", "", str(solved.status), self.certificate(solved.certificate, at)

    def certificate(self, proof: Any, at: Image) -> list[str]:
        if any(math.isnan(x) for x in (proof.lower_bound, proof.objective, proof.gap)):
            return [f"raised: nan in {proof.objective}, {proof.lower_bound}, {proof.gap}"]
        wrong = self.objective(proof.objective, proof.rounding, at)
        values = [self.problem.value(other).upper() for other in self.found]
        low = real(proof.lower_bound) - real(proof.rounding) - real(ulps(proof.lower_bound))
        if any(more(low, value) for value in values):
            wrong.append(f"bound: {proof.lower_bound!r} > {text(min(values))}, which is attained")
        step = proof.step or (proof if proof.claim == "optimal" else None)
        if step is not None and math.isfinite(step.gap) and step.gap < proof.gap:
            won = self.won(at)
            if won is not None and more(won, real(step.gap) + real(step.rounding) + real(ulps(step.gap))):
                wrong.append(
                    f"bound: the step wins {text(won)}, its gap is {step.gap:.8g}, rounding {step.rounding:.3g}"
                )
        return wrong

    def won(self, at: Image) -> Any:
        """What the convex step at a metric is known to win, from below; None where a tie decides what the step is."""
        if not hasattr(at, "wins"):
            at.wins = self._won(at)  # type: ignore[attr-defined]
        return at.wins  # type: ignore[attr-defined]

    def _won(self, at: Image) -> Any:
        problem = self.problem
        if at.size > 0:
            return None
        if isinstance(problem, NCA):
            change = lambda to: problem.step(at, to)  # noqa: E731
        else:
            latent = problem.latent(at)
            if latent is None:
                return None
            value = problem.step_value(latent, at)
            change = lambda to: problem.step_value(latent, to) - value  # noqa: E731
        tried = [*self.found, *along(change, at)]
        tried += [near for each in self.directions for near in along(change, each, at)]
        tried += _downhill(problem, at) if isinstance(problem, NCA) else []
        lowest = arb(0)
        for to in tried:
            found = change(to).upper()
            lowest = found if found < lowest else lowest
        return -lowest

    def report(self, report: Any, A: Any, optimal: bool) -> list[str]:
        at, problem, tol = self.problem.image(A), self.problem, real(report.tol) * real(SHARE)
        wrong = []
        if report.verdict != "inconclusive" and math.isnan(report.objective):
            return ["raised: a verdict on nan"]
        if not self.limited():
            wrong += self.objective(report.objective, report.rounding, at)
        if report.verdict == "certified":
            if self.excluded(A):
                wrong.append("certified: what is no metric")
            scale = problem.scale(at) if isinstance(problem, NCA) else real(report.scale)
            wrong += self.stationary(at, tol, report.rounding, scale)
        if report.verdict == "refuted" and self.feasible(A) and not self.limited():
            if report.witness is None:
                wrong.append(f"refuted: a metric, without a witness: {report.reasons}")
            else:
                better = problem.value(at) - problem.value(problem.image(report.witness.metric))
                if more(arb(0), better):
                    wrong.append(f"refuted: the witness is better by {text(better)}")
        return wrong

    def stationary(self, at: Image, tol: Any, rounding: float, scale: Any) -> list[str]:
        """Empty unless the step, or where the rank is limited the gradient, wins more than is allowed."""
        most = tol.max((100 * tol).min(real(1e-3))) * scale
        allowed = tol * scale + real(max(rounding, 0.0)).min(most)
        if self.limited():
            if at.size > 0:
                return []
            left = self.problem.first_order(at, self.special())
            won = left[0].max(left[1])
        else:
            won = self.won(at)
        if won is not None and more(won, allowed):
            return [
                f"certified: wins {text(won)}, objective {text(self.problem.value(at))}, tol * scale "
                f"{text(tol * scale)}, rounding {rounding:.3g}"
            ]
        return []

    def dual(self, what: str, A: Any, dual: Any) -> Said:
        try:
            proof = cvxml.certify(*self.asked, A, dual, **self.given.params)
        except ValueError as error:
            return f"dual of {what}", "", "refused", self.refused(str(error))
        except Exception as error:  # whatever it is, it is wrong
            return f"dual of {what}", "", "raised", [f"raised: {type(error).__name__}: {error!s:.200}"]
        at, said = self.problem.image(A), "inconclusive"
        wrong = self.certificate(proof, at) if not self.excluded(A) and not self.limited() else []
        for tol in TOLERANCES.values():
            if proof.proves(tol):
                said = "certified"
                scale = self.problem.scale(at)
                wrong += self.stationary(at, real(tol) * real(SHARE), proof.rounding, scale)
        return f"dual of {what}", "", said, wrong

    def recomputed(self, solved: Any) -> Said:
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as printed:
            path = str(Path(folder) / "saved.json")
            solved.save(path)
            try:
                proved = recompute.main(path)
            except Exception as error:  # whatever it is, it is wrong
                return (
                    "recompute",
                    "",
                    "raised",
                    [f"raised: recompute: {type(error).__name__}: {error!s:.200}"],
                )
        at = self.problem.image(solved.metric)
        missed = (
            self.stationary(at, real(1e-6) * real(SHARE), 1e-12, self.problem.scale(at)) if proved else []
        )
        said = "certified" if proved else "inconclusive"
        return "recompute", "normal", said, [f"recompute: {line}; {printed.getvalue()!r}" for line in missed]


def _downhill(problem: NCA, at: Image) -> list[Image]:
    """(I - s Q G) Q (I - s G Q), G the exact gradient, s a power of two: psd, and downhill in any coordinates."""
    G, M = problem.gradient(at), at.M
    sizes = [bits(abs(x).mid()) for x in G.ravel() if abs(x).mid() > 0]
    if not sizes:
        return []
    G = whole([[float(x.mid() * arb(2) ** -max(sizes)) for x in row] for row in G])
    turn = M.values @ G.values
    unit = max((int(abs(x)) for x in turn.ravel()), default=0).bit_length()
    found = []
    for k in range(0, 44, 2):  # I - 2^-k turn / 2^unit
        root = identity(problem.d, 0).values * 2 ** (unit + k) - turn
        found.append(Image(problem, Whole(root @ M.values @ root.T, M.power + 2 * (unit + k))))
    return found
