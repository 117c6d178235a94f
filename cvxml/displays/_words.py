"""The message that `CertificateDisplay` writes into empty axes if it has no gap to draw."""

from __future__ import annotations

import math

from cvxml.core.result import Certificate


def why_no_gap(proof: Certificate, notes: tuple[str, ...]) -> str:
    """Return paragraphs that explain why no gap is drawn, one on each line.

    It is for a problem that is not convex and has only a trivial bound. Its gap is not drawn, because a line could be
    mistaken for a proof.

    proof: the certificate of the metric.
    notes: the notes of the solution. The first one is added, unless it says that the problem is not convex.
    """
    said = ["No gap is drawn: the problem is not convex, and iterations do not improve its bound."]
    if math.isfinite(proof.lower_bound):
        known = f"objective ≥ {proof.lower_bound:.6g}, so the gap is at most {max(proof.gap, 0.0):.3g}"
        said.append(f"The only known bound for all metrics is {known}.")
    else:
        said.append("No bound for other metrics is known.")
    if proof.step is not None:
        share = (
            f", which is {proof.step.rel_gap:.3g} of its scale" if math.isfinite(proof.step.rel_gap) else ""
        )
        said.append(f"The convex step of the metric gains at most {proof.step.gap:.3g}{share}.")
    elif proof.stationarity is not None:
        said.append(f"Stationarity: {proof.stationarity}.")
    said += [note[:1].upper() + note[1:] + "." for note in notes[:1] if "not convex" not in note]
    return "\n".join([*said, 'show="bounds" draws the objective.'])
