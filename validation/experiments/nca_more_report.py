"""The report on what the note on NCA says beyond its figures, each sentence with a verdict."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from validation.experiments.nca_claims import (
    FULL,
    NEAR,
    PLANE,
    Judged,
    Key,
    Pairs,
    comparisons,
    in_points,
    judged,
    overlap,
)
from validation.experiments.nca_more import KS, SHARES, START
from validation.experiments.page import Groups, bullets, counted, table
from validation.experiments.statistics import mean
from validation.experiments.tasks import Result
from validation.experiments.verdicts import Compared, Verdict, alike, more_than, never_less

RANKS = (("", "full rank"), (" 2", "d = 2"))
OVERFITTING = "never observed any effects of over fitting"
OTHERS = "consistently the same as or better than that of other Mahalanobis distance measures"
SCALE = "The scale of A [...] can provide an estimate to the optimal number of neighbours"
MITCHELL = "NCA against maps that it fits better than"
NAMED = ("stopping", "criteria", "sizes")  # sentences that are judged with the starts that they name


def of_start(method: str) -> str:
    """NCA's name where it is of the one start that all in MORE have."""
    return f"{method} ({START})"


def sentences(groups: Groups) -> dict[str, Judged]:
    """What is judged, by the names of the sections below."""
    full, plane = of_start("NCA"), of_start("NCA 2")
    others = [("NCA", "MMC"), ("NCA", "chunklets")]
    return {
        "low rank": low_rank(groups),
        "fitting": judged(OVERFITTING, MITCHELL, fits_better(groups), not_behind),
        "stopping": judged(
            OVERFITTING,
            f"{full} against an early end",
            part_pairs(groups, [(full, "stopped"), (plane, "stopped 2")]),
            not_behind,
        ),
        "criteria": judged(
            "performance is very similar",
            "g against f, both of the same start and of f's best",
            part_pairs(groups, [("g", full), ("g", "NCA"), ("g 2", plane), ("g 2", "NCA 2")]),
            alike_in_both,
        ),
        "sizes": judged(
            "performance never decreased as the training set size increased",
            "twice as many points",
            part_pairs(groups, zip((*list(SHARES)[1:], full), SHARES, strict=True)),
            not_behind,
        ),
        "others, train": judged(
            OTHERS,
            "MMC and chunklets, train",
            part_pairs(groups, others, "train"),
            lambda each: more_than(each, -NEAR),
        ),
        "others": judged(
            OTHERS, "MMC and chunklets, test", part_pairs(groups, others), lambda each: more_than(each, -NEAR)
        ),
    }


def not_behind(pairs: Pairs) -> dict[Key, Verdict]:
    """Contradicted where the first is behind for sure, supported where it is not by what counts as little."""
    return never_less(pairs, NEAR)


def alike_in_both(pairs: Pairs) -> dict[Key, Verdict]:
    """Of g the verdict that it has against f from the same start and against f from its best, and else undecided.

    From one start f may end in a poor local maximum, which tells of the descent and not of the criterion; the best of
    several starts has had more tries than g.
    """
    by_itself = alike(pairs, NEAR)

    def agreed(key: Key) -> Verdict:
        both = [other for other in pairs if other[0] == key[0] and of_first(other) == of_first(key)]
        sides = {pairs[other].beyond().mean > 0 for other in both}
        same = {by_itself[other] for other in both} == {by_itself[key]}
        if same and (len(sides) == 1 or by_itself[key] is Verdict.SUPPORTED):
            return by_itself[key]
        return Verdict.UNDECIDED

    return {key: agreed(key) for key in pairs}


def of_first(key: Key) -> str:
    """The first method of a comparison."""
    return key[1].split(" - ")[0]


