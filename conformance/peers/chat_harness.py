"""A small chat harness with a graph engine of its own, written from the specification: Python's standard library only.

chat_adapter.py is its adapter for the suite. It shares no code with this project.
"""

from __future__ import annotations

import copy
import json
import os
import threading
import uuid
from collections import defaultdict
from typing import Any, Callable, Optional

from chat_messages import BUCKETS, REPLIES, Failure, Json, filled, need, take_message


class Suspension(BaseException):
    def __init__(self, descriptor: Json) -> None:
        self.descriptor = descriptor


# Reducers: each takes the value and the update


def each_is(kind: type, reduce: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def checked(prior: Any, update: Any) -> Any:
        need(isinstance(update, list) and all(isinstance(part, kind) for part in update), "the reducer cannot take the update", "reducer_error")
        return reduce(prior, update)
    return checked


def merge(prior: Json, update: Any) -> Json:
    need(isinstance(update, dict), "the update is not a mapping", "reducer_error")
    return {**prior, **update}


def bounded_append(limit: int) -> Callable[[Any, Any], Any]:
    need(limit >= 1, "a bounded list needs a limit of at least 1", "reducer_configuration_invalid")
    return each_is(object, lambda prior, update: (prior + update)[-limit:] if update else prior)


def merge_by_key(key: str) -> Callable[[Any, Any], Any]:
    def reduce(prior: list[Json], update: list[Json]) -> list[Json]:
        items = list(prior)
        for item in update:
            need(key in item, "an item has no key", "reducer_error")
            found = [index for index, each in enumerate(items) if each.get(key) == item[key]]
            items[found[-1] if found else len(items) : (found[-1] if found else len(items)) + 1] = [item]
        return items
    return each_is(dict, reduce)


last_write_wins: Callable[[Any, Any], Any] = lambda _, update: update
append = each_is(object, lambda prior, update: prior + update)
concat_flatten = each_is(list, lambda prior, update: prior + [item for part in update for item in part])
merge_all = each_is(dict, lambda prior, update: {key: value for part in (prior, *update) for key, value in part.items()})
dedupe_append = each_is(object, lambda prior, update: prior + [item for at, item in enumerate(update) if item not in prior + update[:at]])

END = object()


class Graph:
    """Fields are name: (default, reducer, check of an item or value); edges are a name, END, or a function of the state."""

    def __init__(self, fields: dict[str, tuple[Any, Any, Any]], entry: Optional[str], nodes: list[tuple[str, Any]], edges: list[tuple[str, Any]]) -> None:
        self.fields, self.entry, self.nodes, self.edges = fields, entry, dict(nodes), dict(edges)
        need(len(self.nodes) == len(nodes), "two nodes have one name", "duplicate_node")
        need(entry in self.nodes, "the graph has no entry", "no_declared_entry")
        need(all(name in self.nodes and (to is END or callable(to) or to in self.nodes) for name, to in edges), "an edge has no node", "dangling_edge")
        need(len(self.edges) == len(edges), "a node has two edges", "multiple_outgoing_edges")
        reached, found = set[str](), {entry}
        while found - reached:
            reached |= found
            leads = [self.edges.get(name or "", END) for name in reached]
            found = reached | {name for to in leads for name in (self.nodes if callable(to) else [to]) if name is not END}  # type: ignore[misc]
        need(reached == set(self.nodes), "a node cannot be reached", "unreachable_node")
        need(set(self.edges) == set(self.nodes), "a node has no edge", "missing_outgoing_edge")

    def defaults(self) -> Json:
        return copy.deepcopy({name: default for name, (default, _, _) in self.fields.items()})

    def validate(self, state: Json, category: str) -> None:
        for name, value in state.items():
            need(name in self.fields, f"{name} is not declared", category)
            default, reducer, check = self.fields[name]
            need(type(value) is type(default), f"{name} is not valid", category)
            try:
                need(all(check(item) is not False for item in (value if isinstance(value, list) else [value])), f"{name} is not valid")
            except Failure as failure:
                raise Failure(category, f"{name}: {failure}") from None

    def merged(self, state: Json, update: Json) -> Json:
        new = dict(state)
        for name, value in update.items():
            need(name in self.fields, f"{name} is not declared", "state_validation_error")
            new[name] = self.fields[name][1](state[name], value)
        self.validate(new, "state_validation_error")
        return new

    def next(self, node: str, state: Json) -> Any:
        to = self.edges[node]
        try:
            to = to(state) if callable(to) else to
        except Exception as error:
            raise Failure("edge_exception", str(error)) from error
        need(to is END or to in self.nodes, "an edge leads to an unknown node", "routing_error")
        return to


class Subgraph:
    """A graph as a node: inputs copies {its field: field}; outputs merges {field: its field}, by default those of the same name."""

    def __init__(self, graph: Graph, inputs: Optional[Json] = None, outputs: Optional[Json] = None) -> None:
        self.graph, self.inputs, self.outputs = graph, inputs or {}, outputs


class Sessions:
    """Which fields are stored, in which version, and how states of other versions become it."""

    def __init__(self, fields: list[str], version: str, migrations: list[tuple[str, str, Callable[[Json], Json]]]) -> None:
        self.fields, self.version, self.migrations = fields, version, migrations
        pairs = [(start, to) for start, to, _ in migrations]
        need(len(set(pairs)) == len(pairs), "two migrations have the same versions", "session_state_migration_chain_ambiguous")

    def migrated(self, record: Json) -> Json:
        chains: list[tuple[str, list[Callable[[Json], Json]]]] = [(record["schema_version"], [])]
        for at, chain in chains:
            if at == self.version:
                try:
                    state = record["state"]
                    for step in chain:
                        state = step(state)
                    return state
                except Exception as error:
                    raise Failure("session_state_migration_failed", str(error)) from error
            chains += [(to, [*chain, step]) for start, to, step in self.migrations if start == at and len(chain) < len(self.migrations)]
        raise Failure("session_state_migration_missing", "there is no migration")


class Harness:
    def __init__(self, graph: Graph, sessions: Sessions, file: str, faults: set[str]) -> None:
        is_history = graph.fields.get("messages", (None, None, None))[:2] == ([], append)
        need(is_history, "the graph has no field messages that appends", "messages_field_invalid")
        self.graph, self.shape, self.file, self.faults = graph, sessions, file, faults
        self.lock, self.lanes = threading.RLock(), defaultdict(threading.Lock)  # type: ignore[var-annotated]
        self.sessions: dict[str, Json] = {}
        self.paused: dict[str, Json] = {}
        if os.path.exists(self.file):
            with open(self.file, encoding="utf-8") as file:
                self.sessions, self.paused = json.load(file)
        self.listeners: dict[str, list[Callable[[Json], None]]] = defaultdict(list)
        self.numbers = {"loads": 0, "saves": 0, "runs": 0}

    def write(self) -> None:
        with open(self.file + ".new", "w", encoding="utf-8") as file:
            json.dump([self.sessions, self.paused], file)
        os.replace(self.file + ".new", self.file)

    def fail_at(self, what: str, category: str) -> None:
        if what in self.faults:
            self.faults.remove(what)
            raise Failure(category, f"it fails at {what}")

    def load(self, session: str) -> Json:
        self.numbers["loads"] += 1
        self.fail_at("load", "session_load_failed")
        record = copy.deepcopy(self.sessions.get(session))
        state = {} if record is None else self.shape.migrated(record)
        self.graph.validate(state, "session_load_failed")
        return {**self.graph.defaults(), **state}

    def save(self, session: str, state: Json) -> None:
        self.numbers["saves"] += 1
        self.fail_at("save", "session_save_failed")
        kept = copy.deepcopy({name: state[name] for name in self.shape.fields})
        self.sessions[session] = {"session_id": session, "state": kept, "schema_version": self.shape.version}
        self.write()

    def run(self, session: str, invocation: str, frame: Json, baseline: int, earlier: list[Any]) -> Json:
        """Runs on from a frame {state, node, …}; the turn that comes of it. Nothing is saved of one that fails."""
        try:
            try:
                self.advance(self.graph, frame, session)
                with self.lock:
                    self.save(session, frame["state"])
                return {"outcome": "completed", "replies": earlier + frame["state"]["messages"][baseline:], "final_state": frame["state"]}
            except Suspension as pause:
                return self.pause(session, invocation, frame, pause, baseline, earlier if frame.get("wasPaused") else None)
        except Failure as failure:
            return self.errored(failure)

    def advance(self, graph: Graph, frame: Json, session: str) -> None:
        """One node after the other: its update is merged before its edge is evaluated. The frame says where it is."""
        while frame["node"] is not END:
            if not frame.pop("isDone", False):
                frame["state"] = graph.merged(frame["state"], self.call(graph, frame, session) or {})
                frame.pop("inner", None)
            frame["node"] = graph.next(frame["node"], frame["state"])

    def call(self, graph: Graph, frame: Json, session: str) -> Any:
        node, pause = graph.nodes[frame["node"]], list[Suspension]()
        if isinstance(node, Subgraph):
            copied = {to: frame["state"][by] for to, by in node.inputs.items()}
            inner = frame.setdefault("inner", {"state": {**node.graph.defaults(), **copied}, "node": node.graph.entry})
            self.advance(node.graph, inner, session)
            outputs = {name: name for name in node.graph.fields if name in graph.fields} if node.outputs is None else node.outputs
            return {to: inner["state"][by] for to, by in outputs.items()}

        def suspend(descriptor: Json, is_done: bool = True) -> None:
            need(filled(descriptor.get("signal_id")), "a descriptor needs a signal_id", "invalid_descriptor")
            pause.append(Suspension(descriptor))
            frame.update(isDone=is_done, isResumed=not is_done)
            raise pause[0]

        def save(update: Json) -> None:
            with self.lock:
                self.save(session, graph.merged(frame["state"], update))

        update = node(copy.deepcopy(frame["state"]), suspend, save, frame.pop("isResumed", False))
        # A suspension counts also where the node has caught it.
        if pause:
            raise pause[0]
        return update

    def overlay(self, graph: Graph, frame: Json, payload: Json) -> None:
        """Puts each field over the state of the innermost paused graph that declares it."""
        node = graph.nodes[frame["node"]]
        inside = {key: value for key, value in payload.items() if isinstance(node, Subgraph) and key in node.graph.fields}
        frame["state"].update({key: value for key, value in payload.items() if key not in inside})
        graph.validate(frame["state"], "suspension_resume_payload_invalid")
        if inside:
            self.overlay(node.graph, frame["inner"], inside)

    def pause(self, session: str, invocation: str, frame: Json, pause: Suspension, baseline: int, earlier: Optional[list[Any]]) -> Json:
        signal, pending = pause.descriptor["signal_id"], frame["state"]["messages"][baseline:]
        with self.lock:
            is_taken = any(each["signal"] == signal and each["isWaiting"] for each in self.paused.values())
            need(not is_taken, "another turn waits for this signal", "harness_signal_subscription_failed")
            self.fail_at("suspend", "suspension_persistence_failed")
            self.paused[invocation] = {"session": session, "signal": signal, "frame": copy.deepcopy({**frame, "wasPaused": True}), "isWaiting": True, "earlier": [] if earlier is None else earlier + pending}
            self.save(session, frame["state"])
        return {"outcome": "suspended", "signal_descriptor": pause.descriptor, "pending_messages": pending, "invocation_id": invocation}

    @staticmethod
    def errored(failure: Failure) -> Json:
        bucket = next((name for name, categories in BUCKETS.items() if failure.category in categories), "retryable_transient")
        reply = {"role": "system", "content": REPLIES[bucket].format(failure)}
        return {"outcome": "errored", "error_bucket": bucket, "error_category": failure.category, "reply": reply}

    def send(self, session_id: Any, message: Any) -> Json:
        try:
            need(filled(session_id), "the session id is empty", "harness_session_id_unresolved")
            taken = take_message(message)
            with self.lanes[session_id]:
                state = self.graph.merged(self.load(session_id), {"messages": [taken]})
                self.numbers["runs"] += 1
                return self.run(session_id, str(uuid.uuid4()), {"state": state, "node": self.graph.entry}, len(state["messages"]), [])
        except Failure as failure:
            return self.errored(failure)

    def signal(self, signal_id: Optional[str] = None, invocation_id: Optional[str] = None, payload: Optional[Json] = None) -> Json:
        try:
            with self.lock:
                found = [(key, each) for key, each in self.paused.items() if invocation_id == key or invocation_id is None and each["signal"] == signal_id]
            need(found != [], "nothing waits for this signal", "harness_signal_correlation_failed")
            invocation, paused = found[-1]
            with self.lanes[paused["session"]]:
                if not paused["isWaiting"]:
                    return {"outcome": "already_resolved"}
                frame = copy.deepcopy(paused["frame"])
                self.overlay(self.graph, frame, payload or {})
                frame["state"]["messages"] = copy.deepcopy(self.sessions[paused["session"]]["state"]["messages"])
                paused["isWaiting"] = False
                turn = self.run(paused["session"], invocation, frame, len(frame["state"]["messages"]), paused["earlier"])
            if turn["outcome"] != "suspended":
                for listener in list(self.listeners[paused["session"]]):
                    try:
                        listener(turn)
                    except Exception:
                        """A listener that fails does not disturb others."""
            return {"outcome": "resumed", "turn": turn}
        except Failure as failure:
            return self.errored(failure)
