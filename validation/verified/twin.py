"""What the checker proves, computed again in fractions: for its tests. No line is shared with it or with cvxml.

`interval(file, side)` takes both documents as `read` reads them, and raises ValueError where nothing is proved. It
checks as the page docs/verified.md says, from the definitions, and slowly.
"""

from __future__ import annotations

import json
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations
from math import isqrt
from typing import Any

Matrix = list[list[Fraction]]


def require(holds: Any, why: str) -> None:
    """Refuse unless it holds."""
    if not holds:
        raise ValueError(why)


def read(text: bytes) -> Any:
    """A JSON document; what is no JSON, or names a field twice, raises ValueError."""

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
    """A double."""
    require(isinstance(value, (int, float)) and not isinstance(value, bool), "no number")
    found = float(value)
    require(abs(found) < float("inf"), "not finite")
    return Fraction(found)


def positive(value: Any) -> Fraction:
    """A double > 0."""
    found = number(value)
    require(found > 0, "not positive")
    return found


def index(value: Any, n: int) -> int:
    """0 to n - 1."""
    require(isinstance(value, int) and not isinstance(value, bool) and 0 <= value < n, "no index")
    return int(value)


def array(rows: Any, width: int | None = None) -> Matrix:
    """Rows of doubles of one width."""
    require(isinstance(rows, list), "no list")
    found = [[number(value) for value in row] for row in rows]
    require(all(len(row) == (width or len(found[0])) for row in found), "ragged")
    return found


def form(A: Matrix, e: list[Fraction]) -> Fraction:
    """e^T A e"""
    return sum(
        (x * a * y for x, row in zip(e, A, strict=True) for a, y in zip(row, e, strict=True)), Fraction(0)
    )


def added(A: Matrix, c: Fraction, e: list[Fraction]) -> None:
    """A + c e e^T, in place."""
    for i, x in enumerate(e):
        if x:
            for j, y in enumerate(e):
                A[i][j] += c * x * y


def is_psd(A: Matrix) -> bool:
    """By elimination, with the largest pivot first."""
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
    """Of a square matrix."""
    return all(A[i][j] == A[j][i] for i in range(len(A)) for j in range(i))


def norm(A: Matrix) -> Fraction:
    """||A||^2"""
    return sum((a * a for row in A for a in row), Fraction(0))


class Problem:
    """The points, the metric that is judged, and what a side file says of the rest."""

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
        """A number in hexadecimal."""
        require(isinstance(text, str) and text.removeprefix("-").startswith("0x"), "no hexadecimal number")
        require(set(text.removeprefix("-")[2:]) <= set("0123456789abcdef"), "no hexadecimal number")
        return int(text, 16)

    def price(self, text: Any) -> Fraction:
        """At least 0."""
        found = Fraction(self.whole(text), self.over)
        require(found >= 0, "a negative price")
        return found

    def classes(self) -> list[int]:
        """One a point."""
        require(len(self.file["y"]) == self.n, "classes")
        return [index(value, 10**18) for value in self.file["y"]]

    def lists(self, rows: Any) -> list[list[int]]:
        """Of each point some others, none twice."""
        require(isinstance(rows, list) and len(rows) == self.n, "lists")
        found = [[index(j, self.n) for j in row] for row in rows]
        require(all(i not in row and len(set(row)) == len(row) for i, row in enumerate(found)), "lists")
        return found

    def triplets(self, rows: Any) -> list[tuple[int, int, int]]:
        """i, j, l, in order."""
        require(isinstance(rows, list), "triplets")
        found = sorted((index(i, self.n), index(j, self.n), index(l, self.n)) for i, j, l in rows)
        require(len(set(found)) == len(found), "a triplet twice")
        require(all(i not in (j, l) for i, j, l in found), "a point and itself")
        return found

    def edge(self, i: int, j: int) -> list[Fraction]:
        """x_i - x_j"""
        return [a - b for a, b in zip(self.X[i], self.X[j], strict=True)]

    def D(self, i: int, j: int) -> Fraction:
        """The distance in the metric."""
        if (i, j) not in self.known:
            self.known[i, j] = form(self.A, self.edge(i, j))
        return self.known[i, j]

    def below(self, h: Fraction, weights: dict[tuple[int, int], Fraction], factor: Any = None) -> Fraction:
        """What h ||A||^2 + sum w D is at least, for every psd A."""
        Z = [[Fraction(0)] * self.d for _ in range(self.d)]
        for (i, j), w in weights.items():
            added(Z, w, self.edge(i, j))
        return self.beneath(h, Z, factor)

    def beneath(self, h: Fraction, Z: Matrix, factor: Any = None) -> Fraction:
        """What h ||A||^2 + <A, Z> is at least, for every psd A."""
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
    """n_neighbors; None where lists or triplets were given."""
    k = p.params.get("n_neighbors")
    return None if k is None else index(k, 10**18)


def as_many(k: int | None, rows: list[list[int]]) -> None:
    """Refuse lists that n_neighbors contradicts."""
    require(k is None or all(len(row) == k for row in rows), "not n_neighbors of them")


def listed(p: Problem) -> list[tuple[int, int, int]]:
    """The triplets. Beside n_neighbors, each point has that many targets and impostors, and every triplet of these."""
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


