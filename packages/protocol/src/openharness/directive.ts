import * as z from "zod";
import { WholeSchema } from "../checked.ts";
import { tolerant } from "../null-as-absent.ts";
import { ExtensionsSchema } from "./context.ts";
import { openObject } from "./open-object.ts";
import { type Parsed, parseWith } from "./parsed.ts";

export const DirectivePrioritySchema = z.enum(["low", "normal", "high", "critical"]);
export type DirectivePriority = z.infer<typeof DirectivePrioritySchema>;

export const DirectiveExecutionSchema = z.enum(["sequential", "parallel"]);
export type DirectiveExecution = z.infer<typeof DirectiveExecutionSchema>;

export const RiskTierSchema = z.enum(["safe", "caution", "dangerous"]);
export type RiskTier = z.infer<typeof RiskTierSchema>;

/** One thing that a shell is to show or to do (section 10). */
export const ActionDirectiveSchema = tolerant(() => ({
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
}));
export type ActionDirective = z.infer<typeof ActionDirectiveSchema>;

/** Parses one directive. Never throws for JSON. */
export const parseActionDirective = (directive: unknown): Parsed<ActionDirective> =>
  parseWith(ActionDirectiveSchema, directive);
