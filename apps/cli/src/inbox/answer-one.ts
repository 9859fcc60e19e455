import { type ApprovalRecord, presentApproval } from "@harnesskit/approvals";
import { type HubClient, HubError } from "@harnesskit/hub/client";
import { io } from "../io.ts";
import { askApproval, type ShownQuestion } from "../terminal/keyboard.ts";
import { oneLine } from "../terminal/text.ts";
import { shownWhole } from "../timeline/approval-lines.ts";

type Choice = "approve" | "session" | "agent" | "reject" | "reason";

/** What a refusal of an answer means, in words. */
export const describeEnd = (error: HubError): string => {
  const { record } = error;
  if (error.code === "already_answered" && record?.answer !== undefined) {
    return `it was answered before: ${record.status} by ${record.answer.by}`;
  }
  return error.message;
};

/**
 * Shows a question, asks for one answer at the terminal and gives it. Resolves with what became of it in safe words; undefined where the signal aborted,
 * `interrupted` after Ctrl-C.
 */
export const answerOne = async (
  client: HubClient,
  record: ApprovalRecord,
  signal: AbortSignal,
  shown: ShownQuestion,
  output: NodeJS.WriteStream = io().stdout,
): Promise<string | undefined> => {
  const { isWhole } = presentApproval(record, shownWhole);
  const always: { value: Choice; label: string; hint: string }[] = isWhole
    ? [
        { value: "session", label: "Always in this session", hint: "for exactly this" },
        { value: "agent", label: "Always for this agent", hint: "for exactly this, in all its sessions" },
      ]
    : [];
  const choice = await askApproval<Choice>(
    [
      { value: "approve", label: "Yes, once" },
      ...always,
      { value: "reject", label: "No" },
      { value: "reason", label: "No, and say why" },
    ],
    "reject",
    signal,
    { shown, output },
  );
  if (signal.aborted) return undefined;
  if (choice === undefined) return "interrupted";
  const note = choice === "reason" ? await askReason(signal, output) : undefined;
  if (signal.aborted) return undefined;
  const { id, digest } = record;
  try {
    const answered = await client.call("inbox.answer", {
      id,
      digest,
      decision: choice === "reject" || choice === "reason" ? "reject" : "approve",
      note: note !== undefined && note !== "" ? note : undefined,
      always: choice === "session" || choice === "agent" ? { reach: choice } : undefined,
    });
    return answered.record.status;
  } catch (error) {
    if (HubError.isInstance(error)) return oneLine(describeEnd(error), 500);
    throw error;
  }
};

const askReason = async (signal: AbortSignal, output: NodeJS.WriteStream): Promise<string | undefined> => {
  const { isCancel, text } = await import("@clack/prompts");
  const reason = await text({ message: "Why not?", signal, output });
  return isCancel(reason) ? undefined : reason;
};