def mlsvm(p: Problem) -> tuple[Fraction, Fraction]:
    """lam/2 ||A||^2 + 1/n sum [1 + max_T D - min_I D]_+"""
    y, lists, lam = p.classes(), p.lists(p.file["neighbors"]), positive(p.params["lam"])
    if stated(p) is not None:
        kind = p.params.get("neighborhood", "knn")
        require(kind in ("knn", "per-class"), "neighborhood")
        if kind == "per-class":
            for same in (True, False):
                as_many(
                    stated(p), [[j for j in row if (y[j] == y[i]) == same] for i, row in enumerate(lists)]
                )
        else:
            as_many(stated(p), lists)
    value, bound, weights = lam / 2 * norm(p.A), Fraction(0), dict[tuple[int, int], Fraction]()
    for i, row in enumerate(lists):
        near, far = ([j for j in row if (y[j] == y[i]) == same] for same in (True, False))
        if near and far:
            worst = max(p.D(i, j) for j in near) - min(p.D(i, j) for j in far)
            value += max(Fraction(0), 1 + worst) / p.n
    last = -1
    for i, u, w in p.side["prices"]:
        require(last < index(i, p.n), "order")
        last = i
        sums = []
        for sign, part in ((-1, u), (1, w)):
            sums.append(sum((p.price(a) for _, a in part), Fraction(0)))
            for j, a in part:
                require(index(j, p.n) in lists[i] and (y[j] == y[i]) == (sign == 1), "no neighbour")
                weights[i, j] = weights.get((i, j), Fraction(0)) + sign * p.price(a)
        require(sums[0] == sums[1] and sums[0] * p.n <= 1, "sums")
        bound += sums[0]
    return bound + p.below(lam / 2, weights), value


def over_triplets(
    p: Problem, h: Fraction, c: Fraction, targets: list[tuple[int, int]], triplets: Any, loss: Any, bound: Any
) -> tuple[Fraction, Fraction]:
    """h ||A||^2 + c sum_targets D + sum loss(D_il - D_ij)"""
    value = h * norm(p.A) + c * sum((p.D(i, j) for i, j in targets), Fraction(0))
    value += sum((loss(p.D(i, l) - p.D(i, j)) for i, j, l in triplets), Fraction(0))
    weights: dict[tuple[int, int], Fraction] = {}

    def more(pair: tuple[int, int], w: Fraction) -> None:
        weights[pair] = weights.get(pair, Fraction(0)) + w

    for i, j in targets:
        more((i, j), c)
    place, last, low = {t: k for k, t in enumerate(triplets)}, -1, Fraction(0)
    for i, j, l, a in p.side["prices"]:
        require((i, j, l) in place and place[i, j, l] > last, "no triplet, or out of order")
        last, price = place[i, j, l], p.price(a)
        low += bound(price)
        more((i, l), -price)
        more((i, j), price)
    return low + p.below(h, weights), value


def hinge(c: Fraction) -> tuple[Any, Any]:
    """c [1 - v]_+ and its bound."""

    def bound(a: Fraction) -> Fraction:
        require(a <= c, "too large a price")
        return a

    require(c >= 0, "weight")
    return lambda v: c * max(Fraction(0), 1 - v), bound


def lmnn(p: Problem) -> tuple[Fraction, Fraction]:
    """(1 - mu) sum D + mu sum hinge, or its square"""
    mu, listed = number(p.params["mu"]), p.params.get("targets")
    require(Fraction(1e-12) <= mu <= Fraction(1 - 1e-12), "mu")
    if listed is not None:
        require(p.params.get("triplets") is None, "both")
        y, lists = p.classes(), p.lists(listed)
        require(all(y[j] == y[i] for i, row in enumerate(lists) for j in row), "a target of another class")
        as_many(stated(p), lists)
        targets = [(i, j) for i, row in enumerate(lists) for j in row]
        triplets = [(i, j, l) for i, j in targets for l in range(p.n) if y[l] != y[i]]
    else:
        require(stated(p) is None, "both")
        triplets = p.triplets(p.params["triplets"])
        targets = sorted({(i, j) for i, j, _ in triplets})
    loss, bound = hinge(mu)
    if p.file["method"] == "lmnn:squared_hinge":
        loss, bound = lambda v: mu * max(Fraction(0), 1 - v) ** 2, lambda a: a - a * a / (4 * mu)
    return over_triplets(p, Fraction(0), 1 - mu, targets, triplets, loss, bound)


def frobmetric(p: Problem) -> tuple[Fraction, Fraction]:
    """1/2 ||A||^2 + C/m sum hinge"""
    triplets = listed(p)
    require(triplets, "no triplet")
    return over_triplets(
        p, Fraction(1, 2), Fraction(0), [], triplets, *hinge(positive(p.params["C"]) / len(triplets))
    )


def rtml(p: Problem) -> tuple[Fraction, Fraction]:
    """lam/2 ||A||^2 + sum smoothed hinge"""
    lam, g = positive(p.params["lam"]), number(p.params["width"])
    require(g == 0 or Fraction(1e-9) <= g <= 1, "width")
    triplets = listed(p)
    loss, bound = hinge(Fraction(1))
    if g:
        straight, capped = loss, bound

        def smooth(v: Fraction) -> Fraction:
            missed: Fraction = straight(v)
            return missed - g / 2 if missed >= g else missed**2 / (2 * g)

        return over_triplets(
            p, lam / 2, Fraction(0), [], triplets, smooth, lambda a: capped(a) - g / 2 * a * a
        )
    return over_triplets(p, lam / 2, Fraction(0), [], triplets, loss, bound)


def both_kinds(p: Problem) -> list[list[tuple[int, int]]]:
    """The similar and the dissimilar pairs, in the order of the file."""
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


