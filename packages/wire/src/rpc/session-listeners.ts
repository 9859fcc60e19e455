import { callSafely } from "../call-safely.ts";
import { HarnessError } from "../errors.ts";
import type { SessionState } from "./client-session-options.ts";

/** The listeners to the state of a client's session. A listener that throws is reported, and disturbs no other. */
export class SessionListeners {
  readonly #onError: (error: HarnessError) => void;
  readonly #added = new Set<{ readonly listener: (state: SessionState) => void }>();

  constructor(onError: (error: HarnessError) => void) {
    this.#onError = onError;
  }

  /** Adds a listener, perhaps once more; returns what removes this one. */
  add(listener: (state: SessionState) => void): () => void {
    const entry = { listener };
    this.#added.add(entry);
    return () => void this.#added.delete(entry);
  }

  notify(state: SessionState): void {
    for (const { listener } of [...this.#added]) {
      callSafely(
        () => listener(state),
        (cause) =>
          this.#onError(new HarnessError("handler_failed", "a listener of the state failed", { cause })),
      );
    }
  }
}
