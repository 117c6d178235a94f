"""The schemas of the package, ready to validate with."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources

from jsonschema import Draft202012Validator


@cache
def schema(name: str) -> Draft202012Validator:
    folder = "cases" if name == "case" else "schemas"
    text = resources.files("cvxml").joinpath(folder, f"{name}.schema.json").read_text(encoding="utf-8")
    Draft202012Validator.check_schema(json.loads(text))
    return Draft202012Validator(json.loads(text))
