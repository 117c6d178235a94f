"""The command `lesson`: open a notebook of cvxml/lessons in the browser. The exit codes are those of main.py."""

from __future__ import annotations

import argparse
import os
import socket
import webbrowser
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from cvxml.cli.guard import KEPT, Guard, new_token

DONE = 0


def add_lesson(commands: Any) -> None:
    command = commands.add_parser("lesson", help="open an interactive lesson about a method in the browser")
    command.add_argument("name", nargs="?", help="one of the lessons that `cvxml lesson` lists")
    command.add_argument("--port", type=int, default=0, help="port of the page (default: a free port)")
    command.add_argument(
        "--headless", action="store_true", help="do not open a browser; serve the page and print its address"
    )
    command.set_defaults(run=_lesson)


def _lesson(parsed: argparse.Namespace) -> int:
    from cvxml.lessons import LESSONS, path_of

    if parsed.name is None:
        for name, teaches in LESSONS.items():
            print(f"{name:<16}{teaches}")
        return DONE
    path = path_of(parsed.name)
    missing = [package for package in ("marimo", "matplotlib") if find_spec(package) is None]
    if missing:
        raise ValueError(f"a lesson needs {' and '.join(missing)}: pip install {' '.join(missing)}")
    listening = _listen(parsed.port)
    token = new_token()
    address = f"http://127.0.0.1:{listening.getsockname()[1]}/{token}/"
    print(f"lesson {parsed.name}: {address}   (Ctrl-C ends it)", flush=True)
    if not parsed.headless:
        webbrowser.open(address)  # the port is open already, so the page loads as soon as the server is up
    _serve(path, listening, token)
    return DONE


def _listen(port: int) -> socket.socket:
    """Return a socket on `port` that only this machine can reach; 0 for a free port.

    Raises ValueError if the port cannot be opened.
    """
    try:
        if not 0 <= port <= 65535:
            raise OSError("ports are 1 to 65535")
        return socket.create_server(("127.0.0.1", port))
    except OSError as error:
        raise ValueError(
            f"--port {port} cannot be used ({error}); give another port, or leave the option out"
        ) from error


def _serve(path: Path, listening: socket.socket, token: str) -> None:
    """Serve the notebook `path`, read only, on the socket `listening` under the address /TOKEN/ until Ctrl-C."""
    import marimo
    import uvicorn  # marimo's own server

    served = marimo.create_asgi_app(quiet=True, session_ttl=KEPT)
    app = Guard(served.with_app(path=f"/{token}", root=str(path)).build(), token, listening.getsockname()[1])
    # Do not wait for open pages, and do not log that they were cut off.
    config = uvicorn.Config(app, log_level="critical", timeout_graceful_shutdown=1)
    try:
        uvicorn.Server(config).run(sockets=[listening])
    except KeyboardInterrupt:
        print(flush=True)
        os._exit(DONE)  # Python would wait for the threads of the notebook, which continue to compute
