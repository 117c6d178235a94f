"""pylmnn's LMNN, from the identity, with a small tolerance and a high limit; its targets are replaced.

The package imports GPyOpt, for a search of parameters that is not used here: an empty module stands in for it.
"""

from __future__ import annotations

import sys
import types
from typing import Any

from answering import components, main, points, targets

for name in ("GPyOpt", "GPyOpt.methods"):
    sys.modules[name] = types.ModuleType(name)
sys.modules["GPyOpt.methods"].BayesianOptimization = None  # type: ignore[attr-defined]

from pylmnn import LargeMarginNearestNeighbor  # noqa: E402


def lmnn(given: Any) -> Any:
    chosen = targets(given)
    model = LargeMarginNearestNeighbor(
        n_neighbors=chosen.shape[1],
        weight_push_loss=given["mu"],
        init="identity",
        tol=1e-14,
        max_iter=20_000,
        random_state=0,
    )
    model._select_target_neighbors_wrapper = lambda X, y, classes=None: chosen
    return components(model.fit(*points(given)).components_)


if __name__ == "__main__":
    main({"lmnn": lmnn}, ("PyLMNN", "scikit-learn", "numpy", "scipy"))
