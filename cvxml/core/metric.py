"""Metrics M (d, d), symmetric and psd, and transforms L (m, d) with M = L^T L: checks, projections and scaling.

P_+(M) is the psd matrix nearest to the symmetric part of M in Frobenius norm. `FEASIBILITY_TOL` is 1e-6. The argument
`name` is the name of an input in error messages.
"""

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
EPS = float(np.finfo(float).eps)  # the distance from 1 to the next float

EXACT_INTEGERS = 2.0**53  # all integers up to this one are doubles
ROUNDED = "which double precision rounds; subtract an offset, or divide by a unit, so that integers stay below 2**53"
# Asymmetry and negative eigenvalues up to this share of the Frobenius norm are projected away and reported. A matrix
# beyond it is not a metric.
FEASIBILITY_TOL = 1e-6
DEEPEST = 64  # most nested lists that are searched; numpy arrays have at most 64 dimensions
# Floats below this have very few digits, so products of such entries are dominated by rounding.
SMALLEST_SCALE = 2.0**-1060
# If the diagonal entries of a metric differ by more, its root is computed in units of the features.
GRADED = 1e6


@dataclass(frozen=True)
class Feasibility:
    """How far a matrix M is from the metrics that a method allows, in the units of the matrix.

    asymmetry: max |M - M^T|. min_eigenvalue: the least eigenvalue of the symmetric part.
    distance: the Frobenius distance to the nearest allowed metric. norm: the Frobenius norm of M.

    Most methods allow the psd cone. A method that allows fewer metrics has a subclass with another `nearest`.
    """

    asymmetry: float  # max |M - M^T|
    min_eigenvalue: float  # least eigenvalue of the symmetric part
    distance: float  # Frobenius distance to the metric that is judged: ||M - P_+(M)|| for the psd cone
    norm: float  # Frobenius norm ||M||

    @property
    def feasible(self) -> bool:
        """True if M is a metric up to small errors; False if the norm overflows.

        The asymmetry and minus the least eigenvalue must be at most `FEASIBILITY_TOL` times the norm.
        """
        return self.symmetric and bool(self.min_eigenvalue >= -self._tolerance)

    @property
    def symmetric(self) -> bool:
        """True if the asymmetry is at most `FEASIBILITY_TOL` times the norm; False if the norm overflows."""
        return math.isfinite(self.norm) and bool(self.asymmetry <= self._tolerance)

    @property
    def _tolerance(self) -> float:
        return FEASIBILITY_TOL * self.norm + SMALLEST_SCALE

    @property
    def exact(self) -> bool:
        """True if rounding can explain the distance: it is at most 64 EPS times the norm."""
        return math.isfinite(self.norm) and bool(self.distance <= 64 * EPS * self.norm)

    @property
    def beyond_limits(self) -> float:
        """How far the matrix is from the allowed metrics, relative to its norm; inf for the zero matrix."""
        return self.distance / self.norm if self.norm > 0 else math.inf

    @property
    def nearest(self) -> str:
        """The set to which `distance` is measured, in words."""
        return "the psd cone"

    def __str__(self) -> str:
        if self.exact:
            return "symmetric and psd"
        return (
            f"asymmetry {self.asymmetry:.3g}, least eigenvalue {self.min_eigenvalue:.3g}, "
            f"distance to {self.nearest} {self.distance:.3g} (norm {self.norm:.3g})"
        )


def project_psd(M: FloatArray) -> FloatArray:
    """Return P_+(M), the psd matrix nearest to M (d, d)."""
    T = psd_root(M)
    projected: FloatArray = T @ T.T
    return (projected + projected.T) / 2


def psd_root(M: FloatArray) -> FloatArray:
    """Return T (d, r) with T T^T = P_+(M), for M (d, d); r is the number of computed eigenvalues above 0."""
    values, vectors = np.linalg.eigh((M + M.T) / 2)
    keep = values > 0
    T: FloatArray = vectors[:, keep] * np.sqrt(values[keep])
    return T


