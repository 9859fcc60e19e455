"""An engine of OpenHarness v1 with the test handler of the suite: Python's standard library only.

    harnesskit-conformance openharness-engine --stdio 'python3 openharness_engine.py'

Over HTTP: --start 'python3 openharness_engine.py' --on http. It is written from the specification and
shares no code with this project.
"""

from __future__ import annotations

import hmac
import json
import os
import re
import secrets
import sys
import threading
import time
from typing import Any, BinaryIO, Callable, Optional

Json = dict[str, Any]
MAX_BYTES = 4_000_000
MAX_INLINE = 2048
WISH = "dev.harnesskit.conformance"
OFFERED = ("openharness.ui.approval", "openharness.actions.parallel", "openharness.ui.rich_cards")
KNOWN = (*OFFERED, "openharness.streaming", "openharness.attachments.upload")
SEMVER = re.compile(r"\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?\Z", re.ASCII)

Check = Callable[[Any], bool]
text: Check = lambda v: isinstance(v, str)
filled: Check = lambda v: isinstance(v, str) and v != ""
count: Check = lambda v: isinstance(v, int) and not isinstance(v, bool) and v >= 0
free: Check = lambda v: isinstance(v, dict)
yes_no: Check = lambda v: isinstance(v, bool)
items: Callable[[Check], Check] = lambda each: lambda v: isinstance(v, list) and all(each(item) for item in v)
one_of: Callable[..., Check] = lambda *values: lambda v: isinstance(v, str) and v in values


def fields(required: tuple[str, ...] = (), **checks: Check) -> Check:
    """An object: null in an optional field is as if it were absent, and unknown fields are ignored."""
    def check(value: Any) -> bool:
        if not isinstance(value, dict) or any(value.get(name) is None for name in required):
            return False
        return all(value.get(name) is None or each(value[name]) for name, each in checks.items())
    return check


REQUEST = fields(
    ("protocol_version", "request"),
    protocol_version=lambda v: isinstance(v, str) and SEMVER.match(v) is not None,
    request_id=filled, correlation_id=filled, capabilities=free,
    request=fields(
        extensions=free,
        auth=fields(tenant_id=text, credential_ref=text, session_id=text),
        context=fields(
            session_id=text, conversation_id=text, user_intent=text, extensions=free,
            task_hint=fields(sop_id=text, plugin_id=text, business_key=text),
            continuation=fields(run_id=text, sop_id=text, continuation_token=text),
            environment_state=fields(privacy_tier=one_of("public", "restricted", "secret"), os=text, active_window=text, screen_hash=text),
            attachments=items(fields(ref_id=text, uri=text, asset_id=text, mime_type=text, filename=text, size_bytes=count)),
            shell=fields(shell_kind=filled, shell_version=text, locale=text, timezone=text),
        ),
    ),
)
DIRECTIVE = fields(
    ("action_type",), action_type=filled, priority=one_of("low", "normal", "high", "critical"),
    execution=one_of("sequential", "parallel"), risk_tier=one_of("safe", "caution", "dangerous"),
    requires_user_approval=yes_no, deadline_ms=count, payload=free, extensions=free,
)


class Refused(Exception):
    def __init__(self, code: str, message: str, retryable: bool = False, details: Optional[Json] = None) -> None:
        super().__init__(message)
        self.error: Json = {"code": code, "message": message, "retryable": retryable}
        if details is not None:
            self.error["details"] = details


