"""The page of what of the papers is here: no row without a status, and none without its evidence."""

from __future__ import annotations

import ast
import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "coverage.md"
MADE = runpy.run_path(str(ROOT / "docs" / "_ext" / "coverage.py"))
# what the papers number: a row speaks of each
NUMBERED = {
    "Nguyen": {"Fig.": 2, "Table": 2, "Algorithm": 1, "eq": 11},
    "Trivedi": {"Fig.": 1, "Table": 1, "Algorithm": 3, "eq": 12},
    "Noh": {"Fig.": 8, "Algorithm": 1},
}


def papers() -> dict[str, list[list[str]]]:
    """The first author -> the rows of his table."""
    found = MADE["papers"](PAGE.read_text(encoding="utf-8"))
    return {heading.partition(",")[0]: rows for heading, rows in found.items()}


ROWS = [row for rows in papers().values() for row in rows]


def test_every_row_has_a_status_and_a_reason_or_evidence() -> None:
    assert list(papers()) == ["Nguyen", "Trivedi", "Noh", "Goldberger"]
    for where, what, status, *evidence in ROWS:
        assert status in MADE["STATUSES"], where
        assert what, where
        assert evidence != [""], (where, what)
        if status in ("run", "reduced", "tested"):
            assert re.search(r"\]\(|`", evidence[0]), (where, what)


@pytest.mark.parametrize("paper", NUMBERED)
def test_what_the_papers_number_is_all_there(paper: str) -> None:
    places = " ; ".join(row[0] for row in papers()[paper])
    for kind, count in NUMBERED[paper].items():
        for number in range(1, count + 1):
            if kind == "eq":
                spans = re.findall(r"\((\d+)\)(?: to \((\d+)\))?", places)
                assert any(int(low) <= number <= int(high or low) for low, high in spans), number
            else:
                assert re.search(
                    rf"{re.escape(kind)} {number}\b", places.replace(f"{number}a", f"{number} a")
                ), (kind, number)


def test_tests_and_files_that_are_named_exist() -> None:
    text = PAGE.read_text(encoding="utf-8")
    named = re.findall(r"`((?:tests|validation)/[^`]+)`", text)
    assert len(named) > 40
    for name in named:
        path, _, test = name.partition("::")
        source = (ROOT / path).read_text(encoding="utf-8")
        defined = {node.name for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)}
        assert not test or test in defined, name


def test_the_counts_at_the_top_are_those_of_the_rows() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert MADE["filled"](page) == page, "run `python docs/_ext/coverage.py`"
    (total,) = re.findall(r"^\| all \| (.*) \|$", page, flags=re.MULTILINE)
    below = page.partition("\n## ")[2]  # counted without the reader of the tables
    counts = [len(re.findall(rf" \| {status} \| ", below)) for status in MADE["STATUSES"]]
    assert list(map(int, total.split(" | "))) == [sum(counts), *counts]
    assert sum(counts) == len(ROWS)


REPLICATION = runpy.run_path(str(ROOT / "docs" / "_ext" / "replication.py"))
REPORTS = ROOT / "validation" / "experiments" / "reports"


def abstract_claims() -> dict[str, tuple[str, str]]:
    """The claims of the abstracts: claim -> verdict, evidence."""
    found = REPLICATION["claims"](PAGE.read_text(encoding="utf-8"))
    return {each.claim: (each.verdict, each.evidence) for own in found.values() for each in own}


def table_below(report: str, start: str) -> list[list[str]]:
    """The rows of the first table of a report after some words."""
    lines = (REPORTS / f"{report}.md").read_text(encoding="utf-8").split(start, 1)[1].splitlines()
    first = next(at for at, line in enumerate(lines) if line.startswith("|"))
    rows = []
    for line in lines[first:]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]])
    return rows


def numbers(text: str) -> list[int]:
    return [
        int(found)
        for found in re.findall(r"(?<![\w.])\d+(?![\w.]*\w)", re.sub(r"\([^)]*\.md[^)]*\)|`[^`]*`", "", text))
    ]


def test_the_page_of_claims_is_made_from_the_rows() -> None:
    coverage = PAGE.read_text(encoding="utf-8")
    page = (ROOT / "docs" / "replication.md").read_text(encoding="utf-8")
    assert REPLICATION["filled"](page, coverage) == page, "run `python docs/_ext/replication.py`"
    found = REPLICATION["claims"](coverage)
    assert [len(own) >= 3 for own in found.values()] == [True] * 4
    assert {verdict for verdict, _ in abstract_claims().values()} <= set(REPLICATION["VERDICTS"])
    assert (
        page.count("](../validation/experiments/reports/") + page.count("`tests/")
        >= len(abstract_claims()) - 1
    )
    marked = [row for row in ROWS if row.where == "abstract"]
    assert [row.what for row in marked if not row.evidence.startswith("**")] == []


