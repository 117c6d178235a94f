"""The command `demo`: three short acts that show what cvxml does. Exit codes as in main.py.

1. Four methods are solved twice, and the results are compared. A general solver gets the literal problem (the paper's
formulas in cvxpy), and then our fast solver solves the same problem.
2. A metric from a program with a mistake is refuted, and the mistake is named.
3. A picture is saved: a metric of LMNN, and its certificate.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cvxml.core.example import Example, verified
from cvxml.core.tolerance import TOLERANCES

DONE, DISAGREED = 0, 1
OUT = "cvxml_demo.png"
MARK = {"Software": "cvxml demo"}  # in the PNG, so that the next demo may replace it

SOLVERS = ("clarabel", "fast")
# each takes at most two seconds with a general solver
PROBLEMS: tuple[tuple[str, Example], ...] = (
    ("lmnn", verified("iris", 45)),
    ("mlsvm", verified("balance", 100, lam=1.0)),
    ("glml", verified("iris", alpha=0.01)),
    ("ssvm", verified("rings", 24, C=0.5, n_neighbors=1)),
)

INTRODUCTION = """\
cvxml states metric learning literally, solves it, and proves the result.

1. Solve. The literal problem of the paper goes to a general solver (cvxpy with
   CLARABEL), and to our fast solver. Our own code computes a lower bound on
   the objective of every metric, so you need not trust a solver. The gap is the
   distance to this bound, relative to the scale of the problem.
"""
SOLVED = f"""
   yes: the fast solver is certified to {TOLERANCES["normal"]:g}, the general solver to {TOLERANCES["loose"]:g},
   and no lower bound exceeds an objective. ssvm is not convex: both metrics are
   certified stationary, and the gap is that of the last convex step.
   [45]: 45 of the points; z: standardized.
"""
MISTAKE = """
2. Check. Suppose that a program for MLSVM forgets the 1/2 in lam/2 ||A||^2. We
   see only its matrix, computed from 178 wines.
"""
NEXT = """
Next:
  cvxml solve mlsvm wine --standardize       solve, with a certificate
  cvxml check METHOD DATA --metric FILE      judge the metric of your program
  cvxml show mlsvm                           the problem beside its source
  cvxml list                                 all methods and data sets
  cvxml verify                               every method, in a minute
"""


def add_demo(commands: Any) -> None:
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
    print(f"   {'method':<7}{'data':<15}{'n x d':>8}  {'literal: gap, time':<20}{'fast: gap, time':<17}agree")
    agree = []
    for line, agrees in _solved():
        print(f"   {line}", flush=True)
        agree.append(agrees)
    if all(agree):
        print(SOLVED, end="")
    print(MISTAKE)
    for line in _checked():
        print(f"   {line}", flush=True)
    print("\n3. Picture.", _drawn(Path(parsed.out)))
    print(NEXT, end="")
    return DONE if all(agree) else DISAGREED


def _solved() -> Iterator[tuple[str, bool]]:
    """Yield for each problem a line of text, and whether both solvers have certified results that agree.

    A problem whose results disagree has a second line, with the reason.
    """
    from cvxml.oracle.verify import Case, verify

    for row in verify(chosen=[Case(*problem) for problem in PROBLEMS], solvers=SOLVERS):
        literal, fast = (f"{row.rel_gaps[s]:.0e}, {row.seconds[s]:.2f} s" for s in SOLVERS)
        shape = f"{row.shape[0]} x {row.shape[1]}"
        line = f"{row.method:<7}{row.data:<15}{shape:>8}  {literal:<20}{fast:<17}"
        yield line + ("yes" if row.agrees else f"NO\n     {row.why}"), row.agrees


def _checked() -> Iterator[str]:
    """Yield the lines of a short report on a metric of MLSVM that a program with a mistake would return."""
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
    """Solve LMNN, save a picture of its metric and certificate as `place`, and return a sentence about it.

    Without matplotlib, no picture is saved, and the sentence says how to install it.
    """
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
