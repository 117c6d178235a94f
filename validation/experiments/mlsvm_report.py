"""What the experiment of MLSVM reports: Table 2 and Fig. 2 of the paper beside ours, and the paper's sentences."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any, NamedTuple

from validation.experiments.page import (
    Groups,
    Parts,
    Results,
    Short,
    answered,
    counted,
    crossed,
    grouped,
    nested,
    number,
    table,
    with_bars,
)
from validation.experiments.statistics import differs, in_points, mean, not_worse, percent
from validation.experiments.tasks import Preset, Result
from validation.experiments.verdicts import Compared, Verdict, answer, judged, legend, letters, these
from validation.experiments.words import Words

WORDS = Words("mlsvm")
PAPER: dict[str, tuple[float, list[str]]] = WORDS.found["paper"]
REMARKS = WORDS.remarks()  # why MLSVM differs in the report of the preset "full"
HINDSIGHT = "MLSVM in hindsight"
METHODS = (
    "kNN",
    "LMNN",
    "ITML",
    "SVM",
    "MLSVM",
    "MLSVM per class",
    "Crammer-Singer",
    "MCML",
    "MLSVM printed",
)
CANDIDATES = (
    "kNN",
    "LMNN",
    "ITML",
    "Crammer-Singer",
    "MLSVM",
)  # the models of Fig. 2; Table 2 has all but kNN
NAMES = {"Crammer-Singer": "SVM"}  # in Table 2
LABELS = {"Crammer-Singer": "the paper's SVM (Crammer-Singer)"}  # in the conclusion
OF_A_DEGREE = ("SVM", "MLSVM", "MLSVM per class", "Crammer-Singer")
METRICS = ("MLSVM", "ITML", "LMNN")
TRIED = {  # what might have explained a difference
    "the choice in hindsight": HINDSIGHT,
    "neighbours per class": "MLSVM per class",
    "Algorithm 1 as printed": "MLSVM printed",
}
C = Verdict.CONTRADICTED
TRIALS = 10  # of fewer, a standard error says little
OVERLAP = 1.0  # half of the points to train on, half to test
BEST = "best in the paper"
TESTS = ("By the paper's own test", "With Holm", "For new points, with Holm")
SHORT = ("the paper's own test", "with Holm", "for new points with Holm")
COLOURS = ("#000000", "#e69f00", "#56b4e9", "#cc79a7", "#d55e00", "#009e73", "#0072b2", "#999999", "#999933")
MARKERS = ("x", "v", "^", "s", "o", "D", "P", "<", ">")

Comparison = tuple[str, str]  # data, and the method that stands for both


def whole(results: Results) -> Groups:
    """The sets that all methods were run on."""
    return {data: of for data, of in grouped(results).items() if {*METHODS, HINDSIGHT} <= set(of)}


def parts(results: Results, preset: Preset) -> Parts:
    """Errors of all methods beside the paper's best, the claims, the best models, and how well ours are proved."""
    groups = whole(results)
    errors = crossed("data", groups, (*METHODS, BEST), lambda data, method: cell(groups[data], data, method))
    unproved = [WORDS("unproved")] if any("†" in row for row in errors) else []
    every = sentences(groups)
    said, both = [line for each in every for line in of_one(each)], both_ways(every)
    details = {"hindsight": hindsight(groups), "proofs": proofs(groups)}
    return Parts(
        WORDS.page("tables", errors=errors, unproved=unproved, marked=marked(groups, preset)),
        WORDS.page("verdicts", sentences=said, both=WORDS("both", said="; ".join(both)) if both else ""),
        [*best_models(groups), *WORDS.page("details", **details)],
    )


