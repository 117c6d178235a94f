"""A metric M (d x d, psd) and a transform L (m x d) with M = L^T L; the psd cone."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cvxml.core.short_repr import printable

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]
EPS = float(np.finfo(float).eps)  # from 1 to the next float

# Asymmetry and negative eigenvalues up to this share of the Frobenius norm are projected away and
# reported; more than that is not a metric.
EXACT_INTEGERS = 2.0**53  # double precision has every integer up to this one
ROUNDED = "which double precision rounds; subtract an offset, or divide by a unit, so that integers stay below 2**53"
FEASIBILITY_TOL = 1e-6
DEEPEST = 64  # lists within lists that are looked at: numpy has no more dimensions
# Floats below this have few digits or only one, so that products of such entries are nothing but rounding.
SMALLEST_SCALE = 2.0**-1060


@dataclass(frozen=True)
class Feasibility:
    """How far a matrix is from the metrics that a method allows, in the matrix's own units.

    Most methods allow the psd cone. A method that allows fewer metrics has a class of its own, with its own `nearest`.
    """

    asymmetry: float  # max |M - M^T|
    min_eigenvalue: float  # of the symmetric part
    distance: float  # Frobenius, to the metric that is judged: ||M - P_+(M)|| for the psd cone
    norm: float  # ||M||, Frobenius

    @property
    def feasible(self) -> bool:
        """True within `FEASIBILITY_TOL`, relative to the norm; False where that overflows."""
        if not math.isfinite(self.norm):
            return False
        allowed = FEASIBILITY_TOL * self.norm + SMALLEST_SCALE
        return bool(self.asymmetry <= allowed and self.min_eigenvalue >= -allowed)

    @property
    def exact(self) -> bool:
        """True if nothing but rounding had to be projected away."""
        return math.isfinite(self.norm) and bool(self.distance <= 64 * EPS * self.norm)

    @property
    def nearest(self) -> str:
        """The set that `distance` is the distance to, in words."""
        return "the psd cone"

    def __str__(self) -> str:
        if self.exact:
            return "symmetric and psd"
        return (
            f"asymmetry {self.asymmetry:.3g}, least eigenvalue {self.min_eigenvalue:.3g}, "
            f"distance to {self.nearest} {self.distance:.3g} (norm {self.norm:.3g})"
        )


def project_psd(M: FloatArray) -> FloatArray:
    """P_+(M): the nearest psd matrix to the symmetric part of `M` (d, d), in Frobenius norm."""
    T = psd_root(M)
    projected: FloatArray = T @ T.T
    return (projected + projected.T) / 2


def psd_root(M: FloatArray) -> FloatArray:
    """T (d, rank) with T T^T = P_+(M)."""
    values, vectors = np.linalg.eigh((M + M.T) / 2)
    keep = values > 0
    T: FloatArray = vectors[:, keep] * np.sqrt(values[keep])
    return T


def examine(M: FloatArray, X: FloatArray | None = None) -> tuple[FloatArray, Feasibility]:
    """P_+(M) and how far `M` (d, d) was from it. A symmetric psd matrix comes back unchanged.

    X (n, d): the points it is a metric of; it must be one within tolerance in the units of their features too, or how
    far it is from that is said in these: of a feature that spreads over a million a little is much.

    So does one that is psd to rounding once every feature has the unit in which its diagonal entry is 1: in the units
    given, the rounding of its largest entries would be all there is of its smallest, and a projection would lose these.
    """
    found = None if X is None else _seen_by(X, M)
    largest = float(np.abs(M).max())
    # Division by a power of two is exact, and the squares of what is left neither overflow nor vanish.
    unit = 1.0 if largest == 0 else float(2.0 ** np.clip(np.floor(np.log2(largest)), -1000, 1000))
    M = M / unit
    symmetric = (M + M.T) / 2
    least = float(np.linalg.eigvalsh(symmetric)[0])
    asymmetry = float(np.abs(M - M.T).max())
    psd = symmetric if least >= 0 or _psd_in_own_units(symmetric) else project_psd(symmetric)
    distance, norm = float(np.linalg.norm(M - psd)), float(np.linalg.norm(M))
    feasibility = Feasibility(asymmetry * unit, least * unit, distance * unit, norm * unit)
    if found is not None and feasibility.feasible and not found.feasible:
        feasibility = found
    return psd * unit, feasibility


def _seen_by(X: FloatArray, M: FloatArray) -> Feasibility | None:
    """How far M (d, d) is from a metric of the features in which the points X (n, d) differ, in units of these."""
    seen = (X[0] != X).any(axis=0)
    if not seen.any():
        return None
    own = in_units(M[np.ix_(seen, seen)], units_of((X - middle(X))[:, seen]))[0]
    return examine(own)[1]


def in_units(A: FloatArray, unit: FloatArray) -> tuple[FloatArray, int]:
    """A_kl unit_k unit_l / 2^exponent with the largest entry between 1 and 2, and the exponent; nothing overflows."""
    mantissas, exponents = np.frexp(A)
    powers = np.frexp(unit)[1] - 1
    exponents = exponents + powers[:, None] + powers
    shift = int(exponents[mantissas != 0].max()) - 1 if mantissas.any() else 0
    own: FloatArray = np.ldexp(mantissas, exponents - shift)
    return own, shift


def units_of(E: FloatArray) -> FloatArray:
    """A power of two (d,) near the largest entry of each column of E (t, d); 1 where all are zero."""
    largest = np.abs(E).max(axis=0)
    seen = largest > 0
    unit: FloatArray = np.where(seen, 2.0 ** np.round(np.log2(np.where(seen, largest, 1.0))), 1.0)
    return unit


def _psd_in_own_units(S: FloatArray) -> bool:
    """True if the symmetric S (d, d), scaled to a diagonal of 1 and 0, has no eigenvalue below 0 but for rounding."""
    diagonal = np.diag(S)
    used = diagonal > 0
    if S[~used].any():  # an entry beside a 0 on the diagonal, or a negative one
        return False
    root = np.sqrt(diagonal[used])
    if not root.size:
        return True
    scaled = S[np.ix_(used, used)] / root[:, None] / root
    rounding = 64 * len(S) * EPS
    return bool(np.isfinite(scaled).all() and np.linalg.eigvalsh(scaled)[0] >= -rounding)


def as_matrix(metric: ArrayLike, d: int, name: str = "metric") -> FloatArray:
    """`metric` as a finite float64 array of shape (d, d).

    Raises ValueError if it has another shape, is not numeric, or holds NaN or infinity.
    """
    M = _finite(metric, name)
    if M.shape != (d, d):
        other = "; a transform L is given as components" if M.ndim == 2 and M.shape[1] == d else ""
        raise ValueError(f"{name} must have shape ({d}, {d}) for {d} features, got {M.shape}{other}")
    return M


def refuse_masked(values: Any, name: str) -> None:
    """Raises ValueError for a masked array with masked entries: what is behind the mask is no number of anybody's."""
    if np.ma.isMaskedArray(values) and np.ma.getmaskarray(values).any():
        count = int(np.ma.getmaskarray(values).sum())
        raise ValueError(
            f"{name} has {count} masked entries; leave these points out, or fill them (`.filled(...)`)"
        )


