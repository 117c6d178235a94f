"""What becomes of the sentences of Nguyen, Guo 2008 about Fig. 2 and Table 2, each comparison with a verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product

from validation.experiments.page import Groups, counted, table
from validation.experiments.verdicts import Difference, Verdict, difference, more, no_better

OVERLAP = 1.0  # half of the points to train on, half to test
NEAR = 0.01  # a model with a point of error more is not among the best
METRICS = ("MLSVM", "ITML", "LMNN")
OTHERS = ("kNN", "LMNN", "ITML", "SVM")  # those of the paper's Fig. 2
EXCEPTED = ("german_numeric", "LMNN")  # by the paper itself

Comparison = tuple[str, str]  # data, method
Gains = dict[Comparison, tuple[Difference, Difference]]  # over all splits of these points; for new points
Judge = Callable[[Mapping[Comparison, Difference]], dict[Comparison, Verdict]]


def claims(groups: Groups) -> list[str]:
    """Three sentences of the paper."""
    others, metrics, rivals = (list(product(groups, methods)) for methods in (OTHERS, METRICS, METRICS[1:]))
    improved = [each for each in metrics if each != EXCEPTED]

    def never_better(found: Mapping[Comparison, Difference]) -> dict[Comparison, Verdict]:
        return no_better(found, NEAR)

    return [
        "Differences of errors in points, trial by trial, with 95 % intervals for new points (Nadeau, Bengio 2003). "
        "Two verdicts: by the paper's own test, which is of the means over all splits of these very points, and for "
        "new points from the same source, of which the splits, that share most of their points, say much less. 5 % for "
        "all comparisons of a sentence together (Holm). What is undecided at this power is no evidence for either.",
        *of_one(
            '"all three metric learning methods (MLSVM, ITML and LMNN) significantly improved the KNN classification '
            'accuracy", but for LMNN on german',
            "kNN's error less that of the metric.",
            {each: gain(groups, each[0], "kNN", each[1]) for each in improved},
            more,
        ),
        *of_one(
            '"MLSVM is consistently among the best performing methods across all datasets"',
            "MLSVM's error less that of the other. Contradicted where the other is significantly better, supported "
            f"where it is less than {100 * NEAR:g} point better for sure.",
            {each: gain(groups, each[0], "MLSVM", each[1]) for each in others},
            never_better,
        ),
        *of_one(
            '"often significantly better than" LMNN and ITML',
            "The other's error less that of MLSVM.",
            {each: gain(groups, each[0], each[1], "MLSVM") for each in rivals},
            more,
        ),
    ]


def gain(groups: Groups, data: str, first: str, second: str) -> tuple[Difference, Difference]:
    """How much more error the first method has."""
    a, b = ([result["error"] for result in groups[data][method]] for method in (first, second))
    return difference(a, b, 0.0), difference(a, b, OVERLAP)


def of_one(sentence: str, what: str, found: Gains, judge: Judge) -> list[str]:
    """A sentence, how often it is what, and a table: sets below each other, methods beside each other."""
    here, new = (judge({name: both[at] for name, both in found.items()}) for at in (0, 1))
    sets, methods = (list(dict.fromkeys(each[at] for each in found)) for at in (0, 1))

    def cell(name: Comparison) -> str:
        if name not in found:
            return ""
        mean, (low, high) = (100 * found[name][1].mean, (100 * end for end in found[name][1].interval))
        words = " / ".join(of[name].split(" ")[0] for of in (here, new))
        return f"{round(mean, 2) + 0:+.2f} ({low:+.2f} to {high:+.2f}) {words}"

    rows = [[data, *(cell((data, method)) for method in methods)] for data in sets]
    counts = [counted(of[name] for name in found) for of in (here, new)]
    said = f"**{sentence}** {what} {len(found)} comparisons. Here: {counts[0]}. For new points: {counts[1]}."
    return ["", said, "", *table(["data", *methods], rows)]
