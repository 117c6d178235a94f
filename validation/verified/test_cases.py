"""The tree of cases that bounds the objective F of gerrymandering: the checker agrees with the twin (twin.py).

Trees with errors are rejected.
"""

from __future__ import annotations

import copy
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cvxml
from cvxml.core.saved import load
from cvxml.methods.ssvm.instance import instance
from cvxml.methods.ssvm.problem import best_assignment
from cvxml.oracle.side import side
from tests.instances import objective_of, random_data
from validation.verified import twin
from validation.verified.built import Said, run, saved
from validation.verified.corpus import GLOBAL, solution

pytestmark = pytest.mark.slow  # a landing runs these where `.ci/landing.py` says so

HEAD = {"format": "cvxml-side", "version": 1, "method": "ssvm"}
SIX = np.array([[0.0, 0], [1, 2], [3, 0], [1, 0], [2, 2], [0, 1]]), np.array([0, 0, 0, 1, 1, 1])


def expected(file: Path, beside: Path) -> tuple[Fraction, Fraction]:
    """Return the interval that the twin computes from a saved solution and its side file."""
    return twin.interval(file.read_bytes(), beside.read_bytes())


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("start", range(0, 200, 10))
def test_random_trees_have_the_interval_of_the_twin(start: int, tmp_path: Path) -> None:
    """The trees are complete or cut short by the time limit. The lower end is below F at other metrics."""
    for seed in range(start, start + 10):
        rng, k = np.random.default_rng(seed), 1 + 2 * (seed % 2)
        X, y = rng.normal(size=(6, 1 + seed % 3)), np.array([0, 0, 0, 1, 1, 1])
        if seed % 5 == 0:  # ties of distances
            X = np.round(X)
        given: dict[str, Any] = {"n_neighbors": k, "C": (0.01, 1.0, 30.0)[seed % 3]}
        if seed % 4 == 3:
            given["loss_matrix"] = [[0, rng.uniform(0.1, 2)], [rng.uniform(0.1, 2), 0]]
        found = cvxml.solve("ssvm", X, y, solver="global", time_limit=(0.05, 1)[seed % 7 > 0], **given)
        file, beside = saved(found, tmp_path)
        said = run(file, beside)
        assert said.interval == expected(file, beside)
        lower, upper = map(float, said.interval)
        assert found.lower_bound <= lower + 1e-12 * upper
        assert lower <= upper
        assert upper == pytest.approx(found.objective, rel=1e-12)
        for _ in range(10):
            L = rng.normal(size=(X.shape[1], X.shape[1])) * 10.0 ** rng.uniform(-2, 1)
            W = L @ L.T + rng.uniform(0, 2) * found.metric
            assert lower <= objective_of("ssvm", X, y, W, **given) * (1 + 1e-12)


@pytest.mark.parametrize("k", [1, 3])
def test_the_interval_holds_the_best_of_all_assignments(k: int, tmp_path: Path) -> None:
    for seed in range(2):
        X, y = np.random.default_rng(seed).normal(size=(6, 2)), SIX[1]
        p = instance(X, y, n_neighbors=k, C=1.0)
        every = best_assignment(p.X, p.y, p.k, p.C, p.Lam).value
        optimum = cvxml.solve("ssvm", X, y, n_neighbors=k, C=1.0, solver="global")
        found = run(*saved(optimum, tmp_path)).interval
        assert found is not None
        assert float(found[0]) <= every * (1 + 1e-6)
        assert float(found[1]) >= every * (1 - 1e-6)
        assert found[1] - found[0] <= 1e-5 * found[1]


def test_three_classes(tmp_path: Path) -> None:
    X, _ = random_data(4, n=9, d=2, classes=3)
    found = cvxml.solve("ssvm", X, np.arange(9) % 3, n_neighbors=1, C=1.0, solver="global", time_limit=20)
    file, beside = saved(found, tmp_path)
    assert run(file, beside).interval == expected(file, beside)


def test_the_metric_zero_is_proved_optimal_without_a_gap(tmp_path: Path) -> None:
    found = cvxml.solve("ssvm", *SIX, n_neighbors=1, C=1.0, solver="global")
    assert not found.metric.any()
    assert run(*saved(found, tmp_path)).interval == (6, 6)


def test_the_answer_says_that_every_metric_is_bounded(tmp_path: Path) -> None:
    tree = run(*saved(solution(GLOBAL), tmp_path))
    step = run(*saved(cvxml.solve("ssvm", *SIX, n_neighbors=1), tmp_path))
    assert "every metric" in tree.whose
    assert "every metric" not in step.whose
    assert "convex step" not in tree.whose


