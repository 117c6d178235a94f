"""The embedded sets are what their definitions say, and the same every time."""

import gzip
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.error import URLError

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray
from scipy import sparse

from cvxml import datasets

SHAPES = {
    "iris": (150, 4, 3),
    "wine": (178, 13, 3),
    "breast_cancer": (569, 30, 2),
    "digits": (1797, 64, 10),
    "balance": (625, 4, 3),
    "rings": (400, 2, 3),
    "twonorm": (400, 20, 2),
    "waveform": (400, 21, 3),
}


@pytest.fixture(autouse=True)
def no_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CVXML_DATA", raising=False)


def test_names() -> None:
    assert datasets.names() == sorted(SHAPES)


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_and_types(name: str) -> None:
    X, y = datasets.load(name)
    n, d, classes = SHAPES[name]
    assert X.shape == (n, d)
    assert y.shape == (n,)
    assert X.dtype == np.float64
    assert X.flags.c_contiguous
    assert y.dtype == np.int64
    assert len(np.unique(y)) == classes
    again, labels = datasets.load(name)
    assert np.array_equal(again, X)
    assert np.array_equal(labels, y)


def test_loading_is_not_sharing() -> None:
    X, _ = datasets.load("balance")
    X[:] = 0
    assert datasets.load("balance")[0].min() == 1


def test_balance() -> None:
    X, y = datasets.load("balance")
    assert Counter(y.tolist()) == {-1: 288, 0: 49, 1: 288}
    assert X[[0, 1, 5, -1]].tolist() == [[1, 1, 1, 1], [1, 1, 1, 2], [1, 1, 2, 1], [5, 5, 5, 5]]
    assert X.tolist() == sorted(X.tolist())
    assert y[(X == [5, 5, 1, 1]).all(axis=1)].tolist() == [1]


def test_rings() -> None:
    X, y = datasets.rings(n=3000, seed=1)
    assert Counter(y.tolist()) == {0: 1000, 1: 1000, 2: 1000}
    radius = np.hypot(X[:, 0], X[:, 1])
    assert np.abs(radius - y - 1).max() < 0.5
    assert np.std(radius - y) == pytest.approx(0.1, rel=0.1)
    assert np.abs(X.mean(axis=0)).max() < 0.2


def test_twonorm() -> None:
    X, y = datasets.twonorm(n=20_000, seed=1)
    assert np.mean(y) == pytest.approx(0.5, abs=0.02)
    for label, side in ((0, 1.0), (1, -1.0)):
        cloud = X[y == label]
        assert np.allclose(cloud.mean(axis=0), side * 2 / np.sqrt(20), atol=0.05)
        assert np.allclose(np.cov(cloud.T), np.eye(20), atol=0.06)


def test_waveform() -> None:
    X, y = datasets.waveform(n=20_000, seed=1)
    places = np.arange(1, 22)
    first = np.maximum(6.0 - np.abs(places - 11), 0)
    later, earlier = np.roll(first, 4), np.roll(first, -4)
    assert np.argmax(later) == 14
    for label, (one, other) in enumerate([(first, later), (first, earlier), (later, earlier)]):
        cloud = X[y == label]
        assert len(cloud) / len(X) == pytest.approx(1 / 3, abs=0.02)
        assert np.allclose(cloud.mean(axis=0), (one + other) / 2, atol=0.09)
        # A uniform share u varies by 1/12 along the difference of the two triangles.
        variances = 1 + (one - other) ** 2 / 12
        assert np.allclose(cloud.var(axis=0), variances, rtol=0.12)


@pytest.mark.parametrize("make", [datasets.rings, datasets.twonorm, datasets.waveform])
def test_generators(make: datasets.Callable[..., datasets.Table]) -> None:
    assert make(n=1)[0].shape[0] == 1
    assert not np.array_equal(make(seed=1)[0], make(seed=2)[0])
    with pytest.raises(ValueError, match="n is 0"):
        make(n=0)


