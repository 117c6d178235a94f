"""The bound and the objective of a local metric in balls (cvxml/balls.py): an interval that is a theorem.

For Gaussians at one query. Means, covariances and their inverses are rational, log densities and B balls; two classes
need no densities, their direction is G_1 - G_2. V = M M^T is psd whatever M is, and |V| > 0 is an integer that is
looked at; what is judged is V over |V|^(1/D), which has determinant 1:
    objective     (tr V^-1 B)^2 |V|^(2/D)
    lower bound   D u - D u log(u / |y|) + u log |sB| - y^2 / 4, where sB is proved positive definite, s = 1 or -1;
                  the sign of y only says which is meant, and is not looked at; else 0, as for any other y and u
    scale         (D |sB|^(1/D))^2, else |tr V^-1 B| ||V^-1|| |V|^(2/D): gap / scale is what it is in certify.py
M comes from floating point (squares.py), or is given. Nothing of curvature.py or closed.py is used.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cvxml.balls import ball, balls, ends, pivots, precision, total
from cvxml.exact import Exact, flint, root_upward
from cvxml.inputs import real_array
from cvxml.methods.glml.instance import Instance
from cvxml.metric import FloatArray
from cvxml.result import Dual
from cvxml.squares import root_of, whole


class _Class(NamedTuple):
    """log(prior p_c(x)) but for a constant, a ball, and G_c(x), a matrix of balls."""

    log_p: Any
    G: Any


def exact_interval(p: Instance, A: FloatArray, dual: Dual, *, root: ArrayLike | None = None) -> Exact:
    """The interval for the metric `A` (d, d), from any "y" and "u".

    root: M (d, r) where it is not to be found here. Raises ValueError for several queries, for another model than
    Gaussians, for a singular metric, and where B cannot be told from 0.
    """
    if not p.one:
        raise ValueError("the exact mode of glml judges one metric at one query: give query of shape (d,)")
    if p.params["model"] != "gaussian":
        raise ValueError('the exact mode of glml is for model="gaussian", one Gaussian for each class')
    y, u = (_number(dual, name) for name in ("y", "u"))
    d = len(A)
    M = root_of(A, root)
    rows, _ = whole(M)
    V = rows * rows.transpose()  # in units of a power of two, which cancel below
    det = int(V.det())
    if det == 0:
        raise ValueError("the metric is singular; a local metric has determinant 1")
    with precision():
        B = unit_B(p)
        size = (ball(flint().fmpz(det)).log() / d).exp()
        inverse = balls(V.inv())
        t = total(_products(inverse, B)) * size
        norm = total(_products(inverse, inverse)).sqrt() * size
        off = balls(V) / size - flint().arb_mat([[ball(a) for a in row] for row in A.tolist()])
        distance = root_upward(max(ends(total(_products(off, off)))[1], Fraction(0)))
        objective = ends(t * t)[1]
        log_det = _log_det(B)
        if log_det is None:
            scale = ends(norm)[0] * max(abs(end) for end in ends(t))
            return Exact(Fraction(0), objective, distance, scale)
        scale = ends((2 * log_det / d).exp() * d * d)[0]
        return Exact(_bound(d, log_det, y, u), objective, distance, scale)


def unit_B(p: Instance) -> Any:
    """B over its norm at the query, or -B where there are two classes, in balls. Within `precision`."""
    classes = [_class(p, c) for c in range(int(p.y.max()) + 1)]
    if len(classes) == 2:
        B = classes[0].G - classes[1].G
    else:
        top = max(each.log_p.mid() for each in classes)
        densities = [(each.log_p - top).exp() for each in classes]
        B = flint().arb_mat(p.X.shape[1], p.X.shape[1])
        for i, j in itertools.combinations(range(len(classes)), 2):
            weight = densities[i] * densities[j] * (densities[j] - densities[i])
            B += (classes[i].G - classes[j].G) * weight
    norm = total(_products(B, B)).sqrt()
    if not norm > 0:
        raise ValueError("the classes have the same densities here, as far as is proved: B is 0")
    return B / norm


def _class(p: Instance, c: int) -> _Class:
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
    x = [Fraction(v) for v in p.Q[0].tolist()]
    z = [fmpq(v.numerator, v.denominator) - fmpq(sums[0, j], n) * _power(at) for j, v in enumerate(x)]
    try:
        S = fmpq_mat(Sigma).inv()
    except ZeroDivisionError as error:
        raise ValueError("the covariance of a class is singular; give alpha > 0") from error
    far = fmpq_mat([[v] for v in z])
    pull = S * far
    square = (far.transpose() * pull)[0, 0]
    log_det = ball(fmpq_mat(Sigma).det()).log()
    pulled = balls(pull)
    return _Class(_log_prior(p, c) - log_det / 2 - ball(square) / 2, pulled * pulled.transpose() - balls(S))


def _power(exponent: int) -> Any:
    """2^exponent, as flint's rational."""
    fmpq = flint().fmpq
    return fmpq(1 << exponent) if exponent >= 0 else fmpq(1, 1 << -exponent)


def _log_prior(p: Instance, c: int) -> Any:
    """But for the same constant for every class."""
    priors = p.params["priors"]
    if priors is None:
        return ball(0)
    return ball(np.bincount(p.y).tolist()[c] if isinstance(priors, str) else float(priors[c])).log()


def _products(A: Any, B: Any) -> list[Any]:
    return [a * b for a, b in zip(A.entries(), B.entries(), strict=True)]


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
