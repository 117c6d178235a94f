"""LFDA, local Fisher discriminant analysis (Sugiyama 2006, 2007): apart where classes differ, near where neighbours do.

Problem, with n_c points in the class of i, and A_ij between 0 and 1 the larger, the nearer two points of a class are,
    max_{T (d, r)}  tr (T^T S_w T)^-1 T^T S_b T,     S = 1/2 sum_ij W_ij (x_i - x_j)(x_i - x_j)^T,
    W_w = A_ij / n_c in a class, else 0;             W_b = A_ij (1/n - 1/n_c) in a class, else 1/n.
A_ij = exp(-D_ij / (s_i s_j)), s_i the distance of i to the K-th nearest of its class, and 0 where a scale is 0. It is
minimised with the sign changed. alpha I, added to S_w, is ours (0 by default), as the author's kernel program adds it.
The problem asks for the range of T alone; a metric T T^T needs more, its `embedding`:
    "plain" T^T S_w T = I;    "weighted" the same, each eigenvector times the root of its eigenvalue;
    "orthonormal" T^T T = I.
A metric is judged by its range, and refused where it is further than `FEASIBILITY_TOL` from the one of its embedding.

Bound. In plain metrics the problem is linear, and their convex hull is 0 <= M <= S_w^-1, tr S_w M = r (`problem`). With
l_1 >= l_2 >= .. the eigenvalues of (S_b, S_w), any number s bounds all metrics by r s + sum_k (l_k - s)_+ (`dual`):
Ky Fan's theorem. Balls enclose S_w, S_b, l and all of a metric's figures (core/balls.py, core/spectrum.py); floats
come last. The range is unique if and only if l_r > l_{r+1}, which balls decide. Scale: the optimum. Radius:
docs/lfda.md.
Where S_w is singular nothing is attained, or T is not determined: `instance` refuses that, by exact ranks.

Reference: M. Sugiyama, Dimensionality reduction of multimodal labeled data by local Fisher discriminant analysis, JMLR
8, 2007. The printed equations were not at hand: docs/lfda.md says what was read.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.affinity import Members, local_scatter, members
from cvxml.core.balls import MORE, TooFewBits, ball, balls, ends, precision, total, with_enough_bits
from cvxml.core.exact import Exact, flint, root_upward, upward
from cvxml.core.example import drawn, sample, timed, verified
from cvxml.core.inputs import check_choice, check_count, check_labels, check_number, check_X, class_names
from cvxml.core.method import ConvexMethod
from cvxml.core.metric import FEASIBILITY_TOL, Feasibility, FloatArray, IntArray, examine, in_units
from cvxml.core.misreading import Misreading, Question, changed
from cvxml.core.parameter import COUNT, NUMBER, WORD, Parameter
from cvxml.core.result import Certificate, Dual
from cvxml.core.run import Callback, Found, Start, in_one_step
from cvxml.core.spectrum import eigenvectors, enclosed, inverted
from cvxml.core.squares import given_rows, whole, within_groups
from cvxml.core.statement import Statement
from cvxml.family.enclosed import certificate, dual_array

EMBEDDINGS = ("plain", "weighted", "orthonormal")
SHARP = 2.0**-100  # of the largest eigenvalue: what a ball is to be within
USUAL = 7  # K by default, where no class is too small


def problem(X: FloatArray, y: IntArray, r: int, k: int, alpha: float) -> Any:
    """The problem, in plain metrics. Variable: "M" (d, d)."""
    import cvxpy as cp

    #: [The problem, in T]
    #: max over T (d, r):  tr (T^T S_w T)^-1 T^T S_b T
    #:   | \max_{T \in \mathbb{R}^{d \times r}}\ \operatorname{tr} (T^T S_w T)^{-1} T^T S_b T
    #: plain: T^T S_w T = I, so that M = T T^T has M S_w M = M and tr(S_w M) = r
    #:   | \text{plain: } T^T S_w T = I \text{, so that } M = T T^T \text{ has } M S_w M = M
    #:     \text{ and } \operatorname{tr}(S_w M) = r

    S_w, S_b = scatters(X, y, k, alpha)
    M = cp.Variable((X.shape[1],) * 2, symmetric=True, name="M")
    #: M psd,  S_w - S_w M S_w psd | M \succeq 0, \quad S_w - S_w M S_w \succeq 0
    constraints = [M >> 0, S_w - S_w @ M @ S_w >> 0]
    #: tr(S_w M) = r | \operatorname{tr}(S_w M) = r
    constraints += [cp.trace(S_w @ M) == r]
    #: min over M:  -tr(S_b M) | \min_{M}\ -\operatorname{tr}(S_b M)
    return cp.Problem(cp.Minimize(-cp.trace(S_b @ M)), constraints)


def scatters(X: FloatArray, y: IntArray, k: int, alpha: float) -> tuple[FloatArray, FloatArray]:
    """Its local scatter matrices (d, d)."""
    n, d = X.shape
    A = affinity(X, y, k)
    #: S_w = sum_{i<j} W_w (x_i - x_j)(x_i - x_j)^T + alpha I,  where alpha is ours
    #:   | S_w = \textstyle\sum_{i<j} W_w (\mathbf{x}_i - \mathbf{x}_j)(\mathbf{x}_i - \mathbf{x}_j)^T
    #:     + \alpha I, \quad \text{where } \alpha \text{ is ours}
    S_w = alpha * np.eye(d)
    #: S_b = sum_{i<j} W_b (x_i - x_j)(x_i - x_j)^T
    #:   | S_b = \textstyle\sum_{i<j} W_b (\mathbf{x}_i - \mathbf{x}_j)(\mathbf{x}_i - \mathbf{x}_j)^T
    S_b = np.zeros((d, d))
    for i in range(n):
        for j in range(i + 1, n):
            X_ij = np.outer(X[i] - X[j], X[i] - X[j])
            if y[i] == y[j]:
                n_c = np.count_nonzero(y == y[i])
                #: in a class of n_c points  W_w = A_ij/n_c,  W_b = A_ij (1/n - 1/n_c)
                #:   | \text{in a class of } n_c \text{ points } W_w = A_{ij}/n_c,
                #:     \quad W_b = A_{ij} (1/n - 1/n_c)
                S_w += A[i, j] / n_c * X_ij
                S_b += A[i, j] * (1 / n - 1 / n_c) * X_ij
            else:
                #: of two classes  W_w = 0,  W_b = 1/n | \text{of two classes } W_w = 0, \quad W_b = 1/n
                S_b += X_ij / n
    return S_w, S_b


def affinity(X: FloatArray, y: IntArray, k: int) -> FloatArray:
    """The affinity A (n, n), 0 between classes."""
    n = len(X)
    s, A = np.zeros(n), np.zeros((n, n))
    for i in range(n):
        #: s_i = the distance of x_i to the K-th nearest of its class
        #:   | s_i = \text{the distance of } \mathbf{x}_i \text{ to the } K \text{-th nearest of its class}
        s[i] = sorted(np.linalg.norm(X[i] - X[j]) for j in range(n) if y[j] == y[i] and j != i)[k - 1]
    for i in range(n):
        for j in range(n):
            if y[i] == y[j] and s[i] * s[j] > 0:
                #: A_ij = exp(-|x_i - x_j|^2 / (s_i s_j)),  0 where s_i s_j = 0
                #:   | A_{ij} = \exp(-\lVert \mathbf{x}_i - \mathbf{x}_j \rVert^2 / (s_i s_j)),
                #:     \quad 0 \text{ where } s_i s_j = 0
                A[i, j] = np.exp(-np.sum((X[i] - X[j]) ** 2) / (s[i] * s[j]))
    return A


def dual(X: FloatArray, y: IntArray, r: int, k: int, alpha: float) -> Any:
    """Its dual. Variables: "s", "N" (d, d)."""
    import cvxpy as cp

    S_w, S_b = scatters(X, y, k, alpha)
    s = cp.Variable(name="s")
    N = cp.Variable((X.shape[1],) * 2, symmetric=True, name="N")
    #: N psd,  s S_w + S_w N S_w - S_b psd | N \succeq 0, \quad s\, S_w + S_w N S_w - S_b \succeq 0
    constraints = [N >> 0, s * S_w + S_w @ N @ S_w - S_b >> 0]
    #: max over s, N:  -(r s + tr(S_w N)) | \max_{s, N}\ -(r s + \operatorname{tr}(S_w N))
    return cp.Problem(cp.Maximize(-(r * s + cp.trace(S_w @ N))), constraints)
    #: [What is proved]
    #: l_1 >= l_2 >= ..: the eigenvalues of (S_b, S_w)
    #:   | l_1 \ge l_2 \ge \ldots \text{: the eigenvalues of } (S_b, S_w)
    #: any s gives the lower bound  -(r s + sum_k max(l_k - s, 0))
    #:   | \text{any } s \text{ gives the lower bound } -(r s + \textstyle\sum_k \max(l_k - s, 0))
    #: the optimum is  -(l_1 + .. + l_r),  and the range of T is unique if and only if l_r > l_{r+1}
    #:   | \text{the optimum is } -(l_1 + \ldots + l_r)
    #:     \text{, and the range of } T \text{ is unique if and only if } l_r > l_{r+1}
    #: the metric is T T^T,  plain, or weighted: T^T S_w T = diag(l), or orthonormal: T^T T = I
    #:   | \text{the metric is } T T^T \text{, plain, or weighted: } T^T S_w T = \operatorname{diag}(l)
    #:     \text{, or orthonormal: } T^T T = I


@dataclass(frozen=True)
class Instance:
    """Checked data, of which S_w has its full rank."""

    X: FloatArray  # (n, d)
    y: IntArray  # (n,) codes
    r: int  # components
    k: int  # neighbours
    embedding: str
    alpha: float

    @cached_property
    def classes(self) -> list[Members]:
        """The points of each class, with their scales, exactly."""
        return members(self.X, self.y, self.k)

    @cached_property
    def known(self) -> Known:
        """The scatter matrices and their eigenvalues; of MORE bits where fewer do not tell l_r from l_{r+1}."""
        return with_enough_bits(lambda: _known(self))


class Known(NamedTuple):
    """In balls."""

    bits: int
    S_w: Any
    S_b: Any
    inverse: Any  # of S_w
    l: list[Any]  # falling  # noqa: E741
    unique: bool  # l_r > l_{r+1}, or there is no l_{r+1}
    top: Any  # near the plain metric


def _known(given: Instance) -> Known:
    S_w, S_b = scatter(given)
    inverse = inverted(S_w)
    product = inverse * S_b
    found, r = enclosed(product), given.r
    # by the balls themselves: floats of eigenvalues that are next to each other may be equal
    order = sorted(range(len(found)), key=lambda k: found[k].mid(), reverse=True)
    l = [found[k] for k in order]  # noqa: E741
    unique = r == len(l) or all(a > b for a in l[:r] for b in l[r:])
    sharp = all(float(each.rad()) <= SHARP * float(l[0]) for each in l)
    if not sharp or (not unique and flint().ctx.prec < MORE[-1]):
        raise TooFewBits("eigenvalues are next to each other, or S_w next to singular")
    # the projection on the range along the other eigenvectors is T T^T S_w
    R = eigenvectors(product)[1]
    E = flint().acb_mat([[int(i == j and i in order[:r]) for j in range(len(l))] for i in range(len(l))])
    return Known(
        flint().ctx.prec, S_w, S_b, inverse, l, unique, R * E * inverted(R) * flint().acb_mat(inverse)
    )


def scatter(given: Instance) -> tuple[Any, Any]:
    """S_w and S_b (d, d), at the precision of now."""
    n, d = given.X.shape
    inside, at = within_groups(given.X, given.y, [1] * len(given.classes))
    between = within_groups(given.X, 0 * given.y, [1])[0] - inside
    S_w, S_b = flint().arb_mat(d, d), balls(between, at) / n
    for k in range(d):
        S_w[k, k] = ball(given.alpha)
    for own in given.classes:
        G, n_c = local_scatter(own), len(own.D)
        S_w, S_b = S_w + G / n_c, S_b - G * ball(Fraction(1, n_c) - Fraction(1, n))
    return S_w, S_b


def instance(
    X: ArrayLike,
    y: ArrayLike | None,
    *,
    n_components: int | None = None,
    n_neighbors: int | None = None,
    embedding: str = "weighted",
    alpha: float = 0.0,
) -> Instance:
    """Everything checked. Raises ValueError for bad input, and where S_w is singular."""
    points = check_X(X)
    n, d = points.shape
    codes = check_labels(y, n)
    r = d if n_components is None else check_count(n_components, "n_components", at_most=d)
    alpha = check_number(alpha, "alpha")
    check_choice(embedding, "embedding", EMBEDDINGS)
    if alpha < 0:
        raise ValueError(f"alpha must be at least 0, got {alpha!r}")
    sizes = np.bincount(codes)
    # by default the paper's, or as many others as every point has in its class
    usual = max(1, min(USUAL, int(sizes.min()) - 1))
    k = usual if n_neighbors is None else check_count(n_neighbors, "n_neighbors")
    if sizes.min() <= k:
        c = int(sizes.argmin())
        raise ValueError(
            f"class {class_names(y)[c]:.40} has {sizes[c]} point(s), so at most {sizes[c] - 1} neighbours each, not "
            f"n_neighbors={k}: lower n_neighbors, or leave the class out"
        )
    given = Instance(points, codes, r, k, embedding, alpha)
    _check_attained(given)
    return given


def _check_attained(given: Instance) -> None:
    """ValueError where S_w is singular, which is decided in rationals, and where a metric is no float."""
    d, rows = given.X.shape[1], whole(given.X)[0]
    every = _rank(rows.tolist())
    if every == 0:
        raise ValueError("all points are equal: every metric is optimal; give others")
    near = [own.points.tolist()[i] for own in given.classes for i in own.scaled]
    starts = np.repeat(range(len(given.classes)), [len(own.scaled) for own in given.classes])
    inside = _rank([row for c in set(starts.tolist()) for row in _from_first(near, starts == c)])
    if given.alpha == 0 and inside < every:
        raise ValueError(
            f"near points of a class differ in {inside} of {every} directions: along the others S_w is 0 and classes "
            "differ, so the supremum is infinite and no T attains it; give alpha > 0, more points, or fewer features "
            "(the first principal components, say)"
        )
    if given.alpha == 0 and every < d:
        raise ValueError(
            f"features are linearly dependent: points differ in {every} of {d} directions, and T along the others is "
            "not determined; give alpha > 0, or leave features out"
        )
    within = floats(given.known.S_w)
    if not (_is_number(within) and within.diagonal().min() > 0 and _is_number(closed_form(given))):
        raise ValueError("X: the metric is too large or too small for double precision; rescale X")


def _is_number(M: FloatArray) -> bool:
    return bool(np.isfinite(M).all() and M.any())


def _from_first(rows: list[Any], which: Any) -> list[Any]:
    own = [np.array(row, dtype=object) for row, is_own in zip(rows, which, strict=True) if is_own]
    return [(row - own[0]).tolist() for row in own]


def _rank(rows: list[Any]) -> int:
    """Of the differences of rows of integers."""
    return (
        int(flint().fmpz_mat([[a - b for a, b in zip(row, rows[0], strict=True)] for row in rows]).rank())
        if rows
        else 0
    )


def objective(given: Instance, M: FloatArray) -> float:
    """-tr (T^T S_w T)^-1 T^T S_b T, T (d, r) the r directions in which M (d, d) is largest."""
    return float(evaluate(given, M)["objective"])


def evaluate(given: Instance, M: FloatArray) -> dict[str, Any]:
    """Intermediates at M (d, d).

    objective; T (d, r): a basis of the range, eigenvectors with the largest eigenvalue first, of the embedding asked
    for; l (d,): all eigenvalues of (S_b, S_w), falling; S_w, S_b (d, d); A (n, n): the affinity.
    """
    S_w, S_b = scatters(given.X, given.y, given.k, given.alpha)
    T = axes(S_w, M, given.r)
    return {
        "objective": -float(np.trace(np.linalg.solve(T.T @ S_w @ T, T.T @ S_b @ T))),
        "T": transformation(S_w, S_b, T, given.embedding),
        "l": _eigen(S_w, S_b)[0][::-1],
        "S_w": S_w,
        "S_b": S_b,
        "A": affinity(given.X, given.y, given.k),
    }


def axes(S_w: FloatArray, M: FloatArray, r: int) -> FloatArray:
    """T (d, r) that spans the range of M (d, d), features in units of S_w: any T is one that may be judged."""
    unit = np.exp2(np.round(np.log2(np.diag(S_w)) / 2))
    own = in_units(M / 2 + M.T / 2, unit)[0]
    T: FloatArray = np.linalg.eigh(own)[1][:, ::-1][:, :r] / unit[:, None]
    return T


def transformation(S_w: FloatArray, S_b: FloatArray, T: FloatArray, embedding: str) -> FloatArray:
    """T (d, r) of the same range, and of the embedding."""
    values, vectors = _eigen(T.T @ S_w @ T, T.T @ S_b @ T)
    T = T @ vectors[:, ::-1]
    if embedding == "orthonormal":
        return np.asarray(np.linalg.qr(T)[0], dtype=np.float64)
    return T * np.sqrt(np.maximum(values[::-1], 0)) if embedding == "weighted" else T


def _eigen(S_w: FloatArray, S_b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Eigenvalues of (S_b, S_w), rising, and their vectors V with V^T S_w V = I."""
    root = np.sqrt(np.diag(S_w))
    L = np.linalg.cholesky(S_w / root[:, None] / root) * root[:, None]
    values, vectors = np.linalg.eigh(np.linalg.solve(L, np.linalg.solve(L, S_b).T))
    return values, np.linalg.solve(L.T, vectors)


