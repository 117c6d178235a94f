"""The parts of the twin that read files: documents, numbers, matrices of fractions, and parts of several problems.

All functions raise ValueError for wrong input. A matrix is a list of rows of fractions.
"""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import combinations
from typing import Any

Matrix = list[list[Fraction]]


def require(holds: Any, why: str) -> None:
    """Raise ValueError with the message `why` unless `holds` is true."""
    if not holds:
        raise ValueError(why)


def read(text: bytes) -> Any:
    """Return the content of a JSON text. Raises ValueError for other texts, and if a field is named twice."""

    def once(items: list[tuple[str, Any]]) -> dict[str, Any]:
        require(len({key for key, _ in items}) == len(items), "a field twice")
        return dict(items)

    def constant(name: str) -> None:
        raise ValueError(name)

    try:
        return json.loads(text.decode("latin-1"), object_pairs_hook=once, parse_constant=constant)
    except RecursionError as error:
        raise ValueError("too deeply nested") from error


def number(value: Any) -> Fraction:
    """Return a finite double as a fraction."""
    require(isinstance(value, (int, float)) and not isinstance(value, bool), "no number")
    found = float(value)
    require(abs(found) < float("inf"), "not finite")
    return Fraction(found)


def positive(value: Any) -> Fraction:
    """Return a double > 0 as a fraction."""
    found = number(value)
    require(found > 0, "not positive")
    return found


def index(value: Any, n: int) -> int:
    """Return `value`, which must be an integer from 0 to n - 1."""
    require(isinstance(value, int) and not isinstance(value, bool) and 0 <= value < n, "no index")
    return int(value)


def array(rows: Any, width: int | None = None) -> Matrix:
    """Return a list of rows of doubles as a matrix. All rows must have the same width, `width` if it is given."""
    require(isinstance(rows, list), "no list")
    found = [[number(value) for value in row] for row in rows]
    require(all(len(row) == (width or len(found[0])) for row in found), "ragged")
    return found


def form(A: Matrix, e: list[Fraction]) -> Fraction:
    """Return e^T A e."""
    return sum(
        (x * a * y for x, row in zip(e, A, strict=True) for a, y in zip(row, e, strict=True)), Fraction(0)
    )


def added(A: Matrix, c: Fraction, e: list[Fraction]) -> None:
    """Add c e e^T to A, in place."""
    for i, x in enumerate(e):
        if x:
            for j, y in enumerate(e):
                A[i][j] += c * x * y


def is_psd(A: Matrix) -> bool:
    """Return True if the symmetric matrix A is psd, by elimination with the largest pivot first."""
    A, left = [row[:] for row in A], set(range(len(A)))
    while left:
        k = max(left, key=lambda i: A[i][i])
        if A[k][k] <= 0:
            return all(A[i][j] == 0 for i in left for j in left)
        left.remove(k)
        for i in left:
            for j in left:
                A[i][j] -= A[i][k] * A[k][j] / A[k][k]
    return True


def symmetric(A: Matrix) -> bool:
    """Return True if the square matrix A is symmetric."""
    return all(A[i][j] == A[j][i] for i in range(len(A)) for j in range(i))


def norm(A: Matrix) -> Fraction:
    """Return ||A||^2."""
    return sum((a * a for row in A for a in row), Fraction(0))


