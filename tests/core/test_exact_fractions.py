"""Exact intervals straight from the definitions: in fractions for mlsvm and ssvm, by loops in floats for the others."""

from __future__ import annotations

import itertools
import math
import sys
from fractions import Fraction

import numpy as np
import pytest

from cvxml.core.exact import nearest, upward
from cvxml.core.metric import FloatArray
from cvxml.methods.glml import definitions as glml
from cvxml.methods.kernel_mlsvm import exact as kernel_exact
from cvxml.methods.kernel_mlsvm import instance as kernel_instance
from cvxml.methods.mlsvm.method import METHOD as MLSVM
from cvxml.methods.nca import definitions as nca
from cvxml.methods.nca.problem import at
from cvxml.methods.ssvm import enumeration as ssvm
from cvxml.methods.ssvm import exact as ssvm_exact
from cvxml.methods.ssvm.instance import instance as ssvm_instance
from tests.instances import exact_of, fractions, random_data


def tiny(seed: int, d: int) -> tuple[FloatArray, np.ndarray, FloatArray, FloatArray]:
    """X and y of six points, and any M and L."""
    rng = np.random.default_rng(seed)
    M, L = rng.standard_normal((d, 2)), rng.standard_normal((d, 3))
    return rng.standard_normal((6, 2)), np.array([0, 0, 1, 1, 0, 1]), M, L


def has_no_plus(G: np.ndarray) -> bool:
    """True if P_+(G) = 0: no L is needed, and none is taken."""
    return bool(np.linalg.eigvalsh(G.astype(float))[-1] < 0)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("degree", [0, 1, 2])
def test_mlsvm_in_fractions_from_the_definition(seed: int, degree: int) -> None:
    """degree 0: mlsvm; else the kernel <x, x'>^degree: K_i for x_i, K between the factors of a norm."""
    X, y, M, L = tiny(seed, 6 if degree else 2)
    lists = [[1, 2, 3], [0, 3], [3, 0, 1], [2, 5], [], [3, 4, 0]]
    u, w = {(0, 2): 2, (0, 3): 1, (2, 0): 2, (2, 1): 4}, {(0, 1): 3, (2, 3): 6}  # in units of 1/64
    F, V = fractions(X), fractions(M) @ fractions(M).T
    G = fractions(np.zeros((len(L), len(L))))
    K = (F @ F.T) ** degree if degree else fractions(np.eye(2))
    points, corners = (K, fractions(np.eye(6))) if degree else (F, F)

    def norm2(A: np.ndarray) -> Fraction:
        return Fraction(np.trace(K @ A @ K @ A))

    slack = Fraction(0)
    for i, listed in enumerate(lists):
        D = {j: (points[i] - points[j]) @ V @ (points[i] - points[j]) for j in listed}
        near, far = ([D[j] for j in listed if (y[j] == y[i]) == own] for own in (False, True))
        slack += max(Fraction(0), 1 + max(far) - min(near)) if near and far else 0
    # the prices that are meant are in proportion to 1/6, which is no float
    share = 1 if degree else Fraction(1, 6) / Fraction(1 / 6)
    for weights, sign in ((u, 1), (w, -1)):
        for (i, j), value in weights.items():
            G = G + share * Fraction(sign * value, 64) * np.outer(
                corners[i] - corners[j], corners[i] - corners[j]
            )
    duals = tuple(
        part
        for each in (u, w)
        for part in (np.array([*each.values()]) / 64, np.array([*each], dtype=np.intp))
    )
    if degree:
        p = kernel_instance.instance(X, y, lam=0.25, neighbors=lists, degree=degree)
        found = kernel_exact.exact_interval(p, np.eye(6), duals, root=M, psd=L)
    else:
        dual = dict(zip(("u", "u_index", "w", "w_index"), duals, strict=True))
        given = MLSVM.instance(X, y, lam=0.25, neighbors=lists)
        found = MLSVM.exact_as_stored(given, np.eye(2), dual, root=M, hint=L)
    assert found.objective == norm2(V) / 8 + slack / 6
    paid = 0 if not degree and has_no_plus(G) else 2 * norm2(G + fractions(L) @ fractions(L).T)
    assert found.lower_bound == share * Fraction(9, 64) - paid
    assert found.scale == norm2(V) / 8


