/** The error codes that JSON-RPC 2.0 reserves (section 5.1). */
export const JsonRpcErrorCode = {
  /** What arrived is not JSON. */
  ParseError: -32700,
  /** The JSON is not a request, notification or response of JSON-RPC 2.0. */
  InvalidRequest: -32600,
  /** The method does not exist. */
  MethodNotFound: -32601,
  /** The parameters do not fit the method. */
  InvalidParams: -32602,
  /** The server failed. */
  InternalError: -32603,
} as const;

export type JsonRpcErrorCode = (typeof JsonRpcErrorCode)[keyof typeof JsonRpcErrorCode];
