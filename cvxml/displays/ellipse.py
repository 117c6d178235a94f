"""A metric as its ball among the points: what it stretches and what it ignores."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from cvxml.displays import _draw
from cvxml.displays._geometry import BALLS, SLICE, circle_radius, edges, in_plane, outline, shape_of, spread
from cvxml.displays._given import check_features, labels_of, metric_of, names_of
from cvxml.inputs import check_choice, check_positive, check_X, real_array
from cvxml.metric import FloatArray, as_metric


class MetricEllipseDisplay:
    """Points by class, and round chosen centres c the points x with (x - c)^T M (x - c) = r^2.

    Made by `from_estimator` or `from_metric`. M stretches where the ellipse is narrow. Beside it, dashed, the circle of
    the same area: a multiple of the Euclidean metric. Where M is singular in the plane the ball has no end: it is the
    strip between two parallel lines (drawn where it is more than a thousand times as long as wide), or for M = 0 the
    whole plane, and there is no circle; the title says so.

    Of more than two features two are drawn, and the ball is either the "slice" through its centre along these two,
    which is M restricted to them, or the "projection", its shadow on the plane of the two.

    Parameters
    ----------
    X : (n, 2), y : (n,), the points in the plane. metric : (2, 2), of the slice or of the projection. centers : (k, 2).
    radius : r. shape : "ellipse", "strip" or "plane". xlabel, ylabel, title : of the axes.

    Attributes
    ----------
    ax_, figure_ : the axes and the figure. points_ : one collection a class. balls_ : the lines of the balls.
    circles_ : the lines of the circles. legend_.
    """

    def __init__(
        self,
        *,
        X: FloatArray,
        y: np.ndarray,
        metric: FloatArray,
        centers: FloatArray,
        radius: float,
        shape: str = "ellipse",
        xlabel: str = "feature 0",
        ylabel: str = "feature 1",
        title: str = "",
    ):
        self.X = X
        self.y = y
        self.metric = metric
        self.centers = centers
        self.radius = radius
        self.shape = shape
        self.xlabel = xlabel
        self.ylabel = ylabel
        self.title = title

    @classmethod
    def from_estimator(cls, estimator: Any, X: ArrayLike, y: ArrayLike | None = None, **options: Any) -> Self:
        """Draw the metric of a fitted estimator, one with get_mahalanobis_matrix() or components_.

        options : as in `from_metric`. Raises NotFittedError; ValueError for a local metric, a kernel's, or none.
        """
        return cls.from_metric(metric_of(estimator), X, y, **options)

    @classmethod
    def from_metric(
        cls,
        metric: ArrayLike,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        centers: ArrayLike | None = None,
        features: tuple[int, int] = (0, 1),
        ball: str = SLICE,
        radius: float | None = None,
        ax: Any = None,
        circle: bool = True,
    ) -> Self:
        """Draw `metric` (d, d), psd, among the points X (n, d) with labels y (n,), which may be None.

        centers : (k, 2), in the features drawn; default the means of the classes. features : the two that are drawn.
        ball : "slice" or "projection". radius : r; by default that for which the circle has a radius of one standard
        deviation within classes, and a strip is as wide as one. ax, circle : as in `plot`. Raises ValueError for bad
        input.
        """
        given = check_X(X)
        d = given.shape[1]
        chosen = check_features(features, d)
        M = as_metric(metric, d)
        plane = in_plane(M, chosen, check_choice(ball, "ball", BALLS))
        shape = shape_of(plane, float(np.abs(M).max()))
        at, labels = given[:, chosen], labels_of(y, len(given))
        xlabel, ylabel = names_of(X, chosen)
        return cls(
            X=at,
            y=labels,
            metric=plane,
            centers=_centers(centers, at, labels),
            radius=_radius(plane, shape, spread(at, labels))
            if radius is None
            else check_positive(radius, "radius"),
            shape=shape,
            xlabel=xlabel,
            ylabel=ylabel,
            title=_title(shape, "" if d == 2 else ball),
        ).plot(ax, circle=circle)

    def plot(self, ax: Any = None, *, circle: bool = True) -> Self:
        """Draw on `ax` (default: new axes), with or without the circle. Raises ImportError without matplotlib."""
        self.figure_, self.ax_ = _draw.start(ax)
        self.points_ = _draw.points(self.ax_, self.X, self.y)
        self.balls_: list[Any] = []
        self.circles_: list[Any] = []
        lines = [self._ellipse(centre, circle) for centre in self.centers] if self.shape == "ellipse" else []
        if self.shape == "strip":
            for centre in self.centers:
                self._strip(centre)
        if self.shape != "plane":
            self.ax_.plot(
                *self.centers.T, "+", color=_draw.INK, markersize=10, markeredgewidth=2, label="_centre"
            )
        _draw.frame(self.ax_, self.X, lines)
        _draw.words(self.ax_, self.title, self.xlabel, self.ylabel)
        self.legend_ = _draw.legend(self.ax_)
        return self

    def _ellipse(self, centre: FloatArray, circle: bool) -> FloatArray:
        """The ball round one centre, and the circle; the points of the ball."""
        name = "_" if self.balls_ else f"ball of the metric, r = {self.radius:.3g}"
        line = outline(self.metric, centre, self.radius)
        self.balls_ += self.ax_.plot(*line.T, color=_draw.INK, linewidth=2, label=name)
        if circle:
            name = "_" if self.circles_ else "Euclidean circle of the same area"
            around = outline(np.eye(2), centre, circle_radius(self.metric, self.radius))
            self.circles_ += self.ax_.plot(*around.T, "--", color=_draw.GREY, linewidth=1.8, label=name)
        return line

    def _strip(self, centre: FloatArray) -> None:
        """The two edges of the ball round one centre, and a shade between them."""
        (first, along), (second, _) = edges(self.metric, centre, self.radius)
        for point in (first, second):
            name = "_" if self.balls_ else f"the ball, a strip; r = {self.radius:.3g}"
            self.balls_.append(
                self.ax_.axline(point, point + along, color=_draw.INK, linewidth=2, label=name)
            )
        far = 100 * _draw.width(self.X) * along
        corners = np.array([first - far, first + far, second + far, second - far])
        self.ax_.fill(*corners.T, color=_draw.GREY, alpha=0.2, linewidth=0, label="_")


def _centers(centers: ArrayLike | None, X: FloatArray, labels: np.ndarray) -> FloatArray:
    if centers is None:
        return np.array([X[labels == c].mean(axis=0) for c in np.unique(labels)])
    given = np.atleast_2d(real_array(centers, "centers"))
    if given.ndim != 2 or given.shape[1] != 2 or not len(given) or not np.isfinite(given).all():
        raise ValueError(
            f"centers must be finite, of shape (k, 2), in the two features drawn; got {given.shape}"
        )
    return given


def _radius(M: FloatArray, shape: str, deviation: float) -> float:
    """r for which the circle has this radius, or the strip this width."""
    if shape == "plane":
        return 1.0
    if shape == "strip":
        return float(deviation / 2 * np.sqrt(np.linalg.eigvalsh(M)[1]))
    return float(deviation * np.linalg.det(M) ** 0.25)


def _title(shape: str, ball: str) -> str:
    which = {
        "": "",
        "slice": ", cut along these two features",
        "projection": ", its shadow on these two features",
    }
    return {
        "ellipse": "(x - c)ᵀ M (x - c) = r²" + which[ball],
        "strip": "(x - c)ᵀ M (x - c) = r²"
        + which[ball]
        + "\nIn this plane M is singular, or all but so: the ball has no end",
        "plane": "In this plane M is 0: all distances are 0, the ball is everything" + which[ball],
    }[shape]
