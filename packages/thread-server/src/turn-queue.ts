import type { QueuedTurn, ThreadNotificationParams } from "@harnesskit/protocol/threads";
import { defined } from "@harnesskit/wire/json";
import { activeTrace } from "@harnesskit/wire/trace";
import type { ActiveTurn } from "./active-turn.ts";
import { queueFull, threadArchived } from "./errors.ts";
import { inputLength } from "./prompt-queue.ts";
import type { RequestName } from "./request-digest.ts";
import type { ThreadTurnsOptions } from "./thread-turns-options.ts";
import { QueuedLife } from "./turn-life.ts";
import type { TurnRequest } from "./turn-runner.ts";

export interface TurnQueueOptions
  extends Pick<ThreadTurnsOptions, "settings" | "log" | "state" | "thread" | "isArchived" | "save"> {
  /** The active turn, which may be one whose start is being stored. */
  readonly active: () => ActiveTurn | undefined;
}

interface Entering {
  readonly length: number;
  readonly added: Promise<void>;
}

type Reason = ThreadNotificationParams<"turn.dequeued">["reason"];

/** Writes the queue of one thread: the log is the queue, and what is stored in it is what waits. */
export class TurnQueue {
  readonly #options: TurnQueueOptions;
  /** Prompts that are being stored. */
  readonly #entering = new Map<string, Entering>();
  /** Prompts whose end is being stored: none of them begins. */
  readonly #leaving = new Set<string>();
  readonly #lives = new Map<string, QueuedLife>();

  constructor(options: TurnQueueOptions) {
    this.#options = options;
  }

  /** The prompts that wait, in the order in which they begin. */
  get waiting(): QueuedTurn[] {
    const { state, active } = this.#options;
    return state.queue.list.filter(({ turnId }) => turnId !== active()?.turnId);
  }

  /** How many wait or are being stored. */
  get size(): number {
    const { state, active } = this.#options;
    const begins = state.queue.get(active()?.turnId ?? "") ? 1 : 0;
    return state.queue.size - begins + this.#entering.size;
  }

  /** How many the log has, or will have: also the one whose start is being stored. */
  get stored(): number {
    return this.#options.state.queue.size + this.#entering.size;
  }

  /** The one that begins next; undefined for none. */
  get next(): QueuedTurn | undefined {
    return this.#options.state.queue.next(this.#leaving);
  }

  /** How many have to begin for this one to begin, itself included; undefined for one that does not wait. */
  positionOf(turnId: string): number | undefined {
    const index = this.waiting.findIndex((queued) => queued.turnId === turnId);
    return index === -1 ? undefined : index + 1;
  }

  /** Settles when the prompts that are being stored are stored or refused. */
  async entered(): Promise<void> {
    await Promise.allSettled([...this.#entering.values()].map(({ added }) => added));
  }

  /**
   * Stores a prompt that waits. Throws -32002 `queue_full`, and what the runner's `accept` throws. Its place is taken before
   * anything is awaited.
   */
  async add(
    request: TurnRequest,
    name: RequestName | undefined,
    interrupts: string | undefined,
  ): Promise<{ readonly turnId: string; readonly life: QueuedLife }> {
    const { settings, thread, active } = this.#options;
    const length = inputLength(request);
    this.#checkRoom(length);
    const { threadId } = thread();
    const turnId = settings.createId("turn");
    const { input, model, agent } = request;
    const queued: QueuedTurn = defined({
      turnId,
      threadId,
      input: [...input],
      agent: agent.name,
      model,
      time: { queued: settings.clock.now() },
      interrupts,
      ...name,
      _meta: activeTrace(),
    });
    const added = this.#store(request, queued);
    this.#entering.set(turnId, { length, added });
    const life = new QueuedLife(active);
    this.#lives.set(turnId, life);
    try {
      await added;
    } catch (error) {
      this.#lives.delete(turnId);
      throw error;
    } finally {
      this.#entering.delete(turnId);
    }
    return { turnId, life };
  }

  /** Ends the wait of a prompt, which then does not begin. False for one that does not wait. */
  async remove(turnId: string, reason: Reason): Promise<boolean> {
    const { settings, log, state, save } = this.#options;
    const queued = state.queue.get(turnId);
    if (!queued || this.#leaving.has(turnId)) return false;
    this.#leaving.add(turnId);
    try {
      await log.append(dequeued(queued, reason, settings.clock.now()));
    } finally {
      this.#leaving.delete(turnId);
    }
    this.#lives.get(turnId)?.end();
    this.#lives.delete(turnId);
    await save().catch(settings.onError);
    return true;
  }

  /** A prompt has begun as this turn. */
  begun(turn: ActiveTurn): void {
    this.#lives.get(turn.turnId)?.begin(turn);
    this.#lives.delete(turn.turnId);
  }

  /** What waits is left to the next server that opens the thread. */
  close(): void {
    for (const life of this.#lives.values()) life.end();
    this.#lives.clear();
  }

  #checkRoom(length: number): void {
    const { settings, state, active } = this.#options;
    const { maxQueuedTurns, maxQueuedLength } = settings.limits;
    if (this.size >= maxQueuedTurns) throw queueFull({ maxQueuedTurns });
    let sum = length + state.queue.lengthWithout(active()?.turnId);
    for (const entering of this.#entering.values()) sum += entering.length;
    if (sum > maxQueuedLength) throw queueFull({ maxQueuedLength });
  }

  async #store(request: TurnRequest, queued: QueuedTurn): Promise<void> {
    const { settings, log, save, isArchived } = this.#options;
    await settings.runner.accept?.(request);
    // First what tells a later server to look into the log, then the log.
    await save();
    if (isArchived()) throw threadArchived();
    const { threadId, turnId } = queued;
    await log.append({ type: "turn.queued", data: { threadId, turnId, queued } });
  }
}

/** The event that ends the wait of a prompt which does not begin. */
export const dequeued = ({ threadId, turnId, time }: QueuedTurn, reason: Reason, at: number) => {
  const turn = {
    turnId,
    threadId,
    status: "cancelled" as const,
    time: { started: time.queued, completed: at },
  };
  return { type: "turn.dequeued" as const, data: { threadId, turnId, reason, turn } };
};
