"""The psd cone and what may be given as a metric: projection, feasibility, square roots, scale, dual variables."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import cvxml
from cvxml.core.inputs import check_X
from cvxml.core.metric import (
    FEASIBILITY_TOL,
    FloatArray,
    as_matrix,
    as_metric,
    components_of,
    examine,
    from_components,
    low_rank_components,
    of_determinant_1,
    project_psd,
    unit_scale,
)
from cvxml.core.report import Verdict
from cvxml.core.result import Solution, Stationarity
from cvxml.methods import names
from tests.instances import START, random_data, with_lists

EPS = float(np.finfo(float).eps)
X, Y = random_data(7, n=14, d=3, classes=2)
every_method = pytest.mark.parametrize("method", names())
seeds = st.integers(0, 10**6)
quick = settings(max_examples=100, deadline=None)


# 1e-10, except where what rounding may have moved is proved to be about as much
CLOSE = {"nca": 1e-9}


@cache
def solved(method: str, tol: float = 1e-6) -> Solution:
    return cvxml.solve(method, X, Y, tol=tol, **START.get(method, {}))


def matrix(seed: int, rank: int | None = None) -> FloatArray:
    """A random square matrix, or a psd one of at most that rank."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 7))
    if rank is None:
        return rng.standard_normal((d, d)) * 10 ** rng.uniform(-6, 6)
    L = rng.standard_normal((rank, d))
    return L.T @ L * 10 ** rng.uniform(-6, 6)


@quick
@given(seeds)
def test_the_projection_makes_an_obtuse_angle_with_every_psd_matrix(seed: int) -> None:
    M = matrix(seed)
    P, rng = project_psd(M), np.random.default_rng(seed)
    size = float(np.linalg.norm(M))
    assert np.array_equal(P, P.T)
    assert np.linalg.eigvalsh(P)[0] >= -8 * len(M) * EPS * size
    for rank in (0, 1, len(M)):
        L = rng.standard_normal((rank, len(M)))
        B = L.T @ L * size * 10 ** rng.uniform(-3, 3)
        assert np.sum((M - P) * (B - P)) <= 64 * EPS * size * (size + np.linalg.norm(B))
    # with B = 0 and B = 2 P the angle with P itself is right
    assert abs(np.sum((M - P) * P)) <= 64 * EPS * size**2


@quick
@given(seeds)
def test_the_projection_does_not_expand_and_projects_once(seed: int) -> None:
    M, N = matrix(seed), matrix(seed) * np.random.default_rng(seed).uniform(-1, 1)
    slip = 64 * EPS * float(np.linalg.norm(M))
    assert np.linalg.norm(project_psd(M) - project_psd(N)) <= np.linalg.norm(M - N) + slip
    assert np.linalg.norm(project_psd(project_psd(M)) - project_psd(M)) <= slip
    assert np.linalg.norm(project_psd((M + M.T) / 2) - project_psd(M)) <= slip
    assert np.linalg.norm(project_psd(M) - project_psd(-M) - (M + M.T) / 2) <= slip


@quick
@given(seeds, st.integers(1, 6))
def test_a_psd_matrix_is_a_metric_and_stays_what_it_is(seed: int, rank: int) -> None:
    M = matrix(seed, rank)
    before = M.copy()
    psd, feasibility = examine(M)
    assert np.linalg.norm(psd - M) <= 64 * EPS * np.linalg.norm(M)
    assert feasibility.feasible
    assert feasibility.exact
    assert "psd" in str(feasibility)
    assert "distance" not in str(feasibility)
    assert np.array_equal(as_metric(M, len(M)), psd)
    assert np.array_equal(M, before)
    definite = M + np.eye(len(M)) * np.trace(M)
    definite = (definite + definite.T) / 2
    assert np.array_equal(examine(definite)[0], definite)


