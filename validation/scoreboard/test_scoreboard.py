"""The page and the badges are what the record says, and a run is recorded as it was."""

from __future__ import annotations

import json
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from cvxml.oracle.cases import load_cases
from validation.scoreboard import __main__ as command
from validation.scoreboard.page import VERDICTS, badge, badges, page, results
from validation.scoreboard.programs import PROGRAMS, Program
from validation.scoreboard.running import HERE, plainly, read, run

RECORD = read(HERE / "recorded")


def row(verdict: str, gap: float | None = None, message: str = "") -> dict[str, object]:
    rest = {"case": "one", "formula": "lmnn", "gap": gap, "rel_gap": gap, "seconds": 1.0}
    return {"verdict": verdict, "message": message, "diagnosis": [], **rest}


def test_the_committed_page_and_badges_are_those_of_the_record() -> None:
    found = results(RECORD)
    assert (HERE / "index.html").read_text(encoding="utf-8") == page(found)
    written = {path.name: path.read_text(encoding="utf-8") for path in (HERE / "badges").glob("*.json")}
    assert written == badges(found)


def test_there_are_eight_programs_in_four_languages_and_no_place_on_a_machine() -> None:
    found = results(RECORD)
    assert len(found) == len(PROGRAMS) >= 8
    assert len({program.language.split(",")[0] for program, _, _ in found}) >= 4
    text = json.dumps(RECORD)
    assert not any(place in text for place in ("/tmp", "/root", "/home", "/usr"))


def test_every_program_says_its_version_and_every_row_is_a_known_case() -> None:
    known = {case.id: case.formula for case in load_cases()}
    for program, versions, rows in results(RECORD):
        assert versions, program
        assert {each["verdict"] for each in rows} <= set(VERDICTS)
        assert {each["case"] for each in rows} == {c for c, f in known.items() if f in program.formulas}, (
            program
        )


def test_the_page_is_whole_and_asks_for_nothing_from_elsewhere() -> None:
    class Reader(HTMLParser):
        def __init__(self) -> None:
            super().__init__()
            self.open: list[str] = []
            self.fetched: list[str] = []
            self.links: list[str] = []
            self.ids: list[str] = []

        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            given = dict(attrs)
            if tag not in ("meta", "br"):
                self.open.append(tag)
            self.fetched += [tag] * (tag in ("script", "link", "img", "iframe"))
            self.links += [given["href"] or ""] if "href" in given else []
            self.ids += [given["id"] or ""] if "id" in given else []

        def handle_endtag(self, tag: str) -> None:
            assert self.open.pop() == tag

    reader = Reader()
    reader.feed(page(results(RECORD)))
    assert reader.open == reader.fetched == []
    assert reader.links == [f"#{name}" for name in reader.ids]
    assert len(set(reader.ids)) == len(PROGRAMS)


def test_what_a_program_says_is_text_on_the_page() -> None:
    rows = [row("refuted", 0.5, "<script>alert(1)</script>")]
    text = page([(PROGRAMS[0], {"<b>": "1"}, rows)])
    assert "<script>" not in text
    assert "&lt;script&gt;" in text


@pytest.mark.parametrize(
    ("verdicts", "message", "color"),
    [
        (["certified", "certified", "skipped"], "2 of 2 certified", "brightgreen"),
        (["certified", "close"], "1 of 2 certified", "yellow"),
        (["certified", "inconclusive"], "1 of 2 certified", "yellow"),
        (["certified", "refuted"], "1 of 2 certified", "red"),
        (["error"], "0 of 1 certified", "red"),
        (["skipped"], "not asked", "lightgrey"),
    ],
)
def test_badges(verdicts: list[str], message: str, color: str) -> None:
    found = badge([row(verdict) for verdict in verdicts])
    assert found == {"schemaVersion": 1, "label": "cvxml", "message": message, "color": color}


def test_a_run_is_recorded_and_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that answers 0 to everything, through a runner with {adapter} in it."""
    mine = Program("Zero", "mine", "Shell", ("frobmetric",), "with_dlib.py", "", "mine")
    for module in ("running", "page"):
        monkeypatch.setattr(f"validation.scoreboard.{module}.PROGRAMS", (mine,))
    answer = "import json, sys; d = len(json.load(sys.stdin)['inputs']['X'][0]); "
    program = tmp_path / "zero.py"
    program.write_text(answer + "print(json.dumps({'metric': [[0] * d] * d}))", encoding="utf-8")
    (tmp_path / "recorded").mkdir()
    runner = f"{sys.executable} {program} # {{adapter}}"
    run("mine", runner, {"mine": "1"}, 60, tmp_path / "recorded")
    command.write(tmp_path)
    rows = read(tmp_path / "recorded")["mine"]["programs"]["mine-zero"]
    assert [each["verdict"] for each in rows] == ["refuted", "refuted"]
    assert "mine 1" in (tmp_path / "index.html").read_text(encoding="utf-8")
    assert json.loads((tmp_path / "badges" / "mine-zero.json").read_text())["color"] == "red"
    with pytest.raises(ValueError, match=r"'other'.*mine"):
        run("other", sys.executable, {}, 60, tmp_path)


def test_an_error_is_kept_without_places() -> None:
    said = "exit code 1: File /somewhere/else.py line 3 error: gone"
    kept = plainly(row("error", None, said))["message"]
    assert "/" not in kept
    for token in ("code 1", "line 3", "gone"):
        assert token in kept
