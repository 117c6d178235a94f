"""Embedded data sets, and a folder of the user's own data sets.

"iris", "wine", "breast_cancer" and "digits" come from scikit-learn.

"balance", "rings", "twonorm" and "waveform" are computed here. The last three use numpy's RandomState. Its streams are
frozen, so they are the same everywhere.

The environment variable CVXML_DATA may name a folder of NAME.csv or NAME.csv.gz files with a header line and a column
"label". An embedded set of the same name has priority.

"openml:NAME" and "openml:NAME:VERSION" are fetched from openml.org by scikit-learn, which keeps a copy.

Examples
--------
from cvxml import datasets

X, y = datasets.load("wine")
X, y = datasets.subsample(datasets.standardize(X), y, 60)
print(X.shape, y.shape)  # -> (60, 13) (60,)
"""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cvxml.core import files
from cvxml.core.example import Drawn, Example
from cvxml.core.files.common import REMEDIES
from cvxml.core.inputs import did_you_mean
from cvxml.core.metric import units_of

SEED = 0
Table = tuple[NDArray[np.float64], NDArray[Any]]

_SKLEARN = ("breast_cancer", "digits", "iris", "wine")


def balance() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the grid {1..5}^4 in lexicographic order, X (625, 4), and y = sign(f0*f1 - f2*f3) (625,)."""
    grid = np.array(list(product(range(1, 6), repeat=4)), dtype=np.int64)
    y = np.sign(grid[:, 0] * grid[:, 1] - grid[:, 2] * grid[:, 3])
    return grid.astype(np.float64), y


def rings(n: int = 400, seed: int = SEED) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return noisy concentric circles, X (n, 2): row i has class y = i mod 3, on the circle of radius y + 1.

    Angles are uniform. The noise is normal with standard deviation 0.1 in each coordinate. n: number of points. Raises
    ValueError if n is below 1.
    """
    random = _random(n, seed)
    y = np.arange(n, dtype=np.int64) % 3
    angle = random.uniform(0.0, 2.0 * np.pi, size=n)
    circle = np.column_stack((np.cos(angle), np.sin(angle)))
    return (y[:, None] + 1) * circle + 0.1 * random.standard_normal((n, 2)), y


def twonorm(n: int = 400, seed: int = SEED) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return Breiman's twonorm, X (n, 20): all features are normal with variance 1.

    The mean of each feature is 2/sqrt(20) if y = 0, and -2/sqrt(20) if y = 1. Both classes are equally likely. Raises
    ValueError if n is below 1.
    """
    random = _random(n, seed)
    y = random.randint(2, size=n).astype(np.int64)
    mean = np.where(y == 0, 1.0, -1.0) * 2.0 / np.sqrt(20.0)
    return mean[:, None] + random.standard_normal((n, 20)), y


def waveform(n: int = 400, seed: int = SEED) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return Breiman's waveform, X (n, 21): random mixtures of two of three triangles, plus unit noise.

    The triangles max(6 - |i - c|, 0), i = 1..21, have centres 11, 15 and 7. Classes 0, 1 and 2, equally likely, mix the
    first two, the first and third, and the last two. Raises ValueError if n is below 1.
    """
    random = _random(n, seed)
    y = random.randint(3, size=n).astype(np.int64)
    share = random.uniform(size=(n, 1))
    places = np.arange(1, 22)
    triangles = np.array([np.maximum(6.0 - np.abs(places - c), 0.0) for c in (11, 15, 7)])
    first, second = triangles[[0, 0, 1]][y], triangles[[1, 2, 2]][y]
    return share * first + (1.0 - share) * second + random.standard_normal((n, 21)), y


def _random(n: int, seed: int) -> np.random.RandomState:
    if n < 1:
        raise ValueError(f"n is {n}, but it must be at least 1")
    return np.random.RandomState(seed)


_MADE: dict[str, Callable[[], Table]] = {
    "balance": balance,
    "rings": rings,
    "twonorm": twonorm,
    "waveform": waveform,
}


