"""The judge that is copied with the cases: it needs numpy alone, and `cvxml.check` never says the opposite."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import cvxml
from cvxml.cases import judge as judging
from cvxml.core.example import Hand
from cvxml.core.method import Method
from cvxml.core.metric import FloatArray
from cvxml.core.pairs import MAX_POINTS_LISTED
from cvxml.methods import get
from cvxml.oracle import convex
from cvxml.oracle.cases import FOLDER, Case, case_files, load_cases
from cvxml.oracle.conform import judge as conform_judge
from cvxml.oracle.reference import Reference
from tests.instances import checked, random_data

CASES = load_cases()
ATTAINED = [case for case in CASES if case.kind == "problem" and "not attained" not in case.flags]
NOT_CONVEX = ("nca", "ssvm", "mlkr")


def each(cases: list[Case], long: tuple[str, ...] = ()) -> Any:
    """A test of each case. long: those that are slow."""
    rows = [pytest.param(case, marks=pytest.mark.slow if case.id in long else ()) for case in cases]
    return pytest.mark.parametrize("case", rows, ids=[case.id for case in cases])


EXACT = ("glml-underflow",)  # the exact inverses of two covariances of 40 features take seconds


def judged(case: Case, metric: Any) -> Any:
    return judging.judge(case.content, {"metric": np.asarray(metric).tolist()})


def candidates(case: Case) -> Iterator[tuple[str, np.ndarray]]:
    """Right, next to right, and wrong in every way."""
    A, rng = np.array(case.content["proof"]["metric"]), np.random.default_rng(0)
    d, norm = len(A), np.linalg.norm(A) or 1.0
    yield "right", A
    for error in (1e-2, 1e-3, 1e-5):
        L = rng.standard_normal((d, d))
        yield f"more {error}", A + error * norm * (L @ L.T) / np.linalg.norm(L @ L.T)
        T = np.eye(d) + error / d * rng.standard_normal((d, d))
        yield f"turned {error}", T @ A @ T.T
    yield from ((f"times {factor}", factor * A) for factor in (0.5, 0.999, 2.0))
    yield "not psd", A - 1e-2 * norm * np.eye(d)
    yield "nearly psd", A - 1e-7 * norm * np.eye(d)
    yield "zero", np.zeros((d, d))
    if d > 1:
        skew = A.copy()
        skew[0, 1] += 1e-2 * norm
        yield "asymmetric", skew


@pytest.fixture
def one_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a test of one case, `cvxml.check` solves its reference once for all candidates.

    The reference does not depend on the candidate, because the points are few.
    """
    solve, found = convex.beside, dict[tuple[str, float], Reference]()

    def once(
        method: Method[Any], given: Any, metric: FloatArray | None, tol: float, **options: Any
    ) -> Reference:
        assert len(given.X) <= MAX_POINTS_LISTED
        key = (method.id, tol)
        if key not in found:
            found[key] = solve(method, given, metric, tol, **options)
        return found[key]

    monkeypatch.setattr(convex, "beside", once)


def agree(case: Case, name: str, metric: np.ndarray, undecided: tuple[str, ...] = ()) -> str:
    """The verdict of the judge, once `check` is known not to contradict it. undecided: what `check` may also say."""
    ours = judged(case, metric)
    if ours.verdict == "inconclusive":
        return "inconclusive"
    report = cvxml.check(case.formula, case.X, case.y, metric, diagnosed=False, **case.params)
    assert report.verdict.value in (ours.verdict, *undecided), (case.id, name, ours, str(report))
    return str(ours.verdict)


@pytest.mark.quick(13)
@each(ATTAINED, long=EXACT)
def test_the_right_answer_is_certified(case: Case) -> None:
    assert judged(case, case.content["proof"]["metric"]).verdict == "certified"


@pytest.mark.parametrize("seed", [43, 49, 58])
def test_at_the_metric_0_of_gerrymandering_h_is_that_of_the_data(seed: int) -> None:
    """The certificate's h* there, with which nothing is to be won; with the first by index the bound is lower."""
    X, y = np.random.default_rng(seed).integers(0, 4, (8, 2)).astype(float), np.arange(8) % 2
    solution = cvxml.solve("ssvm", X, y, C=0.02, n_neighbors=1)
    assert not solution.metric.any()
    inputs = {"X": X.tolist(), "y": y.tolist(), "C": 0.02, "n_neighbors": 1, "loss_matrix": [[0, 1], [1, 0]]}
    proof = {name: np.asarray(solution.dual[name]).tolist() for name in ("q", "q_index")}
    problem, zero = judging.problem_of_case({"formula": "ssvm", "inputs": inputs}), np.zeros((2, 2))
    gain, _ = problem.gain(zero, problem.judged_as(zero)[-1], proof)
    assert 0 <= gain <= 1e-12


