import {
  type ApprovalRisk,
  type ApprovalView,
  presentApproval,
  riskWithHidden,
  toViewLines,
} from "@harnesskit/approvals";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import { type ActionDirective, fallbackTextOf, type RiskTier } from "@harnesskit/protocol/openharness";
import type { ApprovalAsk, ApprovalReply, PendingApproval } from "@harnesskit/shell-client";
import { isObject } from "@harnesskit/wire/json";
import { askAnswer } from "../terminal/ask-answer.ts";
import type { Style } from "../terminal/terminal.ts";
import { oneLine } from "../terminal/text.ts";
import { approvalViewLines, blockLines, shownWhole } from "../timeline/approval-lines.ts";
import type { ShellView } from "./shell-view.ts";

const placed: ReadonlySet<string> = new Set([
  "message",
  "title",
  "subject",
  "continuation",
  "fallback_message",
]);
/** Fields of a subject that name the question and say nothing of the action. */
const ids: ReadonlySet<string> = new Set(["digest", "signal_id"]);
const riskLevels: Readonly<Record<RiskTier, ApprovalRisk["level"]>> = {
  safe: "low",
  caution: "medium",
  dangerous: "high",
};

const pretty = (value: unknown): string =>
  typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "");

const isCall = (
  subject: unknown,
): subject is { readonly tool: string; readonly input: JsonObject; readonly preview?: unknown } =>
  isObject(subject) && typeof subject.tool === "string" && isObject(subject.input);

/** What is asked, as every approval is: the tool and its input where the engine names them, else whatever it sends. */
const viewOf = ({ action_type: type, payload = {} }: ActionDirective, risk: RiskTier): ApprovalView => {
  const { subject, title } = payload;
  const isQuestion = type === "request_approval";
  const common = { risk: riskWithHidden({ level: riskLevels[risk], reasons: [] }, payload) };
  if (isQuestion && isCall(subject)) {
    const { tool, input, preview } = subject;
    const shown = typeof preview === "string" ? { preview } : {};
    return presentApproval({ ...common, subject: { tool, input, ...shown } }, shownWhole);
  }
  const head = isQuestion
    ? typeof title === "string" && title !== ""
      ? title
      : "the engine asks for your approval"
    : `the engine wants ${type}`;
  const whole = isQuestion ? subject : payload;
  const about = whole === undefined ? [] : toViewLines(pretty(whole), false, shownWhole);
  const view = presentApproval({ ...common, subject: { tool: type, input: {} } }, shownWhole);
  const kind = typeof whole === "string" ? ("prompt" as const) : ("input" as const);
  return {
    ...view,
    title: oneLine(head, 500),
    parts: about.length === 0 ? [] : [{ kind, label: "about", lines: about }],
  };
};

/** What of a question no view has a place for: it is part of what is approved. */
const furtherOf = (
  { action_type: type, payload = {} }: ActionDirective,
  message: string | undefined,
): object => {
  if (type !== "request_approval") return {};
  const { subject } = payload;
  const known = isCall(subject);
  return Object.fromEntries([
    ...Object.entries(payload).filter(([name, value]) => !placed.has(name) && value !== message),
    ...Object.entries(known ? subject : {}).filter(
      ([name, value]) =>
        !ids.has(name) &&
        !["tool", "input"].includes(name) &&
        !(name === "preview" && typeof value === "string"),
    ),
  ]);
};

/** The engine's words for an action that is shown in others; none where they only name the tool. */
const titleLines = ({ action_type: type, payload = {} }: ActionDirective): string[] => {
  const { title, subject } = payload;
  if (type !== "request_approval" || typeof title !== "string" || title === "" || !isCall(subject)) return [];
  return title === `Run ${subject.tool}?` ? [] : [title];
};

/** What the user decides on, as safe lines: nothing of it is left out. */
export const questionLines = (directive: ActionDirective, risk: RiskTier, style: Style): string[] => {
  const message = directive.action_type === "request_approval" ? fallbackTextOf(directive) : undefined;
  const further = furtherOf(directive, message);
  const asked = [...titleLines(directive), ...(message === undefined ? [] : [message])].join("\n");
  return [
    ...approvalViewLines(viewOf(directive, risk), style),
    ...(Object.keys(further).length === 0 ? [] : ["  details:", ...blockLines(pretty(further), style)]),
    ...(asked === "" ? [] : ["  the engine says:", ...blockLines(asked, style)]),
  ];
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
    return this.#answer(this.#options.view.questionLines(directive, riskTier), signal, false);
  };

  answerPending(pending: PendingApproval, signal: AbortSignal): Promise<ApprovalReply | undefined> {
    return this.#answer(this.#options.view.pendingLines(pending), signal, true);
  }

  noteReply(reply: ApprovalReply): void {
    if (isRefusal(reply)) this.#hasRefused = true;
  }

  async #answer(
    lines: readonly string[],
    signal: AbortSignal,
    canWait: boolean,
  ): Promise<ApprovalReply | undefined> {
    const reply = await this.#decide(lines, signal, canWait);
    if (isRefusal(reply) || (reply === undefined && !canWait)) this.#hasRefused = true;
    return reply;
  }

  async #decide(
    lines: readonly string[],
    signal: AbortSignal,
    canWait: boolean,
  ): Promise<ApprovalReply | undefined> {
    const { mode, view, beforeAsk, onInterrupt } = this.#options;
    if (mode !== "ask") view.lines(lines);
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
        return askAnswer(signal, canWait, onInterrupt, { lines, show: (part) => view.lines(part) });
    }
  }
}
