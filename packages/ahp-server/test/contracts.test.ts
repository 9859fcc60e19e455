import { describe, expect, it } from "vitest";
import { RawAgent } from "./support/agent.ts";
import { event, notification, run } from "./support/messages.ts";
import { startServer } from "./support/server.ts";

type Kind = "run_lifecycle" | "task_list" | "verification";

const tasks = (list: object[]) => {
  const { status: _status, ...contract } = run("", 1);
  return { ...contract, tasks: list };
};

const start = async (options: Parameters<typeof startServer>[1] = {}, handlers = {}) => {
  const started = startServer(handlers, options);
  await started.shake();
  return {
    ...started,
    tell: async (type: Kind, payload: object, from: unknown = started.context) =>
      (await started.post(notification("ahp/event", event(type, { payload })), from))?.error,
  };
};

describe("contract events", () => {
  it("keep the artifacts and the residual risks of a verification in the state, and no null", async () => {
    const seen: unknown[] = [];
    const { server, shake, post, context } = startServer({
      verification: ({ payload }) => void seen.push(payload),
    });
    await shake();
    const artifacts = [{ id: "a1", kind: "report", path: "report.html", size_bytes: 2 ** 64 - 1 }];
    const checks = [{ id: "c1", subject: "Tests", status: "passed", artifacts }];
    const { status: _status, ...contract } = run("", 1);
    const verification = { ...contract, status: "needs_review", checks, artifacts };
    const risks = { residual_risks: ["the load was not tested"], x_own: { kept: null } };
    const payload = { ...verification, ...risks, metadata: null };
    expect(
      await post(notification("ahp/event", event("verification", { payload })), context),
    ).toBeUndefined();
    const { verifications } = server.state.run(contract.run_id) ?? {};
    expect(verifications).toEqual([
      expect.objectContaining({
        status: "needs_review",
        artifacts,
        checks,
        residual_risks: risks.residual_risks,
      }),
    ]);
    expect(verifications?.[0]).not.toHaveProperty("metadata");
    expect(seen).toStrictEqual([{ ...verification, ...risks }]);
    const wrong = { ...verification, artifacts: [{ kind: "report" }] };
    const refused = await post(notification("ahp/event", event("verification", { payload: wrong })), context);
    expect(refused?.error).toMatchObject({
      code: -32602,
      message: expect.stringContaining("artifacts.0.id"),
    });
  });

  it("reach their handler as they were sent, and the state", async () => {
    const seen: unknown[] = [];
    const note = ({ payload }: { payload: unknown }): void => {
      seen.push(payload);
    };
    const { server } = startServer({ run_lifecycle: note, task_list: note, verification: note });
    const agent = await RawAgent.ready(server);
    const lifecycle = {
      run_id: "run-123",
      session_id: "sess-abc",
      status: "executing",
      prompt: "fix the failing tests",
      started_at: "2026-05-01T00:00:00Z",
      updated_at: "2026-05-01T00:00:01Z",
    };
    const artifact = { id: "a1", kind: "log", uri: "file:///l", sha256: "00", size_bytes: 5 };
    const tasks = {
      run_id: "run-123",
      session_id: "sess-abc",
      updated_at: "2026-05-01T00:00:02Z",
      tasks: [
        {
          id: "step-1",
          title: "Inspect failing test",
          status: "completed",
          evidence: [{ kind: "log", summary: "cargo test reproduced the failure", artifact }],
        },
      ],
    };
    const verification = {
      run_id: "run-123",
      session_id: "sess-abc",
      status: "passed",
      updated_at: "2026-05-01T00:00:03Z",
      checks: [
        {
          id: "cargo-test",
          subject: "Rust workspace tests",
          status: "passed",
          command: "cargo test --all-features",
        },
      ],
      residual_risks: [],
    };
    const sent = [{ ...lifecycle, unknown_field: [1] }, tasks, verification];
    for (const [index, type] of (["run_lifecycle", "task_list", "verification"] as const).entries()) {
      await agent.tell(event(type, { payload: sent[index] }));
    }
    await agent.settled();
    expect(seen).toEqual(sent);
    expect(server.state.run("run-123")).toEqual({
      run_id: "run-123",
      session_id: "sess-abc",
      agent_id: "agent-xyz",
      principal: undefined,
      status: "executing",
      isFinished: false,
      lifecycle,
      task_list: tasks,
      verifications: [verification],
      ignored: 0,
      irregular: 0,
    });
    expect(server.state.tasks("run-123")).toEqual(tasks.tasks);
    expect(server.state.verifications("run-123")).toEqual([verification]);
    expect(agent.received).toHaveLength(2);
  });

  it("need no other before them, and decide nothing", async () => {
    const { tell, server, ask } = await start();
    await tell("task_list", tasks([]));
    expect(server.state.run("run-1")).toMatchObject({ status: undefined, lifecycle: undefined });
    await tell("run_lifecycle", run("cancelled", 2));
    await tell("verification", run("failed", 2));
    expect((await ask("ahp/event", event("pre_action"))).result.decision).toBe("block");
    expect(server.stats().decisions).toEqual({ block: 1 });
  });

  it.each([
    ["run_lifecycle", run("sleeping", 1)],
    ["run_lifecycle", run("executing", 1, { updated_at: "now" })],
    ["run_lifecycle", run("executing", 1, { error: 1 })],
    ["run_lifecycle", run("executing", 1, { run_id: 7 })],
    ["task_list", run("", 1, { tasks: [{ id: "1", title: "t", status: "done" }] })],
    ["task_list", run("", 1, { tasks: [{ id: "1", title: "t", status: "failed", evidence: [{}] }] })],
    ["task_list", run("", 1, { tasks: {} })],
    ["verification", run("ok", 1)],
    ["verification", run("passed", 1, { checks: [{ id: "1", subject: "s", status: "fine" }] })],
    ["verification", run("passed", 1, { checks: [{ id: "1", status: "passed" }] })],
  ] as const)("that are wrong are counted, recorded and not applied: %s %j", async (type, payload) => {
    let seen = 0;
    const { server, post, entries, shake } = startServer({ [type]: () => seen++ });
    await shake();
    const message = notification("ahp/event", event(type, { payload }));
    const reply = await post(message);
    expect(reply).toMatchObject({ id: "", error: { code: -32602, data: { reason: "invalid_payload" } } });
    const agent = await RawAgent.ready(server);
    await agent.channel.send(message);
    await agent.settled();
    expect(agent.received).toHaveLength(2);
    expect(seen).toBe(0);
    expect(server.state.runs()).toEqual([]);
    expect(server.stats()).toMatchObject({ refusedNotifications: 2, contractsRejected: 2, runs: 0 });
    expect(entries().filter(({ details }) => details?.reason === "invalid_payload")).toHaveLength(2);
  });

  it("may have every status that there is", async () => {
    const { tell, server } = await start();
    for (const status of ["created", "planning", "executing", "verifying", "completed"]) {
      expect(await tell("run_lifecycle", run(status, 1))).toBeUndefined();
      expect(server.state.run("run-1")?.status).toBe(status);
    }
    for (const status of ["failed", "cancelled"]) {
      expect(await tell("run_lifecycle", run(status, 1, { run_id: status }))).toBeUndefined();
    }
    const states = ["pending", "in_progress", "completed", "failed", "skipped", "cancelled"];
    const tasks = states.map((status, id) => ({ id: String(id), title: "t", status }));
    expect(await tell("task_list", run("", 1, { tasks }))).toBeUndefined();
    expect(server.state.tasks("run-1")).toEqual(tasks);
    for (const status of ["pending", "running", "passed", "failed", "skipped", "needs_review"]) {
      expect(await tell("verification", run(status, 1))).toBeUndefined();
    }
  });
});