class Tree:
    """The files of a global optimum with its tree, of which a test changes one."""

    def __init__(self, folder: Path):
        self.file, self.beside = saved(solution(GLOBAL), folder)
        self.content = json.loads(self.file.read_text())
        self.side = json.loads(self.beside.read_text())
        assert self.judged(self.side).proved
        self.y, self.k = self.content["y"], self.content["params"]["n_neighbors"]

    def judged(self, other: Any) -> Said:
        """Return the answer of the checker if `other` takes the place of the side file.

        Asserts that a proved interval is that of the twin.
        """
        self.beside.write_text(json.dumps(other))
        said = run(self.file, self.beside)
        if said.proved:
            assert said.interval == expected(self.file, self.beside)
        return said

    def copied(self) -> tuple[Any, list[Any]]:
        """Return a copy of the side file to be changed, and its leaves with exchanges."""
        other = copy.deepcopy(self.side)
        return other, [node for node in other["cases"] if isinstance(node, dict) and node["exchanges"]]

    def end(self, at: int) -> int:
        """Return the place behind the subtree that begins at node `at`."""
        missing = 1
        while missing:
            missing += 1 if isinstance(self.side["cases"][at], list) else -1
            at += 1
        return at


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


def test_a_tree_that_leaves_out_a_case_is_rejected(tree: Tree) -> None:
    """A branch is replaced by one of its two cases, or a case is removed and its branch stays."""
    refused = 0
    cases = tree.side["cases"]
    for at, node in enumerate(cases):
        if not isinstance(node, list):
            continue
        inside, outside = at + 1, tree.end(at + 1)
        end = tree.end(at)
        for kept in (cases[inside:outside], cases[outside:end]):
            other = {**tree.side, "cases": [*cases[:at], *kept, *cases[end:]]}
            refused += not tree.judged(other).proved
        for first, second in ((inside, outside), (outside, end)):  # one case is not there, and its branch is
            gone = {**tree.side, "cases": [*cases[:first], *cases[second:]]}
            assert not tree.judged(gone).proved
    assert refused > 5
    for other in ([], cases[:-1], [*cases, cases[-1]], [cases]):
        assert not tree.judged({**tree.side, "cases": other}).proved


def test_cases_that_are_swapped_are_rejected(tree: Tree) -> None:
    cases = tree.side["cases"]
    middle, end = tree.end(1), tree.end(0)
    assert not tree.judged({**tree.side, "cases": [cases[0], *cases[middle:end], *cases[1:middle]]}).proved


def test_a_branch_at_a_point_that_does_not_exist_is_rejected(tree: Tree) -> None:
    for place in (0, 1):
        for value in (len(tree.y), 10**17, -1, None):
            other, _ = tree.copied()
            other["cases"][0][place] = value
            assert not tree.judged(other).proved


def test_exchanges_that_are_not_settled_or_not_allowed_are_rejected(tree: Tree) -> None:
    n = len(tree.y)
    for place in range(len(tree.copied()[1])):
        i, j, l, _ = tree.copied()[1][place]["exchanges"][0]
        others = [m for m in range(n) if m not in (i, j, l)]
        wrong = [[i, l, j], [i, j, i], [j, i, l], [i, l, l], [i, j, j], *([i, m, l] for m in others)]
        proved = 0
        for exchange in wrong:
            other, leaves = tree.copied()
            leaves[place]["exchanges"][0][:3] = exchange
            proved += tree.judged(other).proved  # some m may be settled too, and then the twin agrees
        assert proved < len(others)
        for exchange in wrong[:5]:
            other, leaves = tree.copied()
            leaves[place]["exchanges"][0][:3] = exchange
            assert not tree.judged(other).proved


def test_an_exchange_for_a_point_of_a_third_class_is_rejected(tmp_path: Path) -> None:
    """Point j is in the set of i, and l is not.

    If l has neither the class of j nor that of i, the class of i may lose.
    """
    X = [[0.0], [0.1], [5.0], [1.0], [1.1], [6.0], [2.0], [2.1], [7.0]]
    content = {
        "format": "cvxml-solution",
        "version": 1,
        "method": "ssvm",
        "X": X,
        "y": [0, 0, 0, 1, 1, 1, 2, 2, 2],
        "params": {"n_neighbors": 3, "C": 1.0, "loss_matrix": (1 - np.eye(3)).tolist()},
        "metric": [[0.0]],
    }
    factor = {"vectors": [], "rest": "norm"}

    def judged(j: int, l: int) -> Said:
        empty = {"prices": [], "exchanges": [], "factor": factor}
        leaf = {"prices": [], "exchanges": [[0, j, l, "0x1"]], "factor": factor}
        # j is in the set of 0 and l is not
        cases = [[0, j], [0, l], empty, leaf, empty]
        aside = {**HEAD, "over": "0x10", "root": None, "cases": cases}
        file, beside = tmp_path / "file.json", tmp_path / "side.json"
        file.write_text(json.dumps(content))
        beside.write_text(json.dumps(aside))
        said = run(file, beside)
        try:
            assert said.interval == expected(file, beside)
        except ValueError:
            assert not said.proved
        return said

    assert judged(3, 4).proved  # of one class
    assert judged(3, 1).proved  # of the class of the point
    assert not judged(3, 6).proved
    assert not judged(1, 6).proved


