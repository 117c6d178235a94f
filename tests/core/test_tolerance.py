"""tol is a number or a word in every function that takes it, and what is neither is refused with one sentence."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cvxml
from cvxml import testing
from cvxml.cli.main import run
from cvxml.core.tolerance import TOLERANCES, check_tol, tol_name
from cvxml.oracle.cases import Case, load_cases
from cvxml.oracle.conform import conform
from cvxml.oracle.saved import recertify

X, Y = [[0.0], [4.0], [12.0]], [0, 0, 1]
PARAMS: dict[str, Any] = {"lam": 0.5, "n_neighbors": 2}
LINE = "mlsvm-line"


def slightly_off(share: float) -> Any:
    """A metric that leaves about this share of the scale."""
    return [[_solution().metric[0, 0] * (1 + share)]]


def test_words_and_numbers() -> None:
    assert [check_tol(word) for word in ("strict", "normal", "loose")] == [1e-9, 1e-6, 1e-3]
    assert check_tol(np.float32(0.5)) == 0.5
    assert [tol_name(value) for value in (*TOLERANCES.values(), 1e-4)] == [*TOLERANCES, None]


@pytest.mark.parametrize("tol", ["1e-6", "", "tight", 0, -1e-6, np.nan, np.inf, None, True, [1e-6]])
def test_anything_else_is_refused_with_what_is_allowed(tol: Any) -> None:
    with pytest.raises(ValueError, match=r"^tol .*\b0\b") as raised:
        check_tol(tol)
    for token in ('"strict" (1e-09)', '"normal" (1e-06)', '"loose" (0.001)', repr(tol)):
        assert token in str(raised.value)


def saved(folder: Path) -> Any:
    _solution().save(folder / "a.json")
    return cvxml.load(folder / "a.json")


@cache
def line() -> list[Case]:
    return load_cases(pattern=LINE)


def of_case(tol: Any) -> Any:
    return conform(lambda question: {"metric": slightly_off(0.0)}, line(), tol=tol)


TAKES: dict[str, Callable[[Any, Path], Any]] = {
    "solve": lambda tol, _: cvxml.solve("mlsvm", X, Y, tol=tol, **PARAMS),
    "solve scs": lambda tol, _: cvxml.solve("mlsvm", X, Y, solver="scs", tol=tol, **PARAMS),
    "check": lambda tol, _: cvxml.check("mlsvm", X, Y, [[1.0]], tol=tol, **PARAMS),
    "Certificate.proves": lambda tol, _: _solution().certificate.proves(tol),
    "certify_estimator": lambda tol, _: cvxml.certify_estimator(fitted(), X, Y, tol=tol),
    "estimator": lambda tol, _: cvxml.MLSVM(**PARAMS, tol=tol).fit(X, Y),
    "CrammerSingerSVM": lambda tol, _: cvxml.CrammerSingerSVM(tol=tol).fit(X, Y),
    "assert_certified": lambda tol, _: testing.assert_certified("mlsvm", X, Y, _metric(), tol=tol, **PARAMS),
    "parametrize_with_cases": lambda tol, _: testing.parametrize_with_cases(print, pattern=LINE, tol=tol),
    "conform": lambda tol, _: of_case(tol),
    "recertify": lambda tol, folder: recertify(saved(folder), tol),
    "CertificateDisplay": lambda tol, _: cvxml.displays.CertificateDisplay.from_solution(
        _solution(), tol=tol
    ),
}


@cache
def _solution() -> Any:
    return cvxml.solve("mlsvm", X, Y, tol="strict", **PARAMS)


def _metric() -> Any:
    return _solution().metric


def fitted() -> Any:
    return cvxml.MLSVM(**PARAMS).fit(X, Y)


@pytest.mark.quick(1)
@pytest.mark.parametrize("name", TAKES)
def test_every_function_takes_words_and_numbers(name: str, tmp_path: Path) -> None:
    for tol in ("strict", "normal", "loose", 1e-4):
        TAKES[name](tol, tmp_path)
    with pytest.raises(ValueError, match=r"'lose'.*'loose'\?"):
        TAKES[name]("lose", tmp_path)


def test_a_word_is_its_number() -> None:
    metric = slightly_off(1e-4)
    said = {tol: cvxml.check("mlsvm", X, Y, metric, tol=tol, **PARAMS) for tol in ("loose", 1e-3, 1e-5)}
    assert said["loose"].verdict == said[1e-3].verdict == "certified"
    assert said[1e-5].verdict == "close"
    assert said[1e-3].tol_name == "loose"
    assert said[1e-5].tol_name is None
    assert said[1e-5].to_dict()["tol"] == {"name": None, "value": 1e-5}
    assert str(said["loose"]).splitlines()[0].endswith("tol: loose (0.001)")
    assert str(said[1e-5]).splitlines()[0].endswith("tol: 1e-05")
    proof = cvxml.certify("mlsvm", X, Y, metric, _solution().dual, **PARAMS)
    assert proof.proves("loose")
    assert not proof.proves("normal")


def test_the_command_line_takes_both(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = str(tmp_path / "a.json")
    assert run(["solve", "mlsvm", "iris", "--tol", "loose", "--out", out]) == 0
    for tol in ("loose", "1e-2"):
        assert run(["certify", out, "--tol", tol]) == 0
    capsys.readouterr()
    for command in (
        ["solve", "mlsvm", "iris"],
        ["certify", out],
        ["check", "mlsvm", "iris", "--metric", out],
    ):
        assert run([*command, "--tol", "lose"]) == 2
        said = capsys.readouterr().err
        for token in ("tol", "'lose'", "'loose'?"):
            assert token in said