describe("the state", () => {
  it("does not go back in time", async () => {
    const { tell, server, entries } = await start();
    await tell("run_lifecycle", run("executing", 10));
    await tell("run_lifecycle", run("planning", 9));
    expect(server.state.run("run-1")).toMatchObject({ status: "executing", ignored: 1 });
    await tell("run_lifecycle", run("verifying", 10));
    expect(server.state.run("run-1")?.status).toBe("verifying");
    await tell("run_lifecycle", run("planning", 0, { updated_at: "2026-05-01T02:00:09.5+02:00" }));
    expect(server.state.run("run-1")?.status).toBe("verifying");
    await tell("run_lifecycle", run("planning", 0, { updated_at: "2026-04-30t22:00:10.25-02:00" }));
    expect(server.state.run("run-1")?.status).toBe("planning");
    await tell("task_list", run("", 5, { tasks: [] }));
    await tell("task_list", run("", 4, { tasks: [{ id: "1", title: "t", status: "pending" }] }));
    await tell("verification", run("passed", 5));
    await tell("verification", run("failed", 4));
    expect(server.state.tasks("run-1")).toEqual([]);
    expect(server.state.verifications("run-1").map(({ status }) => status)).toEqual(["passed"]);
    expect(server.stats()).toMatchObject({ contractsApplied: 5, contractsStale: 4 });
    const recorded = entries().filter(({ action }) => action === "ahp.contract");
    expect(recorded).toHaveLength(9);
    expect(recorded[1]).toMatchObject({
      outcome: "refused",
      session_id: "sess-abc",
      details: { event_type: "run_lifecycle", run_id: "run-1", applied: false, reason: "stale" },
    });
  });

  it("keeps the end of a run, and still takes what is told about it", async () => {
    const { tell, server } = await start();
    await tell("run_lifecycle", run("completed", 1));
    await tell("run_lifecycle", run("executing", 2));
    await tell("run_lifecycle", run("failed", 3));
    expect(server.state.run("run-1")).toMatchObject({ status: "completed", isFinished: true, ignored: 2 });
    await tell("run_lifecycle", run("completed", 4, { result_summary: "all green" }));
    await tell("verification", run("passed", 5));
    expect(server.state.run("run-1")).toMatchObject({
      lifecycle: { result_summary: "all green" },
      verifications: [{ status: "passed" }],
    });
    expect(server.stats()).toMatchObject({ contractsAfterEnd: 2, contractsApplied: 3 });
  });

  it("believes a run that begins anew, and counts it", async () => {
    const { tell, server } = await start();
    await tell("run_lifecycle", run("verifying", 1));
    await tell("run_lifecycle", run("executing", 2));
    expect(server.state.run("run-1")).toMatchObject({ status: "executing", irregular: 0 });
    await tell("run_lifecycle", run("created", 3));
    expect(server.state.run("run-1")).toMatchObject({ status: "created", irregular: 1 });
    expect(server.stats().contractsIrregular).toBe(1);
  });

  it("keeps a verification for each attempt, within a limit", async () => {
    const { tell, server } = await start({ limits: { maxVerificationsPerRun: 2 } });
    const statuses = ["pending", "running", "failed", "running", "passed", "needs_review", "pending"];
    for (const [second, status] of statuses.entries()) await tell("verification", run(status, second));
    expect(server.state.verifications("run-1").map(({ status }) => status)).toEqual([
      "needs_review",
      "pending",
    ]);
  });

  it("tells runs of the same id apart, by sender and session", async () => {
    const { tell, server, shake } = await start();
    await shake({}, { principal: "other" });
    await tell("run_lifecycle", run("executing", 9));
    await tell("run_lifecycle", run("completed", 9, { session_id: "second" }));
    await tell("run_lifecycle", run("failed", 1), { principal: "other" });
    expect(server.state.runs()).toHaveLength(3);
    expect(server.state.run("run-1")).toMatchObject({ status: "failed", principal: "other" });
    expect(server.state.run("run-1", { sessionId: "second" })?.status).toBe("completed");
    expect(server.state.runs({ isFinished: false }).map(({ status }) => status)).toEqual(["executing"]);
    expect(server.state.runs({ status: "failed", sessionId: "sess-abc" })).toHaveLength(1);
    expect(server.state.run("none")).toBeUndefined();
    expect([...server.state.tasks("none"), ...server.state.verifications("none")]).toEqual([]);
  });

  it("is bounded: the oldest that finished goes first", async () => {
    const { tell, server } = await start({ limits: { maxRuns: 3 } });
    for (const [id, status] of [
      ["a", "executing"],
      ["b", "completed"],
      ["c", "failed"],
      ["d", "executing"],
      ["e", "executing"],
      ["f", "executing"],
    ] as const) {
      await tell("run_lifecycle", run(status, 1, { run_id: id }));
    }
    expect(server.state.runs().map(({ run_id }) => run_id)).toEqual(["d", "e", "f"]);
    expect(server.stats()).toMatchObject({ runs: 3, runsEvicted: 3 });
    await tell("run_lifecycle", run("completed", 2, { run_id: "d" }));
    await tell("run_lifecycle", run("executing", 1, { run_id: "g" }));
    expect(server.state.runs().map(({ run_id }) => run_id)).toEqual(["e", "f", "g"]);
  });

  it("is bounded in size, of a snapshot and of all", async () => {
    const { tell, server } = await start({ limits: { maxSnapshotLength: 1000, maxStateLength: 3000 } });
    expect(await tell("run_lifecycle", run("executing", 1, { prompt: "p".repeat(1000) }))).toMatchObject({
      code: -32602,
      data: { reason: "snapshot_too_large", limit: 1000 },
    });
    expect(await tell("run_lifecycle", run("executing", 1, { run_id: "r".repeat(513) }))).toMatchObject({
      data: { reason: "id_too_long" },
    });
    for (let id = 0; id < 10; id++) {
      await tell("run_lifecycle", run("executing", 1, { run_id: String(id), prompt: "p".repeat(800) }));
    }
    expect(server.state.runs().map(({ run_id }) => run_id)).toEqual(["7", "8", "9"]);
    for (let second = 2; second < 12; second++) {
      await tell("run_lifecycle", run("executing", second, { run_id: "9", prompt: "p".repeat(800) }));
    }
    expect(server.state.runs()).toHaveLength(3);
  });
});

