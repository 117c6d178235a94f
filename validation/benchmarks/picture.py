"""The pictures of the report and of docs/speed.md: seconds by the number of points, and ratios of seconds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cvxml.displays._palette import COLOURS, MARKERS, pyplot
from validation.benchmarks.measure import exponent
from validation.benchmarks.summary import Span
from validation.experiments.tasks import Result


def growth(grown: Sequence[Result], path: Path) -> None:
    """Write it, on logarithmic axes: a power of n is a straight line, of which the legend has the exponent."""
    plt = pyplot()
    figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
    for k, each in enumerate(grown):
        axes.loglog(
            each["sizes"],
            each["seconds"],
            color=COLOURS[k % len(COLOURS)],
            marker=MARKERS[k % len(MARKERS)],
            label=f"{each['method']}, {each['timed'].removeprefix('solve ')}: n^{exponent(each):.1f}",
        )
    axes.set(xlabel="points", ylabel="seconds until certified", title=", ".join({e["data"] for e in grown}))
    axes.set_xticks(grown[0]["sizes"], [str(n) for n in grown[0]["sizes"]], minor=False)
    axes.minorticks_off()
    axes.grid(alpha=0.3)
    figure.legend(loc="outside lower center", ncols=2, fontsize="small", frameon=False)
    figure.savefig(path, dpi=110, metadata={"Software": None})
    plt.close(figure)


def ratios(spans: Sequence[Span], path: Path) -> None:
    """Write the ratios of all methods: a line from the least to the greatest, and a mark at the largest problem."""
    plt = pyplot()
    figure, axes = plt.subplots(figsize=(7, 1.2 + 0.26 * len(spans)), layout="constrained")
    packages = sorted({span.package for span in spans})
    for at, span in enumerate(spans):
        k = packages.index(span.package)
        axes.plot([span.least, span.most], [at, at], color="0.75", lw=3, zorder=1)
        axes.plot(span.at_largest, at, MARKERS[k], color=COLOURS[k], ms=8, zorder=2)
    for k, package in enumerate(packages):
        axes.plot([], [], MARKERS[k], color=COLOURS[k], ms=8, label=f"against {package}")
    axes.axvline(1, color="0.3", ls="--", lw=1.5)
    axes.set_yticks(range(len(spans)), [span.method for span in spans])
    axes.set(
        xscale="log", ylim=(-0.6, len(spans) - 0.4), xlabel="seconds of the alternative / seconds of cvxml"
    )
    ticks = [ratio for ratio in (0.1, 1, 10, 100, 1000) if axes.get_xlim()[0] <= ratio <= axes.get_xlim()[1]]
    axes.set_xticks(ticks, [f"{ratio:g}" for ratio in ticks])
    axes.minorticks_off()
    axes.grid(axis="x", alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside lower center", ncols=len(packages), frameon=False)
    figure.savefig(path, dpi=110, metadata={"Software": None})
    plt.close(figure)
