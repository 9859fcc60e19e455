import { isCancel, select, text } from "@clack/prompts";
import { type ActionDirective, fallbackTextOf, type RiskTier } from "@harnesskit/protocol/openharness";
import type { ApprovalReply } from "@harnesskit/shell-client";
import { quietKeyboard } from "../run/quiet-keyboard.ts";
import { arrowKeysOnly } from "../terminal/choice-keys.ts";
import { oneLine } from "../terminal/one-line.ts";
import type { Style } from "../terminal/style.ts";
import { blockLines } from "../timeline/diff-view.ts";

/** Parts of a `request_approval` with a place of their own. */
const placed: ReadonlySet<string> = new Set([
  "message",
  "title",
  "subject",
  "continuation",
  "fallback_message",
]);
const riskTexts: Readonly<Record<RiskTier, string>> = {
  safe: "low risk",
  caution: "caution",
  dangerous: "dangerous",
};

const pretty = (value: unknown): string =>
  typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "");

const isFields = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** What would happen: a tool and its input where the engine names them, else whatever it says, whole. */
const subjectLines = (subject: unknown, style: Style): string[] => {
  if (subject === undefined) return [];
  if (!isFields(subject)) return blockLines(pretty(subject), style);
  const { tool, input, ...others } = subject;
  if (typeof tool !== "string" || input === undefined) return blockLines(pretty(subject), style);
  const rest = Object.keys(others).length === 0 ? [] : ["  with it:", ...blockLines(pretty(others), style)];
  return [`  tool ${style.bold(oneLine(tool, 200))}, input:`, ...blockLines(pretty(input), style), ...rest];
};

/** What the user decides on, as safe lines: nothing of it is left out. */
export const questionLines = (directive: ActionDirective, risk: RiskTier, style: Style): string[] => {
  const { action_type: type, payload = {} } = directive;
  const mark = `  ${style.yellow("?")} `;
  const tier = style.yellow(`(${riskTexts[risk]})`);
  if (type !== "request_approval") {
    const head = style.bold(`the engine wants ${oneLine(type, 200)}`);
    return [`${mark}${head} ${tier}`, ...blockLines(pretty(payload), style)];
  }
  const { title, subject } = payload;
  const message = fallbackTextOf(directive);
  const hasTitle = typeof title === "string" && title !== "";
  const head = hasTitle ? oneLine(title, 500) : "the engine asks for your approval";
  const others = Object.entries(payload).filter(([name, value]) => !placed.has(name) && value !== message);
  return [
    `${mark}${style.bold(head)} ${tier}`,
    ...(message === undefined ? [] : blockLines(message, style)),
    ...subjectLines(subject, style),
    ...(others.length === 0 ? [] : blockLines(pretty(Object.fromEntries(others)), style)),
  ];
};

type Choice = "approved" | "refused" | "reason" | "later";

export interface QuestionOptions {
  readonly canWait: boolean;
  /** Called where Ctrl-C is pressed at the question. */
  readonly onInterrupt: () => void;
}

/**
 * The choice of who sits at the terminal; undefined for later, after Ctrl-C and when the signal aborts. An answer is for what
 * was shown: nothing counts that was typed before.
 */
export const askAtTerminal = async (
  signal: AbortSignal,
  { canWait, onInterrupt }: QuestionOptions,
): Promise<ApprovalReply | undefined> => {
  if ((await quietKeyboard(process.stdin, signal)) !== "quiet") return undefined;
  arrowKeysOnly();
  const answer = await select<Choice>({
    message: "Allow it?",
    options: [
      { value: "approved", label: "Yes" },
      { value: "refused", label: "No" },
      { value: "reason", label: "No, and say why" },
      ...(canWait ? [{ value: "later" as const, label: "Later" }] : []),
    ],
    initialValue: "refused",
    showInstructions: false,
    signal,
  });
  const left = () => {
    if (!signal.aborted) onInterrupt();
    return undefined;
  };
  if (isCancel(answer)) return left();
  if (answer === "later") return undefined;
  if (answer !== "reason") return answer;
  const reason = await text({ message: "Why not?", signal });
  if (isCancel(reason)) return left();
  return { decision: "refused", ...(reason === "" ? {} : { reason }) };
};
