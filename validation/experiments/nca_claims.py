"""What the note on NCA says of accuracies, and how a sentence is judged: on these points, and for new ones.

f is not concave, and the note does not give its start. So a verdict must be the same for three choices of the start.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple

from validation.experiments.nca_more import START
from validation.experiments.page import Groups
from validation.experiments.tasks import Result
from validation.experiments.verdicts import Compared, Verdict, alike, every, joined, judged, these
from validation.experiments.words import Words

WORDS = Words("nca")
SAID: dict[str, str] = WORDS.found["said"]
NEAR = 0.01  # of accuracy: what "near the top" is taken to mean, and what is little
SPLITS = 40  # of the note
SHARE = 0.7  # of the points to train on; of the digits so many images each to train and to test
DIGITS, TRAIN, TEST = "usps", 200, 500
FULL, PLANE = ("Euclid", "whitened", "RCA", "NCA"), ("PCA 2", "LDA 2", "NCA 2")
SIX = ("balance", "ionosphere", "iris", "wine", "housing", DIGITS)  # of the first sentence, in d = 2 as well
DRAWN = ("rings", "wine", DIGITS)  # and the faces, of the second
OUR_CLASSES = ("housing",)  # a set of regression, whose classes in the note are not known
EQUAL = 4  # decimals of f / n; starts with the same rounded value count as equal
CHOICES = (
    "first",
    "last",
    START,
)  # of the starts with the best f the first or the last, or the package's default
NAMED = ("stopping", "criteria", "sizes")  # sentences that are judged with the starts that they name

Key = tuple[str, str, str]  # a data set, and the two that are compared on it
Pairs = dict[Key, Compared]
Verdicts = dict[Key, Verdict]
Judge = Callable[[Pairs], Verdicts]
Names = Iterable[tuple[str, str]]


class Panel(NamedTuple):
    """A table of words/nca.toml: methods, NCA the last, accuracies on a part, and what the note says of these sets."""

    name: str
    methods: tuple[str, ...]
    part: str
    claim: str
    margin: float  # by how much NCA must be ahead: "at or near the top" allows it to be behind
    data: tuple[str, ...] = ()  # all, if none is named


def _panel(name: str, rank: str, part: str, said: str, about: str, margin: float = 0.0) -> Panel:
    sets = SIX if about == "six" else DRAWN
    return Panel(name, FULL if rank == "full" else PLANE, part, SAID[said], margin, sets)


# the table of the last, *much*, is that of a panel without the margin
*PANELS, SEPARATED = (_panel(**words) for words in WORDS.found["panels"])


class Judged(NamedTuple):
    """A sentence, where it is looked at, its comparisons, and the verdict of each: on these points, for new ones.

    about: the sets that the note says it of.
    """

    sentence: str
    where: str
    pairs: Pairs
    here: Verdicts
    new: Verdicts
    about: tuple[str, ...]


def claim(sentence: str, where: str, pairs: Pairs, judge: Judge, about: tuple[str, ...] = SIX) -> Judged:
    """Both verdicts of each comparison. On these points the splits are a sample of all splits, and overlap or not."""
    return Judged(sentence, where, pairs, judge(these(pairs)), judge(pairs), about)


def overlap(data: str, part: str) -> float:
    """Of the splits of a set: for the test part points tested over points trained on, for the training part reversed.

    Nadeau and Bengio speak of the test part. Behind it is that two splits share a point with the probability that it is
    in a part; so for means over the training part the shares are exchanged.
    """
    found = TEST / TRAIN if data == DIGITS else (1 - SHARE) / SHARE
    return found if part == "test" else 1 / found


def accuracies(methods: dict[str, list[Result]], name: str, part: str = "test") -> list[float]:
    """Those on a part; of "NCA (start)" from that start alone, of "NCA" from its best, as in the tables."""
    method, _, start = name.removesuffix(")").partition(" (")
    runs = [each.get("starts", {}).get(start) if start else each for each in methods.get(method, [])]
    return [run[part] for run in runs if run]


def compared(groups: Groups, names: Names, part: str = "test") -> Pairs:
    """The accuracies of two methods on a part, for every set that has both, on the splits of both."""
    pairs: Pairs = {}
    both = list(names)
    for data, methods in groups.items():
        for first, second in both:
            a, b = accuracies(methods, first, part), accuracies(methods, second, part)
            count = min(len(a), len(b))  # splits are in order from the first
            if count > 1:
                pairs[data, first, second] = Compared(a[:count], b[:count], overlap(data, part))
    return pairs


def of_set(found: Verdicts, data: str) -> Verdict | None:
    """That of all comparisons on a set."""
    return joined([verdict for key, verdict in found.items() if key[0] == data], every)


def sets(claim: Judged) -> list[str]:
    """Those that it is judged on."""
    return list(dict.fromkeys(data for data, *_ in claim.pairs))


def lacking(claim: Judged) -> list[str]:
    """The sets of a sentence that are not run, and those that are on fewer splits than the note's."""
    missing = [data for data in claim.about if data not in sets(claim)]
    said = [f"not run: {', '.join(missing)}"] if missing else []
    for data in sets(claim):
        count = min(len(each.first) for key, each in claim.pairs.items() if key[0] == data)
        said += [f"{data}: {count} of {SPLITS} splits"] if count < SPLITS else []
    return said


# --- the note's sentences on its figures


def those_of(groups: Groups, panel: Panel) -> Groups:
    """Those of its data sets that all its methods were run on."""
    return {
        data: found
        for data, found in groups.items()
        if data in (panel.data or groups) and set(panel.methods) <= set(found)
    }


