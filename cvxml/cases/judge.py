#!/usr/bin/env python3
"""The referee: it judges answers to the golden cases, and it recomputes the proof in a saved solution.

It needs Python 3.8 and numpy, imports nothing else, and shares no line with cvxml. Copy it with the cases beside it.

    python judge.py ANSWERS             judge a folder of answers, CASE-ID.json each (README.md)
    python judge.py ANSWERS rca-*       judge only the cases with such an id or formula
    python judge.py --solution FILE     recompute the proof in a file of `cvxml solve --out FILE` (.json or .npz)
    judge(case, answer)                 both are dicts, as in their files; returns a Judgement
    recompute(content)                  content is a dict as `read_solution` returns it

Answers
-------
The formula of a case is its field "formula": a method, or a part of one. Without ids or formulas, all cases are asked
for. The exit code is 0 if every case asked for is certified, and else 1.
A case without an answer is counted, and is not certified. The exit code is 2 if an id or formula matches no case, or
if ANSWERS is not a folder. An answer that cannot be read has the verdict error, and the other answers are judged.

The interval [low, high] of a case contains the optimum; rational arithmetic proved it. This file computes the objective
F of the answer exactly, and compares it with the interval. It solves no problem. The tolerance is 1e-6 of the scale.

    certified       F - low is at most the tolerance
    close           F - high is above the tolerance, and F - low is at most 1e-2 of the scale
    refuted         the answer is not a metric, F - high is above 1e-2 of the scale, or the answer claims another F
    inconclusive    this file cannot decide; the reason is given
    skipped         the answer says that its program does not support the case
    error           the answer holds no metric, or cannot be read

The methods nca, ssvm and mlkr are not convex. For nca and ssvm the interval contains the optimum of the convex step at
the stored metric. The stored dual variables bound the gain of the answer's own step from above, and the stored metric
bounds it from below. A gain of at most 0.5e-6 of the scale is certified, from 1e-5 to 0.5e-2 it is close, and above 0.1
it is refuted. Between these limits, the verdict is inconclusive. For mlkr there is no step: let F be the objective of
the stored metric, and g an upper bound of its possible decrease. The interval is [F - g, F]. The bound g, and that of
an answer, hold only to first order, so no answer is called close. An answer is also refuted if two numbers are large.
This means: the decrease of its objective on the way to the stored metric is above 1e-5 of the scale, and its bound is
above 2e-2.

`cvxml.check` can do more: it finds dual variables of its own, names the mistake, and judges other inputs.

Saved solutions
---------------
Exit code 0: the metric is proved optimal to 1e-6 of the scale. Exit code 1: it is not proved, or no metric attains the
infimum. For a file without a proof, one line with the reason is printed. A file may have 64 MiB, unpacked if it is
.npz, and 64 nested brackets.

This file believes the problem: the data, the labels, the parameters, and the lists (neighbours, targets, pairs) that
no other field of the file determines. It makes lists again that `n_neighbors` determines, or that the file calls
derived. It also believes the anchors of plml (k-means) and the neighbours of kernel_mlsvm. It believes nothing else:
no figure, no metric, no dual variable, no solver.

Exactness
---------
No proof rests on a tolerance. A float is an integer times a power of two, and a proof rests only on sums, products,
eliminations and comparisons of integers and fractions. Floats (eigenvectors, a multiple) only make proposals.

- A matrix is psd if its pivots are at least 0, and the row of a zero pivot is 0. Pivots also show which rows span the
  others.
- A metric that is psd only to 1e-6 of its norm is judged together with the psd matrix L L^T next to it. The larger of
  the two objectives counts.
- Dual variables that violate a constraint by rounding are repaired; the bound is that of the repaired ones.
- Roots, exponentials and logarithms have 60 digits. Far more than their error is counted against the metric.
- An exact array is given as integers and a unit, a fraction: its entries are the integers times the unit.

Words of this file
------------------
    Problem      the problem of one method, made from `content`: the inputs of a case, or a saved solution
    Metric       a matrix that is judged, with its squared distances D_ij, all exact; arguments `at` are Metrics
    dual         the dual variables of a saved solution or of a case, {name: list}; `prices` are dual variables too
    step         the convex step of nca or ssvm at a metric, a function of another metric; for mlkr the objective
    Deviation    how far a matrix is from a property of metrics: share (of its norm), what (a text), sure (True if
                 all methods ask for the property)
    Judgement    case (its id), verdict, reasons, and gap: bounds (least, most) of the gap relative to the scale, or
                 None if they are not known
    ONE, FINE    2^160 and 2^400; a number that is not rational is rounded to an integer in units of 1 / ONE or 1 / FINE

The bounds
----------
Let X_ij = (x_i - x_j)(x_i - x_j)^T, and let D_ij = <X_ij, metric> be a squared distance. P_+(G) is G with its negative
eigenvalues replaced by 0. H is the entropy. There are n points with d features, and m triplets (i, j, l). The dual
variables a, u and lambda of triplets have one entry for each triplet. The docstring of the class of a method states its
problem, and explains the other symbols. The objective of every metric is at least

mlsvm     sum_i s_i - ||P_+(G)||^2 / (2 lam), for u, w >= 0 with s_i = sum_j u_ij = sum_l w_il <= 1/n, where
          G = sum_i ( sum_j u_ij X_ij - sum_l w_il X_il ); ||P_+(G)|| <= ||G + S|| for any psd S. Scale: lam/2 ||A||^2
lmnn      sum lambda, for 0 <= lambda <= mu with (1 - mu) sum X_ij + sum lambda_ijl (X_ij - X_il) psd; for the squared
          hinge sum lambda - sum lambda^2 / (4 mu), for any lambda >= 0
frobmetric  sum a - ||P_+(G)||^2 / 2, for 0 <= a <= C/m, where G = sum a_ijl (X_il - X_ij). Scale: ||X||^2 / 2
rtml      sum a - width/2 sum a^2 - ||P_+(G)||^2 / (2 lam), for 0 <= a <= 1, with the same G. Scale: lam/2 ||M||^2
schultz_joachims  sum a - ||N||^2 / 2, for 0 <= a <= C, with the same G and any N with a_k^T N a_k >= a_k^T G a_k for
          every column of A (of the identity if A is not given). Scale: ||M||^2 / 2
scml      sum a, for 0 <= a <= 1/m with b_k^T G b_k <= beta for every vector of the basis
boostmetric  H(u), for u in the simplex with v I - sum u_ijl (X_il - X_ij) psd. Scale: at least 1
plml      for given weights W: sum a - sum_b ||P_+(K_b)||^2 / (4 alpha1), for 0 <= a <= 1, where
          K_b = sum a W_ib (X_il - X_ij) - alpha2 sum W_ib X_ij over the pairs i, j. Scale: alpha1 sum_b ||M_b||^2
lsml      log det(A_0 Z), for 0 <= s < 1 with Z = A_0^-1 + sum w (s X_ab - s/(1-s) X_cd) positive definite; w sums to 1
          unless losses is "sum"
itml      log det(A_0 Z) + gamma sum_S log(1 - lambda u/gamma) + gamma sum_D log(1 + lambda l/gamma), for lambda >= 0,
          lambda_S < gamma/u, Z = A_0^-1 + sum_S lambda X_ij - sum_D lambda X_ij positive definite
mmc       -sqrt(mu sum 1/c), for c > 0 with mu sum_S X_ij - sum_D c X_ij psd; diagonal: with its diagonal >= 0
dml_eig   -mu, for q in the simplex with mu sum_S X_ij - sum_D q X_ij psd
ldml      sum w H(a/w) - b sum t a, for 0 <= a <= w with sum t a X_ij psd, t = 1 in S and -1 in D, sum t a = 0 if b is
          free; w is 1 or given, and is divided by its sum in S and in D if losses is "means". The pairs of a point
          with itself count as one more pair of S, with distance 0. Its weight is n self_pairs, or n self_pairs divided
          by the sum of w in S if losses is "means". H is the entropy of a/w and 1 - a/w
rca       d l - d l log l + l log det C, for l > 0, where C is the covariance within chunklets plus alpha I; the metric
          is judged after division by det^(1/d), which makes its determinant 1
gmml      2 tr SY, for symmetric Y with D - Y S Y psd, where S is mu A_0^-1 plus the sum of X_ij over similar pairs, and
          D is mu A_0 plus the sum over dissimilar pairs; A_0 is the prior, or I
lfda      -(r s + tr S_w N), for any s and psd N with S_w N S_w + s S_w - S_b psd. The file has s, and N is computed
          here. The objective depends on the range of the metric only, but the metric must also equal the metric of its
          embedding to 1e-6. Scale: minus the objective
sdml      d + log det(S + U), for symmetric U with U_ii = 0, |U_ij| <= lam and S + U positive definite, where S is
          A_0^-1 + eta (sum_S X_ij - sum_D X_ij) for the prior A_0. Scale: d
mlr       sum mu loss, for mu >= 0 of rankings, with a sum <= C/n for each of n queries, and I - sum mu 2/(P N) sum
          (X_qj - X_qi) psd, over the pairs of a relevant i and another j in the wrong order
mcml      sum_i H(q_i), for rows q_i of the simplex with sum (w_ij - q_ij) X_ij psd, where w_ij = 1/(n_c - 1) for two
          points of one class with n_c points, and else 0

where S and D are the similar and the dissimilar pairs. The scale is the absolute value of the objective unless the
table gives another. For rca it is the optimum, and for lmnn, itml and lsml it has a lower limit. If the matrix of the
dual variables is not psd, they are mixed with a share of 2^-20 or less of others: 0 for lmnn and mlr, softmax rows for
mcml, equal shares for boostmetric. For mmc and dml_eig, mu grows instead.

ssvm is not convex. Its convex step at the metric has the same kind of bound. Let h*_i be the cheapest set in which the
class of i wins, and q >= 0 weights with sum 1 for each point. The step is at least  C sum q Delta - ||P_+(M)||^2 / 4,
where
M = C sum_i ( sum_h q_ih sum_{j in h} X_ij - sum_{j in h*_i} X_ij ). Scale: ||W||^2.

A file of the solver "global" holds a tree. Each branch (i, j, a, b) goes to row a if j is in h*_i and to row b if it
is not. A set wins if the class of i wins in it. In a leaf, let Y_i be the sum of X_ij over the points j that lie in
all winning sets that the branches leave for i. Let nu >= 0 be weights of triples (i, j, l). Here j lies in all these
sets, l lies in none of them, and the class of l is that of j or of i. Let M = C sum q (sum_{j in h} X_ij - Y_i) -
sum nu (X_ij - X_il). For any such nu, and any q >= 0 with sum_h q_ih <= 1, the objective in the leaf is at least
C sum q Delta - ||P_+(M)||^2 / 4. The least bound of the leaves is the bound for all metrics. All winning sets are
listed here, so this is for tiny n.

nca is bounded by its convex step too. Let p_ij be that of the metric, w_ij = s_ij p_ij / p_i, and c_i = 1 (for g) or
p_i (for f). Let rows q_i of the simplex make Z = sum c_i (w_ij - q_ij) X_ij psd. Then the step is at least a constant
plus sum c_i H(q_i). The constant makes the step equal to the objective at the metric. The file has two matrices R and
interior (d, d), and a number theta. They give the rows
q_i = (1 - theta) softmax_j(-<R, X_ij>) + theta softmax_j(-<interior, X_ij>). theta is increased if Z is not psd. If no
point has two partners and the criterion is g, this bounds the objective of every metric. Scale: the distance of the
objective from its lower bound by p_i <= max_j s_ij, or from its limit for growing multiples of the metric if that
distance is smaller.

mlkr, and nca with n_components below the rank of the points, are bounded to first order. In coordinates where the
points have unit covariance C, let G = sum c_ij X_ij be the gradient of the objective F by Q = A^T A. A change of A with
a norm of at most L = max(|A|, 1) gains at most L |dF/dA| to first order, |dF/dA|^2 = 4 tr G Q G. A row of A is free if
it is 0 or very short, so that it can be replaced. If G + t C is psd, a new row of length L in its place gains at most
L^2 t. Here c_ij = 2 (yhat_i - y_i) p_ij (yhat_i - y_j) for mlkr, with the weights p_ij of the mean yhat_i. For nca
it is c_i (w_ij - p_ij). Scale: the least of three numbers. They are the objective (for nca the distance from its lower
bound above), the distance from its limit for growing multiples of the metric, and 4 s / min(|A|^2, 1). Here s is the
sum of the absolute values of the terms of dF(tA)/dt at t = 1. For the metric 0 the scale is the first number. A metric
is judged together with a matrix L L^T of the allowed rank near it.

glml has one Gaussian for each class. At a query, let p_i be the prior of class i times its density, up to a common
factor. Let G_i = g g^T - Sigma_i^-1 with g = Sigma_i^-1 (query - mean_i). Let B be the sum of
p_i p_j (p_j - p_i)(G_i - G_j) over i < j, divided by its norm. If B or -B is positive definite, every metric of
determinant 1 has (tr A^-1 B)^2 at least d u - d u log(u/|y|) + u log|det B| - y^2/4, for dual variables u > 0 and y.
The scale is then the best such bound. Else the bound is 0, the gap is |tr A^-1 B|, and the scale is ||A^-1||. The
metric is judged after division by det^(1/d), which makes its determinant 1.
"""

from __future__ import annotations

import decimal
import itertools
import json
import math
import os
import sys
import zipfile
from collections import Counter, namedtuple
from fnmatch import fnmatchcase
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

# answers
TOL, CLOSE = 1e-6, 1e-2  # shares of the scale
METRIC = 1e-6  # share of the norm: the largest asymmetry and the largest negative eigenvalue of a metric
BORDER = 0.005  # relative: figures this near a limit are not decided
LARGE = 1e100  # the largest entry of an answer; sums of its squares, times those of the data, do not overflow
# files
BYTES, DEEP, PRINTED = 1 << 26, 64, 80  # of a file; nested brackets; characters printed of a string
# bytes in memory of a list, an object and a text; all together may take FREE and EACH for a byte of the file
LIST, OBJECT, TEXT, FREE, EACH = 96, 240, 64, 1 << 25, 8
BITS = 1 << 29  # the most bits of the numbers of a file as integers, beyond those of floats
PAIR = 200  # bytes in memory of a pair of points; measured
EMPTY = 10**4  # the longest side of an array without entries
# exact arithmetic
ONE = 1 << 160  # numbers in [0, 1] that are no fractions are multiples of 1 / ONE
FINE = ONE << 240  # affinities may be as small as 1e-96 and have 24 digits
SHARES = range(60, 18, -2)  # dual variables are mixed with 2^-60 .. 2^-20 of others
DECIMALS = decimal.Context(prec=60, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)
ALLOWED = Fraction(
    1, 10**24
)  # share of the sum of the sizes: more than decimals and multiples of 1 / ONE lose
INVISIBLE = Fraction(1, 10**6)  # a row of A of that squared length, in unit covariance, counts as free
PLENTY = 4  # times the sizes of the derivative: more than any distance, except where F is flat
NEAR_TIE, ROUNDED = (
    10**9,
    1 << 46,
)  # distances tie if they differ by < 1/NEAR_TIE of the least, 1/ROUNDED of the largest
SETS = 10**6  # the most sets of neighbours that a tree lists
DEGREE = 100  # the largest degree of a kernel: entries of K have that many times the digits of the data

Judgement = namedtuple("Judgement", "case verdict reasons gap")  # gap: (least, most) of the scale, or None
# How far a matrix is from a property of metrics. sure: False if only some methods ask for it.
Deviation = namedtuple("Deviation", ["share", "what", "sure"], defaults=[True])


def require(holds, otherwise):
    """Raise ValueError with the message `otherwise` unless `holds`. (An assert would be void under python -O.)"""
    if not holds:
        raise ValueError(otherwise)


def require_room(n):
    """Raise ValueError if the pairs of n points take more than half of the memory that the system reports.

    A small file may hold many points, and the system would end this program without a message.
    """
    try:
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return
    require(2 * PAIR * n * n <= memory, f"its {n} points have too many pairs for the memory")


def together(*lists):
    """zip for lists that must have the same length. Raises ValueError if they do not."""
    rows = [list(each) for each in lists]
    require(len({len(row) for row in rows}) <= 1, "two lists that belong together have different lengths")
    return zip(*rows)


def lcm(*numbers):
    """The least common multiple of positive integers."""
    found = 1
    for number in numbers:
        found = found * number // math.gcd(found, number)
    return found


# ---- integers, fractions and decimals ----


def whole(array):
    """Return an array of floats exactly: an array of integers of the same shape, and its unit, a power of two.

    Raises ValueError for NaN and infinity, and for numbers of so different sizes that the integers would be too large.
    """
    array = np.asarray(array, float)
    require(np.isfinite(array).all(), "an entry must be a finite number")
    mantissas, exponents = np.frexp(array)
    integers = np.ldexp(mantissas, 53).astype(np.int64).astype(object)
    least = int(exponents[array != 0].min()) if array.any() else 0
    most = int(exponents[array != 0].max()) if array.any() else 0
    require((most - least) * array.size <= BITS, "its numbers differ too much in size")
    return integers << np.where(array == 0, 0, exponents - least).astype(object), Fraction(2) ** (least - 53)


def floats(integers):
    """The integers as floats, divided by the largest absolute value.

    Only proposals use them, so rounding is harmless.
    """
    shift = max(max((int(v).bit_length() for v in integers.flat), default=0) - 1000, 0)
    small = (integers >> shift).astype(float)
    return small / (np.abs(small).max(initial=0.0) or 1.0)


def identity(d):
    """The identity (d, d) in integers."""
    return np.diag([1] * d).astype(object)


def eliminate(matrix, steps):
    """Eliminate the first `steps` rows and columns of a matrix of integers. None if a pivot is <= 0.

    Return (D, R): D is the leading minor of size `steps`, and R / D is the Schur complement, the part of the matrix
    that is left.
    """
    before = 1
    for _ in range(steps):
        pivot = matrix[0, 0]
        if pivot <= 0:
            return None
        # without fractions: every entry is a minor, and the division has no remainder
        matrix = (pivot * matrix[1:, 1:] - np.multiply.outer(matrix[1:, 0], matrix[0, 1:])) // before
        before = pivot
    return before, matrix


def inverse(S):
    """Return (D, R) with S^-1 = R / D: the determinant and the adjugate of a positive definite matrix S of integers.

    Raises ValueError if S is not positive definite.
    """
    d = len(S)
    found = eliminate(np.block([[S, identity(d)], [identity(d), 0 * identity(d)]]), d)
    require(found is not None, "a matrix is not positive definite")
    return found[0], -found[1]


def determinant(A, otherwise="the metric is not positive definite"):
    """The determinant of a matrix A of integers. Raises ValueError (`otherwise`) unless A is positive definite."""
    found = eliminate(A, len(A))
    require(found is not None, otherwise)
    return Fraction(found[0])


def psd(Z):
    """True if Z, a symmetric matrix of integers, is positive semidefinite."""
    if (np.diag(Z) < 0).any():
        return False
    # if Z is clearly indefinite, an eigenvector shows it sooner than pivots
    small = floats(Z)
    unit = np.where(np.diag(small) > 0, np.sqrt(np.abs(np.diag(small))), 1.0)
    direction = whole(np.linalg.eigh(small / np.outer(unit, unit))[1][:, :1] / unit[:, None])[0]
    if (direction.T.dot(Z).dot(direction) < 0).any():
        return False
    before = 1
    while len(Z):
        pivot = Z[0, 0]
        if pivot < 0 or (pivot == 0 and Z[0].any()):
            return False
        if pivot == 0:
            Z = Z[1:, 1:]
        else:
            Z, before = (pivot * Z[1:, 1:] - np.multiply.outer(Z[1:, 0], Z[0, 1:])) // before, pivot
    return True


def independent(C):
    """Indices of rows of C that form a basis of all its rows: those with a pivot above 0. C: psd, of integers."""
    found, before = [], 1
    for k in range(len(C)):
        pivot = C[0, 0]
        if pivot:
            found.append(k)
            C, before = (pivot * C[1:, 1:] - np.multiply.outer(C[1:, 0], C[0, 1:])) // before, pivot
        else:
            C = C[1:, 1:]
    return found


def shares(Z, better, otherwise="the dual variables are outside the dual cone, so they prove no bound"):
    """Integers (a, b) for which a Z + b better is psd: (1, 0) if Z is psd, else (2^k - 1, 1).

    k is the largest of 60, 58, ..., 20 that is enough. Z and `better` are the matrices of two choices of dual
    variables. The matrix of a mixture of these choices is the same mixture of the matrices, and a bound holds if its
    matrix is psd. Raises ValueError (`otherwise`) if no k is enough.
    """
    if psd(Z):
        return 1, 0
    for k in SHARES:
        if psd((2**k - 1) * Z + better):
            return 2**k - 1, 1
    raise ValueError(otherwise)


def positive_square(G):
    """An upper bound of ||P_+(G)||^2 for integers G: ||G + S||^2 for a psd S = L L^T near the negative part of G.

    0 if -G is psd, which pivots show without rounding.
    """
    if psd(-G):
        return Fraction(0)
    size = int(np.abs(G).max(initial=0)) or 1
    values, vectors = np.linalg.eigh((G / size).astype(float))
    L, unit = whole(vectors * np.sqrt(np.maximum(-values, 0)))
    ratio = unit**2 * size
    rest = G * ratio.denominator + L.dot(L.T) * ratio.numerator
    return Fraction((rest * rest).sum(), ratio.denominator**2)


def laplacian(weights):
    """The sum of weights_ij (e_i - e_j)(e_i - e_j)^T over all i and j, (n, n), for unit vectors e_i."""
    return np.diag(weights.sum(axis=0) + weights.sum(axis=1)) - weights - weights.T


def outer_sum(X, weights):
    """The sum of weights_ij X_ij over all i and j, (d, d), for integers X (n, d) and weights (n, n)."""
    return X.T.dot(laplacian(weights).dot(X))


def at_pairs(n, pairs, values):
    """A matrix (n, n) of integers with `values` at the places of `pairs`, and 0 elsewhere.

    The entry (i, j) is the sum of the values of all pairs (i, j).
    """
    require_room(n)
    weights = np.zeros((n, n), object)
    for (i, j), value in zip(pairs, values):
        weights[i, j] += value
    return weights


def sum_over(X, pairs):
    """The sum of the matrices X_ij (d, d) over the pairs (i, j), for integers X (n, d)."""
    return outer_sum(X, at_pairs(len(X), pairs, [1] * len(pairs)))


def digits(x):
    """A fraction as a decimal with 60 digits."""
    return DECIMALS.divide(decimal.Decimal(x.numerator), decimal.Decimal(x.denominator))


def log(x):
    """The logarithm of a fraction, to 60 digits."""
    return Fraction(DECIMALS.ln(digits(x)))


def exp(x):
    """The exponential of a fraction, to 60 digits."""
    return Fraction(DECIMALS.exp(digits(x)))


def root(x):
    """The square root of a fraction, to 60 digits."""
    return Fraction(DECIMALS.sqrt(digits(x)))


def root_excess(x, y):
    """[sqrt(x) - sqrt(y)]_+ of fractions, to 60 digits also if the roots are close."""
    return Fraction(digits((x - y) / (root(x) + root(y)))) if x > y else Fraction(0)


