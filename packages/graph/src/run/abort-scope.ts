import { isThenable } from "@harnesskit/wire";
import { GraphError } from "../errors.ts";

/** Tells nodes that nobody waits for them. Makes an `AbortSignal` only for those who look at one. */
export class AbortScope {
  #controller: AbortController | undefined;
  #reason: GraphError | undefined;
  readonly #children = new Set<AbortScope>();
  readonly #parent: AbortScope | undefined;
  /** True where code in it may be left behind, because middleware said so for it or for what is around it. */
  #canAbandon: boolean;
  readonly #leave = new Set<(reason: GraphError) => void>();

  constructor(parent?: AbortScope, canAbandon = false) {
    this.#parent = parent;
    this.#canAbandon = canAbandon;
    if (parent === undefined) return;
    this.#canAbandon ||= parent.#canAbandon;
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

  /** Aborts it, and has no caller wait any longer for the code in it: see {@link race}. */
  abandon(reason: GraphError): void {
    this.abort(reason);
    for (const leave of this.#leave) leave(reason);
    for (const child of this.#children) child.abandon(reason);
  }

  /** What code in it gives; rejects with the reason once the scope is abandoned, and what the code does then is dropped. */
  race<T>(given: T | PromiseLike<T>): T | PromiseLike<T> {
    if (!this.#canAbandon || !isThenable(given)) return given;
    return new Promise<T>((resolve, reject) => {
      const done = () => this.#leave.delete(reject);
      this.#leave.add(reject);
      given.then(
        (value) => {
          done();
          resolve(value);
        },
        (error: unknown) => {
          done();
          reject(error);
        },
      );
    });
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

/** Calls `onAbort` when a signal is aborted, at once where it is; gives what stops listening. */
export const follow = (signal: AbortSignal | undefined, onAbort: (reason: unknown) => void): (() => void) => {
  if (signal === undefined) return () => {};
  const abort = () => onAbort(signal.reason);
  if (signal.aborted) abort();
  else signal.addEventListener("abort", abort, { once: true });
  return () => signal.removeEventListener("abort", abort);
};
