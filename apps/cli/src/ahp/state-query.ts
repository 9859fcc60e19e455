import type { AhpHandlers, AhpServer, RunState } from "@harnesskit/ahp-server";
import type { QueryResult } from "@harnesskit/protocol/ahp";
import type { JsonValue } from "@harnesskit/protocol/envelope";

const ofPayload = (payload: unknown, name: string): unknown =>
  typeof payload === "object" && payload !== null ? (payload as Record<string, unknown>)[name] : undefined;

const textOf = (payload: unknown, name: string): string | undefined => {
  const value = ofPayload(payload, name);
  return typeof value === "string" ? value : undefined;
};

const flagOf = (payload: unknown, name: string): boolean | undefined => {
  const value = ofPayload(payload, name);
  return typeof value === "boolean" ? value : undefined;
};

/** A run in a few words. */
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

/** All that is known of a run, but for who sent it. */
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
  const sessionId = textOf(payload, "session_id");
  const session = sessionId === undefined ? {} : { sessionId };
  switch (type) {
    case "runs": {
      const isFinished = flagOf(payload, "is_finished");
      const runs = state.runs({ ...session, ...(isFinished === undefined ? {} : { isFinished }) });
      return { answer: runs.map(toSummary) };
    }
    case "run": {
      const runId = textOf(payload, "run_id");
      const run = runId === undefined ? undefined : state.run(runId, session);
      if (!run)
        return { answer: null, reason: runId === undefined ? "payload.run_id is missing" : "no such run" };
      return { answer: toWhole(run) as unknown as JsonValue };
    }
    case "stats":
      return { answer: { ...harness.stats() } };
    default:
      return undefined;
  }
};
