import { expect } from "vitest";
import type { SuiteReport } from "../src/index.ts";

/** Fails with all that does not hold in a report. */
export const expectHolds = (report: SuiteReport): void => {
  const failures = [
    ...report.requirements.flatMap(({ id, failures }) =>
      failures.map(({ scenario, step, detail }) => `${id} ${scenario}, ${step}: ${detail}`),
    ),
    ...report.scenarios.flatMap(({ name, problems }) => problems.map((problem) => `${name}: ${problem}`)),
  ];
  expect(failures, failures.join("\n")).toEqual([]);
};

/** The ids of the checks that do not hold. */
export const unmetIds = (report: SuiteReport): string[] => [
  ...new Set(
    report.scenarios.flatMap(({ checks }) =>
      checks.flatMap(({ verdict, ids }) => (verdict === "unmet" ? ids : [])),
    ),
  ),
];

/** For targets that answer everything: on a busy machine an answer may take seconds. */
export const patient = { withinMs: 10_000, scenarioTimeoutMs: 50_000 };
