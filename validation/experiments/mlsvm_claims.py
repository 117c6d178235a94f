"""What becomes of the sentences of Nguyen, Guo 2008 about Fig. 2 and Table 2, each comparison with its verdicts."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

from validation.experiments.page import HOW, Groups, counted, table
from validation.experiments.statistics import mean
from validation.experiments.verdicts import Compared, Judge, Verdict, legend, letters, more_than, never_less

OVERLAP = 1.0  # half of the points to train on, half to test
NEAR = 0.01  # a model with a point of error more is not among the best, and not competitive
METRICS = ("MLSVM", "ITML", "LMNN")
EXCEPTED = ("german_numeric", "LMNN")  # by the paper itself
EXACT = "Crammer-Singer"  # the paper's SVM, which not every preset has

Comparison = tuple[str, str]  # data, method
Gains = dict[Comparison, Compared]  # for new points
Found = dict[Comparison, Verdict]


class Sentence(NamedTuple):
    """A sentence of the paper, what is compared for it, the comparisons, and how they are judged."""

    said: str
    means: str
    found: Gains
    judge: Judge[Comparison]


TESTS = ("the paper's own test", "with Holm", "for new points with Holm")


def claims(groups: Groups) -> list[str]:
    """The verdicts on four sentences of the paper, a table each."""
    return [
        of_the_svm(svm_of(groups)),
        *(line for sentence in sentences(groups) for line in of_one(sentence)),
        *["", HOW, ""],
        "The tables show differences of errors in points, trial by trial, with 95 % intervals for new points (Nadeau, "
        "Bengio 2003). Each comparison has three verdicts:",
        "",
        "1. The first verdict is by the paper's own test: a paired t-test over the splits of these very points, at 5 % "
        "for each comparison by itself.",
        "2. The second verdict is by the same test, at 5 % for all comparisons of a sentence together (Holm).",
        "3. The third verdict is for new points from the same source, with Holm too. The splits share most of their "
        "points, so they give much less evidence about new points.",
        "",
        "Margins of a point are ours, not the paper's.",
    ]


def against(groups: Groups) -> str:
    """Return a sentence: in how many comparisons each sentence of the paper is contradicted, by each of the tests."""
    said = []
    for sentence in sentences(groups):
        verdicts = by_each_test(sentence.found, sentence.judge)
        own, holm, new = (
            sum(each is Verdict.CONTRADICTED for each in found.values()) for found in verdicts.values()
        )
        if own or holm:
            of = len(sentence.found)
            said.append(
                f"{sentence.said} ({own} of {of} comparisons, with Holm {holm}, for new points {new})"
            )
    head = (
        f"Comparisons contradict {len(said)} of {len(sentences(groups))} sentences, by the paper's own test"
    )
    return f"{head}{': ' if said else ''}{'; '.join(said)}."


def sentences(groups: Groups) -> list[Sentence]:
    """Return four sentences of the paper with their comparisons."""
    svm = svm_of(groups)
    others = product(groups, candidates(groups)[:-1])
    metrics, rivals = (list(product(groups, methods)) for methods in (METRICS, METRICS[1:]))
    improved = [each for each in metrics if each != EXCEPTED]
    return [
        Sentence(
            '"all three metric learning methods (MLSVM, ITML and LMNN) significantly improved the KNN classification '
            'accuracy", but for LMNN on german',
            "kNN's error minus that of the metric.",
            {each: gain(groups, each[0], "kNN", each[1]) for each in improved},
            lambda found: more_than(found, 0.0),
        ),
        Sentence(
            '"MLSVM is consistently among the best performing methods across all datasets"',
            "The other's error minus that of MLSVM. Contradicted if the other is significantly better by any amount; "
            f"supported if it is significantly less than {100 * NEAR:g} point better.",
            {each: gain(groups, each[0], each[1], "MLSVM") for each in others},
            lambda found: never_less(found, NEAR),
        ),
        Sentence(
            '"often significantly better than" LMNN and ITML',
            "The other's error minus that of MLSVM.",
            {each: gain(groups, each[0], each[1], "MLSVM") for each in rivals},
            lambda found: more_than(found, 0.0),
        ),
        Sentence(
            '"KNN, as a simple model, can achieve competitive or superior classification performance compared with '
            'SVM, if a proper distance metric can be learned"',
            "The SVM's error minus that of MLSVM, the paper's evidence for the sentence. Supported if MLSVM is "
            f"significantly less than {100 * NEAR:g} point worse, contradicted if it is significantly more than "
            f"{100 * NEAR:g} point worse. The column above shows if it is worse by any amount. "
            f"{lower_means(groups, svm)}",
            {(data, svm): gain(groups, data, svm, "MLSVM") for data in groups},
            lambda found: more_than(found, -NEAR),
        ),
    ]


def svm_of(groups: Groups) -> str:
    """What is taken as the paper's SVM: its own where it was run on every set, else libsvm's."""
    return EXACT if all(EXACT in methods for methods in groups.values()) else "SVM"


def candidates(groups: Groups) -> tuple[str, ...]:
    """The models that the paper compares in Fig. 2 and Table 2, MLSVM last."""
    return ("kNN", "LMNN", "ITML", svm_of(groups), "MLSVM")


def of_the_svm(svm: str) -> str:
    """Which SVM the sentences are compared with."""
    if svm == EXACT:
        return "The paper's SVM is that of Crammer and Singer: here and in the lists below it is *Crammer-Singer*."
    return "The paper's SVM is that of Crammer and Singer. It was not run, so libsvm's *SVM* stands for it."


def lower_means(groups: Groups, svm: str) -> str:
    """On how many sets the SVM has less mean error than MLSVM, and than each of the paper's metrics."""

    def mean_of(data: str, method: str) -> float:
        return mean([result["error"] for result in groups[data][method]]).value

    below = [[mean_of(data, svm) < mean_of(data, method) for method in METRICS] for data in groups]
    return (
        f"The SVM has less mean error than MLSVM on {sum(each[0] for each in below)} of {len(groups)} sets, "
        f"and less than each of {', '.join(METRICS)} on {sum(map(all, below))}."
    )


