"""The experiment on false names runs, and distinguishes right names from false ones."""

from __future__ import annotations

import pytest

import cvxml.oracle.diagnose
from cvxml import datasets
from cvxml.methods import get
from validation.names import FACTOR, examples, is_right, is_solved, judged


@pytest.mark.slow
@pytest.mark.parametrize("method", ["rca", "gmml"])
def test_candidates_are_judged_without_a_false_name(method, monkeypatch):
    monkeypatch.setattr(cvxml.oracle.diagnose, "Judge", cvxml.oracle.diagnose.Judge)  # `judged` replaces it
    rows = judged(method, examples(method)[0], seed=0, n=3)
    assert len(rows) > 0
    assert all(row["method"] == method and not row["false"] for row in rows)


def test_only_a_factor_is_a_right_name_of_a_multiple():
    assert is_right("rca", FACTOR, "optimal but for a factor: 2 times the metric")
    assert not is_right("rca", FACTOR, "a pair counted twice")


@pytest.mark.slow
def test_a_vertex_that_two_problems_share_has_a_right_name():
    """One basis vector is the optimum of two problems: the sum over triplets, and the mean with another beta."""
    X, y = datasets.of_example(examples("scml")[0])
    params = examples("scml")[0].params
    given = get("scml").instance(X, y, **params)
    summed = get("scml").solve(
        get("scml").instance(X, y, **{**params, "beta": given.beta / given.count}), tol=1e-8
    )
    sentence = get("scml").MISREADINGS["sum"].sentence
    assert is_solved("scml", examples("scml")[0], summed.metric, f"optimal for {sentence}")
    assert not is_solved("scml", examples("scml")[0], 1.5 * summed.metric, f"optimal for {sentence}")
    assert not is_solved("scml", examples("scml")[0], summed.metric, "optimal for something else")
