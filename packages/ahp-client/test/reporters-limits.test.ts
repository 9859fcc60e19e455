import { describe, expect, it } from "vitest";
import { createRunReporter, ReporterError, type RunReporterOptions } from "../src/index.ts";
import { startHarness } from "./ai-sdk/in-process.ts";

const limit = 1_048_576;
const huge = "x".repeat(limit);

const thrownBy = (run: () => unknown): ReporterError => {
  try {
    run();
  } catch (error) {
    if (ReporterError.isInstance(error)) return error;
    throw error;
  }
  return expect.fail("it threw nothing");
};

const start = async (options: RunReporterOptions = {}) => {
  const harness = await startHarness();
  return { ...harness, run: createRunReporter(harness.client, { runId: "run-1", ...options }) };
};

describe("what is larger than a harness takes", () => {
  it("is refused at once with the limit, and the run goes on from where it was", async () => {
    const { run, server, client, settled } = await start();
    run.set("executing", { metadata: { branch: "main" } });
    const error = thrownBy(() => run.set("verifying", { result_summary: huge }));
    expect(error).toMatchObject({
      name: "ReporterError",
      code: "snapshot_too_large",
    });
    expect(error.message).toContain(String(limit));
    expect(error.message.length).toBeLessThan(300);
    expect(run.status).toBe("executing");
    run.set("verifying", { result_summary: "short" });
    run.set("completed");
    await settled();
    expect(server.state.run("run-1")).toMatchObject({
      status: "completed",
      lifecycle: { result_summary: "short", metadata: { branch: "main" } },
    });
    expect(client.stats().notificationsLost).toBe(0);
  });

  it("is refused of tasks, and the list stays as it was", async () => {
    const { run, server, settled } = await start();
    run.set("executing");
    const first = run.tasks.add({ id: "t1", title: "one" });
    const evidence = [{ kind: "log", summary: huge }];
    expect(thrownBy(() => run.tasks.set(first, "failed", { evidence }))).toMatchObject({
      code: "snapshot_too_large",
    });
    expect(thrownBy(() => run.tasks.add({ title: huge }))).toMatchObject({ code: "snapshot_too_large" });
    run.tasks.set(first, "in_progress");
    await settled();
    expect(server.state.run("run-1")?.task_list?.tasks).toMatchObject([
      { id: "t1", title: "one", status: "in_progress" },
    ]);
  });

  it("is refused of a list whose tasks are too large together", async () => {
    const { run } = await start();
    const add = () => run.tasks.add({ title: "x".repeat(100_000) });
    for (let count = 0; count < 10; count++) add();
    expect(thrownBy(add)).toMatchObject({ code: "snapshot_too_large" });
    expect(run.tasks.tasks).toHaveLength(10);
  });

  it("is refused of verifications, and the verification stays as it was", async () => {
    const { run, server, settled } = await start();
    run.set("executing");
    const verification = run.verification();
    verification.set("running");
    expect(thrownBy(() => verification.set("failed", { residual_risks: [huge] }))).toMatchObject({
      code: "snapshot_too_large",
    });
    expect(thrownBy(() => verification.addCheck({ subject: huge }))).toMatchObject({
      code: "snapshot_too_large",
    });
    expect(verification.checks).toEqual([]);
    verification.set("passed");
    await settled();
    expect(server.state.run("run-1")?.verifications).toMatchObject([{ status: "passed" }]);
  });

  it("is refused of a new run, of which nothing is sent", async () => {
    const { client, of, settled } = await startHarness();
    expect(thrownBy(() => createRunReporter(client, { prompt: huge }))).toMatchObject({
      code: "snapshot_too_large",
    });
    await settled();
    expect(of("run_lifecycle")).toEqual([]);
  });

  it("is judged exactly as the harness judges it", async () => {
    const refused = async (length: number) => {
      const { run, server, settled } = await start({ metadata: { n: [1, true, null, "é\n"] } });
      run.set("executing");
      const isSent = (() => {
        try {
          run.set("verifying", { result_summary: '"'.repeat(length) });
          return true;
        } catch (error) {
          expect(error).toMatchObject({ code: "snapshot_too_large" });
          return false;
        }
      })();
      await settled();
      expect(server.state.run("run-1")?.status).toBe(isSent ? "verifying" : "executing");
      expect(server.stats().refusedNotifications).toBe(0);
      return !isSent;
    };
    // The longest that fits.
    let low = limit - 1000;
    let high = limit;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (await refused(middle)) high = middle;
      else low = middle;
    }
    const { run } = await start({ metadata: { n: [1, true, null, "é\n"] } });
    run.set("executing");
    const told = thrownBy(() => run.set("verifying", { result_summary: '"'.repeat(high) }));
    expect(told.message).toContain(`about ${limit + 1} characters`);
  });

  it("is told apart from what is no JSON", async () => {
    const { run } = await start();
    const metadata: Record<string, unknown> = {};
    metadata.self = metadata;
    expect(() => run.set("planning", { metadata: metadata as never })).toThrow(
      expect.objectContaining({ name: "AhpUsageError", code: "invalid_event" }),
    );
    expect(run.status).toBe("created");
  });
});
