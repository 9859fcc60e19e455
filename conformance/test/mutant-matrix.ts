import { describe, expect, it } from "vitest";
import { weakChecks } from "../mutants/weak-checks.ts";
import { loadSuite, runSuite, type StartModule } from "../src/index.ts";
import { citedIds } from "../src/scenario/cited-ids.ts";
import type { TransportName } from "../src/scenario/step-schema.ts";
import { failuresOf, patient, unmetIds } from "./support.ts";

const limits = { withinMs: 250, maxUnmetWaits: 2, maxParallel: 8 };

type Transport = Exclude<TransportName, "stdio">;

interface Mutant {
  readonly name: string;
  readonly kills: readonly string[];
  readonly transport?: Transport | undefined;
}

interface Matrix<M extends Mutant> {
  readonly role: string;
  /** Starts the reference, or a mutant of it. */
  readonly start: (mutant?: M) => StartModule;
  readonly mutants: readonly M[];
  readonly transports: readonly Transport[];
}

/** The reference of a role conforms, each mutant of it fails the checks that it names, and each check fails for a mutant. */
export const describeMutants = <M extends Mutant>({ role, start, mutants, transports }: Matrix<M>): void => {
  const suite = loadSuite(role);

  describe(`the reference for ${role}`, () => {
    it.each(transports)("conforms over %s", async (transport) => {
      const target = { kind: "module", start: start(), name: "reference", transport } as const;
      expect(failuresOf(await runSuite({ suite, target, limits: patient }))).toEqual([]);
    });
  });

  describe("a mutant", () => {
    const killed = new Map<string, string[]>();

    it.each(mutants.map((mutant) => [mutant.name, mutant] as const))(
      "that %s is noticed",
      async (name, mutant) => {
        const transport = mutant.transport ?? "unix";
        const target = { kind: "module", start: start(mutant), name, transport } as const;
        const ids = unmetIds(await runSuite({ suite, target, limits, only: mutant.kills }));
        killed.set(name, ids);
        expect(ids).toEqual(expect.arrayContaining([...mutant.kills]));
      },
    );

    it("is noticed by each check, but for those that are known as weak", () => {
      const noticed = new Set([...killed.values()].flat());
      expect([...citedIds(suite)].filter((id) => !noticed.has(id)).sort()).toEqual(weakChecks[role]);
    });
  });
};
