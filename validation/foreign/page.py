"""The report of judge.py as Markdown. Every figure comes from the judgement."""

from __future__ import annotations

import os
import platform
from typing import TYPE_CHECKING

import numpy as np
import scipy
from findings import Finding, findings, grid
from mapping import SHORT, STATIONARY, Run, as_own_value, called, own_value, says_converged
from remarks import converged, remarks
from sources import SOURCES

import cvxml

if TYPE_CHECKING:
    from judge import Judged, Judgement

TITLES = {"iris_raw": "MMC on raw iris, with all pairs, as in a test of metric-learn"}
ABOUT = {"iris_raw": "The test is in test/metric_learn_test.py of metric-learn, commit dc7e449."}
ROUNDING = 1e-9  # two values of the same function differ relatively by less
VERDICTS = ("certified", "close", "inconclusive", "refuted")


def page(judgement: Judgement, image: str) -> str:
    """Return the whole report."""
    found = findings(judgement)
    lines = [*header(judgement, found), *by_learner(judgement), "", f"![relative gaps]({image})"]
    lines += [*of_findings(found), *sources(), *legend(), *how(judgement), *again()]
    for data_set, given in judgement.given.items():
        runs = [each for each in judgement.judged if each.run["data"] == data_set]
        convex = [each for each in runs if each.asked.method not in STATIONARY]
        if runs:
            size = f"{len(given.X)} points, {given.X.shape[1]} features"
            lines += ["", f"## {TITLES.get(data_set, data_set)} ({size})"]
            lines += ["", ABOUT[data_set]] if data_set in ABOUT else []
        if convex:
            lines += ["", *table(convex), *claims(convex), *bullets(remarks(convex))]
        of_nca = [each for each in runs if each.asked.method == "nca"]
        lines += nca(of_nca, judgement.starts[data_set]) if of_nca else []
        of_mlkr = [each for each in runs if each.asked.method == "mlkr"]
        lines += mlkr(of_mlkr, judgement.regressions[data_set]) if of_mlkr else []
    return "\n".join(lines) + "\n"


def header(judgement: Judgement, found: list[Finding]) -> list[str]:
    """Summarize the report in one screen: metrics, verdicts, and the most important findings."""
    judged = judgement.judged
    packages = list(dict.fromkeys(each.run["package"] for each in judged))
    learners = {learner_of(each) for each in judged}
    verdicts = ", ".join(
        f"{sum(each.normal.verdict.value == verdict for each in judged)} {verdict}" for verdict in VERDICTS
    )
    most = [
        f"{each.about} (finding {k}): {each.headline}" for k, each in enumerate(found, 1) if each.headline
    ]
    return [
        "# What metric-learning programs of other packages compute",
        "",
        f"We judged {len(judged)} metrics that {len(learners)} learners of these packages returned: "
        f"{', '.join(packages)}. For each metric, `cvxml` computed the objective and a proved lower bound on the "
        f"optimum. The verdicts: {verdicts}.",
        *(["", f"The most important of {len(found)} findings:", *bullets(most)] if most else []),
    ]


def by_learner(judgement: Judgement) -> list[str]:
    """Return a row for each learner: the gaps of its first and its best run, and the verdicts."""
    learners: dict[str, list[Judged]] = {}
    for each in judgement.judged:
        if each.run["data"] in judgement.starts:  # the data sets that all learners have
            learners.setdefault(learner_of(each), []).append(each)
    sets = list(judgement.starts)
    head = ["learner", "problem in cvxml", *(f"first run, {name}" for name in sets)]
    head += [*(f"best run, {name}" for name in sets), *VERDICTS]
    rows = []
    for name, runs in learners.items():
        of_each = [[each for each in runs if each.run["data"] == data_set] for data_set in sets]
        first = [shown(of[0]) for of in of_each]
        best = [shown(min(of, key=left)) for of in of_each]
        verdicts = [sum(each.normal.verdict.value == verdict for each in runs) for verdict in VERDICTS]
        rows.append([name, f"`{runs[0].asked.method}`", *first, *best, *map(str, verdicts)])
    return [
        "",
        "## Results for each learner",
        "",
        "The columns of runs have the relative gap: (objective - lower bound) / size of the optimum. The first run "
        "has the settings of the first row in the tables below, mostly the defaults of the package. The best run "
        "has the least gap of all settings. NCA and MLKR are not convex. Their columns have n - f and F instead, "
        "and 0 is a lower bound of both.",
        "",
        "The last four columns count the verdicts of all runs, with the tolerance 1e-6.",
        "",
        grid(head, rows),
        "",
        grid(
            ("verdict", "meaning"),
            (
                (
                    "*certified*",
                    "optimal: the proved relative gap is at most the tolerance. NCA and MLKR: stationary",
                ),
                (
                    "*close*",
                    "not certified, but the proved gap is at most 1e-2, and we found no mistake that explains it",
                ),
                ("*inconclusive*", "the search proved no other verdict"),
                ("*refuted*", "we found a better metric that is feasible, or the matrix is not feasible"),
            ),
        ),
        "",
        "[Verdicts](../../docs/oracle_verdicts.md) has the exact rules.",
    ]


