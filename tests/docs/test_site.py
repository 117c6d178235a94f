"""The site that Sphinx makes of docs/: no dead link, nothing from a network, nothing left out, no LaTeX left as it is.

Slow: the site is built once a session (conftest.py). Skipped where the extra `docs` is not installed.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import json
import pickle
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

import cvxml
from cvxml import displays, testing
from cvxml.cli.main import _parser
from cvxml.core.references import bibtex
from cvxml.methods import get
from tests.docs.pages import Site
from tests.docs.test_reference import example

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
FAR = re.compile(r"(?:[a-z]+:)?//|data:text", flags=re.IGNORECASE)


def test_no_page_loads_anything_from_a_network(site: Site) -> None:
    for name, page in site.pages.items():
        assert page.loads, name
        assert not [target for target in page.loads if FAR.match(target)], name
    for style in site.folder.rglob("*.css"):
        text = style.read_text(encoding="utf-8")
        loads = re.findall(r"url\(['\"]?(.*?)['\"]?\)", text) + re.findall(r"@import\s+['\"](.*?)['\"]", text)
        assert not [target for target in loads if FAR.match(target)], style
    for script in site.folder.rglob("*.js"):
        text = script.read_text(encoding="utf-8")
        assert not re.findall(r"https?://[^\s\"'`]+\.(?:js|mjs|css|woff2?|json)\b", text), script


def test_no_link_is_dead(site: Site) -> None:
    for name, page in site.pages.items():
        for target in [*page.leads, *page.loads]:
            if FAR.match(target) or target.startswith(("data:", "mailto:")):
                continue
            path, _, place = target.partition("#")
            there = (
                (site.folder / name).parent / unquote(path.partition("?")[0]) if path else site.folder / name
            )
            assert there.resolve().is_file(), f"{name}: {target}"
            if place and there.suffix == ".html":
                found = site.pages[str(there.resolve().relative_to(site.folder.resolve()))]
                assert unquote(place) in found.ids, f"{name}: {target}"


MENU = ("Learn", "Use", "Check", "Reference", "Evidence")


def test_the_menu_is_by_purpose_and_shows_the_version(site: Site) -> None:
    for name in ("index.html", "install.html", "mlsvm.html"):
        text = (site.folder / name).read_text(encoding="utf-8")
        captions = re.findall(r'class="caption-text">([^<]*)<', text.partition("<article")[0])
        assert tuple(captions) == MENU
        (brand,) = re.findall(r'class="sidebar-brand-text">([^<]*)<', text)
        assert brand.split() == ["cvxml", cvxml.__version__]


@pytest.mark.parametrize(("word", "page"), [("instal", "install"), ("gridsearchcv", "from_scikit_learn")])
def test_a_search_for_a_word_finds_the_page_that_has_it_in_a_title(site: Site, word: str, page: str) -> None:
    """In the index of the search, which holds stems of words."""
    text = (site.folder / "searchindex.js").read_text(encoding="utf-8")
    index = json.loads(text[text.index("{") : text.rindex("}") + 1])
    found = index["titleterms"][word]
    assert page in [index["docnames"][k] for k in (found if isinstance(found, list) else [found])]


def test_every_page_shows_the_version(site: Site) -> None:
    shown = f"cvxml {cvxml.__version__}"
    for name in site.pages:
        text = (site.folder / name).read_text(encoding="utf-8")
        (title,) = re.findall(r"<title>(.*?)</title>", text.partition("</head>")[0], flags=re.DOTALL)
        (brand,) = re.findall(r'class="sidebar-brand-text">([^<]*)<', text)
        assert (brand, title.endswith(shown)) == (shown, True), name


# the public names with a page of their own, and their modules; cvxml.displays is a section of api.html
NAMED = {name: "cvxml" for name in cvxml.__all__ if name not in ("__version__", "displays")}
NAMED |= dict.fromkeys(displays.__all__, "cvxml.displays")


@pytest.mark.parametrize("name", NAMED)
def test_every_public_name_has_a_page_with_its_example_and_a_link(site: Site, name: str) -> None:
    page, home = site.pages[f"api/{name}.html"], site.pages["api.html"]
    item = getattr(importlib.import_module(NAMED[name]), name)
    assert f"{'module-' * inspect.ismodule(item)}{NAMED[name]}.{name}" in page.ids
    assert f"api/{name}.html" in home.leads
    code = example(item)
    assert code
    assert code.strip() in [each.strip() for each in page.codes]


def test_every_function_of_a_module_has_a_link(site: Site) -> None:
    """Their pages are those of the modules, and test_no_link_is_dead tests the places there."""
    assert "module-cvxml.displays" in site.pages["api.html"].ids
    wanted = {f"api/datasets.html#cvxml.datasets.{name}" for name in ("load", "read", "names", "standardize")}
    wanted |= {f"api/testing.html#cvxml.testing.{name}" for name in testing.__all__}
    assert wanted <= set(site.pages["api.html"].leads)


def test_signatures_have_the_types_of_the_source(site: Site) -> None:
    """By their short names, and not as numpy's or Sphinx's own spelling of them."""
    texts = {name: (site.folder / name).read_text(encoding="utf-8") for name in site.pages if "api/" in name}
    signatures = {
        name: [
            re.sub(r"<[^>]*>|\[source\]", "", each)
            for each in re.findall(r"<dt class=\"sig.*?</dt>", text, re.DOTALL)
        ]
        for name, text in texts.items()
    }
    strange = re.compile(r"ForwardRef|numpy\.|ndarray\[|_array_like|cvxml\.core")
    assert {
        name: found for name, all in signatures.items() if (found := [s for s in all if strange.search(s)])
    } == {}
    (solve,) = signatures["api/solve.html"]
    for part in ("X: ArrayLike,", "y: ArrayLike | None,", "tol: Tolerance = 'normal',", "&#x2192; Solution"):
        assert part in solve, solve
    assert "mu: float = 0.5," in signatures["api/LMNN.html"][0]
    assert any("metric: FloatArray" in each for each in signatures["api/Solution.html"])
    assert any("components: FloatArray" in each for each in signatures["api/Solution.html"])


def test_the_page_of_an_estimator_has_all_its_methods(site: Site) -> None:
    for name, methods in {
        "LMNN": ("fit", "transform", "pair_distance", "get_metric"),
        "Gerrymandering": ("fit", "transform", "predict"),
        "PLML": ("fit", "predict", "weights_at", "metric_at"),
        "PairClassifier": ("fit", "predict", "calibrate"),
    }.items():
        ids = site.pages[f"api/{name}.html"].ids
        assert {f"cvxml.{name}.{method}" for method in methods} <= ids
        assert not [each for each in ids if each.endswith(("_request", ".get_params"))]


def commands() -> Iterator[tuple[str, argparse.ArgumentParser]]:
    for action in _parser()._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.items()


def test_every_option_of_the_command_line_is_there(site: Site) -> None:
    page = site.pages["command_line.html"]
    named = {word for code in page.codes for word in code.replace(",", " ").split()}
    assert len(list(commands())) > 9
    for name, parser in commands():
        assert f"cvxml-{name}" in page.ids
        assert {option for action in parser._actions for option in action.option_strings} - {
            "-h",
            "--help",
        } <= named


@pytest.mark.parametrize("method", ["mlsvm", "ssvm", "glml", "nca", "lmnn", "itml", "mcml", "mmc", "dml_eig"])
def test_formulas_are_drawn_and_stand_with_their_code(site: Site, method: str) -> None:
    page = site.pages["gerrymandering.html" if method == "ssvm" else f"{method}.html"]
    rows = [(row, section.line(row)) for section in get(method).STATEMENT.sections for row in section.rows]
    assert page.formulas >= len(rows)
    for _, line in rows:
        assert line in page.codes or not line, line
    assert not any("#: " in code for code in page.codes)
    words = "".join(page.words)
    assert not re.findall(r"\\[a-zA-Z]+", words)
    assert all(row.tag in words for row, _ in rows)


def uses(document: Any, word: str) -> bool:
    """Whether a paragraph has the word where it could be a link."""
    nodes, addnodes = importlib.import_module("docutils.nodes"), importlib.import_module("sphinx.addnodes")
    code = (nodes.literal, nodes.literal_block, nodes.math, nodes.math_block, nodes.raw)
    links = (nodes.reference, addnodes.pending_xref, addnodes.download_reference)
    passed = (*code, *links, nodes.title, addnodes.desc_signature, addnodes.literal_strong)

    def is_prose(node: Any) -> bool:
        while node is not None and not isinstance(node, passed):
            node = node.parent
        return node is None

    return any(
        re.search(rf"(?<![\w-]){word}(?![\w-])", text, flags=re.IGNORECASE)
        for text in document.findall(nodes.Text)
        if is_prose(text)
    )


@pytest.mark.parametrize(
    "word", ["gap", "dual variable", "repaired", "usable", "misreading", "attained", "lower bound"]
)
def test_the_first_use_of_a_word_leads_to_the_glossary(site: Site, word: str) -> None:
    assert word.replace(" ", "-") in site.pages["glossary.html"].ids
    using = []
    for path in site.doctrees.rglob("*.doctree"):
        name = str(path.relative_to(site.doctrees).with_suffix(""))
        if name not in ("glossary", "changelog") and uses(pickle.loads(path.read_bytes()), word):
            using.append(name)
            leads = site.pages[f"{name}.html"].leads
            home = "../" * name.count("/") + f"glossary.html#{word.replace(' ', '-')}"
            assert leads.count(home) == 1, f"{name}: {word}"
    assert using


def test_no_word_of_code_or_of_a_signature_leads_to_the_glossary(site: Site) -> None:
    code = re.compile(r"<pre>.*?</pre>|<dt class=\"sig .*?</dt>", re.DOTALL)
    found = [
        (name, part)
        for name in site.pages
        for part in code.findall((site.folder / name).read_text(encoding="utf-8"))
        if 'class="term' in part
    ]
    assert found == []


def test_the_index_of_an_accented_letter_stands_beside_it(site: Site) -> None:
    r"""\hat h_i has its index after the letter; below stand the limits of sums alone."""
    texts = {name: (site.folder / name).read_text(encoding="utf-8") for name in site.pages}
    assert any('<mover accent="true">' in text for text in texts.values())
    assert [name for name, text in texts.items() if re.search(r"<munderover>\s*<mi", text)] == []


def test_the_page_of_a_method_has_its_papers(site: Site) -> None:
    for method in cvxml.list_methods():
        page = {"kernel_mlsvm": "mlsvm", "ssvm": "gerrymandering"}.get(method, method.partition(":")[0])
        assert bibtex(method) in "".join(site.pages[f"{page}.html"].codes), method


def test_every_block_of_code_is_run_or_known_not_to_be(site: Site) -> None:
    nodes = importlib.import_module("docutils.nodes")
    seen = set()
    for path in site.doctrees.rglob("*.doctree"):
        name = path.relative_to(site.doctrees).with_suffix("")
        document: Any = pickle.loads(path.read_bytes())
        for block in document.findall(nodes.literal_block):
            language = block.get("language")
            if name.parts[0] == "gallery":
                # of the examples, which tests/docs/test_examples.py runs, and what they printed
                assert language in ("Python", "none"), (name, block.astext()[:80])
            elif "source" in block and str(block["source"]).endswith(".py") and language == "python":
                assert (ROOT / "cvxml") in Path(block["source"]).resolve().parents, name
            elif language == "sh":
                # commands of a folder that needs packages of its own
                assert str(name) == "contributing" or name.name.endswith("README"), name
            elif name.parts[0] == "api":  # examples of docstrings, which tests/docs/test_reference.py runs
                assert language == "python", (name, block.astext()[:80])
            elif name.name.startswith("foreign-reports-"):
                # lines of other packages, and changes that are suggested
                assert language in ("python", "text"), (name, block.astext()[:80])
            else:  # validation/verified/test_page.py finds each block of Coq in the sources
                assert language in ("python", "console", "text", "coq"), (name, block.astext()[:80])
                assert (ROOT / "docs" / f"{name}.md").is_file()
                assert name.parent in (Path("."), Path("teaching")), (
                    f"{name}: tests/docs/test_docs.py runs the pages of docs/ and docs/teaching/ alone"
                )
            seen.add(language)
    assert seen == {"python", "console", "text", "sh", "coq", "Python", "none"}


def test_every_example_is_in_the_gallery_with_a_picture(site: Site) -> None:
    examples = sorted(path.stem for path in (ROOT / "examples").glob("*.py"))
    assert len(examples) >= 12
    index = site.pages["gallery/index.html"]
    for name in examples:
        assert f"{name}.html" in {target.partition("#")[0] for target in index.leads}
        assert any(f"sphx_glr_{name}_thumb" in target for target in index.loads)
        page = site.pages[f"gallery/{name}.html"]
        assert any(f"sphx_glr_{name}_001" in target for target in page.loads), name


def test_the_page_of_a_display_shows_its_own_picture(site: Site) -> None:
    shown = [
        {target for target in site.pages[f"api/{name}.html"].loads if "display_" in target}
        for name in displays.__all__
    ]
    assert [len(each) for each in shown] == [1] * len(displays.__all__)
    assert len(set.union(*shown)) == len(displays.__all__)


def test_no_page_shows_a_word_to_the_linter(site: Site) -> None:
    for name, page in site.pages.items():
        assert not [code for code in page.codes if re.search(r"# noqa", code)], name


def test_every_estimator_says_its_formula_and_every_function_its_parameters(site: Site) -> None:
    methods = {"kernel_mlsvm": "mlsvm", "ssvm": "gerrymandering"}
    learners = [name for name in NAMED if hasattr(getattr(cvxml, name, None), "_method")]
    assert len(learners) >= 24
    for name in learners:  # a link to the page of the method
        method = get(getattr(cvxml, name)()._method).id.partition(":")[0]
        assert f"../{methods.get(method, method)}.html" in site.pages[f"api/{name}.html"].leads, name
    for name in ("solve", "check", "certify_estimator", "evaluate", "certify", "problem", "load"):
        said = inspect.signature(getattr(cvxml, name)).parameters
        own = (site.folder / f"api/{name}.html").read_text(encoding="utf-8")
        for parameter in said:
            assert f"<strong>{parameter}</strong>" in own, (name, parameter)


def test_every_report_is_a_page(site: Site) -> None:
    reports = [path.relative_to(ROOT / "validation") for path in (ROOT / "validation").rglob("*.md")]
    assert reports
    for report in reports:
        first_line = (ROOT / "validation" / report).read_text(encoding="utf-8").splitlines()[0]
        title = first_line.lstrip("# ").replace("`", "")
        assert title in "".join(site.pages[f"reports/{'-'.join(report.with_suffix('.html').parts)}"].words)
