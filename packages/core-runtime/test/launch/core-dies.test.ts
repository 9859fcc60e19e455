import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sourceBundle } from "../../../../test-kit/source-bundle.ts";
import { killProcess, nextTurn, until } from "../../../../test-kit/test-kit.ts";
import type { LaunchedAgent } from "../../src/index.ts";
import { AgentDirectories } from "./support/agent-directory.ts";
import { isAlive, processesWith, untilNothingOf, zombiesOf } from "./support/processes.ts";

const bundle = await sourceBundle(new URL("./fixtures/core-entry.ts", import.meta.url));

let agents: AgentDirectories;
let base: string;
let running: ChildProcess[];
beforeEach(async () => {
  agents = new AgentDirectories();
  base = await agents.empty();
  running = [];
});
afterEach(async () => {
  for (const child of running) child.kill("SIGKILL");
  for (const pid of processesWith(base)) if (isAlive(pid)) process.kill(pid, "SIGKILL");
  await agents.remove();
  await until(() => zombiesOf(process.pid).length === 0, "no zombie");
});

interface Told {
  readonly socketPath: string;
  readonly agents: readonly LaunchedAgent[];
}

/** Starts a core in a process of its own. */
const start = (plan: { agents: readonly string[]; end?: string }) => {
  const argument = JSON.stringify({ ...plan, socketDirectory: base });
  const child = spawn(process.execPath, [bundle, argument], { stdio: ["ignore", "pipe", "inherit"] });
  running.push(child);
  const told = once(createInterface(child.stdout), "line").then(
    ([line]) => JSON.parse(line as string) as Told,
  );
  return { child, told, exited: once(child, "exit") };
};

const launchIdsOf = ({ agents: told }: Told): string[] => told.map(({ launchId }) => launchId ?? "none");
const coreDirectories = () => readdir(base);

/** The launches that cores noted and did not see the end of. */
const notedLaunches = async (): Promise<string[]> => {
  const names = await readdir(base, { recursive: true });
  return names.filter((name) => name.includes("/launch-")).map((name) => name.replace(/^.*\/launch-/, ""));
};

/** What misbehaves in each way that makes it hard to end. */
const allModes = [["--fork-bare"], ["--fork"], ["--ignore-term", "--fork"], ["--stay"]];

const makeAll = () => Promise.all(allModes.map((modes) => agents.make(modes)));

describe("when a core is gone", () => {
  it("by SIGKILL, so are its agents and all they started, and the next core removes its directory", async () => {
    const made = await makeAll();
    const directories = made.map(({ directory }) => directory);
    const { child, told, exited } = start({ agents: directories });
    const first = await told;
    const launchIds = launchIdsOf(first);
    // An agent that does not run cannot do anything about its end either.
    killProcess(first.agents[0]?.pid, "SIGSTOP");
    expect(processesWith(launchIds[1] ?? "none").length).toBe(3);
    child.kill("SIGKILL");
    await exited;
    for (const launchId of launchIds) await untilNothingOf(launchId);
    await untilNothingOf(first.socketPath);
    expect(await coreDirectories()).toEqual([dirname(first.socketPath).slice(base.length + 1)]);

    const next = start({ agents: [] });
    const second = await next.told;
    expect(existsSync(first.socketPath)).toBe(false);
    expect(await coreDirectories()).toEqual([dirname(second.socketPath).slice(base.length + 1)]);
  });

  it("by process.exit, so are its agents", async () => {
    const made = await makeAll();
    const { told, exited } = start({
      agents: made.map(({ directory }) => directory),
      end: "exit_when_ready",
    });
    const launchIds = launchIdsOf(await told);
    expect(await exited).toEqual([0, null]);
    for (const launchId of launchIds) await untilNothingOf(launchId);
  });

  it.each([
    ["has its first process", "killed_at_spawn"],
    ["has noted its first launch", undefined],
  ])("in the moment in which it %s, none of its agents lives on", async (_, end) => {
    const made = await makeAll();
    const directories = made.map(({ directory }) => directory);
    for (let round = 0; round < 2; round++) {
      const { child, exited } = start({ agents: directories, ...(end !== undefined && { end }) });
      if (end === undefined) {
        while ((await notedLaunches()).length === 0) await nextTurn();
        child.kill("SIGKILL");
      }
      expect(await exited).toEqual([null, "SIGKILL"]);
      const launchIds = await notedLaunches();
      expect(launchIds.length).toBeGreaterThanOrEqual(1);
      for (const launchId of launchIds) await untilNothingOf(launchId);
      await untilNothingOf(base);
      for (const name of await coreDirectories()) await rm(join(base, name), { recursive: true });
    }
  });

  it("with its guards at the same time, the next core kills what they left", async () => {
    const made = await agents.make(["--fork"]);
    const { child, told, exited } = start({ agents: [made.directory] });
    const [agent] = (await told).agents;
    const launchId = agent?.launchId ?? "none";
    const guard = processesWith("harnesskit-guard").find((pid) => processesWith(launchId).includes(pid)) ?? 0;
    // Neither can do its work before both are dead.
    child.kill("SIGSTOP");
    process.kill(guard, "SIGKILL");
    child.kill("SIGKILL");
    await exited;
    await until(() => !isAlive(guard), "the guard");
    expect(isAlive(agent?.pid ?? 0)).toBe(true);
    await start({ agents: [] }).told;
    await untilNothingOf(launchId);
  });
});
