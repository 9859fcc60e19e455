import { describe, expect, it } from "vitest";
import { startReferenceThreadClient } from "../mutants/reference-thread-client.ts";
import { threadClientMutants } from "../mutants/thread-client-mutants.ts";
import { weakChecks } from "../mutants/weak-checks.ts";
import { loadSuite, runSuite } from "../src/index.ts";
import { citedIds } from "../src/scenario/cited-ids.ts";
import { failuresOf, patient, unmetIds } from "./support.ts";

const suite = loadSuite("threads-client");
const limits = { withinMs: 250, maxUnmetWaits: 2, maxParallel: 8 };

describe("the reference client of threads", () => {
  it("conforms", async () => {
    const target = {
      kind: "module",
      start: startReferenceThreadClient(),
      name: "reference",
      transport: "unix",
    } as const;
    expect(failuresOf(await runSuite({ suite, target, limits: patient }))).toEqual([]);
  });
});

describe("a mutant", () => {
  const killed = new Map<string, string[]>();

  it.each(threadClientMutants.map((mutant) => [mutant.name, mutant] as const))(
    "that %s is noticed",
    async (name, mutant) => {
      const start = startReferenceThreadClient(mutant);
      const target = { kind: "module", start, name, transport: "unix" } as const;
      const ids = unmetIds(await runSuite({ suite, target, limits, only: mutant.kills }));
      killed.set(name, ids);
      expect(ids).toEqual(expect.arrayContaining([...mutant.kills]));
    },
  );

  it("is noticed by each check, but for those that are known as weak", () => {
    const noticed = new Set([...killed.values()].flat());
    expect([...citedIds(suite)].filter((id) => !noticed.has(id)).sort()).toEqual(
      weakChecks["threads-client"],
    );
  });
});
