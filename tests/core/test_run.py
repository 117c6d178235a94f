"""The loop around an algorithm: which iterates are proved, and which one is returned."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import cvxml
from cvxml.core.metric import FloatArray
from cvxml.core.result import Certificate, Dual, Status, Step
from cvxml.core.run import Estimate, Interrupted, run
from cvxml.methods import get
from cvxml.solvers import family_method
from cvxml.solvers.family_method import FamilyMethod
from tests.instances import real_data

X, Y = real_data("iris", 15)
PROOF = cvxml.solve("mlsvm", X, Y).certificate


class Falling:
    """An iterate with the gaps of a list; its metric is the number of its step."""

    def __init__(self, gaps: list[float], share: float):
        self.gaps, self.share, self.k = gaps, share, 0

    def metric(self) -> FloatArray:
        return np.full((1, 1), float(self.k))

    def dual(self) -> Dual:
        return {}

    def step(self) -> bool:
        self.k += 1
        return self.k < len(self.gaps)

    def estimate(self) -> Estimate | None:
        """`share` times the gap, or the gap as a guess if the share is inf."""
        gap = self.gaps[min(self.k, len(self.gaps) - 1)]
        return Estimate(2.0**-self.k, self.share * gap, 1.0, gap if self.share == np.inf else np.inf)


class Judged:
    """Proofs of the gaps, and the steps that were proved."""

    def __init__(self, gaps: list[float]):
        self.gaps, self.asked = gaps, list[int]()

    def __call__(self, metric: FloatArray, dual: Dual) -> Certificate:
        self.asked.append(int(metric[0, 0]))
        gap = self.gaps[min(self.asked[-1], len(self.gaps) - 1)]
        return replace(PROOF, objective=1.0, lower_bound=1 - gap, gap=gap, scale=1.0, rounding=0.0)


GAPS = [1.0, 0.1, 1e-2, 1e-3, 1e-4, 1e-5]


def test_only_an_iterate_that_may_be_proved_is_proved() -> None:
    prove, told = Judged(GAPS), list[Step]()
    found = run(Falling(GAPS, 1.0), prove, 1e-3, 100, told.append, "")
    assert prove.asked == [3]
    assert found.status is Status.CONVERGED
    assert found.metric[0, 0] == 3
    assert [step.gap for step in told] == GAPS[:4]
    assert tuple(told) == found.history
    assert all(step.lower_bound == pytest.approx(step.objective - step.gap) for step in told)


def test_an_estimate_that_is_too_small_is_no_proof() -> None:
    """All iterates after it are proved, until one is."""
    prove = Judged(GAPS)
    found = run(Falling(GAPS, 0.01), prove, 1e-4, 100, None, "")
    assert prove.asked == [2, 3, 4]
    assert found.status is Status.CONVERGED
    assert found.metric[0, 0] == 4


def test_an_iterate_without_an_estimate_is_proved() -> None:
    prove = Judged(GAPS)
    assert run(Falling(GAPS, np.nan), prove, 1e-3, 100, None, "").status is Status.CONVERGED
    assert prove.asked == [0, 1, 2, 3]


def test_without_feasible_dual_variables_a_guess_decides_and_the_objective_is_compared() -> None:
    prove = Judged(GAPS)
    assert run(Falling(GAPS, np.inf), prove, 1e-3, 100, None, "", patience=2).status is Status.CONVERGED
    assert prove.asked == [3]

    def stop(step: Step) -> None:
        assert step.lower_bound == -np.inf
        if step.iteration == 2:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted) as ended:
        run(Falling(GAPS, np.inf), Judged(GAPS), 1e-6, 100, stop, "")
    assert ended.value.found.metric[0, 0] == 2  # the lowest objective


def test_the_last_iterate_is_proved() -> None:
    """At max_iter, and where no step is possible: the estimate is too large, and the proof is good enough."""
    prove = Judged(GAPS)
    found = run(Falling(GAPS, 1e6), prove, 1e-3, 3, None, "")
    assert prove.asked == [3]
    assert found.status is Status.CONVERGED
    assert found.history[-1].gap == GAPS[3]
    ended = run(Falling(GAPS, 1e6), Judged(GAPS), 1e-5, 100, None, "")
    assert ended.status is Status.CONVERGED
    assert ended.metric[0, 0] == 5
    stalled = run(Falling(GAPS, 1e6), Judged(GAPS), 1e-9, 100, None, "")
    assert stalled.status is Status.STALLED


def test_an_interrupt_keeps_the_iterate_with_the_smallest_estimate() -> None:
    def stop(step: Step) -> None:
        if step.iteration == 3:
            raise KeyboardInterrupt

    gaps = [1.0, 0.1, 0.5, 0.3, 1e-9]
    with pytest.raises(Interrupted) as ended:
        run(Falling(gaps, 1.0), Judged(gaps), 1e-6, 100, stop, "")
    assert ended.value.found.metric[0, 0] == 1


@pytest.mark.parametrize(
    "method",
    ["itml", "mmc", "mmc:diagonal", "boostmetric", "frobmetric", "rtml", "plml", "scml", "schultz_joachims"],
)
def test_few_of_the_steps_of_a_solver_are_proved(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A proof costs as much as a step or more. The last step and the result are proved, and at most two others."""
    proofs, certify = list[int](), family_method.certify

    def counted(*given: Any) -> Any:
        proofs.append(0)
        return certify(*given)

    monkeypatch.setattr(family_method, "certify", counted)
    points, y = real_data("wine", 40)
    solution = cvxml.solve(method, points[:, :4], y)
    assert solution.status is Status.CONVERGED
    assert len(solution.history) >= 4
    assert len(proofs) <= 4


@pytest.mark.parametrize("method", ["plml", "boostmetric", "kernel_mlsvm", "itml", "frobmetric", "mlsvm"])
def test_a_kept_proof_is_the_one_that_certify_gives(method: str) -> None:
    """A method with a `certify` of its own may add to a proof: its result is certified again, or keeps that proof."""
    points, y = real_data("iris", 30)
    of = get(method)
    given = of.instance(points, y)
    found = of.search(given, 1e-6, of.MAX_ITER, None, None)
    own = type(of).certify is not FamilyMethod.certify
    assert own or found.proof is not None
    if found.proof is not None:
        proof = of.certify(given, found.metric, found.dual)
        assert (proof.gap, proof.radius, proof.undecided) == (
            found.proof.gap,
            found.proof.radius,
            found.proof.undecided,
        )


@pytest.mark.parametrize("method", ["mmc", "dml_eig"])
def test_a_proof_for_a_changed_budget_is_not_kept(method: str) -> None:
    """If double precision proves nothing for a budget, the solver stops by a gap of another budget."""
    points = np.random.default_rng(0).standard_normal((20, 2))
    dependent = points.sum(axis=1)
    dependent[3] = np.nextafter(dependent[3], np.inf)
    of = get(method)
    given = of.instance(np.column_stack([points, dependent]), np.arange(20) % 2)
    found = of.search(given, 1e-6, of.MAX_ITER, None, None)
    assert found.proof is None
    assert not of.certify(given, found.metric, found.dual).proves(1e-6)
