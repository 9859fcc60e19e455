import type { QueuedTurn, ThreadNotificationParams } from "@harnesskit/protocol/threads";
import { defined } from "@harnesskit/wire/json";
import { activeTrace } from "@harnesskit/wire/trace";
import { threadError } from "./errors.ts";
import type { RequestName } from "./named-requests.ts";
import type { ThreadSession } from "./thread-session.ts";
import type { TurnRequest } from "./turn-runner.ts";

type Reason = ThreadNotificationParams<"turn.dequeued">["reason"];

/** The prompts of one thread that wait for the end of its active turn. The log is the queue: what is stored in it is what waits. */
export class WaitingPrompts {
  readonly #session: ThreadSession;
  /** Those that are being stored. */
  readonly #entering = new Set<Promise<void>>();
  /** Those whose end is being stored: none of them begins. */
  readonly #leaving = new Set<string>();

  constructor(session: ThreadSession) {
    this.#session = session;
  }

  /** In the order in which they begin; without the one whose start is being stored. */
  get list(): QueuedTurn[] {
    const { state, turns } = this.#session;
    return state.waiting.filter(({ turnId }) => turnId !== turns.active?.turnId);
  }

  /** How many wait or are being stored. */
  get size(): number {
    return this.list.length + this.#entering.size;
  }

  /** How many the log has, or will have: also the one whose start is being stored. */
  get stored(): number {
    return this.#session.state.queued.size + this.#entering.size;
  }

  /** The one that begins next; undefined for none. */
  get next(): QueuedTurn | undefined {
    return this.#session.state.waiting.find(({ turnId }) => !this.#leaving.has(turnId));
  }

  /** How many have to begin for this one to begin, itself included; undefined for one that does not wait. */
  positionOf(turnId: string): number | undefined {
    const index = this.list.findIndex((queued) => queued.turnId === turnId);
    return index === -1 ? undefined : index + 1;
  }

  /**
   * Stores a prompt that waits, and gives the id of its turn. Throws -32002 `queue_full`, and what the runner's `accept` throws. Its
   * place is taken before anything is awaited.
   */
  async add(
    request: TurnRequest,
    name: RequestName | undefined,
    interrupts: string | undefined,
  ): Promise<string> {
    const { settings, threadId } = this.#session;
    const { maxQueuedTurns } = settings.limits;
    if (this.size >= maxQueuedTurns) {
      const text = "The queue of the thread is full: try again when a turn has ended";
      throw threadError("turn_busy", { reason: "queue_full", maxQueuedTurns }, text);
    }
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
    this.#entering.add(added);
    try {
      await added;
    } finally {
      this.#entering.delete(added);
    }
    return turnId;
  }

  /** Ends the wait of a prompt, which then does not begin. False for one that does not wait. */
  async remove(turnId: string, reason: Reason): Promise<boolean> {
    const { settings, log, state } = this.#session;
    const { queued } = state.queued.get(turnId) ?? {};
    if (!queued || this.#leaving.has(turnId)) return false;
    this.#leaving.add(turnId);
    try {
      await log.append(dequeued(queued, reason, settings.clock.now()));
    } finally {
      this.#leaving.delete(turnId);
    }
    await this.#session.save().catch(this.#session.onError);
    return true;
  }

  /** Ends the wait of all; those that are being stored enter or are refused first. */
  async removeAll(reason: Reason): Promise<void> {
    await Promise.allSettled(this.#entering);
    for (const { turnId } of this.list) await this.remove(turnId, reason);
  }

  async #store(request: TurnRequest, queued: QueuedTurn): Promise<void> {
    const session = this.#session;
    await session.settings.runner.accept?.(request);
    // First what tells a later server to look into the log, then the log.
    await session.save();
    if (session.isArchived) throw threadError("thread_archived");
    const { threadId, turnId } = queued;
    await session.log.append({ type: "turn.queued", data: { threadId, turnId, queued } });
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
