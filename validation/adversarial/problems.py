"""The problems of the convex methods, by their definitions: objectives at metrics of which nothing is rounded."""

from __future__ import annotations

from functools import cache
from itertools import combinations, permutations
from typing import Any

import numpy as np
from flint import acb_mat, arb, arb_mat, fmpq, fmpq_mat, fmpz_mat

from cvxml.cases import judge as referee
from validation.adversarial.exact import (
    Whole,
    ball,
    is_psd,
    real,
    symmetric,
    total,
    whole,
)
from validation.adversarial.truth import INFINITY, Balls, Image, Problem, Stated, as_ball, in_balls


class MLSVM(Stated):
    """`neighbors` are given."""

    formula = "mlsvm"


class Kernel(MLSVM):
    """The same where phi measures rows of the kernel matrix <x, x'>^degree; ||A||^2 = tr K phi K phi."""

    formula = "kernel_mlsvm"

    def embedded(self) -> Whole:
        values, power = whole(self.X)
        degree = self.params["degree"]
        return Whole((values @ values.T) ** degree, 2 * power * degree)

    def valid(self, M: Whole) -> bool:
        K = self.points.values
        return is_psd(K @ M.values @ K)

    def image(self, A: Any) -> Image:
        """Where A + t I is psd in the feature space, K phi K + t K is: distances there are of the differences of K."""
        M, K = symmetric(A), self.points
        if self.valid(M):
            return Image(self, M)
        product = Whole(K.values @ M.values @ K.values, M.power + 2 * K.power)
        largest = max(abs(int(x)) for x in product.values.ravel()).bit_length() - product.power
        exponent = largest - max(int(x) for x in np.diag(K.values)).bit_length() + K.power - 60
        while not is_psd((product + K.times(exponent)).values):
            exponent += 1
        below, k = self.distances(M), K.values
        D = {}
        for i, j in self.every:
            added = ball(k[i, i] - 2 * k[i, j] + k[j, j], K.power - exponent)
            D[i, j] = below[i, j].max(arb(0)).union(below[i, j] + added)
        return Image(self, M, float(np.ldexp(1.0, exponent)), D)

    def norm2(self, at: Image) -> Any:
        product = self.points.values @ at.M.values
        found = ball((product * product.T).sum(), 2 * (at.M.power + self.points.power))
        return found.union((found - self.n * real(at.size) ** 2).max(arb(0)))


class LMNN(Stated):
    """`targets` and mu are given."""

    formula = "lmnn"


class SquaredLMNN(Stated):
    """With squared slacks."""

    formula = "lmnn:squared_hinge"


class FrobMetric(Stated):
    """`triplets` are given."""

    formula = "frobmetric"


class RTML(Stated):
    """`triplets` are given."""

    formula = "rtml"


class SchultzJoachims(Stated):
    """Of diagonal metrics; `triplets` are given."""

    formula = "schultz_joachims"
    diagonal = True


