import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { AhpEventSchema, ahpEvents, DecisionSchema } from "../src/ahp/index.ts";
import { tolerantObject } from "../src/null-as-absent.ts";
import { ShellRequestSchema } from "../src/openharness/index.ts";
import { nearDocument } from "./openharness-fuzz.ts";

/** What the schemas say without their quick way in. */
const SlowEventSchema = tolerantObject(AhpEventSchema.shape);
const SlowDecisionSchema = z.discriminatedUnion("decision", DecisionSchema.options);

/** A schema again, without any quick way in it. */
const slow = (schema: z.core.$ZodType): z.core.$ZodType => {
  if (schema instanceof z.ZodOptional) return z.optional(slow(schema.unwrap()));
  if (schema instanceof z.ZodArray) return z.array(slow(schema.element));
  if (!(schema instanceof z.ZodObject)) return schema;
  const shape = Object.entries(schema.shape).map(([name, field]) => [name, slow(field)] as const);
  const made = z.object(Object.fromEntries(shape));
  return schema.def.catchall ? made.catchall(schema.def.catchall) : made;
};
const SlowRequestSchema = slow(ShellRequestSchema) as z.ZodType;

const outcome = (schema: z.ZodType, value: unknown) => {
  const parsed = schema.safeParse(value);
  return parsed.success
    ? { data: parsed.data }
    : { issues: parsed.error.issues.map(({ path, code }) => ({ path, code })) };
};

const oddly = (usual: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 8, arbitrary: usual }, fc.anything({ withNullPrototype: true, withBigInt: true }));

/** What is not there, said in either way. */
const absent = fc.constantFrom(undefined, null);

const events = fc.record(
  {
    event_type: oddly(fc.constantFrom(...Object.keys(ahpEvents))),
    session_id: oddly(fc.string()),
    agent_id: oddly(fc.string()),
    timestamp: oddly(
      fc.constantFrom("2026-03-04T05:06:07Z", "2026-03-04 05:06:60.5+02:00", "2026-13-04T05:06:07Z"),
    ),
    depth: oddly(fc.oneof(fc.nat(), fc.constantFrom(-1, 0.5, -0, Number.NaN, 2 ** 53, 2 ** 64 - 1))),
    payload: oddly(fc.jsonValue()),
    context: fc.oneof(absent, fc.anything(), fc.constant({ current_task: "test" })),
    metadata: fc.oneof(absent, fc.anything(), fc.dictionary(fc.string(), fc.jsonValue())),
    other: fc.anything(),
  },
  { requiredKeys: ["session_id", "agent_id"] },
);

const decisions = fc.record(
  {
    decision: oddly(fc.constantFrom("allow", "block", "modify", "defer", "escalate")),
    reason: oddly(fc.string()),
    metadata: fc.oneof(absent, fc.dictionary(fc.string(), fc.jsonValue()), fc.anything()),
    modified_payload: fc.oneof(absent, fc.jsonValue(), fc.anything()),
    retry_after_ms: oddly(fc.nat()),
    escalation_target: fc.oneof(absent, oddly(fc.string())),
    other: fc.anything(),
  },
  { requiredKeys: ["decision"] },
);

describe("a schema with a quick way in", () => {
  it("judges every event as it does without", () => {
    fc.assert(
      fc.property(fc.oneof({ weight: 20, arbitrary: events }, fc.anything()), (value) => {
        expect(outcome(AhpEventSchema, value)).toEqual(outcome(SlowEventSchema, value));
      }),
      { numRuns: 2000 },
    );
  });

  it("judges every decision as it does without", () => {
    fc.assert(
      fc.property(fc.oneof({ weight: 20, arbitrary: decisions }, fc.anything()), (value) => {
        expect(outcome(DecisionSchema, value)).toEqual(outcome(SlowDecisionSchema, value));
      }),
      { numRuns: 2000 },
    );
  });

  it("gives of every request of a shell what it does without", () => {
    let taken = 0;
    fc.assert(
      fc.property(nearDocument, (value) => {
        const found = outcome(ShellRequestSchema, value);
        expect(found).toEqual(outcome(SlowRequestSchema, value));
        if ("data" in found) taken++;
      }),
      { numRuns: 3000 },
    );
    expect(taken).toBeGreaterThan(200);
  });

  it("takes nothing from a usual event that it does not know", () => {
    const payload = JSON.parse('{"a":{"__proto__":{"b":1},"c":2}}');
    const event = {
      event_type: "pre_action",
      session_id: "s",
      agent_id: "a",
      timestamp: "2026-03-04T05:06:07Z",
      depth: 0,
      payload,
    };
    expect(AhpEventSchema.parse({ ...event, more: 1 })).toStrictEqual({ ...event, payload: { a: { c: 2 } } });
    expect(AhpEventSchema.parse({ ...event, payload: 1, context: null, metadata: null })).toStrictEqual({
      ...event,
      payload: 1,
    });
    expect(DecisionSchema.parse({ decision: "allow", more: 1 })).toStrictEqual({ decision: "allow" });
    const nulls = { modified_payload: null, metadata: null, escalation_target: null };
    expect(DecisionSchema.parse({ decision: "allow", ...nulls })).toStrictEqual({ decision: "allow" });
    const escalation = { decision: "escalate", reason: "no" };
    expect(DecisionSchema.parse({ ...escalation, ...nulls })).toStrictEqual(escalation);
  });
});
