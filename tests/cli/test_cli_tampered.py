"""The command line: no saved solution that was tampered with passes `certify`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cvxml.core.saved import CLAIMS
from cvxml.methods import names
from tests.cli.commands import Cli, as_json, method_with_lists, refused, solved

Change = Callable[[dict[str, Any]], object]


def in_dual(name: str, change: Callable[[list[Any]], Any]) -> Change:
    return lambda c: c["dual"].update({name: change(c["dual"][name])})


def zeros(c: dict[str, Any]) -> list[list[float]]:
    return np.zeros_like(c["metric"]).tolist()


def empty_dual() -> dict[str, list[Any]]:
    return {"u": [], "u_index": [], "w": [], "w_index": []}


TAMPERED: dict[str, tuple[set[int], Change]] = {
    "objective-lower": ({1}, lambda c: c.update(objective=c["objective"] - 1e-6)),
    "bound-higher": ({1}, lambda c: c.update(lower_bound=c["objective"] + 1e-6)),
    "metric-scaled": ({1}, lambda c: c.update(metric=(1.01 * np.array(c["metric"])).tolist())),
    "metric-zero": ({1}, lambda c: c.update(metric=zeros(c), objective=None, lower_bound=None)),
    "metric-zero-unclaimed": ({2, 3}, lambda c: c.update(metric=zeros(c), **dict.fromkeys(CLAIMS))),
    "metric-indefinite": ({1}, lambda c: c.update(metric=(-np.array(c["metric"])).tolist())),
    "metric-huge": ({1, 2}, lambda c: c.update(metric=(1e200 * np.eye(len(c["metric"]))).tolist(), objective=None)),
    "metric-smaller": ({2}, lambda c: c.update(metric=[[1.0]])),
    "dual-zero": ({1}, in_dual("u", lambda u: [0.0] * len(u))),
    "dual-huge": ({1, 2, 3}, lambda c: c.update(metric=zeros(c), objective=None, lower_bound=None,
                                             dual={**c["dual"], "u": [1e308] * len(c["dual"]["u"]),
                                                                           "w": [1.0] * len(c["dual"]["w"])})),
    "dual-short": ({2}, in_dual("u", lambda u: u[1:])),
    "dual-2-D": ({2}, in_dual("w", lambda w: [[x] for x in w])),
    "dual-strings": ({2}, in_dual("w", lambda w: ["x"] * len(w))),
    "dual-index-above": ({2}, in_dual("u_index", lambda p: [[14, 0], *p[1:]])),
    "dual-index-below": ({2}, in_dual("w_index", lambda p: [[0, -1], *p[1:]])),
    "dual-index-flat": ({2}, in_dual("w_index", lambda p: [i for pair in p for i in pair])),
    "dual-index-floats": ({2}, in_dual("u_index", lambda p: [[i + 0.5, j] for i, j in p])),
    **{f"dual-without-{k}": ({2}, lambda c, k=k: c["dual"].pop(k)) for k in empty_dual()},
    **{
        f"without-{k}": ({2}, lambda c, k=k: c.pop(k))
        for k in ("format", "version", "method", "params", "X", "y", "neighbors", "metric", "dual")
    },
    "without-lam": ({2}, lambda c: c["params"].pop("lam")),
    "format": ({2}, lambda c: c.update(format="cvxml-report")),
    "version": ({2}, lambda c: c.update(version=2)),
    "method-unknown": ({2}, lambda c: c.update(method="lmnn2")),
    "method-other": ({1, 2, 3}, lambda c: c.update(method=next(m for m in names() if m != c["method"]))),
    "lam-other": ({1}, lambda c: c["params"].update(lam=0.11)),
    "lam-zero": ({2}, lambda c: c["params"].update(lam=0)),
    "lam-string": ({2}, lambda c: c["params"].update(lam="0.1")),
    "parameter-unknown": ({2}, lambda c: c["params"].update(mu=1)),
    "X-other": ({1, 2, 3}, lambda c: c["X"][0].reverse()),
    "X-short": ({2}, lambda c: c["X"].pop()),
    "y-other": ({1, 2, 3}, lambda c: c["y"].insert(0, c["y"].pop(2) ^ 1)),
    "y-short": ({2}, lambda c: c["y"].pop()),
    "y-one-class": ({2}, lambda c: c.update(y=[0] * 14)),
    "y-fractions": ({2}, lambda c: c.update(y=[v + 0.5 for v in c["y"]])),
    "derived-unknown": ({2}, lambda c: c.update(derived=["lam"])),
    "derived-no-list": ({2}, lambda c: c.update(derived="lam")),
    "status-unknown": ({2}, lambda c: c.update(status="OPTIMAL")),
    "lists-above": ({2}, lambda c: c["neighbors"][0].append(14)),
    "lists-itself": ({2}, lambda c: c["neighbors"][0].append(0)),
    "lists-twice": ({2}, lambda c: c["neighbors"][0].append(c["neighbors"][0][0])),
    "lists-short": ({2}, lambda c: c["neighbors"].pop()),
    "lists-floats": ({2}, lambda c: c["neighbors"][0].append(0.5)),
    # "per-class" with 2 neighbours is what the file states; with no lists at all A = 0 would be optimal
    "lists-emptied": ({1, 2, 3}, lambda c: c.update(neighbors=[[]] * 14, metric=zeros(c), objective=0.0,
                                                    lower_bound=0.0, dual=empty_dual())),
}  # fmt: skip


def write(path: str, content: dict[str, Any]) -> None:
    """What Solution.save would have written of this content."""
    if path.endswith(".json"):
        Path(path).write_text(json.dumps(content))
        return
    arrays = {k: np.array(content[k]) for k in ("metric", "X", "y") if k in content}
    arrays |= {f"dual_{k}": np.array(v) for k, v in content.get("dual", {}).items()}
    if "neighbors" in content:
        flat = [j for listed in content["neighbors"] for j in listed]
        arrays["neighbors"] = np.array(flat) if flat else np.zeros(0, dtype=np.int64)
        arrays["neighbor_counts"] = np.array([len(listed) for listed in content["neighbors"]])
    header = {k: v for k, v in content.items() if k not in ("metric", "X", "y", "dual", "neighbors")}
    np.savez(path, header=np.array(json.dumps(header)), **arrays)


@pytest.mark.quick(54)
@method_with_lists
@pytest.mark.parametrize("case", TAMPERED)
def test_tampered_solutions_do_not_pass(cli: Cli, method: str, case: str) -> None:
    codes, change = TAMPERED[case]
    content = as_json(solved(method).to_dict())
    change(content)
    for file in ("t.json", "t.npz"):
        write(file, content)
        answer = cli("certify", file)
        assert answer.code in codes, (file, answer)
        assert refused(answer) if answer.code == 2 else answer.err == ""


@method_with_lists
def test_what_these_tests_write_passes_untampered(cli: Cli, method: str) -> None:
    for file in ("t.json", "t.npz"):
        write(file, as_json(solved(method).to_dict()))
        assert cli("certify", file).code == 0


HUGE = 10**400
STRANGE: dict[str, Change] = {
    **{f"{k}-huge": lambda c, k=k: c.update({k: HUGE}) for k in ("objective", "lower_bound", "version")},
    **{f"{k}-huge": lambda c, k=k: c[k].append([HUGE] * 3) for k in ("X", "metric")},
    "y-huge": lambda c: c["y"].append(HUGE),
    "lam-huge": lambda c: c["params"].update(lam=HUGE),
    "u-huge": in_dual("u", lambda u: [HUGE] * len(u)),
    **{f"{k}-{v}": lambda c, k=k, v=v: c.update({k: v}) for v in (None, 3, True, "x", [], [[]])
       for k in ("neighbors", "dual", "X", "y", "metric", "method")},
    **{f"u-{v}": in_dual("u", lambda _, v=v: v) for v in (None, 3, True, "x", [{}], [[]])},
}  # fmt: skip


@method_with_lists
@pytest.mark.parametrize("case", STRANGE)
def test_strange_values_in_a_saved_solution(cli: Cli, method: str, case: str) -> None:
    content = as_json(solved(method).to_dict())
    STRANGE[case](content)
    write("t.json", content)
    answer = cli("certify", "t.json")
    assert answer.code in (1, 2)
    assert refused(answer) if answer.code == 2 else answer.err == ""


@pytest.mark.parametrize(
    "header", ["[" * 10**5, '{"format": "cvxml-solution", "version": NaN}', "{", '"x"'], ids=len
)
def test_strange_headers_of_npz(cli: Cli, header: str) -> None:
    write("t.npz", solved("mlsvm").to_dict())
    arrays = dict(np.load("t.npz"))
    np.savez("t.npz", **{**arrays, "header": np.array(header)})
    assert refused(cli("certify", "t.npz"))
    counts = arrays["neighbor_counts"] + np.eye(14, dtype=int)[0]
    np.savez("t.npz", **{**arrays, "neighbor_counts": counts})
    assert cli("certify", "t.npz").code in (1, 2)
