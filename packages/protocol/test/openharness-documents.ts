const shell = {
  shell_kind: "im_bot",
  shell_version: "2.1.0",
  locale: "zh-CN",
  timezone: "Asia/Shanghai",
};
const continuation = { run_id: "run_7d2", continuation_token: "ctok_aq9" };
const taskHint = { sop_id: "sop_onboard", plugin_id: "p", business_key: "deal_42", own: [{ a: null }] };
const environment = {
  privacy_tier: "restricted",
  os: "macOS",
  active_window: "Excel",
  screen_hash: "a1b2c3d4",
};
const attachment = { ref_id: "att_01", mime_type: "image/png" };
const fullAttachment = {
  ...attachment,
  uri: "https://x/y.png",
  asset_id: "a",
  filename: "y.png",
  size_bytes: 0,
};
const extensions = { "com.example": { foo: 1 } };
const capabilities = { "openharness.actions.parallel": true, "openharness.ui.rich_cards": { version: 2 } };
const auth = { tenant_id: "usr_9527", credential_ref: "cred_opaque_abc" };
const context = {
  session_id: "sess_8848",
  conversation_id: "conv_tab_2",
  user_intent: "Continue the onboarding SOP.",
  task_hint: { sop_id: "sop_onboard", business_key: "deal_42" },
  continuation,
  shell,
  attachments: [attachment],
  environment_state: environment,
};
const denial = { capability: "openharness.streaming", code: "not_supported", message: "No." };
const chart = {
  action_type: "render_ui",
  priority: "high",
  risk_tier: "safe",
  deadline_ms: 5000,
  payload: { component: "DataChart", data: [] },
};
const copy = {
  action_type: "simulate_action",
  priority: "critical",
  risk_tier: "dangerous",
  requires_user_approval: true,
  payload: { macro: "cmd+c", target: "cell_B2" },
};
const failure = { code: "engine_timeout", message: "Later.", retryable: true, details: { after_ms: 5 } };

/** The example of the specification (section 17), and a request with every field. */
export const requestDocuments = [
  {
    protocol_version: "1.0.0",
    request_id: "req_01jqxyz",
    correlation_id: "corr_8f3a",
    capabilities: { "openharness.actions.parallel": true, "openharness.ui.rich_cards": true },
    request: { auth, context },
  },
  { protocol_version: "1.2.3-draft.1+b", request: {} },
  {
    protocol_version: "10.20.30",
    capabilities,
    request: {
      auth: { ...auth, session_id: "s", token: "opaque" },
      context: { ...context, task_hint: taskHint, attachments: [fullAttachment, {}], extensions },
      extensions,
    },
  },
];

/** The example of the specification (section 17), a failure, and a response with every field. */
export const responseDocuments = [
  {
    protocol_version: "1.0.0",
    request_id: "req_01jqxyz",
    correlation_id: "corr_8f3a",
    supported_protocol_versions: ["1.0.0"],
    supported_capabilities: { "openharness.actions.parallel": true, "openharness.ui.rich_cards": true },
    capability_denials: [],
    response: { status: "success", engine_latency_ms: 120, action_directives: [chart, copy] },
  },
  { protocol_version: "1.0.0", response: { status: "error", error: failure } },
  {
    protocol_version: "1.0.0",
    supported_protocol_versions: [],
    capability_denials: [denial],
    response: {
      status: "success",
      engine_latency_ms: 0.5,
      action_directives: [{ action_type: "noop", execution: "parallel", extensions }],
      error: { code: "c" },
      extensions,
    },
  },
];

const stream = { stream_id: "stream_1" };
const opened = { ...stream, seq: 0, type: "opened", request_id: "r", version: 1 };
const text = { ...stream, seq: 1, type: "text", message_id: "1", delta: "" };
const progress = { ...stream, seq: 2, type: "progress", directive_id: "d", state: "running" };
const fullProgress = { ...progress, message: "m", action_type: "a", fraction: 0.5 };
const end = { ...stream, seq: 2 ** 40, type: "end", response: responseDocuments[0] };

/** Documents that each schema of OpenHarness accepts as they are, by the schema's name. */
export const openharnessDocuments: Record<string, unknown[]> = {
  ExtensionsSchema: [{}, extensions],
  ContinuationSchema: [{}, continuation, { sop_id: "s" }],
  EnvironmentStateSchema: [{}, environment, { battery: 0.5 }],
  ShellRequestSchema: requestDocuments,
  ActionDirectiveSchema: [chart, copy, { action_type: "x" }],
  ShellResponseSchema: responseDocuments,
  StreamFrameSchema: [opened, text, progress, fullProgress, end],
};