def examine(M: FloatArray, X: FloatArray | None = None) -> tuple[FloatArray, Feasibility]:
    """Return P_+(M) (d, d), and the `Feasibility` of M (d, d). A symmetric psd matrix is returned unchanged.

    X: the points (n, d). If they are given, the same metric is also examined for features that are rescaled to a spread
    of about 1. If M is feasible and the matrix for these features is not, the `Feasibility` of the latter is returned.
    For example, a small error of an entry counts much if its feature spreads over a million.

    In one case the symmetric part of M is returned in place of P_+(M): if it is psd up to rounding with its diagonal
    scaled to 1. Then its negative eigenvalues are rounding errors of its largest entries. A projection would change its
    smallest entries by as much.
    """
    found = None if X is None else _feasibility_in_feature_units(X, M)
    largest = float(np.abs(M).max())
    # Division by a power of two is exact, and the squares of the scaled entries neither overflow nor vanish.
    unit = 1.0 if largest == 0 else float(2.0 ** np.clip(np.floor(np.log2(largest)), -1000, 1000))
    whole, M = M / 2 + M.T / 2, M / unit
    symmetric = (M + M.T) / 2
    least = float(np.linalg.eigvalsh(symmetric)[0])
    asymmetry = float(np.abs(M - M.T).max())
    psd = symmetric if least >= 0 or _psd_in_own_units(symmetric) else project_psd(symmetric)
    distance, norm = float(np.linalg.norm(M - psd)), float(np.linalg.norm(M))
    feasibility = Feasibility(asymmetry * unit, least * unit, distance * unit, norm * unit)
    if found is not None and feasibility.feasible and not found.feasible:
        feasibility = found
    # in this unit, entries far below the largest one lose their digits, or are 0
    lost = ((np.abs(symmetric) < np.finfo(np.float64).tiny) & (whole != 0)).any()
    if psd is symmetric and lost and _psd_in_own_units(whole):
        return whole, feasibility
    return psd * unit, feasibility


def _feasibility_in_feature_units(X: FloatArray, M: FloatArray) -> Feasibility | None:
    """Return the feasibility of M (d, d) after each feature of X (n, d) is rescaled to a spread of about 1.

    Only the features in which the points differ count. Returns None if there are no such features.
    """
    seen = (X[0] != X).any(axis=0)
    if not seen.any():
        return None
    own = in_units(M[np.ix_(seen, seen)], units_of((X - middle(X))[:, seen]))[0]
    return examine(own)[1]


def in_units(A: FloatArray, unit: FloatArray) -> tuple[FloatArray, int]:
    """Return the matrix A_kl unit_k unit_l (d, d), divided by 2^exponent, and this exponent.

    The largest absolute entry of the result is at least 1 and below 2. The computation cannot overflow.
    unit: (d,), powers of two.
    """
    mantissas, exponents = np.frexp(A)
    powers = np.frexp(unit)[1] - 1
    exponents = exponents + powers[:, None] + powers
    shift = int(exponents[mantissas != 0].max()) - 1 if mantissas.any() else 0
    own: FloatArray = np.ldexp(mantissas, exponents - shift)
    return own, shift


def units_of(E: FloatArray) -> FloatArray:
    """Return a power of two (d,) near the largest absolute entry of each column of E (t, d); 1 for columns of zeros."""
    largest = np.abs(E).max(axis=0)
    seen = largest > 0
    exponent = np.round(np.log2(np.where(seen, largest, 1.0)))
    unit: FloatArray = np.where(seen, 2.0 ** np.minimum(exponent, 1023), 1.0)
    return unit


def _psd_in_own_units(S: FloatArray) -> bool:
    """Return True if the symmetric S (d, d), with its positive diagonal entries scaled to 1, is psd up to rounding."""
    diagonal = np.diag(S)
    used = diagonal > 0
    if S[~used].any():  # a nonzero entry beside a 0 on the diagonal, or a negative diagonal entry
        return False
    root = np.sqrt(diagonal[used])
    if not root.size:
        return True
    scaled = S[np.ix_(used, used)] / root[:, None] / root
    rounding = 64 * len(S) * EPS
    return bool(np.isfinite(scaled).all() and np.linalg.eigvalsh(scaled)[0] >= -rounding)


def as_matrix(metric: ArrayLike, d: int, name: str = "metric", of: str = "features") -> FloatArray:
    """Return `metric` as a finite float64 array of shape (d, d). of: the noun after the number d in the message.

    Raises ValueError if it has another shape, is not numeric, or holds NaN or infinity.
    """
    M = _finite(metric, name)
    if M.shape != (d, d):
        other = ""
        if M.ndim == 2 and M.shape[1] == d:
            other = "; a transform L is given as components"
        elif M.shape == (d, d + 1):
            other = "; if the first column numbers the rows, leave it out"
        raise ValueError(f"{name} must have shape ({d}, {d}) for {d} {of}, got {M.shape}{other}")
    return M


def refuse_masked(values: Any, name: str) -> None:
    """Raise ValueError for an array with masked entries, because the numbers behind the mask are not data."""
    if np.ma.isMaskedArray(values) and np.ma.getmaskarray(values).any():
        count = int(np.ma.getmaskarray(values).sum())
        raise ValueError(
            f"{name} has {count} masked entries; leave these points out, or fill them (`.filled(...)`)"
        )


