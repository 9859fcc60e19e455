import { isObject } from "@harnesskit/wire/json";
import { ErrorCode, type JSONRPCMessage, JSONRPCMessageSchema } from "@modelcontextprotocol/sdk/types.js";

/** An object without its members that are null: for an optional one it means that there is none. */
export const withoutNulls = (value: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null));

const repairedError = (error: unknown) => {
  const { code, message, data } = isObject(error) ? withoutNulls(error) : { code: undefined, message: error };
  return {
    code: Number.isSafeInteger(code) ? code : ErrorCode.InternalError,
    message: typeof message === "string" ? message : (JSON.stringify(error) ?? "it gave no reason"),
    data,
  };
};

/** What `initialize` must have for the SDK, where the server left it out. */
const initializeResult = (result: Readonly<Record<string, unknown>>) => {
  const capabilities = isObject(result.capabilities) ? withoutNulls(result.capabilities) : {};
  const { name = "", version = "" } = isObject(result.serverInfo) ? withoutNulls(result.serverInfo) : {};
  return { ...result, capabilities, serverInfo: { name: String(name), version: String(version) } };
};

/**
 * A message of a server as the SDK of MCP takes it. An answer is kept if its id can be known, also when the rest is not quite
 * right: otherwise its call would have no end. `requestId` is of the request that the message came for, where that is known.
 * Undefined for what is no message.
 */
export const readMessage = (value: unknown, requestId?: string | number): JSONRPCMessage | undefined => {
  if (!isObject(value)) return undefined;
  const { id: ownId, method, params, result, error } = withoutNulls(value);
  const id = ownId ?? (result === undefined && error === undefined ? undefined : requestId);
  const isAnswer = method === undefined && id !== undefined;
  const isInitialized = isAnswer && isObject(result) && "protocolVersion" in result;
  const isAsItIs = id === ownId && !isInitialized && JSONRPCMessageSchema.safeParse(value).success;
  if (isAsItIs) return value as JSONRPCMessage;
  const head = { jsonrpc: "2.0", id };
  // What is in `_meta` is for others, and a malformed one would cost the message.
  const bare = (given: Readonly<Record<string, unknown>>) => ({ ...withoutNulls(given), _meta: undefined });
  const repaired =
    method !== undefined
      ? { ...head, method, params: isObject(params) ? bare(params) : undefined }
      : error !== undefined
        ? { ...head, error: repairedError(error) }
        : isObject(result)
          ? { ...head, result: bare(isInitialized ? initializeResult(result) : result) }
          : { ...head, error: repairedError("the answer has no result that is an object") };
  return isAnswer || method !== undefined ? JSONRPCMessageSchema.safeParse(repaired).data : undefined;
};

/** Whether the text is of a message, or of a batch, that has an answer. */
export const hasAnswer = (text: string): boolean => {
  try {
    const value: unknown = JSON.parse(text);
    return [value].flat().some((message) => isObject(message) && !("method" in message));
  } catch {
    return false;
  }
};

/** The text of a message, or of a batch, as the SDK takes it: as it came where that can be. */
export const readMessageText = (text: string, requestId: string | number | undefined): string => {
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\ufeff/, ""));
  } catch {
    return text;
  }
  const given: unknown[] = Array.isArray(value) ? value : [value];
  const read = given.map((entry) => readMessage(entry, requestId) ?? entry);
  if (!text.startsWith("\ufeff") && read.every((message, at) => message === given[at])) return text;
  return JSON.stringify(Array.isArray(value) ? read : read[0]);
};
