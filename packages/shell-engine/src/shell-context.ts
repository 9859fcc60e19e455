import type { Channel } from "@harnesskit/wire";

/** A field of a transport's context. */
export const contextField = (context: unknown, name: "principal" | "signal" | "headers"): unknown =>
  typeof context === "object" && context !== null
    ? (context as Readonly<Record<string, unknown>>)[name]
    : undefined;

/** The signal of a transport's context. */
export const signalOf = (context: unknown): AbortSignal | undefined => {
  const signal = contextField(context, "signal");
  return signal instanceof AbortSignal ? signal : undefined;
};

/** Aborts a controller when an outer signal does. Returns what ends that. */
export const followSignal = (
  controller: Pick<AbortController, "abort">,
  outer: AbortSignal | undefined,
): (() => void) => {
  if (!outer) return () => {};
  const onAbort = () => controller.abort(outer.reason);
  if (outer.aborted) onAbort();
  else outer.addEventListener("abort", onAbort, { once: true });
  return () => outer.removeEventListener("abort", onAbort);
};

/**
 * The channel's context with the channel's signal, unless it has one of its own: a shell that goes away ends its calls. An
 * object of a class stays as it is.
 */
export const contextOf = <Context>({ context, signal }: Channel<Context>): Context => {
  if (context === undefined || context === null) return { signal } as Context;
  const isPlain = typeof context === "object" && Object.getPrototypeOf(context) === Object.prototype;
  return isPlain ? { signal, ...context } : context;
};
