import type { EventBody } from "@harnesskit/protocol/threads";
import { type HarnessError, RequestCancelledError } from "@harnesskit/wire";
import { agentSpan, inSpan, startSpan } from "@harnesskit/wire/trace";
import type { Fields } from "./call-thread-server.ts";
import type { StartTurnOptions } from "./client-options.ts";
import { MalformedMessageError } from "./errors.ts";
import { EventQueue } from "./event-queue.ts";
import type { ThreadSession } from "./thread-session.ts";
import { LiveTurn } from "./turn-handle.ts";

/** The events of a thread on which a start is pending: whose they are is known when its answer is here. */
interface Hold {
  readonly events: EventQueue;
  starts: number;
}

const turnKey = (threadId: string, turnId: string): string => JSON.stringify([threadId, turnId]);

/**
 * Starts turns and hands each its events. A turn's first notifications may arrive in one chunk with the answer that names
 * it: from the request to the answer, the thread's events of unknown turns are held back, so that none is lost.
 */
export class Turns {
  readonly #turns = new Map<string, LiveTurn>();
  readonly #holds = new Map<string, Hold>();

  constructor(readonly session: ThreadSession) {}

  /** Starts a turn. Rejects with the errors of the call. */
  async start(
    method: "turn.start" | "thread.compact",
    fields: Fields,
    options: Omit<StartTurnOptions, "input">,
  ): Promise<LiveTurn> {
    const { threadId, agent, timeoutMs, signal, onApproval } = options;
    const { session } = this;
    const { follows } = session;
    // A server without subscriptions sends the events of all threads.
    const followed = session.has("subscribe") ? await follows.follow(threadId) : undefined;
    const span = startSpan(() => agentSpan("client", threadId, agent));
    const onEnd = (error?: unknown) => {
      if (followed) follows.release(followed);
      span?.end(error);
    };
    const hold = this.#holds.get(threadId) ?? { events: new EventQueue(session), starts: 0 };
    this.#holds.set(threadId, hold);
    hold.starts++;
    try {
      if (signal?.aborted) throw new RequestCancelledError(method, { cause: signal.reason });
      const started = await inSpan(span, () => session.call(method, fields, { timeoutMs }));
      const { turnId } = started;
      const position = "queued" in started ? started.queued?.position : undefined;
      const key = turnKey(threadId, turnId);
      if (this.#turns.has(key)) throw new MalformedMessageError(method, "the turn was named before");
      const turn = new LiveTurn(session, { turnId, threadId, position, onApproval, signal, onEnd, span });
      this.#turns.set(key, turn);
      turn.droppedDeltas += hold.events.droppedDeltas;
      turn.droppedItems += hold.events.droppedItems;
      this.#replay(hold.events, turn);
      // A thread that was lost meanwhile tells nothing of its turn.
      const error = session.error ?? followed?.ended?.error;
      if (error) turn.lose(error);
      turn.watchSignal();
      return turn;
    } catch (error) {
      onEnd(error);
      throw error;
    } finally {
      // With the last start of a thread, what is still held belongs to no turn of this client.
      if (--hold.starts === 0) {
        this.#holds.delete(threadId);
        this.#replay(hold.events, undefined);
      }
    }
  }

  /** Takes an event as it arrives. */
  route(event: EventBody): void {
    const turnId = "turnId" in event.data ? event.data.turnId : undefined;
    const turn = turnId === undefined ? undefined : this.#turns.get(turnKey(event.data.threadId, turnId));
    const hold = turn || turnId === undefined ? undefined : this.#holds.get(event.data.threadId);
    if (hold) hold.events.push(event);
    else this.#deliver(event, turn);
  }

  /** Nothing more will be heard of this thread, or of any. What is held stays for a start whose answer arrived just before. */
  lose(error: HarnessError, threadId?: string): void {
    for (const [key, turn] of [...this.#turns]) {
      if (threadId !== undefined && turn.threadId !== threadId) continue;
      this.#turns.delete(key);
      turn.lose(error);
    }
  }

  /** Delivers what is held for this turn and keeps the rest, in order; without a turn, delivers all. */
  #replay(events: EventQueue, turn: LiveTurn | undefined): void {
    for (let left = events.size; left > 0; left--) {
      const event = events.shift();
      if (!event) return;
      const isIts = !turn || ("turnId" in event.data && event.data.turnId === turn.turnId);
      if (isIts) this.#deliver(event, turn);
      else events.push(event);
    }
  }

  #deliver(event: EventBody, turn: LiveTurn | undefined): void {
    turn?.accept(event);
    if (turn?.ended) this.#turns.delete(turnKey(turn.threadId, turn.turnId));
    this.session.observe(event, turn);
  }
}
