"""GMML: the closed form, the repair of Y, another t, singular sums, units, misreadings."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.linalg import sqrtm

import cvxml
from cvxml.core import spectrum
from cvxml.core.balls import ball, precision
from cvxml.core.exact import flint
from cvxml.core.metric import FloatArray
from cvxml.core.misreading import Question
from cvxml.core.pairs import paired
from cvxml.core.report import Verdict
from cvxml.core.result import Status
from cvxml.methods import gmml
from cvxml.numbers.span import rank_along
from cvxml.oracle.saved import recertify
from tests.cli.commands import Cli
from tests.instances import (
    assert_named,
    checked,
    fractions,
    objective_of,
    own_misreadings,
    random_data,
    real_data,
)

X, Y = random_data(3, n=24, d=4, classes=3)
PAIRS = {
    "similar": [[0, 3], [1, 4], [2, 5], [3, 6], [4, 7], [5, 8], [6, 9]],
    "dissimilar": [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9], [0, 5]],
}
PRIOR = np.diag([0.2, 1.0, 3.0, 1.0]) + 0.1


def sums(X: Any, y: Any) -> tuple[FloatArray, FloatArray]:
    """S and D of every two points, one after another."""
    d = np.shape(X)[1]
    S, D = np.zeros((d, d)), np.zeros((d, d))
    for i in range(len(X)):
        for j in range(i):
            e = np.asarray(X[i]) - np.asarray(X[j])
            (S if y[i] == y[j] else D)[:] += np.outer(e, e)
    return S, D


def mean(S: FloatArray, D: FloatArray, t: float = 0.5) -> FloatArray:
    """S^-1 #_t D as it is defined: S^-1/2 (S^1/2 D S^1/2)^t S^-1/2."""
    root = np.real(sqrtm(S))
    inverse = np.linalg.inv(root)
    w, V = np.linalg.eigh(root @ D @ root)
    found: FloatArray = inverse @ (V * w**t) @ V.T @ inverse
    return (found + found.T) / 2


# ---------------------------------------------------------------- the optimum


@pytest.mark.parametrize("t", [0.1, 0.5, 0.8])
@pytest.mark.parametrize(
    ("mu", "prior"), [(0.0, "identity"), (2.0, "identity"), (50.0, PRIOR), (0.0, PRIOR), (50.0, "covariance")]
)
def test_the_solution_is_the_geometric_mean(t: float, mu: float, prior: Any) -> None:
    solution = cvxml.solve("gmml", X, Y, weight=t, mu=mu, prior=prior)
    A_0 = {"identity": np.eye(4), "covariance": np.linalg.inv(np.cov(X.T))}.get(str(prior), prior)
    S, D = sums(X, Y)
    S, D = S + mu * np.linalg.inv(A_0), D + mu * A_0
    assert solution.status is Status.CONVERGED
    np.testing.assert_allclose(solution.metric, mean(S, D, t), rtol=1e-8, atol=1e-9)
    if t == 0.5:
        root = np.real(sqrtm(S))
        value = 2 * np.trace(np.real(sqrtm(root @ D @ root)))
        assert solution.objective == pytest.approx(value, rel=1e-10)


# ---------------------------------------------------------------- the bound


def test_a_feasible_y_is_kept_and_another_is_shrunk_to_the_largest_feasible_multiple() -> None:
    S, D = sums(X, Y)
    Z = np.eye(4) + 0.1
    largest = 1 / np.sqrt(np.linalg.eigvals(np.linalg.solve(D, Z @ S @ Z)).real.max())
    for factor in (1e-3, 0.999):
        proof = cvxml.certify("gmml", X, Y, np.eye(4), {"Y": factor * largest * Z})
        assert proof.lower_bound == pytest.approx(2 * factor * largest * np.trace(S @ Z), rel=1e-10)
        np.testing.assert_array_equal(proof.dual["Y"], factor * largest * Z)
    for factor in (1.001, 1e200):
        proof = cvxml.certify("gmml", X, Y, np.eye(4), {"Y": factor * largest * Z})
        assert proof.lower_bound == pytest.approx(2 * largest * np.trace(S @ Z), rel=1e-9)
        assert np.linalg.eigvalsh(D - proof.dual["Y"] @ S @ proof.dual["Y"])[0] >= -1e-9 * np.trace(D)
    for without_bound in (-np.eye(4), np.full((4, 4), np.inf), np.diag([1.0, -1e3, 0, 0])):
        assert cvxml.certify("gmml", X, Y, np.eye(4), {"Y": without_bound}).lower_bound == 0


