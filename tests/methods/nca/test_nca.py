"""NCA: the fast forms against the printed loops, gradients against differences, the certificate, infinity."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp

import cvxml
from cvxml.core.metric import FloatArray
from cvxml.family.geometry.coordinates import coordinates
from cvxml.methods.nca import definitions, descent, rows
from cvxml.methods.nca.certify import certify, collapsible, limit
from cvxml.methods.nca.instance import Instance, by_known_class, instance
from cvxml.methods.nca.rows import Metric, Softmax
from cvxml.methods.nca.solver import Solver
from tests.instances import random_data, soft_labels
from tests.methods.nca.point_by_point import point

seeds = st.integers(0, 10**6)
quick = settings(max_examples=20, deadline=None)


def drawn(seed: int, criterion: str, soft: bool, m: int = 2) -> tuple[Instance, FloatArray]:
    """A random instance with a singleton class or an empty row, and a random A (m, d) of any scale."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(5, 20)), int(rng.integers(2, 5))
    X = rng.standard_normal((n, d)) + 100 * rng.integers(0, 2)
    y = np.r_[0, 0, rng.integers(0, 3, n - 3), 7]
    s = None
    if soft:
        s = np.where(rng.random((n, n)) < 0.5, rng.random((n, n)), 0.0)
        s[0, 1], s[n - 1] = 0.5, 0.0
        np.fill_diagonal(s, 0.0)
    A = rng.standard_normal((m, d)) * 10 ** rng.uniform(-1.5, 1.5)
    return instance(X, y, criterion=criterion, similarity=s), A


def naive(p: Instance, A: FloatArray) -> float:
    value = definitions.f if p.criterion == "f" else definitions.g
    return -value(p.X, p.weights(), A.T @ A)


def naive_gradient(p: Instance, A: FloatArray) -> FloatArray:
    gradient = definitions.gradient_f if p.criterion == "f" else definitions.gradient_g
    return -gradient(p.X, p.weights(), A)


every_form = pytest.mark.parametrize(("criterion", "soft"), [(c, s) for c in "fg" for s in (False, True)])


@pytest.mark.quick(1)
@every_form
@pytest.mark.parametrize("block", [1, 40, 1 << 17])
@given(seed=seeds)
@quick
def test_the_fast_form_is_the_printed_one(criterion: str, soft: bool, block: int, seed: int) -> None:
    p, A = drawn(seed, criterion, soft)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(descent, "BLOCK", block)
        value, gradient = descent.Pairs(p).value_and_gradient(A)
    expected = naive_gradient(p, A)
    assert value == pytest.approx(naive(p, A), rel=1e-10, abs=1e-10)
    # beyond some scale f is flat, and its gradient what rounding leaves
    span, size = float(np.ptp(p.X, axis=0).max()), float(np.abs(A).max())
    noise = 1e-13 * size * span**2 * (1 + (size * span) ** 2)
    np.testing.assert_allclose(gradient, expected, rtol=1e-7, atol=noise)


