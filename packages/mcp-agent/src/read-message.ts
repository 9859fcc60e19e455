import { isObject } from "@harnesskit/wire/json";
import {
  type CallToolResult,
  isSpecType,
  type JSONRPCMessage,
  ProtocolErrorCode,
} from "@modelcontextprotocol/client";
import * as z from "zod";

/** An object without its members that are null: for an optional one it means that there is none. */
export const withoutNulls = (value: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null));

/** An error of JSON-RPC as it should be. */
export const repairedError = (error: unknown) => {
  const { code, message, data } = isObject(error) ? withoutNulls(error) : { code: undefined, message: error };
  return {
    code: Number.isSafeInteger(code) ? (code as number) : ProtocolErrorCode.InternalError,
    message: typeof message === "string" ? message : (JSON.stringify(error) ?? "it gave no reason"),
    data,
  };
};

/** What the answer to `initialize` or `server/discover` must have for the SDK, where the server left it out. */
const openingResult = ({ _meta: meta, ...result }: Readonly<Record<string, unknown>>) => {
  const capabilities = isObject(result.capabilities) ? withoutNulls(result.capabilities) : {};
  if ("supportedVersions" in result)
    return { ...result, capabilities, _meta: isObject(meta) ? meta : undefined };
  const { name = "", version = "" } = isObject(result.serverInfo) ? withoutNulls(result.serverInfo) : {};
  return { ...result, capabilities, serverInfo: { name: String(name), version: String(version) } };
};

/**
 * The SDK judges a result of 2026-07-28 as a whole, a list with each of its entries, and refuses kinds that it does not know, such
 * as tasks. It gets an empty result that carries the server's, which is judged here: see {@link carriedResult}.
 */
const carrierOf = (carried: Readonly<Record<string, unknown>>) => ({
  resultType: "complete",
  content: [],
  tools: [],
  ttlMs: 0,
  cacheScope: "private",
  carried,
});

/** The result that the server gave, of what the SDK hands over. */
export const carriedResult = (value: unknown): unknown =>
  isObject(value) && isObject(value.carried) ? value.carried : value;

const readResult = (result: Readonly<Record<string, unknown>>) => {
  if ("protocolVersion" in result || "supportedVersions" in result)
    return openingResult(withoutNulls(result));
  return Object.keys(result).length === 0 ? result : carrierOf(result);
};

const asMessage = (value: unknown): JSONRPCMessage | undefined =>
  isSpecType.JSONRPCMessage(value) ? value : undefined;

/**
 * A message of a server as the SDK of MCP takes it. An answer is kept if its id can be known, also when the rest is not quite
 * right: otherwise its call would have no end. `requestId` is of the request that the message came for, where that is known.
 * Undefined for what is not a message.
 */
export const readMessage = (value: unknown, requestId?: string | number): JSONRPCMessage | undefined => {
  if (!isObject(value)) return undefined;
  const { id: ownId, method, params, result, error } = withoutNulls(value);
  const id = ownId ?? (result === undefined && error === undefined ? undefined : requestId);
  const head = { jsonrpc: "2.0", id };
  if (method !== undefined) {
    // What is in `_meta` is for others, and a malformed one would cost the message.
    const bare = isObject(params) ? { ...withoutNulls(params), _meta: undefined } : undefined;
    return asMessage(value) ?? asMessage({ ...head, method, params: bare });
  }
  if (id === undefined) return undefined;
  if (error === undefined && isObject(result)) return asMessage({ ...head, result: readResult(result) });
  const reason = error ?? "the answer has no result that is an object";
  return asMessage({ ...head, error: repairedError(reason) });
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

/** A page of `tools/list`. Its entries are judged one by one, later: one that is wrong does not cost the others. */
export const ToolsPageSchema = z.preprocess(
  carriedResult,
  z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().nullish() }),
);

/** An item without nulls. One of a kind that is not known, or malformed, is a note of it. */
const readItem = (value: unknown): CallToolResult["content"][number] => {
  const item = isObject(value) ? withoutNulls(value) : {};
  if (isObject(item.resource)) item.resource = withoutNulls(item.resource);
  const bare: unknown = { ...item, annotations: undefined, _meta: undefined };
  if (isSpecType.ContentBlock(bare)) return bare;
  const kind = typeof item.type === "string" ? JSON.stringify(item.type.slice(0, 100)) : "no kind";
  return {
    type: "text",
    text: `[left out: content of the kind ${kind}, which is not known or is malformed]`,
  };
};

/** The result of `tools/call`: null is absent, and of servers of 2024 `toolResult` is the result. */
const ToolResultSchema = z
  .looseObject({
    content: z.array(z.unknown()).nullish(),
    structuredContent: z.record(z.string(), z.unknown()).nullish(),
    isError: z.boolean().nullish(),
    toolResult: z.unknown().optional(),
  })
  .transform(({ content, structuredContent, isError, toolResult }): CallToolResult => {
    const old = toolResult === undefined ? [] : [{ type: "text", text: oldResultText(toolResult) }];
    return {
      content: (content ?? old).map(readItem),
      structuredContent: structuredContent || undefined,
      isError: isError || undefined,
    };
  });

/** Throws a `ZodError` for what is not a result of a tool. */
export const readToolResult = (value: unknown): CallToolResult => ToolResultSchema.parse(value);

const oldResultText = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));
