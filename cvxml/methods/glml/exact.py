"""B of one Gaussian a class, from the data and in balls (cvxml/core/balls.py): as near to the true one as is wanted.

Means and covariances of floats are rational. Their inverses, the densities and B are balls. What no precision decides,
whether B is 0 or singular, is decided in rationals where that is possible. Nothing of model.py or curvature.py is used.

The bound and the objective of a local metric in balls (cvxml/core/balls.py): an interval that is a theorem.

For Gaussians at one query. Means and covariances are rational, inverses, log densities and B balls (gaussians.py); two
classes need no densities, their direction is G_1 - G_2. V = M M^T is psd whatever M is, and |V| > 0 is an integer that
is looked at; what is judged is V over |V|^(1/D), which has determinant 1:
    objective     (tr V^-1 B)^2 |V|^(2/D)
    lower bound   D u - D u log(u / |y|) + u log |sB| - y^2 / 4, where sB is proved positive definite, s = 1 or -1;
                  the sign of y only says which is meant, and is not looked at; else 0, as for any other y and u
    scale         (D |sB|^(1/D))^2, else |tr V^-1 B| ||V^-1|| |V|^(2/D): gap / scale is what it is in certify.py
Which of the two it is is proved: with more bits where few do not tell. M comes from floating point
(core/squares.py), or is given. Nothing of curvature.py or closed.py is used.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.balls import TooFewBits, ball, balls, ends, pivots, total, with_enough_bits
from cvxml.core.exact import Exact, SingularMetric, flint, root_upward
from cvxml.core.inputs import real_array
from cvxml.core.metric import EPS, FloatArray
from cvxml.core.result import Dual
from cvxml.core.squares import root_of, whole
from cvxml.methods.glml.instance import Instance

LARGEST = 12  # features, of a matrix of rationals that is inverted to decide what no precision decides


class _Fit(NamedTuple):
    """A class, as flint's rationals."""

    mean: list[Any]
    Sigma: Any
    prior: Any  # but for the same factor for every class


class _Class(NamedTuple):
    """log(prior p_c(x)) but for a constant, a ball, and G_c(x), a matrix of balls."""

    log_p: Any
    G: Any


class Near(NamedTuple):
    """Floats, and how far from them the true numbers may be, entry by entry."""

    B: FloatArray  # (d, d)
    off: FloatArray  # (d, d)


