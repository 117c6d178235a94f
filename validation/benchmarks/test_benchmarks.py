"""validation/benchmarks: what is timed solves the problem, figures follow from it, docs/speed.md quotes the record."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cvxml
from cvxml.core.metric import FloatArray
from validation.benchmarks import (
    __main__ as command,
)
from validation.benchmarks import (
    convex,
    gerrymandering,
    glml,
    isolated,
    learners,
    measure,
    mlsvm,
    nca,
    page,
    picture,
    size,
    summary,
    vectorised,
)
from validation.experiments.tasks import Task

MADE = {"date": "2026-01-02", "versions": {"python": "3.11.1", "cvxml": "0.1.0"}}
USED = {"peak": 0.5, "wall": 120.0, "cpu": 108.0, **MADE}
ROOT = Path(__file__).parents[2]
MODULES = {name: isolated.of(name) for name in page.BENCHMARKS}
X, Y = (each[:, :3] if each.ndim == 2 else each for each in convex.points("wine", 24))


# --- the alternatives solve the same problems ---


@pytest.mark.quick(2)
@pytest.mark.parametrize(
    "method", dict.fromkeys([*vectorised.FORMS, *(method for method, _ in convex.examples())])
)
def test_the_form_for_a_method_has_the_optimum(method: str) -> None:
    points = convex.points("wine", 60) if method == "mlsvm" else (X, Y)  # of less, its optimum is 0
    params = {"n_components": 1} if method == "lfda" else {}  # of all, every metric has the same objective
    ours = measure.certified(method, *points, **params)
    rival = vectorised.rivals(method, *points, 60.0, **params)[0]
    assert rival.name == "cvxpy, CLARABEL" + ("" if method in vectorised.FORMS else ", row by row")
    ran = measure.quietly(rival.run)
    assert ran.metric is not None, ran.said
    assert -1e-7 <= ours.judge(ran.metric) <= 1e-5
    assert ours.judge(1.3 * ran.metric + 0.1 * np.trace(ran.metric) * np.eye(len(ran.metric))) > 1e-4


def test_scs_too() -> None:
    ran = measure.quietly(vectorised.rivals("lmnn", X, Y, 60.0)[1].run)
    assert ran.metric is not None
    assert measure.certified("lmnn", X, Y).judge(ran.metric) <= 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("form", gerrymandering.FORMS)
def test_the_step_of_gerrymandering_has_the_optimum(form: str) -> None:
    p = gerrymandering.problem("wine", 14)
    at = gerrymandering.start_of(p)
    run = partial(vectorised.through, "CLARABEL", 60.0, partial(gerrymandering.FORMS[form], p, at.latent))
    ran = measure.quietly(run)
    assert ran.metric is not None, ran.said
    ours = gerrymandering.ours(p)
    assert -1e-7 <= ours.judge(ran.metric) <= 1e-5
    assert ours.judge(np.eye(13)) > 1e-3
    assert ours.solve(1e-4) <= 1e-4
    psd = ran.metric @ ran.metric
    plain = np.sum(psd**2) + p.C * sum(
        max(worst_of(p, psd, i)) + sum(distance(p, psd, i, j) for j in at.latent[i]) for i in range(len(p.X))
    )
    assert gerrymandering.objective(p, at, psd) == pytest.approx(plain)


def distance(p: Any, W: FloatArray, i: int, j: int) -> float:
    return float((p.X[i] - p.X[j]) @ W @ (p.X[i] - p.X[j]))


def worst_of(p: Any, W: FloatArray, i: int) -> Iterator[float]:
    """S + Delta of every set of 3."""
    from itertools import combinations

    for h in combinations([j for j in range(len(p.X)) if j != i], p.k):
        votes = np.bincount(p.y[list(h)], minlength=p.R)
        loss = max(p.Lam[p.y[i], r] for r in range(p.R) if votes[r] == votes.max())
        yield loss - sum(distance(p, W, i, j) for j in h)


def test_rows_are_squared_distances() -> None:
    M = vectorised.Metric(3)
    A = np.array([[2.0, 0.5, 0.1], [0.5, 1.0, -0.2], [0.1, -0.2, 3.0]])
    M.entries.value = A[M.at]
    assert np.array_equal(M.value(), A)
    assert M.rows(X) @ M.entries.value == pytest.approx(np.einsum("na,ab,nb->n", X, A, X))
    assert M.norm2.value == pytest.approx(np.sum(A**2))


def test_a_solver_that_fails_is_no_answer() -> None:
    def form(solve: vectorised.Solve) -> FloatArray:
        import cvxpy as cp

        x = cp.Variable()
        solve(cp.Problem(cp.Minimize(x), [x >= 1, x <= 0]))
        raise AssertionError("not reached")

    ran = vectorised.through("CLARABEL", 9.0, form)
    assert ran.metric is None
    assert ran.said.startswith("failed: ")


# --- what is made of the seconds ---


class Clock:
    """Time that passes when it is told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def passing(self, *seconds: float) -> Callable[[], None]:
        """A run that takes these, one after the other, the last for ever."""
        left = list(seconds)

        def run() -> None:
            self.now += left.pop(0) if len(left) > 1 else left[0]

        return run


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(measure, "clock", made)
    return made


