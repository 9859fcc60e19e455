import { ahpDocuments } from "./ahp-documents.ts";
import { chatDocuments } from "./chat-documents.ts";
import { openharnessDocuments } from "./openharness-documents.ts";
import { runtimeDocuments } from "./runtime-documents.ts";

const thread = {
  threadId: "ses_1",
  title: "Tests",
  directory: "/repo",
  time: { created: 1_700_000_000_000, updated: 1_700_000_000_001 },
};
const turn = { turnId: "turn_1", threadId: "ses_1", status: "running", time: { started: 5 } };
const finished = {
  ...turn,
  status: "completed",
  time: { started: 5, completed: 6 },
  usage: { inputTokens: 1, outputTokens: 2.5, totalTokens: 0 },
};
const text = { type: "text", text: "Run the tests" };
const queued = { turnId: "turn_2", threadId: "ses_1", input: [text], time: { queued: 5 } };
const interrupting = {
  ...queued,
  agent: "code",
  model: { providerID: "anthropic", modelID: "claude-sonnet-4-20250514" },
  interrupts: "turn_1",
  clientRequestId: "r1",
  requestDigest: "sha256:0",
};
const found = {
  thread,
  in: "user_message",
  snippet: "the tests",
  seq: 2,
  time: 5,
  turnId: "turn_1",
  itemId: "item_1",
};
const fileByPath = { type: "file", path: "a.txt" };
const fileByUri = { type: "file", uri: "file:///a.txt", mimeType: "text/plain" };
const metadata = {
  tool: "bash",
  input: { command: "ls", nested: [{ a: null }] },
  preview: "ls",
  reason: "writes",
  digest: "sha256:0",
  expiresAt: 7,
};
const ids = { threadId: "ses_1", turnId: "turn_1", itemId: "item_1" };
const toolJudgement = {
  decision: "block",
  by: "policy coding-agent",
  rule: "destructive-commands",
  reason: "this would destroy something",
  modified: { requested: { command: "ls" }, by: "policy team", rule: "into-tmp", reason: "not here" },
};
const promptJudgement = {
  decision: "allow",
  by: "policy coding-agent",
  modified: { requested: [text] },
};
const itemData = {
  user_message: {
    content: [text, fileByPath, fileByUri],
    agent: "code",
    model: { providerID: "anthropic", modelID: "claude-sonnet-4-20250514" },
    judgement: promptJudgement,
    withheld: true,
  },
  assistant_message: { text: "Done", reasoning: true, step: 0 },
  tool_exec: {
    tool: "bash",
    input: { command: "ls" },
    status: "succeeded",
    output: { lines: ["a", null] },
    error: "e",
    code: "c",
    callId: "call_1",
    step: 2,
    index: 1,
    approvedBy: "apr_1",
    judgement: toolJudgement,
  },
  tool_log: { toolItemId: "item_1", stream: "stdout", text: "…", truncated: true },
  approval: {
    requestId: "apr_1",
    permission: "bash",
    metadata,
    toolItemId: "item_0",
    decision: "once",
    resolvedBy: "ada",
    reason: "fine",
    scope: "directory",
    clientRequestId: "r1",
  },
  artifact: {
    kind: "file",
    path: "out.txt",
    mimeType: "text/plain",
    sizeBytes: 3,
    sha256: "0",
    toolItemId: "item_0",
  },
};
const items = Object.entries(itemData).map(([type, data]) => ({ ...ids, type, data }));
const [userMessage] = items;

