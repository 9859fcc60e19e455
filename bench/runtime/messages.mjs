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

/** The frames that a core and an agent exchange for one call, field by field. */
export const callMessage = (callId, input) => ({
  v: 1,
  type: "core.tool.call",
  id: randomUUID(),
  ts: new Date().toISOString(),
  payload: { call_id: callId, tool_id: "com.example.echo/echo", input, timeout_ms: 120_000 },
  request_id: callId,
  correlation_id: callId,
});

export const resultMessage = ({ request_id, correlation_id, payload }) => {
  const now = new Date().toISOString();
  return {
    v: 1,
    type: "agent.tool.result",
    id: randomUUID(),
    ts: now,
    payload: {
      call_id: payload.call_id,
      status: "succeeded",
      output: payload.input,
      started_at: now,
      finished_at: now,
      metrics: { duration_ms: 0 },
    },
    request_id,
    correlation_id,
  };
};
