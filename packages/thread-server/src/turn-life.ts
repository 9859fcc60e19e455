import { createDeferred } from "@harnesskit/wire";
import type { ActiveTurn } from "./active-turn.ts";

/** What a connection waits for before it closes: a turn that its client started, or one that is going to be. */
export interface TurnLife {
  /** True while nothing happens until a human answers. */
  readonly isWaiting: boolean;
  /** Settles when it is over, waits for a human, or has begun. */
  whenQuiet(): Promise<void>;
  /** Settles when it is over, or was left to a later server. */
  readonly ended: Promise<void>;
}

/** The life of a prompt that waits: first with the turn that is active, then as a turn of its own. */
export class QueuedLife implements TurnLife {
  readonly #active: () => ActiveTurn | undefined;
  readonly #ended = createDeferred<void>();
  readonly #moved = createDeferred<void>();
  #turn: ActiveTurn | undefined;
  #isOver = false;

  /** @param active the active turn of its thread */
  constructor(active: () => ActiveTurn | undefined) {
    this.#active = active;
  }

  get isWaiting(): boolean {
    if (this.#isOver) return true;
    // Without an active turn, its thread could not begin it: the next use of the thread tries again.
    return (this.#turn ?? this.#active())?.isWaiting ?? true;
  }

  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  async whenQuiet(): Promise<void> {
    if (this.#isOver) return;
    const turn = this.#turn ?? this.#active();
    await Promise.race(
      [this.ended, turn?.whenQuiet(), this.#turn ? undefined : this.#moved.promise].filter(Boolean),
    );
  }

  /** The prompt begins as this turn. */
  begin(turn: ActiveTurn): void {
    this.#turn = turn;
    this.#moved.resolve();
    void turn.ended.then(() => this.end());
  }

  /** The prompt will not begin here. */
  end(): void {
    this.#isOver = true;
    this.#moved.resolve();
    this.#ended.resolve();
  }
}
