import { type QueryResult, QueryResultSchema } from "@harnesskit/protocol/ahp";
import { AhpFailure, firstIssue } from "./errors.ts";

/** The unchecked decisions in the answer to a batch. Throws `invalid_answer` and `decision_count`. */
export const toDecisions = (result: unknown, count: number): readonly unknown[] => {
  const { decisions } = (result ?? {}) as { readonly decisions?: unknown };
  if (!Array.isArray(decisions)) throw new AhpFailure("invalid_answer", "the answer holds no decisions");
  if (decisions.length === count) return decisions;
  throw new AhpFailure("decision_count", `${count} events were answered with ${decisions.length} decisions`);
};

/** The answer to a query. Throws `invalid_answer`. */
export const toQueryResult = (result: unknown): QueryResult => {
  const parsed = QueryResultSchema.safeParse(result);
  if (parsed.success) return parsed.data;
  const { error: cause } = parsed;
  const message = `the answer to the query is not valid: ${firstIssue(cause)}`;
  throw new AhpFailure("invalid_answer", message, { cause });
};
