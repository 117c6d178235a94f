"""How often the separation oracles that were released with MLR miss the worst ranking; prints a table.

    python validation/studies/released_oracles.py

mlr-1.2 (B. McFee, D. Lim, 2013), separationOracle/*.m, whose ways of finding a ranking are written again here: D of the
relevant points `near` and of the others `far`, from near to far, give the numbers g_p of others before each relevant
one. What differs from cvxml/methods/mlr/interleaving.py is said at each function. An instance is missed where its
ranking is worth less than the worst by more than `MISSED`.

Random: distances independent, exponential with mean 1/2 (`alike`); in a normal space of DIMENSION features, the query
and the relevant points around 0, the others around a point that is SPREAD away (`clusters`), over their mean times 2.
Data: the embedded sets, features scaled to standard deviation 1, in the multiple of the identity in which the mean
distance is 1/2. There every point is a query.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from cvxml import datasets
from cvxml.core.inputs import check_labels, check_X
from cvxml.core.metric import FloatArray
from cvxml.core.queries import queried
from cvxml.core.ranking import earned, length

Ranked = list[int]
INSTANCES = 2000
SIZES = ((3, 5), (8, 12), (10, 40))
DIMENSION = 5
SPREAD = 1.5
K = 5
SETS = ("iris", "wine")
MISSED = 1e-9


def worth(measure: str, k: int, near: FloatArray, far: FloatArray, g: Ranked) -> float:
    """Loss of a ranking less what its swaps cost."""
    P, N = len(near), len(far)
    swaps = sum(float(np.sum(far[:count] - near[p])) for p, count in enumerate(g))
    own = earned(measure, k, P, N)
    return 1 - float(sum(own[p, count] for p, count in enumerate(g))) - 2 / (P * N) * swaps


def programme(table: FloatArray, near: FloatArray, far: FloatArray) -> Ranked:
    """The worst ranking where a relevant point earns what the table (P, G) says; g goes up to G - 1."""
    P, N = len(near), len(far)
    before = np.concatenate([[0.0], np.cumsum(far)])[: table.shape[1]]
    best: list[Any] = [(0.0, ())] * table.shape[1]
    for p in range(P):
        most, values = best[0], []
        for g, value in enumerate(best):
            most = max(most, value, key=lambda one: one[0])
            cost = 2 / (P * N) * (before[g] - g * near[p])
            values.append((most[0] - table[p, g] - cost, (*most[1], g)))
        best = values
    return list(max(best, key=lambda one: one[0])[1])


def exact(measure: str, k: int, near: FloatArray, far: FloatArray) -> Ranked:
    """The corrected oracle."""
    return programme(earned(measure, k, len(near), len(far)), near, far)


def released_auc(k: int, near: FloatArray, far: FloatArray) -> Ranked:
    """separationOracleAUC.m: the ranking is right. The loss that goes with it is not: `released_auc_loss`."""
    return [int(np.count_nonzero(1 - 2 * (far - own) > 0)) for own in near]


def released_auc_loss(g: Ranked, N: int) -> float:
    """1 less half the share of swapped pairs, where it is that share: 1 of a ranking that is right."""
    return 1 - sum(g) / (2 * len(g) * N)


def released_map(k: int, near: FloatArray, far: FloatArray) -> Ranked:
    """separationOracleMAP.m: the p-th relevant point earns p / (g + 1), where it is p / (g + p)."""
    P, N = len(near), len(far)
    p, g = np.arange(1.0, P + 1)[:, None], np.arange(N + 1.0)
    return programme(p / (P * (g + 1)), near, far)


def released_ndcg(k: int, near: FloatArray, far: FloatArray) -> Ranked:
    """separationOracleNDCG.m: no relevant point comes after the last of the others."""
    return programme(earned("ndcg", k, len(near), len(far))[:, :-1], near, far)


def released_mrr(k: int, near: FloatArray, far: FloatArray) -> Ranked:
    """separationOracleMRR.m: by the rank of the first relevant point; right."""
    return exact("mrr", k, near, far)


def released_precision(k: int, near: FloatArray, far: FloatArray) -> Ranked:
    """separationOraclePrecAtK.m, by the number t of relevant points among the first k.

    The first k are taken away one by one: from t - 1 to t the t-th relevant point alone is moved, before some of the
    first k - t others. So those beyond the first k stay behind k others, where k - t are enough; and what the others
    have of the features is counted with the wrong sign.
    """
    P, N = len(near), len(far)
    k, before = length("precision", k, P, N), np.concatenate([[0.0], np.cumsum(far)])
    g = [k + int(np.count_nonzero(far[k:] <= own)) for own in near]
    tried = [list(g)]
    for t in range(1, k + 1):
        g[t - 1] = int(np.count_nonzero(far[: k - t] <= near[t - 1]))
        tried.append(list(g))

    def scored(t: int) -> float:
        own = sum(-(N - 2 * count) * near[p] for p, count in enumerate(tried[t]))
        others = sum(-(before[-1] - 2 * before[count]) for count in tried[t])  # the sign
        return float(own + others) / (P * N) - t / k

    return tried[max(range(k + 1), key=scored)]


RELEASED: dict[str, Callable[[int, FloatArray, FloatArray], Ranked]] = {
    "auc": released_auc,
    "precision": released_precision,
    "map": released_map,
    "mrr": released_mrr,
    "ndcg": released_ndcg,
}


def is_missed(measure: str, k: int, near: FloatArray, far: FloatArray, g: Ranked) -> bool:
    """True where another ranking is worse, or these numbers are of none."""
    if sorted(g) != g:
        return True
    worst = worth(measure, k, near, far, exact(measure, k, near, far))
    return worst - worth(measure, k, near, far, g) > MISSED


def drawn(kind: str, P: int, N: int, rng: np.random.Generator) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Distances of instances."""
    for _ in range(INSTANCES):
        if kind == "alike":
            near, far = rng.exponential(0.5, P), rng.exponential(0.5, N)
        else:
            query, plus = rng.standard_normal(DIMENSION), rng.standard_normal((P, DIMENSION))
            minus = rng.standard_normal((N, DIMENSION)) + SPREAD / np.sqrt(DIMENSION)
            near, far = (np.sum((query - side) ** 2, axis=1) for side in (plus, minus))
            unit = 2 * np.mean(np.concatenate([near, far]))
            near, far = near / unit, far / unit
        yield np.sort(near), np.sort(far)