def test_generators_do_not_touch_the_global_stream() -> None:
    before = str(np.random.get_state(legacy=False))  # noqa: NPY002
    datasets.load("waveform")
    assert str(np.random.get_state(legacy=False)) == before  # noqa: NPY002


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("rings", [-0.883956, -0.317876]),
        ("twonorm", [1.57385, -0.632718]),
        ("waveform", [1.286129, 0.871773]),
    ],
)
def test_draws_are_frozen(name: str, start: list[float]) -> None:
    # Published numbers depend on these draws: change the set's name instead.
    assert datasets.load(name)[0][0, :2] == pytest.approx(start, abs=1e-6)


# --- the folder ---


def test_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CVXML_DATA", str(tmp_path))
    (tmp_path / "mine.csv").write_text("f0,f1,label\n1,2,a\n3,4,b\n")
    (tmp_path / "packed.csv.gz").write_bytes(gzip.compress(b"f0,label\n1,0\n2,1\n"))
    (tmp_path / "both.csv").write_text("f0,label\n1,0\n")
    (tmp_path / "both.csv.gz").write_bytes(gzip.compress(b"f0,label\n2,0\n"))
    (tmp_path / "balance.csv").write_text("f0,label\n1,0\n")
    (tmp_path / "notes.txt").write_text("x")
    (tmp_path / ".csv").write_text("x")
    assert datasets.names() == sorted([*SHAPES, "mine", "packed", "both"])
    X, y = datasets.load("mine")
    assert X.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert y.tolist() == ["a", "b"]
    assert datasets.load("packed")[1].tolist() == [0, 1]
    assert datasets.load("both")[0].tolist() == [[1.0]]
    assert len(datasets.load("balance")[0]) == 625


def test_unknown_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.csv").write_text("f0,label\n1,0\n")
    with pytest.raises(ValueError, match=r"'mine'.*balance") as caught:
        datasets.load("mine")
    assert ", mine" not in str(caught.value)
    monkeypatch.setenv("CVXML_DATA", str(tmp_path))
    with pytest.raises(ValueError, match=r"'other'.*balance.*, mine, "):
        datasets.load("other")


def test_no_name_leads_out_of_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "inside").mkdir()
    (tmp_path / "secret.csv").write_text("f0,label\n1,0\n")
    monkeypatch.setenv("CVXML_DATA", str(tmp_path / "inside"))
    for name in ("../secret", str(tmp_path / "secret")):
        with pytest.raises(ValueError, match=r"secret.*iris"):
            datasets.load(name)


def test_bad_folder_and_bad_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CVXML_DATA", str(tmp_path / "missing"))
    with pytest.raises(ValueError, match="CVXML_DATA"):
        datasets.names()
    assert len(datasets.load("balance")[0]) == 625
    monkeypatch.setenv("CVXML_DATA", str(tmp_path))
    (tmp_path / "bad.csv").write_text("f0,f1,label\n1,2\n")
    with pytest.raises(ValueError, match=r"bad\.csv.*line 2"):
        datasets.load("bad")


# --- openml.org ---


def fetching(monkeypatch: pytest.MonkeyPatch, answer: object) -> list[tuple[str, dict[str, Any]]]:
    """Let fetch_openml answer this, or raise it; returns the list of its calls."""
    calls: list[tuple[str, dict[str, Any]]] = []

    def fetch_openml(name: str, **options: Any) -> object:
        calls.append((name, options))
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch_openml)
    return calls


def bunch(target: object, X: object = ((1, 2), (3, 4)), categories: object = None) -> SimpleNamespace:
    """What fetch_openml answers, as far as it is looked at."""
    data = X if hasattr(X, "toarray") else np.array(X, dtype=np.float64)
    return SimpleNamespace(data=data, target=target, categories=categories or {})


