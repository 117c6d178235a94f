"""NCA beside scikit-learn's NeighborhoodComponentsAnalysis, side by side in one run: time, f reached, memory, growth.

    python validation/benchmark_nca.py [--out FILE]        (some minutes; writes validation/benchmark_nca.md)

Digits (1797 x 64), 2 and 64 components. scikit-learn at its defaults (50 iterations) and with 1000; its starts are
ours. f is recomputed for both by `cvxml.evaluate`. Memory is the peak that numpy allocates, by tracemalloc, in a run
of its own. Growth: one value and gradient for 2 components, on random subsets of letters where CVXML_DATA has them,
else on generated waveform data.
"""

from __future__ import annotations

import argparse
import os
import time
import timeit
import tracemalloc
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.neighbors import NeighborhoodComponentsAnalysis

import cvxml
from cvxml import datasets
from cvxml.firstorder import one_blas_thread
from cvxml.methods.nca.fast import Pairs
from cvxml.methods.nca.instance import instance

REPEATS = 3
SIZES = (1000, 2000, 4000, 8000, 16000)
LARGEST_DENSE = 4000  # beyond it n x n arrays do not fit beside each other


def f_of(X: Any, y: Any, components: Any) -> float:
    """f of a transform, row by row."""
    return float(cvxml.evaluate("nca", X, y, components.T @ components, n_components=len(components)).f)


def peak(run: Any) -> float:
    """The most that numpy holds at a time while `run` runs, in MiB."""
    tracemalloc.start()
    run()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most / 2**20


def compared(X: Any, y: Any, m: int) -> list[str]:
    """Rows of the table for m components."""
    runs = []
    for limit in (50, 1000):
        seconds = []
        for _ in range(REPEATS if limit == 50 else 1):
            started = time.perf_counter()
            model = NeighborhoodComponentsAnalysis(m, max_iter=limit).fit(X, y)
            seconds.append(time.perf_counter() - started)
        runs.append((min(seconds), f_of(X, y, model.components_), model.n_iter_))
    default, reached, _ = runs[0]
    their_memory = peak(lambda: NeighborhoodComponentsAnalysis(m, max_iter=3).fit(X, y))

    ours = [timed(X, y, m, reached) for _ in range(REPEATS)]
    first, last, whole = (min(times) for times in zip(*(run[:3] for run in ours), strict=True))
    count, solution = ours[0][3:]
    memory = peak(lambda: cvxml.solve("nca", X, y, n_components=m, tol=1e-5))
    value = f_of(X, y, solution.components)
    cells = [
        (f"scikit-learn, max_iter={limit}", f, seconds, memory, f"{count} iterations")
        for limit, (seconds, f, count), memory in zip(
            (50, 1000), runs, (f"{their_memory:.0f} MiB", ""), strict=True
        )
    ]
    cells += [
        ("cvxml, until f is as good", first[1], first[0], "", f"{default / first[0]:.0f} times faster"),
        (
            "cvxml, the whole descent",
            last[1],
            last[0],
            "",
            f"{default / last[0]:.1f} times, {count} iterations",
        ),
        ("cvxml, with its certificate", value, whole[0], f"{memory:.0f} MiB", f"{solution.status.name}"),
    ]
    return [f"| {m} | {who} | {f:.4f} | {s:.2f} s | {size} | {note} |" for who, f, s, size, note in cells]


def timed(X: Any, y: Any, m: int, reached: float) -> tuple[Any, Any, Any, int, Any]:
    """(seconds, f) where f is first as good as `reached`, where the descent ends and where the call does; more."""
    marks: list[tuple[float, float]] = []
    started = time.perf_counter()
    solution = cvxml.solve(
        "nca",
        X,
        y,
        n_components=m,
        tol=1e-5,
        callback=lambda step: marks.append((time.perf_counter() - started, -step.objective)),
    )
    whole = time.perf_counter() - started, -solution.objective
    return next(mark for mark in marks if mark[1] >= reached), marks[-1], whole, len(marks), solution


def growth() -> tuple[str, list[str]]:
    """The data used and the exponent, and a line a size."""
    name = "letter" if "letter" in datasets.names() else "waveform"
    rows = []
    for n in SIZES:
        X, y = datasets.waveform(n) if name == "waveform" else datasets.subsample(*datasets.load(name), n)
        rows.append((n, *at_size(datasets.standardize(X), y)))
    exponent = np.polyfit(np.log([row[0] for row in rows]), np.log([row[2] for row in rows]), 1)[0]
    lines = [
        f"| {n} | {rough:.3f} s | {exact:.3f} s | {memory:.0f} MiB | {other} |"
        for n, rough, exact, memory, other in rows
    ]
    return f"{name}, z-scored; fitted exponent of the second column {exponent:.2f}", lines


def at_size(X: Any, y: Any) -> tuple[float, float, float, str]:
    """Seconds of one value and gradient in single precision and in double, memory, scikit-learn's seconds."""
    A, pairs = np.eye(2, X.shape[1]), Pairs(instance(X, y))
    with one_blas_thread():
        rough = min(timeit.repeat(lambda: pairs.value_and_gradient(A, rough=True), number=1, repeat=3))
        exact = min(timeit.repeat(lambda: pairs.value_and_gradient(A), number=1, repeat=3))
    memory = peak(lambda: Pairs(instance(X, y)).value_and_gradient(A))
    return rough, exact, memory, f"{theirs(X, y, A):.3f} s" if len(X) <= LARGEST_DENSE else ""


def theirs(X: Any, y: Any, A: Any) -> float:
    """Seconds of one of scikit-learn's evaluations: a fit of one iteration, over those it took."""
    model = NeighborhoodComponentsAnalysis(len(A), init=A, max_iter=1)
    calls = 0
    inner = model._loss_grad_lbfgs

    def counted(*arguments: Any) -> Any:
        nonlocal calls
        calls += 1
        return inner(*arguments)

    model._loss_grad_lbfgs = counted
    return timeit.timeit(lambda: model.fit(X, y), number=1) / calls


def main() -> None:
    """Write the report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path(__file__).with_suffix(".md"))
    out = parser.parse_args().out
    warnings.simplefilter("ignore")  # suprema at infinity, iterations that run out: the table says so
    X, y = datasets.load("digits")
    lines = [row for m in (2, 64) for row in compared(X, y, m)]
    what, sizes = growth()
    text = [
        "# NCA beside scikit-learn",
        "",
        f"`python validation/benchmark_nca.py`, {os.cpu_count()} cores. Digits, raw, 1797 x 64; f is 1797 at most, and",
        "better the larger. Both from the start `auto`: discriminant directions for 2 components, the identity for 64;",
        "ours scales it. The best of three runs each; ratios are to scikit-learn at its defaults, in the same run.",
        "",
        "| components | who | f | time | peak of numpy's memory | |",
        "|---|---|---|---|---|---|",
        *lines,
        "",
        f"One value and gradient, 2 components; {what}:",
        "",
        "| n | ours, single precision | ours | memory of ours | scikit-learn's |",
        "|---|---|---|---|---|",
        *sizes,
        "",
    ]
    out.write_text("\n".join(text), encoding="utf-8")
    print("\n".join(text))


if __name__ == "__main__":
    main()