class Figures(NamedTuple):
    """Of a metric M: balls."""

    objective: Any  # of its range
    metric: Any  # the one of its range that is of the embedding, (d, d)
    off: Any  # how far M is from that, relative to it, in coordinates in which S_w is I; squared
    distance: Any  # and in Frobenius norm; squared


def figures(given: Instance, M: FloatArray, T: FloatArray) -> Figures:
    """Of M (d, d), by T (d, r) that is about its range; at the precision of `known`."""
    (_, S_w, S_b, *_), columns = given.known, balls(*whole(T))
    rows = columns.transpose()
    plain = columns * inverted(rows * S_w * columns) * rows
    metric = {
        "plain": lambda: plain,
        "weighted": lambda: plain * S_b * plain,
        "orthonormal": lambda: columns * inverted(rows * columns) * rows,
    }[given.embedding]()
    off, there = balls(*whole(M)) - metric, S_w * metric
    seen = S_w * off
    share = (seen * seen).trace() / (there * there).trace()
    return Figures(-(S_b * plain).trace(), metric, share, (off * off.transpose()).trace())


def bound(given: Instance, s: float) -> Any:
    """Below every objective, for any number s: a ball. What is no number, or worse than 0, counts as 0."""
    trivial = -total(given.known.l)
    if not (math.isfinite(s) and s > 0):
        return trivial
    parts = [each - ball(s) for each in given.known.l]
    found = -(given.r * ball(s) + total([(part + abs(part)) / 2 for part in parts]))
    return found if found > trivial else trivial


