"""
Which weight did that program take?
===================================

Papers write ``lam/2``, ``lam`` or ``C``; means become sums. The answers look alike, and
each is optimal, for another weight. Given a metric alone, ``check`` finds the weight
for which it is.
"""

import matplotlib.pyplot as plt
import numpy as np

import cvxml
from cvxml import datasets

X, y = datasets.load("wine")
X = datasets.standardize(X)

# %%
# A stranger's metric
# -------------------
#
# Somebody reports the metric of RTML with ``lam = 1``. In truth the program minimised
# with three times that weight, but who knows?

asked = {"lam": 1.0}
somebodys = cvxml.solve("rtml", X, y, lam=3.0, tol=1e-10).metric
report = cvxml.check("rtml", X, y, somebodys, **asked)
print(report.verdict.value)
for line in report.diagnosis:
    print("-", line)
assert report.verdict == "refuted"
assert any("lam" in line and "3" in line for line in report.diagnosis)

# %%
# How it is found
# ---------------
#
# The weight enters the objective linearly. So what the metric leaves to gain is convex
# in the weight, and falls to 0 where the metric is optimal. Each point of the curve is
# proved: an objective less a lower bound.

lams = np.geomspace(0.3, 30, 21)
left = [cvxml.check("rtml", X, y, somebodys, lam=lam, diagnosed=False).rel_gap for lam in lams]
assert np.isclose(lams[int(np.argmin(left))], 3.0)

fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.loglog(lams, np.maximum(left, 1e-9), "o-", color="#0072B2", ms=4)
ax.axvline(asked["lam"], color="#D55E00", ls="--", label="asked for")
ax.axvline(3.0, color="#009E73", label="found")
ax.set(xlabel="lam", ylabel="left to gain, of the scale", title="The weight that it took")
ax.legend(frameon=False)
plt.show()
