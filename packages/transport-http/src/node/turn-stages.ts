import type { Clock } from "@harnesskit/wire";

/** Requests that are handled before those are answered, at most. */
const mostTogether = 32;
/** Requests whose handling begins before what they led to at once is waited for, at most. */
const mostAtOnce = 8;
/** How long requests may be handled before they are answered. */
const budgetMs = 4;

/**
 * The two stages of requests that came in one turn of the event loop: some are handled, one after another, then those are
 * answered, then the next come, before anything else is read. What is done in a row finds the processor's caches full of what it
 * needs, and a client of several connections is woken once and not by each answer. Where handlers block the process, each is
 * handled alone and answered before the next.
 */
export class TurnStages {
  readonly #clock: Pick<Clock, "now">;
  readonly #room: () => number;
  #arrived: (() => void)[] = [];
  #answered: (() => void)[] = [];
  #isDue = false;
  #handled = 0;
  #handledSince = 0;
  #atOnce = 1;

  /** `room` is how many more requests may be in flight. */
  constructor(clock: Pick<Clock, "now">, room: () => number) {
    this.#clock = clock;
    this.#room = room;
  }

  /** Calls `begin` once this turn has read what there is, after all that arrived before and what those led to at once. */
  handle(begin: () => void): void {
    this.#arrived.push(begin);
    this.#plan();
  }

  /** Calls `send` behind the handling that is planned, after all that was answered before. */
  answer(send: () => void): void {
    this.#answered.push(send);
    this.#plan();
  }

  #plan(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    setImmediate(this.#handleSome);
  }

  readonly #handleSome = (): void => {
    if (this.#arrived.length === 0) {
      this.#isDue = false;
      this.#answerAll();
      return;
    }
    if (this.#handled === 0) this.#handledSince = this.#clock.now();
    const some = this.#arrived.splice(0, Math.max(1, Math.min(this.#atOnce, this.#room())));
    this.#handled += some.length;
    queueMicrotask(this.#whenSettled);
    for (const begin of some) begin();
  };

  /** A tick that is asked for by a microtask comes when no microtask is left, and still before anything is read. */
  readonly #whenSettled = (): void => process.nextTick(this.#goOn);

  readonly #goOn = (): void => {
    const isLong = this.#clock.now() - this.#handledSince >= budgetMs;
    this.#atOnce = isLong ? 1 : Math.min(2 * this.#atOnce, mostAtOnce);
    if (isLong || this.#handled >= mostTogether) this.#answerAll();
    this.#handleSome();
  };

  #answerAll(): void {
    const all = this.#answered;
    this.#answered = [];
    this.#handled = 0;
    for (const send of all) send();
  }
}
