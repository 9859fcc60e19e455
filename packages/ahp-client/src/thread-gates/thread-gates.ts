import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import { type Clock, callSafely, systemClock } from "@harnesskit/wire";
import { defined } from "@harnesskit/wire/json";
import type { AhpClient } from "../client-options.ts";
import { checkThreadGatesOptions } from "../option-names.ts";
import { cancelledCode, PolicyJudge, promptIdOf, toolCallPayload } from "./policy-judge.ts";
import type {
  ThreadCall,
  ThreadCallOutcome,
  ThreadPrompt,
  ThreadRequest,
  ThreadTurn,
  ThreadTurnEnd,
  ThreadVerdict,
} from "./thread-types.ts";
import { type SendReport, TurnReports } from "./turn-reports.ts";

export interface ThreadGatesOptions {
  /** The client of the harness. The caller connects and closes it. */
  readonly client: Pick<AhpClient, "decide" | "notify">;
  /** The policy's name until a decision of the harness contains it. @default "of an unknown harness" */
  readonly policyName?: () => string | undefined;
  /** The agent of tools without an `id`: the first part of their ids, `AGENT/TOOL`. */
  readonly toolAgent: string;
  /**
   * How long a decision may wait for a human, in milliseconds, for a harness that holds questions: it is sent in `metadata.wait_ms`, and
   * deferred questions are asked again for as long as it takes. @default not told; three deferrals within 60 s
   */
  readonly waitMs?: number | undefined;
  /** Reports a notification that could not be sent. @default ignored */
  readonly onError?: ((error: unknown) => void) | undefined;
  /** @default the system's clock */
  readonly clock?: Clock | undefined;
}

/** The gates and the observer of a thread server; pass them to `createThreadServer`. */
export interface ThreadGates {
  /** Asks the harness about each call (`pre_action`), and reports its outcome (`post_action`). A failure blocks the call. */
  readonly gate: {
    before(
      call: ThreadCall,
      options: { signal: AbortSignal },
    ): Promise<ThreadVerdict<{ readonly input: JsonObject }>>;
    after(call: ThreadCall, outcome: ThreadCallOutcome): void;
  };
  /** Asks the harness about each prompt, and each further request to the model (`pre_prompt`). A failure blocks. */
  readonly promptGate: {
    before(
      prompt: ThreadPrompt,
      options: { signal: AbortSignal },
    ): Promise<ThreadVerdict<{ readonly text: string }>>;
    request(
      request: ThreadRequest,
      options: { signal: AbortSignal },
    ): Promise<ThreadVerdict<{ readonly text: string }>>;
  };
  /** Reports sessions, answers of the model, and runs with their tasks. Never fails a turn. */
  readonly observer: {
    turnStarted(turn: ThreadTurn): void;
    agentStarted(turn: ThreadTurn): void;
    responded(turn: ThreadTurn, message: { readonly text: string; readonly step?: number }): void;
    callStarted(call: ThreadCall): void;
    turnEnded(turn: ThreadTurn, end: ThreadTurnEnd): void;
  };
  /** Ends the sessions of all threads at the harness. */
  end(): void;
}

/** The events that the gates send, for the `capabilities` of the client's handshake. */
export const threadGateCapabilities: readonly string[] = [
  ...["pre_action", "post_action", "pre_prompt", "post_response", "session_start", "session_end"],
  ...["idle", "run_lifecycle", "task_list", "verification"],
];

/** Characters of a result in a report. */
const maxReportLength = 16_384;

const outcomes: Readonly<Record<ThreadCallOutcome["status"], string>> = {
  succeeded: "success",
  failed: "error",
  rejected: "refused",
  blocked: "blocked",
  cancelled: "cancelled",
  unknown: "unknown",
};

const clip = (value: JsonValue | undefined): string | undefined => {
  if (value === undefined) return undefined;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length <= maxReportLength ? text : `${text.slice(0, maxReportLength)}…`;
};

/**
 * Lets a harness of the Agent Harness Protocol supervise a thread server: it judges prompts (`pre_prompt`) and calls
 * (`pre_action`), and gets reports of turns, calls and test runs. Where it cannot decide, the action is blocked with
 * `gate.timeout`, `gate.unavailable` or `gate.unjudgeable`. Throws `invalid_argument` for invalid options.
 */
export const createThreadGates = (options: ThreadGatesOptions): ThreadGates => {
  checkThreadGatesOptions(options);
  const { client, policyName, toolAgent, waitMs, onError, clock = systemClock } = options;
  const metadataOf = ({ tool, directory, itemId, threadId, turnId }: ThreadCall): JsonObject => ({
    tool_id: tool.id ?? `${toolAgent}/${tool.name}`,
    workspace: directory,
    call_id: itemId,
    thread_id: threadId,
    turn_id: turnId,
  });
  const send: SendReport = (eventType, { session, payload, metadata }) => {
    try {
      client.notify(eventType, payload as never, { session_id: session, metadata });
    } catch (error) {
      onError?.(error);
    }
  };
  const onIdle = (sessionId: string, durationMs: number): void => {
    const payload = { idle_duration_ms: durationMs, idle_reason: "no turn runs" };
    // There is no work for the background: the answer changes nothing.
    client.decide("idle", payload, { session_id: sessionId }).catch((error: unknown) => onError?.(error));
  };
  const reports = new TurnReports({ send, onIdle, clock });
  const judge = new PolicyJudge({
    ...{ client, metadataOf, waitMs, clock },
    name: () => policyName?.() ?? "of an unknown harness",
    contextOf: (threadId) => reports.contextOf(threadId),
  });
  /** A prompt that was given up before it was decided is reported, so that a question to a human about it is withdrawn. */
  const judgePrompt = async (prompt: ThreadPrompt, signal: AbortSignal, further?: JsonObject) => {
    const verdict = await judge.judgePrompt(prompt, signal, further);
    if (verdict.verdict !== "block" || verdict.code !== cancelledCode) return verdict;
    const { threadId, turnId, directory } = prompt;
    send("post_action", {
      session: threadId,
      payload: {
        tool_call_id: promptIdOf(prompt),
        tool_name: "prompt",
        outcome: outcomes.cancelled,
        error: "the prompt was cancelled",
      },
      metadata: { workspace: directory, thread_id: threadId, turn_id: turnId },
    });
    return verdict;
  };
  return {
    gate: {
      before(call, { signal }) {
        // A report that cannot be made decides nothing.
        callSafely(() => reports.callProposed(call));
        return judge.judgeCall(call, signal);
      },
      after(call, outcome) {
        reports.callEnded(call, outcome);
        const { status, output, error, code } = outcome;
        const said = { outcome: outcomes[status], status, result: clip(output), error: clip(error), code };
        const payload: JsonObject = defined({ ...toolCallPayload(call), ...said });
        send("post_action", { session: call.threadId, payload, metadata: metadataOf(call) });
      },
    },
    promptGate: {
      before: (prompt, { signal }) => judgePrompt(prompt, signal),
      request: (request, { signal }) =>
        judgePrompt(request, signal, defined({ step: request.step, added: clip(request.added) })),
    },
    observer: reports,
    end: () => reports.end(),
  };
};
