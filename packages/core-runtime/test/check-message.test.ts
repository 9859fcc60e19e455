import {
  AgentHeartbeatSchema,
  AgentToolResultSchema,
  AgentToolStreamSchema,
  RuntimeErrorSchema,
} from "@harnesskit/protocol/runtime";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isHeartbeat, isRuntimeError, isToolResult, isToolStream } from "../src/check-message.ts";
import type { Message } from "./support/scripted-agent.ts";

const error = { code: "x", message: "m", details: { a: [1] }, retryable: false, where: "w", debug: { a: 1 } };

const envelope = {
  v: 1,
  id: "i",
  ts: "2026-01-16T12:00:00.5+01:00",
  in_reply_to: "a",
  request_id: "r",
  correlation_id: "c",
  causation_id: "d",
  actor: { type: "human", id: "ada", display: "Ada" },
  error,
};

const result = {
  ...envelope,
  type: "agent.tool.result",
  payload: {
    call_id: "c",
    status: "succeeded",
    output: { a: { b: [null, true, "x", 1.5] } },
    error,
    started_at: "2026-01-16T12:00:00Z",
    finished_at: "2026-01-16T12:00:00Z",
    metrics: { ms: 1 },
  },
};

const stream = (channel: string, data: unknown) => ({
  ...envelope,
  type: "agent.tool.stream",
  payload: { call_id: "c", seq: 1, channel, data, done: true },
});

const heartbeat = {
  ...envelope,
  type: "agent.heartbeat",
  payload: { session_id: "s", uptime_ms: 0, inflight_calls: 2, status: "ok", details: { queue: 1 } },
};

const odd = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    "",
    "x",
    "x".repeat(129),
    "x".repeat(257),
    0,
    -1,
    1,
    1.5,
    2 ** 53,
    Number.POSITIVE_INFINITY,
    true,
    [],
    {},
    [1],
    { text: "" },
    { json: {} },
    { json: [] },
    "canceled",
    "failed",
    "degraded",
    "partial_result",
    "stdout",
    "2026-01-16 12:00:00Z",
    "2026-01-16t12:00:00z",
    "2026-13-16T12:00:00Z",
    "2026-01-16T24:00:00Z",
    "2026-01-16T23:59:60+23:59",
  ),
  fc.jsonValue({ maxDepth: 2 }),
);

/** Every path to a value in the message. */
const pathsOf = (value: unknown, path: string[] = []): string[][] =>
  typeof value === "object" && value !== null
    ? Object.entries(value).flatMap(([key, entry]) => [[...path, key], ...pathsOf(entry, [...path, key])])
    : [];

const changed = (message: Message, path: string[], change: unknown, remove: boolean): Message => {
  const copy = structuredClone(message);
  let at: Message = copy;
  for (const key of path.slice(0, -1)) at = at[key];
  const last = path.at(-1) as string;
  if (remove) delete at[last];
  else at[last] = change;
  return copy;
};

/** Messages that differ from a valid one in up to two places. */
const mutations = (message: Message) => {
  const paths = pathsOf(message).filter(([first]) => first !== "type" && first !== "v");
  const edit = fc.record({ path: fc.constantFrom(...paths), value: odd, remove: fc.boolean() });
  return fc.array(edit, { maxLength: 2 }).map((edits) =>
    edits.reduce((current, { path, value, remove }) => {
      try {
        return changed(current, path, value, remove);
      } catch {
        return current;
      }
    }, message),
  );
};

describe("the checks of hot messages accept exactly what the schemas accept", () => {
  const agree = (
    valid: Message[],
    check: (message: Message) => boolean,
    schema: { safeParse(value: unknown): { success: boolean } },
  ) => {
    for (const message of valid) {
      expect([check(message), schema.safeParse(message).success]).toEqual([true, true]);
      fc.assert(
        fc.property(mutations(message), (mutant) => {
          expect(check(mutant)).toBe(schema.safeParse(mutant).success);
        }),
        { numRuns: 400 },
      );
    }
  };

  it("for results", () => agree([result], isToolResult, AgentToolResultSchema));

  it("for stream messages", () =>
    agree(
      [
        stream("stdout", { text: "" }),
        stream("log", { text: "x", more: 1 }),
        stream("partial_result", { json: { a: 1 } }),
      ],
      isToolStream,
      AgentToolStreamSchema,
    ));

  it("for heartbeats", () => agree([heartbeat], isHeartbeat, AgentHeartbeatSchema));

  it("for errors", () => {
    fc.assert(
      fc.property(mutations({ error }), (mutant) => {
        expect(isRuntimeError(mutant.error)).toBe(RuntimeErrorSchema.safeParse(mutant.error).success);
      }),
    );
  });
});