def of_panel(groups: Groups, panel: Panel) -> Judged:
    """NCA against every other method of a table, on every set that the sentence is about.

    A margin above 0 is ours, not the note's: to be ahead by less contradicts nothing, only to be behind does.
    """
    *others, ours = panel.methods
    pairs = compared(those_of(groups, panel), [(ours, other) for other in others], panel.part)
    judge = partial(judged, favour=panel.margin, against=min(panel.margin, 0.0))
    return claim(panel.claim, panel.name, pairs, judge, panel.data)


# --- its sentences beyond them


def of_start(method: str) -> str:
    """NCA's name where it is of the one start that all in MORE have."""
    return f"{method} ({START})"


def sentences(groups: Groups) -> dict[str, Judged]:
    """What is judged, by the names of the sections of the report."""
    found = {}
    for name, words in WORDS.found["sentences"].items():
        of, margins = SPECIAL.get(name), {key: words[key] for key in ("favour", "against") if key in words}
        pairs = of(groups) if of else compared(groups, map(tuple, words["pairs"]), words.get("part", "test"))
        judge = partial(judged, **margins) if margins else alike_in_both
        found[name] = claim(SAID[words["said"]], words["where"], pairs, judge)
    return found


def low_rank(groups: Groups) -> Pairs:
    """How far the training part is ahead of the test part, at full rank and in the plane."""
    pairs: Pairs = {}
    for data, methods in groups.items():
        full, plane = (
            [each["train"] - each["test"] for each in methods.get(of, [])] for of in ("NCA", "NCA 2")
        )
        if plane and len(full) > 1:
            wide = max(overlap(data, part) for part in ("train", "test"))
            pairs[data, "full rank", "d = 2"] = Compared(full, plane, wide)
    return pairs


def fits_better(groups: Groups) -> Pairs:
    """The test accuracies of NCA and of each map of its rank that it is ahead of on the training part for sure."""
    train, test = (compared(groups, rivals(groups), part) for part in ("train", "test"))
    sure = judged(these(train), 0.0)
    return {key: test[key] for key, verdict in sure.items() if verdict is Verdict.SUPPORTED}


def rivals(groups: Groups) -> list[tuple[str, str]]:
    """NCA and another map of its rank, NCA from a single start among them."""
    found = []
    for *others, ours in (FULL, PLANE):
        runs = [each for methods in groups.values() for each in methods.get(ours, [])]
        starts = sorted({start for each in runs for start in each.get("starts", ())})
        found += [(ours, other) for other in (*others, *(f"{ours} ({start})" for start in starts))]
    return found


SPECIAL = {"low rank": low_rank, "fitting": fits_better}  # whose comparisons depend on the results


def alike_in_both(pairs: Pairs) -> Verdicts:
    """Of g the verdict that it has against f from the same start and against f from its best, and else undecided.

    From one start f may end in a poor local maximum, which tells of the descent and not of the criterion; the best of
    several starts has had more tries than g.
    """
    by_itself = alike(pairs, NEAR)

    def agreed(key: Key) -> Verdict:
        both = [other for other in pairs if other[:2] == key[:2]]
        sides = {pairs[other].beyond().mean > 0 for other in both}
        same = {by_itself[other] for other in both} == {by_itself[key]}
        if same and (len(sides) == 1 or by_itself[key] is Verdict.SUPPORTED):
            return by_itself[key]
        return Verdict.UNDECIDED

    return {key: agreed(key) for key in pairs}


# --- three choices of a start, and a verdict only if all three agree


def start_of(starts: dict[str, Result], choice: str) -> str:
    """Return the start that a choice takes from `starts`, a dictionary from a start to its run."""
    if choice == START and START in starts:
        return START
    best = max(round(run["f"], EQUAL) for run in starts.values())
    equal = [start for start, run in starts.items() if round(run["f"], EQUAL) == best]
    return equal[-1] if choice == "last" else equal[0]


def chosen(groups: Groups, choice: str) -> Groups:
    """Return the same results, with NCA's accuracies taken from the start of a choice."""

    def changed(result: Result) -> Result:
        if "starts" not in result:
            return result
        start = start_of(result["starts"], choice)
        run = result["starts"][start]
        return {**result, "start": start, "train": run["train"], "test": run["test"]}

    return {
        data: {method: [changed(each) for each in results] for method, results in methods.items()}
        for data, methods in groups.items()
    }


def by_choice(groups: Groups) -> tuple[list[list[Judged]], dict[str, list[Judged]]]:
    """Return the claims of each panel, and those of each sentence beyond them, for every choice of the start."""
    every = [chosen(groups, choice) for choice in CHOICES]
    panels = [[of_panel(each, panel) for each in every] for panel in (*PANELS, SEPARATED)]
    beyond = [sentences(each) for each in every]
    return panels, {
        name: [claim if name in NAMED else each[name] for each in beyond]
        for name, claim in sentences(groups).items()
    }


def agreed(claims: Sequence[Judged]) -> Judged:
    """Return the first of `claims`, with the verdicts on which all choices agree. `claims` holds one claim per choice.

    A comparison is undecided if its verdict depends on the choice. A choice without the comparison, for example of two
    starts of NCA of which it takes the second, cannot be contradicted by it. So it agrees to anything but that.
    """
    first = claims[0]

    def verdicts(found: Sequence[Verdicts]) -> Verdicts:
        return {key: verdict([of[key] for of in found if key in of]) for key in first.pairs}

    def verdict(each: Sequence[Verdict]) -> Verdict:
        alone = each[0] is Verdict.CONTRADICTED and len(each) < len(claims)
        return each[0] if len(set(each)) == 1 and not alone else Verdict.UNDECIDED

    return first._replace(
        here=verdicts([claim.here for claim in claims]), new=verdicts([claim.new for claim in claims])
    )
