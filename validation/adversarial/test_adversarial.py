"""The adversarial validation: its twin against values by hand, false certificates that it must catch, a small run."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cvxml import api
from cvxml.core.report import Verdict
from cvxml.methods import get
from cvxml.oracle import convex
from validation.adversarial import files, judge
from validation.adversarial.__main__ import kept, table
from validation.adversarial.attack import Attack
from validation.adversarial.attained import Attained
from validation.adversarial.candidates import root_of, squared
from validation.adversarial.exact import ball, is_psd, logsumexp, outer, precision, symmetric, whole
from validation.adversarial.instances import FAMILIES, METHODS, by_hand, id_of, in_other_units, instance
from validation.adversarial.judge import attacked
from validation.adversarial.local import Local
from validation.adversarial.problems import CONVEX
from validation.adversarial.stationary import NCA, SSVM

LINE = [[0.0], [1.0], [3.0], [7.0]]  # classes 0, 0, 1, 1


def near(found: Any, expected: float) -> bool:
    """To double precision."""
    return abs(float(found.mid()) - expected) <= 1e-14 * abs(expected)


def test_floats_are_taken_exactly():
    values, power = whole([0.1, -3.0, 5e-324, 1e300])
    assert [Fraction(v, 2**power) for v in values] == [Fraction(x) for x in (0.1, -3.0, 5e-324, 1e300)]


@pytest.mark.parametrize(
    ("matrix", "psd"),
    [
        ([[1, 1], [1, 1]], True),
        ([[0, 0], [0, 3]], True),
        ([[0, 1], [1, 3]], False),
        ([[2**80, 2**80], [2**80, 2**80 - 1]], False),
        ([[4, 2, 2], [2, 1, 1], [2, 1, 0]], False),
        ([[4, 2, 2], [2, 1, 1], [2, 1, 5]], True),
        ([[-1]], False),
    ],
)
def test_the_cone_is_decided_exactly(matrix: list[list[int]], psd: bool):
    assert is_psd(np.array(matrix, dtype=object)) == psd


def test_a_root_of_few_bits_has_an_exact_square():
    root = np.random.default_rng(0).standard_normal((4, 4)) * [[1.0], [1e30], [1e-30], [3.0]]
    A = squared(root)
    assert is_psd(symmetric(A).values)
    np.testing.assert_allclose(A, root @ root.T, rtol=0, atol=1e-6 * np.abs(root @ root.T).max())


def test_a_sum_of_exponentials_neither_overflows_nor_vanishes():
    with precision():
        assert near(logsumexp([ball(-1000, 0), ball(-1000, 0)]), -1000 + math.log(2))


# by hand: under (2) the distances on the line are 2 e^2; the targets of 0, 1, 2, 3 are 1, 0, 3, 2
TARGETS = [[1], [0], [3], [2]]


@pytest.mark.parametrize(
    ("method", "params", "expected"),
    [
        # every list holds all others: slacks 1 + max target - min impostor, 0 where negative: 0, 0, 1+32-8, 1+32-72 < 0
        ("mlsvm", {"lam": 0.5, "neighbors": [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]]}, 0.25 * 4 + 25 / 4),
        # pull 2+2+32+32; slacks: 2-0: 1+32-18 = 15, 2-1: 25
        ("lmnn", {"mu": 0.25, "targets": TARGETS}, 0.75 * 68 + 0.25 * 40),
        ("lmnn:squared_hinge", {"mu": 0.25, "targets": TARGETS}, 0.75 * 68 + 0.25 * (225 + 625)),
        # half of 2^2; margins 18 - 2 and 8 - 32: slacks 0 and 25, of which C = 3 takes the mean
        ("frobmetric", {"C": 3.0, "triplets": [[0, 1, 2], [2, 3, 1]]}, 2 + 3 * 25 / 2),
        ("schultz_joachims", {"C": 3.0, "triplets": [[0, 1, 2], [2, 3, 1]]}, 2 + 3 * 25),
        # 4 times half of 2^2; slacks 0 and 25, of which half the width is no loss
        ("rtml", {"lam": 4.0, "width": 0.5, "triplets": [[0, 1, 2], [2, 3, 1]]}, 8 + 25 - 0.25),
        # seen with a share of 1; pairs 2 and 32
        (
            "plml",
            {"alpha1": 3.0, "alpha2": 0.5, "weights": np.ones((4, 1)), "triplets": [[0, 1, 2], [2, 3, 1]]},
            3 * 4 + 25 + 34 / 2,
        ),
        # S = 1/4 + (1 + 16 - 9 - 49 - 4 - 36) / 1000
        ("sdml", {"eta": 1e-3, "lam": 9.0, "prior": np.array([[4.0]])}, 2 * (0.25 - 0.081) - math.log(2)),
        # margins 16 and -24, and a trace of 2
        (
            "boostmetric",
            {"v": 3.0, "triplets": [[0, 1, 2], [2, 3, 1]]},
            math.log(math.exp(-16) + math.exp(24)) + 6,
        ),
        # similar 2, 32, dissimilar 18, 98, 8, 72 and a b of 10 (by the labels 0, 0, 1, 1)
        (
            "ldml",
            {"b": 10.0},
            sum(math.log1p(math.exp(z)) for z in (2 - 10, 32 - 10, 10 - 18, 10 - 98, 10 - 8, 10 - 72)),
        ),
        # the same, by means of two similar and four other pairs, with weights of 1, 3 and 1, 1, 2, 4; and 4/2 at 0
        (
            "ldml",
            {"b": 10.0, "losses": "means", "weights": [1, 3, 1, 1, 2, 4], "self_pairs": 0.5},
            sum(
                w * math.log1p(math.exp(z))
                for w, z in (
                    *((1 / 4, 2 - 10), (3 / 4, 32 - 10), (1 / 8, 10 - 18), (1 / 8, 10 - 98)),
                    *((2 / 8, 10 - 8), (4 / 8, 10 - 72), (4 * 0.5 / 4, -10)),
                )
            ),
        ),
        # a divergence of 2 - log 2 - 1, half of (sqrt 18 - sqrt 8)^2; the other comparison is kept
        (
            "lsml",
            {"prior": np.eye(1), "quadruplets": [[0, 2, 1, 2], [0, 1, 2, 3]], "weights": [0.5, 0.5]},
            2 - math.log(2),
        ),
        (
            "lsml",
            {"prior": np.eye(1), "quadruplets": [[0, 2, 1, 2]], "weights": [3], "losses": "sum"},
            2 - math.log(2) - 1 + 3 * 2,
        ),
        # 0, 1, 3 are 4/3, 1/3, 5/3 from their mean; a multiple costs the same
        ("rca", {"chunklets": [5, 5, 5, -1], "alpha": 0.5}, 42 / 27 + 0.5),
        # similar pairs 1 + 16, dissimilar 9 + 49 + 4 + 36, and 1 in both
        ("gmml", {"weight": 0.5, "mu": 1.0, "pairs": None}, 2 * 18 + 99 / 2),
        # with 2/4 beside the first sum and 8 beside the second
        (
            "gmml",
            {"weight": 0.5, "mu": 2.0, "pairs": None, "prior": np.array([[4.0]])},
            2 * 17.5 + (98 + 8) / 2,
        ),
        (
            "gmml",
            {"weight": 0.25, "mu": 0.0, "pairs": {"similar": [[0, 1]], "dissimilar": [[0, 2]]}},
            0.75 * math.log(2) ** 2 + 0.25 * math.log(9 / 2) ** 2,
        ),
        # 3 has its own 32 away, others 18 and 8: both before it cost 38, and all of auc, or 2/3 of 1/rank
        ("mlr", {"measure": "auc", "k": 3, "C": 2.0, "relevant": None}, 2 + 39 / 2),
        ("mlr", {"measure": "mrr", "k": 3, "C": 2.0, "relevant": None}, 2 + (38 + 2 / 3) / 2),
        ("mlr", {"measure": "precision", "k": 1, "C": 1.0, "relevant": [[1], [], [3], []]}, 2 + 39 / 2),
        # over the budget of 1 by 34: distances 18, 98, 8, 72 divided by it
        ("mmc", {}, -sum(math.sqrt(d / 34) for d in (18, 98, 8, 72))),
        ("mmc:diagonal", {}, -sum(math.sqrt(d / 34) for d in (18, 98, 8, 72))),
        ("dml_eig", {}, -8 / 34),
        (
            "mcml",
            {},
            sum(
                m + math.log(sum(math.exp(-d) for d in D))
                for m, D in ((2, (2, 18, 98)), (2, (2, 8, 72)), (32, (18, 8, 32)), (32, (98, 72, 32)))
            ),
        ),
        # prior 4, bounds 4 and 50: D_ld = 2/4 - log(2/4) - 1; phi(32/4); dissimilar below 50: 18, 8
        (
            "itml",
            {"prior": np.array([[4.0]]), "bounds": (4.0, 50.0), "gamma": 2.0},
            0.5 - math.log(0.5) - 1 + 2 * sum(r - 1 - math.log(r) for r in (32 / 4, 18 / 50, 8 / 50)),
        ),
    ],
)
def test_the_objective_is_that_by_hand(method: str, params: dict[str, Any], expected: float):
    with precision():
        problem = CONVEX[method](LINE, [0, 0, 1, 1], **params)
        assert near(problem.value(problem.image(np.array([[2.0]]))), expected)


def test_what_is_known_of_a_basis_and_of_blocks():
    """(2, -1; -1, 5) is 1, 4 and 1 times the squares of e_1, e_2, e_1 - e_2; in the basis 1, 2, 1/2 times as long."""
    with precision():
        params: dict[str, Any] = {
            "beta": 1.0,
            "basis": [[1.0, 0], [0, 2], [0.5, -0.5]],
            "triplets": [[0, 1, 2]],
        }
        X = np.array([[0.0, 0], [0, 0], [1, 1], [2, 0]])
        problem = CONVEX["scml"](X, [0, 0, 1, 1], **params)
        assert float(problem.value(problem.image(np.array([[2.0, -1], [-1, 5]]))).mid()) == pytest.approx(
            6, rel=1e-12
        )
        assert not problem.valid(symmetric(np.array([[2.0, 1], [1, 5]])))
        # shares of 1/4 and 3/4: the first point sees 1/4 (1, 1; 1, 1) + 3/4 diag(4, 0)
        M = np.zeros((4, 4))
        M[:2, :2], M[2, 2] = 1, 4
        shares = [[0.25, 0.75], [1, 0], [1, 0], [1, 0]]
        params = {"alpha1": 1.0, "alpha2": 2.0, "weights": shares, "triplets": [[0, 3, 2]]}
        problem = CONVEX["plml"](X, [0, 1, 1, 0], **params)
        # to (2, 0): 1 + 12, to (1, 1): 1 + 3
        assert near(problem.value(problem.image(M)), 4 + 16 + 1 + 13 - 4 + 2 * 13)


def test_the_eigenvalues_of_scatters_by_hand():
    """Classes of two have the scales 1 and 4: S_w = 17/(2e), and S_b = 98/4 - 17/(4e)."""
    with precision():
        problem = CONVEX["lfda"](
            LINE, [0, 0, 1, 1], n_components=1, n_neighbors=1, alpha=0.0, embedding="orthonormal"
        )
        expected = -(98 / 4 - 17 / (4 * math.e)) / (17 / (2 * math.e))
        assert near(problem.infimum(), expected)
        found = problem.value(problem.image(np.array([[1.0]])))
        assert float(found.mid()) == pytest.approx(expected, rel=1e-14)


def test_the_kernel_is_the_linear_problem_for_the_kernel_x_y():
    X, y = np.array([[1.0, 0], [2, 1], [-1, 3], [0.5, -2]]), [0, 0, 1, 1]
    phi = squared(np.random.default_rng(1).standard_normal((4, 4)))
    params = {"lam": 0.25, "neighbors": [[j for j in range(4) if j != i] for i in range(4)]}
    with precision():
        kernel = CONVEX["kernel_mlsvm"](X, y, kernel="poly", degree=1, **params)
        linear = CONVEX["mlsvm"](X, y, **params)
        A = X.T @ phi @ X  # rounded
        assert (
            abs(float((kernel.value(kernel.image(phi)) - linear.value(linear.image(A))).mid()))
            < 1e-11 * np.abs(A).max() ** 2
        )


def test_a_matrix_that_is_not_psd_stands_for_an_interval():
    with precision():
        problem = CONVEX["dml_eig"]([[0.0, 0], [1, 0], [0, 2.0], [1, 2]], [0, 0, 1, 1])
        value = problem.value(problem.image(np.diag([0.25, -1e-9])))
        assert value.contains(0)  # what the nearest metric, diag(.25, 0), has
        assert value.rad() < 1e-7


def test_nca_is_that_by_hand():
    D = np.subtract.outer(np.ravel(LINE), np.ravel(LINE)) ** 2 * 0.5
    e = np.exp(-D) * (1 - np.eye(4))
    p = [e[i, i ^ 1] / e[i].sum() for i in range(4)]
    with precision():
        for criterion, expected in (("f", -sum(p)), ("g", -sum(map(math.log, p)))):
            problem = NCA(LINE, [0, 0, 1, 1], criterion=criterion)
            at, to = (problem.image(np.array([[v]])) for v in (0.5, 0.5 + 2.0**-20))
            assert near(problem.value(at), expected)
            # the step lies above the objective and touches it, with the same slope: the gradient
            change = problem.step(at, to)
            assert not bool(change < problem.value(to) - problem.value(at))
            # in units of the points, which are whole numbers here
            slope = float((problem.gradient(at)[0, 0]).mid())
            assert abs(float(change.mid()) * 2**20 - slope) < 1e-4 * abs(slope)


def test_a_loss_of_gerrymandering_is_that_by_hand():
    # 1 neighbour, W = 1: the nearest of 0, 1, 2 is 1, 0, 1; of 3 it is 2
    # L = max(-D_right, 1 - D_wrong) + D_right: 0: max(-1, 1 - 9) + 1 = 0; 1: max(-1, 1 - 4) + 1 = 0;
    # 2: max(-16, 1 - 4) + 16 = 13; 3: max(-16, 1 - 36) + 16 = 0
    with precision():
        problem = SSVM(LINE, [0, 0, 1, 1], n_neighbors=1, C=0.5)
        at = problem.image(np.array([[1.0]]))
        assert near(problem.value(at), 1 + 0.5 * 13)
        assert problem.latent(at) == [(1,), (0,), (3,), (2,)]
        assert near(problem.step_value([(1,), (0,), (3,), (2,)], at), 1 + 0.5 * 13)


def test_a_local_optimum_is_that_by_hand():
    # variances 1 and 4 on a line, at the mean of both: G = -1 and -1/4, B is definite, the optimum 1
    X, y = [[-1.0], [1.0], [-2.0], [2.0]], [0, 0, 1, 1]
    with precision():
        problem = Local(X, y, [0.0], 0.0)
        assert problem.definite
        assert near(problem.best, 1.0)
        assert near(problem.value(np.array([[1.0]]))[0], 1.0)
        assert Local([[-1.0, 1], [1, -1], [0, 1], [1, 0]], y, [0.0, 0], 0.0).singular


def test_a_direction_of_2_to_the_minus_44_is_used():
    """The classes are apart along (1, -1) only, in which no target differs: LMNN's infimum is 0."""
    X = np.array([[0.0, 0], [1, 1], [0, 2.0**-44], [1, 1 + 2.0**-44]])
    with precision():
        problem = CONVEX["lmnn"](X, [0, 0, 1, 1], mu=0.5, targets=[[1], [0], [3], [2]])
        assert Attained(problem, [], []).best == 0


