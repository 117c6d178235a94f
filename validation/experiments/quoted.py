"""The figures that looks.py computed and remarks in the reports quote, in per cent."""

from __future__ import annotations

import json
from pathlib import Path

FILE = Path(__file__).with_name("quoted.json")
QUOTED: dict[str, dict[str, float]] = json.loads(FILE.read_text(encoding="utf-8"))