def beyond(groups: Groups, found: dict[str, Judged]) -> list[str]:
    """A section for each sentence that anything was run for."""
    steps = {
        (data, f"{of_start(ours)} - {theirs}"): steps_of(groups[data][theirs])
        for data, ours, theirs in stopped(groups)
    }
    same = f"Supported if NCA is significantly less than {points()} behind, contradicted if it is significantly more."
    texts = {
        "low rank": "Compared is the accuracy on the training part minus that on the test part, at full rank minus the "
        "same in the plane. The difference is above 0 if the plane overfits less; the verdict is on that.",
        "fitting": "We use Mitchell's definition of overfitting (Machine Learning, 1997, 3.7). Of two maps of the "
        "allowed rank, the one that fits the training part better is worse over all existing points. *New points* is "
        "about all points, and *these points* about this very set. The other maps are those that NCA is significantly "
        "ahead of on the training part, for these points; they include NCA from a single start. The table has the test "
        "accuracy of NCA minus that of each of these maps, and *fit* is the lead of NCA on the training part, in "
        f"points. Contradicted if NCA is significantly behind, supported if it is significantly less than {points()} "
        "behind.",
        "stopping": "The verdict is on early stopping alone, at the number of steps in the last column. Supported if "
        f"early stopping gains significantly less than {points()}, contradicted if it gains significantly more than 0. "
        "Other effects of overfitting are tested above.",
        "criteria": f"Similar means within {points()}: supported if the two are significantly within it, contradicted "
        "if they are significantly outside. All g here are from the start *auto*. They are compared with f from the "
        "same start and with f from its best start. From one start f may end in a poor local maximum, which is a "
        "property of the descent and not of the criterion. The best of several starts has had more tries than g. So "
        "both comparisons must agree for a verdict; *alone* is the verdict of each comparison by itself, for these "
        "points. NCA (likelihood) begins at the end of some steps of g from *auto*, so it and g differ mainly in the "
        "criterion.",
        "sizes": "The table has the accuracy on the test part by the share of the training points. The verdicts are on "
        "the three steps from one share to the next. Contradicted if accuracy falls significantly, supported if it "
        f"falls significantly less than {points()}.",
        "others, train": "These are methods to which the note relates NCA, and which the tables above do not have. "
        f"{same}",
        "others": same,
    }
    more = {
        "fitting": [("fit", fits(groups, found["fitting"]))],
        "stopping": [("steps (splits)", steps)],
        "criteria": [("alone", alone(found["criteria"]))],
    }
    before = {
        "sizes": shares,
        "criteria": by_start,
        "others, train": partial(relatives, part="train"),
        "others": relatives,
    }
    lines = []
    for name, claim in found.items():
        if claim.pairs:
            lines += ["", f'### "{claim.sentence}": {claim.where}', "", texts[name], ""]
            lines += before[name](groups, claim) if name in before else []
            lines += comparisons(claim, more.get(name, ()))
    lines += scale(groups)
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


def fits_better(groups: Groups) -> Pairs:
    """The test accuracies of NCA and of each map of its rank that it is ahead of on the training part for sure."""
    names = rivals(groups)
    train, test = (part_pairs(groups, names, part) for part in ("train", "test"))
    sure = more_than({key: each._replace(overlap=0.0) for key, each in train.items()}, 0.0)
    return {key: test[key] for key, verdict in sure.items() if verdict is Verdict.SUPPORTED}


def rivals(groups: Groups) -> list[tuple[str, str]]:
    """NCA and another map of its rank, NCA from a single start among them."""
    found = []
    for *others, ours in (FULL, PLANE):
        runs = [each for methods in groups.values() for each in methods.get(ours, [])]
        starts = sorted({start for each in runs for start in each.get("starts", ())})
        found += [(ours, other) for other in (*others, *(f"{ours} ({start})" for start in starts))]
    return found


def fits(groups: Groups, claim: Judged) -> dict[Key, str]:
    """By how many points NCA is ahead on the training part, of those of `fits_better`."""
    train = part_pairs(groups, rivals(groups), "train")
    return {key: in_points(train[key].beyond().mean) for key in claim.pairs}


def part_pairs(groups: Groups, names: Iterable[tuple[str, str]], part: str = "test") -> Pairs:
    """The accuracies of two methods on a part, for every set that has both, on the splits of both."""
    pairs: Pairs = {}
    both = list(names)
    for data, methods in groups.items():
        for first, second in both:
            a, b = accuracies(methods, first, part), accuracies(methods, second, part)
            count = min(len(a), len(b))  # splits are in order from the first
            if count > 1:
                pairs[data, f"{first} - {second}"] = Compared(a[:count], b[:count], overlap(data, part))
    return pairs


def accuracies(methods: dict[str, list[Result]], name: str, part: str = "test") -> list[float]:
    """Those on a part; of "NCA (start)" from that start alone, of "NCA" from its best, as in the tables."""
    method, _, start = name.removesuffix(")").partition(" (")
    runs = [each.get("starts", {}).get(start) if start else each for each in methods.get(method, [])]
    return [run[part] for run in runs if run]


def stopped(groups: Groups) -> list[tuple[str, str, str]]:
    """Set, method, and the same with an early end."""
    names = (("NCA", "stopped"), ("NCA 2", "stopped 2"))
    return [(data, *pair) for data in groups for pair in names if pair[1] in groups[data]]


def steps_of(results: list[Result]) -> str:
    """After how many steps the descents were ended."""
    return counted(result["steps"] or "to the end" for result in results)


