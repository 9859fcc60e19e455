"""A chat harness behind the adapter of the suite, with a small graph engine of its own: Python's standard library only.

    harnesskit-conformance chat --stdio 'python3 chat_harness.py'

It is written from the specification and docs/chat-adapter.md, and shares no code with this project.
"""

from __future__ import annotations

import copy
import json
import os
import re
import sys
import threading
import time
import uuid
from collections import defaultdict
from typing import Any, Callable, Optional

Json = dict[str, Any]
BUCKETS = {
    "session_terminating": (
        "session_load_failed session_save_failed session_state_migration_chain_ambiguous session_state_migration_missing session_state_migration_failed "
        "suspension_persistence_failed harness_session_id_unresolved state_validation_error reducer_error routing_error"
    ).split(),
    "user_correctable": (
        "provider_invalid_request provider_invalid_response chat_message_shape_invalid provider_authentication suspension_resume_payload_invalid "
        "suspension_record_invalid harness_signal_correlation_failed"
    ).split(),
}
REPLIES = {
    "session_terminating": "This conversation can't continue. Please start a new one.",
    "retryable_transient": "I had trouble responding. Try again in a moment.",
    "user_correctable": "That request couldn't be processed: {}. Please adjust your message and try again.",
}


class Failure(Exception):
    def __init__(self, category: str, message: str) -> None:
        super().__init__(message)
        self.category = category


class Suspension(BaseException):
    def __init__(self, descriptor: Json, is_done: bool) -> None:
        self.descriptor, self.is_done = descriptor, is_done


def need(is_met: bool, message: str, category: str = "chat_message_shape_invalid") -> None:
    if not is_met:
        raise Failure(category, message)


filled: Callable[[Any], bool] = lambda v: isinstance(v, str) and v != ""
optional: Callable[[Any], bool] = lambda v: v is None or isinstance(v, str)


# Messages


def take_block(block: Any, allowed: tuple[str, ...]) -> Json:
    kind = block.get("type") if isinstance(block, dict) else None
    need(kind in allowed, "content has a block of a type that is not allowed here")
    if kind in ("text", "thinking"):
        need(filled(block.get("text")) and optional(block.get("signature")), f"content has a {kind} block without text")
    elif kind == "redacted_thinking":
        need(isinstance(block.get("data"), str), "content has a redacted block without data")
    else:
        source = block.get("source") if isinstance(block.get("source"), dict) else {}
        is_url = source.get("type") == "url" and isinstance(source.get("url"), str)
        is_inline = source.get("type") == "inline" and isinstance(source.get("base64_data"), str)
        need(is_url or is_inline, "content has an image without a source")
        need(is_url or re.match(r"image/[\w.+-]+\Z", str(block.get("media_type"))) is not None, "content has an image without its media type")
        need(block.get("detail") in (None, "auto", "low", "high"), "content has an image with an unknown detail")
    names = ("type", "text", "signature", "data", "source", "media_type", "detail")
    return {name: block[name] for name in names if block.get(name) is not None}


def take_call(call: Any) -> Json:
    is_call = isinstance(call, dict) and isinstance(call.get("id"), str) and isinstance(call.get("name"), str)
    need(is_call and isinstance(call.get("arguments"), dict) and optional(call.get("signature")), "tool_calls has an invalid call")
    return {name: call[name] for name in ("id", "name", "arguments", "signature") if call.get(name) is not None}


def take_message(message: Any) -> Json:
    """The message without what is not known. Raises chat_message_shape_invalid."""
    need(isinstance(message, dict), "the message is not an object")
    role, content, calls, call_id = (message.get(name) for name in ("role", "content", "tool_calls", "tool_call_id"))
    need(role in ("system", "user", "assistant", "tool"), "role is not known")
    need(calls is None or isinstance(calls, list) and (role == "assistant" or not calls), "tool_calls is for the assistant")
    need(filled(call_id) if role == "tool" else call_id is None, "tool_call_id is for tools, which need one")
    taken: Json = {"role": role}
    blocks = {"user": ("text", "image"), "assistant": ("text", "thinking", "redacted_thinking")}.get(role)
    may_be_empty = role == "tool" or bool(calls)
    if isinstance(content, list):
        need(blocks is not None and (content != [] or may_be_empty), "content may not be a list here, or not an empty one")
        taken["content"] = [take_block(block, blocks or ()) for block in content]
    elif content is not None or not (role == "assistant" and calls):
        need(isinstance(content, str) and (content != "" or may_be_empty), "content is empty, or of a wrong type")
        taken["content"] = content
    if calls:
        taken["tool_calls"] = [take_call(call) for call in calls]
        need(len({call["id"] for call in calls}) == len(calls), "tool_calls has one id twice")
    if role == "tool":
        taken["tool_call_id"] = call_id
    return taken


