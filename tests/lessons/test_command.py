"""The command that opens a lesson."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from cvxml.cli import lesson as cli_lesson
from cvxml.cli.guard import Guard
from cvxml.lessons import LESSONS, path_of
from tests.cli.commands import Cli
from tests.lessons.run import opened


def test_the_command_without_a_name_lists_the_lessons(cli: Cli) -> None:
    answer = cli("lesson")
    assert answer.code == 0
    assert [line.split()[0] for line in answer.out.splitlines()] == list(LESSONS)


def test_an_unknown_lesson_is_refused(cli: Cli) -> None:
    answer = cli("lesson", "algebra")
    assert answer.code == 2
    assert answer.err.startswith("cvxml: ")
    assert "'algebra'" in answer.err
    assert ", ".join(LESSONS) in answer.err
    with pytest.raises(ValueError, match="'_page'"):
        path_of("_page")


def test_without_marimo_the_command_says_what_to_install(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli_lesson, "find_spec", lambda name: None if name == "marimo" else object())
    answer = cli("lesson", "mlsvm")
    assert answer.code == 2
    assert answer.err.startswith("cvxml: ")
    assert "marimo" in answer.err
    assert "pip install marimo" in answer.err


def test_a_port_that_cannot_be_had_is_refused(cli: Cli) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        for port in (taken.getsockname()[1], 70000, -1):
            answer = cli("lesson", "mlsvm", "--port", port)
            assert answer.code == 2
            assert f"--port {port} " in answer.err


@pytest.mark.slow
def test_nothing_heavy_is_imported_before_a_lesson_is_opened() -> None:
    heavy = "{'marimo', 'matplotlib', 'uvicorn'}"
    code = f"import sys, cvxml, cvxml.cli.lesson, cvxml.lessons; print(sorted({heavy} & set(sys.modules)))"
    folder = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=folder
    )
    assert done.stdout == "[]\n"


HOST, TOKEN = "127.0.0.1:4711", "a-secret"
EVIL = (
    "http://evil.example",
    "http://127.0.0.1:4712",
    "https://127.0.0.1:4711",
    "http://127.0.0.1",
    "null",
    "",
)
# of each request that another page, another program or a rebound name may send: type, path, Host, Origin
ATTACKS = [
    *(("http", "/a-secret/", HOST, origin) for origin in EVIL),
    *(("websocket", "/a-secret/ws", HOST, origin) for origin in (*EVIL, None)),
    *(("http", "/a-secret/", host, None) for host in ("evil.example:4711", "127.0.0.1:4712", "127.0.0.1", "", None)),
    ("http", "/\xe9/", HOST, None),
    ("websocket", "/a-secret/ws", "evil.example:4711", "http://evil.example:4711"),
    *(("http", path, HOST, None) for path in ("", "/", "/a-secre/", "/a-secret2/", "//a-secret/", "/x/a-secret/")),
    *(("websocket", path, HOST, f"http://{HOST}") for path in ("/ws", "/a-secre/ws", "/x/a-secret/ws")),
    # the page needs none of these, and marimo opens sessions or more behind them
    *(("websocket", f"/a-secret/{path}", HOST, f"http://{HOST}") for path in ("", "ws_sync", "terminal/ws", "lsp/x")),
    *(("http", f"/a-secret/{path}", HOST, f"http://{HOST}") for path in ("sse", "sse/")),
]  # fmt: skip
OF_THE_PAGE = [
    ("http", "/a-secret/", HOST, None),
    ("http", "/a-secret/api/kernel/run", HOST, f"http://{HOST}"),
    ("http", "/a-secret/", "localhost:4711", "http://localhost:4711"),
    ("websocket", "/a-secret/ws", HOST, f"http://{HOST}"),
]


class Asked:
    """Requests to a guard: each is passed on, or is answered with 403."""

    def __init__(self, pages: int = 8):
        self.passed: list[Any] = []
        self.time = 0.0
        self.release = asyncio.Event()
        self.guard = Guard(self._app, TOKEN, 4711, pages, kept=10, clock=lambda: self.time)

    async def _app(self, scope: Any, receive: Any, send: Any) -> None:
        self.passed.append(scope)
        if scope["query_string"]:  # a session lasts until it is released
            await self.release.wait()

    async def ask(self, kind: str, path: str, host: str | None, origin: str | None, query: str = "") -> bool:
        sent: list[Any] = []
        named = [(b"host", host), (b"origin", origin)]
        headers = [(name, value.encode()) for name, value in named if value is not None]
        scope = {"type": kind, "path": path, "headers": headers, "query_string": query.encode()}

        async def send(message: Any) -> None:
            sent.append(message)

        before = len(self.passed)
        await self.guard(scope, None, send)  # type: ignore[arg-type]
        refused = {"http": ("http.response.start", 403), "websocket": ("websocket.close", None)}[kind]
        assert [(message["type"], message.get("status")) for message in sent[:1]] in ([refused], [])
        assert bool(sent) == (len(self.passed) == before)
        return not sent


def test_the_guard_refuses_what_the_page_does_not_ask() -> None:
    for attack in ATTACKS:
        assert not asyncio.run(Asked().ask(*attack)), attack
    for request in OF_THE_PAGE:
        assert asyncio.run(Asked().ask(*request)), request


def test_sessions_are_limited_until_marimo_ends_them() -> None:
    async def sessions() -> None:
        asked = Asked(pages=2)
        page = ("websocket", "/a-secret/ws", HOST, f"http://{HOST}")
        tasks = [asyncio.create_task(asked.ask(*page, query=f"session_id={name}")) for name in "aba"]
        while len(asked.passed) < 3:  # the third one is the first page again
            await asyncio.sleep(0)
        assert not await asked.ask(*page, query="session_id=c")
        asked.release.set()
        assert all(await asyncio.gather(*tasks))
        asked.time = 9.9  # the pages are closed, and marimo still keeps their sessions
        assert not await asked.ask(*page, query="session_id=c")
        assert await asked.ask(*page, query="session_id=a")
        asked.time = 10.1
        assert await asked.ask(*page, query="session_id=c")

    asyncio.run(sessions())


def status_of(address: str, path: str, host: str | None, origin: str | None, websocket: bool = False) -> int:
    """The status that the server answers, 101 if a websocket is opened; path: after the one of the address."""
    parts = urlsplit(address)
    more = [
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Version: 13",
        f"Sec-WebSocket-Key: {'A' * 22}==",
    ]
    lines = [
        f"GET {path} HTTP/1.1",
        *([f"Host: {host}"] if host else []),
        *([f"Origin: {origin}"] if origin else []),
        *(more if websocket else ["Connection: close"]),
    ]
    with socket.create_connection((parts.hostname or "", parts.port or 0), timeout=60) as asking:
        asking.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        return int(asking.makefile("rb").readline().split()[1])


@pytest.fixture(scope="module")
def served() -> Iterator[str]:
    pytest.importorskip("marimo", reason="the lessons are marimo notebooks")
    with opened("mlsvm") as address:
        yield address


@pytest.mark.slow
def test_a_served_lesson_is_for_its_own_page_alone(served: str) -> None:
    parts = urlsplit(served)
    own, token = f"http://{parts.netloc}", parts.path
    page, opening = f"{token or '/'}", f"{token or '/'}ws?session_id=attacked"
    elsewhere = ("http://evil.example", f"http://127.0.0.1:{(parts.port or 0) - 1}", "null")
    for origin in elsewhere:
        assert status_of(served, page, parts.netloc, origin) == 403
        assert status_of(served, opening, parts.netloc, origin, websocket=True) == 403
    # DNS rebinding: an attacker's name with the address of our server
    for host in (f"evil.example:{parts.port}", "evil.example"):
        assert status_of(served, page, host, None) == 403
        assert status_of(served, opening, host, f"http://{host}", websocket=True) == 403
    for path in ("/", "/health", "/assets/index.js"):
        assert status_of(served, path, parts.netloc, None) == 403
    assert status_of(served, "/ws?session_id=attacked", parts.netloc, own, websocket=True) == 403
    assert status_of(served, f"{token}ws?session_id=attacked", parts.netloc, None, websocket=True) == 403
    assert status_of(served, f"{token}sse?session_id=attacked", parts.netloc, own) == 403
    # and what the page asks is answered
    assert status_of(served, page, parts.netloc, None) == 200
    assert status_of(served, opening, parts.netloc, own, websocket=True) == 101


@pytest.mark.slow
def test_every_run_has_another_token(served: str) -> None:
    with opened("mlsvm") as again:
        assert len(urlsplit(served).path) > 20
        assert urlsplit(again).path != urlsplit(served).path