def exponentials(values, unit=1):
    """exp(-unit v) for each v >= 0 in `values`, as integers in units of 1 / ONE, each off by less than two units."""
    times, factor, one = DECIMALS.multiply, digits(Fraction(-unit)), decimal.Decimal(ONE)
    powers = [
        times(digits(v) if isinstance(v, Fraction) else decimal.Decimal(int(v)), factor) for v in values
    ]
    # below e^-120 it is less than 1 / ONE
    return [int(times(DECIMALS.exp(power), one)) if power > -120 else 0 for power in powers]


def entropy(row):
    """-sum p log p of the probabilities p = row / sum(row), for a row of integers >= 0."""
    total, weighted = sum(row), decimal.Decimal(0)
    for v in row:
        if v:
            v = decimal.Decimal(int(v))
            weighted = DECIMALS.fma(v, DECIMALS.ln(v), weighted)
    return log(Fraction(total)) - Fraction(weighted) / total


def lowered(row, total):
    """The integers >= 0 of a row, with the largest ones lowered until the sum is at most `total`."""
    row, excess = list(row), sum(row) - total
    for k in sorted(range(len(row)), key=lambda k: -row[k]):
        cut = min(row[k], max(excess, 0))
        row[k], excess = row[k] - cut, excess - cut
    return row


def of_simplex(row, whose):
    """Round floats >= 0 with the sum 1 to integers in units of 1 / ONE, with the sum ONE exactly.

    Raises ValueError if a float is negative, or if their sum differs from 1 by more than 1e-9. The message begins with
    `whose`.
    """
    row = [float(v) for v in row]
    require(min(row, default=-1) >= 0 and abs(sum(row) - 1) <= 1e-9, f"{whose} is outside the simplex")
    row = lowered([int(Fraction(v) * ONE) for v in row], ONE)
    row[max(range(len(row)), key=row.__getitem__)] += ONE - sum(row)
    return row


# ---- metrics and their distances ----


class Metric:
    """A matrix that is judged, with its squared distances. All numbers are integers and fractions.

    Its static functions (`log`, `largest` ...) are those of fractions, which objectives call. The matrix is `matrix`
    (d, d), integers, times `unit`. The squared distance D_ij of the points i and j is the integer `squares`_ij >= 0
    times `step`.
    """

    def __init__(self, matrix, unit, squares, step):
        self.matrix, self.unit, self.squares, self.step = matrix, unit, squares, step

    def D(self, i, j):
        """The squared distance D_ij of the points i and j."""
        return self.squares[i, j] * self.step

    def norm2(self):
        """The squared Frobenius norm."""
        return (self.matrix * self.matrix).sum() * self.unit**2

    def trace(self):
        return np.trace(self.matrix) * self.unit

    # what objectives ask of numbers; another type of numbers has functions of its own

    @staticmethod
    def positive(x):
        """The larger of x and 0."""
        return max(x, Fraction(0))

    number = staticmethod(Fraction)  # a float, exactly
    largest = staticmethod(max)
    least = staticmethod(min)
    log = staticmethod(log)

    @staticmethod
    def sum_of_roots(values):
        """A lower bound of the sum of the square roots of `values`, to 24 digits.

        It is computed in decimals, because the denominator of a sum of fractions would grow with every term.
        """
        total = decimal.Decimal(0)
        for v in values:
            total = DECIMALS.add(total, DECIMALS.sqrt(digits(v)))
        return Fraction(total) * (1 - ALLOWED)

    @staticmethod
    def log_sum_exp(values):
        """The logarithm of the sum of exp(v) over `values`, to 40 digits or more."""
        top = max(values)
        return top + log(Fraction(sum(exponentials([top - v for v in values])), ONE))


def symmetric(metric, d):
    """The symmetric part (d, d) of a matrix in two forms: as floats, and exactly, as integers and their unit.

    The floats are divided by the largest absolute entry. Raises ValueError unless the matrix is symmetric to 1e-6 of
    its norm.
    """
    A = np.array(metric, float)
    require(A.shape == (d, d), f"the metric must be ({d}, {d})")
    integers, unit = whole(A)
    A = A / (np.abs(A).max(initial=0) or 1.0)  # its norm must not overflow
    require(np.abs(A - A.T).max(initial=0) <= 1e-6 * np.linalg.norm(A), "the metric is not symmetric")
    return (A + A.T) / 2, integers + integers.T, unit / 2


def root_near(metric, d, rank):
    """Integers L (d, rank), and the unit of L L^T: L L^T times the unit is near the metric, floats (d, d).

    The metric must be psd, and at most of this rank. Else L L^T is near the part of its `rank` largest positive
    eigenvalues, in units of the features that make its diagonal about 1.
    """
    A = symmetric(metric, d)[0]
    # in units of the diagonal, so that the error of L L^T is small for every feature
    diagonal = np.abs(np.diag(A))
    scale = np.exp2(np.round(np.log2(np.where(diagonal > 0, diagonal, 1.0)) / 2))
    values, vectors = np.linalg.eigh(A / np.outer(scale, scale))
    L, unit = whole((vectors * np.sqrt(np.maximum(values, 0)) * scale[:, None])[:, d - rank :])
    return L, unit**2 * Fraction(float(np.abs(np.array(metric, float)).max()))


def candidates(metric, d, rank=None):
    """The matrices that a metric (d, d) is judged as, each as integers (d, d) and their unit.

    The first is the metric itself. If it is not psd, or if the allowed rank is less than d, a matrix L L^T next to it
    follows, which is psd and of the allowed rank. Raises ValueError if the metric is not psd and of that rank to 1e-6.
    """
    A, *given = symmetric(metric, d)
    full = rank is None or rank >= d
    if full and psd(given[0]):
        return [given]
    require(np.linalg.eigvalsh(A)[0] >= -1e-6 * np.linalg.norm(A), "the metric is not psd")
    L, unit = root_near(metric, d, d if full else rank)
    near = L.dot(L.T) * unit.numerator, Fraction(1, unit.denominator)
    require(full or is_near(given, near), f"the metric is not of rank {rank}")
    return [given, near]


def is_near(given, near):
    """True if |A_ij - M_ij| <= 1e-6 sqrt |A_ii A_jj| for all i and j.

    given, near: the matrices A and M, each as integers and their unit.
    """
    (A, a), (M, by) = given, near
    own = np.abs(np.diag(A)) * a
    off = np.abs(A * (a / by).numerator - M * (a / by).denominator) * by / (a / by).denominator
    bounds = np.multiply.outer(own, own)
    return bool((off * off * 10**12 <= bounds).all())


def distances(X, A):
    """The matrix (n, n) of (x_i - x_j)^T A (x_i - x_j), at least 0, for integers X (n, d) and A (d, d)."""
    require_room(len(X))
    cross = X.dot(A).dot(X.T)
    own = np.diag(cross)
    return np.maximum(own[:, None] + own[None] - cross - cross.T, 0)


# ---- inputs of problems ----


def index_rows(rows, width, n, what):
    """Return rows of `width` indices as an array.

    Raises ValueError if an index is not in 0..n - 1, or a row is repeated. what: the name of the rows in the message.
    """
    fits = all(len(row) == width and all(i in range(n) for i in row) for row in rows)
    require(fits, f"each of the {what} must have {width} indices from 0 to {n - 1}")
    require(len(set(map(tuple, rows))) == len(rows), f"one of the {what} is listed twice")
    return np.array(rows, int).reshape(-1, width)


def neighbor_lists(lists, n):
    """Return the neighbour lists of n points, as int. Raises ValueError unless each holds other points, each once."""
    require(len(lists) == n, f"there are {len(lists)} neighbour lists for {n} points")
    for i, listed in enumerate(lists):
        require(i not in listed, f"the neighbour list of {i} holds the point itself")
        require(len(set(listed)) == len(listed), f"the neighbour list of {i} holds a point twice")
        require(
            all(j in range(n) for j in listed), f"the neighbour list of {i} has an index outside 0..{n - 1}"
        )
    return [[int(j) for j in listed] for listed in lists]


def numbers(dual, name, count):
    """The dual variable `name`, as integers and their unit. Raises ValueError unless it is `count` finite numbers."""
    listed = dual[name].tolist() if isinstance(dual[name], np.ndarray) else dual[name]
    holds = "a list with one number" if count == 1 else f"a list of {count} numbers"
    flat = isinstance(listed, list) and not any(isinstance(value, list) for value in listed)
    require(flat and len(listed) == count and are_finite(listed), f"{name} in dual must be {holds}")
    return whole(np.array(listed, float))


def rank_of(n_components, d):
    """Return n_components, the allowed rank. Raises ValueError unless it is an integer from 1 to d."""
    fits = isinstance(n_components, int) and 1 <= n_components <= d
    require(fits, f"n_components must be an integer from 1 to {d}")
    return n_components


class Problem:
    """The problem of one method, with its inputs. Raises ValueError for bad inputs.

    content: "X" (n, d), "y", "params", and "neighbors" for the methods that have these lists. READS: the parameters
    that the formulas read. NAMES: the parameters that the formulas do not read, because a saved solution has the lists
    that they determine; n_neighbors is an example. LISTS: the inputs of a case that are lists of neighbours.
    """

    READS: frozenset[str] = frozenset()  # the parameters that the formulas read
    NAMES: frozenset[str] = frozenset()  # the parameters of a file that only determine its lists
    LISTS: frozenset[str] = frozenset()  # the inputs of a case that are lists of neighbours
    CLAIM = "optimal"  # or "step", or "first order": the meaning of the bound
    DEFINITE = False  # True if the objective is infinite at a singular matrix

    def __init__(self, content):
        self.content, self.params, self.y = content, content["params"], list(content.get("y", []))
        self.X, self.unit = whole(content["X"])
        require(self.X.ndim == 2, "X must be (n, d): a row of d numbers for each point")
        self.n, self.d = self.X.shape

    def number(self, name):
        """The parameter `name` as a fraction, exactly."""
        return Fraction(float(self.params[name]))

    def floats(self):
        """The points (n, d) as floats."""
        return np.array(self.content["X"], float)

    def metrics(self, matrix):
        """The Metrics that a matrix in a saved file is judged as: itself and, if it is not psd, a psd matrix near it.

        The last one is psd. Raises ValueError if the matrix is not a metric of this problem.
        """
        return [self.measured(A, unit) for A, unit in candidates(matrix, self.d)]

    def judged_as(self, matrix):
        """The Metrics that an answer is judged as: its symmetric part and, if that is not psd, the nearest psd matrix.

        The nearest matrix is computed in floats, so it is psd up to rounding. `deviations` says whether the answer is a
        metric.
        """
        half = (matrix + matrix.T) / 2
        forms = [half] if np.linalg.eigvalsh(half)[0] >= 0 else [half, nearest_psd(matrix)]
        return [self.measured(*whole(form)) for form in forms]

    def deviations(self, M):
        """Yield a Deviation for each property of a metric: how far an answer, the matrix M of floats, is from it."""
        yield from of_cone(M)
        yield from of_cone_in_units(M, self.spread())

    def spread(self):
        """Half the difference of the largest and the smallest value of each feature, (d,)."""
        X = self.floats()
        return np.abs(X - X.min(axis=0) / 2 - X.max(axis=0) / 2).max(axis=0)

    def measured(self, A, unit):
        """The Metric with the matrix A times `unit`, for integers A."""
        return Metric(A, unit, distances(self.X, A), self.unit**2 * unit)

    def objective(self, at):
        """The objective at a Metric."""
        raise NotImplementedError

    def scale(self, at, objective):
        """The number that tolerances are relative to.

        at: the last of the Metrics that a matrix is judged as. objective: the largest of their objectives.
        """
        return objective

    def lost(self, objective):
        """A bound of the rounding error of the functions `objective` and `bound`: 0 if they are exact.

        Else it is much larger than the error. objective: the value of `objective` at the metric.
        """
        return 0

    def bound(self, dual):
        """A lower bound of the objective of every metric, from the dual variables of a file, a dict."""
        raise NotImplementedError

    def proof(self, matrix, dual):
        """An upper bound of the objective of a matrix, a lower bound of the objective of every metric, and the scale.

        A fourth number is the gap, if it is not the difference of the first two. If CLAIM is "step" or "first order",
        the lower bound is that of the step, or the objective minus the gain to first order.
        """
        metrics = self.metrics(matrix)
        objective = max(map(self.objective, metrics))
        lost = self.lost(objective)
        return objective + lost, self.bound(dual) - lost, self.scale(metrics[-1], objective)

    def unattained(self, matrix):
        """True if the matrix proves, in integers, that no metric attains the infimum."""
        return False


# ---- mlsvm ----


class MLSVM(Problem):
    """Minimize lam/2 ||A||^2 + 1/n sum_i [1 + max over targets D_il - min over impostors D_ij]_+ over psd A.

    The neighbours of point i are given. Its targets l are those of its own class, and its impostors j are the others.
    """

    READS = frozenset({"lam"})
    NAMES = frozenset({"n_neighbors", "neighborhood"})
    LISTS = frozenset({"neighbors", "targets", "impostors"})

    def __init__(self, content):
        super().__init__(content)
        self.lists = neighbor_lists(content["neighbors"], self.n)
        self.lam, self.share = self.number("lam"), Fraction(1, self.n)
        require(self.lam > 0, f"lam is {self.params['lam']}, and must be greater than 0")
        require(len(self.y) == self.n, f"there are {len(self.y)} labels for {self.n} points")

    def objective(self, at):
        slacks = sum(self.slack(at, i) for i in range(self.n))
        return self.lam / 2 * at.norm2() + self.share * slacks

    def slack(self, at, i):
        """The hinge of point i, [1 + max over targets D_il - min over impostors D_ij]_+.

        It is 0 if the point has no targets or no impostors.
        """
        targets = [at.D(i, j) for j in self.lists[i] if self.y[j] == self.y[i]]
        impostors = [at.D(i, j) for j in self.lists[i] if self.y[j] != self.y[i]]
        if not targets or not impostors:
            return 0
        return at.positive(1 + at.largest(targets) - at.least(impostors))

    def scale(self, at, objective):
        return self.lam / 2 * at.norm2()

    def bound(self, dual):
        total, weights, unit = self.prices(dual)
        return total * unit - unit**2 * self.square(weights) / (2 * self.lam)

    def square(self, weights):
        """An upper bound of ||P_+(G)||^2, where G is the sum of weights_ij X_ij. weights (n, n): integers."""
        return self.unit**4 * positive_square(outer_sum(self.X, weights))

    def prices(self, dual):
        """sum_i s_i and the weights (n, n) of the X_ij in G, both integers, and their common unit.

        s and G are those of the bound of mlsvm in the module docstring. dual: the lists u and w, the dual variables of
        impostors and of targets, and u_index and w_index, their pairs (i, j). First they are lowered until they are
        feasible. Raises ValueError if they are infeasible by more than rounding.
        """
        y, n = self.y, self.n
        values, unit = whole([*dual["u"], *dual["w"]])
        index = [*dual["u_index"], *dual["w_index"]]
        same = len(index) == len(values) and len(dual["u"]) == len(dual["u_index"])
        require(same, "the lists of dual variables have different lengths")
        rows: list[Any] = [({}, {}) for _ in range(n)]
        for at, ((i, j), value) in enumerate(zip(index, values)):
            name = "w" if at >= len(dual["u"]) else "u"
            require(i in range(n) and j in self.lists[i], f"{i}, {j} is not a pair of neighbours")
            require((y[i] != y[j]) == (name == "u"), f"{i}, {j} is the wrong kind of pair for {name}")
            require(value >= 0, f"{name} of {i}, {j} is negative")
            row = rows[i][name == "w"]
            row[int(j)] = row.get(int(j), 0) + value
        # as multiples of a unit that is small against 1/n
        finer = max(1, math.ceil(unit * ONE))
        unit, most = unit / finer, int(1 / (n * unit / finer))
        weights, total = np.zeros((n, n), object), 0
        for i, row in enumerate(rows):
            u, w = ({j: v * finer for j, v in part.items()} for part in row)
            s = sum(u.values()), sum(w.values())
            require(abs(s[0] - s[1]) * 10**9 <= s[0] + s[1], "sum u_i and sum w_i differ")
            require(max(s) * 10**9 <= most * (10**9 + 1), "sum_j u_ij or sum_l w_il is above 1/n")
            for part, sign in ((u, 1), (w, -1)):
                for j, v in zip(part, lowered(part.values(), min(*s, most))):
                    weights[i, j] += sign * v
            total += min(*s, most)
        return total, weights, unit


class KernelMetric(Metric):
    """The metric A = sum phi_ij Phi(x_i) Phi(x_j)^T for coefficients phi (n, n) and the feature map Phi of the kernel.

    square: ||A||^2. off: a bound of the error of a distance, and of ||A||^2, due to the rounding of the kernel. The
    squared distance D_ij is `squares`_ij times `step`.
    """

    def __init__(self, squares, step, square, off):
        self.squares, self.step, self.square, self.off = squares, step, square, off

    def norm2(self):
        return self.square


