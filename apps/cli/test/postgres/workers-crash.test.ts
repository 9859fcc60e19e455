import { fileURLToPath } from "node:url";
import { describe, expect, inject, it } from "vitest";
import { isNightly } from "../../../../scripts/lib/nightly.ts";
import type {} from "../../../../scripts/lib/postgres-setup.ts";
import { makeWorkspace, startProgram } from "../support/harness.ts";

const count = isNightly ? 200 : 2;
const timeoutMs = isNightly ? 1_800_000 : 240_000;

const script = fileURLToPath(new URL("../../../../scripts/crash/crash.mjs", import.meta.url));

/** Runs a campaign that must find no violation, and gives what it printed. */
const kill = async (campaign: string): Promise<string> => {
  const cwd = await makeWorkspace();
  const args = ["--only", campaign, "--kills", String(count), "--seed", "20261124", "--lanes", "1"];
  const env = { HARNESS_TEST_POSTGRES: inject("postgresUrl") };
  const { code, stdout } = await startProgram(process.execPath, [script, ...args], { cwd, env }).ended;
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("violations: 0") });
  return stdout;
};

describe("kill -9 of one of three workers", () => {
  it.each(["sqlite", "postgres"])(
    "loses, doubles and reorders nothing: %s",
    async (engine) => {
      const stdout = await kill(`workers-${engine}`);
      const kills = Number(/kills: (\d+)/.exec(stdout)?.[1]);
      expect(kills).toBeGreaterThanOrEqual(count);
    },
    timeoutMs,
  );
});

describe("kill -9 of hubs that share a database", () => {
  it(
    "leaves one effect for each answer at most",
    async () => {
      await kill("hub-postgres");
    },
    timeoutMs,
  );
});
