"""Files of NCA, and its command line: honest ones hold, false figures and rows are refused, also by recompute.py."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cvxml
from cvxml.core.report import Verdict
from cvxml.core.result import Solution
from cvxml.oracle.saved import recertify
from tests.cli.commands import Cli, as_json, refused
from tests.instances import random_data, real_data, soft_labels
from validation import recompute

SOFT = soft_labels(4, 12)
CASES: dict[str, tuple[Any, dict[str, Any]]] = {
    "g": (random_data(3, n=12, d=3), {"criterion": "g"}),
    "f": (random_data(9, n=12, d=2), {}),
    "soft": (random_data(4, n=12, d=3), {"criterion": "g", "similarity": SOFT}),
    "soft f": (random_data(9, n=12, d=3), {"similarity": soft_labels(1, 12)}),
    "rings": (real_data("rings", 18, standardized=False), {"criterion": "g"}),
    "pairs": ((np.random.default_rng(0).standard_normal((20, 3)), np.arange(20) // 2), {"criterion": "g"}),
    "limited": (random_data(3, n=12, d=3), {"criterion": "g", "n_components": 1}),
    "at infinity": (random_data(0, n=20, d=3), {}),
    "not attained": (random_data(0, n=10, d=25), {"criterion": "g"}),
    "collinear": (
        (np.column_stack([random_data(3, n=12, d=3)[0]] * 2), np.arange(12) % 3),
        {"criterion": "g"},
    ),
}
PROVED = ("g", "f", "soft", "rings", "pairs", "collinear")


def solved(case: str, **options: Any) -> Solution:
    (X, y), params = CASES[case]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cvxml.solve("nca", X, y, **params, **options)


@pytest.mark.quick(11)
@pytest.mark.parametrize("options", [{}, {"max_iter": 2}], ids=str)
@pytest.mark.parametrize("case", CASES)
def test_an_honest_file_is_never_refuted(case: str, options: dict[str, Any], tmp_path: Path) -> None:
    solution = solved(case, **options)
    path = tmp_path / "s.json"
    solution.save(path)
    found = recertify(cvxml.load(path), 1e-6)
    assert found.verdict is not Verdict.REFUTED, str(found)
    assert (found.verdict is Verdict.CERTIFIED) == solution.certificate.proves(1e-6)
    if not options and case in PROVED:
        assert found.verdict is Verdict.CERTIFIED


@pytest.mark.quick(3)
@pytest.mark.parametrize("case", PROVED)
def test_recompute_finds_the_same_bound_by_entropies(case: str, tmp_path: Path) -> None:
    solution = solved(case)
    solution.save(tmp_path / "s.json")
    objective, bound, gap, _, scale = recompute.recompute(recompute.read(str(tmp_path / "s.json")))
    judged = solution.certificate.step or solution.certificate
    slip = 1e-10 * (1 + abs(objective))
    assert objective == pytest.approx(solution.objective, abs=slip)
    assert bound == pytest.approx(judged.lower_bound, abs=slip)
    assert gap == pytest.approx(judged.gap, abs=2 * slip)
    assert scale == pytest.approx(judged.scale, rel=1e-6)
    assert recompute.main(str(tmp_path / "s.json"))


FALSE: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "another metric": (lambda c: c.update(metric=(2 * np.array(c["metric"])).tolist()), "refuted"),
    "a lower objective": (lambda c: c.update(objective=c["objective"] - 1e-3), "refuted"),
    "a higher step bound": (lambda c: c.update(step_lower_bound=c["step_lower_bound"] + 1e-4), "refuted"),
    "a smaller step gap": (lambda c: c.update(step_gap=0.0), "refuted"),
    "a smaller residual": (lambda c: c.update(stationarity=0.0), "refuted"),
    "other rows": (lambda c: c["dual"].update(R=np.eye(3).tolist(), interior=np.eye(3).tolist()), "refuted"),
    "a theta that is not looked at": (lambda c: c["dual"].update(theta=[0.7]), "certified"),
    "a rank that it has not": (lambda c: c["params"].update(n_components=1), "refuted"),
}


@pytest.mark.parametrize("case", FALSE)
def test_false_figures_are_refuted(case: str, tmp_path: Path) -> None:
    change, verdict = FALSE[case]
    solution = solved("g", tol=1e-3)
    content = as_json(solution.to_dict())
    assert content["step_gap"] > 1e-12
    change(content)
    (tmp_path / "s.json").write_text(json.dumps(content), encoding="utf-8")
    assert recertify(cvxml.load(tmp_path / "s.json"), 1e-3).verdict.value == verdict


NO_PROOF: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "theta": (lambda c: c["dual"].update(theta=[0.0]), "the rows leave the dual cone"),
    "no theta": (lambda c: c["dual"].update(theta=[]), "theta"),
    "a share above 1": (lambda c: c["dual"].update(theta=[1.5]), "theta must be from 0 to 1"),
    "skew": (lambda c: c.update(metric=[[1, 1, 0], [0, 1, 0], [0, 0, 1]]), "not symmetric"),
    "negative": (
        lambda c: c["params"].update(similarity=(-np.ones((12, 12))).tolist()),
        "similarity must be",
    ),
}


@pytest.mark.parametrize("case", NO_PROOF)
def test_what_is_no_proof_is_refused_in_one_line(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change, says = NO_PROOF[case]
    content = as_json(solved("g", tol=1e-3).to_dict())
    assert content["dual"]["theta"][0] > 0
    change(content)
    (tmp_path / "s.json").write_text(json.dumps(content), encoding="utf-8")
    assert not recompute.main(str(tmp_path / "s.json"))
    assert says in capsys.readouterr().out.splitlines()[0]


@pytest.mark.slow
def test_the_command_line(cli: Cli, tmp_path: Path) -> None:
    X, y = CASES["g"][0]
    (tmp_path / "poor.json").write_text(json.dumps({"X": X.tolist(), "y": y.tolist()}), encoding="utf-8")
    given = ("nca", "poor.json", "--criterion", "g", "--n-components", 1)
    answer = cli("solve", *given, "--init", "pca", "--out", "s.json")
    assert answer.code == 0, answer.err
    solution = cvxml.solve("nca", X, y, criterion="g", n_components=1, init="pca")
    assert json.loads((tmp_path / "s.json").read_text(encoding="utf-8")) == as_json(solution.to_dict())
    assert cli("certify", "s.json").code == 0
    np.save(tmp_path / "2A.npy", 2 * np.asarray(solution.components))
    wrong = cli("check", *given, "--components", "2A.npy", "--json")
    assert wrong.code == 1
    report = json.loads(wrong.out)
    assert report["stationarity"]["gradient"] > 1e-3
    assert report["witness"]["better_by"] > 0
    assert refused(cli("solve", "nca", "poor.json", "--init", "zero"))


def test_a_similarity_comes_from_a_file(cli: Cli, tmp_path: Path) -> None:
    np.save(tmp_path / "S.npy", soft_labels(0, 14))
    answer = cli(
        "solve", "nca", "data.json", "--criterion", "g", "--similarity", "S.npy", "--init", "all", "--json"
    )
    assert json.loads(answer.out)["params"]["similarity"][0][1] == soft_labels(0, 14)[0, 1]
    np.save(tmp_path / "S.npy", -soft_labels(0, 14))
    assert refused(cli("solve", "nca", "data.json", "--similarity", "S.npy"))
