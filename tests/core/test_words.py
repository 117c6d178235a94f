"""What is nearly right is answered with what was meant; what is another kind of thing, with what it is."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import cvxml
from cvxml import datasets
from cvxml.core.inputs import check_labels, check_targets, did_you_mean, from_one
from cvxml.core.metric import real_array
from tests.cli.commands import X, Y

N = len(X)
NEXT = [[(i + 1) % N, (i + 2) % N] for i in range(N)]
OTHERS = [[(i + 2) % N] for i in range(N)]  # of the same class


def from_1(lists: list[list[int]]) -> list[list[int]]:
    return [[j + 1 for j in listed] for listed in lists]


FROM_1: dict[str, tuple[str, dict[str, Any]]] = {
    "neighbors": ("mlsvm", {"neighbors": from_1(NEXT)}),
    "targets": ("lmnn", {"targets": from_1(OTHERS)}),
    "triplets": ("lmnn", {"triplets": [[1, 3, 2], [N, 2, 1]]}),
    "pairs": ("itml", {"pairs": {"similar": [[1, 3], [2, N]], "dissimilar": [[1, 2]]}}),
    "quadruplets": ("lsml", {"quadruplets": [[1, 2, 3, N]]}),
    "relevant": ("mlr", {"relevant": from_1(OTHERS)}),
}


@pytest.mark.parametrize("case", FROM_1)
def test_lists_that_count_from_1(case: str) -> None:
    method, given = FROM_1[case]
    with pytest.raises(ValueError, match=rf"{case}.*from 0.*subtract 1"):
        cvxml.solve(method, X, Y, **given)


def test_points_are_counted_from_0() -> None:
    assert from_one([1, 5], 5).endswith("subtract 1")
    for other in ([0, 5], [1, 6], [-1, 2]):
        assert from_one(other, 5).endswith("from 0")
    with pytest.raises(ValueError, match=r"neighbors.*itself.*from 0"):
        cvxml.solve("mlsvm", X, Y, neighbors=[[i, (i + 1) % N] for i in range(N)])


MEANT: dict[str, tuple[Callable[[], Any], str]] = {
    "method": (lambda: cvxml.solve("mlsmv", X, Y), "'mlsvm'"),
    "METHOD": (lambda: cvxml.check("LMMN", X, Y, np.eye(3)), "'lmnn'"),
    "parameter": (lambda: cvxml.solve("mlsvm", X, Y, lamda=1), "'lam'"),
    "option": (lambda: cvxml.solve("mlsvm", X, Y, sovler="scs"), "'solver'"),
    "of-check": (lambda: cvxml.check("mlsvm", X, Y, np.eye(3), component=1), "'components'"),
    "solver": (lambda: cvxml.solve("mlsvm", X, Y, solver="Clarabel"), "'clarabel'"),
    "word": (lambda: cvxml.solve("mlsvm", X, Y, neighborhood="perclass"), "'per-class'"),
    "tol": (lambda: cvxml.check("mlsvm", X, Y, np.eye(3), tol="losse"), "'loose'"),
    "set": (lambda: datasets.load("irsi"), "'iris'"),
}


@pytest.mark.parametrize("case", MEANT)
def test_what_was_meant_is_named(case: str) -> None:
    call, meant = MEANT[case]
    with pytest.raises(ValueError, match=rf"{meant}\?$"):
        call()


def test_nothing_is_named_that_is_not_near() -> None:
    assert did_you_mean("mosek", ["fast", "clarabel", "scs"]) == ""
    assert did_you_mean("x" * 10**6, ["x"]) == ""


@pytest.mark.parametrize("given", [cvxml.Status, ["mlsvm"], X])
def test_a_method_is_named_by_its_id(given: Any) -> None:
    with pytest.raises(ValueError, match=r"as the method.*\bmlsvm, "):
        cvxml.solve(given, X, Y)


def test_a_column_of_labels_is_taken_with_a_warning() -> None:
    from sklearn.exceptions import DataConversionWarning

    expected = cvxml.solve("mlsvm", X, Y).objective
    with pytest.warns(DataConversionWarning, match=r"y\.ravel\(\)"):
        assert cvxml.solve("mlsvm", X, Y[:, None]).objective == expected
    with pytest.warns(DataConversionWarning):
        assert check_targets(X[:, :1], N).tolist() == X[:, 0].tolist()
    with pytest.raises(ValueError, match=r"got shape \(14, 2\)"):
        check_labels(np.eye(2)[Y], N)


def test_frames_and_objects_are_taken_as_numbers() -> None:
    assert real_array(np.array([[1, True], [2.5, Fraction(1, 2)]], dtype=object), "X").tolist() == [
        [1, 1],
        [2.5, 0.5],
    ]
    with contextlib.suppress(ImportError):
        import pandas

        frame = pandas.DataFrame(X).astype("Float64")
        labels = pandas.Series(Y).map({0: "a", 1: "b"}).astype("category")
        assert cvxml.solve("mlsvm", frame, labels).objective == cvxml.solve("mlsvm", X, Y).objective
    with pytest.raises(ValueError, match=r"^X .*numbers.*'b' at 1, 0"):
        real_array(np.array([[1, 2], ["b", 3]], dtype=object), "X")
    with pytest.raises(ValueError, match=r"^X .*numbers"):
        real_array(np.array([[10**400]], dtype=object), "X")


SENTENCES: dict[str, tuple[Callable[[], Any], str]] = {
    "sparse-X": (lambda: cvxml.solve("mlsvm", csr_array(X), Y), r"X\.toarray\(\)"),
    "sparse-y": (lambda: cvxml.solve("mlsvm", X, csr_array(Y[:, None])), r"y\.toarray\(\)\.ravel\(\)"),
    "no-y": (lambda: cvxml.solve("mlsvm", X, None), "y is None"),
    "transform": (lambda: cvxml.check("mlsvm", X, Y, np.ones((2, 3))), "components"),
    "file": (lambda: datasets.load("iris.csv"), r"cvxml\.datasets\.read"),
    "folder": (lambda: datasets.read("."), r"'\.'.*folder"),
    "missing": (lambda: datasets.read("wine.csv"), r"'wine\.csv'.*[^?]$"),
}


@pytest.mark.parametrize("case", SENTENCES)
def test_what_it_is_instead_is_said(case: str) -> None:
    call, says = SENTENCES[case]
    with pytest.raises(ValueError, match=says):
        call()


def test_a_file_that_is_nearly_named(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wines.csv").write_text("a,label\n1,0\n2,1\n")
    with pytest.raises(ValueError, match=r"'wine\.csv'.*'wines\.csv'\?"):
        datasets.read("wine.csv")
    with pytest.raises(ValueError, match=r"'wines\.csv'\?"):
        datasets.load("wines")
    with pytest.raises(ValueError, match=r"'else\.csv'.*[^?]$"):
        datasets.read("else.csv")  # though the endings are alike


def test_a_word_is_not_meant_for_itself() -> None:
    """As of a parameter that `check` takes by itself, and the method has not."""
    assert did_you_mean("query", ("query", "tol")) == ""
    assert did_you_mean("querry", ("query", "tol")).endswith("'query'?")
    assert did_you_mean("LAM", ("lam",)).endswith("'lam'?")
