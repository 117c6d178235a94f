"""Description of the scikit-learn estimator of a method; `cvxml/estimators/made.py` makes the class from it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class Estimator(NamedTuple):
    """The name of an estimator, and the parts of its class that do not follow from the method.

    summary: the first lines of the docstring; by default they are made from the title of the method.
    positional: the parameters that may be given by position; None for all.
    scale: the number to which `tol` is relative, in words.
    says: {name of a parameter: its description} where it differs from the description of the method.
    """

    # name of the class: the id of the method without "_", with capitals, for example "NewOne" of new_one
    name: str
    summary: str = ""  # the first lines of the docstring; by default they are made of TITLE
    positional: tuple[str, ...] | None = None  # parameters that may be given by position; None: all
    scale: str = "the objective"  # `tol` is a share of this
    says: Mapping[str, str] = MappingProxyType({})  # other descriptions of parameters