def test_an_optimum_from_kkt_is_attained_exactly():
    for seed in range(0, 10 * len(FAMILIES), len(FAMILIES)):
        given = instance("mlsvm:knn", seed)
        if given.optimum is not None:
            proof = api.solve("mlsvm", given.X, given.y, tol=1e-10, **given.params)
            assert np.abs(proof.metric - given.optimum).max() <= 1e-4 * np.abs(given.optimum).max()


def test_every_direction_is_a_metric():
    M = outer([3, -(2**70), 5])
    assert is_psd(M.values)
    assert 0.1 < sum(M.values[k, k] for k in range(3)) / 2**M.power < 10


Lie = Callable[[Any], Any]
LIES: dict[str, Lie] = {
    "bound": lambda proof: dataclasses.replace(
        proof, lower_bound=proof.objective + 0.01 * abs(proof.objective)
    ),
    "certified": lambda proof: dataclasses.replace(proof, gap=0.0, rounding=0.0),
    "objective": lambda proof: dataclasses.replace(proof, objective=proof.objective * (1 + 1e-9)),
}


def told(monkeypatch: pytest.MonkeyPatch, method: str, lie: Lie) -> set[str]:
    """What is said to be wrong, by its first word, of a certify that lies."""
    module = get(method)
    true = module.certify
    monkeypatch.setattr(module, "certify", lambda *a, **k: lie(true(*a, **k)), raising=False)
    name = {"mlsvm": "mlsvm:knn"}.get(method, method)
    return {wrong.split(":")[0] for each in attacked(name, 0, count=6) for wrong in each.wrong}


