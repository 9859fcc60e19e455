import { errorCategory } from "../errors.ts";
import type { MiddlewareContext } from "../run/context.ts";
import { isSuspension } from "../run/pause.ts";

const final = new Set<string | null>([
  "invocation_cancelled",
  "node_cancelled",
  "suspension_in_unsupported_context",
  "step_limit_reached",
]);

/** True for an error that ends the node whatever middleware does: a suspension, a refused one, a cancellation, too many steps. */
export const isFinal = (error: unknown, { signal }: MiddlewareContext): boolean =>
  signal.aborted || isSuspension(error) || final.has(errorCategory(error));
