"""What the note on NCA says of accuracies, and how a sentence is judged: on these points, and for new ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from validation.experiments.page import Groups, bullets, counted, table
from validation.experiments.tasks import Result
from validation.experiments.verdicts import Compared, Verdict, apart, more_than, together

NEAR = 0.01  # of accuracy: what "near the top" is taken to mean, and what is little
SPLITS = 40  # of the note
SHARE = 0.7  # of the points to train on; of the digits so many images each to train and to test
DIGITS, TRAIN, TEST = "usps", 200, 500
FULL, PLANE = ("Euclid", "whitened", "RCA", "NCA"), ("PCA 2", "LDA 2", "NCA 2")
TRAINING = "NCA method consistently performed better on training data"
TOP = "test data performance was always at or near the top"
BOTH = "performed better consistently for both training and test data"
MUCH = (
    "the classes are consistently much better separated by the NCA transformation than by either PCA, or LDA"
)
SIX = ("balance", "ionosphere", "iris", "wine", "housing", DIGITS)  # of the first sentence, in d = 2 as well
DRAWN = ("rings", "wine", DIGITS)  # and the faces, of the second

OUR_CLASSES = ("housing",)  # a set of regression, whose classes in the note are not known

Values = dict[str, list[float]]
Key = tuple[str, str]  # a data set, and what is compared on it
Pairs = dict[Key, Compared]


class Panel(NamedTuple):
    """A table: methods, NCA the last, by accuracy on one part, and what the note says of these sets."""

    name: str
    methods: tuple[str, ...]
    part: str
    claim: str
    margin: float  # by how much NCA must be ahead: "at or near the top" allows it to be behind
    data: tuple[str, ...] = ()  # all, if none is named


PANELS = (
    Panel("Full rank, train", FULL, "train", TRAINING, 0.0, SIX),
    Panel("Full rank, test", FULL, "test", TOP, -NEAR, SIX),
    Panel("d = 2, train", PLANE, "train", TRAINING, 0.0, SIX),
    Panel("d = 2, test", PLANE, "test", TOP, -NEAR, SIX),
    Panel("d = 2, train, the sets whose projections are drawn", PLANE, "train", BOTH, 0.0, DRAWN),
    Panel("d = 2, test, the sets whose projections are drawn", PLANE, "test", BOTH, 0.0, DRAWN),
)
SEPARATED = Panel(
    f"d = 2, train, by more than {100 * NEAR:g} point", PLANE, "train", MUCH, NEAR, DRAWN
)  # its table is that of the panel without the margin


class Judged(NamedTuple):
    """A sentence, where it is looked at, its comparisons, and the verdict of each: on these points, for new ones.

    about: the sets that the note says it of.
    """

    sentence: str
    where: str
    pairs: Pairs
    here: dict[Key, Verdict]
    new: dict[Key, Verdict]
    about: tuple[str, ...]


def judged(
    sentence: str,
    where: str,
    pairs: Pairs,
    judge: Callable[[Pairs], dict[Key, Verdict]],
    about: tuple[str, ...] = SIX,
) -> Judged:
    """Both verdicts of each comparison. On these points the splits are a sample of all splits, and overlap or not."""
    plain = {key: each._replace(overlap=0.0) for key, each in pairs.items()}
    return Judged(sentence, where, pairs, judge(plain), judge(pairs), about)


def of_panel(groups: Groups, panel: Panel) -> Judged:
    """NCA against every other method of a table, on every set that the sentence is about."""
    pairs = {}
    for data, methods in those_of(groups, panel).items():
        values = accuracies(methods, panel)
        *others, ours = values
        for other in others:
            if len(values[ours]) > 1:
                pairs[data, other] = Compared(values[ours], values[other], overlap(data, panel.part))
    return judged(panel.claim, panel.name, pairs, lambda each: ahead(each, panel.margin), panel.data)


def ahead(pairs: Pairs, margin: float) -> dict[Key, Verdict]:
    """Of each that NCA is ahead by more than the margin.

    A margin above 0 is ours, not the note's: to be ahead by less contradicts nothing, only to be behind does.
    """
    if margin <= 0:
        return more_than(pairs, margin)
    favour, against = ({key: each.beyond(at) for key, each in pairs.items()} for at in (margin, 0.0))
    return apart(favour, against)


def by_less(claim: Judged, margin: float) -> list[str]:
    """Of these points: what is undecided though NCA is for sure ahead by less than the margin."""
    short = more_than({key: each._replace(overlap=0.0) for key, each in claim.pairs.items()}, margin)
    found = [
        f"{data} (before {other.removesuffix(' 2')}, {in_points(claim.pairs[data, other].beyond().mean)})"
        for (data, other), verdict in short.items()
        if verdict is Verdict.CONTRADICTED and claim.here[data, other] is Verdict.UNDECIDED
    ]
    if not found:
        return []
    said = f"for these points ahead by less than {100 * margin:g} point for sure: {', '.join(found)}; open."
    return ["", f'"{claim.sentence}": {said}']


def overlap(data: str, part: str) -> float:
    """Of the splits of a set: for the test part points tested over points trained on, for the training part reversed.

    Nadeau and Bengio speak of the test part. Behind it is that two splits share a point with the probability that it is
    in a part; so for means over the training part the shares are exchanged.
    """
    found = TEST / TRAIN if data == DIGITS else (1 - SHARE) / SHARE
    return found if part == "test" else 1 / found


def those_of(groups: Groups, panel: Panel) -> Groups:
    """Those of its data sets that all its methods were run on."""
    asked = panel.data or tuple(groups)
    return {
        data: found for data, found in groups.items() if data in asked and set(panel.methods) <= set(found)
    }


def accuracies(found: dict[str, list[Result]], panel: Panel) -> Values:
    """method -> accuracy on every split, in the order of the panel."""
    return {method: [result[panel.part] for result in found[method]] for method in panel.methods}


def of_set(found: dict[Key, Verdict], data: str) -> Verdict:
    """That of all comparisons on a set."""
    return together([verdict for key, verdict in found.items() if key[0] == data])


def sets(claim: Judged) -> list[str]:
    """Those that it is judged on."""
    return list(dict.fromkeys(data for data, _ in claim.pairs))


def shown(each: Compared) -> list[str]:
    """The difference in points, the interval for new points, and the effect."""
    found = each.beyond()
    return [in_points(found.mean), " to ".join(map(in_points, found.interval)), f"{each.effect:+.1f}"]


def in_points(share: float) -> str:
    """A difference of shares in per cent, with its sign; 0 has that of more."""
    return f"{round(100 * share, 2) + 0.0:+.2f}"


SHOWN = ("difference", "95 %, new points", "effect")
VERDICTS = ("these points", "new points")


def comparisons(claim: Judged, more: Sequence[tuple[str, dict[Key, str]]] = ()) -> list[str]:
    """A row for each comparison, with further columns."""
    rows = [
        [*key, *shown(each), claim.here[key], claim.new[key], *(cells[key] for _, cells in more)]
        for key, each in claim.pairs.items()
    ]
    return table(["data", "", *SHOWN, *VERDICTS, *(name for name, _ in more)], rows)


def summary(claims: Iterable[Judged]) -> list[str]:
    """A row for each sentence: the verdict on all its sets together, and on how many it is which.

    Supported it is where it is so on every set that the note says it of: where sets or splits of theirs are missing,
    it says so. What is contradicted stands above.
    """
    rows, against = [], []
    for claim in claims:
        if claim.pairs:
            absent = lacking(claim)
            row = [f'"{claim.sentence}"', "; ".join([claim.where, *absent])]
            for found in (claim.here, claim.new):
                each = [of_set(found, data) for data in sets(claim)]
                verdict = together(each)
                so_far = " where run" if absent and verdict is not Verdict.CONTRADICTED else ""
                against_it = [data for data in sets(claim) if of_set(found, data) is Verdict.CONTRADICTED]
                ours = " on our classes" if against_it and set(against_it) <= set(OUR_CLASSES) else ""
                row.append(f"**{verdict}{so_far}{ours}** ({counted(each)})")
            rows.append(row)
            contrary = [
                f"{data} (on our classes)" if data in OUR_CLASSES else data
                for data in sets(claim)
                if of_set(claim.here, data) is Verdict.CONTRADICTED
            ]
            if contrary:
                where = f"{claim.where}: contradicted on {', '.join(contrary)}; open."
                against.append(f'"{claim.sentence}", {where}')
    head = ("the note", "where", *(f"{name}: all together (sets)" for name in VERDICTS))
    intro = "These sets contradict a sentence, for these points. *Open* marks contradictions that no run explains yet:"
    return [*([intro, "", *bullets(against), ""] if against else []), *table(head, rows)]


def lacking(claim: Judged) -> list[str]:
    """The sets of a sentence that are not run, and those that are on fewer splits than the note's."""
    missing = [data for data in claim.about if data not in sets(claim)]
    counts = {
        data: min(len(each.first) for key, each in claim.pairs.items() if key[0] == data)
        for data in sets(claim)
    }
    fewer = [f"{data}: {count} of {SPLITS} splits" for data, count in counts.items() if count < SPLITS]
    return [*([f"not run: {', '.join(missing)}"] if missing else []), *fewer]
