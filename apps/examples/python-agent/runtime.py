"""The runtime protocol (OpenSentience v1) for an agent, with nothing but Python's standard library.

A core starts the agent, with a socket's path and a session token in the environment. It says hello, registers its
tools, sends heartbeats, runs calls side by side, and ends when the core does.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sys
import time
import uuid
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timezone
from itertools import count
from pathlib import Path
from typing import Any, NoReturn, Optional

Json = dict[str, Any]
Emit = Callable[[str], Awaitable[None]]
STARTED_AT = time.monotonic()
MAX_FRAME_BYTES = 4_194_304  # until the welcome names another limit
MAX_CALLS, MAX_CALL_MS, MAX_RETRY_AFTER_MS = 256, 600_000, 300_000
REPLY_TIMEOUT_S, CLOSE_TIMEOUT_S = 10, 1


class Ended(Exception):
    """The connection is over and the agent with it: refused, lost or broken."""


class Goodbye(Exception):
    """The core closes. The argument says after how many milliseconds the agent may come back, if it may."""


class ToolError(Exception):
    """How a call fails: a stable code for programs and a message for people, both free of secrets."""

    def __init__(self, code: str, message: str, **more: Any) -> None:
        super().__init__(message)
        self.error: Json = {"code": code, "message": message, **more}


@dataclass(frozen=True)
class Context:
    """What a tool gets beside its input: a way to say how far it is, and the project that the call is for, if any."""

    emit: Emit
    project_root: Optional[str]


@dataclass(frozen=True)
class Tool:
    """
    `run` takes the input and the context, returns the output, and does not block. `fields` are schemas, of which those in
    `optional` may be absent. A tool that declares no `permissions` needs all of the manifest.
    """

    run: Callable[[Json, Context], Awaitable[Json]]
    description: str
    fields: dict[str, Json]
    optional: frozenset[str] = frozenset()
    side_effects: bool = False
    permissions: tuple[str, ...] = ()

    def declaration(self, tool_id: str) -> Json:
        required = [name for name in self.fields if name not in self.optional]
        fields = {"properties": self.fields, "required": required, "additionalProperties": False}
        named = {"tool_id": tool_id, "name": tool_id.split("/")[1], "description": self.description}
        effects = {"side_effects": self.side_effects, "permissions": [*self.permissions]}
        return {**named, "input_schema": {"type": "object", **fields}, **effects}

    def check(self, given: Any) -> None:
        """Raises `tool.invalid_input` for an input that does not fit the schema, and does not quote it."""
        if not isinstance(given, dict) or not set(self.fields) - self.optional <= set(given) <= set(self.fields):
            raise ToolError("tool.invalid_input", f"the input has exactly these fields: {[*self.fields]}")
        for name, value in given.items():
            if not fits(self.fields[name], value):
                raise ToolError("tool.invalid_input", f"{name} has to fit {json.dumps(self.fields[name])}")


def fits(field: Json, value: Any) -> bool:
    """Whether a value fits the schema of a field, of the kinds that these tools have."""
    if field["type"] == "integer":
        return type(value) is int and field["minimum"] <= value <= field["maximum"]
    if field["type"] == "object":
        return isinstance(value, dict)
    if not isinstance(value, str) or value not in field.get("enum", [value]):
        return False
    is_sized = field.get("minLength", 0) <= len(value) <= field.get("maxLength", len(value))
    return is_sized and re.fullmatch(field.get("pattern", ".*"), value, re.DOTALL) is not None


def now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def echo(message: Json) -> Json:
    """What ties everything that is sent about a request to it."""
    return {key: message[key] for key in ("request_id", "correlation_id", "causation_id") if key in message}


def parse(body: bytes) -> Json:
    """The message in a frame. Raises ValueError where there is none."""
    try:
        message: Json = json.loads(body.decode("utf-8"))
        texts = [message["type"], message["id"], message["ts"], message.get("in_reply_to", "")]
        texts += echo(message).values()
        fits = type(message["v"]) is int and isinstance(message["payload"], dict)
    except (TypeError, KeyError, RecursionError):
        fits = False
    if not fits or not all(isinstance(text, str) for text in texts):
        raise ValueError("no message")
    return message


class Session:
    """One connection to a core."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, manifest: Json, tools: dict[str, Tool]) -> None:
        self.reader, self.writer = reader, writer
        self.agent_id, self.version = manifest["id"], manifest["version"]
        self.tools = {f"{self.agent_id}/{name}": tool for name, tool in tools.items()}
        self.max_frame_bytes = frame_limit()
        self.calls: dict[str, asyncio.Future[Json]] = {}  # the work that goes on, by call_id
        self.ids: dict[str, Json] = {}  # the ids to be echoed about a call that runs, by call_id
        self.tasks: set[asyncio.Task[None]] = set()
        self.flushing = asyncio.Lock()  # older Pythons let only one task wait for a full buffer

    async def serve(self, token: str) -> NoReturn:
        """Serves the core until the connection ends, which Goodbye or Ended tells."""
        protocol = {"supported_versions": [1], "capabilities": ["tools", "streaming", "cancellation"]}
        who = {"agent_id": self.agent_id, "agent_version": self.version, "protocol": protocol}
        beating: Optional[asyncio.Task[None]] = None
        try:
            welcome = await self.ask("agent.hello", {"session_token": token, **who}, "core.welcome")
            limit, interval_ms = welcome.get("max_frame_bytes"), welcome.get("heartbeat_interval_ms")
            if welcome.get("accepted_version") != 1 or type(limit) is not int or type(interval_ms) is not int:
                raise Ended("protocol.invalid_message: the core's welcome cannot be used")
            self.max_frame_bytes = limit
            beating = self.start(self.heartbeat(welcome.get("session_id"), max(interval_ms, 10) / 1000))
            declarations = [tool.declaration(tool_id) for tool_id, tool in self.tools.items()]
            answer = await self.ask("agent.tools.register", {"tools": declarations}, "core.tools.registered")
            for refused in answer.get("rejected", []):
                print(f"the core refused {refused['tool_id']}: {refused['error']['code']}", file=sys.stderr)
            while True:
                await self.handle(await self.receive())
        except (EOFError, ConnectionError):
            raise Ended("the core closed the connection") from None
        except asyncio.TimeoutError:
            raise Ended("the core did not answer in time") from None
        finally:
            await self.close(beating)

    async def ask(self, kind: str, payload: Json, answer_kind: str) -> Json:
        """Sends what the core has to answer, and returns the answer's payload."""
        asked = self.send(kind, payload)
        while True:
            message = await asyncio.wait_for(self.receive(), REPLY_TIMEOUT_S)
            if message["type"] == answer_kind or message.get("in_reply_to") == asked:
                if "error" in message:
                    raise Ended(f"{message['error']['code']}: {message['error']['message']}")
                return dict(message["payload"])
            await self.handle(message)

    async def heartbeat(self, session_id: Any, interval_s: float) -> None:
        while True:
            uptime_ms = int((time.monotonic() - STARTED_AT) * 1000)
            health = {"uptime_ms": uptime_ms, "inflight_calls": len(self.calls), "status": "ok"}
            self.send("agent.heartbeat", {"session_id": session_id, **health})
            await self.flush()
            await asyncio.sleep(interval_s)

    async def receive(self) -> Json:
        """The next message. What is none is refused, and the next frame is read."""
        while True:
            length = int.from_bytes(await self.reader.readexactly(4), "big")
            if length > self.max_frame_bytes:
                raise Ended("protocol.frame_too_large: what follows cannot be read")
            try:
                message = parse(await self.reader.readexactly(length))
            except ValueError:  # whose words may quote the frame
                self.refuse({}, "protocol.invalid_message", "a frame held no message")
                await self.flush()
                continue
            if message["v"] == 1:
                return message
            self.refuse(message, "protocol.unsupported_version", "version 1 was agreed")
            raise Ended("protocol.unsupported_version: the core speaks another one than was agreed")

    async def handle(self, message: Json) -> None:
        kind, payload = message["type"], message["payload"]
        if kind == "core.tool.call":
            self.call(message)
        elif kind == "core.tool.cancel":
            work = self.calls.get(str(payload.get("call_id")))
            ack = {"call_id": payload.get("call_id"), "accepted": work is not None and work.cancel()}
            ids = self.ids.get(str(payload.get("call_id")), echo(message))  # a cancellation need not repeat them
            self.send("agent.tool.cancel_ack", ack, in_reply_to=message["id"], **ids)
        elif kind == "core.ping":
            self.send("agent.pong", {}, in_reply_to=message["id"], **echo(message))
        elif kind == "core.goodbye":
            raise Goodbye(payload.get("retry_after_ms"))
        elif "request_id" in message and not {"in_reply_to", "error"} & message.keys():
            self.refuse(message, "protocol.unknown_type", "this agent does not know the type")
        await self.flush()

    def call(self, message: Json) -> None:
        payload = message["payload"]
        call_id, timeout_ms = payload.get("call_id"), payload.get("timeout_ms", MAX_CALL_MS)
        if not isinstance(call_id, str) or call_id in self.calls or type(timeout_ms) is not int:
            return self.refuse(message, "protocol.invalid_message", "call_id or timeout_ms cannot be used")
        try:
            tool = self.tools.get(str(payload.get("tool_id")))
            if tool is None:
                raise ToolError("tool.not_found", "this agent has no such tool")
            if len(self.calls) >= MAX_CALLS:
                raise ToolError("tool.busy", f"{MAX_CALLS} calls are running", retryable=True)
            tool.check(payload.get("input"))
        except ToolError as refusal:
            self.result(message, "failed", error=refusal.error)
        else:
            work = asyncio.ensure_future(tool.run(payload["input"], self.context(message)))
            self.calls[call_id], self.ids[call_id] = work, echo(message)
            self.start(self.finish(message, work, min(timeout_ms, MAX_CALL_MS) / 1000))

    def context(self, message: Json) -> Context:
        """A call says how far it is in chunks that are numbered from 1."""
        context = message["payload"].get("context")
        root = context.get("project_root") if isinstance(context, dict) else None
        call_id, numbers = message["payload"]["call_id"], count(1)

        async def emit(text: str) -> None:
            chunk = {"call_id": call_id, "seq": next(numbers), "channel": "status", "data": {"text": text}}
            self.send("agent.tool.stream", chunk, **echo(message))
            await self.flush()

        return Context(emit, root if isinstance(root, str) else None)

    async def finish(self, message: Json, work: asyncio.Future[Json], timeout_s: float) -> None:
        """Waits for a call's end, or brings it about, and sends its one result."""
        _, late = await asyncio.wait({work}, timeout=timeout_s)
        if late:
            work.cancel()
            await asyncio.wait({work})
        del self.calls[message["payload"]["call_id"]], self.ids[message["payload"]["call_id"]]
        try:
            self.result(message, "succeeded", output=work.result())
        except asyncio.CancelledError:
            if late:
                self.result(message, "failed", error=ToolError("tool.timeout", "it took too long").error)
            else:
                self.result(message, "canceled", error=ToolError("tool.canceled", "it was cancelled").error)
        except ToolError as failure:
            self.result(message, "failed", error=failure.error)
        except Exception as failure:  # its words may hold a secret, its class does not
            print(f"{type(failure).__name__} in {message['payload']['tool_id']}", file=sys.stderr)
            self.result(message, "failed", error=ToolError("tool.failed", "the tool failed").error)
        await self.flush()

    def result(self, message: Json, status: str, **outcome: Json) -> None:
        ended = {"call_id": message["payload"]["call_id"], "status": status, "finished_at": now()}
        self.send("agent.tool.result", {**ended, **outcome}, in_reply_to=message["id"], **echo(message))

    def refuse(self, message: Json, code: str, text: str) -> None:
        to = {"in_reply_to": message["id"], **echo(message)} if message else {}
        self.send("agent.error", {}, error={"code": code, "message": text}, **to)

    def send(self, kind: str, payload: Json, **more: Any) -> str:
        """Puts a message into the buffer in one step, and returns its id."""
        message = {"v": 1, "type": kind, "id": str(uuid.uuid4()), "ts": now(), "payload": payload, **more}
        body = json.dumps(message, allow_nan=False).encode()
        if len(body) > self.max_frame_bytes:
            raise ToolError("tool.output_too_large", f"a message has more than {self.max_frame_bytes} bytes")
        self.writer.write(len(body).to_bytes(4, "big") + body)
        return str(message["id"])

    async def flush(self) -> None:
        """Waits while the core reads more slowly than this agent writes; its end is the reader's matter."""
        async with self.flushing:
            with suppress(ConnectionError):
                await self.writer.drain()

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return task

    async def close(self, beating: Optional[asyncio.Task[None]]) -> None:
        """Cancels what runs, sends the results as far as the core still reads, and closes."""
        if beating:
            beating.cancel()
        for work in self.calls.values():
            work.cancel()
        with suppress(OSError, asyncio.TimeoutError):
            await asyncio.wait_for(asyncio.gather(*self.tasks, return_exceptions=True), CLOSE_TIMEOUT_S)
            self.writer.close()
            await asyncio.wait_for(self.writer.wait_closed(), CLOSE_TIMEOUT_S)
        self.writer.transport.abort()


