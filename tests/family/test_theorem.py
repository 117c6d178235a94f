"""The certificate of the family: what it says when something in it is wrong."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from cvxml.family.losses.hinge import Hinge
from cvxml.family.regularizers.linear import Linear
from cvxml.family.rows.base import Duals, Weights
from cvxml.family.rows.pairs import PairRows
from cvxml.family.theorem import theorem
from cvxml.family.theorem.theorem import Family, Term
from cvxml.methods import get
from cvxml.numbers.sums import Approximate
from tests.instances import random_data


def test_a_bound_above_what_is_attained_is_no_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    """The gap is a sum of parts that are not negative: it alone would not show that the bound is wrong."""
    X, y = random_data(3, n=18, d=3)
    method = get("lmnn")
    given = method.instance(X, y)
    solution = method.solve(given)
    assert solution.certificate.proves(1e-6)
    monkeypatch.setattr(Hinge, "conjugate", lambda self, a: 1.01 * a.sum())
    wrong = method.certify(given, solution.metric, solution.dual)
    assert wrong.lower_bound > wrong.objective
    assert wrong.gap < 0
    assert not wrong.proves(1e-3)


def test_prices_that_prove_nothing_bound_nothing() -> None:
    """Of data whose span double precision does not see the bound is -inf, never +inf."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((12, 2))
    X = np.column_stack([X, X[:, 0] + X[:, 1]])
    y = np.arange(12) % 2
    method = get("dml_eig")
    given = method.instance(X, y)
    proof = theorem.prove(
        method.member(given), method.read(given, {"q": np.ones(len(given.pairs.dissimilar))})
    )  # type: ignore[attr-defined]
    assert proof.bound.value == -np.inf
    certificate = method.certify(given, np.eye(3) / 1e3, {"q": np.ones(len(given.pairs.dissimilar))})
    assert certificate.lower_bound == -np.inf
    assert not certificate.proves(1e-3)


def test_a_sum_of_exact_numbers_is_off_by_its_own_rounding() -> None:
    value, error = theorem.added([Approximate(1.0, 0.0), Approximate(1e-17, 0.0)])
    assert abs(Fraction(value) - 1 - Fraction(1e-17)) <= Fraction(error)
    assert theorem.added([Approximate(1.0, np.inf), Approximate(1.0, 0.0)]) == Approximate(2.0, np.inf)
    assert theorem.added([Approximate(1e308, 0.0), Approximate(1e308, 0.0)]) == Approximate(np.inf, 0.0)
    assert theorem.added([Approximate(np.nan, 0.0), Approximate(1.0, np.nan)]) == Approximate(np.inf, 0.0)


def test_parts_that_are_exactly_0_are_no_gap_where_there_is_no_bound() -> None:
    """Prices that are not feasible leave parts too."""
    regularizer = Linear(np.array([[0.0], [1.0]]), Weights(np.array([[0, 1]]), np.ones(1)), "points differ")
    none = Family(regularizer, (Term(Hinge(1.0), PairRows(np.zeros((0, 2), dtype=np.intp))),))
    nothing = Duals(np.zeros(0), np.zeros(0, dtype=np.intp))
    assert theorem.certify(none, np.zeros((1, 1)), [nothing])[0].gap == 0
    unbounded = theorem.Proof(
        (nothing,), theorem.NO_BOUND, Weights(np.zeros((0, 2), dtype=np.intp), np.zeros(0))
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(theorem, "prove", lambda *a: unbounded)
        patch.setattr(
            theorem, "_at", lambda *a: theorem._Value(0.0, Approximate(0.0, 0.0), Approximate(0.0, 0.0))
        )
        found = theorem.certify(none, np.zeros((1, 1)), [nothing])[0]
    assert (found.lower_bound, found.gap) == (-np.inf, np.inf)
