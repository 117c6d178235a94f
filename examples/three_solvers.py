"""
Three solvers, one optimum
==========================

Clarabel and SCS solve the literal problem through cvxpy. The fast solver of cvxml is written
for the method. It shares no code with the other two. You need not trust any of them: our own code
computes the same certificate for each result, so the results can be compared.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

import cvxml
from cvxml import datasets
from cvxml.displays import CertificateDisplay

X, y = datasets.subsample(*datasets.load("iris"), 60)
X = datasets.standardize(X)
asked = {"lam": 0.1, "n_neighbors": 3, "neighborhood": "per-class"}

# %%
# The literal problem
# -------------------
#
# ``cvxml.problem`` returns the problem as the paper states it, with cvxpy:

literal = cvxml.problem("mlsvm", X, y, **asked)
print(type(literal).__name__, "with", len(literal.constraints), "constraints")

# %%
# Three intervals for the optimum
# -------------------------------
#
# The certificate of each solution proves an interval that contains the optimum.

solutions = {
    name: cvxml.solve("mlsvm", X, y, solver=name, **asked) for name in ("fast", "clarabel", "scs")
}
for name, solution in solutions.items():
    print(f"{name:<9}{solution.lower_bound:.12f} <= optimum <= {solution.objective:.12f}")

lowest = max(solution.lower_bound for solution in solutions.values())
highest = min(solution.objective for solution in solutions.values())
assert lowest <= highest + 1e-12

# %%
# The optimal metric is unique, so the three metrics must agree. The radius of a certificate
# bounds the distance of its metric from the optimum. So the sum of two radii bounds the distance
# between two metrics.

for name in ("clarabel", "scs"):
    apart = np.linalg.norm(solutions["fast"].metric - solutions[name].metric)
    allowed = solutions["fast"].certificate.radius + solutions[name].certificate.radius
    print(f"fast and {name}: distance {apart:.0e}, proved bound {allowed:.0e}")
    assert apart <= allowed

# %%
# Stop early
# ----------
#
# The fast solver computes a lower bound after each step, so you can stop it when the gap is
# small enough. A result with a larger gap is returned too, with its gap and with the status
# ``MAX_ITER``. The picture shows how the bounds of a full run approach each other.

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # the warning that three iterations were not sufficient
    early = cvxml.solve("mlsvm", X, y, max_iter=3, **asked)
print("after 3 iterations:", f"relative gap {early.rel_gap:.0e}, {early.status.name}")
shown = CertificateDisplay.from_solution(solutions["fast"])
plt.show()
