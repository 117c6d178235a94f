"""Lessons: marimo notebooks, one per file, that `cvxml lesson NAME` opens. They need marimo and matplotlib.

A lesson is a page for a student who has read the paper. It contains a few paragraphs, controls, pictures that change
with the controls, a statement of the proved and the unproved facts, and questions. All metrics, bounds and verdicts
come from the functions of this package.
"""

from __future__ import annotations

from pathlib import Path

from cvxml.core.inputs import did_you_mean

LESSONS = {
    "mlsvm": "a margin constraint and its dual variable: move lam, watch the metric, the active rows and the gap",
    "argmin": "the argmin misprint in Algorithm 1 of MLSVM, compared with the certified optimum",
    "gerrymandering": "the best winning and the worst offending neighbours in Fig. 1; in a second picture the printed "
    "greedy algorithm finds a set of cost 4.21 instead of 3.30",
    "cccp": "CCCP with a known global optimum: choose the start, watch the descent and where it stops",
    "glml": "GLML has a metric for each query: B definite, indefinite, singular or 0; the densities at a distance",
    "nca": "the two objectives of NCA and the scale of A; a convex special case; optima that are not attained",
    "stranger": "judge the metric of another program, break it, read the verdict and the diagnosis",
    "weight": "a program used a wrong weight: find the weight, and see how precisely it can be known",
    "theorem": "choose regularizer and loss, watch objective, bound and gap; find LMNN, MLSVM and MCML",
    "triplets": "the triplets of LMNN: which are active, and the dual variable as a step function of the margin",
    "comparisons": "ITML and LSML on the same pairs: one uses thresholds, the other comparisons",
    "votes": "the meaning of a gap: a map of the votes that are certain for the exact optimum",
}


def path_of(name: str) -> Path:
    """Return the path of a lesson's notebook. Raises ValueError for an unknown name, and lists the known ones."""
    if name not in LESSONS:
        raise ValueError(
            f"no lesson {name!r}; the lessons are: {', '.join(LESSONS)}{did_you_mean(name, LESSONS)}"
        )
    return Path(__file__).parent / f"{name}.py"
