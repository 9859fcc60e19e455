import type { Thread } from "@harnesskit/protocol/threads";
import { isLogDamaged } from "./errors.ts";
import type { ThreadSessions } from "./thread-sessions.ts";

/** The longest time between two rounds, in those between the first two. */
const maxDelays = 12;

/** True where something goes on by itself once the thread is opened. */
const hasLeftWork = ({ queued, hasOpenTurn }: Thread): boolean =>
  queued !== undefined || hasOpenTurn === true;

/**
 * Opens the threads in which prompts wait or a turn was left, one after the other: each goes on by itself. Those that another server writes are
 * left to it, and tried again while something is left there: it may have died, and its leases last for a while.
 */
export class QueueResumption {
  readonly #sessions: ThreadSessions;
  /** Threads that nothing goes on with: reported once, and their logs are not read again and again. */
  readonly #damaged = new Set<string>();
  #first: Promise<void> | undefined;
  #round: Promise<void> = Promise.resolve();
  #stopTimer = () => {};
  #isClosed = false;

  constructor(sessions: ThreadSessions) {
    this.#sessions = sessions;
  }

  /** Settles when each thread was tried once. Never rejects: what fails is reported, and costs no other thread. Idempotent. */
  start(): Promise<void> {
    this.#first ??= this.#openLeft();
    return this.#first;
  }

  /** Settles when no thread is being opened; from then on none is. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopTimer();
    await this.#first;
    await this.#round;
  }

  async #openLeft(round = 1): Promise<void> {
    const { store, clock, interruptedTurns, limits, onError } = this.#sessions.settings;
    // Where turns go on, another server may leave one at any time.
    let looksOn = interruptedTurns === "retry";
    for (const thread of (await store.list().catch(onError)) ?? []) {
      if (this.#isClosed) return;
      const { threadId } = thread;
      if (!hasLeftWork(thread) || this.#damaged.has(threadId)) continue;
      const isOpen = await this.#sessions.takeOver(threadId).catch((error: unknown) => {
        if (isLogDamaged(error)) this.#damaged.add(threadId);
        onError(error, { threadId });
      });
      if (isOpen === false) looksOn = true;
    }
    if (!looksOn || this.#isClosed) return;
    // Each round lists all threads: less and less often, as long as nothing ends it.
    this.#stopTimer = clock.after(limits.takeOverAfterMs * Math.min(2 ** (round - 1), maxDelays), () => {
      this.#round = this.#openLeft(round + 1);
    });
  }
}
