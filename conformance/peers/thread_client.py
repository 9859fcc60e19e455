"""A client of threads behind the driver of the suite: Python's standard library only.

    harnesskit-conformance threads-client --start 'python3 thread_client.py' --on stdio    (or unix)

It is written from the specification and shares no code with this project.
"""

from __future__ import annotations

import json
import os
import shlex
import socket
import struct
import subprocess
import sys
import threading
from concurrent.futures import Future
from typing import Any, BinaryIO, Callable, Optional

Json = dict[str, Any]


class Failure(Exception):
    """A request that the server refused, or a connection that is over."""

    def __init__(self, code: str, message: str, **more: Any) -> None:
        super().__init__(message)
        self.error: Json = {"code": code, "message": message, **more}


class Lines:
    """A server that is a child process: one message a line."""

    def __init__(self, command: str) -> None:
        self.child = subprocess.Popen(shlex.split(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self.child.stdin and self.child.stdout
        self.sink, self.source = self.child.stdin, self.child.stdout

    def write(self, content: bytes) -> None:
        self.sink.write(content + b"\n")
        self.sink.flush()

    def read(self) -> Optional[bytes]:
        return self.source.readline() or None

    def close(self) -> None:
        self.sink.close()
        try:
            self.child.wait(2)
        except subprocess.TimeoutExpired:
            self.child.kill()


class Frames:
    """A server at a Unix socket: four bytes of length before each message."""

    def __init__(self, path: str) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.source: BinaryIO = self.socket.makefile("rb")

    def write(self, content: bytes) -> None:
        self.socket.sendall(struct.pack(">I", len(content)) + content)

    def read(self) -> Optional[bytes]:
        header = self.source.read(4)
        return self.source.read(struct.unpack(">I", header)[0]) if len(header) == 4 else None

    def close(self) -> None:
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()


class Turn:
    """What came of a turn so far. Its end may be told before its id is known."""

    def __init__(self, approval: Optional[str]) -> None:
        self.approval = approval
        self.texts: list[Any] = []
        self.end: Future[Json] = Future()


class Client:
    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint
        self.line: Lines | Frames | None = None
        self.lock = threading.Lock()
        self.last_id = 0
        self.pending: dict[int, tuple[Future[Any], Callable[[Any], None]]] = {}
        self.turns: dict[str, Turn] = {}
        self.heard: dict[str, int] = {}

    def call(self, method: str, params: Json, on_result: Callable[[Any], None] = lambda _: None) -> Any:
        """The result of a request. `on_result` is called before anything that follows it is read."""
        answer: Future[Any] = Future()
        with self.lock:
            if self.line is None:
                raise Failure("not_connected", "connect first")
            self.last_id += 1
            self.pending[self.last_id] = (answer, on_result)
            self.line.write(json.dumps({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params}).encode())
        return answer.result()

    def read(self, line: Lines | Frames) -> None:
        while (content := line.read()) is not None:
            try:
                message = json.loads(content.decode())
            except ValueError:
                continue
            if isinstance(message, dict) and message.get("jsonrpc") == "2.0":
                self.take(message)
        lost = Failure("connection_lost", "the server is gone")
        for answer, _ in [*self.pending.values()]:
            answer.set_exception(lost)
        for turn in [*self.turns.values()]:
            turn.end.set_exception(lost)

    def take(self, message: Json) -> None:
        if "method" in message:
            params = message.get("params")
            if isinstance(params, dict):
                self.told(message["method"], params)
            return
        answer, on_result = self.pending.pop(message.get("id", 0), (None, None))
        if answer is None or on_result is None:
            return
        if "error" in message:
            error = message["error"]
            answer.set_exception(Failure("refused", "the server refused", rpcCode=error.get("code"), rpcMessage=error.get("message")))
        else:
            on_result(message.get("result"))
            answer.set_result(message.get("result"))

    def told(self, method: str, params: Json) -> None:
        """A notification. One that is not known, comes again, or is of a turn of another client changes nothing."""
        thread, seq = params.get("threadId", ""), params.get("seq")
        if isinstance(seq, int):
            if seq <= self.heard.get(thread, 0):
                return
            self.heard[thread] = seq
        turn = self.turns.get(params.get("turnId", ""))
        if turn is None:
            return
        if method == "item.completed":
            data = params["item"].get("data", {})
            if "text" in data:
                turn.texts.append(data["text"])
        elif method == "approval.requested" and turn.approval is not None:
            answer = {"requestId": params["requestId"], "decision": turn.approval}
            threading.Thread(target=self.call, args=("approval.respond", answer), daemon=True).start()
        elif method == "turn.completed":
            self.finish(params["turnId"], {"status": params["status"], "text": turn.texts[-1] if turn.texts else None, "texts": turn.texts})
        elif method == "turn.error":
            self.finish(params["turnId"], {"status": "error", "error": params["error"]})

    def finish(self, turn_id: str, outcome: Json) -> None:
        self.turns.pop(turn_id).end.set_result(outcome)

    # What the driver asks for.

    def connect(self) -> Json:
        line = Lines(self.endpoint[6:]) if self.endpoint.startswith("stdio:") else Frames(self.endpoint[5:])
        self.line = line
        threading.Thread(target=self.read, args=(line,), daemon=True).start()
        return {"version": self.call("initialize", {"clientInfo": {"name": "thread_client.py", "version": "1.0.0"}})["version"]}

    def create_thread(self, title: str) -> Any:
        return self.call("thread.create", {"title": title})

    def list_threads(self) -> Any:
        return self.call("thread.list", {})

    def get_thread(self, threadId: str) -> Any:
        return self.call("thread.get", {"threadId": threadId})

    def start_turn(self, threadId: str, text: str, approval: Optional[str] = None) -> Json:
        turn = Turn(approval)

        def known(result: Json) -> None:
            self.turns[result["turnId"]] = turn

        self.call("turn.start", {"threadId": threadId, "input": [{"type": "text", "text": text}]}, known)
        return turn.end.result()

    def cancel_turn(self, threadId: str) -> Any:
        return self.call("turn.cancel", {"threadId": threadId})

    def respond_approval(self, requestId: str, decision: str) -> Any:
        return self.call("approval.respond", {"requestId": requestId, "decision": decision})

    def close(self) -> Json:
        if self.line is not None:
            self.line.close()
        return {}


def drive(client: Client) -> None:
    """Does what lines on standard input ask, side by side, until they end."""
    lock = threading.Lock()

    def work(request: Json) -> None:
        try:
            outcome: Json = {"result": getattr(client, request["do"])(**request["params"])}
        except Failure as failure:
            outcome = {"error": failure.error}
        except Exception as failure:
            outcome = {"error": {"code": "unexpected", "message": repr(failure)}}
        with lock:
            print(json.dumps({"id": request["id"], **outcome}), flush=True)

    for line in sys.stdin:
        threading.Thread(target=work, args=(json.loads(line),), daemon=True).start()


if __name__ == "__main__":
    drive(Client(os.environ["CONFORMANCE_ENDPOINT"]))
