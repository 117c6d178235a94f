"""What the experiment of MLSVM reports: Table 2 and Fig. 2 of the paper beside ours, and the paper's sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from validation.experiments.page import Groups, Parts, Results, counted, grouped, listed, table
from validation.experiments.statistics import differs, in_points, mean, not_worse, percent
from validation.experiments.tasks import Preset, Result
from validation.experiments.verdicts import Compared, Verdict, judged, legend, letters, these
from validation.experiments.words import Words

WORDS = Words("mlsvm")
PAPER: dict[str, tuple[float, list[str]]] = WORDS.found["paper"]
REMARKS = WORDS.remarks()  # why MLSVM differs in the report of the preset "reduced"
METHODS = ("kNN", "LMNN", "ITML", "SVM", "MLSVM", "MLSVM per class")
EXTRA = ("Crammer-Singer", "MCML", "MLSVM printed")  # of the presets "reduced" and "full"
EXACT = EXTRA[0]  # the paper's SVM, which not every preset has
HINDSIGHT = "MLSVM in hindsight"
OF_A_DEGREE = ("SVM", "MLSVM", "MLSVM per class", "Crammer-Singer")
METRICS = ("MLSVM", "ITML", "LMNN")
EXCEPTED = ("german_numeric", "LMNN")  # by the paper itself
TRIED = {  # what might have explained a difference
    "the choice in hindsight": HINDSIGHT,
    "neighbours per class": "MLSVM per class",
    "Algorithm 1 as printed": "MLSVM printed",
}
TRIALS = 10  # of fewer, a standard error says little
OVERLAP = 1.0  # half of the points to train on, half to test
NEAR = 0.01  # a model with a point of error more is not among the best, and not competitive
TESTS = ("the paper's own test", "with Holm", "for new points with Holm")
COLOURS = ("#000000", "#e69f00", "#56b4e9", "#cc79a7", "#d55e00", "#009e73", "#0072b2", "#999999", "#999933")
MARKERS = ("x", "v", "^", "s", "o", "D", "P", "<", ">")

Comparison = tuple[str, str]  # data, method


def parts(results: Results, preset: Preset) -> Parts:
    """Errors of all methods beside the paper's best, the claims, the best models, and how well ours are proved."""
    groups = grouped(results)
    errors = errors_table(groups)
    unproved = [WORDS("unproved")] if any("†" in row for row in errors) else []
    columns = [WORDS("columns")] if set(EXTRA) <= set(methods_of(groups)) else []
    return Parts(
        WORDS.page(
            "tables", errors=errors, columns=columns, unproved=unproved, marked=marked(groups, preset)
        ),
        verdicts(groups),
        [*best_models(groups), *WORDS.page("details", hindsight=hindsight(groups), proofs=proofs(groups))],
    )


def short(results: Results, preset: Preset) -> list[str]:
    """Return the result and the contradictions, a sentence each."""
    groups = grouped(results)
    lowest = []
    for methods in groups.values():
        means = {name: round(mean(errors_of(methods[name])).value, 9) for name in candidates(groups)}
        lowest += [name for name, value in means.items() if value == min(means.values())]
    near = sum(not is_marked(groups, data) for data in groups)
    lower = lower_means(groups, svm_of(groups))
    improved = sentences(groups)[0].verdicts["With Holm"]
    better, worse = (
        sum(found is kind for (_, metric), found in improved.items() if metric == "MLSVM")
        for kind in (Verdict.SUPPORTED, Verdict.CONTRADICTED)
    )
    counts = {"near": near, "sets": len(groups), "better": better, "worse": worse}
    return [
        WORDS("result", lowest=counted(lowest), lower=lower, **counts),
        against(groups),
    ]


# --- errors


def methods_of(groups: Groups) -> tuple[str, ...]:
    """Those that were run on every set of the results."""
    return (*METHODS, *(method for method in EXTRA if all(method in methods for methods in groups.values())))


def errors_of(results: list[Result]) -> list[float]:
    """The test error of every trial."""
    return [result["error"] for result in results]


def errors_table(groups: Groups) -> list[str]:
    """Mean and standard error; * where MLSVM as printed is too far from the paper's best (`is_marked`)."""
    rows, names = [], methods_of(groups)
    for data, methods in groups.items():
        cells = [f"{mean(errors_of(methods[method]))}{unproved(methods[method])}" for method in names]
        cells[METHODS.index("MLSVM")] += " *" if is_marked(groups, data) else ""
        rows.append([data, *cells, percent(PAPER[data][0])])
    return table(["data", *names, "best in the paper"], rows)


def unproved(results: list[Result]) -> str:
    """A mark for the trials whose metric has a gap that is not proved."""
    count = sum(not result.get("proved", True) for result in results)
    return f" †{count}" if count else ""


