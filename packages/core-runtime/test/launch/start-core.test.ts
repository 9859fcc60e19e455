import { existsSync, statSync } from "node:fs";
import { readdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { until } from "../../../../test-kit/test-kit.ts";
import type { RunningCore } from "../../src/index.ts";
import { writeManifest } from "./support/agent-directory.ts";
import { processesWith } from "./support/processes.ts";
import { healthOf, KeptAudit, RunningCores } from "./support/running-cores.ts";

let cores: RunningCores;
beforeEach(() => {
  cores = new RunningCores();
});
afterEach(() => cores.clean());

const call = async (core: RunningCore, agentId: string, name: string, input = {}) => {
  const result = await core.call(`${agentId}/${name}`, input).result;
  if (result.status !== "succeeded") throw new Error(JSON.stringify(result));
  return result.output;
};

/** The TCP servers of this process. */
const listeningTcpPorts = (): string[] =>
  process.getActiveResourcesInfo().filter((resource) => resource === "TCPServerWrap");

describe("a core with agents", () => {
  it("starts them, calls their tools, and leaves nothing behind", async () => {
    const one = await cores.agents.make();
    const two = await cores.agents.make();
    const portsBefore = listeningTcpPorts();
    const core = await cores.start({ agents: [one.directory, two.directory] });
    await core.ready();
    expect(await call(core, one.id, "echo", { a: 1 })).toEqual({ a: 1 });
    expect(await call(core, two.id, "echo", { b: 2 })).toEqual({ b: 2 });
    const health = healthOf(core, one.id);
    expect(health).toMatchObject({
      agentId: one.id,
      directory: one.directory,
      state: "ready",
      status: "ok",
      restarts: 0,
      agentVersion: "1.2.3",
      manifestHash: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) as string,
    });
    expect(health.toolIds).toContain(`${one.id}/echo`);
    const self = await call(core, one.id, "self");
    expect(self).toMatchObject({ pid: health.pid, cwd: one.directory });
    expect(health.pid).not.toBe(process.pid);
    expect(statSync(core.socketPath).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(core.socketPath)).mode & 0o777).toBe(0o700);
    expect(listeningTcpPorts()).toEqual(portsBefore);
    const launchIds = [one.id, two.id].map((id) => healthOf(core, id).launchId ?? "none");
    await core.close();
    for (const launchId of launchIds) expect(processesWith(launchId)).toEqual([]);
    expect(existsSync(dirname(core.socketPath))).toBe(false);
    expect(healthOf(core, one.id)).toMatchObject({ state: "stopped", toolIds: [] });
    await core.close();
  });

  it("reports what a tool threw, which its caller does not learn: to onError, or as a warning", async () => {
    const agents = [fileURLToPath(new URL("../counting-agent", import.meta.url))];
    const reports: unknown[] = [];
    const onError = ({ code, message }: Error & { code: string }, { agentId }: { agentId: string }) =>
      reports.push([code, message, agentId]);
    const onWarning = ({ name, message }: Error) => reports.push([name, message]);
    process.on("warning", onWarning);
    onTestFinished(() => void process.off("warning", onWarning));
    for (const options of [{ onError }, {}]) {
      const core = await cores.start({ agents, ...options });
      await core.ready();
      expect(await core.call("com.example.counting/broken", {}).result).toMatchObject({
        error: { code: "tool.failed", message: "the tool failed" },
      });
      await core.close();
    }
    const said = "tool broken failed: TypeError: orders is undefined";
    await until(() => reports.length > 1);
    expect(reports).toEqual([
      ["tool_failed", said, "com.example.counting"],
      ["CoreWarning", `tool_failed: com.example.counting: ${said}`],
    ]);
  });

  it("gives each launch a token of its own, in the environment and nowhere else", async () => {
    const audit = new KeptAudit();
    const output: object[] = [];
    const agent = await cores.agents.make(["--say"], { env: ["WANTED"] });
    const core = await cores.start({
      agents: [agent.directory],
      audit,
      onOutput: (line) => {
        output.push(line);
        // A log that fails later harms nobody.
        return Promise.reject(new TypeError("the log service is down"));
      },
      environment: { PATH: process.env.PATH, WANTED: "yes", UNWANTED: "no" },
    });
    await core.ready();
    const environment = await call(core, agent.id, "environment");
    expect(environment).toMatchObject({
      WANTED: "yes",
      HARNESS_AGENT_SOCKET: core.socketPath,
      HARNESS_HEARTBEAT_INTERVAL_MS: "5000",
      HARNESS_MAX_FRAME_BYTES: "4194304",
      tokenLength: 43,
    });
    // The shell that becomes the agent may add what it knows itself.
    const known = ["PATH", "WANTED", "tokenLength"];
    const added = Object.keys(environment).filter(
      (name) => !known.includes(name) && !name.startsWith("HARNESS_"),
    );
    expect(["PWD", "OLDPWD", "SHLVL", "_"]).toEqual(expect.arrayContaining(added));
    const { pid, launchId = "none" } = healthOf(core, agent.id);
    await core.restart(agent.id);
    expect(healthOf(core, agent.id).pid).not.toBe(pid);
    expect(audit.secrets.length).toBe(2);
    expect(new Set(audit.secrets).size).toBe(2);
    const told = JSON.stringify([audit.entries, output, core.launched()]);
    for (const token of audit.secrets) {
      expect(token).toMatch(/^[A-Za-z0-9_-]{43}$/);
      expect(told).not.toContain(token);
      expect((await call(core, agent.id, "self")).argv).not.toContain(token);
    }
    expect(output.slice(0, 2)).toEqual([
      { agentId: agent.id, launchId, stream: "stdout", line: "on stdout" },
      { agentId: agent.id, launchId, stream: "stderr", line: "on stderr" },
    ]);
    expect(JSON.stringify(audit.entries)).not.toContain("on std");
  });

  it("takes agents later, stops them and starts them again", async () => {
    const agent = await cores.agents.make();
    const core = await cores.start();
    await core.ready();
    expect(await core.launch(agent.directory)).toMatchObject({ agentId: agent.id, state: "ready" });
    await expect(core.launch(agent.directory)).rejects.toMatchObject({
      name: "LaunchError",
      code: "agent_exists",
      message: expect.stringContaining(agent.id) as string,
    });
    await core.stop(agent.id);
    expect(healthOf(core, agent.id)).toMatchObject({ state: "stopped", lastExit: { code: 0, signal: null } });
    await core.stop(agent.id);
    const refused = await core.call(`${agent.id}/echo`, {}).result;
    expect(refused).toMatchObject({ status: "failed" });
    expect(await core.restart(agent.id)).toMatchObject({ state: "ready", restarts: 0 });
    await core.stop(agent.id);
    expect(await core.launch(agent.directory)).toMatchObject({ state: "ready" });
    for (const refusal of [core.stop("nobody"), core.restart("nobody")]) {
      await expect(refusal).rejects.toMatchObject({ name: "LaunchError", code: "agent_unknown" });
    }
  });

  it("records, with all their ids, the calls that it refuses while an agent or itself ends", async () => {
    const audit = new KeptAudit();
    const agent = await cores.agents.make();
    const core = await cores.start({ agents: [agent.directory], audit, drainTimeoutMs: 50 });
    await core.ready();
    const refuse = async (ids: { requestId: string; correlationId: string; causationId: string }) => {
      const actor = { type: "human", id: "ada" } as const;
      const call = core.call(`${agent.id}/echo`, {}, { ...ids, actor });
      const result = await call.result;
      if (result.status === "succeeded") expect.fail("it was not refused");
      expect(audit.entries.at(-1)).toMatchObject({
        action: "tool.result",
        outcome: "failed",
        actor,
        tool_id: `${agent.id}/echo`,
        call_id: call.callId,
        request_id: ids.requestId,
        correlation_id: ids.correlationId,
        causation_id: ids.causationId,
        details: { code: result.error.code },
      });
      return result.error.code;
    };
    const hanging = core.call(`${agent.id}/hang`, {});
    const stopped = core.stop(agent.id);
    expect(await refuse({ requestId: "r1", correlationId: "s1", causationId: "c1" })).toBe(
      "agent.unavailable",
    );
    expect(() => core.call(`${agent.id}/echo`, {}, { timeoutMs: 0 })).toThrowError(
      expect.objectContaining({ name: "InvalidArgumentError", code: "invalid_argument" }),
    );
    await stopped;
    expect(await hanging.result).toMatchObject({ error: { code: "agent.lost" } });
    const closed = core.drain();
    expect(await refuse({ requestId: "r2", correlationId: "s2", causationId: "c2" })).toBe("core.closed");
    await closed;
  });

  it("answers agent.unavailable, not tool.not_found, for an agent that was launched and never served", async () => {
    const restart = { policy: "never" } as const;
    const agent = await cores.agents.make(["--exit-at-start"], { restart });
    const core = await cores.start({ agents: [agent.directory] });
    const codes = new Set<string>();
    for await (const { state } of core.health({ signal: AbortSignal.timeout(15_000) })) {
      const result = await core.call(`${agent.id}/echo`, {}).result;
      if (result.status === "failed") codes.add(`${result.error.code} ${result.error.retryable}`);
      if (state === "stopped") break;
    }
    expect([...codes]).toEqual(["agent.unavailable true"]);
    expect(await core.call("org.example.other/echo", {}).result).toMatchObject({
      status: "failed",
      error: { code: "tool.not_found" },
    });
  });

  it("stops an agent with calls that do not end, and one that does not obey", async () => {
    const agent = await cores.agents.make(["--ignore-term"]);
    const core = await cores.start({
      agents: [agent.directory],
      drainTimeoutMs: 50,
      goodbyeGraceMs: 50,
      stopGraceMs: 50,
    });
    await core.ready();
    const { launchId = "none" } = healthOf(core, agent.id);
    const hanging = core.call(`${agent.id}/hang`, {});
    await call(core, agent.id, "fork");
    await core.stop(agent.id);
    expect(await hanging.result).toMatchObject({ status: "failed", error: { code: "agent.lost" } });
    expect(healthOf(core, agent.id).lastExit).toEqual({ code: null, signal: "SIGKILL" });
    expect(processesWith(launchId)).toEqual([]);
  });

  it("drains: what runs comes to its end, and nothing new is taken", async () => {
    const agent = await cores.agents.make();
    const core = await cores.start({ agents: [agent.directory], cancelGraceMs: 50 });
    await core.ready();
    const flag = join(agent.directory, "flag");
    const slow = core.call(`${agent.id}/slow`, { until: flag });
    const hanging = core.call(`${agent.id}/hang`, {}, { timeoutMs: 100 });
    const drained = core.drain();
    const late = await core.call(`${agent.id}/echo`, {}).result;
    expect(late).toMatchObject({ status: "failed", error: { code: "core.closed" } });
    expect(await hanging.result).toMatchObject({ status: "failed", error: { code: "tool.timeout" } });
    await writeFile(flag, "");
    expect(await slow.result).toMatchObject({ status: "succeeded" });
    await drained;
    expect(existsSync(core.socketPath)).toBe(false);
    await expect(core.drain({ timeoutMs: -1 })).rejects.toMatchObject({ code: "invalid_argument" });
  });

  it("closes with agents that start, and starts nothing afterwards", async () => {
    const agent = await cores.agents.make(["--no-hello"]);
    const core = await cores.start({ agents: [agent.directory] });
    const readiness = core.ready().catch((error: unknown) => error);
    await until(() => healthOf(core, agent.id).pid !== undefined, "the process");
    const { launchId = "none" } = healthOf(core, agent.id);
    await core.close();
    expect(await readiness).toMatchObject({
      code: "agents_not_ready",
      errors: [{ code: "agent_start_failed", agentId: agent.id, reason: { code: "stopped" } }],
    });
    expect(processesWith(launchId)).toEqual([]);
    await expect(core.launch(agent.directory)).rejects.toMatchObject({ code: "core_stopped" });
    await expect(core.restart(agent.id)).rejects.toMatchObject({ code: "core_stopped" });
  });
});