def refuse_texts(values: Any, name: str, place: tuple[int, ...] = ()) -> None:
    """Raise ValueError if nested lists or tuples, up to a depth of `DEEPEST` + 1, hold a string.

    The message names one string: the first entry of `values` that is a string, or else the first one deeper inside.

    place: the indices of `values` in the outermost list, for the message.

    numpy would convert every number beside a string to a string of the same length. One string of a million letters in
    a file of 1 MB would then take gigabytes.
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
    """Return `values` as a new C-ordered float64 array of the same shape. NaN and infinity are allowed.

    Raises ValueError unless they are real numbers or booleans. Masked entries, sparse matrices, and integers that
    float64 rounds are refused too.
    """
    refuse_masked(values, name)
    if hasattr(values, "toarray"):
        raise ValueError(f"{name} is a sparse matrix; a dense array is needed: use {name}.toarray()")
    refuse_texts(values, name)
    if hasattr(values, "fit"):
        raise ValueError(
            f"{name} must be an array of numbers, got the estimator {type(values).__name__}; use "
            "cvxml.certify_estimator(estimator, X, y), or give the metric of the fitted estimator"
        )
    if hasattr(values, "certificate") and hasattr(values, "metric"):
        raise ValueError(
            f"{name} must be an array of numbers, got a {type(values).__name__}; give solution.metric"
        )
    try:
        array = np.asarray(values)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{name} is not an array of numbers: {error}") from error
    if array.dtype.kind == "O":  # for example a data frame with one column of text
        wrong = next((at for at, value in np.ndenumerate(array) if not isinstance(value, numbers.Real)), None)
        if wrong is not None:
            at = f" at {', '.join(map(str, wrong))}" if wrong else ""
            if array[wrong] is None:
                raise ValueError(
                    f"{name} must hold real numbers, got None{at}; None is null in JSON, and some programs write NaN "
                    "as null"
                )
            raise ValueError(
                f"{name} must hold real numbers, got {array[wrong]!r:.40}{at}; convert it, and encode categories as "
                "numbers"
            )
        try:
            array = array.astype(np.float64)
        except (TypeError, OverflowError) as error:
            raise ValueError(f"{name} is not an array of numbers: {error}") from error
    if array.dtype.kind == "U" and array.ndim == 0:
        raise ValueError(
            f"{name} must be an array of real numbers, got {str(array)[:40]!r}; read the file first"
        )
    if array.dtype.kind == "c":
        raise ValueError(
            f"{name} must hold real numbers, got complex ones; if their imaginary parts are rounding errors, give the "
            "real parts"
        )
    if array.dtype.kind not in "fiub":
        raise ValueError(
            f"{name} must hold real numbers, got dtype {array.dtype}; convert it, and encode categories as numbers"
        )
    # a long double beyond the range becomes infinity, which the callers refuse
    with np.errstate(over="ignore"):
        floats = np.array(array, dtype=np.float64, order="C")
    if not (
        isinstance(values, np.ndarray) and values.dtype.kind == "f"
    ):  # an array of floats holds no integers
        refuse_rounded_integers(values, floats, name)
    return floats


def refuse_rounded_integers(values: Any, floats: FloatArray, name: str) -> None:
    """Raise ValueError if an integer of `values` differs from the same entry of `floats`, its conversion to float64.

    Double precision holds every integer up to 2^53, and rounds most of the larger ones. Two points could become equal.
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
    return not (math.isfinite(as_float) and int(as_float) == value)


def _entry(values: Any, at: tuple[int, ...]) -> Any:
    """Return the entry at the indices `at` of nested lists, a data frame or an array, with its original type."""
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
    """Return `metric` as a psd float64 matrix (d, d).

    If its asymmetry and its negative eigenvalues are at most `FEASIBILITY_TOL` times the norm, it is projected (see
    `examine`). If they are larger, raises ValueError; the message gives both numbers. Raises ValueError also for
    another shape, NaN or infinity.
    """
    psd, feasibility = examine(as_matrix(metric, d, name))
    if not feasibility.feasible:
        raise ValueError(
            f"{name} is not a metric: {feasibility}; allowed is {FEASIBILITY_TOL:g} of the norm. "
            "Symmetrise it and project it on the psd cone first (cvxml.core.metric.project_psd)"
        )
    return psd


