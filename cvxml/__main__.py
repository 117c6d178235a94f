"""Entry point of `python -m cvxml` and of the `cvxml` command."""

from __future__ import annotations

import os
import sys


def main() -> None:
    # If the parent process closed an output, no other file may get its number. A result that is written to a device
    # for reading fails, so it is not lost without a message; messages are lost.
    if sys.stdout is None:
        sys.stdout = open(os.open(os.devnull, os.O_RDONLY), "w", encoding="utf-8")  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    try:
        from cvxml.cli.main import run  # this import takes a second, and may be interrupted

        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        print("cvxml: interrupted; no result is kept", file=sys.stderr)
        code = 130
    sys.exit(code)


if __name__ == "__main__":
    main()
