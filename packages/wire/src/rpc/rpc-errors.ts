import { JsonRpcErrorCode } from "@harnesskit/protocol/base";
import type { ErrorObject } from "@harnesskit/protocol/envelope";
import type { FrameTooLargeError, HarnessError, InvalidMessageError } from "../errors.ts";
import { methodNotFound, ProtocolError, toProtocolError } from "../protocol-error.ts";
import type { Reply, RpcReply } from "./message.ts";
import type { Call } from "./rpc-method.ts";

/** How a protocol words the errors that the dispatcher makes. Each has a default. */
export interface RpcErrors<Context = unknown> {
  /** The message is not JSON-RPC, or its params are neither object nor array. @default -32600 */
  notJsonRpc(): ProtocolError;
  /** An array of messages that is empty or too long. @default -32600 */
  badBatch(length: number, maxBatchSize: number): ProtocolError;
  /** @default -32601 */
  unknownMethod(method: string): ProtocolError;
  /** `limits.maxPending` is reached. @default -32603, `overloaded` */
  overloaded(): ProtocolError;
  /** What arrived is not a message; undefined sends no answer. @default -32700, or -32600 for a size or depth limit */
  malformed(error: HarnessError): ProtocolError | undefined;
  /** A handler threw, or returned what has no JSON. @default the `ProtocolError` itself, else -32603 */
  failed(cause: unknown, call: Call<Context>): ProtocolError;
  /**
   * A call was aborted: undefined leaves its answer to its handler, which sees the signal.
   * @default -32603 `timeout` after the deadline, else undefined
   */
  aborted(reason: HarnessError, call: Call<Context>): ProtocolError | undefined;
  /**
   * A result cannot be sent: it does not fit in a message, or has no JSON. Undefined is the default.
   * @default -32603, `result_too_large` where that is the cause
   */
  unsendable(error: HarnessError, method: string | undefined): ProtocolError | undefined;
}

const requestError = (message: string, data: { [key: string]: string | number }): ProtocolError =>
  new ProtocolError(JsonRpcErrorCode.InvalidRequest, message, { data });

const internalError = (message: string, data: { [key: string]: string | number }): ProtocolError =>
  new ProtocolError(JsonRpcErrorCode.InternalError, message, { data });

// Errors are recognised by code, because the channel may come from another copy of this package.
export const exceedsFrame = (error: HarnessError): error is FrameTooLargeError =>
  error.code === "frame_too_large";
const isNoMessage = (error: HarnessError): error is InvalidMessageError => error.code === "invalid_message";

export const duplicateId = (): ProtocolError =>
  requestError("A request with this id is being handled", { reason: "duplicate_id" });

/** The wording of plain JSON-RPC 2.0. */
export const defaultRpcErrors: RpcErrors = {
  notJsonRpc: () => requestError("Not a valid JSON-RPC 2.0 request", { reason: "not_json_rpc" }),
  badBatch: (length, maxBatchSize) =>
    length === 0
      ? requestError("The batch is empty", { reason: "empty_batch" })
      : requestError(`The batch holds more than ${maxBatchSize} messages`, {
          reason: "batch_too_large",
          maxBatchSize,
        }),
  unknownMethod: methodNotFound,
  overloaded: () => internalError("Too many requests are being handled", { reason: "overloaded" }),
  malformed: (error) => {
    if (exceedsFrame(error)) {
      const { maxFrameBytes } = error;
      return requestError("The message is too large", { reason: "message_too_large", maxFrameBytes });
    }
    if (!isNoMessage(error)) return undefined;
    const { reason } = error;
    if (reason === "too_deep") return requestError("The message nests too deeply", { reason });
    return new ProtocolError(JsonRpcErrorCode.ParseError, "Parse error", { data: { reason } });
  },
  failed: toProtocolError,
  aborted: (reason) =>
    reason.code === "request_timeout"
      ? internalError("The request took too long", { reason: "timeout" })
      : undefined,
  unsendable: (error) =>
    exceedsFrame(error)
      ? internalError("The result exceeds the message limit", {
          reason: "result_too_large",
          maxFrameBytes: error.maxFrameBytes,
        })
      : undefined,
};

/** An error that the other side answered with. */
export const toReceivedError = ({ code, message, data }: ErrorObject): ProtocolError =>
  new ProtocolError(code, message, { data });

/**
 * The answer in place of one that cannot be sent; undefined if no other answer can help. Of a batch every result is replaced: one
 * has no JSON, or they are together too large.
 */
export const replaceUnsendable = <Context>(
  reply: RpcReply,
  error: HarnessError,
  method: string | undefined,
  errors: RpcErrors<Context>,
  report: (error: unknown, call: Pick<Call<Context>, "id" | "method">) => void,
): RpcReply | undefined => {
  const isBatch = !("jsonrpc" in reply);
  const name = isBatch ? "batch" : method;
  const call = { id: isBatch ? undefined : reply.id, method: name ?? "" };
  const plain = toProtocolError(error).toErrorObject();
  if (!isBatch && "error" in reply) {
    const { code, message, data } = reply.error;
    if (code === plain.code && message === plain.message && data === plain.data) return undefined;
    report(error, call);
    return { jsonrpc: "2.0", id: reply.id, error: plain };
  }
  if (isBatch && reply.every((each) => "error" in each)) return undefined;
  const worded = errors.unsendable(error, name) ?? defaultRpcErrors.unsendable(error, name);
  if (!worded) report(error, call);
  const replace = (each: Reply): Reply =>
    "error" in each ? each : { jsonrpc: "2.0", id: each.id, error: worded?.toErrorObject() ?? plain };
  return isBatch ? reply.map(replace) : replace(reply);
};
