"""The command `demo`: three short acts that show what cvxml does. Exit codes as in main.py.

1. Four methods are solved twice, as the literal cvxpy problem and by the fast solver, and both results are certified.
2. A metric from a program with a mistake is refuted, and the mistake is named.
3. A picture is saved: the metric of the first example, and its certificate.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cvxml.core.result import Solution

DONE, DISAGREED = 0, 1
OUT = "cvxml_demo.png"
MARK = {"Software": "cvxml demo"}  # in the PNG, so that the next demo may replace it

# method, data set, number of points, parameters: each takes one or two seconds with a general solver
PROBLEMS: tuple[tuple[str, str, int | None, dict[str, Any]], ...] = (
    ("lmnn", "iris", 45, {}),
    ("mlsvm", "balance", 100, {"lam": 1.0}),
    ("glml", "iris", None, {"alpha": 0.01}),
    ("ssvm", "rings", 24, {"C": 0.5, "n_neighbors": 1}),
)

INTRODUCTION = """\
cvxml states metric learning literally, solves it, and proves the result.

1. Solve. The literal problem of the paper goes to a general solver (cvxpy with
   CLARABEL), and to our fast solver. Both metrics are certified: our own code
   computes a lower bound for every metric, so you need not trust a solver.
"""
MISTAKE = """
2. Check. A program for MLSVM forgot the 1/2 in lam/2 ||A||^2. We see only its
   matrix, computed from 178 wines.
"""
NEXT = """
Next:
  cvxml solve mlsvm wine --standardize       solve, with a certificate
  cvxml check METHOD DATA --metric FILE      judge the metric of your program
  cvxml show mlsvm                           the problem beside its source
  cvxml list                                 all methods and data sets
  cvxml verify                               every method, in three minutes
"""


def add_demo(commands: Any) -> None:
    """Add the parser of `demo`."""
    from cvxml.cli.output import add_force

    command = commands.add_parser("demo", help="a tour in twenty seconds: solve, check, picture")
    command.add_argument(
        "--out", metavar="FILE.png", default=OUT, help=f"where the picture is saved (default: {OUT})"
    )
    add_force(command)
    command.set_defaults(run=_demo)


def _demo(parsed: argparse.Namespace) -> int:
    from cvxml.cli.output import check_out

    check_out(parsed, "out", (".png", ".svg", ".pdf"))
    print(INTRODUCTION)
    print(f"   {'method':<7}{'data':<18}{'literal problem':<20}{'fast solver':<20}{'they agree'}")
    agree = []
    for line, agrees in _solved():
        print(f"   {line}", flush=True)
        agree.append(agrees)
    print(MISTAKE)
    for line in _checked():
        print(f"   {line}", flush=True)
    print("\n3. Picture.", _drawn(Path(parsed.out)))
    print(NEXT, end="")
    return DONE if all(agree) else DISAGREED


def _solved() -> Iterator[tuple[str, bool]]:
    """Yield a line for each problem, and whether both certified intervals have a point in common."""
    import cvxml
    from cvxml import datasets

    for method, name, n, params in PROBLEMS:
        X, y = datasets.load(name)
        if n is not None:
            X, y = datasets.subsample(X, y, n)
        solutions, cells = [], []
        for solver in ("clarabel", "fast"):
            start = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the gap is printed
                solution = cvxml.solve(method, X, y, solver=solver, **params)
            seconds = time.perf_counter() - start
            solutions.append(solution)
            cells.append(f"gap {_relative_gap(solution):.0e}, {seconds:.2f} s")
        agrees = _agree(*solutions)
        data = f"{name} {len(X)} x {X.shape[1]}"
        yield f"{method:<7}{data:<18}{cells[0]:<20}{cells[1]:<20}{'yes' if agrees else 'NO'}", agrees


def _relative_gap(solution: Solution) -> float:
    """The certified gap of the problem, or of the convex step if the problem is not convex."""
    return (solution.certificate.step or solution.certificate).rel_gap


def _agree(literal: Solution, fast: Solution) -> bool:
    """True if both are certified, and no lower bound exceeds an objective (convex problems)."""
    certified = all((s.certificate.step or s.certificate).proves("loose") for s in (literal, fast))
    if fast.certificate.step is not None:
        return certified
    bound = max(literal.lower_bound, fast.lower_bound)
    rounding = literal.certificate.rounding + fast.certificate.rounding
    return certified and bound <= min(literal.objective, fast.objective) + rounding


def _checked() -> Iterator[str]:
    """Yield the lines of a report on a metric with a mistake."""
    import cvxml
    from cvxml import datasets

    X, y = datasets.load("wine")
    X = datasets.standardize(X)
    wrong = cvxml.solve("mlsvm", X, y, lam=0.2).metric  # lam ||A||^2 with lam = 0.1 is 0.2/2 ||A||^2
    report = cvxml.check("mlsvm", X, y, wrong, lam=0.1)
    yield f"verdict    {report.verdict.value}"
    if report.witness is not None and report.objective:
        share = report.witness.better_by / report.objective
        yield f"because    our metric has a smaller objective, by {100 * share:.2g} %"
    for line in report.diagnosis:
        yield f"mistake    {line}"


def _drawn(place: Path) -> str:
    """Save the picture, and return a sentence about it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        return "It needs matplotlib: pip install '.[plot]'"
    import cvxml
    from cvxml import datasets, displays

    X, y = datasets.load("iris")
    X = datasets.standardize(X)[:, [1, 3]]
    model = cvxml.LMNN().fit(X, y)
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
    displays.MetricEllipseDisplay.from_estimator(model, X, y, ax=left)
    displays.CertificateDisplay.from_estimator(model, ax=right)
    left.set(xlabel="sepal width (standardized)", ylabel="petal width (standardized)")
    figure.savefig(place, dpi=110, metadata=MARK if place.suffix == ".png" else None)
    plt.close(figure)
    return f"LMNN on two features of iris, and its certificate: {place}"
