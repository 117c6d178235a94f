"""Count how often a diagnosis names a wrong misreading: wrong metrics of every method, of many kinds.

    python -m validation.names --n 20000 --folder results/names

A candidate is one of these:
- a random psd matrix of any size and rank;
- the optimum with noise of any size;
- a mixture of the optimum and of the multiple of the identity with the same trace. With another trace, it could be a
  multiple of the optimum, if the optimum is nearly a multiple of the identity;
- a multiple of the optimum with noise: only a factor may be named;
- a multiple of the optimum for another weight: only a factor, a weight or both may be named;
- the metric of a wrong program that no misreading lists (`validation/wrong.py`).
Any other name counts as false, and so does every problem that is listed as nearest. A factor, a weight or one
misreading is not false if a solution of this program certifies the metric with it, because some optima, such as
vertices, solve several problems. A candidate that is optimal to the tolerance is left out.

Candidates on the same data share the solutions that they are compared with, as one `check` does for its misreadings.
This is the only difference from `check`. Results are stored, in one file for each group of candidates.
"""

from __future__ import annotations

import argparse
import itertools
import json
import re
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from cvxml import datasets
from cvxml.core.example import Example
from cvxml.core.metric import FloatArray
from cvxml.core.misreading import OtherProblem, Question
from cvxml.core.threads import one_blas_thread
from cvxml.methods import METHODS, get
from cvxml.oracle.asked import Asked
from cvxml.oracle.diagnose import diagnose
from cvxml.oracle.judge import Judge
from cvxml.oracle.reference import Reference, reference
from validation.wrong import SOLVED, bugs, changed

TOL = 1e-6
ROUND = 20  # candidates of a file
FACTOR, MULTIPLE = "a factor and noise", "a multiple for another weight"
NUMBER = r"[0-9.e+-]+"
RIGHT = {  # words of the names that are true of a kind
    FACTOR: ("but for a factor",),
    MULTIPLE: ("but for a factor", "times the metric", "for {} ="),
    "the pairs of two classes are lost": ("one pair of classes left out",),
    "some pairs are lost": ("one pair lost",),
    "some triplets are lost": ("one triplet lost",),
    "off_diagonals_once": ("entries off the diagonal counted once",),
    "balanced": ("class means",),
}


class Shared(Judge):
    """A judge that shares its solutions with the other candidates on the same data, and has no time limit."""

    known: dict[Any, Any]
    of_weights: dict[Any, Any]
    fine: set[Any]
    same: OtherProblem

    def __init__(self, asked: Asked, optimum: Reference | None, seconds: float = 0.0):
        super().__init__(asked, optimum)  # no limit of time: a name must not rest on the speed of a machine
        self.solved, self.weighed, self.itself = self.known, self.of_weights, self.same
        self.sharpened = self.fine

    def _key(self, other: OtherProblem) -> Any:
        content = {name: np.asarray(value, dtype=object).tolist() for name, value in other.params.items()}
        return np.asarray(other.X).tobytes(), repr(other.y), repr(content), other.method or self.method


def candidates(best: FloatArray, rng: np.random.Generator) -> Iterator[tuple[str, FloatArray]]:
    """Yield the kind and the metric (d, d) of random candidates, one kind after the other, without end.

    best: the optimum (d, d). The candidates have about its size.
    """
    d, norm = len(best), float(np.linalg.norm(best)) or 1.0
    while True:
        factor = rng.standard_normal((d, rng.integers(1, d + 1)))
        random = factor @ factor.T
        yield "random", random * norm * 10 ** rng.uniform(-1.5, 1) / np.linalg.norm(random)
        noise = rng.standard_normal((d, d))
        values, vectors = np.linalg.eigh(
            best + norm * 10 ** rng.uniform(-4, 0) * (noise + noise.T) / np.linalg.norm(noise + noise.T)
        )
        yield "noise", (vectors * np.maximum(values, 0)) @ vectors.T
        way = 10 ** rng.uniform(-4, 0)
        yield "on the way", (1 - way) * best + way * np.trace(best) / d * np.eye(d)
        noise = np.eye(d) + 10 ** rng.uniform(-4, -1) * rng.standard_normal((d, d)) / d
        yield FACTOR, 3 ** rng.uniform(-1, 1) * noise @ best @ noise.T