def test_the_prior_that_is_the_mean_already_changes_nothing() -> None:
    """With A_0 = A also (S + mu A^-1) and (D + mu A) have the mean A: A mu A^-1 A is mu A."""
    A = cvxml.solve("gmml", X, Y).metric
    for mu in (1e-3, 1e6):
        report = cvxml.check("gmml", X, Y, A, mu=mu, prior=A, exact=True)
        assert report.verdict is Verdict.CERTIFIED
        assert report.objective == pytest.approx(2 * np.trace(A @ sums(X, Y)[0]) + 8 * mu, rel=1e-9)


def test_the_inverse_of_the_prior_is_that_of_rational_numbers() -> None:
    """Of A_0 = [[3, 1], [1, 2]] it is [[2, -1], [-1, 3]] / 5: no entry is a float."""
    points, pairs = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], {"similar": [[0, 1]], "dissimilar": [[0, 2]]}
    of, given = checked("gmml", points, None, pairs=pairs, mu=0.5, prior=[[3.0, 1.0], [1.0, 2.0]])
    fmpq = flint().fmpq
    assert given.S.tolist() == [[1 + fmpq(1, 5), -fmpq(1, 10)], [-fmpq(1, 10), fmpq(3, 10)]]
    assert given.D.tolist() == [[fmpq(3, 2), fmpq(1, 2)], [fmpq(1, 2), fmpq(2)]]
    assert of.stored(given)["prior"] == [[3.0, 1.0], [1.0, 2.0]]


def test_the_prior_reaches_the_problem_from_a_shell_a_fit_and_a_file(cli: Cli, tmp_path: Path) -> None:
    points, y = real_data("iris")
    np.savetxt(tmp_path / "prior.csv", PRIOR, delimiter=",")
    told = ("--mu", "20", "--prior", str(tmp_path / "prior.csv"), "--out", str(tmp_path / "s.json"))
    answer = cli("solve", "gmml", "iris", "--standardize", *told, "--json")
    known = cvxml.solve("gmml", points, y, mu=20.0, prior=PRIOR)
    assert json.loads(answer.out)["objective"] == pytest.approx(known.objective, rel=1e-9)
    model = cvxml.GMML(mu=20.0, prior=PRIOR).fit(points, y)
    np.testing.assert_allclose(model.get_mahalanobis_matrix(), known.metric, rtol=1e-9)
    assert cvxml.certify_estimator(model, points, y).verdict is Verdict.CERTIFIED
    saved = cvxml.load(tmp_path / "s.json")
    assert recertify(saved, 1e-6).verdict is Verdict.CERTIFIED
    others = {name: value for name, value in saved.params.items() if name != "prior"}
    assert recertify(dataclasses.replace(saved, params=others), 1e-6).verdict is not Verdict.CERTIFIED


# ---------------------------------------------------------------- another t


@pytest.mark.parametrize("t", [0.2, 0.7])
def test_bound_and_radius_hold_for_another_t(t: float) -> None:
    S, D = sums(X, Y)
    best, rng = cvxml.solve("gmml", X, Y, weight=t), np.random.default_rng(0)

    def value(A: FloatArray) -> float:
        a, b = (np.sum(np.log(np.linalg.eigvals(M).real) ** 2) for M in (A @ S, np.linalg.solve(A, D)))
        return float((1 - t) * a + t * b)

    assert best.objective == pytest.approx(value(best.metric), rel=1e-9)
    for _ in range(20):
        turn = np.eye(4) + 10 ** rng.uniform(-3, 0) * rng.standard_normal((4, 4))
        A = turn @ best.metric @ turn.T
        proof = cvxml.certify("gmml", X, Y, A, best.dual, weight=t)
        assert objective_of("gmml", X, Y, A, weight=t) == pytest.approx(value(A), rel=1e-8)
        assert proof.objective == pytest.approx(value(A), rel=1e-8)
        assert value(A) >= best.lower_bound * (1 - 1e-12)
        assert np.linalg.norm(A - best.metric) <= proof.radius + best.certificate.radius < np.inf