const notifications: Record<string, unknown[]> = {
  "thread.created": [{ threadId: "ses_1", thread }],
  "turn.started": [{ threadId: "ses_1", turnId: "turn_1", turn }],
  "turn.step": [
    { threadId: "ses_1", turnId: "turn_1", step: 0, calls: [] },
    {
      threadId: "ses_1",
      turnId: "turn_1",
      step: 1,
      calls: [
        { tool: "bash", input: { command: "ls" } },
        {
          callId: "call_2",
          index: 1,
          tool: "none",
          input: {},
          problem: "The input is not JSON",
          providerMetadata: { google: { thoughtSignature: "s" } },
        },
      ],
      usage: { inputTokens: 3, outputTokens: 1 },
    },
  ],
  "turn.resumed": [
    { threadId: "ses_1", turnId: "turn_1", step: 1, reason: "interrupted", attempt: 2 },
    { threadId: "ses_1", turnId: "turn_1", step: 0, reason: "model_stream", attempt: 1 },
  ],
  "turn.completed": [
    { threadId: "ses_1", turnId: "turn_1", status: "completed", turn: finished },
    { threadId: "ses_1", turnId: "turn_1", status: "cancelled", turn: { ...finished, status: "cancelled" } },
  ],
  "turn.error": [
    { threadId: "ses_1", turnId: "turn_1", error: "The model failed", code: "model_failed", turn: finished },
  ],
  "item.started": items.map((item) => ({ ...ids, type: item.type, item })),
  "item.updated": items.map((item) => ({ ...ids, type: item.type, item })),
  "item.delta": [{ ...ids, type: "assistant_message", delta: "Do" }],
  "item.completed": items.map((item) => ({ ...ids, type: item.type, item })),
  "approval.requested": [
    { ...ids, requestId: "apr_1", permission: "bash", metadata },
    { ...ids, requestId: "apr_1", permission: "bash", metadata, seq: 7, time: 5 },
  ],
  "approval.resolved": [
    { ...ids, requestId: "apr_1", decision: "always", resolvedBy: "ada" },
    { ...ids, requestId: "apr_1", resolvedBy: "server", reason: "expired" },
  ],
  "thread.updated": [{ threadId: "ses_1", thread: { ...thread, time: { ...thread.time, archived: 7 } } }],
  "thread.forked": [{ threadId: "ses_1", from: { threadId: "ses_2", seq: 3 } }],
  "turn.queued": [
    { threadId: "ses_1", turnId: "turn_2", queued },
    { threadId: "ses_1", turnId: "turn_2", queued: interrupting },
  ],
  "turn.dequeued": ["cancelled", "archived", "forked"].map((reason) => ({
    threadId: "ses_1",
    turnId: "turn_2",
    reason,
    turn: { ...turn, turnId: "turn_2", status: "cancelled" },
  })),
  "thread.deleted": [{ threadId: "ses_1" }],
};

/** All but the one that tells of the log's end are events of the log. */
const events = Object.entries(notifications)
  .filter(([type]) => type !== "thread.deleted")
  .flatMap(([type, params]) => params.map((data, index) => ({ seq: index + 1, time: 5, type, data })));

const grant = {
  grantId: "grant_1",
  scope: "thread",
  threadId: "ses_1",
  directory: "/repo",
  tool: "bash",
  input: { command: "ls" },
  digest: "sha256:0",
  requestId: "apr_1",
  grantedBy: "ada",
  time: 5,
};

const capabilities = { threads: true, turns: true, approvals: true, streaming: true, persistence: true };

