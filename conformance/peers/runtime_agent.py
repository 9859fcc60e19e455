"""An agent of the OpenSentience runtime protocol v1 with the test tools of the suite: Python's standard library only.

    harnesskit-conformance runtime-agent --start 'python3 runtime_agent.py' --on unix    (or tcp)

It is written from the specification and shares no code with this project. The core of harnesskit starts it, too:

    harness core --agent DIR --call conformance.agent/echo --input '{"text":"hi"}'

with DIR a folder of this file and opensentience.agent.json. For an agent of your own, replace SCHEMAS and Call.work.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
import struct
import sys
import time
import uuid
from datetime import datetime, timezone
from typing import Any, Optional

Json = dict[str, Any]
AGENT = "conformance.agent"
MAX_FRAME = 4_194_304
MAX_CALLS = 256
MAX_BYTES = 100_000
TIME = re.compile(r"^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$")
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"], "additionalProperties": False}
STEPS = {"type": "object", "properties": {"steps": {"type": "array"}}, "required": ["steps"], "additionalProperties": False}
SCHEMAS: dict[str, Json] = {"echo": TEXT, "act": STEPS, "extra": TEXT}
LINKS = ("request_id", "correlation_id", "causation_id")
TYPES = {"object": dict, "array": list, "string": str, "number": (int, float), "boolean": bool}
REPLIES = {"core.goodbye", "core.tools.registered", "core.tools.unregistered", "core.error"}


class Failure(Exception):
    """How a tool fails: a code, and a message that is safe."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.error = {"code": code, "message": message}


def now() -> str:
    return datetime.now(timezone.utc).isoformat()


def links_of(message: Json) -> Json:
    return {name: message[name] for name in LINKS if name in message}


def fits(value: Any, schema: Json) -> bool:
    """What of JSON Schema the test tools need."""
    expected = TYPES[schema["type"]]
    if not isinstance(value, expected) or (isinstance(value, bool) and expected is not bool):
        return False
    properties = schema.get("properties")
    if properties is None or not isinstance(value, dict):
        return True
    known = all(name in properties and fits(each, properties[name]) for name, each in value.items())
    return known and all(name in value for name in schema["required"])


def read_envelope(content: bytes) -> Json:
    """The message in a frame, without optional members that are null. Raises ValueError."""
    message = json.loads(content.decode("utf-8"))
    if not isinstance(message, dict):
        raise ValueError("not an object")
    message = {name: value for name, value in message.items() if value is not None}
    is_text = all(isinstance(message.get(name), str) and message[name] for name in ("type", "id", "ts"))
    version, payload = message.get("v"), message.get("payload")
    if not is_text or isinstance(version, bool) or not isinstance(version, int) or not isinstance(payload, dict):
        raise ValueError("not an envelope")
    if not TIME.match(message["ts"]):
        raise ValueError("not a time")
    return message