def optimum(given: Instance) -> Any:
    """l_1 + .. + l_r, a ball."""
    return total(given.known.l[: given.r])


def floats(matrix: Any) -> FloatArray:
    """Balls, rounded; symmetric."""
    found: FloatArray = np.array([[float(entry.real) for entry in row] for row in matrix.tolist()])
    return found / 2 + found.T / 2


def closed_form(given: Instance) -> FloatArray:
    """The metric (d, d)."""
    with precision(given.known.bits):
        return embedded(given, floats(given.known.top))


def embedded(given: Instance, M: FloatArray) -> FloatArray:
    """The metric of the range of M (d, d) that is of the embedding."""
    with precision(given.known.bits):
        return floats(figures(given, M, axes(floats(given.known.S_w), M, given.r)).metric)


def price(given: Instance) -> float:
    """s between l_{r+1} and l_r."""
    l, r = given.known.l, given.r  # noqa: E741
    return 0.0 if r == len(l) else (float(l[r - 1]) + float(l[r])) / 2


def radius(given: Instance, gap: float) -> float:
    """How far in Frobenius norm the optimum may be from a metric of the embedding: docs/lfda.md."""
    _, S_w, _, inverse, l, unique, _ = given.known  # noqa: E741
    d, r = len(l), given.r
    if r == d:
        return 0.0
    if not unique:
        return math.inf
    least = min(ends(a - b)[0] for a in l[:r] for b in l[r:])
    turned = min(root_upward(2 * Fraction(gap) / least), math.sqrt(2 * min(r, d - r)))
    long, short = ((each * each).trace().sqrt() for each in (inverse, S_w))
    factor = {"plain": long, "weighted": 2 * max(l, key=float) * long, "orthonormal": (long * short).sqrt()}
    return turned * upward(ends(factor[given.embedding])[1]) * (1 + 1e-9)


