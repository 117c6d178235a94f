"""Recompute the proof of a saved solution from its problem, metric and dual variables.

All other values in the file are claims: they are compared with the proof, and not used as facts. The problem is the
data, the parameters, and the lists that are parameters. Lists that follow from other fields are computed again and must
be equal: the neighbours, and the parameters in the field `derived`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from cvxml.core.digits import enough_digits
from cvxml.core.exact import Exact, Unproved, decimal, upward
from cvxml.core.inputs import check_bool, check_choice, check_number
from cvxml.core.metric import EPS
from cvxml.core.report import Verdict
from cvxml.core.result import Certificate, Solution, Status, gap_in_words, number, plain
from cvxml.core.saved import SavedSolution, load
from cvxml.core.short_repr import cut
from cvxml.core.threads import one_blas_thread
from cvxml.core.tolerance import Tolerance, check_tol
from cvxml.methods import check_params, get, get_exact
from cvxml.oracle.exactly import not_for

SAME = 1e-9  # relative; figures with a smaller difference count as equal
LONGEST = 800  # characters of a reason, which may quote a value of the file
BY_LISTS = {"n_neighbors", "neighborhood"}  # parameters that define lists; the file also holds the lists
# lists that n_neighbors decides; n_neighbors is null in a file if the user gave the list
BY_NUMBER = ("targets", "triplets")


@dataclass(frozen=True, eq=False, repr=False)
class Recertified:
    """The claims of a file, and the proof that its own dual variables give.

    reason: the reason for the verdict, a sentence. certificate: the proof, computed again. claimed: {name: value} of
    the results in the file, such as its gap.

    exact: the interval in exact arithmetic, if it was asked for.
    """

    method: str
    verdict: Verdict
    reason: str
    certificate: Certificate
    claimed: dict[str, Any]
    exact: Exact | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the claims and the proof as plain data for JSON."""
        c = self.certificate
        content = {
            "method": self.method,
            "verdict": self.verdict.value,
            "reason": self.reason,
            "objective": c.objective,
            "lower_bound": c.lower_bound,
            "gap": c.gap,
            "rel_gap": c.rel_gap,
            "radius": c.radius,
            "claimed": self.claimed,
            "exact": None if self.exact is None else self.exact.to_dict(),
        }
        checked: dict[str, Any] = plain(content)
        return checked

    def __str__(self) -> str:
        c = self.certificate
        exact = "" if self.exact is None else f"  exact: {self.exact}\n"
        radius = f"   radius {c.radius:.3g}" if math.isfinite(c.radius) else ""
        claims = (
            f"{name} {value:.12g}" if isinstance(value, float) else f"{name} {value}"
            for name, value in self.claimed.items()
            if value is not None
        )
        return (
            f"{self.verdict.value.upper()}: {self.method}: {self.reason}\n"
            f"  objective {number(c.objective)}   lower bound {number(c.lower_bound)}\n"
            f"  {gap_in_words(c.gap, c.rel_gap)}{radius}\n"
            f"  feasibility: {c.feasibility}\n"
            f"{exact}"
            f"  the file claims: {', '.join(claims)}"
        )

    __repr__ = __str__


def recertify(saved: SavedSolution, tol: Tolerance, exact: bool = False) -> Recertified:
    """Judge the metric in a file by the dual variables in the same file.

    Certified: the dual variables prove that the metric is optimal (or stationary) to `tol`. In a file without dual
    variables, the first derivatives must prove that the metric is stationary.
    Refuted: the metric is not feasible, or the data contradict an objective, a status or lists in the file. Also
    refuted: the file claims a lower bound larger than the recomputed one, or a gap, rel_gap, stationarity or radius
    that is smaller.
    Inconclusive: otherwise.

    tol: relative to the scale of the problem: a number, "strict", "normal" or "loose". exact: compute the bound in
    rational arithmetic.

    Raises ValueError if the content is not that of a solution.
    """
    tol = check_tol(tol)
    try:
        with enough_digits(saved.X):
            return _recertify(saved, tol, exact)
    except (KeyError, TypeError, AttributeError, OverflowError, ValueError) as error:
        reason = cut(str(error), LONGEST)
        raise ValueError(f"the file does not hold a solution that can be checked: {reason}") from error


