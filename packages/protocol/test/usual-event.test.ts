import fc from "fast-check";
import { expect, it } from "vitest";
import { runs } from "../../../test-kit/nightly.ts";
import { AhpEventSchema, isUsualEvent } from "../src/ahp/index.ts";
import { oddValues } from "./support/odd-values.ts";

const event = {
  event_type: "pre_action",
  session_id: "s",
  agent_id: "a",
  timestamp: "2026-01-16T12:00:00Z",
  depth: 0,
  payload: { tool_name: "bash", arguments: { command: "ls" } },
};

const odd = fc.constantFrom<unknown>(
  ...oddValues,
  "heartbeat",
  "query",
  "constructor",
  JSON.parse(`${"[".repeat(90)}${"]".repeat(90)}`),
);
const fields = [...Object.keys(event), "context", "metadata", "unknown", "__proto__"];

it("an event that is read without its schema is what the schema reads", () => {
  expect(isUsualEvent(event)).toBe(true);
  const change = fc.tuple(fc.constantFrom(...fields), odd);
  fc.assert(
    fc.property(fc.array(change, { maxLength: 2 }), (changes) => {
      const changed: Record<string, unknown> = { ...event };
      for (const [field, value] of changes)
        Object.defineProperty(changed, field, { value, enumerable: true, configurable: true });
      if (isUsualEvent(changed)) expect(AhpEventSchema.parse(changed)).toStrictEqual(changed);
    }),
    { numRuns: runs(500) },
  );
});

it("what is not an object of an event's fields is left to the schema", () => {
  for (const params of [undefined, null, "pre_action", [], { ...event, more: 1 }, { ...event, depth: "0" }])
    expect(isUsualEvent(params)).toBe(false);
});