def learner_of(each: Judged) -> str:
    """Return the package and its name for the learner."""
    diagonal = ", diagonal" if each.asked.method == "mmc:diagonal" else ""
    return f"{each.run['package']} {SHORT.get(each.run['learner'], each.run['learner'])}{diagonal}"


def left(each: Judged) -> float:
    """Return the relative gap; for NCA n - f, and for MLKR F."""
    gap = each.figures.gap if each.asked.method in STATIONARY else each.figures.rel_gap
    return np.inf if gap is None else float(gap)


def shown(each: Judged) -> str:
    """Return `left` in digits."""
    return f"{left(each):.1e}"


def of_findings(found: list[Finding]) -> list[str]:
    """Return a table of the findings, and the text of each."""
    rows = [
        (str(k), each.about, each.title, "fault" if each.fault else "observation")
        for k, each in enumerate(found, 1)
    ]
    lines = [
        "",
        "## Findings",
        "",
        "Each finding names the version and the lines that we read. A fault is wrong or misleading. An observation "
        "is something that we saw besides.",
        "",
        grid(("finding", "program", "title", "kind"), rows),
    ]
    for k, each in enumerate(found, 1):
        lines += ["", f"### {k}. {each.text}"]
    return lines


def sources() -> list[str]:
    """Return the table of what each learner minimizes."""
    head = ("learner", "its code minimizes", "lines of the code", "we judge it as", "its documentation")
    return [
        "",
        "## What each learner minimizes",
        "",
        "We read the code of metric-learn 0.7.0, scikit-learn 1.7.2, mlpack 4.8.0, PyLMNN 1.6.4 and dlib 19.24, and "
        "the documentation of metric-learn at 0920e07 and 01c3e9c. In the table, d² = (x_i - x_j)ᵀ M (x_i - x_j).",
        "",
        *grid(head, SOURCES).splitlines(),
    ]


def legend() -> list[str]:
    """Explain the columns of the tables of the data sets."""
    return [
        "",
        "## How to read the tables of runs",
        "",
        "The sections on data sets below have a row for each run.",
        "",
        grid(
            ("column", "meaning"),
            (
                ("settings", "settings that are not named are the defaults of the package"),
                ("objective", "of the returned matrix, as cvxml minimizes it. MMC is negated"),
                (
                    "optimum lies in",
                    "a proved lower bound, and the objective of a feasible metric that cvxml found",
                ),
                ("gap", "objective - lower bound"),
                ("relative gap", "gap / size of the optimum"),
                (
                    "at 1e-6, at 1e-3",
                    'verdict of `cvxml.check` with `tol="normal"` (relative gap 1e-6) and `"loose"` (1e-3)',
                ),
                (
                    "the package reports",
                    'its own claim, then n_iter_ of max_iter. LMNN and ITML print "converged" if verbose, MMC sets '
                    "`converged_`, and pylmnn keeps scipy's `success`",
                ),
            ),
        ),
        "",
        "NCA and MLKR are not convex, so they have tables of their own, and no row is called optimal. NCA maximizes "
        "f, and f is below the number of points n for every metric. MLKR predicts the last feature from the others. "
        "It minimizes F, and F is above 0 for every metric.",
        "",
        grid(
            ("column for NCA and MLKR", "meaning"),
            (
                ("gradient", "norm of the gradient times the norm of the transform A, in units of f or F"),
                (
                    "multiples",
                    "derivative of -f along multiples of A. If it is negative, a larger multiple is better",
                ),
                (
                    "verdict",
                    'on the claim that the metric is stationary, with `tol="normal"`. For NCA, the tolerance is a '
                    "share of the possible improvement, not of f. For MLKR, the scale of the tolerance is at most F",
                ),
            ),
        ),
        "",
        grid(
            ("setting", "meaning"),
            (
                ("tight", "a tol of 1e-7 or less, and more iterations"),
                (
                    "5 passes, 100 projections",
                    "max_iter=5, max_proj=100, to see the report of the package at a limit",
                ),
                ("rising weights", "the quadruplets have the weights 1, 2, .."),
                ("own bounds", "the bounds that ITML chooses"),
                ("squared bounds", "the 5th and 95th percentiles of the squared distances of all pairs"),
                ("committed test", "the data (raw iris) and the settings of a test of metric-learn"),
            ),
        ),
    ]


