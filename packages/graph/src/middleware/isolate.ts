import { callSafely } from "@harnesskit/wire";
import type { Middleware, MiddlewareContext } from "../run/context.ts";
import type { Fields, StateOf, UpdateOf } from "../state/schema.ts";
import { endsNode } from "./final-errors.ts";

export interface IsolateOptions<F extends Fields> {
  /** The update of a node that failed, or what makes it of the error and the state that the node received. */
  readonly fallback: UpdateOf<F> | ((error: unknown, state: StateOf<F>) => UpdateOf<F>);
  /** Which errors it takes; others fail the node. @default all */
  readonly isolateOn?: ((error: unknown) => boolean) | undefined;
  /** The report of what was isolated. What it throws changes nothing. @default no report */
  readonly onError?: ((error: unknown, context: MiddlewareContext) => void) | undefined;
}

/**
 * Middleware that replaces a failure by an update, so that the run continues (pipeline-utilities §6.3). Observers see the node
 * end `completed`, with that update and without an error. It never takes a suspension or a cancellation. A `fallback` that throws
 * fails the node.
 */
export const isolate =
  <F extends Fields>({
    fallback,
    isolateOn = () => true,
    onError,
  }: NoInfer<IsolateOptions<F>>): Middleware<F> =>
  async (state, next, context) => {
    try {
      return await next(state);
    } catch (error) {
      if (endsNode(error, context) || !isolateOn(error)) throw error;
      callSafely(() => onError?.(error, context));
      return typeof fallback === "function" ? fallback(error, state) : fallback;
    }
  };
