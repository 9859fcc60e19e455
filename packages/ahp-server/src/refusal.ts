import type { AuditOutcome } from "@harnesskit/audit";
import { AhpErrorCode } from "@harnesskit/protocol/ahp";
import {
  type ErrorObject,
  type JsonObject,
  JsonRpcErrorCode,
  type RequestId,
} from "@harnesskit/protocol/envelope";
import { type FrameTooLargeError, HarnessError, type InvalidMessageError } from "@harnesskit/wire";
import { HandlerError } from "./handler-error.ts";

/** The reasons in `data.reason` of an error; a {@link HandlerError} brings its own. */
export type RefusalReason =
  | "not_json"
  | "not_utf8"
  | "incomplete"
  | "too_deep"
  | "message_too_large"
  | "batch_of_messages"
  | "not_json_rpc"
  | "duplicate_id"
  | "handshake_required"
  | "unknown_method"
  | "invalid_params"
  | "id_too_long"
  | "handshake_too_long"
  | "request_expected"
  | "notification_expected"
  | "depth_exceeded"
  | "invalid_payload"
  | "snapshot_too_large"
  | "batch_too_large"
  | "not_batchable"
  | "unsupported_version"
  | "handler_failed"
  | "invalid_decision"
  | "not_supported"
  | "timeout"
  | "cancelled"
  | "overloaded"
  | "result_too_large"
  | "server_closed"
  | "internal";

/** Why a message is refused. No error class: nobody throws it, and it costs no stack. */
export class Refusal {
  readonly code: number;
  readonly message: string;
  readonly reason: string;
  readonly data: JsonObject | undefined;

  constructor(code: number, message: string, reason: string, data?: JsonObject) {
    this.code = code;
    this.message = message;
    this.reason = reason;
    this.data = data;
  }

  /** The error object of the response. */
  toErrorObject(): ErrorObject {
    return { code: this.code, message: this.message, data: { reason: this.reason, ...this.data } };
  }

  /** What an audit calls it. */
  get outcome(): AuditOutcome {
    return outcomes.get(this.reason) ?? (this.code === JsonRpcErrorCode.InternalError ? "failed" : "refused");
  }
}

const outcomes = new Map<string, AuditOutcome>([
  ["timeout", "timeout"],
  ["cancelled", "cancelled"],
  ["overloaded", "limited"],
  ["result_too_large", "limited"],
  ["message_too_large", "limited"],
  ["batch_too_large", "limited"],
  ["depth_exceeded", "limited"],
  ["snapshot_too_large", "limited"],
  ["id_too_long", "limited"],
  ["handshake_too_long", "limited"],
]);

/** A response with an error. */
export interface ErrorReply {
  readonly jsonrpc: "2.0";
  readonly id: RequestId;
  readonly error: ReturnType<Refusal["toErrorObject"]>;
}

export const errorReply = (id: RequestId, refusal: Refusal): ErrorReply => ({
  jsonrpc: "2.0",
  id,
  error: refusal.toErrorObject(),
});

/** -32602 */
export const invalidParams = (reason: RefusalReason, message: string, data?: JsonObject): Refusal =>
  new Refusal(JsonRpcErrorCode.InvalidParams, message, reason, data);

/** -32600 */
export const invalidRequest = (reason: RefusalReason, message: string, data?: JsonObject): Refusal =>
  new Refusal(JsonRpcErrorCode.InvalidRequest, message, reason, data);

/** -32603, "Handler error: " and the text. */
export const handlerFailure = (reason: string, message: string, data?: JsonObject): Refusal =>
  new Refusal(JsonRpcErrorCode.InternalError, `Handler error: ${message}`, reason, data);

/** -32601 */
export const unknownMethod = (method: string): Refusal =>
  new Refusal(
    JsonRpcErrorCode.MethodNotFound,
    `Method not found: ${method.slice(0, 200)}`,
    "unknown_method" satisfies RefusalReason,
  );

/** -32000 */
export const unsupportedVersion = (): Refusal =>
  new Refusal(
    AhpErrorCode.UnsupportedVersion,
    "Unsupported protocol version: this harness speaks 2",
    "unsupported_version" satisfies RefusalReason,
  );

export const handshakeRequired = (): Refusal =>
  invalidRequest(
    "handshake_required",
    "A handshake has to come first: call ahp/handshake, then send this again (a harness that was restarted has forgotten the former ones)",
  );

/** What a handler threw: only a {@link HandlerError} is passed on. */
export const toHandlerFailure = (thrown: unknown): Refusal =>
  HandlerError.isInstance(thrown)
    ? handlerFailure(thrown.code, thrown.message.slice(0, 1000))
    : handlerFailure("handler_failed", "the handler failed");

/** What arrived is no message: what the channel, or the reader of a body, found. */
export const toFaultRefusal = (error: HarnessError): Refusal | undefined => {
  if (isTooLarge(error)) {
    return invalidRequest("message_too_large", "The message is too large", {
      max_frame_bytes: error.maxFrameBytes,
    });
  }
  if (!isNoMessage(error)) return undefined;
  if (error.reason === "too_deep") return invalidRequest("too_deep", "The message nests too deeply");
  const reason = error.reason === "not_utf8" || error.reason === "incomplete" ? error.reason : "not_json";
  return new Refusal(JsonRpcErrorCode.ParseError, "Parse error", reason);
};

// By code, because the channel may come from another copy of the package.
export const isTooLarge = (error: unknown): error is FrameTooLargeError =>
  HarnessError.isInstance(error) && error.code === "frame_too_large";
const isNoMessage = (error: HarnessError): error is InvalidMessageError => error.code === "invalid_message";
