"""metric-learn and scikit-learn, as they return it: see record.py. ../requirements.txt has the versions.

committed.py, claims.py and facts.py belong to this file.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import committed
import numpy as np
from claims import basis, own_objective, regression, targets, triplets
from facts import facts
from metric_learn import ITML, LFDA, LMNN, LSML, MLKR, MMC, NCA, RCA, SCML
from metric_learn.base_metric import MahalanobisMixin
from metric_learn.constraints import wrap_pairs
from record import Data, Watched, watched, write
from record import run as recorded
from sklearn.base import clone
from sklearn.neighbors import NeighborhoodComponentsAnalysis
from threadpoolctl import threadpool_limits

SEED = 0
NAMES = {"metric_learn": "metric-learn", "sklearn": "scikit-learn"}  # imported as, published as
LFDA_KINDS = ("weighted", "plain", "orthonormalized")
FITTED = ("n_iter_", "converged_", "bounds_")


def run_all(data: dict[str, Data]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    with threadpool_limits(1):  # the sums of a threaded BLAS may differ from run to run
        runs = [each for name, given in data.items() if name != "iris_raw" for each in all_runs(given)]
        for settings, model in committed.learners().items():
            runs.append({**run(settings, model, data["iris_raw"]), "pinned": committed.PINNED[settings]})
        return runs, facts(data)


def all_runs(data: Data) -> list[dict[str, Any]]:
    """Each learner at its defaults, and again with the tolerance and the limit that a careful user would set."""
    i, j = np.triu_indices(len(data.y), 1)
    squared = ((data.X[i] - data.X[j]) ** 2).sum(axis=1)
    bounds = np.percentile(squared, (5, 95))  # squared, as ITML holds squared distances to them
    fixed = {"random_state": SEED}
    many = {"max_iter": 10_000, **fixed}
    rising = np.arange(1.0, len(data.more["quadruplets"]) + 1)
    return [
        run("default", LMNN(n_neighbors=3, **fixed), data),
        # learn_rate stays at its 1e-7: a larger one ended higher on iris and on wine
        run("tight", LMNN(n_neighbors=3, convergence_tol=1e-12, **many), data),
        run("squared bounds", ITML(**fixed), data, bounds=bounds),
        run("squared bounds, tight", ITML(tol=1e-9, **many), data, bounds=bounds),
        run("squared bounds, 5 passes", ITML(max_iter=5, **fixed), data, bounds=bounds),
        run("own bounds", ITML(**fixed), data),
        run("own bounds, tight", ITML(tol=1e-9, **many), data),
        run("full", MMC(init="identity", **fixed), data),
        run("full, tight", MMC(init="identity", tol=1e-9, **many), data),
        run("full, 100 projections", MMC(init="identity", max_proj=100, **fixed), data),
        run("diagonal", MMC(init="identity", diagonal=True, **fixed), data),
        # not `many`: after its second step it no longer moves, and goes on to the limit
        run("diagonal, tight", MMC(init="identity", diagonal=True, tol=1e-10, max_iter=1000, **fixed), data),
        run("default", LSML(**fixed), data),
        run("default, tight", LSML(tol=1e-9, **many), data),
        run("rising weights", LSML(**fixed), data, weights=rising),
        run("rising weights, tight", LSML(tol=1e-9, **many), data, weights=rising),
        run("default", RCA(), data),
        run("one component less", RCA(n_components=data.X.shape[1] - 1), data),
        run("default", NCA(init="identity", **fixed), data),
        run("tight", NCA(init="identity", tol=1e-10, **many), data),
        run("default", NeighborhoodComponentsAnalysis(init="identity", **fixed), data),
        run("tight", NeighborhoodComponentsAnalysis(init="identity", tol=1e-10, **many), data),
        *further_runs(data),
    ]


def further_runs(data: Data) -> list[dict[str, Any]]:
    """SCML with 5 vectors for a feature in place of its 80; SDML is in with_sdml.py."""
    fixed = {"random_state": SEED}
    few = {"n_basis": 5 * data.X.shape[1], **fixed}
    return [
        run("default", SCML(**few), data),
        run("beta=0.01", SCML(beta=0.01, **few), data),
        run("beta=0.01, 100000 steps", SCML(beta=0.01, max_iter=100_000, **few), data),
        run("default", MLKR(init="identity", **fixed), data),
        run("tight", MLKR(init="identity", tol=1e-12, max_iter=2000, **fixed), data),
        *(run(kind, LFDA(n_components=2, embedding_type=kind), data) for kind in LFDA_KINDS),
    ]


def run(settings: str, model: Any, data: Data, **given: Any) -> dict[str, Any]:
    """Fit twice, the second time verbose where it can be; everything that came out."""
    talking = clone(model)
    if "verbose" in model.get_params():
        talking.set_params(verbose=1)
    warned, _ = fit(model, data, given)
    warned_talking, printed = fit(talking, data, given)
    L, package = model.components_, NAMES[type(model).__module__.split(".")[0]]
    M = model.get_mahalanobis_matrix() if isinstance(model, MahalanobisMixin) else L.T @ L
    return recorded(
        *(package, type(model).__name__, settings, data, M),
        version=version(package),
        params=model.get_params(),
        given=given,  # to `fit`, besides points and labels, pairs, quadruplets or chunklets
        **{key: getattr(model, key) for key in FITTED if hasattr(model, key)},
        **({"targets": targets(clone(model), data.X, data.y)} if isinstance(model, LMNN) else {}),
        **({"basis": basis(clone(model), data)} if isinstance(model, SCML) else {}),
        own_objective=own_objective(clone(model), data, L, given),
        warnings=warned,
        warnings_verbose=warned_talking,
        printed=[line for line in printed if "converge" in line],
        same_again=bool(np.array_equal(L, talking.components_)),
    )


def fit(model: Any, data: Data, given: dict[str, Any]) -> Watched:
    """Fit in place."""
    X, y = data.X.copy(), data.y.copy()
    if isinstance(model, (ITML, MMC)):
        what = wrap_pairs(X, data.pairs)
    elif isinstance(model, SCML):
        what = (X[triplets(data)],)
    elif isinstance(model, MLKR):
        what = regression(data)
    elif isinstance(model, LSML):
        what = (X[data.more["quadruplets"]],)
    else:
        what = (X, data.more["chunklets"].copy() if isinstance(model, RCA) else y)
    return watched(lambda: model.fit(*what, **{key: value.copy() for key, value in given.items()}))


if __name__ == "__main__":
    write((*NAMES.values(), "numpy", "scipy", "joblib", "threadpoolctl"), run_all)
