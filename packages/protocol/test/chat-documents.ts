const text = { type: "text", text: "Hello" };
const signedText = { ...text, signature: "sig" };
const urlImage = { type: "image", source: { type: "url", url: "data:image/png;base64,AA==" } };
const detailedImage = { ...urlImage, media_type: "anything", detail: "low" };
const inlineImage = {
  type: "image",
  source: { type: "inline", base64_data: "AA==" },
  media_type: "image/webp",
  detail: "auto",
};
const thinking = { type: "thinking", text: "Hm", signature: "sig" };
const redacted = { type: "redacted_thinking", data: "opaque" };
const call = {
  id: "call_1",
  name: "search",
  arguments: { query: "x", nested: [{ a: null }] },
  signature: "s",
};

const system = { role: "system", content: "Be brief" };
const users = [
  { role: "user", content: "Hello" },
  { role: "user", content: [text, urlImage, inlineImage, detailedImage, signedText] },
];
const assistants = [
  { role: "assistant", content: "Hello" },
  { role: "assistant", content: [thinking, redacted, text], tool_calls: [] },
  { role: "assistant", content: "Hello", tool_calls: null },
  { role: "assistant", content: "", tool_calls: [call] },
  { role: "assistant", content: [], tool_calls: [call] },
  { role: "assistant", tool_calls: [{ id: "c", name: "n", arguments: {} }] },
];
const tools = [
  { role: "tool", content: "42", tool_call_id: "call_1" },
  { role: "tool", content: "", tool_call_id: "call_1" },
];
const messages = [system, ...users, ...assistants, ...tools];

const descriptor = { signal_id: "sig_1", metadata: { kind: "approval", fan_out_index: 0 } };
const completed = [
  { outcome: "completed", replies: [] },
  { outcome: "completed", replies: messages, final_state: { messages: [] } },
];
const errored = [
  { outcome: "errored", error_bucket: "retryable_transient", reply: system },
  {
    outcome: "errored",
    error_bucket: "user_correctable",
    error_category: "provider_unavailable",
    reply: system,
  },
];
const suspended = [
  { outcome: "suspended", signal_descriptor: { signal_id: "s" }, pending_messages: [], invocation_id: "i" },
  { outcome: "suspended", signal_descriptor: descriptor, pending_messages: assistants, invocation_id: "i" },
];

const time = "2026-01-02T03:04:05.678Z";
const position = { namespace: ["outer", "inner"], step: 0 };
const sessionList = { session_field: "messages", length: 3 };
const frames = [
  { node: "outer", state: { note: "n" }, session_lists: { messages: sessionList } },
  { node: "inner", state: {}, session_lists: {} },
];
const signal = { payload: { approved: true }, accepted_at: time };
const suspensionSummary = {
  invocation_id: "i",
  correlation_id: "c",
  session_id: "s",
  status: "suspended",
  descriptor,
  node_name: "outer",
  namespace: ["outer", "inner"],
  mark_node_completed: false,
  attempt_index: 0,
  next_step: 2,
  schema_version: "2",
  is_session_saved: true,
  signal: null,
  result: null,
  is_delivered: true,
  revision: 1,
  suspended_at: time,
  updated_at: time,
};
const ended = {
  ...suspensionSummary,
  session_id: null,
  status: "completed",
  signal,
  result: { replies: [] },
};

/** Documents that the schemas of conversations accept, by the schema's name. */
export const chatDocuments: Record<string, unknown[]> = {
  ChatMessageSchema: messages,
  ChatTurnOutcomeSchema: [...completed, ...errored, ...suspended],
  SuspensionRecordSchema: [
    { ...suspensionSummary, completed_positions: [position], frames },
    { ...ended, completed_positions: [], frames: [] },
  ],
};
