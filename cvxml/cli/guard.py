"""The guard in front of the server of a lesson: it accepts only the requests of the lesson's own page.

The server listens on this machine only. But any page in the browser can send requests to it, and so can the programs
of other users. The guard therefore requires a secret token in the path, and checks Host and Origin.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import parse_qs

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

PAGES = 8  # most sessions at a time; each has a thread that computes
KEPT = 10  # seconds that marimo keeps a session after its page is closed
FORBIDDEN = 403


def new_token() -> str:
    """Return a secret of 128 random bits, in characters that a web address may hold."""
    return secrets.token_urlsafe(16)


class Guard:
    """An ASGI app that passes the requests of one page on to the server `app`, and answers all others with 403.

    A request passes if its path begins with `token`, and if its Host and its Origin are this machine with the port
    `port`. A browser sends no Origin when it opens a page, but always when it opens a websocket. Therefore a page may
    lack an Origin, and a websocket may not.

    A session is one run of the notebook by the server, for one open page. Sessions begin only at the websocket `/ws`,
    and at most `pages` run at a time. The server keeps a session for `kept` seconds after its page is closed, so it
    counts until then. clock: a function that returns seconds.
    """

    def __init__(
        self,
        app: App,
        token: str,
        port: int,
        pages: int = PAGES,
        kept: float = KEPT,
        clock: Callable[[], float] = time.monotonic,
    ):
        self.app, self.token, self.pages, self.kept, self.clock = app, token.encode(), pages, kept, clock
        self.hosts = {f"{name}:{port}".encode() for name in ("127.0.0.1", "localhost")}
        self.connected: list[str] = []  # the session of each open websocket
        self.closing: dict[str, float] = {}  # sessions without a page, and when marimo ends them

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif not self._is_of_the_page(scope):
            await _refuse(scope, send)
        elif scope["type"] == "websocket":
            await self._connect(scope, receive, send)
        else:
            await self.app(scope, receive, _without_referrer(send))

    def _is_of_the_page(self, scope: Message) -> bool:
        names = [name for name, _ in scope["headers"]]
        if names.count(b"host") != 1 or names.count(b"origin") > 1:
            return False
        headers = dict(scope["headers"])
        _, token, *rest = f"{scope['path']}//".encode().split(b"/", 2)
        if not secrets.compare_digest(token, self.token) or headers[b"host"] not in self.hosts:
            return False
        place = rest[0].rstrip(b"/")
        if scope["type"] == "websocket":
            return place == b"ws" and headers.get(b"origin") == b"http://" + headers[b"host"]
        # /sse opens sessions too, for networks without websockets
        return place != b"sse" and headers.get(b"origin") in (None, b"http://" + headers[b"host"])

    async def _connect(self, scope: Message, receive: Receive, send: Send) -> None:
        session = parse_qs(scope["query_string"].decode("ascii", "replace")).get("session_id", [""])[0]
        now = self.clock()
        self.closing = {each: end for each, end in self.closing.items() if end > now}
        if len({session, *self.connected, *self.closing}) > self.pages:
            await _refuse(scope, send)
            return
        self.connected.append(session)
        try:
            await self.app(scope, receive, send)
        finally:
            self.connected.remove(session)
            self.closing[session] = self.clock() + self.kept


async def _refuse(scope: Message, send: Send) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008})  # before the handshake: the server answers 403
        return
    said = b"This is not the page of the lesson: open the address that `cvxml lesson` printed.\n"
    headers = [(b"content-type", b"text/plain"), (b"content-length", str(len(said)).encode())]
    await send({"type": "http.response.start", "status": FORBIDDEN, "headers": headers})
    await send({"type": "http.response.body", "body": said})


def _without_referrer(send: Send) -> Send:
    """Return a function that sends a message as `send` does, with the header "Referrer-Policy: no-referrer" added.

    Without this header, a browser may send the address, which holds the token, to other sites.
    """

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message["headers"], (b"referrer-policy", b"no-referrer")]}
        await send(message)

    return sending
