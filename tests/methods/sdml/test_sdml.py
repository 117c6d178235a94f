"""SDML: known optima, any U, an indefinite S, what is unbounded and its proof, what follows units, its mistakes."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from sklearn.covariance import graphical_lasso

import cvxml
from cvxml.core.balls import rounded
from cvxml.core.exact import flint
from cvxml.core.metric import FloatArray
from cvxml.core.report import Verdict
from cvxml.core.result import Status
from cvxml.methods import sdml
from cvxml.methods.sdml.box_proof import ROUNDED, descent, directions, to_domain
from tests.instances import assert_named, checked, fractions, objective_of, own_misreadings, random_data

X, Y = random_data(3, n=24, d=4, classes=3)
PAIRS = {
    "similar": [[0, 3], [1, 4], [2, 5], [3, 6], [4, 7], [5, 8], [6, 9]],
    "dissimilar": [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9], [0, 5]],
}
PRIOR = np.diag([1.0, 2.0, 0.5, 1.0]) + 0.2
GIVEN: dict[str, Any] = {"pairs": PAIRS, "eta": 0.005, "lam": 0.2, "prior": PRIOR}


def weighted(pairs: Any = PAIRS, eta: float = 0.005, prior: Any = PRIOR) -> FloatArray:
    """S, pair by pair."""
    S = np.linalg.inv(prior)
    for sign, kind in ((1, "similar"), (-1, "dissimilar")):
        for i, j in pairs[kind]:
            S = S + sign * eta * np.outer(X[i] - X[j], X[i] - X[j])
    found: FloatArray = S
    return found


def optimum(S: FloatArray, lam: float, penalised: FloatArray | None = None) -> FloatArray:
    """M of another statement: a variable for what is above the diagonal, its absolute value twice."""
    d = len(S)
    M = cp.Variable((d, d), PSD=True)
    where = np.triu(np.ones((d, d)), 1) * 2 if penalised is None else penalised
    penalty = cp.sum(cp.multiply(where, cp.abs(M)))
    cp.Problem(cp.Minimize(cp.trace(S @ M) - cp.log_det(M) + lam * penalty)).solve(
        cp.SCS, eps=1e-10, max_iters=100_000
    )
    found: FloatArray = (M.value + M.value.T) / 2
    return found


def axes(*rows: list[float]) -> FloatArray:
    """The origin and these points."""
    return np.array([[0.0] * len(rows[0]), *rows])


# ---------------------------------------------------------------- the optimum


@pytest.mark.parametrize("seed", [0, 1])
def test_built_from_its_optimum(seed: int) -> None:
    """M sparse, W = M^-1 and S = W - U for a U of the box: S is a prior's inverse, and no pair counts (eta small)."""
    rng = np.random.default_rng(seed)
    M = np.diag(rng.uniform(1, 2, 4))
    M[0, 1] = M[1, 0] = 0.4
    M[2, 3] = M[3, 2] = -0.5
    U = rng.uniform(-0.1, 0.1, (4, 4))
    U = np.where(M != 0, 0.1 * np.sign(M), (U + U.T) / 2)
    np.fill_diagonal(U, 0.0)
    prior = np.linalg.inv(np.linalg.inv(M) - U)
    pairs = {"similar": [[0, 1]], "dissimilar": []}
    twins = np.zeros((3, 4))
    solution = cvxml.solve(
        "sdml", twins, None, pairs=pairs, prior=(prior + prior.T) / 2, lam=0.1, eta=1.0, tol=1e-9
    )
    np.testing.assert_allclose(solution.metric, M, atol=1e-4)
    assert ((solution.metric != 0) == (M != 0)).all()


def test_by_default_the_pairs_weigh_half_of_the_prior() -> None:
    for prior in (np.eye(4), PRIOR):
        eta = cvxml.solve("sdml", X, None, pairs=PAIRS, prior=prior).params["eta"]
        C = np.linalg.cholesky(prior)
        of_pairs = C.T @ (weighted(prior=prior, eta=eta) - np.linalg.inv(prior)) @ C
        assert np.abs(np.linalg.eigvalsh(of_pairs)).max() == pytest.approx(0.5, rel=1e-9)
    twins = np.zeros((3, 2))
    assert (
        cvxml.solve("sdml", twins, None, pairs={"similar": [[0, 1]], "dissimilar": []}).params["eta"] == 1.0
    )


# ---------------------------------------------------------------- the bound


