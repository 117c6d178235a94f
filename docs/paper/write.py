"""`python docs/paper/write.py` writes paper.md and paper.bib, with every number computed anew.

paper.in.md is the text, with names in double braces for the numbers. `numbers` computes them: from the registry of
methods, from one solve, and from the committed reports, which say how their own figures were made.
"""

from __future__ import annotations

import re
from pathlib import Path
from statistics import median

import cvxml
from cvxml import datasets
from cvxml.methods import get, names

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[1]
PACKAGE = Path(cvxml.__file__).parent
TOLERANCE = 1e-6
MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def entries(text: str) -> dict[str, str]:
    """The entries of a file of BibTeX, by key."""
    return {
        found[2]: found[1].strip()
        for found in re.finditer(r"(@\w+\{(\w+),.*?^\})", text, flags=re.DOTALL | re.MULTILINE)
    }


def table(text: str, heading: str) -> list[list[str]]:
    """The rows of the first table after a line that begins with `heading`."""
    after = text[text.index(heading) :].splitlines()
    first = next(k for k, line in enumerate(after) if line.startswith("|"))
    rows = []
    for line in after[first + 2 :]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows


def of_package() -> dict[str, str]:
    """Counts of methods, papers, misreadings and cases."""
    papers = entries((PACKAGE / "core" / "references.bib").read_text(encoding="utf-8"))
    misreadings = sum(len(get(method).MISREADINGS) for method in names())
    cases = [path for path in (PACKAGE / "cases").glob("*.json") if not path.name.endswith(".schema.json")]
    verified = re.search(r"It knows (\w+) problems", read("docs/verified.md"))
    assert verified is not None
    return {
        "methods": str(len(names())),
        "papers": str(len(papers)),
        "misreadings": str(misreadings),
        "cases": str(len(cases)),
        "coq": verified[1],
        "tolerance": f"{TOLERANCE:.0e}".replace("e-0", "e-"),
    }


def of_example() -> dict[str, str]:
    """LMNN on wine."""
    X, y = datasets.load("wine")
    X = datasets.standardize(X)
    solution = cvxml.solve("lmnn", X, y)
    report = cvxml.check("lmnn", X, y, 3 * solution.metric, diagnosed=False)
    wrong = cvxml.certify("lmnn", X, y, 3 * solution.metric, solution.dual)
    assert solution.rel_gap <= TOLERANCE
    return {
        "lmnn_objective": f"{solution.objective:.3f}",
        "lmnn_bound": f"{solution.lower_bound:.3f}",
        "lmnn_wrong": report.verdict.value,
        "lmnn_gap": f"{wrong.gap / solution.objective:.0%}",
    }


def of_reports() -> dict[str, str]:
    """The runs of other packages, the errata, and the speed."""
    foreign = read("validation/foreign/report.md")
    rows = table(foreign, "## Results for each learner")
    verdicts = [sum(int(row[k]) for row in rows) for k in range(-4, 0)]
    errata = table(read("docs/errata.md"), "# Errata")
    speed = [row for row in table(read("validation/benchmarks/report.md"), "# Speed") if row[6]]
    ratios = [float(row[6]) for row in speed]
    reports = [
        path
        for path in (ROOT / "validation" / "foreign" / "reports").glob("*.md")
        if path.name != "README.md"
    ]
    return {
        "runs": str(sum(verdicts)),
        "learners": str(len(rows)),
        **{
            name: str(n)
            for name, n in zip(("certified", "close", "inconclusive", "refuted"), verdicts, strict=True)
        },
        "reports": str(len(reports)),
        "errata": str(sum(int(re.match(r"\d+", row[1])[0]) for row in errata)),  # type: ignore[index]
        "errata_methods": str(len(errata)),
        "compared": str(len(speed)),
        "faster": str(sum(ratio > 1 for ratio in ratios)),
        "median_ratio": f"{median(ratios):.3g}",
    }


def of_citation() -> dict[str, str]:
    """The authors of CITATION.cff, and the month of the last release."""
    listed = re.findall(r"^  - name: (.*)$", read("CITATION.cff"), flags=re.MULTILINE)
    released = re.search(r"^## \[\d.*?\] - (\d+)-(\d+)-(\d+)", read("CHANGELOG.md"), flags=re.MULTILINE)
    authors = "\n".join(f"  - name: {name}\n    affiliation: 1" for name in listed)
    year, month, day = map(int, released.groups()) if released else (2026, 1, 1)
    return {
        "authors": authors,
        "affiliations": "  - name: to be entered by the authors\n    index: 1",
        "date": f"{day} {MONTHS[month - 1]} {year}",
    }


def numbers() -> dict[str, str]:
    """Everything that paper.in.md has in double braces."""
    return {**of_citation(), **of_package(), **of_example(), **of_reports()}


def paper(values: dict[str, str]) -> str:
    """The text of paper.md."""
    return re.sub(r"\{\{(\w+)\}\}", lambda found: values[found[1]], read("docs/paper/paper.in.md"))


def bibliography(text: str) -> str:
    """The text of paper.bib: the entries that the text cites, in the order of their keys."""
    known = {
        **entries((PACKAGE / "core" / "references.bib").read_text(encoding="utf-8")),
        **entries(read("docs/paper/software.bib")),
    }
    cited = sorted(set(re.findall(r"@(\w+)[\];]", text)))
    return "\n\n".join(known[key] for key in cited) + "\n"


if __name__ == "__main__":
    text = paper(numbers())
    (FOLDER / "paper.md").write_text(text, encoding="utf-8")
    (FOLDER / "paper.bib").write_text(bibliography(text), encoding="utf-8")