class Gaussians:
    """The classes of an instance with model="gaussian"."""

    def __init__(self, p: Instance):
        self.fits = [_fit(p, c) for c in range(int(p.y.max()) + 1)]
        self.inverses: dict[int, list[tuple[Any, Any]]] = {}

    def nearest(self, x: FloatArray) -> Near | None:
        """B over its norm at x (d,), or -B, in floats; None where no number of bits tells it from 0."""
        try:
            return with_enough_bits(lambda: self._nearest(x))
        except TooFewBits:
            return None

    def _nearest(self, x: FloatArray) -> Near:
        rows = self.unit_B(x).tolist()
        B = np.array([[float(entry.mid()) for entry in row] for row in rows])
        B = (B + B.T) / 2
        off = np.array(
            [
                [float((entry - value).abs_upper()) for entry, value in zip(*both, strict=True)]
                for both in zip(rows, B.tolist(), strict=True)
            ]
        )
        if not (off <= 2 * EPS * np.abs(B) + EPS**2).all():
            raise TooFewBits("B is not known to the last digit of a float")
        return Near(B, (1 + EPS) * off)

    def unit_B(self, x: FloatArray) -> Any:
        """B over its norm at x (d,), or -B where there are two classes, in balls. Within `precision`."""
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
        norm = total(products(B, B)).sqrt()
        if not norm > 0:
            raise TooFewBits("B cannot be told from 0")
        return B / norm

    def _classes(self, x: FloatArray) -> list[_Class]:
        found = []
        for fit, (S, log_det) in zip(self.fits, self._inverses(), strict=True):
            far = flint().arb_mat([[ball(v)] for v in _away(fit, x)])
            pull = S * far
            square = (far.transpose() * pull)[0, 0]
            log_p = ball(fit.prior).log() - log_det / 2 - square / 2
            found.append(_Class(log_p, pull * pull.transpose() - S))
        return found

    def _inverses(self) -> list[tuple[Any, Any]]:
        """Sigma^-1 and log |Sigma| of each class."""
        bits = flint().ctx.prec
        if bits not in self.inverses:
            self.inverses[bits] = [_inverse(fit.Sigma) for fit in self.fits]
        return self.inverses[bits]

    def vanishes(self, x: FloatArray) -> bool:
        """True only if B is 0, exactly: of every two classes the curvatures agree, or the densities do.

        By Lindemann's theorem densities agree only if their exponents do and their factors do.
        """
        if len(x) > LARGEST:
            return False
        G, densities = [], []
        for fit in self.fits:
            S, pull, far = _pulled(fit, x)
            G.append(pull * pull.transpose() - S)
            densities.append(((far.transpose() * pull)[0, 0], fit.prior**2 / fit.Sigma.det()))
        alike = (
            G[i] == G[j] or (len(G) > 2 and densities[i] == densities[j])
            for i, j in itertools.combinations(range(len(G)), 2)
        )
        return all(alike)

    def singular(self, x: FloatArray) -> bool:
        """True only if B is semidefinite and singular, exactly; looked at for two classes, where B is rational."""
        if len(self.fits) != 2 or len(x) > LARGEST:
            return False
        one, two = (pull * pull.transpose() - S for S, pull, _ in (_pulled(fit, x) for fit in self.fits))
        # all roots are real: the coefficients of a semidefinite matrix alternate, or have one sign
        coefficients = (one - two).charpoly().coeffs()
        signs = [(entry > 0) - (entry < 0) for entry in coefficients]
        turned = [s if k % 2 else -s for k, s in enumerate(signs)]
        one_sign = any(not (1 in each and -1 in each) for each in (signs, turned))
        return signs[0] == 0 and one_sign

    def indefinite(self, B: Any) -> bool:
        """True only if some direction is proved to have e^T B e > 0 and another < 0. Within `precision`."""
        rough = np.array([[float(entry.mid()) for entry in row] for row in B.tolist()])
        vectors = np.linalg.eigh((rough + rough.T) / 2)[1]
        ends = [flint().arb_mat([[ball(v)] for v in vectors[:, k].tolist()]) for k in (0, -1)]
        low, high = ((e.transpose() * B * e)[0, 0] for e in ends)
        return bool(low < 0 and high > 0)


def products(A: Any, B: Any) -> list[Any]:
    """Entry by entry."""
    return [a * b for a, b in zip(A.entries(), B.entries(), strict=True)]


def _fit(p: Instance, c: int) -> _Fit:
    fmpq, fmpq_mat = flint().fmpq, flint().fmpq_mat
    points, at = whole(p.X[p.y == c])
    n, d = points.nrows(), points.ncols()
    sums = flint().fmpz_mat(1, n, [1] * n) * points
    scatter = points.transpose() * points * n - sums.transpose() * sums
    alpha, unit = Fraction(p.params["alpha"]), _power(2 * at)
    ridge = fmpq(alpha.numerator, alpha.denominator)
    Sigma = [
        [fmpq(scatter[i, j], n * n) * unit + (ridge if i == j else 0) for j in range(d)] for i in range(d)
    ]
    return _Fit([fmpq(sums[0, j], n) * _power(at) for j in range(d)], fmpq_mat(Sigma), _prior(p, c))


def _prior(p: Instance, c: int) -> Any:
    priors, fmpq = p.params["priors"], flint().fmpq
    if priors is None:
        return fmpq(1)
    share = Fraction(np.bincount(p.y).tolist()[c] if isinstance(priors, str) else float(priors[c]))
    return fmpq(share.numerator, share.denominator)


def _away(fit: _Fit, x: FloatArray) -> list[Any]:
    """x - mu."""
    exact = (Fraction(v) for v in x.tolist())
    return [flint().fmpq(v.numerator, v.denominator) - mu for v, mu in zip(exact, fit.mean, strict=True)]


