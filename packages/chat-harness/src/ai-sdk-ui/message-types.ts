import type { SignalDescriptor } from "@harnesskit/protocol/chat";
import type { UIMessage, UIMessageChunk } from "ai";
import type { ApprovalRequest } from "../ai-sdk/approval.ts";

/** What is known of the turn behind a message of the assistant. */
export interface HarnessMessageMetadata {
  readonly status?: "running" | "completed" | "suspended" | "cancelled" | "error" | undefined;
  /** With the status `error`: a sentence for people. */
  readonly error?: string | undefined;
}

/** The data parts of a message: `data-approval`, `data-question`, and those of the application's `dataParts`. */
export type HarnessDataParts = {
  /** A call that waits for a human, with its preview and digest. Untrusted text. */
  approval: ApprovalRequest & { readonly signalId: string };
  /** Another pause of the graph, by its descriptor. */
  question: SignalDescriptor;
} & Record<string, unknown>;

/** A message of `useChat` that a turn of a chat harness made. */
export type HarnessUIMessage = UIMessage<HarnessMessageMetadata, HarnessDataParts>;

export type HarnessUIMessageChunk = UIMessageChunk<HarnessMessageMetadata, HarnessDataParts>;

export type HarnessUIPart = HarnessUIMessage["parts"][number];

/** A data part of the application's. */
export type DataPart = Extract<HarnessUIPart, { type: `data-${string}` }>;

/** The tool whose call stands for a pause that is not an approval; its id is the signal's. */
export const questionTool = "question";
