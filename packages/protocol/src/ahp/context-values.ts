import * as z from "zod";
import { JsonValueSchema } from "../envelope/json.ts";

/** What the agent wants to do with the context it asks for. */
export const IntentSchema = z.enum([
  "recognize",
  "understand",
  "locate",
  "retrieve",
  "explore",
  "reason",
  "validate",
  "compare",
  "track",
]);
export type Intent = z.infer<typeof IntentSchema>;

export const DomainSchema = z.enum([
  "coding",
  "writing",
  "data_analysis",
  "research",
  "project_management",
  "conversation",
  "operations",
  "security",
  "general",
]);

export const ModalitySchema = z.enum([
  "text",
  "code",
  "structured_data",
  "table",
  "chart",
  "image",
  "audio",
  "video",
  "any",
]);

export const UrgencySchema = z.enum(["critical", "high", "normal", "low"]);

export const FreshnessSchema = z.enum(["realtime", "recent", "static"]);

const TimeRangeSchema = z.object({
  from: z.string().nullish(),
  to: z.string().nullish(),
  relative: z.string().optional(),
});

/** What the context is about: an object with one key, which says of what kind it is. */
export const TargetSchema = z.union([
  z.strictObject({
    entity: z.object({ name: z.string(), entity_type: z.string(), identifier: z.string().nullish() }),
  }),
  z.strictObject({ location: z.object({ path: z.string(), location_type: z.string() }) }),
  z.strictObject({
    event: z.object({
      description: z.string(),
      event_type: z.string(),
      time_range: TimeRangeSchema.nullish(),
    }),
  }),
  z.strictObject({ relation: z.object({ entities: z.array(z.string()), relation_type: z.string() }) }),
  z.strictObject({
    rule: z.object({ name: z.string(), rule_type: z.string(), scope: z.string().nullish() }),
  }),
  z.strictObject({
    state: z.object({ target: z.string(), aspect: z.string(), include_history: z.boolean() }),
  }),
  z.strictObject({
    resource: z.object({
      name: z.string(),
      resource_type: z.string(),
      constraints: JsonValueSchema.optional(),
    }),
  }),
  z.strictObject({ pattern: z.object({ pattern: z.string(), pattern_type: z.string() }) }),
]);
export type Target = z.infer<typeof TargetSchema>;
