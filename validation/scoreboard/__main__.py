"""Programs that others wrote over the golden cases, as a page and badges.

    python -m validation.scoreboard [--run GROUP=RUNNER ...] [--version GROUP:PACKAGE=VERSION ...] [--folder FOLDER]

Without --run: the page and the badges anew from recorded/, as they were. A GROUP of programs (programs.py) is run by
RUNNER: a Python that has the package, or a command with {adapter} in it. README.md has the commands.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from validation.scoreboard.page import badges, page, results
from validation.scoreboard.running import HERE, read, run


def main() -> None:
    """Run what is asked for, and write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--run", action="append", default=[], metavar="GROUP=RUNNER")
    parser.add_argument("--version", action="append", default=[], metavar="GROUP:PACKAGE=VERSION")
    parser.add_argument("--time-limit", type=float, default=60.0, help="seconds for each case")
    parser.add_argument("--folder", type=Path, default=HERE, help="where recorded/ is, and the page goes")
    options = parser.parse_args()
    known: dict[str, dict[str, str]] = {}
    for each in options.version:
        group, named = each.split(":", 1)
        package, version = named.split("=", 1)
        known.setdefault(group, {})[package] = version
    recorded = options.folder / "recorded"
    recorded.mkdir(parents=True, exist_ok=True)
    for each in options.run:
        group, runner = each.split("=", 1)
        run(group, runner, known.get(group, {}), options.time_limit, recorded)
    write(options.folder)
    print(f"{options.folder / 'index.html'}")


def write(folder: Path) -> None:
    """folder/index.html and folder/badges/, from folder/recorded/."""
    found = results(read(folder / "recorded"))
    (folder / "badges").mkdir(exist_ok=True)
    (folder / "index.html").write_text(page(found), encoding="utf-8")
    for name, content in badges(found).items():
        (folder / "badges" / name).write_text(content, encoding="utf-8")


if __name__ == "__main__":
    main()
