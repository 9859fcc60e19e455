import { quietly } from "@harnesskit/wire";
import type { Middleware, MiddlewareContext } from "../run/context.ts";
import type { Fields, StateOf, UpdateOf } from "../state/schema.ts";
import { isFinal } from "./is-final.ts";

export interface IsolateOptions<F extends Fields> {
  /** The update of a node that failed, or what makes it of the error and the state that the node received. */
  readonly fallback: UpdateOf<F> | ((error: unknown, state: StateOf<F>) => UpdateOf<F>);
  /** Which errors it takes; others fail the node. @default all */
  readonly isolateOn?: (error: unknown) => boolean;
  /** The report of what was isolated. What it throws changes nothing. @default no report */
  readonly onError?: (error: unknown, context: MiddlewareContext) => void;
}

/**
 * Middleware that gives an update in place of a failure, so that the run goes on (pipeline-utilities §6.3). Observers see the node
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
      if (isFinal(error, context) || !isolateOn(error)) throw error;
      quietly(() => onError?.(error, context));
      return typeof fallback === "function" ? fallback(error, state) : fallback;
    }
  };