def of_set(name: str) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Distances of the queries of an embedded set."""
    X, y = datasets.load(name)
    X = check_X(datasets.standardize(X))
    asked = queried(X, check_labels(y, len(X)), None)
    unit = 2 * np.mean([np.sum((X - x) ** 2) / (len(X) - 1) for x in X])
    for q in asked.queries.tolist():
        plus, minus = asked.sides(q)
        yield tuple(np.sort(np.sum((X[side] - X[q]) ** 2, axis=1)) / unit for side in (plus, minus))  # type: ignore[misc]


def shares(instances: Iterator[tuple[FloatArray, FloatArray]]) -> list[str]:
    """Of each measure the share of instances whose worst ranking is missed; and of those whose loss of AUC is wrong."""
    missed, wrong, count = dict.fromkeys(RELEASED, 0), 0, 0
    for near, far in instances:
        count += 1
        for measure, oracle in RELEASED.items():
            g = oracle(K, near, far)
            missed[measure] += is_missed(measure, K, near, far, g)
            if measure == "auc":
                P, N = len(near), len(far)
                loss = 1 - float(earned("auc", K, P, N)[np.arange(P), g].sum())
                wrong += abs(loss - released_auc_loss(g, N)) > MISSED
    return [f"{100 * number / count:.1f} %" for number in (*missed.values(), wrong)]


def main() -> None:
    print("| instances | P, N | " + " | ".join(RELEASED) + " | loss of auc |")
    print("|" + "---|" * (len(RELEASED) + 3))
    rng = np.random.default_rng(0)
    for kind in ("alike", "clusters"):
        for P, N in SIZES:
            print(f"| {kind} | {P}, {N} | " + " | ".join(shares(drawn(kind, P, N, rng))) + " |", flush=True)
    for name in SETS:
        print(f"| {name} | all | " + " | ".join(shares(of_set(name))) + " |", flush=True)


if __name__ == "__main__":
    main()
