/** The JSON examples of the specification, as it prints them. */
export const publishedAhpExamples = {
  request: {
    jsonrpc: "2.0",
    id: "req-123",
    method: "ahp/event",
    params: {
      event_type: "pre_action",
      session_id: "sess-abc",
      agent_id: "agent-xyz",
      timestamp: "2026-05-01T00:00:00Z",
      depth: 0,
      payload: {
        tool_name: "bash",
        arguments: {
          command: "cargo test",
        },
      },
    },
  },
  response: {
    jsonrpc: "2.0",
    id: "req-123",
    result: {
      decision: "allow",
    },
  },
  notification: {
    jsonrpc: "2.0",
    method: "ahp/event",
    params: {
      event_type: "post_action",
      session_id: "sess-abc",
      agent_id: "agent-xyz",
      timestamp: "2026-05-01T00:00:02Z",
      depth: 0,
      payload: {
        status: "ok",
      },
    },
  },
  run_lifecycle: {
    event_type: "run_lifecycle",
    session_id: "sess-abc",
    agent_id: "agent-xyz",
    timestamp: "2026-05-01T00:00:00Z",
    depth: 0,
    payload: {
      run_id: "run-123",
      session_id: "sess-abc",
      status: "executing",
      prompt: "fix the failing tests",
      started_at: "2026-05-01T00:00:00Z",
      updated_at: "2026-05-01T00:00:01Z",
    },
  },
  task_list: {
    event_type: "task_list",
    session_id: "sess-abc",
    agent_id: "agent-xyz",
    timestamp: "2026-05-01T00:00:02Z",
    depth: 0,
    payload: {
      run_id: "run-123",
      session_id: "sess-abc",
      updated_at: "2026-05-01T00:00:02Z",
      tasks: [
        {
          id: "step-1",
          title: "Inspect failing test",
          status: "completed",
          evidence: [
            {
              kind: "log",
              summary: "cargo test reproduced the failure",
            },
          ],
        },
      ],
    },
  },
  verification: {
    event_type: "verification",
    session_id: "sess-abc",
    agent_id: "agent-xyz",
    timestamp: "2026-05-01T00:00:03Z",
    depth: 0,
    payload: {
      run_id: "run-123",
      session_id: "sess-abc",
      status: "passed",
      updated_at: "2026-05-01T00:00:03Z",
      checks: [
        {
          id: "cargo-test",
          subject: "Rust workspace tests",
          status: "passed",
          command: "cargo test --all-features",
        },
      ],
      residual_risks: [],
    },
  },
  /** A payload without any of the fields that have defaults. */
  context_perception: {
    session_id: "session-1",
    intent: "understand",
    target: {
      location: {
        path: ".",
        location_type: "workspace",
      },
    },
    context: {
      workspace: "/repo",
      query: "How is the protocol structured?",
    },
  },
  /** An event with a context. */
  full_event: {
    event_type: "pre_action",
    session_id: "session-1",
    agent_id: "agent-1",
    timestamp: "2026-05-01T00:00:00Z",
    depth: 1,
    payload: { tool_name: "bash" },
    context: {
      current_task: "run tests",
      session_stats: { total_actions: 3, total_tokens: 42, duration_ms: 1000, error_count: 0 },
    },
  },
} as const;
