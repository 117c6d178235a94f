"""The report on what the note on NCA says beyond its figures, each sentence with a verdict."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from validation.experiments.margins import Compared, alike, more_than, never_less
from validation.experiments.nca_claims import NEAR, Judged, Key, Pairs, comparisons, judged, overlap
from validation.experiments.nca_more import KS, SHARES
from validation.experiments.page import Groups, counted, table
from validation.experiments.statistics import mean
from validation.experiments.tasks import Result

RANKS = (("", "full rank"), (" 2", "d = 2"))


def sentences(groups: Groups) -> dict[str, Judged]:
    """What is judged, by the names of the sections below."""
    return {
        "low rank": low_rank(groups),
        "stopping": judged(
            "never observed any effects of over fitting",
            "NCA against an early end",
            tested_pairs(groups, [("NCA", "stopped"), ("NCA 2", "stopped 2")]),
            lambda each: never_less(each, NEAR),
        ),
        "criteria": judged(
            "performance is very similar",
            "g against f",
            tested_pairs(groups, [("g", "NCA"), ("g 2", "NCA 2")]),
            lambda each: alike(each, NEAR),
        ),
        "sizes": judged(
            "performance never decreased as the training set size increased",
            "twice as many points",
            tested_pairs(groups, zip((*list(SHARES)[1:], "NCA"), SHARES, strict=True)),
            lambda each: never_less(each, NEAR),
        ),
        "neighbours": judged(
            "The scale of A [...] can provide an estimate to the optimal number of neighbours",
            "kNN with it against the best k",
            suggestions(groups),
            lambda each: never_less(each, NEAR),
        ),
        "others": judged(
            "consistently the same as or better than that of other Mahalanobis distance measures",
            "MMC and chunklets, test",
            tested_pairs(groups, [("NCA", "MMC"), ("NCA", "chunklets")]),
            lambda each: more_than(each, -NEAR),
        ),
    }


def beyond(groups: Groups, found: dict[str, Judged]) -> list[str]:
    """A section for each sentence that anything was run for."""
    steps = {
        (data, f"{ours} - {theirs}"): steps_of(groups[data][theirs]) for data, ours, theirs in stopped(groups)
    }
    texts = {
        "low rank": "The accuracy on the training part less that on the test part, at full rank less the same in the "
        "plane. Above 0, the plane overfits less.",
        "stopping": f"Supported where an early end, at the number of steps in the last column, gains less than "
        f"{points()} for sure, contradicted where it gains anything for sure.",
        "criteria": f"Similar is taken to be within {points()}.",
        "sizes": "The accuracy on the test part by the share of the training points; the verdicts are on the three "
        f"steps from one to the next: contradicted where accuracy falls for sure, supported where it does not fall by "
        f"{points()} for sure.",
        "neighbours": "After g the rows of p have the entropy of so many neighbours, by the median over the training "
        f"points. kNN with as many is held against the k of {', '.join(map(str, KS))} that is best on the test parts, "
        "a choice in hindsight, which no rule can be expected to equal. The note speaks of the directions of the rows "
        "of A as well, which are not looked at.",
        "others": f"Of the methods in the note's figures, those that the tables above do not have; {points()} or less "
        "behind is the same.",
    }
    more = {
        "stopping": [("steps (splits)", steps)],
        "neighbours": [("suggested k (splits)", suggested(groups))],
    }
    lines = []
    for name, claim in found.items():
        if claim.pairs:
            lines += ["", f'### "{claim.sentence}"', "", texts[name], ""]
            lines += shares(groups, claim) if name == "sizes" else []
            lines += comparisons(claim, more.get(name, ()))
    return ["", "## Beyond the figures", *lines] if lines else []


def points() -> str:
    """What counts as little."""
    return f"{100 * NEAR:g} point"


def low_rank(groups: Groups) -> Judged:
    """How far the training part is ahead of the test part, at full rank and in the plane."""
    pairs: Pairs = {}
    for data, methods in groups.items():
        if {"NCA", "NCA 2"} <= set(methods):
            full, plane = (
                [each["train"] - each["test"] for each in methods[method]] for method in ("NCA", "NCA 2")
            )
            if len(full) > 1:
                wide = max(overlap(data, part) for part in ("train", "test"))
                pairs[data, "full rank - d = 2"] = Compared(full, plane, wide)
    return judged("relatively immune to over fitting", "low rank", pairs, lambda each: more_than(each, 0.0))


def tested_pairs(groups: Groups, names: Iterable[tuple[str, str]]) -> Pairs:
    """The accuracies on the test part of two methods, for every set that has both, on the splits of both."""
    pairs: Pairs = {}
    both = list(names)
    for data, methods in groups.items():
        for first, second in both:
            a, b = tested(methods, first), tested(methods, second)
            count = min(len(a), len(b))  # splits are in order from the first
            if count > 1:
                pairs[data, f"{first} - {second}"] = Compared(a[:count], b[:count], overlap(data, "test"))
    return pairs


def tested(methods: dict[str, list[Result]], method: str) -> list[float]:
    """The accuracies on the test part; of NCA from the start that all here have."""
    found = methods.get(method, [])
    return [each["starts"]["auto"]["test"] if "starts" in each else each["test"] for each in found]


def stopped(groups: Groups) -> list[tuple[str, str, str]]:
    """Set, method, and the same with an early end."""
    names = (("NCA", "stopped"), ("NCA 2", "stopped 2"))
    return [(data, *pair) for data in groups for pair in names if pair[1] in groups[data]]


def steps_of(results: list[Result]) -> str:
    """After how many steps the descents were ended."""
    return counted(result["steps"] or "to the end" for result in results)


def suggestions(groups: Groups) -> Pairs:
    """kNN after g with as many neighbours as its scale suggests, and with the k that is best in hindsight."""
    pairs: Pairs = {}
    for data, methods in groups.items():
        for suffix, rank in RANKS:
            results = methods.get(f"g{suffix}", [])
            if len(results) > 1:
                best = best_k(results)
                pairs[data, f"{rank}: suggested - {best}"] = Compared(
                    [each["at_suggested"] for each in results],
                    [each["at"][best] for each in results],
                    overlap(data, "test"),
                )
    return pairs


def best_k(results: list[Result]) -> str:
    """That of the best mean accuracy on the test parts; of equal ones the least."""
    return max(map(str, KS), key=lambda k: round(float(np.mean([each["at"][k] for each in results])), 12))


def suggested(groups: Groups) -> dict[Key, str]:
    """How often which number of neighbours was suggested."""
    return {
        (data, f"{rank}: suggested - {best_k(results)}"): counted(each["suggested"] for each in results)
        for data, methods in groups.items()
        for suffix, rank in RANKS
        if (results := methods.get(f"g{suffix}", []))
    }


def shares(groups: Groups, claim: Judged) -> list[str]:
    """The accuracies by the share of the training points, NCA's from the start that all here have, and Euclid's."""
    rows = []
    for data in dict.fromkeys(data for data, _ in claim.pairs):
        for label, names in (
            (data, (*SHARES, "NCA")),
            (f"{data}, Euclid", (*(f"Euclid {share}" for share in SHARES), "Euclid")),
        ):
            found = [tested(groups[data], name) for name in names]
            rows.append([label, *(str(mean(each)) if each else "not run" for each in found)])
    return [*table(["data", *SHARES, "all"], rows), ""]
