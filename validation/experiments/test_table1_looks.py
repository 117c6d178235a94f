"""What explains differences from Table 1: the figures against plain computations."""

from __future__ import annotations

import pytest

import cvxml
from validation.experiments import table1, table1_looks
from validation.experiments.splits import some_pairs
from validation.experiments.table1_claims import KS
from validation.experiments.vote import error_of


def test_looks_are_means_over_folds_and_all_points_and_axes_are_no_restriction() -> None:
    parts = [table1.prepared("balance", fold) for fold in range(2)]
    maps = [cvxml.ITML(0.5, tol=1e-4).fit(part.X, pairs=some_pairs(part.y)).components_ for part in parts]
    found = table1_looks.by_weight("balance", "ITML", (0.5,), 2)
    for k in KS:
        each = [error_of(part, k, L, "sum") for part, L in zip(parts, maps, strict=True)]
        assert found[f"0.5, k = {k}"] == pytest.approx(50 * sum(each))
    first = table1_looks.by_weight("balance", "ITML", (0.5,), 1)
    whole = table1_looks.by_rows("balance", "ITML", 0.5, (20, 1000))
    turned = table1_looks.by_axes("balance", "ITML", 0.5, (2, 4), 1)
    for k in KS:
        assert whole[f"1000 points, k = {k}"] == turned[f"4 axes, k = {k}"] == first[f"0.5, k = {k}"]
    assert any(whole[f"20 points, k = {k}"] != first[f"0.5, k = {k}"] for k in KS)
    assert any(turned[f"2 axes, k = {k}"] != first[f"0.5, k = {k}"] for k in KS)


@pytest.mark.slow
def test_with_k_targets_each_error_is_of_a_metric_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """At k of LMNN with k targets and mu = .1 / 1.1, as its estimator has it on the part itself."""
    monkeypatch.setattr(table1_looks, "KS", (3, 2, 5))
    part, asked, LMNN = table1.prepared("iris", 0), [], cvxml.LMNN

    def asked_for(mu: float, n_neighbors: int, tol: float) -> cvxml.LMNN:
        asked.append((mu, n_neighbors))
        return LMNN(mu, n_neighbors=n_neighbors, tol=tol)

    monkeypatch.setattr(cvxml, "LMNN", asked_for)
    found = table1_looks.with_k_targets("iris", 0.1)
    assert list(found) == ["k = 2", "k = 5"]
    assert asked == [(0.1 / 1.1, 2), (0.1 / 1.1, 5)]
    for k in (2, 5):
        fitted = LMNN(0.1 / 1.1, n_neighbors=k, tol=1e-6).fit(part.X, part.y)
        assert found[f"k = {k}"] == pytest.approx(100 * error_of(part, k, fitted.components_))
