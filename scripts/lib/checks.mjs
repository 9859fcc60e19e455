import { join } from "node:path";
import { compilerArguments } from "./compile.mjs";
import { repositoryRoot } from "./root.mjs";

const tool = (path) => join(repositoryRoot, "node_modules", path);
const script = (name) => join(repositoryRoot, "scripts", name);

/** What the test run leaves in `.cache`, from the root of the repository. */
export const testReport = ".cache/vitest.json";
export const skipReport = ".cache/skips.json";

/**
 * The checks of `npm test`: Node arguments by name. Those of one stage run two at a time; a stage starts when the
 * one before it is done, whatever it found.
 */
export const stages = [
  {
    // The two that take longest first, so that neither is left over for one processor.
    types: compilerArguments("tsconfig.json"),
    typedoc: [script("docs.mjs"), "--only", "sources"],
    lint: [tool("@biomejs/biome/bin/biome"), "ci", "--error-on-warnings", "--colors=off", "."],
    layers: [script("check-layers.mjs")],
    knip: [tool("knip/bin/knip.js"), "--no-progress", "--no-config-hints"],
    snippets: [script("check-snippets.mjs")],
  },
  {
    vitest: [
      tool("vitest/vitest.mjs"),
      "run",
      // The other projects are those of the nightly run.
      "--project=all",
      "--reporter=default",
      "--reporter=json",
      `--outputFile.json=${testReport}`,
      "--reporter=./test-kit/skips-reporter.ts",
    ],
  },
  { packages: [script("check-packages.mjs")] },
];
