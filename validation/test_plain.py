"""The counter of hard turns of phrase finds those that are there, and no others."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from validation import plain

HARD = "What is left is that of which nobody tells, but for none.\n"
EASY = "The solver returns the metric and a lower bound on its objective.\n"


def counted(path: Path, text: str) -> list[plain.Sentence]:
    path.write_text(text, encoding="utf-8")
    return list(plain.sentences(path))


def test_a_riddle_counts_and_a_plain_sentence_does_not(tmp_path: Path) -> None:
    hard, easy = (counted(tmp_path / "a.md", text) for text in (HARD, EASY))
    assert hard[0].turns >= 5
    assert [each.turns for each in easy] == [0]
    assert plain.rate([]) == 0


def test_code_tables_and_comments_of_pages_are_left_out(tmp_path: Path) -> None:
    text = f"```text\n{HARD}```\n\n| {HARD.strip()} |\n\n<!-- {HARD} -->\n\n# {HARD}\n{EASY}"
    assert [each.turns for each in counted(tmp_path / "a.md", text)] == [0]


def test_docstrings_comments_and_messages_of_modules_are_read(tmp_path: Path) -> None:
    text = f'"""{HARD.strip()}"""\n# {HARD}raise ValueError(f"{HARD.strip()} {{1}}")\n#: {HARD}'
    assert [each.turns > 0 for each in counted(tmp_path / "a.py", text)] == [True] * 3


@pytest.mark.parametrize(("text", "code"), [(HARD, 1), (EASY, 0)])
def test_the_limit_is_an_exit_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, code: int
) -> None:
    (tmp_path / "a.md").write_text(text, encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["plain.py", "--most", "3", str(tmp_path)])
    assert plain.main() == code
