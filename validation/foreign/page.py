"""The report of judge.py as Markdown. Every figure comes from the judgement."""

from __future__ import annotations

import os
import platform
from typing import TYPE_CHECKING

import numpy as np
import scipy
from mapping import SOURCES, Run, as_own_value, own_value, says_converged
from remarks import remarks

import cvxml

if TYPE_CHECKING:
    from judge import Judged, Judgement

TITLES = {"iris_raw": "test/metric_learn_test.py of metric-learn, commit dc7e449: MMC, raw iris, all pairs"}


def page(judgement: Judgement, image: str) -> str:
    """The whole report."""
    lines = [*header(judgement, image), *sources()]
    for data_set, data in judgement.record["data"].items():
        runs = [each for each in judgement.judged if each.run["data"] == data_set]
        convex = [each for each in runs if each.asked.method != "nca"]
        size = f"{len(data['X'])} points, {len(data['X'][0])} features"
        lines += ["", f"## {TITLES.get(data_set, data_set)} ({size})"]
        lines += ["", *table(convex), *bullets(remarks(convex))] if convex else []
        of_nca = [each for each in runs if each.asked.method == "nca"]
        lines += nca(of_nca, judgement.starts[data_set]) if of_nca else []
    return "\n".join(lines) + "\n"


def header(judgement: Judgement, image: str) -> list[str]:
    """What was run, with what, and how to read it."""
    versions = {"cvxml": cvxml.__version__, "python": platform.python_version()}
    versions |= {"numpy": np.__version__, "scipy": scipy.__version__}
    ours, theirs = (
        ", ".join(f"{package} {version}" for package, version in each.items())
        for each in (versions, judgement.record["environment"])
    )
    return [
        "# What metric-learn and scikit-learn return, judged",
        "",
        "`python validation/foreign/judge.py` judges the matrices in `recorded.json` and writes this page; with "
        "`--learners PYTHON`, a Python that has what `requirements.txt` lists, it makes that file anew first. "
        f"{os.cpu_count()} cores. The matrices: {theirs}. The judgement: {ours}.",
        "",
        "iris and wine: each feature z-scored, then 1e-6 times a fixed normal sample added, so that no distances tie; "
        "60 similar and 60 dissimilar pairs drawn by a fixed seed. Targets, pairs and bounds are the learner's own. "
        "Settings not named are the package's, and MMC and NCA start at the identity. *tight*: a tol of 1e-9 or less, "
        "and more iterations; *5 passes*, *100 projections*: max_iter=5, max_proj=100, to see what is said at a limit.",
        "",
        "*objective*: of the returned matrix, as cvxml minimises it (MMC is negated). *optimum in*: a proved lower "
        "bound, and the objective of a feasible metric that cvxml found. *gap*: objective - lower bound; *relative*: "
        "to the size of the optimum. *normal*, *loose*: the verdict of `cvxml.check` for a relative gap of 1e-6 and of "
        '1e-3. *says*: what the package says of itself: LMNN and ITML print "converged" if verbose, MMC sets '
        "`converged_`; then n_iter_ of max_iter.",
        "",
        *counts(judgement.judged),
        "",
        f"![relative gaps]({image})",
    ]


def counts(judged: list[Judged]) -> list[str]:
    """What holds over all runs."""
    again = sum(each.run["same_again"] for each in judged)
    own = [(each, own_value(each.run)) for each in judged]
    off = [
        abs(as_own_value(each.asked, each.figures.objective) / value - 1)
        for each, value in own
        if value is not None and each.figures.objective is not None
    ]
    warned = {w["category"] for each in judged for w in each.run["warnings"]}
    lines = [
        f"{again} of {len(judged)} runs gave the same matrix bit for bit when repeated. Warnings that they raised, not "
        f"verbose: {', '.join(sorted(warned)) or 'none'}."
    ]
    if off:
        lines[0] += (
            f" In {len(off)} runs the learner's own code computes the function judged: its value and cvxml's differ by "
            f"{max(off):.1e} at most, relatively."
        )
    return lines