def test_the_best_of_some_runs(clock: Clock) -> None:
    assert measure.best_of(clock.passing(3.0, 1.0, 2.0), 3) == (1.0, None)
    assert measure.best_of(clock.passing(3.0, 2.0, 1.0), 2) == (2.0, None)
    assert measure.best_of(clock.passing(6.0, 1.0, 2.0), 3) == (6.0, None)  # too long to be repeated
    assert measure.best_of(lambda: 7, 1) == (0.0, 7)


def test_a_claim(clock: Clock) -> None:
    asked: list[float] = []

    def solve(gap: float) -> float:
        asked.append(gap)
        clock.now += (1 - np.log10(gap)) / 4
        return gap / 2 if gap != 1e-4 else 2e-4  # once it does not get there

    def rival(name: str, seconds: float, metric: FloatArray | None, said: str = "") -> measure.Rival:
        runs = iter([seconds + 1, seconds, seconds + 2])
        return measure.Rival(name, "well", lambda: measure.Ran(next(runs), metric, said))

    ours = measure.Ours(solve, lambda metric: float(metric[0, 0]))
    rivals = [
        rival("slow", 80.0, np.array([[1e-3]]), "7 rounds"),
        rival("quick", 2.0, np.array([[1e-12]])),
        rival("wild", 9.0, np.array([[5.0]])),
        rival("none", 9.0, None, "nothing within 9 s"),
        rival("beyond", 9.0, np.array([[1e-4]])),
    ]
    claim = measure.compared({"method": "m"}, ours, rivals, 3)
    assert claim["method"] == "m"
    assert [(each["to"], each["reached"]) for each in claim["ours"]] == [
        ("1e-06", "gap 5e-07"),
        ("1e-09", "gap 5e-10"),
    ]
    assert [each["seconds"] for each in claim["ours"]] == pytest.approx([7 / 4, 10 / 4])
    assert sorted(set(asked)) == pytest.approx([1e-9, 1e-6, 1e-4, 1e-3, 0.1])
    slow, quick, wild, none, beyond = claim["rivals"]
    assert (slow["seconds"], slow["reached"], slow["same"]) == (81.0, "gap 1e-03, 7 rounds", pytest.approx(1))
    assert (quick["seconds"], quick["same"]) == (2.0, pytest.approx(2.5))  # repeated, as it is short
    assert (wild["gap"], wild["same"]) == (5.0, pytest.approx(0.5))
    assert (none["reached"], none["gap"], none["same"]) == ("nothing within 9 s", None, None)
    assert (beyond["gap"], beyond["same"]) == (1e-4, None)
    assert [each["answered"] for each in claim["rivals"]] == [True, True, True, False, True]
    assert summary.ratio(slow) == pytest.approx(81)
    assert summary.ratio(none) is None
    assert summary.rivals_of({"rivals": [slow, {**quick, "baseline": True}]}) == [slow]
    best = sorted(claim["rivals"], key=summary.order)
    assert [each["name"] for each in best] == ["beyond", "quick", "slow", "wild", "none"]
    assert summary.line({**claim, "data": "", "n": 1, "d": 1}, beyond)[-2:] == ("never", "-")
    assert summary.all_ratios([claim]) == "never (1), 0.8 to 81"


