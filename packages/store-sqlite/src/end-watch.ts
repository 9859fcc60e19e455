import type { SuspensionStore } from "@harnesskit/graph";
import { callSafely } from "@harnesskit/wire";
import type { StoreFile } from "./store-file.ts";
import type { SuspensionTable } from "./suspension-table.ts";

/** How listeners learn of invocations that other processes have ended: one poll for all of them, while there are any. */
export class EndWatch {
  readonly #file: StoreFile;
  readonly #suspensions: SuspensionTable;
  readonly #pollMs: number;
  readonly #listeners = new Map<symbol, { readonly sessionId: string; readonly call: () => void }>();
  #stopTimer: (() => void) | undefined;

  constructor(file: StoreFile, suspensions: SuspensionTable, pollMs: number) {
    this.#file = file;
    this.#suspensions = suspensions;
    this.#pollMs = pollMs;
  }

  readonly watch: NonNullable<SuspensionStore["watchEnds"]> = (sessionId, call) => {
    this.#file.checkOpen();
    const key = Symbol();
    this.#listeners.set(key, { sessionId, call });
    this.#wait();
    return () => void this.#listeners.delete(key);
  };

  #wait(): void {
    if (this.#listeners.size > 0)
      this.#stopTimer ??= this.#file.clock.after(this.#pollMs, () => void this.#poll());
  }

  async #poll(): Promise<void> {
    // What fails is asked again; calls of users report what is wrong.
    const none = new Set<string>();
    const found = await this.#file.readOne(() => this.#suspensions.sessionsWithEnds()).catch(() => none);
    for (const { sessionId, call } of [...this.#listeners.values()])
      if (found.has(sessionId)) callSafely(call);
    this.#stopTimer = undefined;
    this.#wait();
  }

  close(): void {
    this.#listeners.clear();
    this.#stopTimer?.();
  }
}