class KernelMLSVM(MLSVM):
    """MLSVM in the feature space of the kernel K (n, n). A metric is given by phi (n, n); ||A||^2 = tr K phi K phi."""

    READS = frozenset({"lam", "kernel", "degree", "gamma"})

    def __init__(self, content):
        super().__init__(content)
        self.K, self.K_unit, self.K_off = self.kernel_matrix()

    def kernel_matrix(self):
        """K as integers, their unit, and the largest error of one of these integers."""
        params, kernel = self.params, self.params["kernel"]
        require(kernel in ("poly", "rbf"), f"the kernel {shown(kernel)} is not known here")
        if kernel == "poly":
            p = int(params["degree"])
            fits = p == params["degree"] and 0 < p <= DEGREE
            require(fits, f"the degree must be an integer from 1 to {DEGREE}")
            return self.X.dot(self.X.T) ** p, self.unit ** (2 * p), 0
        gamma = Fraction(1 / self.d if params["gamma"] is None else float(params["gamma"]))
        require(gamma > 0, "gamma is not positive")
        D = distances(self.X, identity(self.d))
        K = np.array([exponentials(row, gamma * self.unit**2) for row in D], object)
        return K, Fraction(1, ONE), 2

    def half(self):
        """The square root of K, (n, n) floats."""
        values, vectors = np.linalg.eigh((self.K * self.K_unit).astype(float))
        return (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T

    def deviations(self, M):
        half = self.half()
        yield from of_cone(half @ M @ half)

    def factor(self, M, sign):
        """Integers L (n, r) and their unit, so that L L^T is near the coefficients phi of a part of a matrix.

        This matrix is sum M_ij Phi(x_i) Phi(x_j)^T, for floats M (n, n). sign: 1 for its positive part, -1 for minus
        its negative part. The columns of L are M K^1/2 v / sqrt(|lambda|), for the eigenvectors v of K^1/2 M K^1/2 with
        eigenvalues lambda of this sign. Raises ValueError for the sign 1 if the matrix is not psd to 1e-6.
        """
        half = self.half()
        values, vectors = np.linalg.eigh(half @ ((M + M.T) / 2) @ half)
        norm = np.linalg.norm(values)
        require(sign < 0 or values.min(initial=0) >= -1e-6 * norm, "the metric is not psd")
        kept = sign * values > 1e-15 * norm
        return whole(M @ half @ (vectors[:, kept] / np.sqrt(sign * values[kept])))

    def error(self, M, by):
        """A bound of two errors that the rounding of K causes: that of tr M K M K, and that of an entry of K M K.

        M: integers (n, n). by: their unit.
        """
        most = int(np.abs(self.K).max()) * self.K_unit + self.K_off * self.K_unit
        return 16 * self.K_off * self.K_unit * (1 + most) * (1 + np.abs(M).sum() * by) ** 2

    def judged_as(self, matrix):
        return self.metrics((matrix + matrix.T) / 2)

    def metrics(self, matrix):
        _, given, of = symmetric(matrix, self.n)
        L, fine = self.factor(np.array(matrix, float), 1)
        return [self.measured(given, of), self.measured(L.dot(L.T), fine**2)]

    def measured(self, A, unit):
        D = distances(identity(self.n), self.K.dot(A).dot(self.K))
        product = A.dot(self.K)
        square = (product * product.T).sum() * (self.K_unit * unit) ** 2
        return KernelMetric(D, self.K_unit**2 * unit, square, self.error(A, unit))

    def objective(self, at):
        return super().objective(at) + (self.lam / 2 + 2) * at.off

    def square(self, weights):
        G = laplacian(weights)
        size = int(np.abs(G).max()) or 1
        L, fine = self.factor((G / size).astype(float), -1)
        ratio = fine**2 * size
        rest = G * ratio.denominator + L.dot(L.T) * ratio.numerator
        RK = rest.dot(self.K)
        square = (RK * RK.T).sum() * self.K_unit**2 + self.error(rest, Fraction(1))
        return square / ratio.denominator**2


# ---- targets and triplets ----


class LMNN(Problem):
    """Minimize (1 - mu) sum over targets D_ij + mu sum over triplets [1 + D_ij - D_il]_+

    A target is a pair (i, j), and a triplet (i, j, l) is a target with an impostor l. Either the targets are given, and
    all points of other classes are impostors; or the triplets are given. The optimum may be 0. So the scale
    is the objective, or 1e-9 mu times the number of triplets if that is larger.
    """

    READS = frozenset({"mu", "targets", "triplets"})
    NAMES = frozenset({"n_neighbors"})
    squared = False

    def __init__(self, content):
        super().__init__(content)
        self.mu = self.number("mu")
        fits = 0 < self.mu < 1 and len(self.y) == self.n
        require(fits, f"mu must be between 0 and 1, and there must be {self.n} labels, one for each point")
        given = self.params.get("triplets")
        only = given is None or self.params.get("targets") is None
        require(only, "targets and triplets are both given")
        self.impostors = self.by_labels() if given is None else self.listed(given)
        count = sum(len(others) for others in self.impostors.values())
        self.floor = Fraction(1, 10**9) * self.mu * count

    def listed(self, triplets):
        """The dict {(i, j): [l, ...]} of the impostors of each target, from triplets (i, j, l)."""
        found: dict[Any, Any] = {}
        for i, j, l in index_rows(triplets, 3, self.n, "triplets").tolist():
            require(i not in (j, l), f"the triplet {i}, {j}, {l} contains the point {i} twice")
            found.setdefault((i, j), []).append(l)
        return found

    def by_labels(self):
        """The dict {(i, j): [l, ...]} of the impostors of each target: all points of other classes."""
        y, lists = self.y, neighbor_lists(self.params["targets"], self.n)
        targets = [(i, j) for i, listed in enumerate(lists) for j in listed]
        require(all(y[i] == y[j] for i, j in targets), "a target is not of the class of its point")
        others = {label: [l for l in range(self.n) if y[l] != label] for label in set(y)}
        return {(i, j): others[y[i]] for i, j in targets}

    def objective(self, at):
        pull, push = 0, 0
        for (i, j), others in self.impostors.items():
            near = at.D(i, j)
            slacks = [at.positive(1 + near - at.D(i, l)) for l in others]
            pull += near
            push += sum([slack * slack for slack in slacks] if self.squared else slacks)
        return (1 - self.mu) * pull + self.mu * push

    def scale(self, at, objective):
        return at.largest([objective, self.floor])

    def bound(self, dual):
        n, mu, targets = self.n, self.mu, list(self.impostors)
        price, fine = numbers(dual, "price", len(dual["triplets"]))
        rows = index_rows(dual["triplets"], 3, n, "triplets").tolist()
        known = {pair: set(others) for pair, others in self.impostors.items()}
        fits = all(l in known.get((i, j), ()) for i, j, l in rows)
        require(fits, "a dual variable belongs to a row i, j, l that is not a triplet of the problem")
        above = not self.squared and (price * fine > mu).any()
        require((price >= 0).all() and not above, "a dual variable must be from 0 to mu")
        common = max(fine.denominator, (1 - mu).denominator)
        C = outer_sum(self.X, at_pairs(n, targets, [int((1 - mu) * common)] * len(targets)))
        weights = at_pairs(n, [(i, j) for i, j, _ in rows], price)
        weights = weights - at_pairs(n, [(i, l) for i, _, l in rows], price)
        a, b = shares(C + outer_sum(self.X, weights * int(fine * common)), C)
        share = fine * Fraction(a, a + b)
        return share * price.sum() - (share**2 * (price * price).sum() / (4 * mu) if self.squared else 0)


class SquaredLMNN(LMNN):
    """LMNN with squared hinges."""

    squared = True


class Triplets(Problem):
    """A problem with triplets (i, j, l): D_il should exceed D_ij by 1. Its hinge is [1 + D_ij - D_il]_+."""

    NAMES = frozenset({"n_neighbors"})

    def __init__(self, content):
        super().__init__(content)
        self.triplets = index_rows(self.params["triplets"], 3, self.n, "triplets")
        require(len(self.triplets) > 0, "there is no triplet")

    def missed(self, at):
        """The list of the hinges [1 + D_ij - D_il]_+, one for each triplet."""
        return [at.positive(1 + at.D(i, j) - at.D(i, l)) for i, j, l in self.triplets.tolist()]

    def prices(self, dual, cap):
        """The dual variables a as integers, their unit, and the weights (n, n) of the X_ij in sum a (X_il - X_ij).

        The weights have the same unit. dual: "price", the numbers a, and "triplets", their rows (i, j, l). cap: the
        largest allowed a. Raises ValueError if an a is negative, or above cap by more than rounding, or if its row is
        not a triplet of the problem.
        """
        price, fine = numbers(dual, "price", len(dual["triplets"]))
        rows = index_rows(dual["triplets"], 3, self.n, "triplets").tolist()
        listed = set(map(tuple, self.triplets.tolist()))
        known = all(tuple(row) in listed for row in rows)
        require(known, "a dual variable belongs to a row i, j, l that is not a triplet of the problem")
        fits = (price >= 0).all() and (price * fine <= cap * (1 + Fraction(1, 2**50))).all()
        require(fits, f"a dual variable must be from 0 to {float(cap):.6g}")
        price = np.minimum(price, math.floor(cap / fine))
        return price, fine, self.weights(rows, price)

    def weights(self, rows, price):
        """The weights (n, n) of the X_ij in sum a (X_il - X_ij).

        rows: triplets. price: their dual variables a, integers.
        """
        far = at_pairs(self.n, [(i, l) for i, _, l in rows], price)
        return far - at_pairs(self.n, [(i, j) for i, j, _ in rows], price)


class RTML(Triplets):
    """Minimize lam/2 ||M||^2 + sum over triplets of rounded hinges (`rounded`), where M is the metric."""

    READS = frozenset({"lam", "width", "triplets"})

    def __init__(self, content):
        super().__init__(content)
        self.lam, self.width, self.cap = self.weighing()
        fits = min(self.lam, self.cap) > 0 and 0 <= self.width <= 1
        require(fits, "lam and C must be greater than 0, and width must be from 0 to 1")

    def weighing(self):
        """The factor of ||M||^2 / 2, the width of the rounded hinge, and the factor of each hinge."""
        return self.number("lam"), self.number("width"), Fraction(1)

    def objective(self, at):
        losses = sum(self.rounded(at, missed) for missed in self.missed(at))
        return self.lam / 2 * at.norm2() + self.cap * losses

    def rounded(self, at, missed):
        """The rounded hinge, for m = `missed`, the value of a hinge.

        It is m^2 / (2 width) for m up to the width, and m - width / 2 beyond it. For the width 0, it is m.
        """
        if self.width == 0:
            return missed
        return at.least([missed, self.width]) ** 2 / (2 * self.width) + at.positive(missed - self.width)

    def scale(self, at, objective):
        return self.lam / 2 * at.norm2()

    def bound(self, dual):
        price, fine, weights = self.prices(dual, self.cap)
        square = self.unit**4 * positive_square(outer_sum(self.X, weights)) * fine**2
        gained = fine * price.sum() - self.width / 2 * fine**2 * (price * price).sum()
        return gained - square / (2 * self.lam)


class FrobMetric(RTML):
    """Minimize 1/2 ||X||^2 + C times the mean hinge over triplets, where X is the metric."""

    READS = frozenset({"C", "triplets"})

    def weighing(self):
        return Fraction(1), Fraction(0), self.number("C") / len(self.triplets)


class PLML(Triplets):
    """Minimize alpha1 sum ||M_b||^2 + sum over triplets of [1 + D_ij - D_il]_+ + alpha2 sum over pairs of D_ij

    The pairs are the different (i, j) of the triplets (i, j, l). The weights W (n, B) are given: point i has the metric
    sum_b W_ib M_b, and D_ij is the squared distance in this metric, so D_ij and D_ji differ. The matrix of an answer
    has the blocks M_b (d, d) on its diagonal.
    """

    READS = frozenset({"alpha1", "alpha2", "triplets", "weights"})
    NAMES = frozenset(
        {
            "anchors",
            "n_anchors",
            "n_neighbors",
            "random_state",
            "graph_neighbors",
            "lam1",
            "lam2",
            "similarity",
        }
    )

    def __init__(self, content):
        super().__init__(content)
        self.W, self.share = whole(self.params["weights"])
        self.blocks = self.W.shape[1]
        require(
            len(self.W) == self.n and (self.W >= 0).all(),
            "the weights must have one row per point, with entries 0 or more",
        )
        self.alpha1, self.alpha2 = self.number("alpha1"), self.number("alpha2")
        require(self.alpha1 > 0 and self.alpha2 >= 0, "alpha1 must be greater than 0, and alpha2 at least 0")
        self.pairs = sorted({(i, j) for i, j, _ in self.triplets.tolist()})

    def block(self, A, b):
        """The block b (d, d) on the diagonal of a matrix (B d, B d)."""
        return A[b * self.d : (b + 1) * self.d, b * self.d : (b + 1) * self.d]

    def in_blocks(self, A):
        """The matrix A (B d, B d) with 0 in place of the entries outside its diagonal blocks."""
        found = np.zeros_like(A)
        for b in range(self.blocks):
            self.block(found, b)[:] = self.block(A, b)
        return found

    def deviations(self, M):
        own = self.in_blocks(M)
        yield Deviation(
            np.abs(M - own).max() / (np.linalg.norm(M) or 1.0), "an entry outside its blocks is not 0"
        )
        yield from of_cone(own)
        yield from of_cone_in_units(own, np.tile(self.spread(), self.blocks))

    def judged_as(self, matrix):
        return super().judged_as(self.in_blocks(matrix))

    def metrics(self, matrix):
        A = np.array(matrix, float)
        size = self.blocks * self.d
        require(
            A.shape == (size, size),
            f"the metric must be ({size}, {size}), with a block for each basis metric",
        )
        require((self.in_blocks(A) == A).all(), "an entry of the metric outside its diagonal blocks is not 0")
        return [self.measured(self.in_blocks(M), unit) for M, unit in candidates(A, len(A))]

    def measured(self, A, unit):
        parts = (self.W[:, b, None] * distances(self.X, self.block(A, b)) for b in range(self.blocks))
        return Metric(A, unit, sum(parts), self.unit**2 * unit * self.share)

    def objective(self, at):
        pulled = sum(at.D(i, j) for i, j in self.pairs)
        return self.scale(at, None) + sum(self.missed(at)) + self.alpha2 * pulled

    def scale(self, at, objective):
        return self.alpha1 * at.norm2()

    def bound(self, dual):
        price, fine, weights = self.prices(dual, Fraction(1))
        pulled, coarse = whole([float(self.alpha2)])
        unit = min(fine, coarse)
        pull = at_pairs(self.n, self.pairs, [pulled[0] * int(coarse / unit)] * len(self.pairs))
        weights = weights * int(fine / unit) - pull
        square = sum(
            positive_square(outer_sum(self.X, weights * self.W[:, b, None])) for b in range(self.blocks)
        )
        return fine * price.sum() - self.unit**4 * unit**2 * self.share**2 * square / (4 * self.alpha1)


def nonnegative(V, target):
    """Approximate w >= 0 with the least |V w - target|, by the method of C. Lawson and R. Hanson, in floats.

    Only proposals use it.
    """
    w, used = np.zeros(V.shape[1]), np.zeros(V.shape[1], bool)
    least = 1e-12 * np.abs(V.T @ target).max(initial=0)
    for _ in range(10 * V.shape[1]):
        slope = np.where(used, -math.inf, V.T @ (target - V @ w))
        if not slope.max() > least:
            break
        used[slope.argmax()] = True
        while used.any():
            best = np.zeros(len(w))
            best[used] = np.linalg.lstsq(V[:, used], target, rcond=None)[0]
            below = used & (best <= 0)
            if not below.any():
                w = best
                break
            w = w + np.min(w[below] / (w[below] - best[below])) * (best - w)
            used &= (w > 0) & ~(below & (w <= 1e-14 * w.max()))
            w[~used] = 0
    return w


def proposed_weights(B, M):
    """Approximate weights w (K,) >= 0 for which sum w_k b_k b_k^T is near M (d, d), and sum w_k is nearly smallest.

    B (K, d): the b_k as rows. Nearness is measured in units in which the diagonal of M is 1.
    """
    if np.array_equal(B, np.eye(M.shape[0])):
        return np.maximum(np.diag(M), 0)
    seen = np.diag(M) > 0
    able = ~B[:, ~seen].any(axis=1)
    unit = 1 / np.sqrt(np.diag(M)[seen])
    own = B[able][:, seen] * unit
    lengths = np.sum(own**2, axis=1)
    V = np.einsum("ki,kj->kij", own, own).reshape(len(own), own.shape[1] ** 2).T / lengths
    target = (M[np.ix_(seen, seen)] * np.outer(unit, unit)).ravel()
    best, cost, size = nonnegative(V, target), 1 / lengths, np.linalg.norm(target)
    if best.any():
        slight = 1e-5 * size / (cost @ best)
        rough = nonnegative(np.vstack([V, slight * cost]), np.append(target, 0.0))
        kept, fine = rough > 1e-9 * rough.max(), np.zeros(len(own))
        fine[kept] = nonnegative(V[:, kept], target)
        missed = [np.linalg.norm(V @ each - target) for each in (best, fine)]
        if missed[1] <= missed[0] + 1e-13 * size and cost @ fine < cost @ best:
            best = fine
    w = np.zeros(len(B))
    w[able] = best / lengths
    return w


class Combination(Triplets):
    """A problem for metrics M = sum w_k b_k b_k^T with w >= 0 and K given vectors b_k (d,).

    A matrix is judged as the nearest such combination.
    """

    cap = beta = Fraction(1)  # the weight of a hinge; the weight of sum w, or of the least sum

    def __init__(self, content):
        super().__init__(content)
        self.B = self.vectors()
        require(
            self.B.ndim == 2 and self.B.shape[1] == self.d and len(self.B) > 0,
            f"the vectors of the basis must have {self.d} entries each, and there must be one or more",
        )
        self.rows, self.at = whole(self.B)

    def vectors(self):
        """The b_k as rows of floats, (K, d)."""
        raise NotImplementedError

    def metrics(self, matrix):
        symmetric(matrix, self.d)
        A = np.array(matrix, float)
        found = self.combined(proposed_weights(self.B, A / 2 + A.T / 2))
        # compared with the entries of its own features; compared with the largest of all anything may be small
        own = np.sqrt(np.maximum(np.diag(A), 0))
        off = np.abs(A - np.array([[float(v * found.unit) for v in row] for row in found.matrix]))
        require((off <= 1e-6 * np.outer(own, own)).all(), "the metric is not a combination of the vectors")
        require(min(self.beta, self.cap) > 0, "beta and C must be greater than 0")
        return [found]

    def combined(self, w):
        """The Metric sum w_k b_k b_k^T for weights w (K,), floats."""
        w, fine = whole(w)
        at = self.measured(self.rows.T.dot(self.rows * w[:, None]), self.at**2 * fine)
        at.weight = fine * int(w.sum())
        return at

    def weights_of(self, M):
        """The least-squares weights (K,) of M, the distance of M from their combination, and a measure of independence.

        The measure is the smallest norm of sum v_k b_k b_k^T over all v (K,) of norm 1. It is 0 if the matrices
        b_k b_k^T are linearly dependent.
        """
        columns = np.array([np.outer(b, b).ravel() for b in self.B]).T
        target = ((M + M.T) / 2).ravel()
        w, _, rank, s = np.linalg.lstsq(columns, target, rcond=None)
        return w, np.linalg.norm(columns @ w - target), s[-1] if rank == len(self.B) else 0.0

    def deviations(self, M):
        yield from super().deviations(M)
        (w, off, least), norm = self.weights_of(M), np.linalg.norm(M) or 1.0
        yield Deviation(off / norm, "it is not a combination of the vectors")
        if w.min() < 0:
            away, what = np.linalg.norm(np.minimum(w, 0)), "it is not a combination with weights >= 0"
            yield Deviation(least * away / norm, what)
            yield Deviation(away / np.linalg.norm(w), what, False)

    def judged_as(self, matrix):
        return [self.combined(np.maximum(self.weights_of(matrix)[0], 0))]

    def gains(self, G):
        """b_k^T G b_k (K,), as integers, from the integers of G (d, d) and of the b_k without their units."""
        return (self.rows.dot(G) * self.rows).sum(axis=1)

    def slacks(self, at):
        return self.cap * sum(self.missed(at))


class SCML(Combination):
    """Minimize beta sum w_k + the mean hinge over triplets, for the metric sum w_k b_k b_k^T."""

    READS = frozenset({"beta", "basis", "triplets"})
    NAMES = frozenset({"n_basis", "n_neighbors"})

    def __init__(self, content):
        super().__init__(content)
        self.beta, self.cap = self.number("beta"), Fraction(1, len(self.triplets))

    def vectors(self):
        return np.array(self.params["basis"], float)

    def judged_as(self, matrix):
        independent = self.weights_of(matrix)[2] > 0
        require(independent, "the vectors are dependent, and other weights may have a smaller sum")
        return super().judged_as(matrix)

    def objective(self, at):
        return self.beta * at.weight + self.slacks(at)

    def bound(self, dual):
        price, fine, weights = self.prices(dual, self.cap)
        paid = self.unit**2 * fine * self.at**2
        most = max(gain * paid for gain in self.gains(outer_sum(self.X, weights)))
        return fine * price.sum() * min(Fraction(1), self.beta / most if most > 0 else 1)


class SchultzJoachims(Combination):
    """Minimize 1/2 ||M||^2 + C sum over triplets of hinges, for M = A diag(w) A^T with w >= 0.

    A (d, K) is given; without it, A is the identity. The b_k of `Combination` are the columns a_k of A.
    """

    READS = frozenset({"C", "A", "triplets"})

    def __init__(self, content):
        super().__init__(content)
        self.cap = self.number("C")

    def vectors(self):
        A = self.params["A"]
        return np.eye(self.d) if A is None else np.array(A, float).T

    def objective(self, at):
        return at.norm2() / 2 + self.slacks(at)

    def scale(self, at, objective):
        return at.norm2() / 2

    def bound(self, dual):
        price, fine, weights = self.prices(dual, self.cap)
        G, paid = outer_sum(self.X, weights), self.unit**2 * fine
        c = [v * paid * self.at**2 for v in self.gains(G)]
        plain = self.params["A"] is None
        z = [max(v, Fraction(0)) for v in c] if plain else self.raised(c, G, paid)
        # one denominator for all, or it would grow with every weight
        small = max(z) / ONE or Fraction(1)
        N = self.rows.T.dot(self.rows * np.array([-(-v // small) for v in z], object)[:, None])
        return fine * price.sum() - int((N * N).sum()) * (self.at**2 * small) ** 2 / 2

    def raised(self, c, G, unit):
        """Weights z (K,) >= 0, as fractions, for which N = sum z_k b_k b_k^T has b_k^T N b_k >= c_k for all k.

        c: the numbers c_k = b_k^T G b_k. G: integers, in units of `unit`. First, N is a nonnegative least-squares fit
        to G in floats. Then each z_k is increased by (c_k - b_k^T N b_k)_+ / ||b_k||^4, exactly.
        """
        own = floats(self.rows)
        lengths = np.sum(own**2, axis=1)
        V = np.einsum("ki,kj->kij", own, own).reshape(len(own), own.shape[1] ** 2).T / lengths
        # both have lost their unit, and the largest is 1
        proposal, fine = whole(nonnegative(V, floats(G).ravel()) / lengths)
        largest = int(np.abs(self.rows).max())
        fine *= int(np.abs(G).max()) * unit / (largest * self.at) ** 2
        s = [v * self.at**4 * fine for v in self.gains(self.rows.T.dot(self.rows * proposal[:, None]))]
        squares = [int((row * row).sum()) * self.at**2 for row in self.rows]
        return [
            v * fine + max(want - has, 0) / length**2 for v, want, has, length in zip(proposal, c, s, squares)
        ]


class BoostMetric(Triplets):
    """Minimize the log of the sum over triplets of exp(D_ij - D_il), + v tr X, where X is the metric."""

    READS = frozenset({"v", "triplets"})

    def __init__(self, content):
        super().__init__(content)
        self.v = self.number("v")
        require(self.v > 0, f"v is {self.params['v']}, and must be greater than 0")

    def objective(self, at):
        margins = [at.D(i, j) - at.D(i, l) for i, j, l in self.triplets.tolist()]
        return at.log_sum_exp(margins) + self.v * at.trace()

    def scale(self, at, objective):
        return at.largest([abs(self.objective(at)), 1])

    def lost(self, objective):
        return ALLOWED

    def bound(self, dual):
        rows = index_rows(dual["triplets"], 3, self.n, "triplets").tolist()
        place = {tuple(row): t for t, row in enumerate(self.triplets.tolist())}
        known = all(tuple(row) in place for row in rows)
        require(known, "a dual variable belongs to a row i, j, l that is not a triplet of the problem")
        price = np.zeros(len(self.triplets))
        price[[place[tuple(row)] for row in rows]] = dual["price"]
        same = np.full(len(self.triplets), 1 / len(self.triplets))
        u, same = (np.array(of_simplex(row, "u"), object) for row in (price, same))
        a, b = shares(self.left(u), self.left(same))
        return entropy(a * u + b * same)

    def left(self, u):
        """A positive multiple of v I - sum u (X_il - X_ij), (d, d), in integers.

        u: one for each triplet (i, j, l), integers in units of 1 / ONE.
        """
        level = self.v * ONE / self.unit**2
        pulled = outer_sum(self.X, self.weights(self.triplets.tolist(), u))
        return identity(self.d) * level.numerator - level.denominator * pulled

    def unattained(self, matrix):
        """True if D_il - D_ij >= v tr X for all triplets, with > for one: then larger multiples are always better."""
        i, j, l = self.triplets.T
        for at in self.metrics(matrix):
            gained = (at.squares[i, l] - at.squares[i, j]) * at.step - self.v * at.trace()
            if gained.min() >= 0 < gained.max():
                return True
        return False


# ---- pairs ----


class Pairs(Problem):
    """A problem with similar and dissimilar pairs. These are given, or all pairs of points by their labels."""

    def __init__(self, content):
        super().__init__(content)
        pairs, y, n = self.params["pairs"], self.y, self.n
        if pairs is None:
            require(len(y) == n, f"there are {len(y)} labels for {n} points")
            every = list(itertools.combinations(range(n), 2))
            pairs = {"similar": [(i, j) for i, j in every if y[i] == y[j]]}
            pairs["dissimilar"] = [(i, j) for i, j in every if y[i] != y[j]]
        kinds = [index_rows(pairs[kind], 2, n, "pairs of points") for kind in ("similar", "dissimilar")]
        require(
            not any((i == j).any() for i, j in (rows.T for rows in kinds)), "a pair is a point with itself"
        )
        self.similar, self.dissimilar = (rows.tolist() for rows in kinds)


class NearPrior(Problem):
    """A problem with the divergence D_ld(A, A_0) = tr A A_0^-1 - log det A A_0^-1 - d from a prior A_0."""

    DEFINITE = True

    def read_prior(self, given):
        """Store the prior A_0 as integers and their unit. Raises ValueError unless it is (d, d) and symmetric."""
        self.prior, self.of = whole(given)
        require(self.prior.shape == (self.d, self.d), f"the prior must be ({self.d}, {self.d})")
        require((self.prior == self.prior.T).all(), "the prior is not symmetric")

    def divergence(self, at):
        """The divergence D_ld(A, A_0) of the Metric `at` from the prior."""
        A, d = at.matrix, self.d
        inside = eliminate(np.block([[self.prior, identity(d)], [A, 0 * A]]), d)
        require(inside is not None, "the prior is not positive definite")
        ratio = at.unit / self.of
        trace = -Fraction(np.trace(inside[1])) / inside[0] * ratio
        return trace - log(determinant(A) / inside[0]) - d * log(ratio) - d

    def log_det(self, weights, common):
        """log det(A_0 Z) for Z = A_0^-1 + G, where G is the sum of weights_ij X_ij / common.

        It is computed from the integers of A_0 Z A_0 = A_0 + A_0 G A_0. Raises ValueError unless Z is positive
        definite.
        """
        ratio = self.of * self.unit**2 / common
        G = outer_sum(self.X, weights)
        inside = self.prior * ratio.denominator + self.prior.dot(G).dot(self.prior) * ratio.numerator
        volume = determinant(inside, "Z is not positive definite") / determinant(self.prior)
        return log(volume) - self.d * log(Fraction(ratio.denominator))

    def scale(self, at, objective):
        """The absolute value of the objective, or 1e-6 d if that is larger, because the objective may be 0."""
        return at.largest([abs(objective), Fraction(self.d, 10**6)])


class ITML(Pairs, NearPrior):
    """Minimize D_ld(A, A_0) + gamma sum over pairs of r - 1 - log r

    r is max(D/u, 1) for a similar pair and min(D/l, 1) for a dissimilar one, where D is the squared distance of the
    pair. The bounds u and l are given.
    """

    READS = frozenset({"gamma", "prior", "bounds", "pairs"})

    def __init__(self, content):
        super().__init__(content)
        self.gamma = self.number("gamma")
        self.near, self.far = (Fraction(float(bound)) for bound in self.params["bounds"])
        require(min(self.gamma, self.near, self.far) > 0, "gamma and both bounds must be greater than 0")
        self.read_prior(self.params["prior"])

    def objective(self, at):
        return self.divergence(at) + self.gamma * self.slack(at)

    def slack(self, at):
        r = [at.largest([at.D(i, j), self.near]) / self.near for i, j in self.similar]
        r += [at.least([at.D(i, j), self.far]) / self.far for i, j in self.dissimilar]
        require(all(v > 0 for v in r), "a dissimilar pair is at distance 0")
        return sum(v - 1 - at.log(v) for v in r)

    def lost(self, objective):
        return ALLOWED * (1 + self.gamma) * (self.d + len(self.similar) + len(self.dissimilar))

    def bound(self, dual):
        (q_S, s_unit) = numbers(dual, "lam_S", len(self.similar))
        (q_D, d_unit) = numbers(dual, "lam_D", len(self.dissimilar))
        less = [v * s_unit * self.near / self.gamma for v in q_S]
        more = [v * d_unit * self.far / self.gamma for v in q_D]
        fits = min([*less, *more], default=0) >= 0 and max(less, default=0) < 1
        require(fits, "a dual variable must be at least 0 and less than gamma/u")
        common = 1 / min(s_unit, d_unit)
        near = at_pairs(self.n, self.similar, q_S) * int(s_unit * common)
        far = at_pairs(self.n, self.dissimilar, q_D) * int(d_unit * common)
        logs = [log(1 - v) for v in less if v] + [log(1 + v) for v in more if v]
        return self.log_det(near - far, common) + self.gamma * sum(logs, Fraction(0))


class LSML(NearPrior):
    """Minimize D_ld(A, A_0) + sum w [sqrt D_ab - sqrt D_cd]_+^2 over quadruplets (a, b, c, d) with weights w

    The dual variable s of a quadruplet is less than 1. It may be 1 if the points c and d are equal.
    """

    READS = frozenset({"prior", "quadruplets", "weights", "losses"})
    NAMES = frozenset({"n_quadruplets", "random_state"})

    def __init__(self, content):
        super().__init__(content)
        rows, n = self.params["quadruplets"], self.n
        inside = all(len(row) == 4 and all(i in range(n) for i in row) for row in rows)
        require(inside, "a quadruplet has an index outside the points")
        self.rows = np.array(rows, int).reshape(-1, 4)
        self.weights = [Fraction(float(w)) for w in self.params["weights"]]
        fits = len(self.weights) == len(rows) and min(self.weights, default=0) >= 0
        require(fits, f"the weights must be {len(rows)} numbers, 0 or more, one for each quadruplet")
        losses = self.params.get("losses", "mean")
        require(losses in ("mean", "sum"), f"losses {shown(losses)} are not known here")
        # cvxml divides weights by their sum if they are further from 1
        to_one = abs(sum(self.weights, Fraction(0)) - 1) <= Fraction(len(rows), 2**53)
        require(losses == "sum" or to_one, "the sum of the weights must be 1")
        self.read_prior(self.params["prior"])

    def objective(self, at):
        return self.divergence(at) + self.losses(at)

    def losses(self, at):
        """sum w [sqrt D_ab - sqrt D_cd]_+^2 over the quadruplets (a, b, c, d)."""
        total = 0
        for w, (a, b, c, d) in zip(self.weights, self.rows.tolist()):
            total += w * root_excess(at.D(a, b), at.D(c, d)) ** 2
        return total

    def lost(self, objective):
        return ALLOWED * (self.d + len(self.rows)) * max(1, abs(objective))

    def bound(self, dual):
        X, (a, b, c, e) = self.X, self.rows.T
        s, fine = numbers(dual, "s", len(self.rows))
        near, alone = [v * fine for v in s], (X[c] == X[e]).all(axis=1)
        fits = all(0 <= v < 1 or (v == 1 and one) for v, one in zip(near, alone))
        require(fits, "an s must be at least 0 and less than 1")
        bits = 2**200  # all to one denominator: a price of a far pair is rounded up, of a near one down
        near = [math.floor(w * v * bits) for w, v in zip(self.weights, near)]
        less = [Fraction(v, bits) for v in near]
        far = [
            0 if one or w == 0 else math.ceil(w * v / (w - v) * bits)
            for w, v, one in zip(self.weights, less, alone)
        ]
        G = at_pairs(self.n, zip(a, b), near) - at_pairs(self.n, zip(c, e), far)
        return self.log_det(G, bits)


class LDML(Pairs):
    """Minimize sum over S of w log(1 + exp(D - b)) + sum over D of w log(1 + exp(b - D))

    S and D under the sums are the similar and the dissimilar pairs, and D in the terms is the squared distance of a
    pair. The threshold b is given; or it is "free", and is minimized over too (`best_b`). If losses is "means", the
    weights w are divided by their sum in S and in D. The parameter self_pairs is the weight of the pair of a point with
    itself, which counts as similar (`pair_weights`).
    """

    READS = frozenset({"b", "losses", "weights", "self_pairs", "pairs"})

    def __init__(self, content):
        super().__init__(content)
        self.free = self.params["b"] == "free"
        self.b = None if self.free else self.number("b")
        self.of_near, self.of_far, self.alone = self.pair_weights()

    def pair_weights(self):
        """Two lists, the weights of the similar and of the dissimilar pairs; and one number, the weight of self pairs.

        A self pair is a pair of a point with itself; the number is the sum of the weights of all n. If losses is
        "means", each list is divided by its sum, and the number by the sum of the similar weights.
        """
        losses, given = self.params.get("losses", "sum"), self.params.get("weights")
        require(losses in ("sum", "means"), f"losses {shown(losses)} are not known here")
        count = len(self.similar) + len(self.dissimilar)
        w = [Fraction(1)] * count if given is None else [Fraction(float(v)) for v in given]
        alone = self.n * Fraction(float(self.params.get("self_pairs", 0)))
        fits = len(w) == count and min(w) > 0 and alone >= 0
        require(
            fits, f"the weights must be {count} positive numbers, one for each pair; self_pairs must be >= 0"
        )
        near, far = w[: len(self.similar)], w[len(self.similar) :]
        if losses == "means":
            alone = alone / sum(near)
            near, far = [v / sum(near) for v in near], [v / sum(far) for v in far]
        return near, far, alone

    def objective(self, at):
        near = [(w, at.D(i, j)) for w, (i, j) in zip(self.of_near, self.similar)]
        far = [(w, at.D(i, j)) for w, (i, j) in zip(self.of_far, self.dissimilar)]
        near += [(self.alone, 0)] if self.alone > 0 else []
        b = at.number(self.best_b(near, far)) if self.free else self.b
        losses = [w * at.log_sum_exp([0, D - b]) for w, D in near]
        return sum(losses + [w * at.log_sum_exp([0, b - D]) for w, D in far])

    def best_b(self, near, far):
        """The b at which the derivative of the objective in b is about 0, by bisection in floats.

        near, far: (weight, squared distance) of each similar and of each dissimilar pair.
        """
        rows = [(float(w), float(D)) for w, D in near], [(float(w), float(D)) for w, D in far]
        w = np.array([weight for kind in rows for weight, _ in kind])
        D = np.array([distance for kind in rows for _, distance in kind])
        t = np.array([1.0] * len(near) + [-1.0] * len(far))
        away = math.log(2 * sum(w) / min(w))
        low, high = D.min() - away, D.max() + away
        for _ in range(200):
            b = (low + high) / 2
            z = t * (D - b)
            e = np.exp(-np.abs(z))
            beyond = float((t * w) @ np.where(z > 0, 1 / (1 + e), e / (1 + e)))
            low, high = (b, high) if beyond > 0 else (low, b)
        return (low + high) / 2

    def scale(self, at, objective):
        return self.objective(at)

    def lost(self, objective):
        return ALLOWED * (1 + sum(self.of_near + self.of_far) + self.alone) * (1 + objective)

    def bound(self, dual):
        t = np.array([1] * len(self.similar) + [-1] * len(self.dissimilar), dtype=object)
        listed, w = [*self.similar, *self.dissimilar], [*self.of_near, *self.of_far]
        if self.alone:
            listed, t, w = [*listed, (0, 0)], np.append(t, 1), [*w, self.alone]
        a, fine = numbers(dual, "a", len(listed))
        inside = [v * fine / c for v, c in zip(a, w)]
        fits = min(inside) >= 0 and max(inside) <= 1 + Fraction(1, 2**50)
        require(fits, "a dual variable must be from 0 to the weight of its pair")
        balanced = not self.free or (t * a).sum() == 0
        require(
            balanced,
            "the dual variables of similar pairs and those of dissimilar pairs must have the same sum",
        )
        require(
            psd(outer_sum(self.X, at_pairs(self.n, listed, t * a))),
            "the dual variables are outside the dual cone, so they prove no bound",
        )
        less = Fraction(1) / max(1, *inside)  # a weight of 1/3 is no float: a price may be the float above
        bound = Fraction(0)
        for c, share in zip(w, inside):
            v = less * share
            if 0 < v < 1:
                bound += c * entropy([v.numerator, v.denominator - v.numerator])
        return bound - (0 if self.free else self.b * (t * a).sum() * fine * less)

    def unattained(self, matrix):
        """True if no metric attains the infimum.

        Either a dissimilar pair differs in a direction in which no similar pair does, or b is free and the matrix
        separates the two kinds of pairs (`separates`).
        """
        S = sum_over(self.X, self.similar)
        if len(independent(S + sum_over(self.X, self.dissimilar))) > len(independent(S)):
            return True
        return self.free and any(self.separates(at) for at in self.metrics(matrix))

    def separates(self, at):
        """True if each similar distance is at most each dissimilar one, and not all distances are equal.

        If self pairs have a weight, their distance 0 is one of the similar distances.
        """
        near = [at.squares[i, j] for i, j in self.similar] + ([0] if self.params.get("self_pairs", 0) else [])
        far = [at.squares[i, j] for i, j in self.dissimilar]
        return max(near) <= min(far) and min(near) < max(far)


class Budget(Pairs):
    """A problem with a budget: the sum of the squared distances of similar pairs is at most 1."""

    READS = frozenset({"pairs"})

    def spent(self, at):
        """The sum of the squared distances of similar pairs."""
        return sum(at.D(i, j) for i, j in self.similar)

    def metrics(self, matrix):
        found = super().metrics(matrix)
        for at in found:
            spent = self.spent(at)
            fits = spent <= 1 + Fraction(1, 10**6)
            require(fits, f"the similar pairs spend {float(spent):.6g}, allowed is 1")
        return found

    def deviations(self, M):
        yield from super().deviations(M)
        points, what = self.floats(), "the sum over similar pairs exceeds 1"
        i, j = index_columns(self.similar)
        yield from of_cone_in_units(M, np.abs(points[i] - points[j]).max(axis=0))
        spent = [float(self.spent(self.measured(*whole(A)))) for A in ((M + M.T) / 2, nearest_psd(M))]
        yield Deviation(min(spent) - 1, what)
        yield Deviation(max(spent) - 1, what, False)

    def objective(self, at):
        limit = at.largest([self.spent(at), Fraction(1)])
        return -self.gained(at, [at.D(i, j) / limit for i, j in self.dissimilar])

    def gained(self, at, D):
        """The number that the problem maximizes, from the squared distances D of the dissimilar pairs.

        The objective is minus this number. at: any Metric. Only its functions of lists, such as `least`, are used.
        """
        raise NotImplementedError

    def scale(self, at, objective):
        return abs(objective)

    def multiple(self, price):
        """A number mu, nearly the smallest, with mu sum_S X_ij - sum_D price X_ij psd.

        price: integers, one for each dissimilar pair. Raises ValueError if no mu is found, for example if a dissimilar
        pair differs in a direction in which no similar pair does.
        """
        S = sum_over(self.X, self.similar)
        C = outer_sum(self.X, at_pairs(self.n, self.dissimilar, price))
        points = self.floats()
        unit = np.abs(points - points[0]).max(axis=0)
        points = (points - points[0]) / np.where(unit > 0, unit, 1.0)
        E_S, E_D = (points[i] - points[j] for i, j in map(index_columns, (self.similar, self.dissimilar)))
        _, s, Vt = np.linalg.svd(E_S, full_matrices=False)
        kept = s > 1e-13 * s.max(initial=0.0)
        Y = E_D @ Vt[kept].T / s[kept] * np.sqrt(floats(price))[:, None]
        found = np.linalg.eigvalsh(Y.T @ Y)[-1:].sum() if kept.any() else 0.0
        mu = Fraction(math.ceil(Fraction(float(found)) * int(price.max()) * 2**60), 2**60)
        left = mu.numerator * S - mu.denominator * C
        a, b = shares(
            left, mu.numerator * S, "no bound: a dissimilar pair may differ where no similar pair does"
        )
        return mu * Fraction(a + b, a)


def index_columns(rows):
    """Two arrays of indices: the first and the second points of pairs."""
    return np.array(rows, int).reshape(-1, 2).T


class MMC(Budget):
    """Minimize minus the sum of the distances of dissimilar pairs.

    The two points of a pair may be equal. Then its distance is always 0, and its dual variable c is not used.
    """

    def gained(self, at, D):
        return at.sum_of_roots(D)

    def bound(self, dual):
        c = self.prices(dual)
        mu = self.least_multiple(c)
        # one denominator for all, or it would grow with every pair
        inverse = Fraction(sum(-(-(ONE**2) // v) for v in c if v), ONE**2)
        return -root(mu * inverse) * (1 + ALLOWED)

    def prices(self, dual):
        """The dual variables c of the dissimilar pairs as integers; 0 for pairs of equal points.

        Their unit is left out, because the bound of any multiple of c is the same. dual: "c"; or "metric", a matrix
        (d, d) with squared distances D_ij, and c is about 1 / sqrt(D_ij).
        """
        if "metric" in dual:  # in place of its prices: any positive c are valid
            at = np.array(dual["metric"], float)
            require(
                at.shape == (self.d,) * 2 and np.isfinite(at).all(),
                "the metric of the dual must be (d, d) and finite",
            )
            points, (i, j) = self.floats(), index_columns(self.dissimilar)
            E = points[i] - points[j]
            D = np.maximum(np.sum((E @ at) * E, axis=1), 0.0)
            dual = {"c": 1 / np.sqrt(np.maximum(D, 1e-16 * D.max() or 1.0))}
        c, _ = numbers(dual, "c", len(self.dissimilar))
        differ = np.array([(self.X[i] != self.X[j]).any() for i, j in self.dissimilar], bool)
        require((c[differ] > 0).all(), "the c of a pair of different points must be greater than 0")
        return np.where(differ, c, 0)

    def least_multiple(self, c):
        return self.multiple(c)


class DiagonalMMC(MMC):
    """Minimize minus the sum of the distances of dissimilar pairs, over diagonal metrics."""

    def deviations(self, M):
        yield from super().deviations(M)
        beside = np.linalg.norm(M - np.diag(np.diag(M)))
        yield Deviation(beside / (np.linalg.norm(M) or 1.0), "it is not diagonal")

    def judged_as(self, matrix):
        return super().judged_as(np.diag(np.maximum(np.diag(matrix), 0)))

    def metrics(self, matrix):
        A = np.array(matrix, float)
        require(A.shape == (self.d,) * 2, f"the metric must be ({self.d}, {self.d})")
        other = A - np.diag(np.diag(A))
        # compared with the entries of its own features; compared with the largest of all anything may be small
        own = np.sqrt(np.abs(np.diag(A)))
        require((np.abs(other) <= 1e-6 * np.outer(own, own)).all(), "the metric is not diagonal")
        require(np.diag(A).min() >= -1e-6 * np.linalg.norm(A), "the metric is not psd")
        return super().metrics(np.diag(np.maximum(np.diag(A), 0)))

    def least_multiple(self, c):
        near = sum((self.X[i] - self.X[j]) ** 2 for i, j in self.similar)
        far = sum(v * (self.X[i] - self.X[j]) ** 2 for (i, j), v in zip(self.dissimilar, c))
        bounded = all(s > 0 or t == 0 for s, t in zip(near, far))
        require(bounded, "no bound: a dissimilar pair differs in a feature in which no similar pair does")
        return max(Fraction(t) / s for s, t in zip(near, far) if s > 0)


class DMLEig(Budget):
    """Minimize minus the least squared distance of a dissimilar pair."""

    def gained(self, at, D):
        return at.least(D)

    def bound(self, dual):
        count = len(self.dissimilar)
        if "q_index" in dual:  # of many points: the pairs that have a weight
            place = {(i, j): t for t, (i, j) in enumerate(self.dissimilar)}
            listed = list(map(tuple, np.sort(dual["q_index"], axis=1).tolist()))
            known = len(set(listed)) == len(listed) and place.keys() >= set(listed)
            require(known, "each row of q_index must be a dissimilar pair, listed once")
            numbers(dual, "q", len(listed))
            q = np.zeros(count)
            q[[place[pair] for pair in listed]] = dual["q"]
            dual = {"q": q}
        q, fine = numbers(dual, "q", count)
        fits = (q >= 0).all() and abs(q.sum() * fine - 1) <= Fraction(1, 10**9)
        require(fits, "the entries of q must be 0 or more, with the sum 1")
        return -self.multiple(q) / q.sum()


# ---- matrices that are sums over points ----


class RCA(Problem):
    """Minimize tr C B for B = M / det(M)^(1/d), where M is the metric.

    C is the covariance within chunklets (given groups of points, by default the classes) plus alpha I. The scale is the
    optimal objective, d det(C)^(1/d).
    """

    READS = frozenset({"chunklets", "alpha"})
    DEFINITE = True

    def __init__(self, content):
        super().__init__(content)
        self.C, self.one = self.within_chunklets()
        volume = determinant(self.C, "the covariance within chunklets is singular")
        self.log_det = log(volume) + self.d * log(self.one)

    def within_chunklets(self):
        """The matrix C (d, d) as integers and their unit."""
        X, listed, alpha = self.X, self.params["chunklets"], self.number("alpha")
        of = np.array(self.y if listed is None else listed)
        fits = of.shape == (self.n,) and of.dtype.kind in "iu" and alpha >= 0
        require(fits, f"the chunklets or labels must be {self.n} integers, and alpha at least 0")
        outside = {-1} if listed is not None else set()  # -1 may be a label
        groups = [X[of == j] for j in set(of.tolist()) - outside]
        count, common = sum(map(len, groups)), lcm(*map(len, groups))
        N = sum(common // len(points) * scatter(points) for points in groups)
        step = self.unit**2 / (common * count)
        one = Fraction(1, lcm(step.denominator, alpha.denominator))
        return N * int(step / one) + identity(self.d) * int(alpha / one), one

    def objective(self, at):
        size = exp(-log(determinant(at.matrix)) / self.d)
        return (self.C * at.matrix).sum() * self.one * size * (1 + ALLOWED)

    def scale(self, at, objective):
        return self.d * exp(self.log_det / self.d)

    def bound(self, dual):
        (price,), fine = numbers(dual, "l", 1)
        price, d = price * fine, self.d
        require(price > 0, "the dual variable l must be greater than 0")
        bound = price * (d - d * log(price) + self.log_det)
        return bound - ALLOWED * (abs(bound) + d * price)


def scatter(points):
    """m sum_i (x_i - mean)(x_i - mean)^T (d, d) over m points, in integers."""
    total = points.sum(axis=0)
    return len(points) * points.T.dot(points) - np.multiply.outer(total, total)


class GMML(Pairs, NearPrior):
    """Minimize tr A S + tr A^-1 D, where A is the metric.

    S is mu A_0^-1 plus the sum of X_ij over similar pairs, and D is mu A_0 plus the sum over dissimilar pairs.
    """

    READS = frozenset({"weight", "mu", "prior", "pairs"})

    def __init__(self, content):
        super().__init__(content)
        require(self.params["weight"] == 0.5, "only a bound for the weight 1/2 can be recomputed")
        mu = self.number("mu")
        require(mu >= 0, f"mu is {self.params['mu']}, and must be at least 0")
        self.read_prior(self.params.get("prior", np.eye(self.d)))
        volume, adjugate = inverse(self.prior)
        # mu A_0^-1 and mu A_0 are integers of these units
        units = mu / (self.of * volume), mu * self.of
        square = self.unit**2
        self.one = Fraction(1, lcm(square.denominator, *(each.denominator for each in units)))
        self.S, self.T = (
            sum_over(self.X, listed) * int(square / self.one) + added * int(own / self.one)
            for listed, added, own in zip((self.similar, self.dissimilar), (adjugate, self.prior), units)
        )

    def objective(self, at):
        determinant(at.matrix)
        det, adjugate = inverse(at.matrix)
        A, by = at.matrix, at.unit
        return ((A * self.S).sum() * by + (adjugate * self.T).sum() / (det * by)) * self.one

    def scale(self, at, objective):
        return objective

    def bound(self, dual):
        Y, fine = whole(dual["Y"])
        require(Y.shape == (self.d, self.d) and (Y == Y.T).all(), "Y is not symmetric")
        left = self.T * fine.denominator**2 - Y.dot(self.S).dot(Y) * fine.numerator**2
        require(psd(left), "D - Y S Y is not psd")
        return 2 * (self.S * Y).sum() * fine * self.one


class SDML(Pairs, NearPrior):
    """Minimize tr S M - log det M + lam sum |M_ij| off the diagonal, where S is A_0^-1 + eta (sum_S X_ij - sum_D X_ij)

    The S under the sum are the similar pairs. The scale is the number of features.
    """

    READS = frozenset({"eta", "lam", "prior", "pairs"})

    def __init__(self, content):
        super().__init__(content)
        self.eta, self.lam = self.number("eta"), self.number("lam")
        require(self.eta > 0 and self.lam >= 0, "eta must be greater than 0, and lam at least 0")
        self.read_prior(self.params["prior"])
        determinant(self.prior, "the prior is not positive definite")

    def in_one_unit(self, fine):
        """S (d, d) as integers, and their unit, which is chosen so that the fraction `fine` is an integer times it.

        So S can be added to a matrix with the unit `fine`.
        """
        det, adjugate = inverse(self.prior)
        parts = (1 / (det * self.of), self.eta * self.unit**2, fine)
        one = Fraction(1, lcm(*(part.denominator for part in parts)))
        T = sum_over(self.X, self.similar) - sum_over(self.X, self.dissimilar)
        return adjugate * int(parts[0] / one) + T * int(parts[1] / one), one

    def objective(self, at):
        (S, one), A, by = self.in_one_unit(Fraction(1)), at.matrix, at.unit
        off = abs(A).sum() - np.trace(A)
        logs = log(determinant(A)), self.d * log(by)
        spent = (A * S).sum() * one * by + self.lam * off * by
        return spent - sum(logs) + ALLOWED * sum(map(abs, logs))

    def scale(self, at, objective):
        return Fraction(self.d)

    def bound(self, dual):
        U, fine = whole(dual["U"])
        require(U.shape == (self.d, self.d) and (U == U.T).all(), "U is not symmetric")
        require(
            not np.diag(U).any() and (abs(U) * fine <= self.lam).all(),
            "the diagonal of U must be 0, and its other entries from -lam to lam",
        )
        S, one = self.in_one_unit(fine)
        logs = log(determinant(S + U * int(fine / one), "S + U is not positive definite")), self.d * log(one)
        return self.d + sum(logs) - ALLOWED * sum(map(abs, logs))


class LFDA(Problem):
    """Minimize - tr (T^T S_w T)^-1 T^T S_b T for a T (d, r) with the range of the metric.

    r is n_components, the rank of the metric. S_w and S_b are the local scatter matrices within and between classes,
    sums over all i and j. S_w is the sum of A_ij X_ij / (2 n_c) over points of one class of n_c points, plus alpha I.
    S_b is the sum of X_ij / (2 n) over points of two classes, plus the sum of A_ij X_ij (1/n - 1/n_c) / 2 over points
    of one class. A is computed by `affinities`. The scale is minus the objective.
    """

    READS = frozenset({"n_components", "n_neighbors", "embedding", "alpha"})

    def __init__(self, content):
        super().__init__(content)
        self.S_w, self.S_b, self.one = self.local_scatter()
        self.r = rank_of(self.params["n_components"], self.d)
        determinant(self.S_w, "S_w is singular")
        self.largest = int(max(abs(v) for v in self.S_w.flat))
        powers = np.array([half_power(v * self.one) for v in np.diag(self.S_w)])
        # units of the features that make the diagonal of S_w about 1 if it is divided by its largest entry
        self.size = np.exp2(powers - powers.max())

    def local_scatter(self):
        """S_w and S_b (d, d) as integers, and their common unit."""
        X, n, k, y = self.X, self.n, self.params["n_neighbors"], np.array(self.y)
        alpha = self.number("alpha")
        fits = y.shape == (n,) and alpha >= 0 and k >= 1
        require(fits, f"there must be {n} labels, n_neighbors must be at least 1, and alpha at least 0")
        classes = [np.flatnonzero(y == c) for c in sorted(set(y.tolist()))]
        common = lcm(n, *map(len, classes))
        within, errors = np.zeros((n, n), object), np.zeros((n, n), object)
        between = np.full((n, n), common // n * FINE, dtype=object)
        for own in classes:
            require(len(own) > k, f"a class has {len(own)} points, and must have more than n_neighbors, {k}")
            affinities = self.affinities(X[own], k)
            within[np.ix_(own, own)] = affinities * (common // len(own))
            errors[np.ix_(own, own)] = common // len(own)
            between[np.ix_(own, own)] = affinities * (common // n - common // len(own))
        step = self.unit**2 / (2 * FINE * common)  # every two points are there in both orders
        one = Fraction(1, lcm(step.denominator, alpha.denominator))
        S_w, S_b, lost = (outer_sum(X, weights) * int(step / one) for weights in (within, between, errors))
        S_w = S_w + identity(self.d) * int(alpha / one)
        require(psd(S_w * ALLOWED.numerator - lost * ALLOWED.denominator), "S_w is too close to singular")
        return S_w, S_b, one

    def affinities(self, X, k):
        """exp(-D_ij / (s_i s_j)) for the points X of one class, (m, m), as integers in units of 1 / FINE; 0 for i = j.

        s_i: the distance of point i to its k-th nearest point in X.
        """
        D = distances(X, identity(self.d))
        nearest = [sorted(row)[k] for row in D.tolist()]
        found = np.zeros((len(X), len(X)), object)
        for i, j in itertools.permutations(range(len(X)), 2):
            found[i, j] = affinity(D[i, j], nearest[i] * nearest[j])
        return found

    def in_units(self, A, by):
        """The matrix A times `by`, as floats, in units of the features that make the diagonal of S_w about 1.

        A: integers (d, d). by: their unit.
        """
        return np.array([[float(v * by) for v in row] for row in A]) / np.outer(self.size, self.size)

    def eigenvectors(self):
        """The increasing eigenvalues of S_b v = lambda S_w v, and the eigenvectors v as columns, in floats."""
        by = Fraction(1, self.largest)
        near_w, near_b = self.in_units(self.S_w, by), self.in_units(self.S_b, by)
        back = np.linalg.inv(np.linalg.cholesky(near_w))
        values, V = np.linalg.eigh(back @ near_b @ back.T)
        return values, back.T @ V / self.size[:, None]

    def range_of(self, at):
        """Integers T (d, r) with columns that span the range of a Metric."""
        scaled = np.array([[float(v * at.unit) for v in row] for row in at.matrix])
        scaled = scaled * self.size * self.size[:, None]
        return whole(np.linalg.eigh(scaled)[1][:, self.d - self.r :] / self.size[:, None])[0]

    def objective(self, at):
        T = self.range_of(at)
        det, adjugate = inverse(T.T.dot(self.S_w).dot(T))
        return -Fraction(int((adjugate * T.T.dot(self.S_b).dot(T)).sum()), int(det))

    def embedded(self, at):
        """The metric that the parameter "embedding" prescribes for the range of a Metric: integers and their unit.

        For T with this range it is P = T (T^T S_w T)^-1 T^T ("plain"), P S_b P ("weighted"), or T (T^T T)^-1 T^T
        ("orthonormal").
        """
        T = self.range_of(at)
        det, adjugate = inverse(T.T.dot(self.S_w).dot(T))
        plain, unit = T.dot(adjugate).dot(T.T), 1 / (det * self.one)
        if self.params["embedding"] == "weighted":
            return plain.dot(self.S_b).dot(plain), unit**2 * self.one
        if self.params["embedding"] == "orthonormal":
            det, adjugate = inverse(T.T.dot(T))
            return T.dot(adjugate).dot(T.T), Fraction(1, int(det))
        known = self.params["embedding"] == "plain"
        require(known, f"the embedding {shown(self.params['embedding'])} is not known here")
        return plain, unit

    def misfit(self, at):
        """The squared distance of a Metric from the result of `embedded`, relative to the squared norm of that result.

        The distance and the norm are measured in coordinates in which S_w is I.
        """
        metric, unit = self.embedded(at)
        ratio = at.unit / unit
        off, there = at.matrix * ratio.numerator - metric * ratio.denominator, metric * ratio.denominator
        return Fraction(self.square(off)) / max(1, self.square(there))

    def square(self, A):
        """tr S_w A S_w A^T, the squared norm of A in coordinates in which S_w is I."""
        return (self.S_w.dot(A) * A.dot(self.S_w)).sum()

    def metrics(self, matrix):
        found = super().metrics(matrix)
        for at in found:
            require(
                self.misfit(at) <= Fraction(1, 10**12), "the metric differs from the metric of its embedding"
            )
        return found

    def deviations(self, M):
        yield from super().deviations(M)
        shares = [math.sqrt(self.misfit(at)) for at in self.judged_as(M)]
        what = "in coordinates in which S_w is I, it is not of the embedding asked for"
        yield Deviation(min(shares), what)
        yield Deviation(max(shares), what, False)

    def scale(self, at, objective):
        return -objective

    def lost(self, objective):
        # S_w and S_b are off by at most ALLOWED S_w
        return 4 * ALLOWED * (self.r + abs(objective))

    def bound(self, dual):
        values, V = self.eigenvectors()
        (price,), fine = numbers(dual, "s", 1)
        N, size = whole((V * np.maximum(values - float(price * fine), 0)) @ V.T)
        N, size = N + N.T, size / (2 * self.largest)
        pulled, s_w, s_b = self.S_w.dot(N).dot(self.S_w), self.S_w, self.S_b
        ceiling = Fraction(float(values[-1]))
        for share in SHARES:
            s = price * fine + ceiling / 2**share
            left = pulled * (size.numerator * s.denominator) + s_w * (s.numerator * size.denominator)
            if psd(left - s_b * (size.denominator * s.denominator)):
                bound = -(self.r * s + (s_w * N).sum() * size)
                return bound - ALLOWED * abs(bound)
        raise ValueError(
            "the stored dual variable s proves no lower bound: no matrix N was found that is feasible with it"
        )


def half_power(x):
    """log2(x) / 2 of a fraction above 0, rounded to an integer. x may be too large or too small for a float."""
    exponent = (x.numerator.bit_length() - x.denominator.bit_length()) // 2
    return np.round(np.log2(float(x / Fraction(4) ** exponent)) / 2 + exponent)


def affinity(D, product):
    """exp(-D / sqrt(product)) in units of 1 / FINE, rounded down to an integer; 0 if the product is 0."""
    if not product:
        return 0
    power = -DECIMALS.divide(decimal.Decimal(int(D)), DECIMALS.sqrt(decimal.Decimal(int(product))))
    # below e^-280 it is less than 1 / FINE
    return int(DECIMALS.multiply(DECIMALS.exp(power), decimal.Decimal(FINE))) if power > -280 else 0


# ---- rankings: mlr ----


class MLR(Problem):
    """Minimize tr W + C/n sum over n queries q of max over rankings of [loss - margin], where W is the metric.

    A query is a point q with relevant points, which are given, and other points: P points are relevant, and N are not.
    The maximum is over all rankings of these points. The loss is 1 minus the measure of the ranking, for example its
    AUC. The margin is 2/(P N) sum (D_qj - D_qi) over the pairs of a relevant i and another j that is ranked before i.
    """

    READS = frozenset({"C", "measure", "k", "relevant"})

    def __init__(self, content):
        super().__init__(content)
        self.C, n = self.number("C"), self.n
        self.relevant = neighbor_lists(self.params["relevant"], n)
        self.queries = [q for q in range(n) if 0 < len(self.relevant[q]) < n - 1]
        fits = self.C > 0 and self.queries
        require(fits, "C must be greater than 0, and a point must have relevant and other points")
        self.tables = {P: self.earned(P, n - 1 - P) for P in {len(self.relevant[q]) for q in self.queries}}
        self.others = {q: [j for j in range(n) if j != q and j not in self.relevant[q]] for q in self.queries}

    def earned(self, P, N):
        """A table (P, N + 1): the summand of each relevant point in the measure of a ranking, for example its AUC.

        Row p - 1 and column g are for the p-th relevant point of the ranking, if g other points are ranked before it. P
        and N: the numbers of relevant and of other points of a query. The entries are fractions. Raises ValueError for
        an unknown measure, and for k below 1.
        """
        measure, k = self.params["measure"], self.params["k"]
        k = min(k, P, N) if measure == "precision" else min(k, P)
        if measure == "ndcg":
            c = [Fraction(1)] + [log(Fraction(2)) / log(Fraction(r)) for r in range(2, k + 1)]
            c = [own / sum(c) for own in c] + [Fraction(0)] * (P + N)
        rules = {
            "auc": lambda p, r: Fraction(N - r + p, P * N),
            "precision": lambda p, r: Fraction(int(r <= k), k),
            "map": lambda p, r: Fraction(p, P * r),
            "mrr": lambda p, r: Fraction(int(p == 1), r),
            "ndcg": lambda p, r: c[r - 1],
        }
        fits = measure in rules and k >= 1
        require(fits, f"the measure {shown(measure)} is not known here, or k is below 1")
        return [[rules[measure](p, p + g) for g in range(N + 1)] for p in range(1, P + 1)]

    def objective(self, at):
        slacks = (max(self.worst(at, q), Fraction(0)) for q in self.queries)
        return (at.trace() + self.C / len(self.queries) * sum(slacks)) * (1 + ALLOWED)

    def lost(self, objective):
        # the logarithms of ndcg have 60 digits; the other measures are fractions
        return self.C / 10**50 if self.params["measure"] == "ndcg" else 0

    def worst(self, at, q):
        """The largest value of loss minus margin over all rankings for the query q, in a Metric.

        Only the number of others before each relevant point matters, so dynamic programming finds it.
        """
        near, far = at.squares[q, self.relevant[q]], at.squares[q, self.others[q]]
        P, N = len(near), len(far)
        before, best = np.concatenate([[0], np.cumsum(np.sort(far))]), [Fraction(1)] * (N + 1)
        for D, own in zip(np.sort(near), self.tables[P]):
            tops = itertools.accumulate(best, max)
            best = [
                top - gain - 2 * at.step * (before[g] - g * D) / (P * N)
                for g, (top, gain) in enumerate(zip(tops, own))
            ]
        return max(best)

    def bound(self, dual):
        n = self.n
        price, fine = numbers(dual, "price", len(dual["rankings"]))
        require((price >= 0).all(), "a dual variable must be 0 or more")
        rows = index_rows(dual["rankings"], n, n, "rankings")
        sums, gained, weights = dict.fromkeys(self.queries, 0), Fraction(0), np.zeros((n, n), object)
        common = lcm(*(len(self.relevant[q]) * len(self.others[q]) for q in self.queries))
        for (q, *order), mu in zip(rows.tolist(), price):
            require(
                q in sums and sorted([q, *order]) == list(range(n)),
                "a row of rankings must be a query, and then all other points in the order of the ranking",
            )
            sums[q] += mu
            loss, swapped = self.loss(q, order)
            gained += mu * fine * loss
            for point, count in swapped:
                weights[q, point] += (
                    mu * count * (2 * common // (len(self.relevant[q]) * len(self.others[q])))
                )
        # if rounding made the sum of a query more than C/n, or Z leave the cone, all prices are made smaller
        most = max(max(sums.values()) * fine * len(self.queries) / self.C, Fraction(1))
        require(most <= 1 + Fraction(1, 2**40), "the dual variables of a query add up to more than C/n")
        pull, of = outer_sum(self.X, weights), fine * self.unit**2 / common
        one = identity(self.d) * of.denominator
        a, b = shares(one - pull * of.numerator, one)
        bound = gained * Fraction(a, a + b) / most
        return bound - ALLOWED * abs(bound)

    def loss(self, q, order):
        """The loss of a ranking for the query q, and a list of (point, count) over its points.

        order: all points but q, best first. The absolute value of count is the number of pairs in the wrong order that
        contain the point. count is negative for a relevant point.
        """
        relevant, P, g, p, loss, swapped = set(self.relevant[q]), len(self.relevant[q]), 0, 0, Fraction(1), []
        for point in order:
            if point in relevant:
                loss, p = loss - self.tables[P][p][g], p + 1
                swapped.append((point, -g))
            else:
                g += 1
                swapped.append((point, P - p))
        return loss, swapped


# ---- rows of the simplex: mcml and nca ----


def softmax(X, M, i):
    """The row (n,) of exp(-<M, X_ik>) divided by its sum over k != i, in floats; 0 for k = i. X: the points (n, d)."""
    D = np.einsum("ij,jk,ik->i", X[i] - X, M, X[i] - X)
    e = np.exp(-(D - np.delete(D, i).min()))
    e[i] = 0.0
    return e / e.sum()


class MCML(Problem):
    """Minimize sum_i ( mean_j D_ij + log sum_k exp(-D_ik) )

    The mean is over the other points j of the class of i, and the sum is over all k != i. A point that is alone in its
    class has no term.
    """

    def __init__(self, content):
        super().__init__(content)
        y, n = np.array(self.y), self.n
        require(len(y) == n, "there must be one label and one row of q for each point")
        self.mates = (y[:, None] == y) & ~np.eye(n, dtype=bool)
        self.used = np.flatnonzero(self.mates.any(axis=1)).tolist()

    def objective(self, at):
        return sum(self.term(at, i) for i in self.used)

    def term(self, at, i):
        """The term of point i in the objective."""
        mates = [at.D(i, j) for j in np.flatnonzero(self.mates[i]).tolist()]
        return sum(mates) / len(mates) + at.log_sum_exp([-at.D(i, k) for k in range(self.n) if k != i])

    def lost(self, objective):
        return ALLOWED * self.n

    def bound(self, dual):
        require(
            "q" in dual,
            "the dual has no q; for a file with a metric in its place use `cvxml certify`",
        )
        mates, n, q = self.mates, self.n, np.array(dual["q"], float)
        require(q.shape == (n, n), "there must be one label and one row of q for each point")
        rows = np.zeros((n, n), object)
        for i in self.used:
            require(q[i, i] == 0, f"the entry ({i}, {i}) of q must be 0")
            rows[i] = of_simplex(q[i], "a row")
        common = lcm(*(int(m) for m in mates.sum(axis=1)[self.used]))
        pull = np.zeros((n, n), object)
        for i in self.used:
            pull[i, mates[i]] = ONE * (common // int(mates[i].sum()))
        strict = strict_rows(self.floats(), mates, rows)
        a, b = shares(outer_sum(self.X, pull - common * rows), outer_sum(self.X, pull - common * strict))
        return sum(entropy(a * rows[i] + b * strict[i]) for i in self.used)


def strict_rows(X, mates, rows):
    """Rows q (n, n) in units of 1 / ONE for which Z = sum (w_ij - q_ij) X_ij is clearly positive definite, if possible.

    Five metrics are tried, multiples of the inverse of sum w_ij X_ij, and each gives softmax rows. The rows with the
    largest least eigenvalue of Z are returned. They are 0 where `rows` are 0. X: the points (n, d). mates (n, n): True
    for two points of one class.
    """
    used, n = mates.any(axis=1), len(X)
    weights = mates / np.maximum(mates.sum(axis=1, keepdims=True), 1)
    apart = X[:, None] - X
    unit = np.abs(apart).max(axis=(0, 1))
    apart = apart / np.where(unit > 0, unit, 1.0)
    C = np.einsum("ij,ijk,ijl->kl", weights, apart, apart)
    values, vectors = np.linalg.eigh(C)
    kept = values > 1e-13 * values.max(initial=0.0)
    Y = apart @ (vectors[:, kept] / np.sqrt(values[kept]))
    D = np.where((rows > 0) & used[:, None], (Y**2).sum(axis=2) * n, np.inf)
    found = []
    for size in (0.3, 1.0, 3.0, 10.0, 30.0):
        with np.errstate(invalid="ignore"):
            e = np.where(used[:, None], np.exp(-size * (D - D.min(axis=1, keepdims=True))), 0.0)
        e = e / np.maximum(e.sum(axis=1, keepdims=True), 1.0)
        Z = np.einsum("ij,ijk,ijl->kl", weights - e, Y, Y)
        found.append((np.linalg.eigvalsh(Z)[0] if len(Z) else 0.0, size, e))
    e = max(found, key=lambda item: item[:2])[2]
    strict = np.zeros((n, n), object)
    for i in np.flatnonzero(used):
        strict[i] = of_simplex(e[i], "a row")
    return strict


# ---- to first order: mlkr, and nca if the rank is limited ----


class LimitedRank(Problem):
    """A problem for metrics A^T A, where A has `n_components` rows."""

    def __init__(self, content):
        super().__init__(content)
        self.rank = rank_of(self.params["n_components"], self.d)
        around = self.n * self.X - self.X.sum(axis=0)
        self.C = around.T.dot(around)  # the covariance times n^3
        self.basis = independent(self.C)

    def metrics(self, matrix):
        return [self.measured(A, unit) for A, unit in candidates(matrix, self.d, self.rank)]

    def first_order(self, matrix, at, weights, fine, off):
        """Return |A|^2, and a bound of the gain to first order by a change of the rows of A, or by a new row.

        The metric is A^T A, and lengths are measured in coordinates of unit covariance. The change, or the new row, is
        at most max(|A|, 1) long. A new row is possible if A has a free row (`rows_are_long`), or if the metric may have
        full rank. matrix: the metric in floats. at: the same as a Metric.

        weights (n, n): integers; `fine` times the sum of weights_ij X_ij is the gradient of the objective by A^T A.
        off: a bound of the error of each product of weights_ij and `fine`.
        """
        n, M, of, basis = self.n, at.matrix, at.unit, self.basis
        C, c = self.C, self.unit**2 / n**3
        G, g = outer_sum(self.X, weights), fine * self.unit**2
        H, near = G[basis], C[np.ix_(basis, basis)]
        det, adjugate = inverse(near)
        long = (C * M).sum() * c * of
        size = max(root(long) * (1 + ALLOWED), Fraction(1))
        # the sum of all |y_i - y_j|^2 is 2 n^2 r if the y have unit covariance in r dimensions
        lost = 2 * n**2 * len(basis) * off
        square = 4 * (M.dot(H.T).dot(adjugate) * H.T).sum() * g**2 * of / (det * c)
        gradient = size * (root(max(square, Fraction(0))) * (1 + ALLOWED) + 2 * size * lost)
        if self.rank < len(basis) and self.rows_are_long(matrix, c):
            return long, gradient
        return long, max(gradient, size**2 * (free_row_gain(H[:, basis], near) * g / c + lost))

    def rows_are_long(self, matrix, c):
        """True if no row of A is free: all rows are long, also after any rotation of the rows.

        Long means a squared length above INVISIBLE (1e-6) in coordinates of unit covariance. matrix: the metric A^T A
        in floats. c: the unit of the covariance.
        """
        L, by = root_near(matrix, self.d, self.rank)
        ratio = c * by / INVISIBLE
        rows = L.T.dot(self.C).dot(L) * ratio.numerator
        return eliminate(rows - identity(self.rank) * ratio.denominator, self.rank) is not None


def free_row_gain(G, C):
    """A number t >= 0, nearly the smallest, with G + t C psd: a new row of length L gains at most L^2 t.

    G and C are matrices of integers, and C is positive definite.
    """
    if psd(G):
        return Fraction(0)
    largest = Fraction(int(np.abs(G).max()), int(np.abs(C).max()))
    scale = np.sqrt(np.diag(floats(C)))
    values, back = np.linalg.eigh(floats(C) / np.outer(scale, scale))
    back = back / np.sqrt(np.maximum(values, 2.0**-52 * values[-1])) / scale[:, None]
    guess = max(0.0, -float(np.linalg.eigvalsh(back.T @ floats(G) @ back)[0]))
    for k in range(50, -10, -10):
        t = Fraction(guess * (1 + 2.0**-k) + 2.0**-k) * largest
        if psd(G * t.denominator + C * t.numerator):
            return t
    raise ValueError("no multiple t with G + t C psd is found")


def ties(row, i, largest):
    """The points that are nearest to point i, including ties up to rounding.

    row: squared distances from i to all points, integers. largest: the largest squared distance of any two points.
    """
    low = min(v for j, v in enumerate(row) if j != i)
    near = low + max(low // NEAR_TIE, largest // ROUNDED)
    return [j for j, v in enumerate(row) if j != i and v <= near]


def resolved(objective, scales, turns, long, is_zero):
    """The scale: the smallest of several numbers; 0 if rounding of the objective could explain it.

    The numbers are `scales`, and 4 turns / min(long, 1). For the metric 0 (`is_zero`), the result is the first of
    `scales`. Rounding could explain a number of at most 2^-46 times the objective.

    turns: the sum of the absolute values of the terms of the derivative of the objective along multiples of the metric.
    long: |A|^2 for the metric A^T A, in coordinates of unit covariance.
    """
    if is_zero:
        return scales[0]
    least = min(*scales, PLENTY * turns / (min(long, 1) if long else 1))
    return least if least > abs(objective) / ROUNDED else Fraction(0)


class MLKR(LimitedRank):
    """Minimize sum_i (yhat_i - y_i)^2, where yhat_i is the mean of the other targets y_j with weights exp(-D_ij)."""

    READS = frozenset({"n_components"})
    CLAIM = "first order"

    def __init__(self, content):
        super().__init__(content)
        self.targets, self.fine = whole(self.y)
        fits = self.targets.shape == (self.n,) and self.targets.min() < self.targets.max()
        require(fits, "the targets must be one for each point, and not all the same")

    def objective(self, at):
        rows = (self.errors(at, i) for i in range(self.n))
        return (
            sum(Fraction(int((e * from_y).sum()), int(e.sum())) ** 2 for _, e, from_y in rows) * self.fine**2
        )

    def errors(self, at, i):
        """Three arrays over j, for the point i: the distance v_j = D_ij - min_k D_ik, exp(-v_j), and y_j - y_i.

        All are integers. The first is in units of at.step, the second in units of 1 / ONE, the last in units of
        self.fine.
        """
        row = at.squares[i]
        beyond = np.maximum(row - np.delete(row, i).min(), 0)
        e = np.array(exponentials(beyond, at.step), object)
        e[i] = 0
        return beyond, e, self.targets - self.targets[i]

    def derivative(self, at):
        """Three results at a Metric: `turns`, the weights (n, n) of the X_ij in the gradient of F, and a limit of F.

        F is the objective. turns: half the sum of the absolute values of the terms of dF(tA)/dt at t = 1, an integer in
        units of at.step fine^2 / ONE^3. The weights are integers in units of fine^2 / ONE^3. The limit is that of F for
        growing multiples of the metric.
        """
        limit, turns, weights, largest = Fraction(0), 0, np.zeros((self.n, self.n), object), at.squares.max()
        for i in range(self.n):
            beyond, e, from_y = self.errors(at, i)
            p = e * ONE // e.sum()
            error = (p * from_y).sum()
            weights[i] = 2 * error * p * (error - ONE * from_y)
            turns += (np.abs(weights[i]) * beyond).sum()
            tied = ties(at.squares[i], i, largest)
            limit += Fraction(int(from_y[tied].sum()), len(tied)) ** 2
        return turns, weights, limit * self.fine**2

    def error(self):
        """A number much larger than the error of a weight of `derivative`, from rounded exponentials and divisions."""
        spread = Fraction(int(self.targets.max() - self.targets.min())) * self.fine
        return self.n * spread**2 / (ONE >> 10)

    def gain(self, matrix, at, dual):
        """The most that a change of the metric gains to first order, and the scale.

        matrix: the metric in floats. at: the same as a Metric. dual: not used.
        """
        off = self.error()
        turns, weights, limit = self.derivative(at)
        unit = self.fine**2 / ONE**3
        long, most = self.first_order(matrix, at, weights, unit, off)
        F = self.objective(at)
        scale = resolved(F, [F, abs(F - limit)], 2 * turns * at.step * unit, long, not at.matrix.any())
        return most + self.n * off, scale

    def proof(self, matrix, dual):
        metrics = self.metrics(matrix)
        most, scale = self.gain(matrix, metrics[-1], dual)
        lost = self.n * self.error()
        return max(map(self.objective, metrics)) + lost, self.objective(metrics[-1]) - most, scale

    def step(self, at):
        """Return the objective, a function of a Metric: this method is judged without a convex step."""
        return self.objective


class NCA(LimitedRank):
    """Minimize - sum_i p_i (criterion f) or - sum_i log p_i (criterion g), with p_i = sum_j s_ij p_ij

    p_ij is the softmax of -D_ij over j != i. The similarity s_ij >= 0 is given; by default it is 1 for two points of
    one class, else 0. A partner of i is a point j with s_ij > 0. The sums are over the points i with a partner.
    """

    READS = frozenset({"criterion", "n_components", "similarity"})

    def __init__(self, content):
        super().__init__(content)
        criterion, n = self.params["criterion"], self.n
        require(criterion in ("f", "g"), f"the criterion {shown(criterion)} is not known here")
        s = (
            self.same_class()
            if self.params["similarity"] is None
            else np.array(self.params["similarity"], float)
        )
        fits = s.shape == (n, n) and (s >= 0).all() and not np.diag(s).any()
        require(fits, f"the similarity must be ({n}, {n}), not negative, and 0 on its diagonal")
        self.used, self.accuracy = np.flatnonzero(s.any(axis=1)).tolist(), criterion == "f"
        self.s, self.of = whole(s)
        best = [self.s[i].max() * self.of for i in self.used]
        self.trivial = -sum(best if self.accuracy else map(log, best))  # no objective is below this
        partners = (s != 0).sum(axis=1).max()
        convex = not self.accuracy and partners <= 1
        self.CLAIM = "first order" if self.rank < len(self.basis) else "optimal" if convex else "step"

    def same_class(self):
        """The matrix (n, n) with 1 for two different points of one class, and 0 elsewhere."""
        y = np.array(self.y)
        return (y[:, None] == y) * (1.0 - np.eye(len(y)))

    def likelihood(self, at, i):
        """Five results for the point i: e (n,), sum_j s_ij e_j, sum_j e_j, p_i, and v (n,).

        v_j = D_ij - min_k D_ik, and e_j is exp(-v_j) in units of 1 / ONE, with e_i = 0. In the second result, the s_ij
        are integers, without their unit. Raises ValueError if p_i is below 2^-60 of the largest s_ij.
        """
        row = at.squares[i]
        low = np.delete(row, i).min()
        e = exponentials(np.maximum(row - low, 0), at.step)
        e[i] = 0
        wanted, all_ = sum(a * b for a, b in zip(self.s[i], e)), sum(e)
        require(wanted << 60 > self.s[i].max() * all_, f"the probability of point {i} underflows")
        return e, wanted, all_, wanted * self.of / all_, (row - low) * at.step

    def objective(self, at):
        p = [self.likelihood(at, i)[3] for i in self.used]
        return -sum(p if self.accuracy else map(log, p))

    def proof(self, matrix, dual):
        metrics = self.metrics(matrix)
        objective, lost = max(map(self.objective, metrics)), ALLOWED * self.n
        if self.CLAIM == "first order":
            most, scale = self.first_order_gain(matrix, metrics[-1])
            return objective + lost, self.objective(metrics[-1]) - most - lost, scale
        bound = self.step_bound(metrics[-1], *self.stored_rows(dual)) - lost
        return objective + lost, bound, self.scale(metrics[-1], objective)

    def scale(self, at, objective):
        """The distance of the objective from its lower bound by p_i <= max_j s_ij, or from its limit if that is nearer.

        The limit is that of the objective for growing multiples of the metric. For the metric 0 it does not count.
        """
        objective, limit = self.objective(at), 0
        for i in self.used:
            beyond = self.likelihood(at, i)[4]
            nearest = [j for j in range(self.n) if j != i and beyond[j] == 0]
            limit -= self.term_at_limit(i, nearest)
        bounded = at.matrix.any() and limit < math.inf
        return min(objective - self.trivial, abs(objective - limit) if bounded else objective - self.trivial)

    def term_at_limit(self, i, nearest):
        """The limit of p_i (criterion f) or log p_i (g) for growing multiples of a metric.

        nearest: the points nearest to i; only these count in the limit.
        """
        p = Fraction(int(self.s[i, nearest].sum()), len(nearest)) * self.of
        if self.accuracy:
            return p
        return log(p) if p else -math.inf

    def first_order_gain(self, matrix, at):
        """The most that a change of the metric gains to first order, and the scale.

        matrix: the metric in floats. at: the same as a Metric.
        """
        off = (
            self.n * max(Fraction(1), self.s.max() * self.of) / (ONE >> 80)
        )  # no p_i is below 2^-60 of the largest s_ij
        limit, turns, weights = 0, 0, np.zeros((self.n, self.n), object)
        largest = at.squares.max()
        for i in self.used:
            e, wanted, all_, p, _ = self.likelihood(at, i)
            c = math.floor(p * ONE) if self.accuracy else ONE
            for j, v in enumerate(e):
                weights[i, j] = c * (int(self.s[i, j]) * v * ONE // wanted - v * ONE // all_)
            row = at.squares[i]
            turns += (np.abs(weights[i]) * np.maximum(row - np.delete(row, i).min(), 0)).sum()
            limit -= self.term_at_limit(i, ties(row, i, largest))
        long, most = self.first_order(matrix, at, weights, Fraction(1, ONE**2), off)
        objective = self.objective(at)
        above = objective - self.trivial
        away = abs(objective - limit) if limit < math.inf else above
        turns = 2 * turns * at.step / ONE**2
        return most, resolved(objective, [above, away], turns, long, not at.matrix.any())

    def softmax_rows(self, matrix):
        """The rows softmax(-<R, X_ij>) over j != i for each i with a partner, (n,) integers each, in units of 1 / ONE.

        matrix: R (d, d).
        """
        M, X = np.array(matrix, float), self.floats()
        return [of_simplex(softmax(X, M, i), "a row") for i in self.used]

    def stored_rows(self, dual):
        """Two lists of softmax rows, from the matrices "R" and "interior" (d, d) of a dual; and its "theta".

        theta is the share of the second list in the rows q (module docstring). The rows of "interior" are strictly
        feasible. Raises ValueError for other shapes, and for a theta outside 0..1.
        """
        require(dual["theta"] != [] or self.content.get("status") != "NOT_ATTAINED", UNATTAINED)
        [share], unit = numbers(dual, "theta", 1)  # the share of the rows that are strictly feasible
        theta = float(int(share) * unit)
        require(0 <= theta <= 1, "theta must be from 0 to 1")
        for name in ("R", "interior"):
            require(np.shape(dual[name]) == (self.d, self.d), f"{name} must be ({self.d}, {self.d})")
        return self.softmax_rows(dual["R"]), self.softmax_rows(dual["interior"]), theta

    def left(self, parts, rows):
        """A positive multiple of the matrix Z of the convex step, (d, d), in integers.

        The bound of the step holds if Z is psd. Rounding makes the result smaller, never larger. parts: the results of
        `likelihood` for each point with partners. rows: the q_i of these points, in units of 1 / ONE.
        """
        weights = np.zeros((self.n, self.n), object)
        for i, row, (e, wanted, _, p, _) in zip(self.used, rows, parts):
            weights[i] = -math.ceil((p * (1 + ALLOWED) if self.accuracy else 1) * ONE) * np.array(row, object)
            for j in np.flatnonzero(self.s[i]):
                less = Fraction(int(self.s[i, j]) * max(e[j] - 2, 0), wanted)
                weights[i, j] += math.floor((p if self.accuracy else 1) * less * (1 - ALLOWED) * ONE) * ONE
        return outer_sum(self.X, weights)

    def bound_of_rows(self, parts, rows):
        """The bound of the convex step from rows q_i >= 0, which are divided by their sums.

        parts: the results of `likelihood` for each point with partners.
        """
        bound = Fraction(0)
        for i, row, (e, wanted, all_, p, beyond) in zip(self.used, rows, parts):
            pulled = sum(int(self.s[i, j]) * e[j] * beyond[j] for j in np.flatnonzero(self.s[i])) / wanted
            known = pulled + log(Fraction(all_, ONE))
            bound += p * (entropy(row) - known) - p if self.accuracy else entropy(row) - known - log(p)
        return bound

    def step_bound(self, at, near, interior, theta):
        """The bound of the convex step at the Metric, from the rows (1 - theta) near + theta interior.

        near, interior: lists with one row for each point with partners. The rows of `interior` are strictly feasible. A
        larger theta is taken if Z is not psd.
        """
        parts, share = [self.likelihood(at, i) for i in self.used], int(Fraction(theta) * ONE)
        Z, better = self.left(parts, near), self.left(parts, interior)
        a, b = shares((ONE - share) * Z + share * better, ONE * better, "the rows leave the dual cone")
        return self.bound_of_rows(parts, mixed(near, interior, a * (ONE - share), a * share + b * ONE))

    def gain(self, matrix, at, dual):
        """A bound of the gain of the convex step at the metric, and None in place of the scale, which `scale` returns.

        matrix: the metric in floats. at: the same as a Metric. dual: the stored "R" and "interior" (d, d). The bound is
        the better one of two: from the softmax rows of R, and from those of the metric itself.
        """
        interior = self.softmax_rows(dual["interior"])
        found = [self.best_bound(at, self.softmax_rows(M), interior) for M in (dual["R"], matrix)]
        return self.objective(at) - max(found), None

    def best_bound(self, at, near, interior):
        """The best bound of the convex step over several mixtures of rows; -inf if no mixture makes Z psd.

        near, interior: lists with one row for each point with partners. A mixture is (1 - theta) near + theta interior,
        with the same theta for all points. The rows of `interior` are strictly feasible.
        """
        parts = [self.likelihood(at, i) for i in self.used]
        Z, better = self.left(parts, near), self.left(parts, interior)
        every = [int(Fraction(theta) * ONE) for theta in [0.0] + [10.0 ** (k / 4) for k in range(-55, -3)]]
        feasible = [share for share in every if psd((ONE - share) * Z + share * better)]
        if not feasible:
            return -math.inf
        # only the entropies depend on the share, and floats are enough to choose one
        c = np.array([float(part[3]) if self.accuracy else 1.0 for part in parts])
        rows, others = ((np.array(q, object) / ONE).astype(float) for q in (near, interior))

        def entropies(share):
            q = rows + share / ONE * (others - rows)
            return -c @ (q * np.log(np.where(q > 0, q, 1))).sum(axis=1)

        share = max(feasible, key=entropies)
        return self.bound_of_rows(parts, mixed(near, interior, ONE - share, share))

    def step(self, at):
        """Return the convex step at `at`: the function sum c_i (sum_j w_ij D_ij + log sum exp -D_ik) of another Metric.

        c and w are those of the module docstring at the metric `at`. The constant of the step is left out.
        """
        c, w = [], []
        for i in self.used:
            row, partners = at.squares[i], np.flatnonzero(self.s[i]).tolist()
            # compared with the nearest partner, so that no weight underflows
            e = exponentials(row[partners] - min(row[partners]), at.step)
            wanted = sum(int(self.s[i, j]) * v for j, v in zip(partners, e))
            w.append({j: Fraction(int(self.s[i, j]) * v, wanted) for j, v in zip(partners, e)})
            others = np.delete(np.arange(self.n), i)
            near = exponentials(row[others] - min(row[others]), at.step)
            own = sum(int(self.s[i, j]) * v for j, v in zip(others.tolist(), near))
            c.append(own * self.of / sum(near) if self.accuracy else 1)

        def value(other):
            total = Fraction(0)
            for i, weight, own in zip(self.used, c, w):
                pulled = sum(share * other.D(i, j) for j, share in own.items())
                rest = other.log_sum_exp([-other.D(i, k) for k in range(self.n) if k != i])
                total += weight * (pulled + rest)
            return total

        return value


def mixed(rows, others, a, b):
    """The rows a r + b s, integers, where r and s are the rows of `rows` and `others` with the same index."""
    return [[a * v + b * w for v, w in zip(*both)] for both in zip(rows, others)]


# ---- gerrymandering: ssvm ----


def splits(votes, sizes):
    """All tuples with one number of votes for each class, with the sum `votes`; class c has at most sizes[c] votes."""
    if not sizes:
        return [()] if votes == 0 else []
    return [(m, *rest) for m in range(min(votes, sizes[0]) + 1) for rest in splits(votes - m, sizes[1:])]


def task_loss(costs, counts):
    """The largest cost of the classes that tie for the most votes.

    costs, counts: the cost and the number of votes of each class.
    """
    return max(cost for cost, m in zip(costs, counts) if m == max(counts))


class SSVM(Problem):
    """Minimize ||W||^2 + C sum_i (max over h of [Delta - D(i, h)] + D(i, h*_i)), where W is the metric.

    h is a set of k points other than i, and D(i, h) is the sum of D_ij over j in h. Each point of h votes for its
    class, and Delta is the largest cost of a class with the most votes (`task_loss`), for a point of the class of i.
    h*_i is the set with the least D(i, h) among those in which the class of i has more votes than any other.
    """

    READS = frozenset({"C", "n_neighbors", "loss_matrix"})
    CLAIM = "step"

    def __init__(self, content):
        super().__init__(content)
        n, k, Lam = self.n, self.params["n_neighbors"], self.params["loss_matrix"]
        self.C, self.k, self.classes, self.labels = self.number("C"), k, len(Lam), self.y
        fits = self.C > 0 and k in range(1, n) and len(self.y) == n
        require(
            fits, f"C must be greater than 0, n_neighbors from 1 to {n - 1}, and there must be {n} labels"
        )
        require(all(c in range(len(Lam)) for c in self.y), "a label has no row in loss_matrix")
        square = all(len(row) == len(Lam) and row[c] == 0 for c, row in enumerate(Lam))
        positive = square and all(
            0 < v < math.inf for c, row in enumerate(Lam) for e, v in enumerate(row) if e != c
        )
        require(positive, "loss_matrix must be square, 0 on its diagonal, and positive and finite elsewhere")
        self.y = [int(c) for c in self.y]
        self.costs = [[Fraction(float(v)) for v in row] for row in Lam]
        self.plain = distances(self.X, identity(self.d))
        if "tree" in content.get("dual", {}):
            self.CLAIM = "optimal"

    def cheapest_sets(self, order, i):
        """A list of (split, set): the splits of k votes among the classes, and for each the cheapest set for point i.

        The set has the nearest points of each class, as many as the class has votes. order (n, n): the distances that
        decide which points are near.
        """
        others = [[j for j in range(self.n) if self.y[j] == c and j != i] for c in range(self.classes)]
        near = [sorted(points, key=order[i].__getitem__) for points in others]
        votes = splits(self.k, [len(points) for points in near])
        return [(v, [j for points, m in zip(near, v) for j in points[:m]]) for v in votes]

    def latents(self, at):
        """The sets h*_i of all points: the cheapest set in which the class of i wins.

        At the metric 0 all sets cost the same, and the distances in the data decide.
        """
        order, found = at.squares if at.matrix.any() else self.plain, []
        for i in range(self.n):
            own = self.y[i]
            sets = self.cheapest_sets(order, i)
            wins = [h for v, h in sets if all(v[own] > m for c, m in enumerate(v) if c != own)]
            require(wins, f"the class of point {i} cannot win")
            costs = [order[i][h].sum() for h in wins]
            found.append(wins[costs.index(min(costs))])
        return found

    def step(self, at):
        """Return the convex step at `at`: the objective as a function of another Metric, with the h*_i of `at`."""
        latents = self.latents(at)

        def value(other):
            order, losses = other.squares if other.matrix.any() else self.plain, Fraction(0)
            for i in range(self.n):
                row, costs = other.squares[i], self.costs[self.y[i]]
                sets = self.cheapest_sets(order, i)
                losses += max(task_loss(costs, v) - other.step * row[h].sum() for v, h in sets)
                losses += other.step * row[latents[i]].sum()
            return other.norm2() + self.C * losses

        return value

    def objective(self, at):
        return self.step(at)(at)

    def scale(self, at, objective):
        return at.norm2()

    def proof(self, matrix, dual):
        metrics = self.metrics(matrix)
        objective, at = max(map(self.objective, metrics)), metrics[-1]
        bound = self.tree_bound(dual) if "tree" in dual else self.step_bound(self.latents(at), dual)
        return objective, bound, self.scale(at, objective)

    def gain(self, matrix, at, dual):
        """A bound of the gain of the convex step at the metric, and None in place of the scale, which `scale` returns.

        at: the metric as a Metric. dual: the dual variables of the step. matrix: not used.
        """
        return self.objective(at) - self.step_bound(self.latents(at), dual), None

    def counts(self, h):
        """The number of points of each class in the set h."""
        return [sum(self.y[j] == c for j in h) for c in range(self.classes)]

    def step_bound(self, latents, dual):
        """A lower bound of the convex step with the sets h*_i = latents[i], from the dual variables q of sets.

        dual: "q", and "q_index", for each q a row of the point i and the k points of its set. Raises ValueError if the
        q of a point are negative, or do not have the sum 1.
        """
        n, k, losses, weights = self.n, self.k, Fraction(0), np.zeros((self.n, self.n), object)
        rows: list[Any] = [([], []) for _ in range(n)]
        for (i, *h), q in together(dual["q_index"], dual["q"]):
            proper = len(set(h)) == len(h) == k and i not in h and all(j in range(n) for j in (i, *h))
            require(proper, f"{h} is not a set of {k} points other than {i}")
            require(q >= 0, f"the weight of {i}, {h} must be a number, 0 or more")
            rows[int(i)][0].append([int(j) for j in h])
            rows[int(i)][1].append(q)
        for i, (sets, q) in enumerate(rows):
            require(abs(sum(q) - 1) <= 1e-9, "the weights of a point do not add up to 1")
            for h, v in zip(sets, of_simplex(q, "a point's weights")):
                losses += v * task_loss(self.costs[self.y[i]], self.counts(h))
                weights[i, h] += v
            weights[i, latents[i]] -= ONE
        square = (self.C * self.unit**2 / ONE) ** 2 * positive_square(outer_sum(self.X, weights))
        return self.C * losses / ONE - square / 4

    def tree_bound(self, dual):
        """The least bound of the leaves of the tree in the dual: a lower bound of the objective of every metric."""
        n, k = self.n, self.k
        require(n * math.comb(n - 1, k) <= SETS, f"there are more than {SETS} sets of neighbours to list")
        others = [[j for j in range(n) if j != i] for i in range(n)]
        every = [[set(h) for h in itertools.combinations(others[i], k) if self.wins(i, h)] for i in range(n)]
        return self.branch_bound(dual, 0, every)

    def wins(self, i, h):
        """True if the class of i has more votes in h than any other."""
        votes = self.counts(h)
        return all(votes[self.y[i]] > m for c, m in enumerate(votes) if c != self.y[i])

    def branch_bound(self, dual, row, left):
        """The least bound of the leaves below a row of the tree; inf if a point has no winning set left.

        left: the winning sets of each point that the branches above leave.
        """
        if not all(left):
            return math.inf
        i, j, yes, no = (int(v) for v in dual["tree"][row])
        if i < 0:
            return self.leaf_bound(dual, row, left)
        require(yes > row and no > row, "a child in the tree comes before its parent")
        parts = ([h for h in left[i] if j in h], [h for h in left[i] if j not in h])
        return min(
            self.branch_bound(dual, to, [*left[:i], part, *left[i + 1 :]])
            for to, part in zip((yes, no), parts)
        )

    def leaf_bound(self, dual, leaf, left):
        """The bound of a leaf of the tree, from its dual variables q and nu.

        left: the winning sets that are left for each point.
        """
        n, C, y = self.n, self.C, self.y
        inside = [set.intersection(*listed) for listed in left]
        outside = [set(range(n)) - set.union(*listed) - {i} for i, listed in enumerate(left)]
        weights, losses = np.zeros((n, n), object), Fraction(0)
        for i, (sets, q) in enumerate(self.leaf_rows(dual, leaf)):
            require(sum(q) * 10**9 <= ONE * (10**9 + 1), "the weights of a point add up to more than 1")
            for h, v in zip(sets, lowered(q, ONE)):
                losses += v * task_loss(self.costs[y[i]], self.counts(h))
                weights[i, h] += v * C.numerator
                weights[i, list(inside[i])] -= v * C.numerator
        for (at, i, j, other), nu in together(dual["nu_index"], dual["nu"]):
            if at == leaf:
                proper = nu >= 0 and j in inside[i] and other in outside[i]
                require(proper, f"nu of point {i} must be 0 or more, with {j} in its h* and {other} outside")
                require(y[other] in (y[j], y[i]), f"{other} could not take the place of {j}")
                v = int(Fraction(nu) * ONE) * C.denominator
                weights[i, j] -= v
                weights[i, other] += v
        square = (self.unit**2 / (ONE * C.denominator)) ** 2 * positive_square(outer_sum(self.X, weights))
        return C * losses / ONE - square / 4

    def leaf_rows(self, dual, leaf):
        """For each point a pair of lists: its sets with a weight q in a leaf, and these weights times ONE.

        dual: the dual variables of the file. leaf: the number of the leaf, the first entry of a row of "q_index".
        """
        n = self.n
        rows: list[Any] = [([], []) for _ in range(n)]
        for (at, i, *h), q in together(dual["q_index"], dual["q"]):
            if at == leaf:
                proper = q >= 0 and len(set(h)) == len(h) == self.k and i not in h and set(h) <= set(range(n))
                require(
                    proper and i in range(n),
                    "a row is not a set of k other points, or its weight is negative",
                )
                rows[i][0].append(h)
                rows[i][1].append(int(Fraction(q) * ONE))
        return rows


# ---- local metrics: glml ----


class GLML(Problem):
    """Minimize (tr A^-1 B)^2 at each query, over metrics A of determinant 1, where B has the norm 1."""

    READS = frozenset({"query", "alpha", "priors", "model"})
    NAMES = frozenset({"n_components"})
    DEFINITE = True

    def __init__(self, content):
        super().__init__(content)
        params, y = self.params, [int(c) for c in self.y]
        require(params["model"] == "gaussian", f"the model {shown(params['model'])} is not known here")
        require(self.n == len(y) and y == self.y, f"the labels must be {self.n} integers, one for each point")
        require(min(y) >= 0 and max(y) < len(y), "the labels must be 0, 1 and so on")
        require(self.number("alpha") >= 0, f"alpha is {params['alpha']}, and must be at least 0")
        counts = [y.count(c) for c in range(max(y) + 1)]
        priors = counts if params["priors"] == "empirical" else params["priors"]
        priors = [1.0] * len(counts) if priors is None else priors
        fits = min(priors) > 0 and len(priors) == len(counts)
        require(fits, "the priors must be positive numbers, one for each class")
        self.priors = [Fraction(float(p)) for p in priors]
        Q = np.array(params["query"], float)
        self.single = Q.ndim != 2
        points, self.unit = whole(np.concatenate([self.floats(), Q[None] if self.single else Q]))
        self.points, self.queries = points[: self.n], points[self.n :]
        self.gaussians = None  # they are computed at the first use: this takes long for many features

    def gaussian(self, points):
        """The Gaussian of one class: m, m times its mean, kappa, and the `inverse` (determinant and adjugate) of N.

        points: integers (m, d). m is their number, and the mean has their unit. kappa N is the covariance plus alpha I,
        with integers N and a fraction kappa.
        """
        m, alpha = len(points), self.number("alpha")
        ratio = alpha * m * m / self.unit**2
        N = scatter(points) * ratio.denominator + identity(self.d) * ratio.numerator
        return m, points.sum(axis=0), self.unit**2 / (m * m * ratio.denominator), inverse(N)

    def density(self, x, gaussian, prior):
        """Three results for one class at the query x: the log of prior times density up to a constant, N, and f.

        N f is the matrix G of the class in the formula of B: pull pull^T - Sigma^-1 with pull = Sigma^-1 (x - mean). N
        (d, d) are integers, and f is a fraction. Sigma is the covariance plus alpha I. gaussian: the result of
        `gaussian`. prior: the prior probability of the class, up to a factor.
        """
        m, total, kappa, (det, adjugate) = gaussian
        away = m * x - total
        pull = adjugate.dot(away)
        step = self.unit / (m * det * kappa)  # pull here is Sigma^-1 (x - mean) / step
        far = away.dot(pull) * step * self.unit / m
        volume = log(Fraction(det)) + self.d * log(kappa)
        ratio = 1 / (det * kappa * step**2)
        N = np.multiply.outer(pull, pull) * ratio.denominator - adjugate * ratio.numerator
        return log(prior) - volume / 2 - far / 2, N, step**2 / ratio.denominator

    def direction(self, x):
        """A multiple of B at the query x, (d, d) integers, and the largest error of an entry. Both are 0 if B is 0.

        The multiple is positive if there are more than two classes; for two classes its sign does not matter. Raises
        ValueError if rounding leaves open whether B is 0.
        """
        if self.gaussians is None:
            y = np.array(self.y)
            self.gaussians = [self.gaussian(self.points[y == c]) for c in range(len(self.priors))]
        logs, parts, factors = zip(*(self.density(x, *each) for each in zip(self.gaussians, self.priors)))
        if len(parts) == 2:
            ratio, off = factors[0] / factors[1], Fraction(0)
            B = parts[0] * ratio.numerator - parts[1] * ratio.denominator
        else:
            B, off = weighted_sum([N * factor for N, factor in zip(parts, factors)], logs)
        largest = max(abs(v) for v in B.flat)
        require(largest > 0 or off == 0, "the rounding of B is too large to decide whether B is 0")
        if not largest:
            return 0 * identity(self.d), 0
        B = np.array([[(2 * v * ONE + largest) // (2 * largest) for v in row] for row in B], object)
        return B, math.ceil(off / largest * ONE) + 1

    def at_queries(self, matrix):
        """The metrics (q, d, d) that a file holds. Raises ValueError unless there is one for each query."""
        A = np.array(matrix, float)
        A = A[None] if self.single else A
        require(len(self.queries) == len(A), "there must be one metric for each query")
        return A

    def deviations(self, M):
        yield from super().deviations(M)
        off = abs(np.linalg.slogdet((M + M.T) / 2)[1]) / self.d
        yield Deviation(off, "its determinant is not 1")

    def judged_as(self, matrix):
        return [matrix]

    def objective(self, at):
        """The objective of a matrix of floats (d, d) at the first query."""
        return self.trace(self.queries[0], at)[0] ** 2

    def trace(self, x, metric):
        """An upper bound of |tr A^-1 B| at the query x, and then ||A^-1||, B, the error of B, and the norm of B.

        A is the given metric divided by det^(1/d). In the bound, B has the norm 1. The last three results are for the
        multiple of B in integers that `direction` returns.
        """
        B, off = self.direction(x)
        _, N, by = symmetric(metric, self.d)
        det, adjugate = inverse(N)
        factor = exp(self.log_size(det, by)) / (det * by)  # adjugate times this is A^-1
        norm_M, norm = root((adjugate * adjugate).sum() * factor**2), root(Fraction((B * B).sum()))
        if not norm:
            return Fraction(0), norm_M, B, off, norm
        most = abs((adjugate * B).sum()) + off * np.abs(adjugate).sum()
        return most * factor / (norm - self.d * off) * (1 + ALLOWED), norm_M, B, off, norm

    def log_size(self, det, by):
        """The logarithm of the determinant of the metric, divided by d.

        Raises ValueError if its absolute value is above 1e-6. det: the determinant of the integers of the metric. by:
        their unit.
        """
        size = (log(Fraction(det)) + self.d * log(by)) / self.d
        require(abs(size) <= Fraction(1, 10**6), "the determinant of a metric is not 1")
        return size

    def proof(self, matrix, dual):
        """Objective, bound, scale and gap. Objective, bound and gap are sums over the queries.

        The scale is chosen so that gap / scale is the largest gap / scale of a query. If all gaps are 0, it is the sum
        of the scales of the queries.
        """
        A = self.at_queries(matrix)
        require(len(A) == len(dual["y"]) == len(dual["u"]), "there must be one metric for each query")
        rows = []
        for x, metric, v, u in zip(self.queries, A, dual["y"], dual["u"]):
            rows.append(self.at_query(x, metric, Fraction(float(v)), Fraction(float(u))))
        objective, bound, gap, _ = (sum(column) for column in zip(*rows))
        worst = max(row[2] / row[3] for row in rows)
        return objective, bound, gap / worst if worst > 0 else sum(row[3] for row in rows), gap

    def at_query(self, x, metric, v, u):
        """Objective, bound, gap and scale of a metric at the query x.

        v, u: the dual variables of the query, which are called y and u in the file and in the module docstring.
        """
        t, norm_M, B, off, norm = self.trace(x, metric)
        if not norm:
            return Fraction(0), Fraction(0), Fraction(0), norm_M
        d, eye = self.d, identity(self.d) * (self.d * off)
        for sign in (1, -1):
            found = eliminate(sign * B - eye, d)
            if found:
                require(u > 0 and v != 0, "u must be greater than 0, and y must not be 0")
                log_det = log(Fraction(found[0])) - d * log(norm + d * off) - ALLOWED
                # the sign of y only chooses between B and -B
                bound = d * u - d * u * log(u / abs(v)) + u * log_det - v * v / 4 - ALLOWED * (1 + u)
                bound = max(bound, Fraction(0))
                return t * t, bound, t * t - bound, (d * exp(log_det / d)) ** 2
            decided = off == 0 or not psd(sign * B + eye)
            require(decided, "the rounding of B is too large to decide whether B is definite")
        return t * t, Fraction(0), t, norm_M


def weighted_sum(G, logs):
    """A positive multiple of sum_{i<j} p_i p_j (p_j - p_i)(G_i - G_j), and the largest error of an entry.

    G: a list with the matrix G_i of each class. logs: the log p_i of the classes, up to a constant. All numbers are
    fractions.
    """
    pairs = [sorted(pair, key=logs.__getitem__) for pair in itertools.combinations(range(len(G)), 2)]
    sizes = [logs[a] + 2 * logs[b] for a, b in pairs]
    B, one = np.zeros_like(G[0]), Fraction(1, ONE)
    for (a, b), size in zip(pairs, sizes):
        (less,), (factor,) = exponentials([1], logs[b] - logs[a]), exponentials([1], max(sizes) - size)
        B = B + factor * (ONE - less) * one**2 * (G[b] - G[a])
    most = max(abs(v) for g in G for v in g.flat)
    return B, len(pairs) * most * (64 * one + Fraction(1, 10**50) * (1 + max(abs(v) for v in logs)))


PROBLEMS = {
    "mlsvm": MLSVM,
    "kernel_mlsvm": KernelMLSVM,
    "ssvm": SSVM,
    "nca": NCA,
    "mlkr": MLKR,
    "glml": GLML,
    "lmnn": LMNN,
    "lmnn:squared_hinge": SquaredLMNN,
    "frobmetric": FrobMetric,
    "rtml": RTML,
    "schultz_joachims": SchultzJoachims,
    "scml": SCML,
    "boostmetric": BoostMetric,
    "plml": PLML,
    "lsml": LSML,
    "itml": ITML,
    "mmc": MMC,
    "mmc:diagonal": DiagonalMMC,
    "dml_eig": DMLEig,
    "mcml": MCML,
    "ldml": LDML,
    "rca": RCA,
    "gmml": GMML,
    "lfda": LFDA,
    "sdml": SDML,
    "mlr": MLR,
}


# ---- reading files ----


def shown(value, letters=PRINTED):
    """The text of a value for a terminal: ASCII, on one line, with escapes such as \\x1b and \\n, cut to `letters`.

    Of a list or a dict, only the type is named.
    """
    if isinstance(value, (list, dict)):
        return f"a {type(value).__name__}"
    text = str(value)[: letters + 1].encode("unicode_escape").decode("ascii")
    return text if len(text) <= letters else text[: letters - 3] + "..."


def content_of(path):
    """The bytes of a file. Raises ValueError if it cannot be read, or is too large."""
    path = Path(path)
    try:
        require(path.exists(), "there is no such file; give the path of a file")
        # a pipe or a device may have no end
        require(path.is_file(), "it is not a regular file, but a folder or a device; give the path of a file")
        with path.open("rb") as file:
            content = file.read(BYTES + 1)
    except OSError as error:
        raise ValueError(f"it cannot be read: {error.strerror}") from error
    require(len(content) <= BYTES, f"it is larger than {BYTES >> 20} MiB")
    return content


def parsed(content):
    """The value that the bytes state in JSON. Raises ValueError if they are not JSON, nested too deep or too large."""
    lists, objects, texts = content.count(b"["), content.count(b"{"), content.count(b'"') // 2
    memory = LIST * lists + OBJECT * objects + TEXT * texts
    few = memory <= FREE + EACH * len(content)
    require(few, "it has so many short lists, objects or texts that they would take too much memory")
    try:
        value = json.loads(content.decode("utf-8-sig"))  # programs of Windows write a byte order mark
    except UnicodeDecodeError as error:
        raise ValueError("not JSON: it is not UTF-8") from error
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error.msg} at line {error.lineno}") from error
    except (RecursionError, MemoryError) as error:
        raise ValueError("not readable JSON: it is nested too deep, or too large") from error
    require(not is_deep(value, DEEP), f"its brackets are nested more than {DEEP} deep")
    return value


def is_deep(value, left):
    """True if lists and objects are nested more than `left` deep in a value."""
    if not isinstance(value, (list, dict)):
        return False
    within = value.values() if isinstance(value, dict) else value
    return left == 0 or any(is_deep(each, left - 1) for each in within)


def are_finite(value):
    """True for a finite number of 64 bits, an array of such numbers, and lists of these."""
    if isinstance(value, (list, tuple)):
        return all(map(are_finite, value))
    if isinstance(value, (np.ndarray, np.number)):
        return value.dtype.kind in "iuf" and bool(np.isfinite(value).all())
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 63


def are_rows(value):
    """True for a list without lists in it, and for a list of such lists of equal length."""
    if not isinstance(value, list):
        return False
    lengths = {len(row) if isinstance(row, list) else -1 for row in value}
    within = (each for row in value if isinstance(row, list) for each in row)
    return len(lengths) <= 1 and not any(isinstance(each, list) for each in within)


# ---- saved solutions ----


def read_solution(path):
    """The fields of a saved solution (.json or .npz), a dict. Raises ValueError if it cannot be read."""
    content = content_of(path)
    return from_npz(path) if str(path).endswith(".npz") else parsed(content)


def from_npz(path):
    """The fields of a saved solution in an .npz archive, a dict. Raises ValueError for arrays of wrong type or size."""
    with zipfile.ZipFile(path) as packed:
        members = packed.infolist()
        require(sum(m.file_size for m in members) <= BYTES, f"it unpacks to more than {BYTES >> 20} MiB")
        arrays = {field_name(member.filename): array_in(packed, member) for member in members}
    content = parsed(str(arrays["header"]).encode("utf-8"))
    require(isinstance(content, dict), "its header must be a JSON object")
    content["dual"] = {key[5:]: array.tolist() for key, array in arrays.items() if key.startswith("dual_")}
    content.update((key, arrays[key]) for key in ("X", "y", "metric"))
    counts, flat = arrays["neighbor_counts"], arrays["neighbors"]
    require(counts.shape in ((0,), content["y"].shape) and flat.ndim == 1, "its neighbors must be lists")
    content["neighbors"] = [part.tolist() for part in np.split(flat, np.cumsum(counts))[:-1]]
    return content


def field_name(filename):
    """The name of a member of an .npz archive without the ending .npy."""
    return filename[: -len(".npy")] if filename.endswith(".npy") else filename


def array_in(packed, member):
    """The array of a member of an .npz archive. The header is read first, because a header can claim any size.

    Raises ValueError if the header claims more bytes than the member has. Also raises it for numbers of another size
    than 8 bytes, except in header.npy.
    """
    with packed.open(member) as file:
        version = np.lib.format.read_magic(file)
        require(version in ((1, 0), (2, 0)), "one of its arrays has an unknown version of the .npy format")
        later = version == (2, 0)
        of = np.lib.format.read_array_header_2_0 if later else np.lib.format.read_array_header_1_0
        shape, _, dtype = of(file)
    size = math.prod(shape) * dtype.itemsize
    require(0 <= size <= member.file_size, "one of its arrays is shorter than its header says")
    require(size or max(shape, default=0) <= EMPTY, "a dimension of one of its arrays is too large")
    number = dtype.kind in "iuf" and dtype.itemsize == 8
    require(number or member.filename == "header.npy", "one of its arrays has other numbers than 8-byte ones")
    with packed.open(member) as file:
        return np.lib.format.read_array(file, allow_pickle=False)


def require_types(content):
    """Raise ValueError if a field of a saved solution does not have the type that `cvxml solve --out` writes.

    This runs before numpy converts: numpy gives every text of a list as much memory as the longest needs.
    """
    require(isinstance(content, dict), "it must be a JSON object")
    for name, kind in (("method", str), ("params", dict), ("dual", dict)):
        require(isinstance(content.get(name), kind), f"its {name} is missing, or has the wrong type")
    fields = [(name, content[name]) for name in ("X", "y", "metric", "neighbors") if name in content]
    for name, value in fields + list(content["dual"].items()):
        require(are_finite(value), f"its {shown(name)} must hold finite numbers only")
    for name, value in content["dual"].items():
        require(
            are_rows(value),
            f"its {shown(name)} in dual must be a list of numbers, or of equally long such lists",
        )
    for name, value in content["params"].items():
        parts = value.values() if isinstance(value, dict) else [value]
        plain = all(part is None or isinstance(part, str) or are_finite(part) for part in parts)
        require(plain, f"its {shown(name)} has the wrong type")
    derived = content.get("derived", [])
    texts = isinstance(derived, list) and all(isinstance(name, str) for name in derived)
    require(texts, "its derived must be a list of names")


def problem_of(content):
    """The Problem of a saved solution. Raises ValueError if its method, a parameter or a list is not known here."""
    require_types(content)
    method = content["method"]
    require(method in PROBLEMS, f"the method {shown(method)} is not known here")
    kind = PROBLEMS[method]
    listed = issubclass(kind, MLSVM) or content.get("neighbors", []) == []
    require(listed, "it holds neighbour lists, but its method has none")
    strange = [shown(name) for name in sorted(set(content["params"]) - kind.READS - kind.NAMES)]
    require(
        not strange, f"the parameters {strange} are not known here: the problem of the file is another one"
    )
    return kind(content)


def recompute(content):
    """(objective, lower bound, gap, least eigenvalue of the metric, scale) of a saved solution, from the definitions.

    content: its fields, as `read_solution` returns them. Rounding in the objective and the bound is counted against the
    metric; the eigenvalue is a float. Raises ValueError if a list is wrong, the matrix is not a metric of the method,
    the dual variables are not feasible, or a parameter is not known here.
    """
    return recomputed(problem_of(content))


def recomputed(problem):
    """(objective, lower bound, gap, least eigenvalue of the metric, scale) for the Problem of a saved solution.

    The numbers and the errors are those of `recompute`.
    """
    content = problem.content
    objective, bound, scale, *gap = problem.proof(content["metric"], content["dual"])
    require_named(content)
    least = np.linalg.eigvalsh(np.array(content["metric"], float)).min(initial=math.inf)
    return objective, bound, gap[0] if gap else objective - bound, least, scale


def prove(path):
    """Recompute a saved solution and print the result. True if the metric is proved optimal, or stationary.

    For a file that holds no proof, one line with the reason is printed, and the result is False.
    """
    try:
        content = read_solution(path)
        with np.errstate(all="ignore"):
            problem = problem_of(content)
            objective, bound, gap, least, scale = recomputed(problem)
            unattained = problem.unattained(content["metric"])
        says = shown(content.get("step_lower_bound" if problem.CLAIM == "step" else "lower_bound"))
        if problem.CLAIM == "first order":
            says = f"a share of {shown(content.get('stationarity'))} is won"
        lines = [
            f"objective    {float(objective):.15g}   (the file says {shown(content.get('objective'))})",
            f"lower bound  {float(bound):.15g}   (the file says {says})",
            f"gap          {float(gap):.3g}   gap / scale {float(gap / scale) if scale else math.inf:.3g}",
            f"least eigenvalue of the metric {least:.3g}",
            "taken from the file without proof: the data, the labels, the parameters, and the lists that no other "
            "field determines",
        ]
    except Exception as error:  # a file that breaks this program is no proof
        print(f"not proved: {shown(path)} holds no proof: {reason(error)}")
        return False
    print("\n".join(lines))
    # a bound above the objective contradicts itself
    proved = gap >= 0 and gap * 10**6 <= scale
    if proved and unattained:
        print(
            "not proved: no metric is optimal; this one is to 1e-6 of the scale at an infimum that none attains"
        )
        return False
    if proved:
        print(f"proved: {PROVED[problem.CLAIM]} 1e-6 of the scale")
    else:
        print(f"not proved: {UNATTAINED}" if content.get("status") == "NOT_ATTAINED" else "not proved")
    return bool(proved)


UNATTAINED = "the file claims no optimum: its status is NOT_ATTAINED, because no metric attains the infimum"
PROVED = {
    "optimal": "optimal to",
    "step": "stationary: its convex step gains at most",
    "first order": "stationary: to first order, a change of the rows of A, or a new row if one is free, gains at most",
}


def reason(error):
    """The text of an error, on one line: why a file holds no proof."""
    if isinstance(error, KeyError):
        return f"it has no {shown(error.args[0])}"
    if isinstance(error, (MemoryError, RecursionError)):
        return "its problem is too large for the memory"
    return shown(str(error) or type(error).__name__, 400)


# ---- lists and numbers of a file that its other fields determine ----


def nearest(content, i, pool, k):
    """The k points of `pool` that are nearest to point i, without i, nearest first; equal distances by index.

    Raises ValueError if `pool` has fewer points. Squared differences are summed over the features in order, in floats,
    as cvxml does.
    """
    X, total = np.array(content["X"], float), np.zeros(len(content["X"]))
    for column in X.T:
        total += (column - column[i]) ** 2
    others = [j for j in pool if j != i]
    fits = 0 < k <= len(others)
    require(fits, f"the {k} nearest of {len(others)} points to point {i} do not exist")
    return sorted(others, key=lambda j: (total[j], j))[:k]


def classes_of(content, i):
    """Two lists: the points of the class of point i, including i, and all other points."""
    y = list(content["y"])
    require(len(y) == len(content["X"]), f"there are {len(y)} labels for {len(content['X'])} points")
    return [j for j, label in enumerate(y) if label == y[i]], [
        j for j, label in enumerate(y) if label != y[i]
    ]


def own_neighbors(content):
    """The neighbour list of mlsvm for each point, sorted: its k nearest points if the neighborhood is "knn".

    If it is "per-class": its k nearest points of the same class and its k nearest points of the other classes.
    """
    k, kind = content["params"]["n_neighbors"], content["params"]["neighborhood"]
    n = len(content["X"])
    require(kind in ("knn", "per-class"), f"the neighborhood {shown(kind)} is not known here")
    if kind == "knn":
        return [sorted(nearest(content, i, range(n), k)) for i in range(n)]
    sides = [classes_of(content, i) for i in range(n)]
    return [sorted(j for side in own for j in nearest(content, i, side, k)) for i, own in enumerate(sides)]


def own_targets(content):
    """For each point, the sorted indices of the k nearest other points of its class, k = n_neighbors."""
    k = content["params"]["n_neighbors"]
    return [sorted(nearest(content, i, classes_of(content, i)[0], k)) for i in range(len(content["X"]))]


def own_triplets(content):
    """The sorted triplets [i, j, l]: each of the k targets j of i with each of the k nearest l of other classes."""
    k, found = content["params"]["n_neighbors"], []
    for i, targets in enumerate(own_targets(content)):
        impostors = nearest(content, i, classes_of(content, i)[1], k)
        found += [[i, j, far] for j in targets for far in impostors]
    return sorted(found)


def own_relevant(content):
    """For each point, the list of the other points of its class."""
    return [[j for j in classes_of(content, i)[0] if j != i] for i in range(len(content["X"]))]


def own_quadruplets(content):
    """Quadruplets [a, b, c, d], with a and b of one class and c and d of two classes, drawn by numpy's generator.

    The seed is random_state, and their number is n_quadruplets (by default 20 times the squared number of classes).
    Raises ValueError if the file has another number. Another version of numpy may draw others.
    """
    y, params = list(content["y"]), content["params"]
    classes = [[j for j, label in enumerate(y) if label == own] for own in dict.fromkeys(y)]
    size, m = np.array([len(own) for own in classes], float), len(classes)
    pairs, across = size * (size - 1), np.outer(size, size) * (1 - np.eye(m))
    count, rng = params["n_quadruplets"], np.random.default_rng(params["random_state"])
    count = 20 * m**2 if count is None else count
    given = len(params["quadruplets"])
    require(count == given, f"there are {given} quadruplets, and must be {count}, as n_quadruplets says")
    near = rng.choice(m, count, p=pairs / pairs.sum())
    far = rng.choice(m * m, count, p=across.ravel() / across.sum())
    found = []
    for own, two in zip(near.tolist(), far.tolist()):
        a, b = rng.choice(classes[own], 2, replace=False)
        c, d = rng.choice(classes[two // m]), rng.choice(classes[two % m])
        found.append([int(j) for j in (a, b, c, d)])
    return found


def is_own_basis(content):
    """True if the vectors of the basis are, to 1e-9, the directions that cvxml chooses from the triplets.

    These are unit vectors along x_i - x_j for the pairs (i, j) and (i, l) of the triplets, in increasing order. If
    there are more than n_basis (by default 20 d), n_basis of them are chosen, evenly spaced in this order.
    """
    X, params = np.array(content["X"], float), content["params"]
    pairs = sorted({tuple(sorted(pair)) for i, j, k in params["triplets"] for pair in ((i, j), (i, k))})
    found = [X[i] - X[j] for i, j in pairs if (X[i] != X[j]).any()]
    count = 20 * X.shape[1] if params["n_basis"] is None else params["n_basis"]
    require(count >= 1, f"n_basis is {count}, and must be at least 1")
    if len(found) > count:
        found = [found[k * len(found) // count] for k in range(count)]
    given, own = np.array(params["basis"], float), np.array(found)
    own = own / np.abs(own).max(axis=1, keepdims=True)
    own = own / np.sqrt((own**2).sum(axis=1, keepdims=True))
    return given.shape == own.shape and bool(np.abs(given - own).max() <= 1e-9)


def are_best_weights(content):
    """True if the weights W (n, B) of plml are nearly optimal: g(W) is proved within 1e-6 g(W) of its minimum.

    g(W) = ||X - W U||^2 + lam1 sum W_ib |x_i - u_b|^2 + lam2 sum_{i<j} s_ij |W_i - W_j|^2. The rows u_b of U are the
    anchors, and s_ij is the similarity, given or from the neighbours (`graph`). g is convex, with the gradient dg at W.
    So for rows of the simplex it is at least g(W) - sum_i (<dg_i, W_i> - min_b dg_ib).
    """
    params, n = content["params"], len(content["X"])
    X, U, W = (
        np.array(of, float).astype(object) for of in (content["X"], params["anchors"], params["weights"])
    )
    X, U, W = (np.vectorize(Fraction, otypes=[object])(of) for of in (X, U, W))
    for row in W:
        require(abs(1 - row.sum()) <= Fraction(1, 10**9), "a row of the weights does not sum to 1")
        row[row.argmax()] += 1 - row.sum()
    s = params["similarity"]
    s = np.array(graph(content, min(params["graph_neighbors"], n - 1)) if s is None else s, float)
    s = np.vectorize(Fraction, otypes=[object])(s)
    lam1, lam2 = (Fraction(float(params[name])) for name in ("lam1", "lam2"))
    D = np.array([[((x - u) ** 2).sum() for u in U] for x in X])
    rest, apart = W.dot(U) - X, s.sum(axis=1)[:, None] * W - s.dot(W)
    value = (rest**2).sum() + lam1 * (W * D).sum() + lam2 * (W * apart).sum()
    slope = 2 * rest.dot(U.T) + lam1 * D + 2 * lam2 * apart
    left = ((slope - slope.min(axis=1)[:, None]) * W).sum()
    return (W >= 0).all() and left * 10**6 <= value


def graph(content, k):
    """The matrix (n, n) with 1 where one of two points is among the k nearest points of the other, and 0 elsewhere."""
    n = len(content["X"])
    near = np.zeros((n, n))
    for i in range(n):
        near[i, nearest(content, i, range(n), k)] = 1
    return np.maximum(near, near.T)


def sets(lists):
    """The lists with sorted entries, to compare them as sets."""
    return [sorted(row) for row in lists]


NAMED = {
    "neighbors": lambda c: sets(c["neighbors"]) == own_neighbors(c),
    "targets": lambda c: sets(c["params"]["targets"]) == own_targets(c),
    "triplets": lambda c: sorted(c["params"]["triplets"]) == own_triplets(c),
    "relevant": lambda c: sets(c["params"]["relevant"]) == own_relevant(c),
    "quadruplets": lambda c: c["params"]["quadruplets"] == own_quadruplets(c),
    "basis": is_own_basis,
    "weights": are_best_weights,
    "anchors": lambda c: True,  # believed: only scikit-learn draws them
}


def require_named(content):
    """Raise ValueError if a list in a saved file is not the one that its other fields determine."""
    params = content["params"]
    names = set(content.get("derived", ()))
    if params.get("n_neighbors") is not None:
        names |= {"targets", "triplets"} & set(params)
    if content["method"] == "mlsvm" and params["neighborhood"] != "explicit":
        names.add("neighbors")
    for name in sorted(names):
        require(name in NAMED, f"{shown(name)} in its derived is not a field that can be derived")
        require(NAMED[name](content), f"its {name} are not those that its other fields determine")


# ---- judging an answer to a case ----


def judge(case, answer):
    """Judge an answer to a case. Both are dicts, as in their files. Returns a Judgement."""

    def judgement(verdict, *reasons, gap=None):
        return Judgement(case["id"], verdict, reasons, gap)

    if not isinstance(answer, dict):
        return judgement("error", "the answer must be a JSON object")
    answer = {name: value for name, value in answer.items() if value is not None}
    if "unsupported" in answer:
        reason = answer["unsupported"]
        beside = [name for name in ("metric", "components", "answer", "status") if name in answer]
        if isinstance(reason, str) and reason.strip() and not beside:
            return judgement("skipped", shown(reason))
        also = "".join(" and " + name for name in beside)
        return judgement(
            "error", f'"unsupported" must be a text, without an answer beside it; got {shown(reason)}{also}'
        )
    if case["kind"] == "part":
        wrong = of_part(case, answer.get("answer"))
        return judgement("refuted", wrong) if wrong else judgement("certified", "every number agrees")
    unattained = "not attained" in case["flags"]
    if answer.get("status") == "not attained":
        if unattained:
            return judgement("certified", "no metric is optimal")
        return judgement("refuted", "the status is wrong: a metric attains the optimum")
    try:
        M = metric_of(case, answer)
    except ValueError as error:
        return judgement("error", str(error))
    if unattained:
        return judgement(
            "inconclusive", 'no metric is optimal here; the right answer is the status "not attained"'
        )
    try:
        with np.errstate(all="ignore"):
            verdict, reason, *gap = verdict_on(case, M, answer.get("objective"))
    except (
        ArithmeticError,
        ValueError,
    ) as error:  # LinAlgError too: figures that overflow have no eigenvalues
        return judgement("inconclusive", f"it cannot be judged here: {error}")
    return judgement(verdict, reason, gap=gap[0] if gap else None)


def metric_of(case, answer):
    """The metric (d, d) of an answer, floats.

    Raises ValueError unless the answer holds either a metric (d, d) or components (m, d), with finite numbers.
    """
    given = [name for name in ("metric", "components") if name in answer]
    require(len(given) == 1, 'the answer must have "metric" or "components"')
    known = case.get("proof", {}).get("metric")
    size = len(known or case["inputs"]["X"][0])
    try:
        M = array_of(answer[given[0]])
    except ValueError:
        M = np.array(False)
    fits = M.dtype.kind in "fiu" and M.ndim == 2 and M.shape[1] == size
    require(fits, f"the {given[0]} must be a matrix of numbers with {size} columns")
    M = M.astype(float)
    if given == ["components"]:
        with np.errstate(all="ignore"):
            M = M.T @ M
    finite = M.shape == (size, size) and np.isfinite(M).all()
    require(finite, f"the metric must be ({size}, {size}) and finite")
    return M


def array_of(value):
    """Lists of numbers as an array. Raises ValueError for any other value.

    Types are checked before numpy converts: numpy gives every text of a list as much memory as the longest needs.
    """
    require(are_numbers(value), "it must be an array of numbers")
    found = np.array(value)
    # lists of unequal lengths, or integers beyond 64 bits, have another type
    require(found.dtype.kind in "fiub", "it must be an array of numbers with at most 64 bits")
    return found


def are_numbers(value, depth=0):
    """True for a number, and for lists of numbers that are nested at most 32 deep. True and False are no numbers."""
    if isinstance(value, (list, tuple)):
        return depth < 32 and all(are_numbers(each, depth + 1) for each in value)
    return isinstance(value, (int, float, np.number, np.ndarray)) and not isinstance(value, bool)


# The values of parameters that the inputs of a case leave out.
MISSING = {"A": None, "similarity": None, "pairs": None, "gamma": None, "model": "gaussian"}


def problem_of_case(case):
    """The Problem of a case, a dict."""
    inputs, kind = case["inputs"], PROBLEMS[case["formula"]]
    params = {name: value for name, value in inputs.items() if name not in {"X", "y"} | kind.LISTS}
    content = {"X": inputs["X"], "y": inputs.get("y", []), "params": {**MISSING, **params}}
    if kind.LISTS:
        pairs = zip(inputs["targets"], inputs["impostors"])
        content["neighbors"] = [targets + impostors for targets, impostors in pairs]
    return kind(content)


def verdict_on(case, M, claimed=None):
    """The verdict on the matrix M (d, d), its reason, and bounds of the gap relative to the scale, if known.

    claimed: the objective that the answer claims; None if it claims no objective.
    """
    formula, reference = case["formula"], case["reference"]
    if formula not in PROBLEMS:
        return "inconclusive", f"the objective of {formula} is not known here"
    kind = PROBLEMS[formula]
    strange = sorted(set(case["inputs"]) - {"X", "y"} - kind.READS - kind.LISTS)
    if strange:
        return "inconclusive", "the inputs {} of {} are not known here".format(", ".join(strange), formula)
    largest = np.abs(M).max()
    if largest > LARGE or 0 < largest < 1 / LARGE:
        return (
            "inconclusive",
            f"the square of its largest entry, {largest:.3g}, is too large or small for a float",
        )
    problem = problem_of_case(case)
    infeasible = on_deviations(list(problem.deviations(M)))
    if infeasible:
        return infeasible
    if problem.DEFINITE and not M.any():
        return "refuted", "the metric is singular, so its objective is infinite"
    scale = float(reference["scale"])
    if reference["claim"] == "stationary":
        return on_step(case, problem, M, scale)
    low, high = map(Fraction, reference["interval"])
    if formula == "glml" and low <= 0:
        return on_trace(problem, M)
    return on_objective(problem, M, (low, high), scale, claimed)


def on_deviations(deviations):
    """The verdict (refuted or inconclusive) and its reason if a Deviation is too large; None if the matrix is a metric.

    A Deviation is too large if its share is above METRIC (1e-6), or near it. Refuted: a share is clearly above METRIC,
    and all methods ask for the property (`sure`). Inconclusive: all other cases.
    """
    deviations = [each for each in deviations if each.share > METRIC * (1 - BORDER)]
    beyond = [each for each in deviations if each.share > METRIC * (1 + BORDER) and each.sure]
    if beyond:
        worst = max(beyond)
        return "refuted", f"not a metric of this problem: {worst.what} by {worst.share:.3g} of the norm"
    if deviations:
        first = deviations[0]
        return "inconclusive", f"perhaps no metric: {first.what} by {first.share:.3g} of the norm"
    return None


def on_objective(problem, M, interval, scale, claimed):
    """The verdict on M by its objective, the reason, and the bounds of its gap relative to the scale.

    interval: two fractions, a lower and an upper bound of the optimum. claimed: the objective that the answer claims;
    None if it claims no objective.
    """
    low, high = interval
    values = [problem.objective(at) for at in problem.judged_as(M)]
    largest = max(map(abs, values))
    # the nearest psd matrix is in floats, and its objective may be below the optimum by rounding
    rounding = largest * 2 * (problem.d**2 + problem.n + 16) / 2**52 + problem.lost(largest)
    least, most = float(min(values) - rounding - high), float(max(values) + rounding - low)
    gap = tuple(v / scale if scale > 0 else math.copysign(math.inf, v) for v in (least, most))
    values, rounding = [float(v) for v in values], float(rounding)
    if claimed is not None and not agrees(claimed, values, float(low), scale, rounding):
        return (
            "refuted",
            f"the objective it claims, {figure(claimed)}, is not the metric's, {values[0]:.12g}",
            gap,
        )
    if scale == 0 and not M.any():
        return "certified", "the optimum is 0, and so is the metric", (0.0, 0.0)
    return (*by_gap(least, most, scale, rounding), gap)


def agrees(claimed, values, low, scale, rounding):
    """True if the claimed objective may be that of the metric: up to 2e-6, it is one of `values`, and not below `low`.

    values: the objectives of the matrices that the metric is judged as. 2e-6 is relative to the first of them. low: a
    lower bound of the optimum, which a claim may miss by 2e-6 of the scale. rounding: a bound of the errors of the
    values, which is allowed twice in addition.
    """
    if not isinstance(claimed, (int, float)) or not abs(claimed) < sys.float_info.max:
        return False
    off = min(abs(claimed - value) for value in values)
    near = off <= 2 * TOL * abs(values[0]) + 2 * rounding
    return near and claimed >= low - 2 * TOL * scale - 2 * rounding


def figure(claimed):
    """The claimed objective as text for a message; an integer of more than 20 digits is not printed."""
    if isinstance(claimed, int) and abs(claimed) >= 10**20:
        return "an integer has more than 20 digits"
    return repr(claimed) if isinstance(claimed, (int, float)) else shown(claimed)


def by_gap(least, most, scale, rounding):
    """The verdict on a gap that lies between `least` and `most`, and its reason.

    rounding: a bound of the error of an objective.
    """
    text = (
        f"its objective is above the optimum by {max(least, 0.0):.6g} to {most:.6g}; the scale is {scale:.6g}"
    )
    if most < -2 * rounding:
        return "inconclusive", f"its objective is below the proved bound: {text}"
    if most <= TOL * scale * (1 - BORDER):
        return "certified", text
    if least > CLOSE * scale * (1 + BORDER):
        return "refuted", text
    if most <= CLOSE * scale * (1 - BORDER) and least > TOL * scale * (1 + BORDER):
        return "close", text
    return "inconclusive", f"at the border of a verdict, or of rounding: {text}"


def on_trace(problem, M):
    """The verdict on a metric M of glml where the optimum is 0, and its reason.

    The ratio |tr A^-1 B| / ||A^-1|| decides, where A is M with its determinant made 1.
    """
    t, norm, *_ = problem.trace(problem.queries[0], M)
    share = float(t / norm)
    text = f"the optimum is 0, and |tr A^-1 B| is {share:.3g} of the norm of A^-1"
    if share <= TOL * (1 - BORDER):
        return "certified", text
    return ("refuted" if share > TOL * (1 + BORDER) else "inconclusive"), text


def on_step(case, problem, M, scale):
    """The verdict on whether M is stationary, and its reason: the bounds of the gain that is still possible.

    case: has the stored metric and dual variables. scale: that of the stored metric.
    """
    at, stored = problem.judged_as(M)[-1], np.array(case["proof"]["metric"], float)
    here = np.array([[float(v * at.unit) for v in row] for row in at.matrix])
    try:
        most = float(problem.gain(here, at, case["proof"])[0])
    except ValueError:  # the stored dual variables bound no gain of this metric
        most = math.inf
    least = gain_towards(problem, at, here, (stored + stored.T) / 2)
    text = f"its step could gain {max(least, 0.0):.3g} to {most:.3g}; the scale is {scale:.3g}"
    # The scale of an answer that is not the stored metric differs. The factors 0.5 and 10 allow for that.
    above, first_order = min(least, most), problem.CLAIM == "first order"
    if most <= 0.5 * TOL * scale:
        return "certified", "stationary: " + text
    steep = first_order and above > 10 * TOL * scale and most > 2 * CLOSE * scale
    if above > 10 * CLOSE * scale or steep:
        return "refuted", "improvable: " + text
    if above > 10 * TOL * scale and most <= 0.5 * CLOSE * scale and not first_order:
        return "close", "nearly stationary: " + text
    return "inconclusive", "the stored metric and dual variables prove no more: " + text


def gain_towards(problem, at, here, other):
    """A lower bound of the gain of the step: the largest decrease of its function at 12 points on the way to `other`.

    at: the metric as a Metric. here: the same in floats. other: the matrix (d, d) to go to.
    """
    value = problem.step(at)
    points = (here + 2.0**-k * (other - here) for k in range(12))
    return float(value(at) - min(value(problem.measured(*whole(point))) for point in points))


# ---- how far a matrix is from a metric, in floats ----


def of_cone(M, where=""):
    """Yield two Deviations of the matrix M: how far it is from symmetric, and from psd.

    where: the beginning of their texts.
    """
    M = M / (np.abs(M).max() or 1.0)
    norm = np.linalg.norm(M) or 1.0
    yield Deviation(np.abs(M - M.T).max() / norm, where + "asymmetric")
    yield Deviation(-np.linalg.eigvalsh((M + M.T) / 2)[0] / norm, where + "not psd")


def of_cone_in_units(M, spread):
    """Yield two Deviations of the matrix M in units of the features: how far it is from symmetric, and from psd.

    They are not `sure`, because not all methods ask for these properties in units of the features. spread (d,): the
    units, which are rounded to powers of two here. Features with the unit 0 are left out.
    """
    seen = spread > 0
    unit = 2.0 ** np.round(np.log2(spread[seen]))
    for each in of_cone(M[np.ix_(seen, seen)] * np.outer(unit, unit), "in units of the features, "):
        yield each._replace(sure=False)


def nearest_psd(M):
    """The symmetric part of M if it is psd, else the nearest psd matrix."""
    values, vectors = np.linalg.eigh((M + M.T) / 2)
    return (M + M.T) / 2 if values[0] >= 0 else (vectors * np.maximum(values, 0)) @ vectors.T


# ---- parts of algorithms ----


def of_part(case, answer):
    """The first mistake in an answer to a case of the kind "part", as a text; empty if all numbers agree.

    Such a case asks for intermediate results of a method by name, for example the neighbours, and gives the right ones.
    answer: a dict from names to numbers. Lists named in case["sets"] may have any order; other numbers must agree with
    the right ones to case["tolerance"], relative to the largest of them, or to 1 if that is larger.
    """
    if not isinstance(answer, dict):
        return 'there is no "answer" with the numbers of the part'
    for name, right in case["answer"].items():
        wrong = "" if name in answer else "missing"
        if not wrong and name in case["sets"]:
            wrong = "" if same_sets(right, answer[name]) else "other sets"
        elif not wrong:
            wrong = other_numbers(right, answer[name], case["tolerance"])
        if wrong:
            return f"{name}: {wrong}"
    return ""


def same_sets(right, given):
    """True if both are lists of rows of indices, and each row has the same indices in both, in any order."""
    if not isinstance(given, list) or len(given) != len(right):
        return False
    whole_numbers = all(isinstance(row, list) and all(type(j) is int for j in row) for row in given)
    return whole_numbers and all(sorted(a) == sorted(b) for a, b in zip(right, given))


def other_numbers(right, given, tolerance):
    """How the given numbers differ from the right ones, as a text; empty if they agree to `tolerance`."""
    right = np.array(right, float)
    try:
        found = array_of(given)
    except ValueError as error:
        return str(error)
    if found.shape != right.shape:
        return f"the answer must have the shape {right.shape}, and has {found.shape}"
    off = np.abs(found - right)
    if (off <= tolerance * max(np.abs(right).max(initial=0.0), 1.0)).all():
        return ""
    return f"off by {off.max():.3g}"


# ---- folders of answers ----


def read(path):
    """The content of an answer's file. Raises ValueError if it cannot be read."""
    return parsed(content_of(path))


def row(name, verdict, *reasons):
    """Print a line with the name of a case (its id), the verdict and the reasons; return the verdict."""
    print("{:<23} {:<13} {}".format(shown(name), verdict, shown("; ".join(reasons), 400)))
    return verdict


def asked_for(cases, patterns):
    """The dict {id: case} of the cases with an id or formula (method) that matches one of the patterns.

    cases: the folder. Raises ValueError if a pattern matches no case.
    """
    found = {}
    for path in sorted(Path(cases).glob("*.json")):
        if path.name != "case.schema.json":
            found[path.stem] = json.loads(path.read_text(encoding="utf-8"))
    chosen = set()
    for pattern in patterns:
        own = [name for name, case in found.items() if matches(pattern, name, case["formula"])]
        require(own, f"no case has the name or formula {shown(pattern)}")
        chosen.update(own)
    return {name: case for name, case in found.items() if name in chosen}


def matches(pattern, *names):
    return any(fnmatchcase(name, pattern) for name in names)


def main(folder, patterns=(), cases=Path(__file__).parent):
    """Judge a folder of answers: print a line each, and a count of the verdicts. Returns the exit code.

    patterns: ids or formulas, with * and ?; without patterns, all cases. cases: the folder of the cases.
    """
    patterns = patterns or ["*"]
    try:
        asked = asked_for(cases, patterns)
        require(Path(folder).is_dir(), f"{shown(str(folder))} is not a folder")
    except ValueError as error:
        print(error)
        return 2
    verdicts: Counter[str] = Counter()
    for path in sorted(Path(folder).glob("*.json")):
        if path.stem in asked:
            verdicts[judged(asked.pop(path.stem), path)] += 1
        elif any(matches(pattern, path.stem) for pattern in patterns):
            verdicts[row(path.stem, "error", "the name of this file is not the id of a case")] += 1
    if asked:
        verdicts["without an answer"] = len(asked)
    print("in all: " + ", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items())))
    return 0 if set(verdicts) == {"certified"} else 1


def judged(case, path):
    """Judge the answer in a file, print its line, and return the verdict."""
    try:
        answer = read(path)
    except ValueError as error:
        return row(case["id"], "error", str(error))
    judgement = judge(case, answer)
    return row(case["id"], judgement.verdict, *judgement.reasons)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--solution"] and len(sys.argv) == 3:
        sys.exit(0 if prove(sys.argv[2]) else 1)
    if len(sys.argv) < 2 or sys.argv[1].startswith("--"):
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    sys.exit(main(sys.argv[1], sys.argv[2:]))