@pytest.mark.parametrize("power", [0, 300, 600, -300, -600])
@pytest.mark.parametrize("share", [0.9, 1.1])
def test_tolerance_is_a_share_of_the_norm_whatever_the_units(share: float, power: int) -> None:
    # norm 1 up to 1e-11: one unit of slip in each matrix is what is allowed
    size, slip = 2.0**power, share * FEASIBILITY_TOL
    for M in (np.array([[1.0, slip], [0.0, 0.0]]), np.array([[1.0, 0.0], [0.0, -slip]])):
        psd, feasibility = examine(M * size)
        assert feasibility.feasible == (share < 1)
        assert not feasibility.exact
        assert feasibility.asymmetry == abs(M[0, 1]) * size
        least = np.linalg.eigvalsh((M + M.T) / 2)[0]
        assert abs(feasibility.min_eigenvalue / size - least) <= 8 * EPS
        if share < 1:
            assert np.linalg.eigvalsh(as_metric(M * size, 2) / size)[0] >= -8 * EPS
            assert np.array_equal(as_metric(M * size, 2), psd)
        else:
            with pytest.raises(ValueError, match=r"^metric.*1e-06"):
                as_metric(M * size, 2)


BAD: dict[str, Any] = {
    "shape": np.eye(3),
    "flat": np.ones(4),
    "deep": np.ones((1, 2, 2)),
    "scalar": 1.0,
    "None": None,
    "NaN": [[np.nan, 0], [0, 1]],
    "inf": [[np.inf, 0], [0, 1]],
    "complex": np.eye(2) + 0j,
    "objects": np.array([[1.0, "0"], [0.0, 1.0]], dtype=object),
    "strings": [["1", "0"], ["0", "1"]],
    "ragged": [[1.0], [1.0, 2.0]],
    "sparse": csr_array(np.eye(2)),
    "masked": np.ma.masked_array(np.eye(2), mask=[[True, False], [False, False]]),
}


@pytest.mark.parametrize(
    ("bad", "cause"),
    [
        (np.eye(2) + 1e-20j, "real part"),  # Octave's sqrtm
        ([[1 + 0j, 0], [0, 1]], "real part"),
        ([[1.0, None], [None, 1.0]], "null"),  # Octave's jsonencode writes NaN so
        (np.ones((2, 3)), "rows"),  # R's write.csv adds a column that numbers them
    ],
)
def test_a_matrix_of_another_program_is_refused_with_its_cause(bad: Any, cause: str) -> None:
    with pytest.raises(ValueError, match=cause):
        as_matrix(bad, 2, "phi")


@pytest.mark.parametrize("case", BAD)
def test_what_is_no_matrix(case: str) -> None:
    for read in (as_matrix, as_metric):
        with pytest.raises(ValueError, match=r"^phi"):
            read(BAD[case], 2, "phi")
    if case not in ("shape", "None"):
        with pytest.raises(ValueError, match="components"):
            from_components(BAD[case], 2)
    with pytest.raises(ValueError, match="metric"):
        cvxml.evaluate("mlsvm", X[:, :2], Y, BAD[case])
    if BAD[case] is not None:
        with pytest.raises(ValueError, match="metric"):
            cvxml.check("mlsvm", X[:, :2], Y, BAD[case])
        with pytest.raises(ValueError, match="metric"):
            cvxml.certify("mlsvm", X[:, :2], Y, BAD[case], solved("mlsvm").dual)


@pytest.mark.parametrize("case", ["complex", "objects", "strings", "ragged"])
def test_features_and_metrics_are_refused_in_the_same_words(case: str) -> None:
    answers = set()
    for read in (check_X, lambda values, name: as_matrix(values, 2, name)):
        with pytest.raises(ValueError, match=r"^phi .* numbers") as refusal:
            read(BAD[case], "phi")
        answers.add(str(refusal.value))
    assert len(answers) == 1


