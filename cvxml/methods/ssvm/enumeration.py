"""Neighbourhood gerrymandering from its definitions: loops over all sets of k neighbours.

    D_W(i, j)   = (x_i - x_j)^T W (x_i - x_j)                                                        (1)
    S_W(i, h)   = - sum_{j in h} D_W(i, j),   |h| = k, i not in h                                    (2)
    Delta(y, h) = max of Lam(y, r) over the classes r tied for most votes in h                       (4)
    L_i         = max_h [S_W(i, h) + Delta(y_i, h)]  -  max_{h: y_i wins strictly} S_W(i, h)     (5), (6)
    F(W)        = ||W||_F^2 + C sum_i L_i                                                           (10)

Lam(y, r) is the loss of predicting class r for a point of class y. The two maxima are the inferences: `loss_augmented`
finds the first and `targeted` the second. Every line is literal. One correction: (4) decides a tie by a heuristic. Here
a tie has the largest loss of the tied classes, as in the paper's inference. Delta = 0 is then the same as a strict win,
because Lam > 0 off its diagonal.

The argument `candidates` names the sets among which an inference searches. `all_sets` is the definition. `nearest_sets`
has one set for every vector of vote counts: the nearest points of each class. S is a sum over the points and Delta
depends only on the counts, so no other set with these counts is better. `nearest_sets` is fast enough for some hundred
points.

Ties: the better cost, then the lexicographically first set (as a sorted tuple of indices). Costs are sums rounded once
(math.fsum). Compare costs, not sets: if two costs differ by less than rounding, `all_sets` and `nearest_sets` may lead
to different sets.

Shapes: X (n, d), y (n,) codes 0..R-1, W (d, d), Lam (R, R), D (n,) one row D_W(i, .); its entry i is ignored. This file
is slow and shares no code with a solver or a certificate in floats.

Reference: S. Trivedi, D. McAllester, G. Shakhnarovich, Discriminative Metric Learning by Neighborhood Gerrymandering,
NIPS 2014.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence

from cvxml.core.metric import FloatArray, IntArray

Neighbors = tuple[int, ...]  # a set h: k distinct indices, increasing
Candidates = Callable[[FloatArray, IntArray, int, int], Iterator[Neighbors]]


def all_sets(D: FloatArray, y: IntArray, i: int, k: int) -> Iterator[Neighbors]:
    """Yield every set h of k points other than i, as an increasing tuple. D is not used."""
    return itertools.combinations([j for j in range(len(y)) if j != i], k)


def nearest_sets(D: FloatArray, y: IntArray, i: int, k: int) -> Iterator[Neighbors]:
    """Yield a set for every vector of vote counts (m_1, ..., m_R) with sum k: the m_c nearest points of each class c.

    D (n,): distances from point i, which is in no set.
    """
    members = [sorted(listed, key=lambda j: (D[j], j)) for listed in members_by_class(y, i)]
    for counts in count_vectors([len(listed) for listed in members], k):
        yield tuple(sorted(j for listed, m in zip(members, counts, strict=True) for j in listed[:m]))


def members_by_class(y: IntArray, i: int) -> list[list[int]]:
    """Return a list for each class 0..R-1: its points, without i."""
    return [[j for j in range(len(y)) if y[j] == c and j != i] for c in range(int(max(y)) + 1)]


def count_vectors(available: Sequence[int], k: int) -> Iterator[tuple[int, ...]]:
    """Yield every vector of vote counts (m_1, ..., m_R) with sum k. available[c]: the largest m_c, for each class c."""
    if len(available) == 0:
        if k == 0:
            yield ()
        return
    for m in range(min(k, available[0]) + 1):
        for rest in count_vectors(available[1:], k - m):
            yield (m, *rest)


def votes(y: IntArray, h: Neighbors, R: int) -> list[int]:
    """Return the number #r of points of class r in h, for r = 0..R-1."""
    return [sum(1 for j in h if y[j] == r) for r in range(R)]


def task_loss(counts: Sequence[int], own: int, Lam: FloatArray) -> float:
    """Delta(y, h): the largest Lam(own, r) among the classes r tied for most votes.

    counts: the votes of each class in h. own: the class y.
    """
    return max(float(Lam[own, r]) for r in range(len(counts)) if counts[r] == max(counts))


def wins(counts: Sequence[int], r: int) -> bool:
    """Return True if class r has more votes than any other class. counts: the votes of each class."""
    return all(counts[c] < counts[r] for c in range(len(counts)) if c != r)


def in_H(counts: Sequence[int], r: int, tau: int) -> bool:
    """Return True if h with the votes `counts` is in H_r(tau): #r >= 1 and #c <= #r - tau for all classes c != r.

    With tau = 1, r wins strictly; with tau = 0, ties are allowed.
    """
    return counts[r] >= 1 and all(counts[c] <= counts[r] - tau for c in range(len(counts)) if c != r)


