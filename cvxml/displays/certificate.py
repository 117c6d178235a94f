"""Draw the certificate of a solution: the gap against iterations, or objective and lower bound."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.inputs import check_choice
from cvxml.core.metric import FloatArray, IntArray
from cvxml.core.result import Certificate, Solution
from cvxml.core.tolerance import Tolerance, check_tol
from cvxml.displays import _draw
from cvxml.displays._given import frame_of, learner_of
from cvxml.displays._words import why_no_gap

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from sklearn.base import BaseEstimator

BLUE, RED = "#0072B2", "#D55E00"
ACROSS, SHOWN = ("iteration", "seconds"), ("gap", "bounds")
NAMES = {"iteration": "iteration", "seconds": "time (seconds)"}  # of the axis
PROVED, STEP, TRIVIAL = "problem", "step", "nothing"  # the problem that the lower bounds of a history are for


@dataclass(kw_only=True, eq=False, repr=False)
class CertificateDisplay:
    """The history of a solver, and the final certificate.

    Made by `from_estimator` or `from_solution`.

    show="gap" draws (objective - lower_bound) / scale on a logarithmic scale, with the tolerance. show="bounds" draws
    objective and lower bound. The values of the history may be estimates of the solver. A star marks the certificate of
    the returned metric, computed again from the data. If several starts were run, each has its own line.

    If the problem is not convex, the bounds are those of convex steps, and the legend states this. A convex step is the
    convex problem that the method solves next, from its current metric. If only a trivial bound is known, there is no
    gap to draw, and a text replaces it.

    Parameters
    ----------
    iteration, seconds, objective, lower_bound, gap : (t,), the history.
    certificate : the certificate of the metric.
    status, notes : the status and the notes of the solution, in words.
    method : the id of the method, a name from `cvxml list`.
    tol : the tolerance, relative to the scale.

    Attributes
    ----------
    ax_, figure_ : the axes and the figure.
    bounds_of : the problem that the lower bounds are for: "problem", "step" (a convex step of it) or "nothing".
    runs : slices of the history, one for each start.
    gap_lines_, objective_lines_, bound_lines_ : one line for each run.
    tolerance_line_, final_ : the line of the tolerance and the star; None if they are not drawn.
    message_ : the text that replaces the gap; None if the gap or the bounds are drawn.
    legend_ : the legend, if the gap or the bounds are drawn.

    Examples
    --------
    import cvxml
    X, y = cvxml.datasets.load("iris")
    model = cvxml.LMNN().fit(X, y)
    picture = cvxml.displays.CertificateDisplay.from_estimator(model)
    picture.figure_.savefig("certificate.png")
    print(picture.status)  # -> certified optimal: gap <= tol x scale + rounding
    """

    iteration: IntArray
    seconds: FloatArray
    objective: FloatArray
    lower_bound: FloatArray
    gap: FloatArray
    certificate: Certificate
    status: str = ""
    notes: tuple[str, ...] = ()
    method: str = ""
    tol: float = 1e-6

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        X: ArrayLike | None = None,
        y: ArrayLike | None = None,
        *,
        tol: Tolerance | None = None,
        ax: Axes | None = None,
        show: str = "gap",
        x: str = "iteration",
    ) -> Self:
        """Draw the certificate of a fitted estimator.

        estimator: may be a Pipeline or a search. Then the certificate is that of its last metric learner of cvxml.
        X, y: not needed. If X is a data frame, it must have the columns of the fit, in this order.
        tol: the tolerance that is drawn as a line; default: that of the estimator.
        ax: default: new axes.
        show: "gap" or "bounds".
        x: the horizontal axis, "iteration" or "seconds".

        Raises NotFittedError, and ValueError for an estimator without a solution or for other columns.
        """
        learner = learner_of(estimator, frame_of(X), "solution_").estimator
        solution = getattr(learner, "solution_", None)
        if solution is None:
            raise ValueError(f"{type(learner).__name__} keeps no solution_: {_instead(learner)}")
        return cls.from_solution(solution, tol=learner.tol if tol is None else tol, ax=ax, show=show, x=x)

    @classmethod
    def from_solution(
        cls,
        solution: Solution,
        *,
        tol: Tolerance = 1e-6,
        ax: Axes | None = None,
        show: str = "gap",
        x: str = "iteration",
    ) -> Self:
        """Draw the certificate of a Solution.

        tol: the tolerance that is drawn as a line. Give that of the solve; the default is the default of `cvxml.solve`.
        ax: default: new axes.
        show: "gap" or "bounds".
        x: the horizontal axis, "iteration" or "seconds".

        Raises ValueError for other objects, such as a saved solution, because a file has no history.
        """
        if not isinstance(solution, Solution):
            raise ValueError(
                f"CertificateDisplay needs a solution of cvxml.solve, got {type(solution).__name__}; a file holds no "
                "history"
            )
        steps = solution.history
        return cls(
            iteration=np.array([step.iteration for step in steps], dtype=np.intp),
            seconds=np.array([step.seconds for step in steps], dtype=np.float64),
            objective=np.array([step.objective for step in steps], dtype=np.float64),
            lower_bound=np.array([step.lower_bound for step in steps], dtype=np.float64),
            gap=np.array([step.gap for step in steps], dtype=np.float64),
            certificate=solution.certificate,
            status=solution.status.sentence,
            notes=solution.notes,
            method=solution.method,
            tol=check_tol(tol),
        ).plot(ax, show=show, x=x)

    @property
    def runs(self) -> list[slice]:
        """Slices of the history, one for each run. A run begins where the iterations start again."""
        starts = np.flatnonzero(self.iteration <= self.iteration[0]).tolist() if len(self.iteration) else []
        ends = [*starts[1:], len(self.iteration)] if starts else []
        return [slice(a, b) for a, b in zip(starts, ends, strict=True)]

    @property
    def bounds_of(self) -> str:
        """The problem that the lower bounds in the history are for.

        "problem": the problem itself. "step": convex steps of it. "nothing": only a trivial bound is known.
        """
        if self.certificate.kind != "stationary":
            return PROVED
        if (self.lower_bound == self.certificate.lower_bound).all() or self.certificate.step is None:
            return TRIVIAL
        return STEP

    @property
    def judged(self) -> Certificate:
        """The certificate to which tol applies: that of the convex step if it exists, else that of the problem."""
        return self.certificate.step or self.certificate

    @property
    def scale(self) -> float:
        """The divisor of the gaps: the scale of `judged`, or 1 if that is not positive and finite."""
        scale = self.judged.scale
        return scale if math.isfinite(scale) and scale > 0 else 1.0

    def plot(self, ax: Axes | None = None, *, show: str = "gap", x: str = "iteration") -> Self:
        """Draw the certificate.

        ax: default: new axes.
        show: "gap" or "bounds".
        x: the horizontal axis, "iteration" or "seconds".

        Raises ValueError for other words, and ImportError without matplotlib.
        """
        check_choice(show, "show", SHOWN)
        across = self.seconds if check_choice(x, "x", ACROSS) == "seconds" else self.iteration
        self.figure_, self.ax_ = _draw.start(ax, (6.4, 5.0))
        self.gap_lines_: list[Any] = []
        self.objective_lines_: list[Any] = []
        self.bound_lines_: list[Any] = []
        self.tolerance_line_: Any = None
        self.final_: Any = None
        self.message_ = (
            why_no_gap(self.certificate, self.notes) if show == "gap" and self.bounds_of == TRIVIAL else None
        )
        title = f"{self.method}\n{self.status}"
        if self.message_ is not None:
            _draw.message(self.ax_, self.message_)
            _draw.words(self.ax_, title, "", "")
            return self
        if show == "gap":
            self._draw_gap(across)
        else:
            self._draw_bounds(across)
        xlabel = NAMES[x] if len(across) else "(no history was kept)"
        if len(across) < 2:
            self.ax_.set_xticks(across)
        elif x == "iteration":
            self.ax_.xaxis.get_major_locator().set_params(integer=True)
        self.legend_ = _draw.words(self.ax_, title, xlabel, self._name_of_axis(show))
        return self

    def _draw_gap(self, across: Any) -> None:
        unit, proof = self.scale, self.judged
        floor = max(proof.rounding, 1e-300) / unit
        drawn = np.maximum(self.gap / unit, floor)  # smaller values are rounding, and may be negative
        drawn[~np.isfinite(self.gap)] = np.nan
        label = (
            "gap of the convex step"
            if self.bounds_of == STEP
            else "gap: the solver's estimate of the possible improvement"
        )
        self.gap_lines_ = self._lines(across, drawn, label, BLUE, "o")
        last = proof.rel_gap if proof.parts else proof.gap / unit
        if math.isfinite(last):
            self.final_ = self._star(
                across, max(last, floor), f"the certificate: {_gap_in_words(last, floor)}"
            )
        self.ax_.set_yscale("log")
        if proof.scale > 0:
            told = f"tolerance {self.tol:g}"
            self.tolerance_line_ = self.ax_.axhline(
                self.tol, color=RED, linestyle="--", linewidth=1.8, label=told
            )
        if min(last, np.nanmin(drawn, initial=np.inf)) <= floor:
            self.ax_.axhline(floor, color=_draw.GREY, linestyle=":", linewidth=1.8, label="below: rounding")

    def _draw_bounds(self, across: Any) -> None:
        self.objective_lines_ = self._lines(across, self.objective, "objective", BLUE, "o")
        proof = self.certificate if self.bounds_of == TRIVIAL else self.judged
        if self.bounds_of != TRIVIAL:
            below = np.where(np.isfinite(self.lower_bound), self.lower_bound, np.nan)
            label = (
                "lower bound of the convex step"
                if self.bounds_of == STEP
                else "lower bound of all metrics: the solver's estimate"
            )
            self.bound_lines_ = self._lines(across, below, label, RED, "^")
        elif math.isfinite(proof.lower_bound):
            label = f"trivial bound {proof.lower_bound:.6g}; no other bound for all metrics is known"
            style = {"color": _draw.GREY, "linestyle": ":", "linewidth": 1.8, "label": label}
            self.bound_lines_ = [self.ax_.axhline(proof.lower_bound, **style)]
        self.final_ = self._star(across, proof.objective, f"in the end: {proof.objective:.9g}")

    def _lines(self, across: Any, values: FloatArray, label: str, colour: str, marker: str) -> list[Any]:
        """Draw a line for each run in one colour, paler from run to run, and return the lines.

        across, values: (t,), the horizontal and vertical coordinates of the points of the history.
        """
        runs = self.runs
        several = f", each of {len(runs)} starts" if len(runs) > 1 else ""
        look = {"color": colour, "marker": marker, "markersize": _draw.scaled(self.ax_, 5), "linewidth": 1.8}
        drawn = []
        for k, run in enumerate(runs):
            look |= {"alpha": 1 - 0.6 * k / len(runs), "label": "_" if k else label + several}
            drawn += self.ax_.plot(across[run], values[run], **look)
        return drawn

    def _star(self, across: Any, value: float, label: str) -> Any:
        ends = [run.stop - 1 for run in self.runs]
        best = min(ends, key=lambda end: abs(self.objective[end] - self.certificate.objective), default=None)
        at = 0 if best is None else across[best]
        look = {
            "color": _draw.INK,
            "marker": "*",
            "markersize": _draw.scaled(self.ax_, 14),
            "linestyle": "",
            "zorder": 5,
        }
        return self.ax_.plot([at], [value], label=label, **look)[0]

    def _name_of_axis(self, show: str) -> str:
        if show == "bounds":
            return "objective and lower bound"
        if self.judged.scale > 0:
            return f"relative gap (gap / {self.judged.scale:.3g})"
        return "gap (units of the objective)"


def _instead(estimator: Any) -> str:
    """Return the end of a message: why the estimator has no solution, and what to draw instead."""
    if hasattr(estimator, "metric_at"):
        return 'its metric is a closed form at each query; draw the result of cvxml.solve("glml", X, y, query=...)'
    return "a formula such as Euclidean or WithinClass has no proof; give a method that was solved"


def _gap_in_words(gap: float, rounding: float) -> str:
    return "no gap beyond rounding" if gap <= rounding else f"{gap:.2g}"
