import type { ChatMessage, ChatTurnOutcome } from "@harnesskit/protocol/chat";
import { HarnessError, jsonDifference } from "@harnesskit/wire";
import type { ChatEvent } from "../ai-sdk/chat-events.ts";
import { endCall, isOpenCall, partsOf, toCall, withPause } from "./message-parts.ts";
import type { HarnessMessageMetadata, HarnessUIMessageChunk, HarnessUIPart } from "./message-types.ts";
import { PartChunks } from "./part-chunks.ts";

type Chunk = HarnessUIMessageChunk;
type Text = { readonly kind: "text" | "reasoning"; readonly id: string; text: string };

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

/** Makes the chunks of one turn from its events, and from its outcome what no event has said. */
export class TurnChunks {
  readonly #parts: PartChunks;
  /** The texts and the calls that were said. */
  readonly #saidTexts = new Set<string>();
  readonly #saidCalls = new Map<string, readonly unknown[]>();
  readonly #endedCalls = new Set<string>();
  #step: number | undefined;
  #text: Text | undefined;

  constructor(messageId: string) {
    this.#parts = new PartChunks(messageId);
  }

  /** What the message has so far, for a reader that has nothing of it. */
  past(parts: readonly HarnessUIPart[]): Chunk[] {
    for (const part of parts) {
      if (part.type === "text" || part.type === "reasoning") this.#saidTexts.add(part.text);
      if (part.type !== "dynamic-tool") continue;
      this.#saidCalls.set(part.toolCallId, [part.toolName, part.input]);
      if (part.state.startsWith("output-")) this.#endedCalls.add(part.toolCallId);
    }
    return [...this.#parts.of(parts), ...this.#parts.close()];
  }

  event(event: ChatEvent): Chunk[] {
    const isNext = event.step !== this.#step && event.type !== "tool_started" && event.type !== "result";
    const begin = isNext ? [...this.#endText(), ...this.#parts.step()] : [];
    if (isNext) this.#step = event.step;
    switch (event.type) {
      case "text":
      case "thinking":
        return [...begin, ...this.#say(event.type === "text" ? "text" : "reasoning", event.delta)];
      case "tool_started":
        return [...begin, ...this.#endText(), ...this.#call(event.call.id, event.call.name, event.input)];
      case "result":
        return this.#result(event.call.id, event.call.name, event.call.arguments, event.content);
      // A call is said once it starts or asks: beside one that only waits for its turn, useChat sends no answer to an approval.
      case "call":
      case "model_ended":
      case "model_failed":
      // A note on what the model is given, and nothing that was said.
      case "summarised":
        return [...begin, ...this.#endText()];
    }
  }

  /** The end of the turn. `extra` are parts of the application's. */
  outcome(outcome: ChatTurnOutcome, extra: readonly HarnessUIPart[]): Chunk[] {
    const end = this.#endText();
    if (outcome.outcome === "errored") return [...end, ...this.#fail(outcome.reply.content)];
    if (outcome.outcome === "completed") {
      const said = [...this.#unsaid(outcome.replies), ...this.#parts.of(extra)];
      return [...end, ...said, ...this.#finish("completed", "stop")];
    }
    const waits = withPause([], outcome.signal_descriptor);
    const said = [...this.#unsaid(outcome.pending_messages), ...this.#parts.of([...extra, ...waits])];
    return [...end, ...said, ...this.#finish("suspended", "tool-calls")];
  }

  /** The end of a turn that rejected. */
  failure(error: unknown): Chunk[] {
    const kind = failureKind(error);
    if (kind === "failed") return [...this.#endText(), ...this.#fail("The turn could not be run.")];
    const { code, message } = error as HarnessError;
    if (kind === "refused") return [...this.#endText(), ...this.#fail(message)];
    const messageMetadata: HarnessMessageMetadata = { status: "cancelled" };
    const end = [...this.#endText(), ...this.#parts.close()];
    return [...end, { type: "message-metadata", messageMetadata }, { type: "abort", reason: code }];
  }

  #fail(errorText: string): Chunk[] {
    const messageMetadata: HarnessMessageMetadata = { status: "error", error: errorText };
    return [
      ...this.#parts.close(),
      { type: "message-metadata", messageMetadata },
      { type: "error", errorText },
    ];
  }

  #finish(status: "completed" | "suspended", finishReason: "stop" | "tool-calls"): Chunk[] {
    return [...this.#parts.close(), { type: "finish", finishReason, messageMetadata: { status } }];
  }

  #say(kind: Text["kind"], delta: string): Chunk[] {
    const chunks: Chunk[] = [];
    if (this.#text?.kind !== kind) {
      chunks.push(...this.#endText(), ...this.#parts.ensureStep());
      this.#text = { kind, id: this.#parts.textId(), text: "" };
      chunks.push({ type: `${kind}-start`, id: this.#text.id });
    }
    this.#text.text += delta;
    return [...chunks, { type: `${kind}-delta`, id: this.#text.id, delta }];
  }

  #endText(): Chunk[] {
    const text = this.#text;
    this.#text = undefined;
    if (!text) return [];
    this.#saidTexts.add(text.text);
    return [{ type: `${text.kind}-end`, id: text.id }];
  }

  #call(id: string, name: string, input: unknown): Chunk[] {
    const said = [name, input];
    const known = this.#saidCalls.get(id);
    if (known && !jsonDifference(known, said)) return [];
    this.#saidCalls.set(id, said);
    return this.#parts.of([toCall(id, name, input)]);
  }

  #result(id: string, name: string, input: unknown, content: string): Chunk[] {
    this.#endedCalls.add(id);
    const begin = this.#saidCalls.has(id) ? [] : this.#call(id, name, input);
    const ended = this.#parts.of([endCall(toCall(id, name, input), content)]);
    return [...begin, ...ended.filter(({ type }) => type.startsWith("tool-output-"))];
  }

  /** What the turn added to the conversation and no event said, such as the messages of other nodes. */
  #unsaid(messages: readonly ChatMessage[]): Chunk[] {
    const isSaid = (part: HarnessUIPart): boolean => {
      if (part.type === "text" || part.type === "reasoning") return this.#saidTexts.has(part.text);
      return part.type === "dynamic-tool" && this.#endedCalls.has(part.toolCallId);
    };
    const unsaid = partsOf(messages).filter((part) => !isSaid(part) && !isOpenCall(part));
    const isEmpty = unsaid.every(({ type }) => type === "step-start");
    return isEmpty ? [] : this.#parts.of(unsaid.filter(({ type }, at) => type !== "step-start" || at === 0));
  }
}
