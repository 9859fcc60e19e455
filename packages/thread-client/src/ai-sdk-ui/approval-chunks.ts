import type { ItemOf } from "@harnesskit/protocol/threads";
import type { ApprovalRequest } from "../approval-calls.ts";
import type { ApprovalData, ThreadUIMessageChunk } from "./message-types.ts";
import type { PartChunks } from "./part-chunks.ts";

type Chunk = ThreadUIMessageChunk;

interface Asked {
  readonly data: ApprovalData;
  /** It is about a prompt, not about a call: its part was made for it. */
  readonly isOwnPart: boolean;
  /** `answered`: the answer was given, and its event is still to come. */
  state: "open" | "answered" | "settled";
}

/** The questions of a message, each about the part of a call. */
export class ApprovalChunks {
  readonly #parts: PartChunks;
  readonly #asked = new Map<string, Asked>();
  /** The call that the item of an approval is about. */
  readonly #toolItems = new Map<string, string>();

  constructor(parts: PartChunks) {
    this.#parts = parts;
  }

  /** The calls that wait for an answer. */
  get subjects(): ReadonlySet<string> {
    const open = [...this.#asked.values()].filter(({ state }) => state === "open");
    return new Set(open.map(({ data }) => data.toolCallId));
  }

  /** A question by its id, and whether it still waits. */
  find(requestId: string): { readonly data: ApprovalData; readonly isSettled: boolean } | undefined {
    const asked = this.#asked.get(requestId);
    return asked && { data: asked.data, isSettled: asked.state === "settled" };
  }

  /** The answer was accepted: what follows from it comes. */
  markAnswered(requestId: string): void {
    const asked = this.#asked.get(requestId);
    if (asked?.state === "open") asked.state = "answered";
  }

  wasAskedAbout(toolCallId: string): boolean {
    return [...this.#asked.values()].some(({ data }) => data.toolCallId === toolCallId);
  }

  begin({ itemId, data }: ItemOf<"approval">): void {
    if (data?.toolItemId !== undefined) this.#toolItems.set(itemId, data.toolItemId);
  }

  ask({ itemId, requestId, metadata }: ApprovalRequest): Chunk[] {
    if (this.#asked.has(requestId)) return [];
    const toolItemId = this.#toolItems.get(itemId);
    const toolCallId = toolItemId ?? itemId;
    const data = { ...metadata, requestId, toolCallId };
    this.#asked.set(requestId, { data, isOwnPart: toolItemId === undefined, state: "open" });
    return [
      ...this.#parts.call(toolCallId, metadata.tool, metadata.input),
      { type: "data-approval", id: requestId, data },
      { type: "tool-approval-request", approvalId: requestId, toolCallId },
    ];
  }

  settle(requestId: string, { decision, resolvedBy, reason }: NonNullable<ApprovalData["answer"]>): Chunk[] {
    const asked = this.#asked.get(requestId);
    if (!asked || asked.state === "settled") return [];
    asked.state = "settled";
    const { toolCallId } = asked.data;
    const answer = { decision, resolvedBy, reason };
    const said: Chunk = { type: "data-approval", id: requestId, data: { ...asked.data, answer } };
    if (!asked.isOwnPart) return [said];
    const approved = decision === "once" || decision === "always";
    return [said, ...(approved ? this.#parts.output(toolCallId, answer) : this.#parts.deny(toolCallId))];
  }
}
