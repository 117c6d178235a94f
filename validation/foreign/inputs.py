"""The inputs of learners.py: iris and wine, each feature z-scored, no two points equal.

python inputs.py --data DIR
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from sklearn.datasets import load_iris, load_wine

# iris has equal points and equal distances: without this, targets would depend on how a package sorts ties
JITTER = 1e-6


def main() -> None:
    """Write one file a data set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    folder = parser.parse_args().data
    folder.mkdir(parents=True, exist_ok=True)
    for name, load in (("iris", load_iris), ("wine", load_wine)):
        raw, y = load(return_X_y=True)
        X = (raw - raw.mean(axis=0)) / raw.std(axis=0)
        X = X + JITTER * np.random.default_rng(0).standard_normal(X.shape)
        # json writes the repr of a float, which reads back as the same float64
        (folder / f"{name}.json").write_text(json.dumps({"X": X.tolist(), "y": y.tolist()}))


if __name__ == "__main__":
    main()
