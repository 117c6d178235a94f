"""The report on what the note on NCA says beyond its figures, each claim with a verdict."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from validation.experiments.nca_more import MORE, SHARES
from validation.experiments.nca_report import DIGITS, NEAR, SHARE, TEST, TRAIN
from validation.experiments.page import Groups, counted, table
from validation.experiments.statistics import mean
from validation.experiments.tasks import Result
from validation.experiments.verdicts import Difference, Verdict, alike, difference, more

Pair = tuple[str, str, list[float], list[float]]  # the set, what is compared, accuracies of both


def beyond(groups: Groups) -> list[str]:
    """Nothing where none of it was run."""
    if not any(method in MORE for methods in groups.values() for method in methods):
        return []
    points = f"{100 * NEAR:g} point"
    return [
        *("", "## Beyond the figures", ""),
        "Differences of accuracies on the test part, in points, split by split. The intervals (95 %) and verdicts are "
        "for new points (Nadeau, Bengio 2003); of differences, 5 % for all of a table together (Holm). What is "
        "undecided at this power is no evidence for either.",
        *stopping(groups, points),
        *criteria(groups, points),
        *sizes(groups),
        *others(groups),
    ]


def stopping(groups: Groups, points: str) -> list[str]:
    """Whether it would have been better to stop early."""
    pairs = list(compared(groups, (("stopped", "NCA"), ("stopped 2", "NCA 2"))))
    if not pairs:
        return []
    found = {pair[:2]: of(pair) for pair in pairs}
    better = more(found)
    verdict = {
        # "never": a gain by stopping contradicts it; no gain of a point, for certain, supports it
        name: Verdict.CONTRADICTED
        if better[name] is Verdict.SUPPORTED
        else Verdict.SUPPORTED
        if each.interval.high <= NEAR
        else Verdict.UNDECIDED
        for name, each in found.items()
    }
    steps = {
        (data, f"{ours} - {theirs}"): counted(
            result["steps"] or "to the end" for result in groups[data][ours]
        )
        for ours, theirs in (("stopped", "NCA"), ("stopped 2", "NCA 2"))
        for data in groups
        if ours in groups[data]
    }
    rows = [[*name, *shown(found[name]), verdict[name], steps[name]] for name in found]
    return [
        *("", '### "never observed any effects of over fitting"', ""),
        f"Contradicted where stopping is significantly better, supported where it gains less than {points} for sure.",
        "",
        *table(["data", "", "difference", "95 %", "verdict", "steps (splits)"], rows),
    ]


def criteria(groups: Groups, points: str) -> list[str]:
    """Whether f and g perform alike."""
    found = {pair[:2]: of(pair) for pair in compared(groups, (("g", "NCA"), ("g 2", "NCA 2")))}
    rows = [[*name, *shown(each), alike(each, NEAR)] for name, each in found.items()]
    return [
        *("", '### g: "performance is very similar"', "", f"Similar is taken to be within {points}.", ""),
        *table(["data", "", "difference", "95 %", "verdict"], rows),
    ]


def sizes(groups: Groups) -> list[str]:
    """Whether accuracy ever decreases with the number of training points."""
    steps = list(zip(("a quarter", "half", "NCA"), SHARES, strict=True))
    found = {pair[:2]: of(pair) for pair in compared(groups, steps)}
    verdict = more(found)
    rows = []
    for data, methods in groups.items():
        names = [data_and[1] for data_and in found if data_and[0] == data]
        if names:
            cells = [str(mean(tested(methods, name))) for name in (*SHARES, "NCA")]
            plain = [
                str(mean(tested(methods, name)))
                for name in (*(f"Euclid {share}" for share in SHARES), "Euclid")
            ]
            said = counted(verdict[data, name] for name in names)
            rows.append([data, *cells, said])
            rows.append([f"{data}, Euclid", *plain, ""])
    return [
        *("", '### "performance never decreased as the training set size increased"', ""),
        "Accuracy on the test part by the share of the training points; a verdict on each of the three steps.",
        "",
        *table(["data", *SHARES, "all", "verdicts"], rows),
    ]


def others(groups: Groups) -> list[str]:
    """MMC and RCA of chunklets beside NCA."""
    found = {pair[:2]: of(pair) for pair in compared(groups, (("NCA", "MMC"), ("NCA", "chunklets")))}
    verdict = more(found)
    rows = [[*name, *shown(each), verdict[name]] for name, each in found.items()]
    return [
        *("", "### The methods that its figures compare: Xing et al. and RCA", ""),
        "The note: at or near the top. A difference above 0 is in favour of NCA.",
        "",
        *table(["data", "", "difference", "95 %", "NCA is better"], rows),
    ]


def compared(groups: Groups, pairs: Iterable[tuple[str, str]]) -> Iterator[Pair]:
    """For every set that has both methods, the accuracies on the splits that both were run on."""
    for data, methods in groups.items():
        for first, second in pairs:
            a, b = tested(methods, first), tested(methods, second)
            count = min(len(a), len(b))  # splits are in order from the first
            if count > 1:
                yield data, f"{first} - {second}", a[:count], b[:count]


def tested(methods: dict[str, list[Result]], method: str) -> list[float]:
    """The accuracies on the test part; of NCA from the start that all here have."""
    found = methods.get(method, [])
    return [each["starts"]["auto"]["test"] if "starts" in each else each["test"] for each in found]


def of(pair: Pair) -> Difference:
    """With the overlap of the splits of its set."""
    data, _, first, second = pair
    return difference(first, second, TEST / TRAIN if data == DIGITS else (1 - SHARE) / SHARE)


def shown(each: Difference) -> list[str]:
    """In points, with the interval."""
    return [f"{100 * each.mean:+.2f}", "{:+.2f} to {:+.2f}".format(*(100 * end for end in each.interval))]
