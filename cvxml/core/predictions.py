"""Predictions that are certain despite the gap: nearest neighbours and votes that the exact optimum shares.

Let the optimum A* be within `radius` of the metric M in Frobenius norm. Take two points with differences u and v from a
query. Under M, their squared distances differ by u^T M u - v^T M v. Under A*, this number changes by at most radius
||u u^T - v v^T||. A `Region` gives further bounds, for all metrics that are no worse than M, including the optimum.

If either bound decides which of the two points is nearer, the optimum agrees. The decided pairs show which points may
be among the k nearest neighbours under A*, which must be, and how many votes each class can have. If the vote stays
undecided, a metric of the region with another vote shows that the gap leaves it open.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.inputs import check_count, real_array
from cvxml.core.metric import EPS, FloatArray, IntArray, examine
from cvxml.core.short_repr import shown

UNDERFLOW = 1e-290  # larger than the effect of underflow on sums of numbers of at most about 1
BEYOND = 16  # number of points after the k nearest for which the bounds are computed too
PAIRS = 100  # most pairs of one query that get a separate proof
STATES = ("certain", "disputed", "not proved")
TRIES = 2  # pairs of a query for which a metric with the opposite order is tried


class Around(Protocol):
    """A simple set that contains all metrics of a `Region`. Bounds are computed over this set."""

    def nearer(self, E: FloatArray, rows: IntArray) -> np.ndarray:
        """Return a boolean array (r, m), True at (a, b) if point `rows[a]` is nearer to the query than point b.

        True is proved for all metrics of the set.

        E: (m, d), differences of m points from a query.
        rows: (r,), indices of rows of E.
        """


class Region(Protocol):
    """All metrics that are no worse than a given one: their objective is at most that of the given metric."""

    @property
    def box(self) -> Around | None:
        """A set that contains the region; None if no such set is known."""

    @property
    def unknown(self) -> str:
        """The reason why `box` is None, as a sentence without its full stop; "" if there is a `box`."""

    @property
    def affordable(self) -> int:
        """The number of times that `closer` may be called, because each proof takes long."""

    def closer(self, query: int, a: int, b: int) -> bool:
        """Return True if point a is proved nearer to point `query` than point b is, under all metrics of the region."""

    def others(self, E: FloatArray) -> Iterator[FloatArray]:
        """Yield metrics of the region under which the second of two points may be nearer to a query than the first.

        E: (2, d), differences of the two points from the query.
        """


@dataclass(frozen=True, eq=False, repr=False)
class Disagreement:
    """A metric that is no worse than the judged one and gives another vote.

    query: the index of the query. vote: the class code that wins under `metric`.
    """

    query: int
    vote: int
    metric: FloatArray  # (d, d)

    __repr__ = shown


@dataclass(frozen=True, eq=False, repr=False)
class Predictions:
    """Neighbours and votes of q queries, and which of them the exact optimum shares.

    By default the queries are the n points themselves, each without itself as a neighbour.

    radius: the Frobenius distance within which the optimum lies.
    neighbors: (q, k), the k = `n_neighbors` nearest points under the metric, nearest first.
    same_neighbors: (q,), True if the optimum has the same k nearest points, in any order.

    votes: (q,), the class code with most votes under the metric; the smallest code if several have most votes.
    same_vote: (q,), True if this class alone has most votes under the optimum.

    disagree: other metrics that are no worse than the judged one, each with another vote for a query.
    labels: (q,), the class names of the votes.
    left: why the remaining votes are not proved. judged: the verdict on the metric, in words.
    """

    n_neighbors: int
    radius: float  # Frobenius distance within which the optimum lies
    neighbors: IntArray  # (q, k) the k nearest points under the metric, nearest first
    same_neighbors: np.ndarray  # (q,) True if the optimum has the same k nearest points, in any order
    votes: IntArray  # (q,) the class with most votes under the metric, the first of several
    same_vote: np.ndarray  # (q,) True if this class alone has most votes under the optimum
    disagree: tuple[Disagreement, ...] = ()  # votes on which two metrics in the gap disagree
    labels: tuple[str, ...] = ()  # (q,) the class names of the votes
    left: str = ""  # why the remaining votes are not proved
    judged: str = ""  # the verdict on the metric, in words

    def __repr__(self) -> str:
        return f"{shown(self)}\n{self}"

    @property
    def state(self) -> tuple[str, ...]:
        """(q,) the state of each vote: "certain", "disputed" (two metrics within the gap disagree) or "not proved"."""
        disputed = {each.query for each in self.disagree}
        return tuple(
            "certain" if same else "disputed" if i in disputed else "not proved"
            for i, same in enumerate(self.same_vote.tolist())
        )

    def __str__(self) -> str:
        q, state = len(self.votes), self.state
        sure, disputed, rest = map(state.count, STATES)
        of = "1 neighbour" if self.n_neighbors == 1 else f"{self.n_neighbors} neighbours"
        if sure == q == 1:
            said = f"the vote of {of} is that of the exact optimum"
        elif sure == q:
            said = f"all {q} votes of {of} are those of the exact optimum"
        else:
            said = f"{sure} of {q} votes of {of} are those of the exact optimum"
            if disputed:
                said += f"; {disputed} are disputed, because two metrics within the gap disagree"
            if rest:
                said += f"; {rest} are not proved" + (f": {self.left}" if self.left else "")
        lists = int(self.same_neighbors.sum())
        said += f" ({lists} of {q} lists of neighbours are also certain)"
        return f"{self.judged}, and {said}" if self.judged else said

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON: the fields, the state of each vote, counts of the states, and a sentence.

        `state` replaces `same_vote`, and the sentence contains `judged`. An infinite `radius` becomes None.
        """
        return {
            "n_neighbors": self.n_neighbors,
            "radius": self.radius if math.isfinite(self.radius) else None,
            "neighbors": self.neighbors.tolist(),
            "same_neighbors": self.same_neighbors.tolist(),
            "votes": self.votes.tolist(),
            "labels": list(self.labels),
            "state": list(self.state),
            "counts": {name: self.state.count(name) for name in STATES},
            "disagree": [
                {"query": each.query, "vote": each.vote, "metric": each.metric.tolist()}
                for each in self.disagree
            ],
            "left": self.left,
            "sentence": str(self),
        }

    def to_json(self) -> str:
        """Return the data of `to_dict` as JSON text."""
        return json.dumps(self.to_dict(), indent=1, sort_keys=True, allow_nan=False)


