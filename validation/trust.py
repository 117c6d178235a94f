"""Ten thousand mutated candidates against the oracle: no verdict may be wrong. Writes validation/trust.md.

    python validation/trust.py [--n 10000] [--jobs 2]

The optima of the golden cases are scaled, rotated, or get noise of 1e-1 to 1e-12 of their size, inside and outside the
cone. The truth about a candidate is found without `check`. Its objective is computed from the definition, in fractions
(MLSVM) or by loops (GLML, NCA), and compared with the exact interval in the case file. "certified" is wrong if the
candidate is not a metric, or if its objective exceeds the upper end by more than the tolerance and the stated rounding.
"refuted" is wrong if the objective of a metric exceeds the lower end by less than the tolerance. If only the convex
step at the metric is judged (ssvm, nca), the interval of the step comes from rational or ball arithmetic, which shares
no operation with the certificate in floating point.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from scipy.linalg import expm

import cvxml
from cvxml.core.tolerance import TOLERANCES
from cvxml.methods import get_stationary
from cvxml.oracle.cases import Case, load_cases

EPS = float(np.finfo(float).eps)
ON_THE_LINE = (
    0.1  # a matrix this near to the limit of what is a metric is not judged: two roundings may differ
)
SHARES = {"mlsvm": 0.65, "kernel_mlsvm": 0.05, "glml": 0.1, "nca": 0.12, "ssvm": 0.08}


class Outcome(NamedTuple):
    """One candidate: its mutation, the verdict of `check`, and the fault of that verdict or an empty text."""

    case: str
    mutation: str
    tol: str
    verdict: str
    wrong: str


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--n", type=int, default=10_000)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    started = time.perf_counter()
    work = planned(options.n)
    found: list[list[Outcome]] = Parallel(n_jobs=options.jobs)(
        delayed(judged)(case_id, seeds) for case_id, seeds in work
    )
    outcomes = [outcome for part in found for outcome in part]
    seconds = time.perf_counter() - started
    wrong = [outcome for outcome in outcomes if outcome.wrong]
    text = report(outcomes, seconds)
    if options.n >= 10_000:
        page = Path(__file__).parent / "trust.md"
        _, attacks, rest = page.read_text(encoding="utf-8").partition("# Attacks")  # validation/adversarial
        page.write_text(f"{text.rstrip()}\n\n{attacks}{rest}".rstrip() + "\n", encoding="utf-8")
    print(text)
    return 1 if wrong else 0


def planned(n: int) -> list[tuple[str, range]]:
    """Return pairs of a case id and the seeds of its candidates: at most fifty seeds in a pair, n in all."""
    cases = [case for case in load_cases() if case.kind == "problem" and usable(case)]
    work, seed = [], 0
    for formula, share in SHARES.items():
        of_formula = [case for case in cases if case.formula == formula]
        for k, case in enumerate(of_formula):
            count = round(n * share * (k + 1) / len(of_formula)) - round(n * share * k / len(of_formula))
            for start in range(seed, seed + count, 50):
                work.append((case.id, range(start, min(start + 50, seed + count))))
            seed += count
    return work


def usable(case: Case) -> bool:
    """Return True if the optimum of the case is unique and large enough to be mutated."""
    return not {"not attained", "zero", "not unique", "underflow"} & set(case.flags)


def judged(case_id: str, seeds: range) -> list[Outcome]:
    """Return the outcomes of the candidates of a case with these seeds."""
    (case,) = load_cases(pattern=case_id)
    warnings.simplefilter("ignore")
    return [one(case, seed) for seed in seeds]


def one(case: Case, seed: int) -> Outcome:
    """Mutate the optimum of a case, call `check`, and compute the truth independently."""
    rng = np.random.default_rng(seed)
    best = np.array(case.content["proof"]["metric"])
    name = list(MUTATIONS)[int(rng.integers(len(MUTATIONS)))]
    size = float(10 ** rng.uniform(-12, -1))
    candidate = MUTATIONS[name](best, size, rng)
    if case.formula == "glml":  # of determinant 1
        candidate = candidate / abs(np.linalg.det(candidate)) ** (1 / len(candidate))
    tol = list(TOLERANCES)[int(rng.integers(3))]
    said = cvxml.check(case.formula, case.X, case.y, candidate, tol=tol, diagnosed=False, **case.params)
    wrong = wrongness(case, candidate, said, TOLERANCES[tol])
    return Outcome(case.id, name, tol, said.verdict.value, wrong)


def scaled(A: np.ndarray, size: float, rng: np.random.Generator) -> np.ndarray:
    """Return A times 1 + size or 1 - size."""
    return A * (1 + size * rng.choice([-1, 1]))


def turned(A: np.ndarray, size: float, rng: np.random.Generator) -> np.ndarray:
    """Return A rotated by a small angle of about `size`."""
    skew = rng.standard_normal(A.shape)
    Q = expm(size * (skew - skew.T))
    return symmetric(Q @ A @ Q.T)


def noised(A: np.ndarray, size: float, rng: np.random.Generator) -> np.ndarray:
    """Return A with noise in its root, so that it stays psd."""
    values, vectors = np.linalg.eigh(A)
    M = vectors * np.sqrt(np.maximum(values, 0))
    M = M + size * np.linalg.norm(M) * rng.standard_normal(M.shape)
    return symmetric(M @ M.T)


def bent(A: np.ndarray, size: float, rng: np.random.Generator) -> np.ndarray:
    """Return A with symmetric noise in its entries; it may not be psd."""
    E = rng.standard_normal(A.shape)
    return A + size * np.linalg.norm(A) * (E + E.T) / 2


def skewed(A: np.ndarray, size: float, rng: np.random.Generator) -> np.ndarray:
    """Return A with antisymmetric noise, so that it is not symmetric."""
    E = np.triu(rng.standard_normal(A.shape), 1)
    return A + size * np.linalg.norm(A) * (E - E.T)


def symmetric(A: np.ndarray) -> np.ndarray:
    return (A + A.T) / 2


MUTATIONS: dict[str, Callable[[np.ndarray, float, np.random.Generator], np.ndarray]] = {
    f.__name__: f for f in (scaled, turned, noised, bent, skewed)
}


def wrongness(case: Case, A: np.ndarray, said: Any, tol: float) -> str:
    """Return a sentence on the fault of the verdict; empty if the verdict is right or cannot be judged here."""
    verdict = said.verdict.value
    # a metric must be one in the units of its features too, which those of a kernel do not have; glml has its own
    seen = [in_feature_space(case, A) if case.formula == "kernel_mlsvm" else A]
    seen += [in_own_units(case, A)] if case.formula not in ("kernel_mlsvm", "glml") else []
    errors = [outside(matrix) for matrix in seen]
    error = max(errors)
    if any(abs(each / 1e-6 - 1) < ON_THE_LINE for each in errors):
        return ""
    if error > 1e-6:
        return "certified, and no metric" if verdict == "certified" else ""
    psd = projected_there(case, A) if case.formula == "kernel_mlsvm" else projected(A)
    slack = Fraction(said.rounding) + Fraction(64 * EPS) * (1 + abs(Fraction(said.objective)))
    low, high, value, scale = truth(case, psd)
    if verdict == "certified" and value - high > Fraction(tol) * scale + slack:
        return f"certified, and worse by {float(value - high):.3g} where {float(tol * float(scale)):.3g} is allowed"
    if (
        verdict in ("refuted", "close")
        and value - low <= Fraction(tol) * scale * Fraction(999_999, 1_000_000) - slack
    ):
        return (
            f"{verdict}, and within {float(value - low):.3g} where {float(tol * float(scale)):.3g} is allowed"
        )
    return ""


def outside(A: np.ndarray) -> float:
    """Return the larger of A's asymmetry and the size of its negative eigenvalue, relative to the norm."""
    least = float(np.linalg.eigvalsh(symmetric(A))[0])
    return max(float(np.abs(A - A.T).max()), -least) / float(np.linalg.norm(A))


