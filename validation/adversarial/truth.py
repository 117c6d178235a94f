"""What every problem has: points, metrics of which nothing is rounded, and the objective of the referee in balls."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
from flint import arb

from cvxml.cases import judge as referee
from validation.adversarial.exact import (
    Whole,
    ball,
    ball_of,
    identity,
    is_psd,
    largest,
    least,
    logsumexp,
    real,
    symmetric,
    total,
    whole,
)

INFINITY = arb.pos_inf()


class Image:
    """A symmetric matrix, exact, and the squared distances it gives: balls, wide where it stands for its nearest psd.

    size: how far it may be below this nearest, t in A <= P_+(A) <= A + t I; 0 for one that is psd itself.
    """

    def __init__(self, problem: Problem, M: Whole, size: float = 0.0, D: dict[Any, Any] | None = None):
        self.problem, self.M, self.size = problem, M, size
        self.D = problem.distances(M) if D is None else D

    def __add__(self, other: Image) -> Image:
        D = {pair: d + other.D[pair] for pair, d in self.D.items()}
        return Image(self.problem, self.M + other.M, 0.0, D)

    def times(self, exponent: int) -> Image:
        """2^exponent times the metric."""
        unit = arb(2) ** exponent
        D = {pair: d * unit for pair, d in self.D.items()}
        return Image(self.problem, self.M.times(exponent), float(np.ldexp(self.size, exponent)), D)

    def row(self, i: int) -> dict[int, Any]:
        """The distances from i, by the other point."""
        n = self.problem.n
        return {j: self.D[min(i, j), max(i, j)] for j in range(n) if j != i}


class Problem:
    """Points and parameters; lists and pairs are those given or, by their definition, made here."""

    diagonal = False
    along_rays = True  # the objective of a multiple of a metric is another
    bits = 150  # to which exact arithmetic has the objective, where it is no rational number

    def __init__(self, X: Any, y: Any, **params: Any):
        self.X, self.y, self.params = np.asarray(X, float), [int(c) for c in y], params
        self.n, self.d = self.X.shape
        self.every = list(combinations(range(self.n), 2))
        self.same = [(i, j) for i, j in self.every if self.y[i] == self.y[j]]
        self.other = [(i, j) for i, j in self.every if self.y[i] != self.y[j]]
        self.points = self.embedded()

    def embedded(self) -> Whole:
        """The rows whose differences a metric measures."""
        return whole(self.X)

    def difference(self, i: int, j: int) -> Any:
        """Integers."""
        return self.points.values[i] - self.points.values[j]

    def distances(self, M: Whole) -> dict[Any, Any]:
        """e^T M e of every two points."""
        E = np.array([self.difference(i, j) for i, j in self.every])
        squares = ((E @ M.values) * E).sum(axis=1)
        power = 2 * self.points.power + M.power
        return {pair: ball(v, power) for pair, v in zip(self.every, squares, strict=True)}

    def valid(self, M: Whole) -> bool:
        """A metric, exactly."""
        return is_psd(M.values)

    def kept(self, M: Whole) -> Whole:
        """What of a psd matrix is a metric of the method: its diagonal, where these are diagonal."""
        return Whole(np.diag(np.diag(M.values)), M.power) if self.diagonal else M

    def image(self, A: Any) -> Image:
        """A float matrix; or the psd matrix nearest to it, where a program that computes it may be off by ulps."""
        M = self.kept(symmetric(A))
        if self.valid(M):
            return Image(self, M)
        negative = -float(np.linalg.eigvalsh((A + A.T) / 2)[0]) / 2
        ulps = int(np.frexp(len(A) * np.abs(A).max() * 2.0**-52)[1])
        exponent = int(np.frexp(max(negative, np.ldexp(0.5, ulps)))[1])
        while not is_psd((M + identity(len(A), exponent)).values):
            exponent += 1
        above = self.distances(M + identity(len(A), exponent))
        own, rounded = self.distances(M), self.distances(M + identity(len(A), ulps))
        D = {pair: (2 * own[pair] - rounded[pair]).max(arb(0)).union(above[pair]) for pair in own}
        return Image(self, M, float(np.ldexp(1.0, exponent)), D)

    def norm2(self, at: Image) -> Any:
        """||A||^2."""
        found = ball((at.M.values * at.M.values).sum(), 2 * at.M.power)
        return found.union((found - len(at.M.values) * real(at.size) ** 2).max(arb(0)))

    def trace(self, at: Image) -> Any:
        """That of the nearest psd matrix, which may be larger."""
        found = ball(sum(at.M.values[k, k] for k in range(self.d)), at.M.power)
        return found.union(found + self.d * real(at.size))

    def value(self, at: Image) -> Any:
        """The objective of what a candidate is judged as."""
        raise NotImplementedError

    def attained(self, at: Image) -> Any:
        """An objective that a multiple of a psd matrix attains."""
        return self.value(at)

    def infimum(self) -> Any:
        """Where it is known, else None."""
        return None

    def scale(self, at: Image) -> Any:
        """What a tolerance is a share of."""
        return abs(self.value(at))

    def denied(self, said: str) -> bool:
        """True if there is no single optimum, and `said` gives the reason."""
        return False


def nearest(D: Any, i: int, among: list[int], k: int) -> list[int]:
    """By sums of squared differences in float64, features in order, then the index: docs/mlsvm.md."""
    return sorted(among, key=lambda j: (D[i][j], j))[:k]


def float_distances(X: Any) -> Any:
    """As the definition of neighbours has them."""
    D = np.zeros((len(X), len(X)))
    with np.errstate(over="ignore"):
        for feature in np.asarray(X, float).T:
            D += np.subtract.outer(feature, feature) ** 2
    return D


class Balls:
    """An image as the objectives of the referee take it, with functions of balls."""

    off = 0  # the error of a kernel

    def __init__(self, at: Image):
        self.at, self.problem = at, at.problem

    def D(self, i: int, j: int) -> Any:
        """The squared distance of two points."""
        return self.at.D[(i, j) if (i, j) in self.at.D else (j, i)]

    def norm2(self) -> Any:
        """||A||^2"""
        return self.problem.norm2(self.at)

    def trace(self) -> Any:
        """tr A"""
        return self.problem.trace(self.at)

    @property
    def weight(self) -> Any:
        """The sum of the weights of a combination."""
        return self.problem.weight(self.at)

    number = staticmethod(real)

    @staticmethod
    def positive(x: Any) -> Any:
        """[x]_+"""
        return as_ball(x).max(arb(0))

    @staticmethod
    def largest(values: list[Any]) -> Any:
        """The maximum."""
        return largest([as_ball(v) for v in values])

    @staticmethod
    def least(values: list[Any]) -> Any:
        """The minimum."""
        return least([as_ball(v) for v in values])

    @staticmethod
    def log(x: Any) -> Any:
        """log x"""
        return x.log()

    @staticmethod
    def sum_of_roots(values: list[Any]) -> Any:
        """sum sqrt v"""
        return total(v.sqrt() for v in values)

    @staticmethod
    def log_sum_exp(values: list[Any]) -> Any:
        """log sum exp v"""
        return logsumexp([as_ball(v) for v in values])


def as_ball(x: Any) -> Any:
    """An integer, a fraction or a ball as a ball."""
    return ball_of(x) if isinstance(x, Fraction) else arb(x)


def in_balls(problem: Any) -> Any:
    """A problem of the referee with balls in place of its fractions."""
    for name, value in vars(problem).items():
        if isinstance(value, Fraction):
            setattr(problem, name, ball_of(value))
        elif isinstance(value, list) and any(isinstance(each, Fraction) for each in value):
            setattr(problem, name, [as_ball(each) for each in value])
    return problem


class Stated(Problem):
    """A problem with the objective and the scale of the referee, in balls."""

    formula = ""  # its id

    def __init__(self, X: Any, y: Any, **params: Any):
        super().__init__(X, y, **params)
        given = {**referee.MISSING, **params}
        content = {"X": self.X, "y": self.y, "params": given, "neighbors": given.pop("neighbors", [])}
        self.stated = in_balls(referee.PROBLEMS[self.formula](content))

    def value(self, at: Image) -> Any:
        return self.stated.objective(Balls(at))

    def scale(self, at: Image) -> Any:
        return self.stated.scale(Balls(at), self.value(at))
