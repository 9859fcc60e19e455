"""A harness of the Agent Harness Protocol 2.4 with the test handler of the suite: Python's standard library only.

    harnesskit-conformance ahp-server --stdio 'python3 ahp_harness.py'
    harnesskit-conformance ahp-server --start 'python3 ahp_harness.py' --on unix    (or tcp, http)

It is written from the specification and shares no code with this project. The forms of messages are in ahp_shapes.py.
"""

from __future__ import annotations

import hmac
import json
import os
import sys
import threading
import time
from collections import defaultdict
from typing import Any, BinaryIO, Optional

from ahp_shapes import BLOCKING, DECISIONS, EVENT, GENERIC, HELLO, PAYLOADS, QUERY, TOLD, TYPED, anything, integer, string, tagged

MAX_BYTES, MAX_SEEN = 4_194_304, 10_000
LIMITS = {"timeout_ms": 10_000, "batch_size": 100, "max_depth": 10}
Json = dict[str, Any]


class Refused(Exception):
    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class Harness:
    def __init__(self) -> None:
        self.seen: dict[str, list[Json]] = defaultdict(list)

    def answer(self, message: Any, caller: set[str]) -> tuple[Optional[Json], bool]:
        """The answer, and whether the message was a notification; that has an answer only where it is refused."""
        message_id, is_told = "", False
        try:
            if message is None:
                raise Refused(-32700, "not JSON")
            is_object = isinstance(message, dict)
            if is_object and (string(message.get("id")) or integer(message.get("id"))):
                message_id = message["id"]
            if not is_object or message.get("jsonrpc") != "2.0" or not string(message.get("method")) or message.get("id", message_id) != message_id:
                raise Refused(-32600, "not a request of JSON-RPC 2.0")
            is_told = "id" not in message
            result = self.call(message["method"], message.get("params"), is_told, caller)
            return (None if is_told else {"jsonrpc": "2.0", "id": message_id, "result": result}), is_told
        except Refused as refused:
            error = {"code": refused.code, "message": str(refused)}
            return {"jsonrpc": "2.0", "id": message_id, "error": error}, is_told

    def call(self, method: str, params: Any, is_told: bool, caller: set[str]) -> Any:
        if method == "ahp/handshake":
            return self.handshake(params, caller)
        if method not in ("ahp/event", "ahp/batch", "ahp/query"):
            raise Refused(-32601, "unknown method")
        if not caller:
            raise Refused(-32600, "a handshake has to come first")
        if method == "ahp/query":
            return self.query(params)
        if method == "ahp/batch":
            return self.batch(params)
        event = self.check(params)
        if is_told == (event["event_type"] in BLOCKING):
            raise Refused(-32602, "this event has to be a " + ("request" if is_told else "notification"))
        return self.decide(event)

    def handshake(self, params: Any, caller: set[str]) -> Json:
        if not HELLO(params):
            raise Refused(-32602, "invalid params")
        if params["protocol_version"].split(".")[0] != "2":
            raise Refused(-32000, "unsupported version: this harness speaks 2")
        caller.add("introduced")
        capabilities = ["pre_action", "post_action", "pre_prompt", "query", "batch", "run_lifecycle", "task_list", "verification", *DECISIONS]
        info = {"name": "python-peer", "version": "1.0.0", "capabilities": capabilities}
        return {"protocol_version": "2.4", "harness_info": info, "config": LIMITS}

    def check(self, event: Any) -> Json:
        if not EVENT(event) or event["event_type"] not in BLOCKING | TOLD:
            raise Refused(-32602, "invalid event")
        if event["depth"] > LIMITS["max_depth"]:
            raise Refused(-32602, "too deep")
        if not PAYLOADS.get(event["event_type"], anything)(event["payload"]):
            raise Refused(-32602, f"invalid payload of {event['event_type']}")
        if event["event_type"] != "context_perception":
            return event
        defaults = {"domain": "general", "preferred_modality": "any", "urgency": "normal", "freshness": "static"}
        payload = {**defaults, **event["payload"]}
        payload["constraints"] = {"include_sources": True, **(payload.get("constraints") or {})}
        return {**event, "payload": payload}

    def decide(self, event: Json) -> Any:
        kind, wish = event["event_type"], (event.get("metadata") or {}).get("conformance") or {}
        seen = self.seen[event["session_id"]]
        if len(seen) < MAX_SEEN:
            seen.append(event)
        if kind == "idle":
            return {"decision": "allow"}
        if kind == "reasoning":
            raise Refused(-32603, "Handler error: Capability not supported: reasoning")
        time.sleep(min(wish.get("delay_ms", 0), 1000) / 1000)
        if "fail" in wish:
            raise Refused(-32603, "Handler error: the handler failed")
        decision = wish.get("answer", {"decision": "allow"}) if "answer" in wish else {"decision": "allow"}
        if not DECISIONS.get(kind, tagged("decision", GENERIC))(decision):
            raise Refused(-32603, "Handler error: that is not a decision")
        return decision

    def batch(self, params: Any) -> Json:
        events = params.get("events") if isinstance(params, dict) else None
        if not isinstance(events, list) or len(events) > LIMITS["batch_size"]:
            raise Refused(-32602, "events has to be a list of at most 100")
        checked = [self.check(event) for event in events]
        if any(event["event_type"] in TYPED for event in checked):
            raise Refused(-32602, "an event with a decision of its own cannot be in a batch")
        decisions = []
        for event in checked:
            try:
                decisions.append(self.decide(event))
            except Refused as refused:
                decisions.append({"decision": "block", "reason": str(refused)})
        return {"decisions": decisions}

    def query(self, params: Any) -> Json:
        if not QUERY(params):
            raise Refused(-32602, "invalid params")
        if params["query_type"] != "conformance.seen":
            return {"answer": None, "reason": "this harness knows no such query"}
        return {"answer": self.seen[params["session_id"]]}


