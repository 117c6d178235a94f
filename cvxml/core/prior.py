"""A prior: the positive definite matrix that a metric should be close to. A parameter of ITML, LSML, SDML and GMML."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cvxml.core.inputs import check_choice
from cvxml.core.memory import check_metric
from cvxml.core.metric import FloatArray, as_matrix
from cvxml.core.misreading import OtherProblem, Question, changed
from cvxml.core.moved import Moved
from cvxml.core.parameter import MATRIX, Parameter, words

PRIORS = ("identity", "covariance")
MIN_RATIO = 1e-300  # smallest entry of the diagonal relative to the largest; smaller numbers have few digits
RANK = 1e-13  # for a matrix with unit diagonal: a smaller least eigenvalue may be 0
PRIOR = Parameter(
    'A_0: "identity", "covariance" (the inverse of the sample covariance, divisor n - 1), or positive definite (d, d)',
    words(*PRIORS, otherwise=MATRIX),
    "identity",
)


def prior_of(X: FloatArray, prior: Any) -> FloatArray:
    """Return the prior A_0 (d, d). Raises ValueError unless it is positive definite and fits into the memory.

    prior: "identity", "covariance" (the inverse of the sample covariance of X (n, d)), or a matrix (d, d).
    """
    check_metric(X.shape[1])
    if isinstance(prior, str) or prior is None:
        check_choice(prior, "prior", PRIORS)
        return np.eye(X.shape[1]) if prior == "identity" else inverse_covariance(X)
    A_0 = as_matrix(prior, X.shape[1], "prior")
    asymmetry = float(np.abs(A_0 - A_0.T).max())
    if asymmetry > 1e-9 * float(np.abs(A_0).max()):
        raise ValueError(
            f"prior must be symmetric, but prior and prior.T differ by up to {asymmetry:.3g}; for your prior P give "
            "(P + P.T) / 2"
        )
    A_0 = A_0 / 2 + A_0.T / 2
    if not definite(A_0):
        raise ValueError(
            f"prior must be positive definite, with eigenvalues above {RANK:g} after its diagonal is scaled to 1; "
            "add a multiple of the identity"
        )
    return A_0


def inverse_covariance(X: FloatArray) -> FloatArray:
    """Return the inverse of the sample covariance (divisor n - 1) of X (n, d).

    Raises ValueError if the covariance is singular, or if its inverse is too large or too small for doubles.
    """
    centred = X - X[0]
    centred = centred - centred.mean(axis=0)
    spread = np.abs(centred).max(axis=0)
    unit = np.where(spread > 0, spread, 1.0)
    S = (centred / unit).T @ (centred / unit) / max(len(X) - 1, 1)
    if not definite(S):
        raise ValueError(
            f"prior 'covariance': the covariance of these {len(X)} points in {X.shape[1]} features is singular; "
            "use prior='identity', or give a positive definite matrix"
        )
    with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
        A_0: FloatArray = inverse_of(S) / np.outer(unit, unit)
    if not (np.isfinite(A_0).all() and A_0.diagonal().min() > MIN_RATIO):
        raise ValueError("prior 'covariance': its inverse is too large or too small for doubles; rescale X")
    return A_0


def inverse_of(A: FloatArray) -> FloatArray:
    """Return the inverse of the symmetric A (d, d), symmetric to the last bit."""
    inverse = np.linalg.inv(A)
    symmetric: FloatArray = (inverse + inverse.T) / 2
    return symmetric


def other_prior(
    instance: Callable[..., Any], change: Callable[[Any], FloatArray]
) -> Callable[[Question], OtherProblem | None]:
    """Return a function that makes the user's problem with another prior.

    If the other prior equals the user's prior, the returned function returns None.

    instance: the function `instance` of the method, which returns checked data.
    change: returns the other prior for the checked data.
    """

    def value(question: Question) -> FloatArray | None:
        given = question.checked(instance)
        other = change(given)
        return None if np.array_equal(other, given.prior) else other

    return changed("prior", value)


def definite(S: FloatArray) -> bool:
    """Return True if the symmetric S (d, d), scaled to unit diagonal, has eigenvalues above `RANK` (1e-13)."""
    diagonal = S.diagonal()
    if not (diagonal > 0).all():
        return False
    root = np.sqrt(diagonal)
    return bool(np.linalg.eigvalsh(S / root[:, None] / root)[0] > RANK)


def nearest_to_prior(prior: FloatArray, at: Moved, M: FloatArray) -> FloatArray:
    """Return the matrix (d, d) with the distances of M (r, r) and the least log det divergence from the prior.

    It gives the original points the distances that M gives the points in r coordinates.

    prior: A_0 (d, d). at: the points in r coordinates, with the matrix `at.back` (d, r) that maps them to the features.

    Let B = `at.back` and C = B^T A_0 B. The result is A_0 + A_0 B C^-1 (M - C) C^-1 B^T A_0. Its divergence from A_0 is
    that of M from C. If A_0 is the identity and B is orthonormal, the result is M in the span of B, and the identity on
    the orthogonal complement.
    """
    C = at.inside(prior)
    lifted = prior @ at.back @ np.linalg.inv(C)
    change = lifted @ (M - C) @ lifted.T
    A: FloatArray = prior + (change + change.T) / 2
    return A
