"""The scikit-learn estimator that a method has without code for it. `cvxml/estimators/made.py` makes the class."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class Estimator(NamedTuple):
    """The name of the estimator, and what does not follow from the method."""

    # name of the class: the id of the method without "_", with capitals, for example "NewOne" of new_one
    name: str
    summary: str = ""  # the first lines of the docstring; by default they are made of TITLE
    positional: tuple[str, ...] | None = None  # parameters that may be given by position; None: all
    scale: str = "the objective"  # `tol` is a share of this
    says: Mapping[str, str] = MappingProxyType({})  # other descriptions of parameters
