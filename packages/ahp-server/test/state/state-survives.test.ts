import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setImmediate } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { createDeferred } from "@harnesskit/wire";
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { sourceBundle } from "../../../../test-kit/source-bundle.ts";
import { type StateStore, StateStoreError } from "../../src/index.ts";
import { openStateFile } from "../../src/node/file-state-store.ts";
import { openFileStateStore } from "../../src/node/index.ts";
import { createMemoryStateStore } from "../support/memory-state-store.ts";
import { event, handshake, notification, request, run } from "../support/messages.ts";
import { startServer } from "../support/server.ts";

const makeDirectory = async (): Promise<string> => {
  const directory = await mkdtemp(join(tmpdir(), "harness-state-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  return directory;
};

const start = async (stateStore: StateStore, options: Parameters<typeof startServer>[1] = {}) => {
  const started = startServer({}, { stateStore, ...options });
  await started.shake();
  const tell = async (type: "run_lifecycle" | "task_list" | "verification", payload: object) =>
    (await started.post(notification("ahp/event", event(type, { payload }))))?.error;
  return { ...started, tell };
};

const verification = {
  ...run("needs_review", 4),
  checks: [
    { id: "c", subject: "tests", status: "passed", artifacts: [{ id: "report", path: "report.xml" }] },
  ],
  residual_risks: ["the migration was not tried"],
};

describe("the state of a harness that is started again", () => {
  it("has the runs, their tasks, their verifications with risks and artifacts, and goes on with them", async () => {
    const path = join(await makeDirectory(), "runs.jsonl");
    const first = await start(openFileStateStore({ path }));
    await first.tell("run_lifecycle", run("executing", 1, { prompt: "fix it" }));
    await first.tell("task_list", { ...run("", 2), tasks: [{ id: "1", title: "one", status: "completed" }] });
    await first.tell("verification", run("failed", 3));
    await first.tell("verification", run("running", 3));
    await first.tell("verification", verification);
    await first.tell("run_lifecycle", run("planning", 0));
    const before = first.server.state.runs();
    expect(before).toMatchObject([
      { status: "executing", verifications: [{ status: "failed" }, verification] },
    ]);
    await first.server.close();

    const again = await start(openFileStateStore({ path }));
    expect(again.server.state.runs()).toEqual(before);
    const { task_list } = again.server.state.run("run-1") ?? {};
    expect(task_list?.tasks).toEqual([{ id: "1", title: "one", status: "completed" }]);
    await again.tell("run_lifecycle", run("completed", 5));
    expect(again.server.state.run("run-1")).toMatchObject({
      status: "completed",
      lifecycle: { status: "completed" },
    });
    expect(again.server.stats()).toMatchObject({ runs: 1 });
    await again.server.close();
  });

  it("is what it was, whatever was reported", async () => {
    const told = fc.record({
      type: fc.constantFrom("run_lifecycle", "task_list", "verification" as const),
      status: fc.nat(),
      second: fc.integer({ min: 0, max: 9 }),
      runId: fc.constantFrom("a", "b", "c"),
      session: fc.constantFrom("s", "t"),
    });
    const statuses = {
      run_lifecycle: ["created", "planning", "executing", "verifying", "completed", "failed"],
      task_list: ["-"],
      verification: ["pending", "running", "passed", "failed", "needs_review"],
    };
    await fc.assert(
      fc.asyncProperty(fc.array(told, { maxLength: 40 }), fc.boolean(), async (steps, isCompacted) => {
        const memory = createMemoryStateStore();
        let digits = 7;
        // Its size grows so fast that it is compacted after each event.
        const size = { get: () => (isCompacted ? 10 ** ++digits : 0) };
        const store: StateStore = Object.defineProperty({ ...memory }, "size", size);
        const limits = { maxRuns: 4, maxVerificationsPerRun: 2 };
        const live = await start(store, { limits });
        for (const { type, status, second, runId, session } of steps) {
          const word = statuses[type][status % statuses[type].length] ?? "";
          const payload = { ...run(word, second), run_id: runId, session_id: session, tasks: [] };
          expect(await live.tell(type, payload)).toBeUndefined();
        }
        if (isCompacted)
          expect([...store.load()].filter(({ kind }) => kind !== "run").length).toBeLessThan(2);
        const again = await start(store, { limits });
        expect(again.server.state.runs()).toEqual(live.server.state.runs());
      }),
      { numRuns: 60 },
    );
  });

  it("is kept within the file's own limit: room is made, and what would not fit is refused and not lost later", async () => {
    const path = join(await makeDirectory(), "runs.jsonl");
    const live = await start(openStateFile(path, 20_000));
    const prompt = "x".repeat(1000);
    for (let second = 0; second < 50; second++) {
      expect(await live.tell("run_lifecycle", run("executing", second, { prompt }))).toBeUndefined();
    }
    // Six bytes in the file for each character.
    const large = run("executing", 51, { prompt: "\u0000".repeat(4000) });
    expect(await live.tell("run_lifecycle", large)).toMatchObject({ data: { reason: "state_not_kept" } });
    expect((await stat(path)).size).toBeLessThanOrEqual(20_000);
    const before = live.server.state.runs();
    await live.server.close();
    const again = await start(openStateFile(path, 20_000));
    expect(again.server.state.runs()).toEqual(before);
    await again.server.close();
  });

  it("is written anew where its file was removed, and refused where another file is in its place", async () => {
    const path = join(await makeDirectory(), "runs.jsonl");
    const live = await start(openFileStateStore({ path }));
    expect(await live.tell("run_lifecycle", run("planning", 1))).toBeUndefined();
    await rm(path);
    expect(await live.tell("run_lifecycle", { ...run("planning", 2), run_id: "run-2" })).toBeUndefined();
    const again = await start(openFileStateStore({ path }));
    expect(again.server.state.runs().map(({ run_id }) => run_id)).toEqual(["run-1", "run-2"]);
    await again.server.close();
    await rm(path);
    await writeFile(path, "", { mode: 0o600 });
    const refusal = { data: { reason: "state_not_kept" } };
    expect(await live.tell("run_lifecycle", run("executing", 3))).toMatchObject(refusal);
    expect(live.server.state.run("run-1")?.status).toBe("planning");
    expect((await stat(path)).size).toBe(0);
    await live.server.close();
  });

  it("has no event that could not be kept: that one is refused, alone or in a batch, and changes nothing", async () => {
    const memory = createMemoryStateStore();
    let isFull = false;
    const append: StateStore["append"] = (record) => {
      if (isFull) throw new StateStoreError("state_not_kept", "the state cannot be written (ENOSPC)");
      memory.append(record);
    };
    const { tell, server, ask, errors, entries } = await start({ ...memory, load: memory.load, append });
    expect(await tell("run_lifecycle", run("planning", 1))).toBeUndefined();
    isFull = true;
    const refusal = { code: -32603, data: { reason: "state_not_kept" } };
    expect(await tell("run_lifecycle", run("executing", 2))).toMatchObject(refusal);
    const batch = { events: [event("run_lifecycle", { payload: run("executing", 2) })] };
    expect((await ask("ahp/batch", batch)).error).toMatchObject(refusal);
    expect(server.state.run("run-1")).toMatchObject({ status: "planning" });
    expect(errors).toMatchObject([{ code: "state_not_kept" }, { code: "state_not_kept" }]);
    expect(entries().at(-1)).toMatchObject({ outcome: "failed", details: { reason: "state_not_kept" } });
    isFull = false;
    expect(await tell("run_lifecycle", run("executing", 2))).toBeUndefined();
    expect(server.state.run("run-1")?.status).toBe("executing");
  });

  it("survives a batch whose state cannot be kept while a handler of it still works", async () => {
    const memory = createMemoryStateStore();
    const lost = createDeferred<void>();
    const decided = createDeferred<{ decision: "allow" }>();
    const unhandled: unknown[] = [];
    const onUnhandled = (reason: unknown) => unhandled.push(reason);
    process.on("unhandledRejection", onUnhandled);
    onTestFinished(() => {
      process.off("unhandledRejection", onUnhandled);
    });
    const stateStore = { ...memory, load: memory.load, kept: () => lost.promise };
    const { ask, shake, errors } = startServer({ pre_action: () => decided.promise }, { stateStore });
    await shake();
    const events = [event("run_lifecycle", { payload: run("executing", 1) }), event("pre_action")];
    const answer = ask("ahp/batch", { events });
    lost.reject(new StateStoreError("state_not_kept", "the state cannot be written: the database failed"));
    await expect.poll(() => errors).toMatchObject([{ code: "state_not_kept" }]);
    // Node reports a rejection that has no handler before the next immediate.
    await setImmediate();
    expect(unhandled).toEqual([]);
    decided.resolve({ decision: "allow" });
    expect((await answer).error).toMatchObject({ code: -32603, data: { reason: "state_not_kept" } });
  });
});

describe("a harness that is killed", () => {
  it("has lost nothing of what it answered", async () => {
    const path = join(await makeDirectory(), "runs.jsonl");
    const script = fileURLToPath(new URL("../fixtures/state-harness.mjs", import.meta.url));
    const bundle = await sourceBundle(new URL("../bundle-entry.ts", import.meta.url));
    let sent = 0;
    const answered = new Set<string>();
    for (let round = 0; round < 8; round++) {
      const child = spawn(process.execPath, [script, bundle, path], {
        stdio: ["pipe", "pipe", "inherit"],
      });
      onTestFinished(() => void child.kill("SIGKILL"));
      const say = (message: object) => child.stdin.write(`${JSON.stringify(message)}\n`);
      child.stdin.on("error", () => {});
      say(request("h", "ahp/handshake", handshake()));
      const goOn = () => {
        sent++;
        const payload = { ...run("executing", 1, { prompt: "x".repeat(20_000) }), run_id: `run-${sent}` };
        say(request(String(sent), "ahp/batch", { events: [event("run_lifecycle", { payload })] }));
      };
      const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
      for (let count = 0; count < 10 + round; count++) {
        const { value } = await answers.next();
        const reply = JSON.parse(value ?? "null");
        if (reply.result?.decisions) answered.add(`run-${reply.id}`);
        for (let more = 0; more < 3; more++) goOn();
      }
      child.kill("SIGKILL");
      await once(child, "exit");
    }
    const { server } = await start(openFileStateStore({ path }));
    const kept = server.state.runs().map(({ run_id }) => run_id);
    expect(answered.size).toBeGreaterThan(90);
    expect(kept).toEqual(expect.arrayContaining([...answered]));
    await server.close();
  });
});
