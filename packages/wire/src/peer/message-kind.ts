import type { RequestId } from "@harnesskit/protocol/envelope";

/** A single JSON-RPC message, told apart once; what it is decides who handles it. */
export type MessageKind = "request" | "notification" | "response" | "invalid_call" | "invalid_response";

interface Fields {
  jsonrpc?: unknown;
  id?: unknown;
  method?: unknown;
  params?: unknown;
  result?: unknown;
  error?: unknown;
}

/** A number that was rounded when it was read could not be sent back as it came, so it is none. */
const isExact = (id: number): boolean => Number.isFinite(id) && Math.abs(id) <= Number.MAX_SAFE_INTEGER;

const isId = (id: unknown): id is RequestId =>
  typeof id === "string" || (typeof id === "number" && isExact(id)) || id === null;

/**
 * What a JSON value is as a message of JSON-RPC 2.0 (sections 4 and 5). Null is as good as absent in `params`, `method` and
 * `error`, and in the `result` beside an error: many libraries write what is not there so. A `result` that is null by
 * itself is a result. Looks at each field once, allocates nothing.
 */
export const messageKind = (message: unknown): MessageKind => {
  if (typeof message !== "object" || message === null || Array.isArray(message)) return "invalid_call";
  const { jsonrpc, id, method, params, result, error } = message as Fields;
  if ((method === undefined || method === null) && (result !== undefined || error !== undefined)) {
    const hasError = error !== undefined && error !== null;
    const isOne = hasError
      ? (result === undefined || result === null) && isErrorObject(error)
      : result !== undefined;
    return jsonrpc === "2.0" && isId(id) && isOne ? "response" : "invalid_response";
  }
  if (jsonrpc !== "2.0" || typeof method !== "string") return "invalid_call";
  if (params !== undefined && typeof params !== "object") return "invalid_call";
  if (id === undefined) return "notification";
  return isId(id) ? "request" : "invalid_call";
};

const isErrorObject = (error: unknown): boolean => {
  if (typeof error !== "object" || error === null) return false;
  const { code, message } = error as { code?: unknown; message?: unknown };
  return Number.isInteger(code) && typeof message === "string";
};

/** The id that an answer to an invalid message carries: its own where it has a legal one, else null (section 5). */
export const readableId = (message: unknown): RequestId => {
  if (typeof message !== "object" || message === null) return null;
  const { id } = message as Fields;
  return isId(id) ? id : null;
};
