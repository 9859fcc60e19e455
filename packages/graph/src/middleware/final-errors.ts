import { errorCategory } from "../errors.ts";
import type { Middleware, MiddlewareContext } from "../run/context.ts";
import { isSuspension } from "../run/pause.ts";
import type { Fields, UpdateOf } from "../state/schema.ts";

/** Middleware for a node of any state. */
export type MiddlewareOfAny = <F extends Fields>(...args: Parameters<Middleware<F>>) => Promise<UpdateOf<F>>;

const final = new Set<string | null>([
  "invocation_cancelled",
  "node_cancelled",
  "suspension_in_unsupported_context",
  "step_limit_reached",
]);

/** True for an error that ends the node whatever middleware does: a suspension, a cancellation, too many steps. */
export const endsNode = (error: unknown, { signal }: MiddlewareContext): boolean =>
  signal.aborted || isSuspension(error) || final.has(errorCategory(error));
