"""The checked data of GLML, and the generative models of the classes: Gaussians, and mixtures of Gaussians.

A model returns log p_c(x), which includes the log prior, and G_c(x) = (Hessian of p_c at x) / p_c(x). One Gaussian has

    G = S (x - mu)(x - mu)^T S - S,   S = Sigma^-1,

and a mixture p = sum_k w_k N_k has sum_k r_k(x) G_k with r_k = w_k N_k / p. We compute in logarithms, because in 500
dimensions the densities underflow.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from cvxml.core.inputs import (
    LARGEST_SEED,
    check_count,
    check_labels,
    check_number,
    check_X,
    class_names,
    real_array,
)
from cvxml.core.memory import check_metric
from cvxml.core.metric import EPS, FloatArray, IntArray, middle, unit_scale
from cvxml.core.wide import wide_of
from cvxml.methods.glml.certify import departure, whitening, whitening_of
from cvxml.numbers.span import rank

# A covariance (d, d) is inverted directly if the ratio of its smallest to its largest eigenvalue is above d times this.
# Otherwise the inverse is computed from the points, because their condition number is the square root.
LEAST_RATIO = 1e-12
REMEDY = "give alpha > 0, which is added to its diagonal, or fewer features"


@dataclass(frozen=True, eq=False)
class Instance:
    """Checked data of GLML.

    X (n, d): the points. y (n,): codes of the classes. Q (q, d): the queries. one: True if `query` was a single point
    (d,). model: the fitted model. params: all parameters by name, with defaults filled in.
    """

    X: FloatArray  # (n, d)
    y: IntArray  # (n,) codes of the classes
    Q: FloatArray  # (q, d) queries
    one: bool  # the query was a single point (d,)
    model: Generative  # fitted
    params: dict[str, Any]  # the parameters, with defaults filled in


def instance(
    X: ArrayLike,
    y: ArrayLike | None,
    *,
    query: ArrayLike | None = None,
    alpha: float = 0.0,
    priors: Any = None,
    model: Any = "gaussian",
    n_components: int = 2,
) -> Instance:
    """Check all inputs and fit the model of the classes. Raises ValueError for bad input.

    X (n, d), y (n,) labels. query: (d,) or (q, d), by default the mean of X. alpha >= 0: added to the diagonal of the
    covariances.

    priors: None for equal priors, "empirical" for the shares of the classes, or a number > 0 for each class.

    model: "gaussian", "mixture" with n_components for each class, or the user's own model: an object with the methods
    log_densities and curvatures.
    """
    points = check_X(X)
    codes = check_labels(y, len(points))
    Q, one = _queries(query, points)
    names = class_names(y)
    check_metric(points.shape[1])
    fitted = fitted_model(points, codes, names, model, alpha, priors, n_components)
    params = {
        "query": (Q[0] if one else Q).tolist(),
        "alpha": float(alpha),
        "priors": priors if priors is None or isinstance(priors, str) else np.asarray(priors).tolist(),
        "model": model,
        "n_components": n_components,
    }
    return Instance(points, codes, Q, one, fitted, params)


def fitted_model(
    X: FloatArray,
    y: IntArray,
    names: list[str],
    model: Any,
    alpha: float,
    priors: Any,
    n_components: int,
    random_state: int = 0,
) -> Generative:
    """Fit the "gaussian" or "mixture" model, or return the user's own `model`. Raises ValueError for bad parameters.

    X (n, d), y (n,) class codes. names: those of the classes, for messages. alpha: added to the diagonal of the
    covariances. priors: None for equal priors, "empirical" for the shares of the classes, or a number for each class.

    n_components: Gaussians in the mixture of a class. random_state: the seed of the fit of mixtures.
    """
    if check_number(alpha, "alpha") < 0:
        raise ValueError(f"alpha must be a number that is 0 or more, got {alpha!r}")
    if not isinstance(model, str):
        if not isinstance(model, Generative):
            raise ValueError(
                'model must be "gaussian", "mixture" or have the methods log_densities and curvatures; '
                f"got {type(model).__name__}"
            )
        return model
    shares = check_priors(priors, y, len(names))
    check_count(n_components, "n_components")
    if model == "gaussian":
        return fit_gaussians(X, y, names, float(alpha), shares)
    if model == "mixture":
        return fit_mixtures(X, y, names, n_components, float(alpha), shares, random_state)
    raise ValueError(
        'model must be "gaussian", "mixture", or an object with the methods log_densities and curvatures, got '
        f"{model!r}"
    )


def check_priors(priors: Any, y: IntArray, C: int) -> FloatArray | None:
    """Return priors (C,) of sum 1; None for equal ones. "empirical" stands for the shares of the classes in y (n,).

    Raises ValueError unless `priors` is None, "empirical" or C numbers > 0.
    """
    if priors is None:
        return None
    if isinstance(priors, str):
        if priors != "empirical":
            raise ValueError(f'priors must be None, "empirical" or one number for each class, got {priors!r}')
        share: FloatArray = np.bincount(y, minlength=C) / len(y)
        return share
    given = real_array(priors, "priors")
    if given.shape != (C,) or not (np.isfinite(given).all() and (given > 0).all()):
        raise ValueError(f"priors must be {C} positive numbers, one for each class, got {priors!r}")
    shares: FloatArray = given / given.sum()
    return shares


def _queries(query: ArrayLike | None, X: FloatArray) -> tuple[FloatArray, bool]:
    if query is None:
        return X.mean(axis=0)[None], True
    Q = real_array(query, "query")
    d = X.shape[1]
    if Q.ndim not in (1, 2) or Q.shape[-1] != d or Q.size == 0:
        raise ValueError(f"query must have shape ({d},) or (q, {d}) for {d} features, got {Q.shape}")
    if not np.isfinite(Q).all():
        raise ValueError("query holds NaN or infinity; every entry must be finite")
    return np.atleast_2d(Q), Q.ndim == 1


@runtime_checkable
class Generative(Protocol):
    """The interface of a model of the densities p_c of C classes. Q (q, d): the queries x."""

    def log_densities(self, Q: FloatArray) -> FloatArray:
        """log(prior_c p_c(x)), (q, C), for each query x and class c, up to one constant for each query."""

    def curvatures(self, Q: FloatArray) -> FloatArray:
        """G_c(x) = (Hessian of p_c at x) / p_c(x), (q, C, d, d), symmetric."""


@dataclass(frozen=True, eq=False)
class Mixtures:
    """A mixture of Gaussians for each class, with K components in all. The papers have one Gaussian for each class.

    means (K, d): the mean mu of each component. whitening (K, d, d): a matrix T for each component, such that T (x -
    mu) has unit covariance. log_weights (K,): log(prior of the class times weight in the class). of_class (K,): the
    class of each component. departure (K,): a bound of ||T Sigma T^T - I|| for the covariance Sigma; inf if unknown.

    Means and T are stored for the coordinates (x - origin) / unit, because large means and distances lose digits by
    rounding. origin (K, d): a point in the middle of the class of each component. unit: a power of two near the spread
    of the data.
    """

    means: FloatArray  # (K, d)
    whitening: FloatArray  # (K, d, d): T with T^T T = S; T (x - mu) has unit covariance
    log_weights: FloatArray  # (K,): log(prior of the class times the weight within the class)
    of_class: IntArray  # (K,): increasing
    n_classes: int
    unit: float = 1.0
    origin: FloatArray | float = 0.0  # (K, d)
    departure: FloatArray | float = math.inf  # (K,): a bound of ||T Sigma T^T - I||; inf if unknown

    def from_means(self, Q: FloatArray) -> FloatArray:
        """(x - mu_k) / unit, (K, q, d), for the mean mu_k of each component k and each query x in Q (q, d)."""
        origin = np.broadcast_to(self.origin, self.means.shape)
        away: FloatArray = (Q - origin[:, None]) / self.unit - self.means[:, None]
        return away

    @property
    def precisions(self) -> FloatArray:
        """The inverse covariances S of the K components, (K, d, d), for points divided by `unit`."""
        S: FloatArray = self.whitening.transpose(0, 2, 1) @ self.whitening
        return S

    def components(self, Q: FloatArray) -> FloatArray:
        """log(weight_k N_k(x)), (q, K), for each query x and component k, with density N_k.

        weight_k includes the prior of the class.
        """
        log_det = np.log(np.abs(np.diagonal(self.whitening, axis1=1, axis2=2))).sum(axis=1)
        squares = np.empty((len(Q), len(self.means)))
        for k, (away, T) in enumerate(zip(self.from_means(Q), self.whitening, strict=True)):
            z = away @ T.T
            squares[:, k] = np.einsum("qd,qd->q", z, z)
        constant = -Q.shape[1] * (0.5 * np.log(2 * np.pi) + np.log(self.unit))
        logs: FloatArray = self.log_weights + log_det + constant - squares / 2
        return logs

    def log_densities(self, Q: FloatArray) -> FloatArray:
        logs = self.components(Q)
        classes = range(self.n_classes)
        return np.stack([logsumexp(logs[:, self.of_class == c], axis=1) for c in classes], axis=1)

    def curvatures(self, Q: FloatArray) -> FloatArray:
        each = np.broadcast_to(np.eye(self.n_classes)[:, None], (self.n_classes, len(Q), self.n_classes))
        G = np.stack([self.weighted_with_size(Q, one)[0] for one in each], axis=1)
        return G / self.unit / self.unit

    def weighted_with_size(self, Q: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return unit^2 sum_c weights_c G_c(x), (q, d, d), and the sum of the norms of the terms of this sum, (q,).

        weights (q, C). G_c: the curvature of class c, (Hessian of p_c) / p_c. Products of matrices give the sum, so the
        G_c are not computed one by one. The second result serves as a bound of the rounding.
        """
        of_component = weights[:, self.of_class]  # (q, K)
        if len(self.means) > self.n_classes:
            of_component = of_component * np.exp(self.components(Q) - self.log_densities(Q)[:, self.of_class])
        S = self.precisions
        T = self.whitening
        pulls = (self.from_means(Q) @ T.transpose(0, 2, 1) @ T).transpose(1, 0, 2)  # (q, K, d)
        outer = pulls.transpose(0, 2, 1) @ (of_component[:, :, None] * pulls)
        constant = (of_component @ S.reshape(len(S), -1)).reshape(outer.shape)
        total: FloatArray = outer - constant
        sizes = np.einsum("qkd,qkd->qk", pulls, pulls) + np.linalg.norm(S, axis=(1, 2))
        size: FloatArray = np.einsum("qk,qk->q", np.abs(of_component), sizes)
        return (total + total.transpose(0, 2, 1)) / 2, size


