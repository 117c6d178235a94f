"""mlpack's LMNN and NCA through its Python binding, by L-BFGS with a small tolerance; LMNN takes its own targets."""

from __future__ import annotations

import os
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"

import mlpack
from answering import components, its_own, main, nearest, none_of, only, points, targets

OPTIONS = {"optimizer": "lbfgs", "tolerance": 1e-12, "max_iterations": 20_000, "seed": 1, "verbose": False}


def lmnn(given: Any) -> Any:
    X, y = points(given)
    k = targets(given).shape[1]
    its_own(given, nearest(X, y, k))
    return components(mlpack.lmnn(input_=X, labels=y, k=k, regularization=given["mu"], **OPTIONS)["output"].T)


def nca(given: Any) -> Any:
    only(given, "criterion", "f")
    none_of(given, "similarity")
    only(given, "n_components", len(given["X"][0]))
    X, y = points(given)
    return components(mlpack.nca(input_=X, labels=y, **OPTIONS)["output"].T)


if __name__ == "__main__":
    main({"lmnn": lmnn, "nca": nca}, ("mlpack", "numpy"))
