import type { ErrorObject, JsonValue } from "@harnesskit/protocol/envelope";
import { type HarnessError, InvalidMessageError, ProtocolError } from "@harnesskit/wire";

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

/** An error about a reply that cannot be used. */
export const noAnswer = (what: string, cause?: unknown): HarnessError =>
  new InvalidMessageError("not_json_rpc", `the reply ${what}`, cause === undefined ? {} : { cause });

/** The result in a reply to the request `id`. Throws the harness's error, or `invalid_message`. */
export const resultOf = (reply: unknown, id: string): unknown => {
  if (reply === undefined) throw noAnswer("is missing: the request was taken as a notification");
  if (typeof reply !== "object" || reply === null) throw noAnswer("is no answer to a request");
  const { jsonrpc, id: answered, result, error } = reply as Fields;
  if (jsonrpc !== "2.0") throw noAnswer("is not JSON-RPC 2.0");
  if (answered !== id) throw noAnswer("has the id of another request");
  if (result === undefined && error === undefined) throw noAnswer("has neither a result nor an error");
  if (result !== undefined && error !== undefined) throw noAnswer("has a result and an error");
  if (error === undefined) return result;
  throw isErrorObject(error) ? toProtocolError(error) : noAnswer("has an error that is none");
};

/** What a harness says against a notification; undefined where it took it. */
export const refusalIn = (reply: unknown): HarnessError | undefined => {
  if (reply === undefined) return undefined;
  const { error } = (reply ?? {}) as Fields;
  return isErrorObject(error) ? toProtocolError(error) : noAnswer("to a notification is no refusal");
};
