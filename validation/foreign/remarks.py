"""What the tables of the report do not say: sentences on single runs, each there only where it holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from mapping import Run, called, least_g, says_converged

if TYPE_CHECKING:
    from judge import Judged

TOLS = ("convergence_tol", "tol", "tolerance", "epsilon")  # what packages call it
SMALL = 1e-6  # of the largest entry: printed as 0


def remarks(judged: list[Judged]) -> list[str]:
    """Of the convex runs on one data set."""
    return [
        *converged(judged),
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
    """What `check` says the refuted matrices solve instead, or that it names nothing."""
    refuted = [each for each in judged if each.normal.verdict.value == "refuted"]
    found = [f"{name(each)}: {line}." for each in refuted for line in each.normal.diagnosis]
    nothing = sum(not each.normal.diagnosis for each in refuted)
    if nothing:
        found.append(
            f"Diagnosis: of {len(refuted)} refuted matrices {nothing} solve no misreading that `check` knows."
        )
    return found


def name(each: Judged) -> str:
    """A run in words."""
    return f"{called(each.run)}, {each.run['settings']}"


def is_tight(each: Judged) -> bool:
    """Whether it repeats another run with a smaller tolerance."""
    return str(each.run["settings"]).endswith(", tight")


def has_tol(run: Run) -> bool:
    """Whether one is recorded."""
    return any(key in run["params"] for key in TOLS)


def tol_of(run: Run) -> float:
    """The tolerance it was called with."""
    return float(next(run["params"][key] for key in TOLS if key in run["params"]))


def converged(judged: list[Judged]) -> list[str]:
    """Runs that say so and are not optimal."""
    found = [
        f"{name(each)} ({each.figures.witness.better_by:.6g})"
        for each in judged
        if says_converged(each.run)
        and each.normal.verdict.value in ("close", "refuted")
        and each.figures.witness is not None
    ]
    said = (
        "Say that they converged, and are close or refuted; in brackets, how much better a feasible metric is"
    )
    return [f"{said}: {'; '.join(found)}."] if found else []


def at_the_limit(judged: list[Judged]) -> list[str]:
    """Runs that say they converged where max_iter ended them; n_iter_ counts from 0 in these packages."""
    return [
        f'{name(each)}: prints "{each.run["printed"][-1]}" at its limit of {each.run["params"]["max_iter"]}; its tol '
        f"is {tol_of(each.run):g}."
        for each in judged
        if says_converged(each.run)
        and each.run["printed"]
        and each.run["n_iter_"] == each.run["params"]["max_iter"] - 1
    ]


def starts(judged: list[Judged]) -> list[str]:
    """Runs that return the matrix they started from."""
    return [
        f"{name(each)}: `converged_` is {each.run['converged_']}, and the matrix returned is its start, the identity."
        for each in judged
        if each.run["params"].get("init") == "identity"
        and "converged_" in each.run
        and np.array_equal(np.array(each.run["mahalanobis"]), np.eye(len(each.asked.metric)))
    ]


def budgets(judged: list[Judged]) -> list[str]:
    """How far MMC is beyond its own constraint."""
    of_mmc = [each for each in judged if each.asked.method == "mmc"]
    over = [(each, each.asked.spent / each.run["own_objective"]["t"][0]) for each in of_mmc]
    found = [f"{name(each)} {ratio:.4g}" for each, ratio in over if ratio > 1 + 1e-6]
    return (
        [f"Σ_similar d² over its own limit t: {'; '.join(found)}. Judged is M scaled back."] if found else []
    )


def unchanged(judged: list[Judged]) -> list[str]:
    """Tolerances that change no bit of the matrix."""
    runs = {name(each): each.run for each in judged}
    found = []
    for named, run in runs.items():
        tight = runs.get(f"{named}, tight")
        if tight is not None and tight["mahalanobis"] == run["mahalanobis"]:
            before = f" in place of {tol_of(run):g}" if has_tol(run) else ""
            found.append(f"{named}: tol {tol_of(tight):g}{before} changes no bit of the matrix.")
    return found


def own_bounds(each: Judged) -> list[str]:
    """ITML's percentiles of plain distances."""
    if each.squares is None or is_tight(each):
        return []
    u, l = each.run["bounds_"]
    return [
        f"{name(each)}: {u:.4g} and {l:.4g} are percentiles of plain distances (itml.py 44-45), and squared distances "
        f"are held to them. For {u**2:.4g} and {l**2:.4g}, their squares, the same matrix is "
        f"{each.squares.verdict.value}, with a gap of {each.squares.rel_gap:.2g} relative to the optimum."
    ]


def diagonal(each: Judged) -> list[str]:
    """Both functions of the diagonal learner at its matrix, and what is attained."""
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
        f"{name(each)}: g = Σ_similar d² - c log Σ_dissimilar d, c = {c:g}, is {returned:.8g} at the matrix returned. "
        f"Its minimum is proved to lie in [{low:.9g}, {high:.9g}]; {better:.8g} is attained at diag({listed}), "
        "entries below 1e-6 of the largest written as 0. With the 1e-6 that the code has under each root: "
        f"{own['newton']:.8g} returned, {with_root:.8g} there.",
        f"At a minimum of g, Σ_similar d² is {c / 2:g}; here it is {spent:.6g}. The table judges the direction alone. "
        f"What the line search lowers, Σ_similar d² + c log Σ_dissimilar d, is {own['line_search']:.8g} at the "
        "matrix returned; both terms grow with M, so that it is least at M = 0.",
    ]


def pinned(each: Judged) -> list[str]:
    """Whether the run is what the committed test pins."""
    if "pinned" not in each.run:
        return []
    off = np.abs(np.array(each.run["pinned"]) - np.array(each.run["mahalanobis"])).max()
    return [
        f"{name(each)}: differs from the matrix pinned there by {off:.1e} at most (it is pinned to 6 decimals)."
    ]
