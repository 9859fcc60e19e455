import * as z from "zod";
import { tolerantObject } from "../null-as-absent.ts";
import { type JsonValue, JsonValueSchema } from "./json.ts";

/** The version string that every JSON-RPC message carries. */
export const JSON_RPC_VERSION = "2.0";

/** A request id: a string, a number or null (JSON-RPC 2.0, section 4). 0 and "" are ids like any other. */
export const RequestIdSchema = z.union([z.string(), z.number(), z.null()]);
export type RequestId = z.infer<typeof RequestIdSchema>;

/** Parameters are an array or an object, or absent (section 4.2). */
export const ParamsSchema = z.union([z.array(JsonValueSchema), z.record(z.string(), JsonValueSchema)]);
export type Params = JsonValue[] | { [key: string]: JsonValue };

/** A call that wants an answer (section 4). */
export const RequestSchema = tolerantObject({
  jsonrpc: z.literal(JSON_RPC_VERSION),
  id: RequestIdSchema,
  method: z.string(),
  params: ParamsSchema.optional(),
});
export type Request = z.infer<typeof RequestSchema>;

/** A call that wants none (section 4.1). */
export const NotificationSchema = tolerantObject({
  jsonrpc: z.literal(JSON_RPC_VERSION),
  method: z.string(),
  params: ParamsSchema.optional(),
});

/** What went wrong, for programs (`code`, `data`) and for people (`message`) (section 5.1). */
export const ErrorObjectSchema = z.object({
  code: z.int(),
  message: z.string(),
  data: JsonValueSchema.optional(),
});
export type ErrorObject = z.infer<typeof ErrorObjectSchema>;

/** The answer to a request that succeeded (section 5). */
export const SuccessResponseSchema = z.object({
  jsonrpc: z.literal(JSON_RPC_VERSION),
  id: RequestIdSchema,
  result: JsonValueSchema,
});

/** The answer to a request that failed; `id` is null where it could not be read (section 5). */
export const ErrorResponseSchema = z.object({
  jsonrpc: z.literal(JSON_RPC_VERSION),
  id: RequestIdSchema,
  error: ErrorObjectSchema,
});

/**
 * Any single message of JSON-RPC 2.0. A batch is an array of them. What has an error is an error also with `result: null`
 * beside it; `error: null` beside a result is not an error.
 */
export const MessageSchema = z.union([
  RequestSchema,
  NotificationSchema,
  ErrorResponseSchema,
  SuccessResponseSchema,
]);
