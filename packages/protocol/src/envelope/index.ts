export { isRfc3339 } from "../rfc3339.ts";
export { JsonRpcErrorCode } from "./error-codes.ts";
export { type JsonObject, JsonObjectSchema, type JsonValue, JsonValueSchema } from "./json.ts";
export { jsonLength } from "./json-length.ts";
export {
  cleanBound,
  isPlainObject,
  type JsonProblem,
  type JsonWalked,
  type JsonWalkOptions,
  type JsonWalkResult,
  maxJsonDepth,
  maxMessageDepth,
  utf8Length,
  walkJson,
} from "./json-walk.ts";
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
