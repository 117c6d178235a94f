"""Write the golden cases: cvxml/cases/*.json, described in docs/oracle.md.

    python -m validation.cases            rewrite every file from its definition and what is stored in it
    python -m validation.cases --check    change nothing; exit code 1 if a file would change
    python -m validation.cases --solve    also solve anew what has no stored solution yet

Stored are the metric, its root M, weights of vectors, the dual variables, L, z or mu, and the wrong metrics
(case_store.py): how they were found does not matter, for what is said of them is computed here, in exact arithmetic
(core/exact.py) from the inputs: the interval that holds the optimum, the radius, and by how much a wrong metric is
worse at least. All of it is the same, byte for byte, on every machine.
"""

from __future__ import annotations

import argparse
import json
import sys
from fractions import Fraction
from typing import Any

import numpy as np

from cvxml.core.exact import Exact, decimal, flint, scaled
from cvxml.core.integer_matrices import distance_to_square, is_psd, whole
from cvxml.core.metric import FloatArray
from cvxml.family.regularizers.budget import Budget
from cvxml.family.theorem.theorem import Family
from cvxml.methods import get_exact
from cvxml.numbers.rational import Squares, least_factor, plane
from cvxml.oracle.cases import FOLDER, FORMAT, VERSION, case_files, parameters
from cvxml.solvers.family_method import FamilyMethod
from validation.cases.asks import ASKS
from validation.cases.inputs import PROBLEMS as OWN
from validation.cases.inputs import Definition, Inputs
from validation.cases.pairs import BY_PAIRS
from validation.cases.parts import PARTS, Part
from validation.cases.radius import radius
from validation.cases.store import MU, to_store
from validation.cases.triplets import BY_TRIPLETS

PROBLEMS = (*OWN, *BY_TRIPLETS, *BY_PAIRS)
TOL = Fraction(1, 10**6)  # "normal": every wrong metric is refuted at it
NEAR = 1e-12  # of a metric, what M M^T may be away from it
NO_PRICES = ("metric", "root", "weights", "psd", "z", "mu")  # of a proof


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--check", action="store_true", help="change nothing; exit code 1 if a file would change"
    )
    parser.add_argument("--solve", action="store_true", help="solve what has no stored solution yet")
    options = parser.parse_args()
    changed = []
    for definition in (*PROBLEMS, *PARTS):
        path = FOLDER / f"{definition.id}.json"
        before = path.read_text(encoding="utf-8") if path.exists() else None
        text = written(definition, before, options.solve)
        if text != before:
            changed.append(definition.id)
            if not options.check:
                path.write_text(text, encoding="utf-8")
    strangers = {path.stem for path in case_files(FOLDER)} - {d.id for d in (*PROBLEMS, *PARTS)}
    for name in (*changed, *sorted(strangers)):
        print(
            name, "has no definition" if name in strangers else "would change" if options.check else "written"
        )
    print(f"{len(PROBLEMS)} problems and {len(PARTS)} parts; {len(changed)} changed")
    return 1 if strangers or (options.check and changed) else 0


def written(definition: Definition | Part, before: str | None, solve: bool) -> str:
    """The text of the file of a definition, given the text it has now."""
    if isinstance(definition, Part):
        return as_text(part(definition))
    if before is None and not solve:
        raise SystemExit(f"{definition.id} has no stored solution: run again with --solve")
    inputs = definition.inputs()
    stored = to_store(definition, inputs) if before is None else json.loads(before)
    return as_text(problem(definition, inputs, stored))


def part(definition: Part) -> dict[str, Any]:
    inputs = definition.inputs()
    return {
        **head(definition, "part", inputs),
        "answer": definition.answer(inputs),
        "sets": list(definition.sets),
        "tolerance": definition.tolerance,
    }


def head(definition: Definition | Part, kind: str, inputs: dict[str, Any]) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "version": VERSION,
        "id": definition.id,
        "kind": kind,
        "formula": definition.formula,
        "title": definition.title,
        "flags": list(definition.flags),
        "asks": ASKS[definition.formula],
        "inputs": inputs,
        "hex": as_hex(inputs),
    }


def as_hex(value: Any) -> Any:
    """The same structure with every float in hexadecimal, and nothing else in it."""
    if isinstance(value, dict):
        found = {name: as_hex(entry) for name, entry in value.items()}
        return {name: entry for name, entry in found.items() if entry is not None} or None
    if isinstance(value, list):
        entries = [as_hex(float(v) if isinstance(v, int) and has_float(value) else v) for v in value]
        return None if any(entry is None for entry in entries) or not entries else entries
    return value.hex() if isinstance(value, float) else None


def has_float(values: list[Any]) -> bool:
    return any(isinstance(v, float) for v in values)