class SCML(Stated):
    """`triplets` are given, and a `basis` of which every matrix is one combination.

    It has every feature, and of every two of them a_ij (e_i + s_ij e_j), a_ij a power of two and s_ij a sign.
    """

    formula = "scml"

    def __init__(self, X: Any, y: Any, **params: Any):
        super().__init__(X, y, **params)
        self.signed = np.eye(self.d, dtype=int).astype(object)  # s_ij
        self.price = np.eye(self.d)  # beta of (e_i + s_ij e_j)(e_i + s_ij e_j)^T, in betas
        for b in params["basis"]:
            i, j = (np.flatnonzero(b) if np.count_nonzero(b) == 2 else np.flatnonzero(b)[[0, 0]]).tolist()
            self.signed[i, j] = self.signed[j, i] = int(np.sign(b[i]) * np.sign(b[j]))
            self.price[i, j] = self.price[j, i] = 1 / float(b[i]) ** 2

    def weights(self, M: Whole) -> Any:
        """Integers (d, d), in units of M: those of two features beside the diagonal."""
        w = M.values * self.signed
        np.fill_diagonal(w, np.diag(M.values) - abs(M.values - np.diag(np.diag(M.values))).sum(axis=1))
        return w

    def valid(self, M: Whole) -> bool:
        return bool((self.weights(M) >= 0).all())

    def kept(self, M: Whole) -> Whole:
        """The combination of the weights that are not negative."""
        w = np.maximum(self.weights(M), 0)
        values = w * self.signed
        np.fill_diagonal(values, w.sum(axis=1))
        return Whole(values, M.power)

    def image(self, A: Any) -> Image:
        """Of what is no combination nothing is known but the distances."""
        M = symmetric(A)
        D, absolute = self.distances(M), Whole(abs(M.values), M.power)
        for i, j in self.every:
            # judged is the combination of weights that are floats, which misses M by rounding
            e = abs(self.difference(i, j))
            seen = ball(e @ absolute.values @ e, 2 * self.points.power + M.power)
            D[i, j] = D[i, j] + seen * arb(0, 1e-13)
        return Image(self, M, 0.0 if self.valid(M) else 1.0, D)

    def value(self, at: Image) -> Any:
        return arb.nan() if at.size > 0 else super().value(at)

    def weight(self, at: Image) -> Any:
        """The sum of the weights."""
        weights, found = self.weights(at.M), arb(0)
        for i, j in combinations(range(self.d), 2):
            found += ball(weights[i, j], at.M.power) * real(self.price[i, j])
        found += total(ball(weights[k, k], at.M.power) * real(self.price[k, k]) for k in range(self.d))
        size = ball(abs(at.M.values).sum(), at.M.power)
        return found + size * real(float(self.price.max())) * arb(0, 1e-13)  # of M, not of what is judged


class PLML(Stated):
    """`triplets` and `weights` are given. A point is its features once for each block."""

    formula = "plml"

    def __init__(self, X: Any, y: Any, **params: Any):
        self.W = whole(np.asarray(params["weights"], float))
        super().__init__(X, y, **params)

    def embedded(self) -> Whole:
        return whole(np.tile(self.X, self.W.values.shape[1]))

    def distances(self, M: Whole) -> dict[Any, Any]:
        """Seen by the first of two points, in both orders."""
        D = {}
        for i, j in ((i, j) for i in range(self.n) for j in range(self.n) if i != j):
            e, shares = self.difference(i, j), np.repeat(self.W.values[i], self.d)
            blocks = self.kept(M).values
            D[i, j] = ball(int((e * shares) @ (blocks @ e)), 2 * self.points.power + M.power + self.W.power)
        return D

    def kept(self, M: Whole) -> Whole:
        m = self.W.values.shape[1]
        return Whole(M.values * np.kron(np.eye(m, dtype=int), np.ones((self.d, self.d), dtype=int)), M.power)


class BoostMetric(Stated):
    """`triplets` are given."""

    formula = "boostmetric"

    def keeps_all(self, at: Image) -> bool:
        """True if the margins of all triplets are above v times the trace."""
        cost = real(self.params["v"]) * self.trace(at)
        return all(at.row(i)[k] - at.row(i)[j] > cost for i, j, k in self.params["triplets"])