def short(results: Results, preset: Preset) -> Short:
    """Return the first screen, and the result and the contradictions in full, each with a list."""
    groups = whole(results)
    every = sentences(groups)
    here, there = among_best(groups)
    of_mlsvm = {
        test: [found for (_, of), found in each.items() if of == "MLSVM"]
        for test, each in every[0].verdicts.items()
    }
    better, holm_better, new_better = (found.count(Verdict.SUPPORTED) for found in of_mlsvm.values())
    worse, holm_worse, new_worse = (found.count(Verdict.CONTRADICTED) for found in of_mlsvm.values())
    where = [data for (data, of) in against_by(every[0], TESTS[0]) if of == "MLSVM"]
    models = ", ".join(f"{name} {here[name]} ({in_paper(name, there)})" for name in CANDIDATES[::-1])
    near, below, above = apart(groups)
    given = {"lower": ", ".join(below) or "none", "higher": ", ".join(above) or "none"}
    result = [
        WORDS("best", models=models),
        WORDS(
            "better",
            better=better,
            worse=worse,
            holm_better=holm_better,
            holm_worse=holm_worse,
            new_better=new_better,
            new_worse=new_worse,
        ),
        lower_means(groups),
        WORDS("near", near=number(len(near), "set"), names=f" ({', '.join(near)})" if near else "", **given),
    ]
    rival = max(CANDIDATES[:-1], key=lambda name: here[name])
    names = [name for name in CANDIDATES[::-1] if name not in ("MLSVM", rival)]
    sets = {"sets": len(groups), "here": here["MLSVM"], "there": there["MLSVM"]}
    is_best = [Verdict.SUPPORTED] * here["MLSVM"]
    is_best += [Verdict.CONTRADICTED] * (len(groups) - here["MLSVM"])
    return Short(
        WORDS(
            "conclusion",
            holds=answered(answer(is_best)),
            rival=LABELS.get(rival, rival),
            most=here[rival],
            most_there=there[rival],
            better=better,
            worse=worse,
            where=f" ({', '.join(where)})" if where else "",
            **sets,
        ),
        WORDS(
            "result",
            others=", ".join(f"{name} {here[name]} ({in_paper(name, there)})" for name in names),
            near=len(near),
            lower=len(below),
            higher=len(above),
        ),
        against_short(groups, every),
        nested(WORDS("all_results", sets=len(groups)), result),
        nested(*contradictions(groups, every)),
    )


def against_short(groups: Groups, every: Sequence[Sentence]) -> str:
    """Return how many comparisons contradict the paper's sentences and support them, in all and for each sentence."""
    own, support = ([count_of(each, TESTS[0], kind) for each in every] for kind in (C, Verdict.SUPPORTED))
    said = [
        WORDS("against_in", name=each.short, against=count, support=good, of=len(each.pairs))
        for each, count, good in zip(every, own, support, strict=True)
    ]
    brief = [WORDS(f"{name}_short") for name in against_best(groups)]
    more = WORDS("more", said=" and ".join(brief)) if brief else ""
    if not any(own):
        return WORDS("against_none", of=len(every), more=more)
    count = sum(map(bool, own))
    return WORDS(
        "against_short",
        count=WORDS("each_of" if count == len(every) else "some_of", count=count, of=len(every)),
        own=sum(own),
        listed=", ".join(said),
        different=len(different(every, TESTS[0])),
        all_pairs=len(different(every)),
        holm=len(different(every, TESTS[1])),
        new=len(different(every, TESTS[2])),
        more=more,
    )


def in_paper(name: str, there: dict[str, int]) -> str:
    """Return on how many sets the paper has a model among the best; Table 2 does not have kNN."""
    return WORDS("not_there") if name == "kNN" else f"{there[name]}"


def count_of(each: Sentence, test: str, kind: Verdict = C) -> int:
    """Return how many comparisons contradict a sentence by a test, or have another verdict."""
    return list(each.verdicts[test].values()).count(kind)


def against_by(each: Sentence, test: str) -> list[Comparison]:
    """Return the comparisons that contradict a sentence by a test."""
    return [which for which, verdict in each.verdicts[test].items() if verdict is C]


def different(every: Sequence[Sentence], test: str | None = None) -> set[tuple[str, frozenset[str]]]:
    """Return the data and both methods of the comparisons that contradict a sentence by a test; or of all."""
    return {
        (which[0], each.methods[which])
        for each in every
        for which in (each.pairs if test is None else against_by(each, test))
    }


def both_ways(every: Sequence[Sentence]) -> list[str]:
    """Return the pairs that contradict one sentence and support another by the paper's own test."""
    found: dict[tuple[str, frozenset[str]], dict[Verdict, tuple[str, str]]] = {}
    for each in every:
        for which, verdict in each.verdicts[TESTS[0]].items():
            value = in_points(each.pairs[which].beyond().mean)
            found.setdefault((which[0], each.methods[which]), {})[verdict] = (each.short, value)
    return [
        WORDS(
            "both_ways",
            data=data,
            methods=" and ".join(sorted(methods)),
            value=of[C][1],
            against=of[C][0],
            support=of[Verdict.SUPPORTED][0],
        )
        for (data, methods), of in found.items()
        if {C, Verdict.SUPPORTED} <= of.keys()
    ]


