"""A warning that the tolerance was not met says why, and which features are to blame."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import cvxml
from cvxml.methods import get, names
from tests.instances import random_data

# a feature that is the sum of two others, but for rounding: rationals see a direction, double precision does not
POINTS, Y = random_data(1, n=40, d=4)
X = np.column_stack(
    [POINTS, POINTS[:, 0] + POINTS[:, 2], np.ones(40)]
)  # and a constant one, which is not to blame


@pytest.mark.quick(6)
@pytest.mark.parametrize("method", [name for name in names() if get(name).CLAIM == "optimal"])
def test_a_warning_has_the_reason_that_the_certificate_knows(method: str) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            solution = cvxml.solve(method, X, Y)
        except ValueError:  # refused before any work, with its own reason
            return
    told = [str(w.message) for w in caught if issubclass(w.category, ConvergenceWarning)]
    assert bool(told) == (solution.status.name != "CONVERGED")
    if told:
        assert solution.certificate.undecided in told[0]


def test_the_features_that_are_to_blame_are_named() -> None:
    with pytest.warns(ConvergenceWarning, match="columns 0, 2, 4 of X"):
        cvxml.solve("lmnn", X, Y)