def gain(groups: Groups, data: str, first: str, second: str) -> Compared:
    """How much more error the first method has."""
    a, b = ([result["error"] for result in groups[data][method]] for method in (first, second))
    return Compared(a, b, OVERLAP)


def by_each_test(found: Gains, judge: Judge[Comparison]) -> dict[str, Found]:
    """The verdicts by the paper's test, by it with Holm, and for new points with Holm."""
    here = {name: each._replace(overlap=0.0) for name, each in found.items()}
    return {
        "By the paper's own test": {name: judge({name: each})[name] for name, each in here.items()},
        "With Holm": judge(here),
        "For new points, with Holm": judge(found),
    }


def of_one(sentence: Sentence) -> list[str]:
    """Return a sentence, its counts of verdicts, and a table: sets below each other, methods beside each other."""
    said, means, found, judge = sentence
    verdicts = by_each_test(found, judge)
    sets, methods = (list(dict.fromkeys(each[at] for each in found)) for at in (0, 1))

    def cell(name: Comparison) -> str:
        if name not in found:
            return ""
        apart = found[name].beyond()
        points, (low, high) = (100 * apart.mean, (100 * end for end in apart.interval))
        codes = letters(*(of[name] for of in verdicts.values()))
        return f"{round(points, 2) + 0:+.2f} ({low:+.2f} to {high:+.2f}) {codes}"

    rows = [[data, *(cell((data, method)) for method in methods)] for data in sets]
    counts = [f"{test}: {counted(of.values())}." for test, of in verdicts.items()]
    return [
        "",
        " ".join([f"**{said}** {means} {len(found)} comparisons.", *counts]),
        "",
        *legend(*TESTS),
        *table(["data", *methods], rows),
    ]