def multiples(method: str, example: Example, rng: np.random.Generator) -> Iterator[tuple[str, FloatArray]]:
    """Yield the kind and the metric of multiples of optima for other weights, without end.

    Yields no candidate if the method has no weight.
    """
    module, (X, y) = get(method), datasets.of_example(example)
    given, names = module.instance(X, y, **example.params), list(module.WEIGHTS)
    while names:
        name = names[rng.integers(len(names))]
        by, most = 4 ** rng.uniform(-1, 1), module.WEIGHTS[name]
        asked = float(getattr(given, name))
        weight = asked * by if np.isinf(most) else asked * by / (asked * by + most - asked)
        other = module.instance(X, y, **{**example.params, name: weight})
        yield MULTIPLE, 2 ** rng.uniform(-1, 1) * module.solve(other, tol=SOLVED).metric


def all_kinds(method: str, example: Example, best: FloatArray, seed: int) -> Iterator[tuple[str, FloatArray]]:
    """Yield the kind and the metric of candidates.

    The wrong programs of `BUGS` come first, once for each example. Then all other kinds take turns.
    """
    X, y = datasets.of_example(example)
    rng = np.random.default_rng(seed)
    if seed < len(examples(method)):
        yield from bugs(method, X, y, example.params)
    drawn, others = candidates(best, rng), multiples(method, example, rng)
    wrong = changed(method, X, y, example.params, rng)
    while True:
        for source, n in ((drawn, 4), (others, 1), (wrong, 5)):
            yield from itertools.islice(source, n)


def judged(method: str, example: Example, seed: int, n: int) -> list[dict[str, Any]]:
    """Diagnose n candidates, and return a dict for each with its kind and the names given to it.

    Raises ValueError if the data have no optimum.
    """
    module, (X, y) = get(method), datasets.of_example(example)
    given = module.instance(X, y, **example.params)
    optimum = None
    if module.CLAIM == "optimal":
        optimum = reference(module, given, None, TOL)
        best = optimum.solution.metric
    else:
        best = module.solve(given, tol=TOL / 10).metric
    shape = Shared
    shape.known, shape.of_weights, shape.fine, shape.same = {}, {}, set(), OtherProblem(X, y, example.params)
    import cvxml.oracle.diagnose as place

    place.Judge = shape  # type: ignore[misc]
    rows = []
    if best.ndim != 2:
        raise ValueError("blocks of metrics are not drawn")
    drawn = all_kinds(method, example, best, seed)
    for _, (kind, metric) in zip(range(n), drawn, strict=False):
        if optimum is not None and module.certify(given, metric, optimum.solution.dual).proves(TOL):
            continue
        asked = Asked(method, X, y, shape.same.params, given, metric)
        started = time.process_time()
        found = diagnose(asked, optimum)
        rows.append(
            {
                "method": method,
                "data": str(example.points),
                "d": len(best),
                "kind": kind,
                "named": list(found.named),
                "false": [
                    each
                    for each in found.named
                    if not is_right(method, kind, each)
                    and not holds(method, example, metric, each)
                    and not is_solved(method, example, metric, each)
                ],
                "nearest": [str(each) for each in found.nearest],
                "seconds": time.process_time() - started,
            }
        )
    return rows


def is_right(method: str, kind: str, name: str) -> bool:
    """Return True if the diagnosis `name` is allowed for a candidate of this kind."""
    weights = get(method).WEIGHTS
    words = [word.format(weight) for word in RIGHT.get(kind, ()) for weight in weights or ("",)]
    return any(word in name for word in words)


