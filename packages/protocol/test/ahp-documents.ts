import { publishedAhpExamples as examples } from "./ahp-examples.ts";

const metadata = { source: "policy", tags: ["a", null] };
const fact = { content: "The tests use vitest", source: "package.json", confidence: 0.8999999761581421 };

const artifact = { id: "a1" };
const fullArtifact = {
  ...artifact,
  kind: "report",
  uri: "file:///out.txt",
  path: "out.txt",
  mime_type: "text/plain",
  sha256: "0",
  size_bytes: 0,
  summary: "",
};
const evidence = { kind: "log", summary: "It failed" };
const fullEvidence = { ...evidence, artifact: fullArtifact, metadata };
const task = { id: "t1", title: "Look", status: "pending" };
const fullTask = {
  ...task,
  status: "in_progress",
  depends_on: ["t0"],
  evidence: [evidence, fullEvidence],
  artifacts: [artifact, fullArtifact],
  error: "e",
  updated_at: "2026-05-01T00:00:02.123456789+00:00",
  metadata,
};
const check = { id: "c1", subject: "Types", status: "running" };
const fullCheck = {
  ...check,
  status: "needs_review",
  command: "tsc",
  message: "m",
  evidence: [fullEvidence],
  artifacts: [fullArtifact],
  metadata,
};

const targets = {
  entity: [
    { name: "AhpServer", entity_type: "class" },
    { name: "a", entity_type: "b", identifier: "c" },
  ],
  location: [{ path: ".", location_type: "workspace" }],
  event: [
    { description: "The build broke", event_type: "ci" },
    { description: "", event_type: "", time_range: {} },
    { description: "", event_type: "", time_range: { from: 1_777_593_600, to: -1 } },
    { description: "", event_type: "", time_range: { from: "a", to: "b", relative: "yesterday" } },
  ],
  relation: [{ entities: ["a", "b"], relation_type: "calls" }],
  rule: [
    { name: "a", rule_type: "lint" },
    { name: "a", rule_type: "lint", scope: "src" },
  ],
  state: [{ target: "server", aspect: "memory", include_history: false }],
  resource: [
    { name: "db", resource_type: "table" },
    { name: "db", resource_type: "table", constraints: "rows < 10" },
    { name: "db", resource_type: "table", constraints: { rows: [1] } },
    { name: "db", resource_type: "table", constraints: [null] },
  ],
  pattern: [{ pattern: "TODO", pattern_type: "regex" }],
};
const targetDocuments = Object.entries(targets).flatMap(([kind, list]) =>
  list.map((one) => ({ [kind]: one })),
);

const block = { decision: "block", reason: "no" };
const fullBlock = { ...block, metadata };
const genericDecisions = [
  { decision: "allow" },
  { decision: "allow", modified_payload: [null], metadata: {} },
  block,
  fullBlock,
  { decision: "modify", modified_payload: { a: [1] }, metadata },
  { decision: "modify", modified_payload: null },
  { decision: "defer", retry_after_ms: 0 },
  { decision: "defer", retry_after_ms: 500, reason: "busy" },
  { decision: "escalate", reason: "a person has to say" },
  { decision: "escalate", reason: "", escalation_target: "ada" },
];
const injected = {
  facts: [fact],
  file_contents: [{ path: "a.ts", snippet: "x", relevance_score: 0.5 }],
  project_summary: {
    project_name: "p",
    language: "Rust",
    key_files: ["src/lib.rs"],
    structure_description: "d",
  },
  knowledge: ["k"],
  suggestions: ["s"],
};

const query = { session_id: "s", agent_id: "a", query_type: "policy" };
const agentInfo = { framework: "own", version: "1", capabilities: ["pre_action"] };
const harnessInfo = { name: "policy", version: "1", capabilities: [] };
const config = { timeout_ms: 10_000, batch_size: 100, max_depth: 10 };

const events = [
  examples.request.params,
  examples.notification.params,
  examples.run_lifecycle,
  examples.task_list,
  examples.verification,
  examples.full_event,
];

const eventTypes = [
  "pre_action",
  "post_action",
  "pre_prompt",
  "post_response",
  "session_start",
  "session_end",
  "error",
  "heartbeat",
  "success",
  "idle",
  "intent_detection",
  "context_perception",
  "memory_recall",
  "planning",
  "reasoning",
  "rate_limit",
  "confirmation",
  "run_lifecycle",
  "task_list",
  "verification",
];

