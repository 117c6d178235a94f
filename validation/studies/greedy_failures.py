"""How often the one-pass greedy of Algorithm 2 (Trivedi et al. 2014) misses the cheapest set; prints two tables.

    python validation/studies/greedy_failures.py

Random: an instance is one query and R classes of POINTS points each; the target is the first class. `alike`: distances
independent, uniform on [0, 1]. `clusters`: the query and the centres of the classes normal with standard deviation
SPREAD, the points standard normal around their centres, DIMENSION features. Data: the embedded sets, features scaled
to standard deviation 1, in the metric s 1 with the s of least F at the default C.

The script raises an error if the greedy is cheaper than the exact inference, or wrong where
docs/gerrymandering_inference.md proves it right.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cvxml import datasets
from cvxml.core.inputs import check_labels
from cvxml.methods.ssvm import algorithms, inference
from cvxml.methods.ssvm.inference import Nearest, best_scale, nearest, point_at
from cvxml.methods.ssvm.instance import instance

INSTANCES = 2000  # for each R, k, tau and kind
POINTS = 20  # of each class
DIMENSION = 5
SPREAD = 1.5
CLASSES = (2, 3, 5, 10, 26)
VOTES = (3, 4, 5, 6, 7, 9, 11)
SETS = ("iris", "wine", "digits")
OF_SETS = (3, 7, 11)  # the votes of the paper's experiments


def can_fail(k: int, R: int, tau: int) -> bool:
    """k >= 2 n* + 2 - tau."""
    return k >= 2 * inference.fewest_votes(k, R, tau) + 2 - tau


def random_instances(kind: str, rng: np.random.Generator, R: int, k: int) -> Nearest:
    """The k nearest points of each class, (INSTANCES, R, k)."""
    if kind == "alike":
        distances = rng.uniform(size=(INSTANCES, R, POINTS))
    else:
        query, *centres = SPREAD * rng.standard_normal((R + 1, INSTANCES, 1, DIMENSION))
        points = [centre + rng.standard_normal((INSTANCES, POINTS, DIMENSION)) for centre in centres]
        distances = np.stack([np.sum((of_class - query) ** 2, axis=2) for of_class in points], axis=1)
    D = np.sort(distances, axis=2)[:, :, :k]
    names = np.arange(R)[:, None] * POINTS + np.arange(k)
    return Nearest(D, np.broadcast_to(names, D.shape))


def excess(near: Nearest, target: Any, tau: int) -> Any:
    """How much dearer the greedy's set is than the cheapest, as a share, for each instance; 0 where it is not."""
    _, R, k = near.D.shape
    ours, theirs = inference.targeted(near, target, tau).value, algorithms.targeted(near, target, tau).value
    more = theirs / ours - 1
    more[np.abs(more) < 1e-12] = 0.0
    if (more < 0).any() or (more.any() and not can_fail(k, R, tau)):
        raise AssertionError(f"R={R}, k={k}, tau={tau}: cheaper than exact, or a failure that cannot be")
    return more


def print_row(*cells: object) -> None:
    print("| " + " | ".join(map(str, cells)) + " |")


def print_random(rng: np.random.Generator) -> None:
    print_row("instances", "R", "tau", *(f"k = {k}" for k in VOTES))
    print("|" + "---|" * (len(VOTES) + 3))
    means = []
    for kind in ("alike", "clusters"):
        for R in CLASSES:
            for tau in (1, 0):
                cells = []
                for k in VOTES:
                    more = excess(random_instances(kind, rng, R, k), np.zeros(INSTANCES, dtype=np.intp), tau)
                    cells.append(str(np.count_nonzero(more)) if can_fail(k, R, tau) else "-")
                    means += [more[more > 0].mean()] if more.any() else []
                print_row(kind, R, tau, *cells)
    print(f"\nMean excess where it fails, over the cells: {min(means):.1%} to {max(means):.1%}.\n")


def print_sets() -> None:
    print_row("data", "n", "R", "k", "own class, tau = 1", "any class, tau = 0", "loss-augmented")
    print("|" + "---|" * 7)
    for name in SETS:
        X, y = datasets.load(name)
        X, codes = datasets.standardize(X), check_labels(y, len(X))
        n, d = X.shape
        for k in OF_SETS:
            p = instance(X, y, n_neighbors=k)
            near = nearest(X, codes, p.R, best_scale(p, point_at(p, np.eye(d))) * np.eye(d), k)
            own = np.count_nonzero(excess(near, codes, 1))
            pairs = sum(np.count_nonzero(excess(near, np.full(n, r), 0)) for r in range(p.R))
            ours = inference.loss_augmented(near, codes, p.Lam).value
            theirs = algorithms.loss_augmented(near, codes, p.Lam, tau=0).value
            missed = np.count_nonzero(ours - theirs > 1e-12 * np.abs(ours))
            print_row(name, n, p.R, k, f"{own} of {n}", f"{pairs} of {n * p.R}", f"{missed} of {n}")


def main() -> None:
    print_random(np.random.default_rng(0))
    print_sets()


if __name__ == "__main__":
    main()
