"""cvxml: metric learning stated literally, solved exactly, and proved.

solve(method, X, y, **params)      the optimal metric, with its certificate
check(method, X, y, metric, ...)   judge somebody else's metric: certified, refuted or inconclusive
evaluate(method, X, y, metric)     the intermediates, by the paper's names
problem(method, X, y)              the literal cvxpy problem
methods()                          the ids of all methods
MLSVM, KernelMLSVM, Gerrymandering, GLML, NCA,
LMNN, ITML, MCML, MMC, DMLEig, Euclidean, WithinClass   scikit-learn estimators
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from cvxml._version import __version__
from cvxml.api import certify, evaluate, methods, problem, solve
from cvxml.oracle.check import check
from cvxml.report import Report, Verdict
from cvxml.result import Certificate, Evaluation, Solution, Status, load

if TYPE_CHECKING:
    from cvxml.baselines import Euclidean, WithinClass
    from cvxml.methods.dml_eig.estimator import DMLEig
    from cvxml.methods.glml.estimator import GLML
    from cvxml.methods.itml.estimator import ITML
    from cvxml.methods.lmnn.estimator import LMNN
    from cvxml.methods.mcml.estimator import MCML
    from cvxml.methods.mlsvm.estimator import MLSVM, KernelMLSVM
    from cvxml.methods.mmc.estimator import MMC
    from cvxml.methods.nca.estimator import NCA
    from cvxml.methods.ssvm.estimator import Gerrymandering


__all__ = [
    "GLML",
    "ITML",
    "LMNN",
    "MCML",
    "MLSVM",
    "MMC",
    "NCA",
    "Certificate",
    "DMLEig",
    "Euclidean",
    "Evaluation",
    "Gerrymandering",
    "KernelMLSVM",
    "Report",
    "Solution",
    "Status",
    "Verdict",
    "WithinClass",
    "__version__",
    "certify",
    "check",
    "evaluate",
    "load",
    "methods",
    "problem",
    "solve",
]

_ESTIMATORS = {
    "MLSVM": "cvxml.methods.mlsvm.estimator",
    "KernelMLSVM": "cvxml.methods.mlsvm.estimator",
    "GLML": "cvxml.methods.glml.estimator",
    "NCA": "cvxml.methods.nca.estimator",
    "LMNN": "cvxml.methods.lmnn.estimator",
    "ITML": "cvxml.methods.itml.estimator",
    "MCML": "cvxml.methods.mcml.estimator",
    "MMC": "cvxml.methods.mmc.estimator",
    "DMLEig": "cvxml.methods.dml_eig.estimator",
    "Euclidean": "cvxml.baselines",
    "WithinClass": "cvxml.baselines",
    "Gerrymandering": "cvxml.methods.ssvm.estimator",
}


def __getattr__(name: str) -> Any:
    # estimators load scikit-learn, which takes longer than a small check
    if name in _ESTIMATORS:
        return getattr(import_module(_ESTIMATORS[name]), name)
    raise AttributeError(f"module 'cvxml' has no attribute {name!r}")
