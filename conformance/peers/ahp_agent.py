"""An agent of the Agent Harness Protocol 2.4 behind the driver of the suite: Python's standard library only.

    harnesskit-conformance ahp-client --start 'python3 ahp_agent.py' --on stdio    (or unix, tcp, http)

It is written from the specification and shares no code with this project.
"""

from __future__ import annotations

import json
import os
import shlex
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
import uuid
from datetime import datetime, timezone
from queue import Empty, SimpleQueue
from typing import Any, Callable, Optional

Json = dict[str, Any]
SAFE = {"idle": "defer", "rate_limit": "skip", "confirmation": "reject"}
TYPED = {"intent_detection", "context_perception", "memory_recall", "planning", "reasoning", *SAFE}
BLOCKING = {"pre_action", "pre_prompt", *TYPED}
TOLD = {"post_action", "post_response", "session_start", "session_end", "error", "heartbeat", "success", "run_lifecycle", "task_list", "verification"}
whole = lambda v: isinstance(v, int) and not isinstance(v, bool)
text = lambda v: isinstance(v, str)
anything = lambda v: True
mapping = lambda v: isinstance(v, dict)
block = {"reason": text}
GENERIC: dict[str, Json] = {
    "allow": {}, "block": block, "modify": {"modified_payload": anything}, "defer": {"retry_after_ms": whole}, "escalate": {"reason": text},
}
DECISIONS: dict[str, dict[str, Json]] = {
    "idle": {"allow": {}, "defer": {}},
    "intent_detection": {"allow": {"detected_intent": text, "confidence": lambda v: isinstance(v, (int, float))}, "block": block},
    "context_perception": {"allow": {"injected_context": mapping}, "block": block, "refine": {"scope_hints": lambda v: isinstance(v, list)}},
    "memory_recall": {"allow": {"injected_facts": lambda v: isinstance(v, list)}, "block": block},
    "planning": {"allow": {"selected_strategy": anything}, "block": block, "modify": {"modified_task": text}},
    "reasoning": {"allow": {}, "block": block},
    "rate_limit": {"retry": {"retry_after_ms": whole}, "queue": {}, "skip": block},
    "confirmation": {"approve": {}, "escalate": {}, "reject": block},
}


class Failure(Exception):
    def __init__(self, code: str, message: str, rpc: Optional[Json] = None) -> None:
        super().__init__(message)
        self.error: Json = {"code": code, "message": message}
        if rpc is not None:
            self.error.update(rpcCode=rpc.get("code"), rpcMessage=rpc.get("message"))


class Lines:
    """One message a line, to a socket or to a child process."""

    def __init__(self, endpoint: str) -> None:
        self.child: Optional[subprocess.Popen[bytes]] = None
        self.socket: Optional[socket.socket] = None
        if endpoint.startswith("stdio:"):
            self.child = subprocess.Popen(shlex.split(endpoint[6:]), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            assert self.child.stdin and self.child.stdout
            self.sink, self.source = self.child.stdin, self.child.stdout
        else:
            if endpoint.startswith("unix:"):
                self.socket = socket.socket(socket.AF_UNIX)
                self.socket.connect(endpoint[5:])
            else:
                host, port = endpoint[4:].rsplit(":", 1)
                self.socket = socket.create_connection((host, int(port)))
            self.sink, self.source = self.socket.makefile("wb"), self.socket.makefile("rb")  # type: ignore[assignment]
        self.lock, self.waiting = threading.Lock(), dict[str, SimpleQueue[Any]]()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self) -> None:
        for line in self.source:
            try:
                message = json.loads(line.decode())
                queue = self.waiting.get(message.get("id"))
            except (ValueError, AttributeError, TypeError):
                continue
            if queue is not None:
                queue.put(message)
        for queue in list(self.waiting.values()):
            queue.put(None)

    def send(self, message: Json, timeout: float) -> Any:
        queue: SimpleQueue[Any] = SimpleQueue()
        if "id" in message:
            self.waiting[message["id"]] = queue
        try:
            with self.lock:
                self.sink.write(json.dumps(message).encode() + b"\n")
                self.sink.flush()
            return queue.get(timeout=timeout) if "id" in message else None
        except Empty:
            raise Failure("timeout", "the harness did not answer in time") from None
        except OSError:
            raise Failure("connection_lost", "the harness is gone") from None
        finally:
            self.waiting.pop(message.get("id", ""), None)

    def close(self) -> None:
        if self.socket is not None:
            self.socket.shutdown(socket.SHUT_RDWR)
            self.socket.close()
        if self.child is not None:
            self.sink.close()
            try:
                self.child.wait(2)
            except subprocess.TimeoutExpired:
                self.child.kill()


class Posts:
    """One message a POST, with a bearer token."""

    def __init__(self, url: str, token: str) -> None:
        self.url, self.token = url, token
        self.opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def send(self, message: Json, timeout: float) -> Any:
        if "id" not in message:
            threading.Thread(target=self.post, args=(message, timeout), daemon=True).start()
            return None
        try:
            answer = json.loads(self.post(message, timeout) or b"null")
        except ValueError:
            return None
        return answer if isinstance(answer, dict) and answer.get("id") == message["id"] else None

    def post(self, message: Json, timeout: float) -> Optional[bytes]:
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        request = urllib.request.Request(self.url, json.dumps(message).encode(), headers)
        try:
            with self.opener.open(request, timeout=timeout) as response:
                return bytes(response.read()) if response.status == 200 else None
        except (OSError, ValueError) as failure:
            raise Failure("unreachable", type(failure).__name__) from None

    def close(self) -> None:
        """Nothing is open."""