def refuse_texts(values: Any, name: str, place: tuple[int, ...] = ()) -> None:
    """Raise ValueError for the first text in nested lists.

    numpy would make a text of every number beside it, as long as the longest one: a million letters in a file of
    1 MB would take gigabytes.
    """
    if not isinstance(values, (list, tuple)) or len(place) > DEEPEST:
        return
    kinds = set(map(type, values))
    if any(issubclass(kind, (str, bytes)) for kind in kinds):
        k = next(k for k, value in enumerate(values) if isinstance(value, (str, bytes)))
        at = "".join(f"[{each}]" for each in (*place, k))
        raise ValueError(
            f"{name} must hold real numbers, got the text {printable(values[k], 40)!r} as {name}{at}; convert it, and "
            "encode categories as numbers"
        )
    if any(issubclass(kind, (list, tuple)) for kind in kinds):
        for k, value in enumerate(values):
            refuse_texts(value, name, (*place, k))


def real_array(values: ArrayLike, name: str) -> FloatArray:
    """`values` as a new C-ordered float64 array of whatever shape; ValueError unless they are real numbers."""
    refuse_masked(values, name)
    if hasattr(values, "toarray"):
        raise ValueError(f"{name} is a sparse matrix; a dense array is needed: use {name}.toarray()")
    refuse_texts(values, name)
    try:
        array = np.asarray(values)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{name} is no array of numbers: {error}") from error
    if array.dtype.kind == "O":  # such as a DataFrame of which one column is text
        wrong = next((at for at, value in np.ndenumerate(array) if not isinstance(value, numbers.Real)), None)
        if wrong is not None:
            at = f" at {', '.join(map(str, wrong))}" if wrong else ""
            raise ValueError(
                f"{name} must hold real numbers, got {array[wrong]!r:.40}{at}; convert it, and encode categories as "
                "numbers"
            )
        try:
            array = array.astype(np.float64)
        except (TypeError, OverflowError) as error:
            raise ValueError(f"{name} is no array of numbers: {error}") from error
    if array.dtype.kind == "U" and array.ndim == 0:
        raise ValueError(
            f"{name} must be an array of real numbers, got {str(array)[:40]!r}; read the file first"
        )
    if array.dtype.kind not in "fiub":
        raise ValueError(
            f"{name} must hold real numbers, got dtype {array.dtype}; convert it, and encode categories as numbers"
        )
    with np.errstate(over="ignore"):  # a long double too large becomes infinity, and is refused as such
        floats = np.array(array, dtype=np.float64, order="C")
    if not (
        isinstance(values, np.ndarray) and values.dtype.kind == "f"
    ):  # an array of floats holds no integers
        refuse_rounded_integers(values, floats, name)
    return floats


