"""HTTP for the harness beside it: a message in each POST to /ahp, on this machine only, with a token always."""

from __future__ import annotations

import hmac
import json
import socket
import sys
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness import Harness

MAX_BODY_BYTES, MIN_TOKEN_LENGTH, MAX_LINGER_SECONDS = 4_194_304, 16, 2
Headers = tuple[tuple[str, str], ...]


def serve_http(harness: Harness, port: int, token_file: Path) -> None:
    token, lock = token_file.read_bytes().strip(), threading.Lock()
    if len(token) < MIN_TOKEN_LENGTH:
        sys.exit(f"{token_file} has to hold a token of at least {MIN_TOKEN_LENGTH} characters")

    class Handler(BaseHTTPRequestHandler):
        protocol_version, timeout = "HTTP/1.1", 10

        def credential(self) -> bytes:
            scheme, _, bearer = self.headers.get("Authorization", "").partition(" ")
            key = self.headers.get("X-API-Key") or (bearer if scheme.lower() == "bearer" else "")
            return key.strip().encode()

        def obstacle(self) -> int:
            """The status that refuses the request, or 0."""
            length = self.headers.get("Content-Length", "")
            if self.headers.get("Host", "").split(":")[0] not in ("127.0.0.1", "localhost"):
                return 403  # a page of another name may have been made to point here
            if not hmac.compare_digest(self.credential(), token):
                return 401
            if self.path != "/ahp":
                return 404
            if self.headers.get_content_type() != "application/json":
                return 415
            if not (length.isascii() and length.isdecimal()):
                return 411
            return 413 if int(length) > MAX_BODY_BYTES else 0

        def do_POST(self) -> None:
            if status := self.obstacle():
                return self.refuse(status)
            body = self.rfile.read(int(self.headers["Content-Length"]))
            with lock:
                answer, _ = harness.receive(body)
            if answer is None:
                return self.respond(204)
            self.respond(200, (("Content-Type", "application/json"),), json.dumps(answer).encode())

        def refuse(self, status: int) -> None:
            """Answers, and ends the connection once the rest is read: a close before would reset it."""
            challenge = (("WWW-Authenticate", "Bearer"),) if status == 401 else ()
            self.respond(status, (("Connection", "close"), *challenge))
            with suppress(OSError):
                self.connection.shutdown(socket.SHUT_WR)
                end = monotonic() + MAX_LINGER_SECONDS
                while (left := end - monotonic()) > 0:
                    self.connection.settimeout(left)
                    if not self.rfile.read1(65_536):
                        break

        def respond(self, status: int, headers: Headers = (), content: bytes = b"") -> None:
            self.send_response(status)
            length = () if status == 204 else (("Content-Length", str(len(content))),)
            for name, value in (*headers, *length):
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            """A request is no news."""

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    print(f"listening on http://127.0.0.1:{server.server_port}/ahp", file=sys.stderr, flush=True)
    server.serve_forever()
