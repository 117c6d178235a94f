"""The same of GLML."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from validation.adversarial.attack import SHARE, UNCOMPUTED, Attack, Said, more, text, ulps
from validation.adversarial.exact import real
from validation.adversarial.local import Local


class LocalAttack(Attack):
    """On GLML, whose optimum is known exactly."""

    claims = exact = files = False

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
        return "solve", "", str(solved.status), self.figures(solved.certificate, solved.metric)

    def figures(self, proof: Any, A: Any) -> list[str]:
        said, value = proof, self.problem.value(A)[0]
        wrong = []
        if more(
            real(said.lower_bound) - real(said.rounding) - real(ulps(said.lower_bound)), self.problem.best
        ):
            wrong.append(
                f"bound: {said.lower_bound!r} - {said.rounding:.3g} > {text(self.problem.best)}, the optimum"
            )
        if not value.is_nan() and value.is_finite() and math.isfinite(said.objective):
            error = abs(real(said.objective) - value)
            if more(error, real(said.rounding) + real(ulps(said.objective))):
                wrong.append(
                    f"objective: {said.objective!r} is off by {text(error)}, rounding {said.rounding:.3g}"
                )
        return wrong

    def report(self, report: Any, A: Any, optimal: bool) -> list[str]:
        value, scale = self.problem.value(A)
        wrong = self.figures(report, A) if report.verdict == "certified" or report.witness is not None else []
        if report.verdict == "certified":
            if self.excluded(A):
                wrong.append("certified: what is no metric")
            wrong += self.local(real(report.tol) * real(SHARE), report.rounding, value, scale)
        if report.verdict in ("refuted", "close") and report.witness is not None and self.feasible(A):
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

    def beyond(self, A: Any, tol: float, rounding: float) -> list[str]:
        return self.local(real(tol) * real(SHARE), rounding, *self.problem.value(A))

    def feasible(self, A: Any) -> bool:
        """Symmetric, psd, of determinant 1 but for rounding."""
        return bool((A == A.T).all() and _log_det(A) is not None and abs(_log_det(A)) < 1e-7)

    def excluded(self, A: Any) -> bool:
        """Asymmetric, or of another determinant, by more than 1e-6."""
        skew = np.abs(A - A.T).max() > 1.01e-6 * np.linalg.norm(A)
        return bool(skew or (_log_det(A) is not None and abs(_log_det(A)) > 1e-5 * len(A)))

    def refused(self, said: str) -> list[str]:
        if any(words in said for words in UNCOMPUTED):
            return []
        if "singular" in said:
            return [] if self.problem.singular else [f"refused: {said:.200}"]
        return [f"refused: {said:.200}"]


def _log_det(A: Any) -> Any:
    """Of a matrix that is well conditioned; None of another."""
    values = np.linalg.eigvalsh((A + A.T) / 2)
    return float(np.log(values).sum()) if values[0] > 1e-6 * values[-1] else None