class Call:
    """One running call: its stream, its task and its one result."""

    def __init__(self, agent: "Agent", message: Json) -> None:
        self.agent = agent
        self.message = message
        self.call_id: str = message["payload"]["call_id"]
        self.started = now()
        self.seq = 0
        self.streamed = 0
        self.is_full = False
        self.task: Optional[asyncio.Task[None]] = None

    async def stream(self, channel: str, data: Json) -> None:
        if self.is_full:
            return
        self.seq += 1
        self.streamed += 64 + len(json.dumps(data))
        self.is_full = self.streamed > MAX_BYTES
        payload: Json = {"call_id": self.call_id, "seq": self.seq, "channel": channel, "data": data}
        if self.is_full:
            payload["done"] = True
        self.agent.send("agent.tool.stream", payload, links_of(self.message))
        await self.agent.writer.drain()

    def end(self, status: str, **members: Any) -> None:
        """Sends the result, the first time."""
        if self.agent.running.pop(self.call_id, None) is None:
            return
        payload = {"call_id": self.call_id, "status": status, "started_at": self.started, "finished_at": now(), **members}
        if not self.agent.send("agent.tool.result", payload, links_of(self.message)):
            error = {"code": "tool.output_too_large", "message": "the result does not fit into a frame"}
            self.agent.send("agent.tool.result", {"call_id": self.call_id, "status": "failed", "error": error}, links_of(self.message))

    def fail(self, failure: Failure) -> None:
        self.end("failed", error=failure.error)

    async def run(self) -> None:
        payload = self.message["payload"]
        limit = payload.get("timeout_ms")
        try:
            output = await asyncio.wait_for(self.work(payload), None if limit is None else limit / 1000)
            self.end("succeeded", output=output)
        except asyncio.TimeoutError:
            self.fail(Failure("tool.timeout", "the call took too long"))
        except asyncio.CancelledError:
            self.end("canceled", error={"code": "tool.canceled", "message": "the call was cancelled"})
        except Failure as failure:
            self.fail(failure)
        except Exception:  # What a tool raises may hold anything.
            self.fail(Failure("tool.failed", "the tool failed"))

    async def work(self, payload: Json) -> Json:
        if not payload["tool_id"].endswith("/act"):
            return {"text": payload["input"]["text"]}
        output: Json = {}
        for step in payload["input"]["steps"]:
            for channel in ("status", "stdout", "stderr", "log"):
                if channel in step:
                    await self.stream(channel, {"text": step[channel]})
            if "partial" in step:
                await self.stream("partial_result", {"json": step["partial"]})
            for _ in range(step.get("flood", 0)):
                await self.stream("stdout", {"text": "x" * 1000})
            if "unregister" in step:
                self.agent.send("agent.tools.unregister", {"tool_ids": [f"{AGENT}/{step['unregister']}"]})
            if "fail" in step:
                raise Failure(step["fail"], "as it was asked")
            if "throw" in step:
                raise RuntimeError(step["throw"])
            if "wait" in step:
                await asyncio.Event().wait()
            if "size" in step:
                output = self.agent.bounded({"text": "x" * step["size"]})
            output = step.get("return", output)
        return output


