import type { Clock } from "@harnesskit/wire";

/** Requests that go through a stage together, at most. */
const mostTogether = 32;
/** How long handling those may take before fewer go together. */
const budgetMs = 4;

/**
 * The two stages of requests that came in one turn of the event loop: some are handled, then those are answered, then the next
 * come. One after another find the processor's caches full of what they need, and a client of several connections is woken once
 * and not by each answer. Where handlers are slow, fewer go together, down to each alone: a quick answer waits for others no
 * longer than some milliseconds.
 */
export class TurnStages {
  readonly #clock: Pick<Clock, "now">;
  #arrived: (() => void)[] = [];
  #answered: (() => void)[] = [];
  #together = mostTogether / 4;
  #isDue = false;
  #fullSince: number | undefined;

  constructor(clock: Pick<Clock, "now">) {
    this.#clock = clock;
  }

  /** Calls `begin` once this turn has read what there is, after all that arrived before. */
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
    // What the first has begun and what follows at once has run before the second is called.
    setImmediate(() => this.#handleSome());
    setImmediate(() => this.#answerAll());
  }

  #handleSome(): void {
    const some = this.#arrived.splice(0, this.#together);
    this.#fullSince = some.length === this.#together ? this.#clock.now() : undefined;
    for (const begin of some) begin();
  }

  #answerAll(): void {
    const all = this.#answered;
    this.#answered = [];
    this.#isDue = false;
    this.#adapt();
    if (this.#arrived.length > 0) this.#plan();
    for (const send of all) send();
  }

  /** Only a full stage says how long one of that size takes. */
  #adapt(): void {
    if (this.#fullSince === undefined) return;
    const isSlow = this.#clock.now() - this.#fullSince >= budgetMs;
    this.#together = isSlow ? Math.ceil(this.#together / 2) : Math.min(2 * this.#together, mostTogether);
  }
}
