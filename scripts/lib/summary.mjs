/**
 * Counts a vitest JSON report: `{ passed, failed, skipped }`. A file that failed without a failed test (it did not
 * load, or a hook of the file failed) counts as one failure; `todo` counts as skipped. Without a report, or where
 * the runner failed although no test did, there is one failure.
 */
export function countTests(report, exitCode) {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const { status, assertionResults } of report?.testResults ?? []) {
    let failedHere = 0;
    for (const test of assertionResults) {
      if (test.status === "passed") counts.passed += 1;
      else if (test.status === "failed") failedHere += 1;
      else counts.skipped += 1;
    }
    counts.failed += status === "failed" && failedHere === 0 ? 1 : failedHere;
  }
  if (counts.failed === 0 && (report === undefined || exitCode !== 0)) counts.failed = 1;
  return counts;
}

const maxMessageLines = 30;

/**
 * What failed in a vitest JSON report, for people: a line for each test with its file below `root`, and the beginning of
 * what it said. A file that failed by itself is named by its own message.
 */
export function failureLines(report, root) {
  return (report?.testResults ?? []).flatMap(({ name, status, message, assertionResults }) => {
    const file = name.startsWith(`${root}/`) ? name.slice(root.length + 1) : name;
    const failed = assertionResults.filter((test) => test.status === "failed");
    const said = (text) =>
      text
        .split("\n")
        .slice(0, maxMessageLines)
        .map((line) => `        ${line}`);
    if (failed.length === 0 && status === "failed") return [`      ${file}`, ...said(message ?? "")];
    return failed.flatMap((test) => [
      `      ${file} › ${test.fullName}`,
      ...said((test.failureMessages ?? []).join("\n")),
    ]);
  });
}

/** The last line of a test run. */
export const summaryLine = ({ passed, failed, skipped }) =>
  `${passed} passed, ${failed} failed, ${skipped} skipped`;

/** The counts in the last line of what a test run has printed. Without such a line there is one failure. */
export function printedCounts(stdout, exitCode) {
  const found = /(?:^|\n)(\d+) passed, (\d+) failed, (\d+) skipped\s*$/.exec(stdout);
  const [passed, failed, skipped] = found?.slice(1).map(Number) ?? [0, 0, 0];
  const isFailure = found === null || exitCode !== 0;
  return { passed, failed: isFailure ? Math.max(1, failed) : failed, skipped };
}
