// Tries the property tests on new random cases: npm run properties
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { repositoryRoot } from "./lib/root.mjs";
import { run } from "./lib/run.mjs";

const git = await run("git", ["ls-files", "*.test.ts"], { cwd: repositoryRoot });
const files = git.stdout
  .split("\n")
  .filter((path) => path !== "" && readFileSync(join(repositoryRoot, path), "utf8").includes("fast-check"));
const { code } = await run(process.execPath, ["node_modules/vitest/vitest.mjs", "run", ...files], {
  cwd: repositoryRoot,
  env: { HARNESS_PROPERTIES: "random" },
  timeoutMs: 1_800_000,
  inherit: true,
});
process.exitCode = code;
