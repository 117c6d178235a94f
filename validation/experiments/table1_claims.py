"""What becomes of the paper's claims on Table 1, by the points that one metric gets wrong and another does not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from validation.experiments.page import HOW, counted, table
from validation.experiments.table1_cells import (
    FROM_I,
    OTHERS,
    OURS,
    REGULARIZERS,
    STARTS,
    Cells,
    is_marked,
    less_of,
    sets_of,
)
from validation.experiments.table1_paper import KS, not_best
from validation.experiments.verdicts import NO_VERDICT, Pair, Verdict, holm, legend, pair, verdicts

ALTERNATIVES = (
    *((start, "CCCP from Euclid", "a Euclidean start is worse, by CCCP") for start in STARTS),
    ("SGD", FROM_I, "a Euclidean start is worse, by SGD"),
    ("SGD, ||W||^2", "SGD, tr W", "the regularizer tr W is inferior, by SGD"),
    ("CCCP from zero", "CCCP, ||W - I||^2", "the regularizer ||W - I||^2 is inferior, by CCCP"),
)  # what is said to be better, and worse
BY_SGD = {claim: (better, worse) for better, worse, claim in ALTERNATIVES if "by SGD" in claim}
ENDED = 0.001  # of F: an objective that falls by no more in the second half of the epochs is at its end
NOT_DECIDABLE = f"{NO_VERDICT} (runs did not end)"


def claims(cells: Cells, ks: Iterable[int]) -> Iterator[tuple[str, str, str, int, Pair]]:
    """The claim, the method that is said to be better, the other, k, and the pair on the points of one set."""
    for data in sets_of(cells):
        for k in ks:
            for other in OTHERS:
                if less_of(cells, data, other, k):  # it might be better of all points and axes
                    continue
                for own in OURS[:2]:
                    claim = f"ours has less error than the others, by {own}"
                    yield from _compared(cells, claim, data, k, own, other)
            for better, worse, claim in ALTERNATIVES:
                yield from _compared(cells, claim, data, k, better, worse)


def arrived(cells: Cells, method: str, data: str, k: int, folds: set[int]) -> bool:
    """Whether each of these folds' runs by SGD came to its end before its epochs were over."""
    runs = [each for each in cells[data, method, k] if each["fold"] in folds]
    return all(each["falls"] <= ENDED if "falls" in each else each["arrived"] for each in runs)


def decidable(cells: Cells, claim: str, data: str, k: int) -> bool:
    """Whether both runs of a comparison by SGD arrived: else the metrics are not those of their problems or starts."""
    if claim not in BY_SGD:
        return True
    methods = BY_SGD[claim]
    better, worse = ({each["fold"] for each in cells[data, method, k]} for method in methods)
    return all(arrived(cells, method, data, k, better & worse) for method in methods)


def left_out(cells: Cells) -> str:
    """Which methods are not compared on which sets, as they learn from less."""
    found: dict[str, dict[str, None]] = {}
    for data, method, k in cells:
        if less_of(cells, data, method, k):
            found.setdefault(method, {})[data] = None
    said = "; ".join(f"{method} on {', '.join(sets)}" for method, sets in found.items())
    return f" ({said})" if said else ""


def _compared(
    cells: Cells, claim: str, data: str, k: int, better: str, worse: str
) -> Iterator[tuple[str, str, str, int, Pair]]:
    every = [cells.get((data, method, k), []) for method in (better, worse)]
    common = {each["fold"] for each in every[0]} & {each["fold"] for each in every[1]}
    one, other = ([each for each in of if each["fold"] in common] for of in every)
    if common and one != other:  # the start Euclid may be the start zero, and one run
        wrong, theirs = (
            {(each["fold"], row) for each in of for row in each["wrong"][str(k)]} for of in (one, other)
        )
        points = sum(each["test"] for each in one)
        yield claim, f"{data}: {better} before {worse}", data, k, pair(wrong, theirs, points)