def fit_gaussians(
    X: FloatArray, y: IntArray, names: list[str], alpha: float = 0.0, priors: FloatArray | None = None
) -> Mixtures:
    """Fit a Gaussian to each class: the mean mu_c, and the covariance Sigma_c (by 1/n) + alpha I.

    names: those of the classes. priors (C,), equal by default. Raises ValueError for a class of one point, for a
    singular covariance (with the class and its exact rank), and for a covariance that cannot be inverted in double
    precision.
    """
    C, d, unit = len(names), X.shape[1], unit_scale(X)
    ridge = _in_units(alpha, unit)
    means, maps, origins = [], [], []
    for c, name in enumerate(names):
        points, origin = _in_own_units(X[y == c], unit, name)
        mean = points.mean(axis=0)
        Sigma = np.cov(points.T, bias=True).reshape(d, d) + ridge * np.eye(d)
        T = whitening(Sigma) if _is_invertible(Sigma) else None
        if T is None:
            if alpha == 0:
                _check_rank(X[y == c], name)
            T = whitening_of(points - mean, ridge)
        if T is None:
            raise _no_inverse(Sigma, name)
        means.append(mean)
        maps.append(T)
        origins.append(origin)
    log_priors = np.log(_priors(priors, C))
    return Mixtures(np.array(means), np.array(maps), log_priors, np.arange(C), C, unit, np.array(origins))