def checked(X: FloatArray, k: int, queries: ArrayLike | None) -> tuple[int, FloatArray]:
    """Return the number k of neighbours and the queries (q, d), by default the points X (n, d) themselves.

    queries: (q, d), (d,) for one query, or None.

    Raises ValueError if k is not from 1 to the number of points that can be neighbours, and for bad queries.
    """
    k = check_count(k, "n_neighbors", at_most=len(X) - (queries is None))
    Q = X if queries is None else np.atleast_2d(real_array(queries, "queries"))
    if Q.ndim != 2 or Q.shape[1] != X.shape[1] or not np.isfinite(Q).all():
        raise ValueError(f"queries must be finite, of shape (q, {X.shape[1]}), got {Q.shape}")
    return k, Q


def predictions(
    X: FloatArray,
    codes: IntArray,
    M: FloatArray,
    radius: float,
    k: int,
    queries: ArrayLike | None = None,
    region: Region | None = None,
    names: tuple[str, ...] = (),
    judged: str = "",
) -> Predictions:
    """Return the neighbours and votes of each query, and which of them the exact optimum shares.

    X: (n, d).
    codes: (n,), class codes.
    M: (d, d), psd up to `FEASIBILITY_TOL` (core/metric.py).
    radius: a bound of the Frobenius distance of the optimum to M; inf if none is known.
    k: the number of neighbours that vote.
    queries: (q, d) or (d,); default: the points themselves.
    region: all metrics that are no worse than M, if known.
    names: the class names.
    judged: the verdict on M, in words.

    Raises ValueError for bad input.
    """
    own = queries is None
    k, Q = checked(X, k, queries)
    # The psd cone is convex, so the projection of M is at most as far from the optimum as M.
    M = examine(M)[0]
    found = _Search(X, codes, M, radius, k, region).all_queries(Q, own)
    neighbors, same, votes, sure = zip(*found.each, strict=True) if found.each else ((), (), (), ())
    return Predictions(
        n_neighbors=k,
        radius=radius,
        neighbors=np.array(neighbors, dtype=np.intp).reshape(len(Q), k),
        same_neighbors=np.array(same, dtype=bool),
        votes=np.array(votes, dtype=np.intp),
        same_vote=np.array(sure, dtype=bool),
        disagree=tuple(found.disagree),
        labels=tuple(names[vote] for vote in votes) if names else (),
        left=found.left,
        judged=judged,
    )


