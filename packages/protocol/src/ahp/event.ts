import { z } from "zod";
import { JsonValueSchema } from "../envelope/json.ts";
import { Rfc3339Schema } from "../rfc3339.ts";
import { CountSchema, FactSchema, MetadataSchema } from "./common.ts";
import { AhpEventTypeSchema } from "./event-types.ts";

/** What the agent knows when it sends an event. */
export const EventContextSchema = z.object({
  recent_facts: z.array(FactSchema).optional(),
  memory_summary: z
    .object({ memory_type: z.string(), total_items: CountSchema, recent_topics: z.array(z.string()) })
    .optional(),
  session_stats: z
    .object({
      total_actions: CountSchema,
      total_tokens: CountSchema,
      duration_ms: CountSchema,
      error_count: CountSchema,
    })
    .optional(),
  current_task: z.string().optional(),
  capabilities: MetadataSchema.optional(),
});
export type EventContext = z.infer<typeof EventContextSchema>;

/** One event (section "Message Model"); its payload is checked by its type with `ahpEvents`. */
export const AhpEventSchema = z.object({
  event_type: AhpEventTypeSchema,
  session_id: z.string(),
  agent_id: z.string(),
  timestamp: Rfc3339Schema,
  /** How many decisions deep: 0 for an event that no other caused. */
  depth: CountSchema,
  payload: JsonValueSchema,
  context: EventContextSchema.optional(),
  metadata: MetadataSchema.optional(),
});
export type AhpEvent = z.infer<typeof AhpEventSchema>;