def test_certified_is_in_shares_of_the_objective() -> None:
    points = convex.points("wine", 60)
    ours = measure.certified("mlsvm", *points, lam=10.0)
    best = cvxml.solve("mlsvm", *points, lam=10.0, tol=1e-9)
    assert best.objective > 1.1 * best.certificate.scale > 0  # shares of the two differ
    assert ours.solve(1e-4) <= 1e-4
    proof = cvxml.certify("mlsvm", *points, 1.1 * best.metric, best.dual, lam=10.0)
    assert ours.judge(1.1 * best.metric) == pytest.approx(proof.gap / best.objective)


def test_growth(clock: Clock) -> None:
    def of(n: int) -> Callable[[], None]:
        return clock.passing(1e-6 * n**2)

    grown = measure.growth("m", "some", "a step", of, (10, 100, 1000))
    assert grown["seconds"] == pytest.approx([1e-4, 1e-2, 1.0])
    assert measure.exponent(grown) == pytest.approx(2)
    assert summary.growth_of(grown) == "n^2.0 (10 to 1000)"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, "-"),
        (123.4, "123 s"),
        (12.34, "12.3 s"),
        (1.234, "1.23 s"),
        (0.0123, "0.012 s"),
        (0.00123, "1.2 ms"),
    ],
)
def test_seconds_as_text(seconds: float | None, text: str) -> None:
    assert summary.took(seconds) == text


# --- the parts ---


def test_every_part_has_a_name_of_its_own() -> None:
    for module in MODULES.values():
        for quick in (True, False):
            keys = [task.key for task in module.tasks(quick)]
            assert len(keys) == len(set(keys))


def test_quick_needs_no_folder_of_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CVXML_DATA", raising=False)
    command.check_data([task for module in MODULES.values() for task in module.tasks(True)])
    with pytest.raises(ValueError, match=r"ionosphere, letter.*CVXML_DATA"):
        command.check_data(gerrymandering.tasks(False))


def small(module: Any, method: str, **settings: Any) -> dict[str, Any]:
    """The result of a quick part whose method begins so, with other settings; checked to be JSON."""
    task = next(task for task in module.tasks(True) if task.method.startswith(method))
    result = module.measure(task._replace(settings={**task.settings, **settings}))
    assert json.loads(json.dumps(result)) == result
    return dict(result)


def test_parts_of_the_convex_methods() -> None:
    (claim,) = small(convex, "mmc:diagonal, cvxpy", points=24)["claims"]
    assert (claim["method"], claim["n"], claim["d"]) == ("mmc:diagonal", 24, 4)
    assert claim["rivals"][0]["gap"] <= 1e-5
    (grown,) = small(convex, "itml, growth", sizes=[30, 40])["growth"]
    assert grown["sizes"] == [30, 40]
    covered = {
        task.method.split(", ")[0] for task in convex.tasks(False) if task.settings["part"] == "growth"
    }
    assert covered == {*(method for method, _ in convex.examples()), *convex.ALONE}


@pytest.mark.slow
def test_parts_of_size() -> None:
    (claim,) = small(size, "lmnn", points=120)["claims"]
    assert (claim["n"], claim["rivals"]) == (120, [])
    assert float(claim["ours"][0]["reached"].removeprefix("gap ")) <= 1e-2
    drawn_here = Task(size.DRAWN, "mmc", 0, {"part": "solve", "points": 60, "gaps": [1e-2]})
    (claim,) = size.measure(drawn_here)["claims"]
    assert (claim["n"], claim["d"]) == (60, 30)
    (claim,) = small(size, "itml", points=40, pairs=100)["claims"]
    assert "100 pairs" in claim["timed"]
    (grown,) = small(size, "mmc, growth", sizes=[30, 40])["growth"]
    assert (grown["method"], grown["sizes"]) == ("mmc", [30, 40])
    y = np.repeat([0, 1], 30)
    pairs = np.concatenate(list(size.drawn(y, 200).values()))
    assert len(np.unique(pairs, axis=0)) == 200
    assert (pairs[:, 0] < pairs[:, 1]).all()