@dataclass(frozen=True)
class Embedded(Feasibility):
    """Of a metric that is to be of an embedding; `off` relative to the one of its range that is."""

    embedding: str = ""
    off: float = 0.0

    @property
    def feasible(self) -> bool:
        """True within `FEASIBILITY_TOL`, relative to the norm."""
        return self.off <= FEASIBILITY_TOL and super().feasible

    def __str__(self) -> str:
        if self.off <= FEASIBILITY_TOL:
            return super().__str__()
        return (
            f"{super().__str__()}; it is off by {self.off:.3g} from the {self.embedding} metric of its range"
        )


def judged(given: Instance, M: FloatArray, root: ArrayLike | None = None) -> tuple[Figures, Embedded]:
    """At the precision of `known`. root (d, q): R with R R^T near M, if it is known."""
    psd, found = examine(M, given.X)
    T = axes(floats(given.known.S_w), psd, given.r) if root is None else longest(given, root)
    of = figures(given, psd, T)
    off, distance = (root_upward(max(ends(each)[1], Fraction(0))) for each in (of.off, of.distance))
    seen = (found.asymmetry, found.min_eigenvalue, found.distance + distance, found.norm)
    return of, Embedded(*seen, embedding=given.embedding, off=off)


def longest(given: Instance, root: ArrayLike) -> FloatArray:
    """The r longest columns of a root (d, q), decided exactly. Raises ValueError where there are fewer."""
    R = given_rows(root, given.X.shape[1], "root")
    if R.shape[1] < given.r:
        raise ValueError(f"root has {R.shape[1]} columns, and the metric is to have rank {given.r}")
    lengths = [sum(int(entry) ** 2 for entry in column) for column in whole(R)[0].transpose().tolist()]
    return R[:, sorted(range(len(lengths)), key=lambda k: -lengths[k])[: given.r]]