def test_another_t_has_no_literal_problem() -> None:
    for given in ({}, {"dual": True}):
        with pytest.raises(ValueError, match="weight"):
            cvxml.problem("gmml", X, Y, weight=0.3, **given)
    with pytest.raises(ValueError, match="weight"):
        cvxml.solve("gmml", X, Y, weight=0.3, solver="clarabel")


def test_where_the_ends_of_the_geodesic_are_one_the_optimum_is_0() -> None:
    """S = I and D = I: every point of the geodesic is I."""
    points = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]]
    given: dict[str, Any] = {
        "pairs": {"similar": [[0, 1], [0, 2]], "dissimilar": [[0, 3], [0, 4]]},
        "weight": 0.3,
    }
    assert cvxml.solve("gmml", points, None, **given).objective == pytest.approx(0.0, abs=1e-20)
    assert cvxml.check("gmml", points, None, np.eye(2), **given).verdict is Verdict.CERTIFIED
    assert cvxml.check("gmml", points, None, 1.1 * np.eye(2), **given).verdict is Verdict.REFUTED


# ---------------------------------------------------------------- what changes the metric, and how


@pytest.mark.parametrize("unit", [1e-60, 1024.0, 1e60])
def test_a_unit_of_all_features_changes_the_value_alone(unit: float) -> None:
    plain, other = cvxml.solve("gmml", X, Y, mu=0.5), cvxml.solve("gmml", unit * X, Y, mu=0.5 * unit**2)
    np.testing.assert_allclose(other.metric, plain.metric, rtol=1e-8, atol=1e-10)
    assert other.objective / unit**2 == pytest.approx(plain.objective, rel=1e-9)


@pytest.mark.parametrize("t", [0.5, 0.2])
def test_exchanged_pairs_and_1_minus_t_give_the_inverse(t: float) -> None:
    exchanged = {"similar": PAIRS["dissimilar"], "dissimilar": PAIRS["similar"]}
    one = cvxml.solve("gmml", X, None, pairs=PAIRS, weight=t)
    other = cvxml.solve("gmml", X, None, pairs=exchanged, weight=1 - t)
    np.testing.assert_allclose(one.metric @ other.metric, np.eye(4), atol=1e-7)
    assert one.objective == pytest.approx(other.objective, rel=1e-9)


@pytest.mark.parametrize("unit", [1e-100, 1e-130])
def test_eigenvalues_below_all_floats_are_decided(unit: float) -> None:
    """Those of S D are 1e-398 and less; another t needs their logarithms."""
    plain, other = cvxml.solve("gmml", X, Y, weight=0.25), cvxml.solve("gmml", unit * X, Y, weight=0.25)
    assert other.status is Status.CONVERGED
    assert other.rel_gap < 1e-9
    np.testing.assert_allclose(
        other.metric * unit, plain.metric, rtol=1e-8, atol=1e-8 * np.abs(plain.metric).max()
    )


def test_a_metric_that_is_symmetric_but_for_rounding_stands_for_its_symmetric_part() -> None:
    A = cvxml.solve("gmml", X, Y).metric * (1 + 1e-9 * np.triu(np.ones((4, 4)), 1))
    here = cvxml.certify("gmml", X, Y, A, {"Y": A}).objective
    assert here == pytest.approx(cvxml.evaluate("gmml", X, Y, (A + A.T) / 2).objective, rel=1e-14)


def test_an_infinite_objective_is_not_saved(tmp_path: Path) -> None:
    found = cvxml.solve("gmml", X, Y)
    stalled = dataclasses.replace(found, certificate=dataclasses.replace(found.certificate, objective=np.inf))
    with pytest.raises(ValueError, match="inf"):
        stalled.save(tmp_path / "saved.json")


