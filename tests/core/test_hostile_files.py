"""Hostile files at every place of every command that reads one, under a memory limit: one line and exit code 2.

Each command runs in a child process of its own, so that a bomb that is not refused hits the limit there.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cvxml.cli.main import _parser
from cvxml.cli.parameters import offered, option
from tests.cli.commands import X, Y, unsaid
from tests.core.hostile import TAKEN, build, packed, save_lies, stored, written
from tests.core.test_files import put
from tests.core.test_files_numpy import Marker

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs RLIMIT_AS, /dev/zero")
MEMORY = 512 * 2**20  # the commands need 300 MiB of addresses with one thread of BLAS
SECONDS = 120  # of processor time for one file: only what never ends takes as long
CHILD = """
import contextlib, io, json, resource, signal, sys, time
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]),) * 2)
from cvxml.cli.main import run
for words in json.load(sys.stdin):
    signal.setitimer(signal.ITIMER_PROF, int(sys.argv[2]))  # it ends this process
    out, err, escaped, start = io.StringIO(), io.StringIO(), "", time.process_time()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = run(words)
    except BaseException as error:
        code, escaped = -1, repr(error)
    seconds = time.process_time() - start
    print(json.dumps([words, code, out.getvalue(), err.getvalue(), escaped, seconds]), flush=True)
"""
# Each reader reads each file in a process of its own, forked where everything is imported. The high-water mark of its
# memory starts at the memory it has.
READERS = """
import json, os, resource, signal, sys, time
from pathlib import Path
import cvxml
from cvxml.core.files import load_table, read_array, read_indices, read_json, read_neighbors, read_npz
from cvxml.methods import get
from cvxml.oracle.cases import load_case
from cvxml.oracle.saved import recertify

X, Y = [[float(k), float(k * k)] for k in range(10)], [0, 1] * 5

def case(path):
    found = load_case(path)
    get(found.formula).instance(found.X, found.y, **found.params)

JSON = {
    "json": read_json,
    "neighbors": read_neighbors,
    "case": case,
    "check": lambda metric: cvxml.check("mlsvm", X, Y, metric=metric),
}
GIVEN = {"check": lambda path: json.loads(Path(path).read_text())}  # what the user has read counts before
SAVED = {"load": cvxml.load, "certify": lambda path: recertify(cvxml.load(path), 1e-6)}
DATA = {"table": load_table, "array": read_array}
OF = {".json": {**DATA, **JSON, **SAVED, "indices": read_indices}, ".npz": {**DATA, **SAVED, "npz": read_npz}}
LINES = {**DATA, "indices": read_indices}
get("mlsvm").instance(X, Y)

def taken(what):
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(what))

def outcome(word, reader, path):
    resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]),) * 2)
    before, start = taken("VmRSS"), time.process_time()
    signal.setitimer(signal.ITIMER_PROF, 120)
    try:
        given = GIVEN.get(word, str)(path)
        before = taken("VmRSS")
        reader(given)
        said = ""
    except ValueError as error:
        said = str(error)
    except BaseException as error:
        said = "escaped: " + repr(error)[:200]
    return [taken("VmHWM") - before, time.process_time() - start, said]

for name in sys.stdin.read().split():
    for word, reader in OF.get(Path(name).suffix, LINES).items():
        end, start = os.pipe()
        if not (child := os.fork()):
            os.write(start, json.dumps([name, word, *outcome(word, reader, name)])[:4000].encode())
            os._exit(0)
        os.close(start)
        os.waitpid(child, 0)
        print(os.read(end, 5000).decode() or json.dumps([name, word, 0, 0, "escaped: no answer"]), flush=True)
        os.close(end)
