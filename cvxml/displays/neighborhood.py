"""Draw the neighbours of one point that a method uses to judge a metric.

MLSVM uses targets (neighbours of the same class) and impostors (of other classes). Gerrymandering uses two sets of k
neighbours, h* and ĥ. The score of a set is minus the sum of its squared distances to the point. The set h* has the
largest score among those that vote for the class of the point. For ĥ, the score plus the loss of its vote is largest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from cvxml import api
from cvxml.core.inputs import check_count, check_X
from cvxml.core.metric import FloatArray, IntArray
from cvxml.core.result import Evaluation
from cvxml.displays import _draw
from cvxml.displays._given import labels_of, learner_of, names_of, plane_of
from cvxml.methods import get, known

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from sklearn.base import BaseEstimator


class Look(NamedTuple):
    """The style of a set of neighbours: its name in the legend, its colour and line style.

    ring: the diameter, in points, of the ring around each neighbour.
    """

    label: str
    colour: str
    linestyle: Any
    ring: float  # diameter in points; it differs if the rings of two sets may surround one point


LOOKS = {
    "targets": Look("targets: same class", "#0072B2", "-", 13),
    "impostors": Look("impostors: other classes", "#D55E00", (0, (4, 2)), 13),
    "h_star": Look("h*: best with which the label wins", "#0072B2", "-", 13),
    "h_hat": Look("ĥ: worst, loss augmented", "#D55E00", (0, (4, 2)), 18),
}
MARKED = {"active_target": "furthest target", "active_impostor": "nearest impostor"}
SETS = {
    "mlsvm": ("targets", "impostors"),
    "kernel_mlsvm": ("targets", "impostors"),
    "ssvm": ("h_star", "h_hat"),
}


@dataclass(kw_only=True, eq=False, repr=False)
class NeighborhoodDisplay:
    """A point i with lines to its neighbours under a metric, as `cvxml.evaluate` lists them; other points are pale.

    Made by `from_estimator` or `from_metric`.

    MLSVM: targets T_i and impostors I_i. The furthest target and the nearest impostor are marked, because the margin is
    measured between them. Gerrymandering draws two sets of k neighbours, h* and ĥ. The score of a set is minus the sum
    of its squared distances to i. The set h* has the largest score among those whose vote is the label of i. For ĥ, the
    score plus the loss of its vote is largest. The method finds the neighbours in all features; the picture shows two.

    Parameters
    ----------
    X : (n, 2), the points in the plane.
    y : (n,), their labels.
    index : i.
    sets : name -> indices. The names are "targets" and "impostors", or "h_star" and "h_hat" for gerrymandering.
    marked : "active_target" and "active_impostor" -> index, if they exist.
    title, xlabel, ylabel : of the axes.

    Attributes
    ----------
    ax_, figure_ : the axes and the figure.
    points_ : one collection for each class.
    lines_ : name -> lines from i, one for each neighbour.
    rings_ : name -> the rings around the neighbours.
    marks_ : name in `marked` -> the star at this neighbour.
    legend_ : the legend.

    Examples
    --------
    import cvxml
    X, y = cvxml.datasets.load("iris")
    model = cvxml.MLSVM().fit(X, y)
    picture = cvxml.displays.NeighborhoodDisplay.from_estimator(model, X, y, index=70, features=(2, 3))
    picture.figure_.savefig("neighbors.png")
    print(picture.sets["targets"])  # -> [85]
    """

    X: FloatArray
    y: np.ndarray
    index: int
    sets: Mapping[str, IntArray]
    marked: Mapping[str, int] = field(default_factory=dict)
    title: str = ""
    xlabel: str = "feature 0"
    ylabel: str = "feature 1"

    def __post_init__(self) -> None:
        self.sets, self.marked = dict(self.sets), dict(self.marked or {})

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        X: ArrayLike,
        y: ArrayLike,
        index: int = 0,
        *,
        features: tuple[int | str, int | str] = (0, 1),
        zoom: bool = True,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the neighbours of point `index` at the metric of a fitted MLSVM, KernelMLSVM or Gerrymandering.

        estimator: may be a Pipeline or a search. Then the neighbours are those of its last metric learner of cvxml,
            and the picture shows X transformed by the steps before it.
        X: (n, d), the points of the fit. A data frame must have the columns of the fit, in this order.
        y: (n,), the labels of the fit.
        features: the two that are drawn, by index or by name.
        zoom: True to show the neighbourhood only, False to show all points.
        ax: default: new axes.

        Raises NotFittedError, and ValueError for another estimator and for bad input.
        """
        learner = learner_of(estimator, X, "solution_")
        solution = getattr(learner.estimator, "solution_", None)
        if solution is None or solution.method not in SETS:
            raise ValueError(
                "NeighborhoodDisplay draws a fitted MLSVM, KernelMLSVM or Gerrymandering, got "
                f"{type(learner.estimator).__name__}"
            )
        method = solution.method
        params = {k: v for k, v in solution.params.items() if k in get(method).PARAMETERS}
        shown: dict[str, Any] = {"features": features, "names": learner.names, "zoom": zoom, "ax": ax}
        return cls._drawn(method, learner.X, y, solution.metric, index, params, **shown)

    @classmethod
    def from_metric(
        cls,
        method: str,
        X: ArrayLike,
        y: ArrayLike,
        metric: ArrayLike,
        index: int = 0,
        *,
        features: tuple[int | str, int | str] = (0, 1),
        zoom: bool = True,
        ax: Axes | None = None,
        **params: Any,
    ) -> Self:
        """Draw the neighbours of point `index` of X (n, d) with labels y (n,), for `method` at `metric`.

        method: "mlsvm", "kernel_mlsvm" or "ssvm".
        params: parameters of the method.
        features: the two that are drawn, by index or by name.
        zoom: True to show the neighbourhood only, False to show all points.
        ax: default: new axes.

        Raises ValueError for bad input.
        """
        shown: dict[str, Any] = {"features": features, "names": names_of(X), "zoom": zoom, "ax": ax}
        return cls._drawn(method, X, y, metric, index, params, **shown)

    @classmethod
    def _drawn(
        cls,
        method: str,
        X: ArrayLike,
        y: ArrayLike,
        metric: ArrayLike,
        index: int,
        params: Mapping[str, Any],
        *,
        features: tuple[int | str, int | str],
        names: list[str] | None,
        zoom: bool,
        ax: Axes | None,
    ) -> Self:
        """Check the arguments and draw. names: the names of all features, if they have names."""
        points = check_X(X)
        shown = plane_of(features, points.shape[1], names)
        i = check_count(index, "index", at_least=0, at_most=len(points) - 1)
        method = _check_method(method)
        at = api.evaluate(method, X, y, metric, **params)
        labels = labels_of(y, len(points))
        return cls(
            X=points[:, shown.features],
            y=labels,
            index=i,
            sets={name: np.asarray(at.values[name][i], dtype=np.intp) for name in SETS[method]},
            marked={k: int(at.values[k][i]) for k in MARKED if k in at.values and at.values[k][i] >= 0},
            title=f"point {i}, class {labels[i]}; {_values_in_words(at, i)}",
            xlabel=shown.xlabel,
            ylabel=shown.ylabel,
        ).plot(ax, zoom=zoom)

    def plot(self, ax: Axes | None = None, *, zoom: bool = True) -> Self:
        """Draw the point and its neighbours.

        ax: default: new axes.
        zoom: True to show the neighbourhood only, False to show all points.

        Raises ImportError without matplotlib.
        """
        self.figure_, self.ax_ = _draw.start(ax)
        self.points_ = _draw.points(self.ax_, self.X, self.y, pale=True, size=42)
        self.lines_: dict[str, list[Any]] = {}
        self.rings_: dict[str, Any] = {}
        self.marks_: dict[str, Any] = {}
        here = self.X[self.index]
        for name, members in self.sets.items():
            self._draw_set(name, members)
        for name, j in self.marked.items():
            style = {
                "marker": "*",
                "markersize": _draw.scaled(self.ax_, 15),
                "linestyle": "",
                "markeredgecolor": "white",
            }
            style["color"] = LOOKS["targets" if name == "active_target" else "impostors"].colour
            self.marks_[name] = self.ax_.plot(*self.X[j], **style, label=MARKED[name], zorder=5)[0]
        style = {
            "marker": "P",
            "markersize": _draw.scaled(self.ax_, 13),
            "color": _draw.INK,
            "markeredgecolor": "white",
            "linestyle": "",
        }
        self.ax_.plot(*here, **style, label=f"the point {self.index}", zorder=6)
        near = np.concatenate([[self.index], *self.sets.values()]).astype(np.intp)
        self._strengthen(near)
        if zoom:
            _draw.zoom(self.ax_, self.X[near], self.X)
        else:
            _draw.frame(self.ax_, self.X)
        self.legend_ = _draw.words(
            self.ax_, self.title, self.xlabel, self.ylabel, _draw.classes(self.points_)
        )
        return self

    def _strengthen(self, near: IntArray) -> None:
        """Make the points `near` (indices) opaque, and keep the other points pale."""
        alpha = np.full(len(self.X), 0.3)
        alpha[near] = 0.9
        for drawn, label in zip(self.points_, np.unique(self.y), strict=True):
            mine = alpha[self.y == label]
            colours = np.tile(drawn.get_facecolor()[:1], (len(mine), 1))
            colours[:, 3] = mine
            drawn.set_alpha(None)
            drawn.set_facecolor(colours)
            if drawn.get_linewidth()[0] > 0:
                edges = np.zeros_like(colours)
                edges[:, 3] = mine
                drawn.set_edgecolor(edges)

    def _draw_set(self, name: str, members: IntArray) -> None:
        look, here = LOOKS[name], self.X[self.index]
        style = {
            "color": look.colour,
            "linestyle": look.linestyle,
            "linewidth": 1.8,
            "zorder": 2,
            "label": "_",
        }
        self.lines_[name] = [self.ax_.plot(*np.transpose([here, self.X[j]]), **style)[0] for j in members]
        ring = {
            "marker": "o",
            "markersize": _draw.scaled(self.ax_, look.ring),
            "markerfacecolor": "none",
            "markeredgewidth": 1.8,
        }
        label = look.label if len(members) else f"{look.label} (none)"
        style = {"color": look.colour, "linestyle": look.linestyle, "zorder": 3, "label": label}
        (legend_entry,) = self.ax_.plot([], [], **style, **ring)
        legend_entry.set_linewidth(1.8)
        (self.rings_[name],) = self.ax_.plot(
            *self.X[members].T, **{**style, "linestyle": "", "label": "_"}, **ring
        )


def _check_method(method: Any) -> str:
    id = known(method)
    if id not in SETS:
        raise ValueError(f"NeighborhoodDisplay draws the methods {', '.join(SETS)}, got {method!r}")
    return id


def _values_in_words(at: Evaluation, i: int) -> str:
    if "xi" not in at.values:
        return f"L = {at.L[i]:.3g}, Delta(y, ĥ) = {at.Delta[i]:.3g}"
    if at.active_target[i] < 0:
        return "no targets or no impostors: no constraint"
    return f"slack xi = {at.xi[i]:.3g}" + (": the margin of 1 is not met" if at.xi[i] > 0 else "")