@pytest.mark.parametrize("t", [0.5, 0.3])
@pytest.mark.parametrize(("near", "far"), [(1e-100, 1e100), (1e100, 1e-100), (1e-60, 1.0)])
def test_similar_and_dissimilar_pairs_may_have_other_units(near: float, far: float, t: float) -> None:
    E = np.random.default_rng(0).standard_normal((8, 3))
    pairs = {"similar": [[0, k] for k in (1, 2, 3, 4)], "dissimilar": [[0, k] for k in (5, 6, 7, 8)]}
    plain = cvxml.solve("gmml", np.concatenate([np.zeros((1, 3)), E]), None, pairs=pairs, weight=t)
    points = np.concatenate([np.zeros((1, 3)), near * E[:4], far * E[4:]])
    solution = cvxml.solve("gmml", points, None, pairs=pairs, weight=t)
    assert solution.status is Status.CONVERGED
    # S^-1 becomes 1 / near^2 of what it was, and D far^2
    length = (1 / near) ** (2 * (1 - t)) * far ** (2 * t)
    np.testing.assert_allclose(solution.metric / length, plain.metric, rtol=1e-9, atol=1e-12)
    any_price = cvxml.certify(
        "gmml", points, None, solution.metric, {"Y": 1e200 * np.eye(3)}, pairs=pairs, weight=t
    )
    assert 0 < any_price.lower_bound <= solution.objective


# ---------------------------------------------------------------- singular sums


def axes(similar: list[int], dissimilar: list[int]) -> tuple[FloatArray, dict[str, list[list[int]]]]:
    """Pairs along these axes of three, dissimilar ones the other way."""
    points = np.concatenate([np.zeros((1, 3)), np.eye(3), -np.eye(3)])
    pairs = {"similar": [[0, 1 + k] for k in similar], "dissimilar": [[0, 4 + k] for k in dissimilar]}
    return points, pairs


@pytest.mark.parametrize(
    ("similar", "dissimilar", "says"),
    [
        ([0, 1], [0, 1, 2], "not attained"),
        ([0, 1, 2], [0, 1], "not attained"),
        ([0, 1], [0, 2], "not attained"),
        ([0, 1], [0, 1], "many"),
        ([], [0, 1, 2], "not attained"),
    ],
)
def test_singular_sums_are_refused(similar: list[int], dissimilar: list[int], says: str) -> None:
    points, pairs = axes(similar, dissimilar)
    with pytest.raises(ValueError, match=f"{len(similar)} of 3 .* {len(dissimilar)}: .*{says}"):
        cvxml.solve("gmml", points, None, pairs=pairs)
    assert cvxml.solve("gmml", points, None, pairs=pairs, mu=1e-3).status is Status.CONVERGED


def test_many_metrics_are_optimal_where_s_d_and_their_product_have_one_rank() -> None:
    """The null spaces of S and of D differ: e_3 and e_3 - e_2. The rank of S D is 2 all the same."""
    S, D = np.diag([1.0, 1.0, 0.0]), np.array([[1.0, 0, 0], [0, 1.0, 1.0], [0, 1.0, 1.0]])
    for own in (0.5, 7.0):  # two solutions of A S A = D, for each of which tr A S + tr A^-1 D = 2 tr A S = 4
        A = np.array([[1.0, 0, 0], [0, 1, 1], [0, 1, 1 + own]])
        np.testing.assert_allclose(A @ S @ A, D, atol=1e-12)
    points = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [-1, 0, 0], [0, 1, 1]])
    pairs = {"similar": [[0, 1], [0, 2]], "dissimilar": [[0, 3], [0, 4]]}
    with pytest.raises(ValueError, match="many"):
        cvxml.solve("gmml", points, None, pairs=pairs)


def test_an_infimum_that_is_not_attained_is_approached() -> None:
    """S singular, D not: A grows along e_3 without end, and every step gains."""
    S, D = np.diag([1.0, 1.0, 0.0]), np.eye(3)
    values = [
        np.sum(np.diag([1.0, 1.0, s]) * S) + np.trace(np.diag([1.0, 1.0, 1 / s]) @ D)
        for s in (1, 10, 1e3, 1e6)
    ]
    assert (np.diff(values) < 0).all()
    assert values[-1] == pytest.approx(4.0, rel=1e-5)


