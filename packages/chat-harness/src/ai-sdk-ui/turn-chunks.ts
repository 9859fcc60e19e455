import type { ChatMessage, ChatTurnOutcome, SignalDescriptor } from "@harnesskit/protocol/chat";
import { HarnessError } from "@harnesskit/wire";
import { UiParts } from "@harnesskit/wire/ui-message";
import { approvalRequestsOf } from "../ai-sdk/approval.ts";
import type { ChatEvent } from "../ai-sdk/chat-events.ts";
import { failureOfText } from "../ai-sdk/failure-text.ts";
import {
  type DataPart,
  type HarnessMessageMetadata,
  type HarnessUIMessageChunk,
  type HarnessUIPart,
  questionTool,
} from "./message-types.ts";

type Chunk = HarnessUIMessageChunk;
type Kind = "text" | "reasoning";

/** A call that the model asked for, with the input that was said last. */
interface AskedCall {
  readonly name: string;
  readonly input: unknown;
  readonly step: number;
}

const cancelled = new Set(["turn_cancelled", "turn_timeout", "turn_abandoned"]);

/** The codes whose messages are for the page. Others may name addresses and paths. */
const refusals = new Set([
  "approval_settled",
  "chat_message_shape_invalid",
  "harness_busy",
  "session_busy",
  "turn_busy",
]);

/** The end of a turn that rejected: it was cancelled or refused, or something failed that is not for the page. */
export const failureKind = (error: unknown): "cancelled" | "refused" | "failed" => {
  const code = HarnessError.isInstance(error) ? error.code : "";
  if (cancelled.has(code)) return "cancelled";
  return refusals.has(code) ? "refused" : "failed";
};

