"""What a landing runs: every slow test once in eight turns, those of changed places at each, and no quick test less."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

from cvxml.methods import METHODS, get
from tests.docs.test_docs import PAGES, name_of
from tests.loaded import module_of

ROOT = Path(__file__).parents[1]
TESTS = """
import pytest

@pytest.mark.quick(3)
@pytest.mark.parametrize("k", range(10))
def test_thinned(k): pass

@pytest.mark.quick(3)
@pytest.mark.parametrize("k", range(2))
def test_of_few(k): pass
"""


def module(path: Path) -> ModuleType:
    """A file as a module, under a name that no other module has."""
    return module_of(path, f"{path.stem}_as_a_file")


@pytest.fixture(scope="module")
def landing() -> ModuleType:
    return module(ROOT / ".ci" / "landing.py")


@pytest.fixture(scope="module")
def conftest() -> ModuleType:
    return module(ROOT / "conftest.py")


class Item(NamedTuple):
    """What is asked of a collected test."""

    nodeid: str
    slow: bool = True

    def get_closest_marker(self, name: str) -> bool:
        assert name == "slow"
        return self.slow


SLOW = [Item(f"{folder}/test_some.py::test[{k}]") for folder in ("near", "far") for k in range(400)]


def collected(folder: Path, *arguments: str) -> set[str]:
    """The tests that pytest collects there."""
    command = [sys.executable, "-m", "pytest", "-q", "--collect-only", "-n", "0", *arguments, "test_some.py"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return {line.split("::")[1] for line in done.stdout.splitlines() if "::" in line}


@pytest.mark.slow
def test_some_parameters_are_quick_and_all_others_slow(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(
        (ROOT / "conftest.py").read_text(encoding="utf-8"), encoding="utf-8"
    )
    (tmp_path / "test_some.py").write_text(TESTS, encoding="utf-8")
    quick = {f"test_thinned[{k}]" for k in (0, 4, 9)} | {f"test_of_few[{k}]" for k in range(2)}
    slow = {f"test_thinned[{k}]" for k in range(10)} - quick
    assert collected(tmp_path, "-m", "not slow", "--part=0/8") == quick
    assert collected(tmp_path, "-m", "slow") == slow
    assert collected(tmp_path, "-m", "slow", "--part=0/8", "--touched=1:test_s", "--touched=1:") == slow


def test_eight_turns_run_every_slow_test_once(conftest: ModuleType) -> None:
    parts = [[item for item in SLOW if conftest.in_part(item, f"{k}/8", [])] for k in range(8)]
    assert sorted(item for part in parts for item in part) == sorted(SLOW)
    assert max(map(len, parts)) < 2 * min(map(len, parts))


def test_changed_places_run_whole_or_by_their_share(conftest: ModuleType) -> None:
    def chosen(turn: int, *touched: str) -> set[Item]:
        return {item for item in SLOW if conftest.in_part(item, f"{turn}/8", list(touched))}

    near, part = {item for item in SLOW if item.nodeid.startswith("near/")}, chosen(0)
    assert chosen(0, "1:near/") == near | part
    assert chosen(0, "0:near/", "1:") == part
    half, later = chosen(0, "0.5:near/"), chosen(1, "0.5:near/")
    assert half - part < near
    assert 0.4 < len(half - part) / len(near - part) < 0.6
    assert 0.6 < len((half | later) & near) / len(near) < 0.9  # another half at the next turn
    assert conftest.in_part(Item("far/test_some.py::test", slow=False), "0/8", [])


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("cvxml/family/rows/base.py", "tests/family/"),
        ("tests/family/test_rows.py", "tests/family/"),
        ("cvxml/methods/lmnn.py", "tests/methods/lmnn/"),
        ("cvxml/methods/ssvm/tree/bounds.py", "tests/methods/ssvm/"),
        ("tests/methods/test_contract.py", "tests/methods/test_contract"),
        ("cvxml/datasets.py", "tests/test_datasets"),
        ("tests/test_datasets.py", "tests/test_datasets"),
        ("cvxml/cases/mlsvm.json", "tests/cases/"),
        ("validation/cases/generate.py", "validation/cases/"),
        ("validation/recompute.py", "validation/test_recompute"),
        ("validation/experiments/mlsvm.py", "validation/experiments/"),
        ("docs/adding/pair_margin.py", "tests/methods/test_worked_example"),
        ("conftest.py", "tests/test_landing"),
        (".ci/landing.py", "tests/test_landing"),
        ("docs/mlsvm.md", ""),
        ("README.md", ""),
    ],
)
def test_the_place_of_a_file(landing: ModuleType, path: str, place: str) -> None:
    assert landing.place_of(path) == place


def test_every_slow_test_file_is_in_the_place_of_its_code(landing: ModuleType) -> None:
    """A place that no test file begins with would never run when its code changes."""
    tests = [path for path in landing.files() if Path(path).name.startswith("test_") and path.endswith(".py")]
    assert tests
    for path in tests:
        assert path.startswith(landing.place_of(path))


def test_a_change_is_seen_where_it_is_and_nowhere_else(
    landing: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = ("cvxml/family/rows/base.py", "cvxml/core/metric.py", "docs/a.md", "pyproject.toml")
    for path in (*paths, "cvxml/cases/judge.py"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("1", encoding="utf-8")
    monkeypatch.setattr(landing, "ROOT", tmp_path)
    monkeypatch.setattr(landing, "BESIDE", ())
    passed = landing.fingerprints()
    assert landing.changed(passed) == []
    referee = {"tests/cases/", "validation/test_recompute"}  # it judges answers and saved files
    page = f"{landing.BLOCKS}[a.md]"
    assert set(landing.changed({})) == {"tests/family/", "tests/core/", "site", "package", page, *referee}
    (tmp_path / "cvxml/family/rows/base.py").write_text("2", encoding="utf-8")
    assert landing.changed(passed) == ["tests/family/"]
    (tmp_path / "docs/a.md").write_text("2", encoding="utf-8")
    assert landing.changed(passed) == ["site", page, "tests/family/"]


def test_a_method_has_a_page_whose_blocks_run_when_its_code_changes(
    landing: ModuleType,
) -> None:
    """A page without a test of this name, or a method without a page, would be left out in silence."""
    pages = {f"{landing.BLOCKS}[{name_of(page)}]" for page in PAGES}
    for place in METHODS.values():
        path = place.split(":")[0].replace(".", "/") + "/method.py"
        assert landing.pages_of(path), path
        assert pages.issuperset(landing.pages_of(path))
    assert set(landing.pages_of("docs/mlsvm.md")) < set(landing.pages_of("cvxml/methods/mlsvm/solver.py"))
    assert landing.pages_of("cvxml/methods/__init__.py") == []


def test_all_blocks_of_a_changed_page_run(
    landing: ModuleType, conftest: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = landing.pages_of("docs/sdml.md")
    monkeypatch.setattr(landing, "read", {"passed.json": {}, "seconds.json": {}, "turn": 3}.__getitem__)
    monkeypatch.setattr(landing, "changed", lambda passed: ["tests/core/", *changed])
    touched = [one.removeprefix("--touched=") for one in landing.arguments() if one.startswith("--touched")]
    for turn in range(8):
        assert conftest.in_part(Item(changed[0]), f"{turn}/8", touched)
    others = [Item(f"{landing.BLOCKS}[{name}.md]") for name in "abcdefghijkl"]
    assert not all(conftest.in_part(item, "3/8", touched) for item in others)


def test_a_place_with_a_failed_test_is_not_stored_as_passed(landing: ModuleType) -> None:
    found = {"tests/core/": "a", "tests/family/": "b", "tests/test_typed": "c", "browser": "d", "site": "e"}
    lines = [
        '["tests/core/test_a.py::test_b[1]", 2.0, false]',
        '["tests/core/test_a.py::test_c", 1.0, true]',
        '["tests/family/test_d.py::test_e", 4.0, false]',
        '["tests/lessons/test_lessons_browser.py::test_f", 0.5, true]',
    ]
    assert landing.without_failures(found, lines) == {
        "tests/family/": "b",
        "tests/test_typed": "c",
        "site": "e",
    }
    assert landing.measured(lines) == {
        "tests/core/test_a.py": 3.0,
        "tests/family/test_d.py": 4.0,
        "tests/lessons/test_lessons_browser.py": 0.5,
    }


def test_the_share_of_changed_places_keeps_to_the_limit(landing: ModuleType) -> None:
    seconds = {"tests/core/test_a.py": 900.0, "tests/core/test_b.py": 300.0, "tests/family/test_c.py": 9e9}
    assert landing.share(["tests/core/"], seconds, most=600.0) == 0.5
    assert landing.share(["tests/core/test_b"], seconds, most=600.0) == 1.0
    assert landing.share(["tests/new/"], seconds, most=600.0) == 1.0


def test_a_stage_runs_where_an_input_changed(landing: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    stored: dict[str, Any] = {"passed.json": {}, "seconds.json": {}, "turn": 3}
    monkeypatch.setattr(landing, "read", stored.__getitem__)
    monkeypatch.setattr(landing, "changed", lambda passed: ["proofs", "tests/family/"])
    given = landing.arguments()
    assert given[0] == "--part=3/8"
    assert "--touched=1.000:tests/family/" in given
    assert "--touched=1.000:validation/verified/" in given
    assert "--ignore=tests/test_package.py" in given
    assert "--ignore=validation/verified" not in given
    for stage in landing.STAGES.values():
        assert all((ROOT / test).exists() for test in stage.tests)
        assert all((ROOT / path).exists() for path in stage.inputs)


def test_a_new_record_runs_all_tests_of_the_reports(
    landing: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if only one file of a report is another one."""
    before = landing.fingerprints()
    record = "validation/experiments/reports/glml-full.json"
    files = {"passed.json": {**before, "reports": "another"}, "turn": 3}
    monkeypatch.setattr(landing, "read", lambda name: files.get(name, {}))
    assert landing.lies_in(record, landing.STAGES["reports"].inputs)
    assert "--touched=1.000:validation/experiments/test_reports.py" in landing.arguments()


def test_of_a_long_stage_a_share_runs_and_the_theorems_are_always_proved(
    landing: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = {"validation/verified/test_proved.py": 100.0, "validation/verified/test_tampered.py": 1900.0}
    stored: dict[str, Any] = {"passed.json": {}, "seconds.json": seconds, "turn": 3}
    monkeypatch.setattr(landing, "read", stored.__getitem__)
    changed = [name for name, stage in landing.STAGES.items() if "validation/verified/" in stage.inputs]
    monkeypatch.setattr(landing, "changed", lambda passed: [*changed, "validation/verified/", "tests/core/"])
    given = landing.arguments()
    assert "--touched=1.000:tests/core/" in given  # the place of a stage takes nothing from the other places
    assert f"--touched={landing.MOST_OF_A_STAGE / 2000:.3f}:validation/verified/" in given
    assert "--touched=1.000:validation/verified/test_proved.py" in given


def test_a_change_of_a_method_does_not_outlive_its_test(conftest: ModuleType) -> None:
    """pytest 8 puts the old `certify` onto the object, which hides what a later test makes of its class."""
    of: Any = get("nca")
    of.certify = of.certify
    assert "certify" in vars(of)
    conftest.forget_changes()
    assert "certify" not in vars(of)
