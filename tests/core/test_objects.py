"""What the package answers with can be shown at a prompt, compared, hashed, copied and pickled."""

from __future__ import annotations

import copy
import dataclasses
import importlib
import inspect
import pickle
import pkgutil
import re
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import cvxml
from cvxml.core.html import picture
from cvxml.core.short_repr import LINES, brief, cut, few
from cvxml.oracle.cases import load_cases
from cvxml.oracle.conform import Rows, conform
from cvxml.oracle.saved import recertify
from tests.core.test_html import Reader
from tests.instances import real_data

X, Y = real_data("wine", 30)
LAM = 0.1
ARRAYS = re.compile(r"Array|ndarray|Dual|Certificate|Witness|ReportSubject|Solution\b")
PLAIN = ("exact", "step", "case", "rows")  # numbers and words alone
NAMES = (
    *(
        "solution",
        "not convex",
        "local",
        "certificate",
        "its certificate",
        "report",
        "exact report",
        "witness",
    ),
    *("evaluation", "predictions"),
    *PLAIN,
)


@cache
def objects() -> dict[str, Any]:
    """One of each kind, of points enough that their arrays would fill a screen."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        solution = cvxml.solve("mlsvm", X, Y, lam=LAM)
        nca = cvxml.solve("nca", X, Y, n_components=2, max_iter=3)
        refuted = cvxml.check("mlsvm", X, Y, 3 * solution.metric, lam=LAM)
        glml = cvxml.solve("glml", X, Y, alpha=0.1)
    exact = cvxml.check("mlsvm", X, Y, solution, lam=LAM, tol="loose", exact=True)
    case = load_cases(pattern="mlsvm-line")[0]
    return {
        "solution": solution,
        "not convex": nca,
        "local": glml,
        "certificate": solution.certificate,
        "its certificate": nca.certificate,
        "report": refuted,
        "exact report": exact,
        "exact": exact.exact,
        "witness": refuted.witness,
        "evaluation": cvxml.evaluate("mlsvm", X, Y, solution.metric),
        "predictions": exact.predictions(3),
        "case": case,
        "rows": Rows(30 * conform(lambda question: {"metric": [[0.0]]}, [case])),
        "step": solution.history[0],
    }


def saved(folder: Path) -> Any:
    objects()["solution"].save(folder / "a.json")
    return cvxml.load(folder / "a.json")


@pytest.mark.parametrize("name", NAMES)
def test_a_prompt_shows_ten_lines_at_most_that_say_something(name: str) -> None:
    said = repr(objects()[name])
    assert 0 < len(said.splitlines()) <= LINES
    assert max(map(len, said.splitlines())) < 250
    assert not re.search(r"array\(\[", said)


def test_what_is_shown_first_is_what_is_asked_first() -> None:
    of = {name: repr(each) for name, each in objects().items()}
    assert of["solution"].startswith("Solution: metric (13, 13)")
    for word in ("30 points", "13 features", "certified", "objective", "lower bound", "gap"):
        assert word in of["solution"]
    assert of["report"].startswith("Report: REFUTED: mlsvm")
    assert "metric=array[13,13]" in of["witness"]
    assert of["certificate"].startswith("Certificate(kind='global', objective=")
    assert "xi=array[30]" in of["evaluation"]
    assert str(objects()["predictions"]) in of["predictions"]
    assert of["rows"].startswith("30 cases: 0 certified")
    assert "..." in of["rows"].splitlines()[-1]
    assert str(objects()["rows"]).splitlines()[0].startswith("case ")
    assert "X" not in of["case"]


def test_none_is_left_out() -> None:
    assert set(NAMES) == set(objects())


def test_a_saved_solution_and_its_proof(tmp_path: Path) -> None:
    held = saved(tmp_path)
    assert "metric=array[13,13]" in repr(held)
    assert len(repr(held).splitlines()) <= LINES
    found = recertify(held, "normal")
    assert repr(found) == str(found)
    assert len(repr(found).splitlines()) <= LINES


def test_long_and_short_values() -> None:
    assert brief(np.zeros((3, 4))) == "array[3,4]"
    assert brief(np.float64(0.1)) == "0.1"
    assert brief("x" * 100) == f"'{'x' * 59}..."
    assert brief([1, 2]) == "[1, 2]"
    assert brief(list(range(100))) == "list of 100"
    assert few("abc", "more") == "a\nb\nc"
    assert few(map(str, range(11)), "more") == "0\n1\n2\n3\n4\n5\n6\n7\n8\n... more"


@pytest.mark.parametrize("name", NAMES)
def test_equality_gives_an_answer_and_agrees_with_the_hash(name: str) -> None:
    one = objects()[name]
    other = copy.deepcopy(one)
    assert one == one
    assert one in [one]
    assert (one != other) is not (one == other)
    if name in PLAIN:
        assert one == other
    else:
        assert one != other
        assert len({one, other}) == 2
    assert one != "something else"


@pytest.mark.parametrize("name", NAMES)
def test_copies_and_pickles_say_the_same(name: str) -> None:
    one = objects()[name]
    for other in (copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
        assert repr(other) == repr(one)
        assert str(other) == str(one)
        for whole in ("to_dict", "_repr_html_"):
            if hasattr(one, whole):
                assert str(getattr(other, whole)()) == str(getattr(one, whole)())


def test_a_copy_proves_what_the_solution_does() -> None:
    solution, other = objects()["solution"], pickle.loads(pickle.dumps(objects()["solution"]))
    assert other.status is solution.status
    assert cvxml.certify("mlsvm", other.X, other.y, other.metric, other.dual, lam=LAM).proves("normal")
    assert pickle.loads(pickle.dumps(objects()["exact report"])).predictions(3).votes.shape == (30,)


def classes() -> Iterator[type]:
    for part in ("core", "family", "methods", "oracle"):
        package = importlib.import_module(f"cvxml.{part}")
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            for kind in vars(importlib.import_module(module.name)).values():
                if (
                    inspect.isclass(kind)
                    and kind.__module__ == module.name
                    and dataclasses.is_dataclass(kind)
                ):
                    yield kind


def test_what_holds_arrays_is_equal_to_itself_alone() -> None:
    """True equality of arrays is an array, of which a comparison of fields makes an error."""
    holding = [
        kind for kind in classes() if any(ARRAYS.search(str(f.type)) for f in dataclasses.fields(kind))
    ]
    assert len(holding) > 30
    for kind in holding:
        internal = kind.__module__.startswith("cvxml.core.files")
        assert internal or (kind.__eq__ is object.__eq__ and kind.__hash__ is object.__hash__), kind
    assert cvxml.Evaluation.__eq__ is object.__eq__


class Drawn(Reader):
    """The same, with the tags of a picture."""

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag in ("svg", "g", "rect", "path", "text"):
            assert not any("url" in (value or "") or name.startswith("on") for name, value in attrs)
            attrs = []
        super().handle_starttag(tag, attrs)


def test_a_notebook_shows_a_solution_with_its_picture() -> None:
    solution = objects()["solution"]
    reader = Drawn()
    reader.feed(solution._repr_html_())
    assert not reader.open
    words = "".join(reader.words)
    for said in ("certified", f"{solution.lower_bound:.12g}", "n_neighbors", "eigenvalues", *solution.notes):
        assert said in words
    assert "svg" in reader.tags
    assert "script" not in reader.tags
    assert "certified</span>" not in objects()["not convex"]._repr_html_()


def rectangles(metric: Any) -> list[dict[str, str]]:
    tree = ElementTree.fromstring(picture(np.array(metric, dtype=float)))
    return [each.attrib for each in tree.iter("rect") if each.get("fill") != "none"]


def test_the_picture_is_of_the_metric() -> None:
    """Eigenvalues 4 and 1: the entries 3, 1, 1, 2 would not do; [[2.5, -1.5], [-1.5, 2.5]] does."""
    drawn = rectangles([[2.5, -1.5], [-1.5, 2.5]])
    cells, bars = drawn[:4], drawn[4:]
    assert [cell["fill"] for cell in cells] == ["#2b7bba", "#d9622b", "#d9622b", "#2b7bba"]
    assert [float(cell["fill-opacity"]) for cell in cells] == [1.0, 0.77, 0.77, 1.0]
    assert [float(bar["height"]) for bar in bars] == [150.0, 37.5]
    assert rectangles(np.zeros((2, 2))) == []
    assert len(rectangles(np.eye(60))) == 60  # too many entries: eigenvalues alone


@pytest.mark.slow
@pytest.mark.parametrize("ground", ["#ffffff", "#111111"])
def test_it_is_read_on_white_and_on_black(browser: Any, ground: str, tmp_path: Path) -> None:
    """The words have the colour of the page, and the picture is not one of its ground alone."""
    words = "#222222" if ground == "#ffffff" else "#dddddd"
    page = tmp_path / "page.html"
    body = objects()["solution"]._repr_html_()
    page.write_text(f'<meta charset="utf-8"><body style="background:{ground};color:{words}">{body}')
    seen = browser.new_page(viewport={"width": 400, "height": 800})
    seen.goto(page.as_uri())
    colours = seen.eval_on_selector_all(
        "text, td, th, li", "all => all.map(e => getComputedStyle(e)[e.tagName == 'text' ? 'fill' : 'color'])"
    )
    wide = seen.evaluate("document.documentElement.scrollWidth")
    seen.close()
    expected = f"rgb({', '.join(str(int(words[k : k + 2], 16)) for k in (1, 3, 5))})"
    assert set(colours) == {expected}
    assert wide <= 400


def test_what_is_cut_says_so() -> None:
    assert cut("abc", 3) == "abc"
    assert cut("abcd", 3) == "abc..."
    with pytest.raises(ValueError, match=r"got \[0, 1, 2, .*\.\.\.$"):
        cvxml.solve("mlsvm", X, Y, lam=list(range(100)))
    row = conform(lambda question: {"unsupported": "x" * 1000}, load_cases(pattern="mlsvm-line"))[0]
    assert row.message == "x" * 300 + "..."


def test_a_note_names_the_parameter_to_change() -> None:
    """Data that hardly move the metric, by lam of MLSVM and by C of gerrymandering; and none that count."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mlsvm = cvxml.solve("mlsvm", X, Y, lam=10.0**6)
        ssvm = cvxml.solve("ssvm", X, Y, C=1e-9)
        none = cvxml.solve("mlsvm", [[0.0], [1.0], [9.0], [10.0]], [0, 0, 1, 1], n_neighbors=1)
    assert any("smaller lam" in note for note in mlsvm.notes)
    assert any("larger C" in note for note in ssvm.notes)
    assert "n_neighbors" in none.notes[-1]
    assert 'neighborhood="per-class"' in none.notes[-1]
