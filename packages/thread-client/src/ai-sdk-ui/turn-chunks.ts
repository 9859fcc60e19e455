import type { Item, ItemData, ItemOf, Turn } from "@harnesskit/protocol/threads";
import { defined } from "@harnesskit/wire/json";
import { UiParts } from "@harnesskit/wire/ui-message";
import type { ThreadEvent } from "../thread-subscription.ts";
import type {
  ThreadDataChunk,
  ThreadMessageMetadata,
  ThreadUIMessage,
  ThreadUIMessageChunk,
  ToolLogData,
} from "./message-types.ts";
import { TurnApprovals } from "./turn-approvals.ts";

type Chunk = ThreadUIMessageChunk;

const interrupted = "The turn ended before this call did.";

/** Why a call without an output has none, for people. */
const callFailureText = ({ status, error }: ItemData<"tool_exec">): string => {
  if (error !== undefined && error !== "") return error;
  return status === "unknown" ? "It may have run; its end was not recorded." : `The call was ${status}.`;
};

/** What of a completed item is the agent's plan: an artifact of the kind `plan`, or the input of a call of `update_plan` that succeeded. */
const planOf = ({ type, data }: Item): unknown => {
  if (type === "artifact") return data?.kind === "plan" ? data : undefined;
  if (type !== "tool_exec" || data?.tool !== "update_plan") return undefined;
  return data.status === "succeeded" ? data.input : undefined;
};

const logOf = ({ toolItemId, stream, channel }: ItemData<"tool_log">): ToolLogData => ({
  toolCallId: toolItemId,
  stream,
  channel: channel || undefined,
});

/** Makes one message, and its chunks, from the events of one turn, from `turn.started` on. Pure: the same events give the same chunks. */
export class TurnChunks {
  readonly #parts = new UiParts<ThreadDataChunk>();
  readonly approvals = new TurnApprovals(this.#parts);
  readonly #logs = new Map<string, ToolLogData>();
  /** The items that have begun and not ended. */
  readonly #open = new Map<string, Item["type"]>();
  #metadata: ThreadMessageMetadata = {};
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

  /** The message as far as its events have come. */
  get message(): ThreadUIMessage {
    const parts = this.#parts.parts as ThreadUIMessage["parts"];
    return { id: this.turnId, role: "assistant", metadata: this.#metadata, parts };
  }

  /** The chunks of the next event. Events of other turns have none. */
  push(event: ThreadEvent): Chunk[] {
    if (!("turnId" in event.data) || event.data.turnId !== this.turnId || this.#isEnded) return [];
    if (event.seq !== undefined) this.#metadata = { ...this.#metadata, seq: event.seq };
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
        this.#begin(event.data.item);
        break;
      case "item.delta": {
        const { itemId, type, delta } = event.data;
        if (type === "tool_log") this.#addLog(itemId, delta);
        if (type === "assistant_message") this.#parts.appendText(itemId, delta);
        break;
      }
      case "item.completed":
        this.#open.delete(event.data.itemId);
        this.#complete(event.data.item);
        break;
      case "approval.requested":
        this.approvals.ask(event.data);
        break;
      case "approval.resolved":
        this.approvals.settle(event.data.requestId, event.data);
        break;
      default:
        break;
    }
    return this.#parts.take();
  }

  /** The chunks that begin a stream in the middle of the message. */
  resume(): Chunk[] {
    return [{ type: "start", messageId: this.turnId }];
  }

  /** The chunks that end a stream whose turn waits for a human. */
  pause(): Chunk[] {
    const { seq } = this.#metadata;
    this.#parts.endStep();
    const messageMetadata = seq === undefined ? {} : { seq };
    return [...this.#parts.take(), { type: "finish", finishReason: "tool-calls", messageMetadata }];
  }

  #start({ threadId, turnId, time }: Turn): Chunk {
    const messageMetadata = { threadId, turnId, status: "running", startedAt: time.started } as const;
    this.#metadata = { ...this.#metadata, ...messageMetadata };
    return { type: "start", messageId: turnId, messageMetadata };
  }

  #begin(item: Item): void {
    const { itemId, type, data } = item;
    if (type === "assistant_message") this.#beginText(item, data?.text ?? "");
    else if (type === "tool_exec") this.#beginCall(item);
    else if (type === "approval") this.approvals.begin(item);
    else if (type === "tool_log" && data) {
      this.#logs.set(itemId, logOf(data));
      this.#addLog(itemId, data.text);
    }
  }

  #complete(item: Item): void {
    const { itemId, type, data } = item;
    if (type === "assistant_message") {
      this.#beginText(item, "");
      this.#parts.endText(itemId, data?.text);
    } else if (type === "tool_exec") this.#endCall(item);
    else if (type === "tool_log") {
      this.#logs.delete(itemId);
      const { text, truncated } = data ?? {};
      if (data && text)
        this.#parts.data({ type: "data-tool-log", id: itemId, data: { ...logOf(data), text, truncated } });
    } else if (type === "approval" && data) this.approvals.settle(data.requestId, data);
    const plan = planOf(item);
    if (plan !== undefined) this.#parts.data({ type: "data-plan", id: "plan", data: plan });
    else if (type === "artifact" && data) this.#parts.data({ type: "data-artifact", id: itemId, data });
  }

  #beginText({ itemId, data }: ItemOf<"assistant_message">, text: string): void {
    if (this.#parts.beginText(itemId, data?.reasoning ? "reasoning" : "text", data?.step))
      this.#parts.appendText(itemId, text);
  }

  #beginCall({ itemId, data }: ItemOf<"tool_exec">): void {
    if (data) this.#parts.call(itemId, data.tool, data.input, data.step);
  }

  /** A refusal is one of a human where a human was asked. */
  #endCall(item: ItemOf<"tool_exec">): void {
    const { itemId, data } = item;
    if (!data) return;
    this.#beginCall(item);
    if (data.status === "succeeded") this.#parts.succeed(itemId, data.output ?? null);
    else if (data.status === "rejected" && this.approvals.wasAskedAbout(itemId)) this.#parts.deny(itemId);
    else this.#parts.fail(itemId, callFailureText(data));
  }

  #addLog(id: string, delta: string): void {
    const log = this.#logs.get(id);
    if (log && delta !== "")
      this.#parts.data({ type: "data-tool-log", id, data: { ...log, delta }, transient: true });
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
      seq: this.#metadata.seq,
      endedAt: time.completed,
      usage,
    });
    this.#metadata = { ...this.#metadata, ...messageMetadata };
    this.#parts.endOpen(interrupted);
    const said = this.#parts.take();
    this.#parts.endStep();
    return [...said, { type: "message-metadata", messageMetadata }, ...this.#parts.take(), ...last];
  }
}