@pytest.mark.quick(1)
@pytest.mark.parametrize("t", [0.5, 0.3])
def test_a_singular_metric_costs_infinity(t: float) -> None:
    singular = np.diag([1.0, 1.0, 1.0, 0.0])
    assert objective_of("gmml", X, Y, singular, weight=t) == np.inf
    assert cvxml.check("gmml", X, Y, singular, weight=t).verdict is Verdict.REFUTED
    of, given = checked("gmml", X, Y, weight=t)
    with pytest.raises(ValueError, match="singular"):
        of.exact(given, singular, {"Y": np.eye(4)})


# ---------------------------------------------------------------- misreadings, made here without the package


def mistake(name: str) -> tuple[FloatArray, dict[str, Any]]:
    """The metric of a program that makes the mistake, and what is asked for."""
    S, D = sums(X, Y)
    similar, own = sum(int(Y[i] == Y[j]) for i in range(24) for j in range(i)), 20 * np.eye(4)
    inverse = np.linalg.inv(PRIOR)
    with_prior = {"mu": 20.0, "prior": PRIOR}
    made: dict[str, tuple[FloatArray, dict[str, Any]]] = {
        "mean": (mean(S / similar, D / (276 - similar)), {}),
        "exchanged": (mean(D, S), {}),
        "another_weight": (mean(S + own, D + own, 0.3), {"mu": 20.0}),
        "another_mu": (mean(S + own, D + own), {"mu": 3.0}),
        "no_mu": (mean(S, D), with_prior),
        "ordered": (mean(2 * S + own, 2 * D + own), {"mu": 20.0}),
        "identity_prior": (mean(S + own, D + own), with_prior),
        "inverse_prior": (mean(S + 20 * PRIOR, D + 20 * inverse), with_prior),
    }
    return made[name]


@pytest.mark.slow
@pytest.mark.parametrize("name", own_misreadings("gmml"))
def test_a_mistake_is_named(name: str) -> None:
    wrong, asked = mistake(name)
    assert_named("gmml", name, X, Y, wrong, **asked)


@pytest.mark.quick(2)
@pytest.mark.parametrize("prior", [np.eye(4), PRIOR])
@pytest.mark.parametrize("asked", [0.0, 1.0, 100.0])
def test_the_mu_of_a_program_is_found(asked: float, prior: FloatArray) -> None:
    S, D = sums(X, Y)
    wrong = mean(S + 20 * np.linalg.inv(prior), D + 20 * prior)
    report = assert_named("gmml", "another_mu", X, Y, wrong, mu=asked, prior=prior)
    (said,) = report.diagnosis
    assert f"mu = 20 (asked: {asked:g})" in said


def test_mu_is_not_sought_beyond_ten_times_the_sums_nor_at_the_given_one() -> None:
    """A metric near the prior is near the solution for a very large mu, whatever the points."""
    (S, D), E = sums(X, Y), np.random.default_rng(0).standard_normal((4, 4))
    largest = max(float(np.linalg.eigvalsh(M)[-1]) for M in (S, D))
    for wrong, found in ((5.0, None), (1.0, 1.0), (9 * largest, 9 * largest), (11 * largest, None)):
        question = Question(X, Y, mean(S + wrong * np.eye(4), D + wrong * np.eye(4)), 1e-6, {"mu": 5.0})
        assert gmml._another_mu(question) == (found and pytest.approx(found))
        assert gmml._another_mu(question._replace(params={"mu": 5.0, "weight": 0.4})) is None
    near = Question(X, Y, np.eye(4) + 1e-4 * (E + E.T), 1e-6, {"mu": 5.0})
    assert gmml._another_mu(near) is None


