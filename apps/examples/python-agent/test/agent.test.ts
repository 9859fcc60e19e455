import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createMemoryGrants,
  type LaunchedAgent,
  type RunningCore,
  type StartCoreOptions,
  type StreamChunk,
  startCore,
  type ToolCall,
  toGrants,
} from "@harnesskit/core-runtime";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { needPython } from "../../../../scripts/lib/python.ts";
import { AgentProcess, agentDirectory } from "./support/agent-process.ts";
import { processesOf } from "./support/processes.ts";

const agentId = "com.example.python";

beforeEach(needPython);

const start = async (options: StartCoreOptions = {}): Promise<RunningCore> => {
  const socketDirectory = await mkdtemp(join(tmpdir(), "hk-python-agent-"));
  onTestFinished(() => rm(socketDirectory, { recursive: true, force: true }));
  const core = await startCore({ agents: [agentDirectory], ...options, socketDirectory });
  onTestFinished(() => core.close());
  await core.ready();
  return core;
};

const healthOf = (core: RunningCore): LaunchedAgent => {
  const [health] = core.launched();
  if (!health) throw new Error("the core has no agent");
  return health;
};

const untilHealth = async (core: RunningCore, isWanted: (health: LaunchedAgent) => boolean) => {
  for await (const health of core.health({ signal: AbortSignal.timeout(15_000) })) {
    if (isWanted(health)) return health;
  }
  expect.fail(`the agent stayed ${JSON.stringify(healthOf(core))}`);
};

const call = (core: RunningCore, tool: string, input: object, options: object = {}): ToolCall =>
  core.call(`${agentId}/${tool}`, input, options);

