"""GLML: solve, check, certify, evaluate, files and commands, at one query and many."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import cvxml
from cvxml.core.report import Verdict
from cvxml.core.result import Status
from cvxml.methods.glml.certify import certify_at
from cvxml.oracle.local import of_all
from tests.cli.commands import Cli, refused
from tests.instances import objective_of
from tests.methods.glml.local_metrics import SOLVERS, Student, classes
from validation import recompute

# solve, check, certify, evaluate, files, commands


def test_many_queries_are_many_problems() -> None:
    X, y = classes(0)
    Q = X[:6] + 0.1
    whole = cvxml.solve("glml", X, y, query=Q)
    assert whole.metric.shape == (6, 3, 3)
    singles = [cvxml.solve("glml", X, y, query=q) for q in Q]
    np.testing.assert_allclose(whole.metric, [s.metric for s in singles], rtol=1e-9)
    assert whole.objective == pytest.approx(sum(s.objective for s in singles), abs=1e-12)
    assert whole.certificate.proves(1e-6)
    assert len(whole.certificate.parts) == 6
    assert objective_of("glml", X, y, whole.metric, query=Q) == pytest.approx(whole.objective, abs=1e-12)
    evaluation = cvxml.evaluate("glml", X, y, whole.metric, query=Q)
    assert evaluation.B.shape == (6, 3, 3)
    assert len(evaluation.case) == 6


def test_a_certificate_of_many_is_as_good_as_the_worst() -> None:
    X, y = classes(0)
    Q = X[:4]
    solution = cvxml.solve("glml", X, y, query=Q)
    wrong = solution.metric.copy()
    wrong[2] = np.eye(3)
    proof = cvxml.certify("glml", X, y, wrong, solution.dual, query=Q)
    assert not proof.proves(1e-3)
    assert [part.proves(1e-6) for part in proof.parts] == [True, True, False, True]
    report = cvxml.check("glml", X, y, wrong, query=Q, diagnosed=False)
    assert report.verdict is Verdict.REFUTED
    assert "query 2" in report.reasons[1]
    assert report.witness is not None
    assert report.witness.metric.shape == (3, 3)
    assert cvxml.check("glml", X, y, solution.metric, query=Q).verdict is Verdict.CERTIFIED
    L = np.linalg.cholesky(solution.metric).transpose(0, 2, 1)
    assert cvxml.check("glml", X, y, components=L, query=Q).verdict is Verdict.CERTIFIED
    with pytest.raises(ValueError, match="4 rows of query"):
        cvxml.check("glml", X, y, wrong[0], query=Q)
    with pytest.raises(ValueError, match="claimed objective"):
        cvxml.check("glml", X, y, claimed_objective=1.0, query=Q)


def test_the_radius_of_many_covers_all_of_them() -> None:
    X, y = classes(0)
    values = cvxml.evaluate("glml", X, y, np.array([np.eye(3)] * len(X)), query=X).eigenvalues
    definite_ones = X[np.abs(np.sign(values).sum(axis=1)) == 3][:3]
    solution = cvxml.solve("glml", X, y, query=definite_ones)
    root = np.linalg.cholesky(solution.metric) @ (np.eye(3) + 0.1 * np.diag([1.0, 0.0, -1.0]))
    A = root @ root.transpose(0, 2, 1)
    A /= (np.linalg.det(A) ** (1 / 3))[:, None, None]
    proof = cvxml.certify("glml", X, y, A, solution.dual, query=definite_ones)
    assert np.linalg.norm(A - solution.metric) <= proof.radius < np.inf


def test_check_names_a_wrong_determinant_and_what_is_right_but_for_it() -> None:
    X, y = classes(0, 2)
    A = cvxml.solve("glml", X, y).metric
    report = cvxml.check("glml", X, y, 3 * A)
    assert report.verdict is Verdict.REFUTED
    assert "determinant" in report.reasons[0]
    assert any("factor" in line for line in report.diagnosis)
    assert cvxml.check("glml", X, y, np.linalg.inv(A), diagnosed=False).verdict is Verdict.REFUTED


def test_an_indefinite_candidate_is_judged_by_its_cosine() -> None:
    """|tr A^-1 B| / ||A^-1|| is what tol bounds, whatever our own metric leaves of it."""
    X, y = classes(0)
    query = X[next(i for i in range(30) if "indefinite" in cvxml.solve("glml", X, y, query=X[i]).notes[0])]
    best = cvxml.solve("glml", X, y, query=query)
    B = cvxml.evaluate("glml", X, y, best.metric, query=query).B
    for size, right in ((1e-9, Verdict.CERTIFIED), (1e-4, Verdict.CLOSE)):
        A = best.metric + size * np.linalg.norm(best.metric) * np.eye(3)
        A /= np.linalg.det(A) ** (1 / 3)
        M = np.linalg.inv(A)
        report = cvxml.check("glml", X, y, A, query=query, diagnosed=False)
        assert report.rel_gap == pytest.approx(abs(np.trace(M @ B)) / np.linalg.norm(M), rel=1e-3)
        assert report.verdict is right


def test_where_the_infimum_is_not_attained_the_status_says_so() -> None:
    """Two Gaussians of one mean that differ along one axis: at the mean B has rank one, exactly."""
    cross = np.concatenate([np.eye(3), -np.eye(3)])
    X, y, query = np.concatenate([cross, cross * [1, 1, 2]]), np.repeat([0, 1], 6), np.zeros(3)
    with pytest.warns(ConvergenceWarning):
        solution = cvxml.solve("glml", X, y, query=query)
    assert solution.status is Status.NOT_ATTAINED
    with pytest.warns(ConvergenceWarning):
        assert cvxml.solve("glml", X, y, query=query, tol=0.9).status is Status.NOT_ATTAINED
    given = {"query": query, "diagnosed": False}
    assert cvxml.check("glml", X, y, solution.metric, **given).verdict is not Verdict.CERTIFIED
    longer = np.diag([2.0**-20, 2.0**-20, 2.0**40])  # the infimum is approached, and no metric is optimal
    for exact in (False, True):
        report = cvxml.check("glml", X, y, longer, exact=exact, **given)
        assert report.rel_gap < 1e-6
        assert report.verdict is Verdict.INCONCLUSIVE


def test_a_saved_metric_near_an_infimum_that_is_not_attained_is_not_certified(tmp_path: Path) -> None:
    """The same problem at two queries. At the second query B is indefinite, and its metric is optimal."""
    cross = np.concatenate([np.eye(3), -np.eye(3)])
    X, y = np.concatenate([cross, cross * [1, 1, 2]]), np.repeat([0, 1], 6)
    queries = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 1.0]])
    with pytest.warns(ConvergenceWarning):
        solution = cvxml.solve("glml", X, y, query=queries)
    metrics = np.array([np.diag([2.0**-20, 2.0**-20, 2.0**40]), solution.metric[1]])
    near = cvxml.certify("glml", X, y, metrics, solution.dual, query=queries)
    assert near.rel_gap < 1e-6
    path = tmp_path / "longer.json"
    replace(solution, metric=metrics, certificate=near).save(path)
    found = cvxml.certify_solution(path)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "at 1 of 2 queries" in found.reason


@pytest.mark.parametrize("unit", [2.0**-25, 2.0**-33])
def test_features_in_units_far_apart_are_no_singular_covariance(unit: float) -> None:
    """The conditions of the covariances are about 1e15 and 1e20. B is definite."""
    half = np.random.default_rng(0).standard_normal((30, 3)) * [1, 1, unit]
    X, y, query = np.concatenate([half, 3 * half]), np.repeat([0, 1], 30), half.mean(axis=0)
    solution = cvxml.solve("glml", X, y, query=query)
    assert solution.status is Status.CONVERGED
    assert cvxml.check("glml", X, y, solution.metric, query=query).verdict is Verdict.CERTIFIED
    scaled = cvxml.solve("glml", X / [1, 1, unit], y, query=query / [1, 1, unit]).metric
    size = np.array([1, 1, unit]) * unit ** (-1 / 3)
    np.testing.assert_allclose(solution.metric * np.outer(size, size), scaled, rtol=1e-6, atol=1e-6)


def collinear(apart: float) -> tuple[Any, Any]:
    """Two classes whose last feature is the first, or next to it."""
    half = np.random.default_rng(0).standard_normal((30, 4))
    half[:, 3] = half[:, 0] + apart * np.round(half[:, 3])
    return np.concatenate([half, 3 * half]), np.repeat([0, 1], 30)


@pytest.mark.parametrize(("apart", "singular"), [(0.0, True), (2.0**-45, False)])
def test_a_covariance_is_called_singular_where_it_is(apart: float, singular: bool) -> None:
    X, y = collinear(apart)
    with pytest.raises(ValueError, match=r"class '0'.*alpha > 0") as refused_:
        cvxml.solve("glml", X, y)
    assert ("singular" in str(refused_.value)) == singular
    assert ("3 of 4" in str(refused_.value)) == singular
    assert ("condition" in str(refused_.value)) != singular


def test_a_metric_without_digits_is_not_certified_and_no_covariance_is_called_singular() -> None:
    """The condition is about 1e14, and the features are nearly collinear."""
    with pytest.warns(ConvergenceWarning):
        solution = cvxml.solve("glml", *collinear(2.0**-23))
    assert solution.status is Status.STALLED
    assert "singular" not in str(solution.notes) + solution.certificate.undecided


def test_what_is_singular_but_for_rounding_is_not_said_to_be() -> None:
    """The same of covariances that agree to rounding: whether the infimum is attained is not known."""
    rng = np.random.default_rng(0)
    half = rng.standard_normal((200, 3))
    half -= half.mean(axis=0)
    half = half @ np.linalg.inv(np.linalg.cholesky(np.cov(half.T, bias=True))).T
    X, y, query = np.concatenate([half, half * [1, 1, 2]]), np.repeat([0, 1], 200), np.zeros(3)
    with pytest.warns(ConvergenceWarning):
        solution = cvxml.solve("glml", X, y, query=query)
    assert solution.status is Status.STALLED
    report = cvxml.check("glml", X, y, solution.metric, query=query, diagnosed=False)
    assert report.verdict is Verdict.INCONCLUSIVE
    assert "not decided" in cvxml.evaluate("glml", X, y, solution.metric, query=query).case


@SOLVERS
def test_the_literal_solvers_are_certified_at_several_queries(solver: str) -> None:
    X, y = classes(0, 2)
    solution = cvxml.solve("glml", X, y, query=X[:3], solver=solver, tol=1e-3)
    assert solution.certificate.proves(1e-3)
    assert cvxml.check("glml", X, y, solution.metric, query=X[:3], tol="loose").verdict is Verdict.CERTIFIED


def test_the_literal_problem_is_stated_at_one_query() -> None:
    X, y = classes(0)
    assert cvxml.problem("glml", X, y, query=X[0]).is_dcp()
    with pytest.raises(ValueError, match="for one query, got 2"):
        cvxml.problem("glml", X, y, query=X[:2])


def test_saved_local_metrics_are_judged_again(cli: Cli, tmp_path: Any) -> None:
    X, y = classes(0)
    np.savez(tmp_path / "three.npz", X=X, y=y)
    np.save(tmp_path / "Q.npy", X[:3])
    for ending in ("json", "npz"):
        name = f"s.{ending}"
        answer = cli("solve", "glml", "three.npz", "--query", "Q.npy", "--alpha", "0.1", "--out", name)
        assert answer.code == 0, answer.err
        assert cli("certify", name).code == 0
        assert recompute.main(str(tmp_path / name))
    content = json.loads((tmp_path / "s.json").read_text(encoding="utf-8"))
    assert np.shape(content["metric"]) == (3, 3, 3)
    np.save(tmp_path / "A.npy", content["metric"])
    given = ("three.npz", "--query", "Q.npy", "--metric", "A.npy")
    assert cli("check", "glml", *given, "--alpha", "0.1").code == 0
    assert cli("check", "glml", *given, "--alpha", "5").code == 1
    evaluation = json.loads(cli("evaluate", "glml", *given, "--alpha", "0.1", "--json").out)
    assert np.shape(evaluation["G"]) == (3, 3, 3, 3)
    content["metric"][1] = np.eye(3).tolist()
    (tmp_path / "s.json").write_text(json.dumps(content), encoding="utf-8")
    assert cli("certify", "s.json").code == 1
    assert not recompute.main(str(tmp_path / "s.json"))
    one = cli("solve", "glml", "three.npz", "--query", "0.1,0.2,-0.3", "--priors", "1,2,3", "--json")
    assert np.shape(json.loads(one.out)["metric"]) == (3, 3)
    for wrong in (["--query", "0.1,x,3"], ["--query", "1,2"], ["--priors", "1,2"], ["--priors", "some"]):
        assert refused(cli("solve", "glml", "three.npz", *wrong))


def test_a_model_of_ones_own_cannot_be_saved(tmp_path: Any) -> None:
    X, y = classes(0)
    solution = cvxml.solve("glml", X, y, model=Student(np.eye(3)))
    assert solution.status in (Status.CONVERGED, Status.NOT_ATTAINED)
    with pytest.raises(ValueError, match="model"):
        solution.save(tmp_path / "s.json")


@pytest.mark.parametrize("cond", [1e5, 1e8, 1e10])
def test_rounding_grows_with_the_condition_of_the_metric(cond: float) -> None:
    """(tr A^-1 B)^2 of an ill-conditioned A is off by cond times eps; what is claimed must allow for that.

    The truth is computed in fractions, by the adjugate: tr(A^-1 B) = tr(adj(A) B) / det A.
    """
    B = np.diag([0.6, 0.3, -0.7])
    B /= np.linalg.norm(B)
    for seed in range(10):
        q = np.linalg.qr(np.random.default_rng(seed).standard_normal((3, 3)))[0]
        A = (q * np.array([cond, np.sqrt(cond), 1.0])) @ q.T
        A = (A + A.T) / 2
        A /= np.linalg.det(A) ** (1 / 3)
        F = [[Fraction(v) for v in row] for row in A.tolist()]
        adjugate = [
            [
                F[(j + 1) % 3][(i + 1) % 3] * F[(j + 2) % 3][(i + 2) % 3]
                - F[(j + 1) % 3][(i + 2) % 3] * F[(j + 2) % 3][(i + 1) % 3]
                for j in range(3)
            ]
            for i in range(3)
        ]
        det = sum((F[0][i] * adjugate[i][0] for i in range(3)), Fraction(0))
        t = (
            sum((adjugate[i][j] * Fraction(float(B[j, i])) for i in range(3) for j in range(3)), Fraction(0))
            / det
        )
        true = float(t) ** 2 * float(det) ** (2 / 3)
        proof = certify_at(B, A, 0.0, 0.0)
        assert abs(proof.objective - true) <= proof.rounding + 1e-12 * true


def test_a_report_of_many_is_as_good_as_the_worst_and_adds_up() -> None:
    X, y = classes(0)
    one = [cvxml.check("glml", X, y, cvxml.solve("glml", X, y, query=q).metric, query=q) for q in X[:3]]
    for verdict in Verdict:
        assert of_all([one[0], replace(one[1], verdict=verdict), one[2]]).verdict is verdict
    refuted, left_open = (replace(one[0], verdict=v) for v in (Verdict.REFUTED, Verdict.INCONCLUSIVE))
    assert of_all([left_open, refuted]).verdict is Verdict.REFUTED
    whole = of_all(one)
    for name in ("lower_bound", "scale", "reference_objective", "objective", "gap", "rounding"):
        total = sum(getattr(report, name) for report in one)
        assert getattr(whole, name) == pytest.approx(total, rel=1e-12, abs=1e-300)
    assert whole.rel_gap == max(report.rel_gap or 0.0 for report in one)
    many = of_all([left_open] * 25)
    assert len(many.reasons) == 22
    assert many.reasons[-1] == "and 5 more queries"


def test_the_radius_counts_the_step_to_determinant_1() -> None:
    """B of two classes at 0, +-v by symmetry definite in one dimension: the optimum is A = 1."""
    X, y = np.array([[-1.0], [0.0], [1.0], [1.5], [2.5], [4.0]]), [0, 0, 0, 1, 1, 1]
    query = [0.25]
    solution = cvxml.solve("glml", X, y, query=query)
    assert solution.metric[0, 0] == pytest.approx(1, abs=1e-12)
    for error in (9e-7, -9e-7, 3e-8):
        proof = cvxml.certify("glml", X, y, [[1 + error]], solution.dual, query=query)
        assert proof.radius >= abs(error) * (1 - 1e-6)


def test_radii_next_to_overflow_and_of_nothing_add_up() -> None:
    X, y = classes(0)
    one = cvxml.check("glml", X, y, cvxml.solve("glml", X, y, query=X[0]).metric, query=X[0])
    assert of_all([replace(one, radius=1e300)] * 2).radius == pytest.approx(math.sqrt(2) * 1e300)
    assert of_all([replace(one, radius=0.0)] * 2).radius == 0
    assert of_all([one, replace(one, radius=None)]).radius == math.inf