Scatters = tuple[FloatArray, FloatArray]


def _left(change: Callable[[Instance], Scatters | None], sentence: str) -> Misreading:
    """What a metric leaves to gain with other scatter matrices, or how far it is from their metric of its range."""

    def left(question: Question) -> float:
        given = instance(question.X, question.y, **question.params)
        other = change(given)
        if other is None:
            return math.inf
        S_w, S_b = other
        M = examine(question.metric)[0]
        T = transformation(S_w, S_b, axes(S_w, M, given.r), "plain")
        best = float(_eigen(S_w, S_b)[0][::-1][: given.r].sum())
        theirs = transformation(S_w, S_b, T, given.embedding)
        metric = S_w @ theirs @ theirs.T
        off = S_w @ M - metric
        apart = math.sqrt(max(float(np.sum(off * off.T)), 0.0) / float(np.sum(metric * metric.T)))
        return max(1 - float(np.trace(T.T @ S_b @ T)) / best, apart)

    return Misreading(sentence, left=left)


def _with(given: Instance, A: Callable[[FloatArray, int], FloatArray], k: int | None = None) -> Scatters:
    """S_w and S_b of other affinities: of a class, by its squared distances (n_c, n_c) and K."""
    X, y, n = given.X - given.X.mean(axis=0), given.y, len(given.X)
    k = given.k if k is None else k
    S_w, S_b = given.alpha * np.eye(X.shape[1]), X.T @ X
    for c in range(int(y.max()) + 1):
        own = X[y == c]
        n_c, D = len(own), np.sum((own[:, None] - own) ** 2, axis=2)
        W = A(D, min(k, n_c - 1))
        G = own.T @ (W.sum(axis=0)[:, None] * own) - own.T @ W @ own
        inside = own - own.mean(axis=0)
        S_w += G / n_c
        S_b += G * (1 / n - 1 / n_c) - inside.T @ inside * (n_c / n)
        # of two classes: all pairs but those within
    return S_w, S_b


