"""docs/mistakes.md: each mistake is made, and answered as the page says."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import pytest

from cvxml.cli.main import run
from tests.docs.test_docs import blocks

PAGE = Path(__file__).parents[2] / "docs" / "mistakes.md"
ROW = re.compile(r"^\| `(.*)` \| `(.*)` \|$", flags=re.MULTILINE)
ROWS = ROW.findall(PAGE.read_text(encoding="utf-8"))
LONGEST = 420  # letters of an answer


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """The folder of the page's files, and its names."""
    folder, names = tmp_path_factory.mktemp("mistakes"), {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for block in blocks(PAGE):
            exec(block.text, names)
    return folder, names


def answered(typed: str, names: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> str:
    """What is said to it, in the shell or in Python."""
    if typed.startswith("cvxml "):
        assert run(typed.split()[1:]) == 2
        printed = capsys.readouterr()
        assert printed.out == ""
        lines = [line for line in printed.err.splitlines() if not line.startswith("data: ")]
        assert len(lines) == 1
        return lines[0]
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            exec(typed, names)
        except Exception as error:
            kind = type(error).__name__
            return str(error) if kind == "ValueError" else f"{kind}: {error}"
    return f"{warned[0].category.__name__}: {warned[0].message}"


def test_there_are_twenty_seven() -> None:
    assert len(ROWS) == len({typed for typed, _ in ROWS}) == 27


@pytest.mark.parametrize(("typed", "said"), ROWS, ids=[typed for typed, _ in ROWS])
def test_a_mistake_is_answered_as_the_page_says(
    typed: str,
    said: str,
    here: tuple[Path, dict[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder, names = here
    monkeypatch.chdir(folder)
    answer = answered(typed, names, capsys)
    print(answer)
    assert "\n" not in answer
    assert len(answer) < LONGEST
    assert re.fullmatch(".*".join(map(re.escape, said.split("..."))), answer), answer
