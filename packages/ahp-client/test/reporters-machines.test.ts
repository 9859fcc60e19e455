import type { RunStatus, TaskStatus, VerificationStatus } from "@harnesskit/protocol/ahp";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createRunReporter, ReporterError } from "../src/index.ts";
import type { VerificationReporter } from "../src/reporters/verification-reporter.ts";
import { startHarness } from "./ai-sdk/in-process.ts";

/** What may follow what, written out by itself: `from>to`. */
const runMoves = new Set(
  (
    "created>planning created>executing created>failed created>cancelled " +
    "planning>executing planning>failed planning>cancelled " +
    "executing>planning executing>verifying executing>completed executing>failed executing>cancelled " +
    "verifying>planning verifying>executing verifying>completed verifying>failed verifying>cancelled"
  ).split(" "),
);
const taskMoves = new Set(
  (
    "pending>in_progress pending>failed pending>skipped pending>cancelled " +
    "in_progress>pending in_progress>completed in_progress>failed in_progress>skipped in_progress>cancelled " +
    "failed>pending failed>in_progress"
  ).split(" "),
);
const checkMoves = new Set(
  (
    "pending>running pending>failed pending>skipped pending>needs_review " +
    "running>passed running>failed running>skipped running>needs_review " +
    "needs_review>passed needs_review>failed"
  ).split(" "),
);
const runEnds = ["completed", "failed", "cancelled"];
const outcomes = ["passed", "failed", "skipped"];

const runStatus = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom<RunStatus>("created", "planning", "executing", "verifying") },
  { weight: 1, arbitrary: fc.constantFrom<RunStatus>("completed", "failed", "cancelled") },
);
const taskStatus = fc.constantFrom<TaskStatus>(
  "pending",
  "in_progress",
  "completed",
  "failed",
  "skipped",
  "cancelled",
);
const checkStatus = fc.constantFrom<VerificationStatus>(
  "pending",
  "running",
  "passed",
  "failed",
  "skipped",
  "needs_review",
);
const id = fc.constantFrom("a", "b", "c");
/** How many attempts were begun after the one that is meant. */
const later = fc.constantFrom(0, 0, 0, 0, 1, 2);

const step = fc.oneof(
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("run" as const), to: runStatus }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("addTask" as const), id }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("task" as const), id, to: taskStatus }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("verify" as const) }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant("verification" as const), later, to: checkStatus }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("addCheck" as const), later, id }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("check" as const), later, id, to: checkStatus }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

interface ModelAttempt {
  status: string;
  checks: Map<string, string>;
}

/** The simplest thing that says what a run may do. Gives the code of the refusal, or undefined where it went on. */
class Model {
  status = "created";
  readonly tasks = new Map<string, string>();
  readonly attempts: ModelAttempt[] = [];

  apply(step: Step): string | undefined {
    if (step.kind === "run") {
      if (!runMoves.has(`${this.status}>${step.to}`)) return "illegal_transition";
      this.status = step.to;
      return undefined;
    }
    if (runEnds.includes(this.status)) return "run_ended";
    if (step.kind === "addTask") {
      if (this.tasks.has(step.id)) return "duplicate_id";
      this.tasks.set(step.id, "pending");
      return undefined;
    }
    if (step.kind === "task") return move(this.tasks, step.id, step.to, taskMoves);
    if (step.kind === "verify") {
      if (["pending", "running"].includes(this.attempts.at(-1)?.status ?? "")) return "verification_open";
      this.attempts.push({ status: "pending", checks: new Map() });
      return undefined;
    }
    const found = this.attempts.at(-1 - step.later) as ModelAttempt;
    if (found !== this.attempts.at(-1)) return "superseded";
    if (step.kind === "verification") {
      if (!checkMoves.has(`${found.status}>${step.to}`)) return "illegal_transition";
      found.status = step.to;
      return undefined;
    }
    if (outcomes.includes(found.status)) return "illegal_transition";
    if (step.kind === "check") return move(found.checks, step.id, step.to, checkMoves);
    if (found.checks.has(step.id)) return "duplicate_id";
    found.checks.set(step.id, "pending");
    return undefined;
  }

  /** False for a step on an attempt that was never made. */
  has(step: Step): boolean {
    return !("later" in step) || step.later < this.attempts.length;
  }
}

const move = (of: Map<string, string>, id: string, to: string, moves: Set<string>): string | undefined => {
  const from = of.get(id);
  if (from === undefined) return "unknown_id";
  if (!moves.has(`${from}>${to}`)) return "illegal_transition";
  of.set(id, to);
  return undefined;
};

const statuses = (entries: readonly { id: string; status: string }[] = []): [string, string][] =>
  entries.map(({ id: name, status }) => [name, status]);

describe("the reporters as state machines", () => {
  it("go where a simple model goes, send one event a step, and the harness arrives at the same state", async () => {
    const { client, server, settled, seen } = await startHarness(
      {},
      { server: { limits: { maxRuns: 5000 } } },
    );
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const model = new Model();
        const runId = `run-${++runs}`;
        const run = createRunReporter(client, { runId });
        const attempts: VerificationReporter[] = [];
        const act = (next: Step): unknown => {
          if (next.kind === "run") return run.set(next.to);
          if (next.kind === "addTask") return run.tasks.add({ id: next.id, title: "t" });
          if (next.kind === "task") return run.tasks.set(next.id, next.to);
          if (next.kind === "verify") return attempts.push(run.verification());
          const made = attempts.at(-1 - next.later) as VerificationReporter;
          if (next.kind === "verification") return made.set(next.to);
          if (next.kind === "addCheck") return made.addCheck({ id: next.id, subject: "s" });
          return made.setCheck(next.id, next.to);
        };
        for (const next of steps) {
          if (!model.has(next)) continue;
          const { events } = client.stats();
          const expected = model.apply(next);
          let code: string | undefined;
          try {
            act(next);
          } catch (error) {
            if (!ReporterError.isInstance(error)) throw error;
            code = error.code;
          }
          expect([next, code]).toEqual([next, expected]);
          expect(client.stats().events).toBe(events + (expected === undefined ? 1 : 0));
        }
        await settled();
        const state = server.state.run(runId);
        expect(state).toMatchObject({ status: model.status, ignored: 0, irregular: 0 });
        expect(statuses(state?.task_list?.tasks)).toEqual([...model.tasks]);
        const last = model.attempts.slice(-16);
        expect(state?.verifications.map(({ status }) => status)).toEqual(last.map(({ status }) => status));
        expect(state?.verifications.map(({ checks }) => statuses(checks))).toEqual(
          last.map(({ checks }) => [...checks]),
        );
      }),
      { numRuns: 150 },
    );
    expect(seen.length).toBeGreaterThan(runs);
    expect(server.stats().contractsStale).toBe(0);
  });
});
