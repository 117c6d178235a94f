"""The methods, by id. One line adds one; the module, or object in one, meets the contract of `Method`."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Protocol, cast

from numpy.typing import ArrayLike

from cvxml.exact import Exact
from cvxml.metric import FloatArray, IntArray
from cvxml.result import Certificate, Dual, Evaluation, Solution
from cvxml.statement import Statement
from cvxml.variant import Variant

MODULES = {
    "mlsvm": "cvxml.methods.mlsvm.method",
    "kernel_mlsvm": "cvxml.methods.mlsvm.kernel",
    "ssvm": "cvxml.methods.ssvm.method",
    "glml": "cvxml.methods.glml.method",
    "nca": "cvxml.methods.nca.method",
    "itml": "cvxml.methods.itml.method:METHOD",
    "mcml": "cvxml.methods.mcml.method:METHOD",
    "mmc": "cvxml.methods.mmc.method:METHOD",
    "mmc:diagonal": "cvxml.methods.mmc.method:DIAGONAL",
    "dml_eig": "cvxml.methods.dml_eig.method:METHOD",
    "lmnn": "cvxml.methods.lmnn.method:METHOD",
    "lmnn:squared_hinge": "cvxml.methods.lmnn.method:SQUARED_HINGE",
}


class Method(Protocol):
    """What every method module offers, whatever its parameters."""

    TITLE: str
    CLAIM: (
        str  # what a solution can be proved to be: "optimal", or "stationary" where the problem is not convex
    )
    SCALE: str  # whose certificate's scale a tolerance of `check` is a share of: "reference" or "candidate"
    PARAMETERS: dict[str, str]  # name -> one line, with the default
    SOLVE_PARAMETERS: dict[str, str]  # the same for what only `solve` takes
    VARIANTS: dict[str, Variant]  # the common misreadings, by name
    STARTS: tuple[
        str, ...
    ]  # only where CLAIM is "stationary": the starts that a claim to be optimal is held against
    STATEMENT: Statement  # the mathematics, row by row

    def problem(self, X: ArrayLike, y: ArrayLike | None, **params: Any) -> Any:
        """The literal cvxpy problem."""

    def dual_problem(self, X: ArrayLike, y: ArrayLike | None, **params: Any) -> Any:
        """Its dual as a cvxpy problem."""

    def literal_source(self) -> str:
        """The source of the literal problem."""

    def objective(self, X: ArrayLike, y: ArrayLike | None, metric: ArrayLike, **params: Any) -> float:
        """From the definition, numpy only."""

    def evaluate(self, X: ArrayLike, y: ArrayLike | None, metric: ArrayLike, **params: Any) -> Evaluation:
        """The intermediates, by the paper's names."""

    def solve(self, X: ArrayLike, y: ArrayLike | None, **params: Any) -> Solution:
        """The fast solver, or the literal problem through a back end."""

    def certify(
        self, X: ArrayLike, y: ArrayLike | None, metric: ArrayLike, dual: Dual, **params: Any
    ) -> Certificate:
        """The proof for any metric from any dual variables."""

    def improve(
        self,
        X: ArrayLike,
        y: ArrayLike | None,
        metric: ArrayLike,
        *,
        tol: float,
        early: bool = False,
        **params: Any,
    ) -> tuple[FloatArray, Dual]:
        """Only where CLAIM is "stationary": a metric at least as good, and the dual of the convex step at `metric`.

        early: stop once most of what the step can win is won.
        """

    def enumerated(self, X: ArrayLike, y: ArrayLike | None, *, tol: float, **params: Any) -> Solution | None:
        """Only where CLAIM is "stationary": the optimum with a bound of the problem itself, None if it is not tiny."""

    def remarks(
        self, X: ArrayLike, y: ArrayLike | None, metric: FloatArray, **params: Any
    ) -> tuple[str, ...]:
        """Only where CLAIM is "stationary": what should be known of these data and this metric, as sentences."""

    def machine_slack(self, X: ArrayLike, y: ArrayLike | None, metric: ArrayLike, **params: Any) -> float:
        """How far objective, bound and gap may be off on another machine, beyond the certificate's rounding."""

    def ties(self, X: ArrayLike, y: ArrayLike | None, **params: Any) -> int:
        """How many neighbourhoods a tie decided."""

    def neighbor_lists(self, X: ArrayLike, y: ArrayLike | None, **params: Any) -> list[IntArray]:
        """The neighbour lists of every point, as `neighbors` takes them."""

    def metric_size(self, X: FloatArray) -> int:
        """The number of rows of a metric for these data."""


class ExactMethod(Method, Protocol):
    """A method whose interval can be computed in rational arithmetic."""

    def exact(
        self,
        X: ArrayLike,
        y: ArrayLike | None,
        metric: ArrayLike,
        dual: Dual,
        *,
        root: ArrayLike | None = None,
        **params: Any,
    ) -> Exact:
        """What `certify` proves, without rounding. root (d, r): M with M M^T near `metric`, if it is known."""


def names() -> list[str]:
    """The ids of all methods."""
    return list(MODULES)


def get(method: str) -> Method:
    """The module of a method. Raises ValueError for an unknown id, listing those known."""
    if method not in MODULES:
        raise ValueError(f"no method {method!r}; there is: {', '.join(MODULES)}")
    module, _, name = MODULES[method].partition(":")
    found = import_module(module)
    return cast(Method, getattr(found, name) if name else found)


def get_exact(method: str) -> ExactMethod:
    """The module of a method that has an exact mode. Raises ValueError for another."""
    if not hasattr(get(method), "exact"):
        able = [name for name in MODULES if hasattr(get(name), "exact")]
        raise ValueError(f"{method} has no exact mode; there is one for: {', '.join(able)}")
    return cast(ExactMethod, get(method))


def check_params(method: str, params: dict[str, Any], extra: tuple[str, ...] = ()) -> None:
    """Raise ValueError if a name in `params` is no parameter of `method` (nor one of `extra`)."""
    known = (*get(method).PARAMETERS, *extra)
    unknown = [name for name in params if name not in known]
    if unknown:
        raise ValueError(f"{method} has no parameter {unknown[0]!r}; it has: {', '.join(known)}")
