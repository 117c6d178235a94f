"""A small part of the corpus of tampered files is judged correctly; the corpus finds a checker that proves too much."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from validation.verified import corpus
from validation.verified.built import Said
from validation.verified.test_tampered import judge_each_field

pytestmark = pytest.mark.slow  # a landing runs these where `.ci/landing.py` says so


@pytest.mark.parametrize("problem", corpus.PROBLEMS)
def test_the_first_files_have_no_false_proof(problem: str, tmp_path: Path) -> None:
    assert corpus.main([str(tmp_path), "--files", "40", "--problems", problem]) == 0
    letters = (tmp_path / f"{problem.replace(':', '_')}.txt").read_text()
    assert len(letters) == 40
    assert {*letters} <= {"r", "p"}  # most changes of mcml are rejected, so "p" need not be among so few
    assert "r" in letters


def test_a_run_goes_on_where_the_last_one_stopped(tmp_path: Path) -> None:
    for count in ("10", "25"):
        corpus.main([str(tmp_path / "parts"), "--files", count, "--problems", "mlsvm"])
    corpus.main([str(tmp_path / "whole"), "--files", "25", "--problems", "mlsvm"])
    parts, whole = ((tmp_path / name / "mlsvm.txt").read_text() for name in ("parts", "whole"))
    assert parts == whole
    assert len(whole) == 25


def test_a_checker_that_proves_too_much_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The checker of this test answers every file with the interval of the first file."""
    both = corpus.files("glml", tmp_path)
    first = corpus.run(tmp_path / "solution.json", tmp_path / "side.json")
    assert corpus.outcome(both, tmp_path) == "p"

    def too_much(file: Path, side: Path) -> Said:
        return first

    monkeypatch.setattr(corpus, "run", too_much)
    assert corpus.main([str(tmp_path / "false"), "--files", "10", "--problems", "glml"]) == 1
    letters = (tmp_path / "false" / "glml.txt").read_text()
    for number, letter in enumerate(letters):
        kept = tmp_path / "false" / f"false_glml_{number}.side.json"
        assert kept.exists() == (letter == "F")
        if letter == "F":
            assert kept.read_bytes() == corpus.tampered(both, number)[1]


def test_every_field_has_its_turn(tmp_path: Path) -> None:
    both = corpus.files("mlsvm", tmp_path)
    fields = sum(1 for text in both for _ in corpus.places(json.loads(text)))
    changed = {corpus.tampered(both, 2 * turn) for turn in range(fields)}
    assert len(changed) > 0.9 * fields  # two changes may be the same, or none
    assert corpus.tampered(both, 7) == corpus.tampered(both, 7)


@pytest.mark.parametrize("problem", [corpus.GLOBAL, corpus.LOCAL, corpus.MEAN, *corpus.DETERMINANTS])
@pytest.mark.parametrize("which", [0, 1])
def test_fields_one_at_a_time_with_many_values(problem: str, which: int, tmp_path: Path) -> None:
    """test_tampered.py has the same test for the other problems."""
    assert judge_each_field(corpus.files(problem, tmp_path), which, tmp_path) > 150
