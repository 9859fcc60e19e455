import type { ErrorObject, JsonValue, Params, RequestId } from "@harnesskit/protocol/envelope";

/** A request, or a notification where the id is undefined. */
export interface CallMessage {
  readonly id?: RequestId | undefined;
  readonly method: string;
  readonly params?: Params | null;
}

/** A response as it arrived. */
export interface ResponseMessage {
  readonly id: RequestId;
  readonly result?: JsonValue;
  readonly error?: ErrorObject | null;
}

/** A response with a result. */
export interface ResultReply {
  readonly jsonrpc: "2.0";
  readonly id: RequestId;
  readonly result: unknown;
}

/** A response with an error. */
export interface ErrorReply {
  readonly jsonrpc: "2.0";
  readonly id: RequestId;
  readonly error: ErrorObject;
}

/** A response. */
export type Reply = ResultReply | ErrorReply;

/** What answers one message: a response, or the responses to a batch. */
export type RpcReply = Reply | readonly Reply[];

/** What a single JSON-RPC message is. */
export type MessageKind = "request" | "notification" | "response" | "invalid_call" | "invalid_response";

interface Fields {
  jsonrpc?: unknown;
  id?: unknown;
  method?: unknown;
  result?: unknown;
  error?: unknown;
}

/** A number that was rounded when it was read could not be sent back as it came. */
const isExactId = (id: number): boolean => Number.isFinite(id) && Math.abs(id) <= Number.MAX_SAFE_INTEGER;

const isRequestId = (id: unknown): id is RequestId =>
  typeof id === "string" || (typeof id === "number" && isExactId(id)) || id === null;

/** Whether a message means to answer a request, be it valid or not: it has a result or an error, and no method. */
export const isAnswer = (message: unknown): boolean => {
  if (typeof message !== "object" || message === null) return false;
  const { method, result, error } = message as Fields;
  return (method === undefined || method === null) && (result !== undefined || error !== undefined);
};

/**
 * Classifies a JSON value as a message of JSON-RPC 2.0 (sections 4 and 5). Null counts as absent in `method` and `error`,
 * and in the `result` beside an error, because many libraries write absent fields so. A `result` that is null by itself is
 * a result. The kind of the `params` is not checked here.
 */
export const messageKind = (message: unknown): MessageKind => {
  if (typeof message !== "object" || message === null || Array.isArray(message)) return "invalid_call";
  const { jsonrpc, id, method, result, error } = message as Fields;
  if (isAnswer(message)) {
    const hasError = error !== undefined && error !== null;
    const isOne = hasError
      ? (result === undefined || result === null) && isErrorObject(error)
      : result !== undefined;
    return jsonrpc === "2.0" && isRequestId(id) && isOne ? "response" : "invalid_response";
  }
  if (jsonrpc !== "2.0" || typeof method !== "string") return "invalid_call";
  if (id === undefined) return "notification";
  return isRequestId(id) ? "request" : "invalid_call";
};

/** Whether a message is a valid request or notification. */
export const isCall = (message: unknown): boolean => {
  const kind = messageKind(message);
  return kind === "request" || kind === "notification";
};

const isErrorObject = (error: unknown): boolean => {
  if (typeof error !== "object" || error === null) return false;
  const { code, message } = error as { code?: unknown; message?: unknown };
  return Number.isInteger(code) && typeof message === "string";
};

/** The id that the response to an invalid message carries: its own if it is valid, else null (section 5). */
export const readableId = (message: unknown): RequestId => {
  if (typeof message !== "object" || message === null) return null;
  const { id } = message as Fields;
  return isRequestId(id) ? id : null;
};
