import { CoreToolCallSchema } from "@harnesskit/protocol/runtime";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readToolCall } from "../src/read-tool-call.ts";

const usual = {
  v: 1,
  type: "core.tool.call",
  id: "m1",
  ts: "2026-01-16T12:00:01Z",
  in_reply_to: "m0",
  request_id: "r1",
  correlation_id: "c1",
  causation_id: "c2",
  unknown: 1,
  payload: {
    call_id: "call_1",
    tool_id: "com.example/x",
    input: { a: [1, { b: null }] },
    timeout_ms: 1000,
    idempotency_key: "k",
    caller: { type: "agent", id: "a1" },
    unknown: 2,
  },
};
const whole = {
  ...usual,
  actor: { type: "human", id: "u1", display: "U" },
  error: { code: "x.y", message: "m", details: {}, retryable: true, where: "w", debug: {} },
  payload: {
    ...usual.payload,
    context: { project_root: "/p", resource_paths: ["a"], ui: { x: 1 } },
  },
};

/** Every place of an object, as paths. */
const pathsOf = (value: unknown): string[][] =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.entries(value).flatMap(([key, inner]) => [
        [key],
        ...pathsOf(inner).map((path) => [key, ...path]),
      ])
    : [];

const withChange = (message: object, path: readonly string[], change: { value?: unknown }): unknown => {
  const copy = structuredClone(message);
  let at: any = copy;
  for (const key of path.slice(0, -1)) at = at[key];
  const last = path.at(-1) as string;
  if ("value" in change) at[last] = change.value;
  else delete at[last];
  return copy;
};

const times = [
  "2026-01-16t12:00:01.5+01:00",
  "2026-01-16T12:00:01.123Z",
  "2026-13-16T12:00:01Z",
  "2026-01-16",
];
const odd = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom<unknown>(0, 1, -1, 1.5, 2 ** 53, "", "x".repeat(257), "human", [], {}, ...times),
);
const change = fc.oneof(
  fc.constant<{ value?: unknown }>({}),
  odd.map((value) => ({ value })),
);

const expectAgreement = (message: unknown) => {
  const read = readToolCall(message);
  if (read === undefined) return;
  expect(CoreToolCallSchema.parse(read)).toEqual(CoreToolCallSchema.parse(message));
};

describe("reading a call of the usual form", () => {
  it("gives what the schema gives, and nothing that it refuses", () => {
    fc.assert(
      fc.property(fc.constantFrom(usual, whole), fc.nat(), change, (message, at, made) => {
        const paths = pathsOf(message);
        expectAgreement(withChange(message, paths[at % paths.length] as string[], made));
      }),
      { numRuns: 3000 },
    );
    fc.assert(fc.property(fc.jsonValue(), expectAgreement));
  });

  it("takes the usual form, and leaves the others to the schema", () => {
    expect(readToolCall(usual)).toBe(usual);
    expect(readToolCall(whole)).toBeUndefined();
    expect(readToolCall({ ...usual, ts: times[0] })).toBeUndefined();
    expect(readToolCall({ ...usual, ts: times[1] })).toBeDefined();
    expect(CoreToolCallSchema.safeParse(whole).success).toBe(true);
  });

  it("drops keys that would reach into prototypes", () => {
    const text = JSON.stringify(usual).replace(
      '"a":[1,',
      '"__proto__":{"polluted":true},"a":[1,{"__proto__":1},',
    );
    const input = readToolCall(JSON.parse(text))?.payload.input;
    expect(JSON.stringify(input)).toBe('{"a":[1,{},{"b":null}]}');
  });
});
