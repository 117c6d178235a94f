"""What a golden case stores: a solution, what proves it and only floating point finds, and the wrong metrics.

How it was found does not matter: cases.py computes what is said of it from the numbers that are stored.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

import cvxml
from cvxml.core.bases import is_identity, weighted
from cvxml.core.exact import upward
from cvxml.core.integer_matrices import root_of
from cvxml.core.metric import FloatArray
from cvxml.core.report import Verdict
from cvxml.family.regularizers.base import fractions
from cvxml.family.regularizers.budget import Budget
from cvxml.family.regularizers.combinations import NormOfCombination
from cvxml.family.regularizers.frobenius import Frobenius, missing
from cvxml.family.rows.base import Duals, joined
from cvxml.family.theorem.theorem import Family, in_domain
from cvxml.methods import get
from cvxml.methods.kernel_mlsvm import exact as kernel
from cvxml.methods.plml.blocks import Blocks
from cvxml.methods.ssvm import certify
from cvxml.methods.ssvm.exact import inferred
from cvxml.numbers.rational import plane
from cvxml.oracle.cases import parameters
from cvxml.solvers.family_method import FamilyMethod
from cvxml.solvers.triplet_method import CombinationMethod
from validation.cases.inputs import Definition, Inputs, Mistake

MU = {"mmc": 2}  # times the family's: c is twice its price
UP_TO_A_FACTOR = ("glml", "rca")
BUDGETS = ("mmc", "mmc:diagonal", "dml_eig")


def to_store(definition: Definition, inputs: Inputs) -> dict[str, Any]:
    """ "proof" and "wrong"."""
    start = {} if definition.init is None else {"init": definition.init}
    best = solved(definition.formula, inputs, **start)
    if "not attained" in definition.flags:
        return {"proof": {}, "wrong": []}
    dual = {name: array.tolist() for name, array in best.dual.items()}
    hint = hints(definition.formula, inputs, best.metric, best.dual)
    proof = {**with_root(best.metric), **weights(definition.formula, inputs, best.metric), **dual, **hint}
    return {"proof": proof, "wrong": wrong_metrics(definition, inputs, best.metric)}


def solved(formula: str, inputs: Inputs, **changed: Any) -> Any:
    """The solution, to as many digits as there are; `changed`: other parameters, or another method's."""
    method = get(formula)
    known = (*method.PARAMETERS, *method.SOLVE_PARAMETERS)
    params = {k: v for k, v in {**parameters(inputs), **changed}.items() if k in known}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cvxml.solve(formula, inputs["X"], inputs.get("y"), tol=1e-11, **params)


def with_root(metric: FloatArray) -> dict[str, Any]:
    """The metric and M with M M^T near it, of which the exact interval is."""
    return {"metric": metric.tolist(), "root": root_of(metric).tolist()}


def weights(formula: str, inputs: Inputs, metric: FloatArray) -> dict[str, Any]:
    """Those that a metric stands for, where metrics are combinations of vectors."""
    of = get(formula)
    if not isinstance(of, CombinationMethod):
        return {}
    given = of.instance(inputs["X"], inputs.get("y"), **parameters(inputs))
    found = weighted(metric, given.basis, given.X)
    return {"weights": found.w.tolist()} if found.feasibility.feasible else {}


def hints(formula: str, inputs: Inputs, metric: FloatArray, dual: Any) -> dict[str, Any]:
    """psd: L with G + L L^T near P_+(G). mu: the least with mu S - G psd, rounded upward."""
    of, params = get(formula), parameters(inputs)
    given = of.instance(inputs["X"], inputs.get("y"), **params)
    if formula == "kernel_mlsvm":
        duals = tuple(np.asarray(dual[name]) for name in ("u", "u_index", "w", "w_index"))
        return {"psd": kernel.missing(given, kernel.edges(duals, len(given.X))[0]).tolist()}
    if formula == "ssvm":
        latent, (q, sets) = inferred(given, metric, root_of(metric)).latent, certify.read(given, dual)
        given_duals = [certify.priced(given, q, len(q))]
        family, exact = (certify.step(given, latent, sets, number) for number in (float, Fraction))
        return of_family(formula, exact, in_domain(family, given_duals))
    if not isinstance(of, FamilyMethod):
        return {}
    return of_family(formula, of.member(given, Fraction), in_domain(of.member(given), of.read(given, dual)))


