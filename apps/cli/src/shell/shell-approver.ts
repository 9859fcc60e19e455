import type { ApprovalAsk, ApprovalReply, PendingApproval } from "@harnesskit/shell-client";
import { askAtTerminal } from "./shell-question.ts";
import type { ShellView } from "./shell-view.ts";

/** Who answers: the user at the terminal, `--approve`, or nobody, because there is no terminal. */
export type ShellApprovalMode = "ask" | "once" | "reject" | "no-terminal";

export interface ShellApproverOptions {
  readonly mode: ShellApprovalMode;
  readonly view: ShellView;
  /** Gives the keyboard up: what was typed ahead is no answer. */
  readonly beforeAsk: () => void;
  /** Called where Ctrl-C is pressed at a question. */
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

  /** True where something was refused. */
  get hasRefused(): boolean {
    return this.#hasRefused;
  }

  /** Answers what a directive needs before it is carried out. */
  readonly approve = ({ directive, riskTier, signal }: ApprovalAsk): Promise<ApprovalReply | undefined> => {
    this.#options.view.question(directive, riskTier);
    return this.#answer(signal, false);
  };

  /** Puts a question of the engine; undefined where it goes on waiting. */
  answerPending(pending: PendingApproval, signal: AbortSignal): Promise<ApprovalReply | undefined> {
    this.#options.view.pending(pending);
    return this.#answer(signal, true);
  }

  /** Takes note of an answer that the user gave by a command. */
  gave(reply: ApprovalReply): void {
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
        return askAtTerminal(signal, { canWait, onInterrupt });
    }
  }
}
