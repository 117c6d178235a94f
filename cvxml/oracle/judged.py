"""Collect the data that a report needs to say which predictions are certain (core/predictions.py).

The candidate is the metric that the user gave. The region is the set of all metrics with an objective at most that of
the candidate, so it contains the optimum. A prediction, such as the vote of the nearest neighbours, is certain if all
metrics of the region make it.
"""

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
    """Return the points, their classes, the candidate, and a function that computes its region (module docstring).

    Returns None without a candidate, for a local metric (at a query), and for points without classes. asked: the
    arguments of `check`. proof: the candidate's certificate. beside: the metric (d, d) of our own solution.
    """
    if asked.candidate is None or asked.y is None or asked.params.get("query") is not None:
        return None
    try:  # do not use given.y: it holds zeros if pairs were given
        codes = check_labels(asked.y, len(asked.given.X))
    except ValueError:  # no classes
        return None
    region = partial(_region, asked.method, asked.given, asked.candidate, proof.dual, beside)
    return ReportSubject(asked.given.X, codes, asked.candidate, tuple(class_names(asked.y)), region)


class Unattained(NamedTuple):
    """The region of a problem with an infimum that no metric attains: no statement on its predictions is proved.

    unknown: the reason, a sentence. box: a set that contains the region; here None, because no such set is known.
    affordable: the number of proofs that `closer` may try; here 0.
    """

    unknown: str
    box: None = None
    affordable: int = 0

    def closer(self, query: int, a: int, b: int) -> bool:
        """Return whether all metrics of the region are proved to have point a nearer to `query` than point b.

        query, a, b: indices of points. The result is always False, because nothing is known about this region.
        """
        return False

    def others(self, E: FloatArray) -> Iterator[FloatArray]:
        return iter(())


def _region(method: str, given: Any, metric: FloatArray, dual: Dual, beside: FloatArray) -> Region | None:
    """Return the region of a candidate; `Unattained` if no metric attains the infimum; None if no region is known.

    A region is known if the problem is a regularizer plus losses of distances, and if these are distances of the points
    X themselves, not of transformed points.

    method: the id of the method. given: the checked inputs. metric: the candidate (d, d). dual: the dual variables of
    its certificate. beside: the metric (d, d) of our own solution.
    """
    module = get(method)
    if never := module.unattained(given):
        return Unattained(never)
    if not isinstance(module, FamilyMethod):
        return None
    family = module.family(given)
    if not np.array_equal(family.regularizer.X, given.X):
        return None
    return Sublevel(family, metric, list(module.read(given, dual)), beside)
