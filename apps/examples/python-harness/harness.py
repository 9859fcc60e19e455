"""A harness of the Agent Harness Protocol 2.4, with nothing but Python's standard library.

    python3 harness.py                         one message a line, on standard input and output
    python3 harness.py --http 8080 TOKEN_FILE  a message in each POST to http://127.0.0.1:8080/ahp

To make a harness of your own, replace the policy.
"""

from __future__ import annotations

import json
import sys
from collections import OrderedDict
from pathlib import Path
from typing import Any, Optional

Json = dict[str, Any]
MAX_MESSAGE_BYTES, MAX_KEPT = 4_194_304, 1000
LIMITS = {"timeout_ms": 10_000, "batch_size": 100, "max_depth": 10}
METHODS = ["ahp/handshake", "ahp/event", "ahp/batch", "ahp/query"]
GATES = {"pre_action", "pre_prompt"}
WAITING = GATES | {"idle", "intent_detection", "context_perception", "memory_recall", "planning", "reasoning"}
WAITING |= {"rate_limit", "confirmation"}
CONTRACTS = {  # the statuses of each; a list of tasks has none of its own
    "run_lifecycle": {"created", "planning", "executing", "verifying", "completed", "failed", "cancelled"},
    "verification": {"pending", "running", "passed", "failed", "skipped", "needs_review"},
    "task_list": set[str](),
}
TOLD = {"post_action", "post_response", "session_start", "session_end", "error", "heartbeat", "success"}
BATCHABLE = GATES | TOLD | CONTRACTS.keys()


def judge_action(payload: Any) -> Json:
    command = str(payload["arguments"]["command"])
    if "rm -rf" in command:
        return {"decision": "block", "reason": "removes files without a way back"}
    if command.startswith("sudo "):
        return {"decision": "escalate", "reason": "needs an administrator"}
    if command.startswith("git push") and "--dry-run" not in command:
        safe = {**payload, "arguments": {**payload["arguments"], "command": f"{command} --dry-run"}}
        return {"decision": "modify", "modified_payload": safe}
    return {"decision": "allow"}


def judge_prompt(payload: Any) -> Json:
    if "password" in json.dumps(payload).lower():
        return {"decision": "block", "reason": "holds a password"}
    return {"decision": "allow"}


POLICY = {
    "pre_action": judge_action,
    "pre_prompt": judge_prompt,
    "rate_limit": lambda payload: {"decision": "retry", "retry_after_ms": int(payload["retry_after_ms"])},
    "confirmation": lambda _: {"decision": "escalate"},
    "idle": lambda _: {"decision": "allow"},
}


class Refusal(Exception):
    """An answer that is an error: a code of JSON-RPC, a reason for programs, a text for people."""

    def __init__(self, code: int, reason: str, message: str) -> None:
        super().__init__(message)
        self.error = {"code": code, "message": message, "data": {"reason": reason}}


def reply(message_id: Any, **outcome: Any) -> Json:
    return {"jsonrpc": "2.0", "id": message_id, **outcome}


def remember(kept: OrderedDict[str, Any], key: str, value: Any) -> None:
    """Keeps the newest, and forgets the oldest where there are too many."""
    kept[key] = value
    kept.move_to_end(key)
    if len(kept) > MAX_KEPT:
        kept.popitem(last=False)


def texts(params: Any, *names: str) -> Json:
    if isinstance(params, dict) and all(isinstance(params.get(name), str) for name in names):
        return params
    raise Refusal(-32602, "invalid_params", f"Invalid params: {', '.join(names)} have to be texts")


def check_event(event: Any) -> Json:
    """Its depth, and its payload where others rely on the form. Raises a Refusal."""
    texts(event, "event_type", "session_id", "agent_id", "timestamp")
    kind, depth, payload = event["event_type"], event.get("depth"), event.get("payload")
    if kind not in BATCHABLE | WAITING or type(depth) is not int or depth < 0 or "payload" not in event:
        raise Refusal(-32602, "invalid_params", "Invalid event")
    if depth > LIMITS["max_depth"]:
        raise Refusal(-32602, "depth_exceeded", f"depth {depth} exceeds the limit of {LIMITS['max_depth']}")
    if kind in CONTRACTS:
        texts(payload, "run_id", "session_id", "updated_at")
        is_list = kind == "task_list" and isinstance(payload.get("tasks"), list)
        if not is_list and str(payload.get("status")) not in CONTRACTS[kind]:
            raise Refusal(-32602, "invalid_payload", f"Invalid {kind} payload")
    return dict(event)


