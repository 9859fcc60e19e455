/** What a judge said of an item, as far as it can be read: untrusted texts. */
export interface ShownJudgement {
  readonly decision: string;
  readonly by: string;
  readonly rule: string | undefined;
  readonly reason: string | undefined;
  readonly modified:
    | {
        readonly requested: unknown;
        readonly by: string | undefined;
        readonly rule: string | undefined;
        readonly reason: string | undefined;
      }
    | undefined;
}

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

/** Reads the judgement of an item's data; undefined where there is none. */
export const judgementOf = (data: unknown): ShownJudgement | undefined => {
  const judgement = isFields(data) ? data.judgement : undefined;
  if (!isFields(judgement)) return undefined;
  const { decision, by, rule, reason, modified } = judgement;
  if (typeof decision !== "string" || typeof by !== "string") return undefined;
  const change = isFields(modified) ? modified : undefined;
  return {
    decision,
    by,
    rule: textOf(rule),
    reason: textOf(reason),
    modified: change && {
      requested: change.requested,
      by: textOf(change.by),
      rule: textOf(change.rule),
      reason: textOf(change.reason),
    },
  };
};
