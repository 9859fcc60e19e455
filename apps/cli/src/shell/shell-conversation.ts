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
  type ShellClient,
  ShellClientError,
  type ShellOutcome,
} from "@harnesskit/shell-client";
import { ExitCode } from "../cli-error.ts";
import type { Session } from "../session/session.ts";
import { type AnswerCommand, findPending, type LineActions } from "../terminal/line-conversation.ts";
import { engineLabel } from "../terminal/spinner.ts";
import { oneLine } from "../terminal/text.ts";
import { errorExitCode, errorWord, RefusedCalls } from "../timeline/outcomes.ts";
import { questionLines, type ShellApprover } from "./approvals.ts";
import { showCard } from "./cards.ts";
import { judgeResults } from "./judge-results.ts";
import type { KeptConversation, ShellState } from "./shell-state.ts";
import type { StreamPreview } from "./stream-preview.ts";

export interface ShellConversationOptions {
  readonly engine: EngineEndpoint;
  readonly timeoutMs: number;
  readonly session: Session;
  readonly kept: KeptConversation;
  readonly state: ShellState;
  readonly approver: ShellApprover;
  readonly attachments: readonly AttachmentRef[];
  /** Shows what is about to be answered. @default nothing does */
  readonly preview: StreamPreview | undefined;
}

const approvalTimeoutMs = 24 * 3_600_000;
const maxFollowUps = 50;

/** The codes of an answer that will never count. */
const ended: ReadonlySet<string> = new Set([
  "continuation_used",
  "continuation_expired",
  "invalid_continuation",
  "approval_mismatch",
]);

/** A name that the user can type for a question. */
const shortIdOf = ({ digest }: PendingApproval): string =>
  digest
    .replace(/^.*:/, "")
    .replaceAll(/[^\w-]/g, "")
    .slice(0, 8);

/** The same for a question that is asked once more. */
const questionKey = ({ digest, continuation }: PendingApproval): string =>
  JSON.stringify([digest, continuation.run_id ?? continuation.continuation_token]);

/** One conversation of the terminal with an engine: messages, answers and pending approvals. */
export class ShellConversation implements LineActions {
  readonly #options: ShellConversationOptions;
  readonly #client: ShellClient;
  readonly #denied = new Set<string>();
  readonly #put = new Set<string>();
  #attachments: readonly AttachmentRef[];
  #pending: readonly PendingApproval[];
  #failure: ExitCode | undefined;
  /** Calls of the engine that did not run: of the turn that is shown, and of all. */
  readonly #turnCalls = new RefusedCalls();
  readonly #calls = new RefusedCalls();
  #hasRefused = false;
  #isUnshown = false;