class MLR(Problem):
    """tr W + C times the mean slack; of every query all rankings are listed, from the definition of a ranking."""

    def __init__(self, X: Any, y: Any, **params: Any):
        super().__init__(X, y, **params)
        lists = params["relevant"] or [[j for j in range(self.n) if self.y[j] == c] for c in self.y]
        self.queries = []  # each with its relevant and its irrelevant points
        for q, listed in enumerate(lists):
            plus = [j for j in listed if j != q]
            minus = [j for j in range(self.n) if j != q and j not in plus]
            if plus and minus:
                self.queries.append((q, plus, minus))

    def value(self, at: Image) -> Any:
        slacks = total(self.slack(at.row(q), plus, minus) for q, plus, minus in self.queries)
        return self.trace(at) + real(self.params["C"]) * slacks / len(self.queries)

    def slack(self, D: dict[int, Any], plus: list[int], minus: list[int]) -> Any:
        """The most of Delta - <W, psi* - psi>."""
        P, N = len(plus), len(minus)
        apart = [[D[j] - D[i] for j in minus] for i in plus]
        worst = arb(0)
        for ranks, swapped in rankings(P, N):
            cost = total(apart[i][j] for i, j in swapped)
            worst = worst.max(self.loss(ranks, P, N) - 2 * cost / (P * N))
        return worst

    def loss(self, ranks: tuple[int, ...], P: int, N: int) -> Any:
        """1 less the measure of a ranking that has the relevant points at these places, which begin with 1."""
        k = self.params["k"]
        if self.params["measure"] == "auc":
            return arb(sum(r - p for p, r in enumerate(ranks, start=1))) / (P * N)
        if self.params["measure"] == "precision":
            places = min(k, P, N)
            return 1 - arb(sum(r <= places for r in ranks)) / places
        if self.params["measure"] == "map":
            return 1 - total(arb(p) / r for p, r in enumerate(ranks, start=1)) / P
        if self.params["measure"] == "mrr":
            return 1 - arb(1) / ranks[0]
        c = [1 / arb(max(r, 2)).log() for r in range(1, min(k, P) + 1)]
        best = total(c)
        return 1 - total(c[r - 1] for r in ranks if r <= len(c)) / best


@cache
def rankings(P: int, N: int) -> list[tuple[tuple[int, ...], tuple[tuple[int, int], ...]]]:
    """All that differ: the places of relevant points, and the pairs (i, j) that have irrelevant j before relevant i."""
    found = {}
    for y in permutations(range(P + N)):
        swapped = tuple((i, j - P) for at, j in enumerate(y) if j >= P for i in y[at:] if i < P)
        found[tuple(sorted(swapped))] = tuple(r for r, i in enumerate(y, start=1) if i < P)
    return [(ranks, swapped) for swapped, ranks in found.items()]


class NearPrior(Problem):
    """A `prior` is given."""

    def __init__(self, X: Any, y: Any, **params: Any):
        super().__init__(X, y, **params)
        A_0, power = whole(params["prior"])
        rows = fmpz_mat([[int(x) for x in row] for row in A_0])
        inverse = fmpq_mat(rows).inv() * fmpq(2**power)
        self.inverse = np.array([[inverse[i, j] for j in range(self.d)] for i in range(self.d)], dtype=object)
        self.log_det = (arb(rows.det()) * arb(2) ** (-power * self.d)).log()

    def value(self, at: Image) -> Any:
        rows = fmpz_mat([[int(x) for x in row] for row in at.M.values])
        det = rows.det()
        if at.size > 0 or det <= 0:
            return INFINITY if at.size == 0 else arb.nan()
        log_det = (arb(det) * arb(2) ** (-at.M.power * self.d)).log()
        trace = sum(
            (self.inverse[i, j] * int(at.M.values[i, j]) for i, j in np.ndindex(self.d, self.d)), fmpq(0)
        )
        return arb(trace) * arb(2) ** -at.M.power - log_det + self.log_det - self.d + self.cost(at)

    def cost(self, at: Image) -> Any:
        """Beside the divergence."""
        raise NotImplementedError

    def scale(self, at: Image) -> Any:
        return abs(self.value(at)).max(real(1e-6) * self.d)


class ITML(NearPrior):
    """`bounds` and gamma are given."""

    def __init__(self, X: Any, y: Any, **params: Any):
        super().__init__(X, y, **params)
        content = {"X": self.X, "y": self.y, "params": {**referee.MISSING, **params}}
        self.stated = in_balls(referee.ITML(content))

    def cost(self, at: Image) -> Any:
        if not all(at.D[pair] > 0 for pair in self.other):
            return INFINITY
        return self.stated.gamma * self.stated.slack(Balls(at))


