import { readFileSync } from "node:fs";
import * as z from "zod";
import type { SuiteReport } from "../run/report-model.ts";
import { readYaml } from "../scenario/read-yaml.ts";
import { TransportSchema } from "../scenario/step-schema.ts";

const FileSchema = z.strictObject({
  expected: z.array(
    z.strictObject({
      id: z.string(),
      reason: z.string().min(1),
      suite: z.string().optional(),
      transport: TransportSchema.optional(),
    }),
  ),
});

/** What a file of expected failures makes of a report. */
export interface ExpectedVerdict {
  readonly conforms: boolean;
  /** Requirements that do not hold, as the file says. */
  readonly expected: readonly string[];
  /** Entries for requirements that hold, or that the run does not know: they have to go. */
  readonly stale: readonly string[];
}

/**
 * Compares a report with a file of expected failures:
 * `expected: [{ id: AHP-170, reason: "…", suite?: ahp-server, transport?: http }]`.
 * @throws {ConformanceError} `invalid_scenario` for a file that cannot be read
 */
export const judgeExpected = (report: SuiteReport, file: string): ExpectedVerdict => {
  const entries = readYaml(file, FileSchema, (path) => readFileSync(path, "utf8")).expected.filter(
    ({ suite, transport }) =>
      (suite === undefined || suite === report.suite) &&
      (transport === undefined || transport === report.transport),
  );
  const unmet = report.requirements.filter(({ outcome }) => outcome !== "pass").map(({ id }) => id);
  const failed = report.requirements.filter(({ outcome }) => outcome === "fail").map(({ id }) => id);
  const ids = entries.map(({ id }) => id);
  const stale = ids.filter((id) => !unmet.includes(id));
  const hasProblem = report.scenarios.some(({ problems }) => problems.length > 0);
  return {
    conforms: failed.every((id) => ids.includes(id)) && stale.length === 0 && !hasProblem,
    expected: ids.filter((id) => unmet.includes(id)),
    stale,
  };
};
