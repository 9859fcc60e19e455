import type { EventBody, ItemData, ItemType, Summary, Turn, Usage } from "@harnesskit/protocol/threads";
import { defined } from "@harnesskit/wire/json";
import { type Ending, endTurn } from "./close-open-items.ts";
import { turnEnded } from "./errors.ts";
import { toRecordedCall } from "./recorded-calls.ts";
import type { ThreadSession } from "./thread-session.ts";
import type { RecordedStep } from "./turn-runner.ts";

const nothingOpen = { openItems: [], history: [] };

/** Writes the events of one turn, as long as it lasts. */
export class TurnLog {
  readonly #session: ThreadSession;
  readonly #turn: Turn;
  /** Items that were started and not completed. */
  readonly #open: Set<string>;
  /** Items whose start was not stored, each with the reason: nothing of them is. */
  readonly #missing = new Map<string, unknown>();
  /** Items whose completion was not stored, each with the reason. */
  readonly #failed = new Map<string, unknown>();
  /** True from the end on, or when the turn was left to a later server: what comes then is refused. */
  isClosed = false;
  isEndStored = false;
  /** The events of an end that was not stored, which no client has heard of, and why. */
  unstored: { readonly bodies: readonly EventBody[]; readonly error: unknown } | undefined;

  /** @param turn as its start says it */
  constructor(session: ThreadSession, turn: Turn) {
    this.#session = session;
    this.#turn = turn;
    const isBegun = session.state.turn?.turnId === turn.turnId;
    this.#open = new Set(isBegun ? session.state.openItems.map(({ item }) => item.itemId) : []);
  }

  /** Why an item could not be completed; undefined where all could. */
  get failure(): unknown {
    return this.#failed.values().next().value;
  }

  /** Writes `turn.started`, with the number of the oldest prompt that waits behind it. */
  begin(queuedSince?: number): Promise<void> {
    const { threadId, turnId } = this.#turn;
    const { summarySeq } = this.#session.state;
    const data = defined({ threadId, turnId, turn: this.#turn, queuedSince, summarySeq });
    return this.#session.log.append({ type: "turn.started", data });
  }

  /** Writes `item.started`, or `item.updated` of an item that is open. Rejects with `turn_ended`. */
  start<T extends ItemType>(type: T, itemId: string, data: ItemData<T>): Promise<void> {
    const event = this.#open.has(itemId) ? "item.updated" : "item.started";
    const started = this.append(this.#itemEvent(event, type, itemId, data));
    this.#open.add(itemId);
    started.catch((error: unknown) => this.#missing.set(itemId, error));
    return started;
  }

  /** Writes `item.delta`, together with what else waits. */
  delta(type: ItemType, itemId: string, delta: string): void {
    const { threadId, turnId } = this.#turn;
    // A delta that is lost with the disk is reported by the completion of its item, which carries the whole.
    this.append({ type: "item.delta", data: { threadId, turnId, itemId, type, delta } }).catch(() => {});
  }

  /** Writes `item.completed` with the item as it is now. */
  complete<T extends ItemType>(type: T, itemId: string, data: ItemData<T>): Promise<void> {
    const completed = this.append(this.#itemEvent("item.completed", type, itemId, data));
    this.#open.delete(itemId);
    completed.then(
      () => this.#failed.delete(itemId),
      (error: unknown) => {
        this.#open.add(itemId);
        this.#failed.set(itemId, error);
      },
    );
    return completed;
  }

  /** Writes what a request to the model brought, where a later server would go on with the turn. */
  recordStep({ step, calls, usage }: RecordedStep): Promise<void> {
    if (this.#session.settings.interruptedTurns !== "retry") return Promise.resolve();
    const { threadId, turnId } = this.#turn;
    const data = defined({ threadId, turnId, step, calls: calls.map(toRecordedCall), usage });
    const recorded = this.append({ type: "turn.step", data });
    recorded.catch(() => {});
    return recorded;
  }

  /** Writes that a request to the model is made again. */
  repeatStep(step: number): Promise<void> {
    const { threadId, turnId } = this.#turn;
    const data = { threadId, turnId, step, reason: "model_stream" as const, attempt: 1 };
    return this.append({ type: "turn.resumed", data });
  }

  /** Records a summary of what was said before. */
  async summary(text: string, summary: Summary): Promise<void> {
    const itemId = this.#session.settings.createId("item");
    // Its start does not say what it is: one that is cut off stands for nothing.
    const started = this.start("assistant_message", itemId, { text: "", reasoning: true });
    const completed = this.complete("assistant_message", itemId, { text, reasoning: true, summary });
    await Promise.all([started, completed]);
  }

  /** Records something that the turn made. Gives the id of its item. */
  async artifact(data: ItemData<"artifact">): Promise<string> {
    const itemId = this.#session.settings.createId("item");
    await Promise.all([this.start("artifact", itemId, data), this.complete("artifact", itemId, data)]);
    return itemId;
  }

  /** Writes an event of this turn. Rejects with `turn_ended` after its end. */
  append(body: EventBody): Promise<void> {
    if (this.isClosed) return Promise.reject(turnEnded());
    const itemId = "itemId" in body.data ? body.data.itemId : undefined;
    if (itemId !== undefined && this.#missing.has(itemId)) return Promise.reject(this.#missing.get(itemId));
    return this.#session.log.append(body);
  }

  /** Closes what is open and writes the one terminal event. Rejects never: see `isEndStored`. */
  async end(ending: Ending, usage: Usage | undefined): Promise<void> {
    const { log, state, settings } = this.#session;
    // Where nothing is open, the end leaves with what it follows; otherwise the state must have all that came before.
    const isWhole = this.#open.size === 0;
    if (!isWhole) await log.settled();
    const time = { ...this.#turn.time, completed: settings.clock.now() };
    const turn = defined({ ...this.#turn, status: ending.status, time, usage });
    const bodies = endTurn(turn, ending, isWhole ? nothingOpen : state);
    try {
      await Promise.all(bodies.map((body) => log.append(body)));
      this.isEndStored = true;
      this.unstored = undefined;
    } catch (error) {
      this.unstored = { bodies, error };
    }
  }

  #itemEvent<T extends ItemType>(
    event: "item.started" | "item.updated" | "item.completed",
    type: T,
    itemId: string,
    data: ItemData<T>,
  ): EventBody {
    const { threadId, turnId } = this.#turn;
    const ids = { threadId, turnId, itemId };
    return { type: event, data: { ...ids, type, item: { ...ids, type, data } } } as EventBody;
  }
}
