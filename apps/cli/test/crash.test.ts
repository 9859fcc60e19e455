import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { isNightly } from "../../../test-kit/nightly.ts";
import { makeWorkspace, startProgram } from "./support/harness.ts";

const script = fileURLToPath(new URL("../../../scripts/crash/crash.mjs", import.meta.url));

/** Runs a campaign that must find no violation, and gives its figures. */
const kill = async (campaign: string, kills: number, seed: number) => {
  const counts = ["--kills", String(kills), "--seed", String(seed), "--lanes", "1"];
  const args = [script, "--only", campaign, ...counts];
  const { code, stdout } = await startProgram(process.execPath, args, { cwd: await makeWorkspace() }).ended;
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("violations: 0") });
  return Object.fromEntries(
    [...stdout.matchAll(/(\w+): (\d+)/g)].map(([, name, value]) => [name, Number(value)]),
  );
};

describe("kill -9", { timeout: isNightly ? 1_800_000 : 240_000 }, () => {
  it("of the server loses nothing that was told, runs nothing twice and leaves nothing in the way", async () => {
    const kills = isNightly ? 200 : 2;
    const figures = await kill("threads", kills, 20261122);
    expect(figures).toMatchObject({ kills, restarts: kills, violations: 0 });
    expect(figures.events).toBeGreaterThan(10 * kills - 1);
    expect(figures.actions).toBeGreaterThan(0);
  });

  // A check kills a hub where one guards an agent: guard-acp.test.ts.
  it.each(isNightly ? ["hub"] : [])(
    "of the %s and its agent loses no answer, and gives each at most one effect",
    async (campaign) => {
      const figures = await kill(campaign, 100, 22);
      expect(figures.kills).toBe(100);
      expect(figures.effects).toBeGreaterThan(0);
    },
  );
});
