"""What the experiment on drawn data reports: accuracies, what becomes of the papers' sentences, proofs, a picture."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

from validation.experiments.glml_claims import GAIN
from validation.experiments.glml_learnt import LEARNT
from validation.experiments.glml_picture import curve
from validation.experiments.glml_report import METHODS, of, proofs, times
from validation.experiments.page import HOW as HOW_VERDICTS
from validation.experiments.page import Parts, Results, counted, grouped, number, table
from validation.experiments.statistics import mean
from validation.experiments.tasks import Preset
from validation.experiments.verdicts import (
    NO_VERDICT,
    Difference,
    Need,
    Verdict,
    apart,
    every,
    joined,
    legend,
    most,
    paired,
)

MIXTURE = "mixtures"
KIND = "gaussians "
NOT_RUN = f"{NO_VERDICT} (not run)"
NOT_SO = f"{Verdict.CONTRADICTED} on our"
FISHER = "Fisher"  # of the classes' mixture: a reading of ours, which the papers do not draw
DISCRIMINATIVE = ("Euclid", *LEARNT)
OTHERS = (*DISCRIMINATIVE, "Fisher, one Gaussian")  # what the papers draw beside GLML

Accuracies = dict[str, dict[str, dict[int, float | None]]]  # data -> method -> realisation
Side = tuple[str, str]  # data, method


class Comparison(NamedTuple):
    """The claim that the accuracy of the first, and a margin, is above that of the second."""

    first: Side
    second: Side
    margin: float = 0.0

    def __str__(self) -> str:
        (data, a), (other, b) = self.first, self.second
        return f"{a} - {b}, {data}" if data == other else f"{a}, {data} - {other}"


class Claim(NamedTuple):
    """What is said, what it is taken as, its comparisons, and how many of them it needs.

    of: what they are of, which is ours: the papers do not print theirs, so it cannot contradict them.
    """

    said: str
    means: str
    comparisons: list[Comparison]
    needs: Need
    of: str = "Gaussians"

    def worded(self, verdict: Verdict | None) -> str:
        """A verdict, with whose data it is of where it is against the papers."""
        if verdict is Verdict.CONTRADICTED:
            return f"{NOT_SO} {self.of}"
        return verdict or NOT_RUN


def named(d: int) -> str:
    """The set of two Gaussians in so many dimensions."""
    return f"{KIND}{d}"


def dimension(data: str) -> int:
    """Of a set."""
    return 5 if data == MIXTURE else int(data.removeprefix(KIND))


def claims(sets: Iterable[str]) -> list[Claim]:
    """The papers' sentences, of the sets there are."""
    drawn = sorted((data for data in sets if data != MIXTURE), key=dimension)
    low, high = drawn[:1], drawn[-1:] if len(drawn) > 1 else []
    upper = drawn[len(drawn) // 2 :] if len(drawn) > 1 else []
    of_upper = " and ".join(str(dimension(data)) for data in upper) or "more"
    ends = [(a, b) for a in low for b in high]
    each_d, at_upper = "at every D", f"at D = {of_upper}"
    where = (
        f"from D = {dimension(drawn[0])} to {dimension(drawn[-1])}"
        if drawn
        else "from the least D to the most"
    )
    return [
        Claim(
            'GLML "substantially outperforms the discriminative nearest neighbor performance in a high dimensional '
            'space"',
            f"a point above Euclid and every discriminative metric that is run {at_upper}",
            above(upper, DISCRIMINATIVE),
            every,
        ),
        Claim(
            '"GLML continues to improve its performance vastly"',
            "GLML a point better at each D than at the D before",
            [Comparison((b, "GLML"), (a, "GLML"), -GAIN) for a, b in pairwise(drawn)],
            every,
        ),
        Claim(
            'the same, "over other methods"; "it shows considerable improvement compared to the other methods" (6.1)',
            f"a point above Euclid, every learnt metric that is run and Fisher, one Gaussian, {each_d}",
            above(drawn, OTHERS),
            every,
        ),
        Claim(f"sentence 3, {OURS}", f"{NOT_DRAWN} {each_d}", above(drawn, [FISHER]), every),
        Claim(
            'GLML "captures the information effectively and increases the accuracy substantially over other '
            'algorithms" in high dimensional space (6.2)',
            f"a point above Euclid, every learnt metric that is run and Fisher, one Gaussian, {at_upper}",
            above(upper, OTHERS),
            every,
        ),
        Claim(f"sentence 5, {OURS}", f"{NOT_DRAWN} {at_upper}", above(upper, [FISHER]), every),
        Claim(
            '"two Gaussians in a high dimensional space become more separable" (6.2)',
            f"Bayes, of the fitted Gaussians, better {where}",
            [Comparison((b, "Bayes"), (a, "Bayes")) for a, b in ends],
            every,
        ),
        Claim(
            '"As the dimensionality grows, the original nearest neighbor performance degrades"',
            f"Euclid worse {where}",
            [Comparison((a, "Euclid"), (b, "Euclid")) for a, b in ends],
            every,
        ),
        Claim(
            '"accuracies of many methods degrade"; "most", in 2010, "except GLML and LMNN"',
            f"more than half of those that are run at both, but for these two, worse {where}",
            [Comparison((a, m), (b, m)) for a, b in ends for m in OTHERS if m != "LMNN"],
            most,
        ),
        Claim(
            "the same caption: not so LMNN (2010)",
            f"LMNN, whatever chose its mu, at least as good, but for a point, {where}",
            [Comparison((b, "LMNN"), (a, "LMNN"), GAIN) for a, b in ends],
            every,
        ),
        Claim(
            'Bayes "is outperformed by the nearest neighbor classification" where the model is wrong (6.3)',
            "Euclid a point above Bayes on the mixtures",
            [Comparison((MIXTURE, "Euclid"), (MIXTURE, "Bayes"), -GAIN)],
            every,
            MIXTURE,
        ),
        Claim(
            '"even though the generative model is not flexible enough [...], the rough information of the '
            'configuration helps improve the accuracy of the nearest neighbor classification" (6.3)',
            "GLML above Euclid on the mixtures",
            [Comparison((MIXTURE, "GLML"), (MIXTURE, "Euclid"))],
            every,
            MIXTURE,
        ),
        Claim(
            '"Compared with the LMNN result, GLML greatly improves the accuracy" there (6.3)',
            "GLML a point above LMNN on the mixtures",
            above([MIXTURE], ["LMNN"]),
            every,
            MIXTURE,
        ),
    ]


OURS = "of the Fisher metric of the classes' mixture, a reading of ours"
NOT_DRAWN = "GLML a point above this metric, which the papers do not draw,"


def above(sets: Iterable[str], methods: Iterable[str]) -> list[Comparison]:
    """That GLML is a point above each method on each set."""
    of = list(methods)
    return [Comparison((data, "GLML"), (data, method), -GAIN) for data in sets for method in of]


# ---- comparisons


def accuracies_of(results: Results) -> Accuracies:
    """By set, method and realisation."""
    found: Accuracies = {}
    for task, result in results:
        for name, values in result["methods"].items():
            found.setdefault(task.data, {}).setdefault(name, {})[task.split] = values["accuracy"][0]
    return dict(sorted(found.items(), key=lambda each: (each[0] == MIXTURE, dimension(each[0]))))


def compared(found: Accuracies, which: Comparison) -> Difference | None:
    """Over the realisations that both have; None where there are no two. They are drawn anew, and share no points."""
    first, second = (found.get(data, {}).get(method, {}) for data, method in which[:2])
    return paired(first, second, which.margin, overlap=0.0)


def judged(found: Accuracies, claim: Claim) -> tuple[dict[Comparison, Difference], dict[Comparison, Verdict]]:
    """All of a claim's that there is something to compare in, at 5 % together (Holm).

    A margin against the first is ours: no tie contradicts by it. The differences are without the margin.
    """
    there = {which: each for which in claim.comparisons if (each := compared(found, which)) is not None}
    plain = {
        which: each for which in there if (each := compared(found, which._replace(margin=0.0))) is not None
    }
    against = {which: plain[which] if which.margin < 0 else there[which] for which in there}
    return plain, apart(there, against)


# ---- the page


def short(results: Results, preset: Preset) -> list[str]:
    """Return the result and the contradictions, a sentence each."""
    found = accuracies_of(results)
    every = {
        claim.said: claim.worded(joined(list(judged(found, claim)[1].values()), claim.needs))
        for claim in claims(found)
    }
    against = [claim for claim, said in every.items() if said.startswith(NOT_SO)]
    leads = [
        f"{difference_of(each)} on {data}"
        for data in found
        if (each := compared(found, Comparison((data, "GLML"), (data, "Euclid")))) is not None
    ]
    return [
        f"GLML minus Euclid, in points: {'; '.join(leads)}. The papers' {len(every)} sentences have these verdicts: "
        f"{counted(every.values())}.",
        f"Our data contradict {number(len(against), 'sentence')}{': ' if against else ''}{', '.join(against)}. The "
        "papers do not describe their data exactly, so this does not contradict the papers.",
    ]


def parts(results: Results, preset: Preset) -> Parts:
    """The accuracies, the sentences with their verdicts, every comparison, how well the metrics are proved, time."""
    found, groups = accuracies_of(results), grouped(results)
    names = [name for name in METHODS if any(name in methods for methods in found.values())]
    rows = []
    for data, methods in found.items():
        count = max(map(len, methods.values()))
        rows.append([data, count, *(of(list(methods.get(name, {}).values()), count) for name in names)])
    lines = ["", "## Accuracy of 1-NN, in per cent", "", *table(["data", "realisations", *names], rows)]
    lines += ["", "In brackets: the number of realisations, if fewer than all were run or had a metric."]
    head = ["", "the papers", "taken as", "comparisons", "verdict"]
    said, details, against = [], [], []
    for place, claim in enumerate(claims(found), start=1):
        there, verdicts = judged(found, claim)
        verdict = joined(list(verdicts.values()), claim.needs)
        said.append(
            [place, claim.said, claim.means, counted(verdicts.values()) or NOT_RUN, claim.worded(verdict)]
        )
        details += [[place, which, difference_of(each), verdicts[which]] for which, each in there.items()]
        if verdict is Verdict.CONTRADICTED:
            against.append(f"- sentence {place}, {claim.said}: {claim.worded(verdict)}; open.")
    verdicts_of = ["", "## What becomes of the papers' sentences", "", *legend(), *table(head, said)]
    verdicts_of += [
        *([""] if against else []),
        *against,
        *ahead(found),
        *falls(found),
        "",
        HOW_VERDICTS,
        "",
        HOW,
    ]
    compared_all = table(["", "", "points (95 %)", "verdict"], details)
    further = ["", "## Every comparison", "", *legend(), *compared_all]
    further += ["", "## What was proved, and what was chosen", "", *proofs(groups)]
    return Parts(lines, verdicts_of, [*further, "", "## Seconds", "", *times(groups)])


HOW = (
    "The tests are paired t-tests over the realisations, two-sided, at 5 % for all comparisons of a sentence together "
    "(Holm). Realisations are drawn anew, so those of one D and of another are paired by their number alone. A "
    "sentence is *supported* if as many comparisons as its words need are significant in its favour. It is "
    "*contradicted* if so many are significant against it that its words cannot hold. Otherwise it is *undecided*. The "
    "data are ours, so a sentence is contradicted only on our Gaussians or mixtures; on the papers' data it may be "
    "true. Some sentences are taken to ask for a "
    "difference of a point, which is ours too. Such a comparison is supported if the first is significantly more than "
    "a point above the second, and contradicted only if it is significantly below by any amount. Differences are those "
    "of the accuracies, in points, without that point."
)


def ahead(found: Accuracies) -> list[str]:
    """The metrics that are above GLML in the mean at some D, each test by itself."""
    sentences = []
    for data, methods in found.items():
        for method in METHODS:
            if data == MIXTURE or method in ("GLML", "Bayes") or method not in methods:
                continue
            each = compared(found, Comparison((data, method), (data, "GLML")))
            if each is not None and each.mean > 0:
                sentences.append(f"{method} by {difference_of(each, 2)} on {data}, p = {each.p_value:.2g}")
    if not sentences:
        return []
    return [
        "",
        f"Metrics with a higher mean than GLML on Gaussians, each tested by itself: {'; '.join(sentences)}.",
    ]


def falls(found: Accuracies) -> list[str]:
    """The methods that are best between the least D and the most, and what they lose from there on."""
    drawn = [data for data in found if data != MIXTURE]
    sentences = []
    for method in METHODS:
        means = {data: mean(there).value for data in drawn if (there := present(found[data].get(method, {})))}
        if len(means) < 3:
            continue
        best, last = max(means, key=lambda data: means[data]), drawn[-1]
        if best in (drawn[0], last) or last not in means:
            continue
        each = compared(found, Comparison((best, method), (last, method)))
        assert each is not None
        if each.interval[0] <= 0:
            continue
        sentences.append(
            f"{method} from D = {dimension(best)} by {difference_of(each)}, p = {each.p_value:.2g}"
        )
    if not sentences:
        return []
    return [
        "",
        f"Some accuracies rise first and then fall. These fall significantly up to D = {dimension(drawn[-1])}, each "
        f"tested by itself: {'; '.join(sentences)}.",
    ]


def difference_of(each: Difference, digits: int = 1) -> str:
    """In points, with its interval."""
    mean_of, low, high = (f"{100 * value:+.{digits}f}" for value in (each.mean, *each.interval))
    return f"{mean_of} ({low} to {high})"


# ---- the picture


def draw(results: Results, preset: Preset, figure: Any) -> None:
    """Accuracy by dimension, and on the mixtures."""
    found = accuracies_of(results)
    figure.set_size_inches(11, 4.6)
    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    for method in METHODS:
        by_dimension = {
            dimension(data): values
            for data, methods in found.items()
            if data != MIXTURE and (values := present(methods.get(method, {})))
        }
        if by_dimension:
            curve(left, method, by_dimension, lw=2 if method in ("Euclid", "GLML") else 1)
    left.set_xscale("log")
    ticks = [dimension(data) for data in found if data != MIXTURE]
    left.set_xticks(ticks, [str(d) for d in ticks])
    left.minorticks_off()
    left.set_xlabel("dimensions D")
    left.set_ylabel("accuracy, %")
    left.set_title("two Gaussians, 500 training points, 1-NN by metric")
    left.legend(fontsize=8, ncols=4, loc="upper center", bbox_to_anchor=(0.5, -0.15))
    left.grid(alpha=0.3)
    bars(right, {name: present(values) for name, values in found.get(MIXTURE, {}).items()})


def bars(axes: Any, found: dict[str, list[float]]) -> None:
    """The mean accuracies on the mixtures, with their standard errors, the best above."""
    names = sorted((name for name in found if found[name]), key=lambda name: -mean(found[name]).value)
    means = [mean(found[name]) for name in names]
    axes.barh(
        names,
        [100 * each.value for each in means],
        xerr=[100 * each.error for each in means],
        color=["#D55E00" if name == "GLML" else "#999999" for name in names],
    )
    axes.invert_yaxis()
    if means:
        axes.set_xlim(100 * min(each.value for each in means) - 3, 100)
    axes.set_xlabel("accuracy, % (the axis does not begin at 0)")
    axes.set_title("mixtures: Bayes, 1-NN by metric")


def present(by_realisation: Mapping[int, float | None]) -> list[float]:
    """Of the realisations with a metric."""
    return [value for value in by_realisation.values() if value is not None]
