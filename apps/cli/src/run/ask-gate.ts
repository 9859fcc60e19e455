import { createDeferred, type Deferred } from "@harnesskit/wire";

/** Lets questions be put while their answers can be delivered. Open at first. */
export class AskGate {
  #closing = new AbortController();
  #opening: Deferred<void> | undefined;

  /** Aborts when the gate closes; another one each time that it has opened. */
  get signal(): AbortSignal {
    return this.#closing.signal;
  }

  /** Settles when the gate is open, or the signal aborts. */
  async opened(signal: AbortSignal): Promise<void> {
    if (!this.#opening || signal.aborted) return;
    const aborted = createDeferred<void>();
    const onAbort = () => aborted.resolve();
    signal.addEventListener("abort", onAbort, { once: true });
    await Promise.race([this.#opening.promise, aborted.promise]);
    signal.removeEventListener("abort", onAbort);
  }

  close(): void {
    this.#opening ??= createDeferred<void>();
    this.#closing.abort();
  }

  open(): void {
    if (!this.#opening) return;
    this.#closing = new AbortController();
    this.#opening.resolve();
    this.#opening = undefined;
  }
}
