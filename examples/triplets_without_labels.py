"""
Learn a metric from comparisons alone
=====================================

Here the points have no class labels. A person looked at three points at a time and said which
of two points is more like the third. Such an answer is a triplet. With enough triplets we can
recover the metric that this person uses.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Ellipse

import cvxml

rng = np.random.default_rng(0)
X = rng.standard_normal((60, 2))
hidden = np.array([[1.0, -1.7], [-1.7, 4.0]])  # the metric of the person

# %%
# The questions
# -------------
#
# Each question has three points i, j, l: is j or l nearer to i? The answers follow the hidden
# metric, but about one answer in ten is wrong.


def ask(count: int) -> np.ndarray:
    """Return (count, 3) rows i, j, l: by the answer, j is nearer to i than l."""
    drawn = (rng.choice(len(X), 3, replace=False).tolist() for _ in range(2 * count))
    rows = np.array(
        list(dict.fromkeys((i, min(j, l), max(j, l)) for i, j, l in drawn))[:count]
    )  # each question once
    i, j, l = rows.T
    to_j, to_l = X[i] - X[j], X[i] - X[l]
    further = np.einsum("nd,de,ne->n", to_j, hidden, to_j) > np.einsum(
        "nd,de,ne->n", to_l, hidden, to_l
    )
    swap = further ^ (rng.random(count) < 0.1)
    rows[swap] = rows[swap][:, [0, 2, 1]]
    return rows


# %%
# The learned metrics
# -------------------
#
# FrobMetric minimizes half the squared norm of the metric plus C times the mean of the hinges.
# The hinge of a triplet is 0 if its margin is at least 1. Every list of triplets has exactly one
# optimal metric, even if some triplets contradict each other. We learn from 5, 50 and 500
# triplets. The cosine of the angle between two matrices compares them with the hidden metric.


def cosine(A: np.ndarray, B: np.ndarray) -> float:
    """Return the cosine of the angle between two matrices: 1 for positive multiples."""
    return float(np.sum(A * B) / np.linalg.norm(A) / np.linalg.norm(B))


counts = (5, 50, 500)
triplets = ask(counts[-1])
learnt = []
for count in counts:
    learner = cvxml.FrobMetric(C=10.0).fit(X, triplets=triplets[:count])
    assert learner.certificate_.proves(1e-6)
    learnt.append(learner.get_mahalanobis_matrix())
    print(f"{count:>5} triplets: cosine to the hidden metric {cosine(learnt[-1], hidden):.3f}")
assert cosine(learnt[-1], hidden) > 0.98

# %%
# The picture shows the unit ball of each metric. All balls have the same area. The dashed ball
# belongs to the hidden metric.


def ball(M: np.ndarray, **style: object) -> Ellipse:
    """Return the unit ball of M, scaled to a fixed area."""
    w, V = np.linalg.eigh(M / np.sqrt(np.linalg.det(M)))
    return Ellipse(
        (0, 0),
        *(2 / np.sqrt(w)),
        angle=np.degrees(np.arctan2(V[1, 0], V[0, 0])),
        fill=False,
        **style,
    )


fig, axes = plt.subplots(1, 3, figsize=(9, 3.2), layout="constrained")
for ax, count, M in zip(axes, counts, learnt, strict=True):
    ax.plot(*X.T, ".", color="0.7", ms=4)
    ax.add_patch(ball(M, ec="#0072B2", lw=2))
    ax.add_patch(ball(hidden, ec="#D55E00", lw=2, ls="--"))
    ax.set(
        title=f"metric from {count} triplets",
        xlabel="first coordinate",
        ylabel="second coordinate",
        xlim=(-2.6, 2.6),
        ylim=(-2.6, 2.6),
        xticks=[],
        yticks=[],
        aspect="equal",
    )
plt.show()
