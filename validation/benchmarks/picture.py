"""The picture of the report: seconds by the number of points, a line a method."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cvxml.displays._palette import COLOURS, MARKERS, pyplot
from validation.benchmarks.measure import exponent
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
    axes.legend(fontsize="small")
    figure.savefig(path, dpi=110, metadata={"Software": None})
    plt.close(figure)
