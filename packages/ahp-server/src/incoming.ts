import type { RequestId } from "@harnesskit/protocol/envelope";

/** A request, or a notification where `id` is undefined. `params` is what came, of whatever kind. */
export interface Incoming {
  readonly id: RequestId | undefined;
  readonly method: string;
  readonly params: unknown;
}

/** A number that was rounded when it was read could not be sent back as it came, so it is none. */
const isId = (id: unknown): id is RequestId =>
  typeof id === "string" ||
  id === null ||
  (typeof id === "number" && Number.isFinite(id) && Math.abs(id) <= Number.MAX_SAFE_INTEGER);

/**
 * Tells whether a JSON value is a request or a notification of JSON-RPC 2.0. Params that are neither object nor array
 * are left to the method, which refuses them.
 */
export const isIncoming = (message: unknown): message is Incoming => {
  if (typeof message !== "object" || message === null || Array.isArray(message)) return false;
  const { jsonrpc, id, method } = message as { jsonrpc?: unknown; id?: unknown; method?: unknown };
  return jsonrpc === "2.0" && typeof method === "string" && (id === undefined || isId(id));
};

/** The id for the answer to what is no request: its own where it can be read and is no answer's, else "". */
export const readableId = (message: unknown): RequestId => {
  if (typeof message !== "object" || message === null) return "";
  const { id, result, error } = message as { id?: unknown; result?: unknown; error?: unknown };
  const isAnswer = (result !== undefined && result !== null) || (error !== undefined && error !== null);
  return isId(id) && id !== null && !isAnswer ? id : "";
};

/** What can be told of a message that was refused before it was understood. For a log: nothing of it was checked. */
export const namesOf = (
  params: unknown,
): { session_id?: string; agent_id?: string; event_type?: string; query_type?: string } => {
  if (typeof params !== "object" || params === null) return {};
  const { session_id, agent_id, event_type, query_type } = params as Record<string, unknown>;
  return {
    ...(typeof session_id === "string" && { session_id }),
    ...(typeof agent_id === "string" && { agent_id }),
    ...(typeof event_type === "string" && { event_type }),
    ...(typeof query_type === "string" && { query_type }),
  };
};
