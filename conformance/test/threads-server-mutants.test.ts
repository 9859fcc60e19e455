import { describe, expect, it } from "vitest";
import { startReferenceThreads } from "../mutants/reference-threads.ts";
import { threadsMutants } from "../mutants/threads-mutants.ts";
import { weakChecks } from "../mutants/weak-checks.ts";
import { loadSuite, runSuite } from "../src/index.ts";
import { citedIds } from "../src/scenario/cited-ids.ts";
import { failuresOf, patient, unmetIds } from "./support.ts";

const suite = loadSuite("threads-server");
const limits = { withinMs: 250, maxUnmetWaits: 2, maxParallel: 8 };

describe("the reference thread server", () => {
  it("conforms", async () => {
    const target = {
      kind: "module",
      start: startReferenceThreads(),
      name: "reference",
      transport: "unix",
    } as const;
    expect(failuresOf(await runSuite({ suite, target, limits: patient }))).toEqual([]);
  });
});

describe("a mutant", () => {
  const killed = new Map<string, string[]>();

  it.each(threadsMutants.map((mutant) => [mutant.name, mutant] as const))(
    "that %s is noticed",
    async (name, mutant) => {
      const start = startReferenceThreads(mutant);
      const target = { kind: "module", start, name, transport: "unix" } as const;
      const ids = unmetIds(await runSuite({ suite, target, limits, only: mutant.kills }));
      killed.set(name, ids);
      expect(ids).toEqual(expect.arrayContaining([...mutant.kills]));
    },
  );

  it("is noticed by each check, but for those that are known as weak", () => {
    const noticed = new Set([...killed.values()].flat());
    expect([...citedIds(suite)].filter((id) => !noticed.has(id)).sort()).toEqual(
      weakChecks["threads-server"],
    );
  });
});