def test_weights_that_are_not_allowed_are_rejected(tree: Tree) -> None:
    other, _ = tree.copied()
    fine = 1 << 40
    leaves = [node for node in other["cases"] if isinstance(node, dict)]
    for leaf in leaves:
        for row in [s for _, sets in leaf["prices"] for s in sets] + leaf["exchanges"]:
            row[-1] = hex(int(row[-1], 16) * fine)
    other["over"] = hex(int(other["over"], 16) * fine)
    assert tree.judged(other).proved
    most = int(Fraction(tree.content["params"]["C"]) * int(other["over"], 16))
    changed = 0
    for leaf in leaves:
        for _, sets in leaf["prices"]:
            weight, total = sets[0][1], sum(int(a, 16) for _, a in sets)
            for value in (-1, most - total + int(weight, 16) + 1):
                sets[0][1] = hex(value)
                assert not tree.judged(other).proved
            sets[0][1] = weight
            changed += 1
        for exchange in leaf["exchanges"]:
            value = exchange[-1]
            exchange[-1] = "-0x1"
            assert not tree.judged(other).proved
            exchange[-1] = value
    assert changed > 20


def test_sets_that_are_none_are_rejected(tree: Tree) -> None:
    other, _ = tree.copied()
    leaf = next(node for node in other["cases"] if isinstance(node, dict) and node["prices"])
    i, sets = leaf["prices"][0]
    h = sets[0][0]
    inside = [m for m in range(len(tree.y)) if m != i]
    for wrong in (h[:-1], h[::-1], sorted([i, *h[1:]]), [h[0], *h[:-1]], inside, [*h[:-1], len(tree.y)]):
        sets[0][0] = wrong
        assert not tree.judged(other).proved
    sets[0][0] = h
    leaf["prices"].append(copy.deepcopy(leaf["prices"][0]))  # a point twice
    assert not tree.judged(other).proved


def test_a_matrix_of_a_leaf_that_is_not_psd_is_rejected(tree: Tree) -> None:
    """If the matrix of a leaf is not psd, its norm must be subtracted from the bound; "psd" is then a false entry."""
    refused = 0
    for at, node in enumerate(tree.side["cases"]):
        if isinstance(node, dict) and node["factor"]["rest"] == "norm":
            other, _ = tree.copied()
            other["cases"][at]["factor"]["rest"] = "psd"
            refused += not tree.judged(other).proved
            other["cases"][at]["factor"] = {"vectors": [[1.0]], "rest": "norm"}
            assert not tree.judged(other).proved
    assert refused > 5


def test_fields_of_the_step_are_rejected_beside_a_tree(tree: Tree) -> None:
    factor = {"vectors": [], "rest": "psd"}
    for name, value in (("prices", []), ("latent", [[0]]), ("factor", factor), ("lower", "0x1")):
        assert not tree.judged({**tree.side, name: value}).proved
    other, leaves = tree.copied()
    leaves[0]["bound"] = 1.0
    assert not tree.judged(other).proved


def test_a_class_that_cannot_win_is_rejected(tree: Tree) -> None:
    """If a class wins no set of k neighbours, the second maximum in F is not defined."""
    tree.content["y"] = [0, 0, 0, 0, 0, 1]
    tree.file.write_text(json.dumps(tree.content))
    assert not tree.judged(tree.side).proved


def test_too_many_sets_to_list_are_rejected(tmp_path: Path) -> None:
    n = 60
    content = {
        "format": "cvxml-solution",
        "version": 1,
        "method": "ssvm",
        "X": [[float(i)] for i in range(n)],
        "y": [i % 2 for i in range(n)],
        "params": {"n_neighbors": 21, "C": 1.0, "loss_matrix": [[0.0, 1.0], [1.0, 0.0]]},
        "metric": [[0.0]],
    }
    leaf = {"prices": [], "exchanges": [], "factor": {"vectors": [], "rest": "norm"}}
    aside = {**HEAD, "over": "0x1", "root": None, "cases": [leaf]}
    file, beside = tmp_path / "file.json", tmp_path / "side.json"
    beside.write_text(json.dumps(aside))
    for k, proved in ((21, False), (1, True)):
        content["params"]["n_neighbors"] = k  # type: ignore[index]
        file.write_text(json.dumps(content))
        assert run(file, beside).proved is proved


def test_a_side_file_of_a_tree_holds_its_branches_and_leaves(tmp_path: Path) -> None:
    found = solution(GLOBAL)
    file, _ = saved(found, tmp_path)
    written = side(load(file))
    assert len(written["cases"]) == len(found.dual["tree"])
    assert written["cases"][0] == found.dual["tree"][0, :2].tolist()
