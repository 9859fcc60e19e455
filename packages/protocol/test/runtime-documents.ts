const envelope = (type: string, payload: object, fields: object = {}) => ({
  v: 1,
  type,
  id: "f3a1d2b0-3c2f-4f6a-9f3f-3f5d0f8f9b2a",
  ts: "2026-01-16T12:00:00Z",
  ...fields,
  payload,
});

/** The examples of the specification (section 8), as it prints them. */
export const publishedExamples = {
  "agent.hello": {
    v: 1,
    type: "agent.hello",
    id: "f3a1d2b0-3c2f-4f6a-9f3f-3f5d0f8f9b2a",
    ts: "2026-01-16T12:00:00Z",
    payload: {
      session_token: "<redacted>",
      agent_id: "com.graphonomous.core",
      agent_version: "1.0.0",
      protocol: { supported_versions: [1], capabilities: ["tools", "streaming", "cancellation"] },
    },
  },
  "core.tool.call": {
    v: 1,
    type: "core.tool.call",
    id: "4c3c0c7b-4c9a-4a6b-9d2a-4e4a9f0e2a1b",
    ts: "2026-01-16T12:00:01Z",
    request_id: "8d0f8a5a-2f0a-4b76-9a9c-4c2b7b9a0c1d",
    correlation_id: "chat_session:abc123",
    payload: {
      call_id: "9b1a2c3d-4e5f-6789-abcd-ef0123456789",
      tool_id: "com.graphonomous.core/graph_search",
      input: {
        query: "foo",
        collections: ["project:my_project:customer_docs"],
        top_k: 5,
        graph_mode: true,
      },
      timeout_ms: 30000,
    },
  },
  "agent.tool.result": {
    v: 1,
    type: "agent.tool.result",
    id: "d2c1b0a9-8f7e-6d5c-4b3a-291817161514",
    ts: "2026-01-16T12:00:02Z",
    request_id: "8d0f8a5a-2f0a-4b76-9a9c-4c2b7b9a0c1d",
    correlation_id: "chat_session:abc123",
    payload: {
      call_id: "9b1a2c3d-4e5f-6789-abcd-ef0123456789",
      status: "succeeded",
      output: { query_id: "q_123", results: [], warnings: [] },
      started_at: "2026-01-16T12:00:01Z",
      finished_at: "2026-01-16T12:00:02Z",
    },
  },
} as const;

const actor = { type: "human", id: "ada", display: "Ada" };
const error = {
  code: "tool.failed",
  message: "The tool failed.",
  details: { attempt: 1, where: [null] },
  retryable: false,
  where: "agent.runtime",
  debug: { line: 1 },
};
const brief = { code: "tool.canceled", message: "" };
const chain = { in_reply_to: "m1", request_id: "r1", correlation_id: "c1", causation_id: "d1" };

const tool = { tool_id: "com.example.files/read", name: "read", description: "", input_schema: {} };
const fullTool = {
  tool_id: "a/git:status-2.x_y",
  name: "git:status-2.x_y",
  description: "Reads a file",
  input_schema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
  output_schema: { type: "object" },
  capabilities: ["streaming", "cancellation"],
  side_effects: true,
  requires_directive: false,
  tags: ["files"],
};
const hello = publishedExamples["agent.hello"];
const call = publishedExamples["core.tool.call"];
const context = { project_root: "/repo", resource_paths: ["a.txt"], ui: { theme: { dark: true } } };
const restart = {
  policy: "always",
  initial_backoff_ms: 0,
  max_backoff_ms: 1,
  max_burst: 1,
  burst_window_ms: 1,
  stable_after_ms: 1,
};
const limits = {
  max_inflight_requests: 4,
  max_tool_input_bytes: 1,
  max_tool_output_bytes: 2,
  max_inflight_per_tool: { bash: 1 },
};
const manifest = { id: "com.example.files", version: "1.0.0", command: ["node", "agent.mjs", ""] };

const welcome = envelope("core.welcome", {
  accepted_version: 1,
  session_id: "s1",
  heartbeat_interval_ms: 5000,
  max_frame_bytes: 4_194_304,
  server: { core_version: "1.0.0", instance_id: "i1" },
});