def test_a_feasible_u_is_taken_as_it_is() -> None:
    U = 0.1 * (np.ones((4, 4)) - np.eye(4))
    proof = cvxml.certify("sdml", X, None, PRIOR, {"U": U}, **GIVEN)
    np.testing.assert_array_equal(proof.dual["U"], U)
    assert proof.lower_bound == pytest.approx(4 + np.linalg.slogdet(weighted() + U)[1], rel=1e-12)


def test_a_u_outside_is_clipped_and_one_that_is_not_definite_is_mixed() -> None:
    wild = np.full((4, 4), np.inf)
    proof = cvxml.certify("sdml", X, None, PRIOR, {"U": wild}, **GIVEN)
    np.testing.assert_array_equal(proof.dual["U"], 0.2 * (1 - np.eye(4)))
    apart = np.triu(wild, 1) - np.tril(wild, -1)
    np.testing.assert_array_equal(cvxml.certify("sdml", X, None, PRIOR, {"U": apart}, **GIVEN).dual["U"], 0)
    wide = {**GIVEN, "lam": 50.0}
    proof = cvxml.certify("sdml", X, None, PRIOR, {"U": wild}, **wide)
    U = proof.dual["U"]
    assert np.abs(U).max() <= 50.0
    assert np.linalg.eigvalsh(weighted() + U)[0] > 0
    assert proof.lower_bound >= 4 + np.linalg.slogdet(weighted())[1] - 1e-9


def test_a_singular_metric_costs_infinity() -> None:
    singular = np.diag([1.0, 1.0, 1.0, 0.0])
    assert objective_of("sdml", X, None, singular, **GIVEN) == np.inf
    assert cvxml.check("sdml", X, None, singular, **GIVEN).verdict is Verdict.REFUTED
    of, given = checked("sdml", X, None, **GIVEN)
    with pytest.raises(ValueError, match="singular"):
        of.exact(given, singular, {"U": np.zeros((4, 4))})


@pytest.mark.parametrize("unit", [1e-60, 1024.0, 1e60])
def test_units_change_the_value_alone_where_parameters_follow(unit: float) -> None:
    """log det M falls by 2 d log(unit)."""
    plain = cvxml.solve("sdml", X, None, **GIVEN, tol=1e-9)
    other = {**GIVEN, "prior": PRIOR / unit**2, "lam": 0.2 * unit**2}
    moved = cvxml.solve("sdml", unit * X, None, **other, tol=1e-9)
    np.testing.assert_allclose(moved.metric * unit**2, plain.metric, rtol=1e-4, atol=1e-7)
    assert moved.objective - 8 * np.log(unit) == pytest.approx(plain.objective, abs=1e-8)


@pytest.mark.parametrize(
    ("unit", "params"),
    [(1e-145, {}), (1e145, {}), *((unit, {"prior": "covariance"}) for unit in (1e-290, 1e-160, 1e290))],
)
def test_what_is_no_float_is_refused(unit: float, params: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="rescale"):
        cvxml.solve("sdml", unit * X, Y, **params)


# ---------------------------------------------------------------- S that is not positive definite


INDEFINITE = {"similar": [], "dissimilar": [[0, 1]]}  # S = I - eta (1, 1)(1, 1)^T


@pytest.mark.parametrize(("eta", "lam"), [(0.6, 0.3), (0.9, 0.85)])
def test_an_indefinite_s_is_solved_where_the_problem_is_bounded(eta: float, lam: float) -> None:
    """W_12 is as near to 0 as lam lets it be."""
    points = axes([1.0, 1.0])
    solution = cvxml.solve("sdml", points, None, pairs=INDEFINITE, eta=eta, lam=lam, tol=1e-9)
    w = -max(0.0, eta - lam)
    W = np.array([[1 - eta, w], [w, 1 - eta]])
    assert np.linalg.eigvalsh(np.eye(2) - eta)[0] < 0
    assert solution.status is Status.CONVERGED
    np.testing.assert_allclose(solution.metric, np.linalg.inv(W), rtol=1e-4, atol=1e-6)
    assert any("definite" in note for note in solution.notes)


