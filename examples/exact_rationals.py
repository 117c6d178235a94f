"""
Proofs in exact fractions
=========================

Floating-point numbers have rounding errors. A proof in floating point therefore holds up to a
bound on these errors, and it is useless where this bound is larger than the tolerance. But
every float is a fraction, and arithmetic with fractions has no rounding errors. The option
``exact=True`` computes the proof in fractions.
"""

import warnings
from fractions import Fraction

import matplotlib.pyplot as plt
import numpy as np

import cvxml
from cvxml import datasets

# %%
# An example by hand
# ------------------
#
# Three points lie on a line, at 0, 4 and 12. The first two have the same class. A metric on
# the line is one number A >= 0. For ``lam = 1/2`` MLSVM minimizes
# ``A^2 / 4 + mean of the hinges``.

X, y = np.array([[0.0], [4.0], [12.0]]), np.array([0, 0, 1])
solution = cvxml.solve("mlsvm", X, y, lam=0.5, n_neighbors=2)
print("A =", solution.metric[0, 0])

# %%
# The first point has its target at 4 and its impostor at 12, so its margin is
# (144 - 16) A = 128 A. The margin of the second point is (64 - 16) A = 48 A. The third point
# has no target, so its hinge is 0. While 48 A < 1, a larger A lowers the second hinge faster
# than it raises ``A^2 / 4``. From 48 A = 1 on, both hinges are 0. So the optimum is A = 1/48.

A = Fraction(1, 48)
value = A**2 / 4 + (max(Fraction(0), 1 - 128 * A) + max(Fraction(0), 1 - 48 * A)) / 3
print("A =", A, "has the objective", value, "=", float(value))
assert np.isclose(solution.metric[0, 0], 1 / 48)

# %%
# ``exact=True`` proves such a statement for any problem. It repairs the dual variables,
# computes both bounds in fractions, and rounds only the printed numbers, outward.

report = cvxml.check("mlsvm", X, y, [[1 / 48]], lam=0.5, n_neighbors=2, exact=True)
print(report.verdict.value, "-", report.exact)
assert report.verdict == "certified"
assert report.exact.lower_bound <= value <= report.exact.objective

# %%
# Small weights: floats fail, fractions do not
# --------------------------------------------
#
# If ``lam`` decreases, the optimum decreases too, but the rounding error of a sum of hinges
# does not. So the interval from floats becomes too wide to be useful. The width of the
# interval from fractions depends only on the quality of the metric and of the dual variables.
# A solver in double precision computed these two. For the smallest weights their quality, and
# therefore the width, depends on the machine.

X, y = datasets.subsample(*datasets.load("wine"), 20)
X = datasets.standardize(X)
lams = 10.0 ** -np.arange(0, 9, 2)
floats, fractions = [], []
for lam in lams:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the warning that double precision is not sufficient
        metric = cvxml.solve("mlsvm", X, y, lam=lam, tol=1e-9).metric
    report = cvxml.check("mlsvm", X, y, metric, lam=lam, exact=True, diagnosed=False)
    floats.append((max(report.gap, 0) + report.rounding) / report.scale)
    fractions.append(float(report.exact.gap / report.exact.scale))
    print(
        f"lam {lam:.0e}: width / scale is {floats[-1]:.0e} with floats, {fractions[-1]:.0e} with fractions"
    )

assert fractions[-1] < 1e-6 < floats[-1]
assert all(proved < rounded for proved, rounded in zip(fractions, floats, strict=True))

fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.loglog(lams, floats, "o-", color="#D55E00", label="floats, rounding included")
ax.loglog(lams, fractions, "s-", color="#0072B2", label="exact fractions")
ax.set(
    xlabel="weight lam",
    ylabel="relative width of the interval",
    title="Width of the interval that holds the optimum",
)
ax.invert_xaxis()
fig.legend(loc="outside lower center", ncols=2, frameon=False)
plt.show()
