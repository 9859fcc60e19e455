import * as z from "zod";
import { tolerantObject } from "../null-as-absent.ts";
import { IntegerSchema } from "./common.ts";

/** `heartbeat`: the agent is alive. */
export const HeartbeatPayloadSchema = tolerantObject({
  uptime_ms: IntegerSchema,
  total_events_processed: IntegerSchema,
  current_state: z.string(),
  cpu_percent: z.number().optional(),
  memory_bytes: IntegerSchema.optional(),
  active_tools: z.union([IntegerSchema, z.array(z.string())]).optional(),
  pending_actions: IntegerSchema.optional(),
  queue_depth: IntegerSchema.optional(),
  tokens_used: IntegerSchema.optional(),
});

/** `success`: an operation succeeded. */
export const SuccessPayloadSchema = tolerantObject({
  session_id: z.string(),
  action_type: z.string(),
  action_summary: z.string(),
  duration_ms: IntegerSchema,
});
