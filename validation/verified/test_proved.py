"""Coq proves the theorems again, if it is installed, and extracts the committed program.

Without Coq, the other tests compare the sources, the page and the program.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from cvxml.core.metric import FloatArray
from cvxml.methods.ssvm import algorithms, inference
from validation.verified.built import HERE, without_comments

SOURCES = sorted(HERE.glob("*.v"))
# of Coq's real numbers, which are Dedekind cuts
AXIOMS = {"ClassicalDedekindReals.sig_forall_dec", "FunctionalExtensionality.functional_extensionality_dep"}
# of Coq's exp and ln: the theorems of the files below that begin with Exponentials.v use them too
OF_LOGARITHMS = {"ClassicalDedekindReals.sig_not_dec", "Classical_Prop.classic"}
FILES_OF_LOGARITHMS = (
    "Exponentials.v",
    "Softmaxes.v",
    "Logistic.v",
    "Nca.v",
    "Boostmetric.v",
    "Logdet.v",
    "Itml.v",
    "Sdml.v",
    "Lsml.v",
)
# Coq's square root uses one of these two
OF_ROOTS = {"ClassicalDedekindReals.sig_not_dec"}
FILES_OF_ROOTS = ("Mmc.v",)
OF_GROUPS: dict[str, set[str]] = {
    "without_axioms": set(),
    "with_real_numbers": AXIOMS,
    "with_roots": AXIOMS | OF_ROOTS,
    "with_logarithms": AXIOMS | OF_LOGARITHMS,
}
THEOREM = re.compile(r"^Theorem (\w+)\b", re.MULTILINE)
STEPS = {"triplets_sound", "targets_in_order_correct"}  # parts of the proofs of other theorems


def groups() -> dict[str, list[str]]:
    """Return the groups of theorems in Assumptions.v, in order; the axioms of each group are printed together."""
    text = (HERE / "Assumptions.v").read_text(encoding="utf-8")
    found = re.findall(r"^Definition (\w+) :=\s*\((.*?)\)\.$", text, re.DOTALL | re.MULTILINE)
    assert re.findall(r"^Print Assumptions (\w+)\.$", text, re.MULTILINE) == [name for name, _ in found]
    return {name: re.findall(r"\w+", listed) for name, listed in found}


def of_files(files: tuple[str, ...]) -> set[str]:
    """Return the theorems in some files, except those that need no axioms (their names end with _inside)."""
    found = {name for file in files for name in THEOREM.findall((HERE / file).read_text(encoding="utf-8"))}
    return {name for name in found if not name.endswith("_inside")}


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_nothing_is_assumed_or_left_out(path: Path) -> None:
    words = re.findall(r"\w+", without_comments(path.read_text(encoding="utf-8")))
    assert not {"Admitted", "admit", "Axiom", "Axioms", "Parameter", "Parameters", "Conjecture", "Abort"} & {
        *words
    }
    assert not {"Hypothesis", "Hypotheses", "Variable", "Variables", "Context", "bypass_check"} & {*words}


def test_every_theorem_is_in_the_group_of_its_axioms() -> None:
    """The axioms of a group are those of all its theorems together."""
    proved = {name for path in SOURCES for name in THEOREM.findall(path.read_text(encoding="utf-8"))} - STEPS
    of = groups()
    assert sorted(proved) == sorted(name for names in of.values() for name in names)
    assert {*of["without_axioms"]} == {name for name in proved if name.endswith("_inside")}
    assert {*of["with_logarithms"]} == of_files(FILES_OF_LOGARITHMS)
    assert {*of["with_roots"]} == of_files(FILES_OF_ROOTS)


def test_the_library_agrees_with_what_is_proved_of_the_printed_algorithms() -> None:
    text = (HERE / "Greedy.v").read_text(encoding="utf-8")

    def nearest(name: str, value: Callable[[int], int], k: int) -> FloatArray:
        """Return the sorted distances (1, R, k) of each of R classes, from a list of pairs (class, number) in Greedy.v.

        value: the distance of a number.
        """
        found = re.search(rf"^Definition {name} : list \(Z \* Z\) := \[(.*)\]\.$", text, re.MULTILINE)
        assert found
        points = [(int(c), value(int(x))) for c, x in re.findall(r"\((-?\d+), (-?\d+)\)", found[1])]
        D = np.full((1, 1 + max(c for c, _ in points), k), np.inf)
        for c in range(D.shape[1]):
            listed = sorted(x for own, x in points if own == c)
            D[0, c, : len(listed)] = listed
        return D

    line = nearest("line", lambda x: x * x, 5)
    assert algorithms.table(line, 1)[0][0, 0] == 363
    assert inference.table(line, 1).cost[0, 0] == 323
    D, Lam = nearest("pairs", int, 2), np.array([0, 100])
    assert (Lam - algorithms.table(D, 1)[0][0]).max() == -30
    assert (Lam - inference.table(D, 0).cost[0]).max() == 81


@pytest.mark.slow
def test_coq_proves_it_and_extracts_the_committed_program(tmp_path: Path) -> None:
    if shutil.which("coqc") is None or shutil.which("coqchk") is None:
        pytest.skip("no Coq: the theorems are not proved anew")
    done = subprocess.run(
        [str(HERE / "prove.sh"), str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assumptions, checked = done.stdout.split("CONTEXT SUMMARY")
    # what is said of a theorem begins with one of these lines; its axioms follow
    parts = re.split(r"^(Axioms:|Closed under the global context)$", assumptions, flags=re.MULTILINE)[1:]
    for name, axioms in zip(groups(), parts[1::2], strict=True):
        uses = {line.split()[0] for line in axioms.splitlines() if line[:1].strip()}
        assert uses == OF_GROUPS[name], name  # as the page says
    listed = checked.split("* Axioms:")[1].split("* Constants")[0].split()
    assert {".".join(name.split(".")[-2:]) for name in listed} <= AXIOMS | OF_LOGARITHMS
    assert "Verified." not in checked  # no axiom of ours
    assert "relying on type-in-type: <none>" in checked
    assert "relying on unsafe (co)fixpoints: <none>" in checked
    version = subprocess.run(["coqc", "--version"], capture_output=True, text=True, check=True).stdout
    if "8.16" not in version:
        pytest.skip(f"another Coq may extract it in other words: {version.splitlines()[0]}")
    for name in ("verified.ml", "verified.mli"):
        assert (tmp_path / name).read_bytes() == (HERE / "program" / name).read_bytes()


def test_the_page_names_the_axioms() -> None:
    page = (HERE.parents[1] / "docs" / "verified.md").read_text(encoding="utf-8")
    assert {name.split(".")[-1] for name in AXIOMS | OF_LOGARITHMS} <= {*re.findall(r"`(\w+)`", page)}


def test_no_file_that_a_build_writes_is_kept() -> None:
    listed = subprocess.run(
        ["git", "ls-files", str(HERE)], cwd=HERE, capture_output=True, text=True, check=False
    )
    if listed.returncode:
        pytest.skip("no repository: what it keeps cannot be listed")
    kept = {Path(name).name for name in listed.stdout.split()}
    assert {name for name in kept if name.startswith(".")} <= {".gitignore"}
    assert not {
        name for name in kept if Path(name).suffix in {".vo", ".vok", ".vos", ".glob", ".aux", ".cache"}
    }
