import type { Decision } from "@harnesskit/protocol/ahp";
import type { Accepted } from "./check-event.ts";
import { type AnyDecision, toBatchDecision } from "./decider.ts";
import type { Refusal } from "./refusal.ts";

export interface BatchOptions {
  readonly accepted: readonly Accepted[];
  readonly maxConcurrent: number;
  /** Decides one event. Never throws or rejects. */
  readonly decide: (
    accepted: Accepted,
    index: number,
  ) => AnyDecision | Refusal | Promise<AnyDecision | Refusal>;
  /** Told of each decision once, with the failure behind a block. */
  readonly onDecided: (accepted: Accepted, index: number, outcome: AnyDecision | Refusal) => void;
  /** A handler ended after the batch was closed. */
  readonly onLate: () => void;
}

/**
 * The decisions of a batch: some at the same time, in the order of the events whatever their handlers take, and as many
 * as there are events.
 */
export class BatchDecisions {
  readonly #options: BatchOptions;
  readonly #decisions: (Decision | undefined)[];
  #next = 0;
  #running = 0;
  #closed = false;
  #resolve: ((decisions: Decision[]) => void) | undefined;

  constructor(options: BatchOptions) {
    this.#options = options;
    this.#decisions = new Array<Decision | undefined>(options.accepted.length).fill(undefined);
  }

  /** Decides all. */
  run(): Decision[] | Promise<Decision[]> {
    this.#goOn();
    if (this.#running === 0) return this.#decisions as Decision[];
    return new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  /** What is decided stands, everything else is blocked for this reason; no further handler is asked. */
  close(why: Refusal): Decision[] {
    this.#closed = true;
    for (let index = 0; index < this.#decisions.length; index++) {
      if (this.#decisions[index] === undefined) this.#settle(index, why);
    }
    return this.#decisions as Decision[];
  }

  #goOn(): void {
    const { accepted, maxConcurrent, decide } = this.#options;
    while (this.#running < maxConcurrent && this.#next < accepted.length && !this.#closed) {
      const index = this.#next++;
      const outcome = decide(accepted[index] as Accepted, index);
      if (!(outcome instanceof Promise)) {
        this.#settle(index, outcome);
        continue;
      }
      this.#running++;
      void outcome.then((settled) => {
        this.#running--;
        if (this.#closed) {
          this.#options.onLate();
          return;
        }
        this.#settle(index, settled);
        this.#goOn();
        if (this.#running === 0) this.#resolve?.(this.#decisions as Decision[]);
      });
    }
  }

  #settle(index: number, outcome: AnyDecision | Refusal): void {
    const accepted = this.#options.accepted[index] as Accepted;
    this.#decisions[index] = toBatchDecision(outcome);
    this.#options.onDecided(accepted, index, outcome);
  }
}