def budget(p: Problem) -> tuple[list[tuple[int, int]], list[tuple[int, int]], Fraction, Fraction, Any]:
    """The similar and the dissimilar pairs, mu, what the metric spends, and the priced pairs with their prices."""
    similar, dissimilar = map(sorted, both_kinds(p))
    require(dissimilar, "no dissimilar pair")
    spent = sum((p.D(i, j) for i, j in similar), Fraction(0))
    over = p.whole(p.side["most"][1])
    require(over > 0, "most")
    most = Fraction(p.whole(p.side["most"][0]), over)
    require(most >= 0, "most")
    priced = [(i, j) for i, j, _ in p.side["prices"]]
    require(priced == sorted(set(priced)) and set(priced) <= set(dissimilar), "pairs")
    return similar, dissimilar, most, spent, {(i, j): p.price(a) for i, j, a in p.side["prices"]}


def pulls(similar: list[tuple[int, int]], most: Fraction, prices: Any) -> dict[tuple[int, int], Fraction]:
    """The weights mu of the similar pairs, less the prices."""
    weights = dict.fromkeys(similar, most)
    for pair, a in prices.items():
        weights[pair] = weights.get(pair, Fraction(0)) - a
    return weights


def dml_eig(p: Problem) -> tuple[Fraction, Fraction]:
    """- min_D D, for sum_S D <= 1"""
    similar, dissimilar, most, spent, prices = budget(p)
    value = -min(p.D(i, j) for i, j in dissimilar) / max(Fraction(1), spent)
    require(sum(prices.values()) == 1, "no simplex")
    return -most + p.below(Fraction(0), pulls(similar, most, prices)), value


def mmc(p: Problem) -> tuple[Fraction, Fraction]:
    """- sum_D sqrt D, for sum_S D <= 1. Roots, and 1 / (4 a) for a price a, are rounded to multiples of 1 / U."""
    similar, dissimilar, most, spent, prices = budget(p)
    U, value, bound = 1 << 192, Fraction(0), -most
    for pair in dissimilar:
        found = p.D(*pair) / max(Fraction(1), spent)
        value -= Fraction(isqrt(int(found * U * U)), U)
        if prices.get(pair):
            bound -= Fraction(int(U / (4 * prices[pair])) + 1, U)
        else:
            require(not any(p.edge(*pair)), "different points without a price")
    return bound + p.below(Fraction(0), pulls(similar, most, prices)), value


def combination(p: Problem, B: Matrix, h: Fraction, beta: Fraction, c: Fraction) -> tuple[Fraction, Fraction]:
    """h ||A||^2 + beta sum w + sum hinge, for A = sum w b b^T, w >= 0"""
    require(B and all(len(b) == p.d for b in B), "vectors")
    w = [number(value) for value in p.side["weights"]]
    require(len(w) == len(B) and min(w) >= 0, "weights")
    p.A = [[Fraction(0)] * p.d for _ in range(p.d)]
    N = [[Fraction(0)] * p.d for _ in range(p.d)]
    for share, b in zip(w, B, strict=True):
        added(p.A, share, b)
    if h:
        over = p.whole(p.side["paid_over"])
        require(over > 0, "over")
        # what is missing counts as 0, and what is too much not at all
        z = [Fraction(p.whole(value), over) for value in p.side["paid"]]
        for share, b in zip(z, B, strict=False):
            added(N, share, b)
    triplets = listed(p)
    require(triplets or p.file["method"] != "scml", "no triplet")
    loss, bound = hinge(c / len(triplets) if p.file["method"] == "scml" else c)
    value = h * norm(p.A) + beta * sum(w) + sum(loss(p.D(i, l) - p.D(i, j)) for i, j, l in triplets)
    place, last, low = {t: k for k, t in enumerate(triplets)}, -1, Fraction(0)
    G = [[Fraction(0)] * p.d for _ in range(p.d)]
    for i, j, l, a in p.side["prices"]:
        require((i, j, l) in place and place[i, j, l] > last, "no triplet, or out of order")
        last, price = place[i, j, l], p.price(a)
        low += bound(price)
        added(G, price, p.edge(i, l))
        added(G, -price, p.edge(i, j))
    require(all(form(G, b) <= beta + form(N, b) for b in B), "a gain too large")
    return low - norm(N) / 2, value


def schultz_joachims(p: Problem) -> tuple[Fraction, Fraction]:
    """1/2 ||A||^2 + C sum hinge, for the columns of A"""
    if p.params["A"] is None:
        B = [[Fraction(int(i == j)) for j in range(p.d)] for i in range(p.d)]
    else:
        rows = array(p.params["A"])
        require(len(rows) == p.d, "A")
        B = [list(column) for column in zip(*rows, strict=True)]
    return combination(p, B, Fraction(1, 2), Fraction(0), positive(p.params["C"]))


def scml(p: Problem) -> tuple[Fraction, Fraction]:
    """beta sum w + 1/m sum hinge"""
    return combination(p, array(p.params["basis"], p.d), Fraction(0), positive(p.params["beta"]), Fraction(1))