@quick
@given(seeds, st.integers(1, 6))
def test_components_and_metrics_are_two_forms_of_one_thing(seed: int, rank: int) -> None:
    L = np.random.default_rng(seed).standard_normal((rank, 4))
    M = from_components(L.tolist(), 4)
    assert np.linalg.norm(M - sum(np.outer(row, row) for row in L)) <= 16 * EPS * np.linalg.norm(M)
    root = components_of(M)
    assert np.linalg.norm(root.T @ root - M) <= 64 * EPS * np.linalg.norm(M)
    assert np.linalg.norm(root - root.T) <= 64 * EPS * np.linalg.norm(root)
    assert np.linalg.eigvalsh(root)[0] >= -64 * EPS * np.linalg.norm(root)
    others = np.stack([M, np.eye(4), M @ M])
    roots = components_of(others)
    for each, other in zip(roots, others, strict=True):
        assert np.linalg.norm(each.T @ each - other) <= 64 * EPS * np.linalg.norm(other)


@pytest.mark.parametrize(
    "L", [np.empty((0, 2)), np.ones((2, 3)), np.full((1, 2), 1e200)], ids=["0", "3", "large"]
)
def test_components_that_give_no_metric(L: FloatArray) -> None:
    with pytest.raises(ValueError, match="components"):
        from_components(L, 2)


@quick
@given(seeds, st.integers(-500, 500), st.integers(-8, 8))
def test_the_unit_scale_is_a_power_of_two_that_follows_the_data(seed: int, power: int, shift: int) -> None:
    points = np.random.default_rng(seed).integers(-50, 50, (6, 2)) / 8
    points[0] = points[1] + 1  # not constant
    s = unit_scale(points)
    assert np.frexp(s)[0] == 0.5
    unit = points / s
    assert np.array_equal(unit * s, points)
    assert 0.7 <= np.abs(unit - (unit.min(axis=0) + unit.max(axis=0)) / 2).max() <= 1.42
    assert unit_scale(points * 2.0**power) == s * 2.0**power
    assert unit_scale(points + shift) == s
    assert unit_scale(np.full((3, 2), 2.0**power)) == 1.0


@pytest.mark.parametrize("size", [1.7e308, 1e-300, 5e-324])
def test_the_unit_scale_of_the_largest_and_least_numbers_is_finite(size: float) -> None:
    s = unit_scale(np.array([[-size], [size]]))
    assert 0 < s < np.inf
    assert np.isfinite(size / s)


@pytest.mark.quick(7)
@every_method
@pytest.mark.parametrize("size", [1e200, -1e200, 1e308, -1e308])
def test_a_metric_too_large_to_square_is_never_certified(method: str, size: float) -> None:
    metric = size * np.eye(len(solved(method).metric))
    try:
        report = cvxml.check(method, X, Y, metric)
        answer = report.verdict.value + str(report.to_json() is None)
    except ValueError as error:
        answer = f"ValueError: {error}"
    refused = answer.startswith("ValueError: ") and "metric" in answer
    assert answer.startswith("refuted") or refused, answer


@pytest.mark.parametrize("size", [1e154, 1e200])
def test_an_objective_that_overflows_is_refuted_and_said(size: float) -> None:
    report = cvxml.check("ssvm", X, Y, size * np.eye(3))
    assert report.verdict is Verdict.REFUTED
    assert "overflows" in report.reasons[0]
    assert report.witness is not None
    assert report.witness.objective <= 1 + 1e-12  # that of W = 0
    found = cvxml.evaluate("ssvm", X, Y, report.witness.metric).objective
    assert found == pytest.approx(report.witness.objective, rel=1e-12)


