"""The cells of Table 1, ours beside the paper's, and what becomes of the paper's claims.

A cell is a data set, a method and a k. Claims are judged by the points that one metric gets wrong and another does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from validation.experiments.page import Results, counted, number, table
from validation.experiments.statistics import Mean, differs, mean
from validation.experiments.table1_others import MOST_AXES
from validation.experiments.tasks import Preset, Result
from validation.experiments.verdicts import NO_VERDICT, Pair, Verdict, holm, legend, more, pair
from validation.experiments.words import Words

WORDS = Words("table1")
SETS = ("isolet", "usps", "letter", "office_dslr", "office_amazon", "office_webcam", "office_caltech")
KS = (3, 7, 11)
STANDARD = {"isolet": 6238, "usps": 7291}  # the rows before are the training part
OURS = ("CCCP", "SGD", "SGD printed")
OTHERS = ("Euclidean", "LMNN", "ITML", "NCA", "MLR")
COLUMNS = (*OTHERS, *OURS)
STARTS = ("CCCP from ReliefF", "CCCP from zero", "CCCP from Euclid")
FROM_I = "SGD from I"
REGULARIZERS = ("SGD, tr W", "SGD, ||W||^2", "CCCP, ||W - I||^2")
COLLAPSED = 1e-15  # a relative gap that is rounding, where the optimum is 0
FEW_FEATURES = {"letter", "wine", "iris"}  # sets with no more features than `MOST_AXES`
ROWS_OF = {"NCA": "1-NCA", **dict.fromkeys(OURS, "ours")}  # of the paper's table, where the name is another
ALTERNATIVES = (
    *((start, "CCCP from Euclid", "a Euclidean start is worse, by CCCP") for start in STARTS),
    ("SGD", FROM_I, "a Euclidean start is worse, by SGD"),
    ("SGD, ||W||^2", "SGD, tr W", "the regularizer tr W is inferior, by SGD"),
    ("CCCP from zero", "CCCP, ||W - I||^2", "the regularizer ||W - I||^2 is inferior, by CCCP"),
)  # what is said to be better, and worse
ENDED = 0.001  # of F: an objective that falls by no more in the second half of the epochs is at its end
NOT_DECIDABLE = f"{NO_VERDICT} (runs did not end)"

Cell = tuple[str, str, int]  # data, method, k
Cells = dict[Cell, list[Result]]  # -> the folds
Printed = tuple[float, float | None]  # an error in per cent, and the number after ±


# --- the paper's table


def source(data: str) -> str:
    """The set that it is made from: isolet of "isolet 617"."""
    return data.split(" ")[0]


TABLE: dict[int, dict[str, dict[str, Printed]]] = {
    int(k): {
        data: {method: (*cells[i], None)[:2] for method, cells in rows.items()} for i, data in enumerate(SETS)
    }
    for k, rows in WORDS.found["paper"].items()
}
METHODS = tuple(TABLE[3]["isolet"])


def printed(data: str, method: str, k: int) -> Printed | None:
    """The paper's error and its ±, both in percent; None where the table has no such cell."""
    return TABLE.get(k, {}).get(data, {}).get(method)


def not_best(k: int) -> list[str]:
    """The sets where another method of the table has a lower error than the paper's own."""
    return [
        data
        for data, column in TABLE[k].items()
        if min(value for value, _ in column.values()) < column["ours"][0]
    ]


# --- our cells


def arranged(results: Results) -> Cells:
    """The results of each data set, method and k, in the order of the folds. A task of ours has several methods."""
    found: Cells = {}
    for task, result in sorted(results, key=lambda pair: pair[0].split):
        shared = {name: value for name, value in result.items() if name != "of"}
        shared |= {"fold": task.split, "starts": task.settings.get("starts", False)}
        shared["rows"] = task.settings.get("rows", {}).get(task.method)
        for method, made in result.get("of", {task.method: {}}).items():
            each = {**shared, **made}
            from_start = [f"CCCP from {each['start']}"] if method == "CCCP" and each["starts"] else []
            for k in each["errors"]:
                for name in (method, *from_start):
                    found.setdefault((task.data, name, int(k)), []).append(each)
    order = (*COLUMNS, *STARTS, FROM_I, *REGULARIZERS)
    return dict(sorted(found.items(), key=lambda cell: (cell[0][0], order.index(cell[0][1]), cell[0][2])))


def sets_of(cells: Cells) -> list[str]:
    """Those of the results, in the paper's order, a variant after its set, others last."""
    order = {data: i for i, data in enumerate(SETS)}
    return sorted({data for data, _, _ in cells}, key=lambda data: (order.get(source(data), len(SETS)), data))


def folds_of(data: str, preset: Preset) -> int:
    """How many folds a set has."""
    return 1 if source(data) in STANDARD else preset.splits


def runs_of(cells: Cells, method: str) -> list[Result]:
    """Every fold of a method, of all sets and k."""
    return [each for (_, name, _), folds in cells.items() if name == method for each in folds]