def problem(definition: Definition, inputs: Inputs, stored: dict[str, Any]) -> dict[str, Any]:
    """Of what is stored: "proof" and "wrong"."""
    content = {**head(definition, "problem", inputs), "proof": stored["proof"]}
    if "not attained" in definition.flags:
        return {**content, "reference": {"status": "not attained"}, "wrong": []}
    case = Stored(definition, inputs, stored["proof"])
    best = case.interval(stored["proof"])
    reference = {
        "claim": "stationary" if best.of_step else "optimal",
        "interval": [decimal(best.lower_bound, up=False), decimal(best.objective, up=True)],
        "gap": decimal(best.gap, up=True),
        "scale": decimal(best.scale, up=False),
    }
    far = case.radius(best)
    if far is not None:
        reference["radius"] = decimal(far, up=True)
    assert best.gap <= max(TOL * best.scale, Fraction(1, 10**15)), (definition.id, reference)
    return {**content, "reference": reference, "wrong": [case.refuted(w, best) for w in stored["wrong"]]}


class Stored:
    """What is said of the numbers that are stored, in exact arithmetic: no digit of it is floating point's."""

    def __init__(self, definition: Definition, inputs: Inputs, proof: dict[str, Any]):
        self.id, self.proof = definition.id, proof
        self.of = get_exact(definition.formula)
        self.given = self.of.instance(inputs["X"], inputs.get("y"), **parameters(inputs))

    @property
    def family(self) -> Family | None:
        """With exact constants; None of a method that is no member, or one in the features of a kernel."""
        is_member = isinstance(self.of, FamilyMethod) and self.of.id != "kernel_mlsvm"
        return self.of.member(self.given, Fraction) if is_member else None

    def interval(self, of: dict[str, Any]) -> Exact:
        """That of a metric with its root, by the prices of the proof."""
        dual = {name: np.array(values) for name, values in self.proof.items() if name not in NO_PRICES}
        metric, hint = (
            self.of.matrix(self.given, np.array(of["metric"])),
            self.proof.get("psd", self.proof.get("z")),
        )
        far = distance_to_square(np.array(of["metric"]), np.array(of["root"]))
        assert far <= NEAR * np.abs(of["metric"]).max(), (self.id, far)
        if "mu" in self.proof:
            hint = self.proof["mu"] / MU.get(self.of.id, 1)
        return self.of.exact_as_stored(
            self.given, metric, dual, root=of.get("weights", of["root"]), hint=hint
        )

    def radius(self, best: Exact) -> Fraction | None:
        """How far the optimum may be from the metric, where that is known."""
        if self.family is None:
            return None
        A, root = np.array(self.proof["metric"]), self.proof.get("weights", self.proof["root"])
        return radius(self.family, self.family.regularizer.exact_metric(A, root), best)

    def refuted(self, entry: dict[str, Any], best: Exact) -> dict[str, Any]:
        """The entry with what refutes it: by how much it is worse at least, its least eigenvalue, or what it spends."""
        kept = {name: entry[name] for name in ("name", "why", "metric")}
        if "root" in entry:
            worse_by = self.interval(entry).objective - best.objective
            assert worse_by > TOL * best.scale, (self.id, entry["name"], float(worse_by))
            proof = {name: entry[name] for name in ("root", "weights") if name in entry}
            return {**kept, **proof, "worse_by": decimal(worse_by, up=False)}
        A = np.array(entry["metric"])
        least = least_eigenvalue(A)
        if least < -Fraction(1, 1000) * Fraction(np.abs(A).max()):
            return {**kept, "least_eigenvalue": float(f"{float(least):.6e}")}
        spent = self.spent(A)
        assert spent > 1 + Fraction(1, 1000), (self.id, entry["name"], float(spent))
        return {**kept, "spent": float(f"{float(spent):.6e}")}

    def spent(self, A: FloatArray) -> Fraction:
        """The sum over similar pairs; 0 where there is no budget."""
        within = None if self.family is None else self.family.regularizer
        if not isinstance(within, Budget):
            return Fraction(0)
        D = plane(within.X).distances(Squares(*whole(A), 0.0))
        return D.total(within.similar, [Fraction(1)] * len(within.similar))


def least_eigenvalue(A: FloatArray) -> Fraction:
    """That of the symmetric part, or next to it and below; 0 where none is negative."""
    V, at = whole(A)
    twice, one = V + V.transpose(), flint().fmpz_mat(np.eye(len(A), dtype=int).tolist())
    if is_psd(twice):
        return Fraction(0)
    shift = least_factor(lambda f: is_psd(twice * f.denominator + one * (2 * f.numerator)), Fraction(1))
    return -shift * scaled(1, at)


def as_text(content: dict[str, Any]) -> str:
    """JSON with one row of numbers a line."""
    return compact(content, "") + "\n"


def compact(value: Any, indent: str) -> str:
    deeper = indent + " "
    if isinstance(value, dict):
        rows = [f"{deeper}{json.dumps(k)}: {compact(v, deeper)}" for k, v in value.items()]
        return "{\n" + ",\n".join(rows) + "\n" + indent + "}" if rows else "{}"
    if isinstance(value, list) and any(isinstance(v, (list, dict)) for v in value):
        return "[\n" + ",\n".join(deeper + compact(v, deeper) for v in value) + "\n" + indent + "]"
    return json.dumps(value, allow_nan=False)


if __name__ == "__main__":
    sys.exit(main())