def counts_of(cells: Cells, ks: Iterable[int]) -> dict[str, list[str]]:
    """Return the verdicts on the comparisons of each claim."""
    found = list(claims(cells, ks))
    every = {}
    for claim in dict.fromkeys(each[0] for each in found):
        own = [each for each in found if each[0] == claim]
        verdict = verdicts({(what, k): two for _, what, _, k, two in own})
        every[claim] = [
            str(verdict[what, k]) if decidable(cells, claim, data, k) else NOT_DECIDABLE
            for _, what, data, k, _ in own
        ]
    return every


def claims_table(cells: Cells, ks: Iterable[int]) -> list[str]:
    """A row for each comparison that decides something; how many are undecided."""
    found = list(claims(cells, ks))
    how = [
        *["", HOW, ""],
        "Each point is tested once, by a metric that was learnt without it. Two metrics are compared by McNemar's "
        "exact test on the points that only one of them classifies wrongly, in the folds that both have. The intervals "
        "(95 %) are for new points and these training sets. Significance is at 5 % for all comparisons of a claim "
        "together (Holm). A comparison that is not significant is undecided. Undecided rows are counted, not shown.",
        "",
        f"A comparison of two starts or two regularizers by SGD has *{NOT_DECIDABLE}* unless all its runs arrived. "
        "Otherwise the difference may be that of two numbers of epochs. A metric that was learnt from fewer points or "
        f"axes is not compared{left_out(cells)}. The paper's own algorithm is SGD. CCCP minimizes the same F, and "
        f"reaches a smaller F in {further(cells)} fits.",
    ]
    lines = legend()
    for claim in dict.fromkeys(each[0] for each in found):
        pairs = {(what, k): two for c, what, _, k, two in found if c == claim}
        verdict, adjusted = verdicts(pairs), holm({name: two.p_value for name, two in pairs.items()})
        open_ones = {
            (what, k) for c, what, data, k, _ in found if c == claim and not decidable(cells, claim, data, k)
        }
        said = {name: NOT_DECIDABLE if name in open_ones else str(verdict[name]) for name in pairs}
        rows = [
            [
                f"{what}, k = {k}",
                f"{100 * pairs[what, k].difference:+.2f}",
                "{:+.2f} to {:+.2f}".format(*(100 * end for end in pairs[what, k].interval)),
                f"{adjusted[what, k]:.3g}",
                said[what, k],
            ]
            for what, k in pairs
            if verdict[what, k] is not Verdict.UNDECIDED
        ]
        count = counted(said[name] for name in pairs)
        more = f" {MORE[claim](cells)}" if claim in MORE else ""
        lines += [
            *([""] if lines[-1] else []),
            f"**The paper: {claim}.** {len(pairs)} comparisons: {count}.{more}",
        ]
        if "others" in claim:
            lines += ["", *by_rival(verdict, pairs, cells)]
        if rows:
            head = ["", "difference of errors, points", "95 %", "p (Holm)", "verdict"]
            lines += ["", *table(head, rows)]
    lines += alternatives_table(cells)
    places = "; ".join(f"k = {k}: {', '.join(not_best(k))}" for k in ks if k in KS)
    if places:
        lines += ["", f"In the paper's own table another method is better than its own ({places})."]
    return [*lines, *how]


def by_rival(
    verdict: dict[tuple[str, int], Verdict], pairs: dict[tuple[str, int], Pair], cells: Cells
) -> list[str]:
    """How the comparisons with each of the others end; in brackets those where its cell is not the paper's."""
    rows = []
    for other in OTHERS:
        names = [name for name in pairs if name[0].endswith(f"before {other}")]
        marked = {name for name in names if is_marked(cells, name[0].split(":")[0], other, name[1])}

        def count(kind: Verdict, names: list[tuple[str, int]] = names, marked: Any = marked) -> str:
            found = [name for name in names if verdict[name] is kind]
            starred = len(marked.intersection(found))
            return f"{len(found)}" + (f" ({starred})" if starred else "")

        if names:
            rows.append([f"before {other}", len(names), *map(count, Verdict)])
    return [
        *table(["", "comparisons", *(kind.value for kind in Verdict)], rows),
        "",
        "In brackets: the number of these for which the cell of the other method has an asterisk above. The paper may "
        "have compared with another metric there.",
    ]