@pytest.mark.quick(1)
@every_form
@given(seed=seeds)
@quick
def test_printed_gradients_are_the_derivatives(criterion: str, soft: bool, seed: int) -> None:
    p, A = drawn(seed, criterion, soft)
    A = A / np.linalg.norm(A)  # where differences can be taken
    direction = np.random.default_rng(seed).standard_normal(A.shape)
    h = 1e-5
    slope = (naive(p, A + h * direction) - naive(p, A - h * direction)) / (2 * h)
    assert slope == pytest.approx(float(np.sum(naive_gradient(p, A) * direction)), rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("seed", range(5))
def test_the_continuous_cost_and_its_gradient(seed: int) -> None:
    p, A = drawn(seed, "g", True)
    A, w, h = A / np.linalg.norm(A), p.weights(), 1e-5
    direction = np.random.default_rng(seed).standard_normal(A.shape)
    cost = definitions.continuous_cost
    slope = (cost(p.X, w, A + h * direction) - cost(p.X, w, A - h * direction)) / (2 * h)
    gradient = definitions.continuous_gradient(p.X, w, A)
    assert slope == pytest.approx(float(np.sum(gradient * direction)), rel=1e-5)
    at = cvxml.evaluate("nca", p.X, None, A.T @ A, similarity=w)
    assert at.continuous_cost == pytest.approx(cost(p.X, w, A), rel=1e-10)


@every_form
@pytest.mark.parametrize("seed", range(2))
def test_evaluate_says_what_the_loops_say(criterion: str, soft: bool, seed: int) -> None:
    p, A = drawn(seed, criterion, soft)
    A, s = A / np.linalg.norm(A), p.weights()
    params = {"similarity": p.similarity} if soft else {}
    at = cvxml.evaluate("nca", p.X, p.y, A.T @ A, criterion=criterion, n_components=2, **params)
    np.testing.assert_allclose(at.A.T @ at.A, A.T @ A, atol=1e-12)
    np.testing.assert_allclose(at.gradient_f, definitions.gradient_f(p.X, s, at.A), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(at.gradient_g, definitions.gradient_g(p.X, s, at.A), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(2 * at.A @ at.gradient_Q, naive_gradient(p, at.A), rtol=1e-7, atol=1e-9)
    assert at.f == pytest.approx(definitions.f(p.X, s, A.T @ A), rel=1e-10)
    assert at.g == pytest.approx(definitions.g(p.X, s, A.T @ A), rel=1e-10)
    assert at.objective == pytest.approx(naive(p, A), rel=1e-10)
    for i in range(len(p.X)):
        row = np.exp(definitions.log_p_ij(p.X, A.T @ A, i))
        np.testing.assert_allclose(at.p_ij[i], row, rtol=1e-9)
        assert at.nearest[i] == row.argmax()
        assert at.p_i[i] == pytest.approx(s[i] @ row, rel=1e-9)
        np.testing.assert_allclose(at.w_ij[i] * at.p_i[i], s[i] * row, rtol=1e-9)


def test_one_distribution_over_all_pairs_is_not_one_a_row() -> None:
    """The printed cost is not -g for the same weights, even where every row has the same sum."""
    X, w = np.array([[0.0], [1.0], [3.0], [4.0]]), np.zeros((4, 4))
    w[[0, 1, 2, 3], [1, 0, 3, 2]] = 1.0
    near, far = np.eye(1), 3 * np.eye(1)
    rowwise = [-definitions.g(X, w, A.T @ A) for A in (near, far)]
    joint = [definitions.continuous_cost(X, w, A) for A in (near, far)]
    assert rowwise[1] < 1e-3 < rowwise[0]
    assert (
        min(joint) >= 4 * np.log(4) - 1e-12
    )  # four pairs share one distribution: no scale makes them certain


def test_the_printed_distance_is_a_square() -> None:
    """By itself it is no distance; p has differences of it in the exponent."""
    X, Q = np.array([[0.0], [1.0], [2.0]]), np.eye(1)
    d = np.array([[(a - b) @ Q @ (a - b) for b in X] for a in X])
    assert d[0, 2] > d[0, 1] + d[1, 2]
    assert np.sqrt(d[0, 2]) <= np.sqrt(d[0, 1]) + np.sqrt(d[1, 2])
    log_p = definitions.log_p_ij(X, Q, 0)
    assert log_p[1] - log_p[2] == pytest.approx(d[0, 2] - d[0, 1])


@pytest.mark.parametrize("size", [0.1, 1.0, 10.0])
def test_the_continuous_cost_has_no_pair_of_a_point_with_itself(size: float) -> None:
    """Of two points there are two pairs, as likely as each other whatever A is; with c = d there would be four."""
    X, w, A = np.array([[0.0], [1.0]]), np.array([[0.0, 1.0], [0.0, 0.0]]), size * np.eye(1)
    assert definitions.continuous_cost(X, w, A) == pytest.approx(np.log(2))
    assert definitions.continuous_gradient(X, w, A) == pytest.approx(0)


@every_form
@given(seed=seeds)
@settings(max_examples=12, deadline=None)
def test_the_second_derivative(criterion: str, soft: bool, seed: int) -> None:
    p, A = drawn(seed, criterion, soft)
    pairs, A = descent.Pairs(p), A / np.linalg.norm(A)
    direction, h = np.random.default_rng(seed).standard_normal(A.shape), 1e-5
    for held in (None, pairs.hold(A)):
        ends = [pairs.value_and_gradient(A + t * direction, held)[1] for t in (h, -h)]
        product = pairs.hessian_product(A, direction, held)
        size = float(np.abs(product).max())
        np.testing.assert_allclose((ends[0] - ends[1]) / (2 * h), product, atol=1e-4 * size + 1e-4)


@every_form
@given(seed=seeds)
@settings(max_examples=12, deadline=None)
def test_a_step_touches_the_objective_and_lies_above(criterion: str, soft: bool, seed: int) -> None:
    p, A = drawn(seed, criterion, soft)
    pairs, rng = descent.Pairs(p), np.random.default_rng(seed)
    A = A / np.linalg.norm(A)
    held = pairs.hold(A)
    value, gradient = pairs.value_and_gradient(A)
    touched, same = pairs.value_and_gradient(A, held)
    np.testing.assert_allclose(same, gradient, rtol=1e-8, atol=1e-8)
    for _ in range(5):
        other = A + rng.standard_normal(A.shape) * 10 ** rng.uniform(-2, 1)
        above = pairs.value_and_gradient(other, held)[0] - touched
        assert pairs.value_and_gradient(other)[0] - value <= above + 1e-9 * (1 + abs(above))


@pytest.mark.parametrize("criterion", ["f", "g"])
def test_single_precision_and_threads_change_no_more_than_they_may(
    criterion: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = random_data(0, n=620, d=6)
    pairs, A = descent.Pairs(instance(X, y, criterion=criterion)), 0.7 * np.eye(3, 6)
    assert len(X) >= descent.THREADED
    value, gradient = pairs.value_and_gradient(A)
    rough, slope = pairs.value_and_gradient(A, rough=True)
    assert 0 < abs(rough - value) <= 1e-5 * abs(value)
    np.testing.assert_allclose(slope, gradient, rtol=1e-3, atol=1e-4 * np.abs(gradient).max())
    monkeypatch.setattr(descent, "THREADED", len(X) + 1)
    alone, same = pairs.value_and_gradient(A)
    assert value == pytest.approx(alone, rel=1e-12)
    np.testing.assert_allclose(same, gradient, rtol=1e-9, atol=1e-12 * np.abs(gradient).max())


def test_no_block_is_larger_than_it_says() -> None:
    """Memory: a block of rows and what is summed, never n x n."""
    X, y = random_data(0, n=1000, d=4)
    for s in (None, soft_labels(0, 1000)):
        blocks = descent.Pairs(instance(X, y, similarity=s)).blocks
        assert sum(b.rows.stop - b.rows.start for b in blocks) == 1000
        assert max((b.rows.stop - b.rows.start) * 1000 for b in blocks) <= descent.BLOCK


# ---------------------------------------------------------------- the certificate


@pytest.mark.quick(1)
@every_form
@given(seed=seeds)
@settings(max_examples=10, deadline=None)
def test_no_rows_lift_the_bound_of_a_step(criterion: str, soft: bool, seed: int) -> None:
    """Weak duality: whatever R and interior, the bound lies below the step at every metric."""
    p, A = drawn(seed, criterion, soft)
    rng, d = np.random.default_rng(seed), p.X.shape[1]
    A = np.vstack([A, np.zeros((d, d))])[:d]
    pairs = descent.Pairs(p)
    held = pairs.hold(A)
    constant = pairs.value_and_gradient(A)[0] - pairs.value_and_gradient(A, held)[0]
    for scale in (0.1, 1.0, 30.0, 1e5):
        R, interior = (scale * rng.standard_normal((d, d)) for _ in range(2))
        step = certify(p, A.T @ A, {"R": R + R.T, "interior": interior @ interior.T})
        judged = step.step or step
        assert judged.gap >= 0
        for size in (0.0, 0.3, 1.0, 3.0):
            V = size * rng.standard_normal((d, d))
            above = pairs.value_and_gradient(V, held)[0] + constant
            assert judged.lower_bound <= above + judged.rounding + 1e-9 * (1 + abs(above))


def test_an_overflowing_quotient_of_rows_is_no_proof() -> None:
    """Rows of exp(-800) where p is of order 1: their divergence must not come out as nothing, or as no number."""
    X, y = random_data(4, n=12, d=2)
    Q = np.array([[119.6, 30.6], [30.6, 7.9]])
    R = np.array([[237.2, 64.3], [64.3, 17.5]])
    proof = certify(instance(X, y), Q, {"R": 1e3 * R, "interior": 2e3 * R})
    assert proof.step is not None
    assert proof.step.gap > 0.1
    assert not proof.proves(1e-3)


@quick
@given(seed=seeds, criterion=st.sampled_from(["f", "g"]), soft=st.booleans())
def test_blocks_of_points_are_as_the_points_one_by_one(seed: int, criterion: str, soft: bool) -> None:
    """The same figures and the same bounds of errors, for points with twins too."""
    p, A = drawn(seed, criterion, soft)
    X = p.X.copy()
    X[1] = X[0]
    p = p._replace(X=X)
    metric = Metric(p, A.T @ A, coordinates(X))
    rounding = []
    with np.errstate(over="ignore", invalid="ignore"):
        for block in metric.blocks():
            weights, of_weights = block.own_weights
            for k, i in enumerate(block.rows.tolist()):
                slow = point(metric, i)
                np.testing.assert_allclose(block.D[k], slow.D, rtol=1e-14)
                np.testing.assert_allclose(block.log_p[k], slow.log_p, rtol=1e-13, atol=1e-13)
                assert block.log_p_i[0][k] == pytest.approx(slow.log_p_i, rel=1e-13, abs=1e-13)
                assert block.c[0][k] == pytest.approx(slow.c, rel=1e-12)
                assert (np.abs(weights[k] - slow.weights) <= of_weights[k] + slow.of_weights).all()
                np.testing.assert_allclose(block.error[k], slow.error, rtol=1e-6)
                np.testing.assert_allclose(of_weights[k], slow.of_weights, rtol=1e-6, atol=1e-300)
                assert block.log_p_i[1][k] == pytest.approx(slow.of_log_p_i, rel=1e-6)
                assert block.c[1][k] == pytest.approx(slow.of_c, rel=1e-6)
                rounding.append(slow.of_c if criterion == "f" else slow.of_log_p_i)
    of_sum = len(X) * 2.3e-16 * (abs(p.bound) + abs(metric.value[0]))  # soft similarities are rounded too
    total = sum(rounding)
    assert total * (1 - 1e-6) <= metric.value[1] <= total * (1 + 1e-6) + of_sum + 1e-290


def test_points_are_judged_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """One product of matrices serves many points. The certificate, with a limited rank, needs each block once."""
    X, y = random_data(3, n=60, d=4)
    p, asked = instance(X, y, n_components=2), []
    distances = Metric.distances

    def counted(metric: Metric, rows: np.ndarray) -> tuple[FloatArray, FloatArray]:
        asked.append(len(rows))
        return distances(metric, rows)

    monkeypatch.setattr(Metric, "distances", counted)
    A = np.eye(2, 4)
    certify(p, A.T @ A, {})
    assert asked == [60]


@pytest.mark.parametrize("criterion", ["f", "g"])
def test_the_parts_of_the_certificate(criterion: str) -> None:
    """At the metric itself: G is the gradient in Q, the bound the entropy of the rows, all by loops."""
    X, y = random_data(1, n=10, d=3)
    p = instance(X, y, criterion=criterion)
    A = np.array([[0.5, 0.1, 0.0], [0.0, 0.4, 0.2], [0.1, 0.0, 0.3]])
    at = coordinates(X)
    G, gradient = Metric(p, A.T @ A, at).G.Z, naive_gradient(p, A)
    np.testing.assert_allclose(2 * (A @ at.back) @ G @ at.back.T, gradient, rtol=1e-9)
    found = certify(p, A.T @ A, {"R": A.T @ A, "interior": A.T @ A}).stationarity
    assert found is not None
    h = 1e-6
    slope = (naive(p, (1 + h) * A) - naive(p, (1 - h) * A)) / (2 * h)
    assert found.scale_derivative == pytest.approx(slope, rel=1e-6)
    size = float(np.linalg.norm(gradient @ at.to)) * max(float(np.linalg.norm(A @ at.back)), 1.0)
    assert found.gradient == pytest.approx(size, rel=1e-9)


def test_a_direction_not_in_use_is_seen() -> None:
    X, y = random_data(0, n=30, d=2)
    line = np.outer([1.0, 0.0], [1.0, 0.0])
    limited = certify(instance(X, y, criterion="g", n_components=1), line, {})
    whole = certify(instance(X, y, criterion="g"), line, {"R": line, "interior": line})
    zero = certify(instance(X, y, criterion="g"), 0 * line, {"R": line, "interior": line})
    assert limited.stationarity is not None
    assert whole.stationarity is not None
    assert zero.stationarity is not None
    assert limited.stationarity.dc_residual == 0
    assert zero.stationarity.gradient == 0  # A = 0 is stationary in A
    assert zero.stationarity.dc_residual > 1
    assert not zero.proves(1e-3)


def test_a_rank_beyond_the_one_asked_for_is_no_metric() -> None:
    X, y = random_data(0, n=30, d=3)
    proof = cvxml.certify("nca", X, y, np.diag([1.0, 1.0, 0.1]), {}, n_components=2)
    assert not proof.feasibility.feasible
    report = cvxml.check("nca", X, y, np.diag([1.0, 1.0, 0.1]), n_components=2, diagnosed=False)
    assert report.verdict.value == "refuted"
    assert "rank 2" in report.reasons[0]


@pytest.mark.parametrize("m", [1, 2, 3])
def test_every_row_in_use_counts_in_the_gradient(m: int) -> None:
    """Also rows with zeros: its length, its norm and the derivative along the ray are those of the definition."""
    X, y = random_data(7, n=24, d=3, classes=2)
    p, at = instance(X, y, criterion="g", n_components=m), coordinates(X)
    Q = np.diag([0.0, 1.0, 0.5]) * (np.arange(3) > 2 - m)
    metric = Metric(p, at.outside(Q), at)
    first, G = metric.first_order, metric.G.Z
    assert first.length == pytest.approx(np.trace(Q) ** 0.5, rel=1e-6)
    assert first.gradient == pytest.approx(2 * np.trace(G @ Q @ G) ** 0.5, rel=1e-6)
    up, down = (Metric(p, at.outside((1 + h) ** 2 * Q), at).value[0] for h in (1e-6, -1e-6))
    assert first.slope == pytest.approx((up - down) / 2e-6, rel=1e-6)


@pytest.mark.parametrize("m", [1, 2, 3])
def test_a_certificate_looks_outside_the_metric_and_at_its_rank_in_the_units_of_the_data(m: int) -> None:
    """For rank 1 no direction that is not in use counts; a metric of any size is feasible up to the rank."""
    X, y = random_data(7, n=24, d=3, classes=2)
    p, at = instance(X, y, criterion="g", n_components=m), coordinates(X)
    line = np.diag([25.0, 0.0, 0.0])
    dual, least = {"R": line, "interior": line}, np.linalg.eigvalsh(Metric(p, at.outside(line), at).G.Z)[0]
    found = certify(p, at.outside(line), dual).stationarity
    assert found is not None
    assert found.dc_residual == pytest.approx(-25 * min(0.0, least) * (m > 1), rel=1e-6)
    for rank in range(4):
        proof = certify(p, at.outside(np.diag((np.arange(3) < rank) * 1e-4)), dual)
        assert proof.feasibility.feasible == (rank <= m)
        assert proof.rounding > 0


# ---------------------------------------------------------------- infinity


def recession(p: Instance, at: FloatArray, D: FloatArray) -> float:
    """The growth of the step at the metric `at` along t D, per large t: sum c_i (sum_j w_ij d_ij - min_k d_ik)."""
    values = cvxml.evaluate("nca", p.X, p.y, at, criterion=p.criterion)
    total = 0.0
    for i in np.flatnonzero(p.usable).tolist():
        d = np.array([(p.X[i] - x) @ D @ (p.X[i] - x) for x in p.X])
        c = values.p_i[i] if p.criterion == "f" else 1.0
        total += c * (float(values.w_ij[i] @ d) - float(np.delete(d, i).min()))
    return total


@pytest.mark.quick(1)
@pytest.mark.parametrize(("criterion", "seed"), [("g", 3), ("f", 9)])
def test_interior_rows_exist_exactly_where_a_step_has_bounded_minimisers(criterion: str, seed: int) -> None:
    """Rows with Z > 0 say that the step grows in every direction; where one direction does not grow there are none."""
    X, y = random_data(seed, n=12, d=2 if criterion == "f" else 3)
    p, at, rng = instance(X, y, criterion=criterion), coordinates(X), np.random.default_rng(0)
    solution = cvxml.solve("nca", X, y, criterion=criterion)
    assert len(solution.dual["theta"]) == 1
    metric = Metric(p, solution.metric, at)
    Z = metric.surplus(Softmax(at.Y, at.inside(solution.dual["interior"]))).Z
    assert np.linalg.eigvalsh(Z)[0] > 0
    for _ in range(30):
        v = rng.standard_normal((X.shape[1], rng.integers(1, 3)))
        D = v @ v.T
        assert recession(p, solution.metric, D) >= float(np.sum(at.inside(D) * Z)) - 1e-9 > 0
    thin, label = np.column_stack([X, y]), np.diag([0.0] * X.shape[1] + [1.0])
    p, Q = instance(thin, y, criterion=criterion), np.eye(X.shape[1] + 1)
    assert recession(p, Q, label) == 0
    for scale in (0.3, 1.0, 3.0, 30.0):
        rows = Softmax(coordinates(thin).Y, coordinates(thin).inside(scale * Q))
        assert np.linalg.eigvalsh(Metric(p, Q, coordinates(thin)).surplus(rows).Z)[0] < 1e-9


@every_form
@given(seed=seeds)
@quick
def test_the_limit_is_where_multiples_tend(criterion: str, soft: bool, seed: int) -> None:
    p, A = drawn(seed, criterion, soft)
    at = coordinates(p.X)
    inside = A @ at.back
    far = descent.Pairs(p._replace(X=at.Y)).value_and_gradient(1e6 / np.linalg.norm(inside) * inside)[0]
    end = limit(p, Metric(p, A.T @ A, at)).value
    if np.isinf(end):  # a point whose nearest neighbours are all wrong
        assert far > 1e3
    else:
        assert far == pytest.approx(end, abs=1e-6)


def test_what_is_nearly_a_tie_separates_nothing() -> None:
    X, y = np.array([[0.0], [1.0], [-1 - 1e-13], [1.2], [-1.1]]), [0, 0, 1, 0, 1]
    p = instance(X, y)
    tied = limit(p, Metric(p, np.eye(1), coordinates(X)))
    assert tied.value == pytest.approx(-4.5)  # half of the point at 0
    assert not tied.best
    apart = np.array([[0.0], [1.0], [-1.01], [1.2], [-1.1]])
    p = instance(apart, y)
    assert limit(p, Metric(p, np.eye(1), coordinates(apart))) == (-5.0, True)


def test_a_dual_next_to_the_metric_is_taken_as_it_is() -> None:
    data = random_data(3, n=12, d=3)
    solution = cvxml.solve("nca", *data, criterion="g")
    other = solution.metric * (1 + 1e-6)
    proof = cvxml.certify("nca", *data, solution.metric, {**solution.dual, "R": other}, criterion="g")
    assert np.array_equal(proof.dual["R"], other)
    assert proof.step is not None
    assert proof.step.gap > 10 * solution.step_gap  # type: ignore[operator]


def test_classes_that_can_be_collapsed() -> None:
    X, y = random_data(0, n=10, d=25)
    assert collapsible(instance(X, y))
    X, y = random_data(0, n=40, d=3)
    assert not collapsible(instance(X, y))
    thin = np.column_stack([X, y])  # a feature that is the label
    assert collapsible(instance(thin, y))
    nearly = thin + 1e-7 * np.random.default_rng(0).standard_normal(thin.shape)
    assert not collapsible(instance(nearly, y))
    soft = by_known_class(np.where(np.arange(40) < 4, -1, y))  # nobody is right for four of them
    assert collapsible(instance(thin, None, similarity=soft))
    solution_at = Solver(instance(thin, y, criterion="g"))
    assert "points of every class coincide" in solution_at.at_infinity(np.diag([1.0, 1, 1, 0]))


def test_the_bound_is_one() -> None:
    """p_i <= max_j s_ij: no metric is below it, and multiples of a separating metric come as near as one likes."""
    X, y = np.array([[0.0], [0.1], [5.0], [5.2]]), [0, 0, 1, 1]
    for criterion, bound in (("f", -4.0), ("g", 0.0)):
        p = instance(X, y, criterion=criterion)
        assert p.bound == bound
        values = [cvxml.evaluate("nca", X, y, [[q]], criterion=criterion).objective for q in (0.1, 1, 3)]
        assert values == sorted(values, reverse=True)
        assert bound <= values[-1] < bound + 1e-9


@pytest.mark.parametrize("unit", [1e-5, 2.0**20])
def test_units_of_single_features_do_not_matter(unit: float) -> None:
    X, y = random_data(3, n=12, d=3)
    scaled = X * np.array([1.0, unit, 1.0])
    plain = cvxml.solve("nca", X, y, criterion="g", init=0.5 * np.eye(3))
    other = cvxml.solve("nca", scaled, y, criterion="g", init=0.5 * np.diag([1.0, 1 / unit, 1.0]))
    assert other.objective == pytest.approx(plain.objective, rel=1e-9)
    assert other.certificate.proves(1e-6)
    lines = [
        cvxml.solve("nca", points, y, criterion="g", n_components=1, init=row)
        for points, row in ((X, [[0.5, 0.1, 0.2]]), (scaled, [[0.5, 0.1 / unit, 0.2]]))
    ]
    assert lines[1].objective == pytest.approx(lines[0].objective, rel=1e-9)


@pytest.mark.parametrize("criterion", ["f", "g"])
@pytest.mark.parametrize(("exponent", "decided"), [(20, True), (30, True), (36, False), (38, False)])
def test_where_rounding_may_move_the_points_by_a_thousandth_nothing_is_decided(
    criterion: str, exponent: int, decided: bool
) -> None:
    """The second feature is x + 2^-e r, so the points (x, r) and whether 0 is stationary do not depend on e.

    Half an ulp of x is 2^-53 of it. Of r that is 2^(e - 53) of x, and sums of several such errors reach 1e-3 of it from
    e = 34 on.
    """
    x = np.array([0.0, 3.0, 1.0, 5.0, 2.0, 7.0, 4.0, 6.0])
    r = np.array([0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0])
    X = np.column_stack([x, x + 2.0**-exponent * r])
    assert ((X[:, 1] - x) * 2.0**exponent == r).all()
    p = instance(X, np.array([0, 0, 1, 1, 0, 0, 1, 1]), criterion=criterion)
    nothing = np.zeros((2, 2))
    proof = certify(p, nothing, {"R": nothing, "interior": nothing})
    for tol in (1e-3, 1e-6):
        assert proof.proves(tol) == proof.decides(tol) == decided
    assert (proof.undecided == "") == decided


@pytest.mark.parametrize("size", [1e-3, 0.3, 0.999, 5.0])
def test_errors_of_logarithms_move_their_log_sum_no_further_than_stated(size: float) -> None:
    rng = np.random.default_rng(0)
    logs = np.where(rng.random((40, 9)) < 0.2, -np.inf, 30 * rng.standard_normal((40, 9)))
    logs[:, 0] = 0.0  # in each row some number counts
    for error in (size * rng.random(logs.shape), np.full(logs.shape, size)):
        found, bound = rows._log_sum(logs, error)
        allowed = bound + 1e-13  # the rounding of the next lines
        assert np.all(logsumexp(logs + error, axis=1) - found <= allowed)
        assert np.all(found - logsumexp(logs - error, axis=1) <= allowed)
