"""Base of the methods with a convex regularizer and losses of distances: certificate and solver follow from these.

Such a method defines its regularizer and its losses (`member`), and the names of its dual variables. A term is a loss
with its rows; each row has one dual variable. In the methods below, `given` is the checked data of the method with its
parameters. A `Dual` is a mapping from the names of the method to arrays. A `Duals` has the dual variables of one term.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar

from numpy.typing import ArrayLike

from cvxml.core.clock import limited
from cvxml.core.exact import Exact
from cvxml.core.method import ConvexMethod, Given
from cvxml.core.metric import FloatArray, project_psd
from cvxml.core.misreading import Question, TakesTooLong, is_improved
from cvxml.core.moved import METRIC
from cvxml.core.result import Certificate, Dual
from cvxml.core.run import Callback, Found, Start, Watch
from cvxml.family.rows.base import Duals
from cvxml.family.theorem.exact import interval
from cvxml.family.theorem.theorem import Family, certify, in_domain, prove, scale, value
from cvxml.family.unlisted.all_pairs import AllPairs, metric_of, once
from cvxml.solvers.choose_solver import search
from cvxml.solvers.task import Task


class FamilyMethod(ConvexMethod[Given]):
    """A convex method with a certificate and a solver that follow from its regularizer and its losses.

    PATH: the solver, a function that takes the problem with its tolerance (task.py) and returns the metric and the dual
    variables.
    """

    PATH: ClassVar[Callable[..., Found]] = staticmethod(search)  # the solver: a function of a Task

    @abstractmethod
    def member(self, given: Given, number: Callable[[float], Any] = float) -> Family:
        """The regularizer and the losses for the data `given`.

        number: makes the constants from floats. It is float, or Fraction for exact arithmetic.
        """

    def family(self, given: Given) -> Family:
        """The regularizer and the losses for the data `given`, with floats as constants.

        They are computed once for each data set, if they can be stored with the data.
        """
        kept = hasattr(given, "__dict__")
        return once(given, self.member, f"member of {self.id}") if kept else self.member(given)

    def least_scale(self, given: Given) -> float:
        return self.family(given).least_scale

    @abstractmethod
    def read(self, given: Given, dual: Dual) -> Sequence[Duals]:
        """The dual variables of each term, from `dual` with the names of the method.

        Raises ValueError if `dual` has another form, for example other names or shapes.
        """

    def strict(self, given: Given, dual: Dual) -> Sequence[Duals]:
        """Further dual variables of each term, from `dual`, for a mixture with those of `read`; () if there are none.

        They should be strictly feasible. If the dual variables of `read` are infeasible, the certificate mixes them
        with these. A mixture with a large enough share of these is feasible (theorem/strict_prices.py).
        """
        return ()

    @abstractmethod
    def named(self, given: Given, duals: Duals) -> Dual:
        """The dual with the names of the method, from one argument `Duals` for each term. The inverse of `read`."""

    def everyone(self, given: Given) -> AllPairs | None:
        """An object that certifies and solves without a list of the pairs, if the pairs are too many; else None."""
        return None

    def fast_objective(self, given: Given, M: FloatArray) -> float:
        if self.everyone(given) is not None:  # too many pairs for a list
            return self.objective(given, M)
        return value(self.family(given), M).value

    def certify(self, given: Given, M: FloatArray, dual: Dual) -> Certificate:
        """Certify the metric M (d, d) with the dual variables in `dual`.

        If there are too many pairs to be listed, `dual` may hold a metric, from which the dual variables are computed.
        Then the object that `everyone` returns computes the certificate.
        """
        everyone = self.everyone(given) if isinstance(dual, Mapping) and METRIC in dual else None
        if everyone is not None:
            return everyone.certify(M, metric_of(dual, len(M)))
        return self._certify(given, self.family(given), M, dual)

    def _certify(self, given: Given, family: Family, M: FloatArray, dual: Dual) -> Certificate:
        certificate, proof = certify(family, M, self.read(given, dual), self.strict(given, dual))
        return replace(certificate, dual=self.named(given, *proof.duals))

    def exact(self, given: Given, M: FloatArray, dual: Dual, *, root: ArrayLike | None = None) -> Exact:
        """An interval that contains the optimum, in exact arithmetic (theorem/exact.py).

        Its upper end is the objective of M, or of a feasible matrix near M. Its lower end comes from the best multiple
        or mixture of the dual variables in `dual`. root: (d, r), a matrix R with R R^T near M, if it is known.
        """
        family = self.member(given)
        proof = prove(family, self.read(given, dual), self.strict(given, dual))
        inner = None if family.anchors is None else family.anchors.strict
        strict = None if inner is None else inner.duals
        return interval(self.member(given, Fraction), M, proof.duals, root, strict)

    def exact_as_stored(
        self, given: Given, M: FloatArray, dual: Dual, *, root: ArrayLike, hint: Any = None
    ) -> Exact:
        """An interval that contains the optimum, in exact arithmetic, from the dual variables as they are stored.

        They are only moved into the domain of the loss. No multiple or mixture is searched. root: (d, r), a matrix R
        with R R^T near M. hint: data from floats that make the proof of the lower bound easier, if known.
        """
        duals = in_domain(self.member(given), self.read(given, dual))
        return interval(self.member(given, Fraction), M, duals, root, hint=hint)

    def search(
        self, given: Given, tol: float, max_iter: int, start: Start | None, callback: Callback
    ) -> Found:
        """Solve with the solver `PATH`, or with the object of `everyone` if the pairs are too many to be listed.

        start: a metric with its dual, if there is one. If the solver certified its result, the result keeps this
        certificate, so that it is not computed again. A subclass that overrides `certify` does not keep it.
        """
        everyone = self.everyone(given)
        if everyone is not None:
            return everyone.search(tol, max_iter, None if start is None else start.metric, callback)
        family, last = self.family(given), list[tuple[FloatArray, Dual, Certificate]]()

        def proved(of: Family, M: FloatArray, dual: Dual) -> Certificate:
            certificate = self._certify(given, of, M, dual)
            last[:] = [(M, dual, certificate)] if of is family else []
            return certificate

        named, read = partial(self.named, given), partial(self.read, given)
        found = self.PATH(Task(family, proved, named, tol, max_iter, start, callback, read))
        if last and found.proof is None and type(self).certify is FamilyMethod.certify:
            M, dual, certificate = last[0]
            same = M is found.metric and dual is found.dual
            found = found._replace(proof=certificate) if same else found
        return found

    def left(self, other: Given, question: Question, max_iter: int = 200) -> float:
        """The relative gap of the metric of `question` in another problem: the same method with the data `other`.

        A small gap shows that a program may have solved that problem by mistake. The rounding error is subtracted from
        the gap before the gap is divided by the scale of that problem. The result is inf if the metric is infeasible,
        if the scale is 0, or if double precision cannot decide at the tolerance of the question. It is inf without a
        solve if some other metric proves that the relative gap is above `question.enough`.

        max_iter: the largest number of steps of the solver. Raises TakesTooLong if the time limit ends the solver.
        """
        family = self.family(other)

        def objective(M: FloatArray) -> float:
            return value(family, self.allowed(other, M)).value

        M = project_psd(question.metric)
        if is_improved(objective, question, M, scale(family, M)):
            return math.inf
        late = "no time is left for the solver of a misreading"
        with limited(math.inf, late) as deadline:
            try:
                found = self.search(other, question.tol / 10, max_iter, None, Watch(deadline, None))
            except KeyboardInterrupt:
                if deadline.up:
                    raise TakesTooLong(late) from None
                raise
        if deadline.up:
            raise TakesTooLong(late)
        proof = self.certify(other, question.metric, found.dual)
        if not (proof.feasibility.feasible and proof.scale > 0 and proof.decides(question.tol)):
            return math.inf
        return max(0.0, proof.gap - proof.rounding) / proof.scale
