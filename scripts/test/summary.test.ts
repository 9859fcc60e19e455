import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { node, root } from "./support.ts";

type Counts = { passed: number; failed: number; skipped: number };
type Summary = {
  countTests(report: object | undefined, exitCode: number): Counts;
  failureLines(report: object | undefined, root: string): string[];
  printedCounts(stdout: string, exitCode: number | null): Counts;
  summaryLine(counts: Counts): string;
};
const { countTests, failureLines, printedCounts, summaryLine }: Summary = await import(
  pathToFileURL(join(root, "scripts/lib/summary.mjs")).href
);

const file = (status: string, ...tests: string[]) => ({
  status,
  assertionResults: tests.map((test) => ({ status: test })),
});

describe("the summary of a test run", () => {
  it("counts tests, and a file that failed to load as one failure", () => {
    const testResults = [
      file("passed", "passed", "skipped", "todo"),
      file("failed", "failed", "passed"),
      file("failed"),
    ];
    const counts = countTests({ testResults }, 1);
    expect(counts).toEqual({ passed: 2, failed: 2, skipped: 2 });
    expect(summaryLine(counts)).toBe("2 passed, 2 failed, 2 skipped");
  });

  it("is read back from the end of what a run has printed, and a run that ends without it has failed", () => {
    expect(printedCounts("ok\n12 passed, 0 failed, 3 skipped\n", 0)).toEqual({
      passed: 12,
      failed: 0,
      skipped: 3,
    });
    expect(printedCounts("12 passed, 2 failed, 0 skipped\n", 1)).toMatchObject({ passed: 12, failed: 2 });
    expect(printedCounts("12 passed, 0 failed, 0 skipped\n", 1)).toMatchObject({ failed: 1 });
    expect(printedCounts("1 passed, 0 failed, 0 skipped\nkilled\n", null)).toMatchObject({
      passed: 0,
      failed: 1,
    });
  });

  it("is a failure when the runner failed and no test did", () => {
    expect(countTests({ testResults: [file("passed", "passed")] }, 1)).toEqual({
      passed: 1,
      failed: 1,
      skipped: 0,
    });
    expect(countTests(undefined, 0)).toEqual({ passed: 0, failed: 1, skipped: 0 });
  });

  it("says which tests failed, and what they said", () => {
    const failed = { status: "failed", fullName: "adds numbers", failureMessages: ["expected 2\n  at sum"] };
    const testResults = [
      { name: "/repo/test/sum.test.ts", ...file("failed", "passed"), assertionResults: [failed] },
      { name: "/repo/test/load.test.ts", message: "cannot be read", ...file("failed", "skipped") },
      { name: "/repo/test/good.test.ts", ...file("passed", "passed") },
    ];
    expect(failureLines({ testResults }, "/repo")).toEqual([
      "      test/sum.test.ts › adds numbers",
      "        expected 2",
      "          at sum",
      "      test/load.test.ts",
      "        cannot be read",
    ]);
    expect(failureLines(undefined, "/repo")).toEqual([]);
  });

  it("is the last line of the test command, which knows its checks by name", async () => {
    const good = await node(["scripts/test.mjs", "--only", "layers"]);
    expect(good.output.trimEnd().split("\n").at(-1)).toBe(
      good.code === 0 ? "1 passed, 0 failed, 0 skipped" : "0 passed, 1 failed, 0 skipped",
    );
    const bad = await node(["scripts/test.mjs", "--only", "layers,nothing"]);
    expect(bad.output).toContain("No such check: nothing. There are: types, typedoc, lint,");
    expect(bad.code).toBe(2);
  });
});
