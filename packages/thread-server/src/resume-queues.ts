import { type Backoff, backoffDelayMs } from "@harnesskit/wire";
import type { ServerSettings } from "./server-settings.ts";
import type { ThreadSessions } from "./thread-sessions.ts";

/** A thread that stays locked is tried less and less often, down to once in so many times the first delay. */
const maxDelays = 12;

/**
 * Opens the threads in which prompts wait, one after the other: each goes on by itself. Those that another server writes are
 * left to it, and tried again while prompts wait there: it may have died, and its leases last for a while.
 */
export class QueueResumption {
  readonly #sessions: ThreadSessions;
  readonly #settings: ServerSettings;
  readonly #backoff: Omit<Backoff, "maxAttempts">;
  #first: Promise<void> | undefined;
  /** The latest round of the threads that were locked. */
  #round: Promise<void> = Promise.resolve();
  #stopTimer = () => {};
  #isClosed = false;

  constructor(sessions: ThreadSessions, settings: ServerSettings) {
    this.#sessions = sessions;
    this.#settings = settings;
    const { takeOverAfterMs: initialDelayMs } = settings.limits;
    const maxDelayMs = initialDelayMs * maxDelays;
    this.#backoff = { initialDelayMs, maxDelayMs, random: () => 1 };
  }

  /** Settles when each thread was tried once. Never rejects: what fails is reported, and costs no other thread. Idempotent. */
  start(): Promise<void> {
    const { store, onError } = this.#settings;
    this.#first ??= (async () => {
      const threads = (await store.list()).filter(({ queued }) => queued !== undefined);
      await this.#openAll(threads.map(({ threadId }) => threadId));
    })().catch(onError);
    return this.#first;
  }

  /** Settles when no thread is being opened; from then on none is. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopTimer();
    await this.#first;
    await this.#round;
  }

  async #openAll(threadIds: readonly string[], attempt = 1): Promise<void> {
    const locked: string[] = [];
    for (const threadId of threadIds) {
      if (this.#isClosed) return;
      if (!(await this.#open(threadId))) locked.push(threadId);
    }
    if (locked.length === 0 || this.#isClosed) return;
    this.#stopTimer = this.#settings.clock.after(backoffDelayMs(attempt, this.#backoff), () => {
      this.#round = this.#openAll(locked, attempt + 1);
    });
  }

  /** False for a thread that another server writes and in which prompts wait. Never rejects. */
  async #open(threadId: string): Promise<boolean> {
    const { store, onError } = this.#settings;
    try {
      if (await this.#sessions.takeOver(threadId)) return true;
      return (await store.get(threadId))?.queued === undefined;
    } catch (error) {
      onError(error);
      return true;
    }
  }
}
