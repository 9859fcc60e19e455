import * as z from "zod";
import { JsonValueSchema } from "../envelope/json.ts";
import { keepJson } from "../envelope/keep-json.ts";
import { tolerantObject } from "../null-as-absent.ts";
import { quickSchema } from "../quick-schema.ts";
import { isRfc3339, Rfc3339Schema } from "../rfc3339.ts";
import { DepthSchema, FactSchema, IntegerSchema, MetadataSchema } from "./common.ts";
import { type AhpEventType, AhpEventTypeSchema } from "./event-types.ts";

/** What the agent knows when it sends an event. */
export const EventContextSchema = tolerantObject({
  recent_facts: z.array(FactSchema).optional(),
  memory_summary: tolerantObject({
    memory_type: z.string(),
    total_items: IntegerSchema,
    recent_topics: z.array(z.string()),
  }).optional(),
  session_stats: tolerantObject({
    total_actions: IntegerSchema,
    total_tokens: IntegerSchema,
    duration_ms: IntegerSchema,
    error_count: IntegerSchema,
  }).optional(),
  current_task: z.string().optional(),
  capabilities: MetadataSchema.optional(),
});
export type EventContext = z.infer<typeof EventContextSchema>;

/** One event (section "Message Model"); its payload is checked by its type with `ahpEvents`. */
export const AhpEventSchema = quickSchema(
  tolerantObject({
    event_type: AhpEventTypeSchema,
    session_id: z.string(),
    agent_id: z.string(),
    timestamp: Rfc3339Schema,
    /** How many decisions deep: 0 for an event that no other caused. */
    depth: DepthSchema,
    payload: JsonValueSchema,
    context: EventContextSchema.optional(),
    metadata: MetadataSchema.optional(),
  }),
  (value): unknown => keepEvent(value),
);
export type AhpEvent = z.infer<typeof AhpEventSchema>;

const eventTypes: ReadonlySet<string> = new Set(AhpEventTypeSchema.options);

const isAbsent = (value: unknown): boolean => value === undefined || value === null;

/** An event as nearly all are: without context and metadata. */
const keepEvent = (value: unknown): AhpEvent | undefined => {
  if (typeof value !== "object" || value === null) return undefined;
  const { event_type, session_id, agent_id, timestamp, depth, payload, context, metadata } = value as Record<
    string,
    unknown
  >;
  if (!isAbsent(context) || !isAbsent(metadata) || !isRfc3339(timestamp)) return undefined;
  if (typeof session_id !== "string" || typeof agent_id !== "string") return undefined;
  if (typeof event_type !== "string" || !eventTypes.has(event_type)) return undefined;
  if (typeof depth !== "number" || !Number.isInteger(depth) || depth < 0) return undefined;
  const kept = keepJson(payload);
  if (kept === undefined) return undefined;
  return { event_type: event_type as AhpEventType, session_id, agent_id, timestamp, depth, payload: kept };
};