def certify_solution(
    solution: Solution | SavedSolution | str | Path, tol: Tolerance = "normal", *, exact: bool = False
) -> Recertified:
    """Judge a solution by its own dual variables, as `cvxml certify FILE` does; return verdict, reason, certificate.

    The proof is computed again from the data. The values in the solution are compared with it, and not trusted.

    Certified: the dual variables prove the claim. Refuted: the metric is not feasible, or a value or list in the file
    contradicts the data. Inconclusive: otherwise.

    solution: the path of a file that `solve --out` or `Solution.save` wrote; what `load` returns; or a Solution.
    tol: relative to the scale of the problem: a number, "strict" 1e-9, "normal" 1e-6 or "loose" 1e-3.
    exact: compute the bound in rational arithmetic.

    Raises ValueError if the file or the solution cannot be read or checked.

    Examples
    --------
    import cvxml
    X, y = cvxml.datasets.load("iris")
    solution = cvxml.solve("mcml", X, y)
    found = cvxml.certify_solution(solution)
    print(found.verdict.value, found.certificate.rel_gap <= 1e-6)  # -> certified True
    """
    if isinstance(solution, Solution):
        with TemporaryDirectory() as folder:  # the same content as in a file
            path = Path(folder) / "solution.npz"
            solution.save(path)
            solution = load(path)
    if isinstance(solution, (str, Path)):
        solution = load(solution)
    if not isinstance(solution, SavedSolution):
        raise ValueError(
            "solution must be the path of a saved file, a SavedSolution or a Solution, got "
            f"{type(solution).__name__}; for a metric use cvxml.certify or cvxml.check"
        )
    return recertify(solution, tol, check_bool(exact, "exact"))


def _recertify(saved: SavedSolution, tol: float, exact: bool) -> Recertified:
    of, params = get_exact(saved.method) if exact else get(saved.method), params_of(saved)
    # a solution without labels holds zeros in their place
    y = saved.y if np.any(saved.y) else None
    given = of.instance(saved.X, y, **params)
    missing = [name for name in of.stored(given) if name not in saved.params]
    if missing:
        raise ValueError(f"its params have no {missing[0]}")
    metric, derived = of.matrix(given, saved.metric), _derived(saved)
    with one_blas_thread():
        proof = of.certify(given, metric, saved.dual)
        verdict, reason = _judge(proof, saved.claimed, tol, of.machine_slack(given, metric))
        try:
            interval = of.exact(given, metric, saved.dual) if exact else None
        except Unproved as error:
            interval = None
            if verdict is not Verdict.REFUTED:
                verdict, reason = Verdict.INCONCLUSIVE, str(error)
    if interval is not None and verdict is not Verdict.REFUTED:
        verdict, reason = _judge_exactly(interval, proof, Fraction(tol) * interval.scale)
    if verdict is Verdict.CERTIFIED and (never := of.unattained(given)):
        most = proof.gap + proof.rounding if interval is None else upward(interval.gap)
        verdict, reason = (
            Verdict.INCONCLUSIVE,
            f"{never}; its objective is at most {most:.3g} above the infimum",
        )
    if verdict is Verdict.CERTIFIED:
        verdict, reason = _as_named(saved, given, params, derived, reason)
    return Recertified(saved.method, verdict, reason, proof, saved.claimed, interval)


def params_of(saved: SavedSolution) -> dict[str, Any]:
    """Return the parameters of the problem in the file, for `Method.instance`.

    If the method uses neighbour lists, those of the file replace `n_neighbors` and `neighborhood`. Raises ValueError
    for a parameter that the method does not have, and for neighbour lists if the method uses none.
    """
    params, known = dict(saved.params), get(saved.method).PARAMETERS
    if "neighbors" in known:
        params = {k: v for k, v in params.items() if k not in ("n_neighbors", "neighborhood")}
        params["neighbors"] = saved.neighbors
    elif saved.neighbors != []:
        raise ValueError(f"it holds neighbour lists, but {saved.method} takes none: remove `neighbors`")
    check_params(saved.method, params)
    return params


def _as_named(
    saved: SavedSolution, given: Any, params: dict[str, Any], derived: list[str], reason: str
) -> tuple[Verdict, str]:
    """Return the verdict and its reason for a file with a valid proof, after a test that its fields agree.

    The test computes the lists and numbers again that follow from other fields. Certified: all of them agree. Refuted:
    one of them differs. Inconclusive: one of them differs, but another version of a library may compute another value.

    params: the parameters of the proved problem (`params_of`). given: its checked inputs. derived: the parameters to
    compute again (`_derived`). reason: the reason if the file is certified.
    """
    of = get(saved.method)
    if not _lists_are_as_claimed(saved, params):
        return Verdict.REFUTED, "its neighbour lists are not those that its params name"
    solved = of.stored(given)
    if name := _not_as_solved(saved, solved):
        found = f"the problem in the file has {name} = {cut(repr(solved[name]), 40)}"
        return Verdict.REFUTED, f"its params hold {name} = {cut(repr(saved.params[name]), 40)}, but {found}"
    for name in derived:
        try:
            wrong = of.differs(given, name, params)
        except ValueError as error:  # for example, labels are missing, or there are too few points
            wrong = f"its {name} cannot be derived: {error}"
        if wrong and of.DERIVED[name].repeats:
            return Verdict.REFUTED, wrong
        if wrong:
            return Verdict.INCONCLUSIVE, f"{wrong}; if you remove {name} from `derived`, it counts as given"
    return Verdict.CERTIFIED, reason + _unsaid(saved)


