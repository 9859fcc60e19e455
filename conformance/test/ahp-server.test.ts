import { describe, expect, it } from "vitest";
import { loadSuite, runSuite, type SuiteReport } from "../src/index.ts";
import { verifies } from "../src/verifies.ts";
import { startAhpHarness } from "./targets/ahp-harness.ts";

const failuresOf = (report: SuiteReport) => [
  ...report.requirements.flatMap(({ id, failures }) => failures.map((failure) => ({ id, ...failure }))),
  ...report.scenarios.flatMap(({ name, problems }) => problems.map((problem) => ({ name, problem }))),
];

describe("our harness conforms", () => {
  const suite = loadSuite("ahp-server");

  it.each(["unix", "tcp", "http", "ws"] as const)("over %s", async (transport) => {
    const report = await runSuite({
      suite,
      target: { kind: "module", start: startAhpHarness, name: "ahp-server", transport },
    });
    expect(failuresOf(report)).toEqual([]);
    verifies(...report.requirements.map(({ id }) => id));
  });
});
