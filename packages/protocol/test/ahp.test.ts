import { describe, expect, it } from "vitest";
import type * as z from "zod";
import { ahp } from "../src/documented.ts";
import { ahpDocuments } from "./ahp-documents.ts";
import { publishedAhpExamples as examples } from "./ahp-examples.ts";

const schemas = { ...ahp };
const accepts = (schema: z.ZodType, document: unknown) => schema.safeParse(document).success;
const otherDecisions = "allow block modify defer escalate refine retry queue skip approve reject".split(" ");

describe("the events", () => {
  it("are twenty-two in the taxonomy, with the two that are methods and no events", () => {
    expect(ahp.AhpTaxonomySchema.options).toHaveLength(22);
    expect(ahp.AhpEventTypeSchema.options).toEqual(Object.keys(ahp.ahpEvents));
    for (const type of ahp.methodEventTypes) {
      expect(accepts(ahp.AhpTaxonomySchema, type)).toBe(true);
      expect(accepts(ahp.AhpEventTypeSchema, type)).toBe(false);
      expect(accepts(ahp.AhpEventSchema, { ...examples.full_event, event_type: type })).toBe(false);
    }
  });

  it("accept the published examples", () => {
    expect(ahp.DecisionSchema.parse(examples.response.result)).toEqual({ decision: "allow" });
    const { params: before } = examples.request;
    const { params: after } = examples.notification;
    const { run_lifecycle, task_list, verification, full_event } = examples;
    for (const event of [before, after, run_lifecycle, task_list, verification, full_event]) {
      expect(ahp.AhpEventSchema.parse(event)).toEqual(event);
      expect(ahp.ahpEvents[event.event_type].payload.parse(event.payload)).toEqual(event.payload);
    }
  });

  it.each([
    ["an unheard-of type", { event_type: "post_mortem" }],
    ["a type in another case", { event_type: "PreAction" }],
    ["a negative depth", { depth: -1 }],
    ["half a depth", { depth: 0.5 }],
    ["a depth in words", { depth: "0" }],
    ["a time without an offset", { timestamp: "2026-05-01T00:00:00" }],
    ["a time in milliseconds", { timestamp: 1_777_593_600_000 }],
    ["a month that does not exist", { timestamp: "2026-13-01T00:00:00Z" }],
    ["a list as metadata", { metadata: [] }],
  ])("are refused with %s", (_what, change) => {
    expect(accepts(ahp.AhpEventSchema, { ...examples.full_event, ...change })).toBe(false);
  });

  it.each([
    "2026-05-01T00:00:00Z",
    "2026-05-01t00:00:00z",
    "2026-05-01 00:00:00Z",
    "2026-05-01T00:00:00.123456789+00:00",
    "2026-05-01T00:00:00-07:30",
    "2026-12-31T23:59:60Z",
  ])("take the time %s", (timestamp) => {
    expect(ahp.AhpEventSchema.parse({ ...examples.full_event, timestamp }).timestamp).toBe(timestamp);
  });
});

