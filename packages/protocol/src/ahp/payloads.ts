import * as z from "zod";
import { IntegerSchema } from "../checked.ts";
import { JsonObjectSchema, JsonValueSchema } from "../envelope/json.ts";
import { tolerant } from "../null-as-absent.ts";
import { namedOr } from "./common.ts";
import {
  DomainSchema,
  FreshnessSchema,
  IntentSchema,
  ModalitySchema,
  TargetSchema,
  UrgencySchema,
} from "./context-values.ts";

/** `idle`: may background work run now? */
export const IdlePayloadSchema = tolerant(() => ({
  idle_duration_ms: IntegerSchema,
  idle_reason: z.string(),
  last_event_type: z.string().optional(),
  suggested_action: z.string().optional(),
}));

/** `intent_detection`: what does the user want? */
export const IntentDetectionPayloadSchema = tolerant(() => ({
  session_id: z.string(),
  prompt: z.string(),
  workspace: z.string(),
  language_hint: z.string().optional(),
}));

const HistoryItemSchema = tolerant(() => ({
  item_type: z.string(),
  content: z.string(),
  timestamp: IntegerSchema,
}));

/** `context_perception`: what does the agent need to know? */
export const ContextPerceptionPayloadSchema = tolerant(() => ({
  session_id: z.string(),
  intent: IntentSchema,
  target: TargetSchema,
  domain: DomainSchema.default("general"),
  preferred_modality: ModalitySchema.default("any"),
  urgency: UrgencySchema.default("normal"),
  freshness: FreshnessSchema.default("static"),
  context: tolerant(() => ({
    workspace: z.string(),
    current_task: z.string().optional(),
    query: z.string().optional(),
    relevant_history: z.array(HistoryItemSchema).optional(),
  })),
  constraints: tolerant(() => ({
    max_results: IntegerSchema.optional(),
    max_context_length: IntegerSchema.optional(),
    include_sources: z.boolean().default(true),
  })).prefault({}),
  metadata: JsonObjectSchema.optional(),
}));

/** `memory_recall`: what is remembered about this? */
export const MemoryRecallPayloadSchema = tolerant(() => ({
  session_id: z.string(),
  query: z.string(),
  memory_type: z.string(),
  max_results: IntegerSchema,
  working_directory: z.string(),
}));

export const PlanningStrategySchema = namedOr(
  ["none", "step_by_step", "tree_of_thoughts", "graph_planning"],
  "custom",
);

/** `planning`: which strategy? */
export const PlanningPayloadSchema = tolerant(() => ({
  session_id: z.string(),
  task_description: z.string(),
  available_strategies: z.array(PlanningStrategySchema),
  constraints: JsonValueSchema.optional(),
}));

export const ReasoningTypeSchema = namedOr(
  ["chain_of_thought", "tree_of_thoughts", "re_act", "reflexion"],
  "other",
);

/** `reasoning`: may the agent reason so, and with which hints? */
export const ReasoningPayloadSchema = tolerant(() => ({
  session_id: z.string(),
  reasoning_type: ReasoningTypeSchema,
  problem_statement: z.string(),
  hints: z.array(z.string()).optional(),
}));

export const LimitTypeSchema = namedOr(
  ["llm_token_limit", "llm_request_limit", "api_request_limit", "tool_execution_limit"],
  "custom",
);

/** `rate_limit`: a limit was hit. Wait, queue or skip? */
export const RateLimitPayloadSchema = tolerant(() => ({
  session_id: z.string(),
  limit_type: LimitTypeSchema,
  retry_after_ms: IntegerSchema,
  current_usage: z.string(),
}));

export const ConfirmationTypeSchema = namedOr(["safety_confirm", "user_confirm", "cost_confirm"], "custom");

/** `confirmation`: may the agent go on? */
export const ConfirmationPayloadSchema = tolerant(() => ({
  session_id: z.string(),
  confirmation_type: ConfirmationTypeSchema,
  message: z.string(),
  options: z.array(z.string()).optional(),
}));

/** `heartbeat`: the agent is alive. */
export const HeartbeatPayloadSchema = tolerant(() => ({
  uptime_ms: IntegerSchema,
  total_events_processed: IntegerSchema,
  current_state: z.string(),
  cpu_percent: z.number().optional(),
  memory_bytes: IntegerSchema.optional(),
  active_tools: z.union([IntegerSchema, z.array(z.string())]).optional(),
  pending_actions: IntegerSchema.optional(),
  queue_depth: IntegerSchema.optional(),
  tokens_used: IntegerSchema.optional(),
}));

/** `success`: an operation succeeded. */
export const SuccessPayloadSchema = tolerant(() => ({
  session_id: z.string(),
  action_type: z.string(),
  action_summary: z.string(),
  duration_ms: IntegerSchema,
}));

/** `pre_action` as agents send it by convention: which tool is called, and with what. */
export const ToolCallPayloadSchema = z.looseObject({
  action_type: z.string().optional(),
  tool_name: z.string(),
  tool_call_id: z.string().optional(),
  arguments: JsonValueSchema,
});

/** `pre_prompt` as agents of this SDK send it: a string or messages, and the model that receives them. */
export const PromptPayloadSchema = z.looseObject({
  prompt: JsonValueSchema,
  files: z.array(z.string()).optional(),
  model: JsonValueSchema.optional(),
  tools: z.array(z.string()).optional(),
});

/**
 * Payloads that the protocol does not specify, for tools that advise people, such as a policy's parser. An event is never
 * refused because of them.
 */
export const conventionalPayloads = {
  pre_action: ToolCallPayloadSchema,
  pre_prompt: PromptPayloadSchema,
} as const;
