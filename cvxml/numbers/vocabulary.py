"""Functions for the formulas of losses and regularizers: one formula is evaluated with three kinds of numbers.

| kind       | numbers                          | used for            | result                              |
|---|---|---|---|
| floats     | arrays of floats                 | searches of solvers | approximate, proves nothing         |
| enclosures | `Enclosure` (enclosures.py)      | certificates        | the exact result is in an enclosure |
| exact      | object arrays of fmpq, or of arb | exact mode          | exact, or in a ball                 |

fmpq is a rational number of python-flint, and arb is its ball: an interval that contains the exact number.

A formula may use + - * /, indices and these functions. Its constants enter by `like`. An exact number stays rational
until a root, a logarithm or an exponential is taken. From there on it is a ball.

x is an array of numbers of one kind. The docstring of a function that acts on each entry of x is its formula.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from cvxml.core.balls import ball
from cvxml.core.exact import flint
from cvxml.core.metric import EPS
from cvxml.numbers import enclosures
from cvxml.numbers.enclosures import Enclosure


def exact(values: Iterable[Any]) -> Any:
    """Return fractions, integers or floats (t,) as an object array of flint's rationals, without rounding."""
    given = [_rational(value) for value in values]
    found = np.empty(len(given), dtype=object)
    found[:] = given
    return found


def _rational(value: Any) -> Any:
    module = flint()
    if isinstance(value, module.fmpq | module.arb):
        return value
    if isinstance(value, int | np.integer):
        return module.fmpq(int(value))
    fraction = Fraction(value)
    return module.fmpq(fraction.numerator, fraction.denominator)


def is_exact(x: Any) -> bool:
    return not isinstance(x, Enclosure | float | int) and np.asarray(x).dtype.hasobject


def like(x: Any, constant: Any, rounded: int = 0) -> Any:
    """Return `constant`, a float, a fraction or an array of them, as numbers of the kind of x.

    rounded: the number of roundings between the exact constant and its float; each adds EPS |constant| to the radius of
        an enclosure. The number 0 is enough for a constant that was rounded once, if a whole loss is multiplied by it.
        The error bound of a multiplication leaves room for one more rounding (enclosures.py).
    """
    if is_exact(x):
        return _rational(constant) if np.ndim(constant) == 0 else _exact_array(constant)
    number = float(constant) if np.ndim(constant) == 0 else np.asarray(constant, dtype=np.float64)
    if not isinstance(x, Enclosure):
        return number
    return Enclosure(number, rounded * EPS * np.abs(number)) if rounded else Enclosure(number)


def _exact_array(constants: Any) -> Any:
    table = np.asarray(constants, dtype=object)
    return exact(table.ravel()).reshape(table.shape)


def floats(x: Any) -> Any:
    """Return floats near the numbers x, for purposes other than a proof."""
    if isinstance(x, Enclosure):
        return x.mid
    return np.array([float(ball(value)) for value in x.ravel()]).reshape(x.shape) if is_exact(x) else x


def balls(x: Any) -> Any:
    """Return exact numbers as balls, and other numbers unchanged.

    A sum of many balls needs little memory. The common denominator of a sum of many fractions could fill it.
    """
    return _each(x, ball) if is_exact(x) else x


def _each(x: Any, function: Callable[[Any], Any]) -> Any:
    if not isinstance(x, np.ndarray):
        return function(x)
    found = np.empty(x.shape, dtype=object)
    found.ravel()[:] = [function(value) for value in x.ravel()]
    return found


def _middle(enclosed: Callable[[Enclosure], Enclosure]) -> Callable[[Any], Any]:
    """Return a function of floats: the midpoints of the enclosures that `enclosed` returns."""

    def function(x: Any) -> Any:
        with np.errstate(all="ignore"):
            return enclosed(Enclosure(x)).mid

    return function


def _x_log_x(x: Any) -> Any:
    return ball(x) * ball(x).log() if x != 0 else x


def _softplus(x: Any) -> Any:
    """log(1 + e^x) = x + log(1 + e^-x), which does not overflow if x is large."""
    return ball(x) + ball(-x).exp().log1p() if x > 0 else ball(x).exp().log1p()


def _function(
    enclosed: Callable[[Enclosure], Enclosure], of_floats: Callable[[Any], Any], of_one: Callable[[Any], Any]
) -> Callable[[Any], Any]:
    """Return a function of an array of any of the three kinds, made from a function for each kind.

    enclosed: for enclosures. of_floats: for arrays of floats. of_one: for a single exact number.
    """

    def function(x: Any) -> Any:
        if isinstance(x, Enclosure):
            return enclosed(x)
        return _each(x, of_one) if is_exact(x) else of_floats(x)

    return function


