"""Entry point of `python -m cvxml` and of the `cvxml` command."""

from __future__ import annotations

import os
import sys


def main() -> None:
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # the parent process closed it; no other file may get its number
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
    try:
        from cvxml.cli.main import run  # this import takes a second, and may be interrupted

        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        print("cvxml: interrupted; no result is kept", file=sys.stderr)
        code = 130
    sys.exit(code)


if __name__ == "__main__":
    main()
