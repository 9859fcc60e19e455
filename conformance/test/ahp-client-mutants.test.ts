import { describe, expect, it } from "vitest";
import { agentMutants } from "../mutants/agent-mutants.ts";
import { startReferenceAgent } from "../mutants/reference-agent.ts";
import { weakChecks } from "../mutants/weak-checks.ts";
import { loadSuite, runSuite } from "../src/index.ts";
import { citedIds } from "../src/scenario/cited-ids.ts";
import { failuresOf, patient, unmetIds } from "./support.ts";

const suite = loadSuite("ahp-client");
const limits = { withinMs: 250, maxUnmetWaits: 2, maxParallel: 8 };

describe("the reference agent", () => {
  it.each(["unix", "http", "ws"] as const)("conforms over %s", async (transport) => {
    const target = { kind: "module", start: startReferenceAgent(), name: "reference", transport } as const;
    const report = await runSuite({ suite, target, limits: patient });
    expect(failuresOf(report)).toEqual([]);
  });
});

describe("a mutant", () => {
  const killed = new Map<string, string[]>();

  it.each(agentMutants.map((mutant) => [mutant.name, mutant] as const))(
    "that %s is noticed",
    async (name, mutant) => {
      const start = startReferenceAgent(mutant);
      const target = { kind: "module", start, name, transport: mutant.transport ?? "unix" } as const;
      const ids = unmetIds(await runSuite({ suite, target, limits, only: mutant.kills }));
      killed.set(name, ids);
      expect(ids).toEqual(expect.arrayContaining([...mutant.kills]));
    },
  );

  it("is noticed by each check, but for those that are known as weak", () => {
    const noticed = new Set([...killed.values()].flat());
    expect([...citedIds(suite)].filter((id) => !noticed.has(id)).sort()).toEqual(weakChecks["ahp-client"]);
  });
});
