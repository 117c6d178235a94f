"""5-NN on words of images: the parts of the experiment, on images that are made up."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cvxml import datasets
from cvxml.core.metric import FloatArray, IntArray
from validation.experiments.splits import Split
from validation.experiments.verdicts import Verdict
from validation.studies import glml_office as office

# Noh et al. 2018, section 7.1
SAID = (
    "According to Fig. 8a, DML-eig shows very similar accuracy to the original 5-nearest neighbor classification, and "
    "PLML shows some increase with 500 dimensionalities. In all experiments, GLML increases the original 5-nearest "
    "neighbor classification accuracy, while other recent metric learning methods fail to increase the accuracy with "
    "large numbers of data and labels."
)


def words(n: int = 60, d: int = 12) -> tuple[FloatArray, IntArray]:
    """Counts of words in images of three classes, called 4, 5 and 6."""
    random = np.random.RandomState(0)
    y = np.arange(n) % 3 + 4
    rates = 1 + 4 * random.rand(3, d)
    return random.poisson(rates[y - 4]).astype(float) + 1, y


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Made-up images, few components, and two splits."""
    monkeypatch.setattr(datasets, "load", lambda name: words())
    monkeypatch.setattr(office, "DIMENSIONS", (3, 8))
    monkeypatch.setattr(office, "MOST", {"PLML": 3})
    monkeypatch.setattr(office, "SPLITS", 2)


def test_seven_of_ten_of_each_class_are_trained_on() -> None:
    for part in office.splits_of("any"):
        assert np.bincount(part.y).tolist() == [14, 14, 14]
        assert np.bincount(part.y_test).tolist() == [6, 6, 6]
        assert np.concatenate([part.X, part.X_test]).sum(axis=1) == pytest.approx(1.0)


def test_components_are_those_of_the_training_part() -> None:
    part = office.splits_of("any")[0]
    made = office.reduced(part, 3)
    other = office.reduced(part._replace(X_test=part.X_test[:2]), 3)
    assert np.array_equal(made.X, other.X)
    assert made.X.shape == (42, 3)
    assert np.mean(np.var(made.X, axis=0, ddof=1)) == pytest.approx(1.0)
    assert np.corrcoef(made.X.T) == pytest.approx(np.eye(3), abs=1e-9)
    plain = np.linalg.svd(part.X - part.X.mean(axis=0))[2][0] @ (part.X_test - part.X.mean(axis=0)).T
    assert abs(np.corrcoef(plain, made.X_test[:, 0])[0, 1]) == pytest.approx(1.0)


def by_loop(part: Split) -> float:
    """Accuracy of 5-NN."""
    right = 0
    for x, label in zip(part.X_test, part.y_test, strict=True):
        near = part.y[np.argsort(np.sum((part.X - x) ** 2, axis=1), kind="stable")[:5]].tolist()
        votes = {c: near.count(c) for c in near}
        right += next(c for c in near if votes[c] == max(votes.values())) == label
    return right / len(part.y_test)


@pytest.mark.slow
def test_each_method_is_measured_once_for_each_split_and_size(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found = office.Found({}, {}, {})
    office.measure("any", found)
    assert set(found.right) == {("any", 3), ("any", 8)}
    assert set(found.right["any", 3]) == set(office.METHODS)
    assert "PLML" not in found.right["any", 8]
    plain = [by_loop(office.reduced(part, 3)) for part in office.splits_of("any")]
    assert found.right["any", 3]["Euclid"] == pytest.approx(plain)
    assert all(len(values) == 2 for of in found.right.values() for values in of.values())
    assert len(found.edges["GLML"]) == 4
    monkeypatch.setattr(office, "HERE", tmp_path / "office.py")
    office.write(found)
    text = (tmp_path / "office.md").read_text(encoding="utf-8")
    assert "Caltech 101" in text
    assert "| not run |" in text
    assert f"{100 * np.mean(plain):.2f}" in text
    assert (tmp_path / "office.png").exists()
    office.stored(found)
    assert office.read() == found


@pytest.mark.skipif(not office.HERE.with_suffix(".json").exists(), reason="in the clone alone")
def test_the_page_is_that_of_the_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()  # nothing of it is made up or small
    found = office.read()
    lines = [*office.accuracy_lines(found), *office.claim_lines(found.right)]
    assert "\n".join(lines) in office.HERE.with_suffix(".md").read_text(encoding="utf-8")


def test_claims_are_the_paper_s_and_judged_for_new_images() -> None:
    for claim in office.CLAIMS:
        assert claim.said.split('"')[1] in SAID
    random = np.random.RandomState(0)
    right: office.Seen = {
        ("any", 3): {
            name: (0.5 + shift + 0.005 * random.standard_normal(5)).tolist()
            for name, shift in (("Euclid", 0.0), ("GLML", 0.1), ("LMNN", 0.002), ("DML-eig", 0.1))
        }
    }
    similar, gain, others = (office.judged(right, claim)[1] for claim in office.CLAIMS)
    assert list(gain.values()) == [Verdict.SUPPORTED]
    assert list(similar.values()) == [Verdict.CONTRADICTED]
    assert list(others.values()) == [Verdict.CONTRADICTED]  # LMNN is not in the paper's figure
    near = {("any", 3): {**right["any", 3], "DML-eig": [x + 0.001 for x in right["any", 3]["Euclid"]]}}
    similar, _, others = (office.judged(near, claim)[1] for claim in office.CLAIMS)
    assert [*similar.values(), *others.values()] == [Verdict.SUPPORTED] * 2
    (each,) = office.judged(right, office.CLAIMS[1])[0].values()
    own = np.array(right["any", 3]["GLML"]) - right["any", 3]["Euclid"]
    half = 2.776445105 * own.std(ddof=1) * np.sqrt(1 / 5 + 3 / 7)  # Student's t of 4
    assert each.interval == pytest.approx((own.mean() - half, own.mean() + half))


def test_times_are_compared_split_by_split_and_only_where_both_are_run() -> None:
    seconds = {("a", 10): {"GLML": [1.0, 2.0, 4.0], "PLML": [90.0, 100.0, 4.0]}, ("a", 100): {"GLML": [1.0]}}
    lines = office.time_lines(seconds)
    assert lines[-1] == "| a | 10 | 50 | 1 to 90 |"  # not 90 / 2, the ratio of medians
    assert office.time_lines({("a", 100): {"GLML": [1.0]}}) == []
