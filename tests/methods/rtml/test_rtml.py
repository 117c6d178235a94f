"""RTML, and the problems that it contains: optima from KKT, FrobMetric without a width, 0, misreadings, tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import cvxml
from cvxml.core.metric import FloatArray
from cvxml.core.report import Verdict
from tests.cli.commands import Cli
from tests.instances import assert_named, real_data
from tests.methods.frobmetric.test_frobmetric import triplets
from validation import recompute

ID = "rtml"


def outer(X: Any, found: Any) -> list[FloatArray]:
    """H_t of every triplet."""
    X = np.asarray(X)
    return [np.outer(X[i] - X[l], X[i] - X[l]) - np.outer(X[i] - X[j], X[i] - X[j]) for i, j, l in found]


class Known(NamedTuple):
    """An instance whose optimum follows from its construction, without any solver."""

    X: FloatArray
    triplets: list[list[int]]
    lam: float
    width: float
    M: FloatArray
    objective: float


def from_kkt(seed: int, *, hinge: bool, diagonal: bool = False, d: int = 5) -> Known:
    """Each triplet has points of its own, l away along an axis q_k of its own, j along one where M* is 0.

    M* = sum alpha_k q_k q_k^T, and beta_k is how far l is: the margin is v = alpha beta^2, and a beta^2 = lam alpha. So
    a price a and a margin v that belong together give beta^4 = lam v / a:
      within the width 0 < a < 1 and v = 1 - width a;  on the straight part a = 1 and v < 1 - width.
    A last triplet, along the first axis, keeps its margin and has no price. hinge: the width is 0. diagonal: the axes
    are the features.
    """
    rng = np.random.default_rng(seed)
    lam, width = float(10 ** rng.uniform(-2, 2)), 0.0 if hinge else float(rng.uniform(0.05, 0.9))
    q = np.eye(d) if diagonal else np.linalg.qr(rng.standard_normal((d, d)))[0]
    duals = np.array([*rng.uniform(0.1, 0.9, 2), 1.0, 1.0])
    margins = np.where(duals < 1, 1 - width * duals, (1 - width) * rng.uniform(0.2, 0.9, 4))
    beta = (lam * margins / duals) ** 0.25
    alpha = margins / beta**2
    away = [*(b * q[:, k] for k, b in enumerate(beta)), 1.3 * q[:, 0] / np.sqrt(alpha[0])]
    points, listed = [], []
    for k, b in enumerate(away):
        centre = rng.standard_normal(d)
        points += [centre, centre + rng.uniform(0.1, 1) * q[:, -1], centre - b]
        listed.append([3 * k, 3 * k + 1, 3 * k + 2])
    M = (q[:, :4] * alpha) @ q[:, :4].T
    lost = np.where(duals < 1, width * duals**2 / 2, 1 - margins - width / 2)
    return Known(np.array(points), listed, lam, width, M, lam / 2 * float(alpha @ alpha) + float(lost.sum()))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("method", ["rtml", "frobmetric", "schultz_joachims"])
def test_from_kkt(method: str, seed: int) -> None:
    """With the hinge and divided by lam it is FrobMetric, or Schultz and Joachims for a diagonal metric."""
    known = from_kkt(seed, hinge=method != "rtml", diagonal=method == "schultz_joachims")
    weights, per = {
        "rtml": ({"lam": known.lam, "width": known.width}, 1.0),
        "frobmetric": ({"C": len(known.triplets) / known.lam}, known.lam),
        "schultz_joachims": ({"C": 1 / known.lam}, known.lam),
    }[method]
    given: dict[str, Any] = {**weights, "triplets": known.triplets}
    solution = cvxml.solve(method, known.X, None, tol=1e-9, **given)
    assert per * solution.objective == pytest.approx(known.objective, rel=1e-8)
    assert np.linalg.norm(solution.metric - known.M) <= solution.certificate.radius * (1 + 1e-6) + 1e-9
    for factor, verdict in ((1, Verdict.CERTIFIED), (1.002, Verdict.CLOSE), (1.2, Verdict.REFUTED)):
        report = cvxml.check(method, known.X, None, factor * known.M, diagnosed=False, **given)
        assert report.verdict is verdict


def test_without_a_width_it_is_frobmetric() -> None:
    """1/2 ||M||^2 + C/m sum of hinges is 1/lam of it, with C = m / lam."""
    X, y = real_data("iris", 30)
    m, lam = len(triplets(y, X, 2)), 5.0
    ours = cvxml.solve(ID, X, y, lam=lam, width=0, n_neighbors=2, tol=1e-9)
    theirs = cvxml.solve("frobmetric", X, y, C=m / lam, n_neighbors=2, tol=1e-9)
    assert ours.objective == pytest.approx(lam * theirs.objective, rel=1e-8)
    both = ours.certificate.radius + theirs.certificate.radius
    assert np.linalg.norm(ours.metric - theirs.metric) <= both
    narrow = cvxml.solve(ID, X, y, lam=lam, width=1e-6, n_neighbors=2, tol=1e-9)
    assert narrow.objective == pytest.approx(ours.objective, abs=m * 1e-6)  # a loss is width / 2 less at most


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ("method", "given"),
    [(ID, {"width": 0.0}), (ID, {"width": 0.05}), (ID, {"width": 1.0}), ("schultz_joachims", {})],
)
def test_only_0_is_certified_where_the_sum_of_H_has_no_positive_eigenvalue(
    method: str, given: dict[str, Any]
) -> None:
    X, given = [[0.0], [1.0], [3.0], [2.0]], {**given, "triplets": [[0, 2, 1], [0, 1, 3], [1, 2, 3]]}
    H = outer(X, given["triplets"])
    assert float(sum(H)[0, 0]) < 0 < float(H[1][0, 0])
    solution = cvxml.solve(method, X, None, **given)
    assert (solution.metric[0, 0], solution.gap) == (0, 0)
    assert cvxml.check(method, X, None, [[0.0]], exact=True, **given).verdict is Verdict.CERTIFIED
    for other in (1e-9, 1.0):
        assert cvxml.check(method, X, None, [[other]], **given).verdict is not Verdict.CERTIFIED


@pytest.mark.quick(1)
@pytest.mark.parametrize("misreading", ["mean", "no_half", "hinge"])
def test_a_misreading_is_named(misreading: str) -> None:
    X, y = real_data("iris", 30)
    asked = {"lam": 5.0, "width": 0.3}
    mistake = {
        "mean": {"lam": 5.0 * len(triplets(y, X, 3))},
        "no_half": {"lam": 2 * 5.0},
        "hinge": {"width": 0.0},
    }[misreading]
    other = cvxml.solve(ID, X, y, tol=1e-9, **{**asked, **mistake})
    assert_named(ID, misreading, X, y, other.metric, **asked)


@pytest.mark.parametrize("width", [0.0, 1.0])
def test_a_saved_solution_is_proved_without_the_package(width: float) -> None:
    """The golden cases have widths in between."""
    X, y = real_data("iris", 24)
    content = cvxml.solve(ID, X, y, lam=7.0, width=width, n_neighbors=1).to_dict()
    _, _, gap, _, scale = recompute.recompute(content)
    assert gap <= 1e-6 * scale


@pytest.mark.parametrize(
    ("estimator", "method", "weight"),
    [
        (cvxml.RTML(2.0), "rtml", "lam"),
        (cvxml.FrobMetric(2.0), "frobmetric", "C"),
        (cvxml.BoostMetric(2.0), "boostmetric", "v"),
    ],
)
def test_the_estimators_take_triplets(estimator: Any, method: str, weight: str) -> None:
    X, y = real_data("iris", 30)
    found = triplets(y, X, 1)[:20]
    known = cvxml.solve(method, X, None, triplets=found, **{weight: 2.0})
    assert known.metric.any()
    M = estimator.fit(X, triplets=found).get_mahalanobis_matrix()
    np.testing.assert_allclose(M, known.metric, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("header", ["", "i,j,l\n"])
def test_triplets_are_rows_of_a_table(cli: Cli, tmp_path: Path, header: str) -> None:
    """0, 1, 2 in the first line is a triplet, and no header."""
    found = [[0, 1, 2], *triplets(real_data("iris")[1], real_data("iris")[0], 1)[:20]]
    path = tmp_path / "t.csv"
    path.write_text(header + "".join(f"{i},{j},{l}\n" for i, j, l in found))
    answer = cli("solve", ID, "iris", "--standardize", "--triplets", str(path), "--lam", "7", "--json")
    known = cvxml.solve(ID, *real_data("iris"), triplets=found, lam=7)
    assert json.loads(answer.out)["objective"] == pytest.approx(known.objective, rel=1e-9)


@pytest.mark.parametrize("entry", ["1.5", "nan"])
def test_what_is_no_index_is_refused(cli: Cli, tmp_path: Path, entry: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f"0,{entry},2\n")
    answer = cli("solve", ID, "iris", "--triplets", str(path))
    assert answer.code == 2
    assert entry in answer.err