def _pulled(fit: _Fit, x: FloatArray) -> tuple[Any, Any, Any]:
    """S, S (x - mu), x - mu, as rationals."""
    S, far = fit.Sigma.inv(), flint().fmpq_mat([[v] for v in _away(fit, x)])
    return S, S * far, far


def _inverse(Sigma: Any) -> tuple[Any, Any]:
    try:
        near = balls(Sigma)
        return near.inv(), near.det().log()
    except ZeroDivisionError as error:
        raise TooFewBits("the covariance of a class cannot be told from a singular one") from error


def _power(exponent: int) -> Any:
    """2^exponent, as flint's rational."""
    fmpq = flint().fmpq
    return fmpq(1 << exponent) if exponent >= 0 else fmpq(1, 1 << -exponent)


def exact_interval(p: Instance, A: FloatArray, dual: Dual, *, root: ArrayLike | None = None) -> Exact:
    """The interval for the metric `A` (d, d), from any "y" and "u".

    root: M (d, r) where it is not to be found here. Raises ValueError for several queries, for another model than
    Gaussians, for a singular metric, where B is 0, and where no number of bits decides what B is.
    """
    if not p.one:
        raise ValueError("the exact mode of glml judges one metric at one query: give query of shape (d,)")
    if p.params["model"] != "gaussian":
        raise ValueError('the exact mode of glml is for model="gaussian", one Gaussian for each class')
    y, u = (_number(dual, name) for name in ("y", "u"))
    M = root_of(A, root)
    rows, _ = whole(M)
    V = rows * rows.transpose()  # in units of a power of two, which cancel below
    det = int(V.det())
    if det == 0:
        raise SingularMetric(
            "M M^T, of which the exact mode judges, is singular; a local metric has determinant 1"
        )
    model, x = Gaussians(p), p.Q[0]
    if model.vanishes(x):
        raise ValueError(
            "B is 0 here, exactly: every metric is optimal, and there is no scale to judge one by"
        )
    return with_enough_bits(lambda: _interval(model, x, A, V, det, y, u))


def _interval(model: Gaussians, x: FloatArray, A: FloatArray, V: Any, det: int, y: float, u: float) -> Exact:
    """Within `precision`."""
    d = len(A)
    B = model.unit_B(x)
    size = (ball(flint().fmpz(det)).log() / d).exp()
    inverse = balls(V.inv())
    t = total(products(inverse, B)) * size
    norm = total(products(inverse, inverse)).sqrt() * size
    off = balls(V) / size - flint().arb_mat([[ball(a) for a in row] for row in A.tolist()])
    distance = root_upward(max(ends(total(products(off, off)))[1], Fraction(0)))
    objective = ends(t * t)[1]
    log_det = _log_det(B)
    if log_det is None:
        if not (model.indefinite(B) or model.singular(x)):
            raise TooFewBits("whether B is definite is not proved")
        scale = ends(norm)[0] * max(abs(end) for end in ends(t))
        return Exact(Fraction(0), objective, distance, scale)
    scale = ends((2 * log_det / d).exp() * d * d)[0]
    return Exact(_bound(d, log_det, y, u), objective, distance, scale)


def _log_det(B: Any) -> Any:
    """log |sB| where B or -B is proved positive definite, else None."""
    for s in (1, -1):
        found = pivots(B * s)
        if found is not None:
            return total([pivot.log() for pivot in found])
    return None


def _bound(d: int, log_det: Any, y: float, u: float) -> Fraction:
    if not (math.isfinite(y) and math.isfinite(u) and u > 0 and y != 0):
        return Fraction(0)
    price, along = ball(u), ball(abs(y))
    value = price * d - price * d * (price.log() - along.log()) + price * log_det - along * along / 4
    return max(Fraction(0), ends(value)[0])


def _number(dual: Dual, name: str) -> float:
    if not isinstance(dual, Mapping) or name not in dual:
        raise ValueError(f'the dual must be a mapping with "y" and "u"; there is no {name!r}')
    values = real_array(dual[name], f"dual {name!r}")
    if values.shape != (1,):
        raise ValueError(f"dual {name!r} must have shape (1,), one a query; got {values.shape}")
    return float(values[0])
