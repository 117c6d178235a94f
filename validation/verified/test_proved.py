"""The theorems are proved anew where there is a Coq, and what is built without one is what they are about."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from validation.verified.built import HERE, without_comments

SOURCES = sorted(HERE.glob("*.v"))
# of Coq's real numbers, which are Dedekind cuts
AXIOMS = {"ClassicalDedekindReals.sig_forall_dec", "FunctionalExtensionality.functional_extensionality_dep"}
# which coqchk has besides: the library of reals has them, and no theorem here rests on them
LOADED = {"ClassicalDedekindReals.sig_not_dec", "Classical_Prop.classic"}
THEOREM = re.compile(r"^Theorem (\w+_sound)\b", re.MULTILINE)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_nothing_is_assumed_or_left_out(path: Path) -> None:
    words = re.findall(r"\w+", without_comments(path.read_text(encoding="utf-8")))
    assert not {"Admitted", "admit", "Axiom", "Axioms", "Parameter", "Parameters", "Conjecture", "Abort"} & {
        *words
    }
    assert not {"Hypothesis", "Hypotheses", "Variable", "Variables", "Context", "bypass_check"} & {*words}


def test_every_theorem_has_its_assumptions_printed() -> None:
    proved = {name for path in SOURCES for name in THEOREM.findall(path.read_text(encoding="utf-8"))}
    printed = re.findall(
        r"^Print Assumptions (\w+)\.$", (HERE / "Assumptions.v").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert proved - {"triplets_sound"} == {*printed}  # which is a step of others


@pytest.mark.slow
def test_coq_proves_it_and_extracts_the_committed_program(tmp_path: Path) -> None:
    if shutil.which("coqc") is None or shutil.which("coqchk") is None:
        pytest.skip("no Coq: the theorems are not proved anew")
    done = subprocess.run(
        [str(HERE / "prove.sh"), str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assumptions, checked = done.stdout.split("CONTEXT SUMMARY")
    of_each = assumptions.split("Axioms:")[1:]
    printed = (HERE / "Assumptions.v").read_text(encoding="utf-8").count("Print Assumptions")
    assert len(of_each) == printed
    for axioms in of_each:
        assert {line.split()[0] for line in axioms.splitlines() if line[:1].strip()} <= AXIOMS
    listed = checked.split("* Axioms:")[1].split("* Constants")[0].split()
    assert {".".join(name.split(".")[-2:]) for name in listed} <= AXIOMS | LOADED
    assert "Verified." not in checked  # no axiom of ours
    assert "relying on type-in-type: <none>" in checked
    assert "relying on unsafe (co)fixpoints: <none>" in checked
    version = subprocess.run(["coqc", "--version"], capture_output=True, text=True, check=True).stdout
    if "8.16" not in version:
        pytest.skip(f"another Coq may extract it in other words: {version.splitlines()[0]}")
    for name in ("verified.ml", "verified.mli"):
        assert (tmp_path / name).read_bytes() == (HERE / "program" / name).read_bytes()
