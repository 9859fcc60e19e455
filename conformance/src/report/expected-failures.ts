import { readFileSync } from "node:fs";
import * as z from "zod";
import { ConformanceError, messageOf } from "../errors.ts";
import { isAgainst, type SuiteReport } from "../run/report-model.ts";
import { type Suite, suiteNames } from "../scenario/load-suite.ts";
import { readYaml } from "../scenario/read-yaml.ts";
import { TransportSchema } from "../scenario/step-schema.ts";

const EntrySchema = z
  .strictObject({
    id: z.string().optional(),
    scenario: z.string().optional(),
    reason: z.string().min(1),
    suite: z.string().optional(),
    transport: TransportSchema.optional(),
  })
  .refine(({ id, scenario }) => (id === undefined) !== (scenario === undefined), {
    error: "names either the id of a requirement or a scenario with a step that does not work",
  });
const FileSchema = z.strictObject({ expected: z.array(EntrySchema) });

/** One known failure: a requirement, or a scenario with a step that does not work. */
export type ExpectedFailure = z.infer<typeof EntrySchema>;

/** What a file of expected failures makes of a report. */
export interface ExpectedVerdict {
  /** Whether the file names all that speaks against the target. */
  readonly conforms: boolean;
  /** Requirements that do not hold and scenarios with steps that did not work, as the file says. */
  readonly expected: readonly string[];
  /** Entries for what this run found to hold or work. They do not change the verdict: a failure may come and go. */
  readonly holds: readonly string[];
}

const readText = (file: string): string => {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new ConformanceError("usage", `cannot read ${file}: ${messageOf(cause)}`, { cause });
  }
};

/**
 * Reads a file of expected failures, and keeps the entries about a suite:
 * `expected: [{ id: AHP-170, reason: "…", suite?: ahp-server, transport?: http }, { scenario: frames, reason: "…" }]`.
 *
 * @throws {ConformanceError} `usage` for a file that cannot be read and for an entry that names an unknown suite, an unknown
 *   requirement or an unknown scenario; `invalid_scenario` for a file that has another form
 */
export const readExpected = (file: string, suite: Suite): readonly ExpectedFailure[] => {
  const text = readText(file);
  const entries = readYaml(file, FileSchema, text).expected;
  const suites = [suite.name, ...suiteNames()];
  const stranger = entries.find((entry) => entry.suite !== undefined && !suites.includes(entry.suite));
  if (stranger !== undefined)
    throw new ConformanceError("usage", `${file}: there is no suite ${stranger.suite}`);
  const ours = entries.filter((entry) => entry.suite === undefined || entry.suite === suite.name);
  for (const { id, scenario } of ours) {
    const isKnown =
      id === undefined
        ? suite.scenarios.some((each) => each.scenario === scenario)
        : suite.requirements.has(id);
    if (isKnown) continue;
    const what = id === undefined ? `scenario ${scenario}` : `requirement ${id}`;
    throw new ConformanceError("usage", `${file}: ${suite.name} has no ${what}`);
  }
  return ours;
};

/** Compares a report with the entries about its suite. What was not checked in this run is not looked at. */
export const judgeExpected = (report: SuiteReport, entries: readonly ExpectedFailure[]): ExpectedVerdict => {
  const broken = report.scenarios.filter(({ problems }) => problems.length > 0).map(({ name }) => name);
  const unmet = report.requirements.filter(({ outcome }) => outcome !== "pass").map(({ id }) => id);
  const against = report.requirements.filter(isAgainst).map(({ id }) => id);
  const checked = [...report.requirements.map(({ id }) => id), ...report.scenarios.map(({ name }) => name)];
  const names = entries
    .filter(({ transport }) => transport === undefined || transport === report.transport)
    .map(({ id, scenario }) => id ?? scenario ?? "");
  const fails = (name: string): boolean => unmet.includes(name) || broken.includes(name);
  return {
    conforms: [...against, ...broken].every((name) => names.includes(name)),
    expected: names.filter(fails),
    holds: names.filter((name) => checked.includes(name) && !fails(name)),
  };
};
