"""Figures that remarks in the reports quote and no table has are those of `python -m validation.experiments.looks`."""

from __future__ import annotations

import re

import pytest

from cvxml import datasets
from validation.experiments import gerrymandering, glml, looks
from validation.experiments.gerrymandering_report import REMARKS as GERRYMANDERING
from validation.experiments.glml_report import REMARKS as GLML
from validation.experiments.mlsvm_report import REMARKS as MLSVM


def quoted(text: str, *patterns: str) -> list[str]:
    """The numbers that stand where a pattern has its group."""
    said = " ".join(text.split())
    return [re.search(pattern, said)[1] for pattern in patterns]  # type: ignore[index]


QUOTED = {
    "spambase": quoted(
        MLSVM["spambase"], *(rf"([\d.]+)(?: per cent)? of {re.escape(name)}" for name in looks.SCALINGS)
    ),
    "office_dslr": quoted(gerrymandering.WHAT, r"as counts it has (\d+),", r"Euclidean error of (\d+) at"),
    "office_caltech": quoted(
        gerrymandering.WHAT, *(rf"deviations of (?:[\d.]+, ){{{i}}}([\d.]+)" for i in range(3))
    ),
    "letter": quoted(GERRYMANDERING["letter", "LMNN"], r"from 500 it has (\S+) at"),
    "usps": quoted(
        GERRYMANDERING["usps", "Euclidean"], *(rf"z-scores \((?:[\d.]+, ){{{i}}}([\d.]+)" for i in range(3))
    ),
    "ionosphere": quoted(
        GLML["Bayes", "ionosphere"], r"has (\S+) %", r"and (\S+) % with 0.01", r"Euclid (\S+) %"
    ),
    "german_ida": quoted(
        GLML["Bayes", "german_ida"], r"has (\S+) %", r"and (\S+) % with 1 ", r"Euclid (\S+) %"
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", QUOTED)
def test_figures_of_remarks(name: str) -> None:
    if name not in datasets.names():
        pytest.skip("CVXML_DATA names no folder with the papers' data sets")
    found = looks.LOOKS[name]()
    assert len(QUOTED[name]) == len(found)
    for text, value in zip(QUOTED[name], found.values(), strict=True):
        assert f"{value:.{len(text.partition('.')[2])}f}" == text, (name, found)


@pytest.mark.slow
def test_the_class_that_ida_sets_against_the_others() -> None:
    found = looks.waveform()
    ours, other = quoted(
        glml.WHAT, r"errs there in (\S+) %", r"and in (\S+) % for the class of the second and third"
    )
    assert (f"{found['class 1']:.1f}", f"{found['class 2']:.1f}") == (ours, other)
