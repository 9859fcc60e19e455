import { io } from "../io.ts";
import { askApproval } from "./keyboard.ts";

/**
 * What answers: the user at the terminal, `--approve`, nothing because there is no terminal (then the answer is no, or the question
 * waits), or another client (`watch`).
 */
export type AskMode = "ask" | "once" | "reject" | "no-terminal" | "watch";

/** Where questions are put: what shows their lines, and the terminal that shows the choices. */
export interface AskTerminal {
  readonly show: (lines: readonly string[]) => void;
  /** @default standard output */
  readonly output?: NodeJS.WriteStream | undefined;
}

/** How far an answer for always reaches. */
export interface AlwaysChoice<Reach extends string> {
  readonly reach: Reach;
  readonly label: string;
  readonly hint: string;
}

export interface Question<Reach extends string = never> {
  /** What the user decides on, whole: safe text. */
  readonly lines: readonly string[];
  /** @default it cannot be allowed for always */
  readonly always?: readonly AlwaysChoice<Reach>[] | undefined;
  /** What asks takes the reason of a refusal. @default false */
  readonly takesReason?: boolean;
  /** The question can be left for later. @default false */
  readonly canWait?: boolean;
}

/** `later` leaves the question as it is, and so does Ctrl-C (`interrupted`); undefined where the signal aborted. */
export type Answer<Reach extends string = never> =
  | { readonly decision: "approve"; readonly always?: Reach | undefined }
  | { readonly decision: "reject"; readonly reason?: string | undefined }
  | "later"
  | "interrupted"
  | undefined;

type Choice<Reach extends string> = Reach | "yes" | "no" | "why" | "later";

/** Asks the user at the terminal: the one question of every command. */
export const askUser = async <Reach extends string = never>(
  { lines, always = [], takesReason = false, canWait = false }: Question<Reach>,
  signal: AbortSignal,
  { show, output = io().stdout }: AskTerminal,
): Promise<Answer<Reach>> => {
  const choices: { value: Choice<Reach>; label: string; hint?: string }[] = [
    { value: "yes", label: "Yes, once" },
    ...always.map(({ reach, label, hint }) => ({ value: reach, label, hint })),
    { value: "no", label: "No" },
    ...(takesReason ? [{ value: "why" as const, label: "No, and say why" }] : []),
    ...(canWait ? [{ value: "later" as const, label: "Later" }] : []),
  ];
  const shown = { lines, show };
  const choice = await askApproval<string>(choices, "no", signal, { shown, output });
  const reason = choice === "why" ? await askReason(signal, output) : undefined;
  if (signal.aborted) return undefined;
  if (choice === undefined || reason === null) return "interrupted";
  if (choice === "later") return "later";
  if (choice === "no" || choice === "why") return { decision: "reject", reason: reason || undefined };
  return { decision: "approve", always: choice === "yes" ? undefined : (choice as Reach) };
};

/** The user's words; null after Ctrl-C. */
const askReason = async (signal: AbortSignal, output: NodeJS.WriteStream): Promise<string | null> => {
  const { isCancel, text } = await import("@clack/prompts");
  const reason = await text({ message: "Why not?", signal, output });
  return isCancel(reason) ? null : reason;
};