def fit_mixtures(
    X: FloatArray,
    y: IntArray,
    names: list[str],
    n_components: int = 2,
    alpha: float = 0.0,
    priors: FloatArray | None = None,
    random_state: int = 0,
) -> Mixtures:
    """Fit scikit-learn's GaussianMixture with n_components to each class, and add alpha to its covariances.

    names: those of the classes. priors (C,), equal by default. The fitted weights, means and covariances define the
    problem; we do not claim that they fit the data well. Raises ValueError if a class has fewer points than components,
    or one point, for a covariance that cannot be inverted in double precision, and for a bad random_state.
    """
    check_count(random_state, "random_state", at_least=0, at_most=LARGEST_SEED)
    from sklearn.mixture import GaussianMixture

    C, unit = len(names), unit_scale(X)
    ridge = _in_units(alpha, unit) * np.eye(X.shape[1])
    means, maps, departures, log_weights, of_class, origins = [], [], [], [], [], []
    for c, prior in enumerate(_priors(priors, C)):
        points, origin = _in_own_units(X[y == c], unit, names[c])
        if len(points) < n_components:
            raise ValueError(
                f"class {names[c]!r} has {len(points)} points, fewer than n_components={n_components}; "
                "lower n_components, or leave the class out"
            )
        fitted = GaussianMixture(n_components, random_state=random_state).fit(points)
        for weight, mean, covariance in zip(fitted.weights_, fitted.means_, fitted.covariances_, strict=True):
            Sigma = np.tril(covariance) + np.tril(covariance, -1).T + ridge
            if not _is_invertible(Sigma):
                raise _no_inverse(Sigma, names[c])
            T = whitening(Sigma)
            means.append(mean)
            maps.append(T)
            departures.append(departure(T, Sigma, EPS * np.abs(Sigma)))
            log_weights.append(np.log(prior * weight))
            of_class.append(c)
            origins.append(origin)
    return Mixtures(
        np.array(means),
        np.array(maps),
        np.array(log_weights),
        np.array(of_class),
        C,
        unit,
        np.array(origins),
        np.array(departures),
    )


