import * as z from "zod";
import { IntegerSchema, WholeSchema } from "../checked.ts";
import { JsonObjectSchema, JsonValueSchema } from "../envelope/json.ts";
import { tolerantObject } from "../null-as-absent.ts";
import { Rfc3339Schema } from "../rfc3339.ts";
import { FactSchema } from "./common.ts";
import { AhpEventTypeSchema } from "./event-types.ts";

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
  capabilities: JsonObjectSchema.optional(),
});
export type EventContext = z.infer<typeof EventContextSchema>;

/** One event (section "Message Model"); its payload is checked by its type with `ahpEvents`. */
export const AhpEventSchema = tolerantObject({
  event_type: AhpEventTypeSchema,
  session_id: z.string(),
  agent_id: z.string(),
  timestamp: Rfc3339Schema,
  /** How many decisions deep: 0 for an event that no other caused. */
  depth: WholeSchema,
  payload: JsonValueSchema,
  context: EventContextSchema.optional(),
  metadata: JsonObjectSchema.optional(),
});
export type AhpEvent = z.infer<typeof AhpEventSchema>;
