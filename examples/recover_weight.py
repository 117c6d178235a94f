"""
Find the weight that a program used
===================================

Some papers write the weight as ``lam/2``, others as ``lam`` or ``C``, and some programs use a
sum in place of a mean. Then a program returns a plausible metric that is optimal for a
different weight. ``cvxml.check`` needs only the metric to find the weight for which it is
optimal.
"""

import matplotlib.pyplot as plt
import numpy as np

import cvxml
from cvxml import datasets

X, y = datasets.load("wine")
X = datasets.standardize(X)

# %%
# The metric of another program
# -----------------------------
#
# A user reports a metric for RTML with ``lam = 1``. In fact the program used three times this
# weight, and the user does not know it.

asked = {"lam": 1.0}
somebodys = cvxml.solve("rtml", X, y, lam=3.0, tol=1e-10).metric
report = cvxml.check(
    "rtml", X, y, somebodys, diagnosed="all", **asked
)  # no limit of time for the search
print(report.verdict.value)
for line in report.diagnosis:
    print("-", line)
assert report.verdict == "refuted"
assert any("lam" in line and "3" in line for line in report.diagnosis)

# %%
# Why the weight can be found
# ---------------------------
#
# The objective is linear in the weight, and the optimum is concave in the weight. So their
# difference, the distance of the metric from the optimum, is convex in the weight. It is 0
# where the metric is optimal. We draw the relative gap: the objective minus a proved lower
# bound, divided by the scale.

lams = np.geomspace(0.3, 30, 21)
left = [cvxml.check("rtml", X, y, somebodys, lam=lam, diagnosed=False).rel_gap for lam in lams]
assert np.isclose(lams[int(np.argmin(left))], 3.0)

fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.loglog(lams, np.maximum(left, 1e-9), "o-", color="#0072B2", ms=4)
ax.axvline(asked["lam"], color="#D55E00", ls="--", label="weight in the report: 1")
ax.axvline(3.0, color="#009E73", label="weight that was used: 3")
ax.set(
    xlabel="weight lam",
    ylabel="relative gap",
    title="The gap vanishes at the weight that was used",
)
fig.legend(loc="outside lower center", ncols=2, frameon=False)
plt.show()
