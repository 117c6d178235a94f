"""Explanations that the reports give, and the figures of looks.py that they quote, in per cent.

remarks.json: experiment -> data set -> method or claim -> explanation, with figures as {LOOK|NAME|FORMAT}.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

FILE = Path(__file__).with_name("quoted.json")
QUOTED: dict[str, dict[str, float]] = json.loads(FILE.read_text(encoding="utf-8"))
REMARKS = FILE.with_name("remarks.json")


def remarks(experiment: str) -> dict[tuple[str, str], str]:
    """Return the explanations for an experiment, by data set and by method or claim, with their figures."""
    found = json.loads(REMARKS.read_text(encoding="utf-8"))[experiment]
    return {(data, of): filled(text) for data, texts in found.items() for of, text in texts.items()}


def filled(text: str) -> str:
    """Return an explanation with the figures of looks.py. KeyError for a figure that looks.py does not have."""
    return re.sub(r"\{(.*?)\|(.*?)\|(.*?)\}", lambda of: format(QUOTED[of[1]][of[2]], of[3]), text)
