import type { EventContext, NotificationEventType, VerificationStatus } from "@harnesskit/protocol/ahp";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import type { Usage } from "@harnesskit/protocol/threads";
import { BoundedMap, type Clock } from "@harnesskit/wire";
import { defined } from "@harnesskit/wire/json";
import { createRunReporter, type RunReporter } from "../reporters/run-reporter.ts";
import type { VerificationReporter } from "../reporters/verification-reporter.ts";
import { CallTasks } from "./call-tasks.ts";
import type { ThreadCall, ThreadCallOutcome, ThreadTurn, ThreadTurnEnd } from "./thread-types.ts";

/** The start of a command that only runs a project's own tests or checks. It decides only how the command is reported. */
const testCommand =
  /^(?:npm|pnpm|yarn|bun)\s+(?:run\s+)?(?:test|check|lint|typecheck)\b|^(?:npx\s+)?(?:vitest|jest|mocha|tsc)\b|^node\s+--test\b|^(?:python3?\s+-m\s+)?(?:pytest|unittest)\b|^cargo\s+(?:test|clippy|check)\b|^go\s+(?:test|vet)\b|^make\s+(?:test|check)\b|^(?:mvn|gradle|\.\/gradlew)\s+(?:test|check|verify)\b|^dotnet\s+test\b|^(?:bundle\s+exec\s+)?rspec\b|^mix\s+test\b/;

const isTestCommand = (command: unknown): command is string =>
  typeof command === "string" && testCommand.test(command.trimStart());

/** Sends a report about a thread to the harness; never throws. */
export type SendReport = (
  eventType: NotificationEventType,
  report: { readonly session: string; readonly payload: JsonObject; readonly metadata?: JsonObject },
) => void;

export interface TurnReportsOptions {
  readonly send: SendReport;
  /** No turn has run for a while; the thread is that of the last one. */
  readonly onIdle: (threadId: string, durationMs: number) => void;
  readonly clock: Clock;
}

/** Threads that are open sessions of the harness; of more, the one used longest ago ends. */
const maxSessions = 256;
/** Tasks of a run's list: each report sends all of it. */
const maxTasks = 100;
/** A state of a task that lasts less may be left out. */
const taskDelayMs = 250;
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
  readonly metadata: JsonObject;
  verifying?: Verifying | undefined;
}

/** What is counted of a thread while it is an open session. */
interface Session {
  readonly directory: string;
  readonly startedMs: number;
  actions: number;
  errors: number;
  tokens: number;
}

/** How long no turn has run before the harness is asked whether there is work in the background. */
const idleAfterMs = 60_000;

const endings = { completed: "completed", cancelled: "cancelled", error: "failed" } as const;

/** As `post_response` of a model has it. */
const toReported = (usage: Usage): JsonObject =>
  defined({
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    cache_read_tokens: usage.cacheReadTokens,
    cache_write_tokens: usage.cacheWriteTokens,
    model: usage.modelId,
  });