@pytest.mark.quick(2)
@pytest.mark.parametrize("method", ["mlsvm", "lmnn", "mmc", "mcml", "itml", "dml_eig", "rca", "gmml"])
@pytest.mark.parametrize("lie", LIES)
def test_a_certificate_that_lies_is_caught(monkeypatch: pytest.MonkeyPatch, method: str, lie: str):
    assert lie in told(monkeypatch, method, LIES[lie])


@pytest.mark.slow
def test_a_step_that_lies_is_caught(monkeypatch: pytest.MonkeyPatch):
    def lie(proof: Any) -> Any:
        return dataclasses.replace(proof, step=dataclasses.replace(proof.step, gap=0.0))

    module = get("nca")
    true = module.certify
    monkeypatch.setattr(module, "certify", lambda *a, **k: lie(true(*a, **k)))
    wrong = {w.split(":")[0] for each in attacked("nca:g", 0, count=3) for w in each.wrong}
    assert {"certified", "bound"} <= wrong


def test_a_refusal_that_is_false_is_caught(monkeypatch: pytest.MonkeyPatch):
    def refuse(*arguments: Any, **rest: Any) -> Any:
        raise ValueError("infinite maximum")

    monkeypatch.setattr(get("mmc"), "solve", refuse, raising=False)
    (only,) = attacked("mmc", 0)
    (wrong,) = only.wrong
    assert "infinite maximum" in wrong