# The state of the graphs, and its reducers


def keyed(prior: list[Any], update: list[Any]) -> list[Any]:
    items = list(prior)
    for item in update:
        need(isinstance(item, dict) and "id" in item, "an item has no key", "reducer_error")
        at = max((index for index, each in enumerate(items) if each.get("id") == item["id"]), default=None)
        if at is None:
            items.append(item)
        else:
            items[at] = item
    return items


def unique(prior: list[Any], update: list[Any]) -> list[Any]:
    return prior + [item for index, item in enumerate(update) if item not in prior and item not in update[:index]]


def each_is(kind: type, reduce: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def checked(prior: Any, update: Any) -> Any:
        need(all(isinstance(part, kind) for part in update), "the reducer cannot take the update", "reducer_error")
        return reduce(prior, update)
    return checked


DEFAULTS: Json = {"messages": [], "note": "none", "answer": "", "scratch": 0, "list": [], "map": {}, "flat": [], "all": {}, "bounded": [], "unique": [], "keyed": []}
SESSION = [name for name in DEFAULTS if name != "scratch"]
REDUCERS: dict[str, tuple[type, Callable[[Any, Any], Any]]] = {
    "messages": (list, lambda prior, update: prior + update),
    "list": (list, lambda prior, update: prior + update),
    "map": (dict, lambda prior, update: {**prior, **update}),
    "flat": (list, each_is(list, lambda prior, update: prior + [item for part in update for item in part])),
    "all": (list, each_is(dict, lambda prior, update: {key: value for part in (prior, *update) for key, value in part.items()})),
    "bounded": (list, lambda prior, update: (prior + update)[-3:] if update else prior),
    "unique": (list, unique),
    "keyed": (list, keyed),
}


def validate(state: Json, category: str) -> None:
    for name, value in state.items():
        need(name in DEFAULTS, f"{name} is not declared", category)
        need(type(value) is type(DEFAULTS[name]), f"{name} is not valid", category)
    need(all(isinstance(item, str) for item in state.get("list", [])), "list is not valid", category)
    try:
        for message in state.get("messages", []):
            take_message(message)
    except Failure as failure:
        raise Failure(category, str(failure)) from None


def merge(state: Json, update: Json) -> Json:
    merged = dict(state)
    for name, value in update.items():
        need(name in DEFAULTS, f"{name} is not declared", "state_validation_error")
        kind, reduce = REDUCERS.get(name, (object, lambda _, new: new))
        need(isinstance(value, kind), f"{name}: the reducer cannot take the update", "reducer_error")
        merged[name] = reduce(state[name], value)
    validate(merged, "state_validation_error")
    return merged


def migrate(record: Json, version: str) -> Json:
    def broken(_: Json) -> Json:
        raise ValueError("it cannot be migrated")

    steps: dict[str, tuple[str, Callable[[Json], Json]]] = {
        "1": ("2", lambda s: {**s, "note": f"two {s['note']}"}), "2": ("3", lambda s: {**s, "note": f"three {s['note']}"}), "0": ("3", broken),
    }
    state, at = record["state"], record["schema_version"]
    while at != version:
        need(at in steps, "there is no migration", "session_state_migration_missing")
        at, step = steps[at]
        try:
            state = step(state)
        except Exception as error:
            raise Failure("session_state_migration_failed", str(error)) from error
    return state


class Harness:
    def __init__(self, directory: str, notify: Callable[[Json], None]) -> None:
        self.file, self.notify = os.path.join(directory, "chat.json"), notify
        self.lock, self.lanes = threading.RLock(), defaultdict(threading.Lock)  # type: ignore[var-annotated]
        self.sessions: dict[str, Json] = {}
        self.paused: dict[str, Json] = {}
        if os.path.exists(self.file):
            with open(self.file, encoding="utf-8") as file:
                self.sessions, self.paused = json.load(file)
        self.version, self.faults, self.listeners = "", set[str](), dict[str, tuple[str, bool]]()
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
        state = {} if record is None else migrate(record, self.version) if self.version else record["state"]
        validate(state, "session_load_failed")
        return {**copy.deepcopy(DEFAULTS), **state}

    def save(self, session: str, state: Json) -> None:
        self.numbers["saves"] += 1
        self.fail_at("save", "session_save_failed")
        kept = copy.deepcopy({name: state[name] for name in SESSION})
        self.sessions[session] = {"session_id": session, "state": kept, "schema_version": self.version}
        self.write()

    # The graph: one node after the other, each an update that is merged before its edge is evaluated

    def step(self, step: Json, state: Json, session: str, is_resumed: bool) -> Json:
        say = lambda text: {"messages": [{"role": "assistant", "content": text}]}
        if "ask" in step:
            if step.get("again") and is_resumed:
                return say(f"again: {state['answer']}")
            need(filled(step["ask"].get("signal_id")), "a descriptor needs a signal_id", "invalid_descriptor")
            raise Suspension(step["ask"], not step.get("again"))
        if "fail" in step:
            raise Failure(step["fail"].get("category", "node_exception"), step["fail"]["message"])
        if "save" in step:
            with self.lock:
                self.save(session, merge(state, step["save"]))
        time.sleep(min(step.get("wait_ms", 0), 2000) / 1000)
        if "count" in step:
            return say(str(len(state["messages"])))
        if "show" in step:
            return say(str(state[step["show"]]))
        if "branch" in step:
            return {"note": step["branch"]} if filled(step["branch"]) else {}
        return say(step["say"]) if "say" in step else {"messages": step["add"]} if "add" in step else step.get("set", {})

    def edge(self, step: Json, state: Json) -> Json:
        if "branch" in step:
            need(state["note"] != "throw", "the edge failed", "edge_exception")
            need(state["note"] != "nowhere", "there is no such node", "routing_error")
            return merge(state, {"messages": [{"role": "assistant", "content": f"at {state['note']}"}]})
        return state

    def run(self, session: str, invocation: str, frame: Json, baseline: int, earlier: list[Any]) -> Json:
        """Runs a frame {state, script, cursor, isResumed} on; the turn that comes of it."""
        state, script = frame["state"], frame["script"]
        try:
            if frame.get("behind") is not None:
                state = self.edge(script[frame["behind"]], state)
            while frame["cursor"] < len(script):
                step = script[frame["cursor"]]
                state = merge(state, self.step(step, state, session, frame.pop("isResumed", False)))
                state = self.edge(step, state)
                frame["cursor"] += 1
            with self.lock:
                self.save(session, state)
                self.paused.get(invocation, {}).update(isWaiting=False)
                self.write()
            return {"outcome": "completed", "replies": earlier + state["messages"][baseline:], "final_state": state}
        except Suspension as pause:
            try:
                return self.pause(session, invocation, {**frame, "state": state}, pause, baseline, earlier)
            except Failure as failure:
                return self.errored(failure)
        except Failure as failure:
            return self.errored(failure)

    def pause(self, session: str, invocation: str, frame: Json, pause: Suspension, baseline: int, earlier: list[Any]) -> Json:
        signal, state, at = pause.descriptor["signal_id"], frame["state"], frame["cursor"]
        pending = state["messages"][baseline:]
        with self.lock:
            is_taken = any(each["signal"] == signal and each["isWaiting"] for each in self.paused.values())
            need(not is_taken, "another turn waits for this signal", "harness_signal_subscription_failed")
            self.fail_at("suspend", "suspension_persistence_failed")
            rest = {"script": frame["script"], "cursor": at + 1, "behind": at} if pause.is_done else {"script": frame["script"], "cursor": at, "isResumed": True}
            self.paused[invocation] = {"session": session, "signal": signal, "frame": copy.deepcopy({**rest, "state": state}), "isWaiting": True, "earlier": earlier + pending if earlier or frame.get("wasResumed") else []}
            self.save(session, state)
        return {"outcome": "suspended", "signal_descriptor": pause.descriptor, "pending_messages": pending, "invocation_id": invocation}

    def errored(self, failure: Failure) -> Json:
        bucket = next((name for name, categories in BUCKETS.items() if failure.category in categories), "retryable_transient")
        reply = {"role": "system", "content": REPLIES[bucket].format(failure)}
        return {"outcome": "errored", "error_bucket": bucket, "error_category": failure.category, "reply": reply}

    # What the suite asks for

    def create(self, graph: str) -> Json:
        need(graph not in ("no-messages", "last-message"), "the graph has no field messages that appends", "messages_field_invalid")
        need(graph != "ambiguous", "two migrations have the same versions", "session_state_migration_chain_ambiguous")
        self.version = "3" if graph == "versioned" else ""
        return {}

    def send(self, session_id: Any, message: Any) -> Json:
        try:
            need(filled(session_id), "the session id is empty", "harness_session_id_unresolved")
            taken = take_message(message)
            with self.lanes[session_id]:
                with self.lock:
                    state = merge(self.load(session_id), {"messages": [taken]})
                self.numbers["runs"] += 1
                frame = {"state": state, "script": script_in(taken), "cursor": 0}
                return self.run(session_id, str(uuid.uuid4()), frame, len(state["messages"]), [])
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
                changed = {**frame["state"], **(payload or {})}
                validate(changed, "suspension_resume_payload_invalid")
                changed["messages"] = copy.deepcopy(self.sessions[paused["session"]]["state"]["messages"])
                paused["isWaiting"] = False
                frame.update(state=changed, wasResumed=True)
                turn = self.run(paused["session"], invocation, frame, len(changed["messages"]), paused["earlier"])
            if turn["outcome"] != "suspended":
                self.tell(paused["session"], turn)
            return {"outcome": "resumed", "turn": turn}
        except Failure as failure:
            return self.errored(failure)

    def tell(self, session: str, turn: Json) -> None:
        for subscription, (listens_to, fails) in list(self.listeners.items()):
            if listens_to == session and not fails:
                self.notify({"method": "delivered", "params": {"subscription": subscription, "session_id": session, "outcome": turn}})

    def subscribe(self, session_id: str, fails: bool = False) -> Json:
        subscription = f"sub-{len(self.listeners) + 1}"
        self.listeners[subscription] = (session_id, fails)
        return {"subscription": subscription}

    def unsubscribe(self, subscription: str) -> Json:
        self.listeners[subscription] = ("", True)
        return {}

    def session(self, session_id: str) -> Json:
        return {"record": self.sessions.get(session_id)}

    def seed(self, session_id: str, state: Json, schema_version: str = "") -> Json:
        self.sessions[session_id] = {"session_id": session_id, "state": state, "schema_version": schema_version}
        return {}

    def forget(self, session_id: str) -> Json:
        self.sessions.pop(session_id, None)
        return {}

    def fault(self, at: str) -> Json:
        self.faults.add(at)
        return {}

    def counts(self) -> Json:
        since, self.numbers = self.numbers, {"loads": 0, "saves": 0, "runs": 0}
        return since


def script_in(message: Json) -> list[Json]:
    try:
        return json.loads(message["content"])["conformance"]
    except (ValueError, TypeError, KeyError):
        return []


def serve() -> None:
    lock, turn = threading.Lock(), threading.Lock()

    def write(content: Json) -> None:
        with lock:
            print(json.dumps({"jsonrpc": "2.0", **content}), flush=True)

    harness = Harness(os.environ.get("CONFORMANCE_DIR", "."), write)
    methods: dict[str, Callable[..., Json]] = {name: getattr(harness, name) for name in ("create", "send", "signal", "subscribe", "unsubscribe", "session", "seed", "forget", "fault", "counts")}
    methods["sessions"] = lambda: {"sessions": [{key: value for key, value in each.items() if key != "state"} for each in harness.sessions.values()]}

    def work(request: Json) -> None:
        try:
            write({"id": request["id"], "result": methods[request["method"]](**request.get("params", {}))})
        except Failure as failure:
            write({"id": request["id"], "error": {"code": -32000, "message": str(failure), "data": {"category": failure.category}}})
        except Exception as failure:
            write({"id": request["id"], "error": {"code": -32603, "message": repr(failure)}})

    for line in sys.stdin:
        request = json.loads(line)
        if request["method"] == "send" and "wait_ms" not in line or request["method"] not in ("send", "signal"):
            work(request) if not turn.locked() else threading.Thread(target=work, args=(request,)).start()
        else:
            threading.Thread(target=work, args=(request,)).start()


if __name__ == "__main__":
    serve()
