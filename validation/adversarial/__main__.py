"""See the package's docstring."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from joblib import Parallel, delayed

import validation.adversarial
from cvxml.firstorder import one_blas_thread
from validation.adversarial.attack import DUALS
from validation.adversarial.instances import METHODS
from validation.adversarial.judge import CANDIDATES, Outcome, attacked

CHUNK = 4  # seeds of a file


def main() -> int:
    parser = argparse.ArgumentParser(
        description=validation.adversarial.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--n", type=int, default=20_000, help="candidates, about")
    parser.add_argument("--folder", type=Path, default=Path("results/adversarial"))
    parser.add_argument("--method", choices=METHODS)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--n-jobs", type=int, default=2)
    options = parser.parse_args()
    methods = METHODS if options.method is None else (options.method,)
    if options.seed is not None:
        with one_blas_thread():
            found = [each for method in methods for each in attacked(method, options.seed)]
        for each in found:
            print(each.method, each.family, each.what, each.tol, each.verdict, *each.wrong, sep="  ")
        return int(any(each.wrong for each in found))
    chunks = -(-options.n // (len(methods) * CHUNK * (CANDIDATES + DUALS)))
    started = time.perf_counter()
    work = [(method, chunk) for chunk in range(chunks) for method in methods]
    options.folder.mkdir(parents=True, exist_ok=True)
    parts = Parallel(n_jobs=options.n_jobs, return_as="generator_unordered", batch_size=1)(
        delayed(kept)(options.folder, method, chunk) for method, chunk in work
    )
    outcomes = [each for part in parts for each in part]
    print(table(outcomes))
    print(f"\n{len(outcomes)} candidates, {time.perf_counter() - started:.0f} s")
    for line in reproductions(outcomes):
        print(line)
    return int(any(each.wrong for each in outcomes))


def kept(folder: Path, method: str, chunk: int) -> list[Outcome]:
    """The outcomes of some seeds, from their file if it is there."""
    path = folder / f"{method.replace(':', '-')}-{chunk:04}.jsonl"
    if not path.exists():
        with one_blas_thread():
            found = [each for k in range(CHUNK) for each in attacked(method, chunk * CHUNK + k)]
        part = path.with_suffix(".part")
        part.write_text("".join(json.dumps(each) + "\n" for each in found), encoding="utf-8")
        part.rename(path)
    return [Outcome(*json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


def table(outcomes: list[Outcome]) -> str:
    """Markdown: a row for each method and family."""
    lines = [
        "| method | family | candidates | certified | refuted | inconclusive | refused | solved | wrong |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    keys = sorted({(each.method, each.family) for each in outcomes})
    for method, family in keys:
        of = [each for each in outcomes if (each.method, each.family) == (method, family)]
        lines.append(f"| {method} | {family} | {_row(of)} |")
    return "\n".join([*lines, f"| all |  | {_row(outcomes)} |"])


def _row(of: list[Outcome]) -> str:
    said = Counter(each.verdict for each in of)
    known = ("certified", "refuted", "inconclusive", "refused")
    counts = [
        len(of),
        *(said[verdict] for verdict in known),
        len(of) - sum(said[verdict] for verdict in known),
    ]
    return " | ".join(map(str, [*counts, sum(bool(each.wrong) for each in of)]))


def reproductions(outcomes: list[Outcome]) -> Iterable[str]:
    """A line for each that is wrong."""
    for each in outcomes:
        for wrong in each.wrong:
            yield f"--method {each.method} --seed {each.seed}  ({each.family}, {each.what}, {each.tol}) {wrong}"


if __name__ == "__main__":
    sys.exit(main())
