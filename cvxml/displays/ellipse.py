"""Draw the ball of a metric among the points. It shows which directions the metric stretches or ignores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.inputs import check_choice, check_positive, check_X, real_array
from cvxml.core.metric import FloatArray, as_metric
from cvxml.displays import _draw
from cvxml.displays._geometry import (
    BALLS,
    LONG,
    SLICE,
    edges,
    in_plane,
    is_singular,
    outline,
    root_of_area,
    shape_of,
    spread,
    without_rounding,
)
from cvxml.displays._given import check_size, labels_of, learner_of, metric_of, names_of, plane_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from sklearn.base import BaseEstimator


@dataclass(kw_only=True, eq=False, repr=False)
class MetricEllipseDisplay:
    """Points by class, and around chosen centres c the ellipse (x - c)^T M (x - c) = r^2.

    Made by `from_estimator` or `from_metric`. The ellipse is narrow in directions that M stretches. The dashed circle
    has the same area, and is the ball of a multiple of the Euclidean metric.

    If M is singular in the plane, the ball is unbounded: the strip between two parallel lines, or the whole plane if
    M = 0. A ball more than a thousand times as long as wide is also drawn as a strip. Then there is no circle, and the
    title explains the shape.

    With more than two features, two are drawn. The ball is the "slice" through its centre along these two (M restricted
    to them), or the "projection", its shadow on their plane.

    Parameters
    ----------
    X : (n, 2), the points in the plane.
    y : (n,), their labels.
    metric : (2, 2), the metric in the plane. Its ball is the slice or the projection.
    centers : (k, 2), the centres c.
    radius : r, the radius of the balls.
    xlabel, ylabel, title : of the axes.

    Attributes
    ----------
    shape : "ellipse", "strip" or "plane", decided by the metric.
    ax_, figure_ : the axes and the figure.
    points_ : one collection for each class.
    balls_ : the lines of the balls.
    circles_ : the lines of the circles.
    legend_ : the legend.

    Examples
    --------
    import cvxml
    X, y = cvxml.datasets.load("iris")
    model = cvxml.LMNN().fit(X, y)
    picture = cvxml.displays.MetricEllipseDisplay.from_estimator(model, X, y, features=(2, 3))
    picture.figure_.savefig("ellipse.png")
    print(picture.shape)  # -> ellipse
    """

    X: FloatArray
    y: np.ndarray
    metric: FloatArray
    centers: FloatArray
    radius: float
    xlabel: str = "feature 0"
    ylabel: str = "feature 1"
    title: str = ""

    def __post_init__(self) -> None:
        self.shape = shape_of(self.metric)

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        centers: ArrayLike | None = None,
        features: tuple[int | str, int | str] = (0, 1),
        ball: str = SLICE,
        radius: float | None = None,
        ax: Axes | None = None,
        circle: bool = True,
    ) -> Self:
        """Draw the metric of a fitted estimator with get_mahalanobis_matrix() or components_.

        estimator: may be a Pipeline or a search. Then the metric is that of the last step that learns one, and the
            picture shows X transformed by the steps before it.
        X, y: points (n, d) and their labels (n,); y may be None. A data frame must have the columns of the fit, in this
            order.
        centers: (k, 2), in the drawn features; default: the class means.
        features: the two that are drawn, by index or by name.
        ball: "slice" or "projection".
        radius: r. By default, the dashed circle has a radius of one standard deviation within classes; a strip has this
            width; r is 1 if M = 0 in the plane.
        ax: default: new axes.
        circle: True to draw the dashed circle of the same area.

        Raises NotFittedError, and ValueError for a local metric, a kernel metric, an estimator without a metric, or
        other columns.
        """
        options: dict[str, Any] = {"centers": centers, "features": features, "ball": ball, "radius": radius}
        learner = learner_of(estimator, X)
        drawn: dict[str, Any] = {"names": learner.names, "ax": ax, "circle": circle}
        return cls._drawn(metric_of(learner.estimator), learner.X, y, **options, **drawn)

    @classmethod
    def from_metric(
        cls,
        metric: ArrayLike,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        centers: ArrayLike | None = None,
        features: tuple[int | str, int | str] = (0, 1),
        ball: str = SLICE,
        radius: float | None = None,
        ax: Axes | None = None,
        circle: bool = True,
    ) -> Self:
        """Draw `metric` (d, d), psd, among the points X (n, d) with labels y (n,), which may be None.

        centers: (k, 2), in the drawn features; default: the class means.
        features: the two that are drawn, by index or by name.
        ball: "slice" or "projection".
        radius: r. By default, the dashed circle has a radius of one standard deviation within classes; a strip has this
            width; r is 1 if M = 0 in the plane.
        ax: default: new axes.
        circle: True to draw the dashed circle of the same area.

        Raises ValueError for bad input.
        """
        options: dict[str, Any] = {"centers": centers, "features": features, "ball": ball, "radius": radius}
        return cls._drawn(metric, X, y, **options, names=names_of(X), ax=ax, circle=circle)

    @classmethod
    def _drawn(
        cls,
        metric: ArrayLike,
        X: ArrayLike,
        y: ArrayLike | None,
        *,
        centers: ArrayLike | None,
        features: tuple[int | str, int | str],
        ball: str,
        radius: float | None,
        names: list[str] | None,
        ax: Axes | None,
        circle: bool,
    ) -> Self:
        """Check the arguments and draw. names: the names of all features, if they have names."""
        given = check_X(X)
        d = given.shape[1]
        shown = plane_of(features, d, names)
        chosen = shown.features
        M = check_size(as_metric(metric, d), "metric")
        plane = in_plane(M, chosen, check_choice(ball, "ball", BALLS))
        plane = without_rounding(plane, float(np.abs(M).max()))
        at, labels = given[:, chosen], labels_of(y, len(given))
        return cls(
            X=at,
            y=labels,
            metric=plane,
            centers=_centers(centers, at, labels),
            radius=_radius(plane, spread(at, labels)) if radius is None else check_positive(radius, "radius"),
            xlabel=shown.xlabel,
            ylabel=shown.ylabel,
            title=_title(plane, "" if d == 2 else ball),
        ).plot(ax, circle=circle)

    def plot(self, ax: Axes | None = None, *, circle: bool = True) -> Self:
        """Draw the ball.

        ax: default: new axes.
        circle: True to draw the dashed circle of the same area.

        Raises ImportError without matplotlib.
        """
        self.figure_, self.ax_ = _draw.start(ax)
        self.points_ = _draw.points(self.ax_, self.X, self.y)
        self.balls_: list[Any] = []
        self.circles_: list[Any] = []
        lines: list[FloatArray] = []
        if self.shape != "plane":
            lines = [
                self._ellipse(c, circle) if self.shape == "ellipse" else self._strip(c) for c in self.centers
            ]
            self.ax_.plot(
                *self.centers.T,
                "+",
                color=_draw.INK,
                markersize=_draw.scaled(self.ax_, 10),
                markeredgewidth=2,
                label="_centre",
            )
        _draw.frame(self.ax_, self.X, lines)
        self.legend_ = _draw.words(
            self.ax_, self.title, self.xlabel, self.ylabel, _draw.classes(self.points_)
        )
        return self

    def _ellipse(self, centre: FloatArray, circle: bool) -> FloatArray:
        """Draw the ellipse around one centre, and its circle if `circle` is True; return the points of both."""
        name = "_" if self.balls_ else f"ball of the metric, r = {self.radius:.3g}"
        line = outline(self.metric, centre, self.radius)
        self.balls_ += self.ax_.plot(*line.T, color=_draw.INK, linewidth=2, label=name)
        if circle:
            name = "_" if self.circles_ else "Euclidean circle of the same area"
            around = outline(np.eye(2), centre, self.radius / root_of_area(self.metric))
            self.circles_ += self.ax_.plot(*around.T, "--", color=_draw.GREY, linewidth=1.8, label=name)
            line = np.concatenate([line, around])
        return line

    def _strip(self, centre: FloatArray) -> FloatArray:
        """Draw the ball around one centre for a metric of rank 1: a strip without ends, two edges with a shade between.

        Return (4, 2), the corners of a square between the edges around the centre; the picture must contain it.
        """
        (first, along), (second, _) = edges(self.metric, centre, self.radius)
        for point in (first, second):
            name = "_" if self.balls_ else f"the ball, a strip; r = {self.radius:.3g}"
            self.balls_.append(
                self.ax_.axline(point, point + along, color=_draw.INK, linewidth=2, label=name)
            )
        far = 100 * (_draw.width(self.X) + np.linalg.norm(first - second)) * along
        corners = np.array([first - far, first + far, second + far, second - far])
        self.ax_.fill(*corners.T, color=_draw.GREY, alpha=0.2, linewidth=0, label="_")
        aside = np.linalg.norm(first - second) / 2 * along
        return np.array([first - aside, first + aside, second - aside, second + aside])


def _centers(centers: ArrayLike | None, X: FloatArray, labels: np.ndarray) -> FloatArray:
    if centers is None:
        return np.array([X[labels == c].mean(axis=0) for c in np.unique(labels)])
    given = np.atleast_2d(real_array(centers, "centers"))
    if given.ndim != 2 or given.shape[1] != 2 or not len(given) or not np.isfinite(given).all():
        raise ValueError(
            f"centers must be finite, of shape (k, 2), in the two features drawn; got {given.shape}"
        )
    return given


def _radius(M: FloatArray, deviation: float) -> float:
    """Return the r for which the circle of the same area as the ball of M (2, 2) has the radius `deviation`.

    If the ball is a strip, r is such that its width is `deviation`. For M = 0, r is 1.
    """
    shape = shape_of(M)
    if shape == "plane":
        return 1.0
    if shape == "strip":
        return float(deviation / 2 * np.sqrt(np.linalg.eigvalsh(M)[1]))
    return deviation * root_of_area(M)


def _title(M: FloatArray, ball: str) -> str:
    """Return the title. M: (2, 2), the metric in the plane. ball: "slice", "projection", or "" if d = 2."""
    which = {
        "": "",
        "slice": ", cut along these two features",
        "projection": ", its shadow on these two features",
    }[ball]
    shape, equation = shape_of(M), "(x - c)ᵀ M (x - c) = r²" + which
    if shape == "plane":
        return (
            "In this plane M is 0 up to rounding: all distances are 0, and the ball is the whole plane"
            + which
        )
    if shape == "ellipse":
        return equation
    if is_singular(M):
        return equation + "\nIn this plane M is singular: the ball is unbounded"
    return equation + f"\nThe ball is more than {LONG:.0f} times as long as wide, in these units"
