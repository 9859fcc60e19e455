import { randomUUID } from "node:crypto";

/** What is called with, and echoed: about as large as a tool's input. */
export const smallInput = {
  command: "npm test -- --reporter dot",
  directory: "/home/user/project",
  reason: "Run the tests, then tell me which of them failed and why.",
  attempts: 1,
};

/** The input of `bytes` bytes: a file that is written. */
export const inputOf = (bytes) => ({ path: "src/large.txt", content: "0123456789abcdef".repeat(bytes / 16) });

/** The frames that a core and an agent exchange for one call. */
export const callMessage = (callId, input) => ({
  v: 1,
  type: "core.tool.call",
  id: randomUUID(),
  ts: new Date().toISOString(),
  request_id: callId,
  payload: { call_id: callId, tool_id: "com.example.echo/echo", input, timeout_ms: 120_000 },
});

export const resultMessage = ({ id, request_id, payload }) => ({
  v: 1,
  type: "agent.tool.result",
  id: randomUUID(),
  ts: new Date().toISOString(),
  in_reply_to: id,
  request_id,
  payload: { call_id: payload.call_id, status: "succeeded", output: payload.input },
});
