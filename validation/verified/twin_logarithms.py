"""The problems of the twin that have logarithms: their intervals in fractions, with logarithms of some 70 digits.

Each function for a problem returns the lower bound of the objective, and its value at the metric, as in twin.py.
Logarithms in the side file are upper bounds, in units of 1 / logs_over.
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from math import isqrt
from typing import Any

from validation.verified.twin_files import (
    Matrix,
    Problem,
    added,
    both_kinds,
    eliminated,
    index,
    listed,
    number,
    positive,
    prior_of,
    require,
    symmetric,
)


def ln(value: Fraction) -> Fraction:
    """Return the logarithm to some 70 digits, with an error of less than `LAST`."""
    with localcontext() as context:
        context.prec = 80
        return Fraction((Decimal(value.numerator) / Decimal(value.denominator)).ln())


def exp(value: Fraction) -> Fraction:
    """Return the exponential of a number <= 0 to some 70 digits; 0 if it is below 10^-200."""
    if value < -460:
        return Fraction(0)
    with localcontext() as context:
        context.prec = 80
        return Fraction((Decimal(value.numerator) / Decimal(value.denominator)).exp())


LAST = Fraction(1, 10**40)


def softmaxes(p: Problem, pulls: dict[int, dict[int, Fraction]]) -> tuple[Fraction, Fraction]:
    """Return the lower bound and the value of sum_i [ sum_j pull_ij D_ij + log sum_{k != i} exp(-D_ik) ].

    pulls: pull_ij by i and then by j, for the points i of the sum in ascending order.
    """
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
    """Return the bounds of `softmaxes` for MCML: pull_ij is the inverse number of other points in the class of i."""
    y = p.classes()
    mates = {i: [j for j in range(p.n) if j != i and y[j] == y[i]] for i in range(p.n)}
    # the checker has these weights as whole numbers over `over`
    require(all(p.over % len(row) == 0 for row in mates.values() if row), "over")
    return softmaxes(p, {i: dict.fromkeys(row, Fraction(1, len(row))) for i, row in mates.items() if row})


def boostmetric(p: Problem) -> tuple[Fraction, Fraction]:
    """Return the lower bound and the value of BoostMetric: log sum exp(D_ij - D_il) + v tr A."""
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


def hinted(p: Problem, text: Any, value: Fraction) -> Fraction:
    """Return a logarithm from its text in the side file. It must be at least the logarithm of `value`."""
    r = Fraction(p.whole(p.side["logs_over"]))
    require(r > 0, "logs_over")
    found = p.whole(text) / r
    require(abs(found) <= 16384 and ln(value) <= found + LAST, "a logarithm")
    return found


def product(A: Matrix, B: Matrix) -> Fraction:
    """Return tr A B for symmetric matrices."""
    return sum(
        (a * b for row, other in zip(A, B, strict=True) for a, b in zip(row, other, strict=True)), Fraction(0)
    )


def divergence(p: Problem, weights: dict[tuple[int, int], Fraction]) -> tuple[Fraction, Fraction]:
    """Return a lower bound of D_ld(A, A_0) + sum w D over all A, and D_ld(A, A_0) for the metric A.

    A_0 is the prior. weights: w by pair.
    """
    prior = prior_of(p)
    P, det_0 = eliminated(prior)
    Z = [row[:] for row in P]
    for (i, j), w in weights.items():
        added(Z, w, p.edge(i, j))
    low = hinted(p, p.side["log_bound"], 1 / (det_0 * eliminated(Z)[1]))
    return -low, product(P, p.A) - p.d + hinted(p, p.side["log_metric"], det_0 / eliminated(p.A)[1])


def itml(p: Problem) -> tuple[Fraction, Fraction]:
    """Return the lower bound and the value of ITML: D_ld(A, A_0) + gamma sum f(xi / xi_0).

    f(x) = x - 1 - log x. For a similar pair xi_0 = u and xi = max(D, u); for a dissimilar pair xi_0 = l and xi = min(D,
    l).
    """
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
    """Return the lower bound and the value of SDML.

    The objective is tr A_0^-1 M + eta (sum_S D - sum_D D) - log det M + lam sum_{i != j} |M_ij|, for the metric M.
    """
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
    """Return the lower bound and the value of LSML: D_ld(M, A_0) + sum w [sqrt u - sqrt v]_+^2.

    u, v: the squared distances of the near and the far pair. Roots are rounded to multiples of 1 / U.
    """
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
    """Return the lower bound and the value of the convex step of NCA at the metric.

    The step is sum_i [ c_i (log sum exp(-D) + sum w D) + sum c w log (c w) ], for criterion f minus sum_i c_i. `lesser`
    holds lower bounds of the numbers c w. The numbers 127 and 2^-128 come from t log t >= -127 t - 2^-128. The
    objective - sum p_i (f) or - sum log p_i (g) is at most the step.
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
    """Return a double from `least` to `most` as a fraction."""
    found = number(value)
    require(Fraction(least) <= found <= Fraction(most), "range")
    return found


def ldml(p: Problem) -> tuple[Fraction, Fraction]:
    """Return the lower bound and the value of LDML.

    The objective is sum_near w log(1 + exp(D - b)) + sum_far w log(1 + exp(b - D)) + n w_0 log(1 + exp(-b)).
    """
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
