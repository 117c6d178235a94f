"""What differences of points span, decided in rationals: ranks, and which points differ within a span.

A float is a rational number, so the rank of differences of points is a fact about the data, and no singular value
decides it: 2^-60 is not 0. A rank modulo a prime is found fast and is never too large; where it is not as large as it
could be for the shape, the columns that seem to depend on others are computed from these, and the equation is checked
in integers: this proves that the rank is no larger. Only where the coefficients are large, FLINT finds the rank over
the integers. It ends the process where the memory is too small, so the memory is estimated first.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

from cvxml.core.clock import look
from cvxml.core.exact import flint
from cvxml.core.memory import check_exact, check_room
from cvxml.core.metric import FloatArray, IntArray

PRIME = 2**61 - 1
# Numerators and denominators up to this are found from a residue: 2 LARGEST^2 is at most PRIME + 1.
LARGEST = 2**30
FACTOR = 10  # FLINT takes this many times the bytes of the coefficients for a rank, as measured
ROWS_PER_COLUMN = 4  # if there are more rows than this many times the columns, a sample is tried first
CHANCE = f"a rank modulo {PRIME} is not the rank over the rationals, which happens once in 1e18 times"


class Cosets(NamedTuple):
    """Points by what the differences of some pairs span: x_i - x_j lies in it if and only if their labels are equal."""

    labels: IntArray  # (n,)
    rank: int  # of the span


def rank(X: FloatArray) -> int:
    """The dimension of what the differences of the rows of X (n, d) span, exactly."""
    points = _whole(X)
    return rank_of(points[1:] - points[0])


def cosets(X: FloatArray, pairs: IntArray) -> Cosets:
    """The points X (n, d) by the span of x_i - x_j over `pairs` (p, 2), exactly."""
    points, graph = _whole(X), _graph(len(X), pairs)
    # Along a path of pairs every difference is in the span, so one point stands for all that are connected.
    count, component = connected_components(graph, directed=False)
    edges = _edges(points, graph)
    dimension = rank_of(edges)
    heads = points[np.unique(component, return_index=True)[1]]
    among = heads - heads[0]
    if count == 1 or rank_of(np.concatenate([edges, among])) == dimension:
        return Cosets(np.zeros(len(X), dtype=np.intp), dimension)
    first = _first_alike(edges, dimension, among)
    # Rows that differ modulo the prime do differ. Those that agree there are looked at again over the integers.
    if rank_of(np.concatenate([edges, among - among[first]])) != dimension:
        raise ArithmeticError(CHANCE)
    return Cosets(first[component], dimension)


def rank_along(X: FloatArray, pairs: IntArray) -> int:
    """The dimension of the span of x_i - x_j over `pairs` (p, 2) of the rows of X (n, d), exactly."""
    return rank_of(_edges(_whole(X), _graph(len(X), pairs)))


def _graph(n: int, pairs: IntArray) -> Any:
    ends = pairs.astype(np.int32)  # scipy before 1.17.1 takes no wider indices for a spanning tree
    return csr_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(n, n))


def _edges(points: np.ndarray, graph: Any) -> np.ndarray:
    """Differences of rows of integers along edges that connect the same points as all of the graph."""
    tree = minimum_spanning_tree(graph).tocoo()
    edges: np.ndarray = points[tree.row] - points[tree.col]
    return edges


def _first_alike(edges: np.ndarray, dimension: int, among: np.ndarray) -> IntArray:
    """For each row of `among` the first that is the same to it but for rows of `edges`, modulo the prime."""
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


def _whole(X: FloatArray) -> np.ndarray:
    """The rows of X (n, d) as integers of any size, each feature times a power of two of its own."""
    check_exact(len(X), X.shape[1], matrices=False)
    mantissas, exponents = np.frexp(X)
    whole = np.ldexp(mantissas, 53).astype(np.int64)
    least = np.where(whole == 0, 2**20, exponents).min(axis=0)
    shift = np.where(whole == 0, 0, exponents - least)
    check_exact(len(X), X.shape[1], matrices=False, more_bits=int(shift.max(initial=0)))
    points: np.ndarray = whole.astype(object) << shift.astype(object)
    return points


def _matrix(rows: np.ndarray) -> Any:
    """Integers modulo the prime."""
    return flint().nmod_mat(flint().fmpz_mat(rows.tolist()), PRIME)


def rank_of(rows: np.ndarray) -> int:
    """The rank of rows (p, d) of integers of any size, exactly."""
    rows = rows[(rows != 0).any(axis=1)]
    rows = rows[:, (rows != 0).any(axis=0)]
    if rows.size == 0:
        return 0
    look()
    n, d = (int(size) for size in rows.shape)
    # where some of the rows have the full rank, all have it
    if n > ROWS_PER_COLUMN * d and rank_of(rows[:: n // (ROWS_PER_COLUMN * d // 2)]) == d:
        return d
    # FLINT is hundreds of times as fast where there are at least as many rows as columns.
    rows = rows if n >= d else rows.T
    whole = flint().fmpz_mat(rows.tolist())
    modulo = flint().nmod_mat(whole, PRIME)
    found = int(modulo.rank())
    if found == min(n, d) or _is_at_most(rows, modulo, found):
        return found
    _check_room_for_rank(rows, found)
    return int(whole.rank())


def _is_at_most(rows: np.ndarray, modulo: Any, rank: int) -> bool:
    """True if every column of `rows` is proved a combination of `rank` of them, which have small coefficients.

    modulo: the rows modulo the prime. The reduced rows hold the coefficients, modulo the prime too.
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
    """Numerators and one denominator, up to `LARGEST`, with these residues; None if there are none."""
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
    """The denominator of the fraction with this residue whose numerator is at most `LARGEST`, by Euclid."""
    (above, below), (before, now) = (PRIME, residue), (0, 1)
    while below > LARGEST:
        quotient = above // below
        above, below = below, above - quotient * below
        before, now = now, before - quotient * now
    return abs(now)


def _check_room_for_rank(rows: np.ndarray, rank: int) -> None:
    """Raise TooLarge if the exact rank of integers (p, d) does not fit into the memory. rank: that modulo the prime.

    Each column that depends on the others has as many coefficients. Their numerators are determinants, of so many bits.
    """
    p, d = (int(size) for size in rows.shape)
    bits = rank * (int(np.abs(rows).max()).bit_length() + rank.bit_length() // 2)
    needed = FACTOR * rank * (d - rank) * bits // 8
    check_room(
        needed,
        f"the exact rank of {p} differences in {d} features, where {d - rank} seem to depend on the others,",
        "leave these features out",
    )