@pytest.mark.parametrize("seed", range(3))
def test_ssvm_in_fractions_over_all_sets(seed: int) -> None:
    X, y, M, L = tiny(seed, 2)
    C, Lam = Fraction(3, 8), np.array([[0, 0.5], [2.0, 0]])
    index = [[0, 1, 2, 3], [0, 2, 3, 4], [3, 0, 1, 5]]
    dual = {"q": [0.25, 0.75, 1.0], "q_index": index}
    F, V, G = fractions(X), fractions(M) @ fractions(M).T, 0 * fractions(np.eye(2))
    objective, bound = (V * V).sum(), Fraction(0)
    for i in range(6):
        cost, delta, edge = {}, {}, [np.outer(F[i] - x, F[i] - x) for x in F]
        for h in itertools.combinations([j for j in range(6) if j != i], 3):
            cost[h] = sum((F[i] - F[j]) @ V @ (F[i] - F[j]) for j in h)
            delta[h] = Fraction(ssvm.task_loss(ssvm.votes(y, h, 2), int(y[i]), Lam))
        star = min((h for h in cost if delta[h] == 0), key=lambda h: cost[h])  # no loss: the class of i wins
        objective += C * (max(delta[h] - cost[h] for h in cost) + cost[star])
        used = {tuple(h): Fraction(q) for q, (at, *h) in zip(dual["q"], index, strict=True) if at == i}
        for h, q in (used or {star: Fraction(1)}).items():
            bound += C * q * delta[h]
            G = G + C * q * (sum(edge[j] for j in h) - sum(edge[j] for j in star))
    p = ssvm_instance(X, y, n_neighbors=3, C=0.375, loss_matrix=Lam)
    found = ssvm_exact.exact_interval(p, np.eye(2), dual, root=M, psd=L)
    assert found.objective == objective
    paid = 0 if has_no_plus(G) else ((G + fractions(L) @ fractions(L).T) ** 2).sum() / 4
    assert found.lower_bound == bound - paid
    assert found.scale == (V * V).sum()


def test_the_bounds_of_glml_and_nca_from_the_definitions() -> None:
    X, y = random_data(7, n=24, d=3)
    X = X * (1 + y[:, None])
    for x, definite in (([2.0, 0, 0], True), ([0.0, 0, 0], False)):
        B = glml.local_B(np.array(x), [glml.fitted(X, y, c) for c in range(3)], [0.0] * 3)
        v = 2 * abs(np.linalg.det(B)) ** (1 / 3)
        found = exact_of("glml", X, y, np.eye(3), {"y": [3 * v], "u": [v * v]}, query=x)
        bound = 3 * v**2 * (1 - np.log(v / 3)) + v**2 * np.log((v / 2) ** 3) - 9 * v**2 / 4
        assert float(found.objective) == pytest.approx(glml.objective(B, np.eye(3)), rel=1e-11)
        assert float(found.lower_bound) == pytest.approx(bound if definite else 0, rel=1e-11)
    X, y = random_data(7, n=24, d=3, classes=2)
    Q, R, s = 0.1 * np.eye(3), 0.5 * np.eye(3), (y[:, None] == y) * (1 - np.eye(24))
    for criterion in ("f", "g"):
        c, _, bound = at(X, s, Q, criterion)
        for i in range(24):
            log_q = np.delete(nca.log_p_ij(X, R, i), i)
            bound -= c[i] * float(np.exp(log_q) @ log_q)
        found = exact_of("nca", X, y, Q, {"R": R, "interior": R}, criterion=criterion)
        assert float(found.objective) == pytest.approx(nca.objective(X, s, Q, criterion), rel=1e-12)
        assert float(found.lower_bound) == pytest.approx(bound, rel=1e-12)


def test_beyond_all_floats_the_ends_are_still_ends() -> None:
    assert (
        upward(Fraction(10) ** 400)
        == nearest(Fraction(10) ** 400)
        == -nearest(-(Fraction(10) ** 400))
        == math.inf
    )
    assert upward(-(Fraction(10) ** 400)) == -sys.float_info.max
