"""The parts of the exact mode: feasible prices, rounding, distances, and its verdicts where they are close."""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import cvxml
from cvxml.core.exact import root_upward, upward
from cvxml.core.integer_matrices import distance_to_square, root_of
from cvxml.core.report import Verdict
from cvxml.methods.kernel_mlsvm.exact import BITS, whole_duals
from cvxml.oracle.saved import recertify
from tests.instances import random_data


@pytest.mark.parametrize("seed", range(20))
def test_prices_become_feasible_to_the_last_bit_whatever_they_are(seed: int) -> None:
    """Up to ten times too large, unbalanced, of any size: in integers the sums agree and stay below 1/n."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 9))
    index = np.array([(i, j) for i in range(n) for j in range(n) if i != j])
    u, w = (rng.exponential(1, len(index)) * 10.0 ** rng.uniform(-30, 1, len(index)) for _ in range(2))
    away = index[:, 1] % 2 == 0
    signed, total = whole_duals((u[away], index[away], w[~away], index[~away]), n)
    ups, downs = np.zeros(n, dtype=object), np.zeros(n, dtype=object)
    for (i, j), value in signed.items():
        assert (value >= 0) == (j % 2 == 0) or value == 0
        (ups if j % 2 == 0 else downs)[i] += abs(value)
    assert (ups == downs).all()
    assert all(Fraction(int(s), 1 << BITS) <= Fraction(1, n) for s in ups)
    assert sum(int(s) for s in ups) == total > 0


@pytest.mark.parametrize("seed", range(10))
def test_rounding_of_fractions_is_upward_and_by_one_float_at_most(seed: int) -> None:
    rng = np.random.default_rng(seed)
    value = Fraction(int(rng.integers(1, 2**62)), int(rng.integers(1, 2**62))) * Fraction(10) ** int(
        rng.integers(-40, 40)
    )
    up, root = upward(value), root_upward(value)
    assert Fraction(up) >= value > Fraction(np.nextafter(up, 0.0))
    assert Fraction(root) ** 2 >= value
    assert Fraction(root) ** 2 <= value * (1 + Fraction(1, 10**14))


@pytest.mark.parametrize("seed", range(5))
def test_the_distance_stated_is_that_of_the_matrix_given(seed: int) -> None:
    """Also where the matrix is not psd, or the root is another one."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((3, 3))
    A = A + A.T
    for root in (None, rng.standard_normal((3, 2))):
        M = root_of(A, root)
        square = [
            [sum(Fraction(a) * Fraction(b) for a, b in zip(x, y, strict=True)) for y in M.tolist()]
            for x in M.tolist()
        ]
        true = sum(
            (Fraction(a) - b) ** 2
            for x, y in zip(A.tolist(), square, strict=True)
            for a, b in zip(x, y, strict=True)
        )
        stated = distance_to_square(A, M)
        assert Fraction(stated) ** 2 >= true > 0
        assert stated <= 1.000001 * float(true) ** 0.5


LINE = ([[0.0], [1.0], [3.0]], [0, 0, 1], {"lam": 1.0, "neighbors": [[1, 2], [], []]})


def test_a_false_claim_in_a_file_stays_refuted_in_exact_arithmetic(tmp_path: Path) -> None:
    X, y, params = LINE
    cvxml.solve("mlsvm", X, y, tol=1e-10, **params).save(tmp_path / "s.json")
    saved = cvxml.load(tmp_path / "s.json")
    lie = dataclasses.replace(saved, claimed={**saved.claimed, "objective": 0.5})
    found = recertify(lie, 1e-6, exact=True)
    assert found.verdict is Verdict.REFUTED
    assert "claims objective" in found.reason


def test_an_interval_of_nca_is_of_a_step_unless_the_problem_is_convex() -> None:
    X, y = random_data(7, n=12, d=2, classes=2)
    for labels, of_step in ((y, True), (np.arange(12) // 2, False)):
        metric = cvxml.solve("nca", X, labels, criterion="g", init="identity", tol=1e-9).metric
        report = cvxml.check("nca", X, labels, metric, criterion="g", exact=True)
        assert report.exact is not None
        assert report.exact.of_step is of_step
        assert report.exact.to_dict()["of"] == ("step" if of_step else "problem")


def test_a_root_of_what_is_beyond_all_floats_is_infinite() -> None:
    assert root_upward(Fraction(10) ** 700) == np.inf


def test_an_interval_of_one_query_is_not_that_of_several() -> None:
    X, y = random_data(5, n=30, d=3)
    query = X[:2]
    local = cvxml.solve("glml", X, y, alpha=0.1, query=query)
    report = cvxml.check("glml", X, y, local.metric, alpha=0.1, query=query, exact=True)
    assert report.verdict is Verdict.CERTIFIED
    assert report.exact is None
    one = cvxml.check("glml", X, y, local.metric[0], alpha=0.1, query=query[0], exact=True)
    assert one.exact is not None
    with pytest.raises(ValueError, match="query is empty"):
        cvxml.check("glml", X, y, local.metric[:0], alpha=0.1, query=query[:0])