def _in_units(alpha: float, unit: float) -> float:
    """Return alpha / unit^2. Raises ValueError if it is above 1e100, or, with unit = 1, below 1e-100 but not 0."""
    value = alpha / unit / unit
    if value > 1e100 or (alpha > 0 and unit == 1 and value < 1e-100):
        raise ValueError(
            f"alpha={alpha:g} with features that spread over about {unit:.3g} cannot be computed in double precision; "
            "give an alpha nearer to the square of that, or 0"
        )
    return value


def _in_own_units(points: FloatArray, unit: float, name: str) -> tuple[FloatArray, FloatArray]:
    """Return (points - origin) / unit for the points of a class, and the origin, a point in their middle.

    name: that of the class. Raises ValueError for one point.
    """
    if len(points) < 2:
        raise ValueError(f"class {name!r} has one point, and a Gaussian needs two; leave the class out")
    origin = middle(points)
    return (points - origin) / unit, origin


def _is_invertible(Sigma: FloatArray) -> bool:
    return _condition(Sigma) < 1 / (LEAST_RATIO * len(Sigma))


def _condition(Sigma: FloatArray) -> float:
    """The condition number of Sigma (d, d) in double precision; inf if an eigenvalue is not positive."""
    values = np.linalg.eigvalsh(Sigma)
    return float(values[-1] / values[0]) if values[0] > 0 else math.inf


def _check_rank(points: FloatArray, name: str) -> None:
    """Raise ValueError if the covariance of points (n, d) is singular; the rank is computed in rationals.

    name: that of the class.
    """
    d, found = points.shape[1], rank(points)
    if found < d:
        raise ValueError(
            f"the covariance of class {name!r} is singular: its points differ in {found} of {d} directions; "
            f"{REMEDY}"
        )


def _no_inverse(Sigma: FloatArray, name: str) -> ValueError:
    condition = _condition(Sigma)
    beyond = f"about {condition:.1e} or more" if condition < 1 / EPS else f"more than {1 / EPS:.1e}"
    also = wide_of(np.sqrt(np.diag(Sigma))).warning
    return ValueError(
        f"the covariance of class {name!r} has condition number {beyond}, too large for double precision; {REMEDY}"
        + (f"; {also}" if also else "")
    )


def _priors(priors: FloatArray | None, C: int) -> FloatArray:
    return np.full(C, 1 / C) if priors is None else priors
