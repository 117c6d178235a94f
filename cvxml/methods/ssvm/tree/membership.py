"""What a branch assumes of the sets h*_i: who is in, who is out; what follows; and what it says about W.

known[i, j] is IN or OUT where it is settled whether j is in h*_i, OPEN otherwise. h*_i has k points, and its class y_i
has more votes than any other.

Follows. Only counts matter for which sets are left, so what follows for one open point of a class follows for all
of them: if no set is left with one more of that class, they are out; with one less available, they are in.

Says about W. h*_i is the cheapest set at W. With j in it and l not, D_W(i, j) <= D_W(i, l) if l may take the place
of j: if both are of one class, or l is of class y_i. Such pairs are called exchanges.
"""

from __future__ import annotations

import numpy as np

from cvxml.core.metric import IntArray

IN, OPEN, OUT = 1, 0, -1


def unknown(n: int) -> IntArray:
    """Nothing settled, but that nobody is his own neighbour: known (n, n)."""
    return np.asarray(OUT * np.eye(n), dtype=np.intp)


def possible(least: IntArray, most: IntArray, own: int, k: int) -> bool:
    """Whether a set exists with `least` to `most` (R,) points of each class, k in all, that lets class `own` win."""
    low, high = np.delete(least, own), np.delete(most, own)
    for m in range(max(int(least[own]), 1), min(int(most[own]), k) + 1):
        others = np.minimum(high, m - 1)
        if (low <= others).all() and low.sum() <= k - m <= others.sum():
            return True
    return False


def counts(known: IntArray, y: IntArray, R: int) -> tuple[IntArray, IntArray]:
    """The least and the most points of each class (R,) that a set has which agrees with `known` (n,)."""
    return np.bincount(y[known == IN], minlength=R), np.bincount(y[known != OUT], minlength=R)


def follow(known: IntArray, y: IntArray, own: int, k: int, R: int) -> IntArray | None:
    """`known` (n,) of one point with all that follows; None if no set agrees with it."""
    known = known.copy()
    least, most = counts(known, y, R)
    if not possible(least, most, own, k):
        return None
    changed = True
    while changed:
        changed = False
        for c in range(R):
            if least[c] == most[c]:
                continue
            one = np.arange(R) == c
            members = (y == c) & (known == OPEN)
            if not possible(least + one, most, own, k):
                known[members], changed = OUT, True
            elif not possible(least, most - one, own, k):
                known[members], changed = IN, True
            least, most = counts(known, y, R)
    return known


def is_exchange(known: IntArray, y: IntArray, i: int, j: int, other: int) -> bool:
    """Whether `other` may take the place of j in h*_i, and by `known` (n,) of i does not."""
    return bool(known[j] == IN and known[other] == OUT and other != i and (y[other] in (y[j], y[i])))
