"""metric-learn, called with a small tolerance and a high limit, from the identity where there is a start.

Targets, and the basis of SCML, which it would find itself, are put in the place of what it finds.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from answering import Unsupported, components, main, none_of, only, pairs, points, spending_one, targets
from metric_learn import ITML, LFDA, LMNN, LSML, MLKR, MMC, NCA, RCA, SCML, SDML

MANY = {"max_iter": 20_000, "random_state": 0}
EMBEDDINGS = {"weighted": "weighted", "plain": "plain", "orthonormal": "orthonormalized"}


def lmnn(given: Any) -> Any:
    X, y = points(given)
    chosen = targets(given)
    model = LMNN(
        n_neighbors=chosen.shape[1],
        regularization=1 - given["mu"],
        init="identity",
        convergence_tol=1e-10,
        learn_rate=1e-5,
        **MANY,
    )
    model._select_targets = lambda X, labels: chosen
    return components(model.fit(X, y).components_)


def itml(given: Any) -> Any:
    both, side = pairs(given)
    model = ITML(gamma=given["gamma"], prior=np.array(given["prior"]), tol=1e-10, **MANY)
    return components(model.fit(both, side, bounds=np.array(given["bounds"])).components_)


def mmc(given: Any) -> Any:
    both, side = pairs(given)
    model = MMC(
        diagonal=given["formula"] == "mmc:diagonal",
        init="identity",
        tol=1e-9,
        max_iter=1000,
        random_state=0,
    )
    return spending_one(given, model.fit(both, side).get_mahalanobis_matrix())


def lsml(given: Any) -> Any:
    X = np.array(given["X"], dtype=float)
    model = LSML(prior=np.array(given["prior"]), tol=1e-9, **MANY)
    return components(
        model.fit(
            X[np.array(given["quadruplets"])], weights=np.array(given["weights"], dtype=float)
        ).components_
    )


def sdml(given: Any) -> Any:
    both, side = pairs(given)
    prior = np.array(given["prior"])
    model = SDML(balance_param=given["eta"], sparsity_param=given["lam"], prior=prior, random_state=0)
    return components(model.fit(both, side).components_)


def scml(given: Any) -> Any:
    X, basis = np.array(given["X"], dtype=float), np.array(given["basis"], dtype=float)
    model = SCML(beta=given["beta"], max_iter=100_000, random_state=0)
    model._initialize_basis = lambda triplets, X: (basis, len(basis))
    return components(model.fit(X[np.array(given["triplets"])]).components_)


def rca(given: Any) -> Any:
    none_of(given, "alpha")
    return components(RCA().fit(np.array(given["X"], dtype=float), np.array(given["chunklets"])).components_)


def lfda(given: Any) -> Any:
    none_of(given, "alpha")
    kind = EMBEDDINGS[given["embedding"]]
    model = LFDA(n_components=given["n_components"], k=given["n_neighbors"], embedding_type=kind)
    return components(model.fit(*points(given)).components_)


def mlkr(given: Any) -> Any:
    model = MLKR(n_components=given["n_components"], init="identity", tol=1e-14, **MANY)
    return components(model.fit(*points(given)).components_)


def nca(given: Any) -> Any:
    only(given, "criterion", "f")
    none_of(given, "similarity")
    if given["n_components"] > len(given["X"][0]):
        raise Unsupported("it takes no more components than features")
    model = NCA(n_components=given["n_components"], init="identity", tol=1e-14, **MANY)
    return components(model.fit(*points(given)).components_)


LEARNERS = {f.__name__: f for f in (lmnn, itml, mmc, lsml, sdml, scml, rca, lfda, mlkr, nca)}

if __name__ == "__main__":
    main(LEARNERS, ("metric-learn", "scikit-learn", "numpy", "scipy"))
