"""The command line for the convex relatives: targets, pairs, priors and bounds from files and text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cvxml
from tests.cli.commands import X, Y, as_json
from tests.cli.test_cli import Cli

PAIRS = {"similar": [[0, 2], [4, 6], [1, 3], [5, 9]], "dissimilar": [[0, 1], [2, 3], [9, 4]]}
TARGETS = [[(i + 2) % 14] for i in range(14)]
TRIPLETS = [[0, 2, 1], [0, 2, 3], [1, 3, 4], [5, 9, 2], [6, 2, 7]]
CHUNKLETS = [0, 0, 0, 1, 1, 1, 2, 2, 2, -1, -1, 3, 3, 3]
QUADRUPLETS = [[0, 2, 1, 3], [4, 6, 5, 9], [1, 3, 2, 8]]
PRIOR = np.diag([1.0, 2.0, 0.5])
CASES: dict[str, tuple[str, dict[str, Any], list[str]]] = {
    "lmnn": ("lmnn", {"mu": 0.3, "n_neighbors": 2}, ["--mu", "0.3", "--n-neighbors", "2"]),
    "targets": ("lmnn:squared_hinge", {"targets": TARGETS}, ["--targets", "targets.json"]),
    "triplets": ("lmnn", {"mu": 0.9, "triplets": TRIPLETS}, ["--mu", "0.9", "--triplets", "triplets.csv"]),
    "pairs": ("mmc", {"pairs": PAIRS}, ["--pairs", "pairs.json"]),
    "pairs-csv": ("itml", {"pairs": PAIRS}, ["--pairs", "pairs.csv"]),
    "chunklets": ("rca", {"chunklets": CHUNKLETS}, ["--chunklets", "chunklets.csv"]),
    "quadruplets": ("lsml", {"quadruplets": QUADRUPLETS}, ["--quadruplets", "quadruplets.csv"]),
    "diagonal": ("mmc:diagonal", {}, []),
    "dml_eig": ("dml_eig", {"pairs": PAIRS}, ["--pairs", "pairs.json"]),
    "mcml": ("mcml", {}, []),
    "bounds": ("itml", {"gamma": 0.5, "bounds": [0.5, 4.0]}, ["--gamma", "0.5", "--bounds", "0.5,4"]),
    "prior": ("itml", {"prior": "covariance"}, ["--prior", "covariance"]),
    "prior-file": (
        "itml",
        {"prior": PRIOR, "pairs": PAIRS},
        ["--prior", "prior.npy", "--pairs", "pairs.json"],
    ),
}


@pytest.fixture
def files(cli: Cli) -> None:
    Path("targets.json").write_text(json.dumps(TARGETS))
    listed = [[*pair, kind] for name, kind in (("similar", 1), ("dissimilar", -1)) for pair in PAIRS[name]]
    for name, rows in (
        ("pairs", listed),
        ("quadruplets", QUADRUPLETS),
        ("chunklets", [[c] for c in CHUNKLETS]),
    ):
        Path(f"{name}.csv").write_text("".join(",".join(map(str, row)) + "\n" for row in rows))
    Path("triplets.csv").write_text("".join(f"{i},{j},{far}\n" for i, j, far in TRIPLETS))
    Path("pairs.json").write_text(json.dumps(PAIRS))
    np.save("prior.npy", PRIOR)


@pytest.mark.quick(1)
@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("case", CASES)
def test_solve_check_and_certify(cli: Cli, case: str) -> None:
    method, params, options = CASES[case]
    solution = cvxml.solve(method, X, Y, **params)
    answer = cli("solve", method, "data.json", "--json", "--out", "s.json", *options)
    assert answer.code == 0
    assert json.loads(answer.out) == as_json(solution.to_dict())
    assert cli("certify", "s.json").code == 0
    np.save("m.npy", solution.metric)
    assert cli("check", method, "data.json", "--metric", "m.npy", *options).code == 0
    np.save("m.npy", solution.metric + np.diag(np.diag(solution.metric) * [1, 0, 0]))
    assert cli("check", method, "data.json", "--metric", "m.npy", "--no-diagnosis", *options).code == 1
    assert cli("evaluate", method, "data.json", "--metric", "m.npy", *options).code == 0


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--pairs", "targets.json"], "pairs"),
        (["--pairs", "none.json"], "none.json"),
        (["--bounds", "a,b"], "--bounds"),
        (["--bounds", "1"], "bounds"),
        (["--prior", "none.npy"], "none.npy"),
        (["--mu", "0.5"], "'mu'"),
    ],
)
def test_bad_options(cli: Cli, options: list[str], says: str) -> None:
    answer = cli("solve", "itml", "data.json", *options)
    assert answer.code == 2
    assert says in answer.err


@pytest.mark.usefixtures("files")
def test_rows_that_are_no_pairs_are_refused(cli: Cli) -> None:
    Path("pairs.csv").write_text("0,2,1\n1,3,0\n")
    answer = cli("solve", "itml", "data.json", "--pairs", "pairs.csv")
    assert answer.code == 2
    for token in ("pairs", "1 for", "-1 for"):
        assert token in answer.err
