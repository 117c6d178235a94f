"""What becomes of the sentences of Nguyen, Guo 2008 about Fig. 2 and Table 2, each comparison with a verdict."""

from __future__ import annotations

from itertools import product

from validation.experiments.margins import Compared, Judge, more_than, never_less
from validation.experiments.page import Groups, counted, table

OVERLAP = 1.0  # half of the points to train on, half to test
NEAR = 0.01  # a model with a point of error more is not among the best
METRICS = ("MLSVM", "ITML", "LMNN")
OTHERS = ("kNN", "LMNN", "ITML", "SVM")  # those of the paper's Fig. 2
EXCEPTED = ("german_numeric", "LMNN")  # by the paper itself

Comparison = tuple[str, str]  # data, method
Gains = dict[Comparison, Compared]  # for new points


def claims(groups: Groups) -> list[str]:
    """Three sentences of the paper."""
    others, metrics, rivals = (list(product(groups, methods)) for methods in (OTHERS, METRICS, METRICS[1:]))
    improved = [each for each in metrics if each != EXCEPTED]

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
            lambda found: more_than(found, 0.0),
        ),
        *of_one(
            '"MLSVM is consistently among the best performing methods across all datasets"',
            "The other's error less that of MLSVM. Contradicted where the other is significantly better, however "
            f"little; supported where it is significantly not {100 * NEAR:g} point better.",
            {each: gain(groups, each[0], each[1], "MLSVM") for each in others},
            lambda found: never_less(found, NEAR),
        ),
        *of_one(
            '"often significantly better than" LMNN and ITML',
            "The other's error less that of MLSVM.",
            {each: gain(groups, each[0], each[1], "MLSVM") for each in rivals},
            lambda found: more_than(found, 0.0),
        ),
    ]


def gain(groups: Groups, data: str, first: str, second: str) -> Compared:
    """How much more error the first method has."""
    a, b = ([result["error"] for result in groups[data][method]] for method in (first, second))
    return Compared(a, b, OVERLAP)


def of_one(sentence: str, what: str, found: Gains, judge: Judge[Comparison]) -> list[str]:
    """A sentence, how often it is what, and a table: sets below each other, methods beside each other."""
    here, new = judge({name: each._replace(overlap=0.0) for name, each in found.items()}), judge(found)
    sets, methods = (list(dict.fromkeys(each[at] for each in found)) for at in (0, 1))

    def cell(name: Comparison) -> str:
        if name not in found:
            return ""
        apart = found[name].beyond()
        mean, (low, high) = (100 * apart.mean, (100 * end for end in apart.interval))
        words = " / ".join(of[name].split(" ")[0] for of in (here, new))
        return f"{round(mean, 2) + 0:+.2f} ({low:+.2f} to {high:+.2f}) {words}"

    rows = [[data, *(cell((data, method)) for method in methods)] for data in sets]
    counts = [counted(of[name] for name in found) for of in (here, new)]
    said = f"**{sentence}** {what} {len(found)} comparisons. Here: {counts[0]}. For new points: {counts[1]}."
    return ["", said, "", *table(["data", *methods], rows)]
