"""Speed and size of the gerrymandering solver; writes benchmark_gerrymandering.md as it goes.

    python validation/benchmark_gerrymandering.py [--skip-cvxpy]

Peers, side by side in this run: a CCCP step at W = I through cvxpy, as the polynomial-size SDP and as the enumerated
one (problem.py, CLARABEL), building included. Ours: the same step by the fast solver, inference and bound included.
Features are z-scored. Real sets are read from the folder in CVXML_DATA, which this script needs.
"""

from __future__ import annotations

import argparse
import resource
import time
import timeit
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import cvxml
from cvxml import datasets
from cvxml.firstorder import one_blas_thread
from cvxml.methods.ssvm import greedy
from cvxml.methods.ssvm.inference import loss_augmented, table
from cvxml.methods.ssvm.instance import Instance, instance
from cvxml.methods.ssvm.nearest import nearest
from cvxml.methods.ssvm.point import point_at, rescaled
from cvxml.methods.ssvm.sgd import sgd
from cvxml.methods.ssvm.step import StepSolver

REPORT = Path(__file__).with_suffix(".md")


def load(name: str, n: int | None) -> tuple[Any, Any]:
    """The first n points, z-scored."""
    X, y = datasets.load(name)
    return datasets.standardize(X[:n]), y[:n]


def problem(name: str, n: int | None, C_times_n: float = 1.0, k: int = 3) -> Instance:
    X, y = load(name, n)
    return instance(X, y, n_neighbors=k, C=C_times_n / len(X))


def step(p: Instance, tol: float) -> tuple[float, float]:
    """Seconds of the step at W = I scaled to its best, and the relative gap reached."""
    started = time.perf_counter()
    at = rescaled(p, point_at(p, np.eye(p.X.shape[1])))
    result = StepSolver(p, at.latent).solve(at, tol, early=False)
    return time.perf_counter() - started, (result.objective - result.bound) / result.best.norm2


def seconds(run: Callable[[], Any], times: int = 3) -> float:
    """The best of some runs."""
    return min(timeit.repeat(run, number=1, repeat=times))


def steps() -> list[str]:
    lines = ["| step at W = I | 1e-4 of the scale, s | 1e-6, s | 1e-9, s |", "|---|---|---|---|"]
    for name, n, weight in (
        ("letter", 1000, 1),
        ("ionosphere", 351, 1),
        ("ionosphere", 351, 10),
        ("letter", 16000, 1),
    ):
        p = problem(name, n, weight)
        cells = []
        for tol in (1e-4, 1e-6, 1e-9):
            runs = [step(p, tol) for _ in range(1 if n == 16000 else 3)]
            assert max(gap for _, gap in runs) <= tol, (name, tol, runs)
            cells.append(f"{min(took for took, _ in runs):.2f}")
        lines.append(f"| {name} {n} x {p.X.shape[1]}, C = {weight}/n | {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    return lines


def against_cvxpy() -> list[str]:
    from cvxml.methods.ssvm.problem import enumerated, polynomial

    lines = [
        "| step, ionosphere, k = 3 | cvxpy, s | ours to 1e-6, s | ratio | objectives differ by |",
        "|---|---|---|---|---|",
    ]
    for n, name, build in ((20, "enumerated", enumerated), (80, "polynomial", polynomial)):
        X, y = datasets.subsample(*datasets.load("ionosphere"), n)
        p = instance(datasets.standardize(X), y, n_neighbors=3)
        at = rescaled(p, point_at(p, np.eye(p.X.shape[1])))
        h_star = [tuple(h) for h in at.latent.tolist()]
        started = time.perf_counter()
        literal = build(p.X, p.y, p.k, p.C, p.Lam, h_star)
        literal.solve(solver="CLARABEL")
        theirs = time.perf_counter() - started
        ours = min(step(p, 1e-6)[0] for _ in range(3))
        result = StepSolver(p, at.latent).solve(at, 1e-6, early=False)
        apart = abs(literal.value - result.objective)
        assert apart <= 1e-5 * abs(result.objective)
        lines.append(f"| {name}, N = {n} | {theirs:.1f} | {ours:.3f} | {theirs / ours:.0f} | {apart:.0e} |")
        print(lines[-1], flush=True)
    return lines


def runs() -> list[str]:
    lines = [
        "| full CCCP | start | seconds | steps | F | its last step: gap / scale |",
        "|---|---|---|---|---|---|",
    ]
    for name, n, weight in (("ionosphere", None, 1), ("ionosphere", None, 10), ("letter", 16000, 1)):
        X, y = load(name, n)
        for start in ("zero", "identity"):
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                began = time.perf_counter()
                solution = cvxml.solve("ssvm", X, y, C=weight / len(X), init=start, tol=1e-4)
                took = time.perf_counter() - began
            proof = solution.certificate.step
            assert proof is not None
            assert proof.rel_gap <= 1e-4
            lines.append(
                f"| {name} {len(X)} x {X.shape[1]}, C = {weight}/n | {start} | {took:.1f} | {solution.n_iter} "
                f"| {solution.objective:.4f} | {proof.rel_gap:.0e} |"
            )
            print(lines[-1], flush=True)
    return lines


def inference() -> list[str]:
    p = problem("letter", 16000)
    W = np.eye(16)
    candidates = seconds(lambda: nearest(p.X, p.y, p.R, W, p.k))
    near = nearest(p.X, p.y, p.R, W, p.k)
    lines = []
    for tau in (0, 1):
        exact, printed = (
            seconds(lambda t=tau: table(near.D, t)),
            seconds(lambda t=tau: greedy.table(near.D, t)),
        )
        lines.append(
            f"Table of all classes, tau = {tau}: exact {exact:.3f} s, greedy {printed:.3f} s ({exact / printed:.2f})."
        )
    whole = seconds(
        lambda: (loss_augmented(nearest(p.X, p.y, p.R, W, p.k), p.y, p.Lam), point_at(p, W, near))
    )
    epoch = seconds(lambda: sgd(p, W, 1, 64), 1) - 2 * seconds(lambda: point_at(p, W), 1)
    lines += [
        f"Candidates (k nearest of each class, all points): {candidates:.2f} s.",
        f"A whole pass, candidates and both inferences with their sets: {whole:.2f} s.",
        f"An SGD epoch, mini-batches of 64, without the two exact values of F: {epoch:.2f} s.",
    ]
    print("\n".join(lines), flush=True)
    return ["letters 16000 x 16, 26 classes, k = 3:", "", *[f"- {line}" for line in lines]]


def growth() -> list[str]:
    sizes = (1000, 2000, 4000, 8000, 16000)
    took = [step(problem("letter", n), 1e-4)[0] for n in sizes]
    exponent = np.polyfit(np.log(sizes), np.log(took), 1)[0]
    cells = ", ".join(f"{n}: {s:.2f} s" for n, s in zip(sizes, took, strict=True))
    line = f"One step on the first N letters to 1e-4: {cells}; fitted exponent {exponent:.2f}."
    print(line, flush=True)
    return [line]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--skip-cvxpy", action="store_true", help="leave out the literal problems")
    parsed = parser.parse_args()
    parts = [inference, steps, runs, growth]
    if not parsed.skip_cvxpy:
        parts.insert(3, against_cvxpy)
    text = [
        "# Gerrymandering: speed",
        "",
        "`python validation/benchmark_gerrymandering.py`, 2 cores. k = 3, 0/1 loss, z-scored features.",
    ]
    for part in parts:
        with one_blas_thread():
            text += ["", *part()]
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        REPORT.write_text("\n".join([*text, "", f"Peak memory {peak:.2f} GiB.", ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