class Problem:
    """A problem in two files: the points X, the metric A that is judged, the parameters, and the side file."""

    def __init__(self, file: Any, side: Any):
        require(file["format"] == "cvxml-solution" and side["format"] == "cvxml-side", "formats")
        require(file["version"] == 1 and side["version"] == 1, "versions")
        require(file["method"] == side["method"], "methods")
        self.file, self.params, self.side = file, file["params"], side
        self.X = array(file["X"])
        self.n, self.d = len(self.X), len(self.X[0])
        self.A = array(file["metric"], self.d)
        require(len(self.A) == self.d, "metric")
        by_root = not {"weights", "B"} & set(side)
        if by_root and side["root"] is not None:
            vectors = array(side["root"], self.d) if side["root"] else []
            self.A = [[Fraction(0)] * self.d for _ in range(self.d)]
            for v in vectors:
                added(self.A, Fraction(1), v)
        if by_root:
            require(symmetric(self.A) and is_psd(self.A), "no metric")
        self.over = self.whole(side["over"])
        require(self.over > 0, "over")
        self.known: dict[tuple[int, int], Fraction] = {}

    @staticmethod
    def whole(text: Any) -> int:
        """Return the whole number that a hexadecimal text states."""
        require(isinstance(text, str) and text.removeprefix("-").startswith("0x"), "no hexadecimal number")
        require(set(text.removeprefix("-")[2:]) <= set("0123456789abcdef"), "no hexadecimal number")
        return int(text, 16)

    def price(self, text: Any) -> Fraction:
        """Return a dual variable >= 0 from its text: a whole number over `over`."""
        found = Fraction(self.whole(text), self.over)
        require(found >= 0, "a negative price")
        return found

    def classes(self) -> list[int]:
        """Return the labels (n,) of the points."""
        require(len(self.file["y"]) == self.n, "classes")
        return [index(value, 10**18) for value in self.file["y"]]

    def lists(self, rows: Any) -> list[list[int]]:
        """Return n lists of indices, one for each point; a list must not contain its point, or an index twice."""
        require(isinstance(rows, list) and len(rows) == self.n, "lists")
        found = [[index(j, self.n) for j in row] for row in rows]
        require(all(i not in row and len(set(row)) == len(row) for i, row in enumerate(found)), "lists")
        return found

    def triplets(self, rows: Any) -> list[tuple[int, int, int]]:
        """Return triplets (i, j, l) of indices, sorted. No triplet may occur twice, and i must differ from j and l."""
        require(isinstance(rows, list), "triplets")
        found = sorted((index(i, self.n), index(j, self.n), index(l, self.n)) for i, j, l in rows)
        require(len(set(found)) == len(found), "a triplet twice")
        require(all(i not in (j, l) for i, j, l in found), "a point and itself")
        return found

    def edge(self, i: int, j: int) -> list[Fraction]:
        """Return the difference x_i - x_j."""
        return [a - b for a, b in zip(self.X[i], self.X[j], strict=True)]

    def D(self, i: int, j: int) -> Fraction:
        """Return the squared distance of points i and j in the metric A."""
        if (i, j) not in self.known:
            self.known[i, j] = form(self.A, self.edge(i, j))
        return self.known[i, j]

    def below(self, h: Fraction, weights: dict[tuple[int, int], Fraction], factor: Any = None) -> Fraction:
        """Return a lower bound of h ||A||^2 + sum_ij w_ij D_ij over all psd A.

        weights: w_ij by pair. factor: the vectors that prove it, by default those of the side file.
        """
        Z = [[Fraction(0)] * self.d for _ in range(self.d)]
        for (i, j), w in weights.items():
            added(Z, w, self.edge(i, j))
        return self.beneath(h, Z, factor)

    def beneath(self, h: Fraction, Z: Matrix, factor: Any = None) -> Fraction:
        """Return a lower bound of h ||A||^2 + <A, Z> over all psd A.

        factor: as in `below`. Z is changed.
        """
        factor = self.side["factor"] if factor is None else factor
        for v in array(factor["vectors"], self.d) if factor["vectors"] else []:
            added(Z, Fraction(-1), v)
        require(factor["rest"] in ("psd", "norm"), "rest")
        if factor["rest"] == "norm":
            require(h > 0, "no norm")
            return -norm(Z) / (4 * h)
        require(h >= 0 and is_psd(Z), "not psd")
        return Fraction(0)


def stated(p: Problem) -> int | None:
    """Return the parameter n_neighbors; None if lists or triplets were given instead."""
    k = p.params.get("n_neighbors")
    return None if k is None else index(k, 10**18)


def as_many(k: int | None, rows: list[list[int]]) -> None:
    """Raise ValueError if a list has another length than k; k = None allows all lengths."""
    require(k is None or all(len(row) == k for row in rows), "not n_neighbors of them")


def listed(p: Problem) -> list[tuple[int, int, int]]:
    """Return the triplets of the file.

    If n_neighbors is given, each point must have that many targets and impostors, and a triplet for every pair of
    these.
    """
    triplets, k = p.triplets(p.params["triplets"]), stated(p)
    if k is not None:
        y = p.classes()
        require(len(triplets) == p.n * k * k, "not n_neighbors of them")
        for i in range(p.n):
            own = [(j, l) for a, j, l in triplets if a == i]
            targets, impostors = ({pair[side] for pair in own} for side in (0, 1))
            require(len(targets) == len(impostors) == k and len(own) == k * k, "not n_neighbors of them")
            require(all(y[j] == y[i] for j in targets) and all(y[l] != y[i] for l in impostors), "classes")
    return triplets


def both_kinds(p: Problem) -> list[list[tuple[int, int]]]:
    """Return the list of similar pairs and the list of dissimilar pairs, in the order of the file."""
    given = p.params["pairs"]
    if given is None:
        y = p.classes()
        both = list(combinations(range(p.n), 2))
        return [[(i, j) for i, j in both if (y[i] == y[j]) == same] for same in (True, False)]
    require(set(given) == {"similar", "dissimilar"}, "pairs")
    kinds = [[(index(i, p.n), index(j, p.n)) for i, j in given[kind]] for kind in ("similar", "dissimilar")]
    for kind in kinds:
        require(len({frozenset(pair) for pair in kind}) == len(kind), "a pair twice")
        require(all(i != j for i, j in kind), "a point and itself")
    require(not set.intersection(*({frozenset(pair) for pair in kind} for kind in kinds)), "of both kinds")
    return kinds


def eliminated(A: Matrix) -> tuple[Matrix, Fraction]:
    """Return the inverse and the determinant of A, which must be positive definite."""
    d = len(A)
    rows, det = [[*row, *(Fraction(i == j) for j in range(d))] for i, row in enumerate(A)], Fraction(1)
    for k in range(d):
        pivot = rows[k][k]
        require(pivot > 0, "not positive definite")
        det *= pivot
        rows[k] = [value / pivot for value in rows[k]]
        for i in range(d):
            if i != k:
                factor = rows[i][k]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k], strict=True)]
    return [row[d:] for row in rows], det


def prior_of(p: Problem) -> Matrix:
    """Return the prior of the problem; the identity if no prior is given."""
    identity = [[Fraction(int(i == j)) for j in range(p.d)] for i in range(p.d)]
    prior = array(p.params["prior"], p.d) if "prior" in p.params else identity
    require(len(prior) == p.d and symmetric(prior), "prior")
    return prior
