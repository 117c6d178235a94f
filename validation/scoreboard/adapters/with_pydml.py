"""pyDML, with small tolerances and 2000 steps; it takes pairs by the labels, and its own targets."""

from __future__ import annotations

from typing import Any

import dml
import numpy as np
from answering import (
    Unsupported,
    by_labels,
    components,
    its_own,
    main,
    nearest,
    none_of,
    only,
    points,
    spending_one,
    targets,
)

STEPS = {"max_iter": 2000, "prec": 1e-12, "tol": 1e-12}


def metric(model: Any) -> Any:
    return {"metric": model.metric()}


def lmnn(given: Any) -> Any:
    X, y = points(given)
    k = targets(given).shape[1]
    its_own(given, nearest(X, y, k))
    return metric(dml.LMNN(k=k, mu=given["mu"], **STEPS).fit(X, y))


def nca(given: Any) -> Any:
    only(given, "criterion", "f")
    none_of(given, "similarity")
    X, y = points(given)
    return components(
        dml.NCA(num_dims=given["n_components"], descent_method="BGD", **STEPS).fit(X, y).transformer()
    )


def mcml(given: Any) -> Any:
    return metric(dml.MCML(**STEPS).fit(*points(given)))


def ldml(given: Any) -> Any:
    by_labels(given)
    if given["b"] == "free":
        raise Unsupported("b is a number")
    return metric(dml.LDML(b=given["b"], **STEPS).fit(*points(given)))


def dml_eig(given: Any) -> Any:
    by_labels(given)
    model = dml.DML_eig(mu=1e-6, tol=1e-12, max_it=2000).fit(*points(given))
    return spending_one(given, model.metric())


def lsi(given: Any) -> Any:
    X = np.array(given["X"], dtype=float)
    sides = []
    for side in ("similar", "dissimilar"):
        sides.append(np.zeros((len(X), len(X)), dtype=bool))
        for i, j in given["pairs"][side]:
            sides[-1][i, j] = sides[-1][j, i] = True
    model = dml.LSI(max_iter=2000, itproj_err=1e-9, err=1e-9).fit(X, sides)
    return spending_one(given, model.metric())


if __name__ == "__main__":
    main(
        {f.__name__: f for f in (lmnn, nca, mcml, ldml, dml_eig, lsi)},
        ("pyDML", "scikit-learn", "numpy", "scipy"),
    )
