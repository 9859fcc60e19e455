import type {
  ApprovalDecision,
  ApprovalMetadata,
  Event,
  EventBody,
  EventOf,
  Item,
  ItemOf,
  QueuedTurn,
  Thread,
  Turn,
} from "@harnesskit/protocol/threads";
import { BoundedMap } from "@harnesskit/wire";
import { defined } from "@harnesskit/wire/json";

/** An item that was started and not yet completed, with what was streamed to it. */
export interface OpenItem {
  readonly item: Item;
  readonly streamed: readonly string[];
}

/** An approval that was answered, or that the server settled itself. */
export interface ResolvedApproval {
  readonly resolvedBy: string;
  readonly decision?: ApprovalDecision;
  readonly scope?: string;
  readonly match?: string | undefined;
  readonly clientRequestId?: string;
}

/** A turn that was started with a `clientRequestId`. */
export interface StartedRequest {
  readonly turnId: string;
  readonly requestDigest: string;
}

interface TurnItems {
  readonly turnId: string;
  readonly items: Item[];
  size: number;
}

/** How many answered approvals and started requests of a thread are remembered, the latest ones. */
const maxRemembered = 1000;

/**
 * What the events of a thread add up to. Folded from the end of the log when a thread is opened and from each event
 * that is written, so that a restart and a running server see the same.
 */
export class ThreadState {
  readonly #turns: TurnItems[] = [];
  readonly #open = new Map<string, { item: Item; streamed: string[] }>();
  readonly #requested = new Map<string, EventOf<"approval.requested">>();
  readonly #resolved = new BoundedMap<string, ResolvedApproval>({ maxSize: maxRemembered });
  readonly #requests = new BoundedMap<string, StartedRequest>({ maxSize: maxRemembered });
  /** The prompts that wait, as they came, each with the number of its event. */
  readonly queued = new Map<string, { readonly seq: number; readonly queued: QueuedTurn }>();
  /** The number and the time of the last event. */
  lastSeq = 0;
  lastTime = 0;
  /** The thread as its last change left it, where these events tell of one. */
  thread: Thread | undefined;
  /** The turn that has started and not ended. */
  turn: Turn | undefined;
  /** What the requests to the model of the last turn brought, as far as that is recorded. */
  steps: EventOf<"turn.step">["data"][] = [];
  /** How often in a row the last turn has gone on after its server ended, without getting further. */
  attempts = 0;
  #size = 0;
  /** The last summary, which outlives the turns that it stands for, and the number of its event. */
  #summary: { readonly item: Item; readonly seq: number } | undefined;

  /** @param maxHistoryLength characters of completed items kept; the oldest turns go first */
  constructor(readonly maxHistoryLength: number) {}

