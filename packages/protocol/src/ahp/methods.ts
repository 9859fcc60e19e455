import * as z from "zod";
import { JsonValueSchema } from "../envelope/json.ts";
import type { MethodTable } from "../envelope/method-table.ts";
import { CountSchema } from "./common.ts";
import { DecisionSchema } from "./decisions.ts";
import { AhpEventSchema } from "./event.ts";

/** Limits that a harness advertises. */
export const HarnessConfigSchema = z.object({
  /** Time that the harness takes for one request at most, in milliseconds. */
  timeout_ms: CountSchema.optional(),
  /** Events of one batch. */
  batch_size: CountSchema.optional(),
  /** The greatest `depth` of an event. */
  max_depth: CountSchema.optional(),
});
export type HarnessConfig = z.infer<typeof HarnessConfigSchema>;

export const HandshakeParamsSchema = z.object({
  protocol_version: z.string(),
  agent_info: z.object({ framework: z.string(), version: z.string(), capabilities: z.array(z.string()) }),
  session_id: z.string(),
  agent_id: z.string(),
});
export type HandshakeParams = z.infer<typeof HandshakeParamsSchema>;

export const HandshakeResultSchema = z.object({
  protocol_version: z.string(),
  harness_info: z.object({ name: z.string(), version: z.string(), capabilities: z.array(z.string()) }),
  session_token: z.string().optional(),
  config: HarnessConfigSchema.optional(),
});
export type HandshakeResult = z.infer<typeof HandshakeResultSchema>;

export const QueryParamsSchema = z.object({
  session_id: z.string(),
  agent_id: z.string(),
  query_type: z.string(),
  /** By convention it holds a `question`. */
  payload: JsonValueSchema,
});
export type QueryParams = z.infer<typeof QueryParamsSchema>;

export const QueryResultSchema = z.object({
  answer: JsonValueSchema,
  reason: z.string().optional(),
  alternatives: z.array(z.string()).optional(),
});
export type QueryResult = z.infer<typeof QueryResultSchema>;

export const BatchParamsSchema = z.object({ events: z.array(AhpEventSchema) });
export type BatchParams = z.infer<typeof BatchParamsSchema>;

export const BatchResultSchema = z.object({ decisions: z.array(DecisionSchema) });
export type BatchResult = z.infer<typeof BatchResultSchema>;

/** The methods, all from agent to harness (section "Methods"). The result of `ahp/event` is checked by the event's type. */
export const ahpMethods = {
  "ahp/handshake": { params: HandshakeParamsSchema, result: HandshakeResultSchema },
  "ahp/event": { params: AhpEventSchema, result: JsonValueSchema },
  "ahp/query": { params: QueryParamsSchema, result: QueryResultSchema },
  "ahp/batch": { params: BatchParamsSchema, result: BatchResultSchema },
} as const satisfies MethodTable;

export type AhpMethodName = keyof typeof ahpMethods;