@pytest.mark.slow
def test_a_run_goes_on_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("validation.adversarial.__main__.CHUNK", 2)
    found = kept(tmp_path, "mmc", 0)
    monkeypatch.setattr(judge, "instance", None)  # nothing is computed again
    assert kept(tmp_path, "mmc", 0) == found
    rows = table(found, "method", lambda each: each.method).splitlines()
    assert rows[-1].startswith(f"| all | {len(found)} |")
    assert rows[2].replace("| mmc |", "| all |") == rows[-1]


@pytest.mark.quick(1)
@pytest.mark.parametrize("method", METHODS)
def test_nothing_is_wrong(method: str):
    """Of about 200 candidates; `python -m validation.adversarial` looks at twenty thousand."""
    seed = METHODS.index(method) % len(FAMILIES)
    found = attacked(method, seed, count=8)
    assert found
    assert not [(each.what, each.tol, each.wrong) for each in found if each.wrong]


# what was said falsely of them: a bound above what a metric attains, a certificate of what underflows, of an optimum
# of 0, a singular covariance, an objective that is another's; figures that are no numbers, a kernel that is not 0; the
# objective of a metric that was symmetric but for rounding, and eigenvalues of 1e-398 that no bits decide
FALSE_ONCE = (
    ("lmnn", 4),
    ("lmnn:squared_hinge", 12),
    ("mmc", 16),
    ("dml_eig", 2),
    ("nca:f", 13),
    ("glml", 2),
    ("mlsvm:knn", 11),
    ("mcml", 9),
    ("kernel_mlsvm", 10),
    ("kernel_mlsvm", 21),
    ("nca:f", 25),
    ("rca", 12),
    ("rca", 48),
    ("gmml", 7),
)