def mean_of(folds: list[Result], k: int) -> Mean:
    """Over the folds; of a single one the standard error is that of a share of its test points."""
    values = [result["errors"][str(k)] for result in folds]
    if len(values) > 1:
        return mean(values)
    return Mean(values[0], float(np.sqrt(values[0] * (1 - values[0]) / folds[0]["test"])))


def paper_of(data: str, method: str, k: int) -> Printed | None:
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
    """What its problem has less than the paper's: training points, axes."""
    folds = cells.get((data, method, k), [])
    rows = next((each["rows"] for each in folds if each["rows"]), None)
    axes = MOST_AXES.get(method) if folds and data not in FEW_FEATURES else None
    return (f" from {rows} points" if rows else "") + (f" on {axes} axes" if axes else "")


# --- comparisons


class Comparison(NamedTuple):
    """A method that is said to be better than another, on the points of one set."""

    data: str
    better: str
    worse: str
    k: int

    def __str__(self) -> str:
        return f"{self.data}: {self.better} before {self.worse}, k = {self.k}"


class Claim(NamedTuple):
    """The comparisons of a claim, their verdicts, and these in words: some runs decide nothing."""

    pairs: dict[Comparison, Pair]
    verdicts: dict[Comparison, Verdict]
    said: dict[Comparison, str]


def claims(cells: Cells, ks: Iterable[int]) -> dict[str, Claim]:
    """The paper's claims, with all that there is something to compare in."""
    every: dict[str, dict[Comparison, Pair]] = {}
    for claim, which in comparisons(cells, ks):
        if (two := compared(cells, which)) is not None:
            every.setdefault(claim, {})[which] = two
    found = {}
    for claim, pairs in every.items():
        verdicts = more(pairs)
        said = {which: str(verdicts[which]) if decidable(cells, which) else NOT_DECIDABLE for which in pairs}
        found[claim] = Claim(pairs, verdicts, said)
    return found


def comparisons(cells: Cells, ks: Iterable[int]) -> Iterator[tuple[str, Comparison]]:
    """Each claim and what is compared for it."""
    for data in sets_of(cells):
        for k in ks:
            for other in OTHERS:
                if not less_of(cells, data, other, k):  # else it might be better of all points and axes
                    for own in OURS[:2]:
                        which = Comparison(data, own, other, k)
                        yield f"ours has less error than the others, by {own}", which
            for better, worse, claim in ALTERNATIVES:
                yield claim, Comparison(data, better, worse, k)


def both(cells: Cells, which: Comparison) -> list[list[Result]]:
    """The runs of the two methods on the folds that both have."""
    every = [cells.get((which.data, method, which.k), []) for method in (which.better, which.worse)]
    common = {each["fold"] for each in every[0]} & {each["fold"] for each in every[1]}
    return [[each for each in of if each["fold"] in common] for of in every]


def compared(cells: Cells, which: Comparison) -> Pair | None:
    """The points that only one of the two gets wrong; None without a common fold, or of a run with itself."""
    runs = both(cells, which)
    if runs[0] == runs[1]:  # the start Euclid may be the start zero, and one run
        return None
    wrong, theirs = (
        {(each["fold"], row) for each in of for row in each["wrong"][str(which.k)]} for of in runs
    )
    return pair(wrong, theirs, sum(each["test"] for each in runs[0]))


def decidable(cells: Cells, which: Comparison) -> bool:
    """Whether both runs of two starts or regularizers by SGD came to their ends before their epochs were over.

    Else the metrics are not those of their problems or starts.
    """
    if (which.better, which.worse) not in [pair[:2] for pair in ALTERNATIVES if "by SGD" in pair[2]]:
        return True
    runs = [each for of in both(cells, which) for each in of]
    return all(each["falls"] <= ENDED if "falls" in each else each["arrived"] for each in runs)


def left_out(cells: Cells, short: bool = False) -> str:
    """Return which methods are not compared on which sets, because they learn from less; short: with their number."""
    found: dict[str, dict[str, None]] = {}
    for data, method, k in cells:
        if less_of(cells, data, method, k):
            found.setdefault(method, {})[data] = None
    every = {source(data) for data, _, _ in cells}
    said = {
        method: "all sets" if every <= sets.keys() else number(len(sets), "set") if short else ", ".join(sets)
        for method, sets in found.items()
    }
    return ("; ", ", ")[short].join(f"{method} on {sets}" for method, sets in said.items())


# --- the part of the report


def verdicts(cells: Cells, ks: Iterable[int]) -> list[str]:
    """The claims, the alternatives that the paper found inferior, and how the verdicts are found."""
    places = "; ".join(f"k = {k}: {', '.join(not_best(k))}" for k in ks if k in KS)
    return WORDS.page(
        "verdicts",
        legend=legend(),
        claims=[line for name, claim in claims(cells, ks).items() for line in of_one(cells, name, claim)],
        alternatives=alternatives(cells),
        lost=[WORDS("lost", places=places)] if places else [],
        NOT_DECIDABLE=NOT_DECIDABLE,
        left_out=f" ({left})" if (left := left_out(cells)) else "",
        further=further(cells),
    )


