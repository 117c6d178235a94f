"""Processor seconds of whole calls where a user waits: reports on a wrong metric, small solves, and NCA.

    OMP_NUM_THREADS=1 python -m validation.benchmarks.waiting reports
    OMP_NUM_THREADS=1 python -m validation.benchmarks.waiting names
    OMP_NUM_THREADS=1 python -m validation.benchmarks.waiting solves
    OMP_NUM_THREADS=1 python -m validation.benchmarks.waiting nca
    OMP_NUM_THREADS=1 python -m validation.benchmarks.waiting alternatives

"reports" checks 1.05 times the optimum, and the zero matrix. Beside the seconds is the bar: ten solves, plus 2 s.
"names" checks, on wine, the optimum of each misreading that is another problem of the method: how many reports name the
misreading in time, how many say that the time was too short, and the longest one.
"alternatives" solves the problem in cvxpy's fastest form with Clarabel and SCS, and ours to the same gap.
Numbers behind the word are rows to run, for example "reports 0 3".
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import cvxml
from cvxml import datasets
from cvxml.core.metric import FloatArray
from cvxml.core.misreading import OtherProblem, Question
from cvxml.core.report import Report
from cvxml.methods import get
from validation.benchmarks import convex, measure, mlsvm, vectorised

SOLVES = [
    *(("schultz_joachims", name) for name in ("wine", "iris")),
    *(("scml", name) for name in ("wine", "iris")),
    *((m, "wine") for m in ("itml", "mmc", "mmc:diagonal", "boostmetric", "plml", "frobmetric", "rtml")),
    *((m, "iris") for m in ("mlsvm", "plml")),
]
ALTERNATIVES: list[tuple[str, str, dict[str, Any]]] = [
    ("schultz_joachims", "wine", {}),
    ("schultz_joachims", "iris", {}),
    *(("mlsvm", "iris", {"lam": lam, "n_neighbors": 4}) for lam in (1.0, 0.01)),
    ("plml", "iris", {}),
    *(("lfda", name, {"n_components": r}) for name, r in (("wine", 3), ("iris", 2))),
]
NAMED = [
    *(
        "frobmetric",
        "schultz_joachims",
        "itml",
        "mmc",
        "boostmetric",
        "rtml",
        "sdml",
        "gmml",
        "lsml",
        "dml_eig",
    ),
    *("scml", "mlsvm", "lmnn", "plml", "rca", "lfda"),
]
SIZES = ((208, 60), (500, 60))
REPORTS: list[tuple[str, int, int, dict[str, Any]]] = [
    *(("mlsvm", n, d, {"lam": 0.01}) for n, d in SIZES),
    *((m, 178, 13, {}) for m in ("lmnn", "frobmetric", "itml", "mmc", "boostmetric", "scml", "rtml", "plml")),
    *((m, 178, 13, {}) for m in ("nca", "ldml", "lsml", "sdml", "gmml", "mcml", "dml_eig")),
]


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the processor seconds of a call, and its result."""
    began = time.process_time()
    result = work()
    return time.process_time() - began, result


def drawn(n: int, d: int) -> tuple[FloatArray, Any]:
    """Return two classes that overlap, standardized; wine for its size."""
    if (n, d) == (178, 13):
        X, y = datasets.load("wine")
        return datasets.standardize(X), y
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    X = rng.standard_normal((n, d)) + 2.4 / np.sqrt(d) * np.outer(y, rng.standard_normal(d))
    return datasets.standardize(X), y


def reports() -> Iterator[str]:
    """Yield a row for each method: the solve, the report on 1.05 times the optimum, and that on the zero matrix."""
    for method, n, d, params in chosen(REPORTS):
        X, y = drawn(n, d)
        solve, best = seconds(lambda: cvxml.solve(method, X, y, **params))  # noqa: B023
        row = f"{method:16s} {n:5d} x {d:2d}  solve {solve:6.2f}"
        for name, metric in (("1.05 A*", 1.05 * best.metric), ("zero", 0 * best.metric)):
            took, report = seconds(lambda: cvxml.check(method, X, y, metric, **params))  # noqa: B023
            left_out = sum("left out" in note for note in report.notes)
            row += f"  {name} {took:6.2f} ({report.verdict.value}, {len(report.diagnosis)} named, left out {left_out})"
        yield f"{row}  bar {10 * solve + 2:6.2f}"


