"""The adapter of the suite over chat_harness.py: Python's standard library only.

    harnesskit-conformance chat --stdio 'python3 chat_adapter.py'

docs/chat-adapter.md describes what it does.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections import defaultdict
from queue import SimpleQueue
from typing import Any, Callable, Optional

import chat_harness as harness
from chat_harness import END, Graph, Harness, Sessions, Subgraph, Suspension
from chat_messages import Failure, Json, take_message

anything: Callable[[Any], bool] = lambda v: True
string: Callable[[Any], bool] = lambda v: isinstance(v, str)
FIELDS: dict[str, tuple[Any, Any, Any]] = {
    "messages": ([], harness.append, take_message),
    "script": ([], harness.last_write_wins, anything),
    "cursor": (0, harness.last_write_wins, anything),
    "note": ("none", harness.last_write_wins, string),
    "answer": ("", harness.last_write_wins, string),
    "scratch": (0, harness.last_write_wins, anything),
    "list": ([], harness.append, string),
    "map": ({}, harness.merge, anything),
    "flat": ([], harness.concat_flatten, anything),
    "all": ({}, harness.merge_all, anything),
    "bounded": ([], harness.bounded_append(3), anything),
    "unique": ([], harness.dedupe_append, anything),
    "keyed": ([], harness.merge_by_key("id"), anything),
}
STORED = [name for name in FIELDS if name not in ("script", "cursor", "scratch")]


def say(text: str) -> Json:
    return {"messages": [{"role": "assistant", "content": text}]}


def begin(state: Json, *_: Any) -> Json:
    try:
        script = json.loads(state["messages"][-1]["content"])["conformance"]
    except (ValueError, TypeError, KeyError):
        script = []
    return {"script": script, "cursor": 0}


def step(state: Json, suspend: Callable[..., None], save: Callable[[Json], None], is_resumed: bool) -> Optional[Json]:
    """One step of the script, as the contract of the suite describes it."""
    doing = state["script"][state["cursor"] - 1]
    if "ask" in doing:
        if doing.get("again") and is_resumed:
            return say(f"again: {state['answer']}")
        try:
            suspend(doing["ask"], not doing.get("again"))
        except Suspension:
            if "drop" not in doing:
                raise
            return say(doing["drop"])
    if "fail" in doing:
        raise Failure(doing["fail"].get("category", "node_exception"), doing["fail"]["message"])
    if "save" in doing:
        save(doing["save"])
    if "wait_ms" in doing:
        time.sleep(min(doing["wait_ms"], 2000) / 1000)
    if "count" in doing:
        return say(str(len(state["messages"])))
    if "show" in doing:
        return say(str(state[doing["show"]]))
    if string(doing.get("branch")):
        return {"note": doing["branch"]}
    return say(doing["say"]) if "say" in doing else {"messages": doing["add"]} if "add" in doing else doing.get("set")


def further(state: Json) -> Any:
    return "move" if state["cursor"] < len(state["script"]) else END


def behind_step(state: Json) -> Any:
    if "branch" not in state["script"][state["cursor"] - 1]:
        return further(state)
    if state["note"] == "throw":
        raise ValueError("no way")
    return "nowhere" if state["note"] == "nowhere" else "at"


def broken(_: Json) -> Json:
    raise ValueError("it cannot be migrated")


NODES: list[tuple[str, Any]] = [
    ("begin", begin), ("move", lambda state, *_: {"cursor": state["cursor"] + 1}), ("step", step), ("at", lambda state, *_: say(f"at {state['note']}")),
]
EDGES: list[tuple[str, Any]] = [("begin", further), ("move", "step"), ("step", behind_step), ("at", further)]
MIGRATIONS: list[tuple[str, str, Callable[[Json], Json]]] = [
    ("1", "2", lambda state: {**state, "note": f"two {state['note']}"}), ("2", "3", lambda state: {**state, "note": f"three {state['note']}"}), ("0", "3", broken),
]
nothing: Callable[..., None] = lambda *_: None
LINE = [("a", nothing), ("b", nothing)]
# What is different in the graphs that do not compile: their entry, nodes and edges.
BROKEN: dict[str, tuple[Optional[str], list[Any], list[Any]]] = {
    "no-entry": (None, LINE, [("a", "b"), ("b", END)]),
    "unreachable": ("a", LINE, [("a", END), ("b", "a")]),
    "dangling": ("a", LINE, [("a", "b"), ("b", "nowhere")]),
    "two-edges": ("a", LINE, [("a", "b"), ("a", END), ("b", END)]),
    "no-edge": ("a", LINE, [("a", "b")]),
    "two-nodes": ("a", [*LINE, ("b", nothing)], [("a", "b"), ("b", END)]),
}


# How the fields of the graph inside of the nested graphs are copied in and out.
NESTED: dict[str, tuple[Json, Optional[Json]]] = {
    "nested": ({}, None), "nested-inputs": ({"note": "note"}, None), "nested-outputs": ({}, {"note": "answer"}),
    "nested-projects": ({"note": "note"}, {"list": "list"}), "nested-wait": ({"note": "note"}, None),
}


def nested(name: str) -> Graph:
    inside = {**{key: FIELDS[key] for key in ("answer", "list")}, "note": ("inner", harness.last_write_wins, string)}
    look: Callable[..., Json] = lambda state, *_: {"list": [f"saw {state['note']}"], "answer": "inner answer"}
    wait: Callable[..., Any] = lambda state, suspend, *_: suspend({"signal_id": state["note"]}) if name == "nested-wait" else None
    after: Callable[..., Json] = lambda state, *_: {"list": [f"after {state['answer']}"]}
    inner = Graph(inside, "look", [("look", look), ("wait", wait), ("after", after)], [("look", "wait"), ("wait", "after"), ("after", END)])
    before: Callable[..., Json] = lambda state, *_: {"list": ["before"], "note": state["messages"][-1]["content"]}
    nodes = [("before", before), ("inner", Subgraph(inner, *NESTED[name])), ("behind", lambda *_: {"list": ["behind"]})]
    return Graph(FIELDS, "before", nodes, [("before", "inner"), ("inner", "behind"), ("behind", END)])


def graph_of(name: str) -> Graph:
    if name in NESTED:
        return nested(name)
    if name in BROKEN:
        return Graph(FIELDS, *BROKEN[name])
    fields = {key: field for key, field in FIELDS.items() if key != "messages" or name != "no-messages"}
    if name == "last-message":
        fields["messages"] = ([], harness.last_write_wins, anything)
    if name == "no-limit":
        fields["bounded"] = ([], harness.bounded_append(0), anything)
    return Graph(fields, "begin", NODES, EDGES)


class Adapter:
    def __init__(self, directory: str, notify: Callable[[Json], None]) -> None:
        self.file, self.notify = os.path.join(directory, "chat.json"), notify
        self.harness: Any = None
        self.faults: set[str] = set()
        self.listeners: dict[str, tuple[str, Callable[[Json], None]]] = {}

    def create(self, graph: str) -> Json:
        twice = MIGRATIONS + MIGRATIONS[:1] if graph == "ambiguous" else MIGRATIONS
        sessions = Sessions(STORED, "3", twice) if graph in ("versioned", "ambiguous") else Sessions(STORED, "", [])
        self.harness = Harness(graph_of(graph), sessions, self.file, self.faults)
        return {}

    def send(self, session_id: Any, message: Any) -> Json:
        return self.harness.send(session_id, message)

    def signal(self, **named: Any) -> Json:
        return self.harness.signal(**named)

    def subscribe(self, session_id: str, fails: bool = False) -> Json:
        subscription = f"sub-{len(self.listeners) + 1}"

        def listener(turn: Json) -> None:
            if fails:
                raise ValueError("the listener failed")
            self.notify({"method": "delivered", "params": {"subscription": subscription, "session_id": session_id, "outcome": turn}})

        self.listeners[subscription] = (session_id, listener)
        self.harness.listeners[session_id].append(listener)
        return {"subscription": subscription}

    def unsubscribe(self, subscription: str) -> Json:
        session_id, listener = self.listeners[subscription]
        self.harness.listeners[session_id].remove(listener)
        return {}

    def sessions(self) -> Json:
        return {"sessions": [{key: value for key, value in each.items() if key != "state"} for each in self.harness.sessions.values()]}

    def session(self, session_id: str) -> Json:
        return {"record": self.harness.sessions.get(session_id)}

    def seed(self, session_id: str, state: Json, schema_version: str = "") -> Json:
        self.harness.sessions[session_id] = {"session_id": session_id, "state": state, "schema_version": schema_version}
        return {}

    def forget(self, session_id: str) -> Json:
        self.harness.sessions.pop(session_id, None)
        self.harness.write()
        return {}

    def fault(self, at: str) -> Json:
        self.faults.add(at)
        return {}

    def counts(self) -> Json:
        since, self.harness.numbers = self.harness.numbers, {"loads": 0, "saves": 0, "runs": 0}
        return since


def serve() -> None:
    lock = threading.Lock()

    def write(content: Json) -> None:
        with lock:
            print(json.dumps({"jsonrpc": "2.0", **content}), flush=True)

    adapter = Adapter(os.environ.get("CONFORMANCE_DIR", "."), write)

    def work(request: Json) -> None:
        try:
            write({"id": request["id"], "result": getattr(adapter, request["method"])(**request.get("params", {}))})
        except Failure as failure:
            write({"id": request["id"], "error": {"code": -32000, "message": str(failure), "data": {"category": failure.category}}})
        except Exception as failure:
            write({"id": request["id"], "error": {"code": -32603, "message": repr(failure)}})

    # The calls of one session in their order, those of others beside them.
    lanes: dict[str, SimpleQueue[Json]] = defaultdict(SimpleQueue)

    def drain(lane: SimpleQueue[Json]) -> None:
        while True:
            work(lane.get())

    for line in sys.stdin:
        request = json.loads(line)
        name = str(request.get("params", {}).get("session_id", request["method"]))
        if name not in lanes:
            threading.Thread(target=drain, args=(lanes[name],), daemon=True).start()
        lanes[name].put(request)


if __name__ == "__main__":
    serve()
