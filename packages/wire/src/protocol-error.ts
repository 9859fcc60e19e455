import { JsonRpcErrorCode } from "@harnesskit/protocol/base";
import type { ErrorObject, JsonValue } from "@harnesskit/protocol/envelope";
import { HarnessError } from "./errors.ts";

const codeNames = new Map<number, string>([
  [JsonRpcErrorCode.ParseError, "parse_error"],
  [JsonRpcErrorCode.InvalidRequest, "invalid_request"],
  [JsonRpcErrorCode.MethodNotFound, "method_not_found"],
  [JsonRpcErrorCode.InvalidParams, "invalid_params"],
  [JsonRpcErrorCode.InternalError, "internal_error"],
]);

export interface ProtocolErrorOptions {
  /** Facts for programs; they cross the wire, so no path, stack or secret belongs in them. */
  readonly data?: JsonValue | undefined;
  /** The string code. @default the JSON-RPC name of `rpcCode`, else "protocol_error" */
  readonly code?: string | undefined;
  /** Kept on this side; never sent. */
  readonly cause?: unknown;
}

/** An error that crosses the wire: `rpcCode`, `message` and `data` are what the other side sees. */
export class ProtocolError extends HarnessError {
  static override readonly brand: string = "ProtocolError";
  readonly rpcCode: number;
  readonly data?: JsonValue | undefined;

  constructor(rpcCode: number, message: string, options: ProtocolErrorOptions = {}) {
    super(options.code ?? codeNames.get(rpcCode) ?? "protocol_error", message, options);
    this.rpcCode = rpcCode;
    if (options.data !== undefined) this.data = options.data;
  }

  /** The error object of a JSON-RPC response. */
  toErrorObject(): ErrorObject {
    const { rpcCode: code, message, data } = this;
    return data === undefined ? { code, message } : { code, message, data };
  }
}

/**
 * The only place where a thrown thing becomes a wire error. A {@link ProtocolError} passes; anything else becomes
 * -32603 with a sentence that gives nothing away, the thing itself kept as `cause`.
 */
export const toProtocolError = (thrown: unknown): ProtocolError =>
  ProtocolError.isInstance(thrown)
    ? thrown
    : new ProtocolError(JsonRpcErrorCode.InternalError, "Internal error", { cause: thrown });

/** -32601 for a method without a handler. */
export const methodNotFound = (method: string): ProtocolError =>
  new ProtocolError(JsonRpcErrorCode.MethodNotFound, `Method not found: ${method.slice(0, 200)}`);

/** -32602 with a reason. */
export const invalidParams = (message: string, data?: JsonValue): ProtocolError =>
  new ProtocolError(JsonRpcErrorCode.InvalidParams, message, data === undefined ? {} : { data });
