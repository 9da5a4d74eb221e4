"""The hosts of the simulated sources: one loopback address each, all on one port and in one thread."""

import gzip
import hashlib
import selectors
import socket
import struct
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, urlsplit


@dataclass(frozen=True)
class Answer:
    """One HTTP answer."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    has_validators: bool = False
    is_cut: bool = False
    """Only half of the body is sent."""
    is_reset: bool = False
    """The connection is reset before anything is sent."""


Respond = Callable[[str, int, int], Answer]
"""Host, page number from 1, and which request of this run it is: the answer."""


class Hosts:
    """Answers on ``count`` loopback addresses from 127.0.1.1 on, until closed."""

    def __init__(self, count: int, respond: Respond, date: Callable[[], str]) -> None:
        self.respond = respond
        self.date = date
        self.not_modified = 0
        self._selector = selectors.DefaultSelector()
        self._sockets: list[socket.socket] = []
        port = 0
        for place in range(count):
            listening = socket.create_server((self.address(place), port))
            port = listening.getsockname()[1]
            self._sockets.append(listening)
            self._selector.register(listening, selectors.EVENT_READ)
        self.port = port
        self._woken, self._waker = socket.socketpair()
        self._selector.register(self._woken, selectors.EVENT_READ)
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    @staticmethod
    def address(place: int) -> str:
        """The address of the host in that place."""
        return f"127.0.1.{place + 1}"

    def close(self) -> None:
        """Stop answering."""
        self._waker.send(b".")
        self._thread.join()
        for one in (*self._sockets, self._woken, self._waker):
            one.close()
        self._selector.close()

    def _serve(self) -> None:
        while True:
            for key, _ in self._selector.select():
                if key.fileobj is self._woken:
                    return
                listening: Any = key.fileobj
                connection, _ = listening.accept()
                with connection:
                    connection.settimeout(10)
                    _Handler(connection, connection.getsockname(), self)  # type: ignore[arg-type]  # it only hands it on


class _Handler(BaseHTTPRequestHandler):
    server: Any
    protocol_version = "HTTP/1.1"

    def handle(self) -> None:
        self.close_connection = True
        self.handle_one_request()

    def log_message(self, *_: object) -> None:  # type: ignore[override]
        """Nothing."""

    def do_GET(self) -> None:
        asked = urlsplit(self.path)
        host = self.client_address[0]
        if asked.path == "/robots.txt":
            return self._send(Answer(404))
        page = int(parse_qs(asked.query).get("page", ["1"])[0])
        return self._send(self.server.respond(host, page, 0))

    def _send(self, answer: Answer) -> None:
        if answer.is_reset:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return
        tag = f'"{hashlib.sha256(answer.body).hexdigest()[:16]}"'
        status, body = answer.status, answer.body
        if answer.has_validators and self.headers.get("If-None-Match") == tag:
            status, body = 304, b""
            self.server.not_modified += 1
        self.send_response_only(status)
        self.send_header("Date", self.server.date())
        if answer.has_validators:
            self.send_header("ETag", tag)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if status != 304:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if answer.is_cut else body)


BOMB = gzip.compress(bytes(96 * 1024 * 1024), compresslevel=9)
"""A hundred kilobytes that unpack to more than any page may have."""
