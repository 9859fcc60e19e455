import { createRunReporter, type RunReporter, type VerificationReporter } from "@harnesskit/ahp-client";
import type { NotificationEventType, VerificationStatus } from "@harnesskit/protocol/ahp";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import type {
  JudgedCall,
  ObservedEnd,
  ObservedTurn,
  ToolOutcome,
  TurnObserver,
} from "@harnesskit/thread-server";
import type { Clock } from "@harnesskit/wire";
import { CallTasks } from "./call-tasks.ts";
import type { HarnessLink } from "./harness-link.ts";
import { isTestCommand } from "./test-command.ts";

export interface RunReportsOptions {
  readonly link: Pick<HarnessLink, "notify">;
  readonly clock: Clock;
}

/** Threads that are open sessions of the harness; of more, the one used longest ago ends. */
const maxSessions = 256;
/** Tasks of a run's list: each change sends all of it. */
const maxTasks = 100;
/** Characters of a message that a report has. */
const maxTextLength = 16_384;

interface Verifying {
  readonly callId: string;
  readonly checkId: string;
  readonly verification: VerificationReporter;
}

interface Run {
  readonly reporter: RunReporter;
  readonly tasks: CallTasks;
  verifying?: Verifying | undefined;
}

const endings = { completed: "completed", cancelled: "cancelled", error: "failed" } as const;

const toVerification = ({ status }: ToolOutcome): VerificationStatus => {
  switch (status) {
    case "succeeded":
      return "passed";
    case "failed":
      return "failed";
    case "unknown":
      return "needs_review";
    default:
      return "skipped";
  }
};

/**
 * Reports where turns stand: each thread is a session, each turn a run, each tool call a task, each run of the tests a
 * verification.
 */
export class RunReports implements TurnObserver {
  readonly #options: RunReportsOptions;
  /** In the order of their last use. */
  readonly #sessions = new Map<string, string>();
  readonly #runs = new Map<string, Run>();

  constructor(options: RunReportsOptions) {
    this.#options = options;
  }

  turnStarted({ threadId, turnId, directory, agent, isResumed }: ObservedTurn): void {
    this.#use(threadId, directory);
    const client = {
      sessionId: threadId,
      notify: (type: NotificationEventType, payload: unknown) => {
        this.#options.link.notify(type, { session: threadId, payload: payload as JsonObject });
        return { decision: { decision: "allow" }, accepted: true } as const;
      },
    };
    const { clock } = this.#options;
    const metadata = {
      thread_id: threadId,
      agent,
      workspace: directory,
      ...(isResumed && { resumed: true }),
    };
    const reporter = createRunReporter(client, { runId: turnId, clock, metadata, maxTasks });
    this.#runs.set(turnId, { reporter, tasks: new CallTasks(reporter.tasks) });
  }

  agentStarted({ turnId }: ObservedTurn): void {
    this.#runs.get(turnId)?.reporter.set("executing");
  }

  responded(
    { threadId, turnId, directory }: ObservedTurn,
    { text, step }: { readonly text: string; readonly step?: number },
  ): void {
    const said = text.length <= maxTextLength ? text : `${text.slice(0, maxTextLength)}…`;
    this.#options.link.notify("post_response", {
      session: threadId,
      payload: { text: said, outcome: "success", ...(step !== undefined && { step }) },
      metadata: { workspace: directory, thread_id: threadId, turn_id: turnId },
    });
  }

  /** The agent wants to make a call, which is judged now. */
  callProposed(call: JudgedCall): void {
    this.#runs.get(call.turnId)?.tasks.proposed(call);
  }

  callStarted(call: JudgedCall): void {
    const { turnId, itemId, tool, input } = call;
    const run = this.#runs.get(turnId);
    run?.tasks.started(call);
    const { command } = input;
    if (tool.name !== "bash" || !run || run.verifying || !isTestCommand(command)) return;
    // A call of an earlier server runs before its agent goes on.
    if (run.reporter.status === "created") run.reporter.set("executing");
    run.reporter.set("verifying");
    const verification = run.reporter.verification();
    const checkId = verification.addCheck({ subject: "the project's own checks", command });
    verification.set("running");
    verification.setCheck(checkId, "running");
    run.verifying = { callId: itemId, checkId, verification };
  }

  /** A call has ended. */
  callEnded(call: JudgedCall, outcome: ToolOutcome): void {
    const { turnId, itemId } = call;
    const run = this.#runs.get(turnId);
    run?.tasks.ended(call, outcome);
    if (run?.verifying?.callId !== itemId) return;
    this.#verified(run, toVerification(outcome), outcome.error);
    run.reporter.set("executing");
  }

  turnEnded({ turnId }: ObservedTurn, { status, error, code }: ObservedEnd): void {
    const run = this.#runs.get(turnId);
    this.#runs.delete(turnId);
    if (!run) return;
    this.#verified(run, "skipped", error);
    run.tasks.end();
    const { reporter } = run;
    const ending = endings[status];
    if (ending === "completed" && reporter.status === "created") reporter.set("executing");
    reporter.set(ending, {
      ...(error !== undefined && { error }),
      ...(code !== undefined && { metadata: { code } }),
    });
  }

  /** Ends all sessions. */
  end(): void {
    for (const [threadId, directory] of this.#sessions) this.#endSession(threadId, directory);
    this.#sessions.clear();
  }

  #verified(run: Run, status: VerificationStatus, message: string | undefined): void {
    if (!run.verifying) return;
    const { verification, checkId } = run.verifying;
    run.verifying = undefined;
    verification.setCheck(checkId, status, message === undefined ? {} : { message });
    verification.set(status);
  }

  #use(threadId: string, directory: string): void {
    if (!this.#sessions.delete(threadId)) {
      this.#options.link.notify("session_start", {
        session: threadId,
        payload: { workspace: directory },
        metadata: { workspace: directory, thread_id: threadId },
      });
    }
    this.#sessions.set(threadId, directory);
    for (const [oldest, place] of this.#sessions) {
      if (this.#sessions.size <= maxSessions) return;
      this.#sessions.delete(oldest);
      this.#endSession(oldest, place);
    }
  }

  #endSession(threadId: string, directory: string): void {
    this.#options.link.notify("session_end", {
      session: threadId,
      payload: { reason: "the server has no more use for it" },
      metadata: { workspace: directory, thread_id: threadId },
    });
  }
}
