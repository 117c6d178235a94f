"""python -m cvxml, and the `cvxml` command."""

from __future__ import annotations

import sys

from cvxml.cli.main import run


def main() -> None:
    """Run the command line and exit with its code."""
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
