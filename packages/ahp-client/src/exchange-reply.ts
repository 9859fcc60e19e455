import type { ErrorObject, JsonValue } from "@harnesskit/protocol/envelope";
import { HarnessError, InvalidMessageError, ProtocolError } from "@harnesskit/wire";

interface Fields {
  readonly jsonrpc?: unknown;
  readonly id?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

const isErrorObject = (value: unknown): value is ErrorObject => {
  if (typeof value !== "object" || value === null) return false;
  const { code, message } = value as { code?: unknown; message?: unknown };
  return Number.isInteger(code) && typeof message === "string";
};

const toProtocolError = ({ code, message, data }: ErrorObject): ProtocolError =>
  new ProtocolError(code, message, data === undefined ? {} : { data: data as JsonValue });

/** Null is read as absent. */
const isAbsent = (value: unknown): boolean => value === undefined || value === null;

/** What is wrong with the id of a reply: its type and value, beside those of the request. */
const idText = (answered: unknown, id: string): string => {
  const shown = JSON.stringify(answered)?.slice(0, 64) ?? "none";
  if (isAbsent(answered)) return `has no id, and the request's is ${JSON.stringify(id)}`;
  return `has the ${typeof answered} ${shown} as its id, and the request's is the string ${JSON.stringify(id)}`;
};

/** An error about a reply that cannot be used. */
export const noAnswer = (what: string, cause?: unknown): HarnessError =>
  new InvalidMessageError("not_json_rpc", `the reply ${what}`, cause === undefined ? {} : { cause });

/** The result in a reply to the request `id`. Throws the harness's error, or `invalid_message`. */
export const resultOf = (reply: unknown, id: string): unknown => {
  if (reply === undefined) throw noAnswer("is missing: the request was taken as a notification");
  if (typeof reply !== "object" || reply === null) throw noAnswer("is no answer to a request");
  const { jsonrpc, id: answered, result, error } = reply as Fields;
  if (jsonrpc !== "2.0") throw noAnswer("is not JSON-RPC 2.0");
  if (answered !== id) throw noAnswer(idText(answered, id));
  if (isAbsent(error)) {
    if (result === undefined) throw noAnswer("has neither a result nor an error");
    return result;
  }
  if (!isAbsent(result)) throw noAnswer("has a result and an error");
  throw isErrorObject(error) ? toProtocolError(error) : noAnswer("has an error that is none");
};

/**
 * What a harness says against a notification: an error. Undefined where it took it, whatever else it answers: the reference's
 * servers answer with a body.
 */
export const refusalIn = (reply: unknown): HarnessError | undefined => {
  const { error } = (reply ?? {}) as Fields;
  return isErrorObject(error) ? toProtocolError(error) : undefined;
};

/** Whether a notification was answered with something that cannot be read: the harness has it. */
export const isUnreadableReply = (thrown: unknown): boolean =>
  HarnessError.isInstance(thrown) && unreadable.has(thrown.code);

const unreadable: ReadonlySet<string> = new Set(["wrong_content_type", "invalid_message"]);
