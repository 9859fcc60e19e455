import { systemErrorCode } from "@harnesskit/node-kit";
import { PolicyError, type PolicyTestReport } from "@harnesskit/policy";
import { casesFileOf, testPolicyFile } from "@harnesskit/policy/node";
import { ExitCode, usageError } from "../cli-error.ts";
import { fromHere } from "../io.ts";
import { emit } from "../terminal/terminal.ts";
import { byWhom } from "./event-text.ts";
import { policyFileOf, policyOptions, sayPolicyWarnings, toPolicyFailure } from "./policy-file.ts";

export interface AhpTestOptions {
  /** The file of cases. @default beside the policy, with `.test` before its ending */
  readonly cases?: string;
  readonly json?: true;
}

const caseLines = ({ name, passed, problems, explanation }: PolicyTestReport["results"][number]) =>
  passed
    ? [`ok    ${name}`]
    : [
        `FAIL  ${name}`,
        ...problems.map((problem) => `        ${problem}`),
        `        decided ${byWhom(explanation)}: ${explanation.why}`,
      ];

const percent = (ratio: number): string => `${Math.floor(ratio * 100)} %`;

const summary = ({ passed, failed, coverage: { ratio, uncovered } }: PolicyTestReport): string => {
  const names = uncovered.join(", ");
  const missing = uncovered.length === 0 ? "" : `; no case for ${names}`;
  return `${passed} passed, ${failed} failed; ${percent(ratio)} of the rules decided${missing}`;
};

const reportJson = ({ results, coverage, ...report }: PolicyTestReport) => ({
  ...report,
  coverage: { ...coverage, decisions: Object.fromEntries(coverage.decisions) },
  cases: results.map(({ explanation: { decided, rule }, ...result }) => ({
    ...{ ...result, decision: decided?.decision, rule },
  })),
});

const noTests = (name: string, casesFile: string) =>
  usageError(`${name} has no tests: there are no cases in ${casesFile}`, {
    to: "Write them there. For an example",
    run: "harness ahp test --help",
  });

/** `harness ahp test`: decides the cases beside a policy, and reports wrong cases and untested rules. */
export const ahpTest = async (name: string, { cases, json }: AhpTestOptions): Promise<ExitCode> => {
  const file = policyFileOf(name);
  const casesFile = cases === undefined ? casesFileOf(file) : fromHere(cases);
  const report = await testPolicyFile(file, { ...policyOptions, casesFile }).catch((error: unknown) => {
    const isWithoutCases =
      PolicyError.isInstance(error) && error.file === casesFile && systemErrorCode(error.cause) === "ENOENT";
    throw isWithoutCases ? noTests(name, casesFile) : toPolicyFailure(error);
  });
  sayPolicyWarnings({ file, warnings: report.warnings });
  if (report.results.length === 0) throw noTests(name, casesFile);
  emit(json, reportJson(report), () => [...report.results.flatMap(caseLines), summary(report)]);
  return report.failed > 0 ? ExitCode.failed : ExitCode.done;
};