@pytest.mark.parametrize(
    ("target", "labels", "kind"),
    [
        (np.array(["2", "-1"], dtype=object), [2, -1], "i"),
        (np.array(["g", "b"], dtype=object), ["g", "b"], "U"),
        (np.array(["1", "1.5"], dtype=object), ["1", "1.5"], "U"),
        (np.array([1.0, 3.0]), [1, 3], "i"),
        (np.array([1.0, 2.5]), [1.0, 2.5], "f"),
    ],
)
def test_openml(monkeypatch: pytest.MonkeyPatch, target: object, labels: list[object], kind: str) -> None:
    calls = fetching(monkeypatch, bunch(target))
    X, y = datasets.load("openml:some-set_1.2")
    assert X.tolist() == [[1, 2], [3, 4]]
    assert X.dtype == np.float64
    assert X.flags.c_contiguous
    assert y.tolist() == labels
    assert y.dtype.kind == kind
    datasets.load("openml:other:3")
    options = {"as_frame": False, "parser": "liac-arff"}  # which need no pandas
    assert calls == [("some-set_1.2", {"version": "active", **options}), ("other", {"version": 3, **options})]


def test_openml_sparse(monkeypatch: pytest.MonkeyPatch) -> None:
    fetching(
        monkeypatch, bunch(np.array(["a", "b"], dtype=object), sparse.csr_array([[0.0, 2.0], [1.0, 0.0]]))
    )
    assert datasets.load("openml:sparse")[0].tolist() == [[0, 2], [1, 0]]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (URLError("no route"), r"'openml:some'.*no route.*some\.csv.*CVXML_DATA"),
        (TimeoutError("timed out"), "connection"),
        (ValueError("gone"), "'openml:some'.*gone"),
        (IndexError("index -9223372036854775808"), "missing labels"),
        (bunch(None), "target"),
        (bunch(np.array([[1, 2], [3, 4]])), "target"),
        (bunch(np.array([1.0, np.nan])), "1 missing"),
        (bunch(np.array([1, 2]), [[1, np.nan], [np.nan, 4]]), "2 missing"),
        (bunch(np.array([1, 2]), categories={"sex": ["f", "m"]}), "1 features.*numbers.*'sex'"),
    ],
)
def test_openml_refuses(monkeypatch: pytest.MonkeyPatch, answer: object, message: str) -> None:
    fetching(monkeypatch, answer)
    with pytest.raises(ValueError, match=message):
        datasets.load("openml:some")


