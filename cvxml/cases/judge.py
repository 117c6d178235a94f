#!/usr/bin/env python3
"""Judge answers to the golden cases beside this file. Python 3.8 and numpy; nothing else is imported.

    python judge.py ANSWERS             a folder of CASE-ID.json, each what a program answered (README.md)
    python judge.py ANSWERS rca-*       the cases with such a name or formula alone
    judge(case, answer)                 both as they are in their files: a Judgement, with verdict and reasons

The exit code is 0 if every case asked for is certified, and else 1. Without names or patterns all cases are asked for.
A case without an answer is counted, and is not certified. The exit code is 2 if no case is asked for, or if ANSWERS is
no folder. An answer that cannot be read is an error with a sentence, and the others are judged.

The interval of a case, [low, high], holds the optimum exactly: it was proved in rational arithmetic. Here the objective
F of an answer is computed from its definition, in double precision with a generous bound of what rounding does (of
MLSVM in rationals), and compared with the interval; nothing is solved. tol is 1e-6 of the case's scale.

    certified       F - low is at most tol of the scale, rounding counted against the answer
    close           F - high is more than that, and F - low at most 1e-2 of the scale
    refuted         no metric at all, or F - high is more than 1e-2 of the scale
    inconclusive    neither can be said here, and why
    skipped, error  the program does not support it; there is no metric in the answer

For the methods that are not convex (`STEPS`) the interval is that of the stored metric's convex step, and no other
metric's. The gain of the answer's own step is bounded from above with the stored prices, and from below by the stored
metric. At most tol of the scale is certified, at most 1e-2 is close, and more is refuted. MLKR has no such step. Its
gradient is looked at instead. A gradient bounds no gain, so an answer of MLKR is never called close here.

What this file cannot do and `cvxml.check` can: find a price of its own, so that of an answer to a case that is not
convex far from the stored metric little can be said; name the mistake; judge metrics of inputs that are no case.
"""

from __future__ import annotations

import itertools
import json
import math
import sys
from collections import Counter, namedtuple
from fnmatch import fnmatchcase
from fractions import Fraction
from pathlib import Path

import numpy as np

TOL, CLOSE = 1e-6, 1e-2  # of the scale
METRIC = 1e-6  # of the norm: what a metric may be off from symmetric and psd
BORDER = 0.005  # relative: figures within that of what is allowed are not decided here
EPS = 2.0**-52
LARGE = 1e100  # the largest entry of a metric; sums of its squares, times those of the data, do not overflow
BYTES, DEEP, PRINTED = (
    2**26,
    64,
    80,
)  # of an answer's file; brackets within brackets; characters of a string of it

Judgement = namedtuple("Judgement", "case verdict reasons gap")  # gap: (least, most) of the scale, or None
Value = namedtuple("Value", "value size")  # size: the sum of the absolute values of what is added up
Off = namedtuple(
    "Off", ["share", "what", "sure"], defaults=[True]
)  # from what is allowed; sure: that is a fact


def judge(case, answer):
    """The judgement of an answer, a dict, to a case, a dict as in its file."""

    def said(verdict, *reasons, gap=None):
        return Judgement(case["id"], verdict, reasons, gap)

    if not isinstance(answer, dict):
        return said("error", "the answer is no JSON object")
    if "unsupported" in answer:
        return said("skipped", shown(answer["unsupported"]))
    if case["kind"] == "part":
        wrong = of_part(case, answer.get("answer"))
        return said("refuted", wrong) if wrong else said("certified", "every number agrees")
    unattained = "not attained" in case["flags"]
    if answer.get("status") == "not attained":
        return said(
            "certified" if unattained else "refuted",
            "no metric is optimal" if unattained else "one is optimal",
        )
    try:
        M = metric_of(case, answer)
    except ValueError as error:
        return said("error", str(error))
    if unattained:
        return said(
            "inconclusive", "no metric is optimal here, so that none is near it; the answer is a status"
        )
    try:
        with np.errstate(all="ignore"):
            verdict, reason, *gap = verdict_on(case, M, answer.get("objective"))
    except (
        ArithmeticError,
        ValueError,
    ) as error:  # of numpy.linalg too: figures that overflow have no eigenvalues
        return said("inconclusive", "its figures leave the range of double precision: {}".format(error))
    return said(verdict, reason, gap=gap[0] if gap else None)


def shown(value, letters=PRINTED):
    """A string of a file as a terminal shows it: ASCII, on one line, with escapes such as \\x1b and \\n, and cut."""
    if not isinstance(value, str):
        return "a {}".format(type(value).__name__)
    said = value[: letters + 1].encode("unicode_escape").decode("ascii")
    return said if len(said) <= letters else said[: letters - 3] + "..."


def array_of(value):
    """The array of lists of numbers. Raises ValueError for anything else.

    The types are looked at before numpy converts: it gives every text of a list as much memory as the longest needs.
    """
    if not are_numbers(value):
        raise ValueError("no array of numbers")
    found = np.array(value)
    if found.dtype.kind not in "fiub":  # lists of unequal lengths, or integers beyond 64 bits
        raise ValueError("no array of numbers")
    return found


def are_numbers(value, depth=0):
    """True if these are numbers alone, in at most 32 lists within lists."""
    if isinstance(value, (list, tuple)):
        return depth < 32 and all(are_numbers(each, depth + 1) for each in value)
    return isinstance(value, (int, float, np.number, np.ndarray))


def metric_of(case, answer):
    """The matrix of an answer. Raises ValueError where there is none."""
    given = [name for name in ("metric", "components") if name in answer]
    if len(given) != 1:
        raise ValueError('the answer must have "metric" or "components"')
    size = len(case["proof"]["metric"])
    try:
        M = array_of(answer[given[0]])
    except ValueError:
        M = np.array(False)
    if M.dtype.kind not in "fiu" or M.ndim != 2 or M.shape[1] != size:
        raise ValueError("the {} is no matrix of numbers with {} columns".format(given[0], size))
    M = M.astype(float)
    if given == ["components"]:
        with np.errstate(all="ignore"):
            M = M.T @ M
    if M.shape != (size, size) or not np.isfinite(M).all():
        raise ValueError("the metric must be ({0}, {0}) and finite".format(size))
    return M


