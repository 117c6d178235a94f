"""What a landing runs of the slow tests.

A landing runs the slow tests of the places that changed since the full suite last passed, and one eighth of the
others. A place is a folder of tests with the code that they test, or the test of the blocks of a page with the page
and the code of its method. `.ci/full` runs everything, and then stores a fingerprint of each place without a failed
test in `.ci/passed.json`. `.ci/turn` has the number of the eighth; `python .ci/landing.py next` moves on to the next
one. Eight landings in a row run every slow test.

If the slow tests of the changed places would take more than `MOST` seconds, a share of them runs, drawn anew at each
turn. `.ci/seconds.json` has the seconds of the slow tests of each file, as `.ci/full` measured them.

The tests of the site, the browser, the package, the Coq proofs and the reports of the replication are stages: they
run only when one of their inputs changed. If a stage would take more than `MOST_OF_A_STAGE` seconds, a share of it
runs. Tests with the mark `full` (figures of reports, audits) are left to the full suite.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
HERE = ROOT / ".ci"
PARTS = 8
MOST = 300  # seconds for the slow tests of changed places: two and a half minutes of two workers
MOST_OF_A_STAGE = 300
READ = ("cvxml", "tests", "validation", "docs", "examples")  # folders with files that are looked at
BESIDE = (ROOT / "conftest.py", HERE / "landing.py")
MADE = (
    "__pycache__",
    "api",
    "build",
    "gallery",
    "results",
    "__cache__",
    "outputs",
)  # folders that programs write


class Stage(NamedTuple):
    """Tests that run only if one of their inputs changed. A path that ends in / stands for all files below it."""

    tests: tuple[str, ...]
    inputs: tuple[str, ...]


# The test of the blocks of a page, and the pages of methods that have other names.
BLOCKS = "tests/docs/test_docs.py::test_the_blocks_of_a_page_run"
PAGES = {"ssvm": "gerrymandering", "kernel_mlsvm": "mlsvm"}
# Places of tests of a file, besides the place where it lies.
ALSO = {"cvxml/cases/judge.py": ("validation/test_recompute",)}

OF_PROOFS = (
    "validation/verified/",
    "cvxml/core/exact.py",
    "cvxml/family/theorem/exact.py",
    "cvxml/oracle/saved.py",
    "cvxml/oracle/side.py",
    "cvxml/oracle/side_logdet.py",
    "cvxml/oracle/side_nca.py",
    "cvxml/methods/nca/exact.py",
    "cvxml/methods/ssvm/exact.py",
    "cvxml/methods/ssvm/exact_tree.py",
    "cvxml/methods/glml/rational.py",
    "cvxml/methods/gmml.py",
    "cvxml/methods/itml/",
    "cvxml/methods/sdml/",
    "cvxml/methods/lsml.py",
)
STAGES = {
    "site": Stage(
        ("tests/docs/test_site.py", "tests/docs/test_site_browser.py"),
        ("docs/", "examples/", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "tests/docs/"),
    ),
    "browser": Stage(("tests/lessons/test_lessons_browser.py",), ("cvxml/lessons/", "tests/lessons/")),
    "package": Stage(("tests/test_package.py",), ("pyproject.toml", "MANIFEST.in", "tests/test_package.py")),
    "coq": Stage(("validation/verified/test_proved.py",), OF_PROOFS),
    "proofs": Stage(("validation/verified/",), OF_PROOFS),
    "reports": Stage(("validation/experiments/test_reports.py",), ("validation/experiments/",)),
}


def files() -> Iterator[str]:
    """The paths of all files that are looked at, relative to the root."""
    found = [path for folder in READ for path in (ROOT / folder).rglob("*")]
    for path in [*found, *ROOT.glob("*.md"), *ROOT.glob("*.toml"), ROOT / "MANIFEST.in", *BESIDE]:
        inside = path.relative_to(ROOT)
        if path.is_file() and not set(inside.parts) & set(MADE):
            yield inside.as_posix()


def place_of(path: str) -> str:
    """Where the tests of a file are: a folder, or the start of file names. Empty for pages and pictures.

    cvxml/family/rows/base.py is tested in tests/family/, cvxml/methods/lmnn.py in tests/methods/lmnn/, and
    cvxml/datasets.py in tests/test_datasets. The file of a test is in its own place.
    """
    if path.startswith("docs/adding/"):
        return "tests/methods/test_worked_example"
    if path in ("conftest.py", ".ci/landing.py"):
        return "tests/test_landing"
    top, *parts = path.removesuffix(".py").split("/")
    if path.endswith((".md", ".png", ".svg")) or top not in ("cvxml", "tests", "validation"):
        return ""
    if top == "validation":
        name = parts[0].removeprefix("test_")
        return f"validation/{parts[0]}/" if len(parts) > 1 else f"validation/test_{name}"
    if parts[0] == "methods" and len(parts) > 1:
        if parts[1].startswith("test_") or parts[1] == "__init__":
            return f"tests/methods/{parts[1]}"
        return f"tests/methods/{parts[1]}/"
    return f"tests/{parts[0]}/" if len(parts) > 1 else f"tests/test_{parts[0].removeprefix('test_')}"


def pages_of(path: str) -> list[str]:
    """The tests of the pages whose blocks a change of this file may make wrong: the page, or the pages of the method.

    The pages of a method begin with its name, for example mlsvm.md and mlsvm_proof.md.
    """
    top, *parts = path.split("/")
    if top == "docs" and len(parts) == 1 and path.endswith(".md"):
        return [f"{BLOCKS}[{parts[0]}]"]
    if top != "cvxml" or parts[0] != "methods" or len(parts) == 1:
        return []
    method = parts[1].removesuffix(".py")
    return [f"{BLOCKS}[{page.name}]" for page in (ROOT / "docs").glob(f"{PAGES.get(method, method)}*.md")]


def lies_in(path: str, inputs: Iterable[str]) -> bool:
    """True if `path` is one of the inputs, or below one that ends in /."""
    return any(path == one or (one.endswith("/") and path.startswith(one)) for one in inputs)


def fingerprints() -> dict[str, str]:
    """A hash of the files of each place, and of the inputs of each stage."""
    hashes: dict[str, Any] = defaultdict(sha256)
    for path in sorted(files()):
        names = [name for name, stage in STAGES.items() if lies_in(path, stage.inputs)]
        for name in [place_of(path), *pages_of(path), *ALSO.get(path, ()), *names]:
            hashes[name].update(f"{path}\0".encode() + (ROOT / path).read_bytes())
    return {name: found.hexdigest() for name, found in sorted(hashes.items()) if name}


def changed(passed: Mapping[str, str]) -> list[str]:
    """The places and stages that are not as they were when the full suite passed."""
    return [name for name, found in fingerprints().items() if passed.get(name) != found]


def share(places: Iterable[str], seconds: Mapping[str, float], most: float = MOST) -> float:
    """The share of the slow tests of these places that fits into `most` seconds, at most 1."""
    starts = tuple(places)
    total = sum(taken for path, taken in seconds.items() if path.startswith(starts))
    return min(1.0, most / total) if total else 1.0


def left_out(names: Iterable[str]) -> list[str]:
    """The tests of the stages that are not among these names."""
    return [test for name, stage in STAGES.items() if name not in names for test in stage.tests]


def read(name: str) -> Any:
    """A JSON file of this folder; {} where there is none."""
    path = HERE / name
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def write(name: str, content: Any) -> None:
    """Write a JSON file of this folder."""
    (HERE / name).write_text(json.dumps(content, indent=0) + "\n", encoding="utf-8")


def turn() -> int:
    """The number of the part that this landing runs."""
    return int(read("turn"))


def arguments() -> list[str]:
    """The arguments of `pytest -m "slow and not full"` at a landing."""
    names = changed(read("passed.json"))
    of_stages = {test for stage in STAGES.values() for test in stage.tests}
    pages = [name for name in names if name.startswith(BLOCKS)]
    places = [name for name in names if name not in {*STAGES, *of_stages, *pages}]
    seconds = read("seconds.json")
    ignored = [f"--ignore={path.rstrip('/')}" for path in left_out(names)]
    touched = [f"--touched={share(places, seconds):.3f}:{','.join(places)}"]
    if pages:
        of_a_page = seconds.get(BLOCKS.split("::")[0], 0.0) / len(list((ROOT / "docs").glob("*.md")))
        runs = share(pages, dict.fromkeys(pages, of_a_page), MOST_OF_A_STAGE)
        touched.append(f"--touched={runs:.3f}:{','.join(pages)}")
    for tests in (STAGES[name].tests for name in names if name in STAGES):
        touched.append(f"--touched={share(tests, seconds, MOST_OF_A_STAGE):.3f}:{','.join(tests)}")
    return [f"--part={turn()}/{PARTS}", *touched, *ignored]


def measured(lines: Iterable[str]) -> dict[str, float]:
    """The seconds of the tests of each file, of the lines that `pytest --durations-file` wrote."""
    seconds: dict[str, float] = defaultdict(float)
    for line in lines:
        test, taken, _ = json.loads(line)
        seconds[test.split("::")[0]] += taken
    return {path: round(taken, 1) for path, taken in sorted(seconds.items())}


def without_failures(found: Mapping[str, str], lines: Iterable[str]) -> dict[str, str]:
    """The fingerprints of the places and stages that have no failed test."""
    failed = [test for test, _, is_failed in map(json.loads, lines) if is_failed]
    tests = {name: STAGES[name].tests if name in STAGES else (name,) for name in found}
    return {name: found[name] for name in found if not any(test.startswith(tests[name]) for test in failed)}


def main(command: str, file: str = "") -> None:
    """arguments, stages: print them. next: move on to the next part. ran: store the result of a full run."""
    if command == "arguments":
        print(*arguments(), sep="\n")
    elif command == "stages":
        print(*(name for name in changed(read("passed.json")) if name in STAGES), sep="\n")
    elif command == "next":
        write("turn", (turn() + 1) % PARTS)
    elif command == "ran":
        lines = Path(file).read_text(encoding="utf-8").splitlines()
        write("passed.json", without_failures(fingerprints(), lines))
        write("seconds.json", measured(lines))
    else:
        raise SystemExit("landing.py takes arguments, stages, next, or ran FILE")


if __name__ == "__main__":
    main(*sys.argv[1:])