def stored_files() -> dict[str, str]:
    """Return {name of a set: path of its file} for the folder CVXML_DATA; {} if the variable is not set.

    Raises ValueError for an unreadable folder.
    """
    folder = os.environ.get("CVXML_DATA")
    if not folder:
        return {}
    try:
        entries = sorted(os.listdir(folder), reverse=True)
    except OSError as error:
        message = (
            f"the environment variable CVXML_DATA names {folder!r}, not a readable folder; change or unset it"
        )
        raise ValueError(message) from error
    found = {}
    for entry in entries:  # in this order NAME.csv comes after NAME.csv.gz, and replaces it
        for ending in (".csv.gz", ".csv"):
            if entry.endswith(ending) and entry != ending:
                found[entry.removesuffix(ending)] = os.path.join(folder, entry)
                break
    return found


def names() -> list[str]:
    """Return the sorted names of the embedded sets and of those in the folder CVXML_DATA; `load` accepts them.

    Raises ValueError if CVXML_DATA is set to something that is not a readable folder.
    """
    return sorted({*_SKLEARN, *_MADE, *stored_files()})


def load(
    name: str,
    *,
    label: str | int | None = None,
    header: str | bool | None = None,
    index: str | bool | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    drop: str | int | Sequence[str | int] | None = None,
) -> Table:
    """Return the named set: X (n, d) float64 and y (n,), int64, float64 or str.

    name: one of `names`, or "openml:NAME" or "openml:NAME:VERSION", which needs an internet connection the first time.
    label, header, index, separator, decimal, encoding, drop: for a file in the folder CVXML_DATA only: which column
        holds the labels, and the format of the file. `read` describes them.

    Raises ValueError for an unknown name, an unusable file or set, or no network, and ImportError for the sets of
    scikit-learn if it is not installed.
    """
    with _options_of_python():
        return find(name, files.settled(label, header, index, separator, decimal, encoding, drop))[:2]


def read(
    path: str | os.PathLike[str],
    *,
    label: str | int | None = None,
    header: str | bool | None = None,
    index: str | bool | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    drop: str | int | Sequence[str | int] | None = None,
) -> Table:
    """Return the table in a file: X (n, d) float64 and y (n,), int64, float64 or str.

    .npz and .json hold X and y. In .npy and in lines of cells (.csv, .tsv, .txt, .data, with or without .gz), the
    labels are a column. A file that can be read in two ways is refused; the message names the option that decides.

    Labels that are whole numbers are int64. They stay text if one of them has a leading zero or more than 18 digits, or
    if two texts are the same number. For example, 01 and 02 stay text, and +1 and 1 stay text. Lines above the data
    that begin with # are comments; a comment with as many cells as the data names the columns.

    label: the column of the labels: "first", "last", a name in the header, or a number from 0 on, without the index. By
        default, the first of these that applies. (1) The column named label. (2) The column named labels, class,
        classes, target or species. (3) The only column of words, unless the last column looks like classes. (4) The
        last column, if its name is y, or if it looks like classes and the first does not. (5) The first column, if its
        name is y and only it looks like classes. Otherwise the file is refused. A column looks like classes if it holds
        whole numbers, two or more different ones, each at least twice on average.
    header: "yes" or "no": does the first line name the columns? By default, a first line without any number is a
        header, and a first line of numbers is data. But a line of numbers is refused if it counts (0, 1, 2, ...), or is
        the only line of whole numbers. It is also refused if in every column it is outside the range of the lines below
        it.
    index: "yes": the first column numbers or names the rows, and is no feature. With "no" it is a feature. By default a
        file is refused if its first column may be either. True and False are allowed too, here and for header.
    separator: "comma", "semicolon", "tab" or "space"; default: found from the file.
    decimal: "point" or "comma"; default: either, but not both.
    encoding: the encoding of a text file; default: UTF-8.
    drop: columns that are left out of the features: a list, or a text with commas. Each is given like `label`.

    Raises ValueError for a file that cannot be read, or that can be read in two ways.
    """
    with _options_of_python():
        asked = files.settled(label, header, index, separator, decimal, encoding, drop)
        return files.load_table(path, asked)[:2]


OPTION = re.compile(r"--(label|header|index|separator|decimal|encoding|drop)\b(?: ([\w.-]+(?:,[\w.-]+)*))?")
VALUES = ("yes", "no", "first", "last", "comma", "semicolon", "tab", "space", "point")


@contextmanager
def _options_of_python() -> Iterator[None]:
    """Turn an error about a file into one that names the parameters of `read`, in place of command-line options."""
    try:
        yield
    except ValueError as error:
        raise ValueError(OPTION.sub(_as_parameter, str(error))) from error