def of_family(formula: str, family: Family, own: Sequence[Duals]) -> dict[str, Any]:
    """The hint of the regularizer, if it takes one, for prices of the domain."""
    R = family.regularizer
    if type(R) not in (Frobenius, Blocks, Budget, NormOfCombination):
        return {}
    X, weights = plane(R.X), []
    for term, duals in zip(family.terms, own, strict=True):
        a = term.loss.exact_duals([Fraction(price) for price in duals.a.tolist()])
        weights.append(term.rows.weights(Duals(np.array(a, dtype=object), duals.key)))
    G = joined(weights)
    if isinstance(R, Blocks):
        each = [missing(*X.outer(part.pairs, fractions(part.w)), 2 * X.at) for part in R.parts(G)]
        return {"psd": np.vstack(each).tolist()}
    if isinstance(R, NormOfCombination):
        return {} if is_identity(R.B) else {"z": R.proposed(G._replace(w=G.w.astype(float))).tolist()}
    if isinstance(R, Frobenius):
        return {"psd": missing(*X.outer(G.pairs, fractions(G.w)), 2 * X.at).tolist()}
    return {"mu": upward(-R.exact_bound(X, G, 1.0) * MU.get(formula, 1))}


def wrong_metrics(definition: Definition, inputs: Inputs, best: FloatArray) -> list[dict[str, Any]]:
    """The definition's mistakes, multiples, one without P_+; with a root where it is a metric within the budget."""
    formula, d, zero = definition.formula, len(best), not best.any()
    found = {name: (why, with_root(metric)) for name, (why, metric) in mistaken(definition, inputs).items()}
    if formula in BUDGETS:
        found["shorter"] = ("0.9 times the optimum", with_root(0.9 * best))
        over = {"metric": (1.1 * best).tolist()}
        found["over budget"] = ("1.1 times the optimum: it spends more than 1", over)
    elif formula == "lfda":  # whose objective is that of the range
        found["backwards"] = ("the features in the reverse order", with_root(best[::-1, ::-1].copy()))
    elif formula in UP_TO_A_FACTOR and "not unique" not in definition.flags:
        found["identity"] = ("Euclid", with_root(np.eye(d)))
    elif formula not in UP_TO_A_FACTOR and zero:
        found["identity"] = ("Euclid, where the optimum is 0", with_root(np.eye(d)))
    elif formula not in UP_TO_A_FACTOR:
        found["longer"] = ("1.1 times the optimum", with_root(1.1 * best))
    member = isinstance(get(formula), FamilyMethod) and formula != "kernel_mlsvm"
    if d > 1 and (member or formula == "mlr"):
        # 1/size, entry by entry, shows that it is not psd
        size = np.sqrt(np.maximum(np.diag(best), 1e-3 * np.diag(best).max() or 1.0))
        bent = best - 1.2 * np.outer(size, size)
        found["not psd"] = ("P_+ is missing", {"metric": bent.tolist()})
    for _, given in found.values():
        if "root" in given:
            given.update(weights(formula, inputs, np.array(given["metric"])))
    return [{"name": name, "why": why, **given} for name, (why, given) in found.items()]


def mistaken(definition: Definition, inputs: Inputs) -> dict[str, tuple[str, FloatArray]]:
    """The metric of somebody who makes a mistake, and why it is one."""
    formula, params, found = definition.formula, parameters(inputs), {}
    for name, mistake in definition.mistakes.items():
        if isinstance(mistake, Mistake):
            metric = solved(mistake.formula or formula, inputs, **mistake.params).metric
            found[name] = (mistake.why, mistake.times * metric)
            continue
        factors = {k: 1 / len(inputs["X"]) if v < 0 else v for k, v in mistake.items()}
        other = {k: params[k] * f if params[k] else f for k, f in factors.items()}
        metric = solved(formula, inputs, **other).metric
        why = ", ".join(f"{k} = {value:.6g} where it is {params[k]:.6g}" for k, value in other.items())
        # where lam or C hardly matters, a mistake in it has the same answer
        report = cvxml.check(formula, inputs["X"], inputs.get("y"), metric, **params)
        if report.verdict in (Verdict.REFUTED, Verdict.CLOSE):
            found[name] = (f"optimal for {why}", metric)
    return found
