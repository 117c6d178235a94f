"""Certificate and solver of MLR: the trace with one slack for each query, over rankings that are listed when needed.

    min_{W psd}  tr W + C/n sum_q max(0, max_y [loss(y) - v_qy]),    v_qy = <W, psi(q, y*) - psi(q, y)>

There are n queries q. The rankings y are all rankings of the points other than q. The ranking y* has all relevant
points first, and psi are the features of a ranking (methods/mlr/__init__.py). The value v_qy is a weighted sum of
squared distances (ranking_rows.py).

A dual has "price" (m,), the dual variables of m rankings, and "rankings" (m, number of points): in each row a query,
then all other points in the order of the ranking. A certificate lists the rankings with a positive dual variable and
the worst ranking of each query (interleaving.py). Because distances are rounded, another ranking may be worse; a bound
of this error is added to the rounding error. W = 0 is a special case: rational arithmetic decides whether it is
optimal, and then the gap is exactly 0.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.balls import precision
from cvxml.core.exact import Exact
from cvxml.core.metric import EPS, FloatArray, unit_scale
from cvxml.core.queries import Queried
from cvxml.core.result import Certificate, Dual
from cvxml.core.run import Callback, Found, Start, run
from cvxml.family.losses.groups import Slack
from cvxml.family.regularizers.trace import Trace
from cvxml.family.rows.base import Duals, Plain
from cvxml.family.theorem import theorem
from cvxml.family.theorem.exact import interval
from cvxml.family.theorem.theorem import Family, Term
from cvxml.methods.mlr.cutting_planes import Cuts, CuttingPlanes
from cvxml.methods.mlr.interleaving import Interleavings
from cvxml.methods.mlr.ranking_rows import Rankings, distances, named, read, with_worst
from cvxml.numbers.rational import plane

PATIENCE = 20  # the solver stops after this many rounds without a better gap, because of rounding
START = 1e-3  # the trace of the first metric, relative to C


class Ranked:
    """Certificate and solver of MLR for the queries `asked`, the measure with k places, and the weight C."""

    def __init__(self, asked: Queried, measure: str, k: int, C: float):
        self.all_of, self.X, self.C = Interleavings(asked, measure, k), asked.X, C
        self.n = len(asked.queries)
        self.trace = Trace(asked.X, 1.0)

    def family(self, rows: Rankings) -> Family:
        return Family(self.trace, (Term(Slack(self.C / self.n, rows.place, rows.loss), rows),))

    def exact_family(self, rows: Rankings) -> Family:
        """Return the problem with only the rankings `rows`, with fractions as constants.

        Losses that are not rational are rounded down.
        """
        slack = Slack(
            Fraction(self.C) / self.n, rows.place, np.array(rows.exact_loss(up=False), dtype=object)
        )
        return Family(Trace(self.X, Fraction(1)), (Term(slack, rows),))

    def value(self, M: FloatArray) -> float:
        """Return the objective at the metric M (d, d), up to rounding; inf if its distances overflow."""
        with np.errstate(all="ignore"):
            D, _ = distances(self.trace.judge(M).view, self.all_of)
        if not np.isfinite(D).all():
            return math.inf
        slacks = np.maximum(self.all_of.worst(D).value, 0.0)
        return float(np.trace(M) + self.C * np.mean(slacks))

    def certify(self, M: FloatArray, dual: Dual) -> Certificate:
        """Certify the metric M (d, d) with the "price" and "rankings" of `dual` (module docstring)."""
        mu, priced = read(self.all_of, dual)
        judged = self.trace.judge(M)
        with np.errstate(all="ignore"):
            D, error = distances(judged.view, self.all_of)
        seen = np.isfinite(D) & np.isfinite(error)
        worst = self.all_of.worst(np.where(seen, D, 0.0), np.where(seen, error, 0.0))
        rows = with_worst(priced, worst)
        listed = Duals(np.pad(mu, (0, self.n)), np.arange(len(rows.place)))
        proof, repaired = theorem.certify(self.family(rows), M, [listed])
        (duals,) = repaired.duals
        beside = self.C * (float(worst.error.mean()) + 8 * (len(self.X) + 8) * EPS)
        proof = replace(
            proof,
            rounding=proof.rounding + beside,
            value_rounding=proof.value_rounding + beside,
            dual=named(rows, duals),
        )
        if not M.any() and proof.gap <= theorem.NEARLY * proof.objective:
            at_zero = self._at_zero(proof.dual)
            if self._is_optimal(*at_zero):
                stored = named(*at_zero)
                return replace(proof, lower_bound=proof.objective, gap=0.0, rounding=0.0, dual=stored)
        return proof

    def _at_zero(self, dual: Dual) -> tuple[Rankings, Duals]:
        """Return rankings with the largest possible loss, and dual variables for them that sum to C/n for each query.

        They may prove that W = 0 is optimal. The rankings are taken from `dual`, with dual variables in proportion to
        those in `dual`. A query without such a ranking in the dual gets a worst ranking at W = 0.
        """
        mu, rows = read(self.all_of, dual)
        used = rows.all_swapped & (mu > 0)
        rows = Rankings(self.all_of, rows.place[used], rows.order[used])
        worst = self.all_of.worst(np.zeros((self.n, len(self.X))))
        lacking = np.setdiff1d(np.arange(self.n), rows.place)
        places = np.concatenate([rows.place, lacking])
        rows = Rankings(self.all_of, places, np.concatenate([rows.order, worst.order[lacking]]))
        share = np.concatenate([mu[used], np.ones(len(lacking))])
        whole = np.bincount(places, share, minlength=self.n)[places]
        a = Slack(self.C / self.n, places, rows.loss).to_domain(share / whole * (self.C / self.n))
        return rows, Duals(a, np.arange(len(a)))

    def _is_optimal(self, rows: Rankings, duals: Duals) -> bool:
        """Return True if the dual variables `duals` of the rankings `rows` prove that W = 0 is optimal.

        The dual variables must be feasible, all rankings must have the largest loss, and the sum over each query must
        be C/n. Then their bound is the objective at 0. All this is decided in rational arithmetic.
        """
        c = Fraction(self.C) / self.n
        exact = Slack(c, rows.place, rows.loss).exact_duals([Fraction(price) for price in duals.a.tolist()])
        sums = [Fraction(0)] * self.n
        for place, price in zip(rows.place.tolist(), exact, strict=True):
            sums[place] += price
        if not bool(rows.all_swapped.all()) or any(total != c for total in sums):
            return False
        G = rows.weights(Duals(np.array(exact, dtype=object), duals.key))
        return bool(Trace(self.X, Fraction(1)).exact_bound(plane(self.X), G) == 0)

    def zero_up_to(self, dual: Dual) -> float:
        """Return a number C' such that W = 0 is optimal for every weight C up to C'.

        dual: dual variables that prove W = 0 optimal for the present C. C' is computed in floats and not rounded down.
        """
        rows, duals = self._at_zero(dual)
        G = rows.weights(duals)
        E = self.X[G.pairs[:, 0]] - self.X[G.pairs[:, 1]]
        largest = float(np.linalg.eigvalsh((E * G.w[:, None]).T @ E)[-1])
        return self.C / largest if largest > 0 else np.inf

    def exact(self, M: FloatArray, dual: Dual, root: ArrayLike | None, as_stored: bool = False) -> Exact:
        """Return the exact interval that contains the optimum.

        The lower end is the bound of the dual variables. The upper end is the objective, with the worst rankings, at a
        psd matrix of fractions near M. root: R with R R^T near M, if known.

        as_stored: only move the dual variables into their domain, without the scaling that improves their bound.
        """
        mu, rows = read(self.all_of, dual)
        family, duals = self.family(rows), [Duals(mu, np.arange(len(mu)))]
        repaired = theorem.in_domain(family, duals) if as_stored else theorem.prove(family, duals).duals
        found = interval(self.exact_family(rows), M, repaired, root)
        regularizer = Trace(self.X, Fraction(1))
        with precision():
            metric = regularizer.exact_metric(M, root)
            D = plane(self.X).distances(metric)
            worst = sum((max(Fraction(0), value) for value in self.all_of.exactly(D.D, D.unit)), Fraction(0))
            objective = regularizer.exact_value(metric, D) + Fraction(self.C) / self.n * worst
        return replace(found, objective=objective)

    def search(self, tol: float, max_iter: int, start: Start | None, callback: Callback) -> Found:
        at = _Iterate(self, start)
        return run(at, self.certify, tol, max_iter, callback, "cutting planes", PATIENCE)


class _Iterate:
    """The state of the solver: cutting planes, with the points scaled to a size of about 1.

    of: the problem. start: the metric and the dual variables of another solution, or None.
    """

    def __init__(self, of: Ranked, start: Start | None):
        self.of, self.scale = of, unit_scale(of.X)
        self.X = (of.X - of.X.mean(axis=0)) / self.scale
        c, d = of.C * self.scale**2 / of.n, of.X.shape[1]
        if start is None:
            price, rows = (
                np.zeros(0),
                Rankings(of.all_of, np.zeros(0, np.intp), np.zeros((0, len(of.X) - 1), np.intp)),
            )
            M = np.eye(d) * START * c * of.n / d
        else:
            price, rows = read(of.all_of, start.dual)
            price, M = np.maximum(price, 0.0) * self.scale**2, start.metric * self.scale**2
        self.solver = CuttingPlanes(self._worst, self._cuts(rows), price, of.n, c)
        self.solver.begin(M)

    def _worst(self, M: FloatArray) -> tuple[FloatArray, Cuts]:
        values, vectors = np.linalg.eigh(M)
        view = Plain(self.X @ (vectors * np.sqrt(np.maximum(values, 0.0))))
        D = view.from_points(self.of.all_of.asked.queries).D
        worst = self.of.all_of.worst(D)
        return worst.value, self._cuts(Rankings(self.of.all_of, np.arange(self.of.n), worst.order))

    def _cuts(self, rows: Rankings) -> Cuts:
        m, d = len(rows.place), self.X.shape[1]
        V, w = np.empty((m, d, d)), rows.swaps * rows.unit[:, None]
        for t, q in enumerate(rows.query.tolist()):
            E = self.X[q] - self.X
            V[t] = (E * w[t][:, None]).T @ E
        return Cuts(rows.place, rows.loss, (V + V.transpose(0, 2, 1)) / 2, rows.order)

    def metric(self) -> FloatArray:
        """The best metric so far, or the zero matrix if the objective at 0 is not larger than at this metric."""
        at = self.solver
        zero = self.at_zero - at.bound <= max(at.objective - at.bound, 0.0)
        M: FloatArray = (0 * at.best if zero else at.best) / self.scale**2
        return M

    @property
    def at_zero(self) -> float:
        """The objective at W = 0, for scaled points: c, the weight of a slack, times the sum of the largest losses."""
        loss = [1 - part.earned[:, -1].sum() for part in self.of.all_of.alike for _ in part.place]
        return self.solver.c * float(np.sum(loss))

    def dual(self) -> Dual:
        """Return the "price" and "rankings" (module docstring) with the largest lower bound so far."""
        at = self.solver
        rows = Rankings(self.of.all_of, at.best_cuts.group, at.best_cuts.name)
        return named(rows, Duals(at.best_price / self.scale**2, np.arange(len(at.best_price))))

    def step(self) -> bool:
        return self.solver.step()
