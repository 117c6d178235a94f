"""The entries of the side file for NCA: weights and shares of its convex step, and their logarithms.

The side file is the JSON that `certify --side` writes for the verified checker (side.py). The step and its lower bound
are in methods/nca/certify.py. For a point i, p_ik is the softmax over all other points k, and p_i is the sum of p_ik
over the class of i. In the step the point has the factor c_i, which is p_i for criterion f and 1 for g, and the weights
w_ik = p_ik / p_i on its class. The lower bound uses numbers q_ik >= 0 with the sum 1 over k; the row q_i holds those
of point i. The entries of i are

    [i, z, v, [[k, lesser, z_k, share] for all k != i]]

with lesser and share over 2^WHOLE, and the logarithms z, v and z_k over 2^DIGITS:

- lesser is below c_i w_ik for k in the class of i. For other k it is 0 for criterion g. For criterion f it is below
  p_ik, because 1 minus the sum of these numbers is an upper bound U of p_i.
- share is c_i q_ik up to rounding. The shares of i have the same sum as `lesser` over the class of i.
- z is at least the logarithm of the sum of exponentials in a softmax, each divided by the largest one. For f it is the
  softmax p_ik over all other points, for g the softmax w_ik over the class of i.
- v is for f at least log(1 / U). For g it is at least log(1 / p_i). Numerator and denominator of p_i are each divided
  by their largest term.
- z_k is at least log(share + 1 - sum of `lesser` over all k). It is 0 if the share is 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from cvxml.core.balls import ends
from cvxml.core.exact import integers
from cvxml.core.integer_matrices import is_psd, of_sum, weighted_outer
from cvxml.core.saved import SavedSolution
from cvxml.methods.nca.exact import Mixture, Shares, exact_shares
from cvxml.methods.nca.instance import Instance
from cvxml.oracle.logarithms import exp_below, hint, log_above, log_sum_above, sum_beside_the_nearest

WHOLE = 128  # binary digits of weights and shares
DIGITS = 78  # binary digits of logarithms
FINEST = 72  # binary digits of theta

Lesser = dict[int, dict[int, int]]


def pickings(p: Instance, saved: SavedSolution) -> tuple[dict[str, Any], Shares]:
    """Return the entries of the side file for NCA, and the convex step in exact arithmetic, from which they are made.

    Call it within `precision()` of cvxml/core/balls.py, which sets the digits of balls (numbers with a proved error
    bound). p: the checked inputs. Raises ValueError for a limited rank or a similarity.
    """
    if p.m < p.X.shape[1]:
        raise ValueError("the verified checker takes nca with n_components=None, which is all features")
    if p.similarity is not None:
        raise ValueError("the verified checker takes nca with classes, not with a similarity")
    shares = exact_shares(p, saved.metric, saved.dual)
    unit = Fraction(2) ** shares.unit
    heads, lesser = {}, {}
    for i, row in shares.found.items():
        of_f = p.criterion == "f"
        reference = row.others if of_f else list(row.w)
        D = shares.D[i]
        z = log_sum_above([D[k] for k in reference], unit, DIGITS)
        least = min(D[k] for k in reference)
        far = {k: unit * (D[k] - least) + Fraction(z, 1 << DIGITS) for k in reference}
        lesser[i] = {k: int(exp_below(x) * (1 << WHOLE)) for k, x in far.items()}
        if of_f:
            beyond = sum(lesser[i].values()) - sum(lesser[i][k] for k in row.w)
            own = log_above(Fraction(1 << WHOLE, (1 << WHOLE) - beyond), DIGITS)
        else:
            sums = [sum_beside_the_nearest([D[k] for k in of], unit) for of in (row.others, row.w)]
            own = hint((sums[0] / sums[1]).log(), Fraction(1, len(D)), DIGITS)
        heads[i] = [i, hex(z), hex(own)]
    given = _given(p, shares, lesser)
    prices = []
    for i, row in shares.found.items():
        left = (1 << WHOLE) - sum(lesser[i].values())
        items = []
        for k in row.others:
            a = given[i].get(k, 0)
            # a share of 1 has the logarithm 0
            z = min(log_above(Fraction(a + left, 1 << WHOLE), DIGITS), 0) if a else 0
            items.append([k, hex(lesser[i].get(k, 0)), hex(z), hex(a)])
        prices.append([*heads[i], items])
    return {"over": hex(1 << WHOLE), "logs_over": hex(1 << DIGITS), "prices": prices}, shares


def _given(p: Instance, shares: Shares, lesser: Lesser) -> Lesser:
    """Return the numbers `share` of the module docstring, as {i: {k: whole number over 2^WHOLE}}.

    The lower bound holds if Z = sum_ik c_i (w_ik - q_ik) X_ik is psd, with X_ik = (x_i - x_k)(x_i - x_k)^T. Each q_i
    mixes two given rows; theta is the share of the second one. The first of the tried theta that makes Z psd is used.
    Without such a theta, or without rows to mix, the shares of i are its numbers `lesser`, for k in the class of i.

    shares: the step in exact arithmetic. lesser: {i: {k: `lesser` of the module docstring}}.
    """
    own = {i: {k: lesser[i][k] for k in row.w} for i, row in shares.found.items()}
    if shares.mixture is None:
        return own
    points, first = integers(p.X)[0], int(shares.mixture.theta * (1 << FINEST))
    for theta in _steps(first):
        mixed = _mixed(shares, shares.mixture, theta, own)
        weights = {
            (i, k): own[i].get(k, 0) - mixed[i].get(k, 0)
            for i, row in shares.found.items()
            for k in row.others
        }
        if is_psd(weighted_outer(points, weights)):
            return mixed
    return own


def _steps(first: int) -> Iterable[int]:
    """Yield values of theta as whole numbers over 2^FINEST: `first`, and then larger ones up to 1."""
    yield first
    for k in range(FINEST):
        if first + (1 << k) <= 1 << FINEST:
            yield first + (1 << k)


def _mixed(shares: Shares, mixture: Mixture, theta: int, own: Lesser) -> Lesser:
    """Return for each point i a mixture of two softmax rows, as {i: {k: whole number over 2^WHOLE}}.

    The rows `mixture.R[i]` and `mixture.interior[i]` come from the two dual variables of NCA, "R" and "interior". Their
    shares are 1 - theta and theta. theta: a whole number over 2^FINEST.

    own: {i: {k: whole number}}. The mixture for i is scaled so that its sum equals that of own[i].
    """
    found = {}
    for i, row in shares.found.items():
        pairs = zip(row.others, mixture.R[i], mixture.interior[i], strict=True)
        of_both = ((k, *(int(ends(q)[0] * (1 << 2 * WHOLE)) for q in both)) for k, *both in pairs)
        parts = {k: max(0, (a << FINEST) + (b - a) * theta) for k, a, b in of_both}
        found[i] = of_sum(parts, sum(own[i].values()))
    return found
