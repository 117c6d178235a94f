"""Print the lowest versions that pyproject.toml allows, as constraints for pip.

`.ci/lowest` installs them and runs the quick suite.

Each requirement `name>=bound` of the package and of the named extras becomes `name==bound`. Packages that
pyproject.toml does not name are not constrained.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"
# a name, perhaps extras in brackets, perhaps a lower bound, which other bounds may follow
REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)(\[(?P<extras>[\w,-]+)\])?(>=(?P<bound>[\w.]+)(,[^;]+)?)?")


def constraints(extras: list[str]) -> dict[str, str]:
    """Return the lower bound of each package that the project needs with these extras."""
    project = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]
    waiting = list(project["dependencies"])
    for extra in extras:
        waiting += project["optional-dependencies"][extra]
    bounds: dict[str, str] = {}
    while waiting:
        requirement = waiting.pop(0).replace(" ", "")
        found = REQUIREMENT.fullmatch(requirement)
        if found is None:
            raise ValueError(f"{requirement!r} has a form that this script does not know; write name>=bound")
        if found["name"] == project["name"]:  # cvxml[plot] stands for the requirements of the extra plot
            for extra in found["extras"].split(","):
                waiting += project["optional-dependencies"][extra]
        elif found["bound"] is None:
            raise ValueError(f"{requirement!r} has no lower bound; write name>=bound")
        else:
            bounds[found["name"]] = found["bound"]
    return bounds


if __name__ == "__main__":
    for name, bound in constraints(sys.argv[1:]).items():
        print(f"{name}=={bound}")
