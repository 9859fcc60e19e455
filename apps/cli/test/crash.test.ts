import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { binPath, makeWorkspace, startProgram } from "./support/harness.ts";

const script = fileURLToPath(new URL("../../../scripts/crash/crash.mjs", import.meta.url));

describe("kill -9 of the server", () => {
  it("loses nothing that was told, runs nothing twice and leaves nothing in the way: 25 times", async () => {
    expect(existsSync(binPath)).toBe(true);
    const cwd = await makeWorkspace();
    const args = [script, "--only", "threads", "--kills", "25", "--seed", "20261122"];
    const { code, stdout } = await startProgram(process.execPath, args, { cwd }).ended;
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("violations: 0") });
    const figures = Object.fromEntries(
      [...stdout.matchAll(/(\w+): (\d+)/g)].map(([, name, value]) => [name, Number(value)]),
    );
    expect(figures).toMatchObject({ kills: 25, restarts: 25, violations: 0 });
    expect(figures.events).toBeGreaterThan(250);
    expect(figures.actions).toBeGreaterThan(2);
  }, 240_000);
});

describe("kill -9 of the hub and its agent", () => {
  it("loses no answer, and gives each at most one effect: 8 times", async () => {
    const cwd = await makeWorkspace();
    const args = [script, "--only", "hub", "--kills", "8", "--seed", "22", "--lanes", "1"];
    const { code, stdout } = await startProgram(process.execPath, args, { cwd }).ended;
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("violations: 0") });
    const [, kills, effects] = /kills: (\d+), .*effects: (\d+)/.exec(stdout) ?? [];
    expect(Number(kills)).toBe(8);
    expect(Number(effects)).toBeGreaterThan(0);
  }, 240_000);
});
