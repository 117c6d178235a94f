"""Recompute the proof in a file that `cvxml solve --out FILE` wrote. Numpy only; cvxml is not imported.

    python validation/recompute.py FILE        (.json or .npz)

Believed is the problem: the data, the labels, the parameters, and the lists (neighbours, targets, pairs) that no other
field of the file names. Lists that n_neighbors names, and those that the file says were derived, are made again. The
anchors of plml (k-means) and the neighbours of kernel_mlsvm are not: these are believed too.
Nothing else is: no figure, no metric, no dual, no solver.
Exit code 0 if the metric is proved optimal to 1e-6 of the scale, else 1; also 1 where no metric attains the infimum.
A file that holds no proof is one line. A file may have 64 MiB, unpacked if it is .npz, and 64 brackets within brackets.
Strings of a file are printed in ASCII, on one line, with at most 80 characters.

Nothing is decided within a tolerance. A float is an integer times a power of two, and every sum, product, elimination
and comparison that a proof rests on is one of integers or fractions. Floats (eigenvectors, a multiple) only propose.

- A matrix is psd if its pivots say so. That also settles what lies in a span, and which directions are free.
- A metric that is not exactly psd, but is to 1e-6 of its norm, is judged together with the psd matrix L L^T next to it:
  the objective is the larger of the two.
- Prices that leave what is allowed by rounding are repaired; the bound is that of the repaired ones.
- Roots, exponentials and logarithms have 60 digits; far more than is lost by that is counted against the metric.

With X_ij = (x_i - x_j)(x_i - x_j)^T and H the entropy, no metric whatsoever has an objective below

mlsvm     sum_i s_i - ||P_+(G)||^2 / (2 lam), for u, w >= 0 with s_i = sum_j u_ij = sum_l w_il <= 1/n, where
          G = sum_i ( sum_j u_ij X_ij - sum_l w_il X_il ); ||P_+(G)|| <= ||G + S|| for any psd S. Scale: lam/2 ||A||^2
lmnn      sum lambda, for 0 <= lambda <= mu with (1 - mu) sum X_ij + sum lambda_ijl (X_ij - X_il) psd; for the squared
          hinge sum lambda - sum lambda^2 / (4 mu), lambda of any size
frobmetric  sum a - ||P_+(G)||^2 / 2, for 0 <= a <= C/m, where G = sum a_ijl (X_il - X_ij). Scale: ||X||^2 / 2
rtml      sum a - width/2 sum a^2 - ||P_+(G)||^2 / (2 lam), for 0 <= a <= 1, with the same G. Scale: lam/2 ||M||^2
schultz_joachims  sum a - ||N||^2 / 2, for 0 <= a <= C, with the same G and any N with a_k^T N a_k >= a_k^T G a_k for
          every column of A (of the identity if it is not given). Scale: ||M||^2 / 2
scml      sum a, for 0 <= a <= 1/m with b_k^T G b_k <= beta for every vector of the basis
boostmetric  H(u), for u of the simplex with v I - sum u_ijl (X_il - X_ij) psd. Scale: no less than 1
plml      the metrics, for weights W as they are: sum a - sum_b ||P_+(K_b)||^2 / (4 alpha1), for 0 <= a <= 1, where
          K_b = sum a W_ib (X_il - X_ij) - alpha2 sum W_ib X_ij over the pairs i, j. Scale: alpha1 sum_b ||M_b||^2
lsml      log det(A_0 Z), for 0 <= s < 1 with Z = A_0^-1 + sum w (s X_ab - s/(1-s) X_cd) positive definite; w sums to 1
          unless losses is "sum"
itml      log det(A_0 Z) + gamma sum_S log(1 - lambda u/gamma) + gamma sum_D log(1 + lambda l/gamma), for lambda >= 0,
          lambda_S < gamma/u, Z = A_0^-1 + sum_S lambda X_ij - sum_D lambda X_ij positive definite
mmc       -sqrt(mu sum 1/c), for c > 0 with mu sum_S X_ij - sum_D c X_ij psd; diagonal: with its diagonal >= 0
dml_eig   -mu, for q of the simplex with mu sum_S X_ij - sum_D q X_ij psd
ldml      sum w H(a/w) - b sum t a, for 0 <= a <= w with sum t a X_ij psd, t = 1 in S and -1 in D, sum t a = 0 if b is
          free; w is 1 or as given, and over its sum in S and in D if losses is "means". All points with themselves are
          one more pair of S, at 0, whose w is n self_pairs, over the sum in S if losses is "means"
rca       d l - d l log l + l log det C, for l > 0, C the covariance within chunklets plus alpha I; the metric is judged
          with its determinant made 1
gmml      2 tr SY, for symmetric Y with D - Y S Y psd, S and D the sums of X_ij over these pairs, plus mu A_0^-1 and
          mu A_0, for the prior A_0 or I
lfda      -(r s + tr S_w N), for any s and psd N with S_w N S_w + s S_w - S_b psd, N found here; the metric is judged by
          its range, and must be to 1e-6 the one of its embedding. Scale: minus the objective
sdml      d + log det(S + U), for symmetric U with U_ii = 0, |U_ij| <= lam and S + U positive definite, where S is
          M_0^-1 + eta (sum_S X_ij - sum_D X_ij). Scale: d
mlr       sum mu loss, for mu >= 0 of rankings, with a sum <= C/n for each of n queries, and I - sum mu 2/(P N) sum
          (X_qj - X_qi) psd, over the pairs of a relevant i and another j that a ranking has the other way round
mcml      sum_i H(q_i), for rows q_i of the simplex with sum (w_ij - q_ij) X_ij psd, w_ij = 1/(n_c - 1) in the class

where S and D are the similar and the dissimilar pairs; the scale is the objective. Prices that miss psd are mixed with
2^-20 or less of others that do not: 0 for lmnn, softmax rows for mcml, equal shares for boostmetric;
for mmc and dml_eig mu grows.

For ssvm, which is not convex, the same of the metric's own convex step: with h*_i the cheapest set in which the class
of i wins, and weights q >= 0 of sum 1 for each point, the step is nowhere below  C sum q Delta - ||P_+(M)||^2 / 4,
M = C sum_i ( sum_h q_ih sum_{j in h} X_ij - sum_{j in h*_i} X_ij ). Scale: ||W||^2.

A file of the solver "global" holds a tree: each branch (i, j, a, b) goes to row a where j is in h*_i and to row b where
it is not. In a leaf, with Y_i the sum of X_ij over the j that every winning set left for i has, any q >= 0 with
sum_h q_ih <= 1, and any nu >= 0 on triples where j is in h*_i, l is not and could take its place, bound F by
C sum q Delta - ||P_+(M)||^2 / 4, M = C sum q (sum_{j in h} X_ij - Y_i) - sum nu (X_ij - X_il).  All winning sets are
listed here, so this is for tiny n.

For nca, the same of the convex step. With p_ij at the metric, w_ij = s_ij p_ij / p_i, and c_i = 1 (for g) or p_i (for
f), any rows q_i of the simplex for which Z = sum c_i (w_ij - q_ij) X_ij is psd bound the step by its constant plus
sum c_i H(q_i). In the file q = (1 - theta) softmax(-<R, X>) + theta softmax(-<interior, X>), and more of the second is
taken where Z needs it. Where each point has one partner and the criterion is g, this bounds every metric. Scale: the
distance of the objective from the bound that p_i <= max_j s_ij gives, or from where multiples tend if that is less.

For mlkr, and for nca where n_components is less than the rank of the points, the same to first order. In coordinates in
which the points have unit covariance C, with G = sum c_ij X_ij the gradient by Q = A^T A, a step of A no longer than
max(|A|, 1) leads nowhere below the objective less max(|A|, 1) |dF/dA|, |dF/dA|^2 = 4 tr G Q G, or less max(|A|, 1)^2 t
for G + t C psd, where A has a row that is free; c_ij = 2 (yhat_i - y_i) p_ij (yhat_i - y_j), or c_i (w_ij - p_ij).
Scale: the objective (of nca, its distance from the bound above), the distance from where multiples tend, or four times
the sum of the sizes of what the derivative of F(tA) consists of, whichever is least. A metric is judged together with
the square of the allowed rank next to it.

For glml with one Gaussian a class, at each query: with B = sum_{i<j} p_i p_j (p_j - p_i)(G_i - G_j) over its norm, and
B or -B positive definite, no metric of determinant 1 has (tr A^-1 B)^2 below
D u - D u log(u/|y|) + u log|det B| - y^2/4; else below 0. Scale: the best such bound, or ||A^-1|| for |tr A^-1 B|. The
metric is judged with its determinant made 1.
"""

import decimal
import itertools
import json
import math
import os
import sys
import zipfile
from fractions import Fraction

import numpy as np

ONE = 1 << 160  # numbers in [0, 1] that are no fractions are multiples of 1 / ONE
SHARES = range(60, 18, -2)  # prices are mixed with 2^-60 .. 2^-20 of others
DECIMALS = decimal.Context(prec=60, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)
ALLOWED = Fraction(
    1, 10**24
)  # of the sum of the absolute values, for what decimals and multiples of 1 / ONE lose
INVISIBLE = Fraction(1, 10**6)  # a row of A of that squared length, in unit covariance, is as good as free
PLENTY = 4  # times what the scale derivative is a sum of: more than any distance, except where all is flat
# Two distances are ties where they differ by less than 1/CLOSE of the least or 1/ROUNDING of the largest.
CLOSE, ROUNDING = 10**9, 1 << 46
BYTES, DEEP, PRINTED = 1 << 26, 64, 80  # of a file; brackets within brackets; characters of a string of it
SETS, EMPTY = 10**6, 10**4  # sets of neighbours, for a tree; the longest side of an array without entries
DEGREE = 100  # of a kernel: entries of K have that many times the digits of the data


def require(holds, otherwise):
    """Refuse the file unless `holds`; an assert would be void under python -O."""
    if not holds:
        raise ValueError(otherwise)


# ---- the file ----


def shown(value, letters=PRINTED):
    """A value of a file as a terminal shows it: ASCII, on one line, with escapes such as \\x1b and \\n, and cut."""
    if isinstance(value, (list, dict)):
        return f"a {type(value).__name__}"
    said = str(value)[: letters + 1].encode("unicode_escape").decode("ascii")
    return said if len(said) <= letters else said[: letters - 3] + "..."


def read(path):
    """The stored fields, from either format. Raises ValueError, with a sentence, if they cannot be read."""
    require(os.path.isfile(path), "it is not a regular file")
    require(os.path.getsize(path) <= BYTES, f"it has more than {BYTES >> 20} MiB")
    return from_npz(path) if path.endswith(".npz") else from_json(path)


def from_json(path):
    with open(path, "rb") as file:
        return parsed(file.read(BYTES).decode("utf-8"))


def parsed(text):
    """The content of JSON that is not too deep."""
    try:
        content = json.loads(text)
    except RecursionError:
        content = None
    require(
        content is not None and not is_deep(content, DEEP), f"it has more than {DEEP} brackets in brackets"
    )
    return content


def is_deep(value, left):
    """True if there are more than so many lists and objects within each other."""
    if not isinstance(value, (list, dict)):
        return False
    within = value.values() if isinstance(value, dict) else value
    return left == 0 or any(is_deep(each, left - 1) for each in within)


def from_npz(path):
    with zipfile.ZipFile(path) as packed:
        members = packed.infolist()
        require(sum(m.file_size for m in members) <= BYTES, f"it unpacks to more than {BYTES >> 20} MiB")
        arrays = {member.filename.removesuffix(".npy"): array_of(packed, member) for member in members}
    content = parsed(str(arrays["header"]))
    require(isinstance(content, dict), "its header is no JSON object")
    content["dual"] = {key[5:]: array.tolist() for key, array in arrays.items() if key.startswith("dual_")}
    content |= {key: arrays[key] for key in ("X", "y", "metric")}
    counts, flat = arrays["neighbor_counts"], arrays["neighbors"]
    require(counts.shape in ((0,), content["y"].shape) and flat.ndim == 1, "its neighbors are no lists")
    content["neighbors"] = [part.tolist() for part in np.split(flat, np.cumsum(counts))[:-1]]
    return content


def array_of(packed, member):
    """An array of an archive, once its header says that it is no larger than its member, and of 8-byte numbers."""
    with packed.open(member) as file:
        version = np.lib.format.read_magic(file)
        require(version in ((1, 0), (2, 0)), "an array of it has another version")
        later = version == (2, 0)
        of = np.lib.format.read_array_header_2_0 if later else np.lib.format.read_array_header_1_0
        shape, _, dtype = of(file)
    size = math.prod(shape) * dtype.itemsize
    require(0 <= size <= member.file_size, "an array of it is shorter than it says")
    require(size or max(shape, default=0) <= EMPTY, "an array of it has a side that is too long")
    number = dtype.kind in "iuf" and dtype.itemsize == 8
    require(number or member.filename == "header.npy", "an array of it is not of 8-byte numbers")
    with packed.open(member) as file:
        return np.lib.format.read_array(file, allow_pickle=False)