def targeted(
    D: FloatArray, y: IntArray, i: int, k: int, r: int, tau: int, candidates: Candidates = all_sets
) -> tuple[Neighbors, float] | None:
    """Return the set h of H_r(tau) with the least sum of D, and that sum (section 5.1.1); None if H_r(tau) is empty.

    H_r(tau): the sets of k neighbours of i where class r has a vote and leads every other class by at least tau votes.
    """
    R = int(max(y)) + 1
    found = [(math.fsum(D[j] for j in h), h) for h in candidates(D, y, i, k) if in_H(votes(y, h, R), r, tau)]
    if not found:
        return None
    cost, h = min(found)
    return h, cost


def loss_augmented(
    D: FloatArray, y: IntArray, i: int, k: int, Lam: FloatArray, candidates: Candidates = all_sets
) -> tuple[Neighbors, float]:
    """Return the set h with the largest S(h) + Delta(y_i, h), and that value (section 5.1.2).

    S(h) is minus the sum of D over h. Raises ValueError if there are fewer than k other points.
    """
    if k > len(y) - 1:
        raise ValueError(f"k={k} neighbours need as many other points; there are {len(y) - 1}")
    own = int(y[i])
    value, h = min(
        (-math.fsum([*(-D[j] for j in h), task_loss(votes(y, h, len(Lam)), own, Lam)]), h)
        for h in candidates(D, y, i, k)
    )
    return h, -value


def distances(X: FloatArray, W: FloatArray, i: int) -> FloatArray:
    """The squared distances D_W(i, .) (n,) of all points from i: equation (1), one pair after another."""
    row = X[:, 0] * 0.0
    for j in range(len(X)):
        difference = X[i] - X[j]
        row[j] = difference @ W @ difference
    return row


def winning(D: FloatArray, y: IntArray, i: int, k: int, candidates: Candidates) -> tuple[Neighbors, float]:
    """The set h with the least sum of D among those in which y_i wins strictly, and that sum.

    Raises ValueError, with the class, if there is no such h.
    """
    own = int(y[i])
    best = targeted(D, y, i, k, own, 1, candidates)
    if best is None:
        raise ValueError(
            f"class {own} cannot win among k={k} neighbours of point {i}; take a smaller k, or more of its points"
        )
    return best


def h_star(X: FloatArray, y: IntArray, W: FloatArray, k: int) -> list[Neighbors]:
    """The set h*_i of every point (Algorithm 1): the best set at W that y_i wins, fixed in a CCCP step.

    Raises ValueError if the class of a point cannot win.
    """
    return [winning(distances(X, W, i), y, i, k, nearest_sets)[0] for i in range(len(X))]


def h_hat(X: FloatArray, y: IntArray, W: FloatArray, k: int, Lam: FloatArray) -> list[Neighbors]:
    """The set h^_i of every point (Algorithm 1): the set with the largest S_W + Delta, as in the first max of (5)."""
    return [loss_augmented(distances(X, W, i), y, i, k, Lam, nearest_sets)[0] for i in range(len(X))]


def surrogate_loss(
    D: FloatArray, y: IntArray, i: int, k: int, Lam: FloatArray, candidates: Candidates = nearest_sets
) -> float:
    """Return L_i, equation (5) minus equation (6), from the distances D (n,). Raises ValueError if y_i cannot win."""
    best = winning(D, y, i, k, candidates)[1]
    return loss_augmented(D, y, i, k, Lam, candidates)[1] + best


def objective(
    X: FloatArray,
    y: IntArray,
    W: FloatArray,
    k: int,
    C: float,
    Lam: FloatArray,
    candidates: Candidates = nearest_sets,
) -> float:
    """F(W), equation (10). Raises ValueError if the class of a point cannot win.

    candidates: `all_sets` follows the definition, and is only possible for a tiny n.
    """
    losses = [surrogate_loss(distances(X, W, i), y, i, k, Lam, candidates) for i in range(len(X))]
    return float((W * W).sum()) + C * math.fsum(losses)


def majorant(
    X: FloatArray,
    y: IntArray,
    W: FloatArray,
    k: int,
    C: float,
    Lam: FloatArray,
    latent: Sequence[Neighbors],
    candidates: Candidates = nearest_sets,
) -> float:
    """The objective at W of the CCCP step with h*_i = latent[i]: F(W) with S_W(i, latent[i]) as its second max.

    It is at least F(W), and equal to F(W) if each latent[i] attains that max.
    """
    losses = []
    for i in range(len(X)):
        D = distances(X, W, i)
        losses += [loss_augmented(D, y, i, k, Lam, candidates)[1] + math.fsum(D[j] for j in latent[i])]
    return float((W * W).sum()) + C * math.fsum(losses)
