"""The cells of Table 1 as its report sees them: the folds of each data set, method and k, beside the paper's cell."""

from __future__ import annotations

import numpy as np

from validation.experiments.page import Results
from validation.experiments.statistics import Mean, differs, mean
from validation.experiments.table1_others import MOST_AXES
from validation.experiments.table1_paper import SETS, STANDARD, printed, source
from validation.experiments.tasks import Preset, Result

OURS = ("CCCP", "SGD", "SGD printed")
OTHERS = ("Euclidean", "LMNN", "ITML", "NCA", "MLR")
COLUMNS = (*OTHERS, *OURS)
STARTS = ("CCCP from ReliefF", "CCCP from zero", "CCCP from Euclid")
FROM_I = "SGD from I"
COLLAPSED = 1e-15  # a relative gap that is rounding, where the optimum is 0
FEW_FEATURES = {"letter", "wine", "iris"}  # sets with no more features than `MOST_AXES`
REGULARIZERS = ("SGD, tr W", "SGD, ||W||^2", "CCCP, ||W - I||^2")
ROWS_OF = {"NCA": "1-NCA", **dict.fromkeys(OURS, "ours")}  # of the paper's table, where the name is another

Cell = tuple[str, str, int]  # data, method, k
Cells = dict[Cell, list[Result]]  # -> the folds


def arranged(results: Results) -> Cells:
    """The results of each data set, method and k, in the order of the folds. A task of ours has several methods."""
    found: Cells = {}
    for task, result in sorted(results, key=lambda pair: pair[0].split):
        shared = {name: value for name, value in result.items() if name != "of"}
        shared |= {"fold": task.split, "starts": task.settings.get("starts", False)}
        shared["rows"] = task.settings.get("rows", {}).get(task.method)
        for method, made in result.get("of", {task.method: {}}).items():
            each = {**shared, **made}
            names = (
                [method, f"CCCP from {each['start']}"] if method == "CCCP" and each["starts"] else [method]
            )
            for k in each["errors"]:
                for name in names:
                    found.setdefault((task.data, name, int(k)), []).append(each)
    order = (*COLUMNS, *STARTS, FROM_I, *REGULARIZERS)
    return dict(sorted(found.items(), key=lambda cell: (cell[0][0], order.index(cell[0][1]), cell[0][2])))


def folds_of(data: str, preset: Preset) -> int:
    """How many folds a set has."""
    return 1 if source(data) in STANDARD else preset.splits


def mean_of(folds: list[Result], k: int) -> Mean:
    """Over the folds; of a single one the standard error is that of a share of its test points."""
    values = [result["errors"][str(k)] for result in folds]
    if len(values) > 1:
        return mean(values)
    return Mean(values[0], float(np.sqrt(values[0] * (1 - values[0]) / folds[0]["test"])))


def paper_of(data: str, method: str, k: int) -> tuple[float, float | None] | None:
    """The cell of Table 1 that a method of ours is held against; of a set without PCA, which it has not, Euclid's."""
    if data != source(data) and method != "Euclidean":
        return None
    return printed(source(data), ROWS_OF.get(method, method), k)


def is_marked(cells: Cells, data: str, method: str, k: int) -> bool:
    """True where ours is further from the paper's than two standard errors, the paper's included where it has one.

    Euclid on a standard partition, with nothing learnt or drawn: by more than half a test point.
    """
    paper = paper_of(data, method, k)
    if paper is None or (data, method, k) not in cells:
        return False
    folds = cells[data, method, k]
    if method == "Euclidean" and source(data) in STANDARD:
        return abs(folds[0]["errors"][str(k)] - paper[0] / 100) * folds[0]["test"] > 0.5
    return differs(mean_of(folds, k), paper[0] / 100, (paper[1] or 0.0) / 100)


def rows_of(cells: Cells, data: str, method: str, k: int) -> int | None:
    """How many training points its metric was learnt from, where that is not all."""
    folds = cells.get((data, method, k), [])
    return next((each["rows"] for each in folds if each["rows"]), None)


def ended_early(folds: list[Result]) -> bool:
    """True where a fit ended before it was where it should be: SGD at the F of CCCP, NCA at its end, a gap closed."""
    return any(
        not each.get("arrived", True) or "MAX_ITER" in each.get("status", "") or left_a_gap(each)
        for each in folds
    )


def left_a_gap(fold: Result) -> bool:
    """True where a solve left a gap that is more than asked, and more than rounding of an optimum of 0."""
    return "rel_gap" in fold and not fold["proved"] and fold["rel_gap"] > COLLAPSED


def less_of(cells: Cells, data: str, method: str, k: int) -> str:
    """What its problem has less than the paper's: points, axes."""
    rows = rows_of(cells, data, method, k)
    fewer = data not in FEW_FEATURES and (data, method, k) in cells
    axes = MOST_AXES.get(method) if fewer else None
    return (f" from {rows} points" if rows else "") + (f" on {axes} axes" if axes else "")


def sets_of(cells: Cells) -> list[str]:
    """Those of the results, in the paper's order, a variant after its set, others last."""
    names = dict.fromkeys(data for data, _, _ in cells)
    order = {data: i for i, data in enumerate(SETS)}
    return sorted(names, key=lambda data: (order.get(source(data), len(SETS)), data))
