import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { randomId, systemClock } from "@harnesskit/wire";
import { createManualClock } from "@harnesskit/wire/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { until } from "../../../../test-kit/test-kit.ts";
import {
  type AgentProcess,
  type AgentProcessOptions,
  startAgentProcess,
} from "../../src/launch/agent-process.ts";
import { isAlive, processesWith, stateOf, untilNothingOf, zombiesOf } from "./support/processes.ts";

let directory: string;
let lines: string[];
const started: AgentProcess[] = [];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "hk-agent-process-"));
  lines = [];
});
afterEach(async () => {
  for (const process of started.splice(0)) {
    process.kill();
    await process.gone;
  }
  await rm(directory, { recursive: true, force: true });
});

const start = async (command: readonly string[], options: Partial<AgentProcessOptions> = {}) => {
  const launchId = randomId("lch");
  const agent = await startAgentProcess({
    launchId,
    command,
    directory,
    environment: { PATH: "/usr/bin:/bin", HARNESS_LAUNCH_ID: launchId },
    clock: systemClock,
    onLine: (stream, line) => lines.push(`${stream}: ${line}`),
    limits: { maxOutputLineLength: 8192, maxStderrBytes: 8192 },
    ...options,
  });
  started.push(agent);
  return { agent, launchId };
};

/** True when a process ignores some signal; a shell does so from its first command on at the earliest. */
const ignoresSignals = (pid: number): boolean =>
  !/^SigIgn:\t0+$/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));

const node = (script: string): string[] => [process.execPath, "-e", script];
const untilLine = (line: string) => until(() => lines.includes(line), line);
/** Prints the id of a child that left the group. */
const escapee = `
  const { spawn } = require("node:child_process");
  const child = spawn("/bin/sleep", ["1000"], { detached: true, stdio: "ignore" });
  console.log("child " + child.pid);`;

