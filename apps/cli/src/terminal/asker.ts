import { io } from "../io.ts";
import { type Choice, choose } from "./choose.ts";
import { LineReader } from "./line-reader.ts";
import { createTerminal } from "./terminal.ts";
import { wrapText } from "./text.ts";

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
  /** The question waits where Esc leaves it. @default Esc does nothing */
  readonly canWait?: boolean;
}

/** `later` after Esc and `interrupted` after Ctrl-C leave the question as it is; undefined where the signal aborted. */
export type Answer<Reach extends string = never> =
  | { readonly decision: "approve"; readonly always?: Reach | undefined }
  | { readonly decision: "reject"; readonly reason?: string | undefined }
  | "later"
  | "interrupted"
  | undefined;

/** A line that the user types; undefined after Ctrl-C at an empty line, at the end of the input, and where the signal aborts. */
const askLine = async (
  message: string,
  signal: AbortSignal,
  output: NodeJS.WriteStream,
): Promise<string | undefined> => {
  const close = () => void reader.close();
  const reader = new LineReader({ onInterrupt: close, prompt: `${message} `, output });
  signal.addEventListener("abort", close, { once: true });
  try {
    return signal.aborted ? undefined : await reader.next();
  } finally {
    signal.removeEventListener("abort", close);
    close();
  }
};

/** Lines of a screen that a choice takes. */
const choiceRows = 6;
const minRows = 5;

/**
 * Shows a question screen by screen: who does not come to its end cannot allow it. `seen` at its end, `stopped` where the user stopped before.
 */
const showToEnd = async (
  lines: readonly string[],
  signal: AbortSignal,
  { show, output = io().stdout }: AskTerminal,
): Promise<"seen" | "stopped" | "interrupted" | "aborted"> => {
  const { columns } = createTerminal(output);
  const whole = wrapText(lines.join("\n"), columns).split("\n");
  const rows = Math.max(minRows, (output.rows || 24) - choiceRows);
  for (let at = 0; ; ) {
    show(whole.slice(at, at + rows));
    at += rows;
    if (at >= whole.length) return "seen";
    const chosen = await choose({
      message: `${at} of ${whole.length} lines are shown.`,
      choices: [
        { value: true, label: "Show more" },
        { value: false, label: "No: do not allow it", key: "n" },
      ],
      ...{ initial: true, signal, output },
    });
    if (chosen === "interrupted" || chosen === "aborted") return chosen;
    if (typeof chosen === "object" && !chosen.value) return "stopped";
  }
};

/** Asks the user at the terminal: the one question of every command. */
export const askUser = async <Reach extends string = never>(
  { lines, always = [], canWait = false }: Question<Reach>,
  signal: AbortSignal,
  terminal: AskTerminal,
): Promise<Answer<Reach>> => {
  const { output = io().stdout } = terminal;
  const seen = await showToEnd(lines, signal, terminal);
  if (seen === "aborted") return undefined;
  if (seen === "interrupted") return seen;
  if (seen === "stopped") return { decision: "reject" };
  const no = { decision: "reject" } as const;
  const whyNot = { decision: "reject" } as const;
  const choices: Choice<Exclude<Answer<Reach>, string | undefined>>[] = [
    { value: { decision: "approve" }, label: "Yes, once", key: "y" },
    ...always.map(({ reach, label, hint }) => ({
      value: { decision: "approve" as const, always: reach },
      ...{ label, hint },
    })),
    { value: no, label: "No", key: "n" },
    { value: whyNot, label: "No, and say why" },
  ];
  const chosen = await choose({
    ...{ message: "Allow it?", choices, initial: no, signal, output },
    leave: canWait ? "leave it waiting" : undefined,
  });
  if (chosen === "aborted" || signal.aborted) return undefined;
  if (chosen === "left") return "later";
  if (chosen === "interrupted") return chosen;
  if (chosen.value !== whyNot) return chosen.value;
  const reason = await askLine("Why not?", signal, output);
  if (signal.aborted) return undefined;
  return reason === undefined ? "interrupted" : { decision: "reject", reason: reason.trim() || undefined };
};
