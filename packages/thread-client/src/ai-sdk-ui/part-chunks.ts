import type { ItemData, ItemOf } from "@harnesskit/protocol/threads";
import { jsonDifference } from "@harnesskit/wire";
import type { ThreadUIMessageChunk, ToolLogData } from "./message-types.ts";

type Chunk = ThreadUIMessageChunk;

const interrupted = "The turn ended before this call did.";

/** Why a call without an output has none, for people. */
const callFailureText = ({ status, error }: ItemData<"tool_exec">): string => {
  if (error !== undefined && error !== "") return error;
  return status === "unknown" ? "It may have run; its end was not recorded." : `The call was ${status}.`;
};

/** The texts, calls and logs of a message, and the steps around texts and calls: one for each call of the model. */
export class PartChunks {
  readonly #texts = new Map<string, { readonly kind: "text" | "reasoning"; text: string }>();
  /** What was said of each call: its tool and its input, and whether it has its end. */
  readonly #calls = new Map<string, { readonly said: readonly unknown[]; isDone: boolean }>();
  readonly #logs = new Map<string, Omit<ToolLogData, "text">>();
  #isStepOpen = false;
  #hasCall = false;
  #step: number | undefined;

  beginText({ itemId, data }: ItemOf<"assistant_message">): Chunk[] {
    if (this.#texts.has(itemId)) return [];
    const kind = data?.reasoning ? "reasoning" : "text";
    const begin = this.#enter(data?.step, "text");
    this.#texts.set(itemId, { kind, text: "" });
    return [...begin, { type: `${kind}-start`, id: itemId }, ...this.textDelta(itemId, data?.text ?? "")];
  }

  textDelta(id: string, delta: string): Chunk[] {
    const open = this.#texts.get(id);
    if (!open || delta === "") return [];
    open.text += delta;
    return [{ type: `${open.kind}-delta`, id, delta }];
  }

  /** The item is whole: what its deltas have not said yet follows. */
  completeText(item: ItemOf<"assistant_message">): Chunk[] {
    const { itemId, data } = item;
    const chunks = this.#texts.has(itemId) ? [] : this.beginText({ ...item, data: undefined });
    const open = this.#texts.get(itemId);
    const whole = data?.text ?? "";
    if (open && whole.startsWith(open.text))
      chunks.push(...this.textDelta(itemId, whole.slice(open.text.length)));
    return [...chunks, ...this.#endText(itemId)];
  }

  /** Calls are parts of the type `dynamic-tool`: their tools belong to the server. */
  beginCall({ itemId, data }: ItemOf<"tool_exec">): Chunk[] {
    return data ? this.call(itemId, data.tool, data.input, data.step) : [];
  }

  /** Says what is called with which input, unless that was said already. */
  call(toolCallId: string, toolName: string, input: unknown, step?: number): Chunk[] {
    const said = [toolName, input];
    const known = this.#calls.get(toolCallId);
    if (known && !jsonDifference(known.said, said)) return [];
    const begin = known ? [] : this.#enter(step, "call");
    this.#calls.set(toolCallId, { said, isDone: false });
    const call = { toolCallId, toolName, input, dynamic: true, providerExecuted: true };
    return [...begin, { type: "tool-input-available", ...call }];
  }

  /** The end of a call. A refusal is one of a human where a human was asked. */
  completeCall(item: ItemOf<"tool_exec">, wasAsked: boolean): Chunk[] {
    const { itemId: toolCallId, data } = item;
    if (!data) return [];
    const begin = this.beginCall(item);
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

  /** Ends what no item completed. The step stays open for what is said of the message. */
  endOpen(): Chunk[] {
    const texts = [...this.#texts.keys()].flatMap((itemId) => this.#endText(itemId));
    return [...texts, ...[...this.#calls.keys()].flatMap((id) => this.#fail(id, interrupted))];
  }

  /** Ends the step that is open. */
  closeStep(): Chunk[] {
    if (!this.#isStepOpen) return [];
    this.#isStepOpen = false;
    return [{ type: "finish-step" }];
  }

  /** Begins the step of an item, unless it is the one that is open. A step never ends while a text is open. */
  #enter(step: number | undefined, kind: "text" | "call"): Chunk[] {
    const isOther = step === undefined ? kind === "text" && this.#hasCall : step !== this.#step;
    const begins = !this.#isStepOpen || (isOther && this.#texts.size === 0);
    const chunks: Chunk[] = begins ? [...this.closeStep(), { type: "start-step" }] : [];
    if (begins) {
      this.#isStepOpen = true;
      this.#hasCall = false;
      this.#step = step;
    }
    this.#hasCall ||= kind === "call";
    return chunks;
  }

  #endText(id: string): Chunk[] {
    const open = this.#texts.get(id);
    this.#texts.delete(id);
    return open ? [{ type: `${open.kind}-end`, id }] : [];
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
