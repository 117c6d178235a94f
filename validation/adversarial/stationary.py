"""NCA and gerrymandering: the objectives, their convex steps, and NCA's gradient, without rounding."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from flint import arb, fmpz_mat

from validation.adversarial.exact import Whole, ball, largest, least, logsumexp, rank, real, total
from validation.adversarial.truth import Image, Problem


class NCA(Problem):
    """-f or -g; those right for a point are the others of its class."""

    def mates(self, i: int) -> list[int]:
        """Who is right for i."""
        return [j for j in range(self.n) if j != i and self.y[j] == self.y[i]]

    def log_p(self, at: Image, i: int) -> Any:
        """The logarithm of p_i."""
        D = at.row(i)
        return logsumexp([-D[j] for j in self.mates(i)]) - logsumexp([-d for d in D.values()])

    def usable(self) -> list[int]:
        """Points that somebody is right for."""
        return [i for i in range(self.n) if self.mates(i)]

    def value(self, at: Image) -> Any:
        logs = [self.log_p(at, i) for i in self.usable()]
        return -total(p.exp() for p in logs) if self.params["criterion"] == "f" else -total(logs)

    def scale(self, at: Image) -> Any:
        """The distance to the bound, or to where multiples tend if that is less."""
        value = self.value(at)
        above = value + (len(self.usable()) if self.params["criterion"] == "f" else 0)
        if all(d.is_zero() for d in at.D.values()):
            return above
        shares = []
        for i in self.usable():
            D = at.row(i)
            first = [j for j in D if not any(D[k] < D[j] for k in D)]
            shares.append(arb(sum(self.y[j] == self.y[i] for j in first)) / len(first))
        if self.params["criterion"] == "f":
            return above.min(abs(value + total(shares)))
        return (
            above
            if any(s.is_zero() for s in shares)
            else above.min(abs(value + total(s.log() for s in shares)))
        )

    def step(self, at: Image, to: Image) -> Any:
        """The convex step at `at`, less its value there, at the metric `to`."""
        change = arb(0)
        for i in self.usable():
            D, E = at.row(i), to.row(i)
            log_p, mates = self.log_p(at, i), self.mates(i)
            within = logsumexp([-D[j] for j in mates])
            pull = total((-D[j] - within).exp() * (E[j] - D[j]) for j in mates)
            spread = logsumexp([-e for e in E.values()]) - logsumexp([-d for d in D.values()])
            change += (log_p.exp() if self.params["criterion"] == "f" else arb(1)) * (pull + spread)
        return change

    def gradient(self, at: Image) -> Any:
        """dF/dQ (d, d), in the units of the integers that the points are."""
        G = np.full((self.d, self.d), arb(0), dtype=object)
        for i in self.usable():
            D, mates = at.row(i), self.mates(i)
            c = self.log_p(at, i).exp() if self.params["criterion"] == "f" else arb(1)
            within, everyone = logsumexp([-D[j] for j in mates]), logsumexp([-d for d in D.values()])
            for j in D:
                w = (-D[j] - within).exp() if j in mates else arb(0)
                weight = c * (w - (-D[j] - everyone).exp())
                e = [ball(x, self.points.power) for x in self.difference(i, j)]
                G += np.array([[weight * a * b for b in e] for a in e], dtype=object)
        return G

    def covariance(self) -> Whole | None:
        """n^2 times that of the points (divisor n), which is n sum x x^T - (sum x)(sum x)^T; None if singular."""
        X = self.points.values
        C = self.n * (X.T @ X) - np.outer(X.sum(axis=0), X.sum(axis=0))
        return Whole(C, 2 * self.points.power) if rank(C) == self.d else None

    def first_order(self, at: Image, directions: list[Any]) -> tuple[Any, Any]:
        """Gradient and DC residual in coordinates of unit covariance, both from below."""
        G, Q = self.gradient(at), _balls(at.M)
        derivative = 2 * abs(total((G * Q).ravel()))
        C = self.covariance()
        if C is None:
            return derivative, arb(0)
        count = arb(self.n) ** 2
        size = (total((Q * _balls(C)).ravel()) / count).max(arb(1))
        of_A = arb(0)
        # of a rank that is limited but for rounding, the metric judged is another, and its root is off by more
        if rank(at.M.values) <= self.params["n_components"]:
            det, adjugate = _inverse(C)
            GQG = G @ Q @ G
            of_A = 2 * (total((_balls(adjugate) * GQG).ravel()) * count / det).max(arb(0)).sqrt()
        worst = arb(0)
        for z in directions:
            z = np.array([arb(int(x)) for x in z], dtype=object)
            worst = worst.max(-(z @ G @ z) / ((z @ _balls(C) @ z) / count))
        return (size.sqrt() * of_A).max(derivative), size * worst


def _balls(M: Whole) -> Any:
    return np.array([[ball(x, M.power) for x in row] for row in M.values], dtype=object)


def _inverse(C: Whole) -> tuple[Any, Whole]:
    """The inverse of a matrix of integers: its determinant, and the adjugate."""
    rows = fmpz_mat([[int(x) for x in row] for row in C.values])
    det, d = rows.det(), len(C.values)
    inverse = rows.inv()
    adjugate = [[int((inverse[i, j] * det).p) for j in range(d)] for i in range(d)]
    return arb(det), Whole(np.array(adjugate, dtype=object), -C.power)


class SSVM(Problem):
    """||W||^2 + C sum of losses, every set of k others looked at; 0/1 costs."""

    def __init__(self, X: Any, y: Any, **params: Any):
        super().__init__(X, y, **params)
        k, classes = params["n_neighbors"], range(max(self.y) + 1)
        self.sets: list[list[tuple[tuple[int, ...], int, bool]]] = []
        for i in range(self.n):
            rows = []
            for h in combinations([j for j in range(self.n) if j != i], k):
                votes = [sum(self.y[j] == c for j in h) for c in classes]
                lost = any(votes[c] == max(votes) for c in classes if c != self.y[i])
                rows.append((h, int(lost), not lost))
            self.sets.append(rows)

    def losses(self, at: Image, i: int) -> tuple[Any, list[tuple[Any, tuple[int, ...]]]]:
        """max over h of S + Delta, and the cost of every set with which i wins."""
        D = at.row(i)
        costs = [(total(D[j] for j in h), h, delta, wins) for h, delta, wins in self.sets[i]]
        return largest([delta - cost for cost, _, delta, _ in costs]), [
            (c, h) for c, h, _, wins in costs if wins
        ]

    def value(self, at: Image) -> Any:
        found = arb(0)
        for i in range(self.n):
            worst, winning = self.losses(at, i)
            found += worst + least([cost for cost, _ in winning])
        return self.norm2(at) + real(self.params["C"]) * found

    def latent(self, at: Image) -> list[tuple[int, ...]] | None:
        """h* of every point; None where a tie, to 1e-9, decides it."""
        chosen = []
        for i in range(self.n):
            costs = sorted(self.losses(at, i)[1], key=lambda pair: pair[0].mid())
            if len(costs) > 1 and not costs[1][0] > costs[0][0] * (1 + real(1e-9)):
                return None
            chosen.append(costs[0][1])
        return chosen

    def step_value(self, latent: list[tuple[int, ...]], to: Image) -> Any:
        """The convex step with these sets."""
        found = arb(0)
        for i, h in enumerate(latent):
            D = to.row(i)
            found += self.losses(to, i)[0] + total(D[j] for j in h)
        return self.norm2(to) + real(self.params["C"]) * found

    def scale(self, at: Image) -> Any:
        return self.norm2(at)
