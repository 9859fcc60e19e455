"""The connections of runtime_core.py: what an agent may send, its tools and its calls."""

from __future__ import annotations

import asyncio
import json
import re
import secrets
import struct
import time
import uuid
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, Optional

if TYPE_CHECKING:
    from runtime_core import Core

Json = dict[str, Any]
DENIED = "conformance-denied"
TIME = re.compile(r"^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$")
TYPES = {"object": dict, "array": list, "string": str, "number": (int, float), "integer": int, "boolean": bool, "null": type(None)}
SILENT = {"agent.heartbeat", "agent.tool.cancel_ack", "agent.error"}


def size_of(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False).encode("utf-8"))


def failed(code: str, status: str = "failed") -> Json:
    return {"status": status, "error": {"code": code, "message": f"the call ended with {code}"}}


def is_schema(schema: Any) -> bool:
    return isinstance(schema, dict) and (schema.get("type") in TYPES if "type" in schema else True)


def fits(value: Any, schema: Json) -> bool:
    """Types, required members and no others where they are not allowed."""
    if "type" in schema and not isinstance(value, TYPES[schema["type"]]):
        return False
    if not isinstance(value, dict):
        return True
    properties = schema.get("properties", {})
    if any(name not in value for name in schema.get("required", [])):
        return False
    return all(fits(each, properties[name]) if name in properties else schema.get("additionalProperties", True) is not False for name, each in value.items())


def read_envelope(content: bytes) -> Json:
    """The message in a frame, without optional members that are null. Raises ValueError."""
    message = json.loads(content.decode("utf-8"))
    if not isinstance(message, dict):
        raise ValueError("not an object")
    message = {name: value for name, value in message.items() if value is not None}
    is_text = all(isinstance(message.get(name), str) and message[name] for name in ("type", "id", "ts"))
    version = message.get("v")
    if not is_text or isinstance(version, bool) or not isinstance(version, int) or not isinstance(message.get("payload"), dict) or not TIME.match(message["ts"]):
        raise ValueError("not an envelope")
    return message


class Launch:
    def __init__(self, agent_id: str, permissions: list[str], lifetime: float) -> None:
        self.agent_id, self.permissions = agent_id, permissions
        self.token = secrets.token_urlsafe(32)
        self.due = time.monotonic() + lifetime
        self.hellos = 1


class Call:
    def __init__(self, session: "Session", params: Json) -> None:
        self.session, self.params, self.id = session, params, str(uuid.uuid4())
        self.chunks: asyncio.Queue[Json] = asyncio.Queue(1000)
        self.result: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        self.timer: Optional[asyncio.TimerHandle] = None


