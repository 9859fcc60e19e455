import { isCancel, select } from "@clack/prompts";
import type { ApprovalDecision, ApprovalHandler, ApprovalRequest } from "@harnesskit/thread-client";
import { createDeferred, type Deferred } from "@harnesskit/wire";
import type { Terminal } from "../terminal/terminal.ts";
import type { Timeline } from "../timeline/timeline.ts";
import { approvalLines } from "./approval-view.ts";

/** Who answers: the user at the terminal, `--approve`, or nobody because there is no terminal. */
export type ApprovalMode = "ask" | "once" | "reject" | "no-terminal";

export interface ApproverOptions {
  readonly mode: ApprovalMode;
  readonly terminal: Terminal;
  readonly timeline: Timeline;
  /** The user pressed Ctrl-C at the question. */
  readonly onCancel: () => void;
}

/** Answers the approvals of a turn. A question is put once the timeline has come to it. */
export class Approver {
  /** The thread's directory. */
  directory = "";
  readonly #options: ApproverOptions;
  readonly #shown = new Map<string, Deferred<void>>();

  constructor(options: ApproverOptions) {
    this.#options = options;
  }

  /** What the log says about who answered. */
  get clientName(): string {
    const { mode } = this.#options;
    if (mode === "ask") return "harness run";
    return mode === "no-terminal" ? "harness run (no terminal)" : `harness run --approve ${mode}`;
  }

  /** The timeline has come to this approval. */
  reached(requestId: string): void {
    this.#place(requestId).resolve();
  }

  readonly decide: ApprovalHandler = async (request, { signal }) => {
    const { mode } = this.#options;
    if (mode !== "ask") return mode === "once" ? "once" : "reject";
    await this.#place(request.requestId).promise;
    this.#shown.delete(request.requestId);
    return this.#ask(request, signal);
  };

  async #ask({ metadata }: ApprovalRequest, signal: AbortSignal): Promise<ApprovalDecision> {
    if (signal.aborted) return "reject";
    const { timeline, terminal, onCancel } = this.#options;
    timeline.lines(approvalLines(metadata, this.directory, terminal.style));
    const answer = await select<ApprovalDecision>({
      message: "Allow it?",
      options: [
        { value: "once", label: "Yes, once" },
        { value: "always", label: "Always", hint: "for exactly this, in this thread" },
        { value: "reject", label: "No" },
      ],
      initialValue: "reject",
      showInstructions: false,
      signal,
    });
    if (!isCancel(answer)) return answer;
    if (!signal.aborted) onCancel();
    return "reject";
  }

  #place(requestId: string): Deferred<void> {
    const known = this.#shown.get(requestId);
    if (known) return known;
    const place = createDeferred<void>();
    this.#shown.set(requestId, place);
    return place;
  }
}
