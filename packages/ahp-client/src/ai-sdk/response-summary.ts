import type { JsonObject } from "@harnesskit/protocol/envelope";
import { defined } from "@harnesskit/wire/json";
import { clip } from "../supervise/clip.ts";
import type { GenerateResult, StreamPart } from "./model-types.ts";

const maxToolCalls = 100;

type Content = GenerateResult["content"][number];
type Part = StreamPart | Content;

/** A provider that says something odd spoils its report, and not the answer. */
const tolerant = (look: () => void): void => {
  try {
    look();
  } catch {
    // The report lacks it.
  }
};

/** What is reported of a response: the beginning of its text, its tool calls by name, how it finished, its usage. */
export class ResponseSummary {
  readonly #maxTextBytes: number;
  readonly #toolCalls: JsonObject[] = [];
  #toolCallCount = 0;
  #text = "";
  #textLength = 0;
  #end: JsonObject = {};
  /** An error that the stream reported. */
  error: unknown;

  constructor(maxTextBytes: number) {
    this.#maxTextBytes = maxTextBytes;
  }

  addResult(result: GenerateResult): void {
    tolerant(() => {
      for (const part of result.content) this.#add(part);
      this.#finish(result.finishReason, result.usage);
    });
  }

  add(part: Part): void {
    tolerant(() => this.#add(part));
  }

  toJson(): JsonObject {
    return defined({
      text: clip(this.#text, this.#maxTextBytes),
      text_length: this.#textLength,
      tool_calls: this.#toolCallCount > 0 ? this.#toolCalls : undefined,
      tool_call_count: this.#toolCallCount > 0 ? this.#toolCallCount : undefined,
      ...this.#end,
    });
  }

  #add(part: Part): void {
    if (part.type === "text") this.#addText(part.text);
    else if (part.type === "text-delta") this.#addText(part.delta);
    else if (part.type === "tool-call") this.#addToolCall(part);
    else if (part.type === "finish") this.#finish(part.finishReason, part.usage);
    else if (part.type === "error") this.error = part.error ?? "the model's stream reported an error";
  }

  #addText(text: string): void {
    this.#textLength += text.length;
    // One more than can be reported, so that the cut is visible.
    const room = this.#maxTextBytes + 1 - this.#text.length;
    if (room > 0) this.#text += text.slice(0, room);
  }

  #addToolCall({ toolCallId, toolName, providerExecuted }: Extract<Part, { type: "tool-call" }>): void {
    if (++this.#toolCallCount > maxToolCalls) return;
    this.#toolCalls.push(
      defined({
        tool_call_id: clip(toolCallId, 512),
        tool_name: clip(toolName, 512),
        provider_executed: providerExecuted ? true : undefined,
      }),
    );
  }

  #finish(
    reason: GenerateResult["finishReason"],
    { inputTokens, outputTokens }: GenerateResult["usage"],
  ): void {
    const usage = defined({
      input_tokens: inputTokens.total,
      output_tokens: outputTokens.total,
      cache_read_tokens: inputTokens.cacheRead,
      cache_write_tokens: inputTokens.cacheWrite,
    });
    this.#end = { finish_reason: reason.unified, usage };
  }
}
