"""The bound and the objective of a local metric in balls (cvxml/core/balls.py): an interval that is a theorem.

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

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from numpy.typing import ArrayLike

from cvxml.core.balls import TooFewBits, ball, balls, ends, pivots, total, with_enough_bits
from cvxml.core.exact import Exact, SingularMetric, flint, root_upward
from cvxml.core.inputs import real_array
from cvxml.core.metric import FloatArray
from cvxml.core.result import Dual
from cvxml.core.squares import root_of, whole
from cvxml.methods.glml.gaussians import Gaussians, products
from cvxml.methods.glml.instance import Instance


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
