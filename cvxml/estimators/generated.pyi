"""The estimators without code: each is made when it is first used (made.py).

generated.pyi shows them to editors and type checkers; `python docs/_ext/stubs.py` writes it."""

# Written by docs/_ext/stubs.py.

from typing import Literal

from numpy.typing import ArrayLike

from cvxml.core.parameter import Starts
from cvxml.core.tolerance import Tolerance
from cvxml.estimators.base import Learner, PairsEstimator, TripletsEstimator


class BoostMetric(TripletsEstimator):
    """The metric of BoostMetric (Shen et al. 2009, 2012), solved to a certified gap."""

    v: float
    n_neighbors: int
    solver: str
    tol: Tolerance
    max_iter: int
    warm_start: bool

    def __init__(self, v: float = 0.5, n_neighbors: int = 3, *, solver: str = 'fast', tol: Tolerance = 1e-06, max_iter: int = 1000, warm_start: bool = False) -> None: ...

class DMLEig(PairsEstimator):
    """The metric of DML-eig (Ying, Li 2012), solved to a certified gap."""

    solver: str
    tol: Tolerance
    max_iter: int
    warm_start: bool

    def __init__(self, *, solver: str = 'fast', tol: Tolerance = 1e-06, max_iter: int = 1000, warm_start: bool = False) -> None: ...

class FrobMetric(TripletsEstimator):
    """The metric of FrobMetric (Shen, Kim, Wang 2011), solved to a certified gap."""

    C: float
    n_neighbors: int
    solver: str
    tol: Tolerance
    max_iter: int
    warm_start: bool

    def __init__(self, C: float = 1.0, n_neighbors: int = 3, *, solver: str = 'fast', tol: Tolerance = 1e-06, max_iter: int = 1000, warm_start: bool = False) -> None: ...

class GMML(PairsEstimator):
    """The metric of geometric mean metric learning (Zadeh et al. 2016), in closed form, with its proof."""

    weight: float
    mu: float
    prior: Literal['identity', 'covariance'] | ArrayLike
    solver: str
    tol: Tolerance
    max_iter: int
    warm_start: bool

    def __init__(self, weight: float = 0.5, mu: float = 0.0, prior: Literal['identity', 'covariance'] | ArrayLike = 'identity', *, solver: str = 'fast', tol: Tolerance = 1e-06, max_iter: int = 1000, warm_start: bool = False) -> None: ...

class ITML(PairsEstimator):
    """The metric of information-theoretic metric learning (Davis et al. 2007), solved to a certified gap."""

    gamma: float
    solver: str
    tol: Tolerance
    max_iter: int
    warm_start: bool
    prior: Literal['identity', 'covariance'] | ArrayLike
    bounds: ArrayLike | None

    def __init__(self, gamma: float = 1.0, *, solver: str = 'fast', tol: Tolerance = 1e-06, max_iter: int = 1000, warm_start: bool = False, prior: Literal['identity', 'covariance'] | ArrayLike = 'identity', bounds: ArrayLike | None = None) -> None: ...

class LMNN(TripletsEstimator):
    """The metric of LMNN (Weinberger, Saul 2009), solved to a certified gap."""

    mu: float
    n_neighbors: int
    solver: str
    tol: Tolerance
    max_iter: int
    warm_start: bool
    squared_hinge: bool

    def __init__(self, mu: float = 0.5, n_neighbors: int = 3, *, solver: str = 'fast', tol: Tolerance = 1e-06, max_iter: int = 1000, warm_start: bool = False, squared_hinge: bool = False) -> None: ...

class MCML(Learner):
    """The metric of maximally collapsing metric learning (Globerson, Roweis 2005), solved to a certified gap."""

    solver: str
    tol: Tolerance
    max_iter: int
    warm_start: bool

    def __init__(self, *, solver: str = 'fast', tol: Tolerance = 1e-06, max_iter: int = 1000, warm_start: bool = False) -> None: ...

class MMC(PairsEstimator):
    """The metric of MMC (Xing et al. 2002), solved to a certified gap."""

    diagonal: bool
    solver: str
    tol: Tolerance
    max_iter: int
    warm_start: bool

    def __init__(self, diagonal: bool = False, *, solver: str = 'fast', tol: Tolerance = 1e-06, max_iter: int = 1000, warm_start: bool = False) -> None: ...

class RTML(TripletsEstimator):
    """The metric of RTML (Yoshida, Takeuchi, Karasuyama 2018), solved to a certified gap."""

    lam: float
    n_neighbors: int
    solver: str
    tol: Tolerance
    max_iter: int
    warm_start: bool
    width: float

    def __init__(self, lam: float = 1.0, n_neighbors: int = 3, *, solver: str = 'fast', tol: Tolerance = 1e-06, max_iter: int = 1000, warm_start: bool = False, width: float = 0.05) -> None: ...

class SCML(TripletsEstimator):
    """The metric of SCML, global (Shi, Bellet, Sha 2014), solved to a certified gap."""

    beta: float
    n_neighbors: int
    solver: str
    tol: Tolerance
    max_iter: int
    warm_start: bool
    basis: ArrayLike | None
    n_basis: int | None

    def __init__(self, beta: float = 1e-05, n_neighbors: int = 3, *, solver: str = 'fast', tol: Tolerance = 1e-06, max_iter: int = 1000, warm_start: bool = False, basis: ArrayLike | None = None, n_basis: int | None = None) -> None: ...

class SDML(PairsEstimator):
    """The metric of sparse distance metric learning (Qi et al. 2009), solved to a certified gap."""

    eta: float | None
    lam: float
    prior: Literal['identity', 'covariance'] | ArrayLike
    solver: str
    tol: Tolerance
    max_iter: int
    warm_start: bool

    def __init__(self, eta: float | None = None, lam: float = 0.01, prior: Literal['identity', 'covariance'] | ArrayLike = 'identity', *, solver: str = 'fast', tol: Tolerance = 1e-06, max_iter: int = 1000, warm_start: bool = False) -> None: ...

class SchultzJoachims(TripletsEstimator):
    """The metric of Schultz and Joachims (2003), weights of features or columns, solved to a certified gap."""

    C: float
    n_neighbors: int
    solver: str
    tol: Tolerance
    max_iter: int
    warm_start: bool
    A: ArrayLike | None

    def __init__(self, C: float = 1.0, n_neighbors: int = 3, *, solver: str = 'fast', tol: Tolerance = 1e-06, max_iter: int = 1000, warm_start: bool = False, A: ArrayLike | None = None) -> None: ...
