import {
  type ActionDirective,
  type AttachmentRef,
  type CapabilityDenial,
  ShellCapability,
  type ShellError,
} from "@harnesskit/protocol/openharness";
import {
  type ApprovalReply,
  createShellClient,
  type EngineEndpoint,
  type PendingApproval,
  type ShellAsk,
  type ShellClient,
  ShellClientError,
  type ShellOutcome,
} from "@harnesskit/shell-client";
import type { FormModel } from "@harnesskit/shell-client/cards";
import { ExitCode } from "../exit-code.ts";
import { oneLine } from "../terminal/one-line.ts";
import { askForm } from "./form-questions.ts";
import { judgeResults } from "./judge-results.ts";
import type { ShellApprovalMode, ShellApprover } from "./shell-approver.ts";
import type { KeptConversation, ShellState } from "./shell-state.ts";
import type { ShellView } from "./shell-view.ts";

export interface ShellConversationOptions {
  readonly engine: EngineEndpoint;
  readonly timeoutMs: number;
  readonly version: string;
  readonly kept: KeptConversation;
  readonly state: ShellState;
  readonly mode: ShellApprovalMode;
  readonly approver: ShellApprover;
  /** They go with the first thing that is said. */
  readonly attachments: readonly AttachmentRef[];
  readonly view: ShellView;
  /** Gives the keyboard up to who asks. */
  readonly beforeAsk: () => void;
  /** Takes a safe line for standard error. */
  readonly tell: (line: string) => void;
}

/** How long a question may stay on the terminal: longer than an engine keeps it. */
const approvalTimeoutMs = 24 * 3_600_000;
/** Forms and questions in a row; what comes after is shown, and waits. */
const maxFollowUps = 50;

const refusing: ReadonlySet<string> = new Set(["unauthorized", "forbidden"]);
const unreachable: ReadonlySet<string> = new Set([
  "engine_unreachable",
  "response_timeout",
  "engine_refused",
  "engine_overloaded",
]);
/** Of an answer that will never count. */
const ended: ReadonlySet<string> = new Set([
  "continuation_used",
  "continuation_expired",
  "invalid_continuation",
  "approval_mismatch",
]);

const exitCodeOf = (code: string): ExitCode => {
  if (refusing.has(code)) return ExitCode.refused;
  return unreachable.has(code) ? ExitCode.unavailable : ExitCode.failed;
};

/** A name that the user can type for a question. */
export const shortIdOf = ({ digest }: PendingApproval): string =>
  digest
    .replace(/^.*:/, "")
    .replaceAll(/[^\w-]/g, "")
    .slice(0, 8);

/** What a question is, however often an engine asks it: each time it has another token. */
const questionOf = ({ digest, continuation }: PendingApproval): string =>
  JSON.stringify([digest, continuation.run_id ?? continuation.continuation_token]);

/** One conversation of the terminal with an engine: what is said, what is shown, and what waits. */
export class ShellConversation {
  readonly #options: ShellConversationOptions;
  readonly #client: ShellClient;
  readonly #forms: FormModel[] = [];
  readonly #denied = new Set<string>();
  /** Questions that were put here. */
  readonly #put = new Set<string>();
  #attachments: readonly AttachmentRef[];
  #pending: readonly PendingApproval[];
  #running: AbortController | undefined;
  #failure: ExitCode | undefined;
  #hasRefused = false;
  /** Something of an answer, or all of it, could not be shown. */
  #isUnshown = false;