it("a core that cannot start leaves nothing when a manifest is wrong or two are of one agent", async () => {
  const good = await cores.agents.make();
  const bad = await cores.agents.make([], { command: [""] });
  const twin = await cores.agents.make([], { id: good.id });
  const socketDirectory = await cores.agents.empty();
  const start = (...agents: { directory: string }[]) =>
    cores.start({ agents: agents.map(({ directory }) => directory), socketDirectory });
  await expect(start(good, bad)).rejects.toMatchObject({ code: "manifest_invalid", field: "command.0" });
  const message = expect.stringContaining(good.id) as string;
  await expect(start(good, twin)).rejects.toMatchObject({ code: "agent_exists", message });
  await expect(cores.start({ socketDirectory: join(socketDirectory, "nothing") })).rejects.toMatchObject({
    code: "transport_failed",
  });
  await expect(cores.start({ socketDirectory, stopGraceMs: -1 })).rejects.toMatchObject({
    code: "invalid_argument",
  });
  for (const agents of [good.directory, [undefined]] as unknown[]) {
    const given = { socketDirectory, agents: agents as string[] };
    const message = expect.stringContaining("startCore: agents") as string;
    await expect(cores.start(given)).rejects.toMatchObject({ code: "invalid_argument", message });
  }
  expect(await readdir(socketDirectory)).toEqual([]);
  expect(processesWith(good.directory)).toEqual([]);
});

