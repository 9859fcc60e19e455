import { ApprovalQuestionSchema, type ApprovalRecord, type Grant } from "@harnesskit/protocol/hub";
import { canonicalJson, digest, displayText, InvalidArgumentError } from "@harnesskit/wire";
import { copyJson } from "@harnesskit/wire/json";
import type * as z from "zod";
import type { Asked } from "./grant.ts";
import type { ApprovalLimits } from "./limits.ts";
import { riskOfSubject } from "./risk.ts";

/** A question that was checked and copied, with its digest. */
export type ReadQuestion = z.output<typeof ApprovalQuestionSchema> & Asked;

/** A value that meets the schema. Throws `invalid_argument`, with the place of the first problem. */
export const parseValue = <Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  name: string,
): z.output<Schema> => {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const place = [name, ...(issue?.path ?? [])].map(String).join(".");
  const message = `${place} is not valid: ${issue?.message}`;
  throw new InvalidArgumentError(displayText(message, { maxLength: 500 }));
};

/** The same for a value of unknown size; the result shares nothing with it. Throws `too_large`, `too_deep` and `not_json`, too. */
export const parseBounded = <Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  name: string,
  maxBytes: number,
): z.output<Schema> => parseValue(schema, copyJson(value, { maxBytes, name }), name);

/** Checks a question. Rejects with `invalid_argument`, `too_large`, `too_deep` and `not_json`. */
export const readQuestion = async (
  value: unknown,
  { maxQuestionBytes }: ApprovalLimits,
): Promise<ReadQuestion> => {
  const question = parseBounded(ApprovalQuestionSchema, value, "question", maxQuestionBytes);
  // A field that a copy leaves out would be done and not shown.
  const given = (value as { subject: { input: unknown } }).subject.input;
  if (canonicalJson(given) !== canonicalJson(question.subject.input)) {
    throw new InvalidArgumentError("question.subject.input must not have a field __proto__");
  }
  return { ...question, digest: await digest(question.subject) };
};

/** The record of a new question: pending, or approved by a grant. The store gives it its number. */
export const newRecord = (
  { answerWithinMs, ...question }: ReadQuestion,
  id: string,
  nowMs: number,
  limits: ApprovalLimits,
  grant: Grant | undefined,
): ApprovalRecord => {
  const { answerWithinMs: longestMs, useWithinMs } = limits;
  const record: ApprovalRecord = {
    id,
    seq: 1,
    ...question,
    risk: riskOfSubject(question.subject, question.risk),
    createdAtMs: nowMs,
    changedAtMs: nowMs,
    expiresAtMs: nowMs + Math.min(answerWithinMs ?? longestMs, longestMs),
    status: "pending",
    effect: "none",
  };
  if (grant === undefined) return record;
  const useByMs = Math.min(nowMs + useWithinMs, grant.expiresAtMs);
  return { ...record, status: "approved", answer: { by: grant.by, atMs: nowMs, useByMs, grantId: grant.id } };
};
