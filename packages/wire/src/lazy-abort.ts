/** An abort whose signal is created when it is first read: in Node, a signal with a listener costs more than a small message. */
export class LazyAbort {
  #controller: AbortController | undefined;
  #reason: unknown;
  isAborted = false;

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.isAborted) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  /** The first reason stays. */
  abort(reason?: unknown): void {
    if (this.isAborted) return;
    this.isAborted = true;
    this.#reason = reason;
    this.#controller?.abort(reason);
  }
}