class LSML(NearPrior):
    """`quadruplets` and `weights` are given. Weights count as they are; those of a mean are divided by their sum."""

    def cost(self, at: Image) -> Any:
        losses, total_weight = arb(0), sum(self.params["weights"])
        apart_of = {**at.D, **{(i, i): arb(0) for i in range(self.n)}}
        # weights with the sum 1 are not divided
        if self.params.get("losses", "mean") == "sum" or abs(total_weight - 1) < 1e-9:
            total_weight = 1.0
        for (a, b, c, d), w in zip(self.params["quadruplets"], self.params["weights"], strict=True):
            apart = apart_of[min(a, b), max(a, b)].sqrt() - apart_of[min(c, d), max(c, d)].sqrt()
            losses += real(w) / real(total_weight) * apart.max(arb(0)) ** 2
        return losses


class MCML(Stated):
    """A point that is alone in its class is no i."""

    formula = "mcml"


class LDML(Stated):
    """Similar and dissimilar pairs are all, by their labels; b is given or free."""

    formula = "ldml"

    def value(self, at: Image) -> Any:
        found = super().value(at)
        return (
            found + found * arb(0, 1e-13) if self.stated.free else found
        )  # b is next to the best, as a float


class Budget(Stated):
    """Similar and dissimilar pairs are all, by their labels."""

    along_rays = False

    def spent(self, at: Image) -> Any:
        """The sum over similar pairs."""
        return as_ball(self.stated.spent(Balls(at)))

    def attained(self, at: Image) -> Any:
        spent = self.spent(at)
        apart = [at.D[pair] for pair in self.other]
        if spent.is_zero():
            return -INFINITY if self.stated.gained(Balls, apart) > 0 else arb(0)
        return -self.stated.gained(Balls, [D / spent for D in apart])


class MMC(Budget):
    """The sum of the distances."""

    formula = "mmc"


class DiagonalMMC(MMC):
    """Of diagonal metrics."""

    formula = "mmc:diagonal"
    diagonal = True


class DMLEig(Budget):
    """The least squared distance."""

    formula = "dml_eig"


class Scatters(Problem):
    """Of one or two matrices that are sums over points, and are rational."""

    def sum_of(self, rows: list[Any]) -> Any:
        """sum r r^T over rows of integers, in the units of the points: rationals (d, d)."""
        E = fmpz_mat([[int(x) for x in row] for row in rows] or [[0] * self.d])
        return fmpq_mat(E.transpose() * E) / fmpq(4**self.points.power)

    def metric(self, at: Image) -> Any:
        """Rationals (d, d), or None where it stands for another metric."""
        rows = fmpz_mat([[int(x) for x in row] for row in at.M.values])
        return None if at.size > 0 else fmpq_mat(rows) * fmpq(2) ** -at.M.power

    def times_identity(self, x: float) -> Any:
        """x I."""
        at = fmpq(*float(x).as_integer_ratio())
        return fmpq_mat([[at if i == j else fmpq(0) for j in range(self.d)] for i in range(self.d)])

    def value(self, at: Image) -> Any:
        M = self.metric(at)
        if M is None:
            return arb.nan()
        return self.of(M) if M.det() > 0 else INFINITY

    def of(self, M: Any) -> Any:
        """The objective at rationals (d, d), positive definite."""
        raise NotImplementedError


def trace(M: Any) -> Any:
    """Of rationals."""
    return sum((M[i, i] for i in range(M.nrows())), fmpq(0))


class RCA(Scatters):
    """tr CM / |M|^(1/d), C within `chunklets` and alpha I."""

    along_rays = False

    def __init__(self, X: Any, y: Any, **params: Any):
        super().__init__(X, y, **params)
        lists: dict[int, list[int]] = {}
        for i, j in enumerate(params["chunklets"]):
            if j >= 0:
                lists.setdefault(j, []).append(i)
        points, self.C = self.points.values, self.times_identity(params["alpha"])
        n = sum(map(len, lists.values()))
        for members in lists.values():
            # with the mean taken out, and n_j in: integers
            rows = [len(members) * points[i] - sum(points[k] for k in members) for i in members]
            self.C += self.sum_of(rows) / fmpq(n * len(members) ** 2)

    def of(self, M: Any) -> Any:
        return arb(trace(self.C * M)) * (-arb(M.det()).log() / self.d).exp()

    def scale(self, at: Image) -> Any:
        return self.d * (arb(self.C.det()).log() / self.d).exp()

    def denied(self, said: str) -> bool:
        rank = self.C.rank()
        if rank == 0:
            return "no point differs" in said
        return rank < self.d and f"in {rank} of {self.d} directions" in said


