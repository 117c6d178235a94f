"""What is said of a case whose method has no exact mode: the certificate's interval, in double precision.

It is the method's own bound and objective, widened by twice what the certificate allows for rounding. What is stored
stays as it is while the certificate of the stored metric, widened once, proves it on the machine at hand.
"""

from __future__ import annotations

import math
import warnings
from fractions import Fraction
from typing import Any

import numpy as np
from case_inputs import Definition, Inputs
from case_relatives import Mistake

import cvxml
from cvxml.core.exact import decimal
from cvxml.core.result import Certificate
from cvxml.methods import get
from cvxml.oracle.cases import parameters

TOL = 1e-6  # "normal": every wrong metric is refuted at it
Interval = tuple[Fraction, Fraction]


def judged(
    definition: Definition, inputs: Inputs, stored: dict[str, Any]
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """`reference` and `wrong` of a case with this stored "proof", and "reference" and "wrong" if it has any."""
    best = certificate(definition.formula, inputs, stored["proof"]["metric"], stored["proof"])
    assert best.proves(TOL / 1000), (definition.id, best.rel_gap)
    reference = stored.get("reference", {})
    if not (reference and proved(reference, best)):
        low, high = interval(best, 2)
        ends = [decimal(low, up=False), decimal(high, up=True)]
        reference = {
            "claim": "optimal",
            "arithmetic": "double",
            "interval": ends,
            "gap": between(ends),
            "scale": decimal(Fraction(best.scale), up=False),
        }
        if math.isfinite(best.radius):
            reference["radius"] = decimal(Fraction(2 * best.radius), up=True)
    wrong = [refuted(definition, inputs, entry, stored["proof"], reference) for entry in stored["wrong"]]
    return reference, wrong


def between(ends: list[str]) -> str:
    """The length of an interval as it is written."""
    return decimal(Fraction(ends[1]) - Fraction(ends[0]), up=True)


def interval(proof: Certificate, allowances: int) -> Interval:
    """[lower bound, objective], each moved outward by that many times what rounding may be."""
    beyond = allowances * Fraction(max(proof.rounding, proof.value_rounding))
    return Fraction(proof.lower_bound) - beyond, Fraction(proof.objective) + beyond


def proved(reference: dict[str, Any], proof: Certificate) -> bool:
    """True if the proof at hand says no less than what is stored, and not much more."""
    if reference.get("arithmetic") != "double":
        return False
    low, high = (Fraction(v) for v in reference["interval"])
    inner, outer = interval(proof, 1), interval(proof, 3)
    return (
        outer[0] <= low <= inner[0]
        and inner[1] <= high <= outer[1]
        and reference["gap"] == between(reference["interval"])
        and near(Fraction(reference["scale"]), proof.scale)
        and math.isfinite(proof.radius) == ("radius" in reference)
        and proof.radius <= float(reference.get("radius", math.inf)) <= 3 * proof.radius
    )


def near(a: Fraction, b: float) -> bool:
    """Equal but for what another machine may round."""
    return abs(a - Fraction(b)) <= Fraction(1, 10**9) * abs(a)


def refuted(
    definition: Definition,
    inputs: Inputs,
    entry: dict[str, Any],
    dual: dict[str, Any],
    reference: dict[str, Any],
) -> dict[str, Any]:
    """The entry with what refutes it: by how much it is worse at least, its least eigenvalue, or what it spends."""
    kept = {name: entry[name] for name in ("name", "why", "metric")}
    A = np.array(entry["metric"])
    least = float(np.linalg.eigvalsh(A)[0])
    if least < -1e-3 * float(np.linalg.norm(A)):
        return {**kept, "least_eigenvalue": float(f"{least:.6e}")}
    proof = certificate(definition.formula, inputs, entry["metric"], dual)
    spent = float(getattr(proof.feasibility, "spent", 0.0))
    if not proof.feasibility.feasible:
        assert spent > 1.001, (definition.id, entry["name"])
        return {**kept, "spent": float(f"{spent:.6e}")}
    worse_by = interval(proof, -1)[1] - Fraction(reference["interval"][1])
    assert worse_by > TOL * Fraction(reference["scale"]), (definition.id, entry["name"], float(worse_by))
    stored = entry.get("worse_by")
    if stored is not None and Fraction(stored) <= worse_by and near(worse_by, float(Fraction(stored))):
        return {**kept, "worse_by": stored}
    return {**kept, "worse_by": decimal(worse_by * (1 - Fraction(1, 10**10)), up=False)}


def certificate(formula: str, inputs: Inputs, metric: Any, proof: dict[str, Any]) -> Certificate:
    """Of a metric, from the dual variables in `proof`."""
    dual = {name: np.array(values) for name, values in proof.items() if name != "metric"}
    return cvxml.certify(formula, inputs["X"], inputs.get("y"), metric, dual, **parameters(inputs))


def solved(formula: str, inputs: Inputs, **changed: Any) -> Any:
    """The solution, to as many digits as there are; `changed`: other parameters, or another method."""
    method = get(formula)
    known = (*method.PARAMETERS, *method.SOLVE_PARAMETERS)
    params = {k: v for k, v in {**parameters(inputs), **changed}.items() if k in known}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cvxml.solve(formula, inputs["X"], inputs.get("y"), tol=1e-12, **params)


def to_store(definition: Definition, inputs: Inputs) -> dict[str, Any]:
    """A solution and the wrong metrics: those of the mistakes, multiples, and one that is not psd."""
    best = solved(definition.formula, inputs)
    if "not attained" in definition.flags:
        return {"proof": {}, "wrong": []}
    dual = {name: array.tolist() for name, array in best.dual.items()}
    budget = hasattr(best.certificate.feasibility, "spent")
    found: dict[str, tuple[str, Any]] = {
        name: (mistake.why, metric_of(mistake, definition, inputs))
        for name, mistake in definition.mistakes.items()
    }
    if budget:
        found["shorter"] = ("0.9 times the optimum", 0.9 * best.metric)
        found["over budget"] = ("1.1 times the optimum: it spends more than 1", 1.1 * best.metric)
    else:
        found["longer"] = ("1.1 times the optimum", 1.1 * best.metric)
    d = len(best.metric)
    if d > 1:
        size = np.sqrt(np.maximum(np.diag(best.metric), 1e-3 * np.diag(best.metric).max()))
        found["not psd"] = ("P_+ is missing", best.metric - 1.2 * np.outer(size, size))
    wrong = [{"name": k, "why": why, "metric": metric.tolist()} for k, (why, metric) in found.items()]
    return {"proof": {"metric": best.metric.tolist(), **dual}, "wrong": wrong}


def metric_of(mistake: Mistake, definition: Definition, inputs: Inputs) -> Any:
    """The metric of somebody who makes the mistake."""
    return mistake.times * solved(mistake.formula or definition.formula, inputs, **mistake.params).metric
