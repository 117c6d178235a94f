"""See the package's docstring."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

from joblib import Parallel, delayed

import validation.adversarial
from cvxml.core.threads import one_blas_thread
from validation.adversarial.attack import DUALS
from validation.adversarial.instances import METHODS
from validation.adversarial.judge import CANDIDATES, Outcome, attacked

TRUST = Path(__file__).parent.parent / "trust.md"
TITLE = "# Attacks, judged in rationals"
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
    parser.add_argument("--write", action="store_true", help="put the tables into validation/trust.md")
    options = parser.parse_args()
    methods = METHODS if options.method is None else (options.method,)
    if options.seed is not None:
        with one_blas_thread():
            found = [each for method in methods for each in attacked(method, options.seed)]
        for each in found:
            print(each.method, each.family, each.what, each.tol, each.verdict, *each.wrong, sep="  ")
        return int(any(each.wrong for each in found))
    chunks = -(-options.n // (len(methods) * CHUNK * (CANDIDATES + DUALS)))
    work = [(method, chunk) for chunk in range(chunks) for method in methods]
    options.folder.mkdir(parents=True, exist_ok=True)
    parts = Parallel(n_jobs=options.n_jobs, return_as="generator_unordered", batch_size=1)(
        delayed(kept)(options.folder, method, chunk) for method, chunk in work
    )
    outcomes = [each for part in parts for each in part]
    text = page(outcomes)
    print(text)
    for line in reproductions(outcomes):
        print(line)
    if options.write:
        before = TRUST.read_text(encoding="utf-8").split(TITLE)[0].rstrip()
        TRUST.write_text(f"{before}\n\n{text}", encoding="utf-8")
    return int(any(each.wrong for each in outcomes))


def page(outcomes: list[Outcome]) -> str:
    """The part of validation/trust.md that this script writes."""
    wrong = sum(bool(each.wrong) for each in outcomes)
    by_method = table(outcomes, "method", lambda each: each.method)
    by_family = table(outcomes, "family", lambda each: each.family)
    words = (
        "The truth is computed in rational numbers and enclosures, without the solvers and certificates of cvxml. The "
        "docstring of `validation/adversarial/__init__.py` defines a wrong verdict, and lists the families of inputs. "
        "*refused*: an error with a reason; *solved*: results of `solve`, each judged with its bound."
    )
    said = f"`python -m validation.adversarial`: {len(outcomes)} candidates, {wrong} wrong."
    return f"{TITLE}\n\n{said} {words}\n\n{by_method}\n\n{by_family}\n"


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


def table(outcomes: list[Outcome], name: str, key: Callable[[Outcome], str]) -> str:
    """Markdown: a row for each value of a key."""
    lines = [
        f"| {name} | candidates | certified | refuted | inconclusive | refused | solved | wrong |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for value in sorted({key(each) for each in outcomes}):
        lines.append(f"| {value} | {_row([each for each in outcomes if key(each) == value])} |")
    return "\n".join([*lines, f"| all | {_row(outcomes)} |"])


def _row(of: list[Outcome]) -> str:
    said = Counter(each.verdict.replace("close", "refuted") for each in of)  # what is close is refuted too
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
