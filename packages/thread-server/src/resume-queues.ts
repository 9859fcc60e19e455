import type { Thread } from "@harnesskit/protocol/threads";
import { type Backoff, backoffDelayMs } from "@harnesskit/wire";
import type { ThreadSessions } from "./thread-sessions.ts";

/** A thread that stays locked is tried less and less often, down to once in so many times the first delay. */
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
  readonly #backoff: Omit<Backoff, "maxAttempts">;
  #first: Promise<void> | undefined;
  /** The latest round of the threads that were locked. */
  #round: Promise<void> = Promise.resolve();
  #stopTimer = () => {};
  #isClosed = false;

  constructor(sessions: ThreadSessions) {
    this.#sessions = sessions;
    const { takeOverAfterMs: initialDelayMs } = sessions.settings.limits;
    this.#backoff = { initialDelayMs, maxDelayMs: initialDelayMs * maxDelays, random: () => 1 };
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

  async #openLeft(attempt = 1, known?: readonly string[]): Promise<void> {
    const { store, clock, interruptedTurns, onError } = this.#sessions.settings;
    const threads = known ? [] : await store.list().catch((error: unknown) => onError(error));
    const left = known ?? (threads ?? []).filter(hasLeftWork).map(({ threadId }) => threadId);
    const locked: string[] = [];
    for (const threadId of left) {
      if (this.#isClosed) return;
      if (!(await this.#open(threadId))) locked.push(threadId);
    }
    // Where turns go on, another server may leave one at any time.
    const looksOn = interruptedTurns === "retry";
    if ((locked.length === 0 && !looksOn) || this.#isClosed) return;
    this.#stopTimer = clock.after(backoffDelayMs(attempt, this.#backoff), () => {
      this.#round = this.#openLeft(attempt + 1, looksOn ? undefined : locked);
    });
  }

  /** False for a thread that another server writes and in which prompts wait. Never rejects. */
  async #open(threadId: string): Promise<boolean> {
    const { store, onError } = this.#sessions.settings;
    try {
      if (await this.#sessions.takeOver(threadId)) return true;
      const thread = await store.get(threadId);
      return thread === undefined || !hasLeftWork(thread);
    } catch (error) {
      onError(error);
      return true;
    }
  }
}