@pytest.mark.quick(23)
@each(ATTAINED, long=EXACT)
def test_no_wrong_answer_is_certified_and_most_are_refuted(case: Case) -> None:
    for wrong in case.content["wrong"]:
        found = judged(case, wrong["metric"])
        assert found.verdict in ("refuted", "close", "inconclusive")
        if "worse_by" not in wrong:
            assert found.verdict == "refuted", found
        elif case.formula not in (
            *NOT_CONVEX,
            "lfda",
        ):
            share = float(wrong["worse_by"]) / max(float(case.content["reference"]["scale"]), 1e-300)
            at_the_border = 0.0099 < share < 0.0101
            assert at_the_border or found.verdict == ("close" if share < 0.01 else "refuted"), found


@pytest.mark.quick(3)
@pytest.mark.usefixtures("one_reference")
@each(ATTAINED)
def test_check_says_the_same_of_everything(case: Case) -> None:
    assert np.ndim(case.params.get("query", [])) == 1  # one problem, so one reference
    verdicts = {name: agree(case, name, metric) for name, metric in candidates(case)}
    for wrong in case.content["wrong"]:
        agree(case, wrong["name"], np.array(wrong["metric"]))
    assert verdicts["right"] == "certified"
    assert sum(verdict == "inconclusive" for verdict in verdicts.values()) <= (
        7 if case.formula in NOT_CONVEX else 3
    )


def test_every_formula_is_known_and_another_is_not_guessed() -> None:
    assert {case.formula for case in ATTAINED} == judging.PROBLEMS.keys()
    (case,) = load_cases(pattern="mlsvm-line")
    found = judging.judge({**case.content, "formula": "another"}, {"metric": [[0.125]]})
    assert found.verdict == "inconclusive"
    assert "another" in found.reasons[0]


def test_the_inputs_of_every_case_are_read_and_of_others_nothing_is_said() -> None:
    for case in ATTAINED:
        kind = judging.PROBLEMS[case.formula]
        assert case.inputs.keys() <= kind.READS | kind.LISTS | {"X", "y"}
        more = {**case.content, "inputs": {**case.inputs, "another": 1.0}}
        found = judging.judge(more, {"metric": case.content["proof"]["metric"]})
        assert found.verdict == "inconclusive"
        assert "another" in found.reasons[0]


WEIGHED = [
    (method, hand)
    for method, names in (("ldml", {"losses", "weights"}), ("lsml", {"losses"}), ("gmml", {"prior"}))
    for hand in get(method).HAND
    if names & hand.params.keys()
]


@pytest.mark.parametrize(("method", "hand"), WEIGHED)
def test_an_input_that_may_be_missing_is_read(method: str, hand: Hand) -> None:
    """Of problems that are solved by hand. Without it the same metric is judged by another objective."""
    of, given = checked(method, hand.X, hand.y, **hand.params)
    stored = {
        k: v for k, v in of.stored(given).items() if v is not None and k in judging.PROBLEMS[method].READS
    }
    content = {"id": "hand", "kind": "problem", "formula": method, "flags": []}
    interval = [str(hand.objective * share) for share in (1 - 1e-12, 1 + 1e-12)]
    content["reference"] = {"claim": "optimal", "interval": interval, "scale": str(hand.objective)}
    content |= {"proof": {"metric": hand.metric}, "inputs": {"X": hand.X, **stored}}
    assert judging.judge(content, {"metric": hand.metric}).verdict == "certified"
    longer = (1.5 * np.array(hand.metric)).tolist()
    assert judging.judge(content, {"metric": longer}).verdict == "refuted"
    for name in hand.params.keys() & {"losses", "weights", "self_pairs", "prior"}:
        if method == "lsml" and name == "weights":  # which a case of it always has
            continue
        without = {**content, "inputs": {k: v for k, v in content["inputs"].items() if k != name}}
        assert judging.judge(without, {"metric": hand.metric}).verdict != "certified", name


def test_a_kernel_metric_that_is_nearly_psd_is_judged_with_the_psd_one_next_to_it() -> None:
    """The objective is above the optimum by 6e-7 of the scale, and that of the psd metric next to it by 1.2e-6."""
    (case,) = load_cases(pattern="kernel-poly")
    phi = np.array(case.content["proof"]["metric"])
    phi[1, 3] -= 1.88917091e-09
    found = judged(case, phi)
    assert found.verdict == "inconclusive"
    assert found.gap[0] < 1e-6 < found.gap[1]
    assert agree(case, "asymmetric", phi) == "inconclusive"


