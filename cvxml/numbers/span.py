"""Exact ranks of differences of points, and groups of points whose differences lie in a given span.

A float is a rational number, so the rank of differences of points is a fact about the data. Singular values cannot
decide it: 2^-60 is not 0. The rank is found in three steps:
1. The rank modulo a prime. It is fast, and it is never above the true rank. If it equals the number of rows or of
   columns, it is the rank.
2. Otherwise some columns are combinations of the others modulo the prime. Their coefficients are computed as
   fractions, and the equation is checked in integers. This proves that the rank is not larger.
3. If the coefficients are too large for step 2, FLINT computes the rank over the integers. FLINT ends the process if
   memory runs out, so the memory is estimated first.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from cvxml.core.clock import look
from cvxml.core.exact import flint
from cvxml.core.memory import check_exact, check_room
from cvxml.core.metric import FloatArray, IntArray

PRIME = 2**61 - 1
# A fraction is found from its residue if numerator and denominator are at most this: 2 LARGEST^2 <= PRIME + 1.
LARGEST = 2**30
FACTOR = 10  # measured: for a rank, FLINT needs this many times the bytes of the coefficients
ROWS_PER_COLUMN = 4  # if there are more rows per column than this, a sample of the rows is tried first
CHANCE = f"the rank modulo {PRIME} differs from the rank over the rationals (probability about 1e-18)"


class Cosets(NamedTuple):
    """Groups of points, made by the span of some differences of points. rank: the dimension of the span.

    labels (n,): the number of the group of each point. Points i and j are in one group if and only if x_i - x_j is in
    the span.
    """

    labels: IntArray  # (n,)
    rank: int  # dimension of the span


def rank(X: FloatArray) -> int:
    """The dimension of the span of the differences of the rows of X (n, d), exactly."""
    points = _as_integers(X)
    return rank_of(points[1:] - points[0])


def cosets(X: FloatArray, pairs: IntArray) -> Cosets:
    """Group the points X (n, d) by the span of the differences x_i - x_j over `pairs` (p, 2), exactly.

    Two points are in one group if and only if their difference is in this span.

    Raises ArithmeticError if the rank modulo the prime is too small (probability about 1e-18), and TooLarge if the
    memory is too small.
    """
    points, graph = _as_integers(X), _graph(len(X), pairs)
    # Points connected by a path of pairs differ by a vector of the span, so one of them represents them all.
    from scipy.sparse.csgraph import connected_components  # takes a tenth of a second to load

    count, component = connected_components(graph, directed=False)
    edges = _edges(points, graph)
    dimension = rank_of(edges)
    heads = points[np.unique(component, return_index=True)[1]]
    among = heads - heads[0]
    if count == 1 or rank_of(np.concatenate([edges, among])) == dimension:
        return Cosets(np.zeros(len(X), dtype=np.intp), dimension)
    first = _first_alike(edges, dimension, among)
    # Rows that differ modulo the prime do differ. Rows that agree modulo the prime are compared over the integers.
    if rank_of(np.concatenate([edges, among - among[first]])) != dimension:
        raise ArithmeticError(CHANCE)
    return Cosets(first[component], dimension)


def rank_along(X: FloatArray, pairs: IntArray) -> int:
    """The dimension of the span of x_i - x_j over `pairs` (p, 2) of rows x of X (n, d), exactly."""
    return rank_of(_edges(_as_integers(X), _graph(len(X), pairs)))


def _graph(n: int, pairs: IntArray) -> Any:
    ends = pairs.astype(np.int32)  # before 1.17.1, scipy's spanning tree accepts only 32-bit indices
    return csr_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(n, n))


def _edges(points: np.ndarray, graph: Any) -> np.ndarray:
    """Differences (e, d) of the points at the ends of each edge of a spanning forest of the graph.

    They span the same space as the differences along all edges.
    """
    from scipy.sparse.csgraph import minimum_spanning_tree  # takes a tenth of a second to load

    tree = minimum_spanning_tree(graph).tocoo()
    edges: np.ndarray = points[tree.row] - points[tree.col]
    return edges


def _first_alike(edges: np.ndarray, dimension: int, among: np.ndarray) -> IntArray:
    """For each row x of `among`, the smallest index k such that x - among[k] is in the span of `edges`.

    Everything is computed modulo the prime. dimension: the rank of `edges`. Raises ArithmeticError if the rank modulo
    the prime is smaller.
    """
    rest = _matrix(among)
    if dimension:
        reduced, found = _matrix(edges).rref()
        if found != dimension:
            raise ArithmeticError(CHANCE)
        rows = reduced.tolist()[:dimension]
        pivots = [next(k for k, entry in enumerate(row) if entry != 0) for row in rows]
        held = [[row[k] for k in pivots] for row in rest.tolist()]
        nmod_mat, d = flint().nmod_mat, rest.ncols()
        basis = nmod_mat(dimension, d, [int(entry) for row in rows for entry in row], PRIME)
        rest -= nmod_mat(len(held), dimension, [int(entry) for row in held for entry in row], PRIME) * basis
    keys = [tuple(int(entry) for entry in row) for row in rest.tolist()]
    first = {key: k for k, key in reversed(list(enumerate(keys)))}
    return np.array([first[key] for key in keys], dtype=np.intp)


def _as_integers(X: FloatArray) -> np.ndarray:
    """The points X (n, d) as integers of any size. Each feature is multiplied by a power of two, which keeps the ranks.

    Raises TooLarge if the integers would not fit into memory.
    """
    check_exact(len(X), X.shape[1], matrices=False)
    mantissas, exponents = np.frexp(X)
    whole = np.ldexp(mantissas, 53).astype(np.int64)
    least = np.where(whole == 0, 2**20, exponents).min(axis=0)
    shift = np.where(whole == 0, 0, exponents - least)
    check_exact(len(X), X.shape[1], matrices=False, more_bits=int(shift.max(initial=0)))
    points: np.ndarray = whole.astype(object) << shift.astype(object)
    return points


def _matrix(rows: np.ndarray) -> Any:
    """The integers `rows` (p, d) as flint's matrix modulo the prime."""
    return flint().nmod_mat(flint().fmpz_mat(rows.tolist()), PRIME)


