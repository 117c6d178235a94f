"""Cutting planes along a central path, for a trace and one slack for each group of rows, with too many rows to list.

    min_{M psd, xi >= 0}  tr M + c sum_g xi_g     s.t.  b_t - <M, V_t> <= xi_g  for each listed row t of group g

Each round follows the central path of the problem with the listed rows, until its gap is the share `SHARE` of the gap
of the whole problem. Then the worst row of each group at M is listed too. The round stops early because cuts at a point
away from the boundary are deeper than cuts at an optimum of the listed rows.
Primal and dual iterates are strictly feasible. Dual variables of the listed rows are dual variables of the whole
problem, with 0 for all other rows. The certificate is computed elsewhere (`Ranked.certify`).
The search direction is from Helmberg, Rendl, Vanderbei, Wolkowicz 1996, Kojima, Shindoh, Hara 1997 and Monteiro 1997.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, solve_triangular

from cvxml.core.clock import watched
from cvxml.core.metric import FloatArray, IntArray
from cvxml.family.geometry.symmetric import ROOT2, smat, svec, triangle

SHARE = 0.5  # the listed rows are solved to this share of the gap of the whole problem
TOWARDS = 0.15  # the path parameter of a step, as a share of the present one
MAX_STEPS = 40  # at most, in one round
BOUNDARY = 0.95  # a step goes at most this share of the way to the boundary
IDLE = 8  # a row is dropped after this many consecutive rounds with a negligible dual variable
FAINT = 1e-3  # negligible: at most this times the mean dual variable and times c / (rows of the group)
NEW = 0.05  # weight of equal dual variables that are mixed in when rows are added, so that new rows are positive
NEW_WINS = 1e-3  # a new row must be violated by this share of the group's part of the gap, divided by c


class Cuts(NamedTuple):
    """Rows t, called cuts. The value of row t at a metric M is b_t - <M, V_t>, and row t belongs to group group_t.

    name: data of the caller that identify each row.
    """

    group: IntArray  # (m,) the group of each row
    b: FloatArray  # (m,)
    V: FloatArray  # (m, d, d)
    name: Any  # (m, ...) data of the caller that identify each row

    def some(self, rows: Any) -> Cuts:
        return Cuts(self.group[rows], self.b[rows], self.V[rows], self.name[rows])

    def and_also(self, other: Cuts) -> Cuts:
        """Return the rows of this object, followed by those of `other`."""
        return Cuts(*(np.concatenate(both) for both in zip(self, other, strict=True)))

    def short(self, M: FloatArray) -> FloatArray:
        """Return b_t - <M, V_t> for each row (m,): its value at the metric M (d, d)."""
        values: FloatArray = self.b - np.einsum("tij,ij->t", self.V, M)
        return values


class CuttingPlanes:
    """The state of the solver: the iterate M (d, d), and the listed rows `cuts` with their dual variables `price` (m,).

    worst: a function that maps a metric to the value of the worst row of each group (groups,), and to these rows as
    cuts. cuts, price: the first listed rows and their dual variables.

    groups: the number of groups. c: the weight of a slack. After `begin` and after each `step`, best is the best M so
    far, with `objective`. best_price are the dual variables with the largest lower bound so far, `bound`; they belong
    to the rows best_cuts.
    """

    def __init__(
        self,
        worst: Callable[[FloatArray], tuple[FloatArray, Cuts]],
        cuts: Cuts,
        price: FloatArray,
        groups: int,
        c: float,
    ):
        self.worst, self.cuts, self.groups, self.c = worst, cuts, groups, c
        self.d = cuts.V.shape[1]
        self.M = np.zeros((self.d, self.d))
        self.price, self.idle = price, np.zeros(len(price), dtype=np.intp)
        self.best, self.objective = self.M, np.inf
        self.best_cuts, self.best_price, self.bound = cuts, price, -np.inf

    def begin(self, M: FloatArray) -> None:
        self.M = M
        self.price = self._inside(self.price)
        self._look()

    def step(self) -> bool:
        """Run one round: list the worst rows and follow the path. Return False if the gap is 0 or no step works."""
        gap = self.objective - self.bound
        if not gap > 0:
            return False
        self._list(gap)
        went = self._follow(SHARE * gap)
        self._look()
        return went

    def _look(self) -> None:
        """Find the worst row of each group at M, and update the best metric and the best bound."""
        value, self.found = self.worst(self.M)
        self.value = np.maximum(value, 0.0)
        objective = float(np.trace(self.M)) + self.c * float(self.value.sum())
        if objective < self.objective:
            self.best, self.objective = self.M, objective
        bound = float(self.cuts.b @ self.price)
        if bound > self.bound:
            self.best_cuts, self.best_price, self.bound = self.cuts, self.price, bound

    def _list(self, gap: float) -> None:
        """List the worst row of each group if it is clearly worse than the listed rows, and drop idle rows.

        A row is idle if its dual variable was negligible in the last `IDLE` rounds. Afterwards M, xi and the dual
        variables are strictly feasible. gap: the gap of the whole problem.
        """
        known = np.zeros(self.groups)
        np.maximum.at(known, self.cuts.group, self.cuts.short(self.M))
        new = self.value - known > NEW_WINS * gap / (self.c * self.groups)
        counts = np.bincount(self.cuts.group, minlength=self.groups)
        mean = float(self.price.sum()) / max(1, len(self.price))
        faint = self.price <= FAINT * np.minimum(mean, self.c / np.maximum(1, counts)[self.cuts.group])
        self.idle = np.where(faint, self.idle + 1, 0)
        kept = self.idle < IDLE
        more = self.found.some(new)
        self.cuts = self.cuts.some(kept).and_also(more)
        self.idle = np.concatenate([self.idle[kept], np.zeros(len(more.b), dtype=np.intp)])
        even = self._inside(self.c / np.bincount(self.cuts.group, minlength=self.groups)[self.cuts.group])
        before = self._inside(np.concatenate([self.price[kept], np.zeros(len(more.b))]))
        self.price = (1 - NEW) * before + NEW * even
        away = gap / (len(self.price) + self.groups + self.d) / 2
        self.M = self.M + away * np.eye(self.d)
        self.xi = np.zeros(self.groups)
        np.maximum.at(self.xi, self.cuts.group, self.cuts.short(self.M))
        self.xi += away / self.c

    def _inside(self, price: FloatArray) -> FloatArray:
        """Return the dual variables `price` (m,), scaled down if they are infeasible or close to the boundary."""
        most = float(np.bincount(self.cuts.group, price, minlength=self.groups).max(initial=0.0)) / self.c
        largest = float(np.linalg.eigvalsh(self._pull(price))[-1])
        limit = max(most, largest)
        return price * min(1.0, BOUNDARY / limit) if limit > BOUNDARY else price

    def _pull(self, price: FloatArray) -> FloatArray:
        """The matrix sum_t a_t V_t (d, d) for dual variables a = `price` (m,) of the listed rows."""
        G: FloatArray = np.tensordot(price, self.cuts.V, 1)
        return G

    def _sums(self, values: FloatArray) -> FloatArray:
        return np.bincount(self.cuts.group, values, minlength=self.groups).astype(np.float64)

    def _follow(self, goal: float) -> bool:
        """Step along the path until the gap of the listed rows is at most `goal`. False if the first step fails."""
        for step in watched(range(MAX_STEPS)):
            try:
                gap = self._newton(goal)
            except (LinAlgError, ValueError):
                return step > 0
            if gap <= goal:
                return True
        return True

    def _newton(self, goal: float) -> float:
        """Return the gap of the listed rows, and take one Newton step along the path if the gap is above `goal`.

        Raises LinAlgError if rounding prevents the step.
        """
        group, d, a, xi, sums = self.cuts.group, self.d, self.price, self.xi, self._sums
        s = xi[group] - self.cuts.short(self.M)
        rest, Z = self.c - sums(a), np.eye(d) - self._pull(a)
        gap = float(a @ s + rest @ xi + np.sum(self.M * Z))
        count = len(a) + self.groups + d
        if gap <= goal:
            return gap
        if not min(s.min(initial=np.inf), rest.min(), self.xi.min()) > 0:
            raise LinAlgError("rounding hides the boundary")
        tau = max(TOWARDS * gap, goal / 2) / count
        # In the coordinates T, M is the identity and Z is diagonal. The new metric is M + T S T^T.
        L = np.linalg.cholesky(self.M)
        z, turn = np.linalg.eigh(L.T @ Z @ L)
        if not z[0] > 0:
            raise LinAlgError("rounding hides the boundary")
        T = L @ turn
        V = T.T @ self.cuts.V @ T
        rows, columns = triangle(d)
        A = V[:, rows, columns] * np.where(rows == columns, 1.0, ROOT2)
        weight, own = a / s, rest / xi
        total = sums(weight)
        mean = np.zeros((self.groups, A.shape[1]))  # weighted mean of the rows of each group
        np.add.at(mean, group, (weight / total[group])[:, None] * A)
        centred, share = A - mean[group], total / (total + own)
        left = tau / xi + sums(tau / s) - self.c
        # The Hessian as a sum of squares: eliminating a slack only reduces the part of the mean of its rows.
        roots = [np.sqrt((z[rows] + z[columns]) / 2), np.sqrt(weight), np.sqrt(share * own)]
        slope = svec(tau * np.eye(d) - T.T @ T) + A.T @ (tau / s) - mean.T @ (share * left)
        S = smat(_solved(roots, centred, mean, slope), d)
        along = A @ svec(S)
        d_xi = (left - sums(weight * along)) / (total + own)
        d_s = along + d_xi[group]
        d_a = tau / s - a - weight * d_s
        d_Z = -np.tensordot(d_a, V, 1) / np.sqrt(np.outer(z, z))
        primal = min(_longest(s, d_s), _longest(xi, d_xi), _longest_of(S))
        dual = min(_longest(a, d_a), _longest(rest, -sums(d_a)), _longest_of(d_Z))
        moved = T @ S @ T.T
        self.M = self.M + primal * (moved + moved.T) / 2
        self.xi = xi + primal * d_xi
        self.price = a + dual * d_a
        return gap


def _solved(roots: list[FloatArray], centred: FloatArray, mean: FloatArray, b: FloatArray) -> FloatArray:
    """Return K^-1 b for K = diag(r_0)^2 + sum_t r_1t^2 e_t e_t^T + sum_g r_2g^2 m_g m_g^T, a matrix (p, p).

    roots: the vectors r_0 (p,), r_1 (one entry for each t) and r_2 (one for each g). e_t: the rows of `centred`. m_g:
    the rows of `mean`.
    """
    diagonal, *both = roots
    rows = [both[0][:, None] * centred, both[1][:, None] * mean]
    K = rows[0].T @ rows[0] + rows[1].T @ rows[1]
    K[np.diag_indices_from(K)] += diagonal**2
    try:
        solved: FloatArray = cho_solve(cho_factor(K), b)
    except LinAlgError:
        # Rounding makes K indefinite. A QR factorization of its root loses half as many digits.
        R = np.linalg.qr(np.concatenate([np.diag(diagonal), *rows]), mode="r")
        solved = solve_triangular(R, solve_triangular(R, b, trans="T"))
    return solved


def _longest(x: FloatArray, dx: FloatArray) -> float:
    """Return a step length t with x + t dx > 0: the share `BOUNDARY` of the longest such step, but at most 1."""
    down = dx < 0
    return min(1.0, BOUNDARY * float(np.min(-x[down] / dx[down], initial=np.inf)))


def _longest_of(S: FloatArray) -> float:
    """Return a step length t <= 1 with I + t S positive definite, a share `BOUNDARY` of the longest such step."""
    least = float(np.linalg.eigvalsh(S)[0])
    return min(1.0, -BOUNDARY / least) if least < 0 else 1.0