def apart(groups: Groups) -> tuple[list[str], list[str], list[str]]:
    """Return the sets on which MLSVM does not differ from the paper's lowest error, is below it, and is above it."""
    near = [data for data, methods in groups.items() if not is_marked(methods, data)]
    below = [data for data, methods in groups.items() if mean_of(methods, "MLSVM") < PAPER[data][0]]
    return (
        near,
        [data for data in groups if data in below and data not in near],
        [data for data in groups if data not in below and data not in near],
    )


def contradictions(groups: Groups, every: Sequence[Sentence]) -> tuple[str, list[str]]:
    """Return how many of the paper's sentences are contradicted, and each of them; last those on the best models."""
    said = [
        WORDS(
            "against_one",
            said=each.brief,
            against=count,
            of=len(each.pairs),
            support=count_of(each, TESTS[0], Verdict.SUPPORTED),
        )
        for each in every
        if (count := count_of(each, TESTS[0]))
    ]
    first = WORDS(
        "against",
        count=f"all {len(every)}" if len(said) == len(every) else f"{len(said)} of the {len(every)}",
        colon=":" if said else ".",
    )
    own, holm, new = (sum(count_of(each, test) for each in every) for test in TESTS)
    pairs = {"different": len(different(every, TESTS[0])), "all_pairs": len(different(every))}
    pairs["holm_different"] = len(different(every, TESTS[1]))
    more = [WORDS("stricter", own=own, holm=holm, new=new, **pairs)] if said else []
    on_best = list(against_best(groups).values())
    more += [WORDS("counts", said=", and ".join(on_best))] if on_best else []
    return first, [*said, *more]


def against_best(groups: Groups) -> dict[str, str]:
    """Return the paper's sentences on the best models that are contradicted, by their names in words/mlsvm.toml."""
    here, _ = among_best(groups)
    on_best = {}
    if always_best(here, groups) != ["MLSVM"]:
        on_best["only"] = WORDS("only", always=", ".join(always_best(here, groups)) or "none")
    if not here["MLSVM"] > max(here["LMNN"], here["ITML"]):
        on_best["reliable"] = WORDS("reliable", here=", ".join(f"{name} {here[name]}" for name in METRICS))
    return on_best


# --- errors


def errors_of(methods: dict[str, list[Result]], method: str) -> list[float]:
    """The test error of every trial."""
    return [result["error"] for result in methods[method]]


def mean_of(methods: dict[str, list[Result]], method: str) -> float:
    """The mean error."""
    return mean(errors_of(methods, method)).value


def cell(methods: dict[str, list[Result]], data: str, method: str) -> str:
    """Mean and standard error; † and the number of metrics that are not proved; * as `is_marked` has it."""
    if method == BEST:
        return percent(PAPER[data][0])
    unproved = sum(not result.get("proved", True) for result in methods[method])
    star = " *" if method == "MLSVM" and is_marked(methods, data) else ""
    return f"{mean(errors_of(methods, method))}" + (f" †{unproved}" if unproved else "") + star


def is_marked(methods: dict[str, list[Result]], data: str, method: str = "MLSVM") -> bool:
    """True where MLSVM, always among the paper's best, is further from them than two standard errors of a difference.

    The paper prints no standard error of the figure: it is taken to have ours.
    """
    ours = mean(errors_of(methods, method))
    return differs(ours, PAPER[data][0], ours.error)


def marked(groups: Groups, preset: Preset) -> list[str]:
    """A sentence on every difference that is marked."""
    none = "open." if preset.splits >= TRIALS else WORDS("few_trials", trials=preset.splits)
    said = []
    for data, methods in groups.items():
        if is_marked(methods, data):
            why = REMARKS.get((data, "MLSVM"), none) if preset.remarks else none
            tried = ", ".join(f"{name}, {mean(errors_of(methods, of))}" for name, of in TRIED.items())
            side = WORDS("side", where="below" if mean_of(methods, "MLSVM") < PAPER[data][0] else "above")
            said.append(f"{data}: {side}{why} Tried: {tried}.{at_the_edge(methods, preset)}")
    return WORDS.bullets("marked", said) or [WORDS("none_marked")]


