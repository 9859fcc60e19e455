"""A thread server with the test agent of the suite, on standard input and output: Python's standard library only.

    harnesskit-conformance threads-server --stdio 'python3 thread_server.py'

It is written from the specification and shares no code with this project. It has no extensions.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import threading
import uuid
from pathlib import Path
from typing import Any, Callable, Optional

from thread_parts import Json, Refused, Turn, is_input, now, run_command, steps_of, string

MAX_BYTES = 4_194_304


class Server:
    def __init__(self, directory: Path) -> None:
        self.directory, self.root = directory, directory / ".harness" / "threads"
        self.threads: dict[str, Json] = {}
        self.events: dict[str, list[Json]] = {}
        self.always: set[tuple[str, str]] = set()
        self.resolved: set[str] = set()
        self.turns: dict[str, Turn] = {}
        self.workers: list[threading.Thread] = []
        self.lock = threading.RLock()

    def write(self, message: Any) -> None:
        with self.lock:
            sys.stdout.buffer.write(json.dumps(message).encode() + b"\n")
            sys.stdout.buffer.flush()

    def log(self, thread_id: str, name: str, params: Json) -> None:
        """Stored, then told."""
        with self.lock:
            events = self.events[thread_id]
            events.append({"seq": len(events) + 1, "time": now(), "type": name, "data": params})
            with (self.root / thread_id / "events.jsonl").open("a") as file:
                file.write(json.dumps(events[-1]) + "\n")
                file.flush()
                os.fsync(file.fileno())
            self.write({"jsonrpc": "2.0", "method": name, "params": params})

    def load(self) -> None:
        for meta in sorted(self.root.glob("*/meta.json")):
            thread = json.loads(meta.read_text())
            thread_id = thread["threadId"]
            self.threads[thread_id] = thread
            lines = (meta.parent / "events.jsonl").read_text().splitlines()
            self.events[thread_id] = [json.loads(line) for line in lines]
            self.resume(thread_id)

    def resume(self, thread_id: str) -> None:
        """A turn that asked goes on asking; another one that was cut off ends with an error."""
        events = self.events[thread_id]
        started = [event["data"]["turn"] for event in events if event["type"] == "turn.started"]
        ended = {event["data"]["turnId"] for event in events if event["type"] in ("turn.completed", "turn.error")}
        for turn in started:
            if turn["turnId"] in ended:
                continue
            mine = [event for event in events if event["data"].get("turnId") == turn["turnId"]]
            asked = [event["data"] for event in mine if event["type"] == "approval.requested"]
            users = [event["data"]["item"] for event in mine if event["type"] == "item.completed" and event["data"]["type"] == "user_message"]
            running = Turn(turn, steps_of(users[0]["data"]["content"] if users else []))
            if not asked or asked[-1]["requestId"] in self.resolved:
                self.end(running, "error")
                continue
            running.request_id = asked[-1]["requestId"]
            command = asked[-1]["metadata"]["input"]["command"]
            running.skip_to = next(index for index, step in enumerate(running.steps) if step.get("run") == command)
            self.begin(running, asked[-1])

    def begin(self, running: Turn, asked: Optional[Json] = None) -> None:
        self.turns[running.turn["threadId"]] = running
        worker = threading.Thread(target=self.work, args=(running, asked))
        self.workers.append(worker)
        worker.start()

    def item(self, running: Turn, kind: str, data: Json, deltas: list[str] = []) -> None:
        ids = {"threadId": running.turn["threadId"], "turnId": running.turn["turnId"]}
        whole = {"itemId": f"itm_{uuid.uuid4()}", **ids, "type": kind}
        params = {**ids, "itemId": whole["itemId"], "type": kind}
        self.log(ids["threadId"], "item.started", {**params, "item": {**whole, "data": {}}})
        for delta in deltas:
            self.log(ids["threadId"], "item.delta", {**params, "delta": delta})
        self.log(ids["threadId"], "item.completed", {**params, "item": {**whole, "data": data}})

    def end(self, running: Turn, status: str) -> None:
        thread_id, turn_id = running.turn["threadId"], running.turn["turnId"]
        with self.lock:
            self.turns.pop(thread_id, None)
            turn = {**running.turn, "status": status, "time": {**running.turn["time"], "completed": now()}}
            params = {"threadId": thread_id, "turnId": turn_id, "turn": turn}
            if status == "error":
                self.log(thread_id, "turn.error", {**params, "error": "The turn failed", "code": "turn_failed"})
            else:
                self.log(thread_id, "turn.completed", {**params, "status": status})

    def work(self, running: Turn, asked: Optional[Json]) -> None:
        for step in running.steps[running.skip_to :]:
            if running.is_cancelled:
                break
            if "say" in step:
                self.item(running, "assistant_message", {"text": step["say"]}, re.split("(?<= )", step["say"]))
            elif "think" in step:
                self.item(running, "assistant_message", {"text": step["think"], "reasoning": True}, [step["think"]])
            elif "who" in step:
                model = running.turn.get("model") or {}
                text = f"{model.get('providerID')}/{model.get('modelID')} {running.turn.get('agent')}"
                self.item(running, "assistant_message", {"text": text}, [text])
            elif "artifact" in step:
                self.item(running, "artifact", {"kind": "file", "path": step["artifact"], "mimeType": "text/plain", "sizeBytes": 3})
            elif "run" in step:
                self.call(running, step["run"], asked)
                asked = None
            elif "fail" in step:
                return self.end(running, "error")
            elif "wait" in step:
                with running.changed:
                    running.changed.wait_for(lambda: running.is_cancelled)
        self.end(running, "cancelled" if running.is_cancelled else "completed")

    def call(self, running: Turn, command: str, asked: Optional[Json]) -> None:
        thread_id = running.turn["threadId"]
        action = {"tool": "bash", "input": {"command": command}}
        if (thread_id, command) not in self.always:
            if asked is None:
                digest = hashlib.sha256(json.dumps({"input": action["input"], "tool": "bash"}, separators=(",", ":")).encode())
                asked = {
                    "threadId": thread_id, "turnId": running.turn["turnId"], "itemId": f"itm_{uuid.uuid4()}",
                    "requestId": f"apr_{uuid.uuid4()}", "permission": "bash",
                    "metadata": {**action, "preview": command, "digest": f"sha256:{digest.hexdigest()}"},
                }
                running.request_id = asked["requestId"]
                self.log(thread_id, "approval.requested", asked)
            with running.changed:
                running.changed.wait_for(lambda: running.decision is not None or running.is_cancelled)
            decision, running.decision, running.request_id = running.decision or "reject", None, None
            self.resolved.add(asked["requestId"])
            told = {name: asked[name] for name in ("requestId", "permission", "metadata")}
            self.item(running, "approval", {**told, "decision": decision, "resolvedBy": "client"})
            if decision == "always":
                self.always.add((thread_id, command))
            if decision == "reject":
                return self.item(running, "tool_exec", {**action, "status": "rejected", "error": "The user said no"})
        code, stdout, stderr = run_command(command, self.directory, running)
        for stream, text in (("stdout", stdout), ("stderr", stderr)):
            if text:
                self.item(running, "tool_log", {"toolItemId": "bash", "stream": stream, "text": text}, [text])
        status = "cancelled" if running.is_cancelled else "succeeded" if code == 0 else "failed"
        self.item(running, "tool_exec", {**action, "status": status, "output": {"exitCode": code}})

    # Methods: each returns its result, and what is to happen once the reply is out.

    def initialize(self, _: Json) -> Any:
        capabilities = {name: True for name in ("threads", "turns", "approvals", "streaming", "persistence")}
        return {"version": "1.0.0", "capabilities": capabilities}, None

    def create(self, params: Json) -> Any:
        title, directory = string(params, "title", ""), string(params, "directory", str(self.directory))
        inside = (self.directory / directory).resolve()
        if inside != self.directory.resolve() and self.directory.resolve() not in inside.parents:
            raise Refused(-32602, "directory has to be inside of that of the server")
        thread_id, moment = f"ses_{uuid.uuid4().hex}", now()
        thread = {"threadId": thread_id, "title": title, "directory": str(inside), "time": {"created": moment, "updated": moment}}
        (self.root / thread_id).mkdir(parents=True)
        (self.root / thread_id / "meta.json").write_text(json.dumps(thread))
        (self.root / thread_id / "events.jsonl").touch()
        self.threads[thread_id], self.events[thread_id] = thread, []
        return {"thread": thread}, lambda: self.log(thread_id, "thread.created", {"threadId": thread_id, "thread": thread})

    def list(self, _: Json) -> Any:
        return {"threads": [*self.threads.values()]}, None

    def find(self, params: Json) -> Json:
        thread = self.threads.get(string(params, "threadId"))
        if thread is None:
            raise Refused(-32001, "there is no such thread")
        return thread

    def get(self, params: Json) -> Any:
        thread = self.find(params)
        return {"thread": thread, "events": self.events[thread["threadId"]]}, None

    def start(self, params: Json) -> Any:
        thread_id, content = self.find(params)["threadId"], params.get("input")
        if not isinstance(content, list) or not all(is_input(part) for part in content):
            raise Refused(-32602, "input has to be a list of text and file parts")
        model, agent = params.get("model") or {}, params.get("agent") or "code"
        if model.get("providerID", "offline") != "offline" or agent != "code":
            raise Refused(-32602, "this server has the model offline and the agent code")
        if thread_id in self.turns:
            raise Refused(-32002, "the thread has an active turn")
        turn = {"turnId": f"trn_{uuid.uuid4().hex}", "threadId": thread_id, "status": "running", "time": {"started": now()}, "model": model, "agent": agent}
        running = Turn(turn, steps_of(content))
        self.turns[thread_id] = running

        def after() -> None:
            self.log(thread_id, "turn.started", {"threadId": thread_id, "turnId": turn["turnId"], "turn": turn})
            self.item(running, "user_message", {"content": content})
            self.begin(running)

        return {"turnId": turn["turnId"]}, after

    def cancel(self, params: Json) -> Any:
        running = self.turns.get(self.find(params)["threadId"])
        if running is None:
            raise Refused(-32003, "the thread has no active turn")

        def after() -> None:
            with running.changed:
                running.is_cancelled = True
                running.changed.notify()

        return {"ok": True}, after

    def respond(self, params: Json) -> Any:
        request_id, decision = string(params, "requestId"), string(params, "decision")
        if decision not in ("once", "always", "reject"):
            raise Refused(-32602, "decision has to be once, always or reject")
        running = next((turn for turn in self.turns.values() if turn.request_id == request_id), None)
        if running is None:
            data = {"reason": "already_resolved", "by": "client"} if request_id in self.resolved else None
            raise Refused(-32004, "there is no such approval", data)
        # Answered: what answers it again, before the turn goes on, is too late.
        running.request_id = None
        self.resolved.add(request_id)

        def after() -> None:
            with running.changed:
                running.decision = decision
                running.changed.notify()

        return {"ok": True}, after

    def receive(self, line: bytes) -> None:
        try:
            message = json.loads(line.decode())
        except (ValueError, RecursionError):
            return self.write({"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "Invalid JSON"}})
        is_batch = isinstance(message, list) and len(message) > 0
        handled = [self.handle(each) for each in (message if is_batch else [message])]
        answers = [answer for answer, _ in handled if answer is not None]
        if answers:
            self.write(answers if is_batch else answers[0])
        for _, after in handled:
            if after is not None:
                after()

    def handle(self, message: Any) -> tuple[Optional[Json], Optional[Callable[[], None]]]:
        """The answer to one message, and what is to happen once it is out."""
        methods: dict[str, Callable[[Json], Any]] = {
            "initialize": self.initialize, "thread.create": self.create, "thread.list": self.list, "thread.get": self.get,
            "turn.start": self.start, "turn.cancel": self.cancel, "approval.respond": self.respond,
        }
        after, is_told = None, False
        given = message.get("id") if isinstance(message, dict) else None
        message_id = given if isinstance(given, (str, int)) and not isinstance(given, bool) else None
        try:
            is_call = isinstance(message, dict) and message.get("jsonrpc") == "2.0" and isinstance(message.get("method"), str)
            if not is_call or ("id" in message and message_id is None):
                raise Refused(-32600, "Not a request of JSON-RPC 2.0")
            is_told = "id" not in message
            if message["method"] not in methods:
                raise Refused(-32601, "Unknown method")
            params = message.get("params", {})
            if not isinstance(params, dict):
                raise Refused(-32602, "params have to be an object")
            result, after = methods[message["method"]](params)
            answer: Json = {"result": result}
        except Refused as refused:
            answer = {"error": refused.error}
        return None if is_told else {"jsonrpc": "2.0", "id": message_id, **answer}, after


def main() -> None:
    server = Server(Path(os.environ.get("CONFORMANCE_DIR", ".")))
    server.load()
    while line := sys.stdin.buffer.readline(MAX_BYTES):
        if line.strip():
            with server.lock:
                server.receive(line)
    # A turn that runs goes on to its end; one that asks or waits stays as it is, for the next start.
    for worker in server.workers:
        worker.join(1)
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
