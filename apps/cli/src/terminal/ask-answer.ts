import { isCancel, text } from "@clack/prompts";
import { askApproval, type ShownQuestion } from "./keyboard.ts";

/** The user's answer to one question; a refusal may say why. */
export type Answer =
  | "approved"
  | "refused"
  | { readonly decision: "refused"; readonly reason?: string | undefined };

type Choice = "approved" | "refused" | "reason" | "later";

/**
 * The user's answer at the terminal. Undefined where the question shall wait, where the signal aborted, and after Ctrl-C, which
 * is reported.
 */
export const askAnswer = async (
  signal: AbortSignal,
  canWait: boolean,
  onInterrupt: () => void,
  shown: ShownQuestion,
): Promise<Answer | undefined> => {
  const later = canWait ? [{ value: "later" as const, label: "Later" }] : [];
  const choices = [
    { value: "approved" as const, label: "Yes" },
    { value: "refused" as const, label: "No" },
    { value: "reason" as const, label: "No, and say why" },
    ...later,
  ];
  const answer = await askApproval<Choice>(choices, "refused", signal, { shown });
  if (answer === "later") return undefined;
  const reason = answer === "reason" ? await text({ message: "Why not?", signal }) : undefined;
  if (answer === undefined || isCancel(reason)) {
    if (!signal.aborted) onInterrupt();
    return undefined;
  }
  if (answer !== "reason") return answer;
  return { decision: "refused", reason: reason || undefined };
};
