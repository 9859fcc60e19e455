import type { ApprovalDecision, ItemOf } from "@harnesskit/protocol/threads";
import type { ApprovalRequest } from "../approval-calls.ts";
import type { ApprovalData, ThreadUIMessageChunk } from "./message-types.ts";
import type { ToolChunks } from "./tool-chunks.ts";
import type { AiSdkVersion } from "./turn-chunks.ts";

type Chunk = ThreadUIMessageChunk;

interface Asked {
  readonly data: ApprovalData;
  /** It is about a prompt, not about a call: its part was made for it. */
  readonly isOwnPart: boolean;
  isSettled: boolean;
  /** The answer was given, and its event is still to come. */
  isAnswered: boolean;
}

/** The questions of a message, each about the part of a call. */
export class ApprovalChunks {
  readonly #tools: ToolChunks;
  readonly #aiSdk: AiSdkVersion;
  readonly #asked = new Map<string, Asked>();
  /** The call that the item of an approval is about. */
  readonly #toolItems = new Map<string, string>();

  constructor(tools: ToolChunks, aiSdk: AiSdkVersion) {
    this.#tools = tools;
    this.#aiSdk = aiSdk;
  }

  /** The calls that wait for an answer. */
  get subjects(): ReadonlySet<string> {
    const open = [...this.#asked.values()].filter(({ isSettled, isAnswered }) => !isSettled && !isAnswered);
    return new Set(open.map(({ data }) => data.toolCallId));
  }

  /** A question by its id, and whether it still waits. */
  find(requestId: string): { readonly data: ApprovalData; readonly isSettled: boolean } | undefined {
    return this.#asked.get(requestId);
  }

  /** The answer was accepted: what follows from it comes. */
  markAnswered(requestId: string): void {
    const asked = this.#asked.get(requestId);
    if (asked) asked.isAnswered = true;
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
    this.#asked.set(requestId, {
      data,
      isOwnPart: toolItemId === undefined,
      isSettled: false,
      isAnswered: false,
    });
    return [
      ...this.#tools.call(toolCallId, metadata.tool, metadata.input),
      { type: "data-approval", id: requestId, data },
      { type: "tool-approval-request", approvalId: requestId, toolCallId },
    ];
  }

  settle(
    requestId: string,
    given: {
      decision?: ApprovalDecision | undefined;
      resolvedBy?: string | undefined;
      reason?: string | undefined;
    },
  ): Chunk[] {
    const asked = this.#asked.get(requestId);
    if (!asked || asked.isSettled) return [];
    asked.isSettled = true;
    const { decision, resolvedBy, reason } = given;
    const { toolCallId } = asked.data;
    const approved = decision === "once" || decision === "always";
    const answer = {
      decision,
      resolvedBy,
      reason,
    };
    const chunks: Chunk[] = [{ type: "data-approval", id: requestId, data: { ...asked.data, answer } }];
    if (this.#aiSdk === 7) chunks.push(approvalResponse(requestId, approved, reason));
    if (!asked.isOwnPart) return chunks;
    return [...chunks, ...(approved ? this.#tools.output(toolCallId, answer) : this.#tools.deny(toolCallId))];
  }
}

/** A chunk that the AI SDK 7 has and 6 refuses, so that the types of 6 do not know it. */
const approvalResponse = (approvalId: string, approved: boolean, reason: string | undefined): Chunk =>
  ({
    type: "tool-approval-response",
    approvalId,
    approved,
    reason,
  }) as unknown as Chunk;