def _scaled(D: FloatArray, s: FloatArray) -> FloatArray:
    by = np.outer(s, s)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(by > 0, np.exp(-D / by), 0.0)


def _by_rows(D: FloatArray, k: int) -> FloatArray:
    return _scaled(D, np.sqrt(np.sort(D, axis=0)[k]))


def _by_columns(D: FloatArray, k: int) -> FloatArray:
    return _scaled(D, np.sqrt(np.partition(D, k, axis=0)[:, k]))


def _more(times: float) -> Callable[[Instance], Scatters]:
    def change(given: Instance) -> Scatters:
        S_w, S_b = _with(given, _by_rows)
        return S_w, S_b + times * S_w

    return change


def _program(given: Instance) -> Scatters:
    S_w, S_b = _with(given, _by_columns, max(1, min(7, given.X.shape[1] - 1)))
    return S_w, S_b + 2 * S_w


def _fewer(question: Question) -> int | None:
    k = instance(question.X, question.y, **question.params).k
    few = min(k, np.shape(question.X)[1] - 1)
    return few if 1 <= few < k else None


def _one_less(question: Question) -> int | None:
    return instance(question.X, question.y, **question.params).k - 1 or None


def _embedding(name: str, sentence: str) -> Misreading:
    return Misreading(
        sentence,
        changed("embedding", lambda q: None if q.params.get("embedding", "weighted") == name else name),
    )