@pytest.mark.parametrize(
    ("name", "entry", "error"), [("plml-iris", (0, 1), 7.2e-7), ("mmc-iris", (0, 0), -6.34e-8)]
)
def test_what_is_no_metric_in_units_of_the_features_is_not_certified(
    name: str, entry: tuple[int, int], error: float
) -> None:
    """PLML has blocks of features; MMC is judged in units of the differences of similar pairs."""
    (case,) = load_cases(pattern=name)
    metric = np.array(case.content["proof"]["metric"])
    metric[entry] += error
    assert not cvxml.check(
        case.formula, case.X, case.y, metric, diagnosed=False, **case.params
    ).feasibility.feasible
    assert agree(case, "in units", metric) == "inconclusive"


@pytest.mark.quick(1)
@pytest.mark.usefixtures("one_reference")
@each(ATTAINED)
def test_one_entry_is_off_by_a_millionth_of_the_norm_or_less(case: Case) -> None:
    """That is no metric in some units, or next to one that is not optimal."""
    A, rng = np.array(case.content["proof"]["metric"]), np.random.default_rng(0)
    norm = np.linalg.norm(A) or 1.0
    for share in (-0.95e-6, -0.5e-6, 0.2e-6, 0.6e-6, 0.95e-6):
        metric = A.copy()
        metric[tuple(rng.integers(len(A), size=2))] += share * norm
        agree(case, f"off by {share}", metric, undecided=("inconclusive",))


@pytest.mark.quick(3)
@pytest.mark.usefixtures("one_reference")
@each([case for case in ATTAINED if case.formula == "lfda"])
def test_check_says_the_same_at_the_border_of_an_embedding(case: Case) -> None:
    """The error is measured in coordinates in which S_w is the identity, and not by the entries of the metric."""
    A, verdicts = np.array(case.content["proof"]["metric"]), set()
    for v in np.linalg.eigh(A)[1].T:
        for share in (6e-7, -2e-6, 3e-6):
            error = share * np.linalg.norm(A) * np.outer(v, v)
            verdicts.add(agree(case, f"off by {share}", A + error))
    assert "refuted" in verdicts


def test_an_embedding_that_check_refutes_is_refuted() -> None:
    """Off by 1.0e-6 of the norm, and by 2e-6 in coordinates in which S_w is the identity."""
    (case,) = load_cases(pattern="lfda-iris")
    A = np.array(case.content["proof"]["metric"])
    A[2, 2] += 2e-6 * np.linalg.norm(A)
    assert agree(case, "one entry", A) == "refuted"


def test_the_determinant_is_that_of_the_symmetric_part() -> None:
    """The asymmetry is 3e-7 of the norm, and the determinants to the power 1/40 are 1 + 4e-7 and 1 - 1.1e-6."""
    (case,) = load_cases(pattern="glml-underflow")
    metric = np.array(case.content["proof"]["metric"])
    metric[31, 0] -= 0.003
    assert agree(case, "another determinant", metric) == "refuted"


def test_a_judgement_says_why() -> None:
    (case,) = load_cases(pattern="mlsvm-iris")
    found = judged(case, case.content["wrong"][0]["metric"])
    assert found.case == "mlsvm-iris"
    least, most = found.gap
    assert f"{float(case.content['reference']['scale']):.6g}" in found.reasons[0]
    worse_by = float(case.content["wrong"][0]["worse_by"]) / float(case.content["reference"]["scale"])
    assert least <= worse_by <= most
    assert most - least <= 1e-9 * most


@pytest.mark.parametrize(
    ("least", "most", "verdict"),
    [
        (-1e-9, 9.9e-7, "certified"),
        (-1e-9, 9.97e-7, "inconclusive"),  # at the border
        (9e-7, 2e-6, "inconclusive"),
        (1.1e-6, 9.9e-3, "close"),
        (1.002e-6, 5e-3, "inconclusive"),
        (9.9e-3, 9.97e-3, "inconclusive"),
        (9e-3, 0.011, "inconclusive"),
        (1.003e-2, 0.02, "inconclusive"),
        (1.01e-2, 0.02, "refuted"),
        (-0.4, -0.3, "inconclusive"),
    ],
)
def test_a_verdict_is_that_of_every_gap_of_the_interval(least: float, most: float, verdict: str) -> None:
    assert judging.by_gap(7 * least, 7 * most, 7.0, 0.1)[0] == verdict