  constructor(options: ShellConversationOptions) {
    const { engine, timeoutMs, kept, approver, session } = options;
    const { version, view, spinner, note: tell } = session;
    this.#options = options;
    this.#pending = kept.pending;
    this.#attachments = options.attachments;
    this.#client = createShellClient({
      engine,
      timeoutMs,
      shell: { shell_kind: "command_shell", shell_version: version },
      session: kept.session,
      capabilities: options.attachments.length > 0 ? { [ShellCapability.AttachmentUpload]: true } : undefined,
      executors: {
        render_message: ({ payload }) =>
          view.prose(String(payload?.message ?? ""), payload?.format === "markdown"),
        render_ui: (directive) => this.#show(directive),
      },
      approve: async (ask) => {
        const resume = spinner?.instead();
        return approver.approve(ask).finally(() => resume?.());
      },
      onStream: options.preview?.show,
      // A question is stored before it is asked, so that it is found again if the terminal is closed.
      answerApprovals: false,
      limits: { approvalTimeoutMs },
      onDenials: (denials) => {
        for (const denial of denials) this.#tellDenial(denial);
      },
      onDiagnostic: ({ code, message, actionType }) => {
        const which = actionType === undefined ? "" : ` ${oneLine(actionType, 100)}`;
        tell(`${message} (${code}${which})`);
      },
    });
  }

  get pending(): readonly PendingApproval[] {
    return this.#pending;
  }

  pendingIds(): readonly string[] {
    return this.#pending.map(shortIdOf);
  }

  get exitCode(): ExitCode {
    if (this.#failure !== undefined) return this.#failure;
    const isRefused = this.#hasRefused || this.#options.approver.hasRefused || this.#pending.length > 0;
    if (isRefused) return ExitCode.refused;
    return this.#calls.exitCode ?? (this.#isUnshown ? ExitCode.failed : ExitCode.done);
  }

  async say(intent: string): Promise<void> {
    const attachments = this.#attachments;
    this.#attachments = [];
    const given = attachments.length === 0 ? { intent } : { intent, attachments };
    await this.#run((signal) => this.#client.send({ ...given, signal }));
    await this.followUp();
  }

  async answer(command: AnswerCommand): Promise<void> {
    const { approver, session } = this.#options;
    const { view } = session;
    const pending = findPending(this.#pending, command.id, shortIdOf);
    if (typeof pending === "string") {
      view.note(pending);
      return;
    }
    const reason = command.kind === "reject" ? command.reason : undefined;
    const decision = command.kind === "approve" ? ("approved" as const) : ("refused" as const);
    const reply = { decision, reason };
    approver.noteReply(reply);
    await this.#answer(pending, reply);
    await this.followUp();
  }

  async showPending(): Promise<number> {
    const { view } = this.#options.session;
    for (const one of this.#pending) {
      view.lines(await questionLines(one.directive, view.style));
      view.note(`  /approve ${shortIdOf(one)}   /reject ${shortIdOf(one)} [REASON]`);
    }
    return this.#pending.length;
  }

  async followUp(): Promise<void> {
    for (let put = 0; put < maxFollowUps; put++) {
      const pending = this.#pending.find((one) => !this.#put.has(questionKey(one)));
      if (pending === undefined) return;
      await this.#ask(pending);
    }
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  #tellDenial({ capability, code, message }: CapabilityDenial): void {
    // Without streams the answers are the same.
    if (this.#denied.has(capability) || capability === ShellCapability.Streaming) return;
    this.#denied.add(capability);
    const { attachments, session } = this.#options;
    const why = [code, message].filter((text) => text !== undefined).join(": ");
    const names = attachments.map(({ filename, ref_id, uri }) => filename ?? ref_id ?? uri ?? "").join(", ");
    const isUpload = capability === ShellCapability.AttachmentUpload;
    const dropped = isUpload ? `; not taken: ${names}` : "";
    session.note(`the engine does not offer ${capability}${why === "" ? "" : ` (${why})`}${dropped}`);
  }

  #show(directive: ActionDirective): boolean {
    const { isShown, call } = showCard(this.#options.session.view, directive);
    if (call) {
      this.#turnCalls.add(call);
      this.#calls.add(call);
    }
    return isShown;
  }

  async #ask(pending: PendingApproval): Promise<void> {
    this.#put.add(questionKey(pending));
    const reply = await this.#options.session.cancellable((signal) =>
      this.#options.approver.answerPending(pending, signal),
    );
    if (reply !== undefined) {
      await this.#answer(pending, reply);
    } else if (this.#options.session.mode === "ask") {
      this.#options.session.view.note(
        `(it waits: /approve ${shortIdOf(pending)}, or /reject ${shortIdOf(pending)})`,
      );
    }
  }

  async #answer(pending: PendingApproval, reply: ApprovalReply): Promise<void> {
    const code = await this.#run((signal) => this.#client.answer(pending, reply, { signal }), pending);
    if (code === undefined || !ended.has(code)) return;
    this.#put.delete(questionKey(pending));
    await this.#run((signal) => this.#client.send({ signal }));
  }

  async #run(
    call: (signal: AbortSignal) => Promise<ShellOutcome>,
    answers?: PendingApproval,
  ): Promise<string | undefined> {
    const { session } = this.#options;
    const { spinner } = session;
    spinner?.work(engineLabel);
    try {
      const outcome = await session.cancellable(call).finally(() => spinner?.rest());
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
    const asked = new Map([...left, ...pendingApprovals].map((pending) => [questionKey(pending), pending]));
    this.#pending = [...asked.values()];
    const { hasRefused, isUnshown, lines } = judgeResults(results);
    this.#hasRefused ||= hasRefused;
    this.#isUnshown ||= isUnshown;
    for (const line of lines) this.#options.session.note(line);
    if (error?.code === "continuation_used" && answers)
      this.#options.session.note("it was answered before, perhaps elsewhere");
    else if (error) this.#failed(error);
    if (pendingApprovals.length > 0) return;
    const { view } = this.#options.session;
    const notRun = this.#turnCalls.line(view.style);
    if (notRun !== undefined) view.lines([notRun]);
    this.#turnCalls.clear();
  }

  #failed({ code, message, details }: Pick<ShellError, "code" | "message" | "details">): void {
    // An engine of this program says which failure of its model it was.
    const category = typeof details?.category === "string" ? details.category : code;
    this.#failure = errorExitCode(category);
    const { session } = this.#options;
    session.note(`${errorWord(category)}: ${message ?? "it does not say why"} (${category})`);
    if (category === "engine_unreachable") session.note("Start one in another terminal: harness engine");
  }

  async #drop(answered: PendingApproval): Promise<void> {
    this.#pending = this.#pending.filter((pending) => pending !== answered);
    await this.#keep();
  }

  #keep(): Promise<void> {
    return this.#options.state.save({ session: this.#client.session, pending: this.#pending });
  }
}
