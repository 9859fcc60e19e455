import type {
  EventContext,
  NotificationEventType,
  TaskStatus,
  VerificationStatus,
} from "@harnesskit/protocol/ahp";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import { BoundedMap, type Clock, displayText } from "@harnesskit/wire";
import { defined } from "@harnesskit/wire/json";
import { RunReport } from "./run-report.ts";
import type { ThreadCall, ThreadCallOutcome, ThreadTurn, ThreadTurnEnd } from "./thread-types.ts";

/** The start of a command that only runs a project's own tests or checks. It decides only how the command is reported. */
const testCommand =
  /^(?:npm|pnpm|yarn|bun)\s+(?:run\s+)?(?:test|check|lint|typecheck)\b|^(?:npx\s+)?(?:vitest|jest|mocha|tsc)\b|^node\s+--test\b|^(?:python3?\s+-m\s+)?(?:pytest|unittest)\b|^cargo\s+(?:test|clippy|check)\b|^go\s+(?:test|vet)\b|^make\s+(?:test|check)\b|^(?:mvn|gradle|\.\/gradlew)\s+(?:test|check|verify)\b|^dotnet\s+test\b|^(?:bundle\s+exec\s+)?rspec\b|^mix\s+test\b/;

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
/** Characters of a message that a report has. */
const maxTextLength = 16_384;
/** Characters of a task's error. */
const maxErrorLength = 500;
const maxTitleLength = 120;
/** How long no turn has run before the harness is asked whether there is work in the background. */
const idleAfterMs = 60_000;

interface Run {
  readonly report: RunReport;
  /** The call that runs the project's tests. */
  verifying?: { readonly callId: string; readonly command: string } | undefined;
  /** Calls that have not ended. */
  readonly open: Set<string>;
}

/** What is counted of a thread while it is an open session. */
interface Session {
  readonly directory: string;
  readonly startedMs: number;
  actions: number;
  errors: number;
  tokens: number;
}

const endings = { completed: "completed", cancelled: "cancelled", error: "failed" } as const;

/** What an outcome is as the end of a task, and of a verification. */
const outcomes: Readonly<Record<ThreadCallOutcome["status"], readonly [TaskStatus, VerificationStatus]>> = {
  succeeded: ["completed", "passed"],
  failed: ["failed", "failed"],
  rejected: ["skipped", "skipped"],
  blocked: ["skipped", "skipped"],
  cancelled: ["cancelled", "skipped"],
  // It is unknown whether it ran, so it is not done.
  unknown: ["failed", "needs_review"],
};

/** The tool and its file. A command is only in the gate's event: harnesses keep titles on disk. */
const taskTitle = ({ tool, input: { path } }: ThreadCall): string =>
  displayText(typeof path === "string" ? `${tool.name} ${path}` : tool.name, { maxLength: maxTitleLength });

/**
 * Reports threads as sessions, turns as runs, and their calls as tasks: pending when the agent has proposed one, in progress when it runs,
 * then as it ended. A command that runs the project's tests is a verification.
 */