@pytest.mark.quick(3)
@pytest.mark.parametrize(
    ("case_id", "least", "most", "verdict"),
    [
        ("nca-f", 0.0, 4e-7, "certified"),
        ("nca-f", 0.0, 6e-7, "inconclusive"),
        ("nca-f", 9e-6, 9e-6, "inconclusive"),
        ("nca-f", 2e-5, 9e-6, "inconclusive"),
        ("nca-f", 2e-5, 2e-5, "close"),
        ("nca-f", 2e-5, 4e-3, "close"),
        ("nca-f", 2e-5, 6e-3, "inconclusive"),
        ("nca-f", 0.09, 0.2, "inconclusive"),
        ("nca-f", 0.2, 0.2, "refuted"),
        ("mlkr-iris", 2e-5, 2e-5, "inconclusive"),  # a gradient bounds no gain
        ("mlkr-iris", 2e-5, 0.03, "refuted"),
        ("mlkr-iris", 9e-6, 0.03, "inconclusive"),
    ],
)
def test_a_step_is_judged_by_what_it_could_gain(
    case_id: str, least: float, most: float, verdict: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The scale of the answer is not known, so there is room between the verdicts."""
    (case,) = load_cases(pattern=case_id)
    stored, scale = np.array(case.content["proof"]["metric"]), float(case.content["reference"]["scale"])

    monkeypatch.setattr(judging.PROBLEMS[case.formula], "gain", lambda *_: (most * scale, None))
    monkeypatch.setattr(judging, "gain_towards", lambda *_: least * scale)
    assert judged(case, 2 * stored).verdict == verdict


@pytest.mark.quick(18)
@each([case for case in ATTAINED if case.id not in EXACT])
def test_objectives_are_fractions(case: Case) -> None:
    problem, metric = judging.problem_of_case(case.content), np.array(case.content["proof"]["metric"])
    for A in (metric, 0 * metric, 3 * metric):
        if A is metric or not problem.DEFINITE:
            values = [problem.objective(at) for at in problem.judged_as(A)]
            assert all(isinstance(value, (int, Fraction)) for value in values)


def test_a_claim_must_be_the_value_of_the_metric_and_no_less_than_the_bound() -> None:
    values = [1000.0]
    for claimed, right in ((1000.0, True), (1000.0015, True), (1000.003, False), (999.9985, False)):
        assert judging.agrees(claimed, values, 1000.0, 1.0, 0.0) == right
    assert judging.agrees(999.9985, values, 1000.0, 1.0, 0.001)  # rounding
    assert judging.agrees(999.9985, values, 990.0, 1.0, 0.0)


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        (
            "plml-iris",
            lambda A: A + 0.1 * (1 - np.kron(np.eye(len(A) // 4), np.ones((4, 4)))),
            "blocks",
        ),
        ("glml-definite", lambda A: 2 * A, "determinant"),
        ("lfda-iris", lambda A: A + 0.1 * np.linalg.norm(A) * np.eye(len(A)), "embedding"),
        ("mmc-iris", lambda A: 2 * A, "similar pairs"),
        ("mmc-diagonal-wine", lambda A: 0.5 * A + 1e-6 * np.ones_like(A), "diagonal"),
    ],
)
def test_what_a_problem_asks_for_besides_is_looked_at(
    name: str, change: Callable[[np.ndarray], np.ndarray], said: str
) -> None:
    (case,) = load_cases(pattern=name)
    found = judged(case, change(np.array(case.content["proof"]["metric"])))
    assert found.verdict == "refuted"
    assert said in found.reasons[0]


def test_zero_has_no_objective_where_metrics_are_definite() -> None:
    (case,) = load_cases(pattern="rca-iris")
    found = judged(case, np.zeros((4, 4)))
    assert found.verdict == "refuted"
    assert "singular" in found.reasons[0]


def test_neighbours_in_another_order_are_the_same() -> None:
    (case,) = load_cases(pattern="part-neighbors")
    answer = {
        name: [row[::-1] for row in value] if name in case.content["sets"] else value
        for name, value in case.content["answer"].items()
    }
    assert answer != case.content["answer"]
    assert judging.judge(case.content, {"answer": answer}).verdict == "certified"


RIGHT = '{"metric": [[0.125]]}'  # of mlsvm-line


def said_of(folder: Path, asked: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, list[str]]:
    """The exit code of the judge for the answers in a folder, and its lines."""
    code = judging.main(folder, asked)
    said = capsys.readouterr()
    assert said.err == ""
    return code, said.out.splitlines()


def test_a_case_without_an_answer_is_counted_and_no_success(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said_of(tmp_path, [], capsys) == (1, [f"in all: {len(CASES)} without an answer"])
    (tmp_path / "mlsvm-line.json").write_text(RIGHT)
    code, lines = said_of(tmp_path, [], capsys)
    assert (code, lines[1:]) == (1, [f"in all: 1 certified, {len(CASES) - 1} without an answer"])
    for asked in (["mlsvm-line"], ["mlsvm-lin?"], ["mlsvm-line", "mlsvm-l*e"]):
        assert said_of(tmp_path, asked, capsys)[0] == 0
    for asked in (["mlsvm-line", "rca-iris"], ["mlsvm"], ["mlsvm*"], ["rca-iris"]):
        assert said_of(tmp_path, asked, capsys)[0] == 1
    for folder, asked in ((tmp_path, ["mlsvm-line", "mlsvm-lime"]), (tmp_path / "other", ["mlsvm-line"])):
        code, (line,) = said_of(folder, asked, capsys)
        assert code == 2
        assert (asked[-1] if len(asked) > 1 else "other") in line


FORGED = "no\nmlsvm-line              certified     \x1b[2J\udc80\u202e\r" + 1000 * "l"
WIDE = [""] * 1000 + ["l" * 10**6]  # numpy gives each of these texts 4 MB
# contents of files in place of an answer to mlsvm-line, and the verdict
HOSTILE: dict[str, tuple[bytes | Any, str]] = {
    "empty": (b"", "error"),
    "cut": (b'{"metric": [[0.1', "error"),
    "not UTF-8": (b'{"metric": "\xff"}', "error"),
    "deep": (b"[" * 10**5, "error"),
    "deep and closed": (b'{"unsupported": ' + b"[" * 10**5 + b"]" * 10**5 + b"}", "error"),
    "deep by 100": ({"unsupported": json.loads("[" * 100 + "]" * 100)}, "error"),
    "objects by 100": (b'{"a":' * 100 + b"0" + b"}" * 100, "error"),
    "digits": (b'{"metric": [[' + b"1" * 10**5 + b"]]}", "error"),
    "large number": (b'{"metric": [[1' + b"0" * 400 + b"]]}", "error"),
    "large claim": (b'{"metric": [[0.125]], "objective": 1' + b"0" * 400 + b"}", "refuted"),
    "large claims": ({"metric": [[0.125]], "objective": [10**400]}, "refuted"),
    "claim NaN": (b'{"metric": [[0.125]], "objective": NaN}', "refuted"),
    "claim of words": ({"metric": [[0.125]], "objective": FORGED}, "refuted"),
    "squares overflow": ({"metric": [[1e308]], "objective": 1e308}, "inconclusive"),
    "rows overflow": ({"components": [[1e200], [1e200]]}, "error"),
    "words": ({"unsupported": FORGED}, "skipped"),
    "a list of words": ({"unsupported": [FORGED]}, "error"),
    "status": ({"metric": [[0.125]], "status": FORGED}, "certified"),
    "statuses": ({"status": [FORGED]}, "error"),
    "texts": ({"metric": [WIDE]}, "error"),
    "text beside a number": ({"metric": [[0.125, "l" * 10**6]] * 100}, "error"),
    "numbers as texts": ({"metric": [["0.125"]]}, "error"),
    "objects": ({"metric": [[{}]]}, "error"),
    "nothing": ({"metric": [[None]]}, "error"),
    "lists of no length": ({"metric": [[]] * 1000}, "error"),
}


def put_hostile(path: Path, content: Any) -> None:
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())


@pytest.mark.quick(3)
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_answer_is_one_line_and_the_next_is_judged(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content, verdict = HOSTILE[name]
    put_hostile(tmp_path / "mlsvm-line.json", content)
    (tmp_path / "rca-iris.json").write_text('{"unsupported": "no"}')
    tracemalloc.start()
    code, lines = said_of(tmp_path, ["mlsvm-line", "rca-iris"], capsys)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert code == 1
    assert [line.split()[:2] for line in lines[:-1]] == [["mlsvm-line", verdict], ["rca-iris", "skipped"]]
    assert all(line.isprintable() and line.isascii() and len(line) < 450 for line in lines)
    assert most <= 20 * (tmp_path / "mlsvm-line.json").stat().st_size + 10**8


@pytest.mark.parametrize("item", ["[]", "{}", '""', "[[]]", '{"":0}'])
def test_short_lists_and_texts_take_little_memory(item: str) -> None:
    """Python gives an empty list 56 bytes, and the file two."""
    few, many = (f"[{','.join([item] * n)}]".encode() for n in (10, 2 * 10**6))
    assert judging.parsed(few) == json.loads(few)
    tracemalloc.start()
    with pytest.raises(ValueError, match="memory"):
        judging.parsed(many)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most <= 10**6


def test_numbers_of_very_different_size_take_little_memory() -> None:
    """Over the least one as a unit, the largest ones have two thousand bits."""
    wide = np.full(10**6, 1e308)
    judging.whole(wide[:100])
    wide[0] = 5e-324
    judging.whole(wide[:100])
    with pytest.raises(ValueError, match="size"):
        judging.whole(wide)


def test_more_pairs_than_the_memory_holds_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 2**20}
    monkeypatch.setattr("os.sysconf", memory.__getitem__, raising=False)
    judging.require_room(3000)
    many = np.zeros((4000, 1), object)
    for refused in (lambda: judging.distances(many, many[:1]), lambda: judging.at_pairs(4000, [], [])):
        with pytest.raises(ValueError, match="4000 points"):
            refused()
    monkeypatch.delattr("os.sysconf")
    judging.require_room(10**9)


@pytest.mark.skipif(sys.platform == "win32", reason="needs pipes and links")
def test_what_is_no_file_is_an_error_and_the_next_is_judged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    others = {
        "folder": "mlsvm-iris", "pipe": "mlsvm-line", "device": "rca-iris", "loop": "rca-singular",
        "nowhere": "lmnn-iris", "large": "mmc-iris",
    }  # fmt: skip
    path = {name: tmp_path / f"{case}.json" for name, case in others.items()}
    path["folder"].mkdir()
    os.mkfifo(path["pipe"])
    path["device"].symlink_to("/dev/zero")
    path["loop"].symlink_to(path["loop"])
    path["nowhere"].symlink_to("nowhere")
    path["large"].touch()
    os.truncate(path["large"], 10**10)
    (tmp_path / "no\ncase\x1b[2J certified.json").write_text("{}")
    (tmp_path / "zca.json").write_text("{}")
    code, lines = said_of(tmp_path, [], capsys)
    assert code == 1
    assert len(lines) == len(others) + 3
    assert lines[-1].startswith(f"in all: {len(others) + 2} error,")
    assert all(line.isprintable() and " error " in line for line in lines[:-1])
    assert all(any(line.startswith(f"{case} ") for line in lines) for case in others.values())


@pytest.mark.quick(3)
@pytest.mark.parametrize("entry", [0.0, 5e-324, 1e-200, 1e160, 1e200, 1.7e308, -1.7e308])
@pytest.mark.parametrize("place", ["all", "one", "row"])
def test_numbers_of_every_size_have_a_verdict(entry: float, place: str) -> None:
    for case in ATTAINED:
        A = np.array(case.content["proof"]["metric"], dtype=float)
        if place == "one":
            A[0, 0] = entry
        elif place == "row":
            A[:, 0] = entry
        else:
            A = np.full_like(A, entry)
        found = judged(case, A)
        allowed = ["refuted", "inconclusive"]
        if abs(entry) < 1e-100:  # the optimum may have a 0 there
            allowed += ["certified", "close"]
        assert found.verdict in allowed, (case.id, found)


@pytest.mark.parametrize("name", ["scml-iris", "schultz-joachims-iris"])
def test_a_combination_with_a_negative_weight_is_none_though_it_is_psd(name: str) -> None:
    (case,) = load_cases(pattern=name)
    basis = judging.problem_of_case(case.content).B
    for least, verdict in ((-1e-3, "refuted"), (0.1, "refuted"), (-3e-6, "inconclusive")):
        M = (basis.T * np.r_[least, np.ones(len(basis) - 1)]) @ basis
        assert np.linalg.eigvalsh(M)[0] > 0
        found = judged(case, M)
        assert found.verdict == verdict
        assert ("combination" in found.reasons[0]) == (least < 0)


def test_what_is_psd_but_for_the_units_of_the_features_is_not_decided() -> None:
    """Most methods ask for that, and not all."""
    (case,) = load_cases(pattern="mlsvm-iris")
    inputs = {
        **case.content["inputs"],
        "X": (np.array(case.content["inputs"]["X"]) * [1, 2**20, 1, 1]).tolist(),
    }
    for entry, verdict in ((-1e-9, "inconclusive"), (-1e-5, "refuted")):
        answer = {"metric": np.diag([1.0, entry, 1.0, 1.0]).tolist()}
        found = judging.judge({**case.content, "inputs": inputs}, answer)
        assert found.verdict == verdict
        assert "not psd" in found.reasons[0]


NO_ANSWERS: dict[str, Any] = {
    "a list": [1],
    "nothing": {},
    "NaN": {"metric": [[float("nan")] * 4] * 4},
    "text": {"metric": "text"},
    "ragged": {"metric": [[1, 2], [3]]},
    "shape": {"metric": [[1.0]]},
    "booleans": {"metric": [[True] * 4] * 4},
    "both": {"metric": np.eye(4).tolist(), "components": np.eye(4).tolist()},
    "wide": {"components": [[1.0] * 5]},
    "a boolean among numbers": {"metric": [[True, 0, 0, 0], [0, 0.5, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]},
    "booleans in components": {"components": [[1.0, False, 0, 0]]},
    "null": {"metric": None},
    "nulls": {"metric": None, "components": None, "unsupported": None},
    "unsupported false": {"unsupported": False},
    "unsupported a list": {"unsupported": ["no"]},
    "unsupported empty": {"unsupported": " "},
    "unsupported beside a metric": {"unsupported": "no", "metric": np.eye(4).tolist()},
    "unsupported beside components": {"unsupported": "no", "components": np.eye(4).tolist()},
    "unsupported beside numbers": {"unsupported": "no", "answer": {}},
    "unsupported beside a status": {"unsupported": "no", "status": "not attained"},
    "unsupported false beside a metric": {"unsupported": False, "metric": np.eye(4).tolist()},
}


@pytest.mark.parametrize("name", NO_ANSWERS)
def test_what_is_no_answer_is_an_error_and_conform_says_so_too(name: str) -> None:
    (case,) = load_cases(pattern="mlsvm-iris")
    assert judging.judge(case.content, NO_ANSWERS[name]).verdict == "error"
    if isinstance(NO_ANSWERS[name], dict):
        assert conform_judge(case, NO_ANSWERS[name]).verdict == "error"


@pytest.mark.parametrize("given", ["metric", "components"])
def test_a_key_with_null_counts_as_absent(given: str) -> None:
    """A program may write every optional key. Then a null must not hide its answer."""
    (case,) = load_cases(pattern="rca-iris")
    metric = np.array(case.content["proof"]["metric"])
    keys = ("metric", "components", "objective", "status", "answer", "unsupported")
    right = metric if given == "metric" else np.linalg.cholesky(metric).T
    for factor, verdict in ((1.0, "certified"), (2.0, "refuted")):
        units = np.ones(len(metric))
        units[0] = factor  # of the first feature
        wrong = right * units if given == "components" else right * units * units[:, None]
        answer = {**dict.fromkeys(keys), given: wrong.tolist()}
        assert judging.judge(case.content, answer).verdict == verdict
        assert conform_judge(case, answer).verdict == verdict
    skipped = {**dict.fromkeys(keys), "unsupported": "not yet"}
    assert judging.judge(case.content, skipped).verdict == "skipped"
    assert conform_judge(case, skipped).verdict == "skipped"


def test_what_is_said_beside_a_metric() -> None:
    (case,) = load_cases(pattern="rca-iris")
    metric = case.content["proof"]["metric"]
    high = float(case.content["reference"]["interval"][1])
    for claimed in (high, 1.01 * high, 0.99 * high, "text"):
        found = judging.judge(case.content, {"metric": metric, "objective": claimed})
        assert found.verdict == ("certified" if claimed == high else "refuted")
    root = np.linalg.cholesky(metric).T
    assert judging.judge(case.content, {"components": root.tolist()}).verdict == "certified"
    assert judging.judge(case.content, {"unsupported": "no"}).verdict == "skipped"
    assert judging.judge(case.content, {"status": "not attained"}).verdict == "refuted"
    (without,) = load_cases(pattern="glml-flat")
    assert judging.judge(without.content, {"status": "not attained"}).verdict == "certified"


@each([case for case in CASES if case.kind == "part"])
def test_parts_are_judged_number_by_number(case: Case) -> None:
    answer = case.content["answer"]
    assert judging.judge(case.content, {"answer": answer}).verdict == "certified"
    for name, value in answer.items():
        wrong = np.array(value, dtype=float)
        wrong.flat[0] += 1
        for instead in (wrong.tolist(), "text", [], None, [True], True):
            given = {"answer": {**answer, name: instead}}
            assert judging.judge(case.content, given).verdict == "refuted"
            assert conform_judge(case, given).verdict == "refuted"
        fewer = {"answer": {k: v for k, v in answer.items() if k != name}}
        assert judging.judge(case.content, fewer).verdict == "refuted"
    assert judging.judge(case.content, {}).verdict == "refuted"


def test_the_file_is_of_python_3_8_and_imports_numpy_alone() -> None:
    tree = ast.parse(Path(judging.__file__).read_text(encoding="utf-8"), feature_version=(3, 8))
    imported = {
        name.split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for name in (
            [node.module or ""] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names]
        )
    }
    assert imported <= {"numpy", *sys.stdlib_module_names}
    names = {
        keyword.arg for node in ast.walk(tree) if isinstance(node, ast.Call) for keyword in node.keywords
    }
    assert "strict" not in names  # of zip: 3.10


def test_a_copy_of_the_folder_judges_a_folder_of_answers(tmp_path: Path) -> None:
    copy, answers = tmp_path / "cases", tmp_path / "answers"
    copy.mkdir()
    answers.mkdir()
    for path in FOLDER.iterdir():
        if path.is_file():
            (copy / path.name).write_bytes(path.read_bytes())

    def answer(name: str, content: str, *asked: str) -> subprocess.CompletedProcess[str]:
        (answers / f"{name}.json").write_text(content)
        command = [sys.executable, "-I", str(copy / "judge.py"), str(answers), *asked]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)

    def verdicts(done: subprocess.CompletedProcess[str]) -> dict[str, str]:
        rows = [line.split() for line in done.stdout.splitlines()]
        return {row[0]: row[1] for row in rows if len(row) > 1 and row[1] in ("certified", "error")}

    done = answer("mlsvm-line", RIGHT, "mlsvm-line")
    assert (done.returncode, done.stderr) == (0, "")
    assert verdicts(done) == {"mlsvm-line": "certified"}
    done = answer("mlsvm-line-capped", "hello")
    assert done.returncode == 1
    assert verdicts(done) == {"mlsvm-line": "certified", "mlsvm-line-capped": "error"}
    done = answer("another", "{}")
    assert done.returncode == 1
    assert verdicts(done)["another"] == "error"


def test_a_copy_recomputes_a_saved_solution(tmp_path: Path) -> None:
    copy, path = tmp_path / "judge.py", tmp_path / "s.json"
    copy.write_bytes(Path(judging.__file__).read_bytes())
    (case,) = load_cases(pattern="mlsvm-line")
    solution = cvxml.solve("mlsvm", case.X, case.y, **case.params)

    def prove(metric: FloatArray, *asked: str) -> int:
        path.write_text(json.dumps({**solution.to_dict(), "metric": metric.tolist()}))
        command = [sys.executable, "-I", str(copy), "--solution", *asked]
        return subprocess.run(command, capture_output=True, timeout=60).returncode

    assert prove(solution.metric, str(path)) == 0
    assert prove(2 * solution.metric, str(path)) == 1
    assert prove(solution.metric) == 2


def said_of_solution(path: Path, capsys: pytest.CaptureFixture[str], content: Any = None) -> str:
    """What is printed of a file without a proof; `content` is written to it before."""
    if content is not None:
        path.write_text(json.dumps(content))
    assert not judging.prove(path)
    return capsys.readouterr().out


@pytest.mark.parametrize("name", ["nothing.json", "nothing.npz", "a" * 300, "."])
def test_a_file_that_does_not_exist_is_said_to_be_so(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = said_of_solution(tmp_path / name, capsys)
    assert said.count("\n") == 1
    assert ("no such file" in said) == name.startswith("nothing")
    assert ("folder" in said) == (name == ".")


@pytest.mark.parametrize("status", ["NOT_ATTAINED", "MAX_ITER"])
@pytest.mark.parametrize("criterion", ["f", "g"])
def test_a_file_of_nca_without_a_bound_is_not_said_to_be_malformed(
    criterion: str, status: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    X, y = [[0.0, 0.0], [0.0, 1.0], [5.0, 0.0], [5.0, 1.0], [5.0, 2.0]], [0, 0, 1, 1, 1]
    with pytest.warns(ConvergenceWarning):
        content = cvxml.solve("nca", X, y, criterion=criterion).to_dict()
    assert content["status"] == "NOT_ATTAINED"
    assert content["dual"]["theta"] == []
    said = said_of_solution(tmp_path / "s.json", capsys, {**content, "status": status})
    assert ("NOT_ATTAINED" in said) == ("infimum" in said) == (status == "NOT_ATTAINED")
    assert ("theta" in said) == (status == "MAX_ITER")
    for theta in ([0.1, 0.2], 0.5, [[0.5]]):
        dual = {**content["dual"], "theta": theta}
        assert "theta" in said_of_solution(tmp_path / "s.json", capsys, {**content, "dual": dual})


@pytest.mark.parametrize("method", ["rca", "lfda", "glml", "gmml", "mlsvm", "lmnn"])
def test_a_dual_of_another_form_is_named(
    method: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    X, y = random_data(0, n=10, d=2, classes=2)
    content = cvxml.solve(method, X, y, **get(method).SMALL).to_dict()
    for name in content["dual"]:
        for wrong in (1, 0.5, [[1], [2, 3]], [[[1]]], None, "abc", {}):
            dual = {**content["dual"], name: wrong}
            said = said_of_solution(tmp_path / "s.json", capsys, {**content, "dual": dual})
            assert f" {name} " in said, (name, wrong)


def test_a_byte_order_mark_is_no_part_of_a_file(tmp_path: Path) -> None:
    X, y = random_data(0, n=10, d=2, classes=2)
    text = json.dumps(cvxml.solve("rca", X, y).to_dict())
    (tmp_path / "s.json").write_text(text, encoding="utf-8-sig")
    assert judging.prove(tmp_path / "s.json")
    assert cvxml.certify_solution(tmp_path / "s.json").verdict == "certified"


@each([case for case in CASES if "not attained" in case.flags])
def test_a_metric_where_none_is_optimal_is_not_decided(case: Case) -> None:
    found = judged(case, np.eye(len(case.X[0])))
    assert found.verdict == "inconclusive"
    assert judged(case, np.ones((1, 9))).verdict == "error"


def test_a_long_metric_of_nca_is_refuted_though_its_probabilities_underflow() -> None:
    (case,) = load_cases(pattern="nca-g")
    assert judged(case, 1e6 * np.array(case.content["proof"]["metric"])).verdict == "refuted"


def test_the_readme_names_every_flag_and_field() -> None:
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    schema = json.loads((FOLDER / "case.schema.json").read_text(encoding="utf-8"))
    for name in (*schema["properties"], *schema["properties"]["flags"]["items"]["enum"]):
        assert f"`{name}`" in text, name
    assert len(case_files(FOLDER)) == len(CASES) == len(list(FOLDER.glob("*.json"))) - 1
