import type { AhpHandlers, AhpServer, RunState } from "@harnesskit/ahp-server";
import type { ConfirmationDecision, Decision, IdleDecision, QueryResult } from "@harnesskit/protocol/ahp";
import type { JsonValue } from "@harnesskit/protocol/envelope";
import { isObject } from "@harnesskit/wire/json";
import type { ShownEvent } from "./event-text.ts";

const toSummary = ({
  run_id,
  session_id,
  agent_id,
  status,
  isFinished,
  task_list,
  verifications,
}: RunState) => ({
  run_id,
  session_id,
  agent_id,
  status: status ?? null,
  is_finished: isFinished,
  tasks: task_list?.tasks.length ?? 0,
  tasks_completed: task_list?.tasks.filter(({ status: of }) => of === "completed").length ?? 0,
  verification: verifications.at(-1)?.status ?? null,
  residual_risks: verifications.at(-1)?.residual_risks?.length ?? 0,
});

const toWhole = (run: RunState) => ({
  ...toSummary(run),
  lifecycle: run.lifecycle ?? null,
  task_list: run.task_list ?? null,
  verifications: run.verifications,
  ignored: run.ignored,
  irregular: run.irregular,
});

/** The handler of the queries about a harness itself. Others have no answer, and a reason. */
export const createQueryHandler =
  (harness: () => Pick<AhpServer, "state" | "stats">): NonNullable<AhpHandlers["query"]> =>
  ({ query_type: type, payload }) => {
    const unknown = { answer: null, reason: "this harness answers queries of type runs, run and stats" };
    return answerQuery(harness(), type, payload) ?? unknown;
  };

/**
 * What a harness knows of the agents: `runs` (payload may have `session_id` and `is_finished`), `run` (`run_id`, and
 * `session_id` where several have it) and `stats`. Undefined for any other type of query.
 */
const answerQuery = (
  harness: Pick<AhpServer, "state" | "stats">,
  type: string,
  payload: unknown,
): QueryResult | undefined => {
  const { state } = harness;
  const { session_id: sessionId, run_id: runId, is_finished: isFinished } = isObject(payload) ? payload : {};
  const session = typeof sessionId === "string" ? { sessionId } : {};
  switch (type) {
    case "runs": {
      const runs = state.runs({
        ...session,
        isFinished: typeof isFinished === "boolean" ? isFinished : undefined,
      });
      return { answer: runs.map(toSummary) };
    }
    case "run": {
      if (typeof runId !== "string") return { answer: null, reason: "payload.run_id is missing" };
      const run = state.run(runId, session);
      if (!run) return { answer: null, reason: "no such run" };
      return { answer: toWhole(run) as unknown as JsonValue };
    }
    case "stats":
      return { answer: { ...harness.stats() } };
    default:
      return undefined;
  }
};

/** How a harness without a policy answers events that ask for permission. */
export type DefaultDecision = "allow" | "block" | "escalate";

export interface BuiltInOptions {
  readonly decision: DefaultDecision;
  readonly harness: () => Pick<AhpServer, "state" | "stats">;
  /** Receives each event, with the name of its decision if it has one. Must not throw. */
  readonly onEvent: (event: ShownEvent, decision?: string) => void;
}

const defaultReason = (decision: DefaultDecision): string =>
  `no policy decides this: the harness was started with --default ${decision}`;

const toGate = (decision: DefaultDecision): Decision =>
  decision === "allow" ? { decision } : { decision, reason: defaultReason(decision) };

const toConfirmation = (decision: DefaultDecision): ConfirmationDecision => {
  if (decision === "allow") return { decision: "approve" };
  return decision === "escalate" ? { decision } : { decision: "reject", reason: defaultReason(decision) };
};

const toIdle = (decision: DefaultDecision): IdleDecision =>
  decision === "allow" ? { decision } : { decision: "defer", reason: defaultReason(decision) };

/**
 * A harness without a policy. It has an answer only where one of the three decisions makes sense; the events that ask for
 * context, memory, a plan or the like have no handler, and so are not advertised.
 */
export const createBuiltInHandlers = ({ decision, harness, onEvent }: BuiltInOptions): AhpHandlers => {
  const answer = <D extends { readonly decision: string }>(event: ShownEvent, made: D): D => {
    onEvent(event, made.decision);
    return made;
  };
  const gate = toGate(decision);
  const confirmation = toConfirmation(decision);
  const idle = toIdle(decision);
  return {
    pre_action: (event) => answer(event, gate),
    pre_prompt: (event) => answer(event, gate),
    confirmation: (event) => answer(event, confirmation),
    idle: (event) => answer(event, idle),
    fallback: (event) => {
      onEvent(event);
      return { decision: "allow" };
    },
    query: createQueryHandler(harness),
  };
};