def is_marked(groups: Groups, data: str) -> bool:
    """True where MLSVM, always among the paper's best, is further from them than two standard errors of a difference.

    The paper prints no standard error of the figure: it is taken to have ours.
    """
    ours = mean(errors_of(groups[data]["MLSVM"]))
    return differs(ours, PAPER[data][0], ours.error)


def marked(groups: Groups, preset: Preset) -> list[str]:
    """A sentence on every difference that is marked."""
    differing = [data for data in groups if is_marked(groups, data)]
    if not differing:
        return [WORDS("none_marked")]
    none = "open." if preset.splits >= TRIALS else WORDS("few_trials", trials=preset.splits)
    known = REMARKS if preset.remarks else {}
    said = []
    for data in differing:
        methods = groups[data]
        tried = [f"{name}, {mean(errors_of(methods[of]))}" for name, of in TRIED.items() if of in methods]
        why = known.get((data, "MLSVM"), none)
        said.append(f"{data}: {why} Tried: {', '.join(tried)}.{at_the_edge(methods, preset)}")
    return WORDS.bullets("marked", said)


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
    """A sentence of the paper, what is compared for it, the comparisons, and their verdicts by each of the tests."""

    said: str
    means: str
    pairs: dict[Comparison, Compared]
    verdicts: dict[str, dict[Comparison, Verdict]]


def sentences(groups: Groups) -> list[Sentence]:
    """Return four sentences of the paper with their comparisons."""
    svm = svm_of(groups)
    improved = {
        (data, metric): gain(groups, data, "kNN", metric)
        for data in groups
        for metric in METRICS
        if (data, metric) != EXCEPTED
    }

    def before(*others: str) -> dict[Comparison, Compared]:
        return {(data, other): gain(groups, data, other, "MLSVM") for data in groups for other in others}

    return [
        sentence(groups, "improved", improved, 0.0),
        sentence(groups, "best", before(*candidates(groups)[:-1]), -NEAR, 0.0),
        sentence(groups, "better", before(*METRICS[1:]), 0.0),
        sentence(groups, "competitive", before(svm), -NEAR),
    ]


def sentence(
    groups: Groups,
    name: str,
    pairs: dict[Comparison, Compared],
    favour: float,
    against: float | None = None,
) -> Sentence:
    """Return a sentence with its verdicts: by the paper's test, by it with Holm, and for new points with Holm."""
    words = WORDS.found["sentences"][name]
    means = words["means"].format(point=100 * NEAR, lower=lower_means(groups, svm_of(groups)))
    here = these(pairs)
    alone = {key: judged({key: each}, favour, against)[key] for key, each in here.items()}
    found = {
        "By the paper's own test": alone,
        "With Holm": judged(here, favour, against),
        "For new points, with Holm": judged(pairs, favour, against),
    }
    return Sentence(words["said"], means, pairs, found)


def gain(groups: Groups, data: str, first: str, second: str) -> Compared:
    """How much more error the first method has."""
    return Compared(errors_of(groups[data][first]), errors_of(groups[data][second]), OVERLAP)


def svm_of(groups: Groups) -> str:
    """What is taken as the paper's SVM: its own where it was run on every set, else libsvm's."""
    return EXACT if EXACT in methods_of(groups) else "SVM"


def candidates(groups: Groups) -> tuple[str, ...]:
    """The models that the paper compares in Fig. 2 and Table 2, MLSVM last."""
    return ("kNN", "LMNN", "ITML", svm_of(groups), "MLSVM")


def lower_means(groups: Groups, svm: str) -> str:
    """On how many sets the SVM has less mean error than MLSVM, and than each of the paper's metrics."""

    def mean_of(data: str, method: str) -> float:
        return mean(errors_of(groups[data][method])).value

    below = [[mean_of(data, svm) < mean_of(data, metric) for metric in METRICS] for data in groups]
    counts = {"below": sum(each[0] for each in below), "all_below": sum(map(all, below))}
    name = "The paper's SVM (Crammer-Singer)" if svm == EXACT else "The SVM (libsvm)"
    return WORDS("lower", svm=name, sets=len(groups), metrics=", ".join(METRICS), **counts)


def against(groups: Groups) -> str:
    """Return a sentence: how many comparisons contradict and support each of the paper's, by each of the tests."""
    said, every = [], sentences(groups)
    for each in every:
        own, holm, new = (
            [list(found.values()).count(kind) for kind in (Verdict.CONTRADICTED, Verdict.SUPPORTED)]
            for found in each.verdicts.values()
        )
        if own[0] or holm[0]:
            said.append(WORDS("against_one", said=each.said, own=own, of=len(each.pairs), holm=holm, new=new))
    return WORDS("against", count=len(said), of=len(every), listed=listed(said))


def verdicts(groups: Groups) -> list[str]:
    """The verdicts on four sentences of the paper, a table each."""
    lines = [line for each in sentences(groups) for line in of_one(each)]
    return WORDS.page(
        "verdicts", svm=WORDS("svm_exact" if svm_of(groups) == EXACT else "svm_other"), sentences=lines
    )


