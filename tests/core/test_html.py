"""A report stands alone: what it is about is in its text, its JSON and its HTML, which shows in a browser as it is."""

from __future__ import annotations

import json
import pickle
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

import cvxml
from cvxml.core.html import COLOURS
from cvxml.core.report import Verdict
from tests.instances import real_data
from tests.schemas import schema

NAMES = ("<script>alert(1)</script>", 'an "a" & b', "plain")


def data() -> tuple[Any, Any]:
    X, y = real_data("iris")
    return X[::6], [NAMES[label] for label in y[::6]]


class Reader(HTMLParser):
    """The words of a page, and its tags, all of which must be closed."""

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self.tags: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)
        self.open.append(tag)
        assert {name for name, _ in attrs} <= {"style", "scope"}
        assert not any("url" in (value or "") for _, value in attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def read(report: Any) -> Reader:
    reader = Reader()
    reader.feed(report._repr_html_())
    assert not reader.open
    return reader


def test_what_was_asked_is_in_text_json_and_html() -> None:
    X, y = data()
    report = cvxml.check("lmnn", X, y, np.eye(4), mu=0.3, diagnosed=False)
    words = "".join(read(report).words)
    content = json.loads(report.to_json())
    schema("report").validate(content)
    assert content["about"]["points"] == 25
    assert content["about"]["classes"] == {name: y.count(name) for name in NAMES}
    assert content["about"]["params"]["mu"] == ["0.3", "given"]
    assert content["about"]["params"]["n_neighbors"] == ["3", "default"]
    assert set(content["about"]["lists"]) == {"targets"}
    chosen = content["about"]["lists"]["targets"]
    assert set(content["about"]["versions"]) >= {"cvxml", "numpy", "scipy"}
    text = str(report)
    for said in ("25 x 4", "0.3 (given)", "3 (default)", chosen, f"numpy {np.__version__}"):
        assert said in text
        assert said in words
    assert "tie" in text
    assert "ties" in words
    assert NAMES[0] in words  # as text


def test_lists_that_were_given_are_said_to_be() -> None:
    X, y = data()
    lists = [[j for j in range(25) if j != i and y[j] == y[i]][:2] for i in range(25)]
    about = cvxml.check("lmnn", X, y, np.eye(4), targets=lists, diagnosed=False).about
    assert about is not None
    assert about.lists == {}
    assert about.params["targets"] == ("25 x 2", "given")


def test_what_is_long_is_said_in_short_and_lists_that_follow_from_others_are_not_chosen() -> None:
    X, y = data()
    pairs = {"similar": [[0, 1], [2, 3]], "dissimilar": [[0, 20], [1, 21], [2, 22]]}
    ragged = [[0, 1][: 1 + i % 2] if i > 1 else [2] for i in range(25)]
    for method, given, said in (
        ("itml", {"pairs": pairs}, "2 similar, 3 dissimilar"),
        ("lmnn", {"triplets": [[0, 1, 20], [1, 2, 21]]}, "2 x 3"),
        ("mlsvm", {"neighbors": ragged}, "25 lists"),
    ):
        about = cvxml.check(method, X, y, np.eye(4), diagnosed=False, **given).about
        assert about is not None
        ((name, _),) = given.items()
        assert about.params[name] == (said, "given")
        assert about.lists == {}


def test_no_word_of_a_report_is_markup() -> None:
    X, y = data()
    for metric in (np.eye(4), -np.eye(4)):
        tags = set(read(cvxml.check("mlsvm", X, y, metric)).tags)
        assert tags <= {"div", "p", "span", "ul", "li", "table", "caption", "tbody", "tr", "th", "td"}


@pytest.mark.parametrize("verdict", list(Verdict))
def test_a_verdict_is_a_word_and_its_colour_can_be_read(verdict: Verdict) -> None:
    rgb = [int(COLOURS[verdict.value][k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in rgb]
    assert 1.05 / (float(np.dot(linear, [0.2126, 0.7152, 0.0722])) + 0.05) >= 4.5  # WCAG 2, white upon it


def test_a_solution_is_judged_by_its_metric(tmp_path: Any) -> None:
    X, y = data()
    found = cvxml.solve("mlsvm", X, y)
    found.save(tmp_path / "found.json")
    saved = cvxml.load(tmp_path / "found.json")
    for solution in (found, saved):
        report = cvxml.check("mlsvm", X, y, solution)
        assert report.objective == cvxml.check("mlsvm", X, y, found.metric).objective
        assert not any("mlsvm" in note for note in report.notes)
    other = cvxml.check("lmnn", X, y, found, diagnosed=False)
    assert any("mlsvm" in note for note in other.notes)


def test_a_report_that_was_pickled_predicts_the_same() -> None:
    X, y = data()
    report = cvxml.check("lmnn", X, y, cvxml.solve("lmnn", X, y), diagnosed=False)
    again = pickle.loads(pickle.dumps(report))
    assert again.predictions(3).to_dict() == report.predictions(3).to_dict()
    assert again._repr_html_() == report._repr_html_()