class Agent:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, token: str) -> None:
        self.reader, self.writer, self.token = reader, writer, token
        self.began = time.monotonic()
        self.max_frame = MAX_FRAME
        self.running: dict[str, Call] = {}
        self.known: set[str] = set()
        self.beats: Optional[asyncio.Task[None]] = None

    def send(self, kind: str, payload: Json, more: Optional[Json] = None) -> bool:
        """Writes one frame; False if it would be above the limit."""
        message = {"v": 1, "type": kind, "id": str(uuid.uuid4()), "ts": now(), "payload": payload, **(more or {})}
        content = json.dumps(message, ensure_ascii=False).encode("utf-8")
        if len(content) > self.max_frame:
            return False
        self.writer.write(struct.pack(">I", len(content)) + content)
        return True

    def bounded(self, output: Json) -> Json:
        """The output, or a reference to a file with it."""
        content = json.dumps(output).encode("utf-8")
        if len(content) <= MAX_BYTES:
            return output
        path = os.path.join(os.environ.get("CONFORMANCE_DIR", "."), f"output-{uuid.uuid4()}.json")
        with open(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600), "wb") as file:
            file.write(content)
        return {"output_file": {"path": path, "size_bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}, "truncated": True}

    async def serve(self) -> None:
        protocol = {"supported_versions": [1], "capabilities": ["tools", "streaming", "cancellation"]}
        hello = {"session_token": self.token, "agent_id": AGENT, "agent_version": "1.0.0", "protocol": protocol}
        self.send("agent.hello", {**hello, "sdk": {"name": "runtime_agent.py", "version": "1.0.0"}})
        try:
            while await self.take():
                await asyncio.sleep(0)
            await self.writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # The core is gone.
        for task in [self.beats, *(call.task for call in list(self.running.values()))]:
            if task is not None:
                task.cancel()
        self.writer.close()

    async def take(self) -> bool:
        """Reads one frame; False ends the session."""
        (size,) = struct.unpack(">I", await self.reader.readexactly(4))
        if size > MAX_FRAME:
            return False
        try:
            message = read_envelope(await self.reader.readexactly(size))
        except ValueError:
            return self.violated("protocol.invalid_message")
        if message["v"] != 1:
            return self.violated("protocol.unsupported_version")
        try:
            return self.handle(message)
        except (KeyError, TypeError):
            return self.violated("protocol.invalid_message")

    def violated(self, code: str) -> bool:
        self.send("agent.error", {}, {"error": {"code": code, "message": "the core sent what it may not send"}})
        return False

    def handle(self, message: Json) -> bool:
        kind, payload, reply = message["type"], message["payload"], {"in_reply_to": message["id"]}
        if kind == "core.welcome":
            if "error" in message:
                return False
            self.max_frame = payload["max_frame_bytes"]
            self.register()
            self.beats = asyncio.ensure_future(self.beat(payload["session_id"], payload["heartbeat_interval_ms"] / 1000))
        elif kind == "core.ping":
            self.send("agent.pong", {}, {**reply, **links_of(message)})
        elif kind == "core.tool.call":
            self.begin(message)
        elif kind == "core.tool.cancel":
            call = self.running.get(payload["call_id"])
            links = links_of(call.message if call else message)
            self.send("agent.tool.cancel_ack", {"call_id": payload["call_id"], "accepted": call is not None}, {**links, **reply})
            if call is not None and call.task is not None:
                call.task.cancel()
        elif kind not in REPLIES and "request_id" in message and "in_reply_to" not in message:
            error = {"code": "protocol.unknown_type", "message": "the type is not known"}
            self.send("agent.error", {}, {**reply, **links_of(message), "error": error})
        return True

    def register(self) -> None:
        tools = [
            {"tool_id": f"{AGENT}/{name}", "name": name, "description": f"The test tool {name}", "input_schema": schema, "side_effects": name == "extra"}
            for name, schema in SCHEMAS.items()
        ]
        self.send("agent.tools.register", {"tools": tools})

    def begin(self, message: Json) -> None:
        payload = message["payload"]
        call = Call(self, message)
        if call.call_id in self.known:
            return  # It has its result already, or will have it.
        self.known.add(call.call_id)
        refused = self.refusal_of(payload["tool_id"], payload["input"])
        self.running[call.call_id] = call
        if refused is not None:
            call.fail(refused)
        else:
            call.task = asyncio.ensure_future(call.run())

    def refusal_of(self, tool_id: str, given: Any) -> Optional[Failure]:
        schema = SCHEMAS.get(tool_id[len(AGENT) + 1 :]) if tool_id.startswith(f"{AGENT}/") else None
        if schema is None:
            return Failure("tool.not_found", "the agent has no tool of this id")
        if len(self.running) >= MAX_CALLS:
            return Failure("tool.busy", f"{MAX_CALLS} calls are running")
        if len(json.dumps(given, ensure_ascii=False).encode("utf-8")) > MAX_BYTES:
            return Failure("tool.input_too_large", f"the input exceeds {MAX_BYTES} bytes")
        if not fits(given, schema):
            return Failure("tool.invalid_input", "the input does not match the schema of the tool")
        return None

    async def beat(self, session_id: str, seconds: float) -> None:
        while True:
            await asyncio.sleep(seconds)
            uptime = int(1000 * (time.monotonic() - self.began))
            self.send("agent.heartbeat", {"session_id": session_id, "uptime_ms": uptime, "inflight_calls": len(self.running), "status": "ok"})


async def main() -> None:
    # How a core passes these is its own; the second names are those of harnesskit's core.
    endpoint = os.environ.get("CONFORMANCE_ENDPOINT") or f"unix:{os.environ['HARNESS_AGENT_SOCKET']}"
    token = os.environ.get("CONFORMANCE_TOKEN") or os.environ["HARNESS_SESSION_TOKEN"]
    if endpoint.startswith("unix:"):
        reader, writer = await asyncio.open_unix_connection(endpoint[5:])
    else:
        _, host, port = endpoint.split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
    await Agent(reader, writer, token).serve()


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