def rank_of(rows: np.ndarray) -> int:
    """The rank of `rows` (p, d), integers of any size, exactly. Raises TooLarge if memory would run out."""
    rows = rows[(rows != 0).any(axis=1)]
    rows = rows[:, (rows != 0).any(axis=0)]
    if rows.size == 0:
        return 0
    look()
    n, d = (int(size) for size in rows.shape)
    # if a sample of the rows has rank d, all rows have rank d
    if n > ROWS_PER_COLUMN * d and rank_of(rows[:: n // (ROWS_PER_COLUMN * d // 2)]) == d:
        return d
    # FLINT is hundreds of times faster with at least as many rows as columns.
    rows = rows if n >= d else rows.T
    whole = flint().fmpz_mat(rows.tolist())
    modulo = flint().nmod_mat(whole, PRIME)
    found = int(modulo.rank())
    if found == min(n, d) or _is_at_most(rows, modulo, found):
        return found
    _check_room_for_rank(rows, found)
    return int(whole.rank())


def _is_at_most(rows: np.ndarray, modulo: Any, rank: int) -> bool:
    """True if every column of the integer matrix `rows` is proved to be a combination of `rank` of its columns.

    modulo: the rows modulo the prime. Its reduced row echelon form holds the coefficients modulo the prime.

    Only coefficients with numerators and denominators up to `LARGEST` = 2^30 are found; otherwise the result is False.
    """
    reduced, found = modulo.rref()
    if found != rank:
        return False
    d = rows.shape[1]
    pivots, column = [], 0
    for k in range(rank):
        column = next(j for j in range(column, d) if reduced[k, j] != 0)
        pivots.append(column)
    others = sorted(set(range(d)) - set(pivots))
    fractions = []
    for j in others:
        fraction = _as_fractions([int(reduced[k, j]) for k in range(rank)])
        if fraction is None:
            return False
        fractions.append(fraction)
    coefficients: np.ndarray = np.array([own for own, _ in fractions], dtype=object).T
    denominators: np.ndarray = np.array([below for _, below in fractions], dtype=object)
    fmpz_mat = flint().fmpz_mat
    combined = fmpz_mat(rows[:, pivots].tolist()) * fmpz_mat(coefficients.tolist())
    return bool(combined == fmpz_mat((rows[:, others] * denominators).tolist()))


def _as_fractions(residues: list[int]) -> tuple[list[int], int] | None:
    """Numerators and a common denominator of the fractions with these residues modulo the prime.

    None if they are not found with a common denominator of at most `LARGEST` = 2^30.
    """
    denominator = 1
    for residue in residues:
        value = residue * denominator % PRIME
        if LARGEST < value < PRIME - LARGEST:
            denominator *= _denominator(value)
            if denominator > LARGEST:
                return None
    values = [residue * denominator % PRIME for residue in residues]
    return [value if value <= LARGEST else value - PRIME for value in values], denominator


def _denominator(residue: int) -> int:
    """The denominator of the fraction with this residue modulo the prime and a numerator of at most `LARGEST`.

    Found by the extended Euclidean algorithm, stopped at the first remainder of at most `LARGEST`.
    """
    (above, below), (before, now) = (PRIME, residue), (0, 1)
    while below > LARGEST:
        quotient = above // below
        above, below = below, above - quotient * below
        before, now = now, before - quotient * now
    return abs(now)


def _check_room_for_rank(rows: np.ndarray, rank: int) -> None:
    """Raise TooLarge if computing the exact rank of `rows` (p, d) would need too much memory.

    rank: the rank modulo the prime. Each of the d - rank dependent columns is a combination of `rank` others. The
    memory is estimated from the size of the coefficients, which are quotients of determinants.
    """
    p, d = (int(size) for size in rows.shape)
    bits = rank * (int(np.abs(rows).max()).bit_length() + rank.bit_length() // 2)
    needed = FACTOR * rank * (d - rank) * bits // 8
    check_room(
        needed,
        f"the exact rank of {p} differences in {d} features, where {d - rank} seem to depend on the others,",
        "leave these features out",
    )