@pytest.mark.quick(6)
@every_method
@pytest.mark.parametrize("kind", ["asymmetry", "least eigenvalue -"])
def test_what_is_no_metric_beyond_tolerance(method: str, kind: str) -> None:
    size = len(solved(method).metric)
    bad = -0.25 * np.eye(size) if "least" in kind else np.eye(size) + 0.25 * np.eye(size, k=1)
    with pytest.raises(ValueError, match=f"{kind}.*1e-06"):
        cvxml.evaluate(method, X, Y, bad)
    report = cvxml.check(method, X, Y, bad, diagnosed=False)
    assert report.verdict is Verdict.REFUTED
    assert report.feasibility is not None
    assert not report.feasibility.feasible
    assert kind in str(report)
    assert report.to_dict()["feasibility"]["feasible"] is False
    assert kind in report.reasons[0]
    best = solved(method, CLOSE.get(method, 1e-10)).metric
    turned = best + 0.1 * np.linalg.norm(best) * (np.eye(size, k=1) - np.eye(size, k=-1))
    # though its symmetric part is optimal
    assert cvxml.check(method, X, Y, turned, diagnosed=False).verdict is Verdict.REFUTED
    proof = cvxml.certify(method, X, Y, bad, solved(method).dual)
    assert not proof.proves(1.0)
    if method == "mlsvm":
        assert report.feasibility.asymmetry == (0.0 if "least" in kind else 0.25)
        assert report.feasibility.min_eigenvalue == pytest.approx(
            -0.25 if "least" in kind else 1 - 0.25 * 0.5**0.5
        )


@pytest.mark.quick(5)
@pytest.mark.parametrize(
    ("method", "kind"),
    [
        (m, kind)
        for m in names()
        for kind in ("asymmetry", "least eigenvalue")
        # test_mmc.py has the diagonal one. Next to a boundary a row of A is the root of what a metric is off by, and so
        # is its gradient: mlkr
        if m not in ("mmc:diagonal", "mlkr")
    ],
)
def test_what_is_off_by_less_is_projected_and_said(method: str, kind: str) -> None:
    """A definite metric that is moved by so little is still psd, and is certified as well."""
    best = solved(method, CLOSE.get(method, 1e-10))
    slip = 1e-9 * float(np.linalg.norm(best.metric))
    values, vectors = np.linalg.eigh(best.metric)
    least = vectors[:, 0]
    bad = best.metric - slip * np.outer(least, least)
    is_off = kind == "asymmetry" or values[0] < slip / 2
    if kind == "asymmetry":
        bad = best.metric + slip * np.eye(len(best.metric), k=1)
    report = cvxml.check(method, X, Y, bad, **with_lists(method, {}, best.neighbors))
    assert report.verdict is Verdict.CERTIFIED
    assert report.feasibility is not None
    assert report.feasibility.distance > 0 or not is_off
    evaluation = cvxml.evaluate(method, X, Y, bad)
    assert evaluation.objective == pytest.approx(best.objective, rel=1e-6)
    if is_off:
        said = f"{report.feasibility.distance:.3g}"
        assert said in str(report)
        assert said in str(evaluation)


def test_a_gap_below_zero_by_more_than_rounding_proves_nothing() -> None:
    certificate = solved("mlsvm").certificate
    for gap, proved in (
        (certificate.gap, True),
        (-0.5 * certificate.rounding, True),
        (-certificate.scale, False),
    ):
        assert replace(certificate, gap=gap).proves(1e-3) is proved


def test_what_is_no_number_is_not_stationary() -> None:
    for gradient, residual in ((math.nan, 0.0), (0.0, math.nan)):
        found = Stationarity(gradient, 0.0, residual, 1.0)
        assert not found.within(1e-3, 0.0)
        assert found.relative == math.inf
    assert Stationarity(1e-4, 0.0, 1e-4, 1.0).within(1e-3, 0.0)


def test_a_psd_matrix_of_features_in_wide_units_comes_back_unchanged() -> None:
    """Eigenvalues in the units given see the largest entries only, and a projection would lose the others."""
    rng = np.random.default_rng(0)
    projected = 0
    for _ in range(200):
        M = np.round(rng.normal(size=(4, 4)) * 64) * 2.0 ** rng.integers(-60, 60, size=4)[:, None]
        A = M @ M.T  # products of few bits: exact, so psd
        psd, feasibility = examine(A)
        assert np.array_equal(psd, A)
        assert feasibility.distance == 0
        projected += np.linalg.eigvalsh(A)[0] < 0
    assert projected  # eigenvalues alone would have it projected