square = _function(Enclosure.square, np.square, lambda x: x * x)
sqrt = _function(Enclosure.sqrt, np.sqrt, lambda x: ball(x).sqrt())
log = _function(Enclosure.log, np.log, lambda x: ball(x).log())
log1p = _function(Enclosure.log1p, np.log1p, lambda x: ball(1 + x).log())
exp = _function(Enclosure.exp, np.exp, lambda x: ball(x).exp())
softplus = _function(Enclosure.softplus, lambda x: np.logaddexp(0.0, x), _softplus)
exp_excess = _function(Enclosure.exp_excess, _middle(Enclosure.exp_excess), lambda x: ball(x).exp() - 1 - x)
log_excess = _function(
    Enclosure.log_excess, _middle(Enclosure.log_excess), lambda x: ball(x - 1) - ball(x).log()
)
x_log_x = _function(Enclosure.x_log_x, enclosures.x_log_x, _x_log_x)
entropy = _function(Enclosure.entropy, enclosures.entropy, lambda x: -_x_log_x(x) - _x_log_x(1 - x))


def at_least(x: Any, end: float) -> Any:
    """max(x, end)"""
    if isinstance(x, Enclosure):
        return x.at_least(end)
    return _each(x, lambda value: _larger(value, end)) if is_exact(x) else np.maximum(x, end)


def at_most(x: Any, end: float) -> Any:
    """min(x, end)"""
    if isinstance(x, Enclosure):
        return x.at_most(end)
    return _each(x, lambda value: -_larger(-value, -end)) if is_exact(x) else np.minimum(x, end)


def _larger(value: Any, end: Any) -> Any:
    other = _rational(end)
    if isinstance(value, flint().arb) or isinstance(other, flint().arb):
        return ball(value).max(ball(other))
    return max(value, other)


def pos(x: Any) -> Any:
    """max(x, 0)"""
    return at_least(x, 0.0)


def clip(x: Any, low: float, high: float) -> Any:
    return at_most(at_least(x, low), high)


def choose(x: Any, a: Any, b: Any) -> Any:
    """a where x > 0, else b. Exact x must be rational."""
    return enclosures.choose(x, a, b) if isinstance(x, Enclosure) else np.where(x > 0, a, b)


def where(mask: Any, a: Any, b: Any) -> Any:
    return enclosures.where(mask, a, b) if isinstance(a, Enclosure) else np.where(mask, a, b)


def total(x: Any, axis: int | None = None) -> Any:
    if isinstance(x, Enclosure) or axis is not None or not is_exact(x):
        return x.sum(axis)
    return sum(x.ravel().tolist(), _rational(0))


def matmul(a: Any, b: Any) -> Any:
    """The product of two matrices (p, q) and (q, r). Exact entries must be rational."""
    if not is_exact(a):
        return a @ b
    (p, q), (_, r) = a.shape, b.shape
    product = flint().fmpq_mat(p, q, a.ravel().tolist()) * flint().fmpq_mat(q, r, b.ravel().tolist())
    found = np.empty((p, r), dtype=object)
    found[:] = product.tolist()
    return found


def fraction(x: Any) -> Any:
    """Return x, a rational number of python-flint or an integer, as a Fraction; a ball is returned unchanged."""
    if isinstance(x, int):
        return Fraction(x)
    return x if isinstance(x, flint().arb) else Fraction(int(x.p), int(x.q))


def least(x: Any) -> Any:
    return -(-x).max() if isinstance(x, Enclosure) else x.min()


def log_sum_exp(x: Any, counts: Any) -> Any:
    """log sum e^x for each row of x (g, n): (g,). The sum is over the entries where the mask `counts` (g, n) is True.

    Exact x must be rational.
    """
    if isinstance(x, Enclosure):
        return x.log_sum_exp(counts)
    if not is_exact(x):
        return _middle(lambda x: x.log_sum_exp(counts))(x)
    found = np.empty(len(x), dtype=object)
    found[:] = [_log_sum_exp(row[some].tolist()) for row, some in zip(x, counts, strict=True)]
    return found


def _log_sum_exp(row: list[Any]) -> Any:
    largest = max(row)
    return ball(largest) + sum((ball(x - largest).exp() for x in row), ball(0)).log()


def group_sum(x: Any, group: Any, count: int) -> Any:
    """The sum of the numbers x (t,) in each group, as an array (count,).

    group: (t,), the group 0..count - 1 of each number.
    """
    if isinstance(x, Enclosure):
        return x.group_sum(group, count)
    if not is_exact(x):
        return np.bincount(group, x, count)
    sums = exact([0] * count)
    np.add.at(sums, group, x)
    return sums


def group_max(x: Any, group: Any, count: int, start: float = -np.inf) -> Any:
    """The largest of `start` and the numbers x (t,) in each group, as an array (count,).

    group: (t,), the group 0..count - 1 of each number. If x is exact and start is infinite, each group needs a number.
    """
    if isinstance(x, Enclosure):
        return x.group_max(group, count, start)
    if not is_exact(x):
        found = np.full(count, start)
        np.maximum.at(found, group, x)
        return found
    most: list[Any] = [None if np.isinf(start) else _rational(start)] * count
    for g, value in zip(np.asarray(group).tolist(), x.tolist(), strict=True):
        most[g] = value if most[g] is None else _larger(value, most[g])
    found = np.empty(count, dtype=object)
    found[:] = most
    return found


def group_min(x: Any, group: Any, count: int) -> Any:
    return -group_max(-x, group, count)
