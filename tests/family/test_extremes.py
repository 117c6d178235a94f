"""Numbers at the ends of what floats are: no false bound, no error of Python's, no share of a rounding that is lost."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx

import cvxml
from cvxml.family.losses.base import ConjugateOnRay
from cvxml.family.losses.hinge import Hinge
from cvxml.family.regularizers.frobenius import Flat, Frobenius
from cvxml.family.regularizers.linear import Linear
from cvxml.family.regularizers.logdet import distance
from cvxml.family.rows.base import Duals, Weights
from cvxml.family.rows.pairs import PairRows
from cvxml.family.theorem.theorem import Family, Term, certify
from tests.instances import random_data


@pytest.mark.parametrize("size", [1e-320, 1e-200, 1e-140])
def test_the_best_multiple_of_prices_next_to_nothing_is_found(size: float) -> None:
    X, y = random_data(3, n=12, d=2)
    best = cvxml.solve("lmnn:squared_hinge", X, y, tol=1e-8, n_neighbors=2)
    assert best.objective > 1
    dual = {**best.dual, "price": best.dual["price"] * size}
    found = cvxml.certify("lmnn:squared_hinge", X, y, best.metric, dual, n_neighbors=2)
    assert found.lower_bound <= best.objective
    assert found.proves(1e-6) == (size > 1e-300)  # below, prices have no digits


def test_prices_whose_sum_overflows_are_none() -> None:
    """They were taken as they are, with the bound of what they never pay for."""
    X = np.array([[0.0], [1.0], [1e8]])
    linear = Linear(X, Weights(np.array([[0, 1]]), np.ones(1)), "targets differ")
    ray = ConjugateOnRay(lambda t: t, 2.0)
    for w in (1e300, 1e290, np.inf):
        assert linear.best_multiple(Weights(np.array([[0, 2]]), np.array([w])), ray) == 0.0
    assert linear.best_multiple(Weights(np.array([[0, 2]]), np.array([1e100])), ray) == pytest.approx(1e-116)


def test_an_objective_that_overflows_has_no_bound() -> None:
    """The weight of the norm is infinite: a bound of infinity was said to be proved."""
    X = np.array([[0.0], [0.0], [2.0]]) * 1e-100  # the pair is one point: M = 0 is optimal
    frobenius = Frobenius(X, 1.0)
    family = Family(frobenius, (Term(Hinge(1.0), PairRows(np.array([[0, 1]]))),), radius=frobenius.around)
    found, _ = certify(family, np.zeros((1, 1)), [Duals(np.ones(1), np.array([0]))])
    assert found.objective == np.inf
    assert found.lower_bound <= 1  # which M = 0 attains
    assert not found.proves(1e-3)


@pytest.mark.parametrize(
    ("C", "unit"), [(1e-320, 1.0), (1e307, 1.0), (1.0, 1e81), (1.0, 1e-81), (1.0, 1e40), (1e95, 1.0)]
)
def test_frobmetric_refuses_what_overflows(C: float, unit: float) -> None:
    X, y = random_data(3, n=12, d=2)
    with pytest.raises(ValueError, match=r"^(X|C)\b"):
        cvxml.solve("frobmetric", X * unit, y, C=C)


@pytest.mark.parametrize(
    "gap", [1e-300, 1e-40, 1e-33, 1e-32, 3e-32, 1e-31, 1e-28, 1e-20, 1e-9, 1e-3, 1.0, 50.0]
)
def test_the_radius_of_log_det_holds_for_every_gap(gap: float) -> None:
    """The largest w with w + e^-w - 1 <= gap is below the one that the radius is made of: in balls."""
    before, ctx.prec = ctx.prec, 4000
    try:
        for close in np.linspace(1, 2, 30).tolist():
            radius = distance(np.eye(1), gap * close)
            w = (1 + arb(radius)).log()
            taken = w + (-w).exp() - 1
            assert taken >= arb(gap * close)
            assert taken <= arb(gap * close * (1 + 1e-2))
    finally:
        ctx.prec = before


def test_by_products_a_pair_is_off_by_no_less_than_what_its_entries_are() -> None:
    """Whatever is next to zero on the diagonal of what a metric may be off by: (1, 1) U (1, 1)^T is 2, not 0."""
    X = np.array([[1.0, 0.0], [0.0, -1.0], [-1.0, 0.0], [0.0, 1.0]])
    error = np.array([[0.0, 1.0], [1.0, 0.0]]) * 1e-6
    view = Flat(X, np.eye(2), error)
    for i in range(4):
        _, _, D, reach = view.products().below(np.array([i]), np.array([np.inf]))
        for j in range(4):
            exact = view.pairs(np.array([[i, j]]))
            size = np.abs(X[i]) + np.abs(X[j])
            assert abs(D[j] - exact.D[0]) <= reach[j]
            if i != j:
                assert Fraction(float(reach[j])) >= Fraction(float(size @ error @ size))


@pytest.mark.parametrize("method", ["mlsvm", "frobmetric", "lmnn", "itml"])
def test_terms_that_are_numbers_and_whose_sum_is_none_cost_infinity(method: str) -> None:
    X, y = random_data(3, n=12, d=2)
    best = cvxml.solve(method, X, y)
    for size in (1e150, 1e153, 1e154, 1e300, 1e307, 1e308):
        found = cvxml.certify(method, X, y, size * np.eye(2), best.dual)
        assert found.objective > 1e140
        assert found.lower_bound - found.value_rounding <= best.objective + best.certificate.value_rounding
        assert not found.proves(1e-3)