def require_types(content):
    """Refuse fields of another type than `cvxml solve --out` writes.

    The types are looked at before numpy converts: it gives every text of a list as much memory as the longest needs.
    """
    require(isinstance(content, dict), "it is no JSON object")
    for name, kind in (("method", str), ("params", dict), ("dual", dict)):
        require(isinstance(content.get(name), kind), f"its {name} is missing, or of another type")
    fields = {name: content[name] for name in ("X", "y", "metric", "neighbors") if name in content}
    for name, value in [*fields.items(), *content["dual"].items()]:
        require(are_numbers(value), f"in its {shown(name)} is something that is no number, or not finite")
    for name, value in content["params"].items():
        parts = value.values() if isinstance(value, dict) else [value]
        plain = all(part is None or isinstance(part, str) or are_numbers(part) for part in parts)
        require(plain, f"its {shown(name)} is of another type")
    derived = content.get("derived", [])
    texts = isinstance(derived, list) and all(isinstance(name, str) for name in derived)
    require(texts, "derived is no list of names")


def are_numbers(value):
    """True of a finite number of 64 bits, of an array of these, and of lists of these."""
    if isinstance(value, (list, tuple)):
        return all(map(are_numbers, value))
    if isinstance(value, (np.ndarray, np.number)):
        return value.dtype.kind in "iuf" and bool(np.isfinite(value).all())
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 63


def reason(error):
    """Why a file holds no proof, on one line."""
    if isinstance(error, KeyError):
        return f"it has no {shown(error.args[0])}"
    if isinstance(error, (MemoryError, RecursionError)):
        return "its problem is too large for the memory"
    return shown(str(error) or type(error).__name__, 400)


# ---- integers, fractions and decimals ----


def whole(array):
    """Floats as integers of any size, and the power of two that they are multiples of."""
    array = np.asarray(array, float)
    require(np.isfinite(array).all(), "what should be a number is no number, or not finite")
    mantissas, exponents = np.frexp(array)
    integers = np.ldexp(mantissas, 53).astype(np.int64).astype(object)
    least = int(exponents[array != 0].min()) if array.any() else 0
    return integers << np.where(array == 0, 0, exponents - least).astype(object), Fraction(2) ** (least - 53)


def floats(integers):
    """The largest becomes 1 or so; what is lost is lost only to what is proposed."""
    shift = max(max((int(v).bit_length() for v in integers.flat), default=0) - 1000, 0)
    small = (integers >> shift).astype(float)
    return small / (np.abs(small).max(initial=0.0) or 1.0)


def eliminate(matrix, steps):
    """(D, R) with D the leading minor of that size, and R / D what elimination leaves; None if a pivot is <= 0."""
    before = 1
    for _ in range(steps):
        pivot = matrix[0, 0]
        if pivot <= 0:
            return None
        # without fractions: every entry is a minor, and the division has no remainder
        matrix = (pivot * matrix[1:, 1:] - np.multiply.outer(matrix[1:, 0], matrix[0, 1:])) // before
        before = pivot
    return before, matrix


def psd(Z):
    """True if the integers Z, symmetric, are positive semidefinite."""
    if (np.diag(Z) < 0).any():
        return False
    # where Z is clearly not, a direction shows it sooner than pivots
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


def shares(Z, better, otherwise="the prices leave the dual cone"):
    """(a, b) with a Z + b better psd, b as small a part of a + b as is found."""
    if psd(Z):
        return 1, 0
    for k in SHARES:
        if psd((2**k - 1) * Z + better):
            return 2**k - 1, 1
    raise ValueError(otherwise)


def positive_square(G):
    """At least ||P_+(G)||^2 of the integers G: ||G + S||^2, S the psd matrix L L^T near the negative part.

    0 where -G is psd, which pivots say without rounding.
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
    """sum weights_ij (e_i - e_j)(e_i - e_j)^T."""
    return np.diag(weights.sum(axis=0) + weights.sum(axis=1)) - weights - weights.T


def outer_sum(X, weights):
    """sum weights_ij X_ij of integers."""
    return X.T.dot(laplacian(weights).dot(X))


def at_pairs(n, pairs, values):
    """The integers `values` at these places of a matrix (n, n), added up."""
    weights = np.zeros((n, n), object)
    for (i, j), value in zip(pairs, values, strict=True):
        weights[i, j] += value
    return weights


def digits(x):
    """A fraction as a decimal."""
    return DECIMALS.divide(decimal.Decimal(x.numerator), decimal.Decimal(x.denominator))


def log(x):
    """Of a fraction, to 60 digits."""
    return Fraction(DECIMALS.ln(digits(x)))


def root(x):
    """Of a fraction, to 60 digits."""
    return Fraction(DECIMALS.sqrt(digits(x)))


def sum_of_roots(values):
    """Of fractions, to 58 digits; as decimals, since the denominator of a sum of fractions grows with every one."""
    total = decimal.Decimal(0)
    for v in values:
        total = DECIMALS.add(total, DECIMALS.sqrt(digits(v)))
    return Fraction(total)


def exponentials(values, unit):
    """exp(-unit v) for integers v >= 0, as multiples of 1 / ONE, each off by less than two of them."""
    times, factor, one = DECIMALS.multiply, digits(-unit), decimal.Decimal(ONE)
    powers = [times(decimal.Decimal(int(v)), factor) for v in values]
    # below e^-120 it is less than 1 / ONE
    return [int(times(DECIMALS.exp(power), one)) if power > -120 else 0 for power in powers]


def entropy(row):
    """Of integers >= 0, divided by their sum."""
    total, weighted = sum(row), decimal.Decimal(0)
    for v in row:
        if v:
            v = decimal.Decimal(int(v))
            weighted = DECIMALS.fma(v, DECIMALS.ln(v), weighted)
    return log(Fraction(total)) - Fraction(weighted) / total


def lowered(row, total):
    """The integers `row`, the largest lowered until they add up to no more than that."""
    row, excess = list(row), sum(row) - total
    for k in sorted(range(len(row)), key=lambda k: -row[k]):
        cut = min(row[k], max(excess, 0))
        row[k], excess = row[k] - cut, excess - cut
    return row


def of_simplex(row, whose):
    """Floats >= 0 that add up to 1, as multiples of 1 / ONE that do so exactly."""
    row = [float(v) for v in row]
    require(min(row, default=-1) >= 0 and abs(sum(row) - 1) <= 1e-9, f"{whose} leaves the simplex")
    row = lowered([int(Fraction(v) * ONE) for v in row], ONE)
    row[max(range(len(row)), key=row.__getitem__)] += ONE - sum(row)
    return row


# ---- the metric and its distances ----


def symmetric(metric, d):
    """The symmetric part (d, d) of what is symmetric to 1e-6 of its norm: in floats, and as integers with a unit."""
    A = np.array(metric, float)
    require(A.shape == (d, d), "X or the metric has another shape")
    integers, unit = whole(A)
    A = A / (np.abs(A).max(initial=0) or 1.0)  # its norm must not overflow
    require(np.abs(A - A.T).max(initial=0) <= 1e-6 * np.linalg.norm(A), "the metric is not symmetric")
    return (A + A.T) / 2, integers + integers.T, unit / 2


def root_near(metric, d, rank):
    """L (d, rank) as integers, and the unit of L L^T, which is near the metric if that is of this rank."""
    A = symmetric(metric, d)[0]
    # in units of its own diagonal: what L L^T is off by is little for every feature
    diagonal = np.abs(np.diag(A))
    scale = np.exp2(np.round(np.log2(np.where(diagonal > 0, diagonal, 1.0)) / 2))
    values, vectors = np.linalg.eigh(A / np.outer(scale, scale))
    L, unit = whole((vectors * np.sqrt(np.maximum(values, 0)) * scale[:, None])[:, d - rank :])
    return L, unit**2 * Fraction(float(np.abs(np.array(metric, float)).max()))


def candidates(metric, d, rank=None):
    """The metric as integers with a unit; also L L^T beside it if it is not psd, or the rank is less than d.

    The last is psd, and of that rank.
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
    """True if each entry differs by at most 1e-6 of the root of the diagonal entries of its row and column."""
    (A, a), (M, by) = given, near
    own = np.abs(np.diag(A)) * a
    off = np.abs(A * (a / by).numerator - M * (a / by).denominator) * by / (a / by).denominator
    bounds = np.multiply.outer(own, own)
    return bool((off * off * 10**12 <= bounds).all())


def distances(X, A):
    """(x_i - x_j)^T A (x_i - x_j), at least 0, of integers."""
    cross = X.dot(A).dot(X.T)
    own = np.diag(cross)
    return np.maximum(own[:, None] + own[None] - cross - cross.T, 0)


def squares(content, rank=None):
    """The points as integers and their unit; the squared distances in every candidate, and their unit."""
    X, unit = whole(content["X"])
    require(X.ndim == 2, "X or the metric has another shape")
    found = candidates(content["metric"], X.shape[1], rank)
    return X, unit, [(distances(X, A), unit**2 * of, A, of) for A, of in found]


# ---- mlsvm ----


def neighbor_lists(lists, n):
    """N(i) as lists: one a point, of other points, each of them once."""
    require(len(lists) == n, f"there are {len(lists)} neighbour lists for {n} points")
    for i, listed in enumerate(lists):
        require(i not in listed, f"the neighbour list of {i} holds the point itself")
        require(len(set(listed)) == len(listed), f"the neighbour list of {i} holds a point twice")
        require(all(j in range(n) for j in listed), f"the neighbour list of {i} leaves 0..{n - 1}")
    return [[int(j) for j in listed] for listed in lists]


def prices(content, lists):
    """sum_i s_i, and the weights of the X_ij in G, as fractions: (integers, their unit), every row made feasible."""
    y, n, dual = content["y"], len(lists), content["dual"]
    values, unit = whole([*dual["u"], *dual["w"]])
    index = [*dual["u_index"], *dual["w_index"]]
    require(
        len(index) == len(values) and len(dual["u"]) == len(dual["u_index"]), "one list of prices is shorter"
    )
    rows = [({}, {}) for _ in range(n)]
    for at, ((i, j), value) in enumerate(zip(index, values, strict=True)):
        name = "w" if at >= len(dual["u"]) else "u"
        require(i in range(n) and j in lists[i], f"{i}, {j} is not a pair of neighbours")
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
        require(max(s) * 10**9 <= most * (10**9 + 1), "a price is above 1/n")
        for part, sign in ((u, 1), (w, -1)):
            for j, v in zip(part, lowered(part.values(), min(*s, most)), strict=True):
                weights[i, j] += sign * v
        total += min(*s, most)
    return total, weights, unit


def slacks(D, unit, y, lists):
    """sum_i max(0, 1 + farthest target - nearest impostor)."""
    total = Fraction(0)
    for i, listed in enumerate(lists):
        targets = [D[i, j] for j in listed if y[j] == y[i]]
        impostors = [D[i, j] for j in listed if y[j] != y[i]]
        if targets and impostors:
            total += max(Fraction(0), 1 + (max(targets) - min(impostors)) * unit)
    return total


def recompute_mlsvm(content):
    """(objective, bound, scale)."""
    kernel = content["method"] == "kernel_mlsvm"
    require(
        kernel or content["method"] == "mlsvm", f"the method {shown(content['method'])} is not known here"
    )
    y, n, lam = content["y"], len(content["X"]), Fraction(float(content["params"]["lam"]))
    lists = neighbor_lists(content["neighbors"], n)
    require(lam > 0, f"lam is {content['params']['lam']}, and must be above 0")
    require(len(y) == n, f"there are {len(y)} labels for {n} points")
    total, weights, unit = prices(content, lists)
    if kernel:
        measured, square = kernel_squares(content, laplacian(weights))
    else:
        X, of, found = squares(content)
        measured = [(D, by, (A * A).sum() * a**2, 0) for D, by, A, a in found]
        square = of**4 * positive_square(outer_sum(X, weights))
    # off: of a kernel that is no fraction, what a distance and ||A||^2 may be off by
    values = [(lam / 2 * (a + off) + slacks(D, by, y, lists) / n + 2 * off, a) for D, by, a, off in measured]
    return max(v for v, _ in values), total * unit - unit**2 * square / (2 * lam), lam / 2 * values[-1][1]


def kernel_matrix(content):
    """K as integers and their unit, and what an entry may be off by, in integers."""
    X, unit = whole(content["X"])
    params = content["params"]
    require(params["kernel"] in ("poly", "rbf"), f"the kernel {shown(params['kernel'])} is not known here")
    if params["kernel"] == "poly":
        p = int(params["degree"])
        require(
            p == params["degree"] and 0 < p <= DEGREE, f"the degree is no whole number from 1 to {DEGREE}"
        )
        return X.dot(X.T) ** p, unit ** (2 * p), 0
    gamma = Fraction(1 / X.shape[1] if params["gamma"] is None else float(params["gamma"]))
    require(gamma > 0, "gamma is not positive")
    D = distances(X, np.diag([1] * X.shape[1]).astype(object))
    return np.array([exponentials(row, gamma * unit**2) for row in D], object), Fraction(1, ONE), 2


