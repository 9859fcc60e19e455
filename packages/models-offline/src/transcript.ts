import type { LanguageModelV3Prompt } from "@ai-sdk/provider";
import { type ToolOutcome, toToolOutcome } from "./tool-outcome.ts";

/** How every answer begins that says what this is. */
export const offlineNote = "I am an offline planner, not a language model";

/** A tool call that was made since the last user message. */
export interface CallRecord {
  readonly tool: string;
  readonly outcome: ToolOutcome;
}

/** What the prompt says about the task at hand. */
export interface Transcript {
  /** The last user message: the task. */
  readonly request: string;
  /** The files of that message, by the names that it has for them; "" for one without a name. They are not looked at. */
  readonly attachments: readonly string[];
  /** The calls made for it, in order. */
  readonly records: readonly CallRecord[];
  /** Every tool call id in the prompt, of earlier turns too. */
  readonly usedIds: ReadonlySet<string>;
  /** Whether an earlier answer says what this is. */
  readonly hasNote: boolean;
}

/**
 * Reads the task and what was done for it so far. A call without a result counts as one whose end is unknown, so
 * that it is never repeated.
 */
export function readTranscript(prompt: LanguageModelV3Prompt): Transcript {
  const lastUser = prompt.findLastIndex((message) => message.role === "user");
  const user = prompt[lastUser];
  const parts = user?.role === "user" ? user.content : [];
  const usedIds = new Set<string>();
  let hasNote = false;
  const calls: { id: string; tool: string }[] = [];
  const outcomes = new Map<string, ToolOutcome>();
  prompt.forEach((message, index) => {
    if (message.role !== "assistant" && message.role !== "tool") return;
    for (const part of message.content) {
      if (part.type === "tool-call") {
        usedIds.add(part.toolCallId);
        if (index > lastUser) calls.push({ id: part.toolCallId, tool: part.toolName });
      } else if (part.type === "text") {
        hasNote ||= message.role === "assistant" && index < lastUser && part.text.includes(offlineNote);
      } else if (part.type === "tool-result" && index > lastUser) {
        outcomes.set(part.toolCallId, toToolOutcome(part.output));
      }
    }
  });
  return {
    request: parts
      .flatMap((part) => (part.type === "text" && !isAttachment(part.text) ? [part.text] : []))
      .join("\n"),
    attachments: parts.flatMap((part) =>
      part.type === "file"
        ? [part.filename ?? ""]
        : isAttachment(part.text)
          ? [attachmentName(part.text)]
          : [],
    ),
    records: calls.map(({ id, tool }) => ({ tool, outcome: outcomes.get(id) ?? { status: "unknown" } })),
    usedIds,
    hasNote,
  };
}

const attachmentName = (text: string): string =>
  /^\[attached file: ([^\n]*?)(?: \([^\n]*\))?\](?:\n|$)/.exec(text)?.[1] ?? "";

/** A part that names a file, with or without its text, as an agent loop writes it for a prompt's attachments: no instruction. */
const isAttachment = (text: string): boolean => /^\[attached file: [^\n]*\](?:\n|$)/.test(text);
