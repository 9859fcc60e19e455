export { type CommandIo, type ConformanceExitCode, runConformance } from "./cli/command.ts";
export { ConformanceError, type ConformanceErrorCode } from "./errors.ts";
export { type ConformanceLimits, conformanceLimits } from "./limits.ts";
export {
  type ExpectedFailure,
  type ExpectedVerdict,
  judgeExpected,
  readExpected,
} from "./report/expected-failures.ts";
export { htmlReport } from "./report/html-report.ts";
export { junitReport } from "./report/junit-report.ts";
export { textReport } from "./report/text-report.ts";
export type { CheckResult } from "./run/check-result.ts";
export type { Counts, Outcome, RequirementResult, ScenarioResult, SuiteReport } from "./run/report-model.ts";
export { type RunLevel, type RunOptions, runSuite } from "./run/run-suite.ts";
export { loadSuite, type Suite, suiteNames } from "./scenario/load-suite.ts";
export { jsonSchemaOf } from "./scenario/suite-schema.ts";
export type {
  AddressTarget,
  CommandTarget,
  Credentials,
  ModuleTarget,
  RunningModule,
  StartModule,
  TargetPlace,
  TargetSpec,
} from "./target/target-spec.ts";