it("a manifest that changes is not followed by the policy, and followed by a restart by hand", async () => {
  const agent = await cores.agents.make([], { restart: { policy: "always" } });
  const core = await cores.start({ agents: [agent.directory] });
  await core.ready();
  const before = healthOf(core, agent.id);
  const [node = "", script = ""] = [process.execPath, ...(await argvOf(core, agent.id))];
  const changed = {
    id: agent.id,
    version: "2.0.0",
    command: [node, script, "--other"],
    restart: { policy: "always" },
  };
  await writeManifest(agent.directory, changed);
  await core.call(`${agent.id}/exit`, { code: 1 }).result;
  await until(() => healthOf(core, agent.id).restarts === 1, "the restart");
  await core.ready();
  expect(healthOf(core, agent.id)).toMatchObject({
    manifestHash: before.manifestHash,
  });
  expect((await call(core, agent.id, "self")).argv).toEqual([]);
  const after = await core.restart(agent.id);
  expect(after.manifestHash).not.toBe(before.manifestHash);
  expect((await call(core, agent.id, "self")).argv).toEqual(["--other"]);
  await writeManifest(agent.directory, { ...changed, id: "somebody.else" });
  await expect(core.restart(agent.id)).rejects.toMatchObject({ code: "manifest_invalid", field: "id" });
  await writeManifest(agent.directory, {});
  await expect(core.restart(agent.id)).rejects.toMatchObject({ code: "manifest_invalid" });
  expect(healthOf(core, agent.id).state).toBe("ready");
});

const argvOf = async (core: RunningCore, agentId: string): Promise<string[]> => {
  const { readFileSync } = await import("node:fs");
  const { pid } = healthOf(core, agentId);
  return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").slice(1, 2);
};