def _derived(saved: SavedSolution) -> list[str]:
    """Return the names of the parameters to compute again from other fields.

    These are the names in the field `derived` of the file, and the lists that n_neighbors determines. Raises ValueError
    if `derived` holds a name that the method cannot compute, or that the parameters of the file lack.
    """
    can, listed = get(saved.method).DERIVED, saved.derived or ()
    for name in listed:
        if name not in can:
            raise ValueError(
                f"derived has {cut(repr(name), 40)}; of {saved.method} it can have: {', '.join(can) or 'none'}"
            )
        if saved.params.get(name) is None:
            raise ValueError(f"derived has {name}, but its params do not hold it")
    by_number = () if saved.params.get("n_neighbors") is None else BY_NUMBER
    return [name for name in can if saved.params.get(name) is not None and name in (*listed, *by_number)]


def _unsaid(saved: SavedSolution) -> str:
    """Return a clause for the reason if lists of a file of cvxml 0.2 could not be tested; otherwise an empty text.

    Such a file does not record which of its lists were computed and which were given, so all count as given. Later
    versions record it in the field `derived`.
    """
    if saved.derived is not None:
        return ""
    can = get(saved.method).DERIVED
    found = [name for name in can if name not in BY_NUMBER and saved.params.get(name) is not None]
    if not found:
        return ""
    return f"; {' and '.join(found)} are taken from the file, which does not record if they were given or derived"


def _lists_are_as_claimed(saved: SavedSolution, params: dict[str, Any]) -> bool:
    if "neighbors" not in params:
        return True
    if saved.params.get("neighborhood") == "explicit":
        return saved.params.get("n_neighbors") is None
    named = {k: saved.params[k] for k in ("n_neighbors", "neighborhood")}
    others = {k: v for k, v in params.items() if k != "neighbors"}
    of = get(saved.method)
    lists = of.neighbor_lists(of.instance(saved.X, saved.y, **named, **others))
    return [sorted(a.tolist()) for a in lists] == [sorted(b) for b in saved.neighbors]


def _not_as_solved(saved: SavedSolution, params: dict[str, Any]) -> str:
    """Return the name of a parameter in the file that differs from the proved problem; empty if all agree.

    Parameters that are lists or dicts are not compared here. params: the parameters of the proved problem, as
    `Method.stored` returns them.
    """
    for name in params.keys() - BY_LISTS:
        pair = params[name], saved.params[name]
        if pair[0] != pair[1] and not any(isinstance(value, (list, dict)) for value in pair):
            return name
    return ""


def _judge(proof: Certificate, claimed: dict[str, Any], tol: float, slack: float) -> tuple[Verdict, str]:
    if not proof.feasibility.feasible:
        return Verdict.REFUTED, f"not a metric of this method: {proof.feasibility}"
    if not math.isfinite(proof.objective):
        return Verdict.REFUTED, "its objective overflows"
    if wrong := _false_claim(proof, claimed, slack):
        return Verdict.REFUTED, wrong
    evidence, size = _evidence(proof)
    if proof.proves(tol):
        most = max(tol, upper(proof))
        gap = (
            f"{size} at most {most:.3g}" if most < math.inf else "the gap is within rounding, the scale is 0"
        )
        return Verdict.CERTIFIED, f"{evidence} prove it {proof.claim}: {gap}"
    if reason := proof.not_decided:
        return Verdict.INCONCLUSIVE, reason
    return Verdict.INCONCLUSIVE, f"{evidence} do not prove it {proof.claim} to a {size} of {tol:g}"


def _evidence(proof: Certificate) -> tuple[str, str]:
    """Return two phrases: the evidence about the metric, and the number that is compared with the tolerance.

    A stationary metric is proved by its convex step, which has dual variables, or by its first derivatives.
    """
    if proof.claim == "optimal" or proof.parts:
        return "its dual variables", "relative gap"
    if proof.step is not None:
        return "its dual variables", "relative gap of the convex step"
    return "its first derivatives", "relative first-order gain"


def upper(proof: Certificate) -> float:
    """Return an upper bound of the exact relative gap: 1.01 times the sum of gap and rounding, over the scale.

    With the factor 1.01 the number is still a bound after it was printed with three digits. A certificate of a convex
    step gives the relative gap of the step. If the proof consists of first derivatives, the first-order gain replaces
    the gap. For local metrics the result is the largest bound of all queries. It is inf if the scale is 0 and the sum
    of gap and rounding is not.
    """
    if proof.parts:
        return max(map(upper, proof.parts))
    if proof.step is not None:
        return upper(proof.step)
    if proof.kind == "stationary" and proof.stationarity is not None:
        largest, scale = (
            max(proof.stationarity.gradient, proof.stationarity.dc_residual),
            proof.stationarity.of,
        )
    else:
        largest, scale = max(proof.gap, 0.0), proof.scale
    above = largest + proof.rounding
    if above == 0:
        return 0.0
    # three digits are printed: 1 % more than the figure is above it after rounding
    return 1.01 * above / scale if scale > 0 else math.inf