class Agent:
    def __init__(self, endpoint: str, token: str) -> None:
        self.endpoint, self.token = endpoint, token
        self.line: Lines | Posts | None = None
        self.is_ready = False
        self.limits = {"timeout_ms": 10_000, "batch_size": 100, "max_depth": 10}
        self.who = {"session_id": f"ses-{uuid.uuid4()}", "agent_id": f"agt-{uuid.uuid4()}"}

    def call(self, method: str, params: Json, timeout_ms: Optional[int] = None) -> Any:
        request = {"jsonrpc": "2.0", "id": str(uuid.uuid4()), "method": method, "params": params}
        assert self.line
        answer = self.line.send(request, (timeout_ms or self.limits["timeout_ms"]) / 1000)
        if not isinstance(answer, dict) or answer.get("jsonrpc") != "2.0" or ("result" in answer) == ("error" in answer):
            raise Failure("invalid_answer", "the harness gave no usable answer")
        if "error" in answer:
            error = answer["error"] if isinstance(answer["error"], dict) else {}
            raise Failure("harness_error", "the harness answered with an error", error)
        return answer["result"]

    def ready(self) -> None:
        if not self.is_ready:
            raise Failure("handshake_required", "connect first")

    def connect(self, _: Json) -> Json:
        self.line = Posts(self.endpoint, self.token) if self.endpoint.startswith("http") else Lines(self.endpoint)
        info = {"framework": "python-peer", "version": "1.0.0", "capabilities": ["pre_action"]}
        result = self.call("ahp/handshake", {"protocol_version": "2.4", "agent_info": info, **self.who})
        if str(result.get("protocol_version")).split(".")[0] != "2":
            raise Failure("version_mismatch", "the harness speaks another major version")
        config = result.get("config") or {}
        self.limits.update({name: config[name] for name in self.limits if whole(config.get(name))})
        self.is_ready = True
        return {}

    def event(self, params: Json) -> Json:
        given = {name: value for name, value in params.items() if name != "timeout_ms" and value is not None}
        now = datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        return {**self.who, "timestamp": now, "depth": 0, **given}

    def decide(self, params: Json) -> Json:
        self.ready()
        kind = params["event_type"]
        if kind not in BLOCKING:
            raise Failure("invalid_event", f"{kind} is not an event that is decided")
        try:
            if params.get("depth", 0) > self.limits["max_depth"]:
                raise Failure("depth_exceeded", "deeper than the harness takes")
            return {"decision": usable(kind, self.call("ahp/event", self.event(params), params.get("timeout_ms")))}
        except Failure as failure:
            return {"decision": {"decision": SAFE.get(kind, "block"), "reason": str(failure)}}

    def notify(self, params: Json) -> Json:
        self.ready()
        assert self.line
        self.line.send({"jsonrpc": "2.0", "method": "ahp/event", "params": self.event(params)}, 10)
        return {"decision": {"decision": "allow"}}

    def batch(self, params: Json) -> Json:
        self.ready()
        events = params["events"]
        if any(event["event_type"] not in TOLD | {"pre_action", "pre_prompt"} for event in events):
            raise Failure("not_batchable", "an event has a decision of its own")
        try:
            if len(events) > self.limits["batch_size"]:
                raise Failure("batch_too_large", "more events than the harness takes")
            result = self.call("ahp/batch", {"events": [self.event(event) for event in events]})
            decisions = result.get("decisions") if isinstance(result, dict) else None
            if not isinstance(decisions, list) or len(decisions) != len(events):
                raise Failure("decision_count", "there are not as many decisions as events")
            return {"decisions": [usable(event["event_type"], each) for event, each in zip(events, decisions)]}
        except Failure as failure:
            return {"decisions": [{"decision": "block", "reason": str(failure)} for _ in events]}

    def query(self, params: Json) -> Any:
        self.ready()
        asked = {**self.who, "query_type": params["query_type"], "payload": params["payload"]}
        return self.call("ahp/query", asked, params.get("timeout_ms"))

    def close(self, _: Json) -> Json:
        if self.line is not None:
            self.line.close()
        return {}


def usable(kind: str, decision: Any) -> Json:
    """The decision without nulls. Raises a Failure where it is not one of the event."""
    cases = DECISIONS.get(kind, GENERIC)
    if isinstance(decision, dict) and isinstance(decision.get("decision"), str) and decision["decision"] in cases:
        fields = cases[decision["decision"]]
        if all(name in decision and check(decision[name]) for name, check in fields.items()):
            return {name: value for name, value in decision.items() if value is not None}
    raise Failure("invalid_decision", f"that is not a decision of {kind}")


def drive(agent: Agent) -> None:
    lock = threading.Lock()
    operations: dict[str, Callable[[Json], Any]] = {
        name: getattr(agent, name) for name in ("connect", "decide", "notify", "batch", "query", "close")
    }

    def work(request: Json) -> None:
        try:
            outcome = {"result": operations[request["do"]](request["params"])}
        except Failure as failure:
            outcome = {"error": failure.error}
        except Exception as failure:
            outcome = {"error": {"code": "unexpected", "message": repr(failure)}}
        with lock:
            print(json.dumps({"id": request["id"], **outcome}), flush=True)

    for line in sys.stdin:
        request = json.loads(line)
        if request["do"] == "notify":
            work(request)
        else:
            threading.Thread(target=work, args=(request,), daemon=True).start()


if __name__ == "__main__":
    drive(Agent(os.environ["CONFORMANCE_ENDPOINT"], os.environ["CONFORMANCE_TOKEN"]))