const toVerification = ({ status }: ThreadCallOutcome): VerificationStatus => {
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
export class TurnReports {
  readonly #options: TurnReportsOptions;
  /** In the order of their last use. */
  readonly #sessions = new BoundedMap<string, Session>({
    maxSize: maxSessions,
    onDrop: (threadId, { directory }) => this.#endSession(threadId, directory),
  });
  readonly #runs = new Map<string, Run>();
  #cancelIdle = () => {};

  constructor(options: TurnReportsOptions) {
    this.#options = options;
  }

  /** What a gate's event says of its session. */
  contextOf(threadId: string): EventContext | undefined {
    const session = this.#sessions.get(threadId);
    if (session === undefined) return undefined;
    const { actions, tokens, errors, startedMs } = session;
    const duration = Math.max(0, Math.round(this.#options.clock.now() - startedMs));
    return {
      session_stats: {
        total_actions: actions,
        total_tokens: tokens,
        duration_ms: duration,
        error_count: errors,
      },
    };
  }

  turnStarted({ threadId, turnId, directory, agent, isResumed }: ThreadTurn): void {
    this.#cancelIdle();
    this.#use(threadId, directory);
    const client = {
      sessionId: threadId,
      notify: (type: NotificationEventType, payload: unknown) => {
        this.#options.send(type, { session: threadId, payload: payload as JsonObject });
        return { decision: { decision: "allow" }, accepted: true } as const;
      },
    };
    const { clock } = this.#options;
    const metadata = defined({
      thread_id: threadId,
      agent,
      workspace: directory,
      resumed: isResumed || undefined,
    });
    const reporter = createRunReporter(client, { runId: turnId, clock, metadata, maxTasks, taskDelayMs });
    this.#runs.set(turnId, { reporter, metadata, tasks: new CallTasks(reporter.tasks) });
  }

  agentStarted({ turnId }: ThreadTurn): void {
    this.#runs.get(turnId)?.reporter.set("executing");
  }

  responded(
    { threadId, turnId, directory }: ThreadTurn,
    { text, step }: { readonly text: string; readonly step?: number },
  ): void {
    const said = text.length <= maxTextLength ? text : `${text.slice(0, maxTextLength)}…`;
    this.#options.send("post_response", {
      session: threadId,
      payload: defined({ text: said, outcome: "success", step }),
      metadata: { workspace: directory, thread_id: threadId, turn_id: turnId },
    });
  }

  /** The agent wants to make a call, which is judged now. */
  callProposed(call: ThreadCall): void {
    this.#runs.get(call.turnId)?.tasks.proposed(call);
  }

  callStarted(call: ThreadCall): void {
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
  callEnded(call: ThreadCall, outcome: ThreadCallOutcome): void {
    const { threadId, turnId, itemId } = call;
    const session = this.#sessions.get(threadId);
    if (session) {
      session.actions++;
      if (outcome.status === "failed") session.errors++;
    }
    const run = this.#runs.get(turnId);
    run?.tasks.ended(call, outcome);
    if (run?.verifying?.callId !== itemId) return;
    this.#verified(run, toVerification(outcome), outcome.error);
    run.reporter.set("executing");
  }

  turnEnded({ threadId, turnId }: ThreadTurn, { status, error, code, usage }: ThreadTurnEnd): void {
    const run = this.#runs.get(turnId);
    this.#runs.delete(turnId);
    if (!run) return;
    const session = this.#sessions.get(threadId);
    if (session) {
      session.tokens += usage?.totalTokens ?? 0;
      if (status === "error") session.errors++;
    }
    const { clock, onIdle } = this.#options;
    if (this.#runs.size === 0)
      this.#cancelIdle = clock.after(idleAfterMs, () => onIdle(threadId, idleAfterMs));
    this.#verified(run, "skipped", error);
    run.tasks.end();
    const { reporter } = run;
    const ending = endings[status];
    if (ending === "completed" && reporter.status === "created") reporter.set("executing");
    const said = defined({ code, usage: usage && toReported(usage) });
    reporter.set(ending, { error, metadata: { ...run.metadata, ...said } });
  }

  /** Ends all sessions. */
  end(): void {
    this.#cancelIdle();
    for (const { reporter } of this.#runs.values()) reporter.tasks.flush();
    for (const [threadId, { directory }] of this.#sessions) this.#endSession(threadId, directory);
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
    const known = this.#sessions.touch(threadId);
    if (known === undefined) {
      this.#options.send("session_start", {
        session: threadId,
        payload: { workspace: directory },
        metadata: { workspace: directory, thread_id: threadId },
      });
    }
    const startedMs = this.#options.clock.now();
    this.#sessions.set(threadId, known ?? { directory, startedMs, actions: 0, errors: 0, tokens: 0 });
  }

  #endSession(threadId: string, directory: string): void {
    this.#options.send("session_end", {
      session: threadId,
      payload: { reason: "the server has no more use for it" },
      metadata: { workspace: directory, thread_id: threadId },
    });
  }
}