class GMML(Scatters):
    """tr AS + tr A^-1 D over `pairs`, or for another `weight` squared distances to S^-1 and D.

    mu A_0^-1 is in S, and mu A_0 in D; `prior` is I unless it is given.
    """

    def __init__(self, X: Any, y: Any, **params: Any):
        super().__init__(X, y, **params)
        self.bits = 150 if params["weight"] == 0.5 else 40  # eigenvalues: their enclosures are wider
        pairs = params["pairs"] or {"similar": self.same, "dissimilar": self.other}
        A_0 = self.metric(Image(self, symmetric(np.asarray(params.get("prior", np.eye(self.d))))))
        mu = fmpq(*float(params["mu"]).as_integer_ratio())
        self.S, self.T = (
            self.sum_of([self.difference(i, j) for i, j in pairs[kind]]) + beside * mu
            for kind, beside in (("similar", A_0.inv()), ("dissimilar", A_0))
        )

    def of(self, M: Any) -> Any:
        t = self.params["weight"]
        if t == 0.5:
            return arb(trace(M * self.S) + trace(M.inv() * self.T))
        return (1 - real(t)) * squared_logs(M * self.S) + real(t) * squared_logs(M.inv() * self.T)

    def scale(self, at: Image) -> Any:
        least = 0.0 if self.params["weight"] == 0.5 else 1e-6
        return self.value(at).max(real(least) * self.d)

    def denied(self, said: str) -> bool:
        near, apart = self.S.rank(), self.T.rank()
        if min(near, apart) == self.d:
            return False
        many = near == apart == (self.S * self.T).rank()
        counted = f"in {near} of {self.d} directions, dissimilar pairs in {apart}"
        return counted in said and ("many optimal" in said) == many


def squared_logs(M: Any) -> Any:
    """sum log^2 of the eigenvalues of rationals, which are positive: roots of the polynomial that has no rounding."""
    found = M.charpoly().complex_roots()
    return total(count * root.real.log() ** 2 for root, count in found)


class SDML(Scatters):
    """tr SM - log det M + lam sum |M_ij|; eta and a `prior` are given."""

    bits = 150

    def __init__(self, X: Any, y: Any, **params: Any):
        super().__init__(X, y, **params)
        prior = self.metric(Image(self, symmetric(params["prior"])))
        apart = [self.sum_of([self.difference(*p) for p in pairs]) for pairs in (self.same, self.other)]
        self.S = prior.inv() + (apart[0] - apart[1]) * fmpq(*float(params["eta"]).as_integer_ratio())

    def of(self, M: Any) -> Any:
        error = sum((abs(M[i, j]) for i, j in np.ndindex(self.d, self.d) if i != j), fmpq(0))
        lam = fmpq(*float(self.params["lam"]).as_integer_ratio())
        return arb(trace(self.S * M) + lam * error) - arb(M.det()).log()

    def scale(self, at: Image) -> Any:
        return arb(self.d)

    def denied(self, said: str) -> bool:
        """Not where the entries of S, each moved by lam towards 0, make a positive definite matrix."""
        lam = fmpq(*float(self.params["lam"]).as_integer_ratio())
        W = fmpq_mat(self.S)
        for i, j in np.ndindex(self.d, self.d):
            if i != j:
                W[i, j] -= min(max(W[i, j], -lam), lam)
        rows = np.array(W.numer_denom()[0].tolist(), dtype=object)
        return "not decided" in said or ("unbounded" in said and not (is_psd(rows) and W.det() > 0))


