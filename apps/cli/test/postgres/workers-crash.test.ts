import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { isNightly } from "../../../../test-kit/nightly.ts";
import { postgresUrl } from "../../../../test-kit/postgres.ts";
import { makeWorkspace, startProgram } from "../support/harness.ts";

const count = isNightly ? 200 : 2;

const script = fileURLToPath(new URL("../../../../scripts/crash/crash.mjs", import.meta.url));

/** Of three workers of one store, one is killed; of hubs that share a database, each answer has one effect at most. Each night: all. */
const campaigns = isNightly ? ["workers-sqlite", "workers-postgres", "hub-postgres"] : ["workers-postgres"];

describe("kill -9 of one of several processes with one store", () => {
  it.each(campaigns)(
    "loses, doubles and reorders nothing: %s",
    async (campaign) => {
      const cwd = await makeWorkspace();
      const args = ["--only", campaign, "--kills", String(count), "--seed", "20261124", "--lanes", "1"];
      const env = { HARNESS_TEST_POSTGRES: postgresUrl };
      const { code, stdout } = await startProgram(process.execPath, [script, ...args], { cwd, env }).ended;
      expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("violations: 0") });
      expect(Number(/kills: (\d+)/.exec(stdout)?.[1])).toBeGreaterThanOrEqual(count);
    },
    isNightly ? 1_800_000 : 240_000,
  );
});
