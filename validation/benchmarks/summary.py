"""The tables of docs/speed.md: for each method its best alternative, the ratios, and the growth of its time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from cvxml.methods import names
from validation.benchmarks.measure import LEAST, exponent
from validation.benchmarks.size import LONGEST
from validation.experiments.page import table
from validation.experiments.tasks import Result

ENOUGH = 1e-3  # a gap with which an alternative counts as having solved the problem
NOT_RUN = "not run"
NEVER = "never"  # where ours does not reach what an alternative did
COLUMNS = ("its seconds", "reached", "ours to that", "ratio")
BEGIN, END = "<!-- speed: python -m validation.benchmarks -->", "<!-- end of speed -->"
REPORT = "validation/benchmarks/report.md"
PICTURE = "validation/benchmarks/ratios.png"
PAGE = "docs/speed.md"

Record = dict[str, Any]


def collected(recorded: Record, kind: str, benchmark: str | None = None) -> list[Any]:
    """Every claim, growth or fact, in the order of the parts."""
    parts = [each for each in recorded["parts"] if benchmark in (None, each["benchmark"])]
    return [found for each in parts for found in each["result"].get(kind, [])]


def summary(recorded: Record) -> list[str]:
    """A line for each method: its largest problem, the best alternative there, all ratios, its growth."""
    head = ("method", "data", "best alternative", *COLUMNS, "all ratios", "growth")
    claims, grown = collected(recorded, "claims"), collected(recorded, "growth")
    rows: list[tuple[str, ...]] = []
    for method in [name for name in names() if any(each["method"] == name for each in [*claims, *grown])]:
        found = [claim for claim in claims if claim["method"] == method and rivals_of(claim)]
        own = [each for each in grown if each["method"] == method]
        growth = growth_of(max(own, key=lambda each: each["sizes"][-1])) if own else NOT_RUN
        if not found:
            rows.append((f"`{method}`", NOT_RUN, *("",) * 6, growth))
            continue
        rows.append((f"`{method}`", *line(*largest(found))[1:], all_ratios(found), growth))
    return table(head, rows)


def largest(claims: list[Result]) -> tuple[Result, Result]:
    """Return the largest problem, and the best alternative there. Each claim has an alternative."""
    size = max(claim["n"] * claim["d"] for claim in claims)
    pairs = [
        (claim, rival) for claim in claims if claim["n"] * claim["d"] == size for rival in rivals_of(claim)
    ]
    return min(pairs, key=lambda pair: order(pair[1]))


class Span(NamedTuple):
    """The ratios of a method: the seconds of an alternative over ours to the same gap."""

    method: str
    least: float
    most: float
    at_largest: float  # of the best alternative, on the largest problem
    package: str  # of that alternative


def spans(recorded: Record) -> list[Span]:
    """Return a span for each method with an alternative that solves its problem, in the order of `at_largest`."""
    found = []
    claims = [claim for claim in collected(recorded, "claims") if solved_ratios([claim])]
    for method in sorted({claim["method"] for claim in claims}):
        own = [claim for claim in claims if claim["method"] == method]
        ratios = [each for each in solved_ratios(own) if each is not None]
        rival = largest(own)[1]
        here = ratio(rival)
        if here is not None:
            found.append(Span(method, min(ratios), max(ratios), here, rival["name"].split(", ")[0]))
    return sorted(found, key=lambda span: span.at_largest)


def solved_ratios(claims: Iterable[Result]) -> list[float | None]:
    """Return the ratios of all alternatives that solve their problem; None where ours never reached as much."""
    return [ratio(rival) for claim in claims for rival in rivals_of(claim) if not order(rival)[0]]


def rivals_of(claim: Result) -> list[Result]:
    """Those that solve the same problem: no baseline."""
    return [rival for rival in claim["rivals"] if not rival.get("baseline", False)]


def order(rival: Result) -> tuple[bool, float]:
    """The best alternative first: one that solves the problem, with the least ratio; else the least gap.

    One whose answer ours never reaches is before all.
    """
    if not rival["answered"]:
        return True, float("inf")
    if rival["gap"] is not None and rival["gap"] > ENOUGH:
        return True, float(rival["gap"])
    found = ratio(rival)
    return False, 0.0 if found is None else found


def ratio(rival: Result) -> float | None:
    """Its seconds over ours to the same; None where it reached nothing, or ours never as much."""
    if rival["seconds"] is None or rival["same"] is None:
        return None
    return float(rival["seconds"] / rival["same"])


def all_ratios(claims: Iterable[Result]) -> str:
    """From the least to the greatest, over all alternatives that solve their problem."""
    found = solved_ratios(claims)
    ratios = [each for each in found if each is not None]
    missed = f"{NEVER} ({found.count(None)}), " if None in found else ""
    return missed + (f"{short(min(ratios))} to {short(max(ratios))}" if ratios else "none solved")


def growth_of(grown: Result) -> str:
    """Its exponent, with the sizes."""
    sizes = grown["sizes"]
    return f"n^{exponent(grown):.1f} ({sizes[0]} to {sizes[-1]})"


def line(claim: Result, rival: Result) -> tuple[str, ...]:
    """method, data, alternative, its seconds, what it reached, ours to that, the ratio."""
    found, same = ratio(rival), rival["same"]
    none = NEVER if rival["answered"] else "-"
    return (
        f"`{claim['method']}`",
        f"{claim['data']}, {claim['n']} x {claim['d']}",
        f"{rival['name']} ({rival['settings']})",
        took(rival["seconds"]),
        rival["reached"],
        none if same is None else took(same),
        "-" if found is None else short(found),
    )


def took(seconds: float | None) -> str:
    """To two digits or so."""
    if seconds is None:
        return "-"
    for digits, least in ((0, 100.0), (1, 10.0), (2, 0.1), (3, 0.01)):
        if seconds >= least:
            return f"{seconds:.{digits}f} s"
    return f"{1000 * seconds:.2g} ms"


def short(value: float) -> str:
    """Two digits."""
    return f"{value:.0f}" if value >= 10 else f"{value:.2g}"


def quoted(recorded: Record | None) -> list[str]:
    """Return the lines of docs/speed.md between the two marks."""
    if recorded is None:
        return [
            "Not measured yet. `python -m validation.benchmarks` writes a table here. Figures of earlier scripts are",
            f"in [{REPORT}](../{REPORT}).",
        ]
    made = recorded["environment"]
    found = ", ".join(f"`{method}`" for method in outrun(recorded)) or "no method"
    return [
        f"Measured by `{made['command']}` on {made['date']}, {made['cores']} cores. Some alternative was",
        f"faster, in at least one problem, for {found}.",
        "",
        f"![How many times as long the best alternative takes, for {len(spans(recorded))} methods](../{PICTURE})",
        "",
        f"A mark is the ratio on the largest problem that an alternative solves (gap at most {ENOUGH:g}): the",
        "seconds of the best alternative, divided by ours to the same gap. For `nca`, which is not convex, it is ours",
        "to the same objective. The line is the range over all problems",
        "and alternatives. Left of the dashed line the alternative is faster.",
        "",
        "<details>",
        "<summary>The table of all methods</summary>",
        "",
        "| column | meaning |",
        "|---|---|",
        "| data | the largest problem of the method with an alternative |",
        f"| best alternative | among those that solve the problem (gap at most {ENOUGH:g}), the one with the smallest "
        "ratio. If no alternative solves the largest problem, the row has the one with the smallest gap; *all ratios* "
        "leaves out this ratio, and the picture shows the largest problem that an alternative solves |",
        "| its seconds | the time of the alternative |",
        "| reached | the gap that our certificate proves for its answer, as a share of the objective; for `nca` "
        "its objective; for `glml` the gap as a share of the scale; in this row the optimum is 0, and the objective is "
        "a square, so the gap is tiny |",
        f"| ours to that | the seconds until our solver has proved the same gap, or {LEAST:g} if the gap is smaller; "
        "for `nca`, until it has the same objective; for `glml`, the whole time of our closed form |",
        "| ratio | its seconds divided by ours; below 1 the alternative is faster |",
        "| all ratios | the range over all problems and all alternatives that solve them; "
        f"[the report](../{REPORT}) has each |",
        "| growth | the exponent of the time in the number n of points, fitted to several n in the given range. Data "
        f"and tolerance may differ from those of the row: see [the report](../{REPORT}) |",
        "",
        "cvxpy gets most problems in a vectorised form. *Row by row* is the problem as `cvxml.problem` states it, and",
        "*generated* adds constraints as they are violated. *A step* is the convex step of gerrymandering, and",
        "*one query* the metric of GLML at one point. The page on solvers has the tolerances of `cvxml.core.backend`.",
        "",
        *summary(recorded),
        "",
        "</details>",
        "",
        "The next table has large problems: thousands of points, hundreds of features, or many pairs. The time is",
        "that of the whole call of `cvxml.solve`, with one thread of BLAS. *Asked* is the tolerance, and *reached*",
        "the proved gap as a share of the objective. A run is stopped soon after "
        f"{LONGEST / 60:g} minutes: then *reached* is",
        "the gap at the stop, and is above *asked*.",
        "",
        *sizes(recorded),
    ]


def outrun(recorded: Record) -> list[str]:
    """Return the methods for which some alternative that solves its problem was faster than ours."""
    claims = [
        (claim["method"], rival) for claim in collected(recorded, "claims") for rival in rivals_of(claim)
    ]
    found = {method for method, rival in claims if not order(rival)[0] and (ratio(rival) or 0.0) < 1}
    return [name for name in names() if name in found]


def sizes(recorded: Record) -> list[str]:
    """Return a table of the large problems: the requested and the certified gap, the seconds and the memory."""
    rows = []
    for claim in collected(recorded, "claims", "size"):
        *pairs, memory = claim["timed"].split("; ")[-1].split(", ")
        data = ", ".join([claim["data"], f"{claim['n']} x {claim['d']}", *pairs])
        rows += [
            (f"`{claim['method']}`", data, each["to"], took(each["seconds"]), each["reached"], memory)
            for each in ([] if claim["rivals"] else claim["ours"])
        ]
    return (
        table(("method", "data", "asked", "seconds", "reached", "memory"), rows)
        if rows
        else ["Not measured yet."]
    )


def with_section(text: str, lines: list[str]) -> str:
    """Return the page with these lines between the marks. Raises ValueError if a mark is not there exactly once."""
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        raise ValueError(f"{PAGE} must have {BEGIN} and {END}, each once")
    before, rest = text.split(BEGIN)
    return "\n".join([before + BEGIN, "", *lines, "", END]) + rest.split(END)[1]
