import { BufferFullError } from "@harnesskit/wire";
import { Lane } from "@harnesskit/wire/rpc";
import { within } from "@harnesskit/wire/time";

/** One call at a time, in the order in which they came. */
export class CallQueue {
  readonly #lane = new Lane(1);
  readonly #maxWaiting: number;
  #waiting = 0;

  constructor(maxWaiting: number) {
    this.#maxWaiting = maxWaiting;
  }

  /**
   * Resolves with the function that ends the caller's turn, once it has come; with undefined when the signal aborted before. Rejects
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
