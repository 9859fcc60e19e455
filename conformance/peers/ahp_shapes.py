"""What events, decisions and requests of the Agent Harness Protocol 2.4 look like, for ahp_harness.py."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any, Callable, Optional

Check = Callable[[Any], bool]

string: Check = lambda v: isinstance(v, str)
integer: Check = lambda v: isinstance(v, int) and not isinstance(v, bool)
number: Check = lambda v: integer(v) or isinstance(v, float)
boolean: Check = lambda v: isinstance(v, bool)
mapping: Check = lambda v: isinstance(v, dict)
anything: Check = lambda v: True


def one_of(words: str, other: str = "") -> Check:
    """A word of these, or an object with this one key."""
    known = words.split()
    return lambda v: v in known if isinstance(v, str) else bool(other) and shape({other: string})(v) and len(v) == 1


def list_of(check: Check) -> Check:
    return lambda v: isinstance(v, list) and all(check(each) for each in v)


def shape(fields: dict[str, Check]) -> Check:
    """An object with these fields. A name that ends with ? may be absent or null."""

    def check(value: Any) -> bool:
        if not isinstance(value, dict):
            return False
        for name, inner in fields.items():
            found = value.get(name.rstrip("?"))
            if found is None and (name.endswith("?") or (inner is anything and name in value)):
                continue
            if found is None or not inner(found):
                return False
        return True

    return check


def tagged(tag: Optional[str], cases: dict[str, dict[str, Check]]) -> Check:
    """A decision by its tag, or (without a tag) an object with one key that is the case."""

    def check(value: Any) -> bool:
        if not isinstance(value, dict):
            return False
        if tag is None:
            return len(value) == 1 and all(key in cases and shape(cases[key])(inner) for key, inner in value.items())
        return isinstance(value.get(tag), str) and value[tag] in cases and shape(cases[value[tag]])(value)

    return check


fact = shape({"content": string, "source": string, "confidence": number})
evidence = shape({"kind": string, "summary": string, "artifact?": anything, "metadata?": mapping})
artifact = shape({"id": string, "kind?": string, "uri?": string, "path?": string, "size_bytes?": integer})
more = {"evidence?": list_of(evidence), "artifacts?": list_of(artifact), "metadata?": mapping}
task_status = one_of("pending in_progress completed failed skipped cancelled")
check_status = one_of("pending running passed failed skipped needs_review")
moment: Check = lambda v: string(v) and is_time(v)
target = tagged(None, {
    "entity": {"name": string, "entity_type": string, "identifier?": string},
    "location": {"path": string, "location_type": string},
    "event": {"description": string, "event_type": string, "time_range?": mapping},
    "relation": {"entities": list_of(string), "relation_type": string},
    "rule": {"name": string, "rule_type": string, "scope?": string},
    "state": {"target": string, "aspect": string, "include_history": boolean},
    "resource": {"name": string, "resource_type": string, "constraints?": anything},
    "pattern": {"pattern": string, "pattern_type": string},
})
strategy = one_of("none step_by_step tree_of_thoughts graph_planning", "custom")
PAYLOADS: dict[str, Check] = {
    "idle": shape({"idle_duration_ms": integer, "idle_reason": string, "last_event_type?": string, "suggested_action?": string}),
    "intent_detection": shape({"session_id": string, "prompt": string, "workspace": string, "language_hint?": string}),
    "context_perception": shape({
        "session_id": string,
        "intent": one_of("recognize understand locate retrieve explore reason validate compare track"),
        "target": target,
        "domain?": one_of("coding writing data_analysis research project_management conversation operations security general"),
        "preferred_modality?": one_of("text code structured_data table chart image audio video any"),
        "urgency?": one_of("critical high normal low"),
        "freshness?": one_of("realtime recent static"),
        "context": shape({"workspace": string, "current_task?": string, "query?": string, "relevant_history?": list_of(mapping)}),
        "constraints?": shape({"max_results?": integer, "max_context_length?": integer, "include_sources?": boolean}),
    }),
    "memory_recall": shape({"session_id": string, "query": string, "memory_type": string, "max_results": integer, "working_directory": string}),
    "planning": shape({"session_id": string, "task_description": string, "available_strategies": list_of(strategy)}),
    "reasoning": shape({"session_id": string, "reasoning_type": one_of("chain_of_thought tree_of_thoughts re_act reflexion", "other"), "problem_statement": string, "hints?": list_of(string)}),
    "rate_limit": shape({"session_id": string, "limit_type": one_of("llm_token_limit llm_request_limit api_request_limit tool_execution_limit", "custom"), "retry_after_ms": integer, "current_usage": string}),
    "confirmation": shape({"session_id": string, "confirmation_type": one_of("safety_confirm user_confirm cost_confirm", "custom"), "message": string, "options?": list_of(string)}),
    "run_lifecycle": shape({"run_id": string, "session_id": string, "updated_at": moment, "status": one_of("created planning executing verifying completed failed cancelled")}),
    "task_list": shape({"run_id": string, "session_id": string, "updated_at": moment, "tasks": list_of(shape({"id": string, "title": string, "status": task_status, "depends_on?": list_of(string), **more}))}),
    "verification": shape({"run_id": string, "session_id": string, "updated_at": moment, "status": check_status, "residual_risks?": list_of(string), "artifacts?": list_of(artifact), "checks?": list_of(shape({"id": string, "subject": string, "status": check_status, **more}))}),
}
meta, because = {"metadata?": mapping}, {"reason": string}
GENERIC = {
    "allow": meta, "block": {**because, **meta}, "modify": {"modified_payload": anything, **meta},
    "defer": {"retry_after_ms": integer, "reason?": string}, "escalate": {**because, "escalation_target?": string},
}
block = {**because, **meta}
DECISIONS: dict[str, Check] = {
    "intent_detection": tagged("decision", {"allow": {"detected_intent": string, "confidence": number, "target_hints?": mapping}, "block": block}),
    "context_perception": tagged("decision", {"allow": {"injected_context": shape({"facts": list_of(fact)})}, "block": block, "refine": {"scope_hints": list_of(string)}}),
    "memory_recall": tagged("decision", {"allow": {"injected_facts": list_of(fact)}, "block": block}),
    "planning": tagged("decision", {"allow": {"selected_strategy": strategy}, "block": block, "modify": {"modified_task": string, "hints?": list_of(string)}}),
    "rate_limit": tagged("decision", {"retry": {"retry_after_ms": integer}, "queue": {}, "skip": because}),
    "confirmation": tagged("decision", {"approve": {}, "escalate": {}, "reject": because}),
}
TYPED = {"idle", "reasoning", *DECISIONS}
BLOCKING = {"pre_action", "pre_prompt", *TYPED}
TOLD = {"post_action", "post_response", "session_start", "session_end", "error", "heartbeat", "success", "run_lifecycle", "task_list", "verification"}
EVENT = shape({
    "event_type": string, "session_id": string, "agent_id": string, "timestamp": moment, "depth": lambda v: integer(v) and v >= 0,
    "payload": anything, "metadata?": mapping,
    "context?": shape({
        "recent_facts?": list_of(fact),
        "memory_summary?": shape({"memory_type": string, "total_items": integer, "recent_topics": list_of(string)}),
        "session_stats?": shape({name: integer for name in ("total_actions", "total_tokens", "duration_ms", "error_count")}),
        "current_task?": string,
        "capabilities?": mapping,
    }),
})
HELLO = shape({"protocol_version": string, "session_id": string, "agent_id": string, "agent_info": shape({"framework": string, "version": string, "capabilities": list_of(string)})})
QUERY = shape({"session_id": string, "agent_id": string, "query_type": string, "payload": anything})


def is_time(text: str) -> bool:
    if not re.fullmatch(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)", text):
        return False
    try:
        datetime.strptime(text[:19].replace("t", "T").replace(" ", "T"), "%Y-%m-%dT%H:%M:%S")
        return True
    except ValueError:
        return False
