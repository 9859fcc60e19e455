import { describe, expect, it } from "vitest";
import { mutantLimits as limits, mutantRoles } from "../mutants/mutant-roles.ts";
import { weakChecks } from "../mutants/weak-checks.ts";
import { loadSuite, runSuite } from "../src/index.ts";
import { citedIds } from "../src/scenario/cited-ids.ts";
import { failuresOf, patient, unmetIds } from "./support.ts";

/** The reference of a role conforms, each mutant of it fails the checks that it names, and each check fails for a mutant. */
export const describeMutants = (role: keyof typeof mutantRoles): void => {
  const suite = loadSuite(role);
  const { reference, transports, mutants } = mutantRoles[role];

  describe(`the reference for ${role}`, () => {
    it.each(transports)("conforms over %s", async (transport) => {
      const target = { kind: "module", start: reference, name: "reference", transport } as const;
      expect(failuresOf(await runSuite({ suite, target, limits: patient }))).toEqual([]);
    });
  });

  describe("a mutant", () => {
    const killed = new Map<string, string[]>();

    it.each(mutants.map((mutant) => [mutant.name, mutant] as const))(
      "that %s is noticed",
      async (name, { start, transport, kills }) => {
        const target = { kind: "module", start, name, transport } as const;
        const ids = unmetIds(await runSuite({ suite, target, limits, only: kills }));
        killed.set(name, ids);
        expect(ids).toEqual(expect.arrayContaining([...kills]));
      },
    );

    it("is noticed by each check, but for those that are known as weak", () => {
      const noticed = new Set([...killed.values()].flat());
      expect([...citedIds(suite)].filter((id) => !noticed.has(id)).sort()).toEqual(weakChecks[role]);
    });
  });
};
