"""The entries of the side file for ITML, SDML and LSML, with log determinants.

The side file is the JSON that `certify --side` writes for the verified checker (side.py). That program proves from it
an interval for the optimum. Every number in the entries is an integer, written as a hexadecimal text.

The lower bound of each method contains log det Z for a matrix Z that the dual variables determine, and its objective
contains log det A for the metric A. The checker does not compute logarithms, so the file gives two upper bounds:
"log_bound" of -log det Z, and "log_metric" of -log det A. They are divided by "logs_over" = 2^DIGITS. For SDML
Z = S + U, where S follows from the data and U is the dual variable. For ITML and LSML, with the prior A_0, they are
upper bounds of -log det(A_0 Z) and of -(log det A - log det A_0).

The dual variables are also integers. They are divided by the integer in the field "over":

- ITML: "prices" has for each pair, similar pairs first, two logarithms and the dual variable lambda. Let t = 1 for a
  similar pair and -1 for a dissimilar one, xi_0 its bound, and xi its slack variable at the metric. The first
  logarithm, for the lower bound, is that of 1 / (1 - t lambda xi_0 / gamma). The second one, for the metric, is that of
  xi_0 / xi.
- SDML: "U" (d, d).
- LSML: "prices" has two dual variables for each quadruplet: w s of the near pair, and w s / (1 - s) of the far pair.
  Here w is the weight of the quadruplet and 0 <= s < 1.

A hint is a number slightly above a logarithm, which the checker verifies with its own exponential (logarithms.py). A
ball is a number with a proved error bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, cast

import numpy as np

from cvxml.core.balls import ball, ends, with_enough_bits
from cvxml.core.exact import integers
from cvxml.core.inputs import dual_array
from cvxml.core.integer_matrices import whole
from cvxml.core.metric import FloatArray
from cvxml.core.saved import SavedSolution
from cvxml.family.regularizers.logdet import LogDet
from cvxml.family.rows.base import Duals, joined
from cvxml.family.theorem.exact import feasible_duals
from cvxml.family.theorem.theorem import Family, prove
from cvxml.methods import get_exact, itml, lsml, sdml
from cvxml.methods.sdml.box_proof import to_domain
from cvxml.numbers.rational import judged, plane
from cvxml.solvers.family_method import FamilyMethod

DIGITS = 78  # binary digits of logarithms
# The checker's exponential of z is too small by a share of at most z^2 / 2^91, plus 2^-100.
SLACK, SHARE = 2, 1 << (90 - DIGITS)


def above(log: Any) -> str:
    """Return a hint for a logarithm: a slightly larger number over 2^DIGITS, as a hexadecimal text.

    log: a ball that contains the logarithm.
    """
    top = ends(log)[1]
    return hex(math.ceil(top * (1 << DIGITS)) + SLACK + math.ceil(top * top / SHARE))


def of_family(given: Any, saved: SavedSolution) -> dict[str, Any]:
    """Return the entries of the side file for ITML or LSML, from the checked inputs and the saved solution."""
    of = get_exact(saved.method)
    assert isinstance(of, FamilyMethod)
    A, member, family = of.matrix(given, saved.metric), of.member(given), of.member(given, Fraction)
    proof = prove(member, of.read(given, saved.dual), of.strict(given, saved.dual))
    duals = feasible_duals(family, proof.duals)
    prices = PRICES[saved.method](given, family, duals, A)
    over = math.lcm(*(price.denominator for *_, row in prices for price in row))
    G = joined([term.rows.weights(each) for term, each in zip(family.terms, duals, strict=True)])
    regularizer = cast(LogDet, family.regularizer)
    metric, (prior, at) = regularizer.exact_metric(A, None), whole(given.prior)
    relative = (
        ball(metric.V.det()).log() - ball(prior.det()).log() + len(A) * (metric.at - at) * ball(2).log()
    )
    return {
        "over": hex(over),
        "prices": [[*logs, *(hex(int(price * over)) for price in row)] for logs, row in prices],
        "logs_over": hex(1 << DIGITS),
        "log_bound": above(-ball(regularizer.exact_bound(plane(given.X), G))),
        "log_metric": above(-relative),
    }


Rows = Sequence[tuple[tuple[str, ...], tuple[Fraction, ...]]]


def _of_pairs(given: itml.Instance, family: Family, duals: Sequence[Duals], A: FloatArray) -> Rows:
    """Return for each pair of ITML its two logarithms, as hexadecimal texts, and lambda (module docstring).

    family: the problem in fractions. duals: the dual variables of the similar and of the dissimilar pairs. A: the
    metric (d, d).
    """
    regularizer, gamma = cast(LogDet, family.regularizer), Fraction(given.gamma)
    at = regularizer.exact_distances(plane(given.X), regularizer.exact_metric(A, None))
    rows: list[tuple[tuple[str, ...], tuple[Fraction, ...]]] = []
    kinds = (
        (given.pairs.similar, given.differ),
        (given.pairs.dissimilar, np.arange(len(given.pairs.dissimilar))),
    )
    for (pairs, places), each, bound, sign in zip(
        kinds, duals, map(Fraction, given.bounds), (1, -1), strict=True
    ):
        prices = dict(zip(places[each.key].tolist(), (abs(a) / bound for a in each.a.tolist()), strict=True))
        for place, (i, j) in enumerate(pairs.tolist()):
            price, D = prices.get(place, Fraction(0)), at.unit * at.D[i][j]
            ratio = D / bound
            beyond = max(ratio, Fraction(1)) if sign == 1 else min(ratio, Fraction(1))
            parts = (1 - sign * price * bound / gamma, beyond)
            logs = tuple("0x0" if part == 1 else above(-ball(part).log()) for part in parts)
            rows.append((logs, (price,)))
    return rows


def _of_quadruplets(given: lsml.Instance, _: Family, duals: Sequence[Duals], __: FloatArray) -> Rows:
    """Return for each quadruplet an empty tuple of logarithms, and its two dual variables (module docstring)."""
    found, half = dict(zip(duals[0].key.tolist(), duals[0].a.tolist(), strict=True)), len(given.counts)
    of = {place: (-found.get(k, 0), found.get(half + k, 0)) for k, place in enumerate(given.counts.tolist())}
    prices = (of.get(k, (0, 0)) for k in range(len(given.quadruplets)))
    return [((), (Fraction(a), Fraction(b))) for a, b in prices]


PRICES: dict[str, Callable[[Any, Family, Sequence[Duals], FloatArray], Rows]] = {
    "itml": _of_pairs,
    "lsml": _of_quadruplets,
}


def of_box(given: sdml.Instance, saved: SavedSolution) -> dict[str, Any]:
    """Return the entries of the side file for SDML, from the checked inputs and the saved solution."""
    d = len(given.prior)
    own = dual_array(saved.dual, "U", given.prior.shape)
    U = to_domain(given.S, given.rounded, given.lam, given.start, own)
    metric = judged(np.asarray(saved.metric))
    rows, at = integers(U)
    shift = max(at, 0)
    return {
        "over": hex(1 << max(-at, 0)),
        "U": [[hex(entry << shift) for entry in row] for row in rows],
        "logs_over": hex(1 << DIGITS),
        "log_bound": with_enough_bits(lambda: above(d - sdml.bound(given, U))),
        "log_metric": above(-ball(metric.V.det()).log() - d * metric.at * ball(2).log()),
    }