def texts_in(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [found for key, each in value.items() for found in (*texts_in(each), *texts_in(key))]
    if isinstance(value, list):
        return [found for each in value for found in texts_in(each)]
    return [value] if isinstance(value, str) else []


without_nulls: Callable[[Json], Json] = lambda value: {key: each for key, each in value.items() if each is not None}


def holds_data(attachment: Json) -> bool:
    """Whether it embeds data: long words of base64 or hex, or addresses that are data. A description has spaces."""
    total = 0
    for found in texts_in(attachment):
        if found.startswith("data:"):
            total += len(found)
        elif re.match(r"[a-z][a-z0-9+.-]*://", found) is None:
            total += sum(len(word) for word in re.findall(r"[A-Za-z0-9+/=_-]{48,}", found))
    return total > MAX_INLINE


class Engine:
    def __init__(self, directory: str) -> None:
        self.log_file = os.path.join(directory, "engine.log")
        self.lock = threading.Lock()
        self.handled = 0
        self.failed: set[Any] = set()
        self.remembered: dict[Any, tuple[str, list[Any], threading.Event]] = {}
        self.runs: dict[str, Json] = {}

    def log(self, line: str, context: Json, auth: Any) -> None:
        """Nothing of auth; of a state that is not public neither its values nor what the user wrote."""
        hidden = texts_in(auth)
        state = context.get("environment_state")
        if state is not None and state.get("privacy_tier") != "public":
            hidden += [context.get("user_intent") or "", *(found for key, found in state.items() if key != "privacy_tier" and isinstance(found, str))]
        with open(self.log_file, "a", encoding="utf-8") as file:
            file.write(self.hide(line, hidden) + "\n")

    @staticmethod
    def hide(line: str, hidden: list[str]) -> str:
        for secret in sorted(filter(None, hidden), key=len, reverse=True):
            line = line.replace(secret, "…")
        return line

    def directives(self, given: list[Any], has: Callable[[str], bool], denials: list[Json]) -> list[Json]:
        sent = []
        for directive in given:
            if not DIRECTIVE(directive):
                raise Refused("internal_error", "The engine failed.")
            payload = directive.get("payload") or {}
            if directive["action_type"] == "render_ui" and not has("openharness.ui.rich_cards"):
                denials.append({"capability": "openharness.ui.rich_cards", "code": "not_declared"})
                shown = payload.get("message") or payload.get("text") or payload.get("fallback_message")
                directive, payload = {"action_type": "render_message"}, {"message": shown or "A card cannot be shown."}
            if directive["action_type"] == "render_message":
                string = payload.get("message") or payload.get("text")
                directive = {**directive, "payload": {**payload, "message": string, "text": string}}
            if directive.get("execution") == "parallel" and not has("openharness.actions.parallel"):
                directive = {**directive, "execution": "sequential"}
            sent.append(directive)
        return sent

    def resume(self, continuation: Json, context: Json) -> Json:
        token, run_id = continuation.get("continuation_token"), continuation.get("run_id")
        with self.lock:
            run = self.runs.get(token) if token is not None else None
            if run is None and (token is None or token.startswith("own:")):
                return {"action_type": "com.example.own", "payload": {"continuation": continuation}}
            if run is None or context.get("session_id") not in (None, run["session"]) or run_id not in (None, run["id"]):
                raise Refused("invalid_continuation", "This continuation is not valid here.")
            if run["used"]:
                raise Refused("continuation_used", "This continuation was used before.")
            run["used"] = True
        return {"action_type": "com.example.resumed", "payload": {"data": run["data"], "session_id": run["session"]}}

    def handle(self, message: Json, has: Callable[[str], bool]) -> Json:
        """The content of a response, and the denials of what its directives need."""
        auth = message["request"].get("auth")
        context = without_nulls(message["request"].get("context") or {})
        self.handled += 1
        denials: list[Json] = []
        continuation = without_nulls(context.get("continuation") or {})
        if continuation:
            return {"denials": denials, "response": {"action_directives": [self.resume(continuation, context)]}}
        sop = (context.get("task_hint") or {}).get("sop_id")
        if sop is not None and sop != "conformance":
            raise Refused("unknown_sop", "This engine does not have that SOP.")
        if sop is not None:
            return {"denials": denials, "response": {"action_directives": [{"action_type": "com.example.sop"}]}}
        session = context.get("session_id") or f"sess-{secrets.token_hex(8)}"
        wish = (context.get("extensions") or {}).get(WISH) or {}
        if "log" in wish:
            self.log(wish["log"], context, auth)
        time.sleep(min(wish.get("wait_ms", 0), 2000) / 1000)
        if "crash" in wish:
            raise RuntimeError(wish["crash"])
        once = wish.get("fail", {}).get("once") and message.get("request_id")
        if "fail" in wish and (not once or once not in self.failed):
            self.failed.add(once)
            fail = json.loads(self.hide(json.dumps(wish["fail"]), texts_in(auth)))
            raise Refused(fail["code"], fail.get("message", "It failed."), fail.get("retryable", False), fail.get("details"))
        given = []
        if "continue" in wish:
            run = {"id": f"run-{secrets.token_hex(8)}", "session": session, "data": wish["continue"], "used": False}
            token = secrets.token_urlsafe(24)
            self.runs[token] = run
            given.append({"action_type": "request_approval", "payload": {"message": "Shall it go on?", "continuation": {"run_id": run["id"], "continuation_token": token}}})
        given += wish.get("directives", [])
        if wish.get("see"):
            given.append({"action_type": "com.example.seen", "payload": {
                "count": self.handled, "session_id": session, "conversation": json.dumps([session, context.get("conversation_id")]),
                "user_intent": context.get("user_intent"), "shell": context.get("shell"), "capabilities": message.get("capabilities"),
                "attachments": context.get("attachments", []),
            }})
        return {"denials": denials, "response": {"action_directives": self.directives(given, has, denials)}}

    def once(self, message: Json, has: Callable[[str], bool]) -> Json:
        """The same request with the same request_id, within a session, is handled once."""
        request_id = message.get("request_id")
        if request_id is None:
            return self.handle(message, has)
        asked = json.dumps({key: each for key, each in message.items() if key not in ("request_id", "correlation_id")}, sort_keys=True)
        key = (((message["request"].get("context") or {}).get("session_id")), request_id)
        with self.lock:
            before = self.remembered.get(key)
            if before is None:
                self.remembered[key] = (asked, [], threading.Event())
        known, outcome, done = self.remembered[key]
        if before is None:
            try:
                outcome.append(self.handle(message, has))
            except Exception as failure:
                outcome.append(failure)
                if isinstance(failure, Refused) and failure.error["retryable"]:
                    del self.remembered[key]
            done.set()
        elif known != asked:
            raise Refused("request_id_conflict", "This request_id belongs to another request.")
        done.wait()
        if isinstance(outcome[0], Exception):
            raise outcome[0]
        return outcome[0]

    def answer(self, message: Any) -> Json:
        begun = time.monotonic()
        envelope: Json = {"protocol_version": "1.0.0", "supported_protocol_versions": ["1.0.0"], "supported_capabilities": {name: True for name in OFFERED}}
        if isinstance(message, dict):
            envelope.update({name: message[name] for name in ("request_id", "correlation_id") if filled(message.get(name))})
        try:
            version = message.get("protocol_version") if isinstance(message, dict) else None
            if isinstance(version, str) and SEMVER.match(version) and version.split(".")[0] != "1":
                raise Refused("protocol_version_unsupported", "This engine does not support that version.")
            if not REQUEST(message):
                raise Refused("invalid_request", "The message is not a valid request.")
            asked = message.get("capabilities") or {}
            if any(holds_data(each) for each in (message["request"].get("context") or {}).get("attachments") or []):
                raise Refused("invalid_request", "An attachment must be a reference.")
            has: Callable[[str], bool] = lambda name: asked.get(name) not in (None, False)
            content = self.once(without_nulls(message), has)
            denied = [{"capability": name, "code": "not_supported"} for name in KNOWN if has(name) and name not in OFFERED]
            latency = round((time.monotonic() - begun) * 1000, 3)
            return {**envelope, "capability_denials": denied + content["denials"], "response": {"status": "success", "engine_latency_ms": latency, **content["response"]}}
        except Exception as failure:
            refused = failure if isinstance(failure, Refused) else Refused("internal_error", "The engine failed.")
            return {**envelope, "response": {"status": "error", "error": refused.error}}


def parse(content: bytes) -> Any:
    try:
        return json.loads(content.decode("utf-8"))
    except (ValueError, RecursionError):
        return None


def serve_lines(engine: Engine, source: BinaryIO, sink: BinaryIO) -> None:
    """One message a line; each is answered by a thread of its own."""
    lock = threading.Lock()

    def work(line: bytes) -> None:
        content = json.dumps(engine.answer(parse(line))).encode() + b"\n"
        with lock:
            sink.write(content)
            sink.flush()

    threads = []
    while line := source.readline():
        if line.strip():
            threads.append(threading.Thread(target=work, args=(line,)))
            threads[-1].start()
    for thread in threads:
        thread.join()


def serve_http(engine: Engine, endpoint: str, token: str) -> None:
    # Loaded where it is used: it takes longer than all other imports together.
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            size = int(self.headers.get("Content-Length", 0))
            shown = self.headers.get("Authorization", "").removeprefix("Bearer ")
            status = 401 if not hmac.compare_digest(shown.encode(), token.encode()) else 0
            status = status or (415 if self.headers.get_content_type() != "application/json" else 413 if size > MAX_BYTES else 0)
            body = self.rfile.read(size)
            content = b"" if status else json.dumps(engine.answer(parse(body))).encode()
            self.send_response(status or 200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            """Quiet."""

    ThreadingHTTPServer(("127.0.0.1", int(endpoint.split(":")[2].split("/")[0])), Handler).serve_forever()


if __name__ == "__main__":
    place = os.environ.get("CONFORMANCE_ENDPOINT", "stdio:")
    the_engine = Engine(os.environ.get("CONFORMANCE_DIR", "."))
    if place.startswith("http:"):
        serve_http(the_engine, place, os.environ["CONFORMANCE_TOKEN"])
    else:
        serve_lines(the_engine, sys.stdin.buffer, sys.stdout.buffer)