def how(judgement: Judgement) -> list[str]:
    """Describe the data, the settings and the environments."""
    versions = {"cvxml": cvxml.__version__, "python": platform.python_version()}
    versions |= {"numpy": np.__version__, "scipy": scipy.__version__}
    ours, *theirs = (
        ", ".join(f"{package} {version}" for package, version in each.items())
        for each in (versions, *judgement.environments)
    )
    return [
        "",
        "## How the runs were made",
        "",
        "- **Points.** Each feature of iris and wine is z-scored. Then we add 1e-6 times a fixed normal sample, so "
        "that no two distances are equal.",
        "- **Pairs and the like.** 60 similar pairs, 60 dissimilar pairs, 180 quadruplets and chunklets of 5 points "
        "are drawn with a fixed seed. The near points of a point are its 3 nearest points of the same class. Its "
        "far points are the 3 nearest points of other classes.",
        "- **SCML.** The triplets are each near point with each far point. There are 5 basis vectors for each "
        "feature, and we use the basis that SCML drew.",
        "- **Targets and bounds.** We use those of the learner.",
        "- **Start.** MMC, NCA and MLKR of metric-learn start at the identity.",
        "",
        *counts(judgement.judged),
        "",
        f"We judged with {ours}, on {os.cpu_count()} cores. The runs were made in these environments:",
        *bullets(theirs),
    ]


def counts(judged: list[Judged]) -> list[str]:
    """Count over all runs: repeated runs, warnings, and the learners' own values."""
    again = sum(each.run["same_again"] for each in judged)
    own = [(each, own_value(each.run)) for each in judged]
    off = [
        abs(as_own_value(each.asked, each.figures.objective) / value - 1)
        for each, value in own
        if value is not None and each.figures.objective is not None
    ]
    warned = {w["category"] for each in judged for w in each.run["warnings"]}
    lines = [
        f"We repeated each run. {again} of {len(judged)} runs gave the same matrix, bit for bit. Without `verbose`, "
        f"the runs raised these warnings: {', '.join(sorted(warned)) or 'no warning'}."
    ]
    same = [each for each in off if each < ROUNDING]
    if same:
        lines[0] += (
            f" In {len(same)} runs, the learner's own code computes the function that we judge. Its value and that "
            f"of cvxml differ by at most {max(same):.1e}, relatively."
        )
    other = [each for each in off if not each < ROUNDING]
    if other:
        lines[0] += (
            f" In {len(other)} other runs, the learner's own value differs by up to {max(other):.1e}: see the findings."
        )
    return lines


def again() -> list[str]:
    """Describe how to repeat the runs and the judgement."""
    return [
        "",
        "## How to repeat the runs",
        "",
        "- `python validation/foreign/judge.py` judges the stored matrices in `recorded/` and writes this page.",
        "- `python validation/foreign/judge.py --run NAME=PYTHON` first runs the script NAME of `learners/` again. "
        "PYTHON is a Python that has the packages in the requirements file of the script.",
        "- `python learners/NAME.py --inputs recorded/inputs.json --out FILE.json`, in the folder of this page, "
        "only runs the script. It does not need cvxml. FILE.json has the figures of the findings under `facts`, and "
        "the matrices under `runs`.",
        "",
        "Each finding names its script. `with_metric_learn` takes a minute, with `requirements.txt`. The other "
        "requirements files have the names of their scripts. `with_mlpack` and `with_dlib` also need a C++ compiler "
        "and headers, which the scripts name.",
    ]