/** Documents that each schema of the runtime protocol accepts, by the schema's name. */
export const runtimeDocuments: Record<string, unknown[]> = {
  RuntimeEnvelopeSchema: [
    hello,
    envelope("agent.unheard_of", {}, { v: 2 }),
    envelope("agent.unheard_of", { a: [1] }, { v: 2, ...chain, actor, error }),
    envelope("core.ping", {}, { ts: "2026-01-16 12:00:60.123456789+05:30" }),
  ],
  AgentIdSchema: ["com.graphonomous.core", "a", "Agent_1-x"],
  SemanticVersionSchema: ["1.0.0", "0.0.1-rc.1+build.5", "10.20.30"],
  AgentHelloSchema: [
    hello,
    envelope("agent.hello", {
      ...hello.payload,
      manifest_hash: "sha256:0",
      protocol: { supported_versions: [1, 2], capabilities: [] },
      sdk: { name: "opensentience_agent_sdk", version: "0.1.0" },
    }),
  ],
  CoreWelcomeSchema: [welcome, { ...welcome, in_reply_to: "m1" }],
  CoreRefusalSchema: [
    envelope("core.welcome", {}, { in_reply_to: "m1", error: brief }),
    { ...welcome, error },
  ],
  CoreGoodbyeSchema: [
    envelope("core.goodbye", { reason: "shutdown" }),
    envelope("core.goodbye", { reason: "", retry_after_ms: 0 }),
  ],
  AgentHeartbeatSchema: ["ok", "degraded", "unhealthy"].map((status) =>
    envelope("agent.heartbeat", {
      session_id: "s1",
      uptime_ms: 0,
      inflight_calls: 1,
      status,
      details: { queue: 3 },
    }),
  ),
  CorePingSchema: [envelope("core.ping", {})],
  AgentPongSchema: [envelope("agent.pong", {}), envelope("agent.pong", {}, { in_reply_to: "m1" })],
  CoreErrorSchema: [
    envelope("core.error", {}, { error: brief }),
    envelope("core.error", {}, { in_reply_to: "m1", request_id: "r1", error: brief }),
  ],
  AgentErrorSchema: [
    envelope("agent.error", {}, { error: brief }),
    envelope("agent.error", {}, { in_reply_to: "m1", request_id: "r1", error }),
  ],
  ToolNameSchema: ["fp_run_workflow", "_", "git:status-2.x"],
  ToolIdSchema: ["com.graphonomous.core/graph_search", "a/_", "a/git:status-2.x"],
  ToolDeclarationSchema: [tool, fullTool],
  AgentToolsRegisterSchema: [
    envelope("agent.tools.register", { tools: [] }),
    envelope("agent.tools.register", { tools: [tool, fullTool, { wrong: true }], replace: true }),
  ],
  CoreToolsRegisteredSchema: [
    envelope("core.tools.registered", { registered: [tool.tool_id] }),
    envelope("core.tools.registered", { registered: [], rejected: [{ tool_id: "read", error: brief }] }),
  ],
  AgentToolsUnregisterSchema: [envelope("agent.tools.unregister", { tool_ids: [tool.tool_id] })],
  CoreToolsUnregisteredSchema: [
    envelope("core.tools.unregistered", {}),
    envelope("core.tools.unregistered", { tool_ids: [] }),
  ],
  CallerSchema: [
    { type: "human", id: "ada" },
    { type: "agent", id: "a" },
    { type: "system", id: "s" },
  ],
  CoreToolCallSchema: [
    call,
    envelope("core.tool.call", call.payload, { request_id: "r1" }),
    {
      ...call,
      actor,
      causation_id: "d1",
      payload: { ...call.payload, idempotency_key: "k", caller: { type: "human", id: "ada" }, context },
    },
  ],
  AgentToolStreamSchema: [
    ...["stdout", "stderr", "log", "status"].map((channel) =>
      envelope("agent.tool.stream", { call_id: "c1", seq: 1, channel, data: { text: "…" } }, chain),
    ),
    envelope("agent.tool.stream", {
      call_id: "c1",
      seq: 2,
      channel: "partial_result",
      data: { json: { rows: [1] } },
      done: true,
    }),
  ],
  OutputReferenceSchema: [
    { output_file: { path: "/tmp/a.json", size_bytes: 2, sha256: "0".repeat(64) }, truncated: true },
  ],
  AgentToolResultSchema: [
    publishedExamples["agent.tool.result"],
    envelope("agent.tool.result", { call_id: "c1", status: "failed", error, metrics: { ms: 1.5 } }, chain),
    envelope("agent.tool.result", { call_id: "c1", status: "canceled" }),
    envelope("agent.tool.result", { call_id: "c1", status: "canceled" }, { error: brief }),
  ],
  CoreToolCancelSchema: [
    envelope("core.tool.cancel", { call_id: "c1" }),
    envelope("core.tool.cancel", { call_id: "c1", reason: "The user stopped it", deadline_ms: 0 }),
  ],
  AgentToolCancelAckSchema: [
    envelope("agent.tool.cancel_ack", { call_id: "c1", accepted: true }),
    envelope("agent.tool.cancel_ack", { call_id: "c1", accepted: false, note: "It has ended" }),
  ],
  AgentManifestSchema: [
    manifest,
    {
      ...manifest,
      $schema: "./node_modules/@harnesskit/protocol/schema/agent-manifest.json",
      name: "Files",
      description: "Reads files",
      env: ["HOME", "_x1"],
      permissions: ["fs.read"],
      restart,
      limits,
    },
  ],
};
