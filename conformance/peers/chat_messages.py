"""The messages and errors of chat_harness.py, written from the specification: Python's standard library only."""

from __future__ import annotations

import re
from typing import Any, Callable

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


def need(is_met: bool, message: str, category: str = "chat_message_shape_invalid") -> None:
    if not is_met:
        raise Failure(category, message)


filled: Callable[[Any], bool] = lambda v: isinstance(v, str) and v != ""
optional: Callable[[Any], bool] = lambda v: v is None or isinstance(v, str)


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
