"""The site in a browser: on a telephone, in the dark, searched, copied from; no request leaves the machine.

Slow, and skipped without the extra `docs`, playwright, or a Chromium (Debian: chromium).
"""

from __future__ import annotations

import functools
import http.server
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from tests.docs.pages import Site

pytestmark = pytest.mark.slow

PHONE = {"width": 400, "height": 900}
WIDTH = "document.scrollingElement.scrollWidth"
# what ends beyond the screen, and has nothing around it that scrolls
CUT = """
    () => [...document.querySelectorAll("article *")].filter(one => {
        const box = one.getBoundingClientRect();
        if (box.width === 0 || box.right <= innerWidth + 1 || one.closest(".headerlink, .copybtn")) return false;
        for (let up = one; up && up.tagName !== "ARTICLE"; up = up.parentElement)
            if (up.tagName !== "math" && ["auto", "scroll"].includes(getComputedStyle(up).overflowX)) return false;
        return true;
    }).map(one => one.tagName + ": " + (one.textContent || one.alt || "").slice(0, 60))
"""
# of each picture: the lightness that its white has on the page, 0 to 255
GROUND = """
    () => [...document.querySelectorAll("article img")].map(one => {
        const canvas = document.createElement("canvas");
        [canvas.width, canvas.height] = [1, 1];
        const brush = canvas.getContext("2d");
        brush.filter = getComputedStyle(one).filter;
        brush.fillStyle = "white";
        brush.fillRect(0, 0, 1, 1);
        return brush.getImageData(0, 0, 1, 1).data[0];
    })
"""
# of each text that is seen: its contrast with its ground (WCAG 2), and the text
CONTRASTS = """
    () => {
        const parts = colour => colour.match(/[\\d.]+/g).map(Number);
        const over = (top, ground) => ground.map((value, k) => value + (top[3] ?? 1) * (top[k] - value));
        const luminance = colour => colour.map(value => value / 255)
            .map(value => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)
            .reduce((sum, value, k) => sum + value * [0.2126, 0.7152, 0.0722][k], 0);
        const ground = one => one
            ? over(parts(getComputedStyle(one).backgroundColor), ground(one.parentElement)) : [255, 255, 255];
        const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), found = [];
        while (texts.nextNode()) {
            const text = texts.currentNode.data.trim(), one = texts.currentNode.parentElement;
            if (!text || one.closest("script, style, noscript, svg") || !one.getClientRects().length) continue;
            const behind = ground(one), front = over(parts(getComputedStyle(one).color), behind);
            const [low, high] = [luminance(behind), luminance(front)].sort((a, b) => a - b);
            found.push([(high + 0.05) / (low + 0.05), text.slice(0, 60)]);
        }
        return found;
    }
"""
# of each block of code: the lightness of its ground, 0 to 255
CODE_GROUND = """
    () => [...document.querySelectorAll("article .highlight pre")].map(one => {
        while (getComputedStyle(one).backgroundColor === "rgba(0, 0, 0, 0)") one = one.parentElement;
        return Math.max(...getComputedStyle(one).backgroundColor.match(/\\d+/g).slice(0, 3).map(Number));
    })
"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Says nothing."""

    def log_message(self, *said: object) -> None: ...