describe("a watch", () => {
  it("tells what there is, then what changes", async () => {
    const { tell, server } = await start();
    await tell("run_lifecycle", run("created", 1));
    const watch = server.state.watch();
    expect((await watch.next()).value).toMatchObject({ run_id: "run-1", status: "created" });
    const next = watch.next();
    await tell("run_lifecycle", run("executing", 2));
    expect((await next).value).toMatchObject({ status: "executing" });
    for (let second = 3; second < 60; second++) await tell("run_lifecycle", run("planning", second));
    await tell("run_lifecycle", run("failed", 59));
    expect((await watch.next()).value).toMatchObject({ status: "failed" });
    const last = watch.next();
    await server.close();
    expect(await last).toEqual({ done: true, value: undefined });
  });

  it("can be of one run, session or status, and ends with its signal and its reader", async () => {
    const { tell, server } = await start({ limits: { maxWatchers: 2 } });
    const abort = new AbortController();
    const watch = server.state.watch({ runId: "run-1", status: "completed", signal: abort.signal });
    const next = watch.next();
    await tell("run_lifecycle", run("completed", 1, { run_id: "run-2" }));
    await tell("run_lifecycle", run("executing", 1));
    await tell("run_lifecycle", run("completed", 2));
    expect((await next).value).toMatchObject({ run_id: "run-1", status: "completed" });
    for await (const { run_id } of server.state.watch({ sessionId: "sess-abc" })) {
      expect(run_id).toBe("run-2");
      break;
    }
    server.state.watch();
    expect(() => server.state.watch()).toThrow(expect.objectContaining({ code: "buffer_full" }));
    const last = watch.next();
    abort.abort();
    expect((await last).done).toBe(true);
    expect((await server.state.watch({ signal: abort.signal }).next()).value).toBeDefined();
  });

  it("does not tell of runs that are gone", async () => {
    const { tell, server } = await start({ limits: { maxRuns: 1 } });
    const watch = server.state.watch();
    await tell("run_lifecycle", run("executing", 1, { run_id: "a" }));
    await tell("run_lifecycle", run("executing", 1, { run_id: "b" }));
    expect((await watch.next()).value).toMatchObject({ run_id: "b" });
  });
});
