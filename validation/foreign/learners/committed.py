"""The test vector that metric-learn commits for MMC: test/metric_learn_test.py, TestMMC.test_iris, commit dc7e449.

Of iris as it is, and all its pairs i < j. The test sets np.random.seed(1234). MMC with a given start draws nothing, so
the seed has no effect.
"""

from __future__ import annotations

import numpy as np
from metric_learn import MMC

PINNED = {  # to 6 decimals
    "committed test, full": [
        [+0.000514, +0.000868, -0.001195, -0.001703],
        [+0.000868, +0.001468, -0.002021, -0.002879],
        [-0.001195, -0.002021, +0.002782, +0.003964],
        [-0.001703, -0.002879, +0.003964, +0.005648],
    ],
    "committed test, diagonal": np.diag([0, 0, 1.210220, 1.228596]).tolist(),
}


def learners() -> dict[str, MMC]:
    """Called as the test calls them."""
    return {
        "committed test, full": MMC(tol=0.01, init=np.eye(4) / 10),
        "committed test, diagonal": MMC(diagonal=True),
    }