@pytest.mark.quick(1)
@pytest.mark.parametrize("tol", [1e-6, 1e-3])
@pytest.mark.parametrize("asked", [0.0, 1.0])
def test_a_metric_that_no_mu_explains_gets_none(asked: float, tol: float) -> None:
    """The prior is the limit for large mu. mu in S alone, and diagonal matrices other than the identity, are no mu."""
    S, D = sums(X, Y)
    own = 20 * np.eye(4)
    for wrong in (
        np.eye(4),
        mean(S + own, D),
        mean(S, D + own),
        mean(S + 0.1 * np.diag(np.diag(S)), D + 0.1 * np.diag(np.diag(D))),
        mean(S + 20 * np.diag([1.0, 2.0, 3.0, 4.0]), D + own),
    ):
        report = cvxml.check("gmml", X, Y, wrong, mu=asked, tol=tol)
        assert not any("mu =" in line for line in report.diagnosis), str(report)
        assert not any("mu =" in str(line) for line in report.nearest), str(report)


@pytest.mark.slow
@pytest.mark.parametrize("t", [0.3, 0.8])
def test_means_instead_of_sums_are_named_for_any_weight(t: float) -> None:
    S, D = sums(X, Y)
    similar = sum(int(Y[i] == Y[j]) for i in range(24) for j in range(i))
    assert_named("gmml", "mean", X, Y, mean(S / similar, D / (276 - similar), t), weight=t)


@pytest.mark.slow
@pytest.mark.parametrize("t", [0.3, 0.8])
def test_pairs_in_both_orders_are_named_for_any_weight(t: float) -> None:
    S, D = sums(X, Y)
    wrong = mean(2 * S + 20 * np.eye(4), 2 * D + 20 * np.eye(4), t)
    assert_named("gmml", "ordered", X, Y, wrong, mu=20.0, weight=t)


@pytest.mark.parametrize("t", [0.2, 0.5, 0.9])
def test_what_the_authors_code_computes_is_optimal(t: float) -> None:
    """Its geodesic, written anew: with Cholesky factors R of the ends, Z = R_B R_A^-1, Z^T Z = U V U^T."""
    S, D = sums(X, Y)
    RA, RB = np.linalg.cholesky(np.linalg.inv(S)).T, np.linalg.cholesky(D).T
    Z = RB @ np.linalg.inv(RA)
    V, U = np.linalg.eigh(Z.T @ Z)
    T = np.diag(V ** (t / 2)) @ U.T @ RA
    assert cvxml.check("gmml", X, Y, T.T @ T, weight=t).verdict is Verdict.CERTIFIED


def test_eigenvalues_are_enclosed_where_some_are_equal() -> None:
    """Of J + k I the eigenvalues are d + k and k, d - 1 times: in balls that are not exact."""
    for d, k in ((3, 1), (5, 7)):
        third = fractions(1 / 3).item()
        with precision():
            M = flint().arb_mat([[ball(third * (1 + k * (i == j))) for j in range(d)] for i in range(d)])
            found = sorted(gmml.spectrum(M * M), key=float)
            wanted = [ball(third * k) ** 2] * (d - 1) + [ball(third * (d + k)) ** 2]
            assert all(one.overlaps(other) for one, other in zip(found, wanted, strict=True))
            assert max(float(one.rad()) for one in found) < 1e-60


def test_an_eigenvalue_next_to_0_needs_more_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """In coordinates where the product is far from diagonal the discs are wide, and one of them holds 0."""
    with precision():
        same = flint().acb_mat([[1, 0], [0, 1]])
        monkeypatch.setattr(spectrum, "eigenvectors", lambda of: ([], same))
        with pytest.raises(gmml.TooFewBits):
            gmml.spectrum(flint().arb_mat([[1, 1], [1, 3]]) / 4)


@pytest.mark.parametrize("t", [0.2, 0.5, 0.9])
def test_the_fast_objective_is_that_of_the_pairs_for_every_t(t: float) -> None:
    of, given = checked("gmml", X, Y, weight=t, mu=2.0, prior=PRIOR)
    metric = PRIOR @ PRIOR
    assert of.fast_objective(given, metric) == pytest.approx(of.objective(given, metric), rel=1e-12)
    assert of.fast_objective(given, np.ones((4, 4))) == np.inf