const chunksOf = async (stream: AsyncIterable<StreamChunk>): Promise<StreamChunk[]> => {
  const chunks: StreamChunk[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
};

describe("the Python agent under a core", () => {
  it("answers, and streams in order", async () => {
    const core = await start({ heartbeatIntervalMs: 50 });
    expect(healthOf(core)).toMatchObject({ agentId, state: "ready", agentVersion: "1.0.0", restarts: 0 });
    const text = "Grüße, 世界\nund mehr";
    expect(await call(core, "word_count", { text }).result).toMatchObject({
      status: "succeeded",
      output: { characters: 18, words: 4, lines: 2 },
    });
    const counting = call(core, "countdown", { from: 5, interval_ms: 1 });
    expect(await chunksOf(counting.stream)).toEqual(
      [5, 4, 3, 2, 1].map((left, index) => ({
        seq: index + 1,
        channel: "status",
        data: { text: String(left) },
      })),
    );
    expect(await counting.result).toMatchObject({ status: "succeeded", output: { counted: 5 } });
    expect(await core.ping(agentId)).toBeGreaterThanOrEqual(0);
    expect(healthOf(core)).toMatchObject({ state: "ready", status: "ok", restarts: 0 });
    expect(core.stats()).toMatchObject({ sessions: 1 });
  });

  it("keeps the guest book of hello-agent: greets, shows what it would write, and writes that or nothing", async () => {
    const root = await mkdtemp(join(tmpdir(), "hk-python-book-"));
    onTestFinished(() => rm(root, { recursive: true, force: true }));
    const granted = toGrants({
      agent_id: agentId,
      permissions: ["fs.write", "side_effects"],
      granted_by: "test",
    });
    const [bare, core] = [await start(), await start({ grants: createMemoryGrants(granted) })];
    const options = { context: { project_root: root } };
    expect(await call(bare, "sign", { name: "Ada" }, options).result).toMatchObject({
      error: { code: "tool.forbidden", details: { missing: ["side_effects", "fs.write"] } },
    });
    const said = async (tool: string, input: object) => {
      const result = await call(core, tool, input, options).result;
      return result.status === "succeeded" ? result.output : result.error.code;
    };
    expect(await said("greet", { name: "Ada" })).toEqual({ greeting: "Hello, Ada!" });
    const shown = await said("prepare", { tool: "sign", input: { name: "Ada", more: 1 } });
    expect(shown).toMatchObject({ input: { name: "Ada" }, preview: "GUESTS.md\n+- Ada\n" });
    const { input, expected } = shown as { input: object; expected: string };
    expect(await said("sign", { ...input, expected })).toEqual({ guests: 1 });
    expect(await said("sign", { ...input, expected })).toBe("hello.changed");
    expect(await said("greet", { name: "Ada" })).toEqual({ greeting: "Welcome back, Ada!" });
    expect(await said("prepare", { tool: "sign", input: {} })).toBe("tool.invalid_input");
    expect(await call(core, "sign", { name: "Ada" }).result).toMatchObject({
      error: { code: "hello.no_project" },
    });
    for (const name of ["", "two\nlines", "x".repeat(101)]) {
      expect(await said("greet", { name })).toBe("tool.invalid_input");
    }
  });

  it("fails in its own words, and is sent nothing that does not fit", async () => {
    const core = await start();
    expect(await call(core, "fail", {}).result).toMatchObject({
      status: "failed",
      error: {
        code: "example.out_of_tea",
        message: "there is no tea",
        retryable: true,
        details: { cups: 0 },
      },
    });
    expect(await call(core, "word_count", { text: 7 }).result).toMatchObject({
      status: "failed",
      error: { code: "tool.invalid_input" },
    });
    expect(await call(core, "countdown", { from: 3 }).result).toMatchObject({
      status: "failed",
      error: { code: "tool.invalid_input" },
    });
  });

  it("is cancelled in the middle of an interval, and runs out of time", async () => {
    const core = await start();
    const cancelled = call(core, "countdown", { from: 2, interval_ms: 10_000 });
    const stream = cancelled.stream[Symbol.asyncIterator]();
    expect((await stream.next()).value).toMatchObject({ seq: 1, data: { text: "2" } });
    const before = performance.now();
    cancelled.cancel("enough");
    expect(await cancelled.result).toMatchObject({
      status: "canceled",
      error: { code: "tool.canceled", message: "it was cancelled" },
    });
    expect(performance.now() - before).toBeLessThan(5000);
    expect((await stream.next()).done).toBe(true);
    const late = call(core, "countdown", { from: 2, interval_ms: 10_000 }, { timeoutMs: 50 });
    expect(await late.result).toMatchObject({ status: "failed", error: { code: "tool.timeout" } });
    expect(await call(core, "word_count", { text: "" }).result).toMatchObject({ status: "succeeded" });
  });

  it("is started again when it was killed, and leaves no process behind", async () => {
    const core = await start({ restart: { initial_backoff_ms: 10 } });
    const { pid = 0, launchId = "none" } = healthOf(core);
    expect(processesOf(launchId)).toContain(String(pid));
    const lost = call(core, "countdown", { from: 2, interval_ms: 10_000 });
    await lost.stream[Symbol.asyncIterator]().next();
    process.kill(pid, "SIGKILL");
    expect(await lost.result).toMatchObject({ status: "failed", error: { code: "agent.lost" } });
    const again = await untilHealth(core, ({ state, restarts }) => state === "ready" && restarts === 1);
    expect(again.pid).not.toBe(pid);
    expect(again.lastExit).toEqual({ code: null, signal: "SIGKILL" });
    expect(await call(core, "word_count", { text: "a" }).result).toMatchObject({ status: "succeeded" });
    await core.close();
    expect(healthOf(core)).toMatchObject({ state: "stopped", lastExit: { code: 0, signal: null } });
    for (const id of [launchId, again.launchId ?? "none"]) expect(processesOf(id)).toEqual([]);
  });

  it("is refused with a token that is not its launch's, and repeats it nowhere", async () => {
    const core = await start();
    const environment = { HARNESS_AGENT_SOCKET: core.socketPath, HARNESS_SESSION_TOKEN: "a-wrong-token" };
    const stranger = new AgentProcess(environment);
    onTestFinished(() => stranger.clean());
    const end = await stranger.ended;
    expect(end).toMatchObject({ code: 1, stdout: "" });
    expect(end.stderr).toMatch(/^protocol\.unauthorized: /);
    expect(end.stderr).not.toContain("a-wrong-token");
    expect(healthOf(core)).toMatchObject({ state: "ready", restarts: 0 });
  });
});
