import type { EventBody, InputPart } from "@harnesskit/protocol/threads";
import { type HarnessError, RequestCancelledError } from "@harnesskit/wire";
import { isConnectionLoss } from "@harnesskit/wire/rpc";
import { agentSpan, inSpan, startSpan } from "@harnesskit/wire/trace";
import type { CompactThreadOptions, StartTurnOptions } from "./client-options.ts";
import { MalformedMessageError, ThreadError } from "./errors.ts";
import { EventBuffer } from "./event-queue.ts";
import type { Follows } from "./follows.ts";
import type { ThreadSession } from "./thread-session.ts";
import { LiveTurn, type LiveTurnOptions } from "./turn-handle.ts";

/** The events of a thread on which a start is pending: whose they are is known when its answer is here. */
interface Hold {
  readonly events: EventBuffer;
  starts: number;
}

/** A string is one text part. */
export const toInputParts = (input: StartTurnOptions["input"]): readonly InputPart[] =>
  typeof input === "string" ? [{ type: "text", text: input }] : input;

const turnKey = (threadId: string, turnId: string): string => JSON.stringify([threadId, turnId]);

/**
 * Starts turns and hands each its events. A turn's first notifications may arrive in one chunk with the answer that names
 * it: from the request to the answer, the thread's events of unknown turns are held back, so that none is lost.
 */
export class Turns {
  readonly #turns = new Map<string, LiveTurn>();
  readonly #holds = new Map<string, Hold>();

  constructor(
    readonly session: Pick<
      ThreadSession,
      "call" | "error" | "has" | "limits" | "report" | "require" | "whenSettled"
    >,
    readonly follows: Pick<Follows, "follow" | "release">,
    /** Takes each event in the order of arrival in its turn, with the turn when this client started it. */
    readonly onEvent: (event: EventBody, turn: LiveTurn | undefined) => void,
  ) {}

  /** Starts a turn. Rejects with the errors of the call. */
  async start(options: StartTurnOptions): Promise<LiveTurn> {
    const { threadId, input, model, agent, whenBusy } = options;
    if (whenBusy !== undefined) this.session.require("queue", "turn.start");
    const fields = { threadId, input: toInputParts(input), model, agent, whenBusy };
    return this.#start("turn.start", fields, options);
  }

  /** Starts a turn that makes a summary. */
  async compact(options: CompactThreadOptions): Promise<LiveTurn> {
    const { threadId, model } = options;
    this.session.require("compact", "thread.compact");
    return this.#start("thread.compact", { threadId, model }, options);
  }

  async #start(
    method: "turn.start" | "thread.compact",
    fields: Readonly<Record<string, unknown>>,
    options: Omit<StartTurnOptions, "input">,
  ): Promise<LiveTurn> {
    const { threadId, agent, timeoutMs, signal } = options;
    const { session, follows } = this;
    // A server without subscriptions sends the events of all threads.
    const followed = session.has("subscribe") ? await follows.follow(threadId) : undefined;
    const span = startSpan(() => agentSpan("client", threadId, agent));
    const onEnd = (error?: unknown) => {
      if (followed) follows.release(followed);
      span?.end(error);
    };
    const hold = this.#holds.get(threadId) ?? { events: new EventBuffer(session.limits), starts: 0 };
    this.#holds.set(threadId, hold);
    hold.starts++;
    try {
      if (signal?.aborted) throw new RequestCancelledError(method, { cause: signal.reason });
      const started = await inSpan(span, () => session.call(method, fields, { timeoutMs }));
      const position = "queued" in started ? started.queued?.position : undefined;
      const turn = this.#adopt(started.turnId, options, hold, { onEnd, span, position });
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
        this.#replay(hold, () => true, undefined);
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

  /** The answer is here: the turn gets what was held for it. */
  #adopt(
    turnId: string,
    options: Omit<StartTurnOptions, "input">,
    { events }: Hold,
    own: Pick<LiveTurnOptions, "onEnd" | "span" | "position">,
  ): LiveTurn {
    const { threadId, onApproval, signal } = options;
    const key = turnKey(threadId, turnId);
    if (this.#turns.has(key)) throw new MalformedMessageError("turn.start", "the turn was named before");
    const cancel = () => this.#cancel(turn);
    const turn: LiveTurn = new LiveTurn(this.session, {
      ...{ turnId, threadId, onApproval, signal, cancel },
      ...own,
    });
    this.#turns.set(key, turn);
    turn.addDropped(events);
    this.#replay({ events }, (event) => "turnId" in event.data && event.data.turnId === turnId, turn);
    return turn;
  }

  /** A turn that ended meanwhile needs no cancelling; one that goes on over a loss still does. */
  async #cancel(turn: LiveTurn): Promise<void> {
    const { session } = this;
    const { threadId, turnId } = turn;
    while (!turn.ended) {
      try {
        await session.call("turn.cancel", session.has("queue") ? { threadId, turnId } : { threadId });
        return;
      } catch (error) {
        if (ThreadError.isInstance(error) && error.code === "turn_not_found") return;
        if (!isConnectionLoss(error)) throw error;
        await session.whenSettled();
        if (turn.ended || session.error) throw error;
      }
    }
  }

  /** Delivers what matches and keeps the rest, in order. */
  #replay(
    { events }: Pick<Hold, "events">,
    matches: (event: EventBody) => boolean,
    turn: LiveTurn | undefined,
  ): void {
    for (let left = events.size; left > 0; left--) {
      const event = events.shift();
      if (!event) return;
      if (matches(event)) this.#deliver(event, turn);
      else events.push(event);
    }
  }

  #deliver(event: EventBody, turn: LiveTurn | undefined): void {
    turn?.accept(event);
    if (turn?.ended) this.#turns.delete(turnKey(turn.threadId, turn.turnId));
    this.onEvent(event, turn);
  }
}