def at_the_edge(methods: dict[str, list[Result]], preset: Preset) -> str:
    """How often the best lam of a degree above 1 is the last that the preset has, and more were to be tried."""
    last = max(preset.settings["kernel_weights"])
    chosen, known = (
        sum(result["degree"] > 1 and result["weight"] == last for result in methods[method])
        for method in ("MLSVM", HINDSIGHT)
    )
    if last == max(preset.settings["weights"]) or not (chosen or known):
        return ""
    return WORDS("edge", last=last, chosen=chosen, known=known, trials=len(methods["MLSVM"]))


# --- the paper's sentences


class Sentence(NamedTuple):
    """A sentence of the paper, its words on the first screen and below it, what is compared, the verdicts."""

    said: str
    short: str
    brief: str
    means: str
    pairs: dict[Comparison, Compared]
    verdicts: dict[str, dict[Comparison, Verdict]]
    methods: dict[Comparison, frozenset[str]]  # both methods of a comparison


def sentences(groups: Groups) -> list[Sentence]:
    """Return the paper's sentences, with their verdicts by each of `TESTS`."""
    return [sentence(groups, **words) for words in WORDS.found["sentences"].values()]


def sentence(
    groups: Groups,
    said: str,
    short: str,
    brief: str,
    means: str,
    worse: list[str],
    better: list[str],
    but: Sequence[str] = (),
    favour: float = 0.0,
    against: float | None = None,
) -> Sentence:
    """Return a sentence of words/mlsvm.toml, which says that `better` methods have less error than `worse` ones."""
    pairs, methods = {}, {}
    for data, first, second in product(groups, worse, better):
        name = second if len(better) > 1 else first
        both = [errors_of(groups[data], method) for method in (first, second)]
        if (data, name) != tuple(but) and len(both[0]) > 1:
            pairs[data, name] = Compared(*both, OVERLAP)
            methods[data, name] = frozenset((first, second))
    here = these(pairs)
    alone = {key: judged({key: each}, favour, against)[key] for key, each in here.items()}
    found = alone, judged(here, favour, against), judged(pairs, favour, against)
    return Sentence(
        said,
        short,
        brief,
        means.format(point=-100 * favour, lower=lower_means(groups)),
        pairs,
        dict(zip(TESTS, found, strict=True)),
        methods,
    )


def lower_means(groups: Groups) -> str:
    """On how many sets the SVM has less mean error than MLSVM, and than each of the paper's metrics."""
    below = [
        [mean_of(methods, "Crammer-Singer") < mean_of(methods, metric) for metric in METRICS]
        for methods in groups.values()
    ]
    counts = {"below": sum(each[0] for each in below), "all_below": sum(map(all, below))}
    return WORDS("lower", sets=len(groups), metrics=", ".join(METRICS), **counts)


def of_one(sentence: Sentence) -> list[str]:
    """Return a sentence, its counts of verdicts, and a table: sets below each other, methods beside each other."""
    sets, methods = (list(dict.fromkeys(each[at] for each in sentence.pairs)) for at in (0, 1))

    def cell(*name: str) -> str:
        if name not in sentence.pairs:
            return ""
        found = sentence.pairs[name].beyond()
        low, high = found.interval
        codes = letters(*(of[name] for of in sentence.verdicts.values()))
        return f"{in_points(found.mean)} ({100 * low:+.2f} to {100 * high:+.2f}) {codes}"

    counts = " ".join(f"{test}: {counted(of.values())}." for test, of in sentence.verdicts.items())
    given = {"said": sentence.said, "means": sentence.means, "count": len(sentence.pairs), "counts": counts}
    made = crossed("data", sets, methods, cell)
    return WORDS.page("sentence", legend=legend(*SHORT), table=made, open=opened(sentence), **given)


def opened(sentence: Sentence) -> list[str]:
    """Return the entry of the open observations on a sentence that the paper's own test contradicts."""
    where = [f"{data} ({method})" for data, method in against_by(sentence, TESTS[0])]
    return [f"- {WORDS('open', said=sentence.brief, sets=', '.join(where))}"] if where else []


# --- details


def best_of(methods: dict[str, list[Result]], names: Sequence[str]) -> list[str]:
    """Return the methods with errors that do not differ from the lowest, the lowest first."""
    return not_worse({name: errors_of(methods, name) for name in names})


