"""The exact interval of a local metric: objective and bound in balls (cvxml/core/balls.py), without rounding errors.

A ball is an interval that is proved to contain a real number. The file is for one Gaussian for each class, at one query
x. Means mu and covariances Sigma of floats are rational numbers. Their inverses, the densities p_c and B are balls,
with as many bits as the decisions below need. B is the weighted sum of the curvatures G_c = (Hessian of p_c) / p_c
(definitions.py). More bits cannot decide whether B is zero or singular, so this is decided in rationals, for up to
`LARGEST` features.

A metric A is judged as V = M M^T. M is computed from A in floating point (core/integer_matrices.py), or given. V is psd
for every M, and its determinant is an integer times a power of two. The metric V / |V|^(1/D) has determinant 1, and
    objective     (tr V^-1 B)^2 |V|^(2/D)
    lower bound   D u - D u log(u / |y|) + u log |sB| - y^2 / 4 from any dual variables y != 0 and u > 0, if sB is
                  proved positive definite for s = 1 or -1; otherwise 0
    scale         (D |sB|^(1/D))^2 if sB is proved positive definite, otherwise |tr V^-1 B| ||V^-1|| |V|^(2/D), as in
                  certify.py
This file is independent of solver.py. It uses only the checked data of instance.py.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.balls import TooFewBits, ball, balls, ends, pivots, total, with_enough_bits
from cvxml.core.exact import Exact, SingularMetric, flint, root_upward
from cvxml.core.inputs import dual_array
from cvxml.core.integer_matrices import root_of, whole
from cvxml.core.metric import EPS, FloatArray
from cvxml.core.result import Dual
from cvxml.methods.glml.instance import Instance

LARGEST = 12  # most features for which matrices of rationals are inverted


def exact_interval(p: Instance, A: FloatArray, dual: Dual, *, root: ArrayLike | None = None) -> Exact:
    """Return an interval that contains the optimum: from a lower bound to the objective at the metric M M^T.

    dual: any numbers "y" and "u"; they give the lower bound. root (d, r): the M of the module docstring, with M M^T
    near `A` (d, d); by default it is computed from A. Raises ValueError unless `query` was one point (d,) and the model
    is one Gaussian for each class. Also raises ValueError for a singular M M^T, if B is 0, and if no allowed number of
    bits decides whether B is definite.
    """
    if not p.one:
        raise ValueError(
            f"the exact mode of glml is for one query: give query of shape (d,), got shape {p.Q.shape}"
        )
    if p.params["model"] != "gaussian":
        raise ValueError('the exact mode of glml is for one Gaussian for each class; give model="gaussian"')
    y, u = (float(dual_array(dual, name, (1,))[0]) for name in ("y", "u"))
    M = root_of(A, root)
    rows, _ = whole(M)
    V = rows * rows.transpose()  # times a power of two, which cancels below
    det = int(V.det())
    if det == 0:
        raise SingularMetric(
            "the metric M M^T of the exact mode is singular; a local metric has determinant 1"
        )
    model, x = Gaussians(p), p.Q[0]
    if model.is_zero(x):
        raise ValueError(
            "B is exactly 0 at this query: every metric is optimal, and a relative gap is undefined; give another query"
        )
    return with_enough_bits(lambda: _interval(model, x, A, V, det, y, u))


def _interval(model: Gaussians, x: FloatArray, A: FloatArray, V: Any, det: int, y: float, u: float) -> Exact:
    """The interval for the optimum at the query x, from the metric A (d, d) and the dual variables y and u.

    It is computed in balls of the current precision. V: M M^T times a power of two, in integers; det: its determinant.
    Raises TooFewBits if this precision does not decide whether B is definite.
    """
    d = len(A)
    B = model.unit_B(x)
    size = (ball(flint().fmpz(det)).log() / d).exp()
    inverse = balls(V.inv())
    t = total(entry_products(inverse, B)) * size
    norm = total(entry_products(inverse, inverse)).sqrt() * size
    error = balls(V) / size - flint().arb_mat([[ball(a) for a in row] for row in A.tolist()])
    distance = root_upward(max(ends(total(entry_products(error, error)))[1], Fraction(0)))
    objective = ends(t * t)[1]
    log_det = _log_det(B)
    if log_det is None:
        if not (model.is_indefinite(B) or model.is_singular(x)):
            raise TooFewBits("B is too close to singular to decide whether it is definite")
        scale = ends(norm)[0] * max(abs(end) for end in ends(t))
        return Exact(Fraction(0), objective, distance, scale)
    scale = ends((2 * log_det / d).exp() * d * d)[0]
    return Exact(_bound(d, log_det, y, u), objective, distance, scale)


def _log_det(B: Any) -> Any:
    """Return log |sB|, a ball, if sB is proved positive definite for s = 1 or -1; else None. B: a matrix of balls."""
    for s in (1, -1):
        found = pivots(B * s)
        if found is not None:
            return total([pivot.log() for pivot in found])
    return None


def _bound(d: int, log_det: Any, y: float, u: float) -> Fraction:
    if not (math.isfinite(y) and math.isfinite(u) and u > 0 and y != 0):
        return Fraction(0)
    u_ball, y_ball = ball(u), ball(abs(y))
    value = u_ball * d - u_ball * d * (u_ball.log() - y_ball.log()) + u_ball * log_det - y_ball * y_ball / 4
    return max(Fraction(0), ends(value)[0])


class RoundedB(NamedTuple):
    """B (d, d) rounded to floats, and bounds of the rounding errors, entry by entry."""

    B: FloatArray  # (d, d)
    error: FloatArray  # (d, d): bounds of the rounding errors, entry by entry


class Gaussians:
    """The Gaussians of the classes, for an instance with model="gaussian". They give B in balls, and proofs about B."""

    def __init__(self, p: Instance):
        self.fits = [_fit(p, c) for c in range(int(p.y.max()) + 1)]
        self.inverses: dict[int, list[tuple[Any, Any]]] = {}

    def rounded_B(self, x: FloatArray) -> RoundedB | None:
        """Return B / ||B|| at x (d,), or its negative, rounded to floats.

        None if no allowed number of bits is enough for this, for example because B is 0.
        """
        try:
            return with_enough_bits(lambda: self._rounded_B(x))
        except TooFewBits:
            return None

    def _rounded_B(self, x: FloatArray) -> RoundedB:
        rows = self.unit_B(x).tolist()
        B = np.array([[float(entry.mid()) for entry in row] for row in rows])
        B = (B + B.T) / 2
        error = np.array(
            [
                [float((entry - value).abs_upper()) for entry, value in zip(*both, strict=True)]
                for both in zip(rows, B.tolist(), strict=True)
            ]
        )
        if not (error <= 2 * EPS * np.abs(B) + EPS**2).all():
            raise TooFewBits("the ball of B is wider than the spacing of floats")
        return RoundedB(B, (1 + EPS) * error)

    def unit_B(self, x: FloatArray) -> Any:
        """Return B / ||B|| at x (d,) in balls. With two classes the sign is arbitrary.

        Call it within `precision` of cvxml/core/balls.py. Raises TooFewBits if B may be 0 at this precision.
        """
        classes = self._classes(x)
        if len(classes) == 2:
            B = classes[0].G - classes[1].G
        else:
            top = max(each.log_p.mid() for each in classes)
            densities = [(each.log_p - top).exp() for each in classes]
            B = flint().arb_mat(len(x), len(x))
            for i, j in itertools.combinations(range(len(classes)), 2):
                weight = densities[i] * densities[j] * (densities[j] - densities[i])
                B += (classes[i].G - classes[j].G) * weight
        norm = total(entry_products(B, B)).sqrt()
        if not norm > 0:
            raise TooFewBits("B cannot be distinguished from 0")
        return B / norm

    def _classes(self, x: FloatArray) -> list[_Class]:
        found = []
        for fit, (S, log_det) in zip(self.fits, self._inverses(), strict=True):
            far = flint().arb_mat([[ball(v)] for v in _from_mean(fit, x)])
            pull = S * far
            square = (far.transpose() * pull)[0, 0]
            log_p = ball(fit.prior).log() - log_det / 2 - square / 2
            found.append(_Class(log_p, pull * pull.transpose() - S))
        return found

    def _inverses(self) -> list[tuple[Any, Any]]:
        """Sigma^-1 and log |Sigma| of each class, as balls at the current precision."""
        bits = flint().ctx.prec
        if bits not in self.inverses:
            self.inverses[bits] = [_inverse(fit.Sigma) for fit in self.fits]
        return self.inverses[bits]

    def is_zero(self, x: FloatArray) -> bool:
        """Return True if B is proved to be exactly 0 at x (d,). Always False for more than `LARGEST` features.

        Each pair of classes must have equal curvatures, or, with three or more classes, equal densities. A density is a
        factor, the prior over |Sigma|^(1/2), times the exponential of a rational number. By Lindemann's theorem two
        densities are equal only if these exponents are equal and the factors are equal.
        """
        if len(x) > LARGEST:
            return False
        G, densities = [], []
        for fit in self.fits:
            S, pull, far = _exact_pull(fit, x)
            G.append(pull * pull.transpose() - S)
            densities.append(((far.transpose() * pull)[0, 0], fit.prior**2 / fit.Sigma.det()))
        alike = (
            G[i] == G[j] or (len(G) > 2 and densities[i] == densities[j])
            for i, j in itertools.combinations(range(len(G)), 2)
        )
        return all(alike)

    def is_singular(self, x: FloatArray) -> bool:
        """Return True if B is proved to be semidefinite and singular; False if it is not, or if this cannot be decided.

        With two classes, B is a rational matrix up to a factor, so this is decided in rationals. Always False for three
        or more classes, and for more than `LARGEST` features.
        """
        if len(self.fits) != 2 or len(x) > LARGEST:
            return False
        one, two = (pull * pull.transpose() - S for S, pull, _ in (_exact_pull(fit, x) for fit in self.fits))
        # all roots are real, so the matrix is semidefinite if the coefficients alternate in sign or have one sign
        coefficients = (one - two).charpoly().coeffs()
        signs = [(entry > 0) - (entry < 0) for entry in coefficients]
        turned = [s if k % 2 else -s for k, s in enumerate(signs)]
        one_sign = any(not (1 in each and -1 in each) for each in (signs, turned))
        return signs[0] == 0 and one_sign

    def is_indefinite(self, B: Any) -> bool:
        """Return True if e^T B e is proved positive for one direction e and negative for another; otherwise False."""
        rough = np.array([[float(entry.mid()) for entry in row] for row in B.tolist()])
        vectors = np.linalg.eigh((rough + rough.T) / 2)[1]
        ends = [flint().arb_mat([[ball(v)] for v in vectors[:, k].tolist()]) for k in (0, -1)]
        low, high = ((e.transpose() * B * e)[0, 0] for e in ends)
        return bool(low < 0 and high > 0)


def entry_products(A: Any, B: Any) -> list[Any]:
    return [a * b for a, b in zip(A.entries(), B.entries(), strict=True)]


class _Gaussian(NamedTuple):
    """The Gaussian of a class, as flint's rationals.

    mean: d numbers. Sigma: the covariance (d, d). prior: the prior, up to a factor that all classes share.
    """

    mean: list[Any]
    Sigma: Any
    prior: Any  # up to a factor that all classes share


class _Class(NamedTuple):
    """A class at a query x: log(prior p_c(x)) up to a common constant, a ball; and G_c(x), a matrix of balls."""

    log_p: Any
    G: Any


def _fit(p: Instance, c: int) -> _Gaussian:
    fmpq, fmpq_mat = flint().fmpq, flint().fmpq_mat
    points, at = whole(p.X[p.y == c])
    n, d = points.nrows(), points.ncols()
    sums = flint().fmpz_mat(1, n, [1] * n) * points
    scatter = points.transpose() * points * n - sums.transpose() * sums
    alpha, unit = Fraction(p.params["alpha"]), _power_of_2(2 * at)
    ridge = fmpq(alpha.numerator, alpha.denominator)
    Sigma = [
        [fmpq(scatter[i, j], n * n) * unit + (ridge if i == j else 0) for j in range(d)] for i in range(d)
    ]
    return _Gaussian([fmpq(sums[0, j], n) * _power_of_2(at) for j in range(d)], fmpq_mat(Sigma), _prior(p, c))


def _prior(p: Instance, c: int) -> Any:
    priors, fmpq = p.params["priors"], flint().fmpq
    if priors is None:
        return fmpq(1)
    share = Fraction(np.bincount(p.y).tolist()[c] if isinstance(priors, str) else float(priors[c]))
    return fmpq(share.numerator, share.denominator)


def _from_mean(fit: _Gaussian, x: FloatArray) -> list[Any]:
    """x - mu for the mean mu of the Gaussian, as rationals."""
    exact = (Fraction(v) for v in x.tolist())
    return [flint().fmpq(v.numerator, v.denominator) - mu for v, mu in zip(exact, fit.mean, strict=True)]


def _exact_pull(fit: _Gaussian, x: FloatArray) -> tuple[Any, Any, Any]:
    """S = Sigma^-1, S (x - mu) and x - mu for the Gaussian (mu, Sigma), as rationals."""
    S, far = fit.Sigma.inv(), flint().fmpq_mat([[v] for v in _from_mean(fit, x)])
    return S, S * far, far


def _inverse(Sigma: Any) -> tuple[Any, Any]:
    try:
        near = balls(Sigma)
        return near.inv(), near.det().log()
    except ZeroDivisionError as error:
        raise TooFewBits(
            "the covariance of a class cannot be distinguished from a singular matrix"
        ) from error


def _power_of_2(exponent: int) -> Any:
    fmpq = flint().fmpq
    return fmpq(1 << exponent) if exponent >= 0 else fmpq(1, 1 << -exponent)
