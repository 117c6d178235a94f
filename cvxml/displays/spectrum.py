"""Draw the eigenvalues of metrics: which directions matter, and how many."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.inputs import check_choice, check_positive, real_array
from cvxml.core.metric import FEASIBILITY_TOL, FloatArray, as_matrix, examine
from cvxml.displays import _draw
from cvxml.displays._given import check_size, frame_of, learner_of, metric_of
from cvxml.displays._palette import COLOURS, MARKERS
from cvxml.displays._texts import literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from sklearn.base import BaseEstimator

SCALES = ("linear", "log")


@dataclass(kw_only=True, eq=False, repr=False)
class SpectrumDisplay:
    """Eigenvalues of one or several metrics, in descending order.

    Made by `from_estimator` or `from_metric`.

    An eigenvalue of at most `tol` times the largest absolute value counts as zero and is hollow. On a logarithmic scale
    it lies on a line at the bottom. Larger eigenvalues count for the numerical rank, which the legend gives. An
    eigenvalue below -tol times the largest is a cross: the matrix is not a metric. On a logarithmic scale its absolute
    value is drawn.

    The default tol, 1e-6, is also the tolerance of the package for a metric. A matrix counts as a metric if its
    asymmetry and its negative eigenvalues are at most 1e-6 times its norm. So the sign of an eigenvalue of that size
    means little.

    Parameters
    ----------
    eigenvalues : name -> (d,), descending.
    tol : relative to the largest absolute value of an eigenvalue.

    Attributes
    ----------
    ax_, figure_ : the axes and the figure.
    ranks_ : name -> int, the number of eigenvalues above tol.
    stems_ : name -> lines, one for each eigenvalue.
    marks_ : name -> the markers of positive, zero and negative eigenvalues.
    legend_ : the legend.

    Examples
    --------
    import cvxml
    X, y = cvxml.datasets.load("iris")
    model = cvxml.LMNN().fit(X, y)
    picture = cvxml.displays.SpectrumDisplay.from_estimator(model)
    picture.figure_.savefig("spectrum.png")
    print(picture.ranks_)  # -> {'LMNN': 4}
    """

    eigenvalues: Mapping[str, FloatArray]
    tol: float = FEASIBILITY_TOL

    def __post_init__(self) -> None:
        self.eigenvalues = dict(self.eigenvalues)

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        X: ArrayLike | None = None,
        y: ArrayLike | None = None,
        *,
        name: str | None = None,
        tol: float = FEASIBILITY_TOL,
        ax: Axes | None = None,
        scale: str = "linear",
    ) -> Self:
        """Draw the spectrum of a fitted estimator's metric.

        For a kernel method, this is the metric in the kernel features.

        estimator: may be a Pipeline or a search. Then the metric is that of the last step that learns one.
        X, y: not needed. If X is a data frame, it must have the columns of the fit, in this order.
        name: in the legend; default: that of the class.
        tol: above 0 and below 1. Eigenvalues count as zero up to tol times the largest absolute value.
        ax: default: new axes.
        scale: "linear" or "log".

        Raises NotFittedError, and ValueError for an estimator without a metric or for other columns.
        """
        learner = learner_of(estimator, frame_of(X)).estimator
        named = {name or type(learner).__name__: metric_of(learner, kernel=True)}
        return cls.from_metric(named, tol=tol, ax=ax, scale=scale)

    @classmethod
    def from_metric(
        cls,
        metric: ArrayLike | Mapping[str, ArrayLike],
        *,
        tol: float = FEASIBILITY_TOL,
        ax: Axes | None = None,
        scale: str = "linear",
    ) -> Self:
        """Draw the spectra of a symmetric matrix (d, d), or of several.

        metric: (d, d), or a mapping name -> (d, d).
        tol: above 0 and below 1. Eigenvalues count as zero up to tol times the largest absolute value.
        ax: default: new axes.
        scale: "linear" or "log".

        Raises ValueError for a matrix that is not square, symmetric and finite, and for a nonzero matrix with a largest
        entry outside 1e-280 to 1e280. An empty mapping, and a bad tol or scale, raise it too.
        """
        named = metric if isinstance(metric, Mapping) else {"metric": metric}
        if not named:
            raise ValueError("the mapping holds no metric; give at least one")
        if check_positive(tol, "tol") >= 1:
            raise ValueError(f"tol is a share of the largest eigenvalue and must be below 1, got {tol!r}")
        check_choice(scale, "scale", SCALES)
        spectra = {str(name): eigenvalues_of(M, str(name)) for name, M in named.items()}
        return cls(eigenvalues=spectra, tol=tol).plot(ax, scale=scale)

    def plot(self, ax: Axes | None = None, *, scale: str = "linear") -> Self:
        """Draw the eigenvalues.

        ax: default: new axes.
        scale: "linear" or "log".

        Raises ImportError without matplotlib.
        """
        log = check_choice(scale, "scale", SCALES) == "log"
        self.figure_, self.ax_ = _draw.start(ax, (6.4, 5.0))
        self.ranks_ = {name: int((kinds_of(v, self.tol) > 0).sum()) for name, v in self.eigenvalues.items()}
        self.stems_: dict[str, list[Any]] = {}
        self.marks_: dict[str, list[Any]] = {}
        floor = self._floor()
        for k, name in enumerate(self.eigenvalues):
            self._draw_one(k, name, floor if log else None)
        if log:
            self._log_axis(floor)
        else:
            self.ax_.axhline(0, color=_draw.GREY, linewidth=0.8, zorder=0)
        self.ax_.xaxis.get_major_locator().set_params(integer=True)
        title = f"Rank: eigenvalues above {self.tol:g} of the largest; the others count as 0, and are hollow"
        xlabel = "number of the eigenvalue, from the largest"
        self.legend_ = _draw.words(self.ax_, title, xlabel, "eigenvalue", self._named())
        return self

    def _draw_one(self, k: int, name: str, floor: float | None) -> None:
        """Draw the eigenvalues of the k-th metric.

        floor: the height of eigenvalues that count as zero on a logarithmic scale; None for a linear scale. On a
        logarithmic scale, negative eigenvalues show their absolute value.
        """
        values = self.eigenvalues[name]
        kinds = kinds_of(values, self.tol)
        height = values if floor is None else np.where(kinds == 0, floor, np.abs(values))
        many = len(self.eigenvalues)
        place = np.arange(1, len(values) + 1) + (k - (many - 1) / 2) * 0.6 / many
        colour, marker = COLOURS[k % len(COLOURS)], MARKERS[k % len(MARKERS)]
        foot = 0.0 if floor is None else floor
        self.stems_[name] = [
            self.ax_.plot([x, x], [foot, v], color=colour, linewidth=1.5, alpha=0.6, label="_")[0]
            for x, v in zip(place, height, strict=True)
        ]
        label = literal(f"{name}: rank {self.ranks_[name]} of {len(values)}")
        full = {"color": colour, "marker": marker, "linestyle": "", "markersize": _draw.scaled(self.ax_, 7)}
        styles = [
            (1, full),
            (0, {**full, "markerfacecolor": "white"}),
            (-1, {**full, "marker": "x", "markeredgewidth": 2}),
        ]
        self.marks_[name] = []
        for kind, style in styles:
            shown = (
                label
                if kind == 1
                else literal(f"{name}: negative eigenvalues, so not a metric")
                if kind < 0 and (kinds < 0).any()
                else "_"
            )
            self.marks_[name] += self.ax_.plot(
                place[kinds == kind], height[kinds == kind], label=shown, **style
            )

    def _named(self) -> list[Any]:
        """Return the artists that the legend lists: for each metric, the markers of its positive eigenvalues.

        The markers of its negative eigenvalues follow, if there are any.
        """
        named = []
        for positive, _, negative in self.marks_.values():
            named += [positive] + ([negative] if len(negative.get_xdata()) else [])
        return named

    def _floor(self) -> float:
        """Return the height of zero eigenvalues on a logarithmic scale, a power of ten.

        It is at most a tenth of the absolute value of every other eigenvalue; 1 if all eigenvalues count as zero.
        """
        sizes = np.concatenate([np.abs(v[kinds_of(v, self.tol) != 0]) for v in self.eigenvalues.values()])
        return float(10.0 ** (np.floor(np.log10(sizes.min())) - 1)) if len(sizes) else 1.0

    def _log_axis(self, floor: float) -> None:
        largest = max(float(np.abs(v).max()) for v in self.eigenvalues.values())
        self.ax_.set_yscale("log")
        self.ax_.set_ylim(floor / 2, max(largest, floor * 10) * 2)
        decades = np.arange(np.log10(floor) + 1, np.floor(np.log10(max(largest, floor * 10))) + 1)
        every = int(np.ceil(len(decades) / 7))
        ticks = 10.0 ** decades[::every]
        self.ax_.set_yticks([floor, *ticks], ["0", *(f"$10^{{{round(np.log10(t))}}}$" for t in ticks)])
        self.ax_.minorticks_off()
        self.ax_.axhline(floor, color=_draw.GREY, linewidth=0.8, linestyle=":", zorder=0)


def eigenvalues_of(metric: ArrayLike, name: str = "metric") -> FloatArray:
    """Return the eigenvalues (d,) of a symmetric matrix (d, d), descending. Raises ValueError for other input."""
    given = real_array(metric, name)
    if given.ndim != 2 or given.shape[0] != given.shape[1] or not len(given):
        raise ValueError(f"{name} must be a square matrix (d, d), got shape {given.shape}")
    M = check_size(as_matrix(given, len(given), name), name)
    found = examine(M)[1]
    if found.asymmetry > FEASIBILITY_TOL * found.norm:
        raise ValueError(
            f"{name} is not symmetric: |M - M^T| is up to {found.asymmetry:.3g}; give (M + M.T) / 2"
        )
    return np.asarray(np.linalg.eigvalsh((M + M.T) / 2)[::-1], dtype=np.float64)


def kinds_of(values: FloatArray, tol: float) -> FloatArray:
    """Return the sign, 1 or -1, of each eigenvalue; 0 if it is at most tol times the largest one in absolute value."""
    kinds: FloatArray = np.sign(values)
    kinds[np.abs(values) <= tol * np.abs(values).max()] = 0.0
    return kinds