describe("the payloads", () => {
  it.each([
    ["AHP-36", "RunStatusSchema"],
    ["AHP-38", "TaskStatusSchema"],
    ["AHP-40", "VerificationStatusSchema"],
    ["AHP-141", "IntentSchema"],
    ["AHP-142", "DomainSchema"],
    ["AHP-143", "ModalitySchema"],
    ["AHP-144", "UrgencySchema"],
    ["AHP-144", "FreshnessSchema"],
  ] as const)("%s: %s has these values and no other", (_requirement, name) => {
    expect(schemas[name].options).toEqual(ahpDocuments[name]);
    for (const other of ["", "other", "Completed", "NONE", null, 0]) {
      expect(accepts(schemas[name], other)).toBe(false);
    }
  });

  it.each([
    ["AHP-149", "PlanningStrategySchema", "custom"],
    ["AHP-151", "ReasoningTypeSchema", "other"],
    ["AHP-153", "LimitTypeSchema", "custom"],
    ["AHP-155", "ConfirmationTypeSchema", "custom"],
  ] as const)("%s: %s has names of the protocol, or the sender's own under %s", (_requirement, name, key) => {
    const schema: z.ZodType = schemas[name];
    for (const document of ahpDocuments[name] ?? []) expect(schema.parse(document)).toEqual(document);
    expect(ahpDocuments[name]).toContainEqual({ [key]: "own" });
    const otherKey = key === "custom" ? "other" : "custom";
    for (const wrong of ["own", { [otherKey]: "own" }, { [key]: 1 }, { [key]: "a", b: 1 }, {}, null]) {
      expect([wrong, accepts(schema, wrong)]).toEqual([wrong, false]);
    }
  });

  it("a target is of one of eight kinds, and of one only", () => {
    const kinds = new Set((ahpDocuments.TargetSchema ?? []).flatMap((one) => Object.keys(one as object)));
    expect([...kinds]).toEqual([
      "entity",
      "location",
      "event",
      "relation",
      "rule",
      "state",
      "resource",
      "pattern",
    ]);
    const location = { path: ".", location_type: "workspace" };
    const pattern = { pattern: "a", pattern_type: "regex" };
    expect(accepts(ahp.TargetSchema, { location })).toBe(true);
    for (const wrong of [
      { location, pattern },
      { location, unknown: 1 },
      {},
      { place: location },
      location,
    ]) {
      expect([wrong, accepts(ahp.TargetSchema, wrong)]).toEqual([wrong, false]);
    }
  });

  it("a time range has Unix times, as numbers or as texts", () => {
    const event = { description: "", event_type: "" };
    for (const from of [1_777_593_600, -1, 0, 1_777_593_600_000_000_000, "2026-05-01", ""]) {
      const target = { event: { ...event, time_range: { from, to: from } } };
      expect(ahp.TargetSchema.parse(target)).toEqual(target);
    }
    for (const from of [true, {}, []]) {
      expect(accepts(ahp.TargetSchema, { event: { ...event, time_range: { from } } })).toBe(false);
    }
  });

  it("context_perception means general, any, normal and static with sources unless it says otherwise", () => {
    const schema = ahp.ContextPerceptionPayloadSchema;
    expect(schema.parse(examples.context_perception)).toStrictEqual({
      ...examples.context_perception,
      domain: "general",
      preferred_modality: "any",
      urgency: "normal",
      freshness: "static",
      constraints: { include_sources: true },
    });
    expect(
      schema.parse({ ...examples.context_perception, constraints: { max_results: 3 } }).constraints,
    ).toEqual({ max_results: 3, include_sources: true });
    const [full] = ahpDocuments.ContextPerceptionPayloadSchema ?? [];
    expect(schema.parse(full).constraints.include_sources).toBe(false);
    const nulls = { domain: null, urgency: null, constraints: null, metadata: null };
    expect(schema.parse({ ...examples.context_perception, ...nulls })).toStrictEqual(
      schema.parse(examples.context_perception),
    );
    const missing = ["session_id", "intent", "target", "context"].map((key) => ({ [key]: undefined }));
    for (const change of [...missing, { domain: "art" }, { context: null }, { context: {} }]) {
      expect(accepts(schema, { ...examples.context_perception, ...change })).toBe(false);
    }
  });

  it.each([
    "pre_action",
    "pre_prompt",
    "post_action",
    "post_response",
    "session_start",
    "session_end",
    "error",
  ])("%s takes any JSON, and nothing that is none", (type) => {
    const { payload } = ahp.ahpEvents[type as "error"];
    for (const value of [null, 0, "", [], {}, { tool_name: "bash", arguments: {} }]) {
      expect(payload.parse(value)).toEqual(value);
    }
    expect(payload.parse({ a: undefined })).toStrictEqual({});
    for (const value of [undefined, Number.NaN, new Date(0), [undefined], () => 1, 1n]) {
      expect(accepts(payload, value)).toBe(false);
    }
  });

  it.each([0, -1, 2 ** 53, 2 ** 64 - 1, 1_777_593_600_123_456_800])("%d is a count or a time", (value) => {
    const idle = { idle_duration_ms: value, idle_reason: "" };
    expect(ahp.IdlePayloadSchema.parse(idle)).toEqual(idle);
    const defer = { decision: "defer", retry_after_ms: value };
    expect(ahp.DecisionSchema.parse(defer)).toEqual(defer);
    const retry = { decision: "retry", retry_after_ms: value };
    expect(ahp.RateLimitDecisionSchema.parse(retry)).toEqual(retry);
    expect(ahp.HarnessConfigSchema.parse({ max_depth: value })).toEqual({ max_depth: value });
    const stats = { total_actions: value, total_tokens: value, duration_ms: value, error_count: value };
    const event = { ...examples.full_event, context: { session_stats: stats } };
    expect(ahp.AhpEventSchema.parse(event)).toEqual(event);
    expect(accepts(ahp.AhpEventSchema, { ...examples.full_event, depth: value })).toBe(value >= 0);
  });

  it.each([0.5, "1", true, [], Number.NaN, Number.POSITIVE_INFINITY])("a count of %j is refused", (value) => {
    expect(accepts(ahp.IdlePayloadSchema, { idle_duration_ms: value, idle_reason: "" })).toBe(false);
    expect(accepts(ahp.DecisionSchema, { decision: "defer", retry_after_ms: value })).toBe(false);
    expect(accepts(ahp.HarnessConfigSchema, { max_depth: value })).toBe(false);
  });
});

