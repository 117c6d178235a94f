"""Algorithm 1 of Nguyen, Guo 2008 as printed, x+ = argmin, to the point where it stands still."""

import numpy as np
from correct import main, mlsvm


def as_printed(given):
    """The nearest target by A itself, chosen again until nothing changes."""
    X = np.array(given["X"])
    A = np.eye(X.shape[1])
    for _ in range(30):
        nearest = [
            sorted(T, key=lambda j: (X[i] - X[j]) @ A @ (X[i] - X[j]))[:1]
            for i, T in enumerate(given["targets"])
        ]
        before, A = A, mlsvm({**given, "targets": nearest})["metric"]
        if np.linalg.norm(A - before) <= 1e-9 * np.linalg.norm(A):
            break
    return {"metric": A}


if __name__ == "__main__":
    main({"mlsvm": as_printed})
