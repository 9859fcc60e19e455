"""An agent of the Agent Harness Protocol 2.4, with nothing but Python's standard library.

    python3 agent.py --stdio 'python3 harness.py' COMMAND...
    python3 agent.py --http http://127.0.0.1:8080/ahp TOKEN_FILE COMMAND...

It asks a harness before it runs each command, and runs only what is allowed. Each step is a line of JSON on standard
output. Ends with 0, with 3 if something was refused, with 4 if the harness gave no usable answer.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import uuid
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from connections import HttpLine, Json, NoAnswer, StdioLine

NEEDS = {"allow": (), "block": ("reason",), "modify": ("modified_payload",), "defer": ("retry_after_ms",)}
NEEDS |= {"escalate": ("reason",)}


def now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Agent:
    """One session with a harness."""

    def __init__(self, line: StdioLine | HttpLine) -> None:
        self.line, self.depth, self.config = line, 0, {"timeout_ms": 10_000, "batch_size": 100}
        self.who = {"session_id": f"ses-{uuid.uuid4()}", "agent_id": "python-agent"}

    def call(self, method: str, params: Json) -> Any:
        """The result of a request. Raises NoAnswer for everything else."""
        request = {"jsonrpc": "2.0", "id": str(uuid.uuid4()), "method": method, "params": params}
        raw = self.line.send(request, self.config["timeout_ms"] / 1000)
        try:
            answer = json.loads(raw or b"")
            fits = answer["jsonrpc"] == "2.0" and ("result" in answer) != ("error" in answer)
            if "error" in answer and fits:
                raise NoAnswer(f"error {answer['error']['code']}: {answer['error']['message']}")
            if fits and answer["id"] == request["id"]:
                return answer["result"]
        except (ValueError, TypeError, KeyError, RecursionError):
            pass
        raise NoAnswer("the harness answered with something else")

    def handshake(self) -> None:
        info = {"framework": "python-agent", "version": "1.0.0", "capabilities": ["pre_action", "post_action"]}
        result = self.call("ahp/handshake", {"protocol_version": "2.4", "agent_info": info, **self.who})
        if not isinstance(result, dict) or str(result.get("protocol_version")).split(".")[0] != "2":
            raise NoAnswer("the harness speaks another version")
        limits = result.get("config") or {}
        self.config.update({name: limits[name] for name in self.config if type(limits.get(name)) is int})

    def event(self, kind: str, payload: Json) -> Json:
        return {"event_type": kind, **self.who, "timestamp": now(), "depth": self.depth, "payload": payload}

    def decide(self, kind: str, payload: Json) -> Json:
        """What the harness decides; block where it does not."""
        try:
            return usable(self.call("ahp/event", self.event(kind, payload)))
        except NoAnswer as why:
            return blocked(why)

    def batch(self, *events: Json) -> list[Json]:
        try:
            if len(events) > self.config["batch_size"]:
                raise NoAnswer("the batch is larger than the harness takes")
            result = self.call("ahp/batch", {"events": [*events]})
            decisions = result.get("decisions") if isinstance(result, dict) else None
            if not isinstance(decisions, list) or len(decisions) != len(events):
                raise NoAnswer("there are not as many decisions as events")
        except NoAnswer as why:
            return [blocked(why) for _ in events]
        return [usable(decision) for decision in decisions]

    def notify(self, kind: str, payload: Json) -> None:
        """Tells, and does not mind who hears it."""
        try:
            message = {"jsonrpc": "2.0", "method": "ahp/event", "params": self.event(kind, payload)}
            if self.line.send(message, self.config["timeout_ms"] / 1000):
                raise NoAnswer("the harness refused it")
        except NoAnswer as why:
            print(f"{kind} was not delivered: {why}", file=sys.stderr)

    def query(self, kind: str, payload: Json) -> Any:
        """The answer. There is no safe one: raises NoAnswer."""
        result = self.call("ahp/query", {**self.who, "query_type": kind, "payload": payload})
        if isinstance(result, dict) and "answer" in result:
            return result["answer"]
        raise NoAnswer("the harness answered the query with something else")


def blocked(why: NoAnswer) -> Json:
    return {"decision": "block", "reason": f"The harness gave no decision: {why}", "by": "agent"}


def usable(decision: Any) -> Json:
    """The decision if it is one; block if it is not."""
    name = decision.get("decision") if isinstance(decision, dict) else None
    if isinstance(name, str) and name in NEEDS and all(field in decision for field in NEEDS[name]):
        return dict(decision)
    return blocked(NoAnswer("that is no decision"))


def tell(step: str, **facts: Any) -> None:
    print(json.dumps({"step": step, **facts}), flush=True)


def changed_command(sent: Json, wanted: Any) -> Json:
    """The payload that runs. Raises NoAnswer for a change of anything but the command, which would run in part."""
    arguments = wanted.get("arguments") if isinstance(wanted, dict) else None
    if not isinstance(arguments, dict):
        raise NoAnswer("that is no command")
    applied = {**sent, "arguments": {"command": arguments.get("command")}}
    left = [name for name in wanted if name not in applied]
    left += [name for name in sent if wanted.get(name, applied[name]) != applied[name]]
    if left:
        raise NoAnswer(f"its change of {left[0]} cannot be applied")
    return applied


def run_command(payload: Any) -> int:
    """Its exit code. Raises NoAnswer for what the harness has made of it, if that is no command."""
    try:
        words = shlex.split(payload["arguments"]["command"])
        program = words[0]
    except (TypeError, KeyError, AttributeError, ValueError, IndexError):
        raise NoAnswer("that is no command") from None
    try:
        return subprocess.call(words, stdin=subprocess.DEVNULL, stdout=sys.stderr)
    except OSError as failure:
        print(f"{program} cannot be run: {failure.strerror}", file=sys.stderr)
        return 127


def work(agent: Agent, commands: list[str]) -> int:
    """Runs what the harness allows, as it allows it."""
    decisions: list[Json] = []
    run = {"run_id": f"run-{uuid.uuid4()}", "session_id": agent.who["session_id"]}
    agent.handshake()
    agent.notify("session_start", {})
    agent.notify("run_lifecycle", {**run, "status": "executing", "updated_at": now()})
    for command in commands:
        payload: Any = {"tool_name": "bash", "arguments": {"command": command}}
        decision, exit_code = agent.decide("pre_action", payload), None
        if decision["decision"] in ("allow", "modify"):
            try:
                if decision.get("modified_payload") is not None:
                    payload = changed_command(payload, decision["modified_payload"])
                exit_code = run_command(payload)
                agent.notify("post_action", {**payload, "exit_code": exit_code})
            except NoAnswer as why:
                decision = blocked(why)
        decisions.append(decision)
        tell("pre_action", command=command, decision=decision, exit_code=exit_code)
    prompt = agent.event("pre_prompt", {"prompt": f"I ran {len(commands)} commands"})
    told = agent.batch(prompt, agent.event("post_response", {"text": "Well done"}))
    tell("batch", decisions=told)
    agent.notify("run_lifecycle", {**run, "status": "completed", "updated_at": now()})
    tell("query", answer=agent.query("runs", {}))
    agent.notify("session_end", {})
    decisions += told
    if any("by" in decision for decision in decisions):
        return 4
    return 3 if any(decision["decision"] not in ("allow", "modify") for decision in decisions) else 0


def main(arguments: list[str]) -> int:
    line: StdioLine | HttpLine
    try:
        if len(arguments) > 1 and arguments[0] == "--stdio":
            line, commands = StdioLine(shlex.split(arguments[1])), arguments[2:]
        elif len(arguments) > 2 and arguments[0] == "--http":
            line, commands = HttpLine(arguments[1], Path(arguments[2]).read_text("ascii").strip()), arguments[3:]
        else:
            sys.exit(__doc__)
        try:
            return work(Agent(line), commands)
        finally:
            line.close()
    except NoAnswer as why:
        print(why, file=sys.stderr)
        return 4


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
