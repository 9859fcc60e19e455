import type { ItemData, ItemOf } from "@harnesskit/protocol/threads";
import { jsonDifference } from "@harnesskit/wire";
import type { ThreadUIMessageChunk, ToolLogData } from "./message-types.ts";
import type { StepChunks } from "./step-chunks.ts";

type Chunk = ThreadUIMessageChunk;

const interrupted = "The turn ended before this call did.";

/** Why a call without an output has none, for people. */
const callFailureText = ({ status, error }: ItemData<"tool_exec">): string => {
  if (error !== undefined && error !== "") return error;
  return status === "unknown" ? "It may have run; its end was not recorded." : `The call was ${status}.`;
};

/** The calls of a message. They are parts of the type `dynamic-tool`: their tools belong to the server. */
export class ToolChunks {
  readonly #steps: StepChunks;
  /** What was said of each call: its tool and its input, and whether it has its end. */
  readonly #calls = new Map<string, { readonly said: readonly unknown[]; isDone: boolean }>();
  readonly #logs = new Map<string, Omit<ToolLogData, "text">>();

  constructor(steps: StepChunks) {
    this.#steps = steps;
  }

  begin({ itemId, data }: ItemOf<"tool_exec">): Chunk[] {
    return data ? this.call(itemId, data.tool, data.input, data.step) : [];
  }

  /** Says what is called with which input, unless that was said already. */
  call(toolCallId: string, toolName: string, input: unknown, step?: number): Chunk[] {
    const said = [toolName, input];
    const known = this.#calls.get(toolCallId);
    if (known && !jsonDifference(known.said, said)) return [];
    const begin = known ? [] : this.#steps.enter(step, "call");
    this.#calls.set(toolCallId, { said, isDone: false });
    const call = { toolCallId, toolName, input, dynamic: true, providerExecuted: true };
    return [...begin, { type: "tool-input-available", ...call }];
  }

  /** The end of a call. A refusal is one of a human where a human was asked. */
  complete(item: ItemOf<"tool_exec">, wasAsked: boolean): Chunk[] {
    const { itemId: toolCallId, data } = item;
    if (!data) return [];
    const begin = this.begin(item);
    if (data.status === "succeeded") return [...begin, ...this.output(toolCallId, data.output ?? null)];
    if (data.status === "rejected" && wasAsked) return [...begin, ...this.deny(toolCallId)];
    return [...begin, ...this.#fail(toolCallId, callFailureText(data))];
  }

  output(toolCallId: string, output: unknown): Chunk[] {
    return this.#done(toolCallId, { type: "tool-output-available", toolCallId, output, dynamic: true });
  }

  deny(toolCallId: string): Chunk[] {
    return this.#done(toolCallId, { type: "tool-output-denied", toolCallId });
  }

  /** Ends the calls that no item completed. */
  endOpen(): Chunk[] {
    const open = [...this.#calls].filter(([, { isDone }]) => !isDone);
    return open.flatMap(([toolCallId]) => this.#fail(toolCallId, interrupted));
  }

  beginLog({ itemId, data }: ItemOf<"tool_log">): Chunk[] {
    if (!data) return [];
    const { toolItemId: toolCallId, stream, channel, text } = data;
    this.#logs.set(itemId, { toolCallId, stream, channel: channel || undefined });
    return this.logDelta(itemId, text);
  }

  logDelta(id: string, delta: string): Chunk[] {
    const log = this.#logs.get(id);
    if (!log || delta === "") return [];
    return [{ type: "data-tool-log", id, data: { ...log, delta }, transient: true }];
  }

  completeLog({ itemId, data }: ItemOf<"tool_log">): Chunk[] {
    this.#logs.delete(itemId);
    if (!data || data.text === "") return [];
    const { toolItemId: toolCallId, stream, channel, text, truncated } = data;
    const log = { toolCallId, stream, channel: channel || undefined, text, truncated };
    return [{ type: "data-tool-log", id: itemId, data: log }];
  }

  #fail(toolCallId: string, errorText: string): Chunk[] {
    return this.#done(toolCallId, { type: "tool-output-error", toolCallId, errorText, dynamic: true });
  }

  #done(toolCallId: string, chunk: Chunk): Chunk[] {
    const call = this.#calls.get(toolCallId);
    if (!call || call.isDone) return [];
    call.isDone = true;
    return [chunk];
  }
}
