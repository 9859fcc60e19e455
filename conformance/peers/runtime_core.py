"""A core of the OpenSentience runtime protocol v1 behind the driver of the suite: Python's standard library only.

    harnesskit-conformance runtime-core --start 'python3 runtime_core.py' --on unix    (or tcp)

It is written from the specification and shares no code with this project. Its connections are in runtime_core_session.py.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import uuid
from typing import Any, Optional

from runtime_core_session import DENIED, Call, Json, Launch, Session, failed, fits, size_of

DEFAULTS: Json = {
    "heartbeat_interval_ms": 5000, "token_lifetime_ms": 60_000, "max_frame_bytes": 4_194_304, "max_inflight_requests": 256,
    "max_queued_calls": 1024, "max_tool_input_bytes": 1_000_000, "max_tool_output_bytes": 1_000_000, "max_tool_bytes": 262_144,
}
# How an agent gets where its core is: the names are those that harnesskit's agents read.
NAMES = {"socket": "HARNESS_AGENT_SOCKET", "token": "HARNESS_SESSION_TOKEN", "heartbeat_interval_ms": "HARNESS_HEARTBEAT_INTERVAL_MS", "max_frame_bytes": "HARNESS_MAX_FRAME_BYTES"}


class Core:
    def __init__(self, endpoint: str) -> None:
        self.endpoint, self.id = endpoint, str(uuid.uuid4())
        self.options = dict(DEFAULTS)
        self.launches: dict[str, Launch] = {}
        self.sessions: dict[str, Session] = {}
        self.calls: dict[str, Call] = {}
        self.keys: dict[tuple[str, str], tuple[Json, Call]] = {}
        self.directives: dict[str, Json] = {}
        self.pings: dict[str, asyncio.Future[Json]] = {}
        self.events: list[Json] = []
        self.processes: list[asyncio.subprocess.Process] = []
        self.server: Optional[asyncio.AbstractServer] = None

    def audit(self, action: str, **members: Any) -> None:
        self.events.append({"action": action, **members})

    def redacted(self, value: Any) -> Any:
        """Without session tokens, at any depth."""
        text = json.dumps(value)
        for token in self.launches:
            text = text.replace(token, "[redacted]")
        return json.loads(text)

    def leave(self, session: Session) -> None:
        """The connection of an agent is over, and so are its calls."""
        if session.launch is not None and self.sessions.get(session.launch.agent_id) is session:
            del self.sessions[session.launch.agent_id]
        for call in session.waiting:
            call.result.set_result(failed("agent.unavailable"))
        session.waiting.clear()
        for call in list(session.running.values()):
            session.end(call, failed("agent.lost"))

    def problem_of(self, params: Json) -> Optional[str]:
        """Why a call is not sent."""
        session = self.sessions.get(params["tool_id"].split("/")[0])
        if session is None or session.launch is None or session.is_stale:
            return "agent.unavailable"
        tool = session.tools.get(params["tool_id"])
        if tool is None:
            return "tool.not_found"
        if size_of(params["input"]) > self.options["max_tool_input_bytes"]:
            return "tool.input_too_large"
        if not fits(params["input"], tool["input_schema"]):
            return "tool.invalid_input"
        if params.get("caller", {}).get("id") == DENIED or DENIED in session.launch.permissions:
            return "tool.not_permitted"
        if tool.get("requires_directive") is not True:
            return None
        directive = self.directives.get(params.get("directive", ""))
        if directive is None or directive["uses"] < 1 or (directive["tool_id"], directive["input"]) != (params["tool_id"], params["input"]):
            return "tool.directive_required"
        directive["uses"] -= 1
        return None

    def admit(self, agent_id: str, permissions: Optional[list[str]] = None) -> str:
        launch = Launch(agent_id, permissions or [], self.options["token_lifetime_ms"] / 1000)
        self.launches[launch.token] = launch
        self.audit("agent.admitted", agent_id=agent_id)
        return launch.token

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await Session(self, reader, writer).serve()

    async def do_listen(self, **options: Any) -> Json:
        self.options.update(options)
        if self.endpoint.startswith("unix:"):
            before = os.umask(0o177)
            self.server = await asyncio.start_unix_server(self.serve, self.endpoint[5:])
            os.umask(before)
        else:
            _, host, port = self.endpoint.split(":")
            self.server = await asyncio.start_server(self.serve, host, int(port))
        return {}

    async def do_admit(self, agent_id: str, permissions: Optional[list[str]] = None, **_: Any) -> Json:
        return {"token": self.admit(agent_id, permissions)}

    async def do_launch(self, agent_id: str, command: list[str]) -> Json:
        values = {**self.options, "socket": self.endpoint[5:], "token": self.admit(agent_id)}
        environment = {**os.environ, **{variable: str(values[name]) for name, variable in NAMES.items()}}
        self.processes.append(await asyncio.create_subprocess_exec(*command, env=environment, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL))
        return dict(NAMES)

    async def do_call(self, name: str, **params: Any) -> Json:
        key = (params["tool_id"], params.get("idempotency_key", ""))
        if key[1] != "" and key in self.keys:
            given, call = self.keys[key]
            return await call.result if given == params["input"] else failed("tool.idempotency_conflict")
        problem = self.problem_of(params)
        if problem is not None:
            return failed(problem)
        session = self.sessions[params["tool_id"].split("/")[0]]
        call = self.calls[name] = Call(session, params)
        if key[1] != "":
            self.keys[key] = (params["input"], call)
        session.start(call)
        return {"call_id": call.id, **await call.result}

    async def do_cancel(self, name: str, reason: Optional[str] = None) -> Json:
        call = self.calls[name]
        call.session.send("core.tool.cancel", {"call_id": call.id, **({} if reason is None else {"reason": reason})})
        return {}

    async def do_chunk(self, name: str) -> Json:
        return {"chunk": await self.calls[name].chunks.get()}

    async def do_issue(self, tool_id: str, input: Json, max_uses: int) -> Json:
        directive = str(uuid.uuid4())
        self.directives[directive] = {"tool_id": tool_id, "input": input, "uses": max_uses}
        return {"directive": directive}

    async def do_tools(self) -> Json:
        return {"tools": [tool_id for session in self.sessions.values() for tool_id in session.tools]}

    async def do_health(self, agent_id: str) -> Json:
        session = self.sessions.get(agent_id)
        return {"status": "disconnected" if session is None else "unhealthy" if session.is_stale else "ok"}

    async def do_ping(self, agent_id: str) -> Json:
        answer: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        self.pings[self.sessions[agent_id].send("core.ping", {})] = answer
        return await answer

    async def do_goodbye(self, agent_id: str, reason: str) -> Json:
        session = self.sessions[agent_id]
        session.send("core.goodbye", {"reason": reason})
        session.writer.close()
        return {}

    async def do_audit(self) -> Json:
        return {"events": self.events}


async def drive(core: Core) -> None:
    """Does what lines on standard input ask, side by side, until they end."""

    async def do(line: bytes) -> None:
        request = json.loads(line)
        try:
            outcome: Json = {"result": await getattr(core, f"do_{request['do']}")(**request["params"])}
        except Exception as error:
            outcome = {"error": {"code": type(error).__name__, "message": str(error)}}
        sys.stdout.write(json.dumps({"id": request["id"], **outcome}) + "\n")
        sys.stdout.flush()

    lines = asyncio.StreamReader(limit=2**24)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    running: set[asyncio.Task[None]] = set()
    while line := await lines.readline():
        task = asyncio.ensure_future(do(line))
        running.add(task)
        task.add_done_callback(running.discard)
    for process in core.processes:
        if process.returncode is None:
            process.kill()


if __name__ == "__main__":
    asyncio.run(drive(Core(os.environ["CONFORMANCE_ENDPOINT"])))
