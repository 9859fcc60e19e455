import { AsyncLocalStorage } from "node:async_hooks";

interface Context {
  readonly traceparent: string;
  readonly tracestate?: string;
}

interface Begun {
  readonly operation: string;
  readonly parent: Context | undefined;
  readonly context: Context;
}

/** The id of a trace, from what travels with a message. */
export const traceIdOf = (context: unknown): string | undefined =>
  (context as Partial<Context> | undefined)?.traceparent?.split("-")[1];

/** For `setTracer` of `@harnesskit/wire/trace`: notes each operation that begins. A trace has the id of what it belongs to. */
export const recordingTracer = () => {
  const active = new AsyncLocalStorage<Context>();
  const begun: Begun[] = [];
  const within = <T>(context: Context, work: () => T): T => active.run(context, work);
  const start = (operation: string, _details: unknown, options: { readonly parent?: Context } = {}) => {
    const parent = options.parent ?? active.getStore();
    const number = String(begun.length + 1);
    const traceId = traceIdOf(parent) ?? number.padStart(32, "0");
    const context = { ...parent, traceparent: `00-${traceId}-${number.padStart(16, "0")}-01` };
    begun.push({ operation, parent, context });
    const run = <T>(work: () => T): T => within(context, work);
    return { context, run, set() {}, link() {}, end() {} };
  };
  return { begun, start, active: () => active.getStore(), within };
};
