import { describe, expect, it } from "vitest";
import type * as z from "zod";
import * as ahp from "../src/ahp/index.ts";
import { ahpDocuments } from "./ahp-documents.ts";
import { publishedAhpExamples as examples } from "./ahp-examples.ts";

const accepts = (schema: z.ZodType, document: unknown) => schema.safeParse(document).success;
const events = Object.entries(ahp.ahpEvents);
const typesWith = (field: "blocking" | "specialised" | "batchable" | "contract", value: boolean) =>
  events.filter(([, event]) => event[field] === value).map(([type]) => type);

const gates = ["pre_action", "pre_prompt"];
const specialised = [
  "idle",
  "intent_detection",
  "context_perception",
  "memory_recall",
  "planning",
  "reasoning",
  "rate_limit",
  "confirmation",
];
const contracts = ["run_lifecycle", "task_list", "verification"];
const notifications = [
  "post_action",
  "post_response",
  "session_start",
  "session_end",
  "error",
  "heartbeat",
  "success",
  ...contracts,
];

describe("the events", () => {
  it("are twenty, of which ten block, eight have a decision of their own and twelve may stand in a batch", () => {
    expect(events).toHaveLength(20);
    expect(typesWith("blocking", true).sort()).toEqual([...gates, ...specialised].sort());
    expect(typesWith("blocking", false).sort()).toEqual([...notifications].sort());
    expect(typesWith("specialised", true).sort()).toEqual([...specialised].sort());
    expect(typesWith("batchable", false).sort()).toEqual([...specialised].sort());
    expect(typesWith("batchable", true).sort()).toEqual([...gates, ...notifications].sort());
    expect(typesWith("contract", true).sort()).toEqual([...contracts].sort());
    for (const type of [...gates, ...notifications]) {
      expect(ahp.ahpEvents[type as ahp.AhpEventType].decision).toBe(ahp.DecisionSchema);
    }
  });

  it("are twenty-two in the taxonomy, with the two that are methods and no events", () => {
    expect(ahp.AhpTaxonomySchema.options).toHaveLength(22);
    expect(ahp.AhpEventTypeSchema.options).toEqual(Object.keys(ahp.ahpEvents));
    for (const type of ahp.methodEventTypes) {
      expect(accepts(ahp.AhpTaxonomySchema, type)).toBe(true);
      expect(accepts(ahp.AhpEventTypeSchema, type)).toBe(false);
      expect(accepts(ahp.AhpEventSchema, { ...examples.full_event, event_type: type })).toBe(false);
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

  it("have a context whose fields are all optional", () => {
    expect(Object.keys(ahp.EventContextSchema.shape)).toEqual([
      "recent_facts",
      "memory_summary",
      "session_stats",
      "current_task",
      "capabilities",
    ]);
    expect(ahp.EventContextSchema.parse({})).toEqual({});
    for (const key of ["content", "source", "confidence"]) {
      const { [key]: _left, ...fact } = { content: "", source: "", confidence: 0.5 } as Record<
        string,
        unknown
      >;
      expect(accepts(ahp.EventContextSchema, { recent_facts: [fact] })).toBe(false);
    }
  });
});

describe("the payloads", () => {
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
    for (const change of [{ domain: "art" }, { context: null }, { intent: null }, { context: {} }]) {
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

  it("are these methods and events", () => {
    expect(Object.keys(ahp.ahpMethods)).toEqual(["ahp/handshake", "ahp/event", "ahp/query", "ahp/batch"]);
    expect(Object.keys(ahp.ahpEvents)).toEqual([
      "pre_action",
      "post_action",
      "pre_prompt",
      "post_response",
      "session_start",
      "session_end",
      "error",
      "heartbeat",
      "success",
      "idle",
      "intent_detection",
      "context_perception",
      "memory_recall",
      "planning",
      "reasoning",
      "rate_limit",
      "confirmation",
      "run_lifecycle",
      "task_list",
      "verification",
    ]);
  });
});
