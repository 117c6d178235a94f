"""The report of judge.py as Markdown. Every figure comes from the judgement."""

from __future__ import annotations

import os
import platform
from typing import TYPE_CHECKING

import numpy as np
import scipy
from findings import findings
from mapping import SHORT, STATIONARY, Run, as_own_value, called, own_value, says_converged
from remarks import remarks
from sources import SOURCES

import cvxml

if TYPE_CHECKING:
    from judge import Judged, Judgement

TITLES = {"iris_raw": "test/metric_learn_test.py of metric-learn, commit dc7e449: MMC, raw iris, all pairs"}
ROUNDING = 1e-9  # of a function that is the same
VERDICTS = ("certified", "close", "inconclusive", "refuted")


def page(judgement: Judgement, image: str) -> str:
    """The whole report."""
    lines = [*header(judgement), *by_learner(judgement), "", f"![relative gaps]({image})"]
    lines += [
        "",
        "## Findings",
        "",
        FINDINGS,
        "",
        *(f"{k}. {line}" for k, line in enumerate(findings(judgement), 1)),
    ]
    lines += sources()
    for data_set, given in judgement.given.items():
        runs = [each for each in judgement.judged if each.run["data"] == data_set]
        convex = [each for each in runs if each.asked.method not in STATIONARY]
        if runs:
            size = f"{len(given.X)} points, {given.X.shape[1]} features"
            lines += ["", f"## {TITLES.get(data_set, data_set)} ({size})"]
        lines += ["", *table(convex), *bullets(remarks(convex))] if convex else []
        of_nca = [each for each in runs if each.asked.method == "nca"]
        lines += nca(of_nca, judgement.starts[data_set]) if of_nca else []
        of_mlkr = [each for each in runs if each.asked.method == "mlkr"]
        lines += mlkr(of_mlkr, judgement.regressions[data_set]) if of_mlkr else []
    return "\n".join(lines) + "\n"


FINDINGS = (
    "What a maintainer could act on, each with the version and the lines that it was read in; bold is what is wrong "
    "or misleads, the rest was seen beside it. To see the figures of one again, with NAME the script in brackets and "
    "a Python that has what "
    "its requirements file lists, but not cvxml: `python learners/NAME.py --inputs recorded/inputs.json --out "
    "FILE.json`, "
    "in the folder of this page. FILE.json has the figures under `facts`, the matrices under `runs`. with_metric_learn "
    "takes a minute with requirements.txt; the files of the others bear their names; with_mlpack and with_dlib need a "
    "C++ compiler and headers too, which they name. `python validation/foreign/judge.py --run NAME=PYTHON` runs the "
    "script and writes this page."
)


def header(judgement: Judgement) -> list[str]:
    """What was run, with what, and how to read it."""
    versions = {"cvxml": cvxml.__version__, "python": platform.python_version()}
    versions |= {"numpy": np.__version__, "scipy": scipy.__version__}
    ours, *theirs = (
        ", ".join(f"{package} {version}" for package, version in each.items())
        for each in (versions, *judgement.environments)
    )
    return [
        "# What other packages return, judged",
        "",
        "`python validation/foreign/judge.py` judges the matrices in `recorded/` and writes this page; with `--run "
        "NAME=PYTHON`, a Python that has what a `requirements*.txt` lists, it first makes a file there anew. "
        f"{os.cpu_count()} cores. The judgement: {ours}. The matrices, one environment each: {'; '.join(theirs)}.",
        "",
        "iris and wine: each feature z-scored, then 1e-6 times a fixed normal sample added, so that no distances tie. "
        "By a fixed seed 60 similar and 60 dissimilar pairs, 180 quadruplets and chunklets of 5 points are drawn; near "
        "and far points of each point are its 3 nearest of its class and of the others. SCML has each "
        "near point with each far one as triplets, and 5 vectors for a feature; its basis is the one that it drew. "
        "Targets and bounds are the learner's own. "
        "Settings not named are the package's, and metric-learn's MMC, NCA and MLKR start at the identity. "
        "*tight*: a tol of 1e-7 or less, and more iterations; *5 passes*, *100 projections*: max_iter=5, max_proj=100, "
        "to see what is said at a limit; *rising weights*: 1, 2, .. for the quadruplets.",
        "",
        "*objective*: of the returned matrix, as cvxml minimises it (MMC is negated). *optimum in*: a proved lower "
        "bound, and the objective of a feasible metric that cvxml found. *gap*: objective - lower bound; *relative*: "
        "to the size of the optimum. *normal*, *loose*: the verdict of `cvxml.check` for a relative gap of 1e-6 and of "
        '1e-3. *says*: what the package says of itself: LMNN and ITML print "converged" if verbose, MMC sets '
        "`converged_`, pylmnn keeps scipy's `success`; then n_iter_ of max_iter.",
        "",
        *counts(judgement.judged),
    ]