def among_best(groups: Groups) -> tuple[dict[str, int], dict[str, int]]:
    """Return on how many sets each of the paper's models is among the best: here, and in Table 2."""
    best = [best_of(methods, CANDIDATES) for methods in groups.values()]
    here = {name: sum(name in models for models in best) for name in CANDIDATES}
    there = {name: sum(NAMES.get(name, name) in PAPER[data][1] for data in groups) for name in CANDIDATES}
    return here, there


def always_best(here: dict[str, int], groups: Groups) -> list[str]:
    """Return the models that are among the best on every set."""
    return [name for name, count in here.items() if count == len(groups)]


def best_models(groups: Groups) -> list[str]:
    """As Table 2: the methods whose errors do not differ from the least by a paired t-test at the 95 % level.

    Then on how many sets each of the paper's models is among the best, which the paper has two sentences about.
    """

    rows = [
        [data, *map(", ".join, (best_of(methods, CANDIDATES), best_of(methods, METHODS), PAPER[data][1]))]
        for data, methods in groups.items()
    ]
    here, there = among_best(groups)
    return WORDS.page(
        "best_models",
        best=table(["data", "the paper's models", "all of ours", "the paper"], rows),
        always=", ".join(always_best(here, groups)) or "none",
        negated="" if here["MLSVM"] > max(here["LMNN"], here["ITML"]) else "not ",
        sets=len(groups),
        how_often=table(
            ["", *CANDIDATES], [["ours", *here.values()], ["the paper's Table 2", *there.values()]]
        ),
    )


def hindsight(groups: Groups) -> list[str]:
    """What MLSVM could reach if its parameters were chosen by the test part, and how many points its problem has."""
    rows = []
    for data, methods in groups.items():
        known, paper = mean(errors_of(methods, HINDSIGHT)), PAPER[data][0]
        mark = " *" if known.value > paper and is_marked(methods, data, HINDSIGHT) else ""
        usable = mean([result["usable"] for result in methods[HINDSIGHT]])
        rows.append([data, f"{known}{mark}", percent(paper), f"{100 * usable.value:.0f}"])
    return table(["data", HINDSIGHT, BEST, "usable"], rows)


def proofs(groups: Groups) -> list[str]:
    """Degrees and weights chosen, and the gaps of the metrics that were tested."""
    rows = []
    for data, method in product(groups, METHODS[1:]):
        chosen = groups[data][method]
        gaps = [result["rel_gap"] for result in chosen if "rel_gap" in result]
        missed = sum(not result["proved"] for result in chosen) if gaps else 0
        selecting, fits = (sum(result["selecting"][of] for result in chosen) for of in ("unproved", "fits"))
        row = [
            counted(result["degree"] for result in chosen) if method in OF_A_DEGREE else "",
            counted(f"{result['weight']:g}" for result in chosen) if fits else "",
            f"{max(gaps):.1e}" if gaps else "",
            f"{missed} of {len(gaps)}" if gaps else "",
            f"{selecting} of {fits}" if gaps and fits else "",
        ]
        rows.append([data, method, *row])
    head = ("degree", "lam or gamma", "largest gap", "not proved", "not proved while selecting")
    return table(["data", "method", *head], rows)


def draw(results: Results, preset: Preset, figure: Any) -> None:
    """Fig. 2: the mean error of each method on each set, with its standard error; the paper's best as a line."""
    groups = whole(results)
    figure.set_size_inches(12, 5.5)
    axes = figure.subplots()
    width = 0.8 / len(METHODS)
    for at, (method, colour, marker) in enumerate(zip(METHODS, COLOURS, MARKERS, strict=True)):
        means = [mean(errors_of(methods, method)) for methods in groups.values()]
        places = [i + (at - (len(METHODS) - 1) / 2) * width for i in range(len(groups))]
        with_bars(axes, places, means, 2, fmt=marker, color=colour, label=method, capsize=2, ms=7)
    for i, data in enumerate(groups):
        label = BEST if i == 0 else None
        axes.hlines(100 * PAPER[data][0], i - 0.45, i + 0.45, color="black", lw=1.5, label=label)
    axes.set_xticks(range(len(groups)), list(groups))
    for i in range(len(groups) - 1):
        axes.axvline(i + 0.5, color="#dddddd", lw=1)
    axes.set_ylabel("test error, per cent (bars: two standard errors)")
    axes.set_ylim(bottom=0)
    axes.legend(ncols=4, loc="upper right")
