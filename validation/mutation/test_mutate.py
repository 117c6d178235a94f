"""The mutation program, on a package of two functions. A test checks only one of the two."""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path

import pytest

from validation.mutation import __main__ as mutate
from validation.mutation.mutations import Mutations, drawn

TOY = """
def total(a, b):
    return (
        a  # the first + the second
        + b
    )


def unseen(a, b):
    return a - b
"""
SEES_TOTAL = """
from toy.sums import total, unseen


def test_total():
    assert total(2, 3) == 5


def test_unseen():
    unseen(2, 3)


def test_that_is_red_without_any_mutation():
    assert unseen(2, 3) == 0
"""

linux = pytest.mark.skipif(sys.platform != "linux", reason="limits of other processes need Linux")


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    """A repository: the package toy and its tests."""
    root = tmp_path / "toys"
    for file, text in (("toy/__init__.py", ""), ("toy/sums.py", TOY), ("tests/test_sums.py", SEES_TOTAL)):
        path = root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (root / "pytest.ini").write_text("[pytest]\naddopts = -n 2 --dist worksteal\nmarkers = slow\n    full\n")
    return root


def contents(root: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in root.rglob("*.py")}


def changes(source: str) -> set[str]:
    """All mutants of a module, as Python writes them."""
    text = source.encode()
    return {ast.unparse(ast.parse(one.applied(text))) for one in Mutations("m.py", text).found}


@linux
@pytest.mark.slow
def test_killed_where_a_test_fails_and_survived_where_none_does(
    toy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pytest_cov", reason="the map is made by coverage")
    before = contents(toy)
    common = ["--root", str(toy), "--package", "toy"]
    mutate.main([*common, "--make-map", str(tmp_path / "map")])
    out = tmp_path / "results.jsonl"
    arguments = [*common, "--map", str(tmp_path / "map"), "--n", "2", "--out", str(out)]
    mutate.main(arguments)
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    found = {(row["line"], row["after"]): row for row in rows}
    killed, survived = found[5, "return a - b"], found[10, "return a + b"]
    assert (killed["status"], killed["failing"]) == ("killed", "tests/test_sums.py::test_total")
    # the test that fails in any case executes this line too
    assert (survived["status"], survived["failing"], survived["tests_run"]) == ("survived", "", 1)
    assert contents(toy) == before

    # a run that was interrupted after the first mutation does the second alone
    first = out.read_text().splitlines(keepends=True)[0]
    out.write_text(first)
    capsys.readouterr()
    mutate.main(arguments)
    assert [json.loads(line)["after"] for line in out.read_text().splitlines()] == [
        row["after"] for row in rows
    ]
    assert out.read_text().startswith(first)
    assert "{'killed': 1, 'survived': 1}" in capsys.readouterr().out


@linux
@pytest.mark.slow
def test_tests_that_do_not_end_are_ended(toy: Path, tmp_path: Path) -> None:
    (toy / "tests" / "test_sums.py").write_text("def test_long():\n    while True:\n        pass\n")
    copy = mutate.Copy(toy, "toy", tmp_path)
    assert copy.pytest(["tests/test_sums.py::test_long"], 3) == ("timeout", "")


@pytest.mark.slow
def test_the_same_seed_draws_the_same_mutations_and_another_seed_others() -> None:
    sample = drawn(mutate.ROOT, "cvxml/oracle", 40, 0)
    assert sample == drawn(mutate.ROOT, "cvxml/oracle", 40, 0)
    assert sample != drawn(mutate.ROOT, "cvxml/oracle", 40, 1)
    assert len(set(sample)) == 40


def test_what_can_change_changes_and_nothing_else() -> None:
    assert changes("a < b") == {"a <= b", "a > b"}
    assert changes("x = not a or b is not c") == {
        "x = a or b is not c",
        "x = not a and b is not c",
        "x = not a or b is c",
    }
    assert changes("x = -a ** 2.5") == {"x = a ** 2.5", "x = -a * 2.5", "x = -a ** 5.0"}
    assert changes("x = np.min(a, keepdims=True)") == {
        "x = np.max(a, keepdims=True)",
        "x = np.min(a, keepdims=False)",
    }
    assert changes("if f(x):\n    g()") == {"if not f(x):\n    g()", "if f(x):\n    pass"}
    assert changes("a.b = c\na[i] = c\na = c") == {"pass\na[i] = c\na = c", "a.b = c\npass\na = c"}
    assert changes("x += 0.0") == {"pass", "x -= 0.0", "x += 1.0"}
    assert changes("raise ValueError(1 + 2)") == {"pass"}
    assert changes('x: 1 = f"{1 + 2} < 3"') == set()
    assert changes("def f(a: 1) -> 2:\n    '''3 < 4'''") == set()
    assert changes("if TYPE_CHECKING:\n    import a\n    f(1)") == set()


def test_a_mutation_of_several_lines_leaves_the_lines_below_where_they_are() -> None:
    source = b"f(\n    a,\n    b,\n)\nx = y"
    (deleted,) = Mutations("m.py", source).found
    assert deleted.applied(source) == b"pass\n\n\n\nx = y"
    assert deleted.lines == (1, 4)


def test_tests_are_spread_over_files_and_keep_to_the_budget() -> None:
    seconds = {"a::1": 1.0, "a::2": 2.0, "a::3": 3.0, "b::1": 4.0, "b::2": 5.0, "c::1": 100.0}
    assert mutate.in_turn(seconds, seconds, 5.0) == ["a::1", "b::1"]
    assert mutate.in_turn(seconds, seconds, 10.0) == ["a::1", "b::1", "a::2", "a::3"]
    assert mutate.in_turn(seconds, seconds, 200.0) == ["a::1", "b::1", "c::1", "a::2", "a::3", "b::2"]


def test_a_landing_runs_the_slow_tests_of_the_place_and_of_the_part() -> None:
    pytest.importorskip("coverage", reason="the map is made by coverage")
    (mutation,) = Mutations("m.py", b"f()").found
    slow = {"tests/a/test.py::one", "tests/b/test.py::one", "tests/c/test.py::one"}
    tests = mutate.Tests([], [], quick=set(), slow=slow, part={"tests/c/test.py::one"})
    assert tests.chosen(mutation, "tests/a/", 100.0) == (["tests/a/test.py::one", "tests/c/test.py::one"], 0)
    assert tests.chosen(mutation, "tests/a/", 1.0) == ([], 2)
