import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { isNightly } from "../../../scripts/lib/nightly.ts";
import { binPath, makeWorkspace, startProgram } from "./support/harness.ts";

const script = fileURLToPath(new URL("../../../scripts/crash/crash.mjs", import.meta.url));

describe("kill -9 of the server", () => {
  it(
    "loses nothing that was told, runs nothing twice and leaves nothing in the way",
    async () => {
      expect(existsSync(binPath)).toBe(true);
      const cwd = await makeWorkspace();
      const kills = isNightly ? 200 : 3;
      const args = [script, "--only", "threads", "--kills", String(kills), "--seed", "20261122"];
      const { code, stdout } = await startProgram(process.execPath, args, { cwd }).ended;
      expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("violations: 0") });
      const figures = Object.fromEntries(
        [...stdout.matchAll(/(\w+): (\d+)/g)].map(([, name, value]) => [name, Number(value)]),
      );
      expect(figures).toMatchObject({ kills, restarts: kills, violations: 0 });
      expect(figures.events).toBeGreaterThan(10 * kills - 1);
      expect(figures.actions).toBeGreaterThan(0);
    },
    isNightly ? 1_800_000 : 240_000,
  );
});

describe("kill -9 of the hub and its agent", () => {
  it(
    "loses no answer, and gives each at most one effect",
    async () => {
      const cwd = await makeWorkspace();
      const count = isNightly ? 100 : 3;
      const args = [script, "--only", "hub", "--kills", String(count), "--seed", "22", "--lanes", "1"];
      const { code, stdout } = await startProgram(process.execPath, args, { cwd }).ended;
      expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("violations: 0") });
      const [, kills, effects] = /kills: (\d+), .*effects: (\d+)/.exec(stdout) ?? [];
      expect(Number(kills)).toBe(count);
      expect(Number(effects)).toBeGreaterThan(0);
    },
    isNightly ? 1_800_000 : 240_000,
  );
});

describe.each(["summaries-files", "summaries-sqlite"])("kill -9 around a summary (%s)", (kind) => {
  it(
    "pays none again that is stored, another one once more at most, and drops nothing in secret",
    async () => {
      const cwd = await makeWorkspace();
      const count = isNightly ? 100 : 4;
      const args = [script, "--only", kind, "--kills", String(count), "--seed", "5", "--lanes", "1"];
      const { code, stdout } = await startProgram(process.execPath, args, { cwd }).ended;
      expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("violations: 0") });
      const [, kills, summaries] = /kills: (\d+), .*summaries: (\d+)/.exec(stdout) ?? [];
      expect(Number(kills)).toBeGreaterThanOrEqual(count);
      expect(Number(summaries)).toBeGreaterThan(0);
    },
    isNightly ? 1_800_000 : 240_000,
  );
});