describe("an agent's process", () => {
  it.each([0, 127, 255])("tells exit code %i as it is", async (code) => {
    const { agent, launchId } = await start(["/bin/sh", "-c", `exit ${code}`]);
    expect(await agent.exited).toEqual({ code, signal: null });
    expect(await agent.gone).toMatchObject({
      exit: { code, signal: null },
      notExecuted: undefined,
      complete: true,
    });
    await untilNothingOf(launchId);
  });

  it.each(["SIGKILL", "SIGSEGV"] as const)("tells %s as it is", async (signal) => {
    const { agent } = await start(["/bin/sh", "-c", `kill -s ${signal.slice(3)} $$`]);
    expect((await agent.gone).exit).toEqual({ code: null, signal });
  });

  it("gives the program its arguments exactly", async () => {
    const args = [
      "a b",
      "",
      "'single' \"double\"",
      "line\nbreak",
      "--",
      "-rf",
      "$HOME `id` $(id)",
      "*",
      "\\n",
      "ü💥",
    ];
    const { agent } = await start([
      ...node("console.log(JSON.stringify(process.argv.slice(1)))"),
      "--",
      ...args,
    ]);
    await agent.gone;
    expect(lines).toEqual([`stdout: ${JSON.stringify(args)}`]);
  });

  it("leads a group of its own and inherits nothing but its three streams", async () => {
    const script = `
      const fs = require("node:fs");
      for (const fd of fs.readdirSync("/proc/self/fd")) {
        try { console.log(fd, fs.readlinkSync("/proc/self/fd/" + fd).replace(/[0-9]+/g, "N")); } catch {}
      }
      console.log("stat", fs.readFileSync("/proc/self/stat", "utf8").split(" ").slice(4, 6).join(" "));`;
    const { agent } = await start(node(script));
    await agent.gone;
    expect(lines).toContain(`stdout: stat ${agent.pid} ${agent.pid}`);
    expect(lines).toContain("stdout: 0 /dev/null");
    // The guard's channel is a socket, and so are the streams.
    const sockets = lines.filter((line) => line.includes("socket:"));
    expect(sockets).toEqual(["stdout: 1 socket:[N]", "stdout: 2 socket:[N]"]);
    lines = [];
    const { agent: plain } = await start(["/bin/sh", "-c", "grep -E 'Sig(Ign|Blk)' /proc/self/status"]);
    await plain.gone;
    expect(lines).toEqual(["stdout: SigBlk:\t0000000000000000", "stdout: SigIgn:\t0000000000000000"]);
  });

  it("rejects what cannot be started at all, and leaves nothing", async () => {
    const launch = (options: Partial<AgentProcessOptions>) => start(["/bin/true"], options);
    for (const options of [
      { directory: join(directory, "nothing") },
      { command: ["/bin/true", "x".repeat(3_000_000)] },
    ] satisfies Partial<AgentProcessOptions>[]) {
      await expect(launch(options)).rejects.toMatchObject({ name: "SpawnError", code: "start_failed" });
    }
    expect(processesWith("harnesskit-guard").filter((pid) => zombiesOf(process.pid).includes(pid))).toEqual(
      [],
    );
  });

  it("is gone with everything that it started, in its group or not", async () => {
    const { agent, launchId } = await start([
      ...node(`${escapee}
        spawn("/bin/sleep", ["1000"], { stdio: "ignore" });
        setTimeout(() => process.exit(4), 10);`),
    ]);
    const end = await agent.gone;
    expect(end).toMatchObject({ exit: { code: 4, signal: null }, complete: true, guardLost: false });
    expect(processesWith(launchId).filter(isAlive)).toEqual([]);
    const child = Number(lines[0]?.replace("stdout: child ", ""));
    expect(isAlive(child)).toBe(false);
    expect(stateOf(agent.pid)).toBeUndefined();
    expect(stateOf(agent.guardPid)).toBeUndefined();
  });

  it("does not wait for a descendant that cannot be found and that holds its output", async () => {
    const script = `
      const { spawn } = require("node:child_process");
      const child = spawn("/bin/sleep", ["1000"], { detached: true, env: {}, stdio: ["ignore", "inherit", "inherit"] });
      console.log("child " + child.pid);
      process.exit(0);`;
    const { agent } = await start(node(script));
    expect(await agent.gone).toMatchObject({ exit: { code: 0, signal: null } });
    await untilLine(lines[0] ?? "");
    process.kill(Number(lines[0]?.replace("stdout: child ", "")), "SIGKILL");
  });

  it("ends at SIGTERM, and at a kill when it ignores that", async () => {
    const { agent: obedient } = await start(["/bin/sleep", "1000"]);
    obedient.terminate();
    expect((await obedient.gone).exit).toEqual({ code: null, signal: "SIGTERM" });
    const { agent: deaf } = await start(
      node("process.on('SIGTERM', () => console.log('no')); console.log('up'); setInterval(() => {}, 1000)"),
    );
    await untilLine("stdout: up");
    deaf.terminate();
    await untilLine("stdout: no");
    deaf.kill();
    expect((await deaf.gone).exit).toEqual({ code: null, signal: "SIGKILL" });
  });

  it("is killed with all it started when its guard is killed", async () => {
    const { agent, launchId } = await start(node(`${escapee} setInterval(() => {}, 1000);`));
    await until(() => lines.length > 0, "the child");
    process.kill(agent.guardPid, "SIGKILL");
    const end = await agent.gone;
    expect(end).toMatchObject({ exit: { code: null, signal: "SIGKILL" }, guardLost: true, complete: true });
    await untilNothingOf(launchId);
    expect(zombiesOf(process.pid)).toEqual([]);
  });

  it("is not reached by signals to its guard but SIGKILL", async () => {
    const { agent } = await start(["/bin/sleep", "1000"]);
    await until(() => ignoresSignals(agent.guardPid), "the guard");
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"] as const)
      process.kill(agent.guardPid, signal);
    process.kill(agent.guardPid, "SIGSTOP");
    await until(() => stateOf(agent.guardPid) === "T", "the guard stops");
    await until(() => stateOf(agent.pid) === "S", "the agent lives");
    agent.kill();
    await agent.exited;
    process.kill(agent.guardPid, "SIGCONT");
    expect(await agent.gone).toMatchObject({ guardLost: false, complete: true });
  });

  it("needs no guard that comes to an end", async () => {
    const clock = createManualClock();
    const { agent, launchId } = await start(node(`${escapee} setInterval(() => {}, 1000);`), { clock });
    await until(() => lines.length > 0, "the child");
    process.kill(agent.guardPid, "SIGSTOP");
    agent.kill();
    await agent.exited;
    clock.advance(5000);
    expect(await agent.gone).toMatchObject({ complete: true });
    await untilNothingOf(launchId);
  });

  it("may write as much as it likes: lines come in parts, and the tail stays short", async () => {
    const script = `
      const write = (stream, text) => require("node:fs").writeSync(stream, text);
      for (let line = 0; line < 2000; line++) write(2, "x".repeat(9999) + "\\n");
      write(2, "\\u001b[31mthe end\\u202e\\n");`;
    const { agent } = await start(node(script), {
      limits: { maxOutputLineLength: 4000, maxStderrBytes: 100 },
    });
    const end = await agent.gone;
    expect(lines.length).toBe(2000 * 3 + 1);
    expect(Math.max(...lines.map((line) => line.length))).toBe(4000 + "stderr: ".length);
    expect(end.stderrTail.length).toBeLessThanOrEqual(100);
    expect(end.stderrTail).toContain("the end");
    expect(end.stderrTail).not.toContain("\u001b");
    expect(end.stderrTail).not.toContain("\u202e");
  });
});
