import * as z from "zod";
import { IntegerSchema } from "../checked.ts";
import { JsonValueSchema } from "../envelope/json.ts";
import type { MethodTable } from "../envelope/method-table.ts";
import { tolerant } from "../null-as-absent.ts";
import { DecisionSchema } from "./decisions.ts";
import { AhpEventSchema } from "./event.ts";

/** Limits that a harness advertises. */
export const HarnessConfigSchema = tolerant(() => ({
  /** Time that the harness takes for one request at most, in milliseconds. */
  timeout_ms: IntegerSchema.optional(),
  /** Events of one batch. */
  batch_size: IntegerSchema.optional(),
  /** The greatest `depth` of an event. */
  max_depth: IntegerSchema.optional(),
}));
export type HarnessConfig = z.infer<typeof HarnessConfigSchema>;

export const HandshakeParamsSchema = tolerant(() => ({
  protocol_version: z.string(),
  agent_info: tolerant(() => ({
    framework: z.string(),
    version: z.string(),
    capabilities: z.array(z.string()),
  })),
  session_id: z.string(),
  agent_id: z.string(),
}));
export type HandshakeParams = z.infer<typeof HandshakeParamsSchema>;

export const HandshakeResultSchema = tolerant(() => ({
  protocol_version: z.string(),
  harness_info: tolerant(() => ({
    name: z.string(),
    version: z.string(),
    capabilities: z.array(z.string()),
  })),
  session_token: z.string().optional(),
  config: HarnessConfigSchema.optional(),
}));
export type HandshakeResult = z.infer<typeof HandshakeResultSchema>;

export const QueryParamsSchema = tolerant(() => ({
  session_id: z.string(),
  agent_id: z.string(),
  query_type: z.string(),
  /** By convention it holds a `question`. */
  payload: JsonValueSchema,
}));
export type QueryParams = z.infer<typeof QueryParamsSchema>;

export const QueryResultSchema = tolerant(() => ({
  answer: JsonValueSchema,
  reason: z.string().optional(),
  alternatives: z.array(z.string()).optional(),
}));
export type QueryResult = z.infer<typeof QueryResultSchema>;

export const BatchParamsSchema = tolerant(() => ({ events: z.array(AhpEventSchema) }));

export const BatchResultSchema = tolerant(() => ({ decisions: z.array(DecisionSchema) }));

/** The methods, all from agent to harness (section "Methods"). The result of `ahp/event` is checked by the event's type. */
export const ahpMethods = {
  "ahp/handshake": { params: HandshakeParamsSchema, result: HandshakeResultSchema },
  "ahp/event": { params: AhpEventSchema, result: JsonValueSchema },
  "ahp/query": { params: QueryParamsSchema, result: QueryResultSchema },
  "ahp/batch": { params: BatchParamsSchema, result: BatchResultSchema },
} as const satisfies MethodTable;
