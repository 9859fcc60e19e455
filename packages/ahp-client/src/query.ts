import {
  type QueryParams,
  QueryParamsSchema,
  type QueryResult,
  QueryResultSchema,
} from "@harnesskit/protocol/ahp";
import type { QueryPayload } from "./client-options.ts";
import { AhpFailure } from "./errors.ts";
import { assertForm, type Sender } from "./events.ts";
import { problemOf } from "./problem.ts";

/** A query of this agent; a text is the payload's `question`. Throws `invalid_event`. */
export const toQueryParams = (sender: Sender, queryType: string, payload: QueryPayload): QueryParams => {
  const params = {
    session_id: sender.sessionId,
    agent_id: sender.agentId,
    query_type: queryType,
    payload: typeof payload === "string" ? { question: payload } : payload,
  };
  assertForm(QueryParamsSchema, params, "the query");
  return params;
};

/** The answer to a query. Throws `invalid_answer`. */
export const toQueryResult = (result: unknown): QueryResult => {
  const parsed = QueryResultSchema.safeParse(result);
  if (parsed.success) return parsed.data;
  const { error: cause } = parsed;
  throw new AhpFailure("invalid_answer", `the answer to the query is not valid: ${problemOf(cause)}`, {
    cause,
  });
};
