"""The pages of the project: issue forms, support, roadmap, conduct, citation, and the places of a public address."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

import cvxml
from tests.docs.test_docs import FENCE, ROOT, columns, linked, read

FORMS = sorted(
    path for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml"
)
PROJECT = [
    ROOT / name for name in ("SUPPORT.md", "ROADMAP.md", "CODE_OF_CONDUCT.md", "SECURITY.md", "RELEASING.md")
]
KINDS = {"markdown", "textarea", "input", "dropdown", "checkboxes"}
ADDRESS = re.compile(r"https?://|[\w.+-]+@[\w-]+\.\w+")
every_form = pytest.mark.parametrize("form", FORMS, ids=lambda form: form.stem)
every_project_page = pytest.mark.parametrize("page", PROJECT, ids=lambda page: page.name)


def loaded(form: Path) -> dict[str, Any]:
    yaml = pytest.importorskip("yaml", reason="PyYAML reads the forms; the extra docs installs it")
    content: dict[str, Any] = yaml.safe_load(read(form))
    return content


@every_form
def test_a_form_has_the_keys_that_a_code_host_needs(form: Path) -> None:
    content = loaded(form)
    assert {"name", "description", "body"} <= set(content)
    assert all(field["type"] in KINDS for field in content["body"])
    fields = [field for field in content["body"] if field["type"] != "markdown"]
    ids = [field["id"] for field in fields]
    assert len(ids) == len(set(ids))
    assert all(re.fullmatch(r"[a-z_]+", name) for name in ids)
    labels = [field["attributes"]["label"] for field in fields]
    assert len(labels) == len(set(labels))
    assert all(set(field) <= {"type", "id", "attributes", "validations"} for field in fields)
    assert any(field.get("validations", {}).get("required") for field in fields)
    for field in content["body"]:
        if field["type"] == "markdown":
            assert field["attributes"]["value"]


def test_the_names_of_the_forms_differ() -> None:
    names = [loaded(form)["name"] for form in FORMS]
    assert len(names) == len(set(names)) == 3


@pytest.mark.parametrize(
    ("form", "needed"),
    [
        ("bug", {"commands", "output", "expected", "versions"}),
        ("question", {"question", "read"}),
        ("refuted", {"method", "parameters", "data", "matrix", "report", "reason", "versions"}),
    ],
)
def test_a_form_requires_the_facts_that_a_maintainer_needs(form: str, needed: set[str]) -> None:
    fields = loaded(ROOT / ".github" / "ISSUE_TEMPLATE" / f"{form}.yml")["body"]
    required = {field["id"] for field in fields if field.get("validations", {}).get("required")}
    assert required == needed


@every_project_page
def test_links_lead_to_files_and_sections(page: Path) -> None:
    for target, section in re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", FENCE.sub("", read(page))):
        leads = linked(page, target) if target else page
        assert leads.exists(), target
        if section:
            headings = re.findall(r"^#+ (.*)$", read(leads), flags=re.MULTILINE)
            assert section in {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in headings}, (
                section
            )


def test_every_page_and_form_is_linked() -> None:
    texts = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *PROJECT, *(ROOT / "docs").glob("*.md")]
    leads = {
        linked(page, target).resolve()
        for page in texts
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", FENCE.sub("", read(page)))
        if linked(page, target).resolve() != page
    }
    assert not {path for path in [*FORMS, *PROJECT, ROOT / "CITATION.cff"] if path.resolve() not in leads}


def test_the_citation_is_that_of_the_version() -> None:
    index = read(ROOT / "docs" / "index.md")
    (entry,) = re.findall(r"^@software\{.*?^\}$", index, flags=re.MULTILINE | re.DOTALL)
    fields = dict(re.findall(r"^  (\w+) *= \{(.*)\},?$", entry, flags=re.MULTILINE))
    citation = dict(re.findall(r"^([\w-]+): *(.*)$", read(ROOT / "CITATION.cff"), flags=re.MULTILINE))
    assert fields["version"] == cvxml.__version__
    assert fields["title"] == citation["title"].strip('"')
    assert fields["license"] == citation["license"]
    dates = re.findall(r"^## \[[\d.]+\] - (\d{4})-", read(ROOT / "CHANGELOG.md"), flags=re.MULTILINE)
    assert fields["year"] == dates[0]


def test_the_places_of_the_public_address_exist_and_hold_none() -> None:
    section = read(ROOT / "RELEASING.md").partition("\n## The public address\n")[2].partition("\n## ")[0]
    places = re.findall(r"^\| `([^`]+)` \|", section, flags=re.MULTILINE)
    assert set(places) <= {cell.strip("`") for cell in columns(ROOT / "RELEASING.md", "file")}
    assert len(places) >= 8
    for name in places:
        assert (ROOT / name).exists(), name
    for name in ("SUPPORT.md", "SECURITY.md", "CODE_OF_CONDUCT.md", "CITATION.cff", "docs/index.md"):
        assert name in places
        assert not ADDRESS.search(read(ROOT / name)), name
    for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"):
        assert not ADDRESS.search(read(path)), path.name
    pages = {
        str(page.relative_to(ROOT)) for page in ROOT.glob("*.md") if "no public address yet" in read(page)
    }
    assert pages - {"RELEASING.md", "CHANGELOG.md"} <= set(places)


def test_the_release_has_the_golden_cases_without_cvxml(tmp_path: Path) -> None:
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("the archive is made of a clone")
    (command,) = re.findall(r"^ +(git -C .* archive .*)$", read(ROOT / "RELEASING.md"), flags=re.MULTILINE)
    words = (
        command.replace('"$folder/clone"', str(ROOT)).replace('"$folder/dist/', f'"{tmp_path}/').split(" ")
    )
    subprocess.run([word.replace('"', "") for word in words], check=True)
    (made,) = tmp_path.glob("*.zip")
    with zipfile.ZipFile(made) as packed:
        packed.extractall(tmp_path)
    folder = tmp_path / "cvxml-cases"
    known = {path.name for path in (ROOT / "cvxml" / "cases").glob("*.json")}
    assert {path.name for path in folder.glob("*.json")} == known
    (tmp_path / "answers").mkdir()
    judged = [sys.executable, "-I", str(folder / "judge.py"), str(tmp_path / "answers"), "rca-iris"]
    done = subprocess.run(judged, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "")  # a missing answer, and no traceback
    assert "1 without an answer" in done.stdout
