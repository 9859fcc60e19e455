import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { isAlive, isGone } from "../src/index.ts";
import { processStart } from "../src/process-identity.ts";

const isLinux = process.platform === "linux";

/** A child that runs until its input ends. */
const startChild = async () => {
  const child = spawn(process.execPath, ["-e", "process.stdin.resume(); console.log('up')"]);
  await once(child.stdout, "data");
  return { child, pid: child.pid ?? expect.fail("no pid") };
};

describe("a process", () => {
  it("is alive until it has ended, and is gone from then on", async () => {
    const { child, pid } = await startChild();
    const started = processStart(pid);
    expect([isAlive(pid), isGone({ pid, started }), isGone({ pid })]).toEqual([true, false, false]);
    child.kill("SIGKILL");
    await once(child, "close");
    expect([isAlive(pid), isGone({ pid, started }), processStart(pid)]).toEqual([false, true, undefined]);
  });

  it.runIf(isLinux)("is another one when its id began at another time", () => {
    const started = processStart(process.pid);
    expect(started).toMatch(/^\d+$/);
    expect(isGone({ pid: process.pid, started })).toBe(false);
    expect(isGone({ pid: process.pid, started: `${started}1` })).toBe(true);
  });

  it.runIf(isLinux)("that ended and was not waited for is gone", async () => {
    // The shell starts a child that ends, and becomes a program that waits for no child.
    const parent = spawn("/bin/sh", ["-c", "sh -c 'echo $$' & exec sleep 60"]);
    const [line] = await once(parent.stdout, "data");
    const pid = Number(String(line).trim());
    await expect.poll(() => isGone({ pid })).toBe(true);
    expect(isAlive(pid)).toBe(true);
    expect(processStart(pid)).toBeUndefined();
    parent.kill("SIGKILL");
    await once(parent, "close");
  });

  it.each([0, -1, 1.5, Number.NaN, 2 ** 53])("has no id such as %d", (pid) => {
    expect([isAlive(pid), isGone({ pid })]).toEqual([false, true]);
  });
});