class _Search:
    """The computation for all queries, with a limit on the number of proofs by `Region.closer`.

    Arguments that several functions share, for one query and the m points that may be its neighbours:

    order: (m,), the indices 0 to m - 1 of these points, nearest first.
    of: (m,), the class code of each point, by index.
    nearer: (r, m), for the r = min(k + `BEYOND`, m) nearest points. True at (a, b) if point `order[a]` is certainly
        nearer to the query than the point with index b.
    """

    def __init__(
        self, X: FloatArray, codes: IntArray, M: FloatArray, radius: float, k: int, region: Region | None
    ):
        self.X, self.codes, self.M, self.radius, self.k, self.region = X, codes, M, radius, k, region
        self.box = None if region is None else region.box
        self.proofs, self.cut = 0, 0
        self.each: list[tuple[IntArray, bool, int, bool]] = []
        self.disagree: list[Disagreement] = []

    @property
    def left(self) -> str:
        """The reason why some votes may not be proved."""
        if self.region is not None and not self.region.affordable:
            return self.region.unknown
        if self.cut and not self.proofs:
            return f"the bounds leave more than {PAIRS} pairs of points of a query undecided"
        if self.cut:
            return f"{self.proofs} pairs of points had separate proofs, which is the limit"
        if self.box is None and not math.isfinite(self.radius):
            return (
                "no bound over the metrics within the gap is known"
                if self.region is None
                else self.region.unknown
            )
        return "the bounds do not decide all pairs of points"

    def all_queries(self, Q: FloatArray, own: bool) -> _Search:
        """Compute the result of each of the queries Q (q, d), and return the search.

        own: True if the queries are the points; then a query is not its own neighbour.
        """
        for i, query in enumerate(Q):
            others = np.delete(np.arange(len(self.X)), i) if own else np.arange(len(self.X))
            self.each.append(self._one_query(i, query, others, own))
        return self

    def _one_query(
        self, i: int, query: FloatArray, others: IntArray, own: bool
    ) -> tuple[IntArray, bool, int, bool]:
        E, of = query - self.X[others], self.codes[others]
        order = np.argsort(np.sum((E @ self.M) * E, axis=1), kind="stable")
        rows = order[: self.k + BEYOND]
        nearer = certainly_nearer(E, self.M, self.radius, rows)
        if self.box is not None:
            nearer |= self.box.nearer(E, rows)
        found = votes_of(nearer, order, of, self.k)
        if not found.sure and self.region is not None:
            if own and self._prove_pairs(i, others, nearer, order, of):
                found = votes_of(nearer, order, of, self.k)
            if not found.sure:
                self._find_disagreement(i, E, of, order, nearer, found.vote)
        return others[order[: self.k]], found.same, found.vote, found.sure

    def _prove_pairs(
        self, i: int, others: IntArray, nearer: np.ndarray, order: IntArray, of: IntArray
    ) -> bool:
        """Try to prove that neighbours of query i are nearer than other points, and note each proof in `nearer`.

        The proofs hold for all metrics of the region. Neighbours are the k nearest points. A pair of a neighbour and
        another point is tried if it is undecided, and if the two have different classes. If there are more than `PAIRS`
        such pairs, none is tried. Returns True if a pair was proved.

        others: (m,), the indices of the m points among all points.
        """
        assert self.region is not None
        open_pairs = [
            (row, b)
            for row, a in enumerate(order[: self.k])
            for b in order[self.k :]
            if not nearer[row, b] and of[a] != of[b]
        ]
        if len(open_pairs) > PAIRS:
            self.cut += 1
            return False
        found = False
        for row, b in open_pairs:
            if self.proofs >= self.region.affordable:
                self.cut += 1
                break
            self.proofs += 1
            nearer[row, b] = self.region.closer(i, int(others[order[row]]), int(others[b]))
            found |= bool(nearer[row, b])
        return found

    def _find_disagreement(
        self, i: int, E: FloatArray, of: IntArray, order: IntArray, nearer: np.ndarray, vote: int
    ) -> None:
        """Search the region for a metric with another vote for query i, and note it in `disagree`.

        A metric counts if no tie and no rounding can change its vote. There is no search if one of them could change
        the vote of the judged metric M. At most `TRIES` undecided pairs of a neighbour and another point are tried.

        E: (m, d), differences of the points from the query. vote: the vote under M.
        """
        assert self.region is not None

        def voted(A: FloatArray) -> Votes:
            order = np.argsort(np.sum((E @ A) * E, axis=1), kind="stable")
            return votes_of(certainly_nearer(E, A, 0.0, order[: self.k + BEYOND]), order, of, self.k)

        if not voted(self.M).sure:
            return
        D = np.sum((E @ self.M) * E, axis=1)
        pairs = sorted(
            (float(D[b] - D[a]), int(a), int(b))
            for row, a in enumerate(order[: self.k])
            for b in order[self.k : self.k + BEYOND]
            if not nearer[row, b] and of[a] != of[b]
        )
        for _, a, b in pairs[:TRIES]:
            for A in self.region.others(E[[a, b]]):
                other = voted(A)
                if other.sure and other.vote != vote:
                    self.disagree.append(Disagreement(i, other.vote, A))
                    return


