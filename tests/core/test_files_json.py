"""Strict JSON is read back as it was, the rest refused; so with arrays and neighbours in it."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cvxml.core import files
from cvxml.core.files import strict_json
from tests.core.test_files import QUICK, attempt, put, refusal


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"a": NaN}', "NaN"),
        ("[Infinity]", "Infinity"),
        ("[-Infinity]", "-Infinity"),
        ("[1e999]", "1e999"),
        ("[-1e999]", "-1e999"),
        ("1" * 4301, "4300"),
        ("-" + "1" * 4301, "4300"),
        ('{"a": 1, "a": 1}', "'a'"),
        ('[{"b": {"a": 1, "a": 2}}]', "'a'"),
        ("[1] 2", "Extra data"),
        ("[1,]", ""),
        ("[1", ""),
        ('"open', ""),
        (b"[\xff]", "utf-8"),
        (b"\xff\xfe[\x001\x00]\x00", "UTF-16"),
        ('["a\nb"]', "control character"),
        ("[" * 100_000, "64"),
        ("[" * 65 + "]" * 65, "64"),
        ('{"a":' * 100_000, "64"),
        ('"\\""' + "[" * 100_000, "64"),
    ],
)
def test_json_refused(tmp_path: Path, text: str | bytes, reason: str) -> None:
    assert reason in refusal(files.read_json, put(tmp_path / "a.json", text))


def test_json_digits_are_limited_by_us(tmp_path: Path) -> None:
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        assert "4300" in refusal(files.read_json, put(tmp_path / "a.json", "1" * 4301))
    finally:
        sys.set_int_max_str_digits(before)


def test_json_lists_beside_each_other_are_not_depth(tmp_path: Path) -> None:
    assert files.read_json(put(tmp_path / "a.json", json.dumps([[{}]] * 200))) == [[{}]] * 200


def test_json_limits_are_reached(tmp_path: Path) -> None:
    deep = files.read_json(put(tmp_path / "a.json", "[" * 64 + "]" * 64))
    assert json.dumps(deep) == "[" * 64 + "]" * 64
    assert files.read_json(put(tmp_path / "a.json", "-" + "9" * 4300)) == -(10**4300 - 1)
    assert files.read_json(put(tmp_path / "a.json", "-1e-999")) == 0.0


def test_json_brackets_in_strings_are_not_depth(tmp_path: Path) -> None:
    value = ["[" * 1000, '\\"' + "{" * 1000, "\\"]
    assert files.read_json(put(tmp_path / "a.json", json.dumps(value))) == value


def test_json_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cvxml.core.files.strict_json.MAX_JSON_BYTES", 5)
    assert files.read_json(put(tmp_path / "a.json", "[1,2]")) == [1, 2]
    assert "5 bytes" in refusal(files.read_json, put(tmp_path / "a.json", "[1, 2]"))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@pytest.mark.slow
@QUICK
@given(value=JSON)
def test_json_round_trip(tmp_path: Path, value: object) -> None:
    files.write_json(tmp_path / "a.json", value)
    assert files.read_json(tmp_path / "a.json") == value


@QUICK
@given(text=st.text(alphabet='[]{}",:\\ 01eE.-naNtrufls', max_size=30))
def test_json_accepts_no_more_than_the_standard_library(tmp_path: Path, text: str) -> None:
    path = put(tmp_path / "a.json", text)
    expected, reason = attempt(lambda: json.loads(text))
    found, message = attempt(lambda: files.read_json(path))
    if message:
        assert reason or any(word in message for word in ("NaN", "repeated", "too large"))
    else:
        assert not reason
        assert found == expected


@pytest.mark.parametrize(
    "text",
    [
        "5",
        '"1"',
        "null",
        "[true]",
        "[null]",
        '["1"]',
        "[[1, 2], [3]]",
        "[1, [2]]",
        "[{}]",
        f"[1{'0' * 400}]",
        '{"Z": [1]}',
        "{}",
    ],
)
def test_json_array_refused(tmp_path: Path, text: str) -> None:
    assert "read" in refusal(files.read_array, put(tmp_path / "a.json", text))


def test_json_array_accepted(tmp_path: Path) -> None:
    path = put(tmp_path / "a.json", "[[1, 2.5], [-3, 4e0]]")
    array = files.read_array(path)
    assert array.tolist() == [[1.0, 2.5], [-3.0, 4.0]]
    assert array.dtype == np.float64
    put(path, '{"X": [[9]], "A": [[1, 2]], "note": "hello"}')
    assert files.read_array(path).tolist() == [[1.0, 2.0]]
    assert files.read_array(path, prefer=("X",)).tolist() == [[9.0]]


def test_neighbors(tmp_path: Path) -> None:
    path = put(tmp_path / "a.json", "[[1, 2], [], [0]]")
    assert files.read_neighbors(path) == [[1, 2], [], [0]]
    assert files.read_neighbors(put(path, '{"neighbors": [[1]], "k": 1}')) == [[1]]


@pytest.mark.parametrize(
    "text", ["[[true]]", "[[1.0]]", "[[-1]]", "[1]", "[[[1]]]", '["12"]', "{}", "3", "[[null]]"]
)
def test_neighbors_refused(tmp_path: Path, text: str) -> None:
    assert "row numbers" in refusal(files.read_neighbors, put(tmp_path / "a.json", text))


@pytest.mark.parametrize("item", ["[]", "{}", '"ab"', "[0]", "[[]]"])
def test_many_short_lists_and_texts_are_refused(item: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"[{','.join([item] * 2000)}]"
    strict_json.parse_json(text)
    monkeypatch.setattr(strict_json, "FREE_BYTES", 0)
    with pytest.raises(ValueError, match="short"):
        strict_json.parse_json(text)
    strict_json.parse_json(f"[{','.join(['[0.125, 1000]'] * 2000)}]")


def test_many_keys_are_refused() -> None:
    keys = ",".join(f'"{k}":":"' for k in range(strict_json.MAX_KEYS))
    assert len(strict_json.parse_json("{" + keys + "}")) == strict_json.MAX_KEYS
    with pytest.raises(ValueError, match="keys"):
        strict_json.parse_json("{" + keys + ',"a":0}')


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    """Notepad and PowerShell write one, also in front of JSON."""
    path = tmp_path / "a.json"
    path.write_text(
        '{"X": [[1.5, 2], [3, 4]], "y": ["a", "b"], "neighbors": [[1], [0]]}', encoding="utf-8-sig"
    )
    assert files.read_json(path)["y"] == ["a", "b"]  # type: ignore[index]
    assert files.read_neighbors(path) == [[1], [0]]
    assert files.read_array(path).tolist() == [[1.5, 2.0], [3.0, 4.0]]
    assert files.read_table(path)[1].tolist() == ["a", "b"]
    assert "UTF-16" in refusal(files.read_json, put(path, "[1]".encode("utf-16")))
