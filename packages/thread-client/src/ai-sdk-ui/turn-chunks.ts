import type { Item, ItemOf, Turn } from "@harnesskit/protocol/threads";
import { defined } from "@harnesskit/wire/json";
import type { ThreadEvent } from "../thread-subscription.ts";
import { ApprovalChunks } from "./approval-chunks.ts";
import type { ThreadMessageMetadata, ThreadUIMessageChunk } from "./message-types.ts";
import { PartChunks } from "./part-chunks.ts";

type Chunk = ThreadUIMessageChunk;

/** What of a completed item is the agent's plan: an artifact of the kind `plan`, or the input of a call of `update_plan` that succeeded. */
const planOf = ({ type, data }: Item): unknown => {
  if (type === "artifact") return data?.kind === "plan" ? data : undefined;
  if (type !== "tool_exec" || data?.tool !== "update_plan") return undefined;
  return data.status === "succeeded" ? data.input : undefined;
};

/** Makes the chunks of one message from the events of one turn, from `turn.started` on. Pure: the same events give the same chunks. */
export class TurnChunks {
  readonly #parts = new PartChunks();
  readonly approvals = new ApprovalChunks(this.#parts);
  /** The items that have begun and not ended. */
  readonly #open = new Map<string, Item["type"]>();
  /** The number of the last event that was taken. */
  #seq: number | undefined;
  #isEnded = false;

  constructor(readonly turnId: string) {}

  /** The turn has ended, and its last chunk was returned. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Nothing goes on before a human has answered. */
  get isWaiting(): boolean {
    const { subjects } = this.approvals;
    if (this.#isEnded || subjects.size === 0) return false;
    for (const [itemId, type] of this.#open) {
      const isAsked = subjects.has(itemId) || type === "approval" || type === "user_message";
      if (!isAsked) return false;
    }
    return true;
  }

  /** The chunks of the next event. Events of other turns have none. */
  push(event: ThreadEvent): Chunk[] {
    if (!("turnId" in event.data) || event.data.turnId !== this.turnId || this.#isEnded) return [];
    this.#seq = event.seq ?? this.#seq;
    switch (event.type) {
      case "turn.started":
        return [this.#start(event.data.turn)];
      case "turn.completed":
        return this.#end(event.data.turn, event.data.status, {}, [
          event.data.status === "completed"
            ? { type: "finish", finishReason: "stop" }
            : { type: "abort", reason: "cancelled" },
        ]);
      case "turn.error": {
        const { turn, error, code } = event.data;
        return this.#end(turn, "error", { error, code }, [{ type: "error", errorText: error }]);
      }
      case "item.started":
      case "item.updated":
        this.#open.set(event.data.itemId, event.data.type);
        return this.#begin(event.data.item);
      case "item.delta": {
        const { itemId, type, delta } = event.data;
        if (type === "tool_log") return this.#parts.logDelta(itemId, delta);
        return type === "assistant_message" ? this.#parts.textDelta(itemId, delta) : [];
      }
      case "item.completed":
        this.#open.delete(event.data.itemId);
        return this.#complete(event.data.item);
      case "approval.requested":
        return this.approvals.ask(event.data);
      case "approval.resolved":
        return this.approvals.settle(event.data.requestId, event.data);
      default:
        return [];
    }
  }

  /** The chunks that begin a stream in the middle of the message. */
  resume(): Chunk[] {
    return [{ type: "start", messageId: this.turnId }];
  }

  /** The chunks that end a stream whose turn waits for a human. */
  pause(): Chunk[] {
    const seq = this.#seq;
    const messageMetadata = seq === undefined ? {} : { seq };
    return [...this.#parts.closeStep(), { type: "finish", finishReason: "tool-calls", messageMetadata }];
  }

  #start({ threadId, turnId, time }: Turn): Chunk {
    const messageMetadata = { threadId, turnId, status: "running", startedAt: time.started } as const;
    return { type: "start", messageId: turnId, messageMetadata };
  }

  #begin(item: Item): Chunk[] {
    switch (item.type) {
      case "assistant_message":
        return this.#parts.beginText(item);
      case "tool_exec":
        return this.#parts.beginCall(item);
      case "tool_log":
        return this.#parts.beginLog(item);
      case "approval":
        this.approvals.begin(item);
        return [];
      default:
        return [];
    }
  }

  #complete(item: Item): Chunk[] {
    switch (item.type) {
      case "assistant_message":
        return this.#parts.completeText(item);
      case "tool_exec":
        return [
          ...this.#parts.completeCall(item, this.approvals.wasAskedAbout(item.itemId)),
          ...this.#plan(item),
        ];
      case "tool_log":
        return this.#parts.completeLog(item);
      case "approval":
        return item.data ? this.approvals.settle(item.data.requestId, item.data) : [];
      case "artifact":
        return this.#artifact(item);
      default:
        return [];
    }
  }

  #artifact(item: ItemOf<"artifact">): Chunk[] {
    const plan = this.#plan(item);
    if (plan.length > 0 || !item.data) return plan;
    return [{ type: "data-artifact", id: item.itemId, data: item.data }];
  }

  #plan(item: Item): Chunk[] {
    const plan = planOf(item);
    return plan === undefined ? [] : [{ type: "data-plan", id: "plan", data: plan }];
  }

  #end(
    { threadId, turnId, time, usage }: Turn,
    status: Turn["status"],
    failure: Pick<ThreadMessageMetadata, "error" | "code">,
    last: Chunk[],
  ): Chunk[] {
    this.#isEnded = true;
    const messageMetadata = defined({
      ...{ threadId, turnId, status, startedAt: time.started, ...failure },
      seq: this.#seq,
      endedAt: time.completed,
      usage,
    });
    const end: Chunk = { type: "message-metadata", messageMetadata };
    return [...this.#parts.endOpen(), end, ...this.#parts.closeStep(), ...last];
  }
}
