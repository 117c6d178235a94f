"""pyDML's LDML, as it returns it: see record.py. ../requirements_pydml.txt has the versions.

It takes every two points, in both orders, and each point with itself; every third point is what it gets here.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from dml import LDML
from record import Data, run, watched, write

EVERY = 3
SETTINGS = {
    "default": {},
    "small steps": {"eta0": 1e-5, "max_iter": 50, "prec": 1e-9, "tol": 1e-12},
}


def run_all(data: dict[str, Data]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    return [
        fit(settings, data[name], given) for name in ("iris", "wine") for settings, given in SETTINGS.items()
    ], {}


def fit(settings: str, data: Data, given: dict[str, Any]) -> dict[str, Any]:
    """Twice. Its likelihood at the start and at the end, None where it is no number."""
    models = [LDML(**given) for _ in range(2)]
    for model in models:
        told = watched(lambda model=model: model.fit(data.X[::EVERY].copy(), data.y[::EVERY].copy()))
    model, M = models[0], models[0].metric()
    ends = [float(np.ravel(model.metadata()[key])[0]) for key in ("initial_error", "final_error")]
    return run(
        *("pyDML", "LDML", settings, data, M),
        params={"b": model.b_, "eta0": model.eta0_, "max_iter": model.max_it_, "tol": model.tol_},
        every=EVERY,
        n_iter_=model.num_its_,
        likelihood=[value if math.isfinite(value) else None for value in ends],
        warnings=told.warned,
        same_again=bool(np.array_equal(M, models[1].metric())),
    )


if __name__ == "__main__":
    write(("pyDML", "scikit-learn", "numpy", "scipy"), run_all)
