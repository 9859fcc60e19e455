import * as z from "zod";
import { type Parsed, quickParse } from "../quick-schema.ts";
import { ExtensionsSchema } from "./context.ts";
import { WholeSchema } from "./numbers.ts";
import { closedShape, openObject } from "./open-object.ts";

export const DirectivePrioritySchema = z.enum(["low", "normal", "high", "critical"]);
export type DirectivePriority = z.infer<typeof DirectivePrioritySchema>;

export const DirectiveExecutionSchema = z.enum(["sequential", "parallel"]);
export type DirectiveExecution = z.infer<typeof DirectiveExecutionSchema>;

export const RiskTierSchema = z.enum(["safe", "caution", "dangerous"]);
export type RiskTier = z.infer<typeof RiskTierSchema>;

/** One thing that a shell is to show or to do (section 10). */
export const ActionDirectiveSchema = closedShape({
  /** A core type, or a name of one's own as `com.example.plugin.invoke`. */
  action_type: z.string().min(1),
  /** A hint. */
  priority: DirectivePrioritySchema.optional(),
  /** `sequential` unless it says otherwise. */
  execution: DirectiveExecutionSchema.optional(),
  risk_tier: RiskTierSchema.optional(),
  /** True: nothing happens before the user has said yes. */
  requires_user_approval: z.boolean().optional(),
  /** Milliseconds from the receipt on. */
  deadline_ms: WholeSchema.optional(),
  /** What it means depends on the type. */
  payload: openObject().optional(),
  extensions: ExtensionsSchema.optional(),
});
export type ActionDirective = z.infer<typeof ActionDirectiveSchema>;

/** Parses one directive. Never throws for JSON. */
export const parseActionDirective = (directive: unknown): Parsed<ActionDirective> =>
  quickParse(ActionDirectiveSchema, directive);