@pytest.mark.parametrize(
    "name", ["openml:", "openml::1", "openml:a:", "openml:a:0", "openml:a:-1", "openml:a:1:2"]
)
def test_openml_bad_names(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    calls = fetching(monkeypatch, bunch(None))
    with pytest.raises(ValueError, match="openml:NAME:VERSION"):
        datasets.load(name)
    assert calls == []


# --- helpers ---


@settings(max_examples=60, deadline=None)
@given(
    X=hnp.arrays(
        np.float64,
        hnp.array_shapes(min_dims=2, max_dims=2, max_side=6),
        elements=st.floats(-1e6, 1e6).map(lambda value: round(value, 3)),
    )
)
def test_standardize(X: NDArray[np.float64]) -> None:
    before = X.copy()
    Z = datasets.standardize(X)
    constant = np.ptp(X, axis=0) == 0
    assert np.allclose(Z.mean(axis=0), 0, atol=1e-6)
    assert np.allclose(Z.std(axis=0)[~constant], 1)
    assert np.all(Z[:, constant] == 0)
    assert np.array_equal(X, before)


def test_standardize_known_values() -> None:
    Z = datasets.standardize([[1, 0.1], [3, 0.1], [5, 0.1]])
    assert np.allclose(Z[:, 0], np.array([-1, 0, 1]) * np.sqrt(1.5))
    assert Z[:, 1].tolist() == [0.0, 0.0, 0.0]
    # Whose mean is not exactly 0.1, which must not be blown up to ones.
    assert not datasets.standardize(np.full((10, 1), 0.1)).any()
    assert datasets.standardize([[0.0], [1e-320]]).tolist() == [[-1.0], [1.0]]
    assert datasets.standardize([[-1.7e308], [1.7e308]]).tolist() == [[-1.0], [1.0]]


@pytest.mark.parametrize("factor", [2.0**-1000, 2.0**-540, 2.0**500, 2.0**1020])
def test_standardized_features_have_no_unit(factor: float) -> None:
    """A power of two changes no digit, however large or small the feature is."""
    X = np.random.default_rng(0).standard_normal((30, 2))
    assert np.array_equal(datasets.standardize(X * [factor, 1.0]), datasets.standardize(X))


@pytest.mark.parametrize(
    ("X", "said"),
    [
        ([1.0, 2.0], r"shape \(2,\)"),
        (np.zeros((0, 2)), r"shape \(0, 2\)"),
        ([[np.nan]], "1 entries.*nan at row 0, column 0"),
        ([[1.0, 0.0], [2.0, np.inf]], "inf at row 1, column 1"),
    ],
)
def test_standardize_refuses(X: object, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        datasets.standardize(X)  # type: ignore[arg-type]


def test_subsample() -> None:
    X, y = datasets.load("balance")
    order = np.random.RandomState(5).permutation(625)[:40]
    few, labels = datasets.subsample(X, y, 40, seed=5)
    assert np.array_equal(few, X[order])
    assert np.array_equal(labels, y[order])
    order = np.random.RandomState(0).permutation(625)[:9]
    assert np.array_equal(datasets.subsample(X, y, 9)[0], X[order])
    assert sorted(datasets.subsample(X, y, 625)[0].tolist()) == X.tolist()


@pytest.mark.parametrize(("n", "labels"), [(0, 4), (-1, 4), (5, 4), (2, 3)])
def test_subsample_refuses(n: int, labels: int) -> None:
    with pytest.raises(ValueError, match="of 4 rows"):
        datasets.subsample(np.zeros((4, 2)), np.zeros(labels), n)


@pytest.mark.parametrize(
    ("lines", "advice"),
    [
        (["0,1.5,a", "1,2.5,b", "2,3.5,a", "3,0.5,b"], {"index": ("yes", "no")}),
        (["1.5,1,a", "2.5,NA,b", "1,2,a"], {"drop": ("1",)}),
        (["u,v,label", "1.5,3,a", "2.5,x2,b", "1,4,a"], {"drop": ("v",)}),
        (["1,2.5,1", "2,0.25,2", "1,3.75,1", "2,0.5,2"], {"label": ("first", "last")}),
    ],
)
def test_a_message_on_a_file_names_parameters_of_python(
    tmp_path: Path, lines: list[str], advice: dict[str, tuple[str, ...]]
) -> None:
    """Each piece of advice can be given to `read` as it stands; options of the command line do not appear."""
    path = tmp_path / "points.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"points\.csv") as caught:
        datasets.read(path)
    assert "--" not in str(caught.value)
    for name, values in advice.items():
        assert name in str(caught.value)
        for value in values:
            given: dict[str, Any] = {name: value}
            assert len(datasets.read(path, **given)[0]) >= 3


@pytest.mark.parametrize("name", [Path("t.csv"), Path("iris"), None, 3, b"iris", ["iris"]], ids=str)
def test_a_set_is_named_by_a_text(name: Any) -> None:
    with pytest.raises(ValueError, match=r"^name .*\bcvxml\.datasets\.read\b"):
        datasets.load(name)


def test_the_message_on_an_option_that_a_set_does_not_take_names_the_parameter() -> None:
    for asked in ({"drop": "a"}, {"encoding": "latin-1"}, {"label": "first", "drop": ["a"]}):
        with pytest.raises(ValueError, match="file") as refused:
            datasets.load("iris", **asked)  # type: ignore[arg-type]
        assert '"' not in str(refused.value)  # such as drop="out"
