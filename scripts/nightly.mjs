// What a check of a change has no time for: node scripts/nightly.mjs NAME [ARGUMENT…]
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { repositoryRoot } from "./lib/root.mjs";
import { run } from "./lib/run.mjs";

const filesWith = async (words) => {
  const { stdout } = await run("git", ["ls-files", "*.test.ts"], { cwd: repositoryRoot });
  const has = (path) => words.some((word) => readFileSync(join(repositoryRoot, path), "utf8").includes(word));
  return stdout.split("\n").filter((path) => path !== "" && has(path));
};

/** The arguments of vitest, by what is tried. */
const nights = {
  /** The property tests, on new random cases and many of them; every place of a fault; many kills. */
  properties: () => filesWith(["fast-check", "test-kit/nightly.ts", "changes/describe-changes.ts"]),
  /** Every page in a browser. */
  pages: () => ["--project", "pages"],
  /** The other major of the AI SDK. */
  "ai-7": () => ["--project", "ai-7"],
  /** Coding agents of other vendors. */
  "agent-hosts": () => ["--project", "agent-hosts"],
};

const [name = "", ...more] = process.argv.slice(2);
if (!Object.hasOwn(nights, name)) {
  process.stderr.write(`nightly: name one of ${Object.keys(nights).join(", ")}\n`);
  process.exit(2);
}
const { code } = await run(
  process.execPath,
  ["node_modules/vitest/vitest.mjs", "run", ...(await nights[name]()), ...more],
  {
    cwd: repositoryRoot,
    env: { HARNESS_NIGHTLY: "1", HARNESS_TEST_HOSTS: "1" },
    timeoutMs: 3_600_000,
    inherit: true,
  },
);
process.exitCode = code;
