import { RunLifecycleSchema, TaskListSchema, VerificationSchema } from "@harnesskit/protocol/ahp";
import { createManualClock, createMemoryPair } from "@harnesskit/wire/testing";
import { describe, expect, it } from "vitest";
import { AhpUsageError, createAhpClient, createRunReporter, ReporterError } from "../src/index.ts";
import { startHarness } from "./ai-sdk/in-process.ts";

const thrownBy = (run: () => unknown): unknown => {
  try {
    run();
  } catch (error) {
    return error;
  }
  return undefined;
};

const codeOf = (run: () => unknown): string | undefined => {
  const thrown = thrownBy(run);
  return ReporterError.isInstance(thrown) ? thrown.code : undefined;
};

const at = (offsetMs: number): string => new Date(1_700_000_000_000 + offsetMs).toISOString();

const start = async () => {
  const clock = createManualClock();
  const harness = await startHarness({}, { client: { clock } });
  const run = createRunReporter(harness.client, {
    runId: "run-1",
    prompt: "fix the tests",
    metadata: { branch: "main" },
    clock,
  });
  return { ...harness, clock, run };
};

describe("a run reporter", () => {
  it("tells each status with all that is known of the run", async () => {
    const { run, clock, settled, of, server } = await start();
    clock.advance(1000);
    run.set("planning");
    clock.advance(1000);
    run.set("executing");
    run.set("verifying");
    run.set("completed", { result_summary: "all pass" });
    await settled();
    const same = {
      run_id: "run-1",
      session_id: "sess-abc",
      prompt: "fix the tests",
      metadata: { branch: "main" },
    };
    const started = { ...same, started_at: at(1000) };
    expect(of("run_lifecycle")).toEqual([
      { ...same, status: "created", updated_at: at(0) },
      { ...started, status: "planning", updated_at: at(1000) },
      { ...started, status: "executing", updated_at: at(2000) },
      { ...started, status: "verifying", updated_at: at(2001) },
      { ...started, status: "completed", result_summary: "all pass", updated_at: at(2002) },
    ]);
    for (const payload of of("run_lifecycle"))
      expect(RunLifecycleSchema.safeParse(payload).success).toBe(true);
    expect(server.state.run("run-1")).toMatchObject({ status: "completed" });
  });

  it("has no start when it ends before it began", async () => {
    const { run, settled, of } = await start();
    run.set("cancelled", { error: "the user left" });
    await settled();
    expect(of("run_lifecycle").at(-1)).toMatchObject({ status: "cancelled", error: "the user left" });
    expect(of("run_lifecycle").at(-1)).not.toHaveProperty("started_at");
  });

  it("stays as it was when what it says is no JSON", async () => {
    const { run, client } = await start();
    const { events } = client.stats();
    const thrown = thrownBy(() => run.set("executing", { metadata: { time: new Date() } as never }));
    expect(AhpUsageError.isInstance(thrown) && thrown.code).toBe("invalid_event");
    expect(run.status).toBe("created");
    expect(client.stats().events).toBe(events);
    run.set("executing", { metadata: { time: "now" } });
    expect(run.status).toBe("executing");
  });

  it("does not let details change who the run is", async () => {
    const { run, settled, of } = await start();
    const metadata = { tags: ["a"] };
    run.set("executing", { run_id: "other", session_id: "other", status: "failed", metadata } as object);
    run.set("completed", { error: undefined } as object);
    await settled();
    for (const payload of of("run_lifecycle")) {
      expect(payload).toMatchObject({ run_id: "run-1", session_id: "sess-abc" });
    }
    expect(of("run_lifecycle").at(-1)).toMatchObject({ status: "completed", metadata: { tags: ["a"] } });
  });

  it("needs the handshake", async () => {
    const { client: channel } = createMemoryPair({ closeTimeoutMs: 1 });
    const client = createAhpClient({ framework: "test", version: "1.0.0", channel });
    const thrown = thrownBy(() => createRunReporter(client));
    expect(AhpUsageError.isInstance(thrown) && thrown.code).toBe("handshake_required");
    await client.close();
  });

  it("keeps the order of its snapshots when the clock is set back", async () => {
    const { client, settled, of, server } = await startHarness();
    const times = [5000, 1000, 1000, 4000];
    const clock = { ...createManualClock(), now: () => times.shift() ?? 0 };
    const run = createRunReporter(client, { runId: "r", clock });
    run.set("planning");
    run.set("executing");
    run.set("completed");
    await settled();
    expect(of("run_lifecycle").map(({ updated_at: time }) => Date.parse(time))).toEqual([
      5000, 5001, 5002, 5003,
    ]);
    expect(server.state.run("r")).toMatchObject({ status: "completed" });
  });
});