def in_own_units(case: Case, A: np.ndarray) -> np.ndarray:
    """Return A in units in which each feature has a spread of about 1, for the features that vary.

    The units are powers of two.
    """
    X = np.array(case.X, dtype=float)
    width = np.abs(X - (X.min(axis=0) + X.max(axis=0)) / 2).max(axis=0)
    seen = width > 0
    unit = 2.0 ** np.round(np.log2(width[seen]))
    own: np.ndarray = A[np.ix_(seen, seen)] * np.outer(unit, unit)
    return own


def root_of_kernel(case: Case) -> tuple[np.ndarray, np.ndarray]:
    """E (n, r) with E E^T = K for the polynomial kernel, and its pseudo-inverse."""
    X = np.array(case.X)
    values, vectors = np.linalg.eigh((X @ X.T) ** case.inputs["degree"])
    keep = values > 1e-12 * values[-1]
    E = vectors[:, keep] * np.sqrt(values[keep])
    return E, (vectors[:, keep] / np.sqrt(values[keep])).T


def in_feature_space(case: Case, phi: np.ndarray) -> np.ndarray:
    """Return the metric E^T phi E (r, r) that phi (n, n) stands for, with the E of `root_of_kernel`."""
    E, _ = root_of_kernel(case)
    return E.T @ phi @ E


