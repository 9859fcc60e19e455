import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import type { Reporter, TestCase, TestModule, Vitest } from "vitest/node";

type ClaimingTest = { file: string; name: string; state: "passed" | "failed" | "skipped" | "pending" };

/** Where the claims of the last run lie, from the root of the repository. */
const claimsFile = ".cache/claims.json";

/** Collects what `verifies()` recorded and writes, for each requirement id, the tests that claim it. */
export default class RequirementsReporter implements Reporter {
  #root = process.cwd();

  onInit(vitest: Vitest): void {
    this.#root = vitest.config.root;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const claims: Record<string, ClaimingTest[]> = {};
    for (const module of modules) {
      for (const test of module.children.allTests()) this.#collect(test, claims);
    }
    const sorted = Object.fromEntries(Object.entries(claims).sort(([a], [b]) => a.localeCompare(b, "en")));
    const file = resolve(this.#root, process.env.HARNESSKIT_CLAIMS_FILE ?? claimsFile);
    mkdirSync(dirname(file), { recursive: true });
    const temporary = `${file}.${process.pid}`;
    writeFileSync(temporary, `${JSON.stringify(sorted, null, 2)}\n`);
    renameSync(temporary, file);
  }

  #collect(test: TestCase, claims: Record<string, ClaimingTest[]>): void {
    const { verifies } = test.meta();
    if (!Array.isArray(verifies)) return;
    for (const id of verifies) {
      const tests = claims[id] ?? [];
      tests.push({
        file: relative(this.#root, test.module.moduleId),
        name: test.fullName,
        state: test.result().state,
      });
      claims[id] = tests;
    }
  }
}