def by_learner(judgement: Judgement) -> list[str]:
    """A row a learner: how far its answers are at its first settings and at best, and the verdicts."""
    learners: dict[str, list[Judged]] = {}
    for each in judgement.judged:
        if each.run["data"] in judgement.starts:  # the data sets that all learners have
            learners.setdefault(learner_of(each), []).append(each)
    sets = list(judgement.starts)
    names = ", ".join(sets)
    rows = [
        "",
        "## By learner",
        "",
        f"The relative gap, proved, on {names}: at the first settings of the tables below, mostly the package's own, "
        "and "
        "the least of all settings; of NCA and MLKR, which are not convex, n - f and F, of which 0 is a bound. "
        "Verdicts are those at normal, of all runs.",
        "",
        f"| learner | judged as | first settings: {names} | best: {names} | {' | '.join(VERDICTS)} |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, runs in learners.items():
        of_each = [[each for each in runs if each.run["data"] == data_set] for data_set in sets]
        first = ", ".join(shown(of[0]) for of in of_each)
        best = ", ".join(shown(min(of, key=left)) for of in of_each)
        verdicts = [sum(each.normal.verdict.value == verdict for each in runs) for verdict in VERDICTS]
        rows.append(
            f"| {name} | `{runs[0].asked.method}` | {first} | {best} | {' | '.join(map(str, verdicts))} |"
        )
    return rows


def learner_of(each: Judged) -> str:
    """The package and what it calls the learner."""
    diagonal = ", diagonal" if each.asked.method == "mmc:diagonal" else ""
    return f"{each.run['package']} {SHORT.get(each.run['learner'], each.run['learner'])}{diagonal}"


def left(each: Judged) -> float:
    """The relative gap; of NCA n - f."""
    gap = each.figures.gap if each.asked.method in STATIONARY else each.figures.rel_gap
    return np.inf if gap is None else float(gap)


def shown(each: Judged) -> str:
    """The same, in digits."""
    return f"{left(each):.1e}"


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
    same = [each for each in off if each < ROUNDING]
    if same:
        lines[0] += (
            f" In {len(same)} runs the learner's own code computes the function judged: its value and cvxml's differ "
            "by "
            f"{max(same):.1e} at most, relatively."
        )
    other = [each for each in off if not each < ROUNDING]
    if other:
        lines[0] += f" In {len(other)} its value is another, by {max(other):.1e} at most: see the findings."
    return lines


def sources() -> list[str]:
    """What each learner minimises."""
    rows = [f"| {s.learner} | {s.formula} | {s.lines} | {s.judged_as} | {s.documented} |" for s in SOURCES]
    return [
        "",
        "## What each learner minimises",
        "",
        "d² = (x_i - x_j)ᵀ M (x_i - x_j); lines of metric-learn 0.7.0, its documentation at 0920e07 and 01c3e9c, "
        "scikit-learn 1.7.2, mlpack 4.8.0, PyLMNN 1.6.4, dlib 19.24.",
        "",
        "| learner | its code minimises | lines | judged as | its documentation |",
        "|---|---|---|---|---|",
        *rows,
    ]


def table(judged: list[Judged]) -> list[str]:
    """A row a run, of the convex problems."""
    head = "| learner | settings | objective | optimum in | gap | relative | normal | loose | says |"
    rows = []
    for each in judged:
        run, figures = each.run, each.figures
        rows.append(
            f"| {called(run)}, `{each.asked.method}` | {run['settings']} | {figures.objective:.10g} | "
            f"[{figures.lower_bound:.11g}, {figures.reference_objective:.11g}] | {figures.gap:.2e} | "
            f"{figures.rel_gap:.1e} | {each.normal.verdict.value} | {each.loose.verdict.value} | {says(run)} |"
        )
    return [head, "|---|---|---|---|---|---|---|---|---|", *rows]


def says(run: Run) -> str:
    """The package's own claim."""
    words = {True: "converged", False: "not converged", None: "nothing"}[says_converged(run)]
    return f"{words}, {iterations(run)}" if "n_iter_" in run else words


def iterations(run: Run) -> str:
    """How many, of how many."""
    return f"{run['n_iter_']} of {run['params']['max_iter']}" if "n_iter_" in run else "not said"


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
            f"{iterations(run)} |"
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


def mlkr(judged: list[Judged], own: float) -> list[str]:
    """The table of MLKR, which is not convex either. own: F where cvxml's own descent ends."""
    lines = [
        "",
        "MLKR, of the last feature from the others, is not convex; F is above 0 for every metric. *gradient*, "
        "*verdict*: as above, in units of F; cvxml's scale for them is at most F.",
        "",
        "| package | settings | F | gradient | verdict | n_iter_, max_iter |",
        "|---|---|---|---|---|---|",
    ]
    for each in judged:
        run, s = each.run, each.normal.stationarity
        assert s is not None
        lines.append(
            f"| {run['package']} | {run['settings']} | {each.normal.objective:.9g} | {s.gradient:.2e} | "
            f"{each.normal.verdict.value} | {run['n_iter_']}, {run['params']['max_iter']} |"
        )
    found = [f"{run_name(each)}: {'; '.join(each.normal.reasons)}." for each in judged]
    found.append(f"F where cvxml's own descent ends, from its default start, at tol 1e-9: {own:.9g}.")
    return lines + bullets(found)


def run_name(each: Judged) -> str:
    """A run of NCA in words."""
    return f"{each.run['package']}, {each.run['settings']}"