def projected_there(case: Case, phi: np.ndarray) -> np.ndarray:
    """Return the matrix (n, n) whose metric in the feature space is the psd projection of the metric of phi."""
    E, back = root_of_kernel(case)
    return symmetric(back.T @ projected(E.T @ phi @ E) @ back)


def projected(A: np.ndarray) -> np.ndarray:
    values, vectors = np.linalg.eigh(symmetric(A))
    return (
        A if values[0] >= 0 and (A == A.T).all() else symmetric((vectors * np.maximum(values, 0)) @ vectors.T)
    )


def truth(case: Case, A: np.ndarray) -> tuple[Fraction, Fraction, Fraction, Fraction]:
    """Return the lower and upper end of the interval that contains the optimum, the objective at A, and the scale."""
    if case.content["reference"]["claim"] == "stationary":
        return of_the_step(case, A)
    low, high = (Fraction(v) for v in case.content["reference"]["interval"])
    value = {"mlsvm": mlsvm, "kernel_mlsvm": kernel, "glml": glml, "nca": nca}[case.formula](case, A)
    return low, high, value, Fraction(case.content["reference"]["scale"])


def sum_of_slacks(case: Case, D: Callable[[int, int], Fraction]) -> Fraction:
    """The sum of [1 + D of the furthest target - D of the nearest impostor]_+ over the points that have both."""
    slacks = Fraction(0)
    for i, (T, J) in enumerate(zip(case.inputs["targets"], case.inputs["impostors"], strict=True)):
        if T and J:
            slacks += max(Fraction(0), 1 + max(D(i, j) for j in T) - min(D(i, j) for j in J))
    return slacks


def mlsvm(case: Case, A: np.ndarray) -> Fraction:
    """Return the objective lam/2 ||A||^2 + 1/n sum xi of MLSVM in fractions."""
    X = [[Fraction(v) for v in row] for row in case.X]
    M = [[Fraction(v) for v in row] for row in A.tolist()]
    lam, d = Fraction(case.inputs["lam"]), len(M)

    def D(i: int, j: int) -> Fraction:
        x = [a - b for a, b in zip(X[i], X[j], strict=True)]
        return sum((x[a] * M[a][b] * x[b] for a in range(d) for b in range(d)), Fraction(0))

    return lam / 2 * sum((v * v for row in M for v in row), Fraction(0)) + sum_of_slacks(case, D) / len(X)


