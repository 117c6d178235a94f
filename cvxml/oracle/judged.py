"""What the predictions of a report need of the metric it is about (core/predictions.py)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from cvxml.core.inputs import check_labels, class_names
from cvxml.core.metric import FloatArray
from cvxml.core.predictions import Region
from cvxml.core.report import ReportSubject
from cvxml.core.result import Certificate, Dual
from cvxml.family.nearby.sublevel import Sublevel
from cvxml.methods import get
from cvxml.oracle.asked import Asked
from cvxml.solvers.family_method import FamilyMethod


def judged_of(asked: Asked, proof: Certificate, beside: FloatArray) -> ReportSubject | None:
    """Of a candidate with its proof; None where it is a metric at one query, or its points have no classes.

    beside: our own metric.
    """
    if asked.candidate is None or asked.y is None or asked.params.get("query") is not None:
        return None
    try:  # not those of the instance, which has zeros where pairs were given
        codes = check_labels(asked.y, len(asked.given.X))
    except ValueError:  # no classes
        return None
    region = partial(_region, asked.method, asked.given, asked.candidate, proof.dual, beside)
    return ReportSubject(asked.given.X, codes, asked.candidate, tuple(class_names(asked.y)), region)


class Unattained(NamedTuple):
    """The region of a problem that has no optimum: nothing is said of its predictions."""

    unknown: str
    box: None = None
    affordable: int = 0

    def closer(self, query: int, a: int, b: int) -> bool:
        """Of no optimum."""
        return False

    def others(self, E: FloatArray) -> Iterator[FloatArray]:
        """None."""
        return iter(())


def _region(method: str, given: Any, metric: FloatArray, dual: Dual, beside: FloatArray) -> Region | None:
    """Of a member of the family whose metric acts on the points as they are."""
    module = get(method)
    if never := module.unattained(given):
        return Unattained(never)
    if not isinstance(module, FamilyMethod):
        return None
    family = module.family(given)
    if not np.array_equal(family.regularizer.X, given.X):
        return None
    return Sublevel(family, metric, list(module.read(given, dual)), beside)
