import * as z from "zod";
import { JsonValueSchema } from "../envelope/json.ts";
import { tolerant } from "../null-as-absent.ts";

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

/** A Unix time, or one in words of the sender. */
const UnixTimeSchema = z.union([z.number(), z.string()]);

const TimeRangeSchema = tolerant(() => ({
  from: UnixTimeSchema.optional(),
  to: UnixTimeSchema.optional(),
  relative: z.string().optional(),
}));

/** What the context is about: an object with one key, which says of what kind it is. */
export const TargetSchema = z.union([
  z.strictObject({
    entity: tolerant(() => ({
      name: z.string(),
      entity_type: z.string(),
      identifier: z.string().optional(),
    })),
  }),
  z.strictObject({ location: tolerant(() => ({ path: z.string(), location_type: z.string() })) }),
  z.strictObject({
    event: tolerant(() => ({
      description: z.string(),
      event_type: z.string(),
      time_range: TimeRangeSchema.optional(),
    })),
  }),
  z.strictObject({
    relation: tolerant(() => ({ entities: z.array(z.string()), relation_type: z.string() })),
  }),
  z.strictObject({
    rule: tolerant(() => ({ name: z.string(), rule_type: z.string(), scope: z.string().optional() })),
  }),
  z.strictObject({
    state: tolerant(() => ({ target: z.string(), aspect: z.string(), include_history: z.boolean() })),
  }),
  z.strictObject({
    resource: tolerant(() => ({
      name: z.string(),
      resource_type: z.string(),
      constraints: JsonValueSchema.optional(),
    })),
  }),
  z.strictObject({ pattern: tolerant(() => ({ pattern: z.string(), pattern_type: z.string() })) }),
]);