  constructor(options: ShellConversationOptions) {
    const { engine, timeoutMs, version, kept, approver, view, tell } = options;
    this.#options = options;
    this.#pending = kept.pending;
    this.#attachments = options.attachments;
    this.#client = createShellClient({
      engine,
      timeoutMs,
      shell: { shell_kind: "command_shell", shell_version: version },
      session: kept.session,
      ...(options.attachments.length > 0 && { capabilities: { [ShellCapability.AttachmentUpload]: true } }),
      executors: {
        render_message: ({ payload }) => view.prose(String(payload?.message ?? "")),
        render_ui: (directive) => this.#show(directive),
      },
      approve: approver.approve,
      // A question is kept before it is put: who closes the terminal at it finds it again.
      answerApprovals: false,
      limits: { approvalTimeoutMs },
      onDenials: (denials) => {
        for (const denial of denials) this.#tellDenial(denial);
      },
      onDiagnostic: ({ code, message, actionType }) => {
        const which = actionType === undefined ? "" : ` ${oneLine(actionType, 100)}`;
        tell(`${oneLine(message, 300)} (${oneLine(code)}${which})`);
      },
    });
  }

  get sessionId(): string {
    return this.#client.session.sessionId;
  }

  get pending(): readonly PendingApproval[] {
    return this.#pending;
  }

  /** What the command ends with. */
  get exitCode(): ExitCode {
    if (this.#failure !== undefined) return this.#failure;
    const isRefused = this.#hasRefused || this.#options.approver.hasRefused || this.#pending.length > 0;
    if (isRefused) return ExitCode.refused;
    return this.#isUnshown ? ExitCode.failed : ExitCode.done;
  }

  /** Says something, and then puts what comes back as a form or a question. */
  async say(ask: ShellAsk): Promise<void> {
    const attachments = this.#attachments;
    this.#attachments = [];
    const given = attachments.length === 0 ? ask : { ...ask, attachments };
    await this.#run((signal) => this.#client.send({ ...given, signal }));
    await this.followUp();
  }

  /** Answers a question that waits. */
  async answer(pending: PendingApproval, reply: ApprovalReply): Promise<void> {
    await this.#answer(pending, reply);
    await this.followUp();
  }

  /** Puts forms, and each question that was not put yet. Without a terminal and `--approve` they are only shown. */
  async followUp(): Promise<void> {
    for (let put = 0; put < maxFollowUps; put++) {
      const form = this.#forms.shift();
      const pending = form ? undefined : this.#pending.find((one) => !this.#put.has(questionOf(one)));
      if (form) await this.#fill(form);
      else if (pending) await this.#ask(pending);
      else return;
    }
    for (const form of this.#forms.splice(0)) this.#options.view.form(form);
  }

  /** Gives up what is under way. False where nothing is. */
  cancel(): boolean {
    if (this.#running === undefined) return false;
    this.#running.abort();
    return true;
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  /** Says once what the engine does not offer, and what is dropped for that. */
  #tellDenial({ capability, code, message }: CapabilityDenial): void {
    if (this.#denied.has(capability)) return;
    this.#denied.add(capability);
    const { attachments, tell } = this.#options;
    const why = [code, message].filter((text) => text !== undefined).join(": ");
    const names = attachments.map(({ filename, ref_id, uri }) => filename ?? ref_id ?? uri ?? "").join(", ");
    const isUpload = capability === ShellCapability.AttachmentUpload;
    const dropped = isUpload ? `; not taken: ${oneLine(names, 300)}` : "";
    tell(
      `the engine does not offer ${oneLine(capability)}${why === "" ? "" : ` (${oneLine(why, 300)})`}${dropped}`,
    );
  }

  /** Gives whether it could be shown. */
  #show(directive: ActionDirective): boolean {
    const { isShown, form } = this.#options.view.card(directive);
    if (form) this.#forms.push(form);
    return isShown;
  }

  async #fill(form: FormModel): Promise<void> {
    const { mode, view, beforeAsk } = this.#options;
    if (mode === "no-terminal" || !process.stdin.isTTY || !process.stdout.isTTY) {
      view.form(form);
      return;
    }
    beforeAsk();
    view.note("the engine asks you to fill this in; what you write goes to it, and Ctrl-C leaves it");
    const filled = await this.#cancellable((signal) => askForm(form, signal));
    if (filled === undefined) view.note("(the form was left)");
    else await this.#run((signal) => this.#client.send({ ...filled, signal }));
  }

  async #ask(pending: PendingApproval): Promise<void> {
    this.#put.add(questionOf(pending));
    const reply = await this.#cancellable((signal) => this.#options.approver.answerPending(pending, signal));
    if (reply !== undefined) {
      await this.#answer(pending, reply);
    } else if (this.#options.mode === "ask") {
      this.#options.view.note(`(it waits: /approve ${shortIdOf(pending)}, or /reject ${shortIdOf(pending)})`);
    }
  }

  /** Answers a question. Where the answer does not count, the engine is asked what has become of it: it tells, or asks once more. */
  async #answer(pending: PendingApproval, reply: ApprovalReply): Promise<void> {
    const code = await this.#run((signal) => this.#client.answer(pending, reply, { signal }), pending);
    if (code === undefined || !ended.has(code)) return;
    this.#put.delete(questionOf(pending));
    await this.#run((signal) => this.#client.send({ signal }));
  }

  /** Does something that Ctrl-C gives up. */
  async #cancellable<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const controller = new AbortController();
    this.#running = controller;
    try {
      return await work(controller.signal);
    } finally {
      this.#running = undefined;
    }
  }

  /** Gives the code of what went wrong. */
  async #run(
    call: (signal: AbortSignal) => Promise<ShellOutcome>,
    answers?: PendingApproval,
  ): Promise<string | undefined> {
    try {
      const outcome = await this.#cancellable(call);
      this.#settle(outcome, answers);
      await this.#keep();
      return outcome.error?.code;
    } catch (error) {
      if (!ShellClientError.isInstance(error)) throw error;
      if (answers && ended.has(error.code)) await this.#drop(answers);
      this.#failed(error);
      return error.code;
    }
  }

  #settle({ error, results, pendingApprovals }: ShellOutcome, answers: PendingApproval | undefined): void {
    const isAnswered = answers !== undefined && (error === undefined || ended.has(error.code));
    const left = isAnswered ? this.#pending.filter((pending) => pending !== answers) : this.#pending;
    // What is asked once more is the same question, with what answers it now.
    const asked = new Map([...left, ...pendingApprovals].map((pending) => [questionOf(pending), pending]));
    this.#pending = [...asked.values()];
    const { hasRefused, isUnshown, lines } = judgeResults(results);
    this.#hasRefused ||= hasRefused;
    this.#isUnshown ||= isUnshown;
    for (const line of lines) this.#options.tell(line);
    if (error?.code === "continuation_used" && answers)
      this.#options.tell("it was answered before, perhaps elsewhere");
    else if (error) this.#failed(error);
  }

  #failed({ code, message }: Pick<ShellError, "code" | "message">): void {
    this.#failure = exitCodeOf(code);
    this.#options.tell(`${oneLine(message ?? "it failed", 1_000)} (${oneLine(code, 100)})`);
  }

  async #drop(answered: PendingApproval): Promise<void> {
    this.#pending = this.#pending.filter((pending) => pending !== answered);
    await this.#keep();
  }

  #keep(): Promise<void> {
    return this.#options.state.save({ session: this.#client.session, pending: this.#pending });
  }
}