def test_parts_of_mlsvm() -> None:
    (claim,) = small(mlsvm, "mlsvm")["claims"]
    assert [rival["name"] for rival in claim["rivals"]] == ["cvxpy, CLARABEL", "cvxpy, SCS"]
    assert all(rival["gap"] <= 1e-4 for rival in claim["rivals"])
    (grown,) = small(mlsvm, "growth", sizes=[40, 60])["growth"]
    assert grown["method"] == "mlsvm"


@pytest.mark.slow
def test_parts_of_gerrymandering() -> None:
    (claim,) = small(gerrymandering, "step", n=14, forms=["generated"])["claims"]
    assert claim["rivals"][0]["gap"] <= 1e-5
    assert len(small(gerrymandering, "runs")["facts"]) == 2
    (grown,) = small(gerrymandering, "growth", sizes=[20, 30])["growth"]
    assert grown["method"] == "ssvm"


@pytest.mark.slow
def test_parts_of_glml() -> None:
    (claim,) = small(glml, "a query")["claims"]
    assert claim["rivals"][0]["gap"] <= 1e-6
    (claim,) = small(glml, "classify")["claims"]
    assert claim["rivals"][0]["same"] == pytest.approx(sum(each["seconds"] for each in claim["ours"]))


@pytest.mark.slow
def test_parts_of_nca() -> None:
    result = small(nca, "nca 2, scikit-learn", points=90)
    assert len(result["claims"][0]["rivals"]) == 2
    assert result["facts"][0].startswith("Memory, 2 components: ")
    grown = small(nca, "growth", sizes=[60, 90])["growth"]
    assert len({each["timed"] for each in grown}) == 3  # ours, in single precision, and scikit-learn's
    assert "scikit-learn" in grown[2]["timed"]
    run = nca.Timed([(1.0, 5.0), (2.0, 7.0)], 3.0, None)
    assert [run.until(f) for f in (5.0, 6.0, 8.0, None)] == [1.0, 2.0, None, None]
    assert nca.least([None, 3.0, 2.0]) == 2.0


@pytest.mark.slow
def test_a_part_has_a_process_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    result = isolated.alone("glml", next(task for task in glml.tasks(True) if task.method == "a query"))
    assert result["claims"]
    assert 0 < result["peak"] < 64
    assert result["cpu"] > 0
    assert result["wall"] > 0
    assert isolated.apart(os.getpid) != os.getpid()
    assert isolated.apart(os.getenv, "OMP_NUM_THREADS") == "1"
    monkeypatch.setattr(isolated, "apart", lambda call, *arguments: {"call": (call, *arguments)})
    assert isolated.alone("nca", Task("a", "b", 0, {})) == {
        "call": (isolated.part, "nca", Task("a", "b", 0, {}))
    }
    assert os.environ["OMP_NUM_THREADS"] == "3"
    assert "MKL_NUM_THREADS" not in os.environ


# --- metric-learn ---

PACKAGE = """
import numpy as np
class Learner:
    def __init__(self, **params): self.params = params
    def fit(self, X, y, bounds=None):
        self.n_iter_ = len(y)
        self.scale = 1.0 if bounds is None else float(bounds[0])
        return self
    def get_mahalanobis_matrix(self): return self.scale * np.eye(3)
ITML = LMNN = MMC = NCA = Learner
"""
PAIRS = "def wrap_pairs(X, pairs):\n    return X, [0] * sum(len(each) for each in pairs[::2])\n"