def parse(line: bytes) -> Any:
    try:
        return json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError):
        return None


def serve_lines(harness: Harness, source: BinaryIO, sink: BinaryIO) -> None:
    """One message a line; each is answered by a thread of its own, as handlers may wait."""
    caller: set[str] = set()
    lock, threads = threading.Lock(), list[threading.Thread]()

    def write(answer: Optional[Json]) -> None:
        if answer is not None:
            with lock:
                sink.write(json.dumps(answer).encode() + b"\n")
                sink.flush()

    def work(message: Any) -> None:
        answer, is_told = harness.answer(message, caller)
        write(None if is_told else answer)

    while line := source.readline(MAX_BYTES + 1):
        if len(line) > MAX_BYTES:
            write({"jsonrpc": "2.0", "id": "", "error": {"code": -32600, "message": "the message is too large"}})
            while line and not line.endswith(b"\n"):
                line = source.readline(MAX_BYTES)
            continue
        if not line.strip():
            continue
        message = parse(line)
        delays = isinstance(message, dict) and b'"delay_ms"' in line and message.get("method") == "ahp/event"
        if not delays:
            work(message)
            continue
        threads.append(threading.Thread(target=work, args=(message,)))
        threads[-1].start()
    for thread in threads:
        thread.join()


def serve_socket(harness: Harness, endpoint: str) -> None:
    import socketserver

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            serve_lines(harness, self.rfile, self.wfile)

    class UnixServer(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
        daemon_threads = True

    if endpoint.startswith("unix:"):
        UnixServer(endpoint[5:], Handler).serve_forever()
    host, port = endpoint[4:].rsplit(":", 1)
    socketserver.ThreadingTCPServer((host, int(port)), Handler).serve_forever()


def serve_http(harness: Harness, endpoint: str, token: str) -> None:
    # Loaded where it is used: it takes longer than all other imports together.
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    callers: dict[str, set[str]] = defaultdict(set)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def status(self) -> int:
            shown = self.headers.get("X-API-Key") or self.headers.get("Authorization", "").removeprefix("Bearer ")
            if self.headers.get("Host", "").split(":")[0] not in ("127.0.0.1", "localhost") or "Origin" in self.headers:
                return 403
            if not hmac.compare_digest(shown.encode(), token.encode()):
                return 401
            if self.path != "/ahp":
                return 404
            if self.headers.get_content_type() != "application/json":
                return 415
            return 413 if int(self.headers.get("Content-Length", 0)) > MAX_BYTES else 0

        def do_POST(self) -> None:
            status, left = self.status(), int(self.headers.get("Content-Length", 0))
            body = b"" if status else self.rfile.read(left)
            while status and left > 0 and (part := self.rfile.read(min(left, 65_536))):
                left -= len(part)
            answer = None if status else harness.answer(parse(body), callers[token])[0]
            self.send_response(status or (204 if answer is None else 200))
            content = b"" if answer is None else json.dumps(answer).encode()
            if answer is not None:
                self.send_header("Content-Type", "application/json")
            if status or answer is not None:
                self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            """Quiet."""

    port = int(endpoint.split(":")[2].split("/")[0])
    ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()


if __name__ == "__main__":
    place = os.environ.get("CONFORMANCE_ENDPOINT", "stdio:")
    if place.startswith("http:"):
        serve_http(Harness(), place, os.environ["CONFORMANCE_TOKEN"])
    elif place.startswith("stdio:"):
        serve_lines(Harness(), sys.stdin.buffer, sys.stdout.buffer)
    else:
        serve_socket(Harness(), place)
