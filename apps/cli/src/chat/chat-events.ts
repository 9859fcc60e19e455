import { failureOfText } from "@harnesskit/chat-harness";
import type { ChatProgress } from "@harnesskit/chat-harness/ai-sdk";
import type { ChatMessage, ChatTurnOutcome, ToolCall } from "@harnesskit/protocol/chat";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import type { EventBody, ItemData, ItemOf, Turn } from "@harnesskit/protocol/threads";
import { io } from "../io.ts";
import type { BlockedCall } from "../timeline/judgements.ts";
import { conversationEnd } from "../timeline/outcomes.ts";

type Shown = "assistant_message" | "tool_exec" | "tool_log";
type Stream = ItemData<"tool_log">["stream"];
type Message = { readonly itemId: string; readonly isThinking: boolean; text: string };

/** The turns of a conversation as the events of a thread, so that both are shown, and end, in one way. */
export class ChatEvents {
  readonly #show: (event: EventBody) => void;
  readonly #started = new Map<string, { readonly tool: string; readonly input: JsonObject }>();
  readonly #blocked = new Map<string, BlockedCall>();
  readonly #printed = new Map<string, ItemData<"tool_log">>();
  #items = 0;
  #turn: Turn = { threadId: "", turnId: "turn", status: "running", time: { started: 0 } };
  #message: Message | undefined;
  #hasSpoken = false;
  #isOpen = false;

  constructor(show: (event: EventBody) => void) {
    this.#show = show;
  }

  /** True once the model has said something in this turn. */
  get hasSpoken(): boolean {
    return this.#hasSpoken;
  }

  /** A turn begins, or goes on after its approval. */
  begin(): void {
    this.#hasSpoken = false;
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.#turn = { ...this.#turn, status: "running", time: { started: io().clock.now() } };
    this.#show({ type: "turn.started", data: { ...this.#place, turn: this.#turn } });
  }

  /** The policy blocks a call, whose result comes. */
  blocks(call: BlockedCall, id: string): void {
    this.#blocked.set(id, call);
  }

  progress(progress: ChatProgress): void {
    switch (progress.type) {
      case "text":
      case "thinking":
        this.#say(progress.delta, progress.type === "thinking");
        return;
      case "tool_started":
        this.#start(progress.call, progress.input);
        return;
      case "result":
        this.#result(progress.call, progress.content);
        return;
      case "summarised":
        this.#summary(progress);
        return;
      case "model_failed":
      case "model_ended":
        this.endMessage();
    }
  }

  /** What a call prints while it runs. */
  output(callId: string, stream: Stream, text: string): void {
    const itemId = `${callId} ${stream}`;
    const before = this.#printed.get(itemId);
    const data = { toolItemId: callId, stream, text: (before?.text ?? "") + text };
    this.#printed.set(itemId, data);
    if (before === undefined) this.#item("item.started", "tool_log", itemId, { ...data, text: "" });
    this.#show({ type: "item.delta", data: { ...this.#place, itemId, delta: text } } as EventBody);
  }

  #endOutput(callId: string): void {
    for (const stream of ["stdout", "stderr"] as const) {
      const itemId = `${callId} ${stream}`;
      const data = this.#printed.get(itemId);
      this.#printed.delete(itemId);
      if (data !== undefined) this.#item("item.completed", "tool_log", itemId, data);
    }
  }

  /** A turn that ended; one that waits goes on. */
  end(turn: ChatTurnOutcome): void {
    this.endMessage();
    if (turn.outcome === "suspended") return;
    this.#isOpen = false;
    const time = { ...this.#turn.time, completed: io().clock.now() };
    if (turn.outcome === "errored") {
      const failed: Turn = { ...this.#turn, status: "error", time };
      const { error_category: code = "", reply } = turn;
      this.#show({
        type: "turn.error",
        data: { ...this.#place, turn: failed, error: reply.content, code },
      });
    } else {
      const status = "completed";
      this.#show({
        type: "turn.completed",
        data: { ...this.#place, status, turn: { ...this.#turn, status, time } },
      });
    }
  }

  /** What was said in a turn that ended before. */
  recall(messages: readonly ChatMessage[]): void {
    for (const message of messages) {
      if (message.role === "tool") {
        const failure = failureOfText(message.content);
        if (failure !== undefined)
          this.#result({ id: message.tool_call_id, name: "call", arguments: {} }, message.content);
      } else if (message.role === "assistant") {
        const { content = "" } = message;
        const blocks = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
        for (const block of blocks)
          if (block.type === "text" && block.text !== "") this.#say(block.text, false);
        this.endMessage();
      }
    }
  }

  #summary({ text, messages, calls }: Extract<ChatProgress, { type: "summarised" }>): void {
    this.endMessage();
    const summary = { turnId: this.#turn.turnId, messages, calls };
    this.#item("item.completed", "assistant_message", `item_${++this.#items}`, {
      text,
      reasoning: true,
      summary,
    });
  }

  endMessage(): void {
    if (this.#message === undefined) return;
    const { itemId, text, isThinking } = this.#message;
    this.#message = undefined;
    this.#item("item.completed", "assistant_message", itemId, {
      text,
      reasoning: isThinking || undefined,
    });
  }

  get #place() {
    const { threadId, turnId } = this.#turn;
    return { threadId, turnId };
  }

  #item<T extends Shown>(
    type: "item.started" | "item.completed",
    kind: T,
    itemId: string,
    data: ItemData<T>,
  ): void {
    const item = { ...this.#place, itemId, type: kind, data } as unknown as ItemOf<T>;
    this.#show({ type, data: { ...this.#place, itemId, type: kind, item } } as unknown as EventBody);
  }

  #say(delta: string, isThinking: boolean): void {
    if (this.#message?.isThinking !== isThinking) {
      this.endMessage();
      this.#message = { itemId: `message_${++this.#items}`, isThinking, text: "" };
      const data = { text: "", reasoning: isThinking || undefined };
      this.#item("item.started", "assistant_message", this.#message.itemId, data);
    }
    this.#hasSpoken ||= !isThinking;
    this.#message.text += delta;
    this.#show({
      type: "item.delta",
      data: { ...this.#place, itemId: this.#message.itemId, delta },
    } as EventBody);
  }

  #start({ id, name: tool }: ToolCall, input: JsonObject): void {
    this.endMessage();
    this.#started.set(id, { tool, input });
    this.#item("item.started", "tool_exec", id, { tool, input, status: "running" });
  }

  #result(call: ToolCall, content: string): void {
    const { id, name } = call;
    if (!this.#started.has(id)) this.#start(call, (call.arguments ?? {}) as JsonObject);
    this.#endOutput(id);
    const { tool, input } = this.#started.get(id) ?? { tool: name, input: {} };
    this.#started.delete(id);
    const judgement = this.#blocked.get(id)?.judgement;
    this.#blocked.delete(id);
    const failure = failureOfText(content);
    const end = failure && conversationEnd(failure);
    const ended: Partial<ItemData<"tool_exec">> =
      end === undefined
        ? { status: "succeeded", output: content }
        : { status: end.status === "not_run" ? "cancelled" : end.status, code: end.code, error: end.message };
    this.#item("item.completed", "tool_exec", id, {
      ...{ tool, input, judgement },
      ...ended,
    } as ItemData<"tool_exec">);
  }
}