@pytest.fixture
def other_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This Python, with a metric_learn that returns a multiple of the identity."""
    (tmp_path / "metric_learn").mkdir()
    (tmp_path / "metric_learn" / "__init__.py").write_text(PACKAGE)
    (tmp_path / "metric_learn" / "constraints.py").write_text(PAIRS)
    (tmp_path / "metric_learn-0.7.0.dist-info").mkdir()
    (tmp_path / "metric_learn-0.7.0.dist-info" / "METADATA").write_text(
        "Name: metric-learn\nVersion: 0.7.0\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv(learners.PYTHON, sys.executable)


@pytest.mark.slow
@pytest.mark.usefixtures("other_python")
def test_a_learner_is_judged_by_our_certificate() -> None:
    euclid, tight = learners.rivals("lmnn", X, Y)
    ran = euclid.run()
    assert ran.metric is not None
    assert np.array_equal(ran.metric, np.eye(3))
    assert ran.said == "24 iterations"
    assert (euclid.settings, tight.settings) == ("defaults", "convergence_tol=1e-12")
    assert measure.certified("lmnn", X, Y).judge(ran.metric) > 0
    ran = learners.rivals("mmc", X, Y)[0].run()
    similar = sum(
        float((a - b) @ ran.metric @ (a - b)) for i, a in enumerate(X) for b in X[:i][Y[:i] == Y[i]]
    )
    assert similar == pytest.approx(1)
    assert ran.said == "276 iterations"  # every pair
    ran = learners.rivals("itml", X, Y)[0].run()
    assert ran.metric is not None
    squares = [float((a - b) @ (a - b)) for i, a in enumerate(X) for b in X[:i]]
    assert ran.metric[0, 0] == pytest.approx(np.percentile(squares, 5))


@pytest.mark.usefixtures("other_python")
def test_f_of_a_learner() -> None:
    ((found, f),) = nca.from_metric_learn(X, Y, 3, 1)
    assert f == pytest.approx(cvxml.evaluate("nca", X, Y, np.eye(3)).f)
    assert found["reached"] == f"f {f:.2f}, 24 iterations"


def test_a_learner_that_takes_too_long(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    slow = tmp_path / "slow.py"
    slow.write_text("import time; time.sleep(60)")
    monkeypatch.setattr(learners, "FIT", slow)
    monkeypatch.setattr(learners, "START", 10.0)
    monkeypatch.setenv(learners.PYTHON, sys.executable)
    ran = learners.run({"learner": "LMNN"}, -9.9, X, Y)
    assert ran.metric is None
    assert ran.said == "nothing within -10 s"
    monkeypatch.setattr(measure, "LIMIT", -9.9)
    ((found, f),) = nca.from_metric_learn(X, Y, 2, 1)
    assert (found["reached"], f) == ("nothing within -10 s", None)


# --- the command ---


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Parts that are done in no time and in this process; the keys of those that were."""
    done: list[str] = []

    def alone(name: str, task: Task) -> dict[str, Any]:
        done.append(f"{name}/{task.key}")
        return {"facts": [f"{name} was timed."], **USED}

    monkeypatch.setattr(isolated, "alone", alone)
    return done


def written() -> dict[str, str | None]:
    files = (ROOT / summary.PAGE, ROOT / summary.REPORT, command.RECORDED)
    return {path.name: path.read_text(encoding="utf-8") if path.exists() else None for path in files}


