import * as z from "zod";
import { CountSchema } from "./common.ts";

/** `heartbeat`: the agent is alive. */
export const HeartbeatPayloadSchema = z.object({
  uptime_ms: CountSchema,
  total_events_processed: CountSchema,
  current_state: z.string(),
  cpu_percent: z.number().optional(),
  memory_bytes: CountSchema.optional(),
  active_tools: z.union([CountSchema, z.array(z.string())]).optional(),
  pending_actions: CountSchema.optional(),
  queue_depth: CountSchema.optional(),
  tokens_used: CountSchema.optional(),
});

/** `success`: an operation succeeded. */
export const SuccessPayloadSchema = z.object({
  session_id: z.string(),
  action_type: z.string(),
  action_summary: z.string(),
  duration_ms: CountSchema,
});