def names() -> Iterator[str]:
    """Yield a row for each method of `NAMED`: how many of its misreadings are named, and the time of the reports."""
    X, y = drawn(178, 13)
    for method in chosen(NAMED):
        solve, best = seconds(lambda: cvxml.solve(method, X, y, tol=1e-8))  # noqa: B023
        named, late, longest, tried = 0, 0, 0.0, 0
        for sentence, other in misread(method, X, y, best.metric):
            try:
                metric = cvxml.solve(method, other.X, other.y, tol=1e-9, **other.params).metric
            except ValueError:  # this problem has no optimum
                continue
            took, report = seconds(lambda: cvxml.check(method, X, y, metric))  # noqa: B023
            if report.verdict.value == "certified":  # the misreading changes nothing here
                continue
            tried += 1
            named += is_named(sentence, report)
            late += any("left out" in note for note in report.notes)
            longest = max(longest, took)
        yield (
            f"{method:16s} {named:2d} of {tried:2d} named, {late} without time, longest {longest:5.2f} s, "
            f"bar {10 * solve + 2:5.2f}"
        )


def misread(method: str, X: FloatArray, y: Any, metric: FloatArray) -> Iterator[tuple[str, OtherProblem]]:
    """Yield the misreadings that are the method itself with other inputs; of several inputs, the one in the middle."""
    module, question = get(method), Question(X, y, metric, 1e-6, {})
    given = module.instance(X, y)
    for misreading in module.MISREADINGS.values():
        try:
            if misreading.problem is not None:
                found = [misreading.problem(question)]
            elif misreading.several is not None:
                found = [*misreading.several(question, given, module.stored(given))]
            else:
                continue
        except ValueError:  # for example, it needs a metric for all points
            continue
        other = found[len(found) // 2] if found else None
        if other is not None and other.metric is None and other.method in (None, method):
            yield misreading.sentence, other


def is_named(sentence: str, report: Report) -> bool:
    """Return True if the report names the misreading. A sentence may end with the choice among several inputs."""
    return any(sentence.split(":")[0] in line for line in report.diagnosis)


def solves() -> Iterator[str]:
    """Yield the seconds of `cvxml.solve`, the faster one of two calls."""
    for method, name in chosen(SOLVES):
        X, y = datasets.load(name)
        X = datasets.standardize(X)
        tries = [seconds(lambda: cvxml.solve(method, X, y)) for _ in range(2)]  # noqa: B023
        took, best = min(tries, key=lambda each: each[0])
        yield f"{method:16s} {name:5s} {took:7.3f} s  gap {best.certificate.rel_gap:.1e}  {best.status.name}"


def nca() -> Iterator[str]:
    """Yield the seconds of a whole `fit` on digits, with two components and 20 iterations."""
    X, y = datasets.load("digits")
    model = cvxml.NCA(n_components=2, init=np.eye(2, X.shape[1]), max_iter=20)  # the import is not counted
    took, model = seconds(lambda: model.fit(X, y))
    yield f"nca digits {took:.2f} s  objective {model.solution_.objective:.6g}"


def alternatives() -> Iterator[str]:
    """Yield the seconds of cvxpy's fastest form with each back end, and of ours to the same gap."""
    measure.clock = time.process_time
    for method, name, params in chosen(ALTERNATIVES):
        X, y = mlsvm.points(name, 150, 4) if method == "mlsvm" else convex.points(name, None)
        rivals = vectorised.rivals(method, X, y, measure.LIMIT, **params)
        claim = measure.compared({}, measure.certified(method, X, y, **params), rivals)
        for rival in claim["rivals"]:
            same = rival["same"] or np.nan
            told = f"{rival['name']} {rival['seconds']:.3f} ({rival['reached']})  ours {same:.3f}"
            yield f"{method:16s} {name:5s} {params}  {told}  ratio {rival['seconds'] / same:.2f}"


def chosen(rows: list[Any]) -> list[Any]:
    """Return the rows with the numbers of the command line, or all."""
    numbers = [int(word) for word in sys.argv[2:]]
    return [rows[k] for k in numbers] if numbers else rows


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    kinds = {"reports": reports, "names": names, "solves": solves, "nca": nca, "alternatives": alternatives}
    for line in kinds[sys.argv[1]]():
        print(line, flush=True)
