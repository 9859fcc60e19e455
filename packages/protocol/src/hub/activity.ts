import * as z from "zod";
import { object } from "../fields.ts";
import { TimeMsSchema } from "./values.ts";

const count = z.int().nonnegative();

/** Tokens of a model, as the agent reports them. A number that is absent is unknown. */
export const RowUsageSchema = object(() => ({
  /** With what was read from the prompt cache and written to it. */
  inputTokens: count.optional(),
  outputTokens: count.optional(),
  cacheReadTokens: count.optional(),
  cacheWriteTokens: count.optional(),
  /** The model's name at its provider. */
  model: z.string().optional(),
}));
export type RowUsage = z.infer<typeof RowUsageSchema>;

/** By what rows are put together. `day` and `hour` are those of the caller's clock. */
export const ActivityKeySchema = z.enum(["agent", "subagent", "session", "turn", "day", "hour"]);
export type ActivityKey = z.infer<typeof ActivityKeySchema>;

/** What is counted of rows that belong together. */
export const ActivityGroupSchema = object(() => ({
  agent: z.string().optional(),
  /** Absent where it was asked for: the main agent. */
  subagent: z.string().optional(),
  session: z.string().optional(),
  /** Absent where it was asked for: the agent does not say it. */
  turn: z.string().optional(),
  /** When the day or hour begins. */
  startMs: TimeMsSchema.optional(),
  firstAtMs: TimeMsSchema,
  lastAtMs: TimeMsSchema,
  /** Actions, and of these: failed, refused by the policy or a human, and asked a human about. */
  actions: count,
  failed: count,
  refused: count,
  asked: count,
  /** Sums of what was reported. */
  usage: RowUsageSchema.omit({ model: true }),
  /** Reports of tokens, and of these: of a model that has no price. Where there is no report, the tokens are unknown. */
  reports: count,
  unpriced: count,
  /** US dollars, of the reports that have a price. */
  cost: z.number().nonnegative(),
}));
export type ActivityGroup = z.infer<typeof ActivityGroupSchema>;
