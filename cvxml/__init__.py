"""cvxml: metric learning stated literally, solved exactly, and proved.

The literal problem of a method is its cvxpy problem, with one line of code for each formula of the paper.

solve(method, X, y, **params)      the optimal metric, with its certificate
check(method, X, y, metric, ...)   judge any metric: certified, close, refuted or inconclusive
certify_estimator(fitted, X, y)    judge a fitted estimator of metric-learn, scikit-learn, pylmnn, pyDML or cvxml
certify_solution(solution)         prove a solution again: a Solution, a saved file, or the result of load
from_tuples(tuples, y)             points and lists of indices from metric-learn's tuples of points
with Progress() as tell            a callback for solve and check that shows their progress in a terminal or notebook
evaluate(method, X, y, metric)     the intermediate values, by the paper's names
problem(method, X, y)              the literal problem, as a cvxpy.Problem
list_methods()                     the ids of all methods
scikit-learn estimators: MLSVM, KernelMLSVM, Gerrymandering, GLML, NCA, LMNN, ITML, MCML, MMC, DMLEig, FrobMetric, RTML,
    SchultzJoachims, SCML, BoostMetric, PLML, MLR, LDML, LSML, RCA, GMML, LFDA, SDML, MLKR, Euclidean, WithinClass,
    CrammerSingerSVM; PairClassifier(estimator) calls pairs of points similar or dissimilar
modules: typed (each method with its own parameters, for editors and type checkers), datasets, displays, testing
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from cvxml._version import __version__

if TYPE_CHECKING:
    from cvxml import datasets, displays, testing, typed
    from cvxml.core.progress import Progress
    from cvxml.core.report import Report, Verdict
    from cvxml.core.result import Certificate, Evaluation, Solution, Status
    from cvxml.core.saved import load
    from cvxml.core.tuples import from_tuples
    from cvxml.estimators.baselines import Euclidean, WithinClass
    from cvxml.estimators.crammer_singer import CrammerSingerSVM
    from cvxml.estimators.generated import (
        GMML,
        ITML,
        LMNN,
        MCML,
        MMC,
        RTML,
        SCML,
        SDML,
        BoostMetric,
        DMLEig,
        FrobMetric,
        SchultzJoachims,
    )
    from cvxml.estimators.glml import GLML
    from cvxml.estimators.ldml import LDML
    from cvxml.estimators.lfda import LFDA
    from cvxml.estimators.lsml import LSML
    from cvxml.estimators.mlkr import MLKR
    from cvxml.estimators.mlr import MLR
    from cvxml.estimators.mlsvm import MLSVM, KernelMLSVM
    from cvxml.estimators.nca import NCA
    from cvxml.estimators.pair_classifier import PairClassifier
    from cvxml.estimators.plml import PLML
    from cvxml.estimators.rca import RCA
    from cvxml.estimators.ssvm import Gerrymandering
    from cvxml.oracle.fitted import certify_estimator
    from cvxml.oracle.saved import certify_solution
    from cvxml.typed.functions import certify, check, evaluate, list_methods, problem, solve


__all__ = [
    "GLML",
    "GMML",
    "ITML",
    "LDML",
    "LFDA",
    "LMNN",
    "LSML",
    "MCML",
    "MLKR",
    "MLR",
    "MLSVM",
    "MMC",
    "NCA",
    "PLML",
    "RCA",
    "RTML",
    "SCML",
    "SDML",
    "BoostMetric",
    "Certificate",
    "CrammerSingerSVM",
    "DMLEig",
    "Euclidean",
    "Evaluation",
    "FrobMetric",
    "Gerrymandering",
    "KernelMLSVM",
    "PairClassifier",
    "Progress",
    "Report",
    "SchultzJoachims",
    "Solution",
    "Status",
    "Verdict",
    "WithinClass",
    "__version__",
    "certify",
    "certify_estimator",
    "certify_solution",
    "check",
    "datasets",
    "displays",
    "evaluate",
    "from_tuples",
    "list_methods",
    "load",
    "problem",
    "solve",
    "testing",
    "typed",
]

# estimators with their own file; the others are made from the `ESTIMATOR` of their method
_ESTIMATORS = {
    "MLSVM": "cvxml.estimators.mlsvm",
    "LSML": "cvxml.estimators.lsml",
    "KernelMLSVM": "cvxml.estimators.mlsvm",
    "GLML": "cvxml.estimators.glml",
    "NCA": "cvxml.estimators.nca",
    "LDML": "cvxml.estimators.ldml",
    "RCA": "cvxml.estimators.rca",
    "LFDA": "cvxml.estimators.lfda",
    "PLML": "cvxml.estimators.plml",
    "MLKR": "cvxml.estimators.mlkr",
    "MLR": "cvxml.estimators.mlr",
    "Euclidean": "cvxml.estimators.baselines",
    "WithinClass": "cvxml.estimators.baselines",
    "CrammerSingerSVM": "cvxml.estimators.crammer_singer",
    "PairClassifier": "cvxml.estimators.pair_classifier",
    "Gerrymandering": "cvxml.estimators.ssvm",
}


_FUNCTIONS = {
    **dict.fromkeys(("certify", "evaluate", "list_methods", "problem", "solve"), "cvxml.api"),
    "Progress": "cvxml.core.progress",
    **dict.fromkeys(("Report", "Verdict"), "cvxml.core.report"),
    **dict.fromkeys(("Certificate", "Evaluation", "Solution", "Status"), "cvxml.core.result"),
    "load": "cvxml.core.saved",
    "from_tuples": "cvxml.core.tuples",
    "check": "cvxml.oracle.check",
    "certify_estimator": "cvxml.oracle.fitted",
    "certify_solution": "cvxml.oracle.saved",
}
_MODULES = ("datasets", "displays", "testing", "typed")
_INNER = ("api", "core", "family", "methods", "oracle")


def __getattr__(name: str) -> Any:
    # importing numpy and scipy takes a second, and scikit-learn another; Ctrl-C must work during that time
    of = _FUNCTIONS.get(name) or _ESTIMATORS.get(name)
    if of is not None:
        found = globals()[name] = getattr(import_module(of), name)
        return found
    if name in _MODULES:
        return import_module(f"cvxml.{name}")
    if name in __all__:
        found = globals()[name] = getattr(import_module("cvxml.estimators.generated"), name)
        return found
    if name in _INNER:
        # this also imports other modules, so that for example cvxml.core.report exists
        import_module("cvxml.oracle.fitted")
        return import_module(f"cvxml.{name}")
    raise AttributeError(f"module 'cvxml' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