@pytest.mark.quick(1)
@pytest.mark.parametrize(("method", "seed"), FALSE_ONCE)
def test_what_was_false_is_not_said_any_more(method: str, seed: int):
    assert not [(each.what, each.tol, each.wrong) for each in attacked(method, seed) if each.wrong]


def test_problems_by_hand_are_solved_in_every_unit() -> None:
    """The truth finds no metric that is better than the optimum by hand, for at least 15 methods."""
    solved = [(method, by_hand(id_of(method))) for method in METHODS]
    assert sum(bool(found) for _, found in solved) >= 15
    rng = np.random.default_rng(0)
    with precision():
        for method, found in solved:
            for each in found:
                given = in_other_units(method, each, rng)
                problem = CONVEX[given.id](given.X, given.y, **given.params)
                value = problem.value(problem.image(given.optimum))
                better = value - Attained(problem, [given.optimum], []).best
                assert not bool(better > 1e-9 * (1 + abs(value))), (method, each)


def begun(method: str, seed: int) -> tuple[Attack, Any]:
    """An attack on the seed-th instance, and our solution of it."""
    attack = Attack(instance(method, seed), np.random.default_rng(seed))
    solved = api.solve(*attack.asked, tol=1e-7, **attack.given.params)
    attack.look([solved])
    return attack, solved