def _as_parameter(found: re.Match[str]) -> str:
    """Return the parameter for an option that was found in a message, for example index="yes" for --index yes.

    If the next word is no value of the option, only the dashes are removed.
    """
    name, word = found.groups()
    value = word in VALUES or (name in ("drop", "encoding") and word not in (None, "and", "or", "to", "out"))
    if word is None:
        return name
    return f'{name}="{word}"' if value else f"{name} {word}"


def find(name: str, asked: files.Settled = files.NOTHING) -> files.Table:
    """Return the set `name` as a `files.Table`: X, y, and a text that says where the labels were.

    name: one of `names`, or "openml:NAME". Any other value, such as a Path, is refused.
    asked: the options of `read` (column of the labels, header, separator ...), for a file in the folder CVXML_DATA
        only.

    Raises ValueError for an unknown name, for options with a set that is not a file, and for a file or set that cannot
    be used.
    """
    _refuse_no_text(name)
    stored = stored_files() if not name.startswith("openml:") and name not in (*_MADE, *_SKLEARN) else {}
    if name in stored:
        return files.load_table(stored[name], asked)
    given = [option for option, value in asdict(asked).items() if value is not None]
    if given:
        raise ValueError(
            f"{name!r} is not a file: leave --{' and --'.join(given)} out, or give a file such as .csv"
        )
    return files.Table(*_embedded(name), "the set")


def _refuse_no_text(name: object) -> None:
    if not isinstance(name, str):
        kind = "a path" if isinstance(name, os.PathLike) else repr(name)[:40]
        raise ValueError(
            f"name must be a text, the name of a data set such as 'iris', got {kind}; cvxml.datasets.read reads a "
            "file, and cvxml.datasets.names lists the sets"
        )


def _embedded(name: str) -> Table:
    if name.startswith("openml:"):
        return _openml(name)
    if name in _MADE:
        return _MADE[name]()
    if name in _SKLEARN:
        loader = getattr(importlib.import_module("sklearn.datasets"), f"load_{name}")
        X, y = loader(return_X_y=True)
        return np.array(X, dtype=np.float64, order="C"), np.array(y, dtype=np.int64)
    if name.lower().endswith(tuple(REMEDIES)):
        raise ValueError(f"{name!r} is the name of a file: cvxml.datasets.read reads one")
    known = names()
    beside = [
        each for each in os.listdir() if each.startswith(name + ".")
    ]  # the user may have left out the ending of a file
    near = f"; did you mean {min(beside)!r}?" if beside else did_you_mean(name, known)
    raise ValueError(
        f"{name!r} is not a data set; the sets are {', '.join(known)}, and openml:NAME; for a file, give the "
        f"ending too{near}"
    )


def _openml(name: str) -> Table:
    """Return the points and labels of a set from openml.org. name: "openml:NAME" or "openml:NAME:VERSION".

    Raises ValueError if there is no such set, or no connection to openml.org. Raises ValueError also if the set has a
    feature that is not a number, a missing value, or not exactly one label for each row.
    """
    title, _, version = name.removeprefix("openml:").partition(":")
    number = int(version) if version.isascii() and version.isdigit() else 0
    if not title or (":" in name.removeprefix("openml:") and number < 1):
        raise ValueError(
            f"{name!r} names no set; give openml:NAME, or openml:NAME:VERSION with a version from 1 on"
        )
    fetch = importlib.import_module("sklearn.datasets").fetch_openml
    try:
        found = fetch(title, version=number or "active", as_frame=False, parser="liac-arff")
    except OSError as error:
        raise ValueError(
            f"{name!r} was not fetched ({error}): this needs a connection to openml.org; or put {title}.csv (header "
            f'line, label last) in a folder, let CVXML_DATA name the folder, and load "{title}"'
        ) from error
    except IndexError as error:  # scikit-learn looks up a missing label among the classes
        raise ValueError(f"{name!r} has missing labels; give a complete set") from error
    except ValueError as error:
        raise ValueError(f"{name!r} cannot be used: {error}") from error
    if found.categories:
        some = ", ".join(map(repr, sorted(found.categories)[:3]))
        raise ValueError(
            f"{name!r} has {len(found.categories)} features that are not numbers ({some}); encode them as numbers first"
        )
    if found.target is None or np.ndim(found.target) != 1:
        raise ValueError(f"{name!r} has no target, or more than one; give a set with one label for each row")
    X = np.array(
        found.data.toarray() if hasattr(found.data, "toarray") else found.data, dtype=np.float64, order="C"
    )
    y = _labels(np.asarray(found.target))
    missing = int(np.count_nonzero(~np.isfinite(X))) + int(y.dtype == np.float64 and (~np.isfinite(y)).sum())
    if np.asarray(found.target).dtype.kind == "O":  # NaN is different from itself
        missing += sum(label is None or label != label for label in found.target)
    if missing:
        raise ValueError(
            f"{name!r} has {missing} missing values; give a complete set, or fill in the values first"
        )
    return X, y