def frame_limit() -> int:
    """The bytes of the largest frame, as the core says in the environment; the welcome says what holds."""
    text = os.environ.get("HARNESS_MAX_FRAME_BYTES", "")
    return int(text) if text.isdecimal() and text.isascii() and int(text) > 0 else MAX_FRAME_BYTES


def take_launch_parameters() -> tuple[str, str]:
    """The socket's path and the session token, which leaves the environment at once."""
    try:
        token = os.environ.pop("HARNESS_SESSION_TOKEN")
        return os.environ["HARNESS_AGENT_SOCKET"], token
    except KeyError as missing:
        raise Ended(f"{missing.args[0]} is not set: a core has to start this agent") from None


async def run(tools: dict[str, Tool], socket_path: str, token: str) -> None:
    """Serves until the core says goodbye for good; comes back when it says when."""
    manifest = json.loads(Path(__file__).with_name("opensentience.agent.json").read_text("utf-8"))
    if this := asyncio.current_task():
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, this.cancel)
    while True:
        reader, writer = await asyncio.open_unix_connection(socket_path)
        try:
            await Session(reader, writer, manifest, tools).serve(token)
        except Goodbye as goodbye:
            retry_after_ms = goodbye.args[0]
            if type(retry_after_ms) is not int:
                return
            await asyncio.sleep(min(retry_after_ms, MAX_RETRY_AFTER_MS) / 1000)


def main(tools: dict[str, Tool]) -> int:
    """Runs the agent with these tools, by their names. Returns the exit code."""
    try:
        asyncio.run(run(tools, *take_launch_parameters()))
    except (asyncio.CancelledError, KeyboardInterrupt):
        return 0
    except (Ended, OSError) as end:
        print(end, file=sys.stderr)
        return 1
    return 0