@pytest.mark.parametrize("entry", [-1e-9, 1e-9])
def test_what_is_not_psd_in_its_own_units_is_projected(entry: float) -> None:
    beside_zero = np.array([[1.0, entry], [entry, 0.0]])
    assert examine(beside_zero)[1].distance > 0
    wide = np.array([[1e20, 2.0 + entry], [2.0 + entry, 1e-20]])
    assert not np.array_equal(examine(wide)[0], wide)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["mlsvm", "ssvm", "nca", "itml", "mcml", "lmnn"])
def test_a_metric_is_one_in_the_units_of_the_features_too(method: str) -> None:
    """What is a millionth of the norm, and negative, of a feature that spreads over a million is most of a distance."""
    X, y = random_data(0, n=12)
    X = X[:, :2] * (1.0, 1e6)
    A = np.diag([1.0, -5e-7])
    assert examine(A)[1].feasible
    given = {"n_neighbors": 2} if method == "lmnn" else {}
    report = cvxml.check(method, X, y, A, tol="loose", diagnosed=False, **given)
    assert report.verdict is Verdict.REFUTED
    assert report.feasibility is not None
    assert not report.feasibility.feasible


def test_the_least_of_all_floats_is_no_negative_eigenvalue() -> None:
    least = 5e-324
    assert examine(np.array([[0.0, least], [least, 0.0]]))[1].feasible
    assert not examine(np.array([[0.0, 1e-300], [1e-300, 0.0]]))[1].feasible


@pytest.mark.parametrize("size", [1e-200, 1.0, 1e200])
def test_the_multiple_of_determinant_1_has_any_units(size: float) -> None:
    """The determinant of 1e200 I overflows."""
    M = size * np.array([[2.0, 1.0], [1.0, 2.0]])
    np.testing.assert_allclose(
        of_determinant_1(M), np.array([[2.0, 1.0], [1.0, 2.0]]) / np.sqrt(3), rtol=1e-12
    )
    with pytest.raises(ValueError, match="singular"):
        of_determinant_1(np.zeros((2, 2)))


@pytest.mark.parametrize("size", [1.0, 1e4, 1e8, 1e150])
@pytest.mark.parametrize("m", [2, 3])
def test_roots_keep_the_digits_of_every_feature(size: float, m: int) -> None:
    """Features of sizes `size`, 1 and 1 / `size`: each entry of L^T L is right, relative to its two features."""
    rows, unit = np.random.default_rng(m).standard_normal((m, 3)), np.array([1 / size, 1.0, size])
    M = (rows.T @ rows) * unit * unit[:, None]
    beside = np.sqrt(np.diag(M))
    for L in (components_of(M), low_rank_components(M, m)):
        assert np.abs((L.T @ L - M) / beside / beside[:, None]).max() < 1e-12
    root, axes = components_of(M), low_rank_components(M, m)
    assert np.abs(root - root.T).max() < 1e-14 * np.abs(root).max()
    lengths = np.linalg.norm(axes, axis=1)
    assert axes.shape == (m, 3)
    assert (np.diff(lengths) <= 0).all()
    assert (axes[np.arange(m), np.abs(axes).argmax(axis=1)] > 0).all()


def test_a_psd_matrix_of_features_of_every_size_is_returned_unchanged() -> None:
    unit = np.array([1e120, 1.0, 1e-120])
    M = np.array([[2.0, 1.0, 0.5], [1.0, 2.0, 1.0], [0.5, 1.0, 2.0]]) * unit * unit[:, None]
    assert np.array_equal(examine(M)[0], M)
    # Divided by 2^600, the last entry is a number of few digits.
    graded = np.diag([2.0**600, 1.0, 0.1 * 2.0**-460])
    assert np.array_equal(examine(graded)[0], graded)
    worse = np.array([[2.0, 1.0, 0.5], [1.0, 2.0, 1.0], [0.5, 1.0, -2.0]]) * unit * unit[:, None]
    assert not np.array_equal(examine(worse)[0], worse)
