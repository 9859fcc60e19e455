import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import type { Reporter, TestModule, Vitest } from "vitest/node";

/** Where the skipped tests of the last run lie, from the root of the repository. */
const skipsFile = ".cache/skips.json";

/** Writes which tests were skipped, and why: the note of `skip("note")`, or that it has no note. */
export default class SkipsReporter implements Reporter {
  #root = process.cwd();

  onInit(vitest: Vitest): void {
    this.#root = vitest.config.root;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const skips = modules.flatMap((module) =>
      [...module.children.allTests("skipped")].map((test) => {
        const result = test.result();
        return {
          file: relative(this.#root, module.moduleId),
          name: test.fullName,
          reason: (result.state === "skipped" ? result.note : undefined) ?? "no reason given",
        };
      }),
    );
    const file = resolve(this.#root, skipsFile);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `${JSON.stringify(skips, null, 2)}\n`);
  }
}