def from_components(components: ArrayLike, d: int) -> FloatArray:
    """Return M = L^T L (d, d) for a transform L of shape (m, d).

    Raises ValueError if `components` does not have d columns and at least one row, is not numeric or not finite, or if
    L^T L overflows.
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
    """Return L (d, d) with L^T L = M: the symmetric square root of a psd M (d, d).

    For several metrics (q, d, d), return their roots (q, d, d). Negative eigenvalues, which are rounding errors, count
    as 0. Raises LinAlgError if `_graded_axes` fails.
    """
    if M.ndim == 3:
        return np.array([components_of(each) for each in M]).reshape(M.shape)
    if not _is_graded(M):
        values, vectors = np.linalg.eigh((M + M.T) / 2)
        root: FloatArray = (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T
        return root
    lengths, axes = _graded_axes(M, len(M))
    return (axes.T * lengths) @ axes


def low_rank_components(M: FloatArray, m: int) -> FloatArray:
    """Return L (m, d) with L^T L = M for a psd M (d, d) of rank at most m.

    Each row is an eigenvector of M times the square root of its eigenvalue, the largest eigenvalue first. The largest
    entry of each row, in absolute value, is positive.
    """
    if _is_graded(M):
        lengths, axes = _graded_axes(M, m)
    else:
        values, vectors = np.linalg.eigh((M + M.T) / 2)
        lengths, axes = np.sqrt(np.maximum(values[::-1][:m], 0)), vectors[:, ::-1][:, :m].T
    signs = np.sign(axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)])
    L: FloatArray = lengths[:, None] * signs[:, None] * axes
    return L


def _is_graded(M: FloatArray) -> bool:
    """Return True if the positive diagonal entries of M (d, d) differ by a factor of more than `GRADED` (1e6)."""
    diagonal = np.diag(M)
    used = diagonal[diagonal > 0]
    return bool(used.size and used.max() / GRADED > used.min())


def _graded_axes(M: FloatArray, m: int) -> tuple[FloatArray, FloatArray]:
    """Return lengths l (m,) and axes U (m, d) with M = U^T diag(l^2) U, for a psd M (d, d) of rank at most m.

    The eigenvectors of M have errors relative to its largest entry, so that features with small entries would be lost.
    Here a root of M is computed in units that give M a diagonal of 1. Jacobi's method finds the axes of this root with
    errors that are small relative to each feature. Raises LinAlgError if it fails.
    """
    from scipy.linalg.lapack import dgejsv  # imported here, because other metrics do not need scipy

    unit = np.sqrt(np.maximum(np.diag(M), 0.0))
    unit = np.where(unit > 0, unit, 1.0)
    values, vectors = np.linalg.eigh((M / 2 + M.T / 2) / unit[:, None] / unit)
    root = unit[:, None] * vectors[:, ::-1][:, :m] * np.sqrt(np.maximum(values[::-1][:m], 0))
    # joba = 2: the matrix is a diagonal matrix times a well-conditioned one. The other options: no entry counts as 0.
    found = dgejsv(np.asfortranarray(root), joba=2, jobu=0, jobv=0, jobr=0, jobt=0, jobp=0)
    lengths, axes, _, work, _, info = found
    if info != 0:
        raise np.linalg.LinAlgError(f"Jacobi's method failed on this metric (dgejsv: {info})")
    return lengths * (work[0] / work[1]), axes.T


def in_blocks(blocks: FloatArray) -> FloatArray:
    """Return the matrix (m d, m d) with the blocks (m, d, d) on its diagonal, and 0 elsewhere."""
    m, d, _ = blocks.shape
    M = np.zeros((m * d, m * d), dtype=blocks.dtype)
    for b, block in enumerate(blocks):
        M[b * d : (b + 1) * d, b * d : (b + 1) * d] = block
    return M


def blocks_of(M: FloatArray, m: int) -> FloatArray:
    """Return the m blocks (m, d, d) on the diagonal of M (m d, m d)."""
    d = len(M) // m
    blocks: FloatArray = np.array([M[b * d : (b + 1) * d, b * d : (b + 1) * d] for b in range(m)])
    return blocks


def of_determinant_1(M: FloatArray) -> FloatArray:
    """Return the multiple of a psd M (d, d) with determinant 1. Raises ValueError for a singular M."""
    sign, log_det = np.linalg.slogdet(M)
    if not sign > 0:
        raise ValueError("no multiple of a singular matrix has determinant 1")
    scaled: FloatArray = M / np.exp(log_det / len(M))
    return scaled


def middle(X: FloatArray) -> FloatArray:
    """Return (d,) the midpoint between the smallest and the largest value of each feature of X (n, d)."""
    half_way: FloatArray = X.min(axis=0) / 2 + X.max(axis=0) / 2
    return half_way


def unit_scale(X: FloatArray) -> float:
    """Return a power of two s near half the largest range of a feature of X (n, d); 1.0 if X is constant.

    Division by a power of two is exact. So for example MLSVM with X / s and lam / s^4 is the same problem as with X and
    lam.
    """
    spread = float(np.abs(X - middle(X)).max())
    return 1.0 if spread == 0 else float(2.0 ** np.clip(np.round(np.log2(spread)), -1074, 1023))
