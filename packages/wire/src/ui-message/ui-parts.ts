import { jsonDifference } from "../json/json-difference.ts";

/** A chunk that makes or changes a part of a message of `useChat`. */
export type UiPartChunk =
  | { type: "start-step" | "finish-step" }
  | { type: "text-start" | "reasoning-start" | "text-end" | "reasoning-end"; id: string }
  | { type: "text-delta" | "reasoning-delta"; id: string; delta: string }
  | {
      type: "tool-input-available";
      toolCallId: string;
      toolName: string;
      input: unknown;
      dynamic: true;
      providerExecuted: boolean;
    }
  | { type: "tool-approval-request"; approvalId: string; toolCallId: string }
  | { type: "tool-output-available"; toolCallId: string; output: unknown; dynamic: true }
  | { type: "tool-output-error"; toolCallId: string; errorText: string; dynamic: true }
  | { type: "tool-output-denied"; toolCallId: string };

/** A data part of a message; a transient one is no part, and reaches only `onData`. */
interface DataChunk {
  readonly type: `data-${string}`;
  readonly id?: string;
  readonly data: unknown;
  readonly transient?: boolean;
}

type Fields = Record<string, unknown>;

interface Text {
  readonly kind: "text" | "reasoning";
  readonly part: { text: string; state: string };
}

interface Call {
  readonly part: Fields;
  /** Its tool and its input, as they were said last. */
  said: readonly unknown[];
  isDone: boolean;
}

/**
 * The parts of one message of the assistant, and the chunks that make them: `parts` is what `useChat` has once it has taken all chunks. Texts, calls and
 * data stand in steps, one for each call of the model. Calls are parts of the type `dynamic-tool`: their tools belong to the server.
 */
export class UiParts<Data extends DataChunk> {
  readonly parts: Fields[] = [];
  #chunks: (UiPartChunk | Data)[] = [];
  /** The texts that are open. */
  readonly #texts = new Map<string, Text>();
  readonly #calls = new Map<string, Call>();
  #isStepOpen = false;
  #hasCall = false;
  #step: number | undefined;

  /** The chunks since it was called last. */
  take(): (UiPartChunk | Data)[] {
    const chunks = this.#chunks;
    this.#chunks = [];
    return chunks;
  }

  /** Begins a text; false where it has begun. It is of the step with this number; of the open one without, unless a call stands between. */
  beginText(id: string, kind: "text" | "reasoning", step: number | undefined): boolean {
    if (this.#texts.has(id)) return false;
    this.#enter(step, "text");
    const part = { type: kind, id: kind === "text" ? undefined : id, text: "", state: "streaming" };
    this.parts.push(part);
    this.#texts.set(id, { kind, part });
    this.#chunks.push({ type: `${kind}-start`, id });
    return true;
  }

  appendText(id: string, delta: string): void {
    const open = this.#texts.get(id);
    if (!open || delta === "") return;
    open.part.text += delta;
    this.#chunks.push({ type: `${open.kind}-delta`, id, delta });
  }

  /** Ends a text; where it is known as a whole, what was not said of it follows. */
  endText(id: string, whole = ""): void {
    const open = this.#texts.get(id);
    if (!open) return;
    const { kind, part } = open;
    if (whole.startsWith(part.text)) this.appendText(id, whole.slice(part.text.length));
    this.#texts.delete(id);
    part.state = "done";
    this.#chunks.push({ type: `${kind}-end`, id });
  }

  /** Says what is called with which input, unless that was said already. `isOfServer`: the page does not give its output. */
  call(toolCallId: string, toolName: string, input: unknown, step?: number, isOfServer = true): void {
    const said = [toolName, input];
    const known = this.#calls.get(toolCallId);
    if (known && !jsonDifference(known.said, said)) return;
    if (!known) this.#enter(step, "call");
    const part = known?.part ?? { type: "dynamic-tool", toolCallId };
    if (!known) this.parts.push(part);
    Object.assign(part, { toolName, state: "input-available", input, providerExecuted: isOfServer });
    this.#calls.set(toolCallId, { part, said, isDone: false });
    this.#chunks.push({
      type: "tool-input-available",
      toolCallId,
      toolName,
      input,
      dynamic: true,
      providerExecuted: isOfServer,
    });
  }

  /** Asks a human about a call that has no end. */
  ask(toolCallId: string, approvalId: string): void {
    if (!this.#change(toolCallId, { state: "approval-requested", approval: { id: approvalId } })) return;
    this.#chunks.push({ type: "tool-approval-request", approvalId, toolCallId });
  }

  /** What a human answered. There is no chunk of it: the page has its own answer. */
  answer(toolCallId: string, approval: { id: string; approved: boolean; reason?: string | undefined }): void {
    this.#change(toolCallId, { state: "approval-responded", approval });
  }

  succeed(toolCallId: string, output: unknown): void {
    if (!this.#end(toolCallId, { state: "output-available", output })) return;
    this.#chunks.push({ type: "tool-output-available", toolCallId, output, dynamic: true });
  }

  fail(toolCallId: string, errorText: string): void {
    if (!this.#end(toolCallId, { state: "output-error", errorText })) return;
    this.#chunks.push({ type: "tool-output-error", toolCallId, errorText, dynamic: true });
  }

  deny(toolCallId: string): void {
    if (!this.#end(toolCallId, { state: "output-denied" })) return;
    this.#chunks.push({ type: "tool-output-denied", toolCallId });
  }

  /** A data part; one with the type and the id of another takes its place. */
  data(chunk: Data): void {
    const { type, id, data, transient } = chunk;
    this.#chunks.push(chunk);
    if (transient === true) return;
    const known = id && this.parts.find((part) => part.type === type && part.id === id);
    if (known) known.data = data;
    else this.parts.push({ type, id, data });
  }

  /** Ends the texts that are open, and the calls that have no end with this text. The step stays open for what is said of the message. */
  endOpen(errorText: string): void {
    for (const id of [...this.#texts.keys()]) this.endText(id);
    for (const id of this.#calls.keys()) this.fail(id, errorText);
  }

  /** Ends the step that is open. */
  endStep(): void {
    if (!this.#isStepOpen) return;
    this.#isStepOpen = false;
    this.#chunks.push({ type: "finish-step" });
  }

  /** Begins the step of a text or a call, unless it is the one that is open. A step never ends while a text is open. */
  #enter(step: number | undefined, kind: "text" | "call"): void {
    const isOther = step === undefined ? kind === "text" && this.#hasCall : step !== this.#step;
    if (!this.#isStepOpen || (isOther && this.#texts.size === 0)) {
      this.endStep();
      this.#chunks.push({ type: "start-step" });
      this.parts.push({ type: "step-start" });
      this.#isStepOpen = true;
      this.#hasCall = false;
      this.#step = step;
    }
    this.#hasCall ||= kind === "call";
  }

  #end(toolCallId: string, fields: Fields): boolean {
    return this.#change(toolCallId, fields, true);
  }

  /** False for a call that has its end already. */
  #change(toolCallId: string, fields: Fields, isEnd = false): boolean {
    const call = this.#calls.get(toolCallId);
    if (!call || call.isDone) return false;
    call.isDone = isEnd;
    Object.assign(call.part, fields);
    return true;
  }
}
