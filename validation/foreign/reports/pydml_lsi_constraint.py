# needs: pyDML==0.1.0
"""LSI returns the matrix of an unprojected step: it spends more than the constraint allows."""

import numpy as np
from dml import LSI

rng = np.random.default_rng(0)
X, y = rng.standard_normal((12, 3)), np.arange(12) % 2
worst = 0.0
for max_iter in (50, 100, 200):
    model = LSI(supervised=True, max_iter=max_iter).fit(X, y)
    spent = model.metadata()["final_constraint"]
    print(f"max_iter {max_iter}: sum over similar pairs {spent:.4f}, allowed 1 + {model.itproj_err_}")
    worst = max(worst, spent)
assert worst > 1 + 10 * model.itproj_err_, "mended"