def kernel_squares(content, G):
    """As `squares`, with ||A||^2 and what is lost, of A = sum phi_ij Phi(x_i) Phi(x_j)^T; and ||P_+||^2 of G like phi.

    With F = phi K^1/2 v / sqrt(lambda) of the eigenvectors of K^1/2 phi K^1/2, phi may be replaced by F F^T.
    """
    K, unit, off = kernel_matrix(content)
    _, given, of = symmetric(content["metric"], len(K))
    phi = np.array(content["metric"], float)
    values, vectors = np.linalg.eigh((K * unit).astype(float))
    half = (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T

    def factor(M, sign):
        values, vectors = np.linalg.eigh(half @ ((M + M.T) / 2) @ half)
        norm = np.linalg.norm(values)
        require(sign < 0 or values.min(initial=0) >= -1e-6 * norm, "the metric is not psd")
        kept = sign * values > 1e-15 * norm
        return whole(M @ half @ (vectors[:, kept] / np.sqrt(sign * values[kept])))

    def lost(M, by):
        """More than entries of tr(M K M K), or of K M K, can be off by."""
        most = int(np.abs(K).max()) * unit + off * unit
        return 16 * off * unit * (1 + most) * (1 + np.abs(M).sum() * by) ** 2

    found = []
    L, fine = factor(phi, 1)
    for M, by in ((given, of), (L.dot(L.T), fine**2)):
        D = distances(np.diag([1] * len(K)).astype(object), K.dot(M).dot(K))
        MK = M.dot(K)
        found.append((D, unit**2 * by, (MK * MK.T).sum() * (unit * by) ** 2, lost(M, by)))
    size = int(np.abs(G).max()) or 1
    L, fine = factor((G / size).astype(float), -1)
    ratio = fine**2 * size
    rest = G * ratio.denominator + L.dot(L.T) * ratio.numerator
    RK = rest.dot(K)
    square = (RK * RK.T).sum() * unit**2 + lost(rest, Fraction(1))
    return found, square / ratio.denominator**2


# ---- gerrymandering ----


def splits(votes, sizes):
    """All ways to give that many votes to classes that have at most so many points."""
    if not sizes:
        return [()] if votes == 0 else []
    return [(m, *rest) for m in range(min(votes, sizes[0]) + 1) for rest in splits(votes - m, sizes[1:])]


def task_loss(costs, counts):
    """Of the classes tied for most votes, the one that costs most."""
    return max(cost for cost, m in zip(costs, counts, strict=True) if m == max(counts))


def recompute_ssvm(content):
    """Of the convex step of gerrymandering at the metric, or of all F."""
    y, params = [int(c) for c in content["y"]], content["params"]
    X, unit, found = squares(content)
    k, C, n, Lam = params["n_neighbors"], Fraction(float(params["C"])), len(X), params["loss_matrix"]
    R = len(Lam)
    require(C > 0 and k in range(1, n) and len(y) == n, "C, n_neighbors or the number of labels is wrong")
    require(all(c in range(R) for c in content["y"]), "a label is no row of loss_matrix")
    require(
        all(len(row) == R and row[c] == 0 for c, row in enumerate(Lam))
        and all(0 < v < math.inf for c, row in enumerate(Lam) for e, v in enumerate(row) if e != c),
        "no loss_matrix",
    )
    Lam, values, latents = [[Fraction(float(v)) for v in row] for row in Lam], [], []
    plain = distances(X, np.diag([1] * X.shape[1]).astype(object))
    for D, by, A, of in found:
        losses, latents = Fraction(0), []
        order = D if A.any() else plain  # at W = 0 all sets tie: h* is that of the identity
        for i in range(n):
            near = [
                sorted((j for j in range(n) if y[j] == c and j != i), key=order[i].__getitem__)
                for c in range(R)
            ]
            # the sets of some numbers of votes that cost least: the nearest points of each class
            sets = [
                (v, [j for c in range(R) for j in near[c][: v[c]]]) for v in splits(k, [len(c) for c in near])
            ]
            wins = [h for v, h in sets if all(v[y[i]] > v[c] for c in range(R) if c != y[i])]
            require(wins, f"the class of point {i} cannot win")
            latents.append(min(wins, key=lambda h, row=order[i]: row[h].sum()))
            losses += max(task_loss(Lam[y[i]], v) - by * D[i][h].sum() for v, h in sets)
            losses += by * D[i][latents[-1]].sum()
        values.append((A * A).sum() * of**2 + C * losses)
    bound = (tree_bound if "tree" in content["dual"] else step_bound)(
        X, unit, y, k, C, Lam, content["dual"], latents
    )
    return max(values), bound, (found[-1][2] ** 2).sum() * found[-1][3] ** 2


def step_bound(X, unit, y, k, C, Lam, dual, latents):
    """The bound of the step where h*_i are these sets."""
    n, R, losses, weights = len(X), len(Lam), Fraction(0), np.zeros((len(X), len(X)), object)
    rows = [([], []) for _ in range(n)]
    for (i, *h), q in zip(dual["q_index"], dual["q"], strict=True):
        proper = len(set(h)) == len(h) == k and i not in h and all(j in range(n) for j in (i, *h))
        require(proper, f"{h} is no set of {k} others of {i}")
        require(q >= 0, f"the weight of {i}, {h} is negative or no number")
        rows[int(i)][0].append([int(j) for j in h])
        rows[int(i)][1].append(q)
    for i, (sets, q) in enumerate(rows):
        require(abs(sum(q) - 1) <= 1e-9, "the weights of a point do not add up to 1")
        for h, v in zip(sets, of_simplex(q, "a point's weights"), strict=True):
            losses += v * task_loss(Lam[y[i]], [sum(y[j] == c for j in h) for c in range(R)])
            weights[i, h] += v
        weights[i, latents[i]] -= ONE
    square = (C * unit**2 / ONE) ** 2 * positive_square(outer_sum(X, weights))
    return C * losses / ONE - square / 4


def tree_bound(X, unit, y, k, C, Lam, dual, _):
    """The least bound of the leaves of the tree."""
    n, R = len(X), len(Lam)

    def counts(h):
        return [sum(y[j] == c for j in h) for c in range(R)]

    def wins(i, h):
        return all(counts(h)[y[i]] > m for c, m in enumerate(counts(h)) if c != y[i])

    def bound_of(leaf, left):
        inside = [set.intersection(*listed) for listed in left]
        outside = [set(range(n)) - set.union(*listed) - {i} for i, listed in enumerate(left)]
        weights, losses, rows = np.zeros((n, n), object), Fraction(0), [([], []) for _ in range(n)]
        for (at, i, *h), q in zip(dual["q_index"], dual["q"], strict=True):
            if at == leaf:
                proper = q >= 0 and len(set(h)) == len(h) == k and i not in h and set(h) <= set(range(n))
                require(proper and i in range(n), "no set, or no weight")
                rows[i][0].append(h)
                rows[i][1].append(int(Fraction(q) * ONE))
        for i, (sets, q) in enumerate(rows):
            require(sum(q) * 10**9 <= ONE * (10**9 + 1), "the weights of a point add up to more than 1")
            for h, v in zip(sets, lowered(q, ONE), strict=True):
                losses += v * task_loss(Lam[y[i]], counts(h))
                weights[i, h] += v * C.numerator
                weights[i, list(inside[i])] -= v * C.numerator
        for (at, i, j, other), nu in zip(dual["nu_index"], dual["nu"], strict=True):
            if at == leaf:
                require(
                    nu >= 0 and j in inside[i] and other in outside[i], "no exchange, or a negative price"
                )
                require(y[other] in (y[j], y[i]), f"{other} could not take the place of {j}")
                v = int(Fraction(nu) * ONE) * C.denominator
                weights[i, j] -= v
                weights[i, other] += v
        square = (unit**2 / (ONE * C.denominator)) ** 2 * positive_square(outer_sum(X, weights))
        return C * losses / ONE - square / 4

    def below(row, left):
        if not all(left):
            return math.inf
        i, j, yes, no = (int(v) for v in dual["tree"][row])
        if i < 0:
            return bound_of(row, left)
        require(yes > row and no > row, "the tree turns back")
        parts = ([h for h in left[i] if j in h], [h for h in left[i] if j not in h])
        return min(
            below(to, [*left[:i], part, *left[i + 1 :]]) for to, part in zip((yes, no), parts, strict=True)
        )

    others = [[j for j in range(n) if j != i] for i in range(n)]
    require(n * math.comb(n - 1, k) <= SETS, f"there are more than {SETS} sets of neighbours to list")
    return below(0, [[set(h) for h in itertools.combinations(others[i], k) if wins(i, h)] for i in range(n)])


# ---- glml ----


def inverse(S):
    """(D, the inverse times D) of integers S, positive definite."""
    d = len(S)
    eye = np.diag([1] * d).astype(object)
    found = eliminate(np.block([[S, eye], [eye, 0 * eye]]), d)
    require(found is not None, "a matrix is not positive definite")
    return found[0], -found[1]


def gaussian(points, unit, alpha):
    """(m, mean times m, covariance by 1/m plus alpha as integers N and kappa, Sigma = kappa N) of integers."""
    m, total = len(points), points.sum(axis=0)
    spread = m * points.T.dot(points) - np.multiply.outer(total, total)
    ratio = alpha * m * m / unit**2
    N = spread * ratio.denominator + np.diag([ratio.numerator] * len(total)).astype(object)
    return m, total, N, unit**2 / (m * m * ratio.denominator)


def local_B(classes, x, unit, priors):
    """(integers B, what an entry may be off by): a multiple of B for two classes up to its sign."""
    logs, G = [], []
    for (m, total, kappa, (det, adjugate)), prior in zip(classes, priors, strict=True):
        away = m * x - total
        pull = adjugate.dot(away)
        # pull * step is Sigma^-1 (x - mean)
        step = unit / (m * det * kappa)
        logs.append(
            log(prior) - (log(Fraction(det)) + len(x) * log(kappa)) / 2 - away.dot(pull) * step * unit / m / 2
        )
        G.append(np.multiply.outer(pull, pull) * step**2 - adjugate / (det * kappa))
    if len(G) == 2:
        B, off = G[0] - G[1], Fraction(0)
    else:
        pairs = [sorted(pair, key=logs.__getitem__) for pair in itertools.combinations(range(len(G)), 2)]
        sizes = [logs[a] + 2 * logs[b] for a, b in pairs]
        B, one = np.zeros_like(G[0]), Fraction(1, ONE)
        for (a, b), size in zip(pairs, sizes, strict=True):
            (less,), (factor,) = exponentials([1], logs[b] - logs[a]), exponentials([1], max(sizes) - size)
            B = B + factor * (ONE - less) * one**2 * (G[b] - G[a])
        most = max(abs(v) for g in G for v in g.flat)
        off = len(pairs) * most * (64 * one + Fraction(1, 10**50) * (1 + max(abs(v) for v in logs)))
    largest = max(abs(v) for v in B.flat)
    require(largest > 0 or off == 0, "whether B is 0 is not decided")
    if not largest:
        return 0 * adjugate, 0
    return np.array([[round(v / largest * ONE) for v in row] for row in B], object), math.ceil(
        off / largest * ONE
    ) + 1


def recompute_local(content):
    """Summed over the queries; the scale is such that gap / scale is that of the worst."""
    params, y, dual = content["params"], [int(c) for c in content["y"]], content["dual"]
    X, Q, A = (np.array(v, float) for v in (content["X"], params["query"], content["metric"]))
    require(params["model"] == "gaussian", f"the model {shown(params['model'])} is not known here")
    Q, A = (Q, A) if Q.ndim == 2 else (Q[None], A[None])
    require(len(X) == len(y) and y == list(content["y"]), f"there are no whole labels for {len(X)} points")
    require(min(y) >= 0 and max(y) < len(y), "the labels are not 0, 1 and so on")
    counts = [y.count(c) for c in range(max(y) + 1)]
    priors = counts if params["priors"] == "empirical" else params["priors"]
    priors = [1.0] * len(counts) if priors is None else priors
    require(min(priors) > 0 and len(priors) == len(counts), "the priors are not positive, one a class")
    require(len(Q) == len(A) == len(dual["y"]) == len(dual["u"]), "not one metric a query")
    points, unit = whole(np.concatenate([X, Q]))
    alpha, classes, rows = Fraction(float(params["alpha"])), [], []
    for c in range(len(counts)):
        m, total, N, kappa = gaussian(points[: len(X)][np.array(y) == c], unit, alpha)
        classes.append((m, total, kappa, inverse(N)))
    for x, metric, v, u in zip(points[len(X) :], A, dual["y"], dual["u"], strict=True):
        B, off = local_B(classes, x, unit, [Fraction(float(p)) for p in priors])
        rows.append(at_query(B, off, metric, Fraction(float(v)), Fraction(float(u))))
    objective, bound, gap, _ = (sum(column) for column in zip(*rows, strict=True))
    worst = max(row[2] / row[3] for row in rows)
    return objective, bound, gap / worst if worst > 0 else sum(row[3] for row in rows), gap


def at_query(B, off, metric, v, u):
    """(objective, bound, gap, scale) of a metric where B is this, each entry off by at most `off`."""
    d = len(B)
    _, N, by = symmetric(metric, d)
    det, adjugate = inverse(N)
    size = (log(Fraction(det)) + d * log(by)) / d
    require(abs(size) <= Fraction(1, 10**6), "the determinant of a metric is not 1")
    M = adjugate * (Fraction(DECIMALS.exp(digits(size))) / (det * by))
    norm_M, norm = root((M * M).sum()), root(Fraction((B * B).sum()))
    if not norm:
        return Fraction(0), Fraction(0), Fraction(0), norm_M
    eye = np.diag([d * off] * d).astype(object)
    t = (abs((M * B).sum()) + off * np.abs(M).sum()) / (norm - d * off) * (1 + ALLOWED)
    for sign in (1, -1):
        if found := eliminate(sign * B - eye, d):
            require(u > 0 and v != 0, "y or u is not positive")
            log_det = log(Fraction(found[0])) - d * log(norm + d * off) - ALLOWED
            # the sign of y only says whether B or -B is meant
            bound = max(
                d * u - d * u * log(u / abs(v)) + u * log_det - v * v / 4 - ALLOWED * (1 + u), Fraction(0)
            )
            return t * t, bound, t * t - bound, (d * Fraction(DECIMALS.exp(digits(log_det / d)))) ** 2
        require(off == 0 or not psd(sign * B + eye), "whether B is definite is not decided")
    return t * t, Fraction(0), t, norm_M


# ---- rows of the simplex: nca and mcml ----


def softmax(X, M, i):
    """The row i of softmax(-<M, X_ik>) over k != i, in floats."""
    D = np.einsum("ij,jk,ik->i", X[i] - X, M, X[i] - X)
    e = np.exp(-(D - np.delete(D, i).min()))
    e[i] = 0.0
    return e / e.sum()


def recompute_nca(content):
    """Of the convex step at the metric; to first order where the rank is limited."""
    params, dual, y = content["params"], content["dual"], np.array(content["y"])
    require(
        params["criterion"] in ("f", "g"), f"the criterion {shown(params['criterion'])} is not known here"
    )
    m, n = rank_asked(content), len(content["X"])
    X, unit, found = squares(content, m)
    d = X.shape[1]
    same = (y[:, None] == y) * (1.0 - np.eye(n))
    s = same if params["similarity"] is None else np.array(params["similarity"], float)
    require(s.shape == (n, n) and (s >= 0).all() and not np.diag(s).any(), "no similarity")
    used, accuracy = np.flatnonzero(s.any(axis=1)), params["criterion"] == "f"
    s, of = whole(s)
    objectives, parts = likelihoods(found, s, of, used, accuracy)
    best = [s[i].max() * of for i in used]
    trivial = -sum(best if accuracy else map(log, best))
    if m < len(independent(covariance(X))):
        return stationary_nca(content, m, (X, unit, found[-1]), (s, of, used), objectives, parts, trivial)
    require(len(dual["theta"]) == 1, "nothing made its rows feasible")
    theta = float(dual["theta"][0])
    require(0 <= theta <= 1, "theta is no share")
    proposed = []
    for name in ("R", "interior"):
        M, floating = np.array(dual[name], float), np.array(content["X"], float)
        require(M.shape == (d, d), f"{name} has another shape")
        proposed.append([of_simplex(softmax(floating, M, i), "a row") for i in used])
    share = int(Fraction(theta) * ONE)
    q = [
        [((ONE - share) * a + share * b) for a, b in zip(*rows, strict=True)]
        for rows in zip(*proposed, strict=True)
    ]
    strict = [[ONE * b for b in row] for row in proposed[1]]
    # the last metric is psd: its step. What is pulled is at least this, what is pushed at most, psd or not
    pull, push = np.zeros((n, n), object), []
    for i, (e, wanted, _, p, _) in zip(used, parts, strict=True):
        c = p * (1 + ALLOWED) if accuracy else Fraction(1)
        push.append(math.ceil(c * ONE))
        for j in np.flatnonzero(s[i]):
            less = Fraction(int(s[i, j]) * max(e[j] - 2, 0), wanted)
            pull[i, j] = math.floor((p if accuracy else 1) * less * (1 - ALLOWED) * ONE) * ONE**2

    def outside(rows):
        weights = pull.copy()
        for i, c, row in zip(used, push, rows, strict=True):
            weights[i] -= c * np.array(row, object)
        return outer_sum(X, weights)

    a, b = shares(outside(q), outside(strict), "the rows leave the dual cone")
    bound, limit = Fraction(0), Fraction(0)
    for i, row, free, (e, wanted, all_, p, beyond) in zip(used, q, strict, parts, strict=True):
        mixed = entropy([a * v + b * w for v, w in zip(row, free, strict=True)])
        known = sum(int(s[i, j]) * e[j] * beyond[j] for j in np.flatnonzero(s[i])) / wanted + log(
            Fraction(all_, ONE)
        )
        bound += p * (mixed - known) - p if accuracy else mixed - known - log(p)
        nearest = [s[i, j] * of for j in range(n) if j != i and beyond[j] == 0]
        nearest = Fraction(sum(nearest)) / len(nearest)
        limit -= nearest if accuracy else log(nearest) if nearest else -math.inf
    objective = objectives[-1]
    away = abs(objective - limit) if found[-1][2].any() and limit < math.inf else objective - trivial
    lost = ALLOWED * n
    return max(objectives) + lost, bound - lost, min(objective - trivial, away)


def likelihoods(found, s, of, used, accuracy):
    """-f or -g of every candidate; of the last, for each point used: e, wanted, their sum, p_i, what is beyond."""
    objectives = []
    for D, by, *_ in found:
        objective, parts = Fraction(0), []
        for i in used:
            low = min(v for j, v in enumerate(D[i]) if j != i)
            e = exponentials(np.maximum(D[i] - low, 0), by)
            e[i] = 0
            wanted, all_ = sum(a * b for a, b in zip(s[i], e, strict=True)), sum(e)
            require(wanted << 60 > s[i].max() * all_, f"the probability of point {i} underflows")
            p = wanted * of / all_
            objective -= p if accuracy else log(p)
            parts.append((e, wanted, all_, p, (D[i] - low) * by))
        objectives.append(objective)
    return objectives, parts


def recompute_mcml(content):
    """A point that is alone in its class has no row."""
    require("q" in content["dual"], "prices that are known by their metric alone are not recomputed for mcml")
    X, _, found = squares(content)
    y, n, q = np.array(content["y"]), len(X), np.array(content["dual"]["q"], float)
    require(len(y) == n and q.shape == (n, n), "not one label and one row of q a point")
    mates = (y[:, None] == y) & ~np.eye(n, dtype=bool)
    used = np.flatnonzero(mates.any(axis=1))
    objectives = []
    for D, by, _, _ in found:
        total = Fraction(0)
        for i in used:
            low = min(v for j, v in enumerate(D[i]) if j != i)
            e = exponentials(np.maximum(D[i] - low, 0), by)
            total += (Fraction(D[i][mates[i]].sum()) / int(mates[i].sum()) - low) * by
            total += log(Fraction(sum(e) - e[i], ONE))
        objectives.append(total)
    rows = np.zeros((n, n), object)
    for i in used:
        require(q[i, i] == 0, "a row leaves the simplex")
        rows[i] = of_simplex(q[i], "a row")
    common = math.lcm(*(int(m) for m in mates.sum(axis=1)[used]))
    pull = np.zeros((n, n), object)
    for i in used:
        pull[i, mates[i]] = ONE * (common // int(mates[i].sum()))
    strict = strict_rows(np.array(content["X"], float), mates, rows)
    a, b = shares(outer_sum(X, pull - common * rows), outer_sum(X, pull - common * strict))
    bound = sum(entropy(a * rows[i] + b * strict[i]) for i in used)
    return max(objectives) + ALLOWED * n, bound - ALLOWED * n, max(objectives)


def strict_rows(X, mates, rows):
    """Softmax rows, where `rows` are not 0, of a multiple of the inverse of what is pulled: the most strict of some."""
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


# ---- to first order: mlkr, and nca where the rank is limited ----


def rank_asked(content):
    m, d = content["params"]["n_components"], np.shape(content["X"])[1]
    require(isinstance(m, int) and 1 <= m <= d, f"n_components is no rank from 1 to {d}")
    return m


def covariance(X):
    """Of the rows of X (n, d), integers, times n^3."""
    around = len(X) * X - X.sum(axis=0)
    return around.T.dot(around)


def independent(C):
    """Indices of rows of psd integers C that are a basis of all of them: those whose pivot is not 0."""
    found, before = [], 1
    for k in range(len(C)):
        pivot = C[0, 0]
        if pivot:
            found.append(k)
            C, before = (pivot * C[1:, 1:] - np.multiply.outer(C[1:, 0], C[0, 1:])) // before, pivot
        else:
            C = C[1:, 1:]
    return found


def first_order(content, m, X, unit, M, of, weights, fine, off):
    """(|A|^2, what a step no longer than max(|A|, 1) wins to first order, at most), in unit covariance.

    The metric is M times `of`. weights times fine: of the X_ij in dF/dQ, integers, each off by `off` at most.
    """
    n, d = X.shape
    C, c = covariance(X), unit**2 / n**3
    basis = independent(C)
    G, g = outer_sum(X, weights), fine * unit**2
    H, near = G[basis], C[np.ix_(basis, basis)]
    det, adjugate = inverse(near)
    long = (C * M).sum() * c * of
    size = max(root(long) * (1 + ALLOWED), Fraction(1))
    # the sum of all |y_i - y_j|^2 is 2 n^2 r where the y have unit covariance in r dimensions
    lost = 2 * n**2 * len(basis) * off
    square = 4 * (M.dot(H.T).dot(adjugate) * H.T).sum() * g**2 * of / (det * c)
    gradient = size * (root(max(square, Fraction(0))) * (1 + ALLOWED) + 2 * size * lost)
    if m < len(basis):
        L, by = root_near(content["metric"], d, m)
        rows = L.T.dot(C).dot(L) * (c * by / INVISIBLE).numerator
        if eliminate(rows - np.diag([(c * by / INVISIBLE).denominator] * m).astype(object), m) is not None:
            return long, gradient
    return long, max(gradient, size**2 * (won(H[:, basis], near) * g / c + lost))


def won(G, C):
    """A number t with G + t C psd, of integers, next to the least; C is definite."""
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
    raise ValueError("what a free row wins is not found")


def ties(row, i, largest):
    """The points that are nearest to i, of integers."""
    low = min(v for j, v in enumerate(row) if j != i)
    near = low + max(low // CLOSE, largest // ROUNDING)
    return [j for j, v in enumerate(row) if j != i and v <= near]


def resolved(objective, scales, turns, long, is_zero):
    """The least scale; 0 where it is no more than rounding."""
    if is_zero:
        return scales[0]
    least = min(*scales, PLENTY * turns / (min(long, 1) if long else 1))
    return least if least > abs(objective) / ROUNDING else Fraction(0)


def recompute_mlkr(content):
    """To first order."""
    m = rank_asked(content)
    X, unit, found = squares(content, m)
    n, (y, fine) = len(X), whole(content["y"])
    require(y.shape == (n,) and y.min() < y.max(), "the targets are not one a point, or all the same")
    spread = Fraction(int(y.max() - y.min())) * fine
    off = n * spread**2 / (ONE >> 10)  # far more than exponentials and divisions lose of a weight
    of_each = [regression(D, by, y) for D, by, *_ in found]
    (_, by, M, of), (F, limit, turns, weights) = found[-1], of_each[-1]
    unit_of_weights = fine**2 / ONE**3
    long, left = first_order(content, m, X, unit, M, of, weights, unit_of_weights, off)
    turns, F, limit = 2 * turns * by * unit_of_weights, F * fine**2, limit * fine**2
    scale = resolved(F, [F, abs(F - limit)], turns, long, not M.any())
    return max(error for error, *_ in of_each) * fine**2 + n * off, F - left - n * off, scale


def regression(D, by, y):
    """F and where multiples tend, in units of y; half the derivative's size and the weights, times ONE^3."""
    n = len(y)
    F, limit, turns, weights, largest = Fraction(0), Fraction(0), 0, np.zeros((n, n), object), D.max()
    for i, row in enumerate(D):
        beyond, from_y = np.maximum(row - np.delete(row, i).min(), 0), y - y[i]
        e = np.array(exponentials(beyond, by), object)
        e[i] = 0
        F += Fraction(int((e * from_y).sum()), int(e.sum())) ** 2
        p = e * ONE // e.sum()
        error = (p * from_y).sum()
        weights[i] = 2 * error * p * (error - ONE * from_y)
        turns += (np.abs(weights[i]) * beyond).sum()
        tied = ties(row, i, largest)
        limit += Fraction(int(from_y[tied].sum()), len(tied)) ** 2
    return F, limit, turns, weights


def stationary_nca(content, m, points, right, objectives, parts, trivial):
    """To first order, from what `recompute_nca` knows of the last candidate."""
    (X, unit, (D, by, M, of_M)), (s, of, used) = points, right
    accuracy, n, objective = content["params"]["criterion"] == "f", len(X), objectives[-1]
    off = n * max(Fraction(1), s.max() * of) / (ONE >> 80)  # no p_i is below 2^-60 of the largest s_ij
    limit, turns, weights = Fraction(0), 0, np.zeros((n, n), object)
    largest = D.max()
    for i, (e, wanted, all_, p, _) in zip(used, parts, strict=True):
        c = math.floor(p * ONE) if accuracy else ONE
        for j, v in enumerate(e):
            weights[i, j] = c * (int(s[i, j]) * v * ONE // wanted - v * ONE // all_)
        turns += (np.abs(weights[i]) * np.maximum(D[i] - np.delete(D[i], i).min(), 0)).sum()
        tied = ties(D[i], i, largest)
        nearest = Fraction(int(s[i, tied].sum()), len(tied)) * of
        limit -= nearest if accuracy else log(nearest) if nearest else -math.inf
    long, left = first_order(content, m, X, unit, M, of_M, weights, Fraction(1, ONE**2), off)
    above = objective - trivial
    away = abs(objective - limit) if limit < math.inf else above
    scale = resolved(objective, [above, away], 2 * turns * by / ONE**2, long, not M.any())
    lost = ALLOWED * n
    return max(objectives) + lost, objective - left - lost, scale


# ---- the others: targets, triplets and pairs ----


def numbers(content, name, count):
    """A dual variable: `count` finite numbers, as integers and their unit."""
    values = np.array(content["dual"][name], float)
    require(values.shape == (count,) and np.isfinite(values).all(), f"{name} is not {count} numbers")
    return whole(values)


def index_rows(rows, width, n, what):
    """Rows of that many indices, no row twice, as an array."""
    require(all(len(row) == width and all(i in range(n) for i in row) for row in rows), f"no {what}")
    require(len(set(map(tuple, rows))) == len(rows), f"one of the {what} is there twice")
    return np.array(rows, int).reshape(-1, width)


def given_pairs(content):
    """The similar and the dissimilar pairs: those given, or every two points, by their labels."""
    y, n = content["y"], len(content["X"])
    pairs = content["params"]["pairs"]
    if pairs is None:
        require(len(y) == n, f"there are {len(y)} labels for {n} points")
        every = list(itertools.combinations(range(n), 2))
        pairs = {"similar": [(i, j) for i, j in every if y[i] == y[j]]}
        pairs["dissimilar"] = [(i, j) for i, j in every if y[i] != y[j]]
    index = [index_rows(pairs[kind], 2, n, "pairs of points") for kind in ("similar", "dissimilar")]
    require(not any((i == j).any() for i, j in (rows.T for rows in index)), "a pair is a point with itself")
    return index


def recompute_lmnn(content):
    """The scale is |objective|; where all can be had at no cost, a share of what M = 0 costs stands in."""
    X, _, found = squares(content)
    y, mu, n = np.array(content["y"]), Fraction(float(content["params"]["mu"])), len(X)
    hinge = content["method"] == "lmnn"
    require(0 < mu < 1 and len(y) == n, "mu or the number of labels is wrong")
    if content["params"].get("triplets") is not None:
        listed = index_rows(content["params"]["triplets"], 3, n, "triplets")
        impostors = {(i, j): np.zeros(n, dtype=bool) for i, j, _ in listed.tolist()}
        for i, j, k in listed.tolist():
            require(
                i not in (j, k) and not impostors[i, j][k], "a triplet has a point twice, or is there twice"
            )
            impostors[i, j][k] = True
    else:
        lists = neighbor_lists(content["params"]["targets"], n)
        impostors = {(i, j): y != y[i] for i, listed in enumerate(lists) for j in listed}
        require(all(y[i] == y[j] for i, j in impostors), "a target is of another class")
    targets = list(impostors)
    objectives, count = [], sum(int(counts.sum()) for counts in impostors.values())
    for D, by, _, _ in found:
        pull, push, one = 0, 0, 1 / by
        for (i, j), counts in impostors.items():
            xi = np.maximum(0, one.numerator + (D[i, j] - D[i][counts]) * one.denominator)
            pull, push = pull + D[i, j], push + (xi if hinge else xi * xi).sum()
        each = by / one.denominator
        objectives.append((1 - mu) * pull * by + mu * push * (each if hinge else each**2))
    objective = max(objectives)
    price, fine = numbers(content, "price", len(content["dual"]["triplets"]))
    i, j, k = index_rows(content["dual"]["triplets"], 3, n, "triplets").T
    require(all(pair in impostors for pair in zip(i, j, strict=True)), "a triplet has a price and no target")
    require(
        all(impostors[a, b][c] for a, b, c in zip(i, j, k, strict=True)),
        "a triplet has a price and no impostor",
    )
    require((price >= 0).all() and not (hinge and (price * fine > mu).any()), "a price leaves 0 to mu")
    common = max(fine.denominator, (1 - mu).denominator)
    C = outer_sum(X, at_pairs(n, targets, [int((1 - mu) * common)] * len(targets)))
    weights = at_pairs(n, zip(i, j, strict=True), price) - at_pairs(n, zip(i, k, strict=True), price)
    a, b = shares(C + outer_sum(X, weights * int(fine * common)), C)
    share = fine * Fraction(a, a + b)
    bound = share * price.sum() - (0 if hinge else share**2 * (price * price).sum() / (4 * mu))
    return objective, bound, max(objective, Fraction(1, 10**9) * mu * count)


def recompute_triplets(content):
    """lam/2 ||M||^2 and what triplets cost, the scale being the first; the bound is that of the smoothed hinge."""
    X, of, found = squares(content)
    params, n = content["params"], len(X)
    triplets = index_rows(params["triplets"], 3, n, "triplets")
    require(len(triplets) > 0, "there is no triplet")
    if content["method"] == "frobmetric":
        lam, width, cap = Fraction(1), Fraction(0), Fraction(float(params["C"])) / len(triplets)
    else:
        lam, width, cap = Fraction(float(params["lam"])), Fraction(float(params["width"])), Fraction(1)
    require(min(lam, cap) > 0 and 0 <= width <= 1, "a parameter is not allowed")
    i, j, k = triplets.T
    values = []
    for D, by, A, a in found:
        missed = [max(1 - v * by, Fraction(0)) for v in D[i, k] - D[i, j]]
        losses = (m - width / 2 if m >= width else m**2 / (2 * width) for m in missed)
        values.append((lam * (A * A).sum() * a**2 / 2, cap * sum(losses, Fraction(0))))
    price, fine, weights = triplet_prices(content, triplets, cap)
    square = of**4 * positive_square(outer_sum(X, weights)) * fine**2
    gained = fine * price.sum() - width / 2 * fine**2 * (price * price).sum()
    return max(a + b for a, b in values), gained - square / (2 * lam), values[-1][0]


def triplet_prices(content, triplets, cap):
    """Prices as integers and their unit, 0 to `cap`, and the weights of the pairs in sum a (X_il - X_ij)."""
    n = len(content["X"])
    price, fine = numbers(content, "price", len(content["dual"]["triplets"]))
    priced = index_rows(content["dual"]["triplets"], 3, n, "triplets")
    listed = set(map(tuple, triplets.tolist()))
    require(all(tuple(row) in listed for row in priced.tolist()), "what is no triplet has a price")
    require(len(set(map(tuple, priced.tolist()))) == len(priced), "a triplet has two prices")
    require(
        (price >= 0).all() and (price * fine <= cap * (1 + Fraction(1, 2**50))).all(),
        "a price leaves what is allowed: 0 to C/m, or to 1",
    )
    price = np.minimum(price, math.floor(cap / fine))
    i, j, k = priced.T
    weights = at_pairs(n, zip(i, k, strict=True), price) - at_pairs(n, zip(i, j, strict=True), price)
    return price, fine, weights


def recompute_plml(content):
    """Of the metrics, for the weights in the file: a point sees a pair by its own share of every block."""
    params, (X, of) = content["params"], whole(content["X"])
    W, share = whole(params["weights"])
    n, d, m = len(X), X.shape[1], W.shape[1]
    require(len(W) == n and (W >= 0).all(), "the weights are not a row a point, 0 or more")
    triplets = index_rows(params["triplets"], 3, n, "triplets")
    alpha1, alpha2 = (Fraction(float(params[name])) for name in ("alpha1", "alpha2"))
    require(
        len(triplets) > 0 and alpha1 > 0 and alpha2 >= 0, "there is no triplet, or a weight is not allowed"
    )
    pairs = np.unique(triplets[:, :2], axis=0)
    own = [slice(b * d, (b + 1) * d) for b in range(m)]
    beside = np.array(content["metric"], float)
    for block in own:
        beside[block, block] = 0
    require(not beside.any(), "an entry beside the blocks is not 0")
    values = []
    for A, a in candidates(content["metric"], m * d):
        blocks = [A[block, block] for block in own]
        D = sum(W[:, b, None] * distances(X, block) for b, block in enumerate(blocks))
        by, (i, j, k) = of**2 * a * share, triplets.T
        missed = sum((max(1 - v * by, Fraction(0)) for v in D[i, k] - D[i, j]), Fraction(0))
        pull = alpha2 * by * D[pairs[:, 0], pairs[:, 1]].sum()
        values.append((alpha1 * sum((block * block).sum() for block in blocks) * a**2, missed + pull))
    price, fine, weights = triplet_prices(content, triplets, Fraction(1))
    pulled, coarse = whole([float(alpha2)])
    unit = min(fine, coarse)
    weights = weights * int(fine / unit) - at_pairs(n, pairs, [pulled[0] * int(coarse / unit)] * len(pairs))
    square = sum(positive_square(outer_sum(X, weights * W[:, b, None])) for b in range(m))
    bound = fine * price.sum() - of**4 * unit**2 * share**2 * square / (4 * alpha1)
    return max(a + b for a, b in values), bound, values[-1][0]


def nonnegative(V, target):
    """w >= 0 near the least |V w - target|, by C. Lawson's and R. Hanson's method, in floats: it only proposes."""
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


def proposed(B, M):
    """Weights whose combination is near the matrix M, of those of about the least sum; in units of its diagonal."""
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


def forms(B, G):
    """b_k^T G b_k of integers."""
    return (B.dot(G) * B).sum(axis=1)


def recompute_combination(content):
    """Judged is the combination of weights next to the metric, of the columns of A or of the basis."""
    params, (X, of) = content["params"], whole(content["X"])
    (n, d), least_sum = X.shape, content["method"] == "scml"
    given = params["basis"] if least_sum else params["A"]
    vectors = (
        np.eye(d) if given is None else np.array(given, float) if least_sum else np.array(given, float).T
    )
    require(
        vectors.ndim == 2 and vectors.shape[1] == d and len(vectors) > 0, "the vectors have another shape"
    )
    B, at = whole(vectors)
    triplets = index_rows(params["triplets"], 3, n, "triplets")
    require(len(triplets) > 0, "there is no triplet")
    symmetric(content["metric"], d)
    A = np.array(content["metric"], float)
    w, fine = whole(proposed(vectors, A / 2 + A.T / 2))
    M, unit = B.T.dot(B * w[:, None]), at**2 * fine
    # beside the entries of their own features: beside the largest of all anything may be small
    own = np.sqrt(np.maximum(np.diag(A), 0))
    off = np.abs(A - np.array([[float(v * unit) for v in row] for row in M]))
    require((off <= 1e-6 * np.outer(own, own)).all(), "the metric is no combination of the vectors")
    cap = Fraction(1, len(triplets)) if least_sum else Fraction(float(params["C"]))
    beta = Fraction(float(params["beta"])) if least_sum else Fraction(1)
    require(min(beta, cap) > 0, "a parameter is not allowed")
    i, j, k = triplets.T
    D, by = distances(X, M), of**2 * unit
    slacks = cap * sum((max(1 - v * by, Fraction(0)) for v in D[i, k] - D[i, j]), Fraction(0))
    price, fine_price, weights = triplet_prices(content, triplets, cap)
    G, paid = outer_sum(X, weights), of**2 * fine_price * at**2
    c, gained = [v * paid for v in forms(B, G)], fine_price * price.sum()
    if least_sum:
        objective, most = beta * fine * int(w.sum()) + slacks, max(c)
        return objective, gained * min(Fraction(1), beta / most if most > 0 else 1), objective
    z = [max(v, Fraction(0)) for v in c] if given is None else raised(B, at, c, G, of**2 * fine_price)
    # one denominator for all, or it would grow with every weight
    small = max(z) / ONE or Fraction(1)
    N = B.T.dot(B * np.array([-(-v // small) for v in z], object)[:, None])
    norm = int((M * M).sum()) * unit**2 / 2
    return norm + slacks, gained - int((N * N).sum()) * (at**2 * small) ** 2 / 2, norm


def raised(B, at, c, G, unit):
    """Weights of a combination N with b_k^T N b_k >= c_k: near those of the projection of G, and what these miss."""
    own = floats(B)
    lengths = np.sum(own**2, axis=1)
    V = np.einsum("ki,kj->kij", own, own).reshape(len(own), own.shape[1] ** 2).T / lengths
    # both have lost their unit, and the largest is 1
    proposal, fine = whole(nonnegative(V, floats(G).ravel()) / lengths)
    largest = int(np.abs(B).max())
    fine *= int(np.abs(G).max()) * unit / (largest * at) ** 2
    s = [v * at**4 * fine for v in forms(B, B.T.dot(B * proposal[:, None]))]
    squares_of = [int((row * row).sum()) * at**2 for row in B]
    return [
        v * fine + max(want - has, 0) / length**2
        for v, want, has, length in zip(proposal, c, s, squares_of, strict=True)
    ]


def recompute_boostmetric(content):
    """A triplet without a price has none."""
    X, of, found = squares(content)
    (n, d), v = X.shape, Fraction(float(content["params"]["v"]))
    triplets = index_rows(content["params"]["triplets"], 3, n, "triplets")
    require(len(triplets) > 0 and v > 0, "there is no triplet, or v is not positive")
    i, j, k = triplets.T
    objectives = []
    for D, by, A, a in found:
        margins = D[i, k] - D[i, j]
        low = margins.min()
        log_sum = log(Fraction(sum(exponentials(margins - low, by)), ONE))
        objectives.append(log_sum - low * by + v * np.trace(A) * a)
    priced = index_rows(content["dual"]["triplets"], 3, n, "triplets")
    place = {tuple(row): t for t, row in enumerate(triplets.tolist())}
    require(all(tuple(row) in place for row in priced.tolist()), "what is no triplet has a price")
    price = np.zeros(len(triplets))
    price[[place[tuple(row)] for row in priced.tolist()]] = content["dual"]["price"]
    same = np.full(len(triplets), 1 / len(triplets))
    u, same = (np.array(of_simplex(row, "u"), object) for row in (price, same))

    def left(u):
        """v I - sum u H, in integers."""
        weights = at_pairs(n, zip(i, k, strict=True), u) - at_pairs(n, zip(i, j, strict=True), u)
        level = v * ONE / of**2
        eye = np.diag([level.numerator] * d).astype(object)
        return eye - level.denominator * outer_sum(X, weights)

    a, b = shares(left(u), left(same))
    return max(objectives) + ALLOWED, entropy(a * u + b * same) - ALLOWED, max(abs(objectives[-1]), 1)


def symmetric_prior(params, d):
    """The prior as integers and their unit."""
    prior, of = whole(params["prior"])
    require(prior.shape == (d, d), "the prior has another shape")
    require((prior == prior.T).all(), "the prior is not symmetric")
    return prior, of


def divergence(A, a, prior, of):
    """D_ld of the integers A in the unit a and the prior."""
    d = len(A)
    eye = np.diag([1] * d).astype(object)
    inside, volume = eliminate(np.block([[prior, eye], [A, 0 * A]]), d), eliminate(A, d)
    require(inside is not None, "the prior is not positive definite")
    require(volume is not None, "the metric is not positive definite")
    trace = -Fraction(np.trace(inside[1])) / inside[0] * (a / of)
    return trace - log(Fraction(volume[0], inside[0])) - d * log(a / of) - d


def log_det_of(prior, of, X, unit, weights, common):
    """log det(A_0 Z) of Z = A_0^-1 + G, G of integers over `common`: A_0 Z A_0 = A_0 + A_0 G A_0, in integers."""
    ratio = of * unit**2 / common
    inside = prior * ratio.denominator + prior.dot(outer_sum(X, weights)).dot(prior) * ratio.numerator
    Z = eliminate(inside, len(prior))
    require(Z is not None, "Z is not positive definite")
    return log(Fraction(Z[0], eliminate(prior, len(prior))[0])) - len(prior) * log(
        Fraction(ratio.denominator)
    )


def recompute_itml(content):
    """No less than 1e-6 a feature stands in for a scale that is 0."""
    X, unit, found = squares(content)
    params, (similar, dissimilar), (n, d) = content["params"], given_pairs(content), X.shape
    gamma, (u, far) = Fraction(float(params["gamma"])), (Fraction(float(b)) for b in params["bounds"])
    require(min(gamma, u, far) > 0, "gamma or a bound is not positive")
    prior, of = symmetric_prior(params, d)
    objectives = []
    for D, by, A, a in found:
        r = [max(D[i, j] * by / u, Fraction(1)) for i, j in similar]
        r += [min(D[i, j] * by / far, Fraction(1)) for i, j in dissimilar]
        require(all(r), "a dissimilar pair is at distance 0")
        slack = sum((v - 1 - log(v) for v in r if v != 1), Fraction(0))
        objectives.append(divergence(A, a, prior, of) + gamma * slack)
    (q_S, s_unit), (q_D, d_unit) = (
        numbers(content, "lam_S", len(similar)),
        numbers(content, "lam_D", len(dissimilar)),
    )
    less, more = [v * s_unit * u / gamma for v in q_S], [v * d_unit * far / gamma for v in q_D]
    fits = min([*less, *more], default=0) >= 0 and max(less, default=0) < 1
    require(fits, "a price is negative, or gamma/u or more")
    common = 1 / min(s_unit, d_unit)
    weights = at_pairs(n, similar, q_S) * int(s_unit * common) - at_pairs(n, dissimilar, q_D) * int(
        d_unit * common
    )
    bound = log_det_of(prior, of, X, unit, weights, common) + gamma * (
        sum((log(1 - v) for v in less if v), Fraction(0)) + sum((log(1 + v) for v in more if v), Fraction(0))
    )
    lost = ALLOWED * (1 + gamma) * (d + len(less) + len(more))
    return max(objectives) + lost, bound - lost, max(abs(max(objectives)), Fraction(d, 10**6))


def recompute_lsml(content):
    """No less than 1e-6 a feature stands in for a scale that is 0. Where far points are equal s may be 1: v is 0."""
    X, unit, found = squares(content)
    params, (n, d) = content["params"], X.shape
    require(
        all(len(row) == 4 and all(i in range(n) for i in row) for row in params["quadruplets"]),
        "a quadruplet leaves the points",
    )
    rows = np.array(params["quadruplets"], int).reshape(-1, 4)
    weights = [Fraction(float(w)) for w in params["weights"]]
    require(
        len(weights) == len(rows) and min(weights, default=0) >= 0,
        "the weights are no weights of quadruplets",
    )
    losses = params.get("losses", "mean")
    require(losses in ("mean", "sum"), f"losses {shown(losses)} are not known here")
    to_one = abs(sum(weights) - 1) <= Fraction(len(rows), 2**50)
    require(losses == "sum" or to_one, "the weights do not sum to 1")
    a, b, c, e = rows.T
    prior, of = symmetric_prior(params, d)
    objectives = []
    for D, by, A, unit_of in found:
        losses = [
            w * (u + v - 2 * root(Fraction(u * v))) * by
            for w, u, v in zip(weights, D[a, b], D[c, e], strict=True)
            if u > v
        ]
        objectives.append(divergence(A, unit_of, prior, of) + sum(losses, Fraction(0)))
    s, fine = numbers(content, "s", len(rows))
    shares, alone = [v * fine for v in s], (X[c] == X[e]).all(axis=1)
    fits = all(0 <= v < 1 or (v == 1 and one) for v, one in zip(shares, alone, strict=True))
    require(fits, "an s is negative, or 1 or more")
    bits = 2**200  # all to one denominator: a price of a far pair is rounded up, of a near one down
    near = [math.floor(w * v * bits) for w, v in zip(weights, shares, strict=True)]
    less = [Fraction(v, bits) for v in near]
    far = [
        0 if one or w == 0 else math.ceil(w * v / (w - v) * bits)
        for w, v, one in zip(weights, less, alone, strict=True)
    ]
    G = at_pairs(n, zip(a, b, strict=True), near) - at_pairs(n, zip(c, e, strict=True), far)
    bound = log_det_of(prior, of, X, unit, G, bits)
    lost = ALLOWED * (d + len(rows)) * max(1, *(abs(v) for v in objectives))
    return max(objectives) + lost, bound - lost, max(abs(max(objectives)), Fraction(d, 10**6))


def recompute_ldml(content):
    """At the b given, or at one that is near the best."""
    X, _, found = squares(content)
    (similar, dissimilar), b = given_pairs(content), content["params"]["b"]
    free, listed = b == "free", [*map(tuple, similar.tolist()), *map(tuple, dissimilar.tolist())]
    t = np.array([1] * len(similar) + [-1] * len(dissimilar), dtype=object)
    w, alone = pair_weights(content["params"], len(similar), len(dissimilar), len(X))
    if alone:
        listed, t, w = [*listed, (0, 0)], np.append(t, 1), [*w, alone]
    objectives = []
    for D, by, _, _ in found:
        values = np.array([D[pair] for pair in listed], dtype=object)
        at = Fraction(even_odds(t, values, by, w) if free else float(b))
        common = math.lcm(by.denominator, at.denominator)
        z = t * (values * int(by * common) - int(at * common))
        e = exponentials(np.abs(z), Fraction(1, common))
        losses = [
            Fraction(max(v, 0), common) + log(Fraction(ONE + u, ONE)) for v, u in zip(z, e, strict=True)
        ]
        objectives.append(sum((c * loss for c, loss in zip(w, losses, strict=True)), Fraction(0)))
    a, fine = numbers(content, "a", len(listed))
    shares = [v * fine / c for v, c in zip(a, w, strict=True)]
    fits = min(shares) >= 0 and max(shares) <= 1 + Fraction(1, 2**50)
    require(fits, "a price leaves what is allowed: 0 to the weight of its pair")
    require(not free or (t * a).sum() == 0, "prices of similar and of dissimilar pairs do not balance")
    require(psd(outer_sum(X, at_pairs(len(X), listed, t * a))), "the prices leave the dual cone")
    less = Fraction(1) / max(1, *shares)  # a weight of 1/3 is no float: a price may be the float above
    inside = [less * v for v in shares]
    bound = sum(
        c * entropy([v.numerator, v.denominator - v.numerator])
        for c, v in zip(w, inside, strict=True)
        if 0 < v < 1
    )
    bound -= 0 if free else Fraction(float(b)) * (t * a).sum() * fine * less
    lost = ALLOWED * (1 + sum(w)) * (1 + max(objectives))
    return max(objectives) + lost, bound - lost, objectives[-1]


def pair_weights(params, similar, dissimilar, n):
    """Of so many pairs, the similar first, and that of the n points with themselves in all: fractions."""
    losses, given = params.get("losses", "sum"), params.get("weights")
    require(losses in ("sum", "means"), f"losses {shown(losses)} are not known here")
    w = [Fraction(1)] * (similar + dissimilar) if given is None else [Fraction(float(v)) for v in given]
    alone = n * Fraction(float(params.get("self_pairs", 0)))
    require(
        len(w) == similar + dissimilar and min(w) > 0 and alone >= 0, "the weights are no weights of pairs"
    )
    near, far = w[:similar], w[similar:]
    if losses == "means":
        near, far, alone = [v / sum(near) for v in near], [v / sum(far) for v in far], alone / sum(near)
    return [*near, *far], alone


def even_odds(t, D, unit, w):
    """b with about as much of similar pairs beyond it as of dissimilar pairs within, by bisection."""
    D = np.array([float(v * unit) for v in D])
    away = math.log(2 * sum(w) / min(w))
    t = t.astype(float) * np.array([float(v) for v in w])
    low, high = D.min() - away, D.max() + away
    for _ in range(200):
        b = (low + high) / 2
        z = np.sign(t) * (D - b)
        e = np.exp(-np.abs(z))
        beyond = float(t @ np.where(z > 0, 1 / (1 + e), e / (1 + e)))
        low, high = (b, high) if beyond > 0 else (low, b)
    return (low + high) / 2


def budget(content):
    """The points; in every candidate the squared distances of dissimilar pairs within the budget; the pairs."""
    X, _, found = squares(content)
    similar, dissimilar = given_pairs(content)
    within = []
    for D, by, *_ in found:
        spent = sum(D[i, j] for i, j in similar) * by
        require(spent <= 1 + Fraction(1, 10**6), f"the similar pairs spend {float(spent):.6g}, allowed is 1")
        within.append([D[i, j] * by / max(1, spent) for i, j in dissimilar])
    return X, within, similar, dissimilar


def multiple(content, X, similar, dissimilar, price):
    """mu, as little as is found, with mu sum_S X_ij - sum price X_ij psd, of integers."""
    S = outer_sum(X, at_pairs(len(X), similar, [1] * len(similar)))
    C = outer_sum(X, at_pairs(len(X), dissimilar, price))
    floating = np.array(content["X"], float)
    unit = np.abs(floating - floating[0]).max(axis=0)
    floating = (floating - floating[0]) / np.where(unit > 0, unit, 1.0)
    E_S, E_D = (floating[rows[:, 0]] - floating[rows[:, 1]] for rows in (similar, dissimilar))
    _, s, Vt = np.linalg.svd(E_S, full_matrices=False)
    kept = s > 1e-13 * s.max(initial=0.0)
    Y = E_D @ Vt[kept].T / s[kept] * np.sqrt(floats(price))[:, None]
    found = np.linalg.eigvalsh(Y.T @ Y)[-1:].sum() if kept.any() else 0.0
    mu = Fraction(math.ceil(Fraction(float(found)) * int(price.max()) * 2**60), 2**60)
    a, b = shares(
        mu.numerator * S - mu.denominator * C, mu.numerator * S, "a dissimilar pair moves apart at no cost"
    )
    return mu * Fraction(a + b, a)


def recompute_mmc(content):
    """A pair of equal points is at distance 0 in every metric, and its c is not looked at."""
    diagonal = content["method"] == "mmc:diagonal"
    if diagonal:
        A = np.array(content["metric"], float)
        other = A - np.diag(np.diag(A))
        # beside the entries of their own features: beside the largest of all anything may be small
        own = np.sqrt(np.abs(np.diag(A)))
        require((np.abs(other) <= 1e-6 * np.outer(own, own)).all(), "the metric is not diagonal")
        require(np.diag(A).min() >= -1e-6 * np.linalg.norm(A), "the metric is not psd")
        content = {**content, "metric": np.diag(np.maximum(np.diag(A), 0))}
    X, within, similar, dissimilar = budget(content)
    if "metric" in content["dual"]:  # in place of its prices: any positive c will do
        at = np.array(content["dual"]["metric"], float)
        require(at.shape == (len(X[0]),) * 2 and np.isfinite(at).all(), "the metric of the dual is none")
        E = np.array([np.subtract(content["X"][i], content["X"][j]) for i, j in dissimilar], float)
        D = np.maximum(np.sum((E @ at) * E, axis=1), 0.0)
        content["dual"]["c"] = 1 / np.sqrt(np.maximum(D, 1e-16 * D.max() or 1.0))
    c, _ = numbers(content, "c", len(dissimilar))
    differ = np.array([(X[i] != X[j]).any() for i, j in dissimilar], bool)
    require((c[differ] > 0).all(), "a c is not positive")
    c = np.where(differ, c, 0)
    if diagonal:
        pulled = [
            sum((X[i] - X[j]) ** 2 for i, j in similar),
            sum(v * (X[i] - X[j]) ** 2 for (i, j), v in zip(dissimilar, c, strict=True)),
        ]
        require(
            all(s > 0 or t == 0 for s, t in zip(*pulled, strict=True)),
            "a dissimilar pair moves apart at no cost",
        )
        mu = max(Fraction(t) / s for s, t in zip(*pulled, strict=True) if s > 0)
    else:
        mu = multiple(content, X, similar, dissimilar, c)
    # one denominator for all, or it would grow with every pair
    inverse = Fraction(sum(-(-(ONE**2) // v) for v in c if v), ONE**2)
    bound = -root(mu * inverse) * (1 + ALLOWED)
    objective = max(-sum_of_roots(D) * (1 - ALLOWED) for D in within)
    return objective, bound, abs(objective)


def recompute_dml_eig(content):
    """The least squared distance."""
    X, within, similar, dissimilar = budget(content)
    if "q_index" in content["dual"]:  # of many points: the pairs that have a weight
        place = {(i, j): t for t, (i, j) in enumerate(dissimilar.tolist())}
        listed = list(map(tuple, np.sort(content["dual"]["q_index"], axis=1).tolist()))
        require(
            len(set(listed)) == len(listed) and place.keys() >= set(listed), "a weight of no dissimilar pair"
        )
        q = np.zeros(len(dissimilar))
        numbers(content, "q", len(listed))
        q[[place[pair] for pair in listed]] = content["dual"]["q"]
        content["dual"]["q"] = q
    q, fine = numbers(content, "q", len(dissimilar))
    require((q >= 0).all() and abs(q.sum() * fine - 1) <= Fraction(1, 10**9), "q is not of the simplex")
    objective = max(-min(D) for D in within)
    return objective, -multiple(content, X, similar, dissimilar, q) / q.sum(), abs(objective)


def within_chunklets(content):
    """C as integers and their unit."""
    X, unit = whole(content["X"])
    listed, alpha = content["params"]["chunklets"], Fraction(float(content["params"]["alpha"]))
    of = np.array(content["y"] if listed is None else listed)
    require(
        of.shape == (len(X),) and of.dtype.kind in "iu" and alpha >= 0, "the chunklets or alpha are wrong"
    )
    groups = [X[of == j] for j in set(of.tolist()) - {-1}]
    count, common = sum(map(len, groups)), math.lcm(*map(len, groups))
    N = sum(
        common // len(points) * (len(points) * points.T.dot(points) - np.multiply.outer(total, total))
        for points, total in ((points, points.sum(axis=0)) for points in groups)
    )
    step = unit**2 / (common * count)
    one = Fraction(1, math.lcm(step.denominator, alpha.denominator))
    return N * int(step / one) + np.diag([int(alpha / one)] * len(N)).astype(object), one


def recompute_rca(content):
    """The scale is the optimum."""
    C, unit = within_chunklets(content)
    d, volume = len(C), eliminate(C, len(C))
    require(volume is not None, "the covariance within chunklets is singular")
    log_det = log(Fraction(volume[0])) + d * log(unit)
    objectives = []
    for A, _ in candidates(content["metric"], d):
        inside = eliminate(A, d)
        require(inside is not None, "the metric is not positive definite")
        size = Fraction(DECIMALS.exp(digits(-log(Fraction(inside[0])) / d)))
        objectives.append((C * A).sum() * unit * size * (1 + ALLOWED))
    (price,), fine = numbers(content, "l", 1)
    price = price * fine
    require(price > 0, "the price is not positive")
    optimum = d * Fraction(DECIMALS.exp(digits(log_det / d)))
    bound = price * (d - d * log(price) + log_det)
    return max(objectives), bound - ALLOWED * (abs(bound) + d * price), optimum


def recompute_gmml(content):
    """The scale is the objective."""
    params, (X, unit) = content["params"], whole(content["X"])
    n, d = X.shape
    require(params["weight"] == 0.5, "a bound for another weight than 1/2 is not recomputed")
    mu = Fraction(float(params["mu"]))
    require(mu >= 0, "mu is negative")
    prior, of = symmetric_prior({"prior": params.get("prior", np.eye(d))}, d)
    volume, adjugate = inverse(prior)
    # mu A_0^-1 and mu A_0 are integers of these units
    units = mu / (of * volume), mu * of
    one = Fraction(1, math.lcm((unit**2).denominator, *(each.denominator for each in units)))
    # all in units of `one`
    S, D = (
        outer_sum(X, at_pairs(n, listed, [1] * len(listed))) * int(unit**2 / one) + added * int(own / one)
        for listed, added, own in zip(given_pairs(content), (adjugate, prior), units, strict=True)
    )
    objectives = []
    for A, by in candidates(content["metric"], d):
        require(eliminate(A, d) is not None, "the metric is not positive definite")
        det, adjugate = inverse(A)
        objectives.append(((A * S).sum() * by + (adjugate * D).sum() / (det * by)) * one)
    Y, fine = whole(content["dual"]["Y"])
    require(Y.shape == (d, d) and (Y == Y.T).all(), "Y is not symmetric")
    left = D * fine.denominator**2 - Y.dot(S).dot(Y) * fine.numerator**2
    require(psd(left), "D - Y S Y is not psd")
    return max(objectives), 2 * (S * Y).sum() * fine * one, max(objectives)


def local_scatter(content):
    """S_w and S_b as integers in one unit."""
    (X, unit), params = whole(content["X"]), content["params"]
    y, k, alpha = np.array(content["y"]), params["n_neighbors"], Fraction(float(params["alpha"]))
    require(y.shape == (len(X),) and alpha >= 0 and k >= 1, "the labels, n_neighbors or alpha are wrong")
    classes = [np.flatnonzero(y == c) for c in sorted(set(y.tolist()))]
    n, common = len(X), math.lcm(len(X), *map(len, classes))
    within = np.zeros((n, n), object)
    between = np.full((n, n), common // n * ONE, dtype=object)
    for own in classes:
        D = distances(X[own], np.diag([1] * X.shape[1]).astype(object))
        require(len(own) > k, "a class has too few points for n_neighbors")
        nearest = [sorted(row)[k] for row in D.tolist()]
        for a, i in enumerate(own):
            for b, j in enumerate(own):
                A = affinity(D[a, b], nearest[a] * nearest[b]) if a != b else 0
                within[i, j] = A * (common // len(own))
                between[i, j] = A * (common // n - common // len(own))
    step = unit**2 / (2 * ONE * common)  # every two points are there in both orders
    one = Fraction(1, math.lcm(step.denominator, alpha.denominator))
    added = np.diag([int(alpha / one)] * X.shape[1]).astype(object)
    S_w, S_b = (outer_sum(X, weights) * int(step / one) for weights in (within, between))
    return S_w + added, S_b, one


def affinity(D, product):
    """exp(-D / sqrt(product)) as a multiple of 1 / ONE, rounded down; 0 where the product is 0."""
    if not product:
        return 0
    power = -DECIMALS.divide(decimal.Decimal(int(D)), DECIMALS.sqrt(decimal.Decimal(int(product))))
    return int(DECIMALS.multiply(DECIMALS.exp(power), decimal.Decimal(ONE))) if power > -120 else 0


def recompute_lfda(content):
    """The scale is minus the objective."""
    S_w, S_b, one = local_scatter(content)
    params, d, largest = content["params"], len(S_w), int(max(abs(v) for v in S_w.flat))
    r, embedding = params["n_components"], params["embedding"]
    require(eliminate(S_w, d) is not None, "S_w is singular")
    # features in units in which the diagonal of S_w is about 1
    size = np.exp2(np.round(np.log2([float(Fraction(int(v), largest)) for v in np.diag(S_w)]) / 2))
    near_w, near_b = (
        np.array([[float(Fraction(int(v), largest)) for v in row] for row in S]) / np.outer(size, size)
        for S in (S_w, S_b)
    )
    back = np.linalg.inv(np.linalg.cholesky(near_w))
    values, V = np.linalg.eigh(back @ near_b @ back.T)
    V = back.T @ V / size[:, None]
    objectives = []
    for A, by in candidates(content["metric"], d):
        scaled = np.array([[float(v * by) for v in row] for row in A]) * size * size[:, None]
        T = whole(np.linalg.eigh(scaled)[1][:, d - r :] / size[:, None])[0]
        det, adjugate = inverse(T.T.dot(S_w).dot(T))
        objectives.append(-Fraction(int((adjugate * T.T.dot(S_b).dot(T)).sum()), int(det)))
        # the metric of this range that is of the embedding, and what it is to be multiplied by
        metric, unit = T.dot(adjugate).dot(T.T), 1 / (det * one)
        if embedding == "weighted":
            metric, unit = metric.dot(S_b).dot(metric), unit**2 * one
        elif embedding == "orthonormal":
            det, adjugate = inverse(T.T.dot(T))
            metric, unit = T.dot(adjugate).dot(T.T), Fraction(1, int(det))
        else:
            require(embedding == "plain", "the embedding is not known")
        ratio = by / unit
        off, there = (
            S_w.dot(part)
            for part in (A * ratio.numerator - metric * ratio.denominator, metric * ratio.denominator)
        )
        near = 10**12 * (off * off.T).sum() <= (there * there.T).sum()
        require(near, "the metric is not of its embedding")
    (price,), fine = numbers(content, "s", 1)
    N, size = whole((V * np.maximum(values - float(price * fine), 0)) @ V.T)
    N = N + N.T
    size = size / (2 * largest)
    ceiling = Fraction(float(values[-1]))
    for share in SHARES:
        s = price * fine + ceiling / 2**share
        parts = (
            S_w.dot(N).dot(S_w) * size.numerator,
            S_w * s.numerator * size.denominator,
            S_b * size.denominator,
        )
        if psd(parts[0] * s.denominator + parts[1] - parts[2] * s.denominator):
            break
    else:
        raise ValueError("no N is found for this s")
    bound = -(r * s + (S_w * N).sum() * size)
    return max(objectives), bound - ALLOWED * abs(bound), -max(objectives)


def recompute_sdml(content):
    """The scale is the number of features."""
    params, (X, unit) = content["params"], whole(content["X"])
    n, d = X.shape
    eta, lam = (Fraction(float(params[name])) for name in ("eta", "lam"))
    require(eta > 0 and lam >= 0, "a parameter is not allowed")
    T = sum(
        sign * outer_sum(X, at_pairs(n, listed, [1] * len(listed)))
        for sign, listed in zip((1, -1), given_pairs(content), strict=True)
    )
    prior, of = symmetric_prior(params, d)
    require(eliminate(prior, d) is not None, "the prior is not positive definite")
    det, adjugate = inverse(prior)
    U, fine = whole(content["dual"]["U"])
    require(U.shape == (d, d) and (U == U.T).all(), "U is not symmetric")
    require(not np.diag(U).any() and (abs(U) * fine <= lam).all(), "U leaves its box")
    # S and S + U, as integers in one unit
    parts = (1 / (det * of), eta * unit**2, fine)
    one = Fraction(1, math.lcm(*(part.denominator for part in parts)))
    S = adjugate * int(parts[0] / one) + T * int(parts[1] / one)
    left = eliminate(S + U * int(fine / one), d)
    require(left is not None, "S + U is not positive definite")
    logs = log(Fraction(left[0])), d * log(one)
    objectives = []
    for A, by in candidates(content["metric"], d):
        inside = eliminate(A, d)
        require(inside is not None, "the metric is not positive definite")
        off = abs(A).sum() - np.trace(A)
        own = log(Fraction(inside[0])), d * log(by)
        spent = (A * S).sum() * one * by + lam * off * by
        objectives.append(spent - sum(own) + ALLOWED * sum(map(abs, own)))
    return max(objectives), d + sum(logs) - ALLOWED * sum(map(abs, logs)), Fraction(d)


def earned(content, P, N):
    """What the p-th relevant point earns with g others before it: (P, N + 1) fractions; 60 digits of logarithms."""
    measure, k = content["params"]["measure"], content["params"]["k"]
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
    require(measure in rules and k >= 1, "no measure")
    return [[rules[measure](p, p + g) for g in range(N + 1)] for p in range(1, P + 1)]


def worst_of_query(near, far, table, by):
    """The largest loss less 2/(P N) of what is swapped, by how many of `far` are before each of `near`."""
    P, N = len(near), len(far)
    before, best = np.concatenate([[0], np.cumsum(np.sort(far))]), [Fraction(1)] * (N + 1)
    for D, own in zip(np.sort(near), table, strict=True):
        tops = itertools.accumulate(best, max)
        best = [
            top - gain - 2 * by * (before[g] - g * D) / (P * N)
            for g, (top, gain) in enumerate(zip(tops, own, strict=True))
        ]
    return max(best)


def recompute_mlr(content):
    """The scale is the objective."""
    X, unit, found = squares(content)
    (n, d), C = X.shape, Fraction(float(content["params"]["C"]))
    lists = neighbor_lists(content["params"]["relevant"], n)
    queries = [q for q in range(n) if 0 < len(lists[q]) < n - 1]
    require(C > 0 and queries, "C is not positive, or there is no query")
    tables = {P: earned(content, P, n - 1 - P) for P in {len(lists[q]) for q in queries}}
    others = {q: [j for j in range(n) if j != q and j not in lists[q]] for q in queries}
    objectives = []
    for D, by, A, a in found:
        slacks = [worst_of_query(D[q, lists[q]], D[q, others[q]], tables[len(lists[q])], by) for q in queries]
        cost = C / len(queries) * sum((max(slack, Fraction(0)) for slack in slacks), Fraction(0))
        objectives.append((Fraction(np.trace(A)) * a + cost) * (1 + ALLOWED))
    price, fine = numbers(content, "price", len(content["dual"]["rankings"]))
    require((price >= 0).all(), "a price is negative")
    rows = index_rows(content["dual"]["rankings"], n, n, "rankings")
    sums, gained, weights = dict.fromkeys(queries, 0), Fraction(0), np.zeros((n, n), object)
    common = math.lcm(*(len(lists[q]) * len(others[q]) for q in queries))
    for (q, *order), mu in zip(rows.tolist(), price, strict=True):
        require(q in sums and sorted([q, *order]) == list(range(n)), "a row of no query, or no ranking")
        sums[q] += mu
        relevant, P, g, p, loss = set(lists[q]), len(lists[q]), 0, 0, Fraction(1)
        swap = 2 * common // (P * len(others[q]))
        for point in order:
            if point in relevant:
                loss, p = loss - tables[P][p][g], p + 1
                weights[q, point] -= mu * swap * g
            else:
                g += 1
                weights[q, point] += mu * swap * (P - p)
        gained += mu * fine * loss
    # where rounding made the sum of a query more than C/n, or Z leave the cone, all prices are smaller
    most = max(max(sums.values()) * fine * len(queries) / C, Fraction(1))
    require(most <= 1 + Fraction(1, 2**40), "the prices of a query are more than C/n")
    pull, of = outer_sum(X, weights), fine * unit**2 / common
    one = np.diag([1] * d).astype(object)
    a, b = shares(one * of.denominator - pull * of.numerator, one * of.denominator)
    bound = gained * Fraction(a, a + b) / most
    return max(objectives), bound - ALLOWED * abs(bound), max(objectives)


# ---- lists and numbers that other fields of the file name ----


def nearest(content, i, pool, k):
    """The k nearest of `pool` to i: by squared differences summed over features in order, in floats, then by index."""
    X, total = np.array(content["X"], float), np.zeros(len(content["X"]))
    for column in X.T:
        total += (column - column[i]) ** 2
    others = [j for j in pool if j != i]
    require(0 < k <= len(others), f"point {i} has no {k} nearest of {len(others)}")
    return sorted(others, key=lambda j: (total[j], j))[:k]


def classes_of(content, i):
    """The points of the class of i, and all others."""
    y = list(content["y"])
    require(len(y) == len(content["X"]), f"there are {len(y)} labels for {len(content['X'])} points")
    return [j for j, label in enumerate(y) if label == y[i]], [
        j for j, label in enumerate(y) if label != y[i]
    ]


def own_neighbors(content):
    """Of mlsvm: the nearest of any class, or as many of each side."""
    k, kind = content["params"]["n_neighbors"], content["params"]["neighborhood"]
    n = len(content["X"])
    require(kind in ("knn", "per-class"), f"the neighborhood {shown(kind)} is not known here")
    if kind == "knn":
        return [sorted(nearest(content, i, range(n), k)) for i in range(n)]
    sides = [classes_of(content, i) for i in range(n)]
    return [sorted(j for side in own for j in nearest(content, i, side, k)) for i, own in enumerate(sides)]


def own_targets(content):
    """The nearest of the class of each point."""
    k = content["params"]["n_neighbors"]
    return [sorted(nearest(content, i, classes_of(content, i)[0], k)) for i in range(len(content["X"]))]


def own_triplets(content):
    """Every target of a point with each of as many nearest points of the other classes."""
    k, found = content["params"]["n_neighbors"], []
    for i, targets in enumerate(own_targets(content)):
        impostors = nearest(content, i, classes_of(content, i)[1], k)
        found += [[i, j, far] for j in targets for far in impostors]
    return sorted(found)


def own_relevant(content):
    """The others of the class of each point."""
    return [[j for j in classes_of(content, i)[0] if j != i] for i in range(len(content["X"]))]


def own_quadruplets(content):
    """A pair of one class and a pair of two, each drawn by numpy's generator; another version may draw others."""
    y, params = list(content["y"]), content["params"]
    classes = [[j for j, label in enumerate(y) if label == own] for own in dict.fromkeys(y)]
    size, m = np.array([len(own) for own in classes], float), len(classes)
    pairs, across = size * (size - 1), np.outer(size, size) * (1 - np.eye(m))
    count, rng = params["n_quadruplets"], np.random.default_rng(params["random_state"])
    count = 20 * m**2 if count is None else count
    require(count == len(params["quadruplets"]), f"there are {len(params['quadruplets'])} quadruplets")
    near = rng.choice(m, count, p=pairs / pairs.sum())
    far = rng.choice(m * m, count, p=across.ravel() / across.sum())
    found = []
    for own, two in zip(near.tolist(), far.tolist(), strict=True):
        a, b = rng.choice(classes[own], 2, replace=False)
        c, d = rng.choice(classes[two // m]), rng.choice(classes[two % m])
        found.append([int(j) for j in (a, b, c, d)])
    return found


def is_own_basis(content):
    """True if the vectors are directions of the pairs of the triplets, every so many of them, to 1e-9."""
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
    """True if the weights W leave at most 1e-6 of g(W) to gain, in fractions.

    g(W) = ||X - W U||^2 + lam1 sum W_ib |x_i - u_b|^2 + lam2 sum_{i<j} s_ij |W_i - W_j|^2 is convex, so over rows of
    the simplex it is nowhere below g(W) - sum_i (<dg_i, W_i> - min_b dg_ib).
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
    """1 where one of two points is among the k nearest of the other, else 0."""
    n = len(content["X"])
    near = np.zeros((n, n))
    for i in range(n):
        near[i, nearest(content, i, range(n), k)] = 1
    return np.maximum(near, near.T)


def sets(lists):
    """Lists whose order does not matter."""
    return [sorted(row) for row in lists]


NAMED = {
    "neighbors": lambda c: sets(c["neighbors"]) == own_neighbors(c),
    "targets": lambda c: sets(c["params"]["targets"]) == own_targets(c),
    "triplets": lambda c: sorted(c["params"]["triplets"]) == own_triplets(c),
    "relevant": lambda c: sets(c["params"]["relevant"]) == own_relevant(c),
    "quadruplets": lambda c: c["params"]["quadruplets"] == own_quadruplets(c),
    "basis": is_own_basis,
    "weights": are_best_weights,
    "anchors": lambda c: True,  # believed: nothing but scikit-learn draws them
}


def require_named(content):
    """Refuse a file with a list that is not the one that its other fields name."""
    params = content["params"]
    names = set(content.get("derived", ()))
    if params.get("n_neighbors") is not None:
        names |= {"targets", "triplets"} & set(params)
    if content["method"] == "mlsvm" and params["neighborhood"] != "explicit":
        names.add("neighbors")
    for name in sorted(names):
        require(name in NAMED, f"{shown(name)} is nothing that is derived")
        require(NAMED[name](content), f"its {name} are not those that its other fields name")


METHODS = {
    "mlsvm": recompute_mlsvm,
    "kernel_mlsvm": recompute_mlsvm,
    "ssvm": recompute_ssvm,
    "nca": recompute_nca,
    "mlkr": recompute_mlkr,
    "glml": recompute_local,
}
RELATIVES = {
    "lmnn": recompute_lmnn,
    "lmnn:squared_hinge": recompute_lmnn,
    "frobmetric": recompute_triplets,
    "rtml": recompute_triplets,
    "schultz_joachims": recompute_combination,
    "scml": recompute_combination,
    "boostmetric": recompute_boostmetric,
    "plml": recompute_plml,
    "lsml": recompute_lsml,
    "itml": recompute_itml,
    "mmc": recompute_mmc,
    "mmc:diagonal": recompute_mmc,
    "dml_eig": recompute_dml_eig,
    "mcml": recompute_mcml,
    "ldml": recompute_ldml,
    "rca": recompute_rca,
    "gmml": recompute_gmml,
    "lfda": recompute_lfda,
    "sdml": recompute_sdml,
    "mlr": recompute_mlr,
}


# By method: those that are read, and those that say where the lists in the file come from.
PARAMETERS = {
    "mlsvm": {"lam", "n_neighbors", "neighborhood"},
    "kernel_mlsvm": {"lam", "n_neighbors", "neighborhood", "kernel", "degree", "gamma"},
    "ssvm": {"C", "n_neighbors", "loss_matrix"},
    "nca": {"criterion", "n_components", "similarity"},
    "mlkr": {"n_components"},
    "glml": {"query", "model", "n_components", "alpha", "priors"},
    "lmnn": {"mu", "n_neighbors", "targets", "triplets"},
    "lmnn:squared_hinge": {"mu", "n_neighbors", "targets", "triplets"},
    "frobmetric": {"C", "n_neighbors", "triplets"},
    "rtml": {"lam", "width", "n_neighbors", "triplets"},
    "schultz_joachims": {"C", "A", "n_neighbors", "triplets"},
    "scml": {"beta", "basis", "n_basis", "n_neighbors", "triplets"},
    "boostmetric": {"v", "n_neighbors", "triplets"},
    "plml": {
        *("alpha1", "alpha2", "triplets", "weights", "anchors", "n_anchors", "n_neighbors", "random_state"),
        *("graph_neighbors", "lam1", "lam2", "similarity"),
    },
    "lsml": {"prior", "quadruplets", "weights", "losses", "n_quadruplets", "random_state"},
    "itml": {"gamma", "prior", "bounds", "pairs"},
    "mmc": {"pairs"},
    "mmc:diagonal": {"pairs"},
    "dml_eig": {"pairs"},
    "mcml": set(),
    "ldml": {"b", "losses", "weights", "self_pairs", "pairs"},
    "rca": {"chunklets", "alpha"},
    "gmml": {"weight", "mu", "prior", "pairs"},
    "lfda": {"n_components", "n_neighbors", "embedding", "alpha"},
    "sdml": {"eta", "lam", "prior", "pairs"},
    "mlr": {"C", "measure", "k", "relevant"},
}


def recompute(content):
    """(objective, lower bound, gap, least eigenvalue of the metric, scale), from the definitions; all but one exact.

    Raises ValueError if the lists are none, the metric is not symmetric, the dual variables are not feasible, or a
    parameter is not known here.
    """
    require_types(content)
    known = METHODS | RELATIVES
    require(content["method"] in known, f"the method {shown(content['method'])} is not known here")
    listed = content["method"] in ("mlsvm", "kernel_mlsvm")
    require(
        listed or content.get("neighbors", []) == [], "it holds neighbour lists, and its method takes none"
    )
    strange = [shown(name) for name in sorted(set(content["params"]) - PARAMETERS[content["method"]])]
    require(
        not strange, f"the parameters {strange} are not known here: the problem of the file is another one"
    )
    objective, bound, scale, *gap = known[content["method"]](content)
    require_named(content)
    least = np.linalg.eigvalsh(np.array(content["metric"], float)).min(initial=math.inf)
    return objective, bound, gap[0] if gap else objective - bound, least, scale


def of_first_order(content):
    """True if what is bounded is what a step wins to first order."""
    if content["method"] not in ("mlkr", "nca"):
        return False
    return content["method"] == "mlkr" or rank_asked(content) < len(
        independent(covariance(whole(content["X"])[0]))
    )


def of_a_step(content):
    """True if what is bounded is the convex step of the metric only."""
    if content["method"] == "nca":
        y, similarity = content["y"], content["params"]["similarity"]
        same = [[a == b and i != j for j, b in enumerate(y)] for i, a in enumerate(y)]
        rows = same if similarity is None else similarity
        partners = [sum(v != 0 for v in row) for row in rows]
        return content["params"]["criterion"] != "g" or max(partners) > 1
    return content["method"] == "ssvm" and "tree" not in content["dual"]


def never(content):
    """True if no metric attains the infimum, as what is in the file proves in integers.

    LDML: dissimilar pairs differ where no similar one does; or, with b free, the metric has no similar pair further
    than a dissimilar one (points that count with themselves are similar, at 0). BoostMetric: no margin of the metric is
    below v times its trace, and some is above.
    """
    if content["method"] not in ("ldml", "boostmetric"):
        return False
    X, _, found = squares(content)
    if content["method"] == "boostmetric":
        i, j, k = index_rows(content["params"]["triplets"], 3, len(X), "triplets").T
        v = Fraction(float(content["params"]["v"]))
        gained = [(D[i, k] - D[i, j]) * by - v * np.trace(A) * a for D, by, A, a in found]
        return any(own.min() >= 0 < own.max() for own in gained)
    near, far = given_pairs(content)
    S, both = (
        outer_sum(X, at_pairs(len(X), rows, [1] * len(rows))) for rows in (near, np.concatenate([near, far]))
    )
    alone = content["params"].get("self_pairs", 0) != 0
    apart = [([*D[tuple(near.T)], *[0] * alone], D[tuple(far.T)]) for D, *_ in found]
    separates = any(max(s) <= t.min() and min(s) < t.max() for s, t in apart)
    return len(independent(both)) > len(independent(S)) or (content["params"]["b"] == "free" and separates)


def main(path):
    """Print the figures; True if they prove the metric optimal. A file that holds no proof is one line and False."""
    try:
        content = read(path)
        with np.errstate(all="ignore"):
            objective, bound, gap, least, scale = recompute(content)
            first, step, unattained = of_first_order(content), of_a_step(content), never(content)
        claimed = shown(content.get("step_lower_bound" if step else "lower_bound"))
        says = f"a share of {shown(content.get('stationarity'))} is won" if first else claimed
        lines = [
            f"objective    {float(objective):.15g}   (the file says {shown(content.get('objective'))})",
            f"lower bound  {float(bound):.15g}   (the file says {says})",
            f"gap          {float(gap):.3g}   gap / scale {float(gap / scale) if scale else math.inf:.3g}",
            f"least eigenvalue of the metric {least:.3g}",
            "believed: the data, the labels, the parameters, and the lists that no other field names",
        ]
    except Exception as error:  # whatever a file does to this program, it does not prove anything
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
    what = "stationary: its convex step gains at most" if step else "optimal to"
    what = "stationary: to first order no step gains more than" if first else what
    print(f"proved: {what} 1e-6 of the scale" if proved else "not proved")
    return bool(proved)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(0 if main(sys.argv[1]) else 1)
