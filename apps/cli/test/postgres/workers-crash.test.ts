import { fileURLToPath } from "node:url";
import { describe, expect, inject, it } from "vitest";
import type {} from "../../../../scripts/lib/postgres-setup.ts";
import { makeWorkspace, startProgram } from "../support/harness.ts";

const script = fileURLToPath(new URL("../../../../scripts/crash/crash.mjs", import.meta.url));

describe("kill -9 of one of three workers", () => {
  it.each(["sqlite", "postgres"])(
    "loses, doubles and reorders nothing: %s, 8 times",
    async (engine) => {
      const cwd = await makeWorkspace();
      const args = [
        script,
        "--only",
        `workers-${engine}`,
        "--kills",
        "8",
        "--seed",
        "20261124",
        "--lanes",
        "1",
      ];
      const env = { HARNESS_TEST_POSTGRES: inject("postgresUrl") };
      const { code, stdout } = await startProgram(process.execPath, args, { cwd, env }).ended;
      expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("violations: 0") });
      const kills = Number(/kills: (\d+)/.exec(stdout)?.[1]);
      expect(kills).toBeGreaterThanOrEqual(8);
    },
    240_000,
  );
});

describe("kill -9 of hubs that share a database", () => {
  it.each([["hub-postgres", 3]])(
    "leaves one effect for each answer at most: %s, %i times",
    async (kind, kills) => {
      const cwd = await makeWorkspace();
      const args = [script, "--only", kind, "--kills", String(kills), "--seed", "20261124", "--lanes", "1"];
      const env = { HARNESS_TEST_POSTGRES: inject("postgresUrl") };
      const { code, stdout } = await startProgram(process.execPath, args, { cwd, env }).ended;
      expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("violations: 0") });
    },
    240_000,
  );
});