def of_one(sentence: Sentence) -> list[str]:
    """Return a sentence, its counts of verdicts, and a table: sets below each other, methods beside each other."""
    sets, methods = (list(dict.fromkeys(each[at] for each in sentence.pairs)) for at in (0, 1))

    def cell(name: Comparison) -> str:
        if name not in sentence.pairs:
            return ""
        found = sentence.pairs[name].beyond()
        low, high = found.interval
        codes = letters(*(of[name] for of in sentence.verdicts.values()))
        return f"{in_points(found.mean)} ({100 * low:+.2f} to {100 * high:+.2f}) {codes}"

    return WORDS.page(
        "sentence",
        said=sentence.said,
        means=sentence.means,
        count=len(sentence.pairs),
        counts=" ".join(f"{test}: {counted(of.values())}." for test, of in sentence.verdicts.items()),
        legend=legend(*TESTS),
        table=table(["data", *methods], [[data, *(cell((data, of)) for of in methods)] for data in sets]),
    )


# --- details


def best_models(groups: Groups) -> list[str]:
    """As Table 2: the methods whose errors do not differ from the least by a paired t-test at the 95 % level.

    Then on how many sets each of the paper's models is among the best, which the paper has two sentences about.
    """
    names = candidates(groups)
    best = {data: best_of(methods, names) for data, methods in groups.items()}
    rows = [
        [data, *map(", ".join, (best[data], best_of(methods, methods_of(groups)), PAPER[data][1]))]
        for data, methods in groups.items()
    ]
    here = {name: sum(name in models for models in best.values()) for name in names}
    # MLSVM is the last of both, and the SVM of either name at the same place
    there = [sum(name in PAPER[data][1] for data in groups) for name in METHODS[:5]]
    first = here["MLSVM"] > max(here["LMNN"], here["ITML"])
    return WORDS.page(
        "best_models",
        best=table(["data", "the paper's models", "all of ours", "the paper"], rows),
        always=", ".join(name for name in names if here[name] == len(groups)) or "none",
        negated="" if first else "not ",
        sets=len(groups),
        how_often=table(["", *names], [["ours", *here.values()], ["the paper's Table 2", *there]]),
    )


def best_of(methods: dict[str, list[Result]], names: Sequence[str]) -> list[str]:
    """Those of the methods that do not differ from the best of them."""
    return not_worse({name: errors_of(methods[name]) for name in names})


def hindsight(groups: Groups) -> list[str]:
    """What MLSVM could reach if its parameters were chosen by the test part, and how many points its problem has."""
    rows = []
    for data, methods in groups.items():
        known, paper = mean(errors_of(methods[HINDSIGHT])), PAPER[data][0]
        mark = " *" if known.value > paper and differs(known, paper, known.error) else ""
        usable = mean([result["usable"] for result in methods[HINDSIGHT]])
        rows.append([data, f"{known}{mark}", percent(paper), f"{100 * usable.value:.0f}"])
    return table(["data", HINDSIGHT, "best in the paper", "usable"], rows)


def proofs(groups: Groups) -> list[str]:
    """Degrees and weights chosen, and the gaps of the metrics that were tested."""
    rows = []
    for data, methods in groups.items():
        for method in methods_of(groups)[1:]:
            chosen = methods[method]
            gaps = [result["rel_gap"] for result in chosen if "rel_gap" in result]
            missed = sum(not result["proved"] for result in chosen) if gaps else 0
            selecting = sum(result["selecting"]["unproved"] for result in chosen)
            fits = sum(result["selecting"]["fits"] for result in chosen)
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
    groups = grouped(results)
    figure.set_size_inches(12, 5.5)
    axes = figure.subplots()
    names = methods_of(groups)
    width = 0.8 / len(names)
    for at, (method, colour, marker) in enumerate(zip(names, COLOURS, MARKERS, strict=False)):
        means = [mean(errors_of(methods[method])) for methods in groups.values()]
        places = [i + (at - (len(names) - 1) / 2) * width for i in range(len(groups))]
        values, errors = [100 * m.value for m in means], [200 * m.error for m in means]
        axes.errorbar(places, values, errors, fmt=marker, color=colour, label=method, capsize=2, ms=7)
    for i, data in enumerate(groups):
        label = "best in the paper" if i == 0 else None
        axes.hlines(100 * PAPER[data][0], i - 0.45, i + 0.45, color="black", lw=1.5, label=label)
    axes.set_xticks(range(len(groups)), [data.split("_")[0] for data in groups])
    for i in range(len(groups) - 1):
        axes.axvline(i + 0.5, color="#dddddd", lw=1)
    axes.set_ylabel("test error, per cent (bars: two standard errors)")
    axes.set_ylim(bottom=0)
    axes.legend(ncols=4, loc="upper right")
