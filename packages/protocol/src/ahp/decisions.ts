import * as z from "zod";
import { IntegerSchema } from "../checked.ts";
import { ExactJsonValueSchema, JsonObjectSchema, JsonValueSchema } from "../envelope/json.ts";
import { discriminatedUnion } from "../fields.ts";
import { tolerant } from "../null-as-absent.ts";
import { FactSchema } from "./common.ts";
import { IntentSchema, TargetSchema } from "./context-values.ts";
import { PlanningStrategySchema } from "./payloads.ts";

const metadata = { metadata: JsonObjectSchema.optional() };
const block = tolerant(() => ({ decision: z.literal("block"), reason: z.string(), ...metadata }));

/** The answer to `pre_action` and `pre_prompt`, and to every event of a batch. */
export const DecisionSchema = discriminatedUnion("decision", [
  tolerant(() => ({
    decision: z.literal("allow"),
    modified_payload: ExactJsonValueSchema.optional(),
    ...metadata,
  })),
  block,
  tolerant(() => ({ decision: z.literal("modify"), modified_payload: ExactJsonValueSchema, ...metadata })),
  tolerant(() => ({
    decision: z.literal("defer"),
    retry_after_ms: IntegerSchema,
    reason: z.string().optional(),
  })),
  tolerant(() => ({
    decision: z.literal("escalate"),
    reason: z.string(),
    escalation_target: z.string().optional(),
  })),
]);
export type Decision = z.infer<typeof DecisionSchema>;

/** The answer to `idle`. */
export const IdleDecisionSchema = discriminatedUnion("decision", [
  tolerant(() => ({ decision: z.literal("allow") })),
  tolerant(() => ({ decision: z.literal("defer"), reason: z.string().optional() })),
]);
export type IdleDecision = z.infer<typeof IdleDecisionSchema>;

/** The answer to `intent_detection`. */
export const IntentDetectionDecisionSchema = discriminatedUnion("decision", [
  tolerant(() => ({
    decision: z.literal("allow"),
    detected_intent: z.string(),
    confidence: z.number(),
    target_hints: tolerant(() => ({
      target_type: z.string().optional(),
      target_name: z.string().optional(),
      domain: z.string().optional(),
    })).optional(),
  })),
  tolerant(() => ({ decision: z.literal("block"), reason: z.string() })),
]);

/** What the harness lets the agent know. */
export const InjectedContextSchema = tolerant(() => ({
  facts: z.array(FactSchema),
  file_contents: z
    .array(tolerant(() => ({ path: z.string(), snippet: z.string(), relevance_score: z.number() })))
    .optional(),
  project_summary: tolerant(() => ({
    project_name: z.string(),
    language: z.string().optional(),
    key_files: z.array(z.string()).optional(),
    structure_description: z.string(),
  })).optional(),
  knowledge: z.array(z.string()).optional(),
  suggestions: z.array(z.string()).optional(),
}));

/** The answer to `context_perception`. */
export const ContextPerceptionDecisionSchema = discriminatedUnion("decision", [
  tolerant(() => ({ decision: z.literal("allow"), injected_context: InjectedContextSchema, ...metadata })),
  block,
  tolerant(() => ({
    decision: z.literal("refine"),
    refined_intent: IntentSchema.optional(),
    refined_target: TargetSchema.optional(),
    scope_hints: z.array(z.string()),
  })),
]);

/** The answer to `memory_recall`. */
export const MemoryRecallDecisionSchema = discriminatedUnion("decision", [
  tolerant(() => ({ decision: z.literal("allow"), injected_facts: z.array(FactSchema), ...metadata })),
  block,
]);

/** The answer to `planning`. */
export const PlanningDecisionSchema = discriminatedUnion("decision", [
  tolerant(() => ({
    decision: z.literal("allow"),
    selected_strategy: PlanningStrategySchema,
    planning_template: JsonValueSchema.optional(),
    ...metadata,
  })),
  block,
  tolerant(() => ({
    decision: z.literal("modify"),
    modified_task: z.string(),
    hints: z.array(z.string()).optional(),
  })),
]);

/** The answer to `reasoning`. */
export const ReasoningDecisionSchema = discriminatedUnion("decision", [
  tolerant(() => ({ decision: z.literal("allow"), hints: z.array(z.string()).optional(), ...metadata })),
  block,
]);

/** The answer to `rate_limit`. */
export const RateLimitDecisionSchema = discriminatedUnion("decision", [
  tolerant(() => ({ decision: z.literal("retry"), retry_after_ms: IntegerSchema, ...metadata })),
  tolerant(() => ({ decision: z.literal("queue") })),
  tolerant(() => ({ decision: z.literal("skip"), reason: z.string() })),
]);
export type RateLimitDecision = z.infer<typeof RateLimitDecisionSchema>;

/** The answer to `confirmation`. A `reject` may carry metadata as a `block` does, which tells a human's refusal from a question that still waits. */
export const ConfirmationDecisionSchema = discriminatedUnion("decision", [
  tolerant(() => ({ decision: z.literal("escalate") })),
  tolerant(() => ({ decision: z.literal("approve") })),
  tolerant(() => ({ decision: z.literal("reject"), reason: z.string(), ...metadata })),
]);
export type ConfirmationDecision = z.infer<typeof ConfirmationDecisionSchema>;