def ssvm(p: Problem) -> tuple[Fraction, Fraction]:
    """||A||^2 + C sum_i [max_h (Delta - cost) + cost of h*_i], with h*_i the cheapest set that the class of i wins."""
    y, Lam, C = p.classes(), array(p.params["loss_matrix"]), positive(p.params["C"])
    k, R = index(p.params["n_neighbors"], p.n), len(Lam)
    require(k > 0 and set(y) == set(range(R)) and all(len(row) == R for row in Lam), "classes")
    require(all((Lam[a][b] > 0) == (a != b) and Lam[a][b] >= 0 for a in range(R) for b in range(R)), "losses")

    def Delta(i: int, h: tuple[int, ...]) -> Fraction:
        counts = [sum(y[j] == c for j in h) for c in range(R)]
        return max(Lam[y[i]][c] for c in range(R) if counts[c] == max(counts))

    def a_set(i: int, h: Any) -> tuple[int, ...]:
        found = tuple(index(j, p.n) for j in h)
        require(len(found) == k and i not in found and sorted(set(found)) == list(found), "no set")
        return found

    if "cases" in p.side:
        return by_cases(p, y, C, k, Delta, a_set)
    latent = [a_set(i, h) for i, h in enumerate(p.lists(p.side["latent"]))]
    value, bound, weights = norm(p.A), Fraction(0), dict[tuple[int, int], Fraction]()
    for i in range(p.n):
        sets = list(combinations([j for j in range(p.n) if j != i], k))
        cost = {h: sum((p.D(i, j) for j in h), Fraction(0)) for h in sets}
        loss = {h: Delta(i, h) for h in sets}
        require(loss[latent[i]] == 0, "no win")
        require(cost[latent[i]] == min(cost[h] for h in sets if loss[h] == 0), "not the cheapest")
        value += C * (max(loss[h] - cost[h] for h in sets) + cost[latent[i]])
    last = -1
    for i, listed_sets in p.side["prices"]:
        require(last < index(i, p.n), "order")
        last, spent = i, Fraction(0)
        for members, price in listed_sets:
            h, a = a_set(i, members), p.price(price)
            spent += a
            bound += a * Delta(i, h)
            for sign, part in ((-1, h), (1, latent[i])):
                for j in part:
                    weights[i, j] = weights.get((i, j), Fraction(0)) + sign * a
        require(spent <= C, "sums")
    return bound + p.below(Fraction(1), weights), value


def by_cases(
    p: Problem, y: list[int], C: Fraction, k: int, Delta: Any, a_set: Any
) -> tuple[Fraction, Fraction]:
    """F = ||A||^2 + C sum_i [max_h (Delta - cost) - max over the sets without loss of -cost], and the least bound."""
    require(set(p.side) == HEAD - {"prices"} | {"root", "cases"}, "fields of the side file")
    nodes, value = list(p.side["cases"]), norm(p.A)
    without_loss = {}
    for i in range(p.n):
        sets = list(combinations([j for j in range(p.n) if j != i], k))
        cost = {h: sum((p.D(i, j) for j in h), Fraction(0)) for h in sets}
        without_loss[i] = [frozenset(h) for h in sets if Delta(i, h) == 0]
        require(without_loss[i], "no set without loss")
        value += C * max(Delta(i, h) - cost[h] for h in sets)
        value += C * min(cost[h] for h in sets if Delta(i, h) == 0)
    bounds = [value]

    def leaf(node: Any, left: dict[int, list[frozenset[int]]] | None) -> None:
        """None: no metric is there, and only the form of the leaf counts."""
        require(set(node) == {"prices", "exchanges", "factor"}, "fields of a leaf")
        require(set(node["factor"]) == {"vectors", "rest"}, "fields of the factor")
        weights: dict[tuple[int, int], Fraction] = {}

        def more(i: int, points: Any, w: Fraction) -> None:
            for j in points:
                weights[i, j] = weights.get((i, j), Fraction(0)) + w

        bound, last = Fraction(0), -1
        for i, listed_sets in node["prices"]:
            index(i, p.n)
            require(left is None or last < i, "order")
            last, spent = i, Fraction(0)
            for members, price in listed_sets:
                if left is None:
                    p.whole(price)
                    continue
                h, a = a_set(i, members), p.price(price)
                spent += a
                bound += a * Delta(i, h)
                more(i, h, -a)
                more(i, frozenset.intersection(*left[i]), a)
            require(spent <= C, "sums")
        for i, j, l, price in node["exchanges"]:
            for point in (i, j, l):
                index(point, p.n)
            if left is None:
                p.whole(price)
                continue
            nu = p.price(price)
            require(l != i and y[l] in (y[j], y[i]), "l cannot take the place of j")
            require(all(j in h and l not in h for h in left[i]), "not settled")
            more(i, [j], nu)
            more(i, [l], -nu)
        if left is not None:
            bounds.append(bound + p.below(Fraction(1), weights, node["factor"]))

    def tree(left: dict[int, list[frozenset[int]]] | None) -> None:
        node = nodes.pop(0)
        if not isinstance(node, list):
            leaf(node, left)
            return
        i, j = node
        index(i, p.n)
        index(j, p.n)
        for inside in (True, False):
            agree = [h for h in left[i] if (j in h) == inside] if left else []
            tree({**left, i: agree} if left and agree else None)

    try:
        tree(without_loss)
    except RecursionError as error:
        raise ValueError("too deep") from error
    require(not nodes, "the tree ends before")
    return min(bounds), value


def eliminated(A: Matrix) -> tuple[Matrix, Fraction]:
    """The inverse and the determinant of a positive definite matrix."""
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


def glml(p: Problem) -> tuple[Fraction, Fraction]:
    """(tr M B)^2 for the B of the side file. M is the inverse of the metric over a number, with a determinant >= 1."""
    require("prices" not in p.side, "prices")
    B = array(p.side["B"], p.d)
    require(len(B) == p.d and symmetric(p.A), "matrices")
    t, c = Fraction(p.whole(p.side["trace"]), p.over), Fraction(p.whole(p.side["scale"]), p.over)
    inverse, det = eliminated(p.A)
    require(t >= 0 and c > 0 and c**p.d >= det, "trace, or scale")
    require(t == 0 or (symmetric(B) and t**p.d <= p.d**p.d * eliminated(B)[1]), "trace")
    value = c * sum(inverse[i][j] * B[i][j] for i in range(p.d) for j in range(p.d))
    return t * t, value * value


