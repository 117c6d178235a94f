"""pylmnn's LMNN, as it returns it: see record.py. ../requirements_pylmnn.txt has the versions.

The package imports GPyOpt, for a search of parameters that is not used here: an empty module stands in for it.
"""

from __future__ import annotations

import sys
import types
from typing import Any

import numpy as np
from record import Data, run, watched, write

for name in ("GPyOpt", "GPyOpt.methods"):
    sys.modules[name] = types.ModuleType(name)
sys.modules["GPyOpt.methods"].BayesianOptimization = None  # type: ignore[attr-defined]

from pylmnn import LargeMarginNearestNeighbor  # noqa: E402
from pylmnn.lmnn import _select_target_neighbors  # noqa: E402

SETTINGS = {
    "default": {},
    "identity": {"init": "identity"},
    "identity, tight": {"init": "identity", "tol": 1e-12, "max_iter": 10_000},
}


def run_all(data: dict[str, Data]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    runs = [
        fit(settings, data[name], given) for name in ("iris", "wine") for settings, given in SETTINGS.items()
    ]
    return runs, {}


def fit(settings: str, data: Data, given: dict[str, Any]) -> dict[str, Any]:
    """Twice, and its own loss, which it computes from the triplets that it finds."""
    models = [LargeMarginNearestNeighbor(random_state=0, store_opt_result=True, **given) for _ in range(2)]
    for model in models:
        told = watched(lambda model=model: model.fit(data.X.copy(), data.y.copy()))
    model, result = models[0], models[0].opt_result_
    L = model.components_
    params = {k: v for k, v in model.get_params().items() if isinstance(v, (int, float, str))}
    return run(
        *("pylmnn", "LargeMarginNearestNeighbor", settings, data, L.T @ L),
        params=params,
        targets=_select_target_neighbors(data.X, data.y, model.n_neighbors),
        n_iter_=model.n_iter_,
        converged_=bool(result.success),
        message=str(result.message),
        own_objective={"minimised": [float(result.fun), float(result.fun)]},
        warnings=told.warned,
        same_again=bool(np.array_equal(L, models[1].components_)),
    )


if __name__ == "__main__":
    write(("PyLMNN", "scikit-learn", "numpy", "scipy", "six"), run_all)
