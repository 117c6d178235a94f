"""The options that name data, parameters and a metric, and what becomes of them: for solve, check and evaluate."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from cvxml.core.files import Table

_PARAMS = (
    "lam",
    "n_neighbors",
    "neighborhood",
    "kernel",
    "degree",
    "gamma",
    "C",
    "alpha",
    "model",
    "n_components",
    "criterion",
    "mu",
)
_SHOWN = 8  # classes, in the line that says what was read
_LETTERS = 24  # of a label there


def add_problem(command: argparse.ArgumentParser) -> None:
    """Add the options that say what problem of which data is meant."""
    command.add_argument("method", help="an id that `cvxml list` shows")
    command.add_argument("data", metavar="DATA", help=".csv, .npz, .npy or .json file, or an embedded set")
    command.add_argument(
        "--label",
        metavar="WHICH",
        help="column of the labels: first, last, a name of the header, or a number from 0 on, without the index "
        "(default: the one named label, class, target or species, or the only one of words, or the last where it "
        "looks like classes and the first does not)",
    )
    command.add_argument(
        "--header", metavar="yes|no", help="whether the first line is one (default: yes if it has no number)"
    )
    command.add_argument(
        "--index",
        metavar="yes|no",
        help="whether the first column only numbers or names the rows: it is left out",
    )
    command.add_argument("--standardize", action="store_true", help="z-score the features first")
    command.add_argument("--lam", type=float)
    command.add_argument("--n-neighbors", type=int)
    command.add_argument("--neighborhood", help="knn or per-class")
    command.add_argument("--neighbors", metavar="FILE", help="explicit lists: JSON, one list a point")
    command.add_argument("--kernel", help="poly or rbf (kernel_mlsvm)")
    command.add_argument("--degree", type=int)
    command.add_argument("--gamma", type=float)
    command.add_argument("--C", type=float, help="weight of the losses (ssvm, frobmetric)")
    command.add_argument(
        "--loss-matrix", metavar="FILE", help="cost of each mistake (ssvm): .npy, .npz, .csv or .json"
    )
    command.add_argument(
        "--query",
        metavar="X",
        help="where a local metric is wanted (glml): numbers with commas, or a file (q, d)",
    )
    command.add_argument("--alpha", type=float, help="added to the diagonal of the covariances (glml)")
    command.add_argument("--priors", help="empirical, or numbers with commas (glml)")
    command.add_argument("--model", help="gaussian or mixture (glml)")
    command.add_argument(
        "--n-components", type=int, help="of the mixture of a class (glml); rank of the metric (nca)"
    )
    command.add_argument("--criterion", help="f or g (nca)")
    command.add_argument(
        "--similarity", metavar="FILE", help="who is right for whom, in place of classes (nca)"
    )
    command.add_argument("--mu", type=float, help="weight of the impostors (lmnn)")
    command.add_argument("--targets", metavar="FILE", help="explicit targets: JSON, one list a point (lmnn)")
    command.add_argument(
        "--triplets", metavar="FILE", help="explicit triplets: JSON, rows of i, j, l (frobmetric)"
    )
    command.add_argument(
        "--pairs",
        metavar="FILE",
        help='JSON {"similar": [[i, j], ...], "dissimilar": ...} in place of labels (itml, mmc, dml_eig)',
    )
    command.add_argument("--prior", help="identity, covariance, or a file with a matrix (itml)")
    command.add_argument(
        "--bounds", metavar="U,L", help="of squared distances, similar and dissimilar (itml)"
    )
    command.add_argument("--json", action="store_true", help="JSON on stdout")


def add_candidate(command: argparse.ArgumentParser) -> None:
    """Add the options that name a metric."""
    command.add_argument("--metric", metavar="FILE", help="psd matrix: .npy, .npz, .csv or .json")
    command.add_argument("--components", metavar="FILE", help="L with metric L^T L")


def problem(parsed: argparse.Namespace) -> tuple[Any, Any, dict[str, Any]]:
    """X, y and the parameters; what was read of the data is said in one line on the standard error."""
    from cvxml import datasets
    from cvxml.core.files import load_table, read_array, read_json, read_neighbors

    asked = {name: getattr(parsed, name) for name in ("label", "header", "index")}
    place = Path(parsed.data)
    is_file = not parsed.data.startswith("openml:") and (place.suffix or place.exists())
    table = load_table(parsed.data, **asked) if is_file else datasets.find(parsed.data, **asked)
    X, y = table.X, table.y
    if parsed.standardize:
        X = datasets.standardize(X)
    params = {name: getattr(parsed, name) for name in _PARAMS if getattr(parsed, name) is not None}
    if parsed.neighbors:
        params["neighbors"] = read_neighbors(parsed.neighbors)
    if parsed.targets:
        params["targets"] = read_neighbors(parsed.targets)
    if parsed.triplets:
        params["triplets"] = read_json(parsed.triplets)
    if parsed.pairs:
        params["pairs"] = read_json(parsed.pairs)
    if parsed.prior:
        is_file = parsed.prior not in ("identity", "covariance")
        params["prior"] = read_array(parsed.prior, square=True) if is_file else parsed.prior
    if parsed.bounds:
        params["bounds"] = _numbers(parsed.bounds, "--bounds")
    if parsed.loss_matrix:
        params["loss_matrix"] = read_array(parsed.loss_matrix, square=True)
    if parsed.similarity:
        params["similarity"] = read_array(parsed.similarity, square=True)
    if parsed.query:
        is_file = any(map(str.isalpha, Path(parsed.query).suffix))
        params["query"] = read_array(parsed.query) if is_file else _numbers(parsed.query, "--query")
    if parsed.priors:
        params["priors"] = (
            "empirical" if parsed.priors == "empirical" else _numbers(parsed.priors, "--priors")
        )
    # flushed at once, so that no other output comes before it
    sys.stderr.write(_what_was_read(parsed.data, table, parsed.standardize) + "\n")
    sys.stderr.flush()
    return X, y, params


def _what_was_read(source: str, table: Table, standardized: bool) -> str:
    (n, d), y = table.X.shape, table.y
    if y.dtype.kind == "f" and not np.array_equal(y, np.round(y)):
        labels = f"{len(np.unique(y))} different numbers"
    else:
        classes, counts = np.unique(y, return_counts=True)
        shown = [
            f"{_short(name)} {count}" for name, count in zip(classes[:_SHOWN].tolist(), counts, strict=False)
        ]
        more = [f"and {len(classes) - _SHOWN} more"] if len(classes) > _SHOWN else []
        labels = f"{len(classes)} {'class' if len(classes) == 1 else 'classes'}: {', '.join([*shown, *more])}"
    return (
        f"data: {' '.join(source.split())}: {n} points, {d} {'feature' if d == 1 else 'features'}; labels in "
        f"{table.where}, {labels}; {'standardized' if standardized else 'not standardized'}"
    )


def _short(label: object) -> str:
    """A label as it is, but for what would not be seen, or too much of it."""
    text = str(label)
    text = text if text.isprintable() else repr(text)
    return text if len(text) <= _LETTERS else text[: _LETTERS - 3] + "..."


def _numbers(text: str, name: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(f"{name} takes numbers with commas between them, got {text!r}") from None


def candidate(parsed: argparse.Namespace) -> dict[str, Any]:
    """The metric or the components, as far as they are given."""
    from cvxml.core.files import read_array

    given = {name: getattr(parsed, name) for name in ("metric", "components") if getattr(parsed, name)}
    return {name: read_array(path, square=name == "metric") for name, path in given.items()}


def check_out(option: str, path: str, endings: Sequence[str] = ()) -> None:
    """Before any work: the folder is there and may be written to, and the ending is known."""
    from cvxml.core.files import check_writable

    if endings and Path(path).suffix not in endings:
        raise ValueError(f"{option} {path}: the name must end in {' or '.join(endings)}")
    folder = os.path.dirname(os.path.realpath(path))
    if not os.path.isdir(folder):
        raise ValueError(f"{option} {path}: there is no folder {folder}; make it first, or name another")
    check_writable(path)
