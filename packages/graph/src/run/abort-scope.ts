import { GraphError } from "../errors.ts";

/** Tells nodes that nobody waits for them. Makes an `AbortSignal` only for those who look at one. */
export class AbortScope {
  #controller: AbortController | undefined;
  #reason: GraphError | undefined;
  readonly #children = new Set<AbortScope>();
  readonly #parent: AbortScope | undefined;

  constructor(parent?: AbortScope) {
    this.#parent = parent;
    if (parent === undefined) return;
    parent.#children.add(this);
    this.#reason = parent.#reason;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#reason !== undefined) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  abort(reason: GraphError): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.#controller?.abort(reason);
    for (const child of this.#children) child.abort(reason);
  }

  /** Throws the reason where it was aborted. */
  check(): void {
    if (this.#reason !== undefined) throw this.#reason;
  }

  /** Nobody below is told any more. */
  end(): void {
    if (this.#parent !== undefined) this.#parent.#children.delete(this);
  }
}

/** What an invocation ends with whose caller gave it up. */
export const cancelled = (reason: unknown): GraphError =>
  new GraphError("invocation_cancelled", "the invocation was cancelled", { cause: reason });

/** Aborts the scope when a signal is; gives what stops listening. */
export const follow = (scope: AbortScope, signal: AbortSignal | undefined): (() => void) => {
  if (signal === undefined) return () => {};
  const abort = () => scope.abort(cancelled(signal.reason));
  if (signal.aborted) abort();
  else signal.addEventListener("abort", abort, { once: true });
  return () => signal.removeEventListener("abort", abort);
};