def test_the_claims_on_mlsvm_are_those_of_the_report() -> None:
    """Letters of the cells: by the paper's own test, with Holm, for new points."""
    found = abstract_claims()
    improved = table_below("mlsvm-full", '**"all three metric learning methods')
    codes = [row[improved[0].index("MLSVM")].split()[-1] for row in improved[2:]]
    counts = {kind: [sum(code[at] == kind for code in codes) for at in (0, 1)] for kind in "SC"}
    verdict, evidence = found["the new metric improves kNN"]
    assert numbers(evidence) == [counts["S"][1], len(codes), counts["C"][1], counts["S"][0], counts["C"][0]]
    assert (verdict, counts["C"][1]) == ("supported", 0)
    rivals = table_below("mlsvm-full", '**"often significantly better than" LMNN and ITML')
    codes = [cell.split()[-1] for row in rivals[2:] for cell in row[1:]]
    better, worse = (sum(code[0] == kind for code in codes) for kind in "SC")
    verdict, evidence = found["always competitive with LMNN and ITML"]
    assert (verdict, numbers(evidence)[:2]) == ("contradicted", [worse, len(codes)])
    verdict, evidence = found["often significantly better than LMNN and ITML"]
    assert (verdict, numbers(evidence)[:3]) == ("undecided", [better, len(codes), worse])


def test_the_claims_on_gerrymandering_are_those_of_the_report() -> None:
    """In brackets, the tables have the comparisons with a cell that is not the paper's."""
    found, expected, agree = abstract_claims(), [], []
    for solver in ("CCCP", "SGD"):
        start = f"ours has less error than the others, by {solver}.**"
        head, *rows = table_below("table1-full", start)
        total, less, more = (
            sum(int(row[head.index(name)].split()[0]) for row in rows[1:])
            for name in ("comparisons", "supported", "contradicted")
        )
        (euclid,) = [row for row in rows if row[0] == "before Euclidean"]
        assert euclid[head.index("supported")].split()[0] == "21"
        expected += [less, total, more] if solver == "CCCP" else [less, more]
        learnt = [row[head.index("supported") :] for row in rows[1:] if row[0] != "before Euclidean"]
        own = [[numbers(cell.replace("(", "").replace(")", "")) for cell in row] for row in learnt]
        less, *others = (sum(kinds[at][0] - sum(kinds[at][1:]) for kinds in own) for at in range(3))
        agree += [less, less + sum(others)]
    verdict, evidence = found["excellent results compared to the state of the art"]
    assert (verdict, numbers(evidence)) == ("supported", [*expected, 21, *agree])
    reached = table_below("table1-full", "## What was reached")
    arrived = [row[reached[0].index("arrived")].split(" of ") for row in reached[2:] if ", SGD, k" in row[0]]
    verdict, evidence = found["a fast gradient descent algorithm"]
    assert (verdict, numbers(evidence)) == (
        "undecided",
        [sum(int(each[at]) for each in arrived) for at in (0, 1)],
    )


def test_the_claims_on_glml_are_those_of_the_report() -> None:
    verdict, evidence = abstract_claims()["the metric enhances the nearest neighbour on various data sets"]
    expected = []
    for reading in ("### Features as they come", "### Z-scored features"):
        head, _, gain, *_ = table_below("glml-full", reading)
        assert "always shows a performance gain" in gain[0]
        kinds = {
            name: int(count)
            for name, count in re.findall(r"(\w+) \((\d+)\)", gain[head.index("comparisons")])
        }
        sets = {
            part.split(":")[0]: len(part.split(","))
            for part in gain[head.index("sets, these points")].split("; ")
        }
        against = [kinds.get("contradicted", 0), sum(kinds.values())]
        expected += [sets["supported"], sum(sets.values()), *against] if not expected else against
    assert (verdict, numbers(evidence)) == ("supported", expected)


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        ("consistently better on training data", "NCA method consistently performed better on training data"),
        (
            "test performance is always at or near the top",
            "test data performance was always at or near the top",
        ),
        (
            "the classes are consistently much better separated than by PCA or LDA",
            "the classes are consistently much better separated",
        ),
        ("no effects of overfitting were ever observed", "never observed any effects of over fitting"),
    ],
)
def test_the_claims_on_nca_are_those_of_the_report(claim: str, sentence: str) -> None:
    """A sentence is contradicted if one of its places is; the numbers of sets are those of the counts."""
    verdict, evidence = abstract_claims()[claim]
    head, _, *rows = table_below("nca-full", "## What becomes of the note's sentences")
    (column,) = [at for at, name in enumerate(head) if name.startswith("these points")]
    cells = [row[column] for row in rows if row[0].startswith(f'"{sentence}')]
    verdicts = {cell.split()[0].strip("*") for cell in cells}
    assert verdict == next(kind for kind in ("contradicted", "undecided", "supported") if kind in verdicts)
    sizes = [sum(map(int, re.findall(r"\w \((\d+)\)", cell.split("**")[-1]))) for cell in cells]
    assert [size for size in numbers(evidence) if size in sizes] != []
