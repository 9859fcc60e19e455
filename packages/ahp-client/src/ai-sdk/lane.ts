import { BufferFullError } from "@harnesskit/wire";
import { Lane as UnboundedLane } from "@harnesskit/wire/rpc";
import { within } from "@harnesskit/wire/time";

/** Lets in one user at a time, in the order in which they came. */
export class Lane {
  readonly #lane = new UnboundedLane(1);
  readonly #maxWaiting: number;
  #waiting = 0;

  constructor(maxWaiting: number) {
    this.#maxWaiting = maxWaiting;
  }

  /**
   * Resolves with the function that leaves the lane, once it is free; with undefined when the signal aborted before. Rejects
   * with `buffer_full` when too many wait.
   */
  async enter(signal: AbortSignal | undefined): Promise<(() => void) | undefined> {
    if (signal?.aborted) return undefined;
    const leave = () => this.#lane.leave();
    if (this.#lane.tryEnter()) return leave;
    if (this.#waiting >= this.#maxWaiting) throw new BufferFullError("maxQueued", this.#maxWaiting);
    this.#waiting++;
    const turn = new Promise<void>((start) => this.#lane.wait(start));
    try {
      await within(turn, { name: "the queue", signal });
      return leave;
    } catch {
      void turn.then(leave);
      return undefined;
    } finally {
      this.#waiting--;
    }
  }
}
