const session = { session_id: "sess-abc" };
const contract = { run_id: "run-123", ...session, updated_at: "2026-05-01T00:00:01Z" };

const byType = {
  pre_action: { tool_name: "bash", arguments: { command: "cargo test" } },
  post_action: { status: "ok" },
  pre_prompt: { prompt: "hello" },
  post_response: { text: "hi" },
  session_start: {},
  session_end: {},
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
  memory_recall: {
    ...session,
    query: "q",
    memory_type: "episodic",
    max_results: 5,
    working_directory: "/repo",
  },
  planning: { ...session, task_description: "fix", available_strategies: ["none", { custom: "mine" }] },
  reasoning: { ...session, reasoning_type: "re_act", problem_statement: "why?" },
  rate_limit: {
    ...session,
    limit_type: "llm_token_limit",
    retry_after_ms: 1000,
    current_usage: "90%",
  },
  confirmation: { ...session, confirmation_type: "user_confirm", message: "go on?" },
  run_lifecycle: { ...contract, status: "executing" },
  task_list: { ...contract, tasks: [{ id: "step-1", title: "Inspect", status: "completed" }] },
  verification: { ...contract, status: "passed" },
};

/** A payload for each type of an AHP event, with all that it must have. */
export const payloads: Readonly<Record<keyof typeof byType, Record<string, unknown>>> = byType;
