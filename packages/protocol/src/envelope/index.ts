export { JsonRpcErrorCode } from "../base/error-codes.ts";
export { isRfc3339 } from "../rfc3339.ts";
export { type JsonObject, JsonObjectSchema, type JsonValue, JsonValueSchema } from "./json.ts";
export type { ErrorObject, Params, RequestId } from "./messages.ts";