def of_one(cells: Cells, name: str, claim: Claim) -> list[str]:
    """A row for each comparison that decides something; how many are undecided."""
    adjusted = holm({which: two.p_value for which, two in claim.pairs.items()})
    rows = []
    for which, two in claim.pairs.items():
        if claim.verdicts[which] is not Verdict.UNDECIDED:
            interval = "{:+.2f} to {:+.2f}".format(*(100 * end for end in two.interval))
            difference = f"{100 * two.difference:+.2f}"
            rows.append([which, difference, interval, f"{adjusted[which]:.3g}", claim.said[which]])
    head = ["", "difference of errors, points", "95 %", "p (Holm)", "verdict"]
    return WORDS.page(
        "claim",
        claim=name,
        count=len(claim.pairs),
        verdicts=counted(claim.said.values()),
        more=f" {more_on(name, cells)}".rstrip(),
        rivals=by_rival(cells, claim) if "others" in name else [],
        table=table(head, rows) if rows else [],
        open=opened(name, claim),
    )


def opened(name: str, claim: Claim) -> list[str]:
    """The entry of the open observations on a claim that some comparison contradicts."""
    which = contradicting(claim)
    return [f"- {WORDS('open', said=name, which='; '.join(which))}"] if which else []


def contradicting(claim: Claim) -> list[str]:
    """Return the comparisons that contradict a claim, each with the points of error by which it does."""
    return [
        WORDS("has_more", **which._asdict(), points=100 * claim.pairs[which].difference)
        for which, said in claim.said.items()
        if said == Verdict.CONTRADICTED
    ]


def lacks_folds(cells: Cells, which: Comparison, preset: Preset) -> bool:
    """Whether a comparison is on fewer folds than the set has."""
    return len(both(cells, which)[0]) < folds_of(which.data, preset)


def by_rival(cells: Cells, claim: Claim) -> list[str]:
    """How the comparisons with each of the others end; in brackets those where its cell is not the paper's."""
    rows = []
    for other in OTHERS:
        row = []
        for kind in Verdict:
            found = [which for which in claim.pairs if which.worse == other and claim.verdicts[which] is kind]
            starred = sum(is_marked(cells, which.data, other, which.k) for which in found)
            row.append(f"{len(found)}" + (f" ({starred})" if starred else ""))
        if count := sum(which.worse == other for which in claim.pairs):
            rows.append([f"before {other}", count, *row])
    return WORDS.block("rivals", table=table(["", "comparisons", *Verdict], rows))


def same_folds(cells: Cells, first: str, second: str) -> list[tuple[Result, Result]]:
    """The runs of two methods on the same fold of a set, for the same k."""
    return [
        (each, other)
        for (data, method, k), folds in cells.items()
        if method == first
        for each in folds
        for other in cells.get((data, second, k), [])
        if each["fold"] == other["fold"]
    ]


def further(cells: Cells) -> str:
    """In how many fits the F of CCCP is less than that of SGD."""
    found = [cccp["F"] < sgd["F"] for cccp, sgd in same_folds(cells, "CCCP", "SGD")]
    return f"{sum(found)} of {len(found)}"


def more_on(claim: str, cells: Cells) -> str:
    """What else is said of a claim: of starts that are one, of runs that did not end, of steps that are not proved."""
    every = [each[2] for each in ALTERNATIVES]
    if claim == every[0]:  # one run stands under both names
        same = [each == other for each, other in same_folds(cells, "CCCP from Euclid", "CCCP from zero")]
        return WORDS("more.same_starts", same=sum(same), of=len(same))
    if claim == every[-3]:
        runs = runs_of(cells, FROM_I)
        F = [each["F"] for each in runs if not each["arrived"]]
        return WORDS("more.from_identity", arrived=len(runs) - len(F), of=len(runs), F=max(F, default=0.0))
    if claim == every[-2]:
        falls = [100 * each["falls"] for each in runs_of(cells, "SGD, tr W")]
        return WORDS("more.still_falling", least=min(falls), most=max(falls), ended=100 * ENDED)
    if claim == every[-1]:
        proved = [each["proved"] for each in runs_of(cells, "CCCP, ||W - I||^2")]
        return WORDS("more.around_identity", proved=sum(proved), of=len(proved))
    return ""


def alternatives(cells: Cells) -> list[str]:
    """The errors of the starts and regularizers that the paper found inferior, beside its own."""
    names = ("SGD", FROM_I, *STARTS, *REGULARIZERS)
    rows = []
    for data in sets_of(cells):
        for k in sorted({k for d, method, k in cells if d == data and method == REGULARIZERS[0]}):
            folds = {each["fold"] for each in cells[data, REGULARIZERS[0], k]}
            row = []
            for method in names:
                runs = [each for each in cells.get((data, method, k), []) if each["fold"] in folds]
                row.append(f"{100 * mean_of(runs, k).value:.2f}" if runs else "")
            rows.append([f"{data}, k = {k}, folds: {len(folds)}", *row])
    return WORDS.block("alternatives", table=table(["", *names], rows)) if rows else []
