import {
  AlwaysSchema,
  type ApprovalRecord,
  DigestSchema,
  DurationMsSchema,
  IdSchema,
  WordsSchema,
} from "@harnesskit/protocol/hub";
import * as z from "zod";
import type { RefusalCode } from "./errors.ts";

/** What can happen to a record. */
export const ApprovalEventSchema = z.discriminatedUnion("type", [
  z
    .object({
      /** A human answers. */
      type: z.literal("answer"),
      decision: z.enum(["approve", "reject"]),
      by: IdSchema,
      /** Of the subject that the human saw. */
      digest: DigestSchema,
      note: WordsSchema.optional(),
      /** Gives a grant with an approval. */
      always: AlwaysSchema.optional(),
    })
    .refine(({ decision, always }) => decision === "approve" || always === undefined, {
      path: ["always"],
      message: "a rejection gives no grant",
    }),
  /** The asker of a pending question has gone, or asks again. */
  z.object({ type: z.literal("asker"), asker: z.enum(["here", "left"]) }),
  /** The question is not needed any more, or an approval is taken back before its asker has taken it. */
  z.object({ type: z.literal("withdraw"), by: IdSchema, reason: WordsSchema.optional() }),
  z.object({
    /** The asker takes the answer, once. What was approved is claimed by it. */
    type: z.literal("take"),
    claimant: IdSchema,
    /** Of the action that the claimant is about to do. */
    digest: DigestSchema,
    /** At most the limit of the same name, which is the default. */
    reportWithinMs: DurationMsSchema.optional(),
  }),
  z.object({
    /** The claimant says what came of the action; `ambiguous` also for a claimant that is known to be lost. */
    type: z.literal("report"),
    claimant: IdSchema,
    effect: z.enum(["done", "failed", "ambiguous"]),
    detail: WordsSchema.optional(),
  }),
]);
export type ApprovalEvent = z.infer<typeof ApprovalEventSchema>;
type EventOf<Type extends ApprovalEvent["type"]> = Extract<ApprovalEvent, { readonly type: Type }>;

export type Transition =
  | { readonly ok: true; readonly record: ApprovalRecord }
  /** `record` is as it was, except for what time has done to it. */
  | { readonly ok: false; readonly code: RefusalCode; readonly record: ApprovalRecord };

/** Durations that an event may not exceed. */
export interface TransitionTimes {
  readonly useWithinMs: number;
  readonly reportWithinMs: number;
}

/** When time itself changes the record; undefined for a record that has ended. */
export const dueAtMs = (record: ApprovalRecord): number | undefined => {
  if (record.status === "pending") return record.expiresAtMs;
  if (record.effect === "claimed") return record.taken?.reportByMs;
  if (record.status === "approved" && record.taken === undefined) return record.answer?.useByMs;
  return undefined;
};

/**
 * The record at a time: a question without an answer expires, and so does an approval that is not taken; a claim without an
 * outcome is ambiguous.
 */
export const lapse = (record: ApprovalRecord, nowMs: number): ApprovalRecord => {
  const due = dueAtMs(record);
  if (due === undefined || nowMs < due) return record;
  const changed = { ...record, changedAtMs: due };
  return record.effect === "claimed"
    ? { ...changed, effect: "ambiguous" }
    : { ...changed, status: "expired" };
};

/** Why a record that is not pending cannot be answered. */
const refusalCodeOf = (status: ApprovalRecord["status"]): RefusalCode =>
  status === "expired" || status === "withdrawn" ? status : "already_answered";

type Step = RefusalCode | Partial<ApprovalRecord>;

const applyAnswer = (
  record: ApprovalRecord,
  { decision, by, digest, note }: EventOf<"answer">,
  nowMs: number,
  { useWithinMs }: TransitionTimes,
): Step => {
  if (digest !== record.digest) return "wrong_digest";
  if (record.status !== "pending") return refusalCodeOf(record.status);
  return {
    status: decision === "approve" ? "approved" : "rejected",
    answer: { by, atMs: nowMs, useByMs: nowMs + useWithinMs, note },
  };
};

const withdraw = (record: ApprovalRecord, { by, reason }: EventOf<"withdraw">, nowMs: number): Step => {
  if (record.taken !== undefined) return "already_taken";
  if (record.status !== "pending" && record.status !== "approved") return refusalCodeOf(record.status);
  return {
    status: "withdrawn",
    withdrawn: { by, atMs: nowMs, reason },
  };
};

const take = (
  record: ApprovalRecord,
  { claimant, digest, reportWithinMs: wanted }: EventOf<"take">,
  nowMs: number,
  { reportWithinMs }: TransitionTimes,
): Step => {
  if (digest !== record.digest) return "wrong_digest";
  if (record.status === "pending") return "not_answered";
  if (record.status === "expired" || record.status === "withdrawn") return record.status;
  if (record.taken !== undefined) return "already_taken";
  const reportByMs = nowMs + Math.min(wanted ?? reportWithinMs, reportWithinMs);
  return {
    taken: { by: claimant, atMs: nowMs, reportByMs },
    effect: record.status === "approved" ? "claimed" : "none",
  };
};

const report = (record: ApprovalRecord, { claimant, effect, detail }: EventOf<"report">): Step => {
  if (record.effect === "none") return "not_claimed";
  if (record.taken?.by !== claimant) return "not_claimant";
  // Only the claimant knows: its word may still come after the time for it.
  const isOpen = record.effect === "claimed" || (record.effect === "ambiguous" && effect !== "ambiguous");
  if (!isOpen) return "already_reported";
  return { effect, effectDetail: detail };
};

const advance = (
  record: ApprovalRecord,
  event: ApprovalEvent,
  nowMs: number,
  times: TransitionTimes,
): Step => {
  if (event.type === "answer") return applyAnswer(record, event, nowMs, times);
  if (event.type === "asker") {
    return record.status === "pending" ? { asker: event.asker } : refusalCodeOf(record.status);
  }
  if (event.type === "withdraw") return withdraw(record, event, nowMs);
  if (event.type === "take") return take(record, event, nowMs, times);
  return report(record, event);
};

/**
 * What an event makes of a record at a time. Pure and total: the first answer counts, exactly one claimant takes it, and every
 * other event is refused with a code and changes nothing.
 */
export const transition = (
  record: ApprovalRecord,
  event: ApprovalEvent,
  nowMs: number,
  times: TransitionTimes,
): Transition => {
  const current = lapse(record, nowMs);
  const next = advance(current, event, nowMs, times);
  if (typeof next === "string") return { ok: false, code: next, record: current };
  return { ok: true, record: { ...current, ...next, changedAtMs: nowMs } };
};

const isOver = ({ status }: ApprovalRecord): boolean => status === "expired" || status === "withdrawn";

/** Whether its answer, or the wait for it, is there for a repeated call. */
const isUnused = (record: ApprovalRecord, nowMs: number): boolean =>
  !isOver(record) && record.taken === undefined && nowMs < (record.answer?.useByMs ?? record.expiresAtMs);

/**
 * The record that a repeated question finds, of those of the same agent, session and digest, newest first. The same call id finds its
 * record, whatever came of it, so that a replayed call is not asked about again; another call, or one without an id, finds a record
 * whose answer was not taken. Otherwise undefined: it is a new question.
 */
export const findRepeat = (
  identical: readonly ApprovalRecord[],
  callId: string | undefined,
  nowMs: number,
): ApprovalRecord | undefined =>
  identical.find((record) => callId !== undefined && record.origin.callId === callId && !isOver(record)) ??
  identical.find((record) => isUnused(record, nowMs));
