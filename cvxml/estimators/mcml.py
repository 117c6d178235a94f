"""MCML as a scikit-learn transformer."""

from __future__ import annotations

from typing import ClassVar

from cvxml.estimators.base import Learner
from cvxml.estimators.parameters import estimator


@estimator
class MCML(Learner):
    """The metric that collapses classes best (Globerson, Roweis 2005), solved to a certified gap.

    The notes of `solution_` say where no metric is optimal.
    """

    _method: ClassVar[str] = "mcml"
