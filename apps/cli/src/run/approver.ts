import { isCancel, select } from "@clack/prompts";
import type {
  ApprovalAnswer,
  ApprovalDecision,
  ApprovalHandler,
  ApprovalMetadata,
  ApprovalRequest,
} from "@harnesskit/thread-client";
import { createDeferred, type Deferred } from "@harnesskit/wire";
import { arrowKeysOnly } from "../terminal/choice-keys.ts";
import { oneLine } from "../terminal/one-line.ts";
import type { Terminal } from "../terminal/terminal.ts";
import type { Timeline } from "../timeline/timeline.ts";
import { approvalChoices, approvalLines } from "./approval-view.ts";
import { AskGate } from "./ask-gate.ts";
import { quietKeyboard } from "./quiet-keyboard.ts";

/**
 * Who answers: the user at the terminal, `--approve`, nobody because there is no terminal (the answer is no then), or
 * nobody here because others can (`watch`).
 */
export type ApprovalMode = "ask" | "once" | "reject" | "no-terminal" | "watch";

export interface ApproverOptions {
  /** The command that asks: what the log says about who answered. */
  readonly command: string;
  readonly mode: ApprovalMode;
  readonly terminal: Terminal;
  readonly timeline: Timeline;
  /** The user pressed Ctrl-C at the question. */
  readonly onCancel: () => void;
  /** Shows the lines of a question that is only watched. @default in the timeline */
  readonly onWatched?: (request: ApprovalRequest) => void;
  /** False where the timeline is not shown: then nothing is said of who answered. @default true */
  readonly tellsAnswers?: boolean;
}

/** What is told of an approval that was answered. */
interface Resolution {
  readonly requestId: string;
  readonly resolvedBy: string;
  readonly decision?: ApprovalDecision | undefined;
  readonly reason?: string | undefined;
}

/** Answers the approvals of a turn. A question is put once the timeline has come to it. */
export class Approver {
  /** The thread's directory. */
  directory = "";
  /** Closed while no answer can be delivered: a question at the terminal is taken back then, and put again after. */
  readonly gate = new AskGate();
  readonly #options: ApproverOptions;
  readonly #shown = new Map<string, Deferred<void>>();
  /** Questions that were put here and not settled, with the answer that was given here. */
  readonly #put = new Map<string, ApprovalDecision | "open">();

  constructor(options: ApproverOptions) {
    this.#options = options;
  }

  /** What the log says about who answered. */
  get clientName(): string {
    const { mode, command } = this.#options;
    if (mode === "ask") return command;
    if (mode === "watch") return `${command} (watching)`;
    return mode === "no-terminal" ? `${command} (no terminal)` : `${command} --approve ${mode}`;
  }

  /** The timeline has come to this approval. */
  reached(requestId: string): void {
    this.#place(requestId).resolve();
  }

  /** Says who answered where the question was put here and another client did. The timeline says why there was no answer. */
  resolved({ requestId, resolvedBy, decision, reason }: Resolution): void {
    const state = this.#put.get(requestId);
    this.#put.delete(requestId);
    this.#shown.delete(requestId);
    if (this.#options.tellsAnswers === false || state === undefined) return;
    if (decision === undefined || (state === decision && resolvedBy === this.clientName)) return;
    const { timeline, terminal } = this.#options;
    const what = oneLine(decision ?? reason ?? "no answer", 200);
    timeline.lines([`  ${terminal.style.yellow(`answered by ${oneLine(resolvedBy, 100)}: ${what}`)}`]);
  }

  readonly decide: ApprovalHandler = async (request, { signal }) =>
    (await this.answer(request, { signal })) ?? "reject";

  /** The answer, or undefined where none is given here. */
  async answer(
    request: ApprovalRequest,
    { signal }: { signal: AbortSignal },
  ): Promise<ApprovalAnswer | undefined> {
    const { mode } = this.#options;
    if (mode === "no-terminal") return "unattended";
    if (mode === "once" || mode === "reject") return mode;
    await this.#place(request.requestId).promise;
    this.#shown.delete(request.requestId);
    if (signal.aborted) return undefined;
    this.#put.set(request.requestId, "open");
    if (mode === "watch") return this.#watch(request);
    return this.#ask(request, signal);
  }

  #watch(request: ApprovalRequest): undefined {
    const { timeline, terminal, onWatched } = this.#options;
    if (onWatched) onWatched(request);
    else {
      const lines = approvalLines(request.metadata, this.directory, terminal.style);
      timeline.lines([...lines, `  ${terminal.style.yellow(watchedText)}`]);
    }
    return undefined;
  }

  async #ask(
    { requestId, metadata }: ApprovalRequest,
    signal: AbortSignal,
  ): Promise<ApprovalDecision | undefined> {
    const { timeline, terminal, onCancel } = this.#options;
    for (;;) {
      await this.gate.opened(signal);
      if (signal.aborted) return undefined;
      timeline.lines(approvalLines(metadata, this.directory, terminal.style));
      const closing = this.gate.signal;
      const answer = await askAtTerminal(metadata, AbortSignal.any([signal, closing]));
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

/**
 * The choice of who sits at the terminal, undefined after Ctrl-C and when the signal aborts. An answer is for what was
 * shown: nothing counts that was typed before.
 */
const askAtTerminal = async (
  metadata: ApprovalMetadata,
  signal: AbortSignal,
): Promise<ApprovalDecision | undefined> => {
  if ((await quietKeyboard(process.stdin, signal)) !== "quiet") return undefined;
  arrowKeysOnly();
  const answer = await select<ApprovalDecision>({
    message: "Allow it?",
    options: approvalChoices(metadata),
    initialValue: "reject",
    showInstructions: false,
    signal,
  });
  return isCancel(answer) ? undefined : answer;
};

/** What is said where a question is shown and cannot be answered. */
export const watchedText =
  "This client only watches: there is no terminal to ask in. To answer: --approve once, or --approve reject";