def _labels(target: NDArray[Any]) -> NDArray[Any]:
    """Return the labels (n,) as int64, float64 or str.

    Labels that are text become int64 if all are plain integers (`files.integers`), and stay text otherwise; 01 stays
    text. Labels that are numbers become int64 if all are whole and at most 2^53 in size, and float64 otherwise.
    """
    if target.dtype.kind in "OUS":
        texts = [str(label) for label in target]
        integers = files.integers(texts)
        return np.array(texts) if integers is None else integers
    numbers = target.astype(np.float64)
    whole = np.isfinite(numbers).all() and np.all(
        (numbers == np.round(numbers)) & (np.abs(numbers) <= 2.0**53)
    )
    return numbers.astype(np.int64) if whole else numbers


def standardize(X: ArrayLike) -> NDArray[np.float64]:
    """Return X (n, d) with columns of mean 0 and standard deviation 1 (ddof 0); constant columns become 0.

    Raises ValueError unless X is two-dimensional and finite with at least one row.
    """
    values = np.asarray(X, dtype=np.float64)
    if values.ndim != 2 or len(values) == 0:
        raise ValueError(f"X has shape {values.shape}, but must be (n, d), n >= 1; give rows of features")
    wrong = np.argwhere(~np.isfinite(values))
    if len(wrong):
        (row, column), value = wrong[0], values[tuple(wrong[0])]
        raise ValueError(
            f"X has {len(wrong)} entries that are not finite, the first {value} at row {row}, column {column}; "
            "clean it first"
        )
    # Division by a power of two is exact. It keeps the squares of huge and of tiny numbers in the range of floats.
    values = values / units_of(values)
    # The computed spread of equal numbers may be a rounding error.
    varies = values.max(axis=0) > values.min(axis=0)
    centred = values - values.mean(axis=0)
    return np.where(varies, centred / np.where(varies, values.std(axis=0), 1.0), 0.0)


def overlapping(
    seed: int, n: int = 40, d: int = 5, classes: int = 3
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return Gaussian classes, X (n, d): row i has class y = i mod `classes`, and its first feature has the mean y.

    All other features have mean 0, and all features have variance 1. Another version of numpy may draw other numbers.
    n: number of points. d: number of features. classes: number of classes.
    """
    y = np.arange(n, dtype=np.int64) % classes
    X = np.random.default_rng(seed).standard_normal((n, d))
    X[:, 0] += y
    return X, y


def of_example(example: Example) -> Table:
    """Return the points X (n, d) and the labels y (n,) of an example.

    example: one of the small problems that each method lists for its tests (`Method.EXAMPLES`).
    """
    points = example.points
    if isinstance(points, Drawn):
        X, y = overlapping(*points[:4])
        if points.degenerate:
            X[:, -2], X[:, -1] = X[:, 0], 1.0
        return X, y
    X, y = load(points.name)
    if points.n is not None:
        X, y = subsample(X, y, points.n)
    return (X if points.raw else standardize(X)), y


def subsample(X: NDArray[Any], y: NDArray[Any], n: int, seed: int = 0) -> Table:
    """Return the first n rows of X (m, d) and y (m,) in the order of RandomState(seed).permutation(m).

    X: (m, d).
    y: (m,).
    n: number of rows, from 1 to m.

    Raises ValueError if X and y differ in length or n is not in 1..m.
    """
    if len(X) != len(y) or not 1 <= n <= len(X):
        message = f"{n} of {len(X)} rows with {len(y)} labels asked for; give 1 <= n <= rows"
        raise ValueError(message)
    chosen = np.random.RandomState(seed).permutation(len(X))[:n]
    return X[chosen], y[chosen]
