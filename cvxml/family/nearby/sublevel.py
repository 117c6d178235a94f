"""All metrics with f(A) <= F, for example all that are at least as good as a given one: upper bounds of <D, A>.

f is the objective of a family: a regularizer plus losses of values v_t = <A, V_t>. Dual variables a_t prove the bound
f(A) >= k(a) + r(G), G = sum_t a_t V_t (theorem.py). D is a symmetric matrix, the direction. For any s > 0, the tilt,
and any dual variables a, f(A) - s <D, A> >= k(a) + r(G + s D). So
    <D, A> <= (F - k(a) - r(G + s D)) / s        wherever f(A) <= F.
This is the certificate of the same problem with a linear term, and it holds for any dual variables. The dual variables
of the tilted problem, to minimize f(A) - s <D, A>, give good bounds. To estimate them, s times a rate of change is
added to the dual variables of f (price_sensitivity.py). The bound is valid even if this estimate is inaccurate.

A `Box` contains all these metrics. It has bounds in d (d + 1) / 2 directions, each a weighted sum of
(x_i - x_j)(x_i - x_j)^T over pairs of points.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
from numpy.linalg import LinAlgError
from scipy.linalg import qr

from cvxml.core.clock import look, watched
from cvxml.core.metric import EPS, FloatArray, IntArray, examine, project_psd
from cvxml.family.geometry.budget import BudgetFeasibility
from cvxml.family.geometry.symmetric import smat, squares, svec, weighted
from cvxml.family.losses.base import ConjugateOnRay
from cvxml.family.losses.log_sum_exp import LogSumExp
from cvxml.family.nearby.price_sensitivity import Response, respond
from cvxml.family.regularizers.base import JudgedMatrix
from cvxml.family.regularizers.linear import Linear
from cvxml.family.regularizers.logdet import LogDet
from cvxml.family.rows.base import Duals, Weights, joined
from cvxml.family.theorem.strict_prices import Anchors, share_of
from cvxml.family.theorem.theorem import Family, added, in_domain, value

MOST_FEATURES = 24  # with more features, bounds in all directions take too long
UP_TO_ONE = ConjugateOnRay(lambda t: t, 1.0)  # makes `best_multiple` return the largest feasible t <= 1
LESS = (1e-12, 1e-9, 1e-6, 1e-3, 1e-2)  # relative reductions of a mixture, tried in turn, against rounding
# the most numbers in all rows of the pairs that get a proof, and limits of the number of such pairs
WORK, FEWEST, MOST_PAIRS = 2**25, 100, 2000
HALF = 0.5  # largest relative error of the inverse of a box
UNDERFLOW = 1e-200  # above the error of underflow in any sum here
SPANS = 1e-10  # smallest relative pivot of points that span all features
FIRST = 0.25  # first tilt, relative to the one that would be best without the cone
LONGER = 3.0  # factor from one tilt to the next
TRIES = 6  # number of tilts
BEYOND = (1.02, 1.5)  # factors of the step that makes two points equally far


class Box(NamedTuple):
    """The set of all A with |<E_i, A - M>| <= r_i for p symmetric matrices E_i. It contains every A with f(A) <= F.

    M (d, d) is a given metric with f(M) = F. Features are in `units` (d,), powers of two. Y (p, p) is close to the
    inverse of the matrix E with the rows svec(E_i). share: a bound of ||I - Y E||. reach: a bound of ||A - M||.
    """

    units: FloatArray  # (d,)
    M: FloatArray  # (d, d)
    Y: FloatArray  # (p, p): y(D) = svec(D) Y
    r: FloatArray  # (p,)
    share: float  # bound of ||I - Y E||; so y(D) E svec(A - M) has an error of up to share ||D|| reach
    reach: float  # bound of ||A - M||

    def nearer(self, E: FloatArray, rows: IntArray) -> np.ndarray:
        """Compare the distances of m points from a query, and return a table of booleans (len(rows), m).

        E (m, d): the differences of the points from the query. rows: the numbers of some of these points. Entry (k, b)
        is True if point number rows_k is proved nearer to the query than point number b, in every A of the set.
        """
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            E = E / self.units
            S, p = squares(E), len(self.r)
            D = np.sum((E @ self.M) * E, axis=1)
            y = S @ self.Y * self.r
            lengths = np.sum(E**2, axis=1) * (1 + (len(self.M) + 4) * EPS)
            error = 4 * (len(self.M) + 4) * EPS * np.sum((np.abs(E) @ np.abs(self.M)) * np.abs(E), axis=1)
            error += (
                4 * (p + 8) * EPS * (np.abs(S) @ (np.abs(self.Y) @ self.r))
                + self.share * lengths * self.reach
            )
            nearer = np.zeros((len(rows), len(E)), dtype=bool)
            for place, a in enumerate(rows.tolist()):
                moved = np.abs(y - y[a]).sum(axis=1) * (1 + (p + 8) * EPS)
                nearer[place] = D - D[a] > moved + error + error[a] + UNDERFLOW
        return nearer


class Sublevel:
    """The set of all A with f(A) <= F = f(M), for a metric M (d, d), where f is the objective of `family`.

    duals: dual variables that nearly prove M optimal, for each loss of the family.
    """

    def __init__(self, family: Family, M: FloatArray, duals: list[Duals], beside: FloatArray):
        """Prepare the set.

        beside (d, d): another metric, which may have a smaller f than M. It helps to estimate the change of the dual
        variables, and to find examples in the set (`others`).
        """
        self.family, self.beside = family, beside
        self.M = examine(M)[0]
        self.duals = in_domain(family, duals)
        self.F = value(family, M)
        self.proofs = 0  # number of proofs tried

    @cached_property
    def response(self) -> Response | None:
        """The data for the change of the dual variables in any direction; None if they cannot be computed."""
        if not math.isfinite(self.F.value + self.F.error):
            return None
        with np.errstate(all="ignore"):
            low, _ = self._proved(self.duals, None)
        room = self.F.value + self.F.error - low
        if not math.isfinite(room):
            return None
        best = min((self.M, self.beside), key=lambda A: value(self.family, A).value)
        with np.errstate(all="ignore"):
            return respond(self.family, self.duals, best, max(room, 8 * EPS * abs(self.F.value)))

    def above(self, D: Weights) -> float:
        """An upper bound of <D, A> over all A in the set; inf without a proof.

        D: a symmetric matrix, given by weights on pairs of points.
        """
        response, labels = self.response, self.family.regularizer.labels
        if response is None or (labels[D.pairs[:, 0]] != labels[D.pairs[:, 1]]).any():
            return math.inf
        found = response.along(D)
        if found is None:
            return math.inf
        moves, s = found
        return self._best(partial(self._at, D, moves), s * FIRST)

    def _best(self, of: Callable[[float], float], s: float) -> float:
        """The smallest of the bounds that `of` returns for several tilts. The first tilt is s.

        Larger tilts are tried as long as the bound falls. If the first larger one is no better, smaller ones are tried.
        """
        least, tilt, factor, tries = of(s), s, LONGER, 1
        while tries < TRIES:
            look()
            new, tries = of(tilt * factor), tries + 1
            if new < least:
                least, tilt = new, tilt * factor
            elif factor == LONGER and tilt == s:
                factor = 1 / LONGER
            else:
                break
        return least

    def _at(self, D: Weights, moves: list[FloatArray], tilt: float) -> float:
        """The upper bound of <D, A> over the set that one tilt s gives; inf if it proves no bound.

        D: the direction, by weights on pairs. moves: for each loss of the family, the change of its dual variables per
        unit of s. tilt: the number s.
        """
        self.proofs += 1
        duals = [Duals(own.a + tilt * move, own.key) for own, move in zip(self.duals, moves, strict=True)]
        tilted = Weights(D.pairs, tilt * D.w)
        with np.errstate(all="ignore"):
            low, share = self._proved(in_domain(self.family, duals), tilted)
        if not (share > 0 and math.isfinite(low)):
            return math.inf
        left = (self.F.value + self.F.error) - low + 4 * EPS * (abs(self.F.value) + abs(low))
        return (left + 8 * EPS * abs(left)) / (tilt * share)

    def _proved(self, duals: list[Duals], tilt: Weights | None) -> tuple[float, float]:
        """A proved lower bound of f(A) - share <tilt, A> over all A, and the number `share` in (0, 1].

        If the dual variables and the tilt prove no bound together, both are multiplied by `share`. duals: for each loss
        of the family. tilt: the matrix s D, given by weights on pairs; None for 0. Returns -inf and 0 if no bound is
        proved.
        """
        R, terms = self.family.regularizer, self.family.terms
        if R.undecided:
            return -math.inf, 0.0
        parts = [term.rows.weights(own) for term, own in zip(terms, duals, strict=True)]
        G = joined(parts if tilt is None else [*parts, tilt])
        share = 1.0
        if self.family.anchors is not None:
            return self._mixed(duals[0], tilt, G, self.family.anchors)
        if isinstance(R, (Linear, LogDet)):
            share = R.best_multiple(G, UP_TO_ONE)
            if not 0 < share <= 1:
                return -math.inf, 0.0
        if share != 1:
            duals = [
                Duals(term.loss.to_domain(own.a * share), own.key)
                for term, own in zip(terms, duals, strict=True)
            ]
            G = self._weights(duals, tilt, share)
        return self._lower_bound(duals, G), share

    def _mixed(self, own: Duals, tilt: Weights | None, G: Weights, anchors: Anchors) -> tuple[float, float]:
        """A proved lower bound of f(A) - share <tilt, A> over all A, and the number `share` in (0, 1].

        It is for a loss with dual variables of a fixed sum, so that no multiple of them is in the domain. own: dual
        variables a in the domain. tilt: the matrix s D, given by weights on pairs; None for 0. G: sum_t a_t V_t plus
        the tilt. If they prove no bound, `own` with the factor `share` is mixed with the dual variables
        `anchors.strict` (strict_prices.py) with the factor 1 - share. Returns -inf and 0 if no bound is proved.
        """
        R, (loss, _) = self.family.regularizer, self.family.terms[0]
        surplus = R.surplus(G)
        if surplus is None:
            return -math.inf, 0.0
        if surplus.psd:
            return self._lower_bound([own], G), 1.0
        if anchors.strict is None:
            return -math.inf, 0.0
        most = share_of(anchors.strict.surplus, surplus)
        for less in LESS if most else ():
            t = (most or 0.0) * (1 - less)
            a = (1 - t) * anchors.strict.duals.a + t * own.a
            a = loss.to_domain(np.where(a > 0, a, -np.inf) if isinstance(loss, LogSumExp) else a)
            mixed = own._replace(a=a)
            G = self._weights([mixed], tilt, t)
            again = R.surplus(G)
            if again is not None and again.psd:  # the repair may have changed the mixture
                return self._lower_bound([mixed], G), t
        return -math.inf, 0.0

    def _weights(self, duals: list[Duals], tilt: Weights | None, share: float) -> Weights:
        """The matrix G + share * tilt as weights on pairs, where `duals` are the dual variables of G.

        tilt: the matrix s D, given by weights on pairs; None for 0.
        """
        parts = [term.rows.weights(own) for term, own in zip(self.family.terms, duals, strict=True)]
        return joined(parts if tilt is None else [*parts, Weights(tilt.pairs, share * tilt.w)])

    def _lower_bound(self, duals: list[Duals], G: Weights) -> float:
        """The lower bound k(a) + r(G) of the dual variables a, minus its error bounds; -inf if it is not finite.

        duals: the dual variables a, for each loss of the family. G: sum_t a_t V_t, plus s D if there is a tilt.
        """
        terms = self.family.terms
        parts = [term.loss.bound(own.a) for term, own in zip(terms, duals, strict=True)]
        value, error = added([*parts, self.family.regularizer.bound(G)])
        return value - error if math.isfinite(value + error) else -math.inf

    def closer(self, query: int, a: int, b: int) -> bool:
        """True if point a is proved nearer to the point `query` than point b, in every A of the set."""
        return self.above(Weights(np.array([[query, a], [query, b]]), np.array([1.0, -1.0]))) < 0

    @cached_property
    def box(self) -> Box | None:
        """A box that contains every A of this set; None without a proof, for example because d is too large."""
        response, d = self.response, len(self.M)
        if response is None or d > MOST_FEATURES:
            return None
        X, p = response.X, d * (d + 1) // 2
        corners = _corners(X)
        if corners is None:
            return None
        pairs = np.array([(i, j) for k, i in enumerate(corners) for j in corners[:k]])
        points = self.family.regularizer.X  # as given: differences of shifted points may lose digits
        F = squares((points[pairs[:, 0]] - points[pairs[:, 1]]) / response.units)  # (p, p): svec of the pairs
        try:
            values, vectors = np.linalg.eigh(response.K)
            wanted = (vectors * np.sqrt(np.maximum(values, 1e-15 * values[-1]))).T  # rows E_i
            # From here on, E_i is defined as sum_j W_ij X_j.
            W: FloatArray = np.linalg.solve(F.T, wanted.T).T
            E = W @ F
            Y: FloatArray = np.linalg.inv(E).astype(np.float64)
        except LinAlgError:
            return None
        M = self.M * response.units * response.units[:, None]
        at = E @ svec(M)
        size = np.abs(W) @ np.abs(F)  # the rounding error of E is relative to this
        moved = 4 * (p + d + 8) * EPS * (size @ np.abs(svec(M)))
        r = np.empty(p)
        for i in watched(range(p)):
            ends = [self.above(Weights(pairs, sign * W[i])) - sign * at[i] for sign in (1.0, -1.0)]
            r[i] = (max(0.0, *ends) + moved[i]) * (1 + 8 * EPS)
            if not math.isfinite(r[i]):
                return None
        share = float(np.linalg.norm(np.eye(p) - Y @ E))
        share += (p + 8) * EPS * float(np.linalg.norm(np.abs(Y) @ np.abs(E)))
        share += (2 * p + 16) * EPS * float(np.linalg.norm(np.abs(Y) @ size))
        if not share < HALF:
            return None
        reach = float(np.linalg.norm(Y, "fro") * np.linalg.norm(r)) / (1 - share) * (1 + 1e-6)
        return Box(response.units, M, Y, r, share, reach)

    @property
    def affordable(self) -> int:
        """A limit of the number of calls of `closer` that keeps the time short, from `FEWEST` to `MOST_PAIRS`.

        The limit is smaller for more features and for more dual variables. Callers have to keep to it.
        """
        d = len(self.M)
        numbers = max(1, sum(len(own.a) for own in self.duals) * d * (d + 1) // 2)
        return min(max(WORK // numbers, FEWEST), MOST_PAIRS)

    @property
    def unknown(self) -> str:
        """The reason why there is no box, as a sentence without a full stop; empty if there is one."""
        if self.box is not None:
            return ""
        if len(self.M) > MOST_FEATURES:
            return f"bounds in all directions are available for at most {MOST_FEATURES} features"
        return (
            "this method has no bound for the metrics within the gap"
            if self.response is None
            else "some direction has no bound within the gap"
        )

    def others(self, E: FloatArray) -> Iterator[FloatArray]:
        """Yield metrics in this set in which row 1 of E (2, d) is likely to be shorter than row 0.

        The rows of E are differences of points, and their lengths are distances in the metric. The first metric is
        `beside` of the constructor, if it is in the set. The others are reached from M, and from `beside`, by steps in
        the direction that makes row 0 longer than row 1.
        """
        if self._beside_holds:
            yield self.beside
        response = self.response
        if response is None:
            return
        u, d = response.units, len(self.M)
        e = E / u
        D = svec(weighted(e, np.array([1.0, -1.0])))
        shift = response.shift(D)
        S, gain = smat(shift, d) / u / u[:, None], float(shift @ D)
        if not gain > 0:
            return
        for A in (self.M, self.beside):
            missing = -float(np.sum((E @ A) * E, axis=1) @ (1.0, -1.0))
            for beyond in BEYOND:
                moved = self._kept(A + beyond * max(missing, 0.0) / gain * S)
                if self.holds(moved):
                    yield moved

    def holds(self, A: FloatArray) -> bool:
        """True if A (d, d) is a feasible metric that is proved to be in this set."""
        judged = self.family.regularizer.judge(A)
        own = value(self.family, A)
        kept = judged.feasibility.exact and _spent(judged) <= 1
        return kept and own.value + own.error <= self.F.value - self.F.error

    @cached_property
    def _beside_holds(self) -> bool:
        return self.holds(self.beside)

    def _kept(self, A: FloatArray) -> FloatArray:
        """A metric near A that is psd and, if the method has a budget, within the budget.

        It is P_+(A), with negative eigenvalues replaced by 0, divided by max(1, spent). spent: its sum of squared
        distances over similar pairs, or 0 without a budget.
        """
        psd = project_psd(A)
        return psd / max(1.0, _spent(self.family.regularizer.judge(psd)) * (1 + 1e-12))


def _spent(judged: JudgedMatrix) -> float:
    """The sum of squared distances over similar pairs, which a budget limits to 1; 0 for other methods."""
    return judged.feasibility.spent if isinstance(judged.feasibility, BudgetFeasibility) else 0.0


def _corners(X: FloatArray) -> IntArray | None:
    """Indices of d + 1 of the points X (n, d) with differences that span all features.

    None if there are no such points, beyond rounding.
    """
    first = int(np.argmax(np.sum((X - X.mean(axis=0)) ** 2, axis=1)))
    d = X.shape[1]
    if len(X) <= d:
        return None
    R, order = qr((X - X[first]).T, mode="r", pivoting=True)
    size = np.abs(np.diag(R))
    if not size[d - 1] > SPANS * size[0]:
        return None
    return np.array([first, *order[:d].tolist()])
