"""Make the estimator of a method from the attribute `ESTIMATOR` of the method (cvxml/core/estimator.py).

`ESTIMATOR` holds the name of the estimator, and the parts of its class that do not follow from the method. Estimators
that need code of their own have a file in cvxml/estimators/.

A method has an id. If it has two formulas, the second one has an id of two words with a colon: the id of the method,
and the name of an option, such as "squared_hinge".
"""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

from cvxml.core.inputs import check_bool
from cvxml.core.method import Method
from cvxml.core.parameter import OF_POINTS, Parameter
from cvxml.estimators.base import Learner, PairsEstimator, TripletsEstimator
from cvxml.estimators.parameters import estimator
from cvxml.methods import get, names


def made(name: str, module: str) -> type[Learner]:
    """Return the estimator class `name`, with `module` as its `__module__`.

    The class has the parameters of the method, except lists of points, which have no meaning for other data. If the
    method has a second formula, a parameter (True or False) with the name of the option chooses it. Raises
    AttributeError if no method has an `ESTIMATOR` with this name.
    """
    method = _method(name)
    of = get(method)
    said = of.ESTIMATOR
    assert said is not None
    option = _option(method)
    values = {key: each for key, each in of.PARAMETERS.items() if each.kind not in OF_POINTS}
    fields: dict[str, tuple[str, Any]] = {key: (_type(each), each.default) for key, each in values.items()}
    if option:
        fields[option] = ("bool", False)
    positional = tuple(fields) if said.positional is None else said.positional
    by_name = [key for key in fields if key not in positional]
    annotations: dict[str, Any] = {
        **{key: fields[key][0] for key in positional},
        "_": KW_ONLY,
        **{key: fields[key][0] for key in by_name},
    }
    content: dict[str, Any] = {
        "__module__": module,
        "__doc__": said.summary or _summary(of),
        "__annotations__": annotations,
        **{key: default for key, (_, default) in fields.items()},
        "_method": _chosen(method, option) if option else method,
        "_says": {
            "tol": f"Largest allowed gap of the certificate, relative to {said.scale}",
            option: f'True: the problem of the method "{method}:{option}"',
            **said.says,
        },
    }
    return estimator(type(said.name, (_base(of),), content))


def _method(name: str) -> str:
    """Return the id of the method with the estimator `name`. Raises AttributeError if there is none.

    The ids that equal the name, apart from case and "_", are candidates; only their methods are imported.
    """
    for method in names():
        if method.replace("_", "") == name.lower():
            said = get(method).ESTIMATOR
            if said is not None and said.name == name:
                return method
    raise AttributeError(f"no method has the estimator {name!r}")


def _option(method: str) -> str:
    """Return the name of the second formula of the method with this id; "" if the method has one formula.

    The name is the part after ":" of the id of the second formula. Raises TypeError for three or more formulas.
    """
    others = [name.removeprefix(f"{method}:") for name in names() if name.startswith(f"{method}:")]
    if len(others) > 1:
        raise TypeError(
            f"{method} has {len(others)} formulas besides the first ({', '.join(others)}), and made() can choose among "
            "at most one; write its estimator by hand, as a file in cvxml/estimators"
        )
    return others[0] if others else ""


def _chosen(method: str, option: str) -> property:
    def chosen(self: Any) -> str:
        return f"{method}:{option}" if check_bool(getattr(self, option), option) else method

    return property(chosen)


def _base(of: Method[Any]) -> type[Learner]:
    if "triplets" in of.PARAMETERS:
        return TripletsEstimator
    return PairsEstimator if "pairs" in of.PARAMETERS else Learner


def _type(parameter: Parameter) -> str:
    takes = parameter.kind.takes
    return takes if parameter.default is not None else f"{takes} | None"


def _summary(of: Method[Any]) -> str:
    """Return the first sentence of the docstring of the estimator, from the TITLE of the method.

    It has the part of TITLE before ":", the authors in the last brackets of TITLE, and how the method is solved.
    """
    short, authors = of.TITLE.partition(":")[0], of.TITLE[of.TITLE.rfind("(") :]
    how = "solved to a certified gap" if of.MAX_ITER > 1 else "in closed form, with its proof"
    return f"The metric of {short} {authors}, {how}."