  /** Items without their end, in the order of their start. */
  get openItems(): OpenItem[] {
    return [...this.#open.values()];
  }

  /** The approvals that wait for an answer, whether clients were notified of the question or not. */
  get openApprovals(): ItemOf<"approval">[] {
    return this.openItems.flatMap(({ item }) => (item.type === "approval" ? [item] : []));
  }

  /** When clients were notified of a pending question; undefined where they were not. */
  requestedAt(requestId: string): number | undefined {
    return this.#requested.get(requestId)?.time;
  }

  /** What a pending question said when clients were notified of it. */
  requestedMetadata(requestId: string): ApprovalMetadata | undefined {
    return this.#requested.get(requestId)?.data.metadata;
  }

  /** The questions that were asked up to this number and still wait. */
  requestedApprovals(upTo: number): EventBody[] {
    return [...this.#requested.values()].flatMap(({ seq, type, data }) =>
      seq <= upTo ? [{ type, data }] : [],
    );
  }

  /** The completed items, oldest first. The last summary is among them, whatever was forgotten of the time before it. */
  get history(): Item[] {
    const items = this.#turns.flatMap((turn) => turn.items);
    const summary = this.#summary?.item;
    return summary === undefined || items.includes(summary) ? items : [summary, ...items];
  }

  /** The number of the event that completed the last summary. */
  get summarySeq(): number | undefined {
    return this.#summary?.seq;
  }

  /** The prompts that wait, in the order in which they begin: those that interrupted a turn first, otherwise as they came. */
  get waiting(): QueuedTurn[] {
    const all = [...this.queued.values()].map(({ queued }) => queued);
    const interrupts = ({ interrupts }: QueuedTurn) => interrupts !== undefined;
    return [...all.filter(interrupts), ...all.filter((queued) => !interrupts(queued))];
  }

  /** How the approval ended, if it is one of this thread's latest. */
  resolvedApproval(requestId: string): ResolvedApproval | undefined {
    return this.#resolved.get(requestId);
  }

  /** The turn that was started under this `clientRequestId`, if it is one of the latest. */
  startedRequest(clientRequestId: string): StartedRequest | undefined {
    return this.#requests.get(clientRequestId);
  }

  /** Takes of an event before the others what it says of the prompts that wait. */
  recall(event: Event): void {
    if (event.type === "turn.queued") {
      const { turnId, queued } = event.data;
      this.queued.set(turnId, { seq: event.seq, queued });
      this.#remember(queued);
    } else if (event.type === "turn.started" || event.type === "turn.dequeued") {
      this.queued.delete(event.data.turnId);
    }
  }

  /** Takes of an event before the others the summary that it completed. */
  recallSummary(event: Event): void {
    if (event.type !== "item.completed") return;
    const { item } = event.data;
    if (item.type === "assistant_message" && item.data?.summary) this.#summary = { item, seq: event.seq };
  }

  apply(event: Event): void {
    this.lastSeq = event.seq;
    this.lastTime = event.time;
    this.recall(event);
    switch (event.type) {
      case "turn.started":
        this.#begin(event.data.turn);
        break;
      case "turn.step":
        this.steps.push(event.data);
        this.attempts = 0;
        break;
      case "turn.resumed":
        if (event.data.reason === "interrupted") this.attempts = event.data.attempt;
        this.#forget(event.data);
        break;
      case "turn.completed":
      case "turn.error":
        this.turn = undefined;
        this.#open.clear();
        this.#requested.clear();
        break;
      case "item.started":
      case "item.updated":
        this.#open.set(event.data.itemId, { item: event.data.item, streamed: [] });
        break;
      case "item.delta":
        this.#open.get(event.data.itemId)?.streamed.push(event.data.delta);
        break;
      case "item.completed":
        this.#open.delete(event.data.itemId);
        this.recallSummary(event);
        this.#keep(event.data.item);
        break;
      case "approval.requested":
        this.#requested.set(event.data.requestId, event);
        break;
      case "approval.resolved":
        this.#requested.delete(event.data.requestId);
        break;
      case "thread.updated":
        this.thread = event.data.thread;
        break;
      case "turn.queued":
      case "turn.dequeued":
      case "thread.created":
      case "thread.forked":
        break;
    }
  }

  #begin(turn: Turn): void {
    this.turn = turn;
    this.steps = [];
    this.attempts = 0;
    this.#turns.push({ turnId: turn.turnId, items: [], size: 0 });
    this.#remember(turn);
  }

  #remember({ turnId, clientRequestId, requestDigest }: Omit<Turn, "status" | "time">): void {
    if (clientRequestId !== undefined && requestDigest !== undefined) {
      this.#requests.set(clientRequestId, { turnId, requestDigest });
    }
  }

  /** What the model said in a step that is made again is not part of the history. */
  #forget({ turnId, step }: EventOf<"turn.resumed">["data"]): void {
    const turn = this.#turns.findLast((each) => each.turnId === turnId);
    if (!turn) return;
    const isForgotten = ({ type, data }: Item) =>
      type === "assistant_message" && data?.step !== undefined && data.step >= step;
    turn.items.splice(0, turn.items.length, ...turn.items.filter((item) => !isForgotten(item)));
  }

  #keep(item: Item): void {
    if (item.type === "tool_exec" && item.data?.status !== "unknown") this.attempts = 0;
    if (item.type === "approval" && item.data) {
      const { requestId, decision, resolvedBy = "server", scope, match, clientRequestId } = item.data;
      this.#resolved.set(requestId, defined({ resolvedBy, decision, scope, match, clientRequestId }));
    }
    const turn = this.#turns.findLast(({ turnId }) => turnId === item.turnId);
    if (!turn) return;
    const size = JSON.stringify(item.data ?? null).length;
    turn.items.push(item);
    turn.size += size;
    this.#size += size;
    while (this.#size > this.maxHistoryLength && this.#turns.length > 1) {
      this.#size -= this.#turns.shift()?.size ?? 0;
    }
  }
}
