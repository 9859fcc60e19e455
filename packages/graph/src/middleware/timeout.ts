import { type Clock, InvalidArgumentError, systemClock } from "@harnesskit/wire";
import { GraphError } from "../errors.ts";
import type { MiddlewareOfAny } from "./final-errors.ts";

export interface TimeoutOptions {
  /** How long a call may take, with all middleware inside of this one, in milliseconds. More than 0. */
  readonly timeoutMs: number;
  /** Time. @default that of the system */
  readonly clock?: Clock | undefined;
}

/**
 * Middleware that fails a node with `node_timeout` when it does not end in time. The signals of the node and of all inside of it
 * are aborted. Code that does not look at its signal runs on, but it is not waited for: what it returns, saves or suspends is
 * dropped. A node that suspends in time stays suspended. Throws `invalid_argument` for a time that cannot be used.
 */
export const timeout = ({ timeoutMs, clock = systemClock }: TimeoutOptions): MiddlewareOfAny => {
  if (!(Number.isFinite(timeoutMs) && timeoutMs > 0)) {
    throw new InvalidArgumentError("timeoutMs must be a number above 0");
  }
  return async (state, next, { nodeName, namespace }) => {
    const over = new AbortController();
    const stop = clock.after(
      timeoutMs,
      () => {
        const message = `${nodeName} did not end within ${timeoutMs} ms`;
        over.abort(new GraphError("node_timeout", message, { nodeName, namespace, recoverableState: state }));
      },
      true,
    );
    try {
      return await next(state, { signal: over.signal });
    } finally {
      stop();
    }
  };
};
