"""The same of claims that a metric is stationary."""

from __future__ import annotations

import math
from typing import Any

from flint import arb

from validation.adversarial.attack import SHARE, Attack, Said, more, stated, text, ulps
from validation.adversarial.attained import along, bits
from validation.adversarial.exact import Whole, identity, outer, rank, real, whole
from validation.adversarial.stationary import NCA, SSVM
from validation.adversarial.truth import Image


class StepAttack(Attack):
    """On what is claimed to be stationary."""

    claims = exact = False

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
        wrong = self.objective(proof.objective, stated(proof), at)
        values = [self.problem.value(other).upper() for other in self.found]
        low = real(proof.lower_bound) - real(stated(proof)) - real(ulps(proof.lower_bound))
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
        if report.verdict in ("refuted", "close") and self.feasible(A) and not self.limited():
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
            gradient, residual = self.problem.first_order(at, self.special())
            # where all of the rank is in use there is no row to be added, and no residual
            used = rank(at.M.values) >= self.given.params["n_components"]
            won = gradient if used else gradient.max(residual)
        else:
            won = self.won(at)
        if won is not None and more(won, allowed):
            return [
                f"certified: wins {text(won)}, objective {text(self.problem.value(at))}, tol * scale "
                f"{text(tol * scale)}, rounding {rounding:.3g}"
            ]
        return []

    def figures(self, proof: Any, A: Any) -> list[str]:
        judged = not self.excluded(A) and not self.limited()
        return self.certificate(proof, self.problem.image(A)) if judged else []

    def beyond(self, A: Any, tol: float, rounding: float) -> list[str]:
        at = self.problem.image(A)
        return self.stationary(at, real(tol) * real(SHARE), rounding, self.problem.scale(at))


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
