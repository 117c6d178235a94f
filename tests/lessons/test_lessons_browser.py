"""The lessons in a browser: the command opens one, a control is moved, and the picture changes; no network.

Chromium is the system's (Debian: chromium), driven by playwright; without either these tests are skipped.
"""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from cvxml.lessons import LESSONS
from tests.lessons.run import opened

pytest.importorskip("marimo", reason="the lessons are marimo notebooks")
image = pytest.importorskip("matplotlib.image", reason="the lessons draw")

pytestmark = pytest.mark.slow

DESKTOP, TELEPHONE = 1280, 400  # pixels across
WAIT = 60_000  # milliseconds, for a machine that does other things too
WIDER_THAN_ITS_COLUMN = """
    [...document.querySelectorAll(".katex-html, pre, img, table")].filter(one => {
        const column = one.closest(".text, .controls, .pictures, .below");
        return [...one.querySelectorAll("*"), one].some(
            part => part.getBoundingClientRect().right > column.getBoundingClientRect().right + 2);
    }).map(one => one.textContent || one.alt)
"""
BYTES = """
    selector => Promise.all([...document.querySelectorAll(selector)].map(async one => {
        const bytes = new Uint8Array(await (await fetch(one.src)).arrayBuffer());
        return Array.from(bytes, byte => byte.toString(16)).join("");
    }))
"""
PICTURES = "img[src*='svg+xml']"
SIDEWAYS = """
    [document.scrollingElement, ...document.querySelectorAll("#App, main, body")].some(
        one => one.scrollWidth > one.clientWidth + 1)
"""


class Watched:
    """A page, whatever it asked of other hosts, and whatever went wrong in it."""

    def __init__(self, browser: Any, address: str, width: int, scheme: str = "light"):
        self.elsewhere: list[str] = []
        self.errors: list[str] = []
        self.page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        self.page.set_default_timeout(WAIT)
        self.page.on("request", lambda request: self._asked(request.url, address))
        self.page.on("websocket", lambda socket: self._asked(socket.url, address))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda said: self.errors.append(said.text) if said.type == "error" else None)
        self.page.goto(address)
        self.page.wait_for_selector(PICTURES)

    def _asked(self, url: str, address: str) -> None:
        own = address.removeprefix("http://")  # with the token, and a / at its end
        if not url.startswith((f"http://{own}", f"ws://{own}", "data:", "blob:")):
            self.elsewhere.append(url)

    def pictures(self) -> list[str]:
        """What the pictures show: their bytes. (Their addresses are new ones with every drawing.)"""
        found: list[str] = self.page.evaluate(BYTES, PICTURES)
        return found

    def changed_by(self, move: Callable[[Any], None]) -> bool:
        """True once a picture is another one than before the move; False if none is after a minute."""
        before, until = self.pictures(), time.monotonic() + WAIT / 1000
        move(self.page)
        while time.monotonic() < until:
            now = self.pictures()
            if len(now) == len(before) and now != before:
                return True
            self.page.wait_for_timeout(200)
        return False


def press(key: str, which: int = 0) -> Callable[[Any], None]:
    """A key on a slider."""

    def move(page: Any) -> None:
        page.get_by_role("slider").nth(which).focus()
        page.keyboard.press(key)

    return move


def choose(option: str) -> Callable[[Any], None]:
    """Another entry of the first menu."""

    def move(page: Any) -> None:
        page.locator("select").first.select_option(label=option)

    return move


MOVES = {
    "mlsvm": (press("ArrowRight"), press("End"), choose("point 2")),
    "argmin": (press("ArrowRight"), choose("iris")),
    "gerrymandering": (press("ArrowRight"), press("ArrowLeft", 1), choose("Fig. 1, k = 3")),
    "cccp": (press("ArrowRight", 1), press("End", 1), choose("6 points, k = 1")),
    "glml": (press("ArrowRight"), press("Home", 1), choose("equal covariances")),
    "nca": (press("ArrowRight"), press("Home", 2), choose("every class two points")),
    "stranger": (press("End"), choose("not psd")),  # from 1 to 1 + 1e-7 no pixel need change
    "weight": (press("ArrowRight"), press("Home", 1)),
    "theorem": (press("ArrowRight", 1), press("End", 2), choose("½ ‖M‖²: M small")),
    "triplets": (press("ArrowRight"), press("End", 1), choose("point 0")),
    "comparisons": (press("End"), press("Home", 1), press("ArrowRight", 2)),
    "votes": (press("End"), press("Home", 1), choose("MLSVM")),
}


@pytest.fixture(scope="module", params=LESSONS)
def lesson(request: pytest.FixtureRequest) -> Iterator[tuple[str, str]]:
    """The name of one and where it is served: once for the tests that open it."""
    with opened(request.param) as address:
        yield request.param, address


def assert_it_fits(page: Any, width: int, dark: bool) -> None:
    page.wait_for_selector(".katex")
    assert page.evaluate(WIDER_THAN_ITS_COLUMN) == []
    assert not page.evaluate(SIDEWAYS)
    controls = page.locator(".controls").bounding_box()
    picture = page.locator(PICTURES).first.bounding_box()
    assert picture["x"] + picture["width"] <= width
    for menu in page.locator(".controls select").all():
        box = menu.bounding_box()
        assert box["x"] + box["width"] <= controls["x"] + controls["width"] + 2
    if width == TELEPHONE:
        assert picture["y"] >= controls["y"] + controls["height"]
    else:
        assert picture["x"] >= controls["x"] + controls["width"]
        assert picture["y"] < controls["y"] + controls["height"]
    shown = page.locator(PICTURES).first.screenshot()
    grey = image.imread(io.BytesIO(shown), format="png")[..., :3].mean(axis=2)
    assert bool(np.median(grey) < 0.5) == dark
    assert grey.std() > 0.05  # and something is seen on it


def test_a_lesson_fits_a_desktop_in_light_and_answers_to_its_controls(
    lesson: tuple[str, str], browser: Any
) -> None:
    name, address = lesson
    watched = Watched(browser, address, DESKTOP)
    try:
        page = watched.page
        assert_it_fits(page, DESKTOP, dark=False)
        assert page.locator("h1").count() == 1
        for move in MOVES[name]:
            assert watched.changed_by(move)
        assert page.locator(".katex-error").count() == 0
        assert page.locator("text=/Traceback|This cell raised/").count() == 0
        assert page.evaluate(WIDER_THAN_ITS_COLUMN) == []
        assert watched.elsewhere == []
        assert watched.errors == []
    finally:
        watched.page.close()


def test_a_lesson_fits_a_telephone_in_dark(lesson: tuple[str, str], browser: Any) -> None:
    watched = Watched(browser, lesson[1], TELEPHONE, "dark")
    try:
        assert_it_fits(watched.page, TELEPHONE, dark=True)
    finally:
        watched.page.close()