# What implementations compute instead.
MISREADINGS = {
    "plain": _embedding("plain", "eigenvectors as they are (plain), where another embedding is asked for"),
    "weighted": _embedding("weighted", "eigenvectors times roots of eigenvalues, where others are asked for"),
    "orthonormal": _embedding("orthonormal", "an orthonormal basis, where another embedding is asked for"),
    "added": _left(_more(2.0), "S_w added where it is subtracted: weights sqrt(l + 2)"),
    "mixture": _left(_more(1.0), "S_w + S_b in place of S_b: weights sqrt(l + 1)"),
    "column": _left(
        lambda given: _with(given, _by_columns),
        "column K of the sorted distances in place of row K, as the points' scales",
    ),
    "program": _left(
        _program, "column K in place of row K of the sorted distances, K = min(7, d - 1), and S_w added (metric-learn)"
    ),
    "global": _left(lambda given: _with(given, lambda D, k: np.ones_like(D)), "all affinities 1: Fisher's analysis"),
    "unsquared": _left(
        lambda given: _with(given, lambda D, k: _scaled(np.sqrt(D), np.sort(D, axis=0)[k] ** 0.25)),
        "exp(-|x_i - x_j| / sqrt(s_i s_j)), distances that are not squared",
    ),
    "squared_scales": _left(
        lambda given: _with(given, lambda D, k: _scaled(D, np.sort(D, axis=0)[k])),
        "squared distances to the K-th nearest as scales",
    ),
    "fewer": Misreading("K = min(7, d - 1) neighbours", changed("n_neighbors", _fewer)),
    "itself": Misreading("the point itself as the first of its K neighbours", changed("n_neighbors", _one_less)),
    "no_alpha": Misreading("S_w without alpha I", changed("alpha", lambda q: 0.0 if q.params.get("alpha") else None)),
}  # fmt: skip