@pytest.mark.parametrize(
    ("eta", "lam", "says"),
    [
        (1.0, 0.5, r"S\[0, 0\] is 0"),  # exactly 0
        (1.5, 5.0, r"S\[0, 0\] is -0.5"),
        (0.75, 0.25, "psd"),  # W_12 = -1/2 is below -1/4
        (0.75, 0.5, "psd"),  # W_12 = -1/4 = -W_11: singular, no more
        (0.5, 0.0, "lam"),  # S is singular
        (0.75, 0.0, "lam"),
    ],
)
def test_what_is_unbounded_is_refused_with_a_proof(eta: float, lam: float, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        cvxml.solve("sdml", axes([1.0, 1.0]), None, pairs=INDEFINITE, eta=eta, lam=lam)


def test_what_is_definite_by_rounding_alone_is_no_start() -> None:
    """S = [[a, c], [c, c^2 / a - 2^-80]] has the determinant -a 2^-80; some of its roundings are definite."""
    definite = 0
    for a, c in np.random.default_rng(0).uniform(0.5, 1, (20, 2)).tolist():
        own = [a, c, Fraction(c) ** 2 / Fraction(a) - Fraction(1, 2**80)]
        entries = [flint().fmpq(*Fraction(entry).as_integer_ratio()) for entry in own]
        S = flint().fmpq_mat([entries[:2], entries[1:]])
        definite += bool(np.linalg.eigvalsh(rounded(S))[0] > 0)
        with pytest.raises(ValueError, match="unbounded"):
            sdml.start_of(S, rounded(S), 0.0)
    assert definite


@pytest.mark.parametrize("d", [1, 2, 5])
def test_directions_are_the_matrix_and_what_is_of_rank_1_beside_it(d: int) -> None:
    """Each is psd, symmetric and no 0: what it proves is that of its own integers, whatever D was."""
    rng = np.random.default_rng(d)
    v = np.round(rng.uniform(-4, 4, d)) + 0.5
    noise = 1e-9 * rng.standard_normal((d, d))
    D = np.outer(v, v) + noise @ noise.T
    (own, at), *others = directions(D)
    exact = np.array([[int(entry) for entry in row] for row in own.tolist()]) * Fraction(2) ** at
    assert (exact == fractions(D / 2 + D.T / 2)).all()
    assert len(others) == 3
    for (near, at), bits in zip(others, ROUNDED, strict=True):
        assert near.rank() == 1
        M = np.array([[float(int(entry)) for entry in row] for row in near.tolist()])
        assert (M == M.T).all()
        assert np.trace(M) > 0
        (w,) = np.linalg.eigh(M)[1][:, -1:].T
        assert abs(w @ v) / np.linalg.norm(v) > (1 - 1e-4 if bits else 0.6)
        if bits:
            assert np.trace(M) * 4.0**-bits * 2.0**at == pytest.approx(v @ v / np.abs(v).max() ** 2, rel=2e-2)


def test_a_direction_that_is_exact_only_once_it_is_rounded_proves_it() -> None:
    """S = [[1, -3/2], [-3/2, 1]] in a box of half a unit: singular, and no float eigenvector says so."""
    fmpq = flint().fmpq
    S = flint().fmpq_mat([[fmpq(1), fmpq(-3, 2)], [fmpq(-3, 2), fmpq(1)]])
    nearly_exact = np.array([[1.0, 1 + 1e-12], [1 + 1e-12, 1 + 3e-12]])
    found = [descent(S, 0.5, *D) for D in directions(nearly_exact)]
    assert found[0] is None  # is not psd, or above 0
    assert found[1] == 0


@pytest.mark.parametrize("points", [[[0.0], [1.0], [3.0]], [[0.0, 1e-12], [1.0, 0.0], [3.0, 5e-12]]])
def test_a_lam_that_allows_everything_has_the_diagonal(points: Any) -> None:
    pairs = {"similar": [[0, 1]], "dissimilar": [[1, 2]]}
    given: dict[str, Any] = {"pairs": pairs, "eta": 0.1}
    solution = cvxml.solve("sdml", points, None, lam=1.7e308, **given)
    assert solution.status is Status.CONVERGED
    S = cvxml.evaluate("sdml", points, None, solution.metric, lam=1.7e308, **given).S
    np.testing.assert_allclose(solution.metric, np.diag(1 / np.diag(S)), atol=1e-4)


@pytest.mark.parametrize("seed", range(6))
def test_what_is_refused_at_random_has_no_definite_matrix_in_its_box(seed: int) -> None:
    """By another program: the largest least eigenvalue over the box."""
    rng = np.random.default_rng(seed)
    points = np.concatenate([np.zeros((1, 3)), rng.standard_normal((4, 3))])
    pairs = {"similar": [[0, 1], [0, 2]], "dissimilar": [[0, 3], [0, 4]]}
    params = {"pairs": pairs, "eta": 0.5, "lam": 0.25}
    S = np.eye(3)
    for k, sign in ((1, 1), (2, 1), (3, -1), (4, -1)):
        S = S + 0.5 * sign * np.outer(points[k], points[k])
    W, least = cp.Variable((3, 3), symmetric=True), cp.Variable()
    box = [W - least * np.eye(3) >> 0, cp.abs(W - S) <= 0.25 * (1 - np.eye(3))]
    cp.Problem(cp.Maximize(least), box).solve(cp.CLARABEL)
    assert abs(least.value) > 1e-3  # so that this program decides it
    if least.value > 0:
        assert cvxml.solve("sdml", points, None, **params).status is Status.CONVERGED
    else:
        with pytest.raises(ValueError, match="unbounded"):
            cvxml.solve("sdml", points, None, **params)


# ---------------------------------------------------------------- what a "dual gap" is


def test_a_number_of_any_metric_is_0_for_the_right_multiple() -> None:
    """tr S M + lam ||M||_off - d is linear along the multiples of M: no bound."""
    best = cvxml.solve("sdml", X, None, **GIVEN, tol=1e-9)
    at = cvxml.evaluate("sdml", X, None, PRIOR, **GIVEN)
    multiple = 4 / (at.gap_if_feasible + 4) * PRIOR
    assert cvxml.evaluate("sdml", X, None, multiple, **GIVEN).gap_if_feasible == pytest.approx(0, abs=1e-9)
    assert objective_of("sdml", X, None, multiple, **GIVEN) > best.objective + 0.1
    assert cvxml.evaluate("sdml", X, None, 0.5 * multiple, **GIVEN).gap_if_feasible == pytest.approx(-2)


def test_it_is_a_gap_where_the_inverse_lies_in_the_box() -> None:
    U = np.zeros((4, 4))
    U[0, 1] = U[1, 0] = 0.15
    M = np.linalg.inv(weighted() + U)
    proof = cvxml.certify("sdml", X, None, M, {"U": U}, **GIVEN)
    at = cvxml.evaluate("sdml", X, None, M, **GIVEN)
    assert at.gap_if_feasible == pytest.approx(proof.gap, rel=1e-9)


def test_graphical_lasso_ends_at_a_metric_that_is_judged() -> None:
    found = graphical_lasso(weighted(), alpha=0.2, tol=1e-6)[1]
    assert cvxml.check("sdml", X, None, found, **GIVEN, tol="loose").verdict is Verdict.CERTIFIED


# ---------------------------------------------------------------- misreadings, made here without the package


def mistake(name: str) -> FloatArray:
    """The metric of a program that makes the mistake."""
    S, upper = weighted(), np.triu(np.ones((4, 4)), 1)
    if name == "diagonal":
        return optimum(S, 0.2, 2 * upper + np.eye(4))
    if name == "once":
        return optimum(S, 0.2, upper)
    others = [[i, j] for i in range(24) for j in range(i + 1, 24) if [i, j] not in PAIRS["similar"]]
    count = len(PAIRS["similar"]) + len(PAIRS["dissimilar"])
    swapped = {"similar": PAIRS["dissimilar"], "dissimilar": PAIRS["similar"]}
    of_pairs = {
        "prior": S - np.linalg.inv(PRIOR) + PRIOR,
        "not_listed": weighted({"similar": PAIRS["similar"], "dissimilar": others}, 5e-4),
        "mean": weighted(eta=0.005 / count),
        "ordered": weighted(eta=0.01),
        "exchanged": weighted(swapped),
    }
    return optimum(of_pairs[name], 0.2)


@pytest.mark.quick(2)
@pytest.mark.parametrize("name", own_misreadings("sdml"))
def test_a_mistake_is_named(name: str) -> None:
    # of all other pairs together the weight must be less, or the problem is unbounded
    params = {**GIVEN, "eta": 5e-4} if name == "not_listed" else GIVEN
    assert_named("sdml", name, X, None, mistake(name), **params)


def test_what_is_clipped_is_in_the_box_where_its_half_is_rounded() -> None:
    given = sdml.instance(X, Y, lam=1.5e-323)
    U = to_domain(given.S, given.rounded, given.lam, given.start, np.full_like(given.rounded, np.inf))
    assert np.abs(U).max() <= given.lam


def test_the_default_of_eta_is_refused_if_it_is_no_float() -> None:
    """1/(2 ||C^T T C||) overflows for tiny features. Only if all listed points are equal, any eta will do."""
    X, y = random_data(0, n=12, d=2, classes=2)
    for size in (1e-170, 1e-200, 1e170):
        with pytest.raises(ValueError, match=r"\beta\b.*rescale X"):
            cvxml.solve("sdml", size * X, y)
    assert cvxml.solve("sdml", np.ones((6, 2)), [0, 0, 0, 1, 1, 1]).params["eta"] == 1