class Votes(NamedTuple):
    """Whether the optimum has the same k nearest points as the metric, and the same vote, for one query.

    same: True if the k nearest points are certainly the same.
    vote: the class code with most votes under the metric.
    sure: True if `vote` certainly has most votes under the optimum.
    """

    same: bool
    vote: int
    sure: bool


def votes_of(nearer: np.ndarray, order: IntArray, of: IntArray, k: int) -> Votes:
    """Return the vote of one query, and whether its vote and its k nearest points are certainly those of the optimum.

    nearer: (r, m), True at (a, b) if point `order[a]` is certainly nearer to the query than the point with index b.
    order: (m,), the indices 0 to m - 1 of the points that may be its neighbours, nearest first.
    of: (m,), the class code of each point, by index.
    k: the number of neighbours that vote.
    """
    classes = np.unique(of)
    may = nearer.sum(axis=0) < k  # at most k - 1 points are certainly nearer
    must = np.zeros(len(of), dtype=bool)
    must[order[: len(nearer)]] = len(of) - 1 - nearer.sum(axis=1) < k  # at most k - 1 points can be nearer
    here = of == classes[:, None]
    able = (here & may).sum(axis=1)
    # at least: its members that must be neighbours, and the places that all other classes together cannot fill
    least = np.maximum((here & must).sum(axis=1), k - (able.sum() - able))
    most = np.minimum(able, k - (least.sum() - least))
    own_votes = np.array([np.sum(of[order[:k]] == c) for c in classes])
    vote = int(own_votes.argmax())
    sure = bool(least[vote] > np.delete(most, vote).max(initial=-1))
    return Votes(bool(must.sum() == k), int(classes[vote]), sure)


def certainly_nearer(E: FloatArray, M: FloatArray, radius: float, rows: IntArray | None = None) -> np.ndarray:
    """Return a boolean array (r, m), True at (a, b) if point `rows[a]` is nearer to a query than point b.

    True is proved for every metric within `radius` of M.

    E: (m, d), differences of m points from the query, possibly rounded.
    radius: a Frobenius distance; with inf, every entry is False.
    rows: (r,), indices of rows of E; default: all.

    The computation uses units in which the largest number is about 1, so sums do not overflow, and the bound includes
    underflow.
    """
    a = np.arange(len(E)) if rows is None else rows
    largest, size = float(np.abs(E).max(initial=0.0)), float(np.abs(M).max())
    if not (math.isfinite(radius) and 0 < largest < math.inf and 0 < size < math.inf):
        return np.zeros((len(a), len(E)), dtype=bool)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        E = np.ldexp(E, -math.frexp(largest)[1])
        unit = math.frexp(size)[1]
        M, radius = np.ldexp(M, -unit), float(np.ldexp(radius, -unit))
        d = len(M)
        D, lengths, inner = np.sum((E @ M) * E, axis=1), np.sum(E**2, axis=1), E[a] @ E.T
        # ||u u^T - v v^T||^2 = |u|^4 + |v|^4 - 2 (u v)^2; the first two terms bound its rounding error
        fourth = lengths[a, None] ** 2 + lengths**2
        apart = np.sqrt(np.maximum(fourth - 2 * inner**2, 0.0) + 8 * (d + 4) * EPS * fourth)
        error = 4 * (d + 4) * EPS * np.sum((np.abs(E) @ np.abs(M)) * np.abs(E), axis=1) + UNDERFLOW
        bound = radius * (1 + 8 * EPS) * (apart + math.sqrt(UNDERFLOW)) + error[a, None] + error
        nearer: np.ndarray = D - D[a, None] > bound
    return nearer
