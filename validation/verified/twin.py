"""Compute the interval of the checker again in fractions, for its tests, without code of the checker or of cvxml.

`interval(saved, beside)` takes the text of both files, and raises ValueError if they prove nothing. It checks as the
page docs/verified.md says, from the definitions, and slowly. Each function for a problem returns the lower bound of the
objective, and its value at the metric A. D are the squared distances in A, and `a` is a dual variable, in files called
a price.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import isqrt
from typing import Any

from validation.verified.twin_files import (
    Matrix,
    Problem,
    added,
    array,
    as_many,
    both_kinds,
    eliminated,
    form,
    index,
    is_psd,
    listed,
    norm,
    number,
    positive,
    prior_of,
    read,
    require,
    stated,
    symmetric,
)
from validation.verified.twin_logarithms import (
    boostmetric,
    itml,
    ldml,
    lsml,
    mcml,
    nca,
    sdml,
)


def mlsvm(p: Problem) -> tuple[Fraction, Fraction]:
    """Return the lower bound and the value of MLSVM: lam/2 ||A||^2 + 1/n sum [1 + max_T D - min_I D]_+."""
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
    """Return the lower bound and the value of h ||A||^2 + c sum_targets D + sum loss(D_il - D_ij).

    bound: maps a dual variable to its part of the lower bound.
    """
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
    """Return the loss v -> c [1 - v]_+, and the function that maps a dual variable to its part of the bound."""

    def bound(a: Fraction) -> Fraction:
        require(a <= c, "too large a price")
        return a

    require(c >= 0, "weight")
    return lambda v: c * max(Fraction(0), 1 - v), bound


def lmnn(p: Problem) -> tuple[Fraction, Fraction]:
    """Return the lower bound and the value of LMNN: (1 - mu) sum D + mu sum hinge, or its square."""
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
    """Return the lower bound and the value of FrobMetric: 1/2 ||A||^2 + C/m sum hinge, over m triplets."""
    triplets = listed(p)
    require(triplets, "no triplet")
    return over_triplets(
        p, Fraction(1, 2), Fraction(0), [], triplets, *hinge(positive(p.params["C"]) / len(triplets))
    )


def rtml(p: Problem) -> tuple[Fraction, Fraction]:
    """Return the lower bound and the value of RTML: lam/2 ||A||^2 + sum smoothed hinge."""
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


def budget(p: Problem) -> tuple[list[tuple[int, int]], list[tuple[int, int]], Fraction, Fraction, Any]:
    """Return the data of a problem with the budget sum_S D <= 1 over similar pairs.

    These are the similar and the dissimilar pairs, mu (the entry "most"), the sum of D over similar pairs, and a dict
    of the dual variables of dissimilar pairs.
    """
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
    """Return the weights of pairs in the bound: mu for similar pairs, minus the dual variables."""
    weights = dict.fromkeys(similar, most)
    for pair, a in prices.items():
        weights[pair] = weights.get(pair, Fraction(0)) - a
    return weights


def dml_eig(p: Problem) -> tuple[Fraction, Fraction]:
    """Return the lower bound and the value of DML-eig: - min_D D, for sum_S D <= 1."""
    similar, dissimilar, most, spent, prices = budget(p)
    value = -min(p.D(i, j) for i, j in dissimilar) / max(Fraction(1), spent)
    require(sum(prices.values()) == 1, "no simplex")
    return -most + p.below(Fraction(0), pulls(similar, most, prices)), value


def mmc(p: Problem) -> tuple[Fraction, Fraction]:
    """Return the lower bound and the value of MMC: - sum_D sqrt D, for sum_S D <= 1.

    Roots, and 1 / (4 a) for a dual variable a, are rounded to multiples of 1 / U.
    """
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
    """Return the lower bound and the value of h ||A||^2 + beta sum w + sum hinge, for A = sum w b b^T, w >= 0.

    B: the vectors b. c: the weight of the hinge.
    """
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
    """Return the bounds of `combination` for 1/2 ||A||^2 + C sum hinge, with the columns of the given matrix."""
    if p.params["A"] is None:
        B = [[Fraction(int(i == j)) for j in range(p.d)] for i in range(p.d)]
    else:
        rows = array(p.params["A"])
        require(len(rows) == p.d, "A")
        B = [list(column) for column in zip(*rows, strict=True)]
    return combination(p, B, Fraction(1, 2), Fraction(0), positive(p.params["C"]))


def scml(p: Problem) -> tuple[Fraction, Fraction]:
    """Return the bounds of `combination` for beta sum w + 1/m sum hinge, over m triplets."""
    return combination(p, array(p.params["basis"], p.d), Fraction(0), positive(p.params["beta"]), Fraction(1))


def ssvm(p: Problem) -> tuple[Fraction, Fraction]:
    """Return the lower bound and the value of the convex step of gerrymandering at A, or of F if there is a tree.

    The step is ||A||^2 + C sum_i [max_h (Delta - cost) + cost of h*_i], with h*_i the cheapest set that the class of i
    wins.
    """
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
    """Return the lower bound and the value of F, the objective of gerrymandering, from a tree of cases.

    F = ||A||^2 + C sum_i [max_h (Delta - cost) - max over the sets without loss of -cost]. The lower bound is the
    smallest bound of all leaves of the tree, or F itself if that is smaller. Delta, a_set: the functions of `ssvm`.
    """
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
        """Check a leaf of the tree, and add its bound.

        left: the sets that each point may still have, by point. If left is None, no metric belongs to the leaf, and
        only its form is checked.
        """
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


def glml(p: Problem) -> tuple[Fraction, Fraction]:
    """Return the lower bound and the value of (tr M B)^2 for the B of the side file, over M with a determinant >= 1.

    M is `scale` times the inverse of the metric.
    """
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
    """Return the lower bound and the value of GMML for weight 1/2: tr A S + tr A^-1 D.

    It is at least 2 tr F if [[S, F], [F^T, D]] is psd.
    """
    require(set(p.side) == HEAD - {"prices"} | {"root", "F"}, "fields of the side file")
    mu, prior = number(p.params["mu"]), prior_of(p)
    require(number(p.params["weight"]) == Fraction(1, 2) and mu >= 0, "weight, or mu")
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


def interval(saved: bytes, beside: bytes) -> tuple[Fraction, Fraction]:
    """Return the lower and the upper end of the interval, from a saved solution and its side file.

    Raises ValueError if they prove nothing.
    """
    file, side = read(saved), read(beside)
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
