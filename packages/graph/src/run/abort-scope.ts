import { createDeferred } from "@harnesskit/wire";
import { GraphError } from "../errors.ts";

/** Aborts nodes whose result is not needed any more. */
export class AbortScope {
  readonly #controller = new AbortController();
  readonly #children = new Set<AbortScope>();
  readonly #parent: AbortScope | undefined;
  /** Rejects when the scope is abandoned; only if middleware may do that, here or around. */
  readonly #abandoned: ReturnType<typeof createDeferred<never>> | undefined;

  constructor(parent?: AbortScope, canAbandon = false) {
    this.#parent = parent;
    if (canAbandon || (parent !== undefined && parent.#abandoned !== undefined)) {
      this.#abandoned = createDeferred();
      this.#abandoned.promise.catch(() => {});
    }
    if (parent === undefined) return;
    parent.#children.add(this);
    if (parent.signal.aborted) this.abort(parent.signal.reason as GraphError);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  abort(reason: GraphError): void {
    this.#controller.abort(reason);
    for (const child of this.#children) child.abort(reason);
  }

  /** Aborts it, and stops waiting for the code in it: see {@link race}. */
  abandon(reason: GraphError): void {
    this.abort(reason);
    this.#abandoned?.reject(reason);
    for (const child of this.#children) child.abandon(reason);
  }

  /** The result of code in it; rejects with the reason once the scope is abandoned, and the code is not waited for. */
  race<T>(code: () => Promise<T>): Promise<T> {
    return this.#abandoned === undefined ? code() : Promise.race([code(), this.#abandoned.promise]);
  }

  /** Throws the reason if it was aborted. */
  check(): void {
    this.signal.throwIfAborted();
  }

  /** Detaches it from the scope around it. */
  end(): void {
    if (this.#parent !== undefined) this.#parent.#children.delete(this);
  }
}

/** The error of an invocation that its caller has cancelled. */
export const cancelledBy = (reason: unknown): GraphError =>
  new GraphError("invocation_cancelled", "the invocation was cancelled", { cause: reason });

/** Calls `onAbort` when a signal aborts, immediately if it has; returns a function that stops that. */
export const onAborted = (
  signal: AbortSignal | undefined,
  onAbort: (reason: unknown) => void,
): (() => void) => {
  if (signal === undefined) return () => {};
  const abort = () => onAbort(signal.reason);
  if (signal.aborted) abort();
  else signal.addEventListener("abort", abort, { once: true });
  return () => signal.removeEventListener("abort", abort);
};