def refuse_rounded_integers(values: Any, floats: FloatArray, name: str) -> None:
    """Raise ValueError if an integer of `values` is not the same number in `floats`, which has the same shape.

    Double precision has every integer up to 2^53, and rounds most of the larger ones: two points could become one.
    """
    with np.errstate(invalid="ignore"):
        large = np.abs(floats) >= EXACT_INTEGERS
    if hasattr(values, "dtypes") and floats.ndim == 2:  # a data frame: its columns of floats hold no integers
        large &= [getattr(kind, "kind", "O") != "f" for kind in values.dtypes]
    for at in map(tuple, np.argwhere(large).tolist()):
        value = _entry(values, at)
        rounded = floats[at]
        if isinstance(value, numbers.Integral) and is_rounded(int(value), float(rounded)):
            place = ", ".join(map(str, at))
            raise ValueError(
                f"{name} holds the integer {int(value)!r:.40} at {place or 'its only place'}, {ROUNDED}"
            )


def is_rounded(value: int, as_float: float) -> bool:
    """True if a float is not the same number as an integer."""
    return not (math.isfinite(as_float) and int(as_float) == value)


def _entry(values: Any, at: tuple[int, ...]) -> Any:
    """The entry of nested lists, of a data frame or of an array, of the type that it has there."""
    if hasattr(values, "iloc"):
        return values.iloc[at] if at else values
    for step, k in enumerate(at):
        if not isinstance(values, (list, tuple)):
            return np.asarray(values)[at[step:]]
        values = values[k]
    return values


def _finite(values: ArrayLike, name: str) -> FloatArray:
    array = real_array(values, name)
    if not np.isfinite(array).all():
        raise ValueError(f"{name} holds NaN or infinity; every entry must be finite")
    return array