class LFDA(ConvexMethod[Instance]):
    """The directions in which classes are apart for what near points of a class are."""

    id = "lfda"
    TITLE = "LFDA: local Fisher discriminant analysis (Sugiyama 2007)"
    PARAMETERS: ClassVar = {
        "n_components": Parameter("r, the rank of the metric", COUNT, otherwise="all d features"),
        "n_neighbors": Parameter(
            "K: the distance to the K-th nearest of its class is a point's scale",
            COUNT,
            otherwise="7, or the others in the smallest class",
        ),
        "embedding": Parameter(
            '"plain": eigenvectors as they are; "weighted": times the roots of their eigenvalues; "orthonormal"',
            WORD,
            "weighted",
        ),
        "alpha": Parameter("added to the diagonal of the scatter within classes, >= 0", NUMBER, 0.0),
    }
    STATEMENT = Statement("cvxml.methods.lfda", ("problem", "scatters", "affinity", "dual"))
    MISREADINGS: ClassVar = MISREADINGS
    EXAMPLES: ClassVar = (
        drawn(5, 24, 3, n_components=1, n_neighbors=2, embedding="plain"),
        drawn(7, 18, 5, degenerate=True, n_components=2, n_neighbors=2, alpha=0.1),
        drawn(8, 18, 3, 2, n_components=2, n_neighbors=3, embedding="orthonormal"),
        sample("iris", 30, n_components=2, n_neighbors=3),
        verified("iris", n_components=2),
        verified("wine", 90, n_components=3, embedding="plain"),
        timed("iris", n_components=2),
        timed("wine", n_components=3),
    )

    def instance(self, X: ArrayLike, y: ArrayLike | None, **params: Any) -> Instance:
        """See `instance`."""
        return instance(X, y, **params)

    def feasibility(self, given: Instance, M: FloatArray) -> str:
        """Of a metric of the embedding."""
        with precision(given.known.bits):
            return str(judged(given, M)[1])

    def problem(self, given: Instance) -> Any:
        """Variable "M" (d, d), plain whatever the embedding."""
        return problem(given.X, given.y, given.r, given.k, given.alpha)

    def dual(self, given: Instance) -> Any:
        """Variables "s", "N" (d, d)."""
        return dual(given.X, given.y, given.r, given.k, given.alpha)

    def prices(self, given: Instance, values: dict[str, FloatArray]) -> Dual:
        """The price of the trace: the best N for it is known."""
        return {"s": np.reshape(values["s"], 1)}

    def through_cvxpy(self, given: Instance, solver: str) -> Found:
        """The metric of its range that is of the embedding."""
        found = super().through_cvxpy(given, solver)
        return found._replace(metric=embedded(given, found.metric))

    def objective(self, given: Instance, M: FloatArray) -> float:
        """From the definition."""
        return objective(given, M)

    def evaluate(self, given: Instance, M: FloatArray, t: int = 1) -> dict[str, Any]:
        """See `evaluate`."""
        return evaluate(given, M)

    def certify(self, given: Instance, M: FloatArray, dual: Dual) -> Certificate:
        """From "s" (1,), any number but NaN."""
        (s,) = dual_array(dual, "s", (1,))
        with precision(given.known.bits):
            of, feasibility = judged(given, M)
            proved = bound(given, s)
            taken = s if math.isfinite(s) and s > 0 else 0.0
            return certificate(
                of.objective,
                proved,
                scale=float(optimum(given)),
                radius=partial(radius, given),
                feasibility=feasibility,
                dual={"s": np.array([taken])},
            )

    def exact(self, given: Instance, M: FloatArray, dual: Dual, *, root: ArrayLike | None = None) -> Exact:
        """The same, rounded outward, of the metric of the embedding that has about the range of M."""
        (s,) = dual_array(dual, "s", (1,))
        with precision(given.known.bits):
            of, _ = judged(given, M, root)
            low, high, scale = map(ends, (bound(given, s), of.objective, optimum(given)))
            return Exact(low[0], high[1], root_upward(max(ends(of.distance)[1], Fraction(0))), scale[0])

    def search(
        self, given: Instance, tol: float, max_iter: int, start: Start | None, callback: Callback
    ) -> Found:
        """The closed form. Raises ValueError where its doubles are no metric of the embedding."""
        metric, dual = closed_form(given), {"s": np.array([price(given)])}
        with precision(given.known.bits):
            if not judged(given, metric)[1].feasible:
                raise ValueError(
                    "features are next to linearly dependent: the closed form in doubles is not the metric; leave "
                    "features out, or give alpha > 0"
                )
        return in_one_step(metric, dual, partial(self.certify, given), callback)

    def notes(self, given: Instance, found: Found, certificate: Certificate) -> list[str]:
        """That the metric is not unique, as far as is known."""
        if given.known.unique:
            return [*found.notes]
        r = given.r
        said = f"eigenvalues {r} and {r + 1} are one to {MORE[-1]} bits: other metrics are as good, or next to it"
        return [*found.notes, said]

    def components(self, given: Instance, M: FloatArray) -> FloatArray:
        """T^T (r, d), what the paper learns."""
        S_w, S_b = floats(given.known.S_w), floats(given.known.S_b)
        return transformation(S_w, S_b, axes(S_w, M, given.r), given.embedding).T

    def stored(self, given: Instance) -> dict[str, Any]:
        """The rank as a number."""
        return {
            "n_components": given.r,
            "n_neighbors": given.k,
            "embedding": given.embedding,
            "alpha": given.alpha,
        }


METHOD = LFDA()
