"""Every lesson, without a browser: its page, its pictures, the list of them."""

from __future__ import annotations

import base64
import itertools
import re
from typing import Any

import numpy as np
import pytest

from cvxml.lessons import LESSONS, path_of
from tests.lessons.run import figures_of, lesson, run

every_lesson = pytest.mark.parametrize("name", LESSONS)


@pytest.mark.slow
@every_lesson
def test_a_lesson_has_text_pictures_and_questions_and_needs_no_network(name: str) -> None:
    outputs, _ = lesson(name).app.run()
    page = outputs[-1].text
    assert page.count("<h1") == 1
    assert page.count("<img") >= 1
    assert all(
        re.search(r"alt='[^']{20,}' style='[^']*' />", image) for image in re.findall(r"<img[^>]*>", page)
    )
    assert page.count("<marimo-slider") + page.count("<marimo-dropdown") >= 2
    assert page.count("marimo-tex") >= 3
    assert 2 <= page.split("Try</h3>")[1].split("</ol>")[0].count("<li") <= 3
    assert "proved" in page
    assert not re.search(r"https?://|//cdn", path_of(name).read_text(encoding="utf-8"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "controls"),
    [
        *((name, {}) for name in LESSONS),
        ("mlsvm", {"lam": 10.0, "point": 16}),
        ("gerrymandering", {"scene": "Fig. 1, k = 3", "query": (-1.5, 1.5), "stretch": 1.0}),
        ("cccp", {"data": "6 points, k = 3", "angle": 45, "elongation": 1.0}),
        ("glml", {"scene": "three classes", "query": (2.0, 2.0)}),
        ("glml", {"scene": "equal covariances", "query": (0.0, 0.0)}),
        ("nca", {"kind": "every class two points", "log2_t": 6.0, "angle": 45, "mix": 0.0}),
        ("stranger", {"stranger": "not psd", "times": 2.0, "tol": "loose"}),
        ("theorem", {"regularizer": "½ ‖M‖²: M small", "loss": "log Σ exp, one for each point", "w": 10.0}),
        ("theorem", {"along": 1.0, "paid": 1.0}),
        ("triplets", {"mu": 0.01, "k": 4, "point": 0}),
        ("comparisons", {"wide": 10.0, "gamma": 100.0, "wrong": 10}),
        ("weight", {"took": 10.0, "asked": 0.1, "stopped": 1e-3}),
        ("votes", {"method": "mlsvm", "away": 1.0, "k": 5}),
    ],
)
def test_no_words_leave_the_picture_or_run_into_each_other(
    name: str, controls: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    from matplotlib.text import Text

    seen = figures_of(monkeypatch)
    run(name, **controls)
    assert seen
    for figure in seen:
        frame = figure.bbox.padded(2)
        for axes in figure.axes:
            words = [one for one in axes.get_children() if isinstance(one, Text) and one not in axes.texts]
            words += [axes.xaxis.label, axes.yaxis.label, axes.get_legend()]
            for one in words:
                if one is not None and (not isinstance(one, Text) or one.get_text()):
                    box = one.get_window_extent()
                    assert frame.x0 <= box.x0 <= box.x1 <= frame.x1, one
                    assert frame.y0 <= box.y0 <= box.y1 <= frame.y1, one
            names = [one.get_window_extent() for one in axes.texts]
            names = [box for box in names if axes.bbox.overlaps(box)]
            for one, other in itertools.combinations(names, 2):
                assert not one.padded(-1).overlaps(other.padded(-1))


@pytest.mark.slow
@every_lesson
def test_black_white_and_what_is_pale_are_those_of_the_page(name: str) -> None:
    page = lesson(name).app.run()[0][-1].text
    pictures = re.findall(r"<img src='data:image/svg\+xml;base64,([^']+)'", page)
    assert pictures
    for picture in pictures:
        drawing = base64.b64decode(picture).decode().split("</style>", 1)[1]
        assert "#000000" not in drawing
        assert "#ffffff" not in drawing
        assert "var(--ink)" in drawing
    assert '# theme = "system"' in path_of(name).read_text(encoding="utf-8").split('"""')[0]


def test_names_are_beside_their_points_and_apart() -> None:
    from matplotlib.figure import Figure

    from cvxml.lessons._page import name_points

    close = np.array([[0.5, 0.5], [0.502, 0.5], [0.5, 0.504], [0.0, 0.0], [1.0, 1.0]])
    figure = Figure(figsize=(4, 4))
    ax = figure.subplots()
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 1)
    name_points(ax, close, "abcde")
    figure.draw_without_rendering()
    boxes = [one.get_window_extent() for one in ax.texts]
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))
    for box, point in zip(boxes, ax.transData.transform(close), strict=True):
        assert ax.bbox.padded(1).contains(box.x0, box.y0)
        assert ax.bbox.padded(1).contains(box.x1, box.y1)
        assert not box.contains(*point)
        assert np.linalg.norm(np.mean(box.get_points(), axis=0) - point) < 25 * figure.dpi / 72


def test_the_list_of_lessons_is_that_of_the_files() -> None:
    folder = path_of("mlsvm").parent
    assert {path.stem for path in folder.glob("*.py") if not path.stem.startswith("_")} == set(LESSONS)
