import type {
  ApprovalData,
  ThreadMessageMetadata,
  ThreadUIMessage,
  ThreadUIMessageChunk,
} from "./message-types.ts";

type Part = ThreadUIMessage["parts"][number];
type Fields = Record<string, unknown>;

/** Puts the chunks of one message together, as `useChat` does: for messages of the past. */
export class MessageFold {
  readonly #parts: Fields[] = [];
  readonly #texts = new Map<string, Fields>();
  readonly #calls = new Map<string, Fields>();
  #metadata: ThreadMessageMetadata = {};
  #id = "";

  get message(): ThreadUIMessage {
    return { id: this.#id, role: "assistant", metadata: this.#metadata, parts: this.#parts as Part[] };
  }

  apply(chunk: ThreadUIMessageChunk): void {
    if ("messageMetadata" in chunk) this.#metadata = { ...this.#metadata, ...chunk.messageMetadata };
    switch (chunk.type) {
      case "start":
        this.#id = chunk.messageId ?? this.#id;
        break;
      case "start-step":
        this.#parts.push({ type: "step-start" });
        break;
      case "text-start":
      case "reasoning-start": {
        const own = chunk.type === "text-start" ? { type: "text" } : { type: "reasoning", id: chunk.id };
        this.#texts.set(chunk.id, this.#add({ ...own, text: "", state: "streaming" }));
        break;
      }
      case "text-delta":
      case "reasoning-delta": {
        const part = this.#texts.get(chunk.id);
        if (part) part.text += chunk.delta;
        break;
      }
      case "text-end":
      case "reasoning-end":
        Object.assign(this.#texts.get(chunk.id) ?? {}, { state: "done" });
        break;
      case "tool-input-available": {
        const { toolCallId, toolName, input, providerExecuted } = chunk;
        const part = this.#calls.get(toolCallId) ?? this.#add({ type: "dynamic-tool", toolCallId });
        this.#calls.set(toolCallId, part);
        Object.assign(part, { toolName, state: "input-available", input, providerExecuted });
        break;
      }
      case "tool-approval-request": {
        const { toolCallId, approvalId: id } = chunk;
        this.#change(toolCallId, { state: "approval-requested", approval: { id } });
        break;
      }
      case "tool-output-available":
        this.#change(chunk.toolCallId, { state: "output-available", output: chunk.output });
        break;
      case "tool-output-error":
        this.#change(chunk.toolCallId, { state: "output-error", errorText: chunk.errorText });
        break;
      case "tool-output-denied":
        this.#change(chunk.toolCallId, { state: "output-denied" });
        break;
      case "data-approval":
        this.#answer(chunk.data);
        this.#applyData(chunk);
        break;
      default:
        this.#applyData(chunk);
    }
  }

  #answer({ requestId: id, toolCallId, answer }: ApprovalData): void {
    if (!answer) return;
    const { decision, reason } = answer;
    const approval = { id, approved: decision === "once" || decision === "always", reason };
    this.#change(toolCallId, { state: "approval-responded", approval });
  }

  #applyData(chunk: ThreadUIMessageChunk): void {
    const { type, id, data, transient } = chunk as Fields & { type: string };
    if (!type.startsWith("data-") || transient === true) return;
    const known = this.#parts.find((part) => part.type === type && part.id === id);
    if (known) known.data = data;
    else this.#add({ type, id, data });
  }

  #change(toolCallId: string, fields: Fields): void {
    Object.assign(this.#calls.get(toolCallId) ?? {}, fields);
  }

  #add(part: Fields): Fields {
    this.#parts.push(part);
    return part;
  }
}