def table(judged: list[Judged]) -> list[str]:
    """Return a row for each run of the convex problems."""
    head = (
        "| learner, problem | settings | objective | optimum lies in | gap | relative gap | at 1e-6 | at 1e-3 | the "
        "package reports |"
    )
    rows = []
    for each in judged:
        run, figures = each.run, each.figures
        rows.append(
            f"| {called(run)}, `{each.asked.method}` | {run['settings']} | {figures.objective:.10g} | "
            f"[{figures.lower_bound:.11g}, {figures.reference_objective:.11g}] | {figures.gap:.2e} | "
            f"{figures.rel_gap:.1e} | {each.normal.verdict.value} | {each.loose.verdict.value} | {reports(run)} |"
        )
    return [head, "|---|---|---|---|---|---|---|---|---|", *rows]


def reports(run: Run) -> str:
    """Return the package's own claim, and its number of iterations if it has one."""
    words = {True: "converged", False: "not converged", None: "no claim"}[says_converged(run)]
    return f"{words}, {iterations(run)}" if "n_iter_" in run else words


def iterations(run: Run) -> str:
    """Return the number of iterations, and the limit."""
    return f"{run['n_iter_']} of {run['params']['max_iter']}" if "n_iter_" in run else "not reported"


def claims(judged: list[Judged]) -> list[str]:
    """Return a table of the runs that report convergence and are not optimal."""
    found = converged(judged)
    if not found:
        return []
    return [
        "",
        "These runs report convergence, but their verdict at 1e-6 is close or refuted:",
        "",
        grid(("run", "a feasible metric is better by"), found),
    ]


def bullets(found: list[str]) -> list[str]:
    """Return a list of Markdown."""
    return ["", *(f"- {sentence}" for sentence in found)] if found else []


def nca(judged: list[Judged], starts: dict[str, float]) -> list[str]:
    """Return the table of NCA, which is not convex: no row can be called optimal."""
    n, data = -judged[0].normal.lower_bound, judged[0].run["data"]
    lines = [
        "",
        f"### NCA, {data}: f is below n = {n:g}",
        "",
        "| package | settings | n - f | gradient | multiples | verdict | n_iter_ of max_iter |",
        "|---|---|---|---|---|---|---|",
    ]
    for each in judged:
        run, s = each.run, each.normal.stationarity
        assert s is not None
        lines.append(
            f"| {run['package']} | {run['settings']} | {each.normal.gap:.9g} | {s.gradient:.2e} | "
            f"{s.scale_derivative:.2e} | {each.normal.verdict.value} | {iterations(run)} |"
        )
    lines += bullets([f"{run_name(each)}: {'; '.join(each.normal.reasons)}." for each in judged])
    lines += [
        "",
        "All learners start at the identity. The descent of cvxml, with tol 1e-9, ends at these values:",
        "",
        grid(("start", "n - f"), [(f"`{start}`", f"{n - f:.4g}") for start, f in starts.items()]),
    ]
    least, default = min(each.normal.gap or 0.0 for each in judged), n - starts["auto"]
    best = max(starts, key=lambda start: starts[start])
    found = []
    if n - starts[best] < least / 2:
        found.append(
            f"The start `{best}` leads to a smaller n - f than the best run above: {n - starts[best]:.4g} instead of "
            f"{least:.9g}."
        )
    if default > 2 * least:
        found.append(
            f"The default start of cvxml, `auto`, leads to a larger n - f than the best run above: {default:.4g}."
        )
    return lines + bullets(found)


def mlkr(judged: list[Judged], own: float) -> list[str]:
    """Return the table of MLKR, which is not convex. own: F at the end of cvxml's own descent."""
    lines = [
        "",
        f"### MLKR, {judged[0].run['data']}",
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
    found.append(f"The descent of cvxml, from its default start with tol 1e-9, ends at F = {own:.9g}.")
    return lines + bullets(found)


def run_name(each: Judged) -> str:
    """Return the package and the settings of a run of NCA or MLKR."""
    return f"{each.run['package']}, {each.run['settings']}"