@pytest.fixture(scope="module")
def address(site: Site) -> Iterator[str]:
    handler = functools.partial(Quiet, directory=str(site.folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_no_page_is_wider_than_a_telephone(site: Site, address: str, browser: Any) -> None:
    page = browser.new_page(viewport=PHONE)
    asked = set()
    page.on("request", lambda request: asked.add(request.url.split("/")[2]))
    wide, cut = {}, {}
    for name in site.pages:
        page.goto(f"{address}/{name}")
        if page.evaluate(WIDTH) > PHONE["width"]:
            wide[name] = page.evaluate(WIDTH)
        if found := page.evaluate(CUT):
            cut[name] = found[:3]
    page.close()
    assert not wide
    assert not cut
    assert asked == {address.removeprefix("http://")}


@pytest.mark.parametrize(
    "name", ["index.html", "displays.html", "gallery/index.html", "gallery/choose_lam.html"]
)
@pytest.mark.parametrize(("scheme", "ground"), [("light", (250, 255)), ("dark", (5, 45))])
def test_pictures_have_the_ground_of_the_page(
    address: str, browser: Any, name: str, scheme: str, ground: tuple[int, int]
) -> None:
    page = browser.new_page(color_scheme=scheme)
    page.goto(f"{address}/{name}")
    found = page.evaluate(GROUND)
    drawn = page.evaluate("[...document.querySelectorAll('article img')].every(one => one.naturalWidth > 0)")
    page.close()
    assert found
    assert drawn
    assert all(ground[0] <= lightness <= ground[1] for lightness in found)


@pytest.mark.parametrize(
    "name", ["index.html", "api.html", "api/LMNN.html", "nca.html", "gallery/local_metrics.html"]
)
@pytest.mark.parametrize(("scheme", "ground"), [("light", (225, 255)), ("dark", (5, 60))])
def test_text_and_code_can_be_read(
    address: str, browser: Any, name: str, scheme: str, ground: tuple[int, int]
) -> None:
    page = browser.new_page(color_scheme=scheme)
    page.goto(f"{address}/{name}")
    contrasts, grounds = page.evaluate(CONTRASTS), page.evaluate(CODE_GROUND)
    page.close()
    assert len(contrasts) > 100
    assert [(ratio, text) for ratio, text in contrasts if ratio < 4.5] == []
    assert grounds
    assert all(ground[0] <= lightness <= ground[1] for lightness in grounds)


@pytest.mark.parametrize("name", ["index.html", "tutorial.html", "oracle.html", "duality.html"])
def test_the_formulas_of_a_first_page_fit_on_a_laptop(address: str, browser: Any, name: str) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto(f"{address}/{name}")
    cut = page.evaluate(
        "[...document.querySelectorAll('article .scrolls')].filter(one => one.scrollWidth > one.clientWidth)"
        ".map(one => one.textContent.trim().slice(0, 60))"
    )
    page.close()
    assert cut == []


def test_the_picture_of_the_first_page_is_another_on_a_telephone(address: str, browser: Any) -> None:
    shown = {}
    for width in (400, 1280):
        page = browser.new_page(viewport={"width": width, "height": 900})
        page.goto(f"{address}/index.html")
        shown[width] = page.evaluate("document.querySelector('article picture img').currentSrc").split("/")[
            -1
        ]
        page.close()
    assert shown == {400: "cvxml_narrow.png", 1280: "cvxml.png"}


@pytest.mark.parametrize("name", ["displays.html", "tutorial.html"])
def test_a_short_name_in_a_table_is_on_one_line(address: str, browser: Any, name: str) -> None:
    page = browser.new_page(viewport=PHONE)
    page.goto(f"{address}/{name}")
    lines = page.evaluate(
        "[...document.querySelectorAll('td code.name')].map(one => one.getClientRects().length)"
    )
    page.close()
    assert set(lines) == {1}


@pytest.mark.parametrize("width", [1280, 1600])
def test_the_contents_of_a_page_are_visible_on_a_laptop(address: str, browser: Any, width: int) -> None:
    page = browser.new_page(viewport={"width": width, "height": 800})
    page.goto(f"{address}/mlsvm.html")
    boxes = [page.locator(name).first.bounding_box() for name in (".sidebar-drawer", "article", ".toc-tree")]
    scroll = page.evaluate(WIDTH)
    page.close()
    menu, text, contents = boxes
    assert 0 <= menu["x"] < menu["x"] + menu["width"] <= text["x"]
    assert text["x"] + text["width"] <= contents["x"] < contents["x"] + contents["width"] <= width
    assert text["width"] >= 600
    assert scroll <= width


@pytest.mark.parametrize("opened", ["served", "from a folder"])
def test_a_search_shows_where_the_words_stand(site: Site, address: str, browser: Any, opened: str) -> None:
    page = browser.new_page()
    page.goto(f"{address if opened == 'served' else site.folder.as_uri()}/search.html?q=furthest+target")
    page.wait_for_selector("#search-results li p.context", timeout=60_000)
    page.wait_for_timeout(1000)
    excerpts = page.eval_on_selector_all(
        "#search-results li p.context", "all => all.map(one => one.textContent)"
    )
    page.close()
    assert any("furthest target" in excerpt for excerpt in excerpts)


def test_what_is_copied_has_neither_prompts_nor_output(address: str, browser: Any) -> None:
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    copied = {}
    for name, block in {"index.html": ".highlight-python", "lessons.html": ".highlight-console"}.items():
        page.goto(f"{address}/{name}")
        page.hover(block)
        page.click(f"{block} .copybtn")
        copied[name] = page.evaluate("navigator.clipboard.readText()")
    context.close()
    assert copied["index.html"].startswith("import cvxml\n")
    assert "# ->" not in copied["index.html"]
    assert copied["lessons.html"].strip() == "cvxml lesson"