"""
PARAMETERS = {
    option(name): f"{next(iter(methods))} good.json {option(name)} {{}}"
    for name, methods in offered(solving=True).items()
    if "FILE" in next(iter(methods.values())).kind.metavar
}
PROBLEM = {"DATA": "mlsvm {}", **PARAMETERS}
CANDIDATE = {"--metric": "mlsvm good.json --metric {}", "--components": "nca good.json --components {}"}
QUERIES = "mlsvm good.json --metric eye.npy --no-diagnosis --predictions 1 --queries {}"
PLACES: dict[str, dict[str, str]] = {
    "solve": {**PROBLEM, "--warm-start": "mlsvm good.json --warm-start {}"},
    "check": {**{k: f"{v} --metric eye.npy" for k, v in PROBLEM.items()}, **CANDIDATE, "--queries": QUERIES},
    "evaluate": {**{k: f"{v} --metric eye.npy" for k, v in PROBLEM.items()}, **CANDIDATE},
    "certify": {"file": "{}"},
    "data": {"DATA": "{}"},
}


def answers(folder: Path, cases: list[list[str]]) -> list[Any]:
    """What came of each command line, from a child process that has MEMORY, and SECONDS for each."""
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(MEMORY), str(SECONDS)],
        input=json.dumps(cases),
        cwd=folder,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(found) == len(cases), f"{cases[len(found)]}: {done.returncode} {done.stderr[-300:]}"
    return found


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str], list[str]]:
    """A folder, the hostile files in it, and the saved solutions among them."""
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "good.json").write_text(json.dumps({"X": X.tolist(), "y": Y.tolist()}))
    np.save(folder / "eye.npy", np.eye(3))
    return folder, build(folder), save_lies(folder)


def complaint(case: list[str], place: str, name: str, got: list[Any]) -> str:
    """What is wrong with the answer to a hostile file; empty if it is refused as it should be."""
    words, code, out, err, escaped, _ = got
    err = unsaid(err)
    assert words == case
    if escaped or "Traceback" in err or "internal error" in err:
        return f"{words}: {escaped} {err[:300]}"
    if place == "--warm-start" and name.startswith(tuple(f"s-{taken}" for taken in TAKEN)) and code == 0:
        return "" if not err else f"{words}: {err[:300]}"
    about = (
        name,
        "the file " if place == "file" else "X " if place == "DATA" else place.strip("-").replace("-", "_"),
    )
    if not any(text in err for text in about):
        return f"{words}: neither file nor option is named: {err[:300]}"
    if ("MemoryError" in err or "allocate" in err) and "memory" not in name:
        return f"{words}: refused by the limit of this test only: {err[:300]}"
    one_line = err.startswith("cvxml: ") and err.endswith("\n") and err.count("\n") == 1 and len(err) < 1000
    return "" if code == 2 and not out and one_line else f"{words}: {code} {out[:100]} {err[:300]}"


OTHERS = {
    "--out",
    "--side",
    "--junit",
    "--folder",
    "--workdir",
}  # outputs, and folders that other tests are about


def test_every_place_of_a_file_is_tested() -> None:
    commands = _parser().get_default("commands")
    for command, parser in commands.items():
        found = {
            next(iter(action.option_strings), action.metavar if action.metavar == "DATA" else action.dest)
            for action in parser._actions
            if any(word in str(action.metavar) for word in ("FILE", "DATA", "DIR", ".json"))
        }
        assert found - OTHERS == set(PLACES.get(command, {}))


@pytest.mark.slow
@pytest.mark.parametrize("command", PLACES)
def test_a_hostile_file_is_one_line_and_code_2(
    hostile: tuple[Path, list[str], list[str]], command: str
) -> None:
    folder, names, saved = hostile
    cases, labels = [], []
    for place, words in PLACES[command].items():
        for name in [*names, *(saved if place in ("file", "--warm-start") else [])]:
            cases.append([command, *words.format(name).split()])
            labels.append((place, name))
    found = answers(folder, cases)
    wrong = [complaint(c, *at, got) for c, at, got in zip(cases, labels, found, strict=True)]
    assert [text for text in wrong if text] == []
    assert not (folder / "loaded").exists()


@pytest.mark.slow
def test_good_files_pass_under_the_same_limit(hostile: tuple[Path, list[str], list[str]]) -> None:
    folder = hostile[0]
    same = (Y[:, None] == Y) & ~np.eye(14, dtype=bool)
    one, other = np.flatnonzero(Y == 0).tolist(), np.flatnonzero(Y == 1).tolist()
    following = [[(i + 1) % 14] for i in range(14)]
    eye = np.eye(3).tolist()
    good: dict[str, Any] = {
        "--neighbors": following,
        "--query": X[0].tolist(),
        "--loss-matrix": [[0, 1], [1, 0]],
        "--similarity": same.astype(int).tolist(),
        "--prior": eye,
        "--pairs": [[one[0], one[1], 1], [other[0], other[1], 1], [one[0], other[0], -1]],
        "--targets": [[next(j for j in np.flatnonzero(same[i]).tolist())] for i in range(14)],
        "--triplets": [[one[0], one[1], other[0]], [other[0], other[1], one[0]]],
        "--A": eye,
        "--basis": eye,
        "--quadruplets": [[0, 1, 2, 3], [4, 5, 6, 7]],
        "--weights": [1] * 80,  # for 20 m^2 quadruplets of m classes
        "--chunklets": [[code] for code in Y.tolist()],
        "--anchors": X[:1].tolist(),  # one, whose metric is (3, 3)
        "--relevant": following,
        "--metric": eye,
        "--components": eye,
        "--queries": X[:2].tolist(),
    }
    for place, value in good.items():
        (folder / f"good{place}.json").write_text(json.dumps(value))
    files = {
        "DATA": ["good.json"],
        "--warm-start": ["good-s.json", "good-s.npz"],
        "file": ["good-s.json", "good-s.npz"],
    }
    cases = [
        [command, *words.format(name).split()]
        for command, places in PLACES.items()
        for place, words in places.items()
        for name in files.get(place, [f"good{place}.json"])
    ]
    for words, code, _, err, escaped, _ in answers(folder, cases):
        complaints = [
            line for line in err.splitlines() if line.startswith("cvxml: ")
        ]  # beside lines of progress
        assert (code in (0, 1, 3, 5), complaints, escaped) == (True, [], ""), words


def test_the_payload_of_these_tests_does_what_it_says(tmp_path: Path) -> None:
    pickle.loads(pickle.dumps(Marker(tmp_path / "loaded"))).close()
    assert (tmp_path / "loaded").exists()


@pytest.mark.slow
def test_a_folder_of_hostile_cases_is_one_line_and_code_2(
    hostile: tuple[Path, list[str], list[str]],
) -> None:
    folder, names, _ = hostile
    cases = []
    for name in (name for name in names if name.endswith(".json")):
        (folder / f"only-{name}").mkdir()
        (folder / f"only-{name}" / name).symlink_to(folder / name)
        cases.append(["cases", "--folder", f"only-{name}"])
        cases.append(["conform", "--folder", f"only-{name}", "--", "true"])
    wrong = [complaint(case, "--folder", case[2].removeprefix("only-"), got) for case, got in
             zip(cases, answers(folder, cases), strict=True)]  # fmt: skip
    assert len(cases) > 30
    assert [text for text in wrong if text] == []


def memory_of_readers(folder: Path, files: dict[str, bytes | str], most: int) -> list[str]:
    """What is wrong with how the readers read these files; a reader ends at `most` bytes of addresses."""
    for name, content in files.items():
        put(folder / name, content)
    done = subprocess.run(
        [sys.executable, "-c", READERS, str(most)],
        input=" ".join(files),
        cwd=folder,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    lines = done.stdout.splitlines()
    assert len(lines) >= 3 * len(files)
    wrong = []
    for line in lines:
        name, reader, memory, seconds, said = json.loads(line)
        allowed = 20 * (folder / name).stat().st_size + 10**8
        one_sentence = "\n" not in said and len(said) < 1000 and "allocate" not in said
        if memory > allowed or seconds > SECONDS or said.startswith("escaped") or not one_sentence:
            wrong.append(
                f"{name} {reader}: {memory / 1e6:.0f} of {allowed / 1e6:.0f} MB, {seconds:.1f} s, {said[:200]}"
            )
    return wrong


@pytest.mark.slow
def test_a_small_file_takes_little_memory(tmp_path: Path) -> None:
    names = ("case-X.json", "s-y.json", "X.npz")
    files = {**written(10**5), **packed(100)}
    assert memory_of_readers(tmp_path, {name: files[name] for name in names}, 2 * 10**9) == []


@pytest.mark.slow
@pytest.mark.full
def test_compressed_files_take_little_memory(tmp_path: Path) -> None:
    assert memory_of_readers(tmp_path, packed(200), 2 * 10**9) == []


@pytest.mark.slow
@pytest.mark.full
@pytest.mark.parametrize("size", [10**6, 3 * 10**6])
def test_no_file_takes_more_than_twenty_times_its_size(tmp_path: Path, size: int) -> None:
    assert memory_of_readers(tmp_path, {**written(size), **stored(size)}, 10**9 + 40 * size) == []
