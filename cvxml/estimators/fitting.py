"""Two parts of every `fit`: `validated` checks the input, and `all_or_nothing` undoes a fit that fails."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import numpy as np
from sklearn.utils.validation import validate_data

from cvxml.core.inputs import refuse_mixed_labels
from cvxml.core.metric import refuse_masked, refuse_rounded_integers

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


def validated(estimator: Any, X: Any, *y: Any, **options: Any) -> Any:
    """Return X (n, d) as float64, and `y` if it is given, checked by scikit-learn's `validate_data`.

    Raises ValueError for input that scikit-learn would change: masked entries, integers that double precision rounds,
    and labels of mixed types. options: those of `validate_data`.
    """
    refuse_masked(X, "X")
    if y and not options.get("y_numeric"):
        refuse_mixed_labels(y[0])
    found = validate_data(estimator, X, *y, dtype=np.float64, **options)
    if not hasattr(X, "toarray"):
        refuse_rounded_integers(X, found[0] if y else found, "X")
    return found
