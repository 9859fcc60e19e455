import type { ItemOf } from "@harnesskit/protocol/threads";
import type { UiParts } from "@harnesskit/wire/ui-message";
import type { ApprovalRequest } from "../approval-calls.ts";
import type { ApprovalData, ThreadDataChunk } from "./message-types.ts";

interface Asked {
  readonly data: ApprovalData;
  /** It is about a prompt, not about a call: its part was made for it. */
  readonly isOwnPart: boolean;
  /** `answered`: the answer was given, and its event is still to come. */
  state: "open" | "answered" | "settled";
}

/** The questions of a message, each about the part of a call. */
export class TurnApprovals {
  readonly #parts: UiParts<ThreadDataChunk>;
  readonly #asked = new Map<string, Asked>();
  /** The call that the item of an approval is about. */
  readonly #toolItems = new Map<string, string>();

  constructor(parts: UiParts<ThreadDataChunk>) {
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

  ask({ itemId, requestId, metadata }: ApprovalRequest): void {
    if (this.#asked.has(requestId)) return;
    const toolItemId = this.#toolItems.get(itemId);
    const toolCallId = toolItemId ?? itemId;
    const data = { ...metadata, requestId, toolCallId };
    this.#asked.set(requestId, { data, isOwnPart: toolItemId === undefined, state: "open" });
    this.#parts.call(toolCallId, metadata.tool, metadata.input);
    this.#parts.data({ type: "data-approval", id: requestId, data });
    this.#parts.ask(toolCallId, requestId);
  }

  settle(requestId: string, { decision, resolvedBy, reason }: NonNullable<ApprovalData["answer"]>): void {
    const asked = this.#asked.get(requestId);
    if (!asked || asked.state === "settled") return;
    asked.state = "settled";
    const { toolCallId } = asked.data;
    const answer = { decision, resolvedBy, reason };
    const approved = decision === "once" || decision === "always";
    this.#parts.answer(toolCallId, { id: requestId, approved, reason });
    this.#parts.data({ type: "data-approval", id: requestId, data: { ...asked.data, answer } });
    if (!asked.isOwnPart) return;
    if (approved) this.#parts.succeed(toolCallId, answer);
    else this.#parts.deny(toolCallId);
  }
}
