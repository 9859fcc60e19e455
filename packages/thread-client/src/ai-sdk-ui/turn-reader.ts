import { HarnessError } from "@harnesskit/wire";
import type { ThreadClient } from "../client-options.ts";
import type { ThreadEvent, ThreadSubscription } from "../thread-subscription.ts";
import type { FoundTurn } from "./find-turn.ts";
import type { ThreadUIMessageChunk } from "./message-types.ts";
import { TurnChunks } from "./turn-chunks.ts";

const readTooSlowly = "The answer was read too slowly, and a part of it was lost: resume the stream.";

/** Reads one turn from the log of its thread, and then as it goes on, up to its end or to its wait for a human. */
export class TurnReader {
  readonly chunks: TurnChunks;
  readonly #subscription: ThreadSubscription;
  readonly #events: AsyncIterator<ThreadEvent, undefined>;
  readonly #caughtUp: Promise<"caught_up">;
  #next: Promise<IteratorResult<ThreadEvent, undefined>> | undefined;
  #isCaughtUp = false;
  /** What the past said behind the number that the reader of the stream has seen. */
  #held: ThreadUIMessageChunk[] = [];

  private constructor(subscription: ThreadSubscription, turnId: string) {
    this.chunks = new TurnChunks(turnId);
    this.#subscription = subscription;
    this.#events = subscription[Symbol.asyncIterator]();
    this.#caughtUp = subscription.caughtUp.then(() => "caught_up" as const);
  }

  /** Subscribes to the thread from the turn's first event on. Rejects as `subscribe`. */
  static async open(
    client: Pick<ThreadClient, "subscribe">,
    threadId: string,
    { turnId, startSeq }: FoundTurn,
  ): Promise<TurnReader> {
    const subscription = await client.subscribe(threadId, { afterSeq: startSeq - 1 });
    return new TurnReader(subscription, turnId);
  }

  /**
   * Reads all of the past, so that `chunks` knows the open questions. The stream then begins behind the number `afterSeq`: with
   * what the past says behind it, if anything, and without what was said before.
   */
  async catchUp(afterSeq: number | undefined): Promise<void> {
    const { chunks } = this;
    let isBehind = false;
    for (;;) {
      const event = await this.#read();
      if (event === undefined || event === "caught_up") break;
      const isNew = afterSeq !== undefined && event.seq !== undefined && event.seq > afterSeq;
      // Where the stream before this one ended, its step did.
      if (isNew && !isBehind) chunks.pause();
      isBehind ||= isNew;
      const made = chunks.push(event);
      if (isBehind) this.#held.push(...made);
    }
    if (!isBehind) chunks.pause();
    this.#held.unshift(...chunks.resume());
  }

  /** The chunks. Cancelling it leaves the turn as it is. Its errors are those of the subscription. */
  toStream(): ReadableStream<ThreadUIMessageChunk> {
    return new ReadableStream({
      pull: async (controller) => {
        const { chunks, isLast } = await this.#readChunks().catch((error: unknown) => {
          this.close();
          throw error;
        });
        for (const chunk of chunks) controller.enqueue(chunk);
        if (!isLast) return;
        this.close();
        controller.close();
      },
      cancel: () => this.close(),
    });
  }

  close(): void {
    this.#subscription.close();
  }

  /** The next chunks, at least one unless they are the last. */
  async #readChunks(): Promise<{ chunks: ThreadUIMessageChunk[]; isLast: boolean }> {
    const { chunks } = this;
    const made = this.#held;
    this.#held = [];
    for (;;) {
      if (chunks.isEnded) return { chunks: made, isLast: true };
      if (this.#isCaughtUp && chunks.isWaiting) return { chunks: [...made, ...chunks.pause()], isLast: true };
      if (made.length > 0) return { chunks: made, isLast: false };
      const event = await this.#read();
      if (event === undefined) throw new HarnessError("thread_not_found", "The thread was deleted.");
      if (event !== "caught_up") made.push(...chunks.push(event));
    }
  }

  /** The next event; once `caught_up`, behind the last event of the past; undefined at the end. */
  async #read(): Promise<ThreadEvent | "caught_up" | undefined> {
    this.#next ??= this.#ask();
    const read = this.#isCaughtUp ? await this.#next : await Promise.race([this.#next, this.#caughtUp]);
    if (read === "caught_up") {
      this.#isCaughtUp = true;
      return read;
    }
    this.#next = undefined;
    const { droppedDeltas, droppedItems } = this.#subscription;
    if (droppedDeltas + droppedItems > 0) throw new HarnessError("buffer_full", readTooSlowly);
    return read.done ? undefined : read.value;
  }

  #ask(): Promise<IteratorResult<ThreadEvent, undefined>> {
    const next = this.#events.next();
    // It may fail while no reader waits for it.
    next.catch(() => {});
    return next;
  }
}
