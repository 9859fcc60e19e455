import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import { isObject } from "@harnesskit/wire/json";

/** The id of a request. */
export type RpcId = string | number;

/** A message of JSON-RPC 2.0, as far as a proxy has to know it. */
export type RpcMessage = JsonObject & {
  readonly id?: JsonValue;
  readonly method?: JsonValue;
  readonly params?: JsonValue;
};

/** A value as a message; undefined for anything but an object. */
export const readRpc = (value: unknown): RpcMessage | undefined =>
  isObject(value) ? (value as RpcMessage) : undefined;

/** Whether a value is an id that can be answered exactly: an integer beyond 2^53 is read as another. */
export const isRpcId = (value: unknown): value is RpcId =>
  typeof value === "string" ||
  (typeof value === "number" &&
    Number.isFinite(value) &&
    (Number.isSafeInteger(value) || !Number.isInteger(value)));

/** Tells the id 1 from the id "1". */
export const idKey = (id: unknown): string => JSON.stringify(id) ?? "";

export const objectOf = (value: unknown): JsonObject => (isObject(value) ? (value as JsonObject) : {});

export const rpcError = (id: JsonValue, code: number, message: string): RpcMessage => ({
  jsonrpc: "2.0",
  id,
  error: { code, message },
});