describe("a task list reporter", () => {
  it("sends the whole list with each change, and the harness has the last one", async () => {
    const { run, settled, of, server, clock } = await start();
    const first = run.tasks.add({ title: "look" });
    run.tasks.add({ id: "fix", title: "fix", depends_on: [first] });
    clock.advance(10);
    run.tasks.set(first, "in_progress");
    run.tasks.set(first, "completed", { evidence: [{ kind: "log", summary: "seen" }] });
    run.tasks.set("fix", "pending", { title: "fix it", artifacts: [{ id: "a", path: "src/a.ts" }] });
    await settled();
    const lists = of("task_list");
    expect(lists.map(({ tasks }) => tasks.length)).toEqual([1, 2, 2, 2, 2]);
    for (const list of lists) expect(TaskListSchema.safeParse(list).success).toBe(true);
    expect(lists.at(-1)).toEqual({
      run_id: "run-1",
      session_id: "sess-abc",
      updated_at: at(12),
      tasks: [
        {
          id: "task-1",
          title: "look",
          status: "completed",
          evidence: [{ kind: "log", summary: "seen" }],
          updated_at: at(11),
        },
        {
          id: "fix",
          title: "fix it",
          status: "pending",
          depends_on: ["task-1"],
          artifacts: [{ id: "a", path: "src/a.ts" }],
          updated_at: at(12),
        },
      ],
    });
    expect(server.state.run("run-1")?.task_list?.tasks).toEqual(run.tasks.tasks);
  });

  it("sends changes of one moment as one list, and before anything else of the run", async () => {
    const { client, clock, settled, of, server } = await start();
    const run = createRunReporter(client, { runId: "run-2", clock, taskDelayMs: 250 });
    run.tasks.add({ id: "a", title: "look" });
    run.tasks.set("a", "in_progress");
    expect(run.tasks.tasks).toMatchObject([{ id: "a", status: "in_progress" }]);
    clock.advance(250);
    run.tasks.set("a", "completed");
    run.tasks.add({ id: "b", title: "fix" });
    run.set("executing");
    clock.advance(1000);
    await settled();
    const lists = of("task_list").map(({ tasks }) => tasks.map(({ id, status }: any) => `${id} ${status}`));
    expect(lists).toEqual([["a in_progress"], ["a completed", "b pending"]]);
    const [last, status] = [of("task_list").at(-1), of("run_lifecycle").at(-1)];
    expect(Date.parse(last.updated_at)).toBeLessThan(Date.parse(status.updated_at));
    expect(server.state.run("run-2")?.task_list?.tasks).toEqual(run.tasks.tasks);
  });

  it("leaves out the oldest that have ended of more than maxTasks, and says how many", async () => {
    const { client, settled, of } = await startHarness({});
    const run = createRunReporter(client, { maxTasks: 2 });
    for (const id of ["a", "b", "c"]) {
      run.tasks.add({ id, title: id });
      if (id === "b") {
        run.tasks.set("b", "in_progress");
        run.tasks.set("b", "completed");
      }
    }
    run.tasks.add({ id: "d", title: "d" });
    run.tasks.set("a", "failed");
    run.tasks.add({ id: "e", title: "e" });
    await settled();
    const lists = of("task_list").map(({ tasks, metadata }) => [
      tasks.map(({ id }: any) => id).join(""),
      metadata,
    ]);
    expect(lists.slice(-4)).toEqual([
      ["ac", { omitted_tasks: 1 }],
      ["acd", { omitted_tasks: 1 }],
      ["acd", { omitted_tasks: 1 }],
      ["cde", { omitted_tasks: 2 }],
    ]);
    expect(codeOf(() => run.tasks.set("b", "pending"))).toBe("unknown_id");
    expect(thrownBy(() => createRunReporter(client, { maxTasks: 0 }))).toMatchObject({
      code: "invalid_argument",
    });
  });

  it("refuses what is no task of it, and sends nothing; one with a known id replaces that task", async () => {
    const { run, client } = await start();
    run.tasks.add({ id: "a", title: "a" });
    const { events } = client.stats();
    expect(codeOf(() => run.tasks.set("b", "in_progress"))).toBe("unknown_id");
    expect(thrownBy(() => run.tasks.add({ title: 5 } as never))).toMatchObject({ code: "invalid_event" });
    expect(client.stats().events).toBe(events);
    run.tasks.set("a", "completed");
    run.tasks.add({ id: "a", title: "again" });
    expect(run.tasks.tasks).toMatchObject([{ id: "a", title: "again", status: "pending" }]);
  });
});

describe("a verification reporter", () => {
  it("sends each change whole, and the harness has one entry for each attempt", async () => {
    const { run, settled, of, server } = await start();
    run.set("executing");
    run.set("verifying");
    const first = run.verification();
    const check = first.addCheck({ subject: "tests", command: "npm test" });
    first.set("running");
    first.setCheck(check, "running");
    first.setCheck(check, "failed", {
      message: "2 fail",
      evidence: [{ kind: "log", summary: "red", artifact: { id: "log", size_bytes: 10 } }],
    });
    first.set("failed", { residual_risks: ["flaky"], artifacts: [{ id: "a1", path: "report.html" }] });
    const second = run.verification();
    second.set("running");
    second.set("needs_review");
    second.set("passed", { metadata: { by: "ann" } });
    await settled();
    for (const payload of of("verification"))
      expect(VerificationSchema.safeParse(payload).success).toBe(true);
    expect(server.state.run("run-1")?.verifications).toMatchObject([
      {
        status: "failed",
        residual_risks: ["flaky"],
        artifacts: [{ id: "a1", path: "report.html" }],
        checks: [{ id: "check-1", subject: "tests", status: "failed", message: "2 fail" }],
      },
      { status: "passed", checks: [], metadata: { by: "ann" } },
    ]);
    expect(server.state.run("run-1")?.verifications).toHaveLength(2);
    expect(server.state.run("run-1")?.verifications[0]?.checks).toEqual(first.checks);
  });

  it("refuses a check that it does not have, and sends nothing", async () => {
    const { run, client } = await start();
    const first = run.verification();
    first.addCheck({ id: "a", subject: "a" });
    const { events } = client.stats();
    expect(codeOf(() => first.setCheck("b", "running"))).toBe("unknown_id");
    expect(client.stats().events).toBe(events);
    expect(first.checks).toMatchObject([{ id: "a", status: "pending" }]);
  });
});
