"""Read strict JSON: values, and lists of neighbours.

Strict means: every number is finite, no key is repeated, and sizes and nesting are limited.
"""

from __future__ import annotations

import codecs
import json
import math
import os
import re
from typing import Any

from cvxml.core.files.common import FREE_BYTES, REMEDIES, Path, Unsettled, naming, open_regular
from cvxml.core.short_repr import printable

SOLUTION = "cvxml-solution"  # the field "format" of a saved solution

MAX_JSON_BYTES = 256 * 1024**2
MAX_DEPTH = 64  # nested brackets in JSON
MAX_DIGITS = 4300  # most digits of an integer
MAX_KEYS = 10**5  # of all objects together; a key takes up to 300 bytes
# Bytes that Python takes for a list with its first numbers, and for a short text. [] has 2 letters, and [0.1,0.2] has
# 9.
_LIST, _STRING = 96, 64
# Lists and texts may take FREE_BYTES plus this many bytes a letter. A number takes 32 bytes, and "0.1," has 4 letters.
BYTES_PER_LETTER = 10


def check_depth(text: str) -> None:
    """Raise ValueError for a JSON text that would take too much memory or recursion.

    Its brackets are nested deeper than MAX_DEPTH, it has more than MAX_KEYS keys, or its lists and texts take too much
    memory. The limit of the memory is FREE_BYTES, plus BYTES_PER_LETTER for each letter of the text.
    """
    depth, keys, in_string = 0, 0, False
    left = FREE_BYTES + BYTES_PER_LETTER * len(text)
    for match in re.finditer(r'\\.|["\[\]{}:]', text, re.DOTALL):
        token = match[0]
        if token == '"':
            in_string = not in_string
            left -= _STRING * in_string
        elif in_string:
            continue
        elif token in "[{":
            depth, left = depth + 1, left - _LIST
            if depth > MAX_DEPTH:
                raise ValueError(f"brackets are nested deeper than {MAX_DEPTH}")
        elif token in "]}":
            depth -= 1
        elif token == ":":
            keys += 1
            if keys > MAX_KEYS:
                raise ValueError(f"it has more than {MAX_KEYS} keys")
        if left < 0:
            raise ValueError(
                "it has so many short lists or texts that they would take over ten times its size in memory"
            )


def _constant(token: str) -> float:
    raise ValueError(f"{token} is not a JSON number")


def _float(token: str) -> float:
    value = float(token)
    if math.isinf(value):
        raise ValueError(f"{token[:40]} is too large for a float")
    return value


def _int(token: str) -> int:
    if len(token.lstrip("-")) > MAX_DIGITS:
        raise ValueError(f"an integer has more than {MAX_DIGITS} digits")
    return int(token)


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    result: dict[str, object] = {}
    for key, value in pairs:
        if key in result:
            raise ValueError(f"the key {key[:40]!r} is repeated")
        result[key] = value
    return result


def load_json(path: Path) -> Any:
    with open_regular(path) as stream:
        if os.fstat(stream.fileno()).st_size > MAX_JSON_BYTES:
            raise ValueError(f"it has more than {MAX_JSON_BYTES} bytes")
        return parse_json(_decoded(stream.read()))


def _decoded(content: bytes) -> str:
    """Return the text in UTF-8 bytes, without the byte order mark that some programs of Windows write.

    Raises ValueError for UTF-16 and other bytes.
    """
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise Unsettled("it is UTF-16, but JSON must be UTF-8; save it as UTF-8")
    return content.decode("utf-8-sig")


def parse_json(text: str, finite: bool = True) -> Any:
    """Return the value of a JSON text. Raises ValueError if it is not strict JSON.

    NaN and Infinity are allowed if `finite` is False.
    """
    check_depth(text)
    return json.loads(
        text,
        parse_constant=_constant if finite else float,
        parse_float=_float,
        parse_int=_int,
        object_pairs_hook=_unique,
    )


def read_json(path: Path) -> object:
    """Return the value in a strict UTF-8 JSON file of at most MAX_JSON_BYTES.

    Raises ValueError for NaN, infinities, numbers that overflow, integers of more than MAX_DIGITS digits, repeated
    keys, nesting deeper than MAX_DEPTH, or anything after the value.
    """
    with naming(path, "read", REMEDIES[".json"]):
        value: object = load_json(path)
        return value


def is_solution(value: object) -> bool:
    """Return True for the content of a file that `Solution.save` wrote."""
    return (
        isinstance(value, dict) and value.get("format") == SOLUTION and isinstance(value.get("params"), dict)
    )


def of_solution(value: Any, name: str) -> Any:
    """Return the parameter `name` of a saved solution, for example "triplets". Return other JSON values unchanged.

    Raises ValueError for a solution without this parameter, for example of a method that does not take it.
    """
    if not is_solution(value):
        return value
    found = value.get("neighbors") if name == "neighbors" else value["params"].get(name)
    if not found:
        what = f"a solution of {printable(value.get('method'), 40)}, and its params hold no {name}"
        raise Unsettled(f"it is {what}; give a file with {name}, or leave --{name.replace('_', '-')} out")
    return found


def read_neighbors(path: Path, name: str = "neighbors") -> list[list[int]]:
    """Return the lists of row numbers (from 0) in a JSON file.

    The file holds a list of lists, an object with a field `name` or "neighbors", or a saved solution with the
    parameter `name`. Raises ValueError for anything else, including booleans, floats and negative numbers.
    """
    with naming(path, "read", "give a JSON list of lists of row numbers, counted from 0"):
        value = of_solution(load_json(path), name)
        rows = value.get(name, value.get("neighbors")) if isinstance(value, dict) else value
        if not isinstance(rows, list):
            raise TypeError("it does not hold a list of lists")
        for place, row in enumerate(rows):
            if not isinstance(row, list) or not all(type(i) is int and i >= 0 for i in row):
                raise ValueError(f"entry {place} is not a list of row numbers")
        return rows
