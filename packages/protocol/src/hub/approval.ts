import * as z from "zod";
import { JsonObjectSchema } from "../envelope/json.ts";
import { object } from "../fields.ts";
import {
  DigestSchema,
  DurationMsSchema,
  IdSchema,
  SequenceSchema,
  TimeMsSchema,
  WordsSchema,
} from "./values.ts";

/** Where a question comes from. */
export const ApprovalOriginSchema = object(() => ({
  agent: IdSchema,
  session: IdSchema,
  /** The call's id, where the agent gives it one. */
  callId: IdSchema.optional(),
  /** What the agent calls the work that the call belongs to. */
  correlationId: IdSchema.optional(),
  /** Which of the agent's subagents asks, as it says: its kind and its id. Absent: the session's main agent. */
  subagent: IdSchema.optional(),
  /** Where the agent works, as it says. */
  directory: WordsSchema.optional(),
}));
export type ApprovalOrigin = z.infer<typeof ApprovalOriginSchema>;

/** Exactly what will be done. */
const ApprovalSubjectSchema = object(() => ({
  tool: IdSchema,
  input: JsonObjectSchema,
  /** What the action will change, usually a unified diff. */
  preview: z.string().optional(),
}));
export type ApprovalSubject = z.infer<typeof ApprovalSubjectSchema>;

export const RiskLevelSchema = z.enum(["low", "medium", "high", "critical", "unknown"]);
export type RiskLevel = z.infer<typeof RiskLevelSchema>;

const ApprovalRiskSchema = object(() => ({
  level: RiskLevelSchema,
  reasons: z.array(WordsSchema).max(20).default([]),
}));
export type ApprovalRisk = z.infer<typeof ApprovalRiskSchema>;

/** The rule that asked, and why. */
const ApprovalRuleSchema = z.object({ id: IdSchema, reason: WordsSchema });

export const ApprovalStatusSchema = z.enum(["pending", "approved", "rejected", "expired", "withdrawn"]);
export type ApprovalStatus = z.infer<typeof ApprovalStatusSchema>;

/**
 * What came of an approved action. `claimed`: its asker may be doing it now; `ambiguous`: it was claimed and no outcome
 * arrived, so it may have been done, in part or whole.
 */
export const EffectSchema = z.enum(["none", "claimed", "done", "failed", "ambiguous"]);
export type Effect = z.infer<typeof EffectSchema>;

const ApprovalAnswerSchema = object(() => ({
  /** Who answered; for an answer by a grant, who gave the grant. */
  by: IdSchema,
  atMs: TimeMsSchema,
  note: WordsSchema.optional(),
  /** The asker must take the answer before this time. */
  useByMs: TimeMsSchema,
  /** The grant that answered, in place of a human. */
  grantId: IdSchema.optional(),
  /** The grant that was given with this answer. */
  gaveGrantId: IdSchema.optional(),
}));
export type ApprovalAnswer = z.infer<typeof ApprovalAnswerSchema>;

/** Where a question belongs in a trace: W3C Trace Context. */
const TraceSchema = object(() => ({
  traceparent: z.string().max(128),
  tracestate: z.string().max(512).exactOptional(),
}));

/** A question to a human about one exact action, its answer and what came of it. */
export const ApprovalRecordSchema = object(() => ({
  id: IdSchema,
  /** The number of the last change, unique in its store and growing. */
  seq: SequenceSchema,
  origin: ApprovalOriginSchema,
  subject: ApprovalSubjectSchema,
  /** Of the subject: `digest` of `@harnesskit/wire`. Answers and claims are bound to it. */
  digest: DigestSchema,
  risk: ApprovalRiskSchema,
  rule: ApprovalRuleSchema,
  createdAtMs: TimeMsSchema,
  changedAtMs: TimeMsSchema,
  /** A question without an answer expires then. */
  expiresAtMs: TimeMsSchema,
  status: ApprovalStatusSchema,
  /** Whether an agent waits for the answer, as far as the hub knows. `left`: the agent's connection ended, and it did not ask again. */
  asker: z.enum(["here", "left"]).optional(),
  answer: ApprovalAnswerSchema.optional(),
  withdrawn: z.object({ by: IdSchema, atMs: TimeMsSchema, reason: WordsSchema.optional() }).optional(),
  /** Who took the answer. An approved action was claimed by it, and its outcome is due before `reportByMs`. */
  taken: z.object({ by: IdSchema, atMs: TimeMsSchema, reportByMs: TimeMsSchema }).optional(),
  effect: EffectSchema,
  /** What the claimant said about the outcome. */
  effectDetail: WordsSchema.optional(),
  trace: TraceSchema.optional(),
}));
export type ApprovalRecord = z.infer<typeof ApprovalRecordSchema>;

/** A question as an asker puts it. */
export const ApprovalQuestionSchema = object(() => ({
  origin: ApprovalOriginSchema,
  subject: ApprovalSubjectSchema,
  risk: ApprovalRiskSchema.default({ level: "unknown", reasons: [] }),
  rule: ApprovalRuleSchema,
  /** At most the limit of the same name, which is the default. */
  answerWithinMs: DurationMsSchema.optional(),
  /** @default the operation that asks, where it is traced */
  trace: TraceSchema.optional(),
}));
/** A question as it is put: `risk` may be left out, which means unknown. */
export type ApprovalQuestion = z.input<typeof ApprovalQuestionSchema>;
