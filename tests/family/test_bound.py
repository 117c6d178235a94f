"""The certificate of the family: what it says when something in it is wrong."""

from __future__ import annotations

import numpy as np
import pytest

from cvxml.family import bound
from cvxml.family.losses import Hinge, Sum
from cvxml.methods import get
from tests.instances import random_data


def test_a_bound_above_what_is_attained_is_no_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    """The gap is a sum of parts that are not negative: it alone would not show that the bound is wrong."""
    X, y = random_data(3, n=18, d=3)
    method = get("lmnn")
    given = method.instance(X, y)
    solution = method.solve(given)
    assert solution.certificate.proves(1e-6)
    monkeypatch.setattr(Hinge, "conjugate", lambda self, a: Sum(1.01 * float(a.sum()), 0.0))
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
    proof = bound.prove(method.member(given), method.read(given, {"q": np.ones(len(given.pairs.dissimilar))}))  # type: ignore[attr-defined]
    assert proof.bound.value == -np.inf
    certificate = method.certify(given, np.eye(3) / 1e3, {"q": np.ones(len(given.pairs.dissimilar))})
    assert certificate.lower_bound == -np.inf
    assert not certificate.proves(1e-3)