/** Documents that each schema accepts, by the schema's name; the examples of the specification among them. */
export const documents: Record<string, unknown[]> = {
  JsonValueSchema: [null, true, 0, "", [], {}, [{ a: [null] }]],
  JsonObjectSchema: [{}, { a: [null, { b: 1 }] }],
  ParamsSchema: [[], {}, [1, "a"], { a: { b: null } }],
  ApprovalDecisionSchema: ["once", "always", "reject"],
  GrantSchema: [grant, { ...grant, scope: "directory", previewDigest: "sha256:1" }],
  ApprovalMetadataSchema: [metadata, { tool: "bash", input: {}, digest: "" }],
  ThreadCapabilitiesSchema: [capabilities, { ...capabilities, subscriptions: { version: 1 } }],
  EventSchema: events,
  ThreadSchema: [thread],
  "initialize params": [{}, { clientInfo: { name: "cli" } }, { clientInfo: { name: "cli", version: "1" } }],
  "initialize result": [{ version: "1.0.0", capabilities }],
  "thread.create params": [{}, { title: "Tests" }, { directory: "/repo", clientRequestId: "r1" }],
  "thread.create result": [{ thread }],
  "thread.list params": [{}, { limit: 1, cursor: "c", directory: "/repo", title: "t", updatedAfter: 5 }],
  "thread.list result": [{ threads: [] }, { threads: [thread], nextCursor: "c" }],
  "thread.get params": [{ threadId: "ses_1" }, { threadId: "ses_1", afterSeq: 0, limit: 1 }],
  "thread.get result": [
    { thread, events },
    { thread, events, lastSeq: 12 },
  ],
  "thread.subscribe params": [
    { threadId: "ses_1" },
    { threadId: "ses_1", afterSeq: 0 },
    { threadId: "ses_1", afterSeq: 3, afterTime: 1 },
  ],
  "thread.subscribe result": [
    { thread, lastSeq: 0 },
    { thread, lastSeq: 3, lastTime: 1 },
  ],
  "thread.unsubscribe params": [{ threadId: "ses_1" }],
  "thread.unsubscribe result": [{ ok: true }],
  "thread.delete params": [{ threadId: "ses_1" }],
  "thread.delete result": [{ ok: true }],
  "thread.rename params": [{ threadId: "ses_1", title: "New" }],
  "thread.rename result": [{ thread }],
  "thread.archive params": [{ threadId: "ses_1" }],
  "thread.archive result": [{ thread }],
  "thread.unarchive params": [{ threadId: "ses_1" }],
  "thread.unarchive result": [{ thread }],
  "thread.fork params": [
    { threadId: "ses_1" },
    { threadId: "ses_1", seq: 3, title: "Copy", clientRequestId: "r1" },
  ],
  "thread.fork result": [{ thread: { ...thread, forkedFrom: { threadId: "ses_2", seq: 3 }, queued: 1 } }],
  "thread.compact params": [
    { threadId: "ses_1" },
    { threadId: "ses_1", model: { providerID: "offline", modelID: "planner" }, clientRequestId: "r1" },
  ],
  "thread.compact result": [{ turnId: "turn_1" }],
  "thread.search params": [
    { query: "tests" },
    { query: "the tests", limit: 1, cursor: "c", threadId: "ses_1" },
  ],
  "thread.search result": [{ hits: [] }, { hits: [found], nextCursor: "c" }],
  "queue.list params": [{ threadId: "ses_1" }],
  "queue.list result": [{ queued: [] }, { queued: [interrupting, queued] }],
  "grant.list params": [{}, { threadId: "ses_1" }, { directory: "/repo" }],
  "grant.list result": [{ grants: [] }, { grants: [grant] }],
  "grant.revoke params": [{ grantId: "grant_1" }],
  "grant.revoke result": [{ ok: true }],
  "turn.start params": [
    {
      threadId: "ses_...",
      input: [text],
      model: { providerID: "anthropic", modelID: "claude-sonnet-4-20250514" },
      agent: "code",
    },
    { threadId: "ses_1", input: [fileByPath, text, fileByUri] },
  ],
  "turn.start result": [{ turnId: "turn_1" }, { turnId: "turn_2", queued: { position: 1 } }],
  "approval.respond params": [
    ...["once", "always", "reject"].map((decision) => ({ requestId: "apr_1", decision })),
    {
      ...{ requestId: "apr_1", decision: "reject", reason: "unattended" },
      ...{ scope: "thread", digest: "sha256:0", clientRequestId: "r1" },
    },
  ],
  "approval.respond result": [{ ok: true }],
  "turn.cancel params": [{ threadId: "ses_1" }],
  "turn.cancel result": [{ ok: true }],
  ...notifications,
  ...runtimeDocuments,
  ...chatDocuments,
  ...openharnessDocuments,
  ...ahpDocuments,
};

/** An item's own documents, for the tests that look at one. */
export const examples = {
  thread,
  turn,
  text,
  fileByPath,
  fileByUri,
  metadata,
  items,
  userMessage,
  events,
  itemData,
};
