export { JsonRpcErrorCode } from "../base/error-codes.ts";
export { isRfc3339 } from "../rfc3339.ts";
export { type JsonObject, JsonObjectSchema, type JsonValue, JsonValueSchema } from "./json.ts";
export {
  type ErrorObject,
  ErrorObjectSchema,
  type ErrorResponse,
  ErrorResponseSchema,
  JSON_RPC_VERSION,
  type Message,
  MessageSchema,
  type Notification,
  NotificationSchema,
  type Params,
  ParamsSchema,
  type Request,
  type RequestId,
  RequestIdSchema,
  RequestSchema,
  type SuccessResponse,
  SuccessResponseSchema,
} from "./messages.ts";
export type { MethodDefinition, MethodTable, NotificationTable } from "./method-table.ts";
