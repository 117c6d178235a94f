"""Speed and size of the MLSVM solver beside cvxpy at its best, in one run; writes benchmark_mlsvm.md.

    python validation/benchmark_mlsvm.py [--quick] [--skip-cvxpy]

The peer: the same problem in vectorised form (one sparse matrix for all distances, on the d(d+1)/2 entries of the
symmetric metric), through CLARABEL and through SCS, building included, at most 150 s each; the faster one that
reaches the accuracy counts. What each reached is measured by our certificate, as gap / objective. Ours:
`cvxml.solve` whole, with the neighbour search and the final certificate. Real sets are read from the folder in
CVXML_DATA and left out where it is not set.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import cvxml
from cvxml import datasets
from cvxml.methods.mlsvm.method import certify, instance

HERE = Path(__file__).parent
LAMS = (1.0, 0.01)
CLARABEL_UP_TO = 400  # points: beyond, it takes several times as long as SCS


def gaussian(n: int, d: int) -> tuple[Any, Any]:
    """Two overlapping Gaussian classes, 1 apart in 5 of d features."""
    rng = np.random.RandomState(0)
    y = np.arange(n) % 2
    X = rng.randn(n, d)
    X[:, :5] += y[:, None]
    return X, y


def cases(quick: bool) -> list[tuple[str, Any, Any, int]]:
    """Name, X, y, K."""
    found = [("gaussian 350 x 34", *gaussian(350, 34), 8), ("gaussian 700 x 57", *gaussian(700, 57), 8)]
    if os.environ.get("CVXML_DATA"):
        for name, n in (("ionosphere", 350), ("spambase", 700)):
            X, y = datasets.subsample(*datasets.load(name), n)
            found.append((f"{name} {n} x {X.shape[1]}, z", datasets.standardize(X), y, 8))
    for name in ("iris", "wine"):
        X, y = datasets.load(name)
        found.append((f"{name}, z", datasets.standardize(X), y, 4))
    return found[4:] if quick else found


def through_cvxpy(X: Any, y: Any, lam: float, k: int, solver: str) -> tuple[float, Any]:
    """Seconds, building included, and the metric."""
    import cvxpy as cp

    started = time.perf_counter()
    given = instance(X, y, lam=lam, n_neighbors=k)
    n, d = given.X.shape
    rows = given.N.usable
    a, b = np.triu_indices(d)
    entries = cp.Variable(len(a))
    fill = np.zeros((d * d, len(a)))
    fill[a * d + b, np.arange(len(a))] = 1
    fill[b * d + a, np.arange(len(a))] = 1
    A = cp.reshape(fill @ entries, (d, d), order="C")
    double = np.where(a == b, 1.0, 2.0)

    def distances(lists: Any) -> tuple[Any, Any]:
        pairs = [(r, i, j) for r, i in enumerate(rows) for j in lists[i]]
        r, i, j = np.array(pairs).T
        x = X[i] - X[j]
        return r, (x[:, a] * x[:, b] * double) @ entries

    of_u, D_u = distances(given.N.impostors)
    of_w, D_w = distances(given.N.targets)
    xi = cp.Variable(len(rows), nonneg=True)
    hi, lo = cp.Variable(len(rows)), cp.Variable(len(rows))
    constraints = [A >> 0, D_u >= hi[of_u], D_w <= lo[of_w], hi >= lo + 1 - xi]
    quadratic = cp.sum_squares(cp.multiply(np.sqrt(double), entries))
    problem = cp.Problem(cp.Minimize(lam / 2 * quadratic + cp.sum(xi) / n), constraints)
    settings: dict[str, Any] = {"solver": solver}
    if solver == "SCS":
        settings |= {"eps_abs": 1e-6, "eps_rel": 1e-6, "max_iters": 100_000, "time_limit_secs": 150}
    else:
        settings |= {"time_limit": 150.0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            problem.solve(**settings)
        except cp.error.SolverError:
            return time.perf_counter() - started, None
    seconds = time.perf_counter() - started
    return seconds, None if A.value is None else A.value


def ours(X: Any, y: Any, lam: float, k: int, accuracy: float, best: Any) -> tuple[float, Any]:
    """Seconds of one `solve` to gap / objective <= accuracy; `best` tells how objective and scale compare."""
    scale = best.certificate.scale
    tol = accuracy * best.objective / scale if scale > 0 else accuracy
    started = time.perf_counter()
    solution = cvxml.solve("mlsvm", X, y, lam=lam, n_neighbors=k, tol=tol)
    return time.perf_counter() - started, solution


def compare(quick: bool, skip_cvxpy: bool) -> list[str]:
    lines = [
        "| data | lam | usable | CLARABEL s (gap/obj) | SCS s (gap/obj) | ours to 1e-6, s | ratio | ours to 1e-9, s |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, X, y, k in cases(quick):
        for lam in LAMS:
            best = cvxml.solve("mlsvm", X, y, lam=lam, n_neighbors=k, tol=1e-9)
            usable = len(instance(X, y, lam=lam, n_neighbors=k).N.usable)
            seconds = {}
            for accuracy in (1e-6, 1e-9):
                runs = [ours(X, y, lam, k, accuracy, best) for _ in range(3)]
                seconds[accuracy] = min(r[0] for r in runs)
                assert runs[0][1].gap <= accuracy * runs[0][1].objective, (name, lam, accuracy)
            cells, times = [], []
            for solver in () if skip_cvxpy else ("CLARABEL", "SCS"):
                if solver == "CLARABEL" and len(X) > CLARABEL_UP_TO:
                    cells.append("not run")
                    continue
                took, A = through_cvxpy(X, y, lam, k, solver)
                if A is None:
                    cells.append(f"{took:.1f} (failed)")
                    continue
                proof = certify(X, y, A, best.dual, lam=lam, n_neighbors=k)
                reached = proof.gap / proof.objective
                cells.append(f"{took:.2f} ({reached:.0e})")
                if reached <= 1e-5:
                    times.append(took)
            cells += ["-"] * (2 - len(cells))
            ratio = f"{min(times) / seconds[1e-6]:.0f}" if times else "-"
            lines.append(
                f"| {name} | {lam:g} | {usable} | {cells[0]} | {cells[1]} | {seconds[1e-6]:.3f} | {ratio} "
                f"| {seconds[1e-9]:.3f} |"
            )
            print(lines[-1], flush=True)
    return lines


def growth() -> list[str]:
    """Seconds to the default tolerance as n grows at fixed d, and the fitted exponent."""
    sizes, seconds = (1000, 2000, 4000, 8000), []
    for n in sizes:
        X, y = gaussian(n, 20)
        started = time.perf_counter()
        solution = cvxml.solve("mlsvm", X, y, lam=0.1, n_neighbors=8)
        seconds.append(time.perf_counter() - started)
        assert solution.rel_gap <= 1e-6
        print(f"n = {n}, d = 20: {seconds[-1]:.2f} s, {solution.n_iter} iterations", flush=True)
    exponent = np.polyfit(np.log(sizes), np.log(seconds), 1)[0]
    cells = ", ".join(f"n = {n}: {s:.2f} s" for n, s in zip(sizes, seconds, strict=True))
    return [f"Gaussian, d = 20, K = 8, lam = 0.1, gap / scale 1e-6: {cells}; fitted exponent {exponent:.2f}."]


def usps() -> list[str]:
    """USPS train, 7291 x 256, K = 8, raw, lam = 1e-3."""
    X, y = datasets.load("usps")
    X, y = X[:7291], y[:7291]
    best = {1e-4: 0.0, 1e-6: 0.0}

    def watch(step: cvxml.result.Step) -> None:
        for accuracy, at in best.items():
            if not at and step.gap <= accuracy * step.objective:
                best[accuracy] = time.perf_counter() - started
                print(f"USPS: gap / objective {accuracy:g} after {best[accuracy]:.1f} s", flush=True)

    started = time.perf_counter()
    solution = cvxml.solve("mlsvm", X, y, lam=1e-3, n_neighbors=8, tol=1e-6, callback=watch)
    total = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return [
        f"USPS train (7291 x 256, K = 8, raw, lam = 1e-3): gap / objective 1e-4 after {best[1e-4]:.0f} s, "
        f"1e-6 after {best[1e-6]:.0f} s; certified to {solution.rel_gap:.1e} of the scale in {total:.0f} s "
        f"({solution.n_iter} iterations); peak memory {peak:.1f} GiB."
    ]


def start_up() -> list[str]:
    """`check` on 1000 x 50, and how long the command line takes to start."""
    X, y = gaussian(1000, 50)
    A = cvxml.solve("mlsvm", X, y, lam=0.1).metric
    started = time.perf_counter()
    verdict = cvxml.check("mlsvm", X, y, A, lam=0.1).verdict.value
    lines = [f"`check` on 1000 x 50: {time.perf_counter() - started:.1f} s ({verdict})."]
    started = time.perf_counter()
    subprocess.run([sys.executable, "-m", "cvxml", "--help"], check=True, capture_output=True)
    lines.append(f"`cvxml --help`: {time.perf_counter() - started:.2f} s.")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="iris and wine only")
    parser.add_argument("--skip-cvxpy", action="store_true")
    parser.add_argument("--only-usps", action="store_true")
    given = parser.parse_args()
    if given.only_usps:
        print("\n".join(usps()))
        return
    head = [
        "# MLSVM: speed beside cvxpy",
        "",
        f"`python validation/benchmark_mlsvm.py`, {os.cpu_count()} cores. K = 8 (iris, wine: 4), neighbourhood knn. "
        "Seconds are wall clock; ours is the best of three. gap/obj is what the certificate says of the "
        "metric each returned. ratio: the faster cvxpy run that reached 1e-5, to ours at 1e-6.",
        "",
    ]
    lines = head + compare(given.quick, given.skip_cvxpy)
    parts = [] if given.quick else [start_up, growth, *([usps] if os.environ.get("CVXML_DATA") else [])]
    for part in parts:
        (HERE / "benchmark_mlsvm.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
        lines += ["", *part()]
    if not given.quick:
        (HERE / "benchmark_mlsvm.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
