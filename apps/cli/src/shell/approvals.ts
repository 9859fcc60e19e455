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
import type { Session } from "../session/session.ts";
import type { AskMode } from "../terminal/asker.ts";
import type { Style } from "../terminal/style.ts";
import { approvalViewLines, blockLines, shownWhole } from "../timeline/approval-lines.ts";
import { askedCallLines } from "../timeline/asked-call.ts";

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

/** What is asked where it is no call: whatever the engine sends. */
const viewOf = ({ action_type: type, payload = {} }: ActionDirective, risk: ApprovalRisk): ApprovalView => {
  const { subject, title } = payload;
  const isQuestion = type === "request_approval";
  const head = isQuestion
    ? typeof title === "string" && title !== ""
      ? title
      : "the engine asks for your approval"
    : `the engine wants ${type}`;
  const whole = isQuestion ? subject : payload;
  const about = whole === undefined ? [] : toViewLines(pretty(whole), false, shownWhole);
  const view = presentApproval({ risk, subject: { tool: type, input: {} } }, shownWhole);
  const kind = typeof whole === "string" ? ("prompt" as const) : ("input" as const);
  return {
    ...view,
    title: head,
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

/** What is asked about, as safe lines: a call as every command shows it. */
const subjectLines = async (directive: ActionDirective, risk: RiskTier, style: Style): Promise<string[]> => {
  const { action_type: type, payload = {} } = directive;
  const { subject } = payload;
  const said = riskWithHidden({ level: riskLevels[risk], reasons: [] }, payload);
  if (type !== "request_approval" || !isCall(subject))
    return approvalViewLines(viewOf(directive, said), style);
  const { tool, input, preview } = subject;
  const call = { tool, input, preview: typeof preview === "string" ? preview : undefined };
  return askedCallLines(
    call,
    { directory: undefined, saidRisk: risk === "dangerous" ? said : undefined },
    style,
  );
};

/** What the user decides on, as safe lines: nothing of it is left out. A risk that is not stated is handled as high. */
export const questionLines = async (
  directive: ActionDirective,
  style: Style,
  risk: RiskTier = directive.risk_tier ?? "dangerous",
): Promise<string[]> => {
  const message = directive.action_type === "request_approval" ? fallbackTextOf(directive) : undefined;
  const further = furtherOf(directive, message);
  const asked = [...titleLines(directive), ...(message === undefined ? [] : [message])].join("\n");
  return [
    ...(await subjectLines(directive, risk, style)),
    ...(Object.keys(further).length === 0 ? [] : ["  details:", ...blockLines(pretty(further), style)]),
    ...(asked === "" ? [] : ["  the engine says:", ...blockLines(asked, style)]),
  ];
};

const isRefusal = (reply: ApprovalReply | undefined): boolean =>
  (typeof reply === "object" ? reply.decision : reply) === "refused";

/** Answers what needs a yes. A question of the engine can wait; one about a directive cannot. */
export class ShellApprover {
  readonly #session: Session;
  readonly #onInterrupt: () => void;
  #hasRefused = false;

  /** @param onInterrupt called after Ctrl-C at a question */
  constructor(session: Session, onInterrupt: () => void) {
    this.#session = session;
    this.#onInterrupt = onInterrupt;
  }

  get hasRefused(): boolean {
    return this.#hasRefused;
  }

  readonly approve = ({ directive, riskTier, signal }: ApprovalAsk): Promise<ApprovalReply | undefined> =>
    this.#answer(directive, signal, false, riskTier);

  answerPending({ directive }: PendingApproval, signal: AbortSignal): Promise<ApprovalReply | undefined> {
    return this.#answer(directive, signal, true);
  }

  noteReply(reply: ApprovalReply): void {
    if (isRefusal(reply)) this.#hasRefused = true;
  }

  async #answer(
    directive: ActionDirective,
    signal: AbortSignal,
    canWait: boolean,
    risk?: RiskTier,
  ): Promise<ApprovalReply | undefined> {
    const lines = await questionLines(directive, this.#session.view.style, risk);
    const reply = await this.#decide(lines, signal, canWait);
    if (isRefusal(reply) || (reply === undefined && !canWait)) this.#hasRefused = true;
    return reply;
  }

  async #decide(
    lines: readonly string[],
    signal: AbortSignal,
    canWait: boolean,
  ): Promise<ApprovalReply | undefined> {
    const { mode, view } = this.#session;
    if (mode === "ask") {
      const answer = await this.#session.ask({ lines, canWait }, signal);
      if (answer === "interrupted") this.#onInterrupt();
      if (typeof answer !== "object") return undefined;
      if (answer.decision === "approve") return "approved";
      return { decision: "refused", reason: answer.reason };
    }
    const { text, reply } = withoutAsking(mode, canWait);
    view.lines([...lines, `  ${view.style.yellow(text)}`]);
    return reply;
  }
}

const withoutAsking = (
  mode: Exclude<AskMode, "ask">,
  canWait: boolean,
): { readonly text: string; readonly reply: ApprovalReply | undefined } => {
  if (mode === "once") return { text: "approved by --approve once", reply: "approved" };
  if (mode === "reject") return { text: "refused by --approve reject", reply: "refused" };
  if (canWait) return { text: "it waits: there is no terminal to ask in", reply: undefined };
  return { text: "refused: there is no terminal to ask in", reply: "refused" };
};
