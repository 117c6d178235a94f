"""The words of the reports are data: words/NAME.toml has the texts, presets, claims and remarks of an experiment.

In a text `{name}` is what the code gives, and `{QUOTED[look][name]:.1f}` a figure of looks.py, in per cent.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from validation.experiments.tasks import Preset

FOLDER = Path(__file__).with_name("words")
FILE = FOLDER.with_name("quoted.json")
QUOTED: dict[str, dict[str, float]] = json.loads(FILE.read_text(encoding="utf-8"))
BLOCK = re.compile(r"\{(\w+)\}")  # alone on its line


class Words:
    """The content of words/NAME.toml. KeyError for a text or a figure that is not there."""

    def __init__(self, experiment: str):
        self.found: dict[str, Any] = tomllib.loads(
            (FOLDER / f"{experiment}.toml").read_text(encoding="utf-8")
        )

    def __call__(self, name: str, /, **given: object) -> str:
        """Return a text, filled in. "part.name" is the text `name` of the table `part`."""
        return filled(self.text(name), **given)

    def text(self, name: str) -> str:
        """Return a text as it is stored."""
        found: Any = self.found
        for key in name.split("."):
            found = found[key]
        return str(found)

    def page(self, name: str, /, **given: object) -> list[str]:
        """Return an empty line and the lines of a text.

        A list in `given` takes the place of its line `{name}`. An empty list takes that line away, and the empty line
        before it.
        """
        lines = [""]
        for line in self.text(name).strip("\n").split("\n"):
            block = BLOCK.fullmatch(line)
            part = given[block[1]] if block else None
            if not isinstance(part, list):
                lines.append(filled(line, **given))
            elif part:
                lines += part
            elif lines[-1] == "":
                lines.pop()
        return lines

    def block(self, name: str, /, **given: object) -> list[str]:
        """Return the lines of a text."""
        return self.page(name, **given)[1:]

    def bullets(self, name: str, said: Sequence[str], /, **given: object) -> list[str]:
        """Return the lines of a text with a list of sentences, `{said}`; none without a sentence."""
        return self.block(name, said=[f"- {sentence}" for sentence in said], **given) if said else []

    def presets(self) -> dict[str, Preset]:
        """Return the presets by their names."""
        return {name: Preset(**preset) for name, preset in self.found["presets"].items()}

    def remarks(self) -> dict[tuple[str, str], str]:
        """Return the explanations by data set and by method or claim."""
        every = self.found.get("remarks", {})
        return {(data, of): filled(text) for data, texts in every.items() for of, text in texts.items()}


def filled(text: str, /, **given: object) -> str:
    """Return a text without empty lines at its ends, filled in."""
    return text.strip("\n").format(**{"QUOTED": QUOTED, **given})
