import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const script = fileURLToPath(new URL("../../../../scripts/faults/faults.mjs", import.meta.url));

const run = async (...args: string[]) => {
  const child = spawn(process.execPath, [script, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  const exited = once(child, "exit");
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = await exited;
  return { code, stdout, stderr };
};

/** The cells of each row of the table, its head left out. */
const rowsOf = (stdout: string): string[][] =>
  stdout
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .map((line) => line.slice(2, -2).split(" | "))
    .slice(2);

describe("the fault matrix", () => {
  it("accounts for every call, leaves no process and no directory, whatever is killed: 16 times", async () => {
    const { code, stdout, stderr } = await run("--rounds", "16", "--seed", "3", "--lanes", "2");
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: expect.stringContaining("faults: 16, violations: 0 (seed 3)"),
      stderr: "",
    });
    const rows = rowsOf(stdout);
    const all = rows.pop() ?? [];
    expect([...new Set(rows.map(([fault]) => fault))]).toEqual([
      "agent killed",
      "agent stopped",
      "busy loop",
      "socket cut",
      "guard killed",
      "agent and guard killed",
      "core killed",
      "core and guards killed",
    ]);
    expect(new Set(rows.map(([, step]) => step)).size).toBe(8);
    const [, , times, codes, unaccounted, orphans, restarts] = all;
    expect({ times, unaccounted, orphans }).toEqual({ times: "16", unaccounted: "0", orphans: "0" });
    expect(codes).toMatch(/agent\.lost \d+/);
    expect(codes).toMatch(/interrupted \d+/);
    expect(codes).toMatch(/succeeded \d+/);
    expect(Number(restarts)).toBeGreaterThanOrEqual(14);
  }, 120_000);

  it("refuses numbers that are none", async () => {
    expect(await run("--rounds", "0")).toEqual({
      code: 2,
      stdout: "",
      stderr: "faults: --rounds N, --lanes N and --seed N are whole numbers\n",
    });
  });
});
