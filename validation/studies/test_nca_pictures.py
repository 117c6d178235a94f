"""What is counted in the pictures of NCA's planes, against loops, and what is said of it."""

from __future__ import annotations

import numpy as np

from validation.experiments.verdicts import Verdict
from validation.studies.nca_pictures import claim_lines, leave_one_out, missed


def test_shares_and_mistakes_are_those_of_loops() -> None:
    random = np.random.RandomState(0)
    points, y = random.standard_normal((60, 2)), random.randint(3, size=60)
    train, test = np.arange(0, 60, 2), np.arange(1, 60, 2)
    fitted = points[train]
    right = 0
    for i in range(len(train)):
        others = [(float(np.linalg.norm(fitted[i] - fitted[j])), j) for j in range(len(train)) if j != i]
        right += int(y[train[min(others)[1]]] == y[train[i]])
    assert leave_one_out(fitted, y[train]) == right / len(train)
    wrong = []
    for i in test:
        nearest = min((float(np.linalg.norm(points[i] - points[j])), j) for j in train)[1]
        if y[nearest] != y[i]:
            wrong.append(i)
    assert 0 < len(wrong) < len(test)
    assert missed(points, y, train, test) == wrong


def test_nca_is_compared_with_both_on_every_set() -> None:
    best, worst = {"NCA (g)": [], "NCA (f)": [1]}, list(range(40))
    lines = claim_lines(
        {"a": {**best, "PCA": worst, "LDA": [1]}, "b": {**best, "NCA (g)": worst, "PCA": [], "LDA": []}},
        {"a": 90, "b": 90},
    )
    rows = {
        tuple(cell.strip() for cell in line.strip("| ").split(" | "))
        for line in lines
        if line.startswith(("| a", "| b"))
    }
    assert ("a", "NCA (g) before PCA", "0, 40", "supported") in rows
    assert ("a", "NCA (f) before PCA", "0, 39", "supported") in rows
    assert ("a", "NCA (f) before LDA", "0, 0", Verdict.UNDECIDED) in rows
    assert ("b", "NCA (g) before LDA", "40, 0", "contradicted") in rows
    assert len(rows) == 8
