import type {
  Always,
  ApprovalOrigin,
  ApprovalRecord,
  ApprovalSubject,
  FieldPattern,
  Grant,
  GrantTerms,
  InputPattern,
} from "@harnesskit/protocol/hub";
import { isPreviewCut } from "@harnesskit/protocol/threads";
import { canonicalJson } from "@harnesskit/wire";
import { type ApprovalError, refusalError } from "./errors.ts";
import { breadthProblem, isPlainPath } from "./grant-breadth.ts";

const plainRest = /^[A-Za-z0-9 _./:=@,+-]*$/;

const fieldMatches = (pattern: FieldPattern, value: unknown): boolean => {
  if ("any" in pattern) return true;
  if (value === undefined) return false;
  if ("is" in pattern) return canonicalJson(value) === canonicalJson(pattern.is);
  if (typeof value !== "string") return false;
  if ("under" in pattern) {
    const directory = pattern.under.replace(/(?<=.)\/$/, "");
    const below = directory === "/" ? directory : `${directory}/`;
    return (
      isPlainPath(pattern.under) && isPlainPath(value) && (value === directory || value.startsWith(below))
    );
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
  (terms.directory === undefined || terms.directory === origin.directory) &&
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
  session: reach === "session" ? origin.session : undefined,
  // A question without a directory is in no workspace: the empty one covers nothing, and is refused as a mismatch.
  directory: reach === "workspace" ? (origin.directory ?? "") : undefined,
  tool: subject.tool,
  match: input === undefined ? { digest } : { input },
  expiresAtMs: nowMs + Math.min(forMs ?? grantMs, grantMs),
});

/** Why a grant cannot be given for this record; undefined where it can. */
export const grantProblem = (record: ApprovalRecord, terms: GrantTerms): ApprovalError | undefined => {
  if (isPreviewCut(record.subject.preview)) return refusalError("preview_cut", record);
  const tooWide = breadthProblem(terms);
  if (tooWide !== undefined) return refusalError("grant_too_wide", record, tooWide);
  return grantCovers(terms, record) ? undefined : refusalError("grant_mismatch", record);
};