def gmml(p: Problem) -> tuple[Fraction, Fraction]:
    """tr A S + tr A^-1 D, for weight 1/2. It is at least 2 tr F if [[S, F], [F^T, D]] is psd."""
    require(set(p.side) == HEAD - {"prices"} | {"root", "F"}, "fields of the side file")
    mu, identity = number(p.params["mu"]), [[Fraction(int(i == j)) for j in range(p.d)] for i in range(p.d)]
    require(number(p.params["weight"]) == Fraction(1, 2) and mu >= 0, "weight, or mu")
    prior = array(p.params["prior"], p.d) if "prior" in p.params else identity
    require(len(prior) == p.d and symmetric(prior), "prior")
    sums = []
    for pairs, beside in zip(both_kinds(p), (eliminated(prior)[0], prior), strict=True):
        found = [[mu * value for value in row] for row in beside]
        for i, j in pairs:
            added(found, Fraction(1), p.edge(i, j))
        sums.append(found)
    S, D = sums
    F = [[Fraction(p.whole(value), p.over) for value in row] for row in p.side["F"]]
    require(len(F) == p.d and all(len(row) == p.d for row in F), "F")
    above = [[*row, *beside] for row, beside in zip(S, F, strict=True)]
    below = [[*beside, *row] for row, beside in zip(D, zip(*F, strict=True), strict=True)]
    require(is_psd(above + below), "not psd")
    inverse = eliminated(p.A)[0]
    value = sum(p.A[i][j] * S[i][j] + inverse[i][j] * D[i][j] for i in range(p.d) for j in range(p.d))
    return 2 * sum((F[k][k] for k in range(p.d)), Fraction(0)), value


def ln(value: Fraction) -> Fraction:
    """The logarithm to some 70 digits; `LAST` is more than its error."""
    with localcontext() as context:
        context.prec = 80
        return Fraction((Decimal(value.numerator) / Decimal(value.denominator)).ln())


def exp(value: Fraction) -> Fraction:
    """The exponential of a number <= 0 to some 70 digits, 0 where it is less than 10^-200."""
    if value < -460:
        return Fraction(0)
    with localcontext() as context:
        context.prec = 80
        return Fraction((Decimal(value.numerator) / Decimal(value.denominator)).exp())


LAST = Fraction(1, 10**40)


def softmaxes(p: Problem, pulls: dict[int, dict[int, Fraction]]) -> tuple[Fraction, Fraction]:
    """sum_i [ sum_j pull_ij D_ij + log sum_{k != i} exp(-D_ik) ] over the points i with pulls, in ascending order"""
    r = Fraction(p.whole(p.side["logs_over"]))
    require(r > 0, "logs_over")
    value, bound, weights = Fraction(0), Fraction(0), dict[tuple[int, int], Fraction]()
    require([i for i, _, _ in p.side["prices"]] == list(pulls), "points")
    for i, shares, log_sum in p.side["prices"]:
        require(type(i) is int, "point")
        z, D = p.whole(log_sum) / r, [p.D(i, k) for k in range(p.n) if k != i]
        require(ln(sum((exp(min(D) - d) for d in D), Fraction(0))) <= z + LAST, "the logarithm of the sum")
        value += sum((w * p.D(i, j) for j, w in pulls[i].items()), Fraction(0)) - min(D) + z
        for j, w in pulls[i].items():
            weights[i, j] = weights.get((i, j), Fraction(0)) + w
        last, spent = -1, Fraction(0)
        for k, log, price in shares:
            require(last < index(k, p.n) and k != i, "points")
            last, a = k, p.price(price)
            require(a > 0 and ln(a) <= p.whole(log) / r + LAST, "a logarithm")
            spent += a
            bound -= a * p.whole(log) / r
            weights[i, k] = weights.get((i, k), Fraction(0)) - a
        require(spent == 1, "sums")
    return bound + p.below(Fraction(0), weights), value


def mcml(p: Problem) -> tuple[Fraction, Fraction]:
    """sum_i [ mean of D over the other points of the class + log sum exp(-D) ]"""
    y = p.classes()
    mates = {i: [j for j in range(p.n) if j != i and y[j] == y[i]] for i in range(p.n)}
    # the checker has these weights as whole numbers over `over`
    require(all(p.over % len(row) == 0 for row in mates.values() if row), "over")
    return softmaxes(p, {i: dict.fromkeys(row, Fraction(1, len(row))) for i, row in mates.items() if row})


def boostmetric(p: Problem) -> tuple[Fraction, Fraction]:
    """log sum exp(D_ij - D_il) + v tr A"""
    triplets, v, r = listed(p), positive(p.params["v"]), Fraction(p.whole(p.side["logs_over"]))
    require(triplets and r > 0, "triplets, or logs_over")
    z, margins = p.whole(p.side["log_sum"]) / r, [p.D(i, l) - p.D(i, j) for i, j, l in triplets]
    low = min(margins)
    require(
        ln(sum((exp(low - each) for each in margins), Fraction(0))) <= z + LAST, "the logarithm of the sum"
    )
    value = z - low + v * sum((p.A[k][k] for k in range(p.d)), Fraction(0))
    place, last, spent, bound = {t: k for k, t in enumerate(triplets)}, -1, Fraction(0), Fraction(0)
    Z = [[v * (i == j) for j in range(p.d)] for i in range(p.d)]
    for i, j, l, log, price in p.side["prices"]:
        require((i, j, l) in place and place[i, j, l] > last, "no triplet, or out of order")
        last, a = place[i, j, l], p.price(price)
        require(a > 0 and ln(a) <= p.whole(log) / r + LAST, "a logarithm")
        spent += a
        bound -= a * p.whole(log) / r
        added(Z, -a, p.edge(i, l))
        added(Z, a, p.edge(i, j))
    require(spent == 1, "sums")
    return bound + p.beneath(Fraction(0), Z), value


