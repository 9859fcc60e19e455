import { readFileSync } from "node:fs";
import * as z from "zod";
import { isAgainst, type SuiteReport } from "../run/report-model.ts";
import { readYaml } from "../scenario/read-yaml.ts";
import { TransportSchema } from "../scenario/step-schema.ts";

const FileSchema = z.strictObject({
  expected: z.array(
    z
      .strictObject({
        id: z.string().optional(),
        scenario: z.string().optional(),
        reason: z.string().min(1),
        suite: z.string().optional(),
        transport: TransportSchema.optional(),
      })
      .refine(({ id, scenario }) => (id === undefined) !== (scenario === undefined), {
        error: "names either the id of a requirement or a scenario with a step that does not work",
      }),
  ),
});

/** What a file of expected failures makes of a report. */
export interface ExpectedVerdict {
  readonly conforms: boolean;
  /** Requirements that do not hold and scenarios with steps that did not work, as the file says. */
  readonly expected: readonly string[];
  /** Entries for what holds or works, or what the run does not know: they have to go. */
  readonly stale: readonly string[];
}

/**
 * Compares a report with a file of expected failures:
 * `expected: [{ id: AHP-170, reason: "…", suite?: ahp-server, transport?: http }, { scenario: frames, reason: "…" }]`.
 * @throws {ConformanceError} `invalid_scenario` for a file that cannot be read
 */
export const judgeExpected = (report: SuiteReport, file: string): ExpectedVerdict => {
  const entries = readYaml(file, FileSchema, (path) => readFileSync(path, "utf8")).expected.filter(
    ({ suite, transport }) =>
      (suite === undefined || suite === report.suite) &&
      (transport === undefined || transport === report.transport),
  );
  const broken = report.scenarios.filter(({ problems }) => problems.length > 0).map(({ name }) => name);
  const unmet = report.requirements.filter(({ outcome }) => outcome !== "pass").map(({ id }) => id);
  const against = report.requirements.filter(isAgainst).map(({ id }) => id);
  const names = entries.map(({ id, scenario }) => id ?? scenario ?? "");
  const isTrue = (name: string): boolean => unmet.includes(name) || broken.includes(name);
  const stale = names.filter((name) => !isTrue(name));
  return {
    conforms: [...against, ...broken].every((name) => names.includes(name)) && stale.length === 0,
    expected: names.filter(isTrue),
    stale,
  };
};
