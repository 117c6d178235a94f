"""The contract of MMC: what cvxml.methods.Method asks of a method, with every input checked; A full, or diagonal.

Problem, what is literal, and its dual: problem.py. Certificate: certify.py. Algorithm: fast.py.

Reference: E. Xing, A. Ng, M. Jordan, S. Russell, Distance metric learning with application to clustering with
side-information, NIPS 2002.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from cvxml.backend import solve_problem
from cvxml.budget import budget, unproved
from cvxml.convex import Callback, ConvexMethod, Found, Keep, interruptible
from cvxml.methods.mmc.certify import Task, certify
from cvxml.methods.mmc.evaluate import evaluate as intermediates_at
from cvxml.methods.mmc.evaluate import objective as objective_of
from cvxml.methods.mmc.fast import fast as solve_fast
from cvxml.methods.mmc.instance import Instance
from cvxml.methods.mmc.instance import instance as checked
from cvxml.methods.mmc.statement import statement
from cvxml.methods.mmc.variants import variants
from cvxml.metric import FloatArray, project_psd
from cvxml.result import Certificate, Dual, Status
from cvxml.variant import Variant


class MMC(ConvexMethod[Instance]):
    """The contract, where A is any psd matrix."""

    id = "mmc"
    package = "cvxml.methods.mmc"
    TITLE = "MMC: distance metric learning with side-information (Xing et al. 2002)"
    PARAMETERS: ClassVar[dict[str, str]] = {
        "pairs": '{"similar": [[i, j], ...], "dissimilar": [[i, j], ...]}; y is then not looked at '
        "(default None: every two points, by their labels)"
    }
    STATEMENT = statement(diagonal=False)
    VARIANTS: ClassVar[dict[str, Variant]] = variants(diagonal=False)
    EXPONENTIAL = True  # there is no exponential cone, but SCS crawls on square roots too
    diagonal = False

    def instance(self, X: ArrayLike, y: ArrayLike | None, **params: Any) -> Instance:
        """Everything checked. Raises ValueError for bad input."""
        return checked(X, y, diagonal=self.diagonal, **params)

    def literal(self, given: Instance) -> Any:
        """Equations (6) to (8) as a `cvxpy.Problem`."""
        from cvxml.methods.mmc.problem import literal

        return literal(given.X, given.pairs, given.diagonal)

    def literal_dual(self, given: Instance) -> Any:
        """The dual as a `cvxpy.Problem`."""
        from cvxml.methods.mmc.problem import dual

        return dual(given.X, given.pairs, given.diagonal)

    def naive(self, given: Instance, A: FloatArray) -> float:
        """-sum over dissimilar pairs of the distance, whether A is within the budget or not."""
        return objective_of(given.X, given.pairs, A)

    def intermediates(self, given: Instance, A: FloatArray) -> dict[str, Any]:
        """See evaluate.py."""
        return intermediates_at(given.X, given.pairs, A)

    def prove(self, given: Instance, A: FloatArray, dual: Dual) -> Certificate:
        """The certificate from {"c": (q,)}, any finite numbers."""
        return certify(_task(given), A, dual)

    def fast(
        self, given: Instance, tol: float, max_iter: int, start: FloatArray | None, callback: Callback
    ) -> Found:
        """The fast solver."""
        p = _task(given)
        decided = p.diagonal or not budget(p.similar, p.rank).undecided

        def solve(keep: Keep, told: Callback) -> Found:
            if decided:
                return _solved(p, tol, max_iter, start, told, keep)
            # the solver needs a gap to stop by; nobody else is told of it
            quiet = None if told is None else lambda step: told(unproved(step))
            found = _solved(p._replace(rank=None), tol, max_iter, start, quiet, keep)
            return found._replace(history=tuple(map(unproved, found.history)))

        return interruptible(callback, solve)

    def prices(self, given: Instance, values: dict[str, FloatArray]) -> Dual:
        """c; 1 for pairs of equal points."""
        differ = given.dissimilar.any(axis=1)
        c = np.ones(len(given.pairs.dissimilar))
        c[differ] = values["c"]
        return {"c": c}

    def through_cvxpy(self, given: Instance, solver: str) -> Found:
        """Both problems as printed but for the budget: with 1 for each similar pair, distances are about 1."""
        from cvxml.methods.mmc.problem import dual, literal

        budget = float(len(given.pairs.similar))
        stated = given.X, given.pairs, given.diagonal, budget
        A = project_psd(solve_problem(literal(*stated), solver, self.EXPONENTIAL)["A"])
        c = solve_problem(dual(*stated), solver, self.EXPONENTIAL)
        return Found(A / budget, self.prices(given, c), Status.CONVERGED, 0)

    def notes(self, given: Instance, certificate: Certificate) -> Sequence[str]:
        """Of pairs that no metric moves apart."""
        equal = int(np.count_nonzero(~given.dissimilar.any(axis=1)))
        if not equal:
            return ()
        return (f"{equal} dissimilar pairs are of equal points: they are at distance 0 in every metric",)

    def stored(self, given: Instance) -> dict[str, Any]:
        """The pairs where they were given; by labels, the labels say it."""
        return {"pairs": None if given.by_labels else given.pairs.to_dict()}


def _task(given: Instance) -> Task:
    return Task(given.dissimilar, given.similar, given.diagonal, given.rank)


def _solved(
    p: Task, tol: float, max_iter: int, start: FloatArray | None, callback: Callback, keep: Keep
) -> Found:
    def prove(A: FloatArray, dual: Dual) -> Certificate:
        keep(A, dual)
        return certify(p, A, dual, radius=False)

    return solve_fast(p.E, p.similar, p.diagonal, prove, tol, max_iter, start, callback)


class DiagonalMMC(MMC):
    """The contract, where A is diagonal."""

    id = "mmc:diagonal"
    TITLE = "MMC: distance metric learning with side-information, A diagonal (Xing et al. 2002)"
    STATEMENT = statement(diagonal=True)
    VARIANTS: ClassVar[dict[str, Variant]] = variants(diagonal=True)
    diagonal = True


METHOD = MMC()
DIAGONAL = DiagonalMMC()