def verdict_on(case, M, claimed=None):
    """The verdict on a matrix of the right shape, and reasons."""
    if case["formula"] not in OBJECTIVES and case["formula"] not in STEPS:
        return "inconclusive", "the objective of {} is not known here".format(case["formula"])
    given, formula = Given(case), case["formula"]
    strange = sorted(set(given.inputs) - {"X", "y"} - INPUTS[formula])
    if strange:
        return "inconclusive", "the inputs {} of {} are not known here".format(", ".join(strange), formula)
    largest = np.abs(M).max()
    if largest > LARGE or 0 < largest < 1 / LARGE:
        return "inconclusive", "its largest entry is {:.3g}, whose square leaves double precision".format(
            largest
        )
    low, high = map(float, case["reference"]["interval"])
    scale = float(case["reference"]["scale"])
    offs = [off for off in deviations(given, formula, M) if off.share > METRIC * (1 - BORDER)]
    beyond = [off for off in offs if off.share > METRIC * (1 + BORDER) and off.sure]
    if beyond:
        return "refuted", "not a metric of this problem: {} by {:.3g} of the norm".format(
            max(beyond).what, max(beyond).share
        )
    if offs:
        return "inconclusive", "perhaps no metric: {} by {:.3g} of the norm".format(
            offs[0].what, offs[0].share
        )
    if not M.any() and formula in DEFINITE:
        return "refuted", "singular: its objective is infinite"
    forms = judged_forms(given, formula, M)
    if case["reference"]["claim"] == "stationary":
        return on_step(case, given, forms, scale)
    if formula == "glml" and low <= 0:
        return beside_zero(given, forms)
    values = [OBJECTIVES[formula](given, A) for A in forms]
    if not all(math.isfinite(v.value) and math.isfinite(v.size) for v in values):
        return "inconclusive", "the objective is infinite, or overflows"
    rounding = given.lost * max(v.size for v in values)
    least = min(v.value for v in values) - rounding - high
    most = max(v.value for v in values) + rounding - low
    shares = tuple(v / scale if scale > 0 else math.copysign(math.inf, v) for v in (least, most))
    if claimed is not None and not agrees(claimed, values, low, scale, rounding):
        return (
            "refuted",
            "the objective it claims, {}, is not the metric's, {:.12g}".format(
                figure(claimed), values[0].value
            ),
            shares,
        )
    if scale == 0 and not M.any():
        return "certified", "the optimum is 0, and so is the metric", (0.0, 0.0)
    return (*by_gap(least, most, scale, rounding), shares)


def agrees(claimed, values, low, scale, rounding):
    """True unless the claimed objective is clearly another."""
    if not isinstance(claimed, (int, float)) or not abs(claimed) < sys.float_info.max:
        return False
    off = min(abs(claimed - v.value) for v in values)
    return (
        off <= 2 * TOL * abs(values[0].value) + 2 * rounding
        and claimed >= low - 2 * TOL * scale - 2 * rounding
    )


def figure(claimed):
    """A number that a file claims, as text."""
    if isinstance(claimed, int) and abs(claimed) >= 10**20:
        return "an integer of more than 20 digits"
    return repr(claimed) if isinstance(claimed, (int, float)) else shown(claimed)


def by_gap(least, most, scale, rounding):
    """The verdict where the gap is between `least` and `most`."""
    said = "its objective is above the optimum by {:.6g} to {:.6g}; the scale is {:.6g}".format(
        max(least, 0.0), most, scale
    )
    if most < -2 * rounding:
        return "inconclusive", "its objective is below what is proved: {}".format(said)
    if most <= TOL * scale * (1 - BORDER):
        return "certified", said
    if least > CLOSE * scale * (1 + BORDER):
        return "refuted", said
    if most <= CLOSE * scale * (1 - BORDER) and least > TOL * scale * (1 + BORDER):
        return "close", said
    return "inconclusive", "at the border of a verdict, or of rounding: {}".format(said)


class Given:
    """The inputs of a case, as arrays."""

    def __init__(self, case):
        self.inputs, self.proof = case["inputs"], case["proof"]
        self.X = np.array(self["X"], float)
        self.n, self.d = self.X.shape
        # of a sum of absolute values: no figure here is a longer sum than of d d terms and n more
        self.lost = 2 * (self.d**2 + self.n + 16) * EPS
        self.y = np.array(self.inputs.get("y", []))

    def __getitem__(self, name):
        return self.inputs[name]

    def triplets(self):
        return np.array(self["triplets"], int).reshape(-1, 3).T

    def pairs(self):
        return [
            self.between(*np.array(self["pairs"][name], int).reshape(-1, 2).T)
            for name in ("similar", "dissimilar")
        ]

    def between(self, i, j):
        return self.X[i] - self.X[j]


# ---- what is a metric ----


def deviations(given, formula, M):
    """How far M is from what the problem asks for."""
    if formula == "kernel_mlsvm":
        root = kernel(given)[1]
        M = root @ M @ root
    if formula == "plml":
        beside = np.abs(M - in_blocks(given, M)).max()
        yield Off(beside / (np.linalg.norm(M) or 1.0), "there is an entry beside its blocks")
        M = in_blocks(given, M)
    yield from of_cone(M, "")
    for spread in spreads(given, formula, len(M)):
        seen = spread > 0
        unit = 2.0 ** np.round(np.log2(spread[seen]))
        for off in of_cone(M[np.ix_(seen, seen)] * np.outer(unit, unit), "in units of the features, "):
            yield off._replace(sure=False)  # asked of most methods
    if formula in ("mmc", "mmc:diagonal", "dml_eig"):
        said, forms = "the sum over similar pairs exceeds 1", ((M + M.T) / 2, nearest_psd(M))
        spent = [float(squares(given.pairs()[0], A)[0].sum()) for A in forms]
        yield Off(min(spent) - 1, said)
        yield Off(max(spent) - 1, said, False)
    norm = np.linalg.norm(M) or 1.0
    if formula == "mmc:diagonal":
        yield Off(np.linalg.norm(M - np.diag(np.diag(M))) / norm, "it is not diagonal")
    if formula in ("scml", "schultz_joachims"):
        w, off, least = weights_of(given, M)
        yield Off(off / norm, "it is no combination")
        if w.min() < 0:
            away = np.linalg.norm(np.minimum(w, 0))
            yield Off(least * away / norm, "it is no combination with weights >= 0")
            yield Off(away / np.linalg.norm(w), "it is no combination with weights >= 0", False)
    if formula == "glml":
        yield Off(abs(np.linalg.slogdet((M + M.T) / 2)[1]) / given.d, "its determinant is not 1")
    if formula == "lfda":
        off, said = M - embedded(given, M), "it is not of the embedding asked for"
        yield Off(np.linalg.norm(off) / norm, said)
        root = np.linalg.cholesky(scatters(given)[0])  # in coordinates in which S_w is the identity
        yield Off(
            np.linalg.norm(root.T @ off @ root) / (np.linalg.norm(root.T @ M @ root) or 1.0), said, False
        )


