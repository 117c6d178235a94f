"""Draw the local metrics of GLML in the plane, with a colour for the kind of optimum at each query.

GLML computes a matrix B(x) from the densities of the classes at a query x. The local metric A has determinant 1 and
minimises (tr[A^-1 B])^2. The kind depends on the signs of the eigenvalues of B.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from cvxml import api
from cvxml.core.inputs import check_count, check_X, real_array
from cvxml.core.metric import FloatArray
from cvxml.core.result import Solution
from cvxml.displays import _draw
from cvxml.displays._geometry import in_plane, outline, radius_for
from cvxml.displays._given import Plane, labels_of, learner_of, names_of, plane_of, refuse_other_columns
from cvxml.displays._grid import Densities, densities_of, grid, length_for
from cvxml.displays._palette import COLOURS
from cvxml.methods.glml.solver import Case

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from sklearn.base import BaseEstimator

LINES = {
    Case.DEFINITE: ("#000000", "-"),
    Case.INDEFINITE: ("#D55E00", (0, (3, 1.5))),
    Case.SINGULAR: ("#CC79A7", "-."),
    Case.ZERO: ("#767676", ":"),
}
LEVELS = (0.05, 0.3, 0.7)  # relative to the highest density of a class in the picture


@dataclass(kw_only=True, eq=False, repr=False)
class LocalMetricDisplay:
    """Ellipses of the local metric at queries x. Line and colour show the case of the matrix B(x).

    GLML computes the metric A(x) from B(x). `from_solution` draws A(x), which has determinant 1. `from_estimator` draws
    A(x) + gamma I, the metric of the estimator with its parameter gamma; the title states this. The ellipse is narrow
    in directions that the metric stretches. Only shapes can be compared: all ellipses are drawn equally long. With more
    than two features, the picture shows the section of the ellipsoid with the plane of two features.

    The cases of B(x). Definite: the optimum is unique. Indefinite: A is one of many metrics with tr[A^-1 B] = 0.
    Singular: no metric attains the infimum. Zero: every metric is optimal.

    Parameters
    ----------
    X : (n, 2), the points in the plane.
    y : (n,), their labels.
    queries : (q, 2).
    metrics : (q, 2, 2), the local metric at each query.
    cases : a member of the enumeration cvxml.methods.glml.solver.Case for each query; others raise ValueError.
    length : of the longest semi-axis of each ellipse.
    gamma : the number that was added to the diagonal of A, for the title.
    densities : the densities of the classes, for contours; None for a picture without contours.
    xlabel, ylabel : of the axes.

    Attributes
    ----------
    ax_, figure_ : the axes and the figure.
    points_ : one collection for each class.
    ellipses_ : a line for each query.
    contours_ : one contour set for each class.
    legend_ : the legend.

    Examples
    --------
    import cvxml
    X, y = cvxml.datasets.load("iris")
    model = cvxml.GLML().fit(X, y)
    picture = cvxml.displays.LocalMetricDisplay.from_estimator(model, X, y, X[::10])
    picture.figure_.savefig("local.png")
    print(picture.metrics.shape)  # -> (15, 2, 2)
    """

    X: FloatArray
    y: np.ndarray
    queries: FloatArray
    metrics: FloatArray
    cases: list[Case]
    length: float
    gamma: float = 0.0
    densities: Densities | None = None
    xlabel: str = "feature 0"
    ylabel: str = "feature 1"

    def __post_init__(self) -> None:
        self.cases = [_case(case) for case in self.cases]

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        X: ArrayLike,
        y: ArrayLike,
        queries: ArrayLike | None = None,
        *,
        features: tuple[int | str, int | str] = (0, 1),
        n_queries: int = 6,
        densities: bool = False,
        ax: Axes | None = None,
    ) -> Self:
        """Draw A + gamma I of a fitted GLML at `queries` (q, d), among the points X (n, d) with labels y (n,).

        estimator: may be a Pipeline or a search. Then the metrics are those of its GLML, and the picture shows X and
            queries transformed by the steps before it.
        X, queries: data frames must have the columns of the fit, in this order.
        queries: default: a grid over the points, with the other features at their mean.
        n_queries: number of queries along the longer side of the grid.
        features: the two that are drawn, by index or by name.
        densities: True to draw contours of the classes at 5, 30 and 70 % of their highest density, with the other
            features at their mean.
        ax: default: new axes.

        Raises NotFittedError, and ValueError for another estimator, bad input, or contours of a model of the user.
        """
        glml, given, names = learner_of(estimator, X, "metric_at")
        if not hasattr(glml, "metric_at") or not hasattr(glml, "cases_at"):
            raise ValueError(f"LocalMetricDisplay draws a fitted cvxml.GLML, got {type(glml).__name__}")
        points = check_X(given)
        shown = plane_of(features, points.shape[1], names)
        if queries is None:
            Q = grid(points, shown.features, check_count(n_queries, "n_queries"))
        else:
            at = learner_of(estimator, queries, "metric_at", called="queries").X
            refuse_other_columns(at, getattr(given, "columns", None), "queries", "X")
            Q = _queries(at, points)
        model = glml.model_ if densities else None
        A, cases = _metrics_and_cases(glml, Q)
        return cls._drawn(points, y, Q, shown, A, cases, model, ax, glml.gamma)

    @classmethod
    def from_solution(
        cls, solution: Solution, *, features: tuple[int | str, int | str] = (0, 1), ax: Axes | None = None
    ) -> Self:
        """Draw the metrics of `cvxml.solve("glml", X, y, query=...)` at its queries, among its points X and labels y.

        features: the two that are drawn, by index. A solution keeps no names.
        ax: default: new axes.

        Raises ValueError for the solution of another method.
        """
        if not isinstance(solution, Solution) or solution.method != "glml":
            raise ValueError(
                'LocalMetricDisplay needs a solution of "glml"; give the result of cvxml.solve("glml", ...)'
            )
        X, d = solution.X, solution.X.shape[1]
        Q = np.reshape(solution.params["query"], (-1, d))
        at = api.evaluate("glml", X, solution.y, solution.metric, **solution.params)
        seen = [at.seen] if isinstance(at.seen, str) else at.seen
        A = np.reshape(solution.metric, (-1, d, d))
        shown = plane_of(features, d, names_of(X))
        return cls._drawn(X, solution.y, Q, shown, A, [Case(name) for name in seen], None, ax)

    @classmethod
    def _drawn(
        cls,
        X: FloatArray,
        y: ArrayLike,
        Q: FloatArray,
        shown: Plane,
        A: FloatArray,
        cases: list[Case],
        model: Any,
        ax: Axes | None,
        gamma: float = 0.0,
    ) -> Self:
        features = shown.features
        at, centres = X[:, features], Q[:, features]
        return cls(
            X=at,
            y=labels_of(y, len(X)),
            queries=centres,
            metrics=np.array([in_plane(M, features) for M in A]),
            cases=cases,
            length=length_for(centres, at),
            gamma=gamma,
            densities=None if model is None else densities_of(model, X, features),
            xlabel=shown.xlabel,
            ylabel=shown.ylabel,
        ).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw on `ax` (default: new axes). Raises ImportError without matplotlib."""
        self.figure_, self.ax_ = _draw.start(ax)
        self.points_ = _draw.points(self.ax_, self.X, self.y, pale=True)
        self.contours_ = [] if self.densities is None else self._contours(self.densities)
        self.ellipses_, lines, told = [], [], set()
        for centre, M, case in zip(self.queries, self.metrics, self.cases, strict=True):
            lines.append(outline(M, centre, radius_for(M, self.length)))
            colour, style = LINES[case]
            name = f"B {case.value.split(':')[0]} ({self.cases.count(case)})"
            look = {
                "color": colour,
                "linestyle": style,
                "linewidth": 1.8,
                "label": "_" if case in told else name,
            }
            self.ellipses_ += self.ax_.plot(*lines[-1].T, **look)
            told.add(case)
        self.ax_.plot(
            *self.queries.T, ".", color=_draw.INK, markersize=_draw.scaled(self.ax_, 4), label="_query"
        )
        _draw.frame(self.ax_, np.concatenate([self.X, *lines]))
        sign = "\N{NO-BREAK SPACE}+\N{NO-BREAK SPACE}"
        by = f"A{sign}γI, γ = {self.gamma:g}" if self.gamma else "A"
        title = f"Each ellipse: points equally far from its query, by {by}.\n"
        title += "All are drawn equally long: only their shapes count"
        self.legend_ = _draw.words(self.ax_, title, self.xlabel, self.ylabel, _draw.classes(self.points_))
        return self

    def _contours(self, p: Densities) -> list[Any]:
        drawn = []
        for c, log_p in enumerate(p.log_p):
            style = {"colors": COLOURS[c % len(COLOURS)], "linewidths": 1.0, "alpha": 0.7}
            drawn.append(self.ax_.contour(p.x, p.y, np.exp(log_p - log_p.max()), levels=LEVELS, **style))
        return drawn


def _metrics_and_cases(glml: Any, Q: FloatArray) -> tuple[FloatArray, list[Case]]:
    """Return the metrics (q, d, d) and the cases of a fitted GLML at the queries Q (q, d)."""
    with warnings.catch_warnings():
        # the names of the columns were compared with those of the fit, and Q is an array
        warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
        return glml.metric_at(Q), glml.cases_at(Q)


def _case(case: Any) -> Case:
    if not isinstance(case, Case):
        allowed = ", ".join(map(str, Case))
        raise ValueError(
            f"each of cases must be one of {allowed} (of cvxml.methods.glml.solver), got {case!r}"
        )
    return case


def _queries(queries: ArrayLike, X: FloatArray) -> FloatArray:
    Q = np.atleast_2d(real_array(queries, "queries"))
    if Q.ndim != 2 or Q.shape[1] != X.shape[1] or not len(Q) or not np.isfinite(Q).all():
        raise ValueError(
            f"queries must be finite, of shape (q, {X.shape[1]}) for {X.shape[1]} features; got {Q.shape}"
        )
    return Q