/** The output of a call: what its text says as JSON, where that is structured. */
const toOutput = (content: string): unknown => {
  if (!/^\s*[[{]/u.test(content)) return content;
  try {
    return JSON.parse(content);
  } catch {
    return content;
  }
};

/**
 * Makes one message of the assistant, and its chunks: from the events of a turn, from its outcome what no event has said, and from the
 * history. A call is said once it starts, asks or ends: beside one that only waits for its turn, useChat sends no answer to an approval.
 */
export class TurnChunks {
  readonly #parts = new UiParts<DataPart>();
  /** The texts that were said. */
  readonly #saidTexts = new Set<string>();
  readonly #calls = new Map<string, AskedCall>();
  /** The approval that each call has asked for. */
  readonly #approvals = new Map<string, string>();
  #textCount = 0;
  /** The text that events add to. */
  #open: { readonly kind: Kind; readonly id: string; text: string } | undefined;

  constructor(readonly messageId: string) {}

  get parts(): HarnessUIPart[] {
    return this.#parts.parts as HarnessUIPart[];
  }

  /** Ends the step of what was said before a pause, and returns its chunks. */
  past(): Chunk[] {
    this.#parts.endStep();
    return this.#parts.take();
  }

  event(event: ChatEvent): Chunk[] {
    const { type, step } = event;
    if (type === "text" || type === "thinking")
      this.#append(type === "text" ? type : "reasoning", event.delta, step);
    else this.#endText();
    if (type === "call" || (type === "result" && !this.#calls.has(event.call.id))) {
      const { id, name, arguments: input } = event.call;
      this.#calls.set(id, { name, input, step });
    }
    if (type === "tool_started")
      this.#call(event.call.id, { name: event.call.name, input: event.input, step });
    if (type === "result") this.#end(event.call.id, event.content);
    return this.#parts.take();
  }

  /**
   * Adds what these messages say that was not said: one step for each message of the assistant, results within their calls. And what
   * the turn waits for: the approvals of calls, or another pause as a call of its own, whose output the page gives.
   */
  say(messages: readonly ChatMessage[], pauses: readonly SignalDescriptor[]): this {
    // These messages may say the same more than once.
    const saidBefore = new Set(this.#saidTexts);
    for (const [index, message] of messages.entries()) {
      if (message.role === "tool") this.#end(message.tool_call_id, message.content);
      if (message.role !== "assistant") continue;
      const { content = [], tool_calls: calls = [] } = message;
      // No event has a step with such a number.
      const step = index - messages.length;
      for (const block of typeof content === "string"
        ? [{ type: "text" as const, text: content }]
        : content) {
        if (block.type === "redacted_thinking" || saidBefore.has(block.text)) continue;
        this.#append(block.type === "text" ? "text" : "reasoning", block.text, step);
        this.#endText();
      }
      for (const { id, name, arguments: input } of calls ?? []) {
        if (!this.#calls.has(id)) this.#calls.set(id, { name, input, step });
      }
    }
    for (const pause of pauses) this.#pause(pause);
    return this;
  }

  #pause(descriptor: SignalDescriptor): void {
    const requests = approvalRequestsOf(descriptor);
    const { signal_id: signalId, metadata = {} } = descriptor;
    if (requests.length === 0) {
      this.#parts.data({ type: "data-question", id: signalId, data: descriptor });
      this.#parts.call(signalId, questionTool, metadata, undefined, false);
    }
    for (const { signal_id: id, ...request } of requests) {
      const { call_id: callId, tool: name, input } = request;
      this.#call(callId, { name, input, step: this.#calls.get(callId)?.step ?? 0 });
      this.#parts.data({ type: "data-approval", id, data: { ...request, signalId: id } });
      this.#parts.ask(callId, id);
      this.#approvals.set(callId, id);
    }
  }

  /** The end of the turn. `extra` are parts of the application's. */
  outcome(outcome: ChatTurnOutcome, extra: readonly DataPart[]): Chunk[] {
    if (outcome.outcome === "errored") return this.#fail(outcome.reply.content);
    this.#endText();
    const isCompleted = outcome.outcome === "completed";
    this.say(isCompleted ? outcome.replies : outcome.pending_messages, []);
    for (const part of extra) this.#parts.data(part);
    if (!isCompleted) this.#pause(outcome.signal_descriptor);
    this.#parts.endStep();
    const messageMetadata: HarnessMessageMetadata = { status: isCompleted ? "completed" : "suspended" };
    const finishReason = isCompleted ? "stop" : "tool-calls";
    return [...this.#parts.take(), { type: "finish", finishReason, messageMetadata }];
  }

  /** The end of a turn that rejected. */
  failure(error: unknown): Chunk[] {
    const kind = failureKind(error);
    if (kind === "failed") return this.#fail("The turn could not be run.");
    const { code, message } = error as HarnessError;
    return kind === "refused"
      ? this.#fail(message)
      : this.#stop({ status: "cancelled" }, { type: "abort", reason: code });
  }

  #fail(errorText: string): Chunk[] {
    return this.#stop({ status: "error", error: errorText }, { type: "error", errorText });
  }

  #stop(messageMetadata: HarnessMessageMetadata, last: Chunk): Chunk[] {
    this.#endText();
    this.#parts.endStep();
    return [...this.#parts.take(), { type: "message-metadata", messageMetadata }, last];
  }

  #append(kind: Kind, delta: string, step: number): void {
    if (delta === "") return;
    if (this.#open?.kind !== kind) {
      this.#endText();
      this.#open = { kind, id: `${this.messageId}.${++this.#textCount}`, text: "" };
      this.#parts.beginText(this.#open.id, kind, step);
    }
    this.#open.text += delta;
    this.#parts.appendText(this.#open.id, delta);
  }

  #endText(): void {
    if (!this.#open) return;
    this.#saidTexts.add(this.#open.text);
    this.#parts.endText(this.#open.id);
    this.#open = undefined;
  }

  #call(id: string, call: AskedCall): void {
    this.#calls.set(id, call);
    this.#parts.call(id, call.name, call.input, call.step);
  }

  /** The end of a call, as a message of the role `tool` says it. */
  #end(id: string, content: string): void {
    const call = this.#calls.get(id);
    if (!call) return;
    this.#call(id, call);
    const failure = failureOfText(content);
    if (failure === undefined) this.#parts.succeed(id, toOutput(content));
    else if (failure.status !== "rejected") this.#parts.fail(id, failure.message);
    else {
      const approvalId = this.#approvals.get(id) ?? id;
      if (!this.#approvals.has(id)) this.#parts.ask(id, approvalId);
      this.#parts.answer(id, { id: approvalId, approved: false });
      this.#parts.deny(id);
    }
  }
}