def test_quick_prints_and_writes_nothing(
    here: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    before = written()
    assert command.main(["--quick", "--only", "glml,nca"]) == 0
    assert written() == before
    assert list(tmp_path.iterdir()) == []
    text = capsys.readouterr().out
    assert text.startswith("# Speed\n")
    assert "validation.benchmarks --only glml,nca --quick`" in text
    assert "- nca was timed." in text  # the fact of the part above
    (line,) = [line for line in text.splitlines() if "metric-learn" in line]
    assert "not run" in line
    assert {key.split("/")[0] for key in here} == {"glml", "nca"}
    assert not any("metric-learn" in key for key in here)


@pytest.mark.slow
def test_a_run_goes_on_where_it_was_and_writes_when_all_is_there(
    here: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "check_data", lambda tasks: None)
    monkeypatch.setattr(command, "ROOT", tmp_path)
    monkeypatch.setattr(command, "RECORDED", tmp_path / "recorded.json")
    (tmp_path / "validation" / "benchmarks").mkdir(parents=True)
    (tmp_path / "docs").mkdir()
    (tmp_path / summary.PAGE).write_text(f"a\n{summary.BEGIN}\nold\n{summary.END}\nb\n", encoding="utf-8")
    folder = ["--folder", str(tmp_path / "results")]
    assert command.main(["--only", "nca", *folder]) == 0
    assert len(here) == 3  # 2 and 64 components, growth
    assert "no report" in capsys.readouterr().out
    assert not (tmp_path / "recorded.json").exists()
    assert command.main(folder) == 0
    assert len(here) == len(set(here))  # none of nca again
    recorded = json.loads((tmp_path / "recorded.json").read_text(encoding="utf-8"))
    assert [f"{each['benchmark']}/" for each in recorded["parts"]].count("nca/") == 3
    assert (tmp_path / summary.REPORT).read_text(encoding="utf-8") == "\n".join(page.report(recorded))
    text = (tmp_path / summary.PAGE).read_text(encoding="utf-8")
    assert text.startswith(f"a\n{summary.BEGIN}\n\n")
    assert "`python -m validation.benchmarks`" in text
    assert text.endswith(f"{summary.END}\nb\n")
    assert "old" not in text
    os.utime(tmp_path / summary.PAGE, (0, 0))
    assert command.main(["--render"]) == 0
    assert (tmp_path / summary.PAGE).read_text(encoding="utf-8") == text


def test_metric_learn_is_measured_where_a_python_has_it(here: list[str], tmp_path: Path) -> None:
    before = dict(os.environ)
    try:
        assert command.main(["--quick", "--only", "convex", "--learners", sys.executable]) == 0
        assert os.environ[learners.PYTHON] == str(Path(sys.executable).absolute())
    finally:
        os.environ.clear()
        os.environ.update(before)
    assert sum("metric-learn" in key for key in here) == 4


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--quick", "--learners", "no-such-python"], "--learners no-such-python"),
        (["--only", "gerrymandering"], "ionosphere, letter"),
    ],
)
def test_what_cannot_be_run_is_said(
    arguments: list[str], said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("CVXML_DATA", raising=False)
    assert command.main(arguments) == 2
    assert said in capsys.readouterr().err


def test_names_that_are_none(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        command.main(["--only", "mlsvm,svm"])
    assert "mlsvm,gerrymandering,glml,nca,convex" in capsys.readouterr().err


# --- the report, and docs/speed.md ---


def made() -> dict[str, Any]:
    """A record of two methods."""

    def rival(name: str, seconds: float, gap: float | None, same: float | None) -> dict[str, Any]:
        reached = "failed" if gap is None else f"gap {gap:.0e}"
        return {
            "name": name,
            "settings": "s",
            "seconds": seconds,
            "reached": reached,
            "gap": gap,
            "answered": gap is not None,
            "same": same,
        }

    own = [{"to": "1e-06", "seconds": 0.5, "reached": "gap 2e-07"}]
    claims = [
        {"method": "lmnn", "data": "iris", "n": 150, "d": 4, "timed": "t", "ours": own,
         "rivals": [rival("A", 1.0, 1e-8, 2.0)]},
        {"method": "lmnn", "data": "wine", "n": 178, "d": 13, "timed": "t", "ours": own,
         "rivals": [rival("A", 60.0, 1e-8, 1.5), rival("B", 1.0, 1e-2, 0.5), rival("C", 30.0, 1e-4, 1.0)]},
        {"method": "mcml", "data": "wine", "n": 178, "d": 13, "timed": "t", "ours": own,
         "rivals": [rival("A", 60.0, None, None)]},
    ]  # fmt: skip
    grown = {"method": "lmnn", "data": "b", "timed": "t", "sizes": [10, 100], "seconds": [0.01, 1.0]}
    results = {
        "convex": [
            (
                Task("iris", "lmnn, cvxpy", 0, {"part": "cvxpy"}),
                {"claims": claims, "growth": [grown], "facts": ["One fact."], **USED},
            )
        ]
    }
    return page.record("python -m validation.benchmarks", results, False)


def test_the_summary_has_the_best_alternative_of_the_largest_problem() -> None:
    lines = summary.summary(made())
    row = next(line for line in lines if line.startswith("| `lmnn` |"))
    assert (
        row
        == "| `lmnn` | wine, 178 x 13 | C (s) | 30.0 s | gap 1e-04 | 1.00 s | 30 | 0.5 to 40 | n^2.0 (10 to 100) |"
    )
    row = next(line for line in lines if line.startswith("| `mcml` |"))
    assert row == "| `mcml` | wine, 178 x 13 | A (s) | 60.0 s | failed | - | - | none solved | not run |"
    assert not any(line.startswith("| `itml` |") for line in lines)  # nothing of it was measured
    assert len({line.count("|") for line in lines}) == 1


def test_the_chart_has_the_ratios_of_alternatives_that_solve_the_problem(tmp_path: Path) -> None:
    """lmnn: 0.5 on iris; 40 and 30 on wine, where B does not solve it. mcml: no alternative solves it."""
    (span,) = summary.spans(made())
    assert span == ("lmnn", 0.5, 40.0, 30.0, "C")
    picture.ratios([span], tmp_path / "ratios.png")
    assert (tmp_path / "ratios.png").stat().st_size > 1000


def test_the_page_has_a_line_for_each_gap_of_what_is_large() -> None:
    recorded = made()
    (none,) = summary.sizes(recorded)
    assert not none.startswith("|")
    ours = [
        {"to": to, "seconds": took, "reached": f"gap {to}"} for to, took in (("1e-03", 5.0), ("1e-06", 9.0))
    ]
    claim = {"method": "lmnn", "data": "letter", "n": 4000, "d": 16, "ours": ours, "rivals": []}
    judged = {**claim, "timed": "solve; alone", "rivals": [{"name": "other"}]}
    results = {
        "size": [
            (Task("letter", "lmnn", 0, {}), {"claims": [{**claim, "timed": "solve; 1 GiB"}, judged], **USED})
        ]
    }
    lines = summary.sizes(page.record("c", results, False))
    assert lines[2:] == [
        "| `lmnn` | letter, 4000 x 16 | 1e-03 | 5.00 s | gap 1e-03 | 1 GiB |",
        "| `lmnn` | letter, 4000 x 16 | 1e-06 | 9.00 s | gap 1e-06 | 1 GiB |",
    ]


def test_the_report_has_every_claim() -> None:
    lines = page.report(made())
    assert sum(line.startswith("| `lmnn` | wine, 178 x 13 |") for line in lines) == 1 + 3
    assert "| `lmnn` | b: t | 10: 0.010 s, 100: 1.00 s | 2.00 |" in lines
    assert "- One fact." in lines
    assert any("0.50 GiB (iris, lmnn, cvxpy)" in line for line in lines)
    assert ", 2 minutes. python " in lines[2]
    assert any("90 % of wall" in line for line in lines)


def test_parts_of_several_days_are_dated_so_and_versions_are_not_mixed() -> None:
    task = Task("iris", "a", 0, {})

    def recorded(**changed: Any) -> dict[str, Any]:
        results = {"nca": [(task, {**USED, "date": "2026-01-04"}), (task, {**USED, **changed})]}
        return dict(page.record("c", results, False)["environment"])

    assert recorded()["date"] == "2026-01-02 to 2026-01-04"
    assert recorded(date="2026-01-04")["date"] == "2026-01-04"
    assert recorded()["versions"] == MADE["versions"]
    results = {"nca": [(task, dict(USED))]}
    plain, noted = (page.report(page.record("c", results, False, note)) for note in ("", "It rained."))
    assert [line for line in noted if line != "It rained."] == plain
    assert len(noted) == len(plain) + 1
    with pytest.raises(ValueError, match="different versions"):
        recorded(versions={"python": "3.11.1", "cvxml": "0.2.0"})


def test_methods_with_a_faster_alternative_are_named() -> None:
    recorded = made()
    assert summary.outrun(recorded) == ["lmnn"]  # on iris: 1 s, and ours 2 s
    assert "`lmnn`" in " ".join(summary.quoted(recorded)[:2])
    rivals = [rival for claim in recorded["parts"][0]["result"]["claims"] for rival in claim["rivals"]]
    for rival in rivals:
        rival["seconds"] = 100.0
    assert summary.outrun(recorded) == []


def test_the_page_quotes_the_record() -> None:
    text = (ROOT / summary.PAGE).read_text(encoding="utf-8")
    recorded = json.loads(command.RECORDED.read_text(encoding="utf-8")) if command.RECORDED.exists() else None
    assert summary.with_section(text, summary.quoted(recorded)) == text
    if recorded is not None:
        assert (ROOT / summary.REPORT).read_text(encoding="utf-8") == "\n".join(page.report(recorded))
    own = text.partition(summary.BEGIN)[0] + text.partition(summary.END)[2]
    assert not re.search(r"\d", own)  # no figure of another origin


def test_a_page_without_marks_is_refused() -> None:
    with pytest.raises(ValueError, match="each once"):
        summary.with_section("no marks", ["a"])