def kernel(case: Case, phi: np.ndarray) -> Fraction:
    """Return the objective of MLSVM for the polynomial kernel <x, x'>^p, from phi (n, n), in fractions."""
    X = [[Fraction(v) for v in row] for row in case.X]
    M = [[Fraction(v) for v in row] for row in phi.tolist()]
    n, p = len(X), case.inputs["degree"]
    K = [[sum((a * b for a, b in zip(x, z, strict=True)), Fraction(0)) ** p for z in X] for x in X]
    KM = [[sum((K[i][k] * M[k][j] for k in range(n)), Fraction(0)) for j in range(n)] for i in range(n)]
    size = sum((KM[i][j] * KM[j][i] for i in range(n) for j in range(n)), Fraction(0))

    def D(i: int, j: int) -> Fraction:
        k = [a - b for a, b in zip(K[i], K[j], strict=True)]
        return sum((k[a] * M[a][b] * k[b] for a in range(n) for b in range(n)), Fraction(0))

    return Fraction(case.inputs["lam"]) / 2 * size + sum_of_slacks(case, D) / n


def glml(case: Case, A: np.ndarray) -> Fraction:
    """Return the objective (tr A^-1 B)^2 of GLML for two Gaussian classes, with B = (G_1 - G_2) / ||G_1 - G_2||."""
    X, y, x = np.array(case.X), np.array(case.y), np.array(case.inputs["query"])
    G = []
    for c in (0, 1):
        points = X[y == c]
        S = np.linalg.inv(np.cov(points.T, bias=True) + case.inputs["alpha"] * np.eye(len(x)))
        pull = S @ (x - points.mean(axis=0))
        G.append(np.outer(pull, pull) - S)
    B = G[0] - G[1]
    return Fraction(float(np.trace(np.linalg.solve(A, B / np.linalg.norm(B)))) ** 2)


def nca(case: Case, Q: np.ndarray) -> Fraction:
    """Return the objective - sum_i log p_i of NCA with criterion g, by loops."""
    X, y, total = np.array(case.X), case.y, 0.0
    for i in range(len(X)):
        e = [math.exp(-float((X[i] - x) @ Q @ (X[i] - x))) if k != i else 0.0 for k, x in enumerate(X)]
        total -= math.log(sum(v for k, v in enumerate(e) if y[k] == y[i]) / sum(e))
    return Fraction(total)


def of_the_step(case: Case, A: np.ndarray) -> tuple[Fraction, Fraction, Fraction, Fraction]:
    """Return the figures of `truth` for the convex step at the metric, in exact arithmetic.

    The upper end of the optimum is not known, so the lower end takes its place.
    """
    of = get_stationary(case.formula)
    given = of.instance(case.X, case.y, **case.params)
    improved, dual = of.improve(given, of.metric(given, A), tol=1e-10)
    exact, better = of.exact(given, of.matrix(given, A), dual), of.exact(given, improved, dual)
    # the metric is worse than another by value - high, and by no more than value - low within its step
    return exact.lower_bound, exact.lower_bound, exact.objective, max(exact.scale, better.scale)


def report(outcomes: list[Outcome], seconds: float) -> str:
    """Return the page: the numbers of verdicts for each case, and every wrong verdict. seconds: the running time."""
    wrong = [outcome for outcome in outcomes if outcome.wrong]
    lines = [
        "# Mutated candidates against the oracle",
        "",
        f"`python validation/trust.py --n {len(outcomes)}`: {len(outcomes)} candidates, {len(wrong)} wrong verdicts, "
        f"{seconds:.0f} s on two cores. "
        "The docstring of the script describes the independent computation that decides whether a verdict is wrong.",
        "",
        "| case | candidates | certified | refuted | inconclusive | wrong |",
        "|---|---|---|---|---|---|",
    ]
    for name in dict.fromkeys(outcome.case for outcome in outcomes):
        own = [outcome for outcome in outcomes if outcome.case == name]
        # what is close is refuted too
        counts = Counter(outcome.verdict.replace("close", "refuted") for outcome in own)
        bad = sum(bool(outcome.wrong) for outcome in own)
        figures = " | ".join(str(counts[v]) for v in ("certified", "refuted", "inconclusive"))
        lines.append(f"| {name} | {len(own)} | {figures} | {bad} |")
    lines += [""] + [f"- wrong: {o.case}, {o.mutation}, {o.tol}: {o.wrong}" for o in wrong]
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    sys.exit(main())
