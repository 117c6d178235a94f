"""Measure the gap that a plain first-order program has on the golden cases.

    python -m validation.cases.first_order              measure every case, and write cvxml/oracle/first_order.csv
    python -m validation.cases.first_order 'mlsvm-*'    measure these cases, and keep the other rows of the table

The program is projected gradient descent with Polyak's step:

    M <- P(M - t G),  t = (F(M) - F*) / |G|^2

F is the naive objective of the method, G its gradient by central differences, P finds the nearest psd matrix, and F* is
the proved lower bound of the case. The step is halved until F is finite. The start is 0, or the identity if F is
infinite at 0. Features are as given. A figure is the least F - F* so far, divided by the scale of the case; it is at
least `FLOOR`.

A program does not know F*, but the rule has no other number that must be tuned. Another step rule has another gap.

A case has a row if it has a proved optimum and a scale greater than 0, and if its method has no closed form and takes
every psd matrix. ITML has no rows: its log det is infinite where the projection ends, and the figures depend on the
last digits of the machine. All rows together take half an hour.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator

import numpy as np

from cvxml.core.metric import FloatArray, project_psd
from cvxml.methods import get
from cvxml.oracle.cases import Case, load_cases
from cvxml.oracle.first_order import STEPS, TABLE, Measured, digest, table

FLOOR = 1e-9  # the descent ends at this share of the scale: differences have no more digits
BESIDE = 1e-6  # half the length of a difference, relative to M, or to the first metric that is not 0


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "pattern", nargs="?", default="*", help="cases to measure, as --only of cvxml conform"
    )
    known = table()
    rows = {case.id: known[case.id] for case in measurable() if case.id in known}
    for case in measurable(parser.parse_args().pattern):
        rows[case.id] = measured(case)
        print(line(case.id, rows[case.id]), flush=True)
        TABLE.write_text("\n".join([*HEAD, *(line(*row) for row in sorted(rows.items()))]) + "\n")


def measurable(pattern: str = "*") -> list[Case]:
    """The cases that have a row."""
    return [case for case in load_cases(pattern=pattern) if scale_of(case) > 0 and is_plain(case)]


def is_plain(case: Case) -> bool:
    """True if the method iterates, and every psd matrix is one of its metrics."""
    if case.formula == "itml" or get(case.formula).MAX_ITER == 1:
        return False
    problem = Problem(case)
    A = np.random.default_rng(0).standard_normal((problem.size, problem.size))
    M = 100 * (A @ A.T)
    return bool(np.array_equal(problem.method.allowed(problem.given, M), M))


def scale_of(case: Case) -> float:
    """The scale; 0 without a proved optimum."""
    reference = case.content.get("reference", {})
    return float(reference["scale"]) if reference.get("claim") == "optimal" else 0.0


def measured(case: Case) -> Measured:
    gaps, _ = descend(case)
    return Measured(digest(case.inputs), tuple(float(f"{gap:.2e}") for gap in gaps))


class Problem:
    """The objective of a case, and what a plain program needs besides."""

    def __init__(self, case: Case):
        self.method = get(case.formula)
        self.given = self.method.instance(case.X, case.y, **case.params)
        self.size = self.method.metric_size(self.given)

    def objective(self, M: FloatArray) -> float:
        with np.errstate(all="ignore"):
            F = self.method.objective(self.given, M)
        return F if math.isfinite(F) else math.inf

    def start(self) -> FloatArray:
        """0 if the objective is finite there, else the identity."""
        zero = np.zeros((self.size, self.size))
        return zero if self.objective(zero) < math.inf else np.eye(self.size)

    def gradient(self, M: FloatArray, step: float) -> FloatArray:
        """The gradient by differences of length 2 step, along an orthonormal basis of the symmetric matrices."""
        G = np.zeros_like(M)
        for E in symmetric_basis(self.size):
            G += (self.objective(M + step * E) - self.objective(M - step * E)) / (2 * step) * E
        return G


def symmetric_basis(d: int) -> Iterator[FloatArray]:
    for i in range(d):
        for j in range(i + 1):
            E = np.zeros((d, d))
            E[i, j] = E[j, i] = 1.0 if i == j else math.sqrt(0.5)
            yield E


def descend(case: Case, steps: tuple[int, ...] = STEPS) -> tuple[list[float], FloatArray]:
    """Return the least relative gap after each number of steps, and the metric with the last of them."""
    problem, low, scale = Problem(case), float(case.content["reference"]["interval"][0]), scale_of(case)
    M, found = problem.start(), []
    F = best = problem.objective(M)
    kept = M
    for step in range(1, max(steps) + 1):
        if best - low > FLOOR * scale:
            M, F = stepped(problem, M, F, low)
        if best > F:
            best, kept = F, M
        if step in steps:
            found.append(max((best - low) / scale, FLOOR))
    return found, kept


def stepped(problem: Problem, M: FloatArray, F: float, low: float) -> tuple[FloatArray, float]:
    """A step from M: the new metric and its objective."""
    G = problem.gradient(M, BESIDE * (float(np.linalg.norm(M)) or 1.0))
    t = (F - low) / float(np.sum(G * G))
    while True:
        new = project_psd(M - t * G)
        value = problem.objective(new)
        if value < math.inf:
            return new, value
        t /= 2


HEAD = (
    "# Relative gaps of plain projected gradient descent on golden cases, after 100 and 1000 steps.",
    "# Written by: python -m validation.cases.first_order",
    "case,inputs," + ",".join(map(str, STEPS)),
)


def line(case: str, row: Measured) -> str:
    """The row of a case as a line of the table."""
    return ",".join([case, row.inputs, *(f"{gap:.2e}" for gap in row.gaps)])


if __name__ == "__main__":
    main()