/** Documents that each schema of the supervision protocol accepts as they are, by the schema's name. */
export const ahpDocuments: Record<string, unknown[]> = {
  FactSchema: [fact, { content: "", source: "", confidence: 1 }],
  IntentSchema: [
    "recognize",
    "understand",
    "locate",
    "retrieve",
    "explore",
    "reason",
    "validate",
    "compare",
    "track",
  ],
  DomainSchema: [
    "coding",
    "writing",
    "data_analysis",
    "research",
    "project_management",
    "conversation",
    "operations",
    "security",
    "general",
  ],
  ModalitySchema: ["text", "code", "structured_data", "table", "chart", "image", "audio", "video", "any"],
  UrgencySchema: ["critical", "high", "normal", "low"],
  FreshnessSchema: ["realtime", "recent", "static"],
  TargetSchema: targetDocuments,
  RunStatusSchema: ["created", "planning", "executing", "verifying", "completed", "failed", "cancelled"],
  TaskStatusSchema: ["pending", "in_progress", "completed", "failed", "skipped", "cancelled"],
  VerificationStatusSchema: ["pending", "running", "passed", "failed", "skipped", "needs_review"],
  ArtifactSchema: [artifact, fullArtifact],
  EvidenceSchema: [evidence, fullEvidence],
  RunLifecycleSchema: [
    examples.run_lifecycle.payload,
    { run_id: "r", session_id: "s", status: "created", updated_at: "2026-05-01T00:00:00Z" },
    {
      run_id: "r",
      session_id: "s",
      status: "failed",
      updated_at: "2026-05-01 00:00:60Z",
      result_summary: "r",
      error: "e",
      metadata,
    },
  ],
  TaskSchema: [task, fullTask],
  TaskListSchema: [
    examples.task_list.payload,
    { run_id: "r", session_id: "s", tasks: [], updated_at: "2026-05-01t00:00:00z", metadata },
    { run_id: "r", session_id: "s", tasks: [task, fullTask], updated_at: "2026-05-01T00:00:00-07:30" },
  ],
  VerificationCheckSchema: [check, fullCheck],
  VerificationSchema: [
    examples.verification.payload,
    { run_id: "r", session_id: "s", status: "skipped", updated_at: "2026-05-01T00:00:00Z" },
    {
      run_id: "r",
      session_id: "s",
      status: "failed",
      checks: [check, fullCheck],
      artifacts: [artifact, fullArtifact],
      residual_risks: ["slow"],
      updated_at: "2026-05-01T00:00:00Z",
      metadata,
    },
  ],
  DecisionSchema: genericDecisions,
  IdleDecisionSchema: [{ decision: "allow" }, { decision: "defer" }, { decision: "defer", reason: "busy" }],
  IntentDetectionDecisionSchema: [
    { decision: "allow", detected_intent: "locate", confidence: 1 },
    { decision: "allow", detected_intent: "x", confidence: 0.5, target_hints: {} },
    {
      decision: "allow",
      detected_intent: "x",
      confidence: 0,
      target_hints: { target_type: "file", target_name: "a", domain: "coding" },
    },
    block,
  ],
  InjectedContextSchema: [
    { facts: [] },
    injected,
    { facts: [], project_summary: { project_name: "p", structure_description: "" } },
  ],
  ContextPerceptionDecisionSchema: [
    { decision: "allow", injected_context: { facts: [] } },
    { decision: "allow", injected_context: injected, metadata },
    block,
    fullBlock,
    { decision: "refine", scope_hints: [] },
    { decision: "refine", scope_hints: ["src"] },
    {
      decision: "refine",
      refined_intent: "locate",
      refined_target: { location: { path: "src", location_type: "directory" } },
      scope_hints: [],
    },
  ],
  MemoryRecallDecisionSchema: [
    { decision: "allow", injected_facts: [] },
    { decision: "allow", injected_facts: [fact], metadata },
    block,
    fullBlock,
  ],
  PlanningDecisionSchema: [
    { decision: "allow", selected_strategy: "none" },
    { decision: "allow", selected_strategy: { custom: "own" }, planning_template: [1], metadata },
    block,
    fullBlock,
    { decision: "modify", modified_task: "less" },
    { decision: "modify", modified_task: "less", hints: ["h"] },
  ],
  ReasoningDecisionSchema: [
    { decision: "allow" },
    { decision: "allow", hints: ["h"], metadata },
    block,
    fullBlock,
  ],
  RateLimitDecisionSchema: [
    { decision: "retry", retry_after_ms: 1 },
    { decision: "retry", retry_after_ms: 0, metadata },
    { decision: "queue" },
    { decision: "skip", reason: "full" },
  ],
  ConfirmationDecisionSchema: [
    { decision: "escalate" },
    { decision: "approve" },
    { decision: "reject", reason: "no" },
    { decision: "reject", reason: "no", metadata: { approval: { status: "rejected" } } },
  ],
  EventContextSchema: [
    {},
    examples.full_event.context,
    {
      recent_facts: [fact],
      memory_summary: { memory_type: "long", total_items: 2, recent_topics: ["a"] },
      capabilities: { tools: ["bash"] },
    },
  ],
  AhpEventSchema: [
    ...events,
    { ...examples.full_event, payload: null, metadata, timestamp: "2026-05-01T00:00:00.5+02:00" },
  ],
  AhpEventTypeSchema: eventTypes,
  AhpTaxonomySchema: ["handshake", "query", ...eventTypes],
  IdlePayloadSchema: [
    { idle_duration_ms: 0, idle_reason: "done" },
    { idle_duration_ms: 5, idle_reason: "", last_event_type: "success", suggested_action: "tidy" },
  ],
  IntentDetectionPayloadSchema: [
    { session_id: "s", prompt: "fix it", workspace: "/repo" },
    { session_id: "s", prompt: "", workspace: "", language_hint: "en" },
  ],
  ContextPerceptionPayloadSchema: [
    {
      ...examples.context_perception,
      domain: "coding",
      preferred_modality: "code",
      urgency: "critical",
      freshness: "realtime",
      context: {
        workspace: "/repo",
        current_task: "t",
        query: "q",
        relevant_history: [{ item_type: "file", content: "c", timestamp: 1_777_593_600 }],
      },
      constraints: { max_results: 5, max_context_length: 4000, include_sources: false },
      metadata,
    },
  ],
  MemoryRecallPayloadSchema: [
    { session_id: "s", query: "q", memory_type: "long", max_results: 5, working_directory: "/repo" },
  ],
  PlanningStrategySchema: ["none", "step_by_step", "tree_of_thoughts", "graph_planning", { custom: "own" }],
  PlanningPayloadSchema: [
    { session_id: "s", task_description: "t", available_strategies: [] },
    {
      session_id: "s",
      task_description: "t",
      available_strategies: ["none", { custom: "own" }],
      constraints: 0,
    },
  ],
  ReasoningTypeSchema: ["chain_of_thought", "tree_of_thoughts", "re_act", "reflexion", { other: "own" }],
  ReasoningPayloadSchema: [
    { session_id: "s", reasoning_type: "re_act", problem_statement: "p" },
    { session_id: "s", reasoning_type: { other: "own" }, problem_statement: "p", hints: ["h"] },
  ],
  LimitTypeSchema: [
    "llm_token_limit",
    "llm_request_limit",
    "api_request_limit",
    "tool_execution_limit",
    { custom: "own" },
  ],
  RateLimitPayloadSchema: [
    { session_id: "s", limit_type: "llm_token_limit", retry_after_ms: 1, current_usage: "9/10" },
  ],
  ConfirmationTypeSchema: ["safety_confirm", "user_confirm", "cost_confirm", { custom: "own" }],
  ConfirmationPayloadSchema: [
    { session_id: "s", confirmation_type: "cost_confirm", message: "Go on?" },
    { session_id: "s", confirmation_type: { custom: "own" }, message: "", options: ["yes", "no"] },
  ],
  HeartbeatPayloadSchema: [
    { uptime_ms: 1, total_events_processed: 0, current_state: "idle" },
    {
      uptime_ms: 1,
      total_events_processed: 0,
      current_state: "busy",
      cpu_percent: 12.5,
      memory_bytes: 1,
      active_tools: 2,
      pending_actions: 0,
      queue_depth: 0,
      tokens_used: 7,
    },
    { uptime_ms: 1, total_events_processed: 0, current_state: "busy", active_tools: ["bash"] },
  ],
  ToolCallPayloadSchema: [
    { tool_name: "bash", arguments: { command: "ls" } },
    { action_type: "tool_call", tool_name: "read", tool_call_id: "c1", arguments: null },
  ],
  PromptPayloadSchema: [
    { prompt: "hello" },
    { prompt: [{ role: "user", content: "hello" }], files: ["a.txt"], model: { id: "m" }, tools: ["bash"] },
  ],
  SuccessPayloadSchema: [{ session_id: "s", action_type: "tool", action_summary: "ran", duration_ms: 5 }],
  HarnessConfigSchema: [{}, config],
  HandshakeParamsSchema: [{ protocol_version: "2.4", agent_info: agentInfo, session_id: "s", agent_id: "a" }],
  HandshakeResultSchema: [
    { protocol_version: "2.0", harness_info: harnessInfo },
    { protocol_version: "2.4", harness_info: harnessInfo, session_token: "t", config },
  ],
  QueryParamsSchema: [
    { ...query, payload: { question: "May I?" } },
    { ...query, payload: null },
  ],
  QueryResultSchema: [{ answer: null }, { answer: { a: 1 }, reason: "r", alternatives: ["b"] }],
  BatchParamsSchema: [{ events: [] }, { events }],
  BatchResultSchema: [{ decisions: [] }, { decisions: genericDecisions }],
  "ahp/event result": [{ decision: "allow" }, { decision: "approve" }, null],
};
for (const [method, name] of [
  ["ahp/handshake", "Handshake"],
  ["ahp/query", "Query"],
  ["ahp/batch", "Batch"],
]) {
  ahpDocuments[`${method} params`] = ahpDocuments[`${name}ParamsSchema`] ?? [];
  ahpDocuments[`${method} result`] = ahpDocuments[`${name}ResultSchema`] ?? [];
}
ahpDocuments["ahp/event params"] = ahpDocuments.AhpEventSchema ?? [];
