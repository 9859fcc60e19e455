import { existsSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeBarePath } from "./lib/bare-path.mjs";
import { skipReport, stages, testReport } from "./lib/checks.mjs";
import { option } from "./lib/report.mjs";
import { repositoryRoot } from "./lib/root.mjs";
import { mapLimit, run, stopChildrenOnSignals } from "./lib/run.mjs";
import { isCi, unacceptedSkips } from "./lib/skips.mjs";
import { countTests, failureLines, summaryLine } from "./lib/summary.mjs";
import { withTempDir } from "./lib/temp.mjs";

const lanes = 2;
const timeoutMs = 2_400_000;
const names = stages.flatMap((stage) => Object.keys(stage));
const only = option("only", names.join(",")).split(",").filter(Boolean);
const files = option("files", "").split(",").filter(Boolean);
const isBare = process.argv.includes("--bare");
const isRoot = process.getuid?.() === 0;

const readReport = (path) => {
  try {
    return JSON.parse(readFileSync(join(repositoryRoot, path), "utf8"));
  } catch {
    return undefined;
  }
};

const totals = { passed: 0, failed: 0, skipped: 0 };
const add = (counts) => {
  for (const key of Object.keys(totals)) totals[key] += counts[key];
};

function print(name, isOk, ms, note = "") {
  const time = `${(ms / 1000).toFixed(1)} s`.padStart(8);
  process.stdout.write(
    `${isOk ? "ok  " : "FAIL"}  ${name.padEnd(14)}${time}${note === "" ? "" : `  ${note}`}\n`,
  );
}

function printSkips(skips) {
  for (const { file, name, reason } of skips) {
    process.stdout.write(`      skipped: ${file} › ${name} (${reason})\n`);
  }
}

/** Judges the test run by its report: under CI a skipped test is a failure where it should have run. */
function judgeTests({ code, ms }) {
  const report = readReport(testReport);
  const counts = countTests(report, code);
  const skips = readReport(skipReport) ?? [];
  const isExplained =
    skips.length === counts.skipped && unacceptedSkips(skips, { isBare, isRoot }).length === 0;
  const skipsFail = isCi() && !isExplained;
  add(counts);
  if (skipsFail) totals.failed += 1;
  const isOk = counts.failed === 0 && !skipsFail;
  print("vitest", isOk, ms, summaryLine(counts));
  // Before all that the runner says: where output is cut, this is what has to be seen.
  for (const line of failureLines(report, repositoryRoot)) process.stdout.write(`${line}\n`);
  printSkips(skips);
  if (skipsFail) process.stdout.write("      a skipped test is a failure where CI is set\n");
  return counts.failed === 0;
}

async function check(name, args, path) {
  if (name === "vitest")
    for (const file of [testReport, skipReport]) rmSync(join(repositoryRoot, file), { force: true });
  const result = await run(process.execPath, args, {
    cwd: repositoryRoot,
    env: { NO_COLOR: "1", ...(path === undefined ? {} : { PATH: path }) },
    timeoutMs,
  });
  if (name === "vitest") {
    if (!judgeTests(result)) process.stdout.write(`\n${result.output.trimEnd()}\n\n`);
    return;
  }
  const isOk = result.code === 0;
  add({ passed: isOk ? 1 : 0, failed: isOk ? 0 : 1, skipped: 0 });
  print(name, isOk, result.ms);
  for (const line of result.stdout.split("\n").filter((text) => text.startsWith("skipped: ")))
    process.stdout.write(`      ${line}\n`);
  if (!isOk) process.stdout.write(`\n${result.output.trimEnd()}\n\n`);
}

const unknown = only.filter((name) => !names.includes(name));
if (unknown.length > 0 || only.length === 0) {
  process.stderr.write(`No such check: ${unknown.join(", ")}. There are: ${names.join(", ")}.\n`);
  process.exit(2);
}
const missing = files.filter((file) => !existsSync(join(repositoryRoot, file)));
if (missing.length > 0) {
  process.stderr.write(
    `--files takes files and folders of the repository; there is no ${missing.join(", ")}.\n`,
  );
  process.exit(2);
}
stopChildrenOnSignals();

async function checkAll(path) {
  for (const stage of stages) {
    const chosen = Object.entries(stage).filter(([name]) => only.includes(name));
    await mapLimit(chosen, lanes, ([name, args]) =>
      check(name, name === "vitest" ? [...args, ...files] : args, path),
    );
  }
}

if (isBare) {
  process.stdout.write(
    "bare: no git, python3, chromium and ripgrep on the PATH; tests that need one are skipped\n",
  );
  await withTempDir(join(realpathSync(tmpdir()), "harnesskit-bare-"), (dir) => checkAll(makeBarePath(dir)));
} else await checkAll();
process.stdout.write(`${summaryLine(totals)}\n`);
if (totals.failed > 0 && process.exitCode === undefined) process.exitCode = 1;
