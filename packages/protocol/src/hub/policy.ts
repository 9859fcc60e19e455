import * as z from "zod";
import { object } from "../fields.ts";
import { TimelineRowSchema } from "./timeline.ts";
import { SequenceSchema, TimeMsSchema } from "./values.ts";

/** What a rule, a limit or the default of a policy says, in words. */
const RuleTextSchema = object(() => ({
  kind: z.enum(["rule", "limit", "default"]),
  name: z.string(),
  /** Its author's words. */
  description: z.string().optional(),
  /** When it applies, in words; `cel` has the conditions that must hold besides. */
  when: z.string(),
  cel: z.array(z.string()),
  /** The word of its decision, and the template of its reason. */
  decision: z.string(),
  reason: z.string().optional(),
  /** `shadow`: it is recorded what it would decide. */
  mode: z.enum(["enforce", "shadow"]),
}));

/** A rule, a limit, or what decides where none does (`default`), with how often it decided since the hub keeps its timeline. */
const RuleHitsSchema = object(() => ({
  name: z.string(),
  kind: z.enum(["rule", "limit", "default", "failure", "guard"]),
  hits: z.int().nonnegative(),
  lastHitAtMs: TimeMsSchema.optional(),
  /** By the decision's word. */
  decisions: z.record(z.string(), z.int().nonnegative()),
  /** What it says. Absent: it is not in the policy, such as one that decided earlier. */
  text: RuleTextSchema.optional(),
}));
export type RuleHits = z.infer<typeof RuleHitsSchema>;

export const PolicyStateSchema = object(() => ({
  name: z.string(),
  file: z.string(),
  mode: z.enum(["enforce", "shadow"]),
  /** The YAML in force. */
  text: z.string(),
  loadedAtMs: TimeMsSchema,
  warnings: z.array(z.object({ message: z.string(), line: z.int(), column: z.int() })),
  rules: z.array(RuleHitsSchema),
  /** Whether `policy.save` writes the file: this hub was started with a policy of its user. */
  canSave: z.boolean(),
}));
export type PolicyState = z.infer<typeof PolicyStateSchema>;

/** A place in a policy that cannot be used. */
export const PolicyProblemSchema = object(() => ({
  message: z.string(),
  line: z.int().optional(),
  column: z.int().optional(),
}));
export type PolicyProblem = z.infer<typeof PolicyProblemSchema>;

/** The problems of a policy's text while it is edited. */
export const PolicyCheckSchema = object(() => ({
  /** Why the text is not a policy; then the fields below are empty. */
  problems: z.array(PolicyProblemSchema),
  warnings: z.array(PolicyProblemSchema),
  rules: z.array(RuleTextSchema),
  /** The row that was asked about. */
  row: TimelineRowSchema.optional(),
  /** What it decides on the event of the row, as if that were the first one: limits have counted nothing. */
  judged: z
    .object({
      /** Absent: it has no say. */
      decision: z.string().optional(),
      rule: z.string().optional(),
      source: z.enum(["rule", "limit", "default", "failure", "guard"]),
      why: z.string(),
      /** What rules in shadow would have decided. */
      shadowed: z.array(z.object({ rule: z.string(), decision: z.string() })),
      /** A part of the event was not kept, or was redacted: on the whole of it, it may be another decision. */
      isCut: z.boolean(),
    })
    .optional(),
}));
export type PolicyCheck = z.infer<typeof PolicyCheckSchema>;

const BacktestChangeSchema = object(() => ({
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
}));
export type BacktestChange = z.infer<typeof BacktestChangeSchema>;

/** What a policy would have decided on the events that are kept. */
export const BacktestResultSchema = object(() => ({
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
}));
export type BacktestResult = z.infer<typeof BacktestResultSchema>;
