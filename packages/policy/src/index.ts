export {
  contentAuditLimits,
  createPolicyAudit,
  type PolicyAudit,
  type PolicyAuditOptions,
} from "./audit/policy-audit.ts";
export type { PolicyFunction, PolicyFunctionCall } from "./cel/policy-function.ts";
export type { ChangesFiles, FileAction } from "./decide/changes-files.ts";
export { checkPolicy } from "./decide/decide.ts";
export type { Explanation, ShadowDecision } from "./decide/explanation.ts";
export {
  type PolicyFile,
  PolicyFileSchema,
  type PolicyMode,
  policyJsonSchema,
} from "./file/policy-schema.ts";
export { type ParsePolicyOptions, parsePolicy, parsePolicyLike } from "./parse-policy.ts";
export type { Policy } from "./policy.ts";
export {
  PolicyError,
  type PolicyErrorCode,
  type PolicyProblem,
  RuleError,
  type RuleErrorCode,
  type SourcePlace,
} from "./policy-error.ts";
export {
  createPolicyHarness,
  type PolicyErrorContext,
  type PolicyHandlers,
  type PolicyHarness,
  type PolicyHarnessOptions,
  type PolicyHarnessStats,
} from "./policy-harness.ts";
export { type PolicyLimits, policyLimits } from "./policy-limits.ts";
export type { AnyDecision } from "./rules/decision-form.ts";
export { secretFunctions } from "./secrets/secret-functions.ts";
export {
  type BacktestChange,
  type BacktestOptions,
  type BacktestReport,
  backtest,
} from "./tools/backtest.ts";
export {
  eventOfCase,
  type ParseCasesOptions,
  type PolicyCase,
  PolicyCaseSchema,
  PolicyCasesSchema,
  parsePolicyCases,
} from "./tools/policy-cases.ts";
export {
  type CaseResult,
  type PolicyTestReport,
  type RuleCoverage,
  testPolicy,
} from "./tools/test-policy.ts";
