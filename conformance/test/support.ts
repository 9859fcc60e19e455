import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { expect } from "vitest";
import { buildSourceBundle } from "../../test-kit/source-bundle.ts";
import type { SuiteReport } from "../src/index.ts";

/** `programs/peers.ts` as one file; the database of the chat adapter is native and stays where it is. */
export const bundlePeers = (): ReturnType<typeof buildSourceBundle> => {
  const store = import.meta.resolve("@harnesskit/store-sqlite");
  const libsql = pathToFileURL(createRequire(store).resolve("libsql")).href;
  return buildSourceBundle(new URL("./programs/peers.ts", import.meta.url), { libsql });
};

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
