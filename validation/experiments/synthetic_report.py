"""What the experiment on drawn data reports: accuracies, what becomes of the papers' sentences, proofs, a picture."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from validation.experiments.glml_learnt import LEARNT
from validation.experiments.glml_report import (
    METHODS,
    NOT_RUN,
    curve,
    of,
    present,
    proofs,
    run_methods,
    times,
)
from validation.experiments.page import (
    Parts,
    Results,
    Short,
    counted,
    enumerated,
    grouped,
    listed,
    number,
    table,
)
from validation.experiments.statistics import mean
from validation.experiments.tasks import Preset
from validation.experiments.verdicts import (
    NEEDS,
    Compared,
    Verdict,
    difference,
    joined,
    judged,
    legend,
    paired,
)
from validation.experiments.words import Words

WORDS = Words("synthetic")
MIXTURE = "mixtures"
KIND = "gaussians "
NOT_SO = f"{Verdict.CONTRADICTED} on our"
DISCRIMINATIVE = ("Euclid", *LEARNT)
OTHERS = (*DISCRIMINATIVE, "Fisher, one Gaussian")  # what the papers draw beside GLML

SURE = 0.05  # a test by itself

Accuracies = dict[str, dict[str, dict[int, float | None]]]  # data -> method -> realisation
Side = tuple[str, str]  # data, method
Comparison = tuple[Side, Side]  # that the accuracy of the first is above that of the second


class Judged(NamedTuple):
    """A sentence of the papers with its comparisons, and their verdicts at 5 % together (Holm)."""

    said: str
    means: str
    of: str
    pairs: dict[Comparison, Compared]
    verdicts: dict[Comparison, Verdict]
    verdict: Verdict | None
    own: bool = False  # a reading of ours, which is not counted with the papers' sentences

    def __str__(self) -> str:
        """The verdict, with whose data it is of where it is against the papers, which do not print theirs."""
        if self.verdict is Verdict.CONTRADICTED:
            return f"{NOT_SO} {self.of}"
        return self.verdict or NOT_RUN


def named(d: int) -> str:
    """The set of two Gaussians in so many dimensions."""
    return f"{KIND}{d}"


def dimension(data: str) -> int:
    """Of a set."""
    return 5 if data == MIXTURE else int(data.removeprefix(KIND))


def gaussians_of(sets: Iterable[str]) -> list[str]:
    """The sets of two Gaussians, by dimension."""
    return sorted((data for data in sets if data != MIXTURE), key=dimension)


def comparisons(drawn: list[str]) -> dict[str, list[Comparison]]:
    """What is compared for each sentence, by the names of words/synthetic.toml."""
    several = len(drawn) > 1
    upper = drawn[len(drawn) // 2 :] if several else []
    ends = [(drawn[0], drawn[-1])] if several else []

    def above(sets: Iterable[str], methods: Iterable[str]) -> list[Comparison]:
        return [((data, "GLML"), (data, method)) for data in sets for method in methods]

    def at_ends(*methods: str) -> list[Comparison]:
        return [((a, method), (b, method)) for a, b in ends for method in methods]

    return {
        "high": above(upper, DISCRIMINATIVE),
        "vastly": [((b, "GLML"), (a, "GLML")) for a, b in pairwise(drawn)],
        "others": above(drawn, OTHERS),
        "fisher": above(drawn, ["Fisher"]),
        "others, high": above(upper, OTHERS),
        "fisher, high": above(upper, ["Fisher"]),
        "separable": [(b, a) for a, b in at_ends("Bayes")],
        "degrades": at_ends("Euclid"),
        "many": at_ends(*(method for method in OTHERS if method != "LMNN")),
        "LMNN": [(b, a) for a, b in at_ends("LMNN")],
        "Bayes": [((MIXTURE, "Euclid"), (MIXTURE, "Bayes"))],
        "wrong": above([MIXTURE], ["Euclid"]),
        "wrong, LMNN": above([MIXTURE], ["LMNN"]),
    }


def claims(found: Accuracies) -> list[Judged]:
    """The papers' sentences, of the sets there are."""
    drawn = gaussians_of(found)
    upper = [str(dimension(data)) for data in drawn[len(drawn) // 2 :]] if len(drawn) > 1 else ["more"]
    ends = f"{dimension(drawn[0])} to {dimension(drawn[-1])}" if drawn else "the least to the most"
    made = []
    for name, which in comparisons(drawn).items():
        words = WORDS.found["claims"][name]
        means = words["means"].format(upper=f"at D = {' and '.join(upper)}", ends=f"from D = {ends}")
        pairs = {both: each for both in which if (each := compared(found, *both)) is not None}
        ahead = words.get("ahead", 0.0)
        verdicts = judged(pairs, ahead, min(ahead, 0.0))
        verdict = joined(list(verdicts.values()), NEEDS[words.get("needs", "every")])
        of, own = words.get("of", "Gaussians"), words.get("own", False)
        made.append(Judged(words["said"], means, of, pairs, verdicts, verdict, own))
    return made


def accuracies_of(results: Results) -> Accuracies:
    """By set, method and realisation."""
    found: Accuracies = {}
    for task, result in results:
        for name, values in result["methods"].items():
            found.setdefault(task.data, {}).setdefault(name, {})[task.split] = values["accuracy"][0]
    order = [*gaussians_of(found), MIXTURE]
    return {data: found[data] for data in order if data in found}


def compared(found: Accuracies, first: Side, second: Side) -> Compared | None:
    """Over the realisations that both have; None where there are no two. They are drawn anew, and share no points."""
    a, b = (found.get(data, {}).get(method, {}) for data, method in (first, second))
    return paired(a, b, overlap=0.0)


# ---- the page


def short(results: Results, preset: Preset) -> Short:
    """Return the first screen, and the result and the contradictions in full."""
    found = accuracies_of(results)
    every = claims(found)
    leads = [
        f"{difference(*each).shown(1)} on {data}"
        for data in found
        if (each := compared(found, (data, "GLML"), (data, "Euclid"))) is not None
    ]
    papers, ours = ([claim for claim in every if claim.own is own] for own in (False, True))
    own = WORDS("own", count=len(ours), verdicts=all_alike(ours))
    given = {"leads": "; ".join(leads), "count": len(papers), "verdicts": counted(papers)}
    contrary = failing(papers)
    on = dict(zip(WORDS.found["claims"], every, strict=True))
    return Short(
        conclusion(found, papers),
        WORDS(
            "result",
            lead=leads_by_dimension(on["others"]),
            few=fisher_level(found),
            higher=above_on_mixtures(found),
        ),
        contrary,
        WORDS("all_results", own=own, **given),
        contrary,
    )


def leads_by_dimension(claim: Judged) -> str:
    """Return at which D GLML is a point above each metric that is run, and above how many it is at the others."""
    by: dict[int, list[Verdict]] = {}
    for ((data, _), _), verdict in claim.verdicts.items():
        by.setdefault(dimension(data), []).append(verdict)
    counts = {D: (each.count(Verdict.SUPPORTED), len(each)) for D, each in by.items()}
    run: dict[int, dict[str, None]] = {}
    for (data, _), (_, method) in claim.verdicts:
        run.setdefault(dimension(data), {})[method] = None
    alike: dict[
        tuple[str, ...], list[str]
    ] = {}  # the metrics that are run -> D with a lead above each of them
    for D, (count, number_run) in counts.items():
        if count == number_run:
            alike.setdefault(tuple(run[D]), []).append(str(D))
    places = []
    for methods, whole in alike.items():
        absent = [method for method in OTHERS if method not in methods]
        given = {"of": len(methods), "absent": WORDS("absent", methods=", ".join(absent))}
        places.append(WORDS("all_run" if absent else "all", D=enumerated(whole), **given))
    places += [WORDS("some", D=D, count=count, of=of) for D, (count, of) in counts.items() if count < of]
    return WORDS("lead", places=", of ".join(places)) if places else ""


def fisher_level(found: Accuracies) -> str:
    """Return at which D the mean of Fisher of the classes' mixture is above that of GLML, and whether for sure."""
    places = []
    for data in gaussians_of(found):
        pair = compared(found, (data, "Fisher"), (data, "GLML"))
        if pair is not None and (each := difference(*pair)).mean > 0:
            level = WORDS("fisher_level" if each.p_value > SURE else "fisher_ahead")
            lead = f"{100 * each.mean:+.2f}"
            places.append(WORDS("fisher_at", level=level, D=dimension(data), lead=lead, p=each.p_value))
    return WORDS("fisher", places="; ".join(places)) if places else ""


def all_alike(claims: Sequence[Judged]) -> str:
    """Return the verdicts with their numbers, or the verdict alone if there is only one."""
    kinds = {str(claim) for claim in claims}
    return WORDS("each_of", verdict=kinds.pop()) if len(kinds) == 1 else counted(claims)


def failing(papers: Sequence[Judged]) -> str:
    """Return which of the papers' sentences our data contradict, and which data these are."""
    against = [claim for claim in papers if claim.verdict is Verdict.CONTRADICTED]
    if not against:
        return WORDS("against_none")
    return WORDS(
        "against" if len(against) == 1 else "against_several",
        sentences=number(len(against), "sentence"),
        fails="fails" if len(against) == 1 else "fail",
        where=where_of(against),
        listed=listed([claim.said for claim in against], ", "),
    )


def where_of(against: Sequence[Judged]) -> str:
    """Return of which data of ours the sentences are."""
    return WORDS("where", of=enumerated(sorted({claim.of for claim in against}))) if against else ""


def above_on_mixtures(found: Accuracies) -> str:
    """Return which metrics have a higher mean accuracy than GLML on the mixtures."""
    means = {name: mean(there).value for name, of in found.get(MIXTURE, {}).items() if (there := present(of))}
    above = [name for name in METHODS if name != "Bayes" and means.get(name, 0.0) > means.get("GLML", 1.0)]
    have = "has" if len(above) == 1 else "have"
    return WORDS("higher", methods=enumerated(above), have=have) if above else ""


def sets_said(names: Collection[str]) -> str:
    """Return what the data sets are, for the first screen."""
    drawn = gaussians_of(names)
    dimensions = enumerated([str(dimension(data)) for data in drawn])
    return WORDS("sets", dimensions=dimensions) if MIXTURE in names and drawn else ""


def conclusion(found: Accuracies, papers: Sequence[Judged]) -> str:
    """Return whether the lead of GLML over Euclid grows with the dimension, and how many sentences hold."""
    means = {
        data: difference(*each).mean
        for data in found
        if (each := compared(found, (data, "GLML"), (data, "Euclid"))) is not None
    }
    drawn = gaussians_of(means)
    verdicts = [claim.verdict for claim in papers]
    contradicted = verdicts.count(Verdict.CONTRADICTED)
    return WORDS(
        "conclusion",
        grows=growth({dimension(data): 100 * means[data] for data in drawn}),
        mixture=WORDS("mixture", lead=f"{100 * means[MIXTURE]:+.1f}") if MIXTURE in means else "",
        count=len(papers),
        supported=verdicts.count(Verdict.SUPPORTED),
        undecided=(undecided := verdicts.count(Verdict.UNDECIDED)),
        are="is" if undecided == 1 else "are",
        contradicted=contradicted,
        fails="fails" if contradicted == 1 else "fail",
        where=where_of([claim for claim in papers if claim.verdict is Verdict.CONTRADICTED]),
    )


def growth(leads: Mapping[int, float]) -> str:
    """Return how leads in points go with the dimension; leads: by dimension, the least first."""
    values = list(leads.values())
    if not values:
        return WORDS("grows.untested")
    rises = [after > before for before, after in pairwise(values)]
    kind = "never" if values[-1] <= values[0] else "always" if all(rises) else "ends"
    return WORDS(
        f"grows.{kind if rises else 'one'}",
        first=f"{values[0]:+.1f}",
        last=f"{values[-1]:+.1f}",
        least=min(leads),
        most=max(leads),
    )


def parts(results: Results, preset: Preset) -> Parts:
    """The accuracies, the sentences with their verdicts, every comparison, how well the metrics are proved, time."""
    found, groups, every = accuracies_of(results), grouped(results), claims(accuracies_of(results))
    names = run_methods(found.values())
    rows = []
    for data, methods in found.items():
        count = max(map(len, methods.values()))
        rows.append([data, count, *(of(methods.get(name, {}), count) for name in names)])
    said = [
        [i, claim.said, claim.means, counted(claim.verdicts.values()) or NOT_RUN, claim]
        for i, claim in enumerate(every, 1)
    ]
    against = [
        f"- sentence {i}, {claim.said}: {claim}; open."
        for i, claim in enumerate(every, 1)
        if claim.verdict is Verdict.CONTRADICTED
    ]
    details = [
        [i, said_of(*both), difference(*each).shown(1), claim.verdicts[both]]
        for i, claim in enumerate(every, 1)
        for both, each in claim.pairs.items()
    ]
    verdicts = table(["", "the papers", "taken as", "comparisons", "verdict"], said)
    given = {"table": verdicts, "against": against, "ahead": ahead(found), "falls": falls(found)}
    shown = table(["", "", "points (95 %)", "verdict"], details)
    return Parts(
        WORDS.page("tables", accuracies=table(["data", "realisations", *names], rows)),
        WORDS.page("verdicts", legend=legend(), **given),
        [*WORDS.page("details", legend=legend(), table=shown), *proofs(groups), *times(groups)],
    )


def said_of(first: Side, second: Side) -> str:
    """A comparison in words."""
    (data, a), (other, b) = first, second
    return f"{a} - {b}, {data}" if data == other else f"{a}, {data} - {other}"


def ahead(found: Accuracies) -> list[str]:
    """The metrics that are above GLML in the mean at some D, each test by itself."""
    said = []
    for data in gaussians_of(found):
        for method in METHODS:
            pair = (
                compared(found, (data, method), (data, "GLML")) if method not in ("GLML", "Bayes") else None
            )
            if pair is not None and (each := difference(*pair)).mean > 0:
                said.append(f"{method} by {each.shown(2)} on {data}, p = {each.p_value:.2g}")
    return [WORDS("ahead", said="; ".join(said))] if said else []


def falls(found: Accuracies) -> list[str]:
    """The methods that are best between the least D and the most, and what they lose from there on."""
    drawn = gaussians_of(found)
    said = []
    for method in METHODS:
        means = {data: mean(there).value for data in drawn if (there := present(found[data].get(method, {})))}
        if len(means) < 3:
            continue
        best, last = max(means, key=lambda data: means[data]), drawn[-1]
        pair = compared(found, (best, method), (last, method))
        if best not in (drawn[0], last) and pair is not None and (each := difference(*pair)).interval.low > 0:
            by = "{:.1f} ({:.1f} to {:.1f})".format(*(100 * value for value in (each.mean, *each.interval)))
            said.append(f"{method} from D = {dimension(best)} by {by}, p = {each.p_value:.2g}")
    return [WORDS("falls", D=dimension(drawn[-1]), said="; ".join(said))] if said else []


# ---- the picture


def draw(results: Results, preset: Preset, figure: Any) -> None:
    """Accuracy by dimension, and on the mixtures."""
    found = accuracies_of(results)
    figure.set_size_inches(11, 4.6)
    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    ticks = {dimension(data): found[data] for data in gaussians_of(found)}
    for method in METHODS:
        curve(left, method, {d: present(methods.get(method, {})) for d, methods in ticks.items()})
    left.set_xscale("log")
    left.set_xticks(list(ticks), [str(d) for d in ticks])
    left.minorticks_off()
    left.set_xlabel("dimensions D")
    left.set_ylabel("accuracy, %")
    left.set_title("two Gaussians, 500 training points, 1-NN by metric")
    left.legend(fontsize=8, ncols=4, loc="upper center", bbox_to_anchor=(0.5, -0.15))
    left.grid(alpha=0.3)
    bars(right, {name: present(values) for name, values in found.get(MIXTURE, {}).items()})


def bars(axes: Any, found: dict[str, list[float]]) -> None:
    """The mean accuracies on the mixtures, with their standard errors, the best above."""
    means = {name: mean(values) for name, values in found.items() if values}
    names = sorted(means, key=lambda name: -means[name].value)
    heights, errors = ([100 * means[name][at] for name in names] for at in (0, 1))
    colours = ["#D55E00" if name == "GLML" else "#999999" for name in names]
    axes.barh(names, heights, xerr=errors, color=colours)
    axes.invert_yaxis()
    if means:
        axes.set_xlim(min(heights) - 3, 100)
    axes.set_xlabel("accuracy, % (the axis does not begin at 0)")
    axes.set_title("mixtures: Bayes, 1-NN by metric")
