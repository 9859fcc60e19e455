import type { AsyncResource } from "node:async_hooks";
import type { Clock } from "@harnesskit/wire";

/** Requests that are handled before those are answered, at most. */
const mostTogether = 32;
/** Requests whose handling begins before what they led to at once is waited for, at most. */
const mostAtOnce = 8;
/** How long requests may be handled before they are answered. */
const budgetMs = 4;

/** What is done with a request in each stage. Neither may throw. */
export interface TurnStagesOptions<Request> {
  readonly clock: Pick<Clock, "now">;
  /** How many more requests may be in flight. */
  readonly room: () => number;
  readonly begin: (request: Request) => void;
  readonly send: (request: Request) => void;
}

/**
 * The two stages of requests that came in one turn of the event loop: some are handled, one after another, then those are
 * answered, then the next come, before anything else is read. What is done in a row finds the processor's caches full of what it
 * needs, and a client of several connections is woken once and not by each answer. Where handlers block the process, each is
 * handled alone and answered before the next. Both stages of a request run in the async context that it came in: a tracer, or
 * a store of the handler's, sees its own request.
 */
export class TurnStages<Request extends AsyncResource> {
  readonly #options: TurnStagesOptions<Request>;
  #arrived: Request[] = [];
  #answered: Request[] = [];
  #isDue = false;
  #isHandling = false;
  #handled = 0;
  #handledSince = 0;
  #atOnce = 1;

  constructor(options: TurnStagesOptions<Request>) {
    this.#options = options;
  }

  /** Begins once this turn has read what there is, after all that arrived before and what those led to at once. */
  handle(request: Request): void {
    this.#arrived.push(request);
    if (this.#isDue) return;
    this.#isDue = true;
    setImmediate(this.#handleSome);
  }

  /** Sends with the answers of the requests that are handled now; where none are, once what runs now is over. */
  answer(request: Request): void {
    this.#answered.push(request);
    if (!this.#isHandling && this.#answered.length === 1) process.nextTick(this.#answerAll);
  }

  readonly #handleSome = (): void => {
    this.#isHandling = this.#isDue = this.#arrived.length > 0;
    if (!this.#isDue) {
      this.#answerAll();
      return;
    }
    const { clock, room, begin } = this.#options;
    if (this.#handled === 0) this.#handledSince = clock.now();
    queueMicrotask(this.#whenSettled);
    let most = Math.max(1, Math.min(this.#atOnce, room()));
    do {
      const request = this.#arrived.shift();
      request?.runInAsyncScope(begin, undefined, request);
      this.#handled++;
      most--;
    } while (most > 0 && this.#arrived.length > 0 && !this.#isLong());
  };

  /** A tick that is asked for by a microtask comes when no microtask is left, and still before anything is read. */
  readonly #whenSettled = (): void => process.nextTick(this.#goOn);

  readonly #goOn = (): void => {
    const isLong = this.#isLong();
    this.#atOnce = isLong ? 1 : Math.min(2 * this.#atOnce, mostAtOnce);
    if (isLong || this.#handled >= mostTogether) this.#answerAll();
    this.#handleSome();
  };

  #isLong(): boolean {
    return this.#options.clock.now() - this.#handledSince >= budgetMs;
  }

  readonly #answerAll = (): void => {
    const all = this.#answered;
    this.#answered = [];
    this.#handled = 0;
    const { send } = this.#options;
    for (const request of all) request.runInAsyncScope(send, undefined, request);
  };
}
