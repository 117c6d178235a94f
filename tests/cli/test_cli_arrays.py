"""The command line: which array of a file an option takes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cvxml
from cvxml.core.metric import components_of
from tests.cli.commands import Cli, X, Y, as_json, refused


def save(path: str, **arrays: Any) -> str:
    """Write the arrays to a .json or .npz file, and return its path."""
    if path.endswith(".json"):
        Path(path).write_text(
            json.dumps({name: np.asarray(array).tolist() for name, array in arrays.items()})
        )
    else:
        np.savez(path, **arrays)
    return path


@pytest.fixture(scope="module")
def optimum() -> Any:
    return cvxml.solve("rca", X, Y, tol=1e-9).metric


@pytest.mark.parametrize("file", ["both.json", "both.npz"])
@pytest.mark.parametrize("name", ["components", "L"])
def test_each_option_takes_its_own_array_of_a_file_with_both(
    cli: Cli, optimum: Any, file: str, name: str
) -> None:
    save(file, metric=optimum, **{name: components_of(optimum)}, X=X, y=Y)
    for option in ("--metric", "--components"):
        answer = cli("check", "rca", "data.json", option, file, "--json")
        assert answer.code == 0, option
    assert cli("evaluate", "rca", "data.json", "--components", file).code == 0


@pytest.mark.parametrize("ending", ["json", "npz"])
@pytest.mark.parametrize(
    ("option", "held", "fits"),
    [
        ("--metric", "components", "--components"),
        ("--metric", "L", "--components"),
        ("--metric", "queries", "--queries"),
        ("--components", "metric", "--metric"),
        ("--components", "M", "--metric"),
        ("--queries", "metric", "--metric"),
        ("--queries", "L", "--components"),
    ],
)
def test_a_file_with_another_kind_of_array_is_refused_with_the_option_that_fits(
    cli: Cli, ending: str, option: str, held: str, fits: str
) -> None:
    file = save(f"other.{ending}", **{held: np.eye(3)})
    np.save("eye.npy", np.eye(3))
    more = ("--metric", "eye.npy", "--predictions", 1) if option == "--queries" else ()
    answer = cli("check", "rca", "data.json", option, file, *more)
    assert refused(answer), answer
    assert file in answer.err
    assert fits in answer.err


@pytest.mark.parametrize("ending", ["json", "npz"])
@pytest.mark.parametrize("name", ["queries", "X"])
def test_queries_of_a_file_that_holds_a_metric_too_are_its_points(
    cli: Cli, optimum: Any, ending: str, name: str
) -> None:
    Q = np.array(X)[:2] + 0.1
    file = save(f"q.{ending}", metric=optimum, **{name: Q})
    answer = cli(
        "check", "rca", "data.json", "--metric", file, "--predictions", 1, "--queries", file, "--json"
    )
    expected = cvxml.check("rca", X, Y, optimum).predictions(1, Q)
    assert json.loads(answer.out)["predictions"] == as_json(expected.to_dict())


@pytest.mark.parametrize("ending", ["json", "npz"])
def test_a_parameter_takes_the_array_of_its_own_name(cli: Cli, ending: str) -> None:
    prior = np.diag([1.0, 2.0, 4.0])
    file = save(f"p.{ending}", metric=np.eye(3), prior=prior, components=np.eye(3))
    np.save("prior.npy", prior)
    answers = [cli("solve", "itml", "data.json", "--prior", given) for given in (file, "prior.npy")]
    assert answers[0].code == 0
    assert answers[0] == answers[1]
    assert answers[0] != cli("solve", "itml", "data.json")
    anchors = save(f"a.{ending}", metric=np.eye(3), anchors=np.array(X)[:1])
    np.save("anchors.npy", np.array(X)[:1])
    answers = [cli("solve", "plml", "data.json", "--anchors", given) for given in (anchors, "anchors.npy")]
    assert answers[0].code == 0
    assert answers[0] == answers[1]
    refusal = cli("solve", "itml", "data.json", "--prior", save(f"l.{ending}", components=np.eye(3)))
    assert refused(refusal), refusal
