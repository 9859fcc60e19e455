import {
  type AhpEvent,
  type AhpEventType,
  ahpEvents,
  type BlockingEventType,
  type NotificationEventType,
} from "@harnesskit/protocol/ahp";

const session = { session_id: "ses_given" };
const contract = { run_id: "run_1", ...session, updated_at: "2026-05-01T00:00:01Z" };

/** A payload for each type, with all that it must have. */
export const payloads = {
  pre_action: { action_type: "tool", tool_name: "bash", arguments: { command: "cargo test" } },
  post_action: { status: "ok" },
  pre_prompt: { prompt: "hello" },
  post_response: { text: "hi" },
  session_start: {},
  session_end: { why: null },
  error: { message: "failed" },
  heartbeat: { uptime_ms: 1, total_events_processed: 2, current_state: "working" },
  success: { ...session, action_type: "tool", action_summary: "done", duration_ms: 3 },
  idle: { idle_duration_ms: 5000, idle_reason: "no_input" },
  intent_detection: { ...session, prompt: "where is it?", workspace: "/repo" },
  context_perception: {
    ...session,
    intent: "understand",
    target: { location: { path: ".", location_type: "workspace" } },
    context: { workspace: "/repo" },
  },
  memory_recall: { ...session, query: "q", memory_type: "m", max_results: 5, working_directory: "/repo" },
  planning: { ...session, task_description: "fix", available_strategies: ["none", { custom: "mine" }] },
  reasoning: { ...session, reasoning_type: "re_act", problem_statement: "why?" },
  rate_limit: { ...session, limit_type: "llm_token_limit", retry_after_ms: 1000, current_usage: "90%" },
  confirmation: { ...session, confirmation_type: "user_confirm", message: "go on?" },
  run_lifecycle: { ...contract, status: "executing" },
  task_list: { ...contract, tasks: [{ id: "step-1", title: "Inspect", status: "completed" }] },
  verification: { ...contract, status: "passed" },
} as const;

const fact = { content: "c", source: "s", confidence: 0.5 };

/** What a harness that agrees decides, and no client may make up. */
export const agreements = {
  pre_action: { decision: "allow", metadata: { by: "harness" } },
  pre_prompt: { decision: "modify", modified_payload: { prompt: "goodbye" } },
  idle: { decision: "allow" },
  intent_detection: { decision: "allow", detected_intent: "locate", confidence: 0.9 },
  context_perception: { decision: "allow", injected_context: { facts: [fact], knowledge: ["k"] } },
  memory_recall: { decision: "allow", injected_facts: [fact] },
  planning: { decision: "allow", selected_strategy: { custom: "mine" } },
  reasoning: { decision: "allow", hints: ["h"] },
  rate_limit: { decision: "retry", retry_after_ms: 5 },
  confirmation: { decision: "approve" },
} as const satisfies Record<BlockingEventType, unknown>;

/** What is safe, but for the reason. */
export const refusals = {
  pre_action: "block",
  pre_prompt: "block",
  idle: "defer",
  intent_detection: "block",
  context_perception: "block",
  memory_recall: "block",
  planning: "block",
  reasoning: "block",
  rate_limit: "skip",
  confirmation: "reject",
} as const satisfies Record<BlockingEventType, string>;

const types = Object.keys(ahpEvents) as AhpEventType[];
export const blockingTypes = types.filter((type) => ahpEvents[type].blocking) as BlockingEventType[];
export const notificationTypes = types.filter((type) => !ahpEvents[type].blocking) as NotificationEventType[];
export const specialisedTypes = blockingTypes.filter((type) => ahpEvents[type].specialised);

/** A whole event that nothing but its caller could have made. */
export const fullEvent = (type: AhpEventType, more: Partial<AhpEvent> = {}): any => ({
  event_type: type,
  session_id: "ses_other",
  agent_id: "agent_other",
  timestamp: "2026-05-01T00:00:00Z",
  depth: 3,
  payload: payloads[type],
  context: { current_task: "run tests", recent_facts: [fact] },
  metadata: { trace: "t1", nothing: null },
  ...more,
});

/** A harness's answer to the handshake. */
export const handshakeResult = (more: object = {}) => ({
  protocol_version: "2.4",
  harness_info: { name: "fake", version: "1.0.0", capabilities: [...types, "query", "batch"] },
  ...more,
});