@pytest.mark.parametrize("method", ["frobmetric", "rtml"])
def test_a_tolerance_of_a_bad_reference_is_caught(monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    """The fault of version 0.2: exact mode took the scale of a reference that did not converge."""
    true = convex.judge_exactly

    def lie(*arguments: Any) -> Any:
        return true(*arguments)._replace(verdict=Verdict.CERTIFIED)

    monkeypatch.setattr(convex, "judge_exactly", lie)
    with precision():
        attack, solved = begun(method, 0)
        A = squared(root_of(1.5 * solved.metric))
        (_, _, verdict, wrong), *_ = attack.beside("1.5 own", A, solved, False)
    assert verdict == "certified"
    assert {each.split(":")[0] for each in wrong} == {"certified"}


def test_a_certificate_of_an_edited_file_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that certifies the file as it was, whatever stands in it now."""
    monkeypatch.setattr(files, "says", lambda content, tol: (["certify"], ""))
    with precision():
        attack, solved = begun("frobmetric", 0)
        wrong = [attack.edited(solved)[-1] for _ in range(12)]
    assert any(wrong)


@pytest.mark.parametrize("end", ["lower_bound", "objective"])
def test_an_interval_that_lies_is_caught(monkeypatch: pytest.MonkeyPatch, end: str):
    module = get("frobmetric")
    true = module.exact

    def lie(*arguments: Any, **rest: Any) -> Any:
        found = true(*arguments, **rest)
        return dataclasses.replace(found, **{end: found.objective * (1 + Fraction(1, 1 << 40))})

    monkeypatch.setattr(module, "exact", lie, raising=False)
    wrong = {w.split(":")[0] for each in attacked("frobmetric", 0) for w in each.wrong}
    assert "exact" in wrong
