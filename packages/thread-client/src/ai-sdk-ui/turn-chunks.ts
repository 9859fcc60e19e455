import type { Item, ItemOf, Turn } from "@harnesskit/protocol/threads";
import { defined } from "@harnesskit/wire/json";
import type { ThreadEvent } from "../thread-subscription.ts";
import { ApprovalChunks } from "./approval-chunks.ts";
import type { ThreadMessageMetadata, ThreadUIMessageChunk } from "./message-types.ts";
import { StepChunks } from "./step-chunks.ts";
import { ToolChunks } from "./tool-chunks.ts";

type Chunk = ThreadUIMessageChunk;

/** The major version of the AI SDK that reads the chunks. 7 reads all that 6 does, and answers to approvals. */
export type AiSdkVersion = 6 | 7;

/** What of a completed item is the agent's plan; undefined for an item that is none. */
export type PlanOf = (item: Item) => unknown;

export interface TurnChunksOptions {
  readonly turnId: string;
  readonly aiSdk: AiSdkVersion;
  readonly planOf: PlanOf;
}

/** Makes the chunks of one message from the events of one turn, from `turn.started` on. Pure: the same events give the same chunks. */
export class TurnChunks {
  readonly #options: TurnChunksOptions;
  readonly #steps = new StepChunks();
  readonly #tools: ToolChunks;
  readonly approvals: ApprovalChunks;
  /** The items that have begun and not ended. */
  readonly #open = new Map<string, Item["type"]>();
  /** The number of the last event that was taken. */
  #seq: number | undefined;
  #isEnded = false;

  constructor(options: TurnChunksOptions) {
    this.#options = options;
    this.#tools = new ToolChunks(this.#steps);
    this.approvals = new ApprovalChunks(this.#tools, options.aiSdk);
  }

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
    if (!("turnId" in event.data) || event.data.turnId !== this.#options.turnId || this.#isEnded) return [];
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
        if (type === "tool_log") return this.#tools.logDelta(itemId, delta);
        return type === "assistant_message" ? this.#steps.delta(itemId, delta) : [];
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
    return [{ type: "start", messageId: this.#options.turnId }];
  }

  /** The chunks that end a stream whose turn waits for a human. */
  pause(): Chunk[] {
    const seq = this.#seq;
    const messageMetadata = seq === undefined ? {} : { seq };
    return [...this.#steps.close(), { type: "finish", finishReason: "tool-calls", messageMetadata }];
  }

  #start({ threadId, turnId, time }: Turn): Chunk {
    const messageMetadata = { threadId, turnId, status: "running", startedAt: time.started } as const;
    return { type: "start", messageId: turnId, messageMetadata };
  }

  #begin(item: Item): Chunk[] {
    switch (item.type) {
      case "assistant_message":
        return this.#steps.beginText(item);
      case "tool_exec":
        return this.#tools.begin(item);
      case "tool_log":
        return this.#tools.beginLog(item);
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
        return this.#steps.completeText(item);
      case "tool_exec":
        return [
          ...this.#tools.complete(item, this.approvals.wasAskedAbout(item.itemId)),
          ...this.#plan(item),
        ];
      case "tool_log":
        return this.#tools.completeLog(item);
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
    const plan = this.#options.planOf(item);
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
    const open = [...this.#steps.endTexts(), ...this.#tools.endOpen()];
    return [...open, { type: "message-metadata", messageMetadata }, ...this.#steps.close(), ...last];
  }
}

/** An artifact of the kind `plan`, and the input of a call of the tool `update_plan` that succeeded. */
export const defaultPlanOf: PlanOf = ({ type, data }) => {
  if (type === "artifact") return data?.kind === "plan" ? data : undefined;
  if (type !== "tool_exec" || data?.tool !== "update_plan") return undefined;
  return data.status === "succeeded" ? data.input : undefined;
};
