import type { EventBody } from "@harnesskit/protocol/threads";
import type { HarnessError } from "@harnesskit/wire";
import { EventBuffer } from "./event-buffer.ts";
import type { BufferLimits } from "./limits.ts";
import type { LiveTurn } from "./turn-handle.ts";

/** The events of a thread on which a start is pending: whose they are is known when its answer is here. */
interface Hold {
  readonly events: EventBuffer;
  starts: number;
}

const keyOf = (threadId: string, turnId: string): string => JSON.stringify([threadId, turnId]);

/**
 * Tells whose turn an event belongs to. A turn's first notifications may arrive in one chunk with the answer that
 * names it: from the request to the answer, the thread's events of unknown turns are held back.
 */
export class TurnRegistry {
  readonly #turns = new Map<string, LiveTurn>();
  readonly #holds = new Map<string, Hold>();

  constructor(
    readonly limits: BufferLimits,
    /** Takes each event in the order of arrival in its turn, with the turn when this client started it. */
    readonly onEvent: (event: EventBody, turn: LiveTurn | undefined) => void,
  ) {}

  /** Takes an event as it arrives. */
  route(event: EventBody): void {
    if (event.type === "thread.created") {
      this.onEvent(event, undefined);
      return;
    }
    const { threadId, turnId } = event.data;
    const turn = this.#turns.get(keyOf(threadId, turnId));
    const hold = turn ? undefined : this.#holds.get(threadId);
    if (hold) hold.events.push(event);
    else this.#deliver(event, turn);
  }

  /** A start is about to be sent. To be followed by one `adopt` or `release`. */
  expect(threadId: string): void {
    const hold = this.#holds.get(threadId);
    if (hold) hold.starts++;
    else this.#holds.set(threadId, { events: new EventBuffer(this.limits), starts: 1 });
  }

  /** The answer is here: hands the turn what was held for it. False when the turn is known already. */
  adopt(turn: LiveTurn): boolean {
    const { threadId, turnId } = turn;
    const key = keyOf(threadId, turnId);
    if (this.#turns.has(key)) return false;
    this.#turns.set(key, turn);
    const hold = this.#holds.get(threadId);
    if (hold) {
      turn.addDropped(hold.events);
      this.#replay(hold, (event) => event.type !== "thread.created" && event.data.turnId === turnId, turn);
    }
    this.release(threadId);
    return true;
  }

  /** The start is over. With the last one of a thread, what was held is nobody's. */
  release(threadId: string): void {
    const hold = this.#holds.get(threadId);
    if (!hold || --hold.starts > 0) return;
    this.#holds.delete(threadId);
    this.#replay(hold, () => true, undefined);
  }

  /** The connection is closed. What is held stays for a start whose answer arrived just before. */
  close(error: HarnessError): void {
    const turns = [...this.#turns.values()];
    this.#turns.clear();
    for (const turn of turns) turn.lose(error);
  }

  /** Nothing more will be heard of this thread. */
  lose(threadId: string, error: HarnessError): void {
    for (const [key, turn] of [...this.#turns]) {
      if (turn.threadId !== threadId) continue;
      this.#turns.delete(key);
      turn.lose(error);
    }
  }

  /** Delivers what matches and keeps the rest, in order. */
  #replay(hold: Hold, matches: (event: EventBody) => boolean, turn: LiveTurn | undefined): void {
    for (let left = hold.events.size; left > 0; left--) {
      const event = hold.events.shift();
      if (!event) return;
      if (matches(event)) this.#deliver(event, turn);
      else hold.events.push(event);
    }
  }

  #deliver(event: EventBody, turn: LiveTurn | undefined): void {
    turn?.accept(event);
    if (turn?.ended) this.#turns.delete(keyOf(turn.threadId, turn.turnId));
    this.onEvent(event, turn);
  }
}