export class TurnReports {
  readonly #options: TurnReportsOptions;
  readonly #runs = new Map<string, Run>();
  readonly #sessions = new BoundedMap<string, Session>({
    maxSize: maxSessions,
    onDrop: (threadId, { directory }) => this.#endSession(threadId, directory),
  });
  #cancelIdle = () => {};

  constructor(options: TurnReportsOptions) {
    this.#options = options;
  }

  /** What a gate's event says of its session. */
  contextOf(threadId: string): EventContext | undefined {
    const session = this.#sessions.get(threadId);
    if (session === undefined) return undefined;
    const { actions: total_actions, tokens: total_tokens, errors: error_count, startedMs } = session;
    const duration_ms = Math.max(0, Math.round(this.#options.clock.now() - startedMs));
    return { session_stats: { total_actions, total_tokens, duration_ms, error_count } };
  }

  turnStarted({ threadId, turnId, directory, agent, isResumed }: ThreadTurn): void {
    this.#cancelIdle();
    this.#use(threadId, directory);
    const { clock, send } = this.#options;
    const metadata = defined({
      thread_id: threadId,
      agent,
      workspace: directory,
      resumed: isResumed || undefined,
    });
    const report = new RunReport({
      ...{ runId: turnId, sessionId: threadId, metadata, clock },
      send: (type, payload) => send(type, { session: threadId, payload }),
    });
    this.#runs.set(turnId, { report, open: new Set() });
  }

  agentStarted({ turnId }: ThreadTurn): void {
    this.#runs.get(turnId)?.report.set("executing");
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

  /** The agent wants to make a call, which is judged now, perhaps again. */
  callProposed(call: ThreadCall): void {
    const run = this.#runs.get(call.turnId);
    if (!run || run.open.has(call.itemId)) return;
    run.open.add(call.itemId);
    run.report.setTask(call.itemId, "pending", {
      title: taskTitle(call),
      metadata: { tool: call.tool.name },
    });
  }

  callStarted({ turnId, itemId, tool, input: { command } }: ThreadCall): void {
    const run = this.#runs.get(turnId);
    if (!run) return;
    const { report } = run;
    if (run.open.has(itemId) && report.statusOfTask(itemId) === "pending")
      report.setTask(itemId, "in_progress");
    const isTest =
      tool.name === "bash" && typeof command === "string" && testCommand.test(command.trimStart());
    if (!isTest || run.verifying) return;
    // A call of an earlier server runs before its agent goes on.
    if (report.status === "created") report.set("executing");
    report.set("verifying");
    report.setVerification("running", command);
    run.verifying = { callId: itemId, command };
  }

  callEnded({ threadId, turnId, itemId }: ThreadCall, { status, error }: ThreadCallOutcome): void {
    const session = this.#sessions.get(threadId);
    if (session) {
      session.actions++;
      if (status === "failed") session.errors++;
    }
    const run = this.#runs.get(turnId);
    if (!run) return;
    const [task, verification] = outcomes[status];
    if (run.open.delete(itemId)) {
      run.report.setTask(itemId, task, { error: error?.slice(0, maxErrorLength) });
    }
    if (run.verifying?.callId !== itemId) return;
    this.#verified(run, verification, error);
    run.report.set("executing");
  }

  turnEnded({ threadId, turnId }: ThreadTurn, { status, error, code, usage }: ThreadTurnEnd): void {
    const run = this.#runs.get(turnId);
    if (!run) return;
    this.#runs.delete(turnId);
    const session = this.#sessions.get(threadId);
    if (session) {
      session.tokens += usage?.totalTokens ?? 0;
      if (status === "error") session.errors++;
    }
    const { clock, onIdle } = this.#options;
    if (this.#runs.size === 0)
      this.#cancelIdle = clock.after(idleAfterMs, () => onIdle(threadId, idleAfterMs));
    this.#verified(run, "skipped", error);
    for (const itemId of run.open) run.report.setTask(itemId, "cancelled");
    const ending = endings[status];
    if (ending === "completed" && run.report.status === "created") run.report.set("executing");
    // As `post_response` of a model has it.
    const tokens = usage && {
      input_tokens: usage.inputTokens,
      output_tokens: usage.outputTokens,
      cache_read_tokens: usage.cacheReadTokens,
      cache_write_tokens: usage.cacheWriteTokens,
      model: usage.modelId,
    };
    run.report.set(ending, error, defined({ code, usage: tokens && defined(tokens) }));
  }

  /** Ends all sessions. */
  end(): void {
    this.#cancelIdle();
    for (const { report } of this.#runs.values()) report.flush();
    for (const [threadId, { directory }] of this.#sessions) this.#endSession(threadId, directory);
    this.#sessions.clear();
  }

  #verified(run: Run, status: VerificationStatus, message: string | undefined): void {
    if (run.verifying) run.report.setVerification(status, run.verifying.command, message);
    run.verifying = undefined;
  }

  #use(threadId: string, directory: string): void {
    const known = this.#sessions.touch(threadId);
    if (known !== undefined) return;
    this.#sendOfSession("session_start", threadId, directory, { workspace: directory });
    const startedMs = this.#options.clock.now();
    this.#sessions.set(threadId, { directory, startedMs, actions: 0, errors: 0, tokens: 0 });
  }

  #endSession(threadId: string, directory: string): void {
    this.#sendOfSession("session_end", threadId, directory, { reason: "the server has no more use for it" });
  }

  #sendOfSession(
    type: NotificationEventType,
    threadId: string,
    directory: string,
    payload: JsonObject,
  ): void {
    this.#options.send(type, {
      session: threadId,
      payload,
      metadata: { workspace: directory, thread_id: threadId },
    });
  }
}
