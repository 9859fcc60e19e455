"""A shell of OpenHarness v1 behind the driver of the suite: Python's standard library only.

    harnesskit-conformance openharness-shell --start 'python3 openharness_shell.py' --on stdio    (or unix, http)

It is written from the specification and shares no code with this project.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
import secrets
import shlex
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from queue import Empty, SimpleQueue
from typing import Any, Callable, Optional

Json = dict[str, Any]
MAX_INLINE = 2048
TIMEOUT_S = 20
ATTEMPTS = 3
SEMVER = re.compile(r"\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?\Z", re.ASCII)

Check = Callable[[Any], bool]
text: Check = lambda v: isinstance(v, str)
filled: Check = lambda v: isinstance(v, str) and v != ""
count: Check = lambda v: isinstance(v, int) and not isinstance(v, bool) and v >= 0
number: Check = lambda v: isinstance(v, (int, float)) and not isinstance(v, bool) and v >= 0
free: Check = lambda v: isinstance(v, dict)
yes_no: Check = lambda v: isinstance(v, bool)
version: Check = lambda v: isinstance(v, str) and SEMVER.match(v) is not None
one_of: Callable[..., Check] = lambda *values: lambda v: isinstance(v, str) and v in values
items: Callable[[Check], Check] = lambda each: lambda v: isinstance(v, list) and all(each(item) for item in v)


def fields(required: tuple[str, ...] = (), **checks: Check) -> Check:
    """An object: null in an optional field is as if it were absent, and unknown fields are ignored."""
    def check(value: Any) -> bool:
        if not isinstance(value, dict) or any(value.get(name) is None for name in required):
            return False
        return all(value.get(name) is None or each(value[name]) for name, each in checks.items())
    return check


DIRECTIVE = fields(
    ("action_type",), action_type=filled, priority=one_of("low", "normal", "high", "critical"),
    execution=one_of("sequential", "parallel"), risk_tier=one_of("safe", "caution", "dangerous"),
    requires_user_approval=yes_no, deadline_ms=count, payload=free, extensions=free,
)
RESPONSE = fields(
    ("protocol_version", "response"), protocol_version=version, request_id=filled, correlation_id=filled,
    supported_protocol_versions=items(version), supported_capabilities=free,
    capability_denials=items(fields(("capability",), capability=filled, code=text, message=text)),
    response=fields(
        ("status",), status=one_of("success", "error"), engine_latency_ms=number, action_directives=items(DIRECTIVE),
        error=fields(("code",), code=filled, message=text, retryable=yes_no, details=free),
    ),
)


class Failure(Exception):
    def __init__(self, code: str, message: str, retryable: bool = False) -> None:
        super().__init__(message)
        self.code, self.retryable = code, retryable


class Lines:
    """One message a line, to a socket or to a child process; a response belongs to the request with its request_id."""

    def __init__(self, endpoint: str) -> None:
        self.child: Optional[subprocess.Popen[bytes]] = None
        if endpoint.startswith("stdio:"):
            self.child = subprocess.Popen(shlex.split(endpoint[6:]), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            assert self.child.stdin and self.child.stdout
            self.sink, self.source = self.child.stdin, self.child.stdout
        else:
            connection = socket.socket(socket.AF_UNIX)
            connection.connect(endpoint[5:])
            self.sink, self.source = connection.makefile("wb"), connection.makefile("rb")  # type: ignore[assignment]
        self.lock, self.waiting = threading.Lock(), dict[str, SimpleQueue[Any]]()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self) -> None:
        for line in self.source:
            try:
                message = json.loads(line.decode())
                queue = self.waiting.get(message.get("request_id"))
            except (ValueError, AttributeError, TypeError):
                continue
            if queue is not None:
                queue.put(message)

    def post(self, message: Json) -> Any:
        queue: SimpleQueue[Any] = SimpleQueue()
        self.waiting[message["request_id"]] = queue
        try:
            with self.lock:
                self.sink.write(json.dumps(message).encode() + b"\n")
                self.sink.flush()
            return queue.get(timeout=TIMEOUT_S)
        except Empty:
            raise Failure("response_timeout", "the engine did not answer in time", True) from None
        except OSError:
            raise Failure("engine_unreachable", "the engine is gone", True) from None
        finally:
            self.waiting.pop(message["request_id"], None)

    def close(self) -> None:
        if self.child is not None:
            self.child.terminate()


class Posts:
    """One message a POST, with a bearer token. An error of the protocol counts with any status, anything else with 200 alone."""

    def __init__(self, url: str, token: str) -> None:
        self.url, self.token = url, token
        self.opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def post(self, message: Json) -> Any:
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self.token}"}
        request = urllib.request.Request(self.url, json.dumps(message).encode(), headers)
        try:
            with self.opener.open(request, timeout=TIMEOUT_S) as response:
                return self.parsed(response.read())
        except urllib.error.HTTPError as error:
            document = self.parsed(error.read())
            if RESPONSE(document) and document["response"]["status"] == "error":
                return document
            raise Failure("engine_refused", f"the engine's server answered {error.code}", error.code >= 500) from None
        except OSError:
            raise Failure("engine_unreachable", "there is no engine", True) from None

    @staticmethod
    def parsed(content: bytes) -> Any:
        try:
            return json.loads(content.decode())
        except ValueError:
            return None

    def close(self) -> None:
        """Nothing is open."""


def texts_in(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [found for each in value.values() for found in texts_in(each)]
    if isinstance(value, list):
        return [found for each in value for found in texts_in(each)]
    return [value] if isinstance(value, str) else []


def holds_data(attachment: Json) -> bool:
    """Whether it embeds data: long words of base64 or hex, or addresses that are data. A description has spaces."""
    total = 0
    for found in texts_in(attachment):
        if found.startswith("data:"):
            total += len(found)
        elif re.match(r"[a-z][a-z0-9+.-]*://", found) is None:
            total += sum(len(word) for word in re.findall(r"[A-Za-z0-9+/=_-]{48,}", found))
    return total > MAX_INLINE


class Shell:
    def __init__(self, endpoint: str, token: str) -> None:
        self.endpoint, self.token = endpoint, token
        self.line: Any = None
        self.lock = threading.Lock()
        self.session, self.key = f"sess-{secrets.token_hex(8)}", secrets.token_bytes(32)

    def hashed(self, value: Any) -> str:
        return hmac.new(self.key, json.dumps(value, sort_keys=True).encode(), hashlib.sha256).hexdigest()

    def exchange(self, request: Json) -> Json:
        """A valid response, of this major version, with success or an error that is final."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                response = self.line.post(request)
                if isinstance(response, dict) and version(response.get("protocol_version")) and not response["protocol_version"].startswith("1."):
                    raise Failure("protocol_version_unsupported", "the response is of another version")
                if not RESPONSE(response) or response.get("request_id", request["request_id"]) != request["request_id"]:
                    raise Failure("invalid_response", "the response is not valid")
                if not (response["response"].get("error") or {}).get("retryable") or attempt == ATTEMPTS:
                    return response
            except Failure as failure:
                if not failure.retryable or attempt == ATTEMPTS:
                    raise
            time.sleep(0.05 * 2**attempt)
        raise AssertionError

    def send(self, params: Json) -> Json:
        attachments = params.get("attachments")
        if any(holds_data(each) for each in attachments or []):
            raise Failure("invalid_request", "an attachment must be a reference")
        context: Json = {
            "session_id": self.session, "user_intent": params.get("intent"),
            "shell": {"shell_kind": "conformance", "shell_version": "1.0.0", "locale": "en-US", "timezone": "Europe/Berlin"},
        }
        if attachments is not None:
            context["attachments"] = attachments
        if "environment" in params:
            raw = params["environment"]
            context["environment_state"] = {"privacy_tier": "restricted", **{key: self.hashed(value) if key == "active_window" else value for key, value in raw.items()}}
        with self.lock:
            if self.line is None:
                self.line = Posts(self.endpoint, self.token) if self.endpoint.startswith("http") else Lines(self.endpoint)
        did: list[Json] = []
        try:
            response = self.exchange({
                "protocol_version": "1.0.0", "request_id": f"req-{secrets.token_hex(8)}",
                "capabilities": {"openharness.ui.approval": True}, "request": {"context": context},
            })
        except Failure as failure:
            return {"status": "error", "code": failure.code, "did": did}
        received_at, content = time.monotonic(), response["response"]
        did += [{"denied": denial["capability"]} for denial in response.get("capability_denials") or []]
        if content["status"] == "error":
            return {"status": "error", "code": (content.get("error") or {}).get("code"), "did": did}
        for directive in content.get("action_directives") or []:
            self.carry_out(directive, params.get("approve"), received_at, did)
        return {"status": "success", "did": did}

    def carry_out(self, directive: Json, approve: Optional[str], received_at: float, did: list[Json]) -> None:
        kind, payload = directive["action_type"], directive.get("payload") or {}

        def show(*names: str) -> None:
            for name in names:
                if text(payload.get(name)):
                    return did.append({"shown": payload[name]})

        if kind == "noop":
            return
        if kind not in ("render_message", "simulate_action", "com.example.work"):
            did.append({"reported": "unknown_action_type"})
            return show("message", "fallback_message")
        if any(payload.get(name) is not None and not text(payload[name]) for name in ("message", "text", "macro", "target")):
            return show("fallback_message", "message", "text")
        if directive.get("requires_user_approval") or directive.get("risk_tier") == "dangerous" or kind == "simulate_action":
            did.append({"asked": kind})
            if approve != "approved":
                return
        if kind == "render_message":
            return show("message", "text", "fallback_message")
        deadline, wait = directive.get("deadline_ms"), payload.get("ms", 0) / 1000
        if deadline is not None and time.monotonic() + wait > received_at + deadline / 1000:
            return
        time.sleep(wait)
        did.append({"done": kind, **({"name": payload["name"]} if "name" in payload else {})})

    def close(self, _: Json) -> Json:
        if self.line is not None:
            self.line.close()
        return {}


def drive(shell: Shell) -> None:
    lock = threading.Lock()
    operations: dict[str, Callable[[Json], Any]] = {"send": shell.send, "close": shell.close}

    def work(request: Json) -> None:
        try:
            outcome = {"result": operations[request["do"]](request["params"])}
        except Failure as failure:
            outcome = {"error": {"code": failure.code, "message": str(failure)}}
        except Exception as failure:
            outcome = {"error": {"code": "unexpected", "message": repr(failure)}}
        with lock:
            print(json.dumps({"id": request["id"], **outcome}), flush=True)

    for line in sys.stdin:
        threading.Thread(target=work, args=(json.loads(line),), daemon=True).start()


if __name__ == "__main__":
    drive(Shell(os.environ["CONFORMANCE_ENDPOINT"], os.environ["CONFORMANCE_TOKEN"]))
