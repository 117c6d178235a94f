"""
Proofs in fractions
===================

Floating point rounds. A proof that leans on it says "optimal, but for rounding", and
where rounding is as large as what is asked, nothing. Every float is a fraction,
however; and with fractions one can reckon without any rounding at all.
"""

import warnings
from fractions import Fraction

import matplotlib.pyplot as plt
import numpy as np

import cvxml
from cvxml import datasets

# %%
# By hand
# -------
#
# Three points on a line, at 0, 4 and 12; the first two are of one class. A metric of
# the line is one number A, and MLSVM minimises ``A^2 / 4 + mean of the hinges`` for
# ``lam = 1/2``.

X, y = np.array([[0.0], [4.0], [12.0]]), np.array([0, 0, 1])
solution = cvxml.solve("mlsvm", X, y, lam=0.5, n_neighbors=2)
print("A =", solution.metric[0, 0])

# %%
# The first point has its target at 4 and its impostor at 12: its margin is (144 - 16)
# A. The second has (64 - 16) A = 48 A. The third has no target. As long as a hinge is
# open its price pulls A up; the best A closes the second, at 48 A = 1.

A = Fraction(1, 48)
value = A**2 / 4 + (max(Fraction(0), 1 - 128 * A) + max(Fraction(0), 1 - 48 * A)) / 3
print("A =", A, "has the objective", value, "=", float(value))
assert np.isclose(solution.metric[0, 0], 1 / 48)

# %%
# ``exact=True`` does the same for any problem: repair the prices, multiply everything
# out in fractions, and round only what is printed, outward.

report = cvxml.check("mlsvm", X, y, [[1 / 48]], lam=0.5, n_neighbors=2, exact=True)
print(report.verdict.value, "-", report.exact)
assert report.verdict == "certified"
assert report.exact.lower_bound <= value <= report.exact.objective

# %%
# Where floats have nothing to say
# --------------------------------
#
# As lam falls, so does the optimum, and the rounding of a sum of hinges does not: at
# last it is larger than all there is to know. The interval in fractions only depends on
# how good the metric and the prices are, and where floats end they are as good as luck
# has it: how narrow it is at the last weights depends on the machine.

X, y = datasets.subsample(*datasets.load("wine"), 20)
X = datasets.standardize(X)
lams = 10.0 ** -np.arange(0, 9, 2)
floats, fractions = [], []
for lam in lams:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it says that double precision ends here
        metric = cvxml.solve("mlsvm", X, y, lam=lam, tol=1e-9).metric
    report = cvxml.check("mlsvm", X, y, metric, lam=lam, exact=True, diagnosed=False)
    floats.append((max(report.gap, 0) + report.rounding) / report.scale)
    fractions.append(float(report.exact.gap / report.exact.scale))
    print(
        f"lam {lam:.0e}: the optimum to {floats[-1]:.0e} of it by floats, to {fractions[-1]:.0e} by fractions"
    )

assert fractions[-1] < 1e-6 < floats[-1]
assert all(proved < rounded for proved, rounded in zip(fractions, floats, strict=True))

fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.loglog(lams, floats, "o-", color="#D55E00", label="by floats, with all their rounding")
ax.loglog(lams, fractions, "s-", color="#0072B2", label="by fractions, a theorem")
ax.set(
    xlabel="lam",
    ylabel="width, relative to the optimum",
    title="An interval that holds the optimum",
)
ax.invert_xaxis()
ax.legend(frameon=False)
plt.show()
