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
    ["task_list", run("", 1, { tasks: [{ id: "1", title: "t", status: "done" }] })],
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
    expect(server.stats()).toMatchObject({ refusedNotifications: 2, runs: 0 });
    expect(entries().filter(({ details }) => details?.reason === "invalid_payload")).toHaveLength(2);
  });
});

describe("the state", () => {
  it("does not go back in time", async () => {
    const { tell, server, entries } = await start();
    await tell("run_lifecycle", run("executing", 10));
    await tell("run_lifecycle", run("planning", 9));
    expect(server.state.run("run-1")).toMatchObject({ status: "executing" });
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
    expect(server.state.run("run-1")).toMatchObject({
      task_list: { tasks: [] },
      verifications: [{ status: "passed" }],
    });
    const recorded = entries().filter(({ action }) => action === "ahp.contract");
    expect(recorded.map(({ details }) => details?.applied)).toEqual([
      ...[true, false, true, false, true],
      ...[true, false, true, false],
    ]);
    expect(recorded[1]).toMatchObject({
      outcome: "refused",
      session_id: "sess-abc",
      details: { event_type: "run_lifecycle", run_id: "run-1", applied: false, reason: "stale" },
    });
  });

  it("keeps the end of a run, and still takes what is told about it", async () => {
    const { tell, server, entries } = await start();
    await tell("run_lifecycle", run("completed", 1));
    await tell("run_lifecycle", run("executing", 2));
    await tell("run_lifecycle", run("failed", 3));
    expect(server.state.run("run-1")).toMatchObject({ status: "completed" });
    await tell("run_lifecycle", run("completed", 4, { result_summary: "all green" }));
    await tell("verification", run("passed", 5));
    expect(server.state.run("run-1")).toMatchObject({
      lifecycle: { result_summary: "all green" },
      verifications: [{ status: "passed" }],
    });
    const reasons = entries().flatMap(({ details }) => details?.reason ?? []);
    expect(reasons).toEqual(["run_finished", "run_finished"]);
  });

  it("keeps a verification for each attempt, within a limit", async () => {
    const { tell, server } = await start({ limits: { maxVerificationsPerRun: 2 } });
    const statuses = ["pending", "running", "failed", "running", "passed", "needs_review", "pending"];
    for (const [second, status] of statuses.entries()) await tell("verification", run(status, second));
    const { verifications } = server.state.run("run-1") ?? {};
    expect(verifications?.map(({ status }) => status)).toEqual(["needs_review", "pending"]);
  });

  it("tells runs of the same id apart, by sender and session", async () => {
    const { tell, server, shake } = await start();
    await shake({}, { principal: "other" });
    await tell("run_lifecycle", run("executing", 9));
    await tell("run_lifecycle", run("completed", 9, { session_id: "second" }));
    await tell("run_lifecycle", run("failed", 1), { principal: "other" });
    expect(server.state.runs()).toHaveLength(3);
    expect(server.state.run("run-1")).toMatchObject({ status: "failed", principal: "other" });
    expect(server.state.run("run-1", "second")?.status).toBe("completed");
    expect(server.state.run("none")).toBeUndefined();
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
    expect(server.stats().runs).toBe(3);
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