def alone(claim: Judged) -> dict[Key, str]:
    """Of g and f, what each comparison says by itself of these points."""
    return dict(alike({key: each._replace(overlap=0.0) for key, each in claim.pairs.items()}, NEAR))


def by_start(groups: Groups, claim: Judged) -> list[str]:
    """The test accuracies of g, and of f from two starts and from its best; what the starts explain."""
    rows = []
    for data in dict.fromkeys(data for data, _ in claim.pairs):
        for suffix, rank in RANKS:
            names = [f"NCA{suffix}{start}" for start in (f" ({START})", " (likelihood)", "")]
            columns = [accuracies(groups[data], name) for name in (f"g{suffix}", *names)]
            if columns[0]:
                rows.append([data, rank, *(str(mean(each)) if each else "not run" for each in columns)])
    head = ("data", "rank", "g", f"NCA ({START})", "NCA (likelihood)", "NCA")
    said = set_apart(claim)
    return [*table(head, rows), "", *([*bullets(said), ""] if said else [])]


def set_apart(claim: Judged) -> list[str]:
    """Where one of the two comparisons of g is contradicted by itself and the other is not, and what explains that."""
    said, by_itself = [], alone(claim)
    for data, name in claim.pairs:
        best, same = (data, name), (data, of_start(name))
        if same in claim.pairs and Verdict.CONTRADICTED in (by_itself[best], by_itself[same]):
            figures = [in_points(claim.pairs[key].beyond().mean) for key in (same, best)]
            if by_itself[best] is Verdict.SUPPORTED:
                why = (
                    "from this start f ends lower than from its best start, which may explain the difference"
                )
            elif by_itself[same] is not Verdict.CONTRADICTED:
                why = "f has had several starts and g one, which may explain the difference"
            else:
                continue
            said.append(
                f"{data}, {name}: {figures[0]} points with f from the same start, {figures[1]} with f's best: {why}."
            )
    return said


def scale(groups: Groups) -> list[str]:
    """kNN after g with as many neighbours as its scale suggests, beside other numbers: figures, and no verdict."""
    rows = []
    for data, methods in groups.items():
        for suffix, rank in RANKS:
            if results := methods.get(f"g{suffix}", []):
                at = {k: mean([each["at"][str(k)] for each in results]) for k in KS}
                best, worst = (pick(at, key=lambda k: round(at[k].value, 12)) for pick in (max, min))
                ours = mean([each["at_suggested"] for each in results])
                counts = counted(each["suggested"] for each in results)
                ends = (f"{at[k]} ({k})" for k in (best, worst))
                rows.append([data, rank, len(results), ours, at[1], *ends, counts])
    if not rows:
        return []
    text = (
        "After g, the number of neighbours of a training point is e to the entropy of its p. The suggested k is the "
        "median of these numbers over the training points, rounded. The table compares its accuracy of kNN on the test "
        f"part with that of k = 1, and with the best and the worst of {', '.join(map(str, KS))}, by the mean over the "
        "test parts (k in brackets). The suggested k need not be one of these. If classes tie for most votes, the "
        "first is taken. The best k is known only in hindsight, and no k was chosen on the training parts, so there is "
        "no verdict. The note also mentions the directions of the rows of A, which are not tested."
    )
    head = ("data", "rank", "splits", "suggested k", "k = 1", "best k", "worst k", "suggested k (splits)")
    return ["", f'### "{SCALE}": no verdict', "", text, "", *table(head, rows)]


def relatives(groups: Groups, claim: Judged, part: str = "test") -> list[str]:
    """The accuracies of NCA, MMC and chunklets on a part."""
    names = ("NCA", "MMC", "chunklets")
    rows = []
    for data in dict.fromkeys(data for data, _ in claim.pairs):
        found = [accuracies(groups[data], name, part) for name in names]
        rows.append([data, *(str(mean(each)) if each else "not run" for each in found)])
    return [*table(["data", *names], rows), ""]


def shares(groups: Groups, claim: Judged) -> list[str]:
    """The accuracies on the test part by the share of the training points, NCA's and Euclid's."""
    rows = []
    for data in dict.fromkeys(data for data, _ in claim.pairs):
        for label, names in (
            (f"{data}, {of_start('NCA')}", (*SHARES, of_start("NCA"))),
            (f"{data}, Euclid", (*(f"Euclid {share}" for share in SHARES), "Euclid")),
        ):
            found = [accuracies(groups[data], name) for name in names]
            rows.append([label, *(str(mean(each)) if each else "not run" for each in found)])
    return [*table(["data", *SHARES, "all"], rows), ""]
