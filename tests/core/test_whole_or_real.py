"""Numbers of a file that are written as integers: int64 as far as they fit."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pytest

import cvxml
from cvxml.core.files.arrays import whole_or_real


@pytest.mark.parametrize("value", [2**62, -(2**62), 0])
def test_integers_that_fit_are_integers(value: int) -> None:
    assert whole_or_real([value, 1], "y").dtype == np.int64


@pytest.mark.parametrize("value", [2**63, -(2**64), 2**70, 2**1000])
def test_larger_integers_keep_their_value(value: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = whole_or_real([value, 1], "y")
    assert found[0] == float(value)


@pytest.mark.parametrize("value", [2**63, 2**70, -(2**80)])
@pytest.mark.parametrize("field", ["y", "X"])
def test_a_large_integer_in_a_file_is_kept_or_refused(tmp_path: Path, field: str, value: int) -> None:
    X, y = np.array([[0.0], [1.0], [3.0], [5.0]]), [0, 0, 1, 1]
    cvxml.solve("rca", X, None, chunklets=y).save(path := tmp_path / "s.json")
    content = json.loads(path.read_text(encoding="utf-8"))
    content[field][0] = value if field == "y" else [value]
    path.write_text(json.dumps(content), encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            found = cvxml.load(path)
        except ValueError:
            return
    assert float(np.ravel(getattr(found, field))[0]) == float(value)
