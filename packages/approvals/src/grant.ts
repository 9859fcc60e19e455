import { JsonValueSchema } from "@harnesskit/protocol/envelope";
import { isPreviewCut } from "@harnesskit/protocol/threads";
import { canonicalJson } from "@harnesskit/wire";
import * as z from "zod";
import type { RefusalCode } from "./errors.ts";
import {
  type ApprovalOrigin,
  type ApprovalRecord,
  type ApprovalSubject,
  DigestSchema,
  DurationMsSchema,
  IdSchema,
  SequenceSchema,
  TimeMsSchema,
} from "./record.ts";

const maxPatternFields = 32;
/** Characters of a pattern as JSON: it is always shown whole. */
const maxPatternLength = 4000;

/**
 * What one field of an input may be. `is`: exactly this value. `under`: a path equal to this directory or below it, without `..`;
 * links are not followed. `startsWith`: a string that goes on with plain characters only, so that a command cannot be continued with
 * another. `any`: any value, or the field is absent.
 */
export const FieldPatternSchema = z.union([
  z.strictObject({ is: JsonValueSchema }),
  z.strictObject({ under: z.string().min(1) }),
  z.strictObject({ startsWith: z.string().min(1) }),
  z.strictObject({ any: z.literal(true) }),
]);
export type FieldPattern = z.infer<typeof FieldPatternSchema>;

/** By field of the input. A field that is not named must be absent. */
export const InputPatternSchema = z
  .record(IdSchema, FieldPatternSchema)
  .refine((pattern) => Object.keys(pattern).length <= maxPatternFields, "too many fields")
  .refine((pattern) => canonicalJson(pattern).length <= maxPatternLength, "too long");
export type InputPattern = z.infer<typeof InputPatternSchema>;

/** What a grant allows: all that a human must see before giving it. */
export const GrantTermsSchema = z.object({
  agent: IdSchema,
  /** Absent: all sessions of the agent. */
  session: IdSchema.optional(),
  tool: IdSchema,
  /** Exactly one subject, or all inputs of the tool that match. */
  match: z.union([z.strictObject({ digest: DigestSchema }), z.strictObject({ input: InputPatternSchema })]),
  expiresAtMs: TimeMsSchema,
});
export type GrantTerms = z.infer<typeof GrantTermsSchema>;

/** A stored `always` answer. */
export const GrantSchema = GrantTermsSchema.extend({
  id: IdSchema,
  seq: SequenceSchema,
  by: IdSchema,
  createdAtMs: TimeMsSchema,
  /** The question that it was given for. */
  approvalId: IdSchema,
  revoked: z.object({ by: IdSchema, atMs: TimeMsSchema }).optional(),
});
export type Grant = z.infer<typeof GrantSchema>;

/** The request for a grant, in an answer. Agent and tool are those of the question. */
export const AlwaysSchema = z.strictObject({
  reach: z.enum(["session", "agent"]),
  /** @default exactly this subject */
  input: InputPatternSchema.optional(),
  /** At most the limit `grantMs`, which is the default. */
  forMs: DurationMsSchema.optional(),
});
export type Always = z.infer<typeof AlwaysSchema>;

const plainRest = /^[A-Za-z0-9 _./:=@,+-]*$/;
const isPlainPath = (path: string): boolean =>
  !/[\\\p{Cc}]|\/\//u.test(path) && !path.split("/").some((part) => part === ".." || part === ".");

const fieldMatches = (pattern: FieldPattern, value: unknown): boolean => {
  if ("any" in pattern) return true;
  if (value === undefined) return false;
  if ("is" in pattern) return canonicalJson(value) === canonicalJson(pattern.is);
  if (typeof value !== "string") return false;
  if ("under" in pattern) {
    const directory = pattern.under.replace(/(?<=.)\/$/, "");
    const below = directory === "/" ? directory : `${directory}/`;
    return isPlainPath(value) && (value === directory || value.startsWith(below));
  }
  const rest = value.slice(pattern.startsWith.length);
  return value.startsWith(pattern.startsWith) && plainRest.test(rest) && !rest.includes("..");
};

/** Whether each field of the input is named and as the pattern says. */
const inputMatches = (pattern: InputPattern, input: ApprovalSubject["input"]): boolean =>
  Object.keys(input).every((name) => Object.hasOwn(pattern, name)) &&
  Object.entries(pattern).every(([name, field]) =>
    fieldMatches(field, Object.hasOwn(input, name) ? input[name] : undefined),
  );

/** What is asked: a part of a record. */
export interface Asked {
  readonly origin: ApprovalOrigin;
  readonly subject: ApprovalSubject;
  readonly digest: string;
}

/** Whether the terms cover the action, whatever the time. What is not shown whole is never covered. */
export const grantCovers = (terms: GrantTerms, { origin, subject, digest }: Asked): boolean =>
  terms.agent === origin.agent &&
  (terms.session === undefined || terms.session === origin.session) &&
  terms.tool === subject.tool &&
  !isPreviewCut(subject.preview) &&
  ("digest" in terms.match ? terms.match.digest === digest : inputMatches(terms.match.input, subject.input));

export const isInForce = (grant: Grant, nowMs: number): boolean =>
  grant.revoked === undefined && nowMs < grant.expiresAtMs;

const precedence = (grant: Grant): number => ("digest" in grant.match ? 0 : 1);

/** The grant that answers: an exact one before a pattern, then the one given first. */
export const findGrant = (grants: readonly Grant[], asked: Asked, nowMs: number): Grant | undefined =>
  grants
    .filter((grant) => isInForce(grant, nowMs) && grantCovers(grant, asked))
    .sort((a, b) => precedence(a) - precedence(b) || a.seq - b.seq)[0];

/**
 * The terms of the grant that `always` asks for, to show them before the answer: the store makes the same from the answer.
 *
 * @param grantMs the default and longest duration
 */
export const grantTerms = (
  { origin, subject, digest }: Pick<ApprovalRecord, "origin" | "subject" | "digest">,
  { reach, input, forMs }: Always,
  nowMs: number,
  grantMs: number,
): GrantTerms => ({
  agent: origin.agent,
  ...(reach === "session" ? { session: origin.session } : {}),
  tool: subject.tool,
  match: input === undefined ? { digest } : { input },
  expiresAtMs: nowMs + Math.min(forMs ?? grantMs, grantMs),
});

/** Why a grant cannot be given for this record; undefined where it can. */
export const grantProblem = (record: ApprovalRecord, terms: GrantTerms): RefusalCode | undefined => {
  if (isPreviewCut(record.subject.preview)) return "preview_cut";
  return grantCovers(terms, record) ? undefined : "grant_mismatch";
};
