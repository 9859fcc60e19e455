import type { JsonObject } from "@harnesskit/protocol/envelope";
import { callSafely } from "@harnesskit/wire";
import { defined } from "@harnesskit/wire/json";
import { clip } from "../supervise/clip.ts";
import type { GenerateResult, StreamPart } from "./model-types.ts";

const maxToolCalls = 100;

type Part = StreamPart | GenerateResult["content"][number];

/**
 * What is reported of a response: the beginning of its text, its tool calls by name, how it finished, its usage. A provider that says
 * something odd spoils its report, and not the answer.
 */
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
    callSafely(() => {
      for (const part of result.content) this.#add(part);
      this.#finish(result);
    });
  }

  add(part: Part): void {
    callSafely(() => this.#add(part));
  }

  toJson(): JsonObject {
    const hasCalls = this.#toolCallCount > 0;
    return defined({
      text: clip(this.#text, this.#maxTextBytes),
      text_length: this.#textLength,
      tool_calls: hasCalls ? this.#toolCalls : undefined,
      tool_call_count: hasCalls ? this.#toolCallCount : undefined,
      ...this.#end,
    });
  }

  #add(part: Part): void {
    if (part.type === "text") this.#addText(part.text);
    else if (part.type === "text-delta") this.#addText(part.delta);
    else if (part.type === "finish") this.#finish(part);
    else if (part.type === "error") this.error = part.error ?? "the model's stream reported an error";
    else if (part.type === "tool-call" && ++this.#toolCallCount <= maxToolCalls) {
      const { toolCallId, toolName, providerExecuted } = part;
      const call = { tool_call_id: clip(toolCallId, 512), tool_name: clip(toolName, 512) };
      this.#toolCalls.push(providerExecuted ? { ...call, provider_executed: true } : call);
    }
  }

  #addText(text: string): void {
    this.#textLength += text.length;
    // One more than can be reported, so that the cut is visible.
    const room = this.#maxTextBytes + 1 - this.#text.length;
    if (room > 0) this.#text += text.slice(0, room);
  }

  #finish({ finishReason, usage }: Pick<GenerateResult, "finishReason" | "usage">): void {
    const { inputTokens, outputTokens } = usage;
    const counts = defined({
      input_tokens: inputTokens.total,
      output_tokens: outputTokens.total,
      cache_read_tokens: inputTokens.cacheRead,
      cache_write_tokens: inputTokens.cacheWrite,
    });
    this.#end = { finish_reason: finishReason.unified, usage: counts };
  }
}