def _judge_exactly(interval: Exact, proof: Certificate, allowed: Fraction) -> tuple[Verdict, str]:
    left = decimal(interval.gap, up=True)
    reason = f"in exact arithmetic its dual variables prove a gap of {left}, allowed is {decimal(allowed, up=False)}"
    if interval.gap > allowed:
        return Verdict.INCONCLUSIVE, reason
    if other := not_for(interval, proof, allowed):
        return Verdict.INCONCLUSIVE, other
    return Verdict.CERTIFIED, reason


def _false_claim(proof: Certificate, claimed: dict[str, Any], slack: float) -> str:
    """Return a sentence on a value in the file that the data contradict; empty if there is no such value.

    A lower bound may be smaller than the recomputed one, and a gap, rel_gap, stationarity or radius may be larger. Then
    the file claims less than the proof shows. proof: the recomputed certificate.

    claimed: {name: value} of the results in the file. slack: how much values may differ on another machine, beyond
    rounding.
    """
    if false_status := _false_status(proof, claimed.get("status")):
        return false_status
    least = _least(proof, slack)
    computed = {name: getattr(proof, name) for name in ("objective", "lower_bound", *least)}
    if proof.step is not None:
        least["step_gap"] = _least(proof.step, slack)["gap"]
        computed |= {"step_lower_bound": proof.step.lower_bound, "step_gap": proof.step.gap}
    if proof.stationarity is not None:
        computed["stationarity"] = relative = proof.stationarity.relative
        noise = 2 * proof.rounding / proof.stationarity.of if proof.stationarity.of > 0 else math.inf
        least["stationarity"] = max(0.0, relative * (1 - SAME) - noise)
    for name in ("step_lower_bound", "step_gap", "stationarity"):
        if claimed.get(name) is not None and name not in computed:
            return f"it states a {name}, which this problem does not have"
    for name, value in computed.items():
        if claimed.get(name) is None:  # not claimed, or infinite
            continue
        stated = check_number(claimed[name], name)
        allowed = SAME * (abs(value) + abs(proof.objective)) + slack
        own = proof.value_rounding or proof.rounding
        allowed += 2 * (max(own, proof.rounding) if name == "lower_bound" else own)
        if name in least:
            wrong = stated < least[name]
        elif math.isinf(value):  # any finite claim is wrong
            wrong = True
        elif name in ("lower_bound", "step_lower_bound"):
            wrong = stated > value + allowed
        else:
            wrong = abs(stated - value) > allowed
        if wrong:
            return f"the file claims {name} {stated:.12g}; recomputed, it is {value:.12g}"
    return ""


def _false_status(proof: Certificate, status: Any) -> str:
    """Return a message if the status claims too much; else an empty text.

    The status CONVERGED claims an optimum. This is too much if the proof can only show that the metric is stationary.
    Raises ValueError for an unknown status.
    """
    if status is None:
        return ""
    check_choice(status, "status", tuple(Status.__members__))
    if Status[status] is not Status.CONVERGED or proof.claim == "optimal":
        return ""
    return f"the file claims status {status}, an optimum; only a {proof.claim} metric can be proved"


def _least(proof: Certificate, slack: float) -> dict[str, float]:
    """Return the smallest gap, rel_gap and radius that a correct file can contain, for the recomputed `proof`.

    slack: how much values may differ on another machine, beyond rounding.
    """
    if math.isinf(proof.gap):
        return dict.fromkeys(("gap", "rel_gap", "radius"), math.inf)
    # The two computed gaps may each be off by `rounding`. Repairing the dual variables again may change each by an ulp.
    slack += 2 * proof.rounding + 8 * EPS * abs(proof.objective) + SAME * abs(proof.gap)
    least = proof.gap - slack
    if least > 0:
        relative = least / proof.gap * proof.rel_gap * (1 - SAME)
    else:  # a gap may be negative, within rounding
        relative = least / proof.scale * (1 + SAME) if proof.scale > 0 else -math.inf
    # `rounding` is an estimate; on another machine it may be smaller
    of_radius = max(0.0, proof.gap - slack) + proof.rounding / 4
    # rel_gap may be infinite; the radius is proportional to the square root of gap + rounding
    whole = proof.gap + proof.rounding
    root = math.sqrt(min(1.0, of_radius / whole)) if whole > 0 else 0.0
    return {
        "gap": least,
        "rel_gap": relative,
        "radius": root * proof.radius * (1 - SAME),
    }
