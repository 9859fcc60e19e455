import { ConnectionClosedError, RequestTimeoutError } from "../errors.ts";

/** The failure of a connection over which no message came, with what to check. */
export const withHint = (error: unknown, hint: string | undefined): unknown => {
  if (hint === undefined) return error;
  if (RequestTimeoutError.isInstance(error))
    return new RequestTimeoutError(error.method, error.timeoutMs, hint);
  if (!ConnectionClosedError.isInstance(error)) return error;
  return new ConnectionClosedError(`${error.message}: ${hint}`, { cause: error.cause });
};
