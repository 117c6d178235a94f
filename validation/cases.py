"""Write the golden cases: cvxml/cases/*.json, described in docs/oracle.md.

    python validation/cases.py            rewrite every file from its definition and what is stored in it
    python validation/cases.py --check    change nothing; exit code 1 if a file would change
    python validation/cases.py --solve    also solve anew what has no stored solution yet

Stored inputs are the metric, its root M, the dual variables, L, and the wrong metrics: how they were found does not
matter, for what is said of them is computed here, in exact arithmetic (core/exact.py) from the inputs: the interval
that holds the optimum, and by how much a wrong metric is worse at least. Everything but the stored inputs is the same,
byte for byte, on every machine. For methods without an exact mode the figures are stored too, and proved
(case_double.py).
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from case_asks import ASKS
from case_double import judged as judged_in_double
from case_double import to_store
from case_inputs import PROBLEMS as WITH_EXACT_MODE
from case_inputs import Definition
from case_parts import PARTS, Part
from case_relatives import RELATIVES

import cvxml
from cvxml.core.exact import decimal, root_upward
from cvxml.family.bound import Family, in_domain
from cvxml.family.frobenius import missing
from cvxml.family.rational import plane
from cvxml.family.regularizers import fractions
from cvxml.family.rows import Prices
from cvxml.methods import get_exact
from cvxml.methods.kernel_mlsvm import exact as kernel
from cvxml.methods.kernel_mlsvm.instance import instance as kernel_instance
from cvxml.methods.mlsvm.instance import instance as linear_instance
from cvxml.methods.mlsvm.method import METHOD as MLSVM
from cvxml.methods.ssvm.exact import inferred
from cvxml.methods.ssvm.instance import instance as ssvm_instance
from cvxml.methods.ssvm.member import priced, read, step
from cvxml.oracle.cases import FORMAT, VERSION, parameters

PROBLEMS = (*WITH_EXACT_MODE, *RELATIVES)
FOLDER = Path(__file__).parent.parent / "cvxml" / "cases"
TOL = Fraction(1, 10**6)  # "normal": every wrong metric is refuted at it


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
    strangers = {path.stem for path in FOLDER.glob("*.json")} - {d.id for d in (*PROBLEMS, *PARTS)}
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
    if definition.formula in DUALS:
        stored = solved(definition, inputs) if before is None else json.loads(before)
        return as_text(problem(definition, inputs, stored["proof"], stored["wrong"]))
    stored = to_store(definition, inputs) if before is None else json.loads(before)
    return as_text(problem_in_double(definition, inputs, stored))


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


def problem(
    definition: Definition, inputs: dict[str, Any], proof: dict[str, Any], wrong: list[dict[str, Any]]
) -> dict[str, Any]:
    content = {**head(definition, "problem", inputs), "proof": proof}
    if "not attained" in definition.flags:
        return {**content, "reference": {"status": "not attained"}, "wrong": []}
    best = interval(definition.formula, inputs, proof)
    claim = "stationary" if best.of_step else "optimal"
    reference = {
        "claim": claim,
        "interval": [decimal(best.lower_bound, up=False), decimal(best.objective, up=True)],
        "gap": decimal(best.gap, up=True),
        "scale": decimal(best.scale, up=False),
    }
    if definition.formula == "mlsvm":
        reference["radius"] = decimal(Fraction(root_upward(2 * best.gap / Fraction(inputs["lam"]))), up=True)
    assert best.gap <= max(TOL * best.scale, Fraction(1, 10**15)), (definition.id, reference)
    judged = [judge(definition, inputs, entry, best) for entry in wrong]
    return {**content, "reference": reference, "wrong": judged}


def problem_in_double(
    definition: Definition, inputs: dict[str, Any], stored: dict[str, Any]
) -> dict[str, Any]:
    content = {**head(definition, "problem", inputs), "proof": stored["proof"]}
    if "not attained" in definition.flags:
        return {**content, "reference": {"status": "not attained"}, "wrong": []}
    reference, wrong = judged_in_double(definition, inputs, stored)
    return {**content, "reference": reference, "wrong": wrong}


def judge(definition: Definition, inputs: dict[str, Any], entry: dict[str, Any], best: Any) -> dict[str, Any]:
    """What refutes a wrong metric: by how much it is worse, at least, or its least eigenvalue."""
    kept = {name: entry[name] for name in ("name", "why", "metric")}
    if "root" not in entry:
        least = float(np.linalg.eigvalsh(np.array(entry["metric"]))[0])
        assert least < -1e-3 * np.linalg.norm(entry["metric"])
        return {**kept, "least_eigenvalue": float(f"{least:.6e}")}
    theirs = interval(definition.formula, inputs, entry)
    worse_by = theirs.objective - best.objective
    assert worse_by > TOL * best.scale, (definition.id, entry["name"], float(worse_by))
    return {**kept, "root": entry["root"], "worse_by": decimal(worse_by, up=False)}


def interval(formula: str, inputs: dict[str, Any], proof: dict[str, Any]) -> Any:
    """The exact interval of a metric that is given with its root; without a dual only its objective counts."""
    params = parameters(inputs)
    dual = {name: np.array(proof[name]) for name in DUALS[formula] if name in proof}
    dual = dual or no_dual(formula, inputs)
    metric = np.array(proof["metric"])
    given = {"root": proof["root"], **({"psd": proof["psd"]} if "psd" in proof else {})}
    of = get_exact(formula)
    checked = of.instance(inputs["X"], inputs.get("y"), **params)
    return of.exact(checked, of.matrix(checked, metric), dual, **given)


PAIRS = ("u", "u_index", "w", "w_index")
DUALS = {
    "mlsvm": PAIRS,
    "kernel_mlsvm": PAIRS,
    "ssvm": ("q", "q_index"),
    "glml": ("y", "u"),
    "nca": ("R", "interior"),
}


def no_dual(formula: str, inputs: dict[str, Any]) -> dict[str, np.ndarray]:
    """Prices that say nothing: enough for an objective."""
    d = len(inputs["X"][0])
    none, zero = np.zeros(0), np.zeros((d, d))
    pairs = np.zeros((0, 2), dtype=np.intp)
    sets = np.zeros((0, 1 + inputs.get("n_neighbors", 1)), dtype=np.intp)
    return {
        "mlsvm": {"u": none, "u_index": pairs, "w": none, "w_index": pairs},
        "kernel_mlsvm": {"u": none, "u_index": pairs, "w": none, "w_index": pairs},
        "ssvm": {"q": none, "q_index": sets},
        "glml": {"y": np.array([0.0]), "u": np.array([0.0])},
        "nca": {"R": zero, "interior": zero},
    }[formula]


def solved(definition: Definition, inputs: dict[str, Any]) -> dict[str, Any]:
    """A solution and the wrong metrics, to be stored."""
    X, y, formula = inputs["X"], inputs.get("y"), definition.formula
    params = parameters(inputs)
    start = {} if definition.init is None else {"init": definition.init}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        best = cvxml.solve(formula, X, y, tol=1e-11, **params, **start)
    if "not attained" in definition.flags:
        return {"proof": {}, "wrong": []}
    dual = {name: array.tolist() for name, array in best.dual.items()}
    proof = {"metric": best.metric.tolist(), "root": root_of(best.metric), **dual}
    if formula in MISSING:
        proof["psd"] = MISSING[formula](inputs, params, best).tolist()
    return {"proof": proof, "wrong": wrong_metrics(definition, inputs, best.metric)}


def missing_mlsvm(inputs: dict[str, Any], params: dict[str, Any], best: Any) -> np.ndarray:
    """L with G + L L^T near P_+(G)."""
    given = linear_instance(inputs["X"], inputs["y"], **params)
    (prices,) = in_domain(MLSVM.member(given), MLSVM.read(given, best.dual))
    return missing_of(MLSVM.member(given, Fraction), prices)


def missing_of(family: Family, prices: Prices) -> np.ndarray:
    (term,) = family.terms
    a = term.loss.exact_prices([Fraction(price) for price in prices.a.tolist()])
    G = term.rows.weights(Prices(np.array(a, dtype=object), prices.key))
    X = plane(family.regularizer.X)
    return missing(*X.outer(G.pairs, fractions(G.w)), 2 * X.at)


def missing_kernel(inputs: dict[str, Any], params: dict[str, Any], best: Any) -> np.ndarray:
    given = kernel_instance(inputs["X"], inputs["y"], **params)
    prices = tuple(best.dual[name] for name in PAIRS)
    return kernel.missing(given, kernel.edges(prices, len(given.X))[0])


def missing_ssvm(inputs: dict[str, Any], params: dict[str, Any], best: Any) -> np.ndarray:
    p = ssvm_instance(inputs["X"], inputs["y"], **params)
    latent, (q, sets) = inferred(p, best.metric, root_of(best.metric)).latent, read(p, best.dual)
    (prices,) = in_domain(step(p, latent, sets), [priced(p, q, len(q))])
    return missing_of(step(p, latent, sets, Fraction), prices)


MISSING = {"mlsvm": missing_mlsvm, "kernel_mlsvm": missing_kernel, "ssvm": missing_ssvm}


def root_of(metric: np.ndarray) -> list[list[float]]:
    values, vectors = np.linalg.eigh(metric)
    root: list[list[float]] = (vectors * np.sqrt(np.maximum(values, 0.0))).tolist()
    return root


def wrong_metrics(definition: Definition, inputs: dict[str, Any], best: np.ndarray) -> list[dict[str, Any]]:
    """The definition's mistakes, a multiple, and for convex cones a matrix that is not psd."""
    X, y, formula = inputs["X"], inputs.get("y"), definition.formula
    params = parameters(inputs)
    n, d = len(X), len(best)
    found = []
    for name, change in definition.mistakes.items():
        factors = {k: 1 / n if v < 0 else v for k, v in change.items()}
        other = {**params, **{k: params[k] * f if params[k] else f for k, f in factors.items()}}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            metric = cvxml.solve(formula, X, y, tol=1e-11, **other).metric
        why = ", ".join(f"{k} = {other[k]:.6g} where it is {params[k]:.6g}" for k in factors)
        found.append((name, f"optimal for {why}", metric))
    # where lam or C hardly matters, a mistake in it has the same answer
    found = [entry for entry in found if refuted(formula, X, y, entry[2], params)]
    if np.linalg.norm(best) > 0 and formula != "glml":
        found.append(("longer", "1.1 times the optimum", 1.1 * best))
    if np.linalg.norm(best) == 0:
        found.append(("identity", "Euclid, where the optimum is 0", np.eye(d)))
    if formula == "glml" and "not unique" not in definition.flags:
        found.append(("identity", "Euclid", np.eye(d)))
    rows = [
        {"name": name, "why": why, "metric": metric.tolist(), "root": root_of(metric)}
        for name, why, metric in found
    ]
    if formula == "mlsvm" and d > 1:
        bent = best - (0.2 * np.linalg.norm(best) + 0.01) * np.ones((d, d)) / d
        rows.append({"name": "not psd", "why": "P_+ is missing", "metric": bent.tolist()})
    return rows


def refuted(formula: str, X: Any, y: Any, metric: np.ndarray, params: dict[str, Any]) -> bool:
    return cvxml.check(formula, X, y, metric, **params).verdict.value == "refuted"


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
