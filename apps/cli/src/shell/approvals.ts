import { isCancel, text } from "@clack/prompts";
import { type ActionDirective, fallbackTextOf, type RiskTier } from "@harnesskit/protocol/openharness";
import type { ApprovalAsk, ApprovalReply, PendingApproval } from "@harnesskit/shell-client";
import { isObject } from "@harnesskit/wire/json";
import { askApproval } from "../terminal/keyboard.ts";
import type { Style } from "../terminal/terminal.ts";
import { oneLine } from "../terminal/text.ts";
import { blockLines } from "../timeline/approval-view.ts";
import type { ShellView } from "./shell-view.ts";

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

const subjectLines = (subject: unknown, style: Style): string[] => {
  if (subject === undefined) return [];
  if (!isObject(subject)) return blockLines(pretty(subject), style);
  const { tool, input, ...others } = subject;
  if (typeof tool !== "string" || input === undefined) return blockLines(pretty(subject), style);
  const rest = Object.keys(others).length === 0 ? [] : ["  details:", ...blockLines(pretty(others), style)];
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

const askAtTerminal = async (
  signal: AbortSignal,
  canWait: boolean,
  onInterrupt: () => void,
): Promise<ApprovalReply | undefined> => {
  const later = canWait ? [{ value: "later" as const, label: "Later" }] : [];
  const choices = [
    { value: "approved" as const, label: "Yes" },
    { value: "refused" as const, label: "No" },
    { value: "reason" as const, label: "No, and say why" },
    ...later,
  ];
  const answer = await askApproval<Choice>(choices, "refused", signal);
  if (answer === "later") return undefined;
  const reason = answer === "reason" ? await text({ message: "Why not?", signal }) : undefined;
  if (answer === undefined || isCancel(reason)) {
    if (!signal.aborted) onInterrupt();
    return undefined;
  }
  if (answer !== "reason") return answer;
  return { decision: "refused", ...(reason === "" || reason === undefined ? {} : { reason }) };
};

/** What answers: the user at the terminal, `--approve`, or nothing because there is no terminal. */
export type ShellApprovalMode = "ask" | "once" | "reject" | "no-terminal";

export interface ShellApproverOptions {
  readonly mode: ShellApprovalMode;
  readonly view: ShellView;
  readonly beforeAsk: () => void;
  readonly onInterrupt: () => void;
}

const isRefusal = (reply: ApprovalReply | undefined): boolean =>
  (typeof reply === "object" ? reply.decision : reply) === "refused";

/** Answers what needs a yes. A question of the engine can wait; one about a directive cannot. */
export class ShellApprover {
  readonly #options: ShellApproverOptions;
  #hasRefused = false;

  constructor(options: ShellApproverOptions) {
    this.#options = options;
  }

  get hasRefused(): boolean {
    return this.#hasRefused;
  }

  readonly approve = ({ directive, riskTier, signal }: ApprovalAsk): Promise<ApprovalReply | undefined> => {
    this.#options.view.question(directive, riskTier);
    return this.#answer(signal, false);
  };

  answerPending(pending: PendingApproval, signal: AbortSignal): Promise<ApprovalReply | undefined> {
    this.#options.view.pending(pending);
    return this.#answer(signal, true);
  }

  noteReply(reply: ApprovalReply): void {
    if (isRefusal(reply)) this.#hasRefused = true;
  }

  async #answer(signal: AbortSignal, canWait: boolean): Promise<ApprovalReply | undefined> {
    const reply = await this.#decide(signal, canWait);
    if (isRefusal(reply) || (reply === undefined && !canWait)) this.#hasRefused = true;
    return reply;
  }

  async #decide(signal: AbortSignal, canWait: boolean): Promise<ApprovalReply | undefined> {
    const { mode, view, beforeAsk, onInterrupt } = this.#options;
    switch (mode) {
      case "once":
        view.answered("approved by --approve once");
        return "approved";
      case "reject":
        view.answered("refused by --approve reject");
        return "refused";
      case "no-terminal":
        view.answered(
          canWait ? "it waits: there is no terminal to ask in" : "refused: there is no terminal to ask in",
        );
        return canWait ? undefined : "refused";
      case "ask":
        beforeAsk();
        return askAtTerminal(signal, canWait, onInterrupt);
    }
  }
}