def spreads(given, formula, size):
    """How far the features spread: the points, and where similar pairs have a budget, the differences of these."""
    if formula == "kernel_mlsvm":
        return []
    own = np.abs(given.X - given.X.min(axis=0) / 2 - given.X.max(axis=0) / 2).max(axis=0)
    found = [np.tile(own, size // given.d)]
    if formula in ("mmc", "mmc:diagonal", "dml_eig"):
        found.append(np.abs(given.pairs()[0]).max(axis=0))
    return found


def of_cone(M, where):
    """How far M is from symmetric, and from psd."""
    M = M / (np.abs(M).max() or 1.0)
    norm = np.linalg.norm(M) or 1.0
    yield Off(np.abs(M - M.T).max() / norm, where + "asymmetric")
    yield Off(-np.linalg.eigvalsh((M + M.T) / 2)[0] / norm, where + "not psd")


def nearest_psd(M):
    """The symmetric part if that is psd, else its projection."""
    values, vectors = np.linalg.eigh((M + M.T) / 2)
    return (M + M.T) / 2 if values[0] >= 0 else (vectors * np.maximum(values, 0)) @ vectors.T


def judged_forms(given, formula, M):
    """The matrices that M may be judged as: one, and where it is not quite psd, the nearest that is."""
    if formula == "plml":
        M = in_blocks(given, M)
    symmetric, forms = (M + M.T) / 2, [(M + M.T) / 2]
    if formula in ("scml", "schultz_joachims"):
        w, B = np.maximum(weights_of(given, M)[0], 0), basis_of(given)
        return [(B.T * w) @ B]
    if formula == "mmc:diagonal":
        return forms
    if formula == "kernel_mlsvm":
        root = kernel(given)[1]
        S, back = root @ symmetric @ root, np.linalg.pinv(root, rcond=1e-10)
        if np.linalg.eigvalsh(S)[0] < -(len(M) * EPS) * np.linalg.norm(S):
            forms.append(back @ nearest_psd(S) @ back)
    elif np.linalg.eigvalsh(symmetric)[0] < 0:
        forms.append(nearest_psd(M))
    if formula in ("mmc", "dml_eig"):
        return [A / max(1.0, squares(given.pairs()[0], A)[0].sum()) for A in forms]
    return forms


def weights_of(given, M):
    """The weights of M, how far it is from their combination, and the least change of M for a unit of weight."""
    B = basis_of(given)
    columns = np.array([np.outer(b, b).ravel() for b in B]).T
    w, _, rank, s = np.linalg.lstsq(columns, ((M + M.T) / 2).ravel(), rcond=None)
    off = np.linalg.norm(columns @ w - ((M + M.T) / 2).ravel())
    return w, off, s[-1] if rank == len(B) else 0.0


def basis_of(given):
    if "basis" in given.inputs:
        return np.array(given["basis"], float)
    return np.array(given["A"], float).T if "A" in given.inputs else np.eye(given.d)


def blocks_of(given, M):
    m = len(given["weights"][0])
    return [M[b * given.d : (b + 1) * given.d, b * given.d : (b + 1) * given.d] for b in range(m)]


def in_blocks(given, M):
    found = np.zeros_like(M)
    for b, own in enumerate(blocks_of(given, M)):
        found[b * given.d : (b + 1) * given.d, b * given.d : (b + 1) * given.d] = own
    return found


# ---- distances and losses: (values, sizes) ----


def squares(E, M):
    """e^T M e of every row e of E, and what its terms add up to without their signs."""
    return np.einsum("ti,ij,tj->t", E, M, E), np.einsum("ti,ij,tj->t", np.abs(E), np.abs(M), np.abs(E))


def rows(given, M):
    """D(i, j) of all points (n, n), and the sizes."""
    E = (given.X[:, None] - given.X).reshape(-1, given.d)
    return [found.reshape(given.n, given.n) for found in squares(E, M)]


def margins(given, M):
    """D(i, l) - D(i, j) of every triplet, and the sizes."""
    i, j, l = given.triplets()
    (far, far_size), (near, near_size) = squares(given.between(i, l), M), squares(given.between(i, j), M)
    return far - near, 1 + far_size + near_size


def total(values, sizes=None):
    return Value(math.fsum(values), math.fsum(np.abs(values)) if sizes is None else math.fsum(sizes))


def plus(*parts):
    return Value(sum(p.value for p in parts), sum(abs(p.size) for p in parts))


def times(factor, part):
    return Value(factor * part.value, abs(factor) * part.size)


def hinge(values):
    return np.maximum(0.0, 1 - values)


def log_det(M):
    """log det of a definite matrix with its size, which grows with the condition; infinite where that is none."""
    unit = np.sqrt(np.abs(np.diag(M)))
    if (unit == 0).any():
        return Value(-math.inf, math.inf)
    own = M / np.outer(unit, unit)
    values = np.linalg.eigvalsh(own)
    if values[0] <= 0:
        return Value(-math.inf, math.inf)
    logs = np.concatenate([np.log(values), 2 * np.log(unit)])
    return Value(math.fsum(logs), math.fsum(np.abs(logs)) + 1e-3 * len(M) ** 2 / values[0])


def product(A, B):
    """tr A B."""
    return total((A * B.T).ravel())


def inverse(M):
    """M^-1, by way of a diagonal of 1."""
    unit = np.sqrt(np.abs(np.diag(M)))
    return np.linalg.inv(M / np.outer(unit, unit)) / np.outer(unit, unit)


def lists_slacks(given, D, size):
    """[1 + max over targets - min over impostors]_+ of every point that has both."""
    values, sizes = [0.0], [0.0]
    for i, (T, J) in enumerate(zip(given["targets"], given["impostors"])):
        if T and J:
            xi, of_xi = 1 + D[i, T].max() - D[i, J].min(), 1 + size[i, T].max() + size[i, J].max()
            if xi > -given.lost * of_xi:  # else it is 0, whatever rounding did
                values.append(max(0.0, xi))
                sizes.append(of_xi)
    return total(values, sizes)


# ---- objectives ----


def mlsvm(given, A):
    """lam/2 ||A||^2 + 1/n sum of slacks, in rational arithmetic: where lam is tiny rounding would be all there is."""
    X, M = ([[Fraction(v) for v in row] for row in matrix.tolist()] for matrix in (given.X, A))

    def D(i, j):
        e = [a - b for a, b in zip(X[i], X[j])]
        return sum(a * sum(m * b for m, b in zip(row, e)) for a, row in zip(e, M))

    slacks = [
        max(0, 1 + max(D(i, l) for l in T) - min(D(i, j) for j in J))
        for i, (T, J) in enumerate(zip(given["targets"], given["impostors"]))
        if T and J
    ]
    norm = Fraction(given["lam"]) / 2 * sum(v * v for row in M for v in row)
    value = float(norm + sum(slacks, Fraction(0)) / given.n)
    return Value(value, abs(value))


def kernel(given):
    """K, and its square root."""
    K = (given.X @ given.X.T) ** given["degree"]
    values, vectors = np.linalg.eigh(K)
    return K, (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T


def kernel_mlsvm(given, phi):
    """The same in the feature space."""
    K = kernel(given)[0]
    E = (K[:, None] - K).reshape(-1, given.n)
    D, size = (found.reshape(given.n, given.n) for found in squares(E, phi))
    KM, of_KM = K @ phi, np.abs(K) @ np.abs(phi)
    norm = Value(float((KM * KM.T).sum()), float((of_KM * of_KM.T).sum()))
    return plus(times(given["lam"] / 2, norm), times(1 / given.n, lists_slacks(given, D, size)))


def lmnn(given, M, power=1):
    """(1 - mu) sum over targets + mu sum over triplets."""
    mu, y = given["mu"], given.y
    if "triplets" in given.inputs:
        i, j, l = given.triplets()
        pull = np.array(sorted(set(zip(i.tolist(), j.tolist()))), int).T
    else:
        pull = np.array([(i, j) for i, T in enumerate(given["targets"]) for j in T], int).T
        i, j, l = np.array([(i, j, l) for i, j in pull.T for l in np.flatnonzero(y != y[i])], int).T
    D, size = rows(given, M)
    xi, of_xi = np.maximum(0.0, 1 + D[i, j] - D[i, l]), 1 + size[i, j] + size[i, l]
    push = total(xi**power, of_xi if power == 1 else 2 * xi * of_xi)
    return plus(times(1 - mu, total(D[tuple(pull)], size[tuple(pull)])), times(mu, push))


def frobmetric(given, M):
    """1/2 ||M||^2 + C mean of hinges."""
    norm, (v, size) = times(0.5, total((M**2).ravel())), margins(given, M)
    return plus(norm, times(given["C"] / len(v), total(hinge(v), size)))


def schultz_joachims(given, M):
    """1/2 ||M||^2 + C sum of hinges."""
    norm, (v, size) = times(0.5, total((M**2).ravel())), margins(given, M)
    return plus(norm, times(given["C"], total(hinge(v), size)))


def rtml(given, M):
    """lam/2 ||M||^2 + sum of hinges that are rounded over the width."""
    norm, (v, size), width = times(given["lam"] / 2, total((M**2).ravel())), margins(given, M), given["width"]
    short = hinge(v)
    loss = np.where(short >= width, short - width / 2, short**2 / (2 * width or 1.0))
    return plus(norm, total(loss, size))


def scml(given, M):
    """beta sum of weights + mean of hinges."""
    w, (v, size) = np.maximum(weights_of(given, M)[0], 0), margins(given, M)
    if weights_of(given, M)[2] == 0:
        return Value(math.nan, math.nan)  # other weights may have a smaller sum
    return plus(times(given["beta"], total(w)), times(1 / len(v), total(hinge(v), size)))


def boostmetric(given, M):
    """log sum exp of minus the margins + v tr M."""
    v, size = margins(given, M)
    least = v.min()
    value = math.log(math.fsum(np.exp(least - v))) - least
    return plus(Value(value, size.max()), times(given["v"], total(np.diag(M))))


def plml(given, M):
    """alpha1 sum ||M_b||^2 + sum of hinges at the metric of x_i + alpha2 sum over its pairs."""
    i, j, l = given.triplets()
    W, metrics = np.array(given["weights"], float), blocks_of(given, M)
    pull = np.array(sorted(set(zip(i.tolist(), j.tolist()))), int).T

    def seen(at, E):
        parts = [[W[at, b] * found for found in squares(E, M_b)] for b, M_b in enumerate(metrics)]
        return sum(p[0] for p in parts), sum(p[1] for p in parts)

    (far, far_size), (near, near_size) = seen(i, given.between(i, l)), seen(i, given.between(i, j))
    norm = times(given["alpha1"], total(np.concatenate([(M_b**2).ravel() for M_b in metrics])))
    loss = total(hinge(far - near), 1 + far_size + near_size)
    return plus(norm, loss, times(given["alpha2"], total(*seen(pull[0], given.between(*pull)))))


def earned(measure, k, P, N):
    """What the p-th relevant point earns with g others before it: (P, N + 1)."""
    k = min(k, P, N) if measure == "precision" else min(k, P)
    p, g = np.arange(1, P + 1)[:, None], np.arange(N + 1)
    r = p + g
    if measure == "auc":
        return (N - g) / (P * N) + 0 * r
    if measure == "precision":
        return (r <= k) / k
    if measure == "map":
        return p / (P * r)
    if measure == "mrr":
        return (p == 1) / r
    c = np.zeros(P + N + 1)
    c[1 : k + 1] = [1 / math.log2(r) if r > 1 else 1.0 for r in range(1, k + 1)]
    return (c / c.sum())[r]


def mlr(given, W):
    """tr W + C/n sum of what the worst rankings need."""
    D, size = rows(given, W)
    slacks, sizes = [], []
    for q, relevant in enumerate(given["relevant"]):
        others = [j for j in range(given.n) if j != q and j not in relevant]
        P, N = len(relevant), len(others)
        if not P or not N:
            continue
        before, best = np.concatenate([[0.0], np.cumsum(np.sort(D[q, others]))]), np.ones(N + 1)
        for near, own in zip(np.sort(D[q, relevant]), earned(given["measure"], given["k"], P, N)):
            best = np.maximum.accumulate(best) - own - 2 * (before - np.arange(N + 1) * near) / (P * N)
        slacks.append(max(0.0, best.max()))
        sizes.append(2 + 2 * (size[q, others].sum() / N + size[q, relevant].sum() / P))
    return plus(total(np.diag(W)), times(given["C"] / len(slacks), total(slacks, sizes)))


def divergence(M, prior):
    """D_ld(M, prior)."""
    A_0 = np.array(prior, float)
    logs = [log_det(M), log_det(A_0)]
    return plus(product(M, inverse(A_0)), times(-1, logs[0]), logs[1], Value(-len(M), len(M)))


def lsml(given, M):
    """D_ld + sum w (sqrt D(a, b) - sqrt D(c, e))_+^2. Of a mean the weights of a case sum to 1."""
    a, b, c, e = np.array(given["quadruplets"], int).T
    (near, size), (far, more) = squares(given.between(a, b), M), squares(given.between(c, e), M)
    loss = np.maximum(0.0, np.sqrt(np.maximum(near, 0)) - np.sqrt(np.maximum(far, 0))) ** 2
    w = np.array(given["weights"], float)
    if given.inputs.get("losses", "mean") != "sum":
        w = w / w.sum()
    return plus(divergence(M, given["prior"]), total(w * loss, w * (size + more)))


def itml(given, A):
    """D_ld + gamma sum of r - log r - 1, r the share of the bound that is missed."""
    parts = [divergence(A, given["prior"])]
    for E, bound, missed in zip(given.pairs(), given["bounds"], (np.maximum, np.minimum)):
        D, size = squares(E, A)
        r = missed(D / bound, 1.0)
        r = np.where(E.any(axis=1), r, 1.0)  # a pair that coincides pays what no metric changes
        parts.append(
            times(
                given["gamma"],
                total(r - np.log(r) - 1, r + np.abs(np.log(r)) + 1 + size / bound / np.minimum(r, 1)),
            )
        )
        if missed is np.minimum and not E.any(axis=1).all():
            return Value(math.nan, math.nan)
    return plus(*parts)


def sdml(given, M):
    """tr S M - log det M + lam sum off the diagonal."""
    S = inverse(np.array(given["prior"], float))
    near, far = (E.T @ E for E in given.pairs())
    S = S + given["eta"] * (near - far)
    off = np.abs(M).sum() - np.abs(np.diag(M)).sum()
    return plus(product(M, S), times(-1, log_det(M)), times(given["lam"], Value(off, off)))


def gmml(given, A):
    """tr A S + tr A^-1 D."""
    if given["weight"] != 0.5:
        return Value(math.nan, math.nan)
    A_0 = np.array(given.inputs.get("prior", np.eye(given.d)), float)
    S, D = (E.T @ E + given["mu"] * beside for E, beside in zip(given.pairs(), (inverse(A_0), A_0)))
    if not math.isfinite(log_det(A).value):
        return Value(math.inf, math.inf)
    return plus(product(A, S), of_inverse(A, D))


def of_inverse(A, D):
    """tr A^-1 D, with a size that grows with the condition."""
    unit = np.sqrt(np.diag(A))
    own = A / np.outer(unit, unit)
    M = inverse(A)
    value = float((M * D).sum())
    return Value(
        value, float((np.abs(M) * np.abs(D)).sum()) + 1e-3 * len(A) ** 2 * np.linalg.cond(own) * abs(value)
    )


def rca(given, M):
    """tr C B for B = M / |M|^(1/d), C the covariance within chunklets + alpha I."""
    chunklets, log = np.array(given["chunklets"]), log_det(M)
    E = np.concatenate(
        [given.X[chunklets == c] - given.X[chunklets == c].mean(axis=0) for c in set(chunklets) - {-1}]
    )
    C = E.T @ E / len(E) + given["alpha"] * np.eye(given.d)
    found = (
        times(math.exp(-log.value / given.d), product(M, C))
        if math.isfinite(log.value)
        else Value(math.inf, math.inf)
    )
    return found._replace(size=found.size + abs(found.value) * log.size)


def mmc(given, A):
    """- sum of distances."""
    D, size = squares(given.pairs()[1], A)
    root = np.sqrt(np.maximum(D, 0))
    return total(-root, np.where(root > 0, size / np.where(root > 0, root, 1), np.sqrt(size)))


def mmc_diagonal(given, A):
    """The same for a diagonal metric within the budget."""
    A = np.diag(np.maximum(np.diag(A), 0))
    return mmc(given, A / max(1.0, squares(given.pairs()[0], A)[0].sum()))


def dml_eig(given, A):
    """- the least squared distance."""
    D, size = squares(given.pairs()[1], A)
    return Value(-D.min(), size.max())


def ldml(given, M):
    """w log(1 + exp(D - b)) over similar pairs and w log(1 + exp(b - D)) over others, at the best b if it is free.

    For "means" w is over its sum of similar and of other pairs. All points with themselves are a similar pair at 0.
    """
    (near, near_size), (far, far_size) = (squares(E, M) for E in given.pairs())
    alone = given.n * given.inputs.get("self_pairs", 0.0)
    w = np.array(given.inputs.get("weights", np.ones(len(near) + len(far))), float)
    of_near, of_far = w[: len(near)], w[len(near) :]
    if given.inputs.get("losses", "sum") == "means":
        of_near, of_far, alone = of_near / of_near.sum(), of_far / of_far.sum(), alone / of_near.sum()
    near, near_size, of_near = (
        np.append(v, last) for v, last in ((near, 0), (near_size, 0), (of_near, alone))
    )
    sizes, w = np.concatenate([near_size, far_size]), np.concatenate([of_near, of_far])

    def loss(b):
        values = np.concatenate([np.logaddexp(0, near - b), np.logaddexp(0, b - far)])
        return total(w * values, w * (values + sizes + abs(b)))

    if given["b"] != "free":
        return loss(given["b"])
    away = math.log(2 * w.sum() / w[w > 0].min())
    low, high = min(near.min(), far.min()) - away, max(near.max(), far.max()) + away
    for _ in range(200):
        b = (low + high) / 2
        slope = of_near @ (1 / (1 + np.exp(b - near))) - of_far @ (1 / (1 + np.exp(far - b)))
        low, high = (b, high) if slope > 0 else (low, b)
    return loss((low + high) / 2)


def mcml(given, A):
    """sum over points of the mean distance to the class and log sum exp of minus all distances."""
    D, size = rows(given, A)
    parts = []
    for i in range(given.n):
        others = np.arange(given.n) != i
        own = others & (given.y == given.y[i])
        if own.any():
            least = D[i, others].min()
            value = D[i, own].mean() - least + math.log(math.fsum(np.exp(least - D[i, others])))
            parts.append(Value(value, size[i, own].mean() + 2 * size[i].max() + 10))
    return plus(*parts)


def scatters(given):
    """S_w and S_b of LFDA."""
    X, y, n = given.X, given.y, given.n
    D2 = ((X[:, None] - X) ** 2).sum(axis=2)
    s = np.array(
        [
            np.sort(np.sqrt(D2[i, (y == y[i]) & (np.arange(n) != i)]))[given["n_neighbors"] - 1]
            for i in range(n)
        ]
    )
    both = np.outer(s, s)
    A = np.where(both > 0, np.exp(-D2 / np.where(both > 0, both, 1)), 0)
    same, n_c = y[:, None] == y, np.array([(y == c).sum() for c in y])[:, None]

    def scatter(W):
        return X.T @ (np.diag(W.sum(axis=1)) - W) @ X

    X = X - X.mean(axis=0)
    within = scatter(np.where(same, A / n_c, 0)) + given["alpha"] * np.eye(given.d)
    return within, scatter(np.where(same, A * (1 / n - 1 / n_c), 1 / n))


def span(given, S_w, M):
    """T (d, r) of the range of M with T^T S_w T = I."""
    unit = np.sqrt(np.diag(S_w))
    T = np.linalg.eigh(M * np.outer(unit, unit))[1][:, ::-1][:, : given["n_components"]] / unit[:, None]
    L = np.linalg.cholesky(T.T @ S_w @ T)
    return np.linalg.solve(L, T.T).T


def embedded(given, M):
    """The metric of the embedding asked for that has the range of M."""
    S_w, S_b = scatters(given)
    try:
        T = span(given, S_w, (M + M.T) / 2)
    except np.linalg.LinAlgError:
        return np.zeros_like(M)
    values, vectors = np.linalg.eigh(T.T @ S_b @ T)
    T = T @ vectors
    if given["embedding"] == "orthonormal":
        T = np.linalg.qr(T)[0]
    elif given["embedding"] == "weighted":
        T = T * np.sqrt(np.maximum(values, 0))
    return T @ T.T


def lfda(given, M):
    """- tr (T^T S_w T)^-1 T^T S_b T for the range of M."""
    S_w, S_b = scatters(given)
    T, most = span(given, S_w, M), np.linalg.cond(S_w / np.sqrt(np.outer(np.diag(S_w), np.diag(S_w))))
    value = float(np.trace(T.T @ S_b @ T))
    return Value(-value, abs(value) * (10 + most))


def glml(given, A):
    """(tr A^-1 B)^2 for A of determinant 1 and B, of norm 1, of one Gaussian a class at the query."""
    t, size, _ = trace_of(given, A)
    return Value(t * t, size * (2 * t + given.lost * size))


def trace_of(given, A):
    """|tr A^-1 B| with its size, and ||A^-1||, for A of determinant 1."""
    A = A / math.exp(np.linalg.slogdet(A)[1] / given.d)
    (B, uncertain), norm = densities(given), float(np.linalg.norm(inverse(A)))
    found = of_inverse(A, B)
    return abs(found.value), found.size + uncertain * norm, norm


def beside_zero(given, forms):
    """The verdict on a local metric where the optimum is 0: |tr A^-1 B| is measured by ||A^-1||."""
    t, size, norm = trace_of(given, forms[-1])
    low, high = (t - given.lost * size) / norm, (t + given.lost * size) / norm
    said = "the trace is {:.3g} to {:.3g} of its norm".format(max(low, 0.0), high)
    if high <= TOL * (1 - BORDER):
        return "certified", said
    return ("refuted" if low > TOL * (1 + BORDER) else "inconclusive"), said


def densities(given):
    """B over its norm, and how uncertain it is in units of rounding."""
    x, X, logs, G, worst = np.array(given["query"], float), given.X, [], [], 1.0
    for c, prior in enumerate(given["priors"]):
        E = X[given.y == c] - X[given.y == c].mean(axis=0)
        C = E.T @ E / len(E) + given["alpha"] * np.eye(given.d)
        S, far = np.linalg.inv(C), x - X[given.y == c].mean(axis=0)
        pull = S @ far
        worst = max(worst, np.linalg.cond(C))
        logs.append(math.log(prior) - np.linalg.slogdet(C)[1] / 2 - far @ pull / 2)
        G.append(np.outer(pull, pull) - S)
    if len(G) == 2:
        B = (G[0] - G[1]) * (1.0 if logs[1] >= logs[0] else -1.0)
    else:
        p = np.exp(np.array(logs) - max(logs))
        B = sum(
            p[i] * p[j] * (p[j] - p[i]) * (G[i] - G[j]) for i, j in itertools.combinations(range(len(G)), 2)
        )
    size = max(np.linalg.norm(own) for own in G) / np.linalg.norm(B)
    return B / np.linalg.norm(B), (1 + 1e-3 * worst) * size


def similarity(given):
    if "similarity" in given.inputs:
        return np.array(given["similarity"], float)
    return (given.y[:, None] == given.y) * 1.0 - np.eye(given.n)


def shares(given, Q):
    """p_ij of every row, and the sizes of distances."""
    D, size = rows(given, Q)
    own = D + np.diag([math.inf] * given.n)
    e = np.exp(own.min(axis=1)[:, None] - own)
    return e / e.sum(axis=1)[:, None], size


def nca(given, Q):
    """- f or - g."""
    p, size = shares(given, Q)
    p_i = (similarity(given) * p).sum(axis=1)
    used = similarity(given).any(axis=1)
    values = -p_i[used] if given["criterion"] == "f" else -np.log(p_i[used])
    return total(values, np.abs(values) + 4 * size.max(axis=1)[used])


OBJECTIVES = {
    f.__name__: f
    for f in (mlsvm, kernel_mlsvm, lmnn, frobmetric, schultz_joachims, rtml, scml, boostmetric, plml)
}
OBJECTIVES.update(
    {f.__name__: f for f in (mlr, lsml, itml, sdml, gmml, rca, mmc, dml_eig, ldml, mcml, lfda, glml, nca)}
)
OBJECTIVES["lmnn:squared_hinge"] = lambda given, M: lmnn(given, M, 2)
OBJECTIVES["mmc:diagonal"] = mmc_diagonal
# What else than X and y is read of a case. A case with more is another problem.
LISTS = {"neighbors", "targets", "impostors"}
INPUTS = {
    "mlsvm": {"lam"} | LISTS,
    "kernel_mlsvm": {"lam", "kernel", "degree"} | LISTS,
    "lmnn": {"mu", "targets", "triplets"},
    "lmnn:squared_hinge": {"mu", "targets", "triplets"},
    "frobmetric": {"C", "triplets"},
    "schultz_joachims": {"C", "A", "triplets"},
    "rtml": {"lam", "width", "triplets"},
    "scml": {"beta", "basis", "triplets"},
    "boostmetric": {"v", "triplets"},
    "plml": {"alpha1", "alpha2", "weights", "triplets"},
    "mlr": {"C", "measure", "k", "relevant"},
    "lsml": {"prior", "quadruplets", "weights", "losses"},
    "itml": {"gamma", "prior", "bounds", "pairs"},
    "sdml": {"eta", "lam", "prior", "pairs"},
    "gmml": {"weight", "mu", "prior", "pairs"},
    "rca": {"chunklets", "alpha"},
    "mmc": {"pairs"},
    "mmc:diagonal": {"pairs"},
    "dml_eig": {"pairs"},
    "ldml": {"b", "losses", "weights", "self_pairs", "pairs"},
    "mcml": set(),
    "lfda": {"n_components", "n_neighbors", "embedding", "alpha"},
    "glml": {"query", "alpha", "priors"},
    "nca": {"criterion", "similarity", "n_components"},
    "ssvm": {"C", "n_neighbors", "loss_matrix"},
    "mlkr": {"n_components"},
}
DEFINITE = ("lsml", "itml", "sdml", "gmml", "rca", "glml")  # infinite at a singular matrix


# ---- what is not convex: what the answer's own convex step could gain ----


def on_step(case, given, forms, scale):
    """The verdict on a claim to be stationary."""
    most, surrogate, rounding = STEPS[case["formula"]](given, forms[-1])
    at, stored = surrogate(forms[-1]), np.array(case["proof"]["metric"])
    towards = (surrogate(forms[-1] + 2.0**-k * (stored - forms[-1])) for k in range(12))
    least = at - min(towards)
    said = "its step could gain {:.3g} to {:.3g}; the scale is {:.3g}".format(max(least, 0.0), most, scale)
    # The scale of an answer that is not the stored metric differs. The factors 0.5 and 10 allow for that.
    above = min(least, most) - rounding
    if most + rounding <= 0.5 * TOL * scale:
        return "certified", "stationary: " + said
    first_order = case["formula"] == "mlkr"
    steep = first_order and above > 10 * TOL * scale and most - rounding > 2 * CLOSE * scale
    if above > 10 * CLOSE * scale or steep:
        return "refuted", "improvable: " + said
    if above > 10 * TOL * scale and most + rounding <= 0.5 * CLOSE * scale and not first_order:
        return "close", "nearly stationary: " + said
    return "inconclusive", "with the stored prices and metric no more is known than that " + said


def nca_step(given, Q):
    """With rows q of the stored matrices: sum c_i KL(q_i || p_i) + <Q, Z>; the step; rounding."""
    s, (p, size) = similarity(given), shares(given, Q)
    p_i = (s * p).sum(axis=1)
    used = s.any(axis=1)
    c = np.where(used, p_i if given["criterion"] == "f" else 1.0, 0.0)
    w = s * p / np.where(p_i > 0, p_i, 1)[:, None]
    R, interior = (shares(given, np.array(given.proof[name]))[0] for name in ("R", "interior"))
    E, most = given.X[:, None] - given.X, math.inf
    mixed = [0.0, float(given.proof["theta"][0])] + [10.0 ** (-k / 4) for k in range(4, 56)]
    for near, theta in itertools.product((R, p), mixed):
        q = (1 - theta) * near + theta * interior
        weights = c[:, None] * (w - q)
        Z = np.einsum("ij,ija,ijb->ab", weights, E, E)
        of_Z = np.einsum("ij,ija,ijb->ab", np.abs(weights) + EPS * (w + q), np.abs(E), np.abs(E))
        if np.linalg.eigvalsh(Z)[0] > 100 * EPS * np.linalg.norm(of_Z):
            apart = np.where(
                q > 0, q * np.log(np.where(q > 0, q, 1) / np.where((q > 0) & (p > 0), p, 1)), 0
            ).sum(axis=1)
            most = min(most, float((c * apart).sum() + (Z * Q).sum()))
    return most, lambda A: nca_surrogate(given, c, w, A), 1e-13 * float((c * size.max(axis=1)).sum() + len(c))


def nca_surrogate(given, c, w, Q):
    """What changes in the step: sum c_i (sum_j w_ij D_ij + log sum exp -D_ik)."""
    D = rows(given, Q)[0]
    own = D + np.diag([math.inf] * given.n)
    logs = np.log(np.exp(own.min(axis=1)[:, None] - own).sum(axis=1)) - own.min(axis=1)
    return math.fsum(c * ((w * D).sum(axis=1) + logs))


def splits(votes, sizes):
    """All ways to give that many votes to classes of so many points."""
    if not sizes:
        return [()] if votes == 0 else []
    return [(m, *rest) for m in range(min(votes, sizes[0]) + 1) for rest in splits(votes - m, sizes[1:])]


def ssvm_sets(given, D, i):
    """For every vote the cheapest set and its loss, and of those in which the class of i wins the cheapest."""
    Lam, k, y = np.array(given["loss_matrix"], float), given["n_neighbors"], given.y
    near = [
        sorted((j for j in range(given.n) if y[j] == c and j != i), key=lambda j: (D[i, j], j))
        for c in range(len(Lam))
    ]
    sets = []
    for v in splits(k, [len(each) for each in near]):
        h = [j for each, m in zip(near, v) for j in each[:m]]
        sets.append((v, h, max(Lam[y[i], c] for c in range(len(v)) if v[c] == max(v))))
    wins = [h for v, h, _ in sets if all(v[y[i]] > m for c, m in enumerate(v) if c != y[i])]
    return sets, min(wins, key=lambda h: D[i, h].sum())


def ssvm_step(given, W):
    """The step's value less the bound of the stored prices; the step; rounding."""
    C, (D, size) = given["C"], rows(given, W)
    order = D if W.any() else rows(given, np.eye(given.d))[0]  # at 0 all sets tie: h* is that of the identity
    latent = [ssvm_sets(given, order, i)[1] for i in range(given.n)]

    def value(A):
        D = rows(given, A)[0]
        losses = [
            max(loss - D[i, h].sum() for _, h, loss in ssvm_sets(given, D, i)[0]) + D[i, latent[i]].sum()
            for i in range(given.n)
        ]
        return float((A**2).sum()) + C * math.fsum(losses)

    weights, gained, Lam, y = np.zeros((given.n, given.n)), 0.0, given["loss_matrix"], given.y
    for (i, *h), q in zip(given.proof["q_index"], given.proof["q"]):
        counts = [int((y[h] == c).sum()) for c in range(len(Lam))]
        gained += q * max(Lam[y[i]][c] for c, m in enumerate(counts) if m == max(counts))
        weights[i, h] += q
    for i, h in enumerate(latent):
        weights[i, h] -= 1
    E = given.X[:, None] - given.X
    values = np.linalg.eigvalsh(C * np.einsum("ij,ija,ijb->ab", weights, E, E))
    bound = C * gained - (np.maximum(values, 0) ** 2).sum() / 4
    here = value(W)
    return here - bound, value, 1e-13 * (abs(here) + C * size.sum())


def mlkr_step(given, Q):
    """To first order, in features of unit covariance, max(|A|, 1) |dF/dA| and what a direction wins; F; rounding."""
    y, p = np.array(given["y"], float), shares(given, Q)[0]
    off = p @ y - y
    c = 2 * off[:, None] * p * ((p @ y)[:, None] - y)
    E, around = given.X[:, None] - given.X, given.X - given.X.mean(axis=0)
    G, C = np.einsum("ij,ija,ijb->ab", c, E, E), around.T @ around / given.n
    L = np.linalg.cholesky(C)
    own, Q, G = Q, L.T @ Q @ L, np.linalg.solve(L, np.linalg.solve(L, G).T)
    length = max(math.sqrt(np.trace(Q)), 1.0)
    gradient = length * 2 * math.sqrt(max(float(np.trace(Q @ G @ G)), 0.0))
    most = max(gradient, length**2 * max(0.0, -np.linalg.eigvalsh(G)[0]))

    def value(A):
        return float(((shares(given, A)[0] @ y - y) ** 2).sum())

    return most, value, 1e-13 * (value(own) + float(np.abs(c).sum() * length**2))


STEPS = {"nca": nca_step, "ssvm": ssvm_step, "mlkr": mlkr_step}


# ---- parts of algorithms ----


def of_part(case, answer):
    """What is wrong with the numbers of a part, as a sentence; empty if they agree."""
    if not isinstance(answer, dict):
        return 'there is no "answer" with the numbers of the part'
    for name, right in case["answer"].items():
        wrong = "" if name in answer else "missing"
        if not wrong and name in case["sets"]:
            wrong = "" if same_sets(right, answer[name]) else "other sets"
        elif not wrong:
            wrong = other_numbers(right, answer[name], case["tolerance"])
        if wrong:
            return "{}: {}".format(name, wrong)
    return ""


def same_sets(right, given):
    if not isinstance(given, list) or len(given) != len(right):
        return False
    whole = all(isinstance(row, list) and all(type(j) is int for j in row) for row in given)
    return whole and all(sorted(a) == sorted(b) for a, b in zip(right, given))


def other_numbers(right, given, tolerance):
    right = np.array(right, float)
    try:
        found = array_of(given)
    except ValueError as error:
        return str(error)
    if found.shape != right.shape:
        return "numbers of shape {} are asked for".format(right.shape)
    off = np.abs(found - right)
    if (off <= tolerance * max(np.abs(right).max(initial=0.0), 1.0)).all():
        return ""
    return "off by {:.3g}".format(off.max())


# ---- files ----


def read(path):
    """The content of an answer's file. Raises ValueError, with a sentence, if it cannot be read."""
    try:
        if not path.is_file():  # nothing is read of a folder, or of a pipe or device that has no end
            raise ValueError("it is not a regular file")
        with path.open("rb") as file:
            content = file.read(BYTES + 1)
        if len(content) > BYTES:
            raise ValueError("it has more than {} MiB".format(BYTES >> 20))
        answer = json.loads(content.decode("utf-8"))
    except OSError as error:
        raise ValueError("it cannot be read: {}".format(error.strerror)) from error
    except UnicodeDecodeError as error:
        raise ValueError("no JSON: it is not UTF-8") from error
    except json.JSONDecodeError as error:
        raise ValueError("no JSON: {} at line {}".format(error.msg, error.lineno)) from error
    except (RecursionError, MemoryError) as error:
        raise ValueError("no JSON that can be read: it is too deep or too large") from error
    if is_deep(answer, DEEP):
        raise ValueError("it has more than {} brackets within brackets".format(DEEP))
    return answer


def is_deep(value, left):
    """True if there are more than so many lists and objects within each other."""
    if not isinstance(value, (list, dict)):
        return False
    within = value.values() if isinstance(value, dict) else value
    return left == 0 or any(is_deep(each, left - 1) for each in within)


def row(name, verdict, *reasons):
    """Print a line."""
    print("{:<23} {:<13} {}".format(shown(name), verdict, shown("; ".join(reasons), 400)))
    return verdict


def asked_for(cases, patterns):
    """The cases whose id or formula matches one of the patterns, by id. Raises ValueError if a pattern matches none."""
    found = {}
    for path in sorted(Path(cases).glob("*.json")):
        if path.name != "case.schema.json":
            found[path.stem] = json.loads(path.read_text(encoding="utf-8"))
    chosen = set()
    for pattern in patterns:
        own = [name for name, case in found.items() if matches(pattern, name, case["formula"])]
        if not own:
            raise ValueError("no case has the name or formula {}".format(shown(pattern)))
        chosen.update(own)
    return {name: case for name, case in found.items() if name in chosen}


def matches(pattern, *names):
    return any(fnmatchcase(name, pattern) for name in names)


def main(folder, patterns=(), cases=Path(__file__).parent):
    """Judge a folder of answers: a line each, and one of all. The exit code."""
    patterns = patterns or ["*"]
    try:
        asked = asked_for(cases, patterns)
        if not Path(folder).is_dir():
            raise ValueError("{} is no folder".format(shown(str(folder))))
    except ValueError as error:
        print(error)
        return 2
    verdicts: Counter[str] = Counter()
    for path in sorted(Path(folder).glob("*.json")):
        if path.stem in asked:
            verdicts[judged(asked.pop(path.stem), path)] += 1
        elif any(matches(pattern, path.stem) for pattern in patterns):
            verdicts[row(path.stem, "error", "there is no such case")] += 1
    if asked:
        verdicts["without an answer"] = len(asked)
    print(
        "in all: " + ", ".join("{} {}".format(count, verdict) for verdict, count in sorted(verdicts.items()))
    )
    return 0 if set(verdicts) == {"certified"} else 1


def judged(case, path):
    """The verdict on a file, which is printed."""
    try:
        answer = read(path)
    except ValueError as error:
        return row(case["id"], "error", str(error))
    judgement = judge(case, answer)
    return row(case["id"], judgement.verdict, *judgement.reasons)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    sys.exit(main(sys.argv[1], sys.argv[2:]))