describe("the decisions", () => {
  it.each([
    ["AHP-46", "DecisionSchema", ["allow", "block", "modify", "defer", "escalate"]],
    ["AHP-49", "IdleDecisionSchema", ["allow", "defer"]],
    ["AHP-50", "IntentDetectionDecisionSchema", ["allow", "block"]],
    ["AHP-51", "ContextPerceptionDecisionSchema", ["allow", "block", "refine"]],
    ["AHP-52", "MemoryRecallDecisionSchema", ["allow", "block"]],
    ["AHP-53", "PlanningDecisionSchema", ["allow", "block", "modify"]],
    ["AHP-54", "ReasoningDecisionSchema", ["allow", "block"]],
    ["AHP-55", "RateLimitDecisionSchema", ["retry", "queue", "skip"]],
    ["AHP-56", "ConfirmationDecisionSchema", ["escalate", "approve", "reject"]],
  ] as const)("%s: %s is of these kinds, told by `decision`: %j", (_requirement, name, kinds) => {
    const documents = (ahpDocuments[name] ?? []) as Record<string, unknown>[];
    expect([...new Set(documents.map(({ decision }) => decision))]).toEqual(kinds);
    const fields = { reason: "", retry_after_ms: 1, scope_hints: [], modified_payload: 1, modified_task: "" };
    for (const other of [...otherDecisions, "Allow", "", null, 1]) {
      if ((kinds as readonly unknown[]).includes(other)) continue;
      expect([other, accepts(schemas[name], { ...fields, decision: other })]).toEqual([other, false]);
    }
  });

  it("keep no field that they do not know, and are refused for none", () => {
    const unknown = { severity: "high", modified_payload: { a: 1 } };
    const block = { decision: "block", reason: "no" };
    expect(ahp.DecisionSchema.parse({ ...block, ...unknown })).toEqual(block);
    const approve = { decision: "approve" };
    expect(ahp.ConfirmationDecisionSchema.parse({ ...approve, ...unknown })).toEqual(approve);
  });
});

describe("the literals of the supervision protocol", () => {
  it("are this version, these limits, capabilities and codes", () => {
    expect(ahp.AHP_VERSION).toBe("2.4");
    expect(ahp.defaultAhpLimits).toStrictEqual({ timeout_ms: 10_000, batch_size: 100, max_depth: 10 });
    expect(ahp.HarnessConfigSchema.parse(ahp.defaultAhpLimits)).toEqual(ahp.defaultAhpLimits);
    expect(ahp.AhpErrorCode).toStrictEqual({ UnsupportedVersion: -32000 });
    expect(ahp.methodEventTypes).toEqual(["handshake", "query"]);
    expect(ahp.defaultHarnessCapabilities).toEqual([
      "pre_action",
      "post_action",
      "pre_prompt",
      "query",
      "batch",
      "run_lifecycle",
      "task_list",
      "verification",
    ]);
  });
});
