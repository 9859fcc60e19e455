import fc from "fast-check";
import { expect, it } from "vitest";
import { runs } from "../../../test-kit/nightly.ts";
import { AgentToolResultSchema, CoreToolCallSchema } from "../src/runtime/calls.ts";
import { isUsualCall, isUsualResult } from "../src/runtime/index.ts";
import { oddValues } from "./support/odd-values.ts";

const call = {
  v: 1,
  type: "core.tool.call",
  id: "m1",
  ts: "2026-01-16T12:00:00Z",
  request_id: "r1",
  payload: { call_id: "c1", tool_id: "com.example/echo", input: { text: "hi" }, timeout_ms: 1000 },
};
const result = {
  v: 1,
  type: "agent.tool.result",
  id: "m2",
  ts: "2026-01-16T12:00:00Z",
  payload: {
    call_id: "c1",
    status: "succeeded",
    output: { text: "hi" },
    started_at: "2026-01-16T12:00:00Z",
    finished_at: "2026-01-16T12:00:00.5Z",
    metrics: { duration_ms: 500 },
  },
};

const odd = fc.constantFrom<unknown>(
  ...oddValues,
  "x".repeat(256),
  "x".repeat(257),
  "x".repeat(258),
  "failed",
  { type: "human", id: "a" },
  { code: "tool.failed", message: "" },
);
const fields = [
  ...[
    "v",
    "type",
    "id",
    "ts",
    "in_reply_to",
    "request_id",
    "correlation_id",
    "causation_id",
    "actor",
    "error",
  ],
  "payload",
];

it.each([
  { name: "a call", message: call, isUsual: isUsualCall, schema: CoreToolCallSchema },
  { name: "a result", message: result, isUsual: isUsualResult, schema: AgentToolResultSchema },
])("$name that is read without its schema is what the schema reads", ({ message, isUsual, schema }) => {
  expect(isUsual(message)).toBe(true);
  const inner = [...Object.keys(message.payload), "idempotency_key", "caller", "context", "error"];
  const change = fc.oneof(
    fc.record({ field: fc.constantFrom(...fields), value: odd }),
    fc.record({ inPayload: fc.constantFrom(...inner), value: odd }),
  );
  fc.assert(
    fc.property(fc.array(change, { maxLength: 2 }), (changes) => {
      const changed: Record<string, unknown> = { ...message };
      const payload: Record<string, unknown> = { ...message.payload };
      for (const one of changes) {
        if ("field" in one) changed[one.field] = one.value;
        else payload[one.inPayload] = one.value;
      }
      if (!changes.some((one) => "field" in one && one.field === "payload")) changed.payload = payload;
      if (isUsual(changed)) expect(changed).toMatchObject(schema.parse(changed));
    }),
    { numRuns: runs(200) },
  );
});
