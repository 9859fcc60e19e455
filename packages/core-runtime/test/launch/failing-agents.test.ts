import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { killProcess, until } from "../../../../test-kit/test-kit.ts";
import { processesWith, stateOf, untilNothingOf, zombiesOf } from "./support/processes.ts";
import { healthOf, KeptAudit, RunningCores, untilHealth } from "./support/running-cores.ts";

let cores: RunningCores;
beforeEach(() => {
  cores = new RunningCores();
});
afterEach(async () => {
  await cores.clean();
  await until(() => zombiesOf(process.pid).length === 0, "no zombie");
});

const lost = { status: "failed", error: { code: "agent.lost" } };

describe("an agent that does not come to serve", () => {
  it.each([
    {
      what: "ends at once",
      modes: ["--exit-at-start"],
      reason: { code: "exited", message: "its process ended with code 7" },
      exit: { code: 7, signal: null },
      stderrTail: "cannot find my configuration",
    },
    {
      what: "says no hello",
      modes: ["--no-hello"],
      options: { startTimeoutMs: 500 },
      reason: { code: "connect_timeout" },
    },
    {
      what: "registers no tools",
      modes: ["--no-tools"],
      options: { startTimeoutMs: 2000 },
      reason: { code: "register_timeout" },
    },
  ])("because it $what is named with its reason", async ({ modes, options, what: _, ...expected }) => {
    const agent = await cores.agents.make(modes, { restart: { policy: "always" } });
    // What the core's owner says holds before what the manifest says.
    const restart = { policy: "never" } as const;
    const core = await cores.start({ agents: [agent.directory], restart, ...options });
    const failure: unknown = await core.ready().catch((error: unknown) => error);
    expect(failure).toMatchObject({
      name: "AgentsNotReadyError",
      code: "agents_not_ready",
      errors: [{ name: "AgentStartError", code: "agent_start_failed", agentId: agent.id, ...expected }],
    });
    expect((failure as Error).message).toContain(agent.id);
    if (expected.stderrTail) expect((failure as Error).message).toContain(expected.stderrTail);
    expect(healthOf(core, agent.id)).toMatchObject({
      state: "stopped",
      reasonCode: expected.reason.code,
      toolIds: [],
    });
    expect(processesWith(agent.directory)).toEqual([]);
  });

  it("because it has a wrong token gets no tool in", async () => {
    const agent = await cores.agents.make(["--wrong-token", "--stay"], { restart: { policy: "never" } });
    const audit = new KeptAudit();
    const core = await cores.start({ agents: [agent.directory], audit, startTimeoutMs: 5000 });
    const refusal = () => audit.entries.find(({ action }) => action === "agent.refused");
    await until(() => refusal() !== undefined, "the refusal");
    expect(refusal()).toMatchObject({ outcome: "refused", agent_id: agent.id });
    expect(core.tools()).toEqual([]);
    expect(healthOf(core, agent.id)).toMatchObject({
      state: "starting",
      toolIds: [],
      status: "disconnected",
    });
  });

  it.each([
    ["not found in its directory", "./nothing", 127, "command_not_found"],
    ["not executable", "./opensentience.agent.json", 126, "command_not_executable"],
  ])("because its command is %s is told at once, and not tried again", async (_, command, exitCode, code) => {
    const agent = await cores.agents.make([], { command: [command], restart: { policy: "always" } });
    const core = await cores.start();
    await expect(core.launch(agent.directory)).rejects.toMatchObject({
      code: "agent_start_failed",
      reason: {
        code,
        message: expect.stringMatching(/^its command .*: (install it|make the file)/) as string,
      },
      exit: { code: exitCode },
      stderrTail: "",
    });
    expect(healthOf(core, agent.id)).toMatchObject({ state: "stopped", restarts: 0 });
  });

  it("is given up after a burst of restarts, and can be started by hand", async () => {
    const audit = new KeptAudit();
    const agent = await cores.agents.make(["--exit-at-start"], { restart: { max_burst: 2 } });
    const core = await cores.start({ agents: [agent.directory], audit });
    await expect(core.ready()).rejects.toMatchObject({ code: "agents_not_ready" });
    const health = await untilHealth(core, agent.id, ({ state }) => state === "crash_loop");
    expect(health).toMatchObject({
      restarts: 2,
      reasonCode: "crash_loop",
      lastExit: { code: 7 },
      errorLine: "cannot find my configuration",
    });
    await expect(core.ready()).rejects.toMatchObject({ errors: [{ reason: { code: "crash_loop" } }] });
    expect(audit.actionsOf(agent.id).filter((action) => action === "agent.backoff").length).toBe(2);
    expect(audit.actionsOf(agent.id)).toContain("agent.crash_loop");
    await expect(core.restart(agent.id)).rejects.toMatchObject({ reason: { code: "exited" } });
    expect(healthOf(core, agent.id).restarts).toBeLessThan(2);
  });
});

