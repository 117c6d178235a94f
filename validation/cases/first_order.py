"""Measure the gap that a plain first-order program has on the golden cases.

    python -m validation.cases.first_order              measure every case, and write cvxml/oracle/first_order.csv
    python -m validation.cases.first_order 'mlsvm-*'    measure these cases, and keep the other rows of the table

The program is projected subgradient descent with Polyak's step:

    M <- P(M - t G),  t = (F(M) - F*) / |G|^2

F is the objective as the paper writes it, in numpy and without code of cvxml. G is a subgradient, P finds the nearest
allowed metric, and F* is the proved lower bound of the case. The step is halved until F is finite. Features are as
given. A figure is the least F - F* so far, divided by the scale of the case; it is at least `FLOOR`.

A program does not know F*, but the rule has no other number that must be tuned. Another step rule has another gap.

A case has a row if it has a proved optimum, a method without a closed form, and a scale greater than 0. ITML has no
rows: there the figures depend on the last digits of the machine (4.7e-1 or 2.2e-1 after 100 steps on itml-prior).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cvxml.oracle.cases import Case, load_cases
from cvxml.oracle.first_order import STEPS, TABLE, Measured, digest, table

Array = NDArray[np.float64]
# a variable -> the objective and a subgradient
Objective = Callable[[Array], tuple[float, Array]]

FLOOR = 1e-12  # the descent ends at this share of the scale
INVERSE = "the inverse scatter of the similar pairs"


class Program(NamedTuple):
    """A problem in the form that the descent needs. The variable is a metric, or weights, or a metric and a number."""

    start: Array
    at: str  # the start in words
    objective: Objective
    project: Callable[[Array], Array]
    metric: Callable[[Array], Array] = lambda x: x


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "pattern", nargs="?", default="*", help="cases to measure, as --only of cvxml conform"
    )
    known = table()
    rows = {case.id: known[case.id] for case in measurable() if case.id in known}
    for case in measurable(parser.parse_args().pattern):
        rows[case.id] = measured(case)
        print(line(case.id, rows[case.id]), flush=True)
        TABLE.write_text("\n".join([*HEAD, *(line(*row) for row in sorted(rows.items()))]) + "\n")


def measurable(pattern: str = "*") -> list[Case]:
    """The cases that have a row."""
    return [case for case in load_cases(pattern=pattern) if case.formula in PROGRAMS and scale_of(case) > 0]


def scale_of(case: Case) -> float:
    """The scale; 0 without a proved optimum."""
    reference = case.content.get("reference", {})
    return float(reference["scale"]) if reference.get("claim") == "optimal" else 0.0


def program_of(case: Case) -> Program:
    """The problem of a case."""
    y = np.array([] if case.y is None else case.y)
    return PROGRAMS[case.formula](np.array(case.X, float), y, case.params)


def measured(case: Case) -> Measured:
    program = program_of(case)
    gaps, _ = descend(program, case)
    return Measured(digest(case.inputs), program.at, tuple(float(f"{gap:.2e}") for gap in gaps))


def descend(program: Program, case: Case, steps: tuple[int, ...] = STEPS) -> tuple[list[float], Array]:
    """Return the least relative gap after each number of steps, and the metric with the last of them."""
    low, scale = float(case.content["reference"]["interval"][0]), scale_of(case)
    x, found = program.start, []
    F, G = program.objective(x)
    best, kept = F, x
    for step in range(1, max(steps) + 1):
        if best - low > FLOOR * scale:
            x, F, G = stepped(program, x, G, (F - low) / float(np.sum(G * G)))
        if best > F:
            best, kept = F, x
        if step in steps:
            found.append(max((best - low) / scale, FLOOR))
    return found, program.metric(kept)


def stepped(program: Program, x: Array, G: Array, t: float) -> tuple[Array, float, Array]:
    """A step of length t, halved until F is finite: the new variable, F, and a subgradient."""
    while True:
        new = program.project(x - t * G)
        F, at_new = program.objective(new)
        if np.isfinite(F):
            return new, F, at_new
        t /= 2


# --- projections ---


def psd(M: Array) -> Array:
    """The nearest psd matrix: negative eigenvalues become 0."""
    values, vectors = np.linalg.eigh((M + M.T) / 2)
    return np.asarray((vectors * np.maximum(values, 0)) @ vectors.T)


def nonnegative(w: Array) -> Array:
    return np.maximum(w, 0)


def simplex(w: Array) -> Array:
    """The nearest nonnegative vector whose sum is at most 1."""
    positive = np.maximum(w, 0)
    if positive.sum() <= 1:
        return positive
    v = np.sort(w)[::-1]
    shift = (np.cumsum(v) - 1) / np.arange(1, len(v) + 1)
    return np.asarray(np.maximum(w - shift[v > shift][-1], 0))


def trace_at_most_1(M: Array) -> Array:
    """The nearest psd matrix whose trace is at most 1."""
    values, vectors = np.linalg.eigh((M + M.T) / 2)
    return np.asarray((vectors * simplex(values)) @ vectors.T)


# --- objectives in squared distances ---


def differences(X: Array, pairs: Any) -> Array:
    """x_i - x_j of each pair, (p, d)."""
    i, j = np.array(pairs, int).reshape(-1, 2).T
    return np.asarray(X[i] - X[j])


def squared(E: Array, M: Array) -> Array:
    """The squared distances e^T M e of the rows of E."""
    return np.asarray(np.sum((E @ M) * E, axis=1))


def outer(E: Array, w: Array) -> Array:
    """sum_p w_p e_p e_p^T: the gradient of sum_p w_p D_p."""
    return np.asarray((E * w[:, None]).T @ E)


def triplet_rows(X: Array, triplets: Any) -> tuple[Array, Array]:
    """The differences to the near and to the far point of each triplet (i, j, l)."""
    rows = np.array(triplets, int)
    return differences(X, rows[:, [0, 1]]), differences(X, rows[:, [0, 2]])


def hinge(m: Array) -> tuple[Array, Array]:
    """[m]_+ and its slope."""
    return np.maximum(m, 0), (m > 0).astype(float)


def squared_hinge(m: Array) -> tuple[Array, Array]:
    return np.maximum(m, 0) ** 2, 2 * np.maximum(m, 0)


def rounded_hinge(width: float) -> Callable[[Array], tuple[Array, Array]]:
    """The hinge, quadratic from 0 to the width."""

    def loss(m: Array) -> tuple[Array, Array]:
        inside = np.clip(m, 0, width)
        return inside**2 / (2 * width) + np.maximum(m - width, 0), inside / width

    return loss


def triplet_losses(near: Array, far: Array, loss: Any, weight: float) -> Objective:
    """weight * sum of loss(1 + D_ij - D_il)."""

    def objective(M: Array) -> tuple[float, Array]:
        value, slope = loss(1 + squared(near, M) - squared(far, M))
        return weight * float(value.sum()), weight * (outer(near, slope) - outer(far, slope))

    return objective


def total(*parts: Objective) -> Objective:
    """The sum of objectives."""

    def objective(x: Array) -> tuple[float, Array]:
        found = [part(x) for part in parts]
        return sum(F for F, _ in found), np.sum([G for _, G in found], axis=0)

    return objective


def frobenius(weight: float) -> Objective:
    """weight * ||M||^2."""
    return lambda M: (weight * float(np.sum(M * M)), 2 * weight * M)


def linear(C: Array) -> Objective:
    """<C, M>."""
    return lambda M: (float(np.sum(C * M)), C)


def minus_log_det(M: Array) -> tuple[float, Array]:
    sign, log = np.linalg.slogdet(M)
    if sign <= 0 or np.linalg.eigvalsh(M)[0] <= 0:
        return np.inf, np.zeros_like(M)
    return -float(log), -np.asarray(np.linalg.inv(M), float)


def divergence(prior: Array) -> Objective:
    """tr A A_0^-1 - log det A A_0^-1 - d."""
    C, constant = np.asarray(np.linalg.inv(prior), float), float(np.linalg.slogdet(prior)[1]) - len(prior)
    return total(linear(C), minus_log_det, lambda M: (constant, 0 * M))


# --- the methods ---


def from_zero(d: int, objective: Objective) -> Program:
    return Program(np.zeros((d, d)), "M = 0", objective, psd)


def from_prior(prior: Array, objective: Objective) -> Program:
    return Program(prior, "the prior", objective, lambda M: (M + M.T) / 2)


def mlsvm(X: Array, y: Array, given: dict[str, Any]) -> Program:
    """lam/2 ||A||^2 + mean over i of [1 + max over targets D_ij - min over impostors D_il]_+"""
    pairs = np.array([(i, j) for i, row in enumerate(given["neighbors"]) for j in row])
    E, n = differences(X, pairs), len(X)
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    # the place of pair (i, j) in a table with one row for each point; others are never the largest or the least
    i, at = pairs[:, 0], np.concatenate([np.arange(len(row)) for row in given["neighbors"]])
    own = np.full((n, at.max() + 1), -np.inf), np.full((n, at.max() + 1), np.inf)
    place = np.zeros((n, at.max() + 1), int)
    place[i, at] = np.arange(len(pairs))

    def losses(A: Array) -> tuple[float, Array]:
        D = squared(E, A)
        own[0][i[same], at[same]], own[1][i[~same], at[~same]] = D[same], D[~same]
        far, near = own[0].argmax(axis=1), own[1].argmin(axis=1)
        every = np.arange(n)
        slack = 1 + own[0][every, far] - own[1][every, near]  # -inf without a target or an impostor
        hit = slack > 0
        a, b = E[place[every, far]][hit], E[place[every, near]][hit]
        return float(slack[hit].sum()) / n, (a.T @ a - b.T @ b) / n

    return from_zero(X.shape[1], total(frobenius(given["lam"] / 2), losses))


def kernel_mlsvm(X: Array, y: Array, given: dict[str, Any]) -> Program:
    """MLSVM on the rows of F, where F F^T is the matrix of the kernel (x^T x')^degree."""
    values, vectors = np.linalg.eigh((X @ X.T) ** given["degree"])
    kept = values > 1e-12 * values.max()
    root = np.sqrt(values[kept])
    back = vectors[:, kept] / root
    program = mlsvm(vectors[:, kept] * root, y, given)
    return program._replace(metric=lambda A: back @ A @ back.T)


def lmnn(X: Array, y: Array, given: dict[str, Any], loss: Any = hinge) -> Program:
    """(1 - mu) sum over targets D_ij + mu sum of hinges"""
    triplets = given.get("triplets")
    if triplets is None:
        targets = [(i, j) for i, row in enumerate(given["targets"]) for j in row]
        triplets = [(i, j, l) for i, j in targets for l in range(len(X)) if y[l] != y[i]]
    else:
        targets = sorted({(i, j) for i, j, _ in triplets})
    pull = differences(X, targets)
    mu = given["mu"]
    objective = total(
        linear((1 - mu) * outer(pull, np.ones(len(pull)))),
        triplet_losses(*triplet_rows(X, triplets), loss, mu),
    )
    return from_zero(X.shape[1], objective)


def squared_lmnn(X: Array, y: Array, given: dict[str, Any]) -> Program:
    return lmnn(X, y, given, squared_hinge)


def frobmetric(X: Array, y: Array, given: dict[str, Any]) -> Program:
    """1/2 ||M||^2 + C mean of hinges"""
    weight = given["C"] / len(given["triplets"])
    losses = triplet_losses(*triplet_rows(X, given["triplets"]), hinge, weight)
    return from_zero(X.shape[1], total(frobenius(0.5), losses))


def rtml(X: Array, y: Array, given: dict[str, Any]) -> Program:
    """lam/2 ||M||^2 + sum of rounded hinges"""
    losses = triplet_losses(*triplet_rows(X, given["triplets"]), rounded_hinge(given["width"]), 1.0)
    return from_zero(X.shape[1], total(frobenius(given["lam"] / 2), losses))


def boostmetric(X: Array, y: Array, given: dict[str, Any]) -> Program:
    """log sum exp of D_ij - D_il + v tr M"""
    near, far = triplet_rows(X, given["triplets"])

    def losses(M: Array) -> tuple[float, Array]:
        m = squared(near, M) - squared(far, M)
        e = np.exp(m - m.max())
        share = e / e.sum()
        return float(m.max() + np.log(e.sum())), outer(near, share) - outer(far, share)

    d = X.shape[1]
    return from_zero(d, total(linear(given["v"] * np.eye(d)), losses))


def plml(X: Array, y: Array, given: dict[str, Any]) -> Program:
    """alpha1 sum ||M_b||^2 + sum of hinges in the metric sum_b W_ib M_b of x_i + alpha2 sum over targets D_ij"""
    W, rows, d = np.array(given["weights"]), np.array(given["triplets"], int), X.shape[1]
    pairs = np.array(sorted({(i, j) for i, j, _ in given["triplets"]}), int)
    near, far, pull = (differences(X, each) for each in (rows[:, [0, 1]], rows[:, [0, 2]], pairs))
    of_rows, of_pairs = W[rows[:, 0]], W[pairs[:, 0]]

    def objective(M: Array) -> tuple[float, Array]:  # M (blocks, d, d)
        D = {k: np.einsum("pa,kab,pb->pk", E, M, E) for k, E in enumerate((near, far, pull))}
        value, slope = hinge(1 + np.sum(of_rows * (D[0] - D[1]), axis=1))
        F = given["alpha1"] * np.sum(M * M) + value.sum() + given["alpha2"] * np.sum(of_pairs * D[2])
        G = [
            outer(near, slope * w) - outer(far, slope * w) + given["alpha2"] * outer(pull, v)
            for w, v in zip(of_rows.T, of_pairs.T, strict=True)
        ]
        return float(F), 2 * given["alpha1"] * M + np.array(G)

    def in_blocks(M: Array) -> Array:
        whole = np.zeros((len(M) * d, len(M) * d))
        for b, block in enumerate(M):
            whole[b * d : (b + 1) * d, b * d : (b + 1) * d] = block
        return whole

    start = np.zeros((W.shape[1], d, d))
    return Program(start, "M = 0", objective, lambda M: np.array([psd(block) for block in M]), in_blocks)


def combination(B: Array, of_metric: Objective, of_weights: Objective) -> Program:
    """An objective of M = sum_k w_k b_k b_k^T in the weights w >= 0; b_k are the rows of B."""

    def metric(w: Array) -> Array:
        return outer(B, w)

    def objective(w: Array) -> tuple[float, Array]:
        (F, G), (F_w, G_w) = of_metric(metric(w)), of_weights(w)
        return F + F_w, squared(B, G) + G_w

    return Program(np.zeros(len(B)), "M = 0", objective, nonnegative, metric)


def scml(X: Array, y: Array, given: dict[str, Any]) -> Program:
    """beta sum w + mean of hinges"""
    B, rows = np.array(given["basis"], float), given["triplets"]
    losses = triplet_losses(*triplet_rows(X, rows), hinge, 1 / len(rows))
    return combination(B, losses, linear(np.full(len(B), given["beta"])))


def schultz_joachims(X: Array, y: Array, given: dict[str, Any]) -> Program:
    """1/2 ||M||^2 + C sum of hinges, for M = A diag(w) A^T"""
    B = np.eye(X.shape[1]) if given.get("A") is None else np.array(given["A"], float).T
    losses = triplet_losses(*triplet_rows(X, given["triplets"]), hinge, given["C"])
    return combination(B, total(frobenius(0.5), losses), linear(np.zeros(len(B))))


def lsml(X: Array, y: Array, given: dict[str, Any]) -> Program:
    """D_ld(A, A_0) + sum w [sqrt D_ab - sqrt D_cd]_+^2"""
    rows, w = np.array(given["quadruplets"], int), np.array(given["weights"], float)
    near, far = differences(X, rows[:, :2]), differences(X, rows[:, 2:])

    def losses(A: Array) -> tuple[float, Array]:
        p, q = (np.sqrt(np.maximum(squared(E, A), 0)) for E in (near, far))
        miss = np.maximum(p - q, 0)
        # of a missed quadruplet p > 0; if q = 0 its points are equal, because A is definite
        slopes = [w * np.divide(miss, v, out=np.zeros_like(v), where=v > 0) for v in (p, q)]
        return float(np.sum(w * miss**2)), outer(near, slopes[0]) - outer(far, slopes[1])

    prior = np.array(given["prior"], float)
    return from_prior(prior, total(divergence(prior), losses))


def sdml(X: Array, y: Array, given: dict[str, Any]) -> Program:
    """tr S M - log det M + lam sum |M_ij| off the diagonal, S = A_0^-1 + eta (sum_S X_ij - sum_D X_ij)"""
    near, far = (differences(X, given["pairs"][kind]) for kind in ("similar", "dissimilar"))
    prior = np.array(given["prior"], float)
    S = np.linalg.inv(prior) + given["eta"] * (near.T @ near - far.T @ far)
    off = given["lam"] * (1 - np.eye(len(S)))
    return from_prior(
        prior, total(linear(S), minus_log_det, lambda M: (float(np.sum(off * abs(M))), off * np.sign(M)))
    )


def ldml(X: Array, y: Array, given: dict[str, Any]) -> Program:
    """sum over S of log(1 + exp(D - b)) + sum over D of log(1 + exp(b - D)); b is given, or the best"""
    similar, dissimilar = given["pairs"]["similar"], given["pairs"]["dissimilar"]
    E, sign = differences(X, [*similar, *dissimilar]), np.repeat([1.0, -1.0], [len(similar), len(dissimilar)])

    def slopes(D: Array, b: float) -> Array:
        z = sign * (D - b)
        return sign * np.exp(z - np.logaddexp(0, z))

    def best(D: Array) -> float:
        low, high = D.min() - 50, D.max() + 50
        for _ in range(60):
            b = (low + high) / 2
            low, high = (b, high) if slopes(D, b).sum() > 0 else (low, b)
        return float(high)

    def objective(M: Array) -> tuple[float, Array]:
        D = squared(E, M)
        b = best(D) if given["b"] == "free" else given["b"]
        return float(np.logaddexp(0, sign * (D - b)).sum()), outer(E, slopes(D, b))

    return from_zero(X.shape[1], objective)


def softmax_rows(X: Array, pull: Array, weights: Array) -> Objective:
    """<pull, M> + sum_i weights_i log sum over k != i of exp(-D_ik)"""
    n = len(X)
    E = (X[:, None] - X[None]).reshape(n * n, -1)

    def objective(M: Array) -> tuple[float, Array]:
        z = -squared(E, M).reshape(n, n)
        np.fill_diagonal(z, -np.inf)
        top = z.max(axis=1, keepdims=True)
        e = np.exp(z - top)
        logs = top[:, 0] + np.log(e.sum(axis=1))
        p = weights[:, None] * e / e.sum(axis=1, keepdims=True)
        return float(np.sum(pull * M) + weights @ logs), pull - outer(E, p.ravel())

    return objective


def mcml(X: Array, y: Array, given: dict[str, Any]) -> Program:
    """sum over i of the mean D_ij to its class + log sum exp of all -D_ik; a point alone in its class has no term"""
    mates = (y[:, None] == y) & ~np.eye(len(y), dtype=bool)
    count = mates.sum(axis=1)
    i, j = np.nonzero(mates)
    pull = outer(X[i] - X[j], 1 / count[i])
    return from_zero(X.shape[1], softmax_rows(X, pull, (count > 0).astype(float)))


def nca_of_twins(X: Array, y: Array, given: dict[str, Any]) -> Program:
    """- sum_i log p_i in M = A^T A. It is the objective of MCML, and convex, if each point has one mate."""
    assert (np.sum(y[:, None] == y, axis=1) == 2).all()
    assert given["criterion"] == "g"
    return mcml(X, y, given)


def budget(X: Array, given: dict[str, Any], gained: Any) -> Program:
    """Minimize -gained(D of the dissimilar pairs), with sum over similar pairs D <= 1.

    The variable is S^1/2 M S^1/2 with S = sum over similar pairs X_ij, so that the sum is the trace of the variable.
    """
    near, far = (differences(X, given["pairs"][kind]) for kind in ("similar", "dissimilar"))
    values, vectors = np.linalg.eigh(near.T @ near)
    kept = values > 1e-12 * values.max()
    whiten = vectors[:, kept] / np.sqrt(values[kept])
    far = far[far.any(axis=1)] @ whiten

    def objective(M: Array) -> tuple[float, Array]:
        value, slope = gained(np.maximum(squared(far, M), 0))
        return -value, -outer(far, slope)

    start = np.eye(kept.sum()) / kept.sum()
    return Program(start, INVERSE, objective, trace_at_most_1, lambda M: whiten @ M @ whiten.T)


def sum_of_roots(D: Array) -> tuple[float, Array]:
    roots = np.sqrt(np.maximum(D, 1e-12 * D.max()))
    return float(np.sqrt(D).sum()), 1 / (2 * roots)


def least(D: Array) -> tuple[float, Array]:
    return float(D.min()), (np.arange(len(D)) == D.argmin()).astype(float)


def mmc(X: Array, y: Array, given: dict[str, Any]) -> Program:
    return budget(X, given, sum_of_roots)


def diagonal_mmc(X: Array, y: Array, given: dict[str, Any]) -> Program:
    """MMC in the diagonal of M, times the sums over similar pairs of each feature"""
    near, far = (differences(X, given["pairs"][kind]) for kind in ("similar", "dissimilar"))
    spent = np.sum(near**2, axis=0)
    rows = far**2 / spent

    def objective(w: Array) -> tuple[float, Array]:
        value, slope = sum_of_roots(rows @ w)
        return -value, -rows.T @ slope

    return Program(
        np.full(len(spent), 1 / len(spent)), INVERSE, objective, simplex, lambda w: np.diag(w / spent)
    )


def dml_eig(X: Array, y: Array, given: dict[str, Any]) -> Program:
    return budget(X, given, least)


def mlr(X: Array, y: Array, given: dict[str, Any]) -> Program:
    """tr W + C/queries sum over queries of the largest loss of a ranking less its margin"""
    n = len(X)
    groups: dict[tuple[int, int], list[tuple[Array, Array]]] = {}
    for q, listed in enumerate(given["relevant"]):
        others = np.setdiff1d(np.arange(n), [q, *listed])
        if len(listed) and len(others):
            near, far = X[q] - X[np.array(listed, int)], X[q] - X[others]
            groups.setdefault((len(near), len(far)), []).append((near, far))
    weight = given["C"] / sum(len(group) for group in groups.values())
    parts = []
    for (P, N), group in groups.items():
        near, far = (np.array(each) for each in zip(*group, strict=True))
        parts.append(rankings(near, far, earned_by(given["measure"], given["k"], P, N), weight))
    d = X.shape[1]
    return from_zero(d, total(linear(np.eye(d)), *parts))


def rankings(near: Array, far: Array, earned: Array, weight: float) -> Objective:
    """weight * sum over queries of the largest loss less margin, for queries with equal numbers of relevant points.

    near (q, P, d), far (q, N, d): differences to the relevant points and to the others. A ranking is given by g_p, the
    number of others before the p-th relevant point: g_1 <= g_2 <= ...
    """
    queries, P, d = near.shape
    N = far.shape[1]
    every = np.arange(queries)

    def objective(W: Array) -> tuple[float, Array]:
        D, D_far = np.sum((near @ W) * near, axis=2), np.sum((far @ W) * far, axis=2)
        order, order_far = np.argsort(D, axis=1), np.argsort(D_far, axis=1)
        before = np.zeros((queries, N + 1))
        before[:, 1:] = np.cumsum(np.sort(D_far, axis=1), axis=1)
        best, came = np.ones((queries, N + 1)), []
        for D_p, earned_p in zip(np.sort(D, axis=1).T, earned, strict=True):
            top = np.maximum.accumulate(best, axis=1)
            came.append(np.maximum.accumulate(np.where(best == top, np.arange(N + 1), 0), axis=1))
            best = top - earned_p - 2 / (P * N) * (before - np.arange(N + 1) * D_p[:, None])
        g = [best.argmax(axis=1)]
        for back in reversed(came[1:]):
            g.insert(0, back[every, g[0]])
        counts = np.array(g, float).T
        passed = np.sum(np.arange(N)[:, None] < counts[:, None], axis=2)
        # the first relevant points and the first others, by distance
        a, b = np.zeros((queries, P)), np.zeros((queries, N))
        np.put_along_axis(a, order, counts, axis=1)
        np.put_along_axis(b, order_far, passed.astype(float), axis=1)
        G = outer(near.reshape(-1, d), a.ravel()) - outer(far.reshape(-1, d), b.ravel())
        return weight * float(best.max(axis=1).sum()), weight * 2 / (P * N) * G

    return objective


def earned_by(measure: str, k: int, P: int, N: int) -> Array:
    """The share of the measure that the p-th of P relevant points earns with g of N others before it: (P, N + 1)."""
    p, g = np.arange(1, P + 1)[:, None], np.arange(N + 1)
    if measure == "auc":
        return np.asarray((N - g + 0.0 * p) / (P * N))
    if measure == "map":
        return np.asarray(p / (P * (p + g)))
    assert measure == "ndcg", measure
    rank = np.arange(1, P + N + 1)
    c = np.where(rank <= min(k, P), 1 / np.log2(np.maximum(rank, 2)), 0.0)
    return np.asarray((c / c.sum())[p + g - 1])


PROGRAMS: dict[str, Callable[[Array, Array, dict[str, Any]], Program]] = {
    "boostmetric": boostmetric,
    "dml_eig": dml_eig,
    "frobmetric": frobmetric,
    "kernel_mlsvm": kernel_mlsvm,
    "ldml": ldml,
    "lmnn": lmnn,
    "lmnn:squared_hinge": squared_lmnn,
    "lsml": lsml,
    "mcml": mcml,
    "mlr": mlr,
    "mlsvm": mlsvm,
    "mmc": mmc,
    "mmc:diagonal": diagonal_mmc,
    "nca": nca_of_twins,
    "plml": plml,
    "rtml": rtml,
    "schultz_joachims": schultz_joachims,
    "scml": scml,
    "sdml": sdml,
}

HEAD = (
    "# Relative gaps of plain projected subgradient descent on golden cases, after 100, 1000 and 10000 steps.",
    "# Written by: python -m validation.cases.first_order",
    "case,inputs,start," + ",".join(map(str, STEPS)),
)


def line(case: str, row: Measured) -> str:
    """The row of a case as a line of the table."""
    return ",".join([case, row.inputs, row.start, *(f"{gap:.2e}" for gap in row.gaps)])


if __name__ == "__main__":
    main()
