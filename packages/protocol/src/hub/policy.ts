import * as z from "zod";
import { SequenceSchema, TimeMsSchema } from "./values.ts";

/** A rule, a limit, or what decides where none does (`default`), with how often it decided since the hub keeps its timeline. */
export const RuleHitsSchema = z.object({
  name: z.string(),
  kind: z.enum(["rule", "limit", "default", "failure", "guard"]),
  hits: z.int().nonnegative(),
  lastHitAtMs: TimeMsSchema.optional(),
  /** By the decision's word. */
  decisions: z.record(z.string(), z.int().nonnegative()),
  /** False for one that decided earlier and is in the policy no more. */
  isInForce: z.boolean(),
});
export type RuleHits = z.infer<typeof RuleHitsSchema>;

export const PolicyStateSchema = z.object({
  name: z.string(),
  file: z.string(),
  mode: z.enum(["enforce", "shadow"]),
  /** The YAML in force. */
  text: z.string(),
  loadedAtMs: TimeMsSchema,
  warnings: z.array(z.object({ message: z.string(), line: z.int(), column: z.int() })),
  rules: z.array(RuleHitsSchema),
});
export type PolicyState = z.infer<typeof PolicyStateSchema>;

/** A place in a policy that cannot be used. */
export const PolicyProblemSchema = z.object({
  message: z.string(),
  line: z.int().optional(),
  column: z.int().optional(),
});
export type PolicyProblem = z.infer<typeof PolicyProblemSchema>;

export const BacktestChangeSchema = z.object({
  rowId: SequenceSchema,
  atMs: TimeMsSchema,
  agent: z.string(),
  tool: z.string().optional(),
  summary: z.string(),
  /** What the policy of that time decided, before any human. */
  was: z.string(),
  /** What the policy in question decides; absent where it has no say. */
  now: z.string().optional(),
  rule: z.string().optional(),
  why: z.string(),
});
export type BacktestChange = z.infer<typeof BacktestChangeSchema>;

/** What a policy would have decided on the events that are kept. */
export const BacktestResultSchema = z.object({
  /** Decided events in the time asked about. */
  decided: z.int().nonnegative(),
  /** Of these, without their content, because it was too large. */
  withoutEvent: z.int().nonnegative(),
  /** Of these, with cut or redacted content, so that the policy may decide otherwise on the whole. */
  cut: z.int().nonnegative(),
  same: z.int().nonnegative(),
  changed: z.int().nonnegative(),
  /** How often it would come to `was → now`, the same included. */
  transitions: z.record(z.string(), z.int().nonnegative()),
  /** The first ones. */
  changes: z.array(BacktestChangeSchema),
  /** Whether the hub stopped at its bound of events before it had seen all. */
  isPartial: z.boolean(),
});
export type BacktestResult = z.infer<typeof BacktestResultSchema>;
