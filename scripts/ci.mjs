import { realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { leftovers, prepareOrdinaryUser } from "./lib/ordinary-user.mjs";
import { repositoryRoot } from "./lib/root.mjs";
import { run, stopChildrenOnSignals } from "./lib/run.mjs";
import { printedCounts, summaryLine } from "./lib/summary.mjs";
import { withTempDir } from "./lib/temp.mjs";

const timeoutMs = 2_400_000;
/** Shows that `npm test` works where nothing but Node is installed, and that `harness` does. */
const smoke = [
  "test",
  "--",
  "--bare",
  "--only",
  "vitest",
  "--files",
  "apps/cli/test/hello.test.ts,apps/cli/test/listen.test.ts",
];

const totals = { passed: 0, failed: 0, skipped: 0 };
const add = (counts) => {
  for (const key of Object.keys(totals)) totals[key] += counts[key];
};
const say = (text) => process.stdout.write(`\n== ${text}\n`);
const npm = (args, options) => run("npm", args, { ...options, forward: true, timeoutMs });
const addTests = async (args, options) => {
  const { stdout, code } = await npm(args, options);
  add(printedCounts(stdout, code));
};

/** The two commands of the README, on a machine with only Node and npm, for a user who owns nothing else. */
async function asOrdinaryUser(base) {
  const options = prepareOrdinaryUser(base);
  const start = await npm(["start"], options);
  add({ passed: start.code === 0 ? 1 : 0, failed: start.code === 0 ? 0 : 1, skipped: 0 });
  if (start.code === 0) await addTests(smoke, options);
  const left = await leftovers(base);
  for (const one of left) process.stdout.write(`FAIL  left behind: ${one}\n`);
  add({ passed: left.length === 0 ? 1 : 0, failed: left.length, skipped: 0 });
}

const here = { cwd: repositoryRoot, env: { CI: "true" } };
stopChildrenOnSignals();
say("npm test");
await addTests(["test"], here);
if (process.getuid?.() === 0 && process.platform === "linux") {
  say("npm start and a smoke test on a machine with only Node and npm, as an ordinary user");
  await withTempDir(join(realpathSync(tmpdir()), "hk-user-"), asOrdinaryUser);
} else {
  say("a smoke test on a machine with only Node and npm");
  await addTests(smoke, here);
}
process.stdout.write(`\n${summaryLine(totals)}\n`);
if (totals.failed > 0) process.exitCode = 1;
