"""python -m cvxml, and the `cvxml` command."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command line and exit with its code."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever started us; files must not get their numbers
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
    try:
        from cvxml.cli.main import run  # which takes a second, and may be interrupted

        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        print("cvxml: interrupted; nothing is kept", file=sys.stderr)
        code = 130
    sys.exit(code)


if __name__ == "__main__":
    main()
