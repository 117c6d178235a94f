"""Change one entry of a saved solution, and test that a certificate of the file is true for the file's own problem."""

from __future__ import annotations

import contextlib
import copy
import io
import json
import math
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import cvxml
from cvxml.core.saved import load
from cvxml.oracle.saved import recertify
from validation import recompute
from validation.adversarial.exact import real

TOL = 1e-6  # the tolerance of the independent script validation/recompute.py
SHARE = 1 + 1e-9  # factor for a tolerance, because two computations of the limit may differ by rounding


def numbers(content: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path to each number and truth value in nested lists and dictionaries."""
    if isinstance(content, dict):
        for key, value in content.items():
            yield from numbers(value, (*path, key))
    elif isinstance(content, list):
        for k, value in enumerate(content):
            yield from numbers(value, (*path, k))
    elif isinstance(content, (bool, int, float)):
        yield path


def part_of(path: tuple[Any, ...]) -> str:
    """Return the name of a field, with the parameter or dual variable in it: for example params.mu."""
    return ".".join(key for key in path[:2] if isinstance(key, str))


def at(content: Any, path: tuple[Any, ...]) -> Any:
    """Return the value at a path."""
    for key in path:
        content = content[key]
    return content


def edited(content: dict[str, Any], rng: Any) -> tuple[dict[str, Any], tuple[Any, ...]]:
    """Return a copy with another number at one path, and the path. Each part of the file is equally likely."""
    places = list(numbers(content))
    parts = sorted({part_of(path) for path in places})
    part = parts[int(rng.integers(len(parts)))]
    place = [path for path in places if part_of(path) == part]
    path = place[int(rng.integers(len(place)))]
    old = at(content, path)
    if isinstance(old, bool):
        new: Any = not old
    elif isinstance(old, int):
        new = old + int(rng.choice([-1, 1]))
    else:
        new = old * float(rng.choice([-1, 0, 0.5, 1.1, 1 + 1e-3, 1 + 1e-5])) + float(
            rng.choice([0, 0, 1e-3, 1])
        )
    changed = copy.deepcopy(content)
    at(changed, path[:-1])[path[-1]] = new
    return changed, path


def says(content: dict[str, Any], tol: float) -> tuple[list[str], str]:
    """Return the names of the checkers that certify the file, and the error message if the package refuses it.

    The checkers are `certify` in floats, `certify --exact`, and the independent script validation/recompute.py.
    """
    certified, refused = [], ""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "saved.json"
        path.write_text(json.dumps(content), encoding="utf-8")
        try:
            saved = load(path)
            for name, exact in (("certify", False), ("certify --exact", True)):
                if recertify(saved, tol, exact).verdict == "certified":
                    certified.append(name)
        except ValueError as error:
            refused = str(error)
        with contextlib.redirect_stdout(io.StringIO()):
            if recompute.main(str(path)):
                certified.append("recompute")
    return certified, refused


def problem_of(content: dict[str, Any], given: Any) -> Any:
    """Return the problem instance in a file. Raises KeyError or ValueError if the file holds no valid problem."""
    X, y, stored = np.array(content["X"], float), np.array(content["y"]), content["params"]
    if not np.isfinite(X).all():
        raise ValueError("X is not finite")
    params = {key: stored.get(key, value) for key, value in given.params.items()}  # a default may be left out
    for key, value in given.params.items():
        if isinstance(value, np.ndarray):
            params[key] = np.asarray(params[key], float)
    if "neighbors" in given.params:
        params["neighbors"] = content["neighbors"]
    return given._replace(X=X, y=y, params=params, optimum=None)


def edited_file(attack: Any, solved: Any) -> tuple[str, str, list[str]]:
    """Return the changed entry, the verdict, and a list of faults of the verdict.

    A certificate is false if, for the data and parameters in the file, another metric is better than the file's metric
    by more than the tolerance allows. It is also false if the stated objective is not that of the metric.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "saved.json"
        solved.save(path)
        content = json.loads(path.read_text(encoding="utf-8"))
    content, place = edited(content, attack.rng)
    what = f"file with another {part_of(place)}"
    try:
        certified, refused = says(content, TOL)
    except (
        Exception
    ) as error:  # a checker must refuse a bad file with ValueError; any other exception is a fault
        return what, "raised", [f"raised: {type(error).__name__}: {error!s:.200}"]
    if not certified:
        return what, "refused" if refused else "inconclusive", []
    if certified == ["recompute"]:
        del content["objective"]  # the script does not read it
    try:
        wrong = judged(type(attack)(problem_of(content, attack.given), attack.rng), content, solved)
    except (KeyError, IndexError, ValueError, TypeError) as error:
        wrong = [f"certified: a file that states no problem: {type(error).__name__}: {error!s:.200}"]
    return what, "certified", [f"{each} (by {', '.join(certified)})" for each in wrong]


def judged(attack: Any, content: dict[str, Any], solved: Any) -> list[str]:
    """Return the faults of a certificate of the file, judged on the file's own problem."""
    A = np.array(content["metric"], float)
    attack.look([solved])  # the metric of the unchanged file is one of the metrics to compare with
    with contextlib.suppress(ValueError):
        attack.add(own_metric(attack))
    if attack.excluded(A):
        return ["certified: a file without a valid metric"]
    wrong: list[str] = attack.beyond(A, TOL, 1e-12)
    claimed = content.get("objective")
    value = attack.problem.value(attack.problem.image(A))
    if isinstance(claimed, float) and math.isfinite(claimed):
        error = abs(value - real(claimed))
        if bool(
            error > real(1e-8) * (1 + abs(value)) + real(TOL) * attack.problem.scale(attack.problem.image(A))
        ):
            wrong.append(f"certified: a file that claims {claimed!r}")
    return wrong


def own_metric(attack: Any) -> Any:
    """Return our own solution of the problem in the file."""
    return cvxml.solve(*attack.asked, tol=1e-7, max_iter=2000, **attack.given.params).metric
