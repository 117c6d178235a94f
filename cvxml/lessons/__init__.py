"""Lessons: one marimo notebook a file, opened by `cvxml lesson NAME`. Needs marimo and matplotlib.

Each is a page for a student who has the paper open: a few paragraphs, controls, pictures that answer at once, what is
proved and what is not, and questions to try. The metrics, bounds and verdicts are the package's own.
"""

from __future__ import annotations

from pathlib import Path

from cvxml.core.inputs import did_you_mean

LESSONS = {
    "mlsvm": "a margin constraint and its dual price: move lam, watch the metric, the active rows and the gap",
    "argmin": "what the argmin misprint in Algorithm 1 of MLSVM costs, against the certified optimum",
    "gerrymandering": "h* and h^ as in Fig. 1: move the query, and see the printed greedy pay 4.21 for 3.30",
    "cccp": "CCCP where the global optimum is known: choose the start, watch it descend, and be stuck",
    "glml": "a metric for each query: definite, indefinite, singular and zero, and how densities look from a distance",
    "nca": "f, g and the scale of A; a problem that is convex, and a supremum at infinity",
    "stranger": "judge a stranger's metric, break it, and read the verdict and the diagnosis",
    "weight": "a program took another weight than was asked for: which, and how well can it be known?",
    "theorem": "choose regularizer and loss, watch objective, bound and gap; find LMNN, MLSVM and MCML",
    "triplets": "the triplets of LMNN: which have a price, and why all prices are on a step",
    "comparisons": "ITML against LSML: thresholds or comparisons, on the same pairs",
    "votes": "what a gap is worth: a map of the votes that hold for the exact optimum",
}


def path_of(name: str) -> Path:
    """The notebook of a lesson. Raises ValueError for an unknown name, listing those known."""
    if name not in LESSONS:
        raise ValueError(f"no lesson {name!r}; there is: {', '.join(LESSONS)}{did_you_mean(name, LESSONS)}")
    return Path(__file__).parent / f"{name}.py"
