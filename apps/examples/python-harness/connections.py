"""The two ways of the agent beside it to a harness: a child process, and HTTP."""

from __future__ import annotations

import json
import queue
import subprocess
import threading
import urllib.error
import urllib.request
from typing import Any, Optional

Json = dict[str, Any]
MAX_MESSAGE_BYTES, CLOSE_TIMEOUT_S = 4_194_304, 2


class NoAnswer(Exception):
    """The harness is not there, late, refuses, or answers with something else than was asked for."""


class StdioLine:
    """A harness that is a child of the agent's: one message a line."""

    def __init__(self, command: list[str]) -> None:
        try:
            self.child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        except OSError as failure:
            raise NoAnswer(f"the harness cannot be started: {failure.strerror}") from None
        self.lines: queue.Queue[bytes] = queue.Queue(maxsize=100)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self) -> None:
        assert self.child.stdout
        while line := self.child.stdout.readline(MAX_MESSAGE_BYTES):
            self.lines.put(line)
        self.lines.put(b"")

    def send(self, message: Json, timeout_s: float) -> Optional[bytes]:
        try:
            assert self.child.stdin
            self.child.stdin.write(json.dumps(message).encode() + b"\n")
            self.child.stdin.flush()
            while "id" in message:
                line = self.lines.get(timeout=timeout_s)
                if not line:
                    self.lines.put(line)  # for what is sent next
                    raise NoAnswer("the harness ended")
                if is_answer_to(message, line):  # others came late, and nobody waits for them any more
                    return line
        except queue.Empty:
            raise NoAnswer("the harness did not answer in time") from None
        except OSError:
            raise NoAnswer("the harness ended") from None
        return None

    def close(self) -> None:
        """The end of its input ends a harness; one that stays is killed."""
        assert self.child.stdin and self.child.stdout
        try:
            self.child.stdin.close()
            self.child.wait(CLOSE_TIMEOUT_S)
        except (OSError, subprocess.TimeoutExpired):
            self.child.kill()
            self.child.wait()
        self.reader.join(CLOSE_TIMEOUT_S)
        if not self.reader.is_alive():
            self.child.stdout.close()


def is_answer_to(message: Json, line: bytes) -> bool:
    try:
        return json.loads(line)["id"] in (message["id"], "")
    except (ValueError, TypeError, KeyError, RecursionError):
        return True  # what cannot be read may be the answer: refuse now and do not wait


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """The token goes to nobody else."""

    def redirect_request(self, *_: Any) -> None:
        return None


class HttpLine:
    """A harness elsewhere: a POST a message."""

    def __init__(self, url: str, token: str) -> None:
        self.url, self.headers = url, {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        self.opener = urllib.request.build_opener(NoRedirect, urllib.request.ProxyHandler({}))

    def send(self, message: Json, timeout_s: float) -> Optional[bytes]:
        request = urllib.request.Request(self.url, json.dumps(message).encode(), self.headers)
        try:
            with self.opener.open(request, timeout=timeout_s) as response:
                return response.read(MAX_MESSAGE_BYTES) if response.status == 200 else None
        except urllib.error.HTTPError as failure:
            raise NoAnswer(f"the harness answered with status {failure.code}") from None
        except (OSError, ValueError) as failure:
            raise NoAnswer(f"the harness cannot be reached: {type(failure).__name__}") from None

    def close(self) -> None:
        """Nothing is open."""
