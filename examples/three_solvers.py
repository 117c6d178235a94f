"""
Three solvers, one optimum
==========================

The literal problem can be given to any solver that cvxpy knows; a fast one is written
for the method. They share no code, and none is believed. What they return is judged by
the same certificate, so that one can see what each is worth.
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
# The problem itself, row by row as the paper prints it:

literal = cvxml.problem("mlsvm", X, y, **asked)
print(type(literal).__name__, "with", len(literal.constraints), "constraints")

# %%
# Each solver's metric, and the interval that is proved to hold the optimum.

solutions = {
    name: cvxml.solve("mlsvm", X, y, solver=name, **asked) for name in ("fast", "clarabel", "scs")
}
for name, solution in solutions.items():
    print(f"{name:<9}{solution.lower_bound:.12f} <= optimum <= {solution.objective:.12f}")

lowest = max(solution.lower_bound for solution in solutions.values())
highest = min(solution.objective for solution in solutions.values())
assert lowest <= highest + 1e-12

# %%
# The optimum is unique, so the metrics must agree, and the certificates say how far
# they may be apart at most.

for name in ("clarabel", "scs"):
    apart = np.linalg.norm(solutions["fast"].metric - solutions[name].metric)
    allowed = solutions["fast"].certificate.radius + solutions[name].certificate.radius
    print(f"fast and {name}: {apart:.0e} apart, at most {allowed:.0e}")
    assert apart <= allowed

# %%
# On the way
# ----------
#
# The fast solver knows a bound after each step, so that one may stop where it is good
# enough. What is not good enough is returned with its gap, and a status that says so.

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of the steps that were left out
    early = cvxml.solve("mlsvm", X, y, max_iter=3, **asked)
print("after 3 iterations:", f"gap {early.rel_gap:.0e} of the scale, {early.status.name}")
shown = CertificateDisplay.from_solution(solutions["fast"])
plt.show()