class LFDA(Problem):
    """-tr (T^T S_w T)^-1 T^T S_b T for the range of T; the optimum is that of eigenvalues, which are enclosed."""

    along_rays = False
    bits = 20

    def __init__(self, X: Any, y: Any, **params: Any):
        super().__init__(X, y, **params)
        squares = {pair: sum(int(x) ** 2 for x in self.difference(*pair)) for pair in self.every}
        D = {
            (i, j): squares[min(i, j), max(i, j)] for i, j in [*self.every, *((j, i) for i, j in self.every)]
        }
        self.r, sizes, scale = params["n_components"], [self.y.count(c) for c in self.y], []
        for i in range(self.n):
            mates = [D[i, j] for j in range(self.n) if j != i and self.y[j] == self.y[i]]
            scale.append(arb(sorted(mates)[params["n_neighbors"] - 1]).sqrt())
        self.S_w, self.S_b, unit = (
            arb_mat(self.d, self.d),
            arb_mat(self.d, self.d),
            arb(4) ** -self.points.power,
        )
        for k in range(self.d):
            self.S_w[k, k] = real(params["alpha"])
        for i, j in self.every:
            e = arb_mat([[int(x) for x in self.difference(i, j)]])
            X_ij = e.transpose() * e * unit
            if self.y[i] != self.y[j]:
                self.S_b += X_ij / self.n
            elif scale[i] > 0 and scale[j] > 0:
                A = (-D[i, j] / (scale[i] * scale[j])).exp()
                self.S_w += X_ij * (A / sizes[i])
                self.S_b += X_ij * (A * (arb(1) / self.n - arb(1) / sizes[i]))

    def infimum(self) -> Any:
        """-(l_1 + .. + l_r)"""
        found = acb_mat(self.S_w.inv() * self.S_b).eig(multiple=True)
        return -total(sorted((each.real for each in found), key=lambda each: each.mid())[-self.r :])

    def image(self, A: Any) -> Image:
        """Whether it is of the embedding is not known."""
        return Image(self, symmetric(A), 1.0)

    def value(self, at: Image) -> Any:
        """Of the range, where S_w is I, along the longest axes; what is not quite of the embedding has others."""
        M = arb_mat([[ball(x, at.M.power) for x in row] for row in at.M.values])
        values, vectors = acb_mat(M * self.S_w).eig(right=True, algorithm="approx")
        longest = sorted(range(self.d), key=lambda k: values[k].real.mid())[-self.r :]
        T = arb_mat([[vectors[i, k].real.mid() for k in longest] for i in range(self.d)])
        try:
            plain = T * (T.transpose() * self.S_w * T).inv() * T.transpose()
            of_range = {
                "plain": plain,
                "weighted": plain * self.S_b * plain,
                "orthonormal": T * (T.transpose() * T).inv() * T.transpose(),
            }[self.params["embedding"]]
        except ZeroDivisionError:
            return arb.nan()
        # of what is far from the embedding, in either units, it is not known which range is judged
        away, near = M - of_range, True
        for S in (self.S_w, arb_mat(np.eye(self.d, dtype=int).tolist())):
            error, there = S * away, S * of_range
            near = near and bool((error * error).trace() < real(1e-8) * (there * there).trace())
        return -(self.S_b * plain).trace() * (1 + arb(0, 1e-3)) if near else arb.nan()

    def attained(self, at: Image) -> Any:
        return arb.nan()

    def scale(self, at: Image) -> Any:
        return -self.infimum()

    def denied(self, said: str) -> bool:
        return self.params["alpha"] == 0 and ("directions" in said or "all points are equal" in said)


CONVEX: dict[str, type[Problem]] = {
    "lfda": LFDA,
    "mlsvm": MLSVM,
    "kernel_mlsvm": Kernel,
    "lmnn": LMNN,
    "lmnn:squared_hinge": SquaredLMNN,
    "itml": ITML,
    "mcml": MCML,
    "mmc": MMC,
    "mmc:diagonal": DiagonalMMC,
    "dml_eig": DMLEig,
    "frobmetric": FrobMetric,
    "rtml": RTML,
    "boostmetric": BoostMetric,
    "ldml": LDML,
    "lsml": LSML,
    "schultz_joachims": SchultzJoachims,
    "rca": RCA,
    "gmml": GMML,
    "sdml": SDML,
    "scml": SCML,
    "plml": PLML,
    "mlr": MLR,
}