def further(cells: Cells) -> str:
    """In how many fits the F of CCCP is less than that of SGD."""
    found = [
        cccp["F"] < sgd["F"]
        for (data, method, k), folds in cells.items()
        if method == "CCCP"
        for cccp in folds
        for sgd in cells.get((data, "SGD", k), [])
        if cccp["fold"] == sgd["fold"]
    ]
    return f"{sum(found)} of {len(found)}"


def from_identity(cells: Cells) -> str:
    """How often SGD from I came to its end."""
    runs = [each for (_, method, _), folds in cells.items() if method == FROM_I for each in folds]
    return (
        f"From I it arrived at the F of CCCP in {sum(each['arrived'] for each in runs)} of {len(runs)} fits before its "
        "epochs were over. In the others F / (C n) is up to "
        f"{max((each['F'] for each in runs if not each['arrived']), default=0.0):,.0f}, while W = 0 has 1. Both have "
        "the same limit of epochs. With more epochs the start may matter less."
    )


def still_falling(cells: Cells) -> str:
    """How far SGD was from its end with tr W."""
    found = [
        100 * each["falls"]
        for (_, method, _), folds in cells.items()
        if method == "SGD, tr W"
        for each in folds
    ]
    return (
        f"Its objective still fell by {min(found):.1f} to {max(found):.1f} % in the second half of the epochs. A "
        f"run is at its end if its objective falls by at most {100 * ENDED:g} %."
    )


def around_identity(cells: Cells) -> str:
    """Whether the steps of CCCP are proved."""
    found = [
        each for (_, method, _), folds in cells.items() if method == "CCCP, ||W - I||^2" for each in folds
    ]
    proved = sum(each["proved"] for each in found)
    return f"In {proved} of {len(found)} fits with ||W - I||^2 its own step is proved to gain at most the amount asked."


def same_starts(cells: Cells) -> str:
    """In how many fits the start Euclid is the start zero, so that one run stands under both names."""
    found = [
        each == other
        for (data, method, k), folds in cells.items()
        if method == "CCCP from Euclid"
        for each in folds
        for other in cells.get((data, "CCCP from zero", k), [])
        if each["fold"] == other["fold"]
    ]
    return (
        f"In {sum(found)} of {len(found)} fits nearly nothing of Euclid is left at its best multiple, so *Euclid* and "
        "*zero* are the same start. These two are not compared with each other. The comparison is then of ReliefF with "
        "the direction of Euclid."
    )


MORE: dict[str, Callable[[Cells], str]] = {
    ALTERNATIVES[0][2]: same_starts,
    ALTERNATIVES[-3][2]: from_identity,
    ALTERNATIVES[-2][2]: still_falling,
    ALTERNATIVES[-1][2]: around_identity,
}


def alternatives_table(cells: Cells) -> list[str]:
    """The errors of the starts and regularizers that the paper found inferior, beside its own."""
    names = ("SGD", FROM_I, *STARTS, *REGULARIZERS)
    rows = []
    for data in sets_of(cells):
        for k in sorted({k for d, method, k in cells if d == data and method == REGULARIZERS[0]}):
            folds = {each["fold"] for each in cells[data, REGULARIZERS[0], k]}

            def error(method: str, data: str = data, k: int = k, folds: set[int] = folds) -> str:
                found = [each for each in cells.get((data, method, k), []) if each["fold"] in folds]
                return (
                    f"{100 * sum(each['errors'][str(k)] for each in found) / len(found):.2f}" if found else ""
                )

            rows.append([f"{data}, k = {k}, folds: {len(folds)}", *map(error, names)])
    if not rows:
        return []
    return [
        "",
        "**Errors in per cent from other starts, and with other regularizers**, as means over the folds that have "
        "these runs. *SGD* and *CCCP from ...* have ||W||^2 and one C; *from I* starts at the identity itself. Each "
        "other regularizer has its own C, and the start *zero*. Empty cells are not run yet.",
        "",
        *table(["", *names], rows),
    ]
