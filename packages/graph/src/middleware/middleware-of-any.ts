import type { Middleware } from "../run/context.ts";
import type { Fields, UpdateOf } from "../state/schema.ts";

/** Middleware for a node of any state. */
export type MiddlewareOfAny = <F extends Fields>(...args: Parameters<Middleware<F>>) => Promise<UpdateOf<F>>;
