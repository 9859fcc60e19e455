import type { AhpEventType } from "@harnesskit/protocol/ahp";
import { payloads } from "../../../../test-kit/ahp-payloads.ts";

/** A handshake's params. */
export const handshake = (more: object = {}) => ({
  protocol_version: "2.4",
  agent_info: { framework: "test", version: "1.0.0", capabilities: ["pre_action"] },
  session_id: "sess-abc",
  agent_id: "agent-xyz",
  ...more,
});

/** An event's params. */
export const event = (type: AhpEventType, more: object = {}) => ({
  event_type: type,
  session_id: "sess-abc",
  agent_id: "agent-xyz",
  timestamp: "2026-05-01T00:00:00Z",
  depth: 0,
  payload: payloads[type] as unknown,
  ...more,
});

export const request = (id: unknown, method: string, params?: unknown) => ({
  jsonrpc: "2.0",
  id,
  method,
  ...(params !== undefined && { params }),
});

export const notification = (method: string, params?: unknown) => ({
  jsonrpc: "2.0",
  method,
  ...(params !== undefined && { params }),
});

/** A contract's payload. */
export const run = (status: string, second: number, more: object = {}) => ({
  run_id: "run-1",
  session_id: "sess-abc",
  status,
  updated_at: `2026-05-01T00:00:${String(second).padStart(2, "0")}Z`,
  ...more,
});