def prior_of(p: Problem) -> Matrix:
    """The prior, I where none is given."""
    identity = [[Fraction(int(i == j)) for j in range(p.d)] for i in range(p.d)]
    prior = array(p.params["prior"], p.d) if "prior" in p.params else identity
    require(len(prior) == p.d and symmetric(prior), "prior")
    return prior


def hinted(p: Problem, text: Any, value: Fraction) -> Fraction:
    """A logarithm of the side file, which is at least that of the value."""
    r = Fraction(p.whole(p.side["logs_over"]))
    require(r > 0, "logs_over")
    found = p.whole(text) / r
    require(abs(found) <= 16384 and ln(value) <= found + LAST, "a logarithm")
    return found


def product(A: Matrix, B: Matrix) -> Fraction:
    """tr A B of symmetric matrices"""
    return sum(
        (a * b for row, other in zip(A, B, strict=True) for a, b in zip(row, other, strict=True)), Fraction(0)
    )


def divergence(p: Problem, weights: dict[tuple[int, int], Fraction]) -> tuple[Fraction, Fraction]:
    """A bound of D_ld(A, A_0) + sum w D over all A, and the value of D_ld at the metric"""
    prior = prior_of(p)
    P, det_0 = eliminated(prior)
    Z = [row[:] for row in P]
    for (i, j), w in weights.items():
        added(Z, w, p.edge(i, j))
    low = hinted(p, p.side["log_bound"], 1 / (det_0 * eliminated(Z)[1]))
    return -low, product(P, p.A) - p.d + hinted(p, p.side["log_metric"], det_0 / eliminated(p.A)[1])


def itml(p: Problem) -> tuple[Fraction, Fraction]:
    """D_ld(A, A_0) + gamma sum f(xi / xi_0), f(x) = x - 1 - log x, xi = max(D, u) or min(D, l)"""
    gamma = positive(p.params["gamma"])
    (u, l), kinds = map(positive, p.params["bounds"]), both_kinds(p)
    rows = [(pair, sign, b) for kind, sign, b in zip(kinds, (1, -1), (u, l), strict=True) for pair in kind]
    bound, value, weights = Fraction(0), Fraction(0), dict[tuple[int, int], Fraction]()
    for ((i, j), sign, b), (low, at, price) in zip(rows, p.side["prices"], strict=True):
        a = p.price(price)
        left = 1 - sign * a * b / gamma
        require(left > 0, "too large a price")
        bound -= gamma * hinted(p, low, 1 / left)
        xi = max(p.D(i, j), b) if sign == 1 else min(p.D(i, j), b)
        require(xi > 0, "equal points")
        value += gamma * (xi / b - 1 + hinted(p, at, b / xi))
        weights[i, j] = weights.get((i, j), Fraction(0)) + sign * a
    of_bound, of_metric = divergence(p, weights)
    return of_bound + bound, of_metric + value


def sdml(p: Problem) -> tuple[Fraction, Fraction]:
    """tr A_0^-1 M + eta (sum_S D - sum_D D) - log det M + lam sum_{i != j} |M_ij|"""
    require("prices" not in p.side, "prices")
    eta, lam, P = positive(p.params["eta"]), number(p.params["lam"]), eliminated(prior_of(p))[0]
    for kind, sign in zip(both_kinds(p), (1, -1), strict=True):
        for pair in kind:
            added(P, sign * eta, p.edge(*pair))
    U = [[Fraction(p.whole(value), p.over) for value in row] for row in p.side["U"]]
    require(lam >= 0 and len(U) == p.d and all(len(row) == p.d for row in U) and symmetric(U), "U, or lam")
    off = [(i, j) for i in range(p.d) for j in range(p.d) if i != j]
    require(all(abs(U[i][j]) <= lam for i, j in off) and not any(U[i][i] for i in range(p.d)), "U")
    W = [[a + b for a, b in zip(*rows, strict=True)] for rows in zip(P, U, strict=True)]
    low = p.d - hinted(p, p.side["log_bound"], 1 / eliminated(W)[1])
    value = product(P, p.A) + lam * sum((abs(p.A[i][j]) for i, j in off), Fraction(0))
    return low, value + hinted(p, p.side["log_metric"], 1 / eliminated(p.A)[1])