def as_metric(metric: ArrayLike, d: int, name: str = "metric") -> FloatArray:
    """`metric` as a psd float64 matrix (d, d), projected where it is off by no more than tolerance.

    Raises ValueError as `as_matrix`, and where asymmetry or a negative eigenvalue exceeds
    `FEASIBILITY_TOL` times the norm (the message says by how much).
    """
    psd, feasibility = examine(as_matrix(metric, d, name))
    if not feasibility.feasible:
        raise ValueError(
            f"{name} is not a metric: {feasibility}; allowed is {FEASIBILITY_TOL:g} of the norm. "
            "Symmetrise it and project it on the psd cone first (cvxml.core.metric.project_psd)"
        )
    return psd


def from_components(components: ArrayLike, d: int) -> FloatArray:
    """M = L^T L (d, d) for a transform L of shape (m, d).

    Raises ValueError if `components` has no d columns, is not numeric or not finite.
    """
    L = _finite(components, "components")
    if L.ndim != 2 or L.shape[1] != d or L.shape[0] == 0:
        raise ValueError(f"components must have shape (m, {d}) for {d} features, got {L.shape}")
    with np.errstate(over="ignore", invalid="ignore"):
        M: FloatArray = L.T @ L
    if not np.isfinite(M).all():
        raise ValueError("components are too large: L^T L overflows; rescale the features")
    return M


def components_of(M: FloatArray) -> FloatArray:
    """L (d, d) with L^T L = M: the symmetric square root, so that transform keeps the features."""
    values, vectors = np.linalg.eigh((M + M.T) / 2)
    root: FloatArray = (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T
    return root


def low_rank_components(M: FloatArray, m: int) -> FloatArray:
    """L (m, d) with L^T L = M for a psd M (d, d) of rank m at most: its principal axes, the longest first."""
    values, vectors = np.linalg.eigh((M + M.T) / 2)
    axes = vectors[:, ::-1][:, :m].T
    signs = np.sign(axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)])  # the largest entry positive
    L: FloatArray = np.sqrt(np.maximum(values[::-1][:m], 0))[:, None] * signs[:, None] * axes
    return L


def in_blocks(blocks: FloatArray) -> FloatArray:
    """M (m d, m d) with the blocks (m, d, d) on its diagonal, and 0 beside them."""
    m, d, _ = blocks.shape
    M = np.zeros((m * d, m * d), dtype=blocks.dtype)
    for b, block in enumerate(blocks):
        M[b * d : (b + 1) * d, b * d : (b + 1) * d] = block
    return M


def blocks_of(M: FloatArray, m: int) -> FloatArray:
    """The m blocks (m, d, d) on the diagonal of M (m d, m d)."""
    d = len(M) // m
    blocks: FloatArray = np.array([M[b * d : (b + 1) * d, b * d : (b + 1) * d] for b in range(m)])
    return blocks


def of_determinant_1(M: FloatArray) -> FloatArray:
    """The multiple of a psd M (d, d) whose determinant is 1. Raises ValueError for a singular M."""
    sign, log_det = np.linalg.slogdet(M)
    if not sign > 0:
        raise ValueError("no multiple of a singular matrix has determinant 1")
    scaled: FloatArray = M / np.exp(log_det / len(M))
    return scaled


def middle(X: FloatArray) -> FloatArray:
    """(d,): half way between the least and the largest of each feature of X (n, d)."""
    half_way: FloatArray = X.min(axis=0) / 2 + X.max(axis=0) / 2
    return half_way


def unit_scale(X: FloatArray) -> float:
    """A power of two s such that the features of X / s spread over about 1 (1.0 if X is constant).

    Division by a power of two is exact, so X / s with lam / s^4 is the same problem.
    """
    spread = float(np.abs(X - middle(X)).max())
    return 1.0 if spread == 0 else float(2.0 ** np.clip(np.round(np.log2(spread)), -1074, 1023))
