"""
A metric from comparisons alone
===============================

Nobody knows classes here. Someone looked at three things at a time and said "this one
is more like that one": triplets. From enough of them the metric can be read that this
person has in mind.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Ellipse

import cvxml

rng = np.random.default_rng(0)
X = rng.standard_normal((60, 2))
hidden = np.array([[1.0, -1.7], [-1.7, 4.0]])  # what the person has in mind

# %%
# Questions
# ---------
#
# Of three points i, j, l: which of j and l is nearer to i? The answers follow the
# hidden metric, and one of ten is wrong.


def ask(count: int) -> np.ndarray:
    """(count, 3) rows i, j, l where j was said to be nearer to i than l."""
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
# Answers
# -------
#
# FrobMetric asks for a margin of 1 in each triplet, or for a price, and for a small
# norm. There is one optimum for any list of triplets, those that contradict each other
# included.


def cosine(A: np.ndarray, B: np.ndarray) -> float:
    """1 for multiples of each other."""
    return float(np.sum(A * B) / np.linalg.norm(A) / np.linalg.norm(B))


counts = (5, 50, 500)
triplets = ask(counts[-1])
learnt = []
for count in counts:
    learner = cvxml.FrobMetric(C=10.0).fit(X, triplets=triplets[:count])
    assert learner.certificate_.proves(1e-6)
    learnt.append(learner.get_mahalanobis_matrix())
    print(f"{count:>5} triplets: likeness to the hidden metric {cosine(learnt[-1], hidden):.3f}")
assert cosine(learnt[-1], hidden) > 0.98

# %%
# The unit ball of each metric, all drawn with the same area. The dashed one is hidden.


def ball(M: np.ndarray, **style: object) -> Ellipse:
    """The points at distance 1, but for a factor."""
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
        title=f"{count} triplets",
        xlim=(-2.6, 2.6),
        ylim=(-2.6, 2.6),
        xticks=[],
        yticks=[],
        aspect="equal",
    )
plt.show()
