import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { temporaryDirectory, until } from "../../../test-kit/test-kit.ts";
import type { ShownCommand } from "../src/background-commands.ts";
import { startCommand } from "../src/run-command.ts";
import { Fixture, failure, failureCode, run } from "./support/fixture.ts";
import { isRunning } from "./support/processes.ts";

let fixture: Fixture;
beforeEach(async () => {
  fixture = await Fixture.create();
});
afterEach(async () => {
  const { commands } = (await fixture.call("commands", {})) as unknown as { commands: ShownCommand[] };
  for (const { id } of commands) await fixture.call("command_stop", { id });
  await fixture[Symbol.asyncDispose]();
});

const start = async (command: string, more: object = {}) =>
  (await fixture.call("bash", { command, background: true, ...more })) as unknown as ShownCommand;
const look = async (id: string, waitMs?: number) =>
  (await fixture.call("commands", waitMs === undefined ? { id } : { id, waitMs })) as unknown as ShownCommand;

describe("a command in the background", () => {
  it("outlives its call, is seen with its output so far, and is waited for", async () => {
    const { id, running } = await start("echo one; while [ ! -e go ]; do sleep 0.02; done; echo two; exit 3");
    expect(running).toBe(true);
    await until(async () => (await look(id)).stdout === "one\n");
    expect(await look(id)).toMatchObject({ id, running: true, stdout: "one\n" });
    await fixture.put("go", "");
    expect(await look(id, 60_000)).toMatchObject({ running: false, exitCode: 3, stdout: "one\ntwo\n" });
  });

  it("does not begin with the user's .bashrc, as bash does where its input is a socket", async () => {
    await using home = await temporaryDirectory();
    const HOME = home.path;
    await writeFile(join(HOME, ".bashrc"), "echo from the .bashrc\n");
    const bounds = { killGraceMs: 1000, maxOutputBytes: 1000, hasInput: true };
    const env = { PATH: process.env.PATH ?? "", HOME };
    const { done } = await startCommand({ command: "echo one", cwd: HOME, env, ...bounds });
    expect(await done).toMatchObject({ ended: "exit", exitCode: 0, stdout: "one\n", stderr: "" });
  });

  it("is not ended when the call that started it is cancelled later, nor when waiting for it is", async () => {
    const { id } = await start("sleep 600");
    const waiting = new AbortController();
    const prepared = await fixture.prepare("commands", { id, waitMs: 600_000 });
    const seen = run(prepared, { signal: waiting.signal });
    waiting.abort();
    await Promise.allSettled([seen]);
    expect(await look(id)).toMatchObject({ running: true });
  });

  it("is written to, and its input is closed", async () => {
    const { id } = await start("cat; echo end");
    await fixture.call("command_input", { id, text: "a\n" });
    await until(async () => (await look(id)).stdout === "a\n");
    await fixture.call("command_input", { id, text: "b\n", end: true });
    expect(await look(id, 60_000)).toMatchObject({ running: false, exitCode: 0, stdout: "a\nb\nend\n" });
    expect(await failure(fixture.call("command_input", { id, text: "c\n" }))).toMatchObject({
      code: "tool.failed",
      message: "the command takes no more input",
    });
  });

  it("is stopped with what it started; stopping again says the same", async () => {
    const { id } = await start("sleep 600 & echo $! > pid; wait");
    await until(() => existsSync(fixture.path("pid")));
    await until(async () => (await fixture.text("pid")).endsWith("\n"));
    const pid = Number(await fixture.text("pid"));
    expect(isRunning(pid)).toBe(true);
    const stopped = { id, running: false, exitCode: null, signal: "SIGTERM", stopped: true };
    expect(await fixture.call("command_stop", { id })).toMatchObject(stopped);
    expect(isRunning(pid)).toBe(false);
    expect(await fixture.call("command_stop", { id })).toMatchObject(stopped);
  });

  it("belongs to its conversation: another one neither sees nor stops it", async () => {
    const context = { project_root: fixture.directory };
    const of = (correlationId: string) => ({ context, correlationId });
    const call = (name: string, input: object, thread: string) => fixture.agent.call(name, input, of(thread));
    const started = (await call(
      "bash",
      { command: "sleep 600", background: true },
      "one",
    )) as unknown as ShownCommand;
    expect(await call("commands", {}, "two")).toEqual({ commands: [] });
    expect(await failureCode(call("command_stop", { id: started.id }, "two"))).toBe("tool.not_found");
    expect(await failureCode(call("commands", { id: started.id }, "two"))).toBe("tool.not_found");
    expect(await call("command_stop", { id: started.id }, "one")).toMatchObject({ stopped: true });
  });

  it("is told of once by ended_commands, and not if its end was seen already", async () => {
    const context = { project_root: fixture.directory };
    const ended = async () => {
      const { commands } = (await fixture.agent.call("ended_commands", {}, { context })) as unknown as {
        commands: { id: string; state: string }[];
      };
      return commands;
    };
    const { id } = await start("while [ ! -e go ]; do sleep 0.02; done; exit 4");
    expect(await ended()).toEqual([{ id, state: "running" }]);
    await fixture.put("go", "");
    let seen = await ended();
    await until(async () => {
      if (seen[0]?.state === "running") seen = await ended();
      return seen[0]?.state !== "running";
    });
    expect(seen).toEqual([{ id, state: "ended", exitCode: 4 }]);
    expect(await ended()).toEqual([{ id, state: "told", exitCode: 4 }]);
    const { id: looked } = await start("exit 5");
    expect((await look(looked, 60_000)).exitCode).toBe(5);
    expect((await ended()).at(-1)).toEqual({ id: looked, state: "told", exitCode: 5 });
  });

  it("is one of at most sixteen that run", async () => {
    const started = await Promise.all(Array.from({ length: 16 }, () => start("sleep 600")));
    expect(started.every(({ running }) => running)).toBe(true);
    expect(await failureCode(start("sleep 600"))).toBe("tool.busy");
  });

  it.each([
    ["commands", { id: "" }],
    ["commands", { id: "x", waitMs: 600_001 }],
    ["command_input", { id: "x" }],
    ["command_input", { id: "x", text: "\ud800" }],
    ["command_stop", {}],
    ["bash", { command: "true", background: "yes" }],
  ] as const)("%s refuses %j", async (name, input) => {
    expect(await failureCode(fixture.prepare(name, input))).toBe("tool.invalid_input");
  });

  it.each([
    ["commands", { id: "command_99" }],
    ["command_input", { id: "command_99", text: "x" }],
    ["command_stop", { id: "command_99" }],
  ] as const)("%s says that there is no such command", async (name, input) => {
    expect(await failureCode(fixture.call(name, input))).toBe("tool.not_found");
  });
});
