import * as z from "zod";
import { IntegerSchema, WholeSchema } from "../checked.ts";
import { isCleanJson, JsonObjectSchema, JsonValueSchema } from "../envelope/json.ts";
import { tolerant } from "../null-as-absent.ts";
import { isRfc3339, Rfc3339Schema } from "../rfc3339.ts";
import { FactSchema } from "./common.ts";
import { AhpEventTypeSchema, ahpEvents } from "./event-types.ts";

/** What the agent knows when it sends an event. */
export const EventContextSchema = tolerant(() => ({
  recent_facts: z.array(FactSchema).optional(),
  memory_summary: tolerant(() => ({
    memory_type: z.string(),
    total_items: IntegerSchema,
    recent_topics: z.array(z.string()),
  })).optional(),
  session_stats: tolerant(() => ({
    total_actions: IntegerSchema,
    total_tokens: IntegerSchema,
    duration_ms: IntegerSchema,
    error_count: IntegerSchema,
  })).optional(),
  current_task: z.string().optional(),
  capabilities: JsonObjectSchema.optional(),
}));
export type EventContext = z.infer<typeof EventContextSchema>;

/** One event (section "Message Model"); its payload is checked by its type with `ahpEvents`. */
export const AhpEventSchema = tolerant(() => ({
  event_type: AhpEventTypeSchema,
  session_id: z.string(),
  agent_id: z.string(),
  timestamp: Rfc3339Schema,
  /** How many decisions deep: 0 for an event that no other caused. */
  depth: WholeSchema,
  payload: JsonValueSchema,
  context: EventContextSchema.optional(),
  metadata: JsonObjectSchema.optional(),
}));
export type AhpEvent = z.infer<typeof AhpEventSchema>;

/**
 * Whether params of `ahp/event`, read by `JSON.parse`, are surely an event as its schema returns it: the required fields and no others. The
 * schema costs three times as much; what this function does not take may still be valid.
 */
export const isUsualEvent = (params: unknown): params is AhpEvent => {
  if (typeof params !== "object" || params === null) return false;
  const { event_type, session_id, agent_id, timestamp, depth, payload } = params as Record<string, unknown>;
  return (
    Object.keys(params).length === 6 &&
    typeof event_type === "string" &&
    Object.hasOwn(ahpEvents, event_type) &&
    typeof session_id === "string" &&
    typeof agent_id === "string" &&
    isRfc3339(timestamp) &&
    Number.isInteger(depth) &&
    (depth as number) >= 0 &&
    isCleanJson(payload)
  );
};