FEATURES = {
    "one": lambda rng: rng.standard_normal((12, 1)),
    "drawn": lambda rng: rng.standard_normal((20, 5)),
    "integers": lambda rng: rng.integers(-2, 3, (15, 4)).astype(float),
    "units": lambda rng: rng.standard_normal((30, 4)) * [1e-3, 1.0, 40.0, 1e3],
    "tiny": lambda rng: 1e-90 * rng.standard_normal((20, 3)),
    "nearly dependent": lambda rng: rng.standard_normal((20, 3)) @ np.diag([1, 1, 1e-6]) @ rng.random((3, 3)),
    "dependent in floats": lambda rng: rng.standard_normal((9, 2)) @ np.array([[1, 1], [0, 1e-10]]),
}


@pytest.mark.parametrize("features", FEATURES)
@pytest.mark.parametrize("mu", [0.0, 3.0])
@pytest.mark.parametrize("seed", range(3))
def test_the_refined_closed_form_is_that_of_eigenvectors(features: str, mu: float, seed: int) -> None:
    X = FEATURES[features](np.random.default_rng(seed))
    given = gmml.instance(X, np.arange(len(X)) % 3, mu=mu)
    by_eigenvectors = gmml.with_enough_bits(lambda: gmml._closed_form(given))
    refined = gmml._refined(given)
    assert (refined is None) <= (features == "dependent in floats")
    size = np.sqrt(by_eigenvectors.diagonal())
    assert (np.abs(gmml.closed_form(given) - by_eigenvectors) <= 2.0**-52 * size[:, None] * size).all()


@pytest.mark.parametrize("features", FEATURES)
@pytest.mark.parametrize("seed", range(3))
def test_the_least_eigenvalue_is_bounded_from_below(features: str, seed: int) -> None:
    X = FEATURES[features](np.random.default_rng(seed))
    given = gmml.instance(X, np.arange(len(X)) % 3)
    with precision(1024):
        true = min(gmml.spectrum(gmml.product(given)), key=float)
        assert ball(given.least) <= true
        assert ball(given.least) >= 0.49 * true - 1e-300  # of "tiny" it is below all floats


def test_a_number_above_the_least_eigenvalue_is_no_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    given = gmml.instance(X, Y)
    least = min(np.linalg.eigvals(given.floats[0] @ given.floats[1]).real)
    monkeypatch.setattr(gmml, "_below", lambda S, D: [1.001 * least, 0.9 * least])
    assert given.least == 0.9 * least


def test_floats_that_are_too_coarse_leave_the_closed_form_to_eigenvectors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given = gmml.instance(X, Y)
    metric = gmml.closed_form(given)
    wrong = np.linalg.qr(np.random.default_rng(0).standard_normal((4, 4)))[0]
    monkeypatch.setattr(gmml, "_pencil", lambda S, D: (1e3 * wrong, np.ones(4)))
    assert gmml._refined(given) is None
    assert np.array_equal(gmml.closed_form(given), metric)


@pytest.mark.parametrize("pairs", [None, PAIRS])
def test_the_ranks_of_differences_are_those_of_their_sums(pairs: Any) -> None:
    wide = np.random.default_rng(0).standard_normal((24, 30))
    for points in (X, np.column_stack([X, X[:, 0] + X[:, 1]]), np.column_stack([X, 0 * X[:, 0]]), wide):
        p = paired(points, Y, pairs)
        given = gmml.Instance(p.X, p.y, p.listed, 0.5, 0.0, np.eye(points.shape[1]))
        for sum_of, linked in ((given.S, given.linked), (given.D, given.parted)):
            assert rank_along(points, linked) == sum_of.rank()


@pytest.mark.parametrize("weight", [0.1, 0.3, 0.9])
@pytest.mark.parametrize("seed", range(4))
def test_an_eigenvalue_of_exactly_1_is_no_obstacle(weight: float, seed: int) -> None:
    """With few pairs and mu = 1, S and D are the identity in some directions."""
    X = np.random.default_rng(seed).standard_normal((8, 6))
    pairs = {"similar": [[0, 1], [2, 3]], "dissimilar": [[0, 4], [1, 5]]}
    asked: dict[str, Any] = {"pairs": pairs, "mu": 1.0, "weight": weight}
    solution = cvxml.solve("gmml", X, None, **asked)
    assert solution.status is Status.CONVERGED
    assert cvxml.check("gmml", X, None, solution.metric, **asked).verdict is Verdict.CERTIFIED
