"""metric-learn's SDML, as it returns it: see record.py. ../requirements_sdml.txt has the versions.

metric-learn 0.7.0 gives scikit-learn's graphical_lasso an argument that scikit-learn 1.5 or newer does not take.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from metric_learn import SDML
from metric_learn.constraints import wrap_pairs
from record import Data, run, watched, write
from threadpoolctl import threadpool_limits

BOTH = {"balance_param": 0.001}  # with 60 pairs of each kind, more leaves S indefinite
RUNS = {  # settings, and whether dissimilar pairs are left out
    "default, similar pairs": ({}, True),
    "balance_param=0.001": (BOTH, False),
    "balance_param=0.001, lam=0.1": ({**BOTH, "sparsity_param": 0.1}, False),
    "prior covariance": ({**BOTH, "prior": "covariance"}, False),
}
WEIGHTS = (0.5, 0.05, 0.01, 0.003, 0.001)


def run_all(data: dict[str, Data]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    named = [data[name] for name in ("iris", "wine")]
    with threadpool_limits(1):
        runs = [fit(settings, each, *given) for each in named for settings, given in RUNS.items()]
        return runs, {"sdml_weights": {each.name: weights(each) for each in named}}


def fit(settings: str, data: Data, given: dict[str, Any], similar: bool) -> dict[str, Any]:
    """Twice."""
    pairs, kind = wrap_pairs(data.X, data.pairs)
    kept = kind == 1 if similar else np.full(len(kind), True)
    models = [SDML(**given) for _ in range(2)]
    for model in models:
        told = watched(lambda model=model: model.fit(pairs[kept], kind[kept]))
    L, again = (model.components_ for model in models)
    return run(
        *("metric-learn", "SDML", settings, data, L.T @ L),
        params=models[0].get_params(),
        given={"similar_only": similar},
        warnings=told.warned,
        same_again=bool(np.array_equal(L, again)),
    )


def weights(data: Data) -> list[dict[str, Any]]:
    """With pairs of both kinds and several weights of them: the least eigenvalue of S, and what `fit` ends with."""
    pairs, kind = wrap_pairs(data.X, data.pairs)
    E = pairs[:, 0] - pairs[:, 1]
    found = []
    for weight in WEIGHTS:
        model, error = SDML(balance_param=weight), None
        try:
            watched(lambda model=model: model.fit(pairs, kind))
        except RuntimeError as raised:
            error = str(raised).splitlines()[0][-120:]
        S = np.eye(E.shape[1]) + weight * (E.T * kind) @ E
        M = None if error else model.get_mahalanobis_matrix()
        least = float(np.linalg.eigvalsh(S)[0])
        found.append({"balance_param": weight, "least_eigenvalue": least, "error": error, "M": M})
    return found


if __name__ == "__main__":
    write(("metric-learn", "scikit-learn", "numpy", "scipy", "threadpoolctl"), run_all)
