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

/** The last line of a test run. */
export const summaryLine = ({ passed, failed, skipped }) =>
  `${passed} passed, ${failed} failed, ${skipped} skipped`;