class Session:
    """One connection of an agent."""

    def __init__(self, core: "Core", reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.core, self.reader, self.writer = core, reader, writer
        self.launch: Optional[Launch] = None
        self.id = str(uuid.uuid4())
        self.tools: dict[str, Json] = {}
        self.running: dict[str, Call] = {}
        self.waiting: list[Call] = []
        self.heard = time.monotonic()

    @property
    def is_stale(self) -> bool:
        return time.monotonic() - self.heard > 3 * self.core.options["heartbeat_interval_ms"] / 1000

    def send(self, kind: str, payload: Json, reply_to: Optional[Json] = None, **more: Any) -> str:
        """Writes one frame; the id of the message, or nothing if it would be above the limit."""
        message: Json = {"v": 1, "type": kind, "id": str(uuid.uuid4()), "ts": datetime.now(timezone.utc).isoformat(), "payload": payload}
        message.update({name: value for name, value in more.items() if value is not None})
        if reply_to is not None:
            message.update({"in_reply_to": reply_to["id"], **{name: reply_to[name] for name in ("request_id",) if name in reply_to}})
        content = json.dumps(message, ensure_ascii=False).encode("utf-8")
        if len(content) > self.core.options["max_frame_bytes"]:
            return ""
        self.writer.write(struct.pack(">I", len(content)) + content)
        return str(message["id"])

    def refuse(self, code: str, reply_to: Optional[Json] = None, kind: str = "core.error") -> None:
        self.send(kind, {}, reply_to, error={"code": code, "message": "the core cannot take this message"})

    async def serve(self) -> None:
        try:
            while await self.take():
                await asyncio.sleep(0)
            await self.writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # The agent is gone.
        self.core.leave(self)
        self.writer.close()

    async def take(self) -> bool:
        """Reads one frame; False ends the connection."""
        (size,) = struct.unpack(">I", await self.reader.readexactly(4))
        if size > self.core.options["max_frame_bytes"]:
            self.core.audit("agent.violation", code="protocol.frame_too_large")
            return False
        try:
            message = read_envelope(await self.reader.readexactly(size))
        except ValueError:
            self.refuse("protocol.invalid_message")
            return self.launch is not None
        if message["v"] != 1:
            self.refuse("protocol.unsupported_version", message)
            return False
        if (message["type"] == "agent.hello") != (self.launch is None):
            self.refuse("protocol.out_of_order", message)
            return False
        try:
            return self.greet(message) if self.launch is None else self.handle(message)
        except (AttributeError, KeyError, TypeError):
            self.refuse("protocol.invalid_message", message)
            return self.launch is not None

    def greet(self, hello: Json) -> bool:
        payload, options = hello["payload"], self.core.options
        launch = self.core.launches.get(payload.get("session_token"))
        if launch is None or launch.agent_id != payload["agent_id"] or launch.hellos < 1 or time.monotonic() > launch.due:
            self.refuse("protocol.unauthorized", hello, "core.welcome")
            return False
        launch.hellos -= 1
        if 1 not in payload["protocol"]["supported_versions"]:
            self.refuse("protocol.unsupported_version", hello, "core.welcome")
            return False
        self.launch, self.heard = launch, time.monotonic()
        self.core.sessions[launch.agent_id] = self
        welcome = {"accepted_version": 1, "session_id": self.id, "heartbeat_interval_ms": options["heartbeat_interval_ms"], "max_frame_bytes": options["max_frame_bytes"]}
        self.send("core.welcome", {**welcome, "server": {"core_version": "1.0.0", "instance_id": self.core.id}}, hello)
        return True

    def handle(self, message: Json) -> bool:
        kind, payload = message["type"], message["payload"]
        if kind == "agent.tools.register":
            self.register(message)
        elif kind == "agent.tools.unregister":
            for tool_id in payload["tool_ids"]:
                self.tools.pop(tool_id, None)
            self.send("core.tools.unregistered", {}, message)
        elif kind == "agent.tool.result":
            self.take_result(payload)
        elif kind == "agent.tool.stream":
            call = self.running.get(payload["call_id"])
            if call is None:
                self.core.audit("tool.stray")
            elif not call.chunks.full():
                call.chunks.put_nowait({"channel": payload["channel"], "data": self.core.redacted(payload["data"])})
        elif kind == "agent.heartbeat":
            if payload["session_id"] == self.id:
                self.heard = time.monotonic()
        elif kind == "agent.pong":
            self.core.pings.pop(message["in_reply_to"]).set_result({})
        elif kind not in SILENT and "request_id" in message and "in_reply_to" not in message:
            self.refuse("protocol.unknown_type", message)
        return True

    def register(self, message: Json) -> None:
        payload = message["payload"]
        if payload.get("replace") is True:
            self.tools.clear()
        registered: list[str] = []
        rejected: list[Json] = []
        for tool in payload["tools"]:
            code = self.problem_of(tool)
            if code is None:
                self.tools[tool["tool_id"]] = tool
                registered.append(tool["tool_id"])
            else:
                tool_id = str(tool.get("tool_id", "")) if isinstance(tool, dict) else ""
                rejected.append({"tool_id": tool_id, "error": {"code": code, "message": "the tool cannot be registered"}})
        self.send("core.tools.registered", {"registered": registered, "rejected": rejected}, message)

    def problem_of(self, tool: Any) -> Optional[str]:
        if not isinstance(tool, dict) or not all(isinstance(tool.get(name), str) for name in ("tool_id", "name", "description")):
            return "tool.invalid_declaration"
        if self.launch is None or tool["tool_id"] != f"{self.launch.agent_id}/{tool['name']}":
            return "tool.not_namespaced"
        if tool["tool_id"] in self.tools:
            return "tool.conflict"
        if size_of(tool) > self.core.options["max_tool_bytes"]:
            return "tool.declaration_too_large"
        return None if is_schema(tool.get("input_schema")) else "tool.invalid_declaration"

    def start(self, call: Call) -> None:
        if len(self.running) < self.core.options["max_inflight_requests"]:
            self.dispatch(call)
        elif len(self.waiting) < self.core.options["max_queued_calls"]:
            self.waiting.append(call)
        else:
            call.result.set_result(failed("tool.busy"))

    def dispatch(self, call: Call) -> None:
        params = call.params
        optional = {name: params[name] for name in ("timeout_ms", "idempotency_key", "caller", "context") if name in params}
        links = {"request_id": str(uuid.uuid4()), "correlation_id": params.get("correlation_id", call.id), "causation_id": params.get("causation_id"), "actor": params.get("actor")}
        self.running[call.id] = call
        self.core.audit("tool.call", call_id=call.id)
        if not self.send("core.tool.call", {"call_id": call.id, "tool_id": params["tool_id"], "input": params["input"], **optional}, **links):
            self.end(call, failed("tool.input_too_large"))
        elif "timeout_ms" in params:
            call.timer = asyncio.get_running_loop().call_later(params["timeout_ms"] / 1000, self.late, call)

    def late(self, call: Call) -> None:
        self.send("core.tool.cancel", {"call_id": call.id, "reason": "it took too long"})
        self.end(call, failed("tool.timeout"))

    def take_result(self, payload: Json) -> None:
        call = self.running.get(payload["call_id"])
        if call is None:
            return self.core.audit("tool.stray")
        output = payload.get("output") or {}
        if size_of(output) > self.core.options["max_tool_output_bytes"]:
            return self.end(call, failed("tool.output_too_large"))
        end = {"output": output} if payload["status"] == "succeeded" else {"error": self.core.redacted(payload.get("error") or failed("tool.failed")["error"])}
        self.end(call, {"status": payload["status"], **end})

    def end(self, call: Call, result: Json) -> None:
        self.running.pop(call.id, None)
        if call.timer is not None:
            call.timer.cancel()
        self.core.audit("tool.result", call_id=call.id)
        if not call.result.done():
            call.result.set_result(result)
        if self.waiting and len(self.running) < self.core.options["max_inflight_requests"]:
            self.dispatch(self.waiting.pop(0))
