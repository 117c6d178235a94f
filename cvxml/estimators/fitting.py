"""Two parts of every `fit`: `validated` checks the input, and `all_or_nothing` undoes a fit that fails."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import numpy as np
from sklearn.utils.validation import validate_data

from cvxml.core.files.labels import ANEW, LARGEST
from cvxml.core.inputs import refuse_mixed_labels
from cvxml.core.metric import refuse_masked, refuse_rounded_integers
from cvxml.core.short_repr import cut

Fit = TypeVar("Fit", bound=Callable[..., Any])


def all_or_nothing(fit: Fit) -> Fit:
    """Decorate a `fit`: if it raises an error, the attributes of the estimator are those before the call.

    Otherwise an estimator could hold labels of the new fit and the metric of an earlier one.
    """

    @wraps(fit)
    def whole(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = dict(vars(self))
        try:
            return fit(self, *args, **kwargs)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return whole  # type: ignore[return-value]


def _as_numbers(y: Any) -> Any:
    """Return labels of dtype object as an array of numbers or booleans if all of them are; else return y unchanged.

    Integers become int64, and numbers that are not all integers float64. A nullable column of pandas becomes an array
    of its numbers, which scikit-learn would round to float64. Raises ValueError for an integer that the type
    cannot hold, because two classes could become one.
    """
    if getattr(y, "dtype", None) is None or hasattr(y, "toarray"):
        return y
    labels = np.asarray(y)
    if not isinstance(y.dtype, np.dtype) and labels.dtype.kind in "biuf":
        return labels
    listed = labels.ravel().tolist() if labels.dtype.kind == "O" else []
    if not listed or not all(isinstance(label, numbers.Real) for label in listed):
        return y
    if all(isinstance(label, (bool, np.bool_)) for label in listed):
        return labels.astype(bool)
    whole = all(isinstance(label, numbers.Integral) for label in listed)
    for label in listed:
        integer = isinstance(label, numbers.Integral)
        fits = -(2**63) <= label < 2**63 if whole else not integer or abs(label) <= LARGEST
        if not fits:
            raise ValueError(
                f"y holds the integer {cut(str(label), 40)}, too large for an array of numbers; {ANEW}"
            )
    return labels.astype(np.int64 if whole else np.float64)


def validated(estimator: Any, X: Any, *y: Any, **options: Any) -> Any:
    """Return X (n, d) as float64, or (X, y) if `y` is given, checked by scikit-learn's `validate_data`.

    Raises ValueError for input that scikit-learn would change: masked entries, integers that double precision rounds,
    and labels of mixed types. Labels in an array of objects are allowed if all are numbers, as in `cvxml.solve`;
    scikit-learn would refuse such an array. options: those of `validate_data`.
    """
    refuse_masked(X, "X")
    if y and not options.get("y_numeric"):
        refuse_mixed_labels(y[0])
        y = (_as_numbers(y[0]), *y[1:])
    found = validate_data(estimator, X, *y, dtype=np.float64, **options)
    if not hasattr(X, "toarray"):
        refuse_rounded_integers(X, found[0] if y else found, "X")
    return found
