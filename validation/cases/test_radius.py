"""The radii of the golden cases: no optimum is further away."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from cvxml.core.balls import ball, precision
from cvxml.core.integer_matrices import root_of
from cvxml.core.metric import FloatArray
from cvxml.family.theorem.theorem import Family
from cvxml.methods import get
from cvxml.oracle.cases import Case, load_cases
from cvxml.solvers.family_method import FamilyMethod
from validation.cases.radius import flatness, radius, relative

CASES = [case for case in load_cases() if "radius" in case.content.get("reference", {})]
OF_MMC = [case for case in CASES if case.formula.startswith("mmc")]


def member(case: Case) -> tuple[FamilyMethod[Any], Any, Family]:
    of = get(case.formula)
    assert isinstance(of, FamilyMethod)
    given = of.instance(case.X, case.y, **case.params)
    return of, given, of.member(given, Fraction)


def moved(best: FloatArray, share: float) -> list[tuple[FloatArray, FloatArray]]:
    """Metrics and roots: shorter than the optimum, less off its diagonal, beyond any budget, with another's root."""
    other = (1 - share) * best + share * np.diag(np.diag(best)) / (1 + len(best))
    shorter, longer = (1 - share) * best, (1 + share) * best
    return [(A, root_of(A)) for A in (shorter, other, longer)] + [(shorter, root_of(best))]


@pytest.mark.quick(10)
@pytest.mark.parametrize("share", [1e-6, 0.01, 0.3])
@pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])
def test_the_optimum_is_within_the_radius_of_every_metric(case: Case, share: float) -> None:
    proof: dict[str, Any] = case.content["proof"]
    best, dual = np.array(proof["metric"]), {name: np.array(values) for name, values in proof.items()}
    of, given, family = member(case)
    near = Fraction(case.content["reference"]["radius"])
    for A, root in moved(best, share):
        hint = proof.get("psd", proof["mu"] / 2 if "mu" in proof else proof.get("z"))
        found = of.exact_as_stored(given, A, dual, root=root, hint=hint)
        far = radius(family, family.regularizer.exact_metric(A, root), found)
        assert far is not None
        away = Fraction(float(np.linalg.norm(A - best)))
        assert away * (1 - Fraction(1, 10**9)) - near <= far


@pytest.mark.parametrize("case", OF_MMC, ids=[case.id for case in OF_MMC])
def test_flatness_is_that_of_the_definition(case: Case) -> None:
    """In floating point, over an orthonormal basis of the symmetric matrices, or of the diagonal ones."""
    X, d = np.array(case.X), len(case.X[0])
    E, similar = ([X[i] - X[j] for i, j in case.params["pairs"][k]] for k in ("dissimilar", "similar"))
    S, units = sum(np.outer(e, e) for e in similar), np.eye(d)
    if case.formula == "mmc:diagonal":
        basis, reach = [np.outer(u, u) for u in units], [max(e**2 / np.diag(S)) for e in E]
    else:
        both = [(units[i], units[j]) for i in range(d) for j in range(i + 1)]
        basis = [(np.outer(u, v) + np.outer(v, u)) for u, v in both]
        basis, reach = [B / np.linalg.norm(B) for B in basis], [e @ np.linalg.inv(S) @ e for e in E]
    D = np.array([[e @ B @ e for B in basis] for e in E])
    second = D.T @ (D * np.array(reach)[:, None] ** -1.5 / 4)
    inverse = flatness(member(case)[2])
    assert inverse is not None
    assert float(1 / inverse) == pytest.approx(np.linalg.eigvalsh(second)[0], rel=1e-8)


@pytest.mark.parametrize("gap", [Fraction(1, 10**k) for k in (0, 1, 5, 20)] + [Fraction(20)])
def test_what_a_divergence_allows_is_enough_and_next_to_it_is_not(gap: Fraction) -> None:
    def divergence(s: Fraction) -> Any:
        return ball(1 + s).log() - ball(s / (1 + s))

    with precision():
        s = relative(gap)
        assert divergence(s) >= ball(gap)
        assert gap > 1 or divergence(s / 4) < ball(gap)
