import type { OperationName, Operations, StartOptions, TracedOperation, Tracer } from "./operations.ts";
import { readTraceContext, type TraceContext } from "./trace-context.ts";

/** On the global object, so that every copy of this module in a process, bundled or not, has the same. */
const key = Symbol.for("harnesskit.tracer.1");
const slot = globalThis as { [key]?: Tracer | undefined };

/** The tracer of this process; undefined where nothing observes. */
export const currentTracer = (): Tracer | undefined => slot[key];

/** Has all roles of this process report to a tracer, from now on; undefined: to none. Returns the one before. */
export const setTracer = (tracer: Tracer | undefined): Tracer | undefined => {
  const before = slot[key];
  slot[key] = tracer;
  return before;
};

/** The context of the operation that is active here, for a message or a record. Undefined where nothing observes. */
export const activeTrace = (): TraceContext | undefined => slot[key]?.active();

/**
 * Does work as an operation, which ends when the work has. Without a tracer, only the work is done: `details` and `options` are not
 * called, and `work` gets undefined.
 */
export const traced = <K extends OperationName, T>(
  operation: K,
  details: () => Operations[K],
  work: (traced?: TracedOperation<K>) => Promise<T>,
  options?: () => StartOptions,
): Promise<T> => {
  const tracer = slot[key];
  if (tracer === undefined) return work();
  const begun = tracer.start(operation, details(), options?.());
  return begun.run(async () => {
    try {
      const result = await work(begun);
      begun.end();
      return result;
    } catch (error) {
      begun.end(error);
      throw error;
    }
  });
};

/** Runs work as a part of what a peer's `_meta`, `metadata` or headers name; as it is, where these name nothing or nothing observes. */
export const inTrace = <T>(carrier: unknown, work: () => T): T => {
  const tracer = slot[key];
  const context = tracer && readTraceContext(carrier);
  return tracer === undefined || context === undefined ? work() : tracer.within(context, work);
};

/** Runs work as a part of what the `_meta` of a request's params names; see {@link withTraceMeta}. */
export const inTraceMeta = <T>(params: unknown, work: () => T): T =>
  slot[key] === undefined || typeof params !== "object" || params === null
    ? work()
    : inTrace((params as { readonly _meta?: unknown })._meta, work);

/**
 * The params of a request, with the active operation as `_meta.traceparent` and `_meta.tracestate`, as MCP has them. The params
 * themselves where nothing is active.
 */
export const withTraceMeta = <T extends object>(params: T): T => {
  const context = activeTrace();
  if (context === undefined) return params;
  const { _meta: meta } = params as { readonly _meta?: object };
  return { ...params, _meta: { ...meta, ...context } };
};

/** Runs work within an operation, where there is one. */
export const inOperation = <T>(begun: Pick<TracedOperation, "run"> | undefined, work: () => T): T =>
  begun === undefined ? work() : begun.run(work);
