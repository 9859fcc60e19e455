import * as z from "zod";
import { JsonValueSchema } from "../envelope/json.ts";
import { object } from "../fields.ts";
import { RowUsageSchema } from "./activity.ts";
import { ApprovalRecordSchema, ApprovalStatusSchema, EffectSchema, RiskLevelSchema } from "./approval.ts";
import { AfterSeqSchema, IdSchema, SequenceSchema, TimeMsSchema, WordsSchema } from "./values.ts";

/**
 * Where an action stands. `noted`: an event that nothing is decided about; `waiting`: a human is asked; `running`: allowed, and no
 * outcome is known yet; `done`, `failed`: the agent reported it; `refused`: it must not happen, or the agent was sent away to ask
 * again; `unknown`: it was allowed, and the agent was lost or said nothing, so it may have been done, in part or whole.
 */
const RowStateSchema = z.enum(["noted", "waiting", "running", "done", "failed", "refused", "unknown"]);
export type RowState = z.infer<typeof RowStateSchema>;

/** What the hub answered, and what decided. */
const RowDecisionSchema = object(() => ({
  /** The decision's word: allow, block, modify, defer, escalate, approve, reject, …; `unjudged`: the hub was not asked. */
  decision: z.string(),
  /** `approval`: a human or a grant; `none`: nothing decided, of `unjudged`; the others are the policy's. */
  source: z.enum(["rule", "limit", "default", "failure", "guard", "approval", "none"]),
  /** The rule or limit; for an approval, the rule that asked. */
  rule: z.string().optional(),
  /** The rule's own words or the human's; what matched, where the rule has none. */
  reason: z.string().optional(),
  /** `shadow`: the policy would have decided so, and allowed. */
  mode: z.enum(["enforce", "shadow"]).optional(),
}));
export type RowDecision = z.infer<typeof RowDecisionSchema>;

/** The approval of an action, as far as a list shows it. */
const RowApprovalSchema = object(() => ({
  id: IdSchema,
  status: ApprovalStatusSchema,
  effect: EffectSchema,
  risk: RiskLevelSchema,
  by: z.string().optional(),
  /** The grant that answered in place of a human. */
  grantId: z.string().optional(),
}));
export type RowApproval = z.infer<typeof RowApprovalSchema>;

/** One action of an agent, or one event of it: who, what, which rule, which approval, what came of it. */
export const TimelineRowSchema = object(() => ({
  /** Its number: grows with the time of creation, and names the row for ever. */
  id: SequenceSchema,
  /** The number of its last change, unique and growing. */
  seq: SequenceSchema,
  /** The type of the AHP event. */
  type: z.string(),
  atMs: TimeMsSchema,
  changedAtMs: TimeMsSchema,
  agent: z.string(),
  session: z.string(),
  /** The turn or run that it belongs to, where the agent says so: rows of one session and turn belong together. */
  turn: z.string().optional(),
  callId: z.string().optional(),
  depth: z.int().nonnegative(),
  /** Which of the agent's subagents did it, as the agent says: its kind and its id. Absent: the session's main agent. */
  subagent: z.string().optional(),
  tool: z.string().optional(),
  /** In words, one safe line. */
  summary: z.string(),
  state: RowStateSchema,
  decision: RowDecisionSchema.optional(),
  approval: RowApprovalSchema.optional(),
  endedAtMs: TimeMsSchema.optional(),
  /** How long the action took, as the agent says, or else from decision to outcome: a wait for a human is not part of it. */
  durationMs: z.int().nonnegative().optional(),
  /** One safe line about the outcome, an error's first line for a failure. */
  outcome: z.string().optional(),
  /** Tokens of a request to the model, or of a whole turn, as the agent reports them. */
  usage: RowUsageSchema.optional(),
}));
export type TimelineRow = z.infer<typeof TimelineRowSchema>;

/** JSON that was redacted and cut to a size; `isCut` says that some of it is missing. */
const RowContentSchema = object(() => ({ value: JsonValueSchema, isCut: z.boolean() }));
export type RowContent = z.infer<typeof RowContentSchema>;

/** A row with its content. Secrets are replaced by `[redacted]`. */
export const TimelineDetailSchema = object(() => ({
  row: TimelineRowSchema,
  /** What the agent wants to do, or the payload of another event. */
  input: RowContentSchema.optional(),
  /** The input that the policy put in its place. */
  modifiedInput: RowContentSchema.optional(),
  output: RowContentSchema.optional(),
  error: z.object({ message: z.string(), code: z.string().optional() }).optional(),
  metadata: RowContentSchema.optional(),
  /** Why, in words of the policy, and what rules in shadow would have decided. */
  explanation: z
    .object({ why: z.string(), shadowed: z.array(z.object({ rule: z.string(), decision: z.string() })) })
    .optional(),
  /** The whole approval, while it is kept. */
  approval: ApprovalRecordSchema.optional(),
}));
export type TimelineDetail = z.infer<typeof TimelineDetailSchema>;

/** Which rows. Several fields must all be true. */
export const TimelineFilterSchema = object(() => ({
  agent: IdSchema.optional(),
  session: IdSchema.optional(),
  turn: IdSchema.optional(),
  tool: IdSchema.optional(),
  /** The decision's word. */
  decision: IdSchema.optional(),
  rule: IdSchema.optional(),
  state: RowStateSchema.optional(),
  /** States `failed`, `refused` and `unknown`. */
  failedOnly: z.boolean().optional(),
  /** In the summary, the tool, the outcome or the reason; in any case. */
  text: WordsSchema.optional(),
  sinceMs: TimeMsSchema.optional(),
  /** Not included. */
  untilMs: TimeMsSchema.optional(),
}));
export type TimelineFilter = z.infer<typeof TimelineFilterSchema>;

/** A page, the newest rows first. */
export const TimelinePageSchema = object(() => ({
  rows: z.array(TimelineRowSchema),
  /**
   * `beforeId` of the next page; absent at the end. A page looks at a bounded number of rows: with a filter it may have fewer rows
   * than asked for, or none, and still go on.
   */
  nextBeforeId: SequenceSchema.optional(),
  /** The newest change there is: `afterSeq` for a watch that goes on from this page. */
  lastSeq: AfterSeqSchema,
}));
export type TimelinePage = z.infer<typeof TimelinePageSchema>;