describe("an agent that fails while it serves", () => {
  it("because it is killed loses its calls at once and is started again", async () => {
    const agent = await cores.agents.make();
    const core = await cores.start({ agents: [agent.directory] });
    await core.ready();
    const before = healthOf(core, agent.id);
    await core.call(`${agent.id}/fork`, {}).result;
    const hanging = core.call(`${agent.id}/hang`, {});
    await core.call(`${agent.id}/echo`, {}).result;
    killProcess(before.pid);
    expect(await hanging.result).toMatchObject(lost);
    const after = await untilHealth(
      core,
      agent.id,
      ({ state, restarts }) => restarts === 1 && state === "ready",
    );
    expect(after.lastExit).toEqual({ code: null, signal: "SIGKILL" });
    expect(after.launchId).not.toBe(before.launchId);
    expect(after.sessionId).not.toBe(before.sessionId);
    expect(processesWith(before.launchId ?? "none")).toEqual([]);
    expect(await core.call(`${agent.id}/echo`, { again: true }).result).toEqual({
      status: "succeeded",
      output: { again: true },
    });
  });

  it("because of a tool that stops it is killed and started again", async () => {
    const agent = await cores.agents.make();
    // A busy machine stops an agent for a second at times.
    const times = { heartbeatIntervalMs: 250, missedHeartbeats: 12, unhealthyTimeoutMs: 50 };
    const core = await cores.start({ agents: [agent.directory], ...times });
    await core.ready();
    const { launchId = "none" } = healthOf(core, agent.id);
    const call = core.call(`${agent.id}/stop`, {});
    const unhealthy = await untilHealth(core, agent.id, ({ state }) => state === "unhealthy");
    expect(unhealthy).toMatchObject({ status: "unhealthy", reasonCode: "unhealthy" });
    expect(await core.call(`${agent.id}/echo`, {}).result).toMatchObject({
      error: { code: "agent.unavailable" },
    });
    expect(await call.result).toMatchObject(lost);
    await untilHealth(core, agent.id, ({ state, restarts }) => restarts === 1 && state === "ready");
    await untilNothingOf(launchId);
    expect(healthOf(core, agent.id).lastExit).toEqual({ code: null, signal: "SIGKILL" });
  });

  it("because its guard is killed is killed and started again with another", async () => {
    const agent = await cores.agents.make();
    const core = await cores.start({ agents: [agent.directory] });
    await core.ready();
    const { launchId = "none", pid } = healthOf(core, agent.id);
    const guard = processesWith(launchId).find((candidate) => candidate !== pid);
    killProcess(guard);
    const backoff = await untilHealth(
      core,
      agent.id,
      ({ state }) => state === "backoff" || state === "starting",
    );
    if (backoff.state === "backoff") expect(backoff.reasonCode).toBe("guard_lost");
    await untilHealth(core, agent.id, ({ state, restarts }) => restarts === 1 && state === "ready");
    await untilNothingOf(launchId);
    expect(stateOf(pid ?? 0)).toBeUndefined();
  });
});