def lsml(p: Problem) -> tuple[Fraction, Fraction]:
    """D_ld(M, A_0) + sum w [sqrt u - sqrt v]_+^2. Roots are rounded to multiples of 1 / U."""
    U, rows = 1 << 192, [[index(i, p.n) for i in row] for row in p.params["quadruplets"]]
    require(all(len(row) == 4 and row[0] != row[1] and row[2] != row[3] for row in rows), "quadruplets")
    require(
        p.params.get("n_quadruplets") is None or index(p.params["n_quadruplets"], 10**18) == len(rows),
        "count",
    )
    w, losses = [number(each) for each in p.params["weights"]], p.params.get("losses", "mean")
    require(all(each >= 0 for each in w) and any(w) and losses in ("mean", "sum"), "weights")
    require(losses == "sum" or abs(sum(w) - 1) * 2**53 <= len(w), "the sum of the weights")
    value, weights = Fraction(0), dict[tuple[int, int], Fraction]()
    for (a, b, c, e), each, (near, far) in zip(rows, w, p.side["prices"], strict=True):
        u, v, near, far = p.D(a, b), p.D(c, e), p.price(near), p.price(far)
        require(
            near == 0
            or (near < each and each * near <= far * (each - near))
            or (near <= each and not any(p.edge(c, e))),
            "a price",
        )
        if u > v:
            value += each * (u + v - Fraction(2 * isqrt(int(u * v * U * U)), U))
        for pair, price in (((a, b), near), ((c, e), -far)):
            weights[pair] = weights.get(pair, Fraction(0)) + price
    bound, of_metric = divergence(p, weights)
    return bound, of_metric + value


def nca(p: Problem) -> tuple[Fraction, Fraction]:
    """A bound of the convex step at the metric, sum_i [ c_i (log sum exp(-D) + sum w D) + sum c w log (c w) (- c_i) ].

    c w is known from below, by `lesser`; 127 and 2^-128 are of t log t >= -127 t - 2^-128. The value is at least that
    of - sum p_i or - sum log p_i.
    """
    y, criterion, r = p.classes(), p.params["criterion"], Fraction(p.whole(p.side["logs_over"]))
    require(criterion in ("f", "g") and p.params.get("similarity") is None and r > 0, "parameters")
    require(p.params.get("n_components") is None or index(p.params["n_components"], p.d + 1) == p.d, "rank")
    every = {i: [k for k in range(p.n) if k != i] for i in range(p.n)}
    mates = {i: [k for k in row if y[k] == y[i]] for i, row in every.items()}
    require([row[0] for row in p.side["prices"]] == [i for i in range(p.n) if mates[i]], "points")
    value, bound, weights = Fraction(0), Fraction(0), dict[tuple[int, int], Fraction]()
    for i, z, v, row in p.side["prices"]:
        require([index(k, p.n) for k, *_ in row] == every[i], "points")
        reference = every[i] if criterion == "f" else mates[index(i, p.n)]
        least, sums = {}, {}
        for name, points in (("all", every[i]), ("mates", mates[i]), ("reference", reference)):
            least[name] = min(p.D(i, k) for k in points)
            sums[name] = ln(sum((exp(least[name] - p.D(i, k)) for k in points), Fraction(0)))
        z, v = p.whole(z) / r, p.whole(v) / r
        require(sums["reference"] <= z + LAST, "the logarithm of the sum")
        lesser = {k: p.price(low) for k, low, _, _ in row}
        left = 1 - sum(lesser.values())
        held = sum((lesser[k] for k in mates[i]), Fraction(0))
        far = {k: p.D(i, k) - least["reference"] + z for k in every[i]}
        require(
            all(not low or (k in reference and ln(low) <= LAST - far[k]) for k, low in lesser.items()),
            "a number below a weight",
        )
        shares = {k: p.price(share) for k, _, _, share in row}
        require(sum(shares.values()) == held, "sums")
        for k, _, log, _ in row:
            log = p.whole(log) / r
            if shares[k]:
                require(log <= 0 and ln(shares[k] + left) <= log + LAST, "a logarithm")
                bound -= shares[k] * log
            weights[i, k] = (lesser[k] if k in mates[i] else 0) - shares[k]
        bound -= sum((lesser[k] * min(far[k], Fraction(127)) for k in mates[i]), Fraction(0))
        bound -= 127 * left + Fraction(len(mates[i]), 2**128)
        if criterion == "f":
            require(ln(1 / (held + left)) <= v + LAST, "the logarithm of c")
            bound -= (held + left) * (v + 1)
            value -= held
        else:
            require(sums["all"] - sums["mates"] <= v + LAST, "the logarithm of p")
            value += least["mates"] - least["all"] + v
    return bound + p.below(Fraction(0), weights), value


def within(value: Any, least: float, most: float) -> Fraction:
    """A double in a range."""
    found = number(value)
    require(Fraction(least) <= found <= Fraction(most), "range")
    return found


