import type { AuditOutcome } from "@harnesskit/audit";
import { AhpErrorCode } from "@harnesskit/protocol/ahp";
import { type JsonObject, JsonRpcErrorCode } from "@harnesskit/protocol/envelope";
import {
  FrameTooLargeError,
  HarnessError,
  InvalidMessageError,
  ProtocolError,
  RequestTimeoutError,
} from "@harnesskit/wire";
import type { RpcErrors } from "@harnesskit/wire/rpc";

/** `handler_failed` where you set no code, `not_supported` for an event that you do not judge, or your own. */
export type HandlerErrorCode = "handler_failed" | "not_supported" | (string & {});

/**
 * A failure whose message is meant for the agent: it is answered with -32603, "Handler error: " and this message, and
 * `code` is `data.reason`. Whatever else a handler throws is answered without its message. Neither a path nor a secret
 * belongs in it.
 */
export class HandlerError extends HarnessError<HandlerErrorCode> {
  static override readonly brand = "HandlerError";
  declare readonly name: "HandlerError";

  constructor(message: string, options: { readonly code?: HandlerErrorCode; readonly cause?: unknown } = {}) {
    const { code = "handler_failed", cause } = options;
    super(code, message, { cause });
  }
}

/** An error with its `data.reason`; a {@link HandlerError} brings its own. */
const toRefusal = (code: number, reason: string, message: string, data?: JsonObject, cause?: unknown) =>
  new ProtocolError(code, message, { data: { reason, ...data }, cause });

/** -32602 */
export const invalidParams = (reason: string, message: string, data?: JsonObject): ProtocolError =>
  toRefusal(JsonRpcErrorCode.InvalidParams, reason, message, data);

/** -32600 */
export const invalidRequestError = (reason: string, message: string, data?: JsonObject): ProtocolError =>
  toRefusal(JsonRpcErrorCode.InvalidRequest, reason, message, data);

/** -32603, "Handler error: " and the message. */
export const handlerFailure = (
  reason: string,
  message: string,
  data?: JsonObject,
  cause?: unknown,
): ProtocolError =>
  toRefusal(JsonRpcErrorCode.InternalError, reason, `Handler error: ${message}`, data, cause);

/** -32601 */
export const unknownMethod = (method: string): ProtocolError =>
  toRefusal(JsonRpcErrorCode.MethodNotFound, "unknown_method", `Method not found: ${method.slice(0, 200)}`);

/** -32000 */
export const unsupportedVersion = (): ProtocolError =>
  toRefusal(
    AhpErrorCode.UnsupportedVersion,
    "unsupported_version",
    "Unsupported protocol version: this harness supports version 2",
  );

export const handshakeRequired = (): ProtocolError =>
  invalidRequestError(
    "handshake_required",
    "A handshake must come first: call ahp/handshake, then send this again (a harness forgets handshakes when it restarts)",
  );

/** What a handler threw: only a {@link HandlerError} is passed on. */
export const toHandlerFailure = (thrown: unknown): ProtocolError =>
  HandlerError.isInstance(thrown)
    ? handlerFailure(thrown.code, thrown.message.slice(0, 1000), undefined, thrown)
    : handlerFailure("handler_failed", "the handler failed", undefined, thrown);

/** Why a call ended without its handler: its time is over, or nothing waits for the decision. */
export const toAbortRefusal = (reason: unknown): ProtocolError => {
  if (!RequestTimeoutError.isInstance(reason)) {
    return handlerFailure("cancelled", "the decision is not needed any more");
  }
  const { timeoutMs } = reason;
  return handlerFailure("timeout", `there was no decision within ${timeoutMs} ms`, { timeout_ms: timeoutMs });
};

/** `data.reason`. */
export const refusalReasonOf = ({ data, code }: ProtocolError): string =>
  String((data as JsonObject | undefined)?.reason ?? code);

const outcomes = new Map<string, AuditOutcome>([
  ["timeout", "timeout"],
  ["cancelled", "cancelled"],
  ["overloaded", "limited"],
  ["audit_full", "limited"],
  ["result_too_large", "limited"],
  ["message_too_large", "limited"],
  ["batch_too_large", "limited"],
  ["depth_exceeded", "limited"],
  ["snapshot_too_large", "limited"],
  ["id_too_long", "limited"],
  ["handshake_too_long", "limited"],
]);

/** What an audit calls a refusal. */
export const auditOutcomeOf = (error: ProtocolError): AuditOutcome =>
  outcomes.get(refusalReasonOf(error)) ??
  (error.rpcCode === JsonRpcErrorCode.InternalError ? "failed" : "refused");

/** How AHP words what the dispatcher refuses. */
export const ahpErrors: Partial<RpcErrors> = {
  notJsonRpc: () => invalidRequestError("not_json_rpc", "Not a request or notification of JSON-RPC 2.0"),
  badBatch: () =>
    invalidRequestError("batch_of_messages", "Arrays of messages are not accepted: use ahp/batch"),
  unknownMethod,
  overloaded: () => handlerFailure("overloaded", "too many messages are being handled"),
  malformed: (error) => {
    if (FrameTooLargeError.isInstance(error)) {
      const data = { max_frame_bytes: error.maxFrameBytes };
      return invalidRequestError("message_too_large", "The message is too large", data);
    }
    if (!InvalidMessageError.isInstance(error)) return undefined;
    if (error.reason === "too_deep") return invalidRequestError("too_deep", "The message nests too deeply");
    const reason = error.reason === "not_utf8" || error.reason === "incomplete" ? error.reason : "not_json";
    return toRefusal(JsonRpcErrorCode.ParseError, reason, "Parse error");
  },
  failed: (cause) =>
    ProtocolError.isInstance(cause)
      ? cause
      : handlerFailure("internal", "the harness failed", undefined, cause),
  // A batch that is given up still says what was decided.
  aborted: (reason, { method }) => (method === "ahp/batch" ? undefined : toAbortRefusal(reason)),
  unsendable: () => handlerFailure("result_too_large", "the answer is larger than a message may be"),
};