class Harness:
    """A handshake holds for every session on its connection; over HTTP, for every session of the one token."""

    def __init__(self) -> None:
        self.is_introduced = False
        self.runs: OrderedDict[str, Json] = OrderedDict()

    def receive(self, body: bytes) -> tuple[Optional[Json], bool]:
        """The answer to a message, and whether it was a notification: that has one only if it is refused."""
        message, message_id, is_told = None, "", False
        try:
            if len(body) > MAX_MESSAGE_BYTES:
                raise Refusal(-32600, "message_too_large", "The message is too large")
            try:
                message = json.loads(body.decode("utf-8"))
            except (ValueError, RecursionError):
                raise Refusal(-32700, "not_json", "Parse error") from None
            if isinstance(message, dict) and type(message.get("id")) in (str, int):
                message_id = message["id"]
            is_call = isinstance(message, dict) and message.get("jsonrpc") == "2.0"
            if not is_call or message.get("id", message_id) != message_id or "method" not in message:
                raise Refusal(-32600, "not_json_rpc", "Not a request or notification of JSON-RPC 2.0")
            is_told = "id" not in message
            result = self.answer(message["method"], message.get("params"), is_told)
            return (None if is_told else reply(message_id, result=result)), is_told
        except Refusal as refusal:
            return reply(message_id, error=refusal.error), is_told

    def answer(self, method: Any, params: Any, is_told: bool) -> Any:
        if method not in METHODS:
            raise Refusal(-32601, "unknown_method", "Method not found")
        if is_told and method != "ahp/event":
            raise Refusal(-32602, "request_expected", f"{method} has to be a request")
        if method == "ahp/handshake":
            return self.shake(texts(params, "protocol_version", "session_id", "agent_id"))
        asked = params.get("events") if method == "ahp/batch" and isinstance(params, dict) else [params]
        if not isinstance(asked, list) or len(asked) > LIMITS["batch_size"]:
            raise Refusal(-32602, "batch_too_large", f"A batch has up to {LIMITS['batch_size']} events")
        for one in asked:
            texts(one, "session_id")
            if not self.is_introduced:
                raise Refusal(-32600, "handshake_required", "A handshake has to come first")
        if method == "ahp/query":
            return self.query(texts(params, "agent_id", "query_type")["query_type"])
        events = [check_event(one) for one in asked]
        if method == "ahp/batch":
            if not all(event["event_type"] in BATCHABLE for event in events):
                raise Refusal(-32602, "not_batchable", "An event has a decision of its own")
            return {"decisions": [self.decide_or_block(event) for event in events]}
        if is_told == (events[0]["event_type"] in WAITING):
            expected = "request" if is_told else "notification"
            raise Refusal(-32602, f"{expected}_expected", f"This event has to be a {expected}")
        return self.decide(events[0])

    def shake(self, params: Json) -> Json:
        if params["protocol_version"].split(".")[0] != "2":
            raise Refusal(-32000, "unsupported_version", "Unsupported version: this harness speaks 2")
        self.is_introduced = True
        info = {"name": "python-harness", "version": "1.0.0"}
        info["capabilities"] = [*POLICY, "post_action", "query", "batch", *CONTRACTS]
        return {"protocol_version": "2.4", "harness_info": info, "config": LIMITS}

    def decide(self, event: Json) -> Json:
        kind, payload = event["event_type"], event["payload"]
        if kind in CONTRACTS:
            run = self.runs.get(payload["run_id"], {})
            if payload["updated_at"] >= run.get(kind, payload)["updated_at"]:
                remember(self.runs, payload["run_id"], {**run, kind: payload})
        if kind not in WAITING:
            print(f"{kind} of {ascii(event['agent_id'])}", file=sys.stderr, flush=True)
            return {"decision": "allow"}
        if kind not in POLICY:
            raise Refusal(-32603, "not_supported", f"Handler error: Capability not supported: {kind}")
        try:
            return POLICY[kind](payload)
        except Exception as failure:  # its words may hold a secret, its class does not
            print(f"{type(failure).__name__} in the policy of {kind}", file=sys.stderr, flush=True)
            raise Refusal(-32603, "handler_failed", "Handler error: the policy failed") from None

    def decide_or_block(self, event: Json) -> Json:
        try:
            return self.decide(event)
        except Refusal as refusal:
            return {"decision": "block", "reason": str(refusal)}

    def query(self, kind: str) -> Json:
        if kind != "runs":
            return {"answer": None, "reason": "this harness answers queries of type runs"}
        return {"answer": [{"run_id": run_id, **run} for run_id, run in self.runs.items()]}


def serve_stdio() -> None:
    harness, stdin = Harness(), sys.stdin.buffer
    while line := stdin.readline(MAX_MESSAGE_BYTES + 1):
        rest = line
        while len(line) > MAX_MESSAGE_BYTES and rest and not rest.endswith(b"\n"):
            rest = stdin.readline(MAX_MESSAGE_BYTES)  # of a line that is too long
        answer, is_told = harness.receive(line)
        if answer and not is_told:
            print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    if len(sys.argv) == 1:
        serve_stdio()
    elif len(sys.argv) == 4 and sys.argv[1] == "--http":
        from http_binding import serve_http

        serve_http(Harness(), int(sys.argv[2]), Path(sys.argv[3]))
    else:
        sys.exit(__doc__)
