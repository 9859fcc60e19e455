import type {
  ApprovalDecision,
  ApprovalHandler,
  ApprovalRequest,
  ThreadApprovalAnswer,
} from "@harnesskit/thread-client";
import { createDeferred, type Deferred } from "@harnesskit/wire";
import { settleWithin } from "@harnesskit/wire/time";
import { askApproval } from "../terminal/keyboard.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { oneLine } from "../terminal/text.ts";
import { answererText } from "../timeline/answerer.ts";
import { approvalChoices, askedCallLines } from "../timeline/asked-call.ts";
import type { Timeline } from "../timeline/timeline.ts";

/** Lets questions be put while their answers can be delivered. Open at first. */
class AskGate {
  #closing = new AbortController();
  #opening: Deferred<void> | undefined;

  get signal(): AbortSignal {
    return this.#closing.signal;
  }

  async opened(signal: AbortSignal): Promise<void> {
    if (this.#opening) await settleWithin(this.#opening.promise, { name: "approval.gate", signal });
  }

  close(): void {
    this.#opening ??= createDeferred<void>();
    this.#closing.abort();
  }

  open(): void {
    if (!this.#opening) return;
    this.#closing = new AbortController();
    this.#opening.resolve();
    this.#opening = undefined;
  }
}

/** Where questions are put: what shows their lines, and the terminal that shows the choices. */
export interface QuestionTerminal {
  readonly output: NodeJS.WriteStream;
  readonly show: (lines: readonly string[]) => void;
}

/**
 * What answers: the user at the terminal, `--approve`, nothing because there is no terminal (then the answer is no), or
 * another client (`watch`).
 */
export type ApprovalMode = "ask" | "once" | "reject" | "no-terminal" | "watch";

export interface ApproverOptions {
  readonly command: string;
  readonly mode: ApprovalMode;
  readonly terminal: Terminal;
  readonly timeline: Timeline;
  readonly onCancel: () => void;
  /** The terminal to ask in, if it is not that of the timeline. @default the timeline's */
  readonly questionTerminal?: QuestionTerminal | undefined;
  /** Shows the lines of a question that is only watched. @default in the timeline */
  readonly onWatched?: ((request: ApprovalRequest) => void) | undefined;
  /** False where the timeline is not shown: then answers of others are not reported. @default true */
  readonly tellsAnswers?: boolean | undefined;
}

interface Resolution {
  readonly requestId: string;
  readonly resolvedBy: string;
  readonly decision?: ApprovalDecision | undefined;
  readonly reason?: string | undefined;
}

/** Answers the approvals of a turn. A question is put once the timeline has come to it. */
export class Approver {
  directory = "";
  readonly gate = new AskGate();
  readonly #options: ApproverOptions;
  readonly #shown = new Map<string, Deferred<void>>();
  readonly #put = new Map<string, ApprovalDecision | "open">();

  constructor(options: ApproverOptions) {
    this.#options = options;
  }

  get clientName(): string {
    const { mode, command } = this.#options;
    if (mode === "ask") return command;
    if (mode === "watch") return `${command} (watching)`;
    return mode === "no-terminal" ? `${command} (no terminal)` : `${command} --approve ${mode}`;
  }

  reached(requestId: string): void {
    this.#place(requestId).resolve();
  }

  resolved({ requestId, resolvedBy, decision, reason }: Resolution): void {
    const state = this.#put.get(requestId);
    this.#put.delete(requestId);
    this.#shown.delete(requestId);
    if (this.#options.tellsAnswers === false || state === undefined) return;
    if (decision === undefined || (state === decision && resolvedBy === this.clientName)) return;
    const { timeline, terminal } = this.#options;
    const what = oneLine(decision ?? reason ?? "no answer", 200);
    timeline.lines([`  ${terminal.style.yellow(`answered by ${answererText(resolvedBy)}: ${what}`)}`]);
  }

  readonly decide: ApprovalHandler = async (request, { signal }) =>
    (await this.answer(request, { signal })) ?? "reject";

  async answer(
    request: ApprovalRequest,
    { signal }: { signal: AbortSignal },
  ): Promise<ThreadApprovalAnswer | undefined> {
    const { mode } = this.#options;
    if (mode === "no-terminal") return "unattended";
    if (mode === "once" || mode === "reject") return mode;
    await settleWithin(this.#place(request.requestId).promise, { name: "approval.place", signal });
    this.#shown.delete(request.requestId);
    if (signal.aborted) return undefined;
    this.#put.set(request.requestId, "open");
    if (mode === "watch") return this.#watch(request);
    return this.#ask(request, signal);
  }

  async #watch(request: ApprovalRequest): Promise<undefined> {
    const { timeline, terminal, onWatched } = this.#options;
    if (onWatched) onWatched(request);
    else {
      const lines = await askedCallLines(request.metadata, this.directory, terminal.style);
      timeline.lines([...lines, `  ${terminal.style.yellow(watchedText)}`]);
    }
    return undefined;
  }

  async #ask(
    { requestId, metadata }: ApprovalRequest,
    signal: AbortSignal,
  ): Promise<ApprovalDecision | undefined> {
    const { timeline, terminal, onCancel, questionTerminal } = this.#options;
    const show = questionTerminal?.show ?? ((shown: readonly string[]) => timeline.lines(shown));
    for (;;) {
      await this.gate.opened(signal);
      if (signal.aborted) return undefined;
      const lines = await askedCallLines(metadata, this.directory, terminal.style);
      if (signal.aborted) return undefined;
      const closing = this.gate.signal;
      const answer = await askApproval<ApprovalDecision>(
        approvalChoices(metadata),
        "reject",
        AbortSignal.any([signal, closing]),
        { shown: { lines, show }, output: questionTerminal?.output },
      );
      if (answer !== undefined) {
        if (this.#put.has(requestId)) this.#put.set(requestId, answer);
        return answer;
      }
      if (signal.aborted) return undefined;
      if (closing.aborted) continue;
      onCancel();
      return undefined;
    }
  }

  #place(requestId: string): Deferred<void> {
    const known = this.#shown.get(requestId);
    if (known) return known;
    const place = createDeferred<void>();
    this.#shown.set(requestId, place);
    return place;
  }
}

/** Shown with a question that cannot be answered here. */
export const watchedText =
  "This client only watches: there is no terminal to ask in. To answer: --approve once, or --approve reject";
