"""scikit-learn's NCA, from the identity, with a small tolerance and a high limit."""

from __future__ import annotations

from typing import Any

from answering import components, main, none_of, only, points
from sklearn.neighbors import NeighborhoodComponentsAnalysis


def nca(given: Any) -> Any:
    only(given, "criterion", "f")
    none_of(given, "similarity")
    model = NeighborhoodComponentsAnalysis(
        n_components=given["n_components"], init="identity", tol=1e-14, max_iter=20_000, random_state=0
    )
    return components(model.fit(*points(given)).components_)


if __name__ == "__main__":
    main({"nca": nca}, ("scikit-learn", "numpy", "scipy"))
