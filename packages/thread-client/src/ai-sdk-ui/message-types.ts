import type { ApprovalDecision, ApprovalMetadata, ItemData, Turn, Usage } from "@harnesskit/protocol/threads";
import type { UIMessage, UIMessageChunk } from "ai";

/** What is known of the turn behind a message of the assistant. Its `id` is the turn's. */
export interface ThreadMessageMetadata {
  readonly threadId?: string;
  readonly turnId?: string;
  readonly status?: Turn["status"];
  /** The number of the last event of the thread that the message holds. An answer to an approval goes on behind it. */
  readonly seq?: number;
  /** With the status `error`: a sentence for people, and the same for programs. */
  readonly error?: string;
  readonly code?: string;
  /** Milliseconds since the epoch. */
  readonly startedAt?: number;
  readonly endedAt?: number;
  readonly usage?: Usage;
}

/** A question to a human, and its answer once it has one. All of it is untrusted text. */
export interface ApprovalData extends ApprovalMetadata {
  readonly requestId: string;
  /** The tool part that it is about. */
  readonly toolCallId: string;
  readonly answer?: {
    readonly decision?: ApprovalDecision | undefined;
    readonly resolvedBy?: string | undefined;
    /** Why there is no decision: `expired`, `unattended`, … */
    readonly reason?: string | undefined;
  };
}

/** What a tool writes while it runs. */
export interface ToolLogData {
  readonly toolCallId: string;
  readonly stream: "stdout" | "stderr";
  /** Set where it is not what the tool printed. */
  readonly channel?: "log" | "status" | "partial_result" | undefined;
  /** All of it, in the part. */
  readonly text?: string;
  readonly truncated?: boolean | undefined;
  /** What was added, in a transient part: only `onData` of `useChat` gets it. */
  readonly delta?: string;
}

/** The data parts of a message: `data-approval`, `data-artifact`, `data-plan`, `data-tool-log`. */
export type ThreadDataParts = {
  approval: ApprovalData;
  artifact: ItemData<"artifact">;
  /** What `planOf` returned last: each plan takes the place of the one before it. */
  plan: unknown;
  "tool-log": ToolLogData;
};

/** A message of `useChat` that a thread's events made. */
export type ThreadUIMessage = UIMessage<ThreadMessageMetadata, ThreadDataParts>;

export type ThreadUIMessageChunk = UIMessageChunk<ThreadMessageMetadata, ThreadDataParts>;

export type ThreadDataChunk = Extract<ThreadUIMessageChunk, { readonly type: `data-${string}` }>;
