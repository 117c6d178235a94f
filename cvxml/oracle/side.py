"""Write the side file of a saved solution, from which validation/verified/ proves an interval for the optimum.

The side file is the JSON that `cvxml certify FILE --side SIDE.json` writes. The verified checker, a program with a
proof that Coq checked, reads the data, lists and parameters from the saved file itself. The side file adds the dual
variables (field "prices"), as integers over one denominator (field "over"). It also adds lists of vectors u. A sum of
matrices u u^T is psd: one such sum replaces the metric, another one proves the regularizer's part of the lower bound.
The checker verifies every entry, so a wrong entry cannot lead to a wrong result.

The dual variables are those that exact arithmetic (family/theorem/exact.py) has made feasible. So the checker's
interval equals that of `certify --exact` to the last digit, except for these methods:

- MCML, BoostMetric and LDML (logarithms.py), and ITML, SDML and LSML (side_logdet.py): logarithms are rounded outward.
- NCA (side_nca.py): logarithms are rounded outward, and the weights of the convex step are rounded down.
- MMC: the checker rounds square roots and reciprocals outward.
- Gerrymandering with a tree (methods/ssvm/exact_tree.py): dual variables are rounded down. Exact mode has no tree.
- GLML (methods/glml/rational.py): B is a matrix of floats; exact mode computes B in intervals.
- GMML (`_of_mean`): the matrix F = S Y replaces the dual variable Y. Exact mode encloses each end in an interval.

The functions of this file return entries, {name of a field: its value}. Most integers are written as hexadecimal texts.
`duals` are the dual variables as fractions, and A is the metric (d, d). `whole` returns the numerator of a number over
the denominator "over". A `Family` is a problem of a regularizer and losses of distances.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

import numpy as np

from cvxml.core.balls import precision
from cvxml.core.bases import weighted
from cvxml.core.inputs import dual_array
from cvxml.core.integer_matrices import is_psd, rationals, root_of, symmetric_whole
from cvxml.core.metric import FloatArray
from cvxml.core.saved import SavedSolution
from cvxml.core.threads import one_blas_thread
from cvxml.family.regularizers.base import Regularizer, fractions
from cvxml.family.regularizers.budget import Budget
from cvxml.family.regularizers.combinations import Combinations, NormOfCombination
from cvxml.family.regularizers.frobenius import Frobenius, missing
from cvxml.family.regularizers.linear import Linear
from cvxml.family.regularizers.trace import Trace
from cvxml.family.rows.base import Duals, Weights, joined
from cvxml.family.rows.by_point import ByPoint
from cvxml.family.theorem.exact import feasible_duals
from cvxml.family.theorem.theorem import Family, prove
from cvxml.family.unlisted.all_budget import Across
from cvxml.methods import get_exact, gmml
from cvxml.methods.boostmetric.one_group import Together
from cvxml.methods.glml import rational
from cvxml.methods.glml.instance import Instance as Local
from cvxml.methods.glml.proved_B import proved_B
from cvxml.methods.ldml.logistic import Labelled, Logistic, best
from cvxml.methods.ssvm.exact import exact_step
from cvxml.methods.ssvm.exact_tree import ExactLeaf, exact_cases
from cvxml.methods.ssvm.instance import Instance
from cvxml.numbers.rational import Plane, judged, plane
from cvxml.oracle.logarithms import DIGITS, log_above, log_sum_above, softplus_above
from cvxml.oracle.saved import params_of
from cvxml.oracle.side_logdet import of_box, of_family
from cvxml.oracle.side_nca import pickings
from cvxml.solvers.family_method import FamilyMethod

FORMAT, VERSION = "cvxml-side", 1
Whole = Callable[[Fraction], str]


def write_side(saved: SavedSolution, path: str | Path) -> None:
    content = json.dumps(side(saved), separators=(",", ":"), allow_nan=False)
    Path(path).write_text(content + "\n", encoding="utf-8")


def side(saved: SavedSolution) -> dict[str, Any]:
    """Return the content of the side file for a saved solution, as plain data for JSON.

    Raises ValueError if the checker does not support the method, or one of its parameters.
    """
    if saved.method not in SUPPORTED:
        raise ValueError(f"the verified checker knows {', '.join(SUPPORTED)}, not {saved.method}")
    of, params = get_exact(saved.method), params_of(saved)
    given = of.instance(saved.X, saved.y if np.any(saved.y) else None, **params)
    head = {"format": FORMAT, "version": VERSION, "method": saved.method}
    with one_blas_thread(), precision():
        if saved.method == LOCAL:
            return head | _of_local(given, saved)
        if saved.method == MEAN:
            return head | _of_mean(given, saved)
        if saved.method in DETERMINANTS:
            return head | DETERMINANTS[saved.method](given, saved) | {"root": _root(saved.metric)}
        if saved.method == STEP:
            return head | (_of_tree if "tree" in saved.dual else _of_step)(given, saved)
        if saved.method == PICKING:
            entries, shares = pickings(given, saved)
            return head | entries | {"root": _columns(shares.root), "factor": NO_VECTORS}
        return head | _of_family(of, given, saved)


def _of_family(of: Any, given: Any, saved: SavedSolution) -> dict[str, Any]:
    assert isinstance(of, FamilyMethod)
    metric = of.matrix(given, saved.metric)
    member, family = of.member(given), of.member(given, Fraction)
    proof = prove(member, of.read(given, saved.dual), of.strict(given, saved.dual))
    inner = None if member.anchors is None else member.anchors.strict
    (duals,) = feasible_duals(family, proof.duals, None if inner is None else inner.duals)
    if saved.method in LOGARITHMS:
        return LOGARITHMS[saved.method](family, duals, metric)
    over, whole = _over(duals)
    return {
        "over": over,
        "prices": PRICES[saved.method](family, duals, whole),
        **_hints(family, duals, metric),
    }


def _of_softmaxes(family: Family, duals: Duals, A: FloatArray) -> dict[str, Any]:
    """Return the entries for MCML; "prices" has an entry [i, shares, logarithm] for each point i.

    `shares` lists [k, logarithm of a, a] for each point k with a positive dual variable a in the softmax of i. The last
    entry is the logarithm of the sum of exponentials in the loss of i at the metric, each divided by the largest one.
    The number "over" is a common denominator of the dual variables and of the weights 1 / (n_c - 1), for classes of n_c
    points.
    """
    rows, regularizer = cast(ByPoint, family.terms[0].rows), cast(Linear, family.regularizer)
    at = regularizer.exact_distances(plane(regularizer.X), regularizer.exact_metric(A, None))
    over, whole = _over(duals, [w / 2 for w in regularizer.C.w.tolist()])
    prices = []
    for i, row in zip(rows.points.tolist(), rows.table(duals).tolist(), strict=True):
        shares = [[k, hex(log_above(a)), whole(a)] for k, a in enumerate(row) if a > 0]
        log_sum = log_sum_above([d for k, d in enumerate(at.D[i]) if k != i], at.unit)
        prices.append([i, shares, hex(log_sum)])
    return {"over": over, "prices": prices, "logs_over": hex(1 << DIGITS), **_hints(family, duals, A)}


def _of_shares(family: Family, duals: Duals, A: FloatArray) -> dict[str, Any]:
    """Return the entries for BoostMetric; "prices" lists [i, j, l, logarithm of the dual variable, dual variable].

    Only triplets with a positive dual variable are listed, sorted. The field "log_sum" is the logarithm of the sum of
    exponentials over all triplets at the metric, each divided by the largest one.
    """
    rows, regularizer = cast(Together, family.terms[0].rows), cast(Trace, family.regularizer)
    at = regularizer.exact_distances(plane(regularizer.X), regularizer.exact_metric(A, None))
    over, whole = _over(duals)
    shares = sorted(
        (t, a) for t, a in zip(rows.listed.tolist(), rows.table(duals).tolist(), strict=True) if a > 0
    )
    return {
        "over": over,
        "prices": [[*t, hex(log_above(a)), whole(a)] for t, a in shares],
        "log_sum": hex(log_sum_above(list(rows.exactly(at.D)), at.unit)),
        "logs_over": hex(1 << DIGITS),
        **_hints(family, duals, A),
    }


def _of_step(p: Instance, saved: SavedSolution) -> dict[str, Any]:
    """Return the entries for the convex step of gerrymandering at the metric.

    A set is a list of k neighbours of a point. The list "latent" has for each point the set h* that the step keeps
    fixed: the best neighbours that let its class win the vote. The list "prices" has an entry [i, list of [set, dual
    variable]] for each point i. Only sets with a positive dual variable are listed, and only points with such a set.
    """
    family, duals, latent = exact_step(p, saved.metric, saved.dual)
    over, whole = _over(duals)
    rows: Any = family.terms[0].rows
    of: dict[int, list[list[Any]]] = {}
    for (i, *h), a in zip(rows.listed[duals.key].tolist(), duals.a.tolist(), strict=True):
        if a > 0:
            of.setdefault(i, []).append([sorted(h), whole(a)])
    return {
        "over": over,
        "prices": [[i, sets] for i, sets in sorted(of.items())],
        "latent": np.sort(latent, axis=1).tolist(),
        **_hints(family, duals, saved.metric),
    }


def _of_tree(p: Instance, saved: SavedSolution) -> dict[str, Any]:
    """Return the entries for the global optimum of gerrymandering.

    "cases" lists the nodes of a tree of cases. A branch (i, j) asks whether j is in the set h* of point i, the set with
    which the class of i wins the vote. The nodes with j in h* follow it, and then those without. A leaf is a dict with
    the dual variables that prove a lower bound in its case: "prices" of sets, "exchanges", and "factor" (`_factor`).
    """
    nodes = exact_cases(p, saved.metric, saved.dual)
    norm, X = Frobenius(p.X, Fraction(2)), plane(p.X)
    leaves = [node for node in nodes if isinstance(node, ExactLeaf)]
    over = math.lcm(*(each.denominator for leaf in leaves for each in (*leaf.a, *leaf.nu)))

    def entry(node: tuple[int, int] | ExactLeaf) -> Any:
        if not isinstance(node, ExactLeaf):
            return list(node)
        exchanges = zip(node.exchanges.tolist(), node.nu, strict=True)
        return {
            "prices": [[i, [[h, hex(int(a * over))] for h, a in sets]] for i, sets in node.of_points.items()],
            "exchanges": [[*exchange, hex(int(nu * over))] for exchange, nu in exchanges if nu > 0],
            "factor": _factor(norm, X, node.G),
        }

    return {"over": hex(over), "root": _root(saved.metric), "cases": [entry(node) for node in nodes]}


def _of_local(p: Local, saved: SavedSolution) -> dict[str, Any]:
    """Return the entries for GLML at one query: the matrix B (d, d), "trace" and "scale".

    The problem is to minimise (tr M B)^2 over the feasible M, the positive definite M with determinant at least 1. For
    the metric A, M is A^-1. "trace" is a lower bound of tr M B for every feasible M. "scale" is a factor c for which
    c A^-1 is feasible. Both are integers over "over". Raises ValueError for more than one query.
    """
    if not p.one:
        raise ValueError(
            "the verified checker takes a solution of glml for one query only; solve for each query, and give one "
            "solution"
        )
    found = rational.bounds(proved_B(p).B[0], np.asarray(saved.metric))
    return {
        "over": hex(rational.OVER),
        "B": found.B.tolist(),
        "trace": hex(found.trace),
        "scale": hex(found.scale),
    }


def _of_mean(p: gmml.Instance, saved: SavedSolution) -> dict[str, Any]:
    """Return the entries for GMML: F = S Y for the dual variable Y, as whole numbers over one denominator.

    S (d, d) is the sum of (x_i - x_j)(x_i - x_j)^T over the similar pairs, plus a multiple of the inverse prior. Raises
    ValueError if the parameter `weight` is not 0.5.
    """
    if p.t != 0.5:
        raise ValueError(f"the verified checker takes gmml with weight=0.5, not weight={p.t:g}")
    Y, at = symmetric_whole(gmml.to_domain(p, dual_array(saved.dual, "Y", p.prior.shape)))
    found = (p.S * rationals(Y, Fraction(2) ** at)).tolist()
    F = [[Fraction(int(e.p), int(e.q)) for e in row] for row in found]
    over = math.lcm(*(e.denominator for row in F for e in row))
    return {
        "over": hex(over),
        "root": _root(saved.metric),
        "F": [[hex(int(e * over)) for e in row] for row in F],
    }


def _of_logistic(family: Family, duals: Duals, A: FloatArray) -> dict[str, Any]:
    """Return the entries for LDML: the threshold b at the metric, and four numbers for each pair, similar pairs first.

    A pair has a distance D at the metric, a weight w in the objective, and a dual variable a. Its four numbers are
    ln(1 + exp(-|D - b|)), ln(a / w), ln(1 - a / w) and a. If the problem counts the pairs of a point with itself, they
    share the last entry.
    """
    loss, rows = cast(Logistic, family.terms[0].loss), cast(Labelled, family.terms[0].rows)
    regularizer = cast(Linear, family.regularizer)
    at = regularizer.exact_distances(plane(regularizer.X), regularizer.exact_metric(A, None))
    D = [at.unit * at.D[i][j] for i, j in rows.listed.tolist()]
    weights = [Fraction(w) for w in np.broadcast_to(np.asarray(loss.w), loss.t.shape).tolist()]
    b = loss.b
    if b is None:
        b = Fraction(best(loss.t, np.array(D, dtype=np.float64), loss.weights)[0])
    over, whole = _over(duals, weights)
    prices = []
    for d, w, price in zip(D, weights, rows.table(duals).tolist(), strict=True):
        a = abs(price)
        logs = [log_above(each / w) if each else 0 for each in (a, w - a)]
        prices.append([hex(softplus_above(-abs(d - b))), *map(hex, logs), whole(a)])
    threshold = [hex(b.numerator), hex(b.denominator)]
    return {
        "over": over,
        "prices": prices,
        "b": threshold,
        "logs_over": hex(1 << DIGITS),
        **_hints(family, duals, A),
    }


def _over(duals: Duals, others: Sequence[Fraction] = ()) -> tuple[str, Whole]:
    """Return the common denominator of the dual variables and `others`, and a function that writes a number over it.

    The denominator, and the numerators that the function returns, are hexadecimal texts.
    """
    over = math.lcm(*(price.denominator for price in (*duals.a.tolist(), *others)))
    return hex(over), lambda price: hex(int(price * over))


def _hints(family: Family, duals: Duals, A: FloatArray) -> dict[str, Any]:
    """Return the entries that prove the metric A psd, and those that prove the regularizer's part of the lower bound.

    They are "root" (`_root`) and "factor" (`_factor`), and "most" for a budget; or those of `_of_combination`.
    """
    regularizer = family.regularizer
    X, G = plane(regularizer.X), joined([family.terms[0].rows.weights(duals)])
    if isinstance(regularizer, Combinations):
        return _of_combination(regularizer, X, G, A)
    hints: dict[str, Any] = {"root": _root(A), "factor": _factor(regularizer, X, G)}
    if isinstance(regularizer, Budget):
        most = -regularizer.exact_bound(X, G)
        hints["most"] = [hex(most.numerator), hex(most.denominator)]
    return hints


def _of_combination(regularizer: Combinations, X: Plane, G: Weights, A: FloatArray) -> dict[str, Any]:
    """Return the entries for a metric that is a combination of given rank-one matrices, A = sum_k w_k b_k b_k^T.

    "weights" has the w_k as floats. For the method of Schultz and Joachims, a second matrix N = sum_k z_k b_k b_k^T
    with b_k^T N b_k >= b_k^T G b_k for all k proves the lower bound. The list "paid" has the z_k as integers over
    "paid_over". X: the points. G: the sum of the dual variables times their matrices, as weights on pairs of points.
    """
    hints: dict[str, Any] = {"weights": weighted(A, regularizer.B, regularizer.X).w.tolist()}
    if isinstance(regularizer, NormOfCombination):
        z = regularizer.exact_norm(X, G)
        over = math.lcm(*(each.denominator for each in z))
        hints |= {"paid": [hex(int(each * over)) for each in z], "paid_over": hex(over)}
    return hints


def _root(A: FloatArray) -> list[list[float]] | None:
    """Return vectors u for which sum u u^T is near the metric A (d, d), or None if A is exactly psd."""
    if judged(A).distance == 0:
        return None
    return _columns(root_of(A))


def _columns(L: FloatArray) -> list[list[float]]:
    return [column.tolist() for column in L.T if column.any()]


def _factor(regularizer: Regularizer, X: Plane, G: Weights) -> dict[str, Any]:
    """Return the entry {"vectors": a list of vectors u, "rest": "norm" or "psd"} for the term of the regularizer.

    G is the sum of the dual variables times their matrices, as weights on pairs of the points X. For a Frobenius
    regularizer, G + sum u u^T is nearly the psd part of G. "norm": the Frobenius norm of this sum enters the bound.

    The list is empty for other regularizers, and if the psd part of G is 0. Then "rest" is "psd": the checker itself
    proves a matrix psd, which is -G for a Frobenius regularizer.
    """
    if not isinstance(regularizer, Frobenius):
        return NO_VECTORS
    M, common = X.outer(G.pairs, fractions(G.w))
    if is_psd(-M):
        return NO_VECTORS
    return {"vectors": _columns(missing(M, common, 2 * X.at)), "rest": "norm"}


def _of_triplets(family: Family, duals: Duals, whole: Whole) -> list[list[Any]]:
    """Return [i, j, l, dual variable] for each triplet with a positive dual variable.

    They are sorted by the place of the pair (i, j) in the list of targets, and then by l.
    """
    order = np.argsort(duals.key)
    priced = Duals(duals.a[order], duals.key[order])
    rows: Any = family.terms[0].rows
    triplets = rows.named(priced)
    return [[*t, whole(a)] for t, a in zip(triplets.tolist(), priced.a.tolist(), strict=True) if a > 0]


def _of_points(family: Family, duals: Duals, whole: Whole) -> list[list[Any]]:
    """Return, for MLSVM, [i, impostors, targets] for each point i with a nonzero dual variable.

    Both lists hold entries [j, dual variable].
    """
    rows: Any = family.terms[0].rows
    spread: Any = family.terms[0].loss
    pairs, near = rows.listed[duals.key].tolist(), spread.near[duals.key]
    of: dict[int, tuple[list[Any], list[Any]]] = {}
    for (i, j), up, a in zip(pairs, near, duals.a.tolist(), strict=True):
        if a:
            of.setdefault(i, ([], []))[0 if up else 1].append([j, whole(abs(a))])
    return [[i, u, w] for i, (u, w) in sorted(of.items())]


def _of_pairs(family: Family, duals: Duals, whole: Whole) -> list[list[Any]]:
    """Return the sorted list of [i, j, dual variable] for the dissimilar pairs with a positive dual variable."""
    rows: Any = family.terms[0].rows
    pairs = rows.listed(duals.key) if isinstance(rows, Across) else rows.listed[duals.key]
    named = sorted((*pair, a) for pair, a in zip(pairs.tolist(), duals.a.tolist(), strict=True) if a > 0)
    return [[i, j, whole(a)] for i, j, a in named]


PRICES: dict[str, Callable[[Family, Duals, Whole], Sequence[Any]]] = {
    "mlsvm": _of_points,
    "lmnn": _of_triplets,
    "lmnn:squared_hinge": _of_triplets,
    "frobmetric": _of_triplets,
    "rtml": _of_triplets,
    "dml_eig": _of_pairs,
    "mmc": _of_pairs,
    "schultz_joachims": _of_triplets,
    "scml": _of_triplets,
}
NO_VECTORS: dict[str, Any] = {"vectors": [], "rest": "psd"}
STEP = "ssvm"  # without a tree, the interval is of a convex step
LOCAL = "glml"  # the interval is for a B of floats
MEAN = "gmml"
# With logarithms, the intervals are a little wider than those of exact mode.
DETERMINANTS: dict[str, Callable[[Any, SavedSolution], dict[str, Any]]] = {
    "itml": of_family,
    "sdml": of_box,
    "lsml": of_family,
}
LOGARITHMS: dict[str, Callable[[Family, Duals, FloatArray], dict[str, Any]]] = {
    "mcml": _of_softmaxes,
    "boostmetric": _of_shares,
    "ldml": _of_logistic,
}
PICKING = "nca"  # the interval is of its convex step, and wider too
ROOTS = "mmc"  # its roots are rounded outward
KNOWN = (*PRICES, STEP, *LOGARITHMS, PICKING)
SUPPORTED = (*KNOWN, LOCAL, MEAN, *DETERMINANTS)