def ldml(p: Problem) -> tuple[Fraction, Fraction]:
    """sum_near w log(1 + exp(D - b)) + sum_far w log(1 + exp(b - D)) + n w_0 log(1 + exp(-b))"""
    r = Fraction(p.whole(p.side["logs_over"]))
    require(r > 0, "logs_over")
    kinds, alone, losses = both_kinds(p), Fraction(0), p.params.get("losses", "sum")
    require(all(kinds) and losses in ("sum", "means"), "losses")
    if "self_pairs" in p.params and number(p.params["self_pairs"]):
        alone = within(p.params["self_pairs"], 1 / 1e100, 1e100)
    count = sum(map(len, kinds))
    given = p.params.get("weights")
    listed_weights = [Fraction(1)] * count if given is None else [within(w, 1 / 1e100, 1e100) for w in given]
    require(len(listed_weights) == count, "weights")
    near, far = listed_weights[: len(kinds[0])], listed_weights[len(kinds[0]) :]
    shares = [sum(kind) if losses == "means" else Fraction(1) for kind in (near, far)]
    own = p.n * alone / shares[0]
    rows = [(pair, 1, w / shares[0]) for pair, w in zip(kinds[0], near, strict=True)]
    rows += [(pair, -1, w / shares[1]) for pair, w in zip(kinds[1], far, strict=True)]
    rows += [((0, 0), 1, own)] if own else []
    # the checker has these weights as whole numbers over `over`
    require(all((w * p.over).denominator == 1 for _, _, w in rows), "over")
    b = Fraction(p.whole(p.side["b"][0]), p.whole(p.side["b"][1]))
    require(p.whole(p.side["b"][1]) > 0 and len(p.side["b"]) == 2, "b")
    value, bound, pull, weights = Fraction(0), Fraction(0), Fraction(0), dict[tuple[int, int], Fraction]()
    for ((i, j), t, w), row in zip(rows, p.side["prices"], strict=True):
        at, log, rest, a = (Fraction(p.whole(each)) for each in row)
        at, log, rest, a = at / r, log / r, rest / r, a / p.over
        v = t * (p.D(i, j) - b)
        require(ln(1 + exp(-abs(v))) <= at + LAST, "the logarithm at the metric")
        value += w * (max(v, Fraction(0)) + at)
        require(0 <= a <= w, "price")
        require(a == 0 or ln(a / w) <= log + LAST, "the logarithm of a price")
        require(a == w or ln(1 - a / w) <= rest + LAST, "the logarithm of the rest")
        bound -= a * log + (w - a) * rest
        pull += t * a
        weights[i, j] = weights.get((i, j), Fraction(0)) + t * a
    if p.params["b"] == "free":
        require(pull == 0, "sums")
    else:
        require(within(p.params["b"], -1e6, 1e6) == b, "b")
    return bound - b * pull + p.below(Fraction(0), weights), value


PARAMS = {
    "mlsvm": {"lam", "n_neighbors", "neighborhood"},
    "lmnn": {"mu", "n_neighbors", "targets", "triplets"},
    "lmnn:squared_hinge": {"mu", "n_neighbors", "targets", "triplets"},
    "frobmetric": {"C", "n_neighbors", "triplets"},
    "rtml": {"lam", "width", "n_neighbors", "triplets"},
    "dml_eig": {"pairs"},
    "mmc": {"pairs"},
    "gmml": {"weight", "mu", "prior", "pairs"},
    "schultz_joachims": {"C", "A", "n_neighbors", "triplets"},
    "scml": {"beta", "basis", "n_basis", "n_neighbors", "triplets"},
    "ssvm": {"n_neighbors", "C", "loss_matrix"},
    "glml": {"query", "alpha", "priors", "model", "n_components"},
    "itml": {"gamma", "prior", "bounds", "pairs"},
    "sdml": {"eta", "lam", "prior", "pairs"},
    "lsml": {"prior", "quadruplets", "weights", "losses", "n_quadruplets", "random_state"},
    "mcml": set(),
    "boostmetric": {"v", "n_neighbors", "triplets"},
    "nca": {"criterion", "n_components", "similarity"},
    "ldml": {"b", "pairs", "losses", "weights", "self_pairs"},
}
HEAD = {"format", "version", "method", "over", "prices"}
SIDE = {
    "dml_eig": {"root", "factor", "most"},
    "mmc": {"root", "factor", "most"},
    "gmml": {"root", "F"},
    "schultz_joachims": {"weights", "paid", "paid_over"},
    "scml": {"weights"},
    "ssvm": {"root", "factor", "latent", "cases"},
    "glml": {"B", "trace", "scale"},
    "itml": {"root", "logs_over", "log_bound", "log_metric"},
    "sdml": {"root", "logs_over", "log_bound", "log_metric", "U"},
    "lsml": {"root", "logs_over", "log_bound", "log_metric"},
    "mcml": {"root", "factor", "logs_over"},
    "boostmetric": {"root", "factor", "logs_over", "log_sum"},
    "nca": {"root", "factor", "logs_over"},
    "ldml": {"root", "factor", "logs_over", "b"},
}
READ = {"format", "version", "method", "params", "X", "y", "metric", "neighbors"}
UNREAD = {
    "dual",
    "solver",
    "derived",
    "status",
    "n_iter",
    "notes",
    "objective",
    "lower_bound",
    "gap",
    "rel_gap",
}
UNREAD |= {"radius", "undecided", "step_lower_bound", "step_gap", "stationarity"}
METHODS = {
    "mlsvm": mlsvm,
    "lmnn": lmnn,
    "lmnn:squared_hinge": lmnn,
    "frobmetric": frobmetric,
    "rtml": rtml,
    "dml_eig": dml_eig,
    "mmc": mmc,
    "gmml": gmml,
    "schultz_joachims": schultz_joachims,
    "scml": scml,
    "ssvm": ssvm,
    "glml": glml,
    "itml": itml,
    "sdml": sdml,
    "lsml": lsml,
    "mcml": mcml,
    "boostmetric": boostmetric,
    "nca": nca,
    "ldml": ldml,
}


def interval(file: Any, side: Any) -> tuple[Fraction, Fraction]:
    """lower and upper end. Raises ValueError where nothing is proved."""
    try:
        method = file["method"]
        require(set(file) <= READ | UNREAD, "fields")
        require(set(side) <= HEAD | SIDE.get(method, {"root", "factor"}), "fields of the side file")
        require(set(side.get("factor", {})) <= {"vectors", "rest"}, "fields of the factor")
        require(set(file["params"]) <= PARAMS[method], "params")
        require(file["method"] == "mlsvm" or not file.get("neighbors"), "lists")
        found = METHODS[file["method"]](Problem(file, side))
    except (KeyError, TypeError, IndexError, AttributeError, OverflowError) as error:
        raise ValueError(str(error)) from error
    return found
