"""The misreadings of MLSVM that `check` can name: problems that implementations solve instead of problem (2).

    (2)  min_{A psd}  lam/2 ||A||^2 + 1/n sum_i xi_i,     xi_i = [1 + max_l d_A(i, l) - min_j d_A(i, j)]_+

Here l runs over the targets of point i, j over its impostors, and d_A is the squared distance in A. A `Question` holds
a refuted metric, with the data and parameters that it was judged with. A misreading explains the metric if the metric
has a small gap in it. `OtherProblem` holds the inputs that turn MLSVM into the misreading. The table at the end of this
file names all misreadings.

Most are problem (2) with another lam or other rows. A row is a constraint: a point with its targets and impostors. A
function of type `Rows` returns the rows of a misreading, or None if the misreading does not apply. It takes the checked
data `given` and the question. If a misreading has two rows for a point, or the point itself among its targets, copies
of the point are appended to the data. This changes the number of points from n to n'. With lam n / n' in place of lam,
the problem with n' points has the same solution as problem (2) with the rows of the misreading. The misreading
"impostors of any label" is not named, because then a target is also an impostor, and A = 0 is optimal.

Four are other problems. Let u, w be dual variables of impostors and targets with s_i = sum_j u_ij = sum_l w_il. Let G
be the sum of u_ij X_ij minus the sum of w_il X_il, with X_ij = (x_i - x_j)(x_i - x_j)^T. Each problem has this lower
bound, with s_i <= 1/n except in the second:
    no cone          all symmetric A:                     sum s - ||G||^2 / (2 lam)
    squared hinge    xi_i^2 for xi_i, s_i unbounded:      sum s - n/4 sum s^2 - ||P_+(G)||^2 / (2 lam)
    off-diagonals    lam/2 sum_{i <= j} A_ij^2:           sum s - ||W o (G + S)||^2 / (2 lam), W_ij^2 = 2 if i != j
    mean of targets  the mean of a point's targets:       sum s - ||P_+(G)||^2 / (2 lam), all w_il of a point equal
W o is the product entry by entry, W_ii = 1, and S is any psd matrix. misreadings_problem.py maximizes these bounds.
`_bound` makes the dual variables feasible and computes the bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from cvxml.core.inputs import class_names
from cvxml.core.metric import FloatArray, IntArray, examine, project_psd, unit_scale
from cvxml.core.misreading import (
    FAR,
    MULTIPLES,
    Misreading,
    OtherProblem,
    Question,
    changed,
    is_improved,
)
from cvxml.core.neighbors import k_nearest, squared_euclidean
from cvxml.core.other_lists import two_classes
from cvxml.methods.mlsvm.neighborhood import Instance, Neighborhood, instance, scaled_lam, split

MOST_POINTS = 2_000  # misreadings that sort all distances are not tried with more points
MOST_PAIRS = 1_000_000  # a misreading with more pairs than this is not tried

Listed = Sequence[int] | IntArray


class Row(NamedTuple):
    """A constraint: a point, its targets and its impostors. A target that is the point itself is at distance 0."""

    point: int
    targets: Listed
    impostors: Listed


def usable_rows(
    N: Neighborhood, targets: list[IntArray] | None = None, impostors: list[IntArray] | None = None
) -> list[Row]:
    """Return a row for every point that has both targets and impostors.

    targets, impostors: lists, one for each point, that replace those of `N`.
    """
    T = N.targets if targets is None else targets
    J = N.impostors if impostors is None else impostors
    return [Row(i, T[i], J[i]) for i in range(len(T)) if len(T[i]) and len(J[i])]


def losses(X: FloatArray, rows: list[Row], A: FloatArray) -> FloatArray:
    """Return max_l d_A - min_j d_A of each row (rows,), over its targets l and impostors j."""
    far = _extreme(X, A, rows, [row.targets for row in rows], np.maximum)
    near = _extreme(X, A, rows, [row.impostors for row in rows], np.minimum)
    return far - near


def mean_losses(X: FloatArray, rows: list[Row], A: FloatArray) -> FloatArray:
    """Return mean_l d_A - min_j d_A of each row (rows,), over its targets l and impostors j."""
    far = _extreme(X, A, rows, [row.targets for row in rows], np.add) / [len(row.targets) for row in rows]
    return far - _extreme(X, A, rows, [row.impostors for row in rows], np.minimum)


def _extreme(
    X: FloatArray, A: FloatArray, rows: list[Row], lists: list[Listed], extreme: np.ufunc
) -> FloatArray:
    if not rows:
        return np.zeros(0)
    start = np.cumsum([0, *(len(listed) for listed in lists[:-1])])
    i = np.repeat([row.point for row in rows], [len(listed) for listed in lists])
    j = np.concatenate([np.asarray(listed, dtype=np.intp) for listed in lists])
    difference = X[i] - X[j]
    reduced: FloatArray = extreme.reduceat(np.sum((difference @ A) * difference, axis=1), start)
    return reduced


def stays_at_scale(
    A: FloatArray, lam: float, n: int, margins_at: Callable[[FloatArray], FloatArray], power: int = 1
) -> bool:
    """Return False if some multiple of A is clearly better than A in a misreading, so that A cannot be its optimum.

    Clearly: the objective at one of the `MULTIPLES` of A is lower by more than 2 `FAR` times lam/2 ||A||^2. No solver
    is needed. n: the number of points. margins_at(A): max_l d_A - min_j d_A of each row (rows,). power: 2 if the hinge
    is squared, otherwise 1. The result is also False if ||A||^2 overflows.
    """
    size = lam / 2 * float(np.sum(A**2))
    if not math.isfinite(size):
        return False
    margins = margins_at(A)  # max_l d_A - min_j d_A of every row, linear in multiples of A

    def value(t: float) -> float:
        return t**2 * size + float((np.maximum(0.0, 1 + t * margins) ** power).sum()) / n

    return min(value(t) for t in MULTIPLES) >= value(1.0) - 2 * FAR * size


Rows = Callable[[Instance, Question], list[Row] | None]


def lam_times(factor: Callable[[Instance], float]) -> Callable[[Question], OtherProblem | None]:
    def value(question: Question) -> float | None:
        given = question.checked(instance)
        lam = given.lam * factor(given)
        return lam if lam > 0 and lam != given.lam else None

    return screened(changed("lam", value))


def screened(problem: Callable[[Question], OtherProblem | None]) -> Callable[[Question], OtherProblem | None]:
    """Return a function that tests the result of `problem` cheaply, and returns it, or None.

    It returns None if, in this other problem, a multiple of the refuted metric is clearly better than the metric. Then
    the misreading cannot explain the metric, and no solve is needed.
    """

    def screen(question: Question) -> OtherProblem | None:
        other = problem(question)
        if other is None:
            return None
        there = instance(other.X, other.y, **other.params)
        margins = partial(losses, there.X, usable_rows(there.N))
        return other if stays_at_scale(question.metric, there.lam, len(there.X), margins) else None

    return screen


def with_rows(rows: Rows) -> Callable[[Question], OtherProblem | None]:
    """Return the misreading that is problem (2) with the rows of the function `rows`.

    It gives None if there are no rows, or if they have more than `MOST_PAIRS` pairs. It also gives None if a multiple
    of the metric is clearly better, because then the misreading cannot explain the metric.
    """

    def problem(question: Question) -> OtherProblem | None:
        given = question.checked(instance)
        found = rows(given, question)
        if not found or sum(len(row.targets) + len(row.impostors) for row in found) > MOST_PAIRS:
            return None
        return _stated(given, found)

    return screened(problem)


def _stated(given: Instance, rows: list[Row]) -> OtherProblem:
    """Return the inputs that turn MLSVM into problem (2) with these rows, by explicit neighbour lists.

    If a point has several rows, or is its own target, copies of the point are appended (module docstring).
    """
    n = len(given.X)
    copies: list[int] = []
    lists: dict[int, list[int]] = {}
    for point, targets, impostors in rows:
        at = point
        if at in lists:  # a second row of the same point
            at = n + len(copies)
            copies.append(point)
        lists[at] = [int(j) for j in (*targets, *impostors) if j != point]
        if point in targets:
            lists[at].append(n + len(copies))
            copies.append(point)
    X = np.concatenate([given.X, given.X[copies]])
    y = np.concatenate([given.y, given.y[copies]])
    neighbors = [lists.get(i, []) for i in range(len(X))]
    return OtherProblem(X, y, {"lam": given.lam * n / len(X), "neighbors": neighbors})


def _by_distance(X: FloatArray, i: int, listed: IntArray) -> IntArray:
    """Return the points in `listed`, sorted by their Euclidean distance to point i, the nearest first."""
    return listed[np.argsort(squared_euclidean(X[i : i + 1], X[listed])[0], kind="stable")]


def _last_target(given: Instance, _: Question) -> list[Row]:
    T = [_by_distance(given.X, i, listed)[-1:] for i, listed in enumerate(given.N.targets)]
    return usable_rows(given.N, targets=T)


def _first_impostor(given: Instance, _: Question) -> list[Row]:
    I = [_by_distance(given.X, i, listed)[:1] for i, listed in enumerate(given.N.impostors)]
    return usable_rows(given.N, impostors=I)


def _fixed_pairs(given: Instance, question: Question) -> list[Row]:
    last, first = _last_target(given, question), _first_impostor(given, question)
    return [Row(a.point, a.targets, b.impostors) for a, b in zip(last, first, strict=True)]


def _all_impostors(given: Instance, _: Question) -> list[Row]:
    return usable_rows(given.N, impostors=[np.flatnonzero(given.y != c) for c in given.y])


def _argmin(given: Instance, question: Question) -> list[Row]:
    """Return rows with one target for each point: the nearest in the refuted metric, as in Algorithm 1 as printed."""
    rows = []
    for i, targets, impostors in usable_rows(given.N):
        difference = given.X[i] - given.X[targets]
        nearest = int(np.sum((difference @ question.metric) * difference, axis=1).argmin())
        rows.append(Row(i, [targets[nearest]], impostors))
    return rows


def _each_pair(given: Instance, _: Question) -> list[Row]:
    return [Row(i, [l], [j]) for i, T, I in usable_rows(given.N) for l in T for j in I]


def _self_as_target(given: Instance, _: Question) -> list[Row]:
    """Return rows in which each point is one of its own targets, at distance 0.

    This changes the problem only for points without targets, which have no row in MLSVM.
    """
    T, I = given.N.targets, given.N.impostors
    return [Row(i, [*T[i], i], I[i]) for i in range(len(T)) if len(I[i])]


def _self_in_a_slot(given: Instance, question: Question) -> list[Row] | None:
    """Return rows with K neighbours of each point: the point itself, at distance 0, and its K - 1 nearest neighbours.

    None unless the neighbourhood is "knn" and K is at least 2.
    """
    K = given.n_neighbors
    if given.neighborhood != "knn" or K is None or K < 2:
        return None
    fewer = instance(question.X, question.y, **{**question.params, "n_neighbors": K - 1})
    return _self_as_target(fewer, question)


def _last_index(given: Instance, _: Question) -> list[Row] | None:
    """Return rows in which ties go to the point with the last index, where MLSVM takes the first index.

    A tie: several points at the same distance compete for the last place among the neighbours. None if no points tie.
    """
    K = given.n_neighbors
    if given.N.ties == 0 or given.neighborhood != "knn" or K is None:
        return None
    n = len(given.X)
    everyone = np.arange(n, dtype=np.intp)
    scale = unit_scale(given.X)
    nearest = (n - 1 - k_nearest(given.X[::-1] / scale, everyone, everyone, K)[0])[::-1]
    return usable_rows(split(list(nearest), given.y))


def _with_distances(of: Callable[[Instance, Question], FloatArray]) -> Rows:
    """Return the function `Rows` of a misreading in which `of` replaces the squared distances.

    of(given, question) is an array (n, n). The neighbours of a point are those with the K smallest entries in its row.
    The function returns None if the neighbourhood is not "knn", or if there are more than `MOST_POINTS` points.
    """

    def rows(given: Instance, question: Question) -> list[Row] | None:
        if given.neighborhood != "knn" or len(given.X) > MOST_POINTS:
            return None
        D = of(given, question)
        np.fill_diagonal(D, np.inf)
        listed = np.argsort(D, axis=1, kind="stable")[:, : given.n_neighbors]
        return usable_rows(split(list(listed), given.y))

    return rows


def _squared_distances(given: Instance, _: Question) -> FloatArray:
    return squared_euclidean(given.X, given.X)


def _second(given: Instance, question: Question) -> FloatArray:
    """Return the squared distances (n, n), with inf from each point to itself and to its nearest other point."""
    D = _squared_distances(given, question)
    np.fill_diagonal(D, np.inf)
    D[np.arange(len(D)), D.argmin(axis=1)] = np.inf
    return D


def _furthest(given: Instance, question: Question) -> FloatArray:
    return -_squared_distances(given, question)


def _one_less(given: Instance, question: Question) -> list[Row] | None:
    """Return rows from the explicit neighbour lists with 1 subtracted from each index; None without such lists.

    Index 0 becomes n - 1. A target that becomes the point itself is at distance 0.
    """
    listed = question.params.get("neighbors")
    if listed is None:
        return None
    read = [(np.asarray(own, dtype=np.intp) - 1) % len(given.X) for own in listed]
    return usable_rows(split(read, given.y))


def without_two_classes(question: Question, given: Any, stored: dict[str, Any]) -> Iterator[OtherProblem]:
    """Yield, for each pair of classes, the problem without impostors between these two classes.

    Yields no problem if the data have at most two classes, or more than 8 (`MOST_CLASSES` in core/other_lists.py).
    given: the checked data. stored: all parameters.
    """
    names = class_names(question.y)
    for a, b in two_classes(given.y):
        lists = [
            [int(j) for j in own if {given.y[i], given.y[j]} != {a, b}] for i, own in enumerate(given.N.lists)
        ]
        params = {**stored, "neighbors": lists}
        yield OtherProblem(question.X, question.y, params, told=f": {names[a]} and {names[b]}")


def size(by: int) -> Callable[[Question], int | None]:
    """Return a function that maps a question to K + `by`, a wrong number of neighbours.

    It gives None for explicit lists, or if K + `by` is not between 1 and n - 1.
    """

    def value(question: Question) -> int | None:
        K = question.params.get("n_neighbors", 4) + by
        fits = 0 < K < len(np.asarray(question.X))
        return K if fits and question.params.get("neighbors") is None else None

    return value


def _other_neighborhood(question: Question) -> str | None:
    given = question.checked(instance)
    if given.n_neighbors is None:
        return None
    other = "per-class" if given.neighborhood == "knn" else "knn"
    try:
        instance(question.X, question.y, **{**question.params, "neighborhood": other})
    except ValueError:  # a class is too small for it
        return None
    return other


def other_problem(question: Question, kind: str) -> float:
    """Return a proved upper bound of the metric's relative gap in one of the four other problems.

    kind: "no_cone", "squared", "once" (off-diagonals) or "mean" (of targets). inf if the misreading cannot explain the
    metric.
    """
    given = question.checked(instance)
    s = unit_scale(given.X)
    X, N, lam, A = given.X / s, given.N, scaled_lam(given.lam, s), question.metric * s**2
    rows = usable_rows(given.N)
    if not rows or np.abs(A - A.T).max() > 1e-9 * np.linalg.norm(A):
        return math.inf
    A = (A + A.T) / 2
    # A psd metric that is optimal without the cone is optimal with it, so it would not be asked about.
    if (kind != "no_cone") != examine(A)[1].feasible:
        return math.inf
    power = 2 if kind == "squared" else 1
    margins = partial(mean_losses if kind == "mean" else losses, X, rows)
    normed = np.triu(A) if kind == "once" else A  # the entries that the norm counts
    if not stays_at_scale(normed, lam, len(X), lambda _: margins(A), power):
        return math.inf

    def objective_of(A: FloatArray) -> float:
        own = np.triu(A) if kind == "once" else A
        return lam / 2 * float(np.sum(own**2)) + float(
            (np.maximum(0.0, 1 + margins(A)) ** power).sum()
        ) / len(X)

    optimum = None if question.optimum is None else question.optimum * s**2
    scale = lam / 2 * float(np.sum(normed**2))
    if is_improved(objective_of, question._replace(optimum=optimum), A, scale):
        return math.inf
    question.check_back_end(sum(len(row.targets) + len(row.impostors) for row in rows), len(A))
    from cvxml.methods.mlsvm.misreadings_problem import duals

    u, w = duals(X, N, lam, kind)
    objective = objective_of(A)
    bound = _bound(X, N, lam, kind, u, w, A)
    rounding = 1e-13 * (abs(objective) + abs(bound))
    return (objective - bound + rounding) / scale if scale > 0 else math.inf


def _bound(
    X: FloatArray, N: Neighborhood, lam: float, kind: str, u: FloatArray, w: FloatArray, A: FloatArray
) -> float:
    """Return the lower bound of the misreading `kind` in the module docstring, at u and w made feasible.

    u and w have a number for each pair, in the order of the lists in N. A (d, d): the metric, used only for "once"
    (off-diagonals). At the optimum of this misreading G + S = lam (A + diag A)/2, so S is computed from A and G.
    """
    n, d = X.shape
    G, total, at_u, at_w = np.zeros((d, d)), 0.0, 0, 0
    for i in N.usable:
        I, T = N.impostors[i], N.targets[i]
        u_i, w_i = np.maximum(u[at_u : at_u + len(I)], 0), np.maximum(w[at_w : at_w + len(T)], 0)
        at_u, at_w = at_u + len(I), at_w + len(T)
        if kind == "mean":
            w_i = np.full(len(T), w_i.mean())
        s = min(float(u_i.sum()), float(w_i.sum()))
        if s <= 0:
            continue
        s = s if kind == "squared" else min(s, 1 / n)
        away, own = X[i] - X[I], X[i] - X[T]
        G += away.T @ (away * (s * u_i / u_i.sum())[:, None]) - own.T @ (own * (s * w_i / w_i.sum())[:, None])
        total += s - n / 4 * s**2 if kind == "squared" else s
    if kind == "once":
        from cvxml.methods.mlsvm.misreadings_problem import off_diagonal_weights

        reached = G + project_psd(lam * (A + np.diag(np.diag(A))) / 2 - G)
        return total - float(np.sum((off_diagonal_weights(d) * reached) ** 2)) / (2 * lam)
    values = np.linalg.eigvalsh(G)
    paid = values if kind == "no_cone" else np.maximum(values, 0)
    return total - float(np.sum(paid**2)) / (2 * lam)


MISREADINGS: dict[str, Misreading] = {
    "lam": Misreading("lam ||A||^2 where the paper has lam/2 ||A||^2", lam_times(lambda given: 2.0)),
    "sum": Misreading(
        "sum_i xi_i where the paper has 1/n sum_i xi_i", lam_times(lambda given: 1 / len(given.X))
    ),
    "lam_sum": Misreading(
        "lam ||A||^2 + sum_i xi_i where the paper has lam/2 ||A||^2 + 1/n sum_i xi_i",
        lam_times(lambda given: 2 / len(given.X)),
    ),
    "usable": Misreading(
        "the mean of xi over the usable points where the paper divides by n",
        lam_times(lambda given: len(given.N.usable) / len(given.X)),
    ),
    "lam_on_losses": Misreading(
        "1/2 ||A||^2 + lam/n sum_i xi_i where the paper has lam/2 ||A||^2 + 1/n sum_i xi_i",
        lam_times(lambda given: 1 / given.lam**2),
    ),
    "squared_hinge": Misreading(
        "1/n sum_i xi_i^2 where the paper has 1/n sum_i xi_i", left=partial(other_problem, kind="squared")
    ),
    "no_cone": Misreading(
        "the problem without A psd: P_+ is missing, at the end and in every step",
        left=partial(other_problem, kind="no_cone"),
    ),
    "mean_target": Misreading(
        "the mean over a point's targets where the constraint has the furthest",
        left=partial(other_problem, kind="mean"),
    ),
    "off_diagonals": Misreading(
        "entries off the diagonal counted once in the norm, where A_ij and A_ji both count",
        left=partial(other_problem, kind="once"),
    ),
    "argmin": Misreading(
        "the nearest target where the constraint has the furthest: x+ = argmin, as printed in Algorithm 1",
        with_rows(_argmin),
    ),
    "last_target": Misreading(
        "the target that is furthest by Euclidean distance where the paper takes the furthest by A",
        with_rows(_last_target),
    ),
    "first_impostor": Misreading(
        "the impostor that is nearest by Euclidean distance where the paper takes the nearest by A",
        with_rows(_first_impostor),
    ),
    "fixed_pairs": Misreading(
        "the furthest target and the nearest impostor chosen once, by Euclidean distance, where the paper chooses by A",
        with_rows(_fixed_pairs),
    ),
    "each_pair": Misreading(
        "a slack for each pair of a target and an impostor where the paper has one for each point",
        with_rows(_each_pair),
    ),
    "all_impostors": Misreading(
        "all points of other classes as impostors where the paper takes those among the neighbours",
        with_rows(_all_impostors),
    ),
    "self": Misreading(
        "the point itself as one of its K neighbours, a target at distance 0", with_rows(_self_in_a_slot)
    ),
    "empty": Misreading(
        "distance 0 to the targets of a point without targets, where the method has no constraint",
        with_rows(_self_as_target),
    ),
    "fewer": Misreading(
        "K - 1 neighbours: the point itself took a place in its list",
        screened(changed("n_neighbors", size(-1))),
    ),
    "more": Misreading("K + 1 neighbours", screened(changed("n_neighbors", size(1)))),
    "second_neighbors": Misreading(
        "neighbours 2 to K + 1: the nearest point was taken for the point itself",
        with_rows(_with_distances(_second)),
    ),
    "furthest_neighbors": Misreading(
        "the furthest points as neighbours, where the method takes the nearest",
        with_rows(_with_distances(_furthest)),
    ),
    "from_one": Misreading(
        "indices of the neighbours counted from 1 instead of 0: each index less 1",
        with_rows(_one_less),
    ),
    "class_pair": Misreading("one pair of classes left out of the impostors", several=without_two_classes),
    "last_index": Misreading(
        "the last index of tied neighbours, where the method takes the first", with_rows(_last_index)
    ),
    "neighborhood": Misreading(
        'the other kind of neighbourhood ("knn" for "per-class", or the reverse)',
        screened(changed("neighborhood", _other_neighborhood)),
    ),
}
