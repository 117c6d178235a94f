"""Sentences on single runs, which the tables of the report do not have. Each appears only if it holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from mapping import Run, called, least_g, says_converged

if TYPE_CHECKING:
    from judge import Judged

TOLS = ("convergence_tol", "tol", "tolerance", "epsilon")  # names of the tolerance in the packages
SMALL = 1e-6  # smaller entries, as a share of the largest, are printed as 0


def remarks(judged: list[Judged]) -> list[str]:
    """Return the remarks on the convex runs of one data set."""
    return [
        *at_the_limit(judged),
        *starts(judged),
        *budgets(judged),
        *unchanged(judged),
        *(line for each in judged for line in own_bounds(each)),
        *(line for each in judged for line in diagonal(each)),
        *(line for each in judged for line in pinned(each)),
        *diagnoses(judged),
    ]


def diagnoses(judged: list[Judged]) -> list[str]:
    """Name the mistakes that explain refuted matrices, fully or partly, and count the matrices without one."""
    refuted = [each for each in judged if each.normal.verdict.value == "refuted"]
    found = [f"{name(each)}: {line}." for each in refuted for line in each.normal.diagnosis]
    found += [
        f"{name(each)}: nearly {near.sentence}. The relative gap is {near.share:.1e} for this mistake, and "
        f"{near.asked:.1e} for the problem of the learner."
        for each in refuted
        for near in each.normal.nearest
    ]
    unexplained = sum(not each.normal.diagnosis and not each.normal.nearest for each in refuted)
    if unexplained:
        found.append(
            f"`check` compared the {len(refuted)} refuted matrices with its list of common mistakes. For "
            f"{unexplained} of them, it found no mistake that explains the matrix."
        )
    return found


def name(each: Judged) -> str:
    """Return the learner and the settings of a run."""
    return f"{called(each.run)}, {each.run['settings']}"


def is_tight(each: Judged) -> bool:
    """Return True if the run repeats another run with a smaller tolerance."""
    return str(each.run["settings"]).endswith(", tight")


def has_tol(run: Run) -> bool:
    """Return True if a tolerance is recorded."""
    return any(key in run["params"] for key in TOLS)


def tol_of(run: Run) -> float:
    """Return the tolerance of the run."""
    return float(next(run["params"][key] for key in TOLS if key in run["params"]))


def converged(judged: list[Judged]) -> list[tuple[str, str]]:
    """Return the runs that report convergence and are not optimal, each with the improvement by a feasible metric."""
    return [
        (name(each), f"{each.figures.witness.better_by:.6g}")
        for each in judged
        if says_converged(each.run)
        and each.normal.verdict.value in ("close", "refuted")
        and each.figures.witness is not None
    ]


def at_the_limit(judged: list[Judged]) -> list[str]:
    """Name runs that report convergence but were ended by max_iter; n_iter_ counts from 0 in these packages."""
    return [
        f'{name(each)}: the package prints "{each.run["printed"][-1]}" at its limit of '
        f"{each.run['params']['max_iter']} iterations. Its tol is {tol_of(each.run):g}."
        for each in judged
        if says_converged(each.run)
        and each.run["printed"]
        and each.run["n_iter_"] == each.run["params"]["max_iter"] - 1
    ]


def starts(judged: list[Judged]) -> list[str]:
    """Name runs that return the matrix they started from."""
    return [
        f"{name(each)}: `converged_` is {each.run['converged_']}, but the returned matrix is the start, the identity."
        for each in judged
        if each.run["params"].get("init") == "identity"
        and "converged_" in each.run
        and np.array_equal(np.array(each.run["mahalanobis"]), np.eye(len(each.asked.metric)))
    ]


def budgets(judged: list[Judged]) -> list[str]:
    """Name runs of MMC that violate MMC's own constraint, and by how much."""
    of_mmc = [each for each in judged if each.asked.method == "mmc"]
    over = [(each, each.asked.spent / each.run["own_objective"]["t"][0]) for each in of_mmc]
    return [
        f"{name(each)}: Σ_similar d² is {ratio:.4g} times its own limit t. We scaled M back before we judged it."
        for each, ratio in over
        if ratio > 1 + 1e-6
    ]


def unchanged(judged: list[Judged]) -> list[str]:
    """Name runs for which a smaller tolerance gives the same matrix."""
    runs = {name(each): each.run for each in judged}
    found = []
    for named, run in runs.items():
        tight = runs.get(f"{named}, tight")
        if tight is not None and tight["mahalanobis"] == run["mahalanobis"]:
            before = f" instead of {tol_of(run):g}" if has_tol(run) else ""
            found.append(f"{named}: tol {tol_of(tight):g}{before} gives the same matrix, bit for bit.")
    return found


def own_bounds(each: Judged) -> list[str]:
    """Describe the bounds that ITML chooses, which are percentiles of plain distances."""
    if each.squares is None or is_tight(each):
        return []
    u, l = each.run["bounds_"]
    return [
        f"{name(each)}: the bounds {u:.4g} and {l:.4g} are percentiles of plain distances (itml.py 44-45). ITML "
        f"compares squared distances with them. With the squares of these bounds, {u**2:.4g} and {l**2:.4g}, the "
        f"same matrix is {each.squares.verdict.value}, and its relative gap is {each.squares.rel_gap:.2g}."
    ]


def diagonal(each: Judged) -> list[str]:
    """Describe both functions of the diagonal learner at its matrix, and the least value of the first."""
    figures, witness = each.figures, each.figures.witness
    if each.g is None or witness is None or is_tight(each):
        return []
    c, spent = each.run["params"]["diagonal_c"], each.asked.spent
    low, high = (least_g(-value, c) for value in (figures.lower_bound, figures.reference_objective))
    w = np.diag(witness.metric) * c / 2
    listed = ", ".join(f"{value:.6g}" if value > SMALL * w.max() else "0" for value in w)
    own = {key: values[1] for key, values in each.run["own_objective"].items()}
    returned, better, with_root = each.g
    return [
        f"{name(each)}: let g = Σ_similar d² - c log Σ_dissimilar d, with c = {c:g}. g of the returned matrix is "
        f"{returned:.8g}. The minimum of g is proved to lie in [{low:.9g}, {high:.9g}]. The matrix diag({listed}) "
        f"attains {better:.8g}; entries below 1e-6 of the largest are written as 0. The code adds 1e-6 under each "
        f"root. Then g is {own['newton']:.8g} for the returned matrix and {with_root:.8g} for the other one.",
        f"{name(each)}: at a minimum of g, Σ_similar d² is {c / 2:g}. For the returned matrix it is {spent:.6g}. The "
        "table judges only the direction of this matrix. The line search lowers Σ_similar d² + c log Σ_dissimilar "
        f"d, which is {own['line_search']:.8g} for the returned matrix. Both of its terms grow with M, so it is "
        "least at M = 0.",
    ]


def pinned(each: Judged) -> list[str]:
    """Compare the run with the matrix in the committed test."""
    if "pinned" not in each.run:
        return []
    off = np.abs(np.array(each.run["pinned"]) - np.array(each.run["mahalanobis"])).max()
    return [
        f"{name(each)}: the test expects a matrix with 6 decimals. The returned matrix differs from it by at most "
        f"{off:.1e}."
    ]