def is_solved(method: str, example: Example, metric: FloatArray, name: str) -> bool:
    """Return True if `name` is the sentence of one misreading, and the metric is certified for its problem.

    The proof uses a solution of this program.
    """
    module, (X, y) = get(method), datasets.of_example(example)
    found = [each for each in module.MISREADINGS.values() if name == f"optimal for {each.sentence}"]
    if module.CLAIM != "optimal" or len(found) != 1 or found[0].problem is None:
        return False
    given = module.instance(X, y, **example.params)
    stored = {**module.stored(given), **example.params}
    other = found[0].problem(Question(X, y, metric, TOL, stored))
    if other is None or other.method is not None or other.metric is not None:
        return False
    theirs = module.instance(other.X, other.y, **other.params)
    ours = module.solve(theirs, tol=TOL / 10)
    return bool(module.certify(theirs, metric, ours.dual).proves(TOL))


def holds(method: str, example: Example, metric: FloatArray, name: str) -> bool:
    """Return True if `name` states only a factor and a weight, and the metric is certified with these numbers."""
    module, (X, y) = get(method), datasets.of_example(example)
    factor = re.search(rf"factor: ({NUMBER}) times", name)
    times = re.match(rf"({NUMBER}) times the metric", name)
    weights = {each: re.search(rf" for {each} = ({NUMBER}) \(", name) for each in module.WEIGHTS}
    known = {each: float(found[1]) for each, found in weights.items() if found}
    if (
        not (factor or times or known)
        or module.CLAIM != "optimal"
        or name.startswith("to ")
        or "), and " in name
    ):
        return False
    by = (float(factor[1]) if factor else 1.0) / (float(times[1]) if times else 1.0)
    given = module.instance(X, y, **{**example.params, **known})
    ours = module.solve(given, tol=TOL / 10)
    return bool(module.certify(given, by * metric, ours.dual).proves(TOL))


def examples(method: str) -> list[Example]:
    """Return the small examples of the method that are not degenerate."""
    return [
        each
        for each in get(method).EXAMPLES
        if each.use == "tested" and not getattr(each.points, "degenerate", False)
    ]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--n", type=int, default=20_000, help="candidates, about")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS)
    parser.add_argument("--minutes", type=float, default=1e9, help="no file is begun after these")
    parser.add_argument("--folder", type=Path, default=Path("results/names"))
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    until = time.monotonic() + 60 * options.minutes
    rounds = -(-options.n // (len(options.methods) * ROUND))
    for chunk in range(rounds):
        for method in options.methods:
            told = examples(method)
            path = options.folder / f"{method.replace(':', '_')}-{chunk}.json"
            if path.exists() or not told or time.monotonic() > until:
                continue
            try:
                with one_blas_thread(), warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    rows = judged(method, told[chunk % len(told)], chunk, ROUND)
            except ValueError as error:
                rows = []
                print(method, told[chunk % len(told)].points, error)
            path.write_text(json.dumps(rows, indent=0), encoding="utf-8")
    rows = [
        row for path in sorted(options.folder.glob("*.json")) for row in json.loads(path.read_text("utf-8"))
    ]
    wrong = [row for row in rows if row["false"] or row["nearest"]]
    for row in wrong:
        print(row["method"], row["data"], row["d"], row["kind"], *row["false"], *row["nearest"], sep=" | ")
    for kind in sorted({row["kind"] for row in rows}):
        of = [row for row in rows if row["kind"] == kind]
        right = sum(bool(row["named"]) and not row["false"] for row in of)
        false, near = sum(bool(row["false"]) for row in of), sum(bool(row["nearest"]) for row in of)
        print(
            f"{kind}: {len(of)} candidates, {right} with right names, {false} with false ones, {near} with a nearest"
        )
    print(
        f"{len(rows)} candidates, {len(wrong)} wrong, {sum(bool(row['false']) for row in wrong)} of these named"
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