def sources() -> list[str]:
    """What each learner minimises."""
    rows = [f"| {s.learner} | {s.formula} | {s.lines} | {s.judged_as} |" for s in SOURCES]
    return [
        "",
        "## What each learner minimises",
        "",
        "d² = (x_i - x_j)ᵀ M (x_i - x_j); lines of metric-learn 0.7.0 and scikit-learn 1.7.2.",
        "",
        "| learner | its code minimises | lines | judged as |",
        "|---|---|---|---|",
        *rows,
    ]


def table(judged: list[Judged]) -> list[str]:
    """A row a run, of the convex problems."""
    head = "| learner | settings | objective | optimum in | gap | relative | normal | loose | says |"
    rows = []
    for each in judged:
        run, figures = each.run, each.figures
        rows.append(
            f"| {run['learner']}, `{each.asked.method}` | {run['settings']} | {figures.objective:.10g} | "
            f"[{figures.lower_bound:.11g}, {figures.reference_objective:.11g}] | {figures.gap:.2e} | "
            f"{figures.rel_gap:.1e} | {each.normal.verdict.value} | {each.loose.verdict.value} | {says(run)} |"
        )
    return [head, "|---|---|---|---|---|---|---|---|---|", *rows]


def says(run: Run) -> str:
    """The package's own claim."""
    words = {True: "converged", False: "not converged", None: "nothing"}[says_converged(run)]
    count = f", {run['n_iter_']} of {run['params']['max_iter']}" if "n_iter_" in run else ""
    return words + count


def bullets(found: list[str]) -> list[str]:
    """As a list in Markdown."""
    return ["", *(f"- {sentence}" for sentence in found)] if found else []


def nca(judged: list[Judged], starts: dict[str, float]) -> list[str]:
    """The table of NCA, which is not convex: no row can be called optimal."""
    n = -judged[0].normal.lower_bound
    lines = [
        "",
        f"NCA is not convex, and nothing here is called optimal; f is below n = {n:g} for every metric. *gradient*: "
        "times the norm of A, in units of f; *multiples*: the derivative of -f along multiples of A, negative where a "
        "larger one is better. *verdict*: of the claim to be stationary, at normal, where the tolerance is a share of "
        "what is left to gain, not of f.",
        "",
        "| package | settings | n - f | gradient | multiples | verdict | n_iter_ of max_iter |",
        "|---|---|---|---|---|---|---|",
    ]
    for each in judged:
        run, s = each.run, each.normal.stationarity
        assert s is not None
        lines.append(
            f"| {run['package']} | {run['settings']} | {each.normal.gap:.9g} | {s.gradient:.2e} | "
            f"{s.scale_derivative:.2e} | {each.normal.verdict.value} | "
            f"{run['n_iter_']} of {run['params']['max_iter']} |"
        )
    listed = ", ".join(f"{n - f:.4g} from `{start}`" for start, f in starts.items())
    found = [f"{run_name(each)}: {'; '.join(each.normal.reasons)}." for each in judged]
    found.append(
        f"The learners start at the identity. n - f where cvxml's own descent ends, at tol 1e-9: {listed}."
    )
    least, default = min(each.normal.gap or 0.0 for each in judged), n - starts["auto"]
    best = max(starts, key=lambda start: starts[start])
    if n - starts[best] < least / 2:
        found.append(
            f"A better start than the learners' is `{best}`: {n - starts[best]:.4g} against {least:.9g}."
        )
    if default > 2 * least:
        found.append(f"cvxml's default start, `auto`, ends worse than the best run above: {default:.4g}.")
    return lines + bullets(found)


def run_name(each: Judged) -> str:
    """A run of NCA in words."""
    return f"{each.run['package']}, {each.run['settings']}"
